"""``vmap``: a function and the batch axes of its arguments -> a function that calls it for each example, as a ``Derived``."""

from __future__ import annotations

import enum
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


class Omitted(enum.Enum):
    """The default of a parameter whose own default is an array that all examples share."""

    NOT_PASSED = "not passed"


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
    shared = shared_defaults(batch)
    stem = identifier(str(getattr(key.function, "__name__", "function")).replace("<lambda>", "lambda_"))
    name = f"{stem}_batched"
    names: dict[str, Any] = {"__name__": "symgrad_source"}
    called = unused("batch", parameters)
    names[called] = batch
    text = f"def {name}({header(parameters, names, shared)}):\n{call_text(called, parameters, shared)}"
    function = from_source(text, name, names)
    function.__doc__ = inspect.getdoc(key.function)
    function.__module__ = getattr(key.function, "__module__", None) or function.__module__
    setattr(function, BATCH, batch)
    return function


def shared_defaults(batch: Batch) -> tuple[str, ...]:
    """The names of the parameters whose defaults hold arrays and have no axis in ``in_axes``.

    All examples share such a default, as they share the variables of a closure; an array that is passed for it is a batch. Raises
    BadArgument where it, or a parameter after it, can be passed only by position.
    """
    shared: list[str] = []
    by_position = False
    for place, p in enumerate(batch.parameters):
        reached = isinstance(batch.in_axes, tuple | list) and (place < len(batch.in_axes) or p.kind in POSITIONAL)
        if holds_array(p.default) and not reached and batch.in_axes is not None:
            shared.append(p.name)
            by_position = by_position or p.kind in POSITIONAL
        if by_position and p.kind in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL):
            what = f"the default of {shared[-1]} is an array without an axis in in_axes, and {p.name} can be passed only by position"
            raise BadArgument(what, hint="give in_axes as a tuple with an item for each parameter")
    return tuple(shared)


def holds_array(value: Any) -> bool:
    """Whether it is an array, or a tree that contains one."""
    if isinstance(value, np.ndarray):
        return True
    return not isinstance(value, type) and is_tree(value) and any(holds_array(part) for _, part in parts_of(value))


def unused(word: str, parameters: tuple[Parameter, ...]) -> str:
    """A name like ``word`` that no parameter has."""
    while word in {p.name for p in parameters}:
        word += "_"
    return word


def header(parameters: tuple[Parameter, ...], names: dict[str, Any], shared: tuple[str, ...]) -> str:
    """Return the parameters of the ``def`` statement. Defaults are names; that of a ``shared`` parameter is ``not_passed``."""
    shown = []
    for p in parameters:
        name = unused("not_passed" if p.name in shared else f"default_{p.name}", parameters)
        if p.default is not p.empty:
            names[name] = Omitted.NOT_PASSED if p.name in shared else p.default
        shown.append(p.replace(annotation=p.empty, default=p.empty if p.default is p.empty else Named(name)))
    return str(inspect.Signature(shown))[1:-1]


def call_text(called: str, parameters: tuple[Parameter, ...], shared: tuple[str, ...]) -> str:
    """Return the body of the function: the call with the parameters, those that are ``shared`` only where they are passed."""
    stars: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*{0}", Parameter.KEYWORD_ONLY: "{0}={0}", Parameter.VAR_KEYWORD: "**{0}"}
    keywords, absent = unused("keywords", parameters), unused("not_passed", parameters)
    lines, arguments, after = [], [], False
    for p in parameters:
        if p.name in shared:
            lines.append(f"    if {p.name} is not {absent}:\n        {keywords}['{p.name}'] = {p.name}\n")
            after = True
        else:
            by_name = after and p.kind in POSITIONAL
            arguments.append(stars.get(Parameter.KEYWORD_ONLY if by_name else p.kind, "{0}").format(p.name))
    if lines:
        lines.insert(0, f"    {keywords} = {{}}\n")
        arguments.append(f"**{keywords}")
    return "".join(lines) + f"    return {called}({', '.join(arguments)})\n"


@dataclass(frozen=True, slots=True)
class Named:
    """A default as its name."""

    name: str

    def __repr__(self) -> str:
        return self.name


__all__ = ["batched", "written"]
