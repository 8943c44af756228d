"""Values that the caller shares: captured values are read from outside, and ``Storing`` writes changes to the caller's objects."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from symgrad.frontend.state.bindings import Binding, HeapKey, Location, Ref, Step
from symgrad.ir.core import Operand, Value


@dataclass(slots=True)
class Captured:
    """A value read from outside the function: by which expression over its globals, cells or arguments, and as which type."""

    text: str
    value: Value
    abstract: Any
    seen: Any = None


class Storing(Protocol):
    """The interface that is notified of each change of an object or of memory; see ``stored``."""

    def changed(self, key: HeapKey, before: Any) -> None:
        """The content of an object has changed."""
        ...

    def global_stored(self, names: dict[str, Any], name: str, value: Binding) -> None:
        """A global variable of a module is assigned to."""
        ...

    def attribute_stored(self, owner: Any, name: str, value: Binding, word: str | None = None) -> None:
        """An attribute of a class, function or cell is assigned to; without a value it is deleted."""
        ...

    def replaced(self, location: Location, old: Operand) -> None:
        """The content of memory was replaced."""
        ...

    def array_stored(self, ref: Ref, value: Operand, last: Step | None) -> None:
        """An array is written to."""
        ...

    def sorting(self, descending: Operand | None) -> AbstractContextManager[None]:
        """Inside, a list is sorted."""
        ...

    def is_outside(self, key: HeapKey) -> bool:
        """Whether the caller can see an object."""
        ...

    def value(self, binding: Binding) -> Operand:
        """A stored binding as an operand."""
        ...

    def known_handle(self, key: HeapKey) -> Operand | None:
        """The operand of an object of the caller's, if it is known."""
        ...
