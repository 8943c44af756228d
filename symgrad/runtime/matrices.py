"""Run-time support of kernels: matrix products by loops or BLAS, inverses, determinants, cofactors.

A product is one function for all ways in which matrices lie, so that it is compiled once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array
from numba.np.linalg import F_INT_nptype, ensure_blas, ensure_lapack

from symgrad.runtime.vector import compiled

#: up to how many multiplications loops beat a call of BLAS
SMALL = 128
#: the size up to which elimination by loops beats a call of LAPACK
FEW = 6

plainly = compiled(forceinline=False)


@intrinsic
def apart(typing: Any) -> Any:
    """The function that calls this stays a function of its own: no copies of it are compiled where it is called."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def address(typing: Any, a: Any) -> Any:
    """The address of the first element of an array."""
    return types.CPointer(a.dtype)(
        a
    ), lambda context, builder, signature, args: make_array(signature.args[0])(context, builder, args[0]).data


@intrinsic
def gemm(
    typing: Any, turn_a: Any, turn_b: Any, m: Any, n: Any, k: Any, a: Any, lda: Any, b: Any, ldb: Any, scale: Any, c: Any, ldc: Any
) -> Any:
    """Compute ``c = a @ b + scale * c`` of column-major matrices by BLAS; ``turned`` operands are read as transposes."""
    ensure_blas()
    number, whole, truth = c.dtype, types.intp, types.boolean

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        char, size, pointer = ir.IntType(8), ir.IntType(64), ir.IntType(8).as_pointer()
        parameters = [char] * 3 + [size] * 3 + [pointer, pointer, size, pointer, size, pointer, pointer, size]
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), parameters), "numba_xxgemm")
        turn_a, turn_b, m, n, k, a, lda, b, ldb, scale, c, ldc = args
        kind = ir.Constant(char, ord("d" if number.bitwidth == 64 else "s"))
        turns = [builder.select(turned, ir.Constant(char, ord("t")), ir.Constant(char, ord("n"))) for turned in (turn_a, turn_b)]
        one = cgutils.alloca_once_value(builder, ir.Constant(scale.type, 1.0))
        scale = cgutils.alloca_once_value(builder, scale)
        one, a, b, scale, c = (builder.bitcast(p, pointer) for p in (one, a, b, scale, c))
        return builder.call(function, [kind, *turns, m, n, k, one, a, lda, b, ldb, scale, c, ldc])

    return types.int32(truth, truth, whole, whole, whole, a, whole, b, whole, number, c, whole), generate


@plainly
def follows(near: int, far: int, count: int) -> bool:
    """Whether one axis is contiguous with ``count`` elements, and the other follows it without overlap."""
    return near == 1 and far >= max(count, 1)


@intrinsic
def hold(typing: Any, a: Any, b: Any) -> Any:
    """Arrays are there until here."""
    return types.void(a, b), lambda context, builder, signature, args: context.get_dummy_value()


@plainly
def by_rows(a: Any, rows: int, columns: int, m: int, n: int, dtype: Any) -> Any:
    """A copy of a matrix by rows."""
    out = np.empty((m, n), dtype)
    for i in range(m):
        for j in range(n):
            out[i, j] = a[i * rows + j * columns]
    return out


@plainly
def by_blas(
    out: Any, rows: int, a: Any, a_rows: int, a_columns: int, b: Any, b_rows: int, b_columns: int, m: int, n: int, k: int, scale: Any
) -> None:
    """Compute ``out = a @ b + scale * out``, passing transposes to BLAS, which is column-major."""
    turn_a, turn_b = not follows(a_columns, a_rows, k), not follows(b_columns, b_rows, n)
    if gemm(turn_b, turn_a, n, m, k, b, b_columns if turn_b else b_rows, a, a_columns if turn_a else a_rows, scale, out, rows) != 0:
        raise ArithmeticError


@plainly
def multiply(
    out: Any,
    rows: int,
    columns: int,
    a: Any,
    a_rows: int,
    a_columns: int,
    b: Any,
    b_rows: int,
    b_columns: int,
    m: int,
    n: int,
    k: int,
    scale: Any,
    dtype: Any,
) -> None:
    """Compute ``out = a @ b + scale * out`` for a scale of 0 or 1, with matrices given by address and strides."""
    apart()
    if m * n * k <= SMALL or columns != 1 or rows < n:
        for i in range(m):
            for j in range(n):
                total = out[i * rows + j * columns] if scale != 0.0 else scale
                for s in range(k):
                    total += a[i * a_rows + s * a_columns] * b[s * b_rows + j * b_columns]
                out[i * rows + j * columns] = total
        return
    straight_a = follows(a_columns, a_rows, k) or follows(a_rows, a_columns, m)
    straight_b = follows(b_columns, b_rows, n) or follows(b_rows, b_columns, k)
    if straight_a and straight_b:
        by_blas(out, rows, a, a_rows, a_columns, b, b_rows, b_columns, m, n, k, scale)
    else:
        first, second = by_rows(a, a_rows, a_columns, m, k, dtype), by_rows(b, b_rows, b_columns, k, n, dtype)
        by_blas(out, rows, address(first), k, 1, address(second), n, 1, m, n, k, scale)
        hold(first, second)


def taken_apart(context: Any, builder: Any, signature: Any, args: Any) -> tuple[list[Any], list[Any]]:
    """The address and the strides of each matrix, one after the other, and the shapes."""
    parts, shapes = [], []
    for type_, value in zip(signature.args, args, strict=True):
        array = make_array(type_)(context, builder, value)
        width = context.get_abi_sizeof(context.get_data_type(type_.dtype))
        strides = cgutils.unpack_tuple(builder, array.strides)
        parts += [array.data, *(builder.sdiv(s, s.type(width)) for s in strides)]
        shapes.append(cgutils.unpack_tuple(builder, array.shape))
    return parts, shapes


def multiplied(typing: Any, out: Any, a: Any, b: Any, scale: float) -> Any:
    """Call ``multiply`` for matrices; strides are read inline, without compiling tuples."""
    parameters = [types.CPointer(out.dtype), types.intp, types.intp] * 3 + [types.intp] * 3 + [out.dtype, types.DType(out.dtype)]
    function = typing.resolve_value_type(multiply)
    inner = function.get_call_type(typing, parameters, {})

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        parts, shapes = taken_apart(context, builder, signature, args)
        sizes = [shapes[1][0], shapes[2][1], shapes[1][1]]
        last = [context.get_constant(out.dtype, scale), context.get_dummy_value()]
        context.get_function(function, inner)(builder, [*parts, *sizes, *last])
        return context.get_dummy_value()

    return types.void(out, a, b), generate


@intrinsic
def product_into(typing: Any, out: Any, a: Any, b: Any) -> Any:
    """Store the product of two matrices."""
    return multiplied(typing, out, a, b, 0.0)


@intrinsic
def add_product(typing: Any, out: Any, a: Any, b: Any) -> Any:
    """Add the product of two matrices."""
    return multiplied(typing, out, a, b, 1.0)


def contiguous(a: Any) -> Any:
    """The array, or a copy by rows if it has gaps."""
    return np.ascontiguousarray(a)


@overload(contiguous)
def _contiguous(a):
    if a.layout in "CF":
        return lambda a: a
    return lambda a: np.ascontiguousarray(a)


@plainly
def eliminated(a: Any, b: Any) -> float:
    """Solve ``a @ x = b`` in place of ``b``, overwriting both; return the determinant of ``a``.

    Gauss-Jordan elimination with partial pivoting; raises for a singular matrix.
    """
    n = a.shape[0]
    determinant = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        pivot = a[best, k]
        if not abs(pivot) > 0.0:
            raise ArithmeticError
        if best != k:
            determinant = -determinant
            for j in range(n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
            for j in range(b.shape[1]):
                b[k, j], b[best, j] = b[best, j], b[k, j]
        determinant *= pivot
        for i in range(n):
            if i != k:
                factor = a[i, k] / pivot
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]
                for j in range(b.shape[1]):
                    b[i, j] -= factor * b[k, j]
    for k in range(n):
        for j in range(b.shape[1]):
            b[k, j] /= a[k, k]
    return determinant


@intrinsic
def gesv(typing: Any, n: Any, columns: Any, a: Any, pivots: Any, x: Any) -> Any:
    """``x = solve(a, x)`` of matrices by columns, in LAPACK, which overwrites both; not 0 if there is no solution."""
    ensure_lapack()

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        char, size, pointer = ir.IntType(8), ir.IntType(64), ir.IntType(8).as_pointer()
        parameters = [char, size, size, pointer, size, pointer, pointer, size]
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), parameters), "numba_xgesv")
        n, columns, *arrays = args
        a, pivots, x = (builder.bitcast(array, pointer) for array in arrays)
        return builder.call(function, [ir.Constant(char, ord("d")), n, columns, a, n, pivots, x, n])

    return types.int32(types.intp, types.intp, a, pivots, x), generate


@plainly
def solve(
    out: Any,
    rows: int,
    columns: int,
    a: Any,
    a_rows: int,
    a_columns: int,
    b: Any,
    b_rows: int,
    b_columns: int,
    n: int,
    m: int,
) -> None:
    """Store the solution of ``a @ out = b``, with matrices given by address and strides."""
    apart()
    if n <= FEW:
        solution = by_rows(b, b_rows, b_columns, n, m, np.float64)
        eliminated(by_rows(a, a_rows, a_columns, n, n, np.float64), solution)
        for i in range(n):
            for j in range(m):
                out[i * rows + j * columns] = solution[i, j]
        return
    matrix, x = by_rows(a, a_columns, a_rows, n, n, np.float64), by_rows(b, b_columns, b_rows, m, n, np.float64)
    pivots = np.empty(n, F_INT_nptype)
    if gesv(n, m, address(matrix), address(pivots), address(x)) != 0:
        raise ArithmeticError
    for i in range(n):
        for j in range(m):
            out[i * rows + j * columns] = x[j, i]
    hold(matrix, x)
    hold(pivots, x)


@intrinsic
def solution_into(typing: Any, out: Any, a: Any, b: Any) -> Any:
    """Store the solution of ``a @ out = b``; raises where there is none."""
    function = typing.resolve_value_type(solve)
    inner = function.get_call_type(typing, [types.CPointer(types.float64), types.intp, types.intp] * 3 + [types.intp] * 2, {})

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        parts, shapes = taken_apart(context, builder, signature, args)
        context.get_function(function, inner)(builder, [*parts, *shapes[0]])
        return context.get_dummy_value()

    return types.void(out, a, b), generate


#: the block size: rows solved by loops before a matrix product eliminates them
BLOCK = 48
#: between these a determinant is as exact as its factors
LEAST, MOST = 1e-290, 1e290


@plainly
def of_two(a: float, b: float, c: float, d: float) -> float:
    """The determinant of ``[[a, b], [c, d]]``, by elimination.

    >>> of_two(0.0, 2.0, 4.0, 0.0)
    -8.0
    """
    if abs(c) > abs(a):
        return c * (a / c * d - b)
    return a * (d - c / a * b) if a != 0.0 else 0.0


@plainly
def inverse_into(out: Any, a: Any) -> None:
    """Store the inverse of a matrix.

    >>> out = np.empty((2, 2))
    >>> inverse_into(out, np.array([[1.0, 2.0], [3.0, 2.0]]))
    >>> out
    array([[-0.5 ,  0.5 ],
           [ 0.75, -0.25]])
    """
    n = a.shape[0]
    if n == 2:
        determinant = of_two(a[0, 0], a[0, 1], a[1, 0], a[1, 1])
        if not LEAST < abs(determinant) < MOST:
            raise ArithmeticError
        out[0, 0], out[0, 1] = a[1, 1] / determinant, -a[0, 1] / determinant
        out[1, 0], out[1, 1] = -a[1, 0] / determinant, a[0, 0] / determinant
    elif n <= FEW:
        for i in range(n):
            for j in range(n):
                out[i, j] = 1.0 if i == j else 0.0
        eliminated(a.copy(), out)
    else:
        inverse = np.linalg.inv(contiguous(a))
        for i in range(n):
            for j in range(n):
                out[i, j] = inverse[i, j]


@plainly
def determinant(a: Any) -> float:
    """The determinant of a matrix.

    >>> determinant(np.array([[0.0, 2.0], [4.0, 0.0]]))
    -8.0
    """
    n = a.shape[0]
    if n == 2:
        return of_two(a[0, 0], a[0, 1], a[1, 0], a[1, 1])  # type: ignore[no-any-return]
    if n > FEW:
        return np.linalg.det(contiguous(a))  # type: ignore[no-any-return]
    return eliminated(a.copy(), np.empty((n, 0)))


@plainly
def cofactors_into(out: Any, a: Any) -> None:
    """Store the derivative of the determinant, also where the matrix is singular.

    >>> out = np.empty((2, 2))
    >>> cofactors_into(out, np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> out
    array([[ 4., -3.],
           [-2.,  1.]])
    """
    n = a.shape[0]
    if n == 2:
        out[0, 0], out[0, 1], out[1, 0], out[1, 1] = a[1, 1], -a[1, 0], -a[0, 1], a[0, 0]
        return
    u, s, vh = np.linalg.svd(contiguous(a))
    sign = np.linalg.det(u) * np.linalg.det(vh)
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
            for k in range(n):
                others = sign
                for m in range(n):
                    others *= s[m] if m != k else 1.0
                out[i, j] += u[i, k] * others * vh[k, j]


@plainly
def triangular_into(out: Any, a: Any, b: Any, lower: bool, turned: bool) -> None:
    """Store the solution of ``a @ x = b``, or of ``a.T @ x = b`` if ``turned``, reading one triangle of ``a``.

    Like SciPy, raises for numbers that are not finite and for zeros on the diagonal.

    >>> out = np.empty((2, 1))
    >>> triangular_into(out, np.array([[2.0, 9.0], [1.0, 4.0]]), np.array([[2.0], [5.0]]), True, False)
    >>> out
    array([[1.],
           [1.]])
    """
    n, columns = b.shape
    for i in range(n):
        if a[i, i] == 0.0:
            raise ArithmeticError
        for j in range(n):
            if not np.isfinite(a[i, j]):
                raise ArithmeticError
        for j in range(columns):
            if not np.isfinite(b[i, j]):
                raise ArithmeticError
    rows = np.empty((n, columns))
    done = np.empty((BLOCK, columns))
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        begin = start if lower != turned else n - start - size
        if start > 0:  # the elimination by previous blocks
            known = slice(0, start) if lower != turned else slice(begin + size, n)
            block = slice(begin, begin + size)
            if turned:
                product_into(done[:size], a[known, block].T, rows[known])
            else:
                product_into(done[:size], a[block, known], rows[known])
        for step in range(size):
            i = begin + step if lower != turned else begin + size - 1 - step
            first, last = (begin, i) if lower != turned else (i + 1, begin + size)
            for c in range(columns):
                rows[i, c] = b[i, c] - done[i - begin, c] if start > 0 else b[i, c]
            for j in range(first, last):
                factor = a[j, i] if turned else a[i, j]
                for c in range(columns):
                    rows[i, c] -= factor * rows[j, c]
            for c in range(columns):
                rows[i, c] /= a[i, i]
    for i in range(n):
        for c in range(columns):
            out[i, c] = rows[i, c]
