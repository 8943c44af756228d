"""Instances of user classes: construction, and access through ``super()``."""

from __future__ import annotations

import ast
import builtins
import collections
import collections.abc
import dataclasses
import types
from typing import Any

import numpy as np

from symgrad.abstraction import DTYPE_NAMES
from symgrad.containers import container_of
from symgrad.errors import UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.calls.derived_values import instance_of
from symgrad.frontend.flow.absent import as_python_does
from symgrad.frontend.flow.edges import GIVEN, fail
from symgrad.frontend.objects.derived import call_base, check_making, check_named_tuple, defined_by_base
from symgrad.frontend.objects.opaque import FOLLOWED, is_read, opaque
from symgrad.frontend.objects.operands import unwrap
from symgrad.frontend.objects.outside import outside, rely_on_class
from symgrad.frontend.objects.reading import LIBRARIES, abstract_methods, attribute_text, from_class, generated, owner_name, rely_on_entry
from symgrad.frontend.state.bindings import Above, Binding, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.members import is_enumeration
from symgrad.frontend.state.program_state import Frame
from symgrad.frontend.text.argument_errors import Wording
from symgrad.frontend.text.source import parameters
from symgrad.frontend.values.exact import exact_class
from symgrad.text import item

#: exceptions of Python's that hold their arguments
PLAIN = tuple(
    getattr(builtins, name)
    for name in """
        Exception ValueError TypeError RuntimeError ArithmeticError ZeroDivisionError OverflowError FloatingPointError LookupError
        IndexError KeyError AssertionError NotImplementedError RecursionError Warning UserWarning RuntimeWarning DeprecationWarning
        FutureWarning
    """.split()
)

#: classes of Python's that are lowered from source, as user classes are
IN_PYTHON = (
    collections.UserDict,
    collections.UserList,
    collections.ChainMap,
    collections.abc.KeysView,
    collections.abc.ItemsView,
    collections.abc.ValuesView,
)


def construct(ctx: Lowering, cls: type, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Create an instance of a user class, a named tuple or a dataclass; cast with a NumPy type."""
    if issubclass(cls, np.generic) and len(args) == 1 and not kwargs:
        if np.dtype(cls) not in DTYPE_NAMES:
            raise UnsupportedArgument(f"the dtype of {name} is not supported", ctx.loc(node))
        return ctx.make(ctx.call("cast", ctx.read(args[0], node), dtype=DTYPE_NAMES[np.dtype(cls)]))
    if is_enumeration(cls):
        given_values = [unwrap(a) for a in args]
        return Static(as_python_does(ctx, node, lambda: cls(*given_values)))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        check_named_tuple(ctx, cls)
        fields: list[str] = list(cls._fields)
        arguments = arguments_by_field(ctx, cls, fields, args, kwargs)
        arguments |= defaults_of_tuple(ctx, cls, [f for f in fields if f not in arguments])
        if missing := [f for f in fields if f not in arguments]:
            fail(ctx, TypeError, wording_of(cls, len(fields)).missing(missing))
        return Tup(tuple(arguments[f] for f in fields), cls)
    is_exception = is_plain_exception(ctx, cls) and not (kwargs and cls.__module__ == "builtins")
    is_followed = cls.__module__.startswith(FOLLOWED) or cls in IN_PYTHON or is_read(ctx, cls) and is_made_in_python(cls)
    if cls.__module__.split(".")[0] in LIBRARIES and not is_exception and not is_followed:
        return opaque(ctx, cls, name, args, kwargs, node)
    if not is_exception:
        check_making(ctx, cls)
    if left_out := abstract_methods(ctx, cls):
        word = "method" if len(left_out) == 1 else "methods"
        fail(ctx, TypeError, f"Can't instantiate abstract class {cls.__name__} with abstract {word} {', '.join(left_out)}")
    whole = Tup(tuple(args))
    if is_exception:
        instance: Any = ctx.new_object("record", (("args", whole), (GIVEN, whole)), cls)
    else:
        instance = instance_of(ctx, cls, args, kwargs, node)
    if getattr(getattr(instance, "key", None), "cls", None) is not cls:
        return not_initialised(ctx, cls, instance, node)
    result: Binding = instance
    if dataclasses.is_dataclass(cls) and generated(cls, "__init__") is not None:
        values = dataclass_fields(ctx, cls, args, kwargs, node)
        handed_on = [values.pop(field.name) for field in fields_of(cls) if is_init_var(field)]
        ctx.change(instance.key, tuple(values.items()))
        rely_on_entry(ctx, cls, "__init__")
        if (after := from_class(ctx, cls, "__post_init__")) is not None:
            rely_on_class(ctx, instance, cls, "__post_init__", after)
            call_function(ctx, after, [instance, *handed_on], {}, node)
        return result
    init = from_class(ctx, cls, "__init__")
    is_container = container_of(cls) is not None
    if isinstance(init, types.FunctionType) and not (is_container and defined_by_base(cls, "__init__")):
        rely_on_class(ctx, instance, cls, "__init__", init)
        call_function(ctx, init, [instance, *args], kwargs, node)
    elif is_container:
        call_base(ctx, "__init__", instance, args, kwargs, node)
    elif init is object.__init__ and from_class(ctx, cls, "__new__") is object.__new__ and (args or kwargs):
        fail(ctx, TypeError, f"{cls.__name__}() takes no arguments")
    return result


def not_initialised(ctx: Lowering, cls: type, instance: Binding, node: ast.AST) -> Binding:
    """The result of ``__new__`` if it is no instance of the class: Python then does not call ``__init__``."""
    returned = exact_class(ctx, instance, node)
    if issubclass(returned, cls) and isinstance(from_class(ctx, returned, "__init__"), types.FunctionType):
        what = f"__new__ of {cls.__name__} returns an instance of {returned.__name__}, or one from outside, and __init__ is called with it"
        raise UnsupportedSyntax(what, ctx.loc(node), "define a function that returns the instance")
    return instance


def is_made_in_python(cls: type) -> bool:
    """Whether Python code initialises the instances of a library class. Those of a class in C have invisible attributes."""
    init: Any = cls.__init__  # type: ignore[misc]
    new: Any = cls.__new__
    return isinstance(init, types.FunctionType) or init is object.__init__ and new is object.__new__


def is_plain_exception(ctx: Lowering, cls: type) -> bool:
    """Whether the class is one of exceptions that hold their arguments, and nothing else that Python's own classes add."""
    return issubclass(cls, Exception) and from_class(ctx, cls, "__new__") in [own.__new__ for own in PLAIN]


def defaults_of_tuple(ctx: Lowering, cls: Any, left_out: list[str]) -> dict[str, Binding]:
    """The defaults of a named tuple's omitted fields: those of its ``__new__``, even if ``_field_defaults`` differs."""
    where = f"{attribute_text(ctx, cls, '__new__')}.__defaults__"
    values = cls.__new__.__defaults__ or ()
    first = len(cls._fields) - len(values)
    pairs = enumerate(zip(cls._fields[first:], values, strict=True))
    defaults = {field: outside(ctx, value, f"{where}[{k}]", field) for k, (field, value) in pairs if field in left_out}
    if defaults:
        ctx.rely(where, len(values), "len")
    return defaults


def dataclass_fields(ctx: Lowering, cls: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> dict[str, Binding]:
    """The fields by name, including arguments of ``__post_init__`` that no field keeps (``InitVar``)."""
    plain = [f.name for f in fields_of(cls) if f.init and not f.kw_only]
    arguments = arguments_by_field(ctx, cls, plain, args, kwargs, [f.name for f in fields_of(cls) if f.init and f.kw_only])
    for kind, by_name in (("positional", False), ("keyword-only", True)):
        required = [f for f in fields_of(cls) if f.init and f.kw_only == by_name and f.default is f.default_factory is dataclasses.MISSING]
        if missing := [field.name for field in required if field.name not in arguments]:
            fail(ctx, TypeError, wording_of(cls, len(plain)).missing(missing, kind))
    values: dict[str, Binding] = {}
    for field in fields_of(cls):
        if field.name in arguments:
            values[field.name] = arguments[field.name]
        elif field.init and field.default is not dataclasses.MISSING:
            values[field.name] = default_of_field(ctx, cls, field, plain, node)
        elif field.default is not dataclasses.MISSING:
            where = item(f"{owner_name(ctx, cls)}.__dataclass_fields__", field.name)
            values[field.name] = outside(ctx, field.default, f"{where}.default", field.name)
        elif field.default_factory in (list, dict):
            values[field.name] = ctx.new_object(field.default_factory.__name__, ())
        elif (factory := field.default_factory) is not dataclasses.MISSING:
            where = f"{item(f'{owner_name(ctx, cls)}.__dataclass_fields__', field.name)}.default_factory"
            ctx.rely(where, factory)
            values[field.name] = ctx.apply(Static(factory, field.name), [], {}, node)
    return values


def fields_of(cls: Any) -> list[Any]:
    """The fields of a dataclass and its ``InitVar``s, in the order of the parameters of ``__init__``."""
    fields = dataclasses.fields(cls)
    return [field for field in cls.__dataclass_fields__.values() if field in fields or is_init_var(field)]


def is_init_var(field: Any) -> bool:
    """Whether the field is passed to ``__post_init__``, and is no field of the instance."""
    return field._field_type is dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]


def default_of_field(ctx: Lowering, cls: Any, field: Any, plain: list[str], node: ast.AST) -> Binding:
    """The default of an omitted field: that of the ``__init__`` which ``dataclass`` generated, even if the field was changed later."""
    init = from_class(ctx, cls, "__init__")
    words = "__kwdefaults__" if field.kw_only else "__defaults__"
    where = f"{attribute_text(ctx, cls, '__init__')}.{words}"
    if field.kw_only:
        held = {name: (item(where, name), value) for name, value in (init.__kwdefaults__ or {}).items()}
    else:
        values = init.__defaults__ or ()
        ctx.rely(where, len(values), "len")
        held = {
            name: (f"{where}[{k}]", value) for k, (name, value) in enumerate(zip(plain[len(plain) - len(values) :], values, strict=True))
        }
    if field.name not in held:
        raise UnsupportedSyntax(f"argument {field.name!r} is missing", ctx.loc(node), f"pass {field.name}")
    text, value = held[field.name]
    return outside(ctx, value, text, field.name)


def arguments_by_field(
    ctx: Lowering, cls: type, plain: list[str], args: list[Binding], kwargs: dict[str, Binding], by_name: list[str] | None = None
) -> dict[str, Binding]:
    """The arguments by field, passed by position and by name."""
    arguments = dict(zip(plain, args, strict=False))
    wording = wording_of(cls, len(plain), len((cls.__new__ if issubclass(cls, tuple) else cls.__init__).__defaults__ or ()))
    for name, binding in kwargs.items():
        if name in arguments:
            fail(ctx, TypeError, wording.twice(name))
        if name not in (*plain, *(by_name or ())):
            fail(ctx, TypeError, wording.unexpected(name))
        arguments[name] = binding
    if len(args) > len(plain):
        fail(ctx, TypeError, wording.excess(len(args) + 1))
    return arguments


def wording_of(cls: type, count: int, optional: int = 0) -> Wording:
    """What Python says of the calls of a named tuple or dataclass, which pass the class or instance too."""
    name = f"{cls.__name__}.__new__" if issubclass(cls, tuple) else f"{cls.__qualname__}.__init__"
    return Wording(lambda: name, count + 1, optional)


def super_of(ctx: Lowering, node: ast.AST) -> Binding:
    """``super()``: the instance, with lookup from the class after the one that defines the method."""
    definitions = [ctx.definitions[held] for held, _ in ctx.stack if isinstance(held, tuple) and held in ctx.definitions]
    if definitions:
        held, _ = ctx.stack[-1]
        if held not in ctx.definitions:
            what = "super() is used in a function in a method of a class in a function"
            raise UnsupportedSyntax(what, ctx.loc(node), "write it outside the function")
        return Above(ctx.state.names[ctx.frame, parameters(held[0].args)[0]], ctx.definitions[held])
    frame: Frame | None = ctx.frame
    while frame is not None and frame.parent is not None:
        frame = frame.parent
    assert frame is not None
    cell = frame.source.cells.get("__class__")
    arguments = parameters(frame.source.node.args)
    if cell is None or not arguments:
        raise UnsupportedSyntax("super() is used outside a method", ctx.loc(node))
    return Above(ctx.state.names[frame, arguments[0]], cell.cell_contents)
