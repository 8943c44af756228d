"""Functions of ``np`` and ``cmath`` whose definition for complex numbers differs from that for real numbers."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from symgrad.ops.composed.products import eigvals, eigvalsh, lstsq, svdvals
from symgrad.ops.composed.products import norm as norm_of_sizes
from symgrad.ops.composed.products import vector_norm as vector_norm_of_sizes
from symgrad.ops.composed.refusing import Numbers
from symgrad.ops.composed.sequences import correlate as correlate_plainly
from symgrad.ops.composed.shapes import kept
from symgrad.tables import counterparts


def vdot(a: Numbers, b: Numbers) -> Any:
    """``np.vdot``."""
    return np.dot(np.ravel(np.conj(a)), np.ravel(b))


def vecdot(x1: Numbers, x2: Numbers, axis: Any = -1) -> Any:
    """``np.vecdot``."""
    return np.sum(np.conj(x1) * x2, axis=axis)


def vecmat(x1: Numbers, x2: Numbers) -> Any:
    """``np.vecmat``."""
    return np.matmul(np.expand_dims(np.conj(x1), -2), x2)[..., 0, :]


def angle(z: Numbers, deg: Any = False) -> Any:
    """``np.angle``."""
    radians = np.arctan2(np.imag(z), np.real(z))
    return np.rad2deg(radians) if deg else radians


def squares(x: Any) -> Any:
    """Squares of sizes."""
    return np.square(np.real(x)) + np.square(np.imag(x))


def norm(x: Numbers, ord: Any = None, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.linalg.norm``: the norms of squares (vectors, Frobenius) here; the others use absolute values or singular values."""
    vectors = axis is None and np.ndim(x) == 1 or isinstance(axis, int)
    if not (ord is None or vectors and ord == 2 or not vectors and ord == "fro"):
        return norm_of_sizes(x, ord, axis, keepdims)
    norms = np.sqrt(np.sum(squares(x), axis=axis))
    return kept(norms, x, axis) if keepdims else norms


def vector_norm(x: Numbers, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """``np.linalg.vector_norm``."""
    if ord is not None and ord != 2:
        return vector_norm_of_sizes(x, axis, keepdims, ord)
    return np.sqrt(np.sum(squares(x), axis=axis, keepdims=keepdims))


def correlate(a: Numbers, v: Numbers, mode: str = "valid") -> Any:
    """``np.correlate``: with the conjugate of the second vector."""
    return correlate_plainly(a, np.conj(v), mode)


def phase(z: Any) -> Any:
    """``cmath.phase``."""
    return math.atan2(z.imag, z.real)


def polar(z: Any) -> Any:
    """``cmath.polar``."""
    return abs(z), math.atan2(z.imag, z.real)


def rect(r: Any, phi: Any) -> Any:
    """``cmath.rect``."""
    return complex(r * math.cos(phi), r * math.sin(phi))


#: of complex numbers where ``composed`` has them of real ones
OF_COMPLEX = (
    counterparts(np, vdot, angle, correlate)
    | counterparts(np.linalg, norm, eigvals, eigvalsh, lstsq)
    | {
        getattr(where, name): said
        for where, name, said in (
            (np, "vecdot", vecdot),
            (np.linalg, "vecdot", vecdot),
            (np, "vecmat", vecmat),
            (np.linalg, "vector_norm", vector_norm),
            (np.linalg, "svdvals", svdvals),
        )
        if hasattr(where, name)
    }
)
#: functions of ``cmath``, which converts its argument to a complex number
OF_CMATH = {cmath.phase: phase, cmath.polar: polar, cmath.rect: rect}
