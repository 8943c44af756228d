"""Suppresses NumPy's warnings: infinities and NaN are valid results of recorded operations.

NumPy keeps its error settings in a context. Calling in a prepared context costs a tenth of changing the settings at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np

#: prepared contexts that are not in use
FREE: list[Context] = []


def quiet_context() -> Context:
    """A context in which NumPy warns of nothing."""
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function without NumPy's warnings.

    >>> float(quietly(np.log, 0.0))
    -inf
    """
    try:
        context = FREE.pop()
    except IndexError:
        context = quiet_context()
    try:
        return context.run(function, *args, **kwargs)
    finally:
        FREE.append(context)
