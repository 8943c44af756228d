"""Copies between overlapping parts of one array: where NumPy's result differs from a copy through a temporary.

NumPy copies between vectors with steps of the same sign element by element: forwards if the source begins at or after
the target, else backwards (``raw_array_assign_array`` in its source). With steps of two sizes it may read what it has
written.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.frontend.state.bindings import Ref, Step
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const, Operand
from symgrad.ops.indexing import ATTRIBUTES, is_part


@dataclass(frozen=True, slots=True)
class Axis:
    """The part of an axis that a view takes: one index, or a strided range. Unknown fields are None."""

    row: Operand | None = None
    walks: bool = True
    start: int | None = 0
    step: int | None = 1

    def sliced(self, first: Operand, step: Operand) -> Axis:
        """A slice of the range."""
        size = (1 if step.value is None else step.value) if isinstance(step, Const) else None
        begins = (0 if first.value is None else first.value) if isinstance(first, Const) else None
        start = None
        if isinstance(size, int) and isinstance(begins, int) and self.start is not None and self.step is not None:
            start = self.start + self.step * begins if min(size, begins, self.step) >= 0 else None
        return Axis(None, True, start, None if self.step is None or not isinstance(size, int) else self.step * size)

    def at(self, place: Operand) -> Axis:
        """One index of the range."""
        return Axis(place if (self.start, self.step) == (0, 1) else None, False)


def axes_of(path: tuple[Step, ...], rank: int) -> list[Axis] | None:
    """The part of each axis that a path takes; None for a path with other steps than indices and slices."""
    axes, order = [Axis()] * rank, list(range(rank))
    for step in path:
        if step.spec == ".T":
            order.reverse()
        if step.spec in ATTRIBUTES:
            continue
        if set(step.spec) - {"i", "s", "e"} or step.spec.count("e") > 1:
            return None
        operands, left = list(step.operands), list(order)
        before, _, after = step.spec.partition("e")
        skipped = len(order) - len(before) - len(after) if "e" in step.spec else 0
        places = [*zip(before, left, strict=False), *zip(after, left[len(before) + skipped :], strict=False)]
        for letter, axis in places:
            if letter == "i":
                axes[axis] = axes[axis].at(operands.pop(0))
                order.remove(axis)
            else:
                first, _, size = (operands.pop(0) for _ in range(3))
                axes[axis] = axes[axis].sliced(first, size)
    return axes


def order_matters(ctx: Lowering, target: Ref, last: Step, source: Ref) -> bool:
    """Whether NumPy may read elements that it has written, where one vector of an array is copied to another."""
    to, of = (*target.path, last), source.path
    if any(step.row for step in (*to, *of)):
        return not is_diagonal(to, of)
    if len({step.spec for step in (*to, *of) if is_part(step.spec)}) > 1:
        return False  # real and imaginary parts are interleaved
    same = next(
        (k for k, (a, b) in enumerate(zip(to, of, strict=False)) if (a.spec, a.operands) != (b.spec, b.operands)), min(len(to), len(of))
    )
    rank = getattr(ctx.type_of(Ref(target.location, to[:same])), "rank", None)
    if rank is None:
        return False
    one, two = axes_of(to[same:], rank), axes_of(of[same:], rank)
    if one is None or two is None:
        return False
    walked = [[k for k, axis in enumerate(axes) if axis.walks] for axes in (one, two)]
    if any(len(axes) != 1 for axes in walked):
        return False
    if walked[0] != walked[1]:
        return not is_mirrored(one, two, walked[0][0], walked[1][0])
    rows = [(a.row, b.row) for a, b in zip(one, two, strict=True) if not a.walks]
    if any(isinstance(a, Const) and isinstance(b, Const) and a.value != b.value for a, b in rows):
        return False
    (place,) = walked[0]
    return steps_matter(one[place], two[place], all(a is not None and a == b for a, b in rows))


def is_diagonal(to: tuple[Step, ...], of: tuple[Step, ...]) -> bool:
    """Whether the diagonal of a matrix is copied to a whole row or column, whose common element is copied to itself."""
    if len(of) != 1 or of[0].row != "diagonal" or dict(of[0].settings).get("offset") != 0:
        return False
    return [(axis.start, axis.step) for axis in axes_of(to, 2) or () if axis.walks] == [(0, 1)]


def is_mirrored(to: list[Axis], of: list[Axis], down: int, across: int) -> bool:
    """Whether a row is copied to the column of the same index, or vice versa. Their common element is copied to itself."""
    row, column = of[down].row, to[across].row
    whole = all((axis.start, axis.step) == (0, 1) for axis in (to[down], of[across]))
    if isinstance(row, Const) and isinstance(column, Const):
        return whole and bool(row.value == column.value)
    return whole and row is not None and row is column


def steps_matter(to: Axis, of: Axis, in_one_row: bool) -> bool:
    """The same for two ranges along one axis."""
    if to.step is None or of.step is None:
        return True
    if to.step == of.step or to.step * of.step < 0:  # where the signs differ, NumPy makes a copy
        return False
    if not in_one_row or to.start is None or of.start is None or to.step < 0:
        return True
    return of.step < to.step if of.start >= to.start else of.step > to.step


__all__ = ["order_matters"]
