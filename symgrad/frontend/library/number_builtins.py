"""table: builtins and functions of ``math`` and ``operator`` on numbers: conversions, rounding, arithmetic."""

from __future__ import annotations

import ast
import functools
import math
import operator
from typing import Any

from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.calls.rows import call_row
from symgrad.frontend.flow.absent import as_python_does, definite
from symgrad.frontend.objects.opaque import opaque
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.protocols import as_float, as_index, asked_of, checked, own_method
from symgrad.frontend.objects.python_values import answer, operand_of
from symgrad.frontend.state.bindings import MISSING, Binding, Generator, Iter, Num, Obj, Ref, Static, Tup, View
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import SPECIAL, special
from symgrad.frontend.values.comparison import comparison
from symgrad.frontend.values.exact import exact_class
from symgrad.frontend.values.identity import negated
from symgrad.frontend.values.operators import binary
from symgrad.frontend.values.truths import as_bool, truth
from symgrad.ir.core import Const
from symgrad.ir.types import INT, Scalar, Type
from symgrad.ops import spelling
from symgrad.ops.composed.numbers import OF_MANY
from symgrad.ops.composed.operators import FUNCTIONS
from symgrad.tables import OPERATORS

Args = list[Binding]
Kwargs = dict[str, Binding]


@special(divmod)
def divmod_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    for owner, other, word in ((args[0], args[1], "__divmod__"), (args[1], args[0], "__rdivmod__")):
        if (own := asked_of(ctx, owner, word, [other], node)) is not None:
            return own
    return Tup((binary(ctx, ast.FloorDiv, args[0], args[1], node), binary(ctx, ast.Mod, args[0], args[1], node)))


@special(abs)
def abs_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if own_method(ctx, args[0], "__abs__") is not None:
        return ctx.apply_method(args[0], "__abs__", [], node)
    if isinstance(args[0], Tup | Obj | Iter | View | Generator):
        return definite(ctx, MISSING, node, TypeError, f"bad operand type for abs(): {exact_class(ctx, args[0], node).__name__!r}")
    if any(type(value) is int for value in known_value(args[0])):
        return Num(Const(abs(known_value(args[0])[0])))
    spelled = spelling.spelled(abs)
    assert spelled is not None
    return call_row(ctx, spelled, args, kwargs, node)


def _step(function: Any, word: str) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        """``math.floor`` and the like: the special method of an instance, or a row of numbers."""
        if (own := asked_of(ctx, args[0], word, [], node)) is not None:
            return own
        spelled = spelling.spelled(function)
        assert spelled is not None
        return call_row(ctx, spelled, [as_float(ctx, a, node) for a in args], kwargs, node)

    return lower


for _stepping, _word in ((math.floor, "__floor__"), (math.ceil, "__ceil__"), (math.trunc, "__trunc__")):
    SPECIAL[_stepping] = _step(_stepping, _word)


#: the special methods by which Python converts an instance to a number
WORDS: dict[type, tuple[str, ...]] = {int: ("__int__", "__index__", "__trunc__"), float: ("__float__", "__index__"), bool: ()}


def _of_many(function: Any, saying: Any) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        """``math.hypot`` and the like: a row for two numbers, a composition for any other count."""
        numbers = [as_float(ctx, a, node) for a in args]
        if len(args) != 2 or kwargs:
            return call_function(ctx, saying, numbers, kwargs, node)
        spelled = spelling.spelled(function)
        assert spelled is not None
        return call_row(ctx, spelled, numbers, kwargs, node)

    return lower


for _function, _saying in OF_MANY.items():
    SPECIAL[_function] = _of_many(_function, _saying)


def _converting(kind: type) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        """Static values are converted at compile time, so that they can be an index or a key."""
        own = next((own for word in WORDS[kind] if args and (own := asked_of(ctx, args[0], word, [], node)) is not None), None)
        if own is not None:
            return checked(
                ctx, own, ("float",) if kind is float and own_method(ctx, args[0], "__float__") else ("int", "bool"), kind.__name__, node
            )
        known = [v for a in args for v in known_value(a)]
        if not kwargs and len(args) < 2 and len(known) == len(args) and all(isinstance(v, bool | int) for v in known):
            return Num(Const(kind(*known)))
        if not kwargs and kind is not bool and len(known) == len(args) == 1 and isinstance(known[0], str):
            result = as_python_does(ctx, node, lambda: kind(known[0]))
            return result if isinstance(result, Binding) else Num(Const(result))
        if kind is int and len(args) + len(kwargs) == 2:
            return of_base(ctx, args, kwargs, node)
        if len(args) == 1 and kind is not bool and isinstance(args[0], Tup | Obj | Iter | View | Generator):
            kinds = "a string or a real number" if kind is float else "a string, a bytes-like object or a real number"
            what = f"{kind.__name__}() argument must be {kinds}, not {exact_class(ctx, args[0], node).__name__!r}"
            return definite(ctx, MISSING, node, TypeError, what)
        spelled = spelling.spelled(kind)
        assert spelled is not None
        return call_row(ctx, spelled, args, kwargs, node)

    return lower


def of_base(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """``int(text, base)``."""
    operands = [*args, *kwargs.values()]
    known = [v for a in operands for v in known_value(a)]
    if len(known) == 2:
        result = as_python_does(ctx, node, lambda: int(*known[: len(args)], **dict(zip(kwargs, known[len(args) :], strict=True))))
        return result if isinstance(result, Binding) else Num(Const(result))
    return answer(ctx, int, [operand_of(ctx, a, node) for a in operands], INT, tuple(kwargs))


CONVERTING = {kind: _converting(kind) for kind in (int, float, bool)}
SPECIAL[int], SPECIAL[float] = CONVERTING[int], CONVERTING[float]


@special(bool)
def bool_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """``bool(x)`` of a number is a row; of anything else the truth value."""
    if args and not kwargs and not isinstance(args[0], Num | Ref):
        test = truth(ctx, args[0], node)
        if isinstance(test, Const) or getattr(test.type, "kind", None) == "bool":
            return Num(as_bool(ctx, test))
    return CONVERTING[bool](ctx, args, kwargs, node)  # type: ignore[no-any-return]


@special(round)
def round_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if (own := asked_of(ctx, args[0], "__round__", [*args[1:], *kwargs.values()], node)) is not None:
        return own
    operands = [ctx.read(a, node) for a in [*args, *kwargs.values()]]
    return ctx.make(ctx.call("rounded", *operands))


@special(pow)
def pow_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """``pow(x, y)``; with a modulus, of integers."""
    if len(args) == 2 and not kwargs:
        return binary(ctx, ast.Pow, args[0], args[1], node)
    named = dict(zip(("base", "exp", "mod"), args, strict=False)) | kwargs
    if len(args) + len(kwargs) == 2 and set(named) == {"base", "exp"}:
        return binary(ctx, ast.Pow, named["base"], named["exp"], node)
    operands = [named[word] for word in ("base", "exp", "mod") if word in named]
    if len(operands) != 3 or not all(is_python_integer(ctx.type_of(a)) for a in operands):
        spelled = spelling.spelled(pow)
        assert spelled is not None
        return call_row(ctx, spelled, args, kwargs, node)
    known = [v for a in operands for v in known_value(a)]
    if len(known) == 3:
        result = as_python_does(ctx, node, lambda: pow(*known))
        return result if isinstance(result, Binding) else Num(Const(result))
    return answer(ctx, pow, [ctx.read(a, node) for a in operands], INT)


def is_python_integer(type_: Type) -> bool:
    """Whether the type is an integer or a bool of Python's."""
    return isinstance(type_, Scalar) and type_.dtype is None and type_.kind in ("int", "bool")


# ------------------------------------------------------------------ functions of the module operator


#: operators of two numbers, arrays or objects
BINARY: dict[Any, type[ast.AST]] = {
    OPERATORS[kind]: kind for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod)
}

for _function, _kind in BINARY.items():
    SPECIAL[_function] = functools.partial(lambda ctx, args, kwargs, node, kind: binary(ctx, kind, args[0], args[1], node), kind=_kind)
for _function, _text in FUNCTIONS.items():
    SPECIAL[_function] = functools.partial(lambda ctx, args, kwargs, node, text: ctx.apply(text, args, kwargs, node), text=Static(_text))


def _compared(kind: type[ast.cmpop]) -> Any:
    return lambda ctx, args, kwargs, node: comparison(ctx, kind(), args[0], args[1], node)


for _function, _comparison in {
    operator.eq: ast.Eq,
    operator.ne: ast.NotEq,
    operator.lt: ast.Lt,
    operator.le: ast.LtE,
    operator.gt: ast.Gt,
    operator.ge: ast.GtE,
    operator.is_: ast.Is,
    operator.is_not: ast.IsNot,
}.items():
    SPECIAL[_function] = _compared(_comparison)
SPECIAL[operator.contains] = lambda ctx, args, kwargs, node: comparison(ctx, ast.In(), args[1], args[0], node)
SPECIAL[operator.abs] = abs_


@special(operator.not_)
def not_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return Num(negated(ctx, truth(ctx, args[0], node)))


SPECIAL[operator.truth] = bool_


@special(operator.index)
def index_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """``operator.index``: an integer, as in an index; a float raises ``TypeError``."""
    held = as_index(ctx, args[0], node)
    type_ = ctx.type_of(held)
    if isinstance(type_, Scalar) and type_.kind in ("int", "bool"):
        return CONVERTING[int](ctx, [held], {}, node)  # type: ignore[no-any-return]
    if isinstance(type_, Scalar) and type_.dtype is None:
        return definite(ctx, MISSING, node, TypeError, f"{type_.kind!r} object cannot be interpreted as an integer")
    return opaque(ctx, operator.index, "operator.index", [held], {}, node)
