"""Optimisers of trees, compared with published formulas and with the optimisers of tensors."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad
from symgrad import eager, optim, optimizer
from symgrad.errors import BadArgument, IntegerArgument
from symgrad.functional import updates


class Pair(NamedTuple):
    w: np.ndarray
    b: float


def loss(p):
    return np.sum((p.w - 3.0) ** 2 * np.array([1.0, 4.0])) + (p.b + 1.0) ** 4


GRADIENT = symgrad.grad(loss)
START = Pair(np.array([0.5, -1.0]), 2.0)
RATE = 0.01


def after(chosen: Any, steps: int, start: Pair = START) -> Pair:
    """The parameters after some steps."""
    params, state = start, chosen.init(start)
    for _ in range(steps):
        params, state = chosen.update(GRADIENT(params), state, params)
    return params


def flat(pair: Any) -> np.ndarray:
    return symgrad.ravel(pair)[0]


def gradient_of(x: np.ndarray) -> np.ndarray:
    return np.array([2.0 * (x[0] - 3.0), 8.0 * (x[1] - 3.0), 4.0 * (x[2] + 1.0) ** 3])


def by_descent(steps: int) -> np.ndarray:
    x = flat(START)
    for _ in range(steps):
        x = x - RATE * gradient_of(x)
    return x


def by_momentum(steps: int, nesterov: bool) -> np.ndarray:
    x, v = flat(START), np.zeros(3)
    for _ in range(steps):
        g = gradient_of(x)
        v = 0.8 * v + g
        x = x - RATE * (g + 0.8 * v if nesterov else v)
    return x


def by_adam(steps: int, decay: float) -> np.ndarray:
    """Algorithm 1 of Kingma and Ba (2015), with the decay of algorithm 2 of Loshchilov and Hutter (2019)."""
    x, m, v = flat(START), np.zeros(3), np.zeros(3)
    for t in range(1, steps + 1):
        g = gradient_of(x)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        x = x - RATE * decay * x
        x = x - RATE * (m / (1.0 - 0.9**t)) / (np.sqrt(v / (1.0 - 0.999**t)) + 1e-8)
    return x


BY_FORMULA = [
    (optim.sgd(RATE), by_descent(7)),
    (optim.momentum(RATE, 0.8), by_momentum(7, False)),
    (optim.momentum(RATE, 0.8, nesterov=True), by_momentum(7, True)),
    (optim.adam(RATE), by_adam(7, 0.0)),
    (optim.adamw(RATE, weight_decay=0.1), by_adam(7, 0.1)),
]


@pytest.mark.parametrize(("chosen", "expected"), BY_FORMULA, ids=["sgd", "momentum", "nesterov", "adam", "adamw"])
def test_steps_are_those_of_the_papers(chosen: Any, expected: np.ndarray) -> None:
    params = after(chosen, 7)
    assert isinstance(params, Pair)
    assert isinstance(params.b, float)
    np.testing.assert_allclose(flat(params), expected, rtol=1e-12)


PEERS = [
    (optim.sgd(RATE, weight_decay=0.3), lambda p: optimizer.SGD(RATE, p, weight_decay=0.3)),
    (optim.momentum(RATE, 0.7, nesterov=True), lambda p: optimizer.Momentum(RATE, 0.7, p, use_nesterov=True)),
    (optim.adam(RATE, clip_norm=0.5), lambda p: optimizer.Adam(RATE, parameters=p, grad_clip=optimizer.ClipGradByGlobalNorm(0.5))),
    (optim.adamw(RATE), lambda p: optimizer.AdamW(RATE, parameters=p)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("chosen", "peer"), PEERS, ids=["sgd", "momentum", "adam", "adamw"])
def test_steps_are_those_of_tensors(chosen: Any, peer: Any, dtype: str) -> None:
    values = [np.array([0.5, -1.0], dtype), np.array([2.0], dtype)]
    tensors = [eager.to_tensor(value, stop_gradient=False) for value in values]
    theirs, ours, state = peer(tensors), values, chosen.init(values)
    for k in range(4):
        slopes = [np.array([1.5 - k, 0.25], dtype), np.array([-3.0], dtype)]
        total = sum((tensor * eager.to_tensor(slope)).sum() for tensor, slope in zip(tensors, slopes))
        total.backward()
        theirs.step()
        theirs.clear_grad()
        ours, state = chosen.update(slopes, state, ours)
    for tensor, value in zip(tensors, ours):
        assert value.dtype == dtype
        np.testing.assert_array_equal(tensor.numpy(), value)


def test_a_rate_may_be_a_schedule() -> None:
    rates: list[int] = []

    def rate(step: int) -> float:
        rates.append(step)
        return 0.1 / (1 + step)

    after(optim.sgd(rate), 3)
    assert rates == [0, 1, 2]


def test_nothing_is_changed_in_place_and_a_state_is_gone_on_from() -> None:
    chosen = optim.adam(0.1)
    params, state = START, chosen.init(START)
    for _ in range(3):
        params, state = chosen.update(GRADIENT(params), state, params)
    kept = flat(params).copy(), {name: flat(tree.w) for name, tree in state.memory.items() if "moment" in name}
    chosen.update(GRADIENT(params), state, params)
    np.testing.assert_array_equal(flat(params), kept[0])
    for name, value in kept[1].items():
        np.testing.assert_array_equal(state.memory[name].w, value)
    text = json.dumps(
        {"step": state.step, "memory": {name: [np.asarray(leaf).tolist() for leaf in tree] for name, tree in state.memory.items()}}
    )
    loaded = json.loads(text)
    again = optim.State(loaded["step"], {name: Pair(np.array(w), b) for name, (w, b) in loaded["memory"].items()})
    for held in (state, again):
        np.testing.assert_array_equal(
            flat(chosen.update(GRADIENT(params), held, params)[0]), flat(chosen.update(GRADIENT(params), state, params)[0])
        )


@pytest.mark.parametrize("chosen", [optim.sgd(0.1), optim.adam(0.1), optim.lbfgs()], ids=["sgd", "adam", "lbfgs"])
@pytest.mark.parametrize("params", [{}, np.zeros(0), {"name": "x", "w": np.ones((1, 2)), "b": None}], ids=["nothing", "empty", "texts"])
def test_trees_that_hold_little(chosen: Any, params: Any) -> None:
    new, state = chosen.update(params, chosen.init(params), params)
    assert type(new) is type(params)
    assert state.step == 1
    if params is not None and isinstance(params, dict) and params:
        assert new["name"] == "x"
        assert new["b"] is None


# ------------------------------------------------------------------ L-BFGS


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_the_direction_is_that_of_bfgs() -> None:
    """With all steps remembered, the inverse Hessian is that which BFGS updates (Nocedal and Wright 2006, equation 7.16)."""
    random = np.random.default_rng(0)
    hessian = np.diag([1.0, 3.0, 10.0, 2.0]) + 0.5
    steps = list(random.normal(size=(5, 4)))
    changes = [hessian @ step for step in steps]
    inverse = np.eye(4) * (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, y in zip(steps, changes):
        rho = 1.0 / (y @ s)
        part = np.eye(4) - rho * np.outer(s, y)
        inverse = part @ inverse @ part.T + rho * np.outer(s, s)
    gradient = random.normal(size=4)
    np.testing.assert_allclose(updates.lbfgs(gradient, steps, changes), -inverse @ gradient, rtol=1e-9)


def test_it_reaches_a_minimum() -> None:
    both, chosen, params = symgrad.grad(rosenbrock), optim.lbfgs(history=6), np.zeros(10)
    state, values = chosen.init(params), [rosenbrock(params)]
    for _ in range(90):
        params, state = chosen.update(both(params), state, params, rosenbrock)
        values.append(rosenbrock(params))
    assert len(state.steps) <= 6
    assert all(later <= before for before, later in zip(values, values[1:]))
    np.testing.assert_allclose(params, 1.0, atol=1e-6)


def test_a_step_without_the_function_has_the_length_of_the_rate() -> None:
    chosen = optim.lbfgs(0.5)
    params, state = chosen.update([0.25, 0.5], chosen.init([1.0, 2.0]), [1.0, 2.0])
    assert params == [1.0 - 0.5 * 0.25, 2.0 - 0.5 * 0.5]
    assert state.steps == ()


def test_parameters_stay_where_the_function_does_not_fall() -> None:
    chosen = optim.lbfgs()
    assert chosen.update([-1.0], chosen.init([0.0]), [0.0], lambda p: abs(p[0]))[0] == [0.0]
    assert chosen.update([1.0], chosen.init([0.0]), [0.0], lambda p: float("nan") if p[0] else 0.0)[0] == [0.0]


# ------------------------------------------------------------------ what is refused

REFUSED: list[tuple[Any, str, Any]] = [
    (lambda: optim.sgd(-1.0), "learning_rate is -1.0", lambda: optim.sgd(1.0)),
    (lambda: optim.adam("fast"), "learning_rate is 'fast'", lambda: optim.adam(lambda step: 0.1)),
    (lambda: optim.momentum(0.1, 1.5), "momentum is 1.5", lambda: optim.momentum(0.1, 0.5)),
    (lambda: optim.adam(0.1, beta2=1.0), "beta2 is 1.0", lambda: optim.adam(0.1, beta2=0.99)),
    (lambda: optim.adam(0.1, epsilon=0.0), "epsilon is 0.0", lambda: optim.adam(0.1, epsilon=1e-8)),
    (lambda: optim.sgd(0.1, weight_decay=-1.0), "weight_decay is -1.0", lambda: optim.sgd(0.1, weight_decay=0.0)),
    (lambda: optim.sgd(0.1, clip_norm=0.0), "clip_norm is 0.0", lambda: optim.sgd(0.1, clip_norm=None)),
    (lambda: optim.lbfgs(history=0), "history is 0", lambda: optim.lbfgs(history=1)),
    (lambda: optim.sgd(0.1).init([1]), "params[0] is the integer 1", lambda: optim.sgd(0.1).init([1.0])),
    (lambda: step_of({"w": 1.0}, {"v": 1.0}), "in its place", lambda: step_of({"w": 1.0}, {"w": 1.0})),
    (lambda: step_of([np.ones(2)], [np.ones(3)]), "in its place", lambda: step_of([np.ones(2)], [np.ones(2)])),
]


def step_of(params: Any, gradients: Any) -> Any:
    chosen = optim.sgd(0.1)
    return chosen.update(gradients, chosen.init(params), params)


@pytest.mark.parametrize(("call", "message", "way_out"), REFUSED, ids=[case[1] for case in REFUSED])
def test_what_is_refused(call: Any, message: str, way_out: Any) -> None:
    with pytest.raises((BadArgument, IntegerArgument)) as refused:
        call()
    assert message in str(refused.value)
    way_out()
