"""Comprehensions and generator expressions to loops that append to a list, set or dict."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any

from symgrad.frontend.constructs.loops import rounds_from
from symgrad.frontend.constructs.targets import bind
from symgrad.frontend.containers.appending import append
from symgrad.frontend.containers.generators import gathered
from symgrad.frontend.containers.growing_dicts import is_growing, new_dict, note_new_key
from symgrad.frontend.containers.iterables import Firsts, each_of_firsts, held_lists, indices_of, items_now, items_of_loop
from symgrad.frontend.containers.stepping import begin
from symgrad.frontend.flow.flow import branch, counted, guess_names, loop_key
from symgrad.frontend.functions.activation import holds_function
from symgrad.frontend.objects.operands import static_key
from symgrad.frontend.state.bindings import MISSING, Binding, Fun, Generator, Missing, Num, Obj, Static, known_key
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import Frame, Going, is_long
from symgrad.frontend.state.tables import expression
from symgrad.frontend.values.operators import binary
from symgrad.frontend.values.truths import condition
from symgrad.ir.core import Const
from symgrad.ops.composed.iterating import first_value, first_value_or

OVER = "%over"  #: the parameter for the first iterable of a generator expression, which is evaluated at once


@expression(ast.ListComp)
def comprehension(ctx: Lowering, node: ast.ListComp | ast.GeneratorExp) -> Binding:
    """A list, built by appending in a loop."""
    return gather(
        ctx, node.generators, lambda: ctx.new_object("list", ()), lambda items: append(ctx, items, ctx.evaluate(node.elt), node), node
    )


@expression(ast.DictComp)
def dict_comprehension(ctx: Lowering, node: ast.DictComp) -> Binding:
    def put(items: Binding) -> Binding:
        assert isinstance(items, Obj)
        sought = ctx.evaluate(node.key)
        if is_growing(items):
            ctx.hold(sought)
            return put_computed(items, sought, ctx.evaluate(node.value))
        if isinstance(known_key(sought), Missing):
            note_new_key(ctx, items)
        key = static_key(ctx, sought, node.key)
        held = ctx.evaluate(node.value)
        content = dict(ctx.state.heap[items.key])  # type: ignore[arg-type]
        content[key] = held
        ctx.change(items.key, tuple(content.items()))
        return items

    def put_computed(items: Obj, key: Binding, value: Binding) -> Binding:
        ctx.apply_method(items, "__setitem__", [key, value], node)
        return items

    return gather(ctx, node.generators, lambda: new_dict(ctx, (), node), put, node)


@expression(ast.SetComp)
def set_comprehension(ctx: Lowering, node: ast.SetComp) -> Binding:
    """The set of a list comprehension's items."""
    items = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
    return ctx.apply(Static(set), [ctx.evaluate(items)], {}, node)


def sum_generator(ctx: Lowering, generator: ast.GeneratorExp, node: ast.AST) -> Binding:
    """``sum(f(a) for a in x)`` adds up in a loop, without a list."""

    return gather(
        ctx, generator.generators, lambda: Num(Const(0)), lambda total: binary(ctx, ast.Add, total, ctx.evaluate(generator.elt), node), node
    )


def first_of(ctx: Lowering, generator: ast.GeneratorExp, default: list[Binding], node: ast.AST) -> Binding:
    """``next(f(a) for a in x if a > 0)`` evaluates nothing after the first item: a generator function, left at its first value."""
    return ctx.apply(Static(first_value_or if default else first_value), [lazily(ctx, generator), *default], {}, node)


@expression(ast.GeneratorExp)
def lazily(ctx: Lowering, generator: ast.GeneratorExp) -> Binding:
    """A generator expression, as a call of a generator function; all but the first iterable is evaluated during the iteration."""
    body: ast.stmt = ast.Expr(ast.Yield(generator.elt))
    for part in reversed(generator.generators):
        for test in reversed(part.ifs):
            body = ast.If(test, [body], [])
        over = ast.Name(OVER, ast.Load()) if part is generator.generators[0] else part.iter
        body = ast.For(part.target, over, [body], [])
    function = ast.parse("def generator(over): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.name = "<genexpr>"
    named = sorted({n.target.id for n in ast.walk(generator) if isinstance(n, ast.NamedExpr)})
    function.body, function.args.args[0].arg = [*([ast.Nonlocal(named)] if named else []), body], OVER
    for inner in ast.walk(function):
        if "lineno" in inner._attributes and (inner is function or not hasattr(inner, "lineno")):
            ast.copy_location(inner, generator)
    return ctx.apply(Fun(function, ctx.frame), [ctx.evaluate(generator.generators[0].iter)], {}, generator)


def gather(ctx: Lowering, generators: list[ast.comprehension], start: Any, step: Any, node: ast.AST) -> Binding:
    """Run the loops of a comprehension; ``step(value so far)`` returns the next value."""

    first = ctx.evaluate(generators[0].iter)
    targets = frozenset(n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name))
    outer = ctx.frame
    ctx.frame = Frame(outer.source, outer, targets | {"%made"}, place=outer.place)
    key = (ctx.frame, "%made")
    ctx.state.names[key] = start()

    def level(k: int) -> None:
        if k == len(generators):
            ctx.state.names[key] = step(ctx.state.names[key])
            return
        generator = generators[k]
        over = begin(ctx, first if k == 0 else ctx.evaluate(generator.iter), generator.iter)

        def filtered(tests: list[ast.expr]) -> None:
            if not tests:
                level(k + 1)
                return
            test = condition(ctx, tests[0])
            branch(ctx, test, lambda: filtered(tests[1:]), lambda: None, [], ctx.loc(tests[0]))

        def each(item: Binding) -> None:
            bind(ctx, generator.target, item)
            filtered(generator.ifs)

        each_item(ctx, generators[k:], over, key, each, isinstance(getattr(node, "elt", None), ast.Lambda))

    result: Binding = MISSING
    try:
        level(0)
        result = ctx.state.names[key]
        return result
    finally:
        if not holds_function(ctx, result):  # a function reads the variables when it is called
            for name_ in [n for n in ctx.state.names if n[0] is ctx.frame]:
                del ctx.state.names[name_]
        ctx.frame = outer


def each_item(
    ctx: Lowering,
    generators: list[ast.comprehension],
    over: Binding,
    key: tuple[Frame, str],
    each: Callable[[Binding], None],
    makes_functions: bool,
) -> None:
    """Run the first of the loops: once for each known item, or as a loop of the program; ``key`` names the value so far."""
    generator = generators[0]
    if isinstance(over, Generator):
        gathered(ctx, over, each, generator.iter, lazily=False)
        return
    items = items_of_loop(ctx, over, generator.iter)
    guess = [*guess_names(ctx, [inner.target for inner in generators]), key]
    if isinstance(items, Firsts):
        each_of_firsts(ctx, over, items.most, each, generator.iter)
        return
    if isinstance(items, list):
        for place in itertools.count():
            if is_long(over, ctx.state):
                rounds_from(ctx, over, place, loop_key(ctx, generator.iter), guess, each, generator.iter)
                return
            now = items_now(ctx, over, items, generator.iter)
            if place >= len(now):
                return
            ctx.write_out(generator.iter)
            each(now[place])
    assert not isinstance(items, list)
    going = Going(held_lists(ctx, over))
    ctx.going.append(going)
    written_out = ctx.unroll or makes_functions  # a list of any length holds no functions
    if written_out and (indices := indices_of(items)) is not None:
        for place in indices:
            each(items.item(Const(place)))
    else:
        hint = generator.target.id if isinstance(generator.target, ast.Name) and items.counts else None
        place, loc = loop_key(ctx, generator.iter), ctx.loc(generator.target)
        counted(ctx, place, guess, items.bounds, lambda index: each(items.item(index)), loc, hint)
    ctx.going.remove(going)
