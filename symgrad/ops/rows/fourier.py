"""table: Fourier transforms. ``axes`` and ``norm`` are static; ``sizes`` are the extents to which axes are cut or padded.

Of each transform the cotangent is a row of its own, whose cotangent is the transform again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import Array, Dim, Extent, ShapeOf, Type
from symgrad.ops.declare import rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.elementwise import evaluator
from symgrad.ops.shapes import array_dtype, dtype_of, shape_of

#: transforms that halve the last axis, as the rest is known, and those that double it
HALVING, DOUBLING = ("rfft", "rfftn", "ihfft"), ("irfft", "irfftn", "hfft")


def dtype_made(name: str, of: Type) -> str | None:
    """The dtype of a transform."""
    size = ", (1,), (0,)" if name.endswith("n") else ", 1"
    return array_dtype(evaluator(("x",), f"np.fft.{name}(x{size})"), [Array(dtype_of(of), (1,))])


def transform_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The type of the coefficients: as many as there are numbers along the axes, except along the last axis of real transforms."""
    name, axes = settings["kind"], settings["axes"]
    shape, dtype = shape_of(types[0]), dtype_made(name, types[0])
    if shape is None or any(not -len(shape) <= axis < len(shape) for axis in axes):
        return Array(dtype, None)
    extents: list[Extent] = list(shape)
    sized = len(types) > 1
    for k, axis in enumerate(axes):
        if sized:
            extents[axis] = dim(k + 1)
        if k == len(axes) - 1:
            extents[axis] = last_extent(name, extents[axis], sized)
    return Array(dtype, tuple(extents))


def last_extent(name: str, extent: Extent, sized: bool) -> Extent:
    """How many there are along the last axis of those that a transform has."""
    if name in HALVING:
        return extent // 2 + 1 if isinstance(extent, int) else Dim("?")
    if name in DOUBLING and not sized:
        return 2 * (extent - 1) if isinstance(extent, int) else Dim("?")
    return extent


def back_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of an inverse transform: the given shape; real if the transform is of real numbers."""
    shape = types[1].shape if isinstance(types[1], ShapeOf) else None
    one = np.real if settings["kind"] in HALVING else evaluator(("x",), "np.fft.fft(x)")
    return Array(array_dtype(one, [Array(dtype_of(types[0]), (1,))]), shape)


def words(settings: dict[str, Any], sizes: str) -> str:
    """Return the arguments of a transform after the first that differ from the defaults."""
    axes, norm = settings["axes"], settings["norm"]
    if settings["kind"].endswith("n"):
        said = [f"s={sizes}"] if sizes else []
        said.append(f"axes={axes!r}")
    else:
        said = ["*sizes"] if sizes else []
        said += [] if axes == (-1,) else [f"axis={axes[0]}"]
    return "".join(f", {word}" for word in [*said, *([f"norm={norm!r}"] if norm else [])])


def transform_text(settings: dict[str, Any], types: list[Type]) -> str:
    return f"np.fft.{settings['kind']}(x{words(settings, '(*sizes,)' if len(types) > 1 else '')})"


def back_text(settings: dict[str, Any], types: list[Type]) -> str:
    if len(types) == 2 and settings["kind"] in ("fft", "ifft", "fftn", "ifftn"):
        return f"np.fft.{settings['kind']}(g{words(settings, '')})"
    return "fourier_back(g, shape, (*sizes,), kind, axes, norm)"


_SETTINGS = "kind='fft', axes=(-1,), norm=None"
_SAME = "*sizes, kind=kind, axes=axes, norm=norm"
rule(
    f"fourier(x, *sizes, {_SETTINGS})",
    transform_law,
    emit=transform_text,
    linear="x",
    x_grad=f"fourier_back(out_grad, shape_of(x), {_SAME})",
)
rule(f"fourier_back(g, shape, *sizes, {_SETTINGS})", back_law, emit=back_text, linear="g", g_grad=f"fourier(out_grad, {_SAME})")


def same_shape_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(dtype_of(types[0]), shape_of(types[0]))


for _name, _other in (("fftshift", "ifftshift"), ("ifftshift", "fftshift")):
    rule(f"{_name}(x, axes=None)", same_shape_law, linear="x", x_grad=f"{_other}(out_grad, axes=axes)", emit=f"np.fft.{_name}(x, axes)")


def frequencies_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array("f64", (dim(0),), "C")


def half_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array("f64", (last_extent("rfft", dim(0), True),), "C")


for _name, _law in (("fftfreq", frequencies_law), ("rfftfreq", half_law)):
    rule(f"{_name}(n, d)", _law, emit=f"np.fft.{_name}(n, d)", n_grad=None, d_grad="-(sum(out_grad * out) / d)")
