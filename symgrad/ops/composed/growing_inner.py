"""Dicts and sets that are items of dicts with computed keys and are modified there; the frontend inlines them.

Each is a number. The contents of all that are created at one location of the program are in one ``Pool``: pairs of the number and the
key, and the items. So the item of the outer dict is a number that never changes, and a store through one name is visible through all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing import GrowingCounter
from symgrad.ops.composed.growing_dicts import GrowingDefaultDict, GrowingDict, have_equal_items
from symgrad.ops.composed.growing_keys import is_among, key_for, key_to_store, place_among, to_hold, undecided
from symgrad.ops.composed.growing_sets import GrowingSet, enter_number, forget_number, new_of_python, numbers_in_order


class Pool:
    """The contents of all dicts or sets that one expression creates."""

    __slots__ = ("pairs", "sizes", "stored_items", "versions")

    def __init__(self) -> None:
        self.pairs: Any = []
        self.stored_items: Any = []
        self.sizes: Any = []
        self.versions: Any = []

    def new_number(self) -> Any:
        """The number of a new dict or set, which holds nothing."""
        self.sizes.append(0)
        self.versions.append(0)
        return len(self.sizes) - 1

    def change_size(self, number: Any, by: Any) -> None:
        """Record that keys were entered or removed."""
        self.sizes[number] += by
        self.versions[number] += 1


class OrderedPool(Pool):
    """The contents of sets whose iteration order is observed: with a Python set for each, by number."""

    __slots__ = ("actual", "numbers", "numbers_given", "numbers_of_elements")

    def __init__(self) -> None:
        self.pairs = []
        self.stored_items = []
        self.sizes = []
        self.versions = []
        self.numbers: Any = []
        self.numbers_given = 0
        self.actual = new_of_python(dict)
        self.numbers_of_elements = new_of_python(dict)


def pool_of(held: Any) -> Any:
    """Return the pool of a dict or set, which is determined by the expression that creates it."""
    return held


def set_factory(held: Any, factory: Any) -> None:
    """Record the default factory of a dict."""


def factory_of(held: Any) -> Any:
    """Return the default factory of a dict."""
    return held


def keys_of(held: Any) -> Any:
    """The keys of a dict, or the elements of a set, in order of insertion."""
    number = held.number
    return [pair[1] for pair in pool_of(held).pairs if pair[0] == number]


class InnerDict(GrowingDict):
    """A ``dict``."""

    number: Any

    def __init__(self) -> None:
        self.number = pool_of(self).new_number()

    def __len__(self) -> Any:
        return pool_of(self).sizes[self.number]

    def __contains__(self, key: Any) -> Any:
        pairs = pool_of(self).pairs
        return is_among(pairs, key_for(pairs, (self.number, key)))

    def __getitem__(self, key: Any) -> Any:
        pool = pool_of(self)
        sought = key_for(pool.pairs, (self.number, key))
        if not is_among(pool.pairs, sought):
            raise KeyError(key)
        return pool.stored_items[place_among(pool.pairs, sought)]

    def __setitem__(self, key: Any, item: Any) -> None:
        pool = pool_of(self)
        sought = key_to_store(pool.pairs, (self.number, key))
        if is_among(pool.pairs, sought):
            pool.stored_items[place_among(pool.pairs, sought)] = to_hold(pool.stored_items, item)
            del item
        else:
            pool.pairs.append(sought)
            pool.stored_items.append(to_hold(pool.stored_items, item))
            pool.change_size(self.number, 1)
            del item

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        take_out(self, key)

    def walk(self, of_values: Any, of_pairs: Any) -> Iterator[Any]:
        return walk_inner(self, of_values, of_pairs, keys_of(self))

    def walk_backwards(self, of_values: Any, of_pairs: Any) -> Iterator[Any]:
        return walk_inner(self, of_values, of_pairs, keys_of(self)[::-1])

    def __eq__(self, other: Any) -> Any:
        return have_equal_items(self, other) if isinstance(other, dict) else NotImplemented

    def get(self, key: Any, default: Any = None, /) -> Any:
        pool = pool_of(self)
        sought = key_for(pool.pairs, (self.number, key))
        if is_among(pool.pairs, sought):
            return pool.stored_items[place_among(pool.pairs, sought)]
        return default

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        pool = pool_of(self)
        sought = key_to_store(pool.pairs, (self.number, key))
        if not is_among(pool.pairs, sought):
            pool.pairs.append(sought)
            pool.stored_items.append(to_hold(pool.stored_items, default))
            pool.change_size(self.number, 1)
            del default
        else:
            del default
        return pool.stored_items[place_among(pool.pairs, sought)]

    def pop(self, key: Any, *default: Any) -> Any:
        pool = pool_of(self)
        sought = key_for(pool.pairs, (self.number, key))
        if not is_among(pool.pairs, sought):
            if not default:
                raise KeyError(key)
            return default[0]
        item = pool.stored_items[place_among(pool.pairs, sought)]
        take_out(self, key)
        return item

    def popitem(self) -> Any:
        keys = keys_of(self)
        if len(keys) == 0:
            raise KeyError("popitem(): dictionary is empty")
        return keys[-1], self.pop(keys[-1])

    def clear(self) -> None:
        for key in keys_of(self):
            take_out(self, key)

    def copy(self) -> Any:
        result = create_like(self)
        for key in keys_of(self):
            result[key] = self[key]
        return result


class InnerDefaultDict(InnerDict, GrowingDefaultDict):
    """A ``collections.defaultdict``."""

    def __init__(self, factory: Any) -> None:
        self.number = pool_of(self).new_number()
        set_factory(self, factory)

    def __getitem__(self, key: Any) -> Any:
        pool = pool_of(self)
        sought = key_to_store(pool.pairs, (self.number, key))
        if not is_among(pool.pairs, sought):
            factory = factory_of(self)
            self[key] = factory()
        return pool.stored_items[place_among(pool.pairs, sought)]

    @property
    def default_factory(self) -> Any:
        return factory_of(self)


class InnerCounter(InnerDict, GrowingCounter):
    """A ``collections.Counter``."""

    def __getitem__(self, key: Any) -> Any:
        return self.get(key, 0)

    def __delitem__(self, key: Any) -> None:
        if key in self:
            take_out(self, key)

    def total(self) -> Any:
        return sum(self.values())


class InnerSet(GrowingSet):
    """A ``set``."""

    number: Any

    def __init__(self) -> None:
        self.number = pool_of(self).new_number()

    def __len__(self) -> Any:
        return pool_of(self).sizes[self.number]

    def __contains__(self, element: Any) -> Any:
        pairs = pool_of(self).pairs
        return is_among(pairs, key_for(pairs, (self.number, element)))

    def keep(self, element: Any) -> None:
        pool = pool_of(self)
        pool.pairs.append(key_to_store(pool.pairs, (self.number, element)))
        pool.change_size(self.number, 1)

    def drop(self, element: Any) -> None:
        pool = pool_of(self)
        del pool.pairs[place_among(pool.pairs, key_for(pool.pairs, (self.number, element)))]
        pool.change_size(self.number, -1)


class OrderedInnerSet(InnerSet):
    """A ``set`` whose iteration order is observed, like ``growing_sets.OrderedSet``."""

    def __init__(self) -> None:
        self.number = pool_of(self).new_number()
        enter_actual(self)

    def keep(self, element: Any) -> None:
        pool = pool_of(self)
        pool.pairs.append(key_to_store(pool.pairs, (self.number, element)))
        pool.change_size(self.number, 1)
        pool.numbers.append(pool.numbers_given)
        enter_number(self, element, pool.numbers_given)
        pool.numbers_given += 1

    def drop(self, element: Any) -> None:
        pool = pool_of(self)
        place = place_among(pool.pairs, key_for(pool.pairs, (self.number, element)))
        forget_number(self, element)
        del pool.pairs[place]
        del pool.numbers[place]
        pool.change_size(self.number, -1)

    def __iter__(self) -> Iterator[Any]:
        return walk_in_order(self, len(self), pool_of(self).versions[self.number])


def walk_in_order(held: Any, size: Any, version: Any) -> Iterator[Any]:
    """The elements in Python's order."""
    pool = pool_of(held)
    for number in numbers_in_order(held):
        check_unchanged_set(held, size, version)
        yield pool.pairs[pool.numbers.index(number)][1]
    check_unchanged_set(held, size, version)


def check_unchanged_set(held: Any, size: Any, version: Any) -> None:
    """Raise as Python does if the number of elements changed during iteration; refuse other changes, whose effect is undefined."""
    pool = pool_of(held)
    if pool.versions[held.number] != version:
        if pool.sizes[held.number] != size:
            raise RuntimeError("Set changed size during iteration")
        undecided("a loop over a set takes elements out and adds others", "loop over a copy of the set")


def enter_actual(held: Any) -> None:
    """Note an empty set of Python's own for a set."""


def take_out(held: Any, key: Any) -> None:
    """Take a key that is there out of a dict."""
    pool = pool_of(held)
    place = place_among(pool.pairs, key_for(pool.pairs, (held.number, key)))
    del pool.pairs[place]
    del pool.stored_items[place]
    pool.change_size(held.number, -1)


def walk_inner(held: Any, of_values: Any, of_pairs: Any, keys: Any) -> Iterator[Any]:
    """The keys, items or pairs of a dict, in the order of some keys."""
    pool = pool_of(held)
    size = pool.sizes[held.number]
    version = pool.versions[held.number]
    for key in keys:
        check_unchanged(held, size, version)
        yield (key, held[key]) if of_pairs else held[key] if of_values else key
    check_unchanged(held, size, version)


def check_unchanged(held: Any, size: Any, version: Any) -> None:
    """Raise as Python does if the number of keys changed during iteration; refuse other changes, whose effect is undefined."""
    pool = pool_of(held)
    if pool.versions[held.number] != version:
        if pool.sizes[held.number] != size:
            raise RuntimeError("dictionary changed size during iteration")
        undecided("a loop over a dict deletes keys and stores others", "loop over a copy of its keys, collected in a list before")


def create_like(held: Any) -> Any:
    """A new dict of the same class and pool."""
    return type(held)()


#: classes and their replacements
INNER: dict[type, type] = {
    GrowingDict: InnerDict,
    GrowingDefaultDict: InnerDefaultDict,
    GrowingCounter: InnerCounter,
    GrowingSet: InnerSet,
}

__all__ = ["INNER", "InnerCounter", "InnerDefaultDict", "InnerDict", "InnerSet", "OrderedInnerSet", "OrderedPool", "Pool"]
