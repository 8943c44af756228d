"""``paddle.nn.initializer``."""

from symgrad.static.initializers import Assign, Constant, Normal, Uniform, XavierNormal, XavierUniform

__all__ = ["Assign", "Constant", "Normal", "Uniform", "XavierNormal", "XavierUniform"]
