"""Fourier transforms: their lengths, axes and norms."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.containers.iterables import items_of
from symgrad.frontend.objects.operands import as_array, known_value, unwrap, with_items
from symgrad.frontend.state.bindings import Binding, Num
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import SPECIAL
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import INT, Array, Scalar

Args = list[Binding]
Kwargs = dict[str, Binding]
#: ``np.fft`` along one axis; over several axes, with the row's name and the default axes
ALONG = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OVER = {f"{name}{count}": (f"{name}n", (-2, -1) if count == "2" else None) for name in ("fft", "ifft", "rfft", "irfft") for count in "2n"}


def transform_arguments(ctx: Lowering, name: str, words: list[str], args: Args, kwargs: Kwargs, node: ast.AST) -> dict[str, Binding]:
    """The arguments by name, without those that are None."""
    both = dict(zip(words, args, strict=False)) | kwargs
    if len(args) > len(words) or set(both) - set(words) or "a" not in both:
        raise UnsupportedArgument(f"np.fft.{name} of such arguments is not supported", ctx.loc(node))
    return {key: value for key, value in both.items() if key == "a" or known_value(value) != [None]}


def transform(
    ctx: Lowering, name: str, row: str, array: Binding, sizes: list[Binding], axes: tuple[int, ...] | None, norm: Any, node: ast.AST
) -> Binding:
    """The op of a transform."""
    x = as_array(ctx, array, node)
    type_ = ctx.type_of(x)
    rank = type_.rank if isinstance(type_, Array) else None
    if rank is None:
        raise UnsupportedArgument(f"np.fft.{name} of an array whose number of dimensions is not known", ctx.loc(node))
    if axes is None:
        axes = tuple(range(-len(sizes) if sizes else -rank, 0))
    if len({axis % rank for axis in axes if rank}) != len(axes) or sizes and len(sizes) != len(axes) or not axes:
        raise UnsupportedArgument(f"np.fft.{name} along these axes is not supported", ctx.loc(node))
    if norm not in (None, "backward", "ortho", "forward"):
        raise UnsupportedArgument(f"np.fft.{name} has no norm {norm!r}", ctx.loc(node), "norm is 'backward', 'ortho' or 'forward'")
    norm = None if norm == "backward" else norm
    return ctx.make(ctx.call("fourier", ctx.read(x, node), *(extent(ctx, s, name, node) for s in sizes), kind=row, axes=axes, norm=norm))


def extent(ctx: Lowering, binding: Binding, name: str, node: ast.AST) -> Operand:
    """The size of an axis; NumPy itself rejects a number that is a float when the program runs."""
    operand = ctx.read(binding, node)
    is_number = isinstance(operand.type, Scalar) and operand.type.kind in ("int", "float")
    if not is_number or isinstance(operand, Const) and (operand.type != INT or operand.value < 1):
        what = f"a size passed to np.fft.{name} must be a positive integer"
        raise UnsupportedArgument(what, ctx.loc(node), "pass an integer, as in n=int(size)")
    return operand


def literal(ctx: Lowering, binding: Binding | None, default: Any, name: str, node: ast.AST) -> Any:
    """A setting, which must be static."""
    if binding is None:
        return default
    try:
        setting = unwrap(binding)
    except ValueError:
        items = items_of(ctx, with_items(ctx, binding, node), node)
        constants = [known_value(item) for item in items] if isinstance(items, list) else [[]]
        if not all(constants):
            raise UnsupportedArgument(f"the axes and the norm of np.fft.{name} must be literals", ctx.loc(node)) from None
        setting = tuple(value for (value,) in constants)
    return tuple(setting) if isinstance(setting, list | tuple) else setting


def transform_along(name: str) -> Callable[..., Binding]:
    """The lowering of a transform along one axis."""

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        arguments = transform_arguments(ctx, name, ["a", "n", "axis", "norm"], args, kwargs, node)
        axis, norm = (literal(ctx, arguments.get(word), default, name, node) for word, default in (("axis", -1), ("norm", None)))
        return transform(ctx, name, name, arguments["a"], [arguments["n"]] if "n" in arguments else [], (axis,), norm, node)

    return lower


def transform_over(name: str, row: str, usual: tuple[int, ...] | None) -> Callable[..., Binding]:
    """The lowering of a transform over several axes."""

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        arguments = transform_arguments(ctx, name, ["a", "s", "axes", "norm"], args, kwargs, node)
        axes, norm = (literal(ctx, arguments.get(word), default, name, node) for word, default in (("axes", usual), ("norm", None)))
        sizes = items_of(ctx, arguments["s"], node) if "s" in arguments else []
        if not isinstance(sizes, list):
            raise UnsupportedArgument(f"the number of sizes passed to np.fft.{name} must be known at compile time", ctx.loc(node))
        return transform(ctx, name, row, arguments["a"], sizes, axes, norm, node)

    return lower


def shifted(name: str) -> Callable[..., Binding]:
    """The lowering of ``fftshift`` and ``ifftshift``."""

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        both = dict(zip(("x", "axes"), args, strict=False)) | kwargs
        if len(args) > 2 or set(both) - {"x", "axes"} or "x" not in both:
            raise UnsupportedArgument(f"np.fft.{name} of such arguments is not supported", ctx.loc(node))
        axes = literal(ctx, both.get("axes"), None, name, node)
        return ctx.make(ctx.call(name, ctx.read(as_array(ctx, both["x"], node), node), axes=axes))

    return lower


def frequencies(name: str) -> Callable[..., Binding]:
    """The lowering of ``fftfreq`` and ``rfftfreq``."""

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        both: dict[str, Binding] = {"d": Num(Const(1.0))} | dict(zip(("n", "d"), args, strict=False)) | kwargs
        if len(args) > 2 or set(both) != {"n", "d"}:
            raise UnsupportedArgument(f"np.fft.{name} of such arguments is not supported", ctx.loc(node))
        return ctx.make(ctx.call(name, extent(ctx, both["n"], name, node), ctx.read(both["d"], node)))

    return lower


for _name in ALONG:
    SPECIAL[getattr(np.fft, _name)] = transform_along(_name)
for _name, (_row, _axes) in OVER.items():
    SPECIAL[getattr(np.fft, _name)] = transform_over(_name, _row, _axes)
for _name in ("fftshift", "ifftshift"):
    SPECIAL[getattr(np.fft, _name)] = shifted(_name)
for _name in ("fftfreq", "rfftfreq"):
    SPECIAL[getattr(np.fft, _name)] = frequencies(_name)
