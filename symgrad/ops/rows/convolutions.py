"""table: convolution and correlation of vectors. Each of the two rows is the other's cotangent."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import Array, Dim, Extent, ShapeOf, Type, is_complex
from symgrad.ops.declare import rule
from symgrad.ops.indexing import Extents
from symgrad.ops.shapes import array_dtype, rank_of, shape_of

__all__: list[str] = []


def _vector(type_: Type) -> Extent:
    shape = shape_of(type_)
    if shape == ():
        return 1
    return shape[0] if shape is not None and len(shape) == 1 else Dim("?")


def _dtype(types: list[Type]) -> str | None:
    """The dtype of a product of arrays; Python numbers count as arrays here, unlike elsewhere."""
    known = all(t.is_number and rank_of(t) != 0 for t in types)
    return array_dtype(np.multiply, types) if known else None


def _convolution_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """Of the extents of both together, less one."""
    dtype = _dtype(types)
    a, v = (_vector(t) for t in types)
    if isinstance(a, int):
        a, v = v, a
    if not isinstance(v, int):
        return Array(dtype, (Dim("?"),), "C")
    if isinstance(a, int):
        return Array(dtype, (a + v - 1,), "C")
    return Array(dtype, (Dim(a.symbol, a.offset + v - 1) if a.symbol != "?" else a,), "C")


def _correlation_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of a correlation in a given shape."""
    *numbers, shape = types
    return Array(_dtype(numbers), shape.shape if isinstance(shape, ShapeOf) else None, "C")


def _correlation_text(settings: dict[str, Any], types: list[Type]) -> str:
    """Emit a correlation without conjugation: NumPy conjugates the second vector, so the text conjugates it too."""
    vector = "np.atleast_1d(v)" if rank_of(types[1]) == 0 else "v"
    return f"np.correlate(g, {f'np.conj({vector})' if is_complex(types[1]) else vector})"


rule(
    "convolution(a, v)",
    _convolution_law,
    emit="np.convolve(a, v)",
    a_grad="reshape(correlation(out_grad, v, shape_of(ravel(a))), shape_of(a))",
    v_grad="reshape(correlation(out_grad, a, shape_of(ravel(v))), shape_of(v))",
)
rule(
    "correlation(g, v, shape)",
    _correlation_law,
    emit=_correlation_text,
    g_grad="convolution(out_grad, v)",
    v_grad="reshape(correlation(g, out_grad, shape_of(ravel(v))), shape_of(v))",
)
