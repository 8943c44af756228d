"""Derivatives taken inside a function: ``grad(g)(x)`` becomes the IR of ``g``'s gradient, in place."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.errors import BadArgument, NotScalar, UnsupportedSyntax
from symgrad.frontend.adapters import adapted, is_adapted
from symgrad.frontend.bindings import Binding, External, Fun, HeapKey, Location, Maybe, Num, Obj, OneOf, Ref, State, Static, Tup
from symgrad.frontend.columns import holds_parts, split
from symgrad.frontend.context import Lowering
from symgrad.frontend.interruptions import Raised
from symgrad.frontend.memory_groups import copy_written
from symgrad.frontend.operands import unwrap
from symgrad.frontend.operators import binary
from symgrad.frontend.recursion import close
from symgrad.frontend.scopes import parameters
from symgrad.frontend.tables import SPREAD, callee
from symgrad.ir.core import Apply, Block, Call, Func, Op, Operand, Value, clone_block, substitute, walk
from symgrad.ir.types import Array, Scalar, is_complex, is_float


@dataclass(frozen=True, slots=True, eq=False)
class Derivative(Binding):
    """``grad(of, wrt)`` and its like, not called yet."""

    of: Binding
    what: str
    wrt: Any = None
    has_aux: bool = False
    no_grad: frozenset[str] = frozenset()


def make_derivative(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.grad(g, wrt=...)`` inside a function."""
    wrt = kwargs.get("wrt", kwargs.get("argnums", args[1] if len(args) > 1 else Static(None)))
    known = set(kwargs) - {"wrt", "argnums", "has_aux", "allow_unused", "strict", "jit"}
    if known:
        raise UnsupportedSyntax(f"{min(known)}= of {what} cannot be given inside a function that is differentiated", ctx.loc(node))
    if "strict" in kwargs and unwrap(kwargs["strict"]):
        raise UnsupportedSyntax(f"strict= of {what} cannot be given inside a function that is differentiated", ctx.loc(node))
    if "jit" in kwargs and unwrap(kwargs["jit"]):
        raise UnsupportedSyntax(f"jit= of {what} cannot be given inside a function that is differentiated", ctx.loc(node))
    aux, no_grad = own_options(args[0], kwargs)
    return Derivative(args[0], what, unwrap(wrt), aux, no_grad)


def own_options(of: Binding, kwargs: dict[str, Binding]) -> tuple[bool, frozenset[str]]:
    """``has_aux`` and ``no_grad`` of a derivative: a decorated function has options of its own."""
    state = getattr(of.value, "__symgrad__", None) if isinstance(of, Static) else None
    aux = bool(unwrap(kwargs["has_aux"])) if "has_aux" in kwargs else bool(getattr(state, "has_aux", False))
    return aux, frozenset(getattr(state, "no_grad", ()))


class Directional(Derivative):
    """``jvp(of, ...)``, which is called with arguments and their tangents."""


@dataclass(frozen=True, slots=True, eq=False)
class Seeded(Binding):
    """``sum(seed * of(...))``, whose gradient is what a pullback gives."""

    of: Binding
    seed: Binding


@callee(Seeded)
def call_seeded(ctx: Lowering, held: Seeded, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    out = ctx.apply(held.of, args, kwargs, node)
    if is_complex(ctx.type_of(held.seed)) and not is_complex(ctx.type_of(out)):
        raise UnsupportedSyntax("a complex seed is given for a result that is real", ctx.loc(node), "take its real part")
    product = binary(ctx, ast.Mult, held.seed, out, node)
    product = product if isinstance(ctx.type_of(product), Scalar) else ctx.apply(Static(np.sum, "np.sum"), [product], {}, node)
    return Num(ctx.call("real", ctx.read(product, node))) if is_complex(ctx.type_of(product)) else product


@dataclass(slots=True)
class Reached:
    """What a call can read: bindings, the content of objects, and of memory."""

    bindings: list[Binding] = field(default_factory=list)
    objects: dict[HeapKey, Any] = field(default_factory=dict)
    memory: dict[Location, Operand] = field(default_factory=dict)


def changes_around(before: State, after: State) -> bool:
    """Is a variable bound to something else, or does an object that was there hold something else?"""
    names = (name for name in before.names if name[0] is not None and name[1] not in ("stop", "exit"))
    rebound = any(after.names.get(name) != before.names[name] for name in names)
    return rebound or any(after.heap.get(key) != content for key, content in before.heap.items())


def reached(ctx: Lowering, of: Binding, args: list[Binding], node: ast.AST) -> Reached:
    """All that a call of a function with these arguments can read, as it is now."""
    assigned = [ctx.state.names[key] for key in ctx.global_sources if key in ctx.state.names]
    result = Reached()
    pending, functions = [of, *args, *ctx.arrays.values(), *assigned], set()
    while pending:
        binding = pending.pop()
        result.bindings.append(binding)
        match binding:
            case Fun(node=function, frame=frame) if function not in functions:
                functions.add(function)
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
            case Ref(location):
                result.memory[location] = ctx.state.memory[location]
            case Fun() | Obj() | Num() | OneOf() | Static() | External():
                pass
            case _:
                raise UnsupportedSyntax("what this function of a vjp reads is not known", ctx.loc(node))
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Pullback(Binding):
    """The second of what ``vjp`` gives: the function, the arguments, and all that these reached then."""

    of: Binding
    args: tuple[Binding, ...]
    kwargs: tuple[tuple[str, Binding], ...]
    wrt: Any
    reached: Reached


def make_pullback(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.vjp(g, x)`` inside a function: the value, and a pullback that is differentiated when it is called."""
    keywords = {name: kwargs[name] for name in kwargs if name not in ("wrt", "has_aux", "strict", "no_grad", "jit")}
    if unsaid := sorted({"has_aux", "strict", "no_grad", "jit"} & set(kwargs)):
        raise UnsupportedSyntax(f"{unsaid[0]}= of {what} cannot be given inside a function that is differentiated", ctx.loc(node))
    of, *rest = args
    wrt = unwrap(kwargs["wrt"]) if "wrt" in kwargs else tuple(k for k, a in enumerate(rest) if holds_floats(ctx, a))
    before = reached(ctx, of, [*rest, *keywords.values()], node)
    value = ctx.apply(of, rest, dict(keywords), node)
    if not isinstance(value, Num | Ref):
        raise UnsupportedSyntax("vjp of a function that returns more than one value, inside another function", ctx.loc(node))
    return Tup((value, Pullback(of, tuple(rest), tuple(keywords.items()), wrt, before)))


@callee(Pullback)
def call_pullback(ctx: Lowering, pullback: Pullback, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if len(args) != 1 or kwargs:
        raise UnsupportedSyntax("a pullback takes one seed", ctx.loc(node))
    if reached(ctx, pullback.of, [*pullback.args, *dict(pullback.kwargs).values()], node) != pullback.reached:
        what = "what the function of a vjp reads has changed before its pullback was called"
        raise UnsupportedSyntax(what, ctx.loc(node), "pass a copy to vjp, and what changes as an argument")
    derivative = Derivative(Seeded(pullback.of, args[0]), "grad", pullback.wrt)
    return call_derivative(ctx, derivative, list(pullback.args), dict(pullback.kwargs), node)


def holds_floats(ctx: Lowering, binding: Binding) -> bool:
    """Is there anything in an argument that may carry a derivative?"""
    match binding:
        case Num() | Ref():
            return is_float(ctx.type_of(binding))
        case Tup(items):
            return any(holds_floats(ctx, item) for item in items)
        case Obj(key) if not isinstance(ctx.state.heap[key], Ref):
            return any(holds_floats(ctx, item) for _, item in ctx.state.entries(key))
        case Maybe(inner=inner):
            return holds_floats(ctx, inner)
    return False


def derivative_of(description: tuple[Any, str, Any, bool, frozenset[str]]) -> Derivative:
    """The binding of a derived function made outside; ``description``: the function, which derivative, wrt, has_aux, no_grad."""
    of, what, wrt, has_aux, no_grad = description
    inner = getattr(of, "__symgrad_derivative__", None)
    kind = Directional if what == "jvp" else Derivative
    return kind(Static(of) if inner is None else derivative_of(inner), what, wrt, has_aux, no_grad)


def names_of(ctx: Lowering, of: Binding, node: ast.AST) -> list[str]:
    """The parameters of what is differentiated."""
    match of:
        case Fun(node=function):
            return parameters(function.args)
        case Static(value) if callable(value):
            return list(inspect.signature(adapted(value) if is_adapted(value) else value).parameters)
        case Derivative(of=inner) | Seeded(of=inner):
            return names_of(ctx, inner, node)
        case External(value):
            return list(inspect.signature(value).parameters)
    raise UnsupportedSyntax("this cannot be differentiated inside a function", ctx.loc(node), "pass a function")


@dataclass(slots=True)
class Fresh:
    """Arguments replaced by parameters of the inner function; ``pairs`` remembers what they stand for."""

    ctx: Lowering
    pairs: list[tuple[Value, Operand]] = field(default_factory=list)

    def binding(self, old: Binding) -> Binding:
        match old:
            case Num(operand) if is_float(operand.type):
                return Num(self.param(operand))
            case Ref() if is_float(self.ctx.type_of(old)):
                location = Location(old.location.name, self.ctx.builder.loc)
                self.ctx.state.memory[location] = self.param(self.ctx.read(old))
                return Ref(location)
            case Tup(items, kind):
                return Tup(tuple(map(self.binding, items)), kind)
            case Obj(key) if not isinstance(self.ctx.state.heap[key], Ref):
                new_key = HeapKey(key.kind, key.cls, exact=key.exact, unordered=key.unordered)
                self.ctx.state.heap[new_key] = tuple((k, self.binding(b)) for k, b in self.ctx.state.entries(key))
                return Obj(new_key)
            case Maybe(present, inner, absent):
                return Maybe(present, self.binding(inner), absent)
        return old

    def param(self, operand: Operand) -> Value:
        value = Value(operand.type, operand.name if isinstance(operand, Value) else None)
        self.pairs.append((value, operand))
        return value

    def gradients(self, old: Binding, grads: list[Operand]) -> Binding:
        """The gradient in the structure of an argument."""
        match old:
            case Num(operand) if is_float(operand.type):
                return self.ctx.make(grads.pop(0))
            case Ref() if is_float(self.ctx.type_of(old)):
                return self.ctx.make(grads.pop(0))
            case Tup(items, kind):
                return Tup(tuple(self.gradients(i, grads) for i in items), kind)
            case Obj(key) if not isinstance(self.ctx.state.heap[key], Ref):
                content = [(k, self.gradients(b, grads)) for k, b in self.ctx.state.entries(key)]
                return self.ctx.new_object(key.kind, content, key.cls)
            case Maybe(present, inner, absent):
                return Maybe(present, self.gradients(inner, grads), absent)
        return Static(None)


@callee(Derivative)
def call_derivative(ctx: Lowering, derivative: Derivative, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower the function on parameters of its own, differentiate it, and put the result here."""
    wrt = derivative.wrt if isinstance(derivative.wrt, tuple | list) else (0 if derivative.wrt is None else derivative.wrt,)
    inner = Inner(ctx, derivative, node)
    outs: list[Operand] = []

    def number(value: Binding, aux: Binding | None) -> None:
        outs.append(out := ctx.read(value, node))
        check_scalar(ctx, out, node)

    inner.enter(inner.places(wrt, args, kwargs), args, kwargs, number)
    if not isinstance(outs[0].type, Scalar) and (not isinstance(outs[0].type, Array) or outs[0].type.shape is None):
        inner.block.ops.append(Call([], ctx.loc(node), "check_result", outs, {"one": True}))
    func, held = inner.function(outs)
    adjoint = inner.derive(derivative.what, func, list(range(len(inner.fresh.pairs))), [0], ctx.builder.taken)
    results = inline(ctx, adjoint, [*(o for _, o in inner.fresh.pairs), *held])
    keep = results[:1] if derivative.what == "value_and_grad" else []
    grads = results[len(keep) :]
    structured = [inner.fresh.gradients(b, grads) for b in inner.originals]
    whole: Binding = Tup(tuple(structured)) if isinstance(derivative.wrt, tuple | list) else structured[0]
    return Tup((ctx.make(keep[0]), whole)) if keep else whole


class Inner:
    """A function that is lowered on parameters of its own where a derivative of it is taken."""

    def __init__(self, ctx: Lowering, derivative: Derivative, node: ast.AST) -> None:
        if ctx.derive is None:
            raise UnsupportedSyntax("a derivative inside a function cannot be taken here", ctx.loc(node))
        if derivative.no_grad:
            what = f"a derivative with no_grad={sorted(derivative.no_grad)} cannot be taken inside a function that is differentiated"
            raise UnsupportedSyntax(what, ctx.loc(node), "call stop_gradient in the inner function")
        self.ctx, self.derivative, self.node = ctx, derivative, node
        self.derive: Any = ctx.derive
        self.fresh, self.block = Fresh(ctx), Block()
        self.originals: list[Binding] = []

    def places(self, wrt: Sequence[Any], args: list[Binding], kwargs: dict[str, Binding]) -> list[Any]:
        """Where the arguments in ``wrt`` are: places among ``args``, or names among ``kwargs``."""
        names = names_of(self.ctx, self.derivative.of, self.node)
        places: list[Any] = []
        for item in wrt:
            place = names.index(item) if isinstance(item, str) and item in names and names.index(item) < len(args) else item
            if isinstance(place, int) and not place < len(args) or isinstance(place, str) and place not in kwargs:
                raise BadArgument(f"{self.derivative.what} inside this function: there is no argument {item!r}", self.ctx.loc(self.node))
            places.append(place)
        return places

    def enter(self, places: list[Any], args: list[Binding], kwargs: dict[str, Binding],
              use: Callable[[Binding, Binding | None], None]) -> None:  # fmt: skip
        """Lower the function on parameters in the place of the arguments at ``places``; ``use`` takes the result, and what is auxiliary."""
        ctx, node = self.ctx, self.node
        entry = ctx.state
        ctx.state = entry.copy()
        inner_args, inner_kwargs = list(args), dict(kwargs)
        for place in places:
            held: Any = inner_args if isinstance(place, int) else inner_kwargs
            self.originals.append(held[place])
            held[place] = self.fresh.binding(held[place])
        SPREAD["unfollowed"](ctx)
        with ctx.inside(self.block):
            try:
                returned = ctx.apply(self.derivative.of, inner_args, inner_kwargs, node)
            except Raised:
                raise UnsupportedSyntax("the function differentiated here always raises", ctx.loc(node)) from None
            value, aux = returned.items if isinstance(returned, Tup) and self.derivative.has_aux else (returned, None)
            use(value, aux)
        if any(ctx.state.memory.get(k) is not v for k, v in entry.memory.items()) or aux is not None:
            raise UnsupportedSyntax("a function that writes to outside memory cannot be differentiated inside another", ctx.loc(node))
        if changes_around(entry, ctx.state):
            what = "a function that assigns to a variable around it, or changes a list, dict or instance, is differentiated inside another"
            raise UnsupportedSyntax(what, ctx.loc(node), "return the value instead")
        ctx.state = entry

    def function(self, outs: list[Operand]) -> tuple[Func, list[Value]]:
        """What was lowered as a function of its parameters and of all that it reads from around it, which is the second result."""
        ctx, node, block = self.ctx, self.node, self.block
        block.yields = list(outs)
        close(ctx, block)
        params = [v for v, _ in self.fresh.pairs]
        held = free_values(block, params)
        inside = {v: Value(v.type, v.name) for v in held}
        substitute(block, dict(inside))
        block.args = [*params, *inside.values()]
        if any(holds_parts(value.type) for value in block.args):
            raise UnsupportedSyntax("a list of tuples or objects from outside cannot be read where a derivative is taken inside",
                                    ctx.loc(node), "build it in the function that is differentiated")  # fmt: skip
        split(ctx.builder, block, [(value, "") for value in block.args], {})
        func = Func("inner", block, ["out"] if len(outs) == 1 else [], ctx.loc(node))
        copy_written(func, ctx.loc(node))
        return func, held


def check_scalar(ctx: Lowering, out: Operand, node: ast.AST) -> None:
    if isinstance(out.type, Array) and out.type.shape not in (None, ()) or not (out.type.is_number or not isinstance(out.type, Scalar)):
        raise NotScalar("the function differentiated here does not return one number", ctx.loc(node))
    if is_complex(out.type):
        raise NotScalar("the function differentiated here is complex, and a gradient is of a real number", ctx.loc(node),
                        "return its real part, or its absolute value")  # fmt: skip


def inline(ctx: Lowering, func: Func, operands: list[Operand]) -> list[Operand]:
    """Put the ops of a function here, its parameters being these operands."""
    table: dict[Value, Operand] = {}
    copy = clone_block(func.body, table)
    arguments = dict(zip(copy.args, operands, strict=True))
    copy.args = []
    substitute(copy, arguments)
    ctx.completed.update(op for op in walk(copy) if isinstance(op, Apply))
    ctx.builder.block.ops += copy.ops
    return list(copy.yields)


def free_values(block: Block, params: list[Value]) -> list[Value]:
    """The values that a block reads and does not define, in order; ``params`` count as defined."""
    defined = set(params)
    free: dict[Value, None] = {}

    def visit(inner: Block) -> None:
        defined.update(inner.args)
        for op in inner.ops:
            read(op)
            for child in op.blocks:
                visit(child)
            defined.update(op.outs)
        note(inner.yields)

    def read(op: Op) -> None:
        note(op.operands)

    def note(operands: list[Operand]) -> None:
        free.update(dict.fromkeys(o for o in operands if isinstance(o, Value) and o not in defined))

    visit(block)
    return list(free)
