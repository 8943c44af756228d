"""Buffer reuse: ``np.exp(t, out=t)`` for ``exp(t)`` at the last use of ``t``, ``np.add(a, b, out=y[1:])`` for a store.

An operand dies at the last use of it and of all its possible views. It must be an array that an op of the same
block has allocated. For large arrays this saves most of the time, for small ones nothing is lost. For emission,
not for differentiation. Works in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, Func, Op, Operand, Value, While, same_operand
from symgrad.ir.types import Array, Scalar, is_plural, same_extent, same_shape
from symgrad.notes import Notes
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.ops.indexing import has_arrays
from symgrad.ops.rows.into import ONLY_AUGMENTED, SUFFIX, ufunc_of
from symgrad.passes.facts import BORROWED, Places, halves_kept
from symgrad.passes.simplification.remarks import tell

#: rows that change an array in place and return its memory
CHANGING = frozenset({"accumulate", "add_at", "set_at"})
#: rows that are printed with ``-=`` where a negative is added
ADDING = frozenset({"accumulate", "add_at"})
#: rows that are printed without a copy if their result is read at once
SLICES = frozenset({"take", "view"})


def buffer_reuse(func: Func) -> Func:
    """Let elementwise ops overwrite operands at their last use, in place."""
    with halves_kept(func):
        _Reuser(Places.of(func), func.notes).block(func.body)
    return func


@dataclass(slots=True)
class _Reuser:
    """One walk through a function."""

    places: Places
    notes: Notes | None
    owned: set[Value] = field(default_factory=set)  #: arrays allocated in the current block, or versions of one

    def block(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, Call):
                self.call(op, block)
                self.note(op)
            else:
                for inner in op.blocks:
                    if not (isinstance(op, While) and inner is op.test):  # a test must not store
                        _Reuser(self.places, self.notes).block(inner)
        self.stores(block)

    def tell(self, op: Call, message: str) -> None:
        """Tell something of an op, if anybody listens."""
        if self.notes is not None:
            tell(self.notes, op, message)

    def note(self, op: Call) -> None:
        """Record whether the result is an array allocated in this block."""
        if len(op.outs) != 1 or not isinstance(op.outs[0].type, Array) or not op.outs[0].type.rank:
            return
        row = ROWS[op.name]
        if row.consumes:
            in_place = op.name in CHANGING or op.name.endswith(SUFFIX) and not op.settings["index"]
            if in_place and op.args[0] in self.owned:
                self.owned.add(op.outs[0])
        elif row.alias == "fresh" and op.name not in BORROWED and op.name not in USER_ROWS and not row.effect and not is_slice(op):
            self.owned.add(op.outs[0])

    def call(self, op: Call, block: Block) -> None:
        """Overwrite an operand, if one is dead after the op."""
        name = op.name + SUFFIX
        if not computes_into(name) or op.settings.get("via") == "math" or not isinstance(op.outs[0].type, Array):
            return
        readers = self.places.readers.get(op.outs[0], [])
        if op.name == "negative" and len(readers) == 1 and isinstance(readers[0], Call) and readers[0].name in ADDING:
            return  # it becomes a minus there
        for place, operand in enumerate(op.args):
            if place and name in ONLY_AUGMENTED:
                return
            if operand in self.owned and isinstance(operand, Value) and holds(operand, op) and self.dies(operand, op, block):
                self.tell(op, f"computed into the memory of {operand.name or 'an operand'}, which is not read again")
                op.name, op.args, op.settings = name, [operand, *op.args], {"index": "", "place": place}
                return

    def dies(self, value: Value, at: Call, block: Block) -> bool:
        """Whether nothing reads the memory of a value after the op."""
        last = self.places.last(value, block)
        return last is not None and last <= self.places.number[at]

    # -------------------------------------------------------------- stores

    def stores(self, block: Block) -> None:
        """Compute a value that is stored to a slice directly into the slice."""
        maker = {op.outs[0]: op for op in block.ops if isinstance(op, Call) and len(op.outs) == 1}
        dead: set[Op] = set()
        for k, op in enumerate(block.ops):
            if isinstance(op, Call) and op.name == "set_at":
                value = op.args[1]
                producer = maker.get(value) if isinstance(value, Value) else None
                if producer is not None and self.goes_into(producer, op, block, k):
                    self.tell(op, "the stored value is computed in place")
                    dead |= {producer, old} if (old := self.augmented(producer, op, block)) is not None else {producer}
                    into(producer, op, old is not None)
        if dead:
            block.ops[:] = [op for op in block.ops if op not in dead]

    def goes_into(self, producer: Call, store: Call, block: Block, at: int) -> bool:
        """Whether the op ``producer`` can run at the store, into the slice."""
        value = producer.outs[0]
        name = producer.name if producer.name.endswith(SUFFIX) else producer.name + SUFFIX
        if not computes_into(name) or name in ONLY_AUGMENTED or producer.settings.get("index") or producer.settings.get("via") == "math":
            return False
        if value in self.places.yielded or self.places.readers.get(value) != [store] or value is store.args[0]:
            return False
        x, v = store.args[0].type, value.type
        if not isinstance(x, Array) or not isinstance(v, Array) or v.shape is None or x.dtype is None or x.dtype != v.dtype:
            return False
        rank = rank_of_slice(store)
        if not rank or len(v.shape) > rank:
            return False
        # the ops between must not write to the op's operands
        return not any(
            op.blocks or not isinstance(op, Call) or ROWS[op.name].consumes or ROWS[op.name].effect
            for op in block.ops[self.places.number[producer] + 1 : at]
        )

    def augmented(self, producer: Call, store: Call, block: Block) -> Call | None:
        """The op that reads the old value at the place of the store, if only ``x[i] += v`` uses it."""
        name, (first, *more) = parts_of(producer)
        ufunc = ufunc_of(ROWS[name])
        old = next((op for op in block.ops if op.outs[:1] == [first]), None)
        if ufunc is None or ufunc[1] is None or not isinstance(first, Value) or not isinstance(old, Call) or old.name not in SLICES:
            return None
        if self.places.readers.get(first) != [producer] or first in more or first in self.places.yielded:
            return None
        place, read = [store.args[0], *store.args[2:]], old.args
        same = old.settings["index"] == store.settings["index"] and len(place) == len(read)
        return old if same and all(map(same_operand, place, read)) else None


def parts_of(op: Call) -> tuple[str, list[Operand]]:
    """The name of the plain op and its operands, without the output operand."""
    name = op.name.removesuffix(SUFFIX)
    if name == op.name:
        return name, op.args
    return name, op.args[1 : 1 + len(ROWS[name].params)]


def into(producer: Call, store: Call, augmented: bool) -> None:
    """Turn a store into the op that computes the stored value in place; ``augmented``: from the old value there."""
    name, operands = parts_of(producer)
    settings: dict[str, object] = {"index": store.settings["index"], "place": 0 if augmented else None}
    place = store.args[2:]
    shapes = [getattr(x.type, "shape", None) for x in (producer.outs[0], store.args[0])]
    if settings["index"] == "e" and operands[0] is store.args[0] and same_shape(*shapes):
        settings, place = {"index": "", "place": 0}, []
    elif augmented:
        operands = [store.args[0], *operands[1:]]
    store.name, store.args, store.settings = name + SUFFIX, [store.args[0], *operands, *place], settings


def computes_into(name: str) -> bool:
    """Whether the row has a form that computes into memory, outside of kernels too."""
    return name in ROWS and "place" in ROWS[name].settings


def is_slice(op: Call) -> bool:
    """Whether the op reads a part that needs no copy if it is read at once."""
    return op.name in SLICES and not has_arrays(op.settings["index"], [a.type for a in op.args[1:]])


def rank_of_slice(store: Call) -> int | None:
    """The rank of the part that a store writes; None if it is no plain slice."""
    index: str = store.settings["index"]
    x = store.args[0].type
    if set(index) - set("sie") or index.count("e") > 1 or not isinstance(x, Array) or x.shape is None:
        return None
    items = [store.args[2:][k] for k in places_of_items(index)]
    if any(not isinstance(i.type, Scalar) or i.type.kind != "int" for i in items):
        return None
    return len(x.shape) - index.count("i")


def places_of_items(index: str) -> list[int]:
    """The positions of the ``i`` items among a path's operands; a slice takes three operands."""
    positions, at = [], 0
    for letter in index:
        if letter == "i":
            positions.append(at)
        at += {"i": 1, "s": 3}.get(letter, 0)
    return positions


def holds(operand: Value, op: Call) -> bool:
    """Whether the operand has the dtype and the shape of the op's result."""
    have, out = operand.type, op.outs[0].type
    assert isinstance(have, Array)
    assert isinstance(out, Array)
    if have.shape is None or out.shape is None or not have.shape or have.dtype is None or have.dtype != out.dtype:
        return False
    if len(have.shape) != len(out.shape) or out.layout not in ("?", have.layout):
        return False
    return all(fits(operand, other) for other in op.args if isinstance(other, Value) and other is not operand)


def fits(operand: Value, other: Operand) -> bool:
    """Whether broadcasting with the other operand keeps the shape of this one."""
    have, more = operand.type, other.type
    if isinstance(more, Scalar):
        return True
    if not isinstance(have, Array) or not isinstance(more, Array) or have.shape is None or more.shape is None:
        return False
    if len(more.shape) > len(have.shape):
        return False
    pairs = zip(have.shape[len(have.shape) - len(more.shape) :], more.shape, strict=True)
    return all(is_plural(h) or m == 1 or same_extent(h, m) for h, m in pairs)


__all__ = ["buffer_reuse"]
