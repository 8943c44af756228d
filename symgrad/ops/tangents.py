"""table: tangents of rows that have neither partials nor ``linear``. A row in no table has its pullback transposed.

A row is linear in an operand if it may be applied to the tangent of that operand, the other operands as they are.
"""

from __future__ import annotations

from symgrad.ops.declare import ROWS, Row

#: rows of containers: applied to the tangents of all these operands at once, with zeros for operands without a tangent
TOGETHER: dict[str, str] = {
    row: operands
    for operands, rows in {
        "*items": "list_of",
        "l": "list_drop list_take table_take array_of python_numbers list_repeat list_fold list_unfold list_slice",
        "l v": "list_append list_set table_set",
        "l g": "list_add_at table_add_at list_add_slice",
        "a b": "list_add list_join",
        "x": "list_from to_array",
        "g": "in_form",
    }.items()
    for row in rows.split()
}
#: rows that are linear in each of these operands separately: the tangent is a sum with one term for each operand with a tangent
APART: dict[str, str] = {
    row: operands
    for operands, rows in {
        "a b": "matmul dot outer tensordot",
        "g b": "matmul_left dot_left tensordot_left",
        "g a": "matmul_right dot_right tensordot_right",
        "a v": "convolution",
        "g v": "correlation",
        "g": "weighted_after weighted_before einsum1_part0",
        "x0": "einsum1",
        "b": "solve_triangular solve_transposed",
    }.items()
    for row in rows.split()
}
for _count in (2, 3, 4):
    _names = [f"x{k}" for k in range(_count)]
    APART[f"einsum{_count}"] = " ".join(_names)
    for _k in range(_count):
        APART[f"einsum{_count}_part{_k}"] = " ".join(["g", *(_name for _name in _names if _name != f"x{_k}")])

#: rows whose results are vectors determined up to a phase, by the index of the result: as columns, or as rows
VECTORS: dict[str, dict[int, bool]] = {"eig": {1: False}, "eigh": {1: False}, "eigh_upper": {1: False}, "svd": {0: False, 2: True}}

_SUMMED = "sum({share} * x_tangent, axis=axis, keepdims=keepdims)"
_SPREADING = """(out * (reduced_size(shape_of(x), axis=axis) - ddof) if ddof
    else out * reduced_size(shape_of(x), axis=axis) + (reduced_size(shape_of(x), axis=axis) == 1))""".replace("\n", " ")
_DEVIATION = "sum(dual(x - mean(x, axis=axis, keepdims=True)) * x_tangent, axis=axis, keepdims=keepdims)"

#: rows whose push-forward is a formula: for each operand, over operands, results, settings and the operand's tangent; for several operands
#: with tangents at once, if that is less than the sum of the formulas for each
PUSHED: dict[str, dict[str, str]] = {
    "sort": {"x": "take_along_axis(x_tangent, argsort(x, axis=axis), axis=axis)"},
    "running_max": {"x": "take_along_axis(x_tangent, running_places(x, out, axis=axis), axis=axis)"},
    "running_min": {"x": "take_along_axis(x_tangent, running_places(x, out, axis=axis), axis=axis)"},
    "unique": {"x": "take_items(x_tangent, unique_places(x))"},
    "max": {"x": _SUMMED.format(share="extreme_share(x, out, axis=axis, keepdims=keepdims)")},
    "min": {"x": _SUMMED.format(share="extreme_share(x, out, axis=axis, keepdims=keepdims)")},
    "nanmax": {"x": _SUMMED.format(share="extreme_share(x, out, axis=axis, keepdims=keepdims)")},
    "nanmin": {"x": _SUMMED.format(share="extreme_share(x, out, axis=axis, keepdims=keepdims)")},
    "median": {"x": _SUMMED.format(share="middle_share(x, axis=axis)")},
    "prod": {"x": _SUMMED.format(share="product_before(x, axis=axis) * product_after(x, axis=axis)")},
    "var": {"x": f"ratio(2 * {_DEVIATION}, reduced_size(shape_of(x), axis=axis) - ddof)"},
    "std": {"x": f"{_DEVIATION} / {_SPREADING}"},
    "nansum": {"x": "sum(where(isnan(x), 0.0, x_tangent), axis=axis, keepdims=keepdims)"},
    "pad": {"x": "pad(x_tangent, width=width, mode=mode)"},
    "unwrap": {"x": "x_tangent"},
    **{
        name: {"x": "expand_dims(x_tangent, axis=-1) * slope_of_columns(s, x, order + 1, count=count)"}
        for name in ("interpolant_columns", "slope_of_columns")
    },
    "inv": {"a": "-(out @ a_tangent @ out)"},
    "solve": {"a": "-solve(a, a_tangent @ out)", "b": "solve(a, b_tangent)", "a b": "solve(a, b_tangent - a_tangent @ out)"},
    "varied": {
        "v": "v_tangent",
        "angle": "(-1j if rows else 1j) * angle_tangent * shares(v, rows=rows)",
        "shift": "shift_tangent * scattered(v)",
        "error": "error_tangent * scattered(v, use=use)",
    },
    "expm": {"a": "expm_frechet(a, a_tangent)"},
    "kaiser": {"beta": "beta_tangent * kaiser_slope(n, beta)"},
    "fftfreq": {"d": "-(d_tangent * out / d)"},
    "rfftfreq": {"d": "-(d_tangent * out / d)"},
    "drawn": {"x": "x_tangent"},
    "label": {"x": "x_tangent"},
    "as_written": {"x": "x_tangent"},
    "on_backward": {"x": "x_tangent"},
    "probe": {"x": "x_tangent", "p": "p_tangent"},
}


def together(row: Row) -> frozenset[str]:
    """The operands that a row is linear in, all at once."""
    return row.linear or frozenset(TOGETHER.get(row.name, "").split())


def apart(row: Row) -> frozenset[str]:
    """The operands that a row is linear in, each for itself."""
    return frozenset(APART.get(row.name, "").split())


def checked() -> list[str]:
    """The entries that name no row, or no operand of it that passes a derivative on; a test wants none."""
    entries = [(name, param) for table in (TOGETHER, APART) for name, words in table.items() for param in words.split()]
    entries += [(name, param) for name, texts in PUSHED.items() for params in texts for param in params.split()]
    return [f"{name}.{param}" for name, param in entries if name not in ROWS or param not in ROWS[name].differentiable]
