"""table: random numbers drawn in the function: the array or number that a draw returns, and draws that shift and scale another.

A draw runs once, in program order, as any opaque call does. ``normal(loc, scale)`` is ``loc + scale * standard_normal()``, number by
number, which defines its derivative (Kingma and Welling 2014).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.frontend.objects.opaque import GENERATORS, opaque, opaque_method
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import Binding, External, Num, Ref, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import held_items
from symgrad.frontend.state.tables import SPECIAL, special
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import Object, Scalar

#: draws: the names of the parameters, and the dtype of one number
DRAWS = (
    {
        name: (parameters, "f64")
        for parameters, names in {
            "size": "random random_sample standard_normal standard_exponential",
            "loc scale size": "normal laplace logistic gumbel",
            "low high size": "uniform",
            "scale size": "exponential rayleigh",
            "mean sigma size": "lognormal",
            "shape scale size": "gamma",
            "shape size": "standard_gamma",
            "a b size": "beta",
            "df size": "standard_t chisquare",
            "a size": "weibull",
        }.items()
        for name in names.split()
    }
    | dict.fromkeys(("integers", "randint"), ("low high size", "i64"))
    | {"poisson": ("lam size", "i64"), "binomial": ("n p size", "i64")}
)
#: draws whose arguments are the sizes
SPREAD = {"rand": "random_sample", "randn": "standard_normal"}
#: draws that shift and scale another one: which, and the defaults of the parameters
SCALED = {
    "normal": ("standard_normal", (0.0, 1.0)),
    "uniform": ("random", (0.0, 1.0)),
    "exponential": ("standard_exponential", (1.0,)),
    "lognormal": ("standard_normal", (0.0, 1.0)),
    **{name: (name, (0.0, 1.0)) for name in ("laplace", "logistic", "gumbel")},
    "rayleigh": ("rayleigh", (1.0,)),
}

#: calls a method of the generator with positional operands, and one named ``size``
Call = Callable[[str, list[Binding], dict[str, Binding]], Binding]


@special(np.random.default_rng, np.random.RandomState)
def generator(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A new generator."""
    kind = np.random.default_rng if isinstance(node, ast.Call) and _last(node.func) == "default_rng" else np.random.RandomState
    result = opaque(ctx, kind, f"np.random.{kind.__name__}", args, kwargs, node)
    return Num(ctx.call("generator", ctx.read(result, node)))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_generator(ctx: Lowering, owner: Binding) -> bool:
    """Whether the binding is a random generator."""
    if isinstance(owner, External | Static):
        return isinstance(owner.value, GENERATORS)
    return isinstance(owner, Num) and ctx.type_of(owner) == Object("generator")


def drawn(ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A method of a generator."""

    def call(method: str, arguments: list[Binding], named: dict[str, Binding]) -> Binding:
        return opaque_method(ctx, owner, method, arguments, named, node)

    return draw(ctx, call, name, args, kwargs, node)


def draw(ctx: Lowering, call: Call, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A draw of known form; any other call of a generator is opaque."""
    if name == "shuffle" and len(args) == 1 and not kwargs and isinstance(args[0], Ref):
        return shuffled(ctx, call, args[0], node)
    if name == "choice" and args and are_numbers(ctx, held_items(args[0], ctx.state) or []):
        args = [ctx.apply(Static(np.array, "np.array"), args[:1], {}, node), *args[1:]]
    if name == "permutation" and len(args) == 1 and not kwargs and getattr(ctx.type_of(args[0]), "rank", None):
        return permuted(ctx, call, args[0], node)
    if name == "permutation" and len(args) == 1 and not kwargs and extents_of(ctx, args[0]):
        return typed(ctx, call(name, args, {}), args, "i64", node)
    if name == "gamma" and is_computed(args[1:2] or [kwargs.get("scale")]):
        scale = args[1] if len(args) > 1 else kwargs["scale"]
        rest = [*args[:1], *args[2:]]
        base = draw(ctx, call, "standard_gamma", rest, {word: b for word, b in kwargs.items() if word != "scale"}, node)
        return ctx.apply(Static(np.multiply, "np.multiply"), [scale, base], {}, node)
    if name == "multivariate_normal" and len(args) > 1 and getattr(ctx.type_of(args[0]), "rank", None) and set(kwargs) <= {"size"}:
        return moved(ctx, call, args, kwargs, node)
    if name == "choice" and args and getattr(ctx.type_of(args[0]), "rank", None) == 1:
        return chosen(ctx, call, args, kwargs, node)
    if name in SPREAD:
        result = call(name, args, kwargs)
        return typed(ctx, result, list(args), "f64", node) if not kwargs else result
    names, dtype = DRAWS.get(name, ("", ""))
    arguments = dict(zip(names.split(), args, strict=False)) | kwargs
    if not names or len(args) > len(names.split()) or set(arguments) - set(names.split()):
        return call(name, args, kwargs)
    size = arguments.pop("size", Static(None))
    extents = extents_of(ctx, size)
    numbers = all(isinstance(b, Num) and isinstance(b.operand.type, Scalar) for b in arguments.values())
    if extents is None or size == Static(None) and not numbers:
        return call(name, args, kwargs)
    if name not in SCALED:
        return typed(ctx, call(name, args, kwargs), extents, dtype, node)
    standard, defaults = SCALED[name]
    sized = {} if size == Static(None) else {"size": size}
    drawn_ = call(standard, [], sized) if standard == name else call(standard, [*sized.values()], {})
    base = typed(ctx, drawn_, extents, dtype, node)
    first, *second = [arguments.get(n, Num(Const(d))) for n, d in zip(names.split(), defaults, strict=False)]
    return scaled(ctx, name, base, first, second, node)


def chosen(ctx: Lowering, call: Call, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``choice`` from a vector draws the choice of its indices."""
    count = Num(ctx.call("extent", ctx.read(args[0], node), axis=0))
    places = call("choice", [count, *args[1:]], kwargs)
    extents = extents_of(ctx, args[1] if len(args) > 1 else kwargs.get("size", Static(None)))
    if extents is not None:
        places = typed(ctx, places, extents, "i64", node)
    return ctx.apply(Static(np.take, "np.take"), [args[0], places], {}, node)


def are_numbers(ctx: Lowering, items: list[Any]) -> bool:
    """Whether the items are numbers, at least one."""
    return bool(items) and all(isinstance(ctx.type_of(item), Scalar) for item in items)


def is_computed(bindings: list[Any]) -> bool:
    """Whether an argument is dynamic."""
    return any(b is not None and not known_value(b) for b in bindings)


def moved(ctx: Lowering, call: Call, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``multivariate_normal(mean, cov)`` is the mean plus a draw about zeros."""
    centre = ctx.apply(Static(np.zeros_like, "np.zeros_like"), args[:1], {}, node)
    base = call("multivariate_normal", [centre, *args[1:]], kwargs)
    extents = extents_of(ctx, args[2] if len(args) > 2 else kwargs.get("size", Static(None)))
    if extents is not None:
        base = typed(ctx, base, [*extents, Num(ctx.call("extent", ctx.read(args[0], node), axis=0))], "f64", node)
    return ctx.apply(Static(np.add, "np.add"), [base, args[0]], {}, node)


def permuted(ctx: Lowering, call: Call, target: Binding, node: ast.AST) -> Binding:
    """``permutation`` of an array draws the permutation of its indices."""
    count = Num(ctx.call("extent", ctx.read(target, node), axis=0))
    order = typed(ctx, call("permutation", [count], {}), [count], "i64", node)
    return ctx.make(ctx.call("take", ctx.read(target, node), ctx.read(order, node), index="i"))


def shuffled(ctx: Lowering, call: Call, target: Ref, node: ast.AST) -> Binding:
    """``shuffle`` draws the ``permutation`` of the indices."""
    count = Num(ctx.call("extent", ctx.read(target, node), axis=0))
    order = typed(ctx, call("permutation", [count], {}), [count], "i64", node)
    ctx.store(target, ctx.call("take", ctx.read(target, node), ctx.read(order, node), index="i"))
    return Static(None)


def scaled(ctx: Lowering, name: str, base: Binding, first: Binding, second: list[Binding], node: ast.AST) -> Binding:
    """The draw of a name, computed from the standard one."""

    def on(row: str, a: Binding, b: Binding) -> Binding:
        return ctx.make(ctx.call(row, ctx.read(a, node), ctx.read(b, node)))

    if name in ("exponential", "rayleigh"):
        return on("multiply", first, base)
    (other,) = second
    width = on("subtract", other, first) if name == "uniform" else other
    moved = on("add", first, on("multiply", width, base))
    return ctx.make(ctx.call("exp", ctx.read(moved, node))) if name == "lognormal" else moved


def extents_of(ctx: Lowering, size: Binding) -> list[Binding] | None:
    """The extents of a size: empty for a number, None if they are not known to be integers."""
    if size == Static(None):
        return []
    items = held_items(size, ctx.state)
    extents = [size] if items is None else items
    whole = all(isinstance(b, Num) and isinstance(b.operand.type, Scalar) and b.operand.type.kind == "int" for b in extents)
    return extents if whole else None


def typed(ctx: Lowering, value: Binding, extents: list[Binding], dtype: str, node: ast.AST) -> Binding:
    """A drawn value, with its type."""
    operands: list[Operand] = [ctx.read(e, node) for e in extents]
    return ctx.make(ctx.call("drawn", ctx.read(value, node), *operands, dtype=dtype))


def _of_the_module(name: str) -> Any:
    def lower(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
        def call(method: str, arguments: list[Binding], named: dict[str, Binding]) -> Binding:
            return opaque(ctx, getattr(np.random, method), f"np.random.{method}", arguments, named, node)

        return draw(ctx, call, name, args, kwargs, node)

    return lower


for _name in (*DRAWS, *SPREAD, "shuffle", "choice", "permutation", "multivariate_normal"):
    if hasattr(np.random, _name):
        SPECIAL[getattr(np.random, _name)] = _of_the_module(_name)
