"""A worklist over a list, for analyses that walk it repeatedly until a fixed point."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(slots=True)
class Agenda(Generic[T]):
    """A worklist over items in order, all due at first. A walk yields the due items, including those that become due ahead of it.

    >>> agenda = Agenda("abcd")
    >>> [agenda.note("c") or agenda.note("a") if item == "b" else item for item in agenda.walk()]
    ['a', None, 'c', 'd']
    >>> list(agenda.walk()), bool(agenda)
    (['a'], False)
    """

    items: Sequence[T]
    places: dict[T, int] = field(init=False)
    due: set[int] = field(init=False)
    ahead: list[int] = field(default_factory=list)  #: due in the current walk, as a heap
    place: int | None = None  #: the position of the current walk

    def __post_init__(self) -> None:
        self.places = {item: k for k, item in enumerate(self.items)}
        self.due = set(range(len(self.items)))

    def __bool__(self) -> bool:
        return bool(self.due)

    def note(self, item: object) -> None:
        """Make an item due; other objects are ignored."""
        place = self.places.get(item)  # type: ignore[arg-type]
        if place is not None and place not in self.due:
            self.due.add(place)
            if self.place is not None and place > self.place:
                heappush(self.ahead, place)

    def walk(self) -> Iterator[T]:
        """The due items, in order."""
        self.ahead, self.place = sorted(self.due), -1
        while self.ahead:
            self.place = heappop(self.ahead)
            self.due.discard(self.place)
            yield self.items[self.place]
        self.place = None


__all__ = ["Agenda"]
