"""Dead-store elimination of zeroing: cells of a cotangent that are neither read nor added to afterwards. Works in place.

    for j in reversed(range(1, n)): t = g[j].copy(); g[j] = 0; g[j - 1] += 2 * t      ->      ... t = g[j].copy(); g[j - 1] += 2 * t

Cells are identified by their indices, compared as sums of loop indices and extents.
"""

from __future__ import annotations

from symgrad.ir.core import Apply, Call, Const, Func, Op, Operand, Value, substitute, walk
from symgrad.ir.walks import remove_ops
from symgrad.ops.analysis.access_regions import PATHS
from symgrad.ops.indexing import has_arrays
from symgrad.passes.facts import Facts, Node, halves_kept, has_memory
from symgrad.passes.memory.access_regions import Touched
from symgrad.passes.simplification.remarks import tell

#: rows that read the shape of an array, not its elements
SHAPES = frozenset({"shape_of", "extent"})
MOST = 40  #: the maximum number of reads of an array examined

Reading = tuple[Op, Call | None]  #: an op, and the path by which it reads; None if it may read everything


def dead_zeroing(func: Func) -> Func:
    """Remove zeroing where nothing reads the zeros, in place."""
    late = set() if func.split is None else set(func.body.ops[func.split :])
    if not late or any(isinstance(op, Apply) for op in walk(func.body)):
        return func
    zeros = [op for op in walk(func.body) if isinstance(op, Call) and op.name == "set_at" and is_zero(op)]
    if zeros:
        with halves_kept(func):
            leave_out(func, zeros)
    return func


def leave_out(func: Func, zeros: list[Call]) -> None:
    """Remove the dead ones among these stores."""
    facts = Facts(func)
    touched = Touched(func, facts)
    touched.doubt(func.body.yields)
    reads = readings(func, facts, touched)
    table: dict[Value, Operand] = {}
    gone: set[Op] = set()
    for zero in zeros:
        own = reads.get(facts.find((zero.args[0], False)), [])  # type: ignore[arg-type]
        if zero.outs[0] not in facts.late or not touched.is_whole(zero.args[0]) or len(own) > MOST:
            continue
        if not any(touched.meet_later(op, path, zero) for op, path in own):
            source = zero.args[0]
            table[zero.outs[0]] = table.get(source, source) if isinstance(source, Value) else source
            gone.add(zero)
            tell(func.notes, zero, "a slice of it is not set to zero, since it is not read again")
    if gone:
        substitute(func.body, table)
        remove_ops(func.body, gone)


def readings(func: Func, facts: Facts, touched: Touched) -> dict[Node, list[Reading]]:
    """The reads of each memory class."""
    reads: dict[Node, list[Reading]] = {}
    for op in walk(func.body):
        if not isinstance(op, Call) or op.name in SHAPES:
            continue
        for k, operand in enumerate(op.args):
            if not isinstance(operand, Value) or not has_memory(operand) or k == 0 and op.name in ("view", "set_at"):
                continue  # a view counts at its readers, and a store reads nothing
            path = touched.path_of(operand)
            own = path is None and k == 0 and op.name in PATHS
            reads.setdefault(facts.find((operand, False)), []).append((op, op if own else path))
    return reads


def is_zero(op: Call) -> bool:
    """Whether a store sets a basic part of an array to zero."""
    value, index = op.args[1], str(op.settings["index"])
    plain = isinstance(value, Const) and type(value.value) in (int, float) and value.value == 0
    return plain and "." not in index and ";" not in index and not has_arrays(index, [a.type for a in op.args[2:]])


__all__ = ["dead_zeroing"]
