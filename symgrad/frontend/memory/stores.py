"""Subscripts that are stored to or deleted: parts of arrays, items of lists and dicts."""

from __future__ import annotations

import ast
import collections
from typing import Any

import numpy as np

from symgrad.errors import BadArgument, ShapeMismatch, UnknownType, UnsupportedSyntax
from symgrad.frontend.containers import dict_items
from symgrad.frontend.containers.appending import as_list
from symgrad.frontend.containers.growing_dicts import is_growing
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.chosen import store_at
from symgrad.frontend.flow.edges import fail
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds
from symgrad.frontend.flow.overlapping import order_matters
from symgrad.frontend.flow.sequences import item_value, see_within, shares, takes_over
from symgrad.frontend.memory.exception_texts import check_index, text_of_index
from symgrad.frontend.memory.loads import (
    Index,
    become_value,
    bools_as_masks,
    check_places,
    held_item,
    in_a_row,
    index_of,
    is_in_a_row,
    items_known,
    static_index,
)
from symgrad.frontend.objects.derived import OF_ARRAYS, as_base
from symgrad.frontend.objects.dicts import is_dict
from symgrad.frontend.objects.outside import change_outside
from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    Binding,
    Iter,
    Maybe,
    Num,
    Obj,
    Ref,
    Static,
    Step,
    Tup,
    is_taken_whole,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.values.exact import exact_class
from symgrad.ir.core import NONE, ZERO, Const, Operand
from symgrad.ir.types import Array, List, Scalar, Type
from symgrad.ops.composed.lists import with_part, without_item


def store_item(ctx: Lowering, owner: Binding, node: ast.expr | Index, value: Binding, whole: ast.AST) -> None:
    """``owner[node] = value``."""
    if is_one_of_kinds(owner):
        index = index_of(ctx, node)
        each(ctx, owner, whole, lambda held: done(store_item(ctx, held, index, value, whole)))  # type: ignore[func-returns-value]
        return
    match owner := as_base(ctx, definite(ctx, owner, whole), "__setitem__"):
        case Ref() if isinstance(ctx.type_of(owner), Array):
            store_array(ctx, owner, index_of(ctx, node), value, whole)
        case Obj(key) if key.kind == "list":
            index = index_of(ctx, node)
            check_changed(ctx, owner, index, whole)
            store_list(ctx, owner, index, value, whole)
        case Obj(key) if is_dict(owner):
            dict_items.store(ctx, owner, held_item(ctx, node, whole), value, whole)
        case Num(operand) if isinstance(operand.type, Scalar):
            index_of(ctx, node)
            not_assigned_to(ctx, owner, whole)
        case Ref() | Num():
            raise UnknownType("the type of the array written to is not known", ctx.loc(whole))
        case Iter(kind="flat", parts=(Ref() as target,)):
            store_flat(ctx, target, index_of(ctx, node), value, whole)
        case Obj(key):
            ctx.apply_method(owner, "__setitem__", [held_item(ctx, node, whole), value], whole)
        case Tup():
            index_of(ctx, node)
            not_assigned_to(ctx, owner, whole)
        case _:
            change_outside(ctx, owner)
            raise UnsupportedSyntax("this cannot be written to", ctx.loc(whole), "copy it into an array made in the function")


def not_assigned_to(ctx: Lowering, owner: Binding, node: ast.AST) -> None:
    """A store to an item of a number or tuple, for which Python raises."""
    cls = exact_class(ctx, owner, node)
    name = f"numpy.{cls.__name__}" if cls.__module__ == "numpy" else cls.__name__
    fail(ctx, TypeError, f"{name!r} object does not support item assignment")


def is_changed_there(owner: Binding, old: Binding) -> bool:
    """Whether an array that was changed in place is still the item it was read from: storing it there again has no effect."""
    return isinstance(old, Ref) and (is_dict(owner) or is_growing(owner) or isinstance(owner, Obj) and owner.key.kind == "list")


def done(_: None) -> Binding:
    """The result of a store."""
    return ABSENT


def store_array(ctx: Lowering, owner: Ref, index: Index, value: Binding, node: ast.AST) -> None:
    check_places(ctx, index, node)
    if is_taken_whole(value):
        raise UnsupportedSyntax("NumPy takes an iterator, a dict, a view of one or a set as one object", ctx.loc(node), "make it a list")
    type_ = ctx.type_of(owner)
    if isinstance(type_, Array) and type_.dtype is None and type_.shape is None:
        raise UnknownType("the type of the array written to is not known", ctx.loc(node))
    value = as_base(ctx, value, *OF_ARRAYS)
    operand = ctx.read(value, node)
    if isinstance(operand.type, List):
        operand = ctx.array_of(operand, None)
    if isinstance(value, Ref) and value.location is owner.location and (value.path or owner.path):
        # NumPy copies where the two sides of a store overlap; the copy is an op here
        if getattr(operand.type, "rank", None) == 1 and order_matters(ctx, owner, index.step, value):
            what = "one part of an array is copied to one that it may overlap, with another step: the result depends on NumPy's copy order"
            raise UnsupportedSyntax(what, ctx.loc(node), "make a copy of the right side")
        operand = ctx.call("copy", operand)
    owner, index = bools_as_masks(ctx, owner, index)
    ctx.store(owner, operand, index.step)


def store_result(ctx: Lowering, out: Ref, value: Binding, node: ast.AST) -> Binding:
    """Store a computed value in the memory that the call names, ``out=x``; return that memory."""
    result = ctx.read(value, node)
    check_cast(ctx, ctx.type_of(out), result, node)
    check_axes(ctx, ctx.type_of(out), result, node)
    ctx.store(out, result, None if out.path else Step("e"))
    return out


def check_cast(ctx: Lowering, target: Type, result: Operand, node: ast.AST) -> None:
    """Refuse at compile time, as NumPy does at run time, an in-place result of a kind that its target cannot hold: floats in integers."""
    have, kind = getattr(target, "kind", None), getattr(result.type, "kind", None)
    if have in ("int", "bool") and kind in ("float", "complex") or have == "float" and kind == "complex":
        word, dtype = "complex" if kind == "complex" else "float", getattr(target, "dtype", None)
        raise BadArgument(
            f"an array of {dtype} cannot take a {kind} in place", ctx.loc(node), f"make the array {word}, for example dtype={word}"
        )


def check_axes(ctx: Lowering, target: Type, result: Operand, node: ast.AST) -> None:
    """Refuse a result with more axes than its target: a store drops leading axes of extent 1, an in-place ufunc does not."""
    axes, most = getattr(result.type, "rank", None), getattr(target, "rank", None)
    if axes is not None and most is not None and axes > most:
        raise ShapeMismatch(
            f"a result with {axes} axes is stored in an array with {most}", ctx.loc(node), "reshape the result, or make a new array"
        )


def store_flat(ctx: Lowering, target: Ref, index: Index, value: Binding, node: ast.AST) -> None:
    """``x.flat[index] = value``: in row-major order. NumPy repeats a value that is too short, which is refused at run time."""
    if not isinstance(ctx.type_of(value), Scalar) and getattr(ctx.type_of(value), "rank", 1) != 1:
        value = in_a_row(ctx, value) if isinstance(value, Ref) else value
    if is_in_a_row(ctx, target):
        row = in_a_row(ctx, target)
        assert isinstance(row, Ref)
        store_array(ctx, row, index, value, node)
    elif index.spec in ("i", "s"):
        one_by_one = (
            index.operands[0] if index.spec == "i" else ctx.call("take", ctx.read(places_of(ctx, target, node)), *index.operands, index="s")
        )
        ctx.apply(Static(np.put, "np.put"), [target, ctx.make(one_by_one), value], {}, node)
    else:
        raise UnsupportedSyntax("this index of .flat is assigned to, and the array may not be C-contiguous", ctx.loc(node), "write a slice")


def places_of(ctx: Lowering, target: Ref, node: ast.AST) -> Binding:
    """The flat indices of all elements of an array, row-major."""
    return ctx.apply(Static(np.arange, "np.arange"), [ctx.apply(Static(np.size, "np.size"), [target], {}, node)], {}, node)


def store_list(ctx: Lowering, owner: Obj, index: Index, value: Binding, node: ast.AST) -> None:
    content = ctx.state.heap[owner.key]
    if not isinstance(content, Ref):
        if index.spec == "s":
            items = [b for _, b in content]
            value = ctx.apply(Static(list, "list"), [value], {}, node)
            held = ctx.state.heap[value.key] if isinstance(value, Obj) else None
            if isinstance(held, Ref) and static_index(ctx, index, node) == slice(None):
                ctx.check_still(owner.key)
                ctx.change(owner.key, held)
                return
            others, part = items_known(ctx, value, node), static_index(ctx, index, node)
            if part.step not in (None, 1) and len(range(*part.indices(len(items)))) != len(others):
                size = len(range(*part.indices(len(items))))
                fail(ctx, ValueError, f"attempt to assign sequence of size {len(others)} to extended slice of size {size}")
            items[part] = others
            ctx.check_still(owner.key)
            ctx.change(owner.key, tuple(enumerate(items)))
            return
        if isinstance(index.operands[0] if index.spec == "i" else None, Const):
            key = static_index(ctx, index, node)
            if not -len(content) <= key < len(content):
                fail(ctx, IndexError, text_of_index(owner, stored=True))
            place = key % len(content)
            ctx.change(owner.key, tuple((k, value if k == place else b) for k, b in content))
            return
        if any(isinstance(b, Obj | Tup | Maybe) for b in (value, *(b for _, b in content))) and index.spec == "i":
            store_at(ctx, owner, content, index.operands[0], value, node)
            return
        sequence = ctx.make(ctx.list_of([b for _, b in content], node))
        assert isinstance(sequence, Ref)
        for _, item in content:
            if isinstance(item, Ref):
                shares(ctx, item, sequence)
        ctx.change(owner.key, sequence)
        content = sequence
    if index.spec == "s" and (len(index.operands) < 3 or index.operands[2] is NONE):
        replace_part(ctx, owner, bounds_of(index), ctx.apply(Static(list, "list"), [value], {}, node), node)
        return
    if index.spec != "i":
        raise UnsupportedSyntax("a slice of a list of unknown length cannot be assigned to", ctx.loc(node))
    ctx.check_alone(owner.key)
    if owner.key.exact is collections.deque:
        check_index(ctx, owner, ctx.read(content), index.operands[0])
    owns, stored = takes_over(ctx, content, value), item_value(ctx, value, node)
    if ctx.is_cell(content, stored):
        ctx.store_cell(content, index.operands[0], stored)
        return
    changed = ctx.call("list_set", ctx.to_change(content, owns), index.operands[0], stored)
    ctx.replace_list(content, changed, owns)
    if owns:
        see_within(ctx, content, value, index.operands[0])
    shares(ctx, value, content)


def bounds_of(index: Index) -> tuple[Binding | None, ...]:
    """The bounds of a slice, from brackets or from a ``slice`` object."""
    (held,) = index.bindings
    return held if isinstance(held, tuple) else tuple(map(Num, index.operands))


def replace_part(ctx: Lowering, owner: Obj, bounds: Any, others: Binding, node: ast.AST) -> None:
    """Replace a slice of a list of any length with other items."""
    start, stop = (Static(None) if part is None else part for part in bounds[:2])
    become_value(ctx, owner, ctx.apply(Static(with_part), [as_list(ctx, owner), start, stop, others], {}, node), node)


def check_changed(ctx: Lowering, owner: Obj, index: Index, node: ast.AST) -> None:
    """Emit Python's exception for such an index in a store to a list, deque or tuple."""
    name = exact_class(ctx, owner, node).__name__
    if owner.key.cls is tuple:
        fail(ctx, TypeError, "'tuple' object does not support item assignment or deletion")
    if owner.key.exact is collections.deque and "s" in index.spec:
        fail(ctx, TypeError, "sequence index must be integer, not 'slice'")
    if index.spec == "i" and isinstance(index.operands[0], Const) and not isinstance(index.operands[0].value, int):
        fail(ctx, TypeError, f"{name} indices must be integers or slices, not {type(index.operands[0].value).__name__}")


def delete_item(ctx: Lowering, owner: Binding, target: ast.Subscript) -> None:
    """``del owner[...]`` on a list or dict of static structure."""
    owner = as_base(ctx, owner, "__delitem__")
    if isinstance(owner, Obj) and owner.key.kind == "record":
        ctx.apply_method(owner, "__delitem__", [held_item(ctx, target.slice, target)], target)
        return
    if isinstance(owner, Obj) and (owner.key.cls is set or owner.key.exact is frozenset):
        fail(ctx, TypeError, f"{exact_class(ctx, owner, target).__name__!r} object doesn't support item deletion")
    if isinstance(owner, Obj) and isinstance(ctx.state.heap[owner.key], Ref):
        index = index_of(ctx, target.slice)
        check_changed(ctx, owner, index, target)
        if index.spec == "i":
            become_value(ctx, owner, ctx.apply(Static(without_item), [as_list(ctx, owner), Num(index.operands[0])], {}, target), target)
            return
        if index.spec == "s" and (len(index.operands) < 3 or index.operands[2] is NONE):
            nothing = ctx.call("list_slice", ctx.read(owner), ZERO, ZERO, NONE)
            replace_part(ctx, owner, bounds_of(index), ctx.list_sharing(nothing), target)
            return
    change_outside(ctx, owner)
    if not isinstance(owner, Obj) or isinstance(ctx.state.heap[owner.key], Ref):
        raise UnsupportedSyntax("items can only be deleted from a list or dict made in the function", ctx.loc(target))
    if owner.key.kind == "dict":
        dict_items.delete(ctx, owner, held_item(ctx, target.slice, target), target)
        return
    content = list(ctx.state.heap[owner.key])  # type: ignore[arg-type]
    index = index_of(ctx, target.slice)
    check_changed(ctx, owner, index, target)
    items, place = [b for _, b in content], static_index(ctx, index, target)
    if isinstance(place, int) and not -len(items) <= place < len(items):
        definite(ctx, MISSING, target, IndexError, text_of_index(owner, stored=True))
    ctx.check_still(owner.key)
    del items[place]
    ctx.change(owner.key, tuple(enumerate(items)))
