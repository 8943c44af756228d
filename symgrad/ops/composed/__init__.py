"""Compositions: NumPy functions written with other NumPy functions. The frontend inlines them like functions of the user.

Simple Python only: ``if`` on facts known at compile time (ranks, an axis, None), calls, arithmetic. Each takes the parameters that it
supports; all others are refused because they are missing.
"""

from __future__ import annotations

import inspect
import math
import sys
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import numpy as np

from symgrad.ops.composed.applying import apply_along_axis, apply_over_axes, fromfunction
from symgrad.ops.composed.bisecting import BISECTING
from symgrad.ops.composed.boost import OF_BOOST
from symgrad.ops.composed.complexes import OF_COMPLEX
from symgrad.ops.composed.convolving import CONVOLUTIONS, fftconvolve
from symgrad.ops.composed.convolving import convolve as convolve_arrays
from symgrad.ops.composed.cosines import COSINES
from symgrad.ops.composed.data import OF_DATA
from symgrad.ops.composed.distances import DISTANCES
from symgrad.ops.composed.drawing import DRAWING
from symgrad.ops.composed.filters import FILTERS
from symgrad.ops.composed.fourier import FFT, hilbert
from symgrad.ops.composed.frames import FRAMES
from symgrad.ops.composed.grids import GRIDS
from symgrad.ops.composed.heaps import HEAPS
from symgrad.ops.composed.images import IMAGES
from symgrad.ops.composed.integrating import INTEGRALS
from symgrad.ops.composed.joining import (
    append,
    block,
    broadcast_arrays,
    column_stack,
    dsplit,
    dstack,
    ediff1d,
    hsplit,
    hstack,
    insert,
    intersect1d,
    meshgrid,
    resize,
    setdiff1d,
    setxor1d,
    sparse_indices,
    trim_zeros,
    union1d,
    unique_within,
    vsplit,
    vstack,
)
from symgrad.ops.composed.numbers import NUMBERS, isclose
from symgrad.ops.composed.padding import pad_within
from symgrad.ops.composed.places import (
    choose_within,
    extract,
    fill_diagonal,
    nonzero,
    partition,
    piecewise,
    place,
    put,
    put_along_axis,
    putmask,
    select,
    take_within,
)
from symgrad.ops.composed.polynomials import (
    fit,
    lagrange,
    poly,
    poly1d,
    polyadd,
    polyder,
    polyfit,
    polyint,
    polymul,
    polysub,
    polyval,
    roots,
    vander,
)
from symgrad.ops.composed.products import (
    cholesky_within,
    cond,
    cross,
    cross_turned,
    eigh_within,
    eigvals,
    eigvalsh,
    frobenius_norm,
    inner,
    kron,
    lstsq,
    matrix_power,
    matrix_rank_within,
    matvec,
    multi_dot,
    norm,
    pinv_within,
    svdvals,
    tensorinv,
    tensorsolve,
    vdot,
    vecdot,
    vecmat,
    vector_norm,
)
from symgrad.ops.composed.samples import SAMPLES
from symgrad.ops.composed.scimath import SCIMATH
from symgrad.ops.composed.selecting import SELECTING, SELECTING_LAZILY
from symgrad.ops.composed.sequences import (
    allclose_within,
    angle,
    cast,
    clip_within,
    convolve_within,
    correlate,
    cumulative_prod,
    cumulative_sum,
    diff,
    divmod_,
    geomspace,
    gradient,
    interp,
    isclose_within,
    linspace_within,
    logspace,
    modf,
    modf_of_number,
    nan_to_num_within,
    sorted_,
    trapezoid,
)
from symgrad.ops.composed.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    diagflat,
    ix_,
    normalize_axis_index,
    rollaxis,
    rot90,
    sliding_window_view,
    unstack,
)
from symgrad.ops.composed.solving import SOLVING
from symgrad.ops.composed.special import SPECIAL, lambertw
from symgrad.ops.composed.spectra import SPECTRA
from symgrad.ops.composed.splines import CUBIC, PIECES, SPLINES
from symgrad.ops.composed.statistics import (
    average,
    corrcoef,
    cov,
    histogram,
    histogram_bin_edges,
    nancumprod,
    nancumsum,
    nanmax_within,
    nanmean_within,
    nanmedian,
    nanmin_within,
    nanpercentile,
    nanprod,
    nanquantile,
    nanstd,
    nansum_within,
    nanvar,
    percentile,
    ptp,
    quantile,
    std_about,
    var_about,
)
from symgrad.tables import counterparts, named

Entry = TypeVar("Entry")

COMPOSED: dict[Callable[..., Any], Callable[..., Any]] = (
    counterparts(np, vstack, hstack, dstack, column_stack, ptp, inner, vdot, kron, cross, average, diff, trapezoid, interp, correlate)
    | counterparts(np, gradient, poly, roots, logspace, geomspace, meshgrid, nonzero, atleast_1d, atleast_2d, rot90, percentile, quantile)
    | counterparts(np, nanmedian, nanquantile, nanpercentile, nanprod, nanvar, nanstd, nancumsum, nancumprod, atleast_3d)
    | counterparts(np, broadcast_arrays, append, insert, block, hsplit, vsplit, dsplit, rollaxis, resize, trim_zeros, diagflat, extract)
    | counterparts(np, select, piecewise, partition, ediff1d, union1d, setdiff1d, vander, polyval, polymul, polyadd, poly1d, polysub)
    | counterparts(np, polyfit, apply_over_axes, polyder, polyint, cov, corrcoef, apply_along_axis, fromfunction, ix_, fill_diagonal)
    | counterparts(np, put, putmask, place, put_along_axis, modf, angle, intersect1d, setxor1d, histogram, histogram_bin_edges)
    | counterparts(np.linalg, norm, eigvals, eigvalsh, cond, lstsq, matrix_power, multi_dot, tensorsolve, tensorinv)
    | {
        np.divmod: divmod_,
        sorted: sorted_,
        math.modf: modf_of_number,
        np.lib.stride_tricks.sliding_window_view: sliding_window_view,
        np.lib.array_utils.normalize_axis_index: normalize_axis_index,
        np.polynomial.polyutils._fit: fit,
        typing.cast: cast,
    }
    | OF_DATA
    | HEAPS
    | BISECTING
    | DRAWING
    | NUMBERS
    | SCIMATH
)
#: functions that older versions of NumPy do not have, or newer ones not any more
VERSIONED: dict[str, Callable[..., Any]] = named(
    cumulative_sum, cumulative_prod, vecdot, matvec, vecmat, unstack, row_stack=vstack, trapz=trapezoid
)
VERSIONED_LINALG: dict[str, Callable[..., Any]] = {
    "vecdot": vecdot,
    "cross": cross,
    "vector_norm": vector_norm,
    "matrix_norm": frobenius_norm,
    "svdvals": svdvals,
}
for _where, _table in ((np, VERSIONED), (np.linalg, VERSIONED_LINALG)):
    COMPOSED.update({getattr(_where, name): function for name, function in _table.items() if name in vars(_where)})


#: compositions for calls of rows with arguments that the row does not accept, by the row's name
WIDER: dict[str, Callable[..., Any]] = (
    {
        name.removesuffix("_within"): function
        for name, function in named(
            *(choose_within, nansum_within, nanmean_within, nanmax_within, nanmin_within, clip_within, unique_within, pad_within),
            *(eigh_within, cholesky_within, pinv_within, matrix_rank_within, linspace_within, nan_to_num_within),
        ).items()
    }
    | {"isclose": isclose_within, "allclose": allclose_within, "take_items": take_within, "convolution": convolve_within}
    | {"indices": sparse_indices, "var": var_about, "std": std_about}
)


#: functions of SciPy's modules by name
SCIPY: dict[str, dict[str, Callable[..., Any]]] = {
    "scipy.special": SPECIAL,
    "scipy.special._ufuncs": OF_BOOST,
    "scipy.linalg": SOLVING,
    "scipy.ndimage": IMAGES,
    "scipy.spatial.distance": DISTANCES,
    "scipy.interpolate": {"lagrange": lagrange} | GRIDS | SPLINES,
    "scipy.interpolate._ppoly": PIECES,
    "scipy.interpolate._cubic": CUBIC,
    "scipy.integrate": {"trapezoid": trapezoid} | INTEGRALS,
    "scipy.fft": FFT | COSINES,
    "scipy.signal": CONVOLUTIONS | FILTERS | SPECTRA | {"hilbert": hilbert},
    "scipy.stats": SAMPLES,
    "pandas": FRAMES,
    "scipy._lib.array_api_extra": SELECTING,
    "scipy._lib._util": SELECTING_LAZILY,
}


#: the attributes from which an outside object of a composed class is rebuilt where it is called
POLYNOMIALS = tuple(getattr(np.polynomial, name) for name in "Polynomial Chebyshev Legendre Laguerre Hermite HermiteE".split())
REBUILT: dict[type, tuple[str, ...]] = {np.poly1d: ("coeffs",), **dict.fromkeys(POLYNOMIALS, ("coef", "domain", "window"))}
REBUILT_OF_SCIPY: dict[str, dict[str, tuple[str, ...]]] = {
    "scipy.interpolate": {"RegularGridInterpolator": ("grid", "values", "method", "bounds_error", "fill_value")},
}


def rebuilt_from(cls: type) -> tuple[str, ...] | None:
    """Return the attributes from which an object of a class is rebuilt, or None."""
    return REBUILT.get(cls) or in_scipy(cls, REBUILT_OF_SCIPY)


#: compositions that are valid for complex numbers
ALIKE: frozenset[Callable[..., Any]] = frozenset(
    (
        *(vstack, hstack, dstack, column_stack, inner, kron, cross, diff, trapezoid, multi_dot, matrix_power, meshgrid, atleast_1d),
        *(atleast_2d, atleast_3d, rot90, broadcast_arrays, append, insert, block, hsplit, vsplit, dsplit, rollaxis, resize, diagflat),
        *(polyval, polymul, polyadd, polysub, vander, ediff1d, apply_along_axis, matvec, cumulative_sum, cumulative_prod, cast, unstack),
        *(convolve_within, convolve_arrays, fftconvolve, sliding_window_view, fill_diagonal, average, gradient, select, put, putmask),
        *(place, lambertw, isclose, cond, pad_within, eigh_within, cholesky_within, pinv_within, matrix_rank_within),
        *SCIMATH.values(),
        *FFT.values(),
    )
)


#: compositions whose derivatives are short, in place of others that are fast, for text that is read and never run
AS_READ: dict[Callable[..., Any], Callable[..., Any]] = {cross: cross_turned}


def composed(function: Any, of_complex: bool = False, is_read: bool = False) -> Callable[..., Any] | None:
    """The composition for a function of NumPy, or of SciPy, which its caller has imported; with ``of_complex`` for complex numbers.

    ``is_read``: for text that is read and never run.
    """
    try:
        composition = COMPOSED.get(function)
    except TypeError:
        return None
    if composition is None:
        composition = composed_of_scipy(function)
    if composition is not None and of_complex and composition not in ALIKE:
        return OF_COMPLEX.get(function)
    return composition if composition is None or not is_read else AS_READ.get(composition, composition)


@cache
def positional(function: Any) -> tuple[str, ...] | None:
    """Return the positional parameters of a library function, or None if they are unknown."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


@cache
def parameters_of(function: Callable[..., Any]) -> frozenset[str]:
    """The names of the parameters of a composition."""
    return frozenset(inspect.signature(function).parameters)


@cache
def words_of(function: Any) -> frozenset[str]:
    """The names of the parameters of a function of a library, and of those that it passes on to a ufunc."""
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return frozenset()
    hands_on = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return frozenset(parameters) | (frozenset(("where", "casting", "dtype", "subok", "order", "out")) if hands_on else frozenset())


@cache
def defaults(function: Any) -> dict[str, Any]:
    """Return the defaults of the parameters of a library function."""
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return {}
    return {name: p.default for name, p in parameters.items() if p.default is None or isinstance(p.default, bool | str | int | float)}


def composed_of_scipy(function: Any) -> Callable[..., Any] | None:
    """Return the composition of a SciPy function."""
    return in_scipy(function, SCIPY)


def in_scipy(function: Any, tables: Mapping[str, Mapping[str, Entry]]) -> Entry | None:
    """Look up a SciPy function in tables keyed by module and name."""
    name = getattr(function, "__name__", "")
    for module, table in tables.items():
        if name in table and getattr(sys.modules.get(module), name, None) is function:
            return table[name]
    return None
