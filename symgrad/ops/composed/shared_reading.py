"""Iterators that share one source, which the frontend inlines: groups of ``itertools.groupby``, copies of ``tee``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing_keys import create, undecided
from symgrad.ops.composed.stepping import TELLING, Stepping, tells


class Grouped(Stepping):
    """``itertools.groupby``: the latest group and the iterator itself read from one source."""

    def __init__(self, inner: Any, key: Any) -> None:
        self.inner = inner
        self.key = key
        self.count = 0
        self.begun = False
        self.waiting = False
        self.item = None
        self.key_of_item = None
        self.key_of_group = None

    def __iter__(self) -> Iterator[Any]:
        while True:
            self.count += 1
            if not self.waiting:
                self.skip()
            if not self.waiting:
                return
            self.waiting = False
            self.begun = True
            self.key_of_group = self.key_of_item
            yield self.key_of_group, create(Group, self, self.count, self.item)

    def skip(self) -> None:
        """Read up to the first item of the next group, which waits then."""
        for item in self.inner:
            self.read(item)
            if not self.begun or is_other_key(self.key_of_group, self.key_of_item):
                self.waiting = True
                return

    def read(self, item: Any) -> None:
        """Keep an item with its key."""
        key = self.key
        self.item = item
        self.key_of_item = item if key is None else key(item)


class Group(Stepping):
    """A group of ``itertools.groupby``, which ends where the next group begins."""

    def __init__(self, parent: Any, number: Any, first: Any) -> None:
        self.parent = parent
        self.number = number
        self.first = first
        self.begun = False

    def __iter__(self) -> Iterator[Any]:
        parent = self.parent
        if not self.begun and parent.count == self.number:
            self.begun = True
            yield self.first
        if parent.count == self.number and not parent.waiting:
            for item in parent.inner:
                parent.read(item)
                if is_other_key(parent.key_of_group, parent.key_of_item):
                    parent.waiting = True
                    return
                yield item
                if parent.count != self.number:
                    return


class Copied:
    """The items read by the iterators of one ``itertools.tee``."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.items: Any = []


class Copy(Stepping):
    """One of the iterators that ``itertools.tee`` returns."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.place = 0

    def left(self) -> Any:
        return self.place < len(self.source.items) or self.source.inner.left()

    def take(self) -> Any:
        source = self.source
        if self.place >= len(source.items):
            source.items.append(source.inner.take())
        self.place += 1
        return source.items[self.place - 1]

    def __iter__(self) -> Iterator[Any]:
        source = self.source
        if tells(self):
            while self.left():
                yield self.take()
        else:
            while True:
                if self.place >= len(source.items):
                    for item in source.inner:
                        source.items.append(item)
                        break
                if self.place >= len(source.items):
                    return
                self.place += 1
                yield source.items[self.place - 1]


def is_other_key(key: Any, other: Any) -> Any:
    """Whether two keys differ; a NaN is refused at run time, because Python compares it by identity."""
    if key != key or other != other:
        undecided("keys of itertools.groupby are compared, and there is a nan", "leave nans out before")
    return key != other


#: the class of each in Python
CLASSES: dict[type, type] = {
    Grouped: itertools.groupby,
    Group: type(next(itertools.groupby([0]))[1]),
    Copy: type(itertools.tee([])[0]),
    Copied: type(itertools.tee([])[0]),
}
TELLING.update({Copied: ("inner",), Copy: ("source",)})
