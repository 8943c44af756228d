"""Factorizations whose form the settings and the shape of a matrix decide."""

from __future__ import annotations

import ast

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.bindings import Binding, Num, Tup
from symgrad.frontend.context import Lowering, special
from symgrad.frontend.operands import as_array, unwrap
from symgrad.frontend.rows import RESULTS, apply_row
from symgrad.ir.core import Const
from symgrad.ir.types import Array, Extent, same_extent

Args = list[Binding]
Kwargs = dict[str, Binding]


def settings(ctx: Lowering, args: Args, kwargs: Kwargs, defaults: dict[str, object], name: str, node: ast.AST) -> dict[str, object]:
    """The arguments behind the first, which must be known while compiling."""
    given = dict(zip(defaults, args[1:], strict=False)) | {k: v for k, v in kwargs.items() if k != "a"}
    if unknown := set(given) - set(defaults):
        raise UnsupportedArgument(f"the keyword {unknown.pop()} of {name} is not supported", ctx.loc(node))
    return defaults | {k: unwrap(v) for k, v in given.items()}


def matrix_of(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> tuple[Binding, tuple[Extent, Extent] | None]:
    """The matrix, and its extents where they are known."""
    a = as_array(ctx, args[0] if args else kwargs["a"], node)
    type_ = ctx.type_of(a)
    shape = type_.shape if isinstance(type_, Array) else None
    return a, None if shape is None or len(shape) < 2 else (shape[-2], shape[-1])


@special(np.linalg.svd)
def svd(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The thin form where all is asked of it; else vectors without a derivative beside its values."""
    said = settings(ctx, args, kwargs, {"full_matrices": True, "compute_uv": True, "hermitian": False}, "np.linalg.svd", node)
    if said["hermitian"]:
        raise UnsupportedArgument("hermitian=True of np.linalg.svd is not supported", ctx.loc(node), "leave it out")
    a, extents = matrix_of(ctx, args, kwargs, node)
    thin = apply_row(ctx, "svd", [a], {}, node)
    assert isinstance(thin, Tup)
    if not said["compute_uv"]:
        return thin.items[1]
    if not said["full_matrices"] or extents is not None and same_extent(*extents):
        return thin
    whole = apply_row(ctx, "singular_vectors", [a], {}, node)
    assert isinstance(whole, Tup)
    return Tup((whole.items[0], thin.items[1], whole.items[1]), RESULTS["svd"])


@special(np.linalg.qr)
def qr(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The reduced form, of matrices with no more columns than rows."""
    mode = settings(ctx, args, kwargs, {"mode": "reduced"}, "np.linalg.qr", node)["mode"]
    if mode not in ("reduced", "r"):
        raise UnsupportedArgument(f"mode={mode!r} of np.linalg.qr is not supported", ctx.loc(node), "use 'reduced' or 'r'")
    a, extents = matrix_of(ctx, args, kwargs, node)
    if extents is None or not same_extent(*extents):
        rows, columns = (apply_row(ctx, "extent", [a], {"axis": axis}, node) for axis in (-2, -1))
        message = "np.linalg.qr of a matrix with more columns than rows has no derivative here"
        if isinstance(rows, Num) and isinstance(columns, Num):
            test = ctx.call("greater_equal", rows.operand, columns.operand)
            ctx.builder.call_many("check", test, Const(message))
    made = apply_row(ctx, "qr", [a], {}, node)
    assert isinstance(made, Tup)
    return made.items[1] if mode == "r" else made


__all__ = ["qr", "svd"]
