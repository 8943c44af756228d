"""NumPy functions called on tensors: each call is written as a small function, which is recorded.

The text holds the names of NumPy's function, of placeholders for tensors and arrays, and literals of plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symgrad.frontend.text.source import from_source
from symgrad.record.operations import frozen, literal
from symgrad.text import is_name
from symgrad.vocabulary.dispatch import APPLY, apply

PLACES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}


def path_of(function: Any) -> str | None:
    """How NumPy's function is called: ``np.exp``, ``np.linalg.inv``; None if it is none of them."""
    name = getattr(function, "__name__", "")
    for place, module in PLACES.items():
        if is_name(name) and getattr(module, name, None) is function:
            return f"{place}.{name}"
    return None


def spelled(value: Any, inputs: list[Any], numbers: bool) -> str:
    """The text of an argument; tensors, arrays and, where ``numbers``, Python numbers become inputs."""
    if type(value) in APPLY or isinstance(value, np.ndarray) or numbers and type(value) in (bool, int, float):
        inputs.append(value)
        return f"x{len(inputs) - 1}"
    if isinstance(value, list | tuple):
        inside = ", ".join(spelled(item, inputs, numbers) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    if isinstance(value, np.dtype | type):
        return repr(np.dtype(value).name)
    return literal(frozen(value))


@lru_cache(maxsize=4096)
def written(path: str, arguments: str, count: int) -> Callable[..., Any]:
    """The function of ``count`` inputs that makes one call."""
    names = ", ".join(f"x{k}" for k in range(count))
    return from_source(f"def {path.rsplit('.', 1)[1]}({names}):\n    return {path}({arguments})\n")


def called(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], numbers: bool) -> Any:
    """Record the call and return its result; NotImplemented for functions outside NumPy."""
    path = path_of(function)
    if path is None or kwargs.get("out") is not None or not all(map(is_name, kwargs)):
        return NotImplemented
    inputs: list[Any] = []
    words = [spelled(a, inputs, numbers) for a in args]
    words += [f"{name}={spelled(value, inputs, False)}" for name, value in kwargs.items()]
    return apply(written(path, ", ".join(words), len(inputs)), *inputs)
