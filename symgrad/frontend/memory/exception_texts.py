"""Texts of exceptions: inside a handler, the exception of a pop, an index, an unpacking or an extreme says what Python's says.

The rows that compute these would raise with the text of another operation. The functions here raise before such a row runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from symgrad.frontend.flow.edges import check_count, fail, fail_unless, filled_in, opposite, sees
from symgrad.frontend.flow.flow import branch
from symgrad.frontend.memory.failing import outside
from symgrad.frontend.state.bindings import Binding, Obj, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import ZERO, Const, Operand


def text_of_pop(owner: Obj) -> str:
    """The message of ``pop`` of an empty list or deque."""
    return "pop from an empty deque" if owner.key.exact is deque else "pop from empty list"


def text_of_index(owner: Binding, stored: bool = False) -> str:
    """The message of a subscript that is out of range."""
    if isinstance(owner, Obj) and owner.key.exact is deque:
        return "deque index out of range"
    return f"{'tuple' if isinstance(owner, Tup) else 'list'} {'assignment ' if stored else ''}index out of range"


def text_of_extreme(smaller: bool) -> str:
    """The message of ``max`` or ``min`` of an empty iterable, which depends on the version of Python."""
    try:
        return str((min if smaller else max)(()))
    except ValueError as error:
        return str(error)


def check_pop(ctx: Lowering, owner: Obj, held: Operand, place: Operand) -> None:
    """The place of ``pop`` in a list or deque of any length."""
    if sees(ctx, IndexError):
        length = ctx.call("list_len", held)
        fail_unless(ctx, ctx.call("greater", length, ZERO), IndexError, text_of_pop(owner))
        if not isinstance(place, Const) or place.value not in (0, -1):
            fail_unless(ctx, opposite(ctx, outside(ctx, place, length)), IndexError, "pop index out of range")


def check_index(ctx: Lowering, owner: Obj, held: Operand, place: Operand) -> None:
    """The index of a deque of any length; that of a list says the right text by itself."""
    if sees(ctx, IndexError):
        length = ctx.call("list_len", held)
        fail_unless(ctx, opposite(ctx, outside(ctx, place, length)), IndexError, text_of_index(owner))


@contextmanager
def of_some(ctx: Lowering, length: Callable[[], Operand], smaller: bool) -> Iterator[None]:
    """Around the row that computes ``max`` or ``min`` of numbers, which then raises for none of them."""
    if not sees(ctx, ValueError):
        yield
        return
    fail_unless(ctx, ctx.call("greater", length(), ZERO), ValueError, text_of_extreme(smaller))
    with ctx.unwatched():
        yield


def check_enough(ctx: Lowering, length: Operand, count: int, word: str = "") -> None:
    """At least as many items as an unpacking needs."""

    def too_few() -> None:
        fail(ctx, ValueError, filled_in(ctx, f"not enough values to unpack (expected {word}{count}, got {{}})", length))

    branch(ctx, ctx.call("less", length, Const(count)), too_few, lambda: None, [], ctx.builder.loc)


def check_unpacked(ctx: Lowering, length: Operand, count: int) -> None:
    """As many items as an unpacking has targets."""
    if not sees(ctx, ValueError):
        check_count(ctx, length, Const(count), f"too many or too few values to unpack (expected {count})")
        return
    check_enough(ctx, length, count)
    fail_unless(ctx, ctx.call("less_equal", length, Const(count)), ValueError, f"too many values to unpack (expected {count})")


__all__ = ["check_enough", "check_index", "check_pop", "check_unpacked", "of_some", "text_of_extreme", "text_of_index", "text_of_pop"]
