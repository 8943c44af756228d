"""Cache of lowered functions by signature, shared by all derivatives of a function: after lowering, and after the first passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from symgrad.errors import SymgradError
from symgrad.frontend.containers.results import Lowered
from symgrad.ir.core import Func
from symgrad.signature import Signature

#: the key of a lowering: the signature, the pins, the parameters that no gradient passes through, and the arrays of objects
#: that it writes to visibly for the caller
Asked = tuple[Signature, tuple[tuple[str, Any], ...], frozenset[str], frozenset[str]]


@dataclass(slots=True, eq=False)
class Reading:
    """A lowered function after the first passes; ``func`` and ``simplified`` are copies that are never changed."""

    objects: dict[str, Any]  #: the user's objects, by their names in text, before gradients are built
    lowered: Lowered | None = None
    func: Func | None = None
    simplified: Func | None = None
    related: tuple[str, ...] = ()  #: linear combinations of extents: where they are zero, more specialised code is better

    def again(self) -> Lowered | None:
        """The lowered function in its original state; None if that is not cached."""
        if self.func is None or self.lowered is None:
            return None
        inputs = [(value, text) for value, (_, text) in zip(self.func.params, self.lowered.inputs, strict=True)]
        return replace(self.lowered, func=self.func, inputs=inputs, objects=dict(self.objects))

    def better(self, read: Callable[[str], Any] | None) -> tuple[tuple[str, Any], ...]:
        """The pins of more specialised code for the arguments at hand."""
        return () if read is None else tuple((text, 0) for text in self.related if read(text) == 0)


#: the result of each attempt; an error where the function could not be lowered
Readings = dict[Asked, Reading | SymgradError]

__all__ = ["Reading", "Readings"]
