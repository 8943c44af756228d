"""What a program of the table is: a function, its adjoints written by hand, and arguments of any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One program to be timed.

    ``adjoint`` gives the value and a tuple of gradients; ``kernel`` the same in the form in which one would compile it with
    numba, if that is written too. ``make`` takes ``sizes`` (or smaller ones, ``tiny``) as keywords and gives the arguments.
    ``work``: for each size that may grow, the power of it that the program's work grows with. ``peers``: libraries that
    differentiate the program with their own ``np`` in the place of NumPy's.
    """

    name: str
    function: Function
    adjoint: Function
    wrt: tuple[int, ...]
    make: Callable[..., tuple[Any, ...]]
    sizes: Mapping[str, int] = field(default_factory=dict)
    tiny: Mapping[str, int] = field(default_factory=dict)
    work: Mapping[str, float] = field(default_factory=dict)
    kernel: Function | None = None
    peers: tuple[str, ...] = ()

    def arguments(self, **sizes: int) -> tuple[Any, ...]:
        """The arguments at the usual sizes, but for those given."""
        return self.make(**{**self.sizes, **sizes})

    def small(self) -> tuple[Any, ...]:
        """Arguments for a quick check."""
        return self.make(**{**self.sizes, **self.tiny})


def numbers(*shape: int, seed: int = 7) -> Any:
    """Normally distributed numbers, the same each time."""
    return np.random.default_rng(seed).standard_normal(shape)


ALL_PEERS = ("autograd", "jax", "torch")
