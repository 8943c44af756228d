"""Reads from outside the function: names, attributes, classes, modules, and whether they exist. No other module reads these.

Each reader records the object and the aspect that matters, absence included; the guard is built from the record (``Relied``).
Definitions of the libraries of Python and NumPy are assumed constant. How many arguments their functions take is read here too.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import itertools
import operator
import sys
import types
from collections.abc import Iterable
from typing import Any

from symgrad.errors import UnsupportedSyntax, nearest
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.state.bindings import MISSING, Binding
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.text.source import Source
from symgrad.identity import Same
from symgrad.location import Loc
from symgrad.text import attribute, identifier, item

#: packages whose functions are opaque
LIBRARIES = {"numpy", "scipy", "math", "builtins", "symgrad"} | set(sys.stdlib_module_names)


# ------------------------------------------------------------------ ownership


def owner_name(ctx: Lowering, value: Any, word: Any = None) -> str:
    """A name by which emitted text reaches an object of the user's; ``word`` is the default stem."""
    word = word or getattr(value, "__name__", "object")
    stem = identifier(word if isinstance(word, str) else "object")
    stem = stem if not stem.startswith("__") else f"object_{stem}"
    number = 0
    while (name_ := f"{stem}_{number}" if number else stem) in ctx.reserved or ctx.external_names.get(name_, value) is not value:
        number += 1
    ctx.external_names[name_] = value
    return name_


def root_of(value: Any) -> str:
    """The package that an object says it comes from."""
    return (getattr(value, "__module__", None) or "").split(".")[0]


def is_of_library(value: Any) -> bool:
    """Whether the value is a module, class or function of a library, or an instance of such a class that takes no attributes."""
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
    """The user's classes among those in which an attribute is looked up."""
    return [base for base in cls.__mro__ if not is_of_library(base)]


# ------------------------------------------------------------------ names


def global_text(ctx: Lowering, source: Source, name: str, in_cells: bool = True) -> str:
    """The expression that reads a global or cell of a function at each call."""
    owner = owner_name(ctx, source.function)
    if in_cells and name in source.cells:
        return f"{owner}.__closure__[{source.function.__code__.co_freevars.index(name)}].cell_contents"
    return item(f"{owner}.__globals__", name)


def read_name(ctx: Lowering, source: Source, name: str, in_cells: bool = True) -> tuple[Any, str, bool]:
    """The value of a name that is not local, the expression that reads it, and whether it is a builtin.

    For a builtin, the absence of a global of that name is recorded. Without ``in_cells``, enclosing
    functions' variables are skipped.
    """
    in_cells = in_cells and name in source.cells
    builtin = not in_cells and name not in source.globals
    if not in_cells:
        ctx.namespaces.add(Same(source.globals))
    if builtin:  # also for a name that does not exist
        ctx.rely(f"{owner_name(ctx, source.function)}.__globals__", name, "unset")
    return source.read_name(name, in_cells), global_text(ctx, source, name, in_cells), builtin


# ------------------------------------------------------------------ attributes


def has_attribute(ctx: Lowering, value: Any, text: str, name: str) -> bool:
    """Whether the value of an expression has an attribute."""
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
    """Whether an instance's attribute is its own, one of its slots, or computed by ``__getattr__``, and not held by its class."""
    held = next((vars(base)[name] for base in type(value).__mro__ if name in vars(base)), MISSING)
    return name in getattr(value, "__dict__", {}) or held is MISSING or isinstance(held, types.MemberDescriptorType)


# ------------------------------------------------------------------ entries of a class, function or module itself


def own_entries(owner: Any) -> dict[str, Any] | None:
    """The dict that holds the attributes of a function, module or instance; None where there is none."""
    entries = getattr(owner, "__dict__", None)
    return entries if isinstance(entries, dict) else None


def own_entry(owner: Any, name: str) -> Any:
    """The entry of a name in a class, function, module or instance itself; ``MISSING`` if there is none."""
    return getattr(owner, "__dict__", {}).get(name, MISSING)


def has_own_entry(owner: Any, name: str) -> bool:
    """Whether a class, function, module or instance itself has an entry of that name."""
    return name in getattr(owner, "__dict__", {})


def is_namespace(value: Any, owner: Any) -> bool:
    """Whether a dict or cell holds the attributes of a class or function, a module's variables, or a variable (``owner`` itself)."""
    if isinstance(owner, type):  # each reader gets a new view of the attributes
        entries = vars(owner)
        same_keys = isinstance(value, types.MappingProxyType) and value.keys() == entries.keys()
        return same_keys and all(value[name] is held for name, held in entries.items())
    return isinstance(value, dict | types.CellType) and (value is owner or value is getattr(owner, "__dict__", None))


def entry_text(ctx: Lowering, owner: Any, name: str) -> str:
    """The expression that reads the entry of a name in a class, function or module itself."""
    return item(f"{owner_name(ctx, owner)}.__dict__", name)


def rely_on_no_entry(ctx: Lowering, owner: Any, name: str) -> None:
    """Record that a class, function or module itself has no entry of that name."""
    if not is_of_library(owner):
        ctx.rely(owner_name(ctx, owner), name, "undefined")


def special_entry(cls: type, name: str) -> Any:
    """The entry that Python finds in a class for a special name; ``MISSING`` if there is none."""
    return inspect.getattr_static(cls, name, MISSING) if cls is not type else vars(type).get(name, MISSING)


def is_descriptor(value: Any, data: bool = False) -> bool:
    """Whether an entry of a class changes how an instance's attribute is read; ``data``: whether also how it is assigned."""
    words = ("__set__", "__delete__") if data else ("__get__", "__set__", "__delete__")
    return any(hasattr(type(value), word) for word in words)


# ------------------------------------------------------------------ classes


def from_class(ctx: Lowering, cls: type | None, name: str, default: Any = None) -> Any:
    """The value of a name in a class; a ``cls`` of None is the class of displays.

    The absence of a definition by the user is recorded; a value that is found, its user records. A
    user's descriptor is returned itself: its ``__get__`` may have side effects.
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


#: words in Python's messages about a wrong number of arguments
SAID = ("expected", "takes", "at least", "at most", "missing")


@functools.lru_cache(maxsize=512)
def refused_count(cls: type, name: str, count: int) -> str | None:
    """Python's message for that number of arguments of a container's method; None if the method accepts it."""
    try:
        getattr(cls(), name)(*[None] * count)
    except TypeError as error:
        said = str(error)
        return said if "argument" in said and any(word in said for word in SAID) else None
    except Exception:
        return None
    return None


def entry_of_class(ctx: Lowering, cls: type, name: str) -> Any:
    """The entry of a name in a class, as it was written; ``MISSING`` if there is none."""
    from_class(ctx, cls, name)
    return inspect.getattr_static(cls, name, MISSING)


def rely_on_entry(ctx: Lowering, cls: type, name: str, aspect: str = "itself") -> None:
    """Record that the entry of a name in a class counts, and that no class before the defining one has that name."""
    defining = next((base for base in cls.__mro__ if name in vars(base)), None)
    from_class(ctx, cls, name)
    if defining is not None and not is_of_library(defining):
        held = vars(defining)[name]
        ctx.rely(item(f"{owner_name(ctx, defining)}.__dict__", name), held if aspect == "itself" else type(held), aspect)


def generated(cls: Any, word: str) -> type | None:
    """The dataclass for which ``dataclasses.dataclass`` generated a method of a class; None for a method of the user's."""
    base = next((c for c in getattr(cls, "__mro__", ()) if word in vars(c)), None)
    if base is None or "__dataclass_params__" not in vars(base):
        return None
    held = getattr(vars(base)[word], "__wrapped__", vars(base)[word])
    return base if isinstance(held, types.FunctionType) and held.__code__.co_filename == "<string>" else None


def methods_of(cls: type, words: Iterable[str]) -> list[Any]:
    """A class's attributes of some names; the caller records the uses."""
    return [getattr(cls, word, None) for word in words]


def makes_manager(value: Any) -> bool:
    """Whether the value is a function that ``contextlib.contextmanager`` has created from a generator."""
    return inspect.isgeneratorfunction(getattr(value, "__wrapped__", None))


# ------------------------------------------------------------------ modules


def abstract_methods(ctx: Lowering, cls: type) -> list[str]:
    """The abstract methods of a class, sorted by name."""
    names: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
    if names:
        ctx.rely(attribute_text(ctx, cls, "__abstractmethods__"), names)
    return sorted(names)


def module_named(ctx: Lowering, name: str) -> Any:
    """The module of a name, imported if necessary; raises ``ImportError``."""
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
    """The absolute module name of an import with ``level`` leading dots; raises ``ImportError``."""
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
    """The value that ``from module import name`` binds, and the expression that reads it; raises ``ImportError``."""
    owner = module_named(ctx, module)
    if hasattr(owner, name):
        return getattr(owner, name), attribute_text(ctx, owner, name)
    try:
        return module_named(ctx, f"{module}.{name}"), attribute_text(ctx, owner, name)
    except ImportError:
        if not is_of_library(owner):
            ctx.rely(owner_name(ctx, owner), name, "lacks")
        raise ImportError(f"cannot import name {name!r} from {module!r}", name=name) from None


# ------------------------------------------------------------------ the number of arguments


#: the least and the most arguments of builtins without a signature
BUILTINS: dict[Any, tuple[int, int | None]] = {
    getattr: (2, 3),
    iter: (1, 2),
    max: (1, None),
    min: (1, None),
    next: (1, 2),
    range: (1, 3),
    map: (2, None),
    filter: (2, 2),
    slice: (1, 3),
    int: (0, 2),
    str: (0, 3),
    bool: (0, 1),
    vars: (0, 1),
    type: (1, 3),
    zip: (0, None),
    dict: (0, 1),
    set: (0, 1),
    frozenset: (0, 1),
    functools.reduce: (2, 3),
    functools.partial: (1, None),
    operator.itemgetter: (1, None),
    operator.attrgetter: (1, None),
    itertools.islice: (2, 4),
}


@functools.lru_cache(maxsize=512)
def signature_of(function: Any) -> inspect.Signature | None:
    """The signature of a Python function's or of a library; None where none is known, and of functions of symgrad."""
    if (getattr(function, "__module__", None) or "").startswith("symgrad"):
        return None
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        return None


#: the subset that takes no keywords
NAMELESS = frozenset({getattr, iter, next, range, filter, slice, bool, vars, set, frozenset, itertools.islice})


def check_call(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> None:
    """Raise in the program the exception of Python for a builtin with a wrong number of arguments."""
    name = getattr(function, "__name__", "function")
    if function in BUILTINS:
        least, most = BUILTINS[function]
        if len(args) < least or most is not None and len(args) > most or is_misnamed(function, kwargs):
            definite(ctx, MISSING, node, TypeError, said_by(function, len(args), kwargs))
    elif (signature := signature_of(function)) is not None:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            if getattr(function, "__module__", None) == "builtins":
                definite(ctx, MISSING, node, TypeError, said_by(function, len(args), kwargs))
            if "missing" in str(error):  # the rest is for who lowers the call
                definite(ctx, MISSING, node, TypeError, f"{name}() {error}")


def is_misnamed(function: Any, words: Iterable[str]) -> bool:
    """Whether an argument is passed by a name to a builtin that has no such parameter."""
    return function in NAMELESS and any(words) or function is zip and any(word != "strict" for word in words)


def said_by(function: Any, count: int, words: Iterable[str]) -> str:
    """The TypeError text of a builtin for wrong keywords, which it checks first, or a wrong number of arguments."""
    try:
        function(*[object()] * count, **dict.fromkeys(words))
    except TypeError as error:
        return str(error)
    return f"{function.__name__} does not take {count} arguments"


def check_method(ctx: Lowering, cls: type, name: str, args: list[Binding], node: ast.AST) -> None:
    """The same for a method of a list, dict, set or the like in ``collections``."""
    if (said := refused_count(cls, name, len(args))) is not None:
        definite(ctx, MISSING, node, TypeError, said)


# ------------------------------------------------------------------ namespace dicts


def check_namespaces(ctx: Lowering, loc: Loc) -> None:
    """Refuse a program that stores in a namespace dict and reads its names, or stores to attributes and reads them as a dict."""
    followed = [(held.value, path in ctx.stored) for held, (path, _) in ctx.followed.items()]
    followed = [(held, is_stored) for held, is_stored in followed if own_entries(held) is not held]  # their items are their attributes
    owned = {Same(own_entries(held)) for held, _ in followed if own_entries(held) is not None}
    for held, is_stored in followed:
        if is_stored and isinstance(held, dict) and (Same(held) in ctx.namespaces or Same(held) in owned):
            what = "a dict is changed that holds the attributes of an object, or the variables of a module, and is read by their names too"
            raise UnsupportedSyntax(what, loc, "assign to the attribute or variable itself")
        if is_stored and is_read_as_dict(ctx, held):
            what = "an object is changed whose attributes are read as a dict"
            raise UnsupportedSyntax(what, loc, "read the attributes by their names")


def is_read_as_dict(ctx: Lowering, held: Any) -> bool:
    """Whether the program reads the attributes of an object as a dict from outside."""
    entries = own_entries(held)
    return entries is not None and Same(entries) in ctx.read_dicts


__all__ = ["LIBRARIES", "absolute_name", "abstract_methods", "attribute_text", "check_call", "check_method", "check_namespaces"]
__all__ += ["entry_of_class", "entry_text", "from_class", "generated", "global_text", "has_attribute", "has_own_entry", "is_descriptor"]
__all__ += ["is_namespace", "is_of_library", "is_own_attribute", "makes_manager", "methods_of", "module_named", "name_in_module"]
__all__ += ["names_like", "own_entries", "own_entry", "owner_name", "read_attribute", "read_name", "refused_count", "rely_on_entry"]
__all__ += ["rely_on_no_entry", "special_entry", "users_bases"]
