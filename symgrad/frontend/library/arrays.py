"""Attributes of arrays and array constructors: ``np.shape``, ``np.array`` and the like."""

from __future__ import annotations

import ast
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.calls.attributes import attribute_of
from symgrad.frontend.calls.common_arguments import dtype_named, in_order, static_value
from symgrad.frontend.calls.rows import call_row
from symgrad.frontend.flow.aliases import is_one_of_several, of_each
from symgrad.frontend.flow.enumerated import each
from symgrad.frontend.library.builtins import list_
from symgrad.frontend.objects.opaque import opaque
from symgrad.frontend.objects.operands import array_of, as_array, known_value, unwrap, with_items
from symgrad.frontend.state.bindings import Binding, Num, Obj, Ref, Static, Step, Tup, is_none
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import held_items
from symgrad.frontend.state.tables import SPECIAL, special
from symgrad.frontend.values.exact import check_kind, is_anything, is_instance, is_single
from symgrad.ir.core import ONE, ZERO, Const
from symgrad.ir.types import DTYPES, Array, Object, Scalar, Type, Unknown
from symgrad.ops import spelling
from symgrad.ops.composed.lists import first_items
from symgrad.ops.shapes import dtype_of
from symgrad.ops.spelling import named_dtype

Args = list[Binding]
Kwargs = dict[str, Binding]

# ------------------------------------------------------------------ array attributes and constructors


def is_number(ctx: Lowering, binding: Binding) -> bool:
    """Whether the binding is a number; a Python number has no attributes of arrays."""
    return isinstance(binding, Num) and isinstance(ctx.type_of(binding), Scalar)


#: the classes that ``np.isscalar`` accepts
OF_SCALARS = (np.generic, numbers.Number, str, bytes, memoryview)


@special(np.isscalar)
def isscalar(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Tested by the class, as ``isinstance`` does."""
    held = [*args, *kwargs.values()][0]
    return each(ctx, held, node, lambda one: Num(Const(is_instance(ctx, one, OF_SCALARS, node))))


@special(np.shape)
def shape(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if is_number(ctx, args[0]) or is_single(args[0]):
        return Tup(())
    return attribute_of(ctx, as_array(ctx, args[0], node), "shape", node)


@special(np.ndim)
def ndim(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if is_number(ctx, args[0]) or is_single(args[0]):
        return Num(ZERO)
    if is_anything(ctx, args[0]):
        return opaque(ctx, np.ndim, "np.ndim", args[:1], {}, node)
    return attribute_of(ctx, as_array(ctx, args[0], node), "ndim", node)


def _asks_for_complex(function: Any, when_complex: bool) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        """Folded at compile time where the dtype is known."""
        dtype = dtype_of(ctx.type_of(args[0])) if len(args) == 1 and not kwargs else None
        if dtype is not None:
            check_kind(ctx, ctx.type_of(args[0]), node)
            return Num(Const((dtype[0] == "c") is when_complex))
        spelled = spelling.spelled(function)
        assert spelled is not None
        return call_row(ctx, spelled, args, kwargs, node)

    return lower


SPECIAL[np.isrealobj] = _asks_for_complex(np.isrealobj, False)
SPECIAL[np.iscomplexobj] = _asks_for_complex(np.iscomplexobj, True)


@special(np.size)
def size(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    args = [*args, *kwargs.values()]
    axis = unwrap(args[1]) if len(args) == 2 else None
    if axis is not None:
        extents = shape(ctx, args[:1], {}, node)
        if not isinstance(extents, Tup) or not isinstance(axis, int) or not -len(extents.items) <= axis < len(extents.items):
            raise UnsupportedArgument("np.size is supported along one axis that the array has", ctx.loc(node))
        return extents.items[axis]
    if is_number(ctx, args[0]) or is_single(args[0]):
        return Num(ONE)
    if is_anything(ctx, args[0]):
        return opaque(ctx, np.size, "np.size", args[:1], {}, node)
    return attribute_of(ctx, as_array(ctx, args[0], node), "size", node)


def of_rank(ctx: Lowering, array: Binding, least: Any, node: ast.AST) -> Binding:
    """The array with new axes in front, so that it has at least ``least`` axes."""
    rank = getattr(ctx.type_of(array), "rank", None)
    if rank is None or not isinstance(least, int):
        raise UnsupportedArgument("ndmin of an array of unknown rank is not supported", ctx.loc(node))
    missing = Tup(tuple(Num(Const(k)) for k in range(least - rank)))
    return ctx.apply(Static(np.expand_dims, "np.expand_dims"), [array, missing], {}, node) if missing.items else array


#: the values of ``copy=`` that always copy
ANY_CASE = (True, np._CopyMode.ALWAYS)


#: and those that never copy; before NumPy 2, False was none of these
NEVER = (False, np._CopyMode.NEVER) if hasattr(np, "isdtype") else (np._CopyMode.NEVER,)


def is_of_dtype(ctx: Lowering, binding: Binding, dtype: Binding) -> bool:
    """Whether the binding is an array, of the requested dtype if there is one."""
    type_ = ctx.type_of(binding)
    own = type_.dtype if isinstance(type_, Array) else None
    return own is not None and (is_none(dtype) or named_dtype(unwrap(dtype)) == own)


def is_copy(asked: Any) -> bool:
    """Whether ``copy=`` always copies. It is a bool, None, or a member of NumPy's own enumeration, which has no truth value."""
    return asked in ANY_CASE


def _array(copies: bool, any_class: bool = False) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        keywords = dict(kwargs)
        args = [*args, *(keywords.pop(word) for word in ("object", "a") if not args and word in keywords)]
        if any_class and isinstance(args[0], Static) and isinstance(args[0].value, np.ndarray):
            return args[0]  # of a subclass, which it keeps
        keywords.update(zip(("dtype",) if copies else ("dtype", "order"), args[1:], strict=False))
        order = unwrap(keywords.pop("order", Static("K")))
        order = order.upper() if isinstance(order, str) else order
        if order not in ("K", None, "C", "F"):
            raise UnsupportedArgument(f"the order {order!r} is not supported", ctx.loc(node), "leave it out")
        asked = unwrap(keywords.pop("copy", Num(Const(True if copies else None))))
        if asked in NEVER and not is_of_dtype(ctx, args[0], keywords.get("dtype", Static(None))):
            raise UnsupportedArgument("copy=False is supported for an array of this dtype", ctx.loc(node), "use copy=None or np.asarray")
        copy = is_copy(asked)
        dtype = unwrap(keywords.pop("dtype", Static(None)))
        least = unwrap(keywords.pop("ndmin", Num(Const(0)))) if copies else 0
        if keywords:
            raise UnsupportedArgument(f"the keyword {next(iter(keywords))} of np.array is not supported", ctx.loc(node))
        try:
            name = None if dtype is None else named_dtype(dtype)
        except (ValueError, TypeError):
            raise UnsupportedArgument(f"the dtype {dtype!r} is not supported", ctx.loc(node), spelling.instead_of_dtype(dtype)) from None
        array = make_array(ctx, args[0], name, copy, node)
        array = in_order(ctx, array, order, node) if order in ("C", "F") else array
        return of_rank(ctx, array, least, node) if least else array

    return lower


def make_array(ctx: Lowering, binding: Binding, dtype: str | None, copy: bool, node: ast.AST) -> Binding:
    binding = with_items(ctx, binding, node)
    if isinstance(binding, Obj | Tup):
        return ctx.make(array_of(ctx, binding, dtype, node))
    type_: Type = ctx.type_of(binding)
    if not copy and isinstance(type_, Array) and type_.dtype is None and dtype is not None and is_one_of_several(ctx, binding):
        # for each of them it is known whether it has the dtype and so is the result itself
        return of_each(ctx, binding, lambda base: make_array(ctx, base, dtype, copy, node), node)
    if isinstance(type_, Object) and dtype is None:
        return opaque(ctx, np.array, "np.array", [binding], {}, node)
    value = ctx.read(binding, node)
    if isinstance(type_, Array) and dtype not in (None, type_.dtype):
        cast = ctx.call("cast", value, dtype=dtype)
        return ctx.make(cast) if copy or type_.dtype is not None else ctx.shared(cast, binding)  # the result may be the array itself
    if isinstance(type_, Array):
        return ctx.make(ctx.call("copy", value)) if copy else binding
    if isinstance(type_, Unknown):
        return ctx.make(ctx.call("to_array", value, dtype=dtype)) if copy else ctx.shared(ctx.call("to_array", value, dtype=dtype), binding)
    return ctx.make(ctx.call("to_array", value, dtype=dtype))


SPECIAL[np.array] = _array(True)
SPECIAL[np.asarray] = _array(False)
SPECIAL[np.asanyarray] = _array(False, any_class=True)


@special(np.dtype)
def dtype_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A dtype that is static."""
    if len(args) == 1 and not kwargs and (name := dtype_named(static_value(args[0]))) is not None:
        return Static(np.dtype(DTYPES[name]), f"np.dtype({np.dtype(DTYPES[name]).name!r})")
    return opaque(ctx, np.dtype, "np.dtype", args, kwargs, node)


def _limits(function: Callable[..., Any], kinds: str) -> Callable[..., Binding]:
    """``np.finfo`` and ``np.iinfo``: the limits of a dtype's numbers."""

    def limits(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        text = f"np.{function.__name__}"
        if len(args) == 1 and not kwargs and (name := dtype_named(static_value(args[0]))) is not None and name[0] in kinds:
            return Static(function(DTYPES[name]), f"{text}({np.dtype(DTYPES[name]).name!r})")
        return opaque(ctx, function, text, args, kwargs, node)

    return limits


SPECIAL[np.finfo] = _limits(np.finfo, "f")
SPECIAL[np.iinfo] = _limits(np.iinfo, "iu")


@special(np.fromiter)
def fromiter(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """All items of an iterator as a vector."""
    arguments = dict(zip(("iter", "dtype", "count", "like"), args, strict=False)) | kwargs
    if not {"iter", "dtype"} <= set(arguments) <= {"iter", "dtype", "count"}:
        raise UnsupportedArgument("np.fromiter is supported with dtype and count only", ctx.loc(node), "leave like out")
    count = arguments.get("count", Num(Const(-1)))
    if known_value(count) == [-1]:
        items = list_(ctx, [arguments["iter"]], {}, node)
    else:
        items = ctx.apply(Static(first_items), [arguments["iter"], count], {}, node)
    make: Callable[..., Binding] = _array(True)
    return make(ctx, [items], {"dtype": arguments["dtype"]}, node)


@special(np.ascontiguousarray)
def by_rows(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The array itself if it is row-major; a copy if it is not; one of the two if that is unknown."""
    array = _array(False)(ctx, args, kwargs, node)
    type_ = ctx.type_of(array)
    if not isinstance(array, Ref) or not isinstance(type_, Array) or type_.shape == ():
        raise UnsupportedArgument("np.ascontiguousarray is supported for arrays", ctx.loc(node), "write np.atleast_1d")
    return in_order(ctx, array, "C", node)


@special(np.asfortranarray)
def by_columns(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The array itself if it is column-major; a copy if it is not; one of the two if that is unknown."""
    array = _array(False)(ctx, args, kwargs, node)
    type_ = ctx.type_of(array)
    if not isinstance(array, Ref) or not isinstance(type_, Array) or type_.shape == ():
        raise UnsupportedArgument("np.asfortranarray is supported for arrays", ctx.loc(node), "write np.atleast_1d")
    return in_order(ctx, array, "F", node)


#: requirements of ``np.require`` on the memory order
REQUIRED = {"C": "C", "CONTIGUOUS": "C", "C_CONTIGUOUS": "C", "F": "F", "FORTRAN": "F", "F_CONTIGUOUS": "F"}
#: requirements that every array of a program meets
ALWAYS = ("A", "ALIGNED", "W", "WRITEABLE", "E", "ENSUREARRAY")


@special(np.require)
def require(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """An array of a dtype, row-major or column-major."""
    arguments = dict(zip(("a", "dtype", "requirements"), args, strict=False)) | kwargs
    asked = arguments.get("requirements", Static(None))
    items = held_items(asked, ctx.state)
    said = [unwrap(item) for item in items] if items is not None else unwrap(asked) or ()
    words = {word.upper() for word in ([said] if isinstance(said, str) else said)}
    orders = {REQUIRED[word] for word in words if word in REQUIRED}
    if set(arguments) - {"a", "dtype", "requirements"} or words - {*REQUIRED, *ALWAYS} or len(orders) > 1:
        raise UnsupportedArgument("np.require is supported with a dtype and with the requirements C, F, A and W", ctx.loc(node))
    dtype = {"dtype": arguments["dtype"]} if "dtype" in arguments else {}
    array: Binding = _array(False)(ctx, [arguments["a"]], dtype, node)
    return in_order(ctx, array, min(orders), node) if orders else array


@special(np.where)
def where(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if len(args) == 1 and not kwargs:
        return ctx.apply(Static(np.nonzero, "np.nonzero"), args, {}, node)
    spelled = spelling.spelled(np.where)
    assert spelled is not None
    return call_row(ctx, spelled, args, kwargs, node)


@special(np.copyto)
def copyto(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if set(kwargs) - {"where"} or not isinstance(args[0], Ref) or len(args) != 2:
        raise UnsupportedArgument("this form of np.copyto is not supported", ctx.loc(node))
    source = args[1]
    if "where" in kwargs:
        source = ctx.apply(Static(np.where, "np.where"), [kwargs["where"], source, args[0]], {}, node)
    ctx.store(args[0], ctx.read(source, node), None if args[0].path else Step("e"))
    return Static(None)
