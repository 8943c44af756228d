"""table: ops of numba kernels only: reductions in any order, and checks.

A failed check raises, for any reason; the function then runs again on the NumPy target, which raises properly or continues.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import BOOL, INT, UNKNOWN, Array, List, Scalar, ShapeOf, Type, kind_of
from symgrad.ops.declare import RUNTIME, constant
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.elementwise import evaluator
from symgrad.ops.shapes import elementwise_law, given_shape, int_law, nothing_law, scalar_of


def _shape_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return ShapeOf(tuple(dim(k) for k in range(len(types))))


def _lists_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = types[1].dtype if isinstance(types[1], Array) else None
    return UNKNOWN if dtype is None else List(List(Scalar(kind_of(dtype))))


def _new_text(name: str, rank: int, dtype: str) -> str:
    shape = "shape" if rank == 1 else "(*shape,)"
    return f"{name}({shape})" if dtype == "f64" else f"{name}({shape}, dtype)"


# a sum whose terms may be added in any order, so that it runs in vector registers
constant("plus(x, y)", elementwise_law(lambda s: evaluator(("x", "y"), "x + y")), emit=RUNTIME, cheap=True)
for _name in ("larger", "smaller"):
    constant(f"{_name}(x, y)", elementwise_law(lambda s: evaluator(("x", "y"), "np.maximum(x, y)")), emit=f"{_name}(x, y)", cheap=True)
#: functions of one number and of two in ``runtime/vector.py`` and ``runtime/circular.py``
for _name in (
    "arctan",
    "cbrt",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "sin",
    "sinh",
    "tan",
    "tanh",
):
    constant(f"vector_{_name}(x)", elementwise_law(lambda s: evaluator(("x",), "np.sin(x)")), emit=f"vector_{_name}(x)")
for _name in ("arctan2", "power"):
    constant(f"vector_{_name}(x, y)", elementwise_law(lambda s: evaluator(("x", "y"), "np.arctan2(x, y)")), emit=f"vector_{_name}(x, y)")


# ``bases``: the arrays that the operands are views of
for _given in (
    "product_into(out, a, b",
    "add_product(out, a, b",
    "inverse_into(out, a",
    "cofactors_into(out, a",
    "solution_into(out, a, b",
):
    constant(f"{_given}, *bases)", lambda types, settings, dim: types[0], emit=f"{_given})", consumes=True)
# the same for one matrix of a stack
for _places in ("i", "i, j", "i, j, k"):
    constant(
        f"product_at{_places.count(',') + 1}(out, a, b, {_places}, *bases)",
        lambda types, settings, dim: types[0],
        emit=f"product_into(out[{_places}], a, b)",
        consumes=True,
    )
constant(
    "triangular_into(out, a, b, lower, turned, *bases)",
    lambda types, settings, dim: types[0],
    emit="triangular_into(out, a, b, lower, turned)",
    consumes=True,
)
for _name in ("convolution_into", "correlation_into"):
    constant(f"{_name}(out, a, v)", lambda types, settings, dim: types[0], emit=f"{_name}(out, a, v)", consumes=True)
for _name in ("order_into", "sorted_into", "middle_into"):
    constant(f"{_name}(out, x)", lambda types, settings, dim: types[0], emit=f"{_name}(out, x)", consumes=True)
constant("digamma_of(x)", lambda types, settings, dim: scalar_of("f64"), emit=RUNTIME)
constant("trigamma_of(x)", lambda types, settings, dim: scalar_of("f64"), emit=RUNTIME)
for _text in ("orders_of(n, k)", "factorial_of(n)", "choices_of(n, k)", "root_of(n)"):
    constant(_text, int_law, emit=_text)
constant("snapshot_after(start, stop, free)", lambda types, settings, dim: INT, emit=RUNTIME)
constant("count_within(memory, loops, size)", lambda types, settings, dim: INT, emit=RUNTIME)
constant("determinant(a)", lambda types, settings, dim: scalar_of("f64"), emit=RUNTIME)

# new arrays, known to overlap nothing
for _name in ("new_empty", "new_zeros"):
    constant(
        f'{_name}(*shape, dtype="f64")',
        lambda types, settings, dim: Array(settings["dtype"], given_shape(types, dim), "C"),
        emit=lambda settings, types, name=_name: _new_text(name, len(types), settings["dtype"]),
    )

# variables for arrays before their creation
constant("list_of_same(item, count)", lambda types, settings, dim: List(types[0]), emit="[item] * count")

# the last entries of a tape are those of an inner one
constant("tape_extend(tape, other)", lambda types, settings, dim: types[0], emit="tape.extend(other)", consumes=True)
constant("tape_part(tape, count)", lambda types, settings, dim: types[0], emit="tape[slice(len(tape) - count, None)]")
constant("tape_cut(tape, count)", lambda types, settings, dim: types[0], emit="del tape[slice(len(tape) - count, None)]", consumes=True)

# comparisons of texts and sets, which kernels hold as lists
constant("list_equal(a, b)", lambda types, settings, dim: BOOL, emit="a == b")
constant("list_within(a, b)", lambda types, settings, dim: BOOL, emit="all(item in b for item in a)")
constant("list_part(l, start, stop)", lambda types, settings, dim: types[0], emit="l[slice(start, stop)]")

# lists of lists, which cross between Python and a kernel as the lengths of the lists and the numbers in all of them
constant("lists_from(lengths, numbers)", _lists_law, emit=RUNTIME)
constant("lengths_of(l)", lambda types, settings, dim: Array("i64", (dim(0),), "C"), emit=RUNTIME)
constant("numbers_of(l, dtype='f64')", lambda types, settings, dim: Array(settings["dtype"], (dim(0),), "C"), emit="numbers_of(l)")

# the point at which a pullback returns the results and receives the seeds
constant("seeds(*results)", lambda types, settings, dim: tuple(types), emit=RUNTIME, effect=True)

# shapes passed in and out
constant("shape_part(shape, axis=0)", int_law, emit="shape[axis]", cheap=True)
constant("shape_from(*extents)", _shape_law, emit="(*extents,)")

constant("check_index(i, n)", nothing_law, emit="if not -n <= i < n:\n    raise IndexError", effect=True, statement=True)
constant("check_equal(x, y)", nothing_law, emit="if x != y:\n    raise ValueError", effect=True, statement=True)
constant("check_single(x, axis=0)", nothing_law, emit="if x.shape[axis] != 1:\n    raise ValueError", effect=True, statement=True)
constant("check_plural(*extents)", nothing_law, emit="if 1 in (*extents,):\n    raise ValueError", effect=True, statement=True)
constant("check_less(x, y)", nothing_law, emit="if x >= y:\n    raise ValueError", effect=True, statement=True)
constant("check_at_least(x, y)", nothing_law, emit="if x < y:\n    raise ValueError", effect=True, statement=True)
