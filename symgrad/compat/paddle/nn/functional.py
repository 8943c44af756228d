"""``paddle.nn.functional``."""

from symgrad.compat.missing import explaining
from symgrad.vocabulary import activations, losses, network, normalisation, resampling
from symgrad.vocabulary.activations import *  # noqa: F403
from symgrad.vocabulary.losses import *  # noqa: F403
from symgrad.vocabulary.network import *  # noqa: F403
from symgrad.vocabulary.normalisation import *  # noqa: F403
from symgrad.vocabulary.resampling import *  # noqa: F403
from symgrad.vocabulary.tensors import tanh  # type: ignore[attr-defined]

__all__ = [*activations.__all__, *losses.__all__, *network.__all__, *normalisation.__all__, *resampling.__all__, "tanh"]

__getattr__ = explaining("paddle.nn.functional", __all__)
