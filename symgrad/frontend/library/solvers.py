"""Roots, fixed points, minima and integrals of SciPy: the arguments of each function, the equation that it solves, and its result."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.frontend.derivatives.inner import Derivative
from symgrad.frontend.library.solving import NUMBER, Enclosed, Solving, is_real_number, is_value, items_of, unread
from symgrad.frontend.library.trajectories import of_odeint, of_solve_ivp
from symgrad.frontend.objects.opaque import opaque
from symgrad.frontend.state.bindings import Binding, Num, Static, Tup, is_none
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import TRUE, Call, Const, Operand, Value
from symgrad.ir.types import FLOAT, Array, Dim, Scalar, Type, is_complex
from symgrad.ops.composed import in_scipy
from symgrad.ops.composed.equations import first_of, first_vector_of, moved_by, vector_of, within

#: the factor of a derivative where a solver raises if it does not converge
SURE = Const(1.0)
#: the result types of solvers that return a number or an array
PLAIN: dict[str, Type] = {
    **dict.fromkeys(("brentq", "brenth", "bisect", "ridder"), FLOAT),
    **dict.fromkeys(("toms748", "newton"), NUMBER),
    "fsolve": Array("f64", (Dim("?"),), "C"),
    "odeint": Array("f64", (Dim("?"), Dim("?")), "C"),
}
#: methods of ``minimize`` whose result is exactly on a bound if the minimum is
ON_BOUNDS = (None, "l-bfgs-b", "tnc", "slsqp", "nelder-mead", "powell")


# -------------------------------------------------------------------- one number


def of_bracket(solving: Solving) -> Binding:
    """``brentq`` and the like: a root between two ends, which have no derivative."""
    if solving.known("full_output", False):
        raise solving.refuse("full_output=True is not supported where a derivative is taken", "call scipy.optimize.root_scalar")
    type_ = NUMBER if solving.name == "toms748" else FLOAT
    return number(solving, "f", type_, {"f": equation_of(solving, "f", type_)})


def of_newton(solving: Solving) -> Binding:
    """``newton``: a root near a start, which has no derivative."""
    if solving.known("full_output", False):
        raise solving.refuse("full_output=True is not supported where a derivative is taken", "call scipy.optimize.root_scalar")
    if not is_real_number(solving.bound["x0"]):
        return newton_of_each(solving)
    functions = {"func": equation_of(solving, "func", NUMBER), **solving.derivatives(NUMBER, "fprime", "fprime2")}
    return number(solving, "func", NUMBER, functions)


def newton_of_each(solving: Solving) -> Binding:
    """``newton`` from a vector: one independent equation and root for each element."""
    type_ = start(solving, "x0")
    if not solving.known("disp", True):
        raise solving.refuse("disp=False is not supported for a vector where a derivative is taken", "leave it out")
    written, equation = system(solving, "func", type_)
    result = solving.call({"func": written, **solving.derivatives(type_, "fprime", "fprime2")}, {"full_output": Num(TRUE)}, hint="result")
    ctx = solving.ctx
    converged = ctx.call("all", ctx.call("to_array", solving.part(result, 1), dtype=None), hint="converged", axis=None, keepdims=False)
    factor = ctx.call("convergence", converged, Const("some failed to converge"))
    return solving.solution(solving.part(result, 0, type_, "x"), factor, equation)


def number(solving: Solving, word: str, type_: Type, functions: dict[str, Enclosed]) -> Binding:
    """A root that is returned as a number; with ``disp=False`` the solver reports whether it has converged."""
    equation, hint = functions[word], solving.unknown(solving.bound[word], 0, "x")
    if solving.known("disp", True):
        return solving.solution(solving.call(functions, {}, type_, hint), SURE, equation)
    result = solving.call(functions, {"full_output": Num(TRUE)}, hint="result")
    report = solving.part(result, 1)
    return solving.solution(solving.part(result, 0, type_, hint), valid(solving, report, "converged", "flag"), equation)


def of_root_scalar(solving: Solving) -> Binding:
    """``root_scalar``: an object whose attribute ``root`` has a derivative."""
    if "x0" in solving.bound:
        check_number(solving, "x0", "call scipy.optimize.root")
    gives_more = any(not solving.is_function(word) and solving.known(word, False) for word in ("fprime", "fprime2"))
    written = solving.as_written("f", [("x", NUMBER)], "equation")
    equation = equation_of(solving, "f", NUMBER, first_of) if gives_more else written
    result = solving.call({"f": written, **solving.derivatives(NUMBER, "fprime", "fprime2")}, hint="result")
    root = solving.solution(solving.part(result, "root", NUMBER, "root"), valid(solving, result, "converged", "flag"), equation)
    return solving.record(result, {"root": root})


def equation_of(solving: Solving, word: str, type_: Type, said: Callable[..., Any] | None = None) -> Enclosed:
    """The user's function as an equation of one number, or a composition ``said`` of that function."""
    of = solving.bound[word]

    def results(value: Binding) -> list[Operand]:
        if not is_value(value):
            raise solving.refuse("the function must return a number")
        return [solving.ctx.read(value, solving.node)]

    unknown = [(solving.unknown(of, 0, "x"), type_)]
    if said is None:
        return solving.enclosed(of, unknown, solving.spoken(of, "equation"), results)
    return solving.enclosed(Static(said), unknown, "equation", results, [of])


def valid(solving: Solving, result: Operand, success: str | int, message: str | int) -> Value:
    """The factor of a solution's derivative, by the solver's report of success."""
    return solving.ctx.call("convergence", solving.part(result, success), solving.part(result, message))


def check_number(solving: Solving, word: str, hint: str) -> None:
    """Refuse a start that is not one number."""
    if not is_real_number(solving.bound[word]):
        raise solving.refuse(f"{word}= must be one real number where a derivative is taken", hint)


# -------------------------------------------------------------------- several numbers


def start(solving: Solving, word: str) -> Array:
    """The type of the vector to which SciPy converts a start."""
    ctx = solving.ctx
    vector = solving.bound[word]
    for function in (np.asarray, np.atleast_1d):
        vector = ctx.apply(Static(function, f"np.{function.__name__}"), [vector], {}, solving.node)
    type_ = ctx.type_of(vector)
    if not isinstance(type_, Array) or type_.rank != 1 or type_.kind == "complex":
        raise solving.refuse(f"{word}= must be a real number or vector where a derivative is taken", "ravel it")
    if type_.dtype in ("f16", "f32") and solving.name in ("minimize", "fixed_point"):  # SciPy then searches in that precision
        raise solving.refuse(f"{word}= must be in double precision where a derivative is taken", "call astype(float)")
    return Array("f64", type_.shape, "C")


def of_fsolve(solving: Solving) -> Binding:
    """``fsolve``: a vector; with ``full_output`` also SciPy's report."""
    type_ = start(solving, "x0")
    written, equation = system(solving, "func", type_)
    result = solving.call({"func": written, **solving.derivatives(type_, "fprime")}, {"full_output": Num(TRUE)}, hint="result")
    is_found = solving.ctx.call("equal", solving.part(result, 2, Scalar("int")), Const(1))
    factor = solving.ctx.call("convergence", is_found, solving.part(result, 3))
    root = solving.solution(solving.part(result, 0, type_, "x"), factor, equation)
    if not solving.known("full_output", 0):
        return root
    return Tup((root, *(Num(solving.part(result, place)) for place in (1, 2, 3))))


def of_root(solving: Solving) -> Binding:
    """``root``: an object whose attribute ``x`` has a derivative."""
    solving.check_absent("callback", hint="leave it out")
    type_ = start(solving, "x0")
    gives_more = not solving.is_function("jac") and bool(solving.known("jac", False))
    written, equation = system(solving, "fun", type_, gives_more)
    result = solving.call({"fun": written, **solving.derivatives(type_, "jac")}, hint="result")
    root = solving.solution(solving.part(result, "x", type_, "x"), valid(solving, result, "success", "message"), equation)
    return solving.record(result, {"x": root, "fun": unread("fun", "call the function at .x")})


def system(solving: Solving, word: str, type_: Array, gives_more: bool = False) -> tuple[Enclosed, Enclosed]:
    """The user's function as it is called, and as an equation of a vector; if it ``gives_more``, its first result."""
    of = solving.bound[word]
    written = solving.as_written(word, [("x", type_)], "equations")
    (out,) = written.func.body.yields
    if not gives_more and isinstance(out.type, Array) and out.type.rank == 1:
        return written, written
    said = Static(first_vector_of if gives_more else vector_of)
    unknown = [(solving.unknown(of, 0, "x"), type_)]
    return written, solving.enclosed(said, unknown, "equations", lambda value: [solving.ctx.read(value, solving.node)], [of])


def of_fixed_point(solving: Solving) -> Binding:
    """``fixed_point``: a value that the function maps to itself."""
    is_number = is_real_number(solving.bound["x0"])
    type_: Type = NUMBER if is_number else start(solving, "x0")
    of = solving.bound["func"]
    written = solving.as_written("func", [("x", type_)], "step")
    name = solving.unknown(of, 0, "x")
    equation = solving.enclosed(Static(moved_by), [(name, type_)], "equation", lambda v: [solving.ctx.read(v, solving.node)], [of])
    if not is_number or solving.known("method", "del2") != "del2":
        return solving.solution(solving.call({"func": written}, {}, type_, name), SURE, equation)
    result = solving.call({"func": written})  # an array without axes
    root = solving.solution(solving.part(result, (), type_, name), SURE, equation)
    return solving.ctx.apply(Static(np.asarray, "np.asarray"), [root], {}, solving.node)


# -------------------------------------------------------------------- minima


def of_minimize(solving: Solving) -> Binding:
    """``minimize``: an object whose attributes ``x`` and ``fun`` have derivatives."""
    ctx, of = solving.ctx, solving.bound["fun"]
    solving.check_absent("callback", hint="leave it out")
    if "constraints" in solving.bound and items_of(solving, solving.bound["constraints"]) != []:
        raise solving.refuse("constraints= are not supported where a derivative is taken", "solve the Lagrange equations with root")
    type_ = start(solving, "x0")
    gives_more = not solving.is_function("jac") and solving.known("jac", None) is True
    before: list[Binding] = [of] if gives_more else []
    objective: Binding = Static(first_of) if gives_more else of
    gradient: Binding = Derivative(objective, "grad", len(before))
    if "bounds" in solving.bound and not is_none(solving.bound["bounds"]):
        before, gradient = [Derivative(of, "grad", 0), *bounds(solving)], Static(within)
        if gives_more:
            raise solving.refuse("jac=True and bounds= are not supported together", "pass the gradient as a function of its own, as jac=")
    name = solving.unknown(of, 0, "x")
    equation = solving.enclosed(gradient, [(name, type_)], "gradient", lambda v: [ctx.read(v, solving.node)], before)
    written = solving.as_written("fun", [("x", type_)], "objective")
    result = solving.call({"fun": written, **solving.derivatives(type_, "jac", "hess", "hessp")}, hint="result")
    x = solving.solution(solving.part(result, "x", type_, "x"), valid(solving, result, "success", "message"), equation)
    others = {"jac": "it is zero at a minimum", "hess_inv": "call symgrad.hessian at .x", "hess": "call symgrad.hessian at .x"}
    fields = {"x": x, "fun": least(solving, result, x, equation_of(solving, "fun", type_, first_of) if gives_more else written)}
    return solving.record(result, {**fields, **{word: unread(word, hint) for word, hint in others.items()}})


def least(solving: Solving, result: Operand, x: Binding, objective: Enclosed) -> Binding:
    """The objective at the minimum."""
    (out,) = objective.func.body.yields
    if not isinstance(out.type, Scalar) and not (isinstance(out.type, Array) and out.type.rank == 0):
        return unread("fun", "let the function return one number")
    value = solving.part(result, "fun", NUMBER, "fun")
    return Num(solving.ctx.call("attained", value, solving.ctx.read(x), *objective.held, func=objective.func))


def bounds(solving: Solving) -> list[Binding]:
    """The lower and the upper bounds of ``minimize`` as vectors."""
    method = solving.known("method", None)
    if not (method is None or isinstance(method, str) and method.lower() in ON_BOUNDS):
        raise solving.refuse(f"bounds= with method={method!r} are not supported where a derivative is taken", 'use method="L-BFGS-B"')
    pairs = items_of(solving, solving.bound["bounds"])
    ends = [items_of(solving, pair) for pair in pairs or []]
    if pairs is None or any(pair is None or len(pair) != 2 for pair in ends):
        raise solving.refuse("bounds= must be a list of pairs where a derivative is taken", "bounds=[(0.0, None), (0.0, 1.0)]")
    vectors: list[Binding] = []
    for side, infinite in ((0, -np.inf), (1, np.inf)):
        held = [Num(Const(infinite)) if is_none(pair[side]) else pair[side] for pair in ends if pair is not None]
        listed = solving.ctx.new_object("list", list(enumerate(held)))
        vectors.append(solving.ctx.apply(Static(np.array, "np.array"), [listed], {}, solving.node))
    return vectors


# ------------------------------------------------------------------ integrals


#: keywords that also apply to the integrals of derivatives
KEPT = ("epsabs", "epsrel", "limit", "points")
#: keywords that change the integral
OTHERS = ("weight", "wvar", "wopts")


def of_quad(solving: Solving) -> Binding:
    """``quad``: the integral and an estimate of its error, which has no derivative."""
    solving.check_absent(*OTHERS, hint="write the weight into the integrand")
    if solving.known("complex_func", False):
        raise solving.refuse("complex_func=True is not supported where a derivative is taken", "integrate the real and imaginary parts")
    words = tuple(word for word in KEPT if word in solving.bound)
    options = solving.settings(words)
    ends = [solving.ctx.read(solving.bound[word], solving.node) for word in ("a", "b")]
    of = solving.bound["func"]
    unknown = [(solving.unknown(of, 0, "x"), FLOAT)]
    integrand = solving.enclosed(of, unknown, solving.spoken(of, "integrand"), lambda value: [height(solving, value)])
    result = solving.call({"func": integrand}, {"full_output": Num(TRUE)}, hint="result")
    valid = solving.ctx.call("integrated", result)
    value = solving.part(result, 0, FLOAT, "integral")
    integral = solving.ctx.call("integral", value, valid, *ends, *options, *integrand.held, func=integrand.func, words=words)
    error = Num(solving.part(result, 1, FLOAT))
    report = [Num(solving.part(result, 2))] if solving.known("full_output", 0) else []
    return Tup((Num(integral), error, *report))


def height(solving: Solving, value: Binding) -> Operand:
    """The result of an integrand: one real number."""
    type_ = solving.ctx.type_of(value) if is_value(value) else None
    if type_ is None or is_complex(type_) or isinstance(type_, Array) and type_.rank not in (0, None):
        raise solving.refuse("the integrand must return one real number", "integrate the parts one by one")
    return solving.ctx.read(value, solving.node)


# ------------------------------------------------------------------ the table

#: the lowering of a call, by the module and name of the function
SOLVERS: dict[str, dict[str, Callable[[Solving], Binding]]] = {
    "scipy.optimize": {
        **dict.fromkeys(("brentq", "brenth", "bisect", "ridder", "toms748"), of_bracket),
        "newton": of_newton,
        "root_scalar": of_root_scalar,
        "fsolve": of_fsolve,
        "root": of_root,
        "fixed_point": of_fixed_point,
        "minimize": of_minimize,
    },
    "scipy.integrate": {"quad": of_quad, "solve_ivp": of_solve_ivp, "odeint": of_odeint},
}


def call_solver(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding | None:
    """A call of one of SciPy's solvers; None for all other functions.

    If the user's function cannot be lowered, and the result is a number or an array, SciPy is
    called with that function itself, and a derivative is refused where it is needed.
    """
    lower = in_scipy(function, SOLVERS)
    if lower is None or ctx.derive is None:
        return None
    solving = Solving.of(ctx, function, args, kwargs, node)
    solution, refusal = ctx.provisionally(lambda: lower(solving))
    if refusal is None:
        return solution
    if is_pinned(refusal) or function.__name__ not in PLAIN or "full_output" in solving.bound:
        raise refusal
    return as_it_is(ctx, function, args, kwargs, node, refusal)


def is_pinned(refusal: SymgradError) -> bool:
    """Whether the function could be lowered if an integer were static."""
    return any(error.pin for error in refusal.errors)


def as_it_is(
    ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST, refusal: SymgradError
) -> Binding:
    """A call of a solver with the user's function itself; its derivative is refused."""
    with ctx.trial() as refusals:
        try:
            opaque(ctx, function, function.__name__, args, kwargs, node)
        except SymgradError:
            raise refusal from None
    op = ctx.builder.block.ops[-1]
    if refusals or not isinstance(op, Call):
        raise refusal
    op.settings |= {"refusal": refusal, "type": PLAIN[function.__name__]}
    op.outs[0].type = ctx.builder.freshen(PLAIN[function.__name__])
    return ctx.make(op.outs[0])


__all__ = ["call_solver", "of_quad"]
