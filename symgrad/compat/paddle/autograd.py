"""``paddle.autograd``."""

from typing import TYPE_CHECKING

from symgrad.compat.missing import explaining
from symgrad.eager import PyLayer, PyLayerContext, backward, enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled

__all__ = ["PyLayer", "PyLayerContext", "backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.autograd", __all__)
