"""``paddle.optimizer``."""

from symgrad.optimizer import SGD, Adagrad, Adam, AdamW, Momentum, Optimizer, RMSProp, lr

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Momentum", "Optimizer", "RMSProp", "lr"]
