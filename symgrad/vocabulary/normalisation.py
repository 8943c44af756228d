"""More normalisations, and attention, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

from typing import Any

from symgrad.errors import refused
from symgrad.functional import normalisation as f
from symgrad.vocabulary.dispatch import apply, extents
from symgrad.vocabulary.exposed import table
from symgrad.vocabulary.fitting import channels_second, ends_with, ranked, shaped, single

Tensor = Any

NAMES = ("normalize", "bilinear")
globals().update(table(f, NAMES))


def last_axes(x: Tensor, weight: Tensor, bias: Tensor, normalized_shape: Any) -> int:
    """Return the number of axes that are normalised together, given by ``normalized_shape``."""
    ranked(x, "x")
    shape = extents(normalized_shape)
    ends_with(x, shape, "normalized_shape")
    shaped(weight, "weight", shape)
    shaped(bias, "bias", shape)
    return len(shape)


def by_channel(x: Tensor, weight: Tensor, bias: Tensor, data_format: str) -> None:
    """Refuse weights and biases that are not one for each channel."""
    channels_second(data_format)
    ranked(x, "x", 2, 3, 4, 5)
    shaped(weight, "weight", [x.shape[1]])
    shaped(bias, "bias", [x.shape[1]])


def layer_norm(
    x: Tensor, normalized_shape: Any, weight: Tensor = None, bias: Tensor = None, epsilon: float = 1e-5, name: str | None = None
) -> Tensor:
    """Centred and scaled over the last axes."""
    return apply(f.layer_norm, x, weight, bias, axes=last_axes(x, weight, bias, normalized_shape), epsilon=float(epsilon))


def group_norm(
    x: Tensor,
    num_groups: int,
    epsilon: float = 1e-5,
    weight: Tensor = None,
    bias: Tensor = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Centred and scaled in groups of channels."""
    by_channel(x, weight, bias, data_format)
    num_groups = single(num_groups, "num_groups")
    if x.shape[1] % num_groups:
        raise refused(ValueError(f"{x.shape[1]} channels cannot be put in {num_groups} equal groups"))
    return apply(f.group_norm, x, weight, bias, num_groups=num_groups, epsilon=float(epsilon))


def instance_norm(
    x: Tensor,
    running_mean: Tensor = None,
    running_var: Tensor = None,
    weight: Tensor = None,
    bias: Tensor = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-5,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Centred and scaled in each channel of each image."""
    by_channel(x, weight, bias, data_format)
    if not use_input_stats:
        raise refused(ValueError("use_input_stats=False is not supported"))
    if running_mean is not None or running_var is not None:
        raise refused(ValueError(f"running statistics (momentum {momentum}) are not supported; each image has its own"))
    return apply(f.instance_norm, x, weight, bias, eps=float(eps))


def rms_norm(
    x: Tensor, normalized_shape: Any, weight: Tensor = None, bias: Tensor = None, epsilon: float = 1e-5, name: str | None = None
) -> Tensor:
    """Over the root of the mean square of the last axes."""
    return apply(f.rms_norm, x, weight, bias, axes=last_axes(x, weight, bias, normalized_shape), epsilon=float(epsilon))


def local_response_norm(
    x: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0, data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Over a power of the mean square of neighbouring channels."""
    channels_second(data_format)
    ranked(x, "x", 3, 4, 5)
    return apply(f.local_response_norm, x, size=single(size, "size"), alpha=float(alpha), beta=float(beta), k=float(k))


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Tensor:
    """Scaled products of queries and keys as shares of values; (batch, length, heads, width)."""
    if dropout_p and training:
        raise refused(ValueError("dropout_p is not supported; apply dropout to the result"))
    return apply(f.attention, query, key, value, attn_mask, causal=bool(is_causal))


__all__ = ["group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm", "scaled_dot_product_attention", *NAMES]
