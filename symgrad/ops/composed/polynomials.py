"""Polynomials, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need


def vander(x: Numbers, N: Any = None, increasing: Any = False) -> Any:
    """``np.vander``: powers in columns."""
    count = np.shape(x)[0] if N is None else N
    return np.power(np.expand_dims(x, 1), np.arange(count) if increasing else np.arange(count)[::-1])


def polyval(p: Numbers, x: Numbers) -> Any:
    """``np.polyval``: the highest power first."""
    made = np.zeros_like(x)
    for coefficient in p:
        made = made * x + coefficient
    return made


def polyadd(a1: Numbers, a2: Numbers) -> Any:
    """``np.polyadd`` of vectors."""
    n, m = a1.shape[0], a2.shape[0]
    if n >= m:
        return np.concatenate([a1[: n - m], a1[n - m :] + a2])
    return np.concatenate([a2[: m - n], a1 + a2[m - n :]])


def polysub(a1: Numbers, a2: Numbers) -> Any:
    """``np.polysub`` of vectors."""
    return polyadd(a1, -a2)


def polyfit(x: Numbers, y: Numbers, deg: Any) -> Any:
    """``np.polyfit`` of a vector."""
    need(np.ndim(y) == 1, "np.polyfit of several sets of values is not supported")
    powers = vander(x, deg + 1)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    return np.linalg.pinv(powers / scale) @ y / scale


def poly(seq_of_zeros: Numbers) -> Any:
    """``np.poly``: the coefficients of the polynomial with these zeros."""
    need(np.ndim(seq_of_zeros) == 1, "np.poly of a matrix is not supported")
    zeros = seq_of_zeros
    must(zeros.shape[0] > 0, "np.poly of no zeros, which is a number, is not supported")
    made = np.ones(1, dtype=zeros.dtype)
    none = np.zeros(1, dtype=zeros.dtype)
    for zero in zeros:
        made = np.concatenate([made, none]) - np.concatenate([none, made * zero])
    return made


def polymul(a1: Numbers, a2: Numbers) -> Any:
    """``np.polymul`` of vectors."""
    both = a1.shape[0] > 0 and a2.shape[0] > 0
    must(both and a1[0] != 0 and a2[0] != 0, "coefficients that begin with zero are not supported by np.polymul")
    return np.convolve(a1, a2)


def polyder(p: Numbers, m: int = 1) -> Any:
    """``np.polyder``, up to three times."""
    need(m >= 0 and m <= 3, "np.polyder is supported for m up to 3")
    made = p
    if m > 0:
        made = slopes_of(made)
    if m > 1:
        made = slopes_of(made)
    if m > 2:
        made = slopes_of(made)
    return made


def slopes_of(p: Any) -> Any:
    """The coefficients of the derivative of a polynomial."""
    return p[:-1] * np.arange(p.shape[0] - 1, 0, -1)


def polyint(p: Numbers, m: int = 1, k: Any = None) -> Any:
    """``np.polyint``, up to three times, with one constant or none."""
    need(m >= 0 and m <= 3 and (k is None or np.ndim(k) == 0), "np.polyint is supported for m up to 3 and one constant")
    constant = np.zeros(1) if k is None else np.zeros(1) + k
    made = p
    if m > 0:
        made = np.concatenate([made / np.arange(made.shape[0], 0, -1), constant])
    if m > 1:
        made = np.concatenate([made / np.arange(made.shape[0], 0, -1), constant])
    if m > 2:
        made = np.concatenate([made / np.arange(made.shape[0], 0, -1), constant])
    return made
