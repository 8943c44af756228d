"""Complete serialisation: an IR function -> plain data; equal data means the same function, down to source columns.

``show`` prints for a reader; here nothing is omitted. Settings without a plain form are refused (``Unfaithful``): a user's object, or a
row that the user declared.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Operand, Undef, Value, While
from symgrad.ir.types import Dim, Type
from symgrad.location import Loc
from symgrad.ops.declare import USER_ROWS

Plain = Any  #: JSON data: None, bools, ints, strings, and lists of these
#: packages whose objects are identified by name; ``sys.modules`` resolves the names
LIBRARIES = frozenset({"builtins", "math", "numpy", "operator", "scipy", "symgrad"})


class Unfaithful(Exception):
    """A value that names and numbers do not fully describe."""


def known_object(value: Any) -> list[str] | None:
    """The module and name of a library's module, class or function; None if they do not identify it.

    >>> known_object(np.sin), known_object(np.float32), known_object(np), known_object(lambda x: x)
    (['numpy', 'sin'], ['numpy', 'float32'], ['numpy'], None)
    """
    kind = type(value)
    if kind is types.ModuleType:
        own = value.__name__
        return [own] if own.partition(".")[0] in LIBRARIES and sys.modules.get(own) is value else None
    if not issubclass(kind, type) and kind.__module__.partition(".")[0] not in LIBRARIES:
        return None  # attributes of a user's object are not read: they may run any code
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    for home in (getattr(value, "__module__", None), "numpy", "scipy.special"):
        if isinstance(home, str) and home.partition(".")[0] in LIBRARIES and getattr(sys.modules.get(home), name, None) is value:
            return [home, name]
    return None


def plain_data(value: Any) -> Plain:
    """A constant or a setting; a value other than a string, bool or int begins with a tag for its kind.

    >>> plain_data((1, True, -0.0, "x")), plain_data(np.float32(0.5))
    (['tuple', 1, True, ['float', '-0x0.0p+0'], 'x'], ['number', '<f4', '0000003f'])
    """
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return ["float", value.hex()]
    if kind is complex:
        return ["complex", value.real.hex(), value.imag.hex()]
    if kind in (tuple, list):
        return [kind.__name__, *map(plain_data, value)]
    if kind is dict:
        return ["dict", *([plain_data(k), plain_data(v)] for k, v in value.items())]
    if kind is slice:
        return ["slice", plain_data(value.start), plain_data(value.stop), plain_data(value.step)]
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is Undef or value is Ellipsis:
        return [kind.__name__]
    if kind is Dim:
        return ["Dim", value.symbol, plain_data(value.offset), value.plural]
    if isinstance(value, Type):
        return plain_type(value)
    if isinstance(value, np.dtype) and value.isbuiltin == 1 and value.metadata is None:
        return ["dtype", value.str]
    if isinstance(value, np.generic) and value.dtype.isbuiltin == 1 and value.dtype.kind in "biufc":
        return ["number", value.dtype.str, value.tobytes().hex()]
    known = known_object(value)
    if known is None:
        raise Unfaithful(f"{kind.__module__}.{kind.__qualname__}")
    return ["object", *known]


def plain_type(type_: Type) -> Plain:
    """A type as its class and fields."""
    return [type(type_).__name__, *(plain_data(getattr(type_, part.name)) for part in dataclasses.fields(type_))]


def plain_place(loc: Loc) -> Plain:
    """A source location."""
    return [loc.file, loc.line, loc.column, loc.end_column, loc.text, loc.backward]


@dataclass(slots=True)
class Faithful:
    """Serialises functions with shared values, functions and locations: these become numbers, in order of first use."""

    values: dict[Value, int] = field(default_factory=dict)
    functions: dict[Func, int] = field(default_factory=dict)
    said: list[Plain] = field(default_factory=list)  #: the functions
    tables: dict[Any, int] = field(default_factory=dict)  #: the locations and types entered so far
    places: dict[int, Loc] = field(default_factory=dict)  #: locations by number

    def function(self, func: Func) -> int:
        """The number of a function, which is serialised once, with its callees."""
        if func not in self.functions:
            self.functions[func] = number = len(self.functions)
            self.said.append(None)
            if func.shares is not None:
                raise Unfaithful("a function whose body is still being made")
            if func.original is not None:
                raise Unfaithful("a function of the user's, which the text calls")
            head = [func.name, list(func.results), self.place(func.loc), func.split, func.doc, sorted(func.guarded)]
            self.said[number] = [*head, self.block(func.body)]
        return self.functions[func]

    def block(self, block: Block) -> Plain:
        """A block: its arguments, ops and yields."""
        return [self.defined(block.args), [self.op(op) for op in block.ops], self.operands(block.yields)]

    def op(self, op: Op) -> Plain:
        """An op with its blocks; its results come last, because they are not visible inside."""
        match op:
            case Call(name=name, args=args, settings=settings):
                if name in USER_ROWS:
                    raise Unfaithful(f"the row {name}")
                fields = [name, self.operands(args), [[key, self.setting(value)] for key, value in settings.items()]]
            case For(until=until, backward=backward, batch=batch, body=body):
                fields = [self.operands(op.operands), until, backward, batch, self.block(body)]
            case While(inits=inits, test=test, body=body, until=until):
                fields = [self.operands(inits), until, self.block(test), self.block(body)]
            case If(test=choice, then=then, orelse=orelse):
                fields = [self.operands([choice]), self.block(then), self.block(orelse)]
            case Apply(func=Func() as func, args=args):
                fields = [self.function(func), self.operands(args)]
            case _:
                raise Unfaithful(type(op).__name__)
        return [type(op).__name__, self.place(op.loc), *fields, self.defined(op.outs)]

    def setting(self, value: Any) -> Plain:
        """A setting or a constant, which may be a function of the program."""
        return ["Func", self.function(value)] if isinstance(value, Func) else plain_data(value)

    def operands(self, operands: list[Operand]) -> Plain:
        """Operands: values by number, constants with their name."""
        return [
            self.value(operand) if isinstance(operand, Value) else ["Const", self.setting(operand.value), operand.name]
            for operand in operands
        ]

    def value(self, value: Value) -> int:
        """The number of a defined value."""
        if value not in self.values:
            raise Unfaithful("a value that nothing defines")
        return self.values[value]

    def defined(self, values: list[Value]) -> Plain:
        """Values at their definition: types, names and labels; their numbers follow from the order."""
        pairs = []
        for value in values:
            if value in self.values:
                raise Unfaithful("a value that is defined twice")
            self.values[value] = len(self.values)
            pairs.append([self.entered(("type", *plain_tuple(plain_type(value.type)))), value.name, value.label])
        return pairs

    def place(self, loc: Loc) -> int:
        """The number of a location."""
        number = self.entered(("place", *plain_place(loc)))
        self.places[number] = loc
        return number

    def entered(self, row: tuple[Any, ...]) -> int:
        """The number of a row in the table of locations and types."""
        number = self.tables.get(row)
        if number is None:
            number = self.tables[row] = len(self.tables)
        return number

    def plain(self) -> Plain:
        """The complete data."""
        return [self.said, list(self.tables)]


def plain_tuple(data: Plain) -> Any:
    """Lists as tuples, for use as a key; bools are distinguished from equal numbers."""
    if isinstance(data, list):
        return tuple(map(plain_tuple, data))
    return ("bool", data) if isinstance(data, bool) else data


__all__ = ["Faithful", "Unfaithful", "known_object", "plain_data", "plain_place", "plain_type"]
