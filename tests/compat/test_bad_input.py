"""table: calls with what does not fit; each is refused with words that say what does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.nn.functional as F
from symgrad.compat.paddle import static

X = paddle.to_tensor(np.arange(6.0).reshape(2, 3), stop_gradient=False)
IMAGE, KERNEL = paddle.to_tensor(np.ones((1, 3, 5, 5))), paddle.to_tensor(np.ones((2, 3, 3, 3)))


def swept(hook: Any) -> None:
    h = X * 2
    h.register_hook(hook)
    h.sum().backward()


EAGER: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: F.conv2d(IMAGE[:, :2], KERNEL), ValueError, "out, in / groups"),
    (lambda: F.conv2d(IMAGE[:, :, :2], KERNEL), ValueError, "window of extent 3"),
    (lambda: F.conv2d(X, KERNEL), ValueError, "must have 4 axes"),
    (lambda: F.max_pool2d(IMAGE, 7), ValueError, "window of extent 7"),
    (lambda: F.avg_pool2d(X, 2), ValueError, "images have 4 axes"),
    (lambda: F.cross_entropy(X, paddle.to_tensor([0, 1, 2])), ValueError, "one for each of"),
    (lambda: F.cross_entropy(X, paddle.to_tensor([0.0, 1.0])), TypeError, "soft_label"),
    (lambda: F.cross_entropy(X, paddle.to_tensor([0, 3])), IndexError, "out of bounds"),
    (lambda: F.mse_loss(X, X, "average"), ValueError, "'mean', 'sum' or 'none'"),
    (lambda: F.kl_div(X, X, "average"), ValueError, "batchmean"),
    (lambda: F.group_norm(IMAGE, 2), ValueError, "equal groups"),
    (lambda: F.pad(IMAGE, [1, 1], "mirror"), ValueError, "'reflect'"),
    (lambda: F.interpolate(IMAGE), ValueError, "one of size and scale_factor"),
    (lambda: F.interpolate(IMAGE, 3, mode="cubic"), ValueError, "not supported"),
    (lambda: paddle.topk(X, 4), ValueError, "between 1 and the extent"),
    (lambda: paddle.to_tensor("abc"), TypeError, "pass numbers"),
    (lambda: swept(3), TypeError, "must be callable"),
    (lambda: swept(lambda g: 3), TypeError, "a Tensor or None"),
    (lambda: swept(lambda g: g[0]), ValueError, "gave shape"),
    (lambda: paddle.optimizer.SGD(0.1, parameters=X), TypeError, r"write \[parameter\]"),
    (lambda: paddle.optimizer.SGD(0.1, parameters=[3]), TypeError, r"parameters\[0\]"),
    (lambda: paddle.optimizer.SGD("fast", parameters=[X]), TypeError, "a number or an LRScheduler"),
    (lambda: paddle.optimizer.SGD(0.1, parameters=[X], grad_clip=3), TypeError, "ClipGradByValue"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), EAGER)
def test_tensors(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


@pytest.fixture
def run() -> Iterator[Any]:
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, i = static.data("x", [-1, 3], "float64"), static.data("i", [2], "int64")
        w = static.create_parameter([3, 2], "float64", name="w")
        loss = paddle.mean(paddle.matmul(x, w)) + paddle.sum(paddle.cast(i, "float64"))
        yield lambda **words: static.Executor().run(main, **{"fetch_list": [loss], **words})
    paddle.disable_static()


def test_programs(run: Any) -> None:
    block = static.default_main_program().global_block()
    x, w = block.var("x"), block.var("w")
    good = {"x": np.ones((2, 3)), "i": np.array([1, 2])}
    assert static.data("x", [-1, 3], "float64") is x
    assert static.create_parameter([3, 2], "float64", name="w") is w
    for call, error, words in (
        (lambda: static.data("x", [2], "float64"), ValueError, "cannot be made again"),
        (lambda: static.create_parameter([3, 2], "float32", name="w"), ValueError, "cannot be made again"),
        (lambda: static.data(3, [2]), TypeError, "must be a str"),
        (lambda: list(x), TypeError, "how many parts"),
        (lambda: run(feed=good, scope=3), TypeError, "runs in a Scope"),
        (lambda: run(feed=good), TypeError, "run the startup program first"),
        (lambda: run(feed={**good, "i": np.array([1.5, 2.0])}), TypeError, "convert it first"),
        (lambda: run(feed={**good, "x": 1j * np.ones((2, 3))}), TypeError, "convert it first"),
        (lambda: run(feed={**good, "x": np.ones((2, 4))}), ValueError, "has shape"),
        (lambda: run(feed={**good, "y": 1.0}), ValueError, "no such variable"),
        (lambda: run(feed=[good]), TypeError, "a dict of values"),
        (lambda: run(feed=good, fetch_list=["nothing"]), ValueError, "no variable 'nothing'"),
        (lambda: run(feed=good, fetch_list=[3]), TypeError, "a Variable or a name"),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()  # type: ignore[no-untyped-call]
    assert len(list(w)) == 3
