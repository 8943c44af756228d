"""More losses, as NumPy functions of arrays and plain settings."""

from __future__ import annotations

import numpy as np

from symgrad.functional.network import log_sigmoid, log_softmax, mean_over, picked, reduced, sigmoid
from symgrad.functional.statistics import p_norm, root
from symgrad.functional.tensors import Tensor


def kl_div(input: Tensor, label: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """``label * (log(label) - input)``, 0 where the label is 0; ``batchmean``: the sum over the number of rows."""
    if log_target:
        losses = np.exp(label) * (label - input)
    else:
        there = label > 0
        losses = np.where(there, label * (np.log(np.where(there, label, np.ones_like(label))) - input), np.zeros_like(input))
    if reduction == "batchmean":
        return np.sum(losses) / np.shape(losses)[0]
    return reduced(losses, reduction)


def margin_ranking_loss(input: Tensor, other: Tensor, label: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """``max(0, label * (other - input) + margin)``."""
    apart = label * (other - input) + margin
    return reduced(np.where(apart > 0, apart, np.zeros_like(apart)), reduction)


def hinge_embedding_loss(input: Tensor, label: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """The input where the label is 1, ``max(0, margin - input)`` where it is -1."""
    short = margin - input
    far = np.where(short > 0, short, np.zeros_like(short))
    return reduced(np.where(label == 1, input, np.zeros_like(input)) + np.where(label == -1, far, np.zeros_like(far)), reduction)


def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along an axis."""
    product = root(np.sum(x1 * x1, axis=axis)) * root(np.sum(x2 * x2, axis=axis))
    return np.sum(x1 * x2, axis=axis) / np.maximum(product, eps)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, label: Tensor, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """One minus the cosine where the label is 1, the cosine beyond the margin where it is -1."""
    product = np.sqrt((np.sum(input1 * input1, axis=-1) + 1e-12) * (np.sum(input2 * input2, axis=-1) + 1e-12))
    cosine = np.sum(input1 * input2, axis=-1) / product
    beyond = cosine - margin
    return reduced(np.where(label == 1, 1 - cosine, np.where(beyond > 0, beyond, np.zeros_like(beyond))), reduction)


def pairwise_distance(x: Tensor, y: Tensor, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of the difference of rows, to which ``epsilon`` is added."""
    return p_norm(x - y + epsilon, p, -1, keepdim)


def triplet_margin_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, distance to the positive - distance to the negative + margin)`` (Balntas et al. 2016)."""
    near = pairwise_distance(input, positive, p, epsilon)
    far = pairwise_distance(input, negative, p, epsilon)
    if swap:
        far = np.minimum(far, pairwise_distance(positive, negative, p, epsilon))
    apart = near - far + margin
    return reduced(np.where(apart > 0, apart, np.zeros_like(apart)), reduction)


def log_loss(input: Tensor, label: Tensor, epsilon: float = 1e-4) -> Tensor:
    """``-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon)``."""
    return -label * np.log(input + epsilon) - (1 - label) * np.log(1 - input + epsilon)


def soft_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean") -> Tensor:
    """``log(1 + exp(-label * input))``, without overflow."""
    return reduced(np.logaddexp(-label * input, np.zeros_like(input)), reduction)


def multi_label_soft_margin_loss(input: Tensor, label: Tensor, weight: Tensor = None, reduction: str = "mean") -> Tensor:
    """The mean over classes of the binary cross entropies."""
    losses = -(label * log_sigmoid(input) + (1 - label) * log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduced(np.mean(losses, axis=-1), reduction)


def poisson_nll_loss(
    input: Tensor, label: Tensor, log_input: bool = True, full: bool = False, epsilon: float = 1e-8, reduction: str = "mean"
) -> Tensor:
    """Minus the logarithm of Poisson's probability; ``full``: with Stirling's term for labels above 1."""
    losses = np.exp(input) - label * input if log_input else input - label * np.log(input + epsilon)
    if full:
        large = label > 1
        safe = np.where(large, label, np.ones_like(label))
        losses = losses + np.where(large, safe * np.log(safe) - safe + 0.5 * np.log(6.283185307179586 * safe), np.zeros_like(label))
    return reduced(losses, reduction)


def gaussian_nll_loss(
    input: Tensor, label: Tensor, variance: Tensor, full: bool = False, epsilon: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Minus the logarithm of the normal density; ``full``: with its constant."""
    wide = np.maximum(variance, epsilon)
    losses = 0.5 * (np.log(wide) + np.square(input - label) / wide)
    if full:
        losses = losses + 0.9189385332046727
    return reduced(losses, reduction)


def sigmoid_focal_loss(
    logit: Tensor, label: Tensor, normalizer: Tensor = None, alpha: float = 0.25, gamma: float = 2.0, reduction: str = "sum"
) -> Tensor:
    """The focal loss: binary cross entropy that weights easy examples less (Lin et al. 2017)."""
    share = sigmoid(logit)
    entropy = np.logaddexp(logit, np.zeros_like(logit)) - label * logit
    hit = share * label + (1 - share) * (1 - label)
    losses = (alpha * label + (1 - alpha) * (1 - label)) * (1 - hit) ** gamma * entropy
    if normalizer is not None:
        losses = losses / normalizer
    return reduced(losses, reduction)


def dice_loss(input: Tensor, label: Tensor, epsilon: float = 1e-5) -> Tensor:
    """One minus Dice's coefficient of shares and class numbers, which have a last axis of extent 1."""
    one_hot = (np.squeeze(label, -1)[..., None] == np.arange(np.shape(input)[-1])).astype(input.dtype)
    over = tuple(range(1, np.ndim(input)))
    common = np.sum(input * one_hot, axis=over)
    total = np.sum(input, axis=over) + np.sum(one_hot, axis=over)
    return np.mean(1 - 2 * common / (total + epsilon))


def label_smooth(label: Tensor, prior_dist: Tensor = None, epsilon: float = 0.1) -> Tensor:
    """Labels with a share of a prior distribution, by default the uniform one."""
    if prior_dist is None:
        return (1 - epsilon) * label + epsilon / np.shape(label)[-1]
    return (1 - epsilon) * label + epsilon * prior_dist


def weighted_entropy(
    input: Tensor, label: Tensor, weight: Tensor, reduction: str = "mean", axis: int = -1, ignore_index: int = -100, logs: bool = False
) -> Tensor:
    """The cross entropy of class numbers with a weight for each class; the mean is over the weights."""
    scores = input if logs else log_softmax(input, axis)
    place = np.expand_dims(label, axis) if np.ndim(label) < np.ndim(input) else label
    kept = place != ignore_index
    own = np.where(kept, weight[np.where(kept, place, np.zeros_like(place))], np.zeros_like(weight[0]))
    losses = picked(scores, place, axis, ignore_index) * own
    if reduction == "mean":
        return mean_over(losses, own)
    return reduced(losses.squeeze(axis) if np.ndim(label) < np.ndim(input) else losses, reduction)


def weighted_binary_entropy(
    logit: Tensor, label: Tensor, weight: Tensor = None, pos_weight: Tensor = None, reduction: str = "mean"
) -> Tensor:
    """The binary cross entropy of ``sigmoid(logit)`` with weights for elements, and for elements with label 1."""
    if pos_weight is None:
        losses = np.logaddexp(logit, np.zeros_like(logit)) - label * logit
    else:
        losses = (1 - label) * logit - (1 + (pos_weight - 1) * label) * log_sigmoid(logit)
    if weight is not None:
        losses = losses * weight
    return reduced(losses, reduction)
