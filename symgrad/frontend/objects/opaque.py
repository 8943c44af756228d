"""Calls of opaque functions: kept in program order and executed once."""

from __future__ import annotations

import ast
import enum
import types
from typing import Any

import numpy as np

from symgrad.errors import UnknownFunction, UnknownType, UnsupportedSyntax
from symgrad.frontend.objects.python_results import with_tuples_in
from symgrad.frontend.objects.reading import LIBRARIES, owner_name, root_of
from symgrad.frontend.state.bindings import Binding, External, Maybe, Num, Obj, OneOf, Ref, Static, Tup, python_class
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.shared_state import is_readable
from symgrad.identity import Same
from symgrad.ir.core import Const, Operand
from symgrad.ops.replacements import IN_A_LOOP, WRITE_OUT, instead_of
from symgrad.text import last_word

#: modules of ours whose functions are lowered: they are written in the supported language
FOLLOWED = ("symgrad.ops.composed", "symgrad.functional.", "symgrad.implicit")
#: those that call SciPy's formulas, whose source they lower
READING = "symgrad.ops.composed.laws"
#: functions of SciPy in C that write to no argument
READING_ONLY = ("linear_sum_assignment",)
#: keywords for arrays that a function writes to, besides those that begin with ``overwrite``
OUTPUTS = ("out", "output")
#: modules whose functions vary between calls
DRAWING = ("numpy.random", "scipy.stats")
#: random generators
GENERATORS = (np.random.Generator, np.random.RandomState)
#: library functions that change an argument
MUTATORS = {"shuffle", "copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "at", "sort", "partition", "fill", "resize"}

#: methods that change a list or an array
CHANGING = MUTATORS | {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "itemset"}


def is_own(function: Any) -> bool:
    """Whether the value is a Python function of the user's, or a composition of ours."""
    if not isinstance(function, types.FunctionType):
        return False
    return root_of(function) not in LIBRARIES or (function.__module__ or "").startswith(FOLLOWED)


def followed(ctx: Lowering, function: Any) -> bool:
    """Whether the value is a Python function that is lowered from its source."""
    return is_own(function) or isinstance(function, types.FunctionType) and is_read(ctx, function)


def is_read(ctx: Lowering, value: Any) -> bool:
    """Whether the source of a SciPy function or class is lowered. It is, inside another one that is."""
    if not is_readable(value):
        return False
    inside = ctx.frame.source.function
    return Same(value) in ctx.read_sources or is_readable(inside) or getattr(inside, "__module__", None) == READING


def source_of_library(value: Any) -> types.FunctionType | type | None:
    """The function or class of a library that is called, if its source could be lowered; one with a replacement is not tried."""
    source = value.__func__ if isinstance(value, types.MethodType) else value
    if not isinstance(source, types.FunctionType | type) or instead_of(source) is not None:
        return None
    return source if is_readable(source) else None


def may_write(value: Any, kwargs: dict[str, Binding]) -> bool:
    """Whether a SciPy function may write to its arguments. Those in C often do, those in Python where requested."""
    written_in_python = isinstance(value, np.ufunc | types.FunctionType | types.MethodType | type)
    if getattr(value, "__name__", "") in READING_ONLY:
        return False
    return not written_in_python or any(word in OUTPUTS or word.startswith("overwrite") for word in kwargs)


def opaque(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """An opaque call: runs once, in program order; memory that it may change gets a new version without a known derivative."""
    if (source := source_of_library(value)) is not None:
        ctx.met_sources.add(Same(source))
    module = getattr(value, "__module__", None) or type(value).__module__
    root = module.split(".")[0]
    last = getattr(value, "__name__", "")
    pure = root in ("numpy", "math", "scipy", "operator") and not module.startswith(DRAWING) and last not in MUTATORS
    pure = pure and not (root == "scipy" and may_write(value, kwargs))
    pure = pure or value in (print, repr, str, format, hash, type, id)
    if not pure:
        refuse_containers(ctx, name, [*args, *kwargs.values()], node, instead_of(value))
    operands = [opaque_operand(ctx, a, node, instead_of(value), last) for a in (*args, *kwargs.values())]
    spelled = (
        name
        if root in ("numpy", "math", "builtins") and name.split(".")[0] in ("np", "math", *dir(__builtins__))
        else owner_name(ctx, value)
    )
    row = "opaque_pure" if pure and value is not print else "opaque"
    result = ctx.call(row, Const(value, spelled), *operands, names=tuple(kwargs))
    if not pure and (root != "scipy" or may_write(value, kwargs)):
        touch(ctx, [*args, *kwargs.values()], result)
    return Num(result)


def opaque_operand(ctx: Lowering, binding: Binding, node: ast.AST, hint: str | None = None, name: str = "") -> Operand:
    """An operand of an opaque call of ``name``; ``hint``: the way out if it is a function."""
    match binding:
        case External(value, text):
            ctx.rely(text, value)
            return Const(value, owner_name(ctx, value, last_word(text)))
        case Static(value) if isinstance(value, GENERATORS):
            return Const(value, owner_name(ctx, value))
        case Static(value) if isinstance(value, enum.Enum):
            return Const(value, owner_name(ctx, value))
        case Tup() | Obj() | Ref() | Num() | Static() | Maybe(inner=Num() | Static()) | OneOf():
            return with_tuples_in(ctx, binding, node)
    raise UnknownFunction(f"{name or 'a function'} has no rule, and a function is passed to it", ctx.loc(node), hint or IN_A_LOOP)


def opaque_method(ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A method of an opaque object, such as a random generator."""
    if name in CHANGING and ctx.may_be_list(owner):
        what = f"a value that may be a list or array of the function is changed by {name!r}, and is in a list with values of other kinds"
        raise UnknownType(what, ctx.loc(node), "keep values of each kind in a separate list")
    function = ctx.call("opaque_attribute", opaque_operand(ctx, owner, node), attribute=name)
    return call_unknown(ctx, function, f".{name}()", args, kwargs, node)


def call_unknown(ctx: Lowering, function: Operand, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call of a function that is not known at compile time."""
    refuse_containers(ctx, name, [*args, *kwargs.values()], node)
    operands = [opaque_operand(ctx, a, node, name=name) for a in (*args, *kwargs.values())]
    result = ctx.call("opaque", function, *operands, names=tuple(kwargs))
    touch(ctx, [*args, *kwargs.values()], result)
    return Num(result)


def refuse_containers(ctx: Lowering, name: str, args: list[Binding], node: ast.AST, hint: str | None = None) -> None:
    """Refuse a list or dict as an argument of an opaque call, which may change it, where a name would observe that."""
    written = [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
    shown = [a for a, said in zip(args, written, strict=False) if not isinstance(said, ast.List)] if len(written) == len(args) else args
    if any(isinstance(a, Obj) for a in shown) or any(python_class(a) is set for a in args):
        raise UnsupportedSyntax(f"{name} is passed a list, dict, set or instance, which it may change", ctx.loc(node), hint or WRITE_OUT)


def touch(ctx: Lowering, args: list[Binding], call: Operand) -> None:
    """Give new versions to the arrays passed to an opaque call, which may have changed them."""
    for binding in args:
        if isinstance(binding, Tup):
            touch(ctx, [*binding.items], call)
        elif isinstance(binding, Ref):
            ctx.replace_version(binding.location, ctx.call("touched", ctx.state.memory[binding.location], call, hint=binding.location.name))
