"""Functions lowered with parameters of their own, because another function takes a derivative of them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.abstraction import abstract_value
from symgrad.errors import BadArgument, UnsupportedSyntax
from symgrad.frontend.derivatives.inner_parts import Part, part_at, with_part
from symgrad.frontend.flow.entry_copies import copy_written
from symgrad.frontend.functions.adapters import adapted, is_adapted
from symgrad.frontend.functions.recursion import close_over, keep_arguments
from symgrad.frontend.objects.columns import split
from symgrad.frontend.objects.derived import STORAGE, storage_of
from symgrad.frontend.objects.outside import change_outside
from symgrad.frontend.objects.reading import from_class
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
    Partial,
    Ref,
    Static,
    Tup,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.tables import SPREAD
from symgrad.frontend.text.source import parameters
from symgrad.ir.core import Apply, Block, Func, Operand, Value, clone_block, substitute, walk
from symgrad.ir.types import Array, List, Type, holds_parts, is_float
from symgrad.ir.walks import free_values
from symgrad.ops.analysis.aliases import memory_groups, shares_of
from symgrad.ops.build import Builder
from symgrad.paths import belongs, spelled, steps_of
from symgrad.signature import Many, Tree, leaves_of
from symgrad.text import is_name


@dataclass(frozen=True, slots=True, eq=False)
class Derivative(Binding):
    """A call of ``grad(of, wrt)`` or another derivative, before its result is called."""

    of: Binding
    what: str
    wrt: Any = None
    has_aux: bool = False
    no_grad: frozenset[str] = frozenset()
    uncut: bool = False  #: whether the function must not cut or define derivatives itself
    holomorphic: bool = False  #: the complex derivative of a complex function


class Directional(Derivative):
    """``jvp(of, ...)``, which is called with arguments and their tangents."""


class Linearizing(Derivative):
    """``linearize(of, ...)``, which is called with arguments."""


class Pulling(Derivative):
    """``vjp(of, ...)``, which is called with arguments."""


class Multiplying(Derivative):
    """``hvp(of, ...)`` or ``vhp(of, ...)``, which is called with arguments and, by name, a vector."""


@dataclass(frozen=True, slots=True, eq=False)
class Seeded(Binding):
    """``sum(seed * of(...))``, whose gradient is the result of a pullback."""

    of: Binding
    seed: Binding
    has_aux: bool = False  #: whether the auxiliary results of ``of`` are those of the sum
    exact: bool = False  #: whether the seed has the shape of the result; else it is broadcast


def names_of(ctx: Lowering, of: Binding, node: ast.AST) -> list[str]:
    """The parameters of the differentiated function."""
    match of:
        case Fun(node=function):
            return parameters(function.args)
        case Static(value) if callable(value):
            return list(inspect.signature(adapted(value) if is_adapted(value) else value).parameters)
        case Derivative(of=inner) | Seeded(of=inner):
            return names_of(ctx, inner, node)
        case External(value):
            return list(inspect.signature(value).parameters)
        case Bound() | Obj() if (method := method_of(ctx, of)) is not None:
            return list(inspect.signature(method).parameters)[1:]
        case Partial(function=inner, args=args):
            return names_of(ctx, inner, node)[len(args) :]
        case Choice(then=then, orelse=orelse):
            names = names_of(ctx, then, node)
            return names if names == names_of(ctx, orelse, node) else []  # then only positions mean the same
    raise UnsupportedSyntax("this cannot be differentiated inside a function", ctx.loc(node), "pass a function")


def method_of(ctx: Lowering, of: Binding) -> types.FunctionType | None:
    """The function of a method, or of an instance that can be called."""
    match of:
        case Bound(function=types.FunctionType() as function):
            return function
        case Obj(key) if key.kind == "record" and isinstance(call := from_class(ctx, key.cls, "__call__"), types.FunctionType):
            return call
    return None


def receiver_of(ctx: Lowering, of: Binding) -> dict[str, Binding]:
    """The instance whose method is differentiated, also several times, under the name of the method's first parameter."""
    if isinstance(of, Derivative | Seeded):
        return receiver_of(ctx, of.of)
    function, owner = method_of(ctx, of), of.owner if isinstance(of, Bound) else of
    names = [] if function is None else list(inspect.signature(function).parameters)
    return {names[0]: owner} if names and isinstance(owner, Obj) else {}


def received(of: Binding, owner: Binding) -> Binding:
    """The method of another instance, as often differentiated."""
    if isinstance(of, Derivative | Seeded):
        return dataclasses.replace(of, of=received(of.of, owner))
    return dataclasses.replace(of, owner=owner) if isinstance(of, Bound) else owner


def follow(ctx: Lowering, held: External) -> None:
    """Restart where an outside container of floats is differentiated, or holds tangents, so that it is tracked like an argument.

    Raises UnsupportedSyntax if it cannot be tracked.
    """
    if not is_container_of_floats(held):
        return
    change_outside(ctx, held)
    what = f"a {type(held.value).__name__} from outside the function is used in a nested derivative, which is not supported"
    raise UnsupportedSyntax(what, ctx.builder.loc, "pass it as an argument of the function that is differentiated")


def is_container_of_floats(held: External) -> bool:
    """Whether an object from outside is a container or record that holds a float or a complex number."""
    known = abstract_value(held.value, "held", whole=False)
    return isinstance(known, Tree | Many) and any(is_float(leaf) for _, leaf in leaves_of("held", known) if isinstance(leaf, Type))


def parts_of(ctx: Lowering, binding: Binding) -> list[tuple[Any, Binding]] | None:
    """The items of a container with their keys; None for anything else."""
    binding = storage_of(ctx, binding) or binding
    match binding:
        case External():
            follow(ctx, binding)
        case Tup(items):
            return list(enumerate(items))
        case Obj(key) if not isinstance(ctx.state.heap[key], Ref):
            return list(ctx.state.entries(key))
    return None


def holds_floats(ctx: Lowering, binding: Binding) -> bool:
    """Whether a part of an argument may carry a derivative."""
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
        case External():
            return is_container_of_floats(binding)
    return False


def changes_around(before: State, after: State) -> bool:
    """Whether a variable or the content of an existing object has changed."""
    names = (name for name in before.names if name[0] is not None and name[1] not in ("stop", "exit"))
    rebound = any(after.names.get(name) != before.names[name] for name in names)
    return rebound or any(after.heap.get(key) != content for key, content in before.heap.items())


@dataclass(slots=True)
class Fresh:
    """Arguments replaced by parameters of the inner function; ``pairs`` maps the parameters to the replaced operands."""

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
            case Obj(key) if (storage := storage_of(self.ctx, old)) is not None:  # additional attributes are data
                entries = {**dict(self.ctx.state.entries(key)), STORAGE: self.binding(storage)}
                return self.ctx.new_object("record", entries.items(), key.cls)
            case Obj(key) if not isinstance(self.ctx.state.heap[key], Ref):
                new_key = HeapKey(key.kind, key.cls, exact=key.exact, unordered=key.unordered, sites=key.sites)
                self.ctx.state.heap[new_key] = tuple((k, self.binding(b)) for k, b in self.ctx.state.entries(key))
                return Obj(new_key)
            case Obj(key) if isinstance(content := self.numbers(key), Ref):
                return self.listed(key, self.binding(content))
            case Maybe(present, inner, absent):
                return Maybe(present, self.binding(inner), absent)
            case External():
                follow(self.ctx, old)
        return old

    def listed(self, key: HeapKey, content: Binding) -> Obj:
        """A list of numbers, of the class of another list."""
        assert isinstance(content, Ref)
        new_key = HeapKey(key.kind, key.cls, exact=key.exact, unordered=key.unordered, sites=key.sites)
        self.ctx.state.heap[new_key] = content
        return Obj(new_key)

    def numbers(self, key: HeapKey) -> Ref | None:
        """The content of a list of numbers, as one value; None for other objects."""
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
            case Obj() if (storage := storage_of(self.ctx, old)) is not None:
                return self.gradients(storage, grads)
            case Obj(key) if not isinstance(self.ctx.state.heap[key], Ref):
                content = [(k, self.gradients(b, grads)) for k, b in self.ctx.state.entries(key)]
                is_made = key.kind != "record" or dataclasses.is_dataclass(key.cls)  # as for an argument of the whole function
                return self.ctx.new_object(key.kind, content, key.cls if is_made else types.SimpleNamespace)
            case Obj(key) if self.numbers(key) is not None:
                return self.listed(key, self.ctx.make(grads.pop(0)))
            case Maybe(present, inner, absent):
                return Maybe(present, self.gradients(inner, grads), absent)
        return Static(None)


@dataclass(slots=True)
class Structure:
    """The structure of a result: its numbers and arrays, and a function that rebuilds it from others in their places."""

    outs: list[Operand]
    #: with bindings by place: None stands for a missing one and, unless it is to be kept, for
    #: anything but numbers and arrays
    rebuilt: Callable[[Lowering, Mapping[int, Binding], bool], Binding]
    is_whole: bool = True  #: whether it holds numbers and arrays only

    @classmethod
    def of(cls, ctx: Lowering, value: Binding, node: ast.AST) -> Structure:
        """Read a result in the state in which it was returned."""
        if isinstance(value, Tup):
            return cls.joined([cls.of(ctx, held, node) for held in value.items], lambda ctx, parts: Tup(tuple(parts), value.kind))
        if isinstance(value, Obj) and not isinstance(ctx.state.heap[value.key], Ref):
            entries, key = list(ctx.state.entries(value.key)), value.key
            parts = [cls.of(ctx, held, node) for _, held in entries]
            names = [name for name, _ in entries]
            return cls.joined(parts, lambda ctx, items: ctx.new_object(key.kind, list(zip(names, items, strict=True)), key.cls))
        if isinstance(value, Obj) and isinstance(content := Fresh(ctx).numbers(value.key), Ref):
            made_of = Fresh(ctx).listed
            return cls([ctx.read(content, node)], lambda ctx, leaves, keep: made_of(value.key, leaves[0]) if leaves else Static(None))
        if isinstance(value, Static):
            return cls([], lambda ctx, leaves, keep: value if keep else Static(None), False)
        if not isinstance(value, Num | Ref):
            raise UnsupportedSyntax("the function differentiated here may return values of several kinds", ctx.loc(node))
        return cls([ctx.read(value, node)], lambda ctx, leaves, keep: leaves.get(0, Static(None)))

    @classmethod
    def joined(cls, parts: list[Structure], make: Callable[[Lowering, list[Binding]], Binding]) -> Structure:
        """The structure of a container."""

        def rebuilt(ctx: Lowering, leaves: Mapping[int, Binding], keep: bool) -> Binding:
            items, first = [], 0
            for part in parts:
                mine = {k - first: leaf for k, leaf in leaves.items() if first <= k < first + len(part.outs)}
                items.append(part.rebuilt(ctx, mine, keep))
                first += len(part.outs)
            return make(ctx, items)

        return cls([out for part in parts for out in part.outs], rebuilt, all(part.is_whole for part in parts))


class Inner:
    """A function that is lowered with parameters of its own where a derivative of it is taken."""

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
        self.receiver = receiver_of(ctx, derivative.of)

    def places(self, wrt: Sequence[Any], args: list[Binding], kwargs: dict[str, Binding]) -> list[Any]:
        """The places of the arguments in ``wrt``: indices into ``args``, names in ``kwargs``, or parts of these."""
        names = names_of(self.ctx, self.derivative.of, self.node)
        kwargs = {**self.receiver, **kwargs}
        places: list[Any] = []
        wrt = [spelled(item) if isinstance(item, str) else item for item in wrt]
        for item in wrt:
            root, steps = (item, ()) if not isinstance(item, str) or is_name(item) else steps_of(item)
            place = names.index(root) if isinstance(root, str) and root in names and names.index(root) < len(args) else root
            if isinstance(place, int) and not place < len(args) or isinstance(place, str) and place not in kwargs:
                what = f"{self.derivative.what} inside this function: there is no argument {item!r}"
                raise BadArgument(what, self.ctx.loc(self.node), f"its arguments are {', '.join(names)}")
            places.append(Part(place, steps, item) if steps else place)
        texts = [item for item in wrt if isinstance(item, str)]
        if any(belongs(one, other) or belongs(other, one) for one, other in itertools.combinations(texts, 2)):
            raise BadArgument(f"wrt={wrt!r} names an argument or a part of it twice", self.ctx.loc(self.node))
        return places

    def held(self, place: Any, args: Sequence[Binding], kwargs: Mapping[str, Binding]) -> Binding:
        """The argument at a place."""
        root = place.root if isinstance(place, Part) else place
        whole = args[root] if isinstance(root, int) else kwargs[root] if root in kwargs else self.receiver[root]
        return part_at(self.ctx, whole, place, self.node, parts_of) if isinstance(place, Part) else whole

    def enter(
        self, places: list[Any], args: list[Binding], kwargs: dict[str, Binding], use: Callable[[Binding, Binding | None], None]
    ) -> None:
        """Lower the function with parameters for the arguments at ``places``; ``use`` gets the result and the auxiliary result."""
        ctx, node = self.ctx, self.node
        entry = ctx.state
        ctx.state = entry.copy()
        inner_args, inner_kwargs, of = list(args), {**self.receiver, **kwargs}, self.derivative.of
        for place in places:
            root = place.root if isinstance(place, Part) else place
            passed: Any = inner_args if isinstance(root, int) else inner_kwargs
            original = self.held(place, inner_args, inner_kwargs)
            self.originals.append(original)
            new = self.fresh.binding(original)
            passed[root] = with_part(ctx, passed[root], place.steps, new, parts_of) if isinstance(place, Part) else new
        for name in self.receiver:
            of = received(of, inner_kwargs.pop(name))
        SPREAD["unfollowed"](ctx)
        with ctx.inside(self.block):
            try:
                returned = ctx.apply(of, inner_args, inner_kwargs, node)
            except Raised:
                raise UnsupportedSyntax("the function differentiated here always raises", ctx.loc(node)) from None
            use(*self.with_aux(returned))
        if any(ctx.state.memory.get(k) is not v for k, v in entry.memory.items()):
            raise UnsupportedSyntax("a function that writes to outside memory cannot be differentiated inside another", ctx.loc(node))
        if changes_around(entry, ctx.state):
            what = "a function that assigns to an enclosing variable, or changes a list, dict or instance, is differentiated inside another"
            raise UnsupportedSyntax(what, ctx.loc(node), "return the value instead")
        ctx.state = entry

    def with_aux(self, returned: Binding) -> tuple[Binding, Binding | None]:
        """The differentiated part of a function's result, and the auxiliary part."""
        return pair_of(self.ctx, returned, self.node) if self.derivative.has_aux else (returned, None)

    def function(self, outs: list[Operand]) -> tuple[Func, list[Value]]:
        """The lowered function, of its parameters and its free values; and these values."""
        ctx, node, block = self.ctx, self.node, self.block
        block.yields = list(outs)
        close_over(ctx, block)
        keep_arguments(ctx)
        params = [v for v, _ in self.fresh.pairs]
        held = free_values(block, params)
        inside = {v: Value(v.type, v.name) for v in held}
        substitute(block, dict(inside))
        block.args = [*params, *inside.values()]
        if any(holds_parts(value.type) for value in block.args):
            raise UnsupportedSyntax(
                "a list of tuples or objects from outside cannot be read where a derivative is taken inside",
                ctx.loc(node),
                "build it in the function that is differentiated",
            )
        split(ctx.builder, block, [(value, "") for value in block.args], {})
        func = Func("inner", block, ["out"] if len(outs) == 1 else [], ctx.loc(node))
        copy_written(func, ctx.loc(node))
        return func, held


def pair_of(ctx: Lowering, returned: Binding, node: ast.AST) -> tuple[Binding, Binding]:
    """The two results of a function with ``has_aux=True``."""
    if isinstance(returned, Tup) and len(returned.items) == 2:
        return returned.items[0], returned.items[1]
    raise BadArgument("has_aux=True needs a function that returns (out, aux)", ctx.loc(node), "return a pair, or leave has_aux out")


def inline(ctx: Lowering, func: Func, operands: list[Operand]) -> list[Operand]:
    """Insert the ops of a function here, with these operands for its parameters."""
    table: dict[Value, Operand] = {}
    copy = clone_block(func.body, table)
    arguments = dict(zip(copy.args, operands, strict=True))
    copy.args = []
    substitute(copy, arguments)
    ctx.completed.update(op for op in walk(copy) if isinstance(op, Apply))
    ctx.builder.block.ops += copy.ops
    return list(copy.yields)


def unaliased_results(func: Func) -> Func:
    """Copy results of a function that may alias a parameter or another result, in place; return the function."""
    shares, groups = shares_of(func), memory_groups(func)
    seen: set[Value] = set()
    with (builder := Builder(func.body)).at(func.loc):
        for k, sources in enumerate(shares):
            out = func.body.yields[k]
            if isinstance(out, Value) and isinstance(out.type, Array | List):
                root = groups.find(out)
                if sources or root in seen:
                    func.body.yields[k] = builder.call("copy", out, hint=out.name)
                seen.add(root)
    return func
