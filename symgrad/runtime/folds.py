"""What kernels call to reduce, and nothing else imports: sums and extremes whose terms may be taken in any order.

LLVM then takes several terms at a time in vector registers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from symgrad.runtime.vector import compiled

in_any_order = compiled(fastmath={"reassoc", "contract", "nsz"})


def of_llvm(name: str) -> Any:
    """An intrinsic of two doubles; what is not a number wins."""

    @intrinsic
    def made(typing: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.DoubleType()
            function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(function, args)

        return types.float64(types.float64, types.float64), generate

    return made


maximum, minimum = of_llvm("llvm.maximum"), of_llvm("llvm.minimum")


@in_any_order
def plus(total: Any, term: Any) -> Any:
    """The sum.

    >>> plus(1.0, 2.0)
    3.0
    """
    return total + term


@in_any_order
def larger(most: float, x: float) -> float:
    """The larger of two, or what is not a number.

    >>> larger(1.0, 2.0), larger(float("nan"), 2.0)
    (2.0, nan)
    """
    return maximum(most, x)  # type: ignore[no-any-return]


@in_any_order
def smaller(least: float, x: float) -> float:
    """The smaller of two, or what is not a number.

    >>> smaller(1.0, 2.0), smaller(float("nan"), 2.0)
    (1.0, nan)
    """
    return minimum(least, x)  # type: ignore[no-any-return]
