"""Layers without parameters: each is a function of the vocabulary with its settings kept; made from a table."""

from __future__ import annotations

import inspect
from typing import Any

from symgrad.layers.layer import Layer
from symgrad.vocabulary import network, tensors

#: the layer's name -> its function, and how many of the function's first arguments come when it is called
WRAPPED: dict[str, tuple[Any, int]] = {
    **{name: (getattr(network, function), 1) for name, function in (
        ("ReLU", "relu"), ("ReLU6", "relu6"), ("Sigmoid", "sigmoid"), ("LogSigmoid", "log_sigmoid"), ("Softsign", "softsign"),
        ("Silu", "silu"), ("Swish", "swish"), ("Mish", "mish"), ("LeakyReLU", "leaky_relu"), ("ELU", "elu"), ("SELU", "selu"),
        ("Softplus", "softplus"), ("GELU", "gelu"), ("Hardtanh", "hardtanh"), ("Hardsigmoid", "hardsigmoid"), ("Softmax", "softmax"),
        ("LogSoftmax", "log_softmax"),
    )},
    "Tanh": (tensors.tanh, 1),  # type: ignore[attr-defined]
    **{name: (getattr(network, function), 2) for name, function in (
        ("MSELoss", "mse_loss"), ("L1Loss", "l1_loss"), ("SmoothL1Loss", "smooth_l1_loss"), ("CrossEntropyLoss", "cross_entropy"),
        ("NLLLoss", "nll_loss"), ("BCELoss", "binary_cross_entropy"), ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits"),
    )},
}  # fmt: skip


def wrapped(name: str) -> type[Layer]:
    """The layer of an entry; its arguments are the function's others."""
    function, given = WRAPPED[name]
    signature = inspect.signature(function)
    rest = signature.replace(parameters=list(signature.parameters.values())[given:])

    class Wrapped(Layer):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(name)
            self.settings = rest.bind(*args, **kwargs).arguments

        def forward(self, *inputs: Any) -> Any:
            """What the layer computes."""
            return function(*inputs, **self.settings)

        def extra_repr(self) -> str:
            """What is said of the layer between parentheses."""
            return ", ".join(f"{word}={value!r}" for word, value in self.settings.items())

    Wrapped.__name__ = Wrapped.__qualname__ = name
    Wrapped.__doc__ = function.__doc__
    return Wrapped


globals().update({name: wrapped(name) for name in WRAPPED})
__all__ = [*WRAPPED]
