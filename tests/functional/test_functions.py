"""Each tensor function, recorded: first and second derivative against differences; float32 stays float32."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad import functional
from symgrad.eager import Tensor, grad
from symgrad.eager.tensor import apply

from .further_samples import FURTHER
from .samples import SAMPLES as FIRST

SAMPLES = [*FIRST, *FURTHER]
STEP = 1e-6
NAMES = [f"{function.__name__}-{k}" for k, (function, _, _) in enumerate(SAMPLES)]
#: not worth a sample: no derivative, or none that is not zero
WITHOUT = {
    "floor_divide", "equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal", "logical_and", "logical_or",
    "logical_not", "argmax", "argmin", "cast", "zeros_like", "ones_like", "full_like", "one_hot", "accuracy", "reduced", "bordered", "seen",
    "correlated", "keep_mask", "mean_of_kept", "isnan", "isinf", "isfinite", "logical_xor", "isclose", "all", "any", "count_nonzero",
    "argsort", "searchsorted", "nonzero", "along", "last_place", "places_along", "numbers", "uniform_noise", "gumbel_noise", "sequence_mask",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift", "bitwise_right_shift", "affine", "by_channel", "other_axes", "between", "mean_over", "centred", "spread", "turned",
}  # fmt: skip


#: read one triangle of a symmetric matrix; their derivatives are those along symmetric matrices
SYMMETRIC = {"symmetric", "cholesky", "eigh", "eigvalsh"}


def direction(function: Callable[..., Any], generator: Any, shape: Any) -> Any:
    """A direction in which an input may be moved."""
    actual = generator.normal(size=shape)
    return actual + actual.T if function.__name__ in SYMMETRIC else actual


def active(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def recorded(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any]) -> tuple[list[Tensor], list[Tensor]]:
    passed = [Tensor(v, stop_gradient=not active(v)) if isinstance(v, np.ndarray) else v for v in inputs]
    actual = apply(function, *passed, **settings)
    return [g for g in passed if isinstance(g, Tensor) and not g.stop_gradient], actual if isinstance(actual, list) else [actual]


def weighted(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any], weights: list[Any]) -> float:
    actual = function(*inputs, **settings)
    outs = actual if isinstance(actual, tuple) else (actual,)
    return float(sum(np.sum(np.asarray(o) * w) for o, w in zip(outs, weights, strict=True)))


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("function", "inputs", "settings"), SAMPLES, ids=NAMES)
def test_first_derivative(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any]) -> None:
    generator = np.random.default_rng(1)
    sources, outs = recorded(function, inputs, settings)
    weights = [generator.normal(size=o.shape) for o in outs]
    actual = grad(outs, sources, [Tensor(w) for w in weights], allow_unused=True)
    directions = [direction(function, generator, s.shape) for s in sources]

    def moved(t: float) -> float:
        rest = iter(directions)
        return weighted(function, [v + t * next(rest) if active(v) else v for v in inputs], settings, weights)

    expected = (moved(STEP) - moved(-STEP)) / (2 * STEP)
    results = sum(float(np.sum(g.numpy() * d)) for g, d in zip(actual, directions, strict=True) if g is not None)
    assert results == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("function", "inputs", "settings"), SAMPLES, ids=NAMES)
def test_second_derivative(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any]) -> None:
    generator = np.random.default_rng(2)
    weights: list[Any] = []
    directions = [direction(function, generator, v.shape) for v in inputs if active(v)]

    def first(t: float) -> tuple[list[Tensor], Tensor | None]:
        rest = iter(directions)
        sources, outs = recorded(function, [v + t * next(rest) if active(v) else v for v in inputs], settings)
        if not weights:
            weights.extend(generator.normal(size=o.shape) for o in outs)
        actual = grad(outs, sources, [Tensor(w) for w in weights], create_graph=True, allow_unused=True)
        parts = [(g * Tensor(d)).sum() for g, d in zip(actual, directions, strict=True) if g is not None]
        return sources, sum(parts[1:], parts[0]) if parts else None

    sources, slope = first(0.0)
    if slope is None:
        return
    actual = grad(slope, sources, allow_unused=True)
    results = sum(float(np.sum(g.numpy() * d)) for g, d in zip(actual, directions, strict=True) if g is not None)
    up, down = first(STEP)[1], first(-STEP)[1]
    assert up is not None
    assert down is not None
    expected = (up.item() - down.item()) / (2 * STEP)
    assert results == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("function", "inputs", "settings"), SAMPLES, ids=NAMES)
def test_float32_is_kept(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any]) -> None:
    sources, outs = recorded(function, [v.astype("float32") if active(v) else v for v in inputs], settings)
    assert {o.dtype for o in outs} <= {np.dtype("float32"), np.dtype("int64")}
    for actual in grad(outs, sources, allow_unused=True):
        assert actual is None or actual.dtype == np.dtype("float32")


def test_every_function_has_a_sample() -> None:
    sampled = {function.__name__ for function, _, _ in SAMPLES}
    for path in pkgutil.iter_modules(functional.__path__):
        if path.name == "updates":
            continue
        module = importlib.import_module(f"symgrad.functional.{path.name}")
        written = {n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", "") == module.__name__}
        assert written - sampled <= WITHOUT
