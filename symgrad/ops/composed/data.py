"""Functions of Python's ``statistics``, expressed by sums and NumPy functions; each result has the class that Python returns.

Formulas: the Python documentation of ``statistics``. Python sums fractions; these sum floats, in which the last digits may differ.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, need
from symgrad.tables import counterparts

ONE_AXIS = "functions of statistics are supported for lists, tuples and arrays of one axis"


def listed(data: Any, least: int, error: str) -> Any:
    """The items of data; an array stays one. Of fewer than ``least`` of them Python raises."""
    items = data if isinstance(data, np.ndarray) else list(data)
    if isinstance(items, np.ndarray):
        need(items.ndim == 1, ONE_AXIS)
    if len(items) < least:
        raise statistics.StatisticsError(error)
    return items


def average(items: Any) -> Any:
    """The mean of items, of their own class."""
    return np.mean(items) if isinstance(items, np.ndarray) else sum(items) / len(items)


def squares(items: Any, centre: Any) -> Any:
    """The sum of the squares of items about a centre, or about their mean."""
    middle = average(items) if centre is None else centre
    if isinstance(items, np.ndarray):
        return np.sum((items - middle) ** 2)
    return sum([(item - middle) ** 2 for item in items])


def mean(data: Any) -> Any:
    """``statistics.mean``."""
    return average(listed(data, 1, "mean requires at least one data point"))


def fmean(data: Any, weights: Any = None) -> Any:
    """``statistics.fmean``."""
    items = listed(data, 1, "fmean requires at least one data point")
    if weights is None:
        return math.fsum(items) / len(items)
    factors = listed(weights, 0, "")
    if len(factors) != len(items):
        raise statistics.StatisticsError("data and weights must be the same length")
    total = math.fsum(factors)
    if total == 0.0:
        raise statistics.StatisticsError("sum of weights must be non-zero")
    return math.fsum([item * factor for item, factor in zip(items, factors)]) / total


def geometric_mean(data: Any) -> Any:
    """``statistics.geometric_mean``."""
    error = "geometric mean requires a non-empty dataset containing positive numbers"
    items = listed(data, 1, error)
    for item in items:
        if item <= 0.0:
            raise statistics.StatisticsError(error)
    return math.exp(math.fsum([math.log(item) for item in items]) / len(items))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """``statistics.harmonic_mean``."""
    need(weights is None, "weights of statistics.harmonic_mean are not supported")
    items = listed(data, 1, "harmonic_mean requires at least one data point")
    has_zero = False
    for item in items:
        if item < 0.0:
            raise statistics.StatisticsError("harmonic mean does not support negative values")
        has_zero = has_zero or item == 0.0
    if has_zero:
        return 0.0
    return len(items) / sum([1.0 / item for item in items])


def variance(data: Any, xbar: Any = None) -> Any:
    """``statistics.variance``."""
    items = listed(data, 2, "variance requires at least two data points")
    return squares(items, xbar) / (len(items) - 1)


def pvariance(data: Any, mu: Any = None) -> Any:
    """``statistics.pvariance``."""
    items = listed(data, 1, "pvariance requires at least one data point")
    return squares(items, mu) / len(items)


def stdev(data: Any, xbar: Any = None) -> Any:
    """``statistics.stdev``."""
    items = listed(data, 2, "stdev requires at least two data points")
    if xbar is None:
        return float(np.std(items, ddof=1))
    return math.sqrt(squares(items, xbar) / (len(items) - 1))


def pstdev(data: Any, mu: Any = None) -> Any:
    """``statistics.pstdev``."""
    items = listed(data, 1, "pstdev requires at least one data point")
    return float(np.std(items)) if mu is None else math.sqrt(squares(items, mu) / len(items))


def median(data: Any) -> Any:
    """``statistics.median``."""
    items = sorted(listed(data, 1, "no median for empty data"))
    half = len(items) // 2
    return items[half] if len(items) % 2 == 1 else (items[half - 1] + items[half]) / 2


def median_low(data: Any) -> Any:
    """``statistics.median_low``."""
    items = sorted(listed(data, 1, "no median for empty data"))
    return items[(len(items) - 1) // 2]


def median_high(data: Any) -> Any:
    """``statistics.median_high``."""
    items = sorted(listed(data, 1, "no median for empty data"))
    return items[len(items) // 2]


def quantiles(data: Any, *, n: Any = 4, method: Any = "exclusive") -> Any:
    """``statistics.quantiles``."""
    if n < 1:
        raise statistics.StatisticsError("n must be at least 1")
    need(method == "exclusive" or method == "inclusive", "the method of statistics.quantiles is 'exclusive' or 'inclusive'")
    items = sorted(listed(data, 2, "must have at least two data points"))
    count = len(items)
    span = count - 1 if method == "inclusive" else count + 1
    cuts = []
    for k in range(1, n):
        place = k * span // n + (1 if method == "inclusive" else 0)
        place = min(max(place, 1), count - 1)
        rest = k * span - (place - (1 if method == "inclusive" else 0)) * n
        cuts.append((items[place - 1] * (n - rest) + items[place] * rest) / n)
    return cuts


def deviations(x: Any, y: Any, called: str) -> Any:
    """Two samples of one length, about their means."""
    if len(x) != len(y):
        raise statistics.StatisticsError(f"{called} requires that both inputs have same number of data points")
    if len(x) < 2:
        raise statistics.StatisticsError(f"{called} requires at least two data points")
    return x - np.mean(x), y - np.mean(y)


def covariance(x: Numbers, y: Numbers, /) -> Any:
    """``statistics.covariance``."""
    left, right = deviations(x, y, "covariance")
    return float(np.sum(left * right)) / (len(x) - 1)


def correlation(x: Numbers, y: Numbers, /) -> Any:
    """``statistics.correlation``, the linear one."""
    left, right = deviations(x, y, "correlation")
    spread = float(np.sum(left * left)) * float(np.sum(right * right))
    if spread == 0.0:
        raise statistics.StatisticsError("at least one of the inputs is constant")
    return float(np.sum(left * right)) / math.sqrt(spread)


def linear_regression(x: Numbers, y: Numbers, /, *, proportional: Any = False) -> Any:
    """``statistics.linear_regression``."""
    left, right = deviations(x, y, "linear regression")
    if proportional:
        left, right = x, y
    spread = float(np.sum(left * left))
    if spread == 0.0:
        raise statistics.StatisticsError("x is constant")
    slope = float(np.sum(left * right)) / spread
    return statistics.LinearRegression(slope, 0.0 if proportional else float(np.mean(y)) - slope * float(np.mean(x)))


#: functions of Python's own module
OF_DATA: dict[Callable[..., Any], Callable[..., Any]] = counterparts(
    statistics, mean, fmean, geometric_mean, harmonic_mean, variance, pvariance, stdev, pstdev, median, median_low
) | counterparts(statistics, median_high, quantiles, covariance, correlation, linear_regression)
