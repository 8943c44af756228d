"""Computes the rounds of a batch at once, where rows have rules for that: ``results[k] = f(x[k])`` becomes ``results = f(x)``.

Each value of the loop's body gets a batch axis, first, unless all examples share it. A loop with anything in it that has no rule stays as
it is. What is raised may come earlier than in the loop, so that ``Func.guarded`` asks for the loop then. Works in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import NONE, Block, Call, Const, For, Func, If, Op, Operand, Value, substitute, uses, walk
from symgrad.ir.types import Array, Scalar, ShapeOf, Type
from symgrad.ops.batched import Examples, NotBatched, rank_of
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import OPERANDS, steps
from symgrad.ops.shapes import dtype_of
from symgrad.passes.facts import is_pure
from symgrad.passes.telling import tell
from symgrad.passes.unbox import may_start_again

#: what is caught where the rounds raise at once: then they are gone through one by one
RAISED = frozenset({"Exception"})


def batch(func: Func, guarded: bool = True) -> Func:
    """Compute the rounds of batches at once, in place, where code may run again that raises: ``guarded``."""
    if guarded and any(isinstance(op, For) and op.batch for op in walk(func.body)) and may_start_again(func):
        visit(func, func.body)
    return func


def visit(func: Func, block: Block) -> None:
    """The batches of a block and of the blocks in it, from the inside out."""
    ops: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            visit(func, inner)
        ops += at_once(func, op) if isinstance(op, For) and op.batch else [op]
    block.ops = ops


def at_once(func: Func, loop: For) -> list[Op]:
    """The ops that stand for a loop over a batch, or the loop."""
    build = Builder(Block())
    for op in walk(func.body):
        if isinstance(op, Call) and op.outs:
            build.note_extent(op.name, op.args, op.settings, op.outs[0])
    rounds = Rounds(func, loop, build)
    try:
        results = rounds.results()
    except NotBatched:
        return [loop]
    substitute(func.body, dict(zip(loop.outs, results, strict=True)))
    func.guarded |= RAISED
    if func.notes is not None:
        func.notes.add("passes", "batched", loop.loc, "all examples are computed at once, by functions of NumPy that take a further axis")
    return build.block.ops


@dataclass(slots=True)
class Rounds:
    """The values of one loop's body for all examples."""

    func: Func
    loop: For
    build: Builder
    values: dict[Value, tuple[Operand, bool]] = field(default_factory=dict)  #: by those of one example; with a batch axis?
    lent: set[Operand] = field(default_factory=set)  #: values whose memory belongs to something else
    sources: dict[Value, Value] = field(default_factory=dict)  #: the array that a shape is of
    makers: dict[Value, Call] = field(default_factory=dict)  #: what makes a value that all examples share

    def results(self) -> list[Operand]:
        """What stands for the results of the loop; raises NotBatched."""
        loop = self.loop
        if loop.until or loop.backward or not is_literal(loop.start, 0) or not is_literal(loop.step, 1):
            raise NotBatched
        count = uses(loop.body)
        stores = [self.store(k, count) for k in range(len(loop.carried))]
        for op in loop.body.ops:
            if op not in stores:
                self.op(op)
        return [self.result(k, store) for k, store in enumerate(stores)]

    # -------------------------------------------------------------- results

    def store(self, k: int, count: dict[Value, int]) -> Call:
        """The one op that writes to the array of results number ``k``: a part of it in each round."""
        argument, end = self.loop.carried[k], self.loop.body.yields[k]
        for op in self.loop.body.ops:
            if isinstance(op, Call) and op.name == "set_at" and op.args[0] is argument and op.outs[0] is end:
                if count[argument] == 1 and count[op.outs[0]] == 1 and self.axis(op.settings["index"], op.args[2:]) is not None:
                    return op
        raise NotBatched

    def axis(self, index: str, operands: list[Operand]) -> int | None:
        """The axis of the examples in an index that says one of them, and nothing else; None of another index."""
        letters = index.removesuffix("e") if index.endswith("ie") else index
        if not letters.endswith("i") or letters.strip("si") or letters.count("i") != 1:
            return None
        whole = all(is_literal(o, None) for o in operands[:-1])
        return len(letters) - 1 if whole and operands[-1] is self.loop.index else None

    def result(self, k: int, store: Call) -> Operand:
        """The array of all results."""
        axis = self.axis(store.settings["index"], store.args[2:])
        type_ = self.loop.outs[k].type
        assert axis is not None
        if not isinstance(type_, Array) or type_.shape is None or type_.dtype is None:
            raise NotBatched
        value, many = self.operand(store.args[1])
        own = many and value not in self.lent and isinstance(value, Value) and is_fresh(self.maker(value))
        whole = value
        if axis and many:
            if rank_of(value.type) != len(type_.shape):
                raise NotBatched
            whole = self.build.call("moveaxis", value, source=0, destination=axis)
        if many and own and not axis and value.type == Array(type_.dtype, type_.shape, getattr(value.type, "layout", "?")):
            self.lent.add(value)
            return value
        lacks = len(type_.shape) - rank_of(whole.type)
        if many and lacks > 0:
            whole = self.build.call("view", whole, NONE, NONE, NONE, index="s" + "n" * lacks)
        return self.build.call("set_at", self.loop.inits[k], whole, index="e", hint=self.loop.carried[k].name)

    def maker(self, value: Value) -> Op | None:
        """The op that gives a value, of those that are new."""
        return next((op for op in self.build.block.ops if value in op.outs), None)

    # -------------------------------------------------------------- ops

    def operand(self, operand: Operand) -> tuple[Operand, bool]:
        """An operand for all examples, and whether it has a batch axis."""
        if operand is self.loop.index or operand in self.loop.carried:
            raise NotBatched
        return self.values.get(operand, (operand, False)) if isinstance(operand, Value) else (operand, False)

    def op(self, op: Op) -> None:
        """One op of the body."""
        if not isinstance(op, Call):
            raise NotBatched
        self.build.loc = op.loc
        if op.name == "evaluated" and self.operand(op.args[0])[1]:
            return  # there is such a part in each example
        row = ROWS[op.name]
        if self.loop.index in op.args:
            self.example(op)
            return
        pairs = [self.operand(a) for a in op.args]
        if not any(many for _, many in pairs):
            self.shared(op, row, [operand for operand, _ in pairs])
            return
        if row.effect or len(op.outs) != 1:
            raise NotBatched
        if op.name in PLACES:
            value = getattr(self, PLACES[op.name])(op, pairs)
        elif op.name == "extent":
            axis = op.settings["axis"]
            self.values[op.outs[0]] = self.build.call("extent", pairs[0][0], axis=axis + 1 if axis >= 0 else axis), False
            return
        elif row.batch is None:
            raise NotBatched
        else:
            value = row.batch(self.examples(op, pairs))
        self.enter(op, value, pairs)

    def examples(self, op: Call, pairs: list[tuple[Operand, bool]]) -> Examples:
        """What a rule is given."""
        operands, many = [operand for operand, _ in pairs], [many for _, many in pairs]
        if ROWS[op.name].consumes and operands[0] in self.lent:
            operands[0] = self.build.call("copy", operands[0])
        types = [a.type for a in op.args]
        return Examples(self.build, op.name, op.settings, types, operands, many, self.loop.stop, self.sources, self.makers)

    def enter(self, op: Call, value: Value, pairs: list[tuple[Operand, bool]]) -> None:
        """Enter what an op gives for all examples, if that is what it gives for each of them."""
        out = op.outs[0]
        check_type(out.type, value.type)
        value.name = out.name
        self.values[out] = value, True
        row = ROWS[op.name]
        if row.alias != "fresh" or any(value is operand for operand, _ in pairs):
            self.lent.add(value)

    def shared(self, op: Call, row: Row, operands: list[Operand]) -> None:
        """An op that does the same for all examples, once."""
        if not is_pure(row) or row.consumes:
            raise NotBatched
        outs = self.build.call_many(op.name, *operands, **op.settings)
        for out, new in zip(op.outs, outs, strict=True):
            new.name = out.name
            self.values[out] = new, False
            self.makers[new] = Call([new], op.loc, op.name, operands, dict(op.settings))
        if op.name == "shape_of" and isinstance(operands[0], Value):
            self.sources[outs[0]] = operands[0]

    def example(self, op: Call) -> None:
        """``x[k]``, with more steps perhaps: the array itself, its examples first, and what the further steps take of them."""
        if op.name not in ("view", "take") or self.loop.index in op.args[:1]:
            raise NotBatched
        array, many = self.operand(op.args[0])
        (first, count), *more = steps(op.settings["index"])
        own, rest = op.args[1 : 1 + count], op.args[1 + count :]
        place = place_of(first, own, self.loop.index)
        if many or place is None or self.loop.index in rest or not isinstance(array.type, Array):
            raise NotBatched
        axis, own, left = place
        whole = array if not axis else self.build.call("moveaxis", array, source=axis, destination=0)
        self.lent.add(whole)
        path = [left, *(step + (f":{n}" if step.startswith(".") and n else "") for step, n in more)]
        if not any(path):  # nothing is left out
            self.values[op.outs[0]] = whole, True
            check_type(op.outs[0].type, whole.type)
            return
        self.enter(op, self.stepped(whole, path, [*own, *(self.operand(o)[0] for o in rest)], op), [])

    def stepped(self, array: Operand, path: list[str], operands: list[Operand], op: Call) -> Value:
        """A path of steps, each taken for all examples."""
        for step in path:
            name, _, count = step.partition(":")
            if step.startswith("."):
                own, operands = operands[: int(count or 0)], operands[int(count or 0) :]
                array = self.method(name, array, own)
            elif step.strip("s") or operands:
                taken = sum(OPERANDS[letter] for letter in step)
                own, operands = operands[:taken], operands[taken:]
                array = self.build.call("view", array, NONE, NONE, NONE, *own, index="s" + step)
        assert isinstance(array, Value)
        self.lent.add(array)
        return array

    def method(self, name: str, array: Operand, operands: list[Operand]) -> Value:
        """A step that is a method of arrays."""
        rank = rank_of(array.type)
        if name == ".T":
            return self.build.call("transpose", array, axes=(0, *reversed(range(1, rank))))
        if name == ".reshape":
            return self.build.call("reshape", array, self.loop.stop, *operands)
        raise NotBatched

    def read(self, op: Call, pairs: list[tuple[Operand, bool]]) -> Value:
        """``view`` and ``take`` of an array of each example, or at a place of each."""
        (array, many), *index = pairs
        if any(flag for _, flag in index):
            return self.gathered(op, pairs)
        path = [step + (f":{n}" if step.startswith(".") and n else "") for step, n in steps(op.settings["index"])]
        check_arrays(op)
        operands = [operand for operand, _ in index]
        if op.name == "take" and len(path) == 1 and not path[0].startswith("."):
            return self.build.call("take", array, NONE, NONE, NONE, *operands, index="s" + path[0])
        value = self.stepped(array, path, operands, op)
        return self.build.call("copy", value) if op.name == "take" else value

    def gathered(self, op: Call, pairs: list[tuple[Operand, bool]]) -> Value:
        """An element or row of each example, at a place of its own."""
        (array, many), *index = pairs
        if op.settings["index"] != "i" or op.name != "take" or rank_of(op.args[1].type):
            raise NotBatched
        if not many:
            return self.build.call("take", array, index[0][0], index="i")
        return self.build.call("take", array, self.numbers(), index[0][0], index="ii")

    def numbers(self) -> Value:
        """The numbers of the examples."""
        return self.build.call("arange", self.loop.stop, dtype=None)

    def written(self, op: Call, pairs: list[tuple[Operand, bool]]) -> Value:
        """``x[...] = v`` and ``x[...] += v``."""
        index = pairs[2:]
        e = self.examples(op, pairs)
        path = steps(op.settings["index"])
        if any(many for _, many in index) or any(step.startswith(".") for step, _ in path):
            raise NotBatched
        check_arrays(op)
        part = ROWS["view"].law([op.args[0].type, *(o.type for o in op.args[2:])], {"index": op.settings["index"]}, self.build.asked(
            [op.args[0], *op.args[2:]]))  # fmt: skip
        assert isinstance(part, Type)
        value = e.aligned(1, rank_of(part))
        operands: list[Operand] = []
        at = 0
        for _, count in path:
            operands += [NONE, NONE, NONE, *(operand for operand, _ in index[at : at + count])]
            at += count
        return self.build.call(op.name, e.own(0), value, *operands, **{**op.settings, "index": ";".join("s" + step for step, _ in path)})


#: rows that read and write parts of arrays, and what does it for all examples
PLACES = {"view": "read", "take": "read", "set_at": "written", "add_at": "written"}


def place_of(step: str, operands: list[Operand], index: Value) -> tuple[int, list[Operand], str] | None:
    """Where the number of an example stands in an index: the axis, and the operands and letters without it; None where that is no axis."""
    at, kept, left = 0, list[Operand](), ""
    axis: int | None = None
    for place, letter in enumerate(step):
        own = operands[at : at + OPERANDS[letter]]
        at += OPERANDS[letter]
        if letter == "i" and own[0] is index:
            if axis is not None or any(c != "s" for c in step[:place]):
                return None
            axis = place
        else:
            kept += own
            left += letter
    whole = left.rstrip("e") if left.endswith("e") else left
    if all(is_literal(o, None) for o in kept) and not whole.strip("s"):
        return (axis, [], "") if axis is not None else None
    return (axis, kept, left) if axis is not None else None


def check_arrays(op: Call) -> None:
    """Refuse an index of several arrays: NumPy puts their axes first where a slice stands between them."""
    if sum(isinstance(o.type, Array) for o in op.args[1:] if isinstance(o, Value)) > 1 + (op.name in ("set_at", "add_at")):
        raise NotBatched


def check_type(one: Type, all_: Type) -> None:
    """Refuse what is of another dtype than each example, has other axes, or is a number of Python's, which raises where NumPy does not."""
    if isinstance(one, ShapeOf):
        if not isinstance(all_, ShapeOf):
            raise NotBatched
        return
    if isinstance(one, Scalar) and one.dtype in (None, "any") and one.kind != "bool":
        raise NotBatched
    if not isinstance(all_, Array) or rank_of(all_) != rank_of(one) + 1 or all_.dtype != dtype_of(one) or all_.dtype is None:
        raise NotBatched


def is_literal(operand: Operand, value: object) -> bool:
    """Is an operand this constant?"""
    return isinstance(operand, Const) and operand.value is value or isinstance(operand, Const) and operand.value == value and value is not None


def is_fresh(op: Op | None) -> bool:
    """Does an op give memory of its own?"""
    return isinstance(op, Call) and ROWS[op.name].alias == "fresh" or isinstance(op, If)


__all__ = ["batch"]
