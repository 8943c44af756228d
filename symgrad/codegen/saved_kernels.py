"""Kernels as a piece of a saved module: where numba is installed they replace the NumPy function of the same name."""

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


def kernel_piece(kernel: Kernel | Pair, tested: Callable[[str], str]) -> Emitted:
    """The piece of text; ``tested`` adds to the caller's text a test of the types that the kernels were specialised for."""
    texts = [kernel.text] if isinstance(kernel, Kernel) else [kernel.forward[1], kernel.backward[1]]
    numpy = {kernel.fallback: kernel.behind or kernel.stem} if isinstance(kernel, Kernel) else {f"{kernel.stem}_numpy": kernel.stem}
    aliases = "\n".join(f"{new} = {old}" for new, old in numpy.items() if new != old)
    kernels = [text[text.index(DECORATOR) :] for text in texts]
    again = [kernel.again[1]] if isinstance(kernel, Pair) else []
    sections = [*helpers(texts), aliases, *kernels, *again, tested(kernel.caller)]
    body = textwrap.indent("\n\n".join(section.strip("\n") for section in dict.fromkeys(sections)), "    ")
    return Emitted(f"{IMPORT}\n\nif njit is not None:\n{body}\n", {"np": np, "math": math, **kernel.namespace})


def helpers(texts: list[str]) -> list[str]:
    """The text of the functions that the kernels import from symgrad, and the numbers at the top of the kernels' modules."""
    numbers: dict[str, None] = {}
    imports: dict[str, dict[str, None]] = {}
    for text in texts:
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign):
                numbers[ast.unparse(node)] = None
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("symgrad"):
                imports.setdefault(node.module or "", {}).update((alias.name, None) for alias in node.names)
    modules = [module.rpartition(".")[2] for module in imports]
    functions = [name for names in imports.values() for name in names]
    return [*numbers, *([source(functions, modules)] if functions else [])]


__all__ = ["kernel_piece"]
