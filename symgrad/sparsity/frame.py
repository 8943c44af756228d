"""The data of one call for a sparse Jacobian: the IR parameters' values, and flattening and rebuilding of trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.ir.core import Func
from symgrad.sparsity.run import Pattern, pattern_of


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A function of the IR, its differentiated parameters, and its differentiated results."""

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
    """The data of one call. Leaves are the numbers and arrays in a tree, in order."""

    program: Program
    values: tuple[Any, ...]  #: of the program's parameters
    tangents: Callable[[Sequence[Any]], tuple[Any, ...]]  #: converts leaves to the tangents of the arguments
    outputs: Callable[[Any], tuple[Any, ...]]  #: converts a result, or its tangent, to leaves
    seed: Callable[[Sequence[Any]], Any]  #: converts leaves to the argument of a pullback
    gradients: Callable[[Any], tuple[Any, ...]]  #: converts the result of a pullback to leaves
    matrices: Callable[[Sequence[Any]], Any]  #: builds the returned value from a matrix for each leaf of the result and of the arguments

    @property
    def inputs(self) -> list[Any]:
        """The leaves of the arguments."""
        return [self.values[k] for k in self.program.wrt]


__all__ = ["Frame", "Program"]
