"""Statements to ops: assignment in all its forms, branches, loops, exits, assert and raise."""

from __future__ import annotations

import ast
import importlib
import inspect
import types
from dataclasses import dataclass
from typing import Any

from symgrad.errors import BadArgument, UnknownType, UnsupportedSyntax
from symgrad.frontend.bindings import (
    MISSING,
    Binding,
    Bound,
    Broken,
    External,
    Fun,
    HeapKey,
    Iter,
    Num,
    Obj,
    Ref,
    Static,
    Tup,
    View,
)
from symgrad.frontend.context import Frame, Lowering, statement
from symgrad.frontend.expressions import OWN_OPERATORS, attribute_of, binary, own_method, truth
from symgrad.frontend.flow import (
    BREAK,
    CODE,
    CONTINUE,
    NEXT,
    RETURN,
    TestChanges,
    assigned,
    branch,
    conditional,
    counted,
    leave,
    proceed,
    run,
)
from symgrad.frontend.iterate import UNROLLED, Items, indices_of, items_of, unpack
from symgrad.frontend.memory import delete_item, load, store_item
from symgrad.ir.core import TRUE, Block, Const, Value
from symgrad.ir.types import Array, List

# ------------------------------------------------------------------ assignment


def bind(ctx: Lowering, target: ast.expr, value: Binding) -> None:
    """Assign to a name, a subscript, an attribute, or a pattern of these."""
    match target:
        case ast.Name(id=name):
            ctx.assign(name, value, target)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part, item in zip(parts, unpack(ctx, value, parts, target), strict=True):
                bind(ctx, part.value if isinstance(part, ast.Starred) else part, item)
        case ast.Subscript():
            store_item(ctx, ctx.evaluate(target.value), target.slice, value, target)
            cut_stored(ctx, target)
        case ast.Attribute():
            store_attribute(ctx, ctx.evaluate(target.value), target, value)
        case _:
            raise UnsupportedSyntax("this cannot be assigned to", ctx.loc(target))


def cut_stored(ctx: Lowering, target: ast.expr) -> None:
    """A store through a name in ``no_grad`` carries no derivative either."""
    root = target
    while isinstance(root, ast.Subscript | ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in ctx.no_grad:
        home = ctx.home(root.id)
        binding = ctx.state.names.get((home, root.id))
        if home is not None and home.top and isinstance(binding, Ref) and not binding.path:
            version = ctx.state.memory[binding.location]
            ctx.state.memory[binding.location] = ctx.call("cut", version, hint=root.id)


def store_attribute(ctx: Lowering, owner: Binding, target: ast.Attribute, value: Binding) -> None:
    """``owner.name = value`` on an instance made in the function."""
    if isinstance(owner, Obj) and owner.key.kind == "record":
        name = ctx.frame.source.mangle(target.attr)
        if not own_setter(ctx, owner, name, value, target):
            content = dict(ctx.state.heap[owner.key])  # type: ignore[arg-type]
            content[name] = value
            ctx.state.heap[owner.key] = tuple(content.items())
        return
    if isinstance(owner, External):
        raise UnsupportedSyntax(
            f"attribute {target.attr!r} of an object from outside the function is assigned to",
            ctx.loc(target),
            "return the new value instead",
        )
    raise UnsupportedSyntax(f"attribute {target.attr!r} cannot be assigned to", ctx.loc(target))


def own_setter(ctx: Lowering, owner: Obj, name: str, value: Binding, node: ast.AST) -> bool:
    """Does the class say what assigning to an attribute does?  A property's setter is called."""
    from symgrad.frontend.calls import call_function

    cls = owner.key.cls
    if cls.__setattr__ is not object.__setattr__:
        frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
        why = "instances of a frozen dataclass cannot be changed" if frozen else f"{cls.__name__} defines __setattr__"
        raise UnsupportedSyntax(f"attribute {name!r} is assigned to: {why}", ctx.loc(node))
    held = inspect.getattr_static(cls, name, None)
    if isinstance(held, property) and held.fset is not None:
        call_function(ctx, held.fset, [owner, value], {}, node)
        return True
    if isinstance(held, property) or hasattr(type(held), "__set__") and not isinstance(held, types.MemberDescriptorType):
        raise UnsupportedSyntax(f"attribute {name!r} of {cls.__name__} cannot be assigned to here", ctx.loc(node))
    return False


@statement(ast.Assign)
def assign(ctx: Lowering, item: Any) -> None:
    node, _ = item
    value = ctx.evaluate(node.value)
    for target in node.targets:
        bind(ctx, target, value)


@statement(ast.AnnAssign)
def annotated(ctx: Lowering, item: Any) -> None:
    node, _ = item
    if node.value is not None:
        bind(ctx, node.target, ctx.evaluate(node.value))


@statement(ast.AugAssign)
def augmented(ctx: Lowering, item: Any) -> None:
    """``target op= value``: in place on arrays, a new binding on numbers."""
    node, _ = item
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
            index = HeldIndex.of(ctx, owner, node.target)
            old = load(ctx, owner, index, node.target)
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
            old = attribute_of(ctx, owner, node.target.attr, node.target)
            made = in_place(ctx, old, ctx.evaluate(node.value), node)
            if made is not None:
                store_attribute(ctx, owner, node.target, made)


class HeldIndex(ast.expr):
    """A subscript whose parts have been evaluated already: augmented assignment evaluates them once."""

    def __init__(self, binding: Any, node: ast.expr) -> None:
        super().__init__()
        self.binding = binding
        ast.copy_location(self, node)

    @staticmethod
    def of(ctx: Lowering, owner: Binding, target: ast.Subscript) -> ast.expr:
        from symgrad.frontend.memory import index_of  # memory lowers held indices, which are made here

        return HeldIndex(index_of(ctx, target.slice), target.slice)


def in_place(ctx: Lowering, old: Binding, value: Binding, node: ast.AugAssign) -> Binding | None:
    """``old op= value``; None where memory was changed, else what the target is to be bound to."""
    if isinstance(old, Obj) and old.key.kind == "list" and isinstance(node.op, ast.Add):
        from symgrad.frontend.calls import call_method

        call_method(ctx, old, "extend", [value], {}, node)
        return None
    if isinstance(old, Obj) and old.key.kind == "list" and isinstance(node.op, ast.Mult):
        made = binary(ctx, ast.Mult, old, value, node)
        assert isinstance(made, Obj)
        ctx.state.heap[old.key] = ctx.state.heap[made.key]
        return None
    word = f"__i{OWN_OPERATORS.get(type(node.op))}__"
    if own_method(old, word) is not None:
        from symgrad.frontend.calls import call_method

        return call_method(ctx, old, word, [value], {}, node)
    if not isinstance(old, Ref):
        return binary(ctx, type(node.op), old, value, node)
    type_ = ctx.type_of(old)
    if isinstance(type_, List):
        return binary(ctx, type(node.op), old, value, node)
    if isinstance(type_, Array) and type_.shape is not None:
        result = ctx.read(binary(ctx, type(node.op), old, value, node), node)
        check_cast(ctx, type_, result, node)
        ctx.store(old, result)
        return None
    if ctx.state.partners.get(old.location) or old.path:
        raise UnknownType("whether this changes an array in place or makes a new number is not known", ctx.loc(node), "write x = x + y")
    return binary(ctx, type(node.op), old, value, node)


def check_cast(ctx: Lowering, type_: Array, value: Any, node: ast.AST) -> None:
    """NumPy refuses to put the float result of an augmented assignment into integers; so do we, before it runs."""
    kind = getattr(value.type, "kind", None)
    if type_.kind in ("int", "bool") and kind in ("float", "complex"):
        raise BadArgument(
            f"an array of {type_.dtype} cannot take a {kind} in place", ctx.loc(node), "make the array float, for example dtype=float"
        )


@statement(ast.Delete)
def delete(ctx: Lowering, item: Any) -> None:
    node, _ = item
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
                ctx.state.heap[held.key] = tuple((k, b) for k, b in ctx.state.heap[held.key] if k != name)  # type: ignore[union-attr]


@statement(ast.Expr)
def bare(ctx: Lowering, item: Any) -> None:
    node, _ = item
    if not isinstance(node.value, ast.Constant):
        ctx.evaluate(node.value)


@statement(ast.Pass)
def pass_(ctx: Lowering, item: Any) -> None:
    pass


@statement(ast.FunctionDef)
def nested(ctx: Lowering, item: Any) -> None:
    node, _ = item
    if node.decorator_list:
        raise UnsupportedSyntax(
            "a nested function with decorators cannot be differentiated", ctx.loc(node.decorator_list[0]), "define it outside"
        )
    ctx.assign(node.name, Fun(node, ctx.frame, defaults_of(ctx, node.args)), node)


def defaults_of(ctx: Lowering, arguments: ast.arguments) -> tuple[tuple[str, Binding], ...]:
    """The defaults of a nested function, evaluated where it is defined."""
    plain = [*arguments.posonlyargs, *arguments.args]
    made = [(a.arg, ctx.evaluate(d)) for a, d in zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    made += [(a.arg, ctx.evaluate(d)) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return tuple(made)


@statement(ast.Import)
def import_(ctx: Lowering, item: Any) -> None:
    node, _ = item
    for alias in node.names:
        module = importlib.import_module(alias.name if alias.asname else alias.name.split(".")[0])
        ctx.assign(alias.asname or alias.name.split(".")[0], Static(module, module.__name__))


@statement(ast.ImportFrom)
def import_from(ctx: Lowering, item: Any) -> None:
    node, _ = item
    if node.level:
        raise UnsupportedSyntax(
            "a relative import inside a function cannot be differentiated", ctx.loc(node), "import at the top of the file"
        )
    module = importlib.import_module(node.module or "")
    for alias in node.names:
        ctx.assign(alias.asname or alias.name, Static(getattr(module, alias.name), f"{module.__name__}.{alias.name}"))


@statement(ast.Nonlocal)
def nonlocal_(ctx: Lowering, item: Any) -> None:
    pass  # the names are not local to the frame, so that assignment finds their home


@statement(ast.Global)
def global_(ctx: Lowering, item: Any) -> None:
    node, _ = item
    raise UnsupportedSyntax(f"global variable {node.names[0]!r} is assigned to", ctx.loc(node), "return the value instead")


# ------------------------------------------------------------------ branches and exits


@statement(ast.If)
def if_(ctx: Lowering, item: Any) -> bool:
    node, rest = item
    test = truth(ctx, ctx.evaluate(node.test), node.test)
    loc = ctx.loc(node.test)
    return branch(ctx, test, lambda: run(ctx, node.body), lambda: run(ctx, node.orelse), rest, loc)


@statement(ast.Break)
def break_(ctx: Lowering, item: Any) -> None:
    leave(ctx, BREAK)


@statement(ast.Continue)
def continue_(ctx: Lowering, item: Any) -> None:
    leave(ctx, CONTINUE)


@statement(ast.Return)
def return_(ctx: Lowering, item: Any) -> None:
    node, _ = item
    value = Static(None) if node.value is None else ctx.evaluate(node.value)
    ctx.state.names[ctx.frame, "%return"] = frozen(ctx, value)
    leave(ctx, RETURN)


def frozen(ctx: Lowering, value: Binding) -> Binding:
    """What is returned keeps what it is bound to."""
    return value


@statement(ast.Assert)
def assert_(ctx: Lowering, item: Any) -> None:
    node, _ = item
    test = truth(ctx, ctx.evaluate(node.test), node.test)
    if isinstance(test, Const) and test.value is True:
        return
    message = Const(None) if node.msg is None else ctx.read(ctx.evaluate(node.msg), node.msg)
    ctx.builder.call_many("check", test, message)


@statement(ast.Raise)
def raise_(ctx: Lowering, item: Any) -> None:
    node, _ = item
    if node.exc is None:
        raise UnsupportedSyntax("a bare raise cannot be differentiated", ctx.loc(node))
    match node.exc:
        case ast.Call(func=made, args=arguments) if not node.exc.keywords:
            kind, operands = ctx.evaluate(made), [ctx.read(ctx.evaluate(a), a) for a in arguments]
        case _:
            kind, operands = ctx.evaluate(node.exc), []
    if not (isinstance(kind, Static) and isinstance(kind.value, type) and issubclass(kind.value, BaseException)):
        raise UnsupportedSyntax("only exception classes can be raised", ctx.loc(node.exc))
    ctx.builder.call_many("raise_error", ctx.constant(kind.value, kind.value.__name__), *operands)
    ctx.state.dead = True


@statement(ast.Try)
def try_(ctx: Lowering, item: Any) -> bool:
    """The body is lowered as if nothing is raised; what it raises reaches the caller."""
    node, rest = item
    for inner in node.body:
        for part in ast.walk(inner):
            if isinstance(part, ast.Raise | ast.Assert):
                raise UnsupportedSyntax(
                    "an exception that is raised and caught cannot be differentiated", ctx.loc(part), "test for the condition with if"
                )
    for handler in node.handlers:
        kinds = Static(Exception) if handler.type is None else ctx.evaluate(handler.type)
        for kind in kinds.items if isinstance(kinds, Tup) else [kinds]:
            if not (isinstance(kind, Static) and isinstance(kind.value, type)):
                raise UnsupportedSyntax("what is caught must be a class", ctx.loc(handler.type))
            ctx.caught.append((kind.value, ctx.loc(handler)))
    if not node.finalbody or not any(isinstance(n, ast.Return | ast.Break | ast.Continue) for inner in node.body for n in ast.walk(inner)):
        run(ctx, [*node.body, *node.orelse, *node.finalbody, *rest])
        return True
    run(ctx, [*node.body, *node.orelse])
    if not ctx.state.dead:
        code, codes = ctx.state.names.get(CODE), ctx.state.codes
        proceed(ctx)
        run(ctx, node.finalbody)  # on every way out of the body
        if ctx.state.codes != {NEXT}:
            raise UnsupportedSyntax("an exit in a finally cannot be differentiated", ctx.loc(node.finalbody[0]))
        if code is not None:
            ctx.state.names[CODE] = code
        ctx.state.codes = codes
    return False


@statement(ast.With)
def with_(ctx: Lowering, item: Any) -> bool:
    """``np.errstate`` only silences warnings: its body is lowered as it stands."""
    import numpy as np

    node, rest = item
    for entry in node.items:
        call = entry.context_expr
        known = isinstance(call, ast.Call) and isinstance(made := ctx.evaluate(call.func), Static) and made.value is np.errstate
        quiet = known and all(isinstance(k.value, ast.Constant) and k.value.value == "ignore" for k in call.keywords)
        if not quiet or entry.optional_vars is not None:
            raise UnsupportedSyntax(
                "a with statement cannot be differentiated", ctx.loc(call), "only np.errstate(...='ignore') is passed over"
            )
    run(ctx, [*node.body, *rest])
    return True


# ------------------------------------------------------------------ loops

ENDLESS = 1000  #: rounds of a loop over a list that its own body makes longer


def guess_names(ctx: Lowering, nodes: list[ast.AST]) -> list[tuple[Frame, str]]:
    """Variables that a loop's body assigns, with their frames, in order of their names.

    An array that is only augmented keeps its memory, so that it is not one of them.
    """
    augmented_only = assigned(nodes) - assigned(nodes, augmented=False)
    found = [((ctx.home(name) or ctx.frame), name) for name in sorted(assigned(nodes))]
    return [key for key in found if key[1] not in augmented_only or not isinstance(ctx.state.names.get(key), Ref)]


def loop_key(ctx: Lowering, node: ast.AST) -> Any:
    return (id(node), tuple(ctx.stack))


@statement(ast.For)
def for_(ctx: Lowering, item: Any) -> bool:
    node, rest = item
    iterable = ctx.evaluate(node.iter)
    items = items_of(ctx, iterable, node.iter)
    if isinstance(items, list):
        return unrolled(ctx, node, iterable, items, rest)
    if ctx.unroll and (indices := indices_of(items)) is not None:
        return unrolled(ctx, node, iterable, [Later(items, Const(k)) for k in indices], rest)
    going = held_lists(ctx, iterable)

    def body(index: Value) -> None:
        ctx.going.append(going)
        try:
            bind(ctx, node.target, items.item(index))
            run(ctx, node.body)
        finally:
            ctx.going.pop()

    hint = node.target.id if isinstance(node.target, ast.Name) and items.counts else None
    guess = guess_names(ctx, [node.target, *node.body])
    made = counted(ctx, loop_key(ctx, node), guess, items.bounds, body, ctx.loc(node), hint)
    return after(ctx, made, node.orelse, rest)


@dataclass(frozen=True, slots=True)
class Later:
    """An item that is read when its round comes."""

    items: Items
    index: Const


def held_lists(ctx: Lowering, binding: Any) -> dict[HeapKey, Any]:
    """The lists and dicts that something is iterated over through, each with what must not change meanwhile."""
    match binding:
        case Obj(key) if key.kind in ("list", "dict"):
            return {key: shape_of_object(ctx, key)}
        case Iter(parts=parts):
            return {k: v for part in parts for k, v in held_lists(ctx, part).items()}
    return {}


def shape_of_object(ctx: Lowering, key: HeapKey) -> Any:
    """The keys of a dict; the items of a list."""
    content = ctx.state.heap[key]
    return [k for k, _ in content] if key.kind == "dict" and not isinstance(content, Ref) else content


def unrolled(ctx: Lowering, node: ast.For, iterable: Binding, items: list[Any], rest: list[Any]) -> bool:
    """A loop over a container of known length whose items differ: one round after the other."""
    from symgrad.frontend.context import Loop

    loop = Loop(0)
    ctx.state.names[loop.stop] = Num(Const(False))
    ctx.state.names[loop.exit] = Num(Const(NEXT))

    live = (
        iterable.key
        if isinstance(iterable, Obj) and iterable.key.kind == "list" and not isinstance(ctx.state.heap[iterable.key], Ref)
        else None
    )
    held = {} if live is not None else held_lists(ctx, iterable)

    def rounds(place: int) -> None:
        now = items if live is None else [b for _, b in ctx.state.entries(live)]  # Python sees what the body does to the list
        if place >= len(now):
            return
        if place > ENDLESS or any(shape_of_object(ctx, key) != before for key, before in held.items()):
            raise UnsupportedSyntax("a list or dict is changed while it is iterated over", ctx.loc(node), "iterate over a copy of it")
        if isinstance(iterable, View) and not iterable.is_current(ctx.state, place):
            raise UnsupportedSyntax(
                "a dict is changed while its items are iterated over", ctx.loc(node), "iterate over list(d) and read d[key]"
            )
        item = now[place]
        ctx.write_out(node)
        outer, ctx.frame.loop = ctx.frame.loop, loop
        try:
            bind(ctx, node.target, item.items.item(item.index) if isinstance(item, Later) else item)
            run(ctx, node.body)
        finally:
            ctx.frame.loop = outer
        if ctx.state.dead:
            return
        proceed(ctx)
        stop = ctx.state.names[loop.stop]
        assert isinstance(stop, Num)
        branch(ctx, stop.operand, lambda: None, lambda: rounds(place + 1), [], ctx.loc(node))

    rounds(0)
    return after(ctx, loop, node.orelse, rest)


def after(ctx: Lowering, loop: Any, orelse: list[ast.stmt], rest: list[Any]) -> bool:
    """What follows a loop: a return out of it goes on outwards, ``else`` runs if nothing broke."""
    if ctx.state.dead:
        return False
    leaving = ctx.state.names.get(loop.exit, Num(Const(NEXT)))
    assert isinstance(leaving, Num)
    exit_ = leaving.operand
    loc = ctx.builder.loc

    def otherwise() -> None:
        if orelse and BREAK in loop.exits:
            branch(ctx, ctx.call("equal", exit_, Const(NEXT)), lambda: run(ctx, orelse), lambda: None, [], loc)
        elif orelse:
            run(ctx, orelse)

    if RETURN in loop.exits:
        return branch(ctx, same(ctx, exit_, RETURN), lambda: leave(ctx, RETURN), otherwise, rest, loc)
    otherwise()
    return False


def same(ctx: Lowering, operand: Any, code: int) -> Any:
    """Is a code this one?  Decided at once where it is known."""
    return Const(operand.value == code) if isinstance(operand, Const) else ctx.call("equal", operand, Const(code))


def known_test(ctx: Lowering, node: ast.expr) -> bool | None:
    """What a test will be, if that is known; it is tried out beside the program."""
    kept = ctx.state
    ctx.state = kept.copy()
    try:
        with ctx.inside(Block()):
            test = truth(ctx, ctx.evaluate(node), node)
    finally:
        ctx.state = kept
    return bool(test.value) if isinstance(test, Const) else None


def while_written_out(ctx: Lowering, node: ast.While, rest: list[Any]) -> bool:
    """A ``while`` whose test is known each time: one round after the other."""
    from symgrad.frontend.context import Loop

    loop = Loop(0)
    ctx.state.names[loop.stop] = Num(Const(False))
    ctx.state.names[loop.exit] = Num(Const(NEXT))

    def rounds(place: int) -> None:
        test = truth(ctx, ctx.evaluate(node.test), node.test)
        if not isinstance(test, Const) or place > UNROLLED:
            raise UnsupportedSyntax("how often this loop goes round is not known", ctx.loc(node))
        if not test.value:
            return
        ctx.write_out(node)
        outer, ctx.frame.loop = ctx.frame.loop, loop
        try:
            run(ctx, node.body)
        finally:
            ctx.frame.loop = outer
        if ctx.state.dead:
            return
        proceed(ctx)
        stop = ctx.state.names[loop.stop]
        assert isinstance(stop, Num)
        branch(ctx, stop.operand, lambda: None, lambda: rounds(place + 1), [], ctx.loc(node))

    rounds(0)
    return after(ctx, loop, node.orelse, rest)


@statement(ast.While)
def while_(ctx: Lowering, item: Any) -> bool:
    node, rest = item
    guess = guess_names(ctx, [node.test, *node.body])
    walrus = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test))

    def test() -> Any:
        return truth(ctx, ctx.evaluate(node.test), node.test)

    def stop() -> None:
        leave(ctx, BREAK, exit_code=NEXT)

    def whole() -> None:
        branch(ctx, test(), lambda: run(ctx, node.body), stop, [], ctx.loc(node))

    entry = ctx.state.copy()
    if ctx.unroll and known_test(ctx, node.test) is not None:
        return while_written_out(ctx, node, rest)
    try:
        if walrus:
            raise TestChanges
        made = conditional(ctx, loop_key(ctx, node), guess, test, lambda: run(ctx, node.body), ctx.loc(node))
    except TestChanges:
        ctx.state = entry
        made = conditional(ctx, loop_key(ctx, node), guess, lambda: TRUE, whole, ctx.loc(node))
    if isinstance(node.test, ast.Constant) and node.test.value and made.exits == {RETURN}:
        leave(ctx, RETURN)  # nothing else leads out of it
        return False
    return after(ctx, made, node.orelse, rest)


__all__ = ["CODE", "Bound", "Broken", "Items", "Tup", "bind"]
