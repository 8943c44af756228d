"""The older spellings (``paddle.fluid``); operations are appended to programs in either mode."""

from typing import TYPE_CHECKING

from symgrad.compat.missing import explaining
from symgrad.compat.paddle.fluid import backward, dygraph, initializer, layers, nets, optimizer
from symgrad.compat.paddle.fluid.backward import gradients
from symgrad.compat.paddle.fluid.feeding import DataFeeder
from symgrad.compat.paddle.places import CPUPlace
from symgrad.static import (
    Executor,
    ParamAttr,
    Program,
    Variable,
    data,
    default_main_program,
    default_startup_program,
    global_scope,
    name_scope,
    program_guard,
    scope_guard,
)

__all__ = ["CPUPlace", "DataFeeder", "Executor", "ParamAttr", "Program", "Variable", "backward", "data", "default_main_program"]
__all__ += ["default_startup_program", "dygraph", "global_scope", "gradients", "initializer", "layers", "name_scope", "nets", "optimizer"]
__all__ += ["program_guard", "scope_guard"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.fluid", __all__)
