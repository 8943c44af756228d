"""Recursive functions: each becomes a ``Func`` of its own, lowered until the type of its result is known."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.entry_copies import copy_written
from symgrad.frontend.flow.filling import operands_of
from symgrad.frontend.flow.sequences import of_any_length, own_lists
from symgrad.frontend.functions.activation import bind_arguments, body_result, default_bindings, holds_function
from symgrad.frontend.functions.kept_calls import KEPT, check_kept, own_type, result_type
from symgrad.frontend.functions.recursive_effects import (
    Recursive,
    begin,
    changed_at_end,
    check_apart,
    final_values,
    hand_back,
    handed_over,
    is_as_before,
    learn_changes,
    learn_reads,
    learn_sharing,
    of_any_length_from_now,
    outs_for,
    parts_of_arguments,
    result_of,
    widened,
)
from symgrad.frontend.state.abstract_values import NOTHING, Skeleton, leaves, places_in, rebuild
from symgrad.frontend.state.bindings import Binding, Fun, Location, Maybe, Num, OneOf, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised, Unresolved
from symgrad.frontend.state.program_state import Frame
from symgrad.frontend.state.reach import memory_within, objects_around
from symgrad.frontend.state.tables import SPREAD
from symgrad.frontend.text.source import Source, body_nodes, global_names, local_names
from symgrad.ir.core import Apply, Block, Func, Operand, Value, applied, definitions, substitute, walk
from symgrad.ir.types import Array, Type
from symgrad.ir.walks import read_in
from symgrad.ops.analysis.aliases import memory_groups

HANDED = "objects are handed over"  #: in the set of recursive functions, with a function: its arguments are not copied
ROUNDS = 16
RETURNED = ("num", "array", "tuple", "maybe", "oneof", "object")  #: forms of results
DEEP = 12  #: the maximum nesting of argument forms of one function, each first called while the one before is lowered
OF_NOTHING = Skeleton("same", same=Static(None))  #: the form of None


@dataclass(frozen=True, slots=True)
class Callee:
    """A user function: its tree, the frame around it (of a nested function), and its identity."""

    node: ast.FunctionDef | ast.Lambda
    source: Source
    parent: Frame | None
    code: Any
    is_handed: bool = False  #: whether its arguments are the objects themselves, as the enclosing functions hold them
    is_kept: bool = False  #: whether text to read keeps its calls: then it does not call itself

    @property
    def name(self) -> str:
        return "lambda_" if isinstance(self.node, ast.Lambda) else self.node.name


def call_recursive(ctx: Lowering, source: Source, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a function that calls itself; it becomes a function of the program."""
    is_handed, is_kept = ((kind, source.function) in ctx.recursive_sites for kind in (HANDED, KEPT))
    callee = Callee(source.node, source, None, source.function, is_handed, is_kept)
    bound = bind_arguments(ctx, source.node.args, args, kwargs, default_bindings(ctx, source), lambda: source.function.__qualname__, False)
    outermost = is_outermost(ctx, callee)
    try:
        return call_callee(ctx, callee, bound, node)
    finally:
        # a global variable, one that a function among the arguments reads, or an object may hold something else at the next call
        if outermost and (callee.is_handed or ctx.assigned_outside or any(holds_function(ctx, b) for b in bound.values())):
            forget(ctx, callee)


def call_nested_recursive(
    ctx: Lowering, function: Fun, site: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding:
    """The same for a nested function; the variables of the enclosing functions that it reads are passed at each call."""
    code, is_handed = (function.node, function.frame), (HANDED, site) in ctx.recursive_sites
    callee = Callee(function.node, function.frame.source, function.frame, code, is_handed)
    outermost = is_outermost(ctx, callee)
    try:
        bound = bind_arguments(
            ctx, function.node.args, args, kwargs, dict(function.defaults), lambda: callee.source.qualname_of(callee.node), False
        )
        return call_callee(ctx, callee, bound, node)
    finally:
        if outermost:  # the variables around it may have other values at the next call
            forget(ctx, callee)


def is_outermost(ctx: Lowering, callee: Callee) -> bool:
    """Whether the call is made from outside the callee's body and the functions that it calls."""
    return not any(key[0] == callee.code and not record.done for key, record in ctx.recursive.items())


def forget(ctx: Lowering, callee: Callee) -> None:
    """Discard the lowering of a function, so that its next call lowers it again."""
    for key in [k for k in ctx.recursive if k[0] == callee.code]:
        del ctx.recursive[key]


def call_callee(ctx: Lowering, source: Callee, bound: dict[str, Binding], node: ast.AST) -> Binding:
    operands: list[Operand] = []
    arrays: list[Ref | None] = []
    forms: dict[str, Skeleton] = {}
    for name, binding in bound.items():
        form = ctx.skeleton(binding, ctx.state) if source.is_handed else NOTHING
        is_object = form.form == "same" and form.anew is not None
        forms[name] = form if is_object else general(ctx, binding, operands, arrays, node, own_type if source.is_kept else widened)
    key = (source.code, tuple(forms.items()))
    record: Recursive | None = ctx.recursive.get(key)
    if record is not None and record.done and not is_as_before(ctx, record):
        record = None
    if record is None and goes_too_deep(ctx, source):
        what = f"{source.name} calls itself with other functions, strings or structures of arguments each time"
        raise UnsupportedSyntax(what, ctx.loc(node), "pass it numbers and arrays")
    if record is None:
        func = Func(source.name, loc=source.source.loc(source.node), original=source.code if source.is_kept else None)
        record = ctx.recursive[key] = Recursive(func, ctx.state.copy())
        if returns_nothing(source.node):
            record.form, record.known = OF_NOTHING, True
        try:
            lower_to_fixed_point(ctx, source, forms, record, node)
        except BaseException:
            ctx.recursive = {k: held for k, held in ctx.recursive.items() if held is not record}
            raise
    elif not record.done:
        learn_changes(ctx, record, record.entry, node)
    if not record.known:
        raise Unresolved
    check_apart(ctx, record, arrays, node)
    SPREAD["unfollowed"](ctx)
    changed = handed_over(ctx, record)
    types = [leaf.type for leaf in leaves(record.form)]
    further = outs_for(ctx, record, arrays)
    if source.is_kept:
        check_kept(source.name, forms, record.form, (*changed, *further, *(record.parts or ())), record.func.body)
        types = [result_type(type_, [operand.type for operand in operands]) for type_ in types]
    operands += changed
    outs = [Value(ctx.builder.freshen(types[place])) for place in record.returned()]
    ctx.builder.append(Apply([*outs, *further], ctx.builder.loc, record.func, operands))
    hand_back(ctx, record, arrays, further)
    result = result_of(ctx, record, arrays, outs)
    ctx.state.twins |= frozenset(objects_around(result, ctx.state))  # the result may be an argument
    for location in memory_within(result, ctx.state):
        if not isinstance(ctx.state.memory[location].type, Array):  # so may its contents
            for argument in bound.values():
                for source_ in memory_within(argument, ctx.state):
                    ctx.state.pair(location, source_)
    return result


def goes_too_deep(ctx: Lowering, source: Callee) -> bool:
    """Whether a function recurses with ever new forms of arguments.

    Then its inner calls are not lowered again: each level is lowered twice, so the work would
    double with each.
    """
    open_forms = sum(key[0] == source.code and not record.done for key, record in ctx.recursive.items())
    if open_forms == 0:
        ctx.too_deep.discard(source.code)
    elif open_forms > DEEP:
        ctx.too_deep.add(source.code)
    return source.code in ctx.too_deep


def returns_nothing(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function certainly returns None."""
    if isinstance(node, ast.Lambda):
        return False
    return not any(isinstance(inner, ast.Return) and inner.value is not None for inner in body_nodes(node))


def general(
    ctx: Lowering, binding: Binding, operands: list[Operand], arrays: list[Ref | None], node: ast.AST, type_of: Callable[[Type], Type]
) -> Skeleton:
    """The form of an argument without the facts that vary by call: values, and extents, as ``type_of`` says.

    ``arrays`` is parallel to ``operands``.
    """

    def add(operand: Operand, ref: Ref | None = None) -> None:
        operands.append(operand)
        arrays.append(ref)

    match binding:
        case Num(operand):
            add(operand)
            return Skeleton("num", operand.type)
        case Ref():
            value = ctx.read(binding, node)
            add(value, binding)
            return Skeleton("array", type_of(value.type))
        case Tup(items, kind):
            return Skeleton("tuple", items=tuple(general(ctx, i, operands, arrays, node, type_of) for i in items), same=kind)
        case Maybe(present, inner, absent):
            add(present)
            return Skeleton("maybe", items=(general(ctx, inner, operands, arrays, node, type_of),), same=absent)
        case OneOf(place, values):
            add(place)
            return Skeleton("oneof", same=values)
        case Static() | Fun():
            return Skeleton("same", same=binding)
        case _ if (form := of_any_length(ctx, binding)) is not None:
            value = ctx.read(binding, node)
            (location,) = places_in(binding, form, ctx.state.heap)
            add(value, None if location is None else Ref(location))
            return replace(form, items=(Skeleton("array", widened(value.type)),))
    what = "a function that calls itself takes numbers, arrays and tuples of these"
    raise UnsupportedSyntax(what, ctx.loc(node), "pass a tuple or an array")


def lower_to_fixed_point(ctx: Lowering, source: Callee, forms: dict[str, Skeleton], record: Recursive, node: ast.AST) -> None:
    """Lower the body until it shows nothing new about the function."""
    start = ctx.unresolved
    for _ in range(ROUNDS):
        before, known = ctx.unresolved, list(ctx.recursive)
        record.news = False
        try:
            lower_body(ctx, source, forms, record, node)
        except Unresolved:
            if record.known or ctx.passes_over:
                raise
            ctx.passes_over = True
            try:
                lower_body(ctx, source, forms, record, node)
            finally:
                ctx.passes_over = False
        of_any_length_from_now(ctx, record, node)
        if not record.news and ctx.unresolved == before:
            record.done, ctx.unresolved = True, start
            return
        if not record.news and any(not other.done and other is not record for other in ctx.recursive.values()):
            # it waits for the result of an enclosing function: only the type counts, and the next
            # time it is lowered again
            for key in [k for k, v in ctx.recursive.items() if v is record]:
                del ctx.recursive[key]
            return
        if record.news:
            for key in [k for k in ctx.recursive if k not in known]:  # lowered when less was known of this function
                del ctx.recursive[key]
    raise UnsupportedSyntax(f"the type of the result of {source.name} does not converge", ctx.loc(node))


def lower_body(ctx: Lowering, source: Callee, forms: dict[str, Skeleton], record: Recursive, node: ast.AST) -> None:
    """One attempt at the body, which may show something new."""
    frame = Frame(source.source, source.parent, local_names(source.node), global_names(source.node))
    outer = (ctx.state, ctx.frame, ctx.builder.loc)
    ctx.state, ctx.frame = record.entry.copy(), frame
    params: list[Value] = []
    places: list[Location | None] = []
    for name, form in forms.items():
        values = [Value(ctx.builder.freshen(leaf.type), name) for leaf in leaves(form)]
        params += values
        ctx.state.names[frame, name] = argument = rebuild(form, list(values), ctx.state, name, ctx.builder.loc)
        if form.form != "same" or form.anew is None:
            ctx.state.twins |= frozenset(objects_around(argument, ctx.state))  # they are the caller's
        places += places_in(argument, form, ctx.state.heap)
    for place, location in enumerate(places):
        if location is not None:  # the caller has its own name for it, independent of the callee's
            ctx.state.names[frame, f"%argument {place}"] = Ref(location)
    arguments = list(zip(params, places, strict=True))
    block = Block(params)
    ctx.stack.append((source.code, node))
    ctx.bodies += 1
    try:
        with ctx.inside(block):
            block.args = [*params, *begin(ctx, record, arguments)]
            top = ctx.state.copy()
            try:
                result = body_result(ctx, frame, source.node)
            except Raised:
                raise UnsupportedSyntax(f"{source.name} calls itself and always raises", ctx.loc(node)) from None
            changed_at_end(ctx, record, top, arguments, node)
            form = own_lists(ctx.skeleton(result, ctx.state))
            if any(leaf.form not in ("num", "array") for leaf in leaves(form)) or form.form not in RETURNED and form != OF_NOTHING:
                raise UnsupportedSyntax(
                    f"{source.name} calls itself and returns a value that is not a number, array or tuple",
                    ctx.loc(node),
                    "write it as a loop",
                )
            record.learn_result(form, parts_of_arguments(result, form, arguments))
            for location in places_in(result, form, ctx.state.heap):
                if location is not None:
                    ctx.check_fresh(Ref(location))
            learn_sharing(ctx, record, result, form, places)
            returned = operands_of(ctx, result, record.form)
            block.yields = [returned[place] for place in record.returned()] + final_values(ctx, record, arguments)
            own_memory(ctx, block)
        learn_reads(ctx, record, block, arguments, node)
    finally:
        ctx.bodies -= 1
        ctx.stack.pop()
        ctx.state, ctx.frame, ctx.builder.loc = outer
    record.func.body = block
    record.func.results = ["out"] if len(block.yields) == 1 else [f"out_{k}" for k in range(len(block.yields))]


def own_memory(ctx: Lowering, block: Block) -> None:
    """Copy results that may alias others, because the caller may write to each of them."""
    groups = memory_groups(Func("", block))
    seen: set[Value] = set()
    for place, value in enumerate(block.yields):
        if isinstance(value, Value) and isinstance(value.type, Array):
            if (group := groups.find(value)) in seen:
                block.yields[place] = ctx.call("copy", value, hint=value.name)
            seen.add(group)


def close_over(ctx: Lowering, body: Block) -> None:
    """Turn the free variables of the functions applied in a body into parameters, which each call passes."""
    funcs = [func for func in applied(body) if func not in ctx.closed]
    inside = {func: set(definitions(func.body)) for func in funcs}
    free = {func: dict.fromkeys(v for v in read_in(func.body) if v not in inside[func]) for func in funcs}
    size = -1
    while size != (size := sum(map(len, free.values()))):
        for func in funcs:
            for other in applied(func.body):
                free[func] |= {v: None for v in free.get(other, ctx.closed.get(other, ())) if v not in inside[func]}
    ctx.closed.update({func: list(values) for func, values in free.items()})
    for func in funcs:
        params = {v: Value(v.type, v.name) for v in free[func]}
        hand_on(ctx, func.body, params)
        substitute(func.body, dict(params))
        func.body.args += params.values()
    hand_on(ctx, body, {})


def keep_arguments(ctx: Lowering) -> None:
    """Copies of the arrays and lists that the functions of the program write to, which may be different ones by path."""
    for func in ctx.closed:
        copy_written(func, func.loc)


def hand_on(ctx: Lowering, body: Block, params: dict[Value, Value]) -> None:
    """Complete the arguments of the calls in a body."""
    for op in walk(body):
        if isinstance(op, Apply) and op not in ctx.completed:
            assert op.func is not None
            op.args = [*op.args, *(params.get(v, v) for v in ctx.closed.get(op.func, ()))]
            ctx.completed.add(op)


__all__ = ["Any", "call_recursive", "close_over", "keep_arguments"]
