"""Activations, losses and layers, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

from typing import Any

from symgrad.errors import refused
from symgrad.functional import losses
from symgrad.functional import network as f
from symgrad.functional import tensors as tensor_functions
from symgrad.functional import windows as w
from symgrad.vocabulary import tensors
from symgrad.vocabulary.dispatch import apply, extents, plain_integer, unary
from symgrad.vocabulary.exposed import reduction_of
from symgrad.vocabulary.fitting import (
    channels_second,
    extent,
    kernels_fit,
    labels_fit,
    padding_of,
    padding_of_signal,
    pair,
    ranked,
    rowwise,
    shaped,
    single,
    weights_fit,
    whole_numbers,
    windows_fit,
)
from symgrad.vocabulary.promotion import as_float, cast, floating

Tensor = Any


UNARY = ("relu", "relu6", "sigmoid", "log_sigmoid", "softsign", "silu", "mish")
globals().update({name: (unary if name in ("relu", "relu6") else floating)(getattr(f, name)) for name in UNARY})


def swish(x: Tensor, name: str | None = None) -> Tensor:
    """``x * sigmoid(x)``."""
    return apply(f.silu, as_float(x))


def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """``x`` where it is not negative, else a multiple of it."""
    return apply(f.leaky_relu, as_float(x), negative_slope=float(negative_slope))


def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""
    return apply(f.elu, as_float(x), alpha=float(alpha))


def selu(x: Tensor, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772, name: str | None = None) -> Tensor:
    """The self-normalising unit."""
    return apply(f.selu, as_float(x), scale=float(scale), alpha=float(alpha))


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0, name: str | None = None) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``."""
    return apply(f.softplus, as_float(x), beta=float(beta), threshold=float(threshold))


def gelu(x: Tensor, approximate: bool = False, name: str | None = None) -> Tensor:
    """``x`` times the normal distribution function."""
    return apply(f.gelu, as_float(x), approximate=bool(approximate))


def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """``x`` between two bounds."""
    return apply(f.hardtanh, x, min=float(min), max=float(max))


def hardsigmoid(x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Tensor:
    """A line between 0 and 1."""
    return apply(f.hardsigmoid, as_float(x), slope=float(slope), offset=float(offset))


@rowwise
def softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """``exp(x) / sum(exp(x))`` along an axis."""
    return shares(f.softmax, x, axis, dtype)


@rowwise
def log_softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """``log(softmax(x))``."""
    return shares(f.log_softmax, x, axis, dtype)


def shares(function: Any, x: Tensor, axis: int, dtype: Any) -> Tensor:
    """A softmax or its logarithm; of no elements there is no largest one."""
    x = as_float(x) if dtype is None else cast(x, dtype)
    return apply(tensor_functions.assign, x) if extent(x, "x", axis) == 0 else apply(function, x, axis=plain_integer(axis))


# ------------------------------------------------------------------ losses


def square_error_cost(input: Tensor, label: Tensor) -> Tensor:
    """``(input - label) ** 2``."""
    return tensors.square(tensors.subtract(input, label))  # type: ignore[attr-defined]


def loss(name: str) -> Any:
    """A loss with a reduction."""
    function = getattr(f, name)

    def call(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
        return apply(function, input, label, reduction=reduction_of(reduction))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return call


LOSSES = ("mse_loss", "l1_loss")
globals().update({name: loss(name) for name in LOSSES})


def smooth_l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", delta: float = 1.0, name: str | None = None) -> Tensor:
    """Half the square near 0, a line beyond ``delta``."""
    return apply(f.smooth_l1_loss, input, label, reduction=reduction_of(reduction), delta=float(delta))


def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    name: str | None = None,
) -> Tensor:
    """``-log(softmax(input))`` at the label, for each class with its weight."""
    if not use_softmax:
        input = tensors.log(input)  # type: ignore[attr-defined]
    if not soft_label:
        labels_fit(input, label, plain_integer(axis))
    if weight is not None:
        if soft_label:
            raise refused(ValueError("weight with soft_label is not supported; multiply the labels by it"))
        weights_fit(input, weight, plain_integer(axis))
        return apply(
            losses.weighted_entropy,
            input,
            label,
            weight,
            reduction=reduction_of(reduction),
            axis=plain_integer(axis),
            ignore_index=int(ignore_index),
            logs=not use_softmax,
        )
    return apply(
        f.cross_entropy,
        input,
        label,
        reduction=reduction_of(reduction),
        soft_label=bool(soft_label),
        axis=plain_integer(axis),
        ignore_index=int(ignore_index),
        logs=not use_softmax,
    )


def softmax_with_cross_entropy(logits: Tensor, label: Tensor, soft_label: bool = False, ignore_index: int = -100, axis: int = -1) -> Tensor:
    """The cross entropy of each row, with the axis kept."""
    if not soft_label:
        labels_fit(logits, label, plain_integer(axis))
    return apply(
        f.cross_entropy,
        logits,
        label,
        reduction="none",
        soft_label=bool(soft_label),
        axis=plain_integer(axis),
        ignore_index=int(ignore_index),
    )


def nll_loss(
    input: Tensor, label: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """Minus the input at the label, for each class with its weight."""
    labels_fit(input, label, 1)
    if weight is not None:
        weights_fit(input, weight, 1)
        return apply(
            losses.weighted_entropy,
            input,
            label,
            weight,
            reduction=reduction_of(reduction),
            axis=1,
            ignore_index=int(ignore_index),
            logs=True,
        )
    return apply(f.nll_loss, input, label, reduction=reduction_of(reduction), ignore_index=int(ignore_index))


def binary_cross_entropy(input: Tensor, label: Tensor, weight: Any = None, reduction: str = "mean", name: str | None = None) -> Tensor:
    """``-label * log(input) - (1 - label) * log(1 - input)``, times the weight."""
    return apply(f.binary_cross_entropy, input, label, weight, reduction=reduction_of(reduction))


def binary_cross_entropy_with_logits(
    logit: Tensor, label: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None, name: str | None = None
) -> Tensor:
    """The binary cross entropy of ``sigmoid(logit)``, times the weight; ``pos_weight`` is the weight of the label 1."""
    if weight is None and pos_weight is None:
        return apply(f.binary_cross_entropy_with_logits, logit, label, reduction=reduction_of(reduction))
    return apply(losses.weighted_binary_entropy, logit, label, weight, pos_weight, reduction=reduction_of(reduction))


def accuracy(input: Tensor, label: Tensor, k: int = 1, correct: Any = None, total: Any = None) -> Tensor:
    """The share of rows whose label is among the ``k`` largest elements."""
    if correct is not None or total is not None:
        raise refused(ValueError("correct and total are not supported"))
    return apply(f.accuracy, input.detach(), label, k=plain_integer(k, "k"))


# ------------------------------------------------------------------ layers


def linear(x: Tensor, weight: Tensor, bias: Tensor = None, name: str | None = None) -> Tensor:
    """``x @ weight + bias``."""
    ranked(x, "x")
    ranked(weight, "weight", 2)
    width, (rows, columns) = x.shape[-1:], weight.shape
    if not width or width[0] != rows and -1 not in (width[0], rows):
        raise refused(ValueError(f"x of shape {list(x.shape)} does not fit a weight of shape {list(weight.shape)}, which is (in, out)"))
    shaped(bias, "bias", [columns])
    return apply(f.linear, x, weight, bias)


def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = None, sparse: bool = False, name: str | None = None) -> Tensor:
    """Rows of the weight by their numbers."""
    whole_numbers(x, "x")
    ranked(weight, "weight", 2)
    return apply(f.embedding, x, weight, padding_idx=None if padding_idx is None else plain_integer(padding_idx, "padding_idx"))


def dropout(
    x: Tensor,
    p: float = 0.5,
    axis: Any = None,
    training: bool = True,
    mode: str = "upscale_in_train",
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Elements set to zero with probability ``p``; ``axis``: together along the other axes. Not in a test."""
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise refused(ValueError(f"the mode {mode!r} is not known"))
    ranked(x, "x")
    if not isinstance(p, int | float) or not 0 <= p <= 1:
        raise refused(ValueError(f"p must be between 0 and 1, not {p!r}"))
    if not training:
        return x if mode == "upscale_in_train" else apply(tensor_functions.scale, x, scale=1.0 - p)
    kept = range(len(x.shape)) if axis is None else [a % len(x.shape) for a in extents(axis)]
    mask = apply(f.keep_mask, x.detach(), axes=tuple(kept), p=float(p), seed=0 if seed is None else int(seed))
    return apply(f.dropout, x, mask, p=float(p), mode=mode)


def one_hot(x: Tensor, num_classes: int, name: str | None = None) -> Tensor:
    """Rows of the unit matrix."""
    whole_numbers(x, "x")
    return apply(f.one_hot, x, num_classes=single(num_classes, "num_classes"))


# ------------------------------------------------------------------ windows


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The correlation of images with kernels."""
    channels_second(data_format, "NCHW")
    groups = single(groups, "groups")
    kernels_fit(x, weight, bias, 4, groups)
    size = (int(weight.shape[2]), int(weight.shape[3]))
    steps, spread = pair(stride, "stride"), pair(dilation, "dilation")
    edges = padding_of(padding, size, steps, spread, x.shape)
    windows_fit(x, size, edges, spread)
    return apply(w.conv2d, x, weight, bias, size=size, stride=steps, padding=edges, dilation=spread, groups=groups)


def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """The correlation of signals with kernels."""
    channels_second(data_format, "NCL")
    groups = single(groups, "groups")
    kernels_fit(x, weight, bias, 3, groups)
    size, step, spread = int(weight.shape[2]), single(stride, "stride"), single(dilation, "dilation")
    edges = padding_of_signal(padding, size, step, spread, x.shape)
    windows_fit(x, (size,), edges, (spread,))
    return apply(w.conv1d, x, weight, bias, size=size, stride=step, padding=edges, dilation=spread, groups=groups)


def pool(function: Any, x: Tensor, kernel_size: Any, stride: Any, padding: Any, **settings: Any) -> Tensor:
    """A pool over images."""
    ranked(x, "the images", 4)
    size = pair(kernel_size, "kernel_size")
    steps = size if stride is None else pair(stride, "stride")
    edges = padding_of(padding, size, steps, (1, 1), x.shape)
    windows_fit(x, size, edges, (1, 1))
    return apply(function, x, size=size, stride=steps, padding=edges, **settings)


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    return_mask: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The largest element of each window."""
    channels_second(data_format, "NCHW")
    if ceil_mode or return_mask:
        raise refused(ValueError("ceil_mode and return_mask are not supported"))
    return pool(w.max_pool2d, x, kernel_size, stride, padding)


def avg_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The mean of each window; ``exclusive``: without padding."""
    channels_second(data_format, "NCHW")
    if ceil_mode or divisor_override is not None:
        raise refused(ValueError("ceil_mode and divisor_override are not supported"))
    return pool(w.avg_pool2d, x, kernel_size, stride, padding, exclusive=bool(exclusive))


def pool_signal(function: Any, x: Tensor, kernel_size: Any, stride: Any, padding: Any, **settings: Any) -> Tensor:
    """A pool over signals."""
    ranked(x, "the signals", 3)
    size = single(kernel_size, "kernel_size")
    step = size if stride is None else single(stride, "stride")
    edges = padding_of_signal(padding, size, step, 1, x.shape)
    windows_fit(x, (size,), edges, (1,))
    return apply(function, x, size=size, stride=step, padding=edges, **settings)


def max_pool1d(x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, name: str | None = None) -> Tensor:
    """The largest element of each window of a signal."""
    return pool_signal(w.max_pool1d, x, kernel_size, stride, padding)


def avg_pool1d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, exclusive: bool = True, name: str | None = None
) -> Tensor:
    """The mean of each window of a signal."""
    return pool_signal(w.avg_pool1d, x, kernel_size, stride, padding, exclusive=bool(exclusive))


__all__ = [*UNARY, *LOSSES, "swish", "leaky_relu", "elu", "selu", "softplus", "gelu", "hardtanh", "hardsigmoid", "softmax", "log_softmax"]
__all__ += ["square_error_cost", "smooth_l1_loss", "cross_entropy", "softmax_with_cross_entropy", "nll_loss", "binary_cross_entropy"]
__all__ += ["binary_cross_entropy_with_logits", "linear", "dropout", "embedding", "one_hot", "conv2d", "conv1d", "max_pool2d", "avg_pool2d"]
__all__ += ["max_pool1d", "avg_pool1d"]
