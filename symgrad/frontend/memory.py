"""Subscripts: reading ``x[...]`` as a number, a view or a copy, writing to it, and the same for lists and dicts."""

from __future__ import annotations

import ast
import collections
import enum
import operator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgrad.errors import ShapeMismatch, UnknownType, UnsupportedSyntax
from symgrad.frontend.absent import argument, as_python_does, definite, definite_item, has_item
from symgrad.frontend.bindings import (
    ABSENT,
    MISSING,
    Binding,
    External,
    Iter,
    Maybe,
    Missing,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Step,
    Tup,
    View,
    is_taken_whole,
)
from symgrad.frontend.chosen import one_of_items, store_at
from symgrad.frontend.containers import item_of_range
from symgrad.frontend.context import Lowering
from symgrad.frontend.dicts import is_dict, missing_item
from symgrad.frontend.exact import exact_class
from symgrad.frontend.exceptions import fail, sees
from symgrad.frontend.failing import is_step_open
from symgrad.frontend.flow import choose
from symgrad.frontend.members import is_enumeration, plain
from symgrad.frontend.operands import known_value, static_binding
from symgrad.frontend.outside import change_outside, item_text, outside, rely_on_keys
from symgrad.frontend.overlapping import order_matters
from symgrad.frontend.protocols import as_index
from symgrad.frontend.reading import owner_name
from symgrad.frontend.sequences import item_value, shares
from symgrad.frontend.several import each, is_one_of_kinds
from symgrad.frontend.skeletons import settled
from symgrad.frontend.stepping import is_iterator
from symgrad.ir.core import NONE, ONE, ZERO, Const, Operand
from symgrad.ir.types import INT, Array, List, Scalar, Type, Unknown
from symgrad.kinds import is_closed
from symgrad.ops.composed import joining
from symgrad.ops.composed.lists import with_part, without_item
from symgrad.ops.indexing import OPERANDS, is_basic
from symgrad.text import is_name


@dataclass(frozen=True, slots=True)
class Index:
    """An evaluated subscript: one letter and its operands for each item; ``bindings`` are the items themselves."""

    spec: str
    operands: tuple[Operand, ...]
    bindings: tuple[Any, ...]
    is_tuple: bool = False  #: a tuple stands between the brackets, if only of one item

    @property
    def step(self) -> Step:
        return Step(self.spec, self.operands)


def index_of(ctx: Lowering, node: ast.expr | Index) -> Index:
    """Evaluate what stands between the brackets, if that has not been done."""
    if isinstance(node, Index):
        return node
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    items = [slice_parts(ctx, n) if isinstance(n, ast.Slice) else ctx.evaluate(n) for n in nodes]
    is_tuple = isinstance(node, ast.Tuple)
    if not is_tuple and isinstance(items[0], Tup):
        items, is_tuple = list(items[0].items), True
    letters, operands = "", []
    for item, part in zip(items, nodes if len(nodes) == len(items) else [node] * len(items), strict=True):
        letter, values = index_item(ctx, item, part)
        letters += letter
        operands += values
    return Index(letters, tuple(operands), tuple(items), is_tuple)


def bools_as_masks(ctx: Lowering, owner: Ref, index: Index) -> tuple[Ref, Index]:
    """A bool among the items is a mask of one element along an axis of its own: ``x[flag]`` is ``x[None][np.array([flag])]``."""
    types = [o.type for o in index.operands]
    places = [sum(OPERANDS[letter] for letter in index.spec[:k]) for k in range(len(index.spec))]
    bools = [letter == "i" and is_bool(types[place]) for letter, place in zip(index.spec, places, strict=True)]
    if not any(bools):
        return owner, index
    axes, letters = "", ""
    operands: list[Operand] = []
    for letter, place, is_flag in zip(index.spec, places, bools, strict=True):
        own = list(index.operands[place : place + OPERANDS[letter]])
        if is_flag:
            axes, letters = axes + "n", letters + "i"
            operands.append(ctx.call("reshape", own[0], ONE))
            continue
        mask = types[place] if letter == "i" else None
        rank = mask.rank if isinstance(mask, Array) and mask.kind == "bool" else 1
        if rank is None:
            raise UnknownType("a bool beside a mask whose rank is not known is an index", ctx.builder.loc)
        axes += {"i": "s" * rank, "s": "s", "e": "e", "n": ""}[letter]
        letters += letter
        operands += own
    first = Step(axes, (NONE,) * (3 * axes.count("s")))
    return Ref(owner.location, (*owner.path, first)), replace(index, spec=letters, operands=tuple(operands))


def is_bool(of: Type) -> bool:
    """Is an index of this type a bool, or an array of bools without axes?"""
    return isinstance(of, Scalar | Array) and of.kind == "bool" and (isinstance(of, Scalar) or of.shape == ())


def slice_parts(ctx: Lowering, node: ast.Slice) -> tuple[Binding | None, ...]:
    return tuple(None if part is None else as_index(ctx, ctx.evaluate(part), part) for part in (node.lower, node.upper, node.step))


def index_item(ctx: Lowering, item: Any, node: ast.AST) -> tuple[str, list[Operand]]:
    """The letter and operands of one item."""
    item = as_index(ctx, item, node) if isinstance(item, Obj | Maybe) else item
    match item:
        case tuple():
            return "s", [NONE if p is None else ctx.read(p, node) for p in item]
        case Static(value=None):
            return "n", []
        case Static(value=value) | External(value=value) if value is Ellipsis:
            return "e", []
        case Static(value=value) if isinstance(value, slice):
            return "s", [Const(p) for p in (value.start, value.stop, value.step)]
        case Iter(kind="slice", parts=parts):
            return "s", list(parts)
        case Static(value=value) if isinstance(plain(value), enum.Enum):
            return "i", [Const(value, value.name)]  # the key of a dict
        case OneOf(values=values) if all(isinstance(v.value, str | enum.Enum) for v in values):
            return "i", [Const(values[0].value, str(values[0].value))]  # one of the keys of a dict
        case Obj(key) if key.kind == "list" and key.cls is tuple:
            what = "a tuple of which the length is not known while compiling cannot be an index"
            raise UnsupportedSyntax(what, ctx.loc(node), "write the places one by one in the subscript")
        case Obj(key) if key.kind == "list":
            held = ctx.state.heap[key]
            places = ctx.read(item, node)
            is_whole = isinstance(held, Ref) and isinstance(places.type, List) and places.type.item == INT  # perhaps of no places
            return "i", [ctx.array_of(places, "i64" if is_whole or not isinstance(held, Ref) and not held else None)]
        case Iter(kind="range", parts=parts):
            return "i", [ctx.call("arange", *parts, dtype=None)]
    return "i", [ctx.read(argument(ctx, item, node), node)]


def index_itself(ctx: Lowering, index: Index, as_tuple: bool, node: ast.AST) -> Binding:
    """``np.s_[...]``: what stands between the brackets."""
    items: list[Binding] = []
    for item in index.bindings:
        parts = tuple(NONE if p is None else ctx.read(p, node) for p in item) if isinstance(item, tuple) else None
        items.append(item if parts is None else Iter("slice", parts))
    return items[0] if len(items) == 1 and not as_tuple else Tup(tuple(items))


def held_item(ctx: Lowering, node: ast.expr | Index, whole: ast.AST) -> Binding:
    """What stands between the brackets, as the one argument of a method."""
    if isinstance(node, ast.Slice):
        parts = tuple(NONE if p is None else ctx.read(p, node) for p in slice_parts(ctx, node))
        return Iter("slice", parts)
    if not isinstance(node, Index):
        return ctx.evaluate(node)
    if len(node.bindings) != 1 or not isinstance(node.bindings[0], Binding):
        raise UnsupportedSyntax("an instance that is indexed and augmented takes one index", ctx.loc(whole))
    return node.bindings[0]


# ------------------------------------------------------------------ reading


def load(ctx: Lowering, owner: Binding, node: ast.expr | Index, whole: ast.AST) -> Binding:
    """``owner[node]``."""
    if is_one_of_kinds(owner):
        index = index_of(ctx, node)
        return each(ctx, owner, whole, lambda value: load(ctx, value, index, whole))
    match owner := definite(ctx, owner, whole):
        case Ref():
            return load_array(ctx, owner, index_of(ctx, node), whole)
        case View():
            name = exact_class(ctx, owner, whole).__name__
            return definite(ctx, MISSING, whole, TypeError, f"{name!r} object is not subscriptable")
        case Tup(items):
            return load_sequence(ctx, owner, list(items), index_of(ctx, node), whole)
        case Obj(key) if key.kind == "list":
            content = ctx.state.heap[key]
            if key.exact is collections.deque and "s" in index_of(ctx, node).spec:
                return definite(ctx, MISSING, whole, TypeError, "sequence index must be integer, not 'slice'")
            if isinstance(content, Ref):
                return load_list(ctx, content, index_of(ctx, node), whole)
            return load_sequence(ctx, owner, [b for _, b in content], index_of(ctx, node), whole)
        case Obj() if is_dict(owner):
            return load_dict(ctx, owner, index_of(ctx, node), whole)
        case Iter(kind="range"):
            index = index_of(ctx, node)
            return item_of_range(ctx, owner, index.spec, index.operands, whole)
        case Iter(kind="flat", parts=(Ref() as whole_array,)):
            index = index_of(ctx, node)
            made = in_a_row(ctx, whole_array)
            return ctx.make(ctx.call("take", ctx.read(made, whole), *index.operands, index=index.spec))
        case External(value) if value is np.s_ or value is np.index_exp:
            return index_itself(ctx, index_of(ctx, node), value is np.index_exp, whole)
        case External(value) if value is np.r_ or value is np.c_:
            return joined(ctx, value, index_of(ctx, node), whole)
        case External(value) if value is np.mgrid or value is np.ogrid:
            return grid(ctx, value, index_of(ctx, node), whole)
        case External(value, text):
            return load_external(ctx, value, text, index_of(ctx, node), whole)
        case Static(value) if is_enumeration(value):
            return Static(value[static_index(ctx, index_of(ctx, node), whole)])
        case Static(value) if isinstance(value, str | bytes | range):
            key = static_index(ctx, index_of(ctx, node), whole)
            if isinstance(key, int) and not -len(value) <= key < len(value):
                word = {str: "string index", bytes: "index", range: "range object index"}[type(value)]
                return definite(ctx, MISSING, whole, IndexError, f"{word} out of range")
            return static_binding(as_python_does(ctx, whole, lambda: value[key]))
        case Static(value) if is_closed(value) and hasattr(value, "__getitem__") and not isinstance(node, Index):
            return item_of_closed(ctx, owner, node, whole)
        case Num(operand) if isinstance(operand.type, Unknown):
            index = index_of(ctx, node)
            return ctx.make(ctx.call("take", operand, *index.operands, index=index.spec))
        case Num(operand) if isinstance(operand.type, Scalar):
            index = index_of(ctx, node)
            if index.spec == "":
                return owner
            if index.spec == "e":  # an array without axes, where the number itself has none either
                return ctx.make(ctx.call("to_array", operand, dtype=None))
            if set(index.spec) <= {"e", "n"}:
                return ctx.make(ctx.call("reshape", operand, *[Const(1)] * index.spec.count("n")))
        case Obj(key) if key.kind == "record":
            return ctx.apply_method(owner, "__getitem__", [held_item(ctx, node, whole)], whole)
    if is_iterator(owner):
        name = exact_class(ctx, owner, whole).__name__
        return definite(ctx, MISSING, whole, TypeError, f"{name!r} object is not subscriptable")
    raise UnsupportedSyntax("this cannot be indexed", ctx.loc(whole))


def item_of_closed(ctx: Lowering, owner: Binding, node: ast.expr, whole: ast.AST) -> Binding:
    """A field of a table or an item of another library's array: whatever that gives when the program runs."""
    if isinstance(node, ast.Slice) or isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts):
        raise UnsupportedSyntax("a slice of this cannot be taken here", ctx.loc(whole), "make it an array first, with np.asarray")
    place = ctx.read(ctx.evaluate(node), node)
    return Num(ctx.call("opaque_pure", Const(operator.getitem, owner_name(ctx, operator.getitem)), ctx.read(owner, whole), place))


def load_array(ctx: Lowering, owner: Ref, index: Index, node: ast.AST) -> Binding:
    """An element is a number, a basic index a view, anything else a copy."""
    check_places(ctx, index, node)
    types = [o.type for o in index.operands]
    known = all(isinstance(t, Scalar | Array) or k is NONE or isinstance(k, Const) for t, k in zip(types, index.operands, strict=True))
    if not known:
        return view_or_copy(ctx, owner, index)
    owner, index = bools_as_masks(ctx, owner, index)
    types = [o.type for o in index.operands]
    if not is_basic(index.spec, types):
        return ctx.make(ctx.call("take", ctx.read(owner, node), *index.operands, index=index.spec))
    view = Ref(owner.location, (*owner.path, index.step))
    made = ctx.type_of(view)
    whole = ctx.type_of(owner)
    if isinstance(made, Scalar) or isinstance(whole, Array) and whole.shape is not None and not isinstance(made, Array):
        return Num(ctx.call("take", ctx.read(owner, node), *index.operands, index=index.spec))  # of an array of any dtype an element
    if isinstance(made, Array) and made.shape is not None:
        ctx.look(view)
        if can_be_missing(index) and owner.location not in ctx.state.stale:
            ctx.call_many("evaluated", ctx.read(view))  # Python looks now whether there is such a part, whatever is read of it later
        return view
    return view_or_copy(ctx, owner, index)


def can_be_missing(index: Index) -> bool:
    """May there be no such part of an array: is there an index, or a step that may be 0?"""
    operands = iter(index.operands)
    parts = [(letter, [next(operands) for _ in range(OPERANDS[letter])]) for letter in index.spec]
    return any(letter == "i" or letter == "s" and is_step_open(part[2]) for letter, part in parts)


def view_or_copy(ctx: Lowering, owner: Ref, index: Index) -> Binding:
    """An index of unknown kind: the result may or may not share memory."""
    return ctx.shared(ctx.call("view", ctx.read(owner), *index.operands, index=index.spec), owner)


def load_list(ctx: Lowering, owner: Ref, index: Index, node: ast.AST) -> Binding:
    if index.spec == "i":
        return ctx.item_of(owner, ctx.call("list_take", ctx.read(owner), index.operands[0]))
    if index.spec == "s":
        return ctx.list_sharing(ctx.call("list_slice", ctx.read(owner), *index.operands), owner)
    raise UnsupportedSyntax("a list takes one index", ctx.loc(node))


def load_sequence(ctx: Lowering, owner: Binding, items: list[Binding], index: Index, node: ast.AST) -> Binding:
    """A tuple or list of known structure."""
    if index.spec == "i" and not isinstance(index.operands[0], Const):
        return list_item_at(ctx, owner, items, index.operands[0], node)
    key = static_index(ctx, index, node)
    if isinstance(key, slice):
        chosen = items[key]
        return Tup(tuple(chosen)) if isinstance(owner, Tup) else ctx.new_object("list", enumerate(chosen))
    if not isinstance(key, int) or not -len(items) <= key < len(items):
        if isinstance(key, int) and sees(ctx, IndexError):
            fail(ctx, IndexError, f"{'tuple' if isinstance(owner, Tup) else 'list'} index out of range")
        raise UnsupportedSyntax(f"index {key!r} is out of range for {len(items)} items", ctx.loc(node))
    return items[key]


def list_item_at(ctx: Lowering, owner: Binding, items: list[Binding], index: Operand, node: ast.AST) -> Binding:
    """An index that is computed, into items that are known: they must be alike."""
    kinds = {type(item) for item in items}
    if kinds == {Tup} and len({(len(i.items), i.kind) for i in items if isinstance(i, Tup)}) == 1:
        columns = zip(*(i.items for i in items if isinstance(i, Tup)), strict=True)
        kind = items[0].kind if isinstance(items[0], Tup) else None
        return Tup(tuple(list_item_at(ctx, owner, list(column), index, node) for column in columns), kind)
    if kinds == {Obj}:
        return one_of_items(ctx, items, index, node)
    if not kinds <= {Num, Ref} or not items:
        raise UnsupportedSyntax("an index that is computed needs items that are all numbers or all arrays", ctx.loc(node))
    return ctx.shared(ctx.call("list_take", ctx.list_of(items, node), index), *items)


def static_index(ctx: Lowering, index: Index, node: ast.AST) -> Any:
    if not all(isinstance(o, Const) for o in index.operands) or len(index.spec) != 1:
        raise UnsupportedSyntax("this index must be a literal", ctx.loc(node))
    values = [o.value for o in index.operands if isinstance(o, Const)]
    return slice(*values) if index.spec == "s" else values[0] if values else None


def key_of(index: Index) -> Any:
    """The dict key that an index stands for; ``MISSING`` if it is computed."""

    def one(item: Any) -> Any:
        match item:
            case Static(value):
                return value
            case Num(Const(value)):
                return value
            case Tup(items):
                return whole(items)
        return MISSING

    def whole(items: tuple[Any, ...]) -> Any:
        made = tuple(one(b) for b in items)
        return MISSING if any(isinstance(m, Missing) for m in made) else made

    return whole(index.bindings) if index.is_tuple else one(index.bindings[0])


def load_dict(ctx: Lowering, owner: Obj, index: Index, node: ast.AST) -> Binding:
    if len(index.bindings) == 1 and isinstance(held := index.bindings[0], OneOf):
        return each(ctx, held, node, lambda value: load_dict(ctx, owner, replace(index, bindings=(value,)), node))
    content = dict(ctx.state.heap[owner.key])  # type: ignore[arg-type]
    key = key_of(index)
    if isinstance(key, Missing):
        raise UnsupportedSyntax("a dict key must be a literal", ctx.loc(node), "use an array or a list for keys that are computed")
    if isinstance(owner.key.cls, tuple):
        return held_or_made(ctx, owner, key, node)
    if key not in content:
        if sees(ctx, KeyError) and isinstance(key, str | int):
            fail(ctx, KeyError, key)
        raise UnsupportedSyntax(f"key {key!r} is not in this dict", ctx.loc(node))
    return definite_item(ctx, content[key], node, KeyError, repr(key))


def held_or_made(ctx: Lowering, owner: Obj, key: Any, node: ast.AST) -> Binding:
    """What a dict that makes what is missing holds, or makes."""
    content = dict(ctx.state.entries(owner.key))
    held = content.pop(key, MISSING)

    def made() -> Binding:
        ctx.change(owner.key, tuple(content.items()))
        return missing_item(ctx, owner, key, node)

    test = has_item(ctx, owner.key, key)
    if isinstance(test, Const):
        return settled(held, ctx.state) if test.value else made()
    return choose(ctx, test, node, lambda: settled(held, ctx.state), made)


def load_external(ctx: Lowering, value: Any, text: str, index: Index, node: ast.AST) -> Binding:
    if len(index.bindings) == 1 and isinstance(held := index.bindings[0], OneOf):
        return each(ctx, held, node, lambda one: load_external(ctx, value, text, replace(index, bindings=(one,)), node))
    key = key_of(index)
    if isinstance(value, list) and isinstance(key, Missing) and index.spec == "i":
        rely_on_keys(ctx, value, text)
        items = [outside(ctx, v, f"{text}[{k}]", f"item_{k}") for k, v in enumerate(value)]
        return list_item_at(ctx, MISSING, items, index.operands[0], node)
    if isinstance(key, Missing | slice):
        raise UnsupportedSyntax("this index must be a literal", ctx.loc(node))
    try:
        found = value[key]
    except (KeyError, IndexError, TypeError) as error:
        raise UnsupportedSyntax(f"this index fails: {type(error).__name__}: {error}", ctx.loc(node)) from None
    if isinstance(key, int) and key < 0:
        ctx.rely(text, len(value), "len")
    name = key if is_name(key) else f"item_{key}" if type(key) is int and key >= 0 else "item"
    return outside(ctx, found, item_text(ctx, text, key), name)


# ------------------------------------------------------------------ writing


def store_item(ctx: Lowering, owner: Binding, node: ast.expr | Index, value: Binding, whole: ast.AST) -> None:
    """``owner[node] = value``."""
    if is_one_of_kinds(owner):
        index = index_of(ctx, node)
        each(ctx, owner, whole, lambda held: done(store_item(ctx, held, index, value, whole)))  # type: ignore[func-returns-value]
        return
    match owner := definite(ctx, owner, whole):
        case Ref() if isinstance(ctx.type_of(owner), Array):
            store_array(ctx, owner, index_of(ctx, node), value, whole)
        case Obj(key) if key.kind == "list":
            index = index_of(ctx, node)
            check_changed(ctx, owner, index, whole)
            store_list(ctx, owner, index, value, whole)
        case Obj(key) if is_dict(owner):
            store_dict(ctx, owner, index_of(ctx, node), value, whole)
        case Ref() | Num():
            raise UnknownType("the type of what is written to is not known", ctx.loc(whole))
        case Iter(kind="flat", parts=(Ref() as target,)):
            store_flat(ctx, target, index_of(ctx, node), value, whole)
        case Obj(key):
            ctx.apply_method(owner, "__setitem__", [held_item(ctx, node, whole), value], whole)
        case Tup():
            index_of(ctx, node)
            fail(ctx, TypeError, f"{exact_class(ctx, owner, whole).__name__!r} object does not support item assignment")
        case _:
            change_outside(ctx, owner)
            raise UnsupportedSyntax("this cannot be written to", ctx.loc(whole), "copy it into an array made in the function")


def done(_: None) -> Binding:
    """What a store gives."""
    return ABSENT


def store_dict(ctx: Lowering, owner: Obj, index: Index, value: Binding, node: ast.AST) -> Binding:
    """``owner[key] = value``; gives None, as for one of several keys each has a path of its own."""
    if len(index.bindings) == 1 and isinstance(held := index.bindings[0], OneOf):
        return each(ctx, held, node, lambda one: store_dict(ctx, owner, replace(index, bindings=(one,)), value, node))
    made = key_of(index)
    if isinstance(made, Missing):
        raise UnsupportedSyntax("a dict key must be a literal", ctx.loc(node), "use an array or a list for keys that are computed")
    ctx.change(owner.key, tuple({**dict(ctx.state.entries(owner.key)), made: value}.items()))
    return ABSENT


def check_places(ctx: Lowering, index: Index, node: ast.AST) -> None:
    """A member of an enumeration is a key of dicts alone."""
    if any(isinstance(o, Const) and isinstance(o.value, enum.Enum) for o in index.operands):
        raise UnsupportedSyntax("a member of an enumeration is no index", ctx.loc(node), "use its value")


def store_array(ctx: Lowering, owner: Ref, index: Index, value: Binding, node: ast.AST) -> None:
    check_places(ctx, index, node)
    if is_taken_whole(value):
        raise UnsupportedSyntax("NumPy takes an iterator, a dict, a view of one or a set as one object", ctx.loc(node), "make it a list")
    type_ = ctx.type_of(owner)
    if isinstance(type_, Array) and type_.dtype is None and type_.shape is None:
        raise UnknownType("the type of what is written to is not known", ctx.loc(node))
    operand = ctx.read(value, node)
    if isinstance(operand.type, List):
        operand = ctx.array_of(operand, None)
    if isinstance(value, Ref) and value.location is owner.location and (value.path or owner.path):
        # NumPy copies where the two sides of a store overlap; the copy is an op here
        if getattr(operand.type, "rank", None) == 1 and order_matters(ctx, owner, index.step, value):
            what = "one part of an array is copied to another that it may overlap, with other steps: the order in which NumPy copies counts"
            raise UnsupportedSyntax(what, ctx.loc(node), "make a copy of the right side")
        operand = ctx.call("copy", operand)
    owner, index = bools_as_masks(ctx, owner, index)
    ctx.store(owner, operand, index.step)


def store_result(ctx: Lowering, out: Ref, made: Binding, node: ast.AST) -> Binding:
    """What was computed into memory that the call names, ``out=x``; gives that memory."""
    result = ctx.read(made, node)
    check_axes(ctx, ctx.type_of(out), result, node)
    ctx.store(out, result, None if out.path else Step("e"))
    return out


def check_axes(ctx: Lowering, target: Type, result: Operand, node: ast.AST) -> None:
    """A store leaves out leading axes of extent 1, computing in place does not: NumPy never takes a result of more axes."""
    axes, most = getattr(result.type, "rank", None), getattr(target, "rank", None)
    if axes is not None and most is not None and axes > most:
        raise ShapeMismatch(
            f"a result of {axes} axes is put into an array of {most}", ctx.loc(node), "reshape what has more axes, or make a new array"
        )


def store_flat(ctx: Lowering, target: Ref, index: Index, value: Binding, node: ast.AST) -> None:
    """``x.flat[index] = value``: counted by rows; NumPy repeats a value that is too short, which is refused when it runs."""
    if not isinstance(ctx.type_of(value), Scalar) and getattr(ctx.type_of(value), "rank", 1) != 1:
        value = in_a_row(ctx, value) if isinstance(value, Ref) else value
    if is_in_a_row(ctx, target):
        made = in_a_row(ctx, target)
        assert isinstance(made, Ref)
        store_array(ctx, made, index, value, node)
    elif index.spec == "i":
        places = ctx.make(index.operands[0])
        ctx.apply(Static(np.put, "np.put"), [target, places, value], {}, node)
    else:
        raise UnsupportedSyntax("a slice of .flat is written to, of an array that may not lie by rows", ctx.loc(node), "index the array")


def is_in_a_row(ctx: Lowering, ref: Ref) -> bool:
    """Are the elements of an array one after the other in memory?"""
    ctx.laid = True
    type_, root = ctx.type_of(ref), ctx.state.memory[ref.location].type
    return getattr(type_, "rank", None) == 1 or all(getattr(t, "layout", "?") in ("C", "CF") for t in (type_, root))


def in_a_row(ctx: Lowering, ref: Ref) -> Binding:
    """An array as a vector, by rows: a view where it can be one, else a copy."""
    if getattr(ctx.type_of(ref), "rank", None) == 1:
        return ref
    if is_in_a_row(ctx, ref):
        return Ref(ref.location, (*ref.path, Step(".reshape:1", (Const(-1),))))
    return ctx.make(ctx.call("flatten", ctx.read(ref)))


def joined(ctx: Lowering, kind: Any, index: Index, node: ast.AST) -> Binding:
    """``np.r_[...]`` and ``np.c_[...]`` of numbers, arrays and ranges."""
    parts: list[Binding] = []
    types: list[Any] = []
    for item in index.bindings:
        if isinstance(item, Static) or isinstance(item, Num) and isinstance(item.operand.type, Unknown):
            raise UnsupportedSyntax("this item of np.r_ or np.c_ cannot be differentiated", ctx.loc(node), "use np.concatenate")
        if isinstance(item, tuple):
            start, stop, step = (None if p is None else ctx.read(p, node) for p in item)
            if stop is None or any(getattr(o.type, "kind", "int") != "int" for o in (start, stop, step) if o is not None):
                raise UnsupportedSyntax("a range in np.r_ is made of integers", ctx.loc(node), "use np.arange or np.linspace")
            item = ctx.make(ctx.call("arange", start or Const(0), stop, step or Const(1), dtype=None))
        parts.append(item)
        types.append(ctx.type_of(item))
    if {t.dtype for t in types if isinstance(t, Array)} == {"f32"} and not any(isinstance(t, Scalar) and t.dtype for t in types):
        # numbers of Python's take the dtype of the arrays
        parts = [Num(ctx.call("cast", ctx.read(p), dtype="f32")) if isinstance(t, Scalar) else p for p, t in zip(parts, types, strict=True)]
        types = []
    plain = all(isinstance(t, Scalar) or getattr(t, "dtype", None) in ("f64", "i64") for t in types)
    if not plain and any(isinstance(t, Scalar) for t in types):
        raise UnsupportedSyntax("numbers beside such an array in np.r_ or np.c_ are not supported", ctx.loc(node), "use np.concatenate")
    return ctx.apply(Static(joining.joined_rows if kind is np.r_ else joining.joined_columns), [Tup(tuple(parts))], {}, node)


def grid(ctx: Lowering, kind: Any, index: Index, node: ast.AST) -> Binding:
    """``np.mgrid[...]`` and ``np.ogrid[...]``: a step that is imaginary is a number of points, the last one among them."""
    axes: list[Binding] = []
    for item in index.bindings:
        if not isinstance(item, tuple) or item[1] is None:
            raise UnsupportedSyntax(
                "an axis of np.mgrid or np.ogrid is a range with an end", ctx.loc(node), "write the end too, as in np.mgrid[0:3]"
            )
        start, stop, step = (Num(default) if part is None else part for part, default in zip(item, (ZERO, NONE, ONE), strict=True))
        count = known_value(step)
        if count and isinstance(count[0], complex):
            axes.append(ctx.apply(Static(np.linspace, "np.linspace"), [start, stop, Num(Const(int(abs(count[0]))))], {}, node))
        else:
            axes.append(ctx.apply(Static(np.arange, "np.arange"), [start, stop, step], {}, node))
    if len(axes) == 1:
        return axes[0]
    return ctx.apply(Static(joining.open_grid if kind is np.ogrid else joining.dense_grid), [Tup(tuple(axes))], {}, node)


def store_list(ctx: Lowering, owner: Obj, index: Index, value: Binding, node: ast.AST) -> None:
    content = ctx.state.heap[owner.key]
    if not isinstance(content, Ref):
        if index.spec == "s":
            items = [b for _, b in content]
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
                fail(ctx, IndexError, "list assignment index out of range")
            place = key % len(content)
            ctx.change(owner.key, tuple((k, value if k == place else b) for k, b in content))
            return
        if any(isinstance(b, Obj | Tup | Maybe) for b in (value, *(b for _, b in content))) and index.spec == "i":
            store_at(ctx, owner, content, index.operands[0], value, node)
            return
        made = ctx.make(ctx.list_of([b for _, b in content], node))
        assert isinstance(made, Ref)
        for _, item in content:
            if isinstance(item, Ref):
                ctx.state.pair(item.location, made.location)
        ctx.change(owner.key, made)
        content = made
    if index.spec == "s" and (len(index.operands) < 3 or index.operands[2] is NONE):
        assert isinstance(index.bindings[0], tuple)
        replace_part(ctx, owner, index.bindings[0], ctx.apply(Static(list, "list"), [value], {}, node), node)
        return
    if index.spec != "i":
        raise UnsupportedSyntax("a slice of a list of unknown length cannot be assigned to", ctx.loc(node))
    ctx.check_alone(owner.key)
    ctx.replace_version(content.location, ctx.call("list_set", ctx.read(content), index.operands[0], item_value(ctx, value, node)))
    shares(ctx, value, content)


def replace_part(ctx: Lowering, owner: Obj, bounds: Any, others: Binding, node: ast.AST) -> None:
    """Put other items in the place of a slice of a list of any length."""
    start, stop = (Static(None) if part is None else part for part in bounds[:2])
    become_value(ctx, owner, ctx.apply(Static(with_part), [as_list(ctx, owner), start, stop, others], {}, node), node)


def become_value(ctx: Lowering, owner: Obj, made: Binding, node: ast.AST) -> None:
    """Give a list of any length the content of a new list, in which the arrays are the same."""
    ctx.check_still(owner.key)
    content = ctx.state.heap[owner.key]
    assert isinstance(content, Ref)
    ctx.replace_version(content.location, ctx.whole(made, node))
    shares(ctx, made, content)


def as_list(ctx: Lowering, owner: Obj) -> Obj:
    """What a list or deque of any length holds, for a composition that makes a list of it: slices of a deque are none of Python's."""
    return owner if owner.key.exact is None else ctx.new_object("list", ctx.state.heap[owner.key])


def items_known(ctx: Lowering, value: Binding, node: ast.AST) -> list[Binding]:
    """The items that a slice of a list is assigned, one by one."""
    made = ctx.apply(Static(list, "list"), [value], {}, node)
    content = ctx.state.heap[made.key] if isinstance(made, Obj) else None
    if not isinstance(content, tuple):
        raise UnsupportedSyntax("how many items a slice of a list is assigned is not known", ctx.loc(node), "append them one by one")
    return [b for _, b in content]


def check_changed(ctx: Lowering, owner: Obj, index: Index, node: ast.AST) -> None:
    """Raise what Python raises where a list, deque or tuple is changed at such a place."""
    name = exact_class(ctx, owner, node).__name__
    if owner.key.cls is tuple:
        fail(ctx, TypeError, "'tuple' object does not support item assignment or deletion")
    if owner.key.exact is collections.deque and "s" in index.spec:
        fail(ctx, TypeError, "sequence index must be integer, not 'slice'")
    if index.spec == "i" and isinstance(index.operands[0], Const) and not isinstance(index.operands[0].value, int):
        fail(ctx, TypeError, f"{name} indices must be integers or slices, not {type(index.operands[0].value).__name__}")


def delete_item(ctx: Lowering, owner: Binding, target: ast.Subscript) -> None:
    """``del owner[...]`` on a list or dict of known structure."""
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
            assert isinstance(index.bindings[0], tuple)
            nothing = ctx.call("list_slice", ctx.read(owner), ZERO, ZERO, NONE)
            replace_part(ctx, owner, index.bindings[0], ctx.list_sharing(nothing), target)
            return
    change_outside(ctx, owner)
    if not isinstance(owner, Obj) or isinstance(ctx.state.heap[owner.key], Ref):
        raise UnsupportedSyntax("items can only be deleted from a list or dict made in the function", ctx.loc(target))
    content = list(ctx.state.heap[owner.key])  # type: ignore[arg-type]
    index = index_of(ctx, target.slice)
    if owner.key.kind == "dict":
        ctx.check_keys(owner.key, target)
        if (gone := key_of(index)) not in dict(content) and owner.key.exact is not collections.Counter:
            definite(ctx, MISSING, target, KeyError, repr(gone))
        ctx.change(owner.key, tuple((k, b) for k, b in content if k != gone))
        return
    check_changed(ctx, owner, index, target)
    items, place = [b for _, b in content], static_index(ctx, index, target)
    if isinstance(place, int) and not -len(items) <= place < len(items):
        definite(ctx, MISSING, target, IndexError, "list assignment index out of range")
    ctx.check_still(owner.key)
    del items[place]
    ctx.change(owner.key, tuple(enumerate(items)))


__all__ = ["Index", "as_list", "become_value", "index_of", "key_of", "load", "np", "store_item"]
