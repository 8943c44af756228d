"""The serialised form of functions: every difference is visible, and what cannot be written is refused."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.ir import core, types
from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Op, Value, While, clone
from symgrad.ir.faithful import Faithful, Unfaithful, known_object, plain_data
from symgrad.ir.types import Array, Dim, Scalar
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.ops.declare import USER_ROWS
from tests.programs import PROGRAMS, Program


def said(func: Func) -> str:
    faithful = Faithful()
    faithful.function(func)
    return json.dumps(faithful.plain())


def lowered(program: Program) -> Func:
    entry = symgrad.grad(program.function, wrt=program.wrt)._entry(program.arguments(program.sizes[0]), {}, None)
    func: Func = entry.compiled.stages()["lowered"]
    return func


@pytest.mark.parametrize("program", PROGRAMS[::17], ids=lambda program: program.name)
def test_copies_say_the_same(program: Program) -> None:
    func = lowered(program)

    assert said(clone(func)) == said(func)


def example() -> Func:
    """A function with an op of every class."""
    number, loc = Scalar("float"), Loc("f.py", 3, 4, 9, "    y = x", backward=False)
    x, y, i, carried, went, again, rounds, out, test = (Value(number, name) for name in "xyicgwrot")
    inner = Func("inner", Block([Value(number, "a")], [], [Const(1)]), ["out"], loc, doc="inside")
    loop = For([went], loc, Const(0), Const(4), Const(1), [x], Block([i, carried], [], [carried]))
    waiting = While([again, rounds], loc, [went], Block([test], [], [Const(True)]), Block([out], [], [out]))
    branch = Value(Array("f64", (Dim("n", 1, True), 3), "C"), "b")
    choice = If([branch], loc, Const(True), Block([], [], [x]), Block([], [], [Const(2.0)]))
    applied = Value(number, "p")
    body = [
        Call([y], loc, "power", [x, Const(2)], {"axis": (0, 1), "keepdims": False}),
        loop,
        waiting,
        choice,
        Apply([applied], loc, inner, [y, x]),
    ]
    return Func("f", Block([x], body, [applied, y]), ["out", "more"], loc, split=1, doc="text")


#: what holds other parts, which are changed themselves
HOLDERS = (Block, Func, Op, Value)
CONSTANTS = [Const(v) for v in (7, 7.0, -0.0, 0.0, math.inf, 1j, "7", None, (7,), [7], np.float64(7), np.float32(7))]


def parts(func: Func) -> list[Any]:
    """Everything that a function is made of and that can be changed, once."""
    pieces: dict[int, Any] = {}

    def visit(value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                visit(item)
        elif isinstance(value, HOLDERS) and id(value) not in pieces:
            pieces[id(value)] = value
            for field in dataclasses.fields(value):
                visit(getattr(value, field.name))

    visit(func)
    return list(pieces.values())


def others(value: Any) -> list[Any]:
    """Values of the same kind that are not the same."""
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1]
        case str() | None:
            return [f"{value}_"]
        case Loc():
            return [dataclasses.replace(value, **{f.name: others(getattr(value, f.name))[0]}) for f in dataclasses.fields(value)]
        case types.Type():
            return [Scalar("int"), Array("f32", (1,)), Array("f32", (Dim("m"),)), Array("f32", (Dim("m", 0, True),)), types.Object()]
        case Const():
            return [*CONSTANTS, Const(value.value, "named")]
        case dict():
            return [{**value, "more": 1}, dict(reversed(value.items()))]
        case list():
            variants = [value[:-1], value[::-1], [*value, *value[:1]]]
            for k, item in enumerate(value):
                variants += [[*value[:k], new, *value[k + 1 :]] for new in ([] if isinstance(item, HOLDERS) else others(item))]
            return [new for new in variants if new != value]
    return []


def changes() -> Iterator[tuple[str, Func]]:
    """Functions that differ from the example in one field of one part each."""
    for place, part in enumerate(parts(example())):
        for field in dataclasses.fields(part):
            if field.name in ("notes", "known") or isinstance(getattr(part, field.name), HOLDERS):
                continue
            for number in range(len(others(getattr(part, field.name)))):
                func = example()
                changed = parts(func)[place]
                new = others(getattr(changed, field.name))[number]
                setattr(changed, field.name, new)
                yield f"{type(part).__name__}.{field.name} as {new}", func


def test_whatever_is_changed_says_something_else() -> None:
    """Over the fields of the classes as they are, so that a field that is added to the IR cannot be forgotten."""
    seen = {said(example()): "nothing"}
    for what, func in changes():
        try:
            now = said(func)
        except Unfaithful:
            continue  # values that nothing defines, or twice: not a function
        assert now not in seen, f"{what} says the same as {seen[now]}"
        seen[now] = what

    assert len(seen) > 150


def test_notes_say_nothing() -> None:
    func = example()
    before = said(func)
    func.notes = Notes()

    assert said(func) == before


def test_ops_that_take_each_other_s_values_are_told_apart() -> None:
    def with_operands(first: str, second: str) -> str:
        x, y = Value(Scalar("float"), "x"), Value(Scalar("float"), "x")
        names = {"x": x, "y": y}
        out = Value(Scalar("float"))
        return said(Func("f", Block([x, y], [Call([out], name="add", args=[names[first], names[second]])], [out])))

    assert len({with_operands(a, b) for a in "xy" for b in "xy"}) == 4


@pytest.mark.parametrize("value", [lambda x: x, object(), Loc, np.random.default_rng(0), np.ones(3), PROGRAMS[0].function, {1: object()}])
def test_an_object_of_the_user_s_is_refused(value: Any) -> None:
    if value is Loc:
        value = type("Own", (), {})
    with pytest.raises(Unfaithful):
        plain_data(value)


def test_a_name_that_stands_for_something_else_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def sin(x: float) -> float:
        return x

    sin.__module__ = "numpy"
    assert known_object(sin) is None
    assert known_object(np.sin) == ["numpy", "sin"]
    before = np.sin
    monkeypatch.setattr(np, "sin", sin)
    assert known_object(before) is None


def test_an_object_of_the_user_s_is_asked_nothing() -> None:
    class Touchy:
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert known_object(Touchy()) is None


def test_a_row_of_the_user_s_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = Value(Scalar("float"), "x"), Value(Scalar("float"))
    func = Func("f", Block([x], [Call([out], name="sin", args=[x])], [out]))
    said(func)
    monkeypatch.setitem(USER_ROWS, "sin", core.NONE)  # type: ignore[arg-type]
    with pytest.raises(Unfaithful):
        said(func)


def test_numbers_that_are_equal_are_told_apart() -> None:
    values = [1, 1.0, True, 1 + 0j, np.float64(1), np.float32(1), np.int64(1), np.bool_(True), "1", (1,), [1], b"1", -1, {1: 1}]
    values += [0.0, -0.0, 0, False, None, math.nan, math.inf, -math.inf, slice(1), slice(0, 1), ..., Dim("n"), Dim("n", 1), np.dtype("f4"),
               np.dtype("i4"), np.float32, np.sin, Array("f64", None), Array("f64", ()), "None", "nan"]  # fmt: skip

    assert len({json.dumps(plain_data(value)) for value in values}) == len(values)
