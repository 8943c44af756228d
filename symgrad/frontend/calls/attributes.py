"""Attributes of modules, arrays, instances and classes."""

from __future__ import annotations

import ast
import collections
import enum
import functools
import types
from typing import Any

import numpy as np

from symgrad.containers import VALUES
from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.calls.common_arguments import HAVE_DEVICES
from symgrad.frontend.calls.derived_values import is_super_of_class, of_super_class
from symgrad.frontend.calls.distributions import is_function_of_distribution
from symgrad.frontend.calls.rows import apply_row
from symgrad.frontend.containers.appending import longest
from symgrad.frontend.containers.growing_dicts import check_attribute
from symgrad.frontend.flow.absent import definite, definite_item, either
from symgrad.frontend.flow.edges import GIVEN, fail, sees
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds
from symgrad.frontend.flow.filling import extent_of, size_of
from symgrad.frontend.flow.flow import choose
from symgrad.frontend.functions.adapters import GETTERS, adapted, name_of_partialmethod
from symgrad.frontend.memory.strides import OF_MEMORY, strides_of
from symgrad.frontend.objects.assigned_attributes import assigned_attribute, kind_of
from symgrad.frontend.objects.derived import BASES, as_base, check_reading, is_derived, is_of_base, namespace_of
from symgrad.frontend.objects.function_attributes import OF_FUNCTIONS, attribute_of_function, of_function
from symgrad.frontend.objects.opaque import GENERATORS, followed
from symgrad.frontend.objects.outside import outside, rely_on_class
from symgrad.frontend.objects.reading import (
    attribute_text,
    entry_of_class,
    from_class,
    has_attribute,
    is_of_library,
    is_own_attribute,
    names_like,
    owner_name,
    read_attribute,
    rely_on_entry,
)
from symgrad.frontend.state.abstract_values import resolved_by_paths
from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    Above,
    Binding,
    Bound,
    Choice,
    External,
    Frozen,
    Fun,
    Generator,
    HeapKey,
    Iter,
    Maybe,
    Num,
    Obj,
    OneOf,
    Partial,
    Ref,
    Static,
    Step,
    Tup,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import is_number_or_array
from symgrad.frontend.state.tables import expression
from symgrad.frontend.text.source import seen_through
from symgrad.frontend.values.exact import as_named, check_kind, exact_class, name_in_texts, possible_classes
from symgrad.ir.core import FALSE, NONE, Const
from symgrad.ir.types import DTYPES, Array, Object, Scalar, Unknown
from symgrad.ops.composed import asking
from symgrad.ops.composed.operators import object_init
from symgrad.ops.rows.exceptions import FAILURE
from symgrad.ops.shapes import dtype_of
from symgrad.text import attribute as path


@expression(ast.Attribute)
def attribute(ctx: Lowering, node: ast.Attribute) -> Binding:
    return attribute_of(ctx, ctx.evaluate(node.value), ctx.frame.source.mangle(node.attr), node)


def attribute_of(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding:
    """``owner.attr`` for each kind of owner; ``attr`` is the name as Python looks it up: ``__private`` is mangled."""
    if isinstance(owner, Obj):
        check_attribute(ctx, owner, attr, node)
    if isinstance(owner, Choice) and is_one_of_kinds(owner):
        return each(ctx, owner, node, lambda value: attribute_of(ctx, value, attr, node))
    if attr in EVERYWHERE and isinstance(owner := resolved_by_paths(owner, ctx.state), Maybe):
        return either(ctx, owner, node, lambda held: attribute_of(ctx, held, attr, node))
    if isinstance(owner, Choice):
        one, other = owner.then, owner.orelse
        return choose(ctx, owner.test, node, lambda: attribute_of(ctx, one, attr, node), lambda: attribute_of(ctx, other, attr, node))
    if attr == "__class__" and not isinstance(owner, External | Above):
        if isinstance(owner, Num) and owner.operand.type == FAILURE:
            return class_of_failure(ctx, owner)
        class_ = exact_class(ctx, owner, node)
        return Static(class_, class_.__name__)
    if (cls := python_class(owner)) is not None and not hasattr(cls, attr):
        return definite(ctx, MISSING, node, AttributeError, f"{cls.__name__!r} object has no attribute {attr!r}")
    if attr == "__doc__" and owner == ABSENT:
        return Static(None.__doc__)
    if attr == "__dict__" and isinstance(owner, Obj) and owner.key.kind == "record" and owner.key.cls.__dictoffset__:
        if is_derived(owner) and namespace_of(ctx, owner) is not owner:
            return owner
        return ctx.apply(Static(vars), [owner], {}, node)
    if not (is_number_or_array(owner) or isinstance(owner, Static) and owner.value is not None):
        owner = definite(ctx, owner, node, AttributeError, f"'NoneType' object has no attribute {attr!r}")
    if ctx.assigned_outside and (assigned := assigned_attribute(ctx, owner, attr, node)) is not None:
        return assigned
    if isinstance(owner, OneOf):
        return each(ctx, owner, node, lambda value: attribute_of(ctx, value, attr, node))
    return of_kind(ctx, owner, attr, node)


def of_kind(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding:
    """The attribute by the kind of the owner."""
    match owner:
        case Static(types.ModuleType() as module, name_):
            return of_static(ctx, module, name_ or str(getattr(module, "__name__", "object")), attr, node)
        case Static(value) if isinstance(value, GENERATORS):
            return Bound(owner, attr)
        case External() | Static() | Frozen() if is_function_of_distribution(ctx, owner, attr):
            return Bound(owner, attr)
        case Static(value) if isinstance(value, enum.Enum):
            return of_member(ctx, owner, value, attr, node)
        case Static(value, name_):
            return of_static(ctx, value, name_ or str(getattr(value, "__name__", "object")), attr, node)
        case Ref() | Num():
            return of_value(ctx, owner, attr, node)
        case Tup(items, kind) if kind is not None and attr in kind._fields:
            return items[list(kind._fields).index(attr)]
        case Obj(key) if key.kind == "record":
            check_reading(ctx, key.cls)
            return own_attribute(ctx, owner, attr, node)
        case External(value, text):
            check_reading(ctx, type(value))
            if is_own_attribute(value, attr):
                attribute = present_attribute(ctx, value, attr, f"{type(value).__name__!r} object", node)
                return outside(ctx, attribute, path(text, attr), attr)
            return of_class(ctx, owner, type(value), attr, node)
        case Above(Static() as seen, cls) if is_super_of_class(owner):
            return of_super_class(ctx, seen, cls, attr, node)
        case Above(instance, cls):
            return of_class(ctx, instance, kind_of_instance(instance), attr, node, after=cls)
        case Tup(kind=kind) if kind is not None and not attr.startswith("_") and not hasattr(tuple, attr):
            if from_class(ctx, kind, attr, MISSING) is not MISSING:
                return of_class(ctx, owner, kind, attr, node)
    return of_builtin(ctx, owner, attr, node)


#: attributes of None that are no methods
EVERYWHERE = frozenset({"__class__", "__doc__"})


def of_builtin(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding:
    """A method of a value of a builtin class. A name that the class lacks raises; an attribute that is no method is itself the result."""
    if isinstance(owner, Fun | Generator) and attr in OF_FUNCTIONS:
        return of_function(ctx, owner.node, isinstance(owner, Generator), attr, node)
    if isinstance(owner, Fun):
        return attribute_of_function(ctx, owner, attr, node)
    held = [from_class(ctx, cls, attr, MISSING) for cls in possible_classes(ctx, owner, node)]
    if len(held) > 1 and isinstance(owner, Tup) and entry_of_class(ctx, tuple, attr) is MISSING:
        raise UnsupportedSyntax(f"{attr!r} of an instance of a user's subclass of tuple is not supported", ctx.loc(node), as_named(ctx))
    if held and all(one is MISSING for one in held):
        name = name_in_texts(exact_class(ctx, owner, node))
        return definite(ctx, MISSING, node, AttributeError, f"{name!r} object has no attribute {attr!r}")
    if len(held) == 1 and isinstance(held[0], str | None):
        return Static(entry_of_class(ctx, exact_class(ctx, owner, node), attr) if attr == "__doc__" else held[0])  # with its signature
    if (attribute := of_container(ctx, owner, attr)) is not None:
        return attribute
    return Bound(owner, attr)


def of_container(ctx: Lowering, owner: Binding, attr: str) -> Binding | None:
    """An attribute, not a method, of a value of Python's own classes: an argument of its constructor."""
    match owner, attr:
        case Obj(HeapKey(exact=collections.deque)), "maxlen":
            return ABSENT if (most := longest(ctx, owner)) is None else Num(most)
        case Iter(kind="range" | "slice", parts=parts), "start" | "stop" | "step":
            part = parts[("start", "stop", "step").index(attr)]
            return part if isinstance(part, Binding) else ABSENT if part == NONE else Num(part)
        case Tup(kind=kind), "_fields" if kind is not None:
            return Tup(tuple(map(Static, kind._fields)))
        case Partial(function=function, again=False), "func":
            return function
        case Partial(args=args, again=False), "args":
            return Tup(args)
    return None


def of_failure(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding:
    """An attribute of an exception that an operation raised."""
    if attr in UNFOLLOWED - {"__traceback__"}:
        raise UnsupportedSyntax(f"{attr!r} of an exception is not supported", ctx.loc(node), CHAIN_HINT)
    if callable(from_class(ctx, Exception, attr)):
        return Bound(owner, attr)
    return Num(ctx.call("opaque_attribute", ctx.read(owner, node), attribute=attr))


def of_descriptor(ctx: Lowering, owner: Obj, held: Any, node: ast.AST) -> Binding:
    """An unset slot of an instance created in the function, or an attribute that Python itself fills."""
    cls, attr = owner.key.cls, held.__name__
    if is_derived(owner) and held.__objclass__ in VALUES:
        return attribute_of(ctx, as_base(ctx, owner), attr, node)
    if issubclass(held.__objclass__, BaseException) and attr in UNRAISED:
        return UNRAISED[attr]
    if isinstance(held, types.MemberDescriptorType) and not is_of_library(held.__objclass__):
        return definite(ctx, MISSING, node, AttributeError, f"{cls.__name__!r} object has no attribute {attr!r}")
    hint = CHAIN_HINT if attr in UNFOLLOWED else None
    raise UnsupportedSyntax(f"{attr!r} of an instance of {cls.__name__} is not supported", ctx.loc(node), hint)


def class_of_failure(ctx: Lowering, owner: Num) -> Binding:
    """The class of an exception that an operation raised, known at run time."""
    return Num(ctx.call("opaque_pure", Const(type, "type"), owner.operand))


#: attributes of exceptions that were not raised from others
UNRAISED: dict[str, Binding] = {"__cause__": Static(None), "__suppress_context__": Num(FALSE)}
#: attributes that Python stores in an exception when it is raised
UNFOLLOWED = frozenset({"__context__", "__traceback__", "__suppress_context__"})
CHAIN_HINT = "raise it from the other exception, and read __cause__ of one that the function raises"


def present_attribute(ctx: Lowering, value: Any, attr: str, called: str, node: ast.AST) -> Any:
    """An attribute that must exist; if a handler catches its absence, the program raises."""
    try:
        return read_attribute(ctx, value, attr)
    except AttributeError as error:
        if isinstance(value, type | types.FunctionType) and sees(ctx, AttributeError):
            has_attribute(ctx, value, owner_name(ctx, value), attr)
            fail(ctx, AttributeError, str(error))
        close = names_like(value, attr)
        hint = f"nearest known: {close[0]}" if close else f"define {attr} in {called}"
        raise UnsupportedSyntax(f"{called} has no attribute {attr!r}", ctx.loc(node), hint) from None


def own_attribute(ctx: Lowering, owner: Obj, attr: str, node: ast.AST) -> Binding:
    """An attribute of an instance created in the function: its own, or its class's if it has none."""
    cls = owner.key.cls
    home = namespace_of(ctx, owner) if is_derived(owner) else owner
    held = resolved_by_paths(dict(ctx.state.entries(home.key)).get(attr, MISSING), ctx.state)
    if held == MISSING or home is not owner and isinstance(entry_of_class(ctx, cls, attr), property):
        return of_class(ctx, owner, cls, attr, node)
    if owner.key not in ctx.arguments:  # the guard reads the attribute of an argument itself
        rely_on_entry(ctx, cls, attr, "type")
    if isinstance(held, Maybe) and held.absent == MISSING and from_class(ctx, cls, attr, MISSING) is not MISSING:
        return choose(ctx, held.present, node, lambda: held.inner, lambda: of_class(ctx, owner, cls, attr, node))
    return definite_item(ctx, held, node, AttributeError, f"{cls.__name__!r} object has no attribute {attr!r}")


#: kinds of values that a name denotes as objects, not as numbers
AS_IT_IS = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type, np.ufunc)


def of_static(ctx: Lowering, value: Any, name_: str, attr: str, node: ast.AST) -> Binding:
    """An attribute of a static object: module, class, function or other. One of a user object may differ at the next call."""
    attribute = present_attribute(ctx, value, attr, name_, node)
    name_ = {"numpy": "np"}.get(name_, name_)
    of_space = isinstance(value, types.ModuleType | type)
    if is_of_library(value):
        if of_space and isinstance(attribute, float | int) and not isinstance(attribute, bool) and value.__name__ in ("numpy", "math"):
            return Num(Const(attribute, f"{name_}.{attr}"))
        if not of_space and type(attribute) in (int, float):
            return Num(Const(attribute))
        if not of_space or isinstance(attribute, AS_IT_IS):
            return Static(attribute, f"{name_}.{attr}")
    text = attribute_text(ctx, value, attr)
    if not isinstance(attribute, AS_IT_IS):
        binding = outside(ctx, attribute, text, attr)
        if is_of_library(value):
            ctx.relied.pop((text, "itself", None), None)
        return binding
    ctx.rely(text, attribute)
    return Static(attribute, f"{name_}.{attr}")


def of_member(ctx: Lowering, owner: Static, value: enum.Enum, attr: str, node: ast.AST) -> Binding:
    """A method of an enumeration member, or its data."""
    attribute = present_attribute(ctx, value, attr, str(value), node)
    cls = type(value)
    if isinstance(from_class(ctx, cls, attr), types.FunctionType | property) or isinstance(
        entry_of_class(ctx, cls, attr), classmethod | staticmethod
    ):
        return of_class(ctx, owner, cls, attr, node)
    return outside(ctx, attribute, attribute_text(ctx, value, attr), attr)


def of_value(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding:
    """Attributes of arrays and of numbers of Python and NumPy; any other is a method."""
    type_ = ctx.type_of(owner)
    if isinstance(type_, Scalar) and type_.dtype is None and attr in ("shape", "ndim", "size", "T", "dtype") and ctx.frame.place is None:
        return definite(ctx, MISSING, node, AttributeError, f"{type_.kind!r} object has no attribute {attr!r}")
    if isinstance(type_, Unknown | Object) and attr in ("real", "imag", "T", "shape", "size", "ndim", "dtype", "mT", "__name__"):
        return Num(ctx.call("opaque_attribute", ctx.read(owner), attribute=attr))
    if isinstance(type_, Object) and type_.is_exception:
        return of_failure(ctx, owner, attr, node)
    if not isinstance(type_, Scalar | Array):
        return Bound(owner, attr)
    of_type = of_number(ctx, owner, type_, attr, node) if isinstance(type_, Scalar) else of_array(ctx, owner, type_, attr, node)
    if of_type is not None:
        return of_type
    return of_builtin(ctx, owner, attr, node) if ctx.frame.place is None else Bound(owner, attr)


def of_number(ctx: Lowering, owner: Binding, type_: Scalar, attr: str, node: ast.AST) -> Binding | None:
    """An attribute of a number, or None."""
    match attr:
        case "shape":
            return Tup(())
        case "ndim" | "size":
            return Num(Const(int(attr == "size")))
        case "dtype" if (name := dtype_of(type_)) is not None:
            check_kind(ctx, type_, node)
            return Static(np.dtype(DTYPES[name]), f"np.dtype({np.dtype(DTYPES[name]).name!r})")
        case "real" if type_.kind == "bool" and type_.dtype is None:
            return Num(ctx.call("number", ctx.read(owner), kind="int"))
        case "T" | "real" if type_.kind != "complex":
            return owner
        case "real" | "imag":
            return Num(ctx.call(attr, ctx.read(owner)))
        case "numerator" if type_.kind == "int":
            return owner
        case "denominator" if type_.kind == "int":
            return Num(Const(1))
    return None


def of_array(ctx: Lowering, owner: Binding, type_: Array, attr: str, node: ast.AST) -> Binding | None:
    """An attribute of an array, or None."""
    match attr:
        case "shape" if type_.shape is not None:
            if isinstance(owner, Ref):
                return Tup(tuple(Num(extent_of(ctx, owner, k)) for k in range(len(type_.shape))))
            value = ctx.read(owner)
            return Tup(tuple(Num(Const(e) if isinstance(e, int) else ctx.call("extent", value, axis=k)) for k, e in enumerate(type_.shape)))
        case "shape":
            raise UnknownType("the number of dimensions of this array is not known", ctx.loc(node))
        case "ndim" if type_.shape is not None:
            return Num(Const(len(type_.shape)))
        case "ndim":
            return Num(ctx.call("ndim", ctx.read(owner)))
        case "itemsize" | "nbytes" if type_.dtype is not None:
            check_kind(ctx, type_, node)
            item = Const(np.dtype(DTYPES[type_.dtype]).itemsize)
            return Num(item if attr == "itemsize" else ctx.call("multiply", ctx.call("size", ctx.read(owner)), item))
        case "size":
            return Num(size_of(ctx, owner) if isinstance(owner, Ref) else ctx.call("size", ctx.read(owner)))
        case "dtype" if type_.dtype is not None:
            check_kind(ctx, type_, node)
            return Static(np.dtype(DTYPES[type_.dtype]), f"np.dtype({np.dtype(DTYPES[type_.dtype]).name!r})")
        case "mT" | "imag" | "real" if type_.shape is not None and (attr != "real" or type_.kind == "complex"):
            return apply_row(ctx, attr, [owner], {}, node)
        case "T" if isinstance(owner, Ref):
            return owner if type_.shape is not None and len(type_.shape) < 2 else Ref(owner.location, (*owner.path, Step(".T")))
        case "real" if type_.kind in ("float", "int", "bool"):
            return owner
        case "real" | "imag" | "dtype" if type_.dtype is None:
            raise UnknownType("the dtype of this array is not known", ctx.loc(node), "convert it with np.asarray and dtype=float")
        case "flat" if isinstance(owner, Ref) and type_.shape is not None:
            return Iter("flat", (owner,))
        case "strides" if ctx.frame.place is None and isinstance(owner, Ref):
            return strides_of(ctx, owner, node)
        case "flags" if ctx.frame.place is None and isinstance(owner, Ref) and owner.location.read_only:
            raise UnsupportedSyntax("flags of an array that is only read are not supported", ctx.loc(node), "ask a copy of it")
        case "flags" if ctx.frame.place is None:  # which the array itself says when the program runs
            return Num(ctx.call("opaque_attribute", ctx.read(owner), attribute=attr))
        case "device" if HAVE_DEVICES:
            return Static("cpu")
        case "base" | "data" | "ctypes" | "device" if ctx.frame.place is None:
            raise UnsupportedSyntax(f"{attr} of an array, which exposes its memory layout, is not supported", ctx.loc(node), OF_MEMORY)
    return None


def cached_property_value(ctx: Lowering, owner: Binding, attr: str, function: Any, node: ast.AST) -> Binding:
    """A ``functools.cached_property``: computed at the first read, then an attribute."""
    if isinstance(owner, External):
        return outside(ctx, present_attribute(ctx, owner.value, attr, "this object", node), path(owner.text, attr), attr)
    value = ctx.apply(Bound(owner, attr, function), [], {}, node)
    if not isinstance(owner, Obj):
        raise UnsupportedSyntax(f"a cached property, {attr!r}, of an object that is not an instance", ctx.loc(node))
    ctx.change(owner.key, (*ctx.state.entries(owner.key), (attr, value)))
    return value


def kind_of_instance(binding: Binding) -> type:
    """The class of an instance, or of a library constant."""
    return type(binding.value) if isinstance(binding, Static) else kind_of(binding)


def of_class(ctx: Lowering, owner: Binding, cls: type, attr: str, node: ast.AST, after: type | None = None) -> Binding:
    """A method, property or class attribute of an instance; with ``after`` only from the classes after that one."""
    order = cls.__mro__
    for base in order[order.index(after) + 1 if after in order else 0 :]:
        if attr in vars(base):
            return of_entry(ctx, owner, cls, base, attr, node, after)
    return without_entry(ctx, owner, cls, attr, node, after)


def of_entry(ctx: Lowering, owner: Binding, cls: type, base: type, attr: str, node: ast.AST, after: type | None) -> Binding:
    """The value of an attribute that an entry of the class defines for an instance, by the entry's descriptor protocol."""
    seen = base if after is not None else cls
    from_outside = isinstance(owner, External) and after is None
    match vars(base)[attr]:
        case types.FunctionType() as function if base in BASES and is_derived(owner):
            return Bound(owner, attr, function)
        case types.FunctionType() as function:
            rely_on_class(ctx, owner if after is None else MISSING, seen, attr, function)
            return Bound(owner, attr, function if followed(ctx, function) else None)
        case staticmethod() as held:
            rely_on_class(ctx, MISSING, seen, attr, held.__func__)
            if from_outside:
                rely_on_instance(ctx, owner, attr, held.__func__)
            return Static(held.__func__, attr)
        case classmethod() as held:
            rely_on_class(ctx, MISSING, seen, attr, held.__func__, ".__func__")
            if from_outside:
                rely_on_instance(ctx, owner, attr, held.__func__, ".__func__")
            return Bound(Static(cls), attr, held.__func__)
        case property() as held if held.fget is not None:
            rely_on_class(ctx, MISSING, seen, attr, held)
            if isinstance(owner, External):
                ctx.rely(owner.text, type(owner.value), "type")
            return of_property(ctx, owner, cls if after is None else None, attr, held.fget, node)
        case functools.cached_property() as held:
            rely_on_class(ctx, MISSING, seen, attr, held)
            return cached_property_value(ctx, owner, attr, held.func, node)
        case held if seen_through(held) is not None:
            rely_on_class(ctx, MISSING, seen, attr, held)
            return Bound(owner, attr, held)
        case held if followed(ctx, get := from_class(ctx, type(held), "__get__")):
            rely_on_entry(ctx, seen, attr)
            rely_on_class(ctx, MISSING, type(held), "__get__", get)
            return ctx.apply(Bound(Static(held, attr), "__get__", get), [owner, Static(cls)], {}, node)
        case functools.partialmethod() as held if after is None and (kept_as := name_of_partialmethod(from_class(ctx, cls, attr))):
            rely_on_class(ctx, MISSING, cls, f"{attr}.{kept_as}", held)
            if isinstance(owner, External):
                ctx.rely(owner.text, type(owner.value), "type")
            return Bound(owner, attr, adapted(from_class(ctx, cls, attr)))
        case functools.partialmethod():
            what = f"the effect of the decorator of {cls.__name__}.{attr} is not known"
            raise UnsupportedSyntax(what, ctx.loc(node), "leave it out")
        case held if callable(held) and from_class(ctx, type(held), "__get__") is not None:
            rely_on_entry(ctx, seen, attr)
            if held is object.__init__ and after is not None:
                return Bound(owner, attr, object_init)
            if is_derived(owner) and is_of_base(held):
                return Bound(owner, attr, held)
            is_init = attr == "__init__" and after is not None and issubclass(base, BaseException)
            return Bound(owner, GIVEN if is_init else attr)  # a method that is not written in Python
        case _ if isinstance(owner, External) and after is None:  # for a descriptor, the value that the instance holds
            return outside(ctx, read_attribute(ctx, owner.value, attr), path(owner.text, attr), attr)
        case types.GetSetDescriptorType() | types.MemberDescriptorType() as held if isinstance(owner, Obj):
            rely_on_entry(ctx, seen, attr)
            return of_descriptor(ctx, owner, held, node)
        case held:
            return outside(ctx, held, path(owner_name(ctx, seen), attr), attr)


def of_property(ctx: Lowering, owner: Binding, cls: type | None, attr: str, getter: Any, node: ast.AST) -> Binding:
    """The value of a property; if it raises ``AttributeError``, the value of ``__getattr__`` of the instance's class ``cls``."""
    get = Static(getter, attr) if isinstance(getter, GETTERS) else Bound(owner, attr, getter)
    if cls is not None and isinstance(other := from_class(ctx, cls, "__getattr__"), types.FunctionType):
        rely_on_class(ctx, owner, cls, "__getattr__", other)
        return ctx.apply(Static(asking.property_or), [get, Bound(owner, "__getattr__", other), Static(attr)], {}, node)
    return ctx.apply(get, [owner] if isinstance(get, Static) else [], {}, node)


def without_entry(ctx: Lowering, owner: Binding, cls: type, attr: str, node: ast.AST, after: type | None) -> Binding:
    """An attribute that no class has: ``__getattr__``, or an error."""
    if isinstance(owner, Obj) and isinstance(own := from_class(ctx, cls, "__getattr__"), types.FunctionType) and after is None:
        rely_on_class(ctx, owner, cls, "__getattr__", own)
        return ctx.apply(Bound(owner, "__getattr__", own), [Static(attr)], {}, node)
    if is_derived(owner) and is_of_base(own := from_class(ctx, cls, "__getattr__")) and after is None:
        rely_on_entry(ctx, cls, "__getattr__")
        return ctx.apply(Bound(owner, "__getattr__", own), [Static(attr)], {}, node)
    if isinstance(owner, Obj) and not attr.startswith("__") and type(cls) is type:
        return definite(ctx, MISSING, node, AttributeError, f"{cls.__name__!r} object has no attribute {attr!r}")
    raise UnsupportedSyntax(f"{cls.__name__!r} object has no attribute {attr!r}", ctx.loc(node))


def rely_on_instance(ctx: Lowering, owner: Binding, attr: str, held: Any, part: str = "") -> None:
    """Record the value of a class's attribute read through an instance from outside: the instance may get an attribute of its own."""
    assert isinstance(owner, External)
    ctx.rely(f"{path(owner.text, attr)}{part}", held)
    ctx.rely(owner.text, type(owner.value), "type")
