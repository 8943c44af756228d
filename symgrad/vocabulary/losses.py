"""More losses, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

from typing import Any

from symgrad.errors import refused
from symgrad.functional import losses as f
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.exposed import table

Tensor = Any

NAMES = tuple(
    """
    margin_ranking_loss hinge_embedding_loss cosine_similarity cosine_embedding_loss pairwise_distance log_loss soft_margin_loss
    multi_label_soft_margin_loss poisson_nll_loss gaussian_nll_loss sigmoid_focal_loss dice_loss label_smooth triplet_margin_loss
    """.split()
)
globals().update(table(f, NAMES))


def kl_div(input: Tensor, label: Tensor, reduction: str = "mean", log_target: bool = False, name: str | None = None) -> Tensor:
    """``label * (log(label) - input)``; ``batchmean``: the sum over the number of rows."""
    if reduction not in ("mean", "sum", "none", "batchmean"):
        raise refused(ValueError(f"the reduction must be 'mean', 'sum', 'batchmean' or 'none', not {reduction!r}"))
    return apply(f.kl_div, input, label, reduction=reduction, log_target=bool(log_target))


__all__ = ["kl_div", *NAMES]
