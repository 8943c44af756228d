"""Shape laws: from the types of operands to the type of the result, for elementwise functions, reductions, changes of shape.

The result dtype is never derived here: NumPy computes it, on samples of one element, and the result is cached.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any, Literal

import numpy as np

from symgrad.ir.types import (
    BOOL,
    DTYPES,
    FLOAT,
    INT,
    KINDS,
    UNKNOWN,
    Array,
    Dim,
    Extent,
    Kind,
    Layout,
    Object,
    Scalar,
    Shape,
    ShapeOf,
    Type,
    join_kind,
    kind_of,
    same_shape,
)
from symgrad.ops.declare import Law
from symgrad.ops.indexing import Extents, broadcast

#: the kind of a sample: a Python number of a kind, or a NumPy scalar, an array without axes, or another array of a dtype
Sample = tuple[Literal["python", "numpy", "point", "array"], str]
#: a Python number, an array without axes, or another result of NumPy's, with its dtype
Outcome = tuple[Literal["python", "numpy", "point"], str]
Result = Type | tuple[Type, ...]

CODES = {np.dtype(code): name for name, code in DTYPES.items()}
PYTHON = {"bool": True, "int": 1, "float": 1.0, "complex": 1.0 + 0.0j}
#: the NumPy scalars that ``Scalar(kind, "any")`` may be; with uint64, which makes floats of other integers, a type is unknown
OF_KIND: dict[str, list[str]] = {kind: [name for name in DTYPES if kind_of(name) == kind and name != "u64"] for kind in KINDS}
DEFAULT_DTYPE = {"bool": "bool", "int": "i64", "float": "f64", "complex": "c128"}
MOST_SAMPLES = 250


def dtype_name(dtype: Any) -> str | None:
    """The name of a NumPy dtype in the IR, or None if it has none.

    >>> dtype_name(np.float32), dtype_name(bool), dtype_name("U3")
    ('f32', 'bool', None)
    """
    return CODES.get(np.dtype(dtype).newbyteorder("=")) if np.dtype(dtype).isnative else None


def scalar_of(dtype: str | None) -> Type:
    """Return the type of a NumPy scalar of a dtype; unknown without a dtype."""
    return UNKNOWN if dtype is None else Scalar(kind_of(dtype), dtype)


def array_or_scalar(dtype: str | None, shape: Shape | None, layout: Layout = "?") -> Type:
    """Return the result type of a NumPy function that converts rank 0 to a scalar."""
    return scalar_of(dtype) if shape == () else Array(dtype, shape, layout)


# ------------------------------------------------------------------ dtypes


def _sample(of: Sample, half: bool) -> Any:
    where, name = of
    if where == "python":
        return 0.5 * PYTHON[name] if half and name in ("float", "complex") else PYTHON[name]
    one = np.ones(1, np.dtype(DTYPES[name]))
    return one if where == "array" else one.reshape(()) if where == "point" else one[0]


@cache
def outcome(function: Callable[..., Any], samples: tuple[Sample, ...]) -> Outcome | None:
    """The outcome of ``function`` for such operands; None if it raises or returns no number."""
    result: Any = None
    for half in (False, True):  # math.atanh(1.0) raises, and so does math.acosh(0.5)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = function(*(_sample(s, half) for s in samples))
            break
        except (TypeError, ValueError, ArithmeticError, AttributeError):
            continue
    if isinstance(result, np.generic | np.ndarray):
        name = dtype_name(result.dtype)
        return None if name is None else ("point" if isinstance(result, np.ndarray) and result.ndim == 0 else "numpy", name)
    return ("python", type(result).__name__) if type(result).__name__ in PYTHON else None


def samples_of(of: Type) -> tuple[Sample, ...]:
    """All that a value of this type may be, as samples."""
    match of:
        case Scalar(kind=kind, dtype=None):
            return (("python", kind),)
        case Scalar(kind=kind, dtype="any"):
            return (("python", kind), *[("numpy", name) for name in OF_KIND[kind]])
        case Scalar(dtype=str() as name):
            return (("numpy", name),)
        case Array(dtype=dtype, shape=shape):
            return tuple([("point" if shape == () else "array", name) for name in (DTYPES if dtype is None else (dtype,))])
    return ()


def outcomes(function: Callable[..., Any], types: Sequence[Type]) -> tuple[Outcome, ...]:
    """Return all possible results of ``function`` on samples of these types; empty if unknown."""
    return outcomes_of(function, tuple(map(samples_of, types)))


@cache
def outcomes_of(function: Callable[..., Any], choices: tuple[tuple[Sample, ...], ...]) -> tuple[Outcome, ...]:
    """All outcomes that ``function`` may have for operands chosen from samples."""
    if math.prod(map(len, choices)) > MOST_SAMPLES:
        return ()
    possible = {outcome(function, some) for some in product(*choices)} - {None}
    return tuple(sorted(o for o in possible if o is not None))


def number_type(function: Callable[..., Any], types: Sequence[Type]) -> Type:
    """The type of the result of ``function`` for numbers."""
    possible = outcomes(function, types)
    if not possible:
        return UNKNOWN
    if len(possible) == 1:
        where, name = possible[0]
        if where == "point":
            return Array(name, ())
        return Scalar(name) if where == "python" else scalar_of(name)  # type: ignore[arg-type]
    if any(where == "point" for where, _ in possible):
        return UNKNOWN
    kind: Kind = "bool"
    for where, name in possible:
        kind = join_kind(kind, name if where == "python" else kind_of(name))  # type: ignore[arg-type]
    if kind == "int" and any(name == "u64" for _, name in possible):
        return UNKNOWN
    return Scalar(kind, "any" if any(where == "numpy" for where, _ in possible) else None)


def array_dtype(function: Callable[..., Any], types: Sequence[Type]) -> str | None:
    """Return the dtype of the array that ``function`` returns if one operand is an array."""
    dtypes = {name for where, name in outcomes(function, types)}
    return dtypes.pop() if len(dtypes) == 1 else None


def dtype_of(of: Type, otherwise: str | None = None) -> str | None:
    """The dtype that an operand has as an array."""
    match of:
        case Array(dtype=dtype) | Scalar(dtype=str() as dtype) if dtype != "any":
            return dtype
        case Scalar(kind=kind, dtype=None):
            return DEFAULT_DTYPE[kind]
    return otherwise


def of_numpy(of: Type) -> Type:
    """A complex number that may be of Python or of NumPy, as one of NumPy: its arrays are known to be complex."""
    return Scalar("complex", "c128") if isinstance(of, Scalar) and (of.kind, of.dtype) == ("complex", "any") else of


def joined_dtype(types: list[Type]) -> str | None:
    """The dtype of arrays joined to one."""
    numbers = [t if isinstance(t, Array) else scalar_of(dtype_of(t)) for t in types]
    dtype = dtype_of(types[0])
    for t in numbers[1:]:
        dtype = (
            array_dtype(np.add, [Array(dtype, (1,)), t if isinstance(t, Array) else Array(dtype_of(t), (1,))])
            if dtype and t.is_number
            else None
        )
    return dtype


def shape_of(of: Type) -> Shape | None:
    """The shape that an operand has as an array; None if its rank is not known."""
    match of:
        case Array(shape=shape):
            return shape
        case Scalar():
            return ()
    return None


def rank_of(of: Type) -> int | None:
    """The rank of an operand, 0 for a number, None if not known."""
    shape = shape_of(of)
    return None if shape is None else len(shape)


# ------------------------------------------------------------------ element by element


def elementwise_law(choose: Callable[[dict[str, Any]], Callable[..., Any]]) -> Law:
    """The law of an elementwise function; ``choose`` returns the function for the settings."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
        if not all(t.is_number for t in types):
            return Array(None, None) if any(isinstance(t, Array) and t.shape != () for t in types) else UNKNOWN
        function = choose(settings)
        if all(isinstance(t, Scalar) for t in types):
            return number_type(function, types)
        possible = outcomes(function, types)
        if possible and all(where == "python" for where, _ in possible):
            return number_type(function, types)
        if possible and all(where == "point" for where, _ in possible):
            return Array(array_dtype(function, types), ())
        return array_or_scalar(array_dtype(function, types), broadcast([shape_of(t) for t in types]), fresh_layout(types))

    return law


def fresh_layout(types: Sequence[Type]) -> Layout:
    """The layout of a new array that NumPy lays out like its operands."""
    arrays = [t for t in types if isinstance(t, Array) and t.shape != ()]
    wide = [a for a in arrays if a.rank != 1]
    if arrays and all(a.layout in ("C", "CF") for a in wide):
        return "C"
    same = all(a.layout == "F" and same_shape(a.shape, arrays[0].shape) for a in arrays)
    return "F" if arrays and same else "?"


def kept_layout(of: Type) -> Layout:
    """Return the layout of a copy that preserves the memory order.

    >>> kept_layout(Array("f64", (2, 2), "F")), kept_layout(Array("f64", (2, 2), "N"))
    ('F', '?')
    """
    return of.layout if isinstance(of, Array) and of.layout in ("C", "F", "CF") else "?"


# ------------------------------------------------------------------ axes


def axes_of(axis: Any, rank: int) -> tuple[int, ...] | None:
    """The axes that ``axis`` names, none negative; None if they do not fit the rank.

    >>> axes_of(-1, 3), axes_of(None, 2), axes_of((0, -1), 3), axes_of(2, 2)
    ((2,), (0, 1), (0, 2), None)
    """
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    if not all(isinstance(a, int) and -rank <= a < rank for a in axes):
        return None
    return tuple(a % rank for a in axes)


def reduced(shape: Shape | None, axis: Any, keepdims: bool) -> Shape | None:
    """The shape left by a reduction."""
    if shape is None:
        return () if axis is None and not keepdims else None
    if shape == () and axis in (0, -1):  # NumPy takes a number for a vector of one
        return ()
    axes = axes_of(axis, len(shape))
    if axes is None:
        return None
    if keepdims:
        return tuple(1 if k in axes else e for k, e in enumerate(shape))
    return tuple(e for k, e in enumerate(shape) if k not in axes)


def reduction_law(function: Callable[..., Any]) -> Law:
    """The law of a reduction with settings ``axis`` and ``keepdims``; ``function`` reduces a sample."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
        if not types[0].is_number:
            return UNKNOWN
        shape = reduced(shape_of(types[0]), settings.get("axis"), bool(settings.get("keepdims")))
        if isinstance(types[0], Scalar) and types[0].dtype == "any" and shape == ():
            return number_type(function, types)
        return array_or_scalar(array_dtype(function, types), shape, "C" if shape is not None and len(shape) == 1 else "?")

    return law


def same_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The result is as the first operand."""
    return types[0]


def second_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The result is as the second operand."""
    return types[1]


def nothing_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    """There is no result."""
    return ()


def as_array(of: Type) -> Type:
    """Return the type of an operand converted to an array."""
    return Array(dtype_of(of), shape_of(of)) if of.is_number else Array(None, None)


def int_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """A Python int."""
    return INT


def bool_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """A Python bool."""
    return BOOL


def float_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """A Python float."""
    return FLOAT


# ------------------------------------------------------------------ shapes as operands


def given_shape(types: Sequence[Type], dim: Extents, start: int = 0) -> Shape | None:
    """Return the shape given by the operands from ``start`` on: integers, or one shape."""
    rest = list(types[start:])
    if len(rest) == 1 and isinstance(rest[0], ShapeOf):
        return rest[0].shape
    extents: list[Extent] = []
    for k, t in enumerate(rest, start):
        if not (isinstance(t, Scalar) and t.kind == "int"):
            return None
        extent = dim(k)
        extents.append(extent if isinstance(extent, int) or extent.symbol != "?" else Dim("?"))
    return tuple(extents)


def is_none(of: Type) -> bool:
    """Whether the operand is the literal None."""
    return isinstance(of, Object) and of.name == "None"
