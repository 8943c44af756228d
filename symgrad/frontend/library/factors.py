"""Factorizations and sums of products whose form depends on the settings, the shape of a matrix and the ranks."""

from __future__ import annotations

import ast

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.calls.rows import RESULTS, apply_row, call_row
from symgrad.frontend.containers.iterables import items_of
from symgrad.frontend.objects.operands import as_array, known_value, unwrap, with_items
from symgrad.frontend.state.bindings import Binding, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special
from symgrad.ir.types import Array, Extent, same_extent
from symgrad.ops import spelling
from symgrad.ops.composed import products

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
Args = list[Binding]
Kwargs = dict[str, Binding]


def settings(ctx: Lowering, args: Args, kwargs: Kwargs, defaults: dict[str, object], name: str, node: ast.AST) -> dict[str, object]:
    """The settings of a call: its arguments after the first, which must be static."""
    passed = dict(zip(defaults, args[1:], strict=False)) | {k: v for k, v in kwargs.items() if k != "a"}
    if unknown := set(passed) - set(defaults):
        raise UnsupportedArgument(f"the keyword {min(unknown)} of {name} is not supported", ctx.loc(node), "leave it out")
    return defaults | {k: unwrap(v) for k, v in passed.items()}


def matrix_of(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> tuple[Binding, tuple[Extent, Extent] | None]:
    """The matrix, and its extents where they are known."""
    a = as_array(ctx, args[0] if args else kwargs["a"], node)
    type_ = ctx.type_of(a)
    shape = type_.shape if isinstance(type_, Array) else None
    return a, None if shape is None or len(shape) < 2 else (shape[-2], shape[-1])


@special(np.einsum)
def einsum(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Replaces an ellipsis by named axes, and a mere order of axes by a transpose, which is a view; ``optimize`` does not matter."""
    kwargs = {k: v for k, v in kwargs.items() if k != "optimize"}
    if len(args) > 1 and not (isinstance(args[0], Static) and isinstance(args[0].value, str)):
        args = named_axes(ctx, args, node)
    if args and isinstance(args[0], Static) and "..." in str(args[0].value):
        ranks = [getattr(ctx.type_of(as_array(ctx, a, node)), "rank", 0) for a in args[1:]]
        args = [Static(without_ellipsis(ctx, str(args[0].value), ranks, node)), *args[1:]]
    if len(args) == 2 and isinstance(args[1], Ref) and not kwargs and (axes := order_of_axes(args[0])) is not None:
        return ctx.apply(Static(np.transpose), [args[1], Static(axes)], {}, node)
    spelled = spelling.spelled(np.einsum)
    assert spelled is not None
    return call_row(ctx, spelled, args, kwargs, node)


def order_of_axes(subscripts: Binding) -> tuple[int, ...] | None:
    """The axes of one operand in the order of the result, if the subscripts say nothing else.

    >>> order_of_axes(Static("ijk->kij")), order_of_axes(Static("ji")), order_of_axes(Static("ii->i"))
    ((2, 0, 1), (1, 0), None)
    """
    text = str(subscripts.value).replace(" ", "") if isinstance(subscripts, Static) else ","
    letters, arrow, result = text.partition("->")
    result = result if arrow else "".join(sorted(letters))
    is_order = letters.isalpha() and len({*letters}) == len(letters) and sorted(result) == sorted(letters)
    return tuple(map(letters.index, result)) if is_order else None


def named_axes(ctx: Lowering, args: Args, node: ast.AST) -> Args:
    """``np.einsum(a, [0, 1], b, [1], [0])`` with letters."""

    def letters(axes: Binding) -> str:
        items = items_of(ctx, with_items(ctx, axes, node), node)
        numbers = [known_value(b) for b in items] if isinstance(items, list) else [[]]
        if not all(f and type(f[0]) is int and 0 <= f[0] < len(LETTERS) for f in numbers):
            raise UnsupportedArgument("the axes of np.einsum must be literals", ctx.loc(node), "use subscripts as a string")
        return "".join(LETTERS[f[0]] for f in numbers)

    pairs = args[:-1] if len(args) % 2 else args
    text = ",".join(letters(axes) for axes in pairs[1::2])
    return [Static(text + (f"->{letters(args[-1])}" if len(args) % 2 else "")), *pairs[::2]]


def without_ellipsis(ctx: Lowering, subscripts: str, ranks: list[int | None], node: ast.AST) -> str:
    """The subscripts with a letter for each axis of an ellipsis, aligned as NumPy does."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks) or any(r is None for r in ranks):
        raise UnsupportedArgument("an ellipsis of np.einsum needs arrays whose number of axes is known", ctx.loc(node), "name the axes")
    free = [c for c in LETTERS if c not in subscripts]
    counts = {(r or 0) - len(t.replace("...", "")) for t, r in zip(terms, ranks, strict=True) if "..." in t}
    if len(counts) != 1 or min(counts) < 0:
        raise UnsupportedArgument("the ellipses of np.einsum must stand for the same number of axes", ctx.loc(node), "name the axes")
    named = "".join(free[: counts.pop()])
    if not arrow:
        letters = inputs.replace("...", "").replace(",", "")
        output = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{inputs.replace('...', named)}->{output.replace('...', named)}"


@special(np.linalg.svd)
def svd(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The thin form if it suffices; else the full vectors, which have no derivative, with the singular values."""
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


def is_no_wider(rows: Extent, columns: Extent) -> bool:
    """Whether it is known that there are no more columns than rows."""
    return isinstance(rows, int) and isinstance(columns, int) and columns <= rows


@special(np.linalg.qr)
def qr(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The reduced form."""
    mode = settings(ctx, args, kwargs, {"mode": "reduced"}, "np.linalg.qr", node)["mode"]
    if mode not in ("reduced", "r"):
        raise UnsupportedArgument(f"mode={mode!r} of np.linalg.qr is not supported", ctx.loc(node), "use 'reduced' or 'r'")
    a, extents = matrix_of(ctx, args, kwargs, node)
    is_tall = extents is not None and (same_extent(*extents) or is_no_wider(*extents))
    factors = apply_row(ctx, "qr", [a], {}, node) if is_tall else ctx.apply(Static(products.qr), [a], {}, node)
    assert isinstance(factors, Tup)
    return factors.items[1] if mode == "r" else Tup(factors.items, RESULTS["qr"])


__all__ = ["qr", "svd"]
