"""Source text of the user's expressions, stored with the values that they are lowered to.

A derivative that is read and never run shows the user's statements as they were written. The value of a plain expression becomes the
operand of an ``as_written`` op, with its text and the values of the names in it. The text must mean in Python the same as the ops: it
contains operators, indices, and functions of NumPy, ``math`` and arrays, all of them pure. Every other expression is printed from its
ops.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Container
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import MISSING, Binding, Location, Num, Ref, Step
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Block, Call, If, Op, Operand, Value
from symgrad.ir.types import Array, Scalar
from symgrad.ops.declare import ROWS
from symgrad.text import is_name

#: expressions that evaluate their parts, in order, and nothing else
PLAIN = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.Constant, ast.Tuple, ast.List)
#: attributes of arrays
ATTRIBUTES = frozenset({"T", "shape", "size", "ndim"})
#: methods of arrays that do not modify them
METHODS = frozenset(
    """
    sum mean prod std var max min argmax argmin all any dot copy reshape ravel flatten transpose cumsum cumprod clip astype item trace
    """.split()
)
#: builtin functions of numbers
FUNCTIONS = {"abs": abs, "float": float, "int": int, "len": len, "max": max, "min": min, "round": round}
#: modules whose functions may appear in the text, by their usual names
MODULES = {"np": np, "math": math, "np.linalg": np.linalg}
#: arguments that make a function modify its operands
CHANGING = frozenset({"out", "where"})


@dataclass(frozen=True, slots=True)
class Beginning:
    """The point where the lowering of an expression began: the block, the count of its ops, and the arrays that existed."""

    block: Block
    length: int
    known: frozenset[Any]


@dataclass(frozen=True, slots=True)
class NamedView:
    """The value of a named view: the array, its version, and the block."""

    held: Binding
    location: Location
    version: Operand
    block: Block
    value: Value

    def stands(self, ctx: Lowering) -> bool:
        """Whether the name still denotes that value."""
        return self.version is ctx.state.memory.get(self.location) and self.block is ctx.builder.block


def begin(ctx: Lowering) -> Beginning | None:
    """The point where an expression begins; None where its text is not kept."""
    return Beginning(ctx.builder.block, len(ctx.builder.block.ops), frozenset(ctx.state.memory)) if ctx.keeps_text else None


def evaluated(ctx: Lowering, node: ast.expr, is_named: bool = False) -> Binding:
    """The value of an expression, with its text where possible. A name or subscript gets no text unless it ``is_named``."""
    begun = begin(ctx) if is_named or not isinstance(node, ast.Name | ast.Subscript) else None
    return as_written(ctx, node, ctx.evaluate(node), begun)


def name_view(ctx: Lowering, name: str, held: Binding) -> None:
    """Give a view that is bound to a name a value of that name, for texts that read it before the next store to the array."""
    if ctx.keeps_text and isinstance(ctx.type_of(held), Array) and memory_of(held)[1]:
        value = ctx.read(held)
        if isinstance(value, Value) and value.name is None:
            value.name = name
            location, _ = memory_of(held)
            ctx.views[ctx.home(name), name] = NamedView(held, location, ctx.state.memory[location], ctx.builder.block, value)


def as_written(ctx: Lowering, node: ast.expr, held: Binding, begun: Beginning | None, is_augmented: bool = False) -> Binding:
    """The value ``held`` of an expression whose evaluation began at ``begun``, with its text where possible."""
    if begun is None or ctx.builder.block is not begun.block or not all(map(is_pure, begun.block.ops[begun.length :])):
        return held
    if not is_float(ctx, held, begun.known):
        return held
    spelling = Spelling(ctx)
    text = spelling.text(node)
    value = ctx.read(held)
    if text is None or not isinstance(value, Value):
        return held
    result = ctx.call("as_written", value, *spelling.reads.values(), text=text, names=tuple(spelling.reads), is_augmented=is_augmented)
    if isinstance(result.type, Scalar):
        return Num(result)
    ctx.state.memory[memory_of(held)[0]] = result
    return held


def is_pure(op: Op) -> bool:
    """Whether an op is pure: it only computes a value."""
    if isinstance(op, If):
        return all(is_pure(inner) for block in op.blocks for inner in block.ops)
    row = ROWS.get(op.name) if isinstance(op, Call) else None
    if row is None or row.consumes:
        return False
    return row.name == "evaluated" or not (row.effect or row.statement)


def is_float(ctx: Lowering, held: Binding, known: Container[Any]) -> bool:
    """Whether the value is a float that is bound on every path, or an array of floats created since ``known``."""
    type_ = ctx.type_of(held)
    if isinstance(type_, Scalar):
        return type_.kind == "float" and ctx.read(held) not in ctx.doubtful
    if not isinstance(type_, Array) or type_.kind != "float":
        return False
    location, path = memory_of(held)
    return not path and location not in known


def memory_of(held: Binding) -> tuple[Location, tuple[Step, ...]]:
    """The array's location, and the path of the view that the binding is."""
    array = cast("Ref", held)
    return array.location, array.path


class Spelling:
    """The text of one expression, and the values of the names that it reads."""

    def __init__(self, ctx: Lowering) -> None:
        self.ctx = ctx
        self.reads: dict[str, Operand] = {}

    def text(self, node: ast.expr) -> str | None:
        """The expression as text; None if it is not plain."""
        tree = self.spelled(node)
        clash = {"np", "math"} & self.reads.keys()
        return None if tree is None or clash else ast.unparse(tree)

    def spelled(self, node: Any) -> Any:
        """A copy of a node with modules by their usual names; None if a part of it is not plain."""
        match node:
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call(func=function, args=args, keywords=keywords) if not CHANGING.intersection(k.arg or "out" for k in keywords):
                parts = [self.function(function), *map(self.spelled, args), *(self.spelled(k.value) for k in keywords)]
                if any(part is None for part in parts):
                    return None
                named = [ast.keyword(k.arg, v) for k, v in zip(keywords, parts[len(args) + 1 :], strict=True)]
                return ast.Call(parts[0], parts[1 : len(args) + 1], named)
            case ast.Constant(value=value):
                return node if value is None or value is ... or isinstance(value, bool | int | float | str) else None
            case ast.operator() | ast.unaryop() | ast.boolop() | ast.cmpop() | ast.expr_context():
                return node
        if not isinstance(node, PLAIN):
            return None
        fields: dict[str, Any] = {}
        for name, child in ast.iter_fields(node):
            parts = child if isinstance(child, list) else [child]
            children = [None if part is None else self.spelled(part) for part in parts]
            if any(one is None and part is not None for one, part in zip(children, parts, strict=True)):
                return None
            fields[name] = children if isinstance(child, list) else children[0]
        return type(node)(**fields)

    def name(self, name: str, node: ast.Name) -> ast.expr | None:
        """A variable whose value is a number or an array, or a number global of the module."""
        if not is_name(name):  # a name of the frontend's own, such as the value sent to a generator
            return None
        if name not in self.reads:
            home = self.ctx.home(name)
            held = self.ctx.evaluate(node) if home is None else self.ctx.state.names.get((home, name), MISSING)
            if held == MISSING or home is None and not known_value(held) or not isinstance(self.ctx.type_of(held), Scalar | Array):
                return None
            view = self.ctx.views.get((home, name))
            self.reads[name] = view.value if view is not None and view.held == held and view.stands(self.ctx) else self.ctx.read(held)
        return ast.Name(name)

    def attribute(self, node: ast.Attribute) -> ast.expr | None:
        """An attribute of an array, or a number of a module."""
        if (path := self.module(node.value)) is not None:
            return ast.parse(f"{path}.{node.attr}", mode="eval").body
        base = self.spelled(node.value) if node.attr in ATTRIBUTES else None
        return None if base is None else ast.Attribute(base, node.attr)

    def function(self, node: ast.expr) -> ast.expr | None:
        """A function of a module, a builtin function of numbers, or a method of an array."""
        match node:
            case ast.Name(id=name) if self.ctx.home(name) is None:
                (value,) = known_value(self.ctx.evaluate(node)) or [None]
                return ast.Name(name) if FUNCTIONS.get(name) is value else imported(value)
            case ast.Attribute(value=owner, attr=attribute):
                if (path := self.module(owner)) is not None:
                    return ast.parse(f"{path}.{attribute}", mode="eval").body
                base = self.spelled(owner) if attribute in METHODS else None
                return None if base is None else ast.Attribute(base, attribute)
        return None

    def module(self, node: ast.expr) -> str | None:
        """The usual name of the module that an expression denotes, if it is one of ``MODULES``."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or self.ctx.home(root.id) is not None:
            return None
        if root is not node and self.module(root) is None:
            return None
        (value,) = known_value(self.ctx.evaluate(node)) or [None]
        return next((path for path, module in MODULES.items() if module is value), None)


def imported(value: Any) -> ast.expr | None:
    """The expression for a function that was imported by its name."""
    name = str(getattr(value, "__name__", ""))
    if vars(np).get(name) is value is not None:
        return ast.parse(f"np.{name}", mode="eval").body
    return ast.parse(f"math.{name}", mode="eval").body if vars(math).get(name) is value is not None else None


__all__ = ["as_written", "begin", "evaluated", "name_view"]
