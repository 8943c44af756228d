"""``paddle.nn``."""

from symgrad.compat.paddle.nn import functional, initializer

__all__ = ["functional", "initializer"]
