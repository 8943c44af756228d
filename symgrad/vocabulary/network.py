"""What networks are made of, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

from typing import Any

from symgrad.functional import losses
from symgrad.functional import network as f
from symgrad.functional import tensors as tensor_functions
from symgrad.functional import windows as w
from symgrad.vocabulary import tensors
from symgrad.vocabulary.dispatch import apply, extents, pair, unary
from symgrad.vocabulary.exposed import reduction_of
from symgrad.vocabulary.tensors import cast

Tensor = Any


UNARY = ("relu", "relu6", "sigmoid", "log_sigmoid", "softsign", "silu", "mish")
globals().update({name: unary(getattr(f, name)) for name in UNARY})


def swish(x: Tensor, name: str | None = None) -> Tensor:
    """``x * sigmoid(x)``."""
    return apply(f.silu, x)


def leaky_relu(x: Tensor, negative_slope: float = 0.01, name: str | None = None) -> Tensor:
    """``x`` where it is not negative, else a multiple of it."""
    return apply(f.leaky_relu, x, negative_slope=float(negative_slope))


def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``."""
    return apply(f.elu, x, alpha=float(alpha))


def selu(x: Tensor, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772, name: str | None = None) -> Tensor:
    """The self-normalising unit."""
    return apply(f.selu, x, scale=float(scale), alpha=float(alpha))


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0, name: str | None = None) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``."""
    return apply(f.softplus, x, beta=float(beta), threshold=float(threshold))


def gelu(x: Tensor, approximate: bool = False, name: str | None = None) -> Tensor:
    """``x`` times the normal distribution function."""
    return apply(f.gelu, x, approximate=bool(approximate))


def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """``x`` between two bounds."""
    return apply(f.hardtanh, x, min=float(min), max=float(max))


def hardsigmoid(x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Tensor:
    """A line between 0 and 1."""
    return apply(f.hardsigmoid, x, slope=float(slope), offset=float(offset))


def softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """``exp(x) / sum(exp(x))`` along an axis."""
    return apply(f.softmax, x if dtype is None else cast(x, dtype), axis=int(axis))


def log_softmax(x: Tensor, axis: int = -1, dtype: Any = None, name: str | None = None) -> Tensor:
    """``log(softmax(x))``."""
    return apply(f.log_softmax, x if dtype is None else cast(x, dtype), axis=int(axis))


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


def cross_entropy(input: Tensor, label: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
                  soft_label: bool = False, axis: int = -1, use_softmax: bool = True, name: str | None = None) -> Tensor:  # fmt: skip
    """``-log(softmax(input))`` at the label, for each class with its weight."""
    if not use_softmax:
        input = tensors.log(input)  # type: ignore[attr-defined]
    if not soft_label:
        labels_fit(input, label, int(axis))
    if weight is not None:
        if soft_label:
            raise ValueError("weight with soft_label is not supported; multiply the labels by it")
        return apply(losses.weighted_entropy, input, label, weight, reduction=reduction_of(reduction), axis=int(axis),
                     ignore_index=int(ignore_index), logs=not use_softmax)  # fmt: skip
    return apply(f.cross_entropy, input, label, reduction=reduction_of(reduction), soft_label=bool(soft_label), axis=int(axis),
                 ignore_index=int(ignore_index), logs=not use_softmax)  # fmt: skip


def softmax_with_cross_entropy(logits: Tensor, label: Tensor, soft_label: bool = False, ignore_index: int = -100, axis: int = -1) -> Tensor:
    """The cross entropy of each row, with the axis kept."""
    return apply(f.cross_entropy, logits, label, reduction="none", soft_label=bool(soft_label), axis=int(axis),
                 ignore_index=int(ignore_index))  # fmt: skip


def nll_loss(input: Tensor, label: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
             name: str | None = None) -> Tensor:  # fmt: skip
    """Minus the input at the label, for each class with its weight."""
    labels_fit(input, label, 1)
    if weight is not None:
        return apply(losses.weighted_entropy, input, label, weight, reduction=reduction_of(reduction), axis=1,
                     ignore_index=int(ignore_index), logs=True)  # fmt: skip
    return apply(f.nll_loss, input, label, reduction=reduction_of(reduction), ignore_index=int(ignore_index))


def binary_cross_entropy(input: Tensor, label: Tensor, weight: Any = None, reduction: str = "mean", name: str | None = None) -> Tensor:
    """``-label * log(input) - (1 - label) * log(1 - input)``, times the weight."""
    return apply(f.binary_cross_entropy, input, label, weight, reduction=reduction_of(reduction))


def binary_cross_entropy_with_logits(logit: Tensor, label: Tensor, weight: Any = None, reduction: str = "mean", pos_weight: Any = None,
                                     name: str | None = None) -> Tensor:  # fmt: skip
    """The binary cross entropy of ``sigmoid(logit)``, times the weight; ``pos_weight`` is the weight of the label 1."""
    if weight is None and pos_weight is None:
        return apply(f.binary_cross_entropy_with_logits, logit, label, reduction=reduction_of(reduction))
    return apply(losses.weighted_binary_entropy, logit, label, weight, pos_weight, reduction=reduction_of(reduction))


def accuracy(input: Tensor, label: Tensor, k: int = 1, correct: Any = None, total: Any = None) -> Tensor:
    """The share of rows whose label is among the ``k`` largest elements."""
    if correct is not None or total is not None:
        raise ValueError("correct and total are not supported")
    return apply(f.accuracy, input.detach(), label, k=int(k))


# ------------------------------------------------------------------ layers


def linear(x: Tensor, weight: Tensor, bias: Tensor = None, name: str | None = None) -> Tensor:
    """``x @ weight + bias``."""
    return apply(f.linear, x, weight, bias)


def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = None, sparse: bool = False, name: str | None = None) -> Tensor:
    """Rows of the weight by their numbers."""
    return apply(f.embedding, x, weight, padding_idx=None if padding_idx is None else int(padding_idx))


def dropout(x: Tensor, p: float = 0.5, axis: Any = None, training: bool = True, mode: str = "upscale_in_train", seed: int | None = None,
            name: str | None = None) -> Tensor:  # fmt: skip
    """Elements set to zero with probability ``p``; ``axis``: together along the other axes. Not in a test."""
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ValueError(f"the mode {mode!r} is not known")
    if not 0 <= p <= 1:
        raise ValueError(f"p must be between 0 and 1, not {p}")
    if not training:
        return x if mode == "upscale_in_train" else apply(tensor_functions.scale, x, scale=1.0 - p)
    kept = range(len(x.shape)) if axis is None else [a % len(x.shape) for a in extents(axis)]
    mask = apply(f.keep_mask, x.detach(), axes=tuple(kept), p=float(p), seed=0 if seed is None else int(seed))
    return apply(f.dropout, x, mask, p=float(p), mode=mode)


def one_hot(x: Tensor, num_classes: int, name: str | None = None) -> Tensor:
    """Rows of the unit matrix."""
    return apply(f.one_hot, x, num_classes=int(num_classes))


def layer_norm(
    x: Tensor, normalized_shape: Any, weight: Tensor = None, bias: Tensor = None, epsilon: float = 1e-5, name: str | None = None
) -> Tensor:
    """Centred and scaled over the last axes."""
    return apply(f.layer_norm, x, weight, bias, axes=len(extents(normalized_shape)), epsilon=float(epsilon))


# ------------------------------------------------------------------ windows


def padding_of(
    padding: Any, size: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int], shape: Any
) -> tuple[int, int, int, int]:
    """(top, bottom, left, right) from one number, two, four, pairs by axis, or a word."""
    if isinstance(padding, str):
        if padding.upper() == "VALID":
            return (0, 0, 0, 0)
        if padding.upper() != "SAME":
            raise ValueError(f"the padding {padding!r} is not known; write 'SAME', 'VALID' or numbers")
        made = []
        for k in range(2):
            length = int(shape[2 + k])
            if length < 0:
                raise ValueError(f"the padding 'SAME' needs to know the extent of axis {2 + k}")
            out = -(-length // stride[k])
            total = max((out - 1) * stride[k] + dilation[k] * (size[k] - 1) + 1 - length, 0)
            made += [total // 2, total - total // 2]
        return (made[0], made[1], made[2], made[3])
    if isinstance(padding, int):
        return (padding, padding, padding, padding)
    given = list(padding)
    if len(given) == 4 and all(isinstance(p, list | tuple) for p in given):
        given = [*given[2], *given[3]]
    if len(given) == 2 and all(isinstance(p, int) for p in given):
        return (given[0], given[0], given[1], given[1])
    if len(given) == 4:
        return (int(given[0]), int(given[1]), int(given[2]), int(given[3]))
    raise ValueError(f"the padding {padding!r} is not understood")


def channels_first(data_format: str, wanted: str) -> None:
    """Refuse images with the channels last."""
    if data_format != wanted:
        raise ValueError(f"data_format {data_format!r} is not supported; write {wanted}")


def kernels_fit(x: Tensor, weight: Tensor, rank: int, groups: int) -> None:
    """Refuse images and kernels that do not go together."""
    if len(x.shape) != rank or len(weight.shape) != rank:
        raise ValueError(f"the input and the weight must have {rank} axes, and their shapes are {list(x.shape)} and {list(weight.shape)}")
    if x.shape[1] not in (-1, weight.shape[1] * groups) or weight.shape[0] % groups:
        what = f"{x.shape[1]} channels in {groups} groups"
        raise ValueError(f"a weight of shape {list(weight.shape)} does not fit {what}; it is (out, in / groups, ...)")


def windows_fit(x: Tensor, size: Any, edges: Any, dilation: Any) -> None:
    """Refuse windows that are larger than the images and their borders."""
    if len(x.shape) != 4:
        raise ValueError(f"images have 4 axes, and the shape is {list(x.shape)}")
    for k in range(2):
        whole, wide = int(x.shape[2 + k]), dilation[k] * (size[k] - 1) + 1
        if whole >= 0 and wide > whole + edges[2 * k] + edges[2 * k + 1]:
            raise ValueError(f"a window of extent {wide} does not fit axis {2 + k} of {list(x.shape)} with its borders")


def windows_fit_signal(x: Tensor, size: int, edges: Any, dilation: int) -> None:
    """Refuse windows that are larger than the signals and their borders."""
    whole, wide = int(x.shape[2]), dilation * (size - 1) + 1
    if whole >= 0 and wide > whole + edges[0] + edges[1]:
        raise ValueError(f"a window of extent {wide} does not fit axis 2 of {list(x.shape)} with its borders")


def labels_fit(input: Tensor, label: Tensor, axis: int) -> None:
    """Refuse labels that are no class numbers, one for each row."""
    if not hasattr(label, "dtype") or label.dtype.kind not in "iu":
        what = getattr(label, "dtype", type(label).__name__)
        raise TypeError(f"labels must be class numbers of an integer dtype, not {what}; soft_label=True takes distributions")
    shape, rank = list(label.shape), len(input.shape)
    rest = [extent for k, extent in enumerate(input.shape) if k != axis % rank]
    own = [extent for k, extent in enumerate(shape) if k != axis % rank] if len(shape) == rank else shape
    single = len(shape) < rank or shape[axis % rank] in (1, -1)
    if not single or len(own) != len(rest) or any(a != b and -1 not in (a, b) for a, b in zip(own, rest, strict=True)):
        raise ValueError(f"labels of shape {shape} do not fit an input of shape {list(input.shape)}; there is one for each of {rest}")


def conv2d(x: Tensor, weight: Tensor, bias: Tensor = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
           data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The correlation of images with kernels."""
    channels_first(data_format, "NCHW")
    kernels_fit(x, weight, 4, int(groups))
    size = (int(weight.shape[2]), int(weight.shape[3]))
    steps, spread = pair(stride), pair(dilation)
    edges = padding_of(padding, size, steps, spread, x.shape)
    windows_fit(x, size, edges, spread)
    return apply(w.conv2d, x, weight, bias, size=size, stride=steps, padding=edges, dilation=spread, groups=int(groups))


def conv1d(x: Tensor, weight: Tensor, bias: Tensor = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
           data_format: str = "NCL", name: str | None = None) -> Tensor:  # fmt: skip
    """The correlation of signals with kernels."""
    channels_first(data_format, "NCL")
    kernels_fit(x, weight, 3, int(groups))
    size = int(weight.shape[2])
    step, spread = pair(stride)[0], pair(dilation)[0]
    if isinstance(padding, str):
        _, _, left, right = padding_of(padding, (1, size), (1, step), (1, spread), (*x.shape[:2], 1, x.shape[2]))
    else:
        given = [padding] if isinstance(padding, int) else list(padding)
        left, right = int(given[0]), int(given[-1])
    windows_fit_signal(x, size, (left, right), spread)
    return apply(w.conv1d, x, weight, bias, size=size, stride=step, padding=(left, right), dilation=spread, groups=int(groups))


def pool(function: Any, x: Tensor, kernel_size: Any, stride: Any, padding: Any, **settings: Any) -> Tensor:
    """A pool over images."""
    size = pair(kernel_size)
    steps = size if stride is None else pair(stride)
    edges = padding_of(padding, size, steps, (1, 1), x.shape)
    windows_fit(x, size, edges, (1, 1))
    return apply(function, x, size=size, stride=steps, padding=edges, **settings)


def max_pool2d(x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, return_mask: bool = False,
               data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The largest element of each window."""
    channels_first(data_format, "NCHW")
    if ceil_mode or return_mask:
        raise ValueError("ceil_mode and return_mask are not supported")
    return pool(w.max_pool2d, x, kernel_size, stride, padding)


def avg_pool2d(x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, exclusive: bool = True,
               divisor_override: Any = None, data_format: str = "NCHW", name: str | None = None) -> Tensor:  # fmt: skip
    """The mean of each window; ``exclusive``: without what was padded."""
    channels_first(data_format, "NCHW")
    if ceil_mode or divisor_override is not None:
        raise ValueError("ceil_mode and divisor_override are not supported")
    return pool(w.avg_pool2d, x, kernel_size, stride, padding, exclusive=bool(exclusive))


def max_pool1d(x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, name: str | None = None) -> Tensor:
    """The largest element of each window of a signal."""
    size, step = pair(kernel_size)[0], pair(kernel_size if stride is None else stride)[0]
    return apply(w.max_pool1d, x, size=size, stride=step, padding=pair(padding))


def avg_pool1d(
    x: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, exclusive: bool = True, name: str | None = None
) -> Tensor:
    """The mean of each window of a signal."""
    size, step = pair(kernel_size)[0], pair(kernel_size if stride is None else stride)[0]
    return apply(w.avg_pool1d, x, size=size, stride=step, padding=pair(padding), exclusive=bool(exclusive))


__all__ = [
    *UNARY,
    *LOSSES,
    "swish",
    "leaky_relu",
    "elu",
    "selu",
    "softplus",
    "gelu",
    "hardtanh",
    "hardsigmoid",
    "softmax",
    "log_softmax",
    "square_error_cost",
    "smooth_l1_loss",
    "cross_entropy",
    "softmax_with_cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "linear",
    "dropout",
    "embedding",
    "one_hot",
    "layer_norm",
    "conv2d",
    "conv1d",
    "max_pool2d",
    "avg_pool2d",
    "max_pool1d",
    "avg_pool1d",
]
