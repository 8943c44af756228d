"""Weight decay as a term of the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symgrad.functional import updates
from symgrad.vocabulary.dispatch import apply


@dataclass(frozen=True)
class L2Decay:
    """``coefficient / 2 * sum(parameter ** 2)`` in the loss."""

    coeff: float = 0.0

    def added(self, gradient: Any, parameter: Any) -> Any:
        """The gradient with this term's."""
        return apply(updates.with_l2, gradient, parameter, coefficient=float(self.coeff))


@dataclass(frozen=True)
class L1Decay:
    """``coefficient * sum(|parameter|)`` in the loss."""

    coeff: float = 0.0

    def added(self, gradient: Any, parameter: Any) -> Any:
        """The gradient with this term's."""
        return apply(updates.with_l1, gradient, parameter, coefficient=float(self.coeff))


def regularizer(decay: Any) -> Any:
    """A number is the coefficient of ``L2Decay``."""
    return L2Decay(float(decay)) if isinstance(decay, int | float) else decay
