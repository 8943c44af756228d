"""``paddle.fluid.backward``."""

from symgrad.static import backward
from symgrad.static.mode import in_static

append_backward, gradients = in_static(backward.append_backward), in_static(backward.gradients)

__all__ = ["append_backward", "gradients"]
