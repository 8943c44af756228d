"""Values as text (``print``, ``str``, f-strings): as Python shows them, tuples as tuples, named tuples by their names."""

from __future__ import annotations

import ast
import collections
import enum
import types
from typing import Any

from symgrad.containers import VALUES
from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import as_python_does
from symgrad.frontend.flow.edges import GIVEN
from symgrad.frontend.objects.derived import as_base, base_of, is_derived
from symgrad.frontend.objects.dicts import in_order
from symgrad.frontend.objects.opaque import opaque_operand
from symgrad.frontend.objects.operands import known_value, static_binding
from symgrad.frontend.objects.python_results import as_given, instance_made_by_call
from symgrad.frontend.objects.reading import from_class, is_of_library, owner_name
from symgrad.frontend.state.bindings import Binding, Choice, External, HeapKey, Iter, Maybe, Num, Obj, Ref, Static, Tup, View
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Block, Const, If, Operand, Value
from symgrad.ir.types import UNKNOWN, holds_parts
from symgrad.ops.composed import growing_classes
from symgrad.runtime.support import ShownAs


def for_printing(ctx: Lowering, binding: Binding, node: ast.AST, word: str = "__str__") -> Operand:
    """A value for a call that converts it to text: a list of the IR that is a tuple becomes a tuple again.

    ``word`` is the method for an instance's text: ``__repr__`` for instances inside other values.
    """
    match binding:
        case Maybe(present=test, inner=one, absent=other) | Choice(test=test, then=one, orelse=other):
            blocks = []
            for side in (one, other):
                with ctx.inside(Block()) as block:
                    block.yields = [for_printing(ctx, side, node, word)]
                blocks.append(block)
            ctx.builder.append(If([out := Value(UNKNOWN)], ctx.builder.loc, test, *blocks))
            return out
        case View() | Iter():
            raise UnsupportedSyntax("the text of a view or an iterator is not known", ctx.loc(node), "make it a list")
        case Tup(items, kind):
            inside = [for_printing(ctx, item, node, "__repr__") for item in items]
            if kind is not None:
                return instance_made_by_call(ctx, kind, owner_name(ctx, kind), inside)
            return instance_made_by_call(ctx, tuple, "tuple", [ctx.call("list_of", *inside)])
        case Obj(key) if key.kind == "record":
            if (base := shown_as(ctx, binding, word)) is not binding:
                return for_printing(ctx, base, node, word)
            return of_instance(ctx, binding, word, node)
        case Obj(key) if key.exact is not None or key.kind == "dict" and key.cls is not None:
            return of_collection(ctx, binding, node)
        case Static(value) if isinstance(value, enum.Enum):
            return opaque_operand(ctx, binding, node)
        case Obj(key) if key.kind == "list" and isinstance(ctx.state.heap[key], Ref):
            return as_given(ctx, ctx.read(binding, node), key.cls is tuple, node)
        case Obj(key) if key.kind == "list" and not isinstance(ctx.state.heap[key], Ref):
            return ctx.call("list_of", *[for_printing(ctx, item, node, "__repr__") for _, item in ctx.state.entries(key)])
        case Obj(key) if key.kind == "dict":
            return instance_made_by_call(ctx, dict, "dict", [pairs_of(ctx, key, node)])
        case External():
            return opaque_operand(ctx, binding, node)
    return ctx.read(binding, node)


def pairs_of(ctx: Lowering, key: HeapKey, node: ast.AST) -> Operand:
    """The keys and items of a dict as pairs."""
    ctx.check_keys(key, node)
    pairs = [Tup((static_binding(k), b)) for k, b in ctx.state.entries(key)]
    return ctx.call("list_of", *[for_printing(ctx, pair, node) for pair in pairs])


def shown_as(ctx: Lowering, binding: Binding, word: str) -> Binding:
    """The instance as a value of its base class, whose text has no class name, if its class inherits the method."""
    if not isinstance(binding, Obj) or not is_derived(binding) or base_of(binding.key.cls) not in (list, dict, *VALUES):
        return binding
    return as_base(ctx, binding, word, "__repr__")


def of_instance(ctx: Lowering, binding: Obj, word: str, node: ast.AST) -> Operand:
    """The text of an instance by the methods of its class, as an object that prints as it."""
    cls = binding.key.cls
    if cls in growing_classes.DICTS:
        shown_dict = growing_shown(ctx, binding, node)
        return shown_dict if word == "__repr__" else ctx.call("format_text", Const("{}"), shown_dict)
    own = next((w for w in (word, "__repr__") if isinstance(from_class(ctx, cls, w), types.FunctionType)), None)
    if own is None and GIVEN in dict(ctx.state.entries(binding.key)) and (word == "__str__" or is_of_library(cls)):
        base = next(base for base in cls.__mro__ if is_of_library(base))  # the text is that of Python's class
        arguments = dict(ctx.state.entries(binding.key))["args"]
        items = arguments.items if isinstance(arguments, Tup) else ()
        instance = instance_made_by_call(ctx, base, base.__name__, [for_printing(ctx, item, node, "__repr__") for item in items])
        return instance if word == "__repr__" else ctx.call("format_text", Const("{}"), instance)
    if own is None:
        what = f"the text of an instance of {cls.__name__} contains its memory address"
        raise UnsupportedSyntax(what, ctx.loc(node), f"define __repr__ in {cls.__name__}")
    text = ctx.read(ctx.apply_method(binding, own, [], node), node)
    return text if word == "__str__" else instance_made_by_call(ctx, ShownAs, owner_name(ctx, ShownAs), [text])


def growing_shown(ctx: Lowering, binding: Obj, node: ast.AST) -> Operand:
    """A dict of dynamic keys, for its text."""
    held = dict(ctx.state.entries(binding.key))
    if "stored_items" not in held:
        what = "the text of a dict that is an item of another one, and is changed there, is not known"
        raise UnsupportedSyntax(what, ctx.loc(node), "format its keys and items in a loop over it")
    lists = [as_given(ctx, ctx.read(held[name], node), False, node) for name in ("stored_keys", "stored_items")]
    if any(holds_parts(part.type) for part in lists):
        what = "the text of a dict with tuples, whose keys are not known at compile time, is not known"
        raise UnsupportedSyntax(what, ctx.loc(node), "format its keys and items in a loop over it")
    inside = instance_made_by_call(ctx, dict, "dict", [instance_made_by_call(ctx, zip, "zip", lists)])
    kind = growing_classes.CLASSES[binding.key.cls]
    if kind is collections.Counter:
        return instance_made_by_call(ctx, kind, owner_name(ctx, kind), [inside])
    if kind is dict:
        return inside
    maker = held["factory"]
    if not isinstance(maker, Static) or not isinstance(maker.value, type):
        raise UnsupportedSyntax("the text of a defaultdict is not known", ctx.loc(node), "format the values that it holds")
    return instance_made_by_call(ctx, kind, owner_name(ctx, kind), [Const(maker.value, owner_name(ctx, maker.value)), inside])


def of_collection(ctx: Lowering, binding: Obj, node: ast.AST) -> Operand:
    """A set, or a list or dict of ``collections``, for its text."""
    key = binding.key
    kind: Any = key.exact or (set if key.cls is set else None)
    name = kind.__name__ if kind in (set, frozenset) else owner_name(ctx, kind)
    if kind in (set, frozenset):
        return instance_made_by_call(ctx, kind, name, [ctx.call("list_of", *[Const(k) for k in in_order(ctx, binding, node)])])
    if kind in (collections.OrderedDict, collections.Counter):
        inside = instance_made_by_call(ctx, dict, "dict", [pairs_of(ctx, key, node)])
        return instance_made_by_call(ctx, kind, name, [inside])
    if kind is collections.deque and not isinstance(ctx.state.heap[key], Ref):
        items = ctx.call("list_of", *[for_printing(ctx, item, node, "__repr__") for _, item in ctx.state.entries(key)])
        return instance_made_by_call(ctx, kind, name, [items, *([Const(key.cls[1])] if isinstance(key.cls, tuple) else [])])
    if kind is collections.defaultdict and (key.cls is None or isinstance(key.cls[1], Static) and isinstance(key.cls[1].value, type)):
        maker = Const(None) if key.cls is None else Const(key.cls[1].value, owner_name(ctx, key.cls[1].value))
        return instance_made_by_call(ctx, kind, name, [maker, pairs_of(ctx, key, node)])
    word = getattr(kind or key.cls, "__name__", "this")
    raise UnsupportedSyntax(f"the text of a {word} is not known", ctx.loc(node), "format the values that it holds")


#: NumPy dtypes whose numbers ``format`` may show with more digits than ``str``
NARROW = frozenset({"f16", "f32", "c64", "any"})


def text_of(ctx: Lowering, binding: Binding, node: ast.AST, form: str) -> Binding:
    """The text of a value by ``str`` or ``repr``: static if the value is, else computed at run time."""
    binding = shown_as(ctx, binding, "__repr__" if "!r" in form else "__str__")
    if isinstance(binding, Obj) and binding.key.kind == "record":
        text = of_instance(ctx, binding, "__repr__" if "!r" in form else "__str__", node)
        return Num(text) if "!r" not in form else Num(ctx.call("format_text", Const("{!r}"), text))
    for value in known_value(binding):
        if isinstance(value, str | bool | int | float | None):
            return Static(as_python_does(ctx, node, lambda value=value: form.format(value)))  # type: ignore[misc]
    if form == "{}" and getattr(ctx.type_of(binding), "dtype", "any") in NARROW:
        form = "{!s}"  # ``format`` shows the number as a Python number
    return Num(ctx.call("format_text", Const(form), for_printing(ctx, binding, node)))


__all__ = ["for_printing", "text_of"]
