"""Verified kernels called again with extreme numbers, infinities and NaN."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from targets import keep_kernels

import symgrad

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
NAMES = {"np": np, "math": math}


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def value_of(function: Callable[..., Any], arguments: Iterable[Any]) -> Any:
    """What a call gives, or the class of what it raises."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*arguments)
    except Exception as error:
        return type(error)


def is_same(actual: Any, expected: Any, digits: float) -> bool:
    """One class of exceptions, or one number but for last digits."""
    if isinstance(actual, type) or isinstance(expected, type):
        return actual is expected
    return bool(np.allclose(actual, expected, digits, 1e-322, equal_nan=True))


def check(text: str, first: tuple[Any, ...], later: Iterable[tuple[Any, ...]], jit: Any = True, digits: float = 1e-9) -> None:
    """The values of a derivative's later calls against those of the function itself."""
    function = symgrad.from_source(text, "f", NAMES)
    derivative = symgrad.value_and_grad(function, jit=jit)
    faults = {}
    for arguments in [first, *later]:
        if jit:
            keep_kernels(derivative)
        actual, expected = value_of(derivative, arguments), value_of(function, arguments)
        if isinstance(actual, type) and issubclass(actual, symgrad.errors.SymgradError) and actual is not symgrad.errors.Mismatch:
            continue  # it is refused: the order of nan, say, or a power that Python makes complex
        if not is_same(actual if isinstance(actual, type) else actual[0], expected, digits):
            faults[str(arguments)] = (actual, expected)
    assert not faults


# ------------------------------------------------------------------ numbers

#: functions of one number of ``math``, of ``np``, and of two numbers
OF_ONE = """acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor gamma lgamma log log10 log1p log2
    radians sin sinh sqrt tan tanh trunc isnan isinf isfinite"""
OF_ONE_IN_NUMPY = """sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt
    square abs sign rint floor ceil trunc negative reciprocal deg2rad rad2deg isnan isfinite signbit i0"""
OF_TWO = "atan2 copysign hypot pow log"
OF_TWO_IN_NUMPY = """floor_divide mod remainder fmod maximum minimum fmax fmin hypot arctan2 copysign heaviside logaddexp logaddexp2 greater
    equal less_equal logical_and divide"""
OTHERS = """
    x / y|x // y|x % y|x ** y|divmod(x, y)[0]|divmod(x, y)[1]|max(x, y)|min(x, y)|max(y, x, 1.0)|x < y|x and y|x or y|x == x
    sorted([x, y])[0]|sorted([y, 1.0, x])[-1]|np.clip(x, y, 2.0)|np.where(x > y, x, y)|abs(x - y) ** y|x ** 0.5|x ** -1|2.0 ** x|0 < x <= y
    (x > y) * x|math.prod([x, y])|np.prod([x, y])|np.median([x, y])|np.cumsum([x, y])[-1]|math.dist([x, y], [0.0, 1.0])
    math.dist((x, y, 1.0), (y, y, 1.0))|int(x)|round(x)|math.floor(x)|int(x) % 7|int(x) + round(y)|float(int(x))|int(x) == y
    int(x) << 1|math.modf(x)[0]|math.modf(x)[1]|np.modf(x)[0]|[1.0, 2.0, 3.0][int(y)]|range(3)[int(y)]
"""
EXPRESSIONS = [f"math.{name}(x)" for name in OF_ONE.split()] + [f"np.{name}(x)" for name in OF_ONE_IN_NUMPY.split()]
EXPRESSIONS += [f"math.{name}(x, y)" for name in OF_TWO.split()] + [f"np.{name}(x, y)" for name in OF_TWO_IN_NUMPY.split()]
EXPRESSIONS += [text.strip() for line in OTHERS.strip().split("\n") for text in line.split("|")]
ENDS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e308, -1e308, 5e-324, 0.1, 700.0, 2.0**53, 1e19, -(2.0**63), math.inf, -math.inf, math.nan]
WHOLE = [0, 1, -1, 2, -7, 63, 65, 2**53 + 1, 2**62, -(2**63), 2**63 - 1]
NARROW = [np.float32(v) for v in (*ENDS[:7], 3e38, 1e-45, *ENDS[10:])]
OPERANDS = {
    "float": ((0.5, 0.25), ENDS, ENDS),
    "float64": ((np.float64(0.5), np.float64(0.25)), [np.float64(v) for v in ENDS], [np.float64(v) for v in ENDS]),
    "float32": ((np.float32(0.5), np.float32(0.25)), NARROW, NARROW),
    "float and int": ((0.5, 2), ENDS, WHOLE),
    "int and float": ((2, 0.5), WHOLE, ENDS),
}


@pytest.mark.sweep(24)
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("kind", OPERANDS)
def test_numbers_at_the_ends_of_floats(kind: str, expression: str) -> None:
    first, *both = OPERANDS[kind]
    digits = 3e-6 if kind == "float32" else 1e-11
    later = [(1.0, x, y) for x, y in itertools.product(*both)]
    check(f"def f(a, x, y):\n    return a * ({expression})\n", (1.0, *first), later, digits=digits)


# ------------------------------------------------------------------ arrays

#: sums whose terms cancel, but not where one is infinite or nan
CANCELLED = """
    np.sum(x - x)|np.sum(x * x[0] - x[0] * x)|np.mean(x - x)|np.sum(np.diff(x))|np.sum(np.roll(x, 1) - x)|np.sum(x + 1.0 - x)
    np.sum(np.stack([x, -x], axis=1))|np.sum(np.cross(x[:3], x[:3]))|np.sum(np.array([x[0] - x[1], x[1] - x[0]]))|np.sum(x[:, None] - x)
    np.sum(np.array([x[0], -x[0], x[1]]) * 2)|np.array([x[0], x[1], 1.0]) @ np.array([1.0, -1.0, 1.0])|np.sum(x) - np.sum(x)
"""


@pytest.mark.sweep(3)
@pytest.mark.parametrize("expression", [text.strip() for text in CANCELLED.replace("\n", "|").split("|") if text.strip()])
def test_terms_that_cancel_are_not_taken_for_zero(expression: str) -> None:
    vectors = [np.array(v) for n in (2, 3, 4) for v in itertools.product([0.0, 1.5, math.nan, math.inf, -math.inf], repeat=n)]
    text = f"def f(a, x):\n    return a * {expression}\n"
    check(text, (1.0, np.array([0.5, 0.25, 0.75])), [(1.0, x) for x in vectors])


#: products of floats of 32 bits, and other numbers that grow, overflow and are divided again
PRODUCTS = """
    np.prod(x) / x[0]|np.cumprod(x)[-1] / x[0]|np.sum(np.cumprod(x))|np.prod(x, axis=0) / x[0]|np.max(np.cumsum(x)) - x[1]
    np.prod(np.stack([x, x]), axis=1)[1] / x[0]|np.outer(x, x)[0, 1] / x[0]|x[0] * x[1] / x[2]|np.cumsum(x)[-1] - x[0]
"""


@pytest.mark.sweep(3)
@pytest.mark.parametrize("expression", [text.strip() for text in PRODUCTS.replace("\n", "|").split("|") if text.strip()])
def test_products_overflow_in_the_dtype_of_their_factors(expression: str) -> None:
    numbers = [1e30, 1e-30, 3e38, -3e38, 1e-45, 0.0, 2.0, math.inf, math.nan]
    vectors = [np.float32(v) for v in itertools.product(numbers, repeat=3)]
    text = f"def f(a, x):\n    return a * {expression}\n"
    check(text, (1.0, np.float32([0.5, 0.25, 0.75])), [(1.0, x) for x in vectors], digits=1e-5)


#: of a vector and a number
OF_VECTORS = """
    np.sum(x)|np.mean(x)|np.max(x)|np.min(x)|np.prod(x)|np.var(x)|np.argmax(x)|np.any(x)|np.all(x)|np.median(x)|np.ptp(x)|np.nanmax(x)
    np.nanmean(x)|np.nansum(x)|np.sort(x)|np.argsort(x)|np.cumsum(x)|np.diff(x)|np.maximum(x, y[0])|np.clip(x, -1.0, y[0])|x[x > 0]
    np.max(x[x > 0])|np.mean(x[x < 0])|x // y[0]|x % y[0]|np.floor_divide(x, y[0])|np.fmod(x, y[0])|x ** y[0]|x ** 0.5|max(x)|min(x)
    sorted(x)[0]|x[::-1]|x[2]|x[-3]|np.searchsorted(x, y[0])|np.interp(x, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0])|x @ x|np.linalg.norm(x)
    np.quantile(x, 0.3)|x[np.argmin(x)]|x.astype(int)|x.astype(np.int8)|np.round(x, 1)|np.convolve(x, x)|np.gradient(x)|np.repeat(x, 2)
    np.pad(x, 1, mode='edge')|np.var(x, ddof=1)|np.maximum.accumulate(x)|np.select([x > 1, x > 0], [x, 2 * x], 0.0)|np.modf(x)[0]
    x[[0, 0, -1]]|np.max(x, initial=0.0)|np.heaviside(x, y[0])|np.logaddexp(x, y[0])|[v for v in x if v > 0]|max(x, key=abs)|len(x)
    x[int(y[0])]|x[:int(y[0])]|np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x)))|max(range(len(x)), key=lambda i: x[i])
    next((v for v in x if v > 0), 0.0)|np.bincount(np.abs(x).astype(int) % 5)|(x > 0) & (x < 1)|np.digitize(x, [0.0, 1.0])
"""
VECTORS = [
    np.array(v) for v in itertools.product([0.0, -0.0, -1.5, 5e-324, math.inf, -math.inf, math.nan], [0.0, 1.0, math.nan], [2.5, -math.inf])
]
VECTORS += [
    np.array(v) for v in ([], [1.0], [math.nan], [-0.0], [3.0, 2.0, 2.0, 3.0, 1.0], [math.nan, 1.0, math.nan, 2.0], [1e19, -(2.0**63)])
]
VECTORS += [np.arange(9.0)[::-2], np.linspace(0.1, 1, 40)[::3], np.zeros(70), -np.ones((5, 2))[:, 1]]


@pytest.mark.sweep(24)
@pytest.mark.parametrize("expression", [text.strip() for text in OF_VECTORS.replace("\n", "|").split("|") if text.strip()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("jit", [True, False], ids=["numba", "numpy"])
def test_vectors_of_other_lengths_layouts_and_values(jit: bool, dtype: Any, expression: str) -> None:
    numbers = [[0.25], [0.0], [-1.5], [math.nan], [2.0], [-3.0], [-math.inf]] if "y[0]" in expression else [[0.25]]
    later = [(1.0, x.astype(dtype), np.array(y, dtype)) for x, y in itertools.product(VECTORS, numbers)]
    text = f"def f(a, x, y):\n    return np.sum(a * np.asarray({expression}))\n"
    check(text, (1.0, np.array([0.5, 0.25, 0.75], dtype), np.array([1.0], dtype)), later, jit, 2e-4 if dtype is np.float32 else 1e-9)


# ------------------------------------------------------------------ indices

#: places in arrays of which a later call has none, or none that can be read
PLACES = {
    "of rows": "return a * np.sum(m[[0, k, 0]])",
    "of columns": "return a * np.sum(m.T[:, [0, k]])",
    "of elements": "return a * np.sum(x[[0, k, 0]])",
    "in a list": "idx = [i for i in range(len(x)) if x[i] > k]\n    return a * np.sum(x[idx])",
    "in a list of a loop": "idx = []\n    for i in range(k):\n        idx.append(i)\n    return np.sum(m[idx] * a)",
    "in an array": "idx = np.array([i for i in range(len(x)) if x[i] > k])\n    return a * np.sum(x[idx])",
    "stored to": "idx = [i for i in range(len(x)) if x[i] > k]\n    y = x * 1.0\n    y[idx] = a\n    return np.sum(y * y)",
    "added to": "idx = [i for i in range(len(x)) if x[i] > k]\n    y = np.zeros(3)\n    y[idx] += a * x[idx]\n    return np.sum(y * y)",
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("body", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("jit", [True, False], ids=["numba", "numpy"])
def test_places_that_are_none_or_outside(jit: bool, body: str) -> None:
    vectors = [np.array([1.5, 2.0, 3.5]), np.zeros(3), np.array([])]
    matrices = [np.ones((3, 2)), np.ones((3, 0)), np.ones((0, 2)), np.ones((0, 0))]
    later = [(0.5, x, m, k) for x in vectors for m in matrices for k in (0, 1, 2, 3, 4, -3, -4)]
    check(f"def f(a, x, m, k):\n    {body}\n", (0.5, vectors[0], matrices[0], 1), later, jit)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "function", ["np.linalg.det(m)", "np.sum(np.linalg.inv(m))", "np.linalg.norm(m)", "np.sum(np.linalg.solve(m, m[0]))"]
)
@pytest.mark.parametrize("jit", [True, False], ids=["numba", "numpy"])
def test_matrices_that_are_not_finite(jit: bool, function: str) -> None:
    first = np.eye(3) + 0.1
    later = [
        first * math.nan,
        first * math.inf,
        first * 0.0,
        np.where(first > 1, math.nan, 1.0),
        np.full((2, 2), math.nan),
        np.ones((1, 1)),
    ]
    check(f"def f(a, m):\n    return a * {function}\n", (0.5, first), [(0.5, m) for m in later], jit)
    if "det" in function:
        gradient = symgrad.grad(symgrad.from_source("def f(m):\n    return np.sum(np.linalg.det(m))\n", "f", NAMES), jit=jit)
        stack = np.stack([first, first * math.nan])
        with np.errstate(invalid="ignore"):
            finite, other = gradient(stack)
        np.testing.assert_allclose(finite, np.linalg.det(first) * np.linalg.inv(first).T, rtol=1e-12)
        assert np.isnan(other).all()
