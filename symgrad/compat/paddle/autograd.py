"""``paddle.autograd``."""

from symgrad.eager import backward, enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled

__all__ = ["backward", "enable_grad", "grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]
