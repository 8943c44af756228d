"""The usual layers with parameters, and those that behave differently in training and evaluation."""

from __future__ import annotations

import math
from typing import Any

from symgrad.eager.node import switch
from symgrad.eager.tensor import Tensor
from symgrad.functional import normalisation as f
from symgrad.layers.layer import TensorLayer
from symgrad.static.initializers import Constant, Normal, Uniform
from symgrad.static.nn import overwrite
from symgrad.static.parameters import ParamAttr
from symgrad.vocabulary import activations, network, normalisation, resampling, tensors
from symgrad.vocabulary.dispatch import apply, extents
from symgrad.vocabulary.fitting import pair, single


class Linear(TensorLayer):
    """``x @ weight + bias``; the weight has shape (in, out)."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None, name: str | None = None
    ) -> None:
        super().__init__(name or "linear")
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """Compute the layer's result."""
        return network.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the settings that ``repr`` shows in parentheses."""
        return f"in_features={self.weight.shape[0]}, out_features={self.weight.shape[1]}, dtype={self.weight.dtype}"


class Embedding(TensorLayer):
    """Rows of a weight by their numbers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name or "embedding")
        self.padding = padding_idx
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, default_initializer=Normal())

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        return network.embedding(x, self.weight, self.padding)


class Conv2D(TensorLayer):
    """The correlation of images with kernels."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__("conv2d")
        if padding_mode != "zeros":
            raise ValueError(f"padding_mode {padding_mode!r} is not supported; pad first with functional.pad")
        self.settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups, "data_format": data_format}
        size = pair(kernel_size, "kernel_size")
        spread = Normal(0.0, math.sqrt(2.0 / (size[0] * size[1] * in_channels)))
        self.weight = self.create_parameter([out_channels, in_channels // groups, *size], weight_attr, default_initializer=spread)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        return network.conv2d(x, self.weight, self.bias, **self.settings)


class Conv1D(TensorLayer):
    """The correlation of signals with kernels."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        super().__init__("conv1d")
        if padding_mode != "zeros":
            raise ValueError(f"padding_mode {padding_mode!r} is not supported; pad first with functional.pad")
        self.settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups, "data_format": data_format}
        size = single(kernel_size, "kernel_size")
        bound = 1.0 / math.sqrt(size * in_channels // groups)
        spread = Uniform(-bound, bound)
        self.weight = self.create_parameter([out_channels, in_channels // groups, size], weight_attr, default_initializer=spread)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True, default_initializer=spread)

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        return network.conv1d(x, self.weight, self.bias, **self.settings)


class LayerNorm(TensorLayer):
    """Centred and scaled over the last axes."""

    def __init__(
        self, normalized_shape: Any, epsilon: float = 1e-5, weight_attr: Any = None, bias_attr: Any = None, name: str | None = None
    ) -> None:
        super().__init__(name or "layer_norm")
        self.shape, self.epsilon = extents(normalized_shape), epsilon
        self.weight = self.create_parameter(self.shape, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(self.shape, bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        return normalisation.layer_norm(x, self.shape, self.weight, self.bias, self.epsilon)


class BatchNorm2D(TensorLayer):
    """Centred and scaled by the statistics of the batch, in a test by their running means; the second axis is that of channels."""

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str | None = None,
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name or "batch_norm")
        if data_format is not None and not data_format.startswith("NC"):
            raise ValueError(f"data_format {data_format!r} is not supported; channels come second")
        self.momentum, self.epsilon, self.fixed = float(momentum), float(epsilon), bool(use_global_stats)
        channels, untrained = [num_features], ParamAttr(trainable=False)
        self.weight = self.create_parameter(channels, untrained if weight_attr is False else weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(channels, untrained if bias_attr is False else bias_attr, is_bias=True)
        for place, value in (("_mean", 0.0), ("_variance", 1.0)):
            kept = self.create_parameter(channels, ParamAttr(trainable=False), default_initializer=Constant(value))
            kept.stop_gradient = True
            self.register_buffer(place, kept)

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        mean, variance = self.own_buffers["_mean"], self.own_buffers["_variance"]
        if not self.training or self.fixed:
            return apply(f.batch_norm, x, mean, variance, self.weight, self.bias, epsilon=self.epsilon)
        result, *own = apply(f.batch_norm_train, x, self.weight, self.bias, epsilon=self.epsilon)
        for kept, new in zip((mean, variance), own, strict=True):
            if isinstance(kept, Tensor):
                with switch(False):
                    kept.set_value(apply(f.running, kept, new, momentum=self.momentum))
            else:
                overwrite(kept, apply(f.running, kept, new, momentum=self.momentum))
        return result


class BatchNorm1D(BatchNorm2D):
    """Centred and scaled by the statistics of the batch, for rows or signals."""


class GroupNorm(TensorLayer):
    """Centred and scaled in groups of channels."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name or "group_norm")
        self.settings: dict[str, Any] = {"num_groups": num_groups, "epsilon": epsilon, "data_format": data_format}
        self.weight = self.create_parameter([num_channels], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        return normalisation.group_norm(x, weight=self.weight, bias=self.bias, **self.settings)


class InstanceNorm2D(TensorLayer):
    """Centred and scaled in each channel of each image or signal."""

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name or "instance_norm")
        self.epsilon, self.data_format = epsilon, data_format
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        return normalisation.instance_norm(x, weight=self.scale, bias=self.bias, eps=self.epsilon, data_format=self.data_format)


class InstanceNorm1D(InstanceNorm2D):
    """Centred and scaled in each channel of each signal."""


class PReLU(TensorLayer):
    """``x`` where it is positive, else a trained multiple of it, one for all or one for each channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, weight_attr: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(name or "prelu")
        self.data_format = data_format
        self.weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Any) -> Any:
        """Compute the layer's result."""
        return activations.prelu(x, self.weight, self.data_format)


class Conv2DTranspose(TensorLayer):
    """The transpose of a convolution of images."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__("conv2d_transpose")
        self.settings = {
            "stride": stride,
            "padding": padding,
            "output_padding": output_padding,
            "dilation": dilation,
            "groups": groups,
            "data_format": data_format,
        }
        self.weight = self.create_parameter([in_channels, out_channels // groups, *pair(kernel_size, "kernel_size")], weight_attr)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """Compute the layer's result."""
        return resampling.conv2d_transpose(x, self.weight, self.bias, output_size=output_size, **self.settings)


class Bilinear(TensorLayer):
    """``x1 @ weight[k] @ x2 + bias[k]`` for every ``k``."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name or "bilinear")
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """Compute the layer's result."""
        return normalisation.bilinear(x1, x2, self.weight, self.bias)  # type: ignore[attr-defined]


class Identity(TensorLayer):
    """The identity: returns its input."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("identity")

    def forward(self, input: Any) -> Any:
        """Compute the layer's result."""
        return input


class Dropout(TensorLayer):
    """Elements set to zero with probability ``p`` in training."""

    def __init__(self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__(name or "dropout")
        self.p, self.axis, self.mode = p, axis, mode

    def forward(self, input: Any) -> Any:
        """Compute the layer's result."""
        return network.dropout(input, self.p, self.axis, self.training, self.mode)

    def extra_repr(self) -> str:
        """Return the settings that ``repr`` shows in parentheses."""
        return f"p={self.p}"


class Flatten(TensorLayer):
    """Several neighbouring axes made one."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__("flatten")
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        """Compute the layer's result."""
        return tensors.flatten(input, self.start_axis, self.stop_axis)


def pool(name: str) -> type[TensorLayer]:
    """A layer that is a pool with settings."""
    function = getattr(network, name)

    class Pool(TensorLayer):
        def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, **settings: Any) -> None:
            super().__init__(name)
            self.places, self.settings = (kernel_size, stride, padding), settings

        def forward(self, x: Any) -> Any:
            """Compute the layer's result."""
            return function(x, *self.places, **self.settings)

    Pool.__doc__ = function.__doc__
    return Pool


MaxPool2D, AvgPool2D, MaxPool1D, AvgPool1D = pool("max_pool2d"), pool("avg_pool2d"), pool("max_pool1d"), pool("avg_pool1d")
for made, word in ((MaxPool2D, "MaxPool2D"), (AvgPool2D, "AvgPool2D"), (MaxPool1D, "MaxPool1D"), (AvgPool1D, "AvgPool1D")):
    made.__name__ = made.__qualname__ = word
