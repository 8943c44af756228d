"""Layers that create their own parameters; with control flow they form ``static.nn``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from symgrad.functional import normalisation as f
from symgrad.functional import tensors as t
from symgrad.static.appending import append, made_parameter
from symgrad.static.control import case, cond, switch_case, while_loop
from symgrad.static.initializers import Constant, Normal, XavierUniform
from symgrad.static.parameters import ParamAttr, attributes
from symgrad.static.program import Parameter, Variable, default_main_program
from symgrad.static.program import layer as layer_named
from symgrad.vocabulary import network, tensors
from symgrad.vocabulary.fitting import channels_second, pair

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(network, name) for name in ("relu", "relu6", "sigmoid", "softmax", "leaky_relu", "elu", "gelu", "silu")},
    "tanh": tensors.tanh,  # type: ignore[attr-defined]
    "exp": tensors.exp,  # type: ignore[attr-defined]
}


def activated(x: Variable, activation: str | None) -> Any:
    """The result of a layer with its activation."""
    if activation is None:
        return x
    if activation not in ACTIVATIONS:
        raise ValueError(f"the activation {activation!r} is not known; there are {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[activation](x)


def layer_of(name: str | None, kind: str) -> AbstractContextManager[str]:
    """Names of a layer: its own, or the next of its kind."""
    return layer_named(name or default_main_program().names.new(kind))


def parameter(layer: str, part: str, shape: Sequence[int], dtype: Any, attribute: ParamAttr, default: Any) -> Parameter:
    """A parameter of a layer: ``fc_0.w_0``."""
    return made_parameter(shape, dtype, attribute.name or f"{layer}.{part}_0", attribute, default)


def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """``x @ weight + bias``: the first ``num_flatten_dims`` axes are rows, the others columns. Several inputs are added."""
    inputs = list(x) if isinstance(x, list | tuple) else [x]
    with layer_of(name, "fc") as layer:
        weight = attributes(weight_attr)
        if weight is None:
            raise ValueError("fc has a weight always")
        total: Any = None
        for k, one in enumerate(inputs):
            rows = num_flatten_dims if num_flatten_dims >= 0 else len(one.shape) + num_flatten_dims
            columns = one.shape[rows:]
            if -1 in columns:
                raise ValueError(f"fc needs to know the extents of {one.name} from axis {rows} on")
            own = ParamAttr(**{**vars(weight), "name": weight.name or f"{layer}.w_{k}"})
            w = made_parameter([math.prod(columns), size], one.dtype, own.name, own, XavierUniform())
            product = append(t.mul, one, w, rows=rows)
            total = product if total is None else append(t.add, total, product)
        said = attributes(bias_attr)
        if said is not None:
            total = append(t.add, total, parameter(layer, "b", [size], inputs[0].dtype, said, Constant(0.0)))
        return activated(total, activation)


def embedding(
    input: Variable,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
    weight_attr: Any = None,
    name: str | None = None,
) -> Any:
    """Rows of a weight by their numbers."""
    with layer_of(name, "embedding") as layer:
        said = attributes(param_attr if weight_attr is None else weight_attr)
        if said is None:
            raise ValueError("embedding has a weight always")
        weight = parameter(layer, "w", size, dtype, said, XavierUniform())
        return network.embedding(input, weight, padding_idx)


def conv2d(
    input: Variable,
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
    with layer_of(name, "conv2d") as layer:
        high, wide = pair(filter_size, "filter_size")
        channels = int(input.shape[1]) // (groups or 1)
        said, bias = attributes(param_attr), attributes(bias_attr)
        if said is None:
            raise ValueError("conv2d has kernels always")
        default = Normal(0.0, math.sqrt(2.0 / (high * wide * int(input.shape[1]))))
        weight = parameter(layer, "w", [num_filters, channels, high, wide], input.dtype, said, default)
        offset = None if bias is None else parameter(layer, "b", [num_filters], input.dtype, bias, Constant(0.0))
        return activated(network.conv2d(input, weight, offset, stride, padding, dilation, groups or 1, data_format), act)


def batch_norm(
    input: Variable,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    use_global_stats: bool = False,
) -> Any:
    """Centred and scaled by the statistics of the batch, or in a test by their running means."""
    channels_second(data_layout, "NCHW")
    with layer_of(name, "batch_norm") as layer:
        channels = [int(input.shape[1])]
        scale, offset = attributes(param_attr) or ParamAttr(trainable=False), attributes(bias_attr) or ParamAttr(trainable=False)
        weight = parameter(layer, "w", channels, input.dtype, scale, Constant(1.0))
        bias = parameter(layer, "b", channels, input.dtype, offset, Constant(0.0))
        hidden = ParamAttr(trainable=False)
        mean = made_parameter(channels, input.dtype, moving_mean_name or f"{layer}.w_1", hidden, Constant(0.0))
        variance = made_parameter(channels, input.dtype, moving_variance_name or f"{layer}.w_2", hidden, Constant(1.0))
        mean.stop_gradient = variance.stop_gradient = True
        if is_test or use_global_stats:
            return activated(append(f.batch_norm, input, mean, variance, weight, bias, epsilon=float(epsilon)), act)
        normalised, own_mean, own_variance = append(f.batch_norm_train, input, weight, bias, epsilon=float(epsilon))
        for kept, new in ((mean, own_mean), (variance, own_variance)):
            overwrite(kept, append(f.running, kept, new, momentum=float(momentum)))
        return activated(normalised, act)


def overwrite(kept: Variable, new: Variable) -> None:
    """From here on, and in the next run, the variable has another value."""
    step = new.block.steps[-1]
    assert new.name in step.outputs  # type: ignore[union-attr]
    step.outputs = tuple(kept.name if name == new.name else name for name in step.outputs)  # type: ignore[union-attr]
    del new.block.vars[new.name]
    op = new.block.ops[-1]
    op.desc.outputs = [kept.name if name == new.name else name for name in op.desc.outputs]


__all__ = ["activated", "batch_norm", "case", "cond", "conv2d", "embedding", "fc", "overwrite", "switch_case", "while_loop"]
