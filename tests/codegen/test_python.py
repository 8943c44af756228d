"""The form of emitted text, construct by construct, and hostile names."""

from __future__ import annotations

import builtins
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad.codegen.header import Header
from symgrad.codegen.python import emit
from symgrad.codegen.texts import Emitted
from symgrad.ir.core import UNDEF, Apply, Block, Const, For, Func, If, Value
from symgrad.ir.parse import parse
from symgrad.ir.types import FLOAT, INT, Array
from symgrad.ops.build import Builder
from symgrad.ops.rows import arrays, creation, elementwise, engine, engine_lists, engine_opaque, reductions  # noqa: F401
from symgrad.runtime.load import load

VECTOR = Array("f64", (4,), "C")


def text_of(ir: str, signature: str, split: int | None = None, **more: Any) -> str:
    func = parse(textwrap.dedent(ir).strip() + "\n")
    func.split = split
    return emit(func, Header(func.name, signature, **more)).text


def built(*params: Value) -> Builder:
    return Builder(Block(list(params)))


def check(text: str, expected: str) -> None:
    assert text == textwrap.dedent(expected).lstrip("\n")


SOURCE = {5: "    h = x", 6: "    for i in range(n):", 7: "        h = np.tanh(w * h + x)", 8: "    return np.sum(h)"}


def test_the_gradient_of_a_loop_reads_like_the_loop() -> None:
    text = text_of("""
        func rnn_sum_grad(x: f64[!x0], w: float, n: int) -> f64[!x0], float: @ rnn.py:4
            h_tape.0 = tape() : tape[]                                    @ 6
            for i.0 in range(0, n, 1):                                    @ 6
                carry h.0 = x -> h.1
                carry h_tape.1 = h_tape.0 -> h_tape.3
                h_tape.2 = push(h_tape.1, h.0) : tape[f64[!x0]]           @ 7
                %0 = multiply(w, h.0) : f64[!x0]                          @ 7
                %1 = add(%0, x) : f64[!x0]                                @ 7
                h.2 = tanh(%1) : f64[!x0]                                 @ 7
                yield h.2, h_tape.2
            h_grad.0 = full_like(h.1, 1.0) : f64[!x0]                     @ 8
            x_grad.0 = zeros_like(x) : f64[!x0]                           @ 5
            for i.1 in reversed(range(0, n, 1)):                          @ 6
                carry h.3 = h.1 -> h.5
                carry h_tape.4 = h_tape.3 -> h_tape.6
                carry x_grad.1 = x_grad.0 -> x_grad.3
                carry w_grad.1 = 0.0 -> w_grad.3
                carry h_grad.1 = h_grad.0 -> h_grad.3
                %2 = power(h.3, 2) : f64[!x0]                             @ 7
                %3 = subtract(1, %2) : f64[!x0]                           @ 7
                t_grad.0 = multiply(h_grad.1, %3) : f64[!x0]              @ 7
                h_tape.5, h.4 = pop(h_tape.4) : tape[f64[!x0]], f64[!x0]  @ 7
                x_grad.2 = accumulate(x_grad.1, t_grad.0) : f64[!x0]      @ 7
                %4 = multiply(t_grad.0, h.4) : f64[!x0]                   @ 7
                %5 = sum(%4) : scalar f64                                 @ 7
                w_grad.2 = accumulate(w_grad.1, %5) : scalar f64          @ 7
                h_grad.2 = multiply(t_grad.0, w) : f64[!x0]               @ 7
                yield h.4, h_tape.5, x_grad.2, w_grad.2, h_grad.2
            x_grad.4 = accumulate(x_grad.3, h_grad.3) : f64[!x0]          @ 5
            return x_grad.4, w_grad.3
        """, "x, w, n", split=2, doc="Gradient of rnn_sum.", lines=lambda file, line: SOURCE[line])  # fmt: skip

    check(
        text,
        '''
        def rnn_sum_grad(x, w, n):
            """Gradient of rnn_sum."""
            h_tape = []
            h = x
            for i in range(n):
                h_tape.append(h)
                h = np.tanh(w * h + x)

            # backward
            h_grad = np.full_like(h, 1.0)              # 8: return np.sum(h)
            x_grad = np.zeros_like(x)                  # 5: h = x
            w_grad = 0.0
            for i in reversed(range(n)):               # 6: for i in range(n):
                t_grad = h_grad * (1 - h**2)           # 7: h = np.tanh(w * h + x)
                h = h_tape.pop()
                x_grad += t_grad
                w_grad += (t_grad * h).sum()
                h_grad = t_grad * w
            x_grad += h_grad                           # 5: h = x
            return x_grad, w_grad
        ''',
    )


def test_a_swap_is_one_assignment() -> None:
    text = text_of(
        """
        func f(a: float, b: float, n: int) -> float, float:
            for i.0 in range(0, n, 1):
                carry a.0 = a -> a.1
                carry b.0 = b -> b.1
                %0 = add(a.0, b.0) : float
                yield b.0, %0
            return a.1, b.1
        """,
        "a, b, n",
    )

    check(
        text,
        """
        def f(a, b, n):
            for i in range(n):
                a, b = b, a + b
            return a, b
        """,
    )


def test_a_store_of_a_sum_is_an_augmented_assignment() -> None:
    text = text_of(
        """
        func f(x: f64[4], v: float) -> f64[4]:
            y.0 = copy(x) : f64[4]
            %0 = view(y.0, 1, -1, None, index="s") : f64[2]
            %1 = multiply(%0, v) : f64[2]
            y.1 = set_at(y.0, %1, 1, -1, None, index="s") : f64[4]
            y.2 = set_at(y.1, v, 1, 3, None, 0, index="s;i") : f64[4]
            return y.2
        """,
        "x, v",
    )

    check(
        text,
        """
        def f(x, v):
            y = x.copy()
            y[1:-1] *= v
            y[1:3][0] = v
            return y
        """,
    )


def test_a_read_stays_before_the_store_that_changes_it() -> None:
    x = Value(VECTOR, "x")
    build = built(x)
    y = build.call("copy", x, hint="y")
    old = build.call("take", y, Const(0), index="i")
    new = build.call("set_at", y, Const(5.0), Const(0), index="i", hint="y")
    build.block.yields = [build.call("add", old, Const(1.0)), new]
    emitted = emit(Func("f", build.block), Header("f", "x"))

    assert [float(v) for v in np.hstack(load(emitted.text, "f", emitted.namespace)(np.arange(4.0)))] == [1, 5, 1, 2, 3]


def test_an_exit_is_printed_as_break_and_return() -> None:
    text = text_of(
        """
        func f(x: f64[4], n: int) -> float:
            for i.0 in range(0, n, 1) until:
                carry s.0 = 0.0 -> s.1 : float?
                rounds -> %9
                %0 = take(x, i.0, index="i") : scalar f64
                %1 = greater(%0, 1.0) : scalar bool
                if %1 -> s.4, %5:
                    yield s.0, True
                else:
                    s.3 = add(s.0, %0) : scalar f64
                    yield s.3, False
                yield s.4, %5
            %6 = greater(%9, 2) : bool
            if %6 -> %7:
                yield s.1
            else:
                %8 = multiply(s.1, 2.0) : float?
                yield %8
            return %7
        """,
        "x, n",
    )

    check(
        text,
        """
        def f(x, n):
            s = 0.0
            rounds = 0
            for i in range(n):
                rounds += 1
                x_part = x[i]
                if x_part > 1.0:
                    break
                s += x_part
            return s if rounds > 2 else s * 2.0
        """,
    )


def test_a_while_loop_keeps_its_test() -> None:
    text = text_of(
        """
        func f(a: float) -> float:
            while:
                carry a.0 = a -> a.1
                rounds -> %9
                %0 = less(a.0, 10.0) : bool
                test %0
                a.2 = multiply(a.0, 2.0) : float
                yield a.2
            return a.1
        """,
        "a",
    )

    check(
        text,
        """
        def f(a):
            while a < 10.0:
                a *= 2.0
            return a
        """,
    )


def test_nothing_is_printed_for_an_unbound_name() -> None:
    a = Value(FLOAT, "a")
    build = built(a)
    test = build.call("greater", a, Const(0.0))
    op = If([Value(FLOAT, "b")], build.loc, test)
    with build.inside(op.then):
        op.then.yields = [build.call("multiply", a, Const(2.0), hint="b")]
    op.orelse.yields = [UNDEF]
    build.append(op)
    with build.inside(Block()):
        pass
    build.block.yields = [op.outs[0], a]

    check(
        emit(Func("f", build.block), Header("f", "a", result="{1}")).text,
        """
        def f(a):
            if a > 0.0:
                b = a * 2.0
            return a
        """,
    )


def in_branches(build: Builder, twice: Value, a: Value, hint: str) -> Value:
    """A number that is bound where ``a`` is more than 1, and is given another name where ``twice`` is positive."""
    outer = If([Value(FLOAT, "y")], build.loc, build.call("greater", twice, Const(0.0)))
    with build.inside(outer.then):
        inner = If([Value(FLOAT, hint)], build.loc, build.call("greater", a, Const(1.0)))
        with build.inside(inner.then):
            inner.then.yields = [build.call("multiply", twice, Const(3.0), hint=hint)]
        inner.orelse.yields = [UNDEF]
        build.append(inner)
        outer.then.yields = [inner.outs[0]]
    outer.orelse.yields = [Const(0.0)]
    build.append(outer)
    return outer.outs[0]


def in_rounds(build: Builder, twice: Value, a: Value, hint: str) -> Value:
    """A number that a round binds if ``a`` is more than 1, and that has another name till the round ends."""
    slot = Value(FLOAT, hint)
    loop = For([Value(FLOAT, hint)], build.loc, Const(0), Const(2), Const(1), [UNDEF], Block([Value(INT, "i"), slot]))
    with build.inside(loop.body):
        inner = If([Value(FLOAT, "y")], build.loc, build.call("greater", a, Const(1.0)))
        with build.inside(inner.then):
            inner.then.yields = [build.call("multiply", twice, Const(3.0), hint="y")]
        inner.orelse.yields = [slot]
        build.append(inner)
        loop.body.yields = [inner.outs[0]]
    build.append(loop)
    return loop.outs[0]


def in_choices(build: Builder, twice: Value, a: Value, hint: str, times: int = 1) -> Value:
    """A number that is bound where ``a`` is more than 1, and chosen by an expression where it is less."""
    outer = If([Value(FLOAT, "y")], build.loc, build.call("greater", twice, Const(0.0)))
    with build.inside(outer.then):
        inner = If([Value(FLOAT, hint)], build.loc, build.call("greater", a, Const(1.0)))
        with build.inside(inner.then):
            inner.then.yields = [build.call("multiply", twice, Const(3.0), hint=hint)]
        inner.orelse.yields = [UNDEF]
        build.append(inner)
        choice = If([Value(FLOAT)], build.loc, build.call("less", a, Const(0.7)))
        choice.then.yields = [inner.outs[0]]
        with build.inside(choice.orelse):
            choice.orelse.yields = [build.call("multiply", twice, Const(3.0))]
        build.append(choice)
        outer.then.yields = [choice.outs[0]] * times
    outer.orelse.yields = [Const(0.0)] * times
    outer.outs += [Value(FLOAT, "other")] * (times - 1)
    build.append(outer)
    return outer.outs[-1]


def in_statements(build: Builder, twice: Value, a: Value, hint: str) -> Value:
    """The same, by an expression with a name of its own."""
    return in_choices(build, twice, a, hint, 2)


@pytest.mark.parametrize("hint", ["a", "z", "t"])
@pytest.mark.parametrize(
    ("bind", "kernel"), [(in_branches, False), (in_choices, False), (in_statements, False), (in_rounds, False), (in_rounds, True)]
)
def test_parameters_stay_bound_where_a_name_without_a_value_is_copied(bind: Callable[..., Value], kernel: bool, hint: str) -> None:
    """A parameter is read first and free afterwards, so that what may have no value takes its name."""
    z, a = Value(FLOAT, "z"), Value(FLOAT, "a")
    build = built(z, a)
    twice = build.call("multiply", z, Const(2.0), hint="twice")
    bound = bind(build, twice, a, hint)
    reads = If([Value(FLOAT, "result")], build.loc, build.call("greater", twice, Const(2.0)))
    with build.inside(reads.then):
        reads.then.yields = [build.call("add", bound, bound)]
    reads.orelse.yields = [Const(0.0)]
    build.append(reads)
    build.block.yields = [build.call("add", reads.outs[0], twice)]
    run = load(emit(Func("f", build.block), Header("f", "z, a", kernel=kernel)).text, "f", {})

    assert [run(1.0, 5.0), run(3.0, 1.5), run(1.0, 0.5), run(-1.0, 0.5)] == [2.0, 42.0, 2.0, -2.0]


def test_several_saved_values_are_one_tuple() -> None:
    text = text_of(
        """
        func f(a: float, b: float) -> float:
            h_tape.0 = tape() : tape[]
            h_tape.1 = push(h_tape.0, a, b) : tape[float, float]
            h_tape.2, c.0, d.0 = pop(h_tape.1) : tape[float, float], float, float
            %0 = multiply(c.0, d.0) : float
            return %0
        """,
        "a, b",
    )

    check(
        text,
        """
        def f(a, b):
            h_tape = []
            h_tape.append((a, b))
            c, d = h_tape.pop()
            return c * d
        """,
    )


def test_calls_of_functions_are_definitions_before_it() -> None:
    a = Value(FLOAT, "a")
    inner = built(a)
    inner.block.yields = [inner.call("sin", a)]
    b = Value(FLOAT, "b")
    build = built(b)
    out = Value(FLOAT)
    build.append(Apply([out], build.loc, Func("f", inner.block), [b]))
    build.block.yields = [build.call("multiply", out, Const(2.0))]

    check(
        emit(Func("f", build.block), Header("f", "b")).text,
        """
        def f_1(a):
            return np.sin(a)


        def f(b):
            return f_1(b) * 2.0
        """,
    )


def test_parameters_are_bound_on_entry_in_order() -> None:
    w, c = Value(FLOAT, "w"), Value(FLOAT, "params")
    build = built(w, c)
    build.block.yields = [build.call("multiply", w, c)]
    emitted = emit(Func("f", build.block), Header("f", "params", {w: 'params["w"]', c: 'params["c"]'}, result='({{"y": {0}}}, params)'))

    check(
        emitted.text,
        """
        def f(params):
            w = params["w"]
            params_1 = params["c"]
            return {"y": w * params_1}, params
        """,
    )


def test_objects_that_have_no_literal_are_in_the_namespace() -> None:
    def noise(scale: float) -> float:
        return scale

    a = Value(FLOAT, "noise")
    build = built(a)
    build.block.yields = [build.call("opaque", Const(noise, "noise"), a, names=("scale",))]
    emitted = emit(Func("f", build.block), Header("f", "noise"))

    assert emitted.text == "def f(noise):\n    return noise_1(scale=noise)\n"
    assert emitted.namespace == {"noise_1": noise}


HOSTILE = ["lambda", "None", "np", "range", "a b", "x\nimport os", "", "1st", "ﬁ", "fi", "__debug__", "print", "é", "x;y", "%", "match"]


def test_hostile_names_become_distinct_identifiers() -> None:
    values = [Value(FLOAT, name) for name in HOSTILE]
    build = built(*values)
    total = values[0]
    for value in values[1:]:
        total = build.call("subtract", build.call("multiply", total, Const(2.0), hint=value.name), value, hint=value.name)
    build.block.yields = [total, *values]
    bind = {value: f"given[{k}]" for k, value in enumerate(values)}
    emitted = emit(Func("f", build.block), Header("f", "given", bind))
    numbers = [float(k) for k in range(len(values))]
    expected = numbers[0]
    for number in numbers[1:]:
        expected = expected * 2.0 - number

    assert load(emitted.text, "f", emitted.namespace)(numbers) == (expected, *numbers)


@pytest.mark.parametrize("name", ["np", "range", "unbroadcast", "reversed", "slice", "math", "abs"])
def test_a_parameter_may_hide_any_global(name: str) -> None:
    n, x = Value(INT, name), Value(VECTOR, "x")
    build = built(x, n)
    shape = build.call("shape_of", x)
    y = build.call("unbroadcast", build.call("abs", build.call("tanh", x)), shape, hint="y")
    carried, index = Value(VECTOR, "y"), Value(INT, "i")
    body = Block([index, carried])
    with build.inside(body):
        body.yields = [build.call("add", carried, index, hint="y")]
    loop = For([Value(VECTOR, "y")], build.loc, Const(0), n, Const(1), [y], body, False, True)
    build.append(loop)
    build.block.yields = [loop.outs[0]]
    emitted = emit(Func("f", build.block), Header("f", f"x, {name}"))
    x0 = np.arange(4.0)

    assert np.array_equal(load(emitted.text, "f", emitted.namespace)(x0, 3), abs(np.tanh(x0)) + 3)
    assert not hasattr(builtins, name) or name not in emitted.namespace


def test_docstrings_and_source_lines_cannot_add_code() -> None:
    a = Value(FLOAT, "a")
    build = built(a)
    build.block.yields = [build.call("negative", a)]
    emitted = emit(
        Func("f", build.block, split=0), Header("f", "a", doc='"""\nraise SystemExit\n"""', lines=lambda file, line: "x\nraise SystemExit")
    )

    assert load(emitted.text, "f", emitted.namespace)(1.0) == -1.0


@pytest.mark.parametrize(
    "value", [-2.0, -0.0, float("inf"), float("-inf"), 1e300, -3, True, 2j, complex(-0.0, -1.5), np.float32(-1.5), np.int64(3)]
)
def test_numbers_are_the_same_after_printing(value: Any) -> None:
    build = built()
    build.block.yields = [Const(value)]
    emitted = emit(Func("f", build.block), Header("f", ""))
    actual = load(emitted.text, "f", emitted.namespace)()

    assert type(actual) is type(value)
    assert repr(actual) == repr(value)


def test_a_long_expression_is_cut_into_lines() -> None:
    x = Value(FLOAT, "some_long_name")
    build = built(x)
    total = x
    for _ in range(40):
        total = build.call("sin", build.call("add", total, x))
    build.block.yields = [total]
    emitted = emit(Func("f", build.block), Header("f", "some_long_name"))

    assert max(map(len, emitted.text.splitlines())) <= 88
    assert len(emitted.text.splitlines()) < 25


@pytest.mark.slow  # figures of time belong to a quiet machine
def test_time_grows_with_length_only() -> None:
    def seconds(length: int) -> float:
        x = Value(VECTOR, "x")
        build = built(x)
        values = [x]
        for k in range(length):
            values.append(build.call("tanh", build.call("add", values[max(0, k - 3)], values[-1]), hint=f"h{k % 7}"))
        build.block.yields = [values[-1]]
        start = time.process_time()
        emit(Func("f", build.block), Header("f", "x"))
        return time.process_time() - start

    assert min(seconds(1000) for _ in range(2)) < 2.0


def test_a_loaded_function_shows_its_source() -> None:
    import inspect

    emitted = Emitted("def f(x):\n    return x / 0\n", {})

    assert inspect.getsource(load(emitted.text, "f", {})) == emitted.text
