"""Derivatives of the solutions returned by SciPy's solvers and by ``symgrad.implicit``.

``CASES`` are functions of one number whose value, and so every derivative, is known in closed form: a cube root that each solver finds
in its own way, integrals, differential equations. The other tests take systems, ways to write the function, what is refused, and solvers
that do not converge.
"""

from __future__ import annotations

import importlib.util
import math
import pickle
import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, InvalidIR, NoDerivative, NotCompiled, SymgradError, UnknownType, UnsupportedSyntax

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
from symgrad import implicit  # noqa: E402
from symgrad.ir.parse import ParseError, parse  # noqa: E402
from symgrad.ir.show import show  # noqa: E402
from symgrad.ir.verify import verify  # noqa: E402
from symgrad.ops.declare import ROWS  # noqa: E402

A = 2.0
TIGHT: dict[str, float] = {"rtol": 1e-11, "atol": 1e-12}


def cubic(x, a):
    return x**3 - a


def slope(x, a):
    return 3.0 * x**2


def quartic(x, a):
    return np.sum(x**4 / 4.0 - a * x)


# ------------------------------------------------------------------ every solver, one equation


def by_lambda(a):
    return optimize.brentq(lambda x: x**3 - a, 0.0, 10.0)


def by_args(a):
    return optimize.brentq(cubic, 0.0, 10.0, args=(a,))


def by_one_argument_that_is_no_tuple(a):
    return optimize.brentq(f=cubic, b=10.0, a=0.0, args=a)


def by_keywords(a):
    return optimize.brentq(cubic, 0.0, 10.0, args=(a,), xtol=1e-14, maxiter=200)


def by_report(a):
    return optimize.brentq(cubic, 0.0, 10.0, args=(a,), disp=False)


def by_other_brackets(a):
    ends = (0.0, 10.0)
    total = optimize.bisect(cubic, *ends, args=(a,)) + optimize.ridder(cubic, *ends, args=(a,))
    return (total + optimize.brenth(cubic, *ends, args=(a,)) + optimize.toms748(cubic, *ends, args=(a,))) / 4.0


def by_newton(a):
    return (optimize.newton(cubic, 1.0, args=(a,)) + optimize.newton(cubic, 1.0, fprime=slope, args=(a,))) / 2.0


def by_newton_from_a_vector(a):
    starts = np.array([1.0, 1.5, 2.0])
    roots = optimize.newton(cubic, starts, args=(a,), tol=1e-14) + optimize.newton(cubic, starts, slope, (a,), fprime2=lambda x, a: 6 * x)
    return np.sum(roots) / 6.0


def by_halley(a):
    return optimize.newton(lambda x: x**3 - a, 1.0, fprime=lambda x: 3 * x**2, fprime2=lambda x: 6 * x)


def by_root_scalar(a):
    solution = optimize.root_scalar(cubic, args=(a,), bracket=(0.0, 10.0))
    assert solution.converged, solution.flag
    return solution.root


def by_root_scalar_and_slope(a):
    return optimize.root_scalar(lambda x: (x**3 - a, 3 * x**2), x0=1.0, fprime=True).root


def by_fsolve(a):
    return optimize.fsolve(cubic, 1.0, args=(a,))[0]


def by_fsolve_of_a_list(a):
    return optimize.fsolve(lambda x: [x[0] ** 3 - a, x[1] - x[0]], [1.0, 1.0], xtol=1e-13)[1]


def by_fsolve_with_all_it_says(a):
    x, info, status, message = optimize.fsolve(cubic, [1.0], args=(a,), full_output=True)
    assert status == 1, message
    return x[0]


def by_root(a):
    solution = optimize.root(cubic, [1.0], args=(a,), tol=1e-13)
    if not solution.success:
        raise ValueError(solution.message)
    return solution.x[0]


def by_root_and_jacobian(a):
    return optimize.root(lambda x: (x**3 - a, np.diag(3 * x**2)), np.ones(2), jac=True, options={"xtol": 1e-13}).x[1]


def by_root_of_another_method(a):
    return optimize.root(cubic, [1.0], args=(a,), method="lm", tol=1e-13)["x"][0]


def by_fixed_point(a):
    return optimize.fixed_point(lambda x: (2.0 * x + a / x**2) / 3.0, 1.0)


def by_fixed_point_of_a_vector(a):
    return optimize.fixed_point(lambda x: (2.0 * x + a / x**2) / 3.0, np.array([1.0, 1.5]), method="iteration")[1]


def by_minimize(a):
    return optimize.minimize(quartic, [1.0], args=(a,), jac=lambda x, a: x**3 - a, tol=1e-9).x[0]


def by_minimize_of_a_pair(a):
    return optimize.minimize(lambda x: (quartic(x, a), x**3 - a), np.array([1.0]), jac=True, options={"gtol": 1e-9}).x[0]


def by_minimize_within_bounds(a):
    solution = optimize.minimize(quartic, [1.0, 1.0], args=(a,), bounds=[(0.0, None), (None, 1.1)], tol=1e-14)
    return solution.x[0]


def by_implicit_root(a):
    return implicit.root(cubic, 1.0, a)


def by_implicit_root_of_a_vector(a):
    return implicit.root(lambda x, b: x**3 - b, np.array([1.0, 1.0]), a)[0]


def by_implicit_fixed_point(a):
    return implicit.fixed_point(lambda x: (2.0 * x + a / x**2) / 3.0, 1.0)


def by_implicit_minimize(a):
    return implicit.minimize(quartic, [1.0], a, tol=1e-8)[0]


def cube_root(a: float, order: int) -> float:
    factors = [1.0, 1.0 / 3.0, -2.0 / 9.0, 10.0 / 27.0]
    return factors[order] * a ** (1.0 / 3.0 - order)


CUBE_ROOTS = [
    by_lambda, by_args, by_one_argument_that_is_no_tuple, by_keywords, by_report, by_other_brackets, by_newton,
    by_newton_from_a_vector, by_halley, by_root_scalar,
    by_root_scalar_and_slope, by_fsolve, by_fsolve_of_a_list, by_fsolve_with_all_it_says, by_root, by_root_and_jacobian,
    by_root_of_another_method, by_fixed_point, by_fixed_point_of_a_vector, by_minimize, by_minimize_of_a_pair, by_minimize_within_bounds,
    by_implicit_root, by_implicit_root_of_a_vector, by_implicit_fixed_point, by_implicit_minimize,
]  # fmt: skip


# ------------------------------------------------------------------ integrals and differential equations


def gaussian(a):
    return integrate.quad(lambda x: np.exp(-a * x * x), -np.inf, np.inf)[0]


def area(a):
    value, error = integrate.quad(lambda x, k: np.exp(-k * x), 0.0, a, args=(1.5,), epsabs=1e-12, epsrel=1e-12)
    return value


def area_from(a):
    return implicit.quad(lambda x: math.exp(-1.5 * x), a, 4.0)


def inner_integral(a):
    return integrate.quad(lambda y: integrate.quad(lambda x: a * a * x * y, 0.0, y)[0], 0.0, 2.0)[0]


def decay(a):
    return integrate.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), [1.0], args=None, rtol=1e-11, atol=1e-12).y[0, -1]


def decay_back(a):
    times, tolerance = np.linspace(1.0, 0.0, 3), 1e-12 * a
    solution = integrate.solve_ivp(lambda t, y: -a * y, (1.0, 0.0), [1.0], method="LSODA", t_eval=times, rtol=1e-11, atol=tolerance)
    return solution.y[0, 2]


def decay_to(a):
    return integrate.solve_ivp(lambda t, y, k: -k * y, (0, a), np.array([1.0]), args=(1.5,), rtol=1e-11, atol=1e-12).y[0, -1]


def decay_from(a):
    return integrate.solve_ivp(lambda t, y: -1.5 * y, [a, 3.0], [1.0], rtol=1e-11, atol=1e-12, method="DOP853").y[0, -1]


def decay_of(a):
    return integrate.solve_ivp(lambda t, y: [-1.5 * y[0]], (0.0, 1.0), [a * a], rtol=1e-11, atol=1e-12).y[0][-1]


def decay_at(a):
    times = np.array([0.25, 0.5]) * a
    solution = implicit.solve_ivp(lambda t, y: -1.5 * y, (0.0, 2.0), [1.0], t_eval=times, rtol=1e-11, atol=1e-12)
    return solution.y[0, 1] + solution.t[1]


def decay_in_rows(a):
    return integrate.odeint(lambda y, t, k: -k * y, 1.0, [0.0, 0.5, 1.0], args=(a,), rtol=1e-11, atol=1e-12)[2, 0]


def decay_in_rows_at(a):
    return implicit.odeint(lambda y, t: -1.5 * y, [1.0], np.array([0.0, a]), rtol=1e-11, atol=1e-12)[1, 0]


def decay_time_first(a):
    y, report = integrate.odeint(lambda t, y: -1.5 * y, [1.0], [a, 3.0], tfirst=True, full_output=True, rtol=1e-11, atol=1e-12)
    return y[1, 0]


SOLVED: dict[Callable[..., Any], Callable[[float, int], float]] = {
    gaussian: lambda a, n: math.sqrt(math.pi) * [a**-0.5, -0.5 * a**-1.5, 0.75 * a**-2.5, -1.875 * a**-3.5][n],
    area: lambda a, n: (1.0 - math.exp(-1.5 * a)) / 1.5 if n == 0 else (-1.5) ** (n - 1) * math.exp(-1.5 * a),
    area_from: lambda a, n: (math.exp(-1.5 * a) - math.exp(-6.0)) / 1.5 if n == 0 else -((-1.5) ** (n - 1)) * math.exp(-1.5 * a),
    inner_integral: lambda a, n: [2.0 * a * a, 4.0 * a, 4.0, 0.0][n],
    decay: lambda a, n: (-1.0) ** n * math.exp(-a),
    decay_back: lambda a, n: math.exp(a),
    decay_to: lambda a, n: (-1.5) ** n * math.exp(-1.5 * a),
    decay_from: lambda a, n: 1.5**n * math.exp(-1.5 * (3.0 - a)),
    decay_of: lambda a, n: math.exp(-1.5) * [a * a, 2.0 * a, 2.0, 0.0][n],
    decay_at: lambda a, n: (-0.75) ** n * math.exp(-0.75 * a) + [0.5 * a, 0.5, 0.0, 0.0][n],
    decay_in_rows: lambda a, n: (-1.0) ** n * math.exp(-a),
    decay_in_rows_at: lambda a, n: (-1.5) ** n * math.exp(-1.5 * a),
    decay_time_first: lambda a, n: 1.5**n * math.exp(-1.5 * (3.0 - a)),
}
CASES = [*((f, cube_root) for f in CUBE_ROOTS), *SOLVED.items()]
NAMES = [f.__name__ for f, _ in CASES]


@pytest.mark.parametrize(("f", "exact"), CASES, ids=NAMES)
def test_value_and_first_derivative(f, exact) -> None:
    value, derivative = symgrad.value_and_grad(f)(A)
    assert value == f(A)
    assert value == pytest.approx(exact(A, 0), rel=1e-7)
    assert derivative == pytest.approx(exact(A, 1), rel=1e-7)
    assert symgrad.jvp(f, (A,), (1.0,))[1] == pytest.approx(exact(A, 1), rel=1e-7)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("f", "exact"), CASES, ids=NAMES)
def test_second_derivative(f, exact) -> None:
    first = symgrad.grad(f)
    assert symgrad.grad(first)(A) == pytest.approx(exact(A, 2), rel=1e-6, abs=1e-7)
    if f in (by_lambda, by_root, area, decay, decay_to):
        assert symgrad.jvp(first, (A,), (1.0,))[1] == pytest.approx(exact(A, 2), rel=1e-6)


@pytest.mark.parametrize(("f", "exact"), [(by_args, cube_root), (by_fsolve, cube_root), (gaussian, SOLVED[gaussian]), (area, SOLVED[area])],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_third_derivative(f, exact) -> None:
    third = symgrad.grad(symgrad.grad(symgrad.grad(f)))
    assert third(A) == pytest.approx(exact(A, 3), rel=1e-6)


@pytest.mark.slow
def test_third_derivative_of_a_differential_equation() -> None:
    assert symgrad.grad(symgrad.grad(symgrad.grad(decay)))(A) == pytest.approx(-math.exp(-A), rel=1e-6)


@pytest.mark.parametrize("f", [by_lambda, gaussian, decay], ids=lambda f: f.__name__)
def test_with_jit_it_runs_as_numpy_code(f) -> None:
    called = {by_lambda: "optimize.brentq", gaussian: "integrate.quad", decay: "integrate.solve_ivp"}[f]
    with pytest.warns(NotCompiled, match=f"a call of {called}, which is a Python function") as told:
        derivative = symgrad.grad(f, jit=True)(A)
    assert f"{Path(__file__).name}:{f.__code__.co_firstlineno + 1}" in str(told[0].message)
    assert derivative == symgrad.grad(f)(A)
    assert symgrad.grad(f, jit="auto")(A) == derivative


# ------------------------------------------------------------------ systems


def circle_and_line(p):
    return optimize.fsolve(lambda x: np.array([x[0] ** 2 + x[1] ** 2 - p[0], x[1] - p[1] * x[0]]), [1.0, 1.0], xtol=1e-13)


P = np.array([2.0, 0.5])


def at(p: Any) -> np.ndarray:
    r = np.sqrt(p[0] / (1.0 + p[1] ** 2))
    return np.array([r, p[1] * r])


def complex_step(f: Callable[[Any], Any], p: np.ndarray) -> np.ndarray:
    """The Jacobian of a function of complex numbers, to the last digit."""
    return np.stack([f(p + 1e-200j * unit).imag / 1e-200 for unit in np.eye(len(p))], axis=-1)


def test_the_jacobian_of_a_root() -> None:
    expected = complex_step(at, P)
    np.testing.assert_allclose(symgrad.jacobian(circle_and_line)(P), expected, rtol=1e-10)
    _, pullback = symgrad.vjp(circle_and_line, P)
    np.testing.assert_allclose(pullback(np.array([1.0, -2.0]))[0], np.array([1.0, -2.0]) @ expected, rtol=1e-10)
    _, linear = symgrad.linearize(circle_and_line, P)
    np.testing.assert_allclose(linear(np.array([1.0, -2.0])), expected @ np.array([1.0, -2.0]), rtol=1e-10)


def test_the_hessian_of_a_minimum() -> None:
    """The least value of ``|x - p|^2 + q x.x`` is ``q / (1 + q) p.p``."""

    def least(p):
        return optimize.minimize(lambda x: np.sum((x - p[:2]) ** 2) + p[2] * np.sum(x * x), np.zeros(2), tol=1e-10,
                                 jac=lambda x: 2 * (x - p[:2]) + 2 * p[2] * x).fun  # fmt: skip

    p = np.array([0.3, -0.7, 0.5])
    q, square = p[2], p[0] ** 2 + p[1] ** 2
    expected = np.diag([2 * q / (1 + q)] * 2 + [-2 * square / (1 + q) ** 3])
    expected[2, :2] = expected[:2, 2] = 2 * p[:2] / (1 + q) ** 2
    np.testing.assert_allclose(symgrad.grad(least)(p), [*(2 * q / (1 + q) * p[:2]), square / (1 + q) ** 2], rtol=1e-7)
    np.testing.assert_allclose(symgrad.hessian(least)(p), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(symgrad.hvp(least, p, np.ones(3)), expected @ np.ones(3), rtol=1e-6)


@pytest.mark.parametrize("size", [1, 3])
def test_the_size_of_the_system(size: int) -> None:
    a = np.linspace(1.0, 2.0, size)
    jacobian = symgrad.jacobian(lambda a: optimize.fsolve(cubic, np.ones(len(a)), args=(a,), xtol=1e-13))(a)
    np.testing.assert_allclose(jacobian, np.diag(a ** (-2.0 / 3.0) / 3.0), rtol=1e-9, atol=1e-12)


def test_arrays_that_do_not_lie_in_one_piece_and_single_precision() -> None:
    a = np.linspace(1.0, 2.0, 6)[::2]
    f = symgrad.grad(lambda a: np.sum(optimize.fsolve(cubic, np.ones(3), args=(a,), xtol=1e-13)))
    np.testing.assert_allclose(f(a), a ** (-2.0 / 3.0) / 3.0, rtol=1e-9)
    single = symgrad.grad(by_args)(np.float32(2.0))
    assert single == pytest.approx(cube_root(2.0, 1), rel=1e-6)
    assert isinstance(single, np.float32)


def test_a_batch() -> None:
    a = np.array([1.0, 2.0, 8.0])
    np.testing.assert_allclose(symgrad.vmap(by_lambda)(a), a ** (1 / 3), rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(symgrad.grad(by_lambda))(a), a ** (-2 / 3) / 3, rtol=1e-11)


def test_a_differential_equation_with_parameters_in_a_dict() -> None:
    def last(p, y0):
        return integrate.solve_ivp(lambda t, y: p["a"] @ y + p["b"] * t, (0.0, 1.0), y0, **TIGHT).y[:, -1]

    p, y0 = {"a": np.array([[0.0, 1.0], [-2.0, -0.3]]), "b": 0.7}, np.array([1.0, 0.5])
    of_p, of_y = symgrad.jacobian(last, wrt=("p", "y0"))(p, y0)
    step = 1e-5
    for place in np.ndindex(2, 2):
        moved = [{**p, "a": p["a"] + s * step * (np.indices((2, 2)) == np.reshape(place, (2, 1, 1))).all(0)} for s in (1, -1)]
        difference = (last(moved[0], y0) - last(moved[1], y0)) / (2 * step)
        np.testing.assert_allclose(of_p["a"][(slice(None), *place)], difference, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(of_p["b"], (last({**p, "b": 0.7 + step}, y0) - last({**p, "b": 0.7 - step}, y0)) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose(of_y @ y0 + 0.7 * of_p["b"], last(p, y0), rtol=1e-8)  # it is linear in these two


def test_a_stiff_differential_equation() -> None:
    def last(k):
        return integrate.solve_ivp(lambda t, y: -k * (y - np.cos(t)), (0.0, 1.0), [0.0], method="Radau", rtol=1e-9, atol=1e-11).y[0, -1]

    k = 2000.0  # y is k (k cos t + sin t) / (1 + k^2) but for what has decayed
    expected = ((2 * k * np.cos(1.0) + np.sin(1.0)) * (1 + k * k) - k * (k * np.cos(1.0) + np.sin(1.0)) * 2 * k) / (1 + k * k) ** 2
    assert symgrad.grad(last)(k) == pytest.approx(expected, rel=1e-4)


# ------------------------------------------------------------------ ways to write the function


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def force(self, x, load):
        return self.stiffness * x**3 - load

    def rest(self, load):
        return optimize.brentq(self.force, 0.0, 10.0, args=(load,))

    def rest_of_lambda(self, load):
        return optimize.brentq(lambda x: self.force(x, load), 0.0, 10.0)


def of_spring(spring, load):
    return spring.rest(load) + spring.rest_of_lambda(load)


def test_methods_and_attributes() -> None:
    spring = Spring(2.0)
    assert symgrad.grad(spring.rest)(4.0) == pytest.approx(0.5 * cube_root(2.0, 1), rel=1e-10)
    gradient = symgrad.grad(of_spring)(spring, 4.0)
    assert gradient.stiffness == pytest.approx(-2.0 * cube_root(2.0, 1), rel=1e-10)


def trees(p):
    return optimize.brentq(lambda x: p["w"][0] * x**3 - p["w"][1] * p["load"], 0.0, 10.0)


def in_loop(a):
    total, x = 0.0, np.ones(2)
    for k in range(1, 4):
        x = optimize.fsolve(lambda z: z**3 - a * k, x, xtol=1e-13)  # noqa: B023
        total += x[0]
    return total


def in_while(a):
    x = a
    while x > 1.1:
        x = optimize.brentq(lambda z: z**3 - x, 0.0, 10.0)  # noqa: B023
    return x


def in_branch(a):
    if a > 1.0:
        solution = optimize.root(lambda x: x**3 - a, [1.0], tol=1e-13)
    else:
        solution = optimize.root(lambda x: x**3 - 2.0 * a, [1.0], tol=1e-13)
    return solution.x[0]


def nested(a):
    return optimize.brentq(lambda x: optimize.brentq(lambda y: y**3 - a * x, 0.0, 10.0) - 2.0, 0.1, 10.0)  # 8 / a


def with_derivative_inside(a):
    return optimize.brentq(symgrad.grad(lambda y: y**4 / 4.0 - a * y), 0.0, 10.0)


def of_partial(a):
    return optimize.brentq(partial(cubic, a=a), 0.0, 10.0)


def with_nested_function(a):
    scale = a * a

    def equation(x):
        half = 0.5 * x
        return half**3 - scale / 8.0

    return optimize.brentq(equation, 0.0, 10.0)  # a^(2/3)


def with_a_branch_inside(a):
    return optimize.brentq(lambda x: x**3 - a if x > 0.5 else -1.0, 0.0, 10.0)


def written_to(a):
    x = optimize.fsolve(lambda z: z**3 - a, [1.0, 1.0], xtol=1e-13)
    x[0] = x[1] ** 2
    return x[0]


WRITTEN = [in_loop, in_while, in_branch, nested, with_derivative_inside, of_partial, with_nested_function, with_a_branch_inside, written_to]


@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
def test_ways_to_write_it(f) -> None:
    step = 1e-4
    difference = (f(A + step) - f(A - step)) / (2 * step)
    assert symgrad.grad(f)(A) == pytest.approx(difference, rel=1e-6)
    assert symgrad.jvp(f, (A,), (1.0,))[1] == pytest.approx(difference, rel=1e-6)
    second = (f(A + 10 * step) - 2 * f(A) + f(A - 10 * step)) / (10 * step) ** 2
    assert symgrad.grad(symgrad.grad(f))(A) == pytest.approx(second, rel=1e-4)


def test_parameters_in_trees() -> None:
    gradient = symgrad.grad(trees)({"w": [1.0, 0.5], "load": 4.0})
    d = cube_root(2.0, 1)
    assert gradient["load"] == pytest.approx(0.5 * d)
    assert gradient["w"] == [pytest.approx(-2.0 * d), pytest.approx(4.0 * d)]


def test_where_the_search_begins_has_no_derivative() -> None:
    def f(a):
        return optimize.brentq(lambda x: x - 1.0, 0.0, 2.0 * a) + optimize.newton(lambda x: x**2 - 4.0, a)

    assert symgrad.grad(f, allow_unused=True)(1.5) == 0.0


def test_bounds() -> None:
    """A coordinate that lies on a bound moves with it, the others as without bounds."""

    def f(a):
        return optimize.minimize(lambda x: np.sum((x - a) ** 2) + x[0] * x[1], np.array([0.5, 0.6]), tol=1e-12,
                                 bounds=[(0.0, 0.25 * a), (None, 10.0)]).x  # fmt: skip

    np.testing.assert_allclose(symgrad.jvp(f, (A,), (1.0,))[1], [0.25, 1.0 - 0.125], rtol=1e-9)  # x1 is a - x0 / 2


def test_what_is_read_of_a_result_is_what_it_was_when_it_was_found() -> None:
    def f(a):
        solution = optimize.minimize(lambda x: np.sum(x**4 / 4.0 - a * x), [1.0], tol=1e-8)
        a = 100.0 * a
        return solution.fun + 0.0 * a

    assert symgrad.value_and_grad(f)(A) == (f(A), pytest.approx(-cube_root(A, 0), rel=1e-6))
    assert symgrad.grad(symgrad.grad(f))(A) == pytest.approx(-cube_root(A, 1), rel=1e-6)


def test_attributes_of_results() -> None:
    def f(a):
        solution = optimize.minimize(quartic, [1.0], args=(a,), tol=1e-8)
        assert solution.nfev > 0
        decayed = integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], "BDF")
        root = optimize.root_scalar(cubic, args=(8.0,), bracket=[0.0, 9.0])
        return solution.fun, (solution.success, solution.message, solution.nit, decayed.nlu, root.method)

    (gradient, (success, message, count, *others)) = symgrad.grad(f, has_aux=True)(A)
    assert others == list(f(A)[1][3:])
    assert gradient == pytest.approx(-cube_root(A, 0), rel=1e-6)
    assert success is True
    assert isinstance(message, str)
    assert count == optimize.minimize(quartic, [1.0], args=(A,), tol=1e-8).nit


# ------------------------------------------------------------------ what is emitted


def test_the_text() -> None:
    text = symgrad.grad(by_lambda).source(A)
    assert "def equation(x, a):\n    return x**3 - a\n" in text
    assert "= brentq(equation, 0.0, 10.0, args=(a,))" in text
    assert text.count("brentq(") == 1
    assert "func equation(x: float, a: float) -> out: float:" in str(symgrad.grad(by_lambda).ir(A))


HANDED = """func f(x: f64[x0]) -> ?:
    %0 = solver(fsolve, &equations, x) : ?
    return %0

func equations(y: f64[x0]) -> f64[x0]:
    %0 = multiply(y, y) : f64[x0]
    return %0
"""


def test_the_text_of_a_function_that_is_handed_on_reads_back() -> None:
    assert show(parse(show(parse(HANDED)))) == show(parse(HANDED))
    verify(parse(HANDED))
    with pytest.raises(ParseError, match="there is no function others"):
        parse(HANDED.replace("&equations", "&others"))


def test_a_function_that_is_handed_on_leaves_what_it_is_given() -> None:
    with pytest.raises(InvalidIR, match="equations stores to what a solver hands it"):
        verify(parse(HANDED.replace("multiply(y, y)", 'set_at(y, 0.0, 0, index="i")')))


def stores(x):
    x[0] = 2.0 * x[0]
    return x - 2.0


def test_what_a_function_stores_in_its_argument_stays_there() -> None:
    """SciPy hands out its own memory, which the user's function should leave alone; the function of the program works on a copy."""
    text = symgrad.grad(lambda a: a * np.sum(optimize.fsolve(lambda x: stores(x) * a, np.ones(1)))).source(A)
    assert "copy()" in text


def everything(a, b):
    x = optimize.brentq(lambda x: x**3 - a * b, 0.0, 10.0)
    y = optimize.fsolve(lambda y: y**2 - x, [1.0, 1.0], xtol=1e-13)
    z = integrate.solve_ivp(lambda t, y: -a * y, (0.0, b), y, **TIGHT).y[:, -1]
    return x + np.sum(y) + z[0] + integrate.quad(lambda t: t * a, 0.0, x)[0]


def test_it_is_saved_and_pickled(tmp_path: Path) -> None:
    derivative = symgrad.grad(everything, wrt=("a", "b"))
    expected = derivative(2.0, 0.5)
    assert pickle.loads(pickle.dumps(derivative))(2.0, 0.5) == expected
    path = tmp_path / "saved.py"
    symgrad.save(derivative, path, 2.0, 0.5)
    spec = importlib.util.spec_from_file_location("saved", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.everything_grad(2.0, 0.5) == pytest.approx(expected, rel=1e-12)
    assert "from scipy.optimize import brentq" in path.read_text()
    module.check()


def test_functions_of_one_text_have_names_of_their_own() -> None:
    value, pullback = symgrad.vjp(everything, 2.0, 0.5)
    assert value == everything(2.0, 0.5)
    assert pullback(1.0) == pytest.approx(symgrad.grad(everything, wrt=("a", "b"))(2.0, 0.5), rel=1e-10)


def test_the_matrix_of_second_derivatives_is_symmetric() -> None:
    (aa, ab), (ba, bb) = symgrad.hessian(everything, wrt=("a", "b"))(2.0, 0.5)
    assert ab == pytest.approx(ba, rel=1e-7)
    step = 1e-4
    gradient = symgrad.grad(everything, wrt=("a", "b"))
    np.testing.assert_allclose([aa, ba], np.subtract(gradient(2.0 + step, 0.5), gradient(2.0 - step, 0.5)) / (2 * step), rtol=1e-6)
    np.testing.assert_allclose([ab, bb], np.subtract(gradient(2.0, 0.5 + step), gradient(2.0, 0.5 - step)) / (2 * step), rtol=1e-6)


# ------------------------------------------------------------------ solvers that do not converge


def no_root(a):
    return optimize.root(lambda x: x**2 + a, [1.0]).x[0]


def no_root_by_fsolve(a):
    return optimize.fsolve(lambda x: x**2 + a, [1.0])[0]


def too_few_steps(a):
    return optimize.minimize(quartic, [1.0], args=(a,), options={"maxiter": 1}).x[0]


def too_few_steps_of_brentq(a):
    return optimize.brentq(cubic, 0.0, 10.0, args=(a,), maxiter=2, disp=False)


def no_area(a):
    return integrate.quad(lambda x: a / x, 0.0, 1.0)[0]


def no_end(a):
    return integrate.solve_ivp(lambda t, y: a * y**2, (0.0, 2.0), [1.0]).y[0, -1]


UNSOLVED = {
    no_root: "not making good progress", no_root_by_fsolve: "not making good progress", too_few_steps: "Maximum number of iterations",
    too_few_steps_of_brentq: "convergence error", no_area: "maximum number of subdivisions", no_end: "step size is less than spacing",
}  # fmt: skip


@pytest.mark.parametrize("f", UNSOLVED, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:.*:scipy.integrate.IntegrationWarning")
def test_no_derivative_of_what_was_not_solved(f) -> None:
    with pytest.warns(RuntimeWarning, match=UNSOLVED[f]) as told:
        value, derivative = symgrad.value_and_grad(f)(A)
    assert math.isnan(derivative)
    assert any(Path(one.filename).name == Path(__file__).name for one in told)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert value == f(A)
        assert math.isnan(symgrad.jvp(f, (A,), (1.0,))[1])


def test_what_scipy_raises_is_raised() -> None:
    for f in (lambda a: optimize.brentq(cubic, 3.0, 10.0, args=(a,)), lambda a: optimize.newton(lambda x: x**2 + a, 1.0)):
        with pytest.raises((ValueError, RuntimeError)) as theirs:
            f(A)
        with pytest.raises(theirs.type, match=re.escape(str(theirs.value))):
            symgrad.grad(f)(A)


def handled(a):
    try:
        return optimize.brentq(cubic, 3.0, 10.0, args=(a,))
    except ValueError:
        return a * a


def test_a_handler_sees_what_scipy_raises() -> None:
    assert symgrad.grad(handled)(A) == 4.0


def test_the_plain_functions_warn_too() -> None:
    with pytest.warns(RuntimeWarning, match="not making good progress"):
        implicit.root(lambda x: x**2 + 1.0, [1.0])


# ------------------------------------------------------------------ what is refused

LOG: list[float] = []
COMPLEX = np.array(1.0 + 1.0j)


def logged(x, a):
    LOG.append(x)
    return x**3 - a


def writes(a):
    return optimize.brentq(logged, 0.0, 10.0, args=(a,))


def counts(a):
    calls = 0

    def equation(x):
        nonlocal calls
        calls += 1
        return x**3 - a

    return optimize.brentq(equation, 0.0, 10.0) * calls


REFUSED = {
    "writes": (writes, UnsupportedSyntax, "brentq: the function has a side effect"),
    "counts": (counts, UnsupportedSyntax, "brentq: the function has a side effect"),
    "constraints": (lambda a: optimize.minimize(quartic, [1.0], args=(a,), constraints={"type": "eq", "fun": np.sum}).x[0],
                    UnsupportedSyntax, "minimize: constraints= are not supported"),
    "bounds of an interior method": (lambda a: optimize.minimize(quartic, [1.0], (a,), "trust-constr", bounds=[(0.0, 1.0)]).x[0],
                                     UnsupportedSyntax, "bounds= with method='trust-constr'"),
    "callback": (lambda a: optimize.minimize(quartic, [1.0], args=(a,), callback=print).x[0], UnsupportedSyntax, "callback= is not"),
    "jac of a minimum": (lambda a: optimize.minimize(quartic, [1.0], args=(a,)).jac[0], UnknownType, "the attribute jac of a result"),
    "full_output": (lambda a: optimize.brentq(cubic, 0.0, 10.0, args=(a,), full_output=True)[0], UnsupportedSyntax, "full_output=True"),
    "newton of a matrix": (lambda a: np.sum(optimize.newton(cubic, np.ones((2, 2)), args=(a,))), UnsupportedSyntax, "number or vector"),
    "newton of a vector that is told not to raise": (
        lambda a: np.sum(optimize.newton(cubic, np.ones(2), args=(a,), disp=False)), UnsupportedSyntax, "disp=False is not"),
    "a matrix of unknowns": (lambda a: np.sum(optimize.root(cubic, np.ones((2, 2)), args=(a,)).x), UnsupportedSyntax, "number or vector"),
    "single precision": (lambda a: optimize.minimize(quartic, np.ones(1, np.float32), args=(a,)).x[0], UnsupportedSyntax, "double precision"),
    "complex": (lambda a: abs(optimize.root(lambda x: x**2 + a, np.array([1j])).x[0]), UnsupportedSyntax, "must be a real number"),
    "complex integrand": (lambda a: integrate.quad(lambda x: a * 1j * x, 0.0, 1.0)[0].real, UnsupportedSyntax, "one real number"),
    "a complex parameter": (lambda a: integrate.quad(lambda x: (a * (1.0 + 2.0j) * x).real + abs(COMPLEX), 0.0, 1.0)[0],
                            UnsupportedSyntax, "quad: the function reads or returns complex numbers"),
    "a complex equation": (lambda a: optimize.newton(lambda x: x * 1j - a, 1.0), UnsupportedSyntax, "reads or returns complex numbers"),
    "complex_func": (lambda a: integrate.quad(lambda x: a * x, 0.0, 1.0, complex_func=True)[0].real, UnsupportedSyntax, "complex_func=True"),
    "weight": (lambda a: integrate.quad(lambda x: a * x, 0.0, 1.0, weight="cos", wvar=1.0)[0], UnsupportedSyntax, "weight= is not"),
    "events": (lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], events=lambda t, y: y[0]).y[0, -1],
               UnsupportedSyntax, "events= is not supported"),
    "dense_output": (lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], dense_output=True).sol(0.5)[0],
                     UnsupportedSyntax, "dense_output=True is not supported"),
    "several tolerances": (lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], atol=[1e-9]).y[0, -1],
                           UnsupportedSyntax, "atol= must be one number"),
    "a break that moves": (lambda a: integrate.quad(lambda x: abs(x - a), 0.0, 9.0, points=[a, 1.0])[0], NoDerivative, "a break that moves"),
    "a rate whose break moves": (lambda a: integrate.odeint(lambda y, t: -abs(t - a), [1.0], [0.0, 9.0], tcrit=np.array([a]))[1, 0],
                                 NoDerivative, "tcrit= depends on a differentiated value"),
    "random": (lambda a: integrate.quad(lambda x: a * x * np.random.rand(), 0.0, 1.0)[0], UnsupportedSyntax, "draws random numbers"),
    "a method of a result": (lambda a: optimize.root(cubic, [1.0], args=(a,)).get("x")[0], UnknownType, "the attribute get of a result"),
    "vectorized": (lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], vectorized=True).y[0, -1], UnsupportedSyntax,
                   "vectorized=True is not supported"),
    "a wrong call": (lambda a: optimize.brentq(cubic, 0.0, 10.0, arguments=(a,)), BadArgument, "unexpected keyword argument 'arguments'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    f, kind, what = REFUSED[name]
    with pytest.raises(kind) as caught:  # noqa: PT011
        symgrad.grad(f)(A)
    assert what in str(caught.value)
    assert Path(__file__).name in str(caught.value)


def test_what_no_derivative_passes_through_is_not_looked_into() -> None:
    assert symgrad.grad(lambda a: a * optimize.brentq(logged, 0.0, 10.0, args=(8.0,)))(A) == pytest.approx(2.0)


def test_the_way_out_of_full_output() -> None:
    assert symgrad.grad(by_root_scalar)(A) == pytest.approx(cube_root(A, 1))


def test_the_ways_out_of_breaks_that_move() -> None:
    """The integral of |x - a| from 0 to 3 is (a**2 + (3 - a)**2) / 2, that of a step down at a is a."""
    a = 1.2
    kink = symgrad.grad(lambda a: integrate.quad(lambda x: abs(x - a), 0.0, 3.0, points=symgrad.stop_gradient([a, 1.0]))[0])
    assert kink(a) == pytest.approx(2 * a - 3)
    step = symgrad.grad(lambda a: integrate.quad(lambda x: 1.0, 0.0, a)[0] + integrate.quad(lambda x: 0.0, a, 3.0)[0])
    assert step(a) == pytest.approx(1.0)


def test_the_way_out_of_random_numbers() -> None:
    def area(a, rng):
        height = rng.normal()
        return integrate.quad(lambda x: a * x * height, 0.0, 1.0)[0]

    drawn = np.random.default_rng(1).normal()
    assert symgrad.grad(area)(A, np.random.default_rng(1)) == pytest.approx(drawn / 2)


def test_prints_of_an_equation_are_those_of_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    def f(a):
        def equation(x):
            print("at", x)
            return x**3 - a

        return optimize.brentq(equation, 0.0, 10.0)

    f(A)
    plain = capsys.readouterr().out
    derivative = symgrad.grad(f)
    derivative(A)
    capsys.readouterr()
    derivative(A)
    assert capsys.readouterr().out == plain
    symgrad.hessian(f, verify=False)(A)
    assert capsys.readouterr().out == plain


def test_a_hessian_times_a_vector_and_an_empty_list_of_constraints() -> None:
    def f(a):
        return optimize.minimize(quartic, [1.0], (a,), "trust-ncg", jac=lambda x, a: x**3 - a, constraints=[],
                                 hessp=lambda x, p, a: 3 * x**2 * p, options={"gtol": 1e-7}).x[0]  # fmt: skip

    assert symgrad.grad(f)(A) == pytest.approx(cube_root(A, 1), rel=1e-6)


def test_an_equation_solved_for_no_time() -> None:
    assert symgrad.grad(lambda a: integrate.odeint(lambda y, t: -a * y, a, [1.0])[0, 0])(A) == pytest.approx(1.0)


def test_the_way_out_of_events() -> None:
    """The time at which something has decayed to one half is log(2) / a."""

    def half(a):
        def height(t):
            return integrate.solve_ivp(lambda s, y: -a * y, (0.0, t), [1.0], rtol=1e-11, atol=1e-12).y[0, -1] - 0.5

        return optimize.brentq(height, 0.1, 2.0)

    assert symgrad.grad(half)(A) == pytest.approx(-math.log(2.0) / A**2, rel=1e-8)


def test_a_singular_equation_raises() -> None:
    with pytest.raises((ZeroDivisionError, np.linalg.LinAlgError)):
        symgrad.grad(lambda a: optimize.root(lambda x: (x - a) ** 2 * 0.0, [1.0]).x[0])(1.0)


def test_check_grads_agrees() -> None:
    symgrad.check_grads(everything, (2.0, 0.5), order=2)


def test_refusals_are_errors_of_symgrad() -> None:
    assert all(issubclass(kind, SymgradError) for _, kind, _ in REFUSED.values())
    assert {"solver", "solved", "implicit", "integral", "trajectory"} <= set(ROWS)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: implicit.root(3, 1.0), "f is of the class int"),
        (lambda: implicit.fixed_point(None, 1.0), "g is of the class NoneType"),
        (lambda: implicit.minimize("f", [1.0]), "f is of the class str"),
        (lambda: implicit.quad(2.0, 0.0, 1.0), "f is of the class float"),
        (lambda: implicit.solve_ivp([], (0.0, 1.0), [1.0]), "fun is of the class list"),
        (lambda: implicit.odeint(2, [1.0], [0.0, 1.0]), "fun is of the class int"),
        (lambda: implicit.root(lambda x: x, np.ones((2, 2))), "x0 has 2 axes"),
        (lambda: symgrad.grad(lambda a: np.sum(implicit.root(lambda x: x - a, np.ones((2, 2)))))(1.0), "x0 has 2 axes"),
    ],
)
def test_what_is_no_function_or_no_start_is_refused(call, said):
    with pytest.raises(BadArgument, match=said):
        call()
    assert implicit.root(lambda x: x - 2.0, np.ones((2, 2)).ravel()) == pytest.approx(np.full(4, 2.0))
