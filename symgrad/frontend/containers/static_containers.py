"""Static containers: ranges and their attributes, arithmetic of ``Counter``, and containers read from outside."""

from __future__ import annotations

import ast
import collections
import operator
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.objects.derived import check_container
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.outside import change_outside, outside
from symgrad.frontend.state.bindings import MISSING, Binding, External, Iter, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const, Operand
from symgrad.ops.composed.lists import range_item


def known_range(parts: tuple[Any, ...]) -> range | None:
    """A range with static bounds."""
    values = [part.value for part in parts if isinstance(part, Const) and type(part.value) in (int, bool)]
    return range(*values) if len(values) == 3 and values[2] else None


def of_range(held: range) -> Iter:
    return Iter("range", (Const(held.start), Const(held.stop), Const(held.step)))


def item_of_range(ctx: Lowering, owner: Iter, spec: str, operands: tuple[Operand, ...], node: ast.AST) -> Binding:
    """``range(n)[k]``, and a slice of a static range."""
    known = known_range(owner.parts)
    places = [o.value for o in operands if isinstance(o, Const)]
    if known is not None and len(places) == len(operands) and spec in ("i", "s"):
        try:
            item = known[slice(*places)] if spec == "s" else known[places[0]]
        except (IndexError, TypeError) as error:
            return definite(ctx, MISSING, node, type(error), str(error))
        return of_range(item) if isinstance(item, range) else Num(Const(item))
    if spec != "i":
        raise UnsupportedSyntax("a slice of a range with computed ends", ctx.loc(node), "make it with range")
    return ctx.apply(Static(range_item), [*map(Num, owner.parts), Num(operands[0])], {}, node)


#: operators on counters, by the operation on the counts; only positive counts remain
COUNTS: dict[type[ast.AST], Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.BitOr: operator.or_, ast.BitAnd: operator.and_}


def counters(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """An operator on two counters with static counts; None for other operands."""
    if kind not in COUNTS or not all(isinstance(x, Obj) and x.key.exact is collections.Counter for x in (a, b)):
        return None
    known = [counts_of(ctx, x, node) for x in (a, b) if isinstance(x, Obj)]
    counts = COUNTS[kind](*known)
    assert isinstance(a, Obj)
    return ctx.new_object("dict", [(k, Num(Const(n))) for k, n in counts.items()], a.key.cls, collections.Counter)


def counts_of(ctx: Lowering, owner: Obj, node: ast.AST) -> collections.Counter[Any]:
    """A counter with static counts."""
    ctx.check_keys(owner.key, node)
    counts = {k: known_value(b) for k, b in ctx.state.entries(owner.key)}
    if not all(counts.values()):
        raise UnsupportedSyntax("the count of each item is not known at compile time", ctx.loc(node), "iterate over the keys")
    return collections.Counter({k: n for k, (n,) in counts.items()})


#: containers that are compared by their contents
COMPARED = (list, tuple, dict, set, frozenset, collections.deque)


def is_outside(binding: Binding) -> bool:
    """Whether the binding is a container from outside whose contents were not read yet."""
    return isinstance(binding, External) and isinstance(binding.value, COMPARED)


def with_content(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """A container from outside with its contents read, to be compared with another container."""
    if not isinstance(binding, External) or not is_outside(binding):
        return binding
    value, text = binding.value, binding.text
    check_container(ctx, type(value))
    if isinstance(value, tuple):
        ctx.rely(text, type(value), "type")
        ctx.rely(text, len(value), "len")
        return Tup(tuple(outside(ctx, item, f"{text}[{k}]", f"item_{k}") for k, item in enumerate(value)))
    change_outside(ctx, binding)
    what = f"a {type(value).__name__} from outside the function is compared with another container"
    raise UnsupportedSyntax(what, ctx.loc(node), "compare their items one by one")


def is_of_known_structure(ctx: Lowering, binding: Binding) -> bool:
    """Whether the argument bounds the recursion of a generator: a tuple, a list, dict or instance of static parts, a constant."""
    if isinstance(binding, Obj):
        return not isinstance(ctx.state.heap[binding.key], Ref)
    return isinstance(binding, Tup | External | Static) or isinstance(binding, Num) and isinstance(binding.operand, Const)


__all__ = ["counters", "counts_of", "is_of_known_structure", "is_outside", "item_of_range", "known_range", "with_content"]
