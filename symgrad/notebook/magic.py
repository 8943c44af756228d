"""The cell magic ``%%symgrad``: runs the cell, then shows and names the derivative of the last function defined in it."""

from __future__ import annotations

import argparse
import ast
import shlex
from typing import Any

import numpy as np

from symgrad.orders import derivative_of_order, wrt_of
from symgrad.text import is_name
from symgrad.values import NotAValue, arguments_of

DATA = (bool, int, float, complex, str, tuple, list, dict, np.ndarray, np.generic)  #: the names of the notebook that ``--args`` may use


class Wrong(Exception):
    """A line behind ``%%symgrad`` that is not understood."""


class Grammar(argparse.ArgumentParser):
    """A parser that raises instead of ending the kernel."""

    def error(self, message: str) -> Any:
        raise Wrong(f"{message}\n{self.format_usage()}")


def grammar() -> Grammar:
    """The arguments of ``%%symgrad``."""
    parser = Grammar("%%symgrad", add_help=False)
    parser.add_argument("function", nargs="?", help="a function that the cell defines (default: the last one)")
    parser.add_argument("--args", help="arguments for which the derivative is made: values, or names of the notebook's data")
    parser.add_argument("--sig", help="types instead of arguments: 'f8[:], float'")
    parser.add_argument("--wrt", help="names of parameters, separated by commas (default: the first)")
    parser.add_argument("--order", type=int, default=1, choices=(1, 2, 3))
    parser.add_argument("--jit", action="store_true")
    parser.add_argument("--value", action="store_true")
    return parser


def load(shell: Any) -> None:
    """Enter the magic in a shell of IPython."""

    def symgrad(line: str, cell: str) -> Any:
        """Run the cell; show the derivative of its last function and name it ``NAME_grad``."""
        return differentiated(shell, line, cell)

    shell.register_magic_function(symgrad, magic_kind="cell", magic_name="symgrad")


def differentiated(shell: Any, line: str, cell: str) -> Any:
    """Run a cell, and give the derivative of the function that it defines; None where the cell raised."""
    try:
        options = grammar().parse_args(shlex.split(line))
    except (Wrong, ValueError) as error:
        print(f"%%symgrad: {error}")
        return None
    if not shell.run_cell(cell).success:
        return None
    name = options.function or last_function(shell.transform_cell(cell))
    function = shell.user_ns.get(name) if name is not None else None
    if function is None:
        print(f"%%symgrad: the cell defines no function{f' {name}' if name else ''}")
        return None
    args = arguments_in(options, shell.user_ns)
    words = {"value": options.value, "jit": options.jit}
    derived = derivative_of_order(function, wrt_of(options.wrt or None), options.order, args or (), options.sig, **words)
    if options.sig is not None:
        derived.source(signature=options.sig)
    elif args is not None:
        derived.source(*args)
    own = f"{name}_{'value_and_grad' if options.value else 'grad'}"
    if is_name(own):
        shell.user_ns[own] = derived
    return derived


def arguments_in(options: argparse.Namespace, space: dict[str, Any]) -> tuple[Any, ...] | None:
    """The arguments that the derivative is made for, so that there is something to show; None if there are none."""
    if options.args is None:
        return None
    try:
        return arguments_of(options.args, {name: value for name, value in space.items() if isinstance(value, DATA)})
    except NotAValue as error:
        print(f"%%symgrad: --args: {error}")
        return None


def last_function(cell: str) -> str | None:
    """The name of the function that a cell defines last."""
    names = [node.name for node in ast.parse(cell).body if isinstance(node, ast.FunctionDef)]
    return names[-1] if names else None


__all__ = ["load"]
