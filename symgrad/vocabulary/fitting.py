"""Validation of arguments before anything is computed: axes, extents, windows, layouts, labels.

Each check refuses with the name of the argument and the expected value. An extent that a program does not know (-1) fits all. Calls
that fail without such a check are refused with the call written out (``symgrad.record.operations``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.errors import refused
from symgrad.functional.tensors import reshape
from symgrad.vocabulary.dispatch import apply, axes, plain_integer

Tensor = Any
Pair = tuple[int, int]


def is_number(value: Any) -> bool:
    """Whether it is an integer."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def numbers(value: Any, name: str, counts: Sequence[int], least: int = 1) -> list[int]:
    """Return a list of integers; a single one is repeated to the minimal length."""
    values = [value] * counts[0] if is_number(value) else value
    what = "one integer" if tuple(counts) == (1,) else f"{' or '.join(map(str, counts))} integers"
    if not isinstance(values, list | tuple) or not all(map(is_number, values)):
        raise refused(TypeError(f"{name} must be an integer, or a list of {what}, not {value!r}"))
    if len(values) not in counts or min(values) < least:
        raise refused(ValueError(f"{name} must be {what} of at least {least}, not {value!r}"))
    return [int(number) for number in values]


def pair(value: Any, name: str, least: int = 1) -> Pair:
    """One integer for both directions, or two."""
    values = numbers(value, name, (2, 1), least)
    return (values[0], values[-1])


def single(value: Any, name: str, least: int = 1) -> int:
    """One integer."""
    return numbers(value, name, (1,), least)[0]


def ranked(x: Tensor, name: str, *ranks: int) -> None:
    """Raise unless the argument is a tensor of the given rank."""
    if not hasattr(x, "shape"):
        raise refused(TypeError(f"{name} must be a tensor, not {type(x).__name__}"))
    if ranks and len(x.shape) not in ranks:
        words = " or ".join(map(str, ranks))
        raise refused(ValueError(f"{name} must have {words} axes; the shape is {list(x.shape)}"))


def shaped(x: Tensor, name: str, expected: Sequence[int]) -> None:
    """Refuse a tensor of another shape; None fits."""
    if x is None:
        return
    ranked(x, name)
    if list(x.shape) == expected:
        return
    if len(x.shape) != len(expected) or any(-1 not in (a, b) and a != b for a, b in zip(x.shape, expected, strict=True)):
        raise refused(ValueError(f"{name} must have shape {list(expected)}, and it has {list(x.shape)}"))


def extent(x: Tensor, name: str, axis: Any) -> int:
    """The extent of an axis, -1 if it is not known; refused if there is no such axis."""
    ranked(x, name)
    place, rank = plain_integer(axis), len(x.shape)
    if not -rank <= place < rank:
        raise refused(ValueError(f"axis {place} is out of bounds for {name} of shape {list(x.shape)}"))
    return int(x.shape[place])


def axes_of(x: Tensor, axis: Any) -> Any:
    """The axes of an argument ``axis``, None for all; a tensor without axes takes 0 and -1, which name no axis of it."""
    chosen = axes(axis)
    if chosen is None or len(getattr(x, "shape", (1,))):
        return chosen
    for one in chosen if isinstance(chosen, tuple) else (chosen,):
        if one not in (0, -1):
            raise refused(ValueError(f"axis {one} is out of bounds for a tensor without axes"))
    return None


def is_empty(x: Tensor, axis: Any) -> bool:
    """Whether nothing is left to reduce over some axes, or over all."""
    shape = list(getattr(x, "shape", ()))
    if 0 not in shape:
        return False
    chosen = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return any(shape[k] == 0 for k in chosen if -len(shape) <= k < len(shape))


def rowwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function along an axis that takes a tensor without axes too: as a row of one element; the results have no axes either."""

    @functools.wraps(function)
    def run(x: Tensor, *args: Any, **kwargs: Any) -> Any:
        if len(getattr(x, "shape", (1,))):
            return function(x, *args, **kwargs)
        result = function(apply(reshape, x, shape=(1,)), *args, **kwargs)
        return [apply(reshape, one, shape=()) for one in result] if isinstance(result, list) else apply(reshape, result, shape=())

    return run


def several(x: Any, name: str) -> list[Tensor]:
    """Raise for a single tensor in place of a list, which would be iterated over."""
    if not isinstance(x, list | tuple):
        raise refused(TypeError(f"{name} must be a list or tuple of tensors, not {type(x).__name__}"))
    if not x:
        raise refused(ValueError(f"{name} must not be empty"))
    return list(x)


def ends_with(x: Tensor, shape: Sequence[int], name: str) -> None:
    """Refuse a shape that is not that of the last axes of a tensor."""
    own = list(x.shape)[len(x.shape) - len(shape) :]
    if not shape or len(shape) > len(x.shape) or any(-1 not in (a, b) and a != b for a, b in zip(own, shape, strict=True)):
        raise refused(ValueError(f"{name} must be the shape of the last axes of {list(x.shape)}, not {list(shape)}"))


def channels_second(data_format: str, *known: str) -> None:
    """Refuse layouts with the channels last, and those that are not known."""
    if data_format not in known if known else not str(data_format).startswith("NC"):
        what = f"write {' or '.join(map(repr, known))}" if known else "the channels come second"
        raise refused(ValueError(f"data_format {data_format!r} is not supported; {what}"))


# ------------------------------------------------------------------ windows


def padding_of(padding: Any, size: Pair, stride: Pair, dilation: Pair, shape: Any, name: str = "padding") -> tuple[int, int, int, int]:
    """(top, bottom, left, right) from one number, two, four, pairs by axis, or a word."""
    if isinstance(padding, str):
        if padding.upper() == "VALID":
            return (0, 0, 0, 0)
        if padding.upper() != "SAME":
            raise refused(ValueError(f"the {name} {padding!r} is not known; write 'SAME', 'VALID' or numbers"))
        edges = []
        for k in range(2):
            length = int(shape[2 + k])
            if length < 0:
                raise refused(ValueError(f"the {name} 'SAME' needs to know the extent of axis {2 + k}"))
            out = -(-length // stride[k])
            total = max((out - 1) * stride[k] + dilation[k] * (size[k] - 1) + 1 - length, 0)
            edges += [total // 2, total - total // 2]
        return (edges[0], edges[1], edges[2], edges[3])
    if isinstance(padding, list | tuple) and len(padding) == 4 and all(isinstance(p, list | tuple) for p in padding):
        padding = [*padding[2], *padding[3]]
    widths = numbers(padding, name, (2, 4), 0)
    if len(widths) == 2:
        return (widths[0], widths[0], widths[1], widths[1])
    return (widths[0], widths[1], widths[2], widths[3])


def padding_of_signal(padding: Any, size: int, stride: int, dilation: int, shape: Any) -> Pair:
    """(left, right) from one number, two, or a word."""
    if isinstance(padding, str):
        _, _, left, right = padding_of(padding, (1, size), (1, stride), (1, dilation), (*shape[:2], 1, shape[2]))
        return (left, right)
    return pair(padding, "padding", 0)


def kernels_fit(x: Tensor, weight: Tensor, bias: Tensor, rank: int, groups: int) -> None:
    """Refuse images and kernels that do not go together."""
    ranked(x, "the input", rank)
    ranked(weight, "the weight", rank)
    if x.shape[1] not in (-1, weight.shape[1] * groups) or weight.shape[0] % groups:
        what = f"{x.shape[1]} channels in {groups} groups"
        raise refused(ValueError(f"a weight of shape {list(weight.shape)} does not fit {what}; it is (out, in / groups, ...)"))
    shaped(bias, "bias", [weight.shape[0]])


def kernels_fit_back(x: Tensor, weight: Tensor, bias: Tensor, rank: int, groups: int) -> None:
    """Refuse images and kernels of a transposed convolution that do not go together."""
    ranked(x, "the input", rank)
    ranked(weight, "the weight", rank)
    if x.shape[1] not in (-1, weight.shape[0]) or weight.shape[0] % groups:
        what = f"{x.shape[1]} channels in {groups} groups"
        raise refused(ValueError(f"a weight of shape {list(weight.shape)} does not fit {what}; it is (in, out / groups, ...)"))
    shaped(bias, "bias", [weight.shape[1] * groups])


def windows_fit(x: Tensor, size: Sequence[int], edges: Sequence[int], dilation: Sequence[int]) -> None:
    """Refuse windows that are larger than the images or signals and their borders; ``edges`` are pairs for each axis after the second."""
    ranked(x, "the images" if len(size) == 2 else "the signals", 2 + len(size))
    for k in range(len(size)):
        whole, wide = int(x.shape[2 + k]), dilation[k] * (size[k] - 1) + 1
        if whole >= 0 and wide > whole + edges[2 * k] + edges[2 * k + 1]:
            raise refused(ValueError(f"a window of extent {wide} does not fit axis {2 + k} of {list(x.shape)} with its borders"))


def known_extents(x: Tensor, function: str) -> list[int]:
    """The extents after the second axis, which must all be known."""
    sizes = [int(extent) for extent in x.shape[2:]]
    if min(sizes, default=0) < 0:
        raise refused(ValueError(f"{function} needs to know the extents of the images"))
    return sizes


# ------------------------------------------------------------------ labels


def whole_numbers(x: Tensor, name: str) -> None:
    """Refuse a tensor that does not hold integers."""
    ranked(x, name)
    if np.dtype(x.dtype).kind not in "iu":
        raise refused(TypeError(f"{name} must hold integers, not {x.dtype}"))


def labels_fit(input: Tensor, label: Tensor, axis: int) -> None:
    """Refuse labels that are no class numbers, one for each row."""
    extent(input, "input", axis)
    if not hasattr(label, "dtype") or label.dtype.kind not in "iu":
        what = getattr(label, "dtype", type(label).__name__)
        raise refused(TypeError(f"labels must be class numbers of an integer dtype, not {what}; soft_label=True takes distributions"))
    shape, rank = list(label.shape), len(input.shape)
    rest = [extent for k, extent in enumerate(input.shape) if k != axis % rank]
    own = [extent for k, extent in enumerate(shape) if k != axis % rank] if len(shape) == rank else shape
    lone = len(shape) < rank or shape[axis % rank] in (1, -1)
    if not lone or len(own) != len(rest) or any(a != b and -1 not in (a, b) for a, b in zip(own, rest, strict=True)):
        raise ValueError(f"labels of shape {shape} do not fit an input of shape {list(input.shape)}; there is one for each of {rest}")


def weights_fit(input: Tensor, weight: Tensor, axis: int) -> None:
    """Refuse class weights that are not one for each class."""
    shaped(weight, "weight", [input.shape[axis]])
