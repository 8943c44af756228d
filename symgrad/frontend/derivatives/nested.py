"""Derivatives taken inside a function: ``grad(g)(x)`` becomes the IR of ``g``'s gradient, inlined."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from symgrad.errors import BadArgument, NotScalar, UnsupportedSyntax
from symgrad.frontend.derivatives.inner import (
    Derivative,
    Directional,
    Fresh,
    Inner,
    Linearizing,
    Multiplying,
    Pulling,
    Seeded,
    Structure,
    holds_floats,
    inline,
    names_of,
    pair_of,
    parts_of,
    unaliased_results,
)
from symgrad.frontend.flow.edges import fail_unless
from symgrad.frontend.objects.operands import unwrap
from symgrad.frontend.state.bindings import (
    Binding,
    Bound,
    Choice,
    External,
    Fun,
    HeapKey,
    Location,
    Maybe,
    Num,
    Obj,
    OneOf,
    Partial,
    Ref,
    Static,
    Tup,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import callee
from symgrad.frontend.values.operators import binary
from symgrad.ir.core import Call, Const, Operand, walk
from symgrad.ir.types import Array, Scalar, Shape, Type, is_complex, is_float, same_extent
from symgrad.ops.declare import CUTS, USER_ROWS
from symgrad.text import has_literal, item

#: the function that computes a Jacobian in a mode
MODES = {"auto": "jacobian", "reverse": "jacrev", "forward": "jacfwd"}
#: keywords of matrices of derivatives, besides those of all derivatives
MATRIX_WORDS = {"jacobian": ("mode", "sparsity"), "hessian": ("mode", "sparsity")}
#: hints for options that are not supported inside a function
INSTEAD = {
    "sparsity": "leave it out: the matrix is an array then",
    "no_grad": "call symgrad.stop_gradient in the inner function",
    **dict.fromkeys(("jit", "verify", "strict", "checkpoints", "memory"), "leave it out here, and pass it to the outer derivative"),
}
#: derivatives that complex functions may have
OF_COMPLEX = ("grad", "value_and_grad", *MODES.values(), "hessian")


def make_derivative(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.grad(g, wrt=...)`` inside a function."""
    if not 1 <= len(args) <= 2:
        raise BadArgument(f"{what} takes a function and wrt, and {len(args)} arguments are passed", ctx.loc(node))
    wrt = kwargs.get("wrt", kwargs.get("argnums", args[1] if len(args) > 1 else Static(None)))
    known = set(kwargs) - {"wrt", "argnums", "has_aux", "allow_unused", "strict", "jit", *MATRIX_WORDS.get(what, ())}
    known -= {"holomorphic"} if what in OF_COMPLEX else set()
    if known:
        refuse_option(ctx, what, min(known), node)
    for word in ("strict", "jit"):
        if word in kwargs and unwrap(kwargs[word]):
            refuse_option(ctx, what, word, node)
    mode = unwrap(kwargs["mode"]) if "mode" in kwargs else "auto"
    if mode not in MODES:
        raise BadArgument(f"there is no mode {mode!r}", ctx.loc(node), 'mode is "auto", "reverse" or "forward"')
    if "sparsity" in kwargs and unwrap(kwargs["sparsity"]) is not None:
        refuse_option(ctx, what, "sparsity", node)
    aux, no_grad = own_options(args[0], kwargs)
    of, holomorphic = args[0], "holomorphic" in kwargs and bool(unwrap(kwargs["holomorphic"]))
    if what == "hessian":
        of = Derivative(of, "grad", unwrap(wrt), aux, no_grad, holomorphic=holomorphic)
    word = MODES[mode] if what in ("jacobian", "hessian") else what
    return Derivative(of, word, unwrap(wrt), aux, no_grad, holomorphic=holomorphic)


def refuse_option(ctx: Lowering, what: str, word: str, node: ast.AST) -> NoReturn:
    """Refuse an option that has no meaning where a derivative is taken inside a function."""
    message = f"{word}= of {what} cannot be given inside a function that is differentiated"
    raise UnsupportedSyntax(message, ctx.loc(node), INSTEAD.get(word, f"leave {word}= out"))


def own_options(of: Binding, kwargs: dict[str, Binding]) -> tuple[bool, frozenset[str]]:
    """``has_aux`` and ``no_grad`` of a derivative: a decorated function has options of its own."""
    state = getattr(of.value, "__symgrad__", None) if isinstance(of, Static) else None
    aux = bool(unwrap(kwargs["has_aux"])) if "has_aux" in kwargs else bool(getattr(state, "has_aux", False))
    return aux, frozenset(getattr(state, "no_grad", ()))


def make_product(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.hvp(g, x, v)`` inside a function, or ``symgrad.hvp(g)``, which is called later."""
    if unsaid := sorted({"no_grad", "jit", "verify"} & set(kwargs)):
        refuse_option(ctx, what, unsaid[0], node)
    of, *rest = args
    named = [name for name in ("args", "v")[len(rest) :] if name in kwargs]
    rest += [kwargs[name] for name in named]
    wrt = unwrap(kwargs["wrt"]) if "wrt" in kwargs else unwrap(kwargs["argnums"]) if "argnums" in kwargs else None
    keywords = {name: value for name, value in kwargs.items() if name not in ("wrt", "argnums", "has_aux", *named)}
    derivative = Multiplying(of, what, wrt, *own_options(of, kwargs))
    if not rest and not keywords:
        return derivative
    if len(rest) != 2:
        hint = f"{what}(f, x, v), or {what}(f) for a function of x and v"
        raise BadArgument(f"{what} takes the arguments and the vector", ctx.loc(node), hint)
    passed, vector = rest
    return product_of(ctx, derivative, list(passed.items) if isinstance(passed, Tup) else [passed], vector, keywords, node)


@callee(Multiplying)
def call_product(ctx: Lowering, derivative: Multiplying, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    taken = names_of(ctx, derivative.of, node)
    name = next(name for name in VECTORS if name not in taken)
    if name not in kwargs:
        raise BadArgument(f"{derivative.what} takes the vector by name", ctx.loc(node), f"pass it as {name}=")
    keywords = {word: value for word, value in kwargs.items() if word != name}
    return product_of(ctx, derivative, args, kwargs[name], keywords, node)


def product_of(
    ctx: Lowering, derivative: Multiplying, args: list[Binding], vector: Binding, kwargs: dict[str, Binding], node: ast.AST
) -> Binding:
    """The gradient of the gradient, weighted by the vector."""
    wrt, aux = derivative.wrt, derivative.has_aux
    gradient = Derivative(derivative.of, "grad", wrt, aux, derivative.no_grad, uncut=derivative.what == "hvp")
    return call_derivative(ctx, Derivative(Seeded(gradient, vector, aux, exact=True), "grad", wrt, aux), args, kwargs, node)


@callee(Seeded)
def call_seeded(ctx: Lowering, held: Seeded, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    returned = ctx.apply(held.of, args, kwargs, node)
    if not held.has_aux:
        return Weighing(ctx, held, node).weighted(held.seed, returned)
    out, aux = pair_of(ctx, returned, node)
    return Tup((Weighing(ctx, held, node).weighted(held.seed, out), aux))


@dataclass(slots=True)
class Reached:
    """Everything that a call can read: bindings, the content of objects, and of memory."""

    bindings: list[Binding] = field(default_factory=list)
    objects: dict[HeapKey, Any] = field(default_factory=dict)
    memory: dict[Location, Operand] = field(default_factory=dict)


def reached(ctx: Lowering, of: Binding, args: list[Binding], node: ast.AST) -> Reached:
    """Everything that a call of a function with these arguments can read, as it is now."""
    assigned = [ctx.state.names[key] for key in ctx.assigned_outside if key in ctx.state.names]
    result = Reached()
    pending, functions = [of, *args, *ctx.arrays.values(), *assigned], set()
    while pending:
        binding = pending.pop()
        result.bindings.append(binding)
        match binding:
            case Fun(node=function, frame=frame, attributes=attributes) if function not in functions:
                functions.add(function)
                pending += [] if attributes is None else [Obj(attributes)]
                names = sorted({n.id for n in ast.walk(function) if isinstance(n, ast.Name)})
                homes = [(ctx.home(name, frame), name) for name in names]
                pending += [ctx.state.names[home, name] for home, name in homes if (home, name) in ctx.state.names and home is not None]
            case Obj(key) if key not in result.objects:
                result.objects[key] = content = ctx.state.heap[key]
                pending += [content] if isinstance(content, Ref) else [item for _, item in content]
            case Tup(items):
                pending += items
            case Maybe(inner=inner):
                pending.append(inner)
            case Derivative(of=inner):
                pending.append(inner)
            case Seeded(of=inner, seed=seed):
                pending += [inner, seed]
            case Pullback(derivative=inner, args=passed, kwargs=named):
                pending += [inner, *passed, *(held for _, held in named)]
            case Partial(function=inner, args=passed, kwargs=named):
                pending += [inner, *passed, *(held for _, held in named)]
            case Bound(owner=owner):
                pending.append(owner)
            case Choice(then=then, orelse=orelse):
                pending += [then, orelse]
            case Ref(location):
                result.memory[location] = ctx.state.memory[location]
            case Fun() | Obj() | Num() | OneOf() | Static() | External():
                pass
            case _:
                raise UnsupportedSyntax("the values that this function of a vjp reads are not known", ctx.loc(node))
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Pullback(Binding):
    """The second result of ``vjp``: the derivative, the arguments, and everything that these reached then."""

    derivative: Pulling
    args: tuple[Binding, ...]
    kwargs: tuple[tuple[str, Binding], ...]
    reached: Reached


#: names of the vector in a product with a Hessian: the first that is no parameter of the function, as ``along.NAMES``
VECTORS = ("v", "vector", "direction", "weights")
#: options of ``vjp`` that have no meaning inside a function
UNSAID = ("strict", "no_grad", "jit", "verify", "checkpoints", "memory")


def make_pullback(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.vjp(g, x)`` inside a function."""
    keywords = {name: kwargs[name] for name in kwargs if name not in ("wrt", "argnums", "has_aux", *UNSAID)}
    if unsaid := sorted({*UNSAID} & set(kwargs)):
        refuse_option(ctx, what, unsaid[0], node)
    of, *rest = args
    if {"wrt", "argnums"} <= set(kwargs):
        raise UnsupportedSyntax("wrt and argnums are one argument under two names", ctx.loc(node), "give one of them")
    said = kwargs.get("wrt", kwargs.get("argnums"))
    return call_pulling(ctx, Pulling(of, what, None if said is None else unwrap(said), *own_options(of, kwargs)), rest, keywords, node)


@callee(Pulling)
def call_pulling(ctx: Lowering, derivative: Pulling, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The value, and a pullback that is differentiated when it is called."""
    of, wrt = derivative.of, derivative.wrt
    if wrt is None:
        wrt = tuple(k for k, a in enumerate(args) if holds_floats(ctx, a))
    before = reached(ctx, of, [*args, *kwargs.values()], node)
    value = ctx.apply(of, args, dict(kwargs), node)
    pullback = Pullback(replace(derivative, wrt=wrt), tuple(args), tuple(kwargs.items()), before)
    if not derivative.has_aux:
        return Tup((value, pullback))
    out, aux = pair_of(ctx, value, node)
    return Tup((out, pullback, aux))


@callee(Pullback)
def call_pullback(ctx: Lowering, pullback: Pullback, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if len(args) != 1 or kwargs:
        raise UnsupportedSyntax("a pullback takes one seed", ctx.loc(node), "pass it the seed, as in pullback(1.0)")
    asked = pullback.derivative
    if reached(ctx, asked.of, [*pullback.args, *dict(pullback.kwargs).values()], node) != pullback.reached:
        what = "a value that the function of a vjp reads has changed before its pullback was called"
        raise UnsupportedSyntax(what, ctx.loc(node), "pass a copy to vjp, and the changing value as an argument")
    derivative = Derivative(Seeded(asked.of, args[0], asked.has_aux), "grad", asked.wrt, asked.has_aux, asked.no_grad)
    whole = call_derivative(ctx, derivative, list(pullback.args), dict(pullback.kwargs), node)
    return whole.items[0] if isinstance(whole, Tup) and asked.has_aux else whole


#: constructors of the bindings of inner derivatives; all others are ``make_derivative``
DERIVING = {"vjp": make_pullback, "hvp": make_product, "vhp": make_product}


#: derivatives whose call differs from that of a gradient
CALLED_LATER: dict[str, type[Derivative]] = {"jvp": Directional, "linearize": Linearizing, "vjp": Pulling}


def derivative_of(description: tuple[Any, str, Any, bool, frozenset[str], bool]) -> Binding:
    """The binding of a derived function that was created outside; ``description`` is its ``__symgrad_derivative__``."""
    of, what, wrt, has_aux, no_grad, holomorphic = description
    inner = getattr(of, "__symgrad_derivative__", None)
    function = Static(of) if inner is None else derivative_of(inner)
    kind = CALLED_LATER.get(what, Derivative)
    return function if what == "primal" else kind(function, what, wrt, has_aux, no_grad, holomorphic=holomorphic)


@callee(Derivative)
def call_derivative(ctx: Lowering, derivative: Derivative, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower the function with parameters of its own, differentiate it, and inline the result."""
    wrt = derivative.wrt if isinstance(derivative.wrt, tuple | list) else (0 if derivative.wrt is None else derivative.wrt,)
    inner = Inner(ctx, derivative, node)
    outs: list[Operand] = []
    matrices = derivative.what in MODES.values()
    structures: list[Structure] = []

    def results_of(value: Binding, aux: Binding | None) -> None:
        if matrices:
            structures.append(structure := Structure.of(ctx, value, node))
            if not structure.is_whole:
                raise NotScalar("the function differentiated here returns something that is neither a number nor an array", ctx.loc(node))
        outs.extend(structures[0].outs if matrices else [ctx.read(value, node)])
        check_derivable(inner, outs, matrices)
        structures.extend([] if aux is None else [Structure.of(ctx, aux, node)])

    inner.enter(inner.places(wrt, args, kwargs), args, kwargs, results_of)
    if not isinstance(outs[0].type, Scalar) and (not isinstance(outs[0].type, Array) or outs[0].type.shape is None):
        inner.block.ops.append(Call([], ctx.loc(node), "check_result", [outs[0]], {"one": True}))
    auxiliary = structures.pop() if derivative.has_aux else None
    kept = [] if auxiliary is None else auxiliary.outs
    func, held = inner.function([*outs, *kept])
    func = unaliased_results(func) if kept else func
    active = list(range(len(outs)))
    wrt_places = list(range(len(inner.fresh.pairs)))
    adjoint = inner.derive(derivative.what, func, wrt_places, active, ctx.builder.taken, derivative.holomorphic)
    results = inline(ctx, adjoint, [*(o for _, o in inner.fresh.pairs), *held])
    if auxiliary is None:
        return derived_of(ctx, inner, results, structures)
    first = 1 if derivative.what == "value_and_grad" else 0
    values = {k: ctx.make(value) for k, value in enumerate(results[first : first + len(kept)])}
    whole = derived_of(ctx, inner, results[:first] + results[first + len(kept) :], structures)
    return joined_with(derivative.what, whole, auxiliary.rebuilt(ctx, values, True))


def derived_of(ctx: Lowering, inner: Inner, results: list[Operand], structures: list[Structure]) -> Binding:
    """The derivatives in the structure of the arguments; matrices in that of the results, from ``structures``, and of the arguments."""
    what, several = inner.derivative.what, isinstance(inner.derivative.wrt, tuple | list)
    if structures:
        leaves = {k: structured(inner.fresh, inner.originals, results, several) for k in range(len(structures[0].outs))}
        return structures[0].rebuilt(ctx, leaves, False)
    keep = results[:1] if what == "value_and_grad" else []
    whole = structured(inner.fresh, inner.originals, results[len(keep) :], several)
    return Tup((ctx.make(keep[0]), whole)) if keep else whole


def joined_with(what: str, whole: Binding, aux: Binding) -> Binding:
    """The result of a derivative with ``has_aux=True``."""
    if what != "value_and_grad":
        return Tup((whole, aux))
    assert isinstance(whole, Tup)
    value, gradient = whole.items
    return Tup((Tup((value, aux)), gradient))


def check_derivable(inner: Inner, outs: list[Operand], matrices: bool) -> None:
    """Refuse results of a function that have no derivative of this kind inside another function."""
    ctx, node = inner.ctx, inner.node
    if inner.derivative.uncut and any(isinstance(op, Call) and (op.name in CUTS or op.name in USER_ROWS) for op in walk(inner.block)):
        what = "the Hessian need not be symmetric: the function has custom derivatives"
        raise UnsupportedSyntax(what, ctx.loc(node), "use vhp")
    if inner.derivative.holomorphic:
        check_complex(inner, outs)
    if not matrices:
        (out,) = outs
        check_scalar(ctx, out, node, inner.derivative.holomorphic)
        return
    check_matrices(ctx, outs, node, inner.derivative.holomorphic)
    if not all(is_known(value.type) for value, _ in inner.fresh.pairs):
        what = "a nested Jacobian is taken with respect to a value that is not an array of known rank"
        raise UnsupportedSyntax(what, ctx.loc(node), "pass an array")


def structured(fresh: Fresh, originals: list[Binding], grads: list[Operand], several: bool) -> Binding:
    """The gradients in the structure of the arguments, taken from the front of ``grads``."""
    parts = tuple(fresh.gradients(b, grads) for b in originals)
    return Tup(parts) if several else parts[0]


def is_known(type_: Type) -> bool:
    """Whether the type is a number, or an array of known rank."""
    return isinstance(type_, Scalar) or isinstance(type_, Array) and type_.shape is not None


def check_complex(inner: Inner, outs: list[Operand]) -> None:
    """Check that a complex derivative has complex results and arguments."""
    ctx, node = inner.ctx, inner.node
    for type_ in (out.type for out in outs):
        if not is_complex(type_):
            what = f"the function differentiated here returns {type_}, and holomorphic=True is for functions that return a complex number"
            raise NotScalar(what, ctx.loc(node), "leave holomorphic out")
    if not all(is_complex(value.type) for value, _ in inner.fresh.pairs):
        raise BadArgument("an argument is real, and holomorphic=True is for complex arguments", ctx.loc(node), "add 0j to it")


def check_matrices(ctx: Lowering, outs: list[Operand], node: ast.AST, holomorphic: bool) -> None:
    for type_ in (out.type for out in outs):
        if not is_known(type_) or not is_float(type_) or is_complex(type_) and not holomorphic:
            what = f"the function differentiated here returns {type_}: a Jacobian is of real numbers and of arrays whose rank is known"
            raise NotScalar(what, ctx.loc(node), "return arrays of floats")
    if not outs:
        raise NotScalar("the function differentiated here does not return a number", ctx.loc(node))


def check_scalar(ctx: Lowering, out: Operand, node: ast.AST, holomorphic: bool) -> None:
    if isinstance(out.type, Array) and out.type.shape not in (None, ()) or not (out.type.is_number or not isinstance(out.type, Scalar)):
        raise NotScalar("the function differentiated here does not return one number", ctx.loc(node))
    if is_complex(out.type) and not holomorphic:
        raise NotScalar(
            "the function differentiated here is complex, and a gradient is of a real number",
            ctx.loc(node),
            "return its real part, or its absolute value, or pass holomorphic=True",
        )


# ------------------------------------------------------------------ seeds


class Weighing:
    """One call: a result and a seed; an ``exact`` seed is the vector of a product with a Hessian."""

    def __init__(self, ctx: Lowering, held: Seeded, node: ast.AST) -> None:
        self.ctx, self.exact, self.node = ctx, held.exact, node
        self.word, self.whole = ("the vector", "the gradient") if held.exact else ("the seed", "the result")

    def refuse(self, path: str, what: str, hint: str) -> NoReturn:
        raise BadArgument(f"{self.word}{path} {what}", self.ctx.loc(self.node), hint)

    def weighted(self, seed: Binding, out: Binding, path: str = "") -> Binding:
        """The sum of the elements of a result, weighted by a seed of the same structure; both are the parts at ``path``."""
        ctx, node = self.ctx, self.node
        parts, seeds = parts_of(ctx, out), parts_of(ctx, seed)
        if parts is None:
            return self.of_leaf(seed, out, path)
        if seeds is None or [key for key, _ in parts] != [key for key, _ in seeds]:
            self.refuse(path, f"has another structure than {self.whole}{path}", f"give it the form of {self.whole}")
        terms = [
            self.weighted(one, part, item(path, key) if has_literal(key) else path)
            for (key, part), (_, one) in zip(parts, seeds, strict=True)
            if holds_floats(ctx, part)
        ]
        total: Binding = terms[0] if terms else Num(Const(0.0))
        for term in terms[1:]:
            total = binary(ctx, ast.Add, total, term, node)
        return total

    def of_leaf(self, seed: Binding, out: Binding, path: str) -> Binding:
        """The same for one number or array."""
        ctx, node = self.ctx, self.node
        self.fit(seed, out, path)
        product = binary(ctx, ast.Mult, seed, out, node)
        product = product if isinstance(ctx.type_of(product), Scalar) else ctx.apply(Static(np.sum, "np.sum"), [product], {}, node)
        return Num(ctx.call("real", ctx.read(product, node))) if is_complex(ctx.type_of(product)) else product

    def fit(self, seed: Binding, out: Binding, path: str) -> None:
        """Refuse a seed that does not match a number or array, or emit a check of its shape."""
        have = self.ctx.type_of(seed) if isinstance(seed, Num | Ref) else None
        want = self.ctx.type_of(out)
        if have is None and not isinstance(seed, Static) and not self.exact:
            return  # a list, which arithmetic converts to an array
        if not isinstance(have, Scalar | Array):
            self.refuse(path, "is neither a number nor an array", f"pass {want}, as {self.whole}{path} is")
        if is_complex(have) and not is_complex(want):
            self.refuse(path, f"is complex, and {self.whole}{path} is real", "take its real part")
        shapes = shape_of(have), shape_of(want)
        if shapes[0] is not None and shapes[1] is not None:
            self.fit_shape(seed, out, shapes[0], shapes[1], path)

    def fit_shape(self, seed: Binding, out: Binding, have: Shape, want: Shape, path: str) -> None:
        """The same for the extents: equal, or, except for vectors, broadcastable to the result."""
        ctx = self.ctx
        if len(have) > len(want) or self.exact and len(have) != len(want):
            self.refuse(path, f"is {ctx.type_of(seed)}, and {self.whole}{path} is {ctx.type_of(out)}", f"give it the shape of {self.whole}")
        for axis, extent in enumerate(have):
            behind = axis + len(want) - len(have)
            if same_extent(extent, want[behind]) or extent == 1 and not self.exact:
                continue
            count = ctx.call("extent", ctx.read(seed, self.node), axis=axis)
            test = ctx.call("equal", count, ctx.call("extent", ctx.read(out, self.node), axis=behind))
            if not self.exact:
                test = ctx.call("logical_or", test, ctx.call("equal", count, Const(1)))
            fail_unless(ctx, test, ValueError, f"{self.word}{path} has another shape than {self.whole}{path}")


def shape_of(type_: Type) -> Shape | None:
    """The extents of a number or an array; None where its rank is unknown."""
    return type_.shape if isinstance(type_, Array) else () if isinstance(type_, Scalar) else None
