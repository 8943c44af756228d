"""``paddle.static.nn``."""

from symgrad.static.nn import batch_norm, cond, conv2d, embedding, fc, while_loop

__all__ = ["batch_norm", "cond", "conv2d", "embedding", "fc", "while_loop"]
