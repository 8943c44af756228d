"""Random functions of the IR: verified functions may store in place, and passes keep results."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad.ops.rows.elementwise
import symgrad.ops.rows.engine
import symgrad.ops.rows.engine_lists
import symgrad.ops.rows.engine_opaque
import symgrad.ops.rows.reductions  # noqa: F401
from symgrad.errors import InvalidIR
from symgrad.ir.core import NONE, Block, Const, For, Func, If, Operand, Value, While, clone, walk
from symgrad.ir.parse import parse
from symgrad.ir.show import show
from symgrad.ir.types import FLOAT, INT, Array, Dim, Scalar, Tape, Type
from symgrad.ir.verify import verify
from symgrad.ops.analysis.contents import Contents
from symgrad.ops.build import Builder
from symgrad.pipeline.registry import PASSES as RECORDS
from tests.interpreter import execute, interpret, oracle, same
from tests.pairs import agree

VECTOR = Array("f64", (Dim("x0", 0, True),))
#: passes that random functions here say nothing of, each with where it is run on random programs
ELSEWHERE = {
    "observed": "adds exceptions to what a function gives: test_raising.py",
    "verbatim": "needs the text that a frontend has kept: test_text_to_read.py",
    "loops.definedness": "needs names that may not be bound: test_random_targets.py",
    **{
        one.name: "takes what the walk has written: test_random_targets.py"
        for one in RECORDS.values()
        if one.loose or "writer" in one.takes
    },
}
PASSES = {name: one.function for name, one in RECORDS.items() if name not in ELSEWHERE and not one.on_block}
STRICT = ("copy_elision", "cse", "dce", "fold", "loop_invariants", "dead_tapes", "buffer_reuse")
#: what follows them knows neither the lists that they make of arrays, nor what they leave of an op for printing
LAST = ("array_to_list", "unread")
ARGUMENTS = [np.array([0.3, -0.7, 1.1]), np.array([-0.2, 0.9, 0.4]), 0.8, 3]


@dataclass
class Writer:
    """Writes a random function; ``pools`` holds what is visible, innermost last."""

    random: Random
    build: Builder = field(default_factory=Builder)
    pools: list[list[Value]] = field(default_factory=list)
    careless: bool = False

    def function(self, length: int) -> Func:
        params = [Value(VECTOR, "x"), Value(VECTOR, "y"), Value(FLOAT, "a"), Value(INT, "n")]
        self.pools = [params[:3]]
        body = Block(params)
        with self.build.inside(body):
            self.statements(length, 2)
            body.yields = [self.vector(), self.scalar(), self.build.call("copy", self.vector())]
        return Func("f", body, ["u", "v", "w"])

    def pick(self, array: bool) -> Operand:
        actual = [v for pool in self.pools for v in pool if isinstance(v.type, Array) == array and not isinstance(v.type, Tape)]
        if not actual:
            return self.build.call("copy", self.build.block.args[0]) if array else Const(0.5)
        return actual[-1] if self.random.random() < 0.4 else self.random.choice(actual)

    def vector(self) -> Value:
        value = self.pick(True)
        assert isinstance(value, Value)
        return value

    def scalar(self) -> Operand:
        return Const(self.random.choice([0.0, 1.0, -1.0, 0.5])) if self.random.random() < 0.2 else self.pick(False)

    def add(self, value: Value) -> None:
        self.pools[-1].append(value)

    def statements(self, length: int, depth: int) -> None:
        for _ in range(length):
            makers = [self.compute] * 6 + [self.store] * 3
            if depth:
                makers += [self.loop, self.branch, self.stack]
            maker = self.random.choice(makers)
            if maker in (self.compute, self.store):
                maker(depth)
            else:
                maker(depth - 1)

    def compute(self, depth: int) -> None:
        call, hint = self.build.call, self.random.choice(["h", "z", None])
        match self.random.randrange(13):
            case 0 | 1:
                value = call(self.random.choice(["tanh", "sin", "negative", "copy"]), self.vector(), hint=hint)
            case 2:
                value = call(self.random.choice(["add", "multiply", "subtract"]), self.vector(), self.vector(), hint=hint)
            case 3:
                value = call(self.random.choice(["add", "multiply", "subtract"]), self.vector(), self.scalar(), hint=hint)
            case 4:
                value = call(self.random.choice(["add", "multiply", "subtract"]), self.scalar(), self.scalar())
            case 5:
                value = call("tanh", call("sum", self.vector()))
            case 6:
                value = call("spread", self.scalar(), call("shape_of", self.vector()))
            case 7:
                value = call("unbroadcast", self.vector(), call("shape_of", self.vector()))
            case 8:
                value = call("zeros_of", call("shape_of", self.vector()), hint=hint)
            case 9:
                value = call("view", self.vector(), NONE, NONE, Const(-1), index="s", hint=hint)
            case 10:
                value = call("take", self.vector(), Const(self.random.randrange(3)), index="i")
            case 11:
                value = call("take", self.vector(), NONE, NONE, Const(-1), index="s", hint=hint)
            case _:
                value = call("accumulate", call("zeros_of", call("shape_of", self.vector())), self.vector(), hint="g_grad")
        self.add(value)

    def store(self, depth: int) -> None:
        base = self.vector() if self.careless else self.build.call("copy", self.vector(), hint="s")
        if self.careless and self.random.random() < 0.5 and base.type == VECTOR:
            self.pools[-1] = [v for v in self.pools[-1] if v is not base]
        for _ in range(self.random.randrange(1, 3)):
            match self.random.randrange(3):
                case 0:
                    base = self.build.call("set_at", base, self.scalar(), Const(self.random.randrange(3)), index="i", hint="s")
                case 1:
                    base = self.build.call("accumulate", base, self.vector(), hint="s")
                case _:
                    base = self.build.call("set_at", base, self.vector(), hint="s")
        self.add(base)

    def inside(self, block: Block, length: int, depth: int, more: list[Value]) -> None:
        """Fill a block; its own values are visible only there."""
        self.pools.append(more)
        with self.build.inside(block):
            self.statements(length, depth)

    def loop(self, depth: int) -> None:
        values = [
            self.build.call("copy", self.vector()) if self.random.random() < 0.7 else self.vector()
            for _ in range(self.random.randrange(1, 3))
        ]
        inits: list[Operand] = [*values, self.scalar()]
        carried = [Value(VECTOR, "h"), Value(VECTOR, "k")][: len(values)] + [Value(SCALAR, "c")]
        outs = [Value(c.type, c.name) for c in carried]
        until = self.random.random() < 0.3
        index = Value(INT, "i")
        if self.random.random() < 0.25:
            self.while_loop(depth, inits, carried, outs, until)
            return
        body = Block([index, *carried])
        loop = For(outs, start=Const(0), stop=Const(self.random.randrange(4)), inits=inits, body=body, until=until)
        loop.backward = self.random.random() < 0.3
        self.inside(body, self.random.randrange(1, 5), depth, list(carried))
        self.close(body, carried, until)
        if until:
            outs.append(Value(INT, "rounds"))
        self.build.append(loop)
        for out in outs[: len(carried)]:
            self.add(out)

    def while_loop(self, depth: int, inits: list[Operand], carried: list[Value], outs: list[Value], until: bool) -> None:
        count = Value(INT, "q")
        tested = [Value(c.type, c.name) for c in [*carried, count]]
        test = Block(tested)
        with self.build.inside(test):
            test.yields = [self.build.call("less", tested[-1], Const(self.random.randrange(4)))]
        body = Block([*carried, count])
        self.inside(body, self.random.randrange(1, 4), depth, list(carried))
        with self.build.inside(body):
            after = self.build.call("add", count, Const(1))
        self.close(body, carried, until)
        body.yields.insert(len(carried), after)
        self.build.append(
            While([*outs, Value(INT, "q"), Value(INT, "rounds")], inits=[*inits, Const(0)], test=test, body=body, until=until)
        )
        for out in outs:
            self.add(out)

    def close(self, body: Block, carried: list[Value], until: bool) -> None:
        """Yield something for each carried value, often another carried one."""
        with self.build.inside(body):
            body.yields = [self.yielded(isinstance(c.type, Array), carried) for c in carried]
            if until:
                body.yields.append(self.build.call("greater", self.scalar(), Const(0.4)))
        self.pools.pop()

    def yielded(self, array: bool, carried: list[Value]) -> Operand:
        same_kind = [c for c in carried if isinstance(c.type, Array) == array]
        if self.random.random() < 0.4:
            return self.random.choice(same_kind)
        return self.vector() if array else self.scalar()

    def branch(self, depth: int) -> None:
        test = self.build.call("greater", self.scalar(), Const(0.1))
        blocks = [Block(), Block()]
        for block in blocks:
            self.inside(block, self.random.randrange(0, 3), depth, [])
            with self.build.inside(block):
                block.yields = [self.vector(), self.scalar()]
            self.pools.pop()
        outs = [Value(VECTOR, "b"), Value(SCALAR)]
        self.build.append(If(outs, test=test, then=blocks[0], orelse=blocks[1]))
        for out in outs:
            self.add(out)

    def stack(self, depth: int) -> None:
        """A loop that pushes and one that pops as often."""
        tape_type: Type = Tape((VECTOR,))
        rounds = Const(self.random.randrange(4))
        tape = self.build.call("tape", hint="t_tape")
        h, t, i = Value(VECTOR, "h"), Value(tape_type, "t_tape"), Value(INT, "i")
        body = Block([i, h, t])
        outs = [Value(VECTOR, "h"), Value(tape_type, "t_tape")]
        loop = For(outs, stop=rounds, inits=[self.vector(), tape], body=body)
        self.inside(body, self.random.randrange(0, 3), 0, [h])
        with self.build.inside(body):
            pushed = self.build.call("push", t, self.vector())
            self.statements(self.random.randrange(0, 2), 0)
            body.yields = [self.vector(), pushed]
        self.pools.pop()
        self.build.append(loop)
        self.add(outs[0])
        t2, g, j = Value(tape_type, "t_tape"), Value(VECTOR, "g"), Value(INT, "j")
        back = Block([j, t2, g])
        after = [Value(tape_type, "t_tape"), Value(VECTOR, "g")]
        unwind = For(after, stop=rounds, inits=[outs[1], self.build.call("copy", self.vector())], body=back, backward=True)
        self.pools.append([g])
        with self.build.inside(back):
            rest, popped = self.build.call_many("pop", t2, hints=("t_tape", "h"))
            self.add(popped)
            self.statements(self.random.randrange(1, 4), 0)
            back.yields = [rest, self.vector()]
        self.pools.pop()
        self.build.append(unwind)
        self.add(after[1])


SCALAR = Scalar("float", "any")


def written(seed: int, careless: bool) -> Func:
    random = Random(seed)
    return Writer(random, careless=careless).function(random.randrange(2, 12))


def accepted(func: Func) -> bool:
    try:
        verify(func)
    except InvalidIR:
        return False
    return True


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**32))
def test_what_the_verifier_accepts_may_store_in_place(seed: int) -> None:
    func = written(seed, careless=True)
    if accepted(func):
        oracle(func, ARGUMENTS)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.permutations(STRICT))
def test_passes_keep_the_results_and_the_order_of_stores(seed: int, order: list[str]) -> None:
    func = written(seed, careless=seed % 2 == 0)
    if not accepted(func):
        return
    before = interpret(func, ARGUMENTS)
    for name in order:
        func = PASSES[name](clone(func))
        verify(func)

        assert all(map(same, interpret(func, ARGUMENTS), before)), name
        assert all(map(same, execute(func, ARGUMENTS), before)), name


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", sorted(PASSES))
def test_each_registered_pass_keeps_results(name: str) -> None:
    """What a number is, NumPy's or Python's, some passes decide: its value is the same."""
    tried = 0
    for seed in range(40):
        func = written(seed, careless=seed % 2 == 0)
        if accepted(func):
            before = [plain(result) for result in interpret(func, ARGUMENTS)]
            func = PASSES[name](func)
            verify(func)

            assert agree([*map(plain, interpret(func, ARGUMENTS))], before), seed
            assert agree([*map(plain, execute(func, ARGUMENTS))], before), seed
            tried += 1
    assert tried >= 20


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", sorted(name for name in PASSES if RECORDS[name].needs))
def test_a_pass_does_nothing_on_a_function_without_what_it_needs(name: str) -> None:
    for seed in range(40):
        func = written(seed, careless=seed % 2 == 0)
        if accepted(func) and not Contents.of(func).holds_any(RECORDS[name].needs):
            before = show(func), func.split

            assert (show(PASSES[name](func)), func.split) == before, seed


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 2**32), st.permutations([name for name in sorted(PASSES) if name not in LAST]))
def test_registered_passes_keep_results_in_any_order(seed: int, order: list[str]) -> None:
    func = written(seed, careless=seed % 2 == 0)
    if not accepted(func):
        return
    before = [plain(result) for result in interpret(func, ARGUMENTS)]
    for name in order:
        func = PASSES[name](clone(func))
        verify(func)

        assert agree([*map(plain, interpret(func, ARGUMENTS))], before), name


def plain(result: object) -> object:
    """NumPy's number as Python's."""
    return result.item() if isinstance(result, np.generic) else result


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_the_text_of_a_random_function_is_read_back(seed: int) -> None:
    func = written(seed, careless=False)
    text = show(func)

    assert show(parse(text)) == text
    assert all(map(same, interpret(parse(text), ARGUMENTS), interpret(func, ARGUMENTS)))


def test_most_careful_functions_are_accepted_and_some_careless_ones_are_not() -> None:
    careful = [accepted(written(seed, careless=False)) for seed in range(100)]
    careless = [accepted(written(seed, careless=True)) for seed in range(100)]

    assert sum(careful) >= 60
    assert 5 <= sum(careless) <= 95


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", sorted(PASSES))
def test_a_pass_is_near_linear(name: str) -> None:
    x = Value(VECTOR, "x")
    build = Builder()
    value = build.call("copy", x)
    for _ in range(1500):
        value = build.call("accumulate", build.call("copy", build.call("multiply", value, Const(1.0))), build.call("negative", value))
    func = Func("f", Block([x], build.block.ops, [value]))

    assert sum(1 for _ in walk(PASSES[name](func).body)) <= 6001
