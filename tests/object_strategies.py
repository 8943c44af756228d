"""Random choices to the source text of a function ``f(x, items, name, w)`` that keeps books in Python's own objects.

The fourth kind of random programs: lists and lists of lists of any length, dicts by computed keys, texts, sets, instances, closures,
generators, exceptions with handlers, context managers, recursion and prints, in loops and branches that depend on data.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from strategies import Draft

BEGINNING = """\
import collections
import contextlib
import functools
import math

import numpy as np

WEIGHTS = {"a": 0.5, "b": -0.25, "c": 1.25}


class Book:
    count = 0

    def __init__(self, value, items=()):
        self.value, self.items, self.seen = value, list(items), {}

    @property
    def mean(self):
        return (self.value + sum(self.items)) / (1 + len(self.items))

    def put(self, item, key="a"):
        self.items.append(item)
        self.seen[key] = self.seen.get(key, 0.0) + item
        self.count += 1
        return self

    def __add__(self, other):
        return Book(self.value + other, self.items)

    def __len__(self):
        return len(self.items)


class Refused(ValueError):
    def __init__(self, amount, *more):
        super().__init__(amount, *more)
        self.amount = amount


@contextlib.contextmanager
def scaled(book, factor):
    before = book.value
    book.value = before * factor
    try:
        yield book.value
    finally:
        book.value = 0.5 * before


def powers(t, n):
    for k in range(n):
        yield t ** (k + 1) / (k + 1)


def depth(t, n):
    return t if n == 0 else math.sin(t) + 0.5 * depth(0.7 * t, n - 1)


def checked(t, limit):
    if t > limit:
        raise Refused(t, limit)
    return 0.5 * t
"""
#: of numbers, to a number of moderate size
NUMBERS = (
    "math.sin({})", "0.5 * {}", "math.tanh({})", "math.exp(-abs({}))", "1.0 / (1.3 + {} ** 2)", "float({})", "min({}, 0.7)", "abs({})",
    "depth({}, 2)", "sum(powers(0.3 * {}, 3))", "functools.reduce(lambda a, b: 0.5 * a + b, [{}, 0.2, 0.1])",
)  # fmt: skip
PAIRS = ("({} + {})", "({} - {})", "0.5 * {} * {}", "{} / (1.5 + {} ** 2)", "max({}, {})")
LIMITS = ("0.3", "0.0", "0.6", "-0.2", "0.9")


@dataclass
class Scope:
    """What may be named at the point of writing, by kind; lists, tables, texts and dicts are never empty."""

    numbers: list[str] = field(default_factory=list)
    counts: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)
    books: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)  #: lists of arrays

    def inner(self) -> Scope:
        return Scope(*(list(names) for names in vars(self).values()))


@dataclass
class Writer(Draft):
    """Writes one function of an array, a list, a text and a number."""

    loops: int = 0

    # -------------------------------------------------------------- pieces

    def count(self) -> str:
        """A whole number that is not negative."""
        options = [*self.scope.counts, "1", "2"]
        if self.scope.lists:
            options.append(f"len({self.pick(self.scope.lists)})")
        return str(self.pick(options))

    def place(self, name: str) -> str:
        return str(self.pick(("-1", "0", f"{self.count()} % len({name})")))

    def text(self) -> str:
        """A text that is not empty."""
        name = self.pick(self.scope.texts)
        return str(self.pick((name, f"{name}[{self.place(name)}]", f"'abc'[{self.count()} % 3]", "'b'", f"({name} + 'a')[0]")))

    def number(self, depth: int = 2) -> str:
        kind = self.choose(13 if depth else 4)
        scope = self.scope
        match kind:
            case 1:
                return str(self.pick(("0.5", "-0.7", "0.25", "1.0")))
            case 2 if scope.lists:
                name = self.pick(scope.lists)
                return f"{name}[{self.place(name)}]"
            case 3:
                name = self.pick(scope.arrays)
                return f"{name}[{self.place(name)}]"
            case 4:
                return str(self.pick(NUMBERS)).format(self.number(depth - 1))
            case 5:
                return str(self.pick(PAIRS)).format(self.number(depth - 1), self.number(depth - 1))
            case 6 if scope.lists:
                return f"0.3 * {self.pick(('sum', 'max', 'min'))}({self.pick(scope.lists)})"
            case 7 if scope.tables:
                name = self.pick(scope.tables)
                return str(self.pick((f"{name}[{self.place(name)}][0]", f"0.2 * sum(sum(row) for row in {name})")))
            case 8 if scope.dicts:
                name = self.pick(scope.dicts)
                return str(self.pick((f"{name}.get({self.text()}, 0.3)", f"{name}['a']", f"0.2 * sum({name}.values())")))
            case 9 if scope.books:
                name = self.pick(scope.books)
                return str(self.pick((f"{name}.value", f"0.5 * {name}.mean", f"({name} + 0.5).value", f"0.1 * len({name})")))
            case 10:
                return f"({self.number(depth - 1)} if {self.test()} else {self.number(depth - 1)})"
            case 11 if scope.paths:
                return f"0.3 * np.sum({self.pick(scope.paths)}[{self.pick(('-1', '0'))}])"
            case 12:
                return str(
                    self.pick((f"WEIGHTS.get({self.text()}, 0.1)", f"0.1 * len(set({self.pick(scope.texts)}))", f"0.1 * {self.count()}"))
                )
        return str(self.pick(scope.numbers))

    def test(self) -> str:
        kind = self.choose(6)
        match kind:
            case 1:
                return f"{self.count()} {self.pick(('==', '<', '>='))} {self.choose(3)}"
            case 2:
                return f"{self.text()} {self.pick(('==', '!=', '<', 'in', 'not in'))} {self.pick((self.text(), repr('ab')))}"
            case 3 if self.scope.dicts:
                return f"{self.text()} in {self.pick(self.scope.dicts)}"
            case 4:
                return f"set({self.pick(self.scope.texts)}) {self.pick(('<=', '>', '=='))} {{'a', 'b'}}"
        return f"{self.number(1)} > {self.pick(LIMITS)}"

    # -------------------------------------------------------------- statements

    def statement(self) -> None:
        self.budget -= 1
        if self.depth > 4:
            self.assigned()
            return
        STATEMENTS[self.choose(len(STATEMENTS))](self)

    def assigned(self) -> None:
        own = [n for n in self.scope.numbers if n != "w"]
        if own and self.choose(3):
            self.write(str(self.pick(("{} = {}", "{} += 0.3 * {}", "{} *= math.cos({})"))).format(self.pick(own), self.number()))
            return
        text = self.number()
        self.scope.numbers.append(name := self.new("s"))
        self.write(f"{name} = {text}")

    def list_made(self) -> None:
        old = self.pick(self.scope.lists)
        n = self.number(1)
        form = self.pick((
            "[{n}, 0.2, {m}]", "[{n} * a for a in {old}]", "[a for a in {old} if a < {n}] + [{m}]", "{old}[1:] + [{n}]", "{old} + [{n}]", "{old}[::-1]",
            "[{n}] * ({k} % 3 + 1)", "sorted({old})", "list(map(lambda a: 0.5 * a, {old}))", "[a * b for a, b in zip({old}, x)] + [{n}]",
            "[0.5 * a if k % 2 else a for k, a in enumerate({old})]", "list(powers(0.4 * {n}, 3))", "x.tolist()", "{old}", "{old}.copy()",
        ))  # fmt: skip
        text = form.format(n=n, m=self.number(0), old=old, k=self.count())
        self.scope.lists.append(name := self.new("l"))
        self.write(f"{name} = {text}")

    def list_changed(self) -> None:
        name = self.pick(self.scope.lists)
        if name == "items" and self.choose(2):
            return
        n = self.number(1)
        form = self.pick((
            "{l}.append({n})", "{l}[{i}] = {n}", "{l}[{i}] += {n}", "{l}.insert({k} % (len({l}) + 1), {n})", "{l}.reverse()", "{l}.sort()",
            "{l}.extend([{n}, 0.1])", "if len({l}) > 1:\n{p}    {l}.pop()", "if len({l}) > 1:\n{p}    del {l}[0]", "{l}[:1] = [{n}, 0.3]",
            "{l} += [{n}]", "first, *others = {l}\n{p}{l} = [*others, 0.4 * first]",
        ))  # fmt: skip
        if self.loops >= 2 and any(word in form for word in ("append", "insert", "extend", "[:1]", "+= [")):
            form = "{l}[{i}] = {n}"  # a list that each round of two loops makes longer may grow without end
        self.write(form.format(l=name, n=n, i=self.place(name), k=self.count(), p="    " * self.depth))

    def table_made(self) -> None:
        form = self.pick((
            "[[0.0] * 2 for _ in range({k} % 3 + 2)]", "[[{n}, a] for a in {l}]", "[[a * b for a in {l}] for b in (1.0, {n})]", "[{l}.copy(), [{n}]]",
            "[[{n}, 0.1], [0.2, {m}]]", "[[] for _ in range(3)]",
        ))  # fmt: skip
        text = form.format(k=self.count(), n=self.number(1), m=self.number(0), l=self.pick(self.scope.lists))
        name = self.new("t")
        self.write(f"{name} = {text}")
        if "[]" in text:
            self.write(f"for k in range(3):\n{'    ' * self.depth}    {name}[k].append({self.number(0)})")
        self.scope.tables.append(name)

    def table_changed(self) -> None:
        if not self.scope.tables:
            return self.table_made()
        name = self.pick(self.scope.tables)
        form = self.pick((
            "{t}[{i}][0] = {n}", "{t}[{i}][-1] += {n}", "row = {t}[{i}]\n{p}row[0] *= {n}", "for row in {t}:\n{p}    row[0] += 0.1 * {n}",
            "{t}[{i}].append({n})", "{t}.append([{n}])", "{t}[0] = [{n}, 0.2]",
        ))  # fmt: skip
        self.write(form.format(t=name, i=self.place(name), n=self.number(1), p="    " * self.depth))
        return None

    def array_made(self) -> None:
        form = self.pick((
            "{n} * {y}", "np.sin({y})", "np.array({l})", "{y}.copy()", "np.zeros(len({y}))", "{y}[::-1]", "{y}", "np.array([a * {n} for a in {y}])",
        ))  # fmt: skip
        text = form.format(n=self.number(1), y=self.pick(self.scope.arrays), l=self.pick(self.scope.lists))
        self.scope.arrays.append(name := self.new("y"))
        self.write(f"{name} = {text}")

    def array_changed(self) -> None:
        own = [a for a in self.scope.arrays if a != "x"]
        if not own:
            return self.array_made()
        name = self.pick(own)
        form = self.pick(("{y}[{i}] = {n}", "{y}[{i}] += {n}", "{y}[1:] *= {n}", "{y} += 0.1 * {n}", "{y}[:] = {n}"))
        self.write(form.format(y=name, i=self.place(name), n=self.number(1)))
        return None

    def path_grown(self) -> None:
        if not self.scope.paths or not self.choose(3):
            self.scope.paths.append(name := self.new("p"))
            self.write(f"{name} = [0.5 * {self.pick(self.scope.arrays)}]")
            return
        name = self.pick(self.scope.paths)
        text = self.pick(("{p}.append({n} * {p}[-1])", "{p}.append({p}[0] + {y}[0])", "{p} = {p}[-1:] + [{p}[0] * {n}]"))
        self.write(text.format(p=name, n=self.number(1), y=self.pick(self.scope.arrays)))

    def text_made(self) -> None:
        text = self.text()
        own = [t for t in self.scope.texts if t != "name"]
        if own and self.choose(2):
            self.write(f"{self.pick(own)} = {text}")
            return
        self.scope.texts.append(name := self.new("c"))
        self.write(f"{name} = {text}")

    def dict_made(self) -> None:
        form = self.pick((
            "{{'a': {n}, 'b': {m}}}", "{{k: v * {n} for k, v in WEIGHTS.items()}}", "dict(a={n}, c={m})", "collections.defaultdict(float, a={n})",
            "{{**WEIGHTS, 'a': {n}}}",
        ))  # fmt: skip
        text = form.format(n=self.number(1), m=self.number(0))
        self.scope.dicts.append(name := self.new("d"))
        self.write(f"{name} = {text}")

    def dict_changed(self) -> None:
        if not self.scope.dicts:
            return self.dict_made()
        name = self.pick(self.scope.dicts)
        form = self.pick((
            "{d}['a'] = {n}", "{d}['a'] *= {n}", "{d}['b'] = {d}.get('b', 0.1) + {n}", "if {c} in {d}:\n{p}    {d}[{c}] += {n}",
            "for key in list({d}):\n{p}    {d}[key] *= 0.9", "{d}.update(b={n})", "{d}.setdefault('b', {n})",
            "for key, value in {d}.items():\n{p}    {s} += 0.1 * value",
        ))  # fmt: skip
        own = [n for n in self.scope.numbers if n != "w"]
        if "{s}" in form and not own:
            return self.assigned()
        c = self.pick(self.scope.texts)
        self.write(form.format(d=name, n=self.number(1), c=c, p="    " * self.depth, s=self.pick(own) if own else ""))
        return None

    def book_made(self) -> None:
        text = f"Book({self.number(1)}{self.pick(('', ', ' + self.pick(self.scope.lists)))})"
        self.scope.books.append(name := self.new("b"))
        self.write(f"{name} = {text}")

    def book_changed(self) -> None:
        if not self.scope.books:
            return self.book_made()
        name = self.pick(self.scope.books)
        form = self.pick((
            "{b}.value = {n}", "{b}.value += {n}", "{b}.put({n})", "{b}.put({n}, {c}).put(0.1)", "{b}.items[0:1] = [{n}]",
            "with scaled({b}, {n}) as inside:\n{p}    {b}.put(inside)", "other = {b}\n{p}other.value *= {n}", "{b} = {b} + {n}",
        ))  # fmt: skip
        self.write(form.format(b=name, n=self.number(1), c=self.pick(("'a'", "'b'")), p="    " * self.depth))
        return None

    def branch(self) -> None:
        self.either(2)

    def loop(self) -> None:
        if self.loops >= 2:
            return self.assigned()
        lists, scope = self.pick(self.scope.lists), self.scope
        k, a = self.new("k"), self.new("a")
        over = [(f"for {k} in range({self.count()} % 4 + 1):", [k], []), (f"for {a} in list({lists}):", [], [a]),
                (f"for {k}, {a} in enumerate(x):", [k], [a]), (f"for {k} in range(len({lists})):", [k], []),
                (f"for {k}, {a} in enumerate(reversed(list({lists}))):", [k], [a])]  # fmt: skip
        head, counts, numbers = self.pick(over)
        self.write(head)
        self.loops += 1
        with self.block():
            self.scope.counts += counts
            self.scope.numbers += numbers
            self.statements(3)
            if self.rarely(4):
                self.write(f"if {self.test()}:\n{'    ' * self.depth}    {self.pick(('break', 'continue'))}")
                self.statements(1)
        self.loops -= 1
        assert self.scope is scope
        return None

    def while_loop(self) -> None:
        if self.loops >= 2:
            return self.assigned()
        k, s = self.new("k"), self.new("s")
        self.write(f"{k}, {s} = 0, {self.number(1)}")
        self.scope.numbers.append(s)
        self.write(f"while {k} < 4 and {s} < {self.pick(LIMITS)} + 1.0:")
        self.loops += 1
        with self.block():
            self.scope.counts.append(k)
            self.statements(2)
            self.write(f"{s} = abs({s}) + 0.4 + 0.1 * math.sin({self.number(1)})")
            self.write(f"{k} += 1")
        self.loops -= 1
        return None

    def handled(self) -> None:
        own = [n for n in self.scope.numbers if n != "w"]
        if not own:
            return self.assigned()
        s = self.pick(own)
        body, kind = self.pick((
            (f"{s} = checked({self.number(1)}, {self.pick(LIMITS)})", "Refused as problem"),
            (f"{s} = {self.pick(self.scope.lists)}[{self.count()} + 1]", "IndexError"),
            (f"{s} = WEIGHTS[{self.text()}] * {self.number(0)}", "KeyError"),
            (f"{s} = {self.number(0)} / ({self.count()} - 1)", "ZeroDivisionError"),
            (f"{s} = math.sqrt({self.number(1)})", "ValueError"),
        ))  # fmt: skip
        self.write("try:")
        with self.block():
            self.write(body)
            if self.choose(2):
                self.write(f"{s} += {self.number(0)}")
        self.write(f"except {kind}:")
        with self.block():
            self.write(f"{s} = 0.5 * problem.amount" if "as problem" in kind else f"{s} = {self.number(1)}")
        if self.choose(2):
            self.write(self.pick(("else:", "finally:")))
            with self.block():
                self.write(f"{s} *= 0.8")
        return None

    def nested(self) -> None:
        own = [n for n in self.scope.numbers if n != "w"]
        if self.depth > 1 or not own:
            return self.assigned()
        s, name = self.pick(own), self.new("g")
        form = self.pick((
            "def {g}(t, by=0.5):\n        return by * t + {s}", "def {g}(t):\n        nonlocal_ = [t, {s}]\n        return 0.4 * sum(nonlocal_)",
            "def {g}(t):\n        if t > 0.2:\n            return {s} * t\n        return 0.3 * t", "{g} = functools.partial(checked, limit=5.0)",
            "{g} = lambda t, *more: 0.5 * t + sum(more) + {s}",
        ))  # fmt: skip
        self.write(form.format(g=name, s=s))
        self.write(f"{s} = {name}({self.number(1)}) + 0.1 * {name}(0.4)")
        return None

    def matched(self) -> None:
        own = [n for n in self.scope.numbers if n != "w"]
        if not own:
            return self.assigned()
        s = self.pick(own)
        self.write(f"match {self.text()}:")
        with self.block():
            self.write(f"case 'a':\n{'    ' * self.depth}    {s} = {self.number(1)}")
            self.write(f"case 'b' | 'c' if {self.test()}:\n{'    ' * self.depth}    {s} += 0.2")
            self.write(f"case _:\n{'    ' * self.depth}    {s} *= 0.7")
        return None

    def shown(self) -> None:
        self.write(f"print(f'{{{self.number(0)}:.2f}}', {self.text()}, {self.count()})")


STATEMENTS: tuple[Callable[[Writer], None], ...] = (
    Writer.assigned, Writer.assigned, Writer.list_made, Writer.list_changed, Writer.list_changed, Writer.table_made, Writer.table_changed,
    Writer.array_made, Writer.array_changed, Writer.path_grown, Writer.text_made, Writer.dict_made, Writer.dict_changed, Writer.book_made,
    Writer.book_changed, Writer.branch, Writer.branch, Writer.loop, Writer.loop, Writer.while_loop, Writer.handled, Writer.nested,
    Writer.matched, Writer.shown,
)  # fmt: skip


def object_program_text(choose: Callable[[int], int], size: int = 12) -> str:
    """The source of ``f(x, items, name, w)``."""
    writer = Writer(choose, 3 + choose(size), Scope(numbers=["w"], lists=["items"], arrays=["x"], texts=["name"]))
    writer.write("items = list(items)")
    while writer.budget > 0:
        writer.statement()
    scope = writer.scope
    terms = ["w * np.sum(x)", "0.3 * sum(items)", *(n for n in scope.numbers if n != "w"), *(f"0.2 * sum({name})" for name in scope.lists)]
    terms += [f"0.1 * sum(math.sin(a) for row in {name} for a in row)" for name in scope.tables]
    terms += [f"np.sum(np.sin({name}))" for name in scope.arrays if name != "x"] + [f"0.3 * sum({name}.values())" for name in scope.dicts]
    terms += [f"{name}.mean * {name}.value + 0.1 * sum({name}.seen.values())" for name in scope.books]
    terms += [f"sum(0.1 * np.sum(a) for a in {name})" for name in scope.paths] + [f"0.1 * len({name})" for name in scope.texts]
    return "\n".join([BEGINNING, "", "def f(x, items, name, w):", *writer.lines, f"    return {' + '.join(terms)}", ""])


def random_object_program(seed: int, size: int = 12) -> str:
    """A program drawn without Hypothesis; the same seed always gives the same text."""
    return object_program_text(random.Random(seed).randrange, size)


def object_arguments(situation: int = 0) -> tuple[Any, ...]:
    """Arguments of one kind, whose numbers and lengths differ: of few items and of many. None is a number that programs hold."""
    many = np.random.default_rng(situation).uniform(-1.0, 1.3, 24)
    return [
        (np.array([0.8317, -0.4139, 0.5723, 1.1271]), [0.4129, -0.9137, 0.2539], "abca", 0.6427),
        (np.array([-0.3541, 0.6211, 1.3127, -0.7719]), [-0.3163, 0.8231, 0.1543], "abca", -0.5281),
        (many[:6], many[6:].tolist(), "cb" * 9, 0.3119),
    ][situation]
