"""The type of an indexing result, and whether it is a number or an array, compared with NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from symgrad.ir.core import NONE
from symgrad.ir.types import Array, Dim, Scalar, Type
from symgrad.ops.indexing import index_type
from tests.ops import trace

SHAPES = [(), *[(*leading, n) for leading in ((), (2,), (2, 3), (2, 3, 1)) for n in (0, 1, 3)]]
ITEMS: list[Any] = [
    0,
    np.int64(-1),
    True,
    False,
    np.True_,
    slice(None),
    slice(1, None),
    None,
    ...,
    np.array(0),
    np.array(True),
    np.array([0]),
    np.array([[0, -1]]),
    np.zeros(0, int),
]


def law(shape: tuple[int, ...], items: tuple[Any, ...]) -> tuple[Type, Any]:
    """What the law says of an array of this shape, and what NumPy gives; IndexError where that raises."""
    letters, operands = "", []
    for item in items:
        if isinstance(item, slice):
            letters += "s"
            operands += [item.start, item.stop, item.step]
        elif item is None or item is ...:
            letters += "n" if item is None else "e"
        else:
            letters += "i"
            operands.append(item)
    value = np.zeros(shape)[items]
    types = [NONE.type if o is None else trace.type_of(o) for o in operands]
    said = index_type(Array("f64", shape), letters, types, lambda k: operands[k] if isinstance(operands[k], int) else Dim("?"), True)
    return said, value


def check(shape: tuple[int, ...], items: tuple[Any, ...]) -> bool:
    """Compare them; False where NumPy takes no such index."""
    try:
        said, value = law(shape, items)
    except IndexError:
        return False
    if isinstance(said, Scalar):
        assert isinstance(value, np.float64), (shape, items, str(said))
        return True
    assert isinstance(said, Array), (shape, items, said)
    assert said.shape is not None, (shape, items)
    assert isinstance(value, np.ndarray), (shape, items, str(said))
    assert len(said.shape) == value.ndim, (shape, items, str(said), value.shape)
    known = [(e, n) for e, n in zip(said.shape, value.shape, strict=True) if isinstance(e, int)]
    assert all(e == n for e, n in known), (shape, items, str(said), value.shape)
    return True


@pytest.mark.parametrize("count", [1, 2])
def test_the_law_of_indices_is_numpys(count: int) -> None:
    assert sum(check(shape, items) for shape, items in product(SHAPES, product(ITEMS, repeat=count))) > 90


def test_the_law_of_three_indices_is_numpys() -> None:
    assert sum(check(shape, items) for shape, items in product(SHAPES, product(ITEMS, repeat=3))) > 10_000


@pytest.mark.parametrize("axes", range(5))
def test_the_law_of_masks_is_numpys(axes: int) -> None:
    for shape in SHAPES:
        if axes <= len(shape):
            mask = np.ones(shape[:axes], bool)
            assert check(shape, (mask,))
            assert check(shape, (mask, ..., None))
            assert check(shape, (mask, True))
