"""Maps Python callables to rows: ``np.sum(x, axis=0)`` is ``sum(x, axis=0)``, ``x.T`` is ``transpose(x)``, ``+`` is ``add``.

Each spelling is two texts: the callable's own signature, and the row's call in terms of it. A parameter
that the row's call does not mention must be left at its default. The tables are in ``signatures``.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from symgrad.ir.core import Const, Operand
from symgrad.ops.composed import distributions, filters, products, solving, special
from symgrad.ops.composed.refusing import refuse
from symgrad.ops.composed.shapes import may_share
from symgrad.ops.declare import ROWS, parse_signature
from symgrad.ops.shapes import dtype_name
from symgrad.ops.signatures import (
    AST_OPERATORS,
    ATTRIBUTES,
    BUILTINS,
    DTYPE_CALLS,
    LINALG,
    MATH,
    METHODS,
    NUMPY,
    OPERATORS,
    QUADRATURE,
    SCIPY_SPECIAL,
    UFUNC,
    UFUNCS,
)

#: a default that no value equals: the parameter may be left out and is refused otherwise
UNSAID: Any = inspect.Parameter.empty


class BindError(TypeError):
    """The call does not match the row; the message names the unsupported part, ``hint`` the way out."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


class NotSettings(BindError):
    """A parameter that must be known at compile time is computed at run time."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} must be known at compile time: a literal or a constant", "write it as a literal")
        self.name = name


@dataclass(frozen=True, slots=True)
class Bound:
    """A call of a row: its operands in order, and its explicit settings."""

    row: str
    args: list[Any]
    settings: dict[str, Any]


def plain(value: Any) -> Any:
    """Return the Python value of a static operand; raise ValueError for others.

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


@cache
def signature_of(parameters: str) -> inspect.Signature:
    """The parameters of a function as written; a default ``...`` is one that must be left out."""
    definition = ast.parse(f"def f({parameters}): pass").body[0]
    assert isinstance(definition, ast.FunctionDef)
    arguments, kind, empty = definition.args, inspect.Parameter, inspect.Parameter.empty
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [empty] * (len(plain) - len(arguments.defaults)) + [default_of(node) for node in arguments.defaults]
    kinds = [kind.POSITIONAL_ONLY] * len(arguments.posonlyargs) + [kind.POSITIONAL_OR_KEYWORD] * len(arguments.args)
    converted = [kind(p.arg, k, default=d) for p, k, d in zip(plain, kinds, defaults, strict=True)]
    converted += [kind(arguments.vararg.arg, kind.VAR_POSITIONAL)] if arguments.vararg else []
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    converted += [kind(p.arg, kind.KEYWORD_ONLY, default=empty if node is None else default_of(node)) for p, node in named]
    converted += [kind(arguments.kwarg.arg, kind.VAR_KEYWORD)] if arguments.kwarg else []
    return inspect.Signature(converted)


def default_of(node: ast.expr) -> Any:
    """The default that is written: a literal, or ``float``; nothing is evaluated."""
    return float if isinstance(node, ast.Name) and node.id == "float" else ast.literal_eval(node)


@cache
def call_of(text: str) -> ast.Call:
    """The tree of a row's call."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return call


@cache
def names_in(text: str) -> frozenset[str]:
    """The names in the text of a call."""
    return frozenset(node.id for node in ast.walk(call_of(text)) if isinstance(node, ast.Name))


@dataclass(frozen=True, slots=True)
class Spelling:
    """The spelling of a row by one callable, method or attribute: texts, which are parsed on first use."""

    name: str
    parameters: str
    call: str
    fuller: str | None = None  #: the row's call if a parameter that ``call`` does not mention is passed
    attribute: bool = field(default=False, kw_only=True)

    @property
    def signature(self) -> inspect.Signature:
        """The parsed signature."""
        return signature_of(self.parameters)

    @property
    def target(self) -> ast.Call:
        """The row's call."""
        return call_of(self.call)

    @property
    def row(self) -> str:
        """The row's name."""
        return self.call.partition("(")[0]

    def bind(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        unwrap: Callable[[Any], Any] = plain,
        items: Callable[[Any], Sequence[Any] | None] = parts,
    ) -> Bound:
        """Bind a call to the row's operands and settings.

        ``unwrap`` returns the Python data of an operand or raises ``ValueError``; ``items`` returns the items of one
        that is a tuple, or None.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            unknown = [k for k in kwargs if k not in self.signature.parameters]
            said = f"the keyword {unknown[0]} of {self.name} is not supported" if unknown else f"{self.name}(): {error}"
            hint = "leave it out" if unknown else f"call it as {self.name}({', '.join(self.signature.parameters)})"
            raise BindError(said, hint) from None
        named = bound.arguments
        known = known_items(unwrap, items)
        chosen = self
        if self.fuller is not None and any(not self._is_default(name, named[name], unwrap) for name in named if name not in self.mentioned):
            chosen = replace(self, call=self.fuller, fuller=None)
        for name, value in named.items():
            if name not in chosen.mentioned and not self._is_default(name, value, unwrap):
                raise BindError(f"the argument {name} of {self.name} is not supported", "leave it out")
        return chosen._checked(Bound(chosen.row, chosen._operands(named, items), chosen._settings(named, known)), named, items)

    @property
    def mentioned(self) -> frozenset[str]:
        """The parameters that the row's call reads."""
        return names_in(self.call)

    def _checked(self, bound: Bound, named: Mapping[str, Any], items: Callable[[Any], Sequence[Any] | None]) -> Bound:
        """The bound call with the row that fits the number and form of the operands."""
        if bound.row == "einsum":
            return einsum_bound(bound)
        if bound.row.endswith("_of") and len(bound.args) > 1 and isinstance(bound.args[1], Const) and bound.args[1].value is True:
            return Bound(bound.row, [bound.args[0], Const(None), *bound.args[2:]], bound.settings)
        if bound.row == "log_to_base" and "base" not in named:
            return Bound("log", bound.args[:1], {"via": "math"})
        if bound.row in JOINED and all(items(named[name]) is None for name in named if name in ("arrays",)):
            return Bound(JOINED[bound.row], bound.args, bound.settings)
        return bound

    def _is_default(self, name: str, value: Any, unwrap: Callable[[Any], Any]) -> bool:
        default = self.signature.parameters[name].default
        try:
            data = unwrap(value)
        except ValueError:
            return False
        return default is not UNSAID and (data is default or type(data) is type(default) and data == default)

    def _operands(self, named: Mapping[str, Any], items: Callable[[Any], Sequence[Any] | None]) -> list[Any]:
        operands: list[Any] = []
        for node in self.target.args:
            match node:
                case ast.Starred(value=ast.Name(id=name)):
                    operands += self._spliced(named.get(name, ()), items)
                case ast.Name(id=name):
                    operands.append(named[name] if name in named else Const(self.signature.parameters[name].default))
                case _:
                    operands.append(Const(ast.literal_eval(node)))
        return operands

    def _spliced(self, value: Any, items: Callable[[Any], Sequence[Any] | None]) -> list[Any]:
        """``(2, 3)``, ``((2, 3),)`` and ``3`` all say a list of operands."""
        inner = value if isinstance(value, tuple) else items(value)
        if inner is None:
            return [value]
        if len(inner) == 1 and isinstance(value, tuple) and (deeper := items(inner[0])) is not None:
            inner = deeper
        return [Const(v) if isinstance(v, bool | int | float | complex) else v for v in inner]

    def _settings(self, named: Mapping[str, Any], unwrap: Callable[[Any], Any]) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for keyword in self.target.keywords:
            assert keyword.arg is not None
            if not isinstance(keyword.value, ast.Name):
                settings[keyword.arg] = ast.literal_eval(keyword.value)
            elif keyword.value.id in named:
                try:
                    value = unwrap(named[keyword.value.id])
                except ValueError:
                    raise NotSettings(keyword.value.id) from None
                settings[keyword.arg] = self._setting(keyword.arg, value)
            elif (default := self.signature.parameters[keyword.value.id].default) is not UNSAID:
                settings[keyword.arg] = self._setting(keyword.arg, default)
        return settings

    def _setting(self, name: str, value: Any) -> Any:
        if name == "mode" and self.row == "pad" and value not in PAD_MODES:
            raise BindError(f"the mode {value!r} of {self.name} is not supported")
        if name == "axes" and self.row == "transpose":
            # x.transpose(), x.transpose(None), x.transpose(1, 0), x.transpose((1, 0))
            value = value[0] if isinstance(value, tuple) and len(value) == 1 and not isinstance(value[0], int) else value
            return tuple(value) if value else None
        if name == "dtype" and value is not None:
            try:
                dtype = named_dtype(value)
            except (TypeError, ValueError):
                raise BindError(f"the dtype {value!r} is not supported", instead_of_dtype(value)) from None
            if self.row in CASTING and dtype[0] != "f":
                said = f"the dtype {value!r} of {self.name} is not supported: it is not one of floats"
                raise BindError(said, "use dtype=float, or leave it out")
            return dtype
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

    if isinstance(value, str) and value in DTYPES and value not in ("i8", "u8", "f16"):  # which NumPy takes for other widths
        return value
    name = None if isinstance(value, tuple | list) else dtype_name(value)  # of fields
    if name is None:
        raise ValueError(f"the dtype {value!r} has no name")
    return name


def instead_of_dtype(value: Any) -> str:
    """The way out of a dtype that the IR has no name for."""
    return "use an array of numbers, one for each field" if isinstance(value, tuple | list) else "use dtype=float"


#: rows whose setting ``dtype`` is the dtype of the computation
CASTING = {"sum_of", "mean_of", "prod_of", "var_of", "std_of", "cumsum_of", "cumprod_of"}
PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
#: joins of one array or list at run time instead of several operands
JOINED = {"concatenate": "concatenate_array", "stack": "stack_array"}


def einsum_bound(bound: Bound) -> Bound:
    """Return the einsum row for the number of operands, or raise."""
    subscripts, count = bound.settings["subscripts"], len(bound.args)
    if not isinstance(subscripts, str):
        raise BindError("np.einsum is supported with subscripts as a string", "write the subscripts as a string, as in 'ij,jk->ik'")
    if "." in subscripts:
        raise BindError("an ellipsis in the subscripts of np.einsum is not supported; name the axes")
    if f"einsum{count}" not in ROWS:
        raise BindError(f"np.einsum of {count} operands is not supported; do it in two steps")
    if subscripts.partition("->")[0].count(",") != count - 1:
        raise BindError("the subscripts of np.einsum do not match the number of operands")
    return Bound(f"einsum{count}", bound.args, bound.settings)


# ------------------------------------------------------------------ making spellings


def ufunc(row: str, via: str | None = None) -> tuple[str, str]:
    """The two texts of a ufunc whose row takes the same operands."""
    params = ", ".join(ROWS[row].params)
    return f"{params}, {UFUNC}", f"{row}({params}{f', via={via!r}' if via else ''})"


def plain_call(row: str, via: str | None = None) -> tuple[str, str]:
    """The two texts of a function of the math module whose row takes the same operands."""
    params = ", ".join(ROWS[row].params)
    return f"{params}, /", f"{row}({params}{f', via={via!r}' if via else ''})"


#: the modules of the table of rows
MODULES = """
    arrays bessel constants convolutions creation custom diagonals einsum elementwise engine engine_lists engine_opaque exceptions filters
    fourier hypergeometric implicit interpolants joining linalg reductions special
"""


def load_rows() -> None:
    """Fill the row table."""
    for module in MODULES.split():
        import_module(f"symgrad.ops.rows.{module}")


load_rows()


def _numpy_callables() -> dict[Any, Spelling]:
    spellings: dict[Any, Spelling] = {}
    for name, row in UFUNCS.items():
        spellings[getattr(np, name)] = Spelling(f"np.{name}", *ufunc(row))
    for name, row in OPERATORS.items():
        spellings[getattr(np, name)] = Spelling(f"np.{name}", *ufunc(row, "numpy"))
    for name, two in NUMPY.items():
        if not hasattr(np, name):
            continue
        spellings[getattr(np, name)] = Spelling(f"np.{name}", *two)
    for name, two in LINALG.items():
        if not hasattr(np.linalg, name):
            continue
        spellings[getattr(np.linalg, name)] = Spelling(f"np.linalg.{name}", *two)
    for dtype, name in DTYPE_CALLS.items():
        spellings[dtype] = Spelling(f"np.{dtype.__name__}", "x, /", f"cast(x, dtype={name!r})")
    spellings[np.frexp] = Spelling("np.frexp", f"x, {UFUNC.replace('out=None', 'out1=None, out2=None')}", "frexp(x)")
    spellings[np.where] = Spelling("np.where", "c, x, y, /", "where(c, x, y, via='numpy')")
    spellings[np.einsum] = Spelling(
        "np.einsum", "subscripts, /, *operands, out=None, optimize=False", "einsum(*operands, subscripts=subscripts)"
    )
    return spellings


def _other_callables() -> dict[Any, Spelling]:
    spellings: dict[Any, Spelling] = {}
    for name, row in MATH.items():
        if hasattr(math, name):
            spellings[getattr(math, name)] = Spelling(f"math.{name}", *plain_call(row, "math"))
    spellings[refuse] = Spelling("refuse", "what", "refuse(what=what)")
    spellings[may_share] = Spelling("may_share", "x, y", "may_share(x, y)")
    for table in (special.ROWS_OF, products.ROWS_OF, solving.ROWS_OF, distributions.ROWS_OF, filters.ROWS_OF):
        spellings |= {function: Spelling(function.__name__, *two) for function, two in table.items()}
    spellings[math.fsum] = Spelling("math.fsum", "seq, /", "fsum(seq)")
    spellings[math.log] = Spelling("math.log", "x, base=None, /", "log_to_base(x, base)")
    return spellings | {getattr(builtins, name): Spelling(name, *two) for name, two in BUILTINS.items()}


CALLABLES: dict[Any, Spelling] = {**_numpy_callables(), **_other_callables()}
OF_ARRAYS = {name: Spelling(f"ndarray.{name}", *two) for name, two in METHODS.items()}
OF_ARRAYS |= {name: Spelling(f"ndarray.{name}", "a", target, attribute=True) for name, target in ATTRIBUTES.items()}


def spelled(function: Any) -> Spelling | None:
    """Return the spelling of a callable, or None.

    >>> spelled(np.sum).bind([Const(1.0)], {"axis": Const(0)})
    Bound(row='sum', args=[Const(1.0)], settings={'axis': 0, 'keepdims': False})
    """
    try:
        return CALLABLES.get(function) or of_library(function)
    except TypeError:
        return None


def of_library(function: Any) -> Spelling | None:
    """Return the spelling of a library function by module and name: of SciPy, and some of NumPy."""
    name = getattr(function, "__name__", None)
    if name in QUADRATURE and getattr(sys.modules.get(f"numpy.polynomial.{QUADRATURE[name]}"), name, None) is function:
        return Spelling(f"np.polynomial.{QUADRATURE[name]}.{name}", "deg", f"{name}(deg)")
    if name in SCIPY_SPECIAL and getattr(sys.modules.get("scipy.special"), name, None) is function:
        return spelled_in_scipy(name)
    return None


@cache
def spelled_in_scipy(name: str) -> Spelling:
    """The spelling of a function of ``scipy.special``."""
    params, target = SCIPY_SPECIAL[name]
    return Spelling(f"scipy.special.{name}", f"{params}, {UFUNC}", target)


def method(name: str) -> Spelling | None:
    """Return the spelling of a method or attribute of an array, which is the first operand."""
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


__all__ = ["BindError", "Bound", "NotSettings", "Operand", "Spelling", "method", "named_dtype", "nearest", "operator", "parse_signature"]
__all__ += ["spelled"]
