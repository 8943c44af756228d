"""The examples run and give the published or exact results."""

from __future__ import annotations

import importlib.util
import logging
import math
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from differences import derivative, direction_for, inner

import symgrad

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))


def needs_libraries(name: str) -> None:
    """Skip the test where an example imports a library that is not installed."""
    for library in ("scipy", "distributed"):
        if f"import {library}" in (EXAMPLES / f"{name}.py").read_text():
            pytest.importorskip(library)


@cache
def example(name: str) -> ModuleType:
    needs_libraries(name)
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


#: examples that take long
SLOW = {"saddle", "shards_on_a_cluster"}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in NAMES])
def test_example_runs_as_a_program(name: str) -> None:
    needs_libraries(name)
    # so that it runs from a checkout that is not installed, too
    path = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": path})

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
    assert ran.stderr == ""


@pytest.mark.parametrize("name", NAMES)
def test_example_is_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 80


@pytest.mark.parametrize("name", NAMES)
def test_gradients_at_the_example_arguments_agree_with_differences(name: str) -> None:
    module = example(name)
    for function_name, arguments in getattr(module, "example_arguments", {}).items():
        function = getattr(module, function_name)
        direction = direction_for(arguments[0], np.random.default_rng(0))
        value, gradient = symgrad.value_and_grad(function)(*arguments)
        expected = derivative(lambda t, f=function, a=arguments: f(t, *a[1:]), arguments[0], direction, 1e-5)

        assert value == pytest.approx(function(*arguments), rel=1e-12)
        assert inner(gradient, direction) == pytest.approx(expected, rel=1e-6)


def test_logistic_regression_finds_the_published_estimate() -> None:
    module = example("logistic_regression")
    temperature, distress = module.load()
    weights = module.fit(temperature, distress)

    assert weights[0] - 70.0 * weights[1] == pytest.approx(15.0429, abs=5e-5)
    assert weights[1] == pytest.approx(-0.2322, abs=5e-5)
    assert 2.0 * module.loss(weights, temperature, distress) == pytest.approx(20.315, abs=5e-4)
    np.testing.assert_allclose(weights, reweighted_least_squares(temperature - 70.0, distress), rtol=1e-10)


def reweighted_least_squares(inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """The same optimum by formulas worked out by hand."""
    design = np.column_stack([np.ones_like(inputs), inputs])
    weights = np.zeros(2)
    for _ in range(25):
        chance = 1.0 / (1.0 + np.exp(-design @ weights))
        weights += np.linalg.solve((design.T * (chance * (1.0 - chance))) @ design, design.T @ (outputs - chance))
    return weights


def test_logistic_regression_agrees_with_an_independent_optimiser() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    module = example("logistic_regression")
    solution = optimize.minimize(
        module.loss, np.zeros(2), args=module.load(), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )

    np.testing.assert_allclose(module.fit(*module.load()), solution.x, atol=1e-6)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_finds_the_optimum_of_one_process() -> None:
    module = example("shards_on_a_cluster")
    expected = module.alone()
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(module)  # workers cannot import it under the name that it has here
    try:
        with module.distributed.Client(n_workers=2, threads_per_worker=1, **quiet) as client:
            actual, killed = module.together(client)
    finally:
        cloudpickle.unregister_pickle_by_value(module)
    assert killed == 1
    for name, number in expected.items():
        np.testing.assert_allclose(actual[name], number, atol=1e-6)


def test_kalman_filter_finds_the_published_variances() -> None:
    module = example("kalman_filter")
    flow = module.load()
    parameters = module.fit(flow)

    np.testing.assert_allclose(np.exp(parameters), [15099.0, 1469.1], rtol=2e-4)
    assert module.log_likelihood(parameters, flow) == pytest.approx(-632.545, abs=1e-3)


def test_heat_inversion_recovers_the_initial_temperature() -> None:
    module = example("heat_inversion")
    start, conductivity = module.truth()
    measured = module.simulate(start, conductivity)
    solution = module.invert(conductivity, measured)

    assert module.misfit(solution, conductivity, measured) < 1e-4 * module.misfit(0.0 * start, conductivity, measured)
    assert np.sqrt(np.mean((solution - start) ** 2)) < 0.1


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_hand_tracking_has_the_jacobians_of_differences(jit: bool) -> None:
    module = example("hand_tracking")
    hand, triangles, pose = module.scene(count=20)
    points, rng = module.skin(pose + 0.1, *hand), np.random.default_rng(2)
    at, steps = rng.uniform(0.1, 0.4, (20, 2)), 1e-6 * np.eye(26)

    columns = [
        module.simple(pose + s, hand, triangles[:, 0], points) - module.simple(pose - s, hand, triangles[:, 0], points) for s in steps
    ]
    jacobian = symgrad.jacfwd(module.simple, jit=jit)(pose, hand, triangles[:, 0], points)
    np.testing.assert_allclose(jacobian, np.transpose(columns) / 2e-6, rtol=1e-6, atol=1e-8)

    derivative = symgrad.jacobian(module.complicated, wrt=("pose", "at"), sparsity="auto", jit=jit)
    of_pose, of_places = derivative(pose, at, hand, triangles, points)
    dense = symgrad.jacrev(module.complicated, wrt=("pose", "at"))(pose, at, hand, triangles, points)
    np.testing.assert_allclose(of_pose.toarray(), dense[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(of_places.toarray(), dense[1].reshape(60, 40), rtol=1e-10, atol=1e-12)
    assert of_places.nnz <= 120
    assert derivative.plan(pose, at, hand, triangles, points).sweeps <= 28


def test_bundle_adjustment_finds_cameras_that_see_what_was_seen() -> None:
    module = example("bundle_adjustment")
    cameras, points, *seen = module.scene()
    weights = np.full(len(seen[0]), 0.9)
    moved = points + np.random.default_rng(2).normal(0.0, 0.02, points.shape)
    *solution, squares = module.adjusted(cameras, moved, weights, tuple(seen))
    assert squares < 1e-12
    np.testing.assert_allclose(module.projected(solution[0][seen[0]], solution[1][seen[1]]), seen[2], atol=1e-5)
    np.testing.assert_allclose(np.abs(solution[2]), 1.0, rtol=1e-6)

    sparse = symgrad.jacobian(module.residuals, wrt=(0, 1, 2), sparsity="auto")(cameras, moved, weights, *seen)
    dense = symgrad.jacobian(module.residuals, wrt=(0, 1, 2))(cameras, moved, weights, *seen)
    for ours, theirs in zip((m for row in sparse for m in row), (m for row in dense for m in row), strict=True):
        np.testing.assert_allclose(ours.toarray(), theirs.reshape(ours.shape), rtol=1e-9, atol=1e-9)


def test_rates_of_the_differential_equation_are_recovered() -> None:
    module = example("ode_fit")

    np.testing.assert_allclose(module.fit(*module.example_arguments["loss"]), module.TRUE_RATES, rtol=1e-5)


def test_greeks_agree_with_their_formulas() -> None:
    module = example("option_price")
    spot, strike, rate, volatility, years = arguments = module.example_arguments["price"]
    actual = module.greeks(*arguments)
    width = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / width
    d2 = d1 - width
    density = math.exp(-0.5 * d1 * d1) / math.sqrt(2.0 * math.pi)
    owed = strike * math.exp(-rate * years)
    expected = {
        "delta": module.normal(d1),
        "vega": spot * density * math.sqrt(years),
        "theta": -spot * density * volatility / (2.0 * math.sqrt(years)) - rate * owed * module.normal(d2),
        "rho": years * owed * module.normal(d2),
        "gamma": density / (spot * width),
        "vanna": -density * d2 / volatility,
        "charm": -density * (2.0 * rate * years - d2 * width) / (2.0 * years * width),
        "volga": spot * density * math.sqrt(years) * d1 * d2 / volatility,
        "veta": spot * density * math.sqrt(years) * (rate * d1 / width - (1.0 + d1 * d2) / (2.0 * years)),
        "speed": -density / (spot * width) / spot * (d1 / width + 1.0),
    }

    assert set(actual) == set(expected)
    for name, value in expected.items():
        assert actual[name] == pytest.approx(value, rel=1e-10), name


def test_the_valley_of_rosenbrock_has_its_minimum_at_ones() -> None:
    module = example("rosenbrock")

    np.testing.assert_allclose(module.newton(*module.example_arguments["loss"]), np.ones(3), rtol=1e-9)


#: by which modes the outer and the inner derivatives are taken; the programs run all four
MODES = pytest.mark.parametrize(("outer", "inner"), [
    ("forward", "reverse"), *(pytest.param(*pair, marks=pytest.mark.slow) for pair in [("forward",) * 2, ("reverse", "forward"), ("reverse",) * 2])
])  # fmt: skip


@MODES
def test_the_particle_meets_the_origin(outer: str, inner: str) -> None:
    module = example("particle")
    w = module.steered(0.0, outer, inner)
    assert w == pytest.approx(0.20719187464861196, rel=1e-10)  # as Pearlmutter and Siskind have it
    assert math.sqrt(module.miss(w, inner)) < 1e-4


@MODES
def test_the_saddle_is_at_the_origin(outer: str, inner: str) -> None:
    solution = example("saddle").saddle(np.array([1.0, 1.0]), outer, inner)
    np.testing.assert_allclose(solution, np.full(4, 8.246324826140356e-06), rtol=1e-8)  # where their descent stops


def test_digits_are_read() -> None:
    assert example("digits").train(epochs=4) >= 0.97


def test_authors_are_found() -> None:
    assert example("authors").train(epochs=5) >= 0.8
