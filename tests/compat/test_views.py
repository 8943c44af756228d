"""product: views x stores x owners x recording, compared with PyTorch: a store to one tensor is visible in all views."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
from symgrad.errors import LeafInPlace, Overwritten

torch: Any = pytest.importorskip("torch")
Function = Callable[[Any], Any]

#: (name, what makes it here, what makes it in PyTorch) of a tensor of shape [2, 3]
MAKERS: list[tuple[str, Function, Function]] = [
    ("slice", lambda x: x[0:1], lambda x: x[0:1]),
    ("steps", lambda x: x[:, ::2], lambda x: x[:, ::2]),
    ("integer", lambda x: x[1], lambda x: x[1]),
    ("element", lambda x: x[1, 2], lambda x: x[1, 2]),
    ("last", lambda x: x[..., -1], lambda x: x[..., -1]),
    ("new axis", lambda x: x[None, :, 1:], lambda x: x[None, :, 1:]),
    ("everything", lambda x: x[...], lambda x: x[...]),
    ("T", lambda x: x.T, lambda x: x.T),
    ("transpose", lambda x: x.transpose([1, 0]), lambda x: x.permute(1, 0)),
    ("moveaxis", lambda x: x.moveaxis(0, 1), lambda x: x.movedim(0, 1)),
    ("swapaxes", lambda x: x.swapaxes(0, 1), lambda x: x.swapaxes(0, 1)),
    ("reshape", lambda x: x.reshape([3, 2]), lambda x: x.reshape(3, 2)),
    ("flatten", lambda x: x.flatten(), lambda x: x.flatten()),
    ("squeeze", lambda x: x[:1].squeeze(), lambda x: x[:1].squeeze()),
    ("nothing to squeeze", lambda x: x.squeeze(), lambda x: x.squeeze()),
    ("unsqueeze", lambda x: x.unsqueeze(1), lambda x: x.unsqueeze(1)),
    ("split", lambda x: x.split(3, 1)[1], lambda x: x[:, 1:2]),
    ("unbind", lambda x: x.unbind(1)[2], lambda x: x[:, 2]),
    ("chunk", lambda x: paddle.chunk(x, 2)[1], lambda x: x[1:2]),
    ("diagonal", lambda x: x.diagonal(), lambda x: x.diagonal()),
    ("slice call", lambda x: paddle.slice(x, [1], [1], [3]), lambda x: x[:, 1:3]),
    ("view of a view", lambda x: x.T[1:].reshape([2, 2])[0], lambda x: x.T[1:][0]),
    ("rows of a row", lambda x: x.flatten()[2:5].reshape([3, 1]), lambda x: x.flatten()[2:5].reshape(3, 1)),
    ("copied by reshape", lambda x: x.T.reshape([6]), lambda x: x.T.reshape(6)),
    ("clone", lambda x: x.clone(), lambda x: x.clone()),
    ("chosen", lambda x: x[[1, 0]], lambda x: x[[1, 0]]),
    ("mask", lambda x: x[x > 1], lambda x: x[x > 1]),
    ("expand", lambda x: x.expand([2, 2, 3]), lambda x: x.expand(2, 2, 3).clone()),
    ("flip", lambda x: x.flip([0]), lambda x: x.flip([0])),
    ("tile", lambda x: x.tile([1, 1]), lambda x: x.tile(1, 1)),
    ("cast", lambda x: x.astype("float64"), lambda x: x.clone()),
]  # fmt: skip
NAMES = [name for name, _, _ in MAKERS]


def lists(*tensors: Any) -> list[Any]:
    return [None if t is None else t.detach().numpy().tolist() for t in tensors]


def first(tensor: Any) -> Any:
    """The index of its first element."""
    return (0,) * tensor.ndim


def leaf(package: Any, *extents: int) -> Any:
    values = np.arange(np.prod(extents, dtype=int)).reshape(extents) * 0.5
    return paddle.to_tensor(values, stop_gradient=False) if package is paddle else torch.tensor(values, requires_grad=True)


def stored_and_swept(package: Any, make: Function, by: str, value: str) -> list[Any]:
    """Values and gradients of a program that stores to a tensor or to what was made of it, and reads both."""
    x, w = leaf(package, 2, 3), leaf(package, 2)
    y = x * 2
    v = make(y)
    before = v * 1.5
    stored = 7.0 if value == "number" else w[1] * w[1]
    if by == "view":
        v[first(v)] = stored
    elif by == "base":
        y[0] = stored
        y[1, 2] = stored
    else:
        u = make(y)
        u[first(u)] = stored
    loss = (y * y).sum() + (v * v).sum() * 3 + before.sum()
    loss.backward()
    return lists(y, v, before, x.grad, w.grad)


@pytest.mark.parametrize(("name", "ours", "theirs"), MAKERS, ids=NAMES)
def test_what_is_stored_to_one_is_seen_by_all(name: str, ours: Function, theirs: Function) -> None:
    for by, value in itertools.product(("view", "base", "other view"), ("number", "tensor")):
        assert stored_and_swept(paddle, ours, by, value) == stored_and_swept(torch, theirs, by, value), (by, value)


def without_recording(package: Any, make: Function, inside: bool) -> list[Any]:
    """A store to a view in ``no_grad``, of a leaf whose gradient is asked for."""
    x = leaf(package, 2, 3)
    v = None if inside else make(x)
    with package.no_grad():
        v = make(x) if v is None else v
        v[first(v)] = -1.5
    (x * x).sum().backward()
    return lists(x, v, x.grad)


@pytest.mark.parametrize(("name", "ours", "theirs"), MAKERS, ids=NAMES)
@pytest.mark.parametrize("inside", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_stores_without_recording(name: str, ours: Function, theirs: Function, inside: bool) -> None:
    assert without_recording(paddle, ours, inside) == without_recording(torch, theirs, inside)


@pytest.mark.parametrize(("name", "ours", "theirs"), MAKERS, ids=NAMES)
def test_set_value_is_seen(name: str, ours: Function, theirs: Function) -> None:
    x, other = paddle.to_tensor(np.arange(6.0).reshape(2, 3)), torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
    v, u = ours(x), theirs(other)
    v.set_value(np.full(tuple(v.shape), 9.0))
    u.fill_(9.0)
    assert lists(x, v) == lists(other, u)
    x.set_value(np.full((2, 3), 4.0))
    other.fill_(4.0)
    assert lists(x, v) == lists(other, u)


def test_the_documented_program_of_detach() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    detached = x.detach()
    detached[0] = 10.0
    assert x.tolist() == [10.0]
    y = x**2
    y.backward()
    assert x.grad.tolist() == [20.0]
    assert detached.grad is None
    detached.stop_gradient = False
    z = detached**3
    z.backward()
    assert (x.grad.tolist(), detached.grad.tolist()) == ([20.0], [300.0])
    y = 2 * x
    (x * y).sum().backward()


def test_values_that_are_needed_and_were_changed_through_detach_are_refused() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * x
    x.detach()[0] = 5.0
    with pytest.raises(Overwritten):
        y.sum().backward()
    h = paddle.to_tensor([1.0, 2.0], stop_gradient=False) * 3
    h.detach()[0] = 5.0
    with pytest.raises(Overwritten):
        (h * h).sum().backward()


def test_a_view_of_a_leaf_is_not_changed_while_recording() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    v = x[0:1]
    with pytest.raises(LeafInPlace, match="a view of it"):
        v[0] = 3.0
    assert (x.tolist(), v.tolist()) == ([1.0, 2.0], [1.0])


def test_what_shared_memory_with_tensors_that_are_gone() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    y = x * 2
    a, b = y[:2], y[1:]
    del y
    a[1] = 7.0
    (b * b).sum().backward()
    assert (a.tolist(), b.tolist(), x.grad.tolist()) == ([2.0, 7.0], [7.0, 6.0], [0.0, 0.0, 24.0])
    del b
    a[0] = 1.0
    assert a.tolist() == [1.0, 7.0]


def test_many_views_that_are_gone_are_forgotten() -> None:
    y = paddle.to_tensor(np.zeros(3))
    for k in range(500):
        y[k % 3]
        y.detach()
    family, _ = y._view
    assert len(family.references) < 40
    assert len(family.memory.families) < 40


def test_copies_show_the_same_elements_among_themselves() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    view, other = x[:2], x.detach()
    copied, seen, shared = copy.deepcopy([x, view, other])
    seen[0] = 9.0
    assert (copied.tolist(), seen.tolist(), shared.tolist()) == ([9.0, 2.0, 3.0], [9.0, 2.0], [9.0, 2.0, 3.0])
    assert (x.tolist(), view.tolist()) == ([1.0, 2.0, 3.0], [1.0, 2.0])
    alone = copy.deepcopy(view)
    alone[1] = 5.0
    assert (alone.tolist(), view.tolist()) == ([1.0, 5.0], [1.0, 2.0])
    for result in (pickle.loads(pickle.dumps(x)), copy.copy(x)):
        result[0] = 4.0
        assert (result.tolist(), x.tolist()) == ([4.0, 2.0, 3.0], [1.0, 2.0, 3.0])


def test_a_gradient_may_be_stored_to_and_its_views_follow() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x * x).sum().backward()
    part = x.grad[1:]
    x.grad[1] = 0.0
    assert (x.grad.tolist(), part.tolist()) == ([2.0, 0.0], [0.0])
    (x * x).sum().backward()
    assert (x.grad.tolist(), part.tolist()) == ([4.0, 4.0], [4.0])
    x.clear_grad()
    assert (x.grad.tolist(), part.tolist()) == ([0.0, 0.0], [0.0])


@pytest.mark.parametrize("shape", [(1,), (1, 1), ()])
@pytest.mark.parametrize("index", [0, (0, 1), (0, slice(0, 1)), (slice(None), 1), [1, 0], (..., 0), slice(1, 2)])
@pytest.mark.parametrize("from_view", [False, True])
def test_values_with_axes_of_one_element_are_stored(shape: tuple[int, ...], index: Any, from_view: bool) -> None:
    def run(package: Any) -> list[Any]:
        x, w = leaf(package, 2, 3), leaf(package, *(shape or (1,))) + 3.0
        y = x * 2
        target = y.T if from_view else y
        target[index] = w if shape else w[0]
        (y * y).sum().backward()
        return lists(y, x.grad)

    assert run(paddle) == run(torch)
