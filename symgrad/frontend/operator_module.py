"""table: functions of ``operator``, which are operators of Python as functions."""

from __future__ import annotations

import ast
import functools
import operator
from typing import Any

from symgrad.frontend.absent import definite
from symgrad.frontend.bindings import MISSING, Binding, Num, Static
from symgrad.frontend.comparison import comparison, negated
from symgrad.frontend.context import Lowering
from symgrad.frontend.number_builtins import CONVERTING, abs_, bool_
from symgrad.frontend.opaque import opaque
from symgrad.frontend.operators import binary
from symgrad.frontend.protocols import as_index
from symgrad.frontend.tables import SPECIAL, special
from symgrad.frontend.truths import truth
from symgrad.ir.types import Scalar
from symgrad.ops.composed.operators import FUNCTIONS

Args = list[Binding]
Kwargs = dict[str, Binding]

#: operators of two numbers, arrays or objects
BINARY: dict[Any, type[ast.operator]] = {
    operator.add: ast.Add, operator.sub: ast.Sub, operator.mul: ast.Mult, operator.truediv: ast.Div, operator.pow: ast.Pow,
    operator.matmul: ast.MatMult, operator.floordiv: ast.FloorDiv, operator.mod: ast.Mod,
}  # fmt: skip

for _function, _kind in BINARY.items():
    SPECIAL[_function] = functools.partial(lambda ctx, args, kwargs, node, kind: binary(ctx, kind, args[0], args[1], node), kind=_kind)
for _function, _text in FUNCTIONS.items():
    SPECIAL[_function] = functools.partial(lambda ctx, args, kwargs, node, text: ctx.apply(text, args, kwargs, node), text=Static(_text))


def _compared(kind: type[ast.cmpop]) -> Any:
    return lambda ctx, args, kwargs, node: comparison(ctx, kind(), args[0], args[1], node)


for _function, _comparison in {
    operator.eq: ast.Eq, operator.ne: ast.NotEq, operator.lt: ast.Lt, operator.le: ast.LtE, operator.gt: ast.Gt, operator.ge: ast.GtE,
    operator.is_: ast.Is, operator.is_not: ast.IsNot,
}.items():  # fmt: skip
    SPECIAL[_function] = _compared(_comparison)
SPECIAL[operator.contains] = lambda ctx, args, kwargs, node: comparison(ctx, ast.In(), args[1], args[0], node)
SPECIAL[operator.abs] = lambda ctx, args, kwargs, node: abs_(ctx, args, kwargs, node)


@special(operator.not_)
def not_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return Num(negated(ctx, truth(ctx, args[0], node)))


SPECIAL[operator.truth] = lambda ctx, args, kwargs, node: bool_(ctx, args, kwargs, node)


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
