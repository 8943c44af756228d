"""table: element-wise forms of rows on small arrays, for scalar replacement (``aggregates``).

``add(x, y)`` of arrays of two elements is two sums of numbers. The elements of an array are held in a NumPy
array of operands, so that NumPy itself does slices, transposes, joins and broadcasting. Numbers keep the types
of the array: a Python number stored to an array of ``f64`` becomes a NumPy number, which divides by zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.ir.core import Call, Const, Op, Operand, Value
from symgrad.ir.types import FLOAT, Array, List, Object, Scalar, Type, kind_of
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import steps, subscript
from symgrad.ops.shapes import dtype_of

#: the maximum number of elements of an array: a 3 x 3 matrix
MOST = 9
DTYPES = ("f64", "i64", "bool")
#: an array of operands
Parts = np.ndarray[Any, Any]


class Formless(Exception):
    """Raised if an op has no form on the elements of its operands."""


def small_shape(type_: Type) -> tuple[int, ...] | None:
    """The shape of an array whose elements may become separate numbers; None for any other type."""
    if not isinstance(type_, Array) or type_.dtype not in DTYPES or not type_.shape or len(type_.shape) > 2:
        return None
    shape = tuple(e for e in type_.shape if isinstance(e, int))
    return shape if len(shape) == len(type_.shape) and 0 < math.prod(shape) <= MOST else None


class Elements:
    """Emits scalar ops with ``build``; ``elements_of`` returns the elements of an array, ``maker`` maps values to defining ops."""

    def __init__(self, build: Builder, elements_of: Callable[[Operand], Parts], maker: Mapping[Value, Op]) -> None:
        self.build = build
        self.elements_of = elements_of
        self.maker = maker

    def of(self, operand: Operand) -> Parts:
        """The elements of an operand; a number, or None, is its own single element."""
        if isinstance(operand.type, Scalar) or operand.type == Object("None"):
            return single(operand)
        if small_shape(operand.type) is None:
            raise Formless
        return self.elements_of(operand)

    def listed(self, operand: Operand, dtype: str) -> Parts:
        """The elements of the array that ``np.array`` makes of a list."""
        if not isinstance(operand.type, List):
            return self.stored(self.of(operand), dtype)
        maker = self.maker.get(operand) if isinstance(operand, Value) else None
        if not isinstance(maker, Call) or maker.name != "list_of" or len(maker.args) > MOST:
            raise Formless
        items = [self.listed(a, dtype) for a in maker.args]
        if not items or len({i.shape for i in items}) > 1:
            raise Formless
        return np.stack(items)

    # -------------------------------------------------------------- numbers

    def stored(self, parts: Parts, dtype: str) -> Parts:
        """Numbers converted as storing to an array of this dtype does."""
        return mapped(lambda one: self.number(one, dtype), parts)

    def number(self, operand: Operand, dtype: str) -> Operand:
        """A number converted as storing to an array of this dtype does; a Python float stays one until an op reads it."""
        type_ = operand.type
        if not isinstance(type_, Scalar) or type_.kind == "complex" or type_.kind == "float" and kind_of(dtype) != "float":
            raise Formless
        if type_.dtype == dtype or dtype == "f64" and type_ == FLOAT:
            return operand
        if isinstance(operand, Const) and dtype == "f64":
            return Const(float(operand.value))
        return self.build.call("cast", operand, dtype=dtype)

    def numpy(self, operand: Operand, dtype: str | None = None) -> Operand:
        """A number as a NumPy number."""
        assert isinstance(operand.type, Scalar)
        if operand.type.dtype not in (None, "any"):
            return operand
        return self.build.call("cast", operand, dtype=dtype or {"float": "f64", "int": "i64", "bool": "bool"}[operand.type.kind])

    def typed(self, parts: Parts, dtype: str) -> Parts:
        """Numbers, all of the type that reading an array element yields."""
        return mapped(lambda one: self.numpy(one, dtype), parts)

    def compute(self, name: str, *operands: Operand, dtype: str | None = "f64", **settings: Any) -> Operand:
        """Emit one scalar op; its result is a NumPy number, as it would be on arrays."""
        if all(isinstance(o.type, Scalar) and o.type.dtype in (None, "any") for o in operands if o.type != Object("None")):
            operands = (self.numpy(operands[0]), *operands[1:])
        elif dtype == "f64" and not any(isinstance(o.type, Scalar) and o.type.dtype == "f64" for o in operands):
            operands = tuple(self.numpy(o) if o.type == FLOAT else o for o in operands)  # combined with narrow numbers, elements are wide
        result = self.build.call(name, *operands, **settings)
        if not isinstance(result.type, Scalar) or result.type.dtype != dtype:
            raise Formless
        return result

    def total(self, terms: Iterable[Operand]) -> Operand:
        """The sum in NumPy's order: the first eight terms pairwise, the rest one by one."""
        terms = list(terms)
        if len(terms) >= 8:
            first = terms[:8]
            while len(first) > 1:
                first = [self.compute("add", *first[k : k + 2]) for k in range(0, len(first), 2)]
            terms = [*first, *terms[8:]]
        total = terms[0]
        for term in terms[1:]:
            total = self.compute("add", total, term)
        return total


def dtype_name(operand: Operand) -> str:
    """The dtype of an array; raises ``Formless`` where it is not known."""
    dtype = dtype_of(operand.type)
    if dtype is None:
        raise Formless
    return dtype


def single(operand: Operand) -> Parts:
    """A 0-d array that holds an operand."""
    array = np.empty((), object)
    array[()] = operand
    return array


def mapped(function: Callable[..., Operand], *parts: Parts) -> Parts:
    """A function applied element by element, with broadcasting."""
    every = np.broadcast_arrays(*parts)
    results = np.empty(every[0].shape, object)
    for place in np.ndindex(results.shape):
        results[place] = function(*(p[place] for p in every))
    return results


def array_of_elements(elements: Elements, parts: Parts, name: str | None = None) -> Operand:
    """Build an array from its elements."""

    def listed(some: Any) -> Operand:
        return elements.build.call("list_of", *map(listed, some)) if isinstance(some, np.ndarray) else some

    return elements.build.call("array_of", listed(parts), shape=parts.shape, depth=parts.ndim, hint=name)


# ------------------------------------------------------------------ paths


def cells(x: Parts, index: str, operands: Sequence[Operand]) -> Parts:
    """The elements that a path selects, as a view."""
    if not all(isinstance(o, Const) and type(o.value) in (int, type(None)) for o in operands):
        raise Formless
    numbers = [o.value for o in operands if isinstance(o, Const)]
    for step, count in steps(index):
        here, numbers = numbers[:count], numbers[count:]
        try:
            x = methods(x, step, here) if step.startswith(".") else x[place(step, here)]
        except (IndexError, ValueError):
            raise Formless from None  # the program itself raises
    return x


def place(step: str, numbers: list[Any]) -> tuple[Any, ...]:
    """One subscript; the ellipsis makes the selection of a single element a 0-d array."""
    items = subscript(step, numbers)
    return items if "e" in step else (*items, ...)


def methods(x: Parts, step: str, numbers: list[Any]) -> Parts:
    """Apply a path step that is an array method."""
    match step:
        case ".T":
            return x.T
        case ".transpose":
            return x.transpose(numbers)
        case ".reshape":
            return np.reshape(x, numbers)
    raise Formless


def taken(op: Call, elements: Elements) -> Parts:
    return cells(elements.of(op.args[0]), op.settings["index"], op.args[1:])


def stored(op: Call, elements: Elements) -> Parts:
    x = elements.of(op.args[0]).copy()
    if "." in op.settings["index"]:
        raise Formless
    target = cells(x, op.settings["index"], op.args[2:])
    value = elements.of(op.args[1])
    if op.name == "add_at":
        value = mapped(lambda a, b: elements.compute("add", a, b), target, value)
    try:
        target[...] = elements.stored(value, dtype_name(op.args[0]))
    except ValueError:
        raise Formless from None
    return x


# ------------------------------------------------------------------ arithmetic


def elementwise(op: Call, elements: Elements) -> Parts:
    """One scalar op for each element."""
    settings, out = op.settings, op.outs[0].type
    assert isinstance(out, Array)
    operands = [elements.of(a) for a in op.args]

    def one(*numbers: Operand) -> Operand:
        if op.name == "power" and isinstance(numbers[1], Const) and numbers[1].value == 2 and settings["via"] is None:
            return elements.compute("multiply", numbers[0], numbers[0], dtype=out.dtype)  # as NumPy does for arrays
        return elements.compute(op.name, *numbers, dtype=out.dtype, **settings)

    return mapped(one, *operands)


def chosen(op: Call, elements: Elements) -> Parts:
    """``np.where`` is a choice between two numbers of one type."""
    dtype = dtype_name(op.outs[0])
    test, *sides = (elements.of(a) for a in op.args)
    sides = [elements.typed(elements.stored(s, dtype), dtype) for s in sides]
    return mapped(lambda *numbers: elements.compute("where", *numbers, dtype=dtype, via=None), test, *sides)


def added(op: Call, elements: Elements) -> Parts:
    """``x += y``"""
    return mapped(lambda a, b: elements.compute("add", a, b, dtype=dtype_name(op.outs[0])), *map(elements.of, op.args))


def summed(op: Call, elements: Elements) -> Parts:
    """A sum, or a mean, along one axis or all."""
    x, axis, keep = elements.of(op.args[0]), op.settings["axis"], op.settings["keepdims"]
    if dtype_name(op.args[0]) != "f64" or isinstance(axis, tuple):
        raise Formless
    rows = x.reshape(-1) if axis is None else np.moveaxis(x, axis, -1)
    sums = np.empty(rows.shape[:-1], object)
    for where in np.ndindex(sums.shape):
        total = elements.total(rows[where])
        sums[where] = total if op.name == "sum" else elements.compute("divide", total, Const(rows.shape[-1]))
    return sums.reshape([1] * x.ndim) if keep and axis is None else np.expand_dims(sums, axis) if keep else sums


def product(op: Call, elements: Elements) -> Parts:
    """A product of vectors and matrices."""
    a, b = (elements.of(x) for x in op.args)
    if not a.ndim or not b.ndim or {dtype_name(x) for x in op.args} != {"f64"}:
        raise Formless
    columns = np.moveaxis(b, -2, -1) if b.ndim > 1 else b
    products = np.empty((*a.shape[:-1], *columns.shape[:-1]), object)
    for where in np.ndindex(products.shape):
        row, column = a[where[: a.ndim - 1]], columns[where[a.ndim - 1 :]]
        products[where] = elements.total([elements.compute("multiply", *pair) for pair in zip(row, column, strict=True)])
    return products


def outer(op: Call, elements: Elements) -> Parts:
    a, b = (elements.of(x).reshape(-1) for x in op.args)
    return mapped(lambda x, y: elements.compute("multiply", x, y, dtype=dtype_name(op.outs[0])), a[:, None], b)


def trace(op: Call, elements: Elements) -> Parts:
    x = elements.of(op.args[0])
    if x.ndim != 2 or op.settings != ROWS["trace"].settings or dtype_name(op.args[0]) != "f64":
        raise Formless
    return single(elements.total(list(np.diagonal(x))))


# ------------------------------------------------------------------ creation and layout


def listed(op: Call, elements: Elements) -> Parts:
    return elements.listed(op.args[0], dtype_name(op.outs[0]))


def constant(fill: Callable[[Call, tuple[int, ...]], Any]) -> Form:
    """An array of compile-time constants."""

    def form(op: Call, elements: Elements) -> Parts:
        shape = small_shape(op.outs[0].type)
        numbers = np.zeros(1) if shape is None else fill(op, shape)
        if shape is None or numbers.shape != shape:
            raise Formless
        cast: Any = {"f64": float, "i64": int, "bool": bool}[dtype_name(op.outs[0])]
        return mapped(lambda number: Const(cast(number)), numbers.astype(object))

    return form


def filled(position: int) -> Form:
    """An array filled with one operand."""

    def form(op: Call, elements: Elements) -> Parts:
        out, value = op.outs[0].type, elements.of(op.args[position])
        shape = small_shape(out)
        if shape is None or value.ndim:
            raise Formless
        return np.broadcast_to(elements.stored(value, dtype_name(op.outs[0])), shape)

    return form


def converted(op: Call, elements: Elements) -> Parts:
    return elements.stored(elements.of(op.args[0]), dtype_name(op.outs[0]))


def reshaped(op: Call, elements: Elements) -> Parts:
    """The elements in row-major order in another shape."""
    shape = small_shape(op.outs[0].type)
    x = elements.of(op.args[0])
    if shape is None or math.prod(shape) != x.size:
        raise Formless
    return x.reshape(shape)


def arranged(function: Callable[[Parts, dict[str, Any]], Parts]) -> Form:
    """The elements in another order."""

    def form(op: Call, elements: Elements) -> Parts:
        try:
            return function(elements.of(op.args[0]), op.settings)
        except ValueError:
            raise Formless from None

    return form


def spread(op: Call, elements: Elements) -> Parts:
    shape = small_shape(op.outs[0].type)
    if shape is None:
        raise Formless
    try:
        return np.broadcast_to(elements.of(op.args[0]), shape)
    except ValueError:
        raise Formless from None


def joined(function: Callable[..., Parts]) -> Form:
    """The elements of several arrays joined in one."""

    def form(op: Call, elements: Elements) -> Parts:
        try:
            return elements.stored(function([elements.of(a) for a in op.args], axis=op.settings["axis"]), dtype_name(op.outs[0]))
        except ValueError:
            raise Formless from None

    return form


def counted(count: Callable[[Parts, dict[str, Any]], int]) -> Form:
    """A length, known at compile time."""
    return lambda op, elements: single(Const(count(elements.of(op.args[0]), op.settings)))


Form = Callable[[Call, Elements], Parts]

FORMS: dict[str, Form] = {
    "take": taken,
    "view": taken,
    "set_at": stored,
    "add_at": stored,
    "accumulate": added,
    "where": chosen,
    "sum": summed,
    "mean": summed,
    "dot": product,
    "matmul": product,
    "outer": outer,
    "trace": trace,
    "array_of": listed,
    "zeros": constant(lambda op, shape: np.zeros(shape)),
    "zeros_as": constant(lambda op, shape: np.zeros(shape)),
    "zeros_like": constant(lambda op, shape: np.zeros(shape)),
    "ones": constant(lambda op, shape: np.ones(shape)),
    "ones_like": constant(lambda op, shape: np.ones(shape)),
    "empty": constant(lambda op, shape: np.zeros(shape)),
    "empty_like": constant(lambda op, shape: np.zeros(shape)),
    "eye": constant(lambda op, shape: np.eye(shape[0], shape[1], k=op.settings["k"])),
    "full": filled(0),
    "full_like": filled(1),
    "copy": converted,
    "copy_rows": converted,
    "array": converted,
    "asarray": converted,
    "reshape": reshaped,
    "ravel": reshaped,
    "flatten": reshaped,
    "expand_dims": reshaped,
    "squeeze": reshaped,
    "broadcast_to": spread,
    "mT": arranged(lambda x, s: np.swapaxes(x, -1, -2)),
    "transpose": arranged(lambda x, s: np.transpose(x, s["axes"])),
    "swapaxes": arranged(lambda x, s: np.swapaxes(x, s["axis1"], s["axis2"])),
    "flip": arranged(lambda x, s: np.flip(x, s["axis"])),
    "diagonal": arranged(lambda x, s: np.diagonal(x, s["offset"], s["axis1"], s["axis2"])),
    "concatenate": joined(np.concatenate),
    "stack": joined(np.stack),
    "extent": counted(lambda x, s: x.shape[s["axis"]]),
    "size": counted(lambda x, s: x.size),
    "ndim": counted(lambda x, s: x.ndim),
}


def formed(op: Call, elements: Elements) -> Parts:
    """The elements of an op's result, 0-d for a number; raises ``Formless``."""
    form = FORMS.get(op.name) or (elementwise if ROWS[op.name].elementwise else None)
    if form is None or len(op.outs) != 1:
        raise Formless
    parts = form(op, elements)
    type_ = op.outs[0].type
    if isinstance(type_, Scalar) and not parts.ndim:
        return mapped(elements.numpy, parts) if type_.dtype not in (None, "any") else parts
    if parts.shape != small_shape(type_):
        raise Formless
    name_elements(parts, op.outs[0].name)
    return parts


def name_elements(parts: Parts, name: str | None) -> None:
    """Name the elements of an array after it: ``y_0``, ``P_01``."""
    for where, one in np.ndenumerate(parts):
        if name is not None and isinstance(one, Value) and one.name is None:
            one.name = f"{name}_{''.join(map(str, where))}"


__all__ = [
    "DTYPES",
    "MOST",
    "Elements",
    "Formless",
    "Parts",
    "formed",
    "mapped",
    "name_elements",
    "single",
    "small_shape",
    "array_of_elements",
]
