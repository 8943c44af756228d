"""Random programs of tensor operations, run side by side with PyTorch, statement by statement.

A program holds tensors in slots, and each statement reads slots and fills, changes or differentiates one. Both packages run the
same statements; values, dtypes, whether a gradient is asked for, and gradients are compared after each. A refusal ends a program:
ours may refuse what PyTorch computes only with one of the documented errors of recorded tensors.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.nn.functional as F
from symgrad.errors import BadArgument, FreedGraph, LeafInPlace, Overwritten

try:
    import torch
except ImportError:  # the tests are skipped then
    torch = None  # type: ignore[assignment]

#: what is refused here and computed there; a gradient differentiated again that passes a tensor with hooks is too
REFUSALS = (BadArgument, FreedGraph, LeafInPlace, Overwritten)
Function = Callable[..., Any]


@dataclass
class Op:
    """One operation in both packages; ``ready`` says for which tensors, given as PyTorch's."""

    name: str
    ours: Function
    theirs: Function
    ready: Function = lambda *xs: True
    count: int = 1


def floats(*xs: Any) -> bool:
    """Are they tensors of floats?"""
    return all(x.dtype.is_floating_point for x in xs)


def axes(x: Any) -> bool:
    """Has it an axis, and elements?"""
    return x.ndim > 0 and x.numel() > 0


def both(name: str, function: Function, ready: Function = floats, count: int = 1) -> Op:
    """An operation that is spelled alike."""
    return Op(name, function, function, ready, count)


def indexed(index: Any) -> Op:
    """A read by an index."""
    return both(f"x[{index!r}]", lambda x: x[index], lambda x: fits(x, index))


def fits(x: Any, index: Any) -> bool:
    """Can a tensor be read so? PyTorch does not look at numbers that choose nothing."""
    try:
        np.empty(x.shape)[index]
    except (IndexError, ValueError):
        return False
    return True


def promoted(x: Any, y: Any) -> bool:
    """Do two tensors of numbers fit each other?"""
    try:
        torch.broadcast_shapes(x.shape, y.shape)
    except RuntimeError:
        return False
    return bool(x.dtype != torch.bool and y.dtype != torch.bool and (floats(x) or floats(y)))


INDICES: list[Any] = [
    0, -1, slice(0, 2), slice(1, None), slice(None, None, 2), None, ..., (slice(None), 0), (..., -1), (None, 0), (slice(0, 0),),
    [0, 0], [1, 0], (0, slice(0, 1)), (slice(None), None), (..., None, 0), (0, 0), (slice(None), [0, 1]),
]  # fmt: skip
ONE = [
    both("exp", lambda x: (x * 0.3).exp()), both("tanh", lambda x: x.tanh()), both("square", lambda x: x.square()),
    both("abs", lambda x: x.abs()), both("minus", lambda x: -x), both("double", lambda x: x * 2, lambda x: x.dtype != torch.bool if torch else True),
    both("half", lambda x: x / 2), both("tenth", lambda x: x * 0.1, lambda x: x.dtype != torch.bool), both("from one", lambda x: 1 - x),
    both("cube", lambda x: x**3), both("root", lambda x: (x * x + 1).sqrt()), both("floor", lambda x: x.floor()),
    both("round", lambda x: (x * 3.3).round(decimals=1)), both("sum", lambda x: x.sum(), lambda x: x.dtype != torch.bool),
    Op("relu", F.relu, lambda x: torch.relu(x), floats), Op("clip", lambda x: x.clip(-1.0, 1.0), lambda x: x.clip(-1.0, 1.0), floats),
    Op("sum 0", lambda x: x.sum(0), lambda x: x.sum(0), floats), Op("mean", lambda x: x.mean(-1, True), lambda x: x.mean(-1, True), floats),
    Op("amax", lambda x: x.amax(-1), lambda x: x.amax(-1), lambda x: floats(x) and x.numel() > 0),
    Op("amin", lambda x: x.amin(0, True), lambda x: x.amin(0, True), lambda x: floats(x) and x.numel() > 0),
    Op("softmax", lambda x: F.softmax(x, -1), lambda x: torch.softmax(x, -1), floats),
    Op("log_softmax", lambda x: F.log_softmax(x, 0), lambda x: torch.log_softmax(x, 0), floats),
    Op("logsumexp", lambda x: x.logsumexp(-1), lambda x: x.logsumexp(-1), floats),
    Op("cumsum", lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), floats), Op("prod", lambda x: x.prod(-1), lambda x: x.prod(-1), floats),
    Op("sort", lambda x: x.sort(-1), lambda x: x.sort(dim=-1, stable=True).values, floats), both("clone", lambda x: x.clone(), lambda x: True),
    both("detach", lambda x: x.detach(), lambda x: True), Op("flip", lambda x: x.flip([0]), lambda x: x.flip([0]), lambda x: True),
    both("row", lambda x: x.reshape([-1]), lambda x: True), Op("flatten", lambda x: x.flatten(), lambda x: x.reshape(-1), lambda x: True),
    Op("T", lambda x: x.T, lambda x: x.permute(list(range(x.ndim))[::-1]), lambda x: True), both("squeeze", lambda x: x.squeeze(), lambda x: True),
    both("column", lambda x: x.unsqueeze(-1), lambda x: x.ndim < 4), Op("float32", lambda x: x.astype("float32"), lambda x: x.to(torch.float32, copy=True), lambda x: x.dtype != torch.bool),
    Op("norm 1", lambda x: paddle.linalg.norm(x, 1), lambda x: x.norm(1), floats), Op("norm", lambda x: paddle.linalg.norm(x), lambda x: x.norm(), floats),
    Op("tile", lambda x: x.tile([2, 1]), lambda x: x.tile([2, 1]), lambda x: x.ndim < 3),
    Op("part", lambda x: paddle.split(x, [1, -1], 0)[1], lambda x: x.narrow(0, 1, x.shape[0] - 1), axes),
    Op("unbind", lambda x: paddle.unbind(x, -1)[0], lambda x: x.select(-1, 0), axes),
    Op("diagonal", lambda x: x.diagonal(), lambda x: x.diagonal(), lambda x: x.ndim == 2),
    *(indexed(index) for index in INDICES),
]  # fmt: skip
TWO = [
    both("add", lambda x, y: x + y, promoted, 2), both("subtract", lambda x, y: x - y, promoted, 2),
    both("multiply", lambda x, y: x * y, promoted, 2), both("divide", lambda x, y: x / (y * y + 1), promoted, 2),
    Op("maximum", paddle.maximum, lambda x, y: torch.maximum(x, y), promoted, 2),
    Op("where", lambda x, y: paddle.where(x > 0, x, y), lambda x, y: torch.where(x > 0, x, y), promoted, 2),
    both("matmul", lambda x, y: x @ y, lambda x, y: floats(x, y) and x.dtype == y.dtype and x.ndim == y.ndim == 2 and x.shape[1] == y.shape[0], 2),
    Op("concat", lambda x, y: paddle.concat([x, y], 0), lambda x, y: torch.cat([x, y], 0),
       lambda x, y: floats(x, y) and x.ndim == y.ndim > 0 and x.dtype == y.dtype and x.shape[1:] == y.shape[1:], 2),
    Op("stack", lambda x, y: paddle.stack([x, y], -1), lambda x, y: torch.stack([x, y], -1),
       lambda x, y: floats(x, y) and x.dtype == y.dtype and x.shape == y.shape and x.ndim < 3, 2),
    both("compared", lambda x, y: (x > y) | (x < -y), promoted, 2), both("chosen", lambda x, y: x[y > 0], lambda x, y: x.shape == y.shape, 2),
]  # fmt: skip
STORES: list[Any] = [0, -1, slice(0, 2), slice(None, None, 2), ..., (slice(None), 0), (..., -1), [1, 0], (0, 0), slice(None)]


class Ended(Exception):
    """A statement was refused in one package."""


class Skipped(Exception):
    """A statement was refused in both."""


@dataclass
class Pair:
    """Both packages' tensors by slot, and what was done, in words."""

    rng: random.Random
    ours: list[Any] = field(default_factory=list)
    theirs: list[Any] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    outcome: str = "right"
    hooked: set[int] = field(default_factory=set)  #: slots with hooks: PyTorch gives ``grad`` their gradient as it is before or after them
    higher: bool = False  #: is a gradient a tensor of the program? Which intermediate values it depends on is the rules' own affair

    def leaf(self, shape: tuple[int, ...], dtype: str, stopped: bool) -> None:
        """A new tensor of numbers that are no kinks."""
        generator = np.random.default_rng(self.rng.randrange(2**32))
        values = generator.integers(-3, 4, shape) if dtype == "int64" else generator.normal(size=shape)
        array = np.asarray(values, dtype)
        stopped = stopped or dtype == "int64"
        self.told.append(f"{len(self.ours)}: leaf {dtype}{list(shape)}{'' if stopped else ' grad'}")
        self.ours.append(paddle.to_tensor(array, stop_gradient=stopped))
        self.theirs.append(torch.tensor(array, requires_grad=not stopped))

    def run(self, words: str, ours: Function, theirs: Function) -> tuple[Any, Any]:
        """One statement in both; their errors must agree, or ours be a refusal that is documented."""
        self.told.append(words)
        tensors: list[Any] = []
        errors: list[Exception | None] = []
        for function in (theirs, ours):
            try:
                tensors.append(function())
                errors.append(None)
            except Exception as error:  # noqa: BLE001 (any error is an answer)
                tensors.append(None)
                errors.append(error)
        their_error, our_error = errors
        if our_error is None and their_error is None:
            return tensors[1], tensors[0]
        if our_error is not None and their_error is None:
            self.outcome = "refused" if isinstance(our_error, REFUSALS) else f"only ours: {our_error!r}"
        elif our_error is None:
            kept = (
                "modified by an inplace operation",
                "leaf",
                "a view",
                "backward through the graph",
                "does not require grad",
                "is a view",
                "a single memory location",
            )
            self.outcome = "more" if any(word in str(their_error).lower() for word in kept) else f"only theirs: {their_error!r}"
        else:
            self.told[-1] += " (refused)"
            if "backward" not in words:  # a sweep that is refused has left gradients there
                raise Skipped
            self.outcome = "both refused"
        raise Ended

    def agree(self) -> None:
        """Compare all that there is."""
        for slot, (ours, theirs) in enumerate(zip(self.ours, self.theirs, strict=True)):
            alike(f"slot {slot}", ours, theirs)
            assert ours.stop_gradient == (not theirs.requires_grad), f"slot {slot} asks for a gradient: {theirs.requires_grad}"
            if ours.is_leaf and is_leaf(theirs):
                equal_gradients(f"the gradient of slot {slot}", ours.grad, theirs.grad)


def is_leaf(theirs: Any) -> bool:
    """Is PyTorch's tensor a leaf? It refuses to say so of views that were made without recording, and changed with it."""
    with suppress(RuntimeError):
        return bool(theirs.is_leaf)
    return False


def equal_gradients(what: str, ours: Any, theirs: Any) -> None:
    """Are two gradients alike? One that is zero may be None."""
    if ours is not None and theirs is not None:
        alike(what, ours, theirs)
    else:
        assert ours is None or not ours.numpy().any(), f"{what}: {ours}, None"
        assert theirs is None or not theirs.detach().any(), f"{what}: None, {theirs}"


def alike(what: str, ours: Any, theirs: Any) -> None:
    """Are they of one dtype, shape and value? Numbers may have been rounded to float32 on the way."""
    left, right = ours.numpy(), theirs.detach().numpy()
    assert left.dtype == right.dtype, f"{what}: {left.dtype}, {right.dtype}"
    assert left.shape == right.shape, f"{what}: {left.shape}, {right.shape}"
    assert np.allclose(left, right, rtol=1e-4, atol=1e-5, equal_nan=True), f"{what}: {left}, {right}"


SHAPES: tuple[tuple[int, ...], ...] = ((3,), (2, 3), (3, 2), (2, 2), (), (1,), (2, 1, 3), (0,), (2, 0))


def program(seed: int, length: int = 22) -> Pair:
    """Run a random program; AssertionError says where the two differ."""
    rng = random.Random(seed)
    pair = Pair(rng)
    mostly = rng.choice(("float64", "float64", "float32"))
    for _ in range(rng.randint(2, 3)):
        dtype = rng.choice((mostly, mostly, mostly, "float32", "int64"))
        pair.leaf(rng.choice(SHAPES if rng.random() < 0.3 else SHAPES[:4]), dtype, rng.random() < 0.3)
    try:
        for _ in range(length):
            with suppress(Skipped):
                STATEMENTS[rng.choices(range(len(STATEMENTS)), WEIGHTS)[0]](pair, rng)
            pair.agree()
    except Ended:
        pass
    except AssertionError as error:
        raise AssertionError("\n".join([f"seed {seed}: {error}", *pair.told])) from None
    return pair


def slots(pair: Pair, count: int, rng: random.Random) -> list[int]:
    """Slots to read, rather new ones."""
    return [rng.choice(range(len(pair.ours))) if rng.random() < 0.5 else max(0, len(pair.ours) - rng.randint(1, 3)) for _ in range(count)]


def computed(pair: Pair, rng: random.Random) -> None:
    """A new tensor of one or two others."""
    op = rng.choice(ONE if rng.random() < 0.65 else TWO)
    chosen = slots(pair, op.count, rng)
    if not op.ready(*[pair.theirs[k] for k in chosen]):
        return
    words = f"{len(pair.ours)}: {op.name} of {chosen}"
    without = rng.random() < 0.06

    def ours() -> Any:
        with paddle.set_grad_enabled(not without):
            return op.ours(*[pair.ours[k] for k in chosen])

    def theirs() -> Any:
        with torch.set_grad_enabled(not without):
            result = op.theirs(*[pair.theirs[k] for k in chosen])
            return result.detach() if without and result.requires_grad else result  # views ask for a gradient there even so

    mine, other = pair.run(words + (" without grad" if without else ""), ours, theirs)
    if (
        other.numel() <= 64
        and bool(torch.isfinite(other).all())
        and (other.numel() == 0 or float(other.detach().double().abs().max()) < 1e4)
    ):
        pair.ours.append(mine)
        pair.theirs.append(other)


def store(pair: Pair, rng: random.Random) -> None:
    """A store to a part of a tensor: of a number, or of another tensor."""
    (place,) = slots(pair, 1, rng)
    index = rng.choice(STORES)
    target = pair.theirs[place]
    if not floats(target) or not fits(target, index):
        return
    shape = target[index].shape
    value: Any = round(rng.uniform(-2, 2), 3)
    memory = target.untyped_storage().data_ptr()  # a part stored to another that it overlaps has no value there
    fitting = [k for k, t in enumerate(pair.theirs) if floats(t) and t.dtype == target.dtype and (t.shape == shape or t.shape == (1,))
               and t.untyped_storage().data_ptr() != memory]  # fmt: skip
    source = rng.choice(fitting) if fitting and rng.random() < 0.6 else None
    without = rng.random() < 0.15

    def run(tensors: list[Any], package: Any) -> None:
        with package.set_grad_enabled(not without):
            tensors[place][index] = value if source is None else tensors[source]

    words = f"{place}[{index!r}] = {value if source is None else f'slot {source}'}{' without grad' if without else ''}"
    pair.run(words, lambda: run(pair.ours, paddle), lambda: run(pair.theirs, torch))


def masked(pair: Pair, rng: random.Random) -> None:
    """A store where a tensor is positive."""
    place, other = slots(pair, 2, rng)
    if not floats(pair.theirs[place]) or pair.theirs[place].shape != pair.theirs[other].shape:
        return

    def run(tensors: list[Any]) -> None:
        tensors[place][tensors[other] > 0] = 0.5

    pair.run(f"{place}[{other} > 0] = 0.5", lambda: run(pair.ours), lambda: run(pair.theirs))


def rewritten(pair: Pair, rng: random.Random) -> None:
    """All values of a tensor anew, without recording."""
    (place,) = slots(pair, 1, rng)
    target = pair.theirs[place]
    if not floats(target):
        return
    values = np.asarray(np.random.default_rng(rng.randrange(2**32)).normal(size=tuple(target.shape)), str(target.dtype)[6:])

    def theirs() -> None:
        with torch.no_grad():
            target.copy_(torch.tensor(values))

    pair.run(f"{place}.set_value", lambda: pair.ours[place].set_value(values), theirs)


def asked(pair: Pair) -> list[int]:
    """Slots of which a gradient is asked."""
    return [k for k, t in enumerate(pair.theirs) if t.requires_grad and t.numel()]


def swept(pair: Pair, rng: random.Random) -> None:
    """``backward`` of a tensor."""
    candidates = [k for k in asked(pair) if pair.theirs[k].grad_fn is not None]
    if not candidates:
        return
    place, retain = rng.choice(candidates[-4:]), rng.random() < 0.7
    seed = np.asarray(
        np.random.default_rng(rng.randrange(2**32)).normal(size=tuple(pair.theirs[place].shape)), str(pair.theirs[place].dtype)[6:]
    )
    pair.run(f"{place}.backward(retain_graph={retain})",
             lambda: pair.ours[place].backward(paddle.to_tensor(seed), retain_graph=retain),
             lambda: pair.theirs[place].backward(torch.tensor(seed), retain_graph=retain))  # fmt: skip


def graded(pair: Pair, rng: random.Random) -> None:
    """``grad`` of a tensor with respect to others; with ``create_graph`` the gradients are tensors of the program."""
    candidates = asked(pair)
    sources = [k for k in candidates if k not in pair.hooked and (is_leaf(pair.theirs[k]) or not pair.higher)]
    if not sources:
        return
    place = rng.choice(candidates[-4:])
    inputs = list(dict.fromkeys(rng.choice(sources) for _ in range(rng.randint(1, 2))))
    again = rng.random() < 0.5
    words = f"grad({place}, {inputs}, create_graph={again})"
    mine, other = pair.run(words, lambda: paddle.grad(pair.ours[place].sum(), [pair.ours[k] for k in inputs], create_graph=again, allow_unused=True),
                           lambda: torch.autograd.grad(pair.theirs[place].sum(), [pair.theirs[k] for k in inputs], create_graph=again,
                                                       retain_graph=True, allow_unused=True))  # fmt: skip
    for one, two in zip(mine, other, strict=True):
        equal_gradients(words, one, two)
        if one is None or two is None:
            continue
        if again and two.requires_grad and bool(torch.isfinite(two).all()) and (two * 1.0).grad_fn is not None and not one.stop_gradient:
            pair.told.append(f"{len(pair.ours)}: of that")
            pair.higher = True
            pair.ours.append(one)
            pair.theirs.append(two)


def hooked(pair: Pair, rng: random.Random) -> None:
    """A hook that doubles a gradient. (PyTorch crashes where a view that was made without recording gets one.)"""
    candidates = [k for k in asked(pair) if not pair.theirs[k]._is_view()]
    if not candidates:
        return
    place = rng.choice(candidates)
    pair.hooked.add(place)
    pair.run(f"{place}.register_hook(double)", lambda: pair.ours[place].register_hook(lambda g: g * 2),
             lambda: pair.theirs[place].register_hook(lambda g: g * 2))  # fmt: skip


def stopped(pair: Pair, rng: random.Random) -> None:
    """A gradient is asked for of a leaf of which none was. (To stop one after its use has no effect here, and has in PyTorch.)"""
    leaves = [k for k, t in enumerate(pair.theirs) if is_leaf(t) and floats(t) and not t.requires_grad and not shared(pair, t)]
    if not leaves:
        return
    place = rng.choice(leaves)
    pair.run(f"{place}.stop_gradient = False", lambda: setattr(pair.ours[place], "stop_gradient", False),
             lambda: pair.theirs[place].requires_grad_())  # fmt: skip


def shared(pair: Pair, tensor: Any) -> bool:
    """Do others show its elements?"""
    place = tensor.untyped_storage().data_ptr()
    return len([t for t in pair.theirs if t.untyped_storage().data_ptr() == place]) > 1


def cleared(pair: Pair, rng: random.Random) -> None:
    """Gradients of leaves set to None."""
    for ours, theirs in zip(pair.ours, pair.theirs, strict=True):
        if is_leaf(theirs):
            ours.grad = theirs.grad = None
    pair.told.append("gradients = None")


STATEMENTS = (computed, store, masked, rewritten, swept, graded, hooked, stopped, cleared)
WEIGHTS = (60, 14, 3, 3, 8, 8, 3, 2, 1)
