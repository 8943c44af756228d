"""Every kind of callable: differentiated, or refused with a line to paste."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import pickle
from collections import namedtuple
from fractions import Fraction
from functools import partial, partialmethod
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.bound import Bound
from symgrad.errors import BadArgument, IntegerArgument, NotScalar, SourceNotFound, SymgradError, UnknownFunction
from symgrad.frontend.functions.adapters import adapted
from symgrad.frontend.text.source import read

scipy_special = pytest.importorskip("scipy.special")
scipy_stats = pytest.importorskip("scipy.stats")

X = np.array([1.0, -2.0, 3.0])
DATA = np.arange(6.0).reshape(2, 3)


def quadratic(x, w=2.0, *, shift=0.5):
    return w * x * x - shift * x


def loss(features, targets, w):
    return np.sum((features @ w - targets) ** 2)


def summed(*args, **kwargs):
    return sum(args) * kwargs.get("k", 1.0)


class Model:
    factor = 3.0

    def scale(self, a, x):
        return self.factor * a * x * x

    half = partialmethod(scale, 0.5)

    def __call__(self, x):
        return self.factor * x * x

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def of_class(cls, x):
        return cls.factor * x


MODEL = Model()

#: a callable and arguments, the first of which it is differentiated with respect to
TAKEN: list[tuple[Any, tuple[Any, ...]]] = [
    (np.tanh, (0.5,)),
    (np.power, (2.0, 3.0)),
    (np.hypot, (2.0, 3.0)),
    (math.sin, (0.5,)),
    (math.log, (2.0,)),
    (math.log, (2.0, 3.0)),
    (math.atan2, (0.5, 2.0)),
    (math.hypot, (0.5, 2.0)),
    (abs, (-2.0,)),
    (pow, (2.0, 3.0)),
    (max, (2.0, 3.0)),
    (sum, ([1.0, 2.0],)),
    (float, (2.0,)),
    (np.float64, (2.0,)),
    (np.sum, (X,)),
    (np.mean, (X,)),
    (np.dot, (X, X[::-1].copy())),
    (np.clip, (3.0, 1.0, 5.0)),
    (np.linalg.norm, (X,)),
    (np.linalg.det, (DATA[:, :2] + np.eye(2),)),
    (np.add.reduce, (X,)),
    (operator.mul, (2.0, 3.0)),
    (operator.itemgetter(1), (X,)),
    (operator.attrgetter("T"), (X[0],)),
    (operator.methodcaller("sum"), (X,)),
    (operator.methodcaller("sum", axis=0), (X,)),
    (X.dot, (X[::-1].copy(),)),
    (np.ndarray.sum, (X,)),
    (float.__mul__, (2.0, 3.0)),
    ((2.0).__mul__, (3.0,)),
    (scipy_special.expit, (0.5,)),
    (scipy_special.logsumexp, (X,)),
    (scipy_stats.norm.pdf, (0.5,)),
    (np.vectorize(lambda a: a * a), (3.0,)),
    (partial(quadratic, w=1.0), (3.0,)),
    (partial(quadratic, 3.0), (1.5,)),
    (partial(partial(quadratic, w=5.0), shift=1.0), (3.0,)),
    (partial(loss, DATA, np.ones(2)), (X,)),
    (partial(MODEL.scale, 0.5), (3.0,)),
    (partial(MODEL), (3.0,)),
    (partial(np.power, 2.0), (3.0,)),
    (partial(np.sum, axis=0), (X,)),
    (partial(abs), (-3.0,)),
    (partial(math.log, 8.0), (2.0,)),
    (MODEL.half, (3.0,)),
    (MODEL, (3.0,)),
    (MODEL.scale, (0.5, 3.0)),
    (Model.of_class, (3.0,)),
    (Model.__dict__["square"], (3.0,)),
    (functools.lru_cache(quadratic), (3.0,)),
    (functools.wraps(quadratic)(lambda x, w=2.0: quadratic(x, w) * 2), (3.0,)),
]


def differences(function: Any, x: Any) -> Any:
    """Central differences of a function of a number, an array or a list."""
    steps = 1e-6 * np.eye(np.size(x)).reshape(np.size(x), *np.shape(x))
    kind = type(x) if isinstance(x, float | list) else np.asarray
    slopes = [(function(kind(np.asarray(x) + step)) - function(kind(np.asarray(x) - step))) / 2e-6 for step in steps]
    return np.reshape(slopes, np.shape(x))


@pytest.mark.parametrize(("function", "args"), TAKEN, ids=lambda value: getattr(value, "__name__", type(value).__name__))
def test_taken(function: Any, args: tuple[Any, ...]) -> None:
    value, gradient = symgrad.value_and_grad(function)(*args)
    np.testing.assert_allclose(value, function(*args), rtol=1e-14)
    expected = differences(lambda x: function(x, *args[1:]), args[0])
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    assert symgrad.grad(function) is symgrad.grad(function) or isinstance(symgrad.grad(function), Bound)


def text_of(function: Any) -> str:
    return "\n".join(read(adapted(function)).lines)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (np.tanh, "def tanh(x, /):\n    return np.tanh(x)"),
        (np.power, "def power(x1, x2, /):\n    return np.power(x1, x2)"),
        (math.sin, "def sin(x, /):\n    return math.sin(x)"),
        (abs, "def abs_(x, /):\n    return abs(x)"),
        (np.linalg.det, "def det(a):\n    return np.linalg.det(a)"),
        (operator.mul, "def mul(a, b, /):\n    return operator.mul(a, b)"),
        (operator.itemgetter(0, "a"), "def itemgetter(x, /):\n    return (x[0], x['a'])"),
        (X.dot, None),
        (partial(quadratic, w=1.0), "def quadratic_partial(x, *, w=1.0, shift=0.5):\n    return quadratic(x, w=w, shift=shift)"),
        (partial(quadratic, 3.0), "def quadratic_partial(w=2.0, *, shift=0.5):\n    return quadratic(3.0, w, shift=shift)"),
        (partial(loss, DATA, DATA), "def loss_partial(w):\n    return loss(features, targets, w)"),
        (partial(MODEL.scale, 0.5), "def scale_partial(x):\n    return model.scale(0.5, x)"),
        (partial(summed, 2.0, k=3.0), "def summed_partial(*args, k=3.0, **kwargs):\n    return summed(2.0, *args, k=k, **kwargs)"),
        (Model.half, "def scale(self, x):\n    return original_scale(self, 0.5, x)"),
        (scipy_special.expit, "def expit(x, /):\n    return scipy.special.expit(x)"),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_the_function_around_it(function: Any, text: str | None) -> None:
    if text is not None:
        assert text_of(function) == text
    assert adapted(function) is adapted(function)


def test_the_derivative_can_be_read() -> None:
    derivative = symgrad.grad(partial(loss, DATA, np.ones(2)))
    derivative(X)
    assert "2 * (features @ w - targets) @ features" in derivative.source()
    assert derivative.__name__ == "loss_partial_grad"
    assert list(inspect.signature(symgrad.grad(partial(quadratic, w=1.0))).parameters) == ["x", "w", "shift"]
    assert symgrad.grad(partial(quadratic, w=1.0), "w")(3.0) == 9.0
    assert symgrad.grad(partial(quadratic, w=1.0))(3.0, w=2.0, shift=0.0) == 12.0
    assert "tanh" in repr(symgrad.grad(np.tanh))
    assert np.tanh.__doc__.split("\n")[-1].strip() in symgrad.grad(np.tanh).__doc__  # type: ignore[union-attr]


def test_fixed_arrays_are_read_at_each_call_and_other_values_when_the_partial_is_adapted() -> None:
    data = DATA.copy()
    derivative = symgrad.grad(partial(loss, data, np.ones(2)))
    before = derivative(X)
    data *= 2
    np.testing.assert_allclose(derivative(X), symgrad.grad(loss, "w")(data, np.ones(2), X))
    assert not np.allclose(before, derivative(X))
    assert symgrad.grad(partial(quadratic, 3.0)) is symgrad.grad(partial(quadratic, 3.0))
    assert symgrad.grad(partial(quadratic, 3.0)) is not symgrad.grad(partial(quadratic, 4.0))
    assert symgrad.grad(partial(quadratic, 0.0)) is not symgrad.grad(partial(quadratic, -0.0))
    assert symgrad.grad(partial(quadratic, 1)) is not symgrad.grad(partial(quadratic, 1.0))


def test_keywords_that_a_partial_fixes_can_be_given_again() -> None:
    assert symgrad.grad(partial(summed, 2.0, k=3.0), "args")(4.0, 5.0) == (3.0, 3.0)
    assert symgrad.grad(partial(summed, 2.0, k=3.0), "args")(4.0, k=5.0) == (5.0,)
    assert symgrad.grad(partial(summed, 2.0, k=3.0), "k")(4.0, 5.0) == 11.0
    assert symgrad.vjp(partial(np.sum, axis=0), DATA, axis=1)[0].shape == (2,)


def test_settings_are_handed_on() -> None:
    np.testing.assert_allclose(symgrad.grad(np.sum)(X, axis=0), np.ones(3))
    out, pullback = symgrad.vjp(np.sum, DATA, axis=1)
    np.testing.assert_allclose(out, DATA.sum(axis=1))
    np.testing.assert_allclose(pullback(np.array([1.0, 2.0]))[0], [[1, 1, 1], [2, 2, 2]])
    assert symgrad.grad(np.linalg.norm)(X, 1).tolist() == [1.0, -1.0, 1.0]


def test_names_that_collide() -> None:
    def np(x, model, features):
        return x * model["k"] * features

    fixed = partial(np, features=2.0, model={"k": 3.0})
    assert symgrad.grad(fixed)(1.0) == 6.0
    function = partial(lambda quadratic, quadratic_, f: quadratic * quadratic_ * f, X)
    assert symgrad.vjp(function, 2.0, 3.0)[1](X) == (np_sum(X * X * 3.0), np_sum(X * X * 2.0))


def np_sum(x: Any) -> Any:
    return x.sum()


def test_hostile_names_do_not_reach_the_text() -> None:
    class Hostile:
        def __init__(self) -> None:
            self.__name__ = "f(): import os #"

        __call__ = len  # not written in Python

    hostile = Hostile()
    with pytest.raises(SymgradError):
        symgrad.grad(hostile)(2.0)
    assert text_of(hostile).startswith("def function(")


def test_pickled() -> None:
    for function, args in ((np.tanh, (0.5,)), (partial(quadratic, w=1.0), (3.0,)), (abs, (-2.0,)), (partial(loss, DATA, np.ones(2)), (X,))):
        derivative = symgrad.grad(function)
        np.testing.assert_allclose(pickle.loads(pickle.dumps(derivative))(*args), derivative(*args))


def test_compiled_by_numba() -> None:
    assert symgrad.grad(partial(quadratic, w=1.0), jit=True)(3.0) == 5.5


def test_inside_a_function() -> None:
    fixed, getter = partial(quadratic, w=1.0), operator.itemgetter(1)
    assert symgrad.grad(lambda x: fixed(x) + np.tanh(x) * 0)(3.0) == 5.5
    np.testing.assert_allclose(symgrad.grad(lambda x: symgrad.grad(np.tanh)(x))(0.5), symgrad.grad(symgrad.grad(np.tanh))(0.5))
    assert symgrad.grad(lambda x: getter((x, x * 3)) * getter([1.0, x]))(2.0) == 12.0


def test_a_partial_that_is_called_otherwise() -> None:
    class Doubled(partial):
        def __call__(self, x):
            return 2 * x

    assert symgrad.grad(Doubled(quadratic, 1.0))(3.0) == 2.0


def test_a_partialmethod() -> None:
    class Own:
        factor = 3.0

        def scale(self, a, x, *, power=2):
            return self.factor * a * x**power

        half = partialmethod(scale, 0.5)
        cube = partialmethod(scale, power=3)

    own = Own()
    assert symgrad.grad(own.half)(2.0) == 6.0
    assert symgrad.grad(Own.half, "x")(own, 2.0) == 6.0
    derivative = symgrad.grad(lambda x: own.half(x) + own.cube(2.0, x) + Own().half(x, power=1))
    assert derivative(2.0) == 6.0 + 72.0 + 1.5
    Own.half = partialmethod(Own.scale, 1.0)
    assert derivative(2.0) == 12.0 + 72.0 + 3.0
    assert derivative._table.latest is not None
    assert len([e for kept in derivative._table.entries.values() for e in kept]) == 2


# ------------------------------------------------------------------ refused


def hint_of(error: SymgradError) -> str:
    assert error.hint is not None
    return error.hint.removeprefix("write ")


class Line:
    def __init__(self, slope, offset=0.0):
        self.slope, self.offset = slope, offset

    def at(self, x):
        return self.slope * x + self.offset


class Callable:
    def __call__(self, x):
        return x * x


@pytest.mark.parametrize(("kind", "hint", "args", "expected"), [
    (Line, "lambda slope, x: Line(slope).at(x)", (2.0, 3.0), 3.0),
    (Callable, "lambda x: Callable()(x)", (3.0,), 6.0),
    (list, "lambda x: sum(list(x))", (X,), [1.0, 1.0, 1.0]),
    (tuple, "lambda x: sum(tuple(x))", (X,), [1.0, 1.0, 1.0]),
    (partial(Line), "lambda slope, x: Line(slope).at(x)", (2.0, 3.0), 3.0),
])  # fmt: skip
def test_a_class_is_refused_with_a_line_that_works(kind: Any, hint: str, args: tuple[Any, ...], expected: Any) -> None:
    with pytest.raises(SourceNotFound, match="is a class") as caught:
        symgrad.grad(kind)
    assert hint_of(caught.value) == hint
    assert "\n" not in hint
    parameters = ", ".join(inspect.signature(eval(hint)).parameters)
    line = symgrad.from_source(f"def f({parameters}): return ({hint})({parameters})", globals={"Line": Line, "Callable": Callable})
    np.testing.assert_allclose(symgrad.vjp(line, *args)[1](1.0)[0], expected)


def test_a_class_without_methods() -> None:
    with pytest.raises(SourceNotFound, match="its instances are not numbers") as caught:
        symgrad.grad(namedtuple("Pair", "a b"))
    assert caught.value.hint == "pass a function that returns a number"
    with pytest.raises(SourceNotFound):
        symgrad.grad(Fraction)


def test_a_classmethod_of_no_class() -> None:
    with pytest.raises(BadArgument, match="belongs to no class") as caught:
        symgrad.grad(Model.__dict__["of_class"])
    assert symgrad.grad(eval(caught.value.hint.rpartition(": ")[2]))(3.0) == 3.0  # type: ignore[union-attr]


def test_a_function_without_a_rule_is_refused_by_name() -> None:
    with pytest.raises(UnknownFunction, match="zetac has no rule"):
        symgrad.grad(scipy_special.zetac)(0.5)
    with pytest.raises(NotScalar):
        symgrad.grad(np.linalg.inv)(np.eye(2))
    with pytest.raises(IntegerArgument):
        symgrad.grad(np.tanh)(1)
    for thing in (3, None, "f"):
        with pytest.raises(BadArgument, match="is not a function"):
            symgrad.grad(thing)  # type: ignore[arg-type]


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class Weighted:
    def __init__(self, scale):
        self.scale = scale

    @logged
    def value(self, a, b, *, power=2.0):
        return self.scale * a**power * b

    def product(*args):
        return args[0].scale * args[1] ** 2 * args[2]


WEIGHTED = logged(lambda a, b, *, power=2.0: a**power * b)


@pytest.mark.parametrize(("wrt", "expected"), [("a", 30.0), ("b", 9.0), (1, 9.0), ("power", 5 * 9 * math.log(3.0))])
def test_names_that_a_wrapper_shows(wrt: Any, expected: float) -> None:
    assert symgrad.grad(WEIGHTED, wrt=wrt)(3.0, 5.0, power=2.0) == pytest.approx(expected)
    assert symgrad.grad(Weighted(2.0).value, wrt=wrt)(3.0, 5.0, power=2.0) == pytest.approx(2 * expected)


def test_what_is_passed_by_name_to_a_wrapper() -> None:
    with pytest.raises(BadArgument, match=r"args has no part args\[1\]") as caught:
        symgrad.grad(WEIGHTED, wrt="b")(3.0, b=5.0)
    assert caught.value.hint == "its parts are args, args[0]; what is passed by name is a part of kwargs"
    assert symgrad.grad(WEIGHTED, wrt="kwargs['b']")(3.0, b=5.0) == 9.0


def test_positions_count_from_the_first_after_the_instance() -> None:
    for method in (Weighted(2.0).value, Weighted(2.0).product):
        assert symgrad.grad(method)(3.0, 5.0) == 60.0
        assert symgrad.grad(method, wrt=1)(3.0, 5.0) == 18.0
    assert symgrad.grad(Weighted.product, wrt=2)(Weighted(2.0), 3.0, 5.0) == 18.0
