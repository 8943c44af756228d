"""Unusual arguments of NumPy's functions: each call over dtypes, extents and layouts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

#: calls of arrays of one axis, which may be empty, then of three axes
VECTORS = """np.diff(x, prepend=0.5)|np.diff(x, 1, -1, x[:1], x[-1:])|np.sort(x, kind='stable')|np.sort(x, -1, 'mergesort')|np.argsort(x, kind='stable') * x|
x.argsort(kind='mergesort') * x|np.argsort(x > 1, stable=True) * x|np.unique(x, return_index=True)|np.unique(x, return_inverse=True)[1] * x|
np.unique(np.round(x), return_counts=True)[1].sum() * x|np.intersect1d(x, x[1:])|np.setxor1d(x, x[:1])|np.insert(x, [0, 1, 1], [1, 2, 3])|
np.insert(x, slice(0, 2), 7)|np.insert(x, [-1, 0], x[:2])|np.delete(x, slice(0, 1))|np.delete(x, np.s_[::-2])|np.trim_zeros(x, 'f')|
np.trim_zeros(np.append(x, 0), 'b')|np.clip(x, min=0.9)|np.clip(x, max=1.5)|np.concatenate((x, x), dtype=np.float64)|np.stack([x, x], dtype=np.float32)|
np.linspace(x, 5, 3, dtype=np.float32)|np.linspace(0, 5.9, 3, dtype=int)[0] * x|np.polymul(x, [3, 1, 2])|np.polyint(x, 2, [1.0, 2.0])|np.polyint(x, 1, 3)|
np.polyfit(np.arange(3), np.stack([x, x * 2], 1), 1)|np.average(x, weights=x - x)|np.average(x, weights=[1, 0, 2])|np.histogram(x, [0.0, 1.0, 2.0], weights=x)[0]|
np.cov(x, x[::-1], fweights=[1, 2, 1])|np.cov(x, aweights=[0.5, 1.0, 2.0], ddof=0)|np.sum(x) * np.finfo(np.float32).eps|x * np.iinfo(np.int8).max|
x * (x.dtype.itemsize > 2)|x.astype(np.dtype('float32'))|np.zeros(3, dtype=np.dtype('int8')) + x|np.vectorize(lambda v: v * v)(x)|
np.r_[x, x[:1]]|np.array(x, ndmin=2)|np.array([x, x], ndmin=3)|np.array(s, ndmin=1) * x[:1]|np.array(x, float, copy=True, ndmin=1)|np.lib.stride_tricks.sliding_window_view(x, 2)|np.einsum('i,->i', x, 0.3)|np.einsum('i,j,->ij', x, x, 2)|np.fromiter(x, float)"""
WIDE = """np.diff(x, axis=1, append=0.5)|np.diff(x, axis=-1, prepend=x[..., :1])|x[np.nonzero(x > 1)]|x[np.where(x > 1)] * 2|np.insert(x, [0, 2], 9.0, 1)|
np.insert(x, [0, 1], x[:, :, 0], -1)|np.delete(x, slice(None, None, 2), 1)|np.lib.stride_tricks.sliding_window_view(x, (2, 2), (0, 1)).sum(axis=(-1, -2))|
np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)|np.take_along_axis(x, np.array([[[1, 0]]]), axis=-1)|np.take_along_axis(x, np.array([[[0]], [[1]]]), 1)|
np.var(x, where=x > 0.6)|np.std(x, 1, where=[[True], [False], [True]], ddof=0)|np.var(x, axis=(0, 2), where=x > 0.6, keepdims=True)|np.nansum(x, initial=0.3)|
np.nansum(x, 1, where=x > 1, keepdims=True)|np.nansum(x, 0, np.float32)|np.nanprod(x, axis=0, initial=0.3)|np.nanprod(x, where=x > 1, dtype=float)|
np.nanmean(x, where=x > 0.6)|np.nanmean(x, axis=(0, 1), where=x > 0.6)|np.nanmean(x, 0, np.float32)|np.nanmax(x, 0, initial=1.0)|np.nanmin(x, where=x > 1, initial=9)|
np.nanvar(x, correction=1)|np.nanstd(x, 1, where=x > 0.2)|np.nanvar(x, mean=np.nanmean(x, keepdims=True))|np.nanvar(x, 0, np.float64)|np.nanmedian(x, axis=(0, 2))|
np.nanmedian(x, axis=(-1, 0), keepdims=True)|np.nanquantile(x, 0.3, axis=1)|np.nanquantile(x, 0.3, axis=(0, 1), keepdims=True)|np.nanpercentile(x, [30, 60], 1)|
np.nanquantile(x, 0.4, method='lower')|np.linalg.cond(x[:, :2] + 5 * np.eye(2))|np.linalg.svdvals(x)|np.linalg.tensorsolve(np.reshape(x[:, :2], (2, 2, 2)) [:, 0] + np.eye(2), x[0, :2, 0])|
np.linalg.tensorinv(x[0, :2] + 3 * np.eye(2), 1)|(x[0, 0, 0].dtype.itemsize > 2) * x[0]|np.nanprod(x[0, 0, 0])|np.nanmedian(x[0, 0, 0])|np.nanvar(x[0, 0, 0])"""
STORES = """np.put(y, [0, 5, 5], [1, 2, v])|np.put(y, [13], v, 'wrap')|np.put(y, [13, -14], [v, 1], mode='clip')|y.put([1, -1], v)|y.flat[2] = v|y.flat[[0, 3]] = [v, 2]|y.flat[1:8:3] = v|y.flat = [v, 2]|
y.flat[5] *= v|np.put_along_axis(y, np.array([[[1], [0], [1]]]), v, 2)|np.put_along_axis(y, np.argmax(y, axis=1, keepdims=True), 0, axis=1)|
y[np.nonzero(y > 1)] += v|y[np.where(y > 1)] = 0.5|np.fill_diagonal(y[0], v, True)|np.fill_diagonal(y[:, :2], v)|np.fill_diagonal(y[0], [v, 1], wrap=True)|
y[Ellipsis, 0] = v|np.put(y[0, 0, 0, ...], 0, v)|np.put(y, -1, [v, 2])|
np.put(y, np.array(3), x[0])|np.put(y, [[0], [1]], [[v, 2]])"""
PADS = """np.pad(x, 2, 'linear_ramp', end_values=(s, 1))|np.pad(x, (1, 0), 'maximum')|np.pad(x, 2, 'minimum', stat_length=2)|np.pad(x, (0, 3), 'mean', stat_length=((2, 1),))|
np.pad(x * x, 1, 'median')|np.pad(x, 7, 'reflect', reflect_type='odd')|np.pad(x, (5, 8), 'symmetric', reflect_type='odd')|np.pad(x, x.size, 'reflect')|np.pad(x, len(x), 'wrap')|
np.pad(x, np.array([1, 2]), 'edge')|np.pad(x, (1, x.size), constant_values=s)|np.pad(x, 1, constant_values=(s, 2))|np.pad(x, 0, 'mean')|np.pad(x, -1, 'mean')|np.pad(x, (5, 2), 'symmetric')"""
MATRICES = """np.linalg.pinv(x, 1e-9)|np.linalg.pinv(x, rcond=[1e-9, 1e-8])|np.linalg.pinv(x, rtol=1e-9)|np.linalg.pinv(x, rtol=None)|np.linalg.pinv(x[0, 1:], hermitian=True)|
np.linalg.pinv(x[:, 1:], rcond=1e-9, hermitian=True)|np.linalg.cholesky(y @ y.T, upper=True)|np.linalg.cholesky(z, upper=True)|np.linalg.eigvalsh(y, UPLO='U')|
np.linalg.eigvalsh(z, 'L')|np.linalg.eigh(z, 'U')[0]|np.linalg.eigh(y, UPLO='U').eigenvectors ** 2|np.linalg.eigh(z, UPLO='l').eigenvalues|np.linalg.cond(z)|np.linalg.cond(z, 1)|
np.linalg.cond(z, -1)|np.linalg.cond(z, -2)|np.linalg.cond(z, np.inf)|np.linalg.cond(z, -np.inf)|np.linalg.cond(z, 'fro')|np.linalg.cond(y, 'nuc')|np.linalg.cond(z, 'nuc')|
np.linalg.norm(z, 2, (1, 2))|np.linalg.norm(z, -2, (-1, -2))|np.linalg.norm(z, 'nuc', (0, 2), keepdims=True)|np.linalg.matrix_norm(z, ord=2)|np.linalg.matrix_rank(y, tol=0.1) * s|
np.linalg.matrix_rank(z, rtol=[0.1, 0.2]) * s|np.linalg.matrix_rank(z, hermitian=True) * s|np.linalg.lstsq(y, y[0], rcond=1e-10)[0]|np.linalg.solve(y, x[0])"""
MORE = """np.linspace(s, x, 4, axis=1)|np.linspace(x, 2, 5, retstep=True)|np.linspace(x, 2, 5, False, True, axis=-1)|np.linspace(s, 5, 3, retstep=True)|np.linspace(s, 5, 1, retstep=True)[0]|
np.nan_to_num(x, nan=s)|np.nan_to_num(np.where(x > 1, np.nan, x), nan=s)|np.nan_to_num(np.where(x > 1, np.inf, -np.inf) + x, posinf=s, neginf=x)|np.sort(np.abs(np.roots(x.ravel()[:3])))|
np.emath.sqrt(x)|np.emath.log2(x + 1)|np.emath.logn(2, x + 1)|np.emath.power(x, 3)|np.emath.power(x, s)|np.emath.arcsin(x / 4)|np.emath.arctanh(x / 4)|np.emath.log10(s)|
np.polynomial.polynomial.polyfit(np.arange(3.0), x[0], 1)|np.polynomial.chebyshev.chebfit(np.arange(3.0), x[0], 2, w=[1, 2, 1])|np.polynomial.legendre.legder(x)|np.polynomial.polynomial.polyint(x[0])|
np.polynomial.Polynomial.fit(np.arange(3.0), x[0, :, 0], 1)(s)|np.polynomial.Polynomial(x[0, 0]).deriv()(s)"""
DTYPES = ("f8", "f4", "i4", "u1", "bool")


def array(shape: tuple[int, ...], dtype: str, turned: bool) -> np.ndarray:
    """Numbers that are apart, with a zero among integers."""
    array_ = np.resize(np.array([1.3, 0.4, 2.6, 0.9, 1.8, 2.1, 0.7, 1.1, 2.9, 1.6, 0.5, 2.3]), shape).astype(dtype)
    return np.asfortranarray(array_[::-1])[::-1] if turned else array_


def check(body: str, arguments: dict[str, object]) -> None:
    verdict, words = judged(function_of(f"import numpy as np\ndef f({', '.join(arguments)}):\n    {body}"), arguments, kinks=True)
    assert verdict in ("right", "not taken"), words


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(11)
@pytest.mark.parametrize("extent", [3, 1, 0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", [c.strip() for c in VECTORS.split("|")])
def test_calls_of_vectors(call: str, dtype: str, extent: int) -> None:
    check(f"return {call}, s * 2", {"x": array((extent,), dtype, extent == 3), "s": 0.7})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(9)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", [c.strip() for c in WIDE.split("|")])
def test_calls_of_arrays(call: str, dtype: str) -> None:
    for turned in (False, True):
        check(f"return {call}, s * 2", {"x": array((2, 3, 2), dtype, turned), "s": 0.7})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(11)
@pytest.mark.parametrize("extents", [(4,), (1,), (0,), (2, 3), (3, 0), (1, 2, 2)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("call", [c.strip() for c in PADS.split("|")])
def test_modes_of_padding(call: str, dtype: str, extents: tuple[int, ...]) -> None:
    for turned in (False, True):
        check(f"return {call}, s * 2", {"x": array(extents, dtype, turned), "s": 0.7})


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(5)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("call", [c.strip() for c in MATRICES.split("|")])
def test_arguments_of_functions_of_matrices(call: str, dtype: str) -> None:
    stack = np.stack([np.diag([3.0, 5.0, 2.0]) + 0.2, np.diag([4.0, 6.0, 9.0]) + 0.3]).astype(dtype)
    for turned in (False, True):
        check(
            f"return {call}, s * 2",
            {"x": array((2, 3, 2), dtype, turned), "y": stack[0] + array((3, 3), dtype, turned) / 9, "z": stack, "s": 0.7},
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(5)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("call", [c.strip() for c in MORE.split("|")])
def test_settings_beyond_the_usual_ones(call: str, dtype: str) -> None:
    for turned in (False, True):
        check(f"return {call}, s * 2", {"x": array((2, 3, 2), dtype, turned), "s": 0.7})


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("call", ["np.pad(x, 2, 'mean')", "np.pad(x, 3, 'reflect', reflect_type='odd')", "np.pad(x, 2, 'linear_ramp', end_values=s)", "np.emath.sqrt(x)",
                                  "np.linalg.eigvalsh(np.outer(x, x) + np.eye(3), 'U')", "np.linalg.pinv(np.outer(x, x) + np.eye(3), rcond=1e-9)"])  # fmt: skip
def test_second_order_of_these(call: str, jit: bool) -> None:
    import symgrad

    function = function_of(
        f"import numpy as np\ndef f(x, s):\n    return np.sum(np.cos(np.arange(np.size({call}))) * np.ravel({call})) * s"
    )
    symgrad.check_grads(function, (np.array([1.3, 0.4, 2.6]), 0.7), order=2, jit=jit)


@pytest.mark.parametrize("matrix", ["np.outer(x, x)", "a @ a", "np.linalg.inv(a + np.eye(3))", "np.dot(a, a.T)", "np.tensordot(a, a, 1)"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_axis_of_new_matrices_is_a_view(matrix: str, order: str) -> None:
    arguments = {"x": array((3,), "f8", True), "a": np.array(array((3, 3), "f8", False), order=order), "s": 0.7}  # type: ignore[call-overload]
    function = function_of(f"import numpy as np\ndef f(x, a, s):\n    m = {matrix}; y = m.reshape(-1); y[0] = s; return y, m * 2")
    assert judged(function, arguments)[0] == "right"


def test_the_matrix_of_a_diagonal_is_new_memory() -> None:
    for k in (0, 1, -2):
        body = f"d = np.diag(x, {k}); d[0, 0] = 3.0 * x[1]; d += s; y = x * 2; return d, y"
        assert judged(function_of(f"import numpy as np\ndef f(x, s):\n    {body}"), {"x": array((3,), "f8", True), "s": 0.7})[0] == "right"


@pytest.mark.sweep(3)
@pytest.mark.parametrize("store", [c.strip() for c in STORES.split("|")])
def test_stores_at_places(store: str) -> None:
    check(f"y = x * 1.0; {store}; return y", {"x": array((2, 3, 2), "f8", False), "v": 0.7})


@pytest.mark.parametrize("store", ["y.flat[1:8:3] = v", "y.flat[::-1] = x[0, 0]", "y.flat = [v, 2.0]", "y.flat = v"])
def test_stores_to_flat_of_columns(store: str) -> None:
    arguments = {"x": array((2, 3, 2), "f8", False), "v": 0.7}
    assert judged(function_of(f"import numpy as np\ndef f(x, v):\n    y = (x * 1.0).T; {store}; return y"), arguments)[0] == "right"


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("call", ["np.r_[x, 1.0, x]", "np.r_[0, x[::-1]]"])
def test_numbers_beside_narrow_arrays(call: str, dtype: str) -> None:
    check(f"return {call}, s * 2", {"x": array((3,), dtype, True), "s": 0.7})


@pytest.mark.parametrize("call", ["np.average(x, weights=x - x)", "np.vectorize(lambda v: v * v)(x[x > 9])", "np.polyfit(x[:0], x[:0], 1)", "np.insert(x, [5, 0], 1.0)",
                                  "np.lib.stride_tricks.sliding_window_view(x, 5)", "np.concatenate([x[None], x], axis=-1)", "np.hstack([x[None], x])",
                                  "np.append(x[None], 0.5, axis=1)", "np.vecdot(x, x[:1])", "np.vecdot(x[None], x[1:])"])  # fmt: skip
def test_what_numpy_does_not_take_raises_the_same(call: str) -> None:
    import symgrad

    function = function_of(f"import numpy as np\ndef f(x):\n    return np.sum({call})")
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(Exception) as expected:  # noqa: PT011
        function(x)
    with pytest.raises(type(expected.value)):
        symgrad.grad(function)(x)


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.float32(0.7), np.array(0.7)], ids=repr)
@pytest.mark.parametrize(
    "call",
    ["np.sort(x, axis=None)", "np.argsort(x, axis=None) * x", "np.argsort(x, axis=None, kind='stable') * x", "np.nanquantile(x, s)",
     "np.nanquantile(x, [0.2, s])", "np.tensordot(x, y, 0)", "np.tensordot(y, x, axes=([], []))", "np.tensordot(x, s, 0)"],
)  # fmt: skip
def test_numbers_in_place_of_arrays(call: str, x: object) -> None:
    check(f"return {call}, s * 2", {"x": x, "s": 0.3, "y": array((2, 3), "f8", False)})


QUANTILES = """0.3|np.float64(0.4)|[0.2, 0.75]|np.array([[0.1], [0.9]])|np.array([[0.0, 0.5], [0.25, 1.0]])""".split("|")
METHODS = """linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull
median_unbiased normal_unbiased""".split()


@pytest.mark.sweep(11)
@pytest.mark.parametrize("rest", ["", ", 0", ", -1", ", (0, -1)", ", keepdims=True", ", 1, keepdims=True", ", axis=(2, 0), keepdims=True"])
@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_several_quantiles(name: str, q: str, rest: str, dtype: str) -> None:
    if name == "nanquantile" and "[[" in q and "(" in rest:
        pytest.skip("NumPy mixes the axes of the quantiles with those of the array")
    check(f"return np.{name}(x, {q}{rest}), s * 2", {"x": array((2, 3, 2), dtype, False), "s": 0.7})


@pytest.mark.sweep(5)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("call", ["np.quantile(x, {}, 1, method='{}')", "np.nanquantile(x, {}, 1, method='{}')",
                                  "np.nanpercentile(np.where(x > 2.2, np.nan, x), 100 * np.asarray({}), (0, 1), method='{}')"])  # fmt: skip
@pytest.mark.parametrize("q", ["0.3", "[0.25, 0.75, 1.0, 0.0]", "1.0"])
def test_methods_of_quantiles(call: str, q: str, method: str) -> None:
    check(f"return {call.format(q, method)}", {"x": array((2, 3, 2), "f8", False)})


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.float32(0.7), np.array(0.7)], ids=repr)
@pytest.mark.parametrize("call", ["max(x, 0)", "min(x, axis=-1)", "ptp(x, 0)", "nanmax(x, axis=0)", "nanmin(x, -1)", "maximum.reduce(x)", "take(x, 0, axis=0)",
                                  "repeat(x, 2, axis=-1)", "maximum.reduce(x, keepdims=True)"])  # fmt: skip
def test_numbers_along_an_axis(call: str, x: object) -> None:
    check(f"return np.{call}, s * 2", {"x": x, "s": 0.3})


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("call", ["np.poly(x)", "np.intersect1d(x, y)", "np.intersect1d(y, x)", "np.linalg.lstsq(np.eye(3, dtype=x.dtype) + x[0], x)[1]",
                                  "np.polysub(x, y > 3)",
        "np.polysub(x, x[:1] > 3)",
        "np.vecdot(y, x)"])  # fmt: skip
def test_dtypes_of_results(call: str, dtype: str) -> None:
    check(f"return {call}, y * 2", {"x": np.array([7, 60, 2], dtype), "y": np.array([2.0, 5.0, 7.0])})


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 2), (2, 1, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize(
    "call", ["np.linalg.qr(x)", "np.linalg.qr(x, 'r')", "np.linalg.qr(x).Q @ x", "np.abs(np.linalg.qr(x + 1j * x**2)[1])"]
)
def test_orthogonal_factors_of_matrices_of_all_shapes(call: str, shape: tuple[int, ...]) -> None:
    check(f"return {call}", {"x": array(shape, "f8", False)})


@pytest.mark.parametrize(("name", "dtype"), [("float64", "f8"), ("float32", "f4")])
@pytest.mark.parametrize("call", ["np.{}(z)", "np.{}(z[None])[0]", "np.apply_along_axis(lambda t: t, 0, z)"])
def test_what_is_the_array_itself(call: str, name: str, dtype: str) -> None:
    check(f"z = x * np.ones_like(x); y = {call.format(name)}; y[0] = v; return z, y", {"x": array((3,), dtype, False), "v": 0.5})


@pytest.mark.parametrize("call", ["np.sum([x, y], axis=0)", "np.array([x, y])", "np.mean((y, x), 0)"])
@pytest.mark.parametrize(("one", "other"), [("f4", "f8"), ("f2", "u1"), ("f8", "f8"), ("f8", "f2")])
def test_gradients_of_joined_dtypes_have_memory_of_their_own(call: str, one: str, other: str) -> None:
    import symgrad

    function = function_of(f"import numpy as np\ndef f(x, y):\n    return {call}")
    x, y = array((2, 3), one, False), array((2, 3), other, False)
    value, pull = symgrad.vjp(function, x, y, wrt="x")
    seed = np.ones_like(value)
    gradient = pull(seed)
    assert gradient.dtype == x.dtype and gradient.flags.writeable and not np.shares_memory(gradient, seed)
    gradient[0, 0] += 1.0
    assert np.ptp(gradient) == 1.0


@pytest.mark.parametrize(
    "store", ["np.add(x, 1j, out=y)", "np.exp(x * 1j, out=y, where=x > 1)", "np.floor(x, out=k)", "np.add(k, 0.5, out=k)"]
)
def test_results_that_an_array_cannot_take(store: str) -> None:
    import symgrad
    from symgrad.errors import BadArgument

    function = function_of(
        f"import numpy as np\ndef f(x):\n    y, k = np.zeros(3), np.zeros(3, int)\n    {store}\n    return np.sum(x * y)"
    )
    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="Cannot cast ufunc"):
        function(x)
    with pytest.raises(BadArgument, match="in place"):
        symgrad.grad(function)(x)


@pytest.mark.parametrize(
    "call", ["np.matvec(x, x)", "np.vecmat(x, x)", "np.dsplit(x, 1)[0]", "np.vsplit(x, 1)[0]", "np.linalg.multi_dot([x[None, None], x[None, None]])",
             "np.linalg.tensorsolve(x[None], x)", "np.linalg.lstsq(x[None, None], x)[0]", "np.add.accumulate(x[0])", "np.take(x[0], 0, axis=(0, 1))",
             "np.repeat(x, 2, axis=())", "np.piecewise(np.sum(x), [x[0] > 0], [1.0])", "np.linalg.norm(x, 'fro')", "np.linalg.norm(x[None], 'fro', 1)"],
)  # fmt: skip
def test_what_numpy_does_not_take_is_refused(call: str) -> None:
    import symgrad
    from symgrad.errors import UnsupportedArgument

    with pytest.raises(UnsupportedArgument):
        symgrad.grad(function_of(f"import numpy as np\ndef f(x):\n    return np.sum({call})"))(np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("order", ["None", "1", "2", "3", "np.inf"])
@pytest.mark.parametrize("rest", ["", ", axis=0", ", axis=1, keepdims=True"])
def test_norms_of_complex_vectors(order: str, rest: str) -> None:
    check(f"return np.linalg.vector_norm(x + 1j * x**2, ord={order}{rest})", {"x": array((2, 3), "f8", False)})


@pytest.mark.parametrize("x", [True, np.True_, np.array([True, False]), np.array([0, 2])], ids=repr)
@pytest.mark.parametrize("call", ["np.allclose(x, x, rtol=s, equal_nan=True)", "np.isclose(x, True, equal_nan=True)", "np.isclose(x, x)"])
def test_bools_that_are_close(call: str, x: object) -> None:
    check(f"return {call}, s * 2", {"x": x, "s": 0.3})
