"""table: what only kernels use, the functions that numba compiles: sums that may be taken in any order, and checks.

A check raises whatever its reason; the function is then run again on the NumPy target, which raises properly or goes on.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import ShapeOf, Type
from symgrad.ops.declare import constant
from symgrad.ops.elementwise import evaluator
from symgrad.ops.indexing import Extents
from symgrad.ops.shapes import elementwise_law, int_law


def _nothing(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    return ()


def _shape_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return ShapeOf(tuple(dim(k) for k in range(len(types))))


# a sum whose terms may be added in any order, so that it runs in vector registers
constant("plus(x, y)", elementwise_law(lambda s: evaluator(("x", "y"), "x + y")), emit="plus(x, y)", cheap=True)
# shapes that are handed in and out
constant("shape_part(shape, axis=0)", int_law, emit="shape[axis]", cheap=True)
constant("shape_from(*extents)", _shape_law, emit="(*extents,)")

constant("check_index(i, n)", _nothing, emit="if i < 0 or i >= n:\n    raise IndexError", effect=True, statement=True)
constant("check_equal(x, y)", _nothing, emit="if x != y:\n    raise ValueError", effect=True, statement=True)
constant("check_less(x, y)", _nothing, emit="if x >= y:\n    raise ValueError", effect=True, statement=True)
constant("check_at_least(x, y)", _nothing, emit="if x < y:\n    raise ValueError", effect=True, statement=True)
