"""Instantiates a row's derivative: expression text over parameters and outputs -> ops at the builder's insertion point.

Names are operands, lists of operands (entered as ``*rest``) or settings; functions are rows; operators are rows, too. ``fit(g,
shape_of(x))`` sums a cotangent to a shape, decided by types where possible.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from symgrad.adjoint.unbroadcast import fitted
from symgrad.errors import SymgradError
from symgrad.ir.core import ZERO, Call, Const, Operand, Value
from symgrad.ir.types import Array, List, Scalar, Type, is_complex, same_shape
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import steps
from symgrad.ops.rows.elementwise import SLOPES
from symgrad.ops.signatures import AST_OPERATORS
from symgrad.tables import COMPARISONS

BINARY = {kind: row for kind, row in AST_OPERATORS.items() if issubclass(kind, ast.operator) and kind not in (ast.LShift, ast.RShift)}
COMPARE = {kind: AST_OPERATORS[kind] for kind in COMPARISONS}


#: names whose meaning differs between operands
PLACED = ("position", "into", "taken")
#: rows that are linear in an operand, in addition to those that the table marks
VANISHING = {"solve": frozenset({"b"})}


@cache
def parsed(text: str) -> ast.expr:
    """The expression tree of a derivative's text."""
    return ast.parse(text.strip(), mode="eval").body


@cache
def written(node: ast.expr) -> str:
    """The text of a part of a derivative's tree, which ``parsed`` caches."""
    return ast.unparse(node)


@dataclass(frozen=True, slots=True)
class Absent:
    """The cotangent of an output without one: zero, so that every term linear in it vanishes; ``make`` emits it elsewhere."""

    make: Callable[[], Operand]


def operand(value: Any) -> Operand:
    """Convert a literal, or ``Absent``, to an operand."""
    if isinstance(value, Absent):
        return value.make()
    return value if isinstance(value, Value | Const) else Const(value)


def without_imaginary(value: Any) -> Any:
    """Convert a complex literal with imaginary part 0 to a float: complexness is added later where needed (``adjoint/unbroadcast.py``)."""
    held = value.value if isinstance(value, Const) else value
    return held.real if type(held) is complex and held.imag == 0 else value


def number(value: Any) -> Any:
    """The Python number that an operand is, or None."""
    value = value.value if isinstance(value, Const) else value
    return value if type(value) in (int, float) else None


@dataclass(slots=True)
class Expansion:
    """One instantiation: the insertion point, the meaning of names, and the hint for the name of the result."""

    builder: Builder
    names: dict[str, Any]
    hint: str | None = None
    by_numpy: bool = False  #: NumPy computed the differentiated op, so that it did not raise
    results: dict[str, Any] = field(default_factory=dict)  #: results of calls by their text, for the next derivative of the same op

    def expand(self, text: str) -> Operand | Absent:
        """The operand that a derivative's text computes; absent where the text is linear in an absent cotangent."""
        result = self.value(parsed(text), self.hint)
        for text in [text for text, value in self.results.items() if value is result]:
            del self.results[text]  # it becomes a cotangent, which may be written to
        return result if isinstance(result, Absent) else operand(result)

    def value(self, node: ast.expr, hint: str | None = None) -> Any:
        """The value of a node: an operand, a list of operands, or plain data."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.names[name]
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left), self.value(right), hint)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                term = self.value(inner)
                return term if isinstance(term, Absent) else negated(self.builder, term, hint)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return not self.value(inner)
            case ast.UnaryOp(op=ast.Invert(), operand=inner):
                return self.builder.call("invert", operand(self.value(inner)), hint=hint)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.compare(op, self.value(left), self.value(right), hint)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test) else orelse, hint)
            case ast.Call():
                text = written(node)
                if text not in self.results or any(word in text for word in PLACED):
                    self.results[text] = self.call(node, hint)
                return self.results[text]
            case ast.Tuple(elts=items):
                return tuple(self.value(item) for item in items)
        raise AssertionError(ast.unparse(node))

    def binary(self, op: ast.operator, left: Any, right: Any, hint: str | None) -> Any:
        """Apply an operator; a product with an absent operand is absent, a sum is its other operand."""
        if isinstance(left, Absent) and isinstance(op, ast.Mult | ast.MatMult | ast.Div):
            return left
        if isinstance(right, Absent) and isinstance(op, ast.Mult | ast.MatMult):
            return right
        if isinstance(right, Absent) and isinstance(op, ast.Add | ast.Sub):
            return left
        if isinstance(left, Absent) and isinstance(op, ast.Add | ast.Sub):
            return right if isinstance(op, ast.Add) else negated(self.builder, right, hint)
        return arithmetic(self.builder, BINARY[type(op)], left, right, hint, self.by_numpy)

    def compare(self, op: ast.cmpop, left: Any, right: Any, hint: str | None) -> Any:
        """Apply a comparison: of settings at compile time, of operands at run time."""
        if isinstance(op, ast.Is | ast.IsNot):
            return (left is right) == isinstance(op, ast.Is)
        return self.builder.call(COMPARE[type(op)], operand(left), operand(right), hint=hint)

    def call(self, node: ast.Call, hint: str | None) -> Any:
        """Apply a row, ``fit``, or a predicate on types."""
        assert isinstance(node.func, ast.Name)
        if node.func.id == "fit":
            shape = node.args[1]
            assert isinstance(shape, ast.Call)
            return fitted(self.builder, operand(self.value(node.args[0])), operand(self.value(shape.args[0])), hint)
        if node.func.id == "are_alike":
            return are_alike(*(operand(self.value(argument)).type for argument in node.args))
        if node.func.id == "of_part":
            return self.of_part(node, hint)
        if node.func.id in OF_COMPLEX:
            return self.of_complex(node, hint)
        row = ROWS[node.func.id]
        arguments: list[Any] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                arguments += self.names[f"*{ast.unparse(argument.value)}"]
            else:
                arguments.append(self.value(argument))
        variadic = any(p.startswith("*") for p in row.params)
        count = len(arguments) if variadic else min(len(arguments), len(row.params))
        settings = dict(zip(row.settings, arguments[count:], strict=False))
        for param, value in zip(row.params, arguments[:count], strict=False):
            if isinstance(value, Absent) and param in vanishing(row):
                return value
        params = [operand(g) for g in arguments[:count]]
        for keyword in node.keywords:
            assert keyword.arg is not None
            value = self.value(keyword.value)
            if keyword.arg in row.params:
                params.append(operand(value))
            else:
                settings[keyword.arg] = value.value if isinstance(value, Const) else value
        name = needed_row(row.name, params)
        if self.by_numpy and name == "slope_power":
            name, settings = power_by_numpy(self.names["y"], -1)
            return self.builder.call(name, *params, hint=hint, **settings)
        try:
            return self.builder.call(name, *params, hint=hint, **(settings if name == row.name else {}))
        except SymgradError as error:
            raise error.at(self.builder.loc) from None

    def of_part(self, node: ast.Call, hint: str | None) -> Any:
        """``of_part(g, index)``: the cotangent of a part of complex numbers, negated for the imaginary part."""
        value, index = map(self.value, node.args)
        is_plain = isinstance(value, Absent) or (".imag", 0) not in steps(index)
        return value if is_plain else negated(self.builder, value, hint)

    def of_complex(self, node: ast.Call, hint: str | None) -> Any:
        """``dual(x)``, ``unphased(v, m, other)``, ``turned(x, y)``: the first argument unless an operand is complex."""
        assert isinstance(node.func, ast.Name)
        operands = [v for named in self.names.values() for v in (named if isinstance(named, list) else [named])]
        if not any(is_complex(v.type) for v in operands if isinstance(v, Value)):
            return self.value(node.args[0], hint)
        first, *others = map(self.value, node.args)
        if node.func.id == "dual":
            is_plain = isinstance(first, Absent) or not is_complex(operand(first).type)
            return first if is_plain else self.builder.call("conj", operand(first), via="numpy", hint=hint)
        if node.func.id == "unphased":
            turns = [Const(0.0) if isinstance(o, Absent) else operand(o) for o in (*others, Const(0.0))]
            return self.builder.call("unphased", operand(first), *turns[:2], operand(self.names.get("terms", ZERO)), hint=hint)
        if isinstance(others[0], Absent):
            return first
        turn = arithmetic(self.builder, "multiply", 1j, self.builder.call("imaginary", operand(others[0])))
        return turn if isinstance(first, Absent) else arithmetic(self.builder, "add", first, turn, hint)


#: functions of formulas that act on complex operands only: the conjugate, a check of phases, ``x + 1j * y.imag``
OF_COMPLEX = frozenset({"dual", "unphased", "turned"})


def are_alike(of: Type, value: Type) -> bool:
    """Whether types prove that all items of a list have the shape of a value."""
    item = of.item if isinstance(of, List) else of
    return isinstance(item, Scalar) or isinstance(item, Array) and isinstance(value, Array) and same_shape(item.shape, value.shape)


def vanishing(row: Row) -> frozenset[str]:
    """The operands of a row that make its result zero if they are zero."""
    return row.linear | VANISHING.get(row.name, frozenset())


def needed_row(name: str, operands: list[Operand]) -> str:
    """The row of a slope that may be infinite: the plain one where an operand is a NumPy number."""
    return name if are_python(operands) else SLOPES.get(name, name)


def are_python(operands: list[Operand]) -> bool:
    """Whether all operands may be Python numbers."""
    return all(isinstance(o.type, Scalar) and o.type.dtype in (None, "any") for o in operands)


def is_by_numpy(op: Call) -> bool:
    """Whether NumPy computed the op, so that it did not raise."""
    return any(not (isinstance(o.type, Scalar) and o.type.dtype in (None, "any")) for o in op.outs)


def unraised(name: str, operands: list[Operand]) -> tuple[str, dict[str, Any]]:
    """The row and settings for Python operands of an operator that raises where NumPy returns an infinity."""
    if not are_python(operands):
        return name, {}
    match name:
        case "divide":
            return "ratio", {}
        case "power":
            return power_by_numpy(operands[1])
        case "floor_divide" | "mod":
            return name, {"via": "numpy"}
    return name, {}


def power_by_numpy(exponent: Operand, more: int = 0) -> tuple[str, dict[str, Any]]:
    """The row of a power, its exponent increased by ``more``, that is infinite where Python's operator raises, and never complex."""
    known = number(exponent)
    if known is None or known != int(known):
        return "power", {"via": "numpy"}
    return ("slope_power", {"infinite": True}) if known + more < 0 else ("power", {})


def arithmetic(builder: Builder, name: str, left: Any, right: Any, hint: str | None = None, by_numpy: bool = False) -> Any:
    """``left op right``; two literals are folded, and a factor of one is dropped."""
    left, right = without_imaginary(left), without_imaginary(right)
    a, b = number(left), number(right)
    if a is not None and b is not None:
        match name:
            case "add":
                return a + b
            case "subtract":
                return a - b
            case "multiply":
                return a * b
            case "divide" if b:
                return a / b
    if name == "multiply" and (scaled := scaled_literal(left, b) or scaled_literal(right, a)) is not None:
        return scaled
    if name == "multiply" and b == 1 and keeps_float(left):
        return left
    if name == "multiply" and a == 1 and keeps_float(right):
        return right
    operands = [operand(left), operand(right)]
    name, settings = unraised(name, operands) if by_numpy else (name, {})
    return builder.call(name, *operands, hint=hint, **settings)


def scaled_literal(value: Any, by: float | None) -> complex | None:
    """A complex literal with both parts multiplied by a known number."""
    held = value.value if isinstance(value, Const) and value.name is None else value
    return complex(held.real * by, held.imag * by) if type(held) is complex and by is not None else None


def keeps_float(value: Any) -> bool:
    """Whether ``1.0 * value`` equals ``value`` in value and class."""
    kind = getattr(getattr(value, "type", None), "kind", None)
    return kind in ("float", "complex")


def negated(builder: Builder, value: Any, hint: str | None = None) -> Any:
    """``-value``."""
    known = value if type(value) is complex else number(value)
    return -known if known is not None else builder.call("negative", operand(value), hint=hint)
