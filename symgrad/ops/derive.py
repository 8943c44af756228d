"""formula -> partial derivatives, with sympy: ``"sqrt(x)"`` -> ``{"x": "0.5 / out"}``.

Plain ``diff``, then the output is put back where the formula reappears; never ``simplify``, which
loses the output and overflows. The partials of the shipped rows stand in ``derived.py``, so sympy
is imported only for a formula that is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: our name of a function and sympy's, where they differ
SYMPY_NAMES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "lgamma": "loggamma",
}  # fmt: skip


def namespace(params: Sequence[str], **assumptions: bool) -> dict[str, Any]:
    """What a formula's names mean to sympy."""
    import sympy

    names = {ours: getattr(sympy, theirs) for ours, theirs in SYMPY_NAMES.items()}
    return {**names, **{p: sympy.Symbol(p, **(assumptions or {"real": True})) for p in params}}


def derive(params: Sequence[str], formula: str) -> dict[str, str]:
    """The partial derivative of a formula with respect to each of ``params``, in the params and ``out``.

    >>> derive(["x"], "tanh(x)")
    {'x': '1 - out * out'}
    """
    import sympy

    names = namespace(params)
    whole = sympy.sympify(formula, locals=names)
    out = sympy.Symbol("out", real=True)
    made = {}
    for p in params:
        partial = sympy.diff(whole, names[p])
        made[p] = say(partial if whole.is_Add and whole.is_polynomial() else partial.subs(whole, out))
    return made


def say(expression: Any) -> str:
    """A sympy expression as row text: functions are rows, squares are products, quotients stay quotients."""
    return _say(expression, 0)


def _say(e: Any, inside: int) -> str:
    """``inside``: 0 nothing, 1 a sum, 2 a product or negation, 3 a divisor or base."""
    import sympy

    ours = {theirs: name for name, theirs in SYMPY_NAMES.items()}
    if e.is_Symbol:
        return str(e.name)
    if e.is_Integer or e.is_Rational or e.is_Float:
        text = str(int(e)) if e.is_Integer else repr(float(e))
        return f"({text})" if e.is_negative and inside else text
    if not e.free_symbols:
        return _say(sympy.Float(e, 17), inside)
    if e.is_Add:
        # numbers first, then the terms with a plus, so that "1 - out * out" is said as one would write it
        terms = sorted(e.args, key=lambda t: (bool(t.free_symbols), t.could_extract_minus_sign(), str(t)))
        text = _say(terms[0], 1)
        for t in terms[1:]:
            text += f" - {_say(-t, 2)}" if t.could_extract_minus_sign() else f" + {_say(t, 1)}"
        return f"({text})" if inside >= 2 else text
    if e.could_extract_minus_sign() and (e.is_Mul or e.is_Pow):
        text = f"-{_say(-e, 2)}"
        return f"({text})" if inside else text
    if e.is_Mul or e.is_Pow:
        return _say_product(e, inside)
    return f"{ours.get(type(e).__name__, type(e).__name__)}({', '.join(_say(a, 0) for a in e.args)})"


def _say_product(e: Any, inside: int) -> str:
    import sympy

    above: list[str] = []
    below: list[str] = []
    for factor in sympy.Mul.make_args(e):
        base, exponent = factor.as_base_exp()
        if factor.is_Rational and not factor.is_Integer:
            above.insert(0, repr(float(factor)))
        elif exponent.is_Integer:
            (above if exponent.is_positive else below).extend([_say(base, 3)] * abs(int(exponent)))
        elif exponent.is_Rational and abs(exponent) == sympy.Rational(1, 2):
            (above if exponent.is_positive else below).append(f"sqrt({_say(base, 0)})")
        else:
            above.append(f"{_say(base, 3)} ** {_say(exponent, 3)}")
    text = " * ".join(above) or "1"
    if below:
        text += f" / {below[0]}" if len(below) == 1 else f" / ({' * '.join(below)})"
    return f"({text})" if inside >= 3 or inside == 2 and below else text
