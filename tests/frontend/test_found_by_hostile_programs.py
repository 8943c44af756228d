"""Programs that were once silently wrong, each with others of its class."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import symgrad

X = np.array([0.4, -1.3, 2.1, 0.7])


def outcome(f: Any, *args: Any) -> Any:
    """What a function gives, or what it raises."""
    try:
        return f(*args)
    except symgrad.SymgradError:
        raise
    except Exception as error:
        return type(error).__name__, str(error)


def check(f: Any, *others: Any) -> None:
    """Value, exception and gradient against Python and differences."""
    expected = outcome(f, X, *others)
    result = outcome(symgrad.value_and_grad(f, wrt="x", verify=False, allow_unused=True), X, *others)
    if isinstance(expected, tuple):
        assert result == expected
        return
    value, gradient = result
    assert value == pytest.approx(expected)
    slopes = [(f(X + s, *others) - f(X - s, *others)) / 2e-6 for s in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


# ------------------------------------------------------------------ tests of while that change a global variable

COUNT = 0


def tick():
    global COUNT
    COUNT += 1
    return COUNT


def until_a_count(x, n):
    global COUNT
    COUNT = 0
    total = 0.0
    while tick() % 5:
        total += x[0]
    return total


def beside_another_test(x, n):
    global COUNT
    COUNT = 0
    total = 0.0
    while tick() < 3 and total < 20:
        total += 1.0 + x[0]
    return total


def as_the_second_test(x, n):
    global COUNT
    COUNT = 0
    total, i = 0.0, 0
    while i < n and tick() % 3:
        total += x[0] * COUNT
        i += 1
    return total + COUNT


@pytest.mark.parametrize("n", [0, 2, 3])
@pytest.mark.parametrize("f", [until_a_count, beside_another_test, as_the_second_test])
def test_a_test_that_changes_a_global_variable(f: Any, n: int) -> None:
    check(f, n)


# ------------------------------------------------------------------ keys that a round moves to the end


def removed_and_stored(x, n):
    d = {"a": x[0], "b": x[1]}
    for _ in range(n):
        del d["a"]
        d["a"] = x[2]
    total = 0.0
    for value in d.values():
        total = total * 2 + value
    return total


def popped_and_stored(x, n):
    d = {0: x[0], 1: x[1]}
    for _ in range(n):
        value = d.pop(0)
        d[0] = value * 2
    return list(d.values())[-1]


def moved_to_the_end(x, n):
    d = collections.OrderedDict(a=x[0], b=x[1])
    for _ in range(n):
        d.move_to_end("a")
    return list(d.values())[0]


def the_order_does_not_matter(x, n):
    d = {"a": x[0], "b": x[1]}
    for _ in range(n):
        d["a"] = d.pop("a") * x[2]
    return d["a"] * d["b"]


def read_in_the_loop(x, n):
    d, total = {"a": x[0], "b": x[1]}, 0.0
    while n > 0:
        total = 2 * total + list(d.values())[0]
        d["a"] = d.pop("a") * x[2]
        n -= 1
    return total


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("f", [removed_and_stored, popped_and_stored, moved_to_the_end, the_order_does_not_matter, read_in_the_loop])
def test_the_order_of_keys_that_a_loop_changes(f: Any, n: int) -> None:
    try:
        check(f, n)
    except symgrad.SymgradError as refusal:
        assert "order" in str(refusal) and f is not the_order_does_not_matter


# ------------------------------------------------------------------ operands that raise, of results that are known


def unequal_beside_it(x, a, k):
    same = (a[k], 1) == (5, 2)
    return same * x[1] + x[0]


def unequal_lists(x, a, k):
    same = [a[k], 1] != [5, 2]
    return same * x[1] + x[0]


def among_pairs(x, a, k):
    return ((a[k], 1) in ((5, 2), (3, 4))) * x[1] + x[0]


def divided(x, a, k):
    same = (1.0 / (k - 7), 1) == (5, 2)
    return same * x[1] + x[0]


def chosen_alike(x, a, k):
    y = x[0] if a[k] > 1 else x[0]
    return y * x[1]


def in_a_handler(x, a, k):
    total = x[0]
    try:
        c = a[k]
        total += ((c, a[0]) == (1, 7)) * x[1]
    except IndexError:
        total *= x[2]
    return total


@pytest.mark.parametrize("k", [0, 1, 7])
@pytest.mark.parametrize("f", [unequal_beside_it, unequal_lists, among_pairs, divided, chosen_alike, in_a_handler])
def test_operands_that_raise(f: Any, k: int) -> None:
    check(f, [1, 2], k)


# ------------------------------------------------------------------ operators that return NotImplemented, or are not there


class Plain:
    def __init__(self, v):
        self.v = v


class Derived(Plain):
    pass


class Unwilling(Plain):
    """Its augmented addition leaves the work to ``__add__``."""

    def __add__(self, t):
        return Unwilling(self.v + 2.0 * getattr(t, "v", t))

    def __iadd__(self, t):
        return NotImplemented


class OnlyUnwilling(Plain):
    def __iadd__(self, t):
        return NotImplemented


class FromTheRight(Plain):
    def __radd__(self, t):
        return Plain(self.v * t.v)


def left_to_addition(x):
    p = Unwilling(x[0])
    q = p
    p += x[1]
    return p.v + 3.0 * q.v * (1.0 if p is q else 2.0)


def left_to_the_right(x):
    p = OnlyUnwilling(x[0])
    p += FromTheRight(x[1])
    return p.v * x[2]


def left_to_nobody(x):
    p = OnlyUnwilling(x[0])
    try:
        p += x[1].item()
    except TypeError:
        return x[2] * x[3]
    return p.v


def raising_for_nobody(x):
    p = OnlyUnwilling(x[0])
    p += 2.0
    return p.v


def a_number_and_an_instance(x):
    try:
        return 2.0 * Plain(x[0])
    except TypeError:
        return x[1] * x[2]


def two_instances(x):
    try:
        return Plain(x[0]) @ Derived(x[1])
    except TypeError:
        return x[1] * x[2]


@pytest.mark.parametrize(
    "f", [left_to_addition, left_to_the_right, left_to_nobody, raising_for_nobody, a_number_and_an_instance, two_instances]
)
def test_operators_that_a_class_leaves_to_others_or_lacks(f: Any) -> None:
    check(f)


# ------------------------------------------------------------------ keywords that are passed twice


def scaled(t, k=2.0, **others):
    return t * k + sum(others.values())


def by_name_and_dict(x):
    return scaled(x[0], k=x[1], **{"k": x[2]})


def by_dict_and_name(x):
    return scaled(x[0], **{"m": x[2]}, m=x[1])


def by_two_dicts(x):
    seen = [1.0]
    try:
        return scaled(x[0], **{"k": x[1]}, **{"k": x[2]}, m=seen.append(x[3]))
    except TypeError:
        return sum(seen) * x[1]


def by_name_after_both(x):
    seen = [1.0]
    try:
        return scaled(x[0], **{"k": x[1]}, m=x[2], k=seen.append(x[3]))
    except TypeError:
        return sum(seen) * x[1]


def once(x):
    return scaled(x[0], k=x[1], **{"m": x[2]}, n=x[3], **{"o": x[0]})


@pytest.mark.parametrize("f", [by_two_dicts, by_name_after_both, once])
def test_keywords_from_names_and_dicts(f: Any) -> None:
    check(f)


@pytest.mark.parametrize("f", [by_name_and_dict, by_dict_and_name])
def test_a_keyword_that_is_passed_twice_raises(f: Any) -> None:
    with pytest.raises(TypeError, match="got multiple values for keyword argument"):
        f(X)
    with pytest.raises(TypeError, match="got multiple values for keyword argument"):
        symgrad.grad(f, verify=False)(X)


# ------------------------------------------------------------------ truths that are asked for once


class Counted:
    """What it counts, and its value, show how often its truth was asked for."""

    def __init__(self, v):
        self.v, self.count = v, 0

    def __bool__(self):
        self.count += 1
        self.v = self.v * 1.5
        return bool(self.v > 0.0)


def in_tests(x):
    p, q = Counted(x[0]), Counted(x[1])
    total = 0.0
    if p and q:
        total += 1.0
    if p or q:
        total += x[2]
    if not (p and q):
        total += x[3]
    while p or q:
        total += p.v
        p.v, q.v = -1.0 * x[0], -2.0
    total += x[0] if q and p else x[1]
    assert q or 2.0
    items = [t for t in x if p or t > 0.0]
    return total + p.v * p.count + q.v * q.count + sum(items)


def as_values(x):
    p, q = Counted(x[0]), Counted(x[1])
    r = p and q
    s = q or p
    return r.v * s.v + p.count * x[2] + q.count * x[3] * p.v


@pytest.mark.parametrize("f", [in_tests, as_values])
def test_truths_with_effects(f: Any) -> None:
    check(f)


def a_list_in_a_test(x):
    stack = []
    for t in x:
        if t < 0.6 and stack:
            stack.append(stack.pop() * t)
        elif not (t > 1.0 and stack) or stack:
            stack.append(t * x[0])
        else:
            stack.append(t)
    return sum(stack) * len(stack)


class Stack:
    def __init__(self):
        self.items = []

    def __len__(self):
        return len(self.items)

    def push(self, t):
        self.items.append(t)
        return self


def the_list_of_an_instance(x):
    stack = Stack()
    for t in x:
        if t < 0.6 and stack.items:
            stack.push(stack.items.pop() * t)
        else:
            stack.push(t * x[0]).push(t)
    while stack and stack.items[-1] > 0.0:
        stack.items[0] += stack.items.pop()
    return sum(stack.items) + len(stack)


@pytest.mark.parametrize("f", [a_list_in_a_test, the_list_of_an_instance])
@pytest.mark.parametrize("scale", [1.0, -1.0])
def test_lists_beside_other_tests(f: Any, scale: float) -> None:
    check(lambda x: f(scale * x))


# ------------------------------------------------------------------ NumPy's numbers beside instances that NumPy reads as arrays


class Items:
    def __init__(self, w):
        self.w = w

    def __rmul__(self, t):
        return 5.0 * t

    def __radd__(self, t):
        return 7.0 * t

    def __gt__(self, t):
        return True


class Sequence(Items):
    def __len__(self):
        return len(self.w)

    def __getitem__(self, k):
        return self.w[k]


class AsArray(Items):
    def __array__(self, dtype=None, copy=None):
        return self.w


class LeftToThem(Sequence):
    __array_ufunc__ = None


class WithPriority(Sequence):
    __array_priority__ = 0.0


class Pair(collections.namedtuple("Pair", "p q")):
    def __rmul__(self, t):
        return 5.0 * t


KINDS_OF_ITEMS = [Items, Sequence, AsArray, LeftToThem, WithPriority, lambda w: Pair(w[0], w[1])]
OPERATORS = {
    "product": lambda x, items: np.sum(x[0] * items),
    "augmented": lambda x, items: np.sum(augmented(x[0] * 1.0, items)),
    "order": lambda x, items: np.sum(x[0] < items) * x[1],
    "of Python": lambda x, items: np.sum(x[0].item() * items) + x[1] * 1.0,
}


def augmented(t, items):
    t *= items
    return t


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("kind", KINDS_OF_ITEMS)
def test_a_number_of_numpy_beside_an_instance(kind: Any, operator: Any) -> None:
    """The value is Python's, or the program is refused; what NumPy does not read as an array is right."""
    try:
        check(lambda x: operator(x, kind(x)))
    except symgrad.SymgradError as error:
        assert kind in (Sequence, AsArray, KINDS_OF_ITEMS[-1])  # noqa: PT017
        assert "NumPy's result for a number and an instance of" in str(error)  # noqa: PT017


# ------------------------------------------------------------------ functions and classes that are one of several


class Special(Plain):
    pass


def one_of_two_functions(x):
    g = np.sin if x[0] > 0.0 else np.cos
    r = x[1]
    r = r * 2.0 if g is np.sin else r
    r = r * 3.0 if g is not np.cos else r
    r = r * 5.0 if g == np.cos else r
    r = r * 7.0 if g in (np.cos, np.tan) else r
    return r * 11.0 if g else r


def one_of_two_inner_functions(x):
    first = lambda t: t * x[2]  # noqa: E731

    def second(t):
        return t + x[3]

    g = first if x[0] > 0.0 else second
    h = second if x[1] > 0.0 else first
    r = x[1]
    r = r * 2.0 if g is first else r
    r = r * 3.0 if g is h else r
    r = r * 5.0 if g == h else r
    r = r * 7.0 if h != second else r
    r = r * 11.0 if g in [first] else r
    r = r * 13.0 if h not in (first, None) else r
    r = r * 17.0 if g == None or h == np.sin else r  # noqa: E711
    return r * g(x[0]) * h(x[2])


def one_of_two_classes(x):
    cls = Plain if x[0] > 0.0 else Special
    p = cls(x[1])
    r = x[2]
    r = r * 2.0 if cls is Plain else r
    r = r * 3.0 if issubclass(cls, Special) else r
    r = r * 5.0 if issubclass(Special, cls) else r
    r = r * 7.0 if type(p) == cls else r
    r = r * 11.0 if isinstance(p, cls) else r
    r = r * 13.0 if isinstance(Plain(1.0), cls) else r
    return r * p.v


def one_of_two_classes_of_numbers(x):
    cls = float if x[0] > 0.0 else int
    r = cls(2.7) * x[1]
    r = r * 2.0 if cls is float else r
    r = r * 3.0 if isinstance(x[1].item(), cls) else r
    return r * 5.0 if cls in (int, bool) else r


def one_of_several_exceptions(x, n=3):
    r = 1.0
    for k in range(5):
        try:
            x[n - k + 1] = x[k % 2] * r
            if x[0] > 0.0 and k == 2:
                raise ValueError("a")
            if k == 3:
                raise KeyError("b")
        except Exception as error:
            r = r + x[1] if type(error) is IndexError else r
            r = r * x[2] if type(error) in (ValueError, KeyError) else r
            r = r + x[3] if error.__class__ == KeyError else r
            r = r * 2.0 if issubclass(type(error), LookupError) else r
            r = r * 3.0 if not isinstance(error, ValueError) else r
    return r * np.sum(x)


class ByClass(Plain):
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.v += 1.0
        elif kind is ValueError:
            self.v *= 2.0
        elif kind == KeyError:
            self.v *= 3.0
        elif kind in (IndexError, RuntimeError):
            self.v *= 5.0
        return kind is not OSError


def the_class_in_an_exit(x, n=3):
    p = ByClass(x[2])
    for k in range(5):
        with p:
            x[n - k + 1] = p.v
            if x[0] > 0.0 and k == 1:
                raise ValueError("a")
            if k == 2:
                raise KeyError("b")
    return p.v * x[1] + np.sum(x)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "f",
    [
        one_of_two_functions,
        one_of_two_inner_functions,
        one_of_two_classes,
        one_of_two_classes_of_numbers,
        one_of_several_exceptions,
        the_class_in_an_exit,
    ],
)
def test_questions_to_one_of_several_functions_or_classes(f: Any, sign: float) -> None:
    check(lambda x: f(sign * x))
