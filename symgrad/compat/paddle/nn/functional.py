"""``paddle.nn.functional``."""

from symgrad.vocabulary.network import *  # noqa: F403
from symgrad.vocabulary.network import __all__ as __all__
