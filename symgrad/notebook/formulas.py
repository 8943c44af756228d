"""A scalar function and its partial derivatives as LaTeX, where both are short closed forms."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from symgrad.ir.core import Call, Func, Operand, Value
from symgrad.ir.types import Scalar
from symgrad.ops.derive import SYMPY_NAMES
from symgrad.ops.signatures import AST_OPERATORS
from symgrad.tables import OPERATORS as OPERATORS_OF_PYTHON

#: rows that are operators
OPERATORS: dict[str, Callable[..., Any]] = {
    **{AST_OPERATORS[kind]: OPERATORS_OF_PYTHON[kind] for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)},
    "negative": operator.neg,
    "positive": operator.pos,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "number": lambda x: x,
    "ratio": operator.truediv,
}
#: rows that sympy has under the same name, or under that of ``SYMPY_NAMES``
FUNCTIONS = frozenset("sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp log sqrt erf".split())
#: forms with more operations are not shown
LONGEST = 40
MOST_OPS = 40


def formulas(name: str, function: Func, derivative: Func, wrt: Sequence[str]) -> str | None:
    """The lines of LaTeX; None where the function is no short closed form of numbers.

    The derivatives are read from the derivative that symgrad has made, and simplified by sympy.

    >>> import symgrad
    >>> derived = symgrad.grad(symgrad.from_source("def f(x): return x * x"))
    >>> stages = derived._entry((1.0,), {}, None).compiled.stages()
    >>> print(formulas("f", stages["simplified"], stages["optimized"], ["x"]).replace(chr(92), "/"))
    /begin{aligned} f(x) &= x^{2} // /frac{/partial f}{/partial x} &= 2 x /end{aligned}
    """
    values, slopes = closed_forms(function), closed_forms(derivative)
    if values is None or slopes is None or len(values) != 1 or len(slopes) < len(wrt):
        return None
    import sympy

    shown = [values[0], *map(sympy.simplify, slopes[len(slopes) - len(wrt) :])]
    if any(form.count_ops() > LONGEST for form in shown):
        return None
    symbol = sympy.latex(sympy.Symbol(name))
    names = ", ".join(sympy.latex(sympy.Symbol(value.name or "?")) for value in function.params)
    left = [f"{symbol}({names})", *(rf"\frac{{\partial {symbol}}}{{\partial {sympy.latex(sympy.Symbol(one))}}}" for one in wrt)]
    lines = [f"{side} &= {sympy.latex(form)}" for side, form in zip(left, shown, strict=True)]
    return r" \\ ".join(lines).join((r"\begin{aligned} ", r" \end{aligned}"))


def closed_forms(func: Func) -> list[Any] | None:
    """The results as expressions of sympy; None for a function that is more than arithmetic of numbers."""
    if len(func.body.ops) > MOST_OPS or not all(isinstance(value.type, Scalar) and value.type.kind == "float" for value in func.params):
        return None
    import sympy

    known: dict[Value, Any] = {value: sympy.Symbol(value.name or f"p{k}", real=True) for k, value in enumerate(func.params)}

    def form(operand: Operand) -> Any:
        if isinstance(operand, Value):
            return known[operand]
        if not isinstance(operand.value, int | float) or isinstance(operand.value, bool):
            raise TypeError(operand)
        number = operand.value
        return sympy.Integer(int(number)) if number == int(number) else sympy.Float(number, 6)

    try:
        for op in func.body.ops:
            if not isinstance(op, Call) or len(op.outs) != 1:
                return None
            known[op.outs[0]] = applied(op, [form(operand) for operand in op.args])
        return [form(operand) for operand in func.body.yields]
    except (TypeError, KeyError, OverflowError, ValueError):
        return None


def applied(op: Call, args: list[Any]) -> Any:
    """A row on expressions; KeyError for a row that is none of the tables."""
    import sympy

    if op.name in FUNCTIONS:
        return getattr(sympy, SYMPY_NAMES.get(op.name, op.name))(*args)
    if op.name == "number" and op.settings.get("kind") not in (None, "float"):
        raise KeyError(op.name)
    return OPERATORS[op.name](*args)


__all__ = ["closed_forms", "formulas"]
