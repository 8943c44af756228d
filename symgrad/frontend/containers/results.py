"""A lowered function: its ``Func`` of the IR, and the text that rebuilds the value it returns from the results of the IR.

A list of the IR represents a list, a tuple or a named tuple of the user's program, and so do the
lists in it: its type says which.
"""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.appending import longest
from symgrad.frontend.objects.columns import columns
from symgrad.frontend.objects.outside import constant_text
from symgrad.frontend.objects.reading import generated, owner_name
from symgrad.frontend.state.abstract_values import Skeleton
from symgrad.frontend.state.bindings import Binding, HeapKey, Obj, Ref
from symgrad.frontend.state.caller import Captured
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Block, Call, Const, Func, If, Operand, Value, walk
from symgrad.ir.types import List, Struct, Type, Unknown, holds_parts
from symgrad.location import Loc
from symgrad.signature import Relied
from symgrad.text import each, item

OWNER = "__owner__"  #: in paths, the container whose item is read
ITEM = "item"  #: the name of a list's items in a text
#: ``Result.how`` of a dict with dynamic keys, whose items have no static path
BY_KEYS = ("keys", "items")
#: classes derived from list and dict that are constructed from their contents
DERIVED = (collections.deque, collections.OrderedDict, collections.Counter)


@dataclass(frozen=True, slots=True)
class Result:
    """The structure of a result: ``text`` with a ``{}`` for each leaf, in order; its ``items``, and their paths, ``how``.

    ``how`` are paths from the name ``OWNER``, for the items of a dict or record; it is empty if the
    items are in order.
    """

    text: str
    count: int
    items: tuple[Result, ...] = ()
    how: tuple[str, ...] = ()


def in_template(text: str) -> str:
    """A text with its braces doubled, for ``Result.text``."""
    return text.replace("{", "{{").replace("}", "}}")


def leaf_text(ctx: Lowering, binding: Binding, node: ast.AST) -> str:
    """The text of one result of the IR: itself, or a sequence of the class in the user's program."""
    type_ = ctx.type_of(binding) if isinstance(binding, Ref) else None
    if isinstance(binding, Obj) and isinstance(content := ctx.state.heap.get(binding.key), Ref):
        type_ = ctx.type_of(content)
        if isinstance(type_, List):
            of = "tuple" if binding.key.cls is tuple else "list"
            if holds_parts(type_):
                return derived_text(ctx, binding, parted_text(ctx, type_, of, node))
            named = binding.key.exact if of == "tuple" else None
            return derived_text(ctx, binding, sequence_text(ctx, List(type_.item, of, named), "{}", node))  # type: ignore[arg-type]
    return "{}" if type_ is None else sequence_text(ctx, type_, "{}", node)


def derived_text(ctx: Lowering, binding: Obj, inside: str) -> str:
    """The text of a list or dict of a derived class, around its contents."""
    key: Any = binding.key
    if key.exact not in DERIVED:
        return inside
    most = longest(ctx, binding) if key.exact is collections.deque else None
    if most is not None and not isinstance(most, Const):
        raise UnsupportedSyntax("a deque with a maxlen that is computed is returned", ctx.builder.loc, "return a list of its items")
    return f"{owner_name(ctx, key.exact)}({inside}{'' if most is None else f', {most.value}'})"


def record_text(ctx: Lowering, key: HeapKey) -> str | None:
    """The class whose call rebuilds an instance from its attributes; None where that may give another instance.

    A dataclass with a method ``__post_init__``, or with attributes besides its fields, cannot be
    rebuilt so.
    """
    if key.cls is types.SimpleNamespace:
        return owner_name(ctx, key.cls)
    fields = dataclasses.fields(key.cls) if dataclasses.is_dataclass(key.cls) else ()
    if not fields or hasattr(key.cls, "__post_init__") or [f.name for f in fields if f.init] != [k for k, _ in ctx.state.entries(key)]:
        return None
    return owner_name(ctx, key.cls) if generated(key.cls, "__init__") is not None else None


def sequence_text(ctx: Lowering, type_: Type, text: str, node: ast.AST) -> str:
    """The text of a list of the IR as the sequence that it represents in the user's program."""
    if not isinstance(type_, List):
        return text
    if type_.of == "either":
        what = "the result is a list on some paths and a tuple on others"
        raise UnsupportedSyntax(what, ctx.loc(node), "make it the same on all paths")
    if isinstance(type_.item, Unknown) and hides_tuples(ctx.builder.block):
        what = "the result holds tuples and other values in one list of any length"
        raise UnsupportedSyntax(what, ctx.loc(node), "return lists whose items are of one kind")
    inside = sequence_text(ctx, type_.item, ITEM, node)
    items = text if inside == ITEM else f"[{inside} for {ITEM} in {text}]"
    if type_.named is not None:
        return f"{owner_name(ctx, type_.named)}(*{items})"
    return f"tuple({items})" if type_.of == "tuple" else items


def parted_text(ctx: Lowering, type_: List, of: str, node: ast.AST) -> str:
    """The text of a list of structured items, built from the lists of their parts."""
    of_items = type_.item
    if not isinstance(of_items, Struct) or len(columns(of_items)) != len(of_items.items):
        raise UnsupportedSyntax("the result holds lists of lists of tuples or objects", ctx.loc(node), "return arrays")
    words = [f"item_{place}" for place in range(len(of_items.items))]
    inside = item_text(ctx, of_items.form, iter(words), iter(of_items.items), node)
    text = f"[{inside} for {', '.join(words)}, in zip({', '.join(['{}'] * len(words))})]"
    return f"tuple({text})" if of == "tuple" else text


def leaf_result(ctx: Lowering, binding: Binding, type_: Type, node: ast.AST) -> Result:
    """The structure of a part that is one result of the IR, or one for each part of a list's items."""
    text = leaf_text(ctx, binding, node)
    if not holds_parts(type_):
        return Result(text, 1)
    assert isinstance(type_, List)
    assert isinstance(type_.item, Struct)
    count = len(columns(type_))
    how = tuple(each(OWNER, path) for path in part_paths(type_.item.form, ITEM))
    return Result(text, count, (Result("{}", 1),) * count, how)


def part_paths(form: Skeleton, path: str) -> list[str]:
    """The expressions that read the parts of an item."""
    if form.form in ("num", "array"):
        return [path]
    match form.form, form.same:
        case "object", (_, _, None, None):
            return [path]
        case "object", (_, _, tuple() as keys, None):
            return [place for key, part in zip(keys, form.items, strict=True) for place in part_paths(part, item(path, key))]
    return [place for key, part in enumerate(form.items) for place in part_paths(part, item(path, key))]


def item_text(ctx: Lowering, form: Skeleton, words: Iterator[str], types: Iterator[Type], node: ast.AST) -> str:
    """The text of one item, built from the names of its parts."""
    if form.form in ("num", "array"):
        return sequence_text(ctx, next(types), next(words), node)
    inner = [item_text(ctx, part, words, types, node) for part in form.items]
    match form.form, form.same:
        case "tuple", None:
            return f"({', '.join(inner)},)"
        case "tuple", kind:
            return f"{owner_name(ctx, kind)}({', '.join(inner)})"
        case "object", ("list", None | builtins.tuple, None, None):
            return inner[0]
        case "object", ("list", None, _, None):
            return f"[{', '.join(inner)}]"
        case "object", ("dict", None, keys, None):
            pairs = (f"{in_template(constant_text(ctx, key))}: {value}" for key, value in zip(keys, inner, strict=True))
            return "{{" + ", ".join(pairs) + "}}"
    raise UnsupportedSyntax("a list of such items is returned", ctx.loc(node), "return tuples of arrays")


def hides_tuples(block: Block) -> bool:
    """Whether a tuple is stored in a list whose items have no common type."""
    for op in walk(block):
        if isinstance(op, Call) and isinstance(type_ := op.outs[0].type if op.outs else None, List) and isinstance(type_.item, Unknown):
            if any(holds_tuple(operand.type) for operand in op.args):
                return True
    return False


def holds_tuple(type_: Type) -> bool:
    """Whether the type is that of a tuple, or of a list with tuples in it."""
    return isinstance(type_, List) and (type_.of != "list" or holds_tuple(type_.item))


@dataclass(slots=True)
class Lowered:
    """A function as IR: its inputs in the order of ``func.params``, and the structure of its result.

    ``inputs`` are pairs (parameter, Python expression that reads it on entry); ``result`` is a
    template of the returned value over the results of ``func``. ``captured`` holds the values read
    from outside.
    """

    func: Func
    inputs: list[tuple[Value, str]]
    result: Result
    captured: list[Captured]
    objects: dict[str, Any] = field(default_factory=dict)
    mutated: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()  #: the arrays in ``mutated`` that keep their contents
    caught: tuple[tuple[type, Loc], ...] = ()  #: exceptions that the function handles, with the locations
    raises: bool = False  #: the function always raises
    relied: tuple[Relied, ...] = ()
    fresh: bool = True  #: from the user's source, not the program of a derivative
    identities: tuple[str, ...] = ()  #: lists, dicts and instances whose identity with another object matters
    apart: tuple[tuple[str, str], ...] = ()  #: objects that must be distinct: read from outside, and changed arguments
    aliases: dict[str, str] = field(default_factory=dict)  #: paths into an object that another argument holds too, with the path there
    related: tuple[tuple[str, str, bool], ...] = ()  #: pairs of expressions read from outside, and whether they are one object
    keeps: tuple[Loc, ...] = ()  #: call sites of memoised functions
    loops: dict[Loc, tuple[str, ...]] = field(default_factory=dict)  #: the loops of the function, with their loop variables
    calls_again: bool = False  #: a user function is called at several places, see ``kept_calls``


def relied_on(ctx: Lowering) -> tuple[Relied, ...]:
    """The values from outside that the program depends on, as they were."""
    return tuple(
        Relied(text, aspect, value, value.__code__ if isinstance(value, types.FunctionType) else None)
        for (text, aspect, _), value in ctx.relied.items()
    )


def result_names(operands: list[Operand]) -> list[str]:
    """The names of the results of a program."""
    return ["out"] if len(operands) == 1 else [f"out_{k}" for k in range(len(operands))]


def raises(block: Block) -> bool:
    """Whether a block always raises."""
    always = (isinstance(op, If) and all(map(raises, op.blocks)) for op in block.ops)
    return any(isinstance(op, Call) and op.name in ("raise_error", "raise_again") for op in block.ops) or any(always)


__all__ = ["OWNER", "Lowered", "Result", "derived_text", "in_template", "leaf_result", "raises", "relied_on", "result_names"]
