"""Random static programs beside PyTorch: the same steps, then gradients of some values with respect to others, and gradients of those.

A program is drawn first as steps on slots. PyTorch runs them on tensors, with what is cut taken out of its record; here they are
appended to a program, gradients are too, and all is run at once.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symgrad.compat.paddle as paddle
from symgrad.compat.paddle import static
from symgrad.static import Executor

from .beside_torch import ONE, TWO, Op, floats, torch

Step = tuple[Op, list[int]]
#: these read numbers that only a run knows, or are no functions of their inputs in a program
LEFT_OUT = {"x[None]", "detach", "clone", "chosen"}


def branch(x: Any) -> Any:
    """A branch of a program."""
    return static.nn.cond(paddle.sum(x) > 0, lambda: x * 2, lambda: paddle.tanh(x))


def loop(x: Any) -> Any:
    """A loop of a program, three rounds."""
    start = paddle.full([1], 0, "int64")
    return static.nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, paddle.tanh(y) * 1.5 + x], [start, x])[1]


def looped(x: Any) -> Any:
    """The same in PyTorch."""
    y = x
    for _ in range(3):
        y = torch.tanh(y) * 1.5 + x
    return y


CONTROL = [Op("branch", branch, lambda x: x * 2 if x.sum() > 0 else torch.tanh(x), floats), Op("loop", loop, looped, floats)]


@dataclass
class Drawn:
    """The values that are fed, the steps, and what is asked for."""

    arrays: list[Any]
    steps: list[Step] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    seeds: list[Any] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    by_flag: bool = False  #: is what is cut said by ``stop_gradient``, not by ``no_grad_set``?
    open_: bool = False  #: are first extents left open?
    second: bool = False

    def words(self) -> str:
        """What it does."""
        lines = [f"{k}: {a.dtype}{list(a.shape)}" for k, a in enumerate(self.arrays)]
        lines += [f"{len(self.arrays) + k}: {op.name} of {places}" for k, (op, places) in enumerate(self.steps)]
        lines += [f"gradients({self.targets}, {self.inputs}), seeds {[s is not None for s in self.seeds]}, cut {self.cut} by flag {self.by_flag},"
                  f" open {self.open_}, second {self.second}"]  # fmt: skip
        return "\n".join(lines)


def draw(rng: random.Random) -> Drawn:
    """A program, drawn by trying each step in PyTorch."""
    generator = np.random.default_rng(rng.randrange(2**32))
    dtype = rng.choice(("float64", "float64", "float32"))
    shapes = [rng.choice(((3,), (2, 3), (3, 2), (2, 2), (2, 1, 3), ())) for _ in range(2)]
    drawn = Drawn([np.asarray(generator.normal(size=s), dtype) for s in shapes])
    values = [torch.tensor(a) for a in drawn.arrays]
    operations = [op for op in (*ONE, *TWO, *CONTROL) if op.name not in LEFT_OUT]
    for _ in range(rng.randint(3, 9)):
        op = rng.choice(operations)
        places = [rng.choice(range(len(values))) if rng.random() < 0.5 else len(values) - 1 for _ in range(op.count)]
        with suppress(Exception):
            if not op.ready(*[values[k] for k in places]):
                continue
            value = op.theirs(*[values[k] for k in places])
            if value.numel() and value.numel() <= 64 and bool(torch.isfinite(value).all()) and float(value.double().abs().max()) < 1e3:
                values.append(value)
                drawn.steps.append((op, places))
    candidates = [k for k, v in enumerate(values) if floats(v) and k >= len(drawn.arrays)] or [0]
    drawn.targets = list(dict.fromkeys(rng.choice(candidates) for _ in range(rng.choice((1, 1, 2)))))
    drawn.seeds = [
        np.asarray(generator.normal(size=tuple(values[k].shape)), str(values[k].dtype)[6:]) if rng.random() < 0.4 else None
        for k in drawn.targets
    ]
    inner = [k for k in candidates if k not in drawn.targets]
    drawn.inputs = [0, 1] + ([rng.choice(inner)] if inner and rng.random() < 0.5 else [])
    if inner and rng.random() < 0.4:
        drawn.cut = [rng.choice(inner)]
    drawn.by_flag, drawn.open_, drawn.second = rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.4
    return drawn


def theirs(drawn: Drawn) -> tuple[list[Any], list[Any]]:
    """Gradients, and gradients of the sum of their squares with respect to what is fed, by PyTorch."""
    values: list[Any] = [torch.tensor(a, requires_grad=True) for a in drawn.arrays]
    for op, places in drawn.steps:
        value = op.theirs(*[values[k] for k in places])
        values.append(value.detach().requires_grad_() if len(values) in drawn.cut and floats(value) else value)
    live = [(values[k], s) for k, s in zip(drawn.targets, drawn.seeds, strict=True) if values[k].requires_grad and k not in drawn.cut]
    sources = [values[k] for k in drawn.inputs]
    first: list[Any] = [None] * len(sources)
    asked = [k for k, s in enumerate(sources) if s.requires_grad and drawn.inputs[k] not in drawn.cut]
    if live and asked:
        seeds = [torch.ones_like(v) if s is None else torch.tensor(s) for v, s in live]
        gradients = torch.autograd.grad([v for v, _ in live], [sources[k] for k in asked], seeds, create_graph=True, allow_unused=True)
        for k, gradient in zip(asked, gradients, strict=True):
            first[k] = gradient
    second: list[Any] = [None, None]
    kept = [g for g in first[:2] if g is not None and g.requires_grad]
    if drawn.second and kept:
        second = list(torch.autograd.grad(sum((g * g).sum() for g in kept), values[:2], allow_unused=True))
    return first, second


def ours(drawn: Drawn) -> tuple[list[Any], list[Any]]:
    """The same by a program."""
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main, static.Program()):
            variables: list[Any] = []
            for k, array in enumerate(drawn.arrays):
                shape = list(array.shape)
                if drawn.open_ and shape:
                    shape[0] = -1
                variables.append(static.data(f"x{k}", shape, array.dtype.name))
                variables[-1].stop_gradient = False
            for op, places in drawn.steps:
                variables.append(op.ours(*[variables[k] for k in places]))
            fed = {f"x{k}": array for k, array in enumerate(drawn.arrays)}
            seeds: list[Any] = []
            for k, (place, seed) in enumerate(zip(drawn.targets, drawn.seeds, strict=True)):
                seeds.append(None if seed is None else static.data(f"seed{k}", list(variables[place].shape), seed.dtype.name))
                fed |= {} if seed is None else {f"seed{k}": seed}
            cut = [variables[k] for k in drawn.cut]
            if drawn.by_flag:
                for variable in cut:
                    variable.stop_gradient = True
            first = static.gradients([variables[k] for k in drawn.targets], [variables[k] for k in drawn.inputs], seeds,
                                     None if drawn.by_flag else {v.name for v in cut})  # fmt: skip
            second: list[Any] = [None, None]
            kept = [g for g in first[:2] if g is not None]
            if drawn.second and kept:
                total = kept[0] * kept[0]
                loss = paddle.sum(total)
                for g in kept[1:]:
                    loss = loss + paddle.sum(g * g)
                second = static.gradients(loss, variables[:2], no_grad_set=None if drawn.by_flag else {v.name for v in cut})
            fetched = [v for v in [*first, *second] if v is not None]
            values = iter(Executor().run(main, fed, fetched))
            copy = main.clone(for_test=True)
            for place in drawn.targets:  # a clone computes the same without gradients
                again = Executor().run(copy, {n: v for n, v in fed.items() if n[0] == "x"}, [variables[place].name])[0]
                assert np.isfinite(again).all()
        return [None if v is None else next(values) for v in first], [None if v is None else next(values) for v in second]
    finally:
        paddle.disable_static()


def compare(seed: int) -> str:
    """Run one program in both; AssertionError says where they differ. What is refused says so."""
    drawn = draw(random.Random(seed))
    expected = theirs(drawn)
    try:
        actual = ours(drawn)
    except ValueError as error:
        if drawn.open_ and any(word in str(error) for word in ("not known", "is fed")):  # an extent may be 1 by chance
            return "refused"
        raise AssertionError(f"seed {seed}: {error}\n{drawn.words()}") from error
    for what, mine, others in zip(("first", "second"), actual, expected, strict=True):
        for place, one, two in zip(drawn.inputs, mine, others, strict=False):
            other = None if two is None else two.detach().numpy(force=True)
            words = f"seed {seed}, {what} gradient of {place}: {one}, {other}\n{drawn.words()}"
            if one is None or other is None:
                assert one is None or not np.any(one), words
                assert other is None or not np.any(other), words
                continue
            assert (one.shape, one.dtype) == (other.shape, other.dtype), words
            assert np.allclose(one, other, rtol=1e-4, atol=1e-5, equal_nan=True), words
    return "right"
