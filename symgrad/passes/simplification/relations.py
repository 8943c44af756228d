"""Extent equations: relations between the arguments' extents that would make the program's shapes known.

In ``x * w[:n]`` the slice is inside ``w`` and is as long as ``x`` if ``w.shape[0]`` is large enough and ``n`` is ``x.shape[0]``:
nothing else is likely. Such equations are collected where types leave broadcasting or a loop-carried shape open, and solved for extents
of the arguments. The caller can test whether they hold, and have the function specialised for them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from symgrad.ir.core import Call, For, Func, If, Op, While, walk
from symgrad.ir.sums import ONE, Sum, combined, expression, sum_of
from symgrad.ir.types import Array, Dim, Extent, Shape, Type, is_plural, same_extent
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS

SMALL = 9  #: the maximum number of elements of an array that may become separate numbers


def relations(func: Func, words: Mapping[str, str]) -> list[str]:
    """Expressions that make more shapes known if they are 0; ``words`` maps the usable symbols to expressions."""
    equations: list[Equation] = []
    looped = {op for loop in walk(func.body) if isinstance(loop, For | While) for block in loop.blocks for op in walk(block)}
    for op in walk(func.body):
        op_equations = list(equations_of(op))
        for equation in op_equations if op in looped else []:
            equation.needed |= is_small(equation.total)
        equations += op_equations
    return [expression(row, words) for row in solved(connected(equations), words)]


@dataclass(slots=True)
class Equation:
    """A linear combination that is 0 in the likely case; ``needed`` if types leave it open and it matters."""

    total: Sum
    needed: bool

    @property
    def symbols(self) -> list[Hashable]:
        return [s for s in self.total if s != ONE]


def is_small(total: Sum) -> bool:
    """Whether the equation fixes one extent to a small number, so that loops compute on numbers."""
    rest = [symbol for symbol in total if symbol != ONE]
    return len(rest) == 1 and abs(total[rest[0]]) == 1 and 0 < abs(total.get(ONE, 0)) <= SMALL


# ------------------------------------------------------------------ equations


def equations_of(op: Op) -> Iterator[Equation]:
    """The equations that hold in the likely case of an op."""
    match op:
        case Call(name=name) if ROWS[name].elementwise and op.outs and isinstance(op.outs[0].type, Array):
            result = op.outs[0].type.shape
            shapes = [a.type.shape for a in op.args if isinstance(a.type, Array)]
            if result is not None:
                yield from stretched(result, [s for s in shapes if s is not None])
        case Call(name="set_at" | "add_at", args=[array, value, *path]) if isinstance(value.type, Array):
            part = ROWS["take"].law([array.type, *(o.type for o in path)], {"index": op.settings["index"]}, Builder().asked([array, *path]))
            if isinstance(part, Array) and part.shape and value.type.shape and len(part.shape) == len(value.type.shape):
                yield from stretched(part.shape, [part.shape, value.type.shape], True)
        case For() | While():
            for init, last in zip(op.inits, op.body.yields, strict=False):
                yield from joined(init.type, last.type)
        case If():
            for one, other in zip(op.then.yields, op.orelse.yields, strict=True):
                yield from joined(one.type, other.type)


def stretched(result: Shape, shapes: list[Shape], is_stored: bool = False) -> Iterator[Equation]:
    """Operands have one shape except for extents of 1; for ``is_stored`` every unknown extent matters."""
    for place, whole in enumerate(reversed(result), 1):
        extents = [s[-place] for s in shapes if len(s) >= place and s[-place] != 1]
        needed = is_stored or any(not is_plural(e) and not same_extent(whole, e) for e in extents)
        for other in extents[1:]:
            yield from equal(extents[0], other, needed)


def joined(one: Type, other: Type) -> Iterator[Equation]:
    """Both sides of a join have one shape."""
    if isinstance(one, Array) and isinstance(other, Array) and one.shape and other.shape and len(one.shape) == len(other.shape):
        for a, b in zip(one.shape, other.shape, strict=True):
            yield from equal(a, b, True)


def equal(a: Extent, b: Extent, needed: bool) -> Iterator[Equation]:
    """The equation of two extents, unless it is known already."""
    if not same_extent(a, b):
        one, other = supposed(a), supposed(b)
        if one is not None and other is not None:
            yield Equation(combined(one, other, -1), needed)


def supposed(extent: Extent) -> Sum | None:
    """An extent as a linear combination, assuming that no slice exceeds its axis."""
    terms = sum_of(extent)
    if terms is None:
        return None
    total: Sum = {}
    for symbol, count in terms.items():
        inside = None if symbol == ONE else length(str(symbol))
        total = combined(total, {symbol: 1} if inside is None else inside, count)
    return total


def length(symbol: str) -> Sum | None:
    """``(n|start|stop|)`` is ``stop - start``; None for a symbol other than a slice of step 1."""
    parts = split(symbol[1:-1]) if symbol.startswith("(") else []
    if len(parts) != 4 or parts[3] not in ("", "1"):
        return None
    whole, start, stop = (read(part) for part in parts[:3])
    last = stop if parts[2] else whole
    first = start if parts[1] else {}
    return None if last is None or first is None else combined(last, first, -1)


def split(text: str) -> list[str]:
    """The parts of a slice's symbol.

    >>> split("(x0||n|)|2||")
    ['(x0||n|)', '2', '', '']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def read(text: str) -> Sum | None:
    """Parse an extent or a bound inside a symbol."""
    place = max(text.rfind("+"), text.rfind("-"))
    if text.lstrip("-").isdigit():
        return None if text.startswith("-") else sum_of(int(text))
    if place > max(text.rfind(")"), 0):
        return supposed(Dim(text[:place], int(text[place:])))
    return supposed(Dim(text)) if text else None


# ------------------------------------------------------------------ solving


def connected(equations: list[Equation]) -> list[Sum]:
    """The equations that share symbols, directly or transitively, with a needed one."""
    groups: dict[Hashable, dict[Hashable, None]] = {}
    for equation in equations:
        together = {other: None for s in equation.symbols for other in groups.get(s, (s,))}
        groups |= dict.fromkeys(together, together)
    needed = set().union(*(groups[s] for e in equations if e.needed for s in e.symbols))
    return [e.total for e in equations if needed.intersection(e.symbols)]


@dataclass(slots=True)
class System:
    """A linear system during elimination: each of ``rows`` defines its first symbol, which occurs in no other row."""

    open: list[Sum]
    rows: list[Sum] = field(default_factory=list)

    def solve(self, row: Sum, pivot: Hashable) -> None:
        """Solve an equation for a symbol and substitute the solution everywhere."""
        self.open.remove(row)
        row = combined({}, row, row[pivot])  # the factor is 1 or -1
        row = {pivot: 1, **row}
        self.open = [reduced for r in self.open if (reduced := combined(r, row, -r.get(pivot, 0)))]
        self.rows = [{next(iter(r)): 1, **combined(r, row, -r.get(pivot, 0))} for r in self.rows]
        self.rows.append(row)


def solved(totals: list[Sum], words: Mapping[str, str]) -> list[Sum]:
    """Equations in the symbols of ``words`` alone, each beginning with a symbol that occurs in no other."""
    order = {symbol: place for place, symbol in enumerate(words)}
    system = System([t for t in totals if t])
    for inner in (True, False):
        while choices := [
            (0 if inner else cost(row, pivot), -order.get(str(pivot), 0), number, pivot)
            for number, row in enumerate(system.open)
            for pivot, count in row.items()
            if pivot != ONE and abs(count) == 1 and inner is (pivot not in order) and (inner or stated(row, order))
        ]:
            _, _, number, pivot = min(choices, key=lambda choice: choice[:3])
            system.solve(system.open[number], pivot)
    return [row for row in system.rows if stated(row, order)]


def stated(row: Sum, order: Mapping[str, int]) -> bool:
    """Whether a row has only symbols of the arguments."""
    return all(s in order or s == ONE for s in row)


def cost(row: Sum, pivot: Hashable) -> int:
    """How unusual the extent that a row defines looks: by the number of subtractions."""
    return sum(count * row[pivot] > 0 for symbol, count in row.items() if symbol != pivot)
