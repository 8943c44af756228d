"""User functions of tensors with their own derivative, compared with the engine's derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad.eager import PyLayer, Tensor, backward, grad, no_grad
from symgrad.errors import BadArgument, FreedGraph, Overwritten
from symgrad.static import Program, data, program_guard
from symgrad.vocabulary import tensors

VALUES = np.array([[0.3, -0.8], [1.1, 0.4]])


class Tanh(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        out = tensors.tanh(x)  # type: ignore[attr-defined]
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (x,) = ctx.saved_tensor()
        out = tensors.tanh(x)  # type: ignore[attr-defined]
        return gradient * (1.0 - out * out)


class Both(PyLayer):
    """A product and a sum; the scale is no tensor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, scale: float = 1.0) -> Any:
        ctx.save_for_backward(x, y)
        ctx.scale = scale
        return x * y * scale, x + y

    @staticmethod
    def backward(ctx: Any, product: Tensor, total: Tensor) -> Any:
        x, y = ctx.saved_tensor()
        return product * y * ctx.scale + total, product * x * ctx.scale + total


def leaf(value: Any = VALUES) -> Tensor:
    return Tensor(np.array(value), stop_gradient=False)


def own(x: Tensor, y: Tensor) -> Any:
    a = Tanh.apply(x * y)
    product, total = Both.apply(a, x, scale=2.0)
    return (Tanh.apply(product) * total + a * y).sum()


def plain(x: Tensor, y: Tensor) -> Any:
    a = tensors.tanh(x * y)  # type: ignore[attr-defined]
    return (tensors.tanh(a * x * 2.0) * (a + x) + a * y).sum()  # type: ignore[attr-defined]


def orders(function: Callable[..., Any]) -> list[np.ndarray[Any, Any]]:
    """First, second and third derivatives."""
    x, y = leaf(), leaf(VALUES.T + 0.2)
    results: list[Any] = [function(x, y)]
    parts_of = []
    for _ in range(3):
        parts = grad(results[-1], [x, y], create_graph=True)
        parts_of += [p.numpy() for p in parts if p is not None]
        results.append((parts[0] * parts[1] + parts[0]).sum())  # type: ignore[operator]
    return parts_of


def test_derivatives_to_third_order() -> None:
    for one, other in zip(orders(own), orders(plain), strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_backward_accumulates_and_frees() -> None:
    x, y, v, w = leaf(), leaf(VALUES.T), leaf(), leaf(VALUES.T)
    loss = own(x, y)
    loss.backward(retain_graph=True)
    loss.backward()
    backward([plain(v, w)])
    assert x.grad is not None
    assert v.grad is not None
    assert x.grad.numpy() == pytest.approx(2 * v.grad.numpy())
    with pytest.raises(FreedGraph):
        loss.backward()


def test_hooks_kept_gradients_and_cuts() -> None:
    results = []
    for function in (Tanh.apply, tensors.tanh):  # type: ignore[attr-defined]
        x = leaf()
        h = function(x * 2.0)
        k = h * x
        for tensor in (h, k):
            tensor.retain_grads()
        h.register_hook(lambda g: g * 10.0)
        out = function(k) + h
        (inner, outer) = grad(out.sum(), [h, x], retain_graph=True)
        (cut,) = grad(out.sum(), x, no_grad_vars=[h], retain_graph=True)
        out.sum().backward()
        results.append([t.numpy() for t in (h.grad, k.grad, x.grad, inner, outer, cut) if t is not None])
    assert len(results[0]) == 6
    for one, other in zip(*results, strict=True):
        assert one == pytest.approx(other)


def test_hooks_are_run_by_grad_and_recorded() -> None:
    x = leaf()
    h = x * x
    h.register_hook(lambda g: g * g)
    (first,) = grad((h * x).sum(), x, create_graph=True)
    assert first is not None
    assert first.numpy() == pytest.approx(VALUES**2 + 2 * VALUES**3)
    assert not first.stop_gradient
    with pytest.raises(BadArgument, match="differentiated again passes a tensor with hooks"):
        grad(first.sum(), x)


def test_results_of_which_some_are_not_used_and_some_have_no_derivative() -> None:
    seen: list[Any] = []

    class Parts(PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Tensor, y: Tensor) -> Any:
            whole = x + y
            ctx.mark_non_differentiable(whole)
            ctx.set_materialize_grads(False)
            return x * 3.0, y * 1.0, whole, "word"

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            seen.extend(gradients)
            return gradients[0] * 3.0, None

    x, y = leaf(), leaf()
    first, second, whole, word = Parts.apply(x, y)
    assert (first.stop_gradient, whole.stop_gradient, word) == (False, True, "word")
    first.sum().backward()
    assert x.grad is not None
    assert x.grad.numpy() == pytest.approx(np.full((2, 2), 3.0))
    assert y.grad is None
    assert seen[1:] == [None, None]
    with pytest.raises(ValueError, match="does not appear"):
        grad(Parts.apply(x, y)[0], y)


def test_nothing_is_recorded_without_need() -> None:
    with no_grad():
        assert Tanh.apply(leaf()).stop_gradient
    assert Tanh.apply(Tensor(VALUES)).stop_gradient


def test_what_is_refused() -> None:
    class Wrong(PyLayer):
        gradients: Any = None

        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Any:
            ctx.save_for_backward(x)
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Any:
            ctx.saved_tensor()
            return Wrong.gradients

    for result, error, words in ((None, None, ""), ((None, None), ValueError, "gives 2 gradients"), (3.0, TypeError, "must be a Tensor"),
                               (Tensor(np.ones(3)), ValueError, r"shape \[3\]")):  # fmt: skip
        Wrong.gradients = result
        x = leaf()
        out = Wrong.apply(x)
        if error is None:
            out.sum().backward()
            assert x.grad is None
        else:
            with pytest.raises(error, match=words):
                out.sum().backward()
    x = leaf() * 1.0
    out = Wrong.apply(x)
    x[0] = 5.0
    with pytest.raises(Overwritten):
        out.sum().backward()
    with pytest.raises(NotImplementedError, match="forward"):
        PyLayer.apply(leaf())
    with program_guard(Program()), pytest.raises(BadArgument, match="works on tensors"):
        Tanh.apply(data("x", [2]))


class Given(PyLayer):
    """The identity, with a gradient in another dtype or of another kind."""

    dtype = "float64"

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return (gradient * gradient).astype(Given.dtype)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "float32"])
def test_a_gradient_gets_the_dtype_of_its_argument(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Given, "dtype", dtype)
    x = Tensor(np.array([1.0, 2.0], "float32"), stop_gradient=False)
    (actual,) = grad(Given.apply(x) * 2.0, x, create_graph=True)
    assert actual is not None
    assert actual.dtype == np.float32
    assert actual.tolist() == [4.0, 4.0]


def test_a_gradient_that_was_fitted_can_be_differentiated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Given, "dtype", "float64")
    x = Tensor(np.array([1.0, 2.0], "float32"), stop_gradient=False)
    (first,) = grad((Given.apply(x) * x).sum(), x, create_graph=True)  # x * x + x, by its own words
    assert first is not None
    (second,) = grad(first.sum(), x)
    assert second is not None
    assert second.tolist() == pytest.approx([3.0, 5.0])


def test_a_complex_gradient_of_a_real_argument_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Given, "dtype", "complex128")
    x = leaf()
    with pytest.raises(TypeError, match="gradient 0 of Given.backward is complex128"):
        Given.apply(x).sum().backward()


def test_what_a_hook_gives_gets_the_dtype_of_the_gradient() -> None:
    x = Tensor(np.array([1.0, 2.0], "float32"), stop_gradient=False)
    y = x * 3.0
    y.register_hook(lambda gradient: gradient.astype("float64") * 2.0)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == np.float32
    assert x.grad.tolist() == [6.0, 6.0]


def test_a_complex_seed_of_a_real_tensor_is_refused() -> None:
    x = leaf()
    with pytest.raises(TypeError, match="a seed of complex128"):
        backward(x * 2.0, Tensor(VALUES + 1j))
