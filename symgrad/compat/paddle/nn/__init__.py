"""``paddle.nn``."""

from symgrad.compat.missing import explaining
from symgrad.compat.paddle.nn import functional, initializer
from symgrad.layers import *  # noqa: F403
from symgrad.layers import __all__ as layers
from symgrad.optimizer.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue

__all__ = [*layers, "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue", "functional", "initializer"]

__getattr__ = explaining("paddle.nn", __all__)
