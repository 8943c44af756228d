"""Forward mode: ``jvp`` against the reverse gradient and against differences; its arguments, trees and errors."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import os
import pickle
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from differences import derivative, direction_for, double, inner, same
from planted import anew, planted
from programs import PROGRAMS, Program
from test_corpus import positions, selected, tolerance, value_of

import symgrad
from symgrad.errors import BadArgument, IntegerArgument, NoDerivative, SymgradError
from symgrad.parameters import resolve_wrt
from symgrad.runtime import special, support
from symgrad.runtime.find import find
from symgrad.runtime.load import load

EVERY = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
#: programs that forward mode refuses, with the reason; the reverse takes them
REFUSED: dict[str, str] = {}


def without_integers(tangent: Any) -> Any:
    """A direction with None in the place of what has no tangent."""
    if isinstance(tangent, dict):
        return {key: without_integers(part) for key, part in tangent.items()}
    if isinstance(tangent, tuple) and hasattr(tangent, "_fields"):
        return type(tangent)(*map(without_integers, tangent))
    if isinstance(tangent, list | tuple):
        return type(tangent)(map(without_integers, tangent))
    if isinstance(tangent, float | complex) or isinstance(tangent, np.ndarray | np.generic) and tangent.dtype.kind in "fc":
        return tangent
    if hasattr(tangent, "__dict__"):
        changed = copy.copy(tangent)
        for name, part in vars(tangent).items():
            object.__setattr__(changed, name, without_integers(part))
        return changed
    return None


def in_direction(program: Program, jit: bool = False) -> None:
    """Hold one program's tangent to the inner product of its gradient, and to differences."""
    arguments = program.arguments(program.sizes[0])
    chosen = selected(program, arguments)
    direction = direction_for(chosen, np.random.default_rng(7))
    derived = symgrad.jvp(program.function, wrt=positions(program), jit=jit)
    if program.name in REFUSED:
        with pytest.raises(SymgradError):
            derived(arguments, without_integers(direction))
        return
    out, tangent = derived(arguments, without_integers(direction))

    assert same(arguments, program.arguments(program.sizes[0])), "an argument was written to"
    rounding = 1e-11 if tolerance(chosen) < 1e-6 else 4 * float(np.finfo(np.float32).eps)  # of sums of float32 in another order
    assert out == pytest.approx(program.function(*program.arguments(program.sizes[0])), rel=rounding, abs=1e-15)
    gradient = symgrad.grad(program.function, wrt=positions(program))(*program.arguments(program.sizes[0]))
    close = 1e-10 if tolerance(chosen) < 1e-6 else 1e-5
    assert tangent == pytest.approx(inner(gradient, direction), rel=close, abs=close)
    expected = derivative(value_of(program, program.sizes[0]), double(chosen), double(direction))
    assert tangent == pytest.approx(expected, rel=tolerance(chosen), abs=tolerance(chosen))


@pytest.mark.sweep(60)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
@EVERY
def test_every_program_forward_is_its_gradient_reversed(program: Program) -> None:
    in_direction(program)


@pytest.mark.sweep(60)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
@EVERY
def test_the_text_to_read_computes_the_same(program: Program) -> None:
    arguments = program.arguments(program.sizes[0])
    tangents = without_integers(direction_for(selected(program, arguments), np.random.default_rng(7)))
    derived = symgrad.jvp(program.function, wrt=positions(program))
    out, tangent = derived(arguments, tangents)
    text, entry = derived.source(optimize="read"), derived.compiled()
    space = dict(entry.__globals__)
    space.update({name: find(name) for module in (support, special) for name in vars(module) if name in text and name not in space})
    names = resolve_wrt(derived._options, program.function)
    bound = inspect.signature(program.function).bind(*program.arguments(program.sizes[0]))
    bound.apply_defaults()
    read = load(text, entry.__name__, space)(*bound.args, **bound.kwargs)(dict(zip(names, tangents, strict=True)))

    assert read == pytest.approx((out, tangent), rel=1e-12, abs=1e-14)


@pytest.mark.sweep(100)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning", "ignore::symgrad.errors.NotCompiled")
@EVERY
def test_every_program_forward_as_a_kernel(program: Program) -> None:
    pytest.importorskip("numba")
    in_direction(program, jit=True)


@pytest.mark.sweep(100)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.second], ids=lambda p: p.name)
def test_every_gradient_forward_is_its_differences(program: Program) -> None:
    """Forward over reverse: the product of the Hessian with a direction."""
    by = positions(program)[0]
    arguments = program.arguments(program.sizes[0])
    derived = symgrad.grad(program.function, wrt=by)
    generator = np.random.default_rng(1)
    seed, direction = direction_for(arguments[by], generator), direction_for(arguments[by], generator)
    _, product = symgrad.jvp(derived, arguments, (without_integers(direction),), wrt=by)
    narrowed = Program(program.function, program.group, program.arguments, program.sizes, by, True)
    expected = derivative(lambda t: inner(value_of(narrowed, program.sizes[0], derived)((t,)), seed), arguments[by], direction)

    assert same(arguments, program.arguments(program.sizes[0])), "an argument was written to"
    assert inner(product, seed) == pytest.approx(expected, rel=1e-6, abs=1e-6)


# ------------------------------------------------------------------ results and arguments


def matrix_function(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    hidden = np.tanh(w @ x)
    return np.outer(hidden, x) / np.sum(x * x)


def test_the_tangent_of_an_array_is_the_pullback_transposed() -> None:
    random = np.random.default_rng(0)
    x, w, dx, dw = random.normal(size=3), random.normal(size=(4, 3)), random.normal(size=3), random.normal(size=(4, 3))
    out, tangent = symgrad.jvp(matrix_function, (x, w), (dx, dw))
    value, pullback = symgrad.vjp(matrix_function, x, w)
    seed = random.normal(size=out.shape)

    np.testing.assert_array_equal(out, value)
    by_differences = (matrix_function(x + 1e-6 * dx, w + 1e-6 * dw) - matrix_function(x - 1e-6 * dx, w - 1e-6 * dw)) / 2e-6
    np.testing.assert_allclose(tangent, by_differences, rtol=1e-7, atol=1e-9)
    assert inner(pullback(seed), (dx, dw)) == pytest.approx(np.sum(seed * tangent), rel=1e-12)


class Point(NamedTuple):
    x: float
    y: np.ndarray


@dataclasses.dataclass
class Settings:
    rate: float
    steps: int


def tree_function(point: Point, settings: Settings, data: dict[str, Any]) -> dict[str, Any]:
    total = point.x * settings.rate
    for _ in range(settings.steps):
        total = total + np.sum(point.y) * data["scale"][0]
    return {"total": total, "parts": [point.y * total, settings.steps], "pair": (point.x, data["scale"][1])}


def test_trees_of_arguments_and_of_results() -> None:
    primals = (Point(1.5, np.array([0.5, 2.0])), Settings(0.3, 2), {"scale": [2.0, 3.0], "name": "n"})
    tangents = (Point(0.5, np.array([1.0, -1.0])), Settings(0.2, None), {"scale": [0.1, 0.7], "name": None})  # type: ignore[arg-type]
    out, tangent = symgrad.jvp(tree_function, primals, tangents)

    d_total = 0.5 * 0.3 + 1.5 * 0.2 + 2 * (0.0 * 2.0 + 2.5 * 0.1)
    total = 1.5 * 0.3 + 2 * 2.5 * 2.0
    assert out["total"] == pytest.approx(total) and tangent["total"] == pytest.approx(d_total)
    np.testing.assert_allclose(tangent["parts"][0], np.array([1.0, -1.0]) * total + primals[0].y * d_total)
    assert tangent["parts"][1] is None
    assert tangent["pair"] == (0.5, 0.7)


def test_wrt_keywords_and_auxiliary_results() -> None:
    def scaled(x: float, w: float, *more: float, power: int = 2) -> tuple[float, dict[str, float]]:
        return w * x**power + sum(more), {"x": x}

    assert symgrad.jvp(scaled, (3.0, 2.0), (1.0, 0.0), has_aux=True) == (18.0, 12.0, {"x": 3.0})
    assert symgrad.jvp(scaled, (3.0, 2.0), (1.0, 0.0), has_aux=True, power=3) == (54.0, 54.0, {"x": 3.0})
    assert symgrad.jvp(scaled, (3.0, 2.0), (1.0,), wrt="w", has_aux=True)[1] == 9.0
    assert symgrad.jvp(scaled, (3.0, 2.0), (1.0, 1.0), argnums=(1, 0), has_aux=True)[1] == 9.0 + 12.0
    assert symgrad.jvp(scaled, (3.0,), (1.0,), has_aux=True, w=2.0)[1] == 12.0
    assert symgrad.jvp(lambda x, w=2.0: x * w, (3.0,), (1.0,)) == (6.0, 2.0)
    assert symgrad.jvp(scaled, (3.0, 2.0, 5.0, 7.0), (0.0, 0.0, 1.0, 0.5), has_aux=True)[1] == 1.5


class Model:
    def __init__(self, w: np.ndarray) -> None:
        self.w = w

    def loss(self, x: np.ndarray, shift: float) -> float:
        return float(np.sum(np.sin(self.w * x))) + shift

    @symgrad.differentiable
    def decorated(self, x: np.ndarray) -> Any:
        return np.sum(self.w * x)


def test_methods() -> None:
    model, x, dx = Model(np.array([1.0, 2.0])), np.array([0.3, 0.4]), np.array([1.0, -1.0])
    out, tangent = symgrad.jvp(Model(np.array([1.0, 2.0])).decorated, (x,), (dx,))
    assert (out, tangent) == (pytest.approx(1.1), pytest.approx(-1.0))
    assert model.decorated.jvp((x,), (dx,))[1] == pytest.approx(-1.0)
    _, by_weights = symgrad.jvp(Model.decorated, (model, x), (Model(dx),), wrt="self")
    assert by_weights == pytest.approx(np.sum(dx * x))


def test_the_tangents_have_memory_of_their_own() -> None:
    def handed(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return x, x[1:], x + 1.0

    x, dx = np.ones(3), np.array([1.0, 2.0, 3.0])
    _, tangents = symgrad.jvp(handed, (x,), (dx,))

    assert all(np.array_equal(a, b) for a, b in zip(tangents, (dx, dx[1:], dx), strict=True))
    assert not any(np.shares_memory(one, dx) for one in tangents)
    assert not any(np.shares_memory(tangents[i], tangents[j]) for i in range(3) for j in range(i))
    assert all(one.flags.writeable for one in tangents)


def test_what_is_no_number_has_none_in_its_place() -> None:
    def mixed(x: float) -> Any:
        return {"x": x, "name": "name", "empty": {}, "list": [x, None, (2, "a")], "point": Point(x, x)}

    out, tangent = symgrad.jvp(mixed, (2.0,), (0.5,))
    assert out == mixed(2.0)
    assert tangent == {"x": 0.5, "name": None, "empty": {}, "list": [0.5, None, (None, None)], "point": Point(0.5, 0.5)}


def unknown_sum(x: Any, n: int) -> Any:
    return np.sum(x + np.polynomial.polynomial.polyfromroots(np.arange(n)))


def unknown_choice(x: Any, n: int) -> Any:
    u = np.polynomial.polynomial.polyfromroots(np.arange(n))
    return np.sum(np.where(u > 0, x, u)) + np.sum(np.maximum(x, u) * 2.0)


def unknown_column(x: Any, n: int) -> Any:
    return np.sum(x - np.polynomial.polynomial.polyfromroots(np.arange(n)).reshape(-1, 1))


@pytest.mark.parametrize("function", [unknown_sum, unknown_choice, unknown_column], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [1.5, np.array([1.5, 2.5, 0.5, 1.0])], ids=["number", "array"])
def test_values_of_which_nothing_is_known_have_tangents_of_their_shape(function: Any, x: Any) -> None:
    dx = 1.0 if isinstance(x, float) else np.array([1.0, 2.0, -1.0, 0.5])
    expected = (function(x + 1e-6 * dx, 3) - function(x - 1e-6 * dx, 3)) / 2e-6

    assert symgrad.jvp(function, (x, 3), (dx, None))[1] == pytest.approx(expected, rel=1e-7)


def test_one_object_has_one_tangent() -> None:
    def writes(x: np.ndarray, y: np.ndarray) -> Any:
        x[0] = 5.0
        return np.sum(x * y)

    x = np.ones(3)
    assert symgrad.jvp(writes, (np.ones(3), np.ones(3)), (x, 2.0 * x))[1] == 16.0
    for derive in (lambda: symgrad.jvp(writes, (x, x), (x, 2.0 * x)), lambda: symgrad.linearize(writes, x, x)):
        with pytest.raises(SymgradError, match="are the same object"):
            derive()
    assert symgrad.jvp(lambda x, y: np.sum(x * y), (x, x), (x, 2.0 * x))[1] == 9.0


def test_dtypes_are_those_of_results() -> None:
    x = np.ones(3, np.float32)
    out, tangent = symgrad.jvp(lambda x: (x * 2.0, np.sum(x), x.astype(np.float64)), (x,), (x,))

    assert [part.dtype for part in tangent] == [part.dtype for part in out] == [np.float32, np.float32, np.float64]


def test_complex_numbers() -> None:
    def spectrum(x: np.ndarray, z: complex) -> Any:
        y = np.fft.fft(x) * z
        return np.abs(y), np.conj(y) * y.real, np.imag(y)

    random = np.random.default_rng(0)
    x, dx = random.normal(size=4), random.normal(size=4)
    z, dz = 0.3 + 0.7j, 0.2 - 0.4j
    _, tangent = symgrad.jvp(spectrum, (x, z), (dx, dz))
    ends = [spectrum(x + step * dx, z + step * dz) for step in (1e-6, -1e-6)]

    for part, one, other in zip(tangent, *ends, strict=True):
        np.testing.assert_allclose(part, (one - other) / 2e-6, rtol=1e-6, atol=1e-8)


# ------------------------------------------------------------------ the source


def polynomial(x: float, w: float) -> float:
    y = x * x + 3.0 * w
    return y * w


def test_the_source_is_one_function_of_arguments_and_tangents() -> None:
    derived = symgrad.jvp(polynomial)
    text = derived.source(2.0, 3.0)
    space: dict[str, Any] = {}
    exec(text, space)

    assert "def polynomial_jvp(x, w, *, x_tangent, w_tangent):" in text
    assert space["polynomial_jvp"](2.0, 3.0, x_tangent=1.0, w_tangent=0.5) == derived((2.0, 3.0), (1.0, 0.5))
    assert "tape" not in text and "append" not in text


def test_nothing_is_kept_of_the_rounds_of_a_loop() -> None:
    def steps(x: np.ndarray, n: int) -> Any:
        for _ in range(n):
            x = np.sin(x) * 1.1
        return np.sum(x)

    text = symgrad.jvp(steps).source(np.ones(3), 5)

    assert "[None] *" not in text and "append" not in text


def test_a_derived_function_is_pickled_and_copied() -> None:
    derived = symgrad.jvp(polynomial, wrt="x")

    assert pickle.loads(pickle.dumps(derived)) is derived
    assert copy.deepcopy(derived) is derived
    assert repr(derived) == "jvp(polynomial, wrt='x')"


def test_explain_says_which_rules_were_used() -> None:
    text = symgrad.jvp(matrix_function).explain(np.ones(3), np.ones((2, 3)))

    assert "matmul(a, b): out_tangent = matmul of a_tangent + matmul of b_tangent" in text
    assert "tanh(x): out_tangent = x_tangent * (1 - out * out)" in text
    assert "emitted" in text


def saved_with_trees(p: dict[str, Any], slope: float) -> Any:
    return {"y": np.sin(p["w"]) * p["b"] * slope, "n": 3}


def test_saved_to_a_module(tmp_path: Any) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.jvp(matrix_function), path, np.ones(3), np.ones((2, 3)))
    space: dict[str, Any] = {"__name__": "saved"}
    exec(path.read_text(), space)
    x, w = np.array([0.5, 1.0, 2.0]), np.ones((2, 3))
    out, tangent = space["matrix_function_jvp_at"](x, w)({"x": np.ones(3), "w": w})
    expected = symgrad.jvp(matrix_function, (x, w), (np.ones(3), w))

    np.testing.assert_array_equal(out, expected[0])
    np.testing.assert_allclose(tangent, expected[1], rtol=1e-14)
    assert "symgrad" not in "".join(line for line in path.read_text().splitlines() if line.startswith(("import", "from")))
    for derived in (symgrad.jvp(saved_with_trees), symgrad.linearize(saved_with_trees)):
        symgrad.save(derived, path, {"w": np.ones(3), "b": 0.5}, 2.0, overwrite=True)
        ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": ""})
        assert "agrees with differences" in ran.stdout
    assert "symgrad" not in "".join(line for line in path.read_text().splitlines() if line.startswith(("import", "from")))
    with pytest.raises(ValueError, match="the tangent of x is of shape"):
        space["matrix_function_jvp_at"](x, w)({"x": np.ones(2), "w": w})


# ------------------------------------------------------------------ bad input

X = np.ones(3)
WRONG: dict[str, tuple[Any, Any, str]] = {
    "no tuple": ((X, 2.0), X, "the tangents are ndarray, not a tuple"),
    "arguments that are no tuple": (X, (X,), "the arguments are ndarray, not a tuple"),
    "too few": ((X, 2.0), (X,), "1 tangent is passed for 2 arguments"),
    "too many": ((X, 2.0), (X, 1.0, 1.0), "3 tangents are passed for 2 arguments"),
    "shape": ((X, 2.0), (np.ones(2), 1.0), r"the tangent of x is of shape \(2,\) and dtype float64, not an array of shape \(3,\)"),
    "dtype": ((X, 2.0), (np.ones(3, np.float32), 1.0), "the tangent of x is of shape .* and dtype float32, not .* dtype float64"),
    "a number for an array": ((X, 2.0), (1.0, 1.0), "the tangent of x is float, not an array of shape"),
    "an array for a number": ((X, 2.0), (X, X), r"the tangent of p is ndarray of shape \(3,\), not a number like float"),
    "a complex number": ((X, 2.0), (X, 1j), "the tangent of p is complex, not a number like float"),
    "None for floats": ((X, 2.0), (None, 1.0), "the tangent of x is NoneType, not an array of shape"),
    "an integer": ((X, 2), (X, 1), "p is int, and integers and booleans have no tangent"),
    "an integer in a tree": ((X, {"a": 1.0, "n": 2}), (X, {"a": 1.0, "n": 2}), r"p\['n'\] is int, and integers"),
    "other keys": ((X, {"a": 1.0}), (X, {"b": 1.0}), r"the tangent of p has the keys \['b'\], not the keys \['a'\]"),
    "no dict": ((X, {"a": 1.0}), (X, 1.0), r"the tangent of p has the class float, not the keys \['a'\]"),
    "other lengths": ((X, [1.0, 2.0]), (X, [1.0]), "the tangent of p has 1 items, not 2 items"),
    "a leaf in a tree": ((X, {"a": [X]}), (X, {"a": [np.ones(4)]}), r"the tangent of p\['a'\]\[0\] is of shape \(4,\)"),
    "a leaf in a long list": ((X, [1.0] * 12), (X, [1.0] * 11), "the tangent of p has 11 items, not 12 items"),
}


def takes_anything(x: Any, p: Any) -> Any:
    total = np.sum(x)
    if isinstance(p, dict):
        return total * (p["a"] if isinstance(p["a"], float) else np.sum(p["a"][0]))
    if isinstance(p, list):
        return total * sum(p)
    return total * p


@pytest.mark.parametrize("primals, tangents, message", WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_named(primals: Any, tangents: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        symgrad.jvp(takes_anything, primals, tangents)


def test_the_hints_work() -> None:
    assert symgrad.jvp(takes_anything, (X, 2), (X, None)) == (6.0, 6.0)
    assert symgrad.jvp(takes_anything, (X, {"a": 1.0, "n": 2}), (X, {"a": 1.0, "n": None}))[1] == 6.0
    assert symgrad.jvp(takes_anything, (X, 2.0), (X,), wrt="x") == (6.0, 6.0)


def test_without_floats_there_is_no_direction() -> None:
    with pytest.raises(IntegerArgument):
        symgrad.jvp(lambda n: n * 2.0, (3,), (None,))


def test_primals_without_tangents() -> None:
    with pytest.raises(BadArgument, match="two tuples"):
        symgrad.jvp(polynomial, (1.0, 2.0))


def test_leaves_stay_as_they_are() -> None:
    primals = (np.ones(3), [1.0, 2.0])
    tangents = (np.arange(3.0), [0.5, 0.25])
    before = copy.deepcopy((primals, tangents))

    def writes(x: np.ndarray, w: list[float]) -> Any:
        x[0] = w[0] * x[1]
        return np.sum(x * x) * w[1]

    symgrad.jvp(writes, (primals[0].copy(), primals[1]), tangents)
    assert same((primals, tangents), before)
    assert same(tangents[0], np.arange(3.0))


# ------------------------------------------------------------------ inside other derivatives


def wave(x: np.ndarray, w: np.ndarray) -> Any:
    return np.sum(np.sin(x * w) * x[0])


def reversed_forward(x: np.ndarray, v: np.ndarray) -> Any:
    out, tangent = symgrad.jvp(lambda y: np.sum(np.sin(y * v) * x), (x,), (v,))
    return out * tangent


def hessian_vector(x: np.ndarray, v: np.ndarray) -> Any:
    _, product = symgrad.jvp(symgrad.grad(wave), (x, v), (v, x))
    return np.sum(product * x)


def forward_of_reverse_in_a_lambda(x: np.ndarray, v: np.ndarray) -> Any:
    return np.sum(symgrad.jvp(lambda y: symgrad.grad(wave)(y, v) * x, (x,), (v,))[1])


def forward_twice(x: np.ndarray, v: np.ndarray) -> Any:
    return symgrad.jvp(lambda a: a[0] * symgrad.jvp(lambda b: np.sum(a * a * b * b), (v * a,), (a,))[1], (x,), (v,))[1]


def trees_inside(x: np.ndarray, v: np.ndarray) -> Any:
    primals, tangents = ({"w": x, "b": 2.0}, 3), ({"w": v, "b": 1.0}, None)
    out, tangent = symgrad.jvp(lambda p, n: {"a": p["w"] * p["b"] ** n, "c": [p["w"], n]}, primals, tangents)
    return np.sum(out["a"] * tangent["a"]) + np.sum(tangent["c"][0]) * out["c"][1]


def by_name_inside(x: np.ndarray, v: np.ndarray) -> Any:
    return symgrad.jvp(wave, (x, v), (v * v,), wrt="w")[1]


def in_a_loop(x: np.ndarray, v: np.ndarray) -> Any:
    for _ in range(3):
        x = x + 0.1 * symgrad.jvp(lambda y: np.sin(y) * x, (x,), (v,))[1]
    return np.sum(x)


def result_that_is_the_argument(x: np.ndarray, v: np.ndarray) -> Any:
    y = x * v
    out, tangent = symgrad.jvp(lambda z: z, (y,), (v,))
    out[0] = 7.0
    tangent[1] = x[0]
    return np.sum(out * tangent) + np.sum(y) + np.sum(v)


along_weights = symgrad.jvp(wave, wrt="w")
along_both = symgrad.jvp(wave)


def made_outside(x: np.ndarray, v: np.ndarray) -> Any:
    return along_weights((x, v), (x,))[1] * along_both((x, v), (v, x))[0]


NESTED = [reversed_forward, hessian_vector, forward_of_reverse_in_a_lambda, forward_twice, trees_inside, by_name_inside, in_a_loop,
          result_that_is_the_argument, made_outside]  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", NESTED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
def test_derivatives_of_derivatives(function: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    x, v = np.array([0.3, 0.7, 1.1]), np.array([1.0, 2.0, 0.5])
    dx, dv = np.array([1.0, -0.5, 0.2]), np.array([0.3, 0.1, -0.7])
    expected = (function(x + 1e-5 * dx, v + 1e-5 * dv) - function(x - 1e-5 * dx, v - 1e-5 * dv)) / 2e-5
    gradient = symgrad.grad(function, wrt=(0, 1), jit=jit)(x, v)
    out, tangent = symgrad.jvp(function, (x, v), (dx, dv), jit=jit)

    assert out == pytest.approx(function(x, v), rel=1e-12)
    assert inner(gradient, (dx, dv)) == pytest.approx(expected, rel=1e-7)
    assert tangent == pytest.approx(expected, rel=1e-7)


class Counter:
    def __init__(self) -> None:
        self.rounds, self.last = 0, [0.0]


def counted(x: np.ndarray, counter: Counter) -> Any:
    counter.rounds += 1
    counter.last[0] = 2.0 * float(x[0])
    if counter.rounds > 3:
        raise KeyError("too often")
    return np.sum(x * x) * counter.rounds


def test_what_a_function_stores_is_stored_once() -> None:
    derived = symgrad.jvp(counted, wrt="x")
    counter, plain = Counter(), Counter()
    for rounds in range(1, 4):
        out, tangent = derived((np.ones(2), counter), (np.ones(2),))
        assert (out, tangent) == (counted(np.ones(2), plain), 4.0 * rounds)
        assert vars(counter) == vars(plain)
    with pytest.raises(KeyError, match="too often"):
        derived((np.ones(2), counter), (np.ones(2),))


def test_what_a_function_raises_is_raised() -> None:
    def refuses(x: float) -> float:
        if x > 1.0:
            raise LookupError("too large")
        return 1.0 / x

    with pytest.raises(LookupError, match="too large"):
        symgrad.jvp(refuses, (2.0,), (1.0,))
    with pytest.raises(ZeroDivisionError):
        symgrad.jvp(refuses, (0.0,), (1.0,))
    assert symgrad.jvp(refuses, (0.5,), (1.0,)) == (2.0, -4.0)


def test_a_wrong_tangent_code_is_found_at_the_first_call() -> None:
    with planted("np.cos", "np.sin") as changed, pytest.raises(symgrad.errors.Mismatch):
        symgrad.jvp(lambda x: np.sum(np.cos(x)), (np.ones(3),), (np.ones(3),))
    assert changed


def test_a_wrong_tangent_is_found_where_tangents_are_verified() -> None:
    def smooth(x: np.ndarray, p: dict[str, float]) -> Any:
        return np.sin(x) * p["a"], np.sum(x) * p["b"]

    primals, tangents = (np.ones(3), {"a": 2.0, "b": 1.0}), (np.ones(3), {"a": 1.0, "b": 1.0})
    with planted("np.cos", "np.sin") as changed, pytest.raises(symgrad.errors.Mismatch, match="the tangent of .*smooth gives the slope"):
        symgrad.jvp(anew(smooth), primals, tangents, verify="gradient")
    assert changed
    assert symgrad.jvp(smooth, primals, tangents, verify="gradient")[1][1] == 6.0
    assert symgrad.linearize(smooth, *primals, verify="gradient")[1](*tangents)[1] == 6.0


def test_perturbations_are_not_confused() -> None:
    def outer(x: float) -> Any:
        return symgrad.jvp(lambda a: a * symgrad.jvp(lambda b: a + b, (1.0,), (1.0,))[1], (x,), (1.0,))[1]

    def by_reverse(x: float) -> Any:
        return symgrad.grad(lambda a: a * symgrad.jvp(lambda b: a + b, (1.0,), (1.0,))[1])(x)

    def of_reverse(x: float) -> Any:
        return symgrad.jvp(lambda a: a * symgrad.grad(lambda b: a + b)(1.0), (x,), (1.0,))[1]

    assert [function(2.0) for function in (outer, by_reverse, of_reverse)] == [1.0, 1.0, 1.0]
    for function in (outer, by_reverse, of_reverse):
        assert symgrad.jvp(lambda x, f=function: x * f(x), (2.0,), (1.0,))[1] == 1.0
        assert symgrad.grad(lambda x, f=function: x * f(x))(2.0) == 1.0


def test_shapes_inside_are_looked_at_when_the_program_runs() -> None:
    def other_shape(x: np.ndarray, v: np.ndarray) -> Any:
        return np.sum(symgrad.jvp(lambda y: y * y, (x,), (v[:-1],))[1])

    derived = symgrad.grad(other_shape)
    np.testing.assert_allclose(derived(np.ones(3), np.ones(4)), 2.0)
    with pytest.raises(ValueError, match="the tangent of argument 0"):
        derived(np.ones(3), np.ones(6))


INSIDE: dict[str, tuple[Any, str]] = {
    "no tuples": (lambda x: symgrad.jvp(np.sin, x, x)[1], "are tuples"),
    "one tuple": (lambda x: symgrad.jvp(lambda y: y * y, (x,))[1], "two tuples"),
    "too many": (lambda x: symgrad.jvp(lambda y: y * y, (x,), (x, x))[1], "2 tangents are passed for 1 arguments"),
    "a number for an array": (lambda x: symgrad.jvp(lambda y: np.sum(y), (x * np.ones(2),), (x,))[1], "the tangent of argument 0"),
    "an integer": (lambda x: symgrad.jvp(lambda y, n: y * n, (x, 2), (x, 1))[1], "argument 1 of a jvp holds no floats"),
    "a compiled one": (lambda x: symgrad.jvp(lambda y: y * y, (x,), (x,), jit=True)[1], "jit= of jvp cannot be given inside"),
    "a third argument of grad": (lambda x: symgrad.grad(lambda y: y * y, 0, 5)(x), "3 arguments are passed"),
    "a fourth argument of vmap": (lambda x: symgrad.vmap(lambda y: y * x, 0, 0, 1)(np.ones(2))[0], "4 arguments are passed"),
    "a verified product": (
        lambda x: symgrad.hvp(lambda y: y[0] ** 3, x * np.ones(1), np.ones(1), verify="gradient")[0],
        "verify= of hvp cannot be given inside",
    ),
    "no auxiliary results": (lambda x: symgrad.grad(lambda y: y * y, has_aux=True)(x)[0], "has_aux=True needs a function that returns"),
    "another tree": (lambda x: symgrad.jvp(lambda y: y["a"], ({"a": x},), ({"b": x},))[1], "has another structure"),
}


@pytest.mark.parametrize("function, message", INSIDE.values(), ids=INSIDE)
def test_what_does_not_fit_inside_is_refused(function: Any, message: str) -> None:
    with pytest.raises(SymgradError, match=message):
        symgrad.grad(function)(2.0)


def test_a_list_of_any_length_has_tangents_inside_and_so_has_its_array() -> None:
    def of_list(xs: list[float]) -> Any:
        return symgrad.jvp(lambda ys: sum(y * y for y in ys), (xs,), (xs,))[1]

    def of_array(xs: list[float]) -> Any:
        x = np.array(xs)
        return symgrad.jvp(lambda ys: np.sum(ys * ys), (x,), (x,))[1]

    assert symgrad.grad(of_list)([1.0] * 12) == symgrad.grad(of_array)([1.0] * 12) == [4.0] * 12


def test_a_derived_function_of_two_tuples_is_differentiated_in_a_function() -> None:
    with pytest.raises(BadArgument, match="takes or gives tangents"):
        symgrad.grad(symgrad.jvp(polynomial))
    with pytest.raises(BadArgument, match="takes or gives tangents"):
        symgrad.linearize(polynomial).grad  # noqa: B018
    assert symgrad.grad(lambda x: symgrad.jvp(polynomial, (x, 2.0), (1.0, 0.0))[1])(3.0) == 4.0


# ------------------------------------------------------------------ kinks and what is not chosen


def guarded_root(x: float) -> float:
    r = math.sqrt(x)
    if r > 0.0:
        y = 3.0 * r
    else:
        y = 2.0 * x
    return y


def left_early(x: float) -> float:
    r = math.sqrt(x)
    logarithm = np.log(x) if x > 0.0 else 0.0
    if x <= 0.0:
        return 5.0 * x
    return r * logarithm


def rounds_with_roots(x: np.ndarray) -> Any:
    total = 0.0
    for k in range(len(x)):
        r = np.sqrt(x[k])
        x[k] = 2.0 * x[k]
        if r > 0.5:
            total += r * x[k]
        else:
            total += x[k]
    return total


def chosen_elements(x: np.ndarray) -> Any:
    return np.sum(np.where(x > 0.0, np.sqrt(x), x))


def largest_of_equals(x: np.ndarray) -> Any:
    return np.max(x) + np.maximum(x[0], x[1]) + np.abs(x[0] - x[1]) + max(x[0], x[1]) + np.sort(x)[0]


KINKS: dict[str, tuple[Any, Any]] = {
    "sqrt at 0 in a branch": (guarded_root, 0.0),
    "sqrt and log at 0, left early": (left_early, 0.0),
    "in a loop that stores": (rounds_with_roots, np.array([0.0, 1.0, 4.0])),
    "where": (chosen_elements, np.array([0.0, -1.0, 4.0])),
    "ties": (largest_of_equals, np.array([1.0, 1.0])),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::symgrad.errors.NotCompiled")  # a kernel leaves ties of sorting to NumPy
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("function, x", KINKS.values(), ids=KINKS)
def test_kinks_are_decided_as_in_the_gradient(function: Any, x: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    gradient = symgrad.grad(function, jit=jit)(copy.copy(x))
    dx = 0.7 if isinstance(x, float) else np.linspace(0.3, 1.1, len(x))
    out, tangent = symgrad.jvp(function, (copy.copy(x),), (dx,), jit=jit)

    assert np.isfinite(tangent)
    assert tangent == pytest.approx(np.sum(gradient * dx), rel=1e-12)
    assert out == function(copy.copy(x))


# ------------------------------------------------------------------ linearize

#: programs of the corpus of which the derivative is not written as a linear function
NOT_LINEAR = {"functions-recursion_that_stores": "the backward half of a recursion writes to what it is given"}


@pytest.mark.sweep(60)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
@EVERY
def test_every_program_as_a_linear_function(program: Program) -> None:
    arguments = program.arguments(program.sizes[0])
    chosen = selected(program, arguments)
    direction = direction_for(chosen, np.random.default_rng(7))
    derived = symgrad.linearize(program.function, wrt=positions(program))
    if program.name in NOT_LINEAR:
        with pytest.raises(NoDerivative, match="is not written as a linear function"):
            derived(*arguments)
        return
    out, linear = derived(*arguments)
    first, second = linear(*without_integers(direction)), linear(*without_integers(direction))
    _, tangent = symgrad.jvp(program.function, program.arguments(program.sizes[0]), without_integers(direction), wrt=positions(program))

    assert same(arguments, program.arguments(program.sizes[0])), "an argument was written to"
    assert out == pytest.approx(program.function(*program.arguments(program.sizes[0])), rel=tolerance(chosen) * 1e-4, abs=1e-15)
    assert first == second
    close = 1e-10 if tolerance(chosen) < 1e-6 else 1e-5
    assert first == pytest.approx(tangent, rel=close, abs=close)


def test_the_linear_function_keeps_what_it_needs() -> None:
    random = np.random.default_rng(0)
    x, w = random.normal(size=3), random.normal(size=(4, 3))
    before = x.copy(), w.copy()
    out, linear = symgrad.linearize(matrix_function, x, w)
    columns = [linear(e, np.zeros((4, 3))) for e in np.eye(3)]
    x[:], w[:], out[:] = 7.0, 0.0, 1.0

    expected = symgrad.jvp(matrix_function, before, (np.ones(3), before[1]))[1]
    np.testing.assert_allclose(linear(np.ones(3), before[1]), expected, rtol=1e-12)
    np.testing.assert_allclose(sum(columns), symgrad.jvp(matrix_function, before, (np.ones(3), np.zeros((4, 3))))[1], rtol=1e-12)


def test_linearize_with_trees_wrt_and_auxiliary_results() -> None:
    out, linear, aux = symgrad.linearize(lambda p, n: ({"y": p["w"] ** n}, n), {"w": 2.0}, 3, has_aux=True)
    assert (out, linear({"w": 1.0}, None), aux) == ({"y": 8.0}, {"y": 12.0}, 3)
    with pytest.raises(BadArgument, match="2 tangents are passed for 1 arguments"):
        symgrad.linearize(lambda x: x * x, 2.0)[1](1.0, 1.0)
    with pytest.raises(BadArgument, match=r"the tangent of x is of shape \(2,\)"):
        symgrad.linearize(lambda x: x * x, np.ones(3))[1](np.ones(2))
    _, of_weight = symgrad.linearize(matrix_function, np.ones(3), np.ones((4, 3)), wrt="w")
    assert of_weight(np.ones((4, 3))).shape == (4, 3)


def test_linearize_runs_the_function_once() -> None:
    calls = []

    def drawn(x: float, generator: np.random.Generator) -> Any:
        return x * generator.normal()

    calls += [symgrad.linearize(drawn, 2.0, np.random.default_rng(3)) for _ in range(2)]
    (out, linear), (again, other) = calls
    assert out == again == 2.0 * linear(1.0, None) == 2.0 * other(1.0, None)


def test_methods_and_jit_and_pickles_of_linear_functions() -> None:
    model = Model(np.array([1.0, 2.0]))
    assert model.decorated.linearize(np.ones(2))[1](np.array([1.0, 0.5])) == 2.0
    assert pickle.loads(pickle.dumps(symgrad.linearize(polynomial))) is symgrad.linearize(polynomial)


def test_linear_functions_are_kernels() -> None:
    pytest.importorskip("numba")
    assert symgrad.linearize(polynomial, 2.0, 3.0, jit=True)[1](1.0, 0.0) == 12.0

    def layer(p: dict[str, Any], x: np.ndarray, power: int) -> Any:
        y = np.tanh(p["w"] @ x + p["b"])
        total = 0.0
        for a in y:
            total = total + np.sin(total) * a**power
        return {"y": y, "total": total}, power

    rng = np.random.default_rng(5)
    arguments = {"w": rng.normal(size=(4, 3)), "b": 0.5}, rng.normal(size=3), 2
    step = {"w": rng.normal(size=(3, 4)).T, "b": 1.0}, rng.normal(size=6)[::2], None
    linearized = symgrad.linearize(layer, jit=True, has_aux=True)
    out, linear, aux = linearized(*arguments)
    value, expected, _ = symgrad.jvp(layer, arguments, step, has_aux=True)
    assert aux == 2
    assert "def layer_linearize_backward_kernel(" in linearized.source(*arguments)
    np.testing.assert_allclose(out["y"], value["y"], rtol=1e-12)
    for _ in range(2):
        tangent = linear(*step)
        np.testing.assert_allclose(tangent["y"], expected["y"], rtol=1e-12)
        assert tangent["total"] == pytest.approx(expected["total"], rel=1e-12)
    with pytest.raises(ValueError, match="the tangent of x is of shape"):
        linear(step[0], np.ones(2), None)

    narrow = np.ones(3, np.float32)
    _, single = symgrad.linearize(lambda x: np.exp(x) * x, narrow, jit=True)
    assert single(narrow).dtype == np.float32
    np.testing.assert_allclose(single(narrow), np.full(3, 2 * np.e), rtol=1e-6)
    with pytest.warns(symgrad.errors.NotCompiled, match="the tangent of a list"):
        _, listed = symgrad.linearize(lambda p: np.array(p) * p[0], [0.5] * 70, jit=True)
    np.testing.assert_allclose(listed([1.0] * 70), np.ones(70))


def linear_inside(x: np.ndarray, v: np.ndarray) -> Any:
    out, linear = symgrad.linearize(lambda y, w: np.sin(y * w), x, v)
    return np.sum(out * linear(v, x)) + np.sum(linear(x, v) ** 2)


def test_a_linear_function_inside_a_function() -> None:
    x, v, dx = np.array([0.3, 0.7, 1.1]), np.array([1.0, 2.0, 0.5]), np.array([1.0, -0.5, 0.2])
    expected = (linear_inside(x + 1e-5 * dx, v) - linear_inside(x - 1e-5 * dx, v)) / 2e-5

    assert np.sum(symgrad.grad(linear_inside)(x, v) * dx) == pytest.approx(expected, rel=1e-7)
    assert symgrad.jvp(linear_inside, (x, v), (dx, 0 * v))[1] == pytest.approx(expected, rel=1e-7)


def test_what_is_no_number_has_none_for_its_tangent_inside_a_function_too() -> None:
    def labelled(x: float) -> Any:
        return x * x, "square", {"n": 3, "twice": 2.0 * x}

    def inside(x: float) -> float:
        out, tangent = symgrad.jvp(labelled, (x,), (1.0,))
        assert out[1] == "square"
        return tangent[0] * x if tangent[1] is None and tangent[2]["n"] is None else 0.0

    assert symgrad.jvp(labelled, (3.0,), (1.0,))[1] == (6.0, None, {"n": None, "twice": 2.0})
    assert inside(3.0) == 18.0
    assert symgrad.grad(inside)(3.0) == pytest.approx(12.0)
