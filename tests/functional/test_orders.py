"""Each tensor function: third derivatives; 0-d and empty arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad.eager import Tensor, grad

from .test_functions import NAMES, SAMPLES, STEP, active, direction, recorded

Sample = tuple[Callable[..., Any], list[Any], dict[str, Any]]


def contracted(gradients: list[Any], directions: list[Any]) -> Any:
    """The sum of gradients times directions, None if there is none."""
    parts = [(g * Tensor(d)).sum() for g, d in zip(gradients, directions, strict=True) if g is not None]
    return sum(parts[1:], parts[0]) if parts else None


@pytest.mark.slow
@pytest.mark.parametrize(("function", "inputs", "settings"), SAMPLES, ids=NAMES)
def test_third_derivative(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any]) -> None:
    generator = np.random.default_rng(3)
    directions = [direction(function, generator, v.shape) for v in inputs if active(v)]
    weights: list[Any] = []

    def second(t: float) -> tuple[list[Tensor], Any]:
        rest = iter(directions)
        sources, outs = recorded(function, [v + t * next(rest) if active(v) else v for v in inputs], settings)
        if not weights:
            weights.extend(generator.normal(size=o.shape) for o in outs)
        slope = contracted(grad(outs, sources, [Tensor(w) for w in weights], create_graph=True, allow_unused=True), directions)
        if slope is None:
            return sources, None
        return sources, contracted(grad(slope, sources, create_graph=True, allow_unused=True), directions)

    sources, curve = second(0.0)
    if curve is None:
        return
    third = contracted(grad(curve, sources, allow_unused=True), directions)
    up, down = second(STEP)[1].item(), second(-STEP)[1].item()
    number = 0.0 if third is None else third.item()
    assert number == pytest.approx((up - down) / (2 * STEP), rel=1e-4, abs=1e-4 * max(1.0, abs(up)))


def is_elementwise(sample: Sample) -> bool:
    """Do all inputs and the result have one shape, whatever it is?"""
    function, inputs, settings = sample
    shapes = {np.shape(v) for v in inputs if v is not None}
    result = function(*inputs, **settings)
    return len(shapes) == 1 and not isinstance(result, tuple) and np.shape(result) in shapes and function.__name__ not in SHAPED


#: keep the shape of their input, but not element by element
SHAPED = {
    "cumsum", "softmax", "log_softmax", "layer_norm", "tril", "triu", "flip", "roll", "transpose", "matmul", "concat", "stack", "dot",
    "dropout", "batch_norm", "take_along_axis", "sort", "cumprod", "logcumsumexp", "inv", "cholesky", "symmetric", "put", "matrix_power", "normalize",
    "local_response_norm", "channel_shuffle", "gumbel_softmax", "masked_select", "cross", "label_smooth",
}  # fmt: skip
ELEMENTWISE = [(name, sample) for name, sample in zip(NAMES, SAMPLES, strict=True) if is_elementwise(sample)]


@pytest.mark.parametrize(("function", "inputs", "settings"), [s for _, s in ELEMENTWISE], ids=[n for n, _ in ELEMENTWISE])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_without_axes(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any], dtype: str) -> None:
    wide, outs = recorded(function, [v.astype(dtype) if active(v) else v for v in inputs], settings)
    expected = grad(outs, wide, allow_unused=True)
    first = [np.array(v.reshape(-1)[0], dtype if active(v) else v.dtype) for v in inputs]
    sources, single = recorded(function, first, settings)
    assert [o.shape for o in single] == [[]]
    for actual, whole, source in zip(grad(single, sources, allow_unused=True), expected, sources, strict=True):
        assert (actual is None) == (whole is None)
        if actual is not None:
            assert (actual.shape, actual.dtype) == (source.shape, source.dtype)
            assert actual.item() == pytest.approx(whole.numpy().reshape(-1)[0], rel=1e-5)


@pytest.mark.parametrize(("function", "inputs", "settings"), [s for _, s in ELEMENTWISE], ids=[n for n, _ in ELEMENTWISE])
def test_arrays_without_elements(function: Callable[..., Any], inputs: list[Any], settings: dict[str, Any]) -> None:
    sources, outs = recorded(function, [np.empty((0, 3), v.dtype) for v in inputs], settings)
    assert [o.shape for o in outs] == [[0, 3]]
    for gradient in grad(outs, sources, allow_unused=True):
        assert gradient is None or gradient.shape == [0, 3]
