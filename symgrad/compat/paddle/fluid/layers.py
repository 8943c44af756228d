"""``paddle.fluid.layers``: the older names and arguments of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.compat.missing import explaining
from symgrad.functional import network as f
from symgrad.static import appending, create_parameter, default_main_program, nn
from symgrad.static import data as fed
from symgrad.vocabulary import network, tensors
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.network import accuracy, dropout, log_softmax, one_hot, relu, sigmoid, softmax, square_error_cost  # type: ignore[attr-defined]
from symgrad.vocabulary.tensors import concat, exp, log, matmul, reshape, scale, sqrt, square, stack, tanh, transpose  # type: ignore[attr-defined]


def data(
    name: str,
    shape: Sequence[int],
    append_batch_size: bool = True,
    dtype: Any = "float32",
    lod_level: int = 0,
    type: Any = None,
    stop_gradient: bool = True,
) -> Any:
    """A variable that is fed; an axis for the batch is put in front unless ``append_batch_size`` is False."""
    extents = list(shape)
    if append_batch_size and -1 not in extents and None not in extents:
        extents = [-1, *extents]
    variable = fed(name, extents, dtype)
    variable.stop_gradient = stop_gradient
    return variable


def fc(
    input: Any,
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """``input @ weight + bias``."""
    return nn.fc(input, size, num_flatten_dims, param_attr, bias_attr, act, name)


def conv2d(
    input: Any,
    num_filters: int,
    filter_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Any:
    """The correlation of images with kernels of its own."""
    return nn.conv2d(
        input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr, use_cudnn, act, name, data_format
    )


def pool2d(
    input: Any,
    pool_size: Any = -1,
    pool_type: str = "max",
    pool_stride: Any = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    exclusive: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The largest element or the mean of each window."""
    if global_pooling:
        pool_size, pool_stride, pool_padding = tuple(input.shape[2:]), 1, 0
    if pool_type == "max":
        return network.max_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode, False, data_format)
    if pool_type == "avg":
        return network.avg_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode, exclusive, None, data_format)
    raise ValueError(f"the pool {pool_type!r} is not known; write 'max' or 'avg'")


def embedding(
    input: Any,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """Rows of a weight by their numbers."""
    return nn.embedding(input, size, padding_idx=padding_idx, param_attr=param_attr, dtype=dtype)


batch_norm, cond, while_loop = nn.batch_norm, nn.cond, nn.while_loop


def mean(x: Any, name: str | None = None) -> Any:
    """The mean of everything."""
    return tensors.mean(x)  # type: ignore[attr-defined]


def reduce_sum(input: Any, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Any:
    """The sum over all or some axes."""
    return tensors.sum(input, dim, keepdim=keep_dim)


def reduce_mean(input: Any, dim: Any = None, keep_dim: bool = False, name: str | None = None) -> Any:
    """The mean over all or some axes."""
    return tensors.mean(input, dim, keep_dim)  # type: ignore[attr-defined]


def with_axis(name: str) -> Any:
    """An operation of two variables with an activation."""

    def call(x: Any, y: Any, axis: int = -1, act: str | None = None, name_: str | None = None) -> Any:
        if axis not in (-1, len(x.shape) - len(y.shape)):
            y = tensors.unsqueeze(y, list(range(len(y.shape), len(x.shape) - axis)))
        return nn.activated(getattr(tensors, name)(x, y), act)

    call.__name__ = call.__qualname__ = f"elementwise_{name}"
    call.__doc__ = f"``{name}``; the axes of ``y`` begin at ``axis`` of ``x``."
    return call


elementwise_add, elementwise_sub = with_axis("add"), with_axis("subtract")
elementwise_mul, elementwise_div = with_axis("multiply"), with_axis("divide")


def cross_entropy(input: Any, label: Any, soft_label: bool = False, ignore_index: int = -100) -> Any:
    """``-log(input)`` at the label, for rows that are distributions."""
    logs = tensors.log(input)  # type: ignore[attr-defined]
    if soft_label:
        return tensors.negative(tensors.sum(logs * label, -1, keepdim=True))  # type: ignore[attr-defined]
    return apply(f.picked, logs, label, axis=-1, ignore_index=int(ignore_index))


def softmax_with_cross_entropy(logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, axis: int = -1) -> Any:
    """``-log(softmax(logits))`` at the label."""
    return network.softmax_with_cross_entropy(logits, label, soft_label, ignore_index, axis)


def fill_constant(shape: Sequence[int], dtype: Any, value: float, name: str | None = None) -> Any:
    """One number, everywhere."""
    return appending.constant(default_main_program(), np.full(tuple(shape), value, dtype))


__all__ = ["accuracy", "batch_norm", "concat", "cond", "conv2d", "create_parameter", "cross_entropy", "data", "dropout", "elementwise_add"]
__all__ += ["elementwise_div", "elementwise_mul", "elementwise_sub", "embedding", "exp", "fc", "fill_constant", "log", "log_softmax"]
__all__ += ["matmul", "mean", "one_hot", "pool2d", "reduce_mean", "reduce_sum", "relu", "reshape", "scale", "sigmoid", "softmax"]
__all__ += ["softmax_with_cross_entropy", "sqrt", "square", "square_error_cost", "stack", "tanh", "transpose", "while_loop"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.fluid.layers", __all__)
