"""Lists and tuples of any length: operations compared with plain Python; no dependence on the length in the first call."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest
from of_any_length import LONG, TYPICAL
from plainly import verdict
from sequences import KINDS, OPERATIONS, arguments, program

import symgrad
from symgrad.abstraction import abstract
from symgrad.dispatch.table import KNOWN
from symgrad.frontend.state.context import WRITTEN
from symgrad.signature import FEW
from symgrad.verification.directions import dot, moved, random_like

#: what is not modelled
REFUSED = {
    ("float", "filled in part"),
    ("float", "star arguments"),
    ("float", "given back"),
    ("dict", "filtered"),
    ("words", "sorted"),
    ("words", "sorted in place"),
}
#: where an array is asked whether it is true
RAISES = {(kind, "found") for kind in ("array", "shapes", "matrix", "ragged", "dict")}
CASES = [(kind, operation) for kind in KINDS for operation in OPERATIONS if program(KINDS[kind], operation) is not None]


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("kind", "operation"), CASES, ids=["-".join(case).replace(" ", "_") for case in CASES])
def test_an_operation_gives_what_python_gives(kind: str, operation: str) -> None:
    text = program(KINDS[kind], operation)
    assert text is not None
    expected = "refused" if (kind, operation) in REFUSED else "raises" if (kind, operation) in RAISES else "right"
    assert verdict(text, arguments(KINDS[kind], list, FEW + 2), stores=False) == expected


@pytest.mark.sweep(12)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operation", ["iterate", "zip itself", "computed index", "slice", "concatenated", "passed", "best"])
def test_a_tuple_is_gone_over_as_a_list_is(kind: str, operation: str) -> None:
    text = program(KINDS[kind], operation)
    assert text is not None
    assert verdict(text, arguments(KINDS[kind], tuple, FEW + 2), stores=False) in ("right", "refused")


# ------------------------------------------------------------------ one text for all lengths


@pytest.mark.parametrize(("function", "data"), LONG, ids=[function.__name__ for function, _ in LONG])
def test_one_text_serves_all_lengths(function: Any, data: Any, random: np.random.Generator) -> None:
    derived = symgrad.grad(function, (0, 1))
    for count in (FEW + 1, 30, 200):
        argument = data(random, count)
        ours = derived(*argument)
        assert type(ours[0]) is type(argument[0])
        directions = random_like(argument, random)
        ends = [function(*moved(argument, directions, step)) for step in (1e-6, -1e-6)]
        assert np.isclose(dot(ours, directions), (ends[0] - ends[1]) / 2e-6, rtol=1e-5)
    assert sum(map(len, derived._table.entries.values())) == 1
    assert not re.search(r"\[\d\d", derived.source(*argument))


#: what has one text for each length: what is known item by item there
AS_LONG_AS_DATA = {"penalty", "shrunk", "tallied", "accounts", "against_globals", "doubled_in_place"}
#: keys that are computed, and rows of a list of lists that are changed
NOT_FOLLOWED = {"remembered", "warped"}


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("function", "data"), TYPICAL, ids=[function.__name__ for function, _ in TYPICAL])
def test_a_typical_program_is_right_at_any_length(function: Any, data: Any, random: np.random.Generator) -> None:
    derived = symgrad.grad(function, (0, 1))
    texts = set()
    for count in (FEW + 1, 15, 30):
        argument = data(random, count)
        if function.__name__ in NOT_FOLLOWED:
            with pytest.raises(symgrad.SymgradError):
                derived(*argument)
            continue
        ours = derived(*copy.deepcopy(argument))
        directions = random_like(argument, random)
        ends = [function(*moved(copy.deepcopy(argument), directions, step)) for step in (1e-6, -1e-6)]
        assert np.isclose(dot(ours, directions), (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-8)
        texts.add(derived.source(*argument))
    assert len(texts) == (0 if function.__name__ in NOT_FOLLOWED else 3 if function.__name__ in AS_LONG_AS_DATA else 1)


def test_items_are_followed_one_by_one_up_to_a_bound(random: np.random.Generator) -> None:
    function, data = next(pair for pair in TYPICAL if pair[0].__name__ == "doubled_in_place")
    derived = symgrad.grad(function)
    xs, w = data(random, KNOWN)  # with w one more than is followed
    for _ in range(2):
        with pytest.raises(symgrad.errors.UnsureAlias):
            derived(xs, w)
    (first, *_), w = data(random, 12)
    assert np.allclose(derived([first.copy() for _ in range(12)], w)[0], 8 * np.sum(w @ first) * np.sum(w, axis=0))


def written(ps: Any, x: Any) -> Any:
    for name in ps:
        p = ps[name]
        x = x * p
        x = np.sin(x)
        x = x + p
        x = np.cos(x)
        x = x - p
        x = x * 0.5
    return x


def test_rounds_are_written_out_up_to_a_bound_on_their_statements() -> None:
    derived = symgrad.grad(written)
    with pytest.raises(symgrad.errors.UnsupportedSyntax, match="would have to be unrolled, and has too many iterations"):
        derived({f"p{k}": 0.5 for k in range(WRITTEN // 8 + 1)}, 0.3)
    few = {f"p{k}": 0.5 + 0.1 * k for k in range(12)}
    moved_up, moved_down = ({**few, "p7": few["p7"] + step} for step in (1e-6, -1e-6))
    assert np.isclose(derived(few, 0.3)["p7"], (written(moved_up, 0.3) - written(moved_down, 0.3)) / 2e-6)


def test_items_that_differ_have_code_of_their_own(random: np.random.Generator) -> None:
    derived = symgrad.grad(lambda ws: sum(np.sum(w * w) for w in ws))
    for kind in (np.float64, np.float32):
        for shape in ((2,), (2, 2), (1,)):
            ws = [random.normal(size=shape).astype(kind) for _ in range(12)]
            assert all(np.allclose(g, 2 * w) and g.dtype == w.dtype for g, w in zip(derived(ws), ws, strict=True))
    mixed = [np.ones(2 + k % 2) if k % 3 else np.ones((1, 2)) for k in range(12)]
    assert all(np.allclose(g, 2 * w) for g, w in zip(derived(mixed), mixed, strict=True))


def test_an_item_that_is_another_argument_too_is_followed(random: np.random.Generator) -> None:
    def f(ws: Any, x: Any) -> Any:
        x *= 2.0
        return sum(np.sum(w * x) for w in ws)

    derived = symgrad.grad(f, ("ws", "x"), allow_unused=True)
    ws, x = [random.normal(size=2) for _ in range(10)], random.normal(size=2)
    gradient = derived(ws, x)
    assert np.allclose(gradient[0][3], 2 * x)
    x = ws[4]  # doubled in the list too
    others = sum(w for k, w in enumerate(ws) if k != 4)
    for _ in range(2):
        gradient = derived([*ws], x)
        assert np.allclose(gradient[0][4] + gradient[1], 2 * others + 8 * x)


def test_the_signature_names_an_item_not_the_items() -> None:
    assert str(abstract({"ws": [np.ones(3)] * 9})) == "ws: list[f64[!?], ...]"
    assert str(abstract({"ws": [np.ones(3)] * 9})) == str(abstract({"ws": [np.ones(k + 2) for k in range(900)]}))
    assert "!ws_0" in str(abstract({"ws": [np.ones(3)] * 8}))


def test_one_list_passed_twice_has_one_gradient(random: np.random.Generator) -> None:
    def f(a: Any, b: Any) -> Any:
        a.append(a[0])
        return sum(np.sum(x * y) for x, y in b)

    data = [(random.normal(size=2), random.normal(size=2)) for _ in range(10)]
    _, second = symgrad.grad(f, (0, 1), allow_unused=True)([*data], copy.deepcopy(data))
    assert all(np.allclose(g[0], y) and np.allclose(g[1], x) for g, (x, y) in zip(second, data, strict=True))
    same = [*data]
    ours = symgrad.grad(f)(same, same)
    assert np.allclose(ours[0][0], 2 * data[0][1])
    assert np.allclose(ours[5][1], data[5][0])


def test_a_list_of_items_with_parts_is_returned(random: np.random.Generator) -> None:
    def f(pairs: Any, c: Any) -> Any:
        items = [(x * c, {"b": y}) for x, y in pairs]
        return sum(np.sum(x) * d["b"] for x, d in items), items

    pairs, c = [(random.normal(size=2), float(random.normal())) for _ in range(12)], 1.5
    (value, aux), gradient = symgrad.value_and_grad(f, has_aux=True)(pairs, c)
    expected, items = f(pairs, c)
    assert np.isclose(value, expected)
    assert all(type(ours) is tuple and np.allclose(ours[0], own[0]) and ours[1] == own[1] for ours, own in zip(aux, items, strict=True))
    assert all(np.allclose(g[0], c * y) and np.isclose(g[1], c * np.sum(x)) for g, (x, y) in zip(gradient, pairs, strict=True))


def test_a_list_of_numbers_is_repeated_as_python_does_it() -> None:
    def total(x):
        n = len(x)
        held = [0.0] * (n + 1)
        held[1] = x[0] ** 2
        several = [x[1], 1.0] * n
        return sum(held) + sum(several) + sum([x[0]] * (n - 5))

    x = np.array([0.5, 2.0, 1.0])
    text = symgrad.grad(total).source(x)
    assert "[0.0] * (n + 1)" in text
    np.testing.assert_allclose(symgrad.grad(total)(x), [1.0, 3.0, 0.0])
    np.testing.assert_allclose(symgrad.grad(total)(np.ones(7)), [4.0, 7.0, *[0.0] * 5])
