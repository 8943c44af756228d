"""Derivatives taken inside a function: ``grad(g)(x)`` becomes the IR of ``g``'s gradient, in place."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
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
from symgrad.ir.core import Apply, Block, Call, Const, Func, Op, Operand, Value, clone_block, substitute, walk
from symgrad.ir.types import Array, List, Scalar, Type, is_complex, is_float
from symgrad.ops.declare import CUTS, USER_ROWS


@dataclass(frozen=True, slots=True, eq=False)
class Derivative(Binding):
    """``grad(of, wrt)`` and its like, not called yet."""

    of: Binding
    what: str
    wrt: Any = None
    has_aux: bool = False
    no_grad: frozenset[str] = frozenset()
    uncut: bool = False  #: must the function leave its derivatives as they are?


def make_derivative(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.grad(g, wrt=...)`` inside a function."""
    wrt = kwargs.get("wrt", kwargs.get("argnums", args[1] if len(args) > 1 else Static(None)))
    known = set(kwargs) - {"wrt", "argnums", "has_aux", "allow_unused", "strict", "jit", *(("mode",) if what == "jacobian" else ())}
    if known:
        raise UnsupportedSyntax(f"{min(known)}= of {what} cannot be given inside a function that is differentiated", ctx.loc(node))
    if "strict" in kwargs and unwrap(kwargs["strict"]):
        raise UnsupportedSyntax(f"strict= of {what} cannot be given inside a function that is differentiated", ctx.loc(node))
    if "jit" in kwargs and unwrap(kwargs["jit"]):
        raise UnsupportedSyntax(f"jit= of {what} cannot be given inside a function that is differentiated", ctx.loc(node))
    if "mode" in kwargs and unwrap(kwargs["mode"]) not in ("auto", "reverse"):
        raise UnsupportedSyntax(f"mode={unwrap(kwargs['mode'])!r} cannot be given inside a function that is differentiated", ctx.loc(node))
    aux, no_grad = own_options(args[0], kwargs)
    if what == "hessian":
        return Derivative(Derivative(args[0], "grad", unwrap(wrt), aux, no_grad), "jacobian", unwrap(wrt), aux, no_grad)
    return Derivative(args[0], "jacobian" if what == "jacrev" else what, unwrap(wrt), aux, no_grad)


def own_options(of: Binding, kwargs: dict[str, Binding]) -> tuple[bool, frozenset[str]]:
    """``has_aux`` and ``no_grad`` of a derivative: a decorated function has options of its own."""
    state = getattr(of.value, "__symgrad__", None) if isinstance(of, Static) else None
    aux = bool(unwrap(kwargs["has_aux"])) if "has_aux" in kwargs else bool(getattr(state, "has_aux", False))
    return aux, frozenset(getattr(state, "no_grad", ()))


def make_product(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.hvp(g, x, v)`` inside a function: the gradient of the gradient, weighted by ``v``."""
    if len(args) != 3 or (unsaid := sorted({"has_aux", "no_grad", "jit"} & set(kwargs))):
        said = "without its arguments" if len(args) != 3 else f"with {unsaid[0]}="
        raise UnsupportedSyntax(f"{what} {said} inside a function that is differentiated", ctx.loc(node), f"write {what}(f, x, v)")
    of, passed, vector = args
    wrt = unwrap(kwargs["wrt"]) if "wrt" in kwargs else unwrap(kwargs["argnums"]) if "argnums" in kwargs else None
    keywords = {name: value for name, value in kwargs.items() if name not in ("wrt", "argnums", "verify")}
    gradient = Derivative(of, "grad", wrt, uncut=what == "hvp")
    held = list(passed.items) if isinstance(passed, Tup) else [passed]
    return call_derivative(ctx, Derivative(Seeded(gradient, vector), "grad", wrt), held, keywords, node)


class Directional(Derivative):
    """``jvp(of, ...)``, which is called with arguments and their tangents."""


@dataclass(frozen=True, slots=True, eq=False)
class Seeded(Binding):
    """``sum(seed * of(...))``, whose gradient is what a pullback gives."""

    of: Binding
    seed: Binding


@callee(Seeded)
def call_seeded(ctx: Lowering, held: Seeded, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return weighted(ctx, held.seed, ctx.apply(held.of, args, kwargs, node), node)


def weighted(ctx: Lowering, seed: Binding, out: Binding, node: ast.AST) -> Binding:
    """The sum of the elements of a result, weighted by a seed of the same structure."""
    parts, seeds = parts_of(ctx, out), parts_of(ctx, seed)
    if parts is not None:
        if seeds is None or [key for key, _ in parts] != [key for key, _ in seeds]:
            raise UnsupportedSyntax("the seed has another structure than the result", ctx.loc(node), "pass one seed for each result")
        terms = [weighted(ctx, one, part, node) for (_, part), (_, one) in zip(parts, seeds, strict=True) if holds_floats(ctx, part)]
        total: Binding = terms[0] if terms else Num(Const(0.0))
        for term in terms[1:]:
            total = binary(ctx, ast.Add, total, term, node)
        return total
    if is_complex(ctx.type_of(seed)) and not is_complex(ctx.type_of(out)):
        raise UnsupportedSyntax("a complex seed is given for a result that is real", ctx.loc(node), "take its real part")
    product = binary(ctx, ast.Mult, seed, out, node)
    product = product if isinstance(ctx.type_of(product), Scalar) else ctx.apply(Static(np.sum, "np.sum"), [product], {}, node)
    return Num(ctx.call("real", ctx.read(product, node))) if is_complex(ctx.type_of(product)) else product


def parts_of(ctx: Lowering, binding: Binding) -> list[tuple[Any, Binding]] | None:
    """The items of a container with their keys or places; None for what is not one."""
    match binding:
        case Tup(items):
            return list(enumerate(items))
        case Obj(key) if not isinstance(ctx.state.heap[key], Ref):
            return list(ctx.state.entries(key))
    return None


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


#: what makes the binding of a derivative that is asked for inside a function; all others are ``make_derivative``
DERIVING = {"vjp": make_pullback, "hvp": make_product, "vhp": make_product}


def holds_floats(ctx: Lowering, binding: Binding) -> bool:
    """Is there anything in an argument that may carry a derivative?"""
    match binding:
        case Num() | Ref():
            return is_float(ctx.type_of(binding))
        case Tup(items):
            return any(holds_floats(ctx, item) for item in items)
        case Obj(key) if not isinstance(ctx.state.heap[key], Ref):
            return any(holds_floats(ctx, item) for _, item in ctx.state.entries(key))
        case Obj(key) if isinstance(content := ctx.state.heap[key], Ref):
            return is_float(ctx.type_of(content))
        case Maybe(inner=inner):
            return holds_floats(ctx, inner)
    return False


def derivative_of(description: tuple[Any, str, Any, bool, frozenset[str]]) -> Binding:
    """The binding of a derived function made outside; ``description``: the function, which derivative, wrt, has_aux, no_grad."""
    of, what, wrt, has_aux, no_grad = description
    inner = getattr(of, "__symgrad_derivative__", None)
    function = Static(of) if inner is None else derivative_of(inner)
    kind = Directional if what == "jvp" else Derivative
    return function if what == "primal" else kind(function, what, wrt, has_aux, no_grad)


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
            case Obj(key) if isinstance(content := self.numbers(key), Ref):
                return self.listed(key, self.binding(content))
            case Maybe(present, inner, absent):
                return Maybe(present, self.binding(inner), absent)
        return old

    def listed(self, key: HeapKey, content: Binding) -> Obj:
        """A list of numbers of the class of another one."""
        assert isinstance(content, Ref)
        new_key = HeapKey(key.kind, key.cls, exact=key.exact, unordered=key.unordered)
        self.ctx.state.heap[new_key] = content
        return Obj(new_key)

    def numbers(self, key: HeapKey) -> Ref | None:
        """What a list of numbers holds, as one value; None for other objects."""
        content = self.ctx.state.heap[key]
        if not isinstance(content, Ref):
            return None
        type_ = self.ctx.type_of(content)
        return content if isinstance(type_, List) and is_float(type_) and not holds_parts(type_) else None

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
                is_made = key.kind != "record" or dataclasses.is_dataclass(key.cls)  # as that of an argument of the whole function
                return self.ctx.new_object(key.kind, content, key.cls if is_made else types.SimpleNamespace)
            case Obj(key) if self.numbers(key) is not None:
                return self.listed(key, self.ctx.make(grads.pop(0)))
            case Maybe(present, inner, absent):
                return Maybe(present, self.gradients(inner, grads), absent)
        return Static(None)


@callee(Derivative)
def call_derivative(ctx: Lowering, derivative: Derivative, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower the function on parameters of its own, differentiate it, and put the result here."""
    wrt = derivative.wrt if isinstance(derivative.wrt, tuple | list) else (0 if derivative.wrt is None else derivative.wrt,)
    inner = Inner(ctx, derivative, node)
    outs: list[Operand] = []
    matrices = derivative.what == "jacobian"
    makers: list[Callable[[Leaf], Binding]] = []

    def results_of(value: Binding, aux: Binding | None) -> None:
        makers.append(structure_of(ctx, value))
        outs.extend(ctx.read(leaf, node) for leaf in (float_leaves(ctx, value, node) if matrices else [value]))
        check_derivable(inner, outs, matrices)

    inner.enter(inner.places(wrt, args, kwargs), args, kwargs, results_of)
    if not isinstance(outs[0].type, Scalar) and (not isinstance(outs[0].type, Array) or outs[0].type.shape is None):
        inner.block.ops.append(Call([], ctx.loc(node), "check_result", [outs[0]], {"one": True}))
    func, held = inner.function(outs)
    active = list(range(len(outs)))
    adjoint = inner.derive(derivative.what, func, list(range(len(inner.fresh.pairs))), active, ctx.builder.taken)
    results = inline(ctx, adjoint, [*(o for _, o in inner.fresh.pairs), *held])
    several = isinstance(derivative.wrt, tuple | list)
    if matrices:
        return makers[0](lambda: structured(inner.fresh, inner.originals, results, several))
    keep = results[:1] if derivative.what == "value_and_grad" else []
    whole = structured(inner.fresh, inner.originals, results[len(keep) :], several)
    return Tup((ctx.make(keep[0]), whole)) if keep else whole


def check_derivable(inner: Inner, outs: list[Operand], matrices: bool) -> None:
    """Refuse results of a function of which no derivative of this kind is taken inside another one."""
    ctx, node = inner.ctx, inner.node
    if inner.derivative.uncut and any(isinstance(op, Call) and (op.name in CUTS or op.name in USER_ROWS) for op in walk(inner.block)):
        what = "the Hessian need not be symmetric: the function says derivatives of its own"
        raise UnsupportedSyntax(what, ctx.loc(node), "use vhp")
    if not matrices:
        (out,) = outs
        check_scalar(ctx, out, node)
        return
    check_matrices(ctx, outs, node)
    if not all(is_known(value.type) for value, _ in inner.fresh.pairs):
        what = "a Jacobian is taken with respect to what is no array of known rank, inside a function"
        raise UnsupportedSyntax(what, ctx.loc(node), "pass an array")


def structured(fresh: Fresh, originals: list[Binding], grads: list[Operand], several: bool) -> Binding:
    """The gradients in the structure of the arguments; they are taken off the front of a list."""
    parts = tuple(fresh.gradients(b, grads) for b in originals)
    return Tup(parts) if several else parts[0]


def float_leaves(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Binding]:
    """The numbers and arrays in a result."""
    parts = parts_of(ctx, binding)
    if parts is None:
        if not isinstance(binding, Num | Ref):
            raise NotScalar("the function differentiated here returns something that is no number and no array", ctx.loc(node))
        return [binding]
    return [leaf for _, part in parts for leaf in float_leaves(ctx, part, node)]


Leaf = Callable[[], Binding]


def structure_of(ctx: Lowering, binding: Binding) -> Callable[[Leaf], Binding]:
    """What makes the structure of a result anew, with something else in the place of each leaf; the result itself need not live on."""
    match binding:
        case Tup(items, kind):
            inner = [structure_of(ctx, item) for item in items]
            return lambda leaf: Tup(tuple(make(leaf) for make in inner), kind)
        case Obj(key) if not isinstance(ctx.state.heap[key], Ref):
            parts = [(k, structure_of(ctx, part)) for k, part in ctx.state.entries(key)]
            return lambda leaf: ctx.new_object(key.kind, [(k, make(leaf)) for k, make in parts], key.cls)
    return lambda leaf: leaf()


def is_known(type_: Type) -> bool:
    """Is it a number, or an array whose rank is known?"""
    return isinstance(type_, Scalar) or isinstance(type_, Array) and type_.shape is not None


def check_matrices(ctx: Lowering, outs: list[Operand], node: ast.AST) -> None:
    for type_ in (out.type for out in outs):
        if not is_known(type_) or not is_float(type_) or is_complex(type_):
            what = f"the function differentiated here returns {type_}: a Jacobian is of real numbers and of arrays whose rank is known"
            raise NotScalar(what, ctx.loc(node), "return arrays of floats")
    if not outs:
        raise NotScalar("the function differentiated here returns no number", ctx.loc(node))


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
