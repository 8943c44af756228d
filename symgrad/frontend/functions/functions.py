"""Calls of user functions: their bodies are inlined."""

from __future__ import annotations

import ast
import types
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.functions.activation import activate, default_bindings
from symgrad.frontend.functions.kept_calls import is_kept
from symgrad.frontend.functions.recursion import HANDED, call_nested_recursive, call_recursive
from symgrad.frontend.objects.opaque import FOLLOWED
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import Binding, Fun, Obj, Ref
from symgrad.frontend.state.context import WRITTEN_OUT, Lowering
from symgrad.frontend.state.interruptions import CallsItself
from symgrad.frontend.state.program_state import Frame
from symgrad.frontend.state.shared_state import is_readable
from symgrad.frontend.text.source import global_names, local_names, read, yields

DECIDED = "a static number decides"  #: in the set of recursive functions, with a function: its calls were too many to be inlined
MOST_CALLS = 40  #: the most calls that are inlined because of that


def inline(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower the body of a user function here; a recursive one becomes a function of the program."""
    held = ctx.forms.setdefault("sources", {})
    source = held.get(function) if isinstance(function, types.FunctionType) else None
    if source is None:
        source = held[function] = read(function)
    plain = source.function
    if is_recursive(ctx, plain, plain, yields(source.node)) and not is_written_out(ctx, plain, plain, [*args, *kwargs.values()], node):
        check_recursive(ctx, plain, plain, yields(source.node))
        return call_recursive(ctx, source, args, kwargs, node)
    if is_kept(ctx, source, node):
        return call_recursive(ctx, source, args, kwargs, node)
    if ctx.notes is not None:
        ctx.notes.add("frontend", "inlined", ctx.loc(node), "the call is inlined", name=source.name)
    check_depth(ctx, node, plain.__code__)
    place = ctx.loc(node) if (source.function.__module__ or "").startswith(FOLLOWED) else None
    called_at = ctx.loc(node) if is_readable(source.function) else None
    frame = Frame(source, None, local_names(source.node), place=place, called_at=called_at)
    return activate(ctx, frame, source.node, args, kwargs, default_bindings(ctx, source), node, plain)


def is_recursive(ctx: Lowering, code: Any, site: Any, is_generator: bool) -> bool:
    """Whether the function is being lowered already, or an earlier attempt has shown it to be recursive."""
    return not is_generator and site in ctx.recursive_sites or any(held == code for held, _ in ctx.stack)


def check_recursive(ctx: Lowering, code: Any, site: Any, is_generator: bool) -> None:
    """Restart where a function that is being inlined proves to be recursive. The outermost function is not inlined."""
    if not is_generator and site not in ctx.recursive_sites and ctx.stack[0][0] != code:
        raise CallsItself(site)


def site_of(callee: Fun) -> Any:
    """The definition place of a nested function, which is the same in all attempts."""
    return callee.frame.source.file, callee.node.lineno, callee.node.col_offset


def check_depth(ctx: Lowering, node: ast.AST, origin: Any) -> None:
    """Refuse functions that create and call functions of the same text (``origin``) without end."""
    if sum(origin_of(held) is origin for held, _ in ctx.stack) > WRITTEN_OUT:
        raise UnsupportedSyntax("closures of the same def call each other endlessly", ctx.loc(node), "write one function that calls itself")


def origin_of(held: Any) -> Any:
    """The common origin of functions of one text: their code, or their definition in an enclosing function."""
    return held[0] if isinstance(held, tuple) else held.__code__ if isinstance(held, types.FunctionType) else held


def is_decided(ctx: Lowering, code: Any, site: Any, args: list[Binding]) -> bool:
    """Whether a recursive call is inlined, because a static number decides that it happens: no branch or loop of the program is around it.

    So do arguments that are all static, such as dtypes. If there are too many such calls, lowering restarts without this.
    """
    values = [known_value(a) for a in args]
    is_static = any(type(value) is int for known in values for value in known) or bool(values) and all(values)
    if not is_static or (DECIDED, site) in ctx.recursive_sites or ctx.keeps_text or ctx.bodies or ctx.nested != ctx.frame.nested:
        return False
    ctx.recursive_calls += 1
    if ctx.recursive_calls > MOST_CALLS or sum(held == code for held, _ in ctx.stack) > WRITTEN_OUT:
        raise CallsItself((DECIDED, site))
    return True


def is_written_out(ctx: Lowering, code: Any, site: Any, args: list[Binding], node: ast.AST) -> bool:
    """Whether a recursive call is inlined, because its arguments have static structure, or a static number, that bounds its depth.

    If the structure does not bound the depth, lowering restarts, and the objects themselves are passed to such a
    function.
    """
    if (HANDED, site) in ctx.recursive_sites:
        return False
    if is_decided(ctx, code, site, args):
        return True
    known = any(isinstance(a, Obj) and not isinstance(ctx.state.heap[a.key], Ref) for a in args)
    known = known or ctx.unroll and any(type(value) is int for a in args for value in known_value(a))
    if not known:
        return False
    ctx.write_out(node)
    if sum(held == code for held, _ in ctx.stack) > WRITTEN_OUT:
        if not ctx.unroll:
            raise CallsItself((HANDED, site))
        what = "a function that calls itself is inlined for these arguments, and recurses too deeply"
        raise UnsupportedSyntax(what, ctx.loc(node), "pass it numbers and arrays")
    return True


def call_nested(ctx: Lowering, callee: Fun, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Inline a nested function or lambda, in its enclosing frame."""
    site, code = site_of(callee), (callee.node, callee.frame)
    if is_recursive(ctx, code, site, False) and not is_written_out(ctx, code, site, [*args, *kwargs.values()], node):
        check_recursive(ctx, code, site, False)
        return call_nested_recursive(ctx, callee, site, args, kwargs, node)
    check_depth(ctx, node, callee.node)
    outer, names = callee.frame, (local_names(callee.node), global_names(callee.node))
    frame = Frame(outer.source, outer, *names, place=outer.place, called_at=outer.called_at)
    return activate(ctx, frame, callee.node, args, kwargs, dict(callee.defaults), node, code)
