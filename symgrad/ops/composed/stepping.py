"""Iterators with state, which the frontend inlines: each holds its source and its position.

A ``for`` statement over one leaves the position after the last item taken. If ``tells`` is true of an iterator, ``left`` returns
without side effect whether there is one more item, and ``take`` returns it. Others, among them all of ``without_lookahead``, have only
``__iter__``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any


class Stepping:
    """The common base of iterators with state."""

    left: Any
    take: Any

    def __iter__(self) -> Iterator[Any]:
        while self.left():
            yield self.take()

    def step(self) -> Any:
        """``next(it)``."""
        if tells(self):
            if not self.left():
                raise StopIteration
            return self.take()
        for item in self:
            return item
        raise StopIteration

    def step_or(self, default: Any) -> Any:
        """``next(it, default)``."""
        if tells(self):
            return self.take() if self.left() else default
        for item in self:
            return item
        return default


class Walk(Stepping):
    """``iter`` of a list, a tuple, a text or an array."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.place = 0

    def left(self) -> Any:
        return self.place < len(self.items)

    def take(self) -> Any:
        self.place += 1
        return self.items[self.place - 1]

    def __iter__(self) -> Iterator[Any]:
        while self.place < len(self.items):
            self.place += 1
            yield self.items[self.place - 1]
        self.place = 4611686018427387904  # used up, also should the list grow later

    def step(self) -> Any:
        if self.place >= len(self.items):
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]

    def step_or(self, default: Any) -> Any:
        if self.place >= len(self.items):
            return default
        self.place += 1
        return self.items[self.place - 1]


class Backwards(Stepping):
    """``reversed`` of a list, a tuple or an array."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.place = len(items) - 1

    def left(self) -> Any:
        return self.place >= 0 and self.place < len(self.items)

    def take(self) -> Any:
        self.place -= 1
        return self.items[self.place + 1]


class WalkOfRange(Stepping):
    """``iter`` of a range."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.value = start
        self.stop = stop
        self.by = step

    def left(self) -> Any:
        return self.value < self.stop if self.by > 0 else self.value > self.stop

    def take(self) -> Any:
        self.value += self.by
        return self.value - self.by


class WalkOfValues(Stepping):
    """``iter`` of ``d.values()``."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.size = len(owner)
        self.place = 0

    def left(self) -> Any:
        if len(self.owner) != self.size:
            raise RuntimeError("dictionary changed size during iteration")
        return self.place < self.size

    def take(self) -> Any:
        self.place += 1
        return list(self.owner.values())[self.place - 1]


class WalkOfItems(WalkOfValues):
    """``iter`` of ``d.items()``."""

    def take(self) -> Any:
        self.place += 1
        return list(self.owner.items())[self.place - 1]


class Enumerated(Stepping):
    """``enumerate``."""

    def __init__(self, inner: Any, start: Any) -> None:
        self.inner = inner
        self.count = start

    def left(self) -> Any:
        return self.inner.left()

    def take(self) -> Any:
        item = self.inner.take()
        self.count += 1
        return self.count - 1, item

    def __iter__(self) -> Iterator[Any]:
        for item in self.inner:
            self.count += 1
            yield self.count - 1, item


class Single(Stepping):
    """``zip`` of one iterable."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def left(self) -> Any:
        return self.inner.left()

    def take(self) -> Any:
        return (self.inner.take(),)

    def __iter__(self) -> Iterator[Any]:
        for item in self.inner:
            yield (item,)


class ZippedLongest(Stepping):
    """``itertools.zip_longest`` of two."""

    def __init__(self, first: Any, second: Any, fillvalue: Any) -> None:
        self.first = first
        self.second = second
        self.fillvalue = fillvalue

    def left(self) -> Any:
        return self.first.left() or self.second.left()

    def take(self) -> Any:
        one = self.first.take() if self.first.left() else self.fillvalue
        return one, self.second.take() if self.second.left() else self.fillvalue


class Mapped(Stepping):
    """``map`` of one iterable."""

    def __init__(self, function: Any, inner: Any) -> None:
        self.inner = inner
        self.function = function

    def left(self) -> Any:
        return self.inner.left()

    def take(self) -> Any:
        function = self.function
        return function(self.inner.take())

    def __iter__(self) -> Iterator[Any]:
        function = self.function
        for item in self.inner:
            yield function(item)


class Starred(Stepping):
    """``itertools.starmap``, and ``map`` of several iterables."""

    def __init__(self, function: Any, inner: Any) -> None:
        self.inner = inner
        self.function = function

    def left(self) -> Any:
        return self.inner.left()

    def take(self) -> Any:
        function = self.function
        return function(*self.inner.take())

    def __iter__(self) -> Iterator[Any]:
        function = self.function
        for items in self.inner:
            yield function(*items)


class Chained(Stepping):
    """``itertools.chain`` of two."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second

    def left(self) -> Any:
        return self.first.left() or self.second.left()

    def take(self) -> Any:
        return self.first.take() if self.first.left() else self.second.take()

    def __iter__(self) -> Iterator[Any]:
        if tells(self):
            while self.first.left() or self.second.left():
                yield self.first.take() if self.first.left() else self.second.take()
        else:
            for item in self.first:
                yield item
            for item in self.second:
                yield item


class Limited(Stepping):
    """``itertools.islice`` with a stop only."""

    def __init__(self, inner: Any, stop: Any) -> None:
        self.inner = inner
        self.stop = stop
        self.count = 0

    def left(self) -> Any:
        return self.count < self.stop and self.inner.left()

    def take(self) -> Any:
        self.count += 1
        return self.inner.take()

    def __iter__(self) -> Iterator[Any]:
        if self.count < self.stop:
            for item in self.inner:
                self.count += 1
                yield item
                if self.count >= self.stop:
                    return


class Counting(Stepping):
    """``itertools.count``."""

    def __init__(self, start: Any, step: Any) -> None:
        self.value = start
        self.by = step

    def left(self) -> Any:
        return True

    def take(self) -> Any:
        value = self.value
        self.value = value + self.by
        return value


class Repeated(Stepping):
    """``itertools.repeat``."""

    def __init__(self, object: Any, times: Any) -> None:
        self.object = object
        self.times = times

    def left(self) -> Any:
        return self.times is None or self.times > 0

    def take(self) -> Any:
        if self.times is not None:
            self.times -= 1
        return self.object


class Pairs(Stepping):
    """``itertools.combinations`` of two items."""

    def __init__(self, items: Any) -> None:
        self.items = list(items)
        self.i = 0
        self.j = 1

    def left(self) -> Any:
        return self.i < len(self.items) - 1

    def take(self) -> Any:
        pair = (self.items[self.i], self.items[self.j])
        self.j += 1
        if self.j >= len(self.items):
            self.i += 1
            self.j = self.i + 1
        return pair


class Product(Stepping):
    """``itertools.product`` of two."""

    def __init__(self, first: Any, second: Any) -> None:
        self.first = list(first)
        self.second = list(second)
        self.place = 0

    def left(self) -> Any:
        return self.place < len(self.first) * len(self.second)

    def take(self) -> Any:
        place = self.place
        self.place += 1
        return self.first[place // len(self.second)], self.second[place % len(self.second)]


#: the iterators that have ``left`` and ``take``, with the fields that hold the iterators below: these must have them too
TELLING: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((Walk, Backwards, WalkOfRange, WalkOfValues, WalkOfItems, Counting, Repeated, Pairs, Product), ()),
    **dict.fromkeys((Enumerated, Single, Mapped, Starred, Limited), ("inner",)),
    **dict.fromkeys((Chained, ZippedLongest), ("first", "second")),
}


def tells(iterator: Any) -> bool:
    """Whether an iterator has ``left`` and ``take``."""
    below = TELLING.get(type(iterator))
    return below is not None and all(tells(getattr(iterator, name)) for name in below)


def positioned(iterable: Any) -> Any:
    """An iterator with a position, created here."""
    return iter(iterable)


#: the class of each in Python
CLASSES: dict[type, type] = {
    Walk: type(iter([])),
    Backwards: type(reversed([])),
    WalkOfRange: type(iter(range(0))),
    WalkOfValues: type(iter({}.values())),
    WalkOfItems: type(iter({}.items())),
    Enumerated: enumerate,
    Single: zip,
    ZippedLongest: itertools.zip_longest,
    Mapped: map,
    Starred: itertools.starmap,
    Chained: itertools.chain,
    Limited: itertools.islice,
    Counting: itertools.count,
    Repeated: itertools.repeat,
    Pairs: itertools.combinations,
    Product: itertools.product,
}
