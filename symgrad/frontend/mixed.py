"""Numbers of several possible Python classes: 1 on one path and 1.5 on another is a ``float`` of the IR, and may be an ``int``.

Joins record them, and the values computed from them are recorded too, so that no test takes an IR
type for a class.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Const, Operand, Value
from symgrad.ir.mixed import kind_in
from symgrad.ir.types import Type

#: operators whose result has the widest class of their operands, in Python and NumPy
ARITHMETIC = frozenset({"add", "subtract", "multiply", "floor_divide", "mod", "negative", "positive", "abs"})
#: rows that pass numbers on, with the operands that the result may be or hold
HOLDING: dict[str, slice] = {
    "list_of": slice(None), "list_append": slice(None), "list_join": slice(None), "list_set": slice(0, None, 2), "list_take": slice(1),
    "table_set": slice(0, None, 3), "table_take": slice(1), "list_slice": slice(1), "list_drop": slice(1), "stop_gradient": slice(1),
}  # fmt: skip
#: rows that ``Mixed.computed`` handles
MIXING = ARITHMETIC | HOLDING.keys() | {"power"}


@dataclass(slots=True)
class Mixed:
    """The values of several possible classes, and the number of tests of classes."""

    values: set[Operand] = field(default_factory=set)
    unsure: set[Operand] = field(default_factory=set)  #: values that may be of a wider class: an integer to a negative power
    asked: int = 0

    def joined(self, out: Value, operands: tuple[Operand, ...]) -> None:
        """Record a value that is one of several, or holds them."""
        if any(self.is_narrower(operand, out.type) for operand in operands):
            self.values.add(out)

    def is_narrower(self, operand: Operand, type_: Type) -> bool:
        """Whether a number, or one in a list, may be of a narrower kind than the type that holds it."""
        own, wide = kind_in(operand.type), kind_in(type_)
        return operand in self.values or own is not None and wide is not None and own != wide

    def computed(self, name: str, args: tuple[Operand, ...], out: Value) -> None:
        """Record a value computed from others."""
        if name in HOLDING:
            self.joined(out, args[HOLDING[name]])
        elif name == "power":
            exponent = args[1]
            whole = isinstance(exponent, Const) and isinstance(exponent.value, (int, float)) and exponent.value >= 0
            if kind_in(out.type) in ("int", "bool") and not whole:
                self.unsure.add(out)
        elif name in ARITHMETIC and kind_in(out.type) in ("int", "bool") and any(a in self.unsure for a in args):
            self.unsure.add(out)
        elif kind_in(out.type) is not None and any(a in self.values for a in args):
            if not any(a not in self.values and kind_in(a.type) == kind_in(out.type) for a in args):
                self.values.add(out)
