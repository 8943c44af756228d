"""Random choices to the source text of a NumPy function ``f(x, w)`` that is finite and, away from its branch tests, smooth.

All growth is linear (products have a factor below one), all trip counts are bounded, all shapes are known while writing.
``programs()`` is the Hypothesis strategy, which shrinks; ``random_program(seed)`` draws the same texts faster.
"""

from __future__ import annotations

import linecache
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st

LENGTH = 5  #: of ``x``
ROWS = 3  #: of the matrices that occur
Shape = tuple[int, ...]
Item = TypeVar("Item")

UNARY = (
    "np.sin({})",
    "np.tanh({})",
    "np.cos({})",
    "0.5 * {}",
    "np.exp(-{} ** 2)",
    "np.arctan({})",
    "0.6 * np.sqrt(1.0 + {} ** 2)",
    "1.0 / (1.3 + {} ** 2)",
    "-{}",
    "np.abs({})",
    "np.square(np.sin({}))",
    "np.where({0} > 0.1, {0}, 0.4 * {0})",
    "np.clip({}, -0.45, 0.75)",
    "(0.2 + {} ** 2) ** 0.5",
)
#: of vectors, to vectors of the same length
ALONG = (
    "np.sort({})", "0.3 * np.cumsum({})", "np.roll({}, 2)", "np.concatenate([{0}[2:], {0}[:2]])", "np.r_[{0}[1:], 0.5 * {0}[0]]",
    "np.flip({})", "np.stack([{0}, 0.5 * {0}]).T[:, 1]", "np.pad({}[1:-1], 1)",
)  # fmt: skip
BINARY = (
    "0.5 * ({} + {})", "np.tanh({}) * {}", "0.5 * ({} - {})", "{} * np.sin({})", "{} / (1.2 + {} ** 2)", "np.maximum({}, 0.3 * {})",
    "0.7 * np.arctan2({}, 2.0 + np.abs({}))", "np.minimum({}, {} + 0.2)", "0.4 * np.hypot({}, 0.2 + np.abs({}))",
)  # fmt: skip
REDUCTIONS = (
    "np.mean({})",
    "np.tanh(np.sum({}))",
    "np.max({})",
    "np.sin({}.sum())",
    "np.min({})",
    "np.tanh(np.dot({0}, {0}))",
    "0.5 * np.var({})",
)
SCALAR_UNARY = (
    "math.sin({})", "np.tanh({})", "0.5 * {}", "math.exp(-{} ** 2)", "abs({})", "1.0 / (1.3 + {} ** 2)", "np.cos({})",
    "math.sqrt(0.3 + {} ** 2)", "min({}, 0.7)", "math.atan2({}, 1.5)",
)  # fmt: skip
AUGMENTED = ("{} *= np.tanh({})", "{} += 0.2 * np.sin({})", "{} -= 0.2 * np.tanh({})", "{} /= 1.1 + np.sin({}) ** 2")
CONSTANTS = ("0.5", "1.0", "-0.7", "0.25", "2.0")
LIMITS = ("0.3", "0.0", "0.6", "-0.2", "0.9")


@dataclass
class Scope:
    """What may be named at the point of writing: arrays by shape, scalars, integers with their bounds, lists and more."""

    arrays: dict[str, Shape] = field(default_factory=dict)
    scalars: list[str] = field(default_factory=list)
    integers: dict[str, tuple[int, int]] = field(default_factory=dict)
    lists: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)  #: with the keys "a" and "b"
    vectors: list[str] = field(default_factory=list)  #: of a length that is not known, but not 0
    functions: list[str] = field(default_factory=list)  #: nested functions of one number
    rows: list[str] = field(default_factory=list)  #: lists of vectors

    def inner(self) -> Scope:
        return Scope(dict(self.arrays), list(self.scalars), dict(self.integers), list(self.lists), list(self.dicts), list(self.vectors),
                     list(self.functions), list(self.rows))  # fmt: skip


@dataclass
class Draft:
    """A function that is being written; ``choose(n)`` draws a number below ``n``, of which 0 is the simplest."""

    choose: Callable[[int], int]
    budget: int
    scope: Any
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    returns: bool = True  #: may it return before its end?
    fresh: Iterator[int] = field(default_factory=count)

    def pick(self, items: Any) -> Any:
        options = list(items)
        return options[self.choose(len(options))]

    def rarely(self, one_in: int = 6) -> bool:
        return self.choose(one_in) == one_in - 1

    def new(self, stem: str) -> str:
        return f"{stem}{next(self.fresh)}"

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def statement(self) -> None:
        raise NotImplementedError

    @contextmanager
    def block(self) -> Iterator[None]:
        """Statements one level deeper; names made there are forgotten after it."""
        outer = self.scope
        self.scope, self.depth = outer.inner(), self.depth + 1
        yield
        self.scope, self.depth = outer, self.depth - 1

    def statements(self, most: int) -> None:
        before = len(self.lines)
        for _ in range(1 + self.choose(most)):
            self.statement()
            if self.budget <= 0:
                break
        if len(self.lines) == before:
            self.write("pass")

    def either(self, most: int) -> None:
        """A branch with at most so many statements, and at times another side."""
        self.write(f"if {self.test()}:")
        with self.block():
            self.statements(most)
        if self.choose(2):
            self.write("else:")
            with self.block():
                self.statements(most)

    def test(self) -> str:
        raise NotImplementedError


@dataclass
class Writer(Draft):
    """Writes one function of a vector and a number."""

    helpers: dict[str, bool] = field(default_factory=dict)  #: name -> does it give an array?
    loops: int = 0
    shared: set[str] = field(default_factory=set)  #: arrays whose memory has another name

    # -------------------------------------------------------------- pieces

    def of_shape(self, shape: Shape) -> list[str]:
        return [name for name, own in self.scope.arrays.items() if own == shape]

    def index(self, extent: int) -> str:
        """An index that is valid for an axis of that extent."""
        fits = [name for name, (low, high) in self.scope.integers.items() if -extent <= low and high < extent]
        wraps = list(self.scope.integers)
        kind = self.choose(4)
        if kind == 1 and fits:
            return str(self.pick(fits))
        if kind == 2 and wraps:
            return f"({self.pick(wraps)} + {1 + self.choose(3)}) % {extent}"
        if kind == 3:
            return str(-1 - self.choose(extent))
        return str(self.choose(extent))

    def element(self) -> str:
        name, shape = self.pick(self.scope.arrays.items())
        return f"{name}[{', '.join(self.index(n) for n in shape)}]"

    def scalar(self, depth: int = 2) -> str:
        """An expression of one number."""
        kind = self.choose(14 if depth else 3)
        match kind:
            case 0 if self.scope.scalars:
                return str(self.pick(self.scope.scalars))
            case 2:
                return str(self.pick(CONSTANTS))
            case 3:
                return str(self.pick(SCALAR_UNARY)).format(enclosed(self.scalar(depth - 1)))
            case 4:
                return str(self.pick(BINARY)).format(enclosed(self.scalar(depth - 1)), enclosed(self.scalar(depth - 1)))
            case 5:
                name, shape = self.pick(self.scope.arrays.items())
                reduction = str(self.pick(REDUCTIONS))
                return reduction.format(name if len(shape) == 1 or "dot" not in reduction else f"{name}.ravel()")
            case 6 if self.scope.lists:
                return f"{self.pick(self.scope.lists)}[{self.pick(('-1', '0'))}]"
            case 7 if any(not array for array in self.helpers.values()):
                helper = self.pick(h for h, array in self.helpers.items() if not array)
                return f"{helper}({self.pick(self.of_shape((LENGTH,)))}.copy(), {self.scalar(depth - 1)})"
            case 8:
                return f"({self.scalar(depth - 1)} if {self.test()} else {self.scalar(depth - 1)})"
            case 9 if self.scope.dicts:
                return self.item_of_dict()
            case 10 if self.scope.vectors:
                return str(self.pick(("np.sum(np.sin({}))", "{}[-1]", "np.tanh({}.sum())", "np.mean({})"))).format(
                    self.pick(self.scope.vectors)
                )
            case 11 if self.scope.functions:
                return f"{self.pick(self.scope.functions)}({self.scalar(depth - 1)})"
            case 12 if self.scope.rows:
                return f"np.mean({self.pick(self.scope.rows)}[{self.pick(('-1', '0'))}])"
            case 13:
                name = self.pick(self.of_shape((LENGTH,)))
                return f"0.3 * sum({self.pick(('item * item', 'np.sin(item)', 'item if item > 0.2 else 0.1'))} for item in {name}{self.pick(('', '[1:]'))})"
        return self.element()

    def array(self, shape: Shape, depth: int = 2) -> str:
        """An expression of fresh memory, or a name, of that shape."""
        names = self.of_shape(shape)
        kind = self.choose(11 if depth else 1)
        match kind:
            case 1:
                return str(self.pick(UNARY)).format(enclosed(self.array(shape, depth - 1)))
            case 2:
                return str(self.pick(BINARY)).format(enclosed(self.array(shape, depth - 1)), enclosed(self.array(shape, depth - 1)))
            case 3:
                return str(self.pick(BINARY)).format(enclosed(self.array(shape, depth - 1)), enclosed(self.scalar(depth - 1)))
            case 4:
                return self.part(shape)
            case 5 if len(shape) == 1 and any(self.helpers.values()) and shape == (LENGTH,):
                helper = self.pick(h for h, array in self.helpers.items() if array)
                return f"{helper}({self.pick(self.of_shape((LENGTH,)))}.copy(), {self.scalar(depth - 1)})"
            case 6 if len(shape) == 2:
                return f"(np.outer({self.array(shape[:1], 0)}, {self.array(shape[1:], 0)}) * 0.5)"
            case 7 if len(shape) == 2 and self.of_shape(shape[1:]):
                return f"({self.array(shape, depth - 1)} * np.tanh({self.pick(self.of_shape(shape[1:]))}))"
            case 8 if len(shape) == 1:
                return str(self.pick(ALONG)).format(enclosed(self.array(shape, 0)))
            case 9 if shape == (LENGTH,) and self.scope.rows:
                return f"(0.7 * {self.pick(self.scope.rows)}[{self.pick(('-1', '0'))}])"
            case 10 if shape == (LENGTH,) and self.of_shape((ROWS, LENGTH)):
                table = self.pick(self.of_shape((ROWS, LENGTH)))
                return f"np.tanh({table}.T @ ({table} @ {self.pick(self.of_shape(shape))}))"
        if names:
            return str(self.pick(names))
        return self.part(shape)

    def part(self, shape: Shape) -> str:
        """A slice, gather or reshape that gives that shape."""
        options: list[str] = []
        for name, own in self.scope.arrays.items():
            options += slices_of(name, own, shape)
        if len(shape) == 1:
            places = ", ".join(str(self.choose(LENGTH)) for _ in range(shape[0]))
            options.append(f"{self.pick(self.of_shape((LENGTH,)))}[np.array([{places}])]")
        if not options:
            return f"np.full({shape}, {self.scalar(0)})"
        return str(self.pick(options))

    def test(self) -> str:
        """A condition."""
        kind = self.choose(6)
        if kind == 1 and self.scope.integers:
            return f"{self.pick(self.scope.integers)} {self.pick(('==', '<', '>='))} {self.choose(3)}"
        if kind == 2:
            return f"{self.scalar(1)} < {self.scalar(0)}"
        if kind == 3:
            return f"not ({self.scalar(0)} > {self.pick(LIMITS)}) {self.pick(('and', 'or'))} {self.scalar(0)} < {self.pick(LIMITS)}"
        if kind == 4:
            return f"-0.8 < {self.scalar(0)} <= {self.pick(LIMITS)}"
        return f"{self.scalar(1)} > {self.pick(LIMITS)}"

    # -------------------------------------------------------------- statements

    def statement(self) -> None:
        self.budget -= 1
        STATEMENTS[self.choose(len(STATEMENTS))](self)

    def top(self) -> bool:
        return self.depth == 1

    def scalar_assignment(self) -> None:
        text = self.scalar()
        own = [s for s in self.scope.scalars if s != "w"]
        if own and self.choose(3):
            self.write(f"{self.pick(own)} = {text}")
        else:
            self.write(f"{self.name_scalar()} = {text}")

    def scalar_augmented(self) -> None:
        own = [s for s in self.scope.scalars if s != "w"]
        if own:
            self.write(str(self.pick(AUGMENTED)).format(self.pick(own), self.scalar(1)))

    def name_scalar(self) -> str:
        name = self.new("s")
        self.scope.scalars.append(name)
        return name

    def array_assignment(self) -> None:
        shape = self.pick(((LENGTH,), (LENGTH,), (ROWS, LENGTH), (LENGTH - 1,)))
        text = self.array(shape)
        own = [a for a in self.of_shape(shape) if a != "x" and a not in self.shared]
        if text.isidentifier() or "[" in text and not text.endswith(")"):
            text = f"{text} * 1.0"
        if own and self.choose(2):
            self.write(f"{self.pick(own)} = {text}")
        else:
            self.write(f"{self.name_array(shape)} = {text}")

    def name_array(self, shape: Shape) -> str:
        name = self.new("y")
        self.scope.arrays[name] = shape
        return name

    def created(self) -> None:
        shape = self.pick(((LENGTH,), (ROWS, LENGTH)))
        form = self.pick(("np.zeros({0})", "np.ones({0})", "np.full({0}, {1})", "np.zeros_like({2})", "{2}.copy()"))
        model = self.of_shape(shape)
        if "{2}" in form and not model:
            form = "np.zeros({0})"
        text = form.format(shape if len(shape) > 1 else shape[0], self.scalar(1), self.pick(model) if model else "")
        self.write(f"{self.name_array(shape)} = {text}")

    def alias(self) -> None:
        old = self.pick(self.scope.arrays)
        self.shared.add(old)
        name = self.name_array(self.scope.arrays[old])
        self.shared.add(name)
        self.write(f"{name} = {old}")

    def view(self) -> None:
        old = self.pick(self.scope.arrays)
        own = self.scope.arrays[old]
        text, shape = self.pick(views_of(old, own, self.index))
        self.shared.add(old)
        name = self.name_array(shape)
        self.shared.add(name)
        self.write(f"{name} = {text}")

    def element_store(self) -> None:
        self.write(f"{self.element()} = {self.scalar()}")

    def element_augmented(self) -> None:
        self.write(str(self.pick(AUGMENTED)).format(self.element(), self.scalar(1)))

    def slice_store(self) -> None:
        name = self.pick(self.scope.arrays)
        target, shape = self.pick(views_of(name, self.scope.arrays[name], self.index))
        value = self.array(shape, 1) if self.choose(3) else self.scalar(1)
        # NumPy does not look for overlap where the strides of two vectors differ in size, so such a store has no meaning of its own
        bare = re.fullmatch(r"(\w+)(\[[^()]*\])?", value)
        if bare and shape and ("::2" in target or "::2" in value or {name, bare[1]} & self.shared):
            value = f"{value} * 1.0"
        self.write(f"{bracketed(target)} = {value}")

    def slice_augmented(self) -> None:
        name = self.pick(self.scope.arrays)
        target, shape = self.pick(views_of(name, self.scope.arrays[name], self.index))
        value = self.array(shape, 1) if self.choose(3) else self.scalar(1)
        self.write(str(self.pick(AUGMENTED)).format(bracketed(target), value))

    def whole_augmented(self) -> None:
        name = self.pick(self.scope.arrays)
        value = self.array(self.scope.arrays[name], 1) if self.choose(3) else self.scalar(1)
        self.write(str(self.pick(AUGMENTED)).format(name, value))

    def gathered_store(self) -> None:
        name = self.pick(self.of_shape((LENGTH,)))
        places = ", ".join(str(self.choose(LENGTH)) for _ in range(3))
        target = f"{name}[np.array([{places}])]"
        value = self.part((3,)) if self.choose(2) else self.scalar(1)
        if self.choose(2):
            self.write(str(self.pick(AUGMENTED)).format(target, value))
        else:
            self.write(f"{target} = {value}")

    def masked_store(self) -> None:
        name = self.pick(self.scope.arrays)
        target = f"{name}[{name} > {self.pick(LIMITS)}]"
        if self.choose(2):
            self.write(str(self.pick(AUGMENTED)).format(target, self.scalar(1)))
        else:
            self.write(f"{target} = {self.scalar(1)}")

    def variable_slice(self) -> None:
        fits = [name for name, (low, high) in self.scope.integers.items() if low >= 0]
        if fits:
            k = self.pick(fits)
            target = f"{self.pick(self.of_shape((LENGTH,)))}[{self.pick((f'{k}:', f':{k}', f'{k}:{k} + 2', f'{k}::2'))}]"
            self.write(str(self.pick(AUGMENTED)).format(target, self.scalar(1)))

    def swap(self) -> None:
        for shape in ((LENGTH,), (ROWS, LENGTH)):
            own = [a for a in self.of_shape(shape) if a != "x" and a not in self.shared]
            if len(own) > 1:
                self.write(f"{own[0]}, {own[-1]} = {own[-1]}, {own[0]}")
                return
        own = [s for s in self.scope.scalars if s != "w"]
        if len(own) > 1:
            self.write(f"{own[0]}, {own[-1]} = {own[-1]}, 0.9 * {own[0]}")

    def branch(self) -> None:
        self.write(f"if {self.test()}:")
        with self.block():
            self.statements(3)
            if self.returns and self.rarely(8):
                self.write(f"return {self.scalar()}")
            elif self.loops and not self.choose(3):
                self.write(self.pick(("break", "continue")))
        if self.choose(2):
            self.write("else:")
            with self.block():
                self.statements(3)

    def loop(self) -> None:
        if self.loops > 1:
            return self.scalar_assignment()
        LOOPS[self.choose(len(LOOPS))](self)
        self.loops -= 1
        if self.rarely(5):
            self.write("else:")
            with self.block():
                self.statements(2)
        return None

    def inside(self) -> None:
        self.loops += 1
        self.statements(3)
        if not self.choose(3):
            self.exit()
            self.statements(2)

    def exit(self) -> None:
        """Leaves the loop, the round or the function where a condition holds."""
        self.write(f"if {self.test()}:")
        with self.block():
            if self.choose(2):
                self.statements(2)
            self.write(self.pick(("break", "continue", "break", self.way_out())))

    def way_out(self) -> str:
        return f"return {self.scalar(1)}" if self.returns else "break"

    def range_loop(self) -> None:
        i = self.new("i")
        text, low, high = self.pick(
            (
                (f"{LENGTH}", 0, LENGTH - 1),
                (f"1, len({self.pick(self.of_shape((LENGTH,)))})", 1, LENGTH - 1),
                ("3, -1, -1", 0, 3),
                ("0, 5, 2", 0, 4),
                ("3", 0, 2),
                ("2, 2", 0, 0),
            )
        )
        self.write(f"for {i} in range({text}):")
        with self.block():
            self.scope.integers[i] = (low, high)
            self.inside()

    def array_loop(self) -> None:
        a = self.new("s")
        source = f"{self.pick(self.of_shape((LENGTH,)))}.copy()"
        form = self.choose(3)
        if form == 1:
            i = self.new("i")
            self.write(f"for {i}, {a} in enumerate({source}):")
            with self.block():
                self.scope.integers[i] = (0, LENGTH - 1)
                self.scope.scalars.append(a)
                self.inside()
        elif form == 2:
            b = self.new("s")
            self.write(f"for {a}, {b} in zip({source}, {self.array((LENGTH,), 1)}):")
            with self.block():
                self.scope.scalars += [a, b]
                self.inside()
        else:
            self.write(f"for {a} in {source}:")
            with self.block():
                self.scope.scalars.append(a)
                self.inside()

    def row_loop(self) -> None:
        matrices = self.of_shape((ROWS, LENGTH))
        if not matrices:
            return self.range_loop()
        row = self.new("y")
        name = self.pick(matrices)
        self.shared |= {name, row}
        self.write(f"for {row} in {name}:")
        with self.block():
            self.scope.arrays[row] = (LENGTH,)
            self.inside()
        return None

    def counted_while(self) -> None:
        k = self.new("k")
        self.write(f"{k} = 0")
        extra = "" if self.choose(2) else f" and {self.scalar(1)} < {self.pick(('0.9', '0.5', '1.4'))}"
        self.write(f"while {k} < {1 + self.choose(4)}{extra}:")
        with self.block():
            self.write(f"{k} += 1")
            self.scope.integers[k] = (1, 4)
            self.inside()

    def item_of_dict(self) -> str:
        return str(self.pick(self.scope.dicts)) + str(self.pick(('["a"]', '["b"]')))

    def dict_made(self) -> None:
        name = self.new("d")
        self.write(f'{name} = {{"a": {self.scalar(1)}, "b": {self.scalar(1)}}}')
        self.scope.dicts.append(name)

    def dict_changed(self) -> None:
        if not self.scope.dicts:
            return self.dict_made()
        target = self.item_of_dict()
        if self.choose(2):
            self.write(str(self.pick(AUGMENTED)).format(target, self.scalar(1)))
        else:
            self.write(f"{target} = {self.scalar()}")
        return None

    def nested_function(self) -> None:
        """A function of one number that reads what stands around it."""
        name = self.new("h")
        if self.choose(2):
            self.write(f"{name} = lambda u: np.sin(u) * {self.scalar(1)}")
        else:
            self.write(f"def {name}(u):")
            with self.block():
                held, self.loops = self.loops, 2  # a break in it would be its own
                self.scope = Scope(self.scope.arrays, [*self.scope.scalars, "u"], self.scope.integers)
                if self.choose(2):
                    self.write(f"if {self.scalar(0)} > {self.pick(LIMITS)}:")
                    with self.block():
                        self.write(f"return {self.scalar(1)}")
                self.write(f"return 0.5 * u + {self.scalar(1)}")
                self.loops = held
        self.scope.functions.append(name)

    def rows_made(self) -> None:
        name = self.new("r")
        source = self.pick(self.of_shape((LENGTH,)))
        factor = self.pick(("item", "np.cos(item)", self.scalar(0)))
        self.write(f"{name} = [{factor} * {self.pick(self.of_shape((LENGTH,)))} for item in {source}{self.pick(('', '[:2]'))}]")
        self.scope.rows.append(name)

    def rows_appended(self) -> None:
        if self.scope.rows:
            self.write(f"{self.pick(self.scope.rows)}.append({self.array((LENGTH,), 1)} * 1.0)")
        else:
            self.rows_made()

    def pair(self) -> None:
        """Two names at once, from a swap, a star, or a call."""
        a, b = self.new("s"), self.new("s")
        form = self.choose(3)
        if form == 1:
            self.write(f"{a}, *_, {b} = {self.pick(self.of_shape((LENGTH,)))}")
        elif form == 2:
            self.write(f"{a}, {b} = divided({self.scalar(1)}, by={self.scalar(1)})")
        else:
            self.write(f"{a} = {b} = {self.scalar(1)}")
        self.scope.scalars += [a, b]

    def matched(self) -> None:
        """A match on an integer, or on a pair."""
        if self.scope.integers and self.choose(2):
            self.write(f"match {self.pick(self.scope.integers)} % 3:")
            cases: list[tuple[str, list[str]]] = [("0", []), ("1 | 2", [])]
        else:
            self.write(f"match ({self.scalar(0)}, {self.scalar(0)}):")
            one, two = self.new("s"), self.new("s")
            cases = [(f"({one}, {two}) if {one} < {two} + {self.pick(LIMITS)}", [one, two]), ("_", [])]
        self.depth += 1
        for pattern, names in cases:
            self.write(f"case {pattern}:")
            with self.block():
                self.scope.scalars += names
                self.statements(2)
        self.depth -= 1

    def walrus(self) -> None:
        text = self.scalar(1)
        self.write(f"if ({self.name_scalar()} := {text}) > {self.pick(LIMITS)}:")
        with self.block():
            self.statements(2)

    def growing_loop(self) -> None:
        """A vector that is first bound in a loop, of another length in each round, and read after it."""
        i, name = self.new("i"), self.new("z")
        source = self.pick(self.of_shape((LENGTH,)))
        self.write(f"for {i} in range({2 + self.choose(3)}):")
        with self.block():
            self.scope.integers[i] = (0, LENGTH - 1)
            self.write(f"{name} = {source}[{self.pick((f': {i} + 1', f'{i}:', f': 1 + {i} % 2'))}] * {self.scalar(1)}")
            self.scope.vectors.append(name)
            self.inside()
        self.scope.vectors.append(name)

    def endless_loop(self) -> None:
        k = self.new("k")
        self.write(f"{k} = 0")
        self.write("while True:")
        with self.block():
            self.write(f"{k} += 1")
            self.scope.integers[k] = (1, 4)
            self.write(f"if {k} > {1 + self.choose(3)}:")
            with self.block():
                self.write(self.pick(("break", "break", self.way_out())))
            self.inside()

    def list_made(self) -> None:
        name = self.new("v")
        text = self.pick((f"[{self.scalar(1)}]", f"[item * {self.scalar(0)} for item in {self.pick(self.of_shape((LENGTH,)))}]"))
        self.write(f"{name} = {text}")
        self.scope.lists.append(name)

    def list_appended(self) -> None:
        if self.scope.lists:
            self.write(f"{self.pick(self.scope.lists)}.append({self.scalar(1)})")
        else:
            self.list_made()

    def helper_called(self) -> None:
        """A call for what it does to its argument."""
        if not self.helpers:
            return self.scalar_assignment()
        helper = self.pick(self.helpers)
        target = self.pick(self.of_shape((LENGTH,)))
        if self.helpers[helper]:
            self.write(f"{helper}({target}, {self.scalar(1)})")
        else:
            text = f"{helper}({target}, {self.scalar(1)})"
            self.write(f"{self.name_scalar()} = {text}")
        return None


STATEMENTS: tuple[Callable[[Writer], None], ...] = (
    Writer.scalar_assignment, Writer.array_assignment, Writer.element_store, Writer.slice_store, Writer.scalar_assignment,
    Writer.element_augmented, Writer.array_assignment, Writer.slice_augmented, Writer.view, Writer.whole_augmented, Writer.branch,
    Writer.loop, Writer.created, Writer.loop, Writer.branch, Writer.scalar_augmented, Writer.alias, Writer.gathered_store,
    Writer.masked_store, Writer.variable_slice, Writer.swap, Writer.list_appended, Writer.helper_called, Writer.view, Writer.dict_made,
    Writer.dict_changed, Writer.nested_function, Writer.rows_appended, Writer.pair, Writer.matched, Writer.walrus, Writer.loop,
)  # fmt: skip
LOOPS: tuple[Callable[[Writer], None], ...] = (
    Writer.range_loop, Writer.array_loop, Writer.range_loop, Writer.counted_while, Writer.row_loop, Writer.growing_loop,
    Writer.endless_loop,
)  # fmt: skip


def enclosed(text: str) -> str:
    """The expression as an operand of anything.

    >>> enclosed("-x"), enclosed("x")
    ('(-x)', 'x')
    """
    return text if text.isidentifier() or re.fullmatch(r"\w+\[[\w:, -]*\]|[\d.]+", text) else f"({text})"


def bracketed(target: str) -> str:
    """The target of a store: a name alone would be rebound."""
    return f"{target}[:]" if target.isidentifier() or not target.endswith("]") else target


def slices_of(name: str, own: Shape, target: Shape) -> list[str]:
    """The slices of an array of shape ``own`` that have the shape wanted."""
    options = []
    if len(own) == len(target) == 1 and own[0] >= target[0]:
        gap = own[0] - target[0]
        options = [f"{name}[::-1]"] if gap == 0 else [f"{name}[{gap}:]", f"{name}[:-{gap}]", f"{name}[:{target[0]}]"]
    if len(own) == 2 and len(target) == 1:
        options = [f"{name}[1]", f"{name}[-1]"] if own[1] == target[0] else [f"{name}[:, {own[1] // 2}]"] if own[0] == target[0] else []
    if own == target and len(own) == 2:
        options = [f"{name}[::-1]", f"{name}[:, ::-1]"]
    return options


def views_of(name: str, own: Shape, index: Callable[[int], str]) -> list[tuple[str, Shape]]:
    """Views of an array, each with its shape."""
    if len(own) == 1:
        n = own[0]
        options = [(f"{name}[:]", own), (f"{name}[::-1]", own), (f"{name}[::2]", ((n + 1) // 2,))]
        if n > 2:
            options += [(f"{name}[1:]", (n - 1,)), (f"{name}[:-1]", (n - 1,)), (f"{name}[1:-1]", (n - 2,)), (f"{name}[:2]", (2,))]
        return options
    rows, columns = own
    return [
        (f"{name}[{index(rows)}]", (columns,)), (f"{name}[:, {index(columns)}]", (rows,)), (f"{name}[1:]", (rows - 1, columns)),
        (f"{name}[:, 1:3]", (rows, 2)), (f"{name}[0, ::2]", ((columns + 1) // 2,)), (f"{name}.T[1]", (rows,)),
        (f"{name}.reshape(-1)", (rows * columns,)),
    ] if rows > 1 and columns > 2 else [(f"{name}[0]", (columns,))]  # fmt: skip


def helper_text(choose: Callable[[int], int], name: str, gives_array: bool) -> list[str]:
    """A function of an array, to which it may write, and a number."""
    # a helper that gives an array ends in its last line, so that it has one kind of result
    writer = Writer(choose, 1 + choose(3), Scope({"a": (LENGTH,)}, ["t"]), returns=not gives_array)
    while writer.budget > 0:
        writer.statement()
    result = f"np.tanh(a) * {writer.scalar(1)}" if gives_array else writer.scalar()
    return [f"def {name}(a, t):", *writer.lines, f"    return {result}", ""]


def program_text(choose: Callable[[int], int], size: int = 14) -> str:
    """The source of ``f(x, w)`` and of the functions it calls."""
    helpers = {f"g{k}": bool(choose(2)) for k in range(choose(3))}
    lines = ["import math", "", "import numpy as np", "", ""]
    lines += ["def divided(t, *, by=2.0):", "    return t / (1.2 + by**2), np.tanh(by)", "", ""]
    for name, gives_array in helpers.items():
        lines += [*helper_text(choose, name, gives_array), ""]
    writer = Writer(choose, 2 + choose(size), Scope({"x": (LENGTH,)}, ["w"]), helpers=helpers)
    while writer.budget > 0:
        writer.statement()
    terms = ["w * np.sum(x)"]
    terms += [f"np.sum(np.sin({name}))" for name in writer.scope.arrays if name != "x"]
    terms += [name for name in writer.scope.scalars if name != "w"] + [f"sum({name})" for name in writer.scope.lists]
    terms += [f"np.sum(np.sin({name}))" for name in writer.scope.vectors] + [f'{name}["a"] * {name}["b"]' for name in writer.scope.dicts]
    terms += [f"np.sum(np.tanh({name}[-1]))" for name in writer.scope.rows] + [f"{name}(w)" for name in writer.scope.functions]
    return "\n".join([*lines, "def f(x, w):", *writer.lines, f"    return {' + '.join(terms)}", ""])


def random_program(seed: int, size: int = 14) -> str:
    """A program drawn without Hypothesis; the same seed always gives the same text."""
    return program_text(random.Random(seed).randrange, size)


@st.composite
def programs(draw: Callable[[Any], Any], size: int = 14) -> str:
    """Source texts of random functions ``f(x, w)``."""
    return program_text(lambda n: int(draw(st.integers(0, n - 1))), size)


def arguments() -> tuple[np.ndarray, float]:
    """Arguments for a random program."""
    return np.array([0.83, -0.41, 0.57, 1.12, -0.29]), 0.64


def odd_arguments() -> Iterator[tuple[np.ndarray, float]]:
    """Arguments of the same types: lengths at which programs raise, another layout, zeros, numbers that are not finite."""
    x, w = arguments()
    yield from ((np.resize(0.9 * x, n), w) for n in (0, 1, 3, 4, 7))
    yield np.repeat(x, 2)[::2], w
    yield np.zeros_like(x), 0.0
    for place, number in ((1, np.nan), (2, np.inf), (0, -np.inf)):
        changed = x.copy()
        changed[place] = number
        yield changed, w
        yield x, number


@contextmanager
def loaded(text: str, name: str = "<random program>") -> Iterator[Callable[..., Any]]:
    """The function of a program, with its source in reach of ``inspect`` for as long as it is needed."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: dict[str, Any] = {"__name__": "random_program"}
    exec(compile(text, name, "exec"), module)
    try:
        yield module["f"]
    finally:
        linecache.cache.pop(name, None)
