"""Python callables -> rows: ``np.sum(x, axis=0)`` is ``sum(x, axis=0)``, ``x.T`` is ``transpose(x)``, ``+`` is ``add``.

Each spelling is two texts: the callable's own signature, and the row's call in terms of it. A parameter
that the row's call does not mention must be left at its default. The tables are at the end.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgrad.ir.core import Const, Operand
from symgrad.ops.composed import may_share, refuse
from symgrad.ops.declare import ROWS, parse_signature
from symgrad.ops.shapes import dtype_name

#: a default that no value equals: the parameter may be left out and is refused otherwise
UNSAID: Any = inspect.Parameter.empty


class BindError(TypeError):
    """The call cannot be read as a row; the message says what is not supported."""


class NotSettings(BindError):
    """A parameter that must be known while compiling is computed at run time."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} must be known while compiling: a literal or a constant")
        self.name = name


@dataclass(frozen=True, slots=True)
class Bound:
    """A call of a row: its operands in order, and its settings where they are said."""

    row: str
    args: list[Any]
    settings: dict[str, Any]


def plain(value: Any) -> Any:
    """The Python data that an operand known while compiling stands for; ``ValueError`` for all others.

    >>> plain((Const(0), Const(None)))
    (0, None)
    """
    if isinstance(value, Const):
        return value.value
    if isinstance(value, tuple | list):
        return tuple(plain(v) for v in value)
    if isinstance(value, bool | int | float | complex | str | type | np.dtype | np.generic | type(None)) or value is Ellipsis:
        return value
    raise ValueError(value)


def parts(value: Any) -> Sequence[Any] | None:
    """The items of an operand that is a tuple or list while compiling; None for all others."""
    if isinstance(value, Const):
        value = value.value
    return value if isinstance(value, tuple | list) else None


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one callable, method or attribute is said as a row."""

    name: str
    signature: inspect.Signature
    target: ast.Call
    attribute: bool = False
    fuller: ast.Call | None = None  #: the row's call when a parameter that ``target`` does not mention is given

    @property
    def row(self) -> str:
        """The row's name."""
        assert isinstance(self.target.func, ast.Name)
        return self.target.func.id

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], unwrap: Callable[[Any], Any] = plain,
             items: Callable[[Any], Sequence[Any] | None] = parts) -> Bound:  # fmt: skip
        """The row's operands and settings for a call with these operands.

        ``unwrap`` gives the Python data of an operand or raises ``ValueError``; ``items`` the items
        of one that is a tuple, or None.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            unknown = [k for k in kwargs if k not in self.signature.parameters]
            said = f"the keyword {unknown[0]} of {self.name} is not supported" if unknown else f"{self.name}(): {error}"
            raise BindError(said) from None
        given = bound.arguments
        known = known_items(unwrap, items)
        chosen = self
        if self.fuller is not None and any(not self._is_default(name, given[name], unwrap) for name in given if name not in self.mentioned):
            chosen = replace(self, target=self.fuller, fuller=None)
        for name, value in given.items():
            if name not in chosen.mentioned and not self._is_default(name, value, unwrap):
                raise BindError(f"the argument {name} of {self.name} is not supported")
        return chosen._checked(Bound(chosen.row, chosen._operands(given, items), chosen._settings(given, known)), given, items)

    @property
    def mentioned(self) -> set[str]:
        """The parameters that the row's call reads."""
        return {node.id for node in ast.walk(self.target) if isinstance(node, ast.Name)}

    def _checked(self, bound: Bound, given: Mapping[str, Any], items: Callable[[Any], Sequence[Any] | None]) -> Bound:
        """The row that the number and form of the operands ask for."""
        if bound.row == "einsum":
            return einsum_bound(bound)
        if bound.row.endswith("_of") and len(bound.args) > 1 and isinstance(bound.args[1], Const) and bound.args[1].value is True:
            return Bound(bound.row, [bound.args[0], Const(None), *bound.args[2:]], bound.settings)
        if bound.row == "log_to_base" and "base" not in given:
            return Bound("log", bound.args[:1], {"via": "math"})
        if bound.row in JOINED and all(items(given[name]) is None for name in given if name in ("arrays",)):
            return Bound(JOINED[bound.row], bound.args, bound.settings)
        return bound

    def _is_default(self, name: str, value: Any, unwrap: Callable[[Any], Any]) -> bool:
        default = self.signature.parameters[name].default
        try:
            data = unwrap(value)
        except ValueError:
            return False
        return default is not UNSAID and (data is default or type(data) is type(default) and data == default)

    def _operands(self, given: Mapping[str, Any], items: Callable[[Any], Sequence[Any] | None]) -> list[Any]:
        made: list[Any] = []
        for node in self.target.args:
            match node:
                case ast.Starred(value=ast.Name(id=name)):
                    made += self._spliced(given.get(name, ()), items)
                case ast.Name(id=name):
                    made.append(given[name] if name in given else Const(self.signature.parameters[name].default))
                case _:
                    made.append(Const(ast.literal_eval(node)))
        return made

    def _spliced(self, value: Any, items: Callable[[Any], Sequence[Any] | None]) -> list[Any]:
        """``(2, 3)``, ``((2, 3),)`` and ``3`` all say a list of operands."""
        inner = value if isinstance(value, tuple) else items(value)
        if inner is None:
            return [value]
        if len(inner) == 1 and isinstance(value, tuple) and (deeper := items(inner[0])) is not None:
            inner = deeper
        return [Const(v) if isinstance(v, bool | int | float | complex) else v for v in inner]

    def _settings(self, given: Mapping[str, Any], unwrap: Callable[[Any], Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for keyword in self.target.keywords:
            assert keyword.arg is not None
            if not isinstance(keyword.value, ast.Name):
                made[keyword.arg] = ast.literal_eval(keyword.value)
            elif keyword.value.id in given:
                try:
                    value = unwrap(given[keyword.value.id])
                except ValueError:
                    raise NotSettings(keyword.value.id) from None
                made[keyword.arg] = self._setting(keyword.arg, value)
            elif (default := self.signature.parameters[keyword.value.id].default) is not UNSAID:
                made[keyword.arg] = self._setting(keyword.arg, default)
        return made

    def _setting(self, name: str, value: Any) -> Any:
        if name == "mode" and self.row == "pad" and value not in PAD_MODES:
            raise BindError(f"the mode {value!r} of {self.name} is not supported")
        if name == "axes" and self.row == "transpose":
            # x.transpose(), x.transpose(None), x.transpose(1, 0), x.transpose((1, 0))
            value = value[0] if isinstance(value, tuple) and len(value) == 1 and not isinstance(value[0], int) else value
            return tuple(value) if value else None
        if name == "dtype" and value is not None:
            try:
                made = named_dtype(value)
            except (TypeError, ValueError):
                raise BindError(f"the dtype {value!r} is not supported") from None
            if self.row in CASTING and made[0] != "f":
                raise BindError(f"the dtype {value!r} of {self.name} is not supported: it is not one of floats")
            return made
        return value.item() if isinstance(value, np.generic) else value


def known_items(unwrap: Callable[[Any], Any], items: Callable[[Any], Sequence[Any] | None]) -> Callable[[Any], Any]:
    """Let ``unwrap`` see into lists and tuples, which become tuples."""

    def known(value: Any) -> Any:
        inner = value if isinstance(value, tuple | list) else items(value)
        if inner is not None:
            return tuple(map(known, inner))
        data = unwrap(value)
        return frozen(data) if isinstance(data, list | tuple) else data

    return known


def frozen(data: Any) -> Any:
    """Lists to tuples, all the way down."""
    return tuple(map(frozen, data)) if isinstance(data, list | tuple) else data


def named_dtype(value: Any) -> str:
    """The name of a dtype however it is written.

    >>> named_dtype(np.float32), named_dtype("f4"), named_dtype(float), named_dtype("f64")
    ('f32', 'f32', 'f64', 'f64')
    """
    from symgrad.ir.types import DTYPES

    if isinstance(value, str) and value in DTYPES and value not in ("i8", "u8"):
        return value
    name = dtype_name(value)
    if name is None:
        raise ValueError(f"the dtype {value!r} has no name")
    return name


#: rows whose setting ``dtype`` is what they compute in
CASTING = {"sum_of", "mean_of", "prod_of", "var_of", "std_of", "cumsum_of", "cumprod_of"}
PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
#: joins of what is one array or list at run time, not several operands
JOINED = {"concatenate": "concatenate_array", "stack": "stack_array"}


def einsum_bound(bound: Bound) -> Bound:
    """The einsum row for the number of operands; what has no row is refused."""
    subscripts, count = bound.settings["subscripts"], len(bound.args)
    if not isinstance(subscripts, str):
        raise BindError("np.einsum is supported with subscripts as a string")
    if "." in subscripts:
        raise BindError("an ellipsis in the subscripts of np.einsum is not supported; name the axes")
    if f"einsum{count}" not in ROWS:
        raise BindError(f"np.einsum of {count} operands is not supported; do it in two steps")
    if subscripts.partition("->")[0].count(",") != count - 1:
        raise BindError("the subscripts of np.einsum do not match the number of operands")
    return Bound(f"einsum{count}", bound.args, bound.settings)


# ------------------------------------------------------------------ making spellings


def call_of(text: str) -> ast.Call:
    """The tree of a row's call."""
    made = ast.parse(text, mode="eval").body
    assert isinstance(made, ast.Call)
    return made


def spelling(name: str, signature: str, target: str, fuller: str | None = None, *, attribute: bool = False) -> Spelling:
    """Make a spelling of its texts; a default ``...`` is one that must be left out."""
    head = f"def f({signature}): pass"
    made = ast.parse(head).body[0]
    assert isinstance(made, ast.FunctionDef)
    scope: dict[str, Any] = {"float": float}
    exec(compile(head, "<signature>", "exec"), scope)
    return Spelling(name, inspect.signature(scope["f"]), call_of(target), attribute, None if fuller is None else call_of(fuller))


#: what every ufunc takes besides its operands
UFUNC = "/, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True"


def ufunc(row: str, via: str | None = None) -> tuple[str, str]:
    """The two texts of a ufunc whose row takes the same operands."""
    params = ", ".join(ROWS[row].params)
    return f"{params}, {UFUNC}", f"{row}({params}{f', via={via!r}' if via else ''})"


def plain_call(row: str, via: str | None = None) -> tuple[str, str]:
    """The two texts of a function of the math module whose row takes the same operands."""
    params = ", ".join(ROWS[row].params)
    return f"{params}, /", f"{row}({params}{f', via={via!r}' if via else ''})"


def load_rows() -> None:
    """Fill the row table."""
    from symgrad.ops import arrays, constants, custom, elementwise, engine, joining, linalg, making, reductions

    assert all((arrays, constants, custom, elementwise, engine, joining, linalg, making, reductions))


load_rows()

#: ufuncs: NumPy's name and, where it differs, the row's
UFUNCS = {
    name: name
    for name in [
        "fabs",
        "square",
        "reciprocal",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "cbrt",
        "hypot",
        "logaddexp",
        "logaddexp2",
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arccos",
        "arctan",
        "arctan2",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "arccosh",
        "arctanh",
        "deg2rad",
        "rad2deg",
        "float_power",
        "fmod",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "copysign",
        "heaviside",
        "sign",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "signbit",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "isnan",
        "isinf",
        "isfinite",
        "gcd",
        "lcm",
        "conjugate",
        "ldexp",
        "spacing",
    ]
} | {"radians": "deg2rad", "degrees": "rad2deg"}
#: ufuncs whose plain text is an operator or a builtin
OPERATORS = {
    name: name
    for name in [
        "add",
        "subtract",
        "multiply",
        "divide",
        "negative",
        "positive",
        "power",
        "mod",
        "floor_divide",
        "greater",
        "greater_equal",
        "less",
        "less_equal",
        "equal",
        "not_equal",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "invert",
        "left_shift",
        "right_shift",
    ]
} | {"absolute": "abs"}
#: functions of the math module and their rows
MATH = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "exp": "exp", "exp2": "exp2",
    "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "cbrt": "cbrt", "hypot": "hypot",
    "pow": "power", "fabs": "fabs", "fmod": "fmod", "copysign": "copysign", "degrees": "rad2deg", "radians": "deg2rad", "erf": "erf",
    "erfc": "erfc", "gamma": "gamma", "lgamma": "lgamma", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "isnan": "isnan",
    "isinf": "isinf", "isfinite": "isfinite", "gcd": "gcd", "lcm": "lcm",
}  # fmt: skip
#: operators of the syntax, in expressions and in ``x += y``
AST_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide", ast.Mod: "mod",
    ast.Pow: "power", ast.MatMult: "matmul", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift", ast.RShift: "right_shift", ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert",
    ast.Not: "not_", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal", ast.Is: "is_", ast.IsNot: "is_not", ast.In: "contains", ast.NotIn: "not_contains",
}  # fmt: skip

_RED = "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True"
_AXES = "axis=axis, keepdims=keepdims"
_OF = f"a, where, initial, {_AXES}"
_EXTREME = "a, axis=None, out=None, keepdims=False, initial=None, where=True"
#: functions of NumPy: signature, call of the row
NUMPY = {
    "sum": (f"a, {_RED}", f"sum(a, {_AXES})", f"sum_of({_OF}, dtype=dtype)"),
    "prod": (f"a, {_RED}", f"prod(a, {_AXES})", f"prod_of({_OF}, dtype=dtype)"),
    "mean": (
        "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True",
        f"mean(a, {_AXES})",
        f"mean_of(a, where, {_AXES}, dtype=dtype)",
    ),
    "var": (
        "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=..., mean=..., correction=...",
        f"var(a, {_AXES}, ddof=ddof)",
        f"var_of(a, {_AXES}, ddof=ddof, dtype=dtype)",
    ),
    "std": (
        "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=..., mean=..., correction=...",
        f"std(a, {_AXES}, ddof=ddof)",
        f"std_of(a, {_AXES}, ddof=ddof, dtype=dtype)",
    ),
    **dict.fromkeys(("max", "amax"), (_EXTREME, f"max(a, {_AXES})", f"max_of({_OF})")),
    **dict.fromkeys(("min", "amin"), (_EXTREME, f"min(a, {_AXES})", f"min_of({_OF})")),
    "nansum": (f"a, {_RED}", f"nansum(a, {_AXES})"),
    "nanmean": ("a, axis=None, dtype=None, out=None, keepdims=False, *, where=...", f"nanmean(a, {_AXES})"),
    "nanmax": ("a, axis=None, out=None, keepdims=False, initial=..., where=...", f"nanmax(a, {_AXES})"),
    "nanmin": ("a, axis=None, out=None, keepdims=False, initial=..., where=...", f"nanmin(a, {_AXES})"),
    "any": ("a, axis=None, out=None, keepdims=False, *, where=...", f"any(a, {_AXES})"),
    "all": ("a, axis=None, out=None, keepdims=False, *, where=...", f"all(a, {_AXES})"),
    "argmax": ("a, axis=None, out=None, *, keepdims=False", f"argmax(a, {_AXES})"),
    "argmin": ("a, axis=None, out=None, *, keepdims=False", f"argmin(a, {_AXES})"),
    "count_nonzero": ("a, axis=None, *, keepdims=False", f"count_nonzero(a, {_AXES})"),
    "cumsum": ("a, axis=None, dtype=None, out=None", "cumsum(a, axis=axis)", "cumsum_of(a, axis=axis, dtype=dtype)"),
    "cumprod": ("a, axis=None, dtype=None, out=None", "cumprod(a, axis=axis)", "cumprod_of(a, axis=axis, dtype=dtype)"),
    "clip": ("a, a_min=None, a_max=None, out=None, *, min=..., max=...", "clip(a, a_min, a_max)"),
    "sinc": ("x", "sinc(x)"),
    "i0": ("x", "i0(x)"),
    "round": ("a, decimals=0, out=None", "round(a, decimals=decimals)"),
    "around": ("a, decimals=0, out=None", "round(a, decimals=decimals)"),
    "real": ("val", "real(val)"),
    "imag": ("val", "imag(val)"),
    "nan_to_num": ("x, copy=True, nan=0.0, posinf=None, neginf=None", "nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)"),
    "median": ("a, axis=None, out=None, overwrite_input=False, keepdims=False", f"median(a, {_AXES})"),
    "isreal": ("x", "isreal(x)"),
    "iscomplex": ("x", "iscomplex(x)"),
    "isrealobj": ("x", "isrealobj(x)"),
    "iscomplexobj": ("x", "iscomplexobj(x)"),
    "astype": ("x, dtype, /, *, copy=True, device=None", "cast(x, dtype=dtype)"),
    "unwrap": ("p, discont=None, axis=-1, *, period=6.283185307179586", "unwrap(p, discont=discont, axis=axis, period=period)"),
    "take": ("a, indices, axis=None, out=None, mode='raise'", "take_items(a, indices, axis=axis)"),
    "compress": ("condition, a, axis=None, out=None", "compress(condition, a, axis=axis)"),
    "choose": ("a, choices, out=None, mode='raise'", "choose(a, *choices)"),
    "delete": ("arr, obj, axis=None", "delete(arr, obj, axis=axis)"),
    "pad": (
        "array, pad_width, mode='constant', *, constant_values=0",
        "pad(array, width=pad_width, mode=mode, constant_values=constant_values)",
    ),
    "unstack": ("x, /, *, axis=0", "unstack(x, axis=axis)"),
    "argwhere": ("a", "argwhere(a)"),
    "isneginf": ("x, out=None", "isneginf(x)"),
    "isposinf": ("x, out=None", "isposinf(x)"),
    "tril_indices_from": ("arr, k=0", "tril_indices_from(arr, k=k)"),
    "triu_indices_from": ("arr, k=0", "triu_indices_from(arr, k=k)"),
    "diag_indices": ("n, ndim=2", "diag_indices(n)"),
    "diag_indices_from": ("arr", "diag_indices_from(arr)"),
    "indices": ("dimensions, dtype=..., sparse=False", "indices(*dimensions)"),
    "lexsort": ("keys, axis=-1", "lexsort(*keys, axis=axis)"),
    "bartlett": ("M", "bartlett(M)"),
    "blackman": ("M", "blackman(M)"),
    "hamming": ("M", "hamming(M)"),
    "hanning": ("M", "hanning(M)"),
    "kaiser": ("M, beta", "kaiser(M, beta)"),
    "fix": ("x, out=None", "fix(x)"),
    "isclose": ("a, b, rtol=1e-05, atol=1e-08, equal_nan=False", "isclose(a, b, rtol=rtol, atol=atol)"),
    "dot": ("a, b, out=None", "dot(a, b)"),
    "matmul": (f"a, b, {UFUNC}", "matmul(a, b)"),
    "outer": ("a, b, out=None", "outer(a, b)"),
    "tensordot": ("a, b, axes=2", "tensordot(a, b, axes=axes)"),
    "reshape": ("a, /, shape, order='C', *, copy=None", "reshape(a, *shape)"),
    "ravel": ("a, order='C'", "ravel(a)"),
    "transpose": ("a, axes=None", "transpose(a, axes=axes)"),
    "permute_dims": ("a, axes=None", "transpose(a, axes=axes)"),
    "matrix_transpose": ("x, /", "mT(x)"),
    "swapaxes": ("a, axis1, axis2", "swapaxes(a, axis1=axis1, axis2=axis2)"),
    "moveaxis": ("a, source, destination", "moveaxis(a, source=source, destination=destination)"),
    "expand_dims": ("a, axis", "expand_dims(a, axis=axis)"),
    "squeeze": ("a, axis=None", "squeeze(a, axis=axis)"),
    "broadcast_to": ("array, shape, subok=False", "broadcast_to(array, *shape)"),
    "flip": ("m, axis=None", "flip(m, axis=axis)"),
    "fliplr": ("m", "flip(m, axis=1)"),
    "flipud": ("m", "flip(m, axis=0)"),
    "roll": ("a, shift, axis=None", "roll(a, shift, axis=axis)"),
    "sort": ("a, axis=-1, kind=None, order=None, *, stable=None", "sort(a, axis=axis)"),
    "argsort": ("a, axis=-1, kind=None, order=None, *, stable=None", "argsort(a, axis=axis)"),
    "take_along_axis": ("arr, indices, axis=-1", "take_along_axis(arr, indices, axis=axis)"),
    "concatenate": ("arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'", "concatenate(*arrays, axis=axis)"),
    "concat": ("arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'", "concatenate(*arrays, axis=axis)"),
    "stack": ("arrays, axis=0, out=None, *, dtype=None, casting='same_kind'", "stack(*arrays, axis=axis)"),
    "split": ("ary, indices_or_sections, axis=0", "split(ary, sections=indices_or_sections, axis=axis)"),
    "array_split": ("ary, indices_or_sections, axis=0", "array_split(ary, sections=indices_or_sections, axis=axis)"),
    "tile": ("A, reps", "tile(A, *reps)"),
    "repeat": ("a, repeats, axis=None", "repeat(a, repeats, axis=axis)"),
    "diag": ("v, k=0", "diag(v, k=k)"),
    "diagonal": ("a, offset=0, axis1=0, axis2=1", "diagonal(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "trace": ("a, offset=0, axis1=0, axis2=1, dtype=None, out=None", "trace(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "triu": ("m, k=0", "triu(m, k=k)"),
    "tril": ("m, k=0", "tril(m, k=k)"),
    "zeros": ("shape, dtype=float, order='C'", "zeros(*shape, dtype=dtype)"),
    "ones": ("shape, dtype=float, order='C'", "ones(*shape, dtype=dtype)"),
    "empty": ("shape, dtype=float, order='C'", "empty(*shape, dtype=dtype)"),
    "full": ("shape, fill_value, dtype=None, order='C'", "full(fill_value, *shape, dtype=dtype)"),
    "zeros_like": ("a, dtype=None, order='K', subok=True, shape=None", "zeros_as(a, dtype=dtype)"),
    "ones_like": ("a, dtype=None, order='K', subok=True, shape=None", "ones_like(a, dtype=dtype)"),
    "empty_like": ("prototype, dtype=None, order='K', subok=True, shape=None", "empty_like(prototype, dtype=dtype)"),
    "full_like": ("a, fill_value, dtype=None, order='K', subok=True, shape=None", "full_like(a, fill_value, dtype=dtype)"),
    "copy": ("a, order='K', subok=False", "array(a)"),
    "eye": ("N, M=None, k=0, dtype=float, order='C'", "eye(N, M, k=k, dtype=dtype)"),
    "identity": ("n, dtype=float", "eye(n, None, dtype=dtype)"),
    "arange": ("*bounds, dtype=None", "arange(*bounds, dtype=dtype)"),
    "linspace": ("start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0", "linspace(start, stop, num, endpoint=endpoint)"),
    "bincount": ("x, /, weights=None, minlength=0", "bincount(x, weights, minlength=minlength)"),
    "searchsorted": ("a, v, side='left', sorter=None", "searchsorted(a, v, side=side)"),
    "digitize": ("x, bins, right=False", "digitize(x, bins, right=right)"),
    "isin": ("element, test_elements, assume_unique=False, invert=False", "isin(element, test_elements)"),
    "unique": ("ar, return_index=False, return_inverse=False, return_counts=False, axis=None", "unique(ar)"),
    "flatnonzero": ("a", "flatnonzero(a)"),
    "argpartition": ("a, kth, axis=-1", "argpartition(a, kth, axis=axis)"),
    "triu_indices": ("n, k=0, m=None", "triu_indices(n, k=k)"),
    "tril_indices": ("n, k=0, m=None", "tril_indices(n, k=k)"),
    "tri": ("N, M=None, k=0, dtype=float", "tri(N, M, k=k, dtype=dtype)"),
    "array_equal": ("a1, a2, equal_nan=False", "array_equal(a1, a2)"),
    "allclose": ("a, b, rtol=1e-05, atol=1e-08, equal_nan=False", "allclose(a, b, rtol=rtol, atol=atol)"),
    "nanargmax": ("a, axis=None, out=None, *, keepdims=False", f"nanargmax(a, {_AXES})"),
    "nanargmin": ("a, axis=None, out=None, *, keepdims=False", f"nanargmin(a, {_AXES})"),
    "size": ("a", "size(a)"),
    "ndim": ("a", "ndim(a)"),
    "shape": ("a", "shape_of(a)"),
}
#: functions of numpy.linalg
LINALG = {
    "inv": ("a", "inv(a)"),
    "solve": ("a, b", "solve(a, b)"),
    "det": ("a", "det(a)"),
    "slogdet": ("a", "slogdet(a)"),
    "cholesky": ("a, /, *, upper=False", "cholesky(a)"),
    "eigh": ("a, UPLO='L'", "eigh(a)"),
    "svd": ("a, full_matrices=True, compute_uv=True, hermitian=False", "svd(a)"),
    "qr": ("a, mode='reduced'", "qr(a)"),
    "eig": ("a", "eig(a)"),
    "pinv": ("a, rcond=None, hermitian=False", "pinv(a)"),
    "matrix_transpose": ("x, /", "mT(x)"),
    "matmul": ("x1, x2, /", "matmul(x1, x2)"),
    "outer": ("x1, x2, /", "outer(x1, x2)"),
    "tensordot": ("x1, x2, /, *, axes=2", "tensordot(x1, x2, axes=axes)"),
    "trace": ("x, /, *, offset=0, dtype=None", "trace(x, offset=offset, axis1=-2, axis2=-1)"),
    "diagonal": ("x, /, *, offset=0", "diagonal(x, offset=offset, axis1=-2, axis2=-1)"),
    "matrix_rank": ("A, tol=None, hermitian=False", "matrix_rank(A)"),
}
#: dtypes called as functions
DTYPE_CALLS = {np.float16: "f16", np.float32: "f32", np.float64: "f64", np.int8: "i8", np.int16: "i16", np.int32: "i32", np.int64: "i64",
               np.uint8: "u8", np.uint16: "u16", np.uint32: "u32", np.uint64: "u64", np.bool_: "bool", np.complex64: "c64",
               np.complex128: "c128"}  # fmt: skip


def _numpy_callables() -> dict[Any, Spelling]:
    made: dict[Any, Spelling] = {}
    for name, row in UFUNCS.items():
        made[getattr(np, name)] = spelling(f"np.{name}", *ufunc(row))
    for name, row in OPERATORS.items():
        made[getattr(np, name)] = spelling(f"np.{name}", *ufunc(row, "numpy"))
    for name, two in NUMPY.items():
        if not hasattr(np, name):
            continue
        made[getattr(np, name)] = spelling(f"np.{name}", *two)
    for name, two in LINALG.items():
        if not hasattr(np.linalg, name):
            continue
        made[getattr(np.linalg, name)] = spelling(f"np.linalg.{name}", *two)
    for dtype, name in DTYPE_CALLS.items():
        made[dtype] = spelling(f"np.{dtype.__name__}", "x, /", f"cast(x, dtype={name!r})")
    made[np.frexp] = spelling("np.frexp", f"x, {UFUNC.replace('out=None', 'out1=None, out2=None')}", "frexp(x)")
    made[np.where] = spelling("np.where", "c, x, y, /", "where(c, x, y, via='numpy')")
    made[np.einsum] = spelling(
        "np.einsum", "subscripts, /, *operands, out=None, optimize=False", "einsum(*operands, subscripts=subscripts)"
    )
    return made


def _other_callables() -> dict[Any, Spelling]:
    made: dict[Any, Spelling] = {}
    for name, row in MATH.items():
        if hasattr(math, name):
            made[getattr(math, name)] = spelling(f"math.{name}", *plain_call(row, "math"))
    made[refuse] = spelling("refuse", "what", "refuse(what=what)")
    made[may_share] = spelling("may_share", "x, y", "may_share(x, y)")
    made[math.fsum] = spelling("math.fsum", "seq, /", "fsum(seq)")
    made[math.log] = spelling("math.log", "x, base=None, /", "log_to_base(x, base)")
    return made | {getattr(builtins, name): spelling(name, *two) for name, two in BUILTINS.items()}


#: builtins: signature, call of the row
BUILTINS = {
    "abs": ("x, /", "abs(x)"),
    "max": ("x, y, /", "maximum(x, y, via='math')"),
    "min": ("x, y, /", "minimum(x, y, via='math')"),
    "pow": ("x, y", "power(x, y)"),
    "float": ("x, /", "number(x, kind='float')"),
    "int": ("x, /", "number(x, kind='int')"),
    "bool": ("x, /", "number(x, kind='bool')"),
    "complex": ("x, /", "number(x, kind='complex')"),
}

#: methods of arrays; the first parameter is the array
METHODS = {
    name: NUMPY[name] for name in ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "cumprod")
} | {
    "clip": ("a, min=None, max=None, out=None", "clip(a, min, max)"),
    "dot": ("a, b, out=None", "dot(a, b)"),
    "copy": ("a, order='C'", "copy(a)"),
    "item": ("a, *args", "item(a, *args)"),
    "take": ("a, indices, axis=None, out=None, mode='raise'", "take_items(a, indices, axis=axis)"),
    "compress": ("a, condition, axis=None, out=None", "compress(condition, a, axis=axis)"),
    "choose": ("a, choices, out=None, mode='raise'", "choose(a, *choices)"),
    "round": ("a, decimals=0, out=None", "round(a, decimals=decimals)"),
    "conj": ("a", "conjugate(a)"),
    "conjugate": ("a", "conjugate(a)"),
    "argpartition": ("a, kth, axis=-1", "argpartition(a, kth, axis=axis)"),
    "astype": ("a, dtype, order='K', casting='unsafe', subok=True, copy=True", "cast(a, dtype=dtype)"),
    "reshape": ("a, *shape, order='C', copy=None", "reshape(a, *shape)"),
    "ravel": ("a, order='C'", "ravel(a)"),
    "flatten": ("a, order='C'", "flatten(a)"),
    "transpose": ("a, *axes", "transpose(a, axes=axes)"),
    "swapaxes": ("a, axis1, axis2", "swapaxes(a, axis1=axis1, axis2=axis2)"),
    "squeeze": ("a, axis=None", "squeeze(a, axis=axis)"),
    "repeat": ("a, repeats, axis=None", "repeat(a, repeats, axis=axis)"),
    "diagonal": ("a, offset=0, axis1=0, axis2=1", "diagonal(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "trace": ("a, offset=0, axis1=0, axis2=1, dtype=None, out=None", "trace(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "argsort": ("a, axis=-1, kind=None, order=None, *, stable=None", "argsort(a, axis=axis)"),
    "searchsorted": ("a, v, side='left', sorter=None", "searchsorted(a, v, side=side)"),
}
#: attributes of arrays
ATTRIBUTES = {
    "shape": "shape_of(a)", "T": "transpose(a)", "mT": "mT(a)", "size": "size(a)", "ndim": "ndim(a)", "real": "real(a)", "imag": "imag(a)",
}  # fmt: skip

CALLABLES: dict[Any, Spelling] = {**_numpy_callables(), **_other_callables()}
OF_ARRAYS = {name: spelling(f"ndarray.{name}", *two) for name, two in METHODS.items()}
OF_ARRAYS |= {name: spelling(f"ndarray.{name}", "a", target, attribute=True) for name, target in ATTRIBUTES.items()}


def spelled(function: Any) -> Spelling | None:
    """How a callable is said as a row; None if it has none.

    >>> spelled(np.sum).bind([Const(1.0)], {"axis": Const(0)})
    Bound(row='sum', args=[Const(1.0)], settings={'axis': 0, 'keepdims': False})
    """
    try:
        return CALLABLES.get(function)
    except TypeError:
        return None


@dataclass(frozen=True, slots=True)
class Custom:
    """A function whose derivative is two others: ``forward(*args) -> out, residuals``, ``backward(residuals, out_grad) -> gradients``."""

    function: Callable[..., Any]
    forward: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None


#: what users declared, which comes before all else; entered by ``symgrad.rules``
DECLARED: dict[Any, Spelling | Custom] = {}


def declared(function: Any) -> Spelling | Custom | None:
    """What the user has declared of a callable."""
    try:
        return DECLARED.get(function)
    except TypeError:
        return None


def method(name: str) -> Spelling | None:
    """How a method or attribute of an array is said as a row, its first operand being the array."""
    return OF_ARRAYS.get(name)


def operator(syntax: type[ast.AST]) -> str | None:
    """The row of an operator of the syntax.

    >>> operator(ast.MatMult), operator(ast.USub), operator(ast.In)
    ('matmul', 'negative', 'contains')
    """
    return AST_OPERATORS.get(syntax)


def nearest(name: str) -> list[str]:
    """Names that are spelt much like ``name`` and are supported, for error messages.

    >>> nearest("np.arctan_2")[0]
    'np.arctan2'
    """
    known = {s.name for s in (*CALLABLES.values(), *OF_ARRAYS.values())}
    return difflib.get_close_matches(name, sorted(known), 3)


__all__ = [
    "DECLARED",
    "BindError",
    "Bound",
    "Custom",
    "NotSettings",
    "Operand",
    "Spelling",
    "declared",
    "method",
    "named_dtype",
    "nearest",
    "operator",
    "parse_signature",
    "spelled",
]
