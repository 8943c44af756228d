"""product: functions x ranks x axes x keepdim, empty and 0-d arrays, compared with PyTorch and NumPy; also in programs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.nn.functional as F
from symgrad.compat.paddle import static
from symgrad.static import Executor

torch: Any = pytest.importorskip("torch")
Function = Callable[..., Any]
GENERATOR = np.random.default_rng(5)
REFUSALS = (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError)


def beside(ours: Function, theirs: Function, *arrays: Any, gradients: bool = True) -> bool:
    """Compare values, shapes, dtypes and gradients; False if PyTorch refuses."""
    others = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    try:
        reference = theirs(*others)
    except REFUSALS:
        return False
    tensors = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    actual = ours(*tensors)
    pairs = list(zip(actual, reference, strict=True)) if isinstance(actual, list) else [(actual, reference)]
    for one, two in pairs:
        assert (list(one.shape), one.dtype.name) == (list(two.shape), str(two.dtype)[6:])
        assert np.allclose(one.numpy(), two.detach().numpy(), rtol=1e-6, atol=1e-8, equal_nan=True), (one, two)
    pairs = [(one, two) for one, two in pairs if two.requires_grad]
    if not gradients or not pairs:
        return True
    seeds = [np.random.default_rng(k).normal(size=tuple(two.shape)).astype(str(two.dtype)[6:]) for k, (_, two) in enumerate(pairs)]
    expected = torch.autograd.grad([two for _, two in pairs], others, [torch.tensor(s) for s in seeds], allow_unused=True)
    results = paddle.grad([one for one, _ in pairs], tensors, [paddle.to_tensor(s) for s in seeds], allow_unused=True)
    for one, two, array in zip(results, expected, arrays, strict=True):
        left, right = (np.zeros_like(array) if g is None else g.detach().numpy() for g in (one, two))
        assert left.shape == right.shape == array.shape
        rounding = {"rtol": 1e-6, "atol": 1e-8} if array.dtype == np.float64 else {"rtol": 1e-5, "atol": 1e-6}
        assert np.allclose(left, right, **rounding, equal_nan=True), (left, right)
    return True


# ------------------------------------------------------------------ products of Kronecker

KRONECKER = [(), (3,), (2, 3), (2, 1, 3), (1, 2, 2, 2)]
PAIRS = [
    pair if max(map(len, pair)) > 2 and sum(map(len, pair)) != 4 else pytest.param(*pair, marks=pytest.mark.slow)
    for pair in itertools.product(KRONECKER, repeat=2)
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_kron_of_all_ranks(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    x, y = GENERATOR.normal(size=one), GENERATOR.normal(size=other)
    assert beside(paddle.kron, torch.kron, x, y)
    assert np.allclose(paddle.kron(paddle.to_tensor(x), paddle.to_tensor(y)).numpy(), np.kron(x, y))

    def weighted(a: Any, b: Any, w: Any) -> Any:
        return np.sum(np.kron(a, b) * w)

    weight = GENERATOR.normal(size=np.kron(x, y).shape)
    a, b = torch.tensor(x, requires_grad=True), torch.tensor(y, requires_grad=True)
    expected = torch.autograd.grad((torch.kron(a, b) * torch.tensor(weight)).sum(), [a, b])
    if one and other:
        actual = symgrad.grad(weighted, wrt=(0, 1))(x, y, weight)
        assert all(np.allclose(f, e.numpy()) for f, e in zip(actual, expected, strict=True))


# ------------------------------------------------------------------ rounding


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
def test_round_to_decimals(decimals: int, dtype: str, shape: tuple[int, ...]) -> None:
    x = (GENERATOR.normal(size=shape) * 100).astype(dtype)
    assert beside(lambda t: paddle.round(t, decimals), lambda t: torch.round(t, decimals=decimals), x)
    assert beside(lambda t: t.round(decimals=decimals), lambda t: t.round(decimals=decimals), x)
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5])
    assert np.array_equal(paddle.round(paddle.to_tensor(halves)).numpy(), np.round(halves))


# ------------------------------------------------------------------ norms

ORDERS = (0, 1, 2, 3, 2.5, 0.5, -1, -2, np.inf, -np.inf)
MATRICES = ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)


@pytest.mark.parametrize("p", [None, *(p if p in (1, 3, 0.5, np.inf) else pytest.param(p, marks=pytest.mark.slow) for p in ORDERS)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_norms_of_vectors(p: Any, keepdim: bool) -> None:
    for shape in ((4,), (3, 4), (2, 3, 4)):
        x = GENERATOR.normal(size=shape)
        order = 2 if p is None else p
        for axis in (None, *range(-len(shape), len(shape))):
            over = tuple(range(len(shape))) if axis is None else axis
            theirs = lambda t, o=over: torch.linalg.vector_norm(t, order, o, keepdim)  # noqa: E731
            assert beside(lambda t, a=axis: paddle.linalg.norm(t, p, a, keepdim), theirs, x, gradients=axis in (None, 0, -1))
            listed = axis if axis is None else [axis]
            assert beside(lambda t, a=listed: paddle.linalg.norm(t, p, a, keepdim), theirs, x, gradients=False)
            assert beside(lambda t, a=axis: paddle.linalg.vector_norm(t, order, a, keepdim), theirs, x, gradients=False)


@pytest.mark.parametrize("p", [None, *MATRICES])
@pytest.mark.parametrize("keepdim", [False, True])
def test_norms_of_matrices(p: Any, keepdim: bool) -> None:
    for shape in ((3, 4), (4, 3), (2, 3, 4)):
        x = GENERATOR.normal(size=shape)
        for axis in itertools.permutations(range(len(shape)), 2):
            theirs = lambda t, a=axis: torch.linalg.matrix_norm(t, "fro" if p is None else p, a, keepdim)  # noqa: E731
            assert beside(lambda t, a=axis: paddle.linalg.norm(t, p, list(a), keepdim), theirs, x, gradients=axis == (0, 1))
            negative = [axis[0] - len(shape), axis[1]]
            assert beside(lambda t, a=negative: paddle.linalg.norm(t, p, a, keepdim), theirs, x, gradients=False)
        assert beside(lambda t: paddle.linalg.matrix_norm(t, p or "fro", keepdim=keepdim),
                      lambda t: torch.linalg.matrix_norm(t, p or "fro", keepdim=keepdim), x, gradients=False)  # fmt: skip


def test_norms_at_zero_and_what_is_no_norm() -> None:
    for p in (1, 2, 3, 0.5, 2.5, np.inf):
        zero = np.array([0.0, 0.0, 0.0])
        some = np.array([0.0, 3.0, -4.0])
        assert beside(lambda t, p=p: paddle.linalg.norm(t, p), lambda t, p=p: torch.linalg.vector_norm(t, p), some)
        actual = paddle.to_tensor(zero, stop_gradient=False)
        (gradient,) = paddle.grad(paddle.linalg.norm(actual, p), actual)
        assert np.isfinite(gradient.numpy()).all()
    x = paddle.to_tensor(np.ones((2, 3)))
    for call in (
        lambda: paddle.linalg.norm(x, 0, [0, 1]), lambda: paddle.linalg.norm(x, 3, [0, 1]), lambda: paddle.linalg.norm(x, "nuc"),
        lambda: paddle.linalg.norm(x, "max", [0, 1]), lambda: paddle.linalg.norm(x, 1, [0, 0]), lambda: paddle.linalg.norm(x, 1, [0, -2]),
        lambda: paddle.linalg.norm(x, 1, [0, 2]), lambda: paddle.linalg.norm(x, True), lambda: paddle.linalg.matrix_norm(x, 1, [0]),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="norm|axis"):
            call()


# ------------------------------------------------------------------ new axes


def put_in(x: Any, axes: Any) -> Any:
    """The axes put in one after the other."""
    for axis in axes:
        x = np.expand_dims(x, axis)
    return x


@pytest.mark.parametrize("shape", [(), (3,), (3, 4)])
def test_new_axes_are_put_in_in_order(shape: tuple[int, ...]) -> None:
    x = GENERATOR.normal(size=shape)
    rank, tried = len(shape), 0
    for count in (1, 2, 3):
        for axes in itertools.product(range(-rank - count, rank + count), repeat=count):
            tensor = paddle.to_tensor(x, stop_gradient=False)
            try:
                expected = put_in(x, axes)
            except ValueError:
                with pytest.raises(ValueError, match="out of bounds"):
                    paddle.unsqueeze(tensor, list(axes))
                continue
            actual = paddle.unsqueeze(tensor, list(axes))
            assert actual.shape == list(expected.shape), axes
            assert np.array_equal(actual.numpy(), expected)
            tried += 1
    assert tried > 5
    assert paddle.unsqueeze(paddle.to_tensor(np.ones((3, 4))), [2, 0]).shape == [1, 3, 4, 1]


@pytest.mark.parametrize("axes", [None, 0, -1, [0], [0, 2], [2, 0], [-1, 0], [0, 1], [1], (0, 2), [0, 0], []])
def test_axes_of_one_element_are_taken_out(axes: Any) -> None:
    x = np.arange(3.0).reshape(1, 3, 1)
    chosen = range(3) if axes is None else [a % 3 for a in (axes if isinstance(axes, list | tuple) else [axes])]
    gone = tuple(a for a in {*chosen} if x.shape[a] == 1) if axes != [] else (0, 2)
    actual = paddle.squeeze(paddle.to_tensor(x), axes)
    assert actual.shape == list(np.squeeze(x, gone).shape)


# ------------------------------------------------------------------ symmetric matrices


def symmetric(*stack: int) -> Any:
    actual = GENERATOR.normal(size=(*stack, 3, 3))
    return actual @ np.swapaxes(actual, -1, -2) + 3 * np.eye(3)


@pytest.mark.parametrize("stack", [(), (2,), (2, 1)])
@pytest.mark.parametrize("upper", [False, True])
def test_derivatives_of_symmetric_matrices_are_symmetric(stack: tuple[int, ...], upper: bool) -> None:
    side = "U" if upper else "L"
    even = symmetric(*stack)
    odd = even + 0.1 * GENERATOR.normal(size=even.shape)
    for x in (even, odd):  # one triangle is read
        assert beside(lambda t: paddle.cholesky(t, upper), lambda t: torch.linalg.cholesky(t, upper=upper), x, gradients=x is even)
        assert beside(lambda t: paddle.linalg.eigvalsh(t, side), lambda t: torch.linalg.eigvalsh(t, UPLO=side), x)
        assert beside(lambda t: paddle.linalg.eigh(t, side)[0], lambda t: torch.linalg.eigh(t, UPLO=side)[0], x)

    def shares(vectors: Any) -> Any:
        return vectors * vectors  # without their signs

    assert beside(lambda t: shares(paddle.linalg.eigh(t, side)[1]), lambda t: shares(torch.linalg.eigh(t, UPLO=side)[1]), even)
    tensor = paddle.to_tensor(even, stop_gradient=False)
    (gradient,) = paddle.grad(paddle.cholesky(tensor).sum(), tensor)
    assert np.allclose(gradient.numpy(), np.swapaxes(gradient.numpy(), -1, -2))


# ------------------------------------------------------------------ no axes, no elements


def axes_of(x: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim))


#: (name, ours, theirs) of one tensor; where PyTorch refuses, nothing is compared
ROWS: list[tuple[str, Function, Function]] = [
    ("sum", paddle.sum, torch.sum), ("mean", paddle.mean, torch.mean), ("max", paddle.max, torch.amax), ("min", paddle.min, torch.amin),
    ("prod", paddle.prod, torch.prod), ("std", paddle.std, torch.std), ("logsumexp", paddle.logsumexp, lambda x: torch.logsumexp(x, axes_of(x))),
    ("var, biased", lambda x: paddle.var(x, None, False), lambda x: torch.var(x, axes_of(x), correction=0)),
    ("median", paddle.median, lambda x: torch.quantile(x, 0.5) if x.numel() else x.sum() * torch.nan), ("all", paddle.all, torch.all),
    ("any", paddle.any, torch.any), ("count", paddle.count_nonzero, torch.count_nonzero), ("argmax", paddle.argmax, torch.argmax),
    ("nansum", paddle.nansum, torch.nansum), ("nanmean", paddle.nanmean, torch.nanmean), ("amax", paddle.amax, torch.amax),
    ("norm", paddle.linalg.norm, torch.linalg.norm), ("norm 0", lambda x: paddle.linalg.norm(x, 0), lambda x: torch.linalg.vector_norm(x, 0)),
    *((f"{name} {axis} {keep}", lambda x, a=axis, k=keep, f=ours: f(x, a, keepdim=k), lambda x, a=axis, k=keep, f=theirs: f(x, a, keepdim=k))
      for axis in (0, -1) for keep in (False, True) for name, ours, theirs in (
          ("sum", paddle.sum, torch.sum), ("mean", paddle.mean, torch.mean), ("max", paddle.max, torch.amax), ("prod", paddle.prod, torch.prod),
          ("logsumexp", paddle.logsumexp, torch.logsumexp), ("argmin", paddle.argmin, torch.argmin), ("all", paddle.all, torch.all),
          ("std", paddle.std, torch.std), ("nansum", paddle.nansum, torch.nansum))),
    *((f"{name} {axis}", lambda x, a=axis, f=ours: f(x, a), lambda x, a=axis, f=theirs: f(x, a))
      for axis in (0, -1) for name, ours, theirs in (
          ("softmax", F.softmax, torch.softmax), ("log_softmax", F.log_softmax, torch.log_softmax), ("cumsum", paddle.cumsum, torch.cumsum),
          ("cumprod", paddle.cumprod, torch.cumprod), ("cummax", lambda x, a: paddle.cummax(x, a)[0], lambda x, a: torch.cummax(x, a)[0]),
          ("cummin places", lambda x, a: paddle.cummin(x, a)[1], lambda x, a: torch.cummin(x, a)[1]),
          ("logcumsumexp", paddle.logcumsumexp, torch.logcumsumexp), ("sort", paddle.sort, lambda x, a: torch.sort(x, a)[0]),
          ("sort down", lambda x, a: paddle.sort(x, a, True), lambda x, a: torch.sort(x, a, True)[0]),
          ("argsort", paddle.argsort, torch.argsort), ("flip", lambda x, a: paddle.flip(x, [a]), lambda x, a: torch.flip(x, [a])),
          ("topk", lambda x, a: paddle.topk(x, 1, a), lambda x, a: torch.topk(x, 1, a)), ("kthvalue", lambda x, a: paddle.kthvalue(x, 1, a),
           lambda x, a: torch.kthvalue(x, 1, a)), ("squeeze", paddle.squeeze, torch.squeeze), ("unsqueeze", paddle.unsqueeze, torch.unsqueeze))),
    ("flatten", paddle.flatten, torch.flatten), ("roll", lambda x: paddle.roll(x, 1), lambda x: torch.roll(x, 1)),
    ("T", lambda x: x.T, lambda x: x.permute(list(range(x.ndim))[::-1])), ("reshape", lambda x: x.reshape([-1]), lambda x: x.reshape(-1)),
    ("transpose", lambda x: paddle.transpose(x, list(range(len(x.shape)))), lambda x: x.permute(axes_of(x))), ("clone", lambda x: x.clone(), lambda x: x.clone()),
    ("tile", lambda x: paddle.tile(x, [2]), lambda x: torch.tile(x, (2,))), ("expand", lambda x: paddle.expand(x, [2, *x.shape]), lambda x: x.expand(2, *x.shape)),
    ("nonzero", paddle.nonzero, torch.nonzero), ("relu", F.relu, torch.relu), ("clip", lambda x: paddle.clip(x, 0, 1), lambda x: torch.clip(x, 0, 1)),
    ("repeat", lambda x: paddle.repeat_interleave(x, 2), lambda x: torch.repeat_interleave(x, 2)), ("mask", lambda x: x[x > 0], lambda x: x[x > 0]),
    ("masked_select", lambda x: paddle.masked_select(x, x > 0), lambda x: torch.masked_select(x, x > 0)), ("stack", lambda x: paddle.stack([x, x]), lambda x: torch.stack([x, x])),
    ("kron", lambda x: paddle.kron(x, x), lambda x: torch.kron(x, x)), ("where", lambda x: paddle.where(x > 0, x, x * 2), lambda x: torch.where(x > 0, x, x * 2)),
    ("outer", lambda x: paddle.outer(x, x), lambda x: torch.outer(x.reshape(-1), x.reshape(-1))), ("everything", lambda x: x[...], lambda x: x[...]),
    ("new axis", lambda x: x[None], lambda x: x[None]), ("gather", lambda x: paddle.gather(x, paddle.to_tensor(0)), lambda x: x[0]),
    ("diagflat", paddle.diagflat, torch.diagflat), ("square", paddle.square, torch.square), ("nan_to_num", paddle.nan_to_num, torch.nan_to_num),
]  # fmt: skip
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (2, 0), (0, 2), (1,), (3,), (2, 2))


def row(k: int, shapes: tuple[tuple[int, ...], ...], dtypes: tuple[str, ...]) -> int:
    """How many arrays one function was compared for."""
    _, ours, theirs = ROWS[k]
    actual = 0
    for shape, dtype in itertools.product(shapes, dtypes):
        x = (np.arange(int(np.prod(shape))) % 3 + (0.25 if dtype[0] == "f" else 0)).reshape(shape).astype(dtype)
        actual += beside(ours, theirs, x)
    return actual


@pytest.mark.sweep(4)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("k", range(len(ROWS)), ids=[name for name, _, _ in ROWS])
def test_no_axes_and_no_elements(k: int) -> None:
    assert row(k, ((), (0, 2), (3,)), ("float64",)) >= 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("k", range(len(ROWS)), ids=[name for name, _, _ in ROWS])
def test_shapes_and_dtypes(k: int) -> None:
    assert row(k, SHAPES, ("float32", "float64")) >= 4


def test_the_diagonal_of_one_element() -> None:
    x = paddle.to_tensor(3.0, stop_gradient=False)
    actual = paddle.diag(x)
    assert actual.tolist() == [[3.0]]
    assert paddle.diag(x, 1).tolist() == [[0.0, 3.0], [0.0, 0.0]]
    actual.sum().backward()
    assert x.grad.item() == 1.0
    for call in (
        lambda: paddle.sort(x, 1),
        lambda: paddle.cumsum(x, -2),
        lambda: paddle.sum(x, 1),
        lambda: F.softmax(x, 1),
        lambda: paddle.squeeze(x, 2),
    ):
        with pytest.raises((ValueError, IndexError), match="out of bounds"):
            call()


def test_programs_compute_the_same() -> None:
    calls: list[Function] = [ours for _, ours, _ in ROWS[::3]]
    calls += [lambda x: paddle.linalg.norm(x, 1, [0, 1], True), lambda x: paddle.unsqueeze(x, [2, 0]), lambda x: paddle.round(x, 1),
              lambda x: paddle.kron(x, x), lambda x: paddle.linalg.norm(x, "nuc", [-2, -1])]  # fmt: skip
    for shape in ((), (0, 2), (2, 3)):
        x = (np.arange(int(np.prod(shape))) + 0.25).reshape(shape)
        paddle.enable_static()
        try:
            with static.program_guard(static.Program(), static.Program()):
                a = static.data("a", list(shape), "float64")
                kept, results = [], []
                for call in calls:
                    try:
                        variable = call(a)
                    except REFUSALS:
                        continue
                    kept.append(call)
                    results.append(variable)
                first = [v[0] if isinstance(v, list) else v for v in results]
                actual = Executor().run(static.default_main_program(), {"a": x}, first)
        finally:
            paddle.disable_static()
        assert len(kept) >= len(calls) // 2
        for call, variable, value in zip(kept, first, actual, strict=True):
            expected = call(paddle.to_tensor(x))
            expected = expected[0] if isinstance(expected, list) else expected
            assert (list(value.shape), value.dtype) == (expected.shape, expected.dtype)
            assert all(e in (-1, w) for e, w in zip(variable.shape, expected.shape, strict=True))
            assert np.allclose(value, expected.numpy(), equal_nan=True)
