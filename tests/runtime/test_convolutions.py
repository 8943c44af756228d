"""Convolutions in kernels, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")
convolutions = pytest.importorskip("symgrad.runtime.convolutions")

R = np.random.default_rng(0)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 5), (5, 1), (4, 3), (3, 4), (40, 7), (7, 40)])
def test_vectors_slide_along_one_another(n: int, m: int) -> None:
    a, v, whole = R.normal(size=n), R.normal(size=m), np.empty(n + m - 1)
    convolutions.convolution_into(whole, a, v)
    np.testing.assert_allclose(whole, np.convolve(a, v), atol=1e-14)
    for other, own in ((a, v), (v, a)):
        out = np.empty_like(own)
        convolutions.correlation_into(out, whole, other)
        np.testing.assert_allclose(out, np.correlate(whole, other), atol=1e-13)


def test_integers_are_convolved_too() -> None:
    out = np.empty(4, np.int64)
    convolutions.convolution_into(out, np.array([1, 2, 3]), np.array([1, 10]))
    assert out.tolist() == [1, 12, 23, 30]
