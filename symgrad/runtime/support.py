"""Run-time support: sums of cotangents, and stores with repeated indices.

Each function is a few lines of NumPy and self-contained, so that ``save`` can write it into a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.containers import call_of_base


def unbroadcast(g: Any, shape: tuple[int, ...], array: bool = False) -> Any:
    """``g`` summed to ``shape``, from which it was broadcast; a scalar for ``()`` unless ``array``.

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    extents = g.shape if isinstance(g, np.ndarray) else ()
    if extents == shape and not array and shape:
        return g
    if extents != shape:
        lead = len(extents) - len(shape)
        if lead < 0:
            g = np.broadcast_to(g, shape)
        else:
            axes = tuple(k for k, n in enumerate(extents) if k < lead or (shape[k - lead] == 1 and n != 1))
            g = np.sum(g, axis=axes, keepdims=True)
            g = np.broadcast_to(g.reshape(g.shape[lead:]), shape)
        g = g if g.flags.writeable and g.flags.owndata else g.copy()
    if array:
        return np.asarray(g)
    return g[()] if isinstance(g, np.ndarray) and not shape else g


def fitting_seed(
    seed: Any, shape: tuple[int, ...] | None = None, of_complex: bool = False, dtype: str | None = None, name: str = "a seed"
) -> Any:
    """The seed of a pullback for a result of this shape, or for a number; it is broadcast, as in ``sum(seed * result)``.

    ``name`` is the name of this part of the seeds in errors: TypeError if it is no real number or array, ValueError
    for its shape. ``dtype`` is the result's, if it is not that of Python's numbers; gradients are computed in it,
    whatever the dtype of the seed.

    >>> fitting_seed(2, (3,)), fitting_seed(2)
    (array([2., 2., 2.]), 2.0)
    >>> fitting_seed(2.0, None, True)
    (2+0j)
    """
    if of_complex and not np.iscomplexobj(seed):
        number = isinstance(seed, float | int)
        seed = complex(seed) if number else np.asarray(seed).astype(np.result_type(np.asarray(seed), np.complex64))
    elif not of_complex and type(seed) is not float and np.iscomplexobj(seed):
        __tracebackhide__ = True
        raise TypeError(f"{name} is complex, and a complex seed does not fit a real result")
    if type(seed) is int and dtype is None:
        seed = float(seed)
    elif dtype is not None or type(seed) is not float and not isinstance(seed, complex):
        if np.asarray(seed).dtype.kind not in "biufc":
            __tracebackhide__ = True
            raise TypeError(f"{name} is of the class {type(seed).__name__}, not a number or an array of numbers")
        seed = np.asarray(seed).astype(dtype or (np.complex128 if of_complex else np.float64), copy=False)[()]
    if shape is None:
        if type(seed) is not float and np.ndim(seed):
            __tracebackhide__ = True
            raise ValueError(f"{name} is of shape {np.shape(seed)}, and the result is one number")
        return seed
    if type(seed) is np.ndarray and seed.shape == shape:
        return seed
    array = np.asarray(seed, dtype)
    try:
        return array if array.shape == shape else np.broadcast_to(array, shape)
    except ValueError:
        __tracebackhide__ = True
        raise ValueError(f"{name} is of shape {array.shape}, and the result of shape {shape}") from None


def check_items(seed: Any, count: int, name: str) -> None:
    """Raise if a part of the seeds has another number of items than the list or tuple of the result; ``name`` is the part's name.

    >>> check_items((1.0, 2.0), 2, "out")
    >>> check_items([1.0], 2, "out['b']")
    Traceback (most recent call last):
    ValueError: the seed of out['b'] has 1 item, and the result 2
    """
    try:
        length = len(seed)
    except TypeError:
        __tracebackhide__ = True
        raise TypeError(f"the seed of {name} is of the class {type(seed).__name__}, and the result has {count} items") from None
    if length != count or isinstance(seed, str | bytes | dict):
        __tracebackhide__ = True
        items = "1 item" if length == 1 else f"{length} items"
        has = items if not isinstance(seed, str | bytes | dict) else f"the class {type(seed).__name__}"
        raise ValueError(f"the seed of {name} has {has}, and the result {count}")


def check_keys(seed: Any, keys: tuple[Any, ...], name: str) -> None:
    """Raise where the part of the seeds for a dict of a result has not its keys; ``name`` is that of the part.

    >>> check_keys({"a": 1.0}, ("a", "b"), "out")
    Traceback (most recent call last):
    ValueError: the seed of out has the keys 'a', and the result 'a', 'b'
    """
    if not isinstance(seed, dict):
        __tracebackhide__ = True
        raise TypeError(f"the seed of {name} is of the class {type(seed).__name__}, and the result a dict")
    if set(seed) != set(keys):
        __tracebackhide__ = True
        has, wants = (", ".join(map(repr, words)) for words in (seed, keys))
        raise ValueError(f"the seed of {name} has the keys {has}, and the result {wants}")


def tangent_of(tangents: Any, read: Callable[[Any], Any], primal: Any, name: str) -> Any:
    """Return the tangent of one argument, validated; ``read`` selects it from ``tangents``. Zeros if there are no tangents at all.

    Raises TypeError or ValueError, naming the argument, for another shape or dtype.

    >>> tangent_of({"x": 2}, lambda tangents: tangents["x"], 1.5, "x")
    2.0
    >>> tangent_of(None, lambda tangents: tangents["x"], np.ones(2), "x")
    array([0., 0.])
    """
    __tracebackhide__ = True
    if isinstance(primal, list | tuple):
        try:
            items = [None] * len(primal) if tangents is None else read(tangents)
        except (LookupError, AttributeError, TypeError):
            raise TypeError(f"the tangents have no part for {name}") from None
        if not isinstance(items, list | tuple) or len(items) != len(primal):
            what = f"{len(items)} items" if isinstance(items, list | tuple) else f"the class {type(items).__name__}"
            raise ValueError(f"the tangent of {name} has {what}, not {len(primal)} items")
        parts = [(None if tangents is None else [item], part) for item, part in zip(items, primal, strict=True)]
        return [tangent_of(item, lambda item: item[0], part, f"{name}[{k}]") for k, (item, part) in enumerate(parts)]
    array = isinstance(primal, np.ndarray)
    if tangents is None:
        return np.zeros_like(primal) if array else 0 * primal
    try:
        tangent = read(tangents)
    except (LookupError, AttributeError, TypeError):
        raise TypeError(f"the tangents have no part for {name}") from None
    if array:
        if type(tangent) is np.ndarray and tangent.shape == primal.shape and tangent.dtype == primal.dtype:
            return tangent
        shown = f"of shape {tangent.shape} and dtype {tangent.dtype}" if isinstance(tangent, np.ndarray) else type(tangent).__name__
        raise ValueError(f"the tangent of {name} is {shown}, not an array of shape {primal.shape} and dtype {primal.dtype}")
    if type(tangent) is type(primal):
        return tangent
    number = isinstance(tangent, int | float | complex | np.number) and not isinstance(tangent, bool)
    if not number or isinstance(tangent, complex | np.complexfloating) and not isinstance(primal, complex | np.complexfloating):
        shape = f" of shape {tangent.shape}" if isinstance(tangent, np.ndarray) else ""
        raise TypeError(f"the tangent of {name} is {type(tangent).__name__}{shape}, not a number like {type(primal).__name__}")
    return type(primal)(tangent)


def array_of(result: Any) -> np.ndarray:
    """A result that is an array on some paths and a number on others, as an array.

    >>> array_of(2.0).shape, array_of(np.ones(3)).shape
    ((), (3,))
    """
    return np.asarray(result)


def list_seed(seed: Any) -> Any:
    """Convert the tuples in a pullback's seed to lists, the form of generated code.

    >>> list_seed(((1.0, 2.0), [3.0]))
    [[1.0, 2.0], [3.0]]
    """
    return [list_seed(item) for item in seed] if isinstance(seed, list | tuple) else seed


def array_seed(seed: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The seed of a kernel for a result of this shape: an array of its dtype. TypeError where NumPy would compute in another.

    >>> array_seed(2, (3,), np.float64)
    array([2., 2., 2.])
    """
    if type(seed) is np.ndarray and seed.shape == shape and seed.dtype == dtype:
        return seed
    array = np.asarray(fitting_seed(seed, shape))
    if array.dtype not in (dtype, np.int64) or dtype != np.float64:  # in single precision sums would not be those of NumPy
        raise TypeError(array.dtype)
    return np.ascontiguousarray(array, dtype)


def last_written(x: Any, path: Any) -> Any:
    """For each element of ``x[path]``: is it the last that names its cell, so that a store of it stays?"""
    cells = np.arange(x.size).reshape(x.shape)[path]
    last = np.zeros(x.size, dtype=np.intp)
    last[cells.ravel()] = np.arange(cells.size)
    return last[cells] == np.arange(cells.size).reshape(cells.shape)


def take_written(x: Any, path: Any) -> Any:
    """``x[path]``, with zero where a later element names the same cell."""
    return np.where(last_written(x, path), x[path], np.zeros((), x.dtype))


def add_written(x: Any, path: Any, v: Any) -> None:
    """Add ``v`` to ``x[path]`` in place; of repeated indices only the last counts."""
    np.add.at(x, path, np.where(last_written(x, path), v, np.zeros((), x.dtype)))


def scatter_add(x: Any, path: Any, v: Any) -> None:
    """``np.add.at(x, path, v)`` where arrays of integers say the first axes: the same sums in the same order.

    >>> x = np.zeros((2, 2))
    >>> scatter_add(x, np.array([1, 1]), np.ones((2, 2)))
    >>> x
    array([[0., 0.],
           [2., 2.]])
    """
    index = path if isinstance(path, tuple) else (path,)
    shape = x.shape[len(index) :]
    width = math.prod(shape)
    if index[0].size * width >= 1000 and x.flags.c_contiguous:  # else it would not pay
        cells: Any
        try:
            cells = index[0].astype(np.intp) if len(index) == 1 else np.ravel_multi_index(index, x.shape[: len(index)])
        except ValueError:  # negative indices, or indices out of range
            cells = None
        if cells is not None:
            v = v if np.ndim(v) == 0 else np.broadcast_to(v, cells.shape + shape).ravel()
            path = (cells[..., None] * width + np.arange(width)).ravel()
            x = x.reshape(-1)
    np.add.at(x, path, v)


def add_products(x: Any, columns: list[Any], rows: list[Any]) -> None:
    """Add the outer product of each column with its row.

    >>> x = np.zeros((2, 2))
    >>> add_products(x, [np.array([1.0, 2.0]), np.ones(2)], [np.ones(2), np.array([0.0, 1.0])])
    >>> x
    array([[1., 2.],
           [2., 3.]])
    """
    if columns:
        x += np.array(columns).T @ np.array(rows)


def split_ties(won: Any, tied: Any) -> Any:
    """Return an operand's share of a cotangent: all where it was selected, half at ties, else zero.

    >>> split_ties(np.array([True, False]), np.array([False, False]))
    array([ True, False])
    >>> split_ties(np.array([True, False]), np.array([True, False]))
    array([0.5, 0. ])
    """
    return np.where(tied, 0.5, won) if tied.any() else won


def failure(run: Callable[..., Any], *operands: Any) -> Exception | None:
    """Return the exception that an operation raises for some operands, or None."""
    try:
        run(*operands)
    except Exception as error:
        return error
    return None


def check_real(x: Any) -> None:
    """Raise TypeError unless the value, of unknown type at compile time, is a plain real array or number."""
    kind = type(x)
    if isinstance(x, np.ndarray | np.generic):
        plain = kind in (np.ndarray, np.memmap) or isinstance(x, np.generic)
        known = plain and x.dtype.kind not in "OVmM"
    else:
        known = kind in (float, int, bool) or not any(
            hasattr(kind, name) for name in ("__array__", "__array_priority__", "as_integer_ratio")
        )
    if not known:
        name = f"an array of {x.dtype}" if kind is np.ndarray else f"a {kind.__name__}"
        raise TypeError(f"{name} is combined with a value that carries a derivative, which is not supported")
    if isinstance(x, complex | np.complexfloating) or isinstance(x, np.ndarray) and x.dtype.kind == "c":
        raise TypeError(
            "a complex value of unknown origin meets one that carries a derivative: convert it, with np.asarray(..., dtype=complex)"
        )


def check_result(x: Any, one: bool = True) -> None:
    """Raise TypeError unless the result is one real number or, without ``one``, a number, an array or a list.

    >>> check_result(2.0), check_result(np.ones((1, 1))), check_result(np.ones(3), False)
    (None, None, None)
    >>> check_result(None)
    Traceback (most recent call last):
    TypeError: the output is None, not one number
    """
    array = isinstance(x, np.ndarray | np.generic)
    if array and x.dtype.kind in "biuf" and (x.size == 1 or not one) or isinstance(x, float | int):
        return
    if not one and (isinstance(x, complex | list | tuple | dict) or array and x.dtype.kind == "c"):
        return
    what = f"an array of shape {x.shape}" if array and x.dtype.kind in "biufc" and x.ndim else "None" if x is None else type(x).__name__
    raise TypeError(f"the output is {what}, not one number" if one else f"the output is {what}, neither a number nor an array")


def copy(x: Any) -> Any:
    """Return a copy that shares no memory; immutable values are returned unchanged."""
    if isinstance(x, np.ndarray):
        return x.copy(order="K")
    return [copy(item) for item in x] if isinstance(x, list) else x


def laid_alike(x: Any) -> Any:
    """A copy of an array that is laid out by rows, by columns, or neither, as the array is.

    >>> laid_alike(np.arange(6.0)[::2]).flags.c_contiguous
    False
    """
    if x.flags.forc:
        return x.copy(order="K")
    strided = np.empty((*x.shape, 2), x.dtype)[..., 0]
    strided[...] = x
    return strided


def nested_list(x: Any, depth: int) -> Any:
    """The first ``depth`` dimensions of an array as lists in lists.

    >>> nested_list(np.eye(2), 2) == [[1.0, 0.0], [0.0, 1.0]]
    True
    """
    return [nested_list(item, depth - 1) for item in x] if depth else x


def zeros_as(x: Any) -> Any:
    """Zero in the form of ``x``: of a number, an array, or lists and tuples of these.

    >>> zeros_as([1.0, [2.0, 3]])
    [0.0, [0.0, 0.0]]
    """
    if isinstance(x, list | tuple):
        return type(x)(zeros_as(item) for item in x)
    return np.zeros(x.shape, x.dtype) if isinstance(x, np.ndarray) else 0j if isinstance(x, complex) else 0.0


def array_or_zeros(g: Any, shape: tuple[int, ...], dtype: Any = float) -> Any:
    """Return the array, or zeros if it is the number 0.

    >>> array_or_zeros(0.0, (2,))
    array([0., 0.])
    """
    return g if isinstance(g, np.ndarray) and g.shape == shape else np.full(shape, g, dtype)


def in_dtype(x: Any, dtype: Any) -> Any:
    """A copy, in another dtype, of an array or of a number in its place.

    >>> in_dtype(np.ones(2), np.float32), float(in_dtype(0.0, np.float64))
    (array([1., 1.], dtype=float32), 0.0)
    """
    return x.astype(dtype) if isinstance(x, np.ndarray) else dtype(x)


def in_form(g: Any, x: Any) -> Any:
    """Return ``g``, with zeros in the form of ``x`` in place of the number 0.

    >>> in_form(0.0, [2.0, [3.0]]), in_form([1.0, [2.0]], [2.0, [3.0]])
    ([0.0, [0.0]], [1.0, [2.0]])
    """
    if isinstance(x, np.ndarray):
        return array_or_zeros(g, x.shape, x.dtype)
    return zeros_as(x) if isinstance(x, list | tuple) and not isinstance(g, list | tuple) else g


def add_to_slot(tape: list[Any], i: int, value: Any) -> None:
    """Add to a tape entry, leaf by leaf; None counts as zero.

    >>> tape = [None, (1.0, [None, 2.0])]
    >>> add_to_slot(tape, 0, 3.0), add_to_slot(tape, 1, (4.0, [5.0, 6.0]))
    (None, None)
    >>> tape
    [3.0, (5.0, [5.0, 8.0])]
    """
    tape[i] = added_up(tape[i], value)


def added_up(one: Any, other: Any) -> Any:
    """Return the sum of two cotangents of saved values."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return type(one)([added_up(a, b) for a, b in zip(one, other, strict=True)])
    return one + other


def refill(owner: Any, content: Any) -> None:
    """Replace the content of a list or dict in place.

    >>> refill(owner := [1.0], [2.0, 3.0])
    >>> owner
    [2.0, 3.0]
    """
    if isinstance(owner, dict):
        call_of_base(owner, "clear")
        call_of_base(owner, "update", content)
    elif isinstance(owner, list):
        list.__setitem__(owner, slice(None), content)
    else:
        owner[:] = content


def with_tuples(items: list[Any], kinds: str) -> Any:
    """Convert nested lists to tuples level by level; ``kinds`` names ``list`` or ``tuple`` for each level.

    >>> with_tuples([[1, 2], [3, 4]], "list tuple")
    [(1, 2), (3, 4)]
    """
    kind, _, rest = kinds.partition(" ")
    inside = [with_tuples(item, rest) for item in items] if rest else items
    return tuple(inside) if kind == "tuple" else list(inside)


class ShownAs:
    """A text whose ``repr`` is the text itself, without quotes.

    >>> [ShownAs("P(1)")]
    [P(1)]
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def instance_of(cls: type, names: list[str], *values: Any) -> Any:
    """An instance with these attributes, made without a call of ``__init__``."""
    instance: Any = object.__new__(cls)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(instance, name, value)
    return instance


def list_fold(items: list[Any], count: int) -> list[Any]:
    """The sum of the repetitions of a list of ``count`` numbers.

    >>> list_fold([1.0, 2.0, 3.0, 4.0], 2)
    [4.0, 6.0]
    """
    return [sum(items[first::count], 0.0) for first in range(count)]


def list_unfold(items: list[Any], count: int) -> list[Any]:
    """A list repeated until it has ``count`` items.

    >>> list_unfold([1.0, 2.0], 4)
    [1.0, 2.0, 1.0, 2.0]
    """
    return items * (count // len(items)) if items else []


def list_add(a: Any, b: Any) -> Any:
    """Return the item-wise sum of two nested lists, as new lists.

    The number 0 and an empty list count as zeros; they are the residuals of calls that recursion never made.

    >>> list_add([1.0, [2.0]], [0.5, [1.0]])
    [1.5, [3.0]]
    >>> list_add(0.0, [1.0])
    [1.0]
    """
    if isinstance(a, list) and isinstance(b, list):
        if not a or not b:
            return copy(a or b)
        return [list_add(p, q) for p, q in zip(a, b, strict=True)]
    if isinstance(a, list) or isinstance(b, list):
        return copy(a if isinstance(a, list) else b)
    return a + b


def list_add_slice(items: list[Any], start: Any, stop: Any, step: Any, more: list[Any]) -> None:
    """Add a list, item by item, to a slice of another.

    >>> items = [1.0, 2.0, 3.0]
    >>> list_add_slice(items, 1, None, None, [0.5, 1.5])
    >>> items
    [1.0, 2.5, 4.5]
    """
    part = slice(start, stop, step)
    items[part] = list_add(items[part], more)
