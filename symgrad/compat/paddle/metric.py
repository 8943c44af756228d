"""``paddle.metric``."""

from symgrad.vocabulary.network import accuracy

__all__ = ["accuracy"]
