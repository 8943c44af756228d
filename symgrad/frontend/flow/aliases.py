"""May-alias arrays: arrays that are one of several by path, and stores through them.

``State.bases`` holds, for each array or view that such an array may be, a bool that says whether it is. It is requested only after
lowering without it was refused: a function that later stores to neither of two arrays needs no test.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from symgrad.frontend.flow.flow import branch, choose
from symgrad.frontend.state.abstract_values import decided
from symgrad.frontend.state.bindings import Binding, Location, Ref, Step
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.reach import memory_held
from symgrad.frontend.state.tables import SPREAD
from symgrad.ir.core import FALSE, TRUE, Block, Const, If, Operand, Value
from symgrad.ir.types import join
from symgrad.tables import entered

Bases = list[tuple[Ref, Operand]]


def possible(ctx: Lowering, location: Location) -> Bases:
    """The arrays that an array may be on this path, each with the bool that says whether it is."""
    known = [(base, test, decided(test, ctx.state)) for base, test in ctx.state.bases[location].items()]
    sure = [(base, test) for base, test, is_it in known if is_it]
    return sure[:1] or [(base, test) for base, test, is_it in known if is_it is not False]


@entered(SPREAD, "stored")
def store_to_one(ctx: Lowering, ref: Ref, value: Operand, last: Step | None) -> None:
    """Store through a view to whichever array it is."""

    def stored(left: Bases) -> Callable[[], None]:
        (base, test), *others = left

        def there() -> None:
            ctx.store(Ref(base.location, (*base.path, *ref.path)), value, last)

        if not others:
            return there
        return lambda: void(branch(ctx, test, there, stored(others), [], ctx.builder.loc))

    stored(possible(ctx, ref.location))()


def void(_: bool) -> None:
    """A store is the last statement in its branch."""


@entered(SPREAD, "renewed")
def renew(ctx: Lowering, location: Location) -> None:
    """After a store to an array, update the arrays that may be that array; one without a reference must not be read again."""
    state = ctx.state
    aliases = [a for a, bases in state.bases.items() if a in state.memory and any(base.location is location for base in bases)]
    held = memory_held(state, (*ctx.arrays.values(), *ctx.owned.values())) if aliases else ()
    for alias in aliases:
        if alias in held or alias in state.stored_arrays:
            state.memory[alias] = version_of_one(ctx, possible(ctx, alias))
        else:
            state.stale.setdefault(alias, ctx.builder.loc)
        state.stored(alias, ctx.builder.loc)


def version_of_one(ctx: Lowering, left: Bases) -> Operand:
    """The content of whichever array it is."""
    (base, test), *others = left
    if not others or isinstance(test, Const):
        return ctx.seen(ctx.state.memory[base.location], base.path)
    there, inner = Block(), Block()
    with ctx.inside(there):
        own = ctx.seen(ctx.state.memory[base.location], base.path)
    with ctx.inside(inner):
        rest = version_of_one(ctx, others)
    there.yields, inner.yields = [own], [rest]
    out = Value(ctx.builder.freshen(join(own.type, rest.type)), base.location.name)
    ctx.builder.append(If([out], ctx.builder.loc, test, there, inner))
    return out


def is_one_of_several(ctx: Lowering, binding: Binding) -> bool:
    """Whether the arrays that the binding may be, by path, are known."""
    return isinstance(binding, Ref) and len(ctx.state.bases.get(binding.location, ())) > 1


def of_each(ctx: Lowering, binding: Binding, use: Callable[[Binding], Binding], node: ast.AST) -> Binding:
    """Apply ``use`` to whichever array it is, and join the results."""
    assert isinstance(binding, Ref)
    path = binding.path

    def of(left: Bases) -> Binding:
        (base, test), *others = left
        held = Ref(base.location, (*base.path, *path))
        return use(held) if not others else choose(ctx, test, node, lambda: use(held), lambda: of(others))

    return of(possible(ctx, binding.location))


def one_array(ctx: Lowering, one: Location, other: Location) -> Operand | None:
    """A bool that says whether a may-alias array is a given array; None where that is unknown."""
    if one is other or not (one in ctx.state.bases or other in ctx.state.bases):
        return None
    first, second = (dict(possible(ctx, x)) if x in ctx.state.bases else {Ref(x): TRUE} for x in (one, other))
    tests = [(first[base], second[base]) for base in first if base in second]
    if any(base.path for base in first if base in second):
        return None  # two views that show the same need not be one
    if len(tests) != 1 or all(test is not TRUE for test in tests[0]):
        return None if tests else FALSE
    return next((test for test in tests[0] if test is not TRUE), TRUE)


__all__ = ["is_one_of_several", "of_each", "one_array"]
