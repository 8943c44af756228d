"""table: functions of complex numbers that differ from those of real numbers, and the rows that are valid for complex operands.

The gradient of a real ``f`` with respect to ``z = x + iy`` is ``df/dx - i df/dy``. So a function that has a complex derivative passes
``out_grad`` on as a real one does, multiplied by that derivative: the rows in ``RIGHT`` need no change. Other rows have a counterpart
for complex operands, which ``INSTEAD`` names and the builder substitutes. The engine takes the real part where the operand is real.
Rows outside ``RIGHT`` are refused where an operand or a result is complex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import COMPLEX, Scalar, Type, is_complex
from symgrad.ops import batched
from symgrad.ops.declare import ROWS, Row, add, parse_signature, rule
from symgrad.ops.rows.elementwise import elementwise, evaluator
from symgrad.ops.shapes import elementwise_law

# ------------------------------------------------------------------ parts and sizes


def _modulus_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "np.abs(x)" if settings.get("via") == "numpy" else "abs(x)"


def _modulus_like(settings: dict[str, Any]) -> Any:
    return evaluator(("x",), _modulus_text(settings, []))


def _real_part_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x.real" if isinstance(types[0], Scalar) else "np.array(np.real(x))"


def _conj_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "np.conj(x)" if settings.get("via") == "numpy" else "x.conjugate()"


def _log_text(settings: dict[str, Any], types: list[Type]) -> str:
    """A real number is made a complex one before, so that its logarithm is."""
    wide = "" if any(map(is_complex, types)) else " + 0j"
    if all(isinstance(t, Scalar) for t in types):
        return f"np.log(x{wide}) if x else 0j"
    return f"np.log(np.where(x == 0, 1, x){wide})"


def conjugating(text: str, x_grad: str, emit: Any, linear: str = "") -> None:
    """Declare a function applied element by element that has no complex derivative, by the whole cotangent of ``x``."""
    name, params, settings, outs, _ = parse_signature(text)
    law = elementwise_law(lambda s: evaluator(("x",), _conj_text(s, [])))
    add(Row(name, params, law, settings, outs, elementwise=True, pullbacks={"x": x_grad}, linear=frozenset(linear.split()), emit=emit))


elementwise("modulus(x, via=None)", emit=_modulus_text, law=elementwise_law(_modulus_like), dx="unit_conjugate(x)")
# with a derivative where the modulus has none, at 0
elementwise(
    "squared_modulus(x, via=None)",
    emit=lambda s, t: f"{_modulus_text(s, t)} ** 2",
    law=elementwise_law(_modulus_like),
    dx="2 * conj(x, via='numpy')",
)
conjugating("conj(x, via=None)", "conj(out_grad)", _conj_text, linear="x")
# the conjugate of the number of size one in the same direction, 0 for 0
conjugating("unit_conjugate(x)", "(conj(out_grad) - out_grad * (out * out)) * (0.5 * inverse_modulus(x))", "unit_conjugate(x)")
# 0 for 0
elementwise("inverse_modulus(x)", emit="inverse_modulus(x)", law=elementwise_law(_modulus_like), dx="-(out * out * unit_conjugate(x))")
rule(
    "imaginary(x)",
    elementwise_law(lambda s: np.imag),
    emit=lambda s, t: "x.imag" if t[0].is_number else "np.imag(x)",
    alias="view",
    cheap=True,
    batch=batched.same,
    linear="x",
    x_grad="-1j * out_grad",
)
# a copy of the real part: the cotangent of a real operand
rule("real_part(x)", elementwise_law(lambda s: np.real), emit=_real_part_text, batch=batched.same, linear="x", x_grad="out_grad")
rule(
    "complex_of(x, y)", lambda types, settings, dim: COMPLEX, emit="complex(x, y)", linear="x y", x_grad="out_grad", y_grad="1j * out_grad"
)

# ------------------------------------------------------------------ where real formulas have other branches

elementwise(
    "complex_power(x, y)",
    emit="x ** y",
    numpy="np.power(x, y)",
    cheap=True,
    dx="y * complex_power(x, lowered(y))",
    dy="out * complex_log(x)",
)
elementwise(
    "complex_log(x)",
    emit=_log_text,
    law=elementwise_law(lambda s: evaluator(("x",), "np.log(x + 0j)")),
    dx="where(x == 0, 0.0, 1.0 / where(x == 0, 1.0, x))",
)
elementwise("complex_gamma(x)", emit="special.gamma(x)", dx="out * complex_digamma(x)")
elementwise("complex_digamma(x)", emit="special.psi(x)", dx="complex_polygamma(1, x)")
elementwise("complex_polygamma(n, x)", emit="polygamma(n, x)", like="np.log(x + 0j)", dn=None, dx="complex_polygamma(n + 1, x)")
elementwise("complex_arccosh(x)", emit="np.arccosh(x)", math="math.acosh(x)", dx="1 / (sqrt(x - 1) * sqrt(x + 1))")

#: rows without a complex derivative, with a description; functions from complex to real numbers have none either
NOT_HOLOMORPHIC = {
    "modulus": "the absolute value of a complex number",
    "squared_modulus": "the absolute value of a complex number",
    "conj": "the conjugate of a complex number",
    "unit_conjugate": "the conjugate of a complex number",
    "inverse_modulus": "the absolute value of a complex number",
    "real": "the real part of a complex number",
    "real_part": "the real part of a complex number",
    "imaginary": "the imaginary part of a complex number",
    "hermitian": "the Hermitian part of a matrix",
    "cholesky": "a factor of a Hermitian matrix",
    "eigh": "the decomposition of a Hermitian matrix",
    "eigh_upper": "the decomposition of a Hermitian matrix",
    "svd": "the singular value decomposition",
    "qr": "a factor with orthonormal columns",
    "slogdet": "the sign of a determinant",
    "pinv": "a pseudoinverse",
    "pinv_of": "a pseudoinverse",
}
#: the results of rows that have none, where others have one
PARTLY_HOLOMORPHIC = {"eig": (1, "an eigenvector of length one")}

#: rows that are replaced by another row for complex operands, with its spelling
INSTEAD: dict[str, tuple[str, dict[str, Any]]] = {
    "abs": ("modulus", {}),
    "conjugate": ("conj", {"via": "numpy"}),
    "imag": ("imaginary", {}),
    "power": ("complex_power", {}),
    "arccosh": ("complex_arccosh", {}),
    "symmetric": ("hermitian", {}),
    "gamma": ("complex_gamma", {}),
    "digamma": ("complex_digamma", {}),
}


NAMES = """modulus squared_modulus
    conj unit_conjugate inverse_modulus real imaginary real_part complex_of complex_power complex_log complex_arccosh
    add subtract multiply divide negative positive square reciprocal ratio lowered
    exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh
    where sum mean prod product_before product_after weighted_after weighted_before cumsum cumprod
    matmul matmul_left matmul_right dot dot_left dot_right outer tensordot tensordot_left tensordot_right
    convolution correlation inv solve det cofactors over_matrix mT trace trace_back diagonal diagonal_place diag diag_back
    reshape ravel flatten transpose untranspose moveaxis expand_dims broadcast_to item item_place flip roll tril triu
    concatenate concatenate_part concatenate_place stack stack_part stack_place concatenate_list split_like
    concatenate_array split_array stack_array split array_split tile tile_back repeat repeat_back
    take_items take_items_back compress delete pad pad_back full full_like
    view take take_written set_at add_at add_written copy copy_rows by_rows accumulate spread unbroadcast cast number
    push pop put get list_of list_append list_drop list_take list_set list_add_at list_add list_join list_slice list_add_slice array_of
    table_take table_set table_add_at list_from to_array stop_gradient list_zeros zeros_like zeros_as ones_like empty_like
    fourier fourier_back fftshift ifftshift
    complex_gamma complex_digamma complex_polygamma loggamma lambertw wofz wofz_slope erfi exp1 expi
    bessel_j bessel_y bessel_iv bessel_k hankel1 hankel2
    cholesky eig eigh eigh_upper svd qr pinv pinv_of slogdet var std half_tril hermitian diag_embed gaps unphased varied shares scattered
    unphased_tangent"""
#: rows that are valid for complex operands: their rules hold for complex numbers, or concern complex numbers only
RIGHT = {*NAMES.split(), *(f"einsum{n}{part}" for n in range(1, 5) for part in ("", *(f"_part{k}" for k in range(n))))}


def for_complex(name: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The row, with its settings, that replaces one of ``INSTEAD`` where its operands are complex."""
    other, more = INSTEAD[name]
    kept = {key: value for key, value in settings.items() if key in ROWS[other].settings}
    return other, {**ROWS[other].settings, **kept, **more}
