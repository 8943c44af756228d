"""Integrals that SciPy computes: the arguments of ``quad``, and its result as a differentiable value."""

from __future__ import annotations

from symgrad.frontend.bindings import Binding, Num, Tup
from symgrad.frontend.solving import Solving, is_value
from symgrad.ir.core import TRUE, Operand
from symgrad.ir.types import FLOAT, Array, is_complex

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


__all__ = ["of_quad"]
