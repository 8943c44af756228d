"""Records printing in loops and branches: lists of the printed values, and a later loop that prints them. Works in place.

    for v in x: print(f"{v:.3f}")   ->   for v in x: events.append(0); v_shown.append(v)
                                         for k in range(len(events)): print(f"{v_shown[k]:.3f}")

A kernel has no side effects: the printing loop is moved out of it (``behind``). A kernel that raises has
printed nothing; the NumPy code then runs everything from the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from symgrad.ir.core import (
    ONE,
    ZERO,
    Block,
    Call,
    Const,
    For,
    Func,
    If,
    Op,
    Operand,
    Value,
    While,
    blocks_within,
    clone_block,
    ops_within,
    uses,
    walk,
)
from symgrad.ir.types import INT, Array, List, Object, Scalar, Type
from symgrad.loops.forms import DTYPES
from symgrad.ops.build import Builder, symbols
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import halves_kept


@dataclass(eq=False)
class Site:
    """One call with a side effect: the ops that serve it alone, in order, and the numbers of its iteration that it reads."""

    ops: list[Call]
    numbers: list[Value] = field(default_factory=list)


def recorded(func: Func, of_several: set[Value]) -> list[For] | None:
    """Record printing in loops and branches, in place; return the loops that print. None if a call must stay in its place.

    ``of_several`` are numbers whose class differs between paths; no list can hold them unchanged.
    """
    counts, replays = uses(func.body), []
    outside: set[Operand] = set(func.params)
    with halves_kept(func):
        for op in list(func.body.ops):
            if calls := list(calls_in(op)):
                sites = [site_of(block, call, outside, counts, of_several) for block, call in calls]
                known = [site for site in sites if site is not None]
                loops = [inner for inner in ops_within(op) if isinstance(inner, While)]
                if len(known) < len(sites) or any(contains(loop.test, known) for loop in loops):
                    return None
                replays.append(record(func, op, known))
            outside.update(op.outs)
    return replays


def calls_in(op: Op) -> Iterator[tuple[Block, Call]]:
    """The calls with side effects inside an op, each with its block."""
    for block in (inner for child in op.blocks for inner in blocks_within(child)):
        yield from ((block, call) for call in block.ops if isinstance(call, Call) and call.name == "opaque")


def site_of(block: Block, call: Call, outside: set[Operand], counts: dict[Value, int], of_several: set[Value]) -> Site | None:
    """The site of a call that can be delayed; None if its result is used, or it reads anything but numbers and earlier values."""
    site, makers = Site([call]), {out: op for op in block.ops for out in op.outs}
    if any(counts.get(out) for out in call.outs):
        return None
    todo: list[Call] = [call]
    while todo:
        for operand in todo.pop().args:
            maker = makers.get(operand) if isinstance(operand, Value) else None
            if isinstance(operand, Const) or operand in site.numbers or maker in site.ops:
                continue
            if operand in outside and not isinstance(operand.type, Array | List):
                continue
            if isinstance(operand, Value) and is_number(operand.type) and operand not in of_several:
                site.numbers.append(operand)
            elif isinstance(maker, Call) and is_for_one(maker, site, counts):
                site.ops.append(maker)
                todo.append(maker)
            else:
                return None
    site.ops.sort(key=block.ops.index)
    return site


def is_number(type_: Type) -> bool:
    """Whether the type is that of a number that a kernel's list can hold."""
    return isinstance(type_, Scalar) and type_.kind in DTYPES


def is_for_one(maker: Call, site: Site, counts: dict[Value, int]) -> bool:
    """Whether an op computes a string or other object for one site alone, independent of its time of execution."""
    row = ROWS[maker.name]
    if row.consumes or row.effect or not all(isinstance(out.type, Object) for out in maker.outs):
        return False
    readers = [op for op in site.ops for operand in op.args if operand in maker.outs]
    return len(readers) == sum(counts.get(out, 0) for out in maker.outs)


def contains(block: Block, sites: list[Site]) -> bool:
    """Whether a block contains one of the calls, at any depth."""
    chosen = {op for site in sites for op in site.ops}
    return any(op in chosen for op in walk(block))


def record(func: Func, op: Op, sites: list[Site]) -> For:
    """Replace the calls inside a top-level op by entries in lists, and append a loop that makes the calls."""
    builder = Builder()
    builder.taken = symbols(func)
    lists = [INT, *(number.type for site in sites for number in site.numbers)]
    names = ["events", *(f"{(number.name or 'value').lstrip('%')}_shown" for site in sites for number in site.numbers)]
    before, behind = Block(), Block()
    with builder.inside(before), builder.at(op.loc):
        begun = [builder.call("list_of", hint=name) for name in names]
    threading = Threading(builder, sites, [List(item) for item in lists], names)
    for value, type_ in zip(begun, threading.types, strict=True):
        value.type = type_
    filled = threading.through(op, list(begun))
    with builder.inside(behind), builder.at(op.loc):
        dtypes = [item.dtype if item.dtype not in (None, "any") else DTYPES[item.kind] for item in lists if isinstance(item, Scalar)]
        arrays = [builder.call("array_of", value, hint=name, dtype=dtype) for value, name, dtype in zip(filled, names, dtypes, strict=True)]
        replay = replay_loop(builder, sites, arrays)
    place = func.body.ops.index(op)
    func.body.ops[place : place + 1] = [*before.ops, op, *behind.ops]
    return replay


@dataclass(eq=False)
class Threading:
    """Carries lists through loops and branches to the places where entries are appended."""

    builder: Builder
    sites: list[Site]
    types: list[List]
    names: list[str]

    def slots(self) -> list[Value]:
        return [Value(type_, name) for type_, name in zip(self.types, self.names, strict=True)]

    def through(self, op: Op, lists: list[Value]) -> list[Value]:
        """Let an op carry the lists; return them after the op."""
        outs = self.slots()
        match op:
            case For():
                op.inits += lists
                op.body.args += (slots := self.slots())
                self.end(op.body, slots, int(op.until))
                op.outs[len(op.outs) - op.until : len(op.outs) - op.until] = outs
            case While():
                op.inits += lists
                op.test.args += self.slots()
                op.body.args += (slots := self.slots())
                self.end(op.body, slots, int(op.until))
                op.outs[-1:-1] = outs
            case If():
                for block in op.blocks:
                    self.end(block, lists, 0)
                op.outs += outs
        return outs

    def end(self, block: Block, lists: list[Value], flags: int) -> None:
        """Append the entries in a block, which yields the lists before its flags."""
        for op in list(block.ops):
            site = next((site for site in self.sites if op is site.ops[-1]), None)
            if site is not None:
                lists = self.entered(block, op, site, lists)
            elif any(contains(inner, self.sites) for inner in op.blocks):
                lists = self.through(op, lists)
        for site in self.sites:
            block.ops = [op for op in block.ops if op not in site.ops]
        place = len(block.yields) - flags
        block.yields[place:place] = lists

    def entered(self, block: Block, call: Op, site: Site, lists: list[Value]) -> list[Value]:
        """Append the number of a call's site and the values that it reads, at the call."""
        number = self.sites.index(site)
        first = 1 + sum(len(other.numbers) for other in self.sites[:number])
        entries: list[tuple[int, Operand]] = [(0, Const(number)), *((first + k, value) for k, value in enumerate(site.numbers))]
        inner, lists = Block(), list(lists)
        with self.builder.inside(inner), self.builder.at(call.loc):
            for place, value in entries:
                lists[place] = self.builder.call("list_append", lists[place], value, hint=self.names[place])
                lists[place].type = self.types[place]
        where = block.ops.index(call)
        block.ops[where:where] = inner.ops
        return lists


def replay_loop(builder: Builder, sites: list[Site], arrays: list[Value]) -> For:
    """A loop over the entries that makes the calls in order; each site has a counter of its entries."""
    index, counters = Value(INT, "k"), [Value(INT, "place") for _ in sites]
    body, arguments = Block([index, *counters]), iter(arrays[1:])
    stop = builder.call("extent", arrays[0], axis=0)
    with builder.inside(body):
        event = builder.call("take", arrays[0], index, index="i")
        for number, (site, counter) in enumerate(zip(sites, counters, strict=True)):
            then, after = Block(), Value(INT, "place")
            with builder.inside(then):
                table: dict[Value, Operand] = {}
                for value in site.numbers:
                    element = builder.call("take", next(arguments), counter, index="i")
                    is_python = isinstance(value.type, Scalar) and value.type.dtype is None
                    table[value] = builder.call("number", element, kind=value.type.kind) if is_python else element  # type: ignore[attr-defined]
                then.ops += clone_block(Block([], [*site.ops]), table).ops
                then.yields = [builder.call("add", counter, ONE)]
            test = builder.call("equal", event, Const(number))
            builder.append(If([after], builder.loc, test, then, Block([], [], [counter])))
            body.yields.append(after)
    outs = [Value(INT, "place") for _ in sites]
    replay = For(outs, builder.loc, ZERO, stop, ONE, [ZERO] * len(sites), body)
    builder.append(replay)
    return replay


__all__ = ["calls_in", "recorded"]
