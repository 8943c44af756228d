"""table: products of matrices and vectors, and numba's linear algebra."""

from __future__ import annotations

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import Array, Scalar
from symgrad.loops.arrays import dtype_of
from symgrad.loops.bailouts import if_zero
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, cast_to, mapped, stored, view_of_form
from symgrad.loops.reach import OutOfReach, dtype_in_words, function_in_words
from symgrad.loops.rows import contractions
from symgrad.loops.rows.contractions import Factor
from symgrad.loops.rows.matrices import as_matrix, bases, transposed
from symgrad.loops.rows.reductions import finish, reduce, sum_fold


def multiplied(lowering: Context, a: Form, b: Form, dtype: str) -> Form:
    """The elementwise products, broadcast."""
    writer = lowering.writer
    return mapped(writer, dtype, [a, b], lambda e: cast_to(writer, writer.call("multiply", *e, via=None), dtype), 1)


def expanded(form: Form, axis: int) -> Form:
    """A form with an additional axis of extent 1."""
    extents = [*form.extents[:axis], ONE, *form.extents[axis:]]
    return view_of_form(form, extents, lambda index: (*index[:axis], *index[axis + 1 :]))


def product(lowering: Context, op: Call, a: Form, b: Form) -> Thing:
    """``a @ b`` for vectors and matrices."""
    writer, dtype = lowering.writer, dtype_of(op)
    if dtype == "bool":
        raise OutOfReach("products of arrays of booleans", op.loc)
    fold = sum_fold(writer, dtype)
    writer.require_equal(a.extents[-1], b.extents[max(b.rank - 2, 0)])
    if (a.rank, b.rank) == (1, 1):
        return finish(lowering, op, reduce(lowering, multiplied(lowering, a, b, dtype), (0,), False, fold, op.outs[0].name))
    if (a.rank, b.rank) == (2, 1):
        return finish(lowering, op, reduce(lowering, multiplied(lowering, a, b, dtype), (1,), False, fold, op.outs[0].name))
    if (a.rank, b.rank) == (1, 2):
        return finish(lowering, op, reduce(lowering, multiplied(lowering, expanded(a, 1), b, dtype), (0,), False, fold, op.outs[0].name))
    if (a.rank, b.rank) == (2, 2):
        return contractions.contraction(lowering, op, [Factor(("i", "k"), a), Factor(("k", "j"), b)], ("i", "j"))
    raise OutOfReach("products of stacks of matrices", op.loc)


def matmul(lowering: Context, op: Call) -> Thing:
    a, b = lowering.form(op.args[0]), lowering.form(op.args[1])
    if op.name == "dot" and (a.rank == 0 or b.rank == 0):
        return finish(lowering, op, multiplied(lowering, a, b, dtype_of(op)))
    if max(a.rank, b.rank) > 2 and op.name == "matmul" and min(a.rank, b.rank) >= 1:
        return contractions.stacks(lowering, op)
    return product(lowering, op, a, b)


def left_cotangent(lowering: Context, op: Call) -> Thing:
    """The cotangent of the left factor."""
    extents = lowering.extents(op.args[2])
    g, b = lowering.form(op.args[0]), lowering.form(op.args[1])
    dtype = dtype_of(op)
    if max(len(extents), b.rank) > 2 and op.name == "matmul_left":
        return contractions.stacks_part(lowering, op, True)
    match (len(extents), b.rank):
        case (0, 0) | (1, 1):
            cotangent = multiplied(lowering, g, b, dtype)
        case (2, 1):
            cotangent = multiplied(lowering, expanded(g, 1), b, dtype)
        case (1, 2):
            return product(lowering, op, b, g)
        case (2, 2):
            return product(lowering, op, g, transposed(b))
        case _:
            raise OutOfReach("products of stacks of matrices", op.loc)
    return element_of(lowering, op, cotangent)


def right(lowering: Context, op: Call) -> Thing:
    """The cotangent of the right factor."""
    extents = lowering.extents(op.args[2])
    g, a = lowering.form(op.args[0]), lowering.form(op.args[1])
    dtype = dtype_of(op)
    if max(len(extents), a.rank) > 2 and op.name == "matmul_right":
        return contractions.stacks_part(lowering, op, False)
    match (len(extents), a.rank):
        case (0, 0) | (1, 1):
            cotangent = multiplied(lowering, g, a, dtype)
        case (1, 2):
            return product(lowering, op, g, a)
        case (2, 1):
            cotangent = multiplied(lowering, expanded(a, 1), g, dtype)
        case (2, 2):
            return product(lowering, op, transposed(a), g)
        case _:
            raise OutOfReach("products of stacks of matrices", op.loc)
    return element_of(lowering, op, cotangent)


def element_of(lowering: Context, op: Call, form: Form) -> Thing:
    """The element, if the result is a number."""
    return form.at(()) if isinstance(op.outs[0].type, Scalar) and form.rank == 0 else form


def outer(lowering: Context, op: Call) -> Thing:
    a, b = lowering.form(op.args[0]), lowering.form(op.args[1])
    if (a.rank, b.rank) != (1, 1):
        raise OutOfReach("np.outer of operands that are not vectors", op.loc)
    return multiplied(lowering, expanded(a, 1), b, dtype_of(op))


#: functions computed by loops into given memory where matrices are small
INTO = {"inv": "inverse_into", "cofactors": "cofactors_into"}


def library(lowering: Context, op: Call) -> list[Thing]:
    """Functions that numba leaves to LAPACK, applied to row-major arrays."""
    writer = lowering.writer
    for a in op.args:
        if isinstance(a.type, Array) and (a.type.rank or 0) > 2:
            raise OutOfReach(f"{function_in_words(op)} of stacks of matrices", op.loc)
    forms = [lowering.form(a) for a in op.args]
    for f in forms:
        if f.dtype != "f64":
            raise OutOfReach(f"{function_in_words(op)} of {dtype_in_words(f.dtype)}", op.loc)
    if op.name in ("inv", "det", "slogdet", "cholesky", "cofactors"):
        writer.require_equal(*forms[0].extents)
    if op.name in (*INTO, "det"):
        (matrix,) = (as_matrix(lowering, f) for f in forms)
        if op.name == "det":
            return [writer.call("determinant", matrix, hint=op.outs[0].name)]
        handle = writer.empty("f64", forms[0].extents, op.outs[0].name)
        writer.whole(INTO[op.name], handle, matrix, *bases(lowering, [matrix]))
        return [lowering.memory(handle, op.outs[0], forms[0].extents)]
    arrays: list[Operand] = []
    for f in forms:
        own = f.memory is not None and f.memory not in lowering.params
        memory = (f if own else lowering.give_memory(view_of_form(f, f.extents, lambda i: i), None)).memory
        assert memory is not None
        arrays.append(memory)
    values = writer.build.call_many(op.name, *arrays, hints=tuple(o.name for o in op.outs), **op.settings)
    results: list[Thing] = []
    for value, out in zip(values, op.outs, strict=True):
        if isinstance(out.type, Scalar):
            results.append(value)
        else:
            value.type = out.type
            results.append(lowering.memory(value, out, forms[0].extents))
    return results


def solve(lowering: Context, op: Call) -> Thing:
    """Solve a system; exploits a matrix that is triangular by construction."""
    lower = triangle(lowering, op.args[0])
    return system(lowering, op, "solution_into") if lower is None else system(lowering, op, "triangular_into", Const(lower), Const(False))


def triangle(lowering: Context, operand: Operand) -> bool | None:
    """Whether the matrix is lower (True) or upper (False) triangular by the ops that define it; None otherwise."""
    maker = lowering.facts.maker.get(operand) if isinstance(operand, Value) else None
    if not isinstance(maker, Call):
        return None
    if maker.name == "cholesky":
        return True
    if maker.name in ("tril", "triu"):
        k = maker.settings["k"]
        return maker.name == "tril" if k == 0 else None
    if maker.name == "view" and maker.settings["index"] == ".T" or maker.name == "mT" or maker.name == "copy":
        inner = triangle(lowering, maker.args[0])
        return inner if inner is None or maker.name == "copy" else not inner
    return None


def triangular(lowering: Context, op: Call) -> Thing:
    """Solve a system that uses only a triangle of its matrix."""
    return system(lowering, op, "triangular_into", Const(bool(op.settings["lower"])), Const(op.name == "solve_transposed"))


def system(lowering: Context, op: Call, into: str, *settings: Const) -> Thing:
    """Solve a system into a new array."""
    writer = lowering.writer
    a, b = (lowering.form(x) for x in op.args)
    if (a.rank, a.dtype, b.dtype) != (2, "f64", "f64") or b.rank not in (1, 2):
        raise OutOfReach("a linear system other than a float64 matrix with a float64 vector or matrix", op.loc)
    writer.require_equal(*a.extents)
    writer.require_equal(a.extents[0], b.extents[0])
    columns = b if b.rank == 2 else expanded(b, 1)
    matrices = as_matrix(lowering, a), as_matrix(lowering, columns)
    handle = writer.empty("f64", columns.extents, op.outs[0].name)
    writer.whole(into, handle, *matrices, *settings, *bases(lowering, matrices))
    solution = stored(writer, handle, "f64", columns.extents, frozenset({handle}))
    return solution if b.rank == 2 else view_of_form(solution, b.extents, lambda index: (*index, ZERO))


def over_matrix(lowering: Context, op: Call) -> Thing:
    """A number for each matrix of a stack."""
    if isinstance(op.outs[0].type, Scalar):
        return lowering.thing(op.args[0])
    s = lowering.form(op.args[0])
    return expanded(expanded(s, s.rank), s.rank)


def slid(lowering: Context, op: Call) -> Thing:
    """A convolution or correlation of vectors, by a function compiled once."""
    writer, dtype = lowering.writer, dtype_of(op)
    forms = [lowering.materialised(a) for a in op.args[:2]]
    if any(f.rank != 1 for f in forms):
        raise OutOfReach(f"{function_in_words(op)} of operands that are not vectors", op.loc)
    (a, n), (v, m) = ((f.memory, f.extents[0]) for f in forms)
    assert a is not None
    assert v is not None
    if op.name == "convolution":
        for extent in (n, m):
            if_zero(writer.build, extent)
        extents: tuple[Operand, ...] = (writer.pure("subtract", writer.pure("add", n, m), ONE),)
    else:
        extents = lowering.extents(op.args[2])
    out = writer.empty(dtype, extents, op.outs[0].name)
    writer.whole(f"{op.name}_into", out, a, v)
    return stored(writer, out, dtype, extents, frozenset({out}))


RULES = {
    **dict.fromkeys(("matmul", "dot"), matmul),
    **dict.fromkeys(("matmul_left", "dot_left"), left_cotangent),
    **dict.fromkeys(("matmul_right", "dot_right"), right),
    "outer": outer,
    **dict.fromkeys(("convolution", "correlation"), slid),
    "solve": solve,
    **dict.fromkeys(("inv", "det", "slogdet", "cholesky", "cofactors"), library),
    **dict.fromkeys(("solve_triangular", "solve_transposed"), triangular),
    "over_matrix": over_matrix,
}
