"""Reading and writing by index: the index becomes the text of a subscript; arrays and tensors in it become inputs.

For each form of index a small NumPy function is written, once, so that the engine sees the subscript itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from symgrad.errors import refused
from symgrad.frontend.text.source import from_source
from symgrad.functional.tensors import reshape
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
    function = from_source(f"def getitem(x{names}):\n    return x[{text}]\n")
    function.subscript = (text, count)  # type: ignore[attr-defined]
    function.shows = not count  # type: ignore[attr-defined]
    return function


@lru_cache(maxsize=1024)
def writer(text: str, count: int) -> Callable[..., Any]:
    """The function that stores to ``[text]`` of a copy."""
    names = "".join(f", i{k}" for k in range(count))
    function = from_source(f"def setitem(x, value{names}):\n    y = np.copy(x)\n    y[{text}] = value\n    return y\n")
    function.subscript = (text, count)  # type: ignore[attr-defined]
    return function


def is_choice(x: Any, arrays: list[Any]) -> bool:
    """Whether the index is a single bool, applied to a tensor without axes; it then selects as from a row of one element."""
    return not len(x.shape) and len(arrays) == 1 and np.dtype(arrays[0].dtype).kind == "b" and not len(arrays[0].shape)


def row(x: Any) -> Any:
    """Return a 0-d tensor as a vector."""
    return x.reshape(1) if isinstance(x, np.ndarray) else apply(reshape, x, shape=(1,))


def taken(x: Any, index: Any) -> Any:
    """``x[index]``."""
    text, arrays = spelled(index)
    if text == "i0" and is_choice(x, arrays):
        return apply(reader(text, 1), row(x), row(arrays[0]))
    return apply(reader(text, len(arrays)), x, *arrays)


def taken_places(text: str, x: np.ndarray[Any, Any], arrays: list[Any]) -> np.ndarray[Any, Any]:
    """``x[text]`` of an array as an array of its own; nothing is recorded."""
    return np.array(reader(text, len(arrays))(x, *map(np.asarray, arrays)))


def fitted_value(x: Any, index: Any, value: Any) -> Any:
    """Return a value to be stored, without leading axes of extent 1 beyond the rank of the target."""
    shape: tuple[int, ...] = tuple(getattr(value, "shape", ()))
    if not shape or shape[0] != 1:
        return value
    text, arrays = spelled(index)
    rank = taken_places(text, np.broadcast_to(np.int8(0), tuple(x.shape)), arrays).ndim
    extra = len(shape) - rank
    if extra <= 0 or any(extent != 1 for extent in shape[:extra]):
        return value
    return value.reshape(shape[extra:]) if isinstance(value, np.ndarray) else apply(reshape, value, shape=shape[extra:])


def stored(x: Any, index: Any, value: Any) -> Any:
    """Return ``x`` after ``x[index] = value``."""
    text, arrays = spelled(index)
    if text == "i0" and is_choice(x, arrays):
        return apply(reshape, apply(writer(text, 1), row(x), value, row(arrays[0])), shape=())
    return apply(writer(text, len(arrays)), x, value, *arrays)
