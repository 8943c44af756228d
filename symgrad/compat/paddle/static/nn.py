"""``paddle.static.nn``."""

from typing import TYPE_CHECKING

from symgrad.compat.missing import explaining
from symgrad.static.nn import batch_norm, case, cond, conv2d, embedding, fc, switch_case, while_loop

__all__ = ["batch_norm", "case", "cond", "conv2d", "embedding", "fc", "switch_case", "while_loop"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.static.nn", __all__)
