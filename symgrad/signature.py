"""Runtime values (or a text such as ``f8[:, :], float``) to the abstract signature that code is generated for.

Also the two records that pass between the facade and the compiler: what is asked for (``Request``)
and what comes back (``Compiled``).
"""

from __future__ import annotations

import dataclasses
import enum
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from symgrad.errors import BadArgument
from symgrad.ir.core import Func
from symgrad.ir.sums import ONE, Sum, extent_of, read_expression
from symgrad.ir.types import BOOL, COMPLEX, DTYPES, FLOAT, INT, Array, Dim, Extent, List, Scalar, Type, kind_of

#: NumPy dtypes that have a name in the IR
DTYPE_NAMES: dict[np.dtype[Any], str] = {np.dtype(code): name for name, code in DTYPES.items()}
#: ``l`` and ``q`` are the same eight bytes, but not the same code
DTYPE_NAMES |= {np.dtype(code): name for code, name in (("q", "i64"), ("Q", "u64")) if np.dtype(code).itemsize == 8}
PYTHON_NUMBERS: dict[type, Scalar] = {float: FLOAT, int: INT, bool: BOOL, complex: COMPLEX}


@dataclass(frozen=True, slots=True)
class Static:
    """An argument that carries no number: equal keys may share generated code. ``value`` is the object first seen."""

    key: Any
    value: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"object[{type(self.value).__name__}]"


@dataclass(frozen=True, slots=True)
class Tree:
    """A container with a fixed structure: ``kind`` is the class, ``names`` the keys, attributes or positions."""

    kind: type
    names: tuple[Any, ...]
    items: tuple[Abstract, ...]

    @property
    def form(self) -> Literal["sequence", "mapping", "named", "object"]:
        """How an item is reached: by position, by key, by position with a name too (named tuples), or by attribute."""
        if issubclass(self.kind, dict):
            return "mapping"
        if issubclass(self.kind, tuple | list):
            return "named" if hasattr(self.kind, "_fields") else "sequence"
        return "object"

    def __str__(self) -> str:
        return f"{self.kind.__name__}({', '.join(f'{n}={i}' for n, i in zip(self.names, self.items, strict=True))})"


Abstract = Type | Static | Tree
ParameterKind = Literal["plain", "varargs", "keywords"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What is known of a call before it runs.

    ``params`` are the user's parameters in order, each with what was passed (or its default): a ``Type``, a ``Tree``,
    or a ``Static``; for ``*args`` a ``Tree`` of a tuple, for ``**kwargs`` a ``Tree`` of a dict. ``same`` are groups
    of paths (see ``leaves``) that hold the same array object.
    """

    params: tuple[tuple[str, Abstract], ...]
    same: tuple[tuple[str, ...], ...] = ()

    def __getitem__(self, name: str) -> Abstract:
        return dict(self.params)[name]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.params)

    def leaves(self) -> Iterator[tuple[str, Abstract]]:
        """Every ``Type`` and ``Static`` with the expression that reaches it: ``x``, ``p['w']``, ``p.w``, ``p[0]``."""
        for name, item in self.params:
            yield from leaves_of(name, item)

    def __str__(self) -> str:
        return ", ".join(f"{name}: {item}" for name, item in self.params)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    ``wrt``: names of parameters, in the order asked. ``structure``: one gradient, or a tuple of them. The compiled
    function takes the user's parameters and returns: the gradient(s); with ``value`` ``(value, gradient(s))``; with
    ``has_aux`` ``value`` is ``(value, aux)`` and without ``value`` the result is ``(gradient(s), aux)``. With
    ``pullback`` it returns ``(out, pullback)``, or ``(out, pullback, aux)``, and ``pullback(seed)`` gives the
    gradient(s); else the output must be one number and the seed is 1.
    """

    wrt: tuple[str, ...]
    structure: Literal["single", "tuple"] = "single"
    value: bool = False
    has_aux: bool = False
    pullback: bool = False
    allow_unused: bool = False
    no_grad: frozenset[str] = frozenset()
    optimize: Literal["read", "speed"] = "speed"
    pins: tuple[tuple[str, Any], ...] = ()  #: integers whose value is part of the signature, by the expression that reads them
    read: Callable[[str], Any] | None = None  #: what an expression over the user's parameters is, where there are arguments
    jit: bool | Literal["auto"] = False  #: compiled by numba; with "auto" where that can be done, without a word where it cannot
    primal: bool = False  #: no derivative: the function itself


class Related(Exception):
    """Code can be made that is better, and right for the arguments at hand, if these too were part of the signature."""

    def __init__(self, pins: tuple[tuple[str, Any], ...]) -> None:
        super().__init__(pins)
        self.pins = pins


def related_extents(pins: Mapping[str, Any], signature: Signature) -> dict[str, Extent]:
    """What extents are in terms of others, by the expressions that read them, if the pins say so."""
    symbols = extent_words(signature)
    found: dict[str, Extent] = {}
    for text, value in pins.items():
        terms = read_expression(text) if value == 0 else None
        if terms is not None and all(s == ONE or s in symbols for s in terms):
            first, *_ = terms
            rest: Sum = {s if s == ONE else symbols[str(s)]: -c for s, c in terms.items() if s != first}
            found[str(first)] = extent_of(rest)
    return found


def without_relations(pins: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """The pins that are needed, without those that only make for better code."""
    return tuple((text, value) for text, value in pins if not is_relation(text))


def is_relation(text: str) -> bool:
    """Does a pin say how extents are related?"""
    return " " in text and read_expression(text) is not None


def extent_words(signature: Signature) -> dict[str, str]:
    """The symbols of extents, by the expressions that read them, but for symbols that stand for two."""
    named = [
        (f"{path}.shape[{axis}]", extent.symbol)
        for path, item in signature.leaves()
        if isinstance(item, Array) and " " not in path
        for axis, extent in enumerate(item.shape or ())
        if isinstance(extent, Dim)
    ]
    counts = Counter(symbol for _, symbol in named)
    return {text: symbol for text, symbol in named if counts[symbol] == 1}


class Pending(Protocol):
    """Code that is compiled when it is first called."""

    def shown(self) -> Compiled:
        """What it will be, to be looked at: its text."""
        ...

    def compiled(self, read: Callable[[str], Any]) -> Compiled:
        """What it comes to, for arguments that ``read`` gives by expressions over the user's parameters."""
        ...


#: what is looked at of an object that code relies on, beside the object itself
ASPECTS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda value: value,
    "type": type,
    "len": len,
    "keys": tuple,
    "truth": bool,
    "set": set,
}


@dataclass(frozen=True, slots=True, eq=False)
class Relied:
    """Something outside that code contains as it was when it was made: a function, a class, a text, the keys of a dict.

    ``text`` is the expression that reads it, over the names of ``Compiled.objects`` and the user's; ``aspect`` one of
    ``ASPECTS``; ``value`` what that was.
    """

    text: str
    aspect: str
    value: Any
    code: Any = None  #: of a function

    def by_equality(self) -> bool:
        """Is it compared with ``==``?  Bound methods and texts are new objects each time."""
        plain = isinstance(self.value, str | slice | np.dtype | types.MethodType | types.BuiltinMethodType | tuple | int | set)
        return plain and not isinstance(self.value, bool)

    def holds(self, found: Any) -> bool:
        """Is an object that was read now what it was?"""
        now = ASPECTS[self.aspect](found)
        same = type(now) is type(self.value) and bool(now == self.value) if self.by_equality() else now is self.value
        return same and (self.code is None or now.__code__ is self.code)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of it: ``function`` has the user's own parameters; ``text`` is its source.

    ``captured`` are pairs (expression that reads what is outside, what it was when compiled): code generated for one set
    of them is not used for another. Its names are those of ``objects``, else parameters, cells and globals of the user's
    function. ``mutated`` names the parameters whose arrays the function writes to. ``stages`` gives the IR after
    each stage, by name; ``saved`` makes the text of a module of its own, from
    the texts of example arguments; ``readable`` the source with the user's statements as they stand, where ``text``
    has them as they run fastest.
    """

    function: Callable[..., Any]
    text: str
    captured: tuple[tuple[str, Abstract], ...] = ()
    mutated: tuple[str, ...] = ()
    stages: Callable[[], Mapping[str, Func]] = dict
    saved: Callable[[Sequence[str] | None], str] | None = None
    pins: tuple[tuple[str, Any], ...] = ()  #: integers that are part of the code, by the expression that reads them
    objects: Mapping[str, Any] = field(default_factory=dict)
    readable: Callable[[], str] | None = None
    pending: Pending | None = None  #: what is to stand in its place once it is called
    direct: Direct | None = None
    relied: tuple[Relied, ...] = ()


@dataclass(frozen=True, slots=True)
class Direct:
    """A kernel of the user's parameters as they are; what a compiled derivative's ``function`` does, for a guard to do in its place."""

    kernel: Callable[..., Any]
    fallback: Callable[..., Any]  #: called with the same arguments if the kernel raises
    results: tuple[str, ...] = ()  #: names for the parts of what the kernel returns, if there is more to do
    returned: str = ""  #: the result over these names
    space: Mapping[str, Any] = field(default_factory=dict)  #: what else it names
    discerning: bool = False  #: does it raise for arrays of another dtype or rank, and for others whose extent is 1?


def leaves_of(path: str, item: Abstract) -> Iterator[tuple[str, Abstract]]:
    """The leaves of one parameter; see ``Signature.leaves``."""
    if not isinstance(item, Tree):
        yield path, item
        return
    spell: Callable[[Any], str] = {
        "sequence": lambda n: f"{path}[{n}]",
        "mapping": lambda n: f"{path}[{n!r}]",
        "named": lambda n: f"{path}.{n}",
        "object": lambda n: f"{path}.{n}",
    }[item.form]
    for name, inner in zip(item.names, item.items, strict=True):
        yield from leaves_of(spell(name), inner)


# ------------------------------------------------------------------ values to types


def abstract(arguments: Mapping[str, Any]) -> Signature:
    """The signature of a call, from the user's parameter names and what they are bound to.

    >>> str(abstract({"x": np.ones(3), "w": 2.0, "n": 4}))
    'x: f64[!x0], w: float, n: int'
    """
    params = tuple((name, abstract_value(value, symbol_of(name))) for name, value in arguments.items())
    return Signature(params, same_objects(arguments))


def symbol_of(path: str) -> str:
    """The stem of the names of extents: ``p.w`` and ``p['w']`` give ``p_w``."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in path.replace("']", "").replace("]", "")).replace("__", "_")


def abstract_value(value: Any, symbol: str) -> Abstract:
    """What is known of one value; ``symbol`` is the stem of the names of its extents."""
    kind = type(value)
    if kind in PYTHON_NUMBERS:
        return PYTHON_NUMBERS[kind]
    if isinstance(value, np.ndarray):
        return _array(value, symbol) if kind is np.ndarray else Static((kind, id(value)), value)
    if isinstance(value, np.generic):
        name = DTYPE_NAMES.get(value.dtype)
        return Static((kind, id(value)), value) if name is None else Scalar(kind_of(name), name)
    if kind is list and is_plain_list(value):
        return List(PYTHON_NUMBERS[type(value[0])])
    return _container(value, symbol, frozenset())


def _array(value: np.ndarray[Any, Any], symbol: str) -> Abstract:
    name = DTYPE_NAMES.get(value.dtype)
    if name is None or not value.dtype.isnative:
        return Static((np.ndarray, value.dtype, value.ndim), value)
    shape = tuple(1 if extent == 1 else Dim(f"{symbol}{axis}", 0, True) for axis, extent in enumerate(value.shape))
    return Array(name, shape, "?")


def is_plain_list(value: list[Any]) -> bool:
    """Is it a list of Python numbers of one kind, so that its length need not be known?"""
    first = type(value[0]) if value else None
    return first in PYTHON_NUMBERS and all(type(item) is first for item in value)


def is_record(value: Any) -> bool:
    """Is it an instance of a user's class, whose attributes may carry numbers?"""
    kind = type(value)
    if isinstance(value, type | types.ModuleType | types.FunctionType | types.BuiltinFunctionType | types.MethodType | np.ufunc | np.dtype):
        return False
    if isinstance(value, enum.Enum):
        return False
    if kind.__module__ in ("builtins", "functools", "operator", "re") or kind.__module__.startswith(("numpy", "symgrad")):
        return False
    return dataclasses.is_dataclass(value) or hasattr(value, "__dict__")


def record_names(value: Any) -> tuple[str, ...]:
    """The attributes of a record, in order: a dataclass's fields first, then what was set on the instance."""
    fields = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)] if dataclasses.is_dataclass(value) else []
    return tuple(dict.fromkeys([*fields, *getattr(value, "__dict__", {})]))


def _container(value: Any, symbol: str, above: frozenset[int]) -> Abstract:
    if id(value) in above:
        return Static(("cycle", type(value)), value)
    above = above | {id(value)}

    def inner(name: Any, item: Any) -> Abstract:
        stem = symbol_of(f"{symbol}_{name}")
        plain = isinstance(item, np.ndarray | np.generic) or type(item) in PYTHON_NUMBERS or type(item) is list and is_plain_list(item)
        return abstract_value(item, stem) if plain else _container(item, stem, above)

    kind = type(value)
    match value:
        case tuple() if hasattr(value, "_fields"):
            names: tuple[Any, ...] = value._fields
            return Tree(kind, names, tuple(inner(n, i) for n, i in zip(names, value, strict=True)))
        case tuple() | list():
            return Tree(kind, tuple(range(len(value))), tuple(inner(n, i) for n, i in enumerate(value)))
        case dict() if all(isinstance(key, str | int) for key in value):
            return Tree(kind, tuple(value), tuple(inner(n, i) for n, i in value.items()))
    if is_record(value):
        names = record_names(value)
        return Tree(kind, names, tuple(inner(n, getattr(value, n)) for n in names))
    return static(value)


def static(value: Any) -> Static:
    """The key of an object that carries no number: equal keys compile to the same code."""
    if value is None or isinstance(value, str | bytes) and not isinstance(value, enum.Enum):
        return Static((type(value), value), value)
    if isinstance(value, types.FunctionType):
        return Static(function_key(value), value)
    if isinstance(value, types.MethodType):
        return Static(("method", getattr(value.__func__, "__code__", value.__func__), id(value.__self__)), value)
    if isinstance(value, slice | range):
        return Static((type(value), value.start, value.stop, value.step), value)
    return Static((type(value), id(value)), value)


def function_key(function: types.FunctionType) -> tuple[Any, ...]:
    """A function is its code, its cells and its defaults: generated code reads those of the function first seen.

    ``Static.value`` keeps that function, and so the objects whose identities stand here, alive.
    """
    held = (*(function.__closure__ or ()), *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return ("function", function.__code__, id(function.__globals__), tuple(map(id, held)))


def laid_out(signature: Signature, arguments: Mapping[str, Any]) -> Signature:
    """The signature with how each array lies in memory."""
    return Signature(tuple((name, _laid_out(item, arguments[name])) for name, item in signature.params), signature.same)


def _laid_out(item: Abstract, value: Any) -> Abstract:
    match item:
        case Array():
            return dataclasses.replace(item, layout="C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "N")
        case Tree():
            values = [inner for _, inner in children("", value)]
            return Tree(item.kind, item.names, tuple(map(_laid_out, item.items, values)))
    return item


def same_objects(arguments: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Groups of parameters that are one array object (or views of the same memory are not looked for)."""
    by_identity: dict[int, list[str]] = {}
    for name, value in arguments.items():
        for path, leaf in array_leaves(name, value):
            by_identity.setdefault(id(leaf), []).append(path)
    return tuple(tuple(group) for group in by_identity.values() if len(group) > 1)


def array_leaves(path: str, value: Any, depth: int = 8) -> Iterator[tuple[str, Any]]:
    """Every array (and every plain list, which is memory too) in a value, with the expression that reaches it."""
    if isinstance(value, np.ndarray) or type(value) is list and is_plain_list(value):
        yield path, value
    elif depth:
        for spelled, item in children(path, value):
            yield from array_leaves(spelled, item, depth - 1)


def children(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The items of a container, each with the expression that reaches it."""
    match value:
        case tuple() if hasattr(value, "_fields"):
            yield from ((f"{path}.{n}", i) for n, i in zip(value._fields, value, strict=True))
        case tuple() | list():
            yield from ((f"{path}[{n}]", i) for n, i in enumerate(value))
        case dict():
            yield from ((f"{path}[{n!r}]", i) for n, i in value.items())
        case _ if is_record(value):
            yield from ((f"{path}.{n}", getattr(value, n)) for n in record_names(value))


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
    """The parts of a list of types; commas inside brackets do not part.

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
    """A signature from a text of types, one for each of the parameters ``names``.

    >>> str(parse_signature("f8[:], int", ("x", "n")))
    'x: f64[!x0], n: int'
    """
    parts = split_types(text.strip().removeprefix("(").removesuffix(")"))
    if len(parts) != len(names):
        raise BadArgument(f"{len(parts)} types for {len(names)} parameters ({', '.join(names)})", hint="give one type for each parameter")
    return Signature(tuple((name, parse_type(part, name)) for name, part in zip(names, parts, strict=True)))


def from_annotation(annotation: Any, symbol: str) -> Type | None:
    """The type that an annotation stands for, or None: ``float``, ``"f8[:]"``, ``np.float32``."""
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
