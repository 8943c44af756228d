"""Compares two results of one call, part by part.

Containers must have the same class and the same keys; arrays the same shape and dtype; numbers the same kind. Floating-point numbers
agree up to rounding, relative to the largest of their array; NaN and infinities are equal to themselves; all other values are compared
exactly. ``floats`` returns the numbers in a tree of containers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.abstraction import is_record, record_names
from symgrad.containers import items_held
from symgrad.identity import Same
from symgrad.kinds import conversion, native
from symgrad.text import item

#: the allowed relative differences of correct results, by the size of a floating-point number in bytes
RELATIVE = {2: 3e-2, 4: 2e-4, 8: 1e-9}
EPSILON = {2: 1e-3, 4: 1.2e-7, 8: 2.3e-16}


class OtherForm(Exception):
    """Raised if two results have different forms; the text says where and how."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference of two parts: infinite where only equality counts; ``scale`` is the size of the larger one."""

    path: str
    size: float
    scale: float = 0.0


@dataclass(frozen=True, slots=True)
class Allowed:
    """The differences that rounding explains: ``relative`` to the size of the part, ``absolute`` where terms cancel."""

    relative: float
    absolute: float

    def admits(self, gap: Gap) -> bool:
        """Whether rounding explains a gap."""
        return gap.size <= self.relative * gap.scale + self.absolute


def allowed_for(width: int, count: int, largest: float) -> Allowed:
    """The allowed gaps of functions whose narrowest float has ``width`` bytes, for ``count`` numbers up to size ``largest``.

    >>> allowed_for(8, 10, 1.0).relative, allowed_for(4, 10, 1.0).relative
    (1e-09, 0.0002)
    """
    epsilon = EPSILON[width]
    return Allowed(max(RELATIVE[width], 4 * epsilon * count), 64 * epsilon * min(largest, epsilon**-0.5))


def gaps(ours: Any, theirs: Any, path: str = "") -> Iterator[Gap]:
    """Every part in which two results differ; raises OtherForm where their forms differ."""
    theirs = plain(theirs)
    if isinstance(ours, np.ndarray) or isinstance(theirs, np.ndarray):
        yield from array_gaps(ours, theirs, path)
    elif is_number(ours) and is_number(theirs):
        yield from number_gaps(ours, theirs, path)
    elif type(ours) is not type(theirs):
        raise OtherForm(f"{path or 'the result'} is {a_kind(ours)}, not {a_kind(theirs)}")
    elif isinstance(ours, dict):
        if list(ours) != list(theirs):
            raise OtherForm(f"{path or 'the result'} has other keys")
        for key in ours:
            yield from gaps(ours[key], theirs[key], item(path, key))
    elif isinstance(ours, tuple | list):
        if len(ours) != len(theirs):
            raise OtherForm(f"{path or 'the result'} has {len(ours)} items, not {len(theirs)}")
        for k, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from gaps(one, other, f"{path}[{k}]")
    elif isinstance(ours, str | bytes):
        if ours != theirs:
            yield Gap(path, math.inf)
    elif is_record(ours):
        if record_names(ours) != record_names(theirs):
            raise OtherForm(f"{path or 'the result'} has other attributes")
        for name in record_names(ours):
            one, other = getattr(ours, name), getattr(theirs, name)
            if one is not other and one is not ours:
                yield from gaps(one, other, f"{path}.{name}")


def plain(value: Any) -> Any:
    """Convert arrays and numbers of accepted other kinds (subclasses, long doubles, big-endian) to the kind used in their place."""
    if isinstance(value, np.ndarray | np.generic) and conversion(value):
        converted = np.asarray(value).astype(native(value.dtype))
        return converted[()] if type(value) is not np.ndarray and converted.ndim == 0 else converted
    return value


def is_number(value: Any) -> bool:
    """Whether the value is a Python or NumPy number."""
    return isinstance(value, bool | int | float | complex | np.generic) and not isinstance(value, np.str_ | np.bytes_ | np.void)


def a_kind(value: Any) -> str:
    """The description of a part."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of the shape {value.shape}"
    return "None" if value is None else f"of the class {type(value).__name__}"


def kind_of(value: Any) -> str:
    """NumPy's letter for the kind of a number, with unsigned integers as integers."""
    return str(np.asarray(value).dtype.kind).replace("u", "i")


def number_gaps(ours: Any, theirs: Any, path: str) -> Iterator[Gap]:
    """The gap between two numbers."""
    if kind_of(ours) != kind_of(theirs):
        raise OtherForm(f"{path or 'the result'} is {a_kind(ours)}, not {a_kind(theirs)}")
    if kind_of(ours) not in "fc":
        if ours != theirs:
            yield Gap(path, math.inf)
        return
    yield from floating_gaps(np.asarray(ours), np.asarray(theirs), path)


def array_gaps(ours: Any, theirs: Any, path: str) -> Iterator[Gap]:
    """The gap between two arrays."""
    if not (isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray)) or ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise OtherForm(f"{path or 'the result'} is {a_kind(ours)}, not {a_kind(theirs)}")
    if ours.dtype.kind in "fc":
        yield from floating_gaps(ours, theirs, path)
    elif ours.dtype.kind != "O" and not np.array_equal(ours, theirs):
        yield Gap(path, math.inf)


def floating_gaps(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any], path: str) -> Iterator[Gap]:
    """The gap between floating-point numbers at the same index."""
    with np.errstate(all="ignore"):
        equal = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        if equal.all():
            return
        apart = np.abs(np.subtract(ours, theirs, dtype=np.result_type(ours, theirs, np.float64)))[~equal]
        finite = np.abs(theirs[np.isfinite(theirs)])
        size = float(np.max(apart))
        yield Gap(path, math.inf if math.isnan(size) else size, float(np.max(finite)) if finite.size else 0.0)


# ------------------------------------------------------------------ the numbers in a tree


def children(value: Any) -> list[Any] | None:
    """The items of a container, None for other values."""
    match value:
        case tuple():
            return list(value)
        case list():
            return list(value if type(value) is list else items_held(value))
        case dict():
            return [held for _, held in (value.items() if type(value) is dict else items_held(value))]
        case _ if not isinstance(value, np.ndarray | np.generic) and is_record(value):
            return [getattr(value, name) for name in record_names(value)]
    return None


def is_float(value: Any) -> bool:
    """Whether it is a float or a complex number, or an array of these."""
    return isinstance(value, float | complex) or isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc"


def count_floats(value: Any) -> int:
    """How many floats or arrays of floats there are in a tree."""
    items = children(value)
    return int(is_float(value)) if items is None else sum(map(count_floats, items))


def widths(value: Any) -> list[int]:
    """The bytes of each float type in a tree."""
    return [np.real(leaf).dtype.itemsize if isinstance(leaf, np.ndarray | np.generic) else 8 for leaf in floats(value)]


def floats(value: Any) -> Iterator[Any]:
    """The floats and arrays of floats in a tree, whose containers may hold one another.

    >>> held = [1.0, 2]
    >>> held.append(held)
    >>> list(floats(held))
    [1.0]
    """
    waiting, seen = [value], set()
    while waiting:
        value = waiting.pop()
        items = children(value)
        if items is None:
            if is_float(value):
                yield value
        elif Same(value) not in seen:
            seen.add(Same(value))
            waiting += reversed(items)
