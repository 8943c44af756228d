"""Emission of one op over its operands' expressions: a Python expression or statements.

Rows supply the text, which is parsed once and filled in. Literals, index paths and the text of settings are
built here. ``Names`` collects the names that the text uses.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from types import ModuleType
from typing import Any

import numpy as np

from symgrad.codegen.python_calls import opaque_call
from symgrad.codegen.seam import FIELDS, opposite
from symgrad.ir.core import Call, Const, Undef, Value
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import ATTRIBUTES, OPERANDS, steps
from symgrad.tables import pairs
from symgrad.text import exact, identifier, is_dotted
from symgrad.text import respelled as path_respelled

#: dtype names of the IR as attributes of numpy
NUMPY_TYPES = pairs(
    """
    bool:bool_ i8:int8 i16:int16 i32:int32 i64:int64 u8:uint8 u16:uint16 u32:uint32 u64:uint64 f16:float16 f32:float32 f64:float64
    c64:complex64 c128:complex128
    """
)


# ------------------------------------------------------------------ global names


@dataclass(slots=True)
class Names:
    """Global names of the emitted text: each with its object, spelled so that no name of the signature shadows it."""

    hidden: frozenset[str]  #: names of the signatures, which globals must not use
    support: Callable[[str], Any]  #: a runtime function by its name
    namespace: dict[str, Any] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)

    def use(self, name: str) -> ast.expr:
        """The expression for a name in a row's text: numpy, math, a builtin or a function of the runtime."""
        if name not in self.spelling:
            if name in ("np", "math"):
                self.spelling[name] = self.enter(name, np if name == "np" else math)
            elif hasattr(builtins, name) and name not in self.hidden:
                self.spelling[name] = name
            else:
                self.spelling[name] = self.enter(name, getattr(builtins, name) if hasattr(builtins, name) else self.support(name))
        return ast.Name(self.spelling[name])

    def enter(self, hint: str, value: Any) -> str:
        """A free global name for an object; the same object keeps its name."""
        base = identifier(hint)
        for k in count():
            name = f"{base}_{k}" if k else base
            if name in self.hidden or getattr(builtins, name, value) is not value:
                continue
            if self.namespace.setdefault(name, value) is value:
                return name
        raise AssertionError

    def reserved(self) -> set[str]:
        """Names that variables must avoid."""
        return {*self.hidden, *self.namespace, *self.spelling.values(), "__debug__"}

    def object(self, const: Const) -> ast.expr:
        """A constant without a literal form, by its name."""
        name = const.name or type(const.value).__name__
        value = const.value
        if value is None and is_dotted(name):
            return respelled(ast.parse(name, mode="eval").body, self)
        own = str(getattr(value, "__name__", ""))
        if isinstance(value, type) and issubclass(value, np.generic) and getattr(np, own, None) is value:
            return ast.Attribute(self.use("np"), own)
        if isinstance(value, ModuleType) and value in (np, math):
            return self.use("np" if value is np else "math")
        if value is getattr(builtins, name, math) and name not in self.hidden:
            return self.use(name)
        if name.startswith("np.") and is_dotted(name) and dotted(np, name[3:]) is value:
            return respelled(ast.parse(name, mode="eval").body, self)
        return ast.Name(self.enter(name.rsplit(".", 1)[-1], value))


def dotted(root: Any, path: str) -> Any:
    """An attribute by its dotted path, or None."""
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


def respelled(node: ast.expr, names: Names) -> ast.expr:
    """An expression, with its global names registered."""
    if isinstance(node, ast.Name):
        return names.use(node.id)
    if isinstance(node, ast.Attribute):
        return ast.Attribute(respelled(node.value, names), node.attr)
    return node


def path_tree(path: str, names: Names) -> ast.expr:
    """A path over the parameters as a tree; ``getattr`` in it is the builtin, even if a parameter has that name."""
    if "getattr(" in path:
        reader = names.use("getattr")
        assert isinstance(reader, ast.Name)
        path = path_respelled(path, str, reader.id)
    return ast.parse(path, mode="eval").body


# ------------------------------------------------------------------ literals


def sum_of_parts(value: complex) -> ast.expr | None:
    """A complex number as ``1 + 2j``; None where Python evaluates that to another number, because of the sign of a zero.

    >>> [ast.unparse(sum_of_parts(z)) for z in (2j, -2j, 1 - 0.5j, 3 + 0j)], sum_of_parts(complex(0.0, -1.0))
    (['2j', '-2j', '1 - 0.5j', '3 + 0j'], None)
    """
    if not (math.isfinite(value.real) and math.isfinite(value.imag)):
        return None
    is_below = math.copysign(1, value.imag) < 0
    imaginary = ast.Constant(complex(0.0, abs(value.imag)))
    if value.real == 0:
        is_negative_zero = math.copysign(1, value.real) < 0
        if is_below != is_negative_zero:
            return None
        return ast.UnaryOp(ast.USub(), imaginary) if is_below else imaginary
    if is_below and value.imag == 0:
        return None
    is_whole = value.real.is_integer() and abs(value.real) < 2**53
    return ast.BinOp(signed(int(value.real) if is_whole else value.real), ast.Sub() if is_below else ast.Add(), imaginary)


def literal(value: Any, names: Names) -> ast.expr:
    """A Python or NumPy constant as an expression.

    >>> ast.unparse(literal((1, -0.0, None, float("inf")), Names(frozenset(), dict)))
    '(1, -0.0, None, np.inf)'
    """
    match value:
        case np.generic():
            return ast.Call(ast.Attribute(names.use("np"), value.dtype.type.__name__), [literal(value.item(), names)], [])
        case None | bool() | str() | bytes() | int():
            value = exact(value)
            return signed(value) if type(value) is int else ast.Constant(value)
        case float():
            return real(exact(value), names)
        case complex():
            value = exact(value)
            written = sum_of_parts(value)
            return written or ast.Call(names.use("complex"), [real(value.real, names), real(value.imag, names)], [])
        case slice():
            return ast.Call(names.use("slice"), [literal(v, names) for v in (value.start, value.stop, value.step)], [])
        case tuple():
            return ast.Tuple([literal(v, names) for v in value])
        case list():
            return ast.List([literal(v, names) for v in value])
        case dict():
            return ast.Dict([literal(k, names) for k in value], [literal(v, names) for v in value.values()])
        case np.dtype():
            return ast.Call(ast.Attribute(names.use("np"), "dtype"), [ast.Constant(value.str)], [])
    if value is Ellipsis:
        return ast.Constant(...)
    name = getattr(value, "__name__", None)
    return names.object(Const(value, name if isinstance(name, str) and name else "constant"))


def signed(value: Any) -> ast.expr:
    """A number, with its minus sign as an operator."""
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if str(value).startswith("-") else ast.Constant(value)


def real(value: float, names: Names) -> ast.expr:
    """A float; infinities and NaN by their names in numpy."""
    if math.isnan(value):
        return ast.Attribute(names.use("np"), "nan")
    if math.isinf(value):
        infinity = ast.Attribute(names.use("np"), "inf")
        return infinity if value > 0 else ast.UnaryOp(ast.USub(), infinity)
    return signed(float(value))


def constant(const: Const, names: Names) -> ast.expr:
    """A ``Const`` as an expression."""
    if isinstance(const.value, Undef):
        return ast.Constant(None)
    return literal(const.value, names) if const.name is None else names.object(const)


def setting(name: str, value: Any, names: Names) -> ast.expr:
    """The value of a row's setting; a dtype by its name in numpy."""
    if name == "dtype" and isinstance(value, str) and value in NUMPY_TYPES:
        return ast.Attribute(names.use("np"), NUMPY_TYPES[value])
    return literal(value, names)


# ------------------------------------------------------------------ rows' texts


@lru_cache(maxsize=4096)
def parsed(text: str) -> tuple[ast.stmt, ...]:
    """A row's text as a tree, which is copied and never changed."""
    return tuple(ast.parse(text).body)


@lru_cache(maxsize=4096)
def mentions(text: str) -> dict[str, int]:
    """The number of evaluations of each name; 2 if it is evaluated in a loop, or perhaps not at all.

    The second operand of ``and`` or ``or`` counts once although it may be skipped: only ``both`` and ``either``
    emit these, for operands that cannot raise.
    """
    counts: dict[str, int] = {}

    def visit(node: ast.AST, times: int) -> None:
        if isinstance(node, ast.Name):
            counts[node.id] = counts.get(node.id, 0) + times
        lazy = isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp | ast.Lambda | ast.IfExp)
        first = node.test if isinstance(node, ast.IfExp) else None
        for child in ast.iter_child_nodes(node):
            visit(child, 2 if lazy and child is not first and not isinstance(child, ast.expr_context) else times)

    for statement in parsed(text):
        visit(statement, 1)
    return counts


@lru_cache(maxsize=4096)
def bound_inside(text: str) -> frozenset[str]:
    """Names that a row's text binds itself, in comprehensions and lambdas."""
    nodes = [node for statement in parsed(text) for node in ast.walk(statement)]
    targets = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset(targets | {n.arg for n in nodes if isinstance(n, ast.arg)})


def text_of(op: Call) -> str:
    """The text that computes an op."""
    row = ROWS[op.name]
    if row.math is not None and op.settings.get("via", row.settings.get("via")) == "math":
        return row.math
    return row.emit if isinstance(row.emit, str) else row.emit({**row.settings, **op.settings}, [a.type for a in op.args])


def param_of(row: Row, k: int) -> str:
    """The parameter that the k-th operand binds."""
    return row.params[min(k, len(row.params) - 1)]


def times_named(op: Call, value: Value, text: str) -> int:
    """How often an op's text evaluates an operand."""
    row = ROWS[op.name]
    (k, *_) = [k for k, a in enumerate(op.args) if a is value]
    if row.by_name:
        return sum(mentions(text).get(name, 0) for name, a in zip(op.settings["names"], op.args, strict=True) if a is value)
    param = param_of(row, k)
    if has_path(row) and param.startswith("*"):
        return 1
    if is_opaque(row) or row.emit in ("push", "pop"):
        return 1
    return mentions(text).get(param.lstrip("*"), 0)


def has_path(row: Row) -> bool:
    """Whether the row's last operands form a path."""
    return "index" in row.settings and row.params[-1].startswith("*")


def is_opaque(row: Row) -> bool:
    """Whether the row is an opaque call."""
    return "f" in row.params and "*args" in row.params


@dataclass(slots=True)
class Filler:
    """Copies a row's text with its names replaced by expressions."""

    space: dict[str, ast.expr | list[ast.expr]]
    names: Names
    own: frozenset[str] = frozenset()
    path: Callable[[ast.expr], tuple[ast.expr, ast.expr]] | None = None
    whole: Callable[[ast.expr], ast.expr] | None = None

    def many(self, nodes: Sequence[Any]) -> Iterator[Any]:
        """Copies of the items of a list, with ``*rest`` spliced."""
        for node in nodes:
            if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name) and isinstance(self.space.get(node.value.id), list):
                yield from self.space[node.value.id]  # type: ignore[misc]
            else:
                yield self.fill(node)

    def fill(self, node: Any) -> Any:
        """A copy of a node."""
        kind: Any = type(node)
        if kind is list:
            return list(self.many(node))
        if kind is ast.Name:
            return self.name(node)
        if not isinstance(node, ast.AST):
            return node
        if isinstance(node, ast.Subscript) and self.whole is not None and isinstance(node.slice, ast.Name) and node.slice.id == "path":
            return self.whole(self.fill(node.value))
        if isinstance(node, ast.Call) and self.path is not None and any(isinstance(a, ast.Name) and a.id == "path" for a in node.args):
            return self.call_with_path(node)
        return kind(**{name: self.fill(getattr(node, name)) for name in FIELDS[kind]})

    def name(self, node: ast.Name) -> ast.expr:
        if node.id in self.space:
            expression = self.space[node.id]
            return ast.Tuple(expression) if isinstance(expression, list) else expression
        return ast.Name(node.id) if node.id in self.own else self.names.use(node.id)

    def call_with_path(self, node: ast.Call) -> ast.expr:
        """``f(x, path, v)``: all steps but the last apply to ``x``, the last is an argument."""
        assert self.path is not None
        place = next(k for k, a in enumerate(node.args) if isinstance(a, ast.Name) and a.id == "path")
        base, index = self.path(self.fill(node.args[place - 1]))
        arguments = [*self.many(node.args[: place - 1]), base, index, *self.many(node.args[place + 1 :])]
        return ast.Call(self.fill(node.func), arguments, self.fill(node.keywords))


# ------------------------------------------------------------------ index paths


@dataclass(slots=True)
class Path:
    """An index path with the expressions of its operands."""

    index: str
    operands: list[ast.expr]
    names: Names

    def steps(self) -> list[tuple[str, list[ast.expr]]]:
        """Each step with its operands."""
        pairs, at = [], 0
        for step, number in steps(self.index):
            pairs.append((step, self.operands[at : at + number]))
            at += number
        return pairs

    def apply(self, base: ast.expr) -> ast.expr:
        """Apply all steps to ``base``."""
        for step, operands in self.steps():
            base = apply_step(base, step, operands)
        return base

    def target(self, base: ast.expr) -> ast.expr:
        """The assignment target; a path that ends in a method is written through ``[...]``."""
        expression = self.apply(base)
        return expression if isinstance(expression, ast.Subscript) else ast.Subscript(expression, ast.Constant(...))

    def split(self, base: ast.expr) -> tuple[ast.expr, ast.expr]:
        """The base after all steps but the last, and the last step as an index expression."""
        *leading, (last, operands) = self.steps()
        for step, here in leading:
            base = apply_step(base, step, here)
        if last.startswith("."):
            return apply_step(base, last, operands), ast.Constant(...)
        return base, as_argument(subscript(last, operands), self.names)


def apply_step(base: ast.expr, step: str, operands: list[ast.expr]) -> ast.expr:
    """One step: ``base[...]``, ``base.T`` or ``base.reshape(...)``."""
    if not step.startswith("."):
        return ast.Subscript(base, subscript(step, operands))
    attribute = ast.Attribute(base, step[1:])
    if step == ".reshape" and not operands:
        operands = [ast.Tuple([])]
    return attribute if step in ATTRIBUTES else ast.Call(attribute, list(operands), [])


def subscript(step: str, operands: list[ast.expr]) -> ast.expr:
    """The expression between the brackets."""
    items: list[ast.expr] = []
    at = 0
    for letter in step:
        here = operands[at : at + OPERANDS[letter]]
        at += OPERANDS[letter]
        match letter:
            case "i":
                items.append(here[0])
            case "s":
                items.append(ast.Slice(*(None if is_none(o) else o for o in here)))
            case "n":
                items.append(ast.Constant(None))
            case "e":
                items.append(ast.Constant(...))
    return items[0] if len(items) == 1 else ast.Tuple(items)


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def as_argument(index: ast.expr, names: Names) -> ast.expr:
    """An index as an argument of a call: slices are spelled as ``slice``."""
    if isinstance(index, ast.Tuple):
        return ast.Tuple([as_argument(item, names) for item in index.elts])
    if isinstance(index, ast.Slice):
        bounds = [b or ast.Constant(None) for b in (index.lower, index.upper, index.step)]
        if is_none(bounds[2]):
            bounds.pop()
        return ast.Call(names.use("slice"), bounds, [])
    return index


# ------------------------------------------------------------------ ops


@dataclass(slots=True)
class Spelled:
    """The emitted form of an op: an expression, or statements that change the first operand."""

    value: ast.expr | None = None
    statements: list[ast.stmt] = field(default_factory=list)


def spell(
    op: Call, text: str, operands: list[ast.expr], names: Names, borrow: bool = False, outs: dict[str, ast.expr] | None = None
) -> Spelled:
    """Emit an op whose row has this text; ``borrow``: the result is read at once, so it need not own its memory."""
    row = ROWS[op.name]
    if is_opaque(row):
        return Spelled(opaque_call(op, operands))
    space: dict[str, ast.expr | list[ast.expr]] = dict(outs or {})
    for name in mentions(text):
        if name in op.settings or name in row.settings:
            space[name] = setting(name, op.settings.get(name, row.settings.get(name)), names)
    for k, param in enumerate(row.params):
        space[param.lstrip("*")] = operands[k:] if param.startswith("*") else operands[k]
    if row.by_name:
        space = dict(zip(op.settings["names"], operands, strict=True))
    filler = Filler(space, names, bound_inside(text))
    if has_path(row):
        path = Path(op.settings.get("index", row.settings["index"]), operands[len(row.params) - 1 :], names)
        filler.path, filler.whole = path.split, path.target if row.statement else path.apply
    body = parsed(text)
    if row.statement:
        return Spelled(None, [filler.fill(statement) for statement in body])
    (statement,) = body
    assert isinstance(statement, ast.Expr)
    expression = statement.value
    if borrow and row.linear and has_path(row) and isinstance(expression, ast.Call) and text == "x[path].copy()":
        assert isinstance(expression.func, ast.Attribute)
        expression = expression.func.value
    return Spelled(tidy(filler.fill(expression)))


def tidy(node: ast.expr) -> ast.expr:
    """``x[...].copy()`` is ``x.copy()``; ``x + -2.0 * y`` is ``x - 2.0 * y``, and ``-(-2.0 * y)`` is ``2.0 * y``."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.BinOp() as product) if (positive := opposite(product)) is not None:
            return positive
        case ast.BinOp(left=left, op=ast.Add(), right=right) if (positive := opposite(right)) is not None:
            return ast.BinOp(left, ast.Sub(), positive)
        case ast.Call(func=ast.Attribute(value=ast.Subscript(value=array, slice=ast.Constant(value=index)), attr="copy")) if index is ...:
            return ast.Call(ast.Attribute(array, "copy"), [], [])
    return node
