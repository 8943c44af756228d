"""Refusals of the compiler: the whole function then runs as NumPy code, with the reason in the user's terms."""

from __future__ import annotations

import re

import numpy as np

from symgrad.ir.core import Apply, Call, Value
from symgrad.ir.types import DTYPES, Array, List, Object, Scalar, ShapeOf, Tape, Type
from symgrad.location import Loc
from symgrad.ops.declare import ROWS
from symgrad.text import is_name


class OutOfReach(Exception):  # not an error: the request runs as NumPy code
    """A construct without a compiled form: ``reason`` as the end of a sentence, ``loc`` in the user's source.

    >>> OutOfReach("complex numbers").clause
    'kernels do not support complex numbers'
    """

    def __init__(self, reason: str, loc: Loc | None = None) -> None:
        super().__init__(reason)
        self.reason, self.loc = reason, loc

    @property
    def clause(self) -> str:
        """Why the function is not compiled."""
        return f"kernels do not support {self.reason}"


class NoPlaces(OutOfReach):
    """The iterations of an inner loop are not known before the outer one, so that its tape must grow."""


class CompilerFailed(OutOfReach):
    """An error during compilation; ``reason`` is a clause of its own."""

    @property
    def clause(self) -> str:
        return self.reason


#: the number of lines or operations of a kernel that numba compiles in about a minute
LONGEST = 2000


def check_length(count: int, what: str) -> None:
    """Refuse a kernel with more lines or operations than numba compiles in a minute and two gigabytes."""
    if count > LONGEST:
        raise OutOfReach(f"{count:,} {what}, which numba would take minutes to compile")


def dtype_in_words(dtype: str | None) -> str:
    """A dtype as NumPy names it.

    >>> dtype_in_words("c128")
    'complex128'
    """
    return "an unknown dtype" if dtype is None else np.dtype(DTYPES[dtype]).name


#: rows that do no arithmetic on an integer
KEPT = frozenset({"cast", "number", "where", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})


def check_integers(name: str, type_: Type, loc: Loc) -> None:
    """Refuse arithmetic on narrow integers: in numba they grow to 64 bits, in NumPy they wrap."""
    if isinstance(type_, Scalar) and type_.kind == "int" and type_.dtype not in (None, "any", "i64") and name not in KEPT:
        raise OutOfReach(f"arithmetic of integers of type {dtype_in_words(type_.dtype)}", loc)


def in_words(type_: Type) -> str:
    """The description of a type in the user's terms.

    >>> in_words(Array("f64", (1, 2))), in_words(List(Scalar("int"))), in_words(Array(None, None))
    ('an array of float64', 'a list of integers', 'an array of an unknown dtype')
    """
    match type_:
        case Scalar(kind=kind, dtype=None | "any"):
            return {"bool": "a boolean", "int": "an integer", "float": "a float", "complex": "a complex number"}[kind]
        case Scalar(dtype=dtype):
            return f"a number of {dtype_in_words(dtype)}"
        case Array(dtype=dtype):
            return f"an array of {dtype_in_words(dtype)}"
        case ShapeOf():
            return "a shape"
        case List(item=item):
            return f"a list of {plural(in_words(item))}"
        case Tape():
            return "saved values"
        case Object(name="array"):
            return "an array that the function writes to where the caller sees it"
        case Object(name=name):
            return "a Python object" if name == "object" else f"a Python object ({name})"
    return "a value of unknown type"


def named(value: Value) -> str:
    """The user's name of a value, else ``a variable``.

    >>> named(Value(Scalar("int"), "total")), named(Value(Scalar("int")))
    ('total', 'a variable')
    """
    return value.name if is_name(value.name) else "a variable"


def plural(words: str) -> str:
    """The plural of a description that begins with an article.

    >>> plural("an array of float64"), plural("a boolean"), plural("saved values")
    ('arrays of float64', 'booleans', 'saved values')
    """
    article, _, rest = words.partition(" ")
    if article not in ("a", "an"):
        return words
    head, *tail = re.split(r"(?= of | \()", rest, maxsplit=1)
    return "".join((f"{head}s", *tail))


def function_in_words(op: Call | Apply) -> str:
    """The function that the user calls there; else the NumPy function of the op.

    >>> function_in_words(Call([], Loc("model.py", 1, 4, 17, "y = np.cumsum(x)"), "cumsum", []))
    'np.cumsum'
    """
    written = re.match(r"[^\W\d][\w.]*(?=\()", op.loc.text[op.loc.column :])
    if written is not None:
        return written[0]
    if isinstance(op, Apply):
        return "a function" if op.func is None else op.func.name
    emit = ROWS[op.name].emit
    called = re.match(r"(?:np|math)\.[\w.]+", emit) if isinstance(emit, str) else None
    return called[0] if called else op.name.replace("_", " ")
