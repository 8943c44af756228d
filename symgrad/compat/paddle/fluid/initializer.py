"""``paddle.fluid.initializer``."""

from symgrad.static.initializers import Assign as NumpyArrayInitializer
from symgrad.static.initializers import Constant, Normal, Uniform
from symgrad.static.initializers import XavierUniform as Xavier

ConstantInitializer, NormalInitializer, UniformInitializer, XavierInitializer = Constant, Normal, Uniform, Xavier

__all__ = ["Constant", "ConstantInitializer", "Normal", "NormalInitializer", "NumpyArrayInitializer", "Uniform", "UniformInitializer"]
__all__ += ["Xavier", "XavierInitializer"]
