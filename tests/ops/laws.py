"""Calls of rows over ranks, extents, dtypes and settings, and whether a row's law says what NumPy makes of each.

``calls`` is generated from the table of rows: operands of every form (a number of Python's or of NumPy's, arrays of rank 0 to 4 with
extents 0, 1 and n), of every dtype, alone and in pairs, along every axis. What NumPy itself does not take is passed over.
By hand are only samples of arguments, where a row takes particular ones (``samples``, and ``PARTICULAR`` here).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from typing import Any

import numpy as np

import symgrad.marks
import symgrad.ops.contracted
import symgrad.ops.rows.cells
import symgrad.ops.rows.complexes
import symgrad.ops.rows.into
import symgrad.ops.rows.kernel
from symgrad.errors import SymgradError
from symgrad.ir.types import DTYPES, UNKNOWN, Array, Dim, List, Scalar, Shape, ShapeOf, Type, Unknown, join_kind, kind_of
from symgrad.ops.declare import ROWS, Row
from symgrad.passes.facts import BORROWED
from tests.ops import trace
from tests.ops.samples import CONSTANT_SAMPLES, SAMPLES
from tests.ops.trace import Node

Call = tuple[str, dict[str, Any]]

DTYPE_NAMES = ("bool", "i8", "u8", "i32", "i64", "u64", "f32", "f64", "c128")
NUMBERS: list[Any] = [True, 2, 1.5, 1.5 + 0.5j]
#: ranks 0 to 4, each extent 0, 1 and n
SHAPES: list[tuple[int, ...]] = [shape for rank in range(5) for shape in product((0, 1, 3), repeat=rank)]
#: of the shapes of two operands all pairs
PAIRED: list[tuple[int, ...]] = [
    (), (0,), (1,), (3,), (1, 1), (1, 3), (3, 1), (3, 3), (0, 3), (3, 0), (2, 3), (1, 3, 3), (2, 3, 3), (2, 1, 3), (2, 1, 3, 3),
]  # fmt: skip
#: of those of three
TRIPLED: list[tuple[int, ...]] = [(), (0,), (1,), (3,), (2, 3), (2, 1, 3)]
AXES: list[Any] = [None, 0, 1, -1, (0, 1), (0, -1), ()]
#: other values of settings than their defaults, for rows of any name
SETTINGS: dict[str, list[Any]] = {
    "axis": AXES, "keepdims": [False, True], "ddof": [0, 1], "k": [0, 1, -2], "decimals": [0, 1], "offset": [0, 1], "endpoint": [True, False],
    "source": [0, -1], "destination": [0, 1], "axis1": [0, 1], "axis2": [1, -1], "dtype": [None, "f32", "i64"], "side": ["left", "right"],
    "depth": [1], "kind": ["float", "int", "bool", "complex"], "array": [False, True], "right": [False, True],
}  # fmt: skip
#: calls that the samples of rows have not, with the operands that are of one form
PARTICULAR: list[Call] = [
    *((f"cast(x, dtype={name!r})", {"x": 1.0}) for name in DTYPE_NAMES),
    *((f"{text}(x)", {"x": 1.0}) for text in "to_array zeros_like copy by_rows copy_rows shape_of real_part imaginary".split()),
    *((f"number(x, kind={kind!r})", {"x": 1.0}) for kind in ("float", "int", "bool", "complex")),
    ("extent(x, axis=0)", {"x": np.ones(2)}), ("zeros_of(shape_of(ix), dtype='f32')", {"ix": np.ones((2, 3))}),
    ("spread(x, shape_of(iy), axis=None, keepdims=False)", {"x": 1.0, "iy": np.ones((2, 3))}),
    ("spread(x, shape_of(iy), axis=0, keepdims=False)", {"x": np.ones(3), "iy": np.ones((2, 3))}),
    ("shape_and(shape_of(ix), 3, 1)", {"ix": np.ones((2, 3))}),
    ("unbroadcast(x, shape_of(iy))", {"x": np.ones((2, 3)), "iy": np.ones(3)}),
    ("unbroadcast(x, shape_of(iy))", {"x": np.ones((2, 3)), "iy": np.float64(1.0)}),
    ("unbroadcast(x, shape_of(iy), array=True)", {"x": np.ones((2, 3)), "iy": np.ones(())}),
    ("array_or_zeros(x, shape_of(iy))", {"x": 0.0, "iy": np.ones((2, 3))}),
    *((f"{name}(x, low, high)", dict.fromkeys(("x", "low", "high"), 1.0)) for name in ("inside", "below", "above")),
    *((f"{name}(x)", {"x": 1.0}) for name in "iscomplexobj ndim matrix_rank unique_places nanargmax nanargmin or_one".split()),
    *((f"{name}(x, y)", {"x": 1.0, "y": 1.0}) for name in ("array_equal", "allclose", "digitize")), ("argpartition(x, 0)", {"x": np.ones(3)}),
    *((f"{name}(4)", {}) for name in "bartlett blackman hanning tril_indices triu_indices diag_indices".split()),
    ("tril_indices_from(x)", {"x": np.ones((3, 3))}), ("reduced_size(shape_of(ix), axis=0)", {"ix": np.ones((2, 3))}),
    ("reduced_size(shape_of(ix))", {"ix": np.ones((2, 3))}), ("kept_places(shape_of(ix), 1)", {"ix": np.ones(3)}),
    ("kaiser_slope(4, 2.0)", {}),
    ("item_place(x, shape_of(iy), 1)", {"x": 1.0, "iy": np.ones(3)}), ("fftfreq(4, 0.5)", {}), ("rfftfreq(4, 0.5)", {}),
    ("take_items_back(x, ii, shape_of(iy))", {"x": np.ones(2), "ii": np.array([0, 2]), "iy": np.ones(3)}),
    ("sum_from_back(x, ii, shape_of(iy))", {"x": np.ones(2), "ii": np.array([0, 2]), "iy": np.ones(3)}),
    ("choose_part(x, ii, iy, iz, at=0)", {"x": np.ones(3), "ii": np.array([0, 1, 0]), "iy": np.ones(3), "iz": np.ones(3)}),
    ("pad_back(x, shape_of(iy), width=1)", {"x": np.ones(5), "iy": np.ones(3)}),
    *((f"{name}_left(x, y, shape_of(iz))", {"x": np.ones((2, 4)), "y": np.ones((3, 4)), "iz": np.ones((2, 3))}) for name in ("matmul", "dot")),
    *((f"{name}_right(x, y, shape_of(iz))", {"x": np.ones((2, 4)), "y": np.ones((2, 3)), "iz": np.ones((3, 4))}) for name in ("matmul", "dot")),
    *((f"{name}_left(x, y, shape_of(iz))", {"x": 1.0, "y": np.ones(3), "iz": np.ones(3)}) for name in ("matmul", "dot")),
    *((f"middle_share(x, axis={axis})", {"x": np.ones((2, 3))}) for axis in (None, 0)), ("counted(x, iw)", {"x": np.ones(3), "iw": np.arange(3) > 0}),
    *((f"{name}(x, iw)", {"x": np.ones(3), "iw": np.arange(3) > 0}) for name in ("masked", "filled")), ("counted(x, None)", {"x": np.ones(3)}),
    *((f"{name}(x, None)", {"x": np.ones(3)}) for name in ("masked", "filled")), ("counted(x, None, axis=0)", {"x": np.ones((2, 3))}),
    ("extreme_share(x, iout)", {"x": np.ones(3), "iout": np.float64(1.0)}), ("running_places(x, iout)", {"x": np.ones(3), "iout": np.ones(3)}),
    ("extreme_share_of(x, iout, iw, None)", {"x": np.ones(3), "iout": np.float64(1.0), "iw": np.arange(3) > 0}),
    ("initial_share(x, iout, None, y)", {"x": np.ones(3), "iout": np.float64(1.0), "y": 1.0}),
    *((f"fourier(x, kind={kind!r})", {"x": 1.0}) for kind in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")),
    *((f"fourier(x, 4, kind={kind!r})", {"x": np.ones(3)}) for kind in ("fft", "rfft", "irfft")),
    ("fourier(x, kind='fftn', axes=(0, 1))", {"x": np.ones((2, 3))}), ("fftshift(x)", {"x": 1.0}), ("ifftshift(x)", {"x": 1.0}),
    ("fourier_back(x, shape_of(iy), kind='fft')", {"x": np.ones(3), "iy": np.ones(3)}),
    ("fourier_back(x, shape_of(iy), kind='rfft')", {"x": np.ones(3), "iy": np.ones(4)}),
]  # fmt: skip
#: rows that take no values of NumPy's, or whose text is no expression; each is held to its law where it is used
APART: dict[str, str] = {
    "tapes and lists": """table_take table_set table_add_at
        tape push pop put get slots slots_like next_snapshot snapshots_within
        list_of list_append list_drop list_take list_set list_add_at list_add list_zeros
        list_len list_index is_float contains_row row_index order_of list_from list_join list_slice list_add_slice python_numbers array_of concatenate_list split_like stack_list unstack
        list_repeat list_fold list_unfold
        split array_split range_len list_of_same list_part lists_from lengths_of numbers_of list_equal list_within to_list zeros_list array_of_cells array_of_lists
        cell1 cell2 cell3
        tape_extend tape_part tape_cut""",
    "printed only": "contract broadcast_shape inner_product split_ties lies_by_rows",
    "index paths, held to NumPy in test_index_laws": "view take take_written set_at add_at add_written accumulate scatter_add",
    "of the engine: no value of NumPy's": """opaque opaque_pure opaque_attribute generator drawn touched may_share stop_gradient barrier label probe
        as_written written cut check check_real check_result check_count raise_error evaluated bail_out literal_text format_text format_percent refuse custom
        on_backward seen_backward in_form is_array held custom_backward no_slope singular_vectors eig""",
    "what solvers of SciPy give": """solver solved implicit implicit_backward attained attained_backward integral integral_backward trajectory trajectory_backward
        states_reached weighted_sensitivity weighted_sensitivity_backward convergence integrated reached""",
    "of SciPy: an import of more": "expm expm_frechet triangle",
    "splines, held to SciPy in test_interpolants": """interpolant interpolant_at interpolant_slope interpolant_columns slope_of_columns
        splev splev_slope bisplev bisplev_slope""",
    "of complex matrices, tried in test_complex and test_eigenvalues": "unphased hermitian varied shares scattered unphased_tangent",
    "of kernels, which numba compiles": """plus larger smaller product_into add_product inverse_into cofactors_into solution_into product_at1 product_at2
        product_at3 triangular_into convolution_into correlation_into order_into sorted_into middle_into digamma_of trigamma_of determinant
        snapshot_after count_within orders_of factorial_of choices_of root_of
        new_empty new_zeros seeds shape_part shape_from check_index check_equal check_single check_plural check_less check_at_least""",
    "Python's own, of anything": """not_ both either is_ is_not contains not_contains factorial comb perm isqrt ulp rounded complex_of math_log fsum
        failure is_failure is_instance""",
}  # fmt: skip


# ------------------------------------------------------------------ operands


@cache
def values(shape: tuple[int, ...], dtype: str, salt: int = 0, wide: bool = False) -> Any:
    """An array of numbers of a dtype, away from zero, of which few are equal; ``wide``: integers whose products wrap if they are narrow."""
    array = 0.4 + np.arange(1 + salt, 1 + salt + int(np.prod(shape, dtype=int))) * 0.37 % 1.7
    if dtype == "bool":
        array = array > 1.0
    elif kind_of(dtype) == "int":
        array = 1 + np.floor(3 * array) % 4 + (90 if wide else 0)
    elif kind_of(dtype) == "complex":
        array = array + 0.3j
    return array.reshape(shape).astype(np.dtype(DTYPES[dtype]))


@cache
def forms(salt: int) -> tuple[Any, ...]:
    """Numbers of Python's and of NumPy's, arrays without axes and with one, of every dtype."""
    samples: list[Any] = list(NUMBERS)
    for name in DTYPE_NAMES:
        samples += [values((), name, salt)[()], values((), name, salt), values((3,), name, salt)]
    return tuple(samples)


def few_forms(salt: int) -> list[Any]:
    """The same of fewer dtypes, for three operands at once."""
    kept = [True, 2, 1.5]
    for name in ("bool", "i32", "f32", "f64"):
        kept += [values((), name, salt)[()], values((), name, salt), values((3,), name, salt)]
    return kept


# ------------------------------------------------------------------ calls


def names_in(text: str) -> list[str]:
    """The variables of a call, in order."""
    tree = ast.parse(text, mode="eval")
    functions = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in functions]
    return list(dict.fromkeys(names))


def with_settings(row: Row, text: str) -> Iterator[str]:
    """The call with each of its settings otherwise, one at a time, and ``axis`` together with ``keepdims``."""
    yield text
    if "=" in text or not text.endswith(")"):
        return
    said = [s for s in row.settings if s in SETTINGS]
    for setting in said:
        for value in SETTINGS[setting]:
            if setting == "axis" and "keepdims" in row.settings:
                yield f"{text[:-1]}, axis={value!r}, keepdims=True)"
            yield f"{text[:-1]}, {setting}={value!r})"


def templates() -> Iterator[Call]:
    """A call of each row, with arguments that it takes."""
    for row in list(ROWS.values()):
        if row.elementwise and not row.name.startswith(("vector_", "user_")) and row.name not in SPECIAL_ARGUMENTS:
            yield f"{row.name}({', '.join(row.params)})", dict.fromkeys(row.params, 1.0)
            for via in ("numpy", "math"):
                if "via" in row.settings and (via != "math" or row.math):
                    yield f"{row.name}({', '.join(row.params)}, via={via!r})", dict.fromkeys(row.params, 1.0)
    yield from SAMPLES
    yield from CONSTANT_SAMPLES
    yield from PARTICULAR


#: rows applied element by element whose operands are not all numbers of any kind
SPECIAL_ARGUMENTS = frozenset({"clip", "polygamma", "bessel_i", "sinc_slope", "erfcx_slope", "dawsn_slope", "gammainc_slope", "betainc_slope", "tails_slope",
                               "slope_power", "ratio"})  # fmt: skip


def varied(text: str, sample: dict[str, Any]) -> list[str]:
    """The variables of a call whose values may be of any shape and dtype."""
    return [n for n in names_in(text) if not n.startswith("i") and np.asarray(sample[n]).dtype.kind in "fc"]


#: rows of cotangents, which are floats or complex numbers, and rows that stand for others where an operand is complex
OF_COTANGENTS = re.compile(r"\w+_(back|place|part|part\d|left|right|before|after)|spread|unbroadcast|array_or_zeros|masked")
#: rows of what was made of floating matrices
OF_MATRICES = frozenset({"half_tril", "symmetric", "gaps", "cofactors"})
OF_COMPLEX = frozenset(
    """modulus squared_modulus conj unit_conjugate inverse_modulus imaginary complex_power complex_log complex_arccosh
    complex_gamma complex_digamma complex_polygamma wofz_slope lambertw wofz hankel1 hankel2""".split()
)
#: rows of the exponents and bases of powers, and of functions of real numbers
OF_EXPONENTS = frozenset({"lowered", "log_of_base", "slope_power"})
OF_REAL = frozenset({"erf", "erfc", "gamma", "lgamma", "digamma", "polygamma", "bessel_i", "sinc_slope", "erfcx_slope", "dawsn_slope",
                     "gammainc_slope", "betainc_slope", "tails_slope"})  # fmt: skip


def takes(name: str, text: str, operands: list[Any]) -> bool:
    """Are operands of these kinds given to the row?"""
    if name == "part_of_bound":
        return np.ndim(operands[0]) == 1  # the cotangent of a range
    if name in ("maximum", "minimum"):
        return "math" not in text or not any(isinstance(x, np.ndarray) for x in operands)  # of arrays the frontend makes a choice
    if name.endswith(("_before", "_after")) and any(isinstance(x, float) for x in operands):
        return False
    if OF_COTANGENTS.fullmatch(name):
        return all(isinstance(x, np.ndarray | np.generic | float) and np.asarray(x).dtype.kind in "fc" for x in operands)
    if name in OF_MATRICES:
        return np.asarray(operands[0]).dtype.kind in "fc" and (name == "gaps" or len(set(np.shape(operands[0])[-2:])) == 1)
    if name == "power" and "-1" in text:
        return not all(type(x) in (int, bool) for x in operands)  # made floats before
    if name in OF_REAL:
        return not any(np.asarray(x).dtype.kind == "c" for x in operands)
    if name in ("lfilter", "lfilter_back"):
        return np.result_type(*map(np.atleast_1d, operands)) in (np.float32, np.float64)  # SciPy filters no others
    if name in OF_EXPONENTS:
        return not any(np.asarray(x).dtype.kind == "b" for x in operands)
    if name == "diag_indices_from":
        return np.ndim(operands[0]) == 2
    return name not in OF_COMPLEX or any(np.asarray(x).dtype.kind == "c" for x in operands)


def every_form(text: str, sample: dict[str, Any]) -> Iterator[Call]:
    """A call with its operands of every form."""
    free = varied(text, sample)
    bound = "shape_of" in text or any(n.startswith("i") for n in sample)
    if bound:
        for dtype in DTYPE_NAMES:
            kept = {
                n: values(np.shape(v), dtype, k) if isinstance(v, np.ndarray) and n in free else v
                for k, (n, v) in enumerate(sample.items())
            }
            yield text, kept
        return
    if len(free) == 1:
        own = free[0]
        for shape in SHAPES:
            yield text, {**sample, own: values(shape, "f64")}
        for form in forms(0):
            yield text, {**sample, own: form}
        for dtype in DTYPE_NAMES:
            for shape in ((0,), (1, 3), (3, 3), (2, 3, 3)):
                yield text, {**sample, own: values(shape, dtype)}
    elif len(free) == 2:
        for pair in product(PAIRED, repeat=2):
            yield text, {**sample, **{n: values(s, "f64", k) for k, (n, s) in enumerate(zip(free, pair, strict=True))}}
        for some in product(forms(0), forms(1)):
            yield text, {**sample, **dict(zip(free, some, strict=True))}
        for one, other in product(DTYPE_NAMES, repeat=2):
            yield text, {**sample, free[0]: values((3, 3), one), free[1]: values((3, 3), other, 1)}
    elif len(free) == 3:
        for triple in product(TRIPLED, repeat=3):
            yield text, {**sample, **{n: values(s, "f64", k) for k, (n, s) in enumerate(zip(free, triple, strict=True))}}
        for many in product(few_forms(0), few_forms(1), few_forms(2)):
            yield text, {**sample, **dict(zip(free, many, strict=True))}
    else:
        yield text, sample


@cache
def texts() -> dict[str, list[Call]]:
    """The calls of each row, by its name, with their settings and a sample of their arguments; each once."""
    calls_by_text: dict[str, list[Call]] = {}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for text, sample in templates():
        name = text.partition("(")[0]
        bound = "shape_of" in text or any(n.startswith("i") for n in sample)
        for whole in [text] if bound else with_settings(ROWS[name], text):
            shapes = "shape_of" in whole or any(n.startswith("i") for n in sample)
            key = (whole, tuple(f"{n}{np.shape(v) if shapes else ''}" for n, v in sample.items()))
            if key not in seen:
                seen.add(key)
                calls_by_text.setdefault(name, []).append((whole, sample))
    return calls_by_text


def calls(name: str, step: int = 1) -> Iterator[Call]:
    """All calls of a row, or one in so many of each text."""
    for k, (text, sample) in enumerate(texts()[name]):
        free = varied(text, sample)
        for whole, args in islice(every_form(text, sample), k % step if free else 0, None, step):
            if takes(name, text, [args[n] for n in free]):
                yield whole, args


def untried() -> list[str]:
    """Rows that are neither called nor named as apart."""
    named = {name for names in APART.values() for name in names.split()}
    return [
        name for name, row in ROWS.items()
        if name not in named and name not in texts() and not row.statement and not name.startswith(("vector_", "user_", "einsum"))
        and not name.endswith("_into")
    ]  # fmt: skip


# ------------------------------------------------------------------ what is known of operands


def exactly(x: Any) -> Type:
    """All that a value is."""
    return trace.type_of(x)


def by_symbols(x: Any) -> Type:
    """Extents of 2 and more are symbols that are known not to be 1, as a guard tells them apart."""
    type_ = trace.type_of(x)
    if isinstance(type_, Array | ShapeOf) and type_.shape is not None:
        shape: Shape = tuple(e if not isinstance(e, int) or e < 2 else Dim(f"n{e}", 0, True) for e in type_.shape)
        return Array(type_.dtype, shape) if isinstance(type_, Array) else ShapeOf(shape)
    return type_


def by_open_symbols(x: Any) -> Type:
    """Every extent is a symbol of which nothing is known."""
    type_ = trace.type_of(x)
    if isinstance(type_, Array | ShapeOf) and type_.shape is not None:
        shape: Shape = tuple(Dim(f"n{e}") for e in type_.shape)
        return Array(type_.dtype, shape) if isinstance(type_, Array) else ShapeOf(shape)
    return type_


def by_rank(x: Any) -> Type:
    """The dtype is not known, nor whether a number is Python's or NumPy's."""
    type_ = by_symbols(x)
    if isinstance(type_, Scalar):
        return Scalar(type_.kind, "any")
    return Array(None, type_.shape) if isinstance(type_, Array) else type_


def by_dtype(x: Any) -> Type:
    """The rank is not known."""
    type_ = trace.type_of(x)
    return Array(type_.dtype, None) if isinstance(type_, Array) else type_


def by_nothing(x: Any) -> Type:
    """Nothing is known of arrays."""
    type_ = trace.type_of(x)
    return Array(None, None) if isinstance(type_, Array) else UNKNOWN if isinstance(type_, Scalar) else type_


VIEWS = (exactly, by_symbols, by_open_symbols, by_rank, by_dtype, by_nothing)


# ------------------------------------------------------------------ comparing


def number_of(extent: Any) -> int | None:
    """The number that an extent stands for, the symbol ``n3`` being 3; None where that is not said."""
    if isinstance(extent, int):
        return extent
    if not re.fullmatch(r"[n\d*+()\- ]+", extent.symbol):
        return None
    return max(int(eval(extent.symbol, {f"n{k}": k for k in range(10)})) + extent.offset, 0)


def differs(said: Type, value: Any, exact: bool = True) -> str | None:
    """How a value is not what its type says; None where it is. Not ``exact``: a number that may be one of several kinds has the widest."""
    real = trace.type_of(value)
    if isinstance(said, Unknown):
        return None
    if isinstance(said, Array):
        if said.shape is None and isinstance(real, Scalar):  # what has no known rank may be a number
            return f"dtype {said.dtype} is said, {real} comes" if said.dtype is not None and real.dtype not in (None, said.dtype) else None
        if not isinstance(value, np.ndarray):
            return f"an array is said, {type(value).__name__} comes"
        assert isinstance(real, Array)
        if said.dtype not in (None, real.dtype):
            return f"dtype {said.dtype} is said, {real.dtype} comes"
        if said.shape is None:
            return None
        if len(said.shape) != value.ndim:
            return f"rank {len(said.shape)} is said, {value.ndim} comes"
        for e, n in zip(said.shape, value.shape, strict=True):
            if number_of(e) not in (None, n) or isinstance(e, Dim) and e.plural and n == 1:
                return f"shape {tuple(map(str, said.shape))} is said, {value.shape} comes"
        flags = value.flags
        if said.layout in ("C", "CF") and not flags.c_contiguous or said.layout in ("F", "CF") and not flags.f_contiguous:
            return f"layout {said.layout} is said, and is not so"
        return None
    if isinstance(said, Scalar):
        if not isinstance(real, Scalar):
            return f"a number is said, {type(value).__name__} comes"
        upto = (
            said.dtype in ("any", None) and not exact and join_kind(said.kind, real.kind) == said.kind
        )  # what may be either is said to be the wider
        if not upto and (real.kind != said.kind or said.dtype not in ("any", real.dtype)):
            return f"{said} is said, {real} comes"
        return None
    if isinstance(said, ShapeOf):
        known = said.shape is None or len(said.shape) == len(value) and all(number_of(e) in (None, n) for e, n in zip(said.shape, value))
        return None if known else f"{said} is said, {value} comes"
    return None if isinstance(said, List) and isinstance(value, list | tuple) else f"{said} is said, {type(value).__name__} comes"


def borrows(row: Row, operands: list[Any], results: list[Any]) -> str | None:
    """How the memory of what a row gives is not its own, as the row says it is; None where it is, or the row says no such thing."""
    if row.alias != "fresh" or row.consumes or row.name in BORROWED:
        return None
    for value in results:
        if isinstance(value, np.ndarray) and value.size:
            if any(isinstance(a, np.ndarray) and np.shares_memory(value, a) for a in operands):
                return "memory of its own is said, it is that of an operand"
            if not value.flags.writeable or any(
                not stride and extent > 1 for stride, extent in zip(value.strides, value.shape, strict=True)
            ):
                return "memory of its own is said, it cannot be written to"
    return None


@dataclass(frozen=True)
class Difference:
    """A law that says something else than NumPy does."""

    text: str
    operands: str
    view: str
    how: str

    def __str__(self) -> str:
        return f"{self.text} of {self.operands} ({self.view}): {self.how}"


assert symgrad.marks
assert (
    symgrad.ops.rows.cells and symgrad.ops.rows.complexes and symgrad.ops.contracted and symgrad.ops.rows.into and symgrad.ops.rows.kernel
)  # for their rows

#: rows that are refused where the rank is not known
DOMAINS = frozenset({"diag_indices_from"})
#: rows that hand back one of their operands, so that of numbers of two kinds they are said to give the wider
CHOOSING = frozenset({"maximum", "minimum", "where"})

#: what NumPy, or Python, raises for operands that it does not take
NOT_TAKEN = (TypeError, ValueError, ArithmeticError, AttributeError, IndexError, np.linalg.LinAlgError, AssertionError)


def compared(text: str, args: dict[str, Any]) -> list[Difference] | None:
    """How the law of a row and NumPy differ on one call, whatever is known of the operands; None where NumPy does not take it."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            node = trace.call(text, **{k: Node(v) for k, v in args.items()})
    except NOT_TAKEN:
        return None
    assert node.row is not None
    operands = [trace.plain(a) for a in node.args]
    differences: list[Difference] = []
    shown = ", ".join(str(trace.type_of(v)) for v in operands)
    if (how := borrows(node.row, operands, [o.value for o in node.outs])) is not None:
        differences.append(Difference(text, shown, "memory", how))
    for view in VIEWS:
        types = [view(v) for v in operands]
        try:
            type_ = node.row.law(types, node.settings, lambda k: operands[k] if isinstance(operands[k], int) else Dim("?"))
        except SymgradError as error:
            if node.row.name in DOMAINS and view in (by_dtype, by_nothing):
                continue
            differences.append(Difference(text, shown, view.__name__, f"refused: {error}".splitlines()[0]))
            continue
        except Exception as error:
            differences.append(Difference(text, shown, view.__name__, f"{type(error).__name__}: {error}"))
            continue
        said = type_ if isinstance(type_, tuple) else (type_,)
        if len(said) != len(node.outs):
            differences.append(Difference(text, shown, view.__name__, f"{len(said)} results are said, {len(node.outs)} come"))
        for one, out in zip(said, node.outs, strict=False):
            if (how := differs(one, out.value, node.row.name not in CHOOSING and view is exactly)) is not None:
                differences.append(Difference(text, shown, view.__name__, how))
    return differences
