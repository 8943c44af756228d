"""Learning-rate schedules: ``step()`` advances to the next epoch, ``get_lr()`` returns the current rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any


class LRScheduler:
    """Base of all schedules: subclasses define ``rate(epoch)``, or ``get_lr()`` from ``last_epoch``, ``base_lr`` and ``last_lr``."""

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        self.verbose = verbose
        self.base_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.last_lr = self.base_lr
        self.step()

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Advance to the next epoch, or to a given one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        said = type(self).get_lr is not LRScheduler.get_lr
        self.last_lr = float(self.get_lr()) if said else self.rate(self.last_epoch)
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The rate of this epoch."""
        return self.last_lr

    def __call__(self) -> float:
        return self.last_lr

    def state_dict(self) -> dict[str, Any]:
        """Return the state, from which the schedule can be resumed."""
        return {"last_epoch": self.last_epoch, "last_lr": self.last_lr}

    def set_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.last_epoch, self.last_lr = int(state["last_epoch"]), float(state["last_lr"])

    set_dict = set_state_dict


class ExponentialDecay(LRScheduler):
    """``rate * gamma ** epoch``."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return float(self.base_lr * self.gamma**epoch)


class StepDecay(LRScheduler):
    """``rate * gamma ** (epoch // step_size)``."""

    def __init__(self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return float(self.base_lr * self.gamma ** (epoch // self.step_size))


class MultiStepDecay(LRScheduler):
    """``rate * gamma ** (number of passed milestones)``."""

    def __init__(
        self, learning_rate: float, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.milestones, self.gamma = list(milestones), gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return float(self.base_lr * self.gamma ** sum(epoch >= m for m in self.milestones))


class PiecewiseDecay(LRScheduler):
    """``values[k]`` between two boundaries."""

    def __init__(self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False) -> None:
        if len(values) != len(boundaries) + 1:
            raise ValueError("there must be one value more than boundaries")
        self.boundaries, self.values = list(boundaries), list(values)
        super().__init__(values[0], last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return float(self.values[sum(epoch >= b for b in self.boundaries)])


class PolynomialDecay(LRScheduler):
    """Decay from the rate to ``end_lr`` in ``decay_steps``, as a power of the remaining fraction."""

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        steps = self.decay_steps
        if self.cycle:
            steps *= max(math.ceil(epoch / steps), 1)
        else:
            epoch = min(epoch, steps)
        return float((self.base_lr - self.end_lr) * (1 - epoch / steps) ** self.power + self.end_lr)


class CosineAnnealingDecay(LRScheduler):
    """From the rate to ``eta_min`` and back along a cosine of half period ``T_max`` (Loshchilov and Hutter 2017)."""

    def __init__(self, learning_rate: float, T_max: int, eta_min: float = 0.0, last_epoch: int = -1, verbose: bool = False) -> None:
        self.half, self.eta_min = T_max, eta_min
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * epoch / self.half)) / 2


class NaturalExpDecay(LRScheduler):
    """``rate * exp(-gamma * epoch)``."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return self.base_lr * math.exp(-self.gamma * epoch)


class InverseTimeDecay(LRScheduler):
    """``rate / (1 + gamma * epoch)``."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return self.base_lr / (1 + self.gamma * epoch)


class LambdaDecay(LRScheduler):
    """``rate * function(epoch)``."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False) -> None:
        self.function = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return self.base_lr * self.function(epoch)


class LinearWarmup(LRScheduler):
    """A line from ``start_lr`` to ``end_lr`` in ``warmup_steps``, then the rate or another schedule."""

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.after, self.warmup_steps, self.start_lr, self.end_lr = learning_rate, warmup_steps, start_lr, end_lr
        super().__init__(end_lr, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        if epoch < self.warmup_steps:
            return self.start_lr + (self.end_lr - self.start_lr) * epoch / self.warmup_steps
        if isinstance(self.after, LRScheduler):
            return self.after.rate(epoch - self.warmup_steps)
        return float(self.after)


class NoamDecay(LRScheduler):
    """``rate * d_model ** -0.5 * min(epoch ** -0.5, epoch * warmup_steps ** -1.5)`` (Vaswani et al. 2017)."""

    def __init__(self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False) -> None:
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        rise = float(epoch * self.warmup_steps**-1.5)
        return float(self.base_lr * self.d_model**-0.5 * (min(epoch**-0.5, rise) if epoch else rise))


class MultiplicativeDecay(LRScheduler):
    """The rate times ``function(k)`` of each epoch so far."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False) -> None:
        self.function = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return float(self.base_lr * math.prod(self.function(k) for k in range(1, epoch + 1)))


class ReduceOnPlateau(LRScheduler):
    """The rate times ``factor`` whenever a metric has not improved for more than ``patience`` epochs; ``step(metric)``."""

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError("mode is 'min' or 'max', threshold_mode 'rel' or 'abs'")
        self.sign, self.factor, self.patience = 1.0 if mode == "min" else -1.0, factor, patience
        self.threshold, self.relative, self.cooldown, self.least, self.epsilon = (
            threshold,
            threshold_mode == "rel",
            cooldown,
            min_lr,
            epsilon,
        )
        self.best: float | None = None
        self.bad = self.resting = 0
        super().__init__(learning_rate, -1, verbose)

    def rate(self, epoch: int) -> float:
        """The rate that the metrics so far have led to."""
        return self.last_lr

    def step(self, metrics: Any = None, epoch: int | None = None) -> None:  # type: ignore[override]  # the documented order
        """Go on to the next epoch, with the metric of this one."""
        super().step(epoch)
        if metrics is None:
            return
        now = self.sign * float(metrics)
        if self.best is None or now < self.best - self.threshold * (abs(self.best) if self.relative else 1.0):
            self.best, self.bad = now, 0
        else:
            self.bad += 1
        if self.resting:
            self.resting, self.bad = self.resting - 1, 0
        if self.bad > self.patience:
            lower = max(self.last_lr * self.factor, self.least)
            self.last_lr = lower if self.last_lr - lower > self.epsilon else self.last_lr
            self.resting, self.bad = self.cooldown, 0


class OneCycleLR(LRScheduler):
    """Up to ``max_learning_rate``, down to ``end_learning_rate``, in ``total_steps`` (Smith and Topin 2018).

    It begins at ``max_learning_rate / divide_factor`` and rises for a share ``phase_pct`` of the steps.
    ``three_phase``: it then falls to its initial value in as many steps, and only then to the end.
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if total_steps <= 0 or not 0 <= phase_pct <= 1 or anneal_strategy not in SHAPES or three_phase and phase_pct > 0.5:
            raise ValueError("total_steps is positive, phase_pct between 0 and 1 (0.5 for three phases), anneal_strategy 'cos' or 'linear'")
        first, self.total, self.shape = max_learning_rate / divide_factor, total_steps, SHAPES[anneal_strategy]
        peak = phase_pct * total_steps - 1
        ends = [(peak, max_learning_rate), (2 * peak, first)] if three_phase else [(peak, max_learning_rate)]
        self.ends = [(0.0, first), *ends, (total_steps - 1.0, end_learning_rate)]
        super().__init__(first, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        if epoch > self.total:
            raise ValueError(f"the cycle has {self.total} steps, and this is step {epoch}")
        for (start, low), (end, high) in pairwise(self.ends):
            if epoch <= end or end == self.ends[-1][0]:
                return float(self.shape(low, high, (epoch - start) / (end - start) if end > start else 1.0))
        raise AssertionError(epoch)


SHAPES: dict[str, Callable[[float, float, float], float]] = {
    "cos": lambda a, b, share: b + (a - b) / 2 * (1 + math.cos(math.pi * share)),
    "linear": lambda a, b, share: a + (b - a) * share,
}


class CyclicLR(LRScheduler):
    """Cycle between ``base_learning_rate`` and ``max_learning_rate`` (Smith 2017).

    ``mode``: each cycle alike, half as high as the last, or times ``exp_gamma`` to the power of the step; ``scale_fn`` says it otherwise.
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range") or scale_mode not in ("cycle", "iterations"):
            raise ValueError("mode is 'triangular', 'triangular2' or 'exp_range', scale_mode 'cycle' or 'iterations'")
        self.up = float(step_size_up)
        self.whole = self.up + (self.up if step_size_down is None else float(step_size_down))
        self.height = max_learning_rate - base_learning_rate
        scales: dict[str, Callable[[float], float]] = {
            "triangular": lambda cycle: 1.0,
            "triangular2": lambda cycle: 0.5 ** (cycle - 1),
            "exp_range": lambda step: exp_gamma**step,
        }
        self.scale = scales[mode] if scale_fn is None else scale_fn
        self.by_cycle = mode != "exp_range" if scale_fn is None else scale_mode == "cycle"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        cycle = 1 + epoch // self.whole
        place = (epoch - (cycle - 1) * self.whole) / self.whole
        top = self.up / self.whole
        share = place / top if place <= top else (1 - place) / (1 - top)
        return float(self.base_lr + self.height * share * self.scale(cycle if self.by_cycle else epoch))


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the rate to ``eta_min`` along a cosine in ``T_0`` epochs, again and again, each time ``T_mult`` times as long."""

    def __init__(
        self, learning_rate: float, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        if T_0 <= 0 or T_mult < 1:
            raise ValueError("T_0 and T_mult are whole numbers from 1 on")
        self.first, self.factor, self.eta_min = T_0, T_mult, eta_min
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        length, place = self.first, epoch
        while place >= length:
            place, length = place - length, length * self.factor
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * place / length)) / 2


class LinearLR(LRScheduler):
    """The rate times a factor that goes from ``start_factor`` to ``end_factor`` along a line, in ``total_steps``."""

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if total_steps <= 0 or not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError("total_steps is positive, the factors are between 0 and 1")
        self.total, self.start, self.end = total_steps, start_factor, end_factor
        super().__init__(learning_rate, last_epoch, verbose)

    def rate(self, epoch: int) -> float:
        """The rate of an epoch."""
        return self.base_lr * (self.start + (self.end - self.start) * min(epoch, self.total) / self.total)
