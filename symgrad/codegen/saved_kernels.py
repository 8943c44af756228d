"""Kernels -> a piece of a saved module: where numba is installed it takes the place of the NumPy function of the same name."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from symgrad.codegen.numba import DECORATOR, Kernel, Pair
from symgrad.runtime import vector_text

IMPORT = """try:
    from numba import njit
except ImportError:  # then the NumPy code runs
    njit = None
"""
#: the module of the vectorised functions, which have texts of their own
VECTOR = "symgrad.runtime.vector"


def kernel_piece(made: Kernel | Pair, tested: Callable[[str], str]) -> str:
    """The piece; ``tested`` adds to the text of the caller a test of the types that the kernels were made for."""
    texts = [made.text] if isinstance(made, Kernel) else [made.forward[1], made.backward[1]]
    numpy = {f"{made.stem}_numpy": made.stem}
    if isinstance(made, Pair):
        numpy[f"{made.stem}_backward_numpy"] = made.numpy_backward
    aliases = "\n".join(f"{new} = {old}" for new, old in numpy.items() if new != old)
    kernels = [text[text.index(DECORATOR) :] for text in texts]
    sections = [*helpers(texts), aliases, *kernels, tested(made.caller)]
    body = textwrap.indent("\n\n".join(section.strip("\n") for section in dict.fromkeys(sections)), "    ")
    return f"{IMPORT}\n\nif njit is not None:\n{body}\n"


def helpers(texts: list[str]) -> list[str]:
    """What the kernels take from symgrad, by its text, and the numbers that stand at the top of their modules."""
    numbers: dict[str, None] = {}
    wanted: dict[str, dict[str, None]] = {}
    for text in texts:
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign):
                numbers[ast.unparse(node)] = None
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("symgrad"):
                wanted.setdefault(node.module or "", {}).update((alias.name, None) for alias in node.names)
    made = [vector_text.source(wanted.pop(VECTOR))] if VECTOR in wanted else []
    for module, names in wanted.items():
        made += [plain_text(getattr(importlib.import_module(module), name)) for name in names]
    return [*numbers, *made]


def plain_text(dispatcher: Any) -> str:
    """The text of a compiled function, decorator and all, without the types of its arguments."""
    text = textwrap.dedent(inspect.getsource(getattr(dispatcher, "py_func", dispatcher)))
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    lines = text.splitlines()
    return "\n".join([*lines[: node.lineno - 1], f"def {node.name}({ast.unparse(node.args)}):", *lines[node.body[0].lineno - 1 :]])


__all__ = ["kernel_piece"]
