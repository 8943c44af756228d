"""Methods of arrays, lists, dicts, tuples and instances."""

from __future__ import annotations

import ast
import collections
import types
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.errors import UnknownFunction, UnknownType, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.calls.distributions import call_distribution, distribution_of
from symgrad.frontend.calls.rows import call_row
from symgrad.frontend.containers import dict_items
from symgrad.frontend.containers.appending import append, as_list, discard, of_class_of, shorten
from symgrad.frontend.containers.computed_keys import at_key
from symgrad.frontend.containers.generators import gathered, send
from symgrad.frontend.containers.growing_dicts import check_known, is_to_grow, new_dict, note_new_key
from symgrad.frontend.containers.iterables import indices_of, items_of
from symgrad.frontend.containers.stepping import begin
from symgrad.frontend.flow.absent import as_python_does, definite
from symgrad.frontend.flow.edges import GIVEN
from symgrad.frontend.library.arrays import is_of_dtype
from symgrad.frontend.library.dataclass_methods import call_generated
from symgrad.frontend.library.draws import drawn, is_generator
from symgrad.frontend.library.messages import is_message, logged
from symgrad.frontend.library.number_methods import number_method
from symgrad.frontend.memory.exception_texts import check_pop, text_of_pop
from symgrad.frontend.memory.loads import Index, become_value, load
from symgrad.frontend.memory.stores import store_result
from symgrad.frontend.memory.strides import set_flags
from symgrad.frontend.objects.derived import OF_TWO, OPERATIONS, call_base, is_base_method, is_derived
from symgrad.frontend.objects.dicts import merged
from symgrad.frontend.objects.opaque import MUTATORS, followed, opaque_method
from symgrad.frontend.objects.operands import static_binding, unwrap
from symgrad.frontend.objects.outside import (
    change_outside,
    check_reader,
    item_text,
    outside,
    rely_on_class,
    rely_on_keys,
    rely_on_membership,
)
from symgrad.frontend.objects.python_values import OF_SETS, is_some_set, items_listed, python_method, set_from_outside
from symgrad.frontend.objects.reading import check_method, from_class, generated, rely_on_entry
from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    Binding,
    External,
    Generator,
    Num,
    Obj,
    Ref,
    Static,
    Step,
    Tup,
    View,
    known_key,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import standing_for
from symgrad.frontend.state.tables import METHODS, method
from symgrad.frontend.values.exact import exact_class
from symgrad.ir.core import FALSE, Const, Operand
from symgrad.ir.types import Array, Scalar, Unknown
from symgrad.ops import spelling
from symgrad.ops.composed.lists import without_popped
from symgrad.ops.replacements import METHODS as INSTEAD
from symgrad.ops.replacements import WRITE_OUT
from symgrad.text import key_word


def call_method(ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a method of an array, number, list, dict, tuple, string or instance."""
    if is_generator(ctx, owner):
        return drawn(ctx, owner, name, args, kwargs, node)
    if not name.startswith("_") and (distribution := distribution_of(ctx, owner)) is not None:
        return call_distribution(ctx, distribution, name, args, kwargs, node)
    if isinstance(owner, External) and is_message(ctx, owner, name):
        return logged(ctx, owner, name, args, kwargs, node)
    if python_class(owner) is not None or is_some_set(owner) and any(python_class(a) for a in args):
        if (answer := python_method(ctx, owner, name, args, kwargs, node)) is not None:
            return answer
    match owner:
        case Generator() if name == "send" and len(args) == 1 and not kwargs:
            return send(ctx, owner, args[0], node)
        case Static(value):
            return ctx.apply(Static(getattr(value, name), name), args, kwargs, node)
        case External():
            return method_of_outside(ctx, owner, name, args, kwargs, node)
        case Obj(key):
            of_kind = method_of_record if key.kind == "record" else method_of_container
            if (result := of_kind(ctx, owner, name, args, kwargs, node)) is not None:
                return result
        case Tup() if (result := method_of_tuple(ctx, owner, name, args, kwargs, node)) is not None:
            return result
        case Ref() | Num():
            return array_method(ctx, owner, name, args, kwargs, node)
    raise UnsupportedSyntax(f"method {name!r} cannot be differentiated here", ctx.loc(node), INSTEAD.get(name, WRITE_OUT))


Words = dict[str, Binding]


def method_of_record(ctx: Lowering, owner: Obj, name: str, args: list[Binding], kwargs: Words, node: ast.AST) -> Binding | None:
    """A method of an instance; None where its class has no such method."""
    key = owner.key
    if name == GIVEN:  # __init__ of a Python exception class
        return METHODS["record", GIVEN](ctx, owner, args, node)
    function = from_class(ctx, key.cls, name)
    if (base := generated(key.cls, name)) is not None:
        return call_generated(ctx, owner, base, name, args, node)
    if name == "__setattr__" and function is not None and len(args) == 2:  # super().__setattr__
        return ctx.apply(Static(object.__setattr__), [owner, *args], {}, node)
    if is_derived(owner) and is_base_method(function):
        rely_on_entry(ctx, key.cls, name)
        return call_base(ctx, function.__name__, owner, args, kwargs, node)
    if isinstance(function, types.FunctionType):
        rely_on_class(ctx, owner, key.cls, name, function)
        return call_function(ctx, function, [owner, *args], kwargs, node)
    return None


def method_of_outside(ctx: Lowering, owner: External, name: str, args: list[Binding], kwargs: Words, node: ast.AST) -> Binding:
    """A method of an object from outside the function, which must not change it."""
    value, text = owner.value, owner.text
    function = from_class(ctx, type(value), name)
    if followed(ctx, function):
        rely_on_class(ctx, MISSING, type(value), name, function)
        ctx.rely(text, type(value), "type")
        return call_function(ctx, function, [owner, *args], kwargs, node)
    if isinstance(value, collections.UserDict | collections.UserList):
        change_outside(ctx, owner)
        what = f"{name!r} of an instance of {type(value).__name__} from outside the function may change it"
        raise UnsupportedSyntax(what, ctx.loc(node), "make the instance in the function")
    if name in ("items", "keys", "values", "get") and isinstance(value, dict):
        return external_dict_method(ctx, value, text, name, args, node)
    if name == "copy" and type(value) is dict and not args and not kwargs:
        return ctx.apply(Static(dict), [owner], {}, node)
    if name in OF_SETS and not kwargs and isinstance(known := set_from_outside(ctx, owner, node), Obj):
        return ctx.apply_method(known, name, args, node)
    if isinstance(value, list | dict | set | bytearray | deque) and name not in ("index", "count", "copy"):
        change_outside(ctx, owner)
        raise UnsupportedSyntax(
            f"{name!r} of a {type(value).__name__} from outside the function may change it",
            ctx.loc(node),
            "make a copy in the function",
        )
    return opaque_method(ctx, owner, name, args, kwargs, node)


def method_of_container(ctx: Lowering, owner: Obj, name: str, args: list[Binding], kwargs: Words, node: ast.AST) -> Binding | None:
    """A method of a list, dict or set; None where there is none of this name."""
    key = owner.key
    if key.kind != "record" and not kwargs:
        check_method(ctx, exact_class(ctx, owner, node), name, args, node)
    if key.kind == "dict" and name == "update" and kwargs:
        args, kwargs = [*args, ctx.new_object("dict", kwargs.items())], {}
    if name in OPERATIONS or name in OF_TWO:
        return call_base(ctx, name, owner, args, kwargs, node)
    if (key.kind, name) == ("list", "sort"):
        return list_sort(ctx, owner, args, kwargs, node)
    if name in ("popitem", "move_to_end") and set(kwargs) <= {"last"} and key.exact is collections.OrderedDict:
        args, kwargs = [*args, *kwargs.values()], {}
    if (function := METHODS.get(("set" if key.cls is set else key.kind, name))) is not None and not kwargs:
        return function(ctx, owner, args, node)
    return None


def method_of_tuple(ctx: Lowering, owner: Tup, name: str, args: list[Binding], kwargs: Words, node: ast.AST) -> Binding | None:
    """A method of a tuple or named tuple; None where there is none of this name."""
    items, kind = owner.items, owner.kind
    if name == "_replace" and kind is not None:
        if wrong := [k for k in kwargs if k not in kind._fields]:
            raise UnsupportedSyntax(f"{kind.__name__} has no field {wrong[0]!r}", ctx.loc(node))
        return Tup(tuple(kwargs.get(f, b) for f, b in zip(kind._fields, items, strict=True)), kind)
    if name == "_asdict" and kind is not None and not args:
        return ctx.new_object("dict", zip(kind._fields, items, strict=True))
    own = None if kind is None else from_class(ctx, kind, name)
    if name in ("index", "count") and not isinstance(own, types.FunctionType):
        return ctx.apply_method(ctx.new_object("list", enumerate(items)), name, args, node)
    if kind is not None and isinstance(own, types.FunctionType):
        rely_on_class(ctx, MISSING, kind, name, own)
        return call_function(ctx, own, [owner, *args], kwargs, node)
    return None


#: methods that sort or partition an array in place, with the functions that return a new one
IN_ORDER = {"sort": np.sort, "partition": np.partition}


def array_method(ctx: Lowering, owner: Ref | Num, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if isinstance(owner, Ref) and name in IN_ORDER and set(kwargs) <= {"axis"}:
        result = ctx.apply(Static(IN_ORDER[name], f"np.{name}"), [owner, *args], kwargs, node)
        ctx.store(owner, ctx.read(result, node))
        return Static(None)
    if isinstance(owner, Ref) and name == "setflags" and isinstance(ctx.type_of(owner), Array):
        return set_flags(ctx, owner, args, kwargs, node)
    if isinstance(owner, Ref) and (name in OPERATIONS or name in OF_TWO) and not kwargs:
        return ctx.apply(Static(OPERATIONS.get(name) or OF_TWO[name], name), [owner, *args], {}, node)
    if isinstance(owner, Ref) and not kwargs and (function := METHODS.get(("array", name))) is not None:
        return function(ctx, owner, args, node)
    if name == "item" and isinstance(number := ctx.type_of(owner), Scalar) and number.dtype is None and not args:
        return owner
    if isinstance(owner, Num) and isinstance(ctx.type_of(owner), Unknown) and name in MUTATORS:
        return opaque_method(ctx, owner, name, args, kwargs, node)
    if isinstance(owner, Num) and (of_number := number_method(ctx, owner, name, args, kwargs, node)) is not None:
        return of_number
    spelled = spelling.method(name)
    if spelled is None:
        if isinstance(ctx.type_of(owner), Unknown):
            return opaque_method(ctx, owner, name, args, kwargs, node)
        what = f"method {name!r} of arrays has no rule"
        raise UnknownFunction(what, ctx.loc(node), INSTEAD.get(name), name=name, known=[*spelling.OF_ARRAYS])
    if kwargs.get("out") is not None and isinstance(out := kwargs["out"], Ref):
        kwargs = {k: v for k, v in kwargs.items() if k != "out"}
        result = call_row(ctx, spelled, [owner, *args], kwargs, node)
        return store_result(ctx, out, result, node)
    return call_row(ctx, spelled, [owner, *args], kwargs, node)


# ------------------------------------------------------------------ of arrays, in place


@method("array", "fill")
def array_fill(ctx: Lowering, owner: Ref, args: list[Binding], node: ast.AST) -> Binding:
    if len(args) != 1:
        raise UnsupportedSyntax("fill takes one value", ctx.loc(node))
    ctx.store(owner, ctx.read(args[0], node))
    return Static(None)


@method("array", "put")
def array_put(ctx: Lowering, owner: Ref, args: list[Binding], node: ast.AST) -> Binding:
    return ctx.apply(Static(np.put, "np.put"), [owner, *args], {}, node)


@method("array", "view")
def array_view(ctx: Lowering, owner: Ref, args: list[Binding], node: ast.AST) -> Binding:
    """``x.view()``: another array with the same elements."""
    type_ = ctx.type_of(owner)
    if args and isinstance(args[0], Static) and isinstance(args[0].value, type) and issubclass(args[0].value, np.ndarray):
        if args[0].value is not np.ndarray:
            what = f"an array is viewed as {args[0].value.__name__}, which derives from np.ndarray"
            raise UnsupportedArgument(what, ctx.loc(node), "use the array itself, and functions in place of the methods of the class")
    same = not args or isinstance(args[0], Static) and args[0].value is np.ndarray or len(args) == 1 and is_of_dtype(ctx, owner, args[0])
    if not same or not isinstance(type_, Array) or not type_.shape:
        raise UnknownFunction("method 'view' of arrays has a rule without a dtype alone", ctx.loc(node), name="view", known=["astype"])
    return Ref(owner.location, (*owner.path, Step("e")))


@method("array", "nonzero")
def array_nonzero(ctx: Lowering, owner: Ref, args: list[Binding], node: ast.AST) -> Binding:
    return ctx.apply(Static(np.nonzero, "np.nonzero"), [owner, *args], {}, node)


@method("array", "conj", "conjugate")
def array_conjugate(ctx: Lowering, owner: Ref, args: list[Binding], node: ast.AST) -> Binding:
    """Unlike ``np.conj``, the method returns an array that is not complex itself."""
    kind = getattr(ctx.type_of(owner), "kind", None)
    if kind in ("float", "int", "bool"):
        return owner
    conjugate = ctx.call("conjugate", ctx.read(owner, node))
    return ctx.make(conjugate) if kind == "complex" else ctx.shared(conjugate, owner)


@method("array", "tolist")
def array_tolist(ctx: Lowering, owner: Ref, args: list[Binding], node: ast.AST) -> Binding:
    rank = getattr(ctx.type_of(owner), "rank", None)
    if rank is None:
        raise UnknownType("the number of dimensions of this array is not known", ctx.loc(node))
    value = ctx.read(owner, node)
    wide = {"f16": "f64", "f32": "f64", "c64": "c128"}.get(getattr(value.type, "dtype", None) or "")  # Python numbers
    items = ctx.make(ctx.call("list_from", value if wide is None else ctx.call("cast", value, dtype=wide), depth=rank, python=True))
    if not isinstance(items, Ref):
        return items
    ctx.state.owning |= {items.location}
    return ctx.new_object("list", items)


# ------------------------------------------------------------------ of dicts


def external_dict_method(ctx: Lowering, value: dict[Any, Any], text: str, name: str, args: list[Binding], node: ast.AST) -> Binding:
    check_method(ctx, dict, name, args, node)
    check_reader(ctx, value)
    if name == "get":
        rely_on_membership(ctx, value, text, known_key(args[0]))
        default = args[1] if len(args) > 1 else ABSENT
        return at_key(ctx, args[0], value, node, lambda key, _: dict_items.known_item(ctx, value, text, key, node), lambda _: default)
    rely_on_keys(ctx, value, text)
    pairs = [(static_binding(k), outside(ctx, v, item_text(ctx, text, k), key_word(k))) for k, v in value.items()]
    return dict_view(name, pairs, node, ctx)


def dict_view(name: str, pairs: list[tuple[Binding, Binding]], node: ast.AST, ctx: Lowering) -> Binding:
    match name:
        case "items":
            return View(tuple(Tup(p) for p in pairs), pairs=True)
        case "keys":
            return View(tuple(k for k, _ in pairs), keys=True)
        case "values":
            return View(tuple(v for _, v in pairs))
    raise UnsupportedSyntax(f"method {name!r} of a dict cannot be differentiated here", ctx.loc(node), INSTEAD.get(name, WRITE_OUT))


def dict_method(name: str) -> Callable[..., Binding]:
    def run_(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
        content = ctx.state.heap[owner.key]
        assert not isinstance(content, Ref)
        ctx.check_keys(owner.key, node)
        result = dict_view(name, [(static_binding(k), b) for k, b in content], node, ctx)
        return replace(result, owner=owner.key) if isinstance(result, View) else result

    return run_


for _name in ("items", "keys", "values"):
    METHODS["dict", _name] = dict_method(_name)


@method("dict", "get")
def dict_get(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    return dict_items.item_or(ctx, owner, args[0], args[1] if len(args) > 1 else ABSENT, node)


@method("dict", "setdefault")
def dict_setdefault(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    return dict_items.item_or_set(ctx, owner, args[0], args[1] if len(args) > 1 else ABSENT, node)


@method("dict", "pop")
def dict_pop(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    return dict_items.taken_out(ctx, owner, args[0], args[1] if len(args) > 1 else None, node)


@method("dict", "update")
def dict_update(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    if isinstance(owner.key.cls, tuple) and owner.key.cls[0] == "counted":
        note_new_key(ctx, owner)
        raise UnsupportedSyntax("a Counter that is updated cannot be differentiated", ctx.loc(node), "add to its items one by one")
    for other in args:
        source = ctx.apply(Static(dict), [other], {}, node)
        assert isinstance(source, Obj)
        check_known(ctx, owner, source, node)
        merged(ctx, owner, source, into=True)
    return Static(None)


# ------------------------------------------------------------------ of lists


@method("list", "append")
def list_append(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:

    append(ctx, owner, args[0], node)
    return Static(None)


@method("list", "extend")
def list_extend(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    args = items_listed(ctx, list, args, node)
    args = [begin(ctx, args[0], node)]
    if isinstance(args[0], Generator):
        gathered(ctx, args[0], lambda value: discard(append(ctx, owner, value, node)), node, lazily=False)
        return Static(None)
    items = items_of(ctx, args[0], node)
    if not isinstance(items, list) and ctx.unroll and (indices := indices_of(items)) is not None:
        items = [items.item(Const(k)) for k in indices]
    if isinstance(items, list):
        for item in items:
            append(ctx, owner, item, node)
        return Static(None)
    content = ctx.state.heap[owner.key]
    ctx.check_still(owner.key)
    whole = standing_for(ctx.call("list_join", ctx.whole(owner), list_value(ctx, args[0], node)), list)
    joined = ctx.state.heap[ctx.list_sharing(whole, owner, args[0]).key]
    assert isinstance(joined, Ref)
    if isinstance(content, Ref):
        ctx.replace_list(content, ctx.state.memory[joined.location])
        ctx.state.pair(content.location, joined.location)
    else:
        ctx.change(owner.key, joined)
    shorten(ctx, owner)
    return Static(None)


def list_value(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    value = ctx.whole(binding, node)
    return ctx.call("list_from", value) if isinstance(value.type, Array) else value


@method("list", "popleft")
def list_pop_left(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    return list_pop(ctx, owner, [Num(Const(0))], node)


def list_sort(ctx: Lowering, owner: Obj, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    sorted_list = ctx.apply(Static(sorted), [owner, *args], kwargs, node)
    if not isinstance(sorted_list, Obj):
        raise UnsupportedSyntax("a list of this cannot be sorted", ctx.loc(node), "sort an array")
    content, ordered = ctx.state.heap[owner.key], ctx.state.heap[sorted_list.key]
    ctx.check_still(owner.key)
    plainly = ctx.storing is not None and set(kwargs) <= {"reverse"}
    with nullcontext() if ctx.storing is None else ctx.storing.sorting(ctx.read(kwargs.get("reverse", Num(FALSE))) if plainly else None):
        if isinstance(content, Ref) and isinstance(ordered, Ref):
            ctx.replace_list(content, ctx.read(ordered))
        else:
            ctx.change(owner.key, ordered)
    return Static(None)


@method("list", "pop")
def list_pop(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    content = ctx.state.heap[owner.key]
    ctx.check_still(owner.key)
    place = unwrap(args[0]) if args else -1
    if isinstance(content, Ref):
        check_pop(ctx, owner, ctx.read(content), ctx.read(args[0], node) if args else Const(-1))
        if place == 0:
            item = ctx.item_of(content, ctx.call("list_take", ctx.read(content), Const(0)))
            rest = ctx.call("list_slice", ctx.read(content), Const(1), Const(None), Const(None))
            ctx.replace_list(content, rest)
            return item
        if place != -1:
            item = load(ctx, owner, Index("i", (ctx.read(args[0], node),), (args[0],)), node)
            become_value(ctx, owner, ctx.apply(Static(without_popped), [as_list(ctx, owner), args[0]], {}, node), node)
            return item
        item = ctx.item_of(content, ctx.call("list_take", ctx.read(content), Const(-1)))
        ctx.replace_list(content, ctx.call("list_drop", ctx.to_change(content)))
        return item
    items = [b for _, b in content]
    if not items:
        return definite(ctx, MISSING, node, IndexError, text_of_pop(owner))
    popped: Binding = as_python_does(ctx, node, lambda: items.pop(place))
    ctx.change(owner.key, tuple(enumerate(items)))
    return popped


@method("list", "reverse")
def list_reverse(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    content = ctx.state.heap[owner.key]
    if isinstance(content, Ref):
        turned = ctx.call("list_slice", ctx.read(content), Const(None), Const(None), Const(-1))
        become_value(ctx, owner, ctx.list_sharing(turned, owner), node)
        return Static(None)
    ctx.change(owner.key, tuple(enumerate([b for _, b in content][::-1])))
    return Static(None)


@method("dict", "copy")
def dict_copy(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    if is_to_grow(ctx, node):
        ctx.check_keys(owner.key, node)
    copied = new_dict(ctx, ctx.state.entries(owner.key), node, owner.key.cls, owner.key.exact)
    copied.key.unordered = owner.key.unordered
    return copied


@method("list", "copy")
def list_copy(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    content = ctx.state.heap[owner.key]
    if isinstance(content, Ref):
        items = ctx.list_sharing(ctx.call("list_slice", ctx.read(content), Const(None), Const(None), Const(None)), owner)
        return of_class_of(ctx, owner, items)
    copied = ctx.new_object(owner.key.kind, content, owner.key.cls, owner.key.exact)
    copied.key.unordered = owner.key.unordered
    return copied
