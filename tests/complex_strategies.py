"""Random choices to the source text of a function ``f(z, x, c, r)`` of complex and of real numbers, whose result is real.

``z`` and ``c`` are complex, ``x`` and ``r`` real; ``z`` and ``x`` are vectors. All growth is linear, all loops are short.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from strategies import Draft

LENGTH = 4
ARGUMENTS = (
    np.array([0.5 + 0.3j, -0.4 + 0.8j, 0.7 - 0.6j, -0.2 - 0.9j]), np.array([0.4, -0.7, 0.9, 0.2]), 0.6 - 0.5j, 0.8,
)  # fmt: skip
#: of vectors and of numbers alike, to complex ones
UNARY = (
    "np.conj({})", "0.5j * {}", "np.exp(0.4j * {})", "np.sin(0.5 * {})", "np.tanh(0.4 * {})", "{0} * np.conj({0}) * 0.4", "-{}", "1.0 / (2.5 + {})",
    "np.sqrt(2.0 + {})", "np.log(3.0 + {})", "np.square(0.7 * {})", "0.4 * {} ** 2", "(2.0 + {}) ** 0.5", "{}.conjugate()", "np.real({}) + 1j * np.imag({})",
    "(1.2 ** {}) * 0.5", "np.where(np.real({0}) > 0.11, {0}, 0.4 * {0})",
)  # fmt: skip
BINARY = ("0.5 * ({} + {})", "0.6 * {} * {}", "{} / (2.2 + {})", "0.5 * ({} - {})", "np.conj({}) * 0.5 * {}", "0.3 * {} + 0.6j * {}")
#: of vectors, to vectors
ALONG = (
    "np.fft.fft({}) * 0.4", "np.fft.ifft({})", "np.fft.rfft(np.real({0}), 7) * 0.4", "np.fft.irfft({0}, 4) + 0j", "np.cumsum({}) * 0.4", "np.flip({})", "np.roll({}, 1)",
    "np.concatenate([{0}[1:], {0}[:1]])", "np.outer({0}, {0})[1] * 0.5", "np.outer({0}, {0}) @ {0} * 0.2", "np.stack([{0}, 0.5 * {0}]).T[:, 1]",
    "np.linalg.solve(np.outer({0}, {0}) * 0.2 + 2.0 * np.eye(4), {0})", "{0}[[0, 2, 2, 1]]", "np.fft.fftshift({})", "np.convolve({}, [0.5, 0.2j])[1:]",
)  # fmt: skip
#: of vectors, to numbers
REDUCTIONS = (
    "np.sum({})",
    "np.mean({})",
    "np.dot({0}, {0}) * 0.3",
    "np.vdot({0}, {0}) * 0.3",
    "np.prod({} * 0.9)",
    "{}[1]",
    "{}[-1]",
    "np.linalg.norm(2.0 + {}) + 0j",
)
#: of complex numbers, to real ones
REAL = ("{}.real", "{}.imag", "0.5 * abs(0.2 + {})", "np.real({})", "0.4 * abs({}) ** 2", "0.3 * np.angle(3.0 + {})")
AUGMENTED = ("{} *= 0.6j", "{} += 0.3 * np.conj({})", "{} -= 0.2 * {}", "{} /= 2.2 + {}")
TESTS = ("abs({}) > 0.43", "{}.real > 0.12", "{}.imag < 0.07", "i % 2 == 0", "r > 0.3")


@dataclass
class Names:
    """What may be named: complex vectors and numbers, and real ones."""

    vectors: list[str] = field(default_factory=lambda: ["z"])
    numbers: list[str] = field(default_factory=lambda: ["c"])
    reals: list[str] = field(default_factory=lambda: ["r"])
    real_vectors: list[str] = field(default_factory=lambda: ["x"])
    counters: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)

    def inner(self) -> Names:
        return Names(*(list(names) for names in vars(self).values()))


class Writer(Draft):
    """Writes one function."""

    def vector(self, depth: int = 2) -> str:
        kind = self.choose(6 if depth else 1)
        match kind:
            case 1:
                return "(" + self.pick(UNARY).format(*[self.vector(depth - 1)] * 2) + ")"
            case 2:
                return "(" + self.pick(BINARY).format(self.vector(depth - 1), self.vector(depth - 1)) + ")"
            case 3:
                return "(" + self.pick(BINARY).format(self.vector(depth - 1), self.number(depth - 1)) + ")"
            case 4:
                return f"({self.vector(depth - 1)} * {self.pick(self.scope.real_vectors)})"
            case 5:
                text = self.pick(ALONG).format(self.vector(0))
                return text if text.endswith(")") else f"({text})"
        return str(self.pick(self.scope.vectors))

    def number(self, depth: int = 2) -> str:
        kind = self.choose(7 if depth else 2)
        match kind:
            case 1 if self.scope.lists:
                return f"{self.pick(self.scope.lists)}[{self.pick(('0', '-1'))}]"
            case 2:
                return "(" + self.pick(UNARY).format(*[self.number(depth - 1)] * 2) + ")"
            case 3:
                return "(" + self.pick(BINARY).format(self.number(depth - 1), self.number(depth - 1)) + ")"
            case 4:
                return "(" + self.pick(REDUCTIONS).format(self.pick(self.scope.vectors)) + ")"
            case 5:
                return f"complex({self.real(depth - 1)}, {self.real(depth - 1)})"
            case 6:
                return f"({self.number(depth - 1)} * {self.real(depth - 1)})"
        return str(self.pick(self.scope.numbers))

    def real(self, depth: int = 1) -> str:
        if depth and self.choose(3):
            return "(" + self.pick(REAL).format(self.number(depth - 1)) + ")"
        return str(self.pick(self.scope.reals))

    def test(self) -> str:
        text = str(self.pick(TESTS))
        return self.test() if "i %" in text and "i" not in self.scope.counters else text.format(self.number(0))

    # -------------------------------------------------------------- statements

    def statement(self) -> None:
        self.budget -= 1
        self.pick(
            (self.new_number, self.new_vector, self.again, self.store, self.loop, self.branch, self.filled, self.listed, self.new_real)
        )()

    def new_number(self) -> None:
        text, name = self.number(), self.new("n")
        self.write(f"{name} = {text} * 1.0")
        self.scope.numbers.append(name)

    def new_real(self) -> None:
        text, name = self.real(), self.new("q")
        self.write(f"{name} = {text}")
        self.scope.reals.append(name)

    def new_vector(self) -> None:
        text, name = self.vector(), self.new("v")
        self.write(f"{name} = {text} * 1.0")
        self.scope.vectors.append(name)

    def own(self) -> list[str]:
        return [name for name in self.scope.vectors if name != "z"]

    def again(self) -> None:
        if self.own() and self.choose(2):
            self.write(self.pick(AUGMENTED).format(self.pick(self.own()), self.vector(1)))
        else:
            name = self.pick(self.scope.numbers)
            self.write(f"{name} = 0.7 * {name} + {self.number(1)} * 0.3j")

    def store(self) -> None:
        if not self.own():
            return self.new_vector()
        name, place = self.pick(self.own()), self.pick(["0", "-1", "2", *(f"{i} % 4" for i in self.scope.counters)])
        forms = (
            "{0}[{1}] = {2}",
            "{0}[{1}] += 0.3 * {2}",
            "{0}[1:] = 0.5 * {0}[:-1]",
            "{0}[:2] *= {2}",
            "{0}[[0, 2]] = {3}[:2]",
            "{0}[{1}] = {4}",
        )
        return self.write(self.pick(forms).format(name, place, self.number(1), self.vector(1), self.real()))

    def filled(self) -> None:
        name = self.new("v")
        self.write(f"{name} = np.zeros(4, dtype=complex)")
        self.scope.vectors.append(name)
        self.write(f"{name}[{self.choose(4)}] = {self.number(1)}")

    def listed(self) -> None:
        name = self.new("l")
        self.write(f"{name} = [{self.number(1)} * 1.0 for k in range(3)]")
        self.scope.lists.append(name)
        self.write(f"{name}.append({self.number(1)} * 1.0)")

    def loop(self) -> None:
        if self.depth > 2:
            return self.new_number()
        index = "i" if "i" not in self.scope.counters else "j"
        self.write(f"for {index} in range({1 + self.choose(3)}):")
        with self.block():
            self.scope.counters.append(index)
            return self.statements(3)

    def branch(self) -> None:
        if self.depth > 2:
            return self.new_vector()
        return self.either(2)


def written(choose: Any, budget: int = 9) -> str:
    """The text of one function."""
    writer = Writer(choose, budget, Names())
    while writer.budget > 0:
        writer.statement()
    vectors, numbers = (" + ".join(names[-3:]) for names in (writer.scope.vectors, writer.scope.numbers))
    all_arguments = "0.1 * (np.sum(x * x) * r + abs(c * z[0]))"
    linear = f"np.sum(({vectors}) * (0.2 - 0.7j)).imag + {writer.scope.reals[-1]}"
    writer.write(f"return np.sum(np.abs(0.3 + {vectors}) ** 2) + abs({numbers}) ** 2 + {linear} + {all_arguments}")
    return "\n".join(["import numpy as np", "", "", "def f(z, x, c, r):", *writer.lines, ""])


def random_complex_program(seed: int) -> str:
    """One text by its number."""
    return written(random.Random(seed).randrange)


@st.composite
def complex_programs(draw: Any) -> str:
    """Texts that shrink."""
    return written(lambda count: draw(st.integers(0, count - 1)))
