"""table: calls with arguments that do not fit: each is refused with a message that states what fits."""

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
    (lambda: F.avg_pool2d(X, 2), ValueError, "must have 4 axes"),
    (lambda: F.cross_entropy(X, paddle.to_tensor([0, 1, 2])), ValueError, "one for each of"),
    (lambda: F.cross_entropy(X, paddle.to_tensor([0.0, 1.0])), TypeError, "soft_label"),
    (lambda: F.cross_entropy(X, paddle.to_tensor([0, 3])), IndexError, "out of bounds"),
    (lambda: F.mse_loss(X, X, "average"), ValueError, "'mean', 'sum' or 'none'"),
    (lambda: F.kl_div(X, X, "average"), ValueError, "batchmean"),
    (lambda: F.group_norm(IMAGE, 2), ValueError, "equal groups"),
    (lambda: F.pad(IMAGE, [1, 1], "mirror"), ValueError, "'reflect'"),
    (lambda: F.interpolate(IMAGE), ValueError, "one of size and scale_factor"),
    (lambda: F.interpolate(IMAGE, 3, mode="cubic"), ValueError, "not supported"),
    (lambda: F.conv2d(IMAGE, KERNEL, stride="a"), TypeError, "stride must be an integer"),
    (lambda: F.conv2d(IMAGE, KERNEL, stride=[1, 2, 3]), ValueError, "stride must be 2 or 1 integers"),
    (lambda: F.conv2d(IMAGE, KERNEL, dilation=0), ValueError, "dilation must be 2 or 1 integers of at least 1"),
    (lambda: F.conv2d(IMAGE, KERNEL, X), ValueError, r"bias must have shape \[2\]"),
    (lambda: F.conv2d_transpose(X, KERNEL), ValueError, "the input must have 4 axes"),
    (lambda: F.conv2d_transpose(IMAGE, KERNEL), ValueError, r"\(in, out / groups, ...\)"),
    (lambda: F.conv2d_transpose(IMAGE, IMAGE.transpose([1, 0, 2, 3]), groups=2), ValueError, "2 groups"),
    (lambda: F.conv1d_transpose(IMAGE[0], IMAGE[0].transpose([1, 0, 2]), stride=[1, 2]), ValueError, "stride must be one integer"),
    (lambda: F.conv1d(IMAGE[0], KERNEL[:, :, 0]), ValueError, "out, in / groups"),
    (lambda: F.unfold(X, 2), ValueError, "x must have 4 axes"),
    (lambda: F.unfold(IMAGE, 7), ValueError, "window of extent 7"),
    (lambda: F.unfold(IMAGE, 2, paddings=[1, 2, 3]), ValueError, "paddings must be 2 or 4 integers"),
    (lambda: F.fold(X, 4, 2), ValueError, "x must have 3 axes"),
    (lambda: F.interpolate(IMAGE, [3]), ValueError, "size must be 2 integers of"),
    (lambda: F.interpolate(IMAGE, 0), ValueError, "size must be .* at least 1"),
    (lambda: F.interpolate(IMAGE, scale_factor=-1.0), ValueError, "scale_factor must be a positive number"),
    (lambda: F.interpolate(IMAGE, scale_factor=0.1), ValueError, "leaves nothing"),
    (lambda: F.interpolate(3.0, 2), TypeError, "x must be a tensor, not float"),
    (lambda: F.adaptive_avg_pool2d(X, 2), ValueError, "x must have 4 axes"),
    (lambda: F.adaptive_avg_pool2d(IMAGE, [1, 2, 3]), ValueError, "output_size must be 2"),
    (lambda: F.max_pool1d(IMAGE, 2), ValueError, "the signals must have 3 axes"),
    (lambda: F.max_pool1d(IMAGE[0], 9), ValueError, "window of extent 9"),
    (lambda: F.pixel_shuffle(IMAGE, 2), ValueError, r"upscale_factor \*\* 2, which is 4"),
    (lambda: F.channel_shuffle(IMAGE, 2), ValueError, "groups is 2"),
    (lambda: F.pad(IMAGE, [1, 2, 3]), ValueError, "pad must be 2 or 4 or 6 or 8 integers"),
    (lambda: F.pad(IMAGE, [5, 1], "reflect"), ValueError, "axis of extent 5 has, which is 4"),
    (lambda: F.conv2d(IMAGE, KERNEL, data_format="NHWC"), ValueError, "write 'NCHW'"),
    (lambda: F.group_norm(IMAGE, 3, data_format="NHWC"), ValueError, "the channels come second"),
    (lambda: F.linear(X, X), ValueError, r"which is \(in, out\)"),
    (lambda: F.embedding(X, X), TypeError, "x must hold integers, not float64"),
    (lambda: F.layer_norm(X, 5), ValueError, "normalized_shape must be the shape of the last axes"),
    (lambda: F.layer_norm(X, 3, X), ValueError, r"weight must have shape \[3\]"),
    (lambda: F.cross_entropy(X, paddle.to_tensor([0, 1]), X), ValueError, r"weight must have shape \[3\]"),
    (lambda: F.glu(X, 1), ValueError, r"glu\(x=float64\[2, 3\], axis=1\): array split"),
    (lambda: paddle.matmul(X, X), ValueError, r"matmul\(x=float64\[2, 3\], y=float64\[2, 3\]"),
    (lambda: paddle.add(X, IMAGE), ValueError, r"add\(x=float64\[2, 3\], y=float64\[1, 3, 5, 5\]\): "),
    (lambda: paddle.reshape(X, [4]), ValueError, r"reshape\(x=.*shape=\(4,\)"),
    (lambda: paddle.sum(X, "a"), TypeError, "an axis must be an integer, not 'a'"),
    (lambda: paddle.concat(X), TypeError, "x must be a list or tuple of tensors"),
    (lambda: paddle.stack([]), ValueError, "x must not be empty"),
    (lambda: paddle.split(X, 0), ValueError, "0 equal parts"),
    (lambda: paddle.split(X, 2, 5), ValueError, "axis 5 is out of bounds"),
    (lambda: paddle.slice(X, [0], [1, 2], [3]), ValueError, "starts must have one entry"),
    (lambda: paddle.moveaxis(X, [0, 1], 0), ValueError, "as many axes"),
    (lambda: paddle.gather_nd(X, X), TypeError, "index must hold integers"),
    (lambda: paddle.to_tensor([[1.0], [1.0, 2.0]]), ValueError, "different shapes"),
    (lambda: float(X), ValueError, r"shape \[2, 3\] is not one number"),
    (lambda: [1, 2][paddle.to_tensor(1.0)], TypeError, "is not an integer"),
    (lambda: paddle.topk(X, 4), ValueError, "between 1 and the extent"),
    (lambda: paddle.to_tensor("abc"), TypeError, "pass numbers"),
    (lambda: swept(3), TypeError, "must be callable"),
    (lambda: swept(lambda g: 3), TypeError, "a Tensor or None"),
    (lambda: swept(lambda g: g[0]), ValueError, "has shape"),
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
        (lambda: static.create_parameter([-1, 3], "float64", name="x"), ValueError, "no parameter"),
        (lambda: paddle.matmul(w, w), ValueError, r"matmul\(x=float64\[3, 2\], y=float64\[3, 2\]"),
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
