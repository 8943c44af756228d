"""Prints in loops and branches appear after the kernel: the same text, once, in order."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from targets import stays

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")

X = np.array([0.5, 1.5, 2.5, -0.7])


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def each_round(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
        print(i, total, f"{x[i]:.3f}", x[i] > 0.0)
    return total


def now_and_then(x):
    total, k = 0.0, 0
    while total < 8.0 and k < 9:
        total += x[k % len(x)] ** 2
        k += 1
        if k % 2 == 0:
            print(f"{k}: {total:.2f}")
        elif total > 5.0:
            print("large", total)
        if k == 5:
            break
    print("end", k)
    return total


def loops_in_loops(x):
    print("begin")
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += x[i] * x[j]
            if total < 0.0:
                print("below", i, j)
        print(f"row {i}", total)
    if total > 1.0:
        print("above one")
    for i in range(2):
        print("again", i)
    return total


def with_numbers_of_each_class(x):
    n, flag, total = 3, True, 1.0
    for v in x:
        n += 2
        flag = not flag
        total *= v
        print(n, flag, total, v, float(v), 2.5 * n, n / 3, abs(v))
    return total


def what_was_there_before(x):
    name, size = "loss", len(x)
    mean = float(np.mean(x))
    for i in range(size):
        if x[i] > mean:
            print(f"{name}: {i} of {size} above {mean:.2f}")
    return np.sum(x**3)


def nothing_is_printed(x):
    total = 0.0
    for v in x:
        if v > 100.0:
            print("never", v)
        total += v * v
    return total


def a_value_that_may_be_of_either_class(x):
    last = 0
    for v in x:
        print(last)
        last = v * 2 if v > 1.0 else 3
    return last * x[0]


def with_keywords(x):
    total = 0.0
    for k, v in enumerate(x):
        total += v * v
        print(k, v, sep="|", end=";\n")
    return total


PRINTING = [
    each_round, now_and_then, loops_in_loops, with_numbers_of_each_class, what_was_there_before, nothing_is_printed, with_keywords,
]  # fmt: skip


def told(function: Any, *args: Any) -> tuple[Any, str]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        return function(*args), output.getvalue()


def compare(function: Any, jit: Any = True) -> Any:
    """What is printed and computed, against Python and the NumPy code, in several calls."""
    compiled, plain = (symgrad.value_and_grad(function, jit=target) for target in (jit, False))
    for x in (X, X[:1], X[::2], -2.0 * X, np.linspace(0.1, 2.0, 12)):
        value, expected = told(function, x)
        for derived in (compiled, plain):
            (result, gradient), printed = told(derived, x)
            assert printed == expected
            assert result == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(gradient, told(symgrad.grad(function), x)[0], rtol=1e-10, atol=1e-12)
    return compiled


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", PRINTING, ids=lambda f: f.__name__)
def test_loops_and_branches_print_behind_the_kernel(function: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        compare(function)
    with contextlib.redirect_stdout(io.StringIO()):
        assert stays(function, X)


def test_what_cannot_be_printed_behind_is_printed_all_the_same() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)
        compare(a_value_that_may_be_of_either_class)


def one_that_stays(x):
    total = 0.0
    for v in x:
        if v > 100.0:
            print("large", x)
        elif v > 50.0:
            print("half as large", v)
        total += v * v
    return total


def test_where_one_branch_cannot_be_recorded_all_of_them_leave() -> None:
    compare(one_that_stays)
    assert stays(one_that_stays, X)


def logged(x, log):
    total = 0.0
    for v in x:
        total += v**2
        if total > 1.0:
            log.append(total)
    return total


def test_lists_of_the_caller_are_appended_to_behind_the_kernel() -> None:
    for jit in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCompiled)
            derived = symgrad.value_and_grad(logged, wrt="x", jit=jit)
            for _ in range(2):
                log: list[float] = []
                expected: list[float] = []
                try:
                    derived(X, log)
                except symgrad.SymgradError:
                    return
                logged(X, expected)
                assert log == pytest.approx(expected)


def raised_between(x):
    total = 0.0
    for i in range(6):
        print("at", i)
        total += x[i] ** 2
    return total


def test_a_kernel_that_raises_has_printed_nothing() -> None:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), pytest.raises(IndexError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        symgrad.grad(raised_between, jit=True)(X)
    assert output.getvalue() == "".join(f"at {i}\n" for i in range(5))


# ------------------------------------------------------------------ random programs


def random_program(seed: int) -> str:
    """Loops and branches in one another, with prints between."""
    r = random.Random(seed)
    lines = ["def f(x):", "    total, n = x[0] * 1.0, 0"]

    def shown() -> str:
        return r.choice(["print(n)", "print(total)", "print(f'{total:.4f} {n}')", "print('here', n, total > 0.5)", "print(x[n % len(x)])"])

    def block(depth: int) -> None:
        space = "    " * depth
        for _ in range(r.randint(1, 3)):
            kind = r.randrange(6)
            if kind == 0 or depth > 3:
                lines.append(space + shown())
            elif kind == 1:
                lines.append(space + r.choice(["n += 1", "total += 0.3 * x[n % len(x)]", "total *= 0.9", "total = np.sin(total) + x[0]"]))
            elif kind == 2:
                lines.append(space + f"for i{depth} in range({r.choice(['3', 'len(x)', 'n % 3'])}):")
                block(depth + 1)
            elif kind == 3:
                lines.append(space + r.choice(["if total > 0.4:", "if n % 2 == 0:", f"if x[n % len(x)] > {r.choice(['0.0', '1.0'])}:"]))
                block(depth + 1)
                if r.random() < 0.5:
                    lines.append(space + "else:")
                    block(depth + 1)
            elif kind == 4:
                lines.append(space + f"while total < 3.0 and n < {r.randint(2, 12)}:")
                lines.append(space + "    n += 1")
                block(depth + 1)
            else:
                lines.append(space + "total += x[-1] * 0.1")

    block(1)
    return "\n".join([*lines, "    return total * x[0]", ""])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(4))
def test_random_programs_that_print(seed: int, tmp_path: Path) -> None:
    text, name = random_program(seed), tmp_path / f"printing_{seed}.py"
    name.write_text(text)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, str(name), "exec"), space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(space["f"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 200))
def test_many_random_programs_that_print(seed: int, tmp_path: Path) -> None:
    test_random_programs_that_print(seed, tmp_path)
