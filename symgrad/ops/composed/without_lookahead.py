"""Iterators with state that have no ``left``: they learn whether another item exists by taking it. The frontend inlines them."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator
from typing import Any

from symgrad.ops.composed.stepping import Stepping, tells


class Zipped(Stepping):
    """``zip`` of an iterator of tuples and one more iterable; the first is advanced before the second."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second

    def __iter__(self) -> Iterator[Any]:
        for items in self.first:
            if tells(self.second):
                if not self.second.left():
                    return
                yield (*items, self.second.take())
            else:
                missing = True
                for item in self.second:  # noqa: B007 - it is read below
                    missing = False
                    break
                if missing:
                    return
                yield (*items, item)

    def step(self) -> Any:
        items = self.first.step()
        return (*items, self.second.step())

    def step_or(self, default: Any) -> Any:
        if tells(self.first) and tells(self.second):
            if not self.first.left():
                return default
            items = self.first.take()
            return (*items, self.second.take()) if self.second.left() else default
        for items in self:
            return items
        return default


class ZippedStrictly(Stepping):
    """``zip(strict=True)`` of an iterator of tuples and one more iterable."""

    def __init__(self, first: Any, second: Any, shorter: Any, longer: Any) -> None:
        self.first = first
        self.second = second
        self.shorter = shorter
        self.longer = longer

    def __iter__(self) -> Iterator[Any]:
        for items in self.first:
            missing = True
            for item in self.second:  # noqa: B007 - it is read below
                missing = False
                break
            if missing:
                raise ValueError(self.shorter)
            yield (*items, item)
        for _ in self.second:
            raise ValueError(self.longer)


class ZippedAround(Stepping):
    """``zip`` of a generator between iterables of known length: one loop over the generator takes the other items, too."""

    def __init__(self, before: Any, generator: Any, after: Any) -> None:
        self.before = before
        self.generator = generator
        self.after = after

    def __iter__(self) -> Iterator[Any]:
        if not before_left(self.before):
            return
        first = before_take(self.before)
        for item in self.generator:
            if not before_left(self.after):
                return
            yield (*first, item, *before_take(self.after))
            if not before_left(self.before):
                return
            first = before_take(self.before)


def before_left(parts: Any) -> Any:
    """Whether each of some iterators has one more item."""
    return len(parts) == 0 or all(part.left() for part in parts)


def before_take(parts: Any) -> Any:
    """The next item of each of some iterators."""
    return tuple([part.take() for part in parts])


class Filtered(Stepping):
    """``filter``, and with ``keeps`` false ``itertools.filterfalse``."""

    def __init__(self, function: Any, inner: Any, keeps: Any) -> None:
        self.inner = inner
        self.function = function
        self.keeps = keeps

    def __iter__(self) -> Iterator[Any]:
        function = self.function
        for item in self.inner:
            if self.keeps:
                if item if function is None else function(item):
                    yield item
            elif not (item if function is None else function(item)):
                yield item


class Compressed(Stepping):
    """``itertools.compress``, of the pairs of item and selector."""

    def __init__(self, pairs: Any) -> None:
        self.pairs = pairs

    def __iter__(self) -> Iterator[Any]:
        for item, chosen in self.pairs:
            if chosen:
                yield item


class TakenWhile(Stepping):
    """``itertools.takewhile``."""

    def __init__(self, predicate: Any, inner: Any) -> None:
        self.inner = inner
        self.predicate = predicate
        self.over = False

    def __iter__(self) -> Iterator[Any]:
        predicate = self.predicate
        if not self.over:
            for item in self.inner:
                if not predicate(item):
                    self.over = True
                    return
                yield item
                if self.over:
                    return


class DroppedWhile(Stepping):
    """``itertools.dropwhile``."""

    def __init__(self, predicate: Any, inner: Any) -> None:
        self.inner = inner
        self.predicate = predicate
        self.dropping = True

    def __iter__(self) -> Iterator[Any]:
        predicate = self.predicate
        for item in self.inner:
            if self.dropping and predicate(item):
                continue
            self.dropping = False
            yield item


class Accumulated(Stepping):
    """``itertools.accumulate``."""

    def __init__(self, inner: Any, function: Any, initial: Any) -> None:
        self.inner = inner
        self.function = function
        self.begun = False
        self.waiting = initial is not None
        self.total = initial

    def __iter__(self) -> Iterator[Any]:
        function = self.function
        if self.waiting:
            self.waiting = False
            self.begun = True
            yield self.total
        for item in self.inner:
            if self.begun:
                self.total = self.total + item if function is None else function(self.total, item)
            else:
                self.total = item
            self.begun = True
            yield self.total


class Sliced(Stepping):
    """``itertools.islice`` with start and step."""

    def __init__(self, inner: Any, start: Any, stop: Any, step: Any) -> None:
        self.inner = inner
        self.following = start
        self.stop = stop
        self.by = step
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        if self.stop is None:
            for item in self.inner:
                self.count += 1
                if self.count > self.following:
                    self.following += self.by
                    yield item
        elif self.count < self.stop:
            for item in self.inner:
                self.count += 1
                if self.count > self.following:
                    self.following += self.by
                    yield item
                if self.count >= self.stop:
                    return


class Pairwise(Stepping):
    """``itertools.pairwise``: the item that the next pair begins with is read already."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.begun = False
        self.last = None

    def __iter__(self) -> Iterator[Any]:
        for item in self.inner:
            last = self.last
            self.last = item
            if self.begun:
                yield last, item
            self.begun = True


class Called(Stepping):
    """``iter(function, sentinel)``."""

    def __init__(self, function: Any, sentinel: Any) -> None:
        self.function = function
        self.sentinel = sentinel
        self.over = False

    def __iter__(self) -> Iterator[Any]:
        function = self.function
        while not self.over:
            item = function()
            if item == self.sentinel:
                self.over = True
            else:
                yield item


class Running(Stepping):
    """A generator of the user's that is combined with other iterators."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def __iter__(self) -> Iterator[Any]:
        yield from self.generator


#: the class of each in Python
CLASSES: dict[type, type] = {
    Zipped: zip,
    ZippedStrictly: zip,
    ZippedAround: zip,
    Filtered: filter,
    Compressed: itertools.compress,
    TakenWhile: itertools.takewhile,
    DroppedWhile: itertools.dropwhile,
    Accumulated: itertools.accumulate,
    Sliced: itertools.islice,
    Pairwise: itertools.pairwise,
    Called: type(iter(int, 1)),
    Running: Generator,
}
