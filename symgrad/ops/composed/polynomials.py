"""Polynomials, highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, inexact, must, need


def vander(x: Numbers, N: Any = None, increasing: Any = False) -> Any:
    """``np.vander``: powers in columns."""
    count = np.shape(x)[0] if N is None else N
    return np.power(np.expand_dims(x, 1), np.arange(count) if increasing else np.arange(count)[::-1])


def polyval(p: Numbers, x: Numbers) -> Any:
    """``np.polyval``: the highest power first."""
    value = np.zeros_like(x)
    for coefficient in p:
        value = value * x + coefficient
    return value


def polyadd(a1: Numbers, a2: Numbers) -> Any:
    """``np.polyadd`` of vectors."""
    n, m = a1.shape[0], a2.shape[0]
    if n >= m:
        return np.concatenate([a1[: n - m], a1[n - m :] + a2])
    return np.concatenate([a2[: m - n], a1 + a2[m - n :]])


def polysub(a1: Numbers, a2: Numbers) -> Any:
    """``np.polysub`` of vectors."""
    return polyadd(a1, -np.asarray(a2).astype(np.asarray(a1).dtype) if np.asarray(a2).dtype.kind == "b" else -a2)


def polyfit(x: Numbers, y: Numbers, deg: Any, rcond: Any = None, full: Any = False, w: Numbers = None, cov: Any = False) -> Any:
    """``np.polyfit`` of a vector, or of several in columns; with weights of the differences."""
    need(rcond is None and not full and not cov, "np.polyfit is supported for the coefficients alone; leave rcond, full and cov out")
    if x.shape[0] == 0:
        raise TypeError("expected non-empty vector for x")
    powers = vander(x, deg + 1)
    if w is not None:
        powers, y = powers * np.expand_dims(w, 1), y * (w if np.ndim(y) == 1 else np.expand_dims(w, 1))
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    coefficients = np.linalg.pinv(powers / scale) @ y
    return coefficients / scale if np.ndim(y) == 1 else coefficients / np.expand_dims(scale, 1)


def fit(vander_f: Any, x: Numbers, y: Numbers, deg: Any, rcond: Any = None, full: Any = False, w: Numbers = None) -> Any:
    """``numpy.polynomial.polyutils._fit``, which the functions that fit polynomials of each kind call, for one degree."""
    need(isinstance(deg, int) and rcond is None and not full, "this fit of numpy.polynomial is supported for the coefficients alone")
    need(np.ndim(x) == 1, "expected 1D vector for x")
    x, y = inexact(x), inexact(y)
    powers = np.reshape(vander_f(x, deg), (x.shape[0], deg + 1))
    if w is not None:
        powers, y = powers * np.expand_dims(w, 1), y * (w if np.ndim(y) == 1 else np.expand_dims(w, 1))
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    scale = np.where(scale == 0, 1.0, scale)
    coefficients = np.linalg.pinv(powers / scale) @ y
    return coefficients / scale if np.ndim(y) == 1 else coefficients / np.expand_dims(scale, 1)


def roots(p: Numbers) -> Any:
    """``np.roots``: the eigenvalues of the companion matrix (Horn and Johnson, Matrix Analysis, 3.3)."""
    need(np.ndim(p) == 1, "Input must be a rank-1 array.")
    p = inexact(p)
    must(p.shape[0] > 1 and p[0] != 0 and p[-1] != 0, "np.roots is supported where the first and the last coefficient are not zero")
    companion = np.concatenate([np.expand_dims(-p[1:] / p[0], 0), np.eye(p.shape[0] - 1, dtype=p.dtype)[:-1]])
    return np.linalg.eigvals(companion)


def poly(seq_of_zeros: Numbers) -> Any:
    """``np.poly``: the coefficients of the polynomial with these zeros."""
    need(np.ndim(seq_of_zeros) == 1, "np.poly of a matrix is not supported")
    zeros = inexact(seq_of_zeros)
    must(zeros.shape[0] > 0, "np.poly of no zeros, which is a number, is not supported")
    coefficients = np.ones(1, dtype=zeros.dtype)
    none = np.zeros(1, dtype=zeros.dtype)
    for zero in zeros:
        coefficients = np.concatenate([coefficients, none]) - np.concatenate([none, coefficients * zero])
    return coefficients


def polymul(a1: Numbers, a2: Numbers) -> Any:
    """``np.polymul`` of vectors."""
    return np.convolve(from_the_highest(a1), from_the_highest(a2))


def from_the_highest(p: Any) -> Any:
    """Coefficients as NumPy multiplies them: those in front that are zero are cut off, so that there is no derivative in them."""
    if p.shape[0] == 0:
        return np.zeros(1, dtype=p.dtype)
    must(p[0] != 0, "coefficients that begin with zero are not supported by np.polymul; take them off with np.trim_zeros(p, 'f')")
    return p


def polyder(p: Numbers, m: int = 1) -> Any:
    """``np.polyder``, up to three times."""
    need(m >= 0 and m <= 3, "np.polyder is supported for m up to 3")
    derivative = p
    if m > 0:
        derivative = slopes_of(derivative)
    if m > 1:
        derivative = slopes_of(derivative)
    if m > 2:
        derivative = slopes_of(derivative)
    return derivative


def slopes_of(p: Any) -> Any:
    """The coefficients of the derivative of a polynomial."""
    return p[:-1] * np.arange(p.shape[0] - 1, 0, -1)


def polyint(p: Numbers, m: int = 1, k: Any = None) -> Any:
    """``np.polyint``, up to three times, with a constant for each, one for all, or none."""
    need(m >= 0 and m <= 3, "np.polyint is supported for m up to 3")
    constants = np.zeros(m) + (0 if k is None else np.asarray(k))
    integral = p
    if m > 0:
        integral = np.concatenate([integral / np.arange(integral.shape[0], 0, -1), constants[:1]])
    if m > 1:
        integral = np.concatenate([integral / np.arange(integral.shape[0], 0, -1), constants[1:2]])
    if m > 2:
        integral = np.concatenate([integral / np.arange(integral.shape[0], 0, -1), constants[2:]])
    return integral


class Poly1d:
    """A polynomial as ``np.poly1d`` has it: called, differentiated, integrated, added and multiplied."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __call__(self, val: Any) -> Any:
        need(not isinstance(val, Poly1d), "a polynomial of a polynomial is not supported")
        return np.polyval(self.held, val)

    @property
    def coef(self) -> Any:
        """The coefficients; NumPy leaves out those in front that are zero."""
        must(np.shape(self.held)[0] == 1 or self.held[0] != 0, "the coefficients of a polynomial that begin with 0 are not supported")
        return self.held

    @property
    def order(self) -> Any:
        """The degree."""
        return np.shape(self.coef)[0] - 1

    @property
    def roots(self) -> Any:
        """The zeros, which have no rule."""
        need(False, "the roots of a polynomial are not supported; write np.linalg.eigvals of its companion matrix")

    coeffs = c = coefficients = coef
    o = order
    r = roots

    def deriv(self, m: Any = 1) -> Any:
        return Poly1d(np.polyder(self.held, m))

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        need(m == 1, "np.poly1d.integ is supported once")
        return Poly1d(np.append(np.polyint(self.held)[:-1], k))

    def __neg__(self) -> Any:
        return Poly1d(-self.held)

    def __add__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(self.held, coefficients_of(other)))

    def __radd__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(coefficients_of(other), self.held))

    def __sub__(self, other: Any) -> Any:
        return Poly1d(np.polysub(self.held, coefficients_of(other)))

    def __rsub__(self, other: Any) -> Any:
        return Poly1d(np.polysub(coefficients_of(other), self.held))

    def __mul__(self, other: Any) -> Any:
        return Poly1d(np.polymul(self.held, coefficients_of(other)))

    def __rmul__(self, other: Any) -> Any:
        return Poly1d(np.polymul(coefficients_of(other), self.held))

    def __truediv__(self, other: Any) -> Any:
        return Poly1d(self.held / other)


def coefficients_of(other: Any) -> Any:
    """The coefficients of a polynomial, or of a number."""
    return other.held if isinstance(other, Poly1d) else np.atleast_1d(other)


def poly1d(c_or_r: Numbers, r: Any = False, variable: Any = None) -> Any:
    """``np.poly1d`` of coefficients, or of roots."""
    need(variable is None, "variable of np.poly1d is not supported")
    return Poly1d(np.poly(c_or_r) if r else np.atleast_1d(c_or_r))


def lagrange(x: Numbers, w: Numbers) -> Any:
    """``scipy.interpolate.lagrange``: the polynomial through points, whose coefficients are those of products (DLMF 3.3(i))."""
    total = np.zeros(np.shape(x)[0])
    for j in range(np.shape(x)[0]):
        others = np.concatenate([x[:j], x[j + 1 :]])
        total = total + np.poly(others) * (w[j] / np.prod(x[j] - others))
    return Poly1d(total)
