"""``vmap`` compared with a plain Python loop: corpus, gradients, both targets, sizes, axes, trees, errors."""

from __future__ import annotations

import contextlib
import functools
import io
import pickle
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from array_strategies import random_array_program
from differences import children
from programs import PROGRAMS, Program
from stacked import axes_for, example, in_a_loop, stacked, varied
from strategies import arguments as numbers
from strategies import loaded, random_program

import symgrad
from symgrad.errors import BadArgument, SymgradError, UnsupportedSyntax, UnsureAlias

UNSURE = "whether a view or a copy is written to depends on how an example lies in memory, which is not known of a part of an array"
OUTSIDE = "the gradient of a function that writes to its arguments is not taken inside another function"
GLOBAL = "the gradient of a function that assigns to a global variable is not taken inside another function"
#: programs that are refused over a batch, by what is asked for, with the reason
REFUSED: dict[str, dict[str, str]] = {
    "value": {
        "ravel_is_a_view_of_contiguous": UNSURE,
        "ravel_of_a_transpose_is_a_copy": UNSURE,
    },
    "gradient": {
        "workspace_argument": OUTSIDE,
        "permutation_sorted_in_place": OUTSIDE,
        "a_global_that_is_stored": GLOBAL,
    },
}
REFUSED["gradient"] |= REFUSED["value"]
EXAMPLES = 3


def size_of(program: Program) -> int:
    """A size at which a program has several elements."""
    return program.sizes[min(1, len(program.sizes) - 1)]


def arguments_of(program: Program, count: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Stacked arguments, and their axes."""
    arguments = stacked([varied(program.arguments(size_of(program)), k) for k in range(count)])
    return arguments, tuple(map(axes_for, arguments))


def looped(program: Program, function: Callable[..., Any]) -> Any:
    """The results of a loop over the examples, which writes to arguments of its own."""
    arguments, _ = arguments_of(program, EXAMPLES)
    return in_a_loop(function, [tuple(example(a, k) for a in arguments) for k in range(EXAMPLES)])


def assert_same(actual: Any, expected: Any) -> None:
    """The same trees of arrays, of the same shapes and dtypes."""
    parts = children(expected)
    if parts is not None:
        others = children(actual)
        assert type(actual) is type(expected)
        assert others is not None
        assert len(others) == len(parts)
        for one, other in zip(others, parts, strict=True):
            assert_same(one, other)
    elif expected is None:
        assert actual is None
    else:
        precise = np.asarray(expected).dtype.itemsize >= 8
        np.testing.assert_allclose(actual, expected, rtol=1e-9 if precise else 2e-4, atol=1e-10 if precise else 1e-4)
        assert np.asarray(actual).dtype == expected.dtype


def held_to_a_loop(program: Program, function: Callable[..., Any], asked: str, **options: Any) -> None:
    """Compare a function of the arguments of a program over a batch with a loop; what is refused must be in the table."""
    arguments, axes = arguments_of(program, EXAMPLES)
    batched = symgrad.vmap(function, in_axes=axes, **options)
    if program.function.__name__ in REFUSED[asked]:
        with pytest.raises(SymgradError):
            batched(*arguments)
        return
    assert_same(batched(*arguments), looped(program, function))


CASES = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


@pytest.mark.sweep(60)
@CASES
def test_programs_over_a_batch_agree_with_a_loop(program: Program) -> None:
    held_to_a_loop(program, program.function, "value")


@pytest.mark.sweep(80)
@CASES
def test_gradients_of_each_example_agree_with_a_loop(program: Program) -> None:
    held_to_a_loop(program, symgrad.grad(program.function, wrt=program.wrt, allow_unused=True), "gradient")


@pytest.mark.sweep(80)
@CASES
def test_pullbacks_of_batches_agree_with_gradients_of_each_example(program: Program) -> None:
    """Where an example changes an argument that all share, the next one reads what is changed; a gradient by itself does not."""
    if REFUSED["gradient"].get(program.function.__name__) in (*REFUSED["value"].values(), OUTSIDE):
        return
    arguments, axes = arguments_of(program, EXAMPLES)
    wrt = program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)
    gradient = symgrad.grad(program.function, wrt=wrt, allow_unused=True)
    expected = looped(program, gradient)
    values, pullback = symgrad.vjp(symgrad.vmap(program.function, in_axes=axes), *arguments, wrt=wrt)
    for one, other, axis in zip(pullback(np.ones_like(values)), expected, [axes[k] for k in wrt], strict=True):
        if axis is not None:
            assert_same(one, other)


@pytest.mark.sweep(600)
@CASES
def test_kernels_over_a_batch_agree_with_a_loop(program: Program) -> None:
    pytest.importorskip("numba")
    held_to_a_loop(program, program.function, "value", jit="auto")
    held_to_a_loop(program, symgrad.grad(program.function, wrt=program.wrt, allow_unused=True), "gradient", jit="auto")


# ------------------------------------------------------------------ sizes, axes, depth


def energy(x: np.ndarray, w: np.ndarray) -> Any:
    return np.sum(np.tanh(x * w)) + 0.1 * x[0] * w[-1]


def several(x: np.ndarray, w: np.ndarray) -> Any:
    h = np.tanh(x * w)
    return h[1:], {"sum": h.sum(), "none": None, "count": len(h)}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_batches_of_every_size(size: int, jit: bool, random: np.random.Generator) -> None:
    x, w = random.normal(size=(size, 4)), random.normal(size=4)
    values = symgrad.vmap(energy, in_axes=(0, None), jit=jit)(x, w)
    gradients = symgrad.vmap(symgrad.grad(energy, wrt=("x", "w")), in_axes=(0, None), jit=jit)(x, w)
    np.testing.assert_allclose(values, np.array([energy(row, w) for row in x]), rtol=1e-12)
    assert values.shape == (size,)
    assert values.dtype == np.float64
    for k, gradient in enumerate(gradients):
        expected = [symgrad.grad(energy, wrt=("x", "w"))(row, w)[k] for row in x]
        assert gradient.shape == (size, 4)
        np.testing.assert_allclose(gradient, np.reshape(expected, (size, 4)), rtol=1e-12)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_gradients_of_sums_over_batches_of_every_size(size: int, jit: bool, random: np.random.Generator) -> None:
    def loss(w: np.ndarray, x: np.ndarray) -> Any:
        return np.sum(symgrad.vmap(energy, in_axes=(0, None))(x, w) ** 2)

    x, w = random.normal(size=(size, 4)), random.normal(size=4)
    expected = np.zeros(4) + sum(2 * energy(row, w) * symgrad.grad(energy, wrt="w")(row, w) for row in x)
    np.testing.assert_allclose(symgrad.grad(loss, jit=jit)(w, x), expected, rtol=1e-12)


def test_a_batch_of_no_examples_whose_shape_is_not_known_is_refused() -> None:
    def chosen(x: np.ndarray) -> Any:
        return x[x > 0.0]

    batched = symgrad.vmap(chosen)
    assert batched(np.array([[1.0, -1.0], [-2.0, 2.0]])).tolist() == [[1.0], [2.0]]
    with pytest.raises(ValueError, match="an empty batch"):
        batched(np.zeros((0, 2)))
    with pytest.raises(ValueError, match="shape"):  # that of results of different shapes
        batched(np.array([[1.0, 1.0], [-2.0, 2.0]]))


@pytest.mark.parametrize(("in_axes", "out_axes"), [(1, 0), (-1, -1), (2, 1), ((1, None), 2), ([0, None], (1))])
def test_axes(in_axes: Any, out_axes: Any, random: np.random.Generator) -> None:
    def scaled(x: np.ndarray, w: np.ndarray) -> Any:
        return np.tanh(x) * w

    x, w = random.normal(size=(3, 4, 5)), random.normal(size=(3, 4, 5))
    axes = in_axes if isinstance(in_axes, tuple | list) else (in_axes, in_axes)
    count = x.shape[axes[0]]
    shared = w if axes[1] is not None else random.normal(size=np.take(x, 0, axes[0]).shape)
    expected = np.stack(
        [scaled(np.take(x, k, axes[0]), shared if axes[1] is None else np.take(shared, k, axes[1])) for k in range(count)], out_axes
    )
    actual = symgrad.vmap(scaled, in_axes=in_axes, out_axes=out_axes)(x, shared)
    np.testing.assert_allclose(actual, expected, rtol=1e-12)
    assert actual.flags.c_contiguous


def test_out_axes_are_a_tree_of_the_form_of_the_result(random: np.random.Generator) -> None:
    x, w = random.normal(size=(5, 4)), random.normal(size=4)
    rows, sums = symgrad.vmap(several, in_axes=(0, None), out_axes=(1, {"sum": 0, "none": None, "count": None}))(x, w)
    assert rows.shape == (3, 5)
    np.testing.assert_allclose(rows.T, [several(row, w)[0] for row in x], rtol=1e-12)
    assert sums["none"] is None
    assert sums["count"] == 4
    np.testing.assert_allclose(sums["sum"], [several(row, w)[1]["sum"] for row in x], rtol=1e-12)


@pytest.mark.parametrize("jit", [False, True])
def test_batches_of_batches(jit: bool, random: np.random.Generator) -> None:
    def product(a: Any, b: Any) -> Any:
        return a * np.sin(b)

    x, y = random.normal(size=(3, 4)), random.normal(size=4)
    table = symgrad.vmap(symgrad.vmap(product, in_axes=(0, None)), in_axes=(None, 0), jit=jit)
    np.testing.assert_allclose(table(x[0], y), x[0] * np.sin(y)[:, None], rtol=1e-12)
    each = symgrad.vmap(symgrad.vmap(symgrad.grad(product, wrt="b")), in_axes=(0, 0), jit=jit)
    np.testing.assert_allclose(each(x, x + 1.0), x * np.cos(x + 1.0), rtol=1e-12)

    def total(x: np.ndarray, y: np.ndarray) -> Any:
        return np.sum(symgrad.vmap(symgrad.vmap(product), in_axes=(0, None))(x, y) ** 2)

    np.testing.assert_allclose(symgrad.grad(total, jit=jit)(x, y), 2 * x * np.sin(y) ** 2, rtol=1e-12)


def test_hessians_of_each_example(random: np.random.Generator) -> None:
    def slope(x: np.ndarray) -> Any:
        return np.sum(symgrad.grad(lambda t: np.sum(t**4))(x) * np.arange(1.0, 4.0))

    x = random.normal(size=(5, 3))
    np.testing.assert_allclose(symgrad.vmap(symgrad.grad(slope))(x), 12 * x**2 * np.arange(1.0, 4.0), rtol=1e-12)
    np.testing.assert_allclose(symgrad.grad(lambda x: np.sum(symgrad.vmap(slope)(x)))(x), 12 * x**2 * np.arange(1.0, 4.0), rtol=1e-12)


# ------------------------------------------------------------------ trees and parameters


@dataclass
class Layer:
    w: np.ndarray
    b: Any


Point = namedtuple("Point", "x y")


class Model:
    def __init__(self, w: np.ndarray, b: float) -> None:
        self.w, self.b = w, b

    def loss(self, x: np.ndarray, y: Any) -> Any:
        return (self.w @ x + self.b - y) ** 2

    def __call__(self, x: np.ndarray) -> Any:
        return np.tanh(self.w @ x)


def through_tree(tree: Any) -> Any:
    layer, (a, point), rest = tree["layer"], tree["pair"], tree["list"]
    h = np.tanh(layer.w * point.x + layer.b) * a
    return {"h": h, "point": Point(point.y * h.sum(), point.x), "layer": Layer(h * layer.w, layer.b), "list": [r * a for r in rest]}


def test_trees_of_arguments_and_results(random: np.random.Generator) -> None:
    def tree(k: int) -> Any:
        layer = Layer(random.normal(size=3), float(k))
        return {"layer": layer, "pair": (1.0 + k, Point(random.normal(size=3), 0.5 * k)), "list": [random.normal(size=2), 2.0 + k]}

    examples = [(tree(k),) for k in range(4)]
    assert_same(symgrad.vmap(through_tree)(*stacked(examples)), in_a_loop(through_tree, examples))
    shared = tree(7)
    mixed = [({**one, "list": shared["list"]},) for (one,) in examples]
    arguments = ({**stacked(examples)[0], "list": shared["list"]},)
    axes = {"layer": Layer(0, 0), "pair": (0, Point(0, 0)), "list": None}
    assert_same(symgrad.vmap(through_tree, in_axes=(axes,))(*arguments), in_a_loop(through_tree, mixed))


@pytest.mark.parametrize("count", [2, 12])
def test_lists_of_arrays_of_any_length(count: int, random: np.random.Generator) -> None:
    def chain(x: np.ndarray, weights: list[np.ndarray]) -> Any:
        for w in weights:
            x = np.tanh(w * x)
        return x.sum()

    x, weights = random.normal(size=(3, 4)), [random.normal(size=(3, 4)) for _ in range(count)]
    expected = [chain(x[k], [w[k] for w in weights]) for k in range(3)]
    np.testing.assert_allclose(symgrad.vmap(chain)(x, weights), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="examples"):
        symgrad.vmap(chain)(x, [*weights[:-1], weights[-1][:2]])


def test_methods_and_instances(random: np.random.Generator) -> None:
    model, x, y = Model(random.normal(size=3), 0.5), random.normal(size=(5, 3)), random.normal(size=5)
    np.testing.assert_allclose(symgrad.vmap(model.loss)(x, y), [model.loss(*one) for one in zip(x, y, strict=True)], rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(model)(x), [model(row) for row in x], rtol=1e-12)
    slopes = symgrad.vmap(symgrad.grad(Model.loss, wrt="self"), in_axes=(None, 0, 0))(model, x, y)
    residuals = 2 * (x @ model.w + model.b - y)
    np.testing.assert_allclose(slopes.w, residuals[:, None] * x, rtol=1e-12)
    np.testing.assert_allclose(slopes.b, residuals, rtol=1e-12)
    many = Model(random.normal(size=(5, 3)), random.normal(size=5))  # type: ignore[arg-type]
    expected = [Model(many.w[k], many.b[k]).loss(x[k], y[k]) for k in range(5)]  # type: ignore[index]
    np.testing.assert_allclose(symgrad.vmap(Model.loss)(many, x, y), expected, rtol=1e-12)


def test_parameters_by_keyword_and_with_defaults(random: np.random.Generator) -> None:
    def scaled(x: Any, w: Any, *more: Any, scale: Any = 2.0, shift: Any = None, **others: Any) -> Any:
        total = np.sum(x * w) * scale + (0.0 if shift is None else shift)
        for item in more:
            total += np.sum(item)
        return total + sum(np.sum(other) for other in others.values())

    x, w, s = random.normal(size=(4, 3)), random.normal(size=3), random.normal(size=4)
    base = (x * w).sum(axis=1)
    batched = symgrad.vmap(scaled, in_axes=(0, None))
    np.testing.assert_allclose(batched(x, w), 2 * base, rtol=1e-12)
    np.testing.assert_allclose(batched(x, w=w), 2 * base, rtol=1e-12)
    np.testing.assert_allclose(batched(x, w, scale=s), s * base, rtol=1e-12)
    np.testing.assert_allclose(batched(x, w, shift=s, other=x), 2 * base + s + x.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(scaled, in_axes=(0, None, 1))(x, w, x.T), 2 * base + x.sum(axis=1), rtol=1e-12)


def test_functions_of_numpy_partials_and_lambdas(random: np.random.Generator) -> None:
    x = random.normal(size=(4, 3, 3))
    np.testing.assert_allclose(symgrad.vmap(np.linalg.inv)(x), np.linalg.inv(x), rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(np.tanh)(x), np.tanh(x), rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(np.add)(x, x[:, 0, 0]), x + x[:, :1, :1], rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(functools.partial(np.dot, x[0]))(x), [x[0] @ one for one in x], rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(lambda t: t[0] * 2)(x), x[:, 0] * 2, rtol=1e-12)


@pytest.mark.parametrize("jit", [False, True])
def test_arrays_as_defaults_are_shared_unless_they_are_passed(jit: bool, random: np.random.Generator) -> None:
    x, w, b = random.normal(size=(5, 4)), random.normal(size=4), random.normal(size=5)

    def weighted(t: Any, u: Any = w, shift: float = 0.5) -> Any:
        return np.sum(t * u) + shift

    one = symgrad.vmap(weighted, jit=jit)
    np.testing.assert_allclose(one(x), x @ w + 0.5, rtol=1e-12)
    np.testing.assert_allclose(one(x, shift=b), x @ w + b, rtol=1e-12)
    np.testing.assert_allclose(one(x, x), np.sum(x * x, axis=1) + 0.5, rtol=1e-12)
    np.testing.assert_allclose(one(x, u=x, shift=b), np.sum(x * x, axis=1) + b, rtol=1e-12)
    bound = functools.partial(weighted, u=w)
    for function in (symgrad.vmap(bound, jit=jit), symgrad.vmap(bound, in_axes=(0,), jit=jit)):
        np.testing.assert_allclose(function(x), x @ w + 0.5, rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(symgrad.grad(bound), jit=jit)(x), np.tile(w, (5, 1)), rtol=1e-12)
    np.testing.assert_allclose(symgrad.vmap(bound, jit=jit)(x[:1]), x[:1] @ w + 0.5, rtol=1e-12)
    with pytest.raises(BadArgument, match="the default of u is an array"):
        symgrad.vmap(lambda t, u=w, /: np.sum(t * u))


# ------------------------------------------------------------------ what Python's loop does


def test_effects_keep_the_order_of_the_loop(random: np.random.Generator) -> None:
    def told(x: Any, log: list[Any]) -> Any:
        print("example", float(x))
        log.append(x)
        if x < 0:
            raise ArithmeticError("negative")
        return np.sqrt(x)

    def in_python(x: np.ndarray, log: list[Any]) -> Any:
        return np.array([told(one, log) for one in x])

    x = np.array([1.0, 4.0, 9.0])
    for batch in (x, np.array([1.0, -4.0, 9.0])):
        ends = []
        for function in (in_python, symgrad.vmap(told, in_axes=(0, None))):
            log: list[Any] = [0.0]
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                try:
                    result: Any = function(batch, log).tolist()
                except ArithmeticError as error:
                    result = str(error)
            ends.append((result, [float(item) for item in log], printed.getvalue()))
        assert ends[0] == ends[1]


def test_what_examples_share_is_one_object(random: np.random.Generator) -> None:
    def counted(x: Any, total: np.ndarray) -> Any:
        total[0] += x
        return total[0] * 1.0

    def summed(x: np.ndarray) -> Any:
        return symgrad.vmap(counted, in_axes=(0, None))(x, np.zeros(1))

    x = random.normal(size=5)
    np.testing.assert_allclose(symgrad.grad(summed).primal(x), np.cumsum(x), rtol=1e-12)
    np.testing.assert_allclose(symgrad.grad(lambda x: np.sum(summed(x)))(x), [5, 4, 3, 2, 1], rtol=1e-12)


def test_dtypes(random: np.random.Generator) -> None:
    x = random.normal(size=(3, 2)).astype(np.float32)
    assert symgrad.vmap(lambda t: t.sum())(x).dtype == np.float32
    assert symgrad.vmap(lambda t: t > 0)(x).dtype == bool
    assert symgrad.vmap(lambda t: len(t))(x).tolist() == [2, 2, 2]
    z = random.normal(size=3) + 1j
    np.testing.assert_allclose(symgrad.vmap(lambda t: t * t)(z), z * z, rtol=1e-12)


# ------------------------------------------------------------------ the object


def test_equal_requests_give_one_object_that_pickles_saves_and_explains(tmp_path: Path, random: np.random.Generator) -> None:
    x, w = random.normal(size=(5, 4)), random.normal(size=4)
    batched = symgrad.vmap(energy, in_axes=(0, None))
    assert batched is symgrad.vmap(energy, in_axes=(0, None))
    assert batched is not symgrad.vmap(energy, in_axes=(None, 0))
    assert repr(batched) == "vmap(energy, in_axes=(0, None))"
    expected = batched(x, w)
    assert pickle.loads(pickle.dumps(batched)) is batched
    for derived in (batched, symgrad.vmap(symgrad.grad(energy, wrt="w"), in_axes=(0, None)), symgrad.vmap(batched, in_axes=(0, None))):
        assert pickle.loads(pickle.dumps(derived)) is derived
    source = batched.source(x, w)
    assert "for k in range" in source
    assert "written by symgrad from test_batches.py" in source.lower()
    assert "energy: the call is inlined" in batched.explain(x, w)
    path = tmp_path / "energies.py"
    symgrad.save(batched, path, x, w)
    text = f"import numpy as np, energies; print(energies.{batched.compiled(x, w).__name__}(np.ones((2, 4)), np.ones(4)).tolist())"
    run = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True)
    np.testing.assert_allclose(eval(run.stdout), batched(np.ones((2, 4)), np.ones(4)), rtol=1e-12)
    np.testing.assert_allclose(batched(x, w), expected)


# ------------------------------------------------------------------ errors


def test_arguments_that_hold_other_numbers_of_examples(random: np.random.Generator) -> None:
    batched = symgrad.vmap(energy)
    with pytest.raises(ValueError, match="vmap: axis 0 of x has 5 examples, and axis 0 of w has 4"):
        batched(random.normal(size=(5, 3)), random.normal(size=(4, 3)))
    assert batched(random.normal(size=(4, 3)), random.normal(size=(4, 3))).shape == (4,)

    def nested(p: dict[str, Any]) -> Any:
        return np.sum(p["w"]) * p["layers"][0]

    with pytest.raises(ValueError, match=r"axis 0 of p\['w'\] has 5 examples, and axis 1 of p\['layers'\]\[0\] has 2"):
        symgrad.vmap(nested, in_axes=({"w": 0, "layers": [1]},))({"w": np.ones((5, 3)), "layers": [np.ones((3, 2))]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, w: symgrad.vmap(energy)(x, 2.0), "w has no axis 0: it is float"),
        (lambda x, w: symgrad.vmap(energy, in_axes=(2, None))(x, w), "x has no axis 2: it is an array"),
        (lambda x, w: symgrad.vmap(energy, in_axes=None)(x, w), "no argument of energy has a batch axis"),
        (lambda x, w: symgrad.vmap(energy, in_axes=(0,))(x, w), "in_axes of energy has 1 items, and 2 arguments are passed"),
        (lambda x, w: symgrad.vmap(energy, in_axes=(0, None, 0))(x, w), "in_axes of energy has 3 items, and 2 arguments are passed"),
        (lambda x, w: symgrad.vmap(energy, in_axes="x"), "in_axes is an axis, None, or a tuple of these, not 'x'"),
        (lambda x, w: symgrad.vmap(energy, in_axes=(0.0, None)), "an item of in_axes is an axis"),
        (lambda x, w: symgrad.vmap(energy, in_axes=((0, 0), None))(x, w), "in_axes is"),
        (lambda x, w: symgrad.vmap(through_tree, in_axes=({"layer": 0},))({"layer": 1.0, "pair": 2.0}), "the axes of tree are"),
        (lambda x, w: symgrad.vmap(energy, in_axes=(0, None), out_axes=1)(x, w), "the result has no axis 1"),
        (lambda x, w: symgrad.vmap(several, in_axes=(0, None), out_axes=(0, 0, 0))(x, w), "the axes of the result are"),
        (lambda x, w: symgrad.vmap(energy, in_axes=(0, None), out_axes=None)(x, w), "out_axes is None for the result"),
        (lambda x, w: symgrad.vmap(lambda t: "text")(x), "is not an array"),
        (lambda x, w: symgrad.vmap(3.0), "3.0 is not a function"),
        (lambda x, w: symgrad.vmap(lambda t, u=np.ones(2), *rest: t), "the default of u is an array"),  # noqa: B008
    ],
)
def test_what_is_refused(call: Callable[[Any, Any], Any], message: str, random: np.random.Generator) -> None:
    with pytest.raises(SymgradError) as refused:
        call(random.normal(size=(5, 4)), random.normal(size=4))
    assert message in str(refused.value)


def test_hints_of_refusals_help(random: np.random.Generator) -> None:
    x, w = random.normal(size=(5, 4)), random.normal(size=4)
    with pytest.raises(BadArgument, match="write None for w in in_axes"):
        symgrad.vmap(energy)(x, 2.0)
    assert symgrad.vmap(lambda t, s: np.sum(t * s), in_axes=(0, None))(x, 2.0).shape == (5,)
    with pytest.raises(SymgradError, match="give it an axis in out_axes"):
        symgrad.vmap(energy, in_axes=(0, None), out_axes=None)(x, w)
    assert symgrad.vmap(lambda t, w: w * 2.0, in_axes=(0, None), out_axes=None)(x, w).tolist() == (w * 2.0).tolist()
    with pytest.raises(BadArgument, match="give in_axes as a tuple"):
        symgrad.vmap(lambda t, u=w, *rest: np.sum(t * u))
    np.testing.assert_allclose(symgrad.vmap(lambda t, u=w, *rest: np.sum(t * u), in_axes=(0, None))(x), x @ w, rtol=1e-12)


@pytest.mark.parametrize("part", [lambda x: x, lambda x: x[:], lambda x: x[1:], lambda x: x[::-1]])
def test_of_stores_to_one_element_the_last_counts_in_each_example(part: Any, random: np.random.Generator) -> None:
    def stored(x):
        y = part(x)
        x[np.array([0, 2])] = x[3]
        y[np.array([3, 3, 1])] -= 0.2 * np.tanh(y.copy()[1])
        return np.sum(x) + np.sum(np.sin(y))

    gradient = symgrad.grad(stored)
    x = random.normal(size=(3, 5))
    expected = np.stack([gradient(row.copy()) for row in x])

    np.testing.assert_allclose(symgrad.vmap(gradient)(x.copy()), expected, rtol=1e-12)
    step = 1e-6 * random.normal(size=5)
    for row, slope in zip(x, expected, strict=True):
        assert stored(row + step) - stored(row - step) == pytest.approx(2 * slope @ step, rel=1e-6)


def test_a_view_that_may_be_a_copy_is_refused_and_a_copy_is_the_way_out(random: np.random.Generator) -> None:
    def filled(x: np.ndarray) -> Any:
        y = x.ravel()
        y[0] = 5.0
        return x.sum()

    x = random.normal(size=(3, 2, 2))
    with pytest.raises(UnsureAlias, match=r"write x\.ravel\(\)\.copy\(\) in line"):
        symgrad.vmap(filled)(x)

    def copied(x: np.ndarray) -> Any:
        y = x.copy().ravel()
        y[0] = 5.0
        return y.sum()

    np.testing.assert_allclose(symgrad.vmap(copied)(x), x.reshape(3, 4)[:, 1:].sum(axis=1) + 5.0, rtol=1e-12)


# ------------------------------------------------------------------ random programs


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[] if seed < 5003 else [pytest.mark.slow]) for seed in range(5000, 5100)])
@pytest.mark.parametrize("draw", [lambda seed: (random_program(seed, 8), numbers), lambda seed: random_array_program(seed, 6)])
@pytest.mark.filterwarnings("ignore")
def test_random_programs(draw: Any, seed: int) -> None:
    text, make = draw(seed)
    arguments = stacked([varied(make(), k) for k in range(EXAMPLES)])
    axes = tuple(map(axes_for, arguments))
    with loaded(text) as function, np.errstate(all="ignore"):
        for asked in (function, symgrad.grad(function, wrt=tuple(range(len(arguments))), allow_unused=True)):
            try:
                expected = in_a_loop(asked, [tuple(example(a, k) for a in arguments) for k in range(EXAMPLES)])
            except (ArithmeticError, ValueError, LookupError, SymgradError):
                continue  # it raises, or is refused by itself
            try:
                actual = symgrad.vmap(asked, in_axes=axes)(*arguments)
            except UnsupportedSyntax:
                continue
            for one, other in zip(np.atleast_1d(actual) if asked is function else actual, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
