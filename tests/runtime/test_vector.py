"""Vectorisable functions of kernels: within 2 ulps of mpmath, at the ends of their domains, as machine code and text."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import symgrad.ops.rows.elementwise  # noqa: F401  fills the table of rows
from symgrad.ops.declare import ROWS
from symgrad.runtime.find import find
from symgrad.runtime.vector_text import MODULES, VECTOR, fingerprint, needed, path_of, source

sys.path.insert(0, str(Path(__file__).parent))
from polynomials import POLYNOMIALS, fit

numba = pytest.importorskip("numba")

INF, NAN, TINY, HUGE = math.inf, math.nan, 5e-324, sys.float_info.max
#: the rows that are compared; float_power is power
NAMES = sorted(set(VECTOR) - {"float_power"})
BINARY = {"power", "arctan2"}
EXACT: dict[str, Callable[..., Any]] = {
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "arctan": mpmath.atan,
    "arctan2": mpmath.atan2,
    "exp2": lambda x: mpmath.power(2, x),
    "log10": lambda x: mpmath.log(x) / mpmath.log(10),
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
}


@cache
def loop(name: str) -> Callable[..., Any]:
    """A compiled loop over the function of a row."""
    function = find(VECTOR[name])

    def one(x, out):
        for i in range(len(x)):
            out[i] = function(x[i])

    def two(x, y, out):
        for i in range(len(x)):
            out[i] = function(x[i], y[i])

    return numba.njit(error_model="numpy")(two if name in BINARY else one)


def at(name: str, *args: Any) -> np.ndarray:
    arrays = np.broadcast_arrays(*(np.asarray(a, float) for a in args))
    out = np.empty(arrays[0].shape)
    loop(name)(*(np.ascontiguousarray(a) for a in arrays), out)
    return out


def off(got: float, exact: Any) -> float:
    """How far the float is from the number, in units of the last place of that number."""
    if math.isinf(got):
        return 0.0 if abs(exact) >= mpf(2) ** 1024 * (1 - mpf(2) ** -54) and (got > 0) == (exact > 0) else INF
    exponent = int(mpmath.floor(mpmath.log(abs(exact), 2))) if exact else -1074
    return float(abs(mpf(got) - exact) / mpf(2) ** max(exponent - 52, -1074))


def samples(name: str, random: np.random.Generator, n: int) -> list[tuple[np.ndarray, ...]]:
    """Points where the function is neither of its limits: everywhere, near what is delicate, and very small."""

    def even(low: float, high: float) -> np.ndarray:
        return random.uniform(low, high, n)

    def sizes(low: float, high: float) -> np.ndarray:
        return np.exp(random.uniform(math.log(low), math.log(high), n)) * random.choice([-1.0, 1.0], n)

    small = [sizes(TINY, 1e-3), sizes(1e-3, 1.0)]
    positive = [abs(sizes(TINY, HUGE)), abs(sizes(TINY, 3e-308)), even(0.5, 2), 1 + sizes(1e-15, 0.3)]
    quadrants = random.integers(1, 667544, n) * (math.pi / 2)
    circular = [even(-10, 10), even(-(2**20), 2**20), quadrants, np.nextafter(quadrants, 0), *small, sizes(2**20, HUGE)]
    ranges: dict[str, list[Any]] = {
        "arctan": [sizes(TINY, HUGE), even(-4, 4), *small],
        "arctan2": [(even(-1, 1), even(-1, 1)), (sizes(TINY, HUGE), sizes(TINY, HUGE)), (sizes(1e307, HUGE), sizes(1e307, HUGE))],
        "cbrt": [sizes(TINY, HUGE), even(-10, 10), sizes(TINY, 3e-308), np.floor(even(1, 100)) ** 3],
        "cos": circular,
        "cosh": [even(-710.4, 710.4), even(-3, 3), *small],
        "erf": [even(-6, 6), even(-2, 2), even(1.2, 1.3), *small],
        "exp": [even(-745, 709.7), even(-745, -707), even(-1, 1), *small],
        "exp2": [even(-1074, 1024), even(-1074, -1020), even(-1, 1), *small],
        "expm1": [even(-60, 709.7), even(-2, 2), *small],
        "log": positive,
        "log10": positive,
        "log1p": [abs(sizes(1e-3, HUGE)), even(-1, 1), abs(sizes(1e-16, 0.5)) - 1, *small],
        "log2": positive,
        "power": [(abs(sizes(1e-300, 1e300)), even(-1, 1)), (even(0.5, 2), even(-1000, 1000)), (even(0, 10), even(-10, 10)),
                  (1 + sizes(1e-15, 1e-3), sizes(1e3, 1e14)), (abs(sizes(TINY, 1e-308)), even(-0.99, 0.99)),
                  (even(0.01, 100), even(-161, 161)), (even(-9, 0), np.floor(even(-40, 40)))],
        "sin": circular,
        "sinh": [even(-710.4, 710.4), even(-3, 3), *small],
        "tan": circular,
        "tanh": [even(-20, 20), even(-1, 1), even(-0.1, 0.1), *small],
    }  # fmt: skip
    return [points if isinstance(points, tuple) else (points,) for points in ranges[name]]


def compare(name: str, random: np.random.Generator, n: int) -> None:
    exact = EXACT.get(name, getattr(mpmath, name, None))
    assert exact is not None
    worst, where = 0.0, None
    with mpmath.workprec(160):
        for points in samples(name, random, n):
            for got, *args in zip(at(name, *points), *points):
                if (wrong := off(float(got), exact(*map(mpf, map(float, args))))) > worst:
                    worst, where = wrong, args
    print(f"{name}: {worst:.3f} at {where}")

    assert worst <= 2, f"{name}({where}) is off by {worst} units in the last place"


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_within_two_units_in_the_last_place(name: str, random: np.random.Generator) -> None:
    compare(name, random, 150)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_within_two_units_everywhere(name: str) -> None:
    compare(name, np.random.default_rng(7), 20000)


#: arguments and results where C99 (annex F.9) leaves no choice, or where the result is exact
ENDS: dict[str, list[tuple[Any, ...]]] = {
    "arctan": [(0.0, 0.0), (-0.0, -0.0), (INF, math.pi / 2), (-INF, -math.pi / 2), (TINY, TINY), (-TINY, -TINY), (NAN, NAN)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (27.0, 3.0), (-8.0, -2.0), (2.0**-1074, 2.0**-358), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (TINY, 1.0)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (711.0, INF), (-HUGE, INF), (NAN, NAN), (TINY, 1.0)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (6.0, 1.0), (-HUGE, -1.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN)],
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (709.7827128933841, INF), (HUGE, INF),
            (-HUGE, 0.0), (-745.1332191019412, 0.0), (-745.133219101941, TINY), (NAN, NAN)],
    "exp2": [(0.0, 1.0), (10.0, 1024.0), (1023.0, 2.0**1023), (1024.0, INF), (HUGE, INF), (-1022.0, 2.0**-1022), (-1074.0, TINY),
             (-1075.0, 0.0), (-1074.9, TINY), (-HUGE, 0.0), (INF, INF), (-INF, 0.0), (NAN, NAN)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, INF), (-INF, -1.0), (-HUGE, -1.0), (HUGE, INF), (NAN, NAN)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-TINY, NAN), (-INF, NAN), (NAN, NAN)],
    "log10": [(1.0, 0.0), (10.0, 1.0), (1000.0, 3.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (-1.0, -INF), (-1.5, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)],
    "log2": [(1.0, 0.0), (8.0, 3.0), (TINY, -1074.0), (2.0**1023, 1023.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, INF), (-INF, -INF), (711.0, INF), (-HUGE, -INF), (NAN, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY), (INF, 1.0), (-INF, -1.0), (20.0, 1.0), (-HUGE, -1.0), (NAN, NAN)],
}  # fmt: skip
#: values that matter to a power or an angle
CORNERS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, -2.5, INF, -INF, NAN, TINY, -TINY, HUGE, -HUGE, 2.0**53, 2.0**53 - 1,
           -(2.0**53) + 1, 1 - 2.0**-53, 1 + 2.0**-52, 1e300, -1e-300]  # fmt: skip


def same(x: float, y: float) -> bool:
    """Whether the two are one float, zeros with their sign; or both NaN."""
    return (x != x and y != y) or struct.pack("d", x) == struct.pack("d", y)


@pytest.mark.parametrize("name", ENDS)
def test_ends_are_as_c99_has_them(name: str) -> None:
    # alone and several at once, because what is left over of a loop runs element by element
    for repeat in (1, 16):
        for (arg, expected), got in zip(ENDS[name] * repeat, at(name, [a for a, _ in ENDS[name]] * repeat)):
            assert same(float(got), expected), f"{name}({arg}) is {got}, not {expected}"


def test_every_function_of_one_argument_has_its_ends_tested() -> None:
    assert set(ENDS) == set(NAMES) - BINARY


@pytest.mark.parametrize("name", sorted(BINARY))
def test_corners_of_powers_and_angles_are_those_of_the_c_library(name: str) -> None:
    x, y = (a.ravel() for a in np.meshgrid(CORNERS, CORNERS))
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, y)
    for a, b, got, reference in zip(x, y, at(name, x, y), expected):
        close = math.isfinite(reference) and reference != 0 and abs(got - reference) <= 2 * math.ulp(reference)
        assert close or same(float(got), float(reference)), f"{name}({a}, {b}) is {got}, not {reference}"


@pytest.mark.parametrize("name", ["cos", "sin", "tan"])
def test_circular_functions_beyond_their_reduction_are_the_c_librarys(name: str) -> None:
    x = np.array([1.0, 2.0**20, np.nextafter(2.0**20, INF), 1e9, -1e9, 1e22, -1e300, 0.5, 3.0, -4.0, 1e7, INF])

    for arg, got in zip(x[:-1], at(name, x)):
        assert abs(got - getattr(math, name)(arg)) <= 2 * math.ulp(got)


# ------------------------------------------------------------------ as machine code


@pytest.mark.parametrize("name", NAMES)
def test_loops_are_vectorised(name: str) -> None:
    binding = pytest.importorskip("llvmlite.binding")
    if not binding.get_host_cpu_features().get("avx2"):
        pytest.skip("the registers of other machines have other names")
    at(name, *[[0.5]] * (2 if name in BINARY else 1))
    (asm,) = loop(name).inspect_asm().values()

    assert asm.count("ymm") + asm.count("zmm") > 60


def test_two_rare_branches_in_one_loop_are_vectorised() -> None:
    sin, cos = find("vector_sin"), find("vector_cos")

    @numba.njit(error_model="numpy")
    def both(x, out):
        for i in range(len(x)):
            out[i] = sin(x[i]) * cos(x[i])

    x = np.array([0.3, 1e9, -2.0, 1e300])
    out = np.empty(4)
    both(x, out)

    np.testing.assert_allclose(out, np.sin(x) * np.cos(x), rtol=1e-15)


def test_float32_and_integers_are_computed_as_float64() -> None:
    x = np.linspace(-3, 3, 50, dtype=np.float32)
    out = np.empty_like(x)
    loop("exp")(x, out)
    np.testing.assert_array_equal(out, np.exp(x.astype(float)).astype(np.float32))

    whole = np.empty(3)
    loop("log")(np.array([1, 2, 3]), whole)
    np.testing.assert_allclose(whole, np.log([1, 2, 3]), rtol=3e-16)


# ------------------------------------------------------------------ as text


def test_the_table_names_rows_and_functions() -> None:
    assert set(VECTOR) <= set(ROWS)
    for name in VECTOR.values():
        assert callable(find(name))


@pytest.mark.parametrize("name", ["exp", "power", "sin"])
def test_text_runs_alone_and_computes_the_same(name: str) -> None:
    text = source([VECTOR[name]])
    space: dict[str, Any] = {"__name__": "alone"}
    exec(compile(text, "<alone>", "exec"), space)
    args = (0.7, 1.3) if name in BINARY else (0.7,)

    assert "import symgrad" not in text
    assert "from symgrad" not in text
    assert space[VECTOR[name]](*args) == at(name, *[[a] for a in args])[0]


def test_text_has_what_is_needed_and_nothing_twice() -> None:
    names = needed(VECTOR.values())
    text = source(VECTOR.values())

    assert len(names) == len(set(names))
    assert text.count("def bits(") == 1
    assert source(["vector_exp", "vector_log"]) == source(["vector_log", "vector_exp"])
    assert "vector_sin" not in source(["vector_exp"])
    with pytest.raises(ValueError, match="no vector functions: nothing"):
        source(["nothing"])


def test_fingerprint_is_that_of_the_text() -> None:
    code = "import sys; from symgrad.runtime.vector_text import fingerprint; print(fingerprint()); assert 'numba' not in sys.modules"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=path_of("vector").parents[2])

    assert ran.stdout.strip() == fingerprint()


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_coefficients_are_those_of_the_fit(name: str) -> None:
    text = "\n\n\n".join(path_of(module).read_text() for module in MODULES)
    body = text[text.index(f"def {name}(") :].split("\n\n\n")[0]

    assert all(repr(c) in body for c in fit(POLYNOMIALS[name]))


@pytest.mark.parametrize("name", ["vector_sin", "vector_cos", "vector_tan"])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float32, np.float64])
def test_a_loop_that_stores_bytes_takes_no_variant_that_is_only_declared(name: str, dtype: type) -> None:
    """A register holds most elements where all that a loop stores are bytes."""
    function = find(name)
    plain = {"vector_sin": np.sin, "vector_cos": np.cos, "vector_tan": np.tan}[name]

    @numba.njit(error_model="numpy")
    def stored(out):
        for i in range(len(out)):
            out[i] = function(np.float64(i)) > 0.2

    for size in (0, 1, 7, 63, 64, 65, 1000):
        out = np.zeros(size, dtype)
        stored(out)
        assert np.array_equal(out, (plain(np.arange(size, dtype=float)) > 0.2).astype(dtype))
