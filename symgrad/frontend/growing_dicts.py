"""Dicts that get keys which are computed: lowering starts again, and such a dict is an object of ``ops.composed.growing``.

A dict has keys that are known while compiling as long as it can. Where a program stores under a key that may be a new one, the places where
the dict may have been created are noted; after the attempts to do without, what is created there is a list of keys and a list of items.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.bindings import Binding, Bound, Num, Obj, Ref, Static, Tup, is_plain_tuple, known_key, memory_of, python_class
from symgrad.frontend.context import Lowering
from symgrad.frontend.dicts import new_set
from symgrad.frontend.interruptions import Raised
from symgrad.frontend.operands import static_binding, unwrap
from symgrad.frontend.sequences import has_parts, is_plain, item_value, listed, shares
from symgrad.frontend.skeletons import Skeleton
from symgrad.frontend.stepping import new_record, site_of
from symgrad.frontend.tables import special
from symgrad.ir.core import FALSE, NONE, Const, Operand
from symgrad.ir.types import TEXT, UNDEFINED, List, Scalar, Struct, Type
from symgrad.ops.composed import growing, growing_keys, growing_sets

KEYS = "computed keys of a dict are ints, bools, floats, texts, or tuples of these, all of one kind"
OF_ONE_CLASS = "make all keys of the dict one class, or use a dict for each kind of key"
#: the kinds of keys of which those of one may equal those of another
NUMBERS = (int, bool, float)


def new_dict(ctx: Lowering, content: Iterable[tuple[Any, Binding]], node: ast.AST, cls: Any = None, exact: type | None = None) -> Obj:
    """A dict that a program creates, of keys that are known; ``cls`` says what makes missing items."""
    if not is_to_grow(ctx, node) or exact not in (None, *growing.CLASSES.values()):
        result = ctx.new_object("dict", content, cls, exact)
        site = site_of(ctx, node)
        result.key.sites = (site,)
        ctx.dict_sites[site] = None
        return result
    result = new_growing(ctx, cls, node)
    ctx.hold(result)
    for key, item in content:
        ctx.apply_method(result, "__setitem__", [static_binding(key), item], node)
    let_grow(ctx, result)
    return result


def new_set_at(ctx: Lowering, elements: Iterable[Any], node: ast.AST) -> Obj:
    """A set that a program creates, of elements that are known."""
    site = site_of(ctx, node)
    if site not in ctx.stateful:
        result = new_set(ctx, elements)
        result.key.sites = (site,)
        return result
    result = new_record(ctx, growing_sets.GrowingSet, [], node)
    ctx.hold(result)
    for element in dict.fromkeys(elements):
        ctx.apply_method(result, "add", [static_binding(element)], node)
    let_grow(ctx, result)
    return result


def note_new_element(ctx: Lowering, owner: Obj) -> None:
    """Note the places where a set may have been created that gets an element which is computed."""
    ctx.growing_sites.update(dict.fromkeys(owner.key.sites, True))


def let_grow(ctx: Lowering, held: Obj) -> None:
    """Make the lists of a dict, where they hold something, lists of any length."""
    for part in dict(ctx.state.entries(held.key)).values():
        content = ctx.state.heap[part.key] if isinstance(part, Obj) and part.key.kind == "list" else ()
        if isinstance(content, tuple) and content:
            sequence = ctx.make(listed(ctx, [item for _, item in content]))
            assert isinstance(sequence, Ref)
            for _, item in content:
                shares(ctx, item, sequence)
            ctx.change(part.key, sequence)


def is_to_grow(ctx: Lowering, node: ast.AST) -> bool:
    """Has an attempt found that a dict which is created here gets keys that are computed?"""
    return site_of(ctx, node) in ctx.stateful


def new_growing(ctx: Lowering, cls: Any, node: ast.AST) -> Obj:
    """A dict without keys; ``cls`` says what makes missing items."""
    if isinstance(cls, tuple) and cls[0] == "made":
        return new_record(ctx, growing.GrowingDefaultDict, [cls[1]], node)
    return new_record(ctx, growing.GrowingCounter if isinstance(cls, tuple) else growing.GrowingDict, [], node)


def dict_of(ctx: Lowering, args: list[Binding], node: ast.AST, known: Callable[[], Obj], fill: Callable[[Obj], Binding],
            cls: Any = None) -> Obj:  # fmt: skip
    """A dict that is created of others, or of pairs or elements, as by ``dict(...)``.

    ``known`` creates it of keys that are known; ``fill`` stores in a dict that gets computed keys.
    """
    if not is_to_grow(ctx, node) and not any(map(is_growing, args)):
        try:
            return known()
        except SymgradError:
            note_new_site(ctx, node)
            raise
    result = new_growing(ctx, cls, node)
    ctx.hold(result)
    fill(result)
    return result


def update(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Callable[[Obj], Binding]:
    """What stores in a dict that gets computed keys what ``dict(...)`` or ``Counter(...)`` is given."""
    return lambda held: ctx.apply(Bound(held, "update"), args, kwargs, node)


def is_growing(binding: Any) -> bool:
    """Is it such a dict, or a view of one?"""
    return isinstance(binding, Obj) and binding.key.kind == "record" and binding.key.cls in growing.CLASSES


def class_of_growing(binding: Any) -> type | None:
    """The class of such a dict or view in Python; None for all else."""
    return growing.CLASSES[binding.key.cls] if is_growing(binding) else None


def check_attribute(ctx: Lowering, owner: Binding, name: str, node: ast.AST) -> None:
    """Refuse what a program reads of such a dict, other than the methods that it has."""
    if not is_growing(owner) or name.startswith("__") or ctx.frame.source.function.__module__.startswith(growing.__name__):
        return
    assert isinstance(owner, Obj)
    followed = growing.METHODS[owner.key.cls]
    if name not in followed:
        what = f"{name!r} of a dict whose keys are not known while compiling, or of a view of one, is not followed"
        hint = f"use {', '.join(followed)}, len, in, and indices" if followed else "loop over it, or make it a list"
        raise UnsupportedSyntax(what, ctx.loc(node), hint)


def note_new_key(ctx: Lowering, owner: Obj) -> None:
    """Note the places where a dict may have been created that gets a key which may be a new one."""
    ctx.growing_sites.update(dict.fromkeys(owner.key.sites or ctx.dict_sites, True))


def check_known(ctx: Lowering, owner: Obj, other: Binding, node: ast.AST) -> None:
    """Refuse to store what such a dict holds in a dict of known keys, which has to be such a dict too."""
    if is_growing(other):
        note_new_key(ctx, owner)
        what = "what a dict holds whose keys are not known while compiling is stored in a dict of known keys"
        raise UnsupportedSyntax(what, ctx.loc(node), "loop over its items, and store them one by one")


def note_new_site(ctx: Lowering, node: ast.AST) -> None:
    """Note that a dict which is created here has a key that is computed."""
    ctx.growing_sites[site_of(ctx, node)] = True


@special(growing_keys.create)
def create(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    kind, *parts = args
    return new_record(ctx, unwrap(kind), parts, node)


# ------------------------------------------------------------------ keys


@special(growing_keys.key_for)
def key_for(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A key that a dict is asked with: of the kind of its keys, or a number among numbers."""
    return checked_key(ctx, args[0], args[1], node, is_asked=True)


@special(growing_keys.key_to_store)
def key_to_store(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A key of the same kind as those that a dict has."""
    return checked_key(ctx, args[0], args[1], node, is_asked=False)


def checked_key(ctx: Lowering, keys: Binding, key: Binding, node: ast.AST, is_asked: bool) -> Binding:
    """A key of a kind that the keys of a dict can be compared with."""
    kind = kind_of(ctx, key)
    if kind is None:
        raise UnsupportedSyntax(KEYS, ctx.loc(node), "use an array or a list for other keys")
    for number in numbers_in(key):
        if ctx.type_of(number).kind == "float":  # type: ignore[attr-defined]
            ctx.apply(Static(growing_keys.number_checked), [number], {}, node)
        if ctx.type_of(number) == Scalar("float", "any"):
            ctx.apply(Static(growing_keys.class_checked), [number], {}, node)
    kinds = kinds_held(ctx, keys)
    if all(is_kind(held, kind) for held in kinds):
        return key
    if not is_asked or kind not in NUMBERS or not all(held in NUMBERS for held in kinds):
        raise UnsupportedSyntax(KEYS, ctx.loc(node), OF_ONE_CLASS)
    if float in (kind, *kinds):
        ctx.apply(Static(growing_keys.number_compared), [key], {}, node)
    return key


@special(growing_keys.to_hold)
def to_hold(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """An item; a list as one of any length, which is seen in the list of items from then on."""
    (item,) = args
    if is_growing(item) and not ctx.sequences:
        what = "a dict whose keys are not known while compiling is an item of another one, and is changed there"
        raise UnsupportedSyntax(what, ctx.loc(node), "use one dict with pairs for keys, as in d[i, j]")
    if isinstance(item, Obj) and is_plain(item.key) and isinstance(content := ctx.state.heap[item.key], tuple):
        if not any(has_parts(ctx, one) for _, one in content):
            ctx.change(item.key, ctx.make(ctx.list_of([one for _, one in content], node)))  # type: ignore[arg-type]
    return item


@special(growing_keys.is_float)
def is_float(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return Num(ctx.call("is_float", ctx.read(args[0], node)))


@special(growing_keys.is_among)
def is_among(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    keys, key = args
    if ctx.state.heap[keys.key] == ():  # type: ignore[attr-defined]
        return Num(FALSE)
    row = as_row(ctx, keys, key)
    with ctx.unwatched():
        return Num(ctx.call("contains", ctx.held(keys), ctx.read(key, node) if row is None else row))


@special(growing_keys.place_among)
def place_among(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    keys, key = args
    if (row := as_row(ctx, keys, key)) is not None:
        with ctx.unwatched():  # the key is there
            return Num(ctx.call("list_index", ctx.held(keys), row))
    return ctx.apply_method(keys, "index", [key], node)


def as_row(ctx: Lowering, keys: Binding, key: Binding) -> Operand | None:
    """A tuple as one value, to be compared with the tuples in a list of any length."""
    assert isinstance(keys, Obj)
    is_row = isinstance(key, Tup) and ctx.sequences and memory_of(ctx.state.heap[keys.key]) is not None
    return item_value(ctx, key) if is_row else None


def numbers_in(key: Binding) -> list[Binding]:
    """The numbers that a key consists of, but for those that are known to be no nan."""
    if isinstance(key, Tup):
        return [number for item in key.items for number in numbers_in(item)]
    known = known_key(key)
    return [key] if isinstance(key, Num) and python_class(key) is None and not (isinstance(known, int | float) and known == known) else []


def kinds_held(ctx: Lowering, keys: Any) -> list[Any]:
    """The kinds of the keys that a dict has; none where there are no keys, or the head of a loop does not know them yet."""
    content = ctx.state.heap[keys.key]
    if memory_of(content) is None:
        return [kind_of(ctx, key) for _, key in content]  # type: ignore[union-attr]
    type_ = ctx.type_of(content)  # type: ignore[arg-type]
    kind = kind_of_type(type_.item) if isinstance(type_, List) else None
    return [] if kind is UNDEFINED else [kind]


def kind_of_type(type_: Type) -> Any:
    """The kind of keys of a type; ``UNDEFINED`` where it is not known yet, None where they may equal keys of other kinds."""
    match type_:
        case Scalar(kind="int"):
            return int
        case Scalar(kind="bool"):
            return bool
        case Scalar(kind="float", dtype=None | "f64" | "any"):
            return float
        case Scalar(kind="float", dtype=dtype):
            return dtype
        case Struct(items=items, form=form):
            return kind_of_form(form, iter(items))
        case List(item=item, of="tuple"):
            return (..., kind_of_type(item))
    return str if type_ == TEXT else UNDEFINED if type_ == UNDEFINED else None


def kind_of_form(form: Skeleton, types: Iterator[Type]) -> Any:
    """The kind of a tuple of a form, which has values of these types."""
    if form.form != "tuple" or form.same is not None:
        return kind_of_type(next(types)) if form.form == "num" else None
    kinds = [kind_of_form(part, types) for part in form.items]
    return None if None in kinds or not kinds else tuple(kinds)


def is_kind(held: Any, kind: Any) -> bool:
    """Is a kind of keys another one?  Of tuples the length may not be known, and at first the head of a loop knows no kind."""
    if UNDEFINED in (held, kind):
        return True
    if isinstance(held, tuple) and isinstance(kind, tuple) and len(held) == len(kind) and held[0] is not ...:
        return all(map(is_kind, held, kind))
    if isinstance(held, tuple) and held[0] is ...:
        return isinstance(kind, tuple) and all(held[1] in (UNDEFINED, part) for part in kind)
    return bool(held == kind)


def kind_of(ctx: Lowering, key: Binding) -> Any:
    """The kind of a key: a class of numbers or texts, a dtype, or a tuple of these; None for others."""
    if python_class(key) is str:
        return str
    match key:
        case Static(value) if type(value) is str:
            return str
        case Num(Const(value)) if isinstance(value, np.integer):
            return int
        case Num(operand):
            return kind_of_type(operand.type)
    if is_plain_tuple(key):
        kinds = tuple(kind_of(ctx, item) for item in key.items)  # type: ignore[attr-defined]
        return None if None in kinds or not kinds else kinds
    return None


# ------------------------------------------------------------------ what is refused


@special(growing_keys.compared)
def compared(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Refuse a comparison of dicts that hold other things than numbers and texts: what is one object is equal there."""
    for held in args:
        items = dict(ctx.state.entries(held.key))["stored_items"] if is_growing(held) else None  # type: ignore[attr-defined]
        content = ctx.state.heap[items.key] if isinstance(items, Obj) else None
        if items is not None and not are_single(ctx, content):
            what = "dicts whose keys are not known while compiling are compared, and hold other things than numbers"
            raise UnsupportedSyntax(what, ctx.loc(node), "compare their items one by one")
    return Static(None)


def are_single(ctx: Lowering, content: Any) -> bool:
    """Are the items of a list numbers or texts?"""
    if memory_of(content) is None:
        return all(isinstance(item, Num | Static) for _, item in content)
    type_ = ctx.type_of(content)
    return isinstance(type_, List) and (type_.item in (TEXT, UNDEFINED) or isinstance(type_.item, Scalar))


@special(growing_keys.unanswered)
def unanswered(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (what,) = args
    raise UnsupportedSyntax(
        f"a dict whose keys are not known while compiling is {unwrap(what)}", ctx.loc(node), "loop over its items, and use lists or numbers"
    )


@special(growing_keys.unanswered_of_set)
def unanswered_of_set(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (what,) = args
    hint = "keep its elements in a list too, and use that"
    raise UnsupportedSyntax(f"a set whose elements are not known while compiling is {unwrap(what)}", ctx.loc(node), hint)


@special(growing_keys.undecided)
def undecided(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    what, hint = args
    refused = ctx.constant(UnsupportedSyntax, "UnsupportedSyntax")
    ctx.builder.call_many("raise_error", refused, Const(unwrap(what)), NONE, Const(unwrap(hint)))
    ctx.state.dead = True
    raise Raised


__all__ = ["check_attribute", "check_known", "class_of_growing", "dict_of", "is_growing", "is_to_grow", "let_grow", "new_dict",
    "new_growing", "new_set_at", "note_new_element", "note_new_key", "note_new_site", "update"]  # fmt: skip
