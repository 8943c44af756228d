"""Run-time support of kernels: reductions in any order.

LLVM then takes several terms at a time in vector registers. Each is one instruction in place of the call: nothing is linked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.extending import lower_builtin, type_callable

#: fast-math flags of sums; "nsz" would let LLVM replace ``x - x`` by 0, also for infinity and NaN
IN_ANY_ORDER = ("reassoc", "contract")
#: and with extremes
OF_EXTREMES = ("reassoc", "contract", "nsz")
#: whether LLVM supports ``llvm.maximum`` on every processor; before version 17 it aborted on x86
HAS_MAXIMUM = binding.llvm_version_info[0] >= 17


def plus(total: Any, term: Any) -> Any:
    """The sum.

    >>> plus(1.0, 2.0)
    3.0
    """
    return total + term


def larger(most: float, x: float) -> float:
    """Return the larger of two numbers; NaN if either is NaN.

    >>> larger(1.0, 2.0), larger(float("nan"), 2.0)
    (2.0, nan)
    """
    return float(np.maximum(most, x))


def smaller(least: float, x: float) -> float:
    """Return the smaller of two numbers; NaN if either is NaN.

    >>> smaller(1.0, 2.0), smaller(float("nan"), 2.0)
    (1.0, nan)
    """
    return float(np.minimum(least, x))


@type_callable(plus)
def type_of_sum(context: Any) -> Any:
    """Of two doubles, or of complex numbers of two doubles each."""

    def typed(total: Any, term: Any) -> Any:
        is_complex = any(isinstance(one, types.Complex) for one in (total, term))
        return types.complex128(types.complex128, types.complex128) if is_complex else types.float64(types.float64, types.float64)

    return typed


@type_callable(larger)
@type_callable(smaller)
def type_of_fold(context: Any) -> Any:
    """All are of two doubles."""
    return lambda total, term: types.float64(types.float64, types.float64)


@lower_builtin(plus, types.float64, types.float64)
def add(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``plus``."""
    return builder.fadd(*args, flags=IN_ANY_ORDER)


@lower_builtin(plus, types.complex128, types.complex128)
def add_complex(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``plus`` of complex numbers: of their parts."""
    one, other = (context.make_complex(builder, types.complex128, value=a) for a in args)
    total = context.make_complex(builder, types.complex128)
    total.real = builder.fadd(one.real, other.real, flags=IN_ANY_ORDER)
    total.imag = builder.fadd(one.imag, other.imag, flags=IN_ANY_ORDER)
    return total._getvalue()


def choose(builder: Any, name: str, comparison: str, args: Any) -> Any:
    """The first operand if it is NaN or compares so with the second, else the second: ``name`` of LLVM's where it has that."""
    most, term = args
    if not HAS_MAXIMUM:
        first = builder.or_(builder.fcmp_ordered(comparison, most, term), builder.fcmp_unordered("uno", most, most))
        return builder.select(first, most, term)
    kind = ir.DoubleType()
    function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind, kind]))
    return builder.call(function, args, fastmath=OF_EXTREMES)


@lower_builtin(larger, types.float64, types.float64)
def choose_larger(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``larger``."""
    return choose(builder, "llvm.maximum", ">", args)


@lower_builtin(smaller, types.float64, types.float64)
def choose_smaller(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``smaller``."""
    return choose(builder, "llvm.minimum", "<", args)
