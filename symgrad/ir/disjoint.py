"""Disjoint sets (union-find): the equivalence classes of the alias analyses and of variables."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

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


__all__ = ["DisjointSets"]
