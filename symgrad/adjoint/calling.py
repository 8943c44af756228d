"""Building blocks for the derivatives of solutions: inlining functions of the program, and calls of SciPy's integrators with them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from symgrad.adjoint.unbroadcast import NARROW
from symgrad.errors import NoDerivative
from symgrad.ir.core import Call, Const, Func, Operand, Value, clone, clone_block, substitute, walk
from symgrad.ops.build import Builder

#: the default accuracy of ``quad``; that of ``quad_vec`` differs
ACCURACY = {"epsabs": 1.49e-8, "epsrel": 1.49e-8}

#: settings that name break points of an integrand or a rate, with the hint where these points have a derivative
BREAKS = {
    "points": "integrate from break to break, whose places are then ends of integrals, or call stop_gradient if nothing jumps there",
    "tcrit": "solve up to the break and on from there, or call stop_gradient if nothing jumps there",
}


def called(
    builder: Builder, name: str, func: Func, leading: Sequence[Operand], rest: Sequence[Operand], options: Mapping[str, Any]
) -> Value:
    """Emit a call of one of SciPy's integrators, with a function of the program that reads ``rest``."""
    function = getattr(sys.modules["scipy.integrate"], name)
    words = {**ACCURACY, **options} if name == "quad_vec" else options
    named = {word: value if isinstance(value, Value | Const) else Const(value) for word, value in words.items()}
    if rest:
        listed = builder.call("list_of", *rest)
        named["args"] = builder.call("opaque_pure", Const(tuple, "tuple"), listed, names=())
    return builder.call("solver", Const(function, name), Const(func, func.name), *leading, *named.values(), names=tuple(named))


def scaled(builder: Builder, value: Operand, factor: Operand) -> Operand:
    """A value times a factor, which is usually 1."""
    return value if isinstance(factor, Const) and factor.value == 1.0 else builder.call("multiply", value, factor)


def as_seed(builder: Builder, value: Operand, param: Operand) -> Operand:
    """A value in the precision of the cotangent that it is passed as."""
    dtype = getattr(param.type, "dtype", None)
    is_same = dtype not in NARROW or getattr(value.type, "dtype", None) == dtype
    return value if is_same else builder.call("cast", value, dtype=dtype)


def options_of(op: Call, rest: list[Operand]) -> tuple[dict[str, Operand], list[Operand]]:
    """Split the operands into a solver's settings by keyword, and the values that the equation reads."""
    words = op.settings["words"]
    return dict(zip(words, rest, strict=False)), rest[len(words) :]


def check_unmoved(op: Call, positions: Sequence[int]) -> None:
    """Refuse derivatives with respect to the positions of breaks; ``positions`` count the settings first.

    A jump at a moving position contributes to the derivative; the integral of a derivative and sensitivities
    omit that contribution.
    """
    for place, word in enumerate(op.settings["words"]):
        if word in BREAKS and place in positions:
            raise NoDerivative(f"{word}= depends on a differentiated value: a break that moves", op.loc, BREAKS[word])


def inline(builder: Builder, func: Func, operands: Sequence[Operand]) -> list[Operand]:
    """Inline the ops of a function here, with these operands as its parameters."""
    copy = clone_block(func.body, {})
    substitute(copy, dict(zip(copy.args, operands, strict=True)))
    builder.block.ops += copy.ops
    return list(copy.yields)


def with_sensitivities(func: Func) -> Func:
    """The function, if many derivatives of its differential equations are taken: their sensitivities, computed once, serve them all."""
    if not any(isinstance(op, Call) and op.name == "trajectory" for op in walk(func.body)):
        return func
    func = clone(func)
    for op in walk(func.body):
        if isinstance(op, Call) and op.settings.get("sensitivity") == "auto":
            op.settings = {**op.settings, "sensitivity": "forward"}
    return func


__all__ = ["as_seed", "called", "check_unmoved", "options_of", "inline", "scaled", "with_sensitivities"]
