"""What a sparse Jacobian needs of one call: the IR parameters' values, and flattening and rebuilding of trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.ir.core import Func
from symgrad.sparsity.run import Pattern, pattern_of


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function of the IR, the parameters that it is differentiated by, and its results that are differentiated."""

    func: Func
    wrt: tuple[int, ...]
    active: tuple[int, ...]
    objects: Mapping[str, Any]
    mutated: tuple[str, ...]  #: the arguments that it writes to

    def pattern(self, values: Sequence[Any]) -> Pattern:
        """The pattern of the Jacobian for these values of the parameters."""
        return pattern_of(self.func, values, self.wrt, self.active, self.objects)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One call. Leaves are the numbers and arrays in a tree, in order."""

    program: Program
    values: tuple[Any, ...]  #: of the parameters of the program
    tangents: Callable[[Sequence[Any]], tuple[Any, ...]]  #: leaves to the tangents of the arguments
    outputs: Callable[[Any], tuple[Any, ...]]  #: a result, or a tangent of it, to its leaves
    seed: Callable[[Sequence[Any]], Any]  #: leaves to what a pullback takes
    gradients: Callable[[Any], tuple[Any, ...]]  #: what a pullback gives to its leaves
    matrices: Callable[[Sequence[Any]], Any]  #: a matrix for each leaf of the result and of the arguments to what is returned

    @property
    def inputs(self) -> list[Any]:
        """The leaves of the arguments."""
        return [self.values[k] for k in self.program.wrt]


__all__ = ["Frame", "Program"]
