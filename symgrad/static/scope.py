"""Where the values of parameters live from run to run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Scope:
    """Values of parameters and other variables that are kept from run to run."""

    def __init__(self) -> None:
        self.values: dict[str, Array] = {}
        self.followed: dict[str, tuple[float, Array]] = {}  #: what schedules said last, and the array made of it

    def follow(self, name: str, rate: float) -> None:
        """Give a variable that is there the value that its schedule says."""
        now, last = self.values.get(name), self.followed.get(name)
        if now is not None and (last is None or last[1] is not now or last[0] != rate):
            self.values[name] = made = np.asarray(rate, now.dtype)
            self.followed[name] = (rate, made)

    def var(self, name: str) -> Kept:
        """The place of a variable, made if it is not there."""
        self.values.setdefault(name, np.empty(0, "float32"))
        return Kept(self, name)

    def find_var(self, name: str) -> Kept | None:
        """The place of a variable, or None."""
        return Kept(self, name) if name in self.values else None


class Kept:
    """One value in a scope."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope, self.name = scope, name

    def get_tensor(self) -> Kept:
        """The place itself, which is array-like."""
        return self

    def set(self, value: Any, place: Any = None) -> None:
        """Put another value there."""
        self.scope.values[self.name] = np.array(value)

    def shape(self) -> list[int]:
        """The extents of the value."""
        return list(self.scope.values[self.name].shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        made = self.scope.values[self.name]
        return made.copy() if dtype is None else made.astype(dtype)


SCOPES: list[Scope] = [Scope()]


def global_scope() -> Scope:
    """The scope in which programs run unless another is given."""
    return SCOPES[-1]


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Run in another scope meanwhile."""
    SCOPES.append(scope)
    try:
        yield
    finally:
        SCOPES.pop()
