"""Sinks the zeroing of cotangent slices to its latest place, and removes it where it is not needed. Works in place.

    t = g[p].copy(); g[p] = 0; g[q] += u; g[p] += t      ->      t = g[p].copy(); g[q] += u
    t = g[p].copy(); g[p] = 0; u = 2 * t                 ->      t = g[p].copy(); u = 2 * t; g[p] = 0

``t`` may then be a view (``borrow``). Only the backward half is changed, where the order of sums is the
compiler's choice.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, Func, Operand, Value, substitute
from symgrad.notes import Notes
from symgrad.ops.indexing import has_arrays
from symgrad.passes.facts import Facts, Places, halves_kept, holds
from symgrad.passes.simplification.identities import stores_all
from symgrad.passes.simplification.remarks import tell


def zeroing(func: Func) -> Func:
    """Remove and delay zeroing, in place."""
    if holds(func, "set_at"):
        with halves_kept(func):
            _Zeroing(Facts(func), Places.of(func), func.notes).block(func.body)
    return func


class _Zeroing:
    """One walk through a function."""

    def __init__(self, facts: Facts, places: Places, notes: Notes | None) -> None:
        self.facts = facts
        self.places = places
        self.notes = notes
        self.table: dict[Value, Operand] = {}

    def block(self, block: Block) -> None:
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
        zeroed = [op for op in block.ops if isinstance(op, Call) and op.name == "set_at" and self.is_zeroing(op)]
        for zero in zeroed:
            taken = self.taken(zero, block)
            if taken is not None and not self.put_back(zero, taken, block):
                self.put_off(zero, taken, block)
        substitute(block, self.table)

    def is_zeroing(self, op: Call) -> bool:
        """Whether the op sets a slice of floats to zero in the backward half."""
        value, out = op.args[1], op.outs[0]
        plain = isinstance(value, Const) and type(value.value) in (int, float) and value.value == 0
        index = op.settings["index"]
        return (
            plain
            and out in self.facts.late
            and getattr(out.type, "kind", None) == "float"
            and "." not in index
            and not has_arrays(index, [a.type for a in op.args[2:]])
        )

    def taken(self, zero: Call, block: Block) -> Call | None:
        """The op that has read the zeroed place before."""
        for op in self.places.readers.get(zero.args[0], ()):  # type: ignore[arg-type]
            if isinstance(op, Call) and op.name == "take" and is_same_place(op.args[1:], op, zero) and self.places.above[op][0] is block:
                return op
        return None

    # -------------------------------------------------------------- removal

    def put_back(self, zero: Call, taken: Call, block: Block) -> bool:
        """Whether the old content is added back with only additions between; the zeroing is then removed."""
        added: list[Call] = [zero]
        while True:
            readers = self.places.readers.get(added[-1].outs[0], [])
            if len(readers) != 1 or added[-1].outs[0] in self.places.yielded:
                return False
            (op,) = readers
            if (
                not isinstance(op, Call)
                or op.name not in ("add_at", "accumulate")
                or op.args[0] is not added[-1].outs[0]
                or self.places.above[op][0] is not block
            ):
                return False
            added.append(op)
            whole = op.name == "accumulate" and stores_all(zero)
            if (whole or op.name == "add_at" and is_same_place(op.args[2:], op, zero)) and self.leave_out(taken, op, block):
                self.table[zero.outs[0]] = zero.args[0]
                block.ops.remove(zero)
                tell(self.notes, zero, "a slice of it is not set to zero, since its old value is added again")
                return True

    def leave_out(self, taken: Call, op: Call, block: Block) -> bool:
        """Remove the old content from an added sum."""
        value = op.args[1]
        if value is taken.outs[0]:
            self.table[op.outs[0]] = op.args[0]
            block.ops.remove(op)
            return True
        maker = self.facts.maker.get(value) if isinstance(value, Value) else None
        if not isinstance(maker, Call) or maker.name not in ("accumulate", "add") or value in self.places.yielded:
            return False
        if self.places.readers.get(value) != [op] or taken.outs[0] not in maker.args:  # type: ignore[arg-type]
            return False
        other = maker.args[1] if maker.args[0] is taken.outs[0] else maker.args[0]
        op.args[1] = other
        self.places.above[maker][0].ops.remove(maker)
        return True

    # -------------------------------------------------------------- sinking

    def put_off(self, zero: Call, taken: Call, block: Block) -> None:
        """Move the op behind the last use of the old content, if nothing reads its result before."""
        last = self.places.last(taken.outs[0], block)
        if last is None or last <= self.places.number[zero]:
            return
        readers = [self.places.holder(op, block) for op in self.places.readers.get(zero.outs[0], ())]
        first = min((self.places.number[op] for op in readers if op is not None), default=last + 1)
        if first > last:
            ops, number = block.ops, self.places.number
            here = ops.index(zero)
            place = next((k for k in range(here + 1, len(ops)) if number.get(ops[k], last + 1) > last), len(ops))
            ops.insert(place, zero)
            del ops[here]
            tell(self.notes, zero, "a slice of it is set to zero only after its last read, so that it need not be copied")


def is_same_place(operands: list[Operand], op: Call, store: Call) -> bool:
    """Whether the op accesses the place of the store."""
    own = store.args[2:]
    if op.settings["index"] != store.settings["index"] or len(own) != len(operands):
        return False
    return all(a is b or isinstance(a, Const) and isinstance(b, Const) and a.key() == b.key() for a, b in zip(own, operands, strict=True))


__all__ = ["zeroing"]
