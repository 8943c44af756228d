"""Cuts the derivative of a stabilising maximum that cancels, as in ``m + log(sum(exp(x - m)))``. Works in place.

Each value computed from the maximum ``m`` is tracked as ``v + c*m`` or ``v * exp(c*m)`` with ``v`` free of
``m``. If all results are free of ``m``, the derivative by ``m`` is zero, and ``m`` is computed from
``stop_gradient(x)``. Where only ``where(isfinite(m), m, 0.0)`` is read, that value is tracked instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from symgrad.ir.core import Block, Call, Const, Func, Operand, Value
from symgrad.ir.types import Array, Scalar, Type
from symgrad.ir.walks import read_in
from symgrad.notes import Notes
from symgrad.ops.declare import ROWS

EXTREMES = frozenset({"max", "min"})


@dataclass(frozen=True, slots=True)
class Trace:
    """How a value depends on ``m``: ``v + rate*m``, or ``v * exp(rate*m)`` if ``scaled``.

    ``axes`` are the axes of the value along which ``m`` may vary, in the order of ``m``'s own.
    """

    scaled: bool
    rate: float
    axes: tuple[int, ...]


class Lost(Exception):
    """Raised if the dependence has neither form."""


def cancelled_maxima(func: Func) -> Func:
    """Cut maxima that cancel, in place."""
    _block(func.body, func.notes)
    return func


def _block(block: Block, notes: Notes | None) -> None:
    cut = {op.outs[0] for op in block.ops if isinstance(op, Call) and op.name == "stop_gradient"}
    for op in list(block.ops):
        for inner in op.blocks:
            _block(inner, notes)
        if not isinstance(op, Call) or op.name not in EXTREMES:
            continue
        source = op.args[0]
        if isinstance(source, Value) and source not in cut and cancels(block, op):
            if notes is not None:
                notes.add("passes", "lowered", op.loc, "the result does not change with it, so its derivative is not taken", name=op.name)
            op.args[0] = stopped = Value(source.type)
            settings = dict(ROWS["stop_gradient"].settings)
            block.ops.insert(block.ops.index(op), Call([stopped], op.loc, "stop_gradient", [source], settings))


def cancels(block: Block, extreme: Call) -> bool:
    """Whether the maximum cancels in everything that the block computes from it."""
    maker = finite_part(block, extreme) or extreme
    out = maker.outs[0]
    rank = rank_of(out.type)
    if rank is None or getattr(out.type, "kind", None) != "float":
        return False
    shape = out.type.shape if isinstance(out.type, Array) else ()
    traces = {out: Trace(False, 1.0, tuple(k for k, extent in enumerate(shape or ()) if extent != 1))}
    freed = False
    for op in block.ops[block.ops.index(maker) + 1 :]:
        if any(value in traces for child in op.blocks for value in read_in(child)):
            return False
        if not any(isinstance(a, Value) and a in traces for a in op.operands):
            continue
        if not isinstance(op, Call):
            return False
        if op.name == "as_written":  # the value of its first operand; the others are named in the user's text
            if op.args[0] in traces:
                traces[op.outs[0]] = traces[op.args[0]]
            continue
        try:
            trace = followed(op, traces)
        except Lost:
            return False
        if trace is None:
            freed = freed or op.name not in SHAPES
        else:
            traces[op.outs[0]] = trace
    return freed and not any(isinstance(y, Value) and y in traces for y in block.yields)


def finite_part(block: Block, extreme: Call) -> Call | None:
    """The op ``where(isfinite(m), m, number)``, if it is the only reader of the maximum: then its result must cancel."""
    maximum = extreme.outs[0]
    readers = [op for op in block.ops if maximum in op.operands and not (isinstance(op, Call) and op.name == "as_written")]
    if len(readers) != 2 or any(maximum in read_in(child) for op in block.ops for child in op.blocks):
        return None
    test, choice = readers
    if not (isinstance(test, Call) and test.name == "isfinite" and isinstance(choice, Call) and choice.name == "where"):
        return None
    known = choice.args[:2] == [test.outs[0], maximum] and isinstance(choice.args[2], Const)
    return choice if known and maximum not in block.yields else None


def rank_of(type_: Type) -> int | None:
    """The rank of a number or an array, if it is known."""
    if isinstance(type_, Scalar):
        return 0
    return type_.rank if isinstance(type_, Array) else None


# ------------------------------------------------------------------ propagation


def followed(op: Call, traces: dict[Value, Trace]) -> Trace | None:
    """The dependence of an op's result; None if it is free of the maximum."""
    if op.name in SHAPES:
        return None
    rule, rank = RULES.get(op.name), rank_of(op.outs[0].type) if len(op.outs) == 1 else None
    if rule is None or rank is None:
        raise Lost
    if op.name in REDUCTIONS or op.name in PATHS:
        tainted = [a for a in op.args if isinstance(a, Value) and a in traces]
        if tainted != op.args[:1]:
            raise Lost
        return rule(op, traces[tainted[0]])
    operands = [aligned(a, traces, rank) for a in op.args]
    return rule(op, *operands)


def aligned(operand: Operand, traces: dict[Value, Trace], rank: int) -> Trace | None:
    """The operand's dependence, with its axes renumbered for a result of this rank."""
    if not isinstance(operand, Value) or operand not in traces:
        return None
    own = rank_of(operand.type)
    if own is None:
        raise Lost
    trace = traces[operand]
    return replace(trace, axes=tuple(k + rank - own for k in trace.axes))


def kept(op: Call, x: Trace | None) -> Trace | None:
    return x


def summed(sign: float) -> Callable[[Call, Trace | None, Trace | None], Trace | None]:
    """``x + sign*y``."""

    def rule(op: Call, x: Trace | None, y: Trace | None) -> Trace | None:
        if x is not None and y is not None:
            if x.scaled != y.scaled or x.axes != y.axes or (x.scaled and x.rate != y.rate):
                raise Lost
            return x if x.scaled else nonzero(replace(x, rate=x.rate + sign * y.rate))
        one = x or y
        assert one is not None
        if one.scaled:
            raise Lost
        return one if one is x else replace(one, rate=sign * one.rate)

    return rule


def negative(op: Call, x: Trace | None) -> Trace | None:
    return x if x is None or x.scaled else replace(x, rate=-x.rate)


def multiplied(sign: float) -> Callable[[Call, Trace | None, Trace | None], Trace | None]:
    """``x * y``, or ``x / y`` with sign -1."""

    def rule(op: Call, x: Trace | None, y: Trace | None) -> Trace | None:
        one = x or y
        assert one is not None
        if x is not None and y is not None:
            if not (x.scaled and y.scaled and x.axes == y.axes):
                raise Lost
            return nonzero(replace(x, rate=x.rate + sign * y.rate))
        if one.scaled:
            return one if one is x else replace(one, rate=sign * one.rate)
        factor = number(op.args[1] if one is x else op.args[0])
        if factor is None or factor == 0 or (sign < 0 and one is y):
            raise Lost
        return replace(one, rate=one.rate * factor if sign > 0 else one.rate / factor)

    return rule


def exponential(op: Call, x: Trace | None) -> Trace | None:
    if x is None or x.scaled:
        raise Lost
    return replace(x, scaled=True)


def logarithm(op: Call, x: Trace | None) -> Trace | None:
    if x is None or not x.scaled:
        raise Lost
    return replace(x, scaled=False)


def raised(by: float) -> Callable[[Call, Trace | None], Trace | None]:
    """A power of a value of scaled form."""

    def rule(op: Call, x: Trace | None) -> Trace | None:
        if x is None or not x.scaled:
            raise Lost
        return replace(x, rate=x.rate * by)

    return rule


def power(op: Call, x: Trace | None, y: Trace | None) -> Trace | None:
    by = number(op.args[1])
    if x is None or y is not None or by is None or by == 0:
        raise Lost
    return raised(by)(op, x)


def number(operand: Operand) -> float | None:
    """The literal number that an operand is."""
    return float(operand.value) if isinstance(operand, Const) and type(operand.value) in (int, float) else None


def nonzero(trace: Trace) -> Trace | None:
    return trace if trace.rate != 0 else None


# ------------------------------------------------------------------ axes


def reduced(also: bool) -> Callable[[Call, Trace], Trace | None]:
    """A reduction over axes along which the maximum does not vary; ``also``: for ``v + c*m`` too."""

    def rule(op: Call, x: Trace) -> Trace | None:
        rank = rank_of(op.args[0].type)
        if rank is None or not (also or x.scaled):
            raise Lost
        axis = op.settings["axis"]
        gone = range(rank) if axis is None else [a % rank for a in (axis if isinstance(axis, tuple) else (axis,))]
        if any(a in gone for a in x.axes):
            raise Lost
        if op.settings.get("keepdims"):
            return x
        return replace(x, axes=tuple(a - sum(g < a for g in gone) for a in x.axes))

    return rule


def viewed(op: Call, x: Trace) -> Trace | None:
    """Whole slices and new axes only."""
    index, rank = op.settings["index"], rank_of(op.args[0].type)
    if rank is None or not set(index) <= set("sne") or index.count("e") > 1:
        raise Lost
    if any(isinstance(o, Value) or o.value is not None for o in op.args[1:]):
        raise Lost
    letters = index if "e" in index else index + "e"
    letters = letters.replace("e", "s" * (rank - letters.count("s")))
    places = [k for k, letter in enumerate(letters) if letter == "s"]
    return replace(x, axes=tuple(places[a] for a in x.axes))


def expanded(op: Call, x: Trace) -> Trace | None:
    """``expand_dims``."""
    rank = rank_of(op.outs[0].type)
    axis = op.settings["axis"]
    if rank is None:
        raise Lost
    new = {a % rank for a in (axis if isinstance(axis, tuple) else (axis,))}
    places = [k for k in range(rank) if k not in new]
    return replace(x, axes=tuple(places[a] for a in x.axes))


def product(op: Call, x: Trace) -> Trace | None:
    """A matrix product with a left factor scaled by rows."""
    rank = rank_of(op.args[0].type)
    if not x.scaled or rank is None or rank - 1 in x.axes or rank_of(op.args[1].type) not in (1, 2):
        raise Lost
    return x


Rule = Callable[..., "Trace | None"]
#: ops whose result does not depend on the elements
SHAPES = frozenset({"shape_of", "extent", "zeros_like", "ones_like", "empty_like"})
REDUCTIONS: dict[str, Rule] = {"sum": reduced(False), "mean": reduced(True), "max": reduced(True), "min": reduced(True)}
PATHS: dict[str, Rule] = {"view": viewed, "take": viewed, "expand_dims": expanded, "matmul": product, "dot": product}
RULES: dict[str, Rule] = (
    {"add": summed(1.0), "subtract": summed(-1.0), "multiply": multiplied(1.0), "divide": multiplied(-1.0), "power": power}
    | {"sqrt": raised(0.5), "square": raised(2.0), "reciprocal": raised(-1.0), "exp": exponential, "log": logarithm}
    | {"negative": negative, "copy": kept, "positive": kept}
    | REDUCTIONS
    | PATHS
)


__all__ = ["cancelled_maxima"]
