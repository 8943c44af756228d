"""Interpolation on regular grids, as in ``scipy.interpolate``: multilinear, or the nearest corner."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need


def points_of(xi: Any, rank: Any) -> Any:
    """Points as an array whose last axis is their coordinates."""
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*[np.asarray(x, dtype=float) for x in xi]), axis=-1)
    points = np.asarray(xi, dtype=float)
    return np.reshape(points, (-1, rank)) if np.ndim(points) == 1 else points


def shares(grid: Any, at: Any) -> Any:
    """The cell of each number along an axis (the first or last cell for numbers outside), and the relative position in it."""
    cell = np.clip(np.searchsorted(grid, at, side="right") - 1, 0, np.shape(grid)[0] - 2)
    return cell, (at - grid[cell]) / (grid[cell + 1] - grid[cell])


def between(grids: Any, values: Any, points: Any, method: Any) -> Any:
    """The values at points, those beyond the grid from the cell that is next to them."""
    corners: Any = [(1.0, ())]
    for axis, grid in enumerate(grids):
        cell, share = shares(grid, points[..., axis])
        if method == "nearest":
            corners = [(1.0, (*place, np.where(share <= 0.5, cell, cell + 1))) for _, place in corners]
            continue
        nearer = [(weight * (1.0 - share), (*place, cell)) for weight, place in corners]
        corners = nearer + [(weight * share, (*place, cell + 1)) for weight, place in corners]
    return sum([weight * values[place] for weight, place in corners])


class Grid:
    """``scipy.interpolate.RegularGridInterpolator`` of numbers on a grid."""

    def __init__(self, grid: Any, values: Any, method: Any, bounds_error: Any, fill_value: Any) -> None:
        self.grid = grid
        self.values = values
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        need(nu is None, "nu of RegularGridInterpolator is not supported")
        return at_points(self.grid, self.values, xi, self.method if method is None else method, self.bounds_error, self.fill_value)


def at_points(grids: Any, values: Any, xi: Any, method: Any, bounds_error: Any, fill_value: Any) -> Any:
    """The interpolated values at points; outside the grid ``fill_value``, or an extrapolation where that is None."""
    need(method in ("linear", "nearest"), "interpolation on grids is supported with the methods 'linear' and 'nearest'")
    points = points_of(xi, len(grids))
    inside: Any = True
    for axis, grid in enumerate(grids):
        inside = inside & (points[..., axis] >= grid[0]) & (points[..., axis] <= grid[-1])
    unknown = np.any(np.isnan(points), axis=-1)
    if bounds_error and not np.all(inside | unknown):
        raise ValueError("One of the requested xi is out of bounds")
    result = between(grids, values, np.where(unknown[..., None], 0.0, points), method)
    if fill_value is not None:
        result = np.where(inside, result, fill_value)
    return np.where(unknown, math.nan, result)


def grid_interpolator(
    points: Any,
    values: Numbers,
    method: Any = "linear",
    bounds_error: Any = True,
    fill_value: Any = math.nan,
    *,
    solver: Any = None,
    solver_args: Any = None,
) -> Any:
    """``scipy.interpolate.RegularGridInterpolator`` of scalar values on an ascending grid."""
    need(solver is None and solver_args is None, "interpolation on grids is supported without solver and solver_args")
    grids = [np.asarray(grid, dtype=float) for grid in points]
    values = np.asarray(values, dtype=float)
    need(np.ndim(values) == len(grids), "a grid of arrays is not supported: it takes one number at each place")
    for axis, grid in enumerate(grids):
        must(np.shape(grid)[0] == np.shape(values)[axis], "a grid must have as many places along each axis as there are values")
        must(
            np.shape(grid)[0] > 1 and np.all(grid[1:] > grid[:-1]),
            "a grid is supported that ascends along each axis, in two places at least",
        )
    return Grid(tuple(grids), values, method, bounds_error, fill_value)


def interpn(points: Any, values: Numbers, xi: Any, method: Any = "linear", bounds_error: Any = True, fill_value: Any = math.nan) -> Any:
    """``scipy.interpolate.interpn`` of scalar values on an ascending grid."""
    return grid_interpolator(points, values, method, bounds_error, fill_value)(xi)


GRIDS: dict[str, Callable[..., Any]] = {"RegularGridInterpolator": grid_interpolator, "interpn": interpn}
