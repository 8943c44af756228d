"""``paddle.fluid.dygraph``: the older spellings of eager execution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from symgrad.compat.missing import explaining
from symgrad.eager import Tensor, grad, no_grad, to_tensor
from symgrad.layers import Layer, LayerList, ParameterList, Sequential
from symgrad.layers import Linear as Plain
from symgrad.vocabulary import network, tensors
from symgrad.vocabulary.dispatch import STATIC


@contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Operations are eager until the end of the block."""
    before, STATIC[0] = STATIC[0], False
    try:
        yield
    finally:
        STATIC[0] = before


def to_variable(value: Any, name: str | None = None, zero_copy: Any = None, dtype: Any = None) -> Tensor:
    """A tensor of a copy of the data."""
    tensor = to_tensor(value, dtype)
    if name is not None:
        tensor.name = name
    return tensor


class Linear(Plain):
    """``x @ weight + bias``, then an activation."""

    def __init__(
        self, input_dim: int, output_dim: int, param_attr: Any = None, bias_attr: Any = None, act: str | None = None, dtype: Any = "float32"
    ) -> None:
        if dtype not in (None, "float32"):
            raise ValueError(f"dtype={dtype!r} is not supported here; parameters are of float32")
        super().__init__(input_dim, output_dim, param_attr, bias_attr)
        self.act = None if act is None else getattr(network, act, None) or getattr(tensors, act)

    def forward(self, input: Any) -> Any:
        """Compute the layer's result."""
        output = super().forward(input)
        return output if self.act is None else self.act(output)


__all__ = ["Layer", "LayerList", "Linear", "ParameterList", "Sequential", "grad", "guard", "no_grad", "to_variable"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.fluid.dygraph", __all__)
