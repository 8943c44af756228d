"""Optimisers: programs and tensors take the same steps, those of the papers; clipping, decay, schedules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad import optimizer, static
from symgrad.eager import Tensor
from symgrad.optimizer import lr
from symgrad.static import Executor, Program, Scope, data, program_guard, scope_guard
from symgrad.static.initializers import Assign
from symgrad.vocabulary import network, tensors

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(20, 3))
Y = X @ np.array([[1.0], [2.0], [-1.0]])
START = np.array([[0.1], [0.2], [0.3]])
Make = Callable[..., Any]

MADE: dict[str, Make] = {
    "sgd": lambda **k: optimizer.SGD(0.1, **k),
    "momentum": lambda **k: optimizer.Momentum(0.05, 0.9, **k),
    "nesterov": lambda **k: optimizer.Momentum(0.05, 0.9, use_nesterov=True, **k),
    "adam": lambda **k: optimizer.Adam(0.1, **k),
    "adamw": lambda **k: optimizer.AdamW(0.1, weight_decay=0.1, **k),
    "rmsprop": lambda **k: optimizer.RMSProp(0.01, momentum=0.5, **k),
    "centered": lambda **k: optimizer.RMSProp(0.01, centered=True, **k),
    "adagrad": lambda **k: optimizer.Adagrad(0.3, **k),
    "l2": lambda **k: optimizer.SGD(0.1, weight_decay=0.05, **k),
    "l1": lambda **k: optimizer.SGD(0.1, weight_decay=optimizer.L1Decay(0.05), **k),
    "clip value": lambda **k: optimizer.SGD(0.1, grad_clip=optimizer.ClipGradByValue(0.5), **k),
    "clip norm": lambda **k: optimizer.SGD(0.1, grad_clip=optimizer.ClipGradByNorm(0.5), **k),
    "clip all": lambda **k: optimizer.SGD(0.1, grad_clip=optimizer.ClipGradByGlobalNorm(0.5), **k),
    "schedule": lambda **k: optimizer.SGD(lr.StepDecay(0.1, 2, 0.5), **k),
}


def by_program(make: Make, steps: int) -> tuple[Any, float]:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x, y = data("x", [-1, 3], "float64"), data("y", [-1, 1], "float64")
        w = static.create_parameter([3, 1], "float64", "w", default_initializer=Assign(START))
        loss = network.mse_loss(tensors.matmul(x, w), y)  # type: ignore[attr-defined]
        rule = make()
        rule.minimize(loss)
    with scope_guard(Scope()):
        executor = Executor()
        executor.run(startup)
        for _ in range(steps):
            (value,) = executor.run(main, {"x": X, "y": Y}, [loss])
            if isinstance(rule.learning_rate, lr.LRScheduler):
                rule.learning_rate.step()
        return np.asarray(static.global_scope().find_var("w")), float(value)


def by_tensors(make: Make, steps: int) -> Any:
    w = Tensor(START.copy(), stop_gradient=False)
    rule = make(parameters=[w])
    for _ in range(steps):
        network.mse_loss(tensors.matmul(X, w), Tensor(Y)).backward()  # type: ignore[attr-defined]
        rule.step()
        rule.clear_grad()
        if isinstance(rule.learning_rate, lr.LRScheduler):
            rule.learning_rate.step()
    return w.numpy()


def by_hand(name: str, steps: int) -> Any:
    """The same steps, written down once more from the papers."""
    w, state = START.copy(), {k: 0.0 for k in ("v", "m", "s", "g")}
    for t in range(1, steps + 1):
        g = 2 * X.T @ (X @ w - Y) / len(X)
        match name:
            case "sgd":
                w = w - 0.1 * g
            case "momentum" | "nesterov":
                state["v"] = 0.9 * state["v"] + g
                w = w - 0.05 * (g + 0.9 * state["v"] if name == "nesterov" else state["v"])
            case "adam" | "adamw":
                if name == "adamw":
                    w = w - 0.1 * 0.1 * w
                state["m"] = 0.9 * state["m"] + 0.1 * g
                state["s"] = 0.999 * state["s"] + 0.001 * g * g
                w = w - 0.1 * (state["m"] / (1 - 0.9**t)) / (np.sqrt(state["s"] / (1 - 0.999**t)) + 1e-8)
            case "rmsprop" | "centered":
                state["s"] = 0.95 * state["s"] + 0.05 * g * g
                state["g"] = 0.95 * state["g"] + 0.05 * g
                below = state["s"] - state["g"] ** 2 if name == "centered" else state["s"]
                state["v"] = (0.0 if name == "centered" else 0.5) * state["v"] + 0.01 * g / np.sqrt(below + 1e-6)
                w = w - state["v"]
            case "adagrad":
                state["s"] = state["s"] + g * g
                w = w - 0.3 * g / (np.sqrt(state["s"]) + 1e-6)
            case "l2":
                w = w - 0.1 * (g + 0.05 * w)
            case "l1":
                w = w - 0.1 * (g + 0.05 * np.sign(w))
            case "clip value":
                w = w - 0.1 * np.clip(g, -0.5, 0.5)
            case "clip norm" | "clip all":
                w = w - 0.1 * g * min(1.0, 0.5 / np.linalg.norm(g))
            case "schedule":
                w = w - 0.1 * 0.5 ** ((t - 1) // 2) * g
    return w


@pytest.mark.parametrize("name", MADE)
def test_steps(name: str) -> None:
    expected = by_hand(name, 7)
    assert by_program(MADE[name], 7)[0] == pytest.approx(expected, rel=1e-10)
    assert by_tensors(MADE[name], 7) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["sgd", "adam", "adagrad"])
def test_a_line_is_found(name: str) -> None:
    assert by_program(MADE[name], 300)[1] < 1e-2


def test_schedules() -> None:
    def rates(schedule: Any, number: int) -> list[float]:
        actual = []
        for _ in range(number):
            actual.append(schedule.get_lr())
            schedule.step()
        return actual

    assert rates(lr.ExponentialDecay(1.0, 0.5), 3) == [1.0, 0.5, 0.25]
    assert rates(lr.StepDecay(1.0, 2, 0.1), 3) == pytest.approx([1.0, 1.0, 0.1])
    assert rates(lr.MultiStepDecay(1.0, [1, 2], 0.1), 3) == pytest.approx([1.0, 0.1, 0.01])
    assert rates(lr.PiecewiseDecay([1, 3], [3.0, 2.0, 1.0]), 4) == [3.0, 2.0, 2.0, 1.0]
    assert rates(lr.PolynomialDecay(1.0, 2, 0.0), 4) == [1.0, 0.5, 0.0, 0.0]
    assert rates(lr.CosineAnnealingDecay(1.0, 2), 3) == pytest.approx([1.0, 0.5, 0.0])
    assert rates(lr.CosineAnnealingWarmRestarts(1.0, 2, 2), 7) == pytest.approx(
        [1.0, 0.5, 1.0, 0.5 + math.sqrt(0.125), 0.5, 0.5 - math.sqrt(0.125), 1.0]
    )
    assert rates(lr.LinearLR(1.0, 2, 0.5), 4) == [0.5, 0.75, 1.0, 1.0]
    assert rates(lr.OneCycleLR(1.0, 5, 2.0, 0.0, 0.6, "linear"), 5) == pytest.approx([0.5, 0.75, 1.0, 0.5, 0.0])
    assert rates(lr.OneCycleLR(1.0, 5, 2.0, 0.0, 0.6), 5) == pytest.approx([0.5, 0.75, 1.0, 0.5, 0.0])
    assert rates(lr.OneCycleLR(1.0, 8, 2.0, 0.0, 0.25, "linear", True), 8) == pytest.approx([0.5, 1.0, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])
    assert rates(lr.CyclicLR(1.0, 2.0, 2), 6) == pytest.approx([1.0, 1.5, 2.0, 1.5, 1.0, 1.5])
    assert rates(lr.CyclicLR(1.0, 2.0, 1, 2, "triangular2"), 6) == pytest.approx([1.0, 2.0, 1.5, 1.0, 1.5, 1.25])
    assert rates(lr.CyclicLR(1.0, 2.0, 1, 1, "exp_range", 0.5), 4) == pytest.approx([1.0, 1.5, 1.0, 1.125])
    with pytest.raises(ValueError, match="step 6"):
        rates(lr.OneCycleLR(1.0, 5), 8)
    assert rates(lr.NaturalExpDecay(1.0, 1.0), 2) == pytest.approx([1.0, math.exp(-1.0)])
    assert rates(lr.InverseTimeDecay(1.0, 1.0), 3) == pytest.approx([1.0, 0.5, 1 / 3])
    assert rates(lr.LambdaDecay(2.0, lambda epoch: epoch + 1), 2) == [2.0, 4.0]
    assert rates(lr.LinearWarmup(1.0, 2, 0.0, 1.0), 4) == [0.0, 0.5, 1.0, 1.0]
    with pytest.raises(ValueError, match="more than"):
        lr.PiecewiseDecay([1], [1.0])


def test_the_rate_can_be_set() -> None:
    rule = optimizer.SGD(0.5)
    rule.set_lr(0.25)
    assert rule.get_lr() == 0.25
    with pytest.raises(RuntimeError, match="schedule"):
        optimizer.SGD(lr.StepDecay(0.1, 2)).set_lr(1.0)
    with pytest.raises(ValueError, match="parameters"):
        optimizer.SGD(0.1).step()


def test_a_schedule_of_the_users() -> None:
    class Halved(lr.LRScheduler):
        def get_lr(self) -> float:
            return self.base_lr * 0.5**self.last_epoch

    schedule = Halved(1.0)
    schedule.step()
    assert schedule() == schedule.get_lr() == 0.5


def test_a_gradient_of_another_shape_is_refused() -> None:
    w = Tensor(np.ones(2, "float32"), stop_gradient=False, name="w")
    w.grad = Tensor(np.ones((3, 2), "float32"))
    with pytest.raises(ValueError, match=r"the gradient of w has shape \[3, 2\]"):
        optimizer.SGD(0.1, parameters=[w]).step()
    assert w.tolist() == [1.0, 1.0]


def test_a_step_leaves_what_was_read_before_as_it_was() -> None:
    w = Tensor(np.ones(2, "float32"), stop_gradient=False)
    before, shared, kept = w.clone(), w.detach(), w * w
    kept.sum().backward()
    optimizer.Momentum(0.25, parameters=[w]).step()
    assert before.tolist() == [1.0, 1.0]
    assert shared.tolist() == w.tolist() == [0.5, 0.5]
    assert w.tolist() == [0.5, 0.5]
    assert w.dtype == np.float32
