"""A refusal of a dynamic value -> the integer argument of the call that would make it static as part of the signature.

Such an integer is pinned: the function is compiled for its value, and compiled again for another
one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.errors import SymgradError, UnknownType, UnsupportedSyntax
from symgrad.frontend.state.bindings import Num, Tup
from symgrad.frontend.state.shared_state import SharedState
from symgrad.ir.core import Operand, Value
from symgrad.ir.types import Array, Dim, List, Scalar


class NotLiteral(UnsupportedSyntax, ValueError):
    """A binding that must be static is dynamic; a ``ValueError`` for callers that can do without it."""

    def __init__(self, unknown: Any) -> None:
        super().__init__("this must be a literal")
        self.unknown = unknown


def located(ctx: SharedState, error: SymgradError, node: ast.AST) -> SymgradError:
    """Add the location to a refusal; for a ``NotLiteral`` also the integer of the call that would make it static, if there is one."""
    if isinstance(error, NotLiteral) and error.unknown is not None:
        pinned(ctx, error, [error.unknown])
        error.unknown = None
    return error.at(ctx.loc(node))


def pinnable(ctx: SharedState, binding: Any) -> str | None:
    """The expression that reads an integer of the call or from outside, whose value could be part of the signature.

    For a computed integer, the expression of one of those that it is computed from.
    """
    match binding:
        case Num(Value() as value):
            return integer_behind(ctx, value, set())
        case Tup(items):
            return next((text for i in items if (text := pinnable(ctx, i)) is not None), None)
    return None


def integer_behind(ctx: SharedState, value: Operand, seen: set[Operand]) -> str | None:
    """The expression that reads an integer, or the first of those that an integer, or the length of a list, is computed from."""
    if not isinstance(value, Value) or value in seen:
        return None
    seen.add(value)
    if isinstance(value.type, Scalar) and value.type.kind in ("int", "bool"):
        extents = (ctx.builder.extents.get(value), *ctx.builder.sizes.get(value, ()))
        if (text := ctx.texts.get(value) or next(filter(None, (text_of_extent(ctx, extent) for extent in extents)), None)) is not None:
            return text
    elif not isinstance(value.type, List):
        return None
    return next((text for one in ctx.builder.integers.get(value, ()) if (text := integer_behind(ctx, one, seen)) is not None), None)


def what_decides(ctx: SharedState, test: Operand) -> str | None:
    """The expression that reads an integer or bool of the call or from outside, if only such values decide a test; else None.

    Of several it is the first; if that is static, a later refusal names the next.
    """
    texts: list[str] = []
    waiting, seen = [test], set[Operand]()
    while waiting:
        value = waiting.pop(0)
        if not isinstance(value, Value) or value in seen:
            continue
        seen.add(value)
        text = ctx.texts.get(value) or text_of_extent(ctx, ctx.builder.extents.get(value))
        if text is not None and isinstance(value.type, Scalar) and value.type.kind in ("int", "bool"):
            texts.append(text)
        elif text is None and ctx.builder.integers.get(value):
            waiting += ctx.builder.integers[value]
        else:
            return None
    return texts[0] if texts else None


@contextmanager
def refused_beside(ctx: SharedState, test: Operand) -> Iterator[None]:
    """Where a side of a branch is refused, and integers alone decide the test, add the integer: if it is static, that side may vanish."""
    before = len(ctx.refusals)
    raised: list[SymgradError] = []
    try:
        yield
    except SymgradError as error:
        raised = [error]
        raise
    finally:
        refusals = [refusal for refusal in (*ctx.refusals[before:], *raised) if refusal.pin is None]
        text = what_decides(ctx, test) if refusals else None
        for refusal in refusals if text is not None else ():
            pinned_as(ctx, refusal, text)


def pin_splits(ctx: SharedState) -> None:
    """Give refusals of values of unknown type the integer that decides a branch, if its two sides bind values of different types."""
    for refusal in ctx.refusals:
        if ctx.splits and refusal.pin is None and isinstance(refusal, UnknownType):
            pinned_as(ctx, refusal, ctx.splits[0])


def pinned(ctx: SharedState, refusal: SymgradError, bindings: Iterable[Any]) -> SymgradError:
    """The refusal of a dynamic value, with the integer that would make it static, if there is one."""
    return pinned_as(ctx, refusal, next((text for one in bindings if (text := pinnable(ctx, one)) is not None), None))


def pinned_extent(ctx: SharedState, refusal: SymgradError, extent: Any) -> SymgradError:
    """The refusal of a value that a static extent would make static, with the extent of the call."""
    return pinned_as(ctx, refusal, text_of_extent(ctx, extent)) if isinstance(extent, Dim) else refusal


def text_of_extent(ctx: SharedState, extent: Any) -> str | None:
    """The expression that reads, from an array of the call, an extent or the extent that it is computed from."""
    if not isinstance(extent, Dim):
        return None
    arrays = [(path, value.type) for value, path in ctx.texts.items() if isinstance(value.type, Array)]
    extents = ((path, k, e) for path, array in arrays for k, e in enumerate(array.shape or ()) if isinstance(e, Dim))
    return next((f"{path}.shape[{k}]" for path, k, e in extents if e.symbol == extent.symbol), None)


def pinned_length(ctx: SharedState, refusal: SymgradError, sequence: Operand | None) -> SymgradError:
    """The refusal of a list of dynamic length, with the integer that decides the length, if there is one."""
    return pinned_as(ctx, refusal, integer_behind(ctx, sequence, set()) if sequence is not None else None)


def pinned_as(ctx: SharedState, refusal: SymgradError, text: str | None) -> SymgradError:
    """The refusal of a value that would be static if the integer that an expression reads were."""
    refusal.pin = text
    refusal.objects = dict(ctx.external_names)
    return refusal
