"""Dynamic keys: which known key of a dict, or element of a set, equals a value at run time.

Python finds the key that is equal and has the same hash. A number is compared with each known key in turn. The result
of each comparison becomes a path condition, so ``if k in d: d[k] += x`` does not look for the key twice.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.growing_dicts import note_new_key
from symgrad.frontend.flow.absent import as_python_does, definite, either
from symgrad.frontend.flow.enumerated import among, each, is_one_of_kinds
from symgrad.frontend.flow.flow import choose, choose_in_turn
from symgrad.frontend.objects.operands import static_binding
from symgrad.frontend.objects.python_values import python_comparison
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    Known,
    Maybe,
    Missing,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Tup,
    known_key,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.pinning import pinnable, pinned
from symgrad.frontend.state.program_state import NOTHING_KNOWN
from symgrad.ir.core import FALSE, NONE, TRUE, Call, Const, Operand
from symgrad.ir.types import Array, Scalar

#: returns the result for a known key and the value that equals it
Use = Callable[[Any, Binding], Binding]
#: classes of keys that are equal to no number
NO_NUMBERS = (str, bytes, tuple, frozenset, types.NoneType, types.FunctionType, types.BuiltinFunctionType, type)
#: among more integers than these, one test excludes half of them
FEW = 8
#: up to here each integer is exact as a float
EXACT = 2**53


def at_key(ctx: Lowering, held: Binding, keys: Iterable[Any], node: ast.AST, use: Use, absent: Callable[[Binding], Binding]) -> Binding:
    """The result of ``use`` for the key that a value equals, or of ``absent`` if it equals none."""
    keys = list(keys)
    if isinstance(held, OneOf) or is_one_of_kinds(held):
        return each(ctx, held, node, lambda one: at_key(ctx, one, keys, node, use, absent))
    if isinstance(held, Maybe):
        return either(ctx, held, node, lambda one: at_key(ctx, one, keys, node, use, absent))
    key = known_key(held)
    if not isinstance(key, Missing):
        as_python_does(ctx, node, lambda: {key: None})
        return use(key, held) if key in dict.fromkeys(keys) else absent(held)
    check_computed(ctx, held, node)
    goes_on = False

    def none_of_them() -> Binding:
        nonlocal goes_on
        result = absent(held)
        goes_on = True
        return result

    def of(left: list[Any]) -> Binding:
        if not left:
            return none_of_them()
        if len(left) > FEW and isinstance(held, Num) and isinstance(held.operand.type, Scalar) and all(type(k) is int for k in left):
            half = len(left) // 2
            below = ctx.call("less", held.operand, Const(left[half]))
            return choose(ctx, below, node, lambda: of(left[:half]), lambda: of(left[half:]))
        first, *others = left
        test = is_key(ctx, held, first, node)
        if isinstance(test, Const):
            return use(first, held) if test.value else of(others)
        if not others and surely_among(ctx, held, keys):
            return use(first, held)
        return choose_in_turn(ctx, test, node, lambda: use(first, held), lambda: of(others))

    left = possible(ctx, held, keys)
    result = of(sorted(left) if len(left) > FEW and all(type(k) is int for k in left) else left)
    if isinstance(held, Num) and not goes_on:
        ctx.state.known = {**ctx.state.known, (held.operand, frozenset(keys)): True}
    return result


def is_among(ctx: Lowering, held: Binding, keys: Iterable[Any], node: ast.AST) -> Operand:
    """Whether a value equals one of some keys."""
    keys = list(keys)
    if not isinstance(held, Num) or isinstance(held.operand, Const):
        answer = at_key(ctx, held, keys, node, lambda key, _: Num(TRUE), lambda _: Num(FALSE))
        assert isinstance(answer, Num)
        return answer.operand
    check_computed(ctx, held, node)
    left = possible(ctx, held, keys)
    if left and surely_among(ctx, held, keys):
        return TRUE
    disjunction: Operand = FALSE
    for key in left:
        test = is_key(ctx, held, key, node)
        if isinstance(test, Const):
            if test.value:
                return TRUE
            continue
        disjunction = test if isinstance(disjunction, Const) else ctx.call("logical_or", disjunction, test)
    note(ctx, disjunction, {(held.operand, key): False for key in left}, {(held.operand, frozenset(keys)): True})
    return disjunction


def possible(ctx: Lowering, held: Binding, keys: list[Any]) -> list[Any]:
    """The keys that no test on this path has excluded, or the one that a test has proved equal."""
    if not isinstance(held, Num):
        return keys
    known = ctx.state.known
    sure = [key for key in keys if known.get((held.operand, key))]
    return sure[:1] or [key for key in keys if known.get((held.operand, key)) is not False]


def surely_among(ctx: Lowering, held: Binding, keys: list[Any]) -> bool:
    """Whether a test on this path has proved that a number is one of these keys."""
    if not isinstance(held, Num):
        return False
    known, there = ctx.state.known, dict.fromkeys(keys)
    if any(known.get((held.operand, key)) for key in keys):
        return True
    several = [fact[1] for fact, holds in known.items() if holds and isinstance(fact, tuple) and fact[0] is held.operand]
    return any(
        isinstance(one, frozenset) and all(key in there or known.get((held.operand, key)) is False for key in one) for one in several
    )


def check_computed(ctx: Lowering, held: Binding, node: ast.AST) -> None:
    """Refuse a dynamic key whose equality cannot be tested; an unhashable key raises as in Python."""
    refusal = UnsupportedSyntax("a dict key must be a literal", ctx.loc(node), "use an array or a list for keys that are computed")
    if python_class(held) in (str, frozenset) and (ctx.unroll or not is_formatted(ctx, held)):
        return
    if pinnable(ctx, held) is not None:  # with its value the key is static
        raise pinned(ctx, refusal, [held])
    match held:
        case Num(operand) if isinstance(operand.type, Scalar) and operand.type.kind in ("int", "bool", "float"):
            return
        case Tup(items, None):
            for item in items:
                if isinstance(known_key(item), Missing) and not isinstance(item, OneOf | Maybe):
                    check_computed(ctx, item, node)
            return
        case Ref() if isinstance(type_ := ctx.type_of(held), Array) and type_.shape is not None:
            definite(ctx, MISSING, node, TypeError, "unhashable type: 'numpy.ndarray'")
        case Obj(key) if key.kind == "list" and key.cls is None and key.exact is None:
            definite(ctx, MISSING, node, TypeError, "unhashable type: 'list'")
    raise refusal


def is_formatted(ctx: Lowering, held: Binding) -> bool:
    """Whether the key is a text just formatted from numbers, as in ``d[f"a{k}"]``: it is static if the loop over ``k`` is unrolled."""
    texts = [op for op in ctx.builder.block.ops if isinstance(op, Call) and op.name in ("format_text", "format_percent")]
    return isinstance(held, Num) and any(held.operand in op.outs for op in texts)


def is_key(ctx: Lowering, held: Binding, key: Any, node: ast.AST) -> Operand:
    """Whether a value equals a known key."""
    known = known_key(held)
    if not isinstance(known, Missing):
        return Const(known in {key: None})
    if (kind := python_class(held)) is not None:
        if not isinstance(key, str if kind is str else set | frozenset):
            return FALSE
        answer = python_comparison(ctx, ast.Eq(), held, static_binding(key), node)
        assert isinstance(answer, Num)
        return answer.operand
    match held:
        case Num(operand):
            return is_number(ctx, operand, key, node)
        case OneOf(values=values):
            return among(ctx, held, [k for k, value in enumerate(values) if value.value in {key: None}], node)
        case Maybe():
            answer = either(ctx, held, node, lambda one: Num(is_key(ctx, one, key, node)))
            assert isinstance(answer, Num)
            return answer.operand
        case Tup(items):
            if not isinstance(key, tuple) or len(key) != len(items):
                return FALSE
            conjunction: Operand = TRUE
            for item, part in zip(items, key, strict=True):
                test = is_key(ctx, item, part, node)
                if isinstance(test, Const):
                    if not test.value:
                        return FALSE
                    continue
                conjunction = test if conjunction is TRUE else ctx.call("logical_and", conjunction, test)
            return conjunction
    raise UnsupportedSyntax("whether this is one of the keys is not known at compile time", ctx.loc(node), "use numbers or texts for keys")


def is_number(ctx: Lowering, operand: Operand, key: Any, node: ast.AST) -> Operand:
    """Whether a dynamic number equals a known key, as Python compares them: by their exact values."""
    number, type_ = number_in(ctx, key, node), operand.type
    assert isinstance(type_, Scalar)
    if number is None:
        return FALSE
    if type_.kind == "bool":
        if number not in (0, 1):
            return FALSE
        note(ctx, operand, {(operand, 1): False, (operand, 0): True}, {(operand, 1): True, (operand, 0): False})
        return operand if number else ctx.call("not_", operand)
    if type_.kind == "int":
        if number != number // 1:
            return FALSE
        number = int(number)
    elif not is_of_dtype(number, type_.dtype):
        return FALSE
    compared: Binding = Num(operand)
    if type_.dtype == "any" and not is_of_dtype(number, "f16"):  # NumPy would compare in the precision of this number
        compared = ctx.apply(Static(float, "float"), [compared], {}, node)
    test = ctx.call("equal", ctx.read(compared, node), Const(number))
    note(ctx, test, {(operand, key): False}, {(operand, key): True})
    return test


def number_in(ctx: Lowering, key: Any, node: ast.AST) -> int | float | None:
    """The number that equals a key; None if the key is no number."""
    if isinstance(key, complex | np.complexfloating):
        key = float(key.real) if key.imag == 0 else ""
    if isinstance(key, NO_NUMBERS) and type(key).__eq__ in [kind.__eq__ for kind in NO_NUMBERS]:
        return None
    if isinstance(key, enum.Enum) and type(key).__eq__ is object.__eq__:
        return None
    if isinstance(key, np.bool_ | np.integer | np.floating):
        key = key.item()
    if isinstance(key, bool | int) and type(key).__eq__ is int.__eq__ and abs(key) <= EXACT:
        return int(key)
    if isinstance(key, float) and type(key).__eq__ is float.__eq__ and (abs(key) <= EXACT or abs(key) == np.inf):
        return float(key)
    raise UnsupportedSyntax(f"whether a number is equal to the key {key!r} is not known at compile time", ctx.loc(node))


def is_of_dtype(number: float, dtype: str | None) -> bool:
    """Whether the dtype represents this value exactly."""
    if dtype not in ("f32", "f16"):
        return True
    with np.errstate(over="ignore"):
        nearest = np.float32(number) if dtype == "f32" else np.float16(number)
    return bool(nearest.item() == number)


def note(ctx: Lowering, test: Operand, where_false: Known, where_true: Known) -> None:
    """Record path conditions that a test decides."""
    if isinstance(test, Const):
        return
    known = ctx.decided.table.get(test, (NOTHING_KNOWN, NOTHING_KNOWN))
    ctx.decided.table[test] = ({**known[0], **where_false}, {**known[1], **where_true})


def new_key(ctx: Lowering, owner: Obj, held: Binding, is_possible: bool, node: ast.AST) -> Binding:
    """A store under a new dynamic key, with which the dict would grow.

    If the key may be one of the dict's, a new key is refused at run time. Before that, lowering is attempted with a
    dict that can grow.
    """
    note_new_key(ctx, owner)
    what = "a computed key is not one of the keys of the dict"
    hint = "make the dict with all of its keys, or use an array or a list for keys that are computed"
    if not ctx.unroll or not is_possible:
        refusal = UnsupportedSyntax("a dict key must be a literal", ctx.loc(node), "use an array or a list for keys that are computed")
        raise pinned(ctx, refusal, [held])
    if (place := ctx.loc(node)) is not None:
        what += f" ({Path(place.file).name}:{place.line})"
    refused = ctx.constant(UnsupportedSyntax, "UnsupportedSyntax")
    ctx.builder.call_many("raise_error", refused, Const(what), NONE, Const(hint))
    ctx.state.dead = True
    raise Raised


__all__ = ["at_key", "is_among", "known_key", "new_key", "possible"]
