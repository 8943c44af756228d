"""The pass runner, the only caller of passes: it times each call, verifies the IR after it, and checks the declared properties."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from symgrad.errors import InvalidIR
from symgrad.ir.core import Call, For, Func, If, Value, While, clone, walk
from symgrad.ir.verify import verify
from symgrad.notes import Notes, Timing
from symgrad.ops.analysis.contents import Contents
from symgrad.ops.declare import ROWS
from symgrad.progress import enter
from symgrad.runtime.load import imported

#: the properties that a pass may declare to preserve, with their meanings
PROPERTIES: dict[str, str] = {
    "loops": "which loops and branches there are, and in which order",
    "stores": "which ops write to memory, and in which order",
    "derivative": "that the function can be differentiated: no op comes in that has no rule",
}


@dataclass(frozen=True, slots=True)
class Pass:
    """A transformation of a function of the IR.

    ``at`` is the package of its module, if module and function have its name, or else its module and function,
    separated by a colon; ``takes`` are fields of the ``PassContext`` that it receives in
    addition to the function, or to its block if it is ``on_block``. ``needs`` are words of ``CONTENTS``: on a
    function that contains none of them the pass changes nothing, and is skipped. ``requires`` are passes that have
    run before it, ``preserves`` are ``PROPERTIES``. A pass is ``optional`` if omitting it only costs speed. Its
    result is valid IR unless it is ``loose``: while loops for kernels are emitted, values are handles of memory, and
    unused values may be out of date until ``dce`` has run. If it ``records`` whether it has changed the function, analyses
    outlive it where it has not, and it is skipped where it would change nothing.
    """

    name: str
    at: str
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    preserves: tuple[str, ...] = ()
    optional: bool = True
    loose: bool = False
    on_block: bool = False
    records: bool = False

    @property
    def place(self) -> str:
        """Its module and its function, separated by a colon."""
        if ":" in self.at:
            return f"symgrad.{self.at}"
        name = self.name.rpartition(".")[2]
        return f"symgrad.{self.at}.{name}:{name}"

    @property
    def function(self) -> Callable[..., Any]:
        """The pass function; its module is imported on demand."""
        return function_at(self.place)

    @property
    def summary(self) -> str:
        """The first sentence of the pass function's docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]


@cache
def function_at(place: str) -> Callable[..., Any]:
    """The function at a place."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(imported(module), name)
    return function


@dataclass(frozen=True, slots=True)
class Stage:
    """Passes that run one after the other, under a name."""

    name: str
    passes: tuple[Pass, ...]

    def without(self, *names: str) -> Stage:
        """The stage without some passes."""
        return Stage(self.name, tuple(one for one in self.passes if one.name not in names))


def import_passes(pipeline: Iterable[object]) -> None:
    """Import every pass of a pipeline."""
    for stage in pipeline:
        if isinstance(stage, Stage):
            for one in stage.passes:
                one.function  # noqa: B018  # looking it up imports its module


@dataclass(frozen=True, slots=True)
class PassContext:
    """Arguments of passes besides the function, by the names in ``Pass.takes``."""

    compiled: bool = False  #: whether the result is compiled to machine code
    guarded: bool = True  #: whether the result may raise early, because a fallback runs then
    writer: Any = None  #: the builder of the kernel's loops
    unsure: set[Value] = field(default_factory=set)  #: possibly unbound values


def passes_of(stage: Stage) -> tuple[Pass, ...]:
    """The passes of a stage, in order."""
    return stage.passes


def run(stage: Stage, func: Func, context: PassContext | None = None) -> Func:
    """Run the passes of a stage in order; skip those that would change nothing, as far as that is known.

    Most passes change the function in place; the returned function is the result.
    """
    context = context or PassContext()
    trace, strict = None if func.notes is None else func.notes.trace, bool(os.environ.get("SYMGRAD_CHECK"))
    func.known = {}
    for one in passes_of(stage):
        before = observed(func, one.preserves) if strict else {}
        enter(f"{stage.name}, {one.name}")
        started = time.perf_counter()
        if is_needed(one, func):
            func.known = func.known if one.records else None
            func = applied(one, func, context)
            func.known = func.known or {}
        elif strict:
            check_needless(one, func, context)
        if trace is not None:
            trace.timings.append(Timing(stage.name, one.name, time.perf_counter() - started))
            if trace.stop_after == one.name and not one.loose:
                trace.stopped = clone(func)
        if strict and not one.loose:
            verify(func)
            check_preserved(one, before, observed(func, one.preserves))
    func.known = None
    return func


def is_needed(one: Pass, func: Func) -> bool:
    """Whether a pass may change a function in its present state."""
    known: dict[str, Any] = {} if func.known is None else func.known
    if one.needs and "contents" not in known:
        known["contents"] = Contents.of(func)
    return one.name not in known and (not one.needs or known["contents"].holds_any(one.needs))


def applied(one: Pass, func: Func, context: PassContext) -> Func:
    """The result of a pass for a function."""
    more = [getattr(context, name) for name in one.takes]
    if one.on_block:
        one.function(func.body, *more)
        return func
    result: Func = one.function(func, *more)
    return result


def check_needless(one: Pass, func: Func, context: PassContext) -> None:
    """Raise InvalidIR if a pass does something on a function that holds nothing that it needs, or in which it has changed nothing."""
    before = described(func)
    if described(applied(one, func, context)) != before:
        needed = f"that holds none of what it needs: {', '.join(one.needs)}" if one.needs else "in which it has changed nothing before"
        raise InvalidIR(f"the pass {one.name} changes a function {needed}")


def described(func: Func) -> list[Any]:
    """Everything that a function does, with its types, to tell whether it has changed."""
    lines: list[Any] = [[*func.body.yields], func.split, func.guarded, [value.type for value in func.params]]
    for op in walk(func.body):
        row = (op.name, dict(op.settings)) if isinstance(op, Call) else None
        blocks = [([(value, value.type) for value in block.args], [*block.yields]) for block in op.blocks]
        lines.append((op, row, [*op.operands], [(out, out.type) for out in op.outs], blocks))
    return lines


def timed(notes: Notes | None, stage: str, name: str) -> AbstractContextManager[None]:
    """Enter a stage and, if requested, record how long the ``with`` block takes."""
    enter(stage)
    return nullcontext() if notes is None else notes.trace.timed(stage, name)


def checked(func: Func) -> Func:
    """Verify a function if ``SYMGRAD_CHECK`` is set (as in our tests)."""
    if os.environ.get("SYMGRAD_CHECK"):
        verify(func)
    return func


# ------------------------------------------------------------------ preserved properties


def observed(func: Func, names: Iterable[str]) -> dict[str, Any]:
    """The values of a function's properties, by name."""
    return {name: OBSERVE[name](func) for name in names}


def loops_of(func: Func) -> list[str]:
    return [type(op).__name__ for op in walk(func.body) if isinstance(op, For | While | If)]


def stores_of(func: Func) -> list[str]:
    return [op.name for op in walk(func.body) if isinstance(op, Call) and (ROWS[op.name].consumes or ROWS[op.name].effect)]


def rows_without_rule(func: Func) -> frozenset[str]:
    return frozenset(op.name for op in walk(func.body) if isinstance(op, Call) and ROWS[op.name].missing is not None)


OBSERVE: dict[str, Callable[[Func], Any]] = {"loops": loops_of, "stores": stores_of, "derivative": rows_without_rule}
assert OBSERVE.keys() == PROPERTIES.keys()


def check_preserved(one: Pass, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raise InvalidIR if a pass has changed a property that it declares to preserve."""
    for name, value in before.items():
        if not (after[name] <= value if isinstance(value, frozenset) else after[name] == value):
            raise InvalidIR(f"the pass {one.name} does not preserve {PROPERTIES[name]}")


def outline(func: Func) -> list[object]:
    """The ops of a function in order, to detect whether a pass has changed it."""
    return [(op.name if isinstance(op, Call) else type(op), len(op.outs)) for op in walk(func.body)]


__all__ = ["PROPERTIES", "Pass", "PassContext", "Stage", "checked", "outline", "run", "timed"]
