"""Results of a function over a batch: the result for one example -> the results of all, and how each iteration stores its own.

An array is allocated before the loop if its shape and dtype are known there. Other results are
collected in a list, and stacked after the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.edges import fail, fail_unless
from symgrad.frontend.flow.filling import operand_of_extent
from symgrad.frontend.memory.loads import Index, load_array
from symgrad.frontend.memory.stores import store_array
from symgrad.frontend.state.abstract_values import resolved_by_paths
from symgrad.frontend.state.bindings import Binding, Broken, HeapKey, Name, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import is_long
from symgrad.ir.core import NONE, ZERO, Block, Call, Const, Operand, walk
from symgrad.ir.types import BOOL, FLOAT, INT, Array, Extent, Scalar, Type
from symgrad.ops.declare import ROWS
from symgrad.ops.shapes import dtype_of
from symgrad.runtime.batches import EMPTY, Axes, axes_of_keys, check_axis, part_word, together


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a result: a container of others, nothing, or an array with or without a batch axis."""

    kind: str  #: "tuple", "object", "none", "array" or "list"
    of: Any = None  #: the class of a named tuple, or the identity of an object
    keys: tuple[Any, ...] = ()
    parts: tuple[Form, ...] = ()
    axis: int | None = None  #: of the batch in the result
    dtype: str | None = None
    shape: tuple[Extent, ...] = ()  #: of one example
    is_number: bool = False
    is_known: bool = True  #: whether it is known to be an array or a number


#: kinds of arrays that cannot yield a narrow float, and the numbers
PLAIN = ("int", "bool")
WIDE = (
    FLOAT,
    INT,
    BOOL,
    Scalar("float", "f64"),
    Scalar("float", "any"),
    Scalar("int", "i64"),
    Scalar("int", "any"),
    Scalar("bool", "bool"),
)


@dataclass(slots=True)
class FormOf:
    """The form of the result of one example, in the state in which it was computed."""

    ctx: Lowering
    node: ast.AST
    block: Block
    index: Operand

    def form(self, binding: Binding, axes: Axes, word: str = "the result") -> Form:
        """The form of a result; ``axes`` is its part of ``out_axes``."""
        binding = resolved_by_paths(binding, self.ctx.state)
        match binding:
            case Tup(items, kind):
                return Form("tuple", kind, parts=self.parts(list(enumerate(items)), axes, False, word, "tuple"))
            case Obj(key) if not is_long(binding, self.ctx.state):
                entries = list(self.ctx.state.entries(key))
                parts = self.parts(entries, axes, key.kind == "dict", word, key.kind)
                return Form("object", key, tuple(k for k, _ in entries), parts)
            case Static(None):
                return Form("none")
            case Num(operand) if not isinstance(operand, Const) or operand.type.is_number:
                return self.array(operand, axes, word)
            case Ref() if isinstance(self.ctx.type_of(binding), Array):
                return self.array(self.ctx.read(binding, self.node), axes, word)
            case Broken():
                raise self.ctx.unusable(binding, self.node)
        hint = "return numbers, arrays, and tuples, lists, dicts or instances of these"
        raise UnsupportedSyntax(f"{word} of a batched function is not an array", self.ctx.loc(self.node), hint)

    def parts(self, entries: list[tuple[Any, Binding]], axes: Axes, is_mapping: bool, word: str, kind: str) -> tuple[Form, ...]:
        """The forms of a container's items."""
        said = axes_of_keys(axes, [key for key, _ in entries], is_mapping, word, kind)
        return tuple(self.form(item, inner, part_word(word, (), key)) for (key, item), inner in zip(entries, said, strict=True))

    def array(self, operand: Operand, axes: Axes, word: str) -> Form:
        """The form of an array or number."""
        type_ = operand.type
        shape = () if isinstance(type_, Scalar) else type_.shape if isinstance(type_, Array) else None
        rank = None if shape is None else len(shape) + 1
        kind = f"an array of {rank} axes, that of the batch among them"
        axis = None if axes is None else check_axis(axes, rank, word, kind, "out_axes")
        if axis is None and operand in dependents(self.block, self.index):
            what = f"out_axes is None for {word}, which may differ between examples"
            raise UnsupportedSyntax(what, self.ctx.loc(self.node), "give it an axis in out_axes")
        dtype = dtype_of(type_) or self.dtype_of_float(type_)
        kind = "list" if shape is None or dtype is None else "array"
        is_known = isinstance(type_, Scalar | Array)
        return Form(kind, axis=axis, dtype=dtype, shape=shape or (), is_number=isinstance(type_, Scalar), is_known=is_known)

    def dtype_of_float(self, type_: Type) -> str | None:
        """The dtype of a float of Python's or of NumPy's: 64 bits if no float of the program is narrower.

        In unrolled iterations, handlers of the program may surround each of them: the results go
        into a list.
        """
        if self.ctx.unroll or not isinstance(type_, Scalar) or type_.kind != "float" or type_.dtype != "any":
            return None
        types = [operand.type for op in walk(self.block) for operand in (*op.operands, *op.outs)]
        return (
            "f64"
            if all(isinstance(t, Array) and (t.dtype == "f64" or t.kind in PLAIN) or t in WIDE or not t.is_number for t in types)
            else None
        )


def dependents(block: Block, index: Operand) -> set[Operand]:
    """The values of a block that may vary with the iteration."""
    values: set[Operand] = {index}

    def visit(inner: Block) -> bool:
        varies = False
        for op in inner.ops:
            own = any(operand in values for operand in op.operands) or isinstance(op, Call) and ROWS[op.name].effect
            own = True in [visit(child) for child in op.blocks] or own
            if own:
                values.update(op.outs)
                values.update(arg for child in op.blocks for arg in child.args)
                varies = True
        return varies or any(operand in values for operand in inner.yields)

    while True:  # a loop-carried value may depend on later ops of the loop's body
        count = len(values)
        visit(block)
        if len(values) == count:
            return values


# ------------------------------------------------------------------ storage


@dataclass(slots=True)
class Results:
    """The storage of all results during the loop."""

    ctx: Lowering
    node: ast.AST
    form: Form
    names: list[Name] = field(default_factory=list)  #: of each array and list, in order

    @property
    def lists(self) -> list[Name]:
        """The names of the lists, which grow in each iteration."""
        return [name for name, form in zip(self.names, leaves(self.form), strict=True) if form.kind == "list"]

    def keep(self, index: Operand, result: Binding) -> None:
        """Store the result of one example."""
        pairs = list(self.paired(self.form, result))
        for name, (form, item) in zip(self.names, pairs, strict=True):
            held = self.ctx.state.names[name]
            if form.kind == "list":
                self.ctx.apply_method(held, "append", [item], self.node)
                continue
            assert isinstance(held, Ref)
            place = Index("e", (), ()) if form.axis is None else place_along(form.axis, index)
            store_array(self.ctx, held, place, item, self.node)

    def paired(self, form: Form, binding: Binding) -> Iterator[tuple[Form, Binding]]:
        """Each array of a form with the example's value."""
        binding = resolved_by_paths(binding, self.ctx.state)
        match binding, form.kind:
            case Tup(items), "tuple" if len(items) == len(form.parts):
                for part, item in zip(form.parts, items, strict=True):
                    yield from self.paired(part, item)
            case Obj(key), "object" if not is_long(binding, self.ctx.state) and keys_of(self.ctx, key) == form.keys:
                for part, (_, item) in zip(form.parts, self.ctx.state.entries(key), strict=True):
                    yield from self.paired(part, item)
            case Static(None), "none":
                return
            case Num() | Ref(), "array" | "list":
                yield form, binding
            case _:
                what = "the result of a batched function differs in structure between examples"
                raise UnsupportedSyntax(what, self.ctx.loc(self.node), "return arrays in the same structure on every path")

    def whole(self) -> Binding:
        """The results of all examples, after the loop."""
        items = iter([self.finished(name, form) for name, form in zip(self.names, list(leaves(self.form)), strict=True)])
        for name in self.names:
            self.ctx.state.names.pop(name, None)
        return self.built(self.form, items)

    def finished(self, name: Name, form: Form) -> Binding:
        """The array of all results, from its memory or from the list of them."""
        held = self.ctx.state.names[name]
        if form.kind == "array":
            assert isinstance(held, Ref)
            return load_array(self.ctx, held, Index("", (), ()), self.node) if form.axis is None and form.is_number else held
        if not form.is_known:  # it may be a tuple or another tree
            return self.ctx.make(self.ctx.call("opaque_pure", Const(together, "together"), self.ctx.read(held), Const(form.axis)))
        stacked = self.ctx.apply(Static(np.stack, "np.stack"), [held], {}, self.node)
        if not form.axis:
            return stacked
        moved = self.ctx.apply(Static(np.moveaxis, "np.moveaxis"), [stacked, Num(ZERO), Num(Const(form.axis))], {}, self.node)
        return self.ctx.make(self.ctx.call("copy", self.ctx.read(moved, self.node)))

    def built(self, form: Form, items: Iterator[Binding]) -> Binding:
        """The containers of a form around its arrays."""
        match form.kind:
            case "tuple":
                return Tup(tuple(self.built(part, items) for part in form.parts), form.of)
            case "object":
                content = [(key, self.built(part, items)) for key, part in zip(form.keys, form.parts, strict=True)]
                return self.ctx.new_object(form.of.kind, content, form.of.cls, form.of.exact)
            case "none":
                return Static(None)
        return next(items)


def result_arrays(ctx: Lowering, form: Form, size: Operand, node: ast.AST) -> Results:
    """Memory for the results of ``size`` examples, allocated before the loop."""
    extents: list[list[Operand]] = []

    def known(form: Form) -> Form:
        if form.kind != "array":
            return replace(form, parts=tuple(map(known, form.parts)))
        operands = [operand_of_extent(ctx, extent) for extent in form.shape]
        if None in operands:
            return replace(form, kind="list")
        extents.append([operand for operand in operands if operand is not None])
        return form

    results = Results(ctx, node, known(form))
    parts = list(leaves(results.form))
    for part in parts:
        if part.kind == "list" and part.axis is None:
            what = "out_axes is None for a result whose shape is not known before the loop"
            raise UnsupportedSyntax(what, ctx.loc(node), "give it an axis in out_axes")
    if any(part.kind == "list" or part.axis is None for part in parts):
        check_examples(ctx, size)
    for part in parts:
        name: Name = (ctx.frame, f"%results{next(ctx.builder.fresh)}")
        results.names.append(name)
        if part.kind == "list":
            ctx.state.names[name] = ctx.new_object("list", ())
            continue
        shape = extents.pop(0)
        if part.axis is not None:
            shape.insert(part.axis, size)
        ctx.state.names[name] = ctx.make(ctx.call("empty", *shape, dtype=part.dtype, hint="results"))
    return results


def keys_of(ctx: Lowering, key: HeapKey) -> tuple[Any, ...]:
    """The keys, positions or attributes of an object."""
    return tuple(k for k, _ in ctx.state.entries(key))


def check_examples(ctx: Lowering, size: Operand) -> None:
    """Raise ValueError where there are no examples, because no shape is known."""
    if not isinstance(size, Const):
        fail_unless(ctx, ctx.call("not_equal", size, ZERO), ValueError, f"vmap: {EMPTY}")
    elif not size.value:
        fail(ctx, ValueError, f"vmap: {EMPTY}")


def leaves(form: Form) -> Iterator[Form]:
    """The arrays of a form, in order."""
    if form.kind in ("array", "list"):
        yield form
    for part in form.parts:
        yield from leaves(part)


def place_along(axis: int, index: Operand) -> Index:
    """The index of one example: ``x[:, k]`` for the axis 1."""
    return Index("s" * axis + "i", (*[NONE] * (3 * axis), index), ())


__all__ = ["Form", "FormOf", "Results", "result_arrays", "place_along"]
