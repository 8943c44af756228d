"""Optimisers of trees of parameters: gradients and a state -> new parameters and a new state.

An optimiser holds settings only. ``init`` returns its initial state for given parameters, and ``update`` computes one step; neither
modifies its arguments. The steps are functions of ``symgrad.functional.updates``, which the optimisers of tensors use too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from symgrad.errors import BadArgument
from symgrad.functional import updates
from symgrad.tracebacks import boundary
from symgrad.trees import Form, Vector, form_of, in_kind

__all__ = ["LBFGS", "LBFGSState", "Optimizer", "State", "adam", "adamw", "lbfgs", "momentum", "sgd"]

Tree = TypeVar("Tree")
#: a number, or a function of the number of previous steps
Rate = float | Callable[[int], float]
ENOUGH = 1e-4  #: the fraction of the predicted decrease that a step of L-BFGS must reach (Nocedal and Wright 2006, section 3.1)
HALVINGS = 40  #: the largest number of halvings of a step of L-BFGS


class State(NamedTuple):
    """The state of an optimiser: the number of steps, and named trees of the form of the parameters."""

    step: int
    memory: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimiser that updates each leaf independently; created by ``sgd``, ``momentum``, ``adam``, ``adamw``."""

    rule: Callable[..., Any]  #: of ``symgrad.functional.updates``
    learning_rate: Rate
    settings: dict[str, Any] = field(default_factory=dict)
    weight_decay: float = 0.0
    clip_norm: float | None = None

    @property
    def memory(self) -> tuple[tuple[str, float, bool], ...]:
        """The state of a parameter: names, initial values, and whether each is one number."""
        return updates.MEMORY[self.rule.__name__]

    @boundary
    def init(self, params: Any) -> State:
        """Return the state before the first step. Raises the errors of ``symgrad.ravel``."""
        form = form_of(params, "params")
        leaves = form.leaves(params)
        return State(0, {name: form.with_others([first(leaf, value, single) for leaf in leaves]) for name, value, single in self.memory})

    @boundary
    def update(self, grads: Any, state: State, params: Tree) -> tuple[Tree, State]:
        """Compute one step: return new parameters and the new state.

        ``grads`` has the form of ``params``, as returned by ``symgrad.grad``. Raises BadArgument if the forms differ.
        """
        form = form_of(params, "params")
        rate = rate_at(self.learning_rate, state.step)
        remembered = [[np.asarray(leaf) for leaf in form.leaves(state.memory[name])] for name, _, _ in self.memory]
        leaves, results = form.leaves(params), []
        for k, gradient in enumerate(self.prepared(form, grads, leaves)):
            dtype = gradient.dtype
            with np.errstate(all="ignore"):  # infinities and NaN are valid results here
                updated = self.rule(np.asarray(leaves[k]), gradient, np.asarray(rate, dtype), *(m[k] for m in remembered), **self.settings)
            results.append(updated if isinstance(updated, tuple) else (updated,))
        after, *rest = zip(*results, strict=True) if results else [()] * (1 + len(self.memory))
        memory = {
            name: form.with_others([np.asarray(one, np.asarray(leaf).dtype)[()] for one, leaf in zip(part, leaves, strict=True)])
            for (name, _, _), part in zip(self.memory, rest, strict=True)
        }
        return form.with_leaves(list(after)), State(state.step + 1, memory)

    def prepared(self, form: Form, grads: Any, leaves: list[Any]) -> list[np.ndarray]:
        """The gradients clipped, then with the gradient of the decay added, in the dtypes of the parameters."""
        gradients = gradients_of(form, grads, leaves)
        if self.clip_norm is not None:
            total = updates.sum_of_squares(*gradients)
            gradients = [np.asarray(updates.clipped_by_total(one, total, self.clip_norm), one.dtype) for one in gradients]
        if self.weight_decay:
            gradients = [updates.with_l2(one, np.asarray(leaf), self.weight_decay) for one, leaf in zip(gradients, leaves, strict=True)]
        return gradients


# ------------------------------------------------------------------ the optimisers


@boundary
def sgd(learning_rate: Rate, *, weight_decay: float = 0.0, clip_norm: float | None = None) -> Optimizer:
    """Gradient descent: ``p - rate * g``.

    ``learning_rate`` is a number, or a function of the number of previous steps. ``clip_norm`` scales the gradients down to this global
    norm, if theirs is larger. ``weight_decay`` then adds the gradient of ``weight_decay / 2 * sum(p ** 2)``. Raises BadArgument for
    settings out of range.

    >>> optimizer = sgd(0.5)
    >>> optimizer.update([4.0], optimizer.init([1.0]), [1.0])[0]
    [-1.0]
    """
    return Optimizer(updates.sgd, positive("learning_rate", learning_rate), {}, *common(weight_decay, clip_norm))


@boundary
def momentum(
    learning_rate: Rate, momentum: float = 0.9, *, nesterov: bool = False, weight_decay: float = 0.0, clip_norm: float | None = None
) -> Optimizer:
    """Gradient descent with momentum (Polyak 1964); ``nesterov`` selects Nesterov's form (Sutskever et al. 2013).

    ``v = momentum * v + g``, then ``p - rate * v``, or ``p - rate * (g + momentum * v)``. The other settings are those of ``sgd``.
    """
    settings = {"mu": fraction("momentum", momentum), "nesterov": bool(nesterov)}
    return Optimizer(updates.momentum, positive("learning_rate", learning_rate), settings, *common(weight_decay, clip_norm))


@boundary
def adam(
    learning_rate: Rate = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    *,
    weight_decay: float = 0.0,
    clip_norm: float | None = None,
) -> Optimizer:
    """Adam (Kingma and Ba 2015, algorithm 1). The other settings are those of ``sgd``.

    >>> import symgrad
    >>> loss = symgrad.from_source("def loss(p): return np.sum((p['w'] - 3.0) ** 2)", globals={"np": np})
    >>> gradient, optimizer, params = symgrad.grad(loss), adam(learning_rate=0.1), {"w": np.zeros(2)}
    >>> state = optimizer.init(params)
    >>> for _ in range(300):
    ...     params, state = optimizer.update(gradient(params), state, params)
    >>> params["w"].round(3)
    array([3., 3.])
    """
    return Optimizer(
        updates.adam, positive("learning_rate", learning_rate), of_adam(beta1, beta2, epsilon), *common(weight_decay, clip_norm)
    )


@boundary
def adamw(
    learning_rate: Rate = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    *,
    weight_decay: float = 0.01,
    clip_norm: float | None = None,
) -> Optimizer:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2): first ``p * (1 - rate * weight_decay)``."""
    decay, limit = common(weight_decay, clip_norm)
    settings = of_adam(beta1, beta2, epsilon) | {"decay": decay}
    return Optimizer(updates.adamw, positive("learning_rate", learning_rate), settings, 0.0, limit)


@boundary
def lbfgs(learning_rate: Rate = 1.0, history: int = 10) -> LBFGS:
    """L-BFGS (Nocedal 1980), for gradients without noise: a quasi-Newton step from the latest ``history`` steps.

    Pass the function to ``update``: the step is then halved until the function decreases sufficiently. Without the function, the step is
    scaled by ``learning_rate`` and may increase the function. ``symgrad.integrations.scipy.minimize`` has a better line search.

    >>> import symgrad
    >>> rosenbrock = symgrad.from_source("def f(p): return 100.0 * (p[1] - p[0] ** 2) ** 2 + (1.0 - p[0]) ** 2")
    >>> gradient, optimizer, params = symgrad.grad(rosenbrock), lbfgs(), [-1.2, 1.0]
    >>> state = optimizer.init(params)
    >>> for _ in range(50):
    ...     params, state = optimizer.update(gradient(params), state, params, rosenbrock)
    >>> [round(x, 6) for x in params]
    [1.0, 1.0]
    """
    if isinstance(history, bool) or not isinstance(history, int) or history < 1:
        raise BadArgument(f"history is {history!r}", hint="a whole number of steps, 1 or more")
    return LBFGS(positive("learning_rate", learning_rate), history)


class LBFGSState(NamedTuple):
    """The state of L-BFGS: the number of steps, the latest parameters and gradient, the latest steps and changes of the gradient."""

    step: int
    params: Vector | None
    gradient: Vector | None
    steps: tuple[Vector, ...]
    changes: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class LBFGS:
    """The optimiser that ``lbfgs`` returns."""

    learning_rate: Rate
    history: int

    @boundary
    def init(self, params: Any) -> LBFGSState:
        """Return the state before the first step. Raises the errors of ``symgrad.ravel``."""
        form_of(params, "params")
        return LBFGSState(0, None, None, (), ())

    @boundary
    def update(self, grads: Any, state: LBFGSState, params: Tree, function: Callable[[Tree], Any] | None = None) -> tuple[Tree, LBFGSState]:
        """Compute one step: return new parameters and the new state.

        ``grads`` is the gradient of ``function``. With ``function``, the step is halved until the decrease reaches a fraction of the
        predicted one; after 40 halvings without a decrease the parameters stay unchanged. Raises BadArgument if the forms differ.
        """
        form = form_of(params, "params")
        x, gradient = form.vector(params), form.vector(grads)
        steps, changes = self.remembered(state, x, gradient)
        direction = updates.lbfgs(gradient, steps, changes)
        rate = rate_at(self.learning_rate, state.step)
        if not steps:  # without curvature information, the first step has at most length one
            rate = rate * min(1.0, 1.0 / max(float(np.sum(np.abs(gradient))), np.finfo(float).tiny))
        if function is not None:
            rate = self.searched(function, form, x, direction, float(np.dot(gradient, direction)), rate)
        return form.tree(x + rate * direction), LBFGSState(state.step + 1, x, gradient, steps, changes)

    def remembered(self, state: LBFGSState, x: Vector, gradient: Vector) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """Return the history with the latest step appended, if the function is convex along that step."""
        if state.params is None or state.gradient is None:
            return (), ()
        step, change = x - state.params, gradient - state.gradient
        if not np.dot(step, change) > np.finfo(x.dtype).eps * np.dot(change, change):
            return state.steps, state.changes
        return (*state.steps, step)[-self.history :], (*state.changes, change)[-self.history :]

    @staticmethod
    def searched(function: Callable[[Any], Any], form: Form, x: Vector, direction: Vector, slope: float, rate: float) -> float:
        """Return the first halved step length with a sufficient decrease, or 0."""
        before = float(function(form.tree(x)))
        for _ in range(HALVINGS):
            if float(function(form.tree(x + rate * direction))) <= before + ENOUGH * rate * slope:
                return rate
            rate /= 2
        return 0.0


# ------------------------------------------------------------------ validation


def first(leaf: Any, value: float, single: bool) -> Any:
    """Return the initial state of a leaf, in its dtype."""
    return np.asarray(value, np.asarray(leaf).dtype)[()] if single else in_kind(leaf, np.full(np.shape(leaf), value))


def gradients_of(form: Form, grads: Any, leaves: list[Any]) -> list[np.ndarray]:
    """Return the gradients as arrays in the dtypes of the parameters; raise BadArgument if the forms differ."""
    parts = [form.fitted(gradient, k) for k, gradient in enumerate(form.leaves(grads))]
    return [np.asarray(part, np.asarray(leaf).dtype) for part, leaf in zip(parts, leaves, strict=True)]


def rate_at(rate: Rate, step: int) -> float:
    """The learning rate of a step."""
    return float(rate(step)) if callable(rate) else float(rate)


def positive(name: str, value: Any) -> Any:
    """Return a setting that is a positive number or a function; raise BadArgument for others."""
    if not callable(value) and not (is_number(value) and value > 0):
        raise BadArgument(f"{name} is {value!r}", hint="a positive number, or a function of the number of steps")
    return value


def fraction(name: str, value: Any) -> float:
    """A number from 0 to 1, without 1."""
    if not (is_number(value) and 0 <= value < 1):
        raise BadArgument(f"{name} is {value!r}", hint="a number from 0 to 1, without 1")
    return float(value)


def common(weight_decay: Any, clip_norm: Any) -> tuple[float, float | None]:
    """Validate the settings that all optimisers share."""
    if not (is_number(weight_decay) and weight_decay >= 0):
        raise BadArgument(f"weight_decay is {weight_decay!r}", hint="a number that is not negative")
    if clip_norm is not None and not (is_number(clip_norm) and clip_norm > 0):
        raise BadArgument(f"clip_norm is {clip_norm!r}", hint="a positive number, or None")
    return float(weight_decay), None if clip_norm is None else float(clip_norm)


def of_adam(beta1: Any, beta2: Any, epsilon: Any) -> dict[str, Any]:
    """The settings of Adam."""
    if not (is_number(epsilon) and epsilon > 0):
        raise BadArgument(f"epsilon is {epsilon!r}", hint="a positive number")
    return {"beta1": fraction("beta1", beta1), "beta2": fraction("beta2", beta2), "epsilon": float(epsilon)}


def is_number(value: Any) -> bool:
    """Whether the value is a real number."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
