"""Lowers one recorded operation, a NumPy function with plain settings, to IR for given types of its inputs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from symgrad.errors import BadArgument, InvalidIR, SymgradError
from symgrad.frontend.containers.results import Lowered
from symgrad.frontend.lower import lower
from symgrad.frontend.text.source import from_source, read
from symgrad.ir.core import Block, Call, Func, Op, Operand, Value, clone_op
from symgrad.ir.types import Array, Dim, ShapeOf, Type
from symgrad.ir.verify import verify
from symgrad.marks import lower_stop
from symgrad.ops.build import Builder, retype
from symgrad.signature import Signature
from symgrad.text import is_name
from symgrad.tracebacks import refused

assert callable(lower_stop)  # its module registers stop_gradient with the frontend
Settings = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """``outputs = function(*inputs, **settings)``; ``present`` marks the inputs that are not None."""

    function: Callable[..., Any]
    present: tuple[bool, ...]
    settings: Settings = field(default=(), compare=False)
    named: tuple[str, ...] = ()  #: variables of the function that are returned before its results
    said: str = field(default="", init=False, repr=False)  #: the settings as text, in which 2, 2.0 and True differ
    code: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "said", repr(self.settings))
        object.__setattr__(self, "code", hash((self.function, self.present, self.said, self.named)))

    def __hash__(self) -> int:
        return self.code

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.function.__name__


def frozen(value: Any) -> Any:
    """A setting as plain, hashable data: numbers, strings, None, and tuples of them.

    >>> frozen([1, [2.5, None]])
    (1, (2.5, None))
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list | tuple):
        return tuple(map(frozen, value))
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return frozen(value.item())
    raise BadArgument(f"{type(value).__name__} cannot be a setting", hint="pass numbers, strings, None, or lists of them")


def settings_of(words: dict[str, Any]) -> Settings:
    """Keyword arguments as settings."""
    return tuple((name, frozen(value)) for name, value in words.items())


#: exceptions of calls that do not fit, and the classes under which they are raised again
MISFITS: tuple[tuple[type[Exception], type[Exception]], ...] = (
    (np.linalg.LinAlgError, np.linalg.LinAlgError),
    (IndexError, IndexError),
    (AttributeError, TypeError),
    (TypeError, TypeError),
    (ValueError, ValueError),
    (ArithmeticError, ValueError),
)
MISFIT = tuple(kind for kind, _ in MISFITS)


def misfit(function: Callable[..., Any], inputs: Sequence[Any], settings: Mapping[str, Any], error: Exception) -> Exception:
    """The error of a call that was refused, with the call written out: each argument by its name, tensors by dtype and shape."""
    if isinstance(error, SymgradError):
        return error
    words: list[str] = []
    names = iter(inspect.signature(function).parameters.values())
    word = next(names, None)
    for argument in inputs:
        words += [] if word is None or argument is None else [f"{word.name}={described(argument)}"]
        word = word if word is None or word.kind is word.VAR_POSITIONAL else next(names, None)
    words += [f"{name}={value!r}" for name, value in settings.items()]
    kind = next(later for one, later in MISFITS if isinstance(error, one))
    return refused(kind(f"{function.__name__}({', '.join(words)}): {error}"))


def described(argument: Any) -> str:
    """Describe a tensor or array by dtype and shape, a number by its value."""
    return f"{argument.dtype}{list(argument.shape)}" if hasattr(argument, "dtype") and hasattr(argument, "shape") else repr(argument)


def literal(value: Any) -> str:
    """Return the text of a setting, which ``frozen`` has accepted."""
    if isinstance(value, float) and not math.isfinite(value):
        return "math.nan" if value != value else "math.inf" if value > 0 else "-math.inf"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def defaults(function: Callable[..., Any]) -> Settings:
    """The settings of a function that have defaults other than None: inputs that may be left out have None."""
    words = inspect.signature(function).parameters.values()
    return settings_of({p.name: p.default for p in words if p.default is not p.empty and p.default is not None})


def written(operation: Operation) -> Callable[..., Any]:
    """Return a function of the present inputs, with literal settings."""
    names = [f"x{k}" for k, present in enumerate(operation.present) if present]
    words = [f"x{k}" if present else "None" for k, present in enumerate(operation.present)]
    words += [f"{name}={literal(value)}" for name, value in {**dict(defaults(operation.function)), **dict(operation.settings)}.items()]
    if not all(map(is_name, dict(operation.settings))):
        raise BadArgument(f"{operation.name} has no settings {', '.join(map(repr, dict(operation.settings)))}")
    text = f"def operation({', '.join(names)}):\n    return function({', '.join(words)})\n"
    return from_source(text, globals={"__name__": "symgrad.recorded", "function": operation.function, "math": math})


@lru_cache(maxsize=4096)
def lowered(operation: Operation, kinds: tuple[Type, ...]) -> Lowered:
    """The operation as IR, for inputs of these types."""
    function = written(operation)
    names = [f"x{k}" for k, present in enumerate(operation.present) if present]
    lowering = lower(read(function), Signature(tuple(zip(names, kinds, strict=True))))
    if operation.named:
        values = named_values(lowering.func)
        missing = [name for name in operation.named if name not in values]
        if missing:
            raise BadArgument(f"{operation.name} assigns no array to {', '.join(missing)} for inputs of these types")
        lowering.func.body.yields = [*(values[name] for name in operation.named), *lowering.func.body.yields]
    return lowering


def named_values(func: Func) -> dict[str, Value]:
    """The values that the variables of a function hold at its end, at its outermost level, without those overwritten since."""
    last = {out.name: out for op in func.body.ops for out in op.outs if out.name is not None}
    values: dict[str, Value] = {}
    for name, value in last.items():
        try:
            verify(Func(func.name, Block(func.body.args, func.body.ops, [value, *func.body.yields]), split=None))
        except InvalidIR:
            continue
        values[name] = value
    return values


def plain(type_: Type, k: int) -> Type:
    """The type of an input with symbols of its own, so that equal operations are lowered once."""
    if not isinstance(type_, Array) or type_.shape is None:
        return type_
    shape = tuple(Dim(f"x{k}_{axis}", 0, e.plural) if isinstance(e, Dim) else e for axis, e in enumerate(type_.shape))
    return Array(type_.dtype, shape)


def append(builder: Builder, operation: Operation, inputs: list[Operand], objects: dict[str, Any]) -> list[Operand]:
    """Append the operation's ops, typed for these inputs, and return its results; ``objects`` collects the objects that they name."""
    lowering = lowered(operation, tuple(plain(operand.type, k) for k, operand in enumerate(inputs)))
    objects.update(lowering.objects)
    return inlined(builder, lowering.func, inputs)


def inlined(builder: Builder, func: Func, inputs: Iterable[Operand]) -> list[Operand]:
    """Append the ops of a function and return its results."""
    table: dict[Value, Operand] = dict(zip(func.params, inputs, strict=True))

    def new(operand: Operand) -> Operand:
        return table.get(operand, operand) if isinstance(operand, Value) else operand

    for op in func.body.ops:
        if isinstance(op, Call):
            outs = builder.call_many(op.name, *map(new, op.args), hints=tuple(o.name for o in op.outs), **op.settings)
            table.update(zip(op.outs, outs, strict=True))
        else:
            builder.append(clone_structured(builder, op, table, new))
    return [new(y) for y in func.body.yields]


def clone_structured(builder: Builder, op: Op, table: dict[Value, Operand], new: Callable[[Operand], Operand]) -> Op:
    """A copy of a loop or a branch; its symbols of extents are made the builder's own."""
    renamed: dict[str, str] = {}

    def symbol(extent: Any) -> Any:
        if not isinstance(extent, Dim):
            return extent
        if extent.symbol not in renamed:
            renamed[extent.symbol] = builder.symbol("k")
        return replace(extent, symbol=renamed[extent.symbol])

    def typed(type_: Type) -> Type:
        if isinstance(type_, Array | ShapeOf) and type_.shape is not None:
            return replace(type_, shape=tuple(map(symbol, type_.shape)))
        return type_

    def fresh(value: Value) -> Value:
        table[value] = new_value = Value(typed(value.type), value.name)
        return new_value

    copy = clone_op(op, table, new, fresh)
    for block in copy.blocks:
        retype(block, typed)
    return copy
