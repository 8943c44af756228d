"""Checkpointed loops and functions: the same gradients as with saved values, in less memory; refusals."""

from __future__ import annotations

import importlib.util
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import checkpointed_programs as programs
import numpy as np
import pytest
from checkpointed_programs import CALLS, LOOPS, Calling, Looping

import symgrad
from symgrad.errors import BadArgument, NoDerivative, SymgradError, UnsupportedSyntax
from symgrad.parameters import bytes_of
from symgrad.runtime.schedules import next_snapshot, snapshots_within

X = np.linspace(0.1, 1.0, 7)
W = np.random.default_rng(0).normal(size=(7, 7))
ROUNDS = (0, 1, 2, 5, 23)
BY_NAME = {"ids": lambda program: program.name}


def pullback_twice(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The gradients that a pullback gives, called twice with the same result."""
    _, pullback = symgrad.vjp(function, *args, **options)
    first, again = pullback(2.0), pullback(2.0)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    return first


# ------------------------------------------------------------------ the schedule


@cache
def fewest(rounds: int, kept: int, has_run: bool) -> int:
    """The fewest rounds run again, each round once more before its reverse not counted; ``has_run``: snapshots were kept on the way."""
    if rounds <= 1:
        return 0
    if kept == 1:
        return rounds * (rounds - 1) // 2
    return min((0 if has_run else k) + fewest(rounds - k, kept - 1, has_run) + fewest(k, kept, False) for k in range(1, rounds))


def rounds_run_again(rounds: int, kept: int) -> int:
    """The same, as generated code does it; no more snapshots than ``kept`` at a time."""
    snapshots: list[int] = []
    due = again = 0
    for t in range(rounds):
        if t == due:
            snapshots.append(t)
            due = next_snapshot(t, rounds, kept - len(snapshots))
    for t in reversed(range(rounds)):
        start = snapshots.pop()
        if start < t:
            snapshots.append(start)
        due = next_snapshot(start, t + 1, kept - len(snapshots))
        for k in range(start, t):
            if k == due:
                snapshots.append(k)
                due = next_snapshot(k, t + 1, kept - len(snapshots))
            again += 1
        assert len(snapshots) <= kept
    return again


@pytest.mark.parametrize("kept", [1, 2, 3, 5, 8, 40])
def test_no_schedule_runs_fewer_rounds_again(kept: int) -> None:
    for rounds in range(36):
        assert rounds_run_again(rounds, kept) == fewest(rounds, kept, True), rounds


def test_the_page_says_how_many_rounds_run_again() -> None:
    page = (Path(__file__).parent.parent / "docs" / "checkpoints.md").read_text()
    for rounds, kept in ((1000, 1000), (1000, 100), (1000, 10), (1000, 3), (10_000, 100), (10_000, 10)):
        assert f"| {rounds:,} | {kept:,} | {rounds_run_again(rounds, kept) + rounds:,} |" in page


# ------------------------------------------------------------------ loops


@pytest.mark.sweep(6)
@pytest.mark.parametrize("count", [1, 2, 3, 50])
@pytest.mark.parametrize("program", LOOPS, **BY_NAME)
def test_gradients_are_those_of_the_saving_form(program: Looping, count: int) -> None:
    saving = symgrad.grad(program.function)
    again = symgrad.grad(program.function, checkpoints=program.checkpoints(count))
    for rounds in [n for n in ROUNDS if n <= program.rounds]:
        np.testing.assert_array_equal(again(X.copy(), rounds), saving(X.copy(), rounds))


@pytest.mark.sweep(9)
@pytest.mark.parametrize("program", LOOPS, **BY_NAME)
def test_pullbacks_are_those_of_the_saving_form(program: Looping) -> None:
    for count, rounds in ((1, 2), (3, 7)):
        expected = pullback_twice(program.function, X.copy(), rounds)
        for one, other in zip(
            pullback_twice(program.function, X.copy(), rounds, checkpoints=program.checkpoints(count)), expected, strict=True
        ):
            np.testing.assert_array_equal(one, other)


@pytest.mark.sweep(20)
@pytest.mark.parametrize("program", LOOPS, **BY_NAME)
def test_kernels_are_those_of_the_saving_form(program: Looping) -> None:
    pytest.importorskip("numba")
    saving = symgrad.grad(program.function, jit="auto")
    again = symgrad.grad(program.function, checkpoints=program.checkpoints(3), jit="auto")
    for rounds in [n for n in ROUNDS if n <= program.rounds]:
        np.testing.assert_array_equal(again(X.copy(), rounds), saving(X.copy(), rounds))


@pytest.mark.sweep(8)
@pytest.mark.parametrize("program", [p for p in LOOPS if p.function is not programs.single_precision], **BY_NAME)
def test_gradients_are_those_of_differences(program: Looping) -> None:
    direction, step = np.cos(np.arange(7.0)), 1e-6
    gradient = symgrad.grad(program.function, checkpoints=program.checkpoints(2))(X.copy(), 5)
    ends = [program.function(X + sign * step * direction, 5) for sign in (1, -1)]

    np.testing.assert_allclose(gradient @ direction, (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-8)


def test_a_pullback_keeps_what_the_caller_may_change() -> None:
    def states(x, n):
        h = x
        for t in range(n):
            h = np.sin(h) * x
        return h

    x = X.copy()
    out, pullback = symgrad.vjp(states, x, 6, wrt=0, checkpoints={"t": 2})
    expected = symgrad.vjp(states, X, 6, wrt=0)[1](np.ones(7))
    x[:], out[:] = 0.0, 0.0

    np.testing.assert_array_equal(pullback(np.ones(7)), expected)


def test_the_hessian_of_a_loop() -> None:
    again = symgrad.jacobian(symgrad.grad(programs.numbers, checkpoints={"t": 2}))(X, 5)

    np.testing.assert_allclose(again, symgrad.hessian(programs.numbers)(X, 5), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("program", [p for p in LOOPS if p.function is not programs.single_precision], **BY_NAME)
def test_second_derivatives(program: Looping) -> None:
    expected = symgrad.hessian(program.function)(X.copy(), 5)
    again = symgrad.jacobian(symgrad.grad(program.function, checkpoints=program.checkpoints(2)))(X.copy(), 5)

    np.testing.assert_allclose(again, expected, rtol=1e-10, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_second_derivatives_of_a_loop_that_may_have_no_rounds(rounds: int) -> None:
    gradient = symgrad.grad(programs.while_loop, memory="1 MB")
    np.testing.assert_allclose(symgrad.jacobian(gradient)(X, rounds), symgrad.hessian(programs.while_loop)(X, rounds), rtol=1e-12)


def test_rows_of_a_jacobian_share_the_snapshots() -> None:
    def states(x, n):
        h = x.copy()
        for t in range(n):
            h[1:] = np.sin(h[:-1]) * x[1:] + h[1:]
        return h

    for count in (1, 3):
        again = symgrad.jacobian(states, checkpoints={"t": count})(X, 6)
        np.testing.assert_array_equal(again, symgrad.jacobian(states)(X, 6))


@pytest.mark.parametrize("size", [0, 1])
def test_empty_arrays_and_single_elements(size: int) -> None:
    x = np.full(size, 0.3)
    again = symgrad.grad(programs.recurrence, checkpoints={"t": 2})

    np.testing.assert_array_equal(again(x, 4), symgrad.grad(programs.recurrence)(x, 4))


def growing(x, n):
    for t in range(n):
        x = np.concatenate([x, x[:2] * x[1:3]])
    return np.sum(x * x)


def shrinking(x, n):
    while x.shape[0] > n:
        x = np.sin(x[1:]) * x[:-1]
    return np.sum(x)


@pytest.mark.parametrize(("function", "loop", "counts", "jit"), [
    (growing, "t", (0, 5), False), (growing, "t", (0, 5), True), (shrinking, shrinking.__code__.co_firstlineno + 1, (9, 4), False),
])  # fmt: skip
def test_arrays_whose_size_changes_from_round_to_round(
    function: Callable[..., Any], loop: str | int, counts: tuple[int, int], jit: bool
) -> None:
    """The first call has no rounds, so that nothing is compared in the second one."""
    x = np.linspace(0.2, 1.1, 9)
    gradient = symgrad.grad(function, checkpoints={loop: 2}, jit=jit)
    for count in counts:
        assert np.allclose(gradient(x, count), symgrad.grad(function)(x, count), rtol=1e-12, atol=0.0)


def test_value_and_auxiliary_results() -> None:
    def loss(x, n):
        h = x
        for t in range(n):
            h = np.sin(h) * x
        return np.sum(h), h

    (value, aux), gradient = symgrad.value_and_grad(loss, has_aux=True, checkpoints={"t": 2})(X, 9)
    (expected, expected_aux), expected_gradient = symgrad.value_and_grad(loss, has_aux=True)(X, 9)

    assert value == expected
    np.testing.assert_array_equal(aux, expected_aux)
    np.testing.assert_array_equal(gradient, expected_gradient)


def test_a_loop_whose_rounds_are_reversed_at_once_keeps_nothing() -> None:
    def total(x):
        s = 0.0
        for t in range(len(x)):
            s += np.sin(x[t]) * x[t]
        return s

    again = symgrad.grad(total, checkpoints={"t": 3})

    np.testing.assert_array_equal(again(X), symgrad.grad(total)(X))
    assert "snapshot" not in again.source(X)


def test_rounds_that_need_no_state_keep_no_snapshots() -> None:
    def total(x):
        s = 0.0
        for t in range(len(x)):
            s += np.sin(x[t]) * x[t]
        return s

    _, pullback = symgrad.vjp(total, X, wrt=0, checkpoints={"t": 3})

    np.testing.assert_array_equal(pullback(1.0), symgrad.vjp(total, X, wrt=0)[1](1.0))


def test_inner_loops_save_what_one_round_needs() -> None:
    again = symgrad.grad(programs.inner_loop, memory="1 MB").source(X, 5)

    assert again.count("snapshots_within(") == 1
    assert "tape" in again


def test_a_linear_loop_keeps_nothing() -> None:
    def linear(x, n):
        h = x
        for t in range(n):
            h = 2.0 * h + x
        return np.sum(h)

    again = symgrad.grad(linear, checkpoints={"t": 3})

    np.testing.assert_array_equal(again(X, 5), symgrad.grad(linear)(X, 5))
    assert "snapshot" not in again.source(X, 5)
    assert "no snapshot is kept" in again.explain(X, 5)


# ------------------------------------------------------------------ memory


def peak(call: Callable[[], Any]) -> int:
    """The most memory that a call holds beyond what there was, in bytes."""
    call()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("options", [{"checkpoints": {"t": 8}}, {"memory": "400 kB"}], ids=["checkpoints", "memory"])
def test_what_is_kept_is_what_was_asked_for(options: Any) -> None:
    x, rounds = np.linspace(0.0, 1.0, 5000), 100  # a state of 40 kB
    saving = peak(lambda: symgrad.grad(programs.recurrence, verify=False)(x, rounds))
    again = peak(lambda: symgrad.grad(programs.recurrence, verify=False, **options)(x, rounds))

    assert saving > 100 * x.nbytes
    assert again < (10 + 10) * x.nbytes  # and some arrays in between


@pytest.mark.sweep(9)
@pytest.mark.parametrize("program", [p for p in LOOPS if p.function not in (programs.growing_list, programs.arrays_in_list)], **BY_NAME)
def test_memory_gives_the_same_gradients(program: Looping) -> None:
    for memory in ("1.5 KiB", "20 kB", 10**6):
        again = symgrad.grad(program.function, memory=memory)
        np.testing.assert_array_equal(again(X.copy(), 7), symgrad.grad(program.function)(X.copy(), 7))


def test_memory_in_kernels() -> None:
    pytest.importorskip("numba")
    again = symgrad.grad(programs.recurrence, memory="1 kB", jit=True)

    np.testing.assert_array_equal(again(X, 23), symgrad.grad(programs.recurrence, jit=True)(X, 23))
    with pytest.raises(MemoryError):
        again(np.linspace(0.0, 1.0, 1000), 23)


def test_too_little_memory_says_what_it_takes() -> None:
    with pytest.raises(MemoryError, match=r"takes 2 \* \d+ = (\d+) bytes") as raised:
        symgrad.grad(programs.two_loops, memory=1000)(np.linspace(0.0, 1.0, 100), 5)
    least = int(str(raised.value).rpartition("= ")[2].split()[0])

    symgrad.grad(programs.two_loops, memory=least)(np.linspace(0.0, 1.0, 100), 5)
    with pytest.raises(ValueError, match="no room"):
        raise ValueError("no room") if snapshots_within(10, 1, 5) == 2 else AssertionError


@pytest.mark.parametrize("text", ["200", "x MB", "", "3 mb", "MB", "-1 MB", 1.5, True, 0, -3, "0.1 B", [1]])
def test_what_is_no_amount_of_memory(text: Any) -> None:
    with pytest.raises(BadArgument, match=r"memory is .* not ") as refused:
        symgrad.grad(programs.recurrence, memory=text)

    assert 'memory="200 MB"' in str(refused.value)
    symgrad.grad(programs.recurrence, memory="200 MB")


@pytest.mark.parametrize(("text", "count"), [("1 B", 1), ("2kB", 2000), ("1.5 GiB", 1610612736), (" 3 TB ", 3 * 10**12), (77, 77)])
def test_amounts_of_memory(text: Any, count: int) -> None:
    assert bytes_of(text) == count


# ------------------------------------------------------------------ functions


@pytest.mark.sweep(2)
@pytest.mark.parametrize("program", CALLS, **BY_NAME)
def test_functions_that_run_again_give_the_same(program: Calling) -> None:
    plain, again = program.plain(), program.checkpointed()
    options = {"wrt": ("x", "w"), "allow_unused": True}

    assert again(X.copy(), W) == plain(X.copy(), W)
    for one, other in zip(symgrad.grad(again, **options)(X, W), symgrad.grad(plain, **options)(X, W), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(pullback_twice(again, X, W), pullback_twice(plain, X, W), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("program", CALLS, **BY_NAME)
def test_tangents_of_functions_that_run_again(program: Calling) -> None:
    plain, again = program.plain(), program.checkpointed()

    assert symgrad.jvp(again, (X, W), (X, W)) == symgrad.jvp(plain, (X, W), (X, W))


@pytest.mark.slow
@pytest.mark.parametrize("program", CALLS, **BY_NAME)
def test_second_derivatives_of_functions_that_run_again(program: Calling) -> None:
    plain, again = program.plain(), program.checkpointed()
    expected = symgrad.hessian(plain)(X, W)

    np.testing.assert_allclose(symgrad.hessian(again)(X, W), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(symgrad.hvp(again, (X, W), X), expected @ X, rtol=1e-9, atol=1e-11 * np.abs(expected).max())


@pytest.mark.sweep(7)
@pytest.mark.parametrize("program", CALLS, **BY_NAME)
def test_kernels_of_functions_that_run_again(program: Calling) -> None:
    pytest.importorskip("numba")
    gradients = [symgrad.grad(f, wrt=("x", "w"), allow_unused=True, jit="auto")(X, W) for f in (program.checkpointed(), program.plain())]
    for one, other in zip(*gradients, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_function_keeps_nothing_inside() -> None:
    @symgrad.checkpoint
    def deep(h):
        for _ in range(30):
            h = np.sin(h) * h + 0.1
        return h

    def loss(x):
        for _ in range(4):
            x = deep(x)
        return np.sum(x)

    def saving(x):
        for _ in range(4):
            x = deep.__wrapped__(x)
        return np.sum(x)

    x = np.linspace(0.0, 1.0, 5000)
    assert peak(lambda: symgrad.grad(saving, verify=False)(x)) > 4 * 30 * x.nbytes
    assert peak(lambda: symgrad.grad(loss, verify=False)(x)) < (2 * 30 + 20) * x.nbytes  # of one call, and some arrays in between


def test_what_checkpoint_takes_and_looks_like() -> None:
    class Halved:
        def __call__(self, x):
            return x / 2 * x

    for function in (np.tanh, Halved(), symgrad.grad(lambda x: np.sum(x**3)), symgrad.checkpoint(np.sin)):
        again = symgrad.checkpoint(function)
        gradients = [symgrad.grad(lambda x, f=f: np.sum(f(f(x) * x)))(X) for f in (again, function)]
        np.testing.assert_array_equal(*gradients)

    assert repr(symgrad.checkpoint(np.tanh)) == "checkpoint(tanh)"
    with pytest.raises(BadArgument, match="checkpoint takes a function"):
        symgrad.checkpoint(3.0)


def test_exceptions_are_caught_inside() -> None:
    def positive(x):
        if x[0] <= 0:
            raise ValueError
        return np.log(x)

    @symgrad.checkpoint
    def guarded(x):
        try:
            return positive(x)
        except ValueError:
            return x

    outside_again = symgrad.checkpoint(positive)

    def loss(x):
        try:
            return np.sum(outside_again(x))
        except ValueError:
            return np.sum(x)

    with pytest.raises(UnsupportedSyntax, match="left in another way than by returning") as refused:
        symgrad.grad(loss)(X)
    assert "catch its exceptions inside of it" in str(refused.value)
    for x in (X, -X):
        np.testing.assert_array_equal(symgrad.grad(lambda x: np.sum(guarded(x)))(x), 1 / x if x[0] > 0 else np.ones(7))


# ------------------------------------------------------------------ effects


def test_effects_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    seen = []

    @symgrad.checkpoint
    def told(h):
        print("call")
        return np.sin(h) * h

    def loss(x, n):
        h = x
        for t in range(n):
            print("round", t)
            if t == 2:
                print("the third")
            seen.append(t)
            h = told(h) * h
        return np.sum(h)

    symgrad.grad(loss, checkpoints={"t": 2})(X, 4)

    assert capsys.readouterr().out.split("\n") == [
        "round 0",
        "call",
        "round 1",
        "call",
        "round 2",
        "the third",
        "call",
        "round 3",
        "call",
        "",
    ]
    assert seen == [0, 1, 2, 3]


def drawn_in_loop(x, n, rng):
    h = x
    for t in range(n):
        h = np.sin(h) * rng.normal(size=h.shape)
    return np.sum(h)


def drawn_before(x, n, rng):
    h, noise = x, rng.normal(size=(n, x.shape[0]))
    for t in range(n):
        h = np.sin(h) * noise[t]
    return np.sum(h)


def test_random_numbers_of_a_loop_are_drawn_before_it() -> None:
    with pytest.raises(NoDerivative, match="unknown or random.*when the loop runs again") as refused:
        symgrad.grad(drawn_in_loop, checkpoints={"t": 2})(X, 5, np.random.default_rng(3))
    assert "for all at once" in str(refused.value)

    again = symgrad.grad(drawn_before, checkpoints={"t": 2})(X, 5, np.random.default_rng(3))
    np.testing.assert_array_equal(again, symgrad.grad(drawn_before)(X, 5, np.random.default_rng(3)))
    np.testing.assert_array_equal(again, symgrad.grad(drawn_in_loop)(X, 5, np.random.default_rng(3)))


def test_random_numbers_of_a_function_are_passed_to_it() -> None:
    @symgrad.checkpoint
    def noisy(h, rng):
        return np.sin(h) * rng.normal()

    @symgrad.checkpoint
    def scaled(h, factor):
        return np.sin(h) * factor

    with pytest.raises(NoDerivative, match="unknown or random.*when the function runs again") as refused:
        symgrad.grad(lambda x, rng: np.sum(noisy(x, rng)))(X, np.random.default_rng(3))
    assert "pass its result" in str(refused.value)

    again = symgrad.grad(lambda x, rng: np.sum(scaled(x, rng.normal())))(X, np.random.default_rng(3))
    np.testing.assert_array_equal(again, np.cos(X) * np.random.default_rng(3).normal())


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("checkpoints", [["t"], {"t": 0}, {"t": True}, {"t": 1.5}, {1.5: 3}, {True: 3}, "t"], ids=repr)
def test_what_is_no_dict_of_loops(checkpoints: Any) -> None:
    with pytest.raises(BadArgument, match="checkpoints") as refused:
        symgrad.grad(programs.recurrence, checkpoints=checkpoints)

    assert '{"t": 10}' in str(refused.value)


@pytest.mark.parametrize("name", ["q", 1])
def test_the_loops_that_there_are_are_listed(name: Any) -> None:
    with pytest.raises(BadArgument, match="there is no loop") as refused:
        symgrad.grad(programs.inner_loop, checkpoints={name: 3})(X, 4)
    line = programs.inner_loop.__code__.co_firstlineno

    assert f"its loops: t (line {line + 3}), k (line {line + 5})" in str(refused.value)
    symgrad.grad(programs.inner_loop, checkpoints={"k": 3, line + 3: 2})(X, 4)


def test_a_function_without_loops() -> None:
    with pytest.raises(BadArgument, match="it has no loop"):
        symgrad.grad(lambda x: np.sum(x * x), checkpoints={"t": 3})(X)


def test_either_the_number_or_the_memory() -> None:
    with pytest.raises(BadArgument, match="give one of them"):
        symgrad.grad(programs.recurrence, checkpoints={"t": 3}, memory="1 MB")


def test_a_name_that_has_no_value_before_the_loop() -> None:
    def late(x, n):
        h = x
        for t in range(n):
            if t > 0:
                h = h * np.sin(y)  # noqa: F821
            y = np.cos(h) * h
        return np.sum(h * y)

    def early(x, n):
        h, y = x, x
        for t in range(n):
            if t > 0:
                h = h * np.sin(y)
            y = np.cos(h) * h
        return np.sum(h * y)

    with pytest.raises(NoDerivative, match="carries y, which may be unbound before") as refused:
        symgrad.grad(late, checkpoints={"t": 2})(X, 4)
    assert "give y a value before the loop" in str(refused.value)
    np.testing.assert_array_equal(symgrad.grad(early, checkpoints={"t": 2})(X, 4), symgrad.grad(late)(X, 4))


def test_memory_needs_states_of_known_size() -> None:
    with pytest.raises(NoDerivative, match="the loop carries .*memory= cannot determine") as refused:
        symgrad.grad(programs.growing_list, memory="1 MB")(X, 4)

    assert 'checkpoints={"t": 10}' in str(refused.value)
    symgrad.grad(programs.growing_list, checkpoints={"t": 10})(X, 4)


def halved(x, n):
    if n < 2:
        return np.sin(x)
    s = halved(x, n // 2) * 0.5
    for t in range(n):
        s = np.sin(s) * x
    return s


def test_memory_of_functions_that_call_themselves() -> None:
    def loss(x, n):
        return np.sum(halved(x, n))

    with pytest.raises(NoDerivative, match="a function that calls itself") as refused:
        symgrad.grad(loss, memory="1 MB")(X, 5)

    assert 'checkpoints={"t": 10}' in str(refused.value)
    again = symgrad.grad(loss, checkpoints={"t": 2})(X, 5)
    np.testing.assert_array_equal(again, symgrad.grad(loss)(X, 5))


def test_inside_a_function_that_is_differentiated() -> None:
    with pytest.raises(SymgradError, match="checkpoints= of grad cannot be given inside"):
        symgrad.grad(lambda x: np.sum(symgrad.grad(programs.recurrence, checkpoints={"t": 2})(x, 3)))(X)


# ------------------------------------------------------------------ text


@pytest.mark.sweep(9)
@pytest.mark.parametrize("program", LOOPS, **BY_NAME)
def test_saved_modules_stand_alone(program: Looping, tmp_path: Path) -> None:
    again = symgrad.grad(program.function, checkpoints=program.checkpoints(3))
    expected = again(X.copy(), 7)
    path = tmp_path / f"{program.name}_saved.py"
    symgrad.save(again, path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    assert "import symgrad" not in path.read_text()
    np.testing.assert_allclose(getattr(module, f"{program.name}_grad")(X.copy(), 7), expected, rtol=1e-12)


def test_explain_says_how_many_snapshots_are_kept() -> None:
    again = symgrad.grad(programs.recurrence, checkpoints={"t": 3})

    assert "3 snapshots are kept, and its iterations run again in the backward half" in again.explain(X, 5)
    assert "1 snapshot is kept" in symgrad.grad(programs.recurrence, checkpoints={"t": 1}).explain(X, 5)
    assert "fit into 2000 bytes" in symgrad.grad(programs.recurrence, memory=2000).explain(X, 5)
