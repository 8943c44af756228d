"""Resampling of images, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import refused
from symgrad.functional import resampling as f
from symgrad.functional import windows as w
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.fitting import (
    channels_second,
    is_number,
    kernels_fit_back,
    known_extents,
    numbers,
    padding_of,
    padding_of_signal,
    pair,
    ranked,
    single,
    whole_numbers,
    windows_fit,
)

Tensor = Any

NAMES = ("pixel_shuffle", "pixel_unshuffle", "channel_shuffle")


def pixel_shuffle(x: Tensor, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Channels as pixels of larger images (Shi et al. 2016)."""
    channels_second(data_format, "NCHW")
    ranked(x, "x", 4)
    upscale_factor = single(upscale_factor, "upscale_factor")
    known_extents(x, "pixel_shuffle")
    if x.shape[1] % (upscale_factor * upscale_factor):
        raise refused(ValueError(f"{x.shape[1]} channels are not a multiple of upscale_factor ** 2, which is {upscale_factor**2}"))
    return apply(f.pixel_shuffle, x, upscale_factor=upscale_factor)


def pixel_unshuffle(x: Tensor, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """Pixels as channels of smaller images."""
    channels_second(data_format, "NCHW")
    ranked(x, "x", 4)
    downscale_factor = single(downscale_factor, "downscale_factor")
    known_extents(x, "pixel_unshuffle")
    if x.shape[2] % downscale_factor or x.shape[3] % downscale_factor:
        raise refused(ValueError(f"images of shape {list(x.shape)} cannot be divided by downscale_factor {downscale_factor}"))
    return apply(f.pixel_unshuffle, x, downscale_factor=downscale_factor)


def channel_shuffle(x: Tensor, groups: int, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The channels of groups in turns (Zhang et al. 2018)."""
    channels_second(data_format, "NCHW")
    ranked(x, "x", 4)
    groups = single(groups, "groups")
    known_extents(x, "channel_shuffle")
    if x.shape[1] % groups:
        raise refused(ValueError(f"{x.shape[1]} channels cannot be put in groups of the same size: groups is {groups}"))
    return apply(f.channel_shuffle, x, groups=groups)


# ------------------------------------------------------------------ transposed convolutions


def conv2d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The transpose of the convolution with these kernels, which have shape (in, out / groups, height, width)."""
    channels_second(data_format, "NCHW")
    groups = single(groups, "groups")
    kernels_fit_back(x, weight, bias, 4, groups)
    size = (int(weight.shape[2]), int(weight.shape[3]))
    steps, spread, more = pair(stride, "stride"), pair(dilation, "dilation"), pair(output_padding, "output_padding", 0)
    edges = padding_of(padding, size, steps, spread, x.shape)
    if output_size is not None:
        requested = pair(output_size, "output_size")
        least = [(int(x.shape[2 + k]) - 1) * steps[k] - edges[2 * k] - edges[2 * k + 1] + spread[k] * (size[k] - 1) + 1 for k in range(2)]
        more = (requested[0] - least[0], requested[1] - least[1])
        if min(x.shape[2:]) < 0 or not all(0 <= more[k] < max(steps[k], spread[k]) for k in range(2)):
            raise refused(ValueError(f"output_size {list(requested)} cannot be reached; it is {least} and less than a stride more"))
    return apply(f.conv2d_transpose, x, weight, bias, size=size, stride=steps, padding=edges, more=more, dilation=spread, groups=groups)


def conv1d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """The transpose of the convolution of signals with these kernels."""
    channels_second(data_format, "NCL")
    groups = single(groups, "groups")
    kernels_fit_back(x, weight, bias, 3, groups)
    if output_size is not None:
        raise refused(ValueError("output_size is not supported here; give output_padding"))
    size, step, spread = int(weight.shape[2]), single(stride, "stride"), single(dilation, "dilation")
    edges = padding_of_signal(padding, size, step, spread, x.shape)
    more = single(output_padding, "output_padding", 0)
    return apply(f.conv1d_transpose, x, weight, bias, size=size, stride=step, padding=edges, more=more, dilation=spread, groups=groups)


# ------------------------------------------------------------------ windows as columns


def unfold(x: Tensor, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None) -> Tensor:
    """The windows of images as columns."""
    ranked(x, "x", 4)
    size, steps, spread = pair(kernel_sizes, "kernel_sizes"), pair(strides, "strides"), pair(dilations, "dilations")
    edges = padding_of(paddings, size, steps, spread, x.shape, "paddings")
    windows_fit(x, size, edges, spread)
    return apply(f.unfold, x, size=size, stride=steps, padding=edges, dilation=spread)


def fold(
    x: Tensor, output_sizes: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None
) -> Tensor:
    """Images as sums of windows given as columns."""
    ranked(x, "x", 3)
    whole, size = pair(output_sizes, "output_sizes"), pair(kernel_sizes, "kernel_sizes")
    steps, spread = pair(strides, "strides"), pair(dilations, "dilations")
    edges = padding_of(paddings, size, steps, spread, (1, 1, *whole), "paddings")
    counts = [(whole[k] + edges[2 * k] + edges[2 * k + 1] - spread[k] * (size[k] - 1) - 1) // steps[k] + 1 for k in range(2)]
    if x.shape[1] % (size[0] * size[1]) or x.shape[2] not in (-1, counts[0] * counts[1]):
        raise ValueError(f"columns of shape {list(x.shape)} are no windows of {list(size)}: there are {counts[0] * counts[1]} of them")
    return apply(f.fold, x, extents=whole, size=size, stride=steps, padding=edges, dilation=spread)


# ------------------------------------------------------------------ adaptive pools


def shares_of(length: int, parts: int) -> tuple[tuple[int, int], ...]:
    """An axis in ``count`` parts of about the same extent, which may overlap."""
    return tuple([(k * length // parts, -(-(k + 1) * length // parts)) for k in range(parts)])


def adaptive(x: Tensor, output_size: Any, largest: bool) -> Tensor:
    """Adaptive pooling of images to the given rows and columns; None keeps an extent."""
    ranked(x, "x", 4)
    own = known_extents(x, "an adaptive pool")
    sizes = [output_size] * 2 if output_size is None or is_number(output_size) else output_size
    if isinstance(sizes, list | tuple) and len(sizes) == 2:
        sizes = [extent if requested is None else requested for extent, requested in zip(own, sizes, strict=True)]
    rows, columns = [shares_of(extent, parts) for extent, parts in zip(own, pair(sizes, "output_size"), strict=True)]
    return apply(f.adaptive_pool2d, x, rows=rows, columns=columns, largest=largest)


def adaptive_signal(x: Tensor, output_size: Any, **settings: Any) -> Tensor:
    """Adaptive pooling of signals to the given number of elements."""
    ranked(x, "x", 3)
    (own,) = known_extents(x, "an adaptive pool")
    return apply(f.adaptive_pool1d, x, columns=shares_of(own, single(output_size, "output_size")), **settings)


def adaptive_avg_pool2d(x: Tensor, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """The means of rectangles."""
    channels_second(data_format, "NCHW")
    return adaptive(x, output_size, False)


def adaptive_max_pool2d(x: Tensor, output_size: Any, return_mask: bool = False, name: str | None = None) -> Tensor:
    """The largest elements of rectangles."""
    if return_mask:
        raise refused(ValueError("return_mask is not supported"))
    return adaptive(x, output_size, True)


def adaptive_avg_pool1d(x: Tensor, output_size: int, name: str | None = None) -> Tensor:
    """The means of the parts of a signal."""
    return adaptive_signal(x, output_size)


def adaptive_max_pool1d(x: Tensor, output_size: int, return_mask: bool = False, name: str | None = None) -> Tensor:
    """The largest elements of the parts of a signal."""
    if return_mask:
        raise refused(ValueError("return_mask is not supported"))
    return adaptive_signal(x, output_size, largest=True)


# ------------------------------------------------------------------ borders

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(x: Tensor, pad: Any, mode: str = "constant", value: float = 0.0, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """With borders: pairs for all axes in order, or for the last axes, the last first."""
    channels_second(data_format)
    if mode != "constant" and mode not in MODES:
        raise refused(ValueError(f"the mode {mode!r} is not known; it is 'constant', 'reflect', 'replicate' or 'circular'"))
    ranked(x, "x")
    rank = len(x.shape)
    if is_number(pad):
        pad = [pad] * (2 * (rank - 2))
    borders = numbers(pad, "pad", range(2, 2 * rank + 1, 2), 0)
    pairs = [(borders[2 * k], borders[2 * k + 1]) for k in range(len(borders) // 2)]
    if len(pairs) < rank:
        pairs = [(0, 0)] * (rank - len(pairs)) + pairs[::-1]
    if mode == "constant":
        return apply(w.pad, x, widths=tuple(pairs), value=float(value))
    for extent, widths in zip(x.shape, pairs, strict=True):
        room = {"reflect": extent - 1, "circular": extent}.get(mode)
        if room is not None and extent >= 0 and max(widths) > room:
            raise refused(ValueError(f"pad {list(widths)} with mode={mode!r} is more than an axis of extent {extent} has, which is {room}"))
    return apply(f.framed, x, widths=tuple(pairs), mode=MODES[mode])


def zeropad2d(x: Tensor, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """With borders of zeros: left, right, top, bottom."""
    return pad(x, [padding] * 4 if is_number(padding) else padding, data_format=data_format)


# ------------------------------------------------------------------ interpolation


def interpolate(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Images or signals of another size.

    ``align_corners``: the outermost pixels keep their positions. ``align_mode`` 1: a pixel's position is its first corner.
    """
    if data_format is not None:
        channels_second(data_format)
    ranked(x, "x")
    if len(x.shape) not in RANKS.get(str(mode).lower(), ()):
        raise ValueError(f"interpolate of {len(x.shape)} axes with mode={mode!r} is not supported; of as many there are {modes_of(x)}")
    if mode.lower() == "nearest" and align_corners:
        raise refused(ValueError("align_corners is for linear modes"))
    old = known_extents(x, "interpolate")
    if (size is None) == (scale_factor is None):
        raise refused(ValueError("interpolate takes one of size and scale_factor"))
    if size is None:
        factors = factors_of(scale_factor, len(old))
        new = [int(extent * factor) for extent, factor in zip(old, factors, strict=True)]
        if min(new) < 1:
            raise refused(ValueError(f"scale_factor {scale_factor!r} leaves nothing of images of extents {old}"))
        ratios = [1.0 / factor for factor in factors]
    else:
        new = numbers(size, "size", (len(old),))
        ratios = [a / b for a, b in zip(old, new, strict=True)]
    if mode.lower() == "area":
        return adaptive(x, new, False) if len(new) == 2 else adaptive_avg_pool1d(x, new[0])
    method = mode.lower()
    if method == "nearest" and x.dtype == np.float64 and len(old) != 2:
        # where a product should be whole, rounding decides between two neighbours: as it does in PyTorch
        method = "nearest of float64"
    for k, (a, b, ratio) in enumerate(zip(old, new, ratios, strict=True)):
        if align_corners:
            ratio = (a - 1) / (b - 1) if b > 1 else 0.0
        centred = not (align_corners or align_mode == 1 and method != "bicubic")
        terms = TERMS[method](np.arange(b), ratio, a, centred)
        x = apply(f.resampled, x, np.array([place for place, _ in terms]), np.array([share for _, share in terms]), axis=2 + k)
    return x


def factors_of(scale_factor: Any, count: int) -> list[float]:
    """A factor for each axis, of one or several."""
    factors = scale_factor if isinstance(scale_factor, list | tuple) else [scale_factor] * count
    if len(factors) != count or not all(isinstance(factor, int | float) and factor > 0 for factor in factors):
        raise refused(ValueError(f"scale_factor must be a positive number, or {count} of them, not {scale_factor!r}"))
    return [float(factor) for factor in factors]


def modes_of(x: Tensor) -> str:
    """The modes for tensors of this number of axes."""
    return ", ".join(mode for mode, ranks in RANKS.items() if len(x.shape) in ranks) or "none"


Terms = list[tuple[Any, Any]]
RANKS = {"nearest": (3, 4, 5), "area": (3, 4), "linear": (3,), "bilinear": (4,), "bicubic": (4,)}

# Each returns elements and their weights for the pixels ``at`` of an axis, ``ratio`` apart on ``length`` existing elements; if
# ``centred``, pixels are squares around their points, otherwise their points are their first corners.


def points(at: Any, ratio: float, centred: bool) -> Any:
    """Return the positions of pixels on the input axis."""
    return (at + 0.5) * ratio - 0.5 if centred else at * ratio


def nearest(at: Any, ratio: float, length: int, centred: bool) -> Terms:
    """The element whose pixel covers the first corner, the product being one of float32."""
    return chosen(np.floor(at.astype("float32") * np.float32(ratio)), length)


def nearest_wide(at: Any, ratio: float, length: int, centred: bool) -> Terms:
    """The element whose pixel covers the first corner, the product being one of float64 that is rounded to float32."""
    return chosen(np.floor((at * ratio).astype("float32")), length)


def chosen(place: Any, length: int) -> Terms:
    """One element for each pixel."""
    return [(np.minimum(place.astype(int), length - 1), np.ones(len(place)))]


def linear(at: Any, ratio: float, length: int, centred: bool) -> Terms:
    """The two elements on either side, by how near they are."""
    at = np.maximum(points(at, ratio, centred), 0.0)
    low = np.minimum(np.floor(at).astype(int), length - 1)
    return [(low, 1.0 - (at - low)), (np.minimum(low + 1, length - 1), at - low)]


def cubic(at: Any, ratio: float, length: int, centred: bool) -> Terms:
    """Four elements, by the cubic convolution with a = -0.75 (Keys 1981)."""
    at = points(at, ratio, centred)
    low, a = np.floor(at).astype(int), -0.75
    terms = []
    for k in range(-1, 3):
        t = np.abs(at - low - k)
        share = np.where(t <= 1, ((a + 2) * t - (a + 3)) * t * t + 1, a * (((t - 5) * t + 8) * t - 4))
        terms.append((np.clip(low + k, 0, length - 1), share))
    return terms


TERMS = {"nearest": nearest, "nearest of float64": nearest_wide, "linear": linear, "bilinear": linear, "bicubic": cubic}
upsample = interpolate


def sequence_mask(x: Tensor, maxlen: int | None = None, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """For each length, as many ones, then zeros; up to the largest length, or to ``maxlen``."""
    whole_numbers(x, "x")
    if maxlen is None:
        if not hasattr(x, "numpy"):
            raise refused(ValueError("sequence_mask in a program needs to know maxlen"))
        maxlen = int(x.numpy().max())
    return apply(f.sequence_mask, x, maxlen=single(maxlen, "maxlen", 0), dtype=np.dtype(dtype).name)


__all__ = [*NAMES, "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d", "conv1d_transpose"]
__all__ += ["conv2d_transpose", "fold", "interpolate", "pad", "sequence_mask", "unfold", "upsample", "zeropad2d"]
