"""Operators and methods that tensors and variables share; each calls a function of the vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Any

import numpy as np

from symgrad.tables import pairs
from symgrad.tracebacks import REFUSALS, boundary, is_trimmed
from symgrad.vocabulary import elements, matrices, network, selection, statistics, tensors
from symgrad.vocabulary.indexing import taken
from symgrad.vocabulary.protocol import called

Tensor = Any

#: methods that are functions of the same name, the tensor being the first argument
NAMES = (
    *tensors.UNARY,
    *tensors.BINARY,
    *tensors.BITWISE,
    *tensors.REDUCTIONS,
    *"""
    bitwise_not bitwise_left_shift bitwise_right_shift round pow scale clip where cast sum prod cumsum matmul mm bmm t reshape flatten
    transpose split chunk unbind squeeze unsqueeze expand broadcast_to expand_as tile flip roll gather index_select tril triu
    take_along_axis full_like
    """.split(),
)
#: the public functions of further modules whose first parameter is a tensor
FURTHER = {
    name: getattr(module, name)
    for module in (elements, statistics, selection, matrices)
    for name in module.__all__
    if name not in ("add_n", "broadcast_shape", "broadcast_tensors", "meshgrid", "multi_dot", "scatter_nd")
}


def binary(name: str, swapped: bool = False) -> Callable[[Any, Any], Any]:
    """Return an operator; operands other than numbers, arrays and tensors yield NotImplemented."""
    function = getattr(tensors, name)

    def call(self: Any, other: Any) -> Any:
        if isinstance(other, str) or other is None:
            return NotImplemented
        try:
            return function(other, self) if swapped else function(self, other)
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True
            raise error

    return call


class Methods:
    """Operators and methods of tensors; ``class Tensor(Methods["Tensor"])`` fixes their result class."""

    __slots__ = ()
    __hash__: Any = None
    __class_getitem__ = classmethod(GenericAlias)

    __add__, __radd__ = binary("add"), binary("add", True)
    __sub__, __rsub__ = binary("subtract"), binary("subtract", True)
    __mul__, __rmul__ = binary("multiply"), binary("multiply", True)
    __truediv__, __rtruediv__ = binary("divide"), binary("divide", True)
    __floordiv__, __rfloordiv__ = binary("floor_divide"), binary("floor_divide", True)
    __mod__, __rmod__ = binary("remainder"), binary("remainder", True)
    __matmul__, __rmatmul__ = binary("matmul"), binary("matmul", True)
    __eq__, __ne__ = binary("equal"), binary("not_equal")
    __lt__, __le__ = binary("less_than"), binary("less_equal")
    __gt__, __ge__ = binary("greater_than"), binary("greater_equal")
    __and__, __rand__ = binary("bitwise_and"), binary("bitwise_and", True)
    __or__, __ror__ = binary("bitwise_or"), binary("bitwise_or", True)
    __xor__, __rxor__ = binary("bitwise_xor"), binary("bitwise_xor", True)
    __lshift__, __rlshift__ = binary("bitwise_left_shift"), binary("bitwise_left_shift", True)
    __rshift__, __rrshift__ = binary("bitwise_right_shift"), binary("bitwise_right_shift", True)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and ufunc in OPERATORS and not kwargs:
            return OPERATORS[ufunc](*inputs)  # an operator, the tensor on its right
        return called(ufunc, inputs, kwargs, True) if method == "__call__" else NotImplemented

    def __array_function__(self, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        return called(function, args, kwargs, False)

    def __getitem__(self, index: Any) -> Any:
        return taken(self, index)

    def __pow__(self, other: Any) -> Any:
        return tensors.pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return tensors.powers(other, self)

    def __neg__(self) -> Any:
        return tensors.negative(self)  # type: ignore[attr-defined]

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return tensors.abs(self)  # type: ignore[attr-defined]

    def __invert__(self) -> Any:
        return tensors.bitwise_not(self)

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return tensors.transpose(self, tuple(range(len(self.shape)))[::-1])  # type: ignore[attr-defined]

    def astype(self, dtype: Any) -> Tensor:
        """In another dtype."""
        return tensors.cast(self, dtype)

    def softmax(self, axis: int = -1) -> Tensor:
        """``exp(x) / sum(exp(x))`` along an axis."""
        return network.softmax(self, axis)

    def sigmoid(self) -> Tensor:
        """``1 / (1 + exp(-x))``."""
        return network.sigmoid(self)  # type: ignore[attr-defined]


#: the ufuncs of NumPy's operators whose name differs
OTHERWISE = pairs("power:powers left_shift:bitwise_left_shift right_shift:bitwise_right_shift greater:greater_than less:less_than")
#: the ufuncs that NumPy's operators call
OPERATORS = {
    getattr(np, name): getattr(tensors, OTHERWISE.get(name, name))
    for name in """
        add subtract multiply divide floor_divide remainder power matmul bitwise_and bitwise_or bitwise_xor left_shift right_shift equal
        not_equal less less_equal greater greater_equal
    """.split()
}
for method in NAMES:
    setattr(Methods, method, boundary(getattr(tensors, method)))
for method, function in FURTHER.items():
    setattr(Methods, method, boundary(function))
