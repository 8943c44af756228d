"""Accumulates cotangents during the reverse sweep: none yet, a shared contribution, or a buffer that the cotangent owns.

The first contribution is stored as it is. Each further one is added in place if the cotangent owns its buffer.
Inside a reversed loop the cotangent of an outer value is loop-carried; inside a reversed branch it is looked up
and joined afterwards. A value that may be unbound has no known shape: its cotangent begins as the number 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.adjoint.analysis.zero_masks import Mask, either
from symgrad.adjoint.unbroadcast import conformed, in_plane
from symgrad.errors import NoDerivative
from symgrad.ir.core import Block, Const, Op, Operand, Value
from symgrad.ir.types import UNKNOWN, Array, List, Scalar, Tape, Type, Unknown, is_complex, same_shape
from symgrad.ir.unbound import Unbound
from symgrad.ops.build import Builder

ZERO_GRAD = Const(0.0)  #: the cotangent of a number, and of a value whose form is unknown


@dataclass(slots=True)
class Cotangent:
    """A cotangent; ``owned``: nothing else references its memory, so it may be written to."""

    value: Operand
    owned: bool = False
    mask: Mask = ()
    loose: bool = False  #: may be the number 0 in place of an array or a list of unknown form
    gap: tuple[Block, int] | None = None  #: the block and yield index where it stays undefined, as its value does


@dataclass(slots=True, eq=False)
class Scope:
    """One reversed block: the primal block, its position, and the cotangents known in it.

    ``position`` is the index, in the parent's block, of the op that ``block`` belongs to. In a loop ``slots``
    are the outer values whose cotangents the reversed loop carries.
    """

    block: Block
    reverse: Block
    parent: Scope | None = None
    position: int = 0
    loop: bool = False
    op: Op | None = None
    side: tuple[Operand, int] | None = None  #: for the block of a branch: the test and the side
    table: dict[Value, Cotangent] = field(default_factory=dict)
    slots: dict[Value, Value] = field(default_factory=dict)


def hinted(value: Operand) -> str:
    """The name of a cotangent: ``h_grad`` for ``h``, ``product_grad`` for a value with that label, else ``t_grad``."""
    name = (value.name or value.label) if isinstance(value, Value) else None
    return f"{name}_grad" if name and not name.endswith("_grad") else name or "t_grad"


def cotangent_type(type_: Type) -> Type:
    """The type of a loop-carried cotangent: a scalar may be a Python or a NumPy number."""
    match type_:
        case Scalar(kind=kind):
            return Scalar(kind, "any")
        case Array(dtype=dtype, shape=shape):
            return Array(dtype, shape)
    return type_


def loosened(type_: Type) -> Type:
    """The type of a cotangent that may be the number 0 instead."""
    match type_:
        case Scalar():
            return cotangent_type(type_)
        case Array(dtype=dtype):
            return Array(dtype, None)
    return UNKNOWN


def zero_number(type_: Type) -> Const:
    """The cotangent of a number that no active result depends on."""
    return Const(0j) if is_complex(type_) else ZERO_GRAD


def in_memory(type_: Type) -> bool:
    """Whether a value of this type may be written to in place."""
    return isinstance(type_, Array | List | Tape)


@dataclass(slots=True)
class Ledger:
    """Adds contributions to cotangents; ``homes`` maps each value to the block that defines it."""

    builder: Builder
    homes: dict[Value, Block]
    unbound: Unbound
    params: list[Value]
    copies: list[Value] = field(default_factory=list)
    nullable: set[Value] = field(default_factory=set)  #: values that are None on some paths
    sizes: dict[Value, Value] = field(default_factory=dict)  #: a number whose cotangent is the size of the terms of a value's cotangent

    # ---------------------------------------------------------------- lookup

    def get(self, scope: Scope, value: Value) -> Cotangent | None:
        """The cotangent so far; looking up an outer value's inside a loop makes the loop carry it."""
        if value in scope.table:
            return scope.table[value]
        if scope.parent is None or self.homes[value] is scope.block:
            return None
        if not scope.loop:
            return self.get(scope.parent, value)
        loose = self.is_formless(scope.parent, value)
        slot = Value(loosened(value.type) if loose else cotangent_type(value.type), hinted(value))
        scope.reverse.args.append(slot)
        scope.slots[value] = slot
        scope.table[value] = Cotangent(slot, True, loose=loose)
        return scope.table[value]

    def take(self, scope: Scope, value: Operand) -> Cotangent | None:
        """Remove and return the cotangent of a result of an op of this very block."""
        return scope.table.pop(value, None) if isinstance(value, Value) else None

    def arrived(self, scope: Scope, value: Value) -> Cotangent | None:
        """``take`` for a value that has been computed, so that its form can be read."""
        grad = self.take(scope, value)
        return None if grad is None else self.settled(grad, value)

    # ---------------------------------------------------------------- accumulation

    def contribute(self, scope: Scope, value: Value, new: Cotangent) -> None:
        """Add to the cotangent of ``value``."""
        new = self.in_plane(new, value)
        if value in self.sizes:
            size = self.builder.call("sum", self.builder.call("abs", new.value))
            self.contribute(scope, self.sizes[value], Cotangent(size))
        old = self.get(scope, value)
        if old is None or is_zero(old):
            scope.table[value] = new
            return
        if not self.has_value(scope, value):
            old, new = self.filled(old), self.filled(new)
        if not (old.loose and new.loose):
            old, new = self.settled(old, value), self.settled(new, value)
        scope.table[value] = self.sum(old, new, hinted(value))

    def in_plane(self, grad: Cotangent, value: Value) -> Cotangent:
        """Convert a cotangent between real and complex, to match ``value``."""
        operand = in_plane(self.builder, grad.value, value, hinted(value))
        return grad if operand is grad.value else Cotangent(operand, in_memory(operand.type), grad.mask)

    def sum(self, old: Cotangent, new: Cotangent, hint: str) -> Cotangent:
        """The sum of two cotangents, in the memory of one of them if it may be written to."""
        if isinstance(old.value.type, Tape) or isinstance(new.value.type, Tape):
            what = "the rows of a Jacobian that is differentiated read values saved by a loop whose iteration count is not known before it"
            raise NoDerivative(what, self.builder.loc, "write symgrad.jacfwd here, or stack gradients: grad(lambda x: f(x)[k])(x)")
        mask = either(self.builder, old.mask, new.mask, old.value) if old.mask and new.mask else ()
        if old.loose:
            may_be_list = any(isinstance(grad.value.type, List | Unknown) for grad in (old, new))
            row = "list_add" if may_be_list else "add"
            return Cotangent(self.builder.call(row, old.value, new.value, hint=hint), mask=mask, loose=True)
        if in_memory(old.value.type) or in_memory(new.value.type):
            for into, other in ((old, new), (new, old)):
                if into.owned and isinstance(into.value.type, Array):
                    return Cotangent(self.builder.call("accumulate", into.value, other.value, hint=hint), True, mask)
            if isinstance(old.value.type, List):
                return Cotangent(self.builder.call("list_add", old.value, new.value, hint=hint), True, mask)
        total = self.builder.call("add", old.value, new.value, hint=hint)
        return Cotangent(total, isinstance(total.type, Array), mask)

    def buffer(self, scope: Scope, value: Value) -> Operand:
        """The cotangent of ``value`` in writable memory; zeros if there is none yet."""
        return self.owned(self.get(scope, value), value)

    def owned(self, cotangent: Cotangent | None, value: Value) -> Operand:
        """A cotangent, or zeros, in memory that it owns."""
        if cotangent is None or is_zero(cotangent):
            return self.zero(value)
        cotangent = self.settled(cotangent, value)
        if isinstance(value.type, Array) and isinstance(cotangent.value.type, Scalar):
            spread = self.dense(cotangent.value, value)
            return self.builder.call("copy", conformed(self.builder, spread, value), hint=hinted(value))
        if isinstance(value.type, Array) and value.type.shape == () and getattr(cotangent.value.type, "shape", None) is None:
            return self.builder.call("to_array", cotangent.value, hint=hinted(value))  # it may have become a number
        if cotangent.owned or isinstance(cotangent.value.type, Scalar):
            return cotangent.value
        return self.copied(cotangent.value, value)

    def copied(self, grad: Operand, value: Value) -> Operand:
        """A copy, which ``share`` may remove later."""
        copy = self.builder.call("copy", grad, hint=hinted(value))
        self.copies.append(copy)
        return copy

    def dense(self, grad: Operand, value: Value) -> Operand:
        """A cotangent that may be indexed like ``value``: a number for a 0-d array is converted to an array."""
        if not (isinstance(value.type, Array) and isinstance(grad.type, Scalar)):
            return grad
        return self.builder.call("spread", grad, self.builder.call("shape_of", value), hint=hinted(value))

    def zero(self, value: Value) -> Operand:
        """A zero cotangent in the form of ``value``'s."""
        match value.type:
            case Scalar():
                return zero_number(value.type)
            case Array(dtype=str()) if value not in self.nullable:
                return self.zeros(self.builder.call("shape_of", value), value)
            case List():
                return self.builder.call("list_zeros", value, hint=hinted(value))
            case Tape(indexed=True):
                return self.builder.call("slots_like", value, hint=hinted(value))
            case Tape():
                return self.builder.call("tape", hint=hinted(value))
        return self.builder.call("zeros_like", value, hint=hinted(value))

    def zeros(self, shape: Operand, value: Value) -> Operand:
        """Zeros of a shape, in the dtype of an array."""
        return self.builder.call("zeros_of", shape, hint=hinted(value), dtype=getattr(value.type, "dtype", None) or "f64")

    # ---------------------------------------------------------------- unbound names

    def has_value(self, scope: Scope | None, value: Value) -> bool:
        """Whether the value is surely bound where this block is reversed."""
        if value not in self.unbound.sides:
            return True
        without = self.unbound.sides[value]
        while scope is not None:
            if value in self.unbound.reads[scope.block]:
                return True
            if without is not None and scope.side == (without[0], 1 - without[1]):
                return True
            scope = scope.parent
        return False

    def is_formless(self, scope: Scope | None, value: Value) -> bool:
        """Whether nothing can supply the form of its cotangent where this block is reversed."""
        return not isinstance(value.type, Scalar) and not self.has_value(scope, value) and not self.models(value)

    def is_perhaps_nothing(self, item: Operand) -> bool:
        """Whether a tape may hold None for this item, so that its cotangent there is the number 0."""
        return item in self.unbound.sides and not isinstance(item.type, Scalar)

    def item_type(self, item: Operand) -> Type:
        """The type of the cotangent of a tape item."""
        return loosened(item.type) if self.is_perhaps_nothing(item) else cotangent_type(item.type)

    def models(self, value: Value) -> list[Value]:
        """Parameters of the same shape, from which the shape can be read."""
        if not isinstance(value.type, Array) or value.type.dtype is None or value.type.shape is None:
            return []
        return [p for p in self.params if isinstance(p.type, Array) and same_shape(p.type.shape, value.type.shape)]

    def handed(self, scope: Scope, grad: Cotangent | None, value: Value) -> Cotangent:
        """The cotangent that a block yields for a possibly unbound value: its own, zeros or, if the form is unknown, the number 0."""
        if grad is not None:
            grad = self.filled(grad)
            models = [value] if self.has_value(scope, value) else self.models(value)
            return self.settled(grad, value, models[0]) if models else grad
        if isinstance(value.type, Scalar):
            return Cotangent(zero_number(value.type))
        if self.has_value(scope, value):
            return Cotangent(self.zero(value), True)
        for model in self.models(value):
            return Cotangent(self.zeros(self.builder.call("shape_of", model), value), True)
        return Cotangent(ZERO_GRAD, True, loose=True)

    def filled(self, grad: Cotangent) -> Cotangent:
        """The cotangent, with the number 0 where it was undefined."""
        if grad.gap is not None:
            block, place = grad.gap
            block.yields[place] = ZERO_GRAD
            assert isinstance(grad.value, Value)
            grad.value.type = loosened(grad.value.type)
            grad.gap, grad.loose = None, True
        return grad

    def settled(self, grad: Cotangent, value: Value, model: Value | None = None) -> Cotangent:
        """The cotangent in the form of the value, read from the value itself or from a model of the same shape."""
        if not grad.loose:
            return grad
        model = model or value
        if isinstance(value.type, Array) and model not in self.nullable:
            shape = self.builder.call("shape_of", model)
            operand = self.builder.call("array_or_zeros", grad.value, shape, hint=hinted(value), dtype=value.type.dtype or "f64")
        else:
            operand = self.builder.call("in_form", grad.value, model, hint=hinted(value))
        return Cotangent(operand, grad.owned, grad.mask)


def is_zero(cotangent: Cotangent) -> bool:
    """Whether the cotangent is the literal zero of a scalar."""
    return isinstance(cotangent.value, Const) and cotangent.value.value == 0.0
