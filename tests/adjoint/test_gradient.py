"""Gradients of programs in IR text and of random ones, compared with differences; the values they save."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.adjoint.analysis.activity import matters
from symgrad.adjoint.pullback import split_pullback
from symgrad.ir.core import Apply, Block, Call, Const, Func, If, Operand, Value, walk
from symgrad.ir.parse import parse
from symgrad.ir.types import INT, Array, Scalar
from symgrad.ir.verify import verify
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS
from tests.adjoint import cases
from tests.adjoint.harness import check, gradient, interpret
from tests.adjoint.random_ir import random_function
from tests.interpreter import Machine, execute


@pytest.mark.parametrize("name", cases.CASES)
@pytest.mark.parametrize("order", [1, 2])
def test_case(name: str, order: int) -> None:
    text, args, wrt = cases.CASES[name]
    check(text, args, wrt, order)


@pytest.mark.parametrize("name", ["rnn 3", "stencil 1", "swap", "list", "branch store 1"])
def test_third_order(name: str) -> None:
    text, args, wrt = cases.CASES[name]
    check(text, args, wrt, 3)


def recursive() -> Func:
    """``f(x, n) = x * x if n == 0 else sin(x) * f(1.1 * x, n - 1)``."""
    x, n = Value(Scalar("float", "any"), "x"), Value(INT, "n")
    func = Func("f", Block([x, n]), ["out"])
    builder = Builder(func.body)
    branch = If([Value(Scalar("float", "any"))], builder.loc, builder.call("equal", n, Const(0)))
    with builder.inside(branch.then):
        branch.then.yields = [builder.call("multiply", x, x)]
    with builder.inside(branch.orelse):
        inner = Apply(
            [Value(Scalar("float", "any"))],
            builder.loc,
            func,
            [builder.call("multiply", x, Const(1.1)), builder.call("subtract", n, Const(1))],
        )
        builder.append(inner)
        branch.orelse.yields = [builder.call("multiply", builder.call("sin", x), inner.outs[0])]
    builder.append(branch)
    func.body.yields = list(branch.outs)
    return func


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_recursion(depth: int, order: int) -> None:
    check(recursive(), [0.7, depth], [0], order)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("stores", [False, True])
def test_random(seed: int, stores: bool) -> None:
    func = random_function(seed, 5, stores)
    chance = np.random.default_rng(seed)
    args = [chance.normal(size=4), chance.normal(size=4), 0.8, -0.6, int(chance.integers(0, 4))]
    check(func, args, [0, 1, 2, 3])


@pytest.mark.parametrize("seed", range(100, 110))
def test_random_second_order(seed: int) -> None:
    chance = np.random.default_rng(seed)
    args = [chance.normal(size=4), chance.normal(size=4), 0.8, -0.6, int(chance.integers(0, 4))]
    check(random_function(seed, 4), args, [0, 2], 2)


#: the rows that save, each with the number of operands that say where
SAVING = {"push": 1, "put": 2}


def saved(func: Func) -> list[Operand]:
    """What is saved in loops."""
    actual = [op for op in walk(func.body) if isinstance(op, Call) and op.name in SAVING]
    return [a for op in actual for a in op.args[SAVING[op.name] :]]


def pushed(text: str) -> list[str]:
    """The types of what is saved."""
    return [str(a.type) for a in saved(gradient(parse(text), [0]))]


def test_a_recurrence_saves_one_array_a_step_by_reference() -> None:
    actual = gradient(parse(cases.RNN), [0, 1])
    (item,) = saved(actual)
    assert isinstance(item.type, Array)
    assert not [op for op in walk(actual.body) if isinstance(op, Call) and op.name == "copy"]


def test_a_stencil_saves_the_slice_it_overwrites() -> None:
    assert pushed(cases.STENCIL) == ["f64[x0-2]/C"]


def test_a_linear_stencil_saves_nothing() -> None:
    actual = gradient(parse(cases.LINEAR_STENCIL), [0], value=False)
    assert not [op for op in walk(actual.body) if isinstance(op, Call) and op.name in (*SAVING, "tape", "slots")]
    assert pushed(cases.LINEAR_STENCIL) == []


def test_an_augmented_store_leaves_the_cotangent_alone() -> None:
    actual = gradient(parse(cases.AUGMENTED), [0], value=False)
    assert actual.split is not None
    late = [inner for op in actual.body.ops[actual.split :] for block in op.blocks for inner in walk(block)]
    assert [op.name for op in late if isinstance(op, Call) and ROWS[op.name].consumes] == ["add_at"]


def test_results_survive_the_sweep() -> None:
    func = parse(cases.STENCIL.replace("return %6", "return %6, y.2").replace("-> scalar f64", "-> scalar f64, f64[!x0]"))
    actual = gradient(func, [0])
    value, out, _ = execute(actual, [cases.X, 3])
    expected = interpret(func, [cases.X, 3])
    np.testing.assert_allclose(value, expected[0])
    np.testing.assert_allclose(out, expected[1])


def test_a_scan_saves_numbers_and_never_copies_the_array_in_the_loop() -> None:
    actual = gradient(parse(cases.SCAN), [0, 1])
    loops = [op for op in actual.body.ops if op.blocks]
    assert not [op for loop in loops for b in loop.blocks for op in walk(b) if isinstance(op, Call) and op.name == "copy"]
    items = saved(actual)
    assert all(isinstance(a.type, Scalar) for a in items)


def test_where_keeps_the_other_side_at_zero() -> None:
    actual = gradient(parse(cases.SAFE_LOG), [0], value=False)
    (grad,) = interpret(actual, [np.array([0.0, 4.0, -1.0])])
    np.testing.assert_array_equal(grad, [0.0, 0.25, 0.0])


def test_float32_stays() -> None:
    actual = gradient(parse(cases.RNN.replace("f64", "f32")), [0])
    x = np.array([0.3, 0.5], np.float32)
    _, grad = interpret(actual, [x, np.float32(1.3), 3])
    assert grad.dtype == np.float32


def test_seeds_are_parameters() -> None:
    text = "func f(x: f64[!x0]) -> f64[!x0]:\n    y.0 = multiply(x, x) : f64[!x0]\n    return y.0\n"
    actual = gradient(parse(text), [0], seeds=True, value=False)
    (grad,) = interpret(actual, [cases.X, np.ones(4)])
    np.testing.assert_allclose(grad, 2 * cases.X)


def test_what_is_returned_is_shared_with_nothing() -> None:
    text = "func f(x: f64[!x0], y: f64[!x0]) -> scalar f64:\n    %0 = add(x, y) : f64[!x0]\n    %1 = sum(%0) : scalar f64\n    return %1\n"
    actual = gradient(parse(text), [0, 1], value=False)
    a, b = interpret(actual, [cases.X, cases.X])
    assert not np.shares_memory(a, b) and a.flags.writeable and b.flags.writeable


def test_what_does_not_matter() -> None:
    func = parse("func f(x: f64[!x0], w: float, n: int) -> float:\n    %0 = multiply(w, w) : float\n    return %0\n")
    assert matters(func, [0, 1, 2]) == {1}
    actual = gradient(func, [0, 1], value=False)
    zero, grad = interpret(actual, [cases.X, 3.0, 1])
    np.testing.assert_array_equal(zero, np.zeros(4))
    assert grad == 6.0


@pytest.mark.parametrize("seed", range(60))
def test_a_pullback_may_be_called_again(seed: int) -> None:
    func = random_function(seed)
    chance = np.random.default_rng(seed)
    args = [chance.normal(size=4), chance.normal(size=4), 0.8, -0.6, int(chance.integers(0, 4))]
    reference = interpret(gradient(func, [0, 1, 2, 3]), args)
    first, second = split_pullback(gradient(func, [0, 1, 2, 3], seeds=True))
    verify(first)
    verify(second)
    passed = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
    machine = Machine(True)
    value, *residuals = machine.function(first, passed)
    for a in passed[:2]:
        a[...] = np.nan  # the caller may change arguments meanwhile
    np.testing.assert_allclose(value, reference[0])
    for scale in (1.0, 2.0, 1.0):
        for actual, expected in zip(machine.function(second, [*residuals, scale]), reference[1:], strict=True):
            np.testing.assert_allclose(actual, scale * expected, atol=1e-12)
