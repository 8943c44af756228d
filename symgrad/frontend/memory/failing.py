"""Exceptions that operations may raise, and the tests that predict them, for each operation inside a handler.

``failures_of`` is the table. Where no test can be written, the operation runs under a Python
``try`` before its place in the program (``failure``). Where that is not possible either, the
derivative refuses the exception when it is raised.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from symgrad.frontend.flow.edges import Raisable, is_seen, kind_of, raise_here, raise_where
from symgrad.frontend.state.bindings import Num
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import SPREAD
from symgrad.ir.core import NONE, ZERO, Call, Const, Operand
from symgrad.ir.sums import combined, follows, sum_of
from symgrad.ir.types import Array, List, Scalar, ShapeOf, Type
from symgrad.ops.analysis.access_regions import PATHS
from symgrad.ops.analysis.raising import NO_ALGEBRA, is_power_of_integers, may_raise
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import OPERANDS, steps
from symgrad.ops.rows.exceptions import lambda_of, lambda_that_raises

Test = Callable[[], Operand]

ANYTHING = Raisable((Exception,))
DIVISION, OVERFLOW, DOMAIN = (Raisable((cls,), exact=True) for cls in (ZeroDivisionError, OverflowError, ValueError))
OUT_OF_RANGE = Raisable((IndexError,), exact=True)
#: exceptions of NumPy for operands that do not match; those of linear algebra are of these classes too
OF_NUMPY = Raisable((ValueError, TypeError, IndexError))
#: the exception of NumPy for shapes that do not broadcast
OF_SHAPES = Raisable((ValueError,), exact=True)
#: the exceptions of rows outside linear algebra
OF_ARRAYS = Raisable((ValueError, TypeError, IndexError, np.exceptions.AxisError), exact=True)
#: the exceptions of ``np.array`` for lists of numbers and arrays
OF_LISTS = Raisable((ValueError, TypeError, OverflowError), exact=True)
OF_NUMBERS = Raisable((ValueError, TypeError, IndexError, ArithmeticError))
#: conversions, and the exceptions that they raise
CONVERSIONS: dict[Any, tuple[type, ...]] = {
    **dict.fromkeys((float, int, complex), (ValueError, TypeError, OverflowError)),
    len: (TypeError,),
    **dict.fromkeys((str, repr, type, id, tuple, slice, print), ()),
}
#: functions of texts and sets that may raise, with the exceptions
OF_TEXTS: dict[Any, tuple[type, ...]] = {
    operator.getitem: (IndexError,),
    str.format: (Exception,),
    **dict.fromkeys((str.center, str.ljust, str.rjust), (TypeError,)),
    **dict.fromkeys((str.index, str.rindex, str.split, str.rsplit), (ValueError,)),
}
#: internal rows, which never raise
SILENT = frozenset(
    {
        *("failure", "is_failure", "is_instance", "shape_of", "extent", "zeros_of", "list_zeros", "held", "drawn", "generator", "touched"),
        *("cast", "accumulate", "label", "probe", "python_numbers", "list_join", "list_slice", "range_len", "by_rows", "copy_rows"),
    }
)
#: rows that read or write an item of a list of numbers, with the index of their index operand
ITEMS = {"list_take": 1, "list_set": 1}
STORES = frozenset({"set_at", "add_at"})
#: rows that raise for a step of 0, with the index of the step operand
STEPPED = {"list_slice": 3, "range_len": 2}


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that an operation may raise, and the test that predicts it; None if there is no such test."""

    raisable: Raisable
    test: Test | None = None


def add_edges_before(ctx: Lowering, name: str, args: tuple[Operand, ...], settings: dict[str, Any]) -> None:
    """Add exception edges, before an operation is emitted, for the exceptions that a handler in the program may catch."""
    if name in SILENT and not (name in STEPPED and is_step_open(args[STEPPED[name]])):
        return
    types = [a.type for a in args]
    settings = {**ROWS[name].settings, **settings}
    op = Call([], ctx.builder.loc, name, list(args), settings)
    if not may_raise(op, {}, {}):
        return
    seen = [failure for failure in failures_of(ctx, op) if is_seen(ctx, failure.raisable)]
    if not seen:
        return
    text, tested = lambda_of(name, settings, types), lambda_that_raises(name, settings, types)

    def known(raisable: Raisable) -> Num:
        return Num(ctx.call("failure", *args, run=tested, kind=raisable.classes[0].__name__))

    for failure in seen:
        if failure.test is not None and tested is not None:
            with ctx.unwatched():
                test = failure.test()
            raise_where(ctx, test, failure.raisable, partial(known, failure.raisable))
        elif failure.test is not None or text is None or name == "opaque":
            refuse_later(ctx, failure.raisable)
        else:
            with ctx.unwatched():
                error = ctx.call("failure", *args, run=text)
                test = ctx.call("is_failure", error)
            raise_where(ctx, test, failure.raisable, partial(Num, error))


def refuse_later(ctx: Lowering, raisable: Raisable) -> None:
    """Let the derivative refuse an exception when it is raised, because its edge is not supported."""
    for watcher in ctx.watchers:
        if raisable.verdict(watcher.kinds) is not False:
            pairs = [(Exception if kind is BaseException else kind, cls) for kind in watcher.kinds for cls in raisable.classes]
            kinds = [cls if issubclass(cls, kind) else kind for kind, cls in pairs if issubclass(cls, kind) or issubclass(kind, cls)]
            ctx.caught += [(kind, watcher.loc) for kind in dict.fromkeys(kinds) if (kind, watcher.loc) not in ctx.caught]


def mismatched(ctx: Lowering, name: str, args: tuple[Operand, ...], settings: dict[str, Any]) -> None:
    """Make a ``ValueError`` pending for an operation whose operands certainly do not match."""
    raisable = Raisable((ValueError,))
    text = lambda_of(name, {**ROWS[name].settings, **settings}, [a.type for a in args])
    if text is None or not is_seen(ctx, raisable):
        return
    with ctx.unwatched():
        error = ctx.call("failure", *args, run=text)
    raise_here(ctx, kind_of(ctx, raisable), Num(error))


# ------------------------------------------------------------------ the table


def failures_of(ctx: Lowering, op: Call) -> Iterator[Failure]:
    """The exceptions that an operation may raise, in the order of its tests."""
    name, args, settings = op.name, op.args, op.settings
    types = [a.type for a in args]
    if settings.get("via") == "math":
        yield from of_math(ctx, name, args)
    elif name in ("divide", "floor_divide", "mod") and all(map(is_python, types)):
        yield Failure(DIVISION, lambda: ctx.call("equal", args[1], ZERO))
    elif name == "power" and all(map(is_python, types)):
        yield from of_power(ctx, args)
    elif name in ("divide", "floor_divide", "mod", "power") and all(isinstance(t, Scalar) for t in types):
        yield Failure(Raisable((ZeroDivisionError, OverflowError)))
        if name == "power" and is_power_of_integers(op):
            yield Failure(DOMAIN)
    elif name in ITEMS and isinstance(types[0], List):
        yield from of_item(ctx, args[0], args[ITEMS[name]])
    elif name == "table_set":  # the earlier read has shown that the list has this item
        yield from of_item(ctx, ctx.call("list_take", args[0], args[1]), args[2])
    elif name in STEPPED:
        yield from of_step(ctx, args[STEPPED[name]])
    elif name == "list_index":
        yield Failure(DOMAIN, lambda: ctx.call("not_contains", args[0], args[1]))
    elif name == "list_drop":
        yield Failure(OUT_OF_RANGE, lambda: ctx.call("equal", ctx.call("list_len", args[0]), ZERO))
    elif name in PATHS:
        yield from of_path(ctx, op)
    elif name in ("opaque", "opaque_pure"):
        function = args[0].value if isinstance(args[0], Const) else None
        table, otherwise = (CONVERSIONS, (Exception,)) if settings.get("type") is None else (OF_TEXTS, ())
        raised = next((kinds for known, kinds in table.items() if known is function), otherwise)
        if raised and not (isinstance(function, type) and issubclass(function, BaseException)):
            yield Failure(Raisable(raised))
    elif name == "number" and is_python(types[0]) and types[0].kind != "int" and settings["kind"] == "int":  # type: ignore[attr-defined]
        yield Failure(DOMAIN, lambda: ctx.call("isnan", args[0]))
        yield Failure(OVERFLOW, lambda: ctx.call("isinf", args[0]))
    elif name == "array_of" and holds_numbers(types[0]):
        yield Failure(OF_LISTS)
    elif all(isinstance(t, Scalar | Array | ShapeOf) or isinstance(a, Const) and is_plain(a) for t, a in zip(types, args, strict=True)):
        whole = any(isinstance(t, Array) for t in types)
        known = all(not isinstance(t, Array) or t.dtype is not None for t in types)
        of_arrays = OF_SHAPES if known and ROWS[name].elementwise else OF_ARRAYS if known and name in NO_ALGEBRA else OF_NUMPY
        yield Failure(of_arrays if whole else OF_NUMBERS)
    else:
        yield Failure(ANYTHING)


def holds_numbers(type_: Type) -> bool:
    """Whether the type is a list of numbers, of arrays, or of such lists."""
    return isinstance(type_, List) and (isinstance(type_.item, Scalar | Array) or holds_numbers(type_.item))


def is_plain(const: Const) -> bool:
    return const.value is None or isinstance(const.value, int | float | complex)


def is_python(type_: Type) -> bool:
    """Whether the type is certainly a Python number."""
    return isinstance(type_, Scalar) and type_.dtype is None


#: functions of ``math``: the tests of one operand for which they raise a ``ValueError``
DOMAINS: dict[str, tuple[tuple[str, float], ...]] = {
    "sqrt": (("less", 0.0),),
    "log": (("less_equal", 0.0),),
    "log2": (("less_equal", 0.0),),
    "log10": (("less_equal", 0.0),),
    "log1p": (("less_equal", -1.0),),
    "arccosh": (("less", 1.0),),
    "arcsin": (("less", -1.0), ("greater", 1.0)),
    "arccos": (("less", -1.0), ("greater", 1.0)),
    "arctanh": (("less_equal", -1.0), ("greater_equal", 1.0)),
    "sin": (("equal", -math.inf), ("equal", math.inf)),
    "cos": (("equal", -math.inf), ("equal", math.inf)),
    "tan": (("equal", -math.inf), ("equal", math.inf)),
}


def of_math(ctx: Lowering, name: str, args: list[Operand]) -> Iterator[Failure]:
    """A function of the math module."""
    if name in DOMAINS and len(args) == 1 and isinstance(args[0].type, Scalar) and args[0].type.kind in ("float", "bool", "int"):

        def test() -> Operand:
            several = [ctx.call(relation, args[0], Const(bound)) for relation, bound in DOMAINS[name]]
            return several[0] if len(several) == 1 else ctx.call("logical_or", *several)

        yield Failure(DOMAIN, test)
    elif name in ("exp", "expm1", "exp2", "sinh", "cosh"):
        yield Failure(Raisable((OverflowError,)))
    else:
        yield Failure(Raisable((ValueError, OverflowError, TypeError, ZeroDivisionError)))


def of_power(ctx: Lowering, args: list[Operand]) -> Iterator[Failure]:
    """A power of Python numbers."""
    base, exponent = args
    whole = all(isinstance(a.type, Scalar) and a.type.kind in ("int", "bool") for a in args)
    known = exponent.value if isinstance(exponent, Const) else None
    if known is None:
        yield Failure(Raisable((ZeroDivisionError, OverflowError)))
        return
    if known < 0:
        yield Failure(DIVISION, lambda: ctx.call("equal", base, ZERO))
    if not whole and known not in (0, 1, 0.5):
        yield Failure(Raisable((OverflowError,)))


def of_item(ctx: Lowering, held: Operand, index: Operand) -> Iterator[Failure]:
    """An item of a list of any length."""
    if not isinstance(index.type, Scalar) or index.type.kind not in ("int", "bool"):
        yield Failure(Raisable((IndexError, TypeError)))
        return
    yield Failure(OUT_OF_RANGE, lambda: outside(ctx, index, ctx.call("list_len", held)))


def is_step_open(step: Operand) -> bool:
    """Whether a step may be 0 at run time."""
    return not isinstance(step, Const) or step.value == 0  # None is no 0


def of_step(ctx: Lowering, step: Operand) -> Iterator[Failure]:
    """The step of a slice or range, which must not be 0."""
    if is_step_open(step):
        yield Failure(DOMAIN, lambda: ctx.call("equal", step, ZERO))


def outside(ctx: Lowering, index: Operand, length: Operand) -> Operand:
    """A test whether an index is out of range."""
    value = index.value if isinstance(index, Const) else None
    low = None if value is not None and value >= 0 else ctx.call("less", index, ctx.call("negative", length))
    high = None if value is not None and value < 0 else ctx.call("greater_equal", index, length)
    if low is None or high is None:
        test = high if low is None else low
        assert test is not None
        return test
    return ctx.call("logical_or", low, high)


def of_path(ctx: Lowering, op: Call) -> Iterator[Failure]:
    """A part of an array, read or stored."""
    array, at = op.args[0], PATHS[op.name]
    path = steps(op.settings["index"])
    type_ = array.type
    simple = isinstance(type_, Array) and type_.shape is not None and len(path) == 1 and not path[0][0].startswith(".")
    letters = path[0][0] if simple else ""
    places: list[tuple[int, Operand]] = []
    opened: list[Operand] = []  #: steps
    axis = 0
    for k, letter in enumerate(letters):
        operands = op.args[at : at + OPERANDS[letter]]
        at += OPERANDS[letter]
        if letter == "i" and not (isinstance(operands[0].type, Scalar) and operands[0].type.kind == "int"):
            simple = False
        if letter == "s" and not all(is_bound(o) for o in operands):
            simple = False
        elif letter == "s" and operands[2] is not NONE:
            opened.append(operands[2])
        if letter == "e":
            assert isinstance(type_, Array)
            assert type_.shape is not None
            axis = len(type_.shape) - sum(inner in "is" for inner in letters[k + 1 :])
        elif letter != "n":
            if letter == "i":
                places.append((axis, operands[0]))
            axis += 1
    if not simple or isinstance(type_, Array) and type_.shape is not None and axis > len(type_.shape):
        yield Failure(Raisable((IndexError, ValueError, TypeError)) if isinstance(type_, Array) else ANYTHING)
        return
    for step in opened:
        yield from of_step(ctx, step)
    for axis_, index in places:
        if not is_within(ctx, array, axis_, index):
            yield Failure(OUT_OF_RANGE, lambda k=axis_, i=index: outside(ctx, i, length_of(ctx, array, k)))  # type: ignore[misc]
    if op.name in STORES and not isinstance(op.args[1].type, Scalar):
        yield Failure(Raisable((ValueError,)))


def is_bound(operand: Operand) -> bool:
    """Whether the operand is a slice bound that never raises."""
    return (
        isinstance(operand, Const)
        and (operand.value is None or isinstance(operand.value, int) and operand.value != 0)
        or (isinstance(operand.type, Scalar) and operand.type.kind == "int" and not isinstance(operand, Const))
    )


def length_of(ctx: Lowering, array: Operand, axis: int) -> Operand:
    """The number of elements along an axis."""
    assert isinstance(array.type, Array)
    assert array.type.shape is not None
    extent = array.type.shape[axis]
    return Const(extent) if isinstance(extent, int) else ctx.call("extent", array, axis=axis)


def is_within(ctx: Lowering, array: Operand, axis: int, index: Operand) -> bool:
    """Whether the enclosing loops prove that an index is in range."""
    assert isinstance(array.type, Array)
    assert array.type.shape is not None
    place, extent = sum_of(ctx.builder.extent_of(index)), sum_of(array.type.shape[axis])
    if place is None or extent is None:
        return False
    if isinstance(index, Const) and index.value < 0:
        return follows(combined(extent, place), ctx.builder.facts)
    return follows(place, ctx.builder.facts) and follows(combined(combined(extent, place, -1), {"": 1}, -1), ctx.builder.facts)


def unfollowed(ctx: Lowering) -> None:
    """Let the derivative refuse every exception that a handler in the program would catch here."""
    refuse_later(ctx, Raisable((BaseException,)))


SPREAD["unfollowed"] = unfollowed
SPREAD["before"] = add_edges_before
SPREAD["mismatched"] = mismatched

__all__ = ["Failure", "add_edges_before", "failures_of", "refuse_later"]
