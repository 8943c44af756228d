"""Functions of ``itertools`` as the generators that they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any


def accumulate(first: Any, rest: Any, func: Any = None) -> Iterator[Any]:
    """``itertools.accumulate`` from a first value."""
    total = first
    yield total
    for value in rest:
        total = total + value if func is None else func(total, value)
        yield total


def starmap(function: Any, iterable: Any) -> Iterator[Any]:
    """``itertools.starmap``."""
    for values in iterable:
        yield function(*values)


def kept(function: Any, iterable: Any) -> Iterator[Any]:
    """``filter``."""
    for value in iterable:
        if value if function is None else function(value):
            yield value


def dropped(predicate: Any, iterable: Any) -> Iterator[Any]:
    """``itertools.filterfalse``."""
    for value in iterable:
        if not (value if predicate is None else predicate(value)):
            yield value


def takewhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """``itertools.takewhile``."""
    for value in iterable:
        if not predicate(value):
            return
        yield value


def dropwhile(predicate: Any, iterable: Any) -> Iterator[Any]:
    """``itertools.dropwhile``."""
    dropping = True
    for value in iterable:
        if dropping and predicate(value):
            continue
        dropping = False
        yield value


def from_iterable(iterable: Any) -> Iterator[Any]:
    """``itertools.chain.from_iterable``."""
    for inner in iterable:
        yield from inner


def chain(*iterables: Any) -> Iterator[Any]:
    """``itertools.chain``."""
    for inner in iterables:
        yield from inner


def pairwise(iterable: Any) -> Iterator[Any]:
    """``itertools.pairwise``."""
    items = list(iterable)
    for k in range(len(items) - 1):
        yield items[k], items[k + 1]


def first_of(iterable: Any, stop: Any) -> Iterator[Any]:
    """``itertools.islice`` up to a place."""
    place = 0
    if stop > 0:
        for value in iterable:
            yield value
            place += 1
            if place >= stop:
                return


def counting(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    """``itertools.count``."""
    value = start
    while True:
        yield value
        value = value + step


def cycle(iterable: Any) -> Iterator[Any]:
    """``itertools.cycle`` of what has a length."""
    items = list(iterable)
    place = 0
    while True:
        yield items[place % len(items)]
        place += 1


def repeat(object: Any, times: Any = None) -> Iterator[Any]:
    """``itertools.repeat``, so many times."""
    if times is None:
        while True:
            yield object
    else:
        for _ in range(times):
            yield object


def product_of_two(first: Any, second: Any) -> Iterator[Any]:
    """``itertools.product`` of two."""
    for a in first:
        for b in second:
            yield a, b


def product_of_three(first: Any, second: Any, third: Any) -> Iterator[Any]:
    """``itertools.product`` of three."""
    for a in first:
        for b in second:
            for c in third:
                yield a, b, c


def pairs_of(items: Any) -> Iterator[Any]:
    """``itertools.combinations`` of two items."""
    for i in range(len(items)):
        for j in range(i + 1, len(items)):
            yield items[i], items[j]


def pairs_below(stop: Any) -> Iterator[Any]:
    """``itertools.combinations(range(stop), 2)``."""
    for i in range(stop):
        for j in range(i + 1, stop):
            yield i, j


ITERATING: dict[Callable[..., Any], Callable[..., Any]] = {
    itertools.starmap: starmap, filter: kept, itertools.filterfalse: dropped, itertools.takewhile: takewhile,
    itertools.dropwhile: dropwhile, itertools.chain.from_iterable: from_iterable, itertools.count: counting, itertools.cycle: cycle,
    itertools.repeat: repeat,
}  # fmt: skip
