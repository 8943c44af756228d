"""A call of a function that the user has declared -> its row, or, for a ``custom_vjp``, its forward function and ``custom``."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.errors import NoDerivative, ShapeMismatch, SymgradError, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.calls.pushed import backward_of_rule
from symgrad.frontend.calls.rows import call_row
from symgrad.frontend.calls.vectorize import Vectorized
from symgrad.frontend.derivatives.inner import Fresh
from symgrad.frontend.flow.absent import argument
from symgrad.frontend.flow.entry_copies import copy_written
from symgrad.frontend.functions.functions import inline
from symgrad.frontend.functions.memoised import KEEPING, memoised_result, run_again
from symgrad.frontend.objects.purity import is_pure
from symgrad.frontend.state.bindings import Binding, Bound, Broken, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.program_state import Frame
from symgrad.frontend.text.source import read, seen_through
from symgrad.ir.core import Block, Call, Const, Func, Operand, Value, substitute
from symgrad.ir.types import Array, Scalar, Type, is_float
from symgrad.ir.walks import free_values
from symgrad.kinds import REFUSED, VECTORIZED, declared_types, numba_kind, refused
from symgrad.ops.declarations import Custom, declared
from symgrad.ops.declare import ROWS
from symgrad.runtime.marks import Checkpointed
from symgrad.text import is_name


def is_declared(ctx: Lowering, function: Any) -> bool:
    """Whether the user has declared the function. Inside its own forward function it counts as undeclared."""
    return declared(function) is not None and not any(function is seen for seen in ctx.forms.setdefault("as text", []))


def call_function(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a user function: by its declaration, or inlined."""
    if ctx.methods and isinstance(function, types.FunctionType) and (own := ctx.methods.get(function)) is not None:
        return ctx.apply(own, args, kwargs, node)
    if is_declared(ctx, function):
        return call_declared(ctx, function, args, kwargs, node)
    if (kind := numba_kind(function)) is not None:
        return call_numba(ctx, function, kind, args, kwargs, node)
    inner = seen_through(function)
    if inner is None:
        return inline(ctx, function, args, kwargs, node)

    def call() -> Binding:
        return call_function(ctx, inner, args, kwargs, node)

    if isinstance(function, Checkpointed):
        return run_again_in_reverse(ctx, call, node)
    if type(function) not in KEEPING:
        return call()
    tree = read(inner).node
    kept = memoised_result(ctx, function, args, kwargs)
    if kept is not None:
        return kept
    return run_again(ctx, tree, call, node, [*args, *kwargs.values()] if is_pure(function) else [])


def run_again_in_reverse(ctx: Lowering, call: Callable[[], Binding], node: ast.AST) -> Binding:
    """A call of a checkpointed function, between marks around the ops that run again in the backward half."""
    block, loc = ctx.builder.block, ctx.loc(node)
    block.ops.append(Call([], loc, "checkpoint_begin", [], {}))
    result = call()
    if ctx.builder.block is not block or ctx.state.dead:
        what = "a checkpointed function is left in another way than by returning"
        raise UnsupportedSyntax(what, loc, "call the function without checkpoint, or catch its exceptions inside of it")
    block.ops.append(Call([], loc, "checkpoint_end", [], {}))
    return result


def call_declared(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a function that the user has declared."""
    declaration = declared(function)
    if isinstance(declaration, Custom):
        return call_custom(ctx, declaration, args, kwargs, node)
    assert declaration is not None
    if not isinstance(function, types.FunctionType) or "function" not in ROWS[declaration.row].settings:
        return call_row(ctx, declaration, args, kwargs, node)
    return call_row(ctx, declaration, args, kwargs, node, type=read_type(ctx, function, args, kwargs, node))


@contextmanager
def as_text(ctx: Lowering, function: Any) -> Iterator[None]:
    """Treat the function as undeclared inside."""
    seen = ctx.forms.setdefault("as text", [])
    seen.append(function)
    try:
        yield
    finally:
        seen.pop()


def read_type(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Type | None:
    """Lower a declared function itself, for the type of its result; it must not write to its arguments."""
    entry = ctx.state
    ctx.state = entry.copy()
    type_: Type | None = None
    written = assigned = False
    try:
        with ctx.inside(Block()), as_text(ctx, function), ctx.trial() as refusals:
            result = inline(ctx, function, args, kwargs, node)
            type_ = ctx.type_of(result) if isinstance(result, Num | Ref) and not refusals else None
        written = any(ctx.state.memory.get(k) is not v for k, v in entry.memory.items())
        assigned = any(ctx.state.names.get(key) != entry.names.get(key) for key in ctx.assigned_outside)
    except (SymgradError, Raised):
        type_ = None  # a function that cannot be lowered is opaque
    finally:
        ctx.state = entry
    if written:
        raise UnsupportedSyntax(f"{function.__name__} is declared by a rule and writes to its argument", ctx.loc(node), "write to a copy")
    if assigned:
        what = f"{function.__name__} is declared by a rule and assigns to a global variable"
        raise UnsupportedSyntax(what, ctx.loc(node), "return the value instead")
    return type_ if isinstance(type_, Scalar | Array) else None


def call_itself(ctx: Lowering, frame: Frame, node: ast.FunctionDef | ast.Lambda) -> Binding:
    """The whole of a declared function: a call of it with its own parameters."""
    arguments = node.args
    bound = {a.arg: ctx.state.names[frame, a.arg] for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    kwargs = {a.arg: bound.pop(a.arg) for a in arguments.kwonlyargs}
    declaration = declared(frame.source.function)
    settings = () if isinstance(declaration, Custom) or declaration is None else {k.arg for k in declaration.target.keywords}
    kwargs |= {name: bound.pop(name) for name in list(bound) if name in settings}
    return call_declared(ctx, frame.source.function, list(bound.values()), kwargs, node)


def call_custom(ctx: Lowering, custom: Custom, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower ``forward`` here; ``backward`` computes the result's derivative from the residuals."""
    name = getattr(custom.function, "__name__", "the function")
    if custom.jvp is False:
        raise NoDerivative(f"{name} is a custom_jvp without its rule", ctx.loc(node), f"decorate the rule with @{name}.defjvp")
    if custom.jvp is not None:
        return call_custom_jvp(ctx, custom, name, args, kwargs, node)
    if custom.forward is None or custom.backward is None:
        raise NoDerivative(f"{name} is a custom_vjp without its two functions", ctx.loc(node), f"call {name}.defvjp(forward, backward)")
    args = [argument(ctx, a, node) for a in positional(ctx, custom, args, kwargs, node)]
    with as_text(ctx, custom.function):
        result = ctx.apply(Static(custom.forward), args, {}, node)
    if not isinstance(result, Tup) or len(result.items) != 2:
        raise UnsupportedSyntax(f"the forward function of {name} must return a pair: a number or array, and residuals", ctx.loc(node))
    out, residuals = [argument(ctx, item, node) for item in result.items]
    if not isinstance(out, Num | Ref | Bound):  # Bound: an attribute of an object that is not known, such as the result of a solver
        raise UnsupportedSyntax(f"the forward function of {name} must return a pair: a number or array, and residuals", ctx.loc(node))
    value = ctx.read(out, node)
    actives = [pair for arg in args for pair in leaves(ctx, arg, node)]
    func, held = backward_of(ctx, custom, name, value, residuals, args, node)
    operands = [ctx.call("held", operand) if isinstance(operand, Value) else operand for operand in held]
    made_value = ctx.call(
        "custom", ctx.call("held", value) if isinstance(value, Value) else value, *actives, *operands, func=func, actives=len(actives)
    )
    return ctx.shared(made_value, out)


def call_custom_jvp(ctx: Lowering, custom: Custom, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower the function here; the user's tangent rule defines the result's derivative."""
    args = [argument(ctx, a, node) for a in positional(ctx, custom, args, kwargs, node)]
    actives = [pair for arg in args for pair in leaves(ctx, arg, node)]
    with as_text(ctx, custom.function):
        out = ctx.apply(Static(custom.function), args, {}, node)
        if not isinstance(out, Num | Ref):
            raise UnsupportedSyntax(f"{name} must return a number or array", ctx.loc(node), "return one number or array")
        value = ctx.read(out, node)
        if not actives:
            return out
        func, read_by_it = backward_of_rule(ctx, custom, name, value, args, actives, node)
    operands = [ctx.call("held", operand) if isinstance(operand, Value) else operand for operand in read_by_it]
    result = ctx.call(
        "custom", ctx.call("held", value) if isinstance(value, Value) else value, *actives, *operands, func=func, actives=len(actives)
    )
    return ctx.shared(result, out)


def positional(ctx: Lowering, custom: Custom, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> list[Binding]:
    """All arguments by position."""
    if not kwargs:
        return args
    try:
        bound = inspect.signature(custom.function).bind(*args, **kwargs)
    except TypeError as error:
        raise UnsupportedSyntax(str(error), ctx.loc(node)) from None
    if bound.kwargs:
        what = "a function with a custom derivative takes its arguments by position"
        raise UnsupportedSyntax(what, ctx.loc(node), "leave the names out")
    return list(bound.args)


def leaves(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Operand]:
    """The operands of an argument that may carry a derivative, in the order of ``Fresh``."""
    fresh = Fresh(ctx)
    entry = ctx.state
    ctx.state = entry.copy()
    with ctx.inside(Block()) as scratch:
        fresh.binding(binding)
    ctx.state = entry
    ctx.builder.block.ops += scratch.ops
    return [operand for _, operand in fresh.pairs]


def backward_of(
    ctx: Lowering, custom: Custom, name: str, value: Operand, residuals: Binding, args: list[Binding], node: ast.AST
) -> tuple[Func, list[Operand]]:
    """The backward function as IR, and the values that it reads; its parameters are the cotangent and those values."""
    entry = ctx.state
    ctx.state = entry.copy()
    later = Broken("the function assigns to it, and the backward function would read the later value", "return it as a residual")
    ctx.state.names.update(dict.fromkeys(ctx.assigned_outside, later))
    block = Block()
    seed = Value(cotangent_type(value.type), "out_grad")
    with ctx.inside(block):
        try:
            result = ctx.apply(Static(custom.backward), [residuals, ctx.make(seed)], {}, node)
        except Raised:
            raise UnsupportedSyntax(f"the backward function of {name} always raises", ctx.loc(node)) from None
        items = result.items if isinstance(result, Tup) else None
        if items is None or len(items) != len(args):
            raise UnsupportedSyntax(
                f"the backward function of {name} must return a tuple with one gradient for each of the {len(args)} arguments",
                ctx.loc(node),
            )
        yields = [y for arg, item in zip(args, items, strict=True) for y in gradients(ctx, name, arg, item, node)]
    if any(ctx.state.memory.get(k) is not v for k, v in entry.memory.items()):
        raise UnsupportedSyntax(f"the backward function of {name} writes to outside memory", ctx.loc(node), "write to a copy")
    if any(ctx.state.names[key] is not later for key in ctx.assigned_outside):
        what = f"the backward function of {name} assigns to a global variable"
        raise UnsupportedSyntax(what, ctx.loc(node), "return the value instead")
    ctx.state = entry
    block.yields = yields
    held = free_values(block, [seed])
    copies = {v: Value(v.type, v.name) for v in held}
    substitute(block, dict(copies))
    block.args = [seed, *copies.values()]
    func = Func("backward", block, [f"grad{k}" for k in range(len(yields))], ctx.loc(node))
    copy_written(func, ctx.loc(node))
    return func, list(held)


def cotangent_type(type_: Any) -> Any:
    """The type of a cotangent: that of a Python number may be a NumPy scalar."""
    return Scalar(type_.kind, "any") if isinstance(type_, Scalar) else type_


def gradients(ctx: Lowering, name: str, arg: Binding, item: Binding, node: ast.AST) -> list[Operand]:
    """The gradient returned for one argument, leaf by leaf, each in memory of its own."""
    match arg:
        case Tup(items):
            inner = item.items if isinstance(item, Tup) and len(item.items) == len(items) else [Static(None)] * len(items)
            return [y for a, i in zip(items, inner, strict=True) for y in gradients(ctx, name, a, i, node)]
        case Num() | Ref() if is_float(ctx.type_of(arg)):
            type_ = ctx.type_of(arg)
            if item == Static(None):
                return [zeros(ctx, arg, node)]
            gradient = ctx.read(item, node)
            if rank(gradient.type) not in (None, rank(type_)) and rank(type_) is not None:
                raise ShapeMismatch(f"the backward function of {name} gives {gradient.type} for an argument that is {type_}", ctx.loc(node))
            if isinstance(gradient, Value) and gradient.type.is_number and not isinstance(gradient.type, Scalar):
                gradient = ctx.call("copy", gradient)
            return [gradient]
        case Obj() if leaves(ctx, arg, node):
            raise UnsupportedSyntax(f"{name} takes a container; a custom_vjp takes numbers, arrays and tuples", ctx.loc(node))
    return []


def rank(type_: Any) -> int | None:
    """The rank of a number or array, None if not known."""
    return 0 if isinstance(type_, Scalar) else type_.rank if isinstance(type_, Array) else None


def zeros(ctx: Lowering, arg: Binding, node: ast.AST) -> Operand:
    """A zero gradient for an argument that could have one."""
    if isinstance(ctx.type_of(arg), Scalar):
        return Const(0.0)
    return ctx.call("zeros_like", ctx.read(arg, node))


# ------------------------------------------------------------------ functions that numba compiles


#: numba's number types to which Python numbers of a kind convert without loss
WIDE = {
    "float": {"float64", "complex128"},
    "complex": {"complex128"},
    "int": {"int32", "int64", "float64", "complex128"},
    "bool": {"bool", "int32", "int64", "float64", "complex128"},
}

#: numba's names of the types of NumPy scalars
EXACT = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128", "i32": "int32", "i64": "int64"}


def call_numba(ctx: Lowering, value: Any, kind: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call of one of numba's callables: of its Python function, once or for each element."""
    name = str(getattr(value, "__name__", "the function"))
    if kind in REFUSED:
        raise refused(value, kind, ctx.loc(node))
    function: types.FunctionType = value.__wrapped__
    if kind in VECTORIZED:
        scalars = all(isinstance(a, Num) and isinstance(ctx.type_of(a), Scalar) for a in args)
        return ctx.apply(Static(function) if scalars else Vectorized(Static(function), returns_floats(value)), args, kwargs, node)
    check_conversions(ctx, value, name, args, kwargs, node)
    return ctx.apply(Static(function), args, kwargs, node)


def returns_floats(value: Any) -> bool:
    """Whether every declared signature of a vectorized function returns float64."""
    return bool(value._frozen and value.types) and all(text.endswith("->d") for text in value.types)


def check_conversions(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> None:
    """Refuse conversions that numba would make: a float to a declared int is truncated, variables of declared types are converted too."""
    if getattr(value, "locals", None):
        what = f"{name} declares types of its variables (locals=), to which numba converts them"
        raise UnsupportedArgument(what, ctx.loc(node), f"call {name}.py_func, or leave locals= out")
    signatures = declared_types(value)
    names = value.__wrapped__.__code__.co_varnames
    passed = [*enumerate(args), *((names.index(keyword), binding) for keyword, binding in kwargs.items() if keyword in names)]
    for position, binding in passed:
        declared = dict.fromkeys(signature[position] for signature in signatures if position < len(signature))
        held = ctx.type_of(binding) if isinstance(binding, Num | Ref) else None
        if isinstance(held, Array) and held.rank or not any(is_name(word) for word in declared):  # arrays are never converted
            continue
        kind = held.kind if isinstance(held, Scalar | Array) else type(binding.value).__name__ if isinstance(binding, Static) else None
        if not declared.keys() & {*WIDE.get(kind or "", ()), EXACT.get(getattr(held, "dtype", None) or "")}:
            types_ = " or ".join(sorted(declared))
            what = f"{name} is declared with {names[position]} as {types_}, to which numba converts the {held or kind or 'object'} passed"
            raise UnsupportedArgument(what, ctx.loc(node), f"call {name}.py_func, or leave the types out of its decorator")
