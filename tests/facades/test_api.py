"""The public functions: ``grad``, ``value_and_grad`` and their options."""

from __future__ import annotations

import copy
import fractions
import functools
import inspect
import pickle
import re
import subprocess
import sys
import threading
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import symgrad
from symgrad.derivatives import Derived
from symgrad.errors import BadArgument, IntegerArgument, NotActive, NotScalar, SourceNotFound

X = np.array([0.5, 1.5, 2.5])
SCALE = 2.0


def helper(x):
    return x * x


def quadratic(x, w=2.0, *, shift=0.0):
    """A quadratic."""
    return np.sum(w * (x - shift) ** 2)


@symgrad.differentiable
def cube(x):
    return x**3


@symgrad.differentiable(wrt=("x", "w"))
def product(x, w):
    return x * w


class Model:
    def __init__(self, w):
        self.w = w

    @symgrad.differentiable
    def loss(self, x):
        return self.w * x * x

    def plain(self, x):
        return self.w * x * x

    @staticmethod
    @symgrad.differentiable
    def static(x):
        return x * x

    @symgrad.differentiable
    @staticmethod
    def outer_static(x):
        return x * x

    def __call__(self, x):
        return self.w * x


# ------------------------------------------------------------------ what is asked for


@pytest.mark.parametrize(
    ("wrt", "expected"),
    [
        (None, 12.0),
        (0, 12.0),
        ("x", 12.0),
        (1, 9.0),
        ("w", 9.0),
        (-1, 9.0),
        ((0,), (12.0,)),
        (("w", 0), (9.0, 12.0)),
        ([0, 1], (12.0, 9.0)),
        ("shift", -12.0),
    ],
)
def test_wrt(wrt, expected):
    assert symgrad.grad(quadratic, wrt)(3.0) == expected
    assert symgrad.grad(quadratic, argnums=wrt)(3.0) == expected
    value, gradient = symgrad.value_and_grad(quadratic, wrt)(3.0)
    assert (value, gradient) == (18.0, expected)
    assert isinstance(value, float)


@pytest.mark.parametrize("wrt", [3, -3, "q", (), ("x", "x"), ("x", 0), True, 1.5, ("x", None)])
def test_bad_wrt(wrt):
    with pytest.raises(BadArgument):
        symgrad.grad(quadratic, wrt)


def summed(rows, scale):
    return scale * scale + sum(item * scale for row in rows for item in row)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("rows", [[], (), [[], ()]], ids=repr)
def test_the_gradient_of_an_empty_container_is_empty(rows, jit):
    derivative = symgrad.value_and_grad(summed, wrt=("rows", "scale"), jit=jit)
    assert derivative(rows, 3.0) == (9.0, (rows, 6.0))
    assert derivative([[0.5, 2.0]], 3.0) == (16.5, ([[3.0, 3.0]], 8.5))


def test_bad_questions():
    for question in (lambda: symgrad.grad(3), lambda: symgrad.grad(quadratic, 0, argnums=1), lambda: symgrad.grad(quadratic, jit=1)):
        with pytest.raises(BadArgument):
            question()
    with pytest.raises(SourceNotFound, match="is a class"):
        symgrad.grad(fractions.Fraction)
    with pytest.raises(BadArgument, match="holds no number"):
        symgrad.grad(quadratic)("text")
    for integers in (2, True, np.arange(3), np.int64(2), [1, 2]):
        with pytest.raises(IntegerArgument):
            symgrad.grad(quadratic)(integers)
    with pytest.raises(TypeError, match="missing"):
        symgrad.grad(quadratic)()
    with pytest.raises(TypeError, match="unexpected"):
        symgrad.grad(quadratic)(1.0, q=2.0)


def test_defaults_and_keywords():
    derivative = symgrad.grad(quadratic)
    assert derivative(3.0) == derivative(3.0, 2.0) == derivative(x=3.0, w=2.0) == derivative(3.0, shift=0.0) == 12.0
    assert derivative(3.0, shift=1.0) == 8.0
    assert list(inspect.signature(derivative).parameters) == ["x", "w", "shift"]
    assert "A quadratic." in derivative.__doc__


def test_same_question_same_answer():
    assert symgrad.grad(cube) is symgrad.grad(cube) is cube.grad
    functions = [symgrad.grad(lambda x: x * k) for k in (1.0, 2.0)]
    assert functions[0](1.0) == functions[1](1.0) == 2.0, "k is read when called"
    factors = [symgrad.grad(scaled_by(k))(1.0) for k in (1.0, 2.0)]
    assert factors == [1.0, 2.0]


k = 2.0


def scaled_by(factor):
    return lambda x: x * factor


def test_has_aux():
    def f(x):
        return x * x, {"twice": 2 * x}

    assert symgrad.value_and_grad(f, has_aux=True)(3.0) == ((9.0, {"twice": 6.0}), 6.0)
    assert symgrad.grad(f, has_aux=True)(3.0) == (6.0, {"twice": 6.0})
    out, pullback, aux = symgrad.vjp(f, 3.0, has_aux=True)
    assert (out, pullback(1.0), aux) == (9.0, (6.0,), {"twice": 6.0})


def test_unused():
    def f(x, w):
        return x * x

    with pytest.raises(NotActive, match="does not depend on w"):
        symgrad.grad(f, ("x", "w"), strict=True)(1.0, 2.0)
    assert symgrad.grad(f, ("x", "w"), allow_unused=True)(1.0, 2.0)[0] == 2.0


def test_not_scalar():
    with pytest.raises(NotScalar):
        symgrad.grad(lambda x: 2.0 * x)(X)


# ------------------------------------------------------------------ structures


Pair = namedtuple("Pair", "a b")


@dataclass
class Record:
    w: np.ndarray
    b: float
    name: str = "n"


def test_trees():
    def f(p):
        return np.sum(p["w"] * X) * p["b"]

    gradient = symgrad.grad(f)({"w": X, "b": 2.0, "n": 3})
    assert list(gradient) == ["w", "b", "n"]
    assert np.allclose(gradient["w"], 2 * X)
    assert gradient["b"] == np.sum(X * X)
    assert gradient["n"] is None
    assert symgrad.grad(lambda p: p[0] * p[1])((2.0, 3.0)) == (3.0, 2.0)
    assert symgrad.grad(lambda p: p[0] * p[1])([2.0, 3.0]) == [3.0, 2.0]
    assert symgrad.grad(lambda p: p.a * p.b)(Pair(2.0, 3.0)) == Pair(3.0, 2.0)
    record = symgrad.grad(lambda p: np.sum(p.w) * p.b)(Record(X, 2.0))
    assert isinstance(record, Record)
    assert np.allclose(record.w, 2.0)
    assert record.b == np.sum(X)


def test_many_arguments():
    def f(*xs, **named):
        return xs[0] * xs[1] * named["k"]

    assert symgrad.grad(f, "xs")(2.0, 3.0, k=4.0) == (12.0, 8.0)
    assert symgrad.grad(f, "named")(2.0, 3.0, k=4.0) == {"k": 6.0}
    assert symgrad.grad(f)(2.0, 3.0, k=4.0) == 12.0
    assert symgrad.grad(f, argnums=(1, 0))(2.0, 3.0, k=4.0) == (8.0, 12.0)
    with pytest.raises(BadArgument, match="wrt='xs'"):
        symgrad.grad(f, -1)
    with pytest.raises(BadArgument, match=re.escape("its parts are xs, xs[0], xs[1]")):
        symgrad.grad(f, 2)(2.0, 3.0, k=4.0)


def test_operators_of_functions_of_any_number_of_arguments():
    def f(a, *xs):
        return a * sum((k + 1) * x * x for k, x in enumerate(xs))

    args, tangents = (2.0, 3.0, 4.0), (0.5, 0.1, 0.2)
    slopes = np.array([41.0, 12.0, 32.0])
    assert symgrad.jvp(f, args, tangents)[1] == pytest.approx(slopes @ tangents)
    assert symgrad.linearize(f, *args)[1](*tangents) == pytest.approx(slopes @ tangents)
    assert symgrad.vjp(f, *args)[1](1.0) == (41.0, (12.0, 32.0))
    assert symgrad.value_and_grad(f, argnums=(0, 2), jit=True)(*args) == (82.0, (41.0, 32.0))
    assert symgrad.jacobian(f, argnums=(1, 2))(*args) == (12.0, 32.0)
    symgrad.check_grads(f, args)


# ------------------------------------------------------------------ pullbacks


def test_vjp():
    def f(x, n, w):
        return w * x**n

    out, pullback = symgrad.vjp(f, X, 2, 3.0)
    assert np.allclose(out, 3.0 * X**2)
    for row in np.eye(3):
        x_grad, w_grad = pullback(row)
        assert np.allclose(x_grad, row * 6.0 * X)
        assert np.allclose(w_grad, row @ X**2)
    assert np.allclose(symgrad.vjp(f, X, 2, 3.0, wrt="x")[1](np.ones(3)), 6.0 * X)
    out[:] = 0.0
    assert np.allclose(pullback(np.ones(3))[0], 6.0 * X)


# ------------------------------------------------------------------ the decorator


def test_decorator():
    assert cube(2.0) == 8.0
    assert type(cube).__name__ == "function"
    assert cube.grad(2.0) == 12.0
    assert cube.grad.grad(2.0) == 12.0
    assert cube.grad.grad.grad(2.0) == 6.0
    assert cube.value_and_grad(2.0) == (8.0, 12.0)
    assert product.grad(2.0, 3.0) == (3.0, 2.0)
    assert symgrad.grad(product)(2.0, 3.0) == 3.0
    out, pullback = product.vjp(2.0, 3.0)
    assert pullback(1.0) == (3.0, 2.0)


def test_methods():
    model = Model(3.0)
    assert model.loss(2.0) == 12.0
    assert model.loss.grad(2.0) == 12.0
    assert model.loss.grad.grad(2.0) == 6.0
    assert model.loss.value_and_grad(2.0) == (12.0, 12.0)
    assert Model(4.0).loss.grad(2.0) == 16.0
    model.w = 5.0
    assert model.loss.grad(2.0) == 20.0
    assert symgrad.grad(model.plain)(2.0) == 20.0
    assert symgrad.grad(model.loss, "x")(2.0) == 20.0
    assert symgrad.grad(model)(2.0) == 5.0
    assert symgrad.grad(Model.plain, "x")(model, 2.0) == 20.0
    assert Model.static.grad(3.0) == Model.outer_static.grad(3.0) == model.static.grad(3.0) == 6.0
    assert list(inspect.signature(model.loss.grad).parameters) == ["x"]
    assert "return" in model.loss.grad.source(2.0)


def test_a_derived_function_as_a_method():
    class Holder:
        w = 3.0
        slope = symgrad.grad(Model.plain, "x")

    assert Holder().slope(2.0) == 12.0


# ------------------------------------------------------------------ nesting


square_grad = symgrad.grad(helper)


def test_derivatives_inside():
    assert symgrad.grad(lambda x: square_grad(x) * x)(3.0) == 12.0
    assert symgrad.grad(lambda x: symgrad.grad(helper)(x) * x)(3.0) == 12.0
    assert symgrad.grad(lambda x: cube.grad(x) + x)(2.0) == 13.0
    assert symgrad.grad(symgrad.grad(symgrad.grad(cube)))(5.0) == 6.0


def test_functions_as_arguments():
    def apply(f, x):
        return f(x)

    derivative = symgrad.grad(apply, "x")
    assert [derivative(scaled_by(factor), 2.0) for factor in (1.0, 2.0, 3.0)] == [1.0, 2.0, 3.0]
    assert derivative(helper, 3.0) == 6.0


class Doubler:
    """A decorator that changes what its function gives."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, x):
        return 2.0 * self.function(x)


doubled = Doubler(helper)


def test_wrappers_are_not_looked_through():
    assert symgrad.grad(lambda x: doubled(x))(3.0) == 12.0
    assert symgrad.grad(doubled)(3.0) == 12.0


def test_stop_gradient():
    assert symgrad.grad(lambda x: x * symgrad.stop_gradient(x))(3.0) == 3.0
    assert symgrad.stop_gradient(X) is X

    def f(x):
        frozen = x * 2.0
        return frozen * x

    assert symgrad.grad(f, no_grad={"frozen"})(3.0) == 6.0
    assert symgrad.grad(f, no_grad="frozen")(3.0) == 6.0
    assert symgrad.grad(f)(3.0) == 12.0


seen = []


def halve(g):
    return 0.5 * g


def look(g):
    seen.append(g)


def test_on_backward():
    assert symgrad.grad(lambda x: symgrad.on_backward(x * x, halve))(3.0) == 3.0
    assert symgrad.grad(lambda x: symgrad.on_backward(x * x, look))(3.0) == 6.0
    assert seen == [1.0]


# ------------------------------------------------------------------ code that changes


def test_globals_are_read_at_each_call(monkeypatch):
    def f(x):
        return helper(x) * SCALE

    derivative = symgrad.grad(f)
    assert derivative(3.0) == 12.0
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert derivative(3.0) == 18.0
    monkeypatch.setitem(globals(), "SCALE", np.ones(2))
    with pytest.raises(NotScalar):
        derivative(3.0)
    monkeypatch.setitem(globals(), "SCALE", 1)
    assert derivative(3.0) == 6.0
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    assert derivative(3.0) == 1.0


def test_reloaded_code():
    def old(x):
        return x * x

    def new(x, w):
        return w * x

    derivative = symgrad.grad(old)
    assert derivative(3.0) == 6.0
    old.__code__ = new.__code__
    assert derivative(3.0, 4.0) == 4.0


def test_a_lambda_that_calls_something_named_like_it():
    rounded = np.vectorize(lambda x: float(round(x)))
    symgrad.constant(rounded, "rounded(x)", result="x")
    assert np.allclose(symgrad.grad(lambda x: np.sum(rounded(x) * x))(X), np.round(X))


def test_two_functions_of_one_name():
    first = lambda x: 2.0 * x  # noqa: E731
    tables = [np.vectorize(lambda i: float(i)), lambda x: first(x) * tables[0](2)]
    assert symgrad.grad(tables[1])(1.0) == 4.0


# ------------------------------------------------------------------ pickling


def test_pickling():
    for derived in (cube.grad, cube.grad.grad, symgrad.grad(quadratic, "w"), Model(3.0).loss.grad):
        again = pickle.loads(pickle.dumps(derived))
        assert again(2.0) == derived(2.0)
        assert len(pickle.dumps(derived)) < 600
    assert pickle.loads(pickle.dumps(cube.grad)) is cube.grad
    assert copy.deepcopy(cube.grad)(2.0) == 12.0
    assert pickle.loads(pickle.dumps(cube)) is cube


def test_pickling_by_value():
    pytest.importorskip("cloudpickle")
    factor = 3.0

    def local(x, power=2):
        return factor * helper(x) * np.sin(x) ** power

    for derived in (symgrad.grad(local), symgrad.grad(lambda x: factor * x * x)):
        assert pickle.loads(pickle.dumps(derived))(2.0) == pytest.approx(derived(2.0), rel=1e-14)


# ------------------------------------------------------------------ looking


def test_looking():
    def f(x, n=2):
        return x * n

    derivative = symgrad.grad(f)
    with pytest.raises(BadArgument, match="the type of x is not known"):
        derivative.source()
    text = derivative.source(2.0)
    assert text.startswith("def f_grad(x, n")
    assert derivative.source() == text
    assert "def f_grad" in derivative.source(signature="f8, int")
    assert derivative.ir(2.0).startswith("func")
    assert derivative.ir(2.0, stage="lowered") != derivative.ir(2.0)
    with pytest.raises(BadArgument, match="no stage"):
        derivative.ir(2.0, stage="q")
    with pytest.raises(BadArgument, match="3 types for"):
        derivative.source(signature="f8, int, int")
    compiled = derivative.compiled(2.0)
    assert inspect.getsource(compiled) == text
    assert compiled(5.0, 2) == 2


def test_annotations_give_a_signature():
    def f(x: float, n: int = 2) -> float:
        return x * n

    assert "def f_grad" in symgrad.grad(f).source()


def test_show_ir(capsys):
    symgrad.show_ir(quadratic, 2.0)
    assert capsys.readouterr().out.startswith("func")


def test_two_runs_print_the_same():
    code = (
        "import symgrad, numpy as np\nf = symgrad.from_source('def f(x, w):\\n    y = np.tanh(w * x)\\n    return np.sum(y * x)')\n"
        "print(symgrad.grad(f, ('x', 'w')).source(np.ones(3), np.ones(3)))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert runs[0] == runs[1]
    assert "def f_grad" in runs[0]


# ------------------------------------------------------------------ what is promised of memory and threads


def test_arguments_are_not_written_and_results_are_fresh():
    def f(x, y):
        x[0] = 2.0 * x[1]
        return np.sum(x * y)

    x, y = X.copy(), X.copy()
    x.setflags(write=False)
    for _ in range(2):
        gradient = symgrad.grad(f, ("x", "y"))(x, y)
        assert np.array_equal(x, X)
        assert np.array_equal(y, X)
        assert all(g.flags.writeable and not np.shares_memory(g, x) and not np.shares_memory(g, y) for g in gradient)
        for g in gradient:
            g[:] = np.nan


def test_float32_stays():
    x = X.astype(np.float32)
    assert symgrad.grad(lambda x: np.sum(x * x))(x).dtype == np.float32


def test_threads():
    def f(x):
        return np.sum(np.sin(x) * x)

    derivative, results = symgrad.grad(f), []
    threads = [threading.Thread(target=lambda: results.append(derivative(X))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(np.array_equal(r, results[0]) for r in results)
    assert isinstance(derivative, Derived)


def test_import_is_light():
    code = "import sys, symgrad; symgrad.grad; assert not {'sympy', 'numba', 'scipy'} & set(sys.modules), sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


def cut_square(y):
    a = y * y
    return a * y


@pytest.mark.parametrize("inner", [symgrad.grad(cut_square, no_grad={"a"}), symgrad.differentiable(no_grad={"a"})(cut_square).grad])
def test_no_grad_of_a_derivative_inside_a_function_is_refused(inner):
    assert inner(1.3) == pytest.approx(1.3**2)
    with pytest.raises(symgrad.SymgradError, match="no_grad"):
        symgrad.grad(lambda x: inner(x) * x)(1.3)


def test_no_grad_of_a_decorated_function_inside_a_function_is_refused():
    with pytest.raises(symgrad.SymgradError, match="no_grad"):
        symgrad.grad(lambda x: symgrad.grad(cut_square)(x) * x)(1.3)


def parts(x):
    return {"whole": 2.0 * x, "rest": (x.sum(), 3), "held": [v * v for v in x]}


@pytest.mark.parametrize("jit", [False, True])
def test_seeds_fit_the_results_or_are_refused(jit):
    if jit:
        pytest.importorskip("numba")
    out, pullback = symgrad.vjp(lambda x: 2.0 * x, X, jit=jit)
    for seed in (1.0, [1.0, 1.0, 1.0], np.ones(1), np.ones(3, int), np.broadcast_to(np.float32(1), 3)):
        np.testing.assert_array_equal(pullback(seed)[0], [2.0, 2.0, 2.0])
    for wrong in (np.ones(2), np.ones(4), np.ones((2, 3)), np.ones((3, 1))):
        with pytest.raises(ValueError, match="and the result of shape"):
            pullback(wrong)
    pullback = symgrad.vjp(lambda x: np.sum(x * x), X, jit=jit)[1]
    np.testing.assert_array_equal(pullback(np.array(0.5))[0], X)
    with pytest.raises(ValueError, match="one number"):
        pullback(np.ones(3))
    square = symgrad.vjp(lambda x: x * x, np.array(3.0), jit=jit)[1]
    assert square(1.0) == (6.0,)


@pytest.mark.parametrize("jit", [False, True])
def test_a_pullback_takes_what_is_like_the_result(jit):
    if jit:
        pytest.importorskip("numba")
    out, pullback = symgrad.vjp(parts, X, jit="auto" if jit else False)
    assert out["rest"][1] == 3
    (x_grad,) = pullback({"whole": np.ones(3), "rest": (1.0, None), "held": [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(x_grad, 2.0 + 1.0 + 2.0 * X * [1.0, 2.0, 3.0])
    out, pullback, aux = symgrad.vjp(lambda x: (3.0 * x, {"rounds": 4}), X, has_aux=True, jit=jit)
    assert aux == {"rounds": 4}
    np.testing.assert_array_equal(pullback(np.ones(3))[0], [3.0, 3.0, 3.0])


def test_positions_of_a_pullback_have_two_names():
    def f(x, y):
        return np.sum(x * y * y)

    for name in ("wrt", "argnums"):
        assert symgrad.vjp(f, X, 2 * X, **{name: 1})[1](1.0) == pytest.approx(4 * X * X)
    of_square = symgrad.grad(lambda x: np.sum(symgrad.vjp(f, x, x * x, argnums=1)[1](1.0)))
    assert of_square(X) == pytest.approx(6 * X * X)
    with pytest.raises(BadArgument, match="one argument under two names"):
        symgrad.vjp(f, X, X, wrt=0, argnums=0)
