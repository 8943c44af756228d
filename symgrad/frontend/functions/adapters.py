"""Callables that are no Python functions -> small Python functions that call them: partials, ufuncs, builtins, methods of C types.

``np.tanh`` becomes ``def tanh(x, /): return np.tanh(x)``, ``functools.partial(loss, data)`` becomes
``def loss_partial(w): return loss(data, w)``. The fixed arguments of a partial are read when it is
adapted.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import Parameter
from typing import Any

import numpy as np

from symgrad.errors import SourceNotFound
from symgrad.frontend.objects.reading import LIBRARIES, root_of
from symgrad.frontend.text.source import describe, from_source
from symgrad.identity import Same
from symgrad.kinds import COMPILED, REFUSED, converts, numba_kind, refused
from symgrad.ops.composed import composed
from symgrad.ops.spelling import spelled
from symgrad.text import is_name

#: types whose call converts a number
NUMBERS = (float, complex, int, np.generic)
#: kinds of callables that are written in C, or wrap one that is
OF_C = (
    np.ufunc,
    np.vectorize,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    type(np.sum),
)
#: the attribute of a generated function that holds its target
ADAPTS = "__symgrad_adapts__"
#: the classes of getters in ``operator``
GETTERS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
#: marks an argument of a Python 3.14 partial that is not fixed
PLACEHOLDER = getattr(functools, "Placeholder", object())
#: compiled from Cython
CYTHON = ("cython_function_or_method", "fused_cython_function")


def is_adapted(value: Any) -> bool:
    """Whether the callable gets an adapter. Functions with readable source get none, except those that symgrad has rows for."""
    if isinstance(value, type):
        return issubclass(value, NUMBERS)
    if isinstance(value, types.FunctionType):
        known = root_of(value) in LIBRARIES and (spelled(value) is not None or composed(value, False) is not None)
        return known or partialmethod_of(value) is not None
    if isinstance(value, types.MethodType):
        return is_of_c(value.__func__) or root_of(type(value.__self__)) in ("numpy", "scipy")
    kind = numba_kind(value)
    if kind is not None:
        return kind not in COMPILED or converts(value)
    return is_partial(value) or isinstance(value, GETTERS) or is_of_c(value)


def is_partial(value: Any) -> bool:
    """Whether the value is a ``partial`` with the plain ``__call__``."""
    return isinstance(value, functools.partial) and type(value).__call__ is functools.partial.__call__


def name_of_partialmethod(value: Any) -> str | None:
    """The attribute in which a class's function stores its ``partialmethod``; Python 3.13 renamed it."""
    return next((name for name in ("__partialmethod__", "_partialmethod") if hasattr(value, name)), None)


def partialmethod_of(value: Any) -> Any:
    """The ``partialmethod`` behind a class's function, if there is one."""
    name = name_of_partialmethod(value)
    return None if name is None else getattr(value, name)


def is_of_c(value: Any) -> bool:
    """Whether the value is a function, or an instance with a ``__call__``, that is not written in Python."""
    return isinstance(value, OF_C) or type(value).__name__ in CYTHON


def adapted(value: Any) -> types.FunctionType:
    """A Python function that calls ``value``, the same function for the same callable.

    >>> import functools
    >>> from symgrad.frontend.text.source import read
    >>> print(*read(adapted(functools.partial(pow, 2.0))).lines, sep="\\n")
    def pow_partial(exp, *args, **kwargs):
        return pow(2.0, exp, *args, **kwargs)
    """
    if isinstance(value, functools.partial):
        keywords = [part for pair in value.keywords.items() for part in pair]
        return _adapted(_Key(("partial", len(value.args), *map(_identity, (value.func, *value.args, *keywords))), value))
    if isinstance(value, types.FunctionType) and (method := partialmethod_of(value)) is not None:  # a new object at each look-up
        return _adapted(_Key((_identity(method),), value))
    owner = getattr(value, "__self__", None)
    if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):  # these are, too
        return _adapted(_Key((value.__name__, _identity(owner)), value))
    return _adapted(_Key((_identity(value),), value))


@dataclass(frozen=True, slots=True)
class _Key:
    """The identity of a callable."""

    parts: tuple[Any, ...]
    of: Any = field(compare=False)


def _identity(value: Any) -> Any:
    """The identity of an object: type and value for numbers and texts, else the object itself."""
    return (type(value), repr(value)) if type(value) in (int, float, complex, bool, str, type(None)) else Same(value)


@functools.lru_cache(maxsize=1024)
def _adapted(key: _Key) -> types.FunctionType:
    return Adapter(key.of).function()


@dataclass(frozen=True, slots=True)
class Call:
    """The target of a callable and its fixed arguments."""

    target: Callable[..., Any]
    fixed: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    before: int = 0  #: the number of parameters before the fixed arguments


def call_of(value: Any) -> Call:
    """The parts of a ``partial``, of a ``partialmethod``, or of a method such as ``float.__mul__`` that ``operator`` has as a function."""
    own = str(getattr(value, "__name__", ""))
    method = partialmethod_of(value)
    if isinstance(value, functools.partial):
        return Call(value.func, value.args, dict(value.keywords))
    if method is not None:
        return Call(method.func, method.args, dict(method.keywords), 1)
    if isinstance(value, types.WrapperDescriptorType) and hasattr(operator, own):
        return Call(getattr(operator, own))
    if isinstance(value, types.MethodWrapperType) and hasattr(operator, own):
        return Call(getattr(operator, own), (value.__self__,))
    return Call(value)


class Adapter:
    """The text of a function that calls a target, and the objects that the text names."""

    def __init__(self, value: Any) -> None:
        call = call_of(value)
        self.target, self.fixed, self.keywords = call.target, call.fixed, call.keywords
        self.before = call.before
        self.names: dict[str, Any] = {}
        if isinstance(self.target, type) and not issubclass(self.target, NUMBERS):
            raise refused_class(self.target)
        if (kind := numba_kind(self.target)) in REFUSED:
            raise refused(self.target, str(kind))
        self.parameters = parameters_of(value)
        own = getattr(self.target, "__name__", type(self.target).__name__.lower())
        self.name = f"{own if is_name(own) else 'function'}{'_partial' if isinstance(value, functools.partial) else ''}"
        self.parameter_names = {p.name for p in self.parameters}
        self.taken = self.parameter_names | {self.name}

    def function(self) -> types.FunctionType:
        """The generated function."""
        result = self.of_operator() if isinstance(self.target, GETTERS) else self.call()
        text = f"def {self.name}({self.header()}):\n    return {result}\n"
        function = from_source(text, self.name, self.names)
        function.__doc__ = inspect.getdoc(self.target)
        setattr(function, ADAPTS, self.target)
        return function

    def call(self) -> str:
        """The expression of the call, which is the function's body."""
        called = self.callee()
        if called == self.name:
            self.name += "_"
        return f"{called}({self.arguments()})"

    def of_operator(self) -> str:
        """The expression that ``itemgetter``, ``attrgetter`` and ``methodcaller`` compute of their argument."""
        reduced: Any = self.target.__reduce__()
        kind: Any = reduced[0]
        parts: tuple[Any, ...] = reduced[1]
        named: dict[str, Any] = {}
        if isinstance(kind, functools.partial):  # of a methodcaller with keywords
            kind, parts, named = kind.func, (*kind.args, *parts), kind.keywords
        if kind is operator.itemgetter:
            items = [f"x[{self.said('key', part)}]" for part in parts]
        elif kind is operator.attrgetter and all(map(is_name, ".".join(parts).split("."))):
            items = [f"x.{part}" for part in parts]
        elif kind is operator.methodcaller and is_name(parts[0]):
            passed = [self.said("argument", part) for part in parts[1:]] + [
                f"{name}={self.said(name, part)}" for name, part in named.items()
            ]
            items = [f"x.{parts[0]}({', '.join(passed)})"]
        else:
            raise SourceNotFound(f"{self.target!r} is not a Python function", hint="write a lambda instead")
        return items[0] if len(items) == 1 else f"({', '.join(items)})"

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
        """The text's expression for the target."""
        target: Any = self.target
        own = getattr(target, "__name__", "")
        if isinstance(target, types.MethodDescriptorType) and self.parameters and not self.fixed:
            return f"{self.parameters[0].name}.{own}"
        owner = getattr(target, "__self__", None)
        if isinstance(target, types.MethodType | types.BuiltinMethodType) and owner is not None and not isinstance(owner, types.ModuleType):
            if is_name(own) and getattr(owner, own, None) == target:
                spelled = self.of_library(owner) if callable(owner) else None
                return f"{spelled or self.named(type(owner).__name__.lower(), owner)}.{own}"
            return self.named(own, target)
        return self.of_library(target) or self.named(own if own != self.name else f"original_{own}", target)

    def of_library(self, target: Any) -> str | None:
        """A function of a library, spelled by its modules: ``np.tanh``."""
        own = getattr(target, "__name__", "")
        if not is_name(own) or isinstance(target, types.FunctionType) and root_of(target) not in LIBRARIES:
            return None
        return own if getattr(builtins, own, None) is target and own not in self.parameter_names else self.in_module(target, own)

    def in_module(self, target: Any, own: str) -> str | None:
        stated = str(getattr(target, "__module__", None)).replace("_operator", "operator")
        for module in ("numpy", stated, "scipy.special"):
            root = module.partition(".")[0]
            module_object = sys.modules.get(module)
            if module_object is None or root not in sys.modules or getattr(module_object, own, None) is not target:
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
        """The arguments of the call."""
        rest = self.parameters[isinstance(self.target, types.MethodDescriptorType) and not self.fixed :]
        passed = [rest.pop(0).name for _ in range(self.before)]
        for name, value in zip(self.fixed_names(), self.fixed, strict=True):
            passed.append(rest.pop(0).name if value is PLACEHOLDER else self.said(name, value))
        passed += [f"{STARS.get(p.kind, '')}{p.name}" for p in rest if p.kind in POSITIONAL]
        passed += [f"{p.name}={p.name}" for p in rest if p.kind is Parameter.KEYWORD_ONLY]
        fixed = {name: self.said(name, value) for name, value in self.keywords.items() if name not in self.parameter_names}
        more = [f"**{p.name}" for p in rest if p.kind is Parameter.VAR_KEYWORD]
        if fixed and more:  # a call may give a keyword that the partial fixes again
            passed.append(f"**{{{', '.join([*(f'{name!r}: {text}' for name, text in fixed.items()), *more])}}}")
        else:
            passed += [*(f"{name}={text}" for name, text in fixed.items()), *more]
        return ", ".join(passed)

    def fixed_names(self) -> list[str]:
        """The target's parameter names for the fixed arguments."""
        try:
            names = [p.name for p in inspect.signature(self.target).parameters.values() if p.kind in POSITIONAL[:2]]
        except (TypeError, ValueError):
            names = []
        names = names[self.before :]
        return [names[k] if k < len(names) else f"argument_{k}" for k in range(len(self.fixed))]


STARS: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)


def parameters_of(value: Any) -> list[Parameter]:
    """The parameters of a function that calls ``value``: its own if it is written in Python, else those that must be passed.

    Further arguments of a library function are passed on unchanged.
    """
    partial = isinstance(value, functools.partial)
    target, count = (value.func, len(value.args)) if partial else (value, 0)
    if isinstance(target, np.ufunc):
        names = ["x"] if target.nin == 1 else [f"x{k + 1}" for k in range(target.nin)]
        return [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names[count:]]
    if isinstance(target, GETTERS):
        return [Parameter("x", Parameter.POSITIONAL_ONLY)]
    if isinstance(target, np.vectorize):
        value = functools.partial(target.pyfunc, *value.args, **value.keywords) if partial else target.pyfunc
    try:
        parameters = [p.replace(annotation=Parameter.empty) for p in inspect.signature(value).parameters.values()]
    except (TypeError, ValueError):
        return [Parameter("x", Parameter.POSITIONAL_ONLY), Parameter("args", Parameter.VAR_POSITIONAL)]
    library = is_of_c(target) or isinstance(target, type | types.FunctionType | types.MethodType) and root_of(target) in LIBRARIES
    if not library or isinstance(target, np.vectorize) or partialmethod_of(value) is not None:
        return with_keywords(parameters, value.keywords if partial else {})
    needed = [p for p in parameters if p.default is Parameter.empty and p.kind in POSITIONAL[:2]]
    if len(needed) == len(parameters):
        return needed
    if not needed:  # all are optional, but a call without arguments may be meaningless
        needed = [p.replace(default=Parameter.empty) for p in parameters if p.kind in POSITIONAL[:2]][:1]
    more = [Parameter(name, kind) for name, kind in (("args", Parameter.VAR_POSITIONAL), ("kwargs", Parameter.VAR_KEYWORD))]
    by_name = any(p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD) for p in parameters)
    return [*needed, *(more if by_name else more[:1])]


def with_keywords(parameters: list[Parameter], keywords: dict[str, Any]) -> list[Parameter]:
    """The parameters, and the fixed keywords that go to ``**``, which a call may override."""
    if not parameters or parameters[-1].kind is not Parameter.VAR_KEYWORD:
        return parameters
    more = [name for name in keywords if name not in {p.name for p in parameters}]
    return [*parameters[:-1], *(Parameter(name, Parameter.KEYWORD_ONLY, default=keywords[name]) for name in more), parameters[-1]]


def refused_class(value: type) -> SourceNotFound:
    """The error for a class, which cannot be differentiated; its hint shows an alternative: a method of an instance."""
    what = f"{describe(value)} is a class, and its instances are not numbers"
    if value in (list, tuple):
        return SourceNotFound(what, hint=f"write lambda x: sum({value.__name__}(x))")
    names = ["__call__", *vars(value)]
    methods = [n for n in names if isinstance(vars(value).get(n), types.FunctionType) and (n == "__call__" or not n.startswith("_"))]
    parameters = required(value)
    if not methods:
        return SourceNotFound(what, hint="pass a function that returns a number")
    passed = required(vars(value)[methods[0]])[1:]
    call = f"{value.__name__}({', '.join(parameters)}){'' if methods[0] == '__call__' else f'.{methods[0]}'}({', '.join(passed)})"
    return SourceNotFound(what, hint=f"write lambda {', '.join(dict.fromkeys([*parameters, *passed]))}: {call}")


def required(value: Any) -> list[str]:
    """The parameters that must be passed by position."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ["x"]
    return [p.name for p in parameters if p.kind in POSITIONAL[:2] and p.default is p.empty]
