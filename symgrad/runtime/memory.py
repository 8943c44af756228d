"""New arrays for kernels, which nothing else imports: LLVM knows that no other array overlaps them.

Loops over many arrays are vectorised without comparing where these lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from symgrad.runtime.vector import compiled


def of_module(module: Any, name: str, result: Any, argument: Any) -> Any:
    """A function of an LLVM module that LLVM neither copies into its callers nor looks into."""
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(result, [argument]), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    function.attributes.add("optnone")
    body = ir.IRBuilder(function.append_basic_block())
    if isinstance(result, ir.VoidType):
        body.ret_void()
    else:
        function.return_value.add_attribute("noalias")
        body.ret(function.args[0])
    return function


@intrinsic
def unaliased(typing: Any, array: Any) -> Any:
    """The array, just made: all that reads and writes its memory does so through what is returned here.

    The address passes through a function whose result, as that of ``malloc``, overlaps nothing; a second function is shown it,
    since whoever frees the memory has it too.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        address = ir.IntType(8).as_pointer()
        alone = of_module(builder.module, "symgrad_alone", address, address)
        shown = of_module(builder.module, "symgrad_shown", ir.VoidType(), address)
        found = builder.call(alone, [builder.bitcast(made.data, address)])
        builder.call(shown, [found])
        made.data = builder.bitcast(found, made.data.type)
        return impl_ret_borrowed(context, builder, signature.return_type, made._getvalue())  # type: ignore[no-untyped-call]

    return array(array), generate


@compiled()
def new_empty(shape: Any) -> Any:
    """``np.empty(shape)``.

    >>> new_empty((2, 3)).shape
    (2, 3)
    """
    return unaliased(np.empty(shape))  # type: ignore[call-arg]


@compiled()
def new_zeros(shape: Any) -> Any:
    """``np.zeros(shape)``.

    >>> new_zeros(2)
    array([0., 0.])
    """
    return unaliased(np.zeros(shape))  # type: ignore[call-arg]
