"""Instances of classes derived from builtin classes: the storage of the base class, and the methods that the base class defines.

Such an instance is a record of its attributes and one more entry, ``STORAGE``: a value of the base class. A definition in the class
itself comes first, as for any instance. Operations inherited from the base class apply to the storage (``as_base``). So a class whose
definitions were not examined is never taken for its base class.
"""

from __future__ import annotations

import ast
import collections
import enum
import operator
import types
from typing import Any, TypeGuard

import numpy as np

from symgrad.containers import CONTAINERS as BASES
from symgrad.containers import VALUES, changed_reader, comes_from_base, container_of, defined_anew, is_written_for_container
from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.objects.reading import entry_of_class, from_class, is_of_library, rely_on_entry
from symgrad.frontend.state.bindings import Binding, Bound, HeapKey, Obj, Ref, Static
from symgrad.frontend.state.context import Lowering

#: the entry of a record that holds the list or dict of the base class; no attribute has this name
STORAGE = "(storage)"
#: the entry of an instance whose attributes are the items of a dict, itself: ``self.__dict__ = self``
NAMESPACE = "__dict__"
#: methods that are not written in Python
DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
#: special methods of the base class, by the functions that call them
OPERATIONS: dict[str, Any] = {
    **{f"__{name}__": getattr(operator, name) for name in "contains getitem setitem delitem iadd imul neg pos invert index".split()},
    **{f"__{one.__name__}__": one for one in (len, iter, reversed, repr, abs, bool, int, float, complex, round, str, format, hash)},
}
#: those of two operands: the base class gets the other operand's storage
OF_TWO: dict[str, Any] = {
    **{name: getattr(operator, name) for name in "__add__ __mul__ __or__ __ior__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__".split()},
    "__rmul__": operator.mul,
}
OF_TWO |= {f"__{name}__": getattr(operator, name) for name in ("sub", "truediv", "floordiv", "mod", "pow")} | {"__divmod__": divmod}
#: the same with the operands in the other order
REFLECTED: dict[str, Any] = {
    f"__r{word[2:]}": OF_TWO[word] for word in ("__add__", "__sub__", "__truediv__", "__floordiv__", "__mod__", "__pow__")
}
#: special methods that NumPy calls on an instance to convert it to an array
OF_ITEMS = ("__iter__", "__len__", "__getitem__", "__getattr__")
OF_ARRAYS = (*OF_ITEMS, "__float__", "__complex__", "__index__", "__array__", "__array_interface__")
#: base classes whose methods call other methods of the instance, which a class can override
BY_OTHERS = (collections.defaultdict, collections.OrderedDict, collections.Counter)
#: the methods that a class derived from these may override
LEFT = {"__init__", "__repr__", "__str__", "__missing__", "__hash__", "__eq__", "__doc__", "__module__", "__setattr__", "__delattr__"}


def value_class_of(cls: Any) -> type | None:
    """The immutable builtin class that a user class derives from; None for named tuples, enumerations and classes of NumPy.

    >>> class Metres(float): pass
    >>> value_class_of(Metres), value_class_of(float)
    (<class 'float'>, None)
    """
    if not isinstance(cls, type) or cls in VALUES or issubclass(cls, bool | np.generic | enum.Enum) or hasattr(cls, "_fields"):
        return None
    return next((base for base in VALUES if issubclass(cls, base)), None)


def base_of(cls: Any) -> type | None:
    """The builtin class, container or immutable, that a user class derives from."""
    return container_of(cls) or value_class_of(cls)


def is_derived(binding: Any) -> TypeGuard[Obj]:
    """Whether the binding is an instance of a class that derives from a container or an immutable builtin class."""
    return isinstance(binding, Obj) and binding.key.kind == "record" and base_of(binding.key.cls) is not None


def storage_of(ctx: Lowering, binding: Binding) -> Binding | None:
    """The storage of an instance, a value of the base class; None for all else."""
    return dict(ctx.state.entries(binding.key)).get(STORAGE) if is_derived(binding) else None


def as_base(ctx: Lowering, binding: Binding, *words: str) -> Binding:
    """The storage of an instance whose class inherits all these special methods from its base; any other binding unchanged."""
    storage = storage_of(ctx, binding)
    if storage is None:
        return binding
    assert isinstance(binding, Obj)
    return storage if all(is_left(ctx, binding.key.cls, word) for word in words) else binding


def is_left(ctx: Lowering, cls: type, word: str) -> bool:
    """Whether a class inherits a special method from its base. One that is no function is refused."""
    held = from_class(ctx, cls, word)
    if is_of_base(held) and held.__name__ == word or defined_by_base(cls, word):
        return True
    if isinstance(held, types.FunctionType) or word == "__getattr__":
        return False
    what = f"{word} of {cls.__name__} is not written with def"
    raise UnsupportedSyntax(what, ctx.builder.loc, f"define {word} with def in {cls.__name__}")


def defined_by_base(cls: type, word: str) -> bool:
    """Whether a class inherits a method from the container that it derives from."""
    return comes_from_base(cls, word)


def check_given(ctx: Lowering, cls: type) -> None:
    """Refuse the class of an instance from outside, if reading the instance's content runs a method of the class."""
    check_class(ctx, cls)
    if (word := changed_reader(cls)) is not None:
        base = getattr(container_of(cls), "__name__", "container")
        what = f"{cls.__name__} is a {base} that overrides {word}, and an instance comes from outside the function"
        raise UnsupportedSyntax(what, ctx.builder.loc, f"pass a plain {base}, and make the instance of {cls.__name__} in the function")


def check_class(ctx: Lowering, cls: type) -> None:
    """Refuse a class that overrides methods on which its base's own methods rely."""
    base = container_of(cls)
    order = cls.__mro__
    if base in BY_OTHERS and (peculiar := sorted(defined_anew(cls) - LEFT)):
        what = f"{cls.__name__} is a {base.__name__} that overrides {peculiar[0]}"
        raise UnsupportedSyntax(what, ctx.builder.loc, "derive the class from dict")
    library = [one for one in order if is_of_library(one) and one is not object and not (base is not None and issubclass(base, one))]
    if others := [one for one in library if one.__module__ not in ("typing", "abc")]:
        what = f"{cls.__name__} derives from {others[0].__name__} as well as {getattr(base, '__name__', 'a container')}"
        raise UnsupportedSyntax(what, ctx.builder.loc, f"derive it from {getattr(base, '__name__', 'one container')} alone")


# ------------------------------------------------------------------ construction


def begun(ctx: Lowering, cls: type, node: ast.AST) -> Obj:
    """A new empty instance, as ``__new__`` of the base class creates it."""
    check_class(ctx, cls)
    storage = ctx.apply(Static(container_of(cls)), [], {}, node)
    instance: Obj = ctx.new_object("record", ((STORAGE, storage),), cls)
    return instance


def filled(ctx: Lowering, owner: Obj, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``__init__`` of the base class: a new instance gets the content of a new list or dict."""
    base, storage = container_of(owner.key.cls), storage_of(ctx, owner)
    assert isinstance(storage, Obj)
    if owner.key in ctx.arguments or ctx.state.heap[storage.key] != ():
        if base is not dict:
            what = f"__init__ of an instance of {owner.key.cls.__name__} is called again"
            raise UnsupportedSyntax(what, ctx.loc(node), "make a new instance")
        return ctx.apply(Bound(storage, "update"), args, kwargs, node)
    content = ctx.apply(Static(base), args, kwargs, node)
    ctx.change(owner.key, tuple({**dict(ctx.state.entries(owner.key)), STORAGE: content}.items()))
    return Static(None)


# ------------------------------------------------------------------ methods of the base class


def is_of_base(value: Any) -> bool:
    """Whether the value is a method of a builtin class, such as ``dict.__getitem__``, that is not written in Python."""
    return isinstance(value, DESCRIPTORS) and value.__objclass__ in (*BASES, *VALUES)


def check_union(ctx: Lowering, a: Binding, b: Binding, node: ast.AST) -> None:
    """Refuse ``a | b`` where the base class of one operand creates the result by calling that operand's class."""
    for held in (a, b):
        if is_derived(held) and container_of(held.key.cls) in BY_OTHERS:
            what = f"| of {held.key.cls.__name__} makes another instance by calling the class"
            raise UnsupportedSyntax(what, ctx.loc(node), f"call {held.key.cls.__name__} itself, and update")


def is_base_method(value: Any) -> bool:
    """The same, or a method of the containers of ``collections`` that are written in Python."""
    return is_of_base(value) or isinstance(value, types.FunctionType) and is_written_for_container(value)


def call_base(ctx: Lowering, name: str, owner: Obj, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A method of an instance's base class, or of a plain list or dict, called without the class's overrides."""
    storage = storage_of(ctx, owner)
    if storage is None:
        storage = owner
    elif name == "__init__":
        return filled(ctx, owner, args, kwargs, node)
    elif name in ("copy", "__copy__", "__or__", "fromkeys") and container_of(owner.key.cls) in BY_OTHERS:
        what = f"{name} of {owner.key.cls.__name__} makes another instance by calling the class"
        raise UnsupportedSyntax(what, ctx.loc(node), f"call {owner.key.cls.__name__} itself")
    elif name == "__getitem__" and len(args) == 1 and says_what_is_missing(ctx, owner):
        return item_or_missing(ctx, owner, args[0], node)
    if name in OF_TWO and not kwargs:
        others = [storage_of(ctx, other) or other for other in args]
        if base_of(owner.key.cls) in VALUES and any(isinstance(other, Obj) for other in others):
            what = f"{name} of a {getattr(base_of(owner.key.cls), '__name__', 'value')} is called with an instance of another class"
            raise UnsupportedSyntax(what, ctx.loc(node), "write the operator")
        result = ctx.apply(Static(OF_TWO[name]), [storage, *others], {}, node)
    elif name in REFLECTED and len(args) == 1 and not kwargs:
        result = ctx.apply(Static(REFLECTED[name]), [storage_of(ctx, args[0]) or args[0], storage], {}, node)
    elif name in OPERATIONS and not kwargs:
        result = ctx.apply(Static(OPERATIONS[name]), [storage, *args], {}, node)
    elif name.startswith("__"):
        what = f"{name} of a {getattr(base_of(owner.key.cls), '__name__', 'container')} is not supported"
        raise UnsupportedSyntax(what, ctx.loc(node), "write the operator, or the function that calls it")
    else:
        result = ctx.apply(Bound(storage, name), args, kwargs, node)
    return owner if result == storage and base_of(owner.key.cls) not in VALUES else result


def says_what_is_missing(ctx: Lowering, owner: Obj) -> bool:
    """Whether the class of an instance defines ``__missing__`` itself."""
    return from_class(ctx, owner.key.cls, "__missing__") is not None and not defined_by_base(owner.key.cls, "__missing__")


def item_or_missing(ctx: Lowering, owner: Obj, key: Binding, node: ast.AST) -> Binding:
    """An item of a dict whose class defines ``__missing__``, which is called for a missing key."""
    storage = storage_of(ctx, owner)
    own = entry_of_class(ctx, owner.key.cls, "__missing__")
    if not isinstance(own, types.FunctionType):
        raise UnsupportedSyntax(f"__missing__ of {owner.key.cls.__name__} is not a function", ctx.loc(node), "write it with def")
    rely_on_entry(ctx, owner.key.cls, "__missing__")
    own_item: Binding = MISSING_ITEMS["of"](
        ctx, storage, key, node, lambda sought: ctx.apply(Bound(owner, "__missing__", own), [sought], {}, node)
    )
    return own_item


#: lookup of an item whose key may be missing; entered by the module that reads dicts
MISSING_ITEMS: dict[str, Any] = {}


# ------------------------------------------------------------------ attributes that are items


def namespace_of(ctx: Lowering, owner: Obj) -> Obj:
    """The object that holds an instance's attributes: itself, or its own dict after ``self.__dict__ = self``."""
    if NAMESPACE not in dict(ctx.state.entries(owner.key)):
        return owner
    storage = storage_of(ctx, owner)
    if not isinstance(storage, Obj) or storage.key.kind != "dict":
        what = f"the attributes of an instance of {owner.key.cls.__name__} are accessed by computed names"
        raise UnsupportedSyntax(what, ctx.builder.loc, "use keys that are known")
    return storage


def become_namespace(ctx: Lowering, owner: Obj, value: Binding, node: ast.AST) -> None:
    """``self.__dict__ = self``: from now on the items of a dict are its attributes."""
    own = [name for name, _ in ctx.state.entries(owner.key) if name != STORAGE]
    if value != owner or not isinstance(storage_of(ctx, owner), Obj) or not issubclass(owner.key.cls, dict) or own not in ([], [NAMESPACE]):
        what = f"the attributes of an instance of {owner.key.cls.__name__} are replaced by another dict"
        raise UnsupportedSyntax(what, ctx.loc(node), "assign them one by one")
    ctx.change(owner.key, tuple({**dict(ctx.state.entries(owner.key)), NAMESPACE: Static(None)}.items()))


def is_remade(ctx: Lowering, key: HeapKey) -> bool:
    """Whether a returned instance is rebuilt from its content. One with further attributes, or a factory of items, is not."""
    return container_of(key.cls) is not collections.defaultdict and not attributes_of(ctx, key)


def attributes_of(ctx: Lowering, key: HeapKey) -> tuple[tuple[Any, Binding], ...]:
    """The attributes of an instance, without its storage."""
    content = ctx.state.heap[key]
    assert not isinstance(content, Ref)
    return tuple((name, held) for name, held in content if name not in (STORAGE, NAMESPACE))


# ------------------------------------------------------------------ overrides of what Python does itself


#: special methods that no construct calls, or that change no number
HARMLESS = set(
    """
    __new__ __repr__ __str__ __format__ __hash__ __doc__ __reduce__ __getnewargs__ __class_getitem__ __init_subclass__ __copy__ __deepcopy__
    __annotate__ __annotate_func__ __del__ __replace__
    """.split()
)
#: stems of the operators that are first looked up in the class of a named tuple
OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul", "mod", "floordiv")
ASKED = {f"__{r}{stem}__" for stem in OPERATORS for r in ("", "r", "i")} | {
    f"__{stem}__" for stem in "lt le gt ge eq ne neg pos invert abs bool contains".split()
}


def own_names(cls: type, base: type) -> dict[str, Any]:
    """The definitions in the classes between a class and one of its bases."""
    order = cls.__mro__
    return {name: held for c in reversed(order[: order.index(base)]) for name, held in vars(c).items()}


def check_named_tuple(ctx: Lowering, cls: type) -> None:
    """Refuse a named tuple that overrides its fields' behaviour: construction, unpacking, comparison or addition."""
    base = next(c for c in cls.__mro__ if "_fields" in vars(c))
    own = own_names(cls, base)
    fields = (*cls._fields, "_make", "_replace", "_asdict", "__new__")  # type: ignore[attr-defined]
    peculiar = [n for n, held in own.items() if n in fields or is_special(n) and n not in HARMLESS | ASKED and callable(held)]
    if peculiar:
        what = f"{cls.__name__} is a named tuple that overrides {peculiar[0]}"
        raise UnsupportedSyntax(what, ctx.builder.loc, "use a class that is not a tuple")


def check_container(ctx: Lowering, cls: type) -> None:
    """Refuse a user class derived from list, tuple or dict that overrides a method of theirs."""
    base = next((c for c in cls.__mro__ if c in (list, tuple, dict)), cls)
    own = own_names(cls, base)
    peculiar = [n for n, held in own.items() if n not in HARMLESS and callable(held) and (hasattr(base, n) or is_special(n))]
    if peculiar:
        what = f"{cls.__name__} is a {base.__name__} that overrides {peculiar[0]}"
        raise UnsupportedSyntax(what, ctx.builder.loc, f"use a plain {base.__name__}")


def check_making(ctx: Lowering, cls: type) -> None:
    """Refuse to create an instance of a class whose construction is more than calls of ``__new__`` and ``__init__``."""
    if isinstance(entry_of_class(ctx, type(cls), "__call__"), types.FunctionType):
        raise UnsupportedSyntax(f"{type(cls).__name__}, the metaclass of {cls.__name__}, defines __call__", ctx.builder.loc)


def check_reading(ctx: Lowering, cls: type) -> None:
    """Refuse to read attributes of instances whose class overrides attribute access."""
    if isinstance(entry_of_class(ctx, cls, "__getattribute__"), types.FunctionType):
        raise UnsupportedSyntax(f"{cls.__name__} defines __getattribute__", ctx.builder.loc, "use properties")


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


__all__ = ["BASES", "DESCRIPTORS", "MISSING_ITEMS", "NAMESPACE", "STORAGE", "as_base", "attributes_of", "become_namespace", "begun"]
__all__ += ["call_base", "check_class", "check_container", "check_given", "check_making", "check_named_tuple", "check_reading"]
__all__ += ["defined_by_base", "is_base_method", "is_derived", "is_of_base", "item_or_missing", "namespace_of", "says_what_is_missing"]
__all__ += ["storage_of"]
