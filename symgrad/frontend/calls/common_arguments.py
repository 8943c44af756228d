"""Arguments with one meaning for a whole kind of functions: ``order``, ``copy``, ``shape`` of ``*_like``, ``dtype`` of ufuncs.

The call is lowered without the argument; the argument's effect is applied to its operands or to its
result. ``without_idle`` drops those without effect: ``device="cpu"``, and ``casting`` where nothing is cast.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.memory.views import is_surely_copied
from symgrad.frontend.objects.operands import known_value, row_operand, unwrap
from symgrad.frontend.state.bindings import Binding, Num, Ref, Static, Step, Tup, is_none
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const
from symgrad.ir.types import DTYPES, Array, Object, Scalar, is_complex
from symgrad.ops import spelling
from symgrad.ops.declare import ROWS
from symgrad.ops.shapes import dtype_of
from symgrad.ops.signatures import UFUNC

#: rows whose results may be row-major or column-major
LAID_OUT = frozenset({"zeros", "ones", "empty", "full", "zeros_as", "ones_like", "empty_like", "full_like", "array", "copy", "cast", "eye"})
#: rows that read the elements of an array in a given order
READ_IN_ORDER = frozenset({"ravel", "flatten", "reshape"})
#: rows of ``*_like`` functions, with the functions that take a shape instead
OF_SHAPES = {"zeros_as": np.zeros, "ones_like": np.ones, "empty_like": np.empty, "full_like": np.full}
#: rows whose results are computed first and then cast
MADE_FIRST = frozenset({"concatenate", "stack", "linspace"})
#: sums and products, whose dtype is that of a floating-point operand
SUMS = frozenset({"sum", "prod", "mean", "cumsum", "cumprod"})
#: the bounds of ``np.arange``, by position
BOUNDS = ("start", "stop", "step")
Call = Callable[[list[Binding], dict[str, Binding]], Binding]


def call_besides(
    ctx: Lowering, spelled: spelling.Spelling, args: list[Binding], kwargs: dict[str, Binding], call: Call, node: ast.AST
) -> Binding | None:
    """A call with such an argument, or None; ``call`` lowers the call without it."""
    if spelled.row == "arange" and (bounds := bounds_by_name(args, kwargs)) is not None:
        return call(bounds, {name: held for name, held in kwargs.items() if name not in BOUNDS})
    try:
        bound = spelled.signature.bind(*args, **kwargs)
    except TypeError:
        return None
    arguments = bound.arguments

    def without(name: str) -> Binding:
        rest = inspect.BoundArguments(bound.signature, {k: v for k, v in arguments.items() if k != name})
        return call(list(rest.args), dict(rest.kwargs))

    if "order" in arguments and (spelled.row in LAID_OUT or is_ufunc(spelled)):
        order = laid_like(ctx, static_value(arguments["order"]), next(iter(arguments.values())))
        result = without("order") if order is not None else None
        return result if result is None or order == "K" or not isinstance(result, Ref) else in_order(ctx, result, str(order), node)
    if "order" in arguments and spelled.row in READ_IN_ORDER:
        order = laid_like(ctx, static_value(arguments["order"]), arguments["a"])
        return read_in_order(ctx, spelled.row, bound, without, str(order), node) if order in ("C", "F") else None
    if "copy" in arguments and spelled.row == "cast" and static_value(arguments["copy"]) is True:
        return without("copy")
    if "copy" in arguments and spelled.row == "cast" and static_value(arguments["copy"]) is False:
        return cast_if_needed(ctx, next(iter(arguments.values())), static_value(arguments["dtype"]), node)
    if "shape" in arguments and spelled.row in OF_SHAPES:
        return of_shape(ctx, OF_SHAPES[spelled.row], dict(arguments), node)
    if spelled.row in ("sort", "argsort") and "order" not in arguments and {"kind", "stable"} & set(arguments):
        return sorted_by(ctx, spelled.row, dict(arguments), node)
    if "dtype" in arguments and spelled.row in MADE_FIRST:
        return cast_result(ctx, spelled.row, without("dtype"), arguments["dtype"], node)
    if "dtype" in arguments and is_ufunc(spelled):
        return computed_in(ctx, spelled, dict(arguments), without, node)
    return None


def static_value(binding: Any) -> Any:
    """The value of a static argument; None otherwise."""
    try:
        return unwrap(binding)
    except ValueError:
        return None


def is_ufunc(spelled: spelling.Spelling) -> bool:
    """Whether the function is a NumPy ufunc."""
    return spelled.parameters.endswith(UFUNC)


# ------------------------------------------------------------------ order


def laid_like(ctx: Lowering, order: Any, source: Binding) -> str | None:
    """``C``, ``F``, or ``K`` if unspecified: resolves ``A`` and ``K`` for an array; None if they cannot be resolved."""
    if order in ("C", "F"):
        return str(order)
    if order not in ("A", "K", None):
        return None
    ctx.laid = True
    type_ = ctx.type_of(source) if isinstance(source, Ref | Num) else None
    if not isinstance(type_, Array) or type_.rank == 1 or type_.layout in ("C", "CF"):
        return "C" if order == "A" or isinstance(type_, Array) else "K"
    if type_.layout == "F":
        return "F"
    return "C" if order == "A" and type_.layout == "N" else None


def in_order(ctx: Lowering, array: Binding, order: str, node: ast.AST) -> Binding:
    """An array in row-major or column-major order: itself if it has that order, else a copy; one of the two if that is unknown."""
    ctx.laid = True
    type_ = ctx.type_of(array)
    if not isinstance(array, Ref) or not isinstance(type_, Array) or type_.shape is None:
        raise UnsupportedArgument("order= is supported only for an array of known rank", ctx.loc(node), "leave order out")
    if type_.shape == ():
        return array
    if order == "F" and len(type_.shape) > 1:
        turned = in_order(ctx, Ref(array.location, (*array.path, Step(".T"))), "C", node)
        assert isinstance(turned, Ref)
        return Ref(turned.location, (*turned.path, Step(".T")))
    if type_.layout in ("C", "CF"):
        return array
    if is_surely_copied(type_):
        return ctx.make(ctx.call("copy_rows", ctx.read(array, node)))
    return ctx.shared(ctx.call("by_rows", ctx.read(array, node)), array)


def read_in_order(
    ctx: Lowering, row: str, bound: inspect.BoundArguments, without: Callable[[str], Binding], order: str, node: ast.AST
) -> Binding | None:
    """``ravel``, ``flatten`` and ``reshape`` in column-major order: those of the transposed array in row-major order."""
    arguments = bound.arguments
    if order == "C" or not isinstance(arguments["a"], Ref) or getattr(ctx.type_of(arguments["a"]), "rank", None) is None:
        return without("order") if order == "C" else None
    if "shape" in arguments:
        shape = arguments["shape"]
        items = shape[0] if isinstance(shape, tuple) and len(shape) == 1 else shape
        reversed_ = reversed_extents(items)
        if reversed_ is None:
            return None
        arguments["shape"] = (Tup(reversed_),) if isinstance(shape, tuple) else Tup(reversed_)
    arguments["a"] = ctx.apply(Static(np.transpose, "np.transpose"), [arguments["a"]], {}, node)
    result = without("order")
    return result if row != "reshape" else ctx.apply(Static(np.transpose, "np.transpose"), [result], {}, node)


def reversed_extents(shape: Any) -> tuple[Binding, ...] | None:
    """The extents of a shape in reverse; None if their number is unknown."""
    if isinstance(shape, Tup):
        return tuple(reversed(shape.items))
    if isinstance(shape, tuple):
        return tuple(reversed(shape))
    return (shape,) if isinstance(shape, Num) and isinstance(shape.operand.type, Scalar) else None


def sorted_by(ctx: Lowering, row: str, keywords: dict[str, Any], node: ast.AST) -> Binding | None:
    """``np.sort`` and ``np.argsort`` with a ``kind``, which decides the order of the indices of equal elements."""
    kind, stable = static_value(keywords.pop("kind", Static(None))), static_value(keywords.pop("stable", Static(None)))
    if kind not in (None, "quicksort", "heapsort", "stable", "mergesort") or stable not in (None, False, True):
        return None
    if (
        row == "argsort"
        and kind == "heapsort"
        or "axis" in keywords
        and static_value(keywords["axis"]) is None
        and not is_none(keywords["axis"])
    ):
        return None
    if row == "argsort" and (stable or kind in ("stable", "mergesort")):
        axis = static_value(keywords.get("axis", Num(Const(-1))))
        if axis is None:
            keywords["a"], axis = ctx.apply(Static(np.ravel, "np.ravel"), [keywords["a"]], {}, node), -1
        return ctx.make(ctx.call("stable_argsort", row_operand(ctx, keywords["a"], node), axis=axis))
    function = np.sort if row == "sort" else np.argsort
    return ctx.apply(Static(function, f"np.{row}"), [keywords.pop("a")], keywords, node)


# ------------------------------------------------------------------ copy, shape, dtype


def bounds_by_name(args: list[Binding], kwargs: dict[str, Binding]) -> list[Binding] | None:
    """The bounds of ``np.arange`` by position, if some are keywords; None if none is, or if there is no end."""
    named = {name: held for name, held in kwargs.items() if name in BOUNDS}
    if not named or set(named) & set(BOUNDS[: len(args)]):
        return None
    bounds = dict(zip(BOUNDS, args, strict=False)) | named
    step = bounds.get("step", Static(None))
    more = [] if is_none(step) else [step]
    if not is_none(bounds.get("stop", Static(None))):
        return [bounds.get("start", Num(Const(0))), bounds["stop"], *more]
    return [Num(Const(0)), *args, *more] if args else None


def cast_result(ctx: Lowering, row: str, result: Binding, dtype: Any, node: ast.AST) -> Binding | None:
    """The result of a function, cast to another dtype; the points of ``linspace`` are rounded down to integers."""
    name = dtype_named(static_value(dtype))
    if name is None or not isinstance(result, Ref) or name[0] not in ("fiu" if row == "linspace" else "f"):
        return result if is_none(dtype) else None
    if name[0] in "iu":
        result = ctx.apply(Static(np.floor, "np.floor"), [result], {}, node)
    return ctx.make(ctx.call("cast", ctx.read(result, node), dtype=name))


def is_own_dtype(ctx: Lowering, row: str, args: list[Binding], dtype: Binding | None) -> bool:
    """Whether the ``dtype`` of a sum or product is the operand's own, which it would have anyway."""
    name = dtype_named(static_value(dtype)) if dtype is not None and row in SUMS and args else None
    return name in ("f32", "f64") and dtype_of(ctx.type_of(args[0])) == name


def cast_if_needed(ctx: Lowering, source: Binding, dtype: Any, node: ast.AST) -> Binding | None:
    """``x.astype(dtype, copy=False)``: the array itself if it is of the dtype."""
    type_ = ctx.type_of(source) if isinstance(source, Ref | Num) else None
    name = dtype_named(dtype)
    if name is None or not isinstance(source, Ref) or not isinstance(type_, Array):
        return None
    if type_.dtype == name:
        return source
    value = ctx.call("cast", ctx.read(source, node), dtype=name)
    return ctx.make(value) if type_.dtype is not None else ctx.shared(value, source)


def of_shape(ctx: Lowering, function: Any, arguments: dict[str, Any], node: ast.AST) -> Binding | None:
    """``np.zeros_like(x, shape=...)`` and the like, for an array of a known dtype."""
    source, dtype = next(iter(arguments.values())), arguments.get("dtype")
    own = getattr(ctx.type_of(source), "dtype", None) if isinstance(source, Ref) else None
    if set(arguments) - {"a", "prototype", "dtype", "shape", "fill_value"} or own is None and dtype is None:
        return None
    named = dtype if dtype is not None and static_value(dtype) is not None else Static(np.dtype(DTYPES[str(own)]))
    values = [arguments["fill_value"]] if "fill_value" in arguments else []
    return ctx.apply(Static(function, f"np.{function.__name__}"), [arguments["shape"], *values], {"dtype": named}, node)


def computed_in(
    ctx: Lowering, spelled: spelling.Spelling, arguments: dict[str, Any], without: Callable[[str], Binding], node: ast.AST
) -> Binding | None:
    """``np.add(x, y, dtype=np.float32)``: the function of its operands in that dtype."""
    name, row = dtype_named(static_value(arguments["dtype"])), ROWS[spelled.row]
    if name not in ("f32", "f64") or not row.differentiable or "n" in row.params:
        return without("dtype") if static_value(arguments["dtype"]) is None and isinstance(arguments["dtype"], Static) else None
    operands = [row_operand(ctx, arguments[p], node) for p in row.params if p in arguments]
    if len(operands) != len(row.params) or any(is_complex(o.type) or not o.type.is_number for o in operands):
        return None
    cast = [ctx.make(ctx.call("cast", o, dtype=name)) for o in operands]
    rest = {k: v for k, v in arguments.items() if k not in row.params and k != "dtype"}
    return ctx.apply(Static(getattr(np, spelled.name.removeprefix("np.")), spelled.name), cast, rest, node)


def dtype_named(value: Any) -> str | None:
    """The name of a dtype, or None."""
    try:
        return None if value is None else spelling.named_dtype(value)
    except (TypeError, ValueError):
        return None


# ------------------------------------------------------------------ arguments without effect


#: functions with a parameter ``device`` in NumPy 2
ON_DEVICES = tuple(
    getattr(np, name)
    for name in "arange asanyarray asarray empty empty_like eye full full_like linspace ones ones_like zeros zeros_like".split()
)
#: casting rules; each allows an unchanged dtype
CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")
HAVE_DEVICES = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def without_idle(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding]) -> dict[str, Binding]:
    """Return the keyword arguments of a NumPy call without those that do not affect its result."""
    idle = set()
    if HAVE_DEVICES and "device" in kwargs and any(function is one for one in ON_DEVICES):
        idle |= {"device"} if known_value(kwargs["device"]) in ([None], ["cpu"]) else set()
    if "casting" in kwargs and (isinstance(function, np.ufunc) or function is np.clip) and not {"dtype", "signature"} & kwargs.keys():
        rule = known_value(kwargs["casting"])
        idle |= {"casting"} if rule and rule[0] in CASTING and is_of_one_dtype(ctx, [*args, *kwargs.values()]) else set()
    return {name: held for name, held in kwargs.items() if name not in idle} if idle else kwargs


def is_of_one_dtype(ctx: Lowering, operands: list[Binding]) -> bool:
    """Whether all NumPy arrays and numbers have one floating-point dtype; Python's numbers adopt it."""
    types = [type_ for type_ in map(ctx.type_of, operands) if not isinstance(type_, Object)]
    numbers = [type_ for type_ in types if isinstance(type_, Array | Scalar)]
    of_python = [type_ for type_ in numbers if isinstance(type_, Scalar) and type_.dtype is None]
    dtypes = {type_.dtype for type_ in numbers if type_ not in of_python}
    is_known = len(numbers) == len(types) and len(dtypes) == 1 and dtypes <= {"f32", "f64"}
    return is_known and all(type_.kind != "complex" for type_ in of_python)
