"""Eager tensors: operations are recorded as they run, for ``backward`` and ``grad``."""

from symgrad.eager.autograd import backward, enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from symgrad.eager.functions import PyLayer, PyLayerContext
from symgrad.eager.tensor import Tensor, to_tensor

__all__ = ["PyLayer", "PyLayerContext", "Tensor", "backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]
__all__ += ["to_tensor"]
