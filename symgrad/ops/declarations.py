"""Rows that users declare for their own functions: by formulas and rules, or by functions that compute the derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symgrad.ops.spelling import Spelling


@dataclass(frozen=True, slots=True)
class Custom:
    """A function whose derivative is two others: ``forward(*args) -> out, residuals``, ``backward(residuals, out_grad) -> gradients``.

    Or one: ``jvp(args, tangents) -> out, tangent``.
    """

    function: Callable[..., Any]
    forward: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None
    jvp: Any = None  #: False while a function is to have one


#: declarations of users, which take precedence; registered by ``symgrad.rules``
DECLARED: dict[Any, Spelling | Custom] = {}


@dataclass(frozen=True, slots=True)
class Declaration:
    """How a declaration is made again in another process: ``declare(function, *arguments)``; ``module`` is where the user made it."""

    declare: Callable[..., Any]
    arguments: tuple[Any, ...]
    module: str  #: empty for those that symgrad makes itself


#: how each declaration was made
DECLARATIONS: dict[Any, Declaration] = {}


def declared(function: Any) -> Spelling | Custom | None:
    """Return the user's declaration of a callable."""
    try:
        return DECLARED.get(function)
    except TypeError:
        return None


__all__ = ["DECLARATIONS", "DECLARED", "Custom", "Declaration", "declared"]
