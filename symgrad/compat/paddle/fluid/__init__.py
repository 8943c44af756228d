"""The older spellings (``paddle.fluid``); operations are appended to programs from the start."""

from symgrad.compat.paddle.fluid import backward, initializer, layers, optimizer
from symgrad.compat.paddle.places import CPUPlace
from symgrad.static import (
    Executor,
    ParamAttr,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    global_scope,
    gradients,
    name_scope,
    program_guard,
    scope_guard,
)
from symgrad.static.mode import enable_static

enable_static()

__all__ = [
    "CPUPlace", "Executor", "ParamAttr", "Program", "Variable", "backward", "default_main_program", "default_startup_program",
    "global_scope", "gradients", "initializer", "layers", "name_scope", "optimizer", "program_guard", "scope_guard",
]  # fmt: skip
