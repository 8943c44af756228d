"""Functions of ``itertools``, written as generators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def mapped(function: Any, iterable: Any) -> Iterator[Any]:
    """``map``."""
    for value in iterable:
        yield function(value)


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


def neighbours(iterable: Any) -> Iterator[Any]:
    """``itertools.pairwise`` of an iterator."""
    begun = False
    last = None
    for value in iterable:
        if begun:
            yield last, value
        begun = True
        last = value


def first_of(iterable: Any, stop: Any) -> Iterator[Any]:
    """``itertools.islice`` with a stop only."""
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
    """``itertools.cycle`` of an iterable with a length."""
    items = list(iterable)
    place = 0
    while True:
        yield items[place % len(items)]
        place += 1


def cycle_of_iterator(iterable: Any) -> Iterator[Any]:
    """``itertools.cycle`` of an iterator, whose items are yielded and saved in the first cycle."""
    items = []
    for value in iterable:
        yield value
        items.append(value)
    place = 0
    while len(items) > 0:
        yield items[place % len(items)]
        place += 1


def repeat(object: Any, times: Any) -> Iterator[Any]:
    """``itertools.repeat`` with a count."""
    for _ in range(times):
        yield object


def repeat_forever(object: Any, times: Any) -> Iterator[Any]:
    """``itertools.repeat`` without an end."""
    while True:
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


def places_of_one(n: Any) -> Iterator[Any]:
    """``np.ndindex`` of one extent."""
    for i in range(n):
        yield (i,)


def places_of_two(n: Any, m: Any) -> Iterator[Any]:
    """``np.ndindex`` of two extents."""
    for i in range(n):
        for j in range(m):
            yield i, j


def places_of_three(n: Any, m: Any, p: Any) -> Iterator[Any]:
    """``np.ndindex`` of three extents."""
    for i in range(n):
        for j in range(m):
            for k in range(p):
                yield i, j, k


def places_of_four(n: Any, m: Any, p: Any, q: Any) -> Iterator[Any]:
    """``np.ndindex`` of four extents."""
    for i in range(n):
        for j in range(m):
            for k in range(p):
                for h in range(q):
                    yield i, j, k, h


def numbered_elements(a: Any, places: Any) -> Iterator[Any]:
    """``np.ndenumerate``: the index and value of each element."""
    for place in places:
        yield place, a[place]


def first_value(iterable: Any) -> Any:
    """``next`` of a generator that is not resumed."""
    for value in iterable:
        return value
    raise StopIteration


def first_value_or(iterable: Any, default: Any) -> Any:
    """The same with a default."""
    for value in iterable:
        return value
    return default


def numbered(iterable: Any, start: Any) -> Iterator[Any]:
    """``enumerate`` of a generator."""
    count = start
    for value in iterable:
        yield count, value
        count += 1


def accumulated(iterable: Any, func: Any, initial: Any) -> Iterator[Any]:
    """``itertools.accumulate`` of an iterable that may be empty."""
    total = initial
    begun = initial is not None
    if initial is not None:
        yield total
    for value in iterable:
        if begun:
            total = total + value if func is None else func(total, value)
        else:
            total = value
        begun = True
        yield total


def sliced(iterable: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    """``itertools.islice``."""
    place = 0
    following = start
    if stop is None:
        for value in iterable:
            place += 1
            if place > following:
                following += step
                yield value
    elif stop > 0:
        for value in iterable:
            place += 1
            if place > following:
                following += step
                yield value
            if place >= stop:
                return


def compressed(pairs: Any) -> Iterator[Any]:
    """``itertools.compress`` of pairs of item and selector."""
    for value, chosen in pairs:
        if chosen:
            yield value


def equals(sought: Any, iterable: Any) -> Iterator[Any]:
    """The comparison of ``in`` with each item."""
    for value in iterable:
        yield value == sought


def called(function: Any, sentinel: Any) -> Iterator[Any]:
    """``iter`` of a function and the value that ends it."""
    while True:
        value = function()
        if value == sentinel:
            return
        yield value


PLACES = (places_of_one, places_of_two, places_of_three, places_of_four)


def by_places(items: Any) -> Iterator[Any]:
    """``iter`` of an instance with ``__getitem__`` alone: the items at 0, 1, ... up to an ``IndexError``."""
    place = 0
    while True:
        try:
            value = items[place]
        except IndexError:
            return
        yield value
        place += 1


def stepped(iterator: Any) -> Iterator[Any]:
    """The items of an instance with ``__next__``, up to its ``StopIteration``."""
    while True:
        try:
            value = iterator.__next__()
        except StopIteration:
            return
        yield value


def next_or(iterator: Any, default: Any) -> Any:
    """``next`` of an instance with ``__next__``, with a default."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default


def backwards(items: Any) -> Iterator[Any]:
    """``reversed`` of an instance with ``__len__`` and ``__getitem__``."""
    for place in range(len(items) - 1, -1, -1):
        yield items[place]
