"""Enumerated constants (``OneOf``), such as a mode that changes: tests of the index among them, and operations on each constant."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from symgrad.frontend.flow.flow import choose
from symgrad.frontend.state.bindings import Binding, Choice, Maybe, Num, Obj, OneOf, Ref, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import FALSE, TRUE, Const, Operand


def possible(ctx: Lowering, binding: OneOf) -> list[int]:
    """The indices that no test on this path has excluded."""
    return [k for k in range(len(binding.values)) if ctx.state.known.get((binding.place, k)) is not False]


def is_at(ctx: Lowering, binding: OneOf, place: int) -> Operand:
    """A test whether the value is the constant at an index."""
    test = ctx.call("equal", binding.place, Const(place))
    ctx.decided.table[test] = ({(binding.place, place): False}, {(binding.place, place): True})
    return test


def among(ctx: Lowering, binding: OneOf, chosen: Iterable[int], node: ast.AST) -> Operand:
    """A test whether the value is one of the constants at the chosen indices."""
    left = possible(ctx, binding)
    places = [k for k in chosen if k in left]
    others = [k for k in left if k not in places]
    if not places or not others:
        return TRUE if places else FALSE
    if len(others) < len(places):
        return ctx.call("not_", among(ctx, binding, others, node))
    first, *more = places
    if not more:
        return is_at(ctx, binding, first)
    test = choose(ctx, is_at(ctx, binding, first), node, lambda: Num(TRUE), lambda: Num(among(ctx, binding, more, node)))
    assert isinstance(test, Num)
    return test.operand


def each(ctx: Lowering, binding: Binding, node: ast.AST, use: Callable[[Binding], Binding]) -> Binding:
    """Apply ``use`` to each constant of a ``OneOf``, or to both sides of a ``Choice``, and join the results."""
    if isinstance(binding, Choice) and not is_function(binding):
        held = binding
        return choose(ctx, held.test, node, lambda: each(ctx, held.then, node, use), lambda: each(ctx, held.orelse, node, use))
    if not isinstance(binding, OneOf):
        return use(binding)
    values = binding.values

    def of(places: list[int]) -> Binding:
        first, *others = places
        if not others:
            return use(values[first])
        return choose(ctx, is_at(ctx, binding, first), node, lambda: use(values[first]), lambda: of(others))

    return of(possible(ctx, binding))


def is_function(binding: Binding) -> bool:
    """Whether the binding is a function, or one of several."""
    return is_function(binding.then) and is_function(binding.orelse) if isinstance(binding, Choice) else not is_value(binding)


def is_value(binding: Binding) -> bool:
    """Whether the binding is a number, array, tuple or object of the heap, or a choice with one among them."""
    return isinstance(binding, Num | Ref | Tup | Obj | Maybe) or isinstance(binding, Choice) and not is_function(binding)


def is_one_of_kinds(binding: Binding) -> bool:
    """Whether the binding is one of two values of different classes."""
    return isinstance(binding, Choice) and not is_function(binding)


def predicate_of_one(ctx: Lowering, binding: Binding, node: ast.AST, question: Callable[[Binding], Binding]) -> Binding:
    """The answer of a predicate on a ``OneOf``; if it is static for each constant, a test of the index."""
    if not isinstance(binding, OneOf):
        return each(ctx, binding, node, question)
    answers = {k: question(binding.values[k]) for k in possible(ctx, binding)}
    known = {k: a.operand.value for k, a in answers.items() if isinstance(a, Num) and isinstance(a.operand, Const)}
    if len(known) < len(answers):
        return each(ctx, binding, node, question)
    return Num(among(ctx, binding, [k for k, answer in known.items() if answer], node))


__all__ = ["predicate_of_one", "each", "is_one_of_kinds"]
