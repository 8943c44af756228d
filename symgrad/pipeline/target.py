"""A target as a record: a way to run derivatives other than as NumPy code. ``symgrad/targets.py`` holds the table of targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from symgrad.errors import SymgradError
from symgrad.signature import Compiled

if TYPE_CHECKING:
    from symgrad.adjoint.saving.costs import Costs
    from symgrad.pipeline.runner import Stage

Read = Callable[[str], Any]  #: evaluates an expression over the user's parameters
GiveUp = Callable[[type[Exception]], None]  #: called with an exception's class if a kernel raises it and the NumPy code does not


class Texts(Protocol):
    """The texts of a derivative for a target."""

    @property
    def shown(self) -> str:
        """The texts, for a reader."""


@dataclass(frozen=True, slots=True)
class Target:
    """A way to run derivatives; NumPy code is generated in addition, as a fallback.

    Every function is called on demand, and imports its modules then. ``emit`` raises OutOfReach for a derivative
    without a form for the target, ``load`` for one that its compiler refuses; the warning NotCompiled contains the
    line.
    """

    name: str
    title: str  #: the name of the compiler in messages: "numba"
    missing: Callable[[], SymgradError | None]  #: why it is unavailable, None if it is available
    costs: Callable[[], Costs]  #: the costs of recomputing and saving values
    prepare: Callable[[], Stage]  #: passes before a function is differentiated
    emit: Callable[[Any, Any], Texts]  #: emits the texts of a ``Derivation`` and its ``Job``
    load: Callable[[Any, Compiled, Read, GiveUp], Compiled]  #: loads the texts as a replacement of the NumPy code's function
    warm: Callable[[], None] = lambda: None  #: imports the modules that the first call will need
    remark: Callable[[], tuple[str, str] | None] = lambda: None  #: on this installation: a limitation, and the way out
    kept: bool = False  #: whether the texts are kept in the disk cache and in saved modules; they are then numba's


__all__ = ["GiveUp", "Read", "Target", "Texts"]
