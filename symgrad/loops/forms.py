"""Arrays inside loops, as forms: the extents, and a function that emits the element at an index.

A ``Form`` is memory or a recipe. A recipe is emitted at each read of its elements until it is given memory
(``store``); later reads use the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from symgrad.ir.core import ZERO, Const, Operand, Value, key_of
from symgrad.ir.types import Array, Scalar, Type
from symgrad.loops.reach import OutOfReach, dtype_in_words
from symgrad.loops.writer import Writer, number, scalar

Index = tuple[Operand, ...]
At = Callable[[Index], Operand]

#: the dtypes of Python numbers in arrays
DTYPES = {"float": "f64", "int": "i64", "bool": "bool", "complex": "c128"}
#: the maximum cost of an element that is recomputed at each read
CHEAP = 2


@dataclass(frozen=True, slots=True)
class Support:
    """Where elements may be nonzero: ``test`` at an index. All others are zero if no factor is infinite or nan."""

    test: At
    factors: tuple[Form | Operand, ...] = ()


@dataclass(eq=False, slots=True)
class Form:
    """An array: dtype, extents, the emitter of an element, the recipes it reads, and the cost of an element beyond theirs."""

    dtype: str
    extents: tuple[Operand, ...]
    at: At
    parts: tuple[Form, ...] = ()
    price: int = 0
    memory: Value | None = None  #: the handle, if the form is memory
    cells: frozenset[object] = frozenset()  #: its alias classes in the program
    name: str | None = None
    value: Operand | None = None  #: the value of all elements, if they share one
    within: Operand | None = None  #: the extent that a mask requires of an axis
    support: Support | None = None  #: where elements may be nonzero, if most are zero

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def cost(self) -> int:
        """The total cost of an element."""
        return self.price + sum(p.cost for p in self.parts)

    def reads(self) -> frozenset[object]:
        """The alias classes that an element is read from."""
        return self.cells.union(*(p.reads() for p in self.parts))

    def roots(self) -> list[Form]:
        """The memory and constants that it is computed from."""
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
    """Turn the recipe into memory: an array, or the part of an array at the index prefix ``within``."""
    form.at = lambda index: writer.read(handle, (*within, *index))
    form.parts, form.price, form.memory, form.cells = (), 0, None if within else handle, cells
    form.value = form.support = None


def broadcast_index(form: Form, index: Index) -> Index:
    """The index into a broadcast operand for an index into the result."""
    own = index[len(index) - form.rank :]
    return tuple(ZERO if number(e) == 1 else i for e, i in zip(form.extents, own, strict=True))


def broadcast_extents(writer: Writer, shapes: Sequence[Sequence[Operand]]) -> tuple[Operand, ...]:
    """The extents of the broadcast shape; extents that must be equal are checked."""
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


#: rows whose result is zero where one operand is zero and the others are finite
KEEPS_ZERO = frozenset({"multiply", "negative", "positive", "cast"})


def supported(operands: Sequence[Form | Operand]) -> Support | None:
    """The support of a product, if one factor has one."""
    form = next((o for o in operands if isinstance(o, Form) and o.support is not None), None)
    if form is None or form.support is None:
        return None
    own, factors = form.support, tuple(o for o in operands if o is not form and not isinstance(o, Const))
    return Support(lambda index: own.test(broadcast_index(form, index)), own.factors + factors)


def mapped(
    writer: Writer, dtype: str, operands: Sequence[Form | Operand], compute: Callable[[list[Operand]], Operand], price: int, row: str = ""
) -> Form:
    """A function applied element by element, with broadcasting; ``row`` is its name."""
    forms = [o for o in operands if isinstance(o, Form)]
    extents = broadcast_extents(writer, [f.extents for f in forms])

    def at(index: Index) -> Operand:
        return compute([o.at(broadcast_index(o, index)) if isinstance(o, Form) else o for o in operands])

    return Form(dtype, extents, at, tuple(forms), price, support=supported(operands) if row in KEEPS_ZERO else None)


def view_of_form(form: Form, extents: Sequence[Operand], place: Callable[[Index], Index], price: int = 0) -> Form:
    """A view of a form: ``place`` maps an index to one into the form."""
    own = form.support
    support = None if own is None else Support(lambda index: own.test(place(index)), own.factors)
    return Form(form.dtype, tuple(extents), lambda index: form.at(place(index)), (form,), price, support=support)


def cast_to(writer: Writer, value: Operand, dtype: str) -> Operand:
    """Cast an element to the dtype of its array."""
    type_ = scalar(dtype)
    if value.type == type_:
        return value
    if isinstance(value, Const) and dtype == "f64" and isinstance(value.value, float):
        return value
    if isinstance(value, Const) and dtype == "c128":
        return Const(complex(value.value))
    return writer.call("cast", value, dtype=dtype)


def same_index(a: Sequence[Operand], b: Sequence[Operand]) -> bool:
    """Whether two indices have the same operands."""
    return len(a) == len(b) and all(key_of(x) == key_of(y) for x, y in zip(a, b, strict=True))


def refuse(type_: Type) -> str:
    """The dtype of an array; raises ``OutOfReach`` for an array that loops cannot hold."""
    if not isinstance(type_, Array) or type_.shape is None:
        raise OutOfReach("an array whose number of axes is not known")
    return refuse_dtype(type_.dtype)


def refuse_dtype(dtype: str | None) -> str:
    """The dtype; raises ``OutOfReach`` if loops cannot compute in it."""
    if dtype is None:
        raise OutOfReach("an array whose dtype is not known")
    if dtype in ("f16", "c64"):
        raise OutOfReach(f"arrays of {dtype_in_words(dtype)}")
    return dtype


def dtype_in_array(item: Type) -> str:
    """The dtype in an array of a number of this type, or of the elements of such an array."""
    dtype = getattr(item, "dtype", None)
    return refuse_dtype(DTYPES.get(item.kind) if isinstance(item, Scalar) and dtype in (None, "any") else dtype)


def as_kind(operand: Operand, type_: Type) -> Operand:
    """A literal as the kind of number that a variable holds."""
    if isinstance(operand, Const) and type(operand.value) in (bool, int) and isinstance(type_, Scalar):
        return Const({"float": float, "int": int, "bool": bool, "complex": complex}.get(type_.kind, float)(operand.value))
    if isinstance(operand, Const) and isinstance(operand.value, float) and getattr(type_, "kind", None) == "complex":
        return Const(complex(operand.value))
    return operand
