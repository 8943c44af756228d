"""The error for a documented name that symgrad does not offer."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any


def explaining(module: str, offered: Iterable[str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a module: names that are like the one that is missing, and a way out."""
    names = list(offered)

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        near = difflib.get_close_matches(name, names, 3)
        hint = f"; there is {', '.join(near)}" if near else "; NumPy's functions take tensors too"
        raise AttributeError(f"{module}.{name} is not offered here{hint}")

    return missing
