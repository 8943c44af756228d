"""The verifier: accepted and refused functions, with messages."""

from __future__ import annotations

import pytest

import symgrad.ops.rows.elementwise
import symgrad.ops.rows.engine
import symgrad.ops.rows.engine_lists
import symgrad.ops.rows.engine_opaque
import symgrad.ops.rows.reductions  # noqa: F401
from symgrad.errors import InvalidIR
from symgrad.ir.core import ONE, Apply, Block, Call, For, Func, If, Op, Value, While
from symgrad.ir.parse import parse
from symgrad.ir.types import FLOAT, INT, Array, Dim
from symgrad.ir.verify import verify
from symgrad.ops.build import Builder

HEAD = "func p(x: f64[x0], w: f64[x0], n: int) -> f64[x0]:\n"

FORWARD = """\
    tape0 = tape() : tape[]
    y0 = multiply(x, x) : f64[x0]
    for i in range(0, n, 1):
        carry y = y0 -> y9
        carry t = tape0 -> t9 : tape[f64[2]]
        old = take(y, 0, 2, None, index="s") : f64[2]
        t1 = push(t, old) : tape[f64[2]]
        a = view(y, 0, 2, None, index="s") : f64[2]
        s = add(a, a) : f64[2]
        y1 = set_at(y, s, 0, 2, None, index="s") : f64[x0]
        yield y1, t1
"""

BACKWARD = """\
    g0 = multiply(y9, 2.0) : f64[x0]
    for j in reversed(range(0, n, 1)):
        carry yr = y9 -> y8
        carry g = g0 -> g9
        carry tt = t9 -> tt9
        tt1, o = pop(tt) : tape[f64[2]], f64[2]
        yb = set_at(yr, o, 0, 2, None, index="s") : f64[x0]
        c = take(g, 0, 2, None, index="s") : f64[2]
        p = view(yb, 0, 2, None, index="s") : f64[2]
        u = multiply(c, p) : f64[2]
        g1 = set_at(g, u, 0, 2, None, index="s") : f64[x0]
        u1 = multiply(c, p) : f64[2]
        g2 = add_at(g1, u1, 0, 2, None, index="s") : f64[x0]
        yield yb, g2, tt1
"""

SWAP = """\
    a0 = multiply(x, x) : f64[x0]
    b0 = copy(x) : f64[x0]
    for i in range(0, n, 1):
        carry a = a0 -> a9
        carry b = b0 -> b9
        l = view(a, 0, 2, None, index="s") : f64[2]
        v = add(l, l) : f64[2]
        b1 = set_at(b, v, 0, 2, None, index="s") : f64[x0]
        yield b1, a
"""

BOTH = """\
    a0 = multiply(x, x) : f64[x0]
    b0 = copy(x) : f64[x0]
    for i in range(0, n, 1):
        carry a = a0 -> a9
        carry b = b0 -> b9
        v = add(a, b) : f64[x0]
        yield v, v
"""

BRANCH = """\
    z = copy(x) : f64[x0]
    if n -> r:
        a = set_at(z, 1.0, 0, index="i") : f64[x0]
        yield a
    else:
        yield z
"""

PUSHED = """\
    t0 = tape() : tape[]
    for i in range(0, n, 1):
        carry h = x -> h9
        carry t = t0 -> t9 : tape[f64[x0]]
        t1 = push(t, h) : tape[f64[x0]]
        h1 = tanh(h) : f64[x0]
        yield h1, t1
    for j in reversed(range(0, n, 1)):
        carry q = h9 -> q9
        carry tt = t9 -> tt9
        tt1, h2 = pop(tt) : tape[f64[x0]], f64[x0]
        h3 = set_at(h2, 0.0, 0, index="i") : f64[x0]
        yield h3, tt1
"""

SOUND = {
    "a store in a loop whose old slice was taken": FORWARD + "    return y9",
    "restoring in place, the cotangent's slice taken": FORWARD + BACKWARD + "    return g9",
    "a copy returned that was made before the sweep": FORWARD + "    aux = copy(y9) : f64[x0]\n" + BACKWARD + "    return aux",
    "two buffers that swap places": SWAP + "    return a9",
    "two carried values that share what nobody stores to": BOTH + "    c = add(a9, b9) : f64[x0]\n    return c",
    "a store in one branch": BRANCH + "    q = set_at(r, 2.0, 0, index=\"i\") : f64[x0]\n    return q",
    "a store to what comes from a tape": PUSHED + "    return q9",
    "a copy kept": '    y = copy(x) : f64[x0]\n    o = copy(y) : f64[x0]\n    y1 = set_at(y, 1.0, 0, index="i") : f64[x0]\n'
                   "    d = subtract(y1, o) : f64[x0]\n    return d",
    "a store to a row of what a loop built": '    for i in range(0, n, 1):\n        carry h = x -> h9\n        h1 = tanh(h) : f64[x0]\n'
                   '        h2 = set_at(h1, 1.0, 0, index="i") : f64[x0]\n        yield h2\n    return h9',
    "each branch stores to the same buffer": '    z = copy(x) : f64[x0]\n    if n -> r:\n        a = set_at(z, 1.0, 0, index="i") : f64[x0]\n'
                   '        yield a\n    else:\n        b = set_at(z, 2.0, 0, index="i") : f64[x0]\n        yield b\n    return r',
}  # fmt: skip


@pytest.mark.parametrize("body", SOUND.values(), ids=SOUND)
def test_a_sound_program_passes(body: str) -> None:
    verify(parse(HEAD + body))


def test_the_shape_of_what_was_overwritten_may_be_asked() -> None:
    body = "    y = copy(x) : f64[x0]\n    y1 = accumulate(y, w) : f64[x0]\n    s = shape_of(y) : shape[x0]\n    z = zeros_of(s) : f64[x0]\n    return z"
    verify(parse(HEAD + body))


REFUSED = {
    "a list accumulated to": (
        "    l = list_of(1.0) : list[float]\n    m = list_of(2.0) : list[float]\n    s = accumulate(l, m) : list[float]\n    return x",
        "accumulate -> s.0: accumulate takes arrays and numbers",
    ),
    "the cotangent's slice is a view": (
        FORWARD + BACKWARD.replace("c = take", "c = view") + "    return g9",
        "multiply -> u1.0 reads c.0, whose memory was overwritten by set_at -> g1.0",
    ),
    "the tape keeps a view": (
        FORWARD.replace("old = take", "old = view") + "    return y9",
        "for -> y9.0, t9.0: its operands or yields read t1.0, which keeps memory that was overwritten by set_at -> y1.0",
    ),
    "what was restored is returned": (
        FORWARD + BACKWARD + "    return y9",
        "the end of the block reads y9.0, whose memory was overwritten by set_at -> yb.0",
    ),
    "one buffer in two slots": (
        SWAP.replace("carry b = b0", "carry b = a0") + "    return b9",
        "for -> a9.0, b9.0: its operands or yields read a.0, whose memory was overwritten by set_at -> b1.0",
    ),
    "two slots given one buffer, stored to after the loop": (
        BOTH + '    b1 = set_at(b9, 1.0, 0, index="i") : f64[x0]\n    return a9',
        "the end of the block reads a9.0, whose memory was overwritten by set_at -> b1.0",
    ),
    "two slots given one buffer, stored to in the next round": (
        BOTH.replace("v = add(a, b)", 'a1 = set_at(a, 1.0, 0, index="i") : f64[x0]\n        v = add(a1, b)') + "    return a9",
        "add -> v.0 reads b.0, whose memory was overwritten by set_at -> a1.0",
    ),
    "two buffers merged, both stored to": (
        '    z = copy(x) : f64[x0]\n    a = set_at(z, 1.0, 0, index="i") : f64[x0]\n    b = set_at(z, w) : f64[x0]\n    return b',
        "set_at -> b.0 reads z.0, whose memory was overwritten by set_at -> a.0",
    ),
    "an allocation was removed": (
        "    y = multiply(x, 2.0) : f64[x0]\n    o = view(y) : f64[x0]\n    y1 = set_at(y, w) : f64[x0]\n"
        "    d = subtract(y1, o) : f64[x0]\n    return d",
        "subtract -> d.0 reads o.0, whose memory was overwritten by set_at -> y1.0",
    ),
    "a view of a view": (
        '    y = copy(x) : f64[x0]\n    a = view(y, index=".T") : f64[x0]\n    b = view(a) : f64[x0]\n    y1 = accumulate(y, w) : f64[x0]\n    return b',
        "the end of the block reads b.0, whose memory was overwritten by accumulate -> y1.0",
    ),
    "the base of a view that was stored to": (
        "    y = copy(x) : f64[x0]\n    a = view(y) : f64[x0]\n    a1 = set_at(a, w) : f64[x0]\n    d = add(a1, y) : f64[x0]\n    return d",
        "add -> d.0 reads y.0, whose memory was overwritten by set_at -> a1.0",
    ),
    "read after a branch that stored": (
        BRANCH + "    q = add(r, z) : f64[x0]\n    return q",
        "add -> q.0 reads z.0, whose memory was overwritten by set_at -> a.0",
    ),
    "read after a branch whose result is unrelated": (
        BRANCH.replace("yield a", "yield 1.0").replace("yield z", "yield 2.0") + "    return z",
        "the end of the block reads z.0, whose memory was overwritten by set_at -> a.0",
    ),
    "stored to in a loop without being carried": (
        '    z = copy(x) : f64[x0]\n    for i in range(0, n, 1):\n        a = set_at(z, 1.0, 0, index="i") : f64[x0]\n        yield\n    return x',
        "set_at -> a.0 reads z.0, whose memory was overwritten by set_at -> a.0",
    ),
    "what a loop started from, after the loop stored to it": (
        FORWARD + "    return y0",
        "the end of the block reads y0.0, whose memory was overwritten by set_at -> y1.0",
    ),
    "what was pushed, after what was popped was stored to": (
        PUSHED + "    return x",
        "the end of the block reads x, whose memory was overwritten by set_at -> h3.0",
    ),
    "one buffer pushed in every round": (
        PUSHED.replace("push(t, h)", "push(t, x)") + "    return q9",
        "for -> q9.0, tt9.0: its operands or yields read tt1.0, which keeps memory that was overwritten by set_at -> h3.0",
    ),
    "a carried buffer pushed again in the next round": (
        PUSHED.replace("h1 = tanh(h)", "h1 = stop_gradient(h)") + "    return q9",
        "for -> q9.0, tt9.0: its operands or yields read",
    ),
    "stored to while a tape keeps it": (
        "    t0 = tape() : tape[]\n    y = copy(x) : f64[x0]\n    t1 = push(t0, y) : tape[f64[x0]]\n    y1 = accumulate(y, w) : f64[x0]\n"
        "    t2, o = pop(t1) : tape[f64[x0]], f64[x0]\n    d = add(y1, o) : f64[x0]\n    return d",
        "pop -> t2.0, o.0 reads t1.0, which keeps memory that was overwritten by accumulate -> y1.0",
    ),
    "stored to while a list holds it": (
        "    y = copy(x) : f64[x0]\n    l = list_of(y, w) : list[f64[x0]]\n    y1 = accumulate(y, w) : f64[x0]\n    a = list_take(l, 0) : f64[x0]\n    return a",
        "list_take -> a.0 reads l.0, which keeps memory that was overwritten by accumulate -> y1.0",
    ),
    "an item of a list was stored to": (
        "    l = list_of(x, w) : list[f64[x0]]\n    a = list_take(l, 0) : f64[x0]\n    a1 = accumulate(a, 1.0) : f64[x0]\n    d = add(x, a1) : f64[x0]\n    return d",
        "add -> d.0 reads x, whose memory was overwritten by accumulate -> a1.0",
    ),
    "the test of a loop stores": (
        "    y = copy(x) : f64[x0]\n    while:\n        carry a = y -> a9\n        rounds -> %r\n        b = set_at(a, w) : f64[x0]\n"
        "        c = sum(b) : scalar f64\n        test c\n        yield a\n    return a9",
        "the test of a while loop must not store",
    ),
    "a function that stores to its argument": (
        "    y = copy(x) : f64[x0]\n    r = apply g(y) : f64[x0]\n    d = add(y, r) : f64[x0]\n    return d\n"
        'func g(a: f64[x0]) -> f64[x0]:\n    b = set_at(a, 1.0, 0, index="i") : f64[x0]\n    return b',
        "add -> d.0 reads y.0, whose memory was overwritten by apply g -> r.0",
    ),
    "a function that returns its argument": (
        "    y = copy(x) : f64[x0]\n    r = apply g(y) : f64[x0]\n    r1 = accumulate(r, w) : f64[x0]\n    d = add(y, r1) : f64[x0]\n    return d\n"
        "func g(a: f64[x0]) -> f64[x0]:\n    return a",
        "add -> d.0 reads y.0, whose memory was overwritten by accumulate -> r1.0",
    ),
    "a recursive function that stores to its argument": (
        "    y = copy(x) : f64[x0]\n    r = apply g(y, n) : f64[x0]\n    d = add(y, r) : f64[x0]\n    return d\n"
        "func g(a: f64[x0], n: int) -> f64[x0]:\n    if n -> b:\n        c = apply g(a, n) : f64[x0]\n        yield c\n    else:\n"
        "        e = accumulate(a, 1.0) : f64[x0]\n        yield e\n    return b",
        "add -> d.0 reads y.0, whose memory was overwritten by apply g -> r.0",
    ),
}


@pytest.mark.parametrize(("body", "message"), REFUSED.values(), ids=REFUSED)
def test_a_read_of_memory_that_was_overwritten_is_refused(body: str, message: str) -> None:
    with pytest.raises(InvalidIR) as caught:
        verify(parse(HEAD + body))

    assert f"p: {message}" in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "    g = spread(1.0, s) : f64[x0]\n    g1 = accumulate(g, w) : f64[x0]\n    return g1",
        "    g = spread(1.0, s) : f64[x0]\n    for i in range(0, n, 1):\n        carry h = g -> h9\n        h1 = accumulate(h, w) : f64[x0]\n"
        "        yield h1\n    return h9",
        "    for i in range(0, n, 1):\n        carry h = x -> h9\n        g = spread(1.0, s) : f64[x0]\n        yield g\n"
        "    h1 = accumulate(h9, w) : f64[x0]\n    return h1",
    ],
)
def test_a_store_to_a_broadcast_view_is_refused(body: str) -> None:
    with pytest.raises(InvalidIR, match="which may be a broadcast view"):
        verify(parse(HEAD + "    s = shape_of(x) : shape[x0]\n" + body))


def test_what_was_spread_may_be_stored_to_afterwards() -> None:
    body = (
        "    y = copy(x) : f64[x0]\n    s = shape_of(x) : shape[x0]\n    g = spread(y, s) : f64[x0]\n    for i in range(0, n, 1):\n"
        "        carry h = g -> h9\n        yield h\n    d = add(h9, w) : f64[x0]\n    y1 = accumulate(y, d) : f64[x0]\n    return y1"
    )
    verify(parse(HEAD + body))


def test_the_place_of_the_store_and_of_the_read_are_told() -> None:
    text = (
        "func p(x: f64[x0]) -> f64[x0]: @ file.py:1\n    y = copy(x) : f64[x0] @ 2\n    z = set_at(y, x) : f64[x0] @ 3\n"
        "    r = add(y, z) : f64[x0] @ 4\n    return r"
    )
    with pytest.raises(InvalidIR) as caught:
        verify(parse(text))

    assert "add -> r.0 reads y.0, whose memory was overwritten by set_at -> z.0, line 3" in caught.value.what
    assert caught.value.loc is not None
    assert caught.value.loc.line == 4


# ------------------------------------------------------------------ structure


def func_of(*ops: Op, params: tuple[Value, ...] = (), yields: tuple[Value, ...] = ()) -> Func:
    return Func("f", Block(list(params), list(ops), list(yields)))


def floats(*names: str) -> list[Value]:
    return [Value(FLOAT, name) for name in names]


def add(out: Value, a: Value, b: Value) -> Call:
    return Call([out], name="add", args=[a, b], settings={"via": None})


def broken() -> dict[str, tuple[Func, str]]:
    x, y, z = floats("x", "y", "z")
    index = Value(INT, "i")
    inner = func_of(params=(x,), yields=(x, x))
    return {
        "twice": (func_of(add(y, x, x), add(y, x, x), params=(x,)), "y.0 is defined twice, by add -> y.0"),
        "before": (func_of(add(y, z, x), add(z, x, x), params=(x,)), "add -> y.0 reads z.0, which is not defined before"),
        "scope": (
            func_of(If([], then=Block([], [add(y, x, x)])), add(z, y, y), params=(x,)),
            "add -> z.0 reads y.0, which is not defined in this",
        ),
        "index": (func_of(For(body=Block([index])), yields=(index,)), "the caller reads i.0, which is not defined in this scope"),
        "row": (func_of(Call([y], name="nothing", args=[x]), params=(x,)), "there is no row 'nothing'"),
        "operands": (func_of(Call([y], name="add", args=[x], settings={"via": None}), params=(x,)), "add -> y.0: 1 operands for (x, y)"),
        "unsaid": (func_of(Call([y], name="add", args=[x, x]), params=(x,)), "settings [] are not the row's, ['via'] are missing"),
        "for args": (func_of(For([y], inits=[x], body=Block([index], [], [x])), params=(x,)), "arguments of the body: 1, not 2"),
        "for yields": (func_of(For([y], inits=[x], body=Block([index, z])), params=(x,)), "values that the body yields: 0, not 1"),
        "for outs": (func_of(For([], inits=[x], body=Block([index, z], [], [z])), params=(x,)), "for: results: 0, not 1"),
        "until": (func_of(For([], until=True, body=Block([index]))), "values that the body yields: 0, not 1"),
        "while outs": (func_of(While([], test=Block([], [], [x])), params=(x,)), "while: results: 0, not 1"),
        "test": (func_of(While([y])), "values that the test yields: 0, not 1"),
        "if": (func_of(If([y], then=Block([], [], [x])), params=(x,)), "values that a branch yields: 0, not 1"),
        "apply": (func_of(Apply([y], func=inner, args=[x]), params=(x,)), "apply f -> y.0: results: 1, not 2"),
        "results": (Func("f", Block(), results=["out"]), "1 names for 0 results"),
        "split": (Func("f", split=3), "the backward half begins outside the body"),
    }


@pytest.mark.parametrize("case", list(broken()))
def test_a_malformed_program_is_refused(case: str) -> None:
    func, message = broken()[case]
    with pytest.raises(InvalidIR) as caught:
        verify(func)

    assert message in str(caught.value)


def test_verifying_is_linear_in_the_length_of_the_program() -> None:
    x = Value(Array("f64", (Dim("x0"),)), "x")
    build = Builder()
    y = build.call("copy", x)
    for _ in range(2000):
        y = build.call("set_at", y, build.call("take", y, ONE, index="i"), ONE, index="i")

    verify(Func("f", Block([x], build.block.ops, [y])))


TABLE = """\
func p(t0: list[list[float]], u: float, n: int) -> float:
    r = list_take(t0, 0) : list[float]
    t1 = table_set(t0, 1, 0, u) : list[list[float]]
"""


def test_a_list_that_was_read_from_one_in_which_lists_are_changed_is_gone() -> None:
    again = TABLE + "    s = list_take(t1, 0) : list[float]\n    v = list_take(s, 0) : float\n    return v\n"
    verify(parse(again))
    with pytest.raises(InvalidIR, match=r"list_take -> v.0 reads r.0, whose memory was overwritten by table_set -> t1.0"):
        verify(parse(TABLE + "    v = list_take(r, 0) : float\n    return v\n"))


def test_a_list_that_went_into_one_in_which_lists_are_changed_is_gone() -> None:
    text = TABLE.replace("r = list_take(t0, 0)", "r = list_of(u)").replace("table_set(t0,", "table_set(t2,")
    text = text.replace("    t1", "    t2 = list_append(t0, r) : list[list[float]]\n    t1")
    verify(parse(text + "    return u\n"))
    with pytest.raises(InvalidIR, match=r"list_take -> v.0 reads r.0, whose memory was overwritten by table_set -> t1.0"):
        verify(parse(text + "    v = list_take(r, 0) : float\n    return v\n"))
