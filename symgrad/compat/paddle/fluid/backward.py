"""``paddle.fluid.backward``."""

from symgrad.static import append_backward, gradients

__all__ = ["append_backward", "gradients"]
