"""Statements to ops: assignment in all its forms, exits, assert and raise, try and with."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.errors import BadArgument, UnknownType, UnsupportedSyntax
from symgrad.frontend.absent import argument, definite_item
from symgrad.frontend.attributes import attribute_of
from symgrad.frontend.bindings import MISSING, Binding, Fun, Obj, Ref, Static, Tup
from symgrad.frontend.context import BREAK, CODE, CONTINUE, NEXT, RESULT, RETURN, Lowering
from symgrad.frontend.dicts import SET_OPERATORS, is_dict, is_set, merged
from symgrad.frontend.expressions import defaults_of
from symgrad.frontend.flow import branch, leave, proceed, run
from symgrad.frontend.generators import yielded
from symgrad.frontend.keeping import KEEPS
from symgrad.frontend.memory import check_axes, delete_item, index_of, load, store_item
from symgrad.frontend.operators import binary, truth
from symgrad.frontend.outside import outside
from symgrad.frontend.protocols import OWN_OPERATORS, own_method
from symgrad.frontend.reading import LIBRARIES, makes_manager, module_named, name_in_module
from symgrad.frontend.source import read
from symgrad.frontend.tables import STATEMENTS, special, statement
from symgrad.frontend.targets import bind, cut_stored, store_attribute
from symgrad.ir.core import Call, Const
from symgrad.ir.types import Array, List
from symgrad.ops.declare import ROWS


@statement(ast.Assign)
def assign(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if all(isinstance(t, ast.Tuple | ast.List) for t in node.targets):
        ctx.unpacked = node.value
    value = ctx.evaluate(node.value)
    for target in node.targets:
        bind(ctx, target, value)


@statement(ast.AnnAssign)
def annotated(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if node.value is not None:
        bind(ctx, node.target, ctx.evaluate(node.value))


@statement(ast.AugAssign)
def augmented(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    """``target op= value``: in place on arrays, a new binding on numbers."""
    match node.target:
        case ast.Name(id=name):
            old = ctx.evaluate(ast.copy_location(ast.Name(name, ast.Load()), node.target))
            value = ctx.evaluate(node.value)
            made = in_place(ctx, old, value, node)
            if made is not None:
                ctx.assign(name, made, node)
            elif name in ctx.no_grad:
                cut_stored(ctx, node.target)
        case ast.Subscript():
            owner = ctx.evaluate(node.target.value)
            index = index_of(ctx, node.target.slice)
            old = load(ctx, owner, index, node.target)
            ctx.hold(old)
            value = ctx.evaluate(node.value)
            unsure = isinstance(old, Ref) and getattr(ctx.type_of(old), "shape", ()) is None
            # a view or a copy: to write the result back is right for both
            made = binary(ctx, type(node.op), old, value, node) if unsure else in_place(ctx, old, value, node)
            is_view = isinstance(old, Ref) and isinstance(owner, Ref) and old.location is owner.location
            if made is not None or not is_view:
                # an index that copies is written back, as Python does
                store_item(ctx, owner, index, made if made is not None else old, node.target)
            cut_stored(ctx, node.target)
        case ast.Attribute():
            owner = ctx.evaluate(node.target.value)
            old = attribute_of(ctx, owner, ctx.frame.source.mangle(node.target.attr), node.target)
            ctx.hold(old)
            made = in_place(ctx, old, ctx.evaluate(node.value), node)
            # what was changed in place is assigned, too: a setter is called
            store_attribute(ctx, owner, node.target, old if made is None else made)


def in_full(node: ast.AugAssign) -> str:
    """An augmented assignment as the assignment that makes a new value.

    >>> in_full(ast.parse("a[i] *= b + c").body[0])
    'a[i] = a[i] * (b + c)'
    """
    target = ast.unparse(node.target)
    return f"{target} = {ast.unparse(ast.BinOp(ast.parse(target, mode='eval').body, node.op, node.value))}"


def in_place(ctx: Lowering, old: Binding, value: Binding, node: ast.AugAssign) -> Binding | None:
    """``old op= value``; None where memory was changed, else what the target is to be bound to."""
    old = argument(ctx, old, node)
    if isinstance(old, Obj) and old.key.kind == "list" and isinstance(node.op, ast.Add):
        ctx.apply_method(old, "extend", [value], node)
        return None
    if isinstance(old, Obj) and old.key.kind == "list" and isinstance(node.op, ast.Mult):
        made = binary(ctx, ast.Mult, old, value, node)
        assert isinstance(made, Obj)
        ctx.change(old.key, ctx.state.heap[made.key])
        return None
    if isinstance(old, Obj) and isinstance(value, Obj) and isinstance(node.op, ast.BitOr) and is_dict(old) and is_dict(value):
        merged(ctx, old, value, into=True)
        return None
    if isinstance(old, Obj) and is_set(old) and is_set(value) and type(node.op) in SET_OPERATORS:
        made = binary(ctx, type(node.op), old, value, node)
        assert isinstance(made, Obj)
        ctx.change(old.key, ctx.state.heap[made.key])
        return None
    word = f"__i{OWN_OPERATORS.get(type(node.op))}__"
    if own_method(ctx, old, word) is not None:
        return ctx.apply_method(old, word, [value], node)
    if not isinstance(old, Ref):
        return binary(ctx, type(node.op), old, value, node)
    type_ = ctx.type_of(old)
    if isinstance(type_, List):
        return binary(ctx, type(node.op), old, value, node)
    if isinstance(type_, Array) and type_.shape is not None:
        result = ctx.read(binary(ctx, type(node.op), old, value, node), node)
        check_cast(ctx, type_, result, node)
        check_axes(ctx, type_, result, node)
        keep_shape(ctx, type_, result)
        ctx.store(old, result)
        return None
    if ctx.state.near(old.location) or old.path:
        what = "whether this changes an array in place or makes a new number is not known"
        raise UnknownType(what, ctx.loc(node), f"write {in_full(node)}")
    return binary(ctx, type(node.op), old, value, node)


def check_cast(ctx: Lowering, type_: Array, value: Any, node: ast.AST) -> None:
    """NumPy refuses to put the float result of an augmented assignment into integers; so do we, before it runs."""
    kind = getattr(value.type, "kind", None)
    if type_.kind in ("int", "bool") and kind in ("float", "complex"):
        raise BadArgument(
            f"an array of {type_.dtype} cannot take a {kind} in place", ctx.loc(node), "make the array float, for example dtype=float"
        )


def keep_shape(ctx: Lowering, type_: Array, value: Any) -> None:
    """What is computed in place has the shape of the place, or NumPy raises; so what was just computed to be stored has it."""
    last = ctx.builder.block.ops[-1] if ctx.builder.block.ops else None
    made = value.type
    if isinstance(last, Call) and last.outs == [value] and ROWS[last.name].elementwise and isinstance(made, Array):
        if made.shape is not None and type_.shape is not None and len(made.shape) == len(type_.shape):
            value.type = replace(made, shape=type_.shape)


@statement(ast.Delete)
def delete(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                ctx.state.names[(ctx.home(name) or ctx.frame), name] = MISSING
            case ast.Subscript():
                delete_item(ctx, ctx.evaluate(target.value), target)
            case ast.Attribute(attr=name, value=owner):
                held = ctx.evaluate(owner)
                if not (isinstance(held, Obj) and held.key.kind == "record"):
                    raise UnsupportedSyntax("this attribute cannot be deleted", ctx.loc(target))
                if own_method(ctx, held, "__delattr__") is not None:
                    raise UnsupportedSyntax("an attribute is deleted of an instance that defines __delattr__", ctx.loc(target))
                content = dict(ctx.state.entries(held.key))
                definite_item(ctx, content.pop(name, MISSING), target, AttributeError, f"{name!r} is no attribute of the instance")
                ctx.change(held.key, tuple(content.items()))


@statement(ast.Expr)
def bare(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    if isinstance(node.value, ast.Yield | ast.YieldFrom):
        return yielded(ctx, node.value, rest)
    if not isinstance(node.value, ast.Constant):
        ctx.evaluate(node.value)
    return False


@statement(ast.Pass)
def pass_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    pass


#: decorators that leave what a function computes as it is
UNSEEN = (*KEEPS, functools.wraps)


@statement(ast.FunctionDef)
def nested(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    made: Binding = Fun(node, ctx.frame, defaults_of(ctx, node.args))
    for decorator in reversed(node.decorator_list):
        held = ctx.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if isinstance(held, Static) and held.value in UNSEEN:
            made = replace(made, keeps=True) if held.value in KEEPS and isinstance(made, Fun) else made
            continue
        made = ctx.apply(ctx.evaluate(decorator) if isinstance(decorator, ast.Call) else held, [made], {}, decorator)
    ctx.assign(node.name, made, node)


@statement(ast.Import)
def import_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    for alias in node.names:
        found, home = module_named(ctx, alias.name), alias.name.partition(".")[0]
        module = found if alias.asname or home == alias.name else module_named(ctx, home)
        ctx.assign(alias.asname or home, Static(module, module.__name__))


@statement(ast.ImportFrom)
def import_from(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if node.level:
        raise UnsupportedSyntax(
            "a relative import inside a function cannot be differentiated", ctx.loc(node), "import at the top of the file"
        )
    for alias in node.names:
        found, text = name_in_module(ctx, node.module or "", alias.name)
        home = (node.module or "").partition(".")[0]
        as_it_is = home in LIBRARIES or isinstance(found, types.ModuleType)
        made = Static(found, f"{node.module}.{alias.name}") if as_it_is else outside(ctx, found, text, alias.name)
        ctx.assign(alias.asname or alias.name, made)


@statement(ast.Nonlocal)
def nonlocal_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    pass  # the names are not local to the frame, so that assignment finds their home


@statement(ast.Global)
def global_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    raise UnsupportedSyntax(f"global variable {node.names[0]!r} is assigned to", ctx.loc(node), "return the value instead")


@statement(ast.If)
def if_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    test = truth(ctx, ctx.evaluate(node.test), node.test)
    loc = ctx.loc(node.test)
    return branch(ctx, test, lambda: run(ctx, node.body), lambda: run(ctx, node.orelse), rest, loc)


@statement(ast.Break)
def break_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    leave(ctx, BREAK)


@statement(ast.Continue)
def continue_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    leave(ctx, CONTINUE)


@statement(ast.Return)
def return_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    value = Static(None) if node.value is None else ctx.evaluate(node.value)
    ctx.state.names[ctx.frame, RESULT] = value
    leave(ctx, RETURN)


@statement(ast.Assert)
def assert_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    test = truth(ctx, ctx.evaluate(node.test), node.test)
    if isinstance(test, Const) and test.value is True:
        return
    message = Const(None) if node.msg is None else ctx.read(ctx.evaluate(node.msg), node.msg)
    ctx.builder.call_many("check", test, message)
    ctx.state.known = {**ctx.state.known, **ctx.decided.by(test, True)}


@statement(ast.Raise)
def raise_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if node.exc is None:
        raise UnsupportedSyntax("a bare raise cannot be differentiated", ctx.loc(node))
    match node.exc:
        case ast.Call(func=made, args=arguments) if not node.exc.keywords:
            kind, operands = ctx.evaluate(made), [ctx.read(ctx.evaluate(a), a) for a in arguments]
        case _:
            kind, operands = ctx.evaluate(node.exc), []
    if not (isinstance(kind, Static) and isinstance(kind.value, type) and issubclass(kind.value, BaseException)):
        raise UnsupportedSyntax("only exception classes can be raised", ctx.loc(node.exc))
    if (place := ctx.frame.place) is not None and isinstance(operands[0], Const):  # raised by a composition of ours
        operands[0] = Const(f"{operands[0].value} ({Path(place.file).name}:{place.line})")
    ctx.builder.call_many("raise_error", ctx.constant(kind.value, kind.value.__name__), *operands)
    ctx.state.dead = True


@statement(ast.Try)
def try_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    """The body is lowered as if nothing is raised; what it raises reaches the caller."""
    handled = [(kind, handler) for handler in node.handlers for kind in caught_by(ctx, handler)]
    if (failure := failed_import(ctx, node.body)) is not None:
        handler = next((handler for kind, handler in handled if isinstance(failure, kind)), None)
        if handler is not None and handler.name is None:
            run(ctx, [*handler.body, *node.finalbody, *rest])
            return True
    check_nothing_raised(ctx, node.body, [kind for kind, _ in handled])
    ctx.caught += [(kind, ctx.loc(handler)) for kind, handler in handled]
    inside = [n for inner in (*node.body, *node.orelse) for n in ast.walk(inner)]
    if not node.finalbody or not any(isinstance(n, ast.Return | ast.Break | ast.Continue | ast.Yield | ast.YieldFrom) for n in inside):
        run(ctx, [*node.body, *node.orelse, *node.finalbody, *rest])
        return True
    run(ctx, [*node.body, *node.orelse])
    on_the_way_out(ctx, lambda: run(ctx, node.finalbody), node.finalbody[0])
    return False


def caught_by(ctx: Lowering, handler: ast.ExceptHandler) -> list[type]:
    """The classes of exceptions that a handler is for."""
    kinds = Static(Exception) if handler.type is None else ctx.evaluate(handler.type)
    return [caught_class(ctx, kind, handler.type) for kind in (kinds.items if isinstance(kinds, Tup) else [kinds])]


def caught_class(ctx: Lowering, kind: Binding, node: ast.expr | None) -> type:
    if not (isinstance(kind, Static) and isinstance(kind.value, type)):
        raise UnsupportedSyntax("what is caught must be a class", ctx.loc(node))
    return kind.value


def failed_import(ctx: Lowering, body: list[ast.stmt]) -> ImportError | None:
    """What the imports that a block begins with raise: whether a module is there is known while compiling."""
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return None
        try:
            for alias in node.names:
                name_in_module(ctx, node.module or "", alias.name) if isinstance(node, ast.ImportFrom) else module_named(ctx, alias.name)
        except ImportError as error:
            return error
    return None


def on_the_way_out(ctx: Lowering, finish: Callable[[], None], node: ast.AST) -> None:
    """Lower what is done on every way out of a block; the way out, and what is returned, stay what they were."""
    if ctx.state.dead:
        return
    code, codes = ctx.state.names.get(CODE), ctx.state.codes
    result = ctx.state.names.pop((ctx.frame, RESULT), None)
    if result is not None:
        ctx.hold(result)
    proceed(ctx)
    finish()
    if ctx.state.dead:
        return
    if ctx.state.codes != {NEXT}:
        raise UnsupportedSyntax("an exit in a finally cannot be differentiated", ctx.loc(node))
    if code is not None:
        ctx.state.names[CODE] = code
    if result is not None:
        ctx.state.names[ctx.frame, RESULT] = result
    ctx.state.codes = codes


MANAGERS = "use a class with __enter__ and __exit__"


@statement(ast.With)
def with_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    """``np.errstate`` only silences warnings; of the user's context managers what they do on entry and exit is lowered."""
    if (loop := as_loop(ctx, node)) is not None:
        return bool(STATEMENTS[ast.For](ctx, loop, rest))
    managers: list[Binding] = []
    for entry in node.items:
        if is_quiet(ctx, entry) or is_of_contextlib(ctx, entry, node.body):
            continue
        refuse_generator(ctx, entry.context_expr)
        manager = ctx.evaluate(entry.context_expr)
        check_manager(ctx, manager, entry.context_expr)
        made = ctx.apply_method(manager, "__enter__", [], entry.context_expr)
        if entry.optional_vars is not None:
            bind(ctx, entry.optional_vars, made)
        managers.append(manager)
    if not managers:
        run(ctx, [*node.body, *rest])
        return True
    check_nothing_raised(ctx, node.body)

    def finish() -> None:
        for manager in reversed(managers):
            ctx.apply_method(manager, "__exit__", [Static(None)] * 3, node)

    run(ctx, node.body)
    on_the_way_out(ctx, finish, node)
    return False


def is_quiet(ctx: Lowering, entry: ast.withitem) -> bool:
    """Is it ``np.errstate(...="ignore")``?"""
    call = entry.context_expr
    known = isinstance(call, ast.Call) and isinstance(made := ctx.evaluate(call.func), Static) and made.value is np.errstate
    quiet = known and all(isinstance(k.value, ast.Constant) and k.value.value == "ignore" for k in call.keywords)  # type: ignore[attr-defined]
    if known and (not quiet or entry.optional_vars is not None):
        raise UnsupportedSyntax("np.errstate that does more than ignore", ctx.loc(call), "write with np.errstate(all='ignore'):")
    return bool(quiet)


def is_of_contextlib(ctx: Lowering, entry: ast.withitem, body: list[ast.stmt]) -> bool:
    """``nullcontext`` gives what it is given; ``suppress`` catches, as ``except`` does."""
    call = entry.context_expr
    held = ctx.evaluate(call.func) if isinstance(call, ast.Call) and not call.keywords else None
    if not isinstance(call, ast.Call) or not isinstance(held, Static) or held.value not in (contextlib.nullcontext, contextlib.suppress):
        return False
    given = [ctx.evaluate(argument) for argument in call.args]
    if held.value is contextlib.suppress:
        kinds = [caught_class(ctx, kind, call) for kind in given]
        check_nothing_raised(ctx, body, kinds)
        ctx.caught += [(kind, ctx.loc(call)) for kind in kinds]
    if entry.optional_vars is not None:
        bind(ctx, entry.optional_vars, given[0] if given and held.value is contextlib.nullcontext else Static(None))
    return True


def as_loop(ctx: Lowering, node: ast.With) -> ast.For | None:
    """A ``with`` of a generator that ``contextlib.contextmanager`` decorates as the loop over its one value."""
    entry, *others = node.items
    call = entry.context_expr
    held = ctx.evaluate(call.func) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute) else None
    of_static = isinstance(held, Static) and makes_manager(held.value)
    if not isinstance(call, ast.Call) or not (of_static or isinstance(held, Fun) and held.manages):
        return None
    if leaves_early(node.body):
        what = "a with statement of a generator is left in the middle"
        raise UnsupportedSyntax(what, ctx.loc(node), "return behind it")
    function = ast.copy_location(ast.Attribute(call.func, "__wrapped__", ast.Load()), call) if of_static else call.func
    body: list[ast.stmt] = [ast.copy_location(ast.With(others, node.body), node)] if others else node.body
    over = ast.copy_location(ast.Call(function, call.args, call.keywords), call)
    target = entry.optional_vars or ast.copy_location(ast.Name("%value", ast.Store()), call)
    return ast.copy_location(ast.For(target, over, body, []), node)


def leaves_early(body: list[ast.stmt]) -> bool:
    """Is there a way out of a block but through its end?"""
    for node in body:
        if isinstance(node, ast.Return | ast.Break | ast.Continue):
            return True
        inner = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
        if inner and not isinstance(node, ast.FunctionDef):
            return True
        if not isinstance(node, ast.For | ast.While | ast.FunctionDef):
            parts = [part for name in ("body", "orelse", "finalbody") if isinstance(part := getattr(node, name, None), list)]
            if any(map(leaves_early, parts)):
                return True
    return False


@special(contextlib.contextmanager)
def contextmanager(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``@contextlib.contextmanager`` of a generator that is defined in the function."""
    if not isinstance(args[0], Fun):
        raise UnsupportedSyntax("contextlib.contextmanager is called on this", ctx.loc(node), "decorate the function where it is defined")
    return replace(args[0], manages=True)


def refuse_generator(ctx: Lowering, node: ast.expr) -> None:
    """What ``contextlib.contextmanager`` made is a generator."""
    held = ctx.evaluate(node.func) if isinstance(node, ast.Call) else None
    if isinstance(held, Static) and makes_manager(held.value):
        raise UnsupportedSyntax("a context manager that is a generator cannot be differentiated", ctx.loc(node), MANAGERS)


def check_manager(ctx: Lowering, manager: Binding, node: ast.AST) -> None:
    """A context manager is an instance of a class written in Python, whose exit lets exceptions pass."""
    methods = [own_method(ctx, manager, word) for word in ("__enter__", "__exit__")]
    if None in methods:
        raise UnsupportedSyntax("this context manager cannot be differentiated", ctx.loc(node), MANAGERS)
    returned = [n.value for n in ast.walk(read(methods[1]).node) if isinstance(n, ast.Return) and n.value is not None]
    if not all(isinstance(value, ast.Constant) and not value.value for value in returned):
        raise UnsupportedSyntax("a context manager that may swallow exceptions cannot be differentiated", ctx.loc(node))


def check_nothing_raised(ctx: Lowering, body: list[ast.stmt], kinds: Sequence[type] = (BaseException,)) -> None:
    """What is raised in a block that somebody would see first is refused: an exception of one of these classes."""
    for part in (n for inner in body for n in ast.walk(inner) if isinstance(n, ast.Raise | ast.Assert)):
        if any(may_be(raised_class(ctx, part), kind) for kind in kinds):
            what = "an exception that is raised and caught cannot be differentiated"
            raise UnsupportedSyntax(what, ctx.loc(part), "test for the condition with if")


def raised_class(ctx: Lowering, node: ast.Raise | ast.Assert) -> type:
    """The class of what a statement raises; ``BaseException`` where it is not known."""
    if isinstance(node, ast.Assert):
        return AssertionError
    said = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    found = getattr(builtins, said.id, None) if isinstance(said, ast.Name) and is_builtin(ctx, said.id) else None
    return found if isinstance(found, type) else BaseException


def is_builtin(ctx: Lowering, name: str) -> bool:
    return ctx.home(name) is None and name not in ctx.frame.source.globals


def may_be(raised: type, kind: type) -> bool:
    """Could an exception of one class be one of another?"""
    return issubclass(raised, kind) or raised is BaseException
