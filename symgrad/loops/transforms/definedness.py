"""Definedness in kernels: a bool accompanies each possibly unbound name, and the kernel is left where an unbound one is read.

Python raises there; numba would read an arbitrary register. On tapes such a name is saved as a placeholder: the
backward half reads it only where it is bound in the forward half.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import FALSE, NONE, TRUE, Block, Call, Const, For, Func, If, Op, Operand, Value, While
from symgrad.ir.types import BOOL, Array, List, Scalar, Tape, Type
from symgrad.ir.unbound import Side, Unbound, is_absent, is_undefined, present_in
from symgrad.loops.reach import OutOfReach, in_words
from symgrad.ops.build import Builder, symbols

LITERALS = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}


def doubtful_values(func: Func) -> set[Value]:
    """Values that may be unbound: their types say nothing before they are read."""
    return set(Unbound.of(func.body).sides)


def definedness(func: Func, unsure: set[Value] | None = None) -> Func:
    """Give every name a value on every path, in place, with a check where it may be read unbound."""
    work = Bound(doubtful_values(func) if unsure is None else unsure)
    for value, sides in present_in(func.body, work.unsure).items():
        for side in sides:
            work.present.setdefault(side, []).append((value, sides))
    if work.unsure or any(is_undefined(y) for y in func.body.yields):
        work.builder.taken = symbols(func)
        work.block(func.body, set())
        with work.builder.inside(func.body):
            work.read(func.body.yields, set())
    return func


@dataclass(slots=True)
class Bound:
    """The rewriting: the possibly unbound values, and the bool of each.

    ``present``: for a side of a branch, the values bound on it, with all sides that this requires; ``sides``
    are the enclosing ones.
    """

    unsure: set[Value]
    present: dict[Side, list[tuple[Value, frozenset[Side]]]] = field(default_factory=dict)
    sides: set[Side] = field(default_factory=set)
    flags: dict[Value, Operand] = field(default_factory=dict)
    builder: Builder = field(default_factory=Builder)

    def flag(self, operand: Operand, slot: Value) -> Operand:
        """Whether the operand is bound, as a value for ``slot``."""
        if is_absent(operand, slot.type):
            return FALSE
        return self.flags[operand] if isinstance(operand, Value) and operand in self.unsure else TRUE

    def beside(self, values: list[Value]) -> list[Value]:
        """New flags: one bool for each value that may be unbound."""
        flags = [Value(BOOL, f"{v.name or 'value'}_bound") for v in values if v in self.unsure]
        self.flags.update(zip((v for v in values if v in self.unsure), flags, strict=True))
        return flags

    def read(self, operands: list[Operand], known: set[Value]) -> None:
        """Emit a check for each operand that may be unbound and is not known to be bound here."""
        for operand in operands:
            if is_undefined(operand):
                raise OutOfReach("a variable that is not bound", self.builder.loc)
            if isinstance(operand, Value) and operand in self.unsure and operand not in known:
                known.add(operand)
                self.builder.call_many("check", self.flags[operand], NONE)

    def block(self, block: Block, known: set[Value]) -> None:
        """Rewrite a block; ``known`` are values that have been checked before it."""
        old, block.ops = block.ops, []
        with self.builder.inside(block):
            for op in old:
                with self.builder.at(op.loc):
                    self.op(op, known)

    def op(self, op: Op, known: set[Value]) -> None:
        match op:
            case If():
                self.read([op.test], known)
                self.branch(op, known)
            case For():
                self.read([op.start, op.stop, op.step], known)
                self.loop(op, known)
            case While():
                self.loop(op, known)
            case Call(name="push" | "put"):
                self.save(op, known)
            case Call(name="pop" | "get"):
                self.read(op.operands, known)
                self.flags.update((out, TRUE) for out in op.outs)
                known.update(op.outs)
                self.builder.append(op)
            case _:
                self.read(op.operands, known)
                self.builder.append(op)

    def save(self, op: Call, known: set[Value]) -> None:
        """Save values on a tape, bound or not."""
        first = 1 if op.name == "push" else 2
        self.read(op.args[:first], known)
        tape = op.outs[0].type
        if isinstance(tape, Tape):
            op.args[first:] = [self.filled(a, Value(t)) for a, t in zip(op.args[first:], tape.items, strict=True)]
        self.builder.append(op)

    def branch(self, op: If, known: set[Value]) -> None:
        here = [o in self.unsure for o in op.outs]
        for place, inner in enumerate(op.blocks):
            side = (op.test, place)
            own = {side} - self.sides
            self.sides |= own
            self.block(inner, known | {value for value, sides in self.present.get(side, ()) if sides <= self.sides})
            self.sides -= own
            self.close(inner, op.outs, here)
        op.outs += self.beside(op.outs)
        self.builder.append(op)

    def loop(self, op: For | While, known: set[Value]) -> None:
        slots, count = list(op.carried), len(op.carried)
        here = [s in self.unsure for s in slots]
        flags = [self.flag(i, s) for i, s in zip(op.inits, slots, strict=True) if s in self.unsure]
        op.inits = [self.filled(i, s) for i, s in zip(op.inits, slots, strict=True)] + flags
        blocks = [op.test, op.body] if isinstance(op, While) else [op.body]
        for inner in blocks:
            inner.args += self.beside(inner.args[-count:] if count else [])
        for inner in blocks:
            self.block(inner, set(known))
        self.close(op.body, slots, here)
        op.outs = op.outs[:count] + self.beside(op.outs[:count]) + op.outs[count:]
        self.builder.append(op)

    def close(self, block: Block, slots: list[Value], here: list[bool]) -> None:
        """Rewrite the end of a block: placeholders for unbound values, and the bools."""
        count = len(slots)
        handed, rest = block.yields[:count], block.yields[count:]
        flags = [self.flag(y, s) for y, s, unsure in zip(handed, slots, here, strict=True) if unsure]
        with self.builder.inside(block):
            handed = [self.filled(y, s) for y, s in zip(handed, slots, strict=True)]
        block.yields = [*handed, *flags, *rest]

    def filled(self, operand: Operand, slot: Value) -> Operand:
        """A placeholder of the slot's type for an unbound value; nothing reads it."""
        return self.anything(slot.type) if is_absent(operand, slot.type) else operand

    def anything(self, type_: Type) -> Operand:
        match type_:
            case Scalar(kind=kind) if kind in LITERALS:
                return Const(LITERALS[kind])
            case Array(dtype=str() as dtype, shape=shape) if shape is not None:
                return self.builder.call("zeros", *[Const(0)] * len(shape), dtype=dtype)
            case Tape():
                return self.builder.call("tape")
            case List():
                return self.builder.call("list_of")
        raise OutOfReach(f"a variable that is unbound on some path, and otherwise {in_words(type_)}", self.builder.loc)
