"""Reads from outside the function: names, attributes, classes, modules, and whether they exist. No other module reads these.

Each reader records what it read and how much of that counts, absence included; the guard is built
from the record (``Relied``). Definitions of the libraries of Python and NumPy are assumed constant.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
import types
from collections.abc import Iterable
from typing import Any

from symgrad.errors import UnsupportedSyntax, nearest
from symgrad.frontend.bindings import MISSING
from symgrad.frontend.context import Lowering
from symgrad.frontend.source import Source
from symgrad.identity import Same
from symgrad.text import attribute, identifier, item

#: packages whose functions are not looked into
LIBRARIES = {"numpy", "scipy", "math", "builtins", "symgrad"} | set(sys.stdlib_module_names)


# ------------------------------------------------------------------ whose it is


def owner_name(ctx: Lowering, value: Any, word: Any = None) -> str:
    """A name by which emitted text reaches an object of the user's; ``word`` is what it begins with, where the object says nothing."""
    word = word or getattr(value, "__name__", "object")
    stem = identifier(word if isinstance(word, str) else "object")
    stem = stem if not stem.startswith("__") else f"object_{stem}"
    number = 0
    while (name_ := f"{stem}_{number}" if number else stem) in ctx.reserved or ctx.external_names.get(name_, value) is not value:
        number += 1
    ctx.external_names[name_] = value
    return name_


def is_of_library(value: Any) -> bool:
    """Is it a module, class or function of a library, or an instance of one of its classes to which nobody can give an attribute?"""
    if isinstance(value, types.ModuleType):
        home = value.__name__
    elif isinstance(value, type | types.FunctionType):
        home = value.__module__
    elif hasattr(value, "__dict__"):
        return False
    else:
        home = type(value).__module__
    return (home or "").partition(".")[0] in LIBRARIES


def users_bases(cls: type) -> list[type]:
    """The classes in which an attribute is looked up, without those of the libraries."""
    return [base for base in cls.__mro__ if not is_of_library(base)]


# ------------------------------------------------------------------ names


def global_text(ctx: Lowering, source: Source, name: str, in_cells: bool = True) -> str:
    """The expression that reads a global or cell of a function at each call."""
    owner = owner_name(ctx, source.function)
    if in_cells and name in source.cells:
        return f"{owner}.__closure__[{source.function.__code__.co_freevars.index(name)}].cell_contents"
    return item(f"{owner}.__globals__", name)


def read_name(ctx: Lowering, source: Source, name: str, in_cells: bool = True) -> tuple[Any, str, bool]:
    """What a name that is not local stands for, the expression that reads it, and whether it is one of Python's own.

    Then it counts that no global covers it. Without ``in_cells`` it is a global one, whatever the functions around call so.
    """
    in_cells = in_cells and name in source.cells
    builtin = not in_cells and name not in source.globals
    if not in_cells:
        ctx.namespaces.add(Same(source.globals))
    if builtin:  # so it counts too for a name that is nowhere
        ctx.rely(f"{owner_name(ctx, source.function)}.__globals__", name, "unset")
    return source.read_name(name, in_cells), global_text(ctx, source, name, in_cells), builtin


# ------------------------------------------------------------------ attributes


def has_attribute(ctx: Lowering, value: Any, text: str, name: str) -> bool:
    """Does what an expression reads have an attribute?"""
    there = hasattr(value, name)
    if not is_of_library(value):
        ctx.rely(text, name, "has" if there else "lacks")
    return there


def attribute_text(ctx: Lowering, value: Any, name: str) -> str:
    """The expression that reads an attribute of an object that has no expression of its own."""
    return attribute(owner_name(ctx, value), name)


def names_like(value: Any, name: str) -> list[str]:
    """The attribute of an object whose name is nearest to another one, if one is near."""
    return nearest(name, dir(value), 1)


def read_attribute(ctx: Lowering, value: Any, name: str) -> Any:
    """An attribute of an object that an expression reads at each call; raises ``AttributeError``."""
    if (entries := own_entries(value)) is not None:
        ctx.namespaces.add(Same(entries))
    return getattr(value, name)


def is_own_attribute(value: Any, name: str) -> bool:
    """Is an attribute of an instance its own, one of its slots, or made up by ``__getattr__``, and not what its class holds?"""
    held = next((vars(base)[name] for base in type(value).__mro__ if name in vars(base)), MISSING)
    return name in getattr(value, "__dict__", {}) or held is MISSING or isinstance(held, types.MemberDescriptorType)


# ------------------------------------------------------------------ what stands in a class, function or module itself


def own_entries(owner: Any) -> dict[str, Any] | None:
    """The dict that holds the attributes of a function, module or instance; None where there is none."""
    entries = getattr(owner, "__dict__", None)
    return entries if isinstance(entries, dict) else None


def own_entry(owner: Any, name: str) -> Any:
    """What stands under a name in a class, function, module or instance itself; ``MISSING`` where nothing does."""
    return getattr(owner, "__dict__", {}).get(name, MISSING)


def has_own_entry(owner: Any, name: str) -> bool:
    """Does anything stand under a name in a class, function, module or instance itself?"""
    return name in getattr(owner, "__dict__", {})


def is_namespace(value: Any, owner: Any) -> bool:
    """Does a dict or cell hold the attributes of a class or function, the variables of a module, or a variable (``owner`` itself)?"""
    if isinstance(owner, type):  # each reader gets another view of the attributes
        entries = vars(owner)
        same_keys = isinstance(value, types.MappingProxyType) and value.keys() == entries.keys()
        return same_keys and all(value[name] is held for name, held in entries.items())
    return isinstance(value, dict | types.CellType) and (value is owner or value is getattr(owner, "__dict__", None))


def entry_text(ctx: Lowering, owner: Any, name: str) -> str:
    """The expression that reads what stands under a name in a class, function or module itself."""
    return item(f"{owner_name(ctx, owner)}.__dict__", name)


def rely_on_no_entry(ctx: Lowering, owner: Any, name: str) -> None:
    """Note that nothing stands under a name in a class, function or module itself."""
    if not is_of_library(owner):
        ctx.rely(owner_name(ctx, owner), name, "undefined")


def special_entry(cls: type, name: str) -> Any:
    """What Python finds in a class under a name that means something to it; ``MISSING`` where nothing stands."""
    return inspect.getattr_static(cls, name, MISSING) if cls is not type else vars(type).get(name, MISSING)


def is_descriptor(value: Any, data: bool = False) -> bool:
    """Is something that stands in a class another thing when it is read through an instance? ``data``: also when it is assigned to?"""
    words = ("__set__", "__delete__") if data else ("__get__", "__set__", "__delete__")
    return any(hasattr(type(value), word) for word in words)


# ------------------------------------------------------------------ classes


def from_class(ctx: Lowering, cls: type | None, name: str, default: Any = None) -> Any:
    """What a class gives for a name; None is the class of displays.

    That it gives nothing of the user's is noted; what it gives, whoever uses it notes. A descriptor of the user's is given itself: its
    ``__get__`` may have effects.
    """
    if cls is None:
        return default
    defining = next((base for base in cls.__mro__ if name in vars(base)), None)
    for base in users_bases(cls):
        if base is defining:
            break
        ctx.rely(owner_name(ctx, base), name, "undefined")
    if defining is None:
        return default
    entry = vars(defining)[name]
    runs = isinstance(getattr(type(entry), "__get__", None), types.FunctionType) and not is_of_library(type(entry))
    return entry if runs else getattr(cls, name, default)


#: what Python says in its messages of a number of arguments that a method does not take
SAID = ("expected", "takes", "at least", "at most", "missing")


@functools.lru_cache(maxsize=512)
def refused_count(cls: type, name: str, count: int) -> str | None:
    """What Python says where a method of a container takes other numbers of arguments; None if it takes so many."""
    try:
        getattr(cls(), name)(*[None] * count)
    except TypeError as error:
        said = str(error)
        return said if "argument" in said and any(word in said for word in SAID) else None
    except Exception:
        return None
    return None


def entry_of_class(ctx: Lowering, cls: type, name: str) -> Any:
    """What stands in a class under a name, as it was written there; ``MISSING`` where nothing does."""
    from_class(ctx, cls, name)
    return inspect.getattr_static(cls, name, MISSING)


def rely_on_entry(ctx: Lowering, cls: type, name: str, aspect: str = "itself") -> None:
    """Note that what stands in a class under a name counts, and that no class before the one it stands in has that name."""
    defining = next((base for base in cls.__mro__ if name in vars(base)), None)
    from_class(ctx, cls, name)
    if defining is not None and not is_of_library(defining):
        held = vars(defining)[name]
        ctx.rely(item(f"{owner_name(ctx, defining)}.__dict__", name), held if aspect == "itself" else type(held), aspect)


def generated(cls: Any, word: str) -> type | None:
    """The dataclass for which ``dataclasses.dataclass`` wrote a method of a class; None for a method of the user's."""
    base = next((c for c in getattr(cls, "__mro__", ()) if word in vars(c)), None)
    if base is None or "__dataclass_params__" not in vars(base):
        return None
    held = getattr(vars(base)[word], "__wrapped__", vars(base)[word])
    return base if isinstance(held, types.FunctionType) and held.__code__.co_filename == "<string>" else None


def methods_of(cls: type, words: Iterable[str]) -> list[Any]:
    """What a class gives for some names; whoever uses one of them notes it."""
    return [getattr(cls, word, None) for word in words]


def makes_manager(value: Any) -> bool:
    """Is it a function that ``contextlib.contextmanager`` has made of a generator?"""
    return inspect.isgeneratorfunction(getattr(value, "__wrapped__", None))


# ------------------------------------------------------------------ modules


def abstract_methods(ctx: Lowering, cls: type) -> list[str]:
    """The methods that a class leaves to those derived from it, in the order of their names."""
    names: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
    if names:
        ctx.rely(attribute_text(ctx, cls, "__abstractmethods__"), names)
    return sorted(names)


def module_named(ctx: Lowering, name: str) -> Any:
    """The module of a name, imported if need be; raises ``ImportError``."""
    modules = f"{owner_name(ctx, sys)}.modules"
    try:
        module = importlib.import_module(name)
    except ImportError:
        ctx.rely(modules, name, "unknown")
        raise
    if not is_of_library(module):
        ctx.rely(item(modules, name), module)
    return module


def absolute_name(ctx: Lowering, name: str, level: int) -> str:
    """The name of the module that an import with so many leading dots means; raises ``ImportError``."""
    if not level:
        return name
    source = ctx.frame.source
    if not isinstance(source.globals.get("__package__"), str):
        raise UnsupportedSyntax(
            "an import that is relative to a package that is not known", ctx.builder.loc, "write the whole name of the module"
        )
    package, text, _ = read_name(ctx, source, "__package__")
    ctx.rely(text, package)
    return importlib.util.resolve_name("." * level + name, package)


def name_in_module(ctx: Lowering, module: str, name: str) -> tuple[Any, str]:
    """What ``from module import name`` gives, and the expression that reads it; raises ``ImportError``."""
    owner = module_named(ctx, module)
    if hasattr(owner, name):
        return getattr(owner, name), attribute_text(ctx, owner, name)
    try:
        return module_named(ctx, f"{module}.{name}"), attribute_text(ctx, owner, name)
    except ImportError:
        if not is_of_library(owner):
            ctx.rely(owner_name(ctx, owner), name, "lacks")
        raise ImportError(f"cannot import name {name!r} from {module!r}", name=name) from None


__all__ = [
    "LIBRARIES", "absolute_name", "abstract_methods", "attribute_text", "entry_of_class", "entry_text", "from_class", "generated",
    "global_text", "has_attribute", "has_own_entry", "is_descriptor", "is_namespace", "is_of_library", "is_own_attribute",
    "makes_manager", "methods_of", "module_named", "name_in_module", "names_like", "own_entries", "own_entry", "owner_name",
    "read_attribute", "read_name", "refused_count", "rely_on_entry", "rely_on_no_entry", "special_entry", "users_bases",
]  # fmt: skip
