"""Kinds of arguments: each row of the table x positions x targets: accepted, or refused with a way out."""

from __future__ import annotations

import array
import decimal
import fractions
import re
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, NotScalar, SymgradError
from symgrad.frontend.text.source import from_source
from symgrad.kinds import KINDS, conversion, overrides, row_of

PAGE = Path(__file__).parent.parent.parent / "docs" / "arguments.md"
X = np.array([1.0, 2.0, 3.0])
TARGETS = [False, "auto"]
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")


class Plain(np.ndarray):
    def power(self):
        return (self * self).sum()


class Scaled(np.ndarray):
    def __mul__(self, other):
        return 2 * np.asarray(self) * np.asarray(other)

    __rmul__ = __mul__


class Watched(np.ndarray):
    def __array_finalize__(self, obj):
        self.unit = getattr(obj, "unit", None)


class Handled(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*map(np.asarray, inputs), **kwargs)


class Indexed(np.ndarray):
    def __getitem__(self, key):
        return np.asarray(self)[key] * 2


def fake(module: str, name: str) -> Any:
    """An instance of a class as another library has it: NumPy takes it as an array, and its operators are its own."""

    def multiplied(self: Any, other: Any) -> Any:
        return np.asarray(other) * X * 2

    members = {"__module__": module, "__array__": lambda self, *a, **k: X.copy(), "__mul__": multiplied, "__rmul__": multiplied,
               "__array_priority__": 1000, "shape": (3,), "data": X}  # fmt: skip
    return type(name, (), members)()


def memmap() -> Any:
    """A file of numbers, which is gone when the array is."""
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, dtype="f8", mode="w+", shape=3)
    mapped[:] = X
    return mapped


#: examples of each row, by its name; those of other libraries are made up, and tried with the libraries below
EXAMPLES: dict[str, list[Callable[[], Any]]] = {
    "a masked array": [lambda: np.ma.array(X, mask=[0, 1, 0]), lambda: np.ma.array(X)],
    "an np.matrix": [lambda: np.matrix(X)],
    "a structured array or record": [lambda: np.array([(1.0, 2)], [("a", "f8"), ("b", "i4")]), lambda: np.void(b"abc"),
                                     lambda: np.rec.array([(1.0, 2)], [("a", "f8"), ("b", "i4")])],
    "an np.recarray": [lambda: X.view(np.recarray)],
    "a datetime64 or timedelta64": [lambda: np.array([1, 2, 3], "m8[s]"), lambda: np.array(["2020-01-01"], "M8[D]"),
                                    lambda: np.timedelta64(2, "s")],
    "an array of objects": [lambda: X.astype(object)],
    "an array of strings": [lambda: np.array(["1", "2", "3"]), lambda: np.array([b"1", b"2", b"3"])],
    "an array of a subclass that overrides something": [lambda: X.view(Scaled), lambda: X.view(Watched), lambda: X.view(Handled),
                                                        lambda: X.view(Indexed)],
    "a big-endian array": [lambda: X.astype(">f8"), lambda: X.astype(">f4")],
    "a longdouble or clongdouble": [lambda: X.astype("g")],
    "an np.memmap": [memmap],
    "an array of a subclass that overrides nothing": [lambda: X.view(Plain)],
    "a pandas Series, Index or DataFrame": [lambda: fake("pandas.core.series", "Series"), lambda: fake("pandas.core.frame", "DataFrame"),
                                            lambda: fake("pandas.core.indexes.base", "Index")],
    "an xarray DataArray, Variable or Dataset": [lambda: fake("xarray.core.dataarray", "DataArray")],
    "a scipy.sparse array or matrix": [lambda: fake("scipy.sparse._csr", "spmatrix"), lambda: fake("scipy.sparse._base", "sparray")],
    "a torch tensor": [lambda: fake("torch", "Tensor")],
    "a JAX array": [lambda: fake("jaxlib._jax", "ArrayImpl")],
    "a TensorFlow tensor": [lambda: fake("tensorflow.python.framework.ops", "EagerTensor")],
    "a CuPy array": [lambda: fake("cupy", "ndarray")],
    "a polars Series or DataFrame": [lambda: fake("polars.series.series", "Series")],
    "a dask array or frame": [lambda: fake("dask.array.core", "Array")],
    "a decimal.Decimal": [lambda: decimal.Decimal(2)],
    "a fractions.Fraction": [lambda: fractions.Fraction(1, 2)],
    "an array.array": [lambda: array.array("d", X)],
    "a memoryview": [lambda: memoryview(X)],
    "a range": [lambda: range(3)],
    "a set or frozenset": [lambda: {1.0, 2.0}, lambda: frozenset([1.0])],
    "a generator or iterator": [lambda: (v for v in X), lambda: iter([1.0]), lambda: map(float, X)],
    "an array of another library": [lambda: fake("unheard.of", "Array")],
}  # fmt: skip


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Held:
    m: Any


class Model:
    def __init__(self, m: Any) -> None:
        self.m = m

    def loss(self, x):
        return np.sum(x * self.m)


def closed_over(m: Any) -> Any:
    return lambda x: np.sum(x * m)


def by_default(value: Any) -> Any:
    def f(x, m=value):
        return np.sum(x * m)

    return f


def as_data(x, m):
    return np.sum(x * m)


def of_first(x, o):
    return np.sum(x * o[0])


def of_key(x, o):
    return np.sum(x * o["m"])


def of_attribute(x, o):
    return np.sum(x * o.m)


def of_field(x, o):
    return np.sum(x * o.second)


def nested(x, o):
    return np.sum(x * o["a"][1].m)


def of_global(value: Any) -> Any:
    return from_source("def f(x): return np.sum(x * m)", globals={"np": np, "m": value})


#: what is differentiated with respect to its first argument, which is ``X``, and the other arguments
POSITIONS: dict[str, Callable[[Any], tuple[Any, tuple[Any, ...]]]] = {
    "data": lambda m: (as_data, (m,)),
    "list": lambda m: (of_first, ([m, 1.0],)),
    "tuple": lambda m: (of_first, ((m,),)),
    "dict": lambda m: (of_key, ({"m": m},)),
    "named tuple": lambda m: (of_field, (Pair(1.0, m),)),
    "dataclass": lambda m: (of_attribute, (Held(m),)),
    "object": lambda m: (of_attribute, (SimpleNamespace(m=m),)),
    "nested": lambda m: (nested, ({"a": [1.0, Held(m)]},)),
    "global": lambda m: (of_global(m), ()),
    "self": lambda m: (Model(m).loss, ()),
    "cell": lambda m: (closed_over(m), ()),
    "default": lambda m: (by_default(m), ()),
}


def examples(*verdicts: str) -> list[Any]:
    chosen = [kind for kind in KINDS if kind.verdict in verdicts]
    return [pytest.param(k, make, id=f"{k.name} {number}") for k in chosen for number, make in enumerate(EXAMPLES[k.name])]


def test_the_page_shows_the_table():
    rows = re.findall(r"^\| (.+) \| (converted|data|refused) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(name, verdict, means.strip("`")) for name, verdict, means in rows] == [(k.name, k.verdict, k.means) for k in KINDS]


def test_each_row_has_an_example_that_it_recognises():
    assert list(EXAMPLES) == [kind.name for kind in KINDS]
    for name, makes in EXAMPLES.items():
        for make in makes:
            assert row_of(make()) is next(kind for kind in KINDS if kind.name == name)
    for value in (X, 1.0, 2, True, None, "text", np.float32(1), [1.0], {"a": X}, Held(X), np.sin, np.random.default_rng(0)):
        assert row_of(value) is None


@pytest.mark.parametrize(("kind", "make"), examples("refused", "data"))
def test_refused_in_wrt(kind, make):
    for jit in TARGETS:
        for derive in (symgrad.grad, symgrad.value_and_grad):
            with pytest.raises((BadArgument, SymgradError), match="is not computed with|is .*, which|cannot be used") as refused:
                derive(lambda m: np.sum(m * m), jit=jit)(make())
            assert kind is KINDS[-1] or isinstance(refused.value, BadArgument)
            assert kind is KINDS[-1] or kind.name in str(refused.value)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize(("kind", "make"), examples("refused"))
def test_refused_as_data(kind, make, position):
    for jit in TARGETS:
        function, arguments = POSITIONS[position](make())
        if kind is KINDS[-1]:  # an instance of a class whose operators are followed
            np.testing.assert_array_equal(symgrad.grad(function, jit=jit)(X, *arguments), 2 * X)
            continue
        with pytest.raises(BadArgument) as refused:
            symgrad.grad(function, jit=jit)(X, *arguments)
        assert kind.name in refused.value.what
        assert re.search(r"pass \S", refused.value.hint or "")


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize(("kind", "make"), examples("data"))
def test_data_is_right_or_refused(kind, make, position):
    function, arguments = POSITIONS[position](make())
    expected = np.asarray(make(), float) * np.ones(3)
    try:
        gradient = symgrad.grad(function)(X, *arguments)
    except SymgradError:
        return
    assert gradient.dtype == float
    np.testing.assert_array_equal(gradient, expected)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize(("kind", "make"), examples("converted"))
def test_converted_is_right_as_data(kind, make, position):
    function, arguments = POSITIONS[position](make())
    derivative = symgrad.grad(function)
    for _ in range(2):
        gradient = derivative(X, *arguments)
        assert type(gradient) is np.ndarray
        assert gradient.dtype == float
        np.testing.assert_array_equal(gradient, X)


def squares(m):
    return np.sum(m * m)


#: functions of what holds an array, with the array's gradient in what they give
HOLDERS: list[tuple[Callable[..., Any], Callable[[Any], Any], Callable[[Any], Any]]] = [
    (squares, lambda m: m, lambda g: g),
    (lambda o: squares(o[0]), lambda m: [m, 1.0], lambda g: g[0]),
    (lambda o: squares(o["m"]), lambda m: {"m": m}, lambda g: g["m"]),
    (lambda o: squares(o.m), Held, lambda g: g.m),
    (lambda o: squares(o[1].m), lambda m: (1.0, SimpleNamespace(m=m)), lambda g: g[1].m),
]


@pytest.mark.parametrize(("kind", "make"), examples("converted"))
def test_converted_is_right_in_wrt(kind, make):
    for function, hold, expected in HOLDERS:
        value = make()
        gradient = expected(symgrad.grad(function)(hold(value)))
        assert type(gradient) is np.ndarray
        assert gradient.dtype == (np.float32 if value.dtype.itemsize == 4 else np.float64)
        assert gradient.dtype.isnative
        np.testing.assert_array_equal(gradient, 2 * X)
        np.testing.assert_array_equal(np.asarray(value, float), X)  # the caller's array is as it was
    out, pullback = symgrad.vjp(lambda m: m * 2.0, make())
    assert type(out) is np.ndarray
    np.testing.assert_array_equal(pullback(np.ones(3))[0], [2, 2, 2])
    np.testing.assert_array_equal(symgrad.grad(lambda m: np.sum(symgrad.grad(squares)(m)))(make()), [2, 2, 2])
    np.testing.assert_array_equal(symgrad.grad(lambda m: np.sum(symgrad.grad(squares)(m) * m))(make()), 4 * X)


@pytest.mark.parametrize(("kind", "make"), [e if n == 0 else pytest.param(*e.values, id=e.id, marks=pytest.mark.slow)
                                            for n, e in enumerate(examples("converted"))])  # fmt: skip
def test_converted_is_right_in_kernels(kind, make):
    pytest.importorskip("numba")
    for function, hold, expected in HOLDERS[:2]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gradient = expected(symgrad.grad(function, jit=True)(hold(make())))
        np.testing.assert_array_equal(gradient, 2 * X)
    for position in ("data", "dict", "global", "self"):
        function, arguments = POSITIONS[position](make())
        np.testing.assert_array_equal(symgrad.grad(function, jit="auto")(X, *arguments), X)


def test_numbers_of_long_kind():
    assert symgrad.grad(lambda s: s**3)(np.longdouble(2)) == 12.0
    assert type(symgrad.grad(lambda s: s**3)(np.longdouble(2))) is not np.longdouble
    np.testing.assert_array_equal(symgrad.grad(as_data)(X, np.longdouble(2)), [2, 2, 2])
    out, pullback = symgrad.vjp(lambda z: z * z, np.array([1 + 2j], "G"))
    assert out.dtype == pullback(np.ones(1, complex))[0].dtype == np.complex128


def test_integers_of_the_other_byte_order_are_integers():
    places = np.array([2, 0], ">i4")
    np.testing.assert_array_equal(symgrad.grad(lambda x, p: np.sum(x[p] ** 2))(X, places), [2, 0, 6])
    with pytest.raises(symgrad.errors.IntegerArgument):
        symgrad.grad(squares)(places)


def test_code_of_one_kind_is_not_taken_for_another():
    derivative = symgrad.grad(as_data)
    kinds: list[Any] = [X, X.view(Plain), X.view(Scaled), memmap(), np.ma.array(X, mask=[1, 1, 1]), X.astype(">f8"), np.matrix(X),
                        X.astype("g"), X.astype("f4"), X.astype(object), fake("torch", "Tensor"), X.astype(int), 2.0]  # fmt: skip
    for _ in range(2):
        for value in [*kinds, *kinds[::-1]]:
            if row_of(value) is not None and row_of(value).verdict == "refused":  # type: ignore[union-attr]
                with pytest.raises(BadArgument):
                    derivative(X, value)
                continue
            np.testing.assert_array_equal(derivative(X, value), np.asarray(value, float) * np.ones(3))


def test_code_of_a_global_is_not_taken_for_another_kind():
    space: dict[str, Any] = {"np": np, "m": X}
    derivative = symgrad.grad(from_source("def f(x): return np.sum(x * m)", globals=space))
    kinds: list[Any] = [X, X.view(Plain), X.view(Scaled), memmap(), X.astype(">f8"), np.ma.array(X, mask=[1, 1, 1]), X.astype("g"),
                        "text", X.astype(int), fake("pandas", "Series"), 2.0, X > 1, X.astype(">i4")]  # fmt: skip
    scope = derivative._function.__globals__
    for value in [*kinds, *kinds[::-1]]:
        scope["m"] = value
        if isinstance(value, str) or row_of(value) is not None and row_of(value).verdict == "refused":  # type: ignore[union-attr]
            with pytest.raises((BadArgument, TypeError)):
                derivative(X)
            continue
        np.testing.assert_array_equal(derivative(X), np.asarray(value, float) * np.ones(3))


def test_what_is_passed_along_is_not_refused():
    def f(x, m):
        kept = [m]
        return np.sum(x * x) + 0.0 * len(kept)

    for name, makes in EXAMPLES.items():
        for make in makes:
            np.testing.assert_array_equal(symgrad.grad(f)(X, make()), 2 * X, err_msg=name)


def test_the_way_out_inside_the_function():
    masked = np.ma.array(X, mask=[0, 1, 0])
    np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(x * m.filled(0.0)))(X, masked), [1, 0, 3])
    np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(x * np.asarray(m)))(X, np.matrix(X).A1.view(Scaled)), X)
    np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(x * np.asarray(m, dtype=float)))(X, X.astype(object)), X)
    records = np.array([(1.0, 2), (3.0, 4)], [("a", "f8"), ("b", "i4")])
    np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(x * m["a"]))(X[:2], records), [1, 3])


def test_what_methods_give_is_looked_at_when_it_runs():
    masked = np.ma.array(X, mask=[0, 1, 0])
    for function in (
        lambda x, m: np.sum(x * m.copy()),
        lambda x, m: np.sum(x * (m * 2)),
        lambda x, m: np.sum(x * np.sqrt(m)),
        lambda x, m: np.sum(x * np.asanyarray(m)),
    ):
        with pytest.raises(BadArgument, match="which is not supported"):
            symgrad.grad(function)(X, masked)
    np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(x) * m.sum())(X, masked), [4, 4, 4])


def test_a_mutated_argument_of_another_kind_stays_as_it_is():
    def f(m):
        m[0] = 5.0
        return np.sum(m * m)

    for make in (memmap, lambda: X.astype(">f8"), lambda: X.view(Plain)):
        value = make()
        np.testing.assert_array_equal(symgrad.grad(f)(value), [0, 4, 6])
        np.testing.assert_array_equal(np.asarray(value), X)


def test_strided_arrays_of_the_other_byte_order():
    wide = np.arange(12.0).astype(">f8").reshape(3, 4)
    for value in (wide[:, 1], wide.T, wide[::2, ::2], wide[::-1]):
        expected = 2 * np.asarray(value, float)
        np.testing.assert_array_equal(symgrad.grad(squares)(value), expected)
        try:
            gradient = symgrad.grad(reshaped_and_stored)(value)
        except SymgradError:
            continue
        np.testing.assert_array_equal(gradient, symgrad.grad(reshaped_and_stored)(np.array(value, float, copy=None)))


def reshaped_and_stored(m):
    y = m.reshape(-1)
    y[0] = 1.0
    return np.sum(m * m) + np.sum(y)


def test_overrides():
    assert [bool(overrides(cls)) for cls in (Plain, Scaled, Watched, Handled, Indexed, np.ma.MaskedArray)] == [False, *[True] * 5]
    assert conversion(X) == conversion("text") == conversion(np.float32(1)) == ""


def test_a_saved_derivative_takes_plain_arrays(tmp_path):
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(squares), path, X.astype(">f8"))
    space: dict[str, Any] = {"__name__": "saved"}
    exec(path.read_text(encoding="utf-8"), space)
    np.testing.assert_array_equal(space["squares_grad"](X), 2 * X)


def test_integer_and_bool_results_have_a_zero_gradient():
    for function in (lambda x: int(x), lambda x: x > 1.0):
        assert symgrad.grad(function, allow_unused=True)(2.0) == 0.0
    with pytest.raises(NotScalar):
        symgrad.grad(lambda x: "text")(2.0)


# ------------------------------------------------------------------ the libraries themselves


def refused_everywhere(value: Any, name: str) -> None:
    with pytest.raises(BadArgument, match=name):
        symgrad.grad(squares)(value)
    for position in POSITIONS:
        function, arguments = POSITIONS[position](value)
        with pytest.raises(BadArgument, match=name):
            symgrad.grad(function)(X, *arguments)


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X, "b": 2 * X})
    for value in (frame, frame["a"], pandas.Index(X), pandas.array(X)):
        refused_everywhere(value, "pandas")
    for function in (
        lambda x, m: np.sum(x * m["a"].to_numpy()),
        lambda x, m: np.sum(m[["a", "b"]].to_numpy().T @ x),
    ):
        expected = X if "T" not in function.__code__.co_names else 3 * X
        np.testing.assert_array_equal(symgrad.grad(function)(X, frame), expected)


def test_xarray():
    xarray = pytest.importorskip("xarray")
    refused_everywhere(xarray.DataArray(X), "xarray")
    np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(x * m.values))(X, xarray.DataArray(X)), X)


def test_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    for value in (sparse.csr_matrix(np.eye(3)), sparse.csr_array(np.eye(3)), sparse.coo_array(np.eye(3))):
        refused_everywhere(value, "scipy.sparse")
        with pytest.raises(BadArgument, match=r"m\.toarray\(\)"):
            symgrad.grad(lambda x, m: np.sum(m @ x))(X, value)
        np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(m.toarray() @ x))(X, value), np.ones(3))


def test_torch():
    torch = pytest.importorskip("torch")
    refused_everywhere(torch.tensor(X), "torch")
    np.testing.assert_array_equal(symgrad.grad(lambda x, m: np.sum(x * m.detach().numpy()))(X, torch.tensor(X)), X)


def test_jax():
    numpy = pytest.importorskip("jax.numpy")
    refused_everywhere(numpy.asarray(X), "JAX")
