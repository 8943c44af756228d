"""Images of other sizes, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional import resampling as f
from symgrad.functional import windows as w
from symgrad.vocabulary.dispatch import apply, extents, pair
from symgrad.vocabulary.network import channels_first, padding_of

Tensor = Any

NAMES = ("pixel_shuffle", "pixel_unshuffle", "channel_shuffle")


def pixel_shuffle(x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Channels as pixels of larger images (Shi et al. 2016)."""
    channels_first(data_format, "NCHW")
    return apply(f.pixel_shuffle, x, upscale_factor=int(upscale_factor))


def pixel_unshuffle(x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Pixels as channels of smaller images."""
    channels_first(data_format, "NCHW")
    return apply(f.pixel_unshuffle, x, downscale_factor=int(downscale_factor))


def channel_shuffle(x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The channels of groups in turns (Zhang et al. 2018)."""
    channels_first(data_format, "NCHW")
    return apply(f.channel_shuffle, x, groups=int(groups))


# ------------------------------------------------------------------ transposed convolutions


def conv2d_transpose(x: Tensor, weight: Tensor, bias: Tensor = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                     dilation: Any = 1, groups: int = 1, output_size: Any = None, data_format: str = "NCHW",
                     name: str | None = None) -> Tensor:  # fmt: skip
    """The transpose of the convolution with these kernels, which have shape (in, out / groups, height, width)."""
    channels_first(data_format, "NCHW")
    size = (int(weight.shape[2]), int(weight.shape[3]))
    steps, spread, more = pair(stride), pair(dilation), pair(output_padding)
    edges = padding_of(padding, size, steps, spread, x.shape)
    if output_size is not None:
        wanted = pair(output_size)
        least = [(int(x.shape[2 + k]) - 1) * steps[k] - edges[2 * k] - edges[2 * k + 1] + spread[k] * (size[k] - 1) + 1 for k in range(2)]
        more = (wanted[0] - least[0], wanted[1] - least[1])
        if min(x.shape[2:]) < 0 or not all(0 <= more[k] < max(steps[k], spread[k]) for k in range(2)):
            raise ValueError(f"output_size {list(wanted)} cannot be reached; it is {least} and less than a stride more")
    return apply(
        f.conv2d_transpose, x, weight, bias, size=size, stride=steps, padding=edges, more=more, dilation=spread, groups=int(groups)
    )


def conv1d_transpose(x: Tensor, weight: Tensor, bias: Tensor = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                     groups: int = 1, dilation: Any = 1, output_size: Any = None, data_format: str = "NCL",
                     name: str | None = None) -> Tensor:  # fmt: skip
    """The transpose of the convolution of signals with these kernels."""
    channels_first(data_format, "NCL")
    if output_size is not None:
        raise ValueError("output_size is not supported here; give output_padding")
    edges = pair(padding)
    return apply(f.conv1d_transpose, x, weight, bias, size=int(weight.shape[2]), stride=pair(stride)[0], padding=edges,
                 more=pair(output_padding)[0], dilation=pair(dilation)[0], groups=int(groups))  # fmt: skip


# ------------------------------------------------------------------ windows as columns


def unfold(x: Tensor, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None) -> Tensor:
    """The windows of images as columns."""
    size, steps, spread = pair(kernel_sizes), pair(strides), pair(dilations)
    return apply(f.unfold, x, size=size, stride=steps, padding=padding_of(paddings, size, steps, spread, x.shape), dilation=spread)


def fold(x: Tensor, output_sizes: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1,
         name: str | None = None) -> Tensor:  # fmt: skip
    """Images that are the sums of windows given as columns."""
    whole, size, steps, spread = pair(output_sizes), pair(kernel_sizes), pair(strides), pair(dilations)
    edges = padding_of(paddings, size, steps, spread, (1, 1, *whole))
    counts = [(whole[k] + edges[2 * k] + edges[2 * k + 1] - spread[k] * (size[k] - 1) - 1) // steps[k] + 1 for k in range(2)]
    if x.shape[1] % (size[0] * size[1]) or x.shape[2] not in (-1, counts[0] * counts[1]):
        raise ValueError(f"columns of shape {list(x.shape)} are no windows of {list(size)}: there are {counts[0] * counts[1]} of them")
    return apply(f.fold, x, extents=whole, size=size, stride=steps, padding=edges, dilation=spread)


# ------------------------------------------------------------------ adaptive pools


def shares_of(length: int, parts: int) -> tuple[tuple[int, int], ...]:
    """An axis in so many parts of about the same extent, which may overlap."""
    if length < 0:
        raise ValueError("an adaptive pool needs to know the extents of the images")
    return tuple([(k * length // parts, -(-(k + 1) * length // parts)) for k in range(parts)])


def adaptive(x: Tensor, output_size: Any, largest: bool) -> Tensor:
    """A pool of images that gives so many rows and columns; None keeps an extent."""
    given = [output_size] * 2 if output_size is None or isinstance(output_size, int) else list(output_size)
    sizes = [int(x.shape[2 + k]) if extent is None else int(extent) for k, extent in enumerate(given)]
    rows, columns = [shares_of(int(x.shape[2 + k]), sizes[k]) for k in range(2)]
    return apply(f.adaptive_pool2d, x, rows=rows, columns=columns, largest=largest)


def adaptive_avg_pool2d(x: Tensor, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The means of so many rectangles."""
    channels_first(data_format, "NCHW")
    return adaptive(x, output_size, False)


def adaptive_max_pool2d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Tensor:
    """The largest elements of so many rectangles."""
    if return_mask:
        raise ValueError("return_mask is not supported")
    return adaptive(x, output_size, True)


def adaptive_avg_pool1d(x: Tensor, output_size: int, name: str | None = None) -> Tensor:
    """The means of so many parts of a signal."""
    return apply(f.adaptive_pool1d, x, columns=shares_of(int(x.shape[2]), pair(output_size)[0]))


def adaptive_max_pool1d(x: Tensor, output_size: int, return_mask: bool = False, name: str | None = None) -> Tensor:
    """The largest elements of so many parts of a signal."""
    if return_mask:
        raise ValueError("return_mask is not supported")
    return apply(f.adaptive_pool1d, x, columns=shares_of(int(x.shape[2]), pair(output_size)[0]), largest=True)


# ------------------------------------------------------------------ borders

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(x: Tensor, pad: Any, mode: str = "constant", value: float = 0.0, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """With borders: pairs for all axes in order, or for the last axes, the last first."""
    if not data_format.startswith("NC"):
        raise ValueError(f"data_format {data_format!r} is not supported; the channels come second")
    if mode != "constant" and mode not in MODES:
        raise ValueError(f"the mode {mode!r} is not known; it is 'constant', 'reflect', 'replicate' or 'circular'")
    rank = len(x.shape)
    numbers = extents(pad) * (2 * (rank - 2) if isinstance(pad, int) else 1)
    pairs = [(numbers[2 * k], numbers[2 * k + 1]) for k in range(len(numbers) // 2)]
    if len(pairs) < rank:
        pairs = [(0, 0)] * (rank - len(pairs)) + pairs[::-1]
    if mode == "constant":
        return apply(w.pad, x, widths=tuple(pairs), value=float(value))
    return apply(f.framed, x, widths=tuple(pairs), mode=MODES[mode])


def zeropad2d(x: Tensor, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """With borders of zeros: left, right, top, bottom."""
    return pad(x, [padding] * 4 if isinstance(padding, int) else padding, data_format=data_format)


# ------------------------------------------------------------------ interpolation


def interpolate(x: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False,
                align_mode: int = 0, data_format: str | None = None, name: str | None = None) -> Tensor:  # fmt: skip
    """Images or signals of another size.

    ``align_corners``: the outermost pixels stand where they stood. ``align_mode`` 1: pixels stand at their first corners.
    """
    if data_format is not None and not data_format.startswith("NC"):
        raise ValueError(f"data_format {data_format!r} is not supported; the channels come second")
    rank = {"nearest": len(x.shape), "area": len(x.shape), "linear": 3, "bilinear": 4, "bicubic": 4}.get(mode.lower())
    if rank is None or rank != len(x.shape):
        raise ValueError(f"interpolate of {len(x.shape)} axes with mode={mode!r} is not supported")
    if mode.lower() == "nearest" and align_corners:
        raise ValueError("align_corners is for linear modes")
    old = [int(extent) for extent in x.shape[2:]]
    if min(old) < 0:
        raise ValueError("interpolate needs to know the extents of the images")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate takes one of size and scale_factor")
    if size is None:
        factors = [scale_factor] * len(old) if isinstance(scale_factor, int | float) else list(scale_factor)
        new = [int(extent * factor) for extent, factor in zip(old, factors, strict=True)]
        ratios = [1.0 / factor for factor in factors]
    else:
        new = [int(size)] * len(old) if isinstance(size, int) else [int(extent) for extent in size]
        ratios = [a / b for a, b in zip(old, new, strict=True)]
    if mode.lower() == "area":
        return adaptive(x, new, False) if len(new) == 2 else adaptive_avg_pool1d(x, new[0])
    for k, (a, b, ratio) in enumerate(zip(old, new, ratios, strict=True)):
        if align_corners:
            ratio = (a - 1) / (b - 1) if b > 1 else 0.0
        terms = TERMS[mode.lower()](np.arange(b) * ratio if align_corners or align_mode == 1 and mode.lower() != "bicubic"
                                    else (np.arange(b) + 0.5) * ratio - 0.5, np.arange(b) * ratio, a)  # fmt: skip
        x = apply(f.resampled, x, np.array([place for place, _ in terms]), np.array([share for _, share in terms]), axis=2 + k)
    return x


Terms = list[tuple[Any, Any]]


def nearest(at: Any, first: Any, length: int) -> Terms:
    """The element whose pixel covers the first corner."""
    return [(np.minimum(np.floor(first).astype(int), length - 1), np.ones(len(first)))]


def linear(at: Any, first: Any, length: int) -> Terms:
    """The two elements on either side, by how near they are."""
    at = np.maximum(at, 0.0)
    low = np.minimum(np.floor(at).astype(int), length - 1)
    return [(low, 1.0 - (at - low)), (np.minimum(low + 1, length - 1), at - low)]


def cubic(at: Any, first: Any, length: int) -> Terms:
    """Four elements, by the cubic convolution with a = -0.75 (Keys 1981)."""
    low, a = np.floor(at).astype(int), -0.75
    terms = []
    for k in range(-1, 3):
        t = np.abs(at - low - k)
        share = np.where(t <= 1, ((a + 2) * t - (a + 3)) * t * t + 1, a * (((t - 5) * t + 8) * t - 4))
        terms.append((np.clip(low + k, 0, length - 1), share))
    return terms


TERMS = {"nearest": nearest, "linear": linear, "bilinear": linear, "bicubic": cubic}
upsample = interpolate


def sequence_mask(x: Tensor, maxlen: int | None = None, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """For each length so many ones, then zeros; up to the largest length, or to ``maxlen``."""
    if maxlen is None:
        if not hasattr(x, "numpy"):
            raise ValueError("sequence_mask in a program needs to know maxlen")
        maxlen = int(x.numpy().max())
    return apply(f.sequence_mask, x, maxlen=int(maxlen), dtype=np.dtype(dtype).name)


__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d", "conv1d_transpose", "conv2d_transpose",
    "fold", "interpolate", "pad", "sequence_mask", "unfold", "upsample", "zeropad2d", *NAMES,
]  # fmt: skip
