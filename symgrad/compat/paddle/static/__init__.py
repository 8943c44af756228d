"""``paddle.static``."""

from symgrad.compat.paddle.static import nn
from symgrad.static import (
    Executor,
    Parameter,
    Program,
    Scope,
    Variable,
    append_backward,
    create_parameter,
    data,
    default_main_program,
    default_startup_program,
    global_scope,
    gradients,
    load,
    load_inference_model,
    name_scope,
    program_guard,
    save,
    save_inference_model,
    scope_guard,
)

__all__ = [
    "Executor", "Parameter", "Program", "Scope", "Variable", "append_backward", "create_parameter", "data", "default_main_program",
    "default_startup_program", "global_scope", "gradients", "load", "load_inference_model", "name_scope", "nn",
    "program_guard", "save", "save_inference_model", "scope_guard",
]  # fmt: skip
