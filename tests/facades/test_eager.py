"""The eager API: ``backward``, ``grad``, hooks, in-place changes, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgrad.eager import Tensor, backward, enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled, to_tensor
from symgrad.record.recipe import KEPT
from symgrad.vocabulary import tensors


def leaf(*values: float) -> Tensor:
    return Tensor(np.array(values), stop_gradient=False)


def test_gradients_accumulate_and_are_cleared() -> None:
    x = leaf(1.0, 2.0)
    for _ in range(2):
        (x * x).sum().backward()
    held = x.grad
    assert held is not None
    assert held.numpy().tolist() == [4.0, 8.0]
    x.clear_grad()
    assert held.numpy().tolist() == [0.0, 0.0]
    x.clear_gradient(False)
    assert x.grad is None


def test_seeds_and_several_targets() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    z = y * y
    backward([y, z], [Tensor(np.array([1.0, 10.0])), None])
    assert x.grad is not None
    assert x.grad.numpy().tolist() == [2.0 + 4.0, 40.0 + 32.0]


def test_third_order() -> None:
    x = leaf(3.0)
    derivatives: list[Any] = [x**4]
    for _ in range(3):
        derivatives += grad(derivatives[-1].sum(), x, create_graph=True)
    assert [d.item() for d in derivatives] == [81.0, 108.0, 108.0, 72.0]


def test_seeds_can_be_differentiated() -> None:
    x, v = leaf(2.0, 3.0), leaf(1.0, 1.0)
    (product,) = grad(x * x, x, v, create_graph=True)
    (tangent,) = grad(product, v, Tensor(np.array([5.0, 7.0])))
    assert tangent is not None
    assert tangent.numpy().tolist() == [20.0, 42.0]


def test_intermediate_inputs_have_total_derivatives() -> None:
    x = leaf(2.0)
    y = x * x
    z = y * y + x
    actual = grad(z, [y, x])
    assert [g.item() for g in actual if g is not None] == [8.0, 33.0]


def test_an_output_may_be_an_input() -> None:
    x = leaf(2.0)
    y = x * x
    assert [g.item() for g in grad(y, [y, x]) if g is not None] == [1.0, 4.0]


def test_stop_gradient_is_read_when_the_consumer_runs() -> None:
    x = leaf(2.0)
    y = x * x
    x.stop_gradient = True
    z = y + x * 3.0
    z.backward()
    assert x.grad is not None
    assert x.grad.item() == 4.0


def test_hooks_replace_what_flows_on() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2.0
    h.retain_grads()
    hook = h.register_hook(lambda g: g * 10.0)
    (h * h + x).sum().backward()
    assert x.grad is not None
    assert h.grad is not None
    assert x.grad.numpy().tolist() == [81.0, 161.0]
    assert h.grad.numpy().tolist() == [4.0, 8.0]
    assert hook.remove()
    assert not hook.remove()


def test_hooks_one_behind_the_other() -> None:
    x = leaf(1.0)
    a = x * 3.0
    b = a * a
    a.register_hook(lambda g: g + 1.0)
    b.register_hook(lambda g: g * 2.0)
    (b + a).backward()
    assert x.grad is not None
    assert x.grad.item() == 3.0 * (2.0 * 6.0 + 1.0 + 1.0)


def test_store_by_index() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1.0
    z = y * y
    y[0] = x[2] * 5.0
    (y.sum() + z.sum()).backward()
    assert x.grad is not None
    assert x.grad.numpy().tolist() == [2.0, 5.0, 12.0]


def test_index_by_arrays_masks_and_slices() -> None:
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x[np.array([0, 0, 3])].sum() + x[1:3].sum() * 2.0 + x[Tensor(np.array([True, False, False, True]))].sum()
    y.backward()
    assert x.grad is not None
    assert x.grad.numpy().tolist() == [3.0, 2.0, 2.0, 2.0]
    with pytest.raises(TypeError, match="index"):
        x["a"]
    with pytest.raises(TypeError, match="integers"):
        x[np.array([0.5])]


def test_a_leaf_changed_between_two_uses() -> None:
    x = leaf(1.0)
    first = x + 1.0
    x.set_value([5.0])
    (first + x).backward()
    assert x.grad is not None
    assert x.grad.numpy().tolist() == [2.0]


def test_recording_is_switched() -> None:
    x = leaf(2.0)
    with no_grad():
        assert (x * x).stop_gradient
        with enable_grad():
            assert not (x * x).stop_gradient

    @no_grad()
    def quiet(t: Tensor) -> Any:
        return t * t

    assert quiet(x).stop_gradient
    with set_grad_enabled(False):
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_the_same_structure_is_compiled_once() -> None:
    x = leaf(1.0, 2.0)

    def run(values: Tensor) -> None:
        (tensors.exp(values) * values * 3.5).sum().backward()  # type: ignore[attr-defined]

    run(x)
    before = len(KEPT)
    run(x)
    run(leaf(1.0, 2.0, 3.0))
    assert len(KEPT) == before


def test_numbers_do_not_make_new_code() -> None:
    x = leaf(1.0, 2.0)
    (x * 0.1).sum().backward()
    before = len(KEPT)
    for k in range(5):
        (x * (0.2 + k)).sum().backward()
    assert len(KEPT) == before


def test_files_of_the_record(tmp_path: Path) -> None:
    x = leaf(1.0)
    place = tmp_path / "a" / "b"
    (x * x).backward(dump_backward_graph_path=str(place))
    names = sorted(p.name.split("_", 2)[2] for p in place.iterdir())
    assert names == ["backward_graph.dot", "call_stack.log", "ref_forward_graph.dot"]
    log = next(place.glob("*call_stack.log")).read_text()
    assert "test_eager.py" in log
    assert "multiply" in log
    assert "GradNodeAccumulation" in next(place.glob("*backward_graph.dot")).read_text()
    with pytest.raises(NotADirectoryError):
        (x * x).backward(dump_backward_graph_path=str(next(place.iterdir())))
    with pytest.raises(OSError, match="empty"):
        (x * x).backward(dump_backward_graph_path="")


@pytest.mark.parametrize("argument", [None, [], 1.0, np.ones(2), {1}, [1.0]])
def test_arguments_that_are_no_tensors(argument: Any) -> None:
    with pytest.raises(AssertionError):
        backward(argument)
    with pytest.raises(AssertionError):
        grad(argument, leaf(1.0))


def test_arguments_that_do_not_fit() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    with pytest.raises(AssertionError, match="twice"):
        backward([y, y])
    with pytest.raises(AssertionError, match="entries"):
        backward([y], [None, None])
    with pytest.raises(ValueError, match="shape"):
        backward(y, Tensor(np.ones(3)))
    with pytest.raises(AssertionError, match="bool"):
        backward(y, retain_graph=1)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="duplicate"):
        grad(y, [x, x])
    with pytest.raises(AssertionError, match="only_inputs"):
        grad(y, x, only_inputs=False)
    with pytest.raises(TypeError):
        to_tensor(object())


def test_defaults_of_dtypes() -> None:
    assert to_tensor([1.0]).dtype == np.float32
    assert to_tensor(np.array([1.0])).dtype == np.float64
    assert to_tensor([1]).dtype == np.int64
    assert to_tensor(1.5, dtype="float64").item() == 1.5
