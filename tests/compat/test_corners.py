"""Corner cases of documented functions: empty means, pixels on a border, numbers drawn in low precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.nn.functional as F
from symgrad.runtime import random

LOGITS = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])


@pytest.mark.parametrize("weight", [None, np.array([0.2, 0.5, 2.0])])
@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
def test_the_mean_of_losses_that_are_all_ignored_is_zero(loss: Any, weight: Any) -> None:
    x = paddle.to_tensor(LOGITS, stop_gradient=False)
    w = None if weight is None else paddle.to_tensor(weight, stop_gradient=False)
    actual = loss(x, paddle.to_tensor([-100, -100]), w)
    actual.backward()
    assert actual.item() == 0.0
    assert np.array_equal(x.grad.numpy(), np.zeros_like(LOGITS))
    assert w is None or np.array_equal(w.grad.numpy(), np.zeros(3))


def test_the_mean_is_over_the_weights_of_what_is_not_ignored() -> None:
    logs = LOGITS - np.log(np.exp(LOGITS).sum(axis=1, keepdims=True))
    labels, weight = np.array([2, -100]), np.array([0.2, 0.5, 2.0])
    actual = F.cross_entropy(paddle.to_tensor(LOGITS), paddle.to_tensor(labels), paddle.to_tensor(weight))
    assert actual.item() == pytest.approx(-logs[0, 2])
    none = F.cross_entropy(paddle.to_tensor(LOGITS), paddle.to_tensor(labels), paddle.to_tensor(np.array([0.2, 0.5, 0.0])))
    assert none.item() == 0.0


def neighbours(old: int, new: int, dtype: str, axes: int) -> list[int]:
    shape = [1, 1, old] if axes == 1 else [1, 1, 1, old]
    x = paddle.to_tensor(np.arange(old).astype(dtype).reshape(shape))
    actual = F.interpolate(x, size=[new] if axes == 1 else [1, new])
    return [int(v) for v in actual.numpy().ravel()]


def test_the_nearest_pixel_is_that_of_the_exact_quotient_in_float64() -> None:
    for old in range(1, 40):
        for new in range(1, 70, 3):
            assert neighbours(old, new, "float64", 1) == [place * old // new for place in range(new)]


@pytest.mark.parametrize(("dtype", "axes"), [("float32", 1), ("float32", 2), ("float64", 2), ("float64", 1)])
def test_the_nearest_pixels_are_those_of_torch(dtype: str, axes: int) -> None:
    torch = pytest.importorskip("torch")
    for old, new in ((14, 46), (18, 66), (21, 69), (26, 22), (26, 46), (30, 44), (45, 33), (62, 58), (68, 56)):
        x = torch.arange(old, dtype=getattr(torch, dtype)).reshape([1, 1, old] if axes == 1 else [1, 1, 1, old])
        expected = torch.nn.functional.interpolate(x, size=[new] if axes == 1 else [1, new])
        assert neighbours(old, new, dtype, axes) == [int(v) for v in expected.ravel()]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gumbel_noise_is_finite_for_the_largest_and_the_smallest_number_there_may_be(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Ends:
        def uniform(self, low: float, high: float, shape: Any) -> Any:
            actual = np.full(shape, np.nextafter(high, low))
            actual[0] = low
            return actual

    monkeypatch.setattr(random, "RANDOM", [Ends()])
    x = paddle.to_tensor(np.zeros((2, 3), dtype), stop_gradient=False)
    actual = F.gumbel_softmax(x)
    actual.sum().backward()
    assert actual.dtype == np.dtype(dtype)
    assert np.isfinite(actual.numpy()).all()
    assert np.isfinite(x.grad.numpy()).all()
