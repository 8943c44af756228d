"""The abstract signature for which code is generated, and the two records exchanged by facade and compiler.

These are the request (``Request``) and its result (``Compiled``).
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
    """The name of an attribute that a list or dict has in addition to its items."""

    name: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A container with a fixed structure: ``kind`` is the class, ``names`` the keys, attributes or positions, then additional attributes.

    ``exactly`` distinguishes equal keys of different classes, such as 1, 1.0 and True; None where all keys are texts.
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
        """The names of the items, without those of additional attributes."""
        return tuple(name for name in self.names if not isinstance(name, Own))

    @property
    def own(self) -> tuple[str, ...]:
        """The names of the additional attributes."""
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
FEW = 8  #: a list or tuple with at most this many items is known item by item, unless requested otherwise
Abstract = Type | Static | Tree | Many


@dataclass(frozen=True, slots=True)
class Signature:
    """The facts about a call that are known before it runs.

    ``params`` are the user's parameters in order, each with the abstract value of its argument (or its default): a
    ``Type``, a ``Tree``, or a ``Static``; for ``*args`` a ``Tree`` of a tuple, for ``**kwargs`` a ``Tree`` of a dict.
    ``same`` are groups of paths that hold the same array, list, dict or instance. ``converted`` are paths of arrays
    and numbers that are converted, each with the suffix of the path that converts it (see ``kinds.conversion``).
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
    """The request of a derivative.

    ``wrt``: names of parameters, in the requested order. ``structure``: one gradient, or a tuple of them. The compiled function takes
    the user's parameters and returns the gradient(s). With ``value`` it returns ``(value, gradient(s))``. With ``has_aux``, ``value`` is
    ``(value, aux)``, and without ``value`` the result is ``(gradient(s), aux)``. With ``pullback`` it returns ``(out, pullback)``, or
    ``(out, pullback, aux)``, and ``pullback(seed)`` returns the gradient(s); otherwise the output must be one number and the seed is 1.
    With ``jacobian`` each number or array of the output is replaced by its gradient(s), whose first axes are those of the output. With
    ``along`` the gradient(s) are those of the sum of the output weighted by that argument.
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
    read: Callable[[str], Any] | None = None  #: returns the value of an expression over the user's parameters, where there are arguments
    jit: bool | str = False  #: compiled by numba; with "auto" where that is possible, without a notice where it is not
    primal: bool = False  #: no derivative: the function itself
    jacobian: bool = False
    #: of a Jacobian: by rows, by columns, or by the method with fewer sweeps; with ``along``: the method that differentiates the gradient
    mode: Literal["auto", "reverse", "forward"] = "reverse"
    along: str = ""  #: the parameter that holds the weights of the results, in a gradient along them
    forward: bool = False  #: a function of tangents that returns ``(out, tangent)``, or ``(out, tangent, aux)``
    linear: bool = (
        False  #: returns ``(out, linear)``, or ``(out, linear, aux)``, where ``linear`` maps tangents to the tangent of the result
    )
    checkpoints: tuple[tuple[int | str, int], ...] = ()  #: loops that run again, by variable or line, each with its number of snapshots
    memory: int | None = None  #: bytes for the snapshots of all loops that are in no other one
    holomorphic: bool = False  #: the complex derivative of complex numbers; the function must have one

    sparsity: bool = False  #: with ``jacobian``: the frame of a sparse Jacobian, which examines the arguments before it is computed

    @property
    def guarded(self) -> bool:
        """Whether another form of the code is available that runs when this one raises; not if the code returns a function."""
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
    """Whether a pin compares two sizes, so that it chooses between versions of the code that are both right.

    >>> is_choice("x.shape[0] < 3"), is_choice("p['a < b']")
    (True, False)
    """
    return " < " in text and isinstance(ast.parse(text, mode="eval").body, ast.Compare)


def is_relation(text: str) -> bool:
    """Whether a pin is a relation between extents."""
    return " " in text and read_expression(text) is not None


def extent_words(signature: Signature) -> dict[str, str]:
    """The symbols of extents by the expressions that read them, without symbols of several extents."""
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

    numpy: Compiled  #: the code that runs where there is no kernel
    given_up: list[Callable[[], None]]  #: called when the kernel is abandoned

    def lines(self) -> int | None:
        """How many lines its texts have; None where there are none."""
        ...

    def shown(self) -> Compiled:
        """The code as it will be, for its text only."""
        ...

    def compiled(self, read: Callable[[str], Any]) -> Compiled:
        """The compiled code, for arguments that ``read`` returns by expressions over the user's parameters."""
        ...


#: the aspects of an object that code may depend on
ASPECTS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda value: value,
    "type": type,
    "dtype": lambda value: value.dtype,
    "len": len,
    "keys": keys_of,
    "truth": bool,
    "set": set,
}

#: the questions about an object and a name that code may depend on; absence counts as much as presence
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
    """Whether a module of this name could be imported now."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Relied:
    """A dependency of code on an object outside it, in the state at compilation: a function, a class, a text, the keys of a dict.

    ``text`` is the expression that reads the object, over the names of ``Compiled.objects`` and the user's.
    ``aspect`` is one of ``ASPECTS``, with ``value`` its value, or one of ``QUESTIONS``, whose answer is yes for the
    object and the name ``value``.
    """

    text: str
    aspect: str
    value: Any
    code: Any = None  #: of a function: its code object

    def by_equality(self) -> bool:
        """Whether it is compared with ``==``, because bound methods and texts are new objects each time."""
        plain = isinstance(self.value, str | slice | np.dtype | types.MethodType | types.BuiltinMethodType | tuple | int | set)
        return plain and not isinstance(self.value, bool)

    def holds(self, current: Any) -> bool:
        """Whether an object that is read now agrees with the recorded one."""
        if self.aspect in QUESTIONS:
            return QUESTIONS[self.aspect](current, self.value)
        now = ASPECTS[self.aspect](current)
        same = type(now) is type(self.value) and bool(now == self.value) if self.by_equality() else now is self.value
        return same and (self.code is None or now.__code__ is self.code)


@dataclass(frozen=True, slots=True)
class Inactive:
    """An argument in ``wrt`` that the result does not depend on: the notice about it, and the location that is the reason."""

    what: str
    loc: Loc | None


@dataclass(frozen=True, slots=True)
class Compiled:
    """Compiled code: ``function`` has the user's own parameters; ``text`` is its source.

    ``captured`` are pairs of an expression that reads captured state and its abstract value at compilation; the code
    is valid for these values only. The names in the expressions are those of ``objects``, else parameters, cells and
    globals of the user's function. ``mutated`` names the parameters whose arrays the function writes to. ``stages``
    returns the IR after each stage, by name. ``saved`` returns the text of a standalone module, from the texts of
    example arguments. ``readable`` returns the source with the user's statements as written; ``text`` has them in
    their fastest form.
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
    pending: Pending | None = None  #: the code that replaces this one at its first call
    direct: Direct | None = None
    plain: Callable[..., Any] | None = None  #: of a kernel: the NumPy code that computes the same
    relied: tuple[Relied, ...] = ()
    inactive: tuple[Inactive, ...] = ()  #: the arguments whose gradient is zero, if a notice is due
    identities: tuple[str, ...] = ()  #: lists, dicts and instances whose identity with another one matters
    related: tuple[tuple[str, str, bool], ...] = ()  #: pairs of captured objects, and whether they are identical
    apart: tuple[tuple[str, str], ...] = ()  #: pairs of a captured object and an argument that is changed, which must be distinct
    comparable: Comparable | None = None  #: how it is compared with the user's function; None where it is no function of the user's


class Readable(Protocol):
    """Returns the readable text, and its remarks to ``notes``."""

    def shown(self) -> Any: ...

    def told(self, notes: Any) -> Any: ...

    def steppable(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Comparable:
    """The facts needed to compare generated code with the user's function.

    ``once`` gives the reason, and its location, why the function cannot be run in addition to the code. ``primal``
    returns the function itself as it was lowered; ``dtypes`` are those of its values. ``cut``: its derivatives differ
    from the function's on purpose. ``seen`` returns whether an earlier process has compared the same texts; ``keep``
    records that this one has.
    """

    once: tuple[str, Loc] | None
    primal: Callable[[], Callable[..., Any]] | None
    dtypes: frozenset[str]
    cut: bool
    stores: bool  #: whether the function stores something in objects among its arguments
    copies: bool  #: whether it writes to argument arrays, of which the code writes to copies
    custom: bool  #: whether the forward function of a ``custom_vjp`` computes a value
    seen: Callable[[], bool] = bool
    keep: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class Direct:
    """A kernel that takes the user's parameters; a guard can do itself what ``Compiled.function`` does with it."""

    kernel: Callable[..., Any]
    fallback: Callable[..., Any]  #: called with the same arguments if the kernel raises
    results: tuple[str, ...] = ()  #: names for the parts of the kernel's result, if they are processed further
    returned: str = ""  #: the result over these names
    space: Mapping[str, Any] = field(default_factory=dict)  #: the other names in ``returned``
    discerning: bool = False  #: whether it raises for arrays of another dtype or rank, and for other arrays with an extent 1
    called_from: Callable[[dict[str, Any], str], None] | None = (
        None  #: receives the namespace and the name by which a guard calls the kernel
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
    """Whether the item is a container that contains itself."""
    return isinstance(item, Static) and isinstance(item.key, tuple) and item.key[0] is CYCLE


def is_container(item: Abstract) -> bool:
    """Whether the item is a list, tuple, dict or instance."""
    return isinstance(item, Tree | Many | List)


def holds_many(signature: Signature) -> bool:
    """Whether a long list or tuple of open length is among the arguments."""
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
    """Whether two containers of these descriptions may be the same object."""
    if isinstance(one, Tree) and isinstance(other, Tree):
        return one.kind is other.kind and one.names == other.names
    return type(one) is type(other)


def parts_of(path: str, tree: Tree) -> Iterator[tuple[str, Abstract]]:
    """The items of a container, each with the expression that reaches it."""
    for name, inner in zip(tree.names, tree.items, strict=True):
        yield part_of(path, tree, name), inner
