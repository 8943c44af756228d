"""Runs the IR with NumPy, op by op: the meaning that emitted code is compared with.

Two modes. The first is purely functional: an op that consumes its operand changes a copy. The
second really writes in place, as emitted code does; where the two differ, something was read
after it was overwritten.
"""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

import numpy as np

from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Operand, Value, While
from symgrad.ir.types import DTYPES
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import steps, subscript
from symgrad.ops.rows import engine, engine_lists, engine_opaque
from symgrad.ops.rows.into import SUFFIX

VECTOR = ("arctan", "arctan2", "cbrt", "cos", "exp", "log", "power", "sin", "tan", "tanh")
NUMBERS = (float, complex, np.inexact)
#: after so many rounds a loop has no end
ROUNDS = 10_000


class Endless(Exception):
    """A loop that does not end for these arguments."""


def interpret(func: Func, args: Sequence[Any], objects: Mapping[str, Any] | None = None) -> list[Any]:
    """The results of a function, nothing ever changed in place.

    ``objects`` gives the values of constants that have only a name.
    """
    with np.errstate(all="ignore"):
        return Machine(False, dict(objects or {})).function(func, list(args))


def execute(func: Func, args: Sequence[Any], objects: Mapping[str, Any] | None = None) -> list[Any]:
    """The results of a function run with stores in place, on copies of the arguments."""
    with np.errstate(all="ignore"):
        return Machine(True, dict(objects or {})).function(func, [duplicate(a) for a in args])


def oracle(func: Func, args: Sequence[Any], objects: Mapping[str, Any] | None = None) -> list[Any]:
    """The results of both modes, which must agree to the last bit."""
    pure, stored = interpret(func, args, objects), execute(func, args, objects)
    for k, (a, b) in enumerate(zip(pure, stored, strict=True)):
        assert same(a, b), f"result {k} of {func.name} is {a!r}, and with stores in place {b!r}"
    return pure


def same(a: Any, b: Any) -> bool:
    """Equal in structure, type and every bit that matters (NaN equals NaN)?"""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        alike = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape
        return alike and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and bool(a == b or (isinstance(a, NUMBERS) and np.isnan(a) and np.isnan(b)))


def duplicate(x: Any) -> Any:
    """A copy that shares no memory, layout kept."""
    if isinstance(x, np.ndarray):
        return np.array(x, order="K", copy=True)
    return [duplicate(item) for item in x] if isinstance(x, list) else x


@dataclass(slots=True)
class Machine:
    """One run: does it write in place, and what do named constants mean."""

    in_place: bool
    objects: dict[str, Any] = field(default_factory=dict)

    def function(self, func: Func, args: list[Any]) -> list[Any]:
        assert len(args) == len(func.params), f"{func.name} takes {len(func.params)} arguments, not {len(args)}"
        return self.block(func.body, args, {})

    def block(self, block: Block, args: Sequence[Any], env: dict[Value, Any]) -> list[Any]:
        env.update(zip(block.args, args, strict=True))
        for op in block.ops:
            env.update(zip(op.outs, self.op(op, env), strict=True))
        return [self.read(y, env) for y in block.yields]

    def read(self, operand: Operand, env: dict[Value, Any]) -> Any:
        if isinstance(operand, Value):
            return env[operand]
        if operand.name is not None and operand.value is None:
            return eval(operand.name, {**names(), **self.objects})
        return operand.value

    def op(self, op: Op, env: dict[Value, Any]) -> Sequence[Any]:
        match op:
            case Call():
                return self.call(op, [self.read(a, env) for a in op.args])
            case For():
                return self.run_for(op, env)
            case While():
                return self.run_while(op, env)
            case If():
                return self.block(op.then if self.read(op.test, env) else op.orelse, [], env)
            case Apply(func=Func() as func):
                return self.function(func, [self.read(a, env) for a in op.args])
        raise AssertionError(op)

    def run_for(self, op: For, env: dict[Value, Any]) -> list[Any]:
        start, stop, step, *carried = (self.read(o, env) for o in op.operands)
        indices = range(*map(operator.index, (start, stop, step)))
        rounds = 0
        for i in reversed(indices) if op.backward else indices:
            carried = self.block(op.body, [i, *carried], env)
            rounds += 1
            if op.until and carried.pop():
                break
        return [*carried, rounds] if op.until else carried

    def run_while(self, op: While, env: dict[Value, Any]) -> list[Any]:
        carried = [self.read(o, env) for o in op.inits]
        rounds = 0
        while rounds <= ROUNDS and self.block(op.test, carried, env)[0]:
            carried = self.block(op.body, carried, env)
            rounds += 1
            if op.until and carried.pop():
                break
        if rounds > ROUNDS:
            raise Endless
        return [*carried, rounds]

    def call(self, op: Call, args: list[Any]) -> Sequence[Any]:
        row = ROWS[op.name]
        by_hand = BY_HAND.get(op.name)
        if by_hand is not None:
            if row.consumes and not self.in_place:
                args[0] = np.array(args[0], order="K", copy=True) if isinstance(args[0], np.ndarray) else shallow(args[0])
            return by_hand(args, op.settings)
        if op.name.endswith(SUFFIX):
            return self.overwrite(op, args)
        if row.statement and row.consumes:
            if not self.in_place:
                args[0] = duplicate(args[0])
            evaluate(row, args, op.settings, [a.type for a in op.args])
            return (args[0],)
        results = evaluate(row, args, op.settings, [a.type for a in op.args])
        if len(row.outs) == 1 and len(op.outs) == 1:
            return (results,)
        return () if not op.outs else tuple(results)

    def overwrite(self, op: Call, args: list[Any]) -> Sequence[Any]:
        """A row that computes into its first operand, or into a part of it."""
        row, place = ROWS[op.name.removesuffix(SUFFIX)], op.settings["place"]
        count = 1 + len(row.params)
        if not self.in_place:
            args[0] = np.array(args[0], order="K", copy=True)
        if place is not None and self.in_place:
            assert args[0] is args[1 + place]
        operands = args[1:count]
        if op.settings["index"]:
            base, index = target(args[0], op.settings["index"], args[count:])
            if place is not None:  # the operand is the part that is written to
                operands[place] = base[index]
        results = evaluate(row, operands, row.settings, [a.type for a in op.args[1:count]])
        if op.settings["index"]:
            base[index] = results
        else:
            args[0][...] = results
        return (args[0],)


def shallow(x: Any) -> Any:
    return list(x) if isinstance(x, list) else x


# ------------------------------------------------------------------ rows, by their text


@cache
def names() -> dict[str, Any]:
    """What emitted text may name: NumPy, math and the functions of the runtime."""
    table: dict[str, Any] = {}
    for module in ("symgrad.runtime.special", "symgrad.runtime.cotangents", "symgrad.runtime.contractions", "symgrad.runtime.support"):
        try:
            table.update(vars(importlib.import_module(module)))
        except ModuleNotFoundError:
            continue
    for name in VECTOR:  # kernels have functions of their own
        table[f"vector_{name}"] = getattr(np, name, table.get(name))
    table |= {"plus": operator.add, "larger": np.maximum, "smaller": np.minimum, "new_empty": np.empty, "new_zeros": np.zeros}
    return {**table, "np": np, "math": math, "unbroadcast": unbroadcast, "take_written": take_written, "add_written": add_written}


@cache
def compiled(text: str, mode: str) -> CodeType:
    return compile(text, f"<row: {text}>", mode)


def evaluate(row: Row, args: Sequence[Any], settings: Mapping[str, Any], types: list[Any]) -> Any:
    """The value of a row's text."""
    space = dict(names())
    operands = iter(args)
    for param in row.params:
        space[param.lstrip("*")] = tuple(operands) if param.startswith("*") else next(operands)
    for name, value in settings.items():
        space[name] = np.dtype(DTYPES[value]).type if name == "dtype" and isinstance(value, str) and value in DTYPES else value
    text = row.emit if isinstance(row.emit, str) else row.emit(dict(settings), types)
    if settings.get("via") == "math" and row.math is not None:
        text = row.math
    if row.statement:
        exec(compiled(text, "exec"), space)  # noqa: S102
        return None
    return eval(compiled(text, "eval"), space)


# ------------------------------------------------------------------ index paths


def resolved(index: str, operands: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Each step of a path: ``""`` and a NumPy index, or a method's name and its arguments."""
    rest = iter(operands)
    for step, count in steps(index):
        if step.startswith("."):
            yield step[1:], [next(rest) for _ in range(count)]
            continue
        items = subscript(step, rest)
        yield "", items[0] if len(items) == 1 else items


def step_into(x: Any, name: str, argument: Any) -> Any:
    """``x[index]``, ``x.T`` or ``x.reshape(...)``."""
    if not name:
        return x[argument]
    attribute = getattr(x, name)
    return attribute(*argument) if callable(attribute) else attribute


def follow(x: Any, index: str, operands: Sequence[Any]) -> Any:
    for name, argument in resolved(index, operands):
        x = step_into(x, name, argument)
    return x


def target(x: Any, index: str, operands: Sequence[Any]) -> tuple[Any, Any]:
    """The array that a store writes to, a view of ``x``, and the index it writes at."""
    *leading, (name, argument) = resolved(index, operands)
    place = x
    for method, value in leading:
        place = step_into(place, method, value)
    if name:
        place, argument = step_into(place, name, argument), Ellipsis
    if isinstance(x, np.ndarray) and place is not x and x.size:
        assert not place.size or np.may_share_memory(place, x), f"a store by the path {index!r} does not reach the array"
    return place, argument


# ------------------------------------------------------------------ the engine's ops, by hand


def unbroadcast(g: Any, shape: tuple[int, ...], array: bool = False) -> Any:
    """``g`` summed to ``shape``, from which it was broadcast; a NumPy scalar for ``()`` unless ``array``."""
    if isinstance(g, np.ndarray) and g.shape == tuple(shape) and (shape or array):
        return g
    g = np.asarray(g)
    lead = g.ndim - len(shape)
    if lead < 0:
        return np.array(np.broadcast_to(g, shape))
    g = g.sum(axis=tuple(range(lead)))
    g = g.sum(axis=tuple(k for k, n in enumerate(shape) if n == 1 and g.shape[k] != 1), keepdims=True) if len(shape) else g
    if g.shape != tuple(shape):
        g = np.broadcast_to(g, shape)
    return np.array(g) if array or len(shape) else g[()]


def last_writers(x: Any, path: Any) -> Any:
    """For each element of ``x[path]``: is it the last one that names its cell?"""
    cells = np.asarray(np.arange(x.size).reshape(x.shape)[path])
    order = np.arange(cells.size).reshape(cells.shape)
    last = np.full(x.size, -1)
    for cell, k in zip(cells.flat, order.flat, strict=True):
        last[cell] = max(last[cell], k)
    return last[cells] == order


def take_written(x: Any, path: Any) -> Any:
    """``x[path]``, zero where a later element names the same cell."""
    return np.where(last_writers(x, path), x[path], np.zeros((), x.dtype))[()]


def add_written(x: Any, path: Any, v: Any) -> Any:
    """Adds ``v`` at ``x[path]``, to each cell only what its last writer brings."""
    np.add.at(x, path, np.where(last_writers(x, path), v, np.zeros((), x.dtype)))
    return x


def do_take(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    part = follow(args[0], settings["index"], args[1:])
    return (part.copy() if isinstance(part, np.ndarray) and np.may_share_memory(part, args[0]) else part,)


def do_take_written(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    place, index = target(args[0], settings["index"], args[1:])
    return (take_written(place, index),)


def do_set_at(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    place, index = target(args[0], settings["index"], args[2:])
    place[index] = args[1]
    return (args[0],)


def do_add_at(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    place, index = target(args[0], settings["index"], args[2:])
    np.add.at(place, index, args[1])
    return (args[0],)


def do_add_written(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    place, index = target(args[0], settings["index"], args[2:])
    add_written(place, index, args[1])
    return (args[0],)


def do_accumulate(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    buffer, g = args
    buffer += g
    return (buffer,)


def do_push(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    return ((args[0], tuple(args[1:])),)


def do_pop(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    rest, values = args[0]
    return (rest, *values)


def do_put(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    args[0][args[1]] = tuple(args[2:])
    return (args[0],)


def do_list_append(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    args[0].append(args[1])
    return (args[0],)


def do_list_drop(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    del args[0][-1]
    return (args[0],)


def do_list_set(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    args[0][args[1]] = args[2]
    return (args[0],)


def do_list_add_at(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    args[0][args[1]] = args[0][args[1]] + args[2]
    return (args[0],)


def do_opaque(args: list[Any], settings: dict[str, Any]) -> Sequence[Any]:
    function, *arguments = args
    keywords = settings.get("names", ())
    plain = len(arguments) - len(keywords)
    return (function(*arguments[:plain], **dict(zip(keywords, arguments[plain:], strict=True))),)


#: a tape is empty, ``()``, or the pair of what is below and what was pushed last
BY_HAND: dict[str, Callable[[list[Any], dict[str, Any]], Sequence[Any]]] = {
    "view": lambda args, settings: (follow(args[0], settings["index"], args[1:]),),
    "take": do_take,
    "take_written": do_take_written,
    "set_at": do_set_at,
    "add_at": do_add_at, "scatter_add": do_add_at,
    "add_written": do_add_written,
    "copy": lambda args, settings: (duplicate(args[0]),),
    "accumulate": do_accumulate,
    "unbroadcast": lambda args, settings: (unbroadcast(*args, settings["array"]),),
    "tape": lambda args, settings: ((),),
    "push": do_push,
    "pop": do_pop,
    "slots": lambda args, settings: ([None] * args[0],),
    "slots_like": lambda args, settings: ([None] * len(args[0]),),
    "put": do_put,
    "get": lambda args, settings: args[0][args[1]],
    "list_append": do_list_append,
    "list_drop": do_list_drop,
    "list_set": do_list_set,
    "list_add_at": do_list_add_at,
    "opaque": do_opaque,
    "opaque_pure": do_opaque,
    "stop_gradient": lambda args, settings: (args[0],),
}  # fmt: skip


assert engine and engine_lists and engine_opaque  # imported for their rows

__all__ = ["duplicate", "execute", "interpret", "oracle", "same"]
