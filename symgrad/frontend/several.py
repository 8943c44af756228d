"""Enumerated constants (``OneOf``), such as a mode that changes: tests of the index among them, and operations on each constant."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from symgrad.frontend.bindings import Binding, Choice, Maybe, Num, Obj, OneOf, Ref, Tup
from symgrad.frontend.context import Lowering
from symgrad.frontend.flow import choose
from symgrad.ir.core import FALSE, TRUE, Const, Operand


def possible(ctx: Lowering, binding: OneOf) -> list[int]:
    """The places that no test on this path has ruled out."""
    return [k for k in range(len(binding.values)) if ctx.state.known.get((binding.place, k)) is not False]


def is_at(ctx: Lowering, binding: OneOf, place: int) -> Operand:
    """Is it this one of them?"""
    test = ctx.call("equal", binding.place, Const(place))
    ctx.decided.table[test] = ({(binding.place, place): False}, {(binding.place, place): True})
    return test


def among(ctx: Lowering, binding: OneOf, chosen: Iterable[int], node: ast.AST) -> Operand:
    """Is it one of the constants at the chosen places?"""
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
    """What is made of a constant, or of one of two values of different classes, for whichever of them it is."""
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
    """Is it a function, or one of several?"""
    return is_function(binding.then) and is_function(binding.orelse) if isinstance(binding, Choice) else not is_value(binding)


def is_value(binding: Binding) -> bool:
    """Is it a number, an array, a tuple or an object of the heap, or one of several of which one is?"""
    return isinstance(binding, Num | Ref | Tup | Obj | Maybe) or isinstance(binding, Choice) and not is_function(binding)


def is_one_of_kinds(binding: Binding) -> bool:
    """Is it one of two values of different classes?"""
    return isinstance(binding, Choice) and not is_function(binding)


def asked(ctx: Lowering, binding: Binding, node: ast.AST, question: Callable[[Binding], Binding]) -> Binding:
    """A test of a constant, whichever it is; where each answer is known, it is a test of the place."""
    if not isinstance(binding, OneOf):
        return each(ctx, binding, node, question)
    answers = {k: question(binding.values[k]) for k in possible(ctx, binding)}
    known = {k: a.operand.value for k, a in answers.items() if isinstance(a, Num) and isinstance(a.operand, Const)}
    if len(known) < len(answers):
        return each(ctx, binding, node, question)
    return Num(among(ctx, binding, [k for k, answer in known.items() if answer], node))


__all__ = ["asked", "each", "is_one_of_kinds"]
