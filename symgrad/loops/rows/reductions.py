"""table: reductions, as loops that run along memory.

Sums may be taken in any order (``plus``); the loop order is the one in which most reads are contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from symgrad.ir.core import FALSE, ONE, TRUE, ZERO, Block, Call, Const, Operand, Value
from symgrad.ir.types import DTYPES, INT, Array, Scalar
from symgrad.loops.accesses import depends
from symgrad.loops.arrays import axes, constant, dtype_of
from symgrad.loops.bailouts import bail_out
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, Support, broadcast_index, cast_to, filled, mapped, stored, view_of_form
from symgrad.loops.paths import product_of, reshape_extents, reshaped
from symgrad.loops.reach import OutOfReach, function_in_words
from symgrad.loops.rows.creation import spread_to
from symgrad.loops.rows.layout import diagonal, repeats, shown_at
from symgrad.loops.writer import Writer, number, scalar

Step = Callable[[Operand, Operand], Operand]


@dataclass(slots=True)
class Fold:
    """A reduction: its initial value, and the step that includes an element."""

    dtype: str
    start: Operand
    step: Step
    needs_one: bool = False  #: whether it is undefined for no elements
    sums: bool = False  #: whether zeros leave the result unchanged


def innermost(lowering: Context, form: Form) -> int:
    """The axis for the innermost loop: with the fewest reads of stride greater than one, then with the most contiguous reads."""
    writer = lowering.writer
    trial = Block()
    index = tuple(Value(ONE.type) if number(e) != 1 else ZERO for e in form.extents)
    with writer.inside(trial):
        form.at(index)
        reads = [op for op in trial.ops if isinstance(op, Call) and op.name == "take"]
        bases = [[writer.split(o)[0] for o in read.args[1:]] for read in reads]

    def cost(axis: int) -> tuple[int, int, int]:
        i = index[axis]
        strided = sum(any(base is i for base in read[:-1]) for read in bases if i is not ZERO)
        contiguous = sum(read[-1] is i for read in bases if i is not ZERO)
        return strided, -contiguous, -axis

    return min(range(form.rank), key=cost, default=0)


def reduce(lowering: Context, form: Form, gone: Sequence[int], keepdims: bool, fold: Fold, name: str | None = None) -> Form | Operand:
    """Reduce axes of a form; the result is a number if no axis is left, else memory."""
    writer = lowering.writer
    kept = [k for k in range(form.rank) if k not in gone]
    gone = [k for k in range(form.rank) if k in gone]
    if fold.needs_one:
        for k in gone:
            if number(form.extents[k]) is None:
                writer.check("check_at_least", form.extents[k], ONE)
            elif number(form.extents[k]) == 0:
                raise OutOfReach("the extreme of no elements", writer.loc)
    if not kept and not keepdims:
        total = writer.running(scalar(fold.dtype), fold.start, name or "%total")
        with writer.nest(form.extents) as index:
            writer.let(total, fold.step(total, form.at(index)))
        return total
    extents = tuple(ONE if k in gone else e for k, e in enumerate(form.extents)) if keepdims else tuple(form.extents[k] for k in kept)
    handle = writer.empty(fold.dtype, extents, name)
    reduce_along(lowering, form, kept, gone, keepdims, fold, handle)
    return stored(writer, handle, fold.dtype, extents, frozenset({handle}))


def reduce_along(lowering: Context, form: Form, kept: list[int], gone: list[int], keepdims: bool, fold: Fold, handle: Value) -> None:
    """Emit the loops of a reduction with remaining axes."""
    writer = lowering.writer
    inner = innermost(lowering, form)
    order = [*(k for k in range(form.rank) if k != inner), inner]

    def target(index: dict[int, Operand]) -> tuple[Operand, ...]:
        return tuple(ZERO if k in gone else index[k] for k in range(form.rank)) if keepdims else tuple(index[k] for k in kept)

    def whole(index: dict[int, Operand]) -> tuple[Operand, ...]:
        return tuple(index[k] for k in range(form.rank))

    if inner in gone or all(number(form.extents[k]) == 1 for k in gone):
        with writer.nest([form.extents[k] for k in kept]) as outer:
            total = writer.running(scalar(fold.dtype), fold.start, "%total")
            with writer.nest([form.extents[k] for k in gone]) as rest:
                index = dict(zip([*kept, *gone], [*outer, *rest], strict=True))
                writer.let(total, fold.step(total, form.at(whole(index))))
            writer.store(handle, total, target(dict(zip(kept, outer, strict=True))))
        return
    lead = order[: next(n for n, k in enumerate(order) if k in gone)]
    rest_order = order[len(lead) :]
    trailing = [k for k in rest_order if k in kept]
    with writer.nest([form.extents[k] for k in lead]) as outer:
        known = dict(zip(lead, outer, strict=True))
        with writer.nest([form.extents[k] for k in trailing]) as row:
            writer.store(handle, fold.start, target({**known, **dict(zip(trailing, row, strict=True))}))
        with sparse_nest(lowering, form, rest_order, known, fold.sums) as index:
            cell = target(index)
            writer.store(handle, fold.step(writer.read(handle, cell), form.at(whole(index))), cell)


@contextmanager
def sparse_nest(lowering: Context, form: Form, order: list[int], known: dict[int, Operand], sums: bool) -> Iterator[dict[int, Operand]]:
    """Loops over axes that skip inner loops whose elements are all zero; yields the index."""
    writer, support = lowering.writer, form.support
    asked = None if support is None or not sums else tested_axes(lowering, form, support)
    if support is None or asked is None or order[-1] in asked:
        with writer.nest([form.extents[k] for k in order]) as row:
            yield {**known, **dict(zip(order, row, strict=True))}
        return
    zeros = [unsure(lowering, factor) for factor in support.factors]
    split = max((n + 1 for n, k in enumerate(order) if k in asked), default=0)
    with writer.nest([form.extents[k] for k in order[:split]]) as row:
        index = {**known, **dict(zip(order, row, strict=False))}
        at = tuple(index.get(k, ZERO) for k in range(form.rank))
        with writer.when(support.test(at)), writer.nest([form.extents[k] for k in order[split:]]) as row:
            yield {**index, **dict(zip(order[split:], row, strict=True))}
    for zero in zeros:
        bail_out(writer.build, writer.call("not_equal", zero, Const(0.0)))


def tested_axes(lowering: Context, form: Form, support: Support) -> set[int]:
    """The axes on which the support of the form depends."""
    writer = lowering.writer
    index = tuple(Value(INT) if number(e) != 1 else ZERO for e in form.extents)
    with writer.inside(Block()):
        test = support.test(index)
    return {k for k, i in enumerate(index) if isinstance(i, Value) and depends(writer, test, i)}


def unsure(lowering: Context, factor: Form | Operand) -> Operand:
    """Zero if the factor is finite everywhere, else nan."""
    writer = lowering.writer
    if not isinstance(factor, Form):
        return writer.call("multiply", factor, Const(0.0), via=None)
    total = writer.running(scalar("f64"), Const(0.0), "%unsure")
    with writer.nest(factor.extents) as index:
        writer.let(total, writer.call("plus", total, writer.call("multiply", factor.at(index), Const(0.0), via=None)))
    return total


# ------------------------------------------------------------------ folds


def sum_fold(writer: Writer, dtype: str) -> Fold:
    """A sum; narrow floats are added in 64 bits."""
    wide = "f64" if dtype == "f32" else dtype
    start = Const(0.0) if wide == "f64" else constant(wide, 0)
    return Fold(
        wide, start, lambda total, v: writer.call("plus", total, v) if wide == "f64" else writer.call("add", total, v, via=None), sums=True
    )


def product_fold(writer: Writer, dtype: str) -> Fold:
    return Fold(dtype, constant(dtype, 1), lambda total, v: writer.call("multiply", total, v, via=None))


def extreme_fold(writer: Writer, dtype: str, name: str) -> Fold:
    """The maximum or minimum; nan wins."""
    largest = name == "max"
    if dtype[0] == "f":
        start = Const(-np.inf if largest else np.inf)
    elif dtype == "bool":
        start = Const(not largest)
    else:
        info = np.iinfo(np.dtype(DTYPES[dtype]))
        start = Const(int(info.min if largest else info.max))

    def step(total: Operand, v: Operand) -> Operand:
        if dtype[0] == "f":
            return writer.call("larger" if largest else "smaller", total, v)
        test = writer.call("greater" if largest else "less", v, total)
        return cast_to(writer, writer.call("where", test, v, total, via=None), dtype)

    return Fold("f64" if dtype[0] == "f" else dtype, start, step, needs_one=True)


def truth_fold(writer: Writer, name: str) -> Fold:
    start, join = (FALSE, "logical_or") if name == "any" else (TRUE, "logical_and")
    return Fold("bool", start, lambda total, v: writer.call(join, total, v))


# ------------------------------------------------------------------ rules


def finish(lowering: Context, op: Call, value: Form | Operand) -> Thing:
    """The result in its dtype; a number if no axis is left."""
    writer = lowering.writer
    dtype = dtype_of(op)
    if isinstance(value, Form):
        if value.dtype != dtype:
            value = mapped(writer, dtype, [value], lambda e: cast_to(writer, e[0], dtype), 0)
        return value
    type_ = op.outs[0].type
    if isinstance(type_, Array):
        return filled(dtype, (), cast_to(writer, value, dtype))
    return value if type_ == value.type or type_ == scalar("f64") else cast_to(writer, value, dtype)


def own_name(op: Call) -> str | None:
    return op.outs[0].name


def plain(fold_of: Callable[[Writer, str, str], Fold]) -> Callable[[Context, Call], Thing]:
    """A rule that folds the elements."""

    def rule(lowering: Context, op: Call) -> Thing:
        x = lowering.form(op.args[0])
        fold = fold_of(lowering.writer, dtype_of(op), op.name)
        gone = axes(op, op.settings["axis"], x.rank)
        return finish(lowering, op, reduce(lowering, x, gone, bool(op.settings["keepdims"]), fold, own_name(op)))

    return rule


def count_of(lowering: Context, x: Form, gone: Sequence[int]) -> Operand:
    """The number of elements that are reduced to one."""
    return product_of(lowering.writer, [x.extents[k] for k in gone])


def scaled(lowering: Context, total: Form | Operand, by: Operand, dtype: str) -> Form | Operand:
    """A sum divided by a number."""
    writer = lowering.writer
    divisor = cast_to(writer, by, "f64")

    def compute(value: Operand) -> Operand:
        return cast_to(writer, writer.call("divide", value, divisor, via=None), dtype)

    return mapped(writer, dtype, [total], lambda e: compute(e[0]), 4) if isinstance(total, Form) else compute(total)


def mean(lowering: Context, op: Call) -> Thing:
    x, dtype = lowering.form(op.args[0]), dtype_of(op)
    gone = axes(op, op.settings["axis"], x.rank)
    wide = "c128" if dtype == "c128" else "f64"
    total = reduce(lowering, x, gone, bool(op.settings["keepdims"]), sum_fold(lowering.writer, wide), None)
    return finish(lowering, op, scaled(lowering, total, count_of(lowering, x, gone), dtype))


def mean_of_numbers(lowering: Context, op: Call) -> Thing:
    """``np.nanmean``: the mean of the elements that are not nan."""
    writer, x, dtype = lowering.writer, lowering.form(op.args[0]), dtype_of(op)
    if x.dtype[0] != "f":
        return mean(lowering, op)
    gone, keepdims = axes(op, op.settings["axis"], x.rank), bool(op.settings["keepdims"])

    def is_number(e: Operand) -> Operand:
        return writer.call("equal", e, e)

    kept = mapped(
        writer, "f64", [x], lambda e: cast_to(writer, writer.call("where", is_number(e[0]), e[0], Const(0.0), via=None), "f64"), 1
    )
    ones = mapped(writer, "f64", [x], lambda e: writer.call("where", is_number(e[0]), Const(1.0), Const(0.0), via=None), 1)
    sums = [reduce(lowering, form, gone, keepdims, sum_fold(writer, "f64")) for form in (kept, ones)]
    if not all(isinstance(total, Form) for total in sums):
        return finish(lowering, op, cast_to(writer, writer.call("divide", *sums, via=None), dtype))  # type: ignore[arg-type]
    return finish(lowering, op, mapped(writer, dtype, sums, lambda e: cast_to(writer, writer.call("divide", *e, via=None), dtype), 4))


def sum_of_numbers(lowering: Context, op: Call) -> Thing:
    """``np.nansum``: the sum of the elements that are not nan."""
    writer, x, dtype = lowering.writer, lowering.form(op.args[0]), dtype_of(op)
    if x.dtype[0] == "f":
        x = mapped(writer, x.dtype, [x], lambda e: writer.call("where", writer.call("equal", e[0], e[0]), e[0], Const(0.0), via=None), 1)
    gone, keepdims = axes(op, op.settings["axis"], x.rank), bool(op.settings["keepdims"])
    return finish(lowering, op, reduce(lowering, x, gone, keepdims, sum_fold(writer, dtype), own_name(op)))


def extreme_of_numbers(lowering: Context, op: Call) -> Thing:
    """``np.nanmax`` and ``np.nanmin`` of all elements; NumPy warns if all are nan."""
    writer, x, dtype = lowering.writer, lowering.form(op.args[0]), dtype_of(op)
    gone, name = axes(op, op.settings["axis"], x.rank), op.name.removeprefix("nan")
    if len(gone) < x.rank or op.settings["keepdims"]:
        raise OutOfReach(f"{function_in_words(op)} along an axis", op.loc)
    fold = extreme_fold(writer, dtype, name)
    if x.dtype[0] == "f":
        least = fold.start
        x = mapped(writer, dtype, [x], lambda e: writer.call("where", writer.call("equal", e[0], e[0]), e[0], least, via=None), 1)
    extreme = reduce(lowering, x, gone, False, fold, own_name(op))
    assert not isinstance(extreme, Form)
    if x.dtype[0] == "f":
        bail_out(writer.build, writer.call("equal", extreme, fold.start))
    return finish(lowering, op, extreme)


def repeat_back(lowering: Context, op: Call) -> Thing:
    """The sums over the repetitions of each element by ``repeat``."""
    g, writer, count = lowering.form(op.args[0]), lowering.writer, repeats(lowering, op)
    extents, axis = [*lowering.extents(op.args[1])], op.settings["axis"]
    own = [product_of(writer, extents)] if axis is None else extents
    (along,) = axes(op, axis or 0, len(own))
    apart = [*own[: along + 1], count, *own[along + 1 :]]
    g = shown_at(g, reshaped(writer, g.extents, reshape_extents(writer, g.extents, apart)))
    total = reduce(lowering, g, [along + 1], False, sum_fold(writer, dtype_of(op)), own_name(op))
    assert isinstance(total, Form)
    return finish(lowering, op, shown_at(total, reshaped(writer, total.extents, extents)) if axis is None else total)


def variance(lowering: Context, op: Call) -> Thing:
    """``var`` and ``std``: from the differences from the mean."""
    writer, dtype = lowering.writer, dtype_of(op)
    x = lowering.form(op.args[0])
    gone = axes(op, op.settings["axis"], x.rank)
    count = count_of(lowering, x, gone)
    middle = reduce(lowering, x, gone, True, sum_fold(writer, "f64"))
    assert isinstance(middle, Form)
    average = scaled(lowering, middle, count, "f64")
    assert isinstance(average, Form)
    average = lowering.give_memory(average, None, "%mean")

    def square(e: list[Operand]) -> Operand:
        difference = writer.call("subtract", *e, via=None)
        return cast_to(writer, writer.call("multiply", difference, difference, via=None), "f64")

    squares = mapped(writer, "f64", [x, average], square, 3)
    total = reduce(lowering, squares, gone, bool(op.settings["keepdims"]), sum_fold(writer, "f64"))
    result = scaled(lowering, total, writer.larger(writer.add(count, Const(-op.settings["ddof"])), ZERO), "f64")
    if op.name == "std":
        result = (
            mapped(writer, dtype, [result], lambda e: writer.call("sqrt", e[0]), 5)
            if isinstance(result, Form)
            else writer.call("sqrt", result)
        )
    return finish(lowering, op, result)


def counted_nonzero(lowering: Context, op: Call) -> Thing:
    writer = lowering.writer
    x = lowering.form(op.args[0])
    ones = mapped(writer, "i64", [truths(lowering, x)], lambda e: cast_to(writer, e[0], "i64"), 0)
    gone = axes(op, op.settings["axis"], x.rank)
    count = reduce(lowering, ones, gone, bool(op.settings["keepdims"]), sum_fold(writer, "i64"))
    if isinstance(op.outs[0].type, Scalar) and not isinstance(count, Form):
        return count
    return finish(lowering, op, count)


def truths(lowering: Context, x: Form) -> Form:
    """The mask of nonzero elements."""
    writer = lowering.writer
    return x if x.dtype == "bool" else mapped(writer, "bool", [x], lambda e: writer.call("not_equal", e[0], constant(x.dtype, 0)), 1)


def truth(lowering: Context, op: Call) -> Thing:
    writer = lowering.writer
    x = lowering.form(op.args[0])
    tests = truths(lowering, x)
    gone = axes(op, op.settings["axis"], x.rank)
    return finish(lowering, op, reduce(lowering, tests, gone, bool(op.settings["keepdims"]), truth_fold(writer, op.name)))


def argument_of_extreme(lowering: Context, op: Call) -> Thing:
    """``argmax`` and ``argmin``: the first index of the extreme, or of a nan."""
    writer = lowering.writer
    x = lowering.form(op.args[0])
    axis, keepdims = op.settings["axis"], bool(op.settings["keepdims"])
    if axis is None and x.rank > 1:
        where = reshaped(writer, x.extents, reshape_extents(writer, x.extents, [Const(-1)]))
        x = view_of_form(x, where.extents, where.at)
    if axis is None and keepdims:
        raise OutOfReach(f"{function_in_words(op)} with keepdims", op.loc)
    (gone,) = axes(op, 0 if axis is None else axis, x.rank)
    writer.check("check_at_least", x.extents[gone], ONE)
    kept = [k for k in range(x.rank) if k != gone]
    best = "greater" if op.name == "argmax" else "less"

    def search(outer: dict[int, Operand]) -> Operand:
        def at(i: Operand) -> Operand:
            return x.at(tuple(i if k == gone else outer[k] for k in range(x.rank)))

        place = writer.running(scalar("i64"), ZERO, "%place")
        extreme = writer.running(scalar(x.dtype), at(ZERO), "%best")
        with writer.loop(x.extents[gone]) as i:
            v = at(i)
            test = writer.call(best, v, extreme)
            if x.dtype[0] == "f":
                nan = writer.call("logical_and", writer.call("not_equal", v, v), writer.call("equal", extreme, extreme))
                test = writer.call("logical_or", test, nan)
            with writer.when(test):
                writer.let(place, i)
                writer.let(extreme, v)
        return place

    if not kept:
        return finish(lowering, op, search({}))
    extents = tuple(ONE if k == gone else e for k, e in enumerate(x.extents)) if keepdims else tuple(x.extents[k] for k in kept)
    handle = writer.empty("i64", extents, own_name(op))
    with writer.nest([x.extents[k] for k in kept]) as outer:
        index = dict(zip(kept, outer, strict=True))
        cell = tuple(ZERO if k == gone else index[k] for k in range(x.rank)) if keepdims else outer
        writer.store(handle, search(index), cell)
    return finish(lowering, op, stored(writer, handle, "i64", extents, frozenset({handle})))


def extreme_share(lowering: Context, op: Call) -> Thing:
    """1 at extreme elements, divided by their number."""
    writer, dtype = lowering.writer, dtype_of(op)
    x, axis, keepdims = lowering.form(op.args[0]), op.settings["axis"], bool(op.settings["keepdims"])
    gone = axes(op, axis, x.rank)
    out = wide(lowering, lowering.form(op.args[1]), x, gone, keepdims or lowering.form(op.args[1]).rank == x.rank)
    hits = mapped(writer, "i64", [x, out], lambda e: cast_to(writer, writer.call("equal", *e), "i64"), 1)
    count = reduce(lowering, hits, gone, True, sum_fold(writer, "i64"))
    assert isinstance(count, Form)

    def share(e: list[Operand]) -> Operand:
        mark = cast_to(writer, writer.call("equal", e[0], e[1]), "f64")
        return cast_to(writer, writer.call("divide", mark, e[2], via=None), dtype)

    def test(index: Index) -> Operand:
        mark = writer.call("equal", x.at(index), out.at(broadcast_index(out, index)))
        none = writer.call("equal", count.at(broadcast_index(count, index)), ZERO)  # the share is then nan
        return writer.call("logical_or", mark, none)

    shares = mapped(writer, dtype, [x, out, count], share, 5)
    shares.support = Support(test)
    return shares


def wide(lowering: Context, out: Form, x: Form, gone: Sequence[int], keepdims: bool) -> Form:
    """The result of a reduction with its reduced axes restored as extent 1."""
    if keepdims or out.rank == 0:
        return out
    kept = [k for k in range(x.rank) if k not in gone]
    extents = [ONE if k in gone else out.extents[kept.index(k)] for k in range(x.rank)]
    return view_of_form(out, extents, lambda index: tuple(index[k] for k in kept))


def unbroadcast(lowering: Context, op: Call) -> Thing:
    """Sum over broadcast axes; other extents are checked for equality at run time."""
    writer = lowering.writer
    extents = lowering.extents(op.args[1])
    if isinstance(op.args[0].type, Scalar):
        if isinstance(op.outs[0].type, Scalar):
            return lowering.thing(op.args[0])
        return spread_to(lowering, op.args[0], extents, dtype_of(op))
    g = lowering.form(op.args[0])
    lead = g.rank - len(extents)
    if lead < 0:
        return spread_to(lowering, op.args[0], extents, dtype_of(op))
    gone = list(range(lead)) + [lead + k for k, e in enumerate(extents) if number(e) == 1 and number(g.extents[lead + k]) != 1]
    for k, e in enumerate(extents):
        if lead + k not in gone and number(g.extents[lead + k]) != 1:
            writer.require_equal(g.extents[lead + k], e)
        elif lead + k not in gone and number(e) != 1:
            writer.require_equal(e, ONE)
    if not gone:
        return view_of_form(g, extents, lambda i: i)
    total = reduce(lowering, g, gone, True, sum_fold(writer, dtype_of(op)), own_name(op))
    assert isinstance(total, Form)
    if isinstance(op.outs[0].type, Scalar):
        return cast_to(writer, total.at((ZERO,) * total.rank), dtype_of(op))
    part = total
    return finish(lowering, op, view_of_form(part, extents, lambda index: (*(ZERO,) * lead, *index)))


def trace(lowering: Context, op: Call) -> Thing:
    """The sum of a diagonal."""
    entries = diagonal(lowering, op)
    assert isinstance(entries, Form)
    return finish(
        lowering, op, reduce(lowering, entries, (entries.rank - 1,), False, sum_fold(lowering.writer, dtype_of(op)), own_name(op))
    )


RULES = {
    "trace": trace,
    "sum": plain(lambda writer, dtype, name: sum_fold(writer, dtype)),
    "prod": plain(lambda writer, dtype, name: product_fold(writer, dtype)),
    **dict.fromkeys(("max", "min"), plain(extreme_fold)),
    **dict.fromkeys(("any", "all"), truth),
    "mean": mean,
    "nanmean": mean_of_numbers,
    "nansum": sum_of_numbers,
    **dict.fromkeys(("nanmax", "nanmin"), extreme_of_numbers),
    "repeat_back": repeat_back,
    **dict.fromkeys(("var", "std"), variance),
    "count_nonzero": counted_nonzero,
    **dict.fromkeys(("argmax", "argmin"), argument_of_extreme),
    "extreme_share": extreme_share,
    "unbroadcast": unbroadcast,
}
