"""Keys that compare objects by identity and keep them alive.

A bare ``id`` is not a valid key: after the object is freed, another object may have the same ``id``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """A key that is equal only to a key of the same object.

    >>> one, other = [1], [1]
    >>> Same(one) == Same(one), Same(one) == Same(other)
    (True, False)
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


__all__ = ["Same"]
