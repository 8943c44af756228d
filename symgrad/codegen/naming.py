"""Variable assignment: gives every value that is not nested a Python variable.

Values that must share a variable (stores, loop slots) are joined first. Then values whose joining saves an assignment are joined, where
lifetimes allow. Last, each class takes the user's name if that is free during its lifetime. A ``Register`` records which names are in
use when, and finds free ones.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from symgrad.codegen.describing import described
from symgrad.codegen.layout import Layout, preferred_name
from symgrad.codegen.lifetimes import Lifetimes, Stretch
from symgrad.identity import DisjointSets
from symgrad.ir.core import Block, Call, For, Func, If, Operand, Value, While, walk
from symgrad.ops.declare import ROWS
from symgrad.text import identifier


@dataclass(slots=True)
class Timeline:
    """The numbers in use at each moment: a segment tree over time, with sets as bits.

    The node above ``k`` is ``k // 2`` and covers twice the time; the leaf of moment ``t`` is ``t + size``.
    """

    size: int  #: a power of two, not less than the number of moments
    throughout: dict[int, int] = field(default_factory=dict)  #: for each node, the numbers in use at all its moments
    sometime: dict[int, int] = field(default_factory=dict)  #: for each node, the numbers in use at some of its moments

    def nodes(self, start: int, end: int) -> Iterator[int]:
        """The few nodes that together cover an interval."""
        left, right = start + self.size, end + self.size
        while left < right:
            if left & 1:
                yield left
            if right & 1:
                yield right - 1
            left, right = (left + 1) >> 1, right >> 1

    def use(self, number: int, stretches: list[Stretch]) -> None:
        """Record that the number is in use during the intervals."""
        bit = 1 << number
        for start, end in stretches:
            for node in self.nodes(start, end):
                self.throughout[node] = self.throughout.get(node, 0) | bit
                while node and not (known := self.sometime.get(node, 0)) & bit:
                    self.sometime[node] = known | bit
                    node >>= 1

    def used(self, stretches: list[Stretch]) -> int:
        """The numbers in use at some moment of the intervals, as bits."""
        bits = 0
        for start, end in stretches if self.sometime else ():
            for node in self.nodes(start, end):
                bits |= self.sometime.get(node, 0)
            for node in (start + self.size, end - 1 + self.size):
                while node:
                    bits |= self.throughout.get(node, 0)
                    node >>= 1
        return bits


def numbered(base: str, k: int) -> str:
    """The k-th name like ``base``.

    >>> numbered("x", 0), numbered("x", 2)
    ('x', 'x_2')
    """
    return f"{base}_{k}" if k else base


@dataclass(slots=True)
class Register:
    """Which names are in use when."""

    bases: set[str]  #: the stems of names
    moments: int
    most: int  #: the largest number that a name needs
    timelines: dict[str, Timeline] = field(default_factory=dict)

    def timeline(self, base: str) -> Timeline:
        """The timeline of the names like ``base``."""
        if base not in self.timelines:
            self.timelines[base] = Timeline(1 << self.moments.bit_length())
        return self.timelines[base]

    def use(self, name: str, stretches: list[Stretch]) -> None:
        """Record that a name is in use; the stem of ``x_2`` may be ``x`` or ``x_2`` itself."""
        if name in self.bases:
            self.timeline(name).use(0, stretches)
        base, _, digits = name.rpartition("_")
        if (
            base in self.bases
            and digits.isascii()
            and digits.isdecimal()
            and digits[0] != "0"
            and len(digits) < 10
            and int(digits) <= self.most
        ):
            self.timeline(base).use(int(digits), stretches)

    def free(self, base: str, stretches: list[Stretch]) -> Iterator[str]:
        """The names like ``base`` that are free during all the intervals, the shortest first."""
        used = self.timeline(base).used(stretches)
        while True:
            bit = ~used & (used + 1)
            yield numbered(base, bit.bit_length() - 1)
            used |= bit


class Occupied:
    """Sorted, disjoint time intervals, with an overlap test."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Stretch] = ()) -> None:
        self.items: list[Stretch] = sorted(items)

    def overlaps(self, other: Occupied) -> bool:
        """Whether two sets overlap."""
        few, many = (self.items, other.items) if len(self.items) <= len(other.items) else (other.items, self.items)
        for start, end in few:
            k = bisect_left(many, (start, start))
            if k < len(many) and many[k][0] < end or k and many[k - 1][1] > start:
                return True
        return False

    def take(self, other: Occupied) -> None:
        """Add the intervals of another set; adjacent ones are merged."""
        few, many = (self.items, other.items) if len(self.items) <= len(other.items) else (other.items, self.items)
        for start, end in few:
            k = bisect_left(many, (start, start))
            if k and many[k - 1][1] >= start:
                k -= 1
            last = k
            while last < len(many) and many[last][0] <= end:
                start, end = min(start, many[last][0]), max(end, many[last][1])
                last += 1
            many[k:last] = [(start, end)]
        self.items = many


@dataclass(slots=True)
class Classes(DisjointSets[Value]):
    """Sets of values that share a variable."""

    occupied: dict[Value, Occupied] = field(default_factory=dict)
    hints: dict[Value, Counter[str]] = field(default_factory=dict)
    wishes: dict[Value, list[Value]] = field(default_factory=dict)

    def stretches(self, root: Value) -> list[Stretch]:
        """The lifetime of the variable of a class."""
        return self.occupied[root].items

    def join(self, a: Value, b: Value) -> None:
        """Let two values share a variable."""
        a, b = self.find(a), self.find(b)
        if self.unite(a, b):
            self.occupied[a].take(self.occupied.pop(b))
            self.hints[a].update(self.hints.pop(b))

    def try_join(self, a: Value, b: Value, loose: bool) -> None:
        """Let two values share a variable if their lifetimes allow, and (unless ``loose``) the user's names agree."""
        a, b = self.find(a), self.find(b)
        if a is b or self.occupied[a].overlaps(self.occupied[b]):
            return
        mine, theirs = self.hints[a], self.hints[b]
        if loose or not mine or not theirs or mine.keys() & theirs.keys():
            self.join(a, b)


def variables(block: Block, layout: Layout) -> Iterator[Value]:
    """Every value of a block tree that needs a variable, in order."""
    yield from block.args
    for op in block.ops:
        for inner in op.blocks:
            yield from variables(inner, layout)
        yield from (out for out in op.outs if out not in layout.nested)


def forced(block: Block, layout: Layout) -> Iterator[tuple[Value, Value]]:
    """Pairs that must share a variable: operands changed in place, and the slots of loops."""
    for op in block.ops:
        match op:
            case Call():
                if ROWS[op.name].consumes and op.outs and isinstance(op.args[0], Value):
                    yield op.args[0], op.outs[0]
            case For():
                yield from zip(op.outs, op.carried, strict=False)
            case While():
                yield from zip(op.outs, op.carried, strict=False)
                yield from zip(op.carried, op.test.args, strict=True)
        for inner in op.blocks:
            yield from forced(inner, layout)


def wished(block: Block, layout: Layout) -> Iterator[tuple[Value, Value, bool]]:
    """Pairs of values whose sharing saves an assignment; True where the second is computed only for the first."""
    for op in block.ops:
        for inner in op.blocks:
            yield from wished(inner, layout)
        slots: list[tuple[list[Value], list[Operand], bool]] = []
        match op:
            case For():
                slots = [(op.carried, op.body.yields, True), (op.carried, op.inits, False)]
            case While():
                slots = [(op.carried, op.body.yields, True), (op.carried, op.inits, False)]
            case If():
                slots = [(op.outs, op.then.yields, True), (op.outs, op.orelse.yields, True)]
        for targets, operands, here in slots:
            for target, operand in zip(targets, operands, strict=False):
                if isinstance(operand, Value) and operand not in layout.nested and target not in layout.nested:
                    producer = layout.producer.get(operand)
                    once = here and layout.count.get(operand) == 1 and producer in layout.backward
                    yield target, operand, once


def names_of_memory(block: Block, layout: Layout, known: dict[Value, str]) -> dict[Value, str]:
    """The preferred name, or None, of memory changed in place: the first name that the memory has in the same half."""
    for op in block.ops:
        if isinstance(op, Call) and ROWS[op.name].consumes and op.outs and isinstance(op.args[0], Value):
            out, buffer = op.outs[0], op.args[0]
            first = known.get(buffer, preferred_name(buffer.name) if buffer.name else "")
            maker = layout.producer.get(buffer)
            if first or maker is not None and op in layout.backward and maker not in layout.backward:
                known[out] = first
        for inner in op.blocks:
            names_of_memory(inner, layout, known)
    return known


def classes_of(func: Func, layout: Layout, kept: Iterable[Value]) -> tuple[Classes, int]:
    """The classes of values that must or may share a variable; and the number of time steps."""
    lifetimes = Lifetimes(layout)
    lifetimes.function(func, kept)
    now = lifetimes.clock  # the first time step; from here on time runs forwards from 0
    classes = Classes()
    slots = {v for op in walk(func.body) if op.blocks for v in op.outs}
    counters = {op.outs[-1] for op in walk(func.body) if isinstance(op, For | While) and len(op.outs) > len(op.carried)}
    named = names_of_memory(func.body, layout, {})
    for value in variables(func.body, layout):
        if value not in classes.occupied:
            classes.occupied[value] = Occupied((start - now, end - now) for start, end in lifetimes.stretches.get(value, ()))
            name = named.get(value, preferred_name(value.name)) if value.name else "rounds" if value in counters else ""
            if name == "_" and layout.count.get(value):
                name = ""  # a value that is read needs a name other than ``_``
            classes.hints[value] = Counter({name: 3 if value in slots else 1} if name else {})
    for a, b in forced(func.body, layout):
        classes.join(a, b)
    wishes = list(wished(func.body, layout))
    alike = [w for w in wishes if w[0].name == w[1].name and w[0].name is not None]
    for a, b, loose in [*alike, *wishes]:
        classes.try_join(a, b, loose)
    for a, b, _ in wishes:
        classes.wishes.setdefault(classes.find(a), []).append(b)
        classes.wishes.setdefault(classes.find(b), []).append(a)
    return classes, 1 - now


def assign_names(
    func: Func, layout: Layout, fixed: dict[Value, str], reserved: set[str], again: bool = False, is_read: bool = False
) -> dict[Value, str]:
    """The variable of each value; ``fixed`` are the parameters named by the signature.

    ``reserved`` names are used by nothing else. ``again``: the parameters may be passed on at any time, so
    nothing reuses their names. In text that ``is_read``, unnamed values get descriptive names.
    """
    classes, moments = classes_of(func, layout, fixed if again else ())
    everyone = list(variables(func.body, layout))
    roots = {value: classes.find(value) for value in everyone}
    indices = {roots[op.index] for op in walk(func.body) if isinstance(op, For)}
    returned = {roots[value] for value in func.body.yields if isinstance(value, Value) and value in roots}
    if is_read:
        name_gradients(func, classes, roots)

    def base(root: Value) -> str:
        if not is_read or root in indices:
            return identifier(preferred(classes, root, "i" if root in indices else "t"))
        return identifier(preferred(classes, root, "value" if root in returned else described(root, layout.producer)))

    bases = {root: base(root) for root in dict.fromkeys(roots.values())}
    register = Register(set(bases.values()), moments, 2 * len(bases) + len(reserved))
    name_of: dict[Value, str] = {}
    for value, name in fixed.items():
        name_of[roots[value]] = name
        register.use(name, classes.stretches(roots[value]))
    kept = reserved.difference(fixed.values())
    # named classes choose first, and no temporary reuses the user's ``t``, even after its last use
    for named in (True, False):
        for root in bases:
            if root not in name_of and bool(classes.hints[root]) is named:
                name_of[root] = next(name for name in register.free(bases[root], classes.stretches(root)) if name not in kept)
                register.use(name_of[root], classes.stretches(root))
        kept = kept.union(name_of.values())
    return {value: name_of[root] for value, root in roots.items()}


def name_gradients(func: Func, classes: Classes, roots: dict[Value, Value]) -> None:
    """Name the gradients that a function returns for its parameters, unless they are cotangents of other variables of the user's."""
    users = {value.name for value in roots if value.name}
    for value, name in zip(func.body.yields, func.results, strict=False):
        root = roots.get(value) if isinstance(value, Value) else None
        if root is not None and name.endswith("_grad") and users.isdisjoint(h.removesuffix("_grad") for h in classes.hints[root]):
            classes.hints[root] = Counter({name: 1})


def distinct_names(func: Func, layout: Layout, fixed: dict[Value, str], reserved: set[str]) -> dict[Value, str]:
    """A variable for each value, shared only where required, with a meaningless name: for text that is never read."""
    classes: DisjointSets[Value] = DisjointSets()
    for a, b in forced(func.body, layout):
        classes.unite(a, b)
    name_of = {classes.find(value): name for value, name in fixed.items()}
    free = (name for k in itertools.count() if (name := f"v{k}") not in reserved and name not in fixed.values())
    for value in variables(func.body, layout):
        root = classes.find(value)
        if root not in name_of:
            name_of[root] = next(free)
    return {value: name_of[classes.find(value)] for value in variables(func.body, layout)}


def preferred(classes: Classes, root: Value, otherwise: str) -> str:
    """The preferred name of a class: its own, or that of a class it is assigned to or from."""
    if classes.hints[root]:
        return classes.hints[root].most_common(1)[0][0]
    for other in classes.wishes.get(root, []):
        hints = classes.hints[classes.find(other)]
        if hints:
            return hints.most_common(1)[0][0]
    return otherwise


__all__ = ["assign_names", "distinct_names"]
