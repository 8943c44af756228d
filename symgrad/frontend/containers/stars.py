"""Stars in displays and calls: the items of an iterable as elements or arguments, also if their number is dynamic.

The arguments from a star of dynamic length on are one binding, ``Rest``. A function of the user binds it to its parameters; for a
function of the libraries that takes any number of arguments, ``calls.starred`` has a text that takes them as one tuple.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.iterables import indices_of, items_of
from symgrad.frontend.containers.stepping import is_iterator
from symgrad.frontend.flow.edges import fail_unless, filled_in, sees
from symgrad.frontend.state.bindings import Binding, Rest, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import standing_for
from symgrad.frontend.state.pinning import pinned_length
from symgrad.frontend.state.program_state import is_long
from symgrad.frontend.text.argument_errors import Wording
from symgrad.ir.core import Const, Operand


def elements(
    ctx: Lowering,
    nodes: list[ast.expr],
    generated: Callable[[Lowering, ast.GeneratorExp], Binding] | None = None,
    evaluate: Callable[[Lowering, ast.expr], Binding] = Lowering.evaluate,
) -> list[Binding]:
    """Elements of a display or arguments of a call, with stars expanded; the last may be a ``Rest``.

    ``generated`` lowers generator expressions that are consumed at once, ``evaluate`` all other
    expressions.
    """
    bindings: list[Binding] = []
    for node in nodes:
        rest = bindings[-1] if bindings and isinstance(bindings[-1], Rest) else None
        if isinstance(node, ast.Starred):
            spread = ctx.evaluate(node.value)
            if rest is not None:
                ctx.apply_method(rest.items, "extend", [spread], node)
            else:
                bindings += spread_items(ctx, spread, node)
        elif rest is not None:
            ctx.apply_method(rest.items, "append", [evaluate(ctx, node)], node)
        elif isinstance(node, ast.GeneratorExp) and generated is not None:
            bindings.append(generated(ctx, node))
        else:
            bindings.append(evaluate(ctx, node))
    return bindings


def spread_items(ctx: Lowering, spread: Binding, node: ast.expr) -> list[Binding]:
    """The items of a starred iterable, one by one if their number is static."""
    spread = ctx.apply(Static(list), [spread], {}, node) if is_iterator(spread) else spread
    items = items_of(ctx, spread, node)
    if isinstance(items, list):
        return items
    if (indices := indices_of(items)) is not None:
        return [items.item(Const(k)) for k in indices]
    refusal = UnsupportedSyntax("a star needs an iterable of known length", ctx.loc(node), "name the items, as in x[0], x[1]")
    pinned_length(ctx, refusal, ctx.held(spread) if is_long(spread, ctx.state) else None)
    if refusal.pin is not None:
        raise refusal
    copy = ctx.apply(Static(list), [spread], {}, node)
    ctx.hold(copy)
    return [Rest(copy, refusal, node)]


def with_rest(bindings: list[Binding]) -> Rest | None:
    """The last of some bindings, if it is a ``Rest``."""
    return bindings[-1] if bindings and isinstance(bindings[-1], Rest) else None


def check_known(bindings: Iterable[Binding]) -> None:
    """Refuse arguments of a dynamic number."""
    for binding in bindings:
        if isinstance(binding, Rest):
            raise binding.refusal


def in_one_tuple(ctx: Lowering, bindings: list[Binding], node: ast.AST) -> Binding:
    """All elements or arguments as one tuple, whose length may be dynamic."""
    rest = with_rest(bindings)
    if rest is None:
        return Tup(tuple(bindings))
    whole = rest.items
    if len(bindings) > 1:
        whole = ctx.new_object("list", enumerate(bindings[:-1]))
        ctx.hold(whole)
        ctx.apply_method(whole, "extend", [rest.items], node)
    return ctx.apply(Static(tuple), [whole], {}, node)


def bound_rest(
    ctx: Lowering, plain: list[str], takes_more: bool, args: list[Binding], known: Container[str], wording: Wording
) -> tuple[list[Binding], Binding | None]:
    """The arguments for the parameters ``plain``, and the tuple for ``*args`` if a ``Rest`` is in it, which ``takes_more`` says.

    ``known`` are the parameters that have a default or are passed by name: whether they get one of a dynamic number of arguments is
    refused.
    """
    rest = with_rest(args)
    if rest is None:
        return args, None
    fixed, left = args[:-1], plain[len(args) - 1 :]
    if any(word in known for word in left):
        raise rest.refusal
    items = items_of(ctx, rest.items, rest.node)
    if isinstance(items, list):
        return [*fixed, *items], None
    length, count = items.bounds[1], Const(len(left))
    check_number(ctx, length, len(fixed) + wording.count - len(plain), left, wording, takes_more)
    taken = [*fixed[: len(plain)], *(items.item(Const(k)) for k in range(len(left)))]
    if not takes_more:
        return taken, None
    over = rest.items
    if left:
        over = ctx.list_sharing(standing_for(ctx.call("list_slice", ctx.read(over), count, Const(None), Const(None)), list), over)
    return taken, in_one_tuple(ctx, [*fixed[len(plain) :], replace(rest, items=over)], rest.node)


def check_number(ctx: Lowering, length: Operand, fixed: int, left: list[str], wording: Wording, takes_more: bool) -> None:
    """Raise where a number of arguments, after ``fixed`` ones (with the instance), is not that of the parameters that are ``left``."""
    if not sees(ctx, TypeError) and fixed <= wording.count:
        said = f"{wording.name()}() takes {wording.count} positional arguments, and another number was given"
        fail_unless(ctx, ctx.call("greater_equal" if takes_more else "equal", length, Const(len(left))), TypeError, said)
        return
    for k in range(len(left)):
        fail_unless(ctx, ctx.call("not_equal", length, Const(k)), TypeError, wording.missing(left[k:]))
    if not takes_more:
        if not wording.count:
            fail_unless(ctx, ctx.call("not_equal", length, Const(1 - fixed)), TypeError, wording.excess(1))
        text = filled_in(ctx, wording.excess(None), ctx.call("add", length, Const(fixed)))
        fail_unless(ctx, ctx.call("less_equal", length, Const(wording.count - fixed)), TypeError, text)
