"""Writes the function that runs a compiled function on named values of known shapes and dtypes.

It checks its arguments, calls without NumPy's warnings, and replaces the stored values by the new ones. Work that is the same in each
run is done in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from symgrad.ir.core import Call, Func, Operand, Value
from symgrad.ir.types import Array, Scalar
from symgrad.ops.declare import ROWS
from symgrad.record.compiled import Compiled
from symgrad.record.quiet import FREE, quiet_context
from symgrad.runtime.load import load


class Store(Protocol):
    """The store of values: ``stamp`` becomes a new object whenever the shape or dtype of a value may have changed."""

    held: dict[str, Any]
    stamp: object


#: ``run(feed, store)`` returns the fetched values; None if a value does not match, without any effect
Run = Callable[[Mapping[str, Any], Store], "list[Any] | None"]


@dataclass(frozen=True, slots=True)
class Around:
    """The values that a run reads and writes: fed values, stored values (0-d arrays as NumPy scalars), constants.

    ``schedules`` compute some stored values; ``updated`` receive the last results, after the ``fetched`` ones.
    """

    fed: Mapping[str, np.ndarray[Any, Any]]
    kept: Mapping[str, Any]
    constants: Mapping[str, np.ndarray[Any, Any]]
    schedules: Sequence[tuple[str, Callable[[], float]]]
    fetched: int
    updated: Sequence[str]


def runner(code: Compiled, around: Around) -> Run:
    """Write the function for values of these types; ``code`` returns the fetched values, then the new values of updated ones.

    Fetched and stored values share no memory with each other or with fed values.
    """
    read = {name: value for name, value in around.kept.items() if name in code.keys}
    space: dict[str, Any] = {"ndarray": np.ndarray, "array": np.array, "own": unshared_array, "function": code.function, "FREE": FREE,
                             "quiet_context": quiet_context, "fit": fits({**around.kept}), "seen": [None]}  # fmt: skip
    lines = ["def run(feed, store):"]
    words: dict[str, str] = {}
    for k, (name, value) in enumerate(around.fed.items()):
        words[name] = f"x{k}"
        space |= {f"name{k}": name, f"shape{k}": value.shape, f"dtype{k}": value.dtype}
        lines += [
            f"    x{k} = feed[name{k}]",
            f"    if type(x{k}) is not ndarray or x{k}.shape != shape{k} or x{k}.dtype != dtype{k}:",
            "        return None",
        ]
    lines += ["    kept = store.held", "    if store.stamp is not seen[0]:", "        if not fit(kept):", "            return None",
              "        seen[0] = store.stamp"]  # fmt: skip
    schedules = {name: rate for name, rate in around.schedules if name in around.kept}
    for k, name in enumerate({**read, **schedules}, len(words)):
        words[name] = f"x{k}"
        space[f"name{k}"] = name
        if name in schedules:
            space |= {f"rate{k}": schedules[name], f"last{k}": [None, None], f"number{k}": around.kept[name].dtype.type}
            lines += [
                f"    rate = rate{k}()",
                f"    if rate != last{k}[0]:",
                f"        last{k}[:] = rate, number{k}(rate)",
                f"    x{k} = kept[name{k}] = last{k}[1]",
            ]
        else:
            lines.append(f"    x{k} = kept[name{k}]")
    arguments = []
    for place, (key, scalar) in enumerate(zip(code.keys, code.scalars, strict=True)):
        if key in around.constants:
            space[f"constant{place}"] = around.constants[key][()] if scalar else around.constants[key]  # type: ignore[index]
            arguments.append(f"constant{place}")
        else:
            arguments.append(f"{words[key]}[()]" if scalar and key in around.fed else words[key])  # type: ignore[index]
    results = [f"r{k}" for k in range(around.fetched + len(around.updated))]
    if results:
        lines += ["    try:", "        context = FREE.pop()", "    except IndexError:", "        context = quiet_context()", "    try:",
                  f"        {', '.join(results)}{',' if len(results) == 1 else ''} = context.run({', '.join(['function', *arguments])})",
                  "    finally:", "        FREE.append(context)"]  # fmt: skip
    texts = result_texts(code, results)
    if any(text.startswith("own") for text in texts):
        plain = [word for word, text in zip(results, texts, strict=True) if word == text]
        lines.append(f"    taken = [{', '.join([*words.values(), *(w for w in arguments if w.startswith('constant')), *plain])}]")
    for k, name in enumerate(around.updated, around.fetched):
        space[f"updated{k}"] = name
        text = texts[k]
        if not np.ndim(around.kept.get(name, 0.0)):
            space[f"kind{k}"] = np.asarray(around.kept.get(name, 0.0)).dtype.type
            text = f"r{k} if type(r{k}) is kind{k} else kind{k}(r{k})" if name in around.kept else f"{text}[()]"
        lines.append(f"    kept[updated{k}] = {text}")
    lines.append(f"    return [{', '.join(texts[: around.fetched])}]")
    function: Run = load("\n".join(lines) + "\n", "run", space)
    return function


def fits(values: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function that tests whether other values have the shapes and dtypes of these."""
    said = [(name, type(value), value.shape, value.dtype) for name, value in values.items()]

    def fit(kept: Mapping[str, Any]) -> bool:
        stored: list[Any] = [kept.get(name) for name, *_ in said]
        return all(
            type(value) is kind and [value.shape, value.dtype] == known for value, (_, kind, *known) in zip(stored, said, strict=True)
        )

    return fit


def result_texts(code: Compiled, results: Sequence[str]) -> list[str]:
    """How each result becomes an array that shares memory with nothing."""
    texts = []
    seen: set[Operand] = set()
    for word, operand in zip(results, code.printed.body.yields, strict=True):
        owner = owner_of(code.printed, operand)
        if isinstance(operand.type, Scalar):
            texts.append(f"array({word})")
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


def unshared_array(value: Any, taken: list[Any]) -> Any:
    """The value as an array that shares memory with none of those that are taken, and is taken from now on."""
    array = value if type(value) is np.ndarray else np.asarray(value)
    base = array.base
    if any(array is other for other in taken) or base is not None and is_shared(array, base, taken):
        array = array.copy()
    taken.append(array)
    return array


def is_shared(array: Any, base: Any, taken: Sequence[Any]) -> bool:
    """Whether an array is a view of more than itself, or of memory held elsewhere."""
    if type(base) is not np.ndarray or base.nbytes != array.nbytes or not array.flags.writeable:
        return True
    return any(base is other or base is getattr(other, "base", None) for other in taken)
