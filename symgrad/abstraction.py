"""Builds abstract signatures from run-time values, from texts such as ``f8[:, :], float``, and from annotations."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.containers import container_of, items_held
from symgrad.errors import BadArgument
from symgrad.identity import Same
from symgrad.ir.types import BOOL, COMPLEX, DTYPES, FLOAT, INT, Array, Dim, List, Scalar, Type, is_plural, kind_of
from symgrad.kinds import conversion, distribution_name, is_closed, is_spline, native, row_of, slots_of
from symgrad.signature import CYCLE, DISTRIBUTION, FEW, Abstract, Many, Own, Signature, Static, Tree
from symgrad.text import attribute, exact, has_literal, has_plain_keys, plain_key
from symgrad.text import item as item_of

#: NumPy dtypes that have a name in the IR
DTYPE_NAMES: dict[np.dtype[Any], str] = {np.dtype(code): name for name, code in DTYPES.items()}
#: ``l`` and ``q`` are the same eight bytes, but not the same code
DTYPE_NAMES |= {np.dtype(code): name for code, name in (("q", "i64"), ("Q", "u64")) if np.dtype(code).itemsize == 8}
PYTHON_NUMBERS: dict[type, Scalar] = {float: FLOAT, int: INT, bool: BOOL, complex: COMPLEX}


# ------------------------------------------------------------------ values to types


def abstract(arguments: Mapping[str, Any], whole: bool = False, listed: bool = False, least: int = FEW) -> Signature:
    """Return the abstract signature of a call, from the parameter names and the arguments bound to them.

    ``whole``: record every item of long lists and tuples. ``listed``: record every item of short lists of numbers, whose length is
    otherwise left open. ``least``: a list of at most that many items of one type is recorded item by item, a longer one with open length.

    >>> str(abstract({"x": np.ones(3), "w": 2.0, "n": 4}))
    'x: f64[!x0], w: float, n: int'
    """
    params = tuple((name, abstract_value(value, symbol_of(name), whole, listed, least)) for name, value in arguments.items())
    return Signature(params, same_objects(arguments), tuple(pair for name, value in arguments.items() for pair in conversions(name, value)))


def symbol_of(path: str) -> str:
    """Return the stem of the names of extents: ``p.w`` and ``p['w']`` become ``p_w``."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in path.replace("']", "").replace("]", "")).replace("__", "_")


def abstract_value(value: Any, symbol: str, whole: bool = True, listed: bool = False, least: int = FEW) -> Abstract:
    """Return the abstract value of one value; ``symbol`` is the stem of the names of its extents."""
    kind = type(value)
    if kind in PYTHON_NUMBERS:
        return PYTHON_NUMBERS[kind]
    if isinstance(value, np.ndarray):
        plain = kind is np.ndarray or row_of(value).verdict == "converted"  # type: ignore[union-attr]  # every subclass has a row
        return _array(value, symbol) if plain else Static((kind, Same(value)), value)
    if isinstance(value, np.generic):
        name = DTYPE_NAMES.get(native(value.dtype))
        return Static((kind, Same(value)), value) if name is None else Scalar(kind_of(name), name)
    if kind is list and is_plain_list(value) and not (listed and len(value) <= FEW):
        return List(PYTHON_NUMBERS[type(value[0])])
    return _container(value, symbol, (whole, listed, least), ())


def _array(value: np.ndarray[Any, Any], symbol: str) -> Abstract:
    name = DTYPE_NAMES.get(native(value.dtype))
    if name is None:
        return Static((np.ndarray, value.dtype, value.ndim), value)
    shape = tuple(1 if extent == 1 else Dim(f"{symbol}{axis}", 0, True) for axis, extent in enumerate(value.shape))
    return Array(name, shape, "?")


def is_plain_list(value: list[Any]) -> bool:
    """Whether it is a list of Python numbers of one kind, so that its length may stay unknown."""
    first = type(value[0]) if value else None
    return first in PYTHON_NUMBERS and all(type(item) is first for item in value)


def is_record(value: Any) -> bool:
    """Whether it is an instance of a user's class, whose attributes may hold numbers."""
    kind = type(value)
    if isinstance(value, type | types.ModuleType | types.FunctionType | types.BuiltinFunctionType | types.MethodType | np.ufunc | np.dtype):
        return False
    if isinstance(value, types.GenericAlias | types.UnionType) or kind.__module__ == "typing":  # of annotations
        return False
    if isinstance(value, enum.Enum) or any(base.__module__ == "logging" for base in kind.__mro__) or is_spline(value):
        return False  # a logger refers to all other loggers, and a handler to all of its records
    if kind.__module__ in ("builtins", "functools", "operator", "re") or kind.__module__.startswith(("numpy", "symgrad", "numba.")):
        return False
    if dataclasses.is_dataclass(value):
        return True
    has_slots = bool(slots_of(kind)) and kind.__module__.partition(".")[0] not in sys.stdlib_module_names
    return (has_slots or hasattr(value, "__dict__")) and distribution_name(value) is None


def record_names(value: Any) -> tuple[str, ...]:
    """Return the attributes of a record, in order: the fields of a dataclass, then the slots that are set, then instance attributes.

    Entries of ``__dict__`` whose key is not a string are not attributes.
    """
    fields = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)] if dataclasses.is_dataclass(value) else []
    slots = [slot.__name__ for slot in slots_of(type(value)) if hasattr(value, slot.__name__)]
    return tuple(dict.fromkeys([*fields, *slots, *(exact(name) for name in getattr(value, "__dict__", {}) if isinstance(name, str))]))


def _container(value: Any, symbol: str, how: tuple[bool, bool, int], above: tuple[int, ...]) -> Abstract:
    whole, _, least = how
    if is_closed(value):
        return Static((type(value), Same(value)), value)
    if id(value) in above:
        return Static((CYCLE, above[::-1].index(id(value))), value)
    above = (*above, id(value))

    def inner(name: Any, item: Any) -> Abstract:
        stem = symbol_of(f"{symbol}_{name}")
        plain = isinstance(item, np.ndarray | np.generic) or type(item) in PYTHON_NUMBERS or type(item) is list and is_plain_list(item)
        return abstract_value(item, stem, *how) if plain else _container(item, stem, how, above)

    kind = type(value)
    least = least if kind is list else FEW
    if not whole and kind in (list, tuple) and len(value) > least and not any(conversions("", value)):
        item = _like_items(value, inner)
        if item is not None:
            return Many(kind, item, least)
    match value:
        case tuple() if hasattr(value, "_fields"):
            names: tuple[Any, ...] = value._fields
            return Tree(kind, names, tuple(inner(n, i) for n, i in zip(names, value, strict=True)))
        case tuple():
            return Tree(kind, tuple(range(len(value))), tuple(inner(n, i) for n, i in enumerate(value)))
        case list() | dict() if isinstance(value, list) or has_plain_keys(dict.keys(value)):
            pairs = enumerate(items_held(value)) if isinstance(value, list) else ((plain_key(k), i) for k, i in items_held(value))
            parts = [*pairs, *((Own(name), getattr(value, name)) for name in attributes_beside(value))]
            return Tree(kind, tuple(n for n, _ in parts), tuple(inner(n, i) for n, i in parts))
    if is_record(value):
        names = record_names(value)
        return Tree(kind, names, tuple(inner(n, getattr(value, n)) for n in names))
    name = distribution_name(value)
    return static(value) if name is None else Static((DISTRIBUTION, name), value)


def attributes_beside(value: Any) -> tuple[str, ...]:
    """Return the attributes of a list or dict of a user's class, and the factory of a ``defaultdict``.

    The attributes of a dict that is its own ``__dict__`` are its items.
    """
    kind = type(value)
    makes = ("default_factory",) if issubclass(kind, collections.defaultdict) else ()
    if container_of(kind) is None:
        return makes
    return (*makes, *(("__dict__",) if getattr(value, "__dict__", None) is value else record_names(value)))


def _like_items(value: Any, inner: Callable[[Any, Any], Abstract]) -> Abstract | None:
    """Return the common type of the items of a list or tuple, or None."""
    common: Abstract | None = None
    for item in value:
        one = of_any_extent(inner("item", item))
        common = one if common is None else common if common == one else common_item_type(common, one)
        if common is None:
            return None
    return common


def of_any_extent(item: Abstract) -> Abstract:
    """Return the type with open extents, except extents of 1."""
    match item:
        case Array(shape=shape) if shape is not None:
            return dataclasses.replace(item, shape=tuple(replace(e, symbol="?") if isinstance(e, Dim) else e for e in shape))
        case Tree(kind, names, items):
            return Tree(kind, names, tuple(map(of_any_extent, items)))
        case Many(kind, inner, least):
            return Many(kind, of_any_extent(inner), least)
    return item


def common_item_type(one: Abstract, other: Abstract) -> Abstract | None:
    """Return the common type of two items of a long list: arrays of one dtype and rank, or containers of one structure."""
    match one, other:
        case Array(shape=first), Array(shape=second) if first is not None and second is not None:
            if one.dtype != other.dtype or len(first) != len(second):
                return None
            shape = tuple(a if a == b else Dim("?", 0, is_plural(a) and is_plural(b)) for a, b in zip(first, second, strict=True))
            return Array(one.dtype, shape, one.layout if one.layout == other.layout else "?")
        case (List(item=Scalar()) as numbers, Tree(kind, ())) | (Tree(kind, ()), List(item=Scalar()) as numbers) if kind is list:
            return numbers  # there may be none
        case Tree(kind, names, items), Tree(other_kind, other_names, others) if kind is other_kind and names == other_names:
            parts = [a if a == b else common_item_type(a, b) for a, b in zip(items, others, strict=True)]
            return None if None in parts else Tree(kind, names, tuple(p for p in parts if p is not None))
        case (Tree() | Many()) as a, (Tree() | Many()) as b if a.kind is b.kind and a.kind in (list, tuple):
            inner = [item for x in (a, b) for item in ([x.item] if isinstance(x, Many) else x.items)]
            common: Abstract | None = inner[0] if inner else None
            for item in inner[1:]:
                common = common if common is None or common == item else common_item_type(common, item)
            return None if common is None else Many(a.kind, common, -1)
    return one if one == other else None


def static(value: Any) -> Static:
    """Return the key of an object without numbers; equal keys compile to the same code."""
    if value is None or isinstance(value, str | bytes) and not isinstance(value, enum.Enum):
        return Static((type(value), value), value)
    if isinstance(value, types.FunctionType):
        return Static(function_key(value), value)
    if isinstance(value, types.MethodType):
        return Static(("method", getattr(value.__func__, "__code__", value.__func__), Same(value.__self__)), value)
    if isinstance(value, slice | range):
        return Static((type(value), value.start, value.stop, value.step), value)
    return Static((type(value), Same(value)), value)


def function_key(function: types.FunctionType) -> tuple[Any, ...]:
    """Return the key of a function: its code, cells and defaults, which generated code reads from the first such function."""
    held = (*(function.__closure__ or ()), *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return ("function", function.__code__, Same(function.__globals__), tuple(map(Same, held)))


def laid_out(signature: Signature, arguments: Mapping[str, Any]) -> Signature:
    """Return the signature with the memory layout of each array."""
    params = tuple((name, _laid_out(item, arguments[name])) for name, item in signature.params)
    return replace(signature, params=params)


def _laid_out(item: Abstract, value: Any) -> Abstract:
    match item:
        case Array():
            return laid_out_as(item, value)
        case Tree():
            values = [inner for _, inner in children("", value)]
            return Tree(item.kind, item.names, (*map(_laid_out, item.items, values), *item.items[len(values) :]))
        case Many():
            items = [_laid_out(item.item, inner) for inner in value]
            return Many(item.kind, functools.reduce(lambda a, b: common_item_type(a, b) or a, items), item.least)
    return item


def laid_out_as(item: Array, value: Any) -> Array:
    """Return the type of an array with its memory layout."""
    if "astype" in conversion(value) and not value.flags.forc:
        return item  # the converted copy has another memory layout
    return dataclasses.replace(item, layout="C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "N")


def same_objects(arguments: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return groups of paths that lead to one array, list, dict or instance. Views of shared memory are not detected."""
    by_identity: dict[int, list[str]] = {}
    for name, value in arguments.items():
        for path, held in mutable_parts(name, value):
            by_identity.setdefault(id(held), []).append(path)
    return tuple(tuple(group) for group in by_identity.values() if len(group) > 1)


def array_leaves(path: str, value: Any, depth: int = 8, above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every array and every plain list in a value, with the expression that reads it."""
    if isinstance(value, np.ndarray) or type(value) is list and is_plain_list(value):
        yield path, value
    elif depth and id(value) not in above:
        for spelled, item in children(path, value):
            yield from array_leaves(spelled, item, depth - 1, (*above, id(value)))


def conversions(path: str, value: Any, depth: int = 8, above: tuple[int, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the arrays and numbers in a value that are converted: the expression that reads each, and the conversion."""
    if isinstance(value, np.ndarray | np.generic):
        suffix = conversion(value)
        if suffix:
            yield path, suffix
    elif depth and type(value) not in PYTHON_NUMBERS and not (type(value) is list and is_plain_list(value)) and not is_closed(value):
        for spelled, item in children(path, value) if id(value) not in above else ():
            yield from conversions(spelled, item, depth - 1, (*above, id(value)))


def mutable_parts(path: str, value: Any, depth: int = 8, above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every array, list, dict and instance in a value, itself included, with the expression that reads it."""
    if type(value) in PYTHON_NUMBERS or is_closed(value):
        return
    if isinstance(value, np.ndarray | list | dict) or not isinstance(value, tuple) and is_record(value):
        yield path, value
    if depth and not isinstance(value, np.ndarray) and not (type(value) is list and is_plain_list(value)) and id(value) not in above:
        for spelled, item in children(path, value):
            yield from mutable_parts(spelled, item, depth - 1, (*above, id(value)))


def children(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the items of a container, each with the expression that reads it."""
    match value:
        case tuple() if hasattr(value, "_fields"):
            yield from ((attribute(path, n), i) for n, i in zip(value._fields, value, strict=True))
        case tuple():
            yield from ((f"{path}[{n}]", i) for n, i in enumerate(value))
        case list() | dict():
            for key, inner in enumerate(items_held(value)) if isinstance(value, list) else items_held(value):
                with contextlib.suppress(ValueError):  # an item whose key has no literal cannot be read by an expression
                    yield item_of(path, key if has_literal(key) else plain_key(key)), inner
            beside = [name for name in attributes_beside(value) if name != "__dict__"]  # which is the dict itself
            yield from ((attribute(path, name), getattr(value, name)) for name in beside)
        case _ if is_record(value):
            yield from ((attribute(path, n), getattr(value, n)) for n in record_names(value))


# ------------------------------------------------------------------ text to types

#: names of types in a text: the IR's own, NumPy's, and NumPy's codes (which numba uses too), which win: ``i8`` is int64
TEXT_DTYPES = (
    {name: name for name in DTYPES}
    | {np.dtype(code).name: name for name, code in DTYPES.items()}
    | {np.dtype(code).str[1:]: name for name, code in DTYPES.items()}
)


def parse_type(text: str, symbol: str = "x") -> Type:
    """A type from its text: ``float``, ``f8``, ``f8[:, :]``, ``f8[:, 1]``, ``list[float]``.

    >>> str(parse_type("f8[:, 1]", "w")), str(parse_type("float32")), str(parse_type("int"))
    ('f64[!w0, 1]', 'scalar f32', 'int')
    """
    text = text.strip()
    numbers = {kind.__name__: type_ for kind, type_ in PYTHON_NUMBERS.items()}
    if text in numbers:
        return numbers[text]
    name, bracket, inside = text.partition("[")
    if name == "list" and bracket:
        return List(parse_type(inside.removesuffix("]"), symbol))
    dtype = TEXT_DTYPES.get(name.strip())
    if dtype is None or bracket and not inside.endswith("]"):
        raise BadArgument(f"{text!r} is not a type", hint="write float, int, f8, f8[:], f8[:, :], f4[:, 1] or list[float]")
    if not bracket:
        return Scalar(kind_of(dtype), dtype)
    extents = [part.strip() for part in inside[:-1].split(",") if part.strip()]
    return Array(dtype, tuple(_parse_extent(part, f"{symbol}{axis}") for axis, part in enumerate(extents)))


def _parse_extent(part: str, symbol: str) -> int | Dim:
    if part == "1":
        return 1
    return Dim(symbol, 0, True)


def split_types(text: str) -> list[str]:
    """Split a list of types at commas outside of brackets.

    >>> split_types("f8[:, :], float")
    ['f8[:, :]', 'float']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def parse_signature(text: str, names: tuple[str, ...]) -> Signature:
    """Parse a signature from a text with one type for each parameter in ``names``.

    >>> str(parse_signature("f8[:], int", ("x", "n")))
    'x: f64[!x0], n: int'
    """
    parts = split_types(text.strip().removeprefix("(").removesuffix(")"))
    if len(parts) != len(names):
        raise BadArgument(f"{len(parts)} types for {len(names)} parameters ({', '.join(names)})", hint="give one type for each parameter")
    return Signature(tuple((name, parse_type(part, name)) for name, part in zip(names, parts, strict=True)))


def from_annotation(annotation: Any, symbol: str) -> Type | None:
    """Return the type of an annotation such as ``float``, ``"f8[:]"`` or ``np.float32``, or None."""
    if annotation in PYTHON_NUMBERS:
        return PYTHON_NUMBERS[annotation]
    if isinstance(annotation, str):
        try:
            return parse_type(annotation, symbol)
        except BadArgument:
            return None
    if isinstance(annotation, type) and issubclass(annotation, np.generic) and np.dtype(annotation) in DTYPE_NAMES:
        name = DTYPE_NAMES[np.dtype(annotation)]
        return Scalar(kind_of(name), name)
    return None
