"""Outside values that code contains, and regeneration when they change."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad

X = np.array([0.7, -1.3, 1.9, 0.4])
Case = tuple[Callable[..., Any], list[Callable[[], Any]]]


class Base:
    mode = "a"
    k = 2.0

    def m(self, x):
        return x[0] * self.k

    @property
    def p(self):
        return self.k * 2

    @staticmethod
    def s(v):
        return v * 3

    def __call__(self, x):
        return x[0] * 4

    def __add__(self, other):
        return other * 5


class Derived(Base):
    pass


def helper(v):
    return v * 2


class Using:
    def m(self, x):
        return helper(x[0])


SPACE = types.SimpleNamespace(f=lambda v: v * 3, mode="a", inner=types.SimpleNamespace(f=np.sin))
HELD = Base()
TABLE: dict[str, Any] = {"f": lambda v: v * 2, "mode": "a"}
STEPS: list[Any] = [lambda v: v * 2, lambda v: v * 3]
NUMBERS: dict[str, float] = {"a": 1.0, "b": 2.0}
WORDS = ["a", "b"]
SET = {1, 3}
PAIR: tuple[float, ...] = (1.0, 2.0)
POWER = functools.partial(np.power, 2.0)
BEFORE = {name: value for name, value in globals().items() if name.isupper()}


def of_class(x):
    return Base().m(x) + Base().p * x[1] + Base.s(x[2]) + (x[0] if Base().mode == "a" else x[3]) + Base()(x) + (Base() + x[1])


def of_derived(x):
    return Derived().m(x)


def of_instance(x):
    return HELD.m(x) + HELD(x) + HELD.p * x[2]


def through_method(x):
    return Using().m(x)


def of_containers(x):
    s = TABLE["f"](x[0]) if TABLE["mode"] == "a" else x[1]
    for step in STEPS:
        s = step(s)
    for place, (_, value) in enumerate(NUMBERS.items()):
        s = s + value * x[place]
    for word in WORDS:
        s = s + (x[1] if word == "a" else x[2])
    return s * (x[3] if 2 in SET else 1.0) + sum(PAIR) * x[0] + len(PAIR) * x[1] + POWER(x[1])


def of_namespace(x):
    return SPACE.f(x[0]) + SPACE.inner.f(x[1]) if SPACE.mode == "a" else x[2]


def setting(name: str, value: Any) -> Callable[[], None]:
    return lambda: globals().__setitem__(name, value)


CASES: list[Case] = [
    (of_class, [
        lambda: setattr(Base, "m", lambda self, x: x[1] * 10), lambda: setattr(Base, "p", property(lambda self: 100.0)),
        lambda: setattr(Base, "s", staticmethod(lambda v: v * 7)), lambda: setattr(Base, "mode", "b"), lambda: setattr(Base, "p", 7.0),
        lambda: setattr(Base, "__call__", lambda self, x: x[2]), lambda: setattr(Base, "__add__", lambda self, other: other * 9),
        lambda: setattr(Base, "__init__", lambda self: setattr(self, "k", 3.0)),
    ]),
    (of_derived, [lambda: setattr(Derived, "m", lambda self, x: x[1]), lambda: delattr(Derived, "m")]),
    (of_instance, [
        lambda: setattr(HELD, "k", 5.0), lambda: setattr(HELD, "m", lambda x: x[1] * 100), lambda: delattr(HELD, "m"),
        lambda: setattr(Base, "__call__", lambda self, x: x[2]), setting("HELD", Derived()),
    ]),
    (through_method, [setting("helper", lambda v: v * 50)]),
    (of_containers, [
        lambda: TABLE.update(f=lambda v: v * 7), lambda: TABLE.update(mode="b"), lambda: STEPS.append(lambda v: v + 1),
        lambda: STEPS.__setitem__(0, lambda v: v * 9), lambda: NUMBERS.update(c=3.0), lambda: NUMBERS.pop("a"),
        lambda: NUMBERS.update(a=1.0), lambda: WORDS.__setitem__(1, "a"), WORDS.clear, lambda: SET.add(2),
        setting("PAIR", (1.0, 2.0, 3.0)), setting("POWER", functools.partial(np.power, 3.0)), setting("POWER", functools.partial(np.add, 3.0)),
    ]),
    (of_namespace, [
        lambda: setattr(SPACE, "f", np.cos), lambda: setattr(SPACE.inner, "f", np.exp),
        lambda: setattr(SPACE, "inner", types.SimpleNamespace(f=helper)), lambda: setattr(SPACE, "mode", "b"),
    ]),
]  # fmt: skip


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The classes, containers and globals of this module as they were."""
    classes = {cls: dict(vars(cls)) for cls in (Base, Derived)}
    contents = {name: value.copy() for name, value in BEFORE.items() if isinstance(value, dict | list | set)}
    spaces = [(space, dict(vars(space))) for space in (SPACE, SPACE.inner, HELD)]
    kept = {name: globals()[name] for name in (*contents, "helper", "PAIR", "POWER", "HELD")}
    yield
    globals().update(kept)
    for name, content in contents.items():
        globals()[name].clear()
        getattr(globals()[name], "extend" if isinstance(content, list) else "update")(content)
    for held, attributes in spaces:
        vars(held).clear()
        vars(held).update(attributes)
    for cls, attributes in classes.items():
        for name in set(vars(cls)) - set(attributes):
            delattr(cls, name)
        for name, value in attributes.items():
            if vars(cls)[name] is not value:
                setattr(cls, name, value)


@pytest.mark.parametrize(("function", "changes"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_code_is_made_anew_when_what_it_contains_has_changed(function: Any, changes: list[Callable[[], Any]]) -> None:
    derived = symgrad.value_and_grad(function)
    assert derived(X)[0] == pytest.approx(function(X))
    for number, change in enumerate(changes):
        change()
        assert derived(X)[0] == pytest.approx(function(X)), number
        assert derived(X * 2)[0] == pytest.approx(function(X * 2)), number


@pytest.mark.parametrize("function", [function for function, _ in CASES])
def test_code_is_kept_where_nothing_has_changed(function: Any) -> None:
    derived = symgrad.value_and_grad(function)
    derived(X)
    first = derived.compiled(X)
    derived(X + 1.0)
    assert derived.compiled(X + 1.0) is first


def test_slices_and_ranges_are_part_of_the_signature() -> None:
    def f(x, part, places):
        return np.sum(x[part]) + sum(x[k] ** 2 for k in places)

    derived = symgrad.value_and_grad(f)
    for part, places in [
        (slice(0, 2), range(2)),
        (slice(1, 3), range(2)),
        (slice(None, None, 2), range(1, 3)),
        (slice(0, 2), range(3, 0, -1)),
    ]:
        assert derived(X, part, places)[0] == pytest.approx(f(X, part, places))
