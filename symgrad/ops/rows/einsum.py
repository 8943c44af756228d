"""table: ``einsum``, one row for each number of operands."""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import Dim, Shape, ShapeOf, Type, is_plural
from symgrad.ops.declare import rule
from symgrad.ops.indexing import Extents, broadcast
from symgrad.ops.rows.elementwise import Emit
from symgrad.ops.shapes import array_or_scalar, joined_dtype, of_numpy, shape_of

#: the largest number of operands
MOST_EINSUM = 4


def subscripts_of(text: str) -> tuple[list[str], str]:
    """The labels of the operands and of the result; those of the result are worked out if left out.

    >>> subscripts_of("ij, jk"), subscripts_of("ii->")
    ((['ij', 'jk'], 'ik'), (['ii'], ''))
    """
    left, arrow, right = text.replace(" ", "").partition("->")
    if not arrow:
        right = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    return left.split(","), right


def _einsum_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    labels, out = subscripts_of(settings["subscripts"])
    shapes = [shape_of(t) for t in types]
    dtype = joined_dtype(types)  # numbers of Python's are arrays here, and not narrower than others
    met: dict[str, list[Shape | None]] = {}
    for names, shape in zip(labels, shapes, strict=False):
        known = shape is not None and len(shape) == len(names)
        for k, name in enumerate(names):
            met.setdefault(name, []).append((shape[k],) if known and shape is not None else (Dim("?"),))
    extents = {name: broadcast(label_shapes) for name, label_shapes in met.items() if name in out}  # labels that are alike are broadcast
    return array_or_scalar(dtype, tuple(e[0] if (e := extents.get(c)) is not None else Dim("?") for c in out))


def _einsum_part_text(position: int, others: list[str]) -> Emit:
    """A plain einsum where every label of the operand is found elsewhere, once, and nothing was broadcast."""

    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        labels, out = subscripts_of(settings["subscripts"])
        own = labels[position]
        rest = [names for k, names in enumerate(labels) if k != position]
        shape = types[-1].shape if isinstance(types[-1], ShapeOf) else None
        plural_labels = {
            c for names, t in zip([out, *rest], types, strict=False) for c, e in zip(names, shape_of(t) or (), strict=False) if is_plural(e)
        }
        if shape is not None and all(map(is_plural, shape)) and len(set(own)) == len(own) and set(own) <= plural_labels:
            return f"np.einsum({','.join([out, *rest]) + '->' + own!r}, {', '.join(['g', *others])})"
        return f"einsum_part(g, [{', '.join(others)}], shape, subscripts, {position})"

    return emit


def _einsum_rows(count: int) -> None:
    """``einsum2(x0, x1)`` and ``einsum2_part0(g, x1, shape)``, the cotangent of its operand 0, for two operands and so on."""
    names = [f"x{k}" for k in range(count)]
    grads: dict[str, Any] = {
        f"x{p}_grad": f"einsum{count}_part{p}({', '.join(['out_grad', *names[:p], *names[p + 1 :]])}, "
        f"shape_of(x{p}), subscripts=subscripts)"
        for p in range(count)
    }
    rule(
        f"einsum{count}({', '.join(names)}, subscripts='')",
        _einsum_law,
        emit=f"np.einsum(subscripts, {', '.join(names)})",
        alias="depends" if count == 1 else "fresh",
        **grads,
    )
    for p in range(count):
        others = names[:p] + names[p + 1 :]
        with_grad = [*names[:p], "out_grad", *names[p + 1 :]]
        cotangents: dict[str, Any] = {"g_grad": f"einsum{count}({', '.join(with_grad)}, subscripts=subscripts)", "shape_grad": None}
        for q in range(count):
            if q != p:
                rest = with_grad[:q] + with_grad[q + 1 :]
                cotangents[f"x{q}_grad"] = f"einsum{count}_part{q}({', '.join(['g', *rest])}, shape_of(x{q}), subscripts=subscripts)"
        rule(
            f"einsum{count}_part{p}({', '.join(['g', *others])}, shape, subscripts='')",
            _factor_law_many,
            emit=_einsum_part_text(p, others),
            alias="depends" if count == 1 else "fresh",
            **cotangents,
        )


def _factor_law_many(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = types[-1].shape if isinstance(types[-1], ShapeOf) else None
    return array_or_scalar(joined_dtype([of_numpy(t) for t in types[:-1]]), shape)


for _count in range(1, MOST_EINSUM + 1):
    _einsum_rows(_count)
