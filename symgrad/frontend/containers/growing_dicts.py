"""Dicts that grow by dynamic keys: lowering restarts, and the dict becomes an object of ``ops.composed.growing``.

A dict has static keys as long as possible. A store under a dynamic key that may be new records the locations that may have created the
dict. If no attempt succeeds without it, the next attempt creates a list of keys and a list of items at these locations.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.containers.growing_inner import check_pool, is_inner, new_in_pool, note_apart, note_inner, pool_of
from symgrad.frontend.containers.stepping import new_record, site_of
from symgrad.frontend.flow.sequences import has_parts, is_plain, item_value, listed, shares
from symgrad.frontend.objects.dicts import is_dict, is_set
from symgrad.frontend.objects.operands import static_binding, unwrap
from symgrad.frontend.objects.protocols import own_method
from symgrad.frontend.objects.python_values import as_text
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.abstract_values import Skeleton
from symgrad.frontend.state.bindings import Binding, Bound, Num, Obj, Ref, Static, Tup, is_plain_tuple, known_key, memory_of, python_class
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.tables import special
from symgrad.ir.core import FALSE, NONE, Const, Operand
from symgrad.ir.types import TEXT, UNDEFINED, List, Scalar, Struct, Type
from symgrad.ops.composed import growing_classes, growing_dicts, growing_inner, growing_keys
from symgrad.ops.composed.growing import GrowingCounter, GrowingOrderedDict
from symgrad.ops.composed.growing_dicts import dict_by_keys
from symgrad.text import identifier

KEYS = "computed keys of a dict must be ints, bools, floats, strings, or tuples of these, all of one kind"
OF_ONE_CLASS = "convert all keys of the dict to one class, or use a dict for each kind of key"
#: the package of the compositions that implement such dicts
OUR_OWN = growing_dicts.__name__.rpartition("_")[0]
#: the kinds of keys that may equal keys of each other's kind
NUMBERS = (int, bool, float)


def new_dict(ctx: Lowering, content: Iterable[tuple[Any, Binding]], node: ast.AST, cls: Any = None, exact: type | None = None) -> Obj:
    """A dict of static keys that a program creates; ``cls`` contains the factory of missing items."""
    if not is_to_grow(ctx, node) or exact not in (None, *growing_classes.CLASSES.values()):
        result = ctx.new_object("dict", content, cls, exact)
        site = site_of(ctx, node)
        result.key.sites = (site,)
        ctx.dict_sites[site] = None
        return result
    result = new_growing(ctx, cls, node, exact)
    ctx.hold(result)
    for key, item in content:
        ctx.apply_method(result, "__setitem__", [static_binding(key), item], node)
    let_grow(ctx, result)
    return result


def let_grow(ctx: Lowering, held: Obj) -> None:
    """Turn the lists of a dict, if not empty, into lists of any length."""
    for part in dict(ctx.state.entries(held.key)).values():
        content = ctx.state.heap[part.key] if isinstance(part, Obj) and part.key.kind == "list" else ()
        if isinstance(content, tuple) and content:
            sequence = ctx.make(listed(ctx, [item for _, item in content]))
            assert isinstance(sequence, Ref)
            for _, item in content:
                shares(ctx, item, sequence)
            ctx.change(part.key, sequence)


def is_to_grow(ctx: Lowering, node: ast.AST) -> bool:
    """Whether an attempt has shown that a dict created here gets dynamic keys."""
    return site_of(ctx, node) in ctx.stateful


def new_growing(ctx: Lowering, cls: Any, node: ast.AST, exact: type | None = None) -> Obj:
    """A dict without keys; ``cls`` contains the factory of missing items."""
    makes = isinstance(cls, tuple) and cls[0] == "made"
    if exact is collections.OrderedDict:
        return new_record(ctx, GrowingOrderedDict, [], node)
    kind = growing_dicts.GrowingDefaultDict if makes else GrowingCounter if isinstance(cls, tuple) else growing_dicts.GrowingDict
    return new_in_pool(ctx, kind, [cls[1]] if makes else [], node)


def dict_of(
    ctx: Lowering,
    args: list[Binding],
    node: ast.AST,
    known: Callable[[], Obj],
    fill: Callable[[Obj], Binding],
    cls: Any = None,
    exact: type | None = None,
) -> Obj:
    """A dict created from others, or from pairs or elements, as by ``dict(...)``.

    ``known`` creates it with static keys; ``fill`` stores into a dict with dynamic keys.
    """
    if not is_to_grow(ctx, node) and not any(map(is_growing, args)):
        try:
            return known()
        except SymgradError:
            note_new_site(ctx, node)
            raise
    result = new_growing(ctx, cls, node, exact)
    ctx.hold(result)
    fill(result)
    return result


def update(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Callable[[Obj], Binding]:
    """Return a function that stores the arguments of ``dict(...)`` or ``Counter(...)`` in a dict with dynamic keys."""
    return lambda held: ctx.apply(Bound(held, "update"), args, kwargs, node)


def as_dict(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """An instance of a class with a method ``keys``, which ``dict`` reads, as a dict; all else unchanged."""
    if is_growing(binding) or own_method(ctx, binding, "keys") is None:
        return binding
    return ctx.apply(Static(dict_by_keys), [binding], {}, node)


def is_growing(binding: Any) -> bool:
    """Whether the binding is a dict or set that grows by dynamic keys, or a view of one."""
    return isinstance(binding, Obj) and binding.key.kind == "record" and binding.key.cls in growing_classes.CLASSES


def class_of_growing(binding: Any) -> type | None:
    """The Python class of such a dict or view; None for all else."""
    return growing_classes.CLASSES[binding.key.cls] if is_growing(binding) else None


def lists_of(ctx: Lowering, owner: Obj, node: ast.AST) -> tuple[Binding, Binding]:
    """The list of keys of such a dict, and the list of its items."""
    if not is_inner(owner):
        content = dict(ctx.state.entries(owner.key))
        return content["stored_keys"], content["stored_items"]
    items = ctx.apply_method(owner, "values", [], node)
    return ctx.apply(Static(growing_inner.keys_of), [owner], {}, node), ctx.apply(Static(list), [items], {}, node)


def text_around_growing(ctx: Lowering, owner: Obj, node: ast.AST) -> str:
    """The text that rebuilds such a dict from the lists of its keys and items."""
    kind = class_of_growing(owner)
    content = dict(ctx.state.entries(owner.key))
    if kind is dict:
        return "dict(zip({}, {}))"
    if kind in (collections.Counter, collections.OrderedDict):
        return owner_name(ctx, kind) + "(dict(zip({}, {})))"
    factory = content.get("factory")
    if isinstance(factory, Static) and factory.value in (int, float, list, dict, set):
        return f"{owner_name(ctx, collections.defaultdict)}({factory.value.__name__}, zip({{}}, {{}}))"
    what = "a view of a dict, or a defaultdict whose factory is a function, is returned"
    raise UnsupportedSyntax(what, ctx.loc(node), "return its keys and its items, as list(d) and list(d.values())")


def check_attribute(ctx: Lowering, owner: Binding, name: str, node: ast.AST) -> None:
    """Refuse an attribute of such a dict that is none of its supported methods."""
    if not is_growing(owner) or name.startswith("__") or (ctx.frame.source.function.__module__ or "").startswith(OUR_OWN):
        return
    assert isinstance(owner, Obj)
    followed = growing_classes.METHODS[owner.key.cls]
    if name not in followed:
        kind = "set whose elements are" if owner.key.cls in growing_classes.SETS else "dict whose keys are"
        what = f"{name!r} of a {kind} not known at compile time, or of a view of one, is not supported"
        hint = f"use {', '.join(followed)}, len, in, and indices" if followed else "loop over it, or make it a list"
        raise UnsupportedSyntax(what, ctx.loc(node), hint)


def note_new_key(ctx: Lowering, owner: Obj) -> None:
    """Record the locations that may have created the dict, for a key that may be a new one."""
    ctx.growing_sites.update(dict.fromkeys(owner.key.sites or ctx.dict_sites, True))


def check_known(ctx: Lowering, owner: Obj, other: Binding, node: ast.AST) -> None:
    """Refuse to store the content of such a dict in a dict of static keys, which must become such a dict too."""
    if is_growing(other):
        note_new_key(ctx, owner)
        what = "an item of a dict whose keys are not known at compile time is stored in a dict of known keys"
        raise UnsupportedSyntax(what, ctx.loc(node), "loop over its items, and store them one by one")


def note_new_site(ctx: Lowering, node: ast.AST) -> None:
    """Record that a dict created here has a dynamic key."""
    ctx.growing_sites[site_of(ctx, node)] = True


@special(growing_keys.create)
def create(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    kind, *parts = args
    return new_record(ctx, unwrap(kind), parts, node)


# ------------------------------------------------------------------ keys


@special(growing_keys.key_for)
def key_for(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A key to look up: of the kind of the dict's keys, or a number among numbers."""
    return checked_key(ctx, args[0], args[1], node, is_asked=True)


@special(growing_keys.key_to_store)
def key_to_store(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A key to store, of the same kind as those of the dict."""
    return checked_key(ctx, args[0], args[1], node, is_asked=False)


def checked_key(ctx: Lowering, keys: Binding, key: Binding, node: ast.AST, is_asked: bool) -> Binding:
    """A key of a kind that is comparable with the dict's keys."""
    key = with_texts(ctx, key)
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
        note_apart(ctx)
        raise UnsupportedSyntax(KEYS, ctx.loc(node), OF_ONE_CLASS)
    if float in (kind, *kinds):
        ctx.apply(Static(growing_keys.number_compared), [key], {}, node)
    return key


def with_texts(ctx: Lowering, key: Binding) -> Binding:
    """A key in which each enumerated text is a dynamic text."""
    if is_plain_tuple(key):
        return Tup(tuple(in_tuple(ctx, with_texts(ctx, item)) for item in key.items))  # type: ignore[attr-defined]
    return as_text(ctx, key)


def in_tuple(ctx: Lowering, item: Binding) -> Binding:
    """A part of a key; a static text becomes one that is comparable with texts in other tuples."""
    if isinstance(item, Static) and type(item.value) is str:
        return Num(ctx.call("literal_text", Const(item.value), hint=identifier(item.value)))
    return item


@special(growing_keys.to_hold)
def to_hold(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """An item; a list becomes one of any length, inside the list of items from then on."""
    items, item = args
    check_pool(ctx, items, item, node)
    if isinstance(item, Obj) and is_growing(item) and not is_inner(item) and not ctx.sequences:
        note_inner(ctx, item)
        what = "a dict or set whose keys are not known at compile time is an item of another one, and is changed there"
        raise UnsupportedSyntax(what, ctx.loc(node), "use one dict with pairs for keys, as in d[i, j]")
    if (is_dict(item) or is_set(item)) and item.key.exact is None and not ctx.sequences:
        note_inner(ctx, item)
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
        with ctx.unwatched():  # the key exists
            return Num(ctx.call("list_index", ctx.held(keys), row))
    return ctx.apply_method(keys, "index", [key], node)


def as_row(ctx: Lowering, keys: Binding, key: Binding) -> Operand | None:
    """A tuple as one value, for comparison with the tuples in a list of any length."""
    assert isinstance(keys, Obj)
    is_row = isinstance(key, Tup | Obj) and ctx.sequences and memory_of(ctx.state.heap[keys.key]) is not None
    return item_value(ctx, key) if is_row else None


def numbers_in(key: Binding) -> list[Binding]:
    """The numbers in a key that may be nan."""
    if isinstance(key, Tup):
        return [number for item in key.items for number in numbers_in(item)]
    known = known_key(key)
    return [key] if isinstance(key, Num) and python_class(key) is None and not (isinstance(known, int | float) and known == known) else []


def kinds_held(ctx: Lowering, keys: Any) -> list[Any]:
    """The kinds of the keys that a dict has; empty if it has none, or if the head of a loop does not know them yet."""
    content = ctx.state.heap[keys.key]
    if memory_of(content) is None:
        return [kind_of(ctx, key) for _, key in content]  # type: ignore[union-attr]
    type_ = ctx.type_of(content)  # type: ignore[arg-type]
    kind = kind_of_type(type_.item) if isinstance(type_, List) else None
    return [] if kind is UNDEFINED else [kind]


def kind_of_type(type_: Type) -> Any:
    """The kind of keys of a type; ``UNDEFINED`` if not known yet, None if they may equal keys of other kinds."""
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
    """The kind of a tuple of a form, with values of these types."""
    if form.form != "tuple" or form.same is not None:
        return kind_of_type(next(types)) if form.form == "num" else None
    kinds = [kind_of_form(part, types) for part in form.items]
    return None if None in kinds or not kinds else tuple(kinds)


def is_kind(held: Any, kind: Any) -> bool:
    """Whether two kinds of keys agree. The length of tuples may be unknown, and the head of a loop may know no kind yet."""
    if UNDEFINED in (held, kind):
        return True
    if isinstance(held, tuple) and isinstance(kind, tuple) and len(held) == len(kind) and held[0] is not ...:
        return all(map(is_kind, held, kind))
    if isinstance(held, tuple) and held[0] is ...:
        return isinstance(kind, tuple) and all(held[1] in (UNDEFINED, part) for part in kind if part is not ...)
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
        case Obj(held) if held.cls is tuple and isinstance(content := ctx.state.heap[held], Ref):
            return kind_of_type(ctx.type_of(content))
    if is_plain_tuple(key):
        kinds = tuple(kind_of(ctx, item) for item in key.items)  # type: ignore[attr-defined]
        return None if None in kinds or not kinds else kinds
    return None


# ------------------------------------------------------------------ refusals


@special(growing_keys.compared)
def compared(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Refuse a comparison of dicts with items other than numbers and texts: Python takes identical objects for equal there."""
    for held in args:
        inside = pool_of(ctx, held, node) if is_inner(held) else held
        items = dict(ctx.state.entries(inside.key)).get("stored_items") if is_growing(held) else None  # type: ignore[attr-defined]
        content = ctx.state.heap[items.key] if isinstance(items, Obj) else None
        if items is not None and not are_single(ctx, content):
            what = "dicts whose keys are not known at compile time are compared, and hold values other than numbers"
            raise UnsupportedSyntax(what, ctx.loc(node), "compare their items one by one")
    return Static(None)


def are_single(ctx: Lowering, content: Any) -> bool:
    """Whether the items of a list are numbers or texts."""
    if memory_of(content) is None:
        return all(isinstance(item, Num | Static) for _, item in content)
    type_ = ctx.type_of(content)
    return isinstance(type_, List) and (type_.item in (TEXT, UNDEFINED) or isinstance(type_.item, Scalar))


@special(growing_keys.unanswered)
def unanswered(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (what,) = args
    raise UnsupportedSyntax(
        f"a dict whose keys are not known at compile time is {unwrap(what)}", ctx.loc(node), "loop over its items, and use lists or numbers"
    )


@special(growing_keys.unanswered_of_set)
def unanswered_of_set(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (what,) = args
    hint = "keep its elements in a list too, and use that"
    raise UnsupportedSyntax(f"a set whose elements are not known at compile time is {unwrap(what)}", ctx.loc(node), hint)


@special(growing_keys.undecided)
def undecided(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    what, hint = args
    refused = ctx.constant(UnsupportedSyntax, "UnsupportedSyntax")
    ctx.builder.call_many("raise_error", refused, Const(unwrap(what)), NONE, Const(unwrap(hint)))
    ctx.state.dead = True
    raise Raised


__all__ = ["as_dict", "check_attribute", "check_known", "class_of_growing", "dict_of", "is_growing", "is_to_grow", "let_grow", "lists_of"]
__all__ += ["new_dict", "new_growing", "note_new_key", "note_new_site", "text_around_growing", "update"]
