"""Sets with computed elements, which the frontend inlines: a list of the elements, in insertion order.

Where a program depends on the iteration order of a set, the set is an ``OrderedSet``: in addition to the list it has a Python set, on
which every operation of the program is repeated, and which determines the order.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing_keys import Unanswered, is_among, key_for, key_to_store, place_among, unanswered_of_set, undecided


class GrowingSet(Unanswered):
    """A ``set``."""

    __slots__ = ("stored_keys", "version")

    def __init__(self) -> None:
        self.stored_keys: Any = []
        self.version = 0

    def keep(self, element: Any) -> None:
        """Enter an element that is not there."""
        self.stored_keys.append(key_to_store(self.stored_keys, element))
        self.version += 1

    def drop(self, element: Any) -> None:
        """Take out an element that is there."""
        del self.stored_keys[place_among(self.stored_keys, key_for(self.stored_keys, element))]
        self.version += 1

    def __len__(self) -> Any:
        return len(self.stored_keys)

    def __contains__(self, element: Any) -> Any:
        return is_among(self.stored_keys, key_for(self.stored_keys, element))

    def __iter__(self) -> Any:
        return ask_for_order(self)

    def __repr__(self) -> Any:
        return unanswered_of_set("shown as text")

    __str__ = __repr__

    def __eq__(self, other: Any) -> Any:
        return len(self) == len(other) and are_in(self, other) if is_set(other) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return not (len(self) == len(other) and are_in(self, other)) if is_set(other) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return len(self) <= len(other) and are_in(self, other) if is_set(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return len(self) < len(other) and are_in(self, other) if is_set(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return len(self) >= len(other) and are_in(other, self) if is_set(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return len(self) > len(other) and are_in(other, self) if is_set(other) else NotImplemented

    def __or__(self, other: Any) -> Any:
        return combined(operator.or_, self, other) if is_set(other) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return combined(operator.or_, other, self) if is_set(other) else NotImplemented

    def __and__(self, other: Any) -> Any:
        return combined(operator.and_, self, other) if is_set(other) else NotImplemented

    def __rand__(self, other: Any) -> Any:
        return combined(operator.and_, other, self) if is_set(other) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return combined(operator.sub, self, other) if is_set(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return combined(operator.sub, other, self) if is_set(other) else NotImplemented

    def __xor__(self, other: Any) -> Any:
        return combined(operator.xor, self, other) if is_set(other) else NotImplemented

    def __rxor__(self, other: Any) -> Any:
        return combined(operator.xor, other, self) if is_set(other) else NotImplemented

    def __ior__(self, other: Any) -> Any:
        if not is_set(other):
            return NotImplemented
        unite(self, other)
        return self

    def __iand__(self, other: Any) -> Any:
        if not is_set(other):
            return NotImplemented
        keep_common(self, other)
        return self

    def __isub__(self, other: Any) -> Any:
        if not is_set(other):
            return NotImplemented
        take_out(self, other)
        return self

    def __ixor__(self, other: Any) -> Any:
        if not is_set(other):
            return NotImplemented
        exchange(self, other)
        return self

    def add(self, element: Any, /) -> None:
        if element not in self:
            self.keep(element)
            repeated(set.add, self, element)

    def discard(self, element: Any, /) -> None:
        if element in self:
            repeated(set.discard, self, element)
            self.drop(element)

    def remove(self, element: Any, /) -> None:
        if element not in self:
            raise KeyError(element)
        repeated(set.discard, self, element)
        self.drop(element)

    def pop(self) -> Any:
        if len(self) == 0:
            raise KeyError("pop from an empty set")
        element = popped(self)
        self.drop(element)
        return element

    def clear(self) -> None:
        repeated(set.clear, self)
        for element in elements_of(self):
            self.drop(element)

    def copy(self) -> Any:
        result = begun(set.copy, self, self)
        for element in elements_of(self):
            result.keep(element)
        return result

    def update(self, *others: Any) -> None:
        for other in others:
            unite(self, other)

    def intersection_update(self, *others: Any) -> None:
        for other in others:
            check_set(self, other)
            keep_common(self, as_set(other))

    def difference_update(self, *others: Any) -> None:
        for other in others:
            take_out(self, as_set(other))

    def symmetric_difference_update(self, other: Any, /) -> None:
        exchange(self, as_set(other))

    def union(self, *others: Any) -> Any:
        result = self.copy()
        for other in others:
            unite(result, other)
        return result

    def intersection(self, *others: Any) -> Any:
        result = self.copy() if len(others) == 0 else self
        for other in others:
            result = combined(operator.and_, result, other) if is_set(other) else common_in_order(result, other)
        return result

    def difference(self, *others: Any) -> Any:
        is_first_set = len(others) > 0 and is_set(others[0])
        result = combined(operator.sub, self, others[0]) if is_first_set else self.copy()
        for other in others[1:] if is_first_set else others:
            take_out(result, as_set(other))
        return result

    def symmetric_difference(self, other: Any, /) -> Any:
        return combined(operator.xor, self, as_set(other))

    def issubset(self, other: Any, /) -> Any:
        return are_in(self, as_set(other))

    def issuperset(self, other: Any, /) -> Any:
        return are_in(as_set(other), self)

    def isdisjoint(self, other: Any, /) -> Any:
        return all(element not in self for element in elements_of(as_set(other)))


class OrderedSet(GrowingSet):
    """A ``set`` whose iteration order is observed: each element has a number, and a Python set of elements gives the order."""

    __slots__ = ("actual", "numbers", "numbers_given", "numbers_of_elements")

    def __init__(self) -> None:
        self.stored_keys = []
        self.version = 0
        self.numbers: Any = []
        self.numbers_given = 0
        self.actual = new_of_python(set)
        self.numbers_of_elements = new_of_python(dict)

    def keep(self, element: Any) -> None:
        self.stored_keys.append(key_to_store(self.stored_keys, element))
        self.version += 1
        self.numbers.append(self.numbers_given)
        enter_number(self, element, self.numbers_given)
        self.numbers_given += 1

    def drop(self, element: Any) -> None:
        place = place_among(self.stored_keys, key_for(self.stored_keys, element))
        forget_number(self, element)
        del self.stored_keys[place]
        del self.numbers[place]
        self.version += 1

    def __iter__(self) -> Iterator[Any]:
        return walk_in_order(self, len(self.stored_keys), self.version)


def walk_in_order(held: Any, count: Any, version: Any) -> Iterator[Any]:
    """The elements in Python's order."""
    for number in numbers_in_order(held):
        check_unchanged(held, count, version)
        yield held.stored_keys[held.numbers.index(number)]
    check_unchanged(held, count, version)


def check_unchanged(held: Any, count: Any, version: Any) -> None:
    """Raise as Python does if the number of elements changed during iteration; refuse other changes, whose effect is undefined."""
    if held.version != version:
        if len(held.stored_keys) != count:
            raise RuntimeError("Set changed size during iteration")
        undecided("a loop over a set takes elements out and adds others", "loop over a copy of the set")


# ------------------------------------------------------------------ of several sets


def is_set(other: Any) -> Any:
    """Whether it is a set or frozenset."""
    return isinstance(other, (set, frozenset))


def as_set(other: Any) -> Any:
    """Return the argument of a method as a set."""
    return other if is_set(other) else set(other)


def are_in(held: Any, other: Any) -> Any:
    """Whether all elements of a set are in another one."""
    return all(element in other for element in elements_of(held))


def combined(function: Any, held: Any, other: Any) -> Any:
    """A new set: ``function`` is an operator of two sets."""
    result = begun(function, held, other)
    for element in elements_of(held):
        if function is operator.or_ or (element in other) == (function is operator.and_):
            result.keep(element)
    if function is operator.or_ or function is operator.xor:
        for element in elements_of(other):
            if element not in held:
                result.keep(element)
    return result


def common_in_order(held: Any, other: Any) -> Any:
    """Return the elements of an iterable that are in a set, in the order of the iterable."""
    result = begun(new_like, held, held)
    for element in other:
        if element in held:
            result.add(element)
    return result


def unite(held: Any, other: Any) -> None:
    """Add the elements of another set or iterable."""
    if is_set(other):
        repeated(set.update, held, other)
        for element in elements_of(other):
            if element not in held:
                held.keep(element)
    else:
        check_adding(held, other)
        for element in other:
            held.add(element)


def keep_all(held: Any, elements: Any) -> None:
    """Add elements that the Python set already holds."""
    for element in elements:
        if element not in held:
            held.keep(element)


def keep_common(held: Any, other: Any) -> None:
    """Remove the elements that are not in another set."""
    repeated(set.intersection_update, held, other)
    for element in elements_of(held):
        if element not in other:
            held.drop(element)


def take_out(held: Any, other: Any) -> None:
    """Remove the elements that are in another set."""
    repeated(set.difference_update, held, other)
    for element in elements_of(held):
        if element in other:
            held.drop(element)


def exchange(held: Any, other: Any) -> None:
    """Compute the symmetric difference in place."""
    repeated(set.symmetric_difference_update, held, other)
    for element in elements_of(other):
        if element in held:
            held.drop(element)
        else:
            held.keep(element)


# ------------------------------------------------------------------ carried out by ``frontend/containers/growing_sets.py``


def ask_for_order(held: Any) -> Any:
    """Lowering starts again, with an ``OrderedSet``."""
    return iter(held.stored_keys)


def popped(held: Any) -> Any:
    """The element that Python's own set takes out."""
    return held.stored_keys[0]


def elements_of(held: Any) -> Any:
    """The elements of a set in an order that does not matter."""
    return list(held)


def begun(function: Any, held: Any, other: Any) -> Any:
    """Return an empty set, whose Python set is ``function`` of those of two sets."""
    return GrowingSet()


def repeated(function: Any, held: Any, *args: Any) -> None:
    """Repeat an operation of the program on the Python set."""


def new_like(held: Any) -> Any:
    """An empty set."""
    return set()


def check_set(held: Any, other: Any) -> None:
    """Raise unless the operand is a set, where Python's order is observed."""


def check_adding(held: Any, other: Any) -> None:
    """Raise for operands that Python does not add element by element, where Python's order is observed."""


def new_of_python(kind: type) -> Any:
    """An empty set or dict of Python's own."""
    return kind()


def enter_number(held: Any, element: Any, number: Any) -> None:
    """Note the number of an element."""


def forget_number(held: Any, element: Any) -> None:
    """Take the number of an element away."""


def numbers_in_order(held: Any) -> Any:
    """The numbers of the elements in Python's order."""
    return range(len(held))


__all__ = ["GrowingSet", "OrderedSet"]
