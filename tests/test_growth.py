"""Growth: time of generation with the length of a program, memory of a gradient with the number of steps."""

from __future__ import annotations

import contextlib
import itertools
import linecache
import sys
import time
import tracemalloc
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.eager import Tensor
from symgrad.errors import IntegerArgument, SymgradError, UnsupportedSyntax
from symgrad.frontend.flow import aliases
from symgrad.frontend.flow.joins import Joining
from symgrad.frontend.functions import recursion
from symgrad.frontend.state.program_state import State
from symgrad.frontend.text.source import read
from symgrad.ir.core import TRUE, Block, If, walk
from symgrad.location import NOWHERE
from symgrad.pipeline.emission import argument_names
from symgrad.testing import check_grads

NUMBERS = itertools.count()


def function_of(text: str) -> Callable[..., Any]:
    """A function made of its text, new to symgrad each time."""
    name = f"<program {next(NUMBERS)} of test_growth>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    function = space["f"]
    assert callable(function)
    return function


def body(lines: list[str]) -> str:
    return "def f(x, w):\n" + "".join(f"    {line}\n" for line in [*lines, "return np.sum(x) * w"])


def numbers(count: int) -> str:
    """Straight lines of scalars."""
    return body(["a = w", *(f"{'ab'[k % 2]} = np.sin({'ba'[k % 2] if k else 'a'}) * w + {k % 7}.5" for k in range(count)), "w = a"])


def arrays(count: int) -> str:
    """Straight lines of arrays."""
    return body([f"x = np.tanh(w * x + {k % 5}.25)" for k in range(count)])


def stores(count: int) -> str:
    """Stores to one array, half of them through slices."""
    return body(
        [
            "y = np.zeros_like(x)",
            *(f"y[{k % 4}] = y[{(k + 1) % 4}] * w + x[{k % 3}]" if k % 2 else f"y[{k % 3}:] += w * x[{k % 3}:]" for k in range(count)),
            "x = y",
        ]
    )


def branches(count: int) -> str:
    """Statements in branches, one after another."""
    return body(
        [
            line
            for k in range(count // 4)
            for line in (f"if x[{k % 4}] > 0.{k % 7}:", f"    x = x * w + {k % 3}.5", "else:", "    x = np.sin(x)")
        ]
    )


def loops(count: int) -> str:
    """Loops, one after another, each with a store."""
    return body(
        [
            "y = x.copy()",
            *(
                line
                for k in range(count // 4)
                for line in ("for i in range(3):", "    w = w * 1.01", "    y[i] = np.sin(y[i + 1]) * w", "    x = x + y")
            ),
        ]
    )


def calls(count: int) -> str:
    """Calls of functions of the user's, one after another."""
    called = "def g(x, w):\n    return np.tanh(x) * w\n\n\ndef h(x, y):\n    return x - 0.1 * y\n\n\n"
    return called + body([f"x = h(x, x + {k % 5}.25)" if k % 2 else "x = g(x, w)" for k in range(count)])


def mixed(count: int) -> str:
    """A fifth of each."""
    parts = [program(count // 5).splitlines()[1:-1] for program in (numbers, arrays, stores, branches, loops)]
    return body([line[4:] for part in parts for line in part])


KINDS = pytest.mark.parametrize("program", [numbers, arrays, stores, branches, loops, calls])


def seconds(program: Callable[[int], str], count: int, rounds: int = 1) -> float:
    """The processor's time from a function never seen to its gradient, ready to be called; the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        function = function_of(program(count))
        start = time.process_time()
        symgrad.grad(function, wrt=(0, 1)).compiled(np.ones(4), 0.5)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.slow  # figures of time belong to a quiet machine
@KINDS
def test_time_is_linear_in_length_and_under_three_seconds_for_a_thousand_statements(program: Callable[[int], str]) -> None:
    short, long = seconds(program, 250, 3), seconds(program, 1000, 2)
    print(f"{program.__name__}: {long:.2f} s for 1,000 statements, {long / short:.1f} times that for 250")

    assert long < 3.0
    assert long < 4 * 1.75 * short


@pytest.mark.slow
@pytest.mark.parametrize("program", [numbers, arrays, stores, branches, loops, calls, mixed])
def test_a_function_of_fifty_lines_takes_under_a_tenth_of_a_second(program: Callable[[int], str]) -> None:
    seconds(program, 10)
    taken = seconds(program, 50, 10)
    print(f"{program.__name__}: {1000 * taken:.0f} ms for 50 lines")

    assert taken < 0.1


def calls_during(run: Callable[[], Any], counts: Callable[[types.CodeType], bool] = lambda code: True) -> int:
    """How many functions are called meanwhile, of ours and of others; generators are called for each thing that they give."""
    calls = 0

    def note(frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call" and counts(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return calls


def steps(program: Callable[[int], str], count: int, jit: bool = True, module: str = "") -> int:
    """The calls, perhaps those in one module, from a function never seen to its text, or until it is refused."""
    function = function_of(program(count))

    def run() -> None:
        with contextlib.suppress(SymgradError):
            symgrad.grad(function, wrt=(0, 1), jit=jit).source(signature="f8[:], float")

    return calls_during(run, lambda code: code.co_filename.endswith(module))


@pytest.mark.parametrize("program", [arrays, loops])
def test_the_work_for_a_kernel_is_linear_in_length(program: Callable[[int], str]) -> None:
    pytest.importorskip("numba")
    steps(program, 4)
    short, long = steps(program, 12), steps(program, 36)
    print(f"{program.__name__}: {long / short:.2f} times the calls for three times the lines")

    assert long < 3 * 1.3 * short


def refused(count: int) -> str:
    """Something that is refused, and a loop behind it that could be written out."""
    return body(["d = {w: 1.0}", f"for k in range({count}):", "    x = np.sin(x) * w"])


def test_a_function_that_is_refused_is_not_written_out_to_its_end() -> None:
    steps(refused, 4, False)
    short, long = steps(refused, 8, False), steps(refused, 64, False)
    print(f"{refused.__name__}: {long / short:.2f} times the calls for eight times the rounds")

    assert long < 1.1 * short


def pending(count: int) -> str:
    """Divisions that may raise what is caught; the state of each comes out of all the branches around it."""
    return body(["try:", *(f"    w = 1.0 / w + {k}.5" for k in range(count)), "except ZeroDivisionError:", "    w = 1.0"])


def test_numbers_are_unboxed_by_as_much_work_as_there_are() -> None:
    short, long = (steps(pending, count, False, "passes/representation/unbox.py") for count in (6, 24))
    print(f"{pending.__name__}: {long / short:.2f} times the calls for sixteen times what is handed on")

    assert long < 16 * short


def test_a_walk_takes_as_many_steps_as_there_are_ops_however_deep_they_stand() -> None:
    block, depth = Block(), 200
    for _ in range(depth):
        block = Block([], [If([], NOWHERE, TRUE, block, Block())])

    assert calls_during(lambda: list(walk(block)), lambda code: code is walk.__code__) <= depth + 2


def test_a_function_that_hands_itself_another_one_each_time_is_refused_after_as_many_calls_as_are_followed() -> None:
    text = "def f(x, w):\n    def g(n, then):\n        return then(x[0]) if n == 0 else g(n - 1, lambda v: then(v * 2))\n    return g(w, lambda v: v)\n"
    function = function_of(text)

    def run() -> None:
        with pytest.raises(UnsupportedSyntax, match="calls itself with other functions"):
            symgrad.grad(function)(np.ones(2), 3.0)

    attempts = 3
    assert calls_during(run, lambda code: code is recursion.lower_body.__code__) <= attempts * 2 * (recursion.DEEP + 1)


TURNING = """import numpy as np

def f(x, y, n):
    a, b, c = x * 1.0, y, x + y
    k = 0
    while True:
        if k >= n:
            break
        k += 1
        a = b
        a[0] += 0.2
        b = c * 0.5
    a += 0.78 * a
    return np.sum(np.sin(a)) + np.sum(b * b) + np.sum(c) * 0.3
"""


def test_arrays_that_no_name_holds_any_more_are_not_followed() -> None:
    """Otherwise each store makes all that names ever were anew: 400,000 versions here, where the rounds are written out."""
    function, x, y = function_of(TURNING), np.array([0.3, 1.2]), np.array([0.4, 1.3])

    assert 0 < calls_during(lambda: symgrad.grad(function)(x, y, 2), lambda code: code is aliases.version_of_one.__code__) < 4000
    check_grads(lambda x, y: function(x, y, 2), (x, y))


# ------------------------------------------------------------------ memory


def rnn(x: Any, w: Any, steps: Any) -> Any:
    h = x
    for _ in range(steps):
        h = np.tanh(w * h + x)
    return np.sum(h)


def filled_rnn(x: Any, w: Any, steps: Any) -> Any:
    h = x.copy()
    for _ in range(steps):
        h[:] = np.tanh(w * h + x)
    return np.sum(h)


def sliced_rnn(x: Any, w: Any, steps: Any) -> Any:
    h = x.copy()
    for _ in range(steps):
        h[1:-1] = np.tanh(w * h[1:-1] + x[1:-1])
    return np.sum(h)


def in_turn(x: Any, w: Any, steps: Any) -> Any:
    u = x.copy()
    v = x * 0.5
    for _ in range(steps // 2):
        u[:] = np.tanh(w * v + x)
        v[:] = np.tanh(w * u - x)
    return np.sum(u * v)


def swapped(x: Any, w: Any, steps: Any) -> Any:
    u = x.copy()
    v = np.zeros_like(x)
    for _ in range(steps):
        v[1:-1] = np.tanh(w * u[:-2] + u[2:])
        u, v = v, u
    return np.sum(u)


def listed(x: Any, w: Any, steps: Any) -> Any:
    states = [x]
    for _ in range(steps):
        states.append(np.tanh(w * states[-1] + x))
    return np.sum(states[-1] * states[2])


def rows(x: Any, w: Any, steps: Any) -> Any:
    h = np.zeros((steps + 1, x.shape[0]))
    h[0] = x
    for t in range(steps):
        h[t + 1] = np.tanh(w * h[t] + x)
    return np.sum(h[steps])


def product_stencil(x: Any, w: Any, steps: Any) -> Any:
    u = x.copy()
    for _ in range(steps):
        u[1:-1] = w * u[1:-1] * (u[:-2] + u[2:])
    return np.sum(u)


def linear_stencil(x: Any, w: Any, steps: Any) -> Any:
    u = x.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return np.sum(u * u) * w


def linear_recurrence(x: Any, w: Any, steps: Any) -> Any:
    u = x
    for _ in range(steps):
        u = 0.9 * u + 0.1 * np.roll(u, 1)
    return np.sum(u) * w


def peak(run: Callable[[], Any]) -> int:
    """The most memory, in bytes, that was held at a time while something ran."""
    tracemalloc.start()
    try:
        kept = run()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept is not None
    return most


def beyond_the_primal(function: Callable[..., Any], wrt: Any, steps: int, size: int) -> int:
    """How much more memory the gradient holds at its worst moment than the function itself."""
    x = np.full(size, 0.5)  # where the stencils stand still
    derived = symgrad.grad(function, wrt=wrt)
    derived(x, 1.0, steps)
    return peak(lambda: derived(x, 1.0, steps)) - peak(lambda: function(x, 1.0, steps))


@pytest.mark.parametrize("function", [rnn, product_stencil, filled_rnn, sliced_rnn, in_turn, swapped, listed, rows])
def test_one_array_a_step_is_saved_and_no_more(function: Callable[..., Any]) -> None:
    steps, size = 200, 5000
    taken = beyond_the_primal(function, (0, 1), steps, size)
    print(f"{function.__name__}: {taken / (steps * size * 8):.3f} arrays a step")

    assert taken <= 1.1 * steps * size * 8


@pytest.mark.parametrize("function", [filled_rnn, sliced_rnn, in_turn, swapped, listed, rows])
def test_what_is_read_back_from_arrays_is_right(function: Callable[..., Any]) -> None:
    check_grads(function, (np.random.default_rng(0).normal(size=6), 0.7, 6), wrt=(0, 1))


def mean_of_rounds(x: Any, w: Any, steps: Any) -> Any:
    total = 0.0
    for k in range(steps):
        h = np.tanh(w * x + 0.01 * k)
        total += np.sum(h * h)
    return total / steps


def relaxed_rounds(x: Any, w: Any, steps: Any) -> Any:
    total = 0.0
    k = 0
    while k < steps:
        h = x
        for _ in range(3):
            h = np.tanh(w * h + x)
        total += np.sum(h)
        k += 1
    return total


@pytest.mark.parametrize("function", [mean_of_rounds, relaxed_rounds])
def test_rounds_that_meet_in_a_sum_take_the_memory_of_one(function: Callable[..., Any]) -> None:
    size = 5000
    few, many = (beyond_the_primal(function, (0, 1), steps, size) for steps in (5, 100))
    print(f"{function.__name__}: {many / (size * 8):.1f} arrays in all")

    assert many <= few + size * 8


@pytest.mark.parametrize("function", [linear_stencil, linear_recurrence])
def test_nothing_is_saved_where_nothing_is_needed(function: Callable[..., Any]) -> None:
    size = 5000
    few, many = (beyond_the_primal(function, 0, steps, size) for steps in (20, 400))
    print(f"{function.__name__}: {many / (size * 8):.1f} arrays in all")

    assert many <= 8 * size * 8
    assert many <= few + size * 8


def table(x: Any, n: Any, m: Any) -> Any:
    entries = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            entries[i][j] = entries[i - 1][j - 1] * x + entries[i - 1][j] * entries[i][j - 1] * 0.1 + 0.5
    return entries[n][m]


def swept_table(x: Any, n: Any, m: Any) -> Any:
    entries = [[x] * m for _ in range(n)]
    for _ in range(3):
        for i in range(n):
            for j in range(m):
                entries[i][j] = entries[i - 1][j] * entries[i][j - 1] * 0.5 + x
    return entries[n - 1][m - 1]


@pytest.mark.parametrize("function", [table, swept_table])
def test_a_table_takes_memory_and_calls_for_each_of_its_entries(function: Callable[..., Any]) -> None:
    derived = symgrad.value_and_grad(function, wrt="x")
    derived(0.5, 3, 3)
    sizes = (48, 192)  # Python keeps 2,000 tuples that nobody sees it make again: few beside those of a table
    small, large = (peak(lambda n=n: derived(0.5, n, n)) for n in sizes)
    few, many = (calls_during(lambda n=n: derived(0.5, n, n)) for n in sizes)
    print(f"{function.__name__}: {large / small:.1f} times the memory, {many / few:.1f} times the calls for 16 times the entries")

    assert large < 16 * 1.2 * small
    assert many < 16 * 1.2 * few


def test_words_for_many_parameters_are_found_at_once() -> None:
    words = argument_names(["x", "np", "x_1", "x", None, "for", "a b"] + ["x"] * 30_000)
    assert words[:7] == ["x", "np_1", "x_1", "x_2", "t", "for_", "a_b"]
    assert len(set(words)) == len(words)


def test_a_function_is_found_in_a_long_text_as_soon_as_in_a_short_one() -> None:
    """A text is gone through when it is read first, not for each function in it that is asked for."""

    def calls(count: int) -> int:
        text = "".join(f"def f_{k}(x):\n    return x * {k}.5\n" for k in range(count))
        function = symgrad.from_source(text, f"f_{count // 2}")
        read(function)
        return calls_during(lambda: read(function))

    assert calls(2000) <= calls(20) + 5


def test_a_source_is_read_once_where_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place of a parameter is for messages alone."""
    asked: list[Any] = []
    monkeypatch.setattr("symgrad.parameters.read", lambda function: asked.append(function) or read(function))
    derived = symgrad.grad(symgrad.from_source("def f(x): return x * x"))
    assert derived(3.0) == 6.0
    assert not asked
    with pytest.raises(IntegerArgument, match="integers and booleans"):
        derived(3)
    assert asked


def test_a_long_record_is_swept() -> None:
    x = Tensor(np.array([1.0, 2.0]), stop_gradient=False)
    y: Any = x
    for _ in range(1500):
        y = y * 1.001
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.numpy() == pytest.approx(1.001**1500)


def risky(count: int) -> str:
    """Arrays that are made anew by statements each of which may raise, under a handler."""
    lines = [line for k in range(count) for line in (f"x = x * w + 1.0 / int(w > 0.{k % 3})", f"x = np.sin(x[::{1 - 2 * (k % 2)}])")]
    handler = ["try:", *(f"    {line}" for line in lines), "except ZeroDivisionError:", "    x = 0.5 * x", "x[0] += w"]
    return body(["x = x.copy()", *handler])


def test_what_is_known_of_arrays_that_are_gone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the work for a handler grows with the third power of the statements that it is for."""
    pairs: list[int] = []
    joined = Joining.joined

    def counted(self: Joining) -> State:
        state = joined(self)
        pairs.append(sum(map(len, state.partners.values())))
        return state

    monkeypatch.setattr(Joining, "joined", counted)
    function = function_of(risky(12))
    check_grads(function, (np.linspace(0.3, 1.2, 4), 0.9))

    assert len(pairs) > 12
    assert max(pairs) <= 12
