"""Array-to-loop lowering: a derivative as array statements -> ``for`` loops over numbers, which numba compiles well.

The walk over a function keeps control flow and computes numbers directly. An array becomes a ``Form``: a recipe
for its elements, emitted in the loops that read it, or memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.core import (
    NONE,
    ONE,
    TRUE,
    ZERO,
    Apply,
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
    key_of,
    operands_within,
    ops_within,
    walk,
)
from symgrad.ir.types import Array, Dim, List, Object, Scalar, ShapeOf, Tape, Type, Undefined, is_complex
from symgrad.ir.unbound import is_undefined
from symgrad.ir.walks import read_in
from symgrad.loops.arrays import as_float
from symgrad.loops.bailouts import bail_out
from symgrad.loops.context import Context, Frame, Stacks, Thing
from symgrad.loops.forms import CHEAP, Form, as_kind, cast_to, mapped, refuse
from symgrad.loops.lists import lists
from symgrad.loops.numbers.complexes import OF_ARRAYS
from symgrad.loops.reach import NoPlaces, OutOfReach, function_in_words, in_words, named
from symgrad.loops.rows.stencils import neighbours
from symgrad.loops.rows.table import COMPOSED, RULES, as_numpy_takes_it, pointwise, price_of, vector_name
from symgrad.loops.tapes import slot_tapes
from symgrad.loops.tapes.tapes import exemplify, lists_for_slot, parts_of
from symgrad.loops.writer import Range, number, scalar
from symgrad.ops.declare import ROWS
from symgrad.passes.simplification.dce import dce

#: rows of opaque calls
OPAQUE = ("opaque", "opaque_pure", "solver")
#: rows that choose one of two operands, and the comparison in which the chosen one wins
WINNING = {"maximum": "greater", "minimum": "less"}


def walked(func: Func, unsure: set[Value]) -> Lowering:
    """Walk over a function, which is changed in place; ``unsure`` are possibly unbound values.

    Raises OutOfReach where no loops compute the same. The kernel may leave early (by an exception) for any
    arguments, but never returns a different result.
    """
    lowering = Lowering(func, unsure)
    lowering.run()
    return lowering


def lowered_function(lowering: Lowering) -> Func:
    """The lowered function: loops over handles of memory."""
    func, body = lowering.func, lowering.writer.build.block
    body.args, body.ops, body.yields = lowering.params, [*lowering.writer.entry.ops, *body.ops], lowering.results
    return Func(func.name, body, list(func.results), func.loc, None, func.doc, notes=func.notes)


def calls_solver(op: Call) -> bool:
    """Whether the op is a call of a SciPy solver with a known result type."""
    return op.name == "solver" or op.settings.get("refusal") is not None


class Lowering(Context):
    """The walk: lowers a function op by op."""

    results: list[Operand]

    def run(self) -> None:
        self.groups = neighbours(self.func)
        for value in self.func.params:
            self.parameter(value)
        self.check_ones()
        self.block(self.func.body)
        self.check_integers()
        self.results = [self.result(y) for y in self.func.body.yields]

    # -------------------------------------------------------------- blocks

    def block(self, block: Block) -> None:
        """Lower the ops of a block at the insertion point."""
        frame = Frame(block, last_reads(block))
        self.frames.append(frame)
        for k, op in enumerate(block.ops):
            with self.writer.build.at(op.loc):
                try:
                    self.settle(op, k, frame)
                    self.op(op)
                    for out in op.outs:
                        self.enter(out, frame)
                except OutOfReach as refusal:
                    refusal.loc = refusal.loc or op.loc
                    raise
        # yielded recipes are emitted while their block is open
        for y in block.yields:
            if isinstance(y, Value) and isinstance(y.type, Array):
                self.materialised(y)
        self.frames.pop()

    def enter(self, value: Value, frame: Frame) -> None:
        """Record a lowered value: a recipe that is read often, or needs memory, gets memory at once."""
        form = self.env.get(value)
        if isinstance(form, Form) and isinstance(value.type, Array) and value not in self.unsure:
            for dim, extent in zip(value.type.shape or (), form.extents, strict=False):
                if isinstance(dim, Dim) and dim.offset == 0 and dim.symbol != "?":
                    frame.symbols.setdefault(dim.symbol, extent)
        if not isinstance(form, Form):
            return
        if form.memory is not None:
            form.cells |= {self.facts.find((value, False))}  # the memory may have been allocated without a value
            return
        self.home.setdefault(form, frame.block)
        often = self.facts.count.get(value, 0) > 1 and form.cost > CHEAP
        if value in self.wants or often:
            if self.home[form] is frame.block:
                self.give_memory(form, value, value.name)
            else:
                self.env[value] = self.give_memory(form, value, value.name)
        else:
            frame.alive[value] = form

    def settle(self, op: Op, k: int, frame: Frame) -> None:
        """Give memory to recipes that read memory which the op overwrites, and to those that a loop would recompute in each iteration."""
        written = {self.facts.find((v, False)) for v in stored_by(op)}
        for value, form in list(frame.alive.items()):
            if frame.last.get(value, -1) < k or form.memory is not None:
                del frame.alive[value]
                continue
            later = frame.last[value] > k or bool(op.blocks)
            again = isinstance(op, For | While) and form.cost > 0 and reads_inside(op, value)
            if later and written & form.reads() or again:
                if not slot_tapes.saved_now(self, value, form):
                    self.give_memory(form, value, value.name)
                del frame.alive[value]

    # -------------------------------------------------------------- ops

    def op(self, op: Op) -> None:
        match op:
            case Call():
                self.call(op)
            case For():
                self.for_loop(op)
            case While():
                self.while_loop(op)
            case If():
                self.branch(op)
            case Apply():
                raise OutOfReach(f"{function_in_words(op)}, which calls itself", op.loc)

    def call(self, op: Call) -> None:
        """Lower one call: by the table of array rows, or as a scalar op."""
        rule = RULES.get(op.name)
        types = [a.type for a in (*op.args, *op.outs)]
        if op.name == "check":
            test = self.number(op.args[0])
            bail_out(self.writer.build, self.writer.call("not_", test))
        elif op.name == "check_count":
            bail_out(self.writer.build, self.writer.call("not_equal", *map(self.number, op.args[:2])))
        elif op.name == "bail_out":
            bail_out(self.writer.build, self.number(op.args[0]))
        elif op.name in ("raise_error", "raise_again"):
            bail_out(self.writer.build, TRUE)
        elif op.name == "evaluated":
            self.evaluate(self.thing(op.args[0]))
        elif op.name in OPAQUE and op.settings["type"] is not None and not calls_solver(op):
            raise OutOfReach("a text or a set that is computed", op.loc)
        elif op.name in OPAQUE:
            name = function_in_words(op)
            what = "a Python function" if name == op.name.replace("_", " ") else f"{name}, which is a Python function"
            raise OutOfReach(f"a call of {what}", op.loc)
        elif rule is not None:
            if op.name not in OF_ARRAYS and any(map(is_complex, types)):
                raise OutOfReach(f"{function_in_words(op)} of complex numbers", op.loc)
            result = rule(self, op)
            self.env.update(zip(op.outs, result if isinstance(result, list) else [result], strict=True))
        elif all(is_number(t) for t in types) and all(isinstance(o.type, Scalar | Object) for o in op.outs):
            self.env.update(zip(op.outs, self.scalar_op(op, [self.number(a) for a in op.args]), strict=True))
        elif pointwise(op):
            (out,) = op.outs
            self.env[out] = self.elementwise(op)
        elif op.name == "opaque_attribute":
            raise OutOfReach(f"the attribute {op.settings['attribute']} of {in_words(types[0])}", op.loc)
        else:
            raise OutOfReach(f"{function_in_words(op)} of {' and '.join(map(in_words, types[: len(op.args)])) or 'nothing'}", op.loc)

    def evaluate(self, thing: Thing) -> None:
        """Compute a value without other readers, because computing it may raise."""
        result: Thing | None = thing
        if isinstance(thing, Form) and thing.rank and thing.value is None:
            result = (thing if thing.memory is not None else self.give_memory(thing, None)).memory
        elif isinstance(thing, Form):
            result = thing.at((ZERO,) * thing.rank)
        if isinstance(result, Value):
            self.writer.build.call_many("evaluated", result)

    def elementwise(self, op: Call) -> Form:
        """Lower a row element by element."""
        (out,) = op.outs
        dtype = refuse(out.type)
        settings = {**op.settings, "via": None} if op.name == "where" else op.settings
        type_ = scalar(dtype)

        def compute(elements: list[Operand]) -> Operand:
            vectorised = vector_name(op, dtype)
            if vectorised is not None:
                value = self.writer.call(vectorised, *(cast_to(self.writer, as_float(e), "f64") for e in elements))
                return cast_to(self.writer, value, dtype)
            if op.name in COMPOSED and dtype in ("f32", "f64"):
                wide = [cast_to(self.writer, as_float(e), "f64") for e in elements]
                return cast_to(self.writer, COMPOSED[op.name](self.writer, *wide), dtype)
            if (wins := self.winning(op)) is not None:
                return cast_to(self.writer, self.share(wins, elements[0], elements[2]), dtype)
            name, elements = as_numpy_takes_it(op, elements)
            one = Call([Value(type_)], self.writer.loc, name, elements, settings)
            (element,) = self.scalar_op(one, elements)
            return cast_to(self.writer, element, dtype)

        operands = [self.form(a) if isinstance(a.type, Array) else self.number(a) for a in op.args]
        return mapped(self.writer, dtype, operands, compute, price_of(op), op.name)

    def winning(self, op: Call) -> str | None:
        """The comparison in which the first operand of ``share`` wins, if both operands of its choice are available."""
        maker = self.facts.maker.get(op.args[1]) if op.name == "share" and isinstance(op.args[1], Value) else None
        if (
            not isinstance(maker, Call)
            or maker.name not in WINNING
            or {*map(key_of, maker.args)} != {key_of(op.args[0]), key_of(op.args[2])}
        ):
            return None
        return WINNING[maker.name]

    def share(self, wins: str, x: Operand, y: Operand) -> Operand:
        """The share of the first operand: 1 if it wins, 0.5 in a tie, 0 for nan; replaces the result of the op."""

        def compared(name: str) -> Operand:
            one = Call([Value(scalar("bool"))], self.writer.loc, name, [x, y], {})
            return self.scalar_op(one, one.args)[0]

        tied = self.writer.call("where", compared("equal"), Const(0.5), Const(0.0), via=None)
        share = self.writer.call("where", compared(wins), Const(1.0), tied, via=None)
        share.type = scalar("f64")  # the type of Python floats in arrays
        return share

    # -------------------------------------------------------------- control flow

    def parts_for(self, value: Value) -> list[Value]:
        """The values that represent one value of the program behind a join."""
        match value.type:
            case Scalar():
                part = Value(value.type, value.name)
                self.env[value] = part
                return [part]
            case Array():
                refuse(value.type)
                handle = Value(Array(value.type.dtype, value.type.shape, "?"), value.name)
                return [handle]
            case ShapeOf(shape=shape) if shape is not None:
                return [Value(scalar_int(), "%n") for _ in shape]
            case Tape(indexed=True):
                return []
            case Tape(items=items):
                return parts_of(self, items, value.name)
            case List(item=item):
                return [Value(List(lists.kept(self, item)), value.name)]
            case Undefined() | Object():
                return []
        raise OutOfReach(f"{named(value)}, which is {in_words(value.type)}", self.writer.loc)

    def open(self, value: Value, parts: list[Value]) -> None:
        """Set the lowered form of a value behind a join; extents are read where the new values are defined."""
        match value.type:
            case Array():
                (handle,) = parts
                self.env[value] = self.memory(handle, value, self.extents_at(handle, value))
            case ShapeOf():
                self.env[value] = tuple(parts)
            case Tape(indexed=True):
                pass
            case Tape(items=items):
                self.env[value] = Stacks(tuple(items), parts)
            case List():
                (handle,) = parts
                self.env[value] = lists.of_handle(handle)
            case Undefined() | Object():
                self.env[value] = Const(None)

    def operands_for(self, operand: Operand, slot: Value) -> list[Operand]:
        """The operands passed to the parts of a slot."""
        if isinstance(slot.type, Undefined | Object):
            return []
        if is_undefined(operand):
            raise OutOfReach("a variable that is unbound on some path", self.writer.loc)
        value = self.thing(operand)
        match slot.type:
            case Scalar():
                return [as_kind(self.number(operand), slot.type)]
            case Array():
                memory = self.materialised(operand).memory if isinstance(value, Form) and value.rank == len(slot.type.shape or ()) else None
                if memory is None:
                    raise OutOfReach(f"{named(slot)}, which is sometimes a number and sometimes an array", self.writer.loc)
                return [memory]
            case ShapeOf():
                return list(self.extents(operand))
            case Tape(indexed=True):
                return []
            case Tape(items=items):
                assert isinstance(value, Stacks)
                return lists_for_slot(self, value, items)
            case List(item=item):
                return [lists.listed(self, operand, item).known]
        raise OutOfReach(f"{named(slot)}, which is {in_words(slot.type)}", self.writer.loc)

    def handed(self, operand: Operand, slot: Value) -> list[Operand]:
        """The operands that a side of a branch yields for a slot; lists without pushes on it get an example item for their type."""
        parts = self.operands_for(operand, slot)
        if isinstance(slot.type, Tape) and isinstance(value := self.thing(operand), Stacks) and not value.lists:
            exemplify(self, parts)
        return parts

    def init(self, operand: Operand, slot: Value) -> list[Operand]:
        """The initial operands of a slot: an array argument that the loop replaces is copied to row-major memory first."""
        parts = self.operands_for(operand, slot)
        if isinstance(slot.type, Array) and parts[0] in self.params:
            form = self.form(operand)
            return [self.new_array(form, slot.name)]
        return parts

    def for_loop(self, op: For) -> None:
        """Lower a loop as one that runs forwards: numba has no ``reversed``."""
        start, stop, step = (self.number(o) for o in (op.start, op.stop, op.step))
        stride = number(step)
        if stride is None or stride == 0:
            raise OutOfReach("a loop with a step that is not a literal", op.loc)
        within = Range(start, stop) if stride > 0 else Range(self.writer.add(stop, ONE), self.writer.add(start, ONE))
        if op.backward:
            start, stop, step = self.reversed_bounds(start, stop, stride)
        inits = [part for i, s in zip(op.inits, op.carried, strict=True) for part in self.init(i, s)]
        self.follow_tapes(op.inits, op.carried, op.outs)
        index = Value(op.index.type, op.index.name)
        self.env[op.index] = index
        self.writer.ranges[index] = within
        arguments = [self.parts_for(c) for c in op.carried]
        body = Block([index, *(p for parts in arguments for p in parts)])
        self.body(op, body, arguments)
        outs = [self.parts_for(o) for o in op.outs]
        self.writer.build.append(For([p for parts in outs for p in parts], op.loc, start, stop, step, inits, body, op.until))
        for value, parts in zip(op.outs, outs, strict=True):
            self.open(value, parts)

    def follow_tapes(self, operands: Sequence[Operand], *slots: Sequence[Value]) -> None:
        """Let a slot tape have the same arrays wherever it is passed on."""
        for values in slots:
            for operand, value in zip(operands, values, strict=False):
                if isinstance(value.type, Tape) and value.type.indexed:
                    self.env[value] = self.thing(operand)

    def body(self, op: For | While, body: Block, arguments: list[list[Value]]) -> None:
        """Lower the block of a loop."""
        with self.writer.inside(body):
            for value, parts in zip(op.carried, arguments, strict=True):
                self.open(value, parts)
            self.block(op.body)
            self.frames.append(Frame(op.body, {}))
            body.yields = [part for y, s in zip(op.body.yields, op.carried, strict=False) for part in self.operands_for(y, s)]
            if op.until:
                body.yields.append(self.number(op.body.yields[-1]))
            self.frames.pop()

    def reversed_bounds(self, start: Operand, stop: Operand, step: int) -> tuple[Operand, Operand, Const]:
        """The range with the same indices, last first."""
        if step == 1:
            return self.writer.add(stop, Const(-1)), self.writer.add(start, Const(-1)), Const(-1)
        call = self.writer.call
        last = call("subtract", call("range_len", start, stop, Const(step)), ONE)
        last = call("add", start, call("multiply", last, Const(step)))
        return last, call("subtract", start, Const(step)), Const(-step)

    def while_loop(self, op: While) -> None:
        inits = [part for i, s in zip(op.inits, op.carried, strict=True) for part in self.init(i, s)]
        self.follow_tapes(op.inits, op.carried, op.test.args, op.outs)
        tested = [self.parts_for(a) for a in op.test.args]
        test = Block([p for parts in tested for p in parts])
        with self.writer.inside(test):
            for value, parts in zip(op.test.args, tested, strict=True):
                self.open(value, parts)
            self.block(op.test)
            self.frames.append(Frame(op.test, {}))
            test.yields = [self.number(op.test.yields[0])]
            self.frames.pop()
        arguments = [self.parts_for(a) for a in op.body.args]
        body = Block([p for parts in arguments for p in parts])
        self.body(op, body, arguments)
        outs = [self.parts_for(o) for o in op.outs]
        self.writer.build.append(While([p for parts in outs for p in parts], op.loc, inits, test, body, op.until))
        for value, parts in zip(op.outs, outs, strict=True):
            self.open(value, parts)

    def branch(self, op: If) -> None:
        test = self.number(op.test)
        blocks = []
        for old in op.blocks:
            block = Block()
            with self.writer.inside(block, "branch"):
                self.block(old)
                self.frames.append(Frame(old, {}))
                block.yields = [part for y, o in zip(old.yields, op.outs, strict=True) for part in self.handed(y, o)]
                self.frames.pop()
            blocks.append(block)
        if any(isinstance(o.type, Tape) and o.type.indexed for o in op.outs):
            raise NoPlaces("a tape that only one branch makes", op.loc)
        outs = [self.parts_for(o) for o in op.outs]
        self.writer.build.append(If([p for parts in outs for p in parts], op.loc, test, *blocks))
        for value, parts in zip(op.outs, outs, strict=True):
            self.open(value, parts)


def without_messages(func: Func) -> Func:
    """Remove the texts of errors, in place: a kernel only leaves, and the NumPy code raises with the text."""
    for op in walk(func.body):
        if isinstance(op, Call) and op.name in ("check", "raise_error", "raise_again"):
            op.args = [op.args[0], NONE] if op.name == "check" else [NONE]
    return dce(func)


# ------------------------------------------------------------------ queries


def scalar_int() -> Scalar:
    return Scalar("int")


def is_number(type_: Type) -> bool:
    """Whether the type is that of one number, or a 0-d array, for which NumPy returns numbers."""
    return isinstance(type_, Scalar | Object) or isinstance(type_, Array) and type_.rank == 0


def last_reads(block: Block) -> dict[Value, int]:
    """The index of the last op that reads each value, directly or inside; yields count as after all ops."""
    places: dict[Value, int] = {}
    for k, op in enumerate(block.ops):
        places.update((operand, k) for operand in operands_within(op) if isinstance(operand, Value))
    places.update((y, len(block.ops)) for y in block.yields if isinstance(y, Value))
    return places


def reads_inside(op: Op, value: Value) -> bool:
    """Whether the blocks of an op read the value."""
    return any(value in read_in(block) for block in op.blocks)


def stored_by(op: Op) -> list[Value]:
    """The arrays that an op, or one inside it, stores to."""
    return [o.args[0] for o in ops_within(op) if isinstance(o, Call) and ROWS[o.name].consumes and isinstance(o.args[0], Value)]


__all__ = ["Lowering", "walked", "lowered_function", "without_messages"]
