"""Gradient clipping, by value, by norm or by global norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symgrad.functional import updates
from symgrad.vocabulary import tensors
from symgrad.vocabulary.dispatch import apply

Pairs = list[tuple[Any, Any]]


def clipped_at_all(parameter: Any) -> bool:
    """Whether the parameter takes part in clipping."""
    return bool(getattr(getattr(parameter, "attributes", None), "need_clip", True))


@dataclass(frozen=True)
class ClipGradByValue:
    """Clip every element to two bounds; the lower is by default minus the upper."""

    max: float
    min: float | None = None

    def __call__(self, pairs: Pairs) -> Pairs:
        """The pairs (parameter, gradient) with the gradients clipped."""
        low = -self.max if self.min is None else self.min
        return [(p, tensors.clip(g, low, self.max) if clipped_at_all(p) else g) for p, g in pairs]


@dataclass(frozen=True)
class ClipGradByNorm:
    """Every gradient scaled down to a norm, where its own is larger."""

    clip_norm: float

    def __call__(self, pairs: Pairs) -> Pairs:
        """The pairs (parameter, gradient) with the gradients clipped."""
        limit = float(self.clip_norm)
        return [(p, apply(updates.clipped_by_norm, g, limit=limit) if clipped_at_all(p) else g) for p, g in pairs]


@dataclass(frozen=True)
class ClipGradByGlobalNorm:
    """All gradients scaled down together to a norm, where that of all is larger (Pascanu et al. 2013)."""

    clip_norm: float
    group_name: str = "default_group"

    def __call__(self, pairs: Pairs) -> Pairs:
        """The pairs (parameter, gradient) with the gradients clipped."""
        taking = [g for p, g in pairs if clipped_at_all(p)]
        if not taking:
            return pairs
        total = apply(updates.sum_of_squares, *taking)
        limit = float(self.clip_norm)
        return [(p, apply(updates.clipped_by_total, g, total, limit=limit) if clipped_at_all(p) else g) for p, g in pairs]
