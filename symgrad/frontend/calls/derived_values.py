"""Construction by ``__new__``, and builtin functions of instances whose class derives from a tuple, a string or a number."""

from __future__ import annotations

import ast
import math
import types
from typing import Any

import numpy as np

from symgrad.containers import VALUES
from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.edges import fail
from symgrad.frontend.objects.derived import BASES, OF_ARRAYS, STORAGE, as_base, base_of, begun, is_derived
from symgrad.frontend.objects.outside import outside, rely_on_class
from symgrad.frontend.objects.reading import entry_of_class, from_class, owner_name, rely_on_entry, root_of
from symgrad.frontend.state.bindings import MISSING, Above, Binding, Bound, Obj, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special
from symgrad.frontend.values.exact import exact_class
from symgrad.text import attribute

#: the special methods by which builtin functions read a number
READ_BY: dict[Any, tuple[str, ...]] = {
    abs: ("__abs__",),
    round: ("__round__",),
    int: ("__int__", "__index__", "__trunc__"),
    float: ("__float__", "__index__"),
    complex: ("__complex__", "__float__", "__index__"),
    divmod: ("__divmod__", "__rdivmod__"),
    pow: ("__pow__", "__rpow__"),
    range: ("__index__",),
    hash: ("__hash__",),
    format: ("__format__", "__str__", "__repr__"),
    math.floor: ("__floor__", "__float__"),
    math.ceil: ("__ceil__", "__float__"),
    math.trunc: ("__trunc__",),
}
OF_MATH = ("__float__", "__index__")
OF_NUMPY = (*OF_ARRAYS, "__array_ufunc__", "__array_function__")


def is_derived_value(binding: Any) -> bool:
    """Whether the binding is an instance of a class that derives from a tuple, a string or a number."""
    return is_derived(binding) and base_of(binding.key.cls) in VALUES


def values_read(ctx: Lowering, function: Any, args: list[Binding]) -> list[Binding]:
    """The arguments of a builtin function, or one of ``math`` or NumPy, as it reads them: instances as values of their base class."""
    if not any(map(is_derived_value, args)):
        return args
    root, name = root_of(function), getattr(function, "__name__", "")
    words = READ_BY.get(function) or {"math": OF_MATH, "numpy": (*OF_NUMPY, name)}.get(root)
    if words is None:
        return args
    return [as_base(ctx, a, *words) if is_derived_value(a) else a for a in args]


# ------------------------------------------------------------------ __new__


def instance_of(ctx: Lowering, cls: type, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The result of ``cls.__new__``."""
    if issubclass(cls, np.ndarray):
        raise UnsupportedSyntax(f"{cls.__name__} is a class of arrays of its own", ctx.loc(node), "use a plain array")
    new = from_class(ctx, cls, "__new__")
    if isinstance(new, types.FunctionType):
        rely_on_class(ctx, MISSING, cls, "__new__", new)
        return call_function(ctx, new, [Static(cls, owner_name(ctx, cls)), *args], kwargs, node)
    base = base_of(cls)
    if base in VALUES:
        return value_instance(ctx, cls, base, args, kwargs, node)
    return begun(ctx, cls, node) if base is not None else ctx.new_object("record", (), cls)


def value_instance(ctx: Lowering, cls: type, base: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Obj:
    """A new instance of a class derived from an immutable class: the value that the base class makes of the arguments."""
    instance: Obj = ctx.new_object("record", ((STORAGE, ctx.apply(Static(base), args, kwargs, node)),), cls)
    return instance


@special(object.__new__, *(base.__new__ for base in VALUES), *(base.__new__ for base in (list, dict)))
def new_of_builtin(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``float.__new__(cls, value)`` and the like; ``__new__`` of the class that ``cls`` derives from is the same function."""
    if not args or not isinstance(args[0], Static) or not isinstance(args[0].value, type):
        raise UnsupportedSyntax("__new__ is called for a class that is computed", ctx.loc(node), "name the class")
    cls, rest = args[0].value, args[1:]
    base = base_of(cls)
    if cls in VALUES or cls in BASES:
        return ctx.apply(Static(cls), rest if cls in VALUES else [], kwargs if cls in VALUES else {}, node)
    if base in VALUES:
        return value_instance(ctx, cls, base, rest, kwargs, node)
    if base is not None:
        return begun(ctx, cls, node)
    if root_of(cls) == "builtins" or issubclass(cls, BaseException):
        raise UnsupportedSyntax(f"object.__new__ of {cls.__name__}", ctx.loc(node), "call the class")
    if rest or kwargs:
        fail(ctx, TypeError, "object.__new__() takes exactly one argument (the type to instantiate)")
    instance: Binding = ctx.new_object("record", (), cls)
    return instance


def of_super_class(ctx: Lowering, owner: Static, after: type, attr: str, node: ast.AST) -> Binding:
    """An attribute of ``super()`` in a class method or ``__new__``: of the classes after the one that defines the method."""
    order = owner.value.__mro__
    base = next((one for one in order[order.index(after) + 1 :] if attr in vars(one)), None)
    if base is None:
        raise UnsupportedSyntax(f"the classes above {after.__name__} have no attribute {attr!r}", ctx.loc(node))
    match entry_of_class(ctx, base, attr):
        case staticmethod() as held:
            rely_on_class(ctx, MISSING, base, attr, held.__func__)
            return Static(held.__func__, attr)
        case classmethod() as held:
            rely_on_class(ctx, MISSING, base, attr, held.__func__, ".__func__")
            return Bound(owner, attr, held.__func__)
        case types.BuiltinFunctionType() as held:
            rely_on_entry(ctx, base, attr)
            return Static(held, f"{base.__name__}.{attr}")
        case types.FunctionType() as held:
            rely_on_class(ctx, MISSING, base, attr, held)
            return Static(held, attr)
        case held if not hasattr(type(held), "__get__"):
            return outside(ctx, held, attribute(owner_name(ctx, base), attr), attr)
    what = f"{attr!r} of super() in a class method is not supported"
    raise UnsupportedSyntax(what, ctx.loc(node), f"name the class: {base.__name__}.{attr}")


@special(super)
def super_after(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``super(cls, instance)``, or ``super(cls, other)`` of a class derived from it."""
    if len(args) != 2 or kwargs or not isinstance(args[0], Static) or not isinstance(args[0].value, type):
        raise UnsupportedSyntax("super is called with other arguments than a class and an instance", ctx.loc(node), "write super()")
    after, owner = args[0].value, definite(ctx, args[1], node)
    cls = owner.value if isinstance(owner, Static) and isinstance(owner.value, type) else exact_class(ctx, owner, node)
    if not issubclass(cls, after):
        fail(ctx, TypeError, "super(type, obj): obj must be an instance or subtype of type")
    return Above(owner, after)


def is_super_of_class(owner: Binding) -> bool:
    """Whether the binding is ``super()`` of a class."""
    return isinstance(owner, Above) and isinstance(owner.owner, Static) and isinstance(owner.owner.value, type)


__all__ = ["instance_of", "is_derived_value", "is_super_of_class", "of_super_class", "values_read"]
