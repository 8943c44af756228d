"""Queries of the keys of dicts with computed keys, and the queries that are refused; called by ``frontend/containers/growing_dicts.py``."""

from __future__ import annotations

from typing import Any


def key_for(keys: Any, key: Any) -> Any:
    """The key, which has to be of the same kind as the keys of the dict."""
    return key


def key_to_store(keys: Any, key: Any) -> Any:
    """The same for a key that may be new, which must be of the class of the other keys."""
    return key


def to_hold(items: Any, item: Any) -> Any:
    """An item in the form in which a dict with these items holds it."""
    return item


def is_among(keys: Any, key: Any) -> Any:
    """Whether the key exists."""
    return key in keys


def place_among(keys: Any, key: Any) -> Any:
    """Return the index of an existing key."""
    return keys.index(key)


def number_checked(key: Any) -> None:
    """Raise at run time for a NaN key, which Python compares by identity."""
    if key != key:
        undecided("a nan is a key of a dict", "leave nans out before")


def is_float(key: Any) -> Any:
    """Whether it is a Python float or a float64."""
    return isinstance(key, float)


def class_checked(key: Any) -> None:
    """Refuse a number that may be of a narrower class, when the program runs: it may equal a float without having the same hash."""
    if not is_float(key):
        undecided("a key of a dict is neither a float of Python's nor a float64, as others are", "make it a float, with float(...)")


def number_compared(key: Any) -> None:
    """Raise for a lookup among numbers of another class that is finer than the class of the key."""
    if abs(key) >= 9007199254740992:
        undecided("a number of 2**53 or more is compared with keys of another class", "make all keys of one class")


def create(kind: type, *args: Any) -> Any:
    """A new dict, or a view of one."""
    return kind(*args)


def compared(items: Any, others: Any) -> None:
    """Refuse to compare the items of dicts, unless they are numbers or texts."""


def unanswered(what: str) -> Any:
    """Refuse a question to such a dict."""
    raise NotImplementedError(what)


def unanswered_of_set(what: str) -> Any:
    """Refuse a question to a set whose elements are not known at compile time."""
    raise NotImplementedError(what)


def undecided(what: str, hint: str) -> None:
    """Raise at run time for an unsupported operation on such a dict."""
    raise NotImplementedError(what, hint)


class Unanswered:
    """An unsupported query of a dict or of a view of one."""

    __slots__ = ()

    def __eq__(self, other: Any) -> Any:
        return unanswered("compared")

    def __ne__(self, other: Any) -> Any:
        return unanswered("compared")

    def __lt__(self, other: Any) -> Any:
        return unanswered("compared")

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> Any:
        return unanswered("hashed")

    def __repr__(self) -> Any:
        return unanswered("shown as text")

    def __str__(self) -> Any:
        return unanswered("shown as text")

    def __copy__(self) -> Any:
        return unanswered("copied")

    def __deepcopy__(self, memo: Any) -> Any:
        return unanswered("copied")

    def __or__(self, other: Any) -> Any:
        return unanswered("combined with another one")

    __ror__ = __ior__ = __and__ = __rand__ = __iand__ = __sub__ = __rsub__ = __isub__ = __xor__ = __rxor__ = __ixor__ = __or__
    __add__ = __radd__ = __iadd__ = __or__
