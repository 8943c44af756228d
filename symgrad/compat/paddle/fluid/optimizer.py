"""``paddle.fluid.optimizer``: the optimisers of programs."""

from __future__ import annotations

from typing import Any

from symgrad.optimizer import methods
from symgrad.static.mode import in_static


class OfPrograms:
    """Appends to programs, whichever mode is on."""

    def minimize(self, *args: Any, **kwargs: Any) -> Any:
        """Append the gradient of the loss and a step of every parameter."""
        return in_static(super().minimize)(*args, **kwargs)  # type: ignore[misc]

    def backward(self, *args: Any, **kwargs: Any) -> Any:
        """Append the gradient of the loss."""
        return in_static(super().backward)(*args, **kwargs)  # type: ignore[misc]


class SGD(OfPrograms, methods.SGD):
    """A step down the gradient."""


class Momentum(OfPrograms, methods.Momentum):
    """Gradient descent with momentum."""


class Adam(OfPrograms, methods.Adam):
    """Adam (Kingma and Ba 2015)."""


class RMSProp(OfPrograms, methods.RMSProp):
    """RMSProp (Hinton 2012)."""


class Adagrad(OfPrograms, methods.Adagrad):
    """AdaGrad (Duchi et al. 2011)."""


SGDOptimizer, AdagradOptimizer, AdamOptimizer, MomentumOptimizer, RMSPropOptimizer = SGD, Adagrad, Adam, Momentum, RMSProp

__all__ = ["SGD", "Adagrad", "AdagradOptimizer", "Adam", "AdamOptimizer", "Momentum", "MomentumOptimizer", "RMSProp", "RMSPropOptimizer"]
__all__ += ["SGDOptimizer"]
