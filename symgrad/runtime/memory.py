"""Run-time support of kernels: new arrays, which LLVM knows not to alias any other.

Loops over many arrays are vectorised without comparing their addresses. A kernel contains a call and a test for each array; the
arithmetic of sizes is emitted once in each module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_new_ref
from numba.core.typing.npydecl import parse_dtype
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array, populate_array

#: the alignment of arrays, in bytes
ALIGNMENT = 32


def new_empty(shape: Any, dtype: Any = np.float64) -> Any:
    """``np.empty(shape, dtype)``.

    >>> new_empty((2, 3)).shape
    (2, 3)
    """
    return np.empty(shape, dtype)


def new_zeros(shape: Any, dtype: Any = np.float64) -> Any:
    """``np.zeros(shape, dtype)``.

    >>> new_zeros(2)
    array([0., 0.])
    """
    return np.zeros(shape, dtype)


@type_callable(new_empty)
@type_callable(new_zeros)
def type_of_new(context: Any) -> Any:
    """numba's type of a new array, and of its shape: extents as wide as an address."""

    def typer(shape: Any, dtype: Any = None) -> Any:
        item, dtypes = (types.float64, ()) if dtype is None else (parse_dtype(dtype), (dtype,))
        if isinstance(shape, types.Integer):
            return types.Array(item, 1, "C")(types.intp, *dtypes)
        if isinstance(shape, types.UniTuple) and isinstance(shape.dtype, types.Integer):
            return types.Array(item, shape.count, "C")(types.UniTuple(types.intp, shape.count), *dtypes)
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


def allocator(context: Any, module: Any, rank: int, width: int) -> Any:
    """A function from extents to memory for that many items of ``width`` bytes; null if an extent is negative or the size overflows."""
    size, address = ir.IntType(64), ir.IntType(8).as_pointer()
    function, body = of_module(module, f"symgrad_allocate_{rank}_{width}", address, [size] * rank)
    if body is not None:
        total, wrong = ir.Constant(size, width), ir.Constant(ir.IntType(1), 0)
        for extent in function.args:
            product = body.smul_with_overflow(total, extent)
            total = body.extract_value(product, 0)
            wrong = body.or_(wrong, body.or_(body.extract_value(product, 1), body.icmp_signed("<", extent, ir.Constant(size, 0))))
        with body.if_then(wrong, likely=False):
            body.ret(ir.Constant(address, None))
        body.ret(context.nrt.meminfo_alloc_aligned_unchecked(body, total, ALIGNMENT))
    return function


def allocation(context: Any, builder: Any, signature: Any, args: Any, cleared: bool) -> Any:
    """Emit the code that allocates an array.

    The address passes through a function whose result, as that of ``malloc``, aliases nothing. A second opaque
    function receives it, because the owner that frees the memory has it too.
    """
    extents = cgutils.unpack_tuple(builder, args[0]) if isinstance(signature.args[0], types.UniTuple) else [args[0]]
    item = context.get_data_type(signature.return_type.dtype)
    width = context.get_abi_sizeof(item)
    owner = builder.call(allocator(context, builder.module, len(extents), width), extents)
    with builder.if_then(cgutils.is_null(builder, owner), likely=False):
        context.call_conv.return_user_exc(builder, MemoryError, ())
    address = ir.IntType(8).as_pointer()
    pointer = builder.call(passed_on(builder.module, "symgrad_alone", address), [context.nrt.meminfo_data(builder, owner)])
    builder.call(passed_on(builder.module, "symgrad_shown", ir.VoidType()), [pointer])
    strides = [ir.Constant(ir.IntType(64), width)]
    for extent in reversed(extents[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    if cleared:
        cgutils.memset(builder, pointer, builder.mul(strides[0], extents[0]), 0)
    array = make_array(signature.return_type)(context, builder)
    data = builder.bitcast(pointer, item.as_pointer())
    populate_array(array, data=data, shape=extents, strides=strides, itemsize=strides[-1], meminfo=owner)
    return impl_ret_new_ref(context, builder, signature.return_type, array._getvalue())


@lower_builtin(new_empty, types.Integer)
@lower_builtin(new_empty, types.UniTuple)
@lower_builtin(new_empty, types.Integer, types.Any)
@lower_builtin(new_empty, types.UniTuple, types.Any)
def make_empty(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``new_empty``."""
    return allocation(context, builder, signature, args, cleared=False)


@lower_builtin(new_zeros, types.Integer)
@lower_builtin(new_zeros, types.UniTuple)
@lower_builtin(new_zeros, types.Integer, types.Any)
@lower_builtin(new_zeros, types.UniTuple, types.Any)
def make_zeros(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The code for ``new_zeros``."""
    return allocation(context, builder, signature, args, cleared=True)
