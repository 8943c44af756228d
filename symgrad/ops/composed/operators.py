"""The functions of ``operator``, each written with its operator, so that both treat the classes of operands alike."""

from __future__ import annotations

import operator
from typing import Any

from symgrad.ops.composed.refusing import need
from symgrad.tables import counterparts


def neg(a: Any, /) -> Any:
    return -a


def pos(a: Any, /) -> Any:
    return +a


def invert(a: Any, /) -> Any:
    return ~a


def and_(a: Any, b: Any, /) -> Any:
    return a & b


def or_(a: Any, b: Any, /) -> Any:
    return a | b


def xor(a: Any, b: Any, /) -> Any:
    return a ^ b


def lshift(a: Any, b: Any, /) -> Any:
    return a << b


def rshift(a: Any, b: Any, /) -> Any:
    return a >> b


def concat(a: Any, b: Any, /) -> Any:
    need_sequences(a, b)
    return a + b


def need_sequences(a: Any, b: Any) -> None:
    """Raise for operands that ``+`` accepts but ``operator.concat`` does not."""
    both = isinstance(a, (list, tuple, str)) and isinstance(b, (list, tuple, str))
    need(both, "only lists, tuples and strings are concatenated")


def getitem(a: Any, b: Any, /) -> Any:
    return a[b]


def setitem(a: Any, b: Any, c: Any, /) -> None:
    a[b] = c


def delitem(a: Any, b: Any, /) -> None:
    del a[b]


def call(obj: Any, /, *args: Any, **kwargs: Any) -> Any:
    return obj(*args, **kwargs)


def methodcaller(name: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A function that calls a method of its argument."""

    def caller(obj: Any) -> Any:
        return getattr(obj, name)(*args, **kwargs)

    return caller


def count_of(a: Any, b: Any, /) -> Any:
    """How many items are ``b``, or equal to it."""
    return sum(1 for item in a if b in (item,))


def index_of(a: Any, b: Any, /) -> Any:
    """Return the index of the first item that is identical or equal to ``b``."""
    for place, item in enumerate(a):
        if b in (item,):
            return place
    raise ValueError("sequence.index(x): x not in sequence")


def iadd(a: Any, b: Any, /) -> Any:
    a += b
    return a


def isub(a: Any, b: Any, /) -> Any:
    a -= b
    return a


def imul(a: Any, b: Any, /) -> Any:
    a *= b
    return a


def itruediv(a: Any, b: Any, /) -> Any:
    a /= b
    return a


def ifloordiv(a: Any, b: Any, /) -> Any:
    a //= b
    return a


def imod(a: Any, b: Any, /) -> Any:
    a %= b
    return a


def ipow(a: Any, b: Any, /) -> Any:
    a **= b
    return a


def imatmul(a: Any, b: Any, /) -> Any:
    a @= b
    return a


def iand(a: Any, b: Any, /) -> Any:
    a &= b
    return a


def ior(a: Any, b: Any, /) -> Any:
    a |= b
    return a


def ixor(a: Any, b: Any, /) -> Any:
    a ^= b
    return a


def ilshift(a: Any, b: Any, /) -> Any:
    a <<= b
    return a


def irshift(a: Any, b: Any, /) -> Any:
    a >>= b
    return a


def iconcat(a: Any, b: Any, /) -> Any:
    need_sequences(a, b)
    a += b
    return a


#: functions of ``operator``, each with the function that is lowered in its place
FUNCTIONS: dict[Any, Any] = (
    counterparts(operator, neg, pos, invert, and_, or_, xor, lshift, rshift, concat, getitem, setitem, delitem, call, methodcaller)
    | counterparts(operator, iadd, isub, imul, itruediv, ifloordiv, imod, ipow, imatmul, iand, ior, ixor, ilshift, irshift, iconcat)
    | {operator.inv: invert, operator.countOf: count_of, operator.indexOf: index_of}
)

__all__ = ["FUNCTIONS"]


def object_init(self: Any) -> None:
    """``object.__init__``, which does nothing."""
