"""The abstract signature for which code is generated, and the two records exchanged by facade and compiler.

These are what is asked for (``Request``) and what comes back (``Compiled``).
"""

from __future__ import annotations

import ast
import types
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import combinations
from typing import Any, Literal, Protocol

import numpy as np

from symgrad.errors import UnsureAlias
from symgrad.ir.core import Func
from symgrad.ir.sums import ONE, Sum, extent_of, read_expression
from symgrad.ir.types import Array, Dim, Extent, List, Type
from symgrad.location import Loc
from symgrad.text import attribute, each, is_inside, is_name, keys_of, literal
from symgrad.text import item as item_of


@dataclass(frozen=True, slots=True)
class Static:
    """An argument that carries no number: equal keys may share generated code. ``value`` is the object first seen."""

    key: Any
    value: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"object[{type(self.value).__name__}]"


@dataclass(frozen=True, slots=True)
class Own:
    """The name of an attribute that a list or dict has beside its items."""

    name: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A container with a fixed structure: ``kind`` is the class, ``names`` the keys, attributes or positions, then attributes beside them.

    ``exactly`` tells keys apart that are equal and not of one class, as 1, 1.0 and True are; None where all are texts.
    """

    kind: type
    names: tuple[Any, ...]
    items: tuple[Abstract, ...]
    exactly: tuple[Any, ...] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        exactly = keys_of(self.keys) if self.form == "mapping" else self.keys
        object.__setattr__(self, "exactly", None if exactly == self.keys else exactly)

    @property
    def keys(self) -> tuple[Any, ...]:
        """The names of what the container holds, without those of attributes beside it."""
        return tuple(name for name in self.names if not isinstance(name, Own))

    @property
    def own(self) -> tuple[str, ...]:
        """The names of attributes beside what the container holds."""
        return tuple(name.name for name in self.names if isinstance(name, Own))

    @property
    def form(self) -> Literal["sequence", "mapping", "named", "object"]:
        """How an item is reached: by position, by key, by position with a name too (named tuples), or by attribute."""
        if issubclass(self.kind, dict):
            return "mapping"
        if issubclass(self.kind, tuple | list):
            return "named" if hasattr(self.kind, "_fields") else "sequence"
        return "object"

    def __str__(self) -> str:
        words = (
            f"{name.name if isinstance(name, Own) else name if is_name(name) else literal(name)}={item}"
            for name, item in zip(self.names, self.items, strict=True)
        )
        return f"{self.kind.__name__}({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Many:
    """A list or tuple of any number of like items, more than ``least``; ``kind`` is its class, ``item`` covers each of them."""

    kind: type
    item: Abstract
    least: int

    def __str__(self) -> str:
        return f"{self.kind.__name__}[{self.item}, ...]"


DISTRIBUTION = "distribution"  #: the first part of the key of a distribution of ``scipy.stats``, whose name is the second
CYCLE = "cycle"  #: the first part of the key of a container that holds itself; the second counts the containers between
FEW = 8  #: a list or tuple with no more items is known item by item, unless it is asked for otherwise
Abstract = Type | Static | Tree | Many
ParameterKind = Literal["plain", "varargs", "keywords"]


@dataclass(frozen=True, slots=True)
class Signature:
    """What is known of a call before it runs.

    ``params`` are the user's parameters in order, each with what was passed (or its default): a ``Type``, a ``Tree``,
    or a ``Static``; for ``*args`` a ``Tree`` of a tuple, for ``**kwargs`` a ``Tree`` of a dict. ``same`` are groups
    of paths that hold the same array, list, dict or instance. ``converted`` are paths of arrays and numbers that are taken as
    others, each with what is written behind the path for that (see ``kinds.conversion``).
    """

    params: tuple[tuple[str, Abstract], ...]
    same: tuple[tuple[str, ...], ...] = ()
    converted: tuple[tuple[str, str], ...] = ()

    def __getitem__(self, name: str) -> Abstract:
        return dict(self.params)[name]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.params)

    def leaves(self) -> Iterator[tuple[str, Abstract]]:
        """Every ``Type``, ``Many`` and ``Static`` with the expression that reaches it: ``x``, ``p['w']``, ``p.w``, ``p[0]``."""
        for name, item in self.params:
            yield from leaves_of(name, item)

    def containers(self) -> Iterator[tuple[str, Abstract]]:
        """Every list, dict and instance with the expression that reaches it."""
        for name, item in self.params:
            yield from containers_of(name, item)

    def distinct(self, matters: Collection[str]) -> list[tuple[str, str]]:
        """The pairs of paths of lists, dicts and instances that are two objects and could be one; one of each pair is in ``matters``."""
        containers = list(self.containers()) if matters else []
        together = [set(group) for group in self.same]
        return [
            (one, other)
            for (one, first), (other, second) in combinations(containers, 2)
            if (one in matters or other in matters) and may_be_one(first, second) and not any({one, other} <= group for group in together)
        ]

    def check_sharing(self) -> None:
        """Refuse objects that an item of a long list is too: which item, the signature does not say."""
        inside = [path for path, item in self.leaves() if isinstance(item, Many)]
        for group in self.same:
            for path in group:
                if any(path != whole and is_inside(path, whole) for whole in inside):
                    raise UnsureAlias(
                        f"{path} is also {next(p for p in group if p != path)}, and the function changes one of its arguments"
                    )

    def __str__(self) -> str:
        return ", ".join(f"{name}: {item}" for name, item in self.params)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    ``wrt``: names of parameters, in the order asked. ``structure``: one gradient, or a tuple of them. The compiled
    function takes the user's parameters and returns: the gradient(s); with ``value`` ``(value, gradient(s))``; with
    ``has_aux`` ``value`` is ``(value, aux)`` and without ``value`` the result is ``(gradient(s), aux)``. With
    ``pullback`` it returns ``(out, pullback)``, or ``(out, pullback, aux)``, and ``pullback(seed)`` gives the
    gradient(s); else the output must be one number and the seed is 1. With ``jacobian`` the gradient(s) stand in the
    place of each number or array of the output, and have the axes of that before their own. With ``along`` they are those of the
    sum of the output weighted by that argument.
    """

    wrt: tuple[str, ...]
    structure: Literal["single", "tuple"] = "single"
    value: bool = False
    has_aux: bool = False
    pullback: bool = False
    allow_unused: bool = False
    strict: bool = False  #: a result that does not depend on an argument in ``wrt`` is an error
    no_grad: frozenset[str] = frozenset()
    optimize: Literal["read", "speed"] = "speed"
    pins: tuple[tuple[str, Any], ...] = ()  #: integers whose value is part of the signature, by the expression that reads them
    read: Callable[[str], Any] | None = None  #: what an expression over the user's parameters is, where there are arguments
    jit: bool | str = False  #: compiled by numba; with "auto" where that can be done, without a word where it cannot
    primal: bool = False  #: no derivative: the function itself
    jacobian: bool = False
    #: of a Jacobian: by rows, by columns, or by what takes fewer; with ``along``: how the gradient is differentiated
    mode: Literal["auto", "reverse", "forward"] = "reverse"
    along: str = ""  #: the parameter that holds the weights of the results, of what is differentiated along these
    forward: bool = False  #: a function of tangents, which gives ``(out, tangent)``, or ``(out, tangent, aux)``
    linear: bool = (
        False  #: ``(out, linear)``, or ``(out, linear, aux)``, where ``linear`` is a function of tangents, which gives the tangent
    )
    checkpoints: tuple[tuple[int | str, int], ...] = ()  #: loops that run again, by variable or line, each with its number of snapshots
    memory: int | None = None  #: bytes for the snapshots of all loops that are in no other one
    holomorphic: bool = False  #: of complex numbers: the complex derivative, which what is differentiated must have

    sparsity: bool = False  #: the frame of a sparse Jacobian, with ``jacobian``: what is asked of the arguments before it is computed

    @property
    def guarded(self) -> bool:
        """Is another form of the code at hand that runs when this one raises?  Not where a function is handed out."""
        return not (self.pullback or self.forward or self.linear)


class Related(Exception):
    """Code can be made that is better, and right for the arguments at hand, if these too were part of the signature."""

    def __init__(self, pins: tuple[tuple[str, Any], ...]) -> None:
        super().__init__(pins)
        self.pins = pins


def related_extents(pins: Mapping[str, Any], signature: Signature) -> dict[str, Extent]:
    """Extents in terms of others, by the expressions that read them, where the pins relate them."""
    symbols = extent_words(signature)
    extents: dict[str, Extent] = {}
    for text, value in pins.items():
        terms = read_expression(text) if value == 0 else None
        if terms is not None and all(s == ONE or s in symbols for s in terms):
            first, *_ = terms
            rest: Sum = {s if s == ONE else symbols[str(s)]: -c for s, c in terms.items() if s != first}
            extents[str(first)] = extent_of(rest)
    return extents


def without_relations(pins: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """The pins that are needed, without those that only make for better code."""
    return tuple((text, value) for text, value in pins if not is_relation(text))


def is_choice(text: str) -> bool:
    """Does a pin compare two sizes, so that it chooses between codes that are both right?

    >>> is_choice("x.shape[0] < 3"), is_choice("p['a < b']")
    (True, False)
    """
    return " < " in text and isinstance(ast.parse(text, mode="eval").body, ast.Compare)


def is_relation(text: str) -> bool:
    """Does a pin say how extents are related?"""
    return " " in text and read_expression(text) is not None


def extent_words(signature: Signature) -> dict[str, str]:
    """The symbols of extents, by the expressions that read them, but for symbols that stand for two."""
    named = [
        (f"{path}.shape[{axis}]", extent.symbol)
        for path, item in signature.leaves()
        if isinstance(item, Array)
        for axis, extent in enumerate(item.shape or ())
        if isinstance(extent, Dim)
    ]
    counts = Counter(symbol for _, symbol in named)
    return {text: symbol for text, symbol in named if counts[symbol] == 1}


class Pending(Protocol):
    """Code that is compiled when it is first called."""

    numpy: Compiled  #: what runs where there is no kernel
    given_up: list[Callable[[], None]]  #: what is called when the kernel proves to be of no use

    def lines(self) -> int | None:
        """How many lines its texts have; None where there are none."""
        ...

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
    "dtype": lambda value: value.dtype,
    "len": len,
    "keys": keys_of,
    "truth": bool,
    "set": set,
}

#: what is asked of an object and a name: presence and absence count as much as what is there
QUESTIONS: dict[str, Callable[[Any, Any], bool]] = {
    "has": hasattr,
    "lacks": lambda value, name: not hasattr(value, name),
    "undefined": lambda cls, name: name not in vars(cls),
    "silent": lambda logger, level: not logger.isEnabledFor(level),
    "contains": lambda container, key: key in container,
    "unset": lambda container, key: key not in container,
    "dispatches": lambda function, pair: function.dispatch(pair[0]) is pair[1],
    "unknown": lambda modules, name: name not in modules and not is_importable(name),
}


def is_importable(name: str) -> bool:
    """Could a module of this name be imported now?"""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Relied:
    """Something outside that code contains as it was when it was made: a function, a class, a text, the keys of a dict.

    ``text`` is the expression that reads it, over the names of ``Compiled.objects`` and the user's; ``aspect`` one of
    ``ASPECTS``, and ``value`` what that was; or one of ``QUESTIONS``, which is true of the object and the name ``value``.
    """

    text: str
    aspect: str
    value: Any
    code: Any = None  #: of a function

    def by_equality(self) -> bool:
        """Is it compared with ``==``?  Bound methods and texts are new objects each time."""
        plain = isinstance(self.value, str | slice | np.dtype | types.MethodType | types.BuiltinMethodType | tuple | int | set)
        return plain and not isinstance(self.value, bool)

    def holds(self, current: Any) -> bool:
        """Is an object that is read now the one that was recorded?"""
        if self.aspect in QUESTIONS:
            return QUESTIONS[self.aspect](current, self.value)
        now = ASPECTS[self.aspect](current)
        same = type(now) is type(self.value) and bool(now == self.value) if self.by_equality() else now is self.value
        return same and (self.code is None or now.__code__ is self.code)


@dataclass(frozen=True, slots=True)
class Inactive:
    """An argument in ``wrt`` that the result does not depend on: what is told of it, and the place that is the reason."""

    what: str
    loc: Loc | None


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came of it: ``function`` has the user's own parameters; ``text`` is its source.

    ``captured`` are pairs (expression that reads what is outside, what it was when compiled): code generated for one set
    of them is not used for another. Its names are those of ``objects``, else parameters, cells and globals of the user's
    function. ``mutated`` names the parameters whose arrays the function writes to. ``stages`` gives the IR after
    each stage, by name; ``saved`` makes the text of a module of its own, from
    the texts of example arguments; ``readable`` gives the source with the user's statements as they stand, where ``text``
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
    readable: Readable | None = None
    pending: Pending | None = None  #: what is to stand in its place once it is called
    direct: Direct | None = None
    plain: Callable[..., Any] | None = None  #: of a kernel: the NumPy code that computes the same
    relied: tuple[Relied, ...] = ()
    inactive: tuple[Inactive, ...] = ()  #: the arguments whose gradient is zero, if the user is to be told
    identities: tuple[str, ...] = ()  #: lists, dicts and instances of which it matters whether they are one object with another one
    related: tuple[tuple[str, str, bool], ...] = ()  #: pairs of what is read from outside, and whether they are one object
    apart: tuple[tuple[str, str], ...] = ()  #: what is read from outside and what is changed among the arguments, which must be two objects
    comparable: Comparable | None = None  #: how it is compared with the user's function; None where it is no function of the user's


class Readable(Protocol):
    """What gives the text that is read, and tells ``notes`` of what was decided for it."""

    def shown(self) -> Any: ...

    def told(self, notes: Any) -> Any: ...

    def steppable(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Comparable:
    """What is needed to compare generated code with the user's function.

    ``once`` says why the function cannot be run beside it, with the place; ``primal`` makes the function itself as it was read;
    ``dtypes`` are those of its values; ``cut`` is whether derivatives are others than the function's on purpose. ``seen`` tells
    whether an earlier process has compared the same texts, ``keep`` notes that this one has.
    """

    once: tuple[str, Loc] | None
    primal: Callable[[], Callable[..., Any]] | None
    dtypes: frozenset[str]
    cut: bool
    stores: bool  #: does the function store something in objects that it was given?
    copies: bool  #: does it write to arrays that it was given, of which the code writes to copies?
    custom: bool  #: is a value said by the forward function of a ``custom_vjp``?
    seen: Callable[[], bool] = bool
    keep: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Direct:
    """A kernel of the user's parameters as they are; what a compiled derivative's ``function`` does, for a guard to do in its place."""

    kernel: Callable[..., Any]
    fallback: Callable[..., Any]  #: called with the same arguments if the kernel raises
    results: tuple[str, ...] = ()  #: names for the parts of what the kernel returns, if there is more to do
    returned: str = ""  #: the result over these names
    space: Mapping[str, Any] = field(default_factory=dict)  #: what else it names
    discerning: bool = False  #: does it raise for arrays of another dtype or rank, and for others whose extent is 1?
    called_from: Callable[[dict[str, Any], str], None] | None = (
        None  #: told in which namespace, and by which name, a guard calls the kernel
    )


def leaf_paths(item: Abstract, path: str) -> list[str]:
    """The expressions that read the parts of a long list or tuple, each a list of one part of every item; of anything else itself.

    >>> from symgrad.ir.types import FLOAT
    >>> leaf_paths(Many(list, Tree(dict, ("w", "b"), (FLOAT, FLOAT)), FEW), "p")
    ["[item['w'] for item in p]", "[item['b'] for item in p]"]
    """
    if not isinstance(item, Many):
        return [path]
    inside = parts_of_items(item.item, "item")
    return [path if part == "item" and item.kind is list else each(path, part) for part in inside] or [each(path, "False")]


def parts_of_items(item: Abstract, path: str) -> list[str]:
    """The expressions that read the parts of one item of a long list."""
    match item:
        case Tree():
            return [part for spelled, inner in parts_of(path, item) for part in parts_of_items(inner, spelled)]
        case Many():
            return leaf_paths(item, path)
        case Type():
            return [path]
    return []


def is_cycle(item: Abstract) -> bool:
    """Is it a container that stands in itself?"""
    return isinstance(item, Static) and isinstance(item.key, tuple) and item.key[0] is CYCLE


def is_container(item: Abstract) -> bool:
    """Is it a list, tuple, dict or instance?"""
    return isinstance(item, Tree | Many | List)


def holds_many(signature: Signature) -> bool:
    """Is there a long list or tuple among the arguments whose length is open?"""
    return any(isinstance(item, Many) for _, item in signature.leaves())


def part_of(path: str, tree: Tree, name: Any) -> str:
    """The expression that reads the item of a container that has this key, attribute or position."""
    if isinstance(name, Own):
        return attribute(path, name.name)
    return attribute(path, name) if tree.form in ("named", "object") else item_of(path, name)


def leaves_of(path: str, abstract: Abstract) -> Iterator[tuple[str, Abstract]]:
    """The leaves of one parameter; see ``Signature.leaves``."""
    if not isinstance(abstract, Tree):
        yield path, abstract
        return
    for spelled, inner in parts_of(path, abstract):
        yield from leaves_of(spelled, inner)


def containers_of(path: str, abstract: Abstract) -> Iterator[tuple[str, Abstract]]:
    """The lists, dicts and instances in one parameter; see ``Signature.containers``."""
    if isinstance(abstract, List) or isinstance(abstract, Tree | Many) and not issubclass(abstract.kind, tuple):
        yield path, abstract
    for spelled, inner in parts_of(path, abstract) if isinstance(abstract, Tree) else ():
        yield from containers_of(spelled, inner)


def may_be_one(one: Abstract, other: Abstract) -> bool:
    """Could two containers of these descriptions be one object?"""
    if isinstance(one, Tree) and isinstance(other, Tree):
        return one.kind is other.kind and one.names == other.names
    return type(one) is type(other)


def parts_of(path: str, tree: Tree) -> Iterator[tuple[str, Abstract]]:
    """The items of a container, each with the expression that reaches it."""
    for name, inner in zip(tree.names, tree.items, strict=True):
        yield part_of(path, tree, name), inner
