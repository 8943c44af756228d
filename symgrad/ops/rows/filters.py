"""table: recursive filters of ``scipy.signal``: solves ``A y = B x`` for polynomials ``A`` and ``B`` in the delay.

The filter is linear in ``x``, and its transpose is the same filter from the last sample to the first. By ``b`` and ``a`` the slopes are
products at lags: differentiate ``A y = B x`` (Oppenheim and Schafer, Discrete-Time Signal Processing, chapter 6, has the equation). All
three rows are their own family: the cotangents of each are among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import Array, ShapeOf, Type
from symgrad.ops.declare import RUNTIME, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.shapes import array_dtype, array_or_scalar, shape_of

__all__: list[str] = []


def _joined(b: Any, a: Any, x: Any) -> Any:
    """The dtype that SciPy filters in, which makes arrays of all three."""
    return np.add(np.add(np.atleast_1d(b), np.atleast_1d(a)), np.atleast_1d(x))


def _filter_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = array_dtype(_joined, types)
    return Array(dtype if dtype in ("f32", "f64") else None, shape_of(types[2]))


def _lags_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = types[2].shape if isinstance(types[2], ShapeOf) else None
    return array_or_scalar(array_dtype(lambda g, u: np.sum(g * u), types[:2]), shape)


rule(
    "lfilter(b, a, x, axis=-1)",
    _filter_law,
    emit="filtering.lfilter(b, a, x, axis)",
    x_grad="lfilter_back(b, a, out_grad, axis=axis)",
    b_grad="lagged(lfilter_back(1.0, a, out_grad, axis=axis), x, shape_of(b), axis=axis)",
    a_grad="-lagged(lfilter_back(1.0, a, out_grad, axis=axis), out, shape_of(a), axis=axis)",
)
rule(
    "lfilter_back(b, a, x, axis=-1)",
    _filter_law,
    emit="np.flip(filtering.lfilter(b, a, np.flip(x, axis), axis), axis)",
    x_grad="lfilter(b, a, out_grad, axis=axis)",
    b_grad="lagged(lfilter_back(1.0, a, x, axis=axis), out_grad, shape_of(b), axis=axis)",
    a_grad="-lagged(lfilter_back(1.0, a, x, axis=axis), lfilter(b, a, out_grad, axis=axis), shape_of(a), axis=axis)",
)
# of the lag k: the sum over n of g[n] * u[n - k]
rule(
    "lagged(g, u, shape, axis=-1)",
    _lags_law,
    emit=RUNTIME,
    g_grad="lfilter(out_grad, 1.0, u, axis=axis)",
    u_grad="lfilter_back(out_grad, 1.0, g, axis=axis)",
)
