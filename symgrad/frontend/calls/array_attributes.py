"""Attributes of numbers and arrays that are not methods: shape, dtype, parts and the like."""

from __future__ import annotations

import ast

import numpy as np

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.calls.common_arguments import HAVE_DEVICES
from symgrad.frontend.calls.rows import apply_row
from symgrad.frontend.flow.filling import extent_of, size_of
from symgrad.frontend.memory.strides import OF_MEMORY, strides_of
from symgrad.frontend.state.bindings import (
    Binding,
    Iter,
    Num,
    Ref,
    Static,
    Step,
    Tup,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.values.exact import check_kind
from symgrad.ir.core import Const
from symgrad.ir.types import DTYPES, Array, Scalar
from symgrad.ops.shapes import dtype_of


def of_number(ctx: Lowering, owner: Binding, type_: Scalar, attr: str, node: ast.AST) -> Binding | None:
    """An attribute of a number, or None."""
    match attr:
        case "shape":
            return Tup(())
        case "ndim":
            return Num(Const(0))
        case "size":
            return Num(Const(1))
        case "dtype" if (name := dtype_of(type_)) is not None:
            check_kind(ctx, type_, node)
            return Static(np.dtype(DTYPES[name]), f"np.dtype({np.dtype(DTYPES[name]).name!r})")
        case "real" if type_.kind == "bool" and type_.dtype is None:
            return Num(ctx.call("number", ctx.read(owner), kind="int"))
        case "T" | "real" if type_.kind != "complex":
            return owner
        case "real" | "imag":
            return Num(ctx.call(attr, ctx.read(owner)))
        case "numerator" if type_.kind == "int":
            return owner
        case "denominator" if type_.kind == "int":
            return Num(Const(1))
    return None


def of_array(ctx: Lowering, owner: Binding, type_: Array, attr: str, node: ast.AST) -> Binding | None:
    """An attribute of an array, or None."""
    match attr:
        case "shape" if type_.shape is not None:
            if isinstance(owner, Ref):
                return Tup(tuple(Num(extent_of(ctx, owner, k)) for k in range(len(type_.shape))))
            value = ctx.read(owner)
            return Tup(tuple(Num(Const(e) if isinstance(e, int) else ctx.call("extent", value, axis=k)) for k, e in enumerate(type_.shape)))
        case "shape":
            raise UnknownType("the number of dimensions of this array is not known", ctx.loc(node))
        case "ndim" if type_.shape is not None:
            return Num(Const(len(type_.shape)))
        case "ndim":
            return Num(ctx.call("ndim", ctx.read(owner)))
        case "itemsize" | "nbytes" if type_.dtype is not None:
            check_kind(ctx, type_, node)
            item = Const(np.dtype(DTYPES[type_.dtype]).itemsize)
            return Num(item if attr == "itemsize" else ctx.call("multiply", ctx.call("size", ctx.read(owner)), item))
        case "size":
            return Num(size_of(ctx, owner) if isinstance(owner, Ref) else ctx.call("size", ctx.read(owner)))
        case "dtype" if type_.dtype is not None:
            check_kind(ctx, type_, node)
            return Static(np.dtype(DTYPES[type_.dtype]), f"np.dtype({np.dtype(DTYPES[type_.dtype]).name!r})")
        case "mT" | "imag" if type_.shape is not None:
            return apply_row(ctx, attr, [owner], {}, node)
        case "T" if isinstance(owner, Ref):
            return owner if type_.shape is not None and len(type_.shape) < 2 else Ref(owner.location, (*owner.path, Step(".T")))
        case "real" if type_.kind in ("float", "int", "bool"):
            return owner
        case "real" if type_.kind == "complex" and type_.shape is not None:
            return apply_row(ctx, attr, [owner], {}, node)
        case "real" | "imag" | "dtype" if type_.dtype is None:
            raise UnknownType("the dtype of this array is not known", ctx.loc(node), "convert it with np.asarray and dtype=float")
        case "flat" if isinstance(owner, Ref) and type_.shape is not None:
            return Iter("flat", (owner,))
        case "strides" if ctx.frame.place is None and isinstance(owner, Ref):
            return strides_of(ctx, owner, node)
        case "flags" if ctx.frame.place is None and isinstance(owner, Ref) and owner.location.read_only:
            raise UnsupportedSyntax("flags of an array that is only read are not supported", ctx.loc(node), "ask a copy of it")
        case "flags" if ctx.frame.place is None:  # which the array itself says when the program runs
            return Num(ctx.call("opaque_attribute", ctx.read(owner), attribute=attr))
        case "device" if HAVE_DEVICES:
            return Static("cpu")
        case "base" | "data" | "ctypes" | "device" if ctx.frame.place is None:
            raise UnsupportedSyntax(f"{attr} of an array, which exposes its memory layout, is not supported", ctx.loc(node), OF_MEMORY)
    return None
