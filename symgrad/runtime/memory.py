"""New arrays for kernels, which nothing else imports: LLVM knows that no other array overlaps them.

Loops over many arrays are vectorised without comparing where these lie. What a kernel holds for each array is a call and a test;
the arithmetic of sizes stands once in each module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_new_ref
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array, populate_array

#: bytes of a float64, and what its arrays are aligned to
WIDTH, ALIGNMENT = 8, 32


def new_empty(shape: Any) -> Any:
    """``np.empty(shape)``.

    >>> new_empty((2, 3)).shape
    (2, 3)
    """
    return np.empty(shape)


def new_zeros(shape: Any) -> Any:
    """``np.zeros(shape)``.

    >>> new_zeros(2)
    array([0., 0.])
    """
    return np.zeros(shape)


@type_callable(new_empty)
@type_callable(new_zeros)
def type_of_new(context: Any) -> Any:
    """numba's type of an array that is made, and of its shape: extents of as many bits as an address."""

    def typer(shape: Any) -> Any:
        if isinstance(shape, types.Integer):
            return types.Array(types.float64, 1, "C")(types.intp)
        if isinstance(shape, types.UniTuple) and isinstance(shape.dtype, types.Integer):
            return types.Array(types.float64, shape.count, "C")(types.UniTuple(types.intp, shape.count))
        return None

    return typer


def of_module(module: Any, name: str, result: Any, arguments: list[Any]) -> tuple[Any, Any]:
    """A function of an LLVM module that is not copied into its callers, and a builder for its body, None if it is there already."""
    if name in module.globals:
        return module.globals[name], None
    function = ir.Function(module, ir.FunctionType(result, arguments), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    return function, ir.IRBuilder(function.append_basic_block())


def passed_on(module: Any, name: str, result: Any) -> Any:
    """A function that takes an address, which it may return, and into which LLVM does not look."""
    address = ir.IntType(8).as_pointer()
    function, body = of_module(module, name, result, [address])
    if body is not None:
        function.attributes.add("optnone")
        if isinstance(result, ir.VoidType):
            body.ret_void()
        else:
            function.return_value.add_attribute("noalias")
            body.ret(function.args[0])
    return function


def allocator(context: Any, module: Any, rank: int) -> Any:
    """A function that takes extents and returns memory for so many numbers; none if they are negative, or too many."""
    size, address = ir.IntType(64), ir.IntType(8).as_pointer()
    function, body = of_module(module, f"symgrad_allocate_{rank}", address, [size] * rank)
    if body is not None:
        wanted, wrong = ir.Constant(size, WIDTH), ir.Constant(ir.IntType(1), 0)
        for extent in function.args:
            product = body.smul_with_overflow(wanted, extent)
            wanted = body.extract_value(product, 0)
            wrong = body.or_(wrong, body.or_(body.extract_value(product, 1), body.icmp_signed("<", extent, ir.Constant(size, 0))))
        with body.if_then(wrong, likely=False):
            body.ret(ir.Constant(address, None))
        body.ret(context.nrt.meminfo_alloc_aligned_unchecked(body, wanted, ALIGNMENT))
    return function


def made(context: Any, builder: Any, signature: Any, args: Any, cleared: bool) -> Any:
    """Emit what makes an array.

    The address passes through a function whose result, as that of ``malloc``, overlaps nothing; a second function is shown it,
    since whoever frees the memory has it too.
    """
    (given,) = args
    extents = cgutils.unpack_tuple(builder, given) if isinstance(signature.args[0], types.UniTuple) else [given]
    owner = builder.call(allocator(context, builder.module, len(extents)), extents)
    with builder.if_then(cgutils.is_null(builder, owner), likely=False):
        context.call_conv.return_user_exc(builder, MemoryError, ())
    address = ir.IntType(8).as_pointer()
    found = builder.call(passed_on(builder.module, "symgrad_alone", address), [context.nrt.meminfo_data(builder, owner)])
    builder.call(passed_on(builder.module, "symgrad_shown", ir.VoidType()), [found])
    strides = [ir.Constant(ir.IntType(64), WIDTH)]
    for extent in reversed(extents[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    if cleared:
        cgutils.memset(builder, found, builder.mul(strides[0], extents[0]), 0)
    array = make_array(signature.return_type)(context, builder)
    data = builder.bitcast(found, ir.DoubleType().as_pointer())
    populate_array(array, data=data, shape=extents, strides=strides, itemsize=strides[-1], meminfo=owner)
    return impl_ret_new_ref(context, builder, signature.return_type, array._getvalue())


@lower_builtin(new_empty, types.Integer)
@lower_builtin(new_empty, types.UniTuple)
def make_empty(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``new_empty``."""
    return made(context, builder, signature, args, cleared=False)


@lower_builtin(new_zeros, types.Integer)
@lower_builtin(new_zeros, types.UniTuple)
def make_zeros(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``new_zeros``."""
    return made(context, builder, signature, args, cleared=True)
