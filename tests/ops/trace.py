"""A tiny evaluator of row texts with NumPy, and reverse mode over it: call text -> value -> cotangents.

It knows nothing of the engine: rows are evaluated from their texts, derivatives from their pullbacks,
and what it computes on the way back is recorded again, so it differentiates any number of times.
"""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import numpy as np

from symgrad.adjoint.expand import OF_COMPLEX
from symgrad.ir.types import DTYPES, UNKNOWN, Array, Object, Scalar, ShapeOf, Type
from symgrad.ops import spelling
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.shapes import dtype_name
from symgrad.runtime.find import find

assert spelling.CALLABLES


class Names(dict):  # type: ignore[type-arg]
    """Names of a text; those not given are functions of the runtime."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name) if hasattr(builtins, name) else find(name)


class Node:
    """A value that was computed, and how."""

    def __init__(self, value: Any, row: Row | None = None, args: list[Any] | None = None, settings: dict[str, Any] | None = None) -> None:
        self.value, self.row, self.args, self.settings = value, row, args or [], settings or {}
        self.outs: list[Node] = [self]


class Shape(tuple):  # type: ignore[type-arg]
    """A shape, told apart from other tuples."""


def plain(x: Any) -> Any:
    return x.value if isinstance(x, Node) else x


def type_of(x: Any) -> Type:
    """The type of a value, every extent of an array a number."""
    x = plain(x)
    if isinstance(x, np.ndarray):
        return Array(dtype_name(x.dtype), x.shape)
    if isinstance(x, np.generic):
        name = dtype_name(x.dtype)
        return UNKNOWN if name is None else Scalar({"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}[name[0]], name)  # type: ignore[arg-type]
    if isinstance(x, Shape):
        return ShapeOf(tuple(x))
    if type(x) in (bool, int, float, complex):
        return Scalar(type(x).__name__)  # type: ignore[arg-type]
    return Object("None") if x is None else UNKNOWN


def text_of(row: Row, settings: dict[str, Any], types: list[Type]) -> str:
    if settings.get("via") == "math" and row.math:
        return row.math
    return row.emit if isinstance(row.emit, str) else row.emit(settings, types)


def evaluate(row: Row, args: list[Any], settings: dict[str, Any]) -> Any:
    """What the row's text computes."""
    values = [plain(a) for a in args]
    if row.name == "take":
        return np.asarray(values[0])[values[1]]
    names = Names(np=np, math=math)
    for k, p in enumerate(row.params):
        names[p.lstrip("*")] = values[k] if not p.startswith("*") else tuple(values[k:])
    for name, value in settings.items():
        names[name] = np.dtype(DTYPES[value]).type if name == "dtype" and value else value
    result = eval(text_of(row, settings, [type_of(v) for v in values]), {"__builtins__": __builtins__}, names)
    return Shape(result) if row.name == "shape_of" else result


def apply(name: str, args: list[Any], settings: dict[str, Any]) -> Node:
    """Record one row's application."""
    row = ROWS[name]
    full = {**row.settings, **settings}
    result = evaluate(row, args, full)
    node = Node(result, row, list(args), full)
    if len(row.outs) > 1:
        node.outs = [Node(m, row, node.args, full) for m in result]
        for out in node.outs:
            out.outs = node.outs
    return node


BINARY = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power", ast.MatMult: "matmul",
          ast.FloorDiv: "floor_divide", ast.Mod: "mod"}  # fmt: skip


def run(node: ast.AST, names: dict[str, Any]) -> Any:
    """The value of an expression over rows."""
    match node:
        case ast.Expression(body=body):
            return run(body, names)
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return names[name]
        case ast.Tuple(elts=items):
            return tuple(run(i, names) for i in items)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            value = run(inner, names)
            return -value if type(value) in (int, float) else apply("negative", [value], {})
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not run(inner, names)
        case ast.BinOp(left=left, op=op, right=right):
            return apply(BINARY[type(op)], [run(left, names), run(right, names)], {})
        case ast.IfExp(test=test, body=body, orelse=orelse):  # of settings
            return run(body if run(test, names) else orelse, names)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            name = spelling.operator(type(op))
            assert name is not None
            return apply(name, [run(left, names), run(right, names)], {})
        case ast.Call(func=ast.Name(id=name)):
            args: list[Any] = []
            for a in node.args:
                if isinstance(a, ast.Starred):
                    args += list(run(a.value, names))
                else:
                    args.append(run(a, names))
            settings = {k.arg: plain(run(k.value, names)) for k in node.keywords if k.arg}
            if name == "fit":
                return fit(args[0], plain(args[1]))
            if name in OF_COMPLEX:  # numbers here are real
                return args[0]
            return apply(name, args, settings)
    raise AssertionError(ast.dump(node))


def call(text: str, **names: Any) -> Any:
    """The node of a call text."""
    return run(ast.parse(text, mode="eval"), names)


def fit(g: Any, shape: tuple[int, ...]) -> Any:
    if np.shape(plain(g)) == tuple(shape):
        return g
    return apply("unbroadcast", [g, Shape(shape)], {})


def cotangent(row: Row, k: int, names: dict[str, Any], out_grads: dict[str, Any], args: list[Any]) -> Any:
    """The cotangent of operand ``k`` of a row."""
    param = row.params[min(k, len(row.params) - 1)]
    scope = {**names, **out_grads, "position": k - len(row.params) + 1}
    if row.elementwise and param in row.partials:
        partial = row.partials[param]
        g = out_grads["out_grad"]
        result = g if partial == "1" else run(ast.parse(f"out_grad * ({partial})", mode="eval"), scope)
        return fit(result, np.shape(plain(args[k])))
    pullback = row.pullbacks.get(param)
    return None if pullback is None else run(ast.parse(pullback, mode="eval"), scope)


def grads(out: Node, seed: Any, wrt: list[Node]) -> list[Any]:
    """The cotangents of nodes, given that of the output; what is returned is recorded too."""
    order: list[Node] = []
    seen: set[int] = set()

    def visit(node: Any) -> None:
        if isinstance(node, Node) and id(node.outs[0]) not in seen:
            seen.add(id(node.outs[0]))
            for a in node.args:
                visit(a)
            order.append(node.outs[0])

    visit(out)
    total: dict[int, Any] = {id(out): seed}
    keep = {id(w) for w in wrt}
    active: set[int] = set()
    for node in order:
        if id(node) in keep or any(isinstance(a, Node) and id(a) in active for a in node.args):
            active.update(id(o) for o in node.outs)
    for node in reversed(order):
        row = node.row
        if row is None or not any(id(o) in total for o in node.outs):
            continue
        names: dict[str, Any] = {**node.settings, **dict(zip(row.outs, node.outs, strict=True))}
        for k, p in enumerate(row.params):
            names[p.lstrip("*")] = node.args[k] if not p.startswith("*") else list(node.args[k:])
        out_grads = {f"{name}_grad": total.get(id(o), np.zeros_like(o.value)) for name, o in zip(row.outs, node.outs, strict=True)}
        for k, a in enumerate(node.args):
            if isinstance(a, Node) and id(a) in active:
                g = cotangent(row, k, names, out_grads, node.args)
                if g is not None:
                    total[id(a)] = apply("add", [total[id(a)], g], {}) if id(a) in total else g
    return [total.get(id(w)) for w in wrt]
