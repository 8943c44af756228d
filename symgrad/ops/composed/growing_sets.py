"""Sets whose elements are not known while compiling, as the frontend inlines them: a list of the elements, in the order in which they came.

What depends on the order in which Python iterates over a set is refused.
"""

from __future__ import annotations

from typing import Any

from symgrad.ops.composed.growing_keys import Unanswered, create, is_among, key_for, key_to_store, place_among, unanswered_of_set


class GrowingSet(Unanswered):
    """A ``set``."""

    __slots__ = ("stored_keys",)

    def __init__(self) -> None:
        self.stored_keys: Any = []

    def __len__(self) -> Any:
        return len(self.stored_keys)

    def __contains__(self, element: Any) -> Any:
        return is_among(self.stored_keys, key_for(self.stored_keys, element))

    def __iter__(self) -> Any:
        return unanswered_of_set("iterated over, in an order that only Python knows")

    def __ne__(self, other: Any) -> Any:
        return unanswered_of_set("compared")

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __ne__

    def __or__(self, other: Any) -> Any:
        return unanswered_of_set("combined with another one")

    __ror__ = __ior__ = __and__ = __rand__ = __iand__ = __sub__ = __rsub__ = __isub__ = __xor__ = __rxor__ = __ixor__ = __or__

    def __repr__(self) -> Any:
        return unanswered_of_set("shown as text")

    __str__ = __repr__

    def add(self, element: Any) -> None:
        sought = key_to_store(self.stored_keys, element)
        if not is_among(self.stored_keys, sought):
            self.stored_keys.append(sought)

    def discard(self, element: Any) -> None:
        sought = key_for(self.stored_keys, element)
        if is_among(self.stored_keys, sought):
            del self.stored_keys[place_among(self.stored_keys, sought)]

    def remove(self, element: Any) -> None:
        sought = key_for(self.stored_keys, element)
        if not is_among(self.stored_keys, sought):
            raise KeyError(element)
        del self.stored_keys[place_among(self.stored_keys, sought)]

    def clear(self) -> None:
        self.stored_keys.clear()

    def update(self, *others: Any) -> None:
        for other in others:
            for element in other:
                self.add(element)

    def copy(self) -> Any:
        result = create(GrowingSet)
        result.stored_keys = self.stored_keys[:]
        return result


__all__ = ["GrowingSet"]
