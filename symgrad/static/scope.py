"""Scopes: the values of parameters between runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Scope:
    """Values of parameters and other persistent variables."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}  #: arrays, and NumPy's scalars in place of arrays without axes
        self.values: Mapping[str, Any] = MappingProxyType(self.held)  #: to look at
        self.stamp = object()  #: another one whenever a value has come in that may be of another shape or dtype

    def put(self, values: Mapping[str, Any]) -> None:
        """Store values that nothing else references."""
        for name, value in values.items():
            self.held[name] = value if type(value) is np.ndarray and value.ndim else np.asarray(value)[()]
        self.stamp = object()

    def erase(self, names: Iterable[str]) -> None:
        """Forget values."""
        for name in names:
            self.held.pop(name, None)
        self.stamp = object()

    def follow(self, name: str, rate: float) -> None:
        """Set an existing variable to the value of its schedule."""
        if name in self.held:
            self.held[name] = self.held[name].dtype.type(rate)

    def var(self, name: str) -> Kept:
        """Return the slot of a variable, creating it if necessary."""
        if name not in self.held:
            self.put({name: np.empty(0, "float32")})
        return Kept(self, name)

    def find_var(self, name: str) -> Kept | None:
        """Return the slot of a variable, or None."""
        return Kept(self, name) if name in self.values else None


class Kept:
    """One value in a scope."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope, self.name = scope, name

    def get_tensor(self) -> Kept:
        """Return the slot itself, which is array-like."""
        return self

    def set(self, value: Any, place: Any = None) -> None:
        """Put another value there."""
        self.scope.put({self.name: np.array(value)})

    def shape(self) -> list[int]:
        """The extents of the value."""
        return list(self.scope.values[self.name].shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.scope.values[self.name], dtype)


SCOPES: list[Scope] = [Scope()]


def global_scope() -> Scope:
    """Return the default scope of programs."""
    return SCOPES[-1]


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Run in another scope meanwhile."""
    SCOPES.append(scope)
    try:
        yield
    finally:
        SCOPES.pop()
