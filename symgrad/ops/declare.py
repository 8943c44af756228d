"""The fields of a row, and the checks of each declaration: a missing derivative is an error.

A row is a signature, a shape law, one expression an input for the derivative, and the text
that computes it. Rows say nothing of the chain rule, broadcasting, accumulation or casts;
the adjoint does that for all of them. ``elementwise``, ``rule``, ``constant`` and ``missing``
make rows; ``ROWS`` holds them by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any, Literal

from symgrad.ir.types import Extent, Type

#: a shape law: types of the operands, the settings, and a function that gives the extent which the
#: i-th operand, an integer, stands for -> the type of each output (an extent ``Dim("?")`` is given a name by the builder)
Law = Callable[[list[Type], dict[str, Any], Callable[[int], Extent]], "Type | tuple[Type, ...]"]
Alias = Literal["fresh", "view", "same", "depends"]
#: the text of a row, or a function of its settings and operand types that returns it
Emit = str | Callable[[dict[str, Any], list[Type]], str]
#: the text of a row that calls the function of the same name in ``symgrad.runtime`` with all operands and settings
RUNTIME = "runtime"
#: operands of these names are integers, shapes and masks: ``rule`` takes them to have no derivative unless one is declared
WITHOUT_DERIVATIVE = frozenset({"shape", "index", "order", "where", "i", "j", "places", "starts", "repeats", "reps", "sizes"})


@dataclass(frozen=True)
class Row:
    """One function of the vocabulary.

    ``params`` are its operands (the last may be ``*rest``), ``settings`` its Python data with defaults. ``partials``
    (elementwise rows) are d out / d param as expressions; ``pullbacks`` (all other rows) the whole cotangent of a
    param, or None where it has none on purpose. In both, names are the params, settings, outputs, and for pullbacks
    ``<output>_grad``; function names are rows. Two more names may occur in a pullback: ``into``, the buffer that
    holds the cotangent of the param so far, zeros at first (the expression then is the new buffer, not a
    contribution), and ``taken``, the cotangent of the output, which may be overwritten. ``are_alike(l, v)`` tests
    whether all items of a list have the form of a value. ``consumes``: the first operand's memory becomes the
    output's. ``within``: so does that of the lists in it, which are changed. ``emit`` is the Python expression, or
    for ``statement`` rows (all that consume are) the statement, that computes it; if ``by_name``, it refers to the operands by the names in
    the setting ``names``. ``batch`` is the rule that computes it for all examples of a batch, or all seeds, at once, one
    of ``ops/batched.py``, or None: then there may be one in ``ops/seeds/seeds.py``.
    """

    name: str
    params: tuple[str, ...]
    law: Law
    settings: dict[str, Any] = field(default_factory=dict)
    outs: tuple[str, ...] = ("out",)
    elementwise: bool = False
    formula: str | None = None
    partials: dict[str, str] = field(default_factory=dict)
    pullbacks: dict[str, str | None] = field(default_factory=dict)
    linear: frozenset[str] = frozenset()
    alias: Alias = "fresh"
    consumes: bool = False
    within: bool = False
    effect: bool = False
    missing: str | None = None
    cheap: bool = False
    emit: Emit = ""
    math: str | None = None
    statement: bool = False
    by_name: bool = False
    batch: Callable[[Any], Any] | None = None

    @property
    def differentiable(self) -> tuple[str, ...]:
        """The params that pass a derivative on."""
        return tuple(p for p in self.params if self.partials.get(p) is not None or self.pullbacks.get(p) is not None)


class Rows(dict[str, Row]):
    """The built-in rows by name; a name that is none of them is looked up among the user's."""

    def __missing__(self, name: str) -> Row:
        return USER_ROWS[name]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in USER_ROWS

    def get(self, name: str, default: Any = None) -> Any:
        """The row, or the default."""
        return super().get(name) or USER_ROWS.get(name, default)


#: rows that users declared; their names begin with ``user_``, which no built-in one does
USER_ROWS: dict[str, Row] = {}
ROWS = Rows()
#: rows that end or change derivatives on purpose; so do those that users declare
CUTS = frozenset({"stop_gradient", "barrier", "on_backward", "custom"})

SIGNATURE = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\((?P<params>[^)]*(?:\([^)]*\)[^)]*)*)\)(?:\s*->\s*(?P<outs>[\w, ]+?))?(?:\s*=\s*(?P<formula>.+))?"
)


def parse_signature(text: str) -> tuple[str, tuple[str, ...], dict[str, Any], tuple[str, ...], str | None]:
    """Split ``name(x, *rest, axis=None) -> out = formula`` into its parts.

    A parameter with a default is a setting; a bare ``*`` may separate settings from operands.
    """
    match = SIGNATURE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a row signature: {text!r}")
    words = [word.strip() for word in match["params"].split(",")]
    if len({w for w in words if w.isidentifier() and not iskeyword(w)}) == len(
        words
    ):  # most rows have no settings, and there are hundreds to read
        return match["name"], tuple(words), {}, outs_of(match["outs"]), match["formula"]
    function = ast.parse(f"def f({match['params']}): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    a = function.args
    positional = [p.arg for p in a.args]
    defaults: dict[str, Any] = {}
    for name, default in zip(positional[len(positional) - len(a.defaults) :], a.defaults, strict=True):
        defaults[name] = ast.literal_eval(default)
    for keyword, value in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        defaults[keyword.arg] = None if value is None else ast.literal_eval(value)
    params = [p for p in positional if p not in defaults] + ([f"*{a.vararg.arg}"] if a.vararg else [])
    return match["name"], tuple(params), defaults, outs_of(match["outs"]), match["formula"]


def outs_of(text: str | None) -> tuple[str, ...]:
    """The names of a row's results."""
    return tuple(o.strip() for o in (text or "out").split(","))


def add(row: Row) -> Row:
    """Register a row; each name is registered once, and every operand must have a declared derivative."""
    if row.name in ROWS:
        raise ValueError(f"row {row.name!r} is there already")
    stated = set(row.partials) | set(row.pullbacks)
    unsaid = [p for p in row.params if p not in stated]
    if unsaid and row.missing is None:
        raise ValueError(f"row {row.name!r}: no derivative with respect to {', '.join(unsaid)} is given")
    ROWS[row.name] = row
    return row


def text_of(emit: Emit | None, name: str, params: tuple[str, ...], settings: dict[str, Any]) -> Emit:
    """The text of a row: by default, the call of the function of the same name in NumPy."""
    if emit == RUNTIME:
        return f"{name}({', '.join([*params, *settings])})"
    return emit or f"np.{name}({', '.join([*params, *(f'{s}={s}' for s in settings)])})"


def by_default(call: str, **defaults: Any) -> Emit:
    """Emit a call, which ends with its last operand, with those settings that differ from the defaults of NumPy's function.

    >>> emit = by_default("np.sort(x", axis=-1)
    >>> emit({"axis": -1}, []), emit({"axis": 0}, [])
    ('np.sort(x)', 'np.sort(x, axis)')
    """
    return lambda settings, types: ", ".join([call, *(word for word, usual in defaults.items() if settings[word] != usual)]) + ")"


def declared(text: str, law: Law, emit: Emit | None, statement: bool, consumes: bool, **fields: Any) -> Row:
    """Register the row of a signature; all that consume are statements."""
    name, params, settings, outs, _ = parse_signature(text)
    shown = text_of(emit, name, params, settings)
    return add(Row(name, params, law, settings, outs, emit=shown, statement=statement or consumes, consumes=consumes, **fields))


def rule(
    text: str,
    law: Law,
    *,
    emit: Emit | None = None,
    alias: Alias = "fresh",
    consumes: bool = False,
    effect: bool = False,
    cheap: bool = False,
    statement: bool = False,
    within: bool = False,
    linear: str = "",
    math: str | None = None,
    batch: Callable[[Any], Any] | None = None,
    **pullbacks: str | None,
) -> Row:
    """Declare a function by the cotangent of each input: ``x_grad="..."``, or None for none on purpose."""
    name, params, _, _, formula = parse_signature(text)
    named: dict[str, str | None] = {param: None for param in params if param.lstrip("*") in WITHOUT_DERIVATIVE}
    for key, value in pullbacks.items():
        param = key.removesuffix("_grad")
        param = f"*{param}" if f"*{param}" in params else param
        if param not in params or not key.endswith("_grad"):
            raise ValueError(f"row {name!r} has no parameter for {key}")
        named[param] = value
    traits = {"alias": alias, "effect": effect, "cheap": cheap, "within": within, "math": math, "batch": batch}
    return declared(text, law, emit, statement, consumes, formula=formula, pullbacks=named, linear=frozenset(linear.split()), **traits)


def constant(
    text: str,
    law: Law,
    *,
    emit: Emit | None = None,
    alias: Alias = "fresh",
    effect: bool = False,
    cheap: bool = False,
    statement: bool = False,
    consumes: bool = False,
    math: str | None = None,
    by_name: bool = False,
    batch: Callable[[Any], Any] | None = None,
) -> Row:
    """Declare a function whose derivative is zero on purpose, in every input."""
    pullbacks = dict.fromkeys(parse_signature(text)[1])
    traits = {"alias": alias, "effect": effect, "cheap": cheap, "math": math, "by_name": by_name, "batch": batch}
    return declared(text, law, emit, statement, consumes, pullbacks=pullbacks, **traits)


def missing(
    text: str, law: Law, why: str, *, emit: Emit | None = None, consumes: bool = False, effect: bool = False, statement: bool = False
) -> Row:
    """Declare a function whose derivative is not implemented; ``why`` is shown to the user."""
    return declared(text, law, emit, statement, consumes, missing=why, effect=effect)
