"""A compiled function -> the function that runs it on values found by name, written for values of known shape and dtype.

It looks at what it is given, calls without NumPy's warnings, and puts new values where the old ones were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.ir.core import Call, Func, Operand, Value
from symgrad.ir.types import Array, Scalar
from symgrad.ops.declare import ROWS
from symgrad.record.compiled import Compiled
from symgrad.record.quiet import FREE, quiet_context
from symgrad.runtime.load import load

Values = Mapping[str, "np.ndarray[Any, Any]"]
#: ``run(feed, kept)`` gives what is fetched; None if something is not what it was written for, and nothing has happened
Run = Callable[[Mapping[str, Any], dict[str, Any]], "list[Any] | None"]


def runner(code: Compiled, fed: Values, kept: Values, constants: Values, fetched: int, updated: Sequence[str]) -> Run:
    """Write the function for values like these; the results of ``code`` are what is fetched, then new values of what is updated.

    What is given out and what is kept share memory with nothing: not with each other, not with what was fed.
    """
    space: dict[str, Any] = {"ndarray": np.ndarray, "asarray": np.asarray, "own": own, "function": code.function, "FREE": FREE,
                             "quiet_context": quiet_context}  # fmt: skip
    lines = ["def run(feed, kept):"]
    names: dict[str, str] = {}
    for source, values in (("feed", fed), ("kept", {name: value for name, value in kept.items() if name in code.keys})):
        for name, value in values.items():
            k = len(names)
            names[name] = f"x{k}"
            space |= {f"name{k}": name, f"shape{k}": value.shape, f"dtype{k}": value.dtype}
            lines += [f"    x{k} = {source}.get(name{k})",
                      f"    if type(x{k}) is not ndarray or x{k}.shape != shape{k} or x{k}.dtype != dtype{k}:",
                      "        return None"]  # fmt: skip
    arguments = []
    for place, (key, scalar) in enumerate(zip(code.keys, code.scalars, strict=True)):
        if key in constants:
            space[f"constant{place}"] = constants[key][()] if scalar else constants[key]  # type: ignore[index]
        word = f"constant{place}" if key in constants else names[key]  # type: ignore[index]
        arguments.append(f"{word}[()]" if scalar and key not in constants else word)
    results = [f"r{k}" for k in range(fetched + len(updated))]
    if results:
        lines += ["    try:", "        context = FREE.pop()", "    except IndexError:", "        context = quiet_context()", "    try:",
                  f"        {', '.join(results)}{',' if len(results) == 1 else ''} = context.run(function, {', '.join(arguments)})",
                  "    finally:", "        FREE.append(context)"]  # fmt: skip
    texts = dict(zip(results, result_texts(code, results), strict=True))
    if any(text.startswith("own") for text in texts.values()):
        lines.append(f"    taken = [{', '.join([*names.values(), *(w for w in arguments if w.startswith('constant'))])}]")
    for k, name in enumerate(updated, fetched):
        space[f"updated{k}"] = name
        lines.append(f"    kept[updated{k}] = {texts[f'r{k}']}")
    lines.append(f"    return [{', '.join(texts[word] for word in results[:fetched])}]")
    made: Run = load("\n".join(lines) + "\n", "run", space)
    return made


def result_texts(code: Compiled, results: Sequence[str]) -> list[str]:
    """How each result becomes an array that shares memory with nothing."""
    texts = []
    seen: set[Operand] = set()
    for word, operand in zip(results, code.printed.body.yields, strict=True):
        owner = owner_of(code.printed, operand)
        if isinstance(operand.type, Scalar):
            texts.append(f"asarray({word})")
        elif owner is None or owner in seen or code.kernels:
            texts.append(f"own({word}, taken)")
        else:
            texts.append(word)
            seen.add(owner)
    return texts


def owner_of(func: Func, operand: Operand) -> Value | None:
    """The value that was made with the memory that an array has now, if an op of the function made it."""
    makers = {out: op for op in func.body.ops for out in op.outs}
    while isinstance(operand, Value) and isinstance(operand.type, Array) and operand.type.rank:
        op = makers.get(operand)
        if not isinstance(op, Call):
            return None
        if not ROWS[op.name].consumes:
            return operand if ROWS[op.name].alias == "fresh" else None
        operand = op.args[0]
    return None


def own(value: Any, taken: list[Any]) -> Any:
    """The value as an array that shares memory with none of those that are taken, and is taken from now on."""
    array = value if type(value) is np.ndarray else np.asarray(value)
    base = array.base
    if any(array is other for other in taken) or base is not None and is_shared(array, base, taken):
        array = array.copy()
    taken.append(array)
    return array


def is_shared(array: Any, base: Any, taken: Sequence[Any]) -> bool:
    """Is a view of more than itself, or of what somebody else has?"""
    if type(base) is not np.ndarray or base.nbytes != array.nbytes or not array.flags.writeable:
        return True
    return any(base is other or base is getattr(other, "base", None) for other in taken)
