"""Wraps a NumPy function of tensors and settings as a public function with the same parameters and ``name``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from symgrad.errors import refused
from symgrad.frontend.text.source import from_source
from symgrad.record.operations import frozen
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.promotion import as_float


def reduction_of(reduction: str) -> str:
    """Refuse an unknown reduction."""
    if reduction not in ("mean", "sum", "none"):
        raise refused(ValueError(f"the reduction must be 'mean', 'sum' or 'none', not {reduction!r}"))
    return reduction


def exposed(function: Callable[..., Any], floats: bool = False) -> Any:
    """Return the public function: parameters annotated as tensors are inputs, others settings; ``floats``: integers become floats."""
    words = inspect.signature(function).parameters.values()
    head = ", ".join([p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in words] + ["name=None"])
    inputs = [f"as_float({p.name})" if floats else p.name for p in words if p.annotation == "Tensor"]
    settings = [f"{p.name}={'reduction_of' if p.name == 'reduction' else 'frozen'}({p.name})" for p in words if p.annotation != "Tensor"]
    text = f"def {function.__name__}({head}):\n    return apply(function, {', '.join(inputs + settings)})\n"
    space: dict[str, Any] = {"apply": apply, "as_float": as_float, "frozen": frozen, "reduction_of": reduction_of}
    space |= {"function": function, "__name__": __name__}
    wrapper = from_source(text, globals=space)
    wrapper.__doc__ = function.__doc__
    wrapper.__annotations__ = {**function.__annotations__, "name": "str | None"}
    return wrapper


def table(module: ModuleType, names: Iterable[str], floats: bool = False) -> dict[str, Any]:
    """The functions that users call, by name."""
    return {name: exposed(getattr(module, name), floats) for name in names}
