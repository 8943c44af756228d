"""Semantics of Python and NumPy that are easily misread: correct on both targets, or refused."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from verdicts import Verdicts

import symgrad
from symgrad.errors import SymgradError

X = np.array([0.7, -1.3, 1.9, 0.4, -0.6, 1.2, 0.9, 1.5, -0.8])
VERDICTS = Verdicts()
right, refused = VERDICTS.right, VERDICTS.refused


# ------------------------------------------------------------------ order


@right
def keys_and_values_in_turn(x):
    seen = []

    def noted(value):
        seen.append(value)
        return value

    held = {noted(1.0): noted(x[0]), noted(2.0): noted(x[1])}
    return seen[1] * 3 + seen[3] * 5 + held[2.0]


@right
def setter_after_a_change_in_place(x):
    class_ = Doubling(x * 1.0)
    class_.held += x
    return class_.held[1] * class_.count


class Doubling:
    def __init__(self, held):
        self.count = 0.0
        self.held = held

    @property
    def held(self):
        return self._held

    @held.setter
    def held(self, value):
        self._held = value
        self.count = self.count + 1.0


# ------------------------------------------------------------------ memory


@right
def rows_of_a_list_are_views(x):
    y = x.reshape(3, 3).copy()
    rows = list(y)
    rows[0][1] = rows[1][1] ** 2
    return np.sum(y * y)


@right
def rows_of_a_tuple_are_views(x):
    y = x.reshape(3, 3).copy()
    first, *_ = tuple(y)
    y[0] = 7.0 * x[4]
    return np.sum(first**2)


if hasattr(np, "unstack"):  # NumPy 2.1

    @right
    def unstacked_are_views(x):
        y = x.reshape(3, 3).copy()
        first, second, _ = np.unstack(y, axis=1)
        first[0] = second[1] ** 2
        return np.sum(y * y)


@right
def by_rows_is_a_copy_of_what_lies_by_columns(x):
    y = x.reshape(3, 3).copy()
    v = np.ascontiguousarray(y.T)
    v[0] = 7.0
    return np.sum(y * y)


@right
def conjugate_of_the_method_is_the_array(x):
    y = x * 1.0
    y.conj()[0] = 3.0 * x[1]
    np.conj(y)[1] = 0.0
    return np.sum(y * y)


@right
def the_first_power_of_a_matrix_is_the_matrix(x):
    y = x.reshape(3, 3).copy()
    v = np.linalg.matrix_power(y, 1)
    v[0] = 2.0 * x[4]
    return np.sum(y * y)


@right
def parameters_unpacked_as_matrices_are_views(x):
    th = x * 1.0
    w = th[:4].reshape(2, 2)
    b = th[4:6]
    v = th[6:].reshape(1, -1)
    w[0, 1] = b[0] * 3
    b *= w[1]
    v[0, 1:] += th[:2]
    w.T[0] *= th[7]
    return np.sum(th**2) + np.sum(w @ w) * np.sum(v)


@right
def a_matrix_of_the_first_parameters(x):
    w = x[:4].reshape(2, 2)
    b = x[4:6]
    x[0] = 3 * b[0]
    return np.sum(w @ b) + w[0, 0]


@right
def ravel_of_a_piece_is_the_piece(x):
    th = x.copy()
    r = th[2:6].ravel()
    r[0] = 7 * x[0]
    return np.sum(th**2)


@right
def moved_axes_are_views(x):
    y = x.reshape(3, 3).copy()
    np.moveaxis(y, 0, 1)[0] = 2.0 * x[4]
    y.mT[1] *= 3.0
    return np.sum(y * y * np.arange(9).reshape(3, 3))


@right
def lists_of_lists_are_lists(x):
    rows = x.reshape(3, 3).tolist()
    return (rows[0] + rows[1])[4] * x[0]


@refused
def a_diagonal_is_read_only(x):
    y = x.reshape(3, 3).copy()
    np.diagonal(y)[0] = 2.0
    return np.sum(y)


@refused
def what_is_broadcast_is_read_only(x):
    y = np.broadcast_to(x, (2, 9))
    y[0, 0] = 2.0
    return np.sum(y)


# ------------------------------------------------------------------ numbers


@right
def sums_of_booleans(x):
    return np.sum((x > 0) + (x > 0.5)) * x[0] + ((x[0] > 0) + (x[2] > 0)) * x[1] + ((x > 0) @ (x > 0.5)) * x[2]


@right
def products_of_booleans(x):
    ones = np.ones((3, 3), dtype=bool)
    return np.matmul(ones, ones[0]).sum() * x[0] + np.vdot(x > 0, x > 1) * x[1] + np.sum((x > 0) * (x > 1)) * x[2]


@pytest.mark.parametrize("jit", [False, True])
def test_an_integer_over_zero_raises(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")

    def f(x, n):
        return x[0] * (5 // n)

    derived = symgrad.value_and_grad(f, jit=jit)
    assert derived(X, 2)[0] == pytest.approx(1.4)
    with pytest.raises(ZeroDivisionError):
        derived(X, 0)


@pytest.mark.parametrize("f", [np.log, np.log10, np.log1p, lambda a: np.float64(2.0) * np.log2(a), lambda a: np.exp(a) / a,
                               lambda a: np.power(a, -1.0), lambda a: np.float_power(a, -2), lambda a: np.array([a])[0] / a,
                               lambda a: np.power(a - 1.0, 0.5)])  # fmt: skip
@pytest.mark.parametrize("jit", [False, True])
def test_what_numpy_computes_of_python_numbers_does_not_raise(f: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")

    def function(a):
        return f(a)

    point = -1.0 if f is np.log1p else 0.0
    with np.errstate(all="ignore"):
        value, gradient = symgrad.value_and_grad(function, jit=jit)(point)
        expected, slope = symgrad.value_and_grad(function, jit=jit)(np.float64(point))
    assert value == pytest.approx(expected, nan_ok=True)
    assert not np.iscomplexobj(gradient)
    assert np.isnan(slope) or gradient == slope


def test_the_slope_of_a_logarithm_at_zero_is_infinite() -> None:
    with np.errstate(all="ignore"):
        assert symgrad.grad(lambda a: np.log(a))(0.0) == math.inf


# ------------------------------------------------------------------ classes


class Pair(NamedTuple):
    a: float
    b: float = 2.0


class Tenfold(Pair):
    def __new__(cls, a, b=3.0):
        return super().__new__(cls, a * 10, b)


class Turned(Pair):
    def __iter__(self):
        return iter((self.b, self.a))


class Summed(Pair):
    def __add__(self, other):
        return Summed(self.a + other.a, self.b * other.b)


@refused
def named_tuple_made_anew(x):
    return Tenfold(x[0]).a * x[1]


@refused
def named_tuple_unpacked_anew(x):
    a, b = Turned(x[0], x[1])
    return a + 2 * b


@right
def missing_modules_on_paths_not_taken(x):
    total = x[0] * x[1]
    if total > 100.0:
        import no_such_module.part as part

        return part.f(x)
    try:
        if total != 0.0:
            from numpy import no_such_name

            total = no_such_name(total)
    except ImportError:
        total = total * x[2]
    return total


def with_defaults_of(other):
    def decorated(function):
        def called(*args):
            return function(*args)

        called.__defaults__ = other.__defaults__
        return called

    return decorated


def three_defaults(x, y=2.0, z=3.0, w=4.0):
    return x


@with_defaults_of(three_defaults)
def scaled_by(x, y=5.0):
    return x * y


def second_by_default(x, y):
    return x * y


second_by_default.__defaults__ = (1.0, 2.0, 3.0)


@right
def more_defaults_than_parameters(x):
    return scaled_by(x[0]) * second_by_default(x[1]) * x[2]


@right
def special_methods_of_an_array(x):
    y = x.__add__(2.0).__mul__(x)
    y.__setitem__(0, x[1])
    y.__iadd__(x)
    return np.sum(y) * x.__len__() + x.__getitem__(0) * x.__neg__().__abs__().sum()


@right
def as_many_items_of_an_iterator(x):
    def squares():
        k = 0
        while True:
            yield x[k % len(x)] ** 2
            k += 1

    return np.sum(np.fromiter(squares(), float, count=2)) * np.sum(np.fromiter((v * v for v in x), dtype=float, count=len(x)))


@right
def too_few_items_of_an_iterator(x):
    try:
        return np.sum(np.fromiter((v * v for v in x), float, len(x) + 1))
    except ValueError:
        return x[0] * x[1]


@right
def item_of_a_number_assigned_to(x):
    """As code does that takes arrays and numbers."""
    number, other = np.hypot(x[0], 2.0), float(x[1])
    inside = number > 0.0
    try:
        if inside.any():
            number[inside] = -number[inside]
    except (TypeError, AttributeError):
        if inside:
            number = -number * x[1]
    try:
        other[0] = number
    except TypeError as error:
        other = other * len(str(error))
    return number * other


@right
def named_tuple_added_anew(x):
    total = Summed(x[0], x[1]) + Summed(x[2], x[3])
    return total.a * total.b


class Tripling(type):
    def __call__(cls, *args):
        instance = super().__call__(*args)
        instance.v = instance.v * 3
        return instance


class Tripled(metaclass=Tripling):
    def __init__(self, v):
        self.v = v


class Once:
    def __new__(cls, v):
        instance = super().__new__(cls)
        instance.v = v * 2
        return instance

    def __init__(self, v):
        pass


class Asked:
    def __init__(self, v):
        self.v = v

    def __getattribute__(self, name):
        return object.__getattribute__(self, name) * 2


@refused
def made_by_a_metaclass(x):
    return Tripled(x[0]).v * x[1]


@right
def made_by_new(x):
    return Once(x[0]).v * x[1]


@refused
def every_attribute_asked_for(x):
    return Asked(x[0]).v * x[1]


@dataclasses.dataclass
class ByName:
    a: float = dataclasses.field(kw_only=True)
    b: float = 1.0


@right
def fields_by_name_only(x):
    return ByName(x[0], a=x[1]).b * x[1]


class Twice:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args):
        return self.function(*args) * 2

    def __get__(self, instance, owner=None):
        return functools.partial(self, instance)


class Decorated:
    @Twice
    def square(self, v):
        return v**2

    @functools.cached_property
    def four(self):
        self.value = 4.0
        return self.value


OUTSIDE = Decorated()


@refused
def decorator_that_is_a_class(x):
    return Decorated().square(x[0])


@refused
def decorator_that_is_a_class_outside(x):
    return OUTSIDE.square(x[0])


@right
def a_property_that_is_kept(x):
    instance = Decorated()
    return instance.four * x[0] + instance.four * instance.value * x[1] + OUTSIDE.four


class Number:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return self.v * 5 + other

    def __eq__(self, other):
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self):
        return self.v * 4

    def __invert__(self):
        return self.v * 6


class Derived(Number):
    def __radd__(self, other):
        return self.v * 7 + other.v


class Plain:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return self.v * 2


@right
def operators_not_implemented(x):
    same = Number(x[0])
    return x[0] * (Number(x[1]) != Number(x[1])) + x[1] * (same == same) + (1.0 + Number(x[2])) + -Number(x[3]) + ~Number(x[4])  # noqa: PLR0124


@right
def a_derived_class_is_asked_first(x):
    return Number(x[0]) + Derived(x[1])


@refused
def an_array_beside_an_instance(x):
    return np.sum(x + Number(x[0]))


# ------------------------------------------------------------------ paths


@right
def a_function_chosen_by_a_value(x):
    if x[0] < 0:
        f = lambda a: a * 2  # noqa: E731
    else:
        f = lambda a: a * 3  # noqa: E731
    return f(x[1])


@right
def a_function_returned_by_a_value(x):
    def chosen(v):
        if v > 0:
            return lambda a: a * 2
        return lambda a: a * 3

    return chosen(x[0])(x[1]) + chosen(x[1])(x[2])


@right
def another_function_in_the_next_round(x):
    f = lambda a: a * 0.2  # noqa: E731
    for i in range(3):
        x = x * f(x[i])
        f = lambda a: a * 0.3  # noqa: E731
    return f(x[1])


@right
def a_method_chosen_by_a_value(x):
    a, b = [x[0]], [x[1]]
    if x[0] < 0:
        f = a.append
    else:
        f = b.append
    f(x[2])
    return sum(a) * len(a) + sum(b) * len(b) * 2


@right
def a_function_of_the_last_round(x):
    t = 0.0
    for i in range(3):

        def f(a=i):
            return x[a] * i

        t = t + f()
    return t + f()


@right
def calls_that_are_counted(x):
    count = [0]

    def f(n):
        count[0] += 1
        return x[0] if n < 2 else f(n - 1) + f(n - 2)

    return f(4) * count[0]


@refused
def without_end(x):
    return without_end(x * 1.0)


@right
def handed_on_to_itself(x):
    def f(n, then):
        return then(x[0]) if n == 0 else f(n - 1, lambda v: then(v * 2))

    return f(3, lambda v: v + 1)


@right
def functions_handed_to_what_calls_itself(x):
    return repeated(lambda v: v * 2, 2, x) + repeated(lambda v: v * 3, 2, x) + repeated(np.sin, 1, x)


def repeated(g, n, x):
    return g(x[0]) if n == 0 else repeated(g, n - 1, x) * 2


@right
def sorted_in_a_row(x):
    m = x.reshape(3, 3)
    return np.sort(m, axis=None)[0] * 3 + np.sum(np.partition(m, 2, axis=None)[:3]) + np.take_along_axis(m, np.array([4, 0]), axis=None)[1]


@refused
def an_array_of_objects(x):
    return np.array([x[0], None], dtype=object)[0] * 2


@right
def left_by_the_else_of_a_try(x):
    y = x * 1.0

    def f():
        try:
            a = y[0]
        except ValueError:
            a = 0.0
        else:
            return a * 2
        finally:
            y[0] = 100.0
        return a

    return f() * y[0]


@right
def any_and_all_are_booleans(x):
    return any([x[0], 0]) * x[2] + all([x[0], 1]) * x[1]


@right
def keys_that_change(x):
    held = {"a": x[0]}
    keys = held.keys()
    held["b"] = x[1]
    return sum(held[k] for k in keys)


@refused
def a_list_of_one_path_that_grows(x):
    if x[0] > 5:
        held = [x[0], x[1]]
    for i in range(len(x)):
        if x[0] > 5:
            held.append(x[i])
            x = x * sum(held)
    return np.sum(x)


@pytest.mark.parametrize("jit", [False, True])
def test_a_name_that_no_round_binds_has_no_value(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")

    def f(x):
        for _ in range(0):
            z = 1
        return np.sum(x[z])

    with pytest.raises(UnboundLocalError):
        symgrad.grad(f, jit=jit)(X)


# ------------------------------------------------------------------ buffers of one element


@right
def the_item_of_a_buffer_meets_a_number_of_numpy(x):
    out = np.empty(())
    np.sum(np.square(x), out=out)
    np.sqrt(out, out=out)
    return np.sum(out.item())


@right
def the_item_of_a_buffer_of_several_axes(x):
    out = np.empty((1, 1))
    out[...] = np.sum(x)
    np.multiply(out, 3.0, out=out)
    return np.max([out.item(), -50.0]) * np.mean(x)


# ------------------------------------------------------------------ the tests


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", VERDICTS.to_be_right, ids=lambda f: f.__name__)
def test_right(f: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    value, gradient = symgrad.value_and_grad(f, jit="auto" if jit else False)(X)
    steps = 1e-6 * np.eye(9)
    assert value == pytest.approx(f(X), rel=1e-12)
    assert gradient == pytest.approx(np.array([(f(X + s) - f(X - s)) / 2e-6 for s in steps]), abs=1e-6)


@pytest.mark.parametrize("f", VERDICTS.to_be_refused, ids=lambda f: f.__name__)
def test_refused(f: Any) -> None:
    with pytest.raises(SymgradError):
        symgrad.grad(f)(X)
