"""Memoised functions (``functools.lru_cache``): called again each time, where the program cannot observe it."""

from __future__ import annotations

import ast
import enum
import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.outside import outside
from symgrad.frontend.objects.purity import is_pure
from symgrad.frontend.objects.reading import is_of_library, owner_name
from symgrad.frontend.state.bindings import Binding, Num, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.pinning import pinned
from symgrad.frontend.state.shared_state import is_readable
from symgrad.ir.core import Block, Call, Const, walk
from symgrad.ir.types import Scalar
from symgrad.text import has_literal

#: decorators that memoise, and the objects they create
KEEPS = (functools.cache, functools.lru_cache)
KEEPING = (functools._lru_cache_wrapper,)
#: types of the constants for which a memoised function is called at compile time
CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type, types.ModuleType)
NUMBERS = (int, float, complex)
UNKNOWN = object()
#: rows of calls that may have visible side effects, or vary between calls
SEEN = ("opaque", "drawn", "generator")


def memoised_result(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding]) -> Binding | None:
    """The result of a memoised function for constants: a constant, or an object from outside.

    It is called at compile time, and at each call of the program, which checks that the same result
    is still kept. None if an argument is no constant, or if the function raises, has side effects
    or depends on anything else: ``run_again`` lowers such a call.
    """
    positional = [constant_of(binding) for binding in args]
    named = {name: constant_of(binding) for name, binding in kwargs.items()}
    of_library = is_readable(function)
    if any(value is UNKNOWN for value in (*positional, *named.values())) or not (of_library or is_pure(function)):
        return None
    try:
        plain = function.__wrapped__(*positional, **named)  # this call does not enter the cache
        if has_literal(plain) and function.__wrapped__(*positional, **named) != plain:
            return None  # drawn from a generator with the seed None
        result = plain if has_literal(plain) else function(*positional, **named)
    except Exception:
        return None
    if has_literal(result) and not isinstance(result, tuple):
        return Num(Const(result)) if isinstance(result, NUMBERS) else Static(result)
    name = f"{function.__name__}_result"
    if not of_library:
        kept = KeptResult(function, tuple(positional), named, result)
        ctx.rely(f"{owner_name(ctx, kept, f'{function.__name__}_kept')}.holds", True)
    return outside(ctx, result, owner_name(ctx, result, name), name)


@dataclass(frozen=True, slots=True, eq=False)
class KeptResult:
    """A result in a function's cache."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any

    @property
    def holds(self) -> bool:
        """Whether the function still returns the same object."""
        return self.function(*self.args, **self.kwargs) is self.result


def constant_of(binding: Binding) -> Any:
    """The value of a constant argument: a number, a text, None, or a class or module of a library; else ``UNKNOWN``."""
    known = known_value(binding)
    if not known or not isinstance(known[0], CONSTANTS) or isinstance(known[0], enum.Enum):
        return UNKNOWN
    is_code = isinstance(known[0], type | types.ModuleType)
    return known[0] if not is_code or is_of_library(known[0]) else UNKNOWN


def run_again(ctx: Lowering, tree: ast.AST, call: Callable[[], Binding], node: ast.AST, pins: Sequence[Binding] = ()) -> Binding:
    """A call of a memoised function, lowered as if it were not memoised.

    Refused where that would be another program: if it has side effects, reads state that the program changes, draws
    random numbers, or returns a mutable object. ``pins`` are arguments that would allow a call at compile time if
    they were static.
    """
    block, before, reads = ctx.builder.block, len(ctx.builder.block.ops), ctx.assigned_reads
    result = None if any(map(changes_something, ast.walk(tree))) else call()
    number = result is not None and is_immutable(ctx, result)
    ops = walk(Block([], block.ops[before:]))
    if not number or any(isinstance(op, Call) and op.name in SEEN for op in ops):
        what = "a cached function is called that has side effects, draws random numbers or does not return a number"
        refusal = UnsupportedSyntax(what, ctx.loc(node), "leave functools.lru_cache out, or call the function before")
        raise pinned(ctx, refusal, pins)
    if ctx.assigned_reads > reads:
        what = "a cached function is called that reads a variable which the program assigns to"
        raise UnsupportedSyntax(what, ctx.loc(node), "leave functools.lru_cache out, or pass it the value as an argument")
    ctx.keeps.append(ctx.loc(node))
    return result if result is not None else Static(None)


def is_immutable(ctx: Lowering, result: Binding) -> bool:
    """Whether the result is immutable: a number, a static object, or a tuple of these."""
    if isinstance(result, Tup):
        return all(is_immutable(ctx, item) for item in result.items)
    return bool(known_value(result)) or isinstance(ctx.type_of(result), Scalar)


def changes_something(node: ast.AST) -> bool:
    """Whether a further execution of the node could be observed from outside."""
    if isinstance(node, ast.Subscript | ast.Attribute):
        return isinstance(node.ctx, ast.Store | ast.Del)
    return isinstance(node, ast.Nonlocal | ast.Global) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
