"""Index paths: the IR's form of ``x[i, 1:-1]``, ``y.T[k]`` and views of views, and the types of the results.

A path is a string setting ``index`` of steps joined by ``;``; its operands are operands of the op. An index step has one letter an
item: ``i`` an int, an integer array or a mask (one operand), ``s`` a slice (three operands, None for omitted ones), ``n`` None, ``e``
an ellipsis. A step ``.T`` or ``.reshape:2`` is a view method with that many operands; ``.real`` and ``.imag`` are those parts of
complex numbers. ``x[i, 1:-1]`` has index ``"is"`` and operands ``i, 1, -1, None``.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from symgrad.errors import ShapeMismatch
from symgrad.ir.sums import ONE, Sum, combined, extent_of, follows, sum_of
from symgrad.ir.types import UNKNOWN, Array, Dim, Extent, Object, Scalar, Shape, Type, kind_of

OPERANDS = {"i": 1, "s": 3, "n": 0, "e": 0}
#: steps that are attributes, and take no operands
ATTRIBUTES = frozenset({".T", ".real", ".imag"})
#: the dtypes of the parts of complex numbers
PARTS = {"c64": "f32", "c128": "f64"}
Extents = Callable[[int], Extent]
MOST_FACTS = 12  #: how many a proof looks at


@lru_cache(maxsize=1024)
def steps(index: str) -> tuple[tuple[str, int], ...]:
    """Each step of a path with the number of operands it takes.

    >>> steps("is;.reshape:2;e")
    (('is', 4), ('.reshape', 2), ('e', 0))
    """
    pairs = []
    for step in index.split(";"):
        if step.startswith("."):
            name, _, count = step.partition(":")
            pairs.append((name, int(count or 0)))
        else:
            pairs.append((step, sum(OPERANDS[c] for c in step)))
    return tuple(pairs)


def is_part(index: str) -> bool:
    """Whether a path leads to the real or imaginary parts of complex numbers.

    >>> is_part(".real;i"), is_part(".reshape:2")
    (True, False)
    """
    return any(step in (".real", ".imag") for step, _ in steps(index))


def subscript(step: str, operands: Iterable[Any]) -> tuple[Any, ...]:
    """Return the NumPy subscript of an index step with these operands.

    >>> subscript("isn", [2, 1, None, None])
    (2, slice(1, None, None), None)
    """
    remaining = iter(operands)
    items: list[Any] = []
    for letter in step:
        own = [next(remaining) for _ in range(OPERANDS[letter])]
        items.append(own[0] if letter == "i" else slice(*own) if letter == "s" else None if letter == "n" else ...)
    return tuple(items)


def is_basic(index: str, types: Sequence[Type]) -> bool:
    """Whether the path consists of ints, slices, None and ellipsis only, so that it is a view."""
    return all(isinstance(t, Scalar) and t.kind == "int" or isinstance(t, Object) for t in _items(index, types))


def has_arrays(index: str, types: Sequence[Type]) -> bool:
    """Whether an integer array occurs, so that one cell may be selected twice."""
    return any(not (isinstance(t, Scalar | Object) or isinstance(t, Array) and t.kind == "bool") for t in _items(index, types))


def _items(index: str, types: Sequence[Type]) -> list[Type]:
    """Types of the operands that are ``i`` items."""
    item_types, at = [], 0
    for step, count in steps(index):
        if not step.startswith("."):
            place = at
            for letter in step:
                if letter == "i":
                    item_types.append(types[place])
                place += OPERANDS[letter]
        at += count
    return item_types


@dataclass(frozen=True, slots=True)
class Asked:
    """The extents that integer operands represent, and the affine sums known to be nonnegative at the op.

    ``plural``: extents that are known not to be 1; ``skipped``: the number of operands before the counted ones.
    """

    extent: Extents
    facts: Sequence[Sum] = ()
    plural: Container[tuple[str, int]] = ()
    skipped: int = 0

    def __call__(self, k: int) -> Extent:
        return self.extent(k + self.skipped)


def after(dim: Extents, skipped: int) -> Asked:
    """The extents of the operands after some."""
    return replace(dim, skipped=dim.skipped + skipped) if isinstance(dim, Asked) else Asked(dim, skipped=skipped)


def slice_extent(n: Extent, bounds: Sequence[Any], known: Asked | None = None) -> Extent:
    """The length of ``range(n)[start:stop:step]``; each bound is None, an int, or the ``Dim`` of a value.

    >>> str(slice_extent(Dim("n"), (1, -1, None)))
    'n-2'
    """
    start, stop, step = bounds
    if step == -1 and start is None and stop is None:
        return n
    if all(b is None or isinstance(b, int) for b in bounds):
        if isinstance(n, int):
            return len(range(n)[slice(start, stop, step)])
        first, last = start or 0, stop
        if step in (None, 1) and first >= 0 and (last is None or last < 0):
            shift = n.offset - first + (last or 0)
            return Dim(n.symbol, shift, n.plural and shift == n.offset)
    if isinstance(n, Dim) and start in (None, 0) and step in (None, 1) and isinstance(stop, Dim):
        if stop.symbol == n.symbol and stop.offset <= n.offset:
            return Dim(n.symbol, stop.offset, n.plural and stop.offset == n.offset)
    if step in (None, 1) and (inside := inner_extent(n, start, stop, known)) is not None:
        return inside
    if isinstance(n, Dim) and n.symbol == "?" or any(isinstance(b, Dim) and b.symbol == "?" for b in bounds):
        return Dim("?")
    plain = str(n).lstrip("!")
    return Dim(f"({'|'.join([plain, *('' if b is None else str(b).lstrip('!') for b in bounds)])})")


def inner_extent(n: Extent, start: Extent | None, stop: Extent | None, known: Asked | None = None) -> Extent | None:
    """The length of a slice whose bounds provably lie within the axis; None where that cannot be proved.

    >>> str(inner_extent(Dim("(4*n)"), Dim("n"), Dim("(3*n)")))
    '(2*n)'
    """
    whole = sum_of(n)
    first = {} if start is None else sum_of(start)
    last = whole if stop is None else sum_of(stop)
    if whole is None or first is None or last is None:
        return None
    length = combined(last, first, -1)
    facts = [] if known is None else known.facts
    if isinstance(n, Dim) and n.offset:
        goals = [whole, first, length, combined(whole, last, -1)]
    else:
        goals, facts = [first, length, combined(whole, last, -1)], [whole, *facts]
    if not all(follows(goal, concerning(goal, facts)) for goal in goals):
        return None
    extent = extent_of(length, isinstance(n, Dim) and n.plural and length == whole)
    if known is not None and isinstance(extent, Dim) and (extent.symbol, extent.offset) in known.plural:
        return replace(extent, plural=True)
    return extent


def concerning(goal: Sum, facts: Sequence[Sum]) -> list[Sum]:
    """The facts about the symbols of a goal, or about symbols that other such facts relate to them, nearest first."""
    related: list[Sum] = []
    symbols = {s for s in goal if s != ONE}
    rest = [f for f in facts if set(f) - {ONE}]
    while len(related) < MOST_FACTS and (near := [f for f in rest if symbols & set(f)]):
        related += [f for f in near if f not in related]
        symbols |= {s for f in near for s in f if s != ONE}
        rest = [f for f in rest if f not in near]
    return related[:MOST_FACTS]


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """Return the broadcast shape, or None if a rank is unknown."""
    if any(s is None for s in shapes):
        return None
    known = [s for s in shapes if s is not None]
    rank = max(map(len, known), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in known]
    return tuple(_broadcast_extent([s[k] for s in padded]) for k in range(rank))


def _broadcast_extent(extents: list[Extent]) -> Extent:
    others = [e for e in extents if e != 1]
    if not others:
        return 1
    numbers = {e for e in others if isinstance(e, int)}
    if len(numbers) > 1:
        said = " and ".join(map(str, sorted(numbers)))
        raise ShapeMismatch(f"extents {said} cannot be broadcast together", hint="compare the shapes of the two")
    for e in others:
        if isinstance(e, int) or e.plural:
            return e
    first = others[0]
    assert isinstance(first, Dim)
    same = all(isinstance(e, Dim) and (e.symbol, e.offset) == (first.symbol, first.offset) and e.symbol != "?" for e in others)
    return first if same else Dim("?")


def index_type(x: Type, index: str, types: Sequence[Type], dim: Extents, copies: bool) -> Type:
    """Return the type of ``x`` indexed by a path; ``dim(k)`` is the extent that the k-th index operand represents.

    ``copies``: the result owns its memory (``take``), else it is a view of ``x``.
    """
    at = 0
    for step, count in steps(index):
        here = list(range(at, at + count))
        x = _method_step(x, step, here, dim) if step.startswith(".") else _index_step(x, step, here, types, dim)
        at += count
    if isinstance(x, Array) and copies:
        return Array(x.dtype, x.shape, "C" if is_basic(index, types) else "?")
    return x


def _method_step(x: Type, step: str, here: list[int], dim: Extents) -> Type:
    if not isinstance(x, Array):
        return UNKNOWN
    if step in (".real", ".imag"):
        return Array(None if x.dtype is None else PARTS.get(x.dtype, x.dtype), x.shape)
    if x.shape is None:
        return Array(x.dtype, None)
    match step:
        case ".T":
            flipped = {"C": "F", "F": "C"}.get(x.layout, x.layout)
            return Array(x.dtype, x.shape[::-1], flipped)  # type: ignore[arg-type]
        case ".transpose" if len(here) == len(x.shape):
            order, rank = [dim(k) for k in here], len(x.shape)
            if all(isinstance(k, int) and -rank <= k < rank for k in order):
                return Array(x.dtype, tuple(x.shape[k] for k in order))  # type: ignore[index]
        case ".reshape" | ".ravel":
            return Array(x.dtype, reshape_extents(x.shape, [-1] if step == ".ravel" else [dim(k) for k in here]), "C")
    return Array(x.dtype, None)


def reshape_extents(shape: Shape, requested: list[Extent]) -> Shape:
    """The requested shape, with -1 replaced by its extent where that is known."""
    if -1 not in requested:
        return tuple(requested)
    rest = list(shape)
    for extent in requested:
        if extent in rest:
            rest.remove(extent)
        elif extent != -1:
            numbers = [e for e in (*shape, *requested) if isinstance(e, int)]
            if len(numbers) == len(shape) + len(requested):
                total, part = 1, 1
                for e in shape:
                    total *= int(e)  # type: ignore[arg-type]
                for e in requested:
                    part *= 1 if e == -1 else int(e)  # type: ignore[arg-type]
                return tuple(total // max(part, 1) if e == -1 else e for e in requested)
            return tuple(Dim("?") if e == -1 else e for e in requested)
    left: Extent = 1
    if len(rest) == 1:
        left = rest[0]
    elif all(isinstance(e, int) for e in rest):
        for e in rest:
            left = int(left) * int(e)  # type: ignore[arg-type]
    elif rest:
        left = Dim(f"({'*'.join(str(e).lstrip('!') for e in rest)})")
    return tuple(left if e == -1 else e for e in requested)


def _index_step(x: Type, step: str, here: list[int], types: Sequence[Type], dim: Extents) -> Type:
    if not isinstance(x, Array):
        return UNKNOWN
    items: list[tuple[str, list[int]]] = []
    at = 0
    for letter in step:
        items.append((letter, here[at : at + OPERANDS[letter]]))
        at += OPERANDS[letter]
    parts = [types[where[0]] for letter, where in items if letter == "i"]
    if any(not t.is_number for t in parts):
        return Array(x.dtype, None)
    arrays = [t for t in parts if isinstance(t, Array) or _is_mask(t)]
    if x.shape is None or any(isinstance(t, Array) and t.shape is None for t in arrays):
        return Array(x.dtype, None)
    taken = sum(_axes_taken(t) for t in parts) + step.count("s")
    if taken > len(x.shape):
        return Array(x.dtype, None)
    if "e" not in step:
        items.append(("e", []))
    middle = len(x.shape) - taken
    out: list[Extent] = []
    index_shapes: list[Shape] = []
    first: int | None = None
    split, previous = False, False
    axis = 0
    for letter, where in items:
        advanced = letter == "i" and bool(arrays)
        if advanced:
            split = split or (first is not None and not previous)
            first = len(out) if first is None else first
        previous = advanced if letter != "e" or middle or advanced else previous
        match letter:
            case "e":
                out += x.shape[axis : axis + middle]
                axis += middle
            case "n":
                out.append(1)
            case "s":
                bounds = [None if isinstance(types[k], Object) else dim(k) for k in where]
                out.append(slice_extent(x.shape[axis], bounds, dim if isinstance(dim, Asked) else None))
                axis += 1
            case "i":
                item = types[where[0]]
                if _is_mask(item):
                    index_shapes.append((Dim("?"),))
                elif isinstance(item, Array) and item.shape is not None:
                    index_shapes.append(item.shape)
                axis += _axes_taken(item)
    if arrays:
        shape = broadcast(index_shapes)
        if shape is None or first is None:
            return Array(x.dtype, None)
        place = 0 if split else first
        out[place:place] = shape
    if not out and "e" not in step:
        return Scalar(kind_of(x.dtype), x.dtype) if x.dtype else UNKNOWN
    return Array(x.dtype, tuple(out))


def _is_mask(item: Type) -> bool:
    """Whether the item is a bool or an array of bools. A bool is a mask without axes."""
    return isinstance(item, Scalar | Array) and item.kind == "bool"


def _axes_taken(item: Type) -> int:
    """Return the number of axes that an index item consumes: the rank of a mask, else one."""
    return len(getattr(item, "shape", ())) if _is_mask(item) else 1
