"""Directional derivatives taken inside a function: ``jvp(g, (x,), (v,))`` becomes the IR of ``g`` with its tangents, inlined."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import BadArgument, UnsupportedSyntax
from symgrad.frontend.constructs.targets import unpack
from symgrad.frontend.derivatives.inner import (
    Directional,
    Inner,
    Linearizing,
    Structure,
    holds_floats,
    inline,
    pair_of,
    parts_of,
    unaliased_results,
)
from symgrad.frontend.derivatives.inner_parts import Part
from symgrad.frontend.derivatives.nested import Reached, own_options, reached, refuse_option
from symgrad.frontend.flow.edges import check_count
from symgrad.frontend.objects.operands import unwrap
from symgrad.frontend.state.bindings import Binding, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import is_long
from symgrad.frontend.state.tables import callee
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import Array, Scalar, is_complex, is_float, same_extent, same_shape
from symgrad.text import has_literal, item

#: keywords of ``jvp`` itself; others are arguments of the function
OWN = ("wrt", "argnums", "has_aux", "strict", "no_grad", "jit", "verify")


def make_directional(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.jvp(g, primals, tangents)`` inside a function, or ``symgrad.jvp(g)``, which is called later."""
    if unsaid := sorted({"strict", "no_grad", "jit", "verify"} & set(kwargs)):
        refuse_option(ctx, what, unsaid[0], node)
    if not args:
        raise BadArgument(f"{what} inside this function is called without a function", ctx.loc(node))
    of, *rest = args
    aux, no_grad = own_options(of, kwargs)
    wrt = unwrap(kwargs.get("wrt", kwargs.get("argnums", Static(None))))
    derivative = Directional(of, what, wrt, aux, no_grad)
    keywords = {name: value for name, value in kwargs.items() if name not in OWN}
    return call_directional(ctx, derivative, rest, keywords, node) if rest or keywords else derivative


@callee(Directional)
def call_directional(ctx: Lowering, derivative: Directional, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower the function with parameters of its own, and inline it here with its tangents."""
    pairs = [*args, *(kwargs.pop(name) for name in ("primals", "tangents")[len(args) :] if name in kwargs)]
    if len(pairs) != 2:
        raise BadArgument("jvp takes the arguments and their tangents, as two tuples", ctx.loc(node), "jvp(f, (x, w), (dx, dw))")
    primals, tangents = (items_of(ctx, pair, node) for pair in pairs)
    inner = Inner(ctx, derivative, node)
    places = places_of(inner, primals, tangents, kwargs)
    directions = Directions(ctx, node)
    for place, tangent in zip(places, tangents, strict=True):
        directions.enter(place.text if isinstance(place, Part) else str(place), inner.held(place, primals, kwargs), tangent)
    active = [place for place in places if holds_floats(ctx, inner.held(place, primals, kwargs))]
    if not active:
        raise BadArgument("no argument of the function of a jvp holds floats", ctx.loc(node))
    shape: list[Structure] = []

    def results_of(value: Binding, aux: Binding | None) -> None:
        shape.extend(Structure.of(ctx, part, node) for part in (value, aux) if part is not None)

    inner.enter(active, primals, kwargs, results_of)
    structure, *auxiliary = shape
    func, held = inner.function([out for part in shape for out in part.outs])
    carrying = [k for k, out in enumerate(structure.outs) if is_float(out.type)]
    if not carrying:
        raise UnsupportedSyntax("the function of a jvp returns nothing that has a tangent", ctx.loc(node))
    count = len(func.body.yields)
    forward = inner.derive("jvp", unaliased_results(func), list(range(len(inner.fresh.pairs))), carrying, ctx.builder.taken)
    results = inline(ctx, forward, [*(o for _, o in inner.fresh.pairs), *held, *directions.operands])
    values = {k: ctx.make(value) for k, value in enumerate(results[:count])}
    tangents_of = {k: ctx.make(tangent) for k, tangent in zip(carrying, results[count:], strict=True)}
    whole = [structure.rebuilt(ctx, values, True), structure.rebuilt(ctx, tangents_of, False)]
    behind = {k - len(structure.outs): value for k, value in values.items() if k >= len(structure.outs)}
    return Tup((*whole, *(part.rebuilt(ctx, behind, True) for part in auxiliary)))


@dataclass(frozen=True, slots=True, eq=False)
class Linear(Binding):
    """The second result of ``linearize``: the directional derivative, the arguments, and everything these reached then."""

    derivative: Directional
    args: tuple[Binding, ...]
    kwargs: tuple[tuple[str, Binding], ...]
    reached: Reached


def make_linear(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.linearize(g, x)`` inside a function, or ``symgrad.linearize(g)``, which is called later."""
    of, *rest = args
    keywords = {name: value for name, value in kwargs.items() if name not in OWN}
    asked = make_directional(ctx, what, [of], {name: value for name, value in kwargs.items() if name in OWN}, node)
    assert isinstance(asked, Directional)
    derivative = Linearizing(of, what, asked.wrt, asked.has_aux, asked.no_grad)
    return call_linearizing(ctx, derivative, rest, keywords, node) if rest or keywords else derivative


@callee(Linearizing)
def call_linearizing(ctx: Lowering, derivative: Linearizing, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The value, and a linear function that is lowered when it is called."""
    before = reached(ctx, derivative.of, [*args, *kwargs.values()], node)
    value = ctx.apply(derivative.of, args, dict(kwargs), node)
    along = Directional(derivative.of, derivative.what, derivative.wrt, derivative.has_aux, derivative.no_grad)
    linear = Linear(along, tuple(args), tuple(kwargs.items()), before)
    if not derivative.has_aux:
        return Tup((value, linear))
    out, aux = pair_of(ctx, value, node)
    return Tup((out, linear, aux))


@callee(Linear)
def call_linear(ctx: Lowering, linear: Linear, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if kwargs:
        raise UnsupportedSyntax("a linear function takes its tangents in order", ctx.loc(node))
    if reached(ctx, linear.derivative.of, [*linear.args, *dict(linear.kwargs).values()], node) != linear.reached:
        what = "a value that the function of a linearize reads has changed before its linear function was called"
        raise UnsupportedSyntax(what, ctx.loc(node), "pass a copy to linearize, and the changing value as an argument")
    both = call_directional(ctx, linear.derivative, [Tup(linear.args), Tup(tuple(args))], dict(linear.kwargs), node)
    assert isinstance(both, Tup)
    return both.items[1]


def items_of(ctx: Lowering, pair: Binding, node: ast.AST) -> list[Binding]:
    """The arguments, or the tangents, of a jvp."""
    if isinstance(pair, Tup):
        return list(pair.items)
    if isinstance(pair, Obj) and pair.key.kind == "list" and not isinstance(ctx.state.heap[pair.key], Ref):
        return [held for _, held in ctx.state.entries(pair.key)]
    raise BadArgument("the arguments and the tangents of a jvp are tuples", ctx.loc(node), "jvp(f, (x,), (dx,))")


def places_of(inner: Inner, primals: list[Binding], tangents: list[Binding], kwargs: dict[str, Binding]) -> list[Any]:
    """The argument of each tangent."""
    wrt = inner.derivative.wrt
    places = list(range(len(primals)))
    if wrt is not None:
        places = inner.places(wrt if isinstance(wrt, tuple | list) else (wrt,), primals, kwargs)
    if len(places) != len(tangents):
        what = f"{len(tangents)} tangents are passed for {len(places)} arguments"
        raise BadArgument(what, inner.ctx.loc(inner.node), "pass one for each, None for those without floats")
    return places


@dataclass(slots=True)
class Directions:
    """The tangents of the floats in some arguments, in the order of their parameters in ``Fresh``."""

    ctx: Lowering
    node: ast.AST
    operands: list[Operand] = field(default_factory=list)

    def enter(self, path: str, primal: Binding, tangent: Binding) -> None:
        """Traverse an argument and its tangent together."""
        if isinstance(primal, Num | Ref) and is_float(self.ctx.type_of(primal)):
            self.operands.append(self.fitted(path, self.ctx.read(primal, self.node), self.ctx.read(tangent, self.node)))
            return
        if isinstance(primal, Obj) and isinstance(held := self.ctx.state.heap[primal.key], Ref) and is_float(self.ctx.type_of(held)):
            self.operands.append(self.of_list(path, held, tangent))
            return
        parts, others = parts_of(self.ctx, primal), parts_of(self.ctx, tangent)
        if parts is not None and others is None and is_long(tangent, self.ctx.state):
            items = unpack(self.ctx, tangent, [ast.Name(f"item_{k}", ast.Store()) for k in range(len(parts))], self.node)
            others = [(key, item) for (key, _), item in zip(parts, items, strict=True)]
        if parts is None or not holds_floats(self.ctx, primal):
            if not (isinstance(tangent, Static) and tangent.value is None) and others is None:
                self.refuse(f"argument {path} of a jvp holds no floats, and has no tangent", "pass None as its tangent")
            return
        if others is None or [key for key, _ in parts] != [key for key, _ in others]:
            self.refuse(f"the tangent of argument {path} of a jvp has another structure", "give it the form of its argument")
            return
        for (key, part), (_, other) in zip(parts, others, strict=True):
            self.enter(item(path, key) if has_literal(key) else path, part, other)

    def of_list(self, path: str, primal: Ref, tangent: Binding) -> Operand:
        """The tangent of a list of any length: a list of the same length."""
        content = self.ctx.state.heap[tangent.key] if isinstance(tangent, Obj) else None
        if not isinstance(content, Ref) or not is_float(self.ctx.type_of(content)):
            what = f"argument {path} of a jvp is a list of any length, and its tangent is not a list of floats of any length"
            raise UnsupportedSyntax(what, self.ctx.loc(self.node), "make both arrays with np.array")
        listed, whole = self.ctx.read(content, self.node), self.ctx.read(primal, self.node)
        lengths = self.ctx.call("list_len", listed), self.ctx.call("list_len", whole)
        check_count(self.ctx, *lengths, f"the tangent of argument {path} of a jvp has another length than its argument")
        return listed

    def fitted(self, path: str, primal: Operand, tangent: Operand) -> Operand:
        """A tangent converted to the form of its argument."""
        have, want = tangent.type, primal.type
        if isinstance(want, Scalar) and isinstance(have, Scalar) and (is_complex(want) or not is_complex(have)):
            if isinstance(tangent, Const):
                return Const(complex(tangent.value) if want.kind == "complex" else float(tangent.value))
            return tangent if have.kind == want.kind else self.ctx.call("number", tangent, kind=want.kind)
        if isinstance(want, Array) and isinstance(have, Array):
            dtypes = have.dtype, want.dtype
            ranks = None if have.shape is None or want.shape is None else (len(have.shape), len(want.shape))
            if None not in dtypes and dtypes[0] != dtypes[1] or ranks is not None and ranks[0] != ranks[1]:
                self.refuse(f"the tangent of argument {path} of a jvp is {have}, not {want}", "give it the shape and dtype of its argument")
            if same_shape(have.shape, want.shape):
                return tangent
            return self.checked(path, tangent, primal)
        if type(have) is type(want):
            return tangent
        self.refuse(f"the tangent of argument {path} of a jvp is {have}, not {want}", "give it the shape and dtype of its argument")
        raise AssertionError

    def checked(self, path: str, tangent: Operand, primal: Operand) -> Operand:
        """A tangent with a run-time check that it has the shape of its argument."""
        have, want = tangent.type, primal.type
        assert isinstance(have, Array)
        assert isinstance(want, Array)
        for axis, (one, other) in enumerate(zip(have.shape or (), want.shape or (), strict=False)):
            if not same_extent(one, other):
                count, expected = (self.ctx.call("extent", operand, axis=axis) for operand in (tangent, primal))
                check_count(self.ctx, count, expected, f"the tangent of argument {path} of a jvp has another shape than its argument")
        return self.ctx.call("reshape", tangent, self.ctx.call("shape_of", primal))

    def refuse(self, what: str, hint: str) -> None:
        raise BadArgument(what, self.ctx.loc(self.node), hint)


__all__ = ["Directional", "make_directional", "make_linear"]
