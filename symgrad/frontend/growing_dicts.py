"""Dicts that get keys which are computed: lowering starts again, and such a dict is an object of ``ops.composed.growing``.

A dict has keys that are known while compiling as long as it can. Where a program stores under a key that may be a new one, the place where
the dict is created is noted; after the attempts to do without, that dict is lowered as a list of keys and a list of items.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import Binding, Num, Obj, is_plain_tuple, known_key, memory_of, python_class
from symgrad.frontend.context import Lowering
from symgrad.frontend.interruptions import Raised
from symgrad.frontend.operands import static_binding, unwrap
from symgrad.frontend.stepping import new_record, site_of
from symgrad.frontend.tables import special
from symgrad.ir.core import NONE, Const
from symgrad.ir.types import TEXT, UNDEFINED, List, Scalar, Struct, Type
from symgrad.ops.composed import growing

#: what a program may read of such a dict or a view of it
METHODS = ("get", "setdefault", "pop", "keys", "values", "items")
KEYS = "computed keys of a dict are ints, texts, or tuples of these, all of one kind"


def new_dict(ctx: Lowering, content: Iterable[tuple[Any, Binding]], node: ast.AST, cls: Any = None, exact: type | None = None) -> Obj:
    """A dict that a program creates; ``cls`` says what makes missing items."""
    site = site_of(ctx, node)
    if site not in ctx.stateful or exact not in (None, *growing.CLASSES.values()):
        result = ctx.new_object("dict", content, cls, exact)
        result.key.site = site
        ctx.dict_sites[site] = None
        return result
    if isinstance(cls, tuple) and cls[0] == "made":
        result = new_record(ctx, growing.GrowingDefaultDict, [cls[1]], node)
    else:
        result = new_record(ctx, growing.GrowingCounter if isinstance(cls, tuple) else growing.GrowingDict, [], node)
    ctx.hold(result)
    for key, item in content:
        ctx.apply_method(result, "__setitem__", [static_binding(key), item], node)
    return result


def is_growing(binding: Any) -> bool:
    """Is it such a dict, or a view of one?"""
    return isinstance(binding, Obj) and binding.key.kind == "record" and binding.key.cls in growing.CLASSES


def class_of_growing(binding: Any) -> type | None:
    """The class of such a dict or view in Python; None for all else."""
    return growing.CLASSES[binding.key.cls] if is_growing(binding) else None


def check_attribute(ctx: Lowering, owner: Binding, name: str, node: ast.AST) -> None:
    """Refuse what a program reads of such a dict, other than the methods that it has."""
    if is_growing(owner) and not (name in METHODS or name.startswith("__")) and ctx.frame.source.function.__module__ != growing.__name__:
        what = f"{name!r} of a dict whose keys are not known while compiling is not followed"
        raise UnsupportedSyntax(what, ctx.loc(node), f"use {', '.join(METHODS)}, len, in, and indices")


def note_new_key(ctx: Lowering, owner: Obj) -> None:
    """Note the place where a dict is created that gets a key which may be a new one."""
    ctx.growing_sites.update(ctx.dict_sites if owner.key.site is None else {owner.key.site: None})


@special(growing.view_of)
def view_of(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    held, kind = args
    return new_record(ctx, unwrap(kind), [held], node)


@special(growing.key_for)
def key_for(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A key of the same kind as those that a dict has."""
    keys, key = args
    kind = kind_of(key)
    if kind is None:
        raise UnsupportedSyntax(KEYS, ctx.loc(node), "use an array or a list for other keys")
    if not all_of_kind(ctx, keys, kind):
        raise UnsupportedSyntax(KEYS, ctx.loc(node), "use a dict for each kind of key")
    return key


def all_of_kind(ctx: Lowering, keys: Any, kind: Any) -> bool:
    """Are all keys of a dict of one kind?"""
    content = ctx.state.heap[keys.key]
    if memory_of(content) is None:
        return all(kind_of(key) == kind for _, key in content)  # type: ignore[union-attr]
    type_ = ctx.type_of(content)  # type: ignore[arg-type]
    return isinstance(type_, List) and is_of_kind(type_.item, kind)


def is_of_kind(type_: Type, kind: Any) -> bool:
    """Is a type that of keys of a kind?  The head of a loop may not know the type yet."""
    if isinstance(type_, Struct):
        return isinstance(kind, tuple) and len(kind) == len(type_.items) and all(map(is_of_kind, type_.items, kind))
    if isinstance(type_, List):  # a tuple of numbers, or of texts
        return type_.of == "tuple" and isinstance(kind, tuple) and all(is_of_kind(type_.item, part) for part in kind)
    return type_ == UNDEFINED or (type_ == TEXT if kind is str else kind is int and isinstance(type_, Scalar) and type_.kind == "int")


def kind_of(key: Binding) -> Any:
    """The kind of a key: ``int``, ``str`` or a tuple of these; None for others, which may be equal to keys of other classes."""
    if python_class(key) is str:
        return str
    value = known_key(key)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int
    if type(value) is str:
        return str
    match key:
        case Num(operand) if isinstance(operand.type, Scalar) and operand.type.kind == "int":
            return int
    if is_plain_tuple(key):
        kinds = tuple(map(kind_of, key.items))  # type: ignore[attr-defined]
        return None if None in kinds or not kinds else kinds
    return None


@special(growing.unanswered)
def unanswered(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (what,) = args
    raise UnsupportedSyntax(
        f"a dict whose keys are not known while compiling is {unwrap(what)}", ctx.loc(node), "loop over its items, and use lists or numbers"
    )


@special(growing.undecided)
def undecided(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (what,) = args
    refused = ctx.constant(UnsupportedSyntax, "UnsupportedSyntax")
    ctx.builder.call_many(
        "raise_error", refused, Const(unwrap(what)), NONE, Const("loop over a copy of its keys, collected in a list before")
    )
    ctx.state.dead = True
    raise Raised


__all__ = ["check_attribute", "class_of_growing", "is_growing", "new_dict", "note_new_key"]
