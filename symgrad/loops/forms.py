"""Arrays inside loops, as forms: the extents, and a function that emits the element at an index.

A ``Form`` is memory or a recipe. A recipe is emitted at each read of its elements until it is given memory
(``store``); later reads use the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from symgrad.ir.core import ZERO, Const, Operand, Value
from symgrad.ir.types import Array, Scalar, Type
from symgrad.loops.reach import OutOfReach, dtype_in_words
from symgrad.loops.writer import Writer, key_of, number, scalar

Index = tuple[Operand, ...]
At = Callable[[Index], Operand]

#: how numbers of Python's lie in arrays
DTYPES = {"float": "f64", "int": "i64", "bool": "bool", "complex": "c128"}
#: what an element may cost and still be computed wherever it is read
CHEAP = 2


@dataclass(frozen=True, slots=True)
class Support:
    """Where elements may be other than zero: ``test`` at an index. All others are zero if no factor is infinite or nan."""

    test: At
    factors: tuple[Form | Operand, ...] = ()


@dataclass(eq=False, slots=True)
class Form:
    """An array: dtype, extents, how an element is had, what recipes it is made of, and what one element costs beyond theirs."""

    dtype: str
    extents: tuple[Operand, ...]
    at: At
    parts: tuple[Form, ...] = ()
    price: int = 0
    memory: Value | None = None  #: the handle, where the form is memory
    cells: frozenset[object] = frozenset()  #: the memory that it is, as the classes of the program say
    name: str | None = None
    value: Operand | None = None  #: the value of all its elements, where they have one
    within: Operand | None = None  #: the extent that an axis must have, where a mask said these places
    support: Support | None = None  #: where elements may be other than zero, if most are zero

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def cost(self) -> int:
        """What an element costs, all in all."""
        return self.price + sum(p.cost for p in self.parts)

    def reads(self) -> frozenset[object]:
        """The memory that an element is read from."""
        return self.cells.union(*(p.reads() for p in self.parts))

    def roots(self) -> list[Form]:
        """The memory and the constants that it is made of."""
        return [self] if not self.parts else [r for p in self.parts for r in p.roots()]


def stored(
    writer: Writer, handle: Value, dtype: str, extents: Sequence[Operand], cells: frozenset[object], name: str | None = None
) -> Form:
    """Memory as a form."""
    return Form(dtype, tuple(extents), lambda index: writer.read(handle, index), memory=handle, cells=cells, name=name)


def filled(dtype: str, extents: Sequence[Operand], value: Operand) -> Form:
    """An array of one value."""
    return Form(dtype, tuple(extents), lambda index: value, value=value)


def remember(form: Form, writer: Writer, handle: Value, cells: frozenset[object], within: Index = ()) -> None:
    """From now on the recipe is memory: an array, or the part of one that lies ``within`` it."""
    form.at = lambda index: writer.read(handle, (*within, *index))
    form.parts, form.price, form.memory, form.cells = (), 0, None if within else handle, cells
    form.value = form.support = None


def broadcast_index(form: Form, index: Index) -> Index:
    """The index into an operand of an index into the result."""
    own = index[len(index) - form.rank :]
    return tuple(ZERO if number(e) == 1 else i for e, i in zip(form.extents, own, strict=True))


def broadcast_extents(writer: Writer, shapes: Sequence[Sequence[Operand]]) -> tuple[Operand, ...]:
    """The extents of what is broadcast together; those that must be equal are checked."""
    rank = max(map(len, shapes), default=0)
    extents: list[Operand] = []
    for k in range(rank):
        extent: Operand = Const(1)
        for shape in shapes:
            place = k - rank + len(shape)
            if place < 0 or number(shape[place]) == 1:
                continue
            extent = shape[place] if number(extent) == 1 else writer.require_equal(extent, shape[place])
        extents.append(extent)
    return tuple(extents)


#: rows whose result is zero where one operand is, and no other infinite or nan
KEEPS_ZERO = frozenset({"multiply", "negative", "positive", "cast"})


def supported(operands: Sequence[Form | Operand]) -> Support | None:
    """Where a product may be other than zero, if one factor says so for itself."""
    form = next((o for o in operands if isinstance(o, Form) and o.support is not None), None)
    if form is None or form.support is None:
        return None
    own, factors = form.support, tuple(o for o in operands if o is not form and not isinstance(o, Const))
    return Support(lambda index: own.test(broadcast_index(form, index)), own.factors + factors)


def mapped(
    writer: Writer, dtype: str, operands: Sequence[Form | Operand], compute: Callable[[list[Operand]], Operand], price: int, row: str = ""
) -> Form:
    """A function applied element by element, with broadcasting; ``row`` tells which."""
    forms = [o for o in operands if isinstance(o, Form)]
    extents = broadcast_extents(writer, [f.extents for f in forms])

    def at(index: Index) -> Operand:
        return compute([o.at(broadcast_index(o, index)) if isinstance(o, Form) else o for o in operands])

    return Form(dtype, extents, at, tuple(forms), price, support=supported(operands) if row in KEEPS_ZERO else None)


def shown(form: Form, extents: Sequence[Operand], place: Callable[[Index], Index], price: int = 0) -> Form:
    """Another look at a form: ``place`` gives the index into it."""
    own = form.support
    support = None if own is None else Support(lambda index: own.test(place(index)), own.factors)
    return Form(form.dtype, tuple(extents), lambda index: form.at(place(index)), (form,), price, support=support)


def cast_to(writer: Writer, value: Operand, dtype: str) -> Operand:
    """An element in the dtype it has in its array."""
    type_ = scalar(dtype)
    if value.type == type_:
        return value
    if isinstance(value, Const) and dtype == "f64" and isinstance(value.value, float):
        return value
    if isinstance(value, Const) and dtype == "c128":
        return Const(complex(value.value))
    return writer.call("cast", value, dtype=dtype)


def same_index(a: Sequence[Operand], b: Sequence[Operand]) -> bool:
    """Are the two indices the same operands?"""
    return len(a) == len(b) and all(key_of(x) == key_of(y) for x, y in zip(a, b, strict=True))


def refuse(type_: Type) -> str:
    """The dtype of an array that loops can carry."""
    if not isinstance(type_, Array) or type_.shape is None:
        raise OutOfReach("an array whose number of axes is not known")
    return refuse_dtype(type_.dtype)


def refuse_dtype(dtype: str | None) -> str:
    """The dtype, if loops can compute in it."""
    if dtype is None:
        raise OutOfReach("an array whose dtype is not known")
    if dtype in ("f16", "c64"):
        raise OutOfReach(f"arrays of {dtype_in_words(dtype)}")
    return dtype


def dtype_in_array(item: Type) -> str:
    """How a number of this type, or the elements of an array of it, lie in an array."""
    dtype = getattr(item, "dtype", None)
    return refuse_dtype(DTYPES.get(item.kind) if isinstance(item, Scalar) and dtype in (None, "any") else dtype)


def as_kind(operand: Operand, type_: Type) -> Operand:
    """A literal as the kind of number that a variable holds."""
    if isinstance(operand, Const) and type(operand.value) in (bool, int) and isinstance(type_, Scalar):
        return Const({"float": float, "int": int, "bool": bool, "complex": complex}.get(type_.kind, float)(operand.value))
    if isinstance(operand, Const) and isinstance(operand.value, float) and getattr(type_, "kind", None) == "complex":
        return Const(complex(operand.value))
    return operand
