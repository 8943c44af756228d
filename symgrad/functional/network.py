"""Activations, losses and layers, as NumPy functions of arrays and plain settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional.tensors import Tensor
from symgrad.runtime.marks import stop_gradient
from symgrad.runtime.random import draw
from symgrad.runtime.special import erf

# ------------------------------------------------------------------ activations


def relu(x: Tensor) -> Tensor:
    """``max(x, 0)``; its derivative at 0 is 0."""
    return np.where(x > 0, x, np.zeros_like(x))


def relu6(x: Tensor) -> Tensor:
    """``min(max(x, 0), 6)``; its derivative at 0 and at 6 is 0."""
    return np.where(x <= 0, np.zeros_like(x), np.where(x >= 6, np.full_like(x, 6), x))


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """``x`` where it is not negative, else a multiple of it; the derivative at 0 is 1."""
    return np.where(x >= 0, x, negative_slope * x)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)`` (Clevert et al. 2015)."""
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, np.zeros_like(x), x)))


def selu(x: Tensor, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772) -> Tensor:
    """The self-normalising unit (Klambauer et al. 2017)."""
    return scale * np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, np.zeros_like(x), x)))


def sigmoid(x: Tensor) -> Tensor:
    """``1 / (1 + exp(-x))``, without overflow."""
    return 0.5 * (np.tanh(0.5 * x) + 1)


def log_sigmoid(x: Tensor) -> Tensor:
    """``log(sigmoid(x))``, without overflow."""
    return -np.logaddexp(-x, np.zeros_like(x))


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself beyond the threshold."""
    small = np.minimum(beta * x, threshold)
    return np.where(beta * x > threshold, x, np.log1p(np.exp(small)) / beta)


def softsign(x: Tensor) -> Tensor:
    """``x / (1 + |x|)``."""
    return x / (1 + np.abs(x))


def silu(x: Tensor) -> Tensor:
    """``x * sigmoid(x)``."""
    return x * sigmoid(x)


def mish(x: Tensor) -> Tensor:
    """``x * tanh(softplus(x))`` (Misra 2019)."""
    return x * np.tanh(np.logaddexp(x, np.zeros_like(x)))


def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    """``x`` times the normal distribution function (Hendrycks and Gimpel 2016), or its usual approximation by tanh."""
    if approximate:
        return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + erf(x * 0.7071067811865476))


def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0) -> Tensor:
    """``x`` between two bounds; the derivative on the bounds is 0."""
    return np.where((x > min) & (x < max), x, np.where(x >= max, np.full_like(x, max), np.full_like(x, min)))


def hardsigmoid(x: Tensor, slope: float = 0.1666667, offset: float = 0.5) -> Tensor:
    """A line between 0 and 1."""
    line = slope * x + offset
    return np.where((line > 0) & (line < 1), line, np.where(line >= 1, np.ones_like(x), np.zeros_like(x)))


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """``exp(x) / sum(exp(x))`` along an axis."""
    raised = np.exp(x - stop_gradient(np.max(x, axis=axis, keepdims=True)))
    return raised / np.sum(raised, axis=axis, keepdims=True)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """``log(softmax(x))``, exact where the softmax underflows."""
    shifted = x - stop_gradient(np.max(x, axis=axis, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


# ------------------------------------------------------------------ losses


def reduced(x: Tensor, reduction: str) -> Tensor:
    """The mean, the sum, or all."""
    if reduction == "mean":
        return np.mean(x)
    if reduction == "sum":
        return np.sum(x)
    return x


def mse_loss(input: Tensor, label: Tensor, reduction: str = "mean") -> Tensor:
    """The mean squared error."""
    return reduced(np.square(input - label), reduction)


def l1_loss(input: Tensor, label: Tensor, reduction: str = "mean") -> Tensor:
    """The mean absolute error."""
    return reduced(np.abs(input - label), reduction)


def smooth_l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the square near 0, a line beyond ``delta`` (Huber 1964)."""
    apart = np.abs(input - label)
    near = np.minimum(apart, delta)
    return reduced(near * (apart - 0.5 * near), reduction)


def picked(x: Tensor, label: Tensor, axis: int = -1, ignore_index: int = -100) -> Tensor:
    """``-x`` at the labels, which have ``x``'s rank with one element along the axis; 0 where the label is ``ignore_index``."""
    kept = label != ignore_index
    place = np.where(kept, label, np.zeros_like(label))
    if np.any(place < 0):
        raise ValueError("a label is negative, and is not ignore_index")
    if np.ndim(x) == 2 and axis in (1, -1):
        values = np.expand_dims(-x[np.arange(np.shape(x)[0]), place[:, 0]], 1)
    else:
        values = -np.take_along_axis(x, place, axis)
    return np.where(kept, values, np.zeros_like(values))


def mean_over(losses: Tensor, weights: Tensor) -> Tensor:
    """The mean of losses that their weights are in already; 0 where there is nothing to take a mean of."""
    total = np.sum(weights)
    return np.sum(losses) / (total + (total == 0))


def mean_of_kept(losses: Tensor, label: Tensor, ignore_index: int) -> Tensor:
    """The mean over the labels that are not ignored."""
    return mean_over(losses, (label != ignore_index).astype(losses.dtype))


def cross_entropy(
    input: Tensor,
    label: Tensor,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    ignore_index: int = -100,
    logs: bool = False,
) -> Tensor:
    """``-log(softmax(input))`` at the label (class numbers, or a distribution where ``soft_label``); minus the input if it is ``logs``.

    Where the label is ``ignore_index`` the loss is 0, and the mean is over the others.
    """
    scores = input if logs else log_softmax(input, axis)
    if soft_label:
        return reduced(-np.sum(scores * label, axis=axis, keepdims=True), reduction)
    if np.ndim(label) < np.ndim(input):
        losses = picked(scores, np.expand_dims(label, axis), axis, ignore_index).squeeze(axis)
    else:
        losses = picked(scores, label, axis, ignore_index)
    if reduction == "mean":
        return mean_of_kept(losses, label, ignore_index)
    return reduced(losses, reduction)


def nll_loss(input: Tensor, label: Tensor, reduction: str = "mean", ignore_index: int = -100) -> Tensor:
    """Minus the input at the label, along the second axis; 0 where the label is ``ignore_index``."""
    losses = picked(input, np.expand_dims(label, 1), 1, ignore_index).squeeze(1)
    if reduction == "mean":
        return mean_of_kept(losses, label, ignore_index)
    return reduced(losses, reduction)


def binary_cross_entropy(input: Tensor, label: Tensor, weight: Tensor = None, reduction: str = "mean") -> Tensor:
    """``-label * log(input) - (1 - label) * log(1 - input)``, times the weight."""
    losses = -(label * np.log(input) + (1 - label) * np.log(1 - input))
    return reduced(losses if weight is None else losses * weight, reduction)


def binary_cross_entropy_with_logits(logit: Tensor, label: Tensor, reduction: str = "mean") -> Tensor:
    """The binary cross entropy of ``sigmoid(logit)``, without overflow."""
    return reduced(np.logaddexp(logit, np.zeros_like(logit)) - label * logit, reduction)


def accuracy(input: Tensor, label: Tensor, k: int = 1) -> Tensor:
    """The share of rows whose label is among the ``k`` largest elements; no derivative."""
    own = np.take_along_axis(input, np.reshape(label, (-1, 1)), -1)
    return np.mean((np.sum(input > own, axis=-1) < k).astype("float32"))


# ------------------------------------------------------------------ layers


def linear(x: Tensor, weight: Tensor, bias: Tensor = None) -> Tensor:
    """``x @ weight + bias``."""
    if bias is None:
        return np.matmul(x, weight)
    return np.matmul(x, weight) + bias


def embedding(x: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of the weight by index; the row ``padding_idx`` reads as zeros and has no derivative."""
    if np.any(x < 0):
        raise ValueError("an embedding has no row of a negative number")
    rows = weight[x]
    if padding_idx is None:
        return rows
    return np.where(np.expand_dims(x == padding_idx % np.shape(weight)[0], -1), np.zeros_like(rows), rows)


def one_hot(x: Tensor, num_classes: int) -> Tensor:
    """Rows of the unit matrix, in float32."""
    return (np.expand_dims(x, -1) == np.arange(num_classes)).astype("float32")


def keep_mask(x: Tensor, axes: Any, p: float = 0.5, seed: int = 0) -> Tensor:
    """True with probability ``1 - p``, drawn for each element along ``axes`` and alike along the others."""
    return np.broadcast_to(draw(np.shape(x), axes, p, seed), np.shape(x)).astype("bool")


def dropout(x: Tensor, mask: Tensor, p: float = 0.5, mode: str = "upscale_in_train") -> Tensor:
    """``x`` where the mask (drawn with probability ``1 - p``) is true, scaled up by ``1 / (1 - p)`` as usual."""
    kept = np.where(mask, x, np.zeros_like(x))
    if mode == "upscale_in_train":
        return kept * (1.0 / (1.0 - p)) if p < 1.0 else kept * 0.0
    return kept
