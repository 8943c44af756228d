"""The static types of values: kind, dtype, rank and extents.

Types are immutable and compared by value. ``join`` is the least type that covers two; ``Unknown`` covers
everything and is allowed wherever a value is only read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from symgrad.tables import pairs

Kind = Literal["bool", "int", "float", "complex"]
#: the memory layout of an array: row-major (``C``), column-major only (``F``), both, neither (``N``), or unknown
Layout = Literal["C", "F", "CF", "N", "?"]
KINDS: tuple[Kind, ...] = ("bool", "int", "float", "complex")

#: dtype names of the text form, and their NumPy character codes
DTYPES = pairs(
    """
    bool:? i8:b i16:h i32:i i64:l u8:B u16:H u32:I u64:L f16:e f32:f f64:d c64:F c128:D
    """
)


KIND_OF: dict[str, Kind] = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def kind_of(dtype: str) -> Kind:
    """The kind of number of a dtype: ``kind_of("f32")`` is ``"float"``."""
    return KIND_OF[dtype[0]]


@dataclass(frozen=True, slots=True)
class Dim:
    """An extent known at run time only: ``max(symbol + offset, 0)``.

    ``plural``: it is known not to be 1 (the guard has checked), so that in broadcasting two plural extents are
    equal or NumPy raises.
    """

    symbol: str
    offset: int = 0
    plural: bool = False

    def __str__(self) -> str:
        shift = f"{self.offset:+d}" if self.offset else ""
        return f"{'!' if self.plural else ''}{self.symbol}{shift}"


Extent = int | Dim
Shape = tuple[Extent, ...]


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types; abstract."""

    @property
    def is_number(self) -> bool:
        """Whether the type is that of a scalar or an array, so that arithmetic applies."""
        return isinstance(self, Scalar | Array)


@dataclass(frozen=True, slots=True)
class Scalar(Type):
    """One immutable number.

    ``dtype`` None is a Python number (weak in promotion), a name such as ``"f64"`` is a NumPy scalar, ``"any"``
    is either.
    """

    kind: Kind
    dtype: str | None = None

    def __str__(self) -> str:
        if self.dtype is None:
            return self.kind
        return f"{self.kind}?" if self.dtype == "any" else f"scalar {self.dtype}"


@dataclass(frozen=True, slots=True)
class Array(Type):
    """An ndarray, rank 0 included. ``dtype`` or ``shape`` None: unknown."""

    dtype: str | None
    shape: Shape | None
    layout: Layout = "?"

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def kind(self) -> Kind | None:
        return None if self.dtype is None else kind_of(self.dtype)

    def __str__(self) -> str:
        inside = "..." if self.shape is None else ", ".join(map(str, self.shape))
        return f"{self.dtype or '?'}[{inside}]" + ("" if self.layout == "?" else f"/{self.layout}")


@dataclass(frozen=True, slots=True)
class ShapeOf(Type):
    """A tuple of ints: a shape."""

    shape: Shape | None

    def __str__(self) -> str:
        return f"shape[{'...' if self.shape is None else ', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class List(Type):
    """A Python list of items of one type, of any length; also the result of run-time iteration.

    ``of`` is the type in the user's program: a ``list``, a ``tuple``, or ``either``, depending on the path.
    ``named`` is the class of a named tuple.
    """

    item: Type
    of: Literal["list", "tuple", "either"] = "list"
    named: type | None = None

    def __str__(self) -> str:
        return f"{self.of}[{self.item}]"


@dataclass(frozen=True, slots=True)
class Struct(Type):
    """A list item with parts: a tuple, a dict, an instance. ``form`` tells how it is built from the parts.

    It exists only during lowering; then each list of such items becomes a list for each part.
    """

    items: tuple[Type, ...]
    form: Any = None

    def __str__(self) -> str:
        return f"struct[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True, slots=True)
class Tape(Type):
    """Saved values, written by the forward half and read by the backward half: a stack, or (``indexed``) a known number of slots."""

    items: tuple[Type, ...] = ()
    indexed: bool = False

    def __str__(self) -> str:
        return f"{'slots' if self.indexed else 'tape'}[{', '.join(map(str, self.items))}]"


@dataclass(frozen=True, slots=True)
class Box(Type):
    """The residuals of one call of a function, opaque to its caller."""

    func: str

    def __str__(self) -> str:
        return f"box[{self.func}]"


#: Python classes whose values may be known at run time only, by type name: numbers can be read from them
PYTHON_CLASSES: dict[str, type] = {"str": str, "set": set, "frozenset": frozenset}


@dataclass(frozen=True, slots=True)
class Object(Type):
    """A Python object without numbers: None, a string, a function, a random number generator."""

    name: str = "object"

    @property
    def python_class(self) -> type | None:
        """The class in ``PYTHON_CLASSES``, if it is one of these.

        >>> Object("set[int]").python_class
        <class 'set'>
        """
        return PYTHON_CLASSES.get(self.name.partition("[")[0])

    @property
    def is_exception(self) -> bool:
        """Whether the type is that of an exception raised by an op, of known class or not."""
        return self.name == "exception" or self.name.startswith("raised ")

    def __str__(self) -> str:
        return f"object[{self.name}]"


@dataclass(frozen=True, slots=True)
class Undefined(Type):
    """A name that is not bound on this path."""

    def __str__(self) -> str:
        return "undefined"


@dataclass(frozen=True, slots=True)
class Unknown(Type):
    """Anything; may be read, not written to. ``tuples``: it may hold lists that represent tuples of the user's program.

    ``lists``: it may be a list or array of the program, or something else.
    """

    tuples: bool = False
    lists: bool = False

    def __str__(self) -> str:
        return "?"


UNKNOWN, UNDEFINED = Unknown(), Undefined()
TEXT = Object("str")
FLOAT, INT, BOOL, COMPLEX = Scalar("float"), Scalar("int"), Scalar("bool"), Scalar("complex")


def is_complex(type_: Type) -> bool:
    """Whether by its type a value may be, or contain, a complex number."""
    if isinstance(type_, Scalar | Array):
        return type_.kind == "complex"
    if isinstance(type_, List):
        return is_complex(type_.item)
    return isinstance(type_, Tape) and any(map(is_complex, type_.items))


def is_float(type_: Type) -> bool:
    """Whether a value of this type can carry a derivative."""
    match type_:
        case Scalar(kind=kind):
            return kind in ("float", "complex")
        case Array():
            return type_.kind in (None, "float", "complex")
        case List(item=item):
            return is_float(item)
        case Unknown():
            return True
    return False


def join_kind(a: Kind, b: Kind) -> Kind:
    return KINDS[max(KINDS.index(a), KINDS.index(b))]


def join_extent(a: Extent, b: Extent) -> Extent:
    """An extent that covers both, named after them so that joining again changes nothing."""
    if a == b:
        return a
    if isinstance(a, Dim) and isinstance(b, Dim) and (a.symbol, a.offset) == (b.symbol, b.offset):
        return Dim(a.symbol, a.offset, a.plural and b.plural)
    return Dim("?")


def same_extent(a: Extent, b: Extent) -> bool:
    """Whether the two are proved equal. ``?`` is equal to nothing, itself included."""
    if isinstance(a, Dim) and isinstance(b, Dim):
        return a.symbol != "?" and (a.symbol, a.offset) == (b.symbol, b.offset)
    return not isinstance(a, Dim) and a == b


def same_shape(a: Shape | None, b: Shape | None) -> bool:
    """Whether the two shapes are proved equal."""
    return a is not None and b is not None and len(a) == len(b) and all(map(same_extent, a, b))


def is_plural(extent: Extent) -> bool:
    """Whether the extent is known not to be 1."""
    return extent.plural if isinstance(extent, Dim) else extent != 1


def join(a: Type, b: Type) -> Type:
    """The least type that covers both.

    >>> str(join(Scalar("int"), Scalar("float", "f64")))
    'float?'

    With other integers uint64 promotes to float, so the join is unknown:

    >>> str(join(Scalar("int"), Scalar("int", "i64"))), str(join(Scalar("int"), Scalar("int", "u64")))
    ('int?', '?')
    """
    if a == b:
        return a
    if isinstance(a, Undefined):
        return b
    if isinstance(b, Undefined):
        return a
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        kind = join_kind(a.kind, b.kind)
        if kind == "int" and "u64" in (a.dtype, b.dtype):
            return Unknown()
        return Scalar(kind, a.dtype if a.dtype == b.dtype and a.kind == b.kind else None if a.dtype is b.dtype is None else "any")
    if isinstance(a, Array) and isinstance(b, Array):
        shape = None
        if a.shape is not None and b.shape is not None and len(a.shape) == len(b.shape):
            shape = tuple(map(join_extent, a.shape, b.shape))
        return Array(a.dtype if a.dtype == b.dtype else None, shape, a.layout if a.layout == b.layout else "?")
    if (isinstance(a, Array) and isinstance(b, Scalar)) or (isinstance(a, Scalar) and isinstance(b, Array)):
        array, scalar = (a, b) if isinstance(a, Array) else (b, a)
        assert isinstance(array, Array)
        assert isinstance(scalar, Scalar)
        keeps = array.kind is not None and KINDS.index(array.kind) >= KINDS.index(scalar.kind)
        return Array(array.dtype if keeps and scalar.dtype in (None, array.dtype) else None, None)
    if isinstance(a, Object) and isinstance(b, Object) and a.is_exception and b.is_exception:
        return Object("exception")
    if isinstance(a, List) and isinstance(b, List):
        item = join(a.item, b.item)
        return List(item, a.of, a.named) if (a.of, a.named) == (b.of, b.named) else List(item, "either")
    if isinstance(a, Struct) and isinstance(b, Struct) and a.form == b.form and len(a.items) == len(b.items):
        return Struct(tuple(map(join, a.items, b.items)), a.form)
    if isinstance(a, Tape) and isinstance(b, Tape) and a.indexed == b.indexed:
        longer = a if len(a.items) >= len(b.items) else b
        return longer if not (a.items and b.items) else Tape(tuple(map(join, a.items, b.items)), a.indexed)
    if isinstance(a, ShapeOf) and isinstance(b, ShapeOf):
        same = a.shape is not None and b.shape is not None and len(a.shape) == len(b.shape)
        return ShapeOf(tuple(map(join_extent, a.shape, b.shape)) if same and a.shape and b.shape else None)
    return Unknown(may_hold_tuples(a) or may_hold_tuples(b), may_be_changed(a) or may_be_changed(b))


def may_be_changed(type_: Type) -> bool:
    """Whether a value may be a list or an array, which can be changed in place."""
    return isinstance(type_, List | Array) or isinstance(type_, Unknown) and type_.lists


def holds_parts(type_: Type) -> bool:
    """Whether it is an item with parts, or a list of such items."""
    return isinstance(type_, Struct) or isinstance(type_, List) and holds_parts(type_.item)


def may_hold_tuples(type_: Type) -> bool:
    """Whether a value may be, or contain, a list that represents a tuple."""
    match type_:
        case List(item=item, of=of):
            return of != "list" or may_hold_tuples(item)
        case Unknown(tuples=tuples):
            return tuples
    return False
