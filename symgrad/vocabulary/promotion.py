"""table: the dtype in which an operation on tensors and Python numbers is computed.

A tensor of integers or bools combined with floats takes the dtype of the floats. Of two dtypes of one kind, such as two floats, the
wider one is used; but if only one tensor has axes, its dtype is used. A Python number has no width of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import refused
from symgrad.functional import tensors as f
from symgrad.tracebacks import REFUSALS, is_trimmed
from symgrad.vocabulary.dispatch import DEFAULT, apply, unary

Tensor = Any

#: NumPy's float64 is a Python float: the result of ``np.sqrt(2)`` does not widen a tensor
NUMBERS = {bool: "B", int: "I", float: "F", np.float64: "F", complex: "C"}
WHOLE = frozenset("biu")
WHOLE_NUMBERS = frozenset("BI")
#: kinds of dtypes among which a tensor without axes does not count
ALIKE = {"i": "i", "u": "i", "f": "f", "c": "c"}


def kind(x: Any) -> str:
    """The kind of a tensor's dtype; that of a Python number, as a capital."""
    known = NUMBERS.get(type(x))
    if known is not None:
        return known
    dtype = getattr(x, "dtype", None)
    return "" if dtype is None else str(dtype.kind)


def cast(x: Tensor, dtype: Any) -> Tensor:
    """In another dtype."""
    if isinstance(x, np.ndarray | np.generic):
        return np.asarray(x, dtype)
    return apply(f.cast, x, dtype=np.dtype(dtype).name)


def as_float(x: Tensor, dtype: Any = None) -> Tensor:
    """Convert an integer tensor to floats, by default of the default dtype; others are unchanged."""
    return cast(x, dtype or DEFAULT[0]) if kind(x) in WHOLE else x


def common_dtype(x: Tensor, y: Tensor) -> Any:
    """Return the result dtype of an operation on two tensors."""
    first, second = x.dtype, y.dtype
    if (not len(x.shape)) != (not len(y.shape)) and ALIKE.get(first.kind, "") == ALIKE.get(second.kind):
        return first if len(x.shape) else second
    if first.kind in WHOLE and second.kind in "fc":
        return second
    if second.kind in WHOLE and first.kind in "fc":
        return first
    return np.result_type(first, second)


def unified(x: Any, y: Any, floats: bool = False) -> tuple[Any, Any]:
    """Convert two operands so that NumPy computes in the right dtype; ``floats``: integers always become floats."""
    dtype: Any = getattr(x, "dtype", None)
    if dtype is getattr(y, "dtype", None) and dtype is not None and dtype.kind == "f":  # as nearly always
        return x, y
    first, second = kind(x), kind(y)
    if first.islower() and second.islower():
        if x.dtype != y.dtype:
            common = common_dtype(x, y)
            if np.result_type(x.dtype, y.dtype) != common:
                x, y = (one if one.dtype == common else cast(one, common) for one in (x, y))
            first = second = common.kind
        return (as_float(x), as_float(y)) if floats and first in WHOLE and second in WHOLE else (x, y)
    if first in WHOLE and (second in "FC" or floats and second in WHOLE_NUMBERS):
        x = as_float(x)
    if second in WHOLE and (first in "FC" or floats and first in WHOLE_NUMBERS):
        y = as_float(y)
    return (complex_like(x, y), y) if first == "C" else (x, complex_like(y, x)) if second == "C" else (x, y)


def complex_like(number: complex, other: Any) -> Any:
    """A Python number in the complex dtype that is as wide as a tensor."""
    dtype = getattr(other, "dtype", None)
    return number if dtype is None else np.asarray(number, np.result_type(dtype, np.complex64))


def floating(function: Any) -> Any:
    """The function of one tensor whose results are floats."""
    call = unary(function)

    def floats(x: Tensor, name: str | None = None) -> Tensor:
        try:
            return call(x) if kind(x) not in WHOLE else call(as_float(x))
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True
            raise error

    floats.__name__ = floats.__qualname__ = function.__name__
    floats.__doc__ = function.__doc__
    return floats


def arithmetic(function: Any, floats: bool = False, check: Callable[[str, Any], None] | None = None) -> Any:
    """Return the public function of two tensors, or of a tensor and a number; ``check`` validates each operand."""

    def promoted(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        try:
            if check is not None:
                check("x", x)
                check("y", y)
            return apply(function, *unified(x, y, floats))
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True
            raise error

    promoted.__name__ = promoted.__qualname__ = function.__name__
    promoted.__doc__ = function.__doc__
    return promoted


def bits(name: str, x: Any) -> None:
    """Raise unless the operand is an integer or bool."""
    if kind(x) not in ("b", "i", "u", "B", "I"):
        what = f"a tensor of {x.dtype}" if hasattr(x, "dtype") else type(x).__name__
        raise refused(TypeError(f"{name} must hold integers or bools, and it is {what}; cast it first, or call logical_and and its like"))


def shiftable(name: str, x: Any) -> None:
    """Raise unless the operand can be shifted."""
    if kind(x) not in ("i", "u", "I"):
        what = f"a tensor of {x.dtype}" if hasattr(x, "dtype") else type(x).__name__
        raise refused(TypeError(f"{name} must hold integers, and it is {what}; cast it first"))


def kept_whole(x: Tensor, name: str, value: Any) -> Any:
    """Return a number combined with an integer tensor; raise unless it is an integer."""
    if value is None or kind(x) not in WHOLE:
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    number = float(value)
    if not number.is_integer():
        what = f"{name} is {number!r}, and the tensor holds integers, as the result would; cast the tensor to a dtype of floats first"
        raise refused(ValueError(what))
    return int(number)


__all__ = ["arithmetic", "as_float", "bits", "cast", "common_dtype", "floating", "kept_whole", "kind", "shiftable", "unified"]
