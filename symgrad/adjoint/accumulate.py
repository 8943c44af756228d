"""Holds the cotangent of each value while the sweep goes back: nothing yet, something shared, or a buffer of its own.

A first contribution is kept as it is; the next is added in place if the buffer is owned. Inside a
reversed loop a value of outside is carried; inside a reversed branch it is looked up and joined after.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.adjoint.fit import conformed
from symgrad.ir.core import Block, Const, Op, Operand, Value
from symgrad.ir.types import Array, List, Scalar, Tape, Type
from symgrad.ops.build import Builder

Mask = tuple[tuple[Operand, bool], ...]  #: conditions, each with the side of it where the cotangent is not zero


@dataclass(slots=True)
class Cotangent:
    """A cotangent; ``owned``: its memory is nobody else's, so it may be written to."""

    value: Operand
    owned: bool = False
    mask: Mask = ()


@dataclass(slots=True, eq=False)
class Scope:
    """One reversed block: the block it reverses, where it is, and the cotangents known in it.

    ``position`` is the index, in the parent's block, of the op that ``block`` belongs to. In a loop
    ``slots`` are the outer values whose cotangents the reversed loop carries.
    """

    block: Block
    reverse: Block
    parent: Scope | None = None
    position: int = 0
    loop: bool = False
    op: Op | None = None
    side: tuple[Operand, int] | None = None  #: the test and the side that a branch's block is
    table: dict[Value, Cotangent] = field(default_factory=dict)
    slots: dict[Value, Value] = field(default_factory=dict)


def hinted(value: Operand) -> str:
    """The name for a cotangent: ``h_grad`` for ``h``, ``t_grad`` for what has no name."""
    name = value.name if isinstance(value, Value) else None
    return f"{name}_grad" if name and not name.endswith("_grad") else name or "t_grad"


def cotangent_type(type_: Type) -> Type:
    """The type of a cotangent that is carried: a scalar one may be a Python or a NumPy number."""
    match type_:
        case Scalar(kind=kind):
            return Scalar(kind, "any")
        case Array(dtype=dtype, shape=shape):
            return Array(dtype, shape)
    return type_


def in_memory(type_: Type) -> bool:
    """May a value of this type be written to in place?"""
    return isinstance(type_, Array | List | Tape)


@dataclass(slots=True)
class Ledger:
    """Adds contributions to cotangents; ``homes`` says in which block each value is defined."""

    builder: Builder
    homes: dict[Value, Block]
    copies: list[Value] = field(default_factory=list)
    nullable: set[Value] = field(default_factory=set)  #: values that are None on some paths

    # ---------------------------------------------------------------- looking up

    def get(self, scope: Scope, value: Value) -> Cotangent | None:
        """The cotangent so far; asking for an outer value's inside a loop makes the loop carry it."""
        if value in scope.table:
            return scope.table[value]
        if scope.parent is None or self.homes[value] is scope.block:
            return None
        if not scope.loop:
            return self.get(scope.parent, value)
        slot = Value(cotangent_type(value.type), hinted(value))
        scope.reverse.args.append(slot)
        scope.slots[value] = slot
        scope.table[value] = Cotangent(slot, True)
        return scope.table[value]

    def take(self, scope: Scope, value: Operand) -> Cotangent | None:
        """The cotangent of what an op of this very block defines; done with."""
        return scope.table.pop(value, None) if isinstance(value, Value) else None

    # ---------------------------------------------------------------- adding

    def contribute(self, scope: Scope, value: Value, new: Cotangent) -> None:
        """Add to the cotangent of ``value``."""
        old = self.get(scope, value)
        scope.table[value] = new if old is None else self.sum(old, new, hinted(value))

    def sum(self, old: Cotangent, new: Cotangent, hint: str) -> Cotangent:
        """Both together, in the memory of one of them if it may be written to."""
        mask = common(old.mask, new.mask)
        if is_zero(old):
            return Cotangent(new.value, new.owned, new.mask)
        if in_memory(old.value.type) or in_memory(new.value.type):
            for into, other in ((old, new), (new, old)):
                if into.owned and isinstance(into.value.type, Array):
                    return Cotangent(self.builder.call("accumulate", into.value, other.value, hint=hint), True, mask)
            if isinstance(old.value.type, List):
                return Cotangent(self.builder.call("list_add", old.value, new.value, hint=hint), True, mask)
        total = self.builder.call("add", old.value, new.value, hint=hint)
        return Cotangent(total, isinstance(total.type, Array), mask)

    def buffer(self, scope: Scope, value: Value) -> Operand:
        """The cotangent of ``value`` as memory that may be written to, zeros if there is nothing yet."""
        return self.owned(self.get(scope, value), value)

    def owned(self, cotangent: Cotangent | None, value: Value) -> Operand:
        """A cotangent, or zeros, in memory of its own."""
        if cotangent is None or is_zero(cotangent):
            return self.zero(value)
        if isinstance(value.type, Array) and isinstance(cotangent.value.type, Scalar):
            spread = self.dense(cotangent.value, value)
            return self.builder.call("copy", conformed(self.builder, spread, value), hint=hinted(value))
        if cotangent.owned or isinstance(cotangent.value.type, Scalar):
            return cotangent.value
        made = self.builder.call("copy", cotangent.value, hint=hinted(value))
        self.copies.append(made)
        return made

    def dense(self, grad: Operand, value: Value) -> Operand:
        """A cotangent that may be indexed as ``value`` may: a number that stands for a 0-d array's is made one."""
        if not (isinstance(value.type, Array) and isinstance(grad.type, Scalar)):
            return grad
        return self.builder.call("spread", grad, self.builder.call("shape_of", value), hint=hinted(value))

    def zero(self, value: Value) -> Operand:
        """Nothing, in the form that ``value``'s cotangent has."""
        match value.type:
            case Scalar():
                return Const(0.0)
            case Array(dtype=str() as dtype) if value not in self.nullable:
                return self.builder.call("zeros_of", self.builder.call("shape_of", value), hint=hinted(value), dtype=dtype)
            case List():
                return self.builder.call("list_zeros", value, hint=hinted(value))
            case Tape(indexed=True):
                return self.builder.call("slots_like", value, hint=hinted(value))
            case Tape():
                return self.builder.call("tape", hint=hinted(value))
        return self.builder.call("zeros_like", value, hint=hinted(value))


def is_zero(cotangent: Cotangent) -> bool:
    """Is it the literal zero of a scalar?"""
    return isinstance(cotangent.value, Const) and cotangent.value.value == 0.0


def common(a: Mask, b: Mask) -> Mask:
    """What is known of a sum: it is zero where both are."""
    return tuple(entry for entry in a if any(entry[0] is other[0] and entry[1] == other[1] for other in b))
