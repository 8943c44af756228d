"""``paddle.nn.functional``."""

from symgrad.compat.missing import explaining
from symgrad.vocabulary.network import *  # noqa: F403
from symgrad.vocabulary.network import __all__ as __all__

__getattr__ = explaining("paddle.nn.functional", __all__)
