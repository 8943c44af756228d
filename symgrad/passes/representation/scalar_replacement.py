"""Scalar replacement of aggregates: replaces small arrays of known lengths by their elements, as numbers. Works in place.

``y = np.array([a, b]); for ...: y = y + h * f(y)`` carries two numbers in its loop, ``y_0`` and ``y_1``, and so
does its adjoint: tapes hold numbers, cotangents are numbers. Arrays computed from one another are replaced
together or not at all, by cost; only arrays in loops pay. Where such an array is read as a whole, it is built
from the numbers; where one is defined elsewhere, its elements are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from symgrad.identity import DisjointSets
from symgrad.ir.core import Block, Call, Const, For, Func, If, Op, Operand, Value, While, definitions, substitute, walk
from symgrad.ir.types import Array, Scalar, kind_of
from symgrad.ir.unbound import Unbound
from symgrad.ops.build import Builder
from symgrad.passes.representation.element_forms import Elements, Formless, Parts, array_of_elements, formed, name_elements, small_shape
from symgrad.passes.simplification.remarks import tell
from symgrad.tables import pairs

ROUNDS = 20  #: the assumed number of iterations of a loop
LARGEST = 600  #: the maximum number of scalar ops for one group of arrays


@dataclass(frozen=True, slots=True)
class Prices:
    """Costs of ops in additions of numbers: scalar ops, array ops, and conversions between the two."""

    functions: int  #: a NumPy function without a counterpart for Python numbers
    rows: dict[str, int]  #: on arrays
    array: int  #: the same for rows outside the table
    read: int  #: reading one element of an array
    packing: int  #: building an array from its elements


#: an addition of floats takes 30 ns, one of arrays half a microsecond
PRICES = """
    take:2 view:5 set_at:3 add_at:5 sum:25 mean:60 matmul:20 outer:35 eye:30 zeros:5 ones:40 trace:50 mT:3 transpose:3 where:40
    concatenate:25 stack:70
"""
INTERPRETED = Prices(15, {row: int(price) for row, price in pairs(PRICES).items()}, 15, 2, 20)
#: an array is allocated, and traversed by a loop
COMPILED = Prices(5, {"take": 1, "view": 1, "set_at": 1, "add_at": 1, "mT": 1, "transpose": 1, "extent": 1}, 40, 1, 40)
#: rows that read an item of a container, which may be None
ITEMS = frozenset({"list_take", "get", "pop"})
#: scalar ops that cost one addition
ARITHMETIC = frozenset(
    """
    add subtract multiply negative positive abs square divide power where cast less less_equal greater greater_equal equal not_equal list_of
    """.split()
)
#: functions of the math module
FUNCTIONS = frozenset(
    """
    sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp expm1 log log1p log2 log10 sqrt hypot
    """.split()
)


def scalar_replacement(func: Func, compiled: bool = False) -> Func:
    """Replace small arrays in loops by their elements, in place."""
    loops = [op for op in walk(func.body) if isinstance(op, For | While)]
    if any(small_shape(value.type) for loop in loops for block in loop.blocks for value in definitions(block)):
        groups = Groups(func, COMPILED if compiled else INTERPRETED)
        chosen = groups.chosen()
        if chosen:
            Replacement(func, chosen, groups.formed, groups.maker).run()
    return func


@dataclass(slots=True)
class Slot:
    """A loop slot or branch result: the values inside and after it, and its incoming operands."""

    own: list[Value]
    incoming: list[Operand]


def slots(op: Op) -> list[Slot]:
    match op:
        case For():
            return [Slot([c, o], [i, y]) for i, c, o, y in zip(op.inits, op.carried, op.outs, op.body.yields, strict=False)]
        case While():
            every = zip(op.inits, op.test.args, op.body.args, op.outs, op.body.yields, strict=False)
            return [Slot([t, c, o], [i, y]) for i, t, c, o, y in every]
        case If():
            return [Slot([o], [a, b]) for o, a, b in zip(op.outs, op.then.yields, op.orelse.yields, strict=True)]
    return []


# ------------------------------------------------------------------ selection


@dataclass(slots=True)
class Group:
    """Arrays that are replaced together, and the gain in additions."""

    gain: float = 0
    count: int = 0  #: scalar ops
    looped: bool = False
    worst: tuple[float, Op | None] = (0, None)  #: the most expensive op


class Groups(DisjointSets[Value]):
    """The small arrays of a function, in groups."""

    def __init__(self, func: Func, prices: Prices) -> None:
        super().__init__()
        self.func = func
        self.prices = prices
        self.maker: dict[Value, Op] = {out: op for op in walk(func.body) for out in op.outs}
        self.groups: dict[Value, Group] = {}
        self.formed: set[Op] = set()  #: ops that have a form on elements
        self.scratch = Block()
        self.elements = Elements(Builder(self.scratch), placeholders, self.maker)
        every = (*func.params, *definitions(func.body))
        self.shapes = {v: shape for v in every if (shape := small_shape(v.type)) and not self.may_be_nothing(v)}
        doubtful = Unbound.of(func.body).sides
        for op in walk(func.body):
            for slot in slots(op):
                kinds = {(self.shapes.get(v), getattr(v.type, "dtype", None)) for v in slot.own}
                if len(kinds) > 1 or any(v in doubtful or isinstance(v, Const) for v in (*slot.own, *slot.incoming)):
                    for value in slot.own:
                        self.shapes.pop(value, None)

    def may_be_nothing(self, value: Value) -> bool:
        """Whether the value may be None instead of an array; only readers of the array would fail then."""
        maker = self.maker.get(value)
        return isinstance(maker, Call) and maker.name in ITEMS

    def chosen(self) -> set[Value]:
        """The values to replace."""
        op_costs: list[tuple[Op, float, int | None]] = []
        self.gather(self.func.body, 1, op_costs)
        for op, weight, count in op_costs:
            self.judge(op, weight, count)
        for value in self.func.params:
            self.cost(value, self.reading(value), None)
        for operand in self.func.body.yields:
            self.cost(operand, self.prices.packing, None)
        kept = {leader for leader, group in self.groups.items() if self.pays(group)}
        return {value for value in self.shapes if self.find(value) in kept}

    def gather(self, block: Block, weight: float, op_costs: list[tuple[Op, float, int | None]]) -> None:
        """Collect every op with its execution count and its number of scalar ops; join arrays that must be replaced together."""
        for op in block.ops:
            for slot in slots(op):
                if slot.own[0] in self.shapes:
                    self.join([*slot.own, *slot.incoming])
            count = self.said(op) if isinstance(op, Call) else None
            if count is not None:
                self.formed.add(op)
                self.join(operands_of(op, self.maker))
            op_costs.append((op, weight, count))
            for inner in op.blocks:
                self.gather(inner, weight * ROUNDS if isinstance(op, For | While) else weight, op_costs)

    def said(self, op: Call) -> int | None:
        """The number of scalar ops that express the op; None if it has no such form."""
        arrays = [o for o in operands_of(op, self.maker) if isinstance(o, Value) and small_shape(o.type)]
        if not arrays or op.name == "list_of" or any(o not in self.shapes for o in arrays):
            return None
        self.scratch.ops.clear()
        try:
            formed(op, self.elements)
        except Formless:
            return None
        return sum(self.price(scalar_op) for scalar_op in self.scratch.ops if isinstance(scalar_op, Call))

    def price(self, op: Call) -> int:
        return 0 if op.name == "cast" else 1 if op.name in ARITHMETIC else 2 if op.name in FUNCTIONS else self.prices.functions

    def judge(self, op: Op, weight: float, count: int | None) -> None:
        """Add the gain or cost of an op to its group."""
        if count is not None and isinstance(op, Call):
            group = self.group(next(v for v in operands_of(op, self.maker) if isinstance(v, Value) and v in self.shapes))
            group.gain += weight * (self.prices.rows.get(op.name, self.prices.array) - count)
            group.count += count
            group.looped |= weight > 1
            return
        if isinstance(op, Call):
            self.judge_call(op, weight)
            return
        own = slots(op)
        handed = {o for slot in own for o in slot.incoming}
        for operand in op.operands:
            if operand not in handed:
                self.cost(operand, weight * self.prices.packing, op)
        for slot in own:
            for k, operand in enumerate(slot.incoming):
                often = weight * ROUNDS if k and isinstance(op, For | While) else weight
                if slot.own[0] not in self.shapes:
                    self.cost(operand, often * self.prices.packing, op)
                elif operand not in self.shapes:
                    self.cost(slot.own[0], often * self.reading(slot.own[0]), op)

    def judge_call(self, op: Call, weight: float) -> None:
        """Add the costs of building arrays for an op's operands, and of reading elements of its results."""
        if op.name == "list_of":
            return  # counted at the op that makes an array of it
        for operand in op.args:
            stored = op.name in STORES and operand is op.args[1] and is_cell(op, op.args[2:], small_shape(operand.type))
            self.cost(operand, weight * (self.reading(operand) if stored else self.prices.packing), op)
        for out in op.outs:
            self.cost(out, weight * self.reading(out), op)

    def reading(self, operand: Operand) -> float:
        """The cost of reading, or storing, each element."""
        shape = self.shapes.get(operand, ()) if isinstance(operand, Value) else ()
        return self.prices.read * math.prod(shape)

    def cost(self, operand: Operand, price: float, op: Op | None) -> None:
        if isinstance(operand, Value) and operand in self.shapes:
            group = self.group(operand)
            group.gain -= price
            group.worst = max(group.worst, (price, op), key=lambda pair: pair[0])

    def pays(self, group: Group) -> bool:
        if group.looped and group.gain <= 0 and group.worst[1] is not None:
            tell(self.func.notes, group.worst[1], "a small array stays an array: it is used as a whole here")
        return group.looped and group.gain > 0 and group.count <= LARGEST

    def join(self, values: Sequence[Operand]) -> None:
        small = [v for v in values if isinstance(v, Value) and v in self.shapes]
        for value in small[1:]:
            self.unite(small[0], value)

    def group(self, value: Value) -> Group:
        return self.groups.setdefault(self.find(value), Group())


def placeholders(operand: Operand) -> Parts:
    """Numbers that represent the elements of an array while its ops are counted."""
    assert isinstance(operand.type, Array)
    return unread(operand.type, None)


def unread(type_: Array, name: str | None) -> Parts:
    """New values for the elements of an array."""
    assert type_.dtype is not None
    elements = np.empty(small_shape(type_) or (), object)
    for place in np.ndindex(elements.shape):
        elements[place] = Value(Scalar(kind_of(type_.dtype), type_.dtype))
    name_elements(elements, name)
    return elements


# ------------------------------------------------------------------ replacement


class Replacement:
    """Rewrites a function: the values ``chosen`` are replaced by their elements, and the ops ``said`` by scalar ops."""

    def __init__(self, func: Func, chosen: set[Value], said: set[Op], maker: dict[Value, Op]) -> None:
        self.func = func
        self.chosen = chosen
        self.said = said
        self.parts: dict[Value, Parts] = {}
        self.wholes: dict[Value, Operand] = {}  #: arrays built from elements, where they are in scope
        self.numbers: dict[Value, Operand] = {}  #: replacements of numbers that were an element, a sum or a length
        self.build = Builder()
        self.elements = Elements(self.build, self.elements_of, maker)

    def run(self) -> None:
        body = self.func.body
        with self.build.at(self.func.loc):  # parameters are split into elements first
            self.block(body, lambda yields: [self.packed(y) for y in yields], body.args)
        substitute(body, self.numbers)

    def elements_of(self, operand: Operand) -> Parts:
        """The elements of an array."""
        assert isinstance(operand, Value)
        return self.parts[operand] if operand in self.chosen else self.read(operand, operand)

    def read(self, value: Value, array: Operand, *path: Operand) -> Parts:
        """Read the elements of an array, or of the part at a path."""
        elements = np.empty(small_shape(value.type) or (), object)
        for where in np.ndindex(elements.shape):
            index = "i" * (len(path) + elements.ndim)
            elements[where] = self.build.call("take", array, *path, *map(Const, where), index=index)
        name_elements(elements, value.name)
        return elements

    def packed(self, operand: Operand) -> Operand:
        """The operand itself, or the array built from its elements."""
        if not isinstance(operand, Value) or operand not in self.chosen:
            return operand
        if operand not in self.wholes:
            self.wholes[operand] = array_of_elements(self.elements, self.parts[operand], operand.name)
        return self.wholes[operand]

    # -------------------------------------------------------------- blocks

    def block(self, block: Block, ended: Callable[[list[Operand]], list[Operand]], arrays: Sequence[Value] = ()) -> None:
        """Rewrite a block; ``ended`` maps its yields. The elements of the chosen ``arrays`` are read first."""
        known = dict(self.wholes)
        with self.build.inside(Block()) as done:
            for value in arrays:
                if value in self.chosen:
                    self.parts[value] = self.read(value, value)
            for op in block.ops:
                with self.build.at(op.loc):
                    self.call(op) if isinstance(op, Call) else self.control(op)
            block.yields = ended(block.yields)
        self.wholes, block.ops = known, done.ops

    def call(self, op: Call) -> None:
        """Rewrite one call: to scalar ops if it has such a form, else to an op on arrays."""
        if op in self.said and any(v in self.chosen for v in operands_of(op, self.elements.maker)):
            elements = formed(op, self.elements)
            if op.outs[0] in self.chosen:
                self.parts[op.outs[0]] = elements
                if op.outs[0].name is not None:
                    tell(self.func.notes, op, f"an array of {elements.size} elements, each a number of its own")
            else:
                (self.numbers[op.outs[0]],) = elements.flat
            return
        if op.name in READS and op.outs[0] in self.chosen and is_cell(op, op.args[1:], small_shape(op.outs[0].type)):
            self.parts[op.outs[0]] = self.read(op.outs[0], self.packed(op.args[0]), *op.args[1:])
            return
        if op.name in STORES and op.args[1] in self.chosen and is_cell(op, op.args[2:], small_shape(op.args[1].type)):
            self.store(op)
            return
        op.args = [self.packed(a) for a in op.args]
        self.build.append(op)
        for out in op.outs:
            if out in self.chosen:
                self.parts[out] = self.read(out, out)

    def store(self, op: Call) -> None:
        """Store element by element."""
        array, out = self.packed(op.args[0]), op.outs[0]
        for where, one in np.ndenumerate(self.elements_of(op.args[1])):
            index = "i" * (len(op.args) - 2 + len(where))
            array = self.build.call(op.name, array, one, *op.args[2:], *map(Const, where), **{**op.settings, "index": index}, hint=out.name)
        if out in self.chosen:
            self.parts[out] = self.read(out, array)
        else:
            self.numbers[out] = array

    def control(self, op: Op) -> None:
        """Rewrite a loop or a branch: the slot of a small array becomes a slot for each element."""
        every = slots(op)
        replaced = [slot.own[0] in self.chosen for slot in every]
        if isinstance(op, For | While):
            op.inits = self.handed(op.inits, every, replaced)
        op.replace_operands([self.packed(o) for o in op.operands])
        for block in op.blocks:
            first = len(block.args) - len(every)
            if block.args:
                block.args[first:] = self.received(block.args[first:], replaced)
            tests = isinstance(op, While) and block is op.test
            self.block(block, lambda yields: yields if tests else self.handed(yields, every, replaced))  # noqa: B023 - called at once
        outs, op.outs = op.outs, self.received(op.outs, replaced)
        self.build.append(op)
        for out in outs:
            if out in self.chosen and out not in self.parts:
                self.parts[out] = self.read(out, out)

    def received(self, values: list[Value], replaced: list[bool]) -> list[Value]:
        """The arguments of a block, or the results of a loop or a branch, with elements in place of arrays."""
        expanded: list[Value] = []
        for k, value in enumerate(values):
            if k < len(replaced) and replaced[k]:
                assert isinstance(value.type, Array)
                self.parts[value] = unread(value.type, value.name)
                expanded += self.parts[value].flat
            else:
                expanded.append(value)
        return expanded

    def handed(self, operands: list[Operand], every: list[Slot], replaced: list[bool]) -> list[Operand]:
        """The operands passed to slots, with elements in place of arrays, then the operand after the slots (the exit test of a loop)."""
        expanded: list[Operand] = []
        for operand, slot, apart in zip(operands, every, replaced, strict=False):
            if not apart:
                expanded.append(self.packed(operand))
            else:
                type_ = slot.own[0].type
                assert isinstance(type_, Array)
                assert type_.dtype is not None
                expanded += self.elements.typed(self.elements.stored(self.elements_of(operand), type_.dtype), type_.dtype).flat
        return expanded + operands[len(every) :]


#: rows that read and store at a path
READS, STORES = frozenset({"view", "take"}), frozenset({"set_at", "add_at"})


def is_cell(op: Call, path: Sequence[Operand], shape: tuple[int, ...] | None) -> bool:
    """Whether the path is one index on each leading axis, and the part at it has that shape."""
    array = op.args[0].type
    return (
        isinstance(array, Array)
        and op.settings["index"] == "i" * len(path)
        and shape == (array.shape or ())[len(path) :]
        and all(isinstance(p.type, Scalar) and p.type.kind == "int" for p in path)
    )


def operands_of(op: Op, maker: Mapping[Value, Op]) -> list[Operand]:
    """The results and operands of an op; a list built for it is replaced by its items."""
    operands: list[Operand] = list(op.outs)
    for operand in op.operands:
        producer = maker.get(operand) if isinstance(operand, Value) else None
        operands += operands_of(producer, maker) if isinstance(producer, Call) and producer.name == "list_of" else [operand]
    return operands


__all__ = ["scalar_replacement"]
