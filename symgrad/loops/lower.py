"""A derivative as array statements -> the same as ``for`` loops over numbers, which numba compiles well."""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import ONE, TRUE, Apply, Block, Call, Const, For, Func, If, Op, Operand, Undef, Value, While, clone
from symgrad.ir.types import Array, Scalar, Type
from symgrad.loops.reach import OutOfReach
from symgrad.loops.scalars import bail_out, lower_scalar
from symgrad.ops.build import Builder, symbols
from symgrad.passes.apart import apart
from symgrad.passes.stacks import stacks


def to_loops(func: Func) -> Func:
    """A new function that computes the same with loops over scalars only; ``OutOfReach`` where there is none.

    It may leave early (``bail_out``) for any arguments, never with a result that differs.
    """
    func = apart(stacks(clone(func)))
    lowering = Lowering(Builder(taken=symbols(func)))
    made = Func(func.name, Block(), list(func.results), func.loc, None, func.doc)
    for value in func.params:
        made.body.args.append(lowering.enter(value))
    lowering.inside(func.body, made.body)
    return made


@dataclass(slots=True)
class Lowering:
    """The walk: what each old value has become."""

    build: Builder
    table: dict[Value, Operand] = field(default_factory=dict)

    def enter(self, value: Value) -> Value:
        """A new value for a parameter, an index, a carried value or a result."""
        self.table[value] = made = Value(value.type, value.name)
        return made

    def operand(self, operand: Operand, op: Op | None = None) -> Operand:
        """What an operand has become."""
        if isinstance(operand, Value):
            return self.table[operand]
        if isinstance(operand.value, Undef):
            raise OutOfReach("a name that is unbound on some path", None if op is None else op.loc)
        return operand

    def inside(self, old: Block, new: Block) -> None:
        """Lower the ops of a block into another, and its yields."""
        with self.build.inside(new):
            for op in old.ops:
                with self.build.at(op.loc):
                    self.op(op)
            new.yields = [self.operand(y) for y in old.yields]

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
                raise OutOfReach("a function that is called, not inlined", op.loc)

    # -------------------------------------------------------------- control flow

    def carried(self, inits: list[Operand], slots: list[Value], op: Op) -> list[Operand]:
        """What loops start from; a literal takes the kind of the variable, so that this has one type."""
        return [as_kind(self.operand(i, op), s.type) for i, s in zip(inits, slots, strict=True)]

    def for_loop(self, op: For) -> None:
        """Loops run forwards: numba has no ``reversed``."""
        start, stop, step = (self.operand(o) for o in (op.start, op.stop, op.step))
        if not isinstance(step, Const):
            raise OutOfReach("a loop with a step that is not a literal", op.loc)
        inits = self.carried(op.inits, op.carried, op)
        if op.backward:
            start, stop, step = self.reversed_bounds(start, stop, step)
        body = Block([self.enter(a) for a in op.body.args])
        self.inside(op.body, body)
        self.build.append(For([self.enter(o) for o in op.outs], op.loc, start, stop, step, inits, body, op.until))

    def reversed_bounds(self, start: Operand, stop: Operand, step: Const) -> tuple[Operand, Operand, Const]:
        """The range that has the same indices, last first."""
        call = self.build.call
        if step.value == 1:
            return call("subtract", stop, ONE), call("subtract", start, ONE), Const(-1)
        last = call("subtract", call("range_len", start, stop, step), ONE)
        last = call("add", start, call("multiply", last, step))
        return last, call("subtract", start, step), Const(-step.value)

    def while_loop(self, op: While) -> None:
        inits = self.carried(op.inits, op.carried, op)
        test, body = Block([self.enter(a) for a in op.test.args]), Block([self.enter(a) for a in op.body.args])
        self.inside(op.test, test)
        self.inside(op.body, body)
        self.build.append(While([self.enter(o) for o in op.outs], op.loc, inits, test, body, op.until))

    def branch(self, op: If) -> None:
        test = self.operand(op.test)
        then, orelse = Block(), Block()
        self.inside(op.then, then)
        self.inside(op.orelse, orelse)
        self.build.append(If([self.enter(o) for o in op.outs], op.loc, test, then, orelse))

    # -------------------------------------------------------------- rows

    def call(self, op: Call) -> None:
        args = [self.operand(a, op) for a in op.args]
        match op.name:
            case "tape" | "push" | "pop" | "extent" | "shape_of" | "zeros_of":
                made: list[Operand] = list(self.build.call_many(op.name, *args, hints=tuple(o.name for o in op.outs), **op.settings))
            case "take" | "set_at" | "add_at" if is_element(op):
                made = self.element(op, args)
            case "check":
                bail_out(self.build, self.build.call("not_", args[0]))
                made = []
            case "raise_error":
                bail_out(self.build, TRUE)
                made = []
            case _ if all(isinstance(a.type, Scalar) for a in args):
                made = lower_scalar(self.build, op, args)
            case _:
                raise OutOfReach(f"{op.name} of arrays", op.loc)
        self.table.update(zip(op.outs, made, strict=True))

    def element(self, op: Call, args: list[Operand]) -> list[Operand]:
        """Read or write one element; numba does not look whether it is there."""
        place = 1 if op.name == "take" else 2
        for axis, index in enumerate(args[place:]):
            extent = self.build.call("extent", args[0], axis=axis)
            bail_out(self.build, self.build.call("greater_equal", index, extent))
            bail_out(self.build, self.build.call("less", index, self.build.call("negative", extent)))
        return list(self.build.call_many(op.name, *args, hints=tuple(o.name for o in op.outs), **op.settings))


def is_element(op: Call) -> bool:
    """Does the path name one element of an array, by integers?"""
    array, index = op.args[0].type, op.settings["index"]
    place = 1 if op.name == "take" else 2
    whole = isinstance(array, Array) and array.rank == len(index) and set(index) == {"i"} and array.dtype in REACHED
    return whole and all(isinstance(a.type, Scalar) and a.type.kind == "int" for a in op.args[place:])


#: dtypes of arrays that kernels read and write
REACHED = frozenset({"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"})


def as_kind(operand: Operand, type_: Type) -> Operand:
    """A literal as the kind of number that a variable holds."""
    if isinstance(operand, Const) and type(operand.value) in (bool, int) and isinstance(type_, Scalar):
        return Const({"float": float, "int": int, "bool": bool}.get(type_.kind, float)(operand.value))
    return operand


__all__ = ["OutOfReach", "to_loops"]
