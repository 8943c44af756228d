"""Index paths as arithmetic: ``x[1:-1, ids].T`` is a map from an index of the result to one of ``x``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from symgrad.ir.core import ONE, ZERO, Const, Operand
from symgrad.loops.forms import Form, Index, broadcast_extents, broadcast_index
from symgrad.loops.reach import OutOfReach
from symgrad.loops.writer import Writer, number
from symgrad.ops.indexing import OPERANDS, steps

#: a subscript: a number, an array of integers, or None for an omitted bound
Item = Operand | Form | None


@dataclass(slots=True)
class Place:
    """A part of an array: its extents, and the map from its indices to those of the array."""

    extents: tuple[Operand, ...]
    at: Callable[[Index], Index]
    arrays: tuple[Form, ...] = ()  #: the integer arrays among the subscripts
    whole: bool = False  #: whether it contains every element, in some order
    part: Literal["", "real", "imaginary"] = ""  #: the selected part of complex numbers

    @property
    def repeats(self) -> bool:
        """Whether two elements of the part may be the same element of the array."""
        return bool(self.arrays)


def place_of(writer: Writer, extents: Sequence[Operand], index: str, items: Sequence[Item], in_memory: bool) -> Place:
    """The part that a path selects from an array of these extents, which is memory or a recipe."""
    place = Place(tuple(extents), lambda i: i, whole=True)
    at = 0
    for step, count in steps(index):
        place = follow(writer, place, step, items[at : at + count], in_memory)
        in_memory = False
        at += count
    return place


def follow(writer: Writer, base: Place, step: str, items: Sequence[Item], into_memory: bool) -> Place:
    """Apply one more step of a path."""
    if not step.startswith("."):
        place = subscript(writer, base.extents, step, items, into_memory)
    elif step in (".real", ".imag"):
        return replace(base, part="real" if step == ".real" else "imaginary")
    elif step == ".T":
        place = Place(base.extents[::-1], lambda i: i[::-1], whole=True)
    elif step == ".transpose":
        order = [number(i) for i in items if not isinstance(i, Form) and i is not None]
        if len(order) != len(base.extents) or any(k is None for k in order):
            raise OutOfReach("axes that are not known", writer.loc)
        place = permuted(base.extents, [k % len(order) for k in order if k is not None])
    elif step in (".reshape", ".ravel"):
        requested = [i for i in items if not isinstance(i, Form) and i is not None]
        place = reshaped(writer, base.extents, reshape_extents(writer, base.extents, requested or [Const(-1)]))
    else:
        raise OutOfReach("this view of an array", writer.loc)
    return Place(place.extents, lambda i: base.at(place.at(i)), (*base.arrays, *place.arrays), base.whole and place.whole, base.part)


def permuted(extents: Sequence[Operand], order: Sequence[int]) -> Place:
    """The axes permuted: axis ``k`` of the result is axis ``order[k]``."""
    return Place(tuple(extents[k] for k in order), lambda i: tuple(i[list(order).index(a)] for a in range(len(order))), whole=True)


# ------------------------------------------------------------------ subscripts


def subscript(writer: Writer, extents: Sequence[Operand], step: str, items: Sequence[Item], into_memory: bool) -> Place:
    """The part that one pair of brackets selects."""
    letters: list[tuple[str, Sequence[Item]]] = []
    at = 0
    for letter in step:
        letters.append((letter, items[at : at + OPERANDS[letter]]))
        at += OPERANDS[letter]
    taken = sum(letter in "is" for letter, _ in letters)
    if taken > len(extents):
        raise OutOfReach("more indices than axes", writer.loc)
    if "e" not in step:
        letters.append(("e", ()))
    middle = len(extents) - taken
    arrays = [operands[0] for letter, operands in letters if letter == "i" and isinstance(operands[0], Form)]
    shared = broadcast_extents(writer, [a.extents for a in arrays]) if arrays else ()
    picked = [k for k, (letter, _) in enumerate(letters) if letter == "i" and (letter != "e" or middle)]
    apart = bool(arrays) and any(b != a + 1 for a, b in pairwise(picked))
    out: list[Operand] = []  #: the extents of the result without those of the integer arrays
    rules: list[Callable[[Index, Index], Operand]] = []  #: for each axis: its index, from the two parts of a result index
    first = None
    whole = True
    for letter, operands in letters:
        axis = len(rules)
        if letter == "n":
            out.append(ONE)
        elif letter == "e":
            for k in range(middle):
                rules.append(runs(writer, len(out), ZERO, ONE))
                out.append(extents[axis + k])
        elif letter == "s":
            begin, stride, length = slice_range(writer, extents[axis], *operands)
            whole = whole and length is extents[axis]
            rules.append(runs(writer, len(out), begin, stride))
            out.append(length)
        else:
            whole = False
            first = len(out) if first is None else first
            rules.append(picks(writer, operands[0], extents[axis], into_memory))
    start = 0 if apart or first is None else first
    if any(a.within is None for a in arrays):  # subscripts are checked where elements are read, so some element must be read
        for e in out:
            if not writer.at_most(ONE, e):
                writer.check("check_at_least", e, ONE)

    def at_index(index: Index) -> Index:
        own = index[:start] + index[start + len(shared) :]
        return tuple(rule(own, index[start : start + len(shared)]) for rule in rules)

    return Place((*out[:start], *shared, *out[start:]), at_index, tuple(arrays), whole and not shared)


def runs(writer: Writer, at: int, begin: Operand, stride: Operand) -> Callable[[Index, Index], Operand]:
    """The index along an axis that a slice selects."""
    return lambda own, shared: writer.add(begin, writer.multiply(own[at], stride))


def picks(writer: Writer, item: Item, extent: Operand, into_memory: bool) -> Callable[[Index, Index], Operand]:
    """The index along an axis that a number or an integer array selects."""
    if item is None:
        raise OutOfReach("an index that is not a number", writer.loc)
    if not isinstance(item, Form):
        place = writer.in_range(item, extent, into_memory)
        return lambda own, shared: place
    if item.within is not None:
        writer.require_equal(item.within, extent)
        return lambda own, shared: item.at(broadcast_index(item, shared))
    return lambda own, shared: writer.in_range(item.at(broadcast_index(item, shared)), extent, into_memory)


def slice_range(writer: Writer, n: Operand, start: Item, stop: Item, step: Item) -> tuple[Operand, Operand, Operand]:
    """First index, step and length of ``range(n)[start:stop:step]``.

    A bound that is known only at run time must not be negative.
    """
    if any(isinstance(b, Form) for b in (start, stop, step)):
        raise OutOfReach("a slice whose bounds are arrays", writer.loc)
    assert not isinstance(start, Form)
    assert not isinstance(stop, Form)
    assert not isinstance(step, Form)
    stride = 1 if step is None else number(step)
    if stride is None or stride == 0:
        raise OutOfReach("a slice whose step is not a literal", writer.loc)
    if stride > 0:
        first = ZERO if start is None else bound(writer, start, n)
        last = n if stop is None else bound(writer, stop, n)
        literal = number(stop) if stop is not None else None
        if literal is not None and literal > 0 and number(n) is None and writer.is_fixed(n):
            writer.check("check_at_least", n, last)  # makes the length known; NumPy handles shorter arrays
        elif number(writer.subtract(last, first)) == 1 and number(first) is None:
            if not writer.at_most(first, n, -1):  # ``x[:, k:k + 1]`` is one column, which broadcasts; NumPy handles an empty one
                writer.check("check_less", first, n)
        elif stop is not None:
            last = writer.smaller(last, n)
    else:
        first = writer.add(n, Const(-1)) if start is None else writer.smaller(bound(writer, start, n, -1), writer.add(n, Const(-1)))
        last = Const(-1) if stop is None else bound(writer, stop, n, -1)
        first, last = writer.add(last, ONE), writer.add(first, ONE)  # as an ascending range
    length = writer.larger(writer.subtract(last, first), ZERO)
    if abs(stride) != 1:
        length = writer.pure("floor_divide", writer.add(length, Const(abs(stride) - 1)), Const(abs(stride)), via=None)
    begin = first if stride > 0 else writer.add(last, Const(-1))
    return begin, Const(stride), length


def bound(writer: Writer, operand: Operand, n: Operand, least: int = 0) -> Operand:
    """A bound of a slice, counted from the start of the axis and not below ``least``."""
    literal = number(operand)
    if literal is not None:
        return operand if literal >= 0 else writer.larger(writer.add(n, operand), Const(least))
    writer.not_negative(operand)
    return operand


# ------------------------------------------------------------------ reshaping


def product_of(writer: Writer, extents: Sequence[Operand]) -> Operand:
    """The number of elements."""
    total: Operand = ONE
    for e in extents:
        total = writer.multiply(total, e)
    return total


def reshape_extents(writer: Writer, extents: Sequence[Operand], requested: Sequence[Operand]) -> tuple[Operand, ...]:
    """The requested shape, with the extent for -1 computed; checks that the number of elements agrees."""
    requested = [writer.same(w) for w in requested]
    if all(number(w) != -1 for w in requested) and tuple(requested) == tuple(map(writer.same, extents)):
        return tuple(requested)
    total = product_of(writer, [e for e in extents if number(e) != 1])
    if any(number(w) == -1 for w in requested):
        rest = [w for w in requested if number(w) not in (-1, 1)]
        own = list(map(writer.same, extents))
        for w in list(rest):
            if w in own:
                own.remove(w)
                rest.remove(w)
        if rest:
            part, left = product_of(writer, rest), product_of(writer, own)
            writer.check("check_at_least", part, ONE)
            inferred: Operand = writer.pure("floor_divide", left, part, via=None)
            writer.require_equal(writer.multiply(inferred, part), left)
        else:
            inferred = product_of(writer, own)
        return tuple(inferred if number(w) == -1 else w for w in requested)
    writer.require_equal(total, product_of(writer, [w for w in requested if number(w) != 1]))
    return tuple(requested)


def reshaped(writer: Writer, extents: Sequence[Operand], requested: Sequence[Operand]) -> Place:
    """The same elements, in order, in another shape."""
    old = [k for k, e in enumerate(extents) if number(e) != 1]
    new = [k for k, e in enumerate(requested) if number(e) != 1]
    if [writer.same(extents[k]) for k in old] == [writer.same(requested[k]) for k in new]:
        table = dict(zip(old, new, strict=True))
        return Place(tuple(requested), lambda i: tuple(i[table[k]] if k in table else ZERO for k in range(len(extents))), whole=True)

    def at(index: Index) -> Index:
        flat: Operand = ZERO
        for i, e in zip(index, requested, strict=True):
            flat = writer.add(writer.multiply(flat, e), i)
        indices: list[Operand] = []
        for e in reversed(extents[1:]):
            if number(e) == 1:
                indices.append(ZERO)
                continue
            indices.append(writer.pure("mod", flat, e, via=None))
            flat = writer.pure("floor_divide", flat, e, via=None)
        return (flat, *reversed(indices))[: len(extents)] if extents else ()

    return Place(tuple(requested), at, whole=True)
