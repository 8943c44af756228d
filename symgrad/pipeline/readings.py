"""Cache of lowered functions by signature, shared by all derivatives of a function: after lowering, and after the first passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from symgrad.errors import SymgradError
from symgrad.frontend.lowered_function import Lowered
from symgrad.ir.core import Func
from symgrad.signature import Signature

#: what a function is lowered for: the signature, the pins, the parameters that no gradient goes through, and the arrays of objects
#: that it writes to where the caller sees it
Asked = tuple[Signature, tuple[tuple[str, Any], ...], frozenset[str], frozenset[str]]


@dataclass(slots=True, eq=False)
class Reading:
    """A function as it was lowered, once the first passes have run; ``func`` and ``simplified`` are copies that nobody changes."""

    objects: dict[str, Any]  #: of the user's, by their names in text, before gradients are put together
    lowered: Lowered | None = None
    func: Func | None = None
    simplified: Func | None = None
    related: tuple[str, ...] = ()  #: sums of extents: where they are zero, code for that is better

    def again(self) -> Lowered | None:
        """What was lowered, as it was; None if that is not kept."""
        if self.func is None or self.lowered is None:
            return None
        inputs = [(value, text) for value, (_, text) in zip(self.func.params, self.lowered.inputs, strict=True)]
        return replace(self.lowered, func=self.func, inputs=inputs, objects=dict(self.objects))

    def better(self, read: Callable[[str], Any] | None) -> tuple[tuple[str, Any], ...]:
        """The pins of better code for the arguments at hand."""
        return () if read is None else tuple((text, 0) for text in self.related if read(text) == 0)


#: what each attempt at a function came to; an error where it could not be lowered
Readings = dict[Asked, Reading | SymgradError]

__all__ = ["Reading", "Readings"]
