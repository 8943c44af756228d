"""``paddle.static``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symgrad.compat.missing import explaining
from symgrad.compat.paddle.static import nn
from symgrad.errors import BadArgument
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
    load_inference_model,
    name_scope,
    program_guard,
    scope_guard,
    storing,
)
from symgrad.vocabulary.network import accuracy


def load(program: Program, model_path: str, executor: Executor | None = None) -> None:
    """Load the persistable variables of a program from the files of ``save``."""
    storing.load(program, model_path)


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Save a program and its persistable variables, replacing existing files; ``protocol`` is unused, since nothing is pickled."""
    if configs or protocol not in range(2, 5):
        raise BadArgument(f"save takes a protocol from 2 to 4, and no {', '.join(configs) or f'protocol {protocol}'}")
    storing.save(program, model_path, overwrite=True)


def save_inference_model(
    path_prefix: str,
    feed_vars: Sequence[Variable],
    fetch_vars: Sequence[Variable],
    executor: Executor | None = None,
    program: Program | None = None,
) -> None:
    """Save the program that computes some variables from others, replacing existing files."""
    storing.save_inference_model(path_prefix, feed_vars, fetch_vars, executor, program, overwrite=True)


__all__ = ["Executor", "Parameter", "Program", "Scope", "Variable", "accuracy", "append_backward", "create_parameter", "data"]
__all__ += ["default_main_program", "default_startup_program", "global_scope", "gradients", "load", "load_inference_model", "name_scope"]
__all__ += ["nn", "program_guard", "save", "save_inference_model", "scope_guard"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.static", __all__)
