"""Programs: operations on named variables, gradients appended to them, and the executor that runs them."""

from symgrad.static import copying, nn, reading
from symgrad.static.appending import create_parameter, data
from symgrad.static.backward import append_backward, gradients
from symgrad.static.executor import Executor
from symgrad.static.mode import disable_static, enable_static, in_dynamic_mode
from symgrad.static.parameters import ParamAttr
from symgrad.static.program import (
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    name_scope,
    program_guard,
)
from symgrad.static.scope import Scope, global_scope, scope_guard
from symgrad.static.storing import load, load_inference_model, load_program, save, save_inference_model

__all__ = ["Executor", "ParamAttr", "Parameter", "Program", "Scope", "Variable", "append_backward", "create_parameter", "data"]
__all__ += ["default_main_program", "default_startup_program", "disable_static", "enable_static", "global_scope", "gradients"]
__all__ += ["in_dynamic_mode", "load", "load_inference_model", "load_program", "name_scope", "nn", "program_guard", "save"]
__all__ += ["save_inference_model", "scope_guard"]

assert copying  # it registers the methods of programs
assert reading  # so does it
