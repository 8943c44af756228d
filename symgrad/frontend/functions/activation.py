"""Activation of a user function: binds its arguments, lowers its body, returns its result."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.containers.generators import called
from symgrad.frontend.containers.stars import bound_rest
from symgrad.frontend.flow.edges import fail
from symgrad.frontend.flow.enumerated import each
from symgrad.frontend.flow.flow import proceed, run
from symgrad.frontend.objects.opaque import FOLLOWED
from symgrad.frontend.objects.operands import as_array, static_binding
from symgrad.frontend.objects.outside import outside
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import (
    MISSING,
    REFUSED,
    Binding,
    Bound,
    Broken,
    Choice,
    Fun,
    Generator,
    Maybe,
    Obj,
    Partial,
    Ref,
    Static,
    Tup,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.program_state import NEXT, RESULT, RETURN, Frame
from symgrad.frontend.state.reach import functions_in
from symgrad.frontend.state.shared_state import is_readable
from symgrad.frontend.text.argument_errors import Wording
from symgrad.frontend.text.source import Source, body_nodes, yields
from symgrad.location import Loc
from symgrad.text import has_literal, item


@dataclass(frozen=True, slots=True)
class Defaults(Mapping[str, Binding]):
    """The defaults of a function, read at each call that omits arguments; those of our own compositions are constants."""

    ctx: Lowering
    source: Source
    places: dict[str, tuple[Any, str]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, name: str) -> Binding:
        function = self.source.function
        value, where = self.places[name]
        if (function.__module__ or "").startswith(FOLLOWED) or is_readable(function) and has_literal(value):
            return static_binding(value)
        text = f"{owner_name(self.ctx, function)}.{where}"
        if value is None or isinstance(value, bool | str):
            self.ctx.rely(text, value)
            return static_binding(value)
        return outside(self.ctx, value, text, name)


def default_bindings(ctx: Lowering, source: Source) -> Mapping[str, Binding]:
    """The defaults of a function."""
    return Defaults(ctx, source, default_places(source))


def default_places(source: Source) -> dict[str, tuple[Any, str]]:
    """The defaults of a function, each with the expression that reads it."""
    arguments = source.node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    values = source.function.__defaults__ or ()
    beyond = len(values) - len(plain)  #: of a function to which a decorator has given the defaults of another
    pairs = enumerate(zip(plain[max(-beyond, 0) :], values[max(beyond, 0) :], strict=True), max(beyond, 0))
    defaults = {a.arg: (v, f"__defaults__[{k}]") for k, (a, v) in pairs}
    return defaults | {k: (v, item("__kwdefaults__", k)) for k, v in (source.function.__kwdefaults__ or {}).items()}


def activate(
    ctx: Lowering,
    frame: Frame,
    function: ast.FunctionDef | ast.Lambda,
    args: list[Binding],
    kwargs: dict[str, Binding],
    defaults: Mapping[str, Binding],
    node: ast.AST,
    code: Any,
) -> Binding:
    """Bind the arguments and lower the body; restore the caller's frame afterwards."""
    bound = bind_arguments(ctx, function.args, args, kwargs, defaults, lambda: frame.source.qualname_of(function), frame.place is not None)
    if yields(function):
        if not isinstance(function, ast.FunctionDef) or frame.top:
            raise UnsupportedSyntax("a generator cannot be differentiated", ctx.loc(node), "return a list")
        return called(ctx, frame, function, bound, node)
    outer, loc, call, before = ctx.frame, ctx.builder.loc, ctx.loc(node), len(ctx.refusals)
    ctx.frame, frame.nested = frame, ctx.nested
    ctx.stack.append((code, node))
    try:
        arrays = array_parameters(function.args) if frame.place is not None else frozenset()
        ctx.hand_over(*args, *kwargs.values())
        for name, binding in bound.items():
            ctx.state.names[frame, name] = each(ctx, binding, node, lambda held: as_array(ctx, held, node)) if name in arrays else binding
        return body_result(ctx, frame, function)
    except SymgradError as error:
        name_call(ctx, [error], frame, call)
        raise
    finally:
        ctx.stack.pop()
        ctx.frame, ctx.builder.loc = outer, loc
        name_call(ctx, ctx.refusals[before:], frame, call)


def name_call(ctx: Lowering, refusals: list[SymgradError], callee: Frame, call: Loc) -> None:
    """Add to refusals in another file the call in the user's file that leads there, and a way out that does not change that file."""
    if call.file == ctx.stack[0][0].__code__.co_filename != callee.source.file:
        for refusal in refusals:
            if refusal.loc is not None and refusal.loc.file != call.file:
                refusal.notes.append((call, f"called here; or declare {callee.source.name} with symgrad.rule"))


def array_parameters(arguments: ast.arguments) -> frozenset[str]:
    """The parameters of a composition that are annotated as ``Numbers``: a list passed for one is an array in its body."""
    plain = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return frozenset(a.arg for a in plain if isinstance(a.annotation, ast.Name) and a.annotation.id == "Numbers")


def body_result(ctx: Lowering, frame: Frame, function: ast.FunctionDef | ast.Lambda) -> Binding:
    """Lower a function's body and return its result; raise ``Raised`` if it never returns."""
    if isinstance(function, ast.Lambda):
        return ctx.evaluate(function.body)
    proceed(ctx)
    before = len(ctx.refusals)
    # at the top level, the end is lowered only if unrolling of loops has not shown it to be unreachable
    run(ctx, list(function.body) if frame.top and not ctx.unroll else [*function.body, *at_the_end(function)])
    codes = ctx.state.codes
    result = ctx.state.names.get((frame, RESULT), MISSING)
    if ctx.state.dead:
        raise Raised
    if RETURN not in codes:
        result = Static(None)
    if result == Static(None) and len(ctx.refusals) > before and not frame.top:  # perhaps only because a return was refused
        result = Broken(REFUSED)
    elif NEXT in codes and result != Static(None):
        result = Broken("the function may end without a return")
    if not holds_function(ctx, result) and not is_held(ctx, frame, function):
        for name in [n for n in ctx.state.names if n[0] is frame]:
            del ctx.state.names[name]
    proceed(ctx)
    return result


def at_the_end(function: ast.FunctionDef) -> list[ast.stmt]:
    """The implicit ``return None`` at the end of a function that elsewhere returns a value."""
    returned = any(isinstance(n, ast.Return) and n.value is not None for n in body_nodes(function))
    return [ast.copy_location(ast.Return(None), function.body[-1])] if returned else []


def holds_function(ctx: Lowering, binding: Binding) -> bool:
    match binding:
        case Fun() | Bound() | Generator() | Partial() | Choice():
            return True
        case Tup(items):
            return any(holds_function(ctx, i) for i in items)
        case Maybe(inner=inner):
            return holds_function(ctx, inner)
        case Obj(key):
            content = ctx.state.heap.get(key)
            return not isinstance(content, Ref) and any(holds_function(ctx, b) for _, b in content or ())
    return False


def is_held(ctx: Lowering, frame: Frame, function: ast.FunctionDef) -> bool:
    """Whether the program may still reach a function created in a frame, which reads the frame's variables when it is called."""
    if any(isinstance(statement, ast.ClassDef) for statement in function.body):
        return True
    if not any(isinstance(node, ast.Lambda | ast.FunctionDef) for statement in function.body for node in ast.walk(statement)):
        return False
    arguments = [(frame, a.arg) for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    kept = [binding for name, binding in ctx.state.names.items() if name[0] is not frame or name in arguments]  # the caller holds them
    return any(is_within(held.frame, frame) for held in functions_in([*kept, *ctx.state.operands], ctx.state))


def is_within(frame: Any, outer: Frame) -> bool:
    """Whether a frame is ``outer``, or the frame of a function inside it."""
    while frame is not None and frame is not outer:
        frame = frame.parent
    return frame is outer


def bind_arguments(
    ctx: Lowering,
    arguments: ast.arguments,
    args: list[Binding],
    kwargs: dict[str, Binding],
    defaults: Mapping[str, Binding],
    name: Callable[[], str],
    ours: bool,
) -> dict[str, Binding]:
    """Bind arguments to parameters as Python does; ``name`` is the function's. A mismatched call of a composition is refused."""

    def wrong(said: str) -> None:
        if ours:
            raise UnsupportedSyntax(said, ctx.builder.loc)
        fail(ctx, TypeError, said)

    by_position, plain = [a.arg for a in arguments.posonlyargs], [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    by_name = [a.arg for a in arguments.kwonlyargs]
    wording = Wording(name, len(plain), sum(name in defaults for name in plain), sum(name in kwargs for name in by_name))
    args, rest = bound_rest(ctx, plain, arguments.vararg is not None, args, {*kwargs, *defaults}, wording)
    bound = dict(zip(plain, args, strict=False))
    extra, left = args[len(plain) :], dict[str, Binding]()
    for word, binding in kwargs.items():
        if word in by_position or word not in (*plain, *by_name):
            left[word] = binding
            if arguments.kwarg is None:
                wrong(
                    wording.unexpected(word)
                    if word not in by_position
                    else wording.only_by_position([w for w in by_position if w in kwargs])
                )
        elif word in bound:
            wrong(wording.twice(word))
        else:
            bound[word] = binding
    if extra and arguments.vararg is None:
        wrong(wording.excess(len(args)))
    for kind, names in (("positional", plain), ("keyword-only", by_name)):
        if missing := [word for word in names if word not in bound and word not in defaults]:
            wrong(wording.missing(missing, kind))
        bound |= {word: defaults[word] for word in names if word not in bound}
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = Tup(tuple(extra)) if rest is None else rest
    if arguments.kwarg is not None:
        bound[arguments.kwarg.arg] = ctx.new_object("dict", left.items())
    return bound
