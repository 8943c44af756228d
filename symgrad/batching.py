"""``vmap``: a function and the batch axes of its arguments -> a function that calls it for each example, as a ``Derived``."""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass, field
from functools import lru_cache
from inspect import Parameter
from typing import Any

import numpy as np

from symgrad.callables import derived
from symgrad.derivatives import Derived
from symgrad.errors import BadArgument
from symgrad.frontend.functions.adapters import adapted, is_adapted
from symgrad.frontend.text.source import from_source
from symgrad.identity import Same
from symgrad.jit import Jit
from symgrad.parameters import Options
from symgrad.runtime.batches import BATCH, Axes, Batch, is_tree, parts_of
from symgrad.targets import available
from symgrad.text import identifier
from symgrad.verification.first_call import Verify, checked_verify

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a batched function; equal keys share one ``Derived``."""

    parts: tuple[Any, ...]
    function: Any = field(compare=False)
    in_axes: Any = field(compare=False)
    out_axes: Any = field(compare=False)


def batched(function: Any, in_axes: Axes, out_axes: Axes, jit: Jit, verify: Verify) -> Derived:
    """Return the derived function that calls ``function`` for each example."""
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="pass the function itself, not what it returns")
    result: Derived = derived(written(function, in_axes, out_axes), Options("primal", jit=available(jit), verify=checked_verify(verify)))
    return result


def written(function: Any, in_axes: Axes, out_axes: Axes) -> types.FunctionType:
    """Return the Python function that calls ``function`` for each example; it is cached by function and axes."""
    function = adapted(function) if is_adapted(function) else function
    return _written(Key((Same(function), parse_axes(in_axes, "in_axes"), parse_axes(out_axes, "out_axes")), function, in_axes, out_axes))


def parse_axes(axes: Axes, word: str) -> Any:
    """Return axes as a key; raise BadArgument for anything but an axis or a tree of axes."""
    if axes is None or isinstance(axes, int) and not isinstance(axes, bool):
        return axes
    if not is_tree(axes) or word == "in_axes" and isinstance(axes, dict):
        raise BadArgument(f"{word} is an axis, None, or a tuple of these, not {axes!r}", hint=f"for example {word}=0 or {word}=(0, None)")
    return type(axes), tuple((key, parse_axes(part, f"an item of {word}")) for key, part in parts_of(axes))


@lru_cache(maxsize=1024)
def _written(key: Key) -> types.FunctionType:
    """Write the Python function, with the parameters of the function that it calls."""
    try:
        parameters = tuple(inspect.signature(key.function).parameters.values())
    except (TypeError, ValueError):
        what = f"the parameters of {key.function!r} are not known"
        raise BadArgument(what, hint="write a lambda instead") from None
    batch = Batch(key.function, key.in_axes, key.out_axes, parameters)
    check_defaults(batch)
    stem = identifier(str(getattr(key.function, "__name__", "function")).replace("<lambda>", "lambda_"))
    name = f"{stem}_batched"
    names: dict[str, Any] = {"__name__": "symgrad_source"}
    called = "batch"
    while called in {p.name for p in parameters}:
        called += "_"
    names[called] = batch
    text = f"def {name}({header(parameters, names)}):\n    return {called}({passed(parameters)})\n"
    function = from_source(text, name, names)
    function.__doc__ = inspect.getdoc(key.function)
    function.__module__ = getattr(key.function, "__module__", None) or function.__module__
    setattr(function, BATCH, batch)
    return function


def check_defaults(batch: Batch) -> None:
    """Raise if a parameter has an array as its default and no batch axis is given for it."""
    for place, p in enumerate(batch.parameters):
        reached = isinstance(batch.in_axes, tuple | list) and (place < len(batch.in_axes) or p.kind in POSITIONAL)
        if holds_array(p.default) and not reached and batch.in_axes is not None:
            what = f"the default of {p.name} is an array, and in_axes does not say whether it has a batch axis"
            raise BadArgument(what, hint="give in_axes as a tuple with an item for each parameter")


def holds_array(value: Any) -> bool:
    """Whether it is an array, or a tree that contains one."""
    if isinstance(value, np.ndarray):
        return True
    return not isinstance(value, type) and is_tree(value) and any(holds_array(part) for _, part in parts_of(value))


def header(parameters: tuple[Parameter, ...], names: dict[str, Any]) -> str:
    """Return the parameters of the ``def`` statement; defaults are names."""
    shown, taken = [], {p.name for p in parameters}
    for p in parameters:
        name = f"default_{p.name}"
        while name in taken:
            name += "_"
        if p.default is not p.empty:
            names[name] = p.default
        shown.append(p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else Named(name)))
    return str(inspect.Signature(shown))[1:-1]


@dataclass(frozen=True, slots=True)
class Named:
    """A default as its name."""

    name: str

    def __repr__(self) -> str:
        return self.name


def passed(parameters: tuple[Parameter, ...]) -> str:
    """The arguments of the call."""
    stars: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*{0}", Parameter.KEYWORD_ONLY: "{0}={0}", Parameter.VAR_KEYWORD: "**{0}"}
    return ", ".join(stars.get(p.kind, "{0}").format(p.name) for p in parameters)


__all__ = ["batched", "written"]
