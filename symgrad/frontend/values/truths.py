"""Truth values, and expressions that evaluate some of their parts only: ``and``, ``or``, ``a if test else b``."""

from __future__ import annotations

import ast

import numpy as np

from symgrad.frontend.containers.static_containers import known_range
from symgrad.frontend.flow.absent import truth_of
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds, predicate_of_one
from symgrad.frontend.flow.flow import choose, choose_in_turn, each_side
from symgrad.frontend.objects.derived import as_base
from symgrad.frontend.objects.protocols import own_method
from symgrad.frontend.objects.python_values import python_truth
from symgrad.frontend.state.bindings import (
    Binding,
    Bound,
    Choice,
    External,
    Fun,
    Generator,
    HeapKey,
    Iter,
    Maybe,
    Num,
    Obj,
    OneOf,
    Partial,
    Ref,
    Static,
    Tup,
    View,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import expression
from symgrad.ir.core import ZERO, Call, Const, Operand
from symgrad.ir.types import Array, Object, Scalar, Unknown


def truth(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    """The condition of ``if``: a bool operand, constant where it is known."""
    if is_one_of_kinds(binding):
        return truth(ctx, each(ctx, binding, node, lambda value: Num(truth(ctx, value, node))), node)
    for word in ("__bool__", "__len__"):
        if own_method(ctx, binding, word) is not None:
            return truth(ctx, ctx.apply_method(binding, word, [], node), node)
    binding = as_base(ctx, binding, "__bool__", "__len__")
    if python_class(binding) is not None:
        return python_truth(ctx, binding)
    match binding:
        case Choice():
            return truth(ctx, each_side(ctx, binding, node, lambda side: Num(truth(ctx, side, node))), node)
        case Maybe():
            return truth_of(ctx, binding, node, truth)
        case OneOf():
            return truth(ctx, predicate_of_one(ctx, binding, node, lambda value: Num(truth(ctx, value, node))), node)
        case Static(value):
            return Const(bool(value))
        case Num(Const(value)):
            return Const(bool(value))
        case External(value, text) if isinstance(value, dict | list | tuple):
            ctx.rely(text, bool(value), "truth")
            return Const(bool(value))
        case View(owner=HeapKey() as key):
            return truth(ctx, Obj(key), node)
        case Tup(items):
            return Const(bool(items))
        case Obj(key):
            content = ctx.state.heap[key]
            if not isinstance(content, Ref):
                if key.kind == "dict" and all(ctx.is_doubtful(item) for _, item in content):
                    ctx.check_keys(key, node, in_order=False)
                return Const(bool(content) or key.kind == "record")
            return ctx.call("greater", ctx.call("list_len", ctx.held(binding)), Const(0))
        case External(value, text) if not isinstance(value, np.ndarray):
            ctx.rely(text, bool(value), "truth")
            return Const(bool(value))
        case Bound(owner=Num(operand=held), name=name, function=None) if isinstance(held.type, Unknown | Object):
            return ctx.call("opaque_attribute", held, attribute=name)  # the attribute may be no method
        case Fun() | Bound() | Generator() | Partial():
            return Const(True)
        case Ref() if isinstance(type_ := ctx.type_of(binding), Array) and type_.shape:
            truth_value = ctx.apply(Static(bool, "bool"), [binding], {}, node)  # this call raises, however its result is used
            return ctx.read(truth_value, node)
        case Iter(kind="range", parts=parts):
            return (
                ctx.call("greater", ctx.call("range_len", *parts), ZERO) if known_range(parts) is None else Const(bool(known_range(parts)))
            )
        case Iter() if binding.key is not None:
            return Const(True)
    return unconverted(ctx, ctx.read(binding, node))


def as_bool(ctx: Lowering, test: Operand) -> Operand:
    """A test as a Python bool where the value can be observed: NumPy's bools are of another class."""
    if isinstance(test, Const):
        return Const(bool(test.value))
    return test if is_python_bool(Num(test)) else ctx.call("number", test, kind="bool")


def unconverted(ctx: Lowering, test: Operand) -> Operand:
    """A bool before its conversion to a Python bool: ``if`` needs no conversion."""
    last = ctx.builder.block.ops[-1] if ctx.builder.block.ops else None
    if isinstance(last, Call) and last.name == "number" and last.outs == [test] and getattr(last.args[0].type, "kind", None) == "bool":
        return last.args[0] if isinstance(last.args[0].type, Scalar) else test
    return test


def condition(ctx: Lowering, node: ast.expr) -> Operand:
    """The truth of an expression that is only tested."""
    return truth(ctx, tested(ctx, node), node)


def tested(ctx: Lowering, node: ast.expr) -> Binding:
    """An expression that is only tested. Of the operands of ``and`` and ``or`` only the truth is needed, and it is computed once."""
    if isinstance(node, ast.BoolOp):
        ctx.forms.setdefault("tested", {})[node] = True
    return ctx.evaluate(node)


@expression(ast.BoolOp)
def boolop(ctx: Lowering, node: ast.BoolOp) -> Binding:
    return short_circuit(ctx, node.values, isinstance(node.op, ast.And), node, node in ctx.forms.get("tested", {}))


def short_circuit(ctx: Lowering, nodes: list[ast.expr], is_and: bool, node: ast.AST, is_tested: bool) -> Binding:
    """``a and b ...``, ``a or b ...``: the rest is evaluated only where it is needed."""
    left = tested(ctx, nodes[0]) if is_tested else ctx.evaluate(nodes[0])
    if len(nodes) == 1:
        return Num(truth(ctx, left, nodes[0])) if is_tested and not isinstance(left, Num) else left
    test = truth(ctx, left, nodes[0])
    if is_tested and not isinstance(left, Num):
        left = Num(test)
    if isinstance(test, Const):
        return short_circuit(ctx, nodes[1:], is_and, node, is_tested) if bool(test.value) == is_and else left
    others: list[Binding] = []

    def rest() -> Binding:
        others.append(short_circuit(ctx, nodes[1:], is_and, node, is_tested))
        return others[-1]

    outcome = choose_in_turn(ctx, test, node, *((rest, lambda: left)[:: 1 if is_and else -1]))
    match others:
        case [Num(Const(bool(value)))] if value is not is_and and is_python_bool(left):
            return others[0]  # the other path yields the same bool
    return outcome


def is_python_bool(binding: Binding) -> bool:
    """Whether the binding is a Python bool, which equals the constant ``False`` or ``True`` by its truth."""
    type_ = binding.operand.type if isinstance(binding, Num) else None
    return isinstance(type_, Scalar) and type_.kind == "bool" and type_.dtype is None


@expression(ast.IfExp)
def ternary(ctx: Lowering, node: ast.IfExp) -> Binding:
    test = condition(ctx, node.test)
    if isinstance(test, Const):
        return ctx.evaluate(node.body if test.value else node.orelse)
    return choose(ctx, test, node, lambda: ctx.evaluate(node.body), lambda: ctx.evaluate(node.orelse))
