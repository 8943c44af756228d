"""Which objects are the same: keys that compare objects by identity and keep them alive, and disjoint sets (union-find).

A bare ``id`` is not a valid key: after the object is freed, another object may have the same ``id``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar


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


Member = TypeVar("Member", bound=Hashable)


@dataclass(slots=True)
class DisjointSets(Generic[Member]):
    """Classes of members, each named by one of them, its representative."""

    parent: dict[Member, Member] = field(default_factory=dict, init=False)

    def find(self, member: Member) -> Member:
        """The representative of a member's class."""
        root = member
        while (above := self.parent.get(root, root)) != root:
            root = above
        while member != root:
            self.parent[member], member = root, self.parent.get(member, member)
        return root

    def unite(self, one: Member, other: Member) -> bool:
        """Merge two classes, named by the representative of the first; return whether they were distinct."""
        first, second = self.find(one), self.find(other)
        if first != second:
            self.parent[second] = first
        return first != second


__all__ = ["DisjointSets", "Same"]
