"""Names, and values from outside the function: globals, cells, attributes, read once a call."""

from __future__ import annotations

import ast
import collections
import enum
import inspect
import types
from typing import Any

import numpy as np

from symgrad.abstraction import abstract_value, conversions, same_objects, symbol_of
from symgrad.containers import changed_reader, container_of, defined_anew
from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.edges import sees
from symgrad.frontend.objects.derived import HARMLESS, as_base, check_container, check_named_tuple
from symgrad.frontend.objects.dicts import is_dict
from symgrad.frontend.objects.operands import static_binding
from symgrad.frontend.objects.reading import is_namespace, owner_name, read_name, users_bases
from symgrad.frontend.state.bindings import MISSING, Binding, Broken, External, Missing, Name, Num, Static, Tup
from symgrad.frontend.state.caller import Captured
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Recapture
from symgrad.frontend.state.tables import expression
from symgrad.identity import Same
from symgrad.ir.core import Const, Value
from symgrad.ir.types import BOOL, Array, List, Scalar
from symgrad.kinds import conversion, is_closed, is_unchanging
from symgrad.runtime.batches import Batch
from symgrad.signature import Many, Tree, containers_of
from symgrad.signature import Static as StaticArgument
from symgrad.text import attribute, has_literal, identifier, key_word, keys_of, literal


@expression(ast.Name)
def name(ctx: Lowering, node: ast.Name) -> Binding:
    home = ctx.home(node.id)
    key: Name = ctx.outer_key(node.id) if home is None else (home, node.id)
    if home is not None or key in ctx.assigned_outside:
        binding = variable(ctx, key, node)
        if home is not None and home.top and node.id in ctx.no_grad:
            ctx.cut(binding)
        return binding
    try:
        value, text, builtin = read_name(ctx, ctx.frame.source, node.id)
    except NameError:
        if sees(ctx, NameError) and node.id not in ctx.frame.source.cells:  # an empty cell may be filled later
            return definite(ctx, MISSING, node, NameError, f"name {node.id!r} is not defined")
        raise UnsupportedSyntax(f"name {node.id!r} is not defined", ctx.loc(node), f"define {node.id}, or pass it as an argument") from None
    binding = outside(ctx, value, text, node.id)
    if builtin:
        ctx.relied.pop((text, "itself", None), None)
    return binding


def variable(ctx: Lowering, key: Name, node: ast.AST) -> Binding:
    """The value of a variable: a local one, or a global one that the program assigns to."""
    binding, name_ = ctx.state.names.get(key, MISSING), key[1]
    ctx.assigned_reads += key in ctx.assigned_outside
    match binding:
        # unbound on this path only, or in the first iteration, or where a handler catches it
        case Missing() if ctx.nested or sees(ctx, UnboundLocalError):
            what = f"cannot access local variable {name_!r} where it is not associated with a value"
            return definite(ctx, binding, node, UnboundLocalError, what)
        case Missing():
            raise UnsupportedSyntax(f"{name_!r} is not bound here", ctx.loc(node), f"assign to {name_} before this line")
        case Broken():
            raise ctx.unusable(binding, node, name_)
        case _ if ctx.may_be_unbound(binding) and any(issubclass(k, NameError) for w in ctx.watchers for k in w.kinds):
            what = f"whether {name_!r} is bound here is not known at compile time, and a handler may catch the NameError"
            raise UnsupportedSyntax(what, ctx.loc(node), "bind it to None before, and test for that")
    return binding


def variable_of_module(ctx: Lowering, module: Any, name_: str, node: ast.AST) -> Binding | None:
    """The variable behind an attribute of a module, if the program assigns to it."""
    key = (Same(vars(module)), name_) if isinstance(module, types.ModuleType) else None
    return variable(ctx, key, node) if key in ctx.assigned_outside and key is not None else None


def outside(ctx: Lowering, value: Any, text: str, name_: str) -> Binding:
    """A binding for an object that was created outside the function."""
    if any(is_namespace(value, owner.value) for owner, _ in ctx.assigned_outside):
        what = "the variables of a module, or the attributes of a class or function, are read as a dict, and one of them is assigned to"
        raise UnsupportedSyntax(what, ctx.builder.loc, "read it by its name")
    home = ctx.external_names.get(text.partition(".")[0])
    is_defined_here = isinstance(home, type) and home in ctx.defined_classes
    if (is_defined_here or ctx.is_of_library(text)) and has_literal(value):  # it never changes
        return static_binding(value)
    suffix = conversion(value)
    if suffix:
        ctx.rely(text, type(value), "type")
        ctx.rely(text, value.dtype, "dtype")
        text += suffix
    if text in ctx.captured:
        if isinstance(ctx.captured[text].abstract, List | Tree | Many):
            ctx.outside[text] = None
        return ctx.arrays.get(text) or Num(ctx.captured[text].value)
    own = isinstance(getattr(type(value), "__get__", None), types.FunctionType)  # a descriptor that is written in Python
    if isinstance(value, types.ModuleType | type | np.ufunc | str | None) or inspect.isroutine(value) and not own:
        ctx.rely(text, value)
        return Static(value, spelled_name(value, name_))
    if hasattr(type(value), "__symgrad_derivative__") or isinstance(value, Batch):
        ctx.rely(text, value)
        return Static(value, name_)
    if isinstance(value, enum.Enum):
        ctx.rely(text, value)
        return Static(value, name_)
    if isinstance(value, dict):
        ctx.read_dicts.add(Same(value))
    if is_closed(value) or is_unchanging(value):
        ctx.rely(text, value)
        return Static(value, spelled_name(value, name_))
    known = abstract_value(value, symbol_of(name_))
    if isinstance(known, Tree | List):
        ctx.outside[text] = None
        if Same(value) in ctx.followed:  # by another expression
            raise Recapture(Captured(text, Value(BOOL), known, value))
    is_named = isinstance(value, tuple) and hasattr(value, "_fields")
    match known:
        case Tree() if type(value) is list and not value:
            raise Recapture(Captured(text, Value(BOOL), known, value))
        case Array() | Scalar() | List():
            return capture(ctx, value, text, name_, known)
        case Tree(form="sequence" | "named") if is_named or type(value) is tuple:
            kind = type(value) if is_named else None
            (check_named_tuple if kind else check_container)(ctx, type(value))
            ctx.rely(text, type(value), "type")
            ctx.rely(text, len(value), "len")
            return Tup(tuple(outside(ctx, v, f"{text}[{k}]", f"{name_}_{k}") for k, v in enumerate(value)), kind)
        case Tree():
            follow_instance(ctx, External(value, text))
            return External(value, text)
        case StaticArgument() if isinstance(value, types.BuiltinMethodType | np.dtype | slice) or callable(value):
            ctx.rely(text, value)
            return Static(value, spelled_name(value, name_))
    return External(value, text)


def follow_instance(ctx: Lowering, owner: External) -> None:
    """Restart where an outside instance of a class derived from a list or dict is read, so that it is tracked like an argument.

    An untracked instance is read item by item if its class inherits all reading from its base, and
    refused otherwise.
    """
    cls = type(owner.value)
    base = container_of(cls)
    if isinstance(owner.value, collections.UserDict | collections.UserList):
        change_outside(ctx, owner)
    if base is None or changed_reader(cls) is not None:
        return
    change_outside(ctx, owner)
    if peculiar := sorted(defined_anew(cls) - HARMLESS):
        what = f"{cls.__name__}, which has an instance outside the function, is a {base.__name__} that overrides {peculiar[0]}"
        raise UnsupportedSyntax(what, ctx.builder.loc, "pass it as an argument")


def check_reader(ctx: Lowering, value: Any) -> None:
    """Refuse to read a container from outside if the expressions of its items would run a method of its class."""
    cls = type(value)
    if container_of(cls) is not None and (word := changed_reader(cls)) is not None:
        base = getattr(container_of(cls), "__name__", "container")
        what = f"{cls.__name__}, which has an instance outside the function, is a {base} that overrides {word}"
        raise UnsupportedSyntax(what, ctx.builder.loc, f"make the instance of {cls.__name__} in the function, of a plain {base}")


def change_outside(ctx: Lowering, owner: Binding) -> None:
    """Restart where an object from outside is changed for the first time, so that it is tracked like an argument.

    An object that cannot be tracked is left alone, and the caller refuses the change: it holds an
    object twice, or one that is converted when read, or too many objects to keep distinct.
    """
    if not isinstance(owner, External) or owner.text in ctx.captured:
        return
    known = abstract_value(owner.value, symbol_of(owner.text), whole=False)
    if not isinstance(known, Tree | Many) or issubclass(known.kind, tuple) or len(list(containers_of(owner.text, known))) > FOLLOWED:
        return
    if same_objects({owner.text: owner.value}) or any(conversions(owner.text, owner.value)):
        return
    raise Recapture(Captured(owner.text, Value(BOOL), known, owner.value))


#: the most objects inside a tracked object from outside
FOLLOWED = 16


def constant_text(ctx: Lowering, value: Any) -> str:
    """A value in emitted text: its literal, or a name for the object if it has none."""
    return literal(value) if has_literal(value) else owner_name(ctx, value)


def item_text(ctx: Lowering, text: str, key: Any) -> str:
    """The expression that reads an item of a container from outside."""
    return f"{text}[{constant_text(ctx, key)}]"


def rely_on_keys(ctx: Lowering, value: Any, text: str) -> None:
    """Record that the program depends on the items that a container has: their number, or the keys."""
    ctx.rely(text, type(value), "type")
    match value:
        case dict():
            ctx.rely(text, keys_of(value), "keys")
        case set() | frozenset():
            ctx.rely(text, set(value), "set")
        case _:
            ctx.rely(text, len(value), "len")


def entries_of(ctx: Lowering, binding: Binding, node: ast.AST) -> dict[Any, Binding] | None:
    """The items of a dict by their keys, whose set is recorded as a dependence; None for anything else."""
    if isinstance(binding, External) and isinstance(binding.value, dict):
        check_reader(ctx, binding.value)
        rely_on_keys(ctx, binding.value, binding.text)
        return {key: outside(ctx, value, item_text(ctx, binding.text, key), key_word(key)) for key, value in binding.value.items()}
    binding = as_base(ctx, binding, "__iter__")
    if not is_dict(binding):
        return None
    ctx.check_keys(binding.key, node)
    return dict(ctx.state.heap[binding.key])  # type: ignore[arg-type]


def rely_on_absence(ctx: Lowering, value: Any, text: str, key: Any) -> None:
    """Record that the program depends on the absence of an item."""
    if isinstance(value, dict) and isinstance(key, str):
        ctx.rely(text, key, "unset")
    else:
        rely_on_keys(ctx, value, text)


def rely_on_membership(ctx: Lowering, value: Any, text: str, key: Any) -> None:
    """Record that the program depends on whether a dict or set has a key; else on all its keys."""
    if type(value) in (dict, set, frozenset) and type(key) in (str, int, bool):
        ctx.rely(text, type(value), "type")
        ctx.rely(text, key, "contains" if key in value else "unset")
    else:
        rely_on_keys(ctx, value, text)


def rely_on_class(ctx: Lowering, owner: Binding, cls: type, attr: str, held: Any, part: str = "") -> None:
    """Record that the program depends on a class's attribute, and on the class of an instance from outside.

    ``part`` is the part of the attribute that counts: ``.__func__`` of a class method.
    """
    if not users_bases(cls):
        return
    if isinstance(owner, External) and isinstance(held, types.FunctionType):
        ctx.rely(f"{attribute(owner.text, attr)}.__func__", held)
    else:
        ctx.rely(f"{attribute(owner_name(ctx, cls), attr)}{part}", held)
    if isinstance(owner, External):
        ctx.rely(owner.text, type(owner.value), "type")


def spelled_name(value: Any, name_: str) -> str:
    """The spelling of an object in emitted text; a user object gets a name of its own."""
    own = str(getattr(value, "__name__", ""))
    if isinstance(value, types.ModuleType):
        return {"numpy": "np"}.get(own, own)
    if isinstance(value, np.ufunc) and getattr(np, own, None) is value:
        return f"np.{own}"
    return name_


def capture(ctx: Lowering, value: Any, text: str, name_: str, type_: Any) -> Binding:
    """Read a number or array from outside, once a call: a parameter of the program."""
    if isinstance(type_, Array | List):
        raise Recapture(Captured(text, Value(type_, identifier(name_)), type_, value))
    if text in ctx.pins:
        return Num(Const(ctx.pins[text]))
    param = Value(type_, identifier(name_))
    ctx.captured[text] = Captured(text, param, type_, value)
    ctx.texts[param] = text
    return Num(param)
