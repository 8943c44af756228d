"""The records that emission returns: source texts, the globals needed to load them, and the origin of each statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.types import Type
from symgrad.location import NOWHERE, Loc
from symgrad.text import is_name, literal

DECORATOR = '@njit(error_model="numpy", cache=True)'


#: returns a line of a file
Lines = Callable[[str, int], str]


@dataclass(slots=True)
class Mark:
    """The facts about one emitted statement.

    These are its origin, whether it is backward, whether its function has no halves, whether it writes or reads a
    tape, and the section that begins there.
    """

    loc: Loc = NOWHERE
    backward: bool = False
    whole: bool = False
    tape: bool = False
    section: str = ""


@dataclass(frozen=True, slots=True)
class Tie:
    """A line of emitted text, counted from 1, and its origin in the user's source.

    ``backward``: it belongs to the backward half. ``tape``: it saves a value for the backward half, or reads a
    saved value.
    """

    line: int
    loc: Loc
    backward: bool = False
    tape: bool = False


@dataclass(slots=True)
class Emitted:
    """Source text, the globals it needs, and where its lines come from."""

    text: str
    namespace: dict[str, Any]
    line_map: list[Tie] = field(default_factory=list)

    def place(self, line: int) -> Loc:
        """The user's line for a line of the text: its own origin, or that of the nearest line before it."""
        before = [tie for tie in self.line_map if tie.line <= line]
        return max(before, key=lambda tie: tie.line).loc if before else NOWHERE

    @property
    def defined(self) -> frozenset[str]:
        """The names of the functions in the text."""
        return frozenset(re.findall(r"^def (\w+)\(", self.text, re.MULTILINE))


@dataclass(slots=True)
class Kernel:
    """A kernel and its caller: names and texts.

    ``leaves`` are the expressions over the user's parameters for the kernel's parameters. ``direct``: these are
    the user's parameters themselves and the kernel's result is the whole result, so that the caller only adds
    the fallback.
    """

    stem: str  #: the caller's name
    name: str
    text: str  #: of the module, with imports and decorator
    caller: str
    fallback: str
    leaves: list[str]
    types: list[Type]
    direct: bool
    flat: bool = False  #: whether its parameters are the user's
    results: tuple[str, ...] = ()  #: the caller's names for its results, and the expression returned; both empty if it is direct
    returned: str = ""
    namespace: dict[str, Any] = field(default_factory=dict)  #: the caller's other global names
    behind: str = ""  #: the NumPy function equivalent to the kernel, where ``stem`` only returns it
    tangents: tuple[str, ...] = ()  #: leaves that are tangents, not expressions over the user's parameters

    @property
    def shown(self) -> str:
        """The texts of both, for a reader."""
        return f"{self.text[self.text.index(DECORATOR) :]}\n\n{self.caller}"


@dataclass(frozen=True, slots=True)
class Seed:
    """The seed of a pullback for one result: its expression over ``out_grad``, and the result's over ``out``."""

    argument: str
    result: str
    shape: str | None  #: the variable that holds the shape of an array result
    fits: bool  #: it is an array or a number, of floats or complex numbers
    of_complex: bool = False
    dtype: str | None = None  #: the text of a dtype other than Python's
    unknown: bool = False  #: the dtype is known from the result only
    is_array: bool = True  #: an array on every path; else it may be a number

    @property
    def kept(self) -> list[str]:
        """The lines that save the shape, and a dtype known from the result only."""
        result = self.result if self.is_array else f"array_of({self.result})"
        shape = [] if self.shape is None else [f"{self.shape} = {result}.shape"]
        return shape if self.dtype is None or not self.unknown else [*shape, f"{self.dtype} = {result}.dtype"]

    @property
    def fitted(self) -> str:
        """The seed, converted for the backward half."""
        words = [self.argument, str(self.shape), "True"] if self.of_complex else filter(None, [self.argument, self.shape])
        words = [*words, *([] if self.dtype is None else [f"dtype={self.dtype}"])]
        words = words if is_name(self.argument) else [*words, f"name={literal(f'the seed of {self.result}')}"]
        return f"fitting_seed({', '.join(words)})" if self.fits else self.argument


@dataclass(frozen=True, slots=True)
class Again:
    """The NumPy code of both halves as one function of the program's parameters, at ``places``, and the seeds."""

    name: str
    emitted: Emitted
    places: Sequence[int]


@dataclass(slots=True)
class Pair:
    """The kernels of the two halves of a pullback, their caller, and the NumPy code of both: names and texts."""

    stem: str  #: the caller's name
    forward: tuple[str, str]
    backward: tuple[str, str]
    caller: str
    again: tuple[str, str]
    leaves: list[str]
    types: list[Type]
    taken: list[int | Type]  #: the arguments of the backward half: results of the forward half, by index, then seeds, by type
    namespace: dict[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The texts of all three, for a reader."""
        kernels = [text[text.index(DECORATOR) :] for _, text in (self.forward, self.backward)]
        return "\n\n".join([*kernels, self.caller])
