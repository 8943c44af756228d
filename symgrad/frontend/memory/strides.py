"""Memory layout of arrays: strides as numbers, ``as_strided``, and ``setflags(write=False)``."""

from __future__ import annotations

import ast

import numpy as np

from symgrad.errors import SymgradError, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.flow.filling import extent_of
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import Binding, Num, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import DTYPES, Array
from symgrad.ops.composed.shapes import by_strides

#: the hint in place of attributes of the memory layout
OF_MEMORY = "use its shape, slices and reshape; np.lib.stride_tricks.sliding_window_view gives windows"
BY_ROWS = "C", "CF"
Args = list[Binding]
Kwargs = dict[str, Binding]


def by_layout(refusal: SymgradError) -> SymgradError:
    """Mark a refusal that the memory layout of the arguments may resolve."""
    refusal.by_layout = True
    return refusal


def strides_of(ctx: Lowering, owner: Ref, node: ast.AST) -> Binding:
    """Return the strides of a C-contiguous array; raise for axes of extent 1, whose stride is arbitrary."""
    type_ = ctx.type_of(owner)
    if not isinstance(type_, Array) or type_.shape is None or type_.dtype is None:
        raise UnsupportedSyntax("strides of this array are not supported", ctx.loc(node), OF_MEMORY)
    ctx.laid = True
    if type_.layout not in BY_ROWS or any(extent == 1 or not isinstance(extent, int) and not extent.plural for extent in type_.shape):
        what = "strides of an array that may lie by columns or with gaps, or has an axis of extent 1, are not supported"
        raise by_layout(UnsupportedSyntax(what, ctx.loc(node), OF_MEMORY))
    strides: list[Operand] = [Const(np.dtype(DTYPES[type_.dtype]).itemsize)]
    for axis in range(len(type_.shape) - 1, 0, -1):
        strides.append(ctx.call("multiply", strides[-1], extent_of(ctx, owner, axis)))
    return Tup(tuple(map(Num, reversed(strides))) if type_.shape else ())


@special(np.lib.stride_tricks.as_strided)
def as_strided(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Return the elements at the offsets given by the strides: a read-only copy where NumPy returns a view."""
    array = args[0] if args else kwargs.get("x")
    type_ = None if array is None else ctx.type_of(array)
    ctx.laid = True
    if not isinstance(type_, Array) or type_.shape is None or type_.dtype is None or type_.layout not in BY_ROWS:
        what = "np.lib.stride_tricks.as_strided is followed for an array that lies by rows without gaps"
        hint = "call it with np.ascontiguousarray of the array, whose strides it takes"
        raise by_layout(UnsupportedArgument(what, ctx.loc(node), hint))
    return ctx.apply(Static(by_strides), args, kwargs, node)


def set_flags(ctx: Lowering, owner: Ref, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Lower ``setflags(write=...)`` of an array created by the function: a read-only array refuses later stores."""
    words = dict(zip(("write", "align", "uic"), args, strict=False)) | kwargs
    write = known_value(words.get("write", Static(None)))
    if not write or any(known_value(held) != [None] for word, held in words.items() if word != "write"):
        raise UnsupportedArgument("setflags is followed with a write that is known at compile time", ctx.loc(node), "leave it out")
    if write[0] is not None and owner.location.outside:
        raise UnsupportedSyntax("the flags of an array of the caller's are set", ctx.loc(node), "set them outside of the function")
    if write[0] and owner.location.read_only:
        raise UnsupportedSyntax("a view that is read-only is made writeable", ctx.loc(node), "write to a copy")
    if write[0] is not None and not write[0]:
        owner.location.read_only = True
    return Static(None)


__all__ = ["OF_MEMORY", "set_flags", "strides_of"]
