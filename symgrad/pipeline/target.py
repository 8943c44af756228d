"""A target as a record: a way to run derivatives other than as NumPy code. ``symgrad/targets.py`` holds the table of targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from symgrad.errors import SymgradError
from symgrad.signature import Compiled

if TYPE_CHECKING:
    from symgrad.adjoint.costs import Costs
    from symgrad.pipeline.runner import Stage

Read = Callable[[str], Any]  #: the value of an expression over the user's parameters
GiveUp = Callable[[type[Exception]], None]  #: told of what is raised where the NumPy code does not raise


class Texts(Protocol):
    """The texts of a derivative for a target."""

    @property
    def shown(self) -> str:
        """What a reader wants to see of them."""


@dataclass(frozen=True, slots=True)
class Target:
    """How derivatives are made for one way to run them; NumPy code is made beside them, and runs where they cannot.

    Every function is called when it is needed, and imports what it needs then. ``emit`` raises OutOfReach for a derivative that the
    target has no form of, ``load`` for one that its compiler cannot take: the notice NotCompiled says which line that is.
    """

    name: str
    title: str  #: what compiles, in words: "numba"
    missing: Callable[[], SymgradError | None]  #: why it cannot be used here, None if it can
    costs: Callable[[], Costs]  #: what computing something again costs, and keeping it
    prepare: Callable[[], Stage]  #: passes over a function before it is differentiated
    emit: Callable[[Any, Any], Texts]  #: of a ``Derivation`` and its ``Job``
    load: Callable[[Any, Compiled, Read, GiveUp], Compiled]  #: the texts as the NumPy code's entry, with another function
    warm: Callable[[], None] = lambda: None  #: imports what the first call will need
    remark: Callable[[], tuple[str, str] | None] = lambda: None  #: of this installation: what could not be proved, and the way out
    kept: bool = False  #: are the texts kept on the disk and in saved modules?  They are numba's then


__all__ = ["GiveUp", "Read", "Target", "Texts"]
