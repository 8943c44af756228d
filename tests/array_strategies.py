"""Random choices to the source text of a function ``f(x, m, w)`` of a vector, a matrix and a number, and its arguments.

The second kind of random programs, beside those of ``strategies``: matrices, reductions over axes, products, masks, gathers, scatters,
containers of arrays, nested functions that store, and extents of 0 and 1. Every array's shape is known while its program is written.
Values stay finite, and smooth away from the tests of branches, by the same rules.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from strategies import LIMITS, Draft, Shape, enclosed

#: extents of the vector, and of the matrix; the first are drawn as often as all others together
EXTENTS = ((4, (3, 4)), (3, (3, 3)), (1, (2, 3)), (0, (2, 3)), (4, (1, 4)), (3, (3, 1)), (2, (0, 2)), (2, (2, 0)), (1, (1, 1)))

UNARY = (
    "np.sin({})", "np.tanh({})", "0.5 * {}", "-{}", "np.cos({})", "np.exp(-{} ** 2)", "np.abs({})", "1.0 / (1.3 + {} ** 2)",
    "np.sqrt(0.4 + {} ** 2)", "np.clip({}, -0.45, 0.75)", "{} - 0.3", "np.log1p({} ** 2)", "np.square(np.sin({}))",
)  # fmt: skip
BINARY = (
    "0.5 * ({} + {})", "np.tanh({}) * {}", "0.5 * ({} - {})", "{} / (1.2 + {} ** 2)", "np.maximum({}, 0.3 * {})", "np.sin({}) * {}",
    "np.minimum({}, {} + 0.2)", "0.4 * np.hypot({}, 0.2 + np.abs({}))", "np.add({}, 0.5 * {})",
)  # fmt: skip
#: over an axis that is not empty, and over any
REDUCTIONS = ("np.mean({}, {})", "np.max({}, {})", "np.min({}, {})", "np.var({}, {})", "np.sqrt(0.2 + np.var({}, {}))", "np.ptp({}, {})")
SUMS = ("np.sum({}, {})", "np.tanh(np.sum({}, {}))", "np.prod(np.tanh({}), {})", "{}.sum({})", "np.sum(np.square({}), {})")
#: of an array and an axis, to the same shape
ALONG = (
    "0.4 * np.cumsum({}, axis={})", "np.flip({}, axis={})", "np.roll({}, 1, axis={})", "np.sort({}, axis={})",
    "np.cumprod(np.cos({}), axis={})",
)  # fmt: skip
AUGMENTED = ("{} += 0.3 * {}", "{} *= np.cos({})", "{} -= 0.2 * np.tanh({})", "{} /= 1.2 + np.sin({}) ** 2", "{} = 0.6 * {}")
COMPARED = ("{} > {}", "{} < {}", "{} >= {}")


@dataclass
class Names:
    """What may be named at the point of writing."""

    arrays: dict[str, Shape] = field(default_factory=dict)
    scalars: list[str] = field(default_factory=list)
    masks: dict[str, Shape] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)  #: single bools
    integers: dict[str, tuple[int, int]] = field(default_factory=dict)  #: with their bounds
    dicts: dict[str, dict[str, Shape]] = field(default_factory=dict)
    lists: dict[str, Shape] = field(default_factory=dict)  #: of arrays of one shape, not empty
    functions: dict[str, tuple[Shape, Shape]] = field(default_factory=dict)  #: nested, of one array

    def inner(self) -> Names:
        return Names(dict(self.arrays), list(self.scalars), dict(self.masks), list(self.flags), dict(self.integers), dict(self.dicts),
                     dict(self.lists), dict(self.functions))  # fmt: skip


@dataclass
class ArrayWriter(Draft):
    """Writes one function; the extents of its arguments are ``extents``."""

    scope: Names = field(kw_only=True)
    extents: tuple[int, ...] = field(kw_only=True)
    helpers: dict[str, Helper] = field(default_factory=dict)
    loops: int = 0

    # -------------------------------------------------------------- numbers, places, tests

    def shape(self) -> Shape:
        """One that occurs, or one of these extents."""
        if self.choose(3):
            return tuple(self.pick(list(self.scope.arrays.values())))
        return tuple(self.pick(self.extents) for _ in range(1 + self.choose(2)))

    def place(self, extent: int) -> str:
        """An index that is valid for an axis of that extent, which is not 0."""
        fits = [name for name, (low, high) in self.scope.integers.items() if -extent <= low and high < extent]
        kind = self.choose(4)
        if kind == 1 and fits:
            return str(self.pick(fits))
        if kind == 2 and self.scope.integers:
            return f"({self.pick(list(self.scope.integers))} + {1 + self.choose(3)}) % {extent}"
        return str(-1 - self.choose(extent) if kind == 3 else self.choose(extent))

    def places(self, extent: int, count: int) -> str:
        text = ", ".join(str(self.choose(2 * extent) - extent) for _ in range(count))
        return f"[{text}]" if count and self.choose(2) else f"np.array([{text}], dtype=int)"

    def element(self) -> str:
        full = {name: own for name, own in self.scope.arrays.items() if prod(own)}
        if not full:
            return str(self.pick(LIMITS))
        name = self.pick(list(full))
        return f"{name}[{', '.join(self.place(extent) for extent in full[name])}]"

    def scalar(self, depth: int = 2) -> str:
        kind = self.choose(10 if depth else 3)
        match kind:
            case 0 if self.scope.scalars:
                return str(self.pick(self.scope.scalars))
            case 1:
                return str(self.pick(LIMITS))
            case 3:
                return str(self.pick(UNARY)).format(enclosed(self.scalar(depth - 1)))
            case 4:
                return str(self.pick(BINARY)).format(enclosed(self.scalar(depth - 1)), enclosed(self.scalar(depth - 1)))
            case 5 | 6:
                return self.reduced(depth)
            case 7:
                return f"({self.scalar(depth - 1)} if {self.test(0)} else {self.scalar(depth - 1)})"
            case 8 if self.scope.flags:
                return f"0.5 * {self.pick(self.scope.flags)}"
            case 9:
                shape = self.shape()
                return f"np.tanh(np.vdot({self.array(shape, 0)}, {self.array(shape, 0)}))"
        return self.element()

    def reduced(self, depth: int) -> str:
        shape = self.shape()
        text = self.array(shape, depth - 1)
        if prod(shape) and self.choose(2):
            return str(self.pick(("np.mean({})", "np.max({})", "np.min({})", "0.5 * np.var({})", "np.median({})"))).format(text)
        return str(self.pick(("np.tanh(np.sum({}))", "np.sin(np.sum({}))", "np.prod(np.cos({}))"))).format(text)

    def test(self, depth: int = 1) -> str:
        kind = self.choose(6)
        if kind == 1 and self.scope.integers:
            return f"{self.pick(list(self.scope.integers))} {self.pick(('==', '<', '>='))} {self.choose(3)}"
        if kind == 2 and self.scope.flags:
            return f"{self.pick(('', 'not '))}{self.pick(self.scope.flags)}"
        if kind == 3 and depth:
            return f"np.{self.pick(('any', 'all'))}({self.mask(self.shape(), 0)})"
        if kind == 4 and depth:
            return f"{self.test(0)} {self.pick(('and', 'or'))} {self.test(0)}"
        return f"{self.scalar(depth)} > {self.pick(LIMITS)}"

    def mask(self, shape: Shape, depth: int = 1) -> str:
        named = [name for name, own in self.scope.masks.items() if own == shape]
        kind = self.choose(5)
        if kind == 1 and named:
            return str(self.pick(named))
        if kind == 2 and depth:
            return f"({self.mask(shape, 0)} {self.pick(('&', '|'))} {self.mask(shape, 0)})"
        if kind == 3 and depth:
            return f"~{self.mask(shape, 0)}"
        compared = str(self.pick(COMPARED)).format(enclosed(self.array(shape, depth)), self.pick((*LIMITS, enclosed(self.scalar(0)))))
        return f"({compared})"

    # -------------------------------------------------------------- arrays

    def named(self, shape: Shape) -> list[str]:
        """All that has a name and that shape."""
        options = [name for name, own in self.scope.arrays.items() if own == shape]
        options += [f'{name}["{key}"]' for name, keys in self.scope.dicts.items() for key, own in keys.items() if own == shape]
        options += [f"{name}[{place}]" for name, own in self.scope.lists.items() if own == shape for place in ("0", "-1")]
        return options

    def array(self, shape: Shape, depth: int = 2) -> str:
        """An expression of an array of that shape, which may be a view."""
        forms = FORMS if depth else FORMS[:2]
        text = forms[self.choose(len(forms))](self, shape, depth - 1)
        return text if text is not None else self.simple(shape, depth)

    def simple(self, shape: Shape, depth: int) -> str:
        names = self.named(shape)
        return str(self.pick(names)) if names else f"np.full({shape}, {self.scalar(0)})"

    def owned(self, shape: Shape, depth: int = 2) -> str:
        """An expression of an array of that shape, of memory of its own."""
        text = self.array(shape, depth)
        return (
            text
            if re.match(r"(np\.(?!broadcast_to)\w+\(|0\.\d \* |\(?1\.0 \* )", text) and text.endswith(")")
            else f"1.0 * {enclosed(text)}"
        )

    def part(self, shape: Shape, depth: int) -> str | None:
        """A view of a name, or of an array with more axes."""
        options = [text for name, own in self.scope.arrays.items() for text, result in self.views(name, own) if result == shape]
        return str(self.pick(options)) if options else None

    def unary(self, shape: Shape, depth: int) -> str | None:
        return str(self.pick(UNARY)).format(enclosed(self.array(shape, depth)))

    def binary(self, shape: Shape, depth: int) -> str | None:
        one, other = self.array(shape, depth), self.narrower(shape, depth)
        pair = (one, other) if self.choose(2) else (other, one)
        return str(self.pick(BINARY)).format(*(enclosed(text) for text in pair))

    def narrower(self, shape: Shape, depth: int) -> str:
        """What broadcasts to a shape: a number, fewer axes, axes of extent 1."""
        kind = self.choose(4)
        if kind == 1:
            return self.scalar(depth)
        if kind == 2:
            return self.array(tuple(1 if self.choose(2) else extent for extent in shape), depth)
        if kind == 3 and len(shape) > 1:
            return self.array(shape[1:], depth)
        return self.array(shape, depth)

    def reduction(self, shape: Shape, depth: int) -> str | None:
        if len(shape) > 1:
            axis = self.choose(len(shape))
            if shape[axis] != 1:
                return None
            extent = self.pick(self.extents)
            inside, how = (*shape[:axis], extent, *shape[axis + 1 :]), f"axis={axis}, keepdims=True"
        else:
            axis, extent = self.choose(len(shape) + 1), self.pick(self.extents)
            inside = (*shape[:axis], extent, *shape[axis:])
            how = f"axis={axis if self.choose(2) else axis - len(inside)}"
        return str(self.pick(REDUCTIONS if extent else SUMS)).format(enclosed(self.array(inside, depth)), how)

    def summed(self, shape: Shape, depth: int) -> str | None:
        axis, extent = self.choose(len(shape) + 1), self.pick(self.extents)
        inside = (*shape[:axis], extent, *shape[axis:])
        return str(self.pick(SUMS)).format(enclosed(self.array(inside, depth)), f"axis={axis}") if len(inside) < 4 else None

    def product(self, shape: Shape, depth: int) -> str | None:
        between = self.pick(self.extents)
        if len(shape) == 2:
            one, other = self.array((shape[0], between), depth), self.array((between, shape[1]), depth)
            form = self.pick(
                ("np.tanh({} @ {})", "0.3 * np.dot({}, {})", 'np.sin(np.einsum("ij,jk->ik", {}, {}))', "0.3 * np.matmul({}, {})")
            )
        elif len(shape) == 1 and self.choose(2):
            one, other = self.array((*shape, between), depth), self.array((between,), depth)
            form = self.pick(("np.tanh({} @ {})", "0.3 * np.dot({}, {})", 'np.sin(np.einsum("ij,j->i", {}, {}))'))
        elif len(shape) == 1:
            one, other = self.array((between,), depth), self.array((between, *shape), depth)
            form = self.pick(("np.tanh({} @ {})", "0.3 * np.dot({}, {})"))
        else:
            return None
        return str(form).format(enclosed(one), enclosed(other))

    def chosen(self, shape: Shape, depth: int) -> str | None:
        form = self.pick(("np.where({}, {}, {})", "{1} * {0}", "{1} * {0}.astype(float)", "np.where({}, {}, 0.2)"))
        return str(form).format(self.mask(shape, 0), enclosed(self.array(shape, depth)), enclosed(self.narrower(shape, depth)))

    def gathered(self, shape: Shape, depth: int) -> str | None:
        if not shape or len(shape) > 2:
            return None
        extent = max(2, self.pick(self.extents))
        if len(shape) == 2 and self.choose(2):
            return f"{self.indexed((shape[0], extent), depth)}[:, {self.places(extent, shape[1])}]"
        if len(shape) == 1 and self.choose(2):
            rows = max(1, self.pick(self.extents))
            pair = f"{self.places(rows, shape[0])}, {self.places(extent, shape[0])}"
            return f"{self.indexed((rows, extent), depth)}[{pair}]"
        form = self.pick(("{}[{}]", "np.take({}, {}, axis=0)"))
        return str(form).format(self.indexed((extent, *shape[1:]), depth), self.places(extent, shape[0]))

    def indexed(self, shape: Shape, depth: int) -> str:
        return enclosed(self.array(shape, depth))

    def along(self, shape: Shape, depth: int) -> str | None:
        if not shape:
            return None
        axis = self.choose(len(shape))
        text = enclosed(self.array(shape, depth))
        if self.rarely(4):
            extent = shape[axis] + 1
            return f"np.diff({self.array((*shape[:axis], extent, *shape[axis + 1 :]), depth)}, axis={axis})"
        return str(self.pick(ALONG)).format(text, axis)

    def joined(self, shape: Shape, depth: int) -> str | None:
        if not shape:
            return None
        axis = self.choose(len(shape))
        first = self.choose(shape[axis] + 1)
        parts = [self.array((*shape[:axis], extent, *shape[axis + 1 :]), depth) for extent in (first, shape[axis] - first)]
        if shape[axis] == 2 and self.choose(2):
            rest = (*shape[:axis], *shape[axis + 1 :])
            return f"np.stack([{self.array(rest, depth)}, {self.array(rest, depth)}], axis={axis})" if rest else None
        return f"np.concatenate([{', '.join(parts)}], axis={axis})"

    def laid_out(self, shape: Shape, depth: int) -> str | None:
        """A transpose, a reshape, new axes, a broadcast."""
        kind = self.choose(5)
        if kind == 1 and prod(shape):
            return f"{enclosed(self.array((prod(shape),), depth))}.reshape({', '.join(map(str, shape))})"
        if kind == 2 and len(shape) == 2:
            return f"{enclosed(self.array(shape[1:], depth))}[None] * {enclosed(self.array(shape[:1], depth))}[:, None]"
        if kind == 3:
            return f"np.broadcast_to({self.narrower(shape, depth)}, {shape})"
        if kind == 4 and len(shape) == 1:
            whole = [own for own in self.scope.arrays.values() if len(own) == 2 and prod(own) == shape[0]]
            return f"{enclosed(self.array(self.pick(whole), depth))}.ravel()" if whole else None
        return f"{enclosed(self.array(shape[::-1], depth))}.T" if len(shape) == 2 else None

    def repeated(self, shape: Shape, depth: int) -> str | None:
        if not shape or shape[-1] % 2:
            return None
        inside = self.array((*shape[:-1], shape[-1] // 2), depth)
        return str(self.pick(("np.repeat({}, 2, axis=-1)", "np.tile({}, 2)"))).format(inside)

    def called(self, shape: Shape, depth: int) -> str | None:
        local = [name for name, (_, options) in self.scope.functions.items() if options == shape]
        if local:
            name = self.pick(local)
            return f"{name}({self.array(self.scope.functions[name][0], depth)})"
        fits = [name for name, helper in self.helpers.items() if helper.shape == shape]
        return f"{self.pick(fits)}({self.owned(shape, depth)}, {self.array(shape, depth)})[0]" if fits else None

    def views(self, name: str, own: Shape) -> list[tuple[str, Shape]]:
        """Views of an array, each with its shape."""
        options: list[tuple[str, Shape]] = []
        slices = [(":", lambda n: n), ("::-1", lambda n: n), ("1:", lambda n: max(n - 1, 0)), ("::2", lambda n: (n + 1) // 2),
                  (":-1", lambda n: max(n - 1, 0)), ("-2::-2", lambda n: max(n, 0) // 2), ("1:3", lambda n: max(min(n, 3) - 1, 0)),
                  ("2:2", lambda n: 0), ("-1:0:-1", lambda n: max(n - 1, 0))]  # fmt: skip
        if len(own) == 1:
            options = [(f"{name}[{text}]", (extent(own[0]),)) for text, extent in slices]
            return [*options, (f"{name}[None]", (1, *own)), (f"{name}[:, None]", (*own, 1))]
        if len(own) == 2:
            options = [(f"{name}[{text}]", (extent(own[0]), own[1])) for text, extent in slices]
            options += [(f"{name}[:, {text}]", (own[0], extent(own[1]))) for text, extent in slices]
            options += [
                (f"{name}[::-1, 1:]", (own[0], max(own[1] - 1, 0))),
                (f"{name}.T", own[::-1]),
                (f"{name}.T[1:]", (max(own[1] - 1, 0), own[0])),
            ]
            if own[0]:
                options += [(f"{name}[{self.place(own[0])}]", own[1:]), (f"{name}[{self.place(own[0])}, ::-1]", own[1:])]
            if own[1]:
                options += [(f"{name}[:, {self.place(own[1])}]", own[:1]), (f"{name}[..., {self.place(own[1])}]", own[:1])]
        return options

    # -------------------------------------------------------------- statements

    def statement(self) -> None:
        self.budget -= 1
        STATEMENTS[self.choose(len(STATEMENTS))](self)

    def name_array(self, shape: Shape) -> str:
        name = self.new("y")
        self.scope.arrays[name] = shape
        return name

    def assigned(self) -> None:
        shape = self.shape()
        text = self.owned(shape, 3)
        own = [name for name, other in self.scope.arrays.items() if other == shape and name not in ("x", "m")]
        self.write(f"{self.pick(own) if own and self.choose(2) else self.name_array(shape)} = {text}")

    def number_assigned(self) -> None:
        text = self.scalar(3)
        own = [name for name in self.scope.scalars if name != "w"]
        if own and self.choose(2):
            form = self.pick(("{} = {}", "{} += 0.3 * np.sin({})", "{} *= np.cos({})"))
            self.write(str(form).format(self.pick(own), text))
        else:
            name = self.new("s")
            self.write(f"{name} = {text}")
            self.scope.scalars.append(name)

    def target(self) -> tuple[str, Shape]:
        """What may be stored to: a view, or an item of a container."""
        name = self.pick(list(self.scope.arrays))
        if self.scope.dicts and self.rarely(4):
            name = self.pick(list(self.scope.dicts))
            key = self.pick(list(self.scope.dicts[name]))
            return f'{name}["{key}"][...]', self.scope.dicts[name][key]
        if self.scope.lists and self.rarely(4):
            name = self.pick(list(self.scope.lists))
            return f"{name}[{self.pick(('0', '-1'))}][...]", self.scope.lists[name]
        text, shape = self.pick(self.views(name, self.scope.arrays[name]))
        return text if text.endswith("]") else f"{text}[...]", shape

    def stored(self) -> None:
        target, shape = self.target()
        value = self.owned(shape, 2) if self.choose(3) else self.owned_narrower(shape)
        form = self.pick(AUGMENTED) if self.choose(2) else "{} = {}"
        self.write(str(form).format(target, enclosed(value) if "* {}" in form else value))

    def owned_narrower(self, shape: Shape) -> str:
        return f"1.0 * {enclosed(self.narrower(shape, 1))}"

    def element_stored(self) -> None:
        target = self.element()
        if "[" in target:
            self.write(str(self.pick(AUGMENTED)).format(target, enclosed(self.scalar(1))))

    def whole_augmented(self) -> None:
        name = self.pick(list(self.scope.arrays))
        self.write(str(self.pick(AUGMENTED[:4])).format(name, enclosed(self.narrower(self.scope.arrays[name], 1))))

    def scattered(self) -> None:
        full = [name for name, own in self.scope.arrays.items() if own and own[0]]
        if not full:
            return self.assigned()
        name = self.pick(full)
        extent, *rest = self.scope.arrays[name]
        count = self.choose(4)
        places, value = self.places(extent, count), self.owned((count, *rest), 1) if self.choose(3) else self.scalar(1)
        form = self.pick(
            ("np.add.at({}, {}, {})", "np.add.at({}, {}, {})", "np.subtract.at({}, {}, {})", "{}[{}] += {}", "{}[{}] = {}", "{}[{}] *= {}")
        )
        self.write(str(form).format(name, places, value))
        return None

    def masked(self) -> None:
        name = self.pick(list(self.scope.arrays))
        shape = self.scope.arrays[name]
        kind = self.choose(4)
        mask = self.mask(shape)
        if kind == 1:
            guard = self.new("b")
            self.write(f"{guard} = {mask}")
            self.scope.masks[guard] = shape
            self.write(f"{name}[{guard}] = {enclosed(self.owned(shape, 1))}[{guard}]")
        elif kind == 2:
            self.write(f"np.copyto({name}, {self.owned(shape, 1)}, where={mask})")
        else:
            self.write(str(self.pick(AUGMENTED)).format(f"{name}[{mask}]", enclosed(self.scalar(1))))

    def mask_named(self) -> None:
        if self.choose(2):
            shape = self.shape()
            text, name = self.mask(shape, 2), self.new("b")
            self.write(f"{name} = {text}")
            self.scope.masks[name] = shape
        else:
            text = self.test()
            own = self.scope.flags
            if own and self.choose(2):
                self.write(f"{self.pick(own)} = {text}")
            else:
                name = self.new("b")
                self.write(f"{name} = {text}")
                own.append(name)

    def into(self) -> None:
        """A ufunc with ``out=``."""
        target, shape = self.target()
        text = target.removesuffix("[...]")
        form = self.pick(("np.multiply({}, 0.5, out={})", "np.add({}, 0.3, out={})", "np.sin({}, out={})", "np.tanh({}, {})"))
        self.write(str(form).format(self.array(shape, 1), text))

    def aliased(self) -> None:
        if self.choose(2):
            name = self.pick(list(self.scope.arrays))
            text, shape = name, self.scope.arrays[name]
        else:
            name = self.pick(list(self.scope.arrays))
            text, shape = self.pick(self.views(name, self.scope.arrays[name]))
        self.write(f"{self.name_array(shape)} = {text}")

    def dict_made(self) -> None:
        name, keys = self.new("d"), {"p": self.shape(), "q": self.shape()}
        values = [self.pick(self.named(own) or [self.owned(own, 1)]) if self.rarely(3) else self.owned(own, 1) for own in keys.values()]
        items = ", ".join(f'"{key}": {value}' for key, value in zip(keys, values, strict=True))
        self.write(f"{name} = {{{items}}}")
        self.scope.dicts[name] = keys

    def list_made(self) -> None:
        shape = self.shape()
        name = self.new("v")
        self.write(f"{name} = [{', '.join(self.owned(shape, 1) for _ in range(1 + self.choose(2)))}]")
        self.scope.lists[name] = shape

    def container_changed(self) -> None:
        if self.scope.dicts and self.choose(2):
            name = self.pick(list(self.scope.dicts))
            key = self.pick(list(self.scope.dicts[name]))
            self.write(f'{name}["{key}"] = {self.owned(self.scope.dicts[name][key], 2)}')
        elif self.scope.lists:
            name = self.pick(list(self.scope.lists))
            text = self.owned(self.scope.lists[name], 2)
            self.write(str(self.pick(("{}.append({})", "{}[0] = {}", "{}[-1] = {}"))).format(name, text))
        else:
            self.list_made()

    def branch(self) -> None:
        self.write(f"if {self.test()}:")
        with self.block():
            self.statements(3)
            if self.loops and not self.choose(4):
                self.write(self.pick(("break", "continue")))
            elif self.returns and self.rarely(8):
                self.write(self.way_out())
        if self.choose(2):
            self.write("else:")
            with self.block():
                self.statements(3)

    def way_out(self) -> str:
        return f"return {self.scalar(1)}"

    def guarded(self) -> None:
        """``try`` with ``finally``."""
        self.write("try:")
        with self.block():
            self.statements(3)
            if self.loops and not self.choose(4):
                self.write(f"if {self.test()}:")
                with self.block():
                    self.write(self.pick(("break", "continue", self.way_out() if self.returns else "break")))
        self.write("finally:")
        with self.block():
            held, self.loops, leaves, self.returns = self.loops, 0, self.returns, False
            self.statements(2)
            self.loops, self.returns = held, leaves

    @contextmanager
    def looping(self) -> Iterator[None]:
        """The body of a loop, and perhaps its ``else``."""
        self.loops += 1
        with self.block():
            yield
            self.statements(3)
            if not self.choose(3):
                self.write(f"if {self.test()}:")
                with self.block():
                    self.write(self.pick(("break", "continue")))
                self.statements(2)
        self.loops -= 1
        if self.rarely(3):
            self.write("else:")
            with self.block():
                self.statements(2)

    def loop(self) -> None:
        if self.loops > 1:
            return self.assigned()
        return LOOPS[self.choose(len(LOOPS))](self)

    def range_loop(self) -> None:
        i, extent = self.new("i"), self.pick(self.extents)
        whole = [f"len({name})" for name, own in self.scope.arrays.items() if own and own[0] == extent]
        whole += [f"{name}.shape[1]" for name, own in self.scope.arrays.items() if len(own) == 2 and own[1] == extent]
        text, low = self.pick(
            ((self.pick([str(extent), *whole]), 0), (f"{extent - 1}, -1, -1", 0), (f"1, {extent}", 1), (f"0, {extent}, 2", 0))
        )
        self.write(f"for {i} in range({text}):")
        with self.looping():
            self.scope.integers[i] = (low, max(extent - 1, 0))

    def while_loop(self) -> None:
        k = self.new("k")
        self.write(f"{k} = 0")
        self.write(f"while {k} < {1 + self.choose(3)}{'' if self.choose(2) else ' and ' + self.test(0)}:")
        with self.looping():
            self.write(f"{k} += 1")
            self.scope.integers[k] = (1, 3)

    def rows_loop(self) -> None:
        tables = [name for name, own in self.scope.arrays.items() if len(own) == 2]
        if not tables:
            return self.range_loop()
        table, row = self.pick(tables), self.new("y")
        own = self.scope.arrays[table]
        kind = self.choose(3)
        extra = self.new("i")
        if kind == 1:
            self.write(f"for {extra}, {row} in enumerate({table}):")
        elif kind == 2:
            self.write(f"for {row}, {extra} in zip({table}, {self.array((own[0],), 0)}):")
        else:
            self.write(f"for {row} in {table}:")
        with self.looping():
            self.scope.arrays[row] = own[1:]
            if kind == 1:
                self.scope.integers[extra] = (0, max(own[0] - 1, 0))
            elif kind == 2:
                self.scope.scalars.append(extra)
        return None

    def list_loop(self) -> None:
        """Over the arrays of a list, or the items of a dict."""
        item = self.new("y")
        if self.scope.lists and self.choose(2):
            name = self.pick(list(self.scope.lists))
            self.write(f"for {item} in {self.pick((f'{name}[:]', f'list({name})', f'{name}[::-1]'))}:")
            own = self.scope.lists[name]
        elif any(len(set(keys.values())) == 1 for keys in self.scope.dicts.values()):
            name = self.pick([name for name, keys in self.scope.dicts.items() if len(set(keys.values())) == 1])
            self.write(f"for {item} in {name}.values():")
            own = self.scope.dicts[name]["p"]
        else:
            return self.rows_loop()
        with self.looping():
            self.scope.arrays[item] = own
        return None

    def nested_function(self) -> None:
        """A closure of one array, which may store to what stands around it."""
        shape, name = self.shape(), self.new("h")
        result = self.pick((shape, shape, self.shape()))
        self.write(f"def {name}(u):")
        with self.block():
            held, self.loops, leaves, self.returns = self.loops, 2, self.returns, False  # a break in it would be its own
            self.scope.arrays["u"] = shape
            if self.choose(2):
                self.write(f"if {self.test(0)}:")
                with self.block():
                    self.write(f"return {self.owned(result, 1)}")
            if self.choose(2):
                target, inside = self.target()
                self.write(f"{target} = 0.7 * {enclosed(self.array(inside, 1))}")
            self.write(f"return {self.owned(result, 2)}")
            self.loops, self.returns = held, leaves
        self.scope.functions[name] = (shape, result)

    def helper_called(self) -> None:
        """A call for an array and a number, of arguments that may share memory, to which it may store."""
        if not self.helpers:
            return self.assigned()
        name = self.pick(list(self.helpers))
        shape = self.helpers[name].shape
        own = [n for n, other in self.scope.arrays.items() if other == shape] or [self.owned(shape, 1)]
        first, second = self.pick(own), self.pick(own) if self.choose(3) else self.array(shape, 1)
        number = self.new("s")
        self.write(f"{self.name_array(shape)}, {number} = {name}({first}, {second})")
        self.scope.scalars.append(number)
        return None

    def swapped(self) -> None:
        for shape in dict.fromkeys(self.scope.arrays.values()):
            own = [name for name, other in self.scope.arrays.items() if other == shape and name not in ("x", "m")]
            if len(own) > 1:
                self.write(f"{own[0]}, {own[-1]} = {own[-1]}, {own[0]}")
                return
        self.number_assigned()


FORMS: tuple[Callable[[ArrayWriter, Shape, int], str | None], ...] = (
    ArrayWriter.simple, ArrayWriter.part, ArrayWriter.unary, ArrayWriter.binary, ArrayWriter.reduction, ArrayWriter.binary,
    ArrayWriter.product, ArrayWriter.chosen, ArrayWriter.gathered, ArrayWriter.along, ArrayWriter.joined, ArrayWriter.laid_out,
    ArrayWriter.repeated, ArrayWriter.called, ArrayWriter.summed, ArrayWriter.unary, ArrayWriter.part,
)  # fmt: skip
STATEMENTS: tuple[Callable[[ArrayWriter], None], ...] = (
    ArrayWriter.assigned, ArrayWriter.number_assigned, ArrayWriter.stored, ArrayWriter.branch, ArrayWriter.loop, ArrayWriter.stored,
    ArrayWriter.assigned, ArrayWriter.element_stored, ArrayWriter.whole_augmented, ArrayWriter.scattered, ArrayWriter.masked,
    ArrayWriter.mask_named, ArrayWriter.into, ArrayWriter.aliased, ArrayWriter.dict_made, ArrayWriter.list_made,
    ArrayWriter.container_changed, ArrayWriter.guarded, ArrayWriter.nested_function, ArrayWriter.helper_called, ArrayWriter.swapped,
    ArrayWriter.loop, ArrayWriter.container_changed, ArrayWriter.helper_called,
)  # fmt: skip
LOOPS: tuple[Callable[[ArrayWriter], None], ...] = (
    ArrayWriter.range_loop, ArrayWriter.while_loop, ArrayWriter.rows_loop, ArrayWriter.list_loop, ArrayWriter.range_loop,
)  # fmt: skip


@dataclass
class Helper:
    """A function of two arrays of one shape, which gives such an array and a number."""

    shape: Shape


def helper_text(choose: Callable[[int], int], name: str, helper: Helper, extents: tuple[int, ...]) -> list[str]:
    writer = HelperWriter(choose, 1 + choose(3), scope=Names({"a": helper.shape, "c": helper.shape}), extents=extents, own=helper.shape)
    while writer.budget > 0:
        writer.statement()
    return [f"def {name}(a, c):", *writer.lines, f"    {writer.way_out()}", "", ""]


@dataclass
class HelperWriter(ArrayWriter):
    """Writes a function that may return early."""

    own: Shape = field(kw_only=True)

    def way_out(self) -> str:
        return f"return {self.owned(self.own, 1)}, {self.scalar(1)}"


def program_text(choose: Callable[[int], int], size: int = 10) -> tuple[str, tuple[int, Shape]]:
    """The source of ``f(x, m, w)``, and the extents of its arrays."""
    length, table = extents = EXTENTS[choose(len(EXTENTS))] if choose(2) else EXTENTS[0]
    occurring = tuple(dict.fromkeys((length, *table)))
    shapes = ((length,), table)
    helpers = {f"g{k}": Helper(shapes[choose(2)]) for k in range(choose(3))}
    lines = ["import numpy as np", "", ""]
    for name, helper in helpers.items():
        lines += helper_text(choose, name, helper, occurring)
    scope = Names({"x": (length,), "m": table}, ["w"])
    writer = ArrayWriter(choose, 2 + choose(size), scope=scope, extents=occurring, helpers=helpers)
    while writer.budget > 0:
        writer.statement()
    terms = ["w * np.sum(x)", "np.sum(np.sin(m))"]
    terms += [f"np.sum(np.sin({name}))" for name in scope.arrays if name not in ("x", "m")]
    terms += [name for name in scope.scalars if name != "w"]
    terms += [f'np.sum(np.tanh({name}["{key}"]))' for name, keys in scope.dicts.items() for key in keys]
    terms += [f"np.sum(np.tanh({name}[-1]))" for name in scope.lists]
    return "\n".join([*lines, "def f(x, m, w):", *writer.lines, f"    return {' + '.join(terms)}", ""]), extents


def random_array_program(seed: int, size: int = 10) -> tuple[str, Callable[[], tuple[np.ndarray, np.ndarray, float]]]:
    """A program drawn without Hypothesis, and what makes its arguments; the same seed always gives the same."""
    text, extents = program_text(random.Random(seed).randrange, size)
    return text, lambda: array_arguments(extents)


def array_arguments(extents: tuple[int, Shape]) -> tuple[np.ndarray, np.ndarray, float]:
    """Arguments of those extents."""
    drawn = np.random.default_rng(5)
    return drawn.uniform(-1.2, 1.2, extents[0]), drawn.uniform(-1.2, 1.2, extents[1]), 0.64


@st.composite
def array_programs(draw: Callable[[Any], Any], size: int = 10) -> tuple[str, tuple[int, Shape]]:
    """Source texts of random functions ``f(x, m, w)``, with extents."""
    return program_text(lambda n: int(draw(st.integers(0, n - 1))), size)
