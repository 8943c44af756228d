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
    name_scope,
    program_guard,
    scope_guard,
)

__all__ = [
    "Executor", "Parameter", "Program", "Scope", "Variable", "append_backward", "create_parameter", "data", "default_main_program",
    "default_startup_program", "global_scope", "gradients", "name_scope", "nn", "program_guard", "scope_guard",
]  # fmt: skip
