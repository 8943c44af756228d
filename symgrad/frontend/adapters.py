"""Callables that are no Python functions -> small Python functions that call them: partials, ufuncs, builtins, methods of C types.

``np.tanh`` becomes ``def tanh(x, /): return np.tanh(x)``, ``functools.partial(loss, data)`` becomes
``def loss_partial(w): return loss(data, w)``. What is fixed is read from the partial when it is adapted.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import keyword
import math
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

import numpy as np

from symgrad.errors import SourceNotFound
from symgrad.frontend.numba_kinds import COMPILED, converts, numba_kind
from symgrad.frontend.source import describe, from_source

#: builtin and NumPy types whose call converts a number
NUMBERS = (float, complex, np.generic)
#: kinds of callables that are written in C, or stand for something that is
OF_C = (
    np.ufunc, np.vectorize, types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType, types.WrapperDescriptorType,
    type(np.sum),
)  # fmt: skip


def is_adapted(value: Any) -> bool:
    """Is it a callable that a function is written for?"""
    if isinstance(value, type):
        return issubclass(value, NUMBERS)
    kind = numba_kind(value)
    return isinstance(value, (functools.partial, *OF_C)) or kind is not None and (kind not in COMPILED or converts(value))


def adapted(value: Any) -> types.FunctionType:
    """A Python function that calls ``value``, the same one for the same callable.

    >>> import functools
    >>> from symgrad.frontend.source import read
    >>> print(*read(adapted(functools.partial(pow, 2.0))).lines, sep="\\n")
    def pow_partial(exp, *args, **kwargs):
        return pow(2.0, exp, *args, **kwargs)
    """
    if isinstance(value, functools.partial):
        keywords = [part for pair in value.keywords.items() for part in pair]
        return _adapted(_Key(("partial", len(value.args), *map(_identity, (value.func, *value.args, *keywords))), value))
    owner = getattr(value, "__self__", None)
    if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):  # methods of these are made anew at each look-up
        return _adapted(_Key((value.__name__, _identity(owner)), value))
    return _adapted(_Key((_identity(value),), value))


@dataclass(frozen=True, slots=True)
class _Same:
    """An object, equal to itself only."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True, slots=True)
class _Key:
    """What makes two callables one."""

    parts: tuple[Any, ...]
    of: Any = field(compare=False)


def _identity(value: Any) -> Any:
    """What tells an object from others: for numbers and texts what they are, else which."""
    return (type(value), repr(value)) if type(value) in (int, float, complex, bool, str, type(None)) else _Same(value)


@functools.lru_cache(maxsize=1024)
def _adapted(key: _Key) -> types.FunctionType:
    return Adapter(key.of).function()


class Adapter:
    """The text of a function that calls something, and the objects that the text names."""

    def __init__(self, value: Any) -> None:
        self.target: Callable[..., Any] = value
        self.fixed: tuple[Any, ...] = ()
        self.keywords: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        is_partial = isinstance(value, functools.partial)
        if is_partial:
            self.target, self.fixed, self.keywords = value.func, value.args, dict(value.keywords)
        self.parameters = parameters_of(value)
        own = getattr(self.target, "__name__", "")
        self.name = f"{own if is_name(own) else 'function'}{'_partial' if is_partial else ''}"
        self.taken = {p.name for p in self.parameters} | {self.name}

    def function(self) -> types.FunctionType:
        """The function itself."""
        called = self.callee()
        if called == self.name:
            self.name += "_"
        text = f"def {self.name}({self.header()}):\n    return {called}({self.arguments()})\n"
        function = from_source(text, self.name, self.names)
        function.__doc__ = inspect.getdoc(self.target)
        return function

    def named(self, name: str, value: Any) -> str:
        """A name by which the text reads an object."""
        if not is_name(name):
            name = "value"
        while name in self.taken or self.names.get(name, value) is not value:
            name += "_"
        self.names[name] = value
        return name

    def said(self, name: str, value: Any) -> str:
        """A fixed value: itself, if it is a plain number or text, else a name."""
        plain = value is None or type(value) in (bool, int, str) or type(value) is float and math.isfinite(value)
        return repr(value) if plain else self.named(name, value)

    def callee(self) -> str:
        """How the text spells what it calls."""
        target: Any = self.target
        own = getattr(target, "__name__", "")
        if isinstance(target, types.MethodDescriptorType) and self.parameters and not self.fixed:
            return f"{self.parameters[0].name}.{own}"
        owner = getattr(target, "__self__", None)
        if isinstance(target, types.MethodType | types.BuiltinMethodType) and owner is not None and not isinstance(owner, types.ModuleType):
            if is_name(own) and getattr(owner, own, None) == target:
                spelled = self.spelled(owner) if callable(owner) else None
                return f"{spelled or self.named(type(owner).__name__.lower(), owner)}.{own}"
            return self.named(own, target)
        return self.spelled(target) or self.named(own if own != self.name else f"original_{own}", target)

    def spelled(self, target: Any) -> str | None:
        """A function of a library, by the modules that it is in: ``np.tanh``."""
        own = getattr(target, "__name__", "")
        if not is_name(own) or isinstance(target, types.FunctionType) or own in self.taken and getattr(builtins, own, None) is not target:
            return self.in_module(target, own) if is_name(own) and not isinstance(target, types.FunctionType) else None
        return own if getattr(builtins, own, None) is target else self.in_module(target, own)

    def in_module(self, target: Any, own: str) -> str | None:
        stated = str(getattr(target, "__module__", None)).replace("_operator", "operator")
        for module in ("numpy", stated, "scipy.special"):
            root = module.partition(".")[0]
            found = sys.modules.get(module)
            if found is None or root not in sys.modules or getattr(found, own, None) is not target:
                continue
            if root == "numpy":
                return f"{self.named('np', np)}{module.removeprefix(root)}.{own}"
            return f"{self.named(root, sys.modules[root])}{module.removeprefix(root)}.{own}"
        return None

    def header(self) -> str:
        """The parameters, as ``def`` states them."""
        shown: list[str] = []
        kinds = [p.kind for p in self.parameters]
        for place, parameter in enumerate(self.parameters):
            if (
                parameter.kind is Parameter.KEYWORD_ONLY
                and Parameter.VAR_POSITIONAL not in kinds
                and Parameter.KEYWORD_ONLY not in kinds[:place]
            ):
                shown.append("*")
            default = "" if parameter.default is Parameter.empty else f"={self.said(f'default_{parameter.name}', parameter.default)}"
            shown.append(f"{STARS.get(parameter.kind, '')}{parameter.name}{default}")
            if parameter.kind is Parameter.POSITIONAL_ONLY and Parameter.POSITIONAL_ONLY not in kinds[place + 1 :]:
                shown.append("/")
        return ", ".join(shown)

    def arguments(self) -> str:
        """What is handed on."""
        parameters = {p.name for p in self.parameters}
        passed = [self.said(name, value) for name, value in zip(self.fixed_names(), self.fixed, strict=True)]
        rest = self.parameters[isinstance(self.target, types.MethodDescriptorType) and not self.fixed :]
        passed += [f"{STARS.get(p.kind, '')}{p.name}" for p in rest if p.kind in POSITIONAL]
        passed += [f"{p.name}={p.name}" for p in rest if p.kind is Parameter.KEYWORD_ONLY]
        passed += [f"{name}={self.said(name, value)}" for name, value in self.keywords.items() if name not in parameters]
        return ", ".join(passed + [f"**{p.name}" for p in rest if p.kind is Parameter.VAR_KEYWORD])

    def fixed_names(self) -> list[str]:
        """What the fixed arguments are called where they go."""
        try:
            names = [p.name for p in inspect.signature(self.target).parameters.values() if p.kind in POSITIONAL[:2]]
        except (TypeError, ValueError):
            names = []
        return [names[k] if k < len(names) else f"argument_{k}" for k in range(len(self.fixed))]


STARS = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)


def is_name(text: object) -> bool:
    """Can a text be a name of the program?"""
    return isinstance(text, str) and text.isidentifier() and not keyword.iskeyword(text)


def parameters_of(value: Any) -> list[Parameter]:
    """The parameters of a function that calls ``value``: its own where it is written in Python, else those without which it cannot be called.

    What may be passed besides to a function that is written in C is handed on as it is.
    """
    partial = isinstance(value, functools.partial)
    target, count = (value.func, len(value.args)) if partial else (value, 0)
    if isinstance(target, np.ufunc):
        names = ["x"] if target.nin == 1 else [f"x{k + 1}" for k in range(target.nin)]
        return [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names[count:]]
    if isinstance(target, np.vectorize):
        value = functools.partial(target.pyfunc, *value.args, **value.keywords) if partial else target.pyfunc
    try:
        parameters = [p.replace(annotation=Parameter.empty) for p in inspect.signature(value).parameters.values()]
    except (TypeError, ValueError):
        return [Parameter("x", Parameter.POSITIONAL_ONLY), Parameter("args", Parameter.VAR_POSITIONAL)]
    if not isinstance(target, OF_C) and not isinstance(target, type) or isinstance(target, np.vectorize):
        return parameters
    needed = [p for p in parameters if p.default is Parameter.empty and p.kind in POSITIONAL[:2]]
    if len(needed) == len(parameters):
        return needed
    if not needed:  # every one may be left out, which does not mean that a call without arguments says anything
        needed = [p.replace(default=Parameter.empty) for p in parameters if p.kind in POSITIONAL[:2]][:1]
    more = [Parameter(name, kind) for name, kind in (("args", Parameter.VAR_POSITIONAL), ("kwargs", Parameter.VAR_KEYWORD))]
    by_name = any(p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD) for p in parameters)
    return [*needed, *(more if by_name else more[:1])]


def refused(value: Any) -> SourceNotFound:
    """Why a callable cannot be read, with a line that can be pasted."""
    name = describe(value)
    if isinstance(value, type):
        methods = [n for n, held in vars(value).items() if isinstance(held, types.FunctionType) and not n.startswith("_")]
        call = f"{value.__name__}(x).{methods[0]}()" if methods else f"{value.__name__}(x).value"
        return SourceNotFound(f"{name} is a class, and what it makes is no number", hint=f"write lambda x: {call}")
    return SourceNotFound(f"{name} is not a Python function", hint=f"write lambda x: {name}(x)")
