"""table: builtins and NumPy functions that handle the structure of Python values rather than numbers."""

from __future__ import annotations

import ast
import dataclasses
import operator
import types
from collections.abc import Callable
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.calls.attributes import attribute_of, class_of_failure
from symgrad.frontend.calls.derived_values import is_derived_value
from symgrad.frontend.containers.appending import append
from symgrad.frontend.containers.growing_dicts import as_dict, check_attribute, dict_of, new_dict, update
from symgrad.frontend.containers.iterables import indices_of, items_of, known_items, read_at_once, sequence
from symgrad.frontend.containers.stepping import is_iterator, iterator, zipped
from symgrad.frontend.containers.zipping import is_seen_to_differ
from symgrad.frontend.flow.absent import as_python_does, definite, either, has_item
from symgrad.frontend.flow.edges import instance_of
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds, predicate_of_one
from symgrad.frontend.flow.filling import extent_of
from symgrad.frontend.flow.flow import choose, each_side
from symgrad.frontend.library.folding import fold
from symgrad.frontend.library.number_builtins import CONVERTING
from symgrad.frontend.objects.assigned_attributes import is_present
from symgrad.frontend.objects.derived import as_base, is_derived, namespace_of
from symgrad.frontend.objects.function_attributes import has_function_attribute
from symgrad.frontend.objects.opaque import opaque
from symgrad.frontend.objects.operands import static_key, unwrap
from symgrad.frontend.objects.outside import check_reader, entries_of
from symgrad.frontend.objects.protocols import Namespace, asked_of, class_of, own_method
from symgrad.frontend.objects.python_values import python_length
from symgrad.frontend.objects.reading import entry_of_class, from_class, has_attribute, owner_name, users_bases
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    Choice,
    External,
    Fun,
    HeapKey,
    Iter,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Tup,
    View,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import standing_for
from symgrad.frontend.state.tables import SPECIAL, special
from symgrad.frontend.values.exact import (
    as_named,
    check_kind,
    classes_of,
    exact_class,
    is_anything,
    is_callable,
    is_instance,
    is_subclass,
    name_in_texts,
    possible_classes,
)
from symgrad.frontend.values.operators import binary
from symgrad.frontend.values.printed import for_printing, text_of
from symgrad.ir.core import FALSE, ZERO, Const, Value
from symgrad.ir.types import Array, Scalar
from symgrad.ops.composed import asking, iterating, refusing
from symgrad.ops.rows.exceptions import FAILURE
from symgrad.text import exact

Args = list[Binding]
Kwargs = dict[str, Binding]


@special(slice)
def slice_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    parts = [ctx.read(a, node) for a in args]
    return Iter("slice", {1: (Const(None), *parts, Const(None)), 2: (*parts, Const(None)), 3: tuple(parts)}[len(parts)])


@special(enumerate)
def enumerate_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    start = kwargs.get("start", args[1] if len(args) > 1 else Num(ZERO))
    args = args or [kwargs["iterable"]]
    return iterator(ctx, "enumerate", (args[0], ctx.read(start, node)), node)


@special(zip)
def zip_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if "strict" in kwargs and unwrap(kwargs["strict"]) is not False:
        if is_seen_to_differ(ctx, tuple(args), node):
            return zipped(ctx, tuple(args), node, strict=True)
        return iterator(ctx, "zip_strict", tuple(args), node)
    return iterator(ctx, "zip", tuple(args), node)


@special(reversed)
def reversed_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if (own := asked_of(ctx, args[0], "__reversed__", [], node)) is not None:
        return own
    if (cls := class_of(args[0])) is not None and entry_of_class(ctx, cls, "__reversed__") is None:
        return definite(ctx, MISSING, node, TypeError, f"{cls.__name__!r} object is not reversible")
    args = [as_base(ctx, args[0], "__reversed__", *(("__len__", "__getitem__") if is_derived_value(args[0]) else ()))]
    if isinstance(args[0], External) and isinstance(args[0].value, list | dict):
        check_reader(ctx, args[0].value)
    if own_method(ctx, args[0], "__getitem__") is not None:
        return ctx.apply(Static(iterating.backwards), [args[0]], {}, node)
    if (missing := not_reversible(ctx, args[0], node)) is not None:
        return missing
    held = ctx.state.heap.get(args[0].key) if isinstance(args[0], Obj) else None
    return iterator(ctx, "reversed", (args[0], len(held) if isinstance(held, tuple) else None), node)


def not_reversible(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding | None:
    """Python's exception if a value's class has neither ``__reversed__`` nor items by index; None otherwise."""
    classes = possible_classes(ctx, binding, node)
    if isinstance(binding, Obj) and binding.key.kind == "record" or not classes or any(has_reverse(ctx, cls) for cls in classes):
        return None
    return definite(ctx, MISSING, node, TypeError, f"{exact_class(ctx, binding, node).__name__!r} object is not reversible")


def has_reverse(ctx: Lowering, cls: type) -> bool:
    """Whether a class defines ``__reversed__``, or ``__getitem__`` and ``__len__``."""
    if from_class(ctx, cls, "__reversed__") is not None:
        return True
    return all(from_class(ctx, cls, word) is not None for word in ("__getitem__", "__len__"))


@special(len)
def len_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if is_one_of_kinds(args[0]):
        return each(ctx, args[0], node, lambda held: len_(ctx, [held], {}, node))
    if is_iterator(args[0]):
        return definite(ctx, MISSING, node, TypeError, f"object of type {exact_class(ctx, args[0], node).__name__!r} has no len()")
    args = [as_base(ctx, args[0], "__len__")]
    if python_class(args[0]) is not None:
        return Num(python_length(ctx, args[0]))
    match args[0]:
        case View(owner=HeapKey() as key):
            return len_(ctx, [Obj(key)], {}, node)
        case Tup(items):
            return Num(Const(len(items)))
        case Obj(key) if key.kind == "record":
            return ctx.apply(attribute_of(ctx, args[0], "__len__", node), [], {}, node)
        case Obj(key) if key.kind == "dict" and any(ctx.is_doubtful(item) for _, item in ctx.state.entries(key)):
            count: Binding = Num(ZERO)
            for name, _ in ctx.state.entries(key):
                count = binary(ctx, ast.Add, count, CONVERTING[int](ctx, [Num(has_item(ctx, key, name))], {}, node), node)
            return count
        case Obj(key):
            ctx.check_keys(key, node, in_order=False)
            content = ctx.state.heap[key]
            return Num(ctx.call("list_len", ctx.held(args[0]))) if isinstance(content, Ref) else Num(Const(len(content)))
        case External(value) | Static(value) if from_class(ctx, type(value), "__len__") is None:
            if isinstance(args[0], External):
                ctx.rely(args[0].text, type(value), "type")
            what = f"object of type {type(value).__name__!r} has no len()"
            return definite(ctx, MISSING, node, TypeError, what)
        case External(value, text):
            ctx.rely(text, len(value), "len")
            return Num(Const(len(value)))
        case Static(value):
            try:
                return Num(Const(len(value)))
            except TypeError as error:
                raise UnsupportedSyntax(str(error), ctx.loc(node)) from None
        case Iter(kind="range", parts=parts):
            return Num(ctx.call("range_len", *parts))
        case Ref():
            type_ = ctx.type_of(args[0])
            if isinstance(type_, Array) and type_.shape == ():
                return definite(ctx, MISSING, node, TypeError, "len() of unsized object")
            if isinstance(type_, Array) and type_.shape:
                return Num(extent_of(ctx, args[0], 0))
        case Num(operand) if isinstance(operand.type, Scalar):
            weak = operand.type.dtype in (None, "any")
            word = operand.type.kind if weak else name_in_texts(exact_class(ctx, args[0], node))
            return definite(ctx, MISSING, node, TypeError, f"object of type {word!r} has no len()")
    return Num(ctx.call("list_len", ctx.read(args[0], node)))


@special(isinstance)
def isinstance_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if isinstance(args[1], Choice):
        return each_side(ctx, args[1], node, lambda side: isinstance_(ctx, [args[0], side], {}, node))
    classes = unwrap(args[1])
    classes = classes if isinstance(classes, tuple) else (classes,)
    as_python_does(ctx, node, lambda: isinstance(None, classes))  # raises if these are no classes

    def is_one(held: Binding) -> Binding:
        if isinstance(type_ := ctx.type_of(held), Scalar):
            check_kind(ctx, type_, node)
        if isinstance(held, Num) and held.operand.type == FAILURE:
            return Num(instance_of(ctx, held.operand, classes))
        return Num(Const(is_instance(ctx, held, classes, node)))

    return (
        predicate_of_one(ctx, args[0], node, is_one)
        if isinstance(args[0], OneOf) or is_one_of_kinds(args[0])
        else either(ctx, args[0], node, is_one)
    )


@special(issubclass)
def issubclass_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Evaluated at compile time for known classes, by an opaque call for others."""
    if args and isinstance(args[0], Choice):
        return each_side(ctx, args[0], node, lambda side: issubclass_(ctx, [side, *args[1:]], {}, node))
    if len(args) == 2 and isinstance(args[1], Choice):
        return each_side(ctx, args[1], node, lambda side: issubclass_(ctx, [args[0], side], {}, node))
    try:
        held, classes = map(unwrap, args)
    except ValueError:
        return opaque(ctx, issubclass, "issubclass", args, kwargs, node)
    as_python_does(ctx, node, lambda: issubclass(held, classes))
    return Num(Const(is_subclass(ctx, held, classes if isinstance(classes, tuple) else (classes,), node)))


@special(refusing.is_text_or_tuple)
def is_text_or_tuple(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return Num(Const(False)) if is_anything(ctx, args[0]) else isinstance_(ctx, [args[0], Static((str, tuple))], {}, node)


@special(type)
def type_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if len(args) != 1 or kwargs:
        raise UnsupportedSyntax("type with three arguments makes a class", ctx.loc(node), "define the class outside the function")
    if is_one_of_kinds(args[0]):
        return each(ctx, args[0], node, lambda held: type_(ctx, [held], {}, node))
    if isinstance(args[0], Num) and args[0].operand.type == FAILURE:
        return class_of_failure(ctx, args[0])
    if isinstance(held := ctx.type_of(args[0]), Scalar):
        check_kind(ctx, held, node)
    class_ = exact_class(ctx, args[0], node)
    return Static(class_, class_.__name__)


@special(list, tuple)
def list_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if not args:
        return ctx.new_object("list", ())
    args = [read_at_once(ctx, args[0])]
    if is_iterator(args[0]) or isinstance(args[0], Obj) and args[0].key.kind == "record":
        args = [sequence(ctx, args[0], node)]
    known = known_items(ctx, args[0], node)
    if known is not None:
        return ctx.new_object("list", enumerate(known))
    if isinstance(args[0], Ref) and isinstance(ctx.type_of(args[0]), Array):
        if (rows := rows_of(ctx, args[0], node)) is not None:
            return ctx.new_object("list", enumerate(rows))
        return ctx.list_sharing(ctx.call("list_from", ctx.read(args[0], node)), args[0])
    if isinstance(args[0], Obj):
        copy = ctx.call("list_slice", ctx.read(args[0]), Const(None), Const(None), Const(None))
        return ctx.list_sharing(standing_for(copy, list), args[0])
    items = items_of(ctx, args[0], node)
    assert not isinstance(items, list)
    return fold(ctx, items, ctx.new_object("list", ()), lambda result, item: append(ctx, result, item, node), node)


@special(tuple)
def tuple_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if not args:
        return Tup(())
    args = [sequence(ctx, args[0], node)]
    items = items_of(ctx, args[0], node)
    if not isinstance(items, list) and isinstance(args[0], Ref) and isinstance(ctx.type_of(args[0]), Array):
        items = rows_of(ctx, args[0], node) or items
    if isinstance(items, list):
        return Tup(tuple(items))
    result = list_(ctx, args, kwargs, node)
    assert isinstance(result, Obj)
    if not isinstance(content := ctx.state.heap[result.key], Ref):
        return Tup(tuple(item for _, item in content))
    result.key.cls = tuple
    standing_for(ctx.read(result, node), tuple)
    return result


def rows_of(ctx: Lowering, array: Ref, node: ast.AST) -> list[Binding] | None:
    """The rows of an array of two axes or more, as views of it, if their number is static."""
    items = items_of(ctx, array, node)
    if isinstance(items, list) or getattr(ctx.type_of(array), "rank", None) in (None, 1):
        return None
    indices = indices_of(items)
    return None if indices is None else [items.item(Const(k)) for k in indices]


@special(dict)
def dict_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    args = [as_dict(ctx, a, node) for a in args]

    def known() -> Obj:
        return new_dict(ctx, content_of(ctx, args, kwargs, node), node)

    return dict_of(ctx, args, node, known, update(ctx, args, kwargs, node))


def content_of(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> tuple[tuple[Any, Binding], ...]:
    """The keys and items of a dict created from other dicts, pairs and keywords."""
    content: dict[Any, Binding] = {}
    for item in args:
        if (entries := entries_of(ctx, item, node)) is None:
            pairs = known_items(ctx, sequence(ctx, item, node), node)
            if pairs is None or not all(isinstance(p, Tup) for p in pairs):
                raise UnsupportedSyntax("dict needs pairs that are known at compile time", ctx.loc(node))
            entries = {static_key(ctx, p.items[0], node): p.items[1] for p in pairs}  # type: ignore[attr-defined]
        content.update(entries)
    return tuple({**content, **kwargs}.items())


@special(dataclasses.replace)
def replace_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Another instance of a dataclass."""
    owner = args[0]
    cls = exact_class(ctx, owner, node)
    if not dataclasses.is_dataclass(cls):
        raise UnsupportedSyntax("dataclasses.replace takes an instance of a dataclass", ctx.loc(node), "call the class")
    names = [one.name for one in dataclasses.fields(cls) if one.init and one.name not in kwargs]
    fields = {name: getattr_(ctx, [owner, Static(name)], {}, node) for name in names}
    return ctx.apply(Static(cls), [], fields | kwargs, node)


@special(types.SimpleNamespace)
def namespace(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return ctx.new_object("record", kwargs.items(), Namespace)


@special(callable)
def callable_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    def is_one(held: Binding) -> Binding:
        return Num(Const(isinstance(held, Choice) or is_callable(ctx, held, node)))

    return (
        predicate_of_one(ctx, args[0], node, is_one)
        if isinstance(args[0], OneOf) or is_one_of_kinds(args[0])
        else either(ctx, args[0], node, is_one)
    )


def is_one_of_owners(binding: Binding) -> bool:
    """Whether the binding is one of several objects, each with attributes of its own."""
    return is_one_of_kinds(binding) or isinstance(binding, OneOf | Choice)


def each_owner(ctx: Lowering, owner: Binding, node: ast.AST, use: Callable[[Binding], Binding]) -> Binding:
    """Apply a query to whichever of several objects it is."""
    if isinstance(owner, Choice):
        return each_side(ctx, owner, node, use)
    return each(ctx, owner, node, use)


def is_computed(ctx: Lowering, held: Binding, name: str) -> bool:
    """Whether a method of the instance's class computes the attribute, or raises that there is none."""
    if not isinstance(held, Obj) or held.key.kind != "record":
        return False
    return from_class(ctx, held.key.cls, "__getattr__") is not None or isinstance(entry_of_class(ctx, held.key.cls, name), property)


@special(hasattr)
def hasattr_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if is_one_of_owners(args[0]):
        return each_owner(ctx, args[0], node, lambda held: hasattr_(ctx, [held, args[1]], {}, node))
    name = exact(unwrap(args[1]))
    if not isinstance(name, str):
        raise UnsupportedSyntax("the name of an attribute must be a known string", ctx.loc(node), "write the name itself")
    check_attribute(ctx, args[0], name, node)
    if isinstance(args[0], Fun):
        return Num(has_function_attribute(ctx, args[0], name, node))
    if (there := is_present(ctx, args[0], name, node)) is not None:
        return Num(there)
    if is_computed(ctx, args[0], name):
        return ctx.apply(Static(asking.has_attribute), [args[0], args[1]], {}, node)
    several = classes_of(ctx, args[0], node)
    if len(several) > 1 and isinstance(args[0], Tup):
        raise UnsupportedSyntax("attributes of an instance of a user's subclass of tuple are not supported", ctx.loc(node), as_named(ctx))
    answers = [from_class(ctx, kind, name, MISSING) is not MISSING for kind in several]
    if len(several) > 1 and (all(answers) or not any(answers)):
        return Num(Const(all(answers)))
    cls = exact_class(ctx, args[0], node)
    held = args[0]
    home = namespace_of(ctx, held) if is_derived(held) else held
    own = has_item(ctx, home.key, name) if isinstance(home, Obj) and (home is not held or home.key.kind == "record") else FALSE
    said = from_class(ctx, cls, name, MISSING) is not MISSING
    if said and users_bases(cls):
        ctx.rely(owner_name(ctx, cls), name, "has")
    if not (isinstance(own, Const) and own.value or said):
        words = [w for w in ("__getattr__", "__getattribute__") if isinstance(from_class(ctx, cls, w), types.FunctionType)]
        if words and not isinstance(args[0], External):  # which is asked itself
            what = f"{cls.__name__} defines {words[0]}, which decides whether it has {name!r}"
            raise UnsupportedSyntax(what, ctx.loc(node), "test with isinstance instead, or define the attribute in the class")
    if not isinstance(own, Const) and not said:
        return Num(own)
    match args[0]:
        case External(value, text):
            return Num(Const(has_attribute(ctx, value, text, name)))
        case Static(value):
            return Num(Const(has_attribute(ctx, value, owner_name(ctx, value), name)))
    return Num(Const(said or isinstance(own, Const) and bool(own.value)))


@special(getattr)
def getattr_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    name = exact(unwrap(args[1]))
    if not isinstance(name, str):
        raise UnsupportedSyntax("the name of an attribute must be a known string", ctx.loc(node), "write the name itself")
    held = args[0]
    if len(args) == 3 and is_one_of_owners(held):
        return each_owner(ctx, held, node, lambda one: getattr_(ctx, [one, *args[1:]], {}, node))
    if len(args) == 3 and is_computed(ctx, held, name):
        return ctx.apply(Static(asking.attribute_or), [args[0], args[1], args[2]], {}, node)
    if len(args) == 3:
        test = hasattr_(ctx, args[:2], {}, node)
        assert isinstance(test, Num)
        if isinstance(test.operand, Value):
            return choose(ctx, test.operand, node, lambda: attribute_of(ctx, args[0], name, node), lambda: args[2])
        if not unwrap(test):
            return args[2]
    return attribute_of(ctx, args[0], name, node)


@special(str)
def str_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return text_of(ctx, args[0], node, "{}") if args else Static("")


@special(repr)
def repr_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return text_of(ctx, args[0], node, "{!r}")


@special(hash)
def hash_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if (own := asked_of(ctx, args[0], "__hash__", [], node)) is not None:
        return own
    hint = "use the value itself as a key, or compute the hash before and pass it as an argument"
    raise UnsupportedSyntax("this hash differs between runs of the program", ctx.loc(node), hint)


@special(format)
def format_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    spec = unwrap(args[1]) if len(args) > 1 else ""
    if (own := asked_of(ctx, args[0], "__format__", [Static(spec)], node)) is not None:
        return own
    if isinstance(args[0], Obj) and spec:
        raise UnsupportedSyntax("this object cannot be formatted", ctx.loc(node), "format the values that it holds")
    return text_of(ctx, args[0], node, f"{{:{spec}}}" if spec else "{}")


@special(print)
def print_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    operands = [for_printing(ctx, argument, node) for argument in (*args, *kwargs.values())]
    ctx.call("opaque", Const(print, "print"), *operands, names=tuple(kwargs))
    return Static(None)


def _getter(kind: Any) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        """A getter of attributes or items under static names and indices."""
        return Static(kind(*map(unwrap, args)), kind.__name__)

    return lower


SPECIAL[operator.attrgetter], SPECIAL[operator.itemgetter] = _getter(operator.attrgetter), _getter(operator.itemgetter)
