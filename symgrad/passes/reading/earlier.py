"""Gives earlier values of the user's variables names of their own, for text that is read.

    x_1 = F @ x; tape[t] = x, x_1; x = x_1      ->      x_old = x; x = F @ x; tape[t] = x_old, x

A variable keeps its name where it is reassigned. If its old value is read later, that value is first assigned to another name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence

from symgrad.ir.core import Block, Call, For, Func, Op, Value, While, blocks_within, ops_within, substitute, walk
from symgrad.ir.unbound import Unbound
from symgrad.ir.walks import read_in
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts, halves_kept
from symgrad.passes.reading.readable import SHAPES, Families, has_shape_of
from symgrad.passes.simplification.dce import EMPTYING, FILLING


def earlier(func: Func) -> Func:
    """Rename values that are read after their variable is reassigned. Works in place."""
    forward = set(func.body.ops[: func.split])
    with halves_kept(func):
        setter = Setter(Families(func), Unbound.of(func.body).sides)
        setter.block(func.body, [op for op in func.body.ops if op in forward])
    name_what_is_taken_off_tapes(func, setter.aside)
    return func


class Setter:
    """Renames values, block by block."""

    def __init__(self, families: Families, unbound: Container[Value]) -> None:
        self.families = families
        self.unbound = unbound  #: values that may be unbound
        self.aside: set[Value] = set()  #: the renamed values

    def block(self, block: Block, ops: list[Op], slots: Sequence[Value] = ()) -> None:
        """Rename values that a block defines in its ``ops``, which are all ops except those of the backward half.

        ``slots`` are the loop-carried variables, if the block is a loop's body.
        """
        defined: dict[Value, None] = dict.fromkeys(block.args)
        times = Counter((out.name, op.loc.line) for op in ops for out in op.outs)
        for op in ops:
            for inner in op.blocks:
                self.block(inner, list(inner.ops), op.carried if isinstance(op, For | While) and inner is op.body else [])
            before = list(defined)
            for name in dict.fromkeys(names_assigned(op)):
                for value in before if times[name, op.loc.line] <= 1 else []:  # else a function that is called several times assigns it
                    if value.name == name and self.may_be_set_aside(value):
                        self.set_aside(value, block, op, slots)
            defined |= dict.fromkeys(op.outs)

    def may_be_set_aside(self, value: Value) -> bool:
        """Whether the value is a number, or an array in memory that nothing writes to."""
        if value in self.aside or value in self.unbound:
            return False
        return self.families.memory([value]).isdisjoint(self.families.changing)

    def set_aside(self, value: Value, block: Block, op: Op, slots: Sequence[Value]) -> None:
        """Give a value another name before ``op``, if it is read after that."""
        place = block.ops.index(op)
        rest = Block(ops=block.ops[place + 1 :], yields=block.yields)
        again = list(op.blocks) if isinstance(op, For | While) else []
        parts = [rest, *again]
        if not any(is_read(value, part) for part in parts):
            return
        if successor := next((out for out in op.outs if out.name == value.name and has_shape_of(value, out)), None):
            if not again and all(is_asked_for_shape(value, part) for part in parts):
                substitute(rest, {value: successor})
                return
        name = f"{value.name}_old"
        if not any(is_read(value, Block(ops=part.ops)) for part in parts):
            heirs = [slot for slot, final in zip(slots, block.yields, strict=False) if final is value]
            if not heirs or any(is_read(slot, Block(ops=block.ops[place:])) for slot in heirs):
                return  # variables that are swapped are assigned at once
            name = str(heirs[0].name or name)
        other = Value(value.type, name)
        names = {"text": str(value.name), "names": (value.name,), "type": value.type}
        block.ops.insert(place, Call([other], op.loc, "written", [value], {**ROWS["written"].settings, **names}))
        for part in parts:
            substitute(part, {value: other})
        block.yields = rest.yields
        self.aside.add(other)


def names_assigned(op: Op) -> Iterator[str]:
    """The user's variables to which an op, or one in its blocks, assigns a new value in other memory."""
    for one in ops_within(op):
        if isinstance(one, Call) and ROWS[one.name].consumes:
            continue
        arguments = [value for block in one.blocks for value in block.args]
        yield from (value.name for value in (*one.outs, *arguments) if value.name is not None and not value.name.startswith("%"))


def is_read(value: Value, block: Block) -> bool:
    """Whether a block reads or yields a value."""
    return value in read_in(block)


def is_asked_for_shape(value: Value, block: Block) -> bool:
    """Whether the ops of a block that read a value read only its shape."""
    readers = [op for op in walk(block) if value in op.operands]
    yielded = any(value in inner.yields for inner in blocks_within(block))
    return not yielded and all(isinstance(op, Call) and op.name in SHAPES for op in readers)


def name_what_is_taken_off_tapes(func: Func, aside: Container[Value]) -> None:
    """Name each value that is read back from a tape like the value that was saved: a renamed one, or one without a name."""
    facts = Facts(func)
    saved: dict[object, list[Call]] = {}
    ops = [op for op in walk(func.body) if isinstance(op, Call) and op.args and isinstance(op.args[0], Value)]
    for op in ops:
        if op.name in FILLING:
            saved.setdefault(facts.find((op.args[0], False)), []).append(op)  # type: ignore[arg-type]
    for op in ops:
        stores = saved.get(facts.find((op.args[0], False)), []) if op.name in EMPTYING else []  # type: ignore[arg-type]
        for store in stores if len(stores) == 1 else []:
            for value, out in zip(store.args[FILLING[store.name] :], op.outs[EMPTYING[op.name] :], strict=False):
                if value in aside:
                    out.name = value.name
                elif out.name is None and isinstance(value, Value) and value.name is None:
                    out.label = value.label


__all__ = ["earlier"]
