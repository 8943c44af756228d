"""Files of pairs of IR text: a title, the text before, the text after; and arguments to run both with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.ir.types import DTYPES, Array, Dim, Extent, List, Scalar, ShapeOf, Type

BECOMES = "--- becomes"
#: what a number is, as an argument, and an integer
NUMBERS = ((0.7, 3), (2.3, 1), (0.7, 0))


def pairs(path: Path) -> Iterator[tuple[str, str, str]]:
    """Title, text before and text after of each case of a file."""
    title, before, after, target = "", [], [], []
    for line in path.read_text().splitlines():
        if line == BECOMES:
            target = after
        elif line.startswith("--- "):
            if title:
                yield title, "\n".join(before), "\n".join(after)
            title, before, after = line[4:], [], []
            target = before
        else:
            target.append(line)
    yield title, "\n".join(before), "\n".join(after)


def arguments(params: list[Any], numbers: Sequence[tuple[float, int]] = NUMBERS) -> Iterator[list[Any]]:
    """Arguments for the parameters of a function, with extents of 2, 3 and 4 in every combination."""
    generator = np.random.default_rng(5)
    shapes = [p.type.shape or () for p in params if isinstance(p.type, Array | ShapeOf)]
    symbols = list(dict.fromkeys(e.symbol for shape in shapes for e in shape if isinstance(e, Dim)))
    for extents in itertools.product((3, 2, 4), repeat=len(symbols)):
        known = dict(zip(symbols, extents, strict=True))
        yield from ([argument(p.type, known, generator, number) for p in params] for number in numbers)


def argument(type_: Type, extents: dict[str, int], generator: np.random.Generator, number: tuple[float, int]) -> Any:
    match type_:
        case Array(dtype=dtype, shape=shape):
            known = [3] if shape is None else [extent(e, extents) for e in shape]
            if dtype == "bool":
                return generator.uniform(0.0, 1.0, known) < 0.5
            whole = dtype is not None and dtype.startswith("i")
            numbers = generator.integers(-2, 2, known) if whole else generator.uniform(0.3, 1.6, known)
            return numbers.astype(DTYPES[dtype or "f64"])
        case List(item=item):
            return [argument(item, extents, generator, number) for _ in range(4)]
        case ShapeOf(shape=shape):
            return (3,) if shape is None else tuple(extent(e, extents) for e in shape)
        case Scalar(kind="int"):
            return number[1]
        case Scalar(kind="bool"):
            return True
        case Scalar(dtype="f32"):
            return np.float32(number[0])
    return number[0]


def extent(dim: Extent, extents: dict[str, int]) -> int:
    return extents[dim.symbol] + dim.offset if isinstance(dim, Dim) else dim


def agree(one: Any, other: Any) -> bool:
    """Are two results alike, but for the last digits of their numbers?"""
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(agree, one, other))
    if not isinstance(one, np.ndarray | np.generic | bool | int | float):
        return type(one) is type(other)  # None, and what has no value
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-12, atol=1e-14, equal_nan=True)
