"""Batching of dot products: products of all pairs of matrix rows or columns in two loops -> one matrix product before them.

    for i in range(m): for j in range(i, m): c = z[:, i] @ z[:, j]    ->    p = z.T @ z; for i ...: for j ...: c = p[i, j]

Runs before differentiation, so that the adjoint consists of matrix products too. Requires loops over at least
half of all pairs, and finite products, which ``Func.guarded`` checks.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.core import Block, Call, Const, For, Func, Op, Operand, Value, walk
from symgrad.ir.types import Array, Dim, Extent
from symgrad.ops.build import Builder
from symgrad.passes.representation.unbox import may_start_again
from symgrad.passes.simplification.remarks import tell

PRODUCTS = frozenset({"matmul", "dot"})
#: index paths of a row and a column of a matrix: the axis, and the position of the index among the operands
LINES = {"i": (0, 1), "is": (0, 1), "si": (1, 4)}
#: the number of rows or columns at either end that the loops may skip
FEW = 2
#: up to this many rows or columns the products are left in the loops
SMALL = 8


@dataclass(frozen=True, slots=True)
class Line:
    """A row (axis 0) or column (axis 1) of a matrix, and its index."""

    matrix: Value
    axis: int
    number: Operand

    @property
    def count(self) -> Extent:
        """The number of such lines in the matrix."""
        return shape_of(self.matrix)[self.axis]

    @property
    def length(self) -> Extent:
        return shape_of(self.matrix)[1 - self.axis]


def dot_products(func: Func, guarded: bool = True) -> Func:
    """Hoist the products of pairs out of loops, in place, where code that raises may run again: ``guarded``."""
    if guarded and may_start_again(func) and any(isinstance(op, Call) and op.name in PRODUCTS for op in walk(func.body)):
        makers = {out: op for op in walk(func.body) for out in op.outs}
        visit(func, func.body, makers, set(func.body.args))
    return func


def products_in(func: Func, loop: For, makers: dict[Value, Op], known: set[Value]) -> list[Op]:
    """Replace the dot products in the loops directly inside a loop; return the ops of the matrix products, which run before it."""
    before: list[Op] = []
    for inner in [op for op in loop.body.ops if isinstance(op, For)]:
        for call in inner.body.ops:
            lines = lines_of(call, loop, inner, makers, known)
            if lines is not None and isinstance(call, Call):
                before += product(func, call, *lines)
    return before


def visit(func: Func, block: Block, makers: dict[Value, Op], outside: set[Value]) -> None:
    """Process the loops of a block; ``outside`` are the values defined before it."""
    done: list[Op] = []
    known = set(outside)
    for op in block.ops:
        if isinstance(op, For):
            done += products_in(func, op, makers, known)
        for inside in op.blocks:
            visit(func, inside, makers, known | set(inside.args))
        known.update(op.outs)
        done.append(op)
    block.ops = done


def lines_of(call: Op, outer: For, inner: For, makers: dict[Value, Op], known: set[Value]) -> tuple[Line, Line] | None:
    """The two vectors of a product in two loops, if the loops cover all or half of all pairs."""
    if not isinstance(call, Call) or call.name not in PRODUCTS:
        return None
    first, second = (line(operand, makers) for operand in call.args[:2])
    if first is None or second is None or not is_one(first.length, second.length) or {first.matrix, second.matrix} - known:
        return None
    if dtype_of(first.matrix) != dtype_of(second.matrix):
        return None
    by_loop = {outer.index: outer, inner.index: inner}
    if {first.number, second.number} != set(by_loop):
        return None
    covered = all(goes_through(by_loop[one.number], one.count, outer, makers) for one in (first, second))  # type: ignore[index]
    return (first, second) if covered else None


def line(operand: Operand, makers: dict[Value, Op]) -> Line | None:
    """The row or column of a matrix that a vector is."""
    op = makers.get(operand) if isinstance(operand, Value) else None
    if not isinstance(op, Call) or op.name not in ("view", "take") or op.settings["index"] not in LINES:
        return None
    matrix = op.args[0]
    axis, place = LINES[op.settings["index"]]
    whole = all(isinstance(o, Const) and o.value is None for k, o in enumerate(op.args[1:], 1) if k != place)
    if not (whole and isinstance(matrix, Value) and isinstance(matrix.type, Array) and matrix.type.rank == 2):
        return None
    return Line(matrix, axis, op.args[place]) if matrix.type.dtype in ("f64", "f32") else None


def dtype_of(matrix: Value) -> str | None:
    assert isinstance(matrix.type, Array)
    return matrix.type.dtype


def shape_of(matrix: Value) -> tuple[Extent, ...]:
    assert isinstance(matrix.type, Array)
    assert matrix.type.shape is not None
    return matrix.type.shape


def goes_through(loop: For, count: Extent, outer: For, makers: dict[Value, Op]) -> bool:
    """Whether a loop runs (nearly) to the end of an axis, from its beginning or from the outer loop's index."""
    if isinstance(count, int) and count <= SMALL:
        return False
    start, begun = shifted(loop.start, makers)
    stop, ended = shifted(loop.stop, makers)
    if not (isinstance(loop.step, Const) and loop.step.value == 1) or loop.until or not 0 <= begun <= FEW or not -FEW <= ended <= 0:
        return False
    if start is not None and not (start is outer.index and loop is not outer):
        return False
    op = makers.get(stop) if stop is not None else None
    if stop is None or not isinstance(op, Call) or op.name != "extent" or not isinstance(op.args[0].type, Array):
        return False
    shape = op.args[0].type.shape
    return shape is not None and is_one(shape[op.settings["axis"]], count)


def is_one(a: Extent, b: Extent) -> bool:
    """Whether two extents are surely equal."""
    return a == b and not (isinstance(a, Dim) and a.symbol == "?")


def shifted(operand: Operand, makers: dict[Value, Op]) -> tuple[Value | None, int]:
    """Split an integer into a value and a literal added to it."""
    if isinstance(operand, Const):
        return None, operand.value if type(operand.value) is int else -1
    assert isinstance(operand, Value)
    op = makers.get(operand)
    if isinstance(op, Call) and op.name in ("add", "subtract") and isinstance(op.args[1], Const) and type(op.args[1].value) is int:
        base, shift = shifted(op.args[0], makers)
        return base, shift + (op.args[1].value if op.name == "add" else -op.args[1].value)
    return operand, 0


def product(func: Func, call: Call, first: Line, second: Line) -> list[Op]:
    """The ops that multiply the matrices; the call then reads an element of the result."""
    build, block = Builder(), Block()
    with build.inside(block), build.at(call.loc):
        left = first.matrix if first.axis == 0 else build.call("view", first.matrix, index=".T")
        right = second.matrix if second.axis == 1 else build.call("view", second.matrix, index=".T")
        whole = build.call("matmul", left, right, hint="products")
        # pairs that the loops skip are multiplied by zero: if a result is then nonzero, the original function runs
        nothing = build.call("sum", build.call("multiply", whole, Const(0.0)))
        build.call_many("bail_out", build.call("not_equal", nothing, Const(0.0)))
    func.guarded |= {"ArithmeticError"}
    tell(func.notes, call, "the products of all pairs are one product of matrices before the loops", whole)
    call.name, call.args, call.settings = "take", [whole, first.number, second.number], {"index": "ii"}
    return block.ops


__all__ = ["dot_products"]
