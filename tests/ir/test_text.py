"""The text form of the IR: printed functions are parsed back; errors name their line."""

from __future__ import annotations

import pytest

import symgrad.ops.rows.elementwise
import symgrad.ops.rows.engine
import symgrad.ops.rows.engine_lists
import symgrad.ops.rows.engine_opaque
import symgrad.ops.rows.reductions  # noqa: F401
from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Value, While
from symgrad.ir.parse import ParseError, parse, parse_type
from symgrad.ir.show import show, show_type
from symgrad.ir.types import (
    BOOL,
    FLOAT,
    INT,
    UNDEFINED,
    UNKNOWN,
    Array,
    Box,
    Dim,
    List,
    Object,
    Scalar,
    ShapeOf,
    Tape,
    Type,
)
from symgrad.location import Loc

GATED = """\
func gated_sum(x: f64[!x0], w: float, n: int) -> scalar f64:   @ gated.py:4
    for i.0 in range(0, n, 1):                                 @ 6
        carry h.0 = x -> h.1
        %0 = multiply(w, h.0) : f64[!x0]                       @ 7
        z.0 = add(%0, x) : f64[!x0]                            @ 7
        %1 = sum(z.0) : scalar f64                             @ 8
        %2 = greater(%1, 0) : bool                             @ 8
        if %2 -> h.4:                                          @ 8
            h.2 = tanh(z.0) : f64[!x0]                         @ 9
            yield h.2
        else:
            h.3 = multiply(0.5, z.0) : f64[!x0]                @ 11
            yield h.3
        yield h.4
    %3 = sum(h.1) : scalar f64                                 @ 12
    return %3
"""

EVERYTHING = """\
func f(x: f64[!x0, (x0|1|-1|)+2, 3]/C, `a[0]`: list[float], n: int, nan_: ?, `nan`: float) -> out: ?[...], `x.y`: float, tape: tape[]:
    "it's said @ here: \\\\ "
    while until:
        carry h.0 = x -> h.1 : ?[...]
        carry j.0 = 0 -> j.1
        rounds -> %0
        %1 = less(j.0, n) : bool
        test %1
        q.0 = opaque(np.sin, $"f.__globals__['x']", h.0, undef, None, -1, 0.001, -inf, nan, (1+2j), 2j, "a@b", $"x", $"None", names=("k",)) : ?
        a.0, `b c`.0 = apply g(`a[0]`) : float, box[g]
        %2 = opaque(print, h.0) : object[<lambda>]             @ foo.py:3
        yield h.0, 1, True
    -- backward --
    for i.0 in reversed(range(n, 0, -1)) until:
        carry z.0 = undef -> z.1 : float
        carry y.0 = undef -> y.1 : undefined -> float
        rounds -> %3
        if True -> r.0, s.0: float:
            yield 1, 2
        else:
            yield 1.5, 2
        if z.0:
            yield
        yield r.0, 1.0, False
    for k.0 in batch(range(0, n, 1)):
        yield
    t.0 = set_at(x, 1, None, None, None, 3, index="s;i") : f64[]
    %4 = tape() : tape[]
    return h.1, z.1, %4

func g(x: list[float]) -> float, int:
    v.0, w.0 = apply g(x) : float, box[g]
    return v.0, 2
"""


@pytest.mark.parametrize("text", [GATED, EVERYTHING])
def test_what_is_printed_is_read_back(text: str) -> None:
    assert show(parse(text)) == text


def test_names_types_and_places_are_read() -> None:
    func = parse(GATED)
    loop, total = func.body.ops

    assert [p.name for p in func.params] == ["x", "w", "n"]
    assert func.loc == Loc("gated.py", 4)
    assert isinstance(loop, For)
    assert loop.loc == Loc("gated.py", 6)
    assert loop.carried[0].type == Array("f64", (Dim("x0", 0, True),))
    assert [v.name for v in loop.outs] == ["h"]
    assert isinstance(total, Call)
    assert total.settings == {"axis": None, "keepdims": False}
    assert total.args == loop.outs


def test_names_given_by_hand_are_renumbered_in_order_of_definition() -> None:
    text = """
    # any names will do

func f(x: float) -> float:
    y = add(x, x) : float
    # a comment
    y.7 = add(y, 1.0) : float
    %last = add(y.7, y) : float
    return %last
"""
    assert show(parse(text.replace("    # any", "# any"))) == (
        "func f(x: float) -> float:\n    y.0 = add(x, x) : float\n    y.1 = add(y.0, 1.0) : float\n"
        "    %0 = add(y.1, y.0) : float\n    return %0\n"
    )


def test_functions_of_one_name_are_told_apart() -> None:
    x, y, z = Value(FLOAT, "x"), Value(FLOAT, "x"), Value(FLOAT, "out")
    inner = Func("f", Block([x], [], [x]))
    text = show(Func("f", Block([y], [Apply([z], func=inner, args=[y])], [z])))

    assert "apply f~2(x)" in text
    assert show(parse(text)) == text


def test_two_parameters_of_one_name_and_none() -> None:
    a, b, c = Value(FLOAT, "x"), Value(FLOAT, "x"), Value(FLOAT)
    text = show(Func("f", Block([a, b, c], [], [a, b, c])))

    assert text == "func f(x: float, x.0: float, %0: float) -> float, float, float:\n    return x, x.0, %0\n"
    assert show(parse(text)) == text


def test_a_broken_program_can_still_be_shown() -> None:
    stray = Value(FLOAT, "stray")
    ops = [For(inits=[stray], body=Block([Value(INT)])), While(inits=[stray]), If([Value(FLOAT)]), Call([], name="nothing", args=[stray])]

    assert "%?stray" in show(Func("f", Block([], ops, [stray])))


TYPES: list[Type] = [
    FLOAT, INT, BOOL, UNKNOWN, UNDEFINED, Scalar("float", "any"), Scalar("complex", "c64"), Scalar("bool", "bool"),
    Array("f64", (Dim("x0", 0, True), Dim("x0", -2), Dim("(x0|1|-1|)", 3), 3), "C"), Array("f32", ()), Array(None, None),
    Array(None, (1, Dim("?"))), Array("bool", None, "CF"), Array("i64", (Dim("(x(a|b)|1)"),), "F"), ShapeOf(()), ShapeOf(None),
    ShapeOf((Dim("n", 1), 2)), List(List(Array("f64", None))), Tape(), Tape((FLOAT, Array("f64", (Dim("x0"),)))), Box("f.<locals>.g"),
    Object("None"), Object("function <lambda>"), Object("a[b[c]]"),
]  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_type_that_is_printed_is_read_back(type_: Type) -> None:
    assert parse_type(show_type(type_)) == type_


@pytest.mark.parametrize(
    "value", [1, -1, 0.5, -0.0, 1e-300, float("inf"), -float("inf"), 1j, (1 - 2j), complex("inf"), True, None, "a'b\"c\\ @ "]
)
def test_a_constant_that_is_printed_is_read_back(value: object) -> None:
    (constant,) = parse(show(Func("f", Block([], [], [Const(value)])))).body.yields

    assert isinstance(constant, Const)
    assert constant.key() == Const(value).key()


@pytest.mark.parametrize("value", [None, True, 3, -2.5, "f32", (0, 1), (0,), (), [1, (2,)], "", float("nan")])
def test_a_setting_that_is_printed_is_read_back(value: object) -> None:
    func = Func("f", Block([], [Call([], name="strange", settings={"k": value})], []))
    (op,) = parse(show(func)).body.ops

    assert isinstance(op, Call)
    assert repr(op.settings) == repr({"k": value})


HEAD = "func f(x: float) -> float:\n"
ERRORS = [
    ("func f(x: f65) -> float:\n    return x", "line 1: no type is called 'f65'"),
    (HEAD + "    return y.0", "line 2: y.0 is not defined"),
    (HEAD + "    y = add(x, x) : float\n    y = add(x, x) : float\n    return y", "line 3: y is defined twice"),
    (HEAD + "    y = add(x, x) : float, float\n    return y", "line 2: 1 results and 2 types"),
    (HEAD + "    y = add(x, x)\n    return y", "line 2: expected ':'"),
    (HEAD + "    y = add(x, x : float\n    return y", "line 2: expected ','"),
    (HEAD + "      return y", "line 2: indent by four spaces"),
    (HEAD + "        y = add(x, x) : float\n    return y", "line 2: expected 4 spaces"),
    (HEAD + "    y = add(x, x) : float", "line 2: 'return' is missing"),
    (HEAD + "    y = apply g(x) : float\n    return y", "line 2: there is no function g"),
    (HEAD + "    return x\n    y = add(x, x) : float", "line 3: nothing may follow the return"),
    (HEAD + "    for i in range(3):\n        yield\n    return x", "line 2: range takes start, stop, step"),
    (HEAD + "    y = sum(axis=0, x) : float\n    return y", "line 2: an operand stands before the settings"),
    (HEAD + "    y = sum(x) : float @ here\n    return y", "line 2: after @ stands a line"),
    (HEAD + "    y = sum(x) : float and more\n    return y", "line 2: unexpected text"),
    ("", "line 1: there is no function"),
    ("    return x", "line 1: a function begins at the margin"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS, ids=[message for _, message in ERRORS])
def test_what_cannot_be_read_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)

    assert str(caught.value).startswith(message)
