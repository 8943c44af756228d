"""Containers from outside: comparisons, subclasses of ``tuple``, lists of tuples that grow between calls."""

from __future__ import annotations

import sys
import time
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax


class Pair(tuple):
    def total(self):
        return self[0] + self[1]


class Items(list):
    pass


class Table(dict):
    pass


Point = namedtuple("Point", "n v")

#: what is outside, what it is later, and a display that is equal to the former
HELD: dict[str, tuple[Any, Any, str]] = {
    "list": ([1.0, 2.0], [1.0, 3.0], "[1.0, 2.0]"),
    "mixed list": ([1.0, "a"], [1.0, "b"], "[1.0, 'a']"),
    "list of a subclass": (Items([1.0, 2.0]), Items([1.0]), "[1.0, 2.0]"),
    "nested list": ([[1.0, "a"], (2, 3)], [[1.0, "a"], (2, 4)], "[[1.0, 'a'], (2, 3)]"),
    "dict": ({"a": 1.0}, {"a": 2.0}, "{'a': 1.0}"),
    "dict of a subclass": (Table({"a": 1.0}), Table({"b": 1.0}), "{'a': 1.0}"),
    "tuple": ((1.0, "a"), (1.0, "b"), "(1.0, 'a')"),
    "tuple of a subclass": (Pair((1.0, 2.0)), Pair((1.0, 3.0)), "(1.0, 2.0)"),
}
QUESTIONS = (
    "HELD == {}",
    "{} == HELD",
    "HELD != {}",
    "HELD in ({}, 5)",
    "not ({} == HELD or a > 9)",
    "HELD == OTHER",
    "HELD == 5",
    "HELD == None",
)


def judged(text: str, values: dict[str, Any], later: dict[str, Any], point: float = 1.5) -> None:
    """The value of a function, now and when what is outside is something else, is that of plain Python, and its slope 2."""
    function = symgrad.from_source(f"def asked(a):\n    return a * 2.0 + ({text})\n", globals={"np": np, "sys": sys, **values})
    derivative = symgrad.value_and_grad(function)
    for outside in (values, later, values):
        function.__globals__.update(outside)
        assert derivative(point) == (function(point), 2.0)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", HELD)
def test_containers_are_equal_by_what_they_hold(kind: str, question: str) -> None:
    held, later, display = HELD[kind]
    judged(question.format(display), {"HELD": held, "OTHER": later}, {"HELD": later, "OTHER": later})


def test_a_set_from_outside_is_not_compared() -> None:
    with pytest.raises(UnsupportedSyntax, match="a set from outside the function is compared"):
        judged("HELD == {1.0}", {"HELD": {1.0}}, {"HELD": {2.0}})


@pytest.mark.parametrize("question", ["HELD < (1.0, 3.0)", "HELD >= (1.0, 2.0)", "(1.0,) > HELD"])
def test_tuples_of_a_subclass_are_ordered_by_what_they_hold(question: str) -> None:
    judged(question, {"HELD": Pair((1.0, 2.0))}, {"HELD": Pair((0.5, 2.0))})


@pytest.mark.parametrize(
    "text",
    ["HELD.total()", "HELD[1]", "sum(HELD)", "len(HELD)", "type(HELD) is tuple", "isinstance(HELD, tuple)", "max(HELD)", "np.array(HELD)[1]",
     "sum(v * v for v in HELD)", "float(str(HELD) == '(1.0, 2.0)')", "1.0 in HELD", "HELD[0] if HELD else 3.0"],
)  # fmt: skip
def test_a_tuple_of_a_subclass_is_of_its_class(text: str) -> None:
    judged(text, {"HELD": Pair((1.0, 2.0))}, {"HELD": Pair((1.5, 2.0))})


@pytest.mark.parametrize(
    "text", ["sys.float_info.max * 0.0", "sys.float_info.epsilon", "sys.version_info[0]", "sys.version_info.major", "sys.version_info >= (3, 8)", "HELD.tm_year"]
)  # fmt: skip
def test_tuples_of_python_s_own_classes_have_their_attributes(text: str) -> None:
    judged(text, {"HELD": time.gmtime(0)}, {"HELD": time.gmtime(1e9)})


#: what is stored in a list ``held``, over a number ``x`` and the number ``k`` of the call
STORED = ("(k, 2.0 * x)", "(k, (x, 2))", "Point(k, x)", "('text', x)", "(None, x)", "(x, Point(1, (k, x)))", "(True, x)")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("place", ["HELD", "self.held"])
@pytest.mark.parametrize("stored", STORED)
def test_a_list_of_tuples_grows_with_each_call_and_has_few_codes(stored: str, place: str) -> None:
    head = "class Model:\n    def __init__(self):\n        self.held = []\n"
    text = f"{head}    def loss(self, x, k):\n        {place}.append({stored})\n        return x * x + len({place})\n"
    spaces: list[dict[str, Any]] = []
    for _ in range(2):
        spaces.append({"HELD": [], "Point": Point})
        function = symgrad.from_source(text + "def loss(model, x, k):\n    return model.loss(x, k)\n", globals=spaces[-1])
        spaces[-1]["loss"] = function
    ours, plain = (space["Model"]() for space in spaces)
    derivative = symgrad.value_and_grad(spaces[0]["loss"], wrt="x")
    for k in range(14):
        x = 0.5 + k
        assert derivative(ours, x, k) == (spaces[1]["loss"](plain, x, k), 2.0 * x)
    assert (spaces[0]["HELD"], ours.held) == (spaces[1]["HELD"], plain.held)
    codes = sum(map(len, derivative._table.entries.values()))
    assert codes <= 11, "from nine items on there is one code for any number"


def test_an_array_in_a_tuple_that_is_changed_afterwards_is_not_lost() -> None:
    """The list holds the array itself, which the program goes on to change: such a list is followed item by item, or refused."""
    history: list[Any] = []
    function = symgrad.from_source(
        "def loss(x):\n    h = x * 2.0\n    HISTORY.append((1, h))\n    h += 1.0\n    return np.sum(h)\n",
        globals={"np": np, "HISTORY": history},
    )
    derivative = symgrad.grad(function)
    for k in range(12):
        try:
            derivative(np.ones(2))
        except UnsupportedSyntax:
            assert k > 8
            break
    assert all(held.tolist() == [3.0, 3.0] for _, held in history)


#: questions about one key of a container from outside: what it is, the question, what leaves the answer, what changes it
ONE_KEY: dict[str, tuple[Any, str, Any, Any]] = {
    "get of a missing key": ({"a": 1.0}, "3.0 if HELD.get('z') is None else 4.0", {"a": 1.0, "b": 2.0}, {"z": 1.0}),
    "get of a key": ({"a": 1.0}, "HELD.get('a', 5.0)", {"b": 2.0, "a": 1.0}, {"b": 2.0}),
    "in a dict": ({"a": 1.0}, "3.0 if 'a' in HELD else 4.0", {"b": 2.0, "a": 1.0}, {"b": 2.0}),
    "not in a dict": ({"a": 1.0}, "3.0 if 'z' not in HELD else 4.0", {"b": 2.0}, {"z": 2.0}),
    "in a set": ({1, 2}, "3.0 if 1 in HELD else 4.0", {1, 5}, {2, 5}),
    "not in a frozenset": (frozenset({1, 2}), "3.0 if 7 not in HELD else 4.0", frozenset({1}), frozenset({7})),
    "an integer that is a bool": ({1: 2.0}, "3.0 if True in HELD else 4.0", {True: 2.0, 5: 1.0}, {2: 2.0}),
}


@pytest.mark.parametrize("name", ONE_KEY)
def test_of_one_key_only_that_key_matters(name: str) -> None:
    held, text, alike, other = ONE_KEY[name]
    judged(text, {"HELD": held}, {"HELD": other})
    function = symgrad.from_source(f"def asked(a):\n    return a * ({text})\n", globals={"HELD": held})
    derivative = symgrad.grad(function)
    slope = derivative(1.5)
    function.__globals__["HELD"] = alike
    assert derivative(1.5) == slope == function(1.0)
    assert sum(map(len, derivative._table.entries.values())) == 1
    function.__globals__["HELD"] = other
    assert derivative(1.5) == function(1.0) != slope


def test_what_asks_for_one_module_does_not_compare_all_of_them() -> None:
    function = symgrad.from_source("def f(x):\n    return x * 2.0 if sys.modules.get('absent') is None else x\n", globals={"sys": sys})
    derivative = symgrad.grad(function)
    assert derivative(1.5) == 2.0
    (entry,) = next(iter(derivative._table.entries.values()))
    assert {one.aspect for one in entry.compiled.relied if one.text.endswith("modules")} == {"type", "unset"}


DEFAULTS = {"a": 2.0, "b": 3.0}


def by_copied_defaults(x):
    settings = DEFAULTS.copy()
    settings.update(b=x)
    settings["a"] *= x
    return (lambda y, a=1.0, b=1.0: y * a + b)(x, **settings)


def test_a_copy_of_a_dict_has_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = symgrad.grad(by_copied_defaults)
    assert derivative(3.0) == 13.0
    assert DEFAULTS == {"a": 2.0, "b": 3.0}
    monkeypatch.setitem(DEFAULTS, "a", 1.0)
    assert derivative(3.0) == 7.0
