"""Expressions to bindings: names, literals, operators, attributes, comprehensions, f-strings."""

from __future__ import annotations

import ast
import operator
import types
from typing import Any

import numpy as np

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.bindings import (
    MISSING,
    Above,
    Binding,
    Bound,
    Broken,
    External,
    Fun,
    Iter,
    Missing,
    Num,
    Obj,
    Ref,
    Static,
    Step,
    Tup,
)
from symgrad.frontend.context import Captured, Frame, Lowering, Recapture, expression
from symgrad.frontend.flow import branch, counted
from symgrad.frontend.iterate import append, indices_of, items_of
from symgrad.frontend.memory import load
from symgrad.ir.core import Const, Operand, Value
from symgrad.ir.types import UNKNOWN, Array, List, Object, Scalar, Undefined, Unknown
from symgrad.ops import spelling
from symgrad.signature import Static as StaticArgument
from symgrad.signature import Tree, abstract_value, symbol_of

# ------------------------------------------------------------------ names and what stands outside


@expression(ast.Name)
def name(ctx: Lowering, node: ast.Name) -> Binding:
    home = ctx.home(node.id)
    if home is not None:
        made = ctx.state.names.get((home, node.id), MISSING)
        match made:
            case Missing():
                raise UnsupportedSyntax(f"{node.id!r} is not bound here", ctx.loc(node))
            case Broken(why, hint):
                raise UnknownType(f"{node.id!r} cannot be used: {why}", ctx.loc(node), hint or None)
        return made
    source = ctx.frame.source
    try:
        value = source.read_name(node.id)
    except NameError:
        raise UnsupportedSyntax(f"name {node.id!r} is not defined", ctx.loc(node)) from None
    return outside(ctx, value, scope_text(ctx, node.id), node.id)


def scope_text(ctx: Lowering, name_: str) -> str:
    """The expression that reads a global or cell of the current function at each call."""
    source = ctx.frame.source
    owner = owner_name(ctx, source.function)
    if name_ in source.cells:
        return f"{owner}.__closure__[{source.function.__code__.co_freevars.index(name_)}].cell_contents"
    return f"{owner}.__globals__[{name_!r}]"


def owner_name(ctx: Lowering, value: Any) -> str:
    """A name by which emitted text reaches an object of the user's."""
    stem = "".join(c if c.isalnum() or c == "_" else "_" for c in getattr(value, "__name__", "object"))
    stem = stem if stem.isidentifier() and not stem.startswith("__") else f"object_{stem}"
    number = 0
    while (name_ := f"{stem}_{number}" if number else stem) in ctx.reserved or ctx.external_names.get(name_, value) is not value:
        number += 1
    ctx.external_names[name_] = value
    return name_


def outside(ctx: Lowering, value: Any, text: str, name_: str) -> Binding:
    """A binding for an object that the function did not make."""
    if text in ctx.captured:
        return ctx.arrays.get(text) or Num(ctx.captured[text].value)
    if isinstance(
        value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type | np.ufunc | types.MethodType | str | None
    ):
        return Static(value, spelled_name(ctx, value, name_))
    if hasattr(value, "__symgrad_derivative__"):
        return Static(value, name_)
    known = abstract_value(value, symbol_of(name_))
    match known:
        case Array() | Scalar() | List():
            return capture(ctx, value, text, name_, known)
        case Tree(form="sequence" | "named") if isinstance(value, tuple):
            kind = type(value) if hasattr(value, "_fields") else None
            return Tup(tuple(outside(ctx, v, f"{text}[{k}]", f"{name_}_{k}") for k, v in enumerate(value)), kind)
        case Tree():
            return External(value, text)
        case StaticArgument() if isinstance(value, types.BuiltinMethodType | np.dtype | slice) or callable(value):
            return Static(value, spelled_name(ctx, value, name_))
    return External(value, text)


def spelled_name(ctx: Lowering, value: Any, name_: str) -> str:
    """How emitted text spells an object; objects of the user's get a name of their own."""
    own = str(getattr(value, "__name__", ""))
    if isinstance(value, types.ModuleType):
        return {"numpy": "np"}.get(own, own)
    if isinstance(value, np.ufunc) and getattr(np, own, None) is value:
        return f"np.{own}"
    return name_


def capture(ctx: Lowering, value: Any, text: str, name_: str, type_: Any) -> Binding:
    """Read a number or array from outside, once a call: a parameter of the program."""
    if isinstance(type_, Array | List):
        raise Recapture(Captured(text, Value(type_, name_), type_, value))
    if text in ctx.pins:
        return Num(Const(ctx.pins[text]))
    param = Value(type_, name_)
    ctx.captured[text] = Captured(text, param, type_, value)
    ctx.texts[param] = text
    return Num(param)


# ------------------------------------------------------------------ literals


@expression(ast.Constant)
def constant(ctx: Lowering, node: ast.Constant) -> Binding:
    if isinstance(node.value, bool | int | float | complex):
        return Num(Const(node.value))
    return Static(node.value)


@expression(ast.Tuple)
def tuple_(ctx: Lowering, node: ast.Tuple) -> Binding:
    return Tup(tuple(elements(ctx, node.elts)))


@expression(ast.List)
def list_(ctx: Lowering, node: ast.List) -> Binding:
    return ctx.new_object("list", enumerate(elements(ctx, node.elts)))


@expression(ast.Set)
def set_(ctx: Lowering, node: ast.Set) -> Binding:
    """A set of literals, which is asked only what is in it."""
    return Static(frozenset(static_key(ctx, item, node) for item in elements(ctx, node.elts)))


@expression(ast.Dict)
def dict_(ctx: Lowering, node: ast.Dict) -> Binding:
    content: dict[Any, Binding] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            merged = ctx.evaluate(value)
            if not (isinstance(merged, Obj) and merged.key.kind == "dict"):
                raise UnsupportedSyntax("only a dict made in the function can be unpacked with **", ctx.loc(value))
            content.update(dict(ctx.state.heap[merged.key]))  # type: ignore[arg-type]
        else:
            content[static_key(ctx, ctx.evaluate(key), key)] = ctx.evaluate(value)
    return ctx.new_object("dict", content.items())


def static_key(ctx: Lowering, binding: Binding, node: ast.AST) -> Any:
    """A key that is known while compiling."""
    match binding:
        case Static(value):
            return value
        case Num(Const(value)):
            return value
        case Tup(items):
            return tuple(static_key(ctx, item, node) for item in items)
    raise UnsupportedSyntax("a dict key must be a literal", ctx.loc(node), "use an array or a list for keys that are computed")


def elements(ctx: Lowering, nodes: list[ast.expr]) -> list[Binding]:
    """Elements of a display or arguments of a call, stars spread."""
    made: list[Binding] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            items = items_of(ctx, ctx.evaluate(node.value), node)
            if not isinstance(items, list):
                raise UnsupportedSyntax("a star needs something of known length", ctx.loc(node))
            made += items
        else:
            made.append(ctx.evaluate(node))
    return made


@expression(ast.Lambda)
def lambda_(ctx: Lowering, node: ast.Lambda) -> Binding:
    from symgrad.frontend.statements import defaults_of  # a lambda's defaults are lowered as a def's

    return Fun(node, ctx.frame, defaults_of(ctx, node.args))


@expression(ast.JoinedStr)
def joined(ctx: Lowering, node: ast.JoinedStr) -> Binding:
    template, values = "", []
    for part in node.values:
        match part:
            case ast.Constant(value=str(text)):
                template += text.replace("{", "{{").replace("}", "}}")
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                form = ""
                if spec is not None:
                    made = ctx.evaluate(spec)
                    if not isinstance(made, Static):
                        raise UnsupportedSyntax("a format that is computed cannot be differentiated", ctx.loc(spec))
                    form = f":{made.value}"
                template += "{" + (f"!{chr(conversion)}" if conversion > 0 else "") + form + "}"
                values.append(ctx.evaluate(value))
    plain = [item for v in values for item in known_value(v)]
    if len(plain) == len(values):
        return Static(template.format(*plain))
    return Num(ctx.call("format_text", Const(template), *[ctx.read(v, node) for v in values]))


def known_value(binding: Binding) -> list[Any]:
    """The Python value that a binding is known to have, if it is known: one item or none."""
    match binding:
        case Static(value):
            return [value]
        case Num(Const() as constant):
            return [constant.value]
    return []


# ------------------------------------------------------------------ operators

STATIC_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.Div: operator.truediv,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_,
}  # fmt: skip


def row_of(ctx: Lowering, kind: type[ast.AST], node: ast.AST) -> str:
    """The row of an operator."""
    name = spelling.operator(kind)
    if name is None:
        raise UnsupportedSyntax("this operator cannot be differentiated", ctx.loc(node))
    return name


@expression(ast.BinOp)
def binop(ctx: Lowering, node: ast.BinOp) -> Binding:
    left = ctx.evaluate(node.left)
    return binary(ctx, type(node.op), left, ctx.evaluate(node.right), node)


def binary(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding:
    """One binary operator on two bindings."""
    match a, b:
        case Tup(one), Tup(two) if kind is ast.Add:
            return Tup(one + two)
        case Obj(k), Obj(m) if k.kind == m.kind == "list" and kind is ast.Add:
            return add_lists(ctx, a, b)
        case (Obj() | Tup(), Num(Const(int(n)))) | (Num(Const(int(n))), Obj() | Tup()) if kind is ast.Mult:
            return repeat(ctx, a if isinstance(a, Obj | Tup) else b, n)
        case Static(one), Static(two):
            try:
                return Static(STATIC_OPERATORS[kind](one, two))
            except (KeyError, TypeError) as error:
                raise UnsupportedSyntax(f"this operation fails: {error}", ctx.loc(node)) from None
        case Static(str(text)), _ if kind is ast.Mod:
            return Num(ctx.call("format_percent", Const(text), ctx.read(b, node)))
        case Num(Const(int(m), None)), Num(Const(int(n), None)) if kind in STATIC_OPERATORS and kind is not ast.Div:
            try:
                return Num(Const(STATIC_OPERATORS[kind](m, n)))
            except ZeroDivisionError:
                pass  # it is raised when it runs
    special = own_operator(ctx, kind, a, b, node)
    if special is not None:
        return special
    if ctx.unroll and isinstance(a, Num) and isinstance(b, Num) and (known := folded(kind, a.operand, b.operand)) is not None:
        return Num(known)
    p, q = ctx.read(as_array_operand(ctx, a, b), node), ctx.read(as_array_operand(ctx, b, a), node)
    if isinstance(p.type, List) and kind is ast.Mult:
        raise UnsupportedSyntax("a list of unknown length cannot be repeated", ctx.loc(node), "use np.full or np.zeros")
    return ctx.make(ctx.call(row_of(ctx, kind, node), p, q))


def folded(kind: type[ast.AST], a: Operand, b: Operand) -> Const | None:
    """The result of an operator on two integers that are known: in loops that are written out they become indices and keys."""
    if not all(isinstance(o, Const) and type(o.value) is int and abs(o.value) < 1 << 30 for o in (a, b)) or kind not in INTEGER_OPERATORS:
        return None
    try:
        return Const(INTEGER_OPERATORS[kind](a.value, b.value))  # type: ignore[union-attr]
    except (ZeroDivisionError, ValueError):
        return None


INTEGER_OPERATORS: dict[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.FloorDiv: operator.floordiv,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip


def as_array_operand(ctx: Lowering, one: Binding, other: Binding) -> Binding:
    """A list beside an array in arithmetic is an array."""
    if isinstance(one, Obj | Tup) and isinstance(other, Ref) and isinstance(ctx.type_of(other), Array):
        return ctx.make(ctx.array_of(ctx.read(one), None))
    return one


#: operators that a class of the user's may define
OWN_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow", ast.MatMult: "matmul", ast.Mod: "mod",
    ast.FloorDiv: "floordiv",
}  # fmt: skip
SIGNS: dict[type[ast.AST], Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}


def own_operator(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """An operator that the user's class defines (``__add__`` and its like)."""
    from symgrad.frontend.calls import call_method

    stem = OWN_OPERATORS.get(kind)
    for owner, other, word in ((a, b, f"__{stem}__"), (b, a, f"__r{stem}__")):
        if stem and own_method(owner, word) is not None:
            return call_method(ctx, owner, word, [other], {}, node)
    return None


#: the methods that classes define for comparisons, with their mirror images
COMPARISONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("__lt__", "__gt__"), ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__"),
    ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__ne__"),
}  # fmt: skip


def own_method(owner: Binding, word: str) -> Any:
    """A special method that the class of an instance, from inside or outside, defines in Python."""
    match owner:
        case Obj(key) if key.kind == "record":
            found = getattr(key.cls, word, None)
        case External(value) if not isinstance(value, dict | list | tuple):
            found = getattr(type(value), word, None)
        case Tup(kind=kind) if kind is not None:
            found = getattr(kind, word, None)
        case _:
            return None
    return found if isinstance(found, types.FunctionType) else None


def own_comparison(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """A comparison that the user's class defines."""
    from symgrad.frontend.calls import call_method

    words = COMPARISONS.get(type(op), ("", ""))
    for owner, other, word in ((a, b, words[0]), (b, a, words[1])):
        if word and own_method(owner, word) is not None:
            return call_method(ctx, owner, word, [other], {}, node)
    if isinstance(op, ast.NotEq) and any(own_method(x, "__eq__") is not None for x in (a, b)):
        made = own_comparison(ctx, ast.Eq(), a, b, node)
        assert made is not None
        test = truth(ctx, made, node)
        return Num(Const(not test.value) if isinstance(test, Const) else ctx.call("not_", test))
    return None


def add_lists(ctx: Lowering, a: Obj, b: Obj) -> Binding:
    one, two = ctx.state.heap[a.key], ctx.state.heap[b.key]
    if isinstance(one, Ref) or isinstance(two, Ref):
        return ctx.list_sharing(ctx.call("list_join", ctx.read(a), ctx.read(b)), a, b)
    return ctx.new_object("list", enumerate([x for _, x in one] + [x for _, x in two]))


def repeat(ctx: Lowering, items: Binding, times: int) -> Binding:
    if isinstance(items, Tup):
        return Tup(items.items * times)
    assert isinstance(items, Obj)
    content = ctx.state.heap[items.key]
    if isinstance(content, Ref):
        raise UnsupportedSyntax("a list of unknown length cannot be repeated", ctx.builder.loc)
    return ctx.new_object("list", enumerate([b for _, b in content] * times))


@expression(ast.UnaryOp)
def unary(ctx: Lowering, node: ast.UnaryOp) -> Binding:
    made = ctx.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        test = truth(ctx, made, node.operand)
        return Num(Const(not test.value) if isinstance(test, Const) else ctx.call("not_", test))
    if isinstance(made, Num) and isinstance(made.operand, Const) and made.operand.name is None:
        value = made.operand.value
        return Num(Const(SIGNS[type(node.op)](value)))
    if isinstance(node.op, ast.USub) and isinstance(made, Obj) and made.key.kind == "record":
        from symgrad.frontend.calls import call_method

        return call_method(ctx, made, "__neg__", [], {}, node)
    return ctx.make(ctx.call(row_of(ctx, type(node.op), node), ctx.read(made, node)))


def truth(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    """What ``if`` asks: a bool operand, constant where it is known."""
    for word in ("__bool__", "__len__"):
        if own_method(binding, word) is not None:
            from symgrad.frontend.calls import call_method

            return truth(ctx, call_method(ctx, binding, word, [], {}, node), node)
    match binding:
        case Static(value):
            return Const(bool(value))
        case Num(Const(value)):
            return Const(bool(value))
        case External(value) if isinstance(value, dict | list | tuple):
            return Const(bool(value))
        case Tup(items):
            return Const(bool(items))
        case Obj(key):
            content = ctx.state.heap[key]
            if not isinstance(content, Ref):
                return Const(bool(content) or key.kind == "record")
            return ctx.call("greater", ctx.call("list_len", ctx.read(binding)), Const(0))
        case Fun() | Bound() | External():
            return Const(True)
    return ctx.read(binding, node)


@expression(ast.BoolOp)
def boolop(ctx: Lowering, node: ast.BoolOp) -> Binding:
    return both(ctx, node.values, isinstance(node.op, ast.And), node)


def both(ctx: Lowering, nodes: list[ast.expr], is_and: bool, node: ast.AST) -> Binding:
    """``a and b ...``, ``a or b ...``: the rest is evaluated only where it is needed."""
    left = ctx.evaluate(nodes[0])
    if len(nodes) == 1:
        return left
    test = truth(ctx, left, nodes[0])
    if isinstance(test, Const):
        return both(ctx, nodes[1:], is_and, node) if bool(test.value) == is_and else left
    return choose(ctx, test, node, *((lambda: both(ctx, nodes[1:], is_and, node), lambda: left)[:: 1 if is_and else -1]))


def choose(ctx: Lowering, test: Operand, node: ast.AST, then: Any, orelse: Any) -> Binding:
    """The value of one of two expressions, each evaluated only on its path."""
    key = (ctx.frame, f"%choice{next(ctx.builder.fresh)}")

    def side(make: Any) -> Any:
        def run() -> None:
            ctx.state.names[key] = make()

        return run

    branch(ctx, test, side(then), side(orelse), [], ctx.loc(node))
    return ctx.state.names.pop(key)


@expression(ast.IfExp)
def ternary(ctx: Lowering, node: ast.IfExp) -> Binding:
    test = truth(ctx, ctx.evaluate(node.test), node.test)
    if isinstance(test, Const):
        return ctx.evaluate(node.body if test.value else node.orelse)
    return choose(ctx, test, node, lambda: ctx.evaluate(node.body), lambda: ctx.evaluate(node.orelse))


@expression(ast.Compare)
def compare(ctx: Lowering, node: ast.Compare) -> Binding:
    left = ctx.evaluate(node.left)
    return chain(ctx, left, list(zip(node.ops, node.comparators, strict=True)), node)


def chain(ctx: Lowering, left: Binding, rest: list[tuple[ast.cmpop, ast.expr]], node: ast.AST) -> Binding:
    (op, right_node), *more = rest
    right = ctx.evaluate(right_node)
    made = comparison(ctx, op, left, right, node)
    if not more:
        return made
    test = truth(ctx, made, node)
    if isinstance(test, Const):
        return chain(ctx, right, more, node) if test.value else made
    return choose(ctx, test, more[0][1], lambda: chain(ctx, right, more, node), lambda: made)


def comparison(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding:
    if isinstance(op, ast.Is | ast.IsNot):
        known = identical(ctx, a, b)
        if known is not None:
            return Num(Const(known == isinstance(op, ast.Is)))
        return Num(ctx.call("is_" if isinstance(op, ast.Is) else "is_not", ctx.read(a), ctx.read(b)))
    if isinstance(op, ast.In | ast.NotIn):
        return membership(ctx, op, a, b, node)
    special = own_comparison(ctx, op, a, b, node)
    if special is not None:
        return special
    if isinstance(a, Static) and isinstance(b, Static):
        return Num(Const(bool(STATIC_OPERATORS[type(op)](a.value, b.value))))
    if isinstance(a, Tup) and isinstance(b, Tup) and isinstance(op, ast.Eq | ast.NotEq):
        equal = len(a.items) == len(b.items)
        tests = [truth(ctx, comparison(ctx, ast.Eq(), x, y, node), node) for x, y in zip(a.items, b.items, strict=False)] if equal else []
        if all(isinstance(t, Const) for t in tests):
            return Num(Const((equal and all(t.value for t in tests)) == isinstance(op, ast.Eq)))  # type: ignore[union-attr]
    if isinstance(a, Num) and isinstance(b, Num) and isinstance(a.operand, Const) and isinstance(b.operand, Const):
        return Num(Const(STATIC_OPERATORS[type(op)](a.operand.value, b.operand.value)))
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Static) and not isinstance(y, Static) and ctx.type_of(y).is_number and isinstance(op, ast.Eq | ast.NotEq):
            return Num(Const(isinstance(op, ast.NotEq)))
    return ctx.make(ctx.call(row_of(ctx, type(op), node), ctx.read(a, node), ctx.read(b, node)))


def identical(ctx: Lowering, a: Binding, b: Binding) -> bool | None:
    """``a is b`` where it is known while compiling."""
    if isinstance(a, Static) and isinstance(b, Static):
        return a.value is b.value
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Static):
            type_ = ctx.type_of(y) if isinstance(y, Num | Ref) else None
            if isinstance(type_, Unknown | Undefined | Object):
                return None
            return False
    if isinstance(a, Ref) and isinstance(b, Ref) and not a.path and not b.path:
        sure = b.location not in ctx.state.partners.get(a.location, frozenset())
        return a.location is b.location if a.location is b.location or sure else None
    return a == b if isinstance(a, Obj) and isinstance(b, Obj) else None


def membership(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding:
    negate = isinstance(op, ast.NotIn)
    if own_method(b, "__contains__") is not None:
        from symgrad.frontend.calls import call_method

        test = truth(ctx, call_method(ctx, b, "__contains__", [a], {}, node), node)
        if isinstance(test, Const):
            return Num(Const(bool(test.value) != negate))
        return Num(ctx.call("not_", test) if negate else test)
    if isinstance(b, Obj) and b.key.kind == "dict":
        ctx.check_keys(b.key, node)
        return Num(Const((static_key(ctx, a, node) in dict(ctx.state.heap[b.key])) != negate))  # type: ignore[arg-type]
    if isinstance(b, External):
        return Num(Const((static_key(ctx, a, node) in b.value) != negate))
    if isinstance(a, Static) and isinstance(b, Static):
        return Num(Const((a.value in b.value) != negate))
    items = items_of(ctx, b, node)
    if not isinstance(items, list):
        return Num(ctx.call("not_contains" if negate else "contains", ctx.read(b, node), ctx.read(a, node)))
    made: Operand = Const(False)
    for item in items:
        test = truth(ctx, comparison(ctx, ast.Eq(), a, item, node), node)
        if isinstance(test, Const):
            if test.value:
                return Num(Const(not negate))
            continue
        made = test if isinstance(made, Const) else ctx.call("logical_or", made, test)
    if isinstance(made, Const):
        return Num(Const(negate))
    return Num(ctx.call("not_", made) if negate else made)


@expression(ast.NamedExpr)
def walrus(ctx: Lowering, node: ast.NamedExpr) -> Binding:
    made = ctx.evaluate(node.value)
    frame, target = ctx.frame, node.target.id
    while frame.parent is not None and target not in frame.locals and frame.parent.source is frame.source:
        frame = frame.parent
    kept, ctx.frame = ctx.frame, frame
    ctx.assign(target, made, node)
    ctx.frame = kept
    return made


@expression(ast.Subscript)
def subscript(ctx: Lowering, node: ast.Subscript) -> Binding:
    return load(ctx, ctx.evaluate(node.value), node.slice, node)


# ------------------------------------------------------------------ attributes


@expression(ast.Attribute)
def attribute(ctx: Lowering, node: ast.Attribute) -> Binding:
    return attribute_of(ctx, ctx.evaluate(node.value), node.attr, node)


def attribute_of(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding:
    """``owner.attr`` for each kind of owner."""
    attr = ctx.frame.source.mangle(attr)
    match owner:
        case Static(value, name_):
            return of_static(ctx, value, name_ or str(getattr(value, "__name__", "object")), attr, node)
        case Ref() | Num():
            return of_array(ctx, owner, attr, node)
        case Tup(items, kind) if kind is not None and attr in kind._fields:
            return items[list(kind._fields).index(attr)]
        case Obj(key) if key.kind == "record":
            content = dict(ctx.state.entries(key))
            return content[attr] if attr in content else of_class(ctx, owner, key.cls, attr, node)
        case External(value, text):
            if attr in getattr(value, "__dict__", {}) or not hasattr(type(value), attr):
                if not hasattr(value, attr):
                    raise UnsupportedSyntax(f"{type(value).__name__!r} object has no attribute {attr!r}", ctx.loc(node))
                return outside(ctx, getattr(value, attr), f"{text}.{attr}", attr)
            return of_class(ctx, owner, type(value), attr, node)
        case Above(instance, cls):
            return of_class(ctx, instance, kind_of_instance(instance), attr, node, after=cls)
        case Tup(kind=kind) if kind is not None and not attr.startswith("_") and isinstance(getattr(kind, attr, None), types.FunctionType):
            return of_class(ctx, owner, kind, attr, node)
    return Bound(owner, attr)


def of_static(ctx: Lowering, value: Any, name_: str, attr: str, node: ast.AST) -> Binding:
    if not hasattr(value, attr):
        raise UnsupportedSyntax(f"{name_} has no attribute {attr!r}", ctx.loc(node))
    found = getattr(value, attr)
    name_ = {"numpy": "np"}.get(name_, name_)
    if (
        isinstance(found, float | int)
        and not isinstance(found, bool)
        and isinstance(value, types.ModuleType)
        and value.__name__ in ("numpy", "math")
    ):
        return Num(Const(found, f"{name_}.{attr}"))
    if isinstance(value, types.ModuleType | type) and not isinstance(
        found, types.ModuleType | types.FunctionType | types.BuiltinFunctionType | type | np.ufunc
    ):
        return outside(ctx, found, f"{owner_name(ctx, value)}.{attr}", attr)
    return Static(found, f"{name_}.{attr}")


def of_array(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding:
    """Attributes of arrays and NumPy scalars that are not methods."""
    type_ = ctx.type_of(owner)
    if isinstance(type_, Scalar):
        match attr:
            case "shape":
                return Tup(())
            case "ndim":
                return Num(Const(0))
            case "size":
                return Num(Const(1))
            case "T" | "real" if type_.kind != "complex":
                return owner
        return Bound(owner, attr)
    if isinstance(type_, Unknown | Object) and attr in ("real", "imag", "T", "shape", "size", "ndim", "dtype", "mT"):
        return Num(ctx.call("opaque_attribute", ctx.read(owner), Const(attr)))
    if not isinstance(type_, Array):
        return Bound(owner, attr)
    match attr:
        case "shape" if type_.shape is not None:
            value = ctx.read(owner)
            return Tup(tuple(Num(Const(e) if isinstance(e, int) else ctx.call("extent", value, axis=k)) for k, e in enumerate(type_.shape)))
        case "shape":
            raise UnknownType("the number of dimensions of this array is not known", ctx.loc(node))
        case "ndim" if type_.shape is not None:
            return Num(Const(len(type_.shape)))
        case "size":
            return Num(ctx.call("size", ctx.read(owner)))
        case "dtype" if type_.dtype is not None:
            from symgrad.ir.types import DTYPES

            return Static(np.dtype(DTYPES[type_.dtype]), f"np.dtype({np.dtype(DTYPES[type_.dtype]).name!r})")
        case "mT" | "imag" if type_.shape is not None:
            from symgrad.frontend.calls import apply_row

            return apply_row(ctx, attr, [owner], {}, node)
        case "T" if isinstance(owner, Ref):
            return owner if type_.shape is not None and len(type_.shape) < 2 else Ref(owner.location, (*owner.path, Step(".T")))
        case "real" if type_.kind in ("float", "int", "bool"):
            return owner
    return Bound(owner, attr)


def kind_of_instance(binding: Binding) -> type:
    """The class of an instance."""
    if isinstance(binding, Obj):
        return binding.key.cls  # type: ignore[no-any-return]
    return type(binding.value) if isinstance(binding, External) else object


def of_class(ctx: Lowering, owner: Binding, cls: type, attr: str, node: ast.AST, after: type | None = None) -> Binding:
    """A method, property or class attribute of an instance; with ``after`` only from the classes behind that one."""
    from symgrad.frontend.calls import call_function

    order = cls.__mro__
    for base in order[order.index(after) + 1 if after in order else 0 :]:
        if attr in base.__dict__:
            match base.__dict__[attr]:
                case types.FunctionType() as function:
                    return Bound(owner, attr, function)
                case staticmethod() as held:
                    return Static(held.__func__, attr)
                case classmethod() as held:
                    return Bound(Static(cls), attr, held.__func__)
                case property() as held if held.fget is not None:
                    return call_function(ctx, held.fget, [owner], {}, node)
                case held if getattr(held, "__wrapped__", None) is not None and isinstance(held.__wrapped__, types.FunctionType):
                    return Bound(owner, attr, held.__wrapped__)
                case held:
                    return outside(ctx, held, f"{owner_name(ctx, base)}.{attr}", attr)
    raise UnsupportedSyntax(f"{cls.__name__!r} object has no attribute {attr!r}", ctx.loc(node))


# ------------------------------------------------------------------ comprehensions


@expression(ast.ListComp, ast.GeneratorExp)
def comprehension(ctx: Lowering, node: ast.ListComp | ast.GeneratorExp) -> Binding:
    """A list, made by appending in a loop."""
    return gather(
        ctx, node.generators, lambda: ctx.new_object("list", ()), lambda made: append(ctx, made, ctx.evaluate(node.elt), node), node
    )


@expression(ast.DictComp)
def dict_comprehension(ctx: Lowering, node: ast.DictComp) -> Binding:
    def put(made: Binding) -> Binding:
        assert isinstance(made, Obj)
        content = dict(ctx.state.heap[made.key])  # type: ignore[arg-type]
        content[static_key(ctx, ctx.evaluate(node.key), node.key)] = ctx.evaluate(node.value)
        ctx.state.heap[made.key] = tuple(content.items())
        return made

    return gather(ctx, node.generators, lambda: ctx.new_object("dict", ()), put, node)


def gather(ctx: Lowering, generators: list[ast.comprehension], start: Any, step: Any, node: ast.AST) -> Binding:
    """Run the loops of a comprehension; ``step(value so far)`` gives the next value."""
    from symgrad.frontend.statements import bind, guess_names, loop_key

    first = ctx.evaluate(generators[0].iter)
    targets = frozenset(n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name))
    outer = ctx.frame
    ctx.frame = Frame(outer.source, outer, targets | {"%made"})
    key = (ctx.frame, "%made")
    ctx.state.names[key] = start()

    def level(k: int) -> None:
        if k == len(generators):
            ctx.state.names[key] = step(ctx.state.names[key])
            return
        generator = generators[k]
        items = items_of(ctx, first if k == 0 else ctx.evaluate(generator.iter), generator.iter)

        def filtered(tests: list[ast.expr]) -> None:
            if not tests:
                level(k + 1)
                return
            test = truth(ctx, ctx.evaluate(tests[0]), tests[0])
            branch(ctx, test, lambda: filtered(tests[1:]), lambda: None, [], ctx.loc(tests[0]))

        if isinstance(items, list):
            for item in items:
                bind(ctx, generator.target, item)
                filtered(generator.ifs)
            return
        if ctx.unroll and (indices := indices_of(items)) is not None:
            for place in indices:
                bind(ctx, generator.target, items.item(Const(place)))
                filtered(generator.ifs)
            return

        def body(index: Value) -> None:
            bind(ctx, generator.target, items.item(index))
            filtered(generator.ifs)

        hint = generator.target.id if isinstance(generator.target, ast.Name) and items.counts else None
        guess = [*guess_names(ctx, [generator.target]), key]
        counted(ctx, loop_key(ctx, generator.iter), guess, items.bounds, body, ctx.loc(generator.target), hint)

    try:
        level(0)
        return ctx.state.names[key]
    finally:
        for name_ in [n for n in ctx.state.names if n[0] is ctx.frame]:
            del ctx.state.names[name_]
        ctx.frame = outer


__all__ = ["UNKNOWN", "Iter", "attribute_of", "binary", "elements", "gather", "outside", "truth"]
