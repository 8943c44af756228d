"""``paddle.regularizer``."""

from symgrad.optimizer import L1Decay, L2Decay

__all__ = ["L1Decay", "L2Decay"]
