"""Assignment to a target: a name, a subscript, an attribute, or a pattern of these."""

from __future__ import annotations

import ast
import inspect
import types

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.absent import definite
from symgrad.frontend.bindings import Binding, Bound, External, Obj, Ref, Tup
from symgrad.frontend.context import Lowering
from symgrad.frontend.iterate import unpack
from symgrad.frontend.memory import store_item


def bind(ctx: Lowering, target: ast.expr, value: Binding) -> None:
    """Assign to a name, a subscript, an attribute, or a pattern of these."""
    match target:
        case ast.Name(id=name):
            ctx.assign(name, value, target)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            items = unpack(ctx, value, parts, target)
            ctx.hold(Tup(tuple(items)))
            for part, item in zip(parts, items, strict=True):
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
    owner = definite(ctx, owner, target, AttributeError, f"'NoneType' object has no attribute {target.attr!r}")
    if isinstance(owner, Obj) and owner.key.kind == "record":
        name = ctx.frame.source.mangle(target.attr)
        if not owner.key.cls.__dictoffset__ and inspect.getattr_static(owner.key.cls, name, None) is None:
            raise UnsupportedSyntax(f"{owner.key.cls.__name__!r} object has no attribute {name!r}", ctx.loc(target))
        if not own_setter(ctx, owner, name, value, target):
            content = dict(ctx.state.heap[owner.key])  # type: ignore[arg-type]
            content[name] = value
            ctx.change(owner.key, tuple(content.items()))
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

    cls = owner.key.cls
    if cls.__setattr__ is not object.__setattr__:
        frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
        why = "instances of a frozen dataclass cannot be changed" if frozen else f"{cls.__name__} defines __setattr__"
        raise UnsupportedSyntax(f"attribute {name!r} is assigned to: {why}", ctx.loc(node))
    held = inspect.getattr_static(cls, name, None)
    if isinstance(held, property) and held.fset is not None:
        ctx.apply(Bound(owner, name, held.fset), [value], {}, node)
        return True
    if isinstance(held, property) or hasattr(type(held), "__set__") and not isinstance(held, types.MemberDescriptorType):
        raise UnsupportedSyntax(f"attribute {name!r} of {cls.__name__} cannot be assigned to here", ctx.loc(node))
    return False
