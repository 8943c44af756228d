"""table: ops without a derivative: opaque calls, stop-gradient, checks, errors, texts."""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import INT, UNKNOWN, Array, Object, Scalar, Type, kind_of
from symgrad.ops import batched
from symgrad.ops.declare import RUNTIME, constant, missing, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.engine import _PATH, _set_text
from symgrad.ops.shapes import nothing_law, same_law
from symgrad.text import attribute

# ------------------------------------------------------------------ laws


def _rounded(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if isinstance(types[0], Scalar) and (len(types) == 1 or types[1] == Object("None")):
        return INT
    return types[0]


def _text(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Object("str")


def _unknown(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return settings.get("type") or UNKNOWN


def _drawn(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = settings["dtype"]
    shape = tuple(dim(k) for k in range(1, len(types)))
    if shape:
        return Array(dtype, shape, "C")
    return UNKNOWN if dtype == "u64" else Scalar(kind_of(dtype), "any")


# ------------------------------------------------------------------ opaque calls

SEEN = "nothing is known of its derivative"
missing("opaque(f, *args, names=(), type=None)", _unknown, SEEN, emit="f(*args)", effect=True)
# ``refusal``: why its derivative is not known, where that has been seen
missing("opaque_pure(f, *args, names=(), type=None, refusal=None)", _unknown, SEEN, emit="f(*args)")
# a store in an array of the caller's, which the program reads a copy of
constant(f"store_outside(x, v, *index, {_PATH})", nothing_law, emit=_set_text, effect=True, statement=True)
missing("opaque_attribute(owner, attribute='')", _unknown, SEEN, emit=lambda settings, types: attribute("owner", settings["attribute"]))
# calls with a known result: a random generator, or a number or array that it draws
missing("generator(x)", lambda types, settings, dim: Object("generator"), SEEN, emit="x")
rule("drawn(x, *shape, dtype='f64')", _drawn, emit="x", alias="same", cheap=True, x_grad="out_grad")
# the new version of a value that an opaque call may have modified; its derivative is unknown
missing("touched(x, call)", same_law, SEEN, emit="pass", consumes=True, effect=True)

# ------------------------------------------------------------------ cuts, checks and texts

# a copy of a view of ``x``
rule("may_share(x, y)", lambda types, settings, dim: types[1], emit="y", alias="depends", linear="y", x_grad=None, y_grad="out_grad")
constant("stop_gradient(x)", same_law, emit="x", alias="same", cheap=True, batch=batched.same)
# a value without a derivative, and one whose total derivative is that of ``p``
constant("barrier(x)", same_law, emit="x", alias="same", cheap=True)
# a value in a block inside, which gradients find by its key
rule("label(x, key='')", same_law, emit="x", alias="same", cheap=True, x_grad="out_grad")
rule("probe(x, p)", same_law, emit="x", alias="same", cheap=True, x_grad="out_grad", p_grad="out_grad")
# the value of the user's ``text`` over the operands ``reads``, which it calls by ``names``; then the text alone, for text that is read
rule("as_written(x, *reads, text='', names=(), is_augmented=False)", same_law, emit="x", x_grad="out_grad", reads_grad=None)
constant(
    "written(*reads, text='', names=(), is_augmented=False, type=None)",
    lambda types, settings, dim: settings["type"] or UNKNOWN,
    emit=lambda s, t: s["text"],
    by_name=True,
)
constant("cut(x)", same_law, emit="pass", consumes=True)
constant(
    "check(test, message)",
    nothing_law,
    emit=lambda s, t: "assert test" if t[1] == Object("None") else "assert test, message",
    effect=True,
    statement=True,
)
# a number or an array of unknown kind, combined with a value that has a derivative
constant("check_real(x)", nothing_law, emit=RUNTIME, effect=True, statement=True)
# the result of a function of unknown type: tests that it is a number (``one``), or else a number, an array or a list
constant(
    "check_result(x, one=True)",
    nothing_law,
    emit=lambda s, t: "check_result(x)" if s["one"] else "check_result(x, False)",
    effect=True,
    statement=True,
)
# the number of items must equal the number of names that they are unpacked to
constant("check_count(n, count, message)", nothing_law, emit="if n != count:\n    raise ValueError(message)", effect=True, statement=True)
constant("raise_error(kind, *args)", nothing_law, emit="raise kind(*args)", effect=True, statement=True)
# a value that nothing reads, computed since that may raise
constant("evaluated(x)", nothing_law, emit="x", effect=True, statement=True)
# before and after the part of a function that runs again in the backward half
for _name in ("checkpoint_begin", "checkpoint_end"):
    constant(f"{_name}()", nothing_law, emit="pass", effect=True, statement=True)
# leave a compiled function: its caller runs the NumPy code instead
constant("bail_out(test)", nothing_law, emit="if test:\n    raise ArithmeticError", effect=True, statement=True)
constant("rounded(x, *digits)", _rounded, emit="round(x, *digits)")
# a static text, as a value together with dynamic ones
constant("literal_text(text)", _text, emit="text", cheap=True)
missing("format_text(template, *args)", _text, SEEN, emit="template.format(*args)")
missing("format_percent(template, value)", _text, SEEN, emit="template % value")
