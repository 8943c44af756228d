"""Kernels -> a piece of a saved module: where numba is installed it takes the place of the NumPy function of the same name."""

from __future__ import annotations

import ast
import math
import textwrap
from collections.abc import Callable

import numpy as np

from symgrad.codegen.texts import DECORATOR, Emitted, Kernel, Pair
from symgrad.runtime.vector_text import source

IMPORT = """try:
    from numba import njit
except ImportError:  # then the NumPy code runs
    njit = None
"""


def kernel_piece(made: Kernel | Pair, tested: Callable[[str], str]) -> Emitted:
    """The piece; ``tested`` adds to the text of the caller a test of the types that the kernels were made for."""
    texts = [made.text] if isinstance(made, Kernel) else [made.forward[1], made.backward[1]]
    numpy = {f"{made.stem}_numpy": made.stem}
    aliases = "\n".join(f"{new} = {old}" for new, old in numpy.items() if new != old)
    kernels = [text[text.index(DECORATOR) :] for text in texts]
    again = [made.again[1]] if isinstance(made, Pair) else []
    sections = [*helpers(texts), aliases, *kernels, *again, tested(made.caller)]
    body = textwrap.indent("\n\n".join(section.strip("\n") for section in dict.fromkeys(sections)), "    ")
    return Emitted(f"{IMPORT}\n\nif njit is not None:\n{body}\n", {"np": np, "math": math, **made.namespace})


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
    modules = [module.rpartition(".")[2] for module in wanted]
    functions = [name for names in wanted.values() for name in names]
    return [*numbers, *([source(functions, modules)] if functions else [])]


__all__ = ["kernel_piece"]
