"""Iterators: producers x holders x consumers, compared with Python.

Each program is compared in value, gradient, output (so in the order of calls too) and the number of calls of the mapped function.
"""
# mypy: ignore-errors

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import random

import numpy as np
import pytest

import symgrad
from symgrad.errors import InvalidIR, SymgradError
from symgrad.frontend.text.source import from_source

X = np.array([0.71, -1.33, 2.17, 0.43])
Y = np.array([1.13, 0.37, -0.83, 2.29])

#: an expression that makes an iterator, and what a program computes of an item ``v``
PRODUCERS = {
    "iter": ("iter(x)", "v"),
    "iter_of_list": ("iter([x[0], x[1], 2.0 * x[2]])", "v"),
    "iter_of_tuple": ("iter((x[0], x[1], x[2]))", "v"),
    "iter_of_range": ("iter(range(4))", "x[v] * v"),
    "iter_of_values": ("iter({'p': x[0], 'q': x[1], 'r': x[2]}.values())", "v"),
    "iter_of_function": ("iter(counter(), 3)", "x[v] * v"),
    "reversed": ("reversed(x)", "v"),
    "reversed_list": ("reversed([x[0], x[1], x[2]])", "v"),
    "reversed_range": ("reversed(range(4))", "x[v] * v"),
    "enumerate": ("enumerate(x, 1)", "v[0] * v[1]"),
    "enumerate_map": ("enumerate(map(g, x))", "v[0] + v[1]"),
    "enumerate_reversed": ("enumerate(reversed(x))", "v[0] * v[1]"),
    "zip": ("zip(x, y)", "v[0] * v[1]"),
    "zip_of_three": ("zip(x, y, x)", "v[0] * v[1] * v[2]"),
    "zip_shorter": ("zip(x, [1.0, 2.0])", "v[0] * v[1]"),
    "zip_of_maps": ("zip(map(g, x), map(g, y[:2]))", "v[0] * v[1]"),
    "zip_before_map": ("zip(y[:2], map(g, x))", "v[0] * v[1]"),
    "zip_with_itself": ("zip(*[iter(x)] * 2)", "v[0] * v[1]"),
    "zip_count": ("zip(itertools.count(1), x)", "v[0] * v[1]"),
    "map": ("map(g, x)", "v"),
    "map_of_two": ("map(h, x, y)", "v"),
    "map_of_list": ("map(g, [x[0], x[1], x[2]])", "v"),
    "map_of_map": ("map(g, map(g, x))", "v"),
    "filter": ("filter(p, x)", "v"),
    "filter_none": ("filter(None, [x[0], 0.0, x[1]])", "v"),
    "filterfalse": ("itertools.filterfalse(p, x)", "v"),
    "starmap": ("itertools.starmap(h, zip(x, y))", "v"),
    "takewhile": ("itertools.takewhile(small, x)", "v"),
    "dropwhile": ("itertools.dropwhile(small, x)", "v"),
    "chain": ("itertools.chain(x, y[:2])", "v"),
    "chain_lists": ("itertools.chain([x[0], x[1]], map(g, x))", "v"),
    "from_iterable": ("itertools.chain.from_iterable([x, y])", "v"),
    "accumulate": ("itertools.accumulate(x)", "v"),
    "accumulate_function": ("itertools.accumulate(x, h, initial=2.0)", "v"),
    "islice_to": ("itertools.islice(map(g, x), 3)", "v"),
    "islice_from": ("itertools.islice(map(g, x), 1, None, 2)", "v"),
    "compress": ("itertools.compress(x, [1, 0, 1, 1])", "v"),
    "pairwise": ("itertools.pairwise(x)", "v[0] * v[1]"),
    "pairwise_map": ("itertools.pairwise(map(g, x))", "v[0] * v[1]"),
    "zip_longest": ("itertools.zip_longest(x, y[:2], fillvalue=1.5)", "v[0] * v[1]"),
    "zip_longest_map": ("itertools.zip_longest([1.0, x[1]], map(g, x), fillvalue=0.5)", "v[0] * v[1]"),
    "cycle": ("itertools.islice(itertools.cycle(map(g, x)), 6)", "v"),
    "product": ("itertools.product(x, y[:2])", "v[0] * v[1]"),
    "combinations": ("itertools.combinations(x, 2)", "v[0] * v[1]"),
    "repeat": ("itertools.repeat(x[1], 3)", "v"),
    "expression": ("(g(t) for t in x)", "v"),
    "expression_with_test": ("(g(t) for t in x if t > 0)", "v"),
    "expression_nested": ("(t * u for t in x for u in y if u > t)", "v"),
    "generator": ("generator(x)", "v"),
    "generator_in_loops": ("nested(x)", "v"),
    "generator_of_several": ("several(x)", "v"),
}

#: how the program gets at the iterator: statements, then the name or expression for it; ``None``: it stands where it is used
HOLDERS = {
    "inline": None,
    "name": "it = {make}\n{body}",
    "alias": "other = {make}\nit = other\n{body}",
    "attribute": "box = Box({make})\nit = box.held\n{body}",
    "argument": "def use(it, s):\n{indented}\n    return s\ns = use({make}, s)",
    "returned": "def made():\n    return {make}\nit = made()\n{body}",
    "conditional": "it = {make} if y[0] > 0 else {make}\n{body}",
    "tuple": "pair = ({make}, 1.0)\nit = pair[0]\n{body}",
    "default": "def use(s, it={make}):\n{indented}\n    return s\ns = use(s)",
    "closure": "it = {make}\ndef use(s):\n{indented}\n    return s\ns = use(s)",
}

REST = "for v in it:\n    print('r')\n    s += 10 * {value}"
CONSUMERS = {
    "for": "for v in it:\n    print('c')\n    s = 0.5 * s + {value}",
    "sum": "s += sum({value} for v in it)",
    "list": "items = list(it)\ns += 3 * len(items)\nfor v in items:\n    s = 0.5 * s + {value}",
    "comprehension": "items = [{value} for v in it]\ns += items[0] * items[-1] + len(items)",
    "maximum_by": "s += max(({value} for v in it), key=h2)",
    "maximum": "s += max({value} for v in it)",
    "sorted": "s += sorted({value} for v in it)[0]",
    "reduce_values": "s += functools.reduce(h, ({value} for v in it))",
    "reduce": "s = functools.reduce(lambda total, v: 0.5 * total + {value}, it, s)",
    "extend": "items = [1.0]\nitems.extend({value} for v in it)\ns += items[-1] + len(items)",
    "array": "s += np.sum(np.array([{value} for v in it]) ** 2)",
    "fromiter": "s += np.sum(np.fromiter(({value} for v in it), dtype=float))",
    "twice": "for v in it:\n    s += {value}\n" + REST,
    "break": "for v in it:\n    s += {value}\n    if s > 0.5:\n        break\n" + REST,
    "next": "v = next(it)\ns += 3 * {value}\n" + REST,
    "next_in_while": "while True:\n    v = next(it, None)\n    if v is None:\n        break\n    s = 0.5 * s + {value}",
    "next_in_loop": "for k in range(2):\n    v = next(it)\n    s += k * {value}\n" + REST,
    "next_default": "s += len(list(it))\ns += 1.0 if next(it, None) is None else 2.0",
    "any": "any({value} > 0.5 for v in it)\n" + REST,
    "all": "all({value} > -0.5 for v in it)\n" + REST,
    "contains": "2.0 in it\n" + REST,
    "star": "v, *others = it\ns += {value} + 3 * len(others) + len(list(it))",
    "zip_itself": "for v, w in zip(it, it):\n    s += {value}",
    "enumerate": "for k, v in enumerate(it):\n    s += k * {value}\n    if k == 1:\n        break\n" + REST,
    "zip_before": "for v, w in zip(it, [1.0, 2.0]):\n    s += w * {value}\n" + REST,
    "islice": "for v in itertools.islice(it, 2):\n    s += {value}\n" + REST,
    "takewhile": "for v in itertools.takewhile(lambda v: {value} > 0, it):\n    s += {value}\n" + REST,
    "nested": "for v in it:\n    s += {value}\n    for v in it:\n        s += 3 * {value}",
    "identity": "s += 1.0 if iter(it) is it else 2.0\ns += 1.0 if isinstance(it, list) else 2.0\ns += 1.0 if it else 2.0\n" + REST,
}

PROGRAM = """
def f(x, y):
    log = []
    def g(t):
        log.append(t)
        print("g")
        return t * t
    def h(t, u):
        log.append(t)
        print("h")
        return t * u
    def h2(t):
        print("k")
        return 2.0 - t * t
    def p(t):
        log.append(t)
        return t > -1.0
    def small(t):
        log.append(t)
        return t < 2.0
    def counter():
        k = -1
        def following():
            nonlocal k
            k += 1
            return k
        return following
    def generator(x):
        total = 1.0
        for t in x:
            total = total * t
            print("y")
            yield total
            log.append(t)
    def nested(x):
        for t in x:
            for u in y[:2]:
                if u > t:
                    yield t * u
            log.append(t)
    def several(x):
        yield x[0]
        for t in x:
            if t > 0:
                yield t * t
            else:
                log.append(t)
        yield x[1]
    s = 0.25 * x[3]
{body}
    return s + 100.0 * len(log) + sum(log)
"""


class Box:
    def __init__(self, held):
        self.held = held


def indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())


def program(producer: str, holder: str, consumer: str) -> str | None:
    """The text of a program; None for one that says nothing."""
    make, value = PRODUCERS[producer]
    body = CONSUMERS[consumer].replace("{value}", value)
    form = HOLDERS[holder]
    if form is None:
        if consumer == "next_in_while":  # without an end
            return None
        if len(body.split(" it")) + len(body.split("(it")) != 3:
            return None
        held = body.replace(" it:", f" {make}:").replace("(it)", f"({make})").replace(" it)", f" {make})")
        held = held.replace(" it,", f" {make},").replace("(it,", f"({make},").replace(" it]", f" {make}]")
    else:
        held = form.format(make=make, body=body, indented=indented(body))
    return PROGRAM.replace("{body}", indented(held))


CASES = [(p, h, c) for p in PRODUCERS for h in HOLDERS for c in CONSUMERS if program(p, h, c) is not None]
GENERATORS = ("expression", "expression_with_test", "expression_nested", "generator", "generator_in_loops", "generator_of_several")


def may_be_refused(producer: str, holder: str, consumer: str) -> bool:
    """What is known not to be supported."""
    if holder == "conditional" and producer in GENERATORS:  # one of two generators
        return True
    if producer in ("generator_in_loops", "expression_nested"):  # gone on with while a loop of the consumer goes over it
        return consumer in ("nested", "zip_itself")
    if producer in GENERATORS and consumer == "next_in_while":  # its end is reached on some of the paths through a round
        return True
    return producer == "generator_of_several" and consumer in ("nested", "zip_itself")


def run(function, x):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            return function(x, Y), out.getvalue()
        except (StopIteration, RuntimeError, ValueError, TypeError, IndexError) as error:
            return type(error), out.getvalue()


def verdict(case) -> str:
    """What is wrong with symgrad's answer; a text that begins with "refused" for a refusal, and an empty one if nothing is."""
    text = program(*case)
    names = {"np": np, "itertools": itertools, "functools": functools, "Box": Box}
    function = from_source(text, "f", dict(names))
    value, output = run(function, X)
    if isinstance(value, type):
        return ""
    differentiated = symgrad.value_and_grad(function)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            actual, gradient = differentiated(X, Y)
    except SymgradError as error:
        if isinstance(error, InvalidIR):
            return f"crash: {error!r} {error.__cause__!r}"
        return f"refused: {error}"
    steps = 1e-6 * np.eye(len(X))
    expected = [(run(function, X + s)[0] - run(function, X - s)[0]) / 2e-6 for s in steps]
    if not np.isclose(actual, value, rtol=1e-9):
        return f"value {actual}, Python's {value}"
    if not np.allclose(gradient, expected, rtol=1e-5, atol=1e-5):
        return f"gradient {gradient}, by differences {expected}"
    if out.getvalue() != output:
        return f"printed {out.getvalue()!r}, Python {output!r}"
    return ""


def check(case) -> None:
    problem = verdict(case)
    assert not problem or problem.startswith("refused") and may_be_refused(*case), f"{problem}\n{program(*case)}"


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", random.Random(47).sample(CASES, 120), ids="-".join)
def test_a_sample_of_the_product(case) -> None:
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("producer", PRODUCERS)
def test_the_whole_product(producer: str) -> None:
    for case in CASES:
        if case[0] == producer:
            check(case)


# ------------------------------------------------------------------ what is refused, and what to write instead


def length_of_map(x):
    return x[0] * len(map(abs, x))


def length_of_list(x):
    return x[0] * len(list(map(abs, x)))


def closing(x, log):
    try:
        for v in x:
            yield v * v
    finally:
        log.append(1.0)


def closed_later(x):
    log = []
    g = closing(x, log)
    for v in g:
        s = v * x[1]
        break
    return s + len(log)


def closed_at_once(x):
    log = []
    for v in closing(x, log):
        s = v * x[1]
        break
    return s + len(log)


def entered_in_the_middle(x):
    g = closing(x, [])
    return next(g) + sum(g)


def entered_as_list(x):
    g = iter(list(closing(x, [])))
    return next(g) + sum(g)


def view_by_place(x):
    held = {"a": x[0] * x[1]}
    return held.values()[0]


def list_by_place(x):
    held = {"a": x[0] * x[1]}
    return list(held.values())[0]


def views_added(x):
    held = {"a": x[0] * x[1]}
    return sum(held.values() + (1.0,))


def lists_added(x):
    held = {"a": x[0] * x[1]}
    return sum([*held.values(), 1.0])


def one_of_two(x):
    def squares():
        for v in x:
            yield v * v

    g = squares() if x[0] > 0 else squares()
    return sum(g)


def one_of_two_lists(x):
    def squares():
        for v in x:
            yield v * v

    g = list(squares()) if x[0] > 0 else list(squares())
    return sum(g)


INSTEAD = [
    (closed_later, "is closed later", closed_at_once),
    (entered_in_the_middle, "a generator", entered_as_list),
    (one_of_two, "values of different kinds", one_of_two_lists),
]


@pytest.mark.parametrize(("function", "words", "instead"), INSTEAD, ids=lambda p: getattr(p, "__name__", ""))
def test_a_refusal_says_what_to_write(function, words: str, instead) -> None:
    with pytest.raises(SymgradError, match=words):
        symgrad.grad(function)(X)
    expected = [(instead(X + s) - instead(X - s)) / 2e-6 for s in 1e-6 * np.eye(len(X))]
    np.testing.assert_allclose(symgrad.grad(instead)(X), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "instead"),
    [(length_of_map, length_of_list), (view_by_place, list_by_place), (views_added, lists_added)],
    ids=lambda p: p.__name__,
)
def test_what_has_no_such_operation_raises_as_in_python(function, instead) -> None:
    with pytest.raises(TypeError) as plain:
        function(X)
    with pytest.raises(TypeError) as ours:
        symgrad.grad(function)(X)
    expected = [(instead(X + s) - instead(X - s)) / 2e-6 for s in 1e-6 * np.eye(len(X))]

    assert str(ours.value) == str(plain.value)
    np.testing.assert_allclose(symgrad.grad(instead)(X), expected, atol=1e-6)


def test_the_list_of_an_iterator_may_grow_before_its_end_alone() -> None:
    def f(x):
        items = [x[0], x[1]]
        it = iter(items)
        s = next(it)
        items.append(x[2])
        for v in it:
            s += 2 * v
        items.append(x[3])
        for v in it:
            s += 100 * v
        return s

    np.testing.assert_allclose(symgrad.grad(f)(X), [1.0, 2.0, 2.0, 0.0])


def test_products_keep_what_their_arrays_held_when_they_were_made() -> None:
    def f(x):
        y = x.copy()
        pairs, both = itertools.combinations(y, 2), itertools.product(y, y)
        y[0] = 5.0
        return sum(a * b for a, b in pairs) + 3 * sum(a * b for a, b in both)

    expected = [(f(X + s) - f(X - s)) / 2e-6 for s in 1e-6 * np.eye(len(X))]
    np.testing.assert_allclose(symgrad.grad(f)(X), expected, atol=1e-6)


def test_one_loop_over_a_named_iterator_stays_a_counted_loop() -> None:
    def inline(x, y):
        s = 0.0
        for v, w in zip(x, y):
            s += v * w * w
        return s

    def named(x, y):
        s = 0.0
        pairs = zip(x, y)
        for v, w in pairs:
            s += v * w * w
        return s

    texts = [str(symgrad.grad(f).source(X, Y)).split("\n", 2)[2] for f in (inline, named)]
    assert "while" not in texts[1]
    assert texts[0].count("for ") == texts[1].count("for ")


# ------------------------------------------------------------------ second order


def of_numbered(x):
    return sum(k * v**3 for k, v in list(enumerate(x, 1)))


def of_pairs(x):
    first, *others = itertools.pairwise(x)
    return first[0] ** 2 * first[1] + sum(a * b * b for a, b in others)


def of_combinations(x):
    first, *others = itertools.combinations(x, 2)
    return first[0] * first[1] ** 2 + sum(a * b for a, b in others)


def of_two(x):
    held = list(zip(x, x * x))
    return sum(a * b for a, b in held) + len(held)


@pytest.mark.parametrize("function", [of_numbered, of_pairs, of_combinations, of_two])
def test_lists_of_tuples_have_second_derivatives(function) -> None:
    gradient = symgrad.grad(function)
    weights = np.array([1.0, -2.0, 0.5, 3.0])

    def along(x):
        return np.sum(gradient(x) * weights)

    x = np.array([0.3, 0.7, -0.4, 1.1])
    slopes = [np.sum((gradient(x + 1e-6 * one) - gradient(x - 1e-6 * one)) * weights) / 2e-6 for one in np.eye(4)]
    np.testing.assert_allclose(symgrad.grad(along)(x), slopes, rtol=1e-6, atol=1e-7)


def reversed_map(x):
    return sum(v * k for k, v in enumerate(reversed(map(abs, x))))


def test_an_iterator_is_not_reversible() -> None:
    for call in (reversed_map, symgrad.grad(reversed_map)):
        with pytest.raises(TypeError, match="'map' object is not reversible"):
            call(X)
