"""Gradients of differential equations with respect to many parameters: adjoint equation and sensitivities.

A linear equation has the matrix exponential as its solution, and the Frechet derivative of that as its derivative.
"""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, UnsupportedSyntax

integrate = pytest.importorskip("scipy.integrate")
linalg = pytest.importorskip("scipy.linalg")
from symgrad import implicit  # noqa: E402
from symgrad.runtime import trajectories  # noqa: E402

RNG = np.random.default_rng(3)
MATRIX, STATE, WEIGHTS = RNG.normal(size=(3, 3)), RNG.normal(size=3), RNG.normal(size=3)
ENDS = np.array([0.0, 0.4, 1.0])
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def exact(a, y0):
    """The derivative of ``WEIGHTS @ expm(a) @ y0`` with respect to both."""
    units = np.eye(9).reshape(9, 3, 3)
    of_a = [WEIGHTS @ linalg.expm_frechet(a, unit, compute_expm=False) @ y0 for unit in units]
    return np.reshape(of_a, (3, 3)), linalg.expm(a).T @ WEIGHTS


def linear(method, how, rtol):
    def last(a, y0):
        solution = implicit.solve_ivp(lambda t, y: a @ y, (0.0, 1.0), y0, t_eval=ENDS, method=method, rtol=rtol, atol=rtol * 1e-2,
                                      sensitivity=how)  # fmt: skip
        return WEIGHTS @ solution.y[:, -1]

    return last


def linear_in_rows(a, y0):
    return WEIGHTS @ implicit.odeint(lambda y, t: a @ y, y0, ENDS, rtol=1e-9, atol=1e-11, sensitivity="adjoint")[-1]


def linear_of_scipy(a, y0):
    return WEIGHTS @ integrate.solve_ivp(lambda t, y, b: b @ y, [0.0, 1.0], y0, "DOP853", args=(a,), rtol=1e-9, atol=1e-11, max_step=0.2,
                                         first_step=0.1).y[:, -1]  # fmt: skip


METHODS = {"RK45": 1e-9, "RK23": 1e-6, "DOP853": 1e-9, "Radau": 1e-8, "BDF": 1e-7, "LSODA": 1e-9}
LINEAR = [*((linear(method, "adjoint", rtol), 100 * rtol) for method, rtol in METHODS.items()), (linear("RK45", "auto", 1e-9), 1e-7),
          (linear("RK45", "forward", 1e-9), 1e-7), (linear_in_rows, 1e-7), (linear_of_scipy, 1e-7)]  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("f", "error"), LINEAR, ids=[*METHODS, "auto", "forward", "odeint", "scipy"])
def test_a_linear_equation(f, error) -> None:
    gradients = symgrad.grad(f, wrt=("a", "y0"))(MATRIX, STATE)
    for gradient, expected in zip(gradients, exact(MATRIX, STATE), strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=error, atol=error)


def moving(a, y0, t0, times, how):
    states = implicit.solve_ivp(lambda t, y: np.sin(a @ y) + t, (t0, 1.0), y0, t_eval=times, sensitivity=how, **TIGHT).y
    return np.sum(states**2 * np.arange(1.0, 1.0 + states.size).reshape(states.shape))


def test_start_and_times_that_move() -> None:
    arguments = (MATRIX, STATE, 0.1, np.array([0.3, 0.5, 0.9]))
    by_adjoint = symgrad.grad(lambda a, y0, t0, times: moving(a, y0, t0, times, "adjoint"), wrt=("a", "y0", "t0", "times"))(*arguments)
    directions = [RNG.normal(size=np.shape(argument)) for argument in arguments]
    step = 1e-5
    ends = [moving(*(x + s * step * d for x, d in zip(arguments, directions, strict=True)), "forward") for s in (1, -1)]
    slope = sum(np.sum(g * d) for g, d in zip(by_adjoint, directions, strict=True))
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-7)


@pytest.mark.parametrize(("times", "read"), [((1.0, 0.6, 0.2), slice(None)), ((1.0, 0.5), slice(0, 1)), ((0.7,), slice(None))],
                         ids=["backwards", "the start alone", "one"])  # fmt: skip
def test_which_times_are_read(times, read) -> None:
    def f(a, y0, how):
        return np.sum(
            implicit.solve_ivp(lambda t, y: np.sin(a @ y), (1.0, 0.0), y0, t_eval=np.array(times), sensitivity=how, **TIGHT).y[:, read]
        )

    one, other = (symgrad.grad(lambda a, y0, how=how: f(a, y0, how), wrt=("a", "y0"))(MATRIX, STATE) for how in ("adjoint", "forward"))
    for gradient, expected in zip(one, other, strict=True):
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-10)


def test_odeint_whose_times_are_named_twice() -> None:
    def f(a, y0, times):
        return np.sum(integrate.odeint(lambda y, t: np.sin(a @ y), y0, times, **TIGHT)[:3] ** 2)

    twice, once = np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.5, 1.0])
    gradient = symgrad.grad(f)(MATRIX, STATE, twice)
    rows = symgrad.jacobian(lambda a: integrate.odeint(lambda y, t: np.sin(a @ y), STATE, once, **TIGHT))(MATRIX)
    state = integrate.odeint(lambda y, t: np.sin(MATRIX @ y), STATE, once, **TIGHT)[1]
    np.testing.assert_allclose(gradient, 4.0 * np.tensordot(state, rows[1], 1), rtol=1e-7, atol=1e-10)


def test_second_order_and_forward_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CHECK", "1")  # the verifier looks at what is written after each stage

    def f(a):
        return np.sum(implicit.solve_ivp(lambda t, y: np.sin(a @ y) + t, (0.0, 1.0), STATE, t_eval=ENDS, **TIGHT,
                                         sensitivity="adjoint").y ** 3)  # fmt: skip

    direction, step, gradient = RNG.normal(size=(3, 3)), 1e-5, symgrad.grad(f)
    expected = (gradient(MATRIX + step * direction) - gradient(MATRIX - step * direction)) / (2 * step)
    assert symgrad.jvp(f, (MATRIX,), (direction,))[1] == pytest.approx(np.sum(gradient(MATRIX) * direction), rel=1e-8)
    np.testing.assert_allclose(symgrad.hvp(f, MATRIX, direction), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(symgrad.grad(lambda a: np.sum(gradient(a) * direction))(MATRIX), expected, rtol=1e-6, atol=1e-7)


def network(p, y0):
    return implicit.solve_ivp(lambda t, y: np.tanh(p["w"] @ y) - p["rates"] * y + p["force"] * t, (0.0, 1.0), y0, **TIGHT).y[:, -1]


def test_a_tree_of_parameters_inside_of_a_loop() -> None:
    def f(p, y0):
        for _ in range(2):
            y0 = network(p, y0)
        return np.sum(y0)

    p = {"w": MATRIX, "rates": np.abs(STATE), "force": 0.3}
    gradient = symgrad.grad(f)(p, STATE)
    direction = {"w": RNG.normal(size=(3, 3)), "rates": RNG.normal(size=3), "force": 0.7}
    step = 1e-5
    ends = [f({word: value + s * step * direction[word] for word, value in p.items()}, STATE) for s in (1, -1)]
    slope = sum(np.sum(gradient[word] * direction[word]) for word in p)
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-7)
    assert symgrad.jvp(f, (p, STATE), (direction, 0.0 * STATE))[1] == pytest.approx(slope, rel=1e-7)


def test_a_stiff_equation() -> None:
    """``y`` is ``k (k cos t + sin t) / (1 + k^2)`` but for what has decayed; solved for backwards in time it would grow by ``exp(2000)``."""

    def f(k):
        return np.sum(
            implicit.solve_ivp(lambda t, y: -k * (y - np.cos(t)), (0.0, 1.0), np.zeros(2), method="Radau", sensitivity="adjoint").y[:, -1]
        )

    k = np.array([2000.0, 500.0])
    up, slope = k * (k * np.cos(1.0) + np.sin(1.0)), 2 * k * np.cos(1.0) + np.sin(1.0)
    np.testing.assert_allclose(symgrad.grad(f)(k), (slope * (1 + k * k) - up * 2 * k) / (1 + k * k) ** 2, rtol=1e-3)


def test_which_equation_is_solved() -> None:
    assert trajectories.is_adjoint_faster(steps=14, times=1, size=20, count=420, method="RK45")
    assert not trajectories.is_adjoint_faster(steps=14, times=21, size=3, count=12, method="RK45")
    assert not trajectories.is_adjoint_faster(steps=14, times=1, size=3, count=6, method="BDF")


def test_the_text() -> None:
    text = symgrad.grad(linear_of_scipy).source(MATRIX, STATE)
    assert "= solution_cotangents(solve_ivp, rate, rate_pullback, rate_jacobian, " in text
    few = symgrad.grad(lambda k: integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0]).y[0, -1]).source(1.0)
    assert "solve_ivp(rate_sensitivity, " in few
    assert "solution_cotangents" not in symgrad.jacobian(network).source({"w": MATRIX, "rates": STATE, "force": 0.3}, STATE)


def test_single_precision() -> None:
    f = symgrad.grad(linear_of_scipy)
    gradient = f(MATRIX.astype(np.float32), STATE)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, f(MATRIX, STATE), rtol=1e-4, atol=1e-5)


def test_a_first_step_beyond_the_last_time() -> None:
    def f(k):
        return np.sum(integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.ones(2), t_eval=[0.1], first_step=0.5).y)

    np.testing.assert_allclose(symgrad.grad(f)(np.ones(2)), np.full(2, -0.1 * math.exp(-0.1)), rtol=1e-3)
    assert symgrad.grad(lambda k: f(np.full(2, k)))(1.0) == pytest.approx(-0.2 * math.exp(-0.1), rel=1e-3)


@pytest.mark.parametrize("how", ["adjoint", "forward"])
def test_where_the_derivative_does_not_exist(how) -> None:
    """The rate has a slope that is infinite at the start."""

    def f(k):
        return implicit.solve_ivp(lambda t, y: k * np.sqrt(y), (0.0, 1.0), [0.0], sensitivity=how).y[0, -1]

    with pytest.warns(RuntimeWarning, match="the solver did not converge"), np.errstate(all="ignore"):
        assert math.isnan(symgrad.grad(f, verify=False)(1.0))


def test_what_was_not_solved() -> None:
    def f(k):
        return np.sum(implicit.solve_ivp(lambda t, y: k * y**2, (0.0, 2.0), np.ones(2), sensitivity="adjoint").y[:, -1])

    with pytest.warns(RuntimeWarning, match="step size is less than spacing"):
        assert np.all(np.isnan(symgrad.grad(f)(np.ones(2))))


def test_it_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(linear_saved), path, MATRIX, STATE)
    spec = importlib.util.spec_from_file_location("saved", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_allclose(module.linear_saved_grad(MATRIX, STATE), symgrad.grad(linear_saved)(MATRIX, STATE), rtol=1e-12)
    run = subprocess.run([sys.executable, "-c", "import sys, saved; saved.check(); assert 'symgrad' not in sys.modules"], cwd=tmp_path,
                         capture_output=True, text=True, check=False, env={})  # fmt: skip
    assert "agrees with differences" in run.stdout, run.stderr


def linear_saved(a, y0):
    return np.sum(integrate.solve_ivp(lambda t, y: a @ y, (0.0, 1.0), y0, "BDF", rtol=1e-8, atol=1e-10).y[:, -1])


def chosen_by_value(k):
    how = "adjoint" if k > 0.5 else "forward"
    return implicit.odeint(lambda y, t: -k * y, [1.0], [0.0, 1.0], sensitivity=how)[-1, 0]


def test_words_that_say_nothing() -> None:
    with pytest.raises(BadArgument, match="no sensitivity 'backward'"):
        implicit.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], sensitivity="backward")
    with pytest.raises(BadArgument, match="no sensitivity 'backward'"):
        symgrad.grad(linear("RK45", "backward", 1e-9))(MATRIX, STATE)
    with pytest.raises(UnsupportedSyntax, match="sensitivity= must be known"):
        symgrad.grad(chosen_by_value)(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert implicit.odeint(lambda y, t: -y, [1.0], [0.0, 1.0], sensitivity="forward")[-1, 0] == pytest.approx(math.exp(-1.0))


def test_settings_of_odeint_that_the_adjoint_does_not_have() -> None:
    def f(k):
        return np.sum(integrate.odeint(lambda y, t: -k * y, np.ones(2), [0.0, 1.0], mxstep=1000)[-1])

    np.testing.assert_allclose(symgrad.grad(f)(np.ones(2)), np.full(2, -math.exp(-1.0)), rtol=1e-6)
    assert "solution_cotangents" not in symgrad.grad(f).source(np.ones(2))
