"""table: tensor contractions over named axes as matrix products, for emission.

``contract(a, b, subscripts="ij,kj->ik")`` is ``a.dot(b.T)``. The row has no derivative: the pass that brings it in runs when all
differentiating is done.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import Array, Dim, Type
from symgrad.ops.declare import missing
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.einsum import subscripts_of
from symgrad.ops.shapes import scalar_of, shape_of


def _law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    labels, out = subscripts_of(settings["subscripts"])
    extents = {c: e for names, t in zip(labels, types, strict=False) for c, e in zip(names, shape_of(t) or (), strict=False)}
    return Array("f64", tuple(extents.get(c, Dim("?")) for c in out)) if out else scalar_of("f64")


def _text(settings: dict[str, Any], types: list[Type]) -> str:
    """Emit a plain matrix product if the operands are matrices or vectors, possibly transposed."""
    (a, b), out = subscripts_of(settings["subscripts"])
    summed = [c for c in a if c in b and c not in out]
    alone = (set(a) ^ set(b)) - set(out)
    if alone or not summed:
        return "np.einsum(subscripts, a, b)"
    if len(a) > 2 or len(b) > 2 or len(summed) > 1 or set(a) & set(b) & set(out):
        return "contraction(a, b, subscripts)"
    (over,) = summed
    first, second = ("a", "b") if out[:1] in a else ("b", "a")
    names = {"a": a, "b": b}
    left = f"{first}.T" if len(names[first]) == 2 and names[first][0] == over else first
    right = f"{second}.T" if len(names[second]) == 2 and names[second][1] == over else second
    if len(names[first]) == 2 and left != first and len(names[second]) == 1:  # a vector from the left need not be transposed
        return f"{second}.dot({first})"
    return f"{left}.dot({right})"


missing("contract(a, b, subscripts='')", _law, "it is printed only", emit=_text)

__all__: list[str] = []
