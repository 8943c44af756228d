"""``elementwise``, ``rule`` and ``constant``: declare a row for a user's callable from the texts of its derivatives.

The texts have the language of ``ops``: names of parameters, ``out``, ``out_grad``, and functions that have rows. Everything else is
rejected, so no text can become code. The user's rows form a table of their own; each declaration invalidates compiled derivatives.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np

from symgrad.abstraction import parse_type
from symgrad.dispatch.table import forget_all
from symgrad.errors import BadArgument
from symgrad.frontend.text.source import from_source
from symgrad.ir.types import UNKNOWN, Type
from symgrad.ops import declarations, spelling
from symgrad.ops.declare import ROWS, USER_ROWS, Alias, Law, Row, parse_signature
from symgrad.ops.derive import SYMPY_NAMES, derive
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.elementwise import evaluator
from symgrad.ops.shapes import elementwise_law
from symgrad.runtime.find import find
from symgrad.text import has_literal, is_name
from symgrad.tracebacks import boundary

#: names with a meaning of their own in the texts of rows
TAKEN = frozenset({"out", "out_grad", "into", "taken", "position", "function", "type", "via", "np", "math", "fit", "part"})
PREFIX = "user_"
F = TypeVar("F", bound=Callable[..., Any])
NODES = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Constant, ast.Compare),
    *(ast.keyword, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
#: names of constants in formulas
NUMBERS = {"pi": math.pi}


# ------------------------------------------------------------------ declarations


@dataclass(frozen=True, slots=True)
class Head:
    """``name(x, y, *, k=1) = formula``: the name, the parameters, the keywords that are plain data, the formula."""

    name: str
    params: tuple[str, ...]
    settings: dict[str, Any]
    formula: str | None = None

    @property
    def words(self) -> str:
        """The text of the arguments in a call of the function."""
        return ", ".join([*self.params, *(f"{s}={s}" for s in self.settings)])


def head_of(text: str) -> Head:
    """Read a declaration's first text, and check its names."""
    try:
        name, params, settings, outs, formula = parse_signature(text)
    except (ValueError, SyntaxError) as error:
        raise BadArgument(f"not a declaration: {error}", hint="write 'f(x, y, *, k=1)' or 'f(x) = exp(x) / 2'") from None
    bad = [p for p in (*params, *settings) if p in TAKEN or p.startswith("*") or p.endswith("_grad")]
    if bad or outs != ("out",) or not params:
        what = f"the parameter {bad[0]}" if bad else "no parameter" if not params else "several results"
        raise BadArgument(f"{name} is declared with {what}", hint=f"names that mean something else: {', '.join(sorted(TAKEN))}")
    return Head(name, params, settings, formula)


def head_for(function: Callable[..., Any], text: str | None) -> Head:
    """The head of a declaration of a function, by default from its own parameters; the two must go together."""
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="declare the function itself, and its parameters as a text: 'f(x)'")
    try:
        own = inspect.signature(function)
    except (TypeError, ValueError):
        own = None
    if text is None:
        if own is None:
            raise BadArgument(f"the parameters of {function!r} are not known", hint="give them as a text: 'f(x, y)'")
        unwritten = [p.name for p in own.parameters.values() if p.default is not p.empty and not has_literal(p.default)]
        if unwritten:
            what = f"the default of {unwritten[0]} has no literal"
            raise BadArgument(what, hint="give the parameters as a text: 'f(x, y, *, k=1)'")
        name = re.sub(r"\W", "_", str(getattr(function, "__name__", "f")))
        text = f"{name if is_name(name) else 'f'}{without_annotations(own)}"
    head = head_of(text)
    if own is not None:
        try:
            own.bind(*head.params, **head.settings)
        except TypeError as error:
            raise BadArgument(f"{text.strip()} is not how {head.name} is called: {error}") from None
    return head


def without_annotations(signature: inspect.Signature) -> inspect.Signature:
    """The names and defaults of a signature."""
    return inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()])


# ------------------------------------------------------------------ texts


def checked(text: Any, names: Iterable[str], what: str) -> str:
    """Return the text of a derivative or formula, validated: known names, functions with rows, operators and numbers only."""
    if not isinstance(text, str):
        raise BadArgument(f"{what} is {text!r}", hint="a derivative is a text, or None for zero")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        raise BadArgument(f"{what} is not an expression: {text!r}") from None
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    known = set(names)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if id(node) in functions:
                if name not in ROWS or name.startswith(PREFIX):
                    raise BadArgument(f"{what}: there is no function {name} to use in a derivative", hint=nearest(name))
                if name in ROWS and (ROWS[name].consumes or ROWS[name].statement or ROWS[name].effect):
                    raise BadArgument(f"{what}: {name} cannot be used in a derivative")
            case ast.Name(id=name):
                if name not in known:
                    raise BadArgument(f"{what}: {name} is not a name of the function", hint=f"names are {', '.join(sorted(known))}")
            case ast.Call(func=called, args=args) if not isinstance(called, ast.Name) or any(isinstance(a, ast.Starred) for a in args):
                raise BadArgument(f"{what}: {ast.unparse(node)} is not a call of a function by name")
            case ast.Call(func=ast.Name(id=name)) if name in ROWS:
                check_call(node, ROWS[name], what)
            case ast.Constant(value=value):
                if not isinstance(value, bool | int | float | str | None):
                    raise BadArgument(f"{what}: {value!r} is not a number")
            case ast.BinOp(op=ast.LShift() | ast.RShift()) | ast.Compare(ops=[_, _, *_]) | ast.UnaryOp(op=ast.UAdd()):
                raise BadArgument(f"{what}: {ast.unparse(node)} cannot be used in a derivative")
            case _ if not isinstance(node, NODES):
                raise BadArgument(f"{what}: {ast.unparse(node)} cannot be used in a derivative")
    return ast.unparse(tree)


def check_call(node: ast.Call, row: Row, what: str) -> None:
    """Raise BadArgument if a call lacks an operand of the row or passes an argument that the row does not accept."""
    named = [keyword.arg for keyword in node.keywords]
    operands = [p for p in row.params if not p.startswith("*")]
    count = len(node.args) + sum(name in row.params for name in named)
    most = len(row.params) + len(row.settings) if len(operands) == len(row.params) else len(node.args)
    if count < len(operands) or len(node.args) > most or any(name not in (*row.params, *row.settings) for name in named):
        takes = ", ".join([*row.params, *(f"{s}={d!r}" for s, d in row.settings.items())])
        raise BadArgument(f"{what}: {ast.unparse(node)} does not fit {row.name}", hint=f"it is {row.name}({takes})")


def nearest(name: str) -> str | None:
    """Return a hint for an unknown function."""
    near = spelling.nearest(name)
    return f"near it: {', '.join(near)}" if near else None


class _Spelled(ast.NodeTransformer):
    """A formula over rows -> the expression that computes it with NumPy."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        assert isinstance(node.func, ast.Name)
        row = ROWS[node.func.id]
        args = [self.visit(a) for a in node.args]
        if len(args) != len(row.params) or not row.elementwise or node.keywords:
            raise BadArgument(
                f"{ast.unparse(node)}: a formula takes functions that work element by element",
                hint="it may use arithmetic, and functions such as exp, tanh and maximum, with all their operands and nothing else",
            )
        settings = {**row.settings, "via": "numpy"} if "via" in row.settings else row.settings
        text = row.emit if isinstance(row.emit, str) else row.emit(settings, [UNKNOWN] * len(args))
        return filled(ast.parse(text, mode="eval").body, dict(zip(row.params, args, strict=True)))


@dataclass
class _Filled(ast.NodeTransformer):
    space: dict[str, ast.AST]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.space.get(node.id, node)


def filled(tree: ast.AST, space: dict[str, Any]) -> ast.AST:
    """An expression with names replaced by expressions."""
    expression: ast.AST = _Filled(space).visit(tree)
    return expression


def numpy_text(formula: str) -> str:
    """The expression that computes a formula.

    >>> numpy_text("log(1 + exp(x))")
    'np.log(1 + np.exp(x))'
    """
    return ast.unparse(_Spelled().visit(ast.parse(formula, mode="eval")))


#: the functions of formulas that sympy has, under the same names or under those of ``derive.SYMPY_NAMES``
KNOWN = frozenset({"exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "erfc", "gamma", "sign", *SYMPY_NAMES})


class _Derivable(ast.NodeTransformer):
    """A formula -> one in functions that sympy knows: the others are replaced by their own formulas."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        assert isinstance(node.func, ast.Name)
        row, args = ROWS[node.func.id], [self.visit(a) for a in node.args]
        if node.func.id in KNOWN:
            return ast.Call(node.func, args, [])
        if row.formula is None or len(args) != len(row.params):
            raise BadArgument(
                f"the derivative of {node.func.id} is not found in a formula",
                hint="give the partial derivative by each parameter as a text",
            )
        return filled(self.visit(ast.parse(row.formula, mode="eval").body), dict(zip(row.params, args, strict=True)))


def derived(head: Head, formula: str) -> dict[str, str]:
    """Return the partial derivatives of a formula, validated: sympy may use functions without rows."""
    text = ast.unparse(_Derivable().visit(ast.parse(formula, mode="eval")))
    what = f"the derivative of {head.name} that sympy finds (give it by hand)"
    return {p: checked(t, (*head.params, "out"), what) for p, t in derive(head.params, text).items()}


def formula_of(head: Head) -> str:
    """The formula, checked, with named constants as numbers."""
    assert head.formula is not None
    numbers: dict[str, ast.AST] = {name: ast.Constant(value) for name, value in NUMBERS.items() if name not in head.params}
    text = checked(head.formula, {*head.params, *numbers}, f"the formula of {head.name}")
    return ast.unparse(filled(ast.parse(text, mode="eval"), numbers))


# ------------------------------------------------------------------ the user's table


def row_name(function: Any, name: str) -> str:
    """Return the name of the row of a function: the existing one, or a new one."""
    held = declarations.DECLARED.get(function)
    if isinstance(held, spelling.Spelling):
        return held.row
    candidate, number = f"{PREFIX}{name}", 1
    while candidate in USER_ROWS:
        number += 1
        candidate = f"{PREFIX}{name}_{number}"
    return candidate


def register(
    function: Callable[..., Any],
    head: Head,
    law: Law,
    *,
    emit: str | None = None,
    alias: Alias = "depends",
    elementwise: bool = False,
    partials: dict[str, str] | None = None,
    pullbacks: dict[str, str | None] | None = None,
) -> None:
    """Register the row with the frontend."""
    try:
        name = row_name(function, head.name)
    except TypeError:
        raise BadArgument(f"{function!r} cannot be declared: it has no hash") from None
    # ``type`` is the type of the result that the frontend infers, where it can read the function
    own = {} if emit is not None else {"function": function, "type": None}
    row = Row(
        name,
        head.params,
        law,
        {**head.settings, **own},
        elementwise=elementwise,
        formula=head.formula,
        partials=partials or {},
        pullbacks=pullbacks or {},
        alias=alias,
        emit=emit or f"function({head.words})",
    )
    parameters = ", ".join([*head.params, *(f"{s}={d!r}" for s, d in head.settings.items())])
    USER_ROWS[name] = row
    said = spelling.Spelling(getattr(function, "__name__", head.name), parameters, f"{name}({head.words})")
    said.signature.bind_partial()  # a default that has no text is refused here, not at the first call
    declarations.DECLARED[function] = said
    forget_all()


def remember(function: Any, declare: Callable[..., Any], *arguments: Any) -> None:
    """Record the declaration, for processes to which a derivative is sent."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("symgrad."):
        frame = frame.f_back
    module = "" if frame is None else str(frame.f_globals.get("__name__", ""))
    declarations.DECLARATIONS[function] = declarations.Declaration(declare, arguments, module)


def law_of(result: str | Law | None, params: tuple[str, ...]) -> Law:
    """Return the type of the result: that of a parameter, a literal type, or unknown."""
    if callable(result):
        return result
    if result is None:
        return lambda types, settings, dim: settings["type"] or UNKNOWN
    if result in params:
        position = params.index(result)
        return lambda types, settings, dim: types[position]
    known: Type = parse_type(result, "k")
    return lambda types, settings, dim: known


def validated_texts(head: Head, texts: dict[str, Any], prefix: str, suffix: str, names: tuple[str, ...]) -> dict[str, str | None]:
    """Return the validated text for each parameter; the key ``dx`` or ``x_grad`` becomes ``x``."""
    keys = {f"{prefix}{p}{suffix}": p for p in head.params}
    unknown = [key for key in texts if key not in keys]
    if unknown:
        raise BadArgument(f"{head.name} has no parameter for {unknown[0]}", hint=f"it takes {', '.join(keys)}")
    known = (*head.params, *head.settings, *names)
    return {keys[key]: None if text is None else checked(text, known, f"{key} of {head.name}") for key, text in texts.items()}


# ------------------------------------------------------------------ the public functions


class Formula:
    """A function defined by a formula. Called with a function, a decorator that declares it by the formula."""

    symgrad_transparent = True

    def __init__(self, declared: str, head: Head, text: str, partials: dict[str, Any]) -> None:
        self._declared = declared
        self.__name__, self.__qualname__ = head.name, head.name
        self.__doc__ = f"{head.name}({', '.join(head.params)}) = {head.formula}"
        self._head, self._partials = head, partials
        names = sorted({n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)} - {*head.params, "np", "math", *dir(builtins)})
        source = f"def {head.name}({', '.join(head.params)}):\n    return {text}\n"
        self.__wrapped__ = from_source(source, head.name, {"np": np, "math": math, **{n: find(n) for n in names}})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):
            return declare_elementwise(args[0], self._head, self._partials)
        return self.__wrapped__(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return elementwise_again, (self._declared, self._partials)

    def __repr__(self) -> str:
        return f"<{self.__doc__}>"


def elementwise_again(declared: str, partials: dict[str, Any]) -> Any:
    """Rebuild the function of a formula in another process."""
    return elementwise(declared, **partials)


def declare_elementwise(function: Any, head: Head, partials: dict[str, Any], emit: str | None = None) -> Any:
    """Register an elementwise function."""
    texts = validated_texts(head, partials, "d", "", ("out",))
    left = [p for p in head.params if p not in texts]
    if left and head.formula is None:
        raise BadArgument(f"a partial derivative of {head.name} is missing", hint=f"give {', '.join(f'd{p}=' for p in left)}, or a formula")
    if left:
        derivatives = derived(head, formula_of(head))
        texts |= {p: derivatives[p] for p in left}
    like = " + ".join([*head.params, "0.0"])
    law = elementwise_law(lambda settings: evaluator(head.params, like) if emit is None else function)

    def read_or_like(types: list[Type], settings: dict[str, Any], dim: Extents) -> Any:
        return settings.get("type") or law(types, settings, dim)

    register(
        function,
        head,
        read_or_like,
        emit=emit,
        elementwise=True,
        alias="depends" if emit is None else "fresh",
        partials={p: t for p, t in texts.items() if t is not None},
        pullbacks={p: None for p, t in texts.items() if t is None},
    )
    remember(function, declare_elementwise, head, partials, emit)
    return function


@overload
def elementwise(declared: None = None, /, **partials: str | None) -> Callable[[F], F]: ...
@overload
def elementwise(declared: str, /, **partials: str | None) -> Any: ...
@overload
def elementwise(declared: F, text: str | None = None, /, **partials: str | None) -> F: ...
@boundary
def elementwise(declared: Any = None, text: str | None = None, /, **partials: Any) -> Any:
    """Declare an elementwise function by its partial derivatives or by a formula.

    Use it as a decorator, ``@elementwise("f(x, y)", dx="...", dy=None)`` or ``@elementwise(dx="...")``, or as a call,
    ``elementwise(f, "f(x)", dx="...")``. ``elementwise("softplus(x) = log(1 + exp(x))")`` returns the function itself.

    Each text is an expression of the parameters, ``out``, and functions of the vocabulary by name. None declares a zero derivative. A
    partial derivative that is missing is derived from the formula. Raises BadArgument for any other text.

    >>> import symgrad
    >>> logistic = elementwise("logistic(x) = 1 / (1 + exp(-x))", dx="out * (1 - out)")
    >>> f = symgrad.from_source("def f(x): return 2 * logistic(x)", globals={"logistic": logistic})
    >>> float(symgrad.grad(f)(0.0))
    0.5
    """
    if declared is None:
        return boundary(lambda function: declare_elementwise(function, head_for(function, None), partials))
    if not isinstance(declared, str):
        return declare_elementwise(declared, head_for(declared, text), partials)
    head = head_of(declared)
    if head.formula is None:
        return boundary(lambda function: declare_elementwise(function, head_for(function, declared), partials))
    if head.settings:
        raise BadArgument(f"the formula of {head.name} has a parameter with a default", hint="leave the default out")
    spelled = numpy_text(formula_of(head))
    formula = Formula(declared, head, spelled, partials)
    declare_elementwise(formula.__wrapped__, head, partials, emit=spelled)
    declarations.DECLARED[formula] = declarations.DECLARED[formula.__wrapped__]
    return formula


@overload
def rule(declared: str | None = None, /, *, result: str | Law | None = None, **cotangents: str | None) -> Callable[[F], F]: ...
@overload
def rule(declared: F, text: str | None = None, /, *, result: str | Law | None = None, **cotangents: str | None) -> F: ...
@boundary
def rule(declared: Any = None, text: str | None = None, /, *, result: str | Law | None = None, **cotangents: Any) -> Any:
    """Declare a function by the cotangents of its operands.

    Use it as a decorator, ``@rule("f(a, b, *, k=1)", a_grad="out_grad @ b", b_grad=None)`` or ``@rule(a_grad=..., b_grad=...)``, or as a
    call, ``rule(f, "f(a, b)", a_grad=...)``.

    Each text is an expression of the parameters, keywords, ``out``, ``out_grad``, and functions of the vocabulary by name. None declares
    a zero derivative. ``result`` is the type of the result: the name of a parameter of the same type, or a type such as ``"f8[:]"``.
    Raises BadArgument for any other text.

    >>> import numpy as np, symgrad
    >>> energy = symgrad.from_source("def energy(a, x): return float(x @ a @ x)")
    >>> _ = rule(energy, "energy(a, x)", a_grad="out_grad * outer(x, x)", x_grad="out_grad * (a + transpose(a)) @ x", result="float")
    >>> f = symgrad.from_source("def f(x): return energy(np.eye(2), x)", globals={"energy": energy, "np": np})
    >>> symgrad.grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    return started(declared, text, lambda function, head: declare_rule(function, head, result, cotangents))


def declare_rule(function: Any, head: Head, result: str | Law | None, cotangents: dict[str, Any]) -> Any:
    """Register a function with the texts of the cotangents of its operands."""
    texts = validated_texts(head, cotangents, "", "_grad", ("out", "out_grad"))
    left = [p for p in head.params if p not in texts]
    if left:
        raise BadArgument(
            f"no derivative of {head.name} with respect to {', '.join(left)} is given",
            hint=f"give {', '.join(f'{p}_grad=' for p in left)}; None means that it is zero",
        )
    fitted = {p: None if t is None else f"fit({t}, shape_of({p}))" for p, t in texts.items()}
    register(function, head, law_of(result, head.params), pullbacks=fitted)
    remember(function, declare_rule, head, result, cotangents)
    return function


@overload
def constant(declared: str | None = None, /, *, result: str | Law | None = None) -> Callable[[F], F]: ...
@overload
def constant(declared: F, text: str | None = None, /, *, result: str | Law | None = None) -> F: ...
@boundary
def constant(declared: Any = None, text: str | None = None, /, *, result: str | Law | None = None) -> Any:
    """Declare that the derivative of a function is zero in every operand. Use it as a decorator or as a call.

    >>> import symgrad
    >>> bucket = constant(symgrad.from_source("def bucket(x): return np.floor(x)"))
    >>> f = symgrad.from_source("def f(x): return x * bucket(x)", globals={"bucket": bucket})
    >>> float(symgrad.grad(f)(2.5))
    2.0
    """

    return started(declared, text, lambda function, head: declare_constant(function, head, result))


def declare_constant(function: Any, head: Head, result: str | Law | None) -> Any:
    """Register a function without derivatives."""
    register(function, head, law_of(result, head.params), pullbacks=dict.fromkeys(head.params))
    remember(function, declare_constant, head, result)
    return function


def started(declared: Any, text: str | None, declare: Callable[[Any, Head], Any]) -> Any:
    """Declare the function now, or return a decorator if there is none."""
    if declared is None or isinstance(declared, str):
        return boundary(lambda function: declare(function, head_for(function, declared)))
    return declare(declared, head_for(declared, text))
