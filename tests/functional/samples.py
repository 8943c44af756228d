"""table: each tensor function with inputs and settings; integers and bools among the inputs carry no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.functional import network, normalisation, tensors, windows

GENERATOR = np.random.default_rng(7)
Sample = tuple[Callable[..., Any], list[Any], dict[str, Any]]


def a(*shape: int) -> Any:
    """Numbers around 0, none of them near a kink."""
    array = GENERATOR.normal(size=shape)
    return array + np.sign(array) * 0.05


def p(*shape: int) -> Any:
    """Positive numbers below 1."""
    return GENERATOR.uniform(0.2, 0.8, shape)


def i(limit: int, *shape: int) -> Any:
    """Integers."""
    return GENERATOR.integers(0, limit, shape)


UNARY = ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square", "reciprocal", "abs", "sign", "floor", "ceil", "round",
         "negative", "assign", "asin", "acos", "atan", "log", "log2", "log10", "log1p", "sqrt", "rsqrt")  # fmt: skip
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "dot")

SAMPLES: list[Sample] = [
    *((getattr(tensors, name), [p(2, 3)], {}) for name in UNARY),
    *((getattr(tensors, name), [p(2, 3), p(2, 3) + 1], {}) for name in BINARY),
    (tensors.add, [a(2, 3), a(3)], {}),
    (tensors.multiply, [a(2, 3), 2.5], {}),
    (tensors.pow, [p(3)], {"factor": 2.5}),
    (tensors.scale, [a(3)], {"scale": 2.0, "bias": 1.0}),
    (tensors.scale, [a(3)], {"scale": 2.0, "bias": 1.0, "bias_after_scale": False}),
    (tensors.clip, [a(3, 4)], {"min": -0.5, "max": 0.5}),
    (tensors.clip, [a(3, 4)], {"min": -0.5}),
    (tensors.where, [i(2, 3, 4) > 0, a(3, 4), a(3, 4)], {}),
    (tensors.sum, [a(3, 4)], {"axis": (0,), "keepdim": True}),
    (tensors.mean, [a(3, 4)], {}),
    (tensors.max, [a(3, 4)], {"axis": 1}),
    (tensors.min, [a(3, 4)], {}),
    (tensors.prod, [p(3, 4)], {"axis": 1}),
    (tensors.logsumexp, [a(3, 4)], {"axis": 1}),
    (tensors.logsumexp, [a(3, 4)], {"keepdim": True}),
    (tensors.cumsum, [a(3, 4)], {"axis": 1}),
    (tensors.matmul, [a(2, 3), a(4, 3)], {"transpose_y": True}),
    (tensors.matmul, [a(3), a(3)], {}),
    (tensors.matmul, [a(2, 1, 2, 3), a(1, 3, 3, 2)], {}),
    (tensors.mul, [a(2, 3, 4), a(12, 5)], {"rows": 1}),
    (tensors.outer, [a(3), a(4)], {}),
    (tensors.einsum, [a(3, 4), a(4, 5)], {"equation": "ij,jk->ik"}),
    (tensors.reshape, [a(2, 3, 4)], {"shape": (0, -1)}),
    (tensors.flatten, [a(2, 3, 4)], {"start_axis": 1}),
    (tensors.transpose, [a(2, 3, 4)], {"perm": (2, 0, 1)}),
    (tensors.concat, [a(2, 3), a(2, 3)], {"axis": 1}),
    (tensors.stack, [a(2, 3), a(2, 3)], {"axis": -1}),
    (tensors.part, [a(5, 3)], {"start": 1, "stop": 4, "axis": 0}),
    (tensors.plane, [a(5, 3)], {"place": 1, "axis": 1}),
    (tensors.squeeze, [a(3, 1, 2)], {"axis": (1,)}),
    (tensors.unsqueeze, [a(3, 2)], {"axis": (0, 2)}),
    (tensors.expand, [a(2, 1, 4)], {"shape": (3, -1, 5, 4)}),
    (tensors.tile, [a(3, 2)], {"repeat_times": (2, 1)}),
    (tensors.flip, [a(3, 2)], {"axis": (0,)}),
    (tensors.roll, [a(3, 2)], {"shifts": 1, "axis": 0}),
    (tensors.gather, [a(5, 3), np.array([0, 3, 3, 1])], {}),
    (tensors.take_along_axis, [a(3, 4), i(4, 3, 2)], {"axis": 1}),
    (tensors.tril, [a(3, 3)], {}),
    (tensors.triu, [a(3, 3)], {"diagonal": 1}),
    (network.relu, [a(3, 4)], {}),
    (network.relu6, [a(3, 4) * 5], {}),
    (network.leaky_relu, [a(3, 4)], {"negative_slope": 0.1}),
    (network.elu, [a(3, 4)], {"alpha": 0.7}),
    (network.selu, [a(3, 4)], {}),
    (network.sigmoid, [a(3, 4)], {}),
    (network.log_sigmoid, [a(3, 4)], {}),
    (network.softplus, [a(3, 4) * 15], {}),
    (network.softsign, [a(3, 4)], {}),
    (network.silu, [a(3, 4)], {}),
    (network.mish, [a(3, 4)], {}),
    (network.gelu, [a(3, 4)], {}),
    (network.gelu, [a(3, 4)], {"approximate": True}),
    (network.hardtanh, [a(3, 4)], {}),
    (network.hardsigmoid, [a(3, 4) * 4], {}),
    (network.softmax, [a(3, 4)], {}),
    (network.log_softmax, [a(3, 4)], {"axis": 0}),
    (network.mse_loss, [a(3), a(3)], {"reduction": "sum"}),
    (network.l1_loss, [a(3, 4) * 2, a(3, 4)], {}),
    (network.smooth_l1_loss, [a(3, 4) * 2, a(3, 4)], {}),
    (network.cross_entropy, [a(3, 4), i(4, 3)], {}),
    (network.cross_entropy, [a(3, 4), i(4, 3, 1)], {"reduction": "none"}),
    (network.cross_entropy, [a(3, 4), p(3, 4)], {"soft_label": True}),
    (network.cross_entropy, [a(3, 4), i(4, 3)], {"logs": True}),
    (network.nll_loss, [a(3, 4), i(4, 3)], {}),
    (network.cross_entropy, [a(3, 4), np.array([1, -100, 2])], {}),
    (network.picked, [a(3, 4), np.array([[1], [-7], [2]])], {"ignore_index": -7}),
    (network.nll_loss, [a(3, 4), np.array([1, 0, 2])], {"ignore_index": 0}),
    (network.binary_cross_entropy, [p(3, 4), p(3, 4), None], {}),
    (network.binary_cross_entropy, [p(3, 4), p(3, 4), p(4)], {}),
    (network.binary_cross_entropy_with_logits, [a(3, 4) * 2, p(3, 4)], {}),
    (network.linear, [a(2, 3), a(3, 4), a(4)], {}),
    (network.linear, [a(2, 3), a(3, 4), None], {}),
    (network.embedding, [i(5, 3, 2), a(5, 4)], {"padding_idx": 1}),
    (network.dropout, [a(3, 4), i(2, 3, 4) > 0], {"p": 0.5}),
    (normalisation.layer_norm, [a(3, 4), a(4), a(4)], {}),
    (normalisation.layer_norm, [a(3, 4), None, None], {}),
    (normalisation.batch_norm, [a(3, 4, 2, 2), a(4), p(4), a(4), a(4)], {}),
    (normalisation.batch_norm_train, [a(3, 4, 2, 2), a(4), a(4)], {}),
    (normalisation.running, [a(3), a(3)], {"momentum": 0.8}),
    (windows.pad, [a(2, 3)], {"widths": ((1, 1), (0, 2)), "value": 0.5}),
    (windows.conv2d, [a(2, 4, 6, 5), a(3, 4, 3, 2), a(3)], {"size": (3, 2), "stride": (2, 1), "padding": (1, 1, 0, 1), "dilation": (1, 2)}),
    (windows.conv2d, [a(2, 4, 6, 5), a(6, 2, 3, 2), None], {"size": (3, 2), "groups": 2}),
    (windows.conv1d, [a(2, 4, 6), a(3, 4, 3), a(3)], {"size": 3, "padding": (1, 1)}),
    (windows.max_pool2d, [a(2, 3, 6, 6)], {"size": (2, 2), "stride": (2, 2)}),
    (windows.max_pool2d, [a(2, 3, 6, 6)], {"size": (3, 3), "stride": (2, 2), "padding": (1, 1, 1, 1)}),
    (windows.avg_pool2d, [a(2, 3, 6, 6)], {"size": (3, 3), "stride": (2, 2), "padding": (1, 1, 1, 1)}),
    (windows.avg_pool2d, [a(2, 3, 6, 6)], {"size": (2, 2), "stride": (2, 2)}),
    (windows.max_pool1d, [a(2, 3, 6)], {"size": 2, "stride": 2}),
    (windows.avg_pool1d, [a(2, 3, 6)], {"size": 2, "stride": 2}),
]  # fmt: skip
