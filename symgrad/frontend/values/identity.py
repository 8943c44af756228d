"""``a is b``: whether two bindings are one object, at compile time or when the program runs."""

from __future__ import annotations

import ast

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.containers.stepping import is_iterator
from symgrad.frontend.flow.aliases import one_array
from symgrad.frontend.flow.sameness import are_one
from symgrad.frontend.state.bindings import ABSENT, Binding, Bound, External, Fun, Maybe, Num, Obj, Ref, Static, Tup, View, python_class
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import Object, Scalar, Undefined, Unknown
from symgrad.text import is_interned


def identity(ctx: Lowering, a: Binding, b: Binding, negate: bool, node: ast.AST) -> Binding:
    """``a is b``, or ``a is not b``."""
    check_filled(ctx, a, b)
    if (known := identical(ctx, a, b)) is not None:
        return Num(Const(known != negate))
    same = one_array(ctx, a.location, b.location) if isinstance(a, Ref) and isinstance(b, Ref) else are_one(ctx.state, a, b)
    if same is not None:
        return Num(negated(ctx, same) if negate else same)
    if any(python_class(x) for x in (a, b)) or not any(is_passed_on(ctx, x) for x in (a, b)):
        raise UnknownType("whether these are the same object is not known", ctx.loc(node), "compare with ==")
    return Num(ctx.call("is_not" if negate else "is_", ctx.read(a), ctx.read(b)))


def check_filled(ctx: Lowering, a: Binding, b: Binding) -> None:
    """Refuse a test for None of an item of a list that is filled later, if the list has dynamic length."""
    if ctx.filled_later and ABSENT in (a, b) and not all(isinstance(x, Static | Maybe) for x in (a, b)):
        what = "whether this item of the list has been filled is not known"
        raise UnsupportedSyntax(what, ctx.builder.loc, "keep a second list of flags that says which items are filled")


def is_passed_on(ctx: Lowering, binding: Binding) -> bool:
    """Whether the binding's identity is that of the object at run time: None, a bool, an object that the program only passes on."""
    if isinstance(binding, Static | External):
        return True
    type_ = ctx.type_of(binding) if isinstance(binding, Num | Ref) else None
    return isinstance(type_, Unknown | Undefined | Object) or isinstance(type_, Scalar) and type_.kind == "bool" and type_.dtype is None


def negated(ctx: Lowering, test: Operand) -> Operand:
    return Const(not test.value) if isinstance(test, Const) else ctx.call("not_", test)


def identical(ctx: Lowering, a: Binding, b: Binding) -> bool | None:
    """``a is b`` where it is known at compile time."""
    if a is b and not isinstance(a, Num | Bound):
        return True
    if isinstance(a, Static) and isinstance(b, Static):
        texts = type(a.value) is type(b.value) is str and a.value == b.value and a.value is not b.value
        return (True if is_interned(a.value) else None) if texts else a.value is b.value
    if isinstance(a, Fun) and isinstance(b, Fun) and a.node is not b.node:
        return False
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Static):
            if (held := python_class(y)) is not None and type(x.value) is not held:
                return False
            type_ = ctx.type_of(y) if isinstance(y, Num | Ref) else None
            if isinstance(type_, Unknown | Undefined | Object) or type_ is not None and ctx.holes and x.value is None:
                return None
            return False
    for x, y in ((a, b), (b, a)):
        if isinstance(x, External) and isinstance(y, External | Num | Obj | Tup | Ref):
            passed = isinstance(y, Num | Ref) and isinstance(ctx.type_of(y), Unknown | Undefined | Object)
            return None if passed else isinstance(y, External) and y.value is x.value
        if isinstance(x, Obj) and isinstance(y, Tup | Fun) or isinstance(x, Obj | Tup) and isinstance(y, Num) and y.operand.type.is_number:
            return False
    if isinstance(a, Tup) and isinstance(b, Tup) and not isinstance(a, View):
        return False if len(a.items) != len(b.items) or a.kind is not b.kind else True if not a.items else None
    if isinstance(a, Num) and isinstance(b, Num):
        known = [o.value for o in (a.operand, b.operand) if isinstance(o, Const)]
        if len(known) == 2 and all(type(v) is int and -5 <= v <= 256 or type(v) is bool for v in known):
            return known[0] is known[1]
        return True if a.operand is b.operand else None
    if isinstance(a, Ref) and isinstance(b, Ref) and (a.path or b.path):
        return False  # each subscript creates a new view
    if isinstance(a, Ref) and isinstance(b, Ref) and not a.path and not b.path:
        if (same := one_array(ctx, a.location, b.location)) is not None:
            return bool(same.value) if isinstance(same, Const) else None
        sure = b.location not in ctx.state.near(a.location)
        ctx.unsure = ctx.unsure or not sure
        return a.location is b.location if a.location is b.location or sure else None
    if any(is_iterator(x) and not isinstance(x, Obj) for x in (a, b)):
        return a == b
    if isinstance(a, Obj) and isinstance(b, Obj):
        ctx.compared(a.key, b.key)
        same = are_one(ctx.state, a, b)
        return bool(same.value) if isinstance(same, Const) else None
    return None
