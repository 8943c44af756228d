"""Random records on both gradient APIs, compared with differences: detached values, inner inputs, seeds, second order."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from symgrad import static
from symgrad.eager import Tensor, backward, grad
from symgrad.static import Executor, Program, append_backward, data, gradients, program_guard
from symgrad.static.initializers import Assign
from symgrad.vocabulary import network, tensors

Array = np.ndarray[Any, Any]
t: Any = tensors
f: Any = network
LEAVES = {"a": (2, 3), "b": (2, 3), "c": (3,), "w": (3, 2)}
#: smooth functions of one tensor, and some of views and parts
ONE: dict[str, Callable[[Any], Any]] = {
    "tanh": t.tanh, "exp": lambda x: t.exp(x * 0.3), "sigmoid": f.sigmoid, "square": t.square, "scale": lambda x: t.scale(x, 2.0, -0.5),
    "softmax": f.softmax, "sum": lambda x: t.sum(x, 0), "mean": lambda x: t.mean(x, -1, True), "turned": lambda x: x.T,
    "flat": lambda x: t.reshape(x, [-1]), "rest": lambda x: x[1:], "flip": lambda x: t.flip(x, [0]), "assign": t.assign,
    "expand": lambda x: t.expand(x, [2, *x.shape]), "stack": lambda x: t.stack([x, x * 2.0]), "cube": lambda x: t.pow(x, 3),
    "gather": lambda x: t.gather(x, np.array([1, 0, 1])), "cumsum": lambda x: t.cumsum(x, 0), "detach": lambda x: x.detach(),
    "logsumexp": lambda x: t.logsumexp(x, -1), "gelu": f.gelu, "softplus": f.softplus, "part": lambda x: t.split(x, [1, -1], 0)[1],
}  # fmt: skip
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": t.add, "subtract": t.subtract, "multiply": t.multiply, "divide": lambda x, y: t.divide(x, y * y + 1.0), "matmul": t.matmul,
    "concat": lambda x, y: t.concat([x, y], 0), "error": f.square_error_cost,
}  # fmt: skip


@dataclass
class Record:
    """Steps (function, what it reads, what it makes), and what is asked for."""

    steps: list[tuple[Callable[..., Any], list[str], str]]
    targets: list[str]
    seeded: list[bool]
    inputs: list[str]
    cuts: set[str]
    values: dict[str, Array]
    seeds: dict[str, Array]

    def evaluated(self, changed: dict[str, Array]) -> tuple[dict[str, Array], float]:
        """Every value, and the sum of the targets weighed by their seeds, by NumPy; ``changed`` says what some values are.

        What is cut has the value that it always has, where it is read.
        """
        env: dict[str, Any] = {}
        for name in LEAVES:
            env[name] = Tensor(changed.get(name, self.values[name]))
        for function, names, result in self.steps:
            read = [Tensor(self.values[n]) if n in self.cuts and self.values else env[n] for n in names]
            env[result] = Tensor(changed[result]) if result in changed else function(*read)
            if function is ONE["detach"] and result in self.values:
                env[result] = Tensor(self.values[result])
        values = {name: tensor.numpy() for name, tensor in env.items()}
        total = sum(float(np.sum(values[n] * (self.seeds[n] if s else 1.0))) for n, s in zip(self.targets, self.seeded, strict=True)
                    if n not in self.cuts)  # fmt: skip
        return values, total


def record(number: int) -> Record:
    """A random record."""
    r, numbers = random.Random(number), np.random.default_rng(number)
    env: dict[str, Any] = {name: Tensor(np.round(numbers.standard_normal(shape), 2)) for name, shape in LEAVES.items()}
    steps = []
    while len(steps) < r.randint(3, 9):
        table: dict[str, Any] = r.choice([ONE, TWO])
        function = table[r.choice(list(table))]
        names = [r.choice(list(env)) for _ in range(1 if table is ONE else 2)]
        try:
            result = function(*(env[n] for n in names))
        except (ValueError, IndexError, TypeError):
            continue
        if 0 < result.size < 40:
            name = f"t{len(steps)}"
            env[name] = result
            steps.append((function, names, name))
    made_names = [result for _, _, result in steps]
    targets = list(dict.fromkeys([made_names[-1], *r.sample(made_names, r.choice([0, 0, 1, 2]))]))
    inputs = [*r.sample(list(LEAVES), r.randint(1, 4)), *r.sample(made_names, r.choice([0, 0, 1]))]
    cuts = set(r.sample(list(env), r.choice([0, 0, 1, 2])))
    values = {name: tensor.numpy() for name, tensor in env.items()}
    seeds = {name: np.round(numbers.standard_normal(values[name].shape), 2) for name in targets}
    return Record(steps, targets, [r.random() < 0.4 for _ in targets], inputs, cuts, values, seeds)


def numerical(asked: Record, name: str, stopped: set[str] | frozenset[str] = frozenset()) -> Array:
    """The gradient with respect to a value, by central differences; zeros for what is cut, or made of what was ``stopped`` alone."""
    value, slopes = asked.values[name], np.zeros_like(asked.values[name])
    stopped = set(stopped)
    for function, names, result in asked.steps:
        if function is ONE["detach"] or stopped.issuperset(names):
            stopped.add(result)
    if name in asked.cuts | stopped:
        return slopes
    for index in np.ndindex(value.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = value.copy()
            moved[index] += step
            ends.append(asked.evaluated({name: moved})[1])
        slopes[index] = (ends[0] - ends[1]) / 2e-5
    return slopes


def agrees(actual: Any, expected: Array) -> None:
    """None stands for zeros."""
    if actual is None:
        assert not np.any(np.abs(expected) > 1e-7)
    else:
        assert np.asarray(actual) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def in_program(asked: Record) -> tuple[Program, Program, dict[str, Any], dict[str, Array]]:
    """The record as a program: every other leaf a parameter."""
    main, startup = Program(), Program()
    env: dict[str, Any] = {}
    feed: dict[str, Array] = {}
    with program_guard(main, startup):
        for k, name in enumerate(LEAVES):
            value = asked.values[name]
            if k % 2:
                env[name] = static.create_parameter(value.shape, value.dtype, name, default_initializer=Assign(value))
            else:
                env[name] = data(name, value.shape, "float64")
                env[name].stop_gradient, feed[name] = False, value
        for function, names, result in asked.steps:
            env[result] = function(*(env[n] for n in names))
        for name, seeded in zip(asked.targets, asked.seeded, strict=True):
            if seeded:
                env[f"seed {name}"], feed[f"seed {name}"] = data(f"seed {name}", asked.values[name].shape, "float64"), asked.seeds[name]
    return main, startup, env, feed


@pytest.mark.parametrize("number", range(30))
def test_programs(number: int) -> None:
    asked = record(number)
    main, startup, env, feed = in_program(asked)
    with program_guard(main, startup):
        seeds = [env[f"seed {n}"] if s else None for n, s in zip(asked.targets, asked.seeded, strict=True)]
        cuts = {env[n].name for n in asked.cuts}
        actual = gradients([env[n] for n in asked.targets], [env[n] for n in asked.inputs], seeds, cuts)
        # once more in the same program: what is asked for is a sum now, with all seeds ones
        total = t.sum(env[asked.targets[0]])
        pairs = append_backward(total, [env[n] for n in asked.inputs], cuts)
    scope = static.Scope()
    Executor().run(startup, scope=scope)
    fetch = [*(g for g in actual if g is not None), *(g for _, g in pairs)]
    values = iter(Executor().run(main, feed, fetch, scope))
    for name, variable in zip(asked.inputs, actual, strict=True):
        agrees(None if variable is None else next(values), numerical(asked, name))
    alone = Record(asked.steps, asked.targets[:1], [False], asked.inputs, asked.cuts, asked.values, {})
    if asked.targets[0] not in asked.cuts:
        for source, _ in pairs:
            name = next(n for n in asked.inputs if env[n] is source)
            agrees(next(values), numerical(alone, name))


@pytest.mark.parametrize("number", range(30))
def test_second_gradients_in_programs(number: int) -> None:
    asked = record(number)
    main, startup, env, feed = in_program(asked)
    with program_guard(main, startup):
        seeds = [env[f"seed {n}"] if s else None for n, s in zip(asked.targets, asked.seeded, strict=True)]
        cuts = {env[n].name for n in asked.cuts}
        leaves = [n for n in LEAVES if n not in asked.cuts]
        first = gradients([env[n] for n in asked.targets], [env[n] for n in leaves], seeds, cuts)
        live = [t.sum(g * g) for g in first if g is not None]
        if not live:
            return
        second = gradients(live, [env[n] for n in leaves], None, cuts)
    scope = static.Scope()
    Executor().run(startup, scope=scope)
    norm = [s.name for s in live]
    values = iter(Executor().run(main, feed, [g for g in second if g is not None], scope))
    for name, variable in zip(leaves, second, strict=True):
        expected = np.zeros_like(asked.values[name])
        for index in np.ndindex(expected.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = asked.values[name].copy()
                moved[index] += step
                ends.append(squares(asked, main, scope, feed, norm, {name: moved}))
            expected[index] = (ends[0] - ends[1]) / 2e-5
        agrees(None if variable is None else next(values), expected)


def squares(asked: Record, main: Program, scope: static.Scope, feed: dict[str, Array], norm: list[str], moved: dict[str, Array]) -> float:
    """The squared first gradients in a program whose values are moved, what is cut being what it was."""
    if asked.cuts or any(function is ONE["detach"] for function, _, _ in asked.steps):
        pytest.skip("what is cut would move")
    return float(sum(np.sum(v) for v in Executor().run(main, {**feed, **moved}, norm, scope)))


@pytest.mark.parametrize("number", range(30))
def test_tensors(number: int) -> None:
    asked = record(number)
    asked.cuts = asked.cuts & set(LEAVES)
    env: dict[str, Any] = {name: Tensor(asked.values[name].copy(), name in asked.cuts) for name in LEAVES}
    for function, names, result in asked.steps:
        env[result] = function(*(env[n] for n in names))
    targets = [n for n in asked.targets if n not in asked.cuts]
    seeds = [Tensor(asked.seeds[n]) if s else None for n, s in zip(asked.targets, asked.seeded, strict=True)]
    actual = grad([env[n] for n in targets], [env[n] for n in asked.inputs], seeds, create_graph=True, allow_unused=True)
    for name, gradient in zip(asked.inputs, actual, strict=True):
        agrees(None if gradient is None else gradient.numpy(), numerical(asked, name, asked.cuts))
    for name in asked.inputs:
        env[name].retain_grads()
    backward([env[n] for n in targets], seeds)
    for name in asked.inputs:
        agrees(None if env[name].grad is None else env[name].grad.numpy(), numerical(asked, name, asked.cuts))
