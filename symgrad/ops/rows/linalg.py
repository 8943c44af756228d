"""table: products of matrices and tensors, linear solves, inverses, determinants.

The cotangents of products are rows of their own (``matmul_left`` is the cotangent of the left factor): each
is again a product, so the family is closed under differentiation. Their texts depend on the ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import UNKNOWN, Array, Dim, Extent, Scalar, ShapeOf, Type, is_complex, same_extent
from symgrad.ops import batched
from symgrad.ops.declare import RUNTIME, Law, constant, missing, rule
from symgrad.ops.indexing import Extents, broadcast
from symgrad.ops.rows.arrays import layout_law
from symgrad.ops.rows.elementwise import Emit, evaluator
from symgrad.ops.shapes import array_dtype, array_or_scalar, axes_of, dtype_of, rank_of, same_law, scalar_of, shape_of

# ------------------------------------------------------------------ laws


def _product_dtype(types: list[Type]) -> str | None:
    return array_dtype(np.multiply, types) if all(t.is_number for t in types) else None


def _joined_product_dtype(types: list[Type]) -> str | None:
    """The dtype of a product that first makes an array of each operand, of a Python number too."""
    arrays = [Array(dtype_of(t), (1,)) if isinstance(t, Scalar) and t.dtype is None else t for t in types]
    return array_dtype(np.multiply, arrays) if all(t.is_number for t in types) else None


def _matmul_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    a, b = shape_of(types[0]), shape_of(types[1])
    dtype = _product_dtype(types)
    if a is None or b is None or not a or not b:
        return Array(dtype, None) if a != () and b != () else UNKNOWN
    rows = a[-2:-1]
    columns = b[-1:] if len(b) > 1 else ()
    stack = broadcast([a[:-2], b[:-2]])
    return array_or_scalar(dtype, None if stack is None else (*stack, *rows, *columns), "?" if stack else "C")


def _dot_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    a, b = shape_of(types[0]), shape_of(types[1])
    dtype = _joined_product_dtype(types)
    if a is None or b is None:
        return Array(dtype, None)
    if not a or not b:
        return array_or_scalar(dtype, a + b)
    return array_or_scalar(dtype, a[:-1] + (b[:-2] + b[-1:] if len(b) > 1 else ()), "C")


def _factor_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of a factor's cotangent: the product of the cotangent and the other factor, in the given shape."""
    shapes = [t for t in types if isinstance(t, ShapeOf)]
    shape = shapes[0].shape if shapes else None
    return array_or_scalar(_product_dtype([t for t in types if not isinstance(t, ShapeOf)]), shape)


def contracted(axes: Any, a: int, b: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The axes of the two operands that a ``tensordot`` sums over."""
    if isinstance(axes, int):
        axes = (tuple(range(-axes, 0)), tuple(range(axes)))
    left, right = (axes_of(side if isinstance(side, tuple) else (side,), rank) for side, rank in zip(axes, (a, b), strict=True))
    return None if left is None or right is None else (left, right)


def _tensordot_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    a, b = shape_of(types[0]), shape_of(types[1])
    dtype = _joined_product_dtype(types)
    contracted_axes = None if a is None or b is None else contracted(settings["axes"], len(a), len(b))
    if a is None or b is None or contracted_axes is None:
        return Array(dtype, None)
    left = tuple(e for k, e in enumerate(a) if k not in contracted_axes[0])
    right = tuple(e for k, e in enumerate(b) if k not in contracted_axes[1])
    if settings["axes"] == 1 and len(a) == len(b) == 1:
        return scalar_of(dtype)
    return Array(dtype, left + right, "C")


# ------------------------------------------------------------------ texts by rank


def _ranks(types: list[Type]) -> tuple[int | None, ...]:
    """Return the ranks of operands; for a shape operand, the rank of an array of that shape."""
    return tuple((None if t.shape is None else len(t.shape)) if isinstance(t, ShapeOf) else rank_of(t) for t in types)


#: by the rank of the factor wanted and of the other one
LEFT = {(0, 0): "g * b", (1, 1): "g * b", (2, 1): "g[:, None] * b", (1, 2): "b @ g", (2, 2): "g @ b.T"}
RIGHT = {(0, 0): "g * a", (1, 1): "g * a", (1, 2): "g @ a", (2, 1): "a[:, None] * g", (2, 2): "a.T @ g"}


def _factor_text(table: dict[tuple[int, int], str], otherwise: str) -> Emit:
    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        _, other, own = _ranks(types)
        return table.get((own, other), otherwise)  # type: ignore[arg-type]

    return emit


def _tensordot_text(settings: dict[str, Any], types: list[Type]) -> str:
    if settings["axes"] == 1 and _ranks(types) == (1, 1):
        return "a @ b"
    return "np.tensordot(a, b, axes)"


# ------------------------------------------------------------------ products

for _name, _law, _text in (
    ("matmul", _matmul_law, "a @ b"),
    ("dot", _dot_law, lambda s, t: "a.dot(b)" if isinstance(t[0], Array) and t[0].shape is not None else "np.dot(a, b)"),
):
    _left, _right = f"{_name}_left(g, b, shape)", f"{_name}_right(g, a, shape)"
    rule(
        f"{_name}(a, b)",
        _law,
        batch=batched.product,
        emit=_text,
        a_grad=f"{_name}_left(out_grad, b, shape_of(a))",
        b_grad=f"{_name}_right(out_grad, a, shape_of(b))",
    )
    rule(
        _left,
        _factor_law,
        batch=batched.left_factor,
        emit=_factor_text(LEFT, _left),
        g_grad=f"{_name}(out_grad, b)",
        b_grad=f"{_name}_right(g, out_grad, shape_of(b))",
    )
    rule(
        _right,
        _factor_law,
        batch=batched.right_factor,
        emit=_factor_text(RIGHT, _right),
        g_grad=f"{_name}(a, out_grad)",
        a_grad=f"{_name}_left(g, out_grad, shape_of(a))",
    )
rule(
    "outer(a, b)",
    lambda types, settings, dim: Array(_joined_product_dtype(types), (*_length(types[0]), *_length(types[1])), "C"),
    batch=batched.outer_product,
    emit="np.outer(a, b)",
    a_grad="reshape(matmul(out_grad, ravel(b)), shape_of(a))",
    b_grad="reshape(matmul(ravel(a), out_grad), shape_of(b))",
)
rule(
    "tensordot(a, b, axes=2)",
    _tensordot_law,
    emit=_tensordot_text,
    a_grad="tensordot_left(out_grad, b, shape_of(a), axes=axes)",
    b_grad="tensordot_right(out_grad, a, shape_of(b), axes=axes)",
)
rule(
    "tensordot_left(g, b, shape, axes=2)",
    _factor_law,
    emit=RUNTIME,
    g_grad="tensordot(out_grad, b, axes=axes)",
    b_grad="tensordot_right(g, out_grad, shape_of(b), axes=axes)",
)
rule(
    "tensordot_right(g, a, shape, axes=2)",
    _factor_law,
    emit=RUNTIME,
    g_grad="tensordot(a, out_grad, axes=axes)",
    a_grad="tensordot_left(g, out_grad, shape_of(a), axes=axes)",
)


def _length(of: Type) -> tuple[Extent, ...]:
    shape = shape_of(of)
    return (1,) if shape == () else shape if shape is not None and len(shape) == 1 else (Dim("?"),)


# ------------------------------------------------------------------ solving


#: the source of the dtype of sizes
REAL = "np.real(1.0 * x / 1)"


def _float_dtype(types: list[Type], text: str = "1.0 * x / 1") -> str | None:
    one = dtype_of(types[0])
    return None if one is None else array_dtype(evaluator(("x",), text), [Array(one, (1,))])


def _matrix_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(_float_dtype(types), shape_of(types[0]))


def _by_rows(law: Law) -> Law:
    """The law of a function of ``np.linalg``: the result for one matrix is in C order; the result for a stack may not be."""

    def of_one(types: list[Type], settings: dict[str, Any], dim: Extents) -> Any:
        type_ = law(types, settings, dim)
        is_matrix = isinstance(type_, Array) and type_.shape is not None and len(type_.shape) < 3
        return Array(type_.dtype, type_.shape, "C") if is_matrix and isinstance(type_, Array) else type_

    return of_one


def _flipped(of: Type) -> Type:
    """Matrices of the transposed shape."""
    if not isinstance(of, Array) or of.shape is None or len(of.shape) < 2:
        return of
    return Array(of.dtype, (*of.shape[:-2], of.shape[-1], of.shape[-2]))


def _solve_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    a, b = shape_of(types[0]), shape_of(types[1])
    dtype = array_dtype(evaluator(("a", "b"), "1.0 * a / 1 + 1.0 * b / 1"), types) if all(t.is_number for t in types) else None
    if a is None or b is None:
        return Array(dtype, None)
    if len(a) == 2 or len(b) == 1:
        return Array(dtype, (*a[:-2], *b) if len(b) == 1 else b)
    stack = broadcast([a[:-2], b[:-2]])
    return Array(dtype, None if stack is None else (*stack, *b[-2:]))


def _det_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[0])
    return array_or_scalar(_float_dtype(types), None if shape is None else shape[:-2])


def _slogdet_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    shape = shape_of(types[0])
    return _det_law(types, settings, dim), array_or_scalar(_float_dtype(types, REAL), None if shape is None else shape[:-2])


def _least(shape: Any) -> Extent:
    """The smaller extent of a matrix."""
    rows, columns = shape[-2:]
    if same_extent(rows, columns):
        return rows  # type: ignore[no-any-return]
    return min(rows, columns) if isinstance(rows, int) and isinstance(columns, int) else Dim("?")


def _svd_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    shape, dtype = shape_of(types[0]), _float_dtype(types)
    if shape is None or len(shape) < 2:
        return Array(dtype, None), Array(_float_dtype(types, REAL), None), Array(dtype, None)
    *stack, rows, columns = shape
    least = _least(shape)
    return Array(dtype, (*stack, rows, least)), Array(_float_dtype(types, REAL), (*stack, least)), Array(dtype, (*stack, least, columns))


def _singular_vectors_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    shape, dtype = shape_of(types[0]), _float_dtype(types)
    if shape is None or len(shape) < 2:
        return Array(dtype, None), Array(dtype, None)
    *stack, rows, columns = shape
    return Array(dtype, (*stack, rows, rows)), Array(dtype, (*stack, columns, columns))


def _qr_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    shape, dtype = shape_of(types[0]), _float_dtype(types)
    if shape is None or len(shape) < 2:
        return Array(dtype, None), Array(dtype, None)
    *stack, rows, columns = shape
    least = _least(shape)
    return Array(dtype, (*stack, rows, least)), Array(dtype, (*stack, least, columns))


def _eigh_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    shape, dtype = shape_of(types[0]), _float_dtype(types)
    return Array(_float_dtype(types, REAL), None if shape is None else shape[:-1]), Array(dtype, shape)


def _eig_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    """Complex, for every matrix."""
    shape, dtype = shape_of(types[0]), _float_dtype(types, "1j * x / 1")
    return Array(dtype, None if shape is None else shape[:-1]), Array(dtype, shape)


rule("inv(a)", _by_rows(_matrix_law), batch=batched.stacks, emit="np.linalg.inv(a)", a_grad="-(mT(out) @ out_grad @ mT(out))")
rule(
    "solve(a, b)",
    _by_rows(_solve_law),
    batch=batched.solved,
    emit="np.linalg.solve(a, b)",
    a_grad="-matmul_left(solve(mT(a), out_grad), out, shape_of(a))",
    b_grad="fit(solve(mT(a), out_grad), shape_of(b))",
)
rule("det(a)", _det_law, batch=batched.stacks, emit="np.linalg.det(a)", a_grad="over_matrix(out_grad) * cofactors(a)")
# the cofactors of a matrix, which exist where it is singular; their derivative is said through the inverse
rule(
    "cofactors(a)",
    _matrix_law,
    batch=batched.stacks,
    emit=RUNTIME,
    a_grad="over_matrix(det(a)) * (over_matrix(sum(out_grad * mT(inv(a)), axis=(-2, -1))) * mT(inv(a)) - mT(inv(a) @ out_grad @ inv(a)))",
)
rule(
    "slogdet(a) -> sign, logdet",
    _slogdet_law,
    emit="np.linalg.slogdet(a)",
    a_grad="over_matrix(turned(logdet_grad, sign_grad * sign)) * mT(inv(a))",
)
# a number for each matrix of a stack, to be multiplied with the matrices
rule(
    "over_matrix(s)",
    lambda types, settings, dim: (
        types[0] if isinstance(types[0], Scalar) else layout_law(lambda shape, _: (*shape, 1, 1))(types, settings, dim)
    ),
    emit=lambda s, t: "s" if isinstance(t[0], Scalar) else "s[..., None, None]",
    alias="view",
    cheap=True,
    linear="s",
    s_grad="reshape(out_grad, shape_of(s))",
)
# ``dual`` is the conjugate of complex numbers. NumPy reads the lower triangle only, so the cotangent is lower triangular
rule(
    "cholesky(a)",
    _by_rows(_matrix_law),
    batch=batched.stacks,
    emit="np.linalg.cholesky(a)",
    a_grad="2 * half_tril(symmetric(solve(mT(out), mT(solve(mT(dual(out)), mT(half_tril(mT(out) @ tril(out_grad))))))))",
)
rule("half_tril(x)", same_law, batch=batched.same, emit=RUNTIME, linear="x", x_grad="half_tril(out_grad)")
for _name, _mirrored in (("symmetric", "x"), ("hermitian", "x.conj()")):
    rule(
        f"{_name}(x)",
        same_law,
        batch=batched.stacks,
        emit=lambda s, t, x=_mirrored: f"0.5 * (x + {x}.T)" if rank_of(t[0]) == 2 else f"0.5 * (x + {x}.swapaxes(-1, -2))",
        linear="x",
        x_grad=f"{_name}(out_grad)",
    )
# vectors are unique up to a phase: the function must not depend on it. Returns the vectors after this has been tested
rule(
    "unphased(v, m, other, terms)",
    lambda types, settings, dim: types[0],
    emit=RUNTIME,
    alias="view",
    linear="v",
    v_grad="out_grad",
    m_grad=None,
    other_grad=None,
    terms_grad=None,
)
# forward mode tests the same: the phases of the vectors vary, each by a share of its own; for comparison all elements vary, and all
# elements at each ``use`` in another direction. The phases of the two vectors of a singular value turn in opposite directions
rule(
    "varied(v, angle, shift, error, rows=False, use=0)",
    lambda types, settings, dim: types[0],
    emit="v",
    alias="view",
    v_grad="out_grad",
    angle_grad="sum(out_grad * shares(v, rows=rows)) * (-1j if rows else 1j)",
    shift_grad="sum(out_grad * scattered(v))",
    error_grad="sum(out_grad * scattered(v, use=use))",
)
rule("shares(v, rows=False)", same_law, batch=batched.same, emit=RUNTIME, linear="v", v_grad="shares(out_grad, rows=rows)")
constant("scattered(v, use=0)", same_law, batch=batched.same, emit=RUNTIME)
rule(
    "unphased_tangent(t, turn, shift, error, value)",
    lambda types, settings, dim: types[0],
    batch=batched.same,
    alias="view",
    linear="t",
    emit=RUNTIME,
    t_grad="out_grad",
    turn_grad=None,
    shift_grad=None,
    error_grad=None,
    value_grad=None,
)
# of complex matrices: Boeddeker, Hanebrink, Drude, Heymann, Haeb-Umbach, On the Computation of Complex-valued Gradients (2017)
_OF_EIGH = (
    "symmetric(dual(unphased(vectors, mT(vectors) @ vectors_grad)) @ (diag_embed(values_grad)"
    " + mT(vectors) @ vectors_grad * gaps(values)) @ mT(vectors))"
)
for _name, _text, _grad in (
    ("eigh", "np.linalg.eigh(a)", f"2 * half_tril({_OF_EIGH})"),
    ("eigh_upper", "np.linalg.eigh(a, 'U')", f"mT(2 * half_tril(mT({_OF_EIGH})))"),
):
    rule(f"{_name}(a) -> values, vectors", _eigh_law, emit=_text, a_grad=_grad)
rule(
    "diag_embed(v)",
    layout_law(lambda shape, _: (*shape, *shape[-1:])),
    emit=RUNTIME,
    linear="v",
    v_grad="diagonal(out_grad, axis1=-2, axis2=-1)",
)
# 1 / (w[j] - w[i]) off the diagonal, 0 on it
rule(
    "gaps(w)",
    layout_law(lambda shape, _: (*shape, *shape[-1:])),
    emit=RUNTIME,
    w_grad="sum(out_grad * out * out, axis=-1) - sum(out_grad * out * out, axis=-2)",
)
# the singular values that are not zero, each another: Townsend, Differentiating the Singular Value Decomposition (2016);
# of complex matrices: Wan and Zhang, Automatic differentiation for complex valued SVD (2019)
rule(
    "svd(a) -> u, s, vh",
    _svd_law,
    emit="np.linalg.svd(a, full_matrices=False)",
    a_grad="dual(unphased(u, mT(u) @ u_grad, dual(vh) @ mT(dual(vh_grad))))"
    " @ (gaps(s * s) * (mT(u) @ u_grad - mT(dual(u_grad)) @ dual(u)) * expand_dims(s, axis=-2)"
    " + diag_embed(turned(s_grad, diagonal(mT(u) @ u_grad, axis1=-2, axis2=-1) / s))"
    " + expand_dims(s, axis=-1) * (gaps(s * s) * (dual(vh) @ mT(dual(vh_grad)) - vh_grad @ mT(vh)))) @ dual(vh)"
    " + (u_grad - dual(u) @ (mT(u) @ u_grad)) / expand_dims(s, axis=-2) @ dual(vh)"
    " + dual(u) @ ((vh_grad - vh_grad @ mT(vh) @ dual(vh)) / expand_dims(s, axis=-1))",
)
missing(
    "singular_vectors(a) -> u, vh",
    _singular_vectors_law,
    "vectors of the singular value zero are not given by the matrix; write full_matrices=False, which leaves them out",
    emit="np.linalg.svd(a)[::2]",
)
# no more columns than rows: Walter and Lehmann, Algorithmic Differentiation of Linear Algebra Functions (2010)
rule(
    "qr(a) -> q, r",
    _qr_law,
    emit="np.linalg.qr(a)",
    a_grad="mT(solve(r, mT(q_grad + dual(q) @ (2 * symmetric(half_tril(dual(r) @ mT(dual(r_grad)) - mT(dual(q_grad)) @ dual(q)))))))",
)
# the eigenvalues: Magnus, On Differentiating Eigenvalues and Eigenvectors (1985); the vectors: Giles, Collected Matrix Derivative
# Results for Forward and Reverse Mode AD (2008), with a term that preserves the unit length of each, as NumPy returns it
rule(
    "eig(a) -> values, vectors",
    _eig_law,
    emit=lambda s, t: "np.linalg.eig(a)" if is_complex(t[0]) else "complex_eig(a)",
    a_grad="solve(mT(vectors), (diag_embed(values_grad) + gaps(values) * (mT(vectors) @ vectors_grad"
    " - mT(vectors) @ dual(vectors) * expand_dims(diagonal(mT(vectors) @ vectors_grad, axis1=-2, axis2=-1), axis=-2)))"
    " @ mT(unphased(vectors, mT(vectors) @ vectors_grad)))",
)
# where the rank does not change
_OF_PINV = (
    "(mT(dual(out_grad)) - dual(a) @ (dual(out) @ mT(dual(out_grad)))) @ dual(out) @ mT(out) - mT(out) @ out_grad @ mT(out) + "
    "mT(out) @ dual(out) @ (mT(dual(out_grad)) - mT(dual(out_grad)) @ dual(out) @ dual(a))"
)
_pinv_law = _by_rows(lambda types, settings, dim: _flipped(_matrix_law(types, settings, dim)))
rule("pinv(a)", _pinv_law, emit="np.linalg.pinv(a)", a_grad=_OF_PINV)
rule("pinv_of(a, rcond)", _pinv_law, emit="np.linalg.pinv(a, rcond)", a_grad=_OF_PINV, rcond_grad=None)


def _matrix_rank_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of the rank of each matrix; a Python integer for a single matrix."""
    shape = shape_of(types[0])
    if shape is None:
        return Array(None, None)
    return Scalar("int") if len(shape) < 2 else array_or_scalar("i64", shape[:-2])


constant("matrix_rank(a)", _matrix_rank_law, emit="np.linalg.matrix_rank(a)")
