"""Random choices to the source text of a function ``f(x, m, k, j, w)`` whose memory is hard to follow, for arrays of any extent.

The third kind of random programs: names that are one view or another by path, stores through views inside loops, lists as tapes,
exits from nested loops, integers at their bounds, divisions by zero and infinities beside masks. Extents are known while a text is
written only as names of extents, so that one text, compiled once, runs for arrays that are long, short, empty, strided and narrow.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from strategies import LIMITS, Draft, enclosed

#: extents: of ``x`` (n), of the rows and columns of ``m`` (r, c), one less, half, and any other
Extent = str

UNARY = (
    "np.sin({})", "0.5 * {}", "np.tanh({})", "-{}", "np.exp(-{} ** 2)", "np.where({0} > 0.1, {0}, 0.4 * {0})", "1.0 / (1.3 + {} ** 2)",
    "np.abs({})", "np.sqrt(0.4 + {} ** 2)", "np.clip({}, -0.45, 0.75)", "np.square(np.cos({}))", "{}.copy()", "(0.3 * {}).astype(float)",
)  # fmt: skip
BINARY = (
    "0.5 * ({} + {})", "np.tanh({}) * {}", "0.5 * ({} - {})", "{} / (1.2 + {} ** 2)", "np.maximum({}, 0.3 * {})", "np.sin({}) * {}",
    "np.minimum({}, {} + 0.2)",
)  # fmt: skip
#: of a vector that is differentiated and of ``k``, which holds zeros and an infinity
MASKED = (
    "np.where({1} > 0, {0} / {1}, 0.0)", "np.where({1} > 0.0, {0}, {1})", "np.where(({1} > 0) & ({1} < 9.0), {0} * {1}, 0.2)",
    "np.where({1} > 0, np.sin({0}) / {1}, {0})", "np.divide({0}, {1}, out=np.zeros(len({1})), where={1} > 0.5)", "np.exp(-{1}) * {0}",
    "np.where({1} == 0, {0}, {0} / (1.0 + {1}))", "np.tanh(np.maximum({0}, {1}))", "{0} / (0.7 + {1})", "np.minimum({0}, {1})",
)  # fmt: skip
ALONG = ("{}[::-1]", "np.roll({}, 1)", "0.4 * np.cumsum({})", "np.sort({})", "np.flip({})", "np.concatenate([{0}[1:], {0}[:1]])")
REDUCTIONS = ("np.sum({})", "np.sum(np.sin({}))", "np.tanh({}.sum())", "np.prod(np.cos({}))", "sum({})", "np.dot({0}, 0.3 * {0})")
#: of a number; of vectors that are not empty
NUMBERS = (
    "math.sin({})", "0.5 * {}", "np.tanh({})", "abs({})", "math.exp(-{} ** 2)", "1.0 / (1.3 + {} ** 2)", "min({}, 0.7)", "max({}, -0.2)",
    "float({})", "{} if {} > 0.1 else 0.3",
)  # fmt: skip
AUGMENTED = ("{} += 0.3 * {}", "{} *= np.cos({})", "{} -= 0.2 * np.tanh({})", "{} /= 1.2 + np.sin({}) ** 2", "{} = 0.6 * {}")
#: of an integer, to an integer
INTEGERS = (
    "({} * 31 + 7) % 11", "-{} // 3", "{} % -4", "{} >> 1", "({} ^ 5) & 7", "abs({}) + 1", "divmod({}, 3)[1]", "({} + 2**62) % 5", "~{}",
    "({} - 2**63 + 1) % 7", "1 << ({} & 3)", "max({}, 2) - 1", "-7 // ({} % 3 + 1)", "pow({}, 2, 5)", "({} + 2**53) // 2**52",
    "{} * 3 - 1", "int({} > 2)", "{} ** 2 % 13",
)  # fmt: skip
#: of an integer, to a number of moderate size
WEIGHTS = ("0.1 * float({} % 7)", "({} & 3) / 4", "{} % 5 / 5.0", "0.7 ** ({} % 3)", "math.cos({} % 9)", "1.0 / (1 + {} % 4)")
#: integer arrays of an extent, of narrow types that wrap around, divided so that their numbers are moderate
NARROW = (
    "np.arange({}, dtype=np.int8) * 50 / 99.0", "(np.arange({}).astype(np.uint8) - 1) / 200.0", "np.cumsum(np.ones({}, dtype=np.int32)) / 5",
    "(np.arange({}) - 2) // 2 / 3", "np.arange({}, dtype=np.int16) ** 3 % 7 / 7",
)  # fmt: skip


@dataclass
class Held:
    """What may be named at the point of writing."""

    vectors: dict[str, Extent] = field(default_factory=dict)
    tables: dict[str, tuple[Extent, Extent]] = field(default_factory=dict)
    numbers: list[str] = field(default_factory=list)
    integers: dict[str, Extent] = field(default_factory=dict)  #: "" if not below an extent
    tapes: list[str] = field(default_factory=list)  #: lists of numbers, perhaps empty
    shelves: dict[str, Extent] = field(default_factory=dict)  #: lists of vectors, perhaps empty

    def inner(self) -> Held:
        return Held(dict(self.vectors), dict(self.tables), list(self.numbers), dict(self.integers), list(self.tapes), dict(self.shelves))


@dataclass
class MemoryWriter(Draft):
    """Writes one function."""

    scope: Held = field(kw_only=True)
    loops: int = 0
    breakable: bool = False
    walked: set[str] = field(default_factory=set)  #: lists that a loop goes over, which may not grow

    # -------------------------------------------------------------- numbers

    def place(self, name: str, extent: Extent) -> str:
        """An index into a vector, which is valid if the vector is not empty."""
        fits = [i for i, own in self.scope.integers.items() if own and own == extent]
        kind = self.choose(8)
        if fits and kind < 4:
            return str(self.pick(("{}", "{}", "-1 - {}", "{} // 2", "{} - 1"))).format(self.pick(fits))
        if kind == 4:
            return f"{enclosed(self.integer(1))} % len({name})"
        if kind == 5:
            return f"int(np.argmax({name}))"
        return str(self.pick(("0", "-1", f"len({name}) // 2")))

    def element(self) -> str:
        if self.scope.tables and self.rarely(4):
            name = self.pick(self.scope.tables)
            rows, columns = self.scope.tables[name]
            return f"{name}[{self.place(name, rows)}, {self.place(f'{name}[0]', columns)}]"
        name = self.pick(self.varying())
        return f"{name}[{self.place(name, self.scope.vectors[name])}]"

    def varying(self) -> list[str]:
        """Vectors that are finite, and may be stored to."""
        return [name for name in self.scope.vectors if name != "k"]

    def number(self, depth: int = 2) -> str:
        kind = self.choose(12 if depth else 3)
        match kind:
            case 0 if self.scope.numbers:
                return str(self.pick(self.scope.numbers))
            case 1:
                return str(self.pick(LIMITS))
            case 3 | 4:
                form, inside = str(self.pick(NUMBERS)), enclosed(self.number(depth - 1))
                return form.format(*[inside] * form.count("{}"))
            case 5:
                return str(self.pick(BINARY[:4])).format(enclosed(self.number(depth - 1)), enclosed(self.number(depth - 1)))
            case 6:
                return str(self.pick(REDUCTIONS)).format(enclosed(self.vector(self.extent(), depth - 1)))
            case 7:
                return f"{str(self.pick(WEIGHTS)).format(enclosed(self.integer(1)))} * {enclosed(self.number(depth - 1))}"
            case 8 if self.scope.tapes:
                return self.taped()
            case 9 if self.scope.shelves:
                name = self.pick(self.scope.shelves)
                return f"(np.sum({name}[{self.pick(('-1', '0'))}]) if len({name}) > 0 else 0.1)"
            case 10 if self.scope.tables:
                name = self.pick(self.scope.tables)
                return str(self.pick(("np.sum(np.sin({}))", "np.tanh(np.sum({}.T @ {}))", "0.3 * np.trace({})"))).format(name, name)
            case 11:
                at, inside = f"k[{self.place('k', 'n')}]", enclosed(self.number(depth - 1))
                return f"({inside} / {at} if {at} > 0 else {inside})"
        return self.element()

    def taped(self) -> str:
        name = self.pick(self.scope.tapes)
        form = self.pick(("sum({})", "({}[-1] if {} else 0.2)", "({}[0] if len({}) > 0 else 0.1)", "len({}) * 0.1", "np.sum(np.array({}))"))
        return str(form).replace("{}", name)

    def integer(self, depth: int = 2) -> str:
        kind = self.choose(6)
        if depth and kind < 3:
            return str(self.pick(INTEGERS)).format(enclosed(self.integer(depth - 1)))
        if kind == 3:
            return f"int(np.floor(3 * {enclosed(self.number(0))}))"
        if kind == 4:
            return f"len({self.pick(self.scope.vectors)})"
        return str(self.pick(self.scope.integers)) if self.scope.integers else str(self.choose(5))

    def test(self, depth: int = 1) -> str:
        kind = self.choose(7)
        if kind == 1 and self.scope.integers:
            return f"{self.pick(self.scope.integers)} {self.pick(('==', '<', '>=', '!='))} {self.choose(3)}"
        if kind == 2:
            return f"{enclosed(self.integer(1))} % 2 == {self.choose(2)}"
        if kind == 3 and depth:
            return f"{self.test(0)} {self.pick(('and', 'or', 'and not'))} {self.test(0)}"
        if kind == 4 and depth:
            return f"np.{self.pick(('any', 'all'))}({self.mask(self.extent())})"
        if kind == 5:
            return f"len({self.pick([*self.scope.vectors, *self.scope.tapes])}) > {self.choose(4)}"
        return f"{self.number(depth)} > {self.pick(LIMITS)}"

    def mask(self, extent: Extent) -> str:
        if extent == "n" and self.choose(2):
            return str(self.pick(("(k > 0)", "(k < 9.0)", "(k != 0.0)", "~(k > 0.5)")))
        return f"({enclosed(self.vector(extent, 1))} {self.pick(('>', '<'))} {self.pick(LIMITS)})"

    # -------------------------------------------------------------- vectors

    def extent(self) -> Extent:
        return str(self.pick(["n", *(self.scope.vectors[name] for name in self.varying())]))

    def views(self, name: str, own: Extent) -> list[tuple[str, Extent]]:
        options = [(name, own), (f"{name}[:]", own), (f"{name}[::-1]", own), (f"{name}.reshape(-1)", own)]
        shorter = {"n": "t", "c": "ct", "r": "rt"}.get(own, "")
        half = {"n": "h", "c": "ch"}.get(own, "")
        options += [(f"{name}[1:]", shorter), (f"{name}[:-1]", shorter), (f"{name}[-2::-1]", shorter), (f"{name}[::2]", half)]
        options += [(f"{name}[{i}:]", "") for i, extent in self.scope.integers.items() if extent == own]
        options += [(f"{name}[{i}:{i} + 2]", "") for i, extent in self.scope.integers.items() if extent == own]
        return options

    def all_views(self) -> list[tuple[str, Extent]]:
        """Of every vector and table; of none that only reads."""
        options = [view for name in self.varying() for view in self.views(name, self.scope.vectors[name])]
        for name, (rows, columns) in self.scope.tables.items():
            options += [(f"{name}[{self.place(name, rows)}]", columns), (f"{name}[:, {self.place(f'{name}[0]', columns)}]", rows)]
            options += [
                (f"{name}.T[{self.place(f'{name}.T', columns)}]", rows),
                (f"{name}[::-1, {self.place(f'{name}[0]', columns)}]", rows),
            ]
            options += [(f"{name}[{self.place(name, rows)}, 1:]", f"{columns}t"), (f"{name}.reshape(-1)", "")]
        return options

    def view(self, extent: Extent) -> str | None:
        fits = [text for text, own in self.all_views() if own == extent and extent]
        return str(self.pick(fits)) if fits else None

    def vector(self, extent: Extent, depth: int = 2) -> str:
        """An expression of a vector of that extent, which may be a view."""
        if not extent:
            return self.unnamed(depth)
        kind = self.choose(9 if depth else 2)
        match kind:
            case 0 | 1 if depth < 2 or self.choose(2):
                return self.view(extent) or self.view("n") or "x"
            case 2 | 3:
                form, inside = str(self.pick(UNARY)), enclosed(self.vector(extent, depth - 1))
                return form.format(inside)
            case 4 | 5:
                return str(self.pick(BINARY)).format(enclosed(self.vector(extent, depth - 1)), enclosed(self.narrower(extent, depth - 1)))
            case 6 if extent == "n":
                return str(self.pick(MASKED)).format(enclosed(self.vector(extent, depth - 1)), "k")
            case 7:
                return str(self.pick(ALONG)).format(enclosed(self.vector(extent, depth - 1)))
            case 8:
                return f"{enclosed(self.vector(extent, depth - 1))} * {enclosed(self.whole(extent))}"
        return self.view(extent) or "x"

    def whole(self, extent: Extent) -> str:
        """An array that holds integers, or was made of them."""
        model = self.view(extent) or "x"
        return str(self.pick(NARROW)).format(f"len({model})")

    def unnamed(self, depth: int) -> str:
        """A vector of any extent."""
        fits = [text for text, _ in self.all_views()]
        text = str(self.pick(fits))
        return text if not depth or self.choose(2) else str(self.pick(UNARY)).format(enclosed(text))

    def narrower(self, extent: Extent, depth: int) -> str:
        return self.number(depth) if self.rarely(3) else self.vector(extent, depth)

    def fresh_vector(self, extent: Extent) -> str:
        return f"1.0 * {enclosed(self.vector(extent, 2))}"

    def name_vector(self, extent: Extent) -> str:
        name = self.new("y")
        self.scope.vectors[name] = extent
        return name

    def own(self, extent: Extent) -> list[str]:
        """Vectors that may be bound anew."""
        return [name for name, other in self.scope.vectors.items() if other == extent and name[0] in "yp" and extent]

    # -------------------------------------------------------------- statements

    def statement(self) -> None:
        self.budget -= 1
        STATEMENTS[self.choose(len(STATEMENTS))](self)

    def number_bound(self) -> None:
        text = self.number(3)
        own = [name for name in self.scope.numbers if name[0] == "s"]
        if own and self.choose(3):
            self.write(str(self.pick(("{} = {}", "{} += 0.3 * np.sin({})", "{} *= np.cos({})"))).format(self.pick(own), text))
        else:
            name = self.new("s")
            self.write(f"{name} = {text}")
            self.scope.numbers.append(name)

    def integer_bound(self) -> None:
        text = self.integer()
        own = [name for name in self.scope.integers if name[0] == "q"]
        if own and self.choose(2):
            self.write(str(self.pick(("{} = {}", "{} += {}", "{} -= {}", "{} = {} * 2"))).format(self.pick(own), text))
        else:
            name = self.new("q")
            self.write(f"{name} = {text}")
            self.scope.integers[name] = ""

    def vector_bound(self) -> None:
        extent = self.extent()
        text = self.fresh_vector(extent) if self.choose(3) else self.view(extent) or self.fresh_vector(extent)
        own = self.own(extent)
        self.write(f"{self.pick(own) if own and self.choose(2) else self.name_vector(extent)} = {text}")

    def viewed(self) -> None:
        text, extent = self.pick(self.all_views())
        own = self.own(extent)
        self.write(f"{self.pick(own) if own and self.choose(2) else self.name_vector(extent)} = {text}")

    def either(self) -> None:
        """A name for one array or another, by path."""
        extent = self.extent() or "n"
        name = self.new("p")
        ways = [self.view(extent) or "x", self.view(extent) or "x" if self.choose(2) else self.fresh_vector(extent)]
        if self.choose(3) == 0:
            self.write(f"{name} = {ways[0]} if {self.test(0)} else {ways[1]}")
        else:
            self.write(f"if {self.test(0)}:")
            self.write(f"    {name} = {ways[0]}")
            self.write("else:")
            self.write(f"    {name} = {ways[1]}")
        self.scope.vectors[name] = extent

    def swapped(self) -> None:
        for extent in dict.fromkeys(self.scope.vectors.values()):
            own = self.own(extent)
            if len(own) > 1:
                self.write(f"{own[0]}, {own[-1]} = {own[-1]}, {own[0]}")
                return
        self.either()

    def element_stored(self) -> None:
        self.write(str(self.pick(AUGMENTED)).format(self.element(), enclosed(self.number(1))))

    def slice_stored(self) -> None:
        target, extent = self.pick(self.all_views())
        target = target if target.endswith("]") else f"{target}[:]"
        if not extent:
            self.write(str(self.pick(AUGMENTED)).format(target, enclosed(self.number(1))))
        elif self.choose(2):
            self.write(str(self.pick(AUGMENTED[:4])).format(target, enclosed(self.narrower(extent, 1))))
        else:
            self.write(f"{target} = {self.fresh_vector(extent) if self.choose(3) else self.number(1)}")

    def shifted(self) -> None:
        """A store to a vector of a part of itself."""
        name = self.pick(self.varying())
        form = self.pick(("{0}[1:] += 0.5 * {0}[:-1]", "{0}[:-1] = {0}[1:]", "{0}[1:] = {0}[:-1]", "{0}[:] = {0}[::-1]", "{0} += 0.3 * {0}[::-1]",
                          "{0}[1:] *= np.cos({0}[:-1])", "{0}[1:-1] = 0.3 * ({0}[2:] + {0}[:-2])", "{0} *= 0.9"))  # fmt: skip
        self.write(str(form).format(name))

    def masked(self) -> None:
        names = [name for name in self.varying() if self.scope.vectors[name] == "n"]
        if not names:
            return self.slice_stored()
        name = self.pick(names)
        mask = self.mask("n")
        form = self.pick(("{0}[{1}] = {2}", "{0}[{1}] += 0.3 * {0}[{1}]", "np.copyto({0}, 1.0 * {3}, where={1})", "{0}[{1}] /= 1.0 + np.square({0}[{1}])",
                          "np.add.at({0}, np.flatnonzero({1}), {2})", "{0}[np.where({1})[0]] *= 0.7"))  # fmt: skip
        self.write(str(form).format(name, mask, enclosed(self.number(1)), enclosed(self.vector("n", 1))))
        return None

    def into(self) -> None:
        target, extent = self.pick([view for view in self.all_views() if view[1]])
        form = self.pick(("np.multiply({}, 0.5, out={})", "np.sin({}, out={})", "np.add({}, 0.3, {})"))
        self.write(str(form).format(self.vector(extent, 1), target))

    # lists

    def tape_made(self) -> None:
        name = self.new("t")
        self.write(
            f"{name} = {self.pick(('[]', '[]', f'[{self.number(1)}]', f'[0.5 * e for e in {self.unnamed(0)}]', f'list({self.unnamed(0)})'))}"
        )
        self.scope.tapes.append(name)

    def tape_changed(self) -> None:
        free = [name for name in self.scope.tapes if name not in self.walked]
        if not free:
            return self.tape_made() if not self.scope.tapes else self.number_bound()
        name = self.pick(free)
        form = self.pick(("{0}.append({1})", "{0}.append({1})", "if {0}:\n    s{2} = {0}.pop()\n    w = w + 0.2 * s{2}", "{0} = {0} + [{1}]",
                          "if len({0}) > 1:\n    {0}[0], {0}[-1] = {0}[-1], {0}[0]", "if {0}:\n    {0}[-1] = {1}", "if {0}:\n    {0}[0] *= {1}",
                          "{0} = {0}[1:]", "{0} = {0}[::-1]"))  # fmt: skip
        for line in str(form).format(name, self.number(1), next(self.fresh)).split("\n"):
            self.write(line)
        return None

    def shelf_made(self) -> None:
        name, extent = self.new("b"), self.extent() or "n"
        first = self.fresh_vector(extent)
        self.write(f"{name} = {self.pick(('[]', f'[{first}]', f'[{first}, {self.view(extent) or first}]'))}")
        self.scope.shelves[name] = extent

    def shelf_changed(self) -> None:
        free = [name for name in self.scope.shelves if name not in self.walked]
        if not free:
            return self.shelf_made() if not self.scope.shelves else self.vector_bound()
        name = self.pick(free)
        extent = self.scope.shelves[name]
        form = self.pick(("{0}.append({1})", "{0}.append({2})", "if {0}:\n    {0}[-1][:] = {1}", "if {0}:\n    {0}[-1] = {1}", "if {0}:\n    {0}[0] *= {3}",
                          "if len({0}) > 1:\n    w = w + 0.1 * np.sum({0}.pop())", "if {0}:\n    {0}[0][0] += {3}"))  # fmt: skip
        text = str(form).format(name, self.fresh_vector(extent), self.view(extent) or "x", self.number(1))
        for line in text.split("\n"):
            self.write(line)
        return None

    # control

    def branch(self) -> None:
        self.write(f"if {self.test()}:")
        with self.block():
            self.statements(2)
            if self.breakable and not self.choose(3):
                self.write(self.pick(("break", "continue")))
            elif self.returns and self.rarely(6):
                self.write(f"return {self.number(1)}")
        if self.choose(2):
            self.write(f"elif {self.test(0)}:" if self.rarely(4) else "else:")
            with self.block():
                self.statements(2)
                if self.breakable and self.rarely(6):
                    self.write(self.pick(("break", "continue")))

    def guarded(self) -> None:
        self.write("try:")
        with self.block():
            self.statements(2)
            if self.breakable and self.choose(2):
                self.write(f"if {self.test()}:")
                self.write(f"    {self.pick(('break', 'continue'))}")
        self.write("finally:")
        with self.block():
            held, self.breakable, leaves, self.returns = self.breakable, False, self.returns, False
            self.statements(2)
            self.breakable, self.returns = held, leaves

    @contextmanager
    def looping(self, *walked: str) -> Iterator[None]:
        held, self.breakable, names = self.breakable, True, self.walked
        self.loops, self.walked = self.loops + 1, {*names, *walked}
        with self.block():
            yield
            self.statements(3)
            if not self.choose(3):
                self.write(f"if {self.test()}:")
                self.write(f"    {self.pick(('break', 'continue'))}")
                self.statements(2)
        self.loops, self.breakable, self.walked = self.loops - 1, held, names
        if self.rarely(4):
            self.write("else:")
            with self.block():
                self.statements(2)

    def loop(self) -> None:
        if self.loops > 1:
            return self.element_stored()
        return LOOPS[self.choose(len(LOOPS))](self)

    def range_loop(self) -> None:
        i, name = self.new("i"), self.pick(self.scope.vectors)
        form = self.pick(
            (
                "range(len({}))",
                "range(len({}))",
                "range(len({}) - 1, -1, -1)",
                "range(0, len({}), 2)",
                "range(1, len({}))",
                "reversed(range(len({})))",
            )
        )
        self.write(f"for {i} in {str(form).format(name)}:")
        with self.looping():
            self.scope.integers[i] = self.scope.vectors[name]

    def item_loop(self) -> None:
        i, e, name = self.new("i"), self.new("e"), self.pick(self.varying())
        extent = self.scope.vectors[name]
        counted = self.choose(2)
        self.write(f"for {i}, {e} in enumerate({name}):" if counted else f"for {e}, {i} in zip({name}, range(7)):")
        with self.looping():
            self.scope.integers[i] = extent
            self.scope.numbers.append(e)

    def row_loop(self) -> None:
        if not self.scope.tables:
            return self.range_loop()
        name, y = self.pick(self.scope.tables), self.new("y")
        self.write(f"for {y} in {name}{self.pick(('', '', '.T', '[::-1]'))}:")
        rows, columns = self.scope.tables[name]
        with self.looping():
            self.scope.vectors[y] = rows if self.lines[-1].endswith(".T:") else columns
        return None

    def tape_loop(self) -> None:
        e = self.new("e")
        if self.scope.shelves and self.choose(2):
            name, y = self.pick(self.scope.shelves), self.new("y")
            self.write(f"for {y} in {self.pick((name, f'reversed({name})', f'{name}[:-1]'))}:")
            with self.looping(name):
                self.scope.vectors[y] = self.scope.shelves[name]
        elif self.scope.tapes:
            name = self.pick(self.scope.tapes)
            form = self.pick(
                ("for {1} in {0}:", "for {1} in reversed({0}):", "for {1}, _ in zip({0}, {0}[1:]):", "for {1} in {0}[::-1]:", "while {0}:")
            )
            self.write(str(form).format(name, e))
            with self.looping(name):
                if form[0] == "w":
                    self.write(f"{e} = {name}.pop()")
                self.scope.numbers.append(e)
        else:
            self.tape_made()

    def while_loop(self) -> None:
        c = self.new("c")
        start, limit = self.pick((("0", "3"), ("0", "2"), ("2**62 - 1", "2**62 + 2"), ("-2", "1"), ("2**63 - 2", "2**63 + 1")))
        self.write(f"{c} = {start}")
        self.write(f"while {c} < {limit}{'' if self.choose(2) else ' and ' + self.test(0)}:")
        with self.looping():
            self.write(f"{c} += 1")
            self.scope.integers[c] = ""


STATEMENTS: tuple[Callable[[MemoryWriter], None], ...] = (
    MemoryWriter.number_bound, MemoryWriter.vector_bound, MemoryWriter.element_stored, MemoryWriter.slice_stored, MemoryWriter.loop,
    MemoryWriter.viewed, MemoryWriter.either, MemoryWriter.branch, MemoryWriter.shifted, MemoryWriter.masked, MemoryWriter.tape_changed,
    MemoryWriter.shelf_changed, MemoryWriter.swapped, MemoryWriter.integer_bound, MemoryWriter.into, MemoryWriter.guarded,
    MemoryWriter.loop, MemoryWriter.tape_changed, MemoryWriter.element_stored, MemoryWriter.slice_stored, MemoryWriter.loop,
)  # fmt: skip
LOOPS: tuple[Callable[[MemoryWriter], None], ...] = (
    MemoryWriter.range_loop, MemoryWriter.item_loop, MemoryWriter.range_loop, MemoryWriter.row_loop, MemoryWriter.tape_loop,
    MemoryWriter.while_loop,
)  # fmt: skip


def memory_text(choose: Callable[[int], int], size: int = 10) -> str:
    """The source of ``f(x, m, k, j, w)``."""
    scope = Held({"x": "n", "k": "n"}, {"m": ("r", "c")}, ["w"], {"j": ""})
    writer = MemoryWriter(choose, 2 + choose(size), scope=scope)
    while writer.budget > 0:
        writer.statement()
    terms = ["w * np.sum(x)", "np.sum(np.sin(m))"]
    terms += [f"np.sum(np.sin({name}))" for name in scope.vectors if name not in "xk"]
    terms += [f"np.tanh({name})" for name in scope.numbers if name != "w"] + [f"0.01 * ({name} % 10)" for name in scope.integers]
    terms += [f"sum({name})" for name in scope.tapes] + [f"sum([np.sum(np.tanh(e)) for e in {name}])" for name in scope.shelves]
    return "\n".join(
        ["import math", "", "import numpy as np", "", "", "def f(x, m, k, j, w):", *writer.lines, f"    return {' + '.join(terms)}", ""]
    )


def random_memory_program(seed: int, size: int = 10) -> str:
    """A program drawn without Hypothesis; the same seed always gives the same."""
    return memory_text(random.Random(seed).randrange, size)


def laid_out(a: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers, otherwise in memory."""
    if layout == "reversed":
        return a[(slice(None, None, -1),) * a.ndim].copy()[(slice(None, None, -1),) * a.ndim]
    if layout == "strided":
        return np.repeat(a, 2, axis=-1)[..., ::2]
    return np.asfortranarray(a) if layout == "F" else a


#: extent of x, extents of m, layout, dtype, integer
SITUATIONS = (
    (4, (3, 4), "C", "float64", 3), (5, (2, 3), "strided", "float64", -7), (1, (1, 2), "C", "float64", 2**31 - 1),
    (0, (2, 0), "C", "float64", 2**53 + 1), (2, (4, 1), "reversed", "float64", 2**62), (3, (3, 3), "F", "float32", 0),
)  # fmt: skip


def memory_arguments(situation: int) -> tuple[Any, ...]:
    """Arguments for a program: vector, matrix, a vector with zeros and an infinity, an integer, a number."""
    extent, table, layout, dtype, integer = SITUATIONS[situation]
    drawn = np.random.default_rng(5 + situation)
    x, m = (laid_out(drawn.uniform(-1.2, 1.2, shape).astype(dtype), layout) for shape in (extent, table))
    return x, m, np.resize(np.array([0.0, 0.7, np.inf, 1.9, 0.0]), extent), integer, 0.64
