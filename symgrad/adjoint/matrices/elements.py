"""Numbers the elements of several numbers and arrays consecutively: the rows, or the columns, of Jacobians."""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import NONE, ONE, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import Array, Type, is_complex
from symgrad.ops.build import Builder
from symgrad.ops.seeds.seeds import NotBatched


@dataclass(slots=True)
class Part:
    """One of the numbers and arrays: its value, the index of its first element, and its size."""

    value: Operand
    first: Operand
    size: Operand

    @property
    def rank(self) -> int | None:
        """The rank of an array; None where it is unknown."""
        return self.value.type.rank if isinstance(self.value.type, Array) else 0

    @property
    def is_number(self) -> bool:
        return not isinstance(self.value.type, Array)


@dataclass(slots=True)
class Elements:
    """The numbers and arrays, and their total size; the ops for it are emitted at the builder's insertion point."""

    builder: Builder
    parts: list[Part] = field(default_factory=list)
    total: Operand = ZERO

    def add(self, value: Operand) -> None:
        """Number the elements of one more number or real array."""
        size: Operand
        if isinstance(value.type, Array) and value.type.shape is None:
            if not is_complex(value.type):
                self.builder.block.ops.append(Call([], self.builder.loc, "check_real", [value], {}))
            size = self.builder.call("size", value)
        else:
            extents = self.extents(value)
            size = extents[0] if extents else ONE
            for extent in extents[1:]:
                size = self.product(size, extent)
        self.parts.append(Part(value, self.total, size))
        self.total = size if self.total is ZERO else self.sum(self.total, size)

    def extents(self, value: Operand) -> list[Operand]:
        """The extents of a number or array as operands."""
        if not isinstance(value.type, Array):
            return []
        assert value.type.shape is not None
        return [Const(e) if isinstance(e, int) else self.builder.call("extent", value, axis=k) for k, e in enumerate(value.type.shape)]

    def product(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, Const) and isinstance(b, Const):
            return Const(a.value * b.value)
        return self.builder.call("multiply", a, b)

    def sum(self, a: Operand, b: Operand) -> Operand:
        if isinstance(a, Const) and isinstance(b, Const):
            return Const(a.value + b.value)
        return self.builder.call("add", a, b)

    def stop(self, part: Part) -> Operand:
        """One past the index of a part's last element."""
        return self.sum(part.first, part.size)

    def is_one_number(self) -> bool:
        return len(self.parts) == 1 and self.parts[0].is_number

    # ---------------------------------------------------------------- directions

    def one(self, type_: Type) -> Operand:
        """The number one, in the precision of a type."""
        dtype = getattr(type_, "dtype", None)
        number = Const(1 + 0j) if is_complex(type_) else Const(1.0)
        return self.builder.call("cast", number, dtype=dtype) if dtype in ("f16", "f32", "c64") else number

    def directions(self, flat: Value, count: Operand, part: Part) -> Value:
        """The columns of one part, out of ``count`` vectors over all elements side by side, each in the part's shape.

        Raises NotBatched for a part of unknown rank.
        """
        call = self.builder.call
        if part.rank is None:
            raise NotBatched
        if part.is_number:
            flat = call("take", flat, NONE, NONE, NONE, part.first, index="si")
        elif len(self.parts) > 1:
            flat = call("view", flat, NONE, NONE, NONE, part.first, self.stop(part), NONE, index="ss")
        flat = self.exact(flat, part)
        return flat if part.is_number or part.rank == 1 else call("reshape", flat, count, *self.extents(part.value))

    def exact(self, flat: Value, part: Part) -> Value:
        """Seeds cast to the dtype of their part, unless it is float64."""
        dtype = getattr(part.value.type, "dtype", None)
        if is_complex(part.value.type):
            dtype = "c64" if dtype == "c64" else "c128"
        return self.builder.call("cast", flat, dtype=dtype) if dtype in ("f16", "f32", "c64", "c128") else flat

    def as_argument(self, derivative: Operand, part: Part, hint: str) -> Operand:
        """A derivative cast to the dtype of the part with respect to which it is taken."""
        dtype, own = getattr(part.value.type, "dtype", None), getattr(derivative.type, "dtype", None)
        return derivative if dtype in (None, "any", own) else self.builder.call("cast", derivative, dtype=dtype, hint=hint)

    def turned(self, columns: Value, part: Part, hint: str) -> Operand:
        """Convert tangents of a result, with the element axis in front, to its derivative with respect to one part.

        The axes of the part come last. The result owns its memory.
        """
        call = self.builder.call
        if part.is_number:
            return self.as_argument(call("copy", call("take", columns, part.first, index="i", hint=hint), hint=hint), part, hint)
        if len(self.parts) > 1:
            columns = call("view", columns, part.first, self.stop(part), NONE, index="s")
        own = self.extents(columns)[1:]
        if len(own) == 1:
            columns = call("transpose", columns)
        elif own:
            columns = call("moveaxis", columns, source=0, destination=len(own))
        whole = self.as_argument(call("copy_rows", columns, hint=hint), part, hint)
        return whole if part.rank == 1 else call("reshape", whole, *own, *self.extents(part.value), hint=hint)


__all__ = ["Elements", "Part"]
