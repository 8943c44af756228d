"""table: arrays as lists of Python numbers, for printing: ``l = x.tolist()``, ``l[i][j]``, ``l[i][j] = v``, ``np.array(l)``.

A loop that reads and writes single elements runs several times as fast on lists. The rows have no derivative: the pass
that brings them in runs when all differentiating is done.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import FLOAT, Array, Dim, List, ShapeOf, Type
from symgrad.ops.declare import missing
from symgrad.ops.indexing import Extents
from symgrad.ops.shapes import float_law, same_law

RANKS = (1, 2, 3)
WHY = "it is printed only"


def _nested(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    rank = types[0].rank if isinstance(types[0], Array) else None
    return nested(rank or 1)


def nested(rank: int) -> Type:
    """The type of an array of floats as a list.

    >>> str(nested(2))
    'list[list[float]]'
    """
    type_: Type = FLOAT
    for _ in range(rank):
        type_ = List(type_)
    return type_


def _zeros(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return List(FLOAT)


def _array(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array("f64", types[1].shape if len(types) > 1 and isinstance(types[1], ShapeOf) else (Dim("?"),), "C")


missing("to_list(x)", _nested, WHY, emit="x.tolist()")
missing("zeros_list(shape)", _zeros, WHY, emit="[0.0] * shape[0]")
missing("array_of_cells(l)", _array, WHY, emit="np.array(l)")
missing("array_of_lists(l, shape)", _array, WHY, emit="np.array(l).reshape(shape)")
for _rank in RANKS:
    _names = "ijk"[:_rank]
    _place = "l" + "".join(f"[{n}]" for n in _names)
    missing(f"cell{_rank}(l, {', '.join(_names)})", float_law, WHY, emit=_place)
    missing(f"set_cell{_rank}(l, v, {', '.join(_names)})", same_law, WHY, emit=f"{_place} = v", consumes=True)
    missing(f"add_cell{_rank}(l, v, {', '.join(_names)})", same_law, WHY, emit=f"{_place} += v", consumes=True)

__all__ = ["RANKS", "nested"]
