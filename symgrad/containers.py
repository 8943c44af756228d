"""Reads and writes lists and dicts, and instances of classes derived from them, without the methods that such classes override."""

from __future__ import annotations

import collections
from typing import Any

#: the containers that classes can be derived from, each before those that it derives from itself
CONTAINERS: tuple[type, ...] = (collections.defaultdict, collections.OrderedDict, collections.Counter, list, dict)
#: the immutable classes that classes can be derived from
VALUES: tuple[type, ...] = (tuple, str, int, float, complex)
#: names that Python itself defines in a class
WRITTEN_BY_PYTHON = set(
    """
    __module__ __doc__ __dict__ __weakref__ __qualname__ __annotations__ __annotate__ __annotate_func__ __firstlineno__
    __static_attributes__ __slots__
    """.split()
)
#: the methods that read a list or dict without running user code
READERS = ("__getitem__", "__iter__", "__len__", "__getattribute__")


def container_of(cls: Any) -> type | None:
    """Return the builtin container that a class derives from; None for other classes and for the containers themselves.

    >>> class Settings(dict): pass
    >>> container_of(Settings), container_of(dict)
    (<class 'dict'>, None)
    """
    if not isinstance(cls, type) or cls in CONTAINERS:
        return None
    return next((base for base in cls.__mro__ if base in CONTAINERS), None)


def changed_reader(cls: type) -> str | None:
    """Return a reading method that a class derived from a list or dict overrides, or None."""
    base = container_of(cls)
    return next((word for word in READERS if getattr(cls, word) is not getattr(base, word)), None)


def comes_from_base(cls: type, word: str) -> bool:
    """Whether a class inherits a method from the builtin class that it derives from or from ``object``, or lacks it."""
    return next((one for one in cls.__mro__ if word in vars(one)), object) in (*CONTAINERS, *VALUES, object)


def defined_anew(cls: type) -> set[str]:
    """Return the names of the container that a class, or one of its bases, overrides."""
    base: Any = container_of(cls)
    own = {name for one in cls.__mro__[: cls.__mro__.index(base)] for name in vars(one)}
    return own & {name for one in base.__mro__ for name in vars(one)} - WRITTEN_BY_PYTHON


def is_written_for_container(function: Any) -> bool:
    """Whether it is a method that ``collections`` implements in Python."""
    return any(vars(one).get(function.__name__) is function for one in CONTAINERS)


def items_held(value: Any) -> Any:
    """Return the items of a list, or the keys and items of a dict, bypassing overridden methods."""
    if isinstance(value, list):
        return list.__iter__(value)
    return collections.OrderedDict.items(value) if isinstance(value, collections.OrderedDict) else dict.items(value)


def call_of_base(owner: Any, name: str, *args: Any) -> None:
    """Call a method of the builtin list or dict, bypassing overridden methods.

    >>> class Names(list):
    ...     def append(self, item): raise TypeError(item)
    >>> call_of_base(names := Names(), "append", "x")
    >>> names
    ['x']
    """
    base = next((one for one in (collections.OrderedDict, list, dict) if isinstance(owner, one)), type(owner))
    getattr(base, name)(owner, *args)


def instance_of_container(cls: Any, content: Any, names: Any, *values: Any) -> Any:
    """Return an instance of a class derived from a builtin class, with given content and attributes, without calling its ``__init__``.

    >>> class Point(dict):
    ...     def __init__(self): raise TypeError
    >>> instance_of_container(Point, {"x": 1.0}, [])
    {'x': 1.0}
    """
    base: Any = next(
        one
        for one in (collections.defaultdict, collections.OrderedDict, collections.Counter, list, dict, tuple, str, int, float, complex)
        if issubclass(cls, one)
    )
    instance = base.__new__(cls) if issubclass(cls, list | dict) else base.__new__(cls, content)
    if issubclass(cls, list):
        list.extend(instance, content)
    elif issubclass(cls, dict):
        for key, value in dict(content).items():
            call_of_base(instance, "__setitem__", key, value)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(instance, name, instance if name == "__dict__" else value)
    return instance


def copied_container(value: Any) -> Any:
    """Return a copy of a list or dict of any class, with its attributes."""
    kind = type(value)
    if kind in (list, dict):
        return kind(value)
    held = getattr(value, "__dict__", {})
    attributes = {"__dict__": None} if held is value else dict(held)
    if isinstance(value, collections.defaultdict):
        attributes["default_factory"] = value.default_factory
    ordered = collections.OrderedDict.items if isinstance(value, collections.OrderedDict) else dict.items
    content = list.__iter__(value) if isinstance(value, list) else ordered(value)
    return instance_of_container(kind, content, list(attributes), *attributes.values())


def store_in_base(owner: Any, key: Any, value: Any) -> None:
    """Store an item in a list or dict, bypassing overridden methods."""
    call_of_base(owner, "__setitem__", key, value)


def delete_in_base(owner: Any, key: Any) -> None:
    """Delete an item of a list or dict, bypassing overridden methods."""
    call_of_base(owner, "__delitem__", key)


__all__ = ["CONTAINERS", "VALUES", "call_of_base", "changed_reader", "container_of", "copied_container", "delete_in_base"]
__all__ += ["instance_of_container", "items_held", "store_in_base"]
