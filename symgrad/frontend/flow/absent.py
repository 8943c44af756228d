"""Reads of values that may be None (``Maybe``): as a bool, as a number guarded by a test, or as a value that may be None."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symgrad.errors import SymgradError, UnknownType
from symgrad.frontend.flow.edges import fail, fail_unless
from symgrad.frontend.flow.flow import choose
from symgrad.frontend.state.abstract_values import decided, resolved_by_paths
from symgrad.frontend.state.bindings import ABSENT, MISSING, Binding, Broken, HeapKey, Maybe, Num, Obj, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import FALSE, Const, Operand

#: the message for None in place of another value
NOT_A_VALUE = "the value here is None"


def definite(ctx: Lowering, binding: Binding, node: ast.AST, error: type[Exception] = TypeError, what: Any = NOT_A_VALUE) -> Binding:
    """The value of a binding that may be absent; where it is absent, the program raises as Python does."""
    binding = resolved_by_paths(binding, ctx.state)
    if not (isinstance(binding, Maybe) or binding in (ABSENT, MISSING)):
        return binding
    if not isinstance(binding, Maybe):
        fail(ctx, error, what)
    assert isinstance(binding, Maybe)
    if ctx.notes is not None:
        told = "whether the value here is None, so it is tested"
        ctx.notes.add("frontend", "unproved", ctx.loc(node), told, hint="read it under a test for None")
    fail_unless(ctx, binding.present, error, what)
    ctx.state.known = {**ctx.state.known, binding.present: True}
    return binding.inner


def as_python_does(ctx: Lowering, node: ast.AST, call: Callable[[], Any]) -> Any:
    """The result of a call with constants, evaluated at compile time; if the call raises, the program does."""
    try:
        return call()
    except SymgradError:  # a refusal of ours is no exception of the program's
        raise
    except Exception as error:
        return definite(ctx, MISSING, node, type(error), str(error))


def argument(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """The same for an argument of a function that may accept None."""
    return definite(ctx, binding, node) if isinstance(binding, Maybe) else binding


def present(ctx: Lowering, binding: Maybe) -> Operand:
    """The bool that says whether the value exists, constant where that is known."""
    known = decided(binding.present, ctx.state)
    return binding.present if known is None else Const(known)


def either(ctx: Lowering, binding: Binding, node: ast.AST, use: Callable[[Binding], Binding]) -> Binding:
    """Apply ``use`` to a value that may be absent: to its value on one path, to None on the other."""
    if not isinstance(binding, Maybe):
        return use(binding)
    test = present(ctx, binding)
    if isinstance(test, Const):
        return use(binding.inner if test.value else binding.absent)
    return choose(ctx, test, node, lambda: use(binding.inner), lambda: use(binding.absent))


def is_absent(ctx: Lowering, binding: Maybe) -> Operand:
    """``binding is None``."""
    test = present(ctx, binding)
    return Const(not test.value) if isinstance(test, Const) else ctx.call("not_", test)


def truth_of(ctx: Lowering, binding: Maybe, node: ast.AST, truth: Callable[[Lowering, Binding, ast.AST], Operand]) -> Operand:
    """``if binding:``."""
    test = present(ctx, binding)
    if isinstance(test, Const) and not test.value:
        return FALSE
    if isinstance(binding.inner, Obj | Tup | Static) and isinstance(known := truth(ctx, binding.inner, node), Const):
        return test if known.value else FALSE
    result = either(ctx, binding, node, lambda inner: Num(truth(ctx, inner, node)))
    assert isinstance(result, Num)
    return result.operand


def has_item(ctx: Lowering, key: HeapKey, name: object) -> Operand:
    """Whether a dict has a key, or an instance an attribute of its own."""
    held = dict(ctx.state.entries(key)).get(name, MISSING)
    if isinstance(held, Maybe) and held.absent == MISSING:
        return present(ctx, held)
    if isinstance(held, Broken):
        raise UnknownType("it is set on some paths only", ctx.builder.loc, "set it on every path")
    return Const(held != MISSING)


def definite_item(ctx: Lowering, held: Binding, node: ast.AST, error: type[Exception], what: Any) -> Binding:
    """An item of an object; where the object has none, the program raises as Python does."""
    missing = held == MISSING or isinstance(held, Maybe) and held.absent == MISSING
    return definite(ctx, held, node, error, what) if missing else held


__all__ = ["argument", "definite", "definite_item", "either", "has_item", "is_absent", "present", "truth_of"]
