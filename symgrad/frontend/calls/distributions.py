"""Distributions of ``scipy.stats``: their functions are compositions of ops; calling a distribution fixes its parameters."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from symgrad.errors import UnknownFunction, UnsupportedArgument
from symgrad.frontend.objects.opaque import is_read, opaque, opaque_method
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.outside import item_text, outside, rely_on_keys
from symgrad.frontend.state.bindings import Binding, External, Frozen, Num, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import callee
from symgrad.ir.core import ZERO, Const
from symgrad.ops.composed import laws, positional
from symgrad.ops.composed.distributions import (
    DISTRIBUTIONS,
    FREE,
    POSITIVE,
    RAISED,
    WITHOUT_LOGARITHM,
    has_formula,
    is_datum,
    is_method,
    method_of,
    name_of,
    of_name,
    raised,
    sound,
    sound_proportion,
)
from symgrad.ops.composed.sequences import in_double
from symgrad.ops.shapes import dtype_of

__all__ = ["call_distribution", "distribution_of"]

#: classes of distributions with parameters
WITH_PARAMETERS = ("rv_continuous_frozen", "rv_discrete_frozen", "rv_frozen")


def distribution_of(ctx: Lowering, owner: Binding) -> Frozen | None:
    """The distribution that a binding's value is, with its parameters; None for all other values."""
    if isinstance(owner, Frozen):
        return owner
    if not isinstance(owner, External | Static):
        return None
    name = name_of(owner.value)
    return with_parameters(ctx, owner) if name is None else Frozen(name)


def with_parameters(ctx: Lowering, owner: External | Static) -> Frozen | None:
    """A distribution from outside that was created with parameters, which are read at each call."""
    value = owner.value
    is_one = type(value).__name__ in WITH_PARAMETERS and type(value).__module__.startswith("scipy.stats.")
    name = name_of(value.dist) if is_one else None
    if name is None:
        return None
    text: str = owner.text  # type: ignore[union-attr]  # it has attributes, so that it is no ``Static``
    ctx.rely(text, type(value), "type")
    ctx.rely(f"{text}.dist", value.dist)
    ctx.rely(f"{text}.args", len(value.args), "len")
    rely_on_keys(ctx, value.kwds, f"{text}.kwds")
    args = tuple(outside(ctx, held, f"{text}.args[{k}]", f"parameter_{k}") for k, held in enumerate(value.args))
    return Frozen(
        name, args, tuple((word, outside(ctx, held, item_text(ctx, f"{text}.kwds", word), word)) for word, held in value.kwds.items())
    )


@callee(Frozen)
def freeze(ctx: Lowering, held: Frozen, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``norm(loc, scale)``."""
    return Frozen(held.distribution, (*held.args, *args), (*held.kwargs, *kwargs.items()))


def call_distribution(ctx: Lowering, held: Frozen, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``norm.pdf(x, loc, scale)``, ``norm(loc, scale).pdf(x)``."""
    known = DISTRIBUTIONS.get(held.distribution, {})
    arguments = [*args[:1], *held.args, *args[1:]] if args else list(held.args)
    named = dict(held.kwargs) | kwargs
    if name in known:
        arguments, named = checked(ctx, known[name], name, arguments, named, node)
        return ctx.apply(Static(known[name]), arguments, named, node)
    if RAISED.get(name) in known:
        arguments, named = checked(ctx, known[RAISED[name]], RAISED[name], arguments, named, node)
        logarithm = ctx.apply(Static(known[RAISED[name]]), arguments, named, node)
        return ctx.apply(Static(raised), [logarithm], {}, node)
    if (by_formula := call_formula(ctx, held.distribution, name, arguments, named, node)) is not None:
        return by_formula
    if is_method(law := of_name(held.distribution), name):  # ``rvs``, ``fit`` and others, called opaquely
        if not held.args and not held.kwargs:
            return opaque(ctx, method_of(law, name), name, args, kwargs, node)
        frozen = opaque(ctx, law, held.distribution, list(held.args), dict(held.kwargs), node)
        return opaque_method(ctx, frozen, name, args, kwargs, node)
    raise UnknownFunction(f"scipy.stats.{held.distribution}.{name} has no rule", ctx.loc(node), name=name, known=[*known, *RAISED])


def call_formula(
    ctx: Lowering, distribution: str, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding | None:
    """A function of a distribution by SciPy's own formula, if it is differentiable; None where there is no such function.

    A function without a differentiable formula is opaque, like all library functions without a row.
    """
    law = of_name(distribution)
    is_of_counts = is_method(law, "pmf")
    of_points, of_laws = (laws.COUNTS_OF_POINTS, laws.COUNTS_OF_LAWS) if is_of_counts else (laws.OF_POINTS, laws.OF_LAWS)
    if name not in of_points and name not in of_laws or not is_method(law, "_parse_args") or not has_formula(law, name):
        return None
    method = method_of(law, name)
    if not is_read(ctx, method.__func__):
        return opaque(ctx, method, name, args, kwargs, node)
    words = [*(["x"] if name in of_points else []), *((law.shapes or "").replace(",", " ").split()), "loc"]
    bound = bound_to(ctx, [*words, *([] if is_of_counts else ["scale"])], args, kwargs, f"{distribution}.{name}", node)
    point = [bound.pop("x")] if name in of_points else []
    location, scale = bound.pop("loc", Num(ZERO)), bound.pop("scale", Num(Const(1)))
    width = [] if is_of_counts else [positive(ctx, scale, node)]
    operands = [Static(law, distribution), *point, Tup(tuple(bound[word] for word in words if word in bound)), location, *width]
    return ctx.apply(Static((of_points | of_laws)[name]), operands, {}, node)


def bound_to(
    ctx: Lowering, words: list[str], args: list[Binding], kwargs: dict[str, Binding], name: str, node: ast.AST
) -> dict[str, Binding]:
    """The arguments of a distribution's function by their names; any other argument is refused."""
    optional = inspect.Parameter.empty
    parameters = [
        inspect.Parameter(word, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=0 if word in ("loc", "scale") else optional)
        for word in words
    ]
    # SciPy names the point k for a distribution of counts, and q for a proportion
    other = [word for word in ("k", "q") if "x" in words and word not in words]
    named = {"x" if word in other else word: held for word, held in kwargs.items()}
    try:
        return dict(inspect.Signature(parameters).bind(*args, **named).arguments)
    except TypeError as error:
        hint = f"call it as {name}({', '.join(words)})"
        raise UnsupportedArgument(f"scipy.stats.{name}: {error}", ctx.loc(node), hint) from None


def positive(ctx: Lowering, held: Binding, node: ast.AST) -> Binding:
    """A parameter that must be positive, replaced by nan where it is not."""
    known = known_value(held)
    if known and isinstance(known[0], int | float) and known[0] > 0:
        return held
    return ctx.apply(Static(sound), [held], {}, node)


def checked(
    ctx: Lowering, function: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> tuple[list[Binding], dict[str, Binding]]:
    """The arguments of a distribution's function, with nan for invalid parameters where their validity is not static."""

    def one(word: str, held: Binding) -> Binding:
        known = known_value(held)
        if isinstance(held, Num | Ref) and dtype_of(ctx.type_of(held)) in ("f16", "f32"):  # SciPy computes in double precision
            held = ctx.apply(Static(in_double), [held], {}, node)
        if word == "p" and not (known and isinstance(known[0], int | float) and 0 <= known[0] <= 1):
            return ctx.apply(Static(sound_proportion), [held], {}, node)
        asked = word in POSITIVE and function not in FREE or word == "scale" and name in WITHOUT_LOGARITHM
        return positive(ctx, held, node) if asked else held

    words = positional(function) or ()
    first = [one(word, held) for word, held in zip(words, args, strict=False)]
    return [*first, *args[len(first) :]], {word: one(word, held) for word, held in kwargs.items()}


def is_function_of_distribution(ctx: Lowering, owner: External | Static | Frozen, attr: str) -> bool:
    """Whether the attribute is a public method of a SciPy distribution. Its formulas read its other attributes."""
    is_seen = isinstance(owner, Frozen) or not is_datum(owner.value, attr)
    return is_seen and not attr.startswith("_") and distribution_of(ctx, owner) is not None
