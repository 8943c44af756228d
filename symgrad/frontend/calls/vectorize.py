"""``np.vectorize(function)``: a call is a loop over the elements, in which the function is inlined."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.objects.operands import as_array
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import Binding, Location, Num, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.tables import callee, special
from symgrad.ir.core import Block, For, If, Operand, Value, While, walk
from symgrad.ir.types import FLOAT, Array, Dim, Scalar, Type, kind_of
from symgrad.ops.composed import applying
from symgrad.ops.shapes import dtype_of


@dataclass(frozen=True, slots=True, eq=False)
class Vectorized(Binding):
    """A function that is called for each element."""

    function: Binding
    as_float: bool = False  #: the results are converted to floats


@special(np.vectorize)
def vectorize(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if len(args) != 1 or kwargs:
        raise UnsupportedArgument("np.vectorize is supported without keywords", ctx.loc(node), "write np.array([f(v) for v in x])")
    return Vectorized(args[0])


def from_outside(ctx: Lowering, value: np.vectorize, node: ast.AST) -> Binding:
    """A ``np.vectorize`` object that was created outside the function."""
    as_float = value.otypes is not None and [np.dtype(t) for t in value.otypes] == [np.dtype(float)]
    if not (as_float or value.otypes is None) or value.excluded or value.signature is not None:
        raise UnsupportedArgument(
            "np.vectorize is supported without keywords, or with otypes=[float]", ctx.loc(node), "write np.array([f(v) for v in x])"
        )
    ctx.rely(f"{owner_name(ctx, value)}.pyfunc", value.pyfunc)
    return Vectorized(Static(value.pyfunc, owner_name(ctx, value.pyfunc)), as_float)


@callee(Vectorized)
def call_vectorized(ctx: Lowering, held: Vectorized, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if kwargs or not args:
        raise UnsupportedArgument("a vectorized function takes its arguments by position", ctx.loc(node), "leave the names out")
    if not held.as_float:
        check_kinds(ctx, "np.vectorize", held.function, [Num(Value(element_of(ctx.type_of(a)))) for a in args], node)
    function = Static(applying.vectorized_as_float if held.as_float else applying.vectorized)
    return ctx.apply(function, [held.function, Tup(tuple(args))], {}, node)


@special(np.apply_along_axis)
def along_axis(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    arguments = {**dict(zip(("func1d", "axis", "arr"), args, strict=False)), **kwargs}
    of = ctx.type_of(as_array(ctx, arguments["arr"], node)) if {"func1d", "arr"} <= set(arguments) else None
    if isinstance(of, Array) and of.shape and len(of.shape) > 1:
        row = Ref(Location(None, ctx.loc(node)))
        check_kinds(ctx, "np.apply_along_axis", arguments["func1d"], [*args[3:]], node, {row: Value(Array(of.dtype, (Dim("?"),)))})
    return ctx.apply(Static(applying.apply_along_axis), args, kwargs, node)


def element_of(of: Type) -> Type:
    """The type of an element of an argument."""
    match of:
        case Array(dtype=str() as dtype):
            return Scalar(kind_of(dtype), dtype)
        case Scalar():
            return of
    return FLOAT


def check_kinds(
    ctx: Lowering, name: str, function: Binding, args: list[Binding], node: ast.AST, rows: dict[Ref, Value] | None = None
) -> None:
    """Refuse results of several dtypes: NumPy casts all to the first one's. ``rows`` are arguments that are arrays."""
    entry = ctx.state
    ctx.state = entry.copy()
    try:
        with ctx.trial(), ctx.inside(Block()) as scratch:  # a refusal here is repeated at the call itself
            ctx.state.memory.update({row.location: value for row, value in (rows or {}).items()})
            result = ctx.apply(function, [*(rows or {}), *args], {}, node)
            pure = not changed(entry, ctx.state)
            kinds = kinds_of(ctx.read(result, node), scratch) if isinstance(result, Num | Ref) else set()
            several = isinstance(result, Tup)
    except Raised:
        return
    finally:
        ctx.state = entry
    if not pure and name == "np.vectorize":
        what = f"{name} calls the function twice for the first element, and this one has side effects"
        raise UnsupportedArgument(what, ctx.loc(node), "write a loop, or give otypes=[float]")
    if several and name == "np.vectorize":
        raise UnsupportedArgument("np.vectorize of a function that returns several values is not supported", ctx.loc(node), "write a loop")
    if len(kinds) > 1:
        what = f"{name} converts all results to the dtype of the first, and this function returns numbers of several dtypes"
        raise UnsupportedArgument(what, ctx.loc(node), "return floats only, 0.0 instead of 0")


def changed(entry: State, after: State) -> bool:
    """Whether a name, array or object that existed at ``entry`` has changed."""
    names = {key: bound for key, bound in entry.names.items() if key[0] is not None}  # without the exit codes of paths
    pairs = ((names, after.names), (entry.memory, after.memory), (entry.heap, after.heap))
    return any(key in late and late[key] is not early[key] for early, late in pairs for key in early)  # type: ignore[index]


def kinds_of(operand: Operand, block: Block) -> set[Any]:
    """The dtypes that a number may have as an array: those on each path to it."""
    sources: dict[Value, list[Operand]] = {}
    for op in walk(block):
        match op:
            case If():
                sources |= {out: [block.yields[k] for block in op.blocks] for k, out in enumerate(op.outs)}
            case For() | While():
                for out, argument, start, end in zip(op.outs, op.carried, op.inits, op.body.yields, strict=False):
                    sources[out] = sources[argument] = [start, end]
    kinds, pending, seen = set(), [operand], set()
    while pending:
        value = pending.pop()
        if isinstance(value, Value) and value in sources:
            if value not in seen:
                seen.add(value)
                pending += sources[value]
        else:
            kinds.add(dtype_of(value.type))
    return kinds - {None}
