"""Filters of ``scipy.ndimage``: each sample is a weighted sum of its neighbours, gathered by index.

``places`` defines the samples beyond an edge, as in the manual of ``scipy.ndimage`` for each mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.tables import named

MODES = ("reflect", "grid-mirror", "mirror", "nearest", "wrap", "grid-wrap", "constant", "grid-constant")


def places(indices: Any, count: Any, mode: Any) -> Any:
    """Return the index of the sample at each position, also beyond the edges."""
    if mode in ("constant", "grid-constant", "nearest"):
        return np.clip(indices, 0, count - 1)
    if mode in ("wrap", "grid-wrap"):
        return indices % count
    if mode == "mirror":
        around = indices % max(2 * count - 2, 1)
        return np.where(around < count, around, 2 * count - 2 - around)
    around = indices % (2 * count)
    return np.where(around < count, around, 2 * count - 1 - around)


def gathered(x: Any, axis: Any, indices: Any, mode: Any, cval: Any) -> Any:
    """Gather along an axis by a table of indices; two axes replace the axis."""
    count = np.shape(x)[axis]
    taken = np.take(x, places(indices, count, mode), axis=axis)
    if mode in ("constant", "grid-constant"):
        inside = np.reshape((indices >= 0) & (indices < count), np.shape(indices) + (1,) * (np.ndim(x) - 1 - axis))
        return np.where(inside, taken, cval)
    return taken


def windows(x: Any, axis: Any, size: Any, origin: Any, mode: Any, cval: Any) -> Any:
    """Return the neighbours of each sample along an axis, on an additional axis after it."""
    return gathered(x, axis, np.arange(np.shape(x)[axis])[:, None] + (np.arange(size) - size // 2 - origin), mode, cval)


def checked(x: Any, output: Any, mode: Any) -> None:
    """Validate the arguments of a call."""
    need(output is None, "output of filters of scipy.ndimage is not supported")
    need(np.ndim(x) > 0, "filters of scipy.ndimage are supported for arrays with axes")
    need(x.dtype.kind == "f", "filters of scipy.ndimage are supported for floats")
    need(isinstance(mode, str), "the mode of a filter is supported as one text for all axes")
    need(mode in MODES, "this mode of a filter of scipy.ndimage is not supported")


def along(axis: Any, rank: Any) -> Any:
    """An axis counted from the first."""
    return axis + rank if axis < 0 else axis


def correlate1d(
    input: Numbers, weights: Numbers, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """``scipy.ndimage.correlate1d``."""
    checked(input, output, mode)
    first = along(axis, np.ndim(input))
    around = np.moveaxis(windows(input, first, np.shape(weights)[0], origin, mode, cval), first + 1, -1)
    return (around @ weights).astype(input.dtype)


def convolve1d(
    input: Numbers, weights: Numbers, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """``scipy.ndimage.convolve1d``."""
    shift = -origin - 1 + np.shape(weights)[0] % 2
    return correlate1d(input, weights[::-1], axis, output, mode, cval, shift)


def origins(origin: Any, rank: Any) -> Any:
    """An origin for each axis."""
    return [origin] * rank if isinstance(origin, int) else list(origin)


def correlate(
    input: Numbers, weights: Numbers, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Any:
    """``scipy.ndimage.correlate``."""
    need(axes is None, "axes of scipy.ndimage.correlate is not supported")
    need(np.ndim(weights) == np.ndim(input), "filter weights array must have as many axes as the input")
    checked(input, output, mode)
    rank, shifts, around = np.ndim(input), origins(origin, np.ndim(input)), input
    for axis in range(rank - 1, -1, -1):
        around = windows(around, axis, np.shape(weights)[axis], shifts[axis], mode, cval)
    of_windows, of_weights = tuple([2 * axis + 1 for axis in range(rank)]), tuple(range(rank))
    return np.tensordot(around, weights, axes=(of_windows, of_weights)).astype(input.dtype)


def convolve(
    input: Numbers, weights: Numbers, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Any:
    """``scipy.ndimage.convolve``."""
    rank = np.ndim(weights)
    shifts = [-shift - 1 + np.shape(weights)[axis] % 2 for axis, shift in enumerate(origins(origin, rank))]
    return correlate(input, np.flip(weights), output, mode, cval, shifts, axes=axes)


# ------------------------------------------------------------------ given weights


def bell(sigma: Any, order: Any, radius: Any) -> Any:
    """Weights of a Gaussian, or of its derivative of some order, from the last to the first."""
    x = np.arange(radius, -radius - 1, -1)
    weights = np.exp(-0.5 / (sigma * sigma) * (x * x))
    weights = weights / np.sum(weights)
    before, factor = np.zeros(1), np.ones(1)
    for k in range(order):  # Hermite polynomials: the derivative of one is the one before it
        before, factor = factor, -(x * factor + k * before) / (sigma * sigma)
    return factor * weights


def gaussian_filter1d(
    input: Numbers,
    sigma: Any,
    axis: Any = -1,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
) -> Any:
    """``scipy.ndimage.gaussian_filter1d``; the number of weights does not change with ``sigma``."""
    need(isinstance(order, int), "the order of a Gaussian filter is supported as an integer")
    sigma = float(sigma)
    reach = int(truncate * sigma + 0.5) if radius is None else radius
    return correlate1d(input, bell(sigma, order, reach), axis, output, mode, cval)


def for_each_axis(setting: Any, rank: Any) -> Any:
    """Return a setting for each axis, given as one value or as several."""
    return [setting] * rank if np.ndim(setting) == 0 else [setting[k] for k in range(rank)]


def gaussian_filter(
    input: Numbers,
    sigma: Any,
    order: Any = 0,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
    axes: Any = None,
) -> Any:
    """``scipy.ndimage.gaussian_filter`` of a positive ``sigma``."""
    checked(input, output, mode)
    need(axes is None, "axes of scipy.ndimage.gaussian_filter is not supported")
    rank, smooth = np.ndim(input), input
    orders = [order] * rank if isinstance(order, int) else list(order)
    reaches = [radius] * rank if radius is None or isinstance(radius, int) else list(radius)
    for axis, width in enumerate(for_each_axis(sigma, rank)):
        must(width > 1e-15, "scipy.ndimage.gaussian_filter is supported for a sigma that is positive")
        smooth = gaussian_filter1d(smooth, width, axis, orders[axis], output, mode, cval, truncate, radius=reaches[axis])
    return smooth


def uniform_filter1d(
    input: Numbers, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """``scipy.ndimage.uniform_filter1d``, a moving mean."""
    checked(input, output, mode)
    first = along(axis, np.ndim(input))
    return np.mean(windows(input, first, size, origin, mode, cval), axis=first + 1).astype(input.dtype)


def uniform_filter(
    input: Numbers, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Any:
    """``scipy.ndimage.uniform_filter``."""
    checked(input, output, mode)
    need(axes is None, "axes of scipy.ndimage.uniform_filter is not supported")
    rank, smooth = np.ndim(input), input
    for axis, (width, shift) in enumerate(zip(for_each_axis(size, rank), origins(origin, rank))):
        smooth = uniform_filter1d(smooth, width, axis, output, mode, cval, shift)
    return smooth


def edges(x: Any, axis: Any, across: Any, output: Any, mode: Any, cval: Any) -> Any:
    """Differences along one axis, smoothed along all others."""
    rank = np.ndim(x)
    slope = correlate1d(x, np.array([-1.0, 0.0, 1.0]), axis, output, mode, cval)
    for other in range(rank):
        if other != along(axis, rank):
            slope = correlate1d(slope, np.array([1.0, across, 1.0]), other, output, mode, cval)
    return slope


def sobel(input: Numbers, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """``scipy.ndimage.sobel``."""
    return edges(input, axis, 2.0, output, mode, cval)


def prewitt(input: Numbers, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """``scipy.ndimage.prewitt``."""
    return edges(input, axis, 1.0, output, mode, cval)


def laplace(input: Numbers, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    """``scipy.ndimage.laplace``."""
    checked(input, output, mode)
    need(axes is None, "axes of scipy.ndimage.laplace is not supported")
    return sum([correlate1d(input, np.array([1.0, -2.0, 1.0]), axis, output, mode, cval) for axis in range(np.ndim(input))])


def bent(x: Any, sigma: Any, axis: Any, order: Any, output: Any, mode: Any, cval: Any) -> Any:
    """A Gaussian filter, of some order along one axis."""
    return gaussian_filter(x, sigma, [order if k == axis else 0 for k in range(np.ndim(x))], output, mode, cval)


def gaussian_laplace(input: Numbers, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """``scipy.ndimage.gaussian_laplace``."""
    checked(input, output, mode)
    return sum([bent(input, sigma, axis, 2, output, mode, cval) for axis in range(np.ndim(input))])


def gaussian_gradient_magnitude(input: Numbers, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """``scipy.ndimage.gaussian_gradient_magnitude``."""
    checked(input, output, mode)
    return np.sqrt(sum([bent(input, sigma, axis, 1, output, mode, cval) ** 2 for axis in range(np.ndim(input))]))


# ------------------------------------------------------------------ between samples


def map_coordinates(
    input: Numbers, coordinates: Numbers, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True
) -> Any:
    """``scipy.ndimage.map_coordinates`` of order 0 or 1: the nearest sample, or linear between neighbours."""
    need(order == 0 or order == 1, "scipy.ndimage.map_coordinates is supported with order=0 or order=1")
    need(mode == "constant" or mode == "nearest", "scipy.ndimage.map_coordinates is supported with the modes 'constant' and 'nearest'")
    checked(input, output, mode)
    must(np.size(input) > 0, "scipy.ndimage.map_coordinates is supported for arrays with elements")
    rank = np.ndim(input)
    corners: Any = [(1.0, ())]
    inside: Any = True
    for axis in range(rank):
        count, at = np.shape(input)[axis], coordinates[axis]
        inside = inside & (at >= 0) & (at <= count - 1)
        held = np.clip(at, 0.0, count - 1.0)
        if order == 0:
            corners = [(1.0, (*place, np.floor(held + 0.5).astype(int))) for _, place in corners]
            continue
        low = np.minimum(np.floor(held), max(count - 2.0, 0.0))
        share, first = held - low, low.astype(int)
        nearer = [(weight * (1.0 - share), (*place, first)) for weight, place in corners]
        corners = nearer + [(weight * share, (*place, np.minimum(first + 1, count - 1))) for weight, place in corners]
    values = sum([weight * input[place] for weight, place in corners])
    return (np.where(inside, values, cval) if mode == "constant" else values).astype(input.dtype)


def windows_of_size(x: Any, size: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """Return the neighbours of each position in a box, on a last axis."""
    rank, around = np.ndim(x), x
    sizes, shifts = for_each_axis(size, rank), origins(origin, rank)
    for axis in range(rank - 1, -1, -1):
        around = windows(around, axis, sizes[axis], shifts[axis], mode, cval)
    order = tuple([2 * axis for axis in range(rank)] + [2 * axis + 1 for axis in range(rank)])
    return np.reshape(np.transpose(around, order), (*np.shape(x), -1))


def of_box(choose: Any) -> Any:
    """A filter that chooses among the neighbours in a box."""

    def function(
        input: Numbers, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
    ) -> Any:
        checked(input, output, mode)
        need(size is not None and footprint is None, "this filter of scipy.ndimage is supported with size")
        return choose(windows_of_size(input, size, mode, cval, origin), axis=-1)

    return function


def middle_of(around: Any, axis: Any) -> Any:
    """The number in the middle of an order; of an even number of them the upper one."""
    return np.sort(around, axis=axis)[..., np.shape(around)[-1] // 2]


def center_of_mass(input: Numbers, labels: Any = None, index: Any = None) -> Any:
    """``scipy.ndimage.center_of_mass`` of the whole array."""
    need(labels is None and index is None, "labels of scipy.ndimage.center_of_mass are not supported")
    total = np.sum(input)
    places = np.indices(np.shape(input))
    return tuple([np.sum(input * places[axis]) / total for axis in range(np.ndim(input))])


IMAGES: dict[str, Callable[..., Any]] = (
    named(correlate1d, convolve1d, correlate, convolve, sobel, prewitt, gaussian_filter1d, gaussian_filter, uniform_filter1d, laplace)
    | named(uniform_filter, gaussian_laplace, map_coordinates, gaussian_gradient_magnitude, center_of_mass, maximum_filter=of_box(np.max))
    | named(minimum_filter=of_box(np.min), median_filter=of_box(middle_of))
)
