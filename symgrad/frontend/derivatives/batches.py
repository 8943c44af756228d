"""Calls of a function over a batch: ``vmap(f)(x)`` becomes a loop over the examples, in which ``f`` is lowered.

The result arrays are allocated before the loop if their shapes are known there; other results are
collected in a list and stacked after the loop.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import BadArgument, SymgradError, UnsupportedSyntax
from symgrad.frontend.derivatives.batch_results import Form, FormOf, place_along, result_arrays
from symgrad.frontend.derivatives.inner import names_of
from symgrad.frontend.derivatives.nested import refuse_option
from symgrad.frontend.flow.filling import extent_of
from symgrad.frontend.flow.flow import counted, loop_key
from symgrad.frontend.memory.loads import load_array
from symgrad.frontend.objects.operands import unwrap
from symgrad.frontend.objects.outside import entries_of, outside
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.abstract_values import resolved_by_paths
from symgrad.frontend.state.bindings import Binding, External, HeapKey, Name, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.pinning import pinned
from symgrad.frontend.state.program_state import is_long
from symgrad.frontend.state.tables import callee
from symgrad.ir.core import ONE, ZERO, Block, Const, Operand
from symgrad.ir.types import Array, Scalar
from symgrad.ops.composed import batches
from symgrad.runtime.batches import NO_AXES, Axes, Batch, axes_of_keys, check_axis, part_word, places_of


@dataclass(frozen=True, slots=True, eq=False)
class Batched(Binding):
    """``vmap(of, in_axes, out_axes)``, before its call."""

    of: Binding
    in_axes: Axes
    out_axes: Axes
    parameters: tuple[inspect.Parameter, ...]
    name: str


#: the positional parameters of ``vmap``
POSITIONAL = ("function", "in_axes", "out_axes")

# ------------------------------------------------------------------ the callee


def make_batched(ctx: Lowering, what: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``symgrad.vmap(f, in_axes=..., out_axes=...)`` inside a function."""
    if not 1 <= len(args) <= len(POSITIONAL):
        raise BadArgument(f"vmap takes a function, in_axes and out_axes, and {len(args)} arguments are passed", ctx.loc(node))
    bound = dict(zip(POSITIONAL, args, strict=False)) | kwargs
    for unsaid in sorted(set(bound) - {*POSITIONAL}):
        refuse_option(ctx, what, unsaid, node)
    of = bound["function"]
    in_axes, out_axes = (python_value(ctx, bound[word], node) if word in bound else 0 for word in ("in_axes", "out_axes"))
    return Batched(of, in_axes, out_axes, parameters_of(ctx, of, node), spoken(of))


def batched_of(ctx: Lowering, batch: Batch) -> Binding:
    """A function over a batch that was created outside."""
    name = str(getattr(batch.function, "__name__", "function"))
    of = outside(ctx, batch.function, f"{owner_name(ctx, batch, 'batch')}.function", name)
    return Batched(of, batch.in_axes, batch.out_axes, batch.parameters, name)


def python_value(ctx: Lowering, binding: Binding, node: ast.AST) -> Any:
    """Axes that are written inside the function, as Python data."""
    if isinstance(binding, External):
        return binding.value
    if isinstance(binding, Obj) and binding.key.kind in ("list", "dict") and not is_long(binding, ctx.state):
        items = {key: python_value(ctx, item, node) for key, item in ctx.state.entries(binding.key)}
        return items if binding.key.kind == "dict" else list(items.values())
    if isinstance(binding, Tup):
        return tuple(python_value(ctx, item, node) for item in binding.items)
    if isinstance(binding, Obj) and binding.key.kind == "record" and binding.key.cls is not None:
        record = object.__new__(binding.key.cls)
        for name, item in ctx.state.entries(binding.key):
            object.__setattr__(record, name, python_value(ctx, item, node))
        return record
    try:
        return unwrap(binding)
    except SymgradError:
        refusal = UnsupportedSyntax("the axes of vmap must be known at compile time", ctx.loc(node), "write them as literals")
        raise pinned(ctx, refusal, [binding]) from None


def parameters_of(ctx: Lowering, of: Binding, node: ast.AST) -> tuple[inspect.Parameter, ...]:
    """The parameters of the function called for each example, as far as they are known."""
    if isinstance(of, Batched):
        return of.parameters
    try:
        names = names_of(ctx, of, node)
    except (SymgradError, ValueError, TypeError):
        return ()
    return tuple(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names)


def spoken(of: Binding) -> str:
    """The name of a function in messages."""
    return str(getattr(getattr(of, "value", None), "__name__", None) or getattr(getattr(of, "node", None), "name", "the function"))


# ------------------------------------------------------------------ arguments


@dataclass(frozen=True, slots=True)
class Leaf:
    """An array with a batch axis: its name in messages, and its number of examples."""

    word: str
    axis: int
    size: Operand


@dataclass(slots=True)
class Reader:
    """Reads one example from arguments."""

    ctx: Lowering
    node: ast.AST
    leaves: list[Leaf] = field(default_factory=list)

    def parts(self, binding: Binding, axes: Axes, word: str) -> list[tuple[Any, Binding, Axes]] | None:
        """The parts of a tree, each with its axes; None if the binding is no tree."""
        match binding:
            case Tup(items, kind):
                keyed: Sequence[tuple[Any, Binding]] = list(enumerate(items))
                name = "tuple" if kind is None else kind.__name__
            case Obj(key) if not is_long(binding, self.ctx.state):
                keyed, name = self.ctx.state.entries(key), key.kind if key.cls is None else key.cls.__name__
            case _:
                return None
        is_mapping = isinstance(binding, Obj) and binding.key.kind == "dict"
        said = axes_of_keys(axes, [key for key, _ in keyed], is_mapping, word, name)
        return [(key, item, inner) for (key, item), inner in zip(keyed, said, strict=True)]

    def held(self, binding: Binding) -> Binding:
        """The argument, resolved by path conditions; a container from outside with its items read."""
        binding = resolved_by_paths(binding, self.ctx.state)
        entries = entries_of(self.ctx, binding, self.node) if isinstance(binding, External) else None
        return binding if entries is None else self.ctx.new_object("dict", tuple(entries.items()))

    def gather(self, binding: Binding, axes: Axes, word: str, optional: bool = False) -> bool:
        """Record the arrays that have a batch axis; return whether there is one."""
        if axes is None:
            return False
        binding = self.held(binding)
        if (parts := self.parts(binding, axes, word)) is not None:
            is_attribute = isinstance(binding, Obj) and binding.key.kind == "record"
            sample: Any = None if is_attribute else ()
            return True in [self.gather(item, inner, part_word(word, sample, key)) for key, item, inner in parts]
        match binding:
            case Ref() if isinstance(type_ := self.ctx.type_of(binding), Array):
                axis = check_axis(axes, type_.rank, word, f"an array {type_}")
                self.leaves.append(Leaf(word, axis, extent_of(self.ctx, binding, axis)))
                return True
            case Obj():
                axis = check_axis(axes, None, word, "a list")
                size = self.ctx.read(self.apply(batches.size_of_items, binding, Num(Const(axis)), Static(word)))
                self.leaves.append(Leaf(word, axis, size))
                return True
            case Num(operand) if isinstance(operand.type, Scalar):
                if not optional:
                    check_axis(axes, 0, word, str(operand.type))
                return False
            case Static():
                return False
        hint = f"write None for {word} in in_axes, or pass an array"
        raise UnsupportedSyntax(f"whether {word} has a batch axis is not known", self.ctx.loc(self.node), hint)

    def apply(self, function: Any, *args: Binding) -> Binding:
        """Call a composition."""
        return self.ctx.apply(Static(function), list(args), {}, self.node)

    def example(self, binding: Binding, axes: Axes, index: Operand, optional: bool = False) -> Binding:
        """One example of an argument; an argument without batch axis is the same object for all examples."""
        if axes is None:
            return binding
        binding = self.held(binding)
        if not self.has_axis(binding, axes):
            return binding
        if isinstance(binding, Ref):
            rank = getattr(self.ctx.type_of(binding), "rank", None)
            return load_array(self.ctx, binding, place_along(check_axis(axes, rank, "", ""), index), self.node)
        parts = self.parts(binding, axes, "")
        if parts is None:
            return self.apply(batches.items_at, binding, Num(index), Num(Const(axes)))
        items = [(key, self.example(item, inner, index)) for key, item, inner in parts]
        if isinstance(binding, Tup):
            return Tup(tuple(item for _, item in items), binding.kind)
        assert isinstance(binding, Obj)
        key = binding.key
        new = HeapKey(key.kind, key.cls, exact=key.exact, unordered=key.unordered, sites=key.sites)
        self.ctx.state.heap[new] = tuple(items)
        return Obj(new)

    def has_axis(self, binding: Binding, axes: Axes) -> bool:
        """Whether an argument contains an array with a batch axis."""
        if axes is None:
            return False
        parts = self.parts(binding := self.held(binding), axes, "")
        if parts is not None:
            return any(self.has_axis(item, inner) for _, item, inner in parts)
        return isinstance(binding, Ref | Obj)


def size_of_batch(ctx: Lowering, leaves: list[Leaf], node: ast.AST) -> Operand:
    """The number of examples, with a test that all arguments agree."""
    first = leaves[0]
    for leaf in leaves[1:]:
        if ctx.builder.extent_of(leaf.size) == ctx.builder.extent_of(first.size):
            continue
        words = [Num(first.size), Num(leaf.size), Static(f"axis {first.axis} of {first.word}"), Static(f"axis {leaf.axis} of {leaf.word}")]
        ctx.apply(Static(batches.same_size), words, {}, node)
    return first.size


# ------------------------------------------------------------------ the loop


@callee(Batched)
def call_batched(ctx: Lowering, batched: Batched, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """One call for each example, in order, in one loop."""
    try:
        places, named = places_of(batched.name, batched.parameters, batched.in_axes, len(args), tuple(kwargs))
        passed = [*zip(places, args, strict=True), *((named[word], arg) for word, arg in kwargs.items())]
        reader = Reader(ctx, node)
        for place, arg in passed:
            reader.gather(arg, place.axes, place.word, place.optional)
        if not reader.leaves:
            raise BadArgument(NO_AXES.format(name=batched.name))
    except BadArgument as error:
        raise error.at(ctx.loc(node)) from None
    size = size_of_batch(ctx, reader.leaves, node)
    name: Name = (ctx.frame, f"%batch{next(ctx.builder.fresh)}")
    ctx.state.names[name] = Tup((*args, *kwargs.values()))  # the iterable of the loop, which must not change until the loop ends

    def one(index: Operand) -> Binding:
        held = ctx.state.names[name]
        assert isinstance(held, Tup)
        now = [reader.example(arg, place.axes, index, place.optional) for (place, _), arg in zip(passed, held.items, strict=True)]
        return ctx.apply(batched.of, now[: len(args)], dict(zip(kwargs, now[len(args) :], strict=True)), node)

    key = (loop_key(ctx, node), depth_of(batched))
    results = result_arrays(ctx, form_of_one(ctx, key, one, size, batched.out_axes, node), size, node)

    def body(index: Operand) -> None:
        results.keep(index, one(index))

    go_over(ctx, key, results.lists, size, body, node)
    del ctx.state.names[name]
    if ctx.state.dead:
        raise Raised
    return results.whole()


def go_over(ctx: Lowering, key: Any, lists: Sequence[Name], size: Operand, body: Callable[[Operand], None], node: ast.AST) -> None:
    """One iteration for each example; unrolled where loops are."""
    if not ctx.unroll or not isinstance(size, Const):
        counted(ctx, key, lists, (ZERO, size, ONE), body, ctx.loc(node), "k", batch=True)
        return
    for k in range(size.value):
        ctx.write_out(node)
        body(Const(k))


def depth_of(batched: Batched) -> int:
    """The nesting depth of batches here: each has a loop of its own."""
    return 1 + depth_of(batched.of) if isinstance(batched.of, Batched) else 0


def form_of_one(ctx: Lowering, key: Any, one: Callable[[Operand], Binding], size: Operand, out_axes: Axes, node: ast.AST) -> Form:
    """The form of the result for one example: the loop is lowered in a scratch block."""
    entry, mark, forms = ctx.state, len(ctx.edges), list[Form]()

    def body(index: Operand) -> None:
        block = ctx.builder.block
        forms.append(FormOf(ctx, node, block, index).form(one(index), out_axes))

    ctx.state = entry.copy()
    try:
        with ctx.trial() as refused, ctx.inside(Block()), ctx.operands():
            go_over(ctx, key, [], ONE if isinstance(size, Const) and size.value else size, body, node)
    except BadArgument as error:
        raise error.at(ctx.loc(node)) from None
    finally:
        ctx.state = entry
        del ctx.edges[mark:]
    if refused:
        raise refused[0]
    if not forms:
        raise UnsupportedSyntax("the batched function always raises", ctx.loc(node))
    return forms[-1]
