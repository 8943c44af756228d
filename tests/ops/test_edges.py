"""NumPy functions at the ends of their domains: infinite points, and numbers in place of arrays.

Products against NumPy.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

INF = np.inf
POINTS = ([0.0, 1, 2, 3], [-INF, 0, 1, 2], [0, 1, 2, INF], [-INF, 0, 1, INF], [-INF, INF], [0.0, 1, 1, 2], [1.0, 1.0], [0.5])
HEIGHTS = {"finite": {}, "first": {0: INF}, "last": {-1: -INF}, "middle": {1: INF}, "flat": dict.fromkeys(range(-4, 4), 2.0)}
AT = np.array([-INF, -3.0, 0, 0.3, 0.5, 1, 1.4, 2, 2.5, 3, 5, INF, np.nan])


@pytest.mark.sweep(4)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("points", "heights"), list(product(POINTS, HEIGHTS)), ids=str)
def test_interpolation_between_infinite_points(points: list[float], heights: str) -> None:
    fp = np.cos(np.arange(len(points)) * 1.7)
    for place, value in HEIGHTS[heights].items():
        if -len(fp) <= place < len(fp):
            fp[place] = value
    function = function_of("import numpy as np\ndef f(x, xp, fp, s):\n    return np.interp(x, xp, fp) * s\n")
    verdict = judged(function, {"x": AT, "xp": np.array(points, float), "fp": fp, "s": 1.3}, kinks=True)
    assert verdict[0] == "right", verdict


#: what gives a number of NumPy's itself, what gives an array of it, and what the number is put to
OF_A_NUMBER = """np.transpose(s)|s.T|s.transpose()|np.squeeze(s)|s.squeeze()|np.reshape(s, ())|s.reshape(())|np.ravel(s)|s.ravel()|s.flatten()
np.reshape(s, (1, 1))|np.reshape(s, -1)|np.copy(s)|s.copy()|np.array(s)|np.asarray(s)|np.expand_dims(s, 0)|np.atleast_1d(s)|np.positive(s)|np.real(s)
np.broadcast_to(s, ()) * 1.0|np.broadcast_to(s, (2,)) * 1.0|s.astype(np.float32)|s.astype(float)|np.permute_dims(s)|s.conj()|s.item()|s.real|s[()]|s[...]
s[None]|np.interp(s, [0, 1.0], [1, 2.0])|np.interp(s, [0, 1.0], [1, 2.0], left=3.0)|np.interp(s, [0, 1.0], [1, 2.0], right=3.0)|np.interp(s, [0, 1.0], [1, 2.0], period=1.5)|np.interp(0.5, [0, 1], [s, 2.0])|np.sum(s)|np.max(s, axis=None)|np.mean(s)|np.cumsum(s)|np.sort(np.ravel(s))|np.clip(s, 0.0, 9.0)|np.round(s, 3)|s.round(3)|np.append(s, s)|np.modf(s)[0]|np.modf(s)[1]""".replace(
    "\n", "|"
).split("|")
AFTERWARDS = ("", "y += 1.0", "z = y\n    y *= s\n    y = y + z", "y = np.stack([y, y])")
NUMBERS: dict[str, Any] = {"numpy": np.float64(0.7), "python": 0.7, "array": np.array(0.7), "narrow": np.float32(0.75)}


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("text", "after", "number"), list(product(OF_A_NUMBER, AFTERWARDS, NUMBERS)), ids=str)
def test_functions_of_arrays_of_a_number(text: str, after: str, number: str) -> None:
    source = f"import numpy as np\ndef f(a, b):\n    s = a * b\n    y = {text}\n    {after or 'pass'}\n    return y * s\n"
    value = NUMBERS[number]
    verdict = judged(function_of(source), {"a": value, "b": value})
    assert verdict[0] in ("right", "not taken"), (source, verdict)


DEVIATIONS = ("np.std(x * x)", "np.std(x * x, axis=0)", "np.std(x * x, axis=-1, keepdims=True)", "x.std(ddof=0)", "np.nanstd(x * x)",
              "np.nanstd(x * x, axis=0)", "np.std(np.exp(x), axis=0, dtype=float)")  # fmt: skip


@pytest.mark.parametrize(("text", "shape"), list(product(DEVIATIONS, [(1,), (1, 3), (3, 1), (1, 1), (2,)])), ids=str)
def test_the_deviation_of_one_element_is_flat(text: str, shape: tuple[int, ...]) -> None:
    source = f"import numpy as np\ndef f(x, a):\n    return np.sum(np.cos(a * {text}))\n"
    x = 0.3 + 0.4 * np.arange(np.prod(shape)).reshape(shape)
    verdict = judged(function_of(source), {"x": x, "a": 1.3})
    assert verdict[0] == "right", (source, verdict)


SCIPY = ("special.huber(1.0, s)", "special.pseudo_huber(1.0, s)", "stats.expon.pdf(s)", "stats.expon.cdf(s)", "stats.expon.sf(s)",
         "stats.expon.logpdf(s)", "stats.laplace.cdf(s)", "stats.uniform.logpdf(s)", "stats.halfnorm.logpdf(s)",
         "stats.pareto.logpdf(1 + s, 2.0)")  # fmt: skip


@pytest.mark.parametrize("text", SCIPY)
def test_functions_of_scipy_give_numbers_for_numbers(text: str) -> None:
    """What is added to the one is not added to the other name of it."""
    source = f"import numpy as np\nfrom scipy import special, stats\ndef f(x):\n    s = x[0]\n    t = {text}\n    u = t\n    t += 1.0\n    return u * t\n"
    verdict = judged(function_of(source), {"x": np.array([0.31, 0.5])})
    assert verdict[0] == "right", (source, verdict)
