"""Random programs of the IR: arithmetic, reads, stores, branches, loops with and without exits, to any nesting."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from symgrad.ir.core import Block, Const, For, Func, If, Operand, Value, While
from symgrad.ir.types import FLOAT, INT, Array, Dim, Scalar, join
from symgrad.ops.build import Builder

VECTOR = Array("f64", (Dim("x0", 0, True),))
NUMBER = Scalar("float", "any")
NONE = Const(None)
SLICES = [(1, None), (None, -1)]


@dataclass
class State:
    """What a block sees: numbers, arrays that are never written to, versions of arrays that are, integers below the length."""

    numbers: list[Operand] = field(default_factory=list)
    arrays: list[Value] = field(default_factory=list)
    buffers: list[Value] = field(default_factory=list)
    indices: list[Operand] = field(default_factory=list)

    def copy(self) -> State:
        return State(list(self.numbers), list(self.arrays), list(self.buffers), list(self.indices))


class Writer:
    """Writes one function from one seed."""

    def __init__(self, seed: int, stores: bool = True) -> None:
        self.random = random.Random(seed)
        self.builder = Builder()
        self.stores = stores
        self.branches = 0

    def function(self, size: int) -> Func:
        """A function of two arrays, two numbers and a count, with one number as its result."""
        x, u = Value(VECTOR, "x"), Value(VECTOR, "u")
        w, v, n = Value(FLOAT, "w"), Value(FLOAT, "v"), Value(INT, "n")
        func = Func("f", Block([x, u, w, v, n]), ["out"])
        state = State([w, v, Const(0.7)], [x, u], [], [Const(0), Const(2)])
        with self.builder.inside(func.body):
            for source in (x, u)[: self.random.randint(1, 2) if self.stores else 0]:
                state.buffers.append(self.builder.call("copy", source, hint=self.random.choice(["y", "z"])))
            self.block(state, size, 0, n)
            total: Operand = self.number(state)
            for source in [*state.arrays[-2:], *state.buffers]:
                square = self.builder.call("multiply", source, source)
                total = self.builder.call("add", total, self.builder.call("sum", self.random.choice([square, source])))
        func.body.yields = [total]
        return func

    def number(self, state: State) -> Operand:
        return self.random.choice(state.numbers[-4:])

    def array(self, state: State) -> Value:
        return self.random.choice([*state.arrays[-3:], *state.buffers])

    def block(self, state: State, size: int, depth: int, n: Value) -> None:
        """Some statements."""
        for _ in range(self.random.randint(1, size)):
            kinds = [self.scalar_op, self.array_op, self.read, self.reduce]
            if state.buffers:
                kinds += [self.store, self.store, self.add_store, self.shifted]
            if depth < 3:
                kinds += [self.branch, self.loop, self.loop]
            kind = self.random.choice(kinds)
            if kind in (self.branch, self.loop):
                kind(state, max(size - 2, 2), depth, n)  # type: ignore[call-arg]
            else:
                kind(state)  # type: ignore[call-arg]

    # ---------------------------------------------------------------- statements

    def scalar_op(self, state: State) -> None:
        a, b = self.number(state), self.number(state)
        name = self.random.choice(["multiply", "add", "sin", "tanh", "subtract"])
        value = self.builder.call(name, a) if name in ("sin", "tanh") else self.builder.call(name, a, b)
        state.numbers.append(self.builder.call("sin", value, hint=self.random.choice(["s", None])))

    def array_op(self, state: State) -> None:
        name = self.random.choice(["multiply", "add", "sin", "tanh", "scale", "where"])
        a, b = self.array(state), self.array(state)
        match name:
            case "sin" | "tanh":
                value = self.builder.call(name, a)
            case "scale":
                value = self.builder.call("multiply", a, self.number(state))
            case "where":
                value = self.builder.call("where", self.builder.call("greater", a, b), b, self.builder.call("sin", a))
            case _:
                value = self.builder.call(name, a, b)
        if name in ("multiply", "add", "scale"):
            value = self.builder.call("tanh", value, hint=self.random.choice(["h", None]))
        state.arrays.append(value)

    def read(self, state: State) -> None:
        state.numbers.append(self.builder.call("take", self.array(state), self.random.choice(state.indices), index="i"))

    def reduce(self, state: State) -> None:
        state.numbers.append(self.builder.call("tanh", self.builder.call("sum", self.array(state))))

    def store(self, state: State) -> None:
        """``y[i] = ...`` of a number, or of an element of the same array."""
        k = self.random.randrange(len(state.buffers))
        value = self.number(state)
        if self.random.random() < 0.5:
            item = self.builder.call("take", state.buffers[k], self.random.choice(state.indices), index="i")
            value = self.builder.call("multiply", item, value)
        state.buffers[k] = self.builder.call("set_at", state.buffers[k], value, self.random.choice(state.indices), index="i", hint="y")

    def add_store(self, state: State) -> None:
        """``y += ...`` on the whole array."""
        k = self.random.randrange(len(state.buffers))
        sum_ = self.builder.call("multiply", state.buffers[k], self.builder.call("sin", self.array(state)))
        state.buffers[k] = self.builder.call("set_at", state.buffers[k], sum_, index="e", hint="y")

    def shifted(self, state: State) -> None:
        """``y[1:] = f(y[1:], y[:-1])``, overlapping."""
        k = self.random.randrange(len(state.buffers))
        y = state.buffers[k]
        kind = self.random.choice(["view", "take"])
        first = self.builder.call(kind, y, Const(1), NONE, NONE, index="s")
        second = self.builder.call(kind, self.random.choice([y, self.array(state)]), NONE, Const(-1), NONE, index="s")
        value = self.builder.call(self.random.choice(["multiply", "add"]), first, second)
        if self.random.random() < 0.5:
            value = self.builder.call("sin", value)
        state.buffers[k] = self.builder.call(
            "set_at", y, value, *self.random.choice([(Const(1), NONE, NONE), (NONE, Const(-1), NONE)]), index="s", hint="y"
        )

    # ---------------------------------------------------------------- control

    def condition(self, state: State) -> Operand:
        if self.random.random() < 0.3:
            return self.builder.call("greater", self.random.choice(state.indices), Const(0))
        return self.builder.call("greater", self.number(state), Const(0.21))

    def branch(self, state: State, size: int, depth: int, n: Value) -> None:
        op = If([], self.builder.loc, self.condition(state), Block(), Block())
        ends = []
        for block in op.blocks:
            inner = state.copy()
            self.branches += 1
            with self.builder.inside(block):
                self.block(inner, size, depth + 1, n)
            self.branches -= 1
            ends.append(inner)
            block.yields = [self.number(inner), self.array_only(inner), *inner.buffers]
        for a, b in zip(op.then.yields, op.orelse.yields, strict=True):
            op.outs.append(Value(join(a.type, b.type), "y" if isinstance(a.type, Array) else "s"))
        self.builder.append(op)
        state.numbers.append(op.outs[0])
        state.arrays.append(op.outs[1])
        state.buffers = op.outs[2:]

    def array_only(self, state: State) -> Value:
        return self.random.choice(state.arrays[-3:])

    def loop(self, state: State, size: int, depth: int, n: Value) -> None:
        kind = self.random.choice(["for", "until", "while", "backward"])
        inits: list[Operand] = [self.number(state), self.number(state), self.array_only(state), *state.buffers]
        args = [Value(NUMBER, "s"), Value(NUMBER, "t"), Value(VECTOR, "h"), *(Value(VECTOR, "y") for _ in state.buffers)]
        stop = self.random.choice([n, Const(3), Const(0), Const(1)])
        body = Block()
        inner = replace(state.copy(), buffers=args[3:])
        inner.numbers += args[:2]
        inner.arrays.append(args[2])
        outs = [Value(a.type, a.name) for a in args]
        rounds = Value(INT, "rounds")
        if kind == "while":
            count, more = Value(INT, "k"), Value(INT, "k")
            test = Block([Value(a.type, a.name) for a in [*args, count]])
            with self.builder.inside(test):
                test.yields = [self.builder.call("less", test.args[-1], stop)]
            body.args = [*args, count]
            inner.indices.append(Const(1))
            op: For | While = While([*outs, more, rounds], self.builder.loc, [*inits, Const(0)], test, body)
        else:
            index = Value(INT, "i")
            body.args = [index, *args]
            inner.indices.append(index)
            until = kind == "until"
            op = For(
                [*outs, *([rounds] if until else [])], self.builder.loc, Const(0), stop, Const(1), inits, body, until, kind == "backward"
            )
        with self.builder.inside(body):
            self.block(inner, size, depth + 1, n)
            buffers = inner.buffers
            if len(buffers) > 1 and not self.branches and self.random.random() < 0.3:
                buffers = buffers[::-1]
            body.yields = [self.number(inner), self.random.choice([args[0], self.number(inner)]), self.array_only(inner), *buffers]
            if kind == "while":
                body.yields.append(self.builder.call("add", count, Const(1)))
            if kind == "until":
                body.yields.append(self.builder.call("greater", self.number(inner), Const(0.4)))
        self.builder.append(op)
        state.numbers += outs[:2]
        state.arrays.append(outs[2])
        state.buffers = outs[3:]


def random_function(seed: int, size: int = 5, stores: bool = True) -> Func:
    """The function of a seed."""
    return Writer(seed, stores).function(size)
