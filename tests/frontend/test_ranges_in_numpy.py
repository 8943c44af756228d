"""Ranges as operands of NumPy functions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symgrad
from tests.plainly import HEAD, verdict

RANGES = ["range(3)", "range(1, 9, 3)", "range(5, -1, -2)", "range(0)", "range(len(x))"]
CALLS = [
    "np.array(r) @ x", "np.asarray(r) @ x", "np.array(r, dtype=float) @ x", "np.sum(r) * x[0]", "np.mean(r) * x[0]", "np.max(r) * x[0]",
    "np.prod(r) * x[1]", "np.dot(r, x)", "np.dot(x, r)", "np.sum(np.multiply(x, r))", "np.sum(x * r)", "np.sum(r * x)", "np.sum(x ** r)",
    "np.sum(x - r)", "np.sum(x * (x < r))", "np.sum(np.where(r, x, 2 * x))", "np.size(r) * x[0]", "np.shape(r)[0] * x[1]",
    "np.ndim(r) * x[2]", "np.sum(np.stack([x, r]) ** 2)", "np.sum(np.concatenate([x, r]) ** 2)", "np.interp(1.5 * x[0], r, x)",
    "np.sum(np.cumsum(r) * x)", "np.sum(np.outer(x, r))", "np.sum(np.full(3, r) * x)", "np.sum(np.sin(r) * x)", "np.polyval(r, x[0])",
    "np.sum(np.zeros_like(r) * x)", "np.linalg.norm(r) * x[0]",
]  # fmt: skip


#: without items they warn or raise
OF_SOME = {"np.mean(r) * x[0]", "np.interp(1.5 * x[0], r, x)"}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("call", CALLS)
def test_a_range_is_taken_as_numpy_takes_it(call: str) -> None:
    """Each range in each call, written there and by a name."""
    counts = {"right": 0, "refused": 0, "raises": 0}
    for spelled, named in product(RANGES, (False, True)):
        if spelled == "range(0)" and call in OF_SOME:
            continue
        lines = [f"r = {spelled}", f"return {call}"] if named else [f"return (lambda r: {call})({spelled})"]
        text = HEAD + "def f(x):\n" + "".join(f"    {line}\n" for line in lines)
        counts[verdict(text, [np.array([0.3, 1.7, 2.2])])] += 1
    assert counts["refused"] == 0, counts
    assert counts["right"] >= 8, counts


def test_a_range_outside_is_gone_over_as_it_is_at_each_call() -> None:
    space: dict[str, Any] = {"R": range(3)}
    f = symgrad.from_source("def f(a):\n    total = a * sum(R)\n    for k in R:\n        total += a**k\n    return total", globals=space)
    derivative = symgrad.value_and_grad(f)
    for numbers in (range(3), range(5), range(2, 9, 3), range(1), [1, 2]):
        space["R"] = numbers
        value, slope = derivative(0.7)
        assert value == f(0.7)
        assert slope == pytest.approx(sum(k + k * 0.7 ** (k - 1) for k in numbers if k))


AXES = ["np.transpose(a, range(2))", "a.transpose(*range(2))", "np.moveaxis(a, range(2), (1, 0))", "np.tensordot(a, a, axes=[range(1, 2), range(1)])",
        "np.abs(np.fft.fftn(a, axes=range(2)))", "np.abs(np.fft.rfft2(a, axes=range(-2, 0)))", "np.fft.fftshift(a, axes=range(1))",
        "np.einsum(a, range(2), a, range(1, 3))", "np.roll(a, range(1, 3), range(2))", "np.rot90(a, 1, range(2))"]  # fmt: skip


@pytest.mark.parametrize("call", AXES)
def test_axes_are_named_by_ranges(call: str) -> None:
    a = np.sin(np.arange(9.0) ** 1.3).reshape(3, 3)
    assert verdict(HEAD + f"def f(a):\n    return np.sum({call} ** 3)\n", [a]) == "right"
