"""``paddle.optimizer``."""

from typing import TYPE_CHECKING

from symgrad.compat.missing import explaining
from symgrad.optimizer import SGD, Adagrad, Adam, AdamW, Momentum, Optimizer, RMSProp, lr

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Momentum", "Optimizer", "RMSProp", "lr"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.optimizer", __all__)
