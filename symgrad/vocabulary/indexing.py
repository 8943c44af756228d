"""Reading and writing by index: the index becomes the text of a subscript, arrays and tensors in it inputs.

For each form of index a small NumPy function is written, once, so that the engine sees the subscript itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from symgrad.errors import refused
from symgrad.frontend.source import from_source
from symgrad.vocabulary.dispatch import APPLY, apply


def spelled(index: Any) -> tuple[str, list[Any]]:
    """The text of a subscript, with a placeholder for each array in it, and the arrays.

    >>> spelled((slice(1, None), 2, None, ...))
    ('1:, 2, None, ...', [])
    """
    parts = index if isinstance(index, tuple) else (index,)
    words: list[str] = []
    arrays: list[Any] = []
    for part in parts:
        if isinstance(part, slice):
            bounds = ["" if b is None else str(int(b)) for b in (part.start, part.stop)]
            words.append(":".join(bounds) + ("" if part.step is None else f":{int(part.step)}"))
        elif part is None or part is Ellipsis:
            words.append("None" if part is None else "...")
        elif isinstance(part, int | np.integer) and not isinstance(part, bool | np.bool_):
            words.append(str(int(part)))
        elif isinstance(part, np.ndarray | list | range | bool | np.bool_) or type(part) in APPLY:
            array = part if type(part) in APPLY else np.asarray(part)
            if not isinstance(part, np.ndarray) and array.shape == (0,):
                array = np.zeros(0, np.intp)
            if np.dtype(array.dtype).kind not in "iub":
                raise refused(TypeError(f"an index must hold integers or bools, not {array.dtype}"))
            words.append(f"i{len(arrays)}")
            arrays.append(array)
        else:
            raise refused(TypeError(f"{type(part).__name__} cannot be an index"))
    if not words:
        return "()", arrays
    return ", ".join(words) + ("," if isinstance(index, tuple) and len(parts) == 1 else ""), arrays


@lru_cache(maxsize=1024)
def reader(text: str, count: int) -> Callable[..., Any]:
    """The function ``x[text]``; the text comes from ``spelled`` alone."""
    names = "".join(f", i{k}" for k in range(count))
    made = from_source(f"def getitem(x{names}):\n    return x[{text}]\n")
    made.subscript = (text, count)  # type: ignore[attr-defined]
    return made


@lru_cache(maxsize=1024)
def writer(text: str, count: int) -> Callable[..., Any]:
    """The function that stores to a copy."""
    names = "".join(f", i{k}" for k in range(count))
    made = from_source(f"def setitem(x, value{names}):\n    y = np.copy(x)\n    y[{text}] = value\n    return y\n")
    made.subscript = (text, count)  # type: ignore[attr-defined]
    return made


def taken(x: Any, index: Any) -> Any:
    """``x[index]``."""
    text, arrays = spelled(index)
    return apply(reader(text, len(arrays)), x, *arrays)


def stored(x: Any, index: Any, value: Any) -> Any:
    """What ``x`` becomes by ``x[index] = value``."""
    text, arrays = spelled(index)
    return apply(writer(text, len(arrays)), x, value, *arrays)
