"""Builder of loop code: scalar ops at an insertion point, loop nests, stores.

Its output is not yet in SSA form. An array or a running number is a ``handle`` for its current content, and a
store (``set_at``, ``add_at``, ``let``) has no result. ``versions.py`` gives every store its version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

import symgrad.ops.rows.kernel  # noqa: F401  (its rows are used here)
from symgrad.ir.core import ONE, ZERO, Block, Call, Const, For, If, Op, Operand, Value, key_of
from symgrad.ir.types import INT, Array, Scalar, kind_of
from symgrad.location import NOWHERE, Loc
from symgrad.loops.reach import OutOfReach, check_integers
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS

Key = tuple[Any, ...]
SMALL, LARGEST = 31, 62  #: bits of integers known at entry, and of integers whose operations never overflow
FLOAT_BITS = 53  #: bits of the integers that floats represent exactly
#: the number of bits of a row's result, from those of the operands
BOUNDED: dict[str, Callable[..., int]] = {
    "add": lambda a, b: max(a, b) + 1,
    "subtract": lambda a, b: max(a, b) + 1,
    "multiply": lambda a, b: a + b,
    "floor_divide": lambda a, b: a + 1,
    "negative": lambda a: a,
    "maximum": max,
    "minimum": max,
}
INDEX_NAMES = ("%i", "%j", "%k", "%l", "%m", "%n")


def number(operand: Operand) -> int | None:
    """The integer of a constant, or None."""
    value = operand.value if isinstance(operand, Const) else None
    return value if type(value) is int else None


@dataclass(slots=True)
class Scope:
    """A block under construction: the integers computed in it, and the extents known to be equal in it.

    ``kind``: "body" of a function, "branch", or "loop" (also for trial blocks).
    """

    block: Block
    kind: Literal["body", "branch", "loop"] = "loop"
    known: dict[Key, Value] = field(default_factory=dict)
    equal: dict[Any, Operand] = field(default_factory=dict)


@dataclass(slots=True)
class Range:
    """The range of a loop's index: from ``start`` to ``stop``, exclusive."""

    start: Operand
    stop: Operand


class Writer:
    """The insertion point, the values computed so far, and the loops around."""

    def __init__(self) -> None:
        self.build = Builder()
        self.entry = Block()  #: ops computed before all others, from the arguments alone
        self.fixed: set[Value] = set()  #: values known at entry
        self.scopes = [Scope(self.entry, "body"), Scope(Block(), "body")]
        self.build.block = self.scopes[1].block
        self.maker: dict[Value, Call] = {}
        self.ranges: dict[Value, Range] = {}
        self.nests: set[Op] = set()  #: loops that implement array statements, which may be fused
        self.scratch: dict[Value, list[Op]] = {}  #: for each array the loops between whose iterations its content does not survive

    def beside(self) -> Writer:
        """A writer for another place of the function: it shares definitions, but no computed values."""
        writer = Writer()
        writer.maker, writer.ranges, writer.nests, writer.scratch = self.maker, self.ranges, self.nests, self.scratch
        writer.build.extents, writer.build.fresh, writer.build.taken = self.build.extents, self.build.fresh, self.build.taken
        return writer

    # -------------------------------------------------------------- insertion points

    @property
    def loc(self) -> Loc:
        return self.build.loc

    @contextmanager
    def inside(self, block: Block, kind: Literal["branch", "loop"] = "loop") -> Iterator[Block]:
        """Emit into a block for the duration of a ``with``."""
        self.scopes.append(Scope(block, kind))
        try:
            with self.build.inside(block):
                yield block
        finally:
            self.scopes.pop()

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """Emit into the entry for the duration of a ``with``."""
        with self.build.inside(self.entry), self.build.at(NOWHERE):
            yield

    @contextmanager
    def for_checks(self) -> Iterator[Scope]:
        """Emit checks of values known at entry: into the entry, or an enclosing branch outside of loops.

        A check inside such a branch does not apply to calls that take the other side.
        """
        once = list(takewhile(lambda scope: scope.kind != "loop", self.scopes))
        branch = next((scope for scope in reversed(once) if scope.kind == "branch"), None)
        if branch is None:
            with self.at_entry():
                yield self.scopes[0]
        elif branch is self.scopes[-1]:
            yield branch
        else:
            with self.build.inside(branch.block):
                yield branch

    def is_fixed(self, operand: Operand) -> bool:
        """Whether the operand is known at entry."""
        return isinstance(operand, Const) or operand in self.fixed

    # -------------------------------------------------------------- scalars

    def call(self, name: str, *args: Operand, hint: str | None = None, **settings: Any) -> Value:
        """Emit one op with one result."""
        value = self.build.call(name, *args, hint=hint, **settings)
        if ROWS[name].elementwise:
            check_integers(name, value.type, self.loc)
        op = self.build.block.ops[-1]
        assert isinstance(op, Call)
        self.maker[value] = op
        return value

    def pure(self, name: str, *args: Operand, hint: str | None = None, **settings: Any) -> Value:
        """A number computed once; in the entry if possible."""
        key = (name, tuple(map(key_of, args)), tuple(settings.items()))
        for scope in reversed(self.scopes):
            if key in scope.known:
                return scope.known[key]
        if all(map(self.is_fixed, args)):
            with self.at_entry():
                value = self.call(name, *args, hint=hint, **settings)
            self.fixed.add(value)
            self.scopes[0].known[key] = value
        else:
            value = self.call(name, *args, hint=hint, **settings)
            self.scopes[-1].known[key] = value
        return value

    def add(self, a: Operand, b: Operand) -> Operand:
        """``a + b`` of integers, with literals moved to the end."""
        m, n = number(a), number(b)
        if m is not None and n is not None:
            return Const(m + n)
        if m is not None:
            a, b, m, n = b, a, n, m
        if n == 0:
            return a
        base, shift = self.split(a)
        if n is not None and shift:
            return self.add(base, Const(shift + n))
        if n is not None and n < 0:
            return self.pure("subtract", a, Const(-n), via=None)
        return self.pure("add", a, b, via=None)

    def subtract(self, a: Operand, b: Operand) -> Operand:
        """``a - b`` of integers."""
        n = number(b)
        if n is not None:
            return self.add(a, Const(-n))
        (p, s), (q, t) = self.split(a), self.split(b)
        if key_of(p) == key_of(q):
            return Const(s - t)
        return self.pure("subtract", a, b, via=None)

    def multiply(self, a: Operand, b: Operand) -> Operand:
        """``a * b`` of integers."""
        m, n = number(a), number(b)
        if m is not None and n is not None:
            return Const(m * n)
        if 0 in (m, n):
            return ZERO
        if m == 1 or n == 1:
            return b if m == 1 else a
        if n == -1 or m == -1:
            return self.pure("negative", a if n == -1 else b)
        return self.pure("multiply", a, b, via=None)

    def split(self, operand: Operand) -> tuple[Operand, int]:
        """Split an integer into a base and a literal added to it."""
        if isinstance(operand, Const):
            return (ZERO, n) if (n := number(operand)) is not None else (operand, 0)
        op = self.maker.get(operand)
        if op is not None and op.name in ("add", "subtract") and op.settings.get("via") is None:
            n = number(op.args[1])
            if n is not None:
                base, shift = self.split(op.args[0])
                return base, shift + (n if op.name == "add" else -n)
            m = number(op.args[0])
            if m is not None and op.name == "add":
                base, shift = self.split(op.args[1])
                return base, shift + m
        return operand, 0

    def larger(self, a: Operand, b: Operand) -> Operand:
        """The larger of two integers."""
        if self.at_most(b, a):
            return a
        return b if self.at_most(a, b) else self.pure("maximum", a, b, via="math")

    def smaller(self, a: Operand, b: Operand) -> Operand:
        """The smaller of two integers."""
        if self.at_most(a, b):
            return a
        return b if self.at_most(b, a) else self.pure("minimum", a, b, via="math")

    # -------------------------------------------------------------- facts about integers

    def without_cast(self, operand: Operand) -> Operand:
        """The operand of a cast to NumPy's 64-bit integer; other operands as they are."""
        op = self.maker.get(operand) if isinstance(operand, Value) else None
        if op is not None and op.name == "cast" and op.settings["dtype"] == "i64" and getattr(op.args[0].type, "kind", "") == "int":
            return op.args[0]
        return operand

    def at_most(self, a: Operand, b: Operand, slack: int = 0, depth: int = 6) -> bool:
        """Whether ``a <= b + slack`` is proved."""
        (p, s), (q, t) = self.split(self.without_cast(self.same(a))), self.split(self.without_cast(self.same(b)))
        room = slack + t - s  # to prove: p <= q + room
        if key_of(self.same(p)) == key_of(self.same(q)):
            return room >= 0
        if depth == 0:
            return False
        m = number(p)
        if m is not None and isinstance(q, Value) and m - room <= 0 and self.is_count(q):
            return True
        if isinstance(p, Value) and p in self.ranges and self.at_most(self.ranges[p].stop, q, room + 1, depth - 1):
            return True
        if isinstance(q, Value) and q in self.ranges and self.at_most(p, self.ranges[q].start, room, depth - 1):
            return True
        op = self.maker.get(p) if isinstance(p, Value) else None
        if op is not None and op.name == "multiply" and self.whole_part(op.args[0], op.args[1], q, room, depth):
            return True
        if op is not None and op.name == "minimum" and any(self.at_most(x, q, room, depth - 1) for x in op.args):
            return True
        if op is not None and op.name == "maximum" and all(self.at_most(x, q, room, depth - 1) for x in op.args):
            return True
        op = self.maker.get(q) if isinstance(q, Value) else None
        if op is not None and op.name == "maximum" and any(self.at_most(p, x, room, depth - 1) for x in op.args):
            return True
        if op is not None and op.name == "minimum" and all(self.at_most(p, x, room, depth - 1) for x in op.args):
            return True
        if m is not None and op is not None and m <= room and op.name in ("add", "multiply", "floor_divide"):
            return all(self.at_most(ZERO, x, 0, depth - 1) for x in op.args)
        return False

    def whole_part(self, a: Operand, b: Operand, most: Operand, room: int, depth: int) -> bool:
        """Whether ``a * b <= most + room``, where one is a literal and the other the index of a loop up to a quotient by that literal."""
        for literal, index in ((number(a), b), (number(b), a)):
            if literal is not None and literal > 0 and isinstance(index, Value) and index in self.ranges:
                stop = self.ranges[index].stop
                op = self.maker.get(stop) if isinstance(stop, Value) else None
                if op is not None and op.name == "floor_divide" and number(op.args[1]) == literal:
                    return self.at_most(op.args[0], most, room + literal, depth - 1)
        return False

    def is_count(self, operand: Operand) -> bool:
        """Whether the operand is an extent, so that it is not negative."""
        op = self.maker.get(operand) if isinstance(operand, Value) else None
        return op is not None and op.name in ("extent", "size", "list_len", "range_len")

    def stays_small(self, name: str, args: Sequence[Operand]) -> bool:
        """Whether the result has at most 62 bits if the integers known at entry have at most 31.

        Their sizes are then checked there.
        """
        leaves: dict[Value, None] = {}
        sizes = [s for a in args if (s := self.bits(a, leaves)) is not None]
        if len(sizes) < len(args) or BOUNDED[name](*sizes) > LARGEST:
            return False
        self.check_small(leaves)
        return True

    def is_short(self, operand: Operand) -> bool:
        """Whether an integer fits a float's 53 bits if the integers known at entry have at most 31 bits, which is then checked there."""
        leaves: dict[Value, None] = {}
        size = self.bits(operand, leaves)
        if size is None or size > FLOAT_BITS:
            return False
        self.check_small(leaves)
        return True

    def check_small(self, leaves: Iterable[Value]) -> None:
        """Check that integers known at entry have at most 31 bits."""
        for leaf in leaves:
            self.check("check_less", leaf, Const(2**SMALL))
            if not self.is_count(leaf):
                self.check("check_at_least", leaf, Const(-(2**SMALL)))

    def is_checked_small(self, leaf: Value) -> bool:
        """Whether an integer has been checked to have at most 31 bits."""
        keys = [("check_less", (key_of(leaf), key_of(Const(2**SMALL)))), ("check_at_least", (key_of(leaf), key_of(Const(-(2**SMALL)))))]
        return all(any(key in scope.known for scope in self.scopes) for key in keys)

    def bits(self, operand: Operand, leaves: dict[Value, None], depth: int = 8) -> int | None:
        """The maximum bits of an integer; ``leaves`` collects the integers known at entry that it depends on."""
        if isinstance(operand, Const):
            return int(operand.value).bit_length()
        op = self.maker.get(operand)
        name, parts = ("", []) if op is None else (op.name, op.args)
        if operand in self.ranges:
            name, parts = "maximum", [self.ranges[operand].start, self.ranges[operand].stop]
        if name in BOUNDED and depth:
            sizes = [s for p in parts if (s := self.bits(p, leaves, depth - 1)) is not None]
            return None if len(sizes) < len(parts) else BOUNDED[name](*sizes)
        if operand not in self.fixed:
            return None
        leaves[operand] = None
        return SMALL

    # -------------------------------------------------------------- extents

    def same(self, operand: Operand) -> Operand:
        """The representative of the operands known to be equal to this one."""
        for scope in reversed(self.scopes):
            equal = scope.equal.get(key_of(operand))
            if equal is not None:
                return self.same(equal)
        return operand

    def require_equal(self, a: Operand, b: Operand) -> Operand:
        """One of two extents, after a check that they are equal."""
        a, b = self.same(a), self.same(b)
        if key_of(a) == key_of(b):
            return a
        if number(a) is not None and number(b) is not None:
            raise OutOfReach("shapes that do not fit", self.loc)
        if isinstance(a, Const):
            a, b = b, a
        if self.is_fixed(a) and self.is_fixed(b):
            with self.for_checks() as scope:
                self.build.call_many("check_equal", a, b)
            scope.equal[key_of(a)] = b
        else:
            if self.is_fixed(a):
                a, b = b, a
            self.build.call_many("check_equal", a, b)
            self.scopes[-1].equal[key_of(a)] = b
        return b

    def check(self, name: str, *args: Operand) -> None:
        """Emit a check that raises; in the entry or a branch outside of loops if possible."""
        key = (name, tuple(map(key_of, args)))
        if any(key in scope.known for scope in self.scopes):
            return
        marker = args[0] if isinstance(args[0], Value) else Value(INT)
        if all(map(self.is_fixed, args)):
            with self.for_checks() as scope:
                self.build.call_many(name, *args)
            scope.known[key] = marker
        else:
            self.build.call_many(name, *args)
            self.scopes[-1].known[key] = marker

    def not_negative(self, operand: Operand) -> None:
        """Ensure that an integer is not negative."""
        if not self.at_most(ZERO, operand):
            self.check("check_at_least", operand, ZERO)

    def in_range(self, index: Operand, extent: Operand, into_memory: bool = False) -> Operand:
        """An index checked against its axis, counted from the start; if it goes directly into memory, perhaps from the end."""
        n = number(index)
        if n is not None and n < 0:
            index = self.add(extent, index)
            if not self.at_most(ZERO, index):
                self.check("check_at_least", index, ZERO)
            return index
        if self.at_most(ZERO, index):
            if not self.at_most(index, extent, -1):
                self.check("check_less", index, extent)
        else:
            self.check("check_index", index, extent)
            if not into_memory:
                index = self.pure("where", self.pure("less", index, ZERO), self.add(index, extent), index, via=None)
        return index

    # -------------------------------------------------------------- memory

    def empty(self, dtype: str, extents: Sequence[Operand], name: str | None = None) -> Value:
        """Allocate a new array."""
        array = self.call("empty", *extents, hint=name, dtype=dtype)
        if len(extents) == 0:
            array.type = Array(dtype, (), "C")
        return array

    def read(self, handle: Value, index: Sequence[Operand]) -> Value:
        """Load an element."""
        return self.call("take", handle, *index, index="i" * len(index))

    def store(self, handle: Value, value: Operand, index: Sequence[Operand], how: str = "set_at") -> None:
        """Store an element, or add to it (``add_at``)."""
        settings: dict[str, Any] = {"index": "i" * len(index)}
        if how == "add_at":
            settings["distinct"] = False
        self.build.block.ops.append(Call([], self.loc, how, [handle, value, *index], settings))

    def whole(self, name: str, handle: Value, *args: Operand) -> None:
        """Emit a row that stores a whole array."""
        self.build.block.ops.append(Call([], self.loc, name, [handle, *args], {}))

    def keep(self, handle: Value, place: Operand, item: Operand) -> None:
        """Store an array or a number in a list."""
        self.build.block.ops.append(Call([], self.loc, "list_set", [handle, place, item], {}))

    def let(self, handle: Value, value: Operand) -> None:
        """Assign a new value to a running number."""
        self.build.block.ops.append(Call([], self.loc, "let", [handle, value], {}))

    def running(self, type_: Scalar, init: Operand, name: str | None = None) -> Value:
        """Create a running number: one that loops change."""
        handle = Value(type_, name)
        if type_.dtype == "f32" and isinstance(init, Const):  # else numba uses 64 bits
            init = self.build.call("cast", init, dtype="f32")
        self.build.block.ops.append(Call([], self.loc, "let", [handle, init], {"begin": True}))
        return handle

    # -------------------------------------------------------------- loops

    @contextmanager
    def loop(self, extent: Operand, name: str | None = None, backward: bool = False) -> Iterator[Operand]:
        """Emit a loop over an axis; yields its index. An axis of one element needs no loop."""
        extent = self.same(extent)
        if number(extent) == 1:
            yield ZERO
            return
        depth = sum(1 for s in self.scopes if s.block.args and s.block.args[0] in self.ranges and s.block.args[0].name in INDEX_NAMES)
        index = Value(INT, name or INDEX_NAMES[min(depth, len(INDEX_NAMES) - 1)])
        op = For([], self.loc, ZERO, extent, ONE, [], Block([index]), False, backward)
        self.ranges[index] = Range(ZERO, extent)
        with self.inside(op.body):
            yield index
        self.build.block.ops.append(op)
        self.nests.add(op)

    @contextmanager
    def nest(self, extents: Sequence[Operand]) -> Iterator[tuple[Operand, ...]]:
        """Emit loops over axes, the last one innermost; yields their indices."""
        if not extents:
            yield ()
            return
        with self.loop(extents[0]) as index, self.nest(extents[1:]) as rest:
            yield (index, *rest)

    @contextmanager
    def when(self, test: Operand) -> Iterator[None]:
        """Emit a branch without an ``else``."""
        op = If([], self.loc, test, Block(), Block())
        with self.inside(op.then):
            yield
        self.build.block.ops.append(op)


def scalar(dtype: str) -> Scalar:
    """The type of an element."""
    return Scalar(kind_of(dtype), dtype)
