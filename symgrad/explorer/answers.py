"""Answers one request of the editor: a text, a function and arguments -> the content of the page, or an error with its place."""

from __future__ import annotations

import inspect
import types
from typing import Any

from symgrad.api import grad
from symgrad.errors import SymgradError
from symgrad.explorer.reading import Module, NotPython, file_of, parsed, read_module
from symgrad.frontend.text.source import run_text
from symgrad.orders import wrt_of
from symgrad.report.facts import facts_of
from symgrad.report.html import Html, element
from symgrad.report.page import content
from symgrad.values import NotAValue, arguments_of

#: the name of a module's example arguments
EXAMPLES = "example_arguments"
#: longer texts are not read
LONGEST = 200_000
GUESS = "2.0"  #: for a parameter of unknown type


class Unanswered(Exception):
    """The reason why there is no gradient: the cause, the line, the hint."""

    def __init__(self, what: str, line: int = 0, hint: str = "", kind: str = "") -> None:
        super().__init__(what)
        self.line, self.hint, self.kind = line, hint, kind


def answer(question: dict[str, Any], run: bool) -> dict[str, Any]:
    """The answer as plain data. Without ``run`` nothing of the text is executed; with it the text and its function are.

    ``question`` holds ``text``, ``function``, ``args``, ``wrt`` and ``name``, the name of the file, all as texts.
    """
    text, name, args, wrt, file = (str(question.get(key, "")) for key in ("text", "function", "args", "wrt", "name"))
    reply: dict[str, Any] = {"functions": [], "function": "", "args": args, "remarks": []}
    try:
        if len(text) > LONGEST:
            raise Unanswered(f"the text is longer than {LONGEST} characters")
        module = executed(text, file) if run else read_text(text, file)
        reply["functions"], reply["remarks"] = list(module.functions), module.remarks
        function = chosen(module, name)
        reply["function"] = function.__name__
        values = values_for(function, module, args, reply)
        derivative: Any = grad(function, wrt_of(wrt) if wrt.strip(" ,") else None)
        facts = facts_of(derivative, values, run=run)
        if not run:
            facts.why_unchecked = "the text is read and not executed; symgrad explore --run executes it"
        reply["html"] = content(facts)
    except Unanswered as refusal:
        reply["error"] = {"what": str(refusal), "line": refusal.line, "hint": refusal.hint, "kind": refusal.kind}
    except SymgradError as refusal:
        line = refusal.loc.line if refusal.loc is not None else 0
        reply["error"] = {"what": refusal.what, "line": line, "hint": refusal.hint or "", "kind": type(refusal).__name__}
    reply["notice"] = notice(reply)
    return reply


def notice(reply: dict[str, Any]) -> Html:
    """Return errors and skipped statements as markup."""
    pieces = []
    if (error := reply.get("error")) is not None:
        where = f"line {error['line']}: " if error["line"] else ""
        kind = element("b", f"{error['kind']} ") if error["kind"] else ""
        hint = element("span", error["hint"], class_="hint") if error["hint"] else ""
        pieces.append(element("p", kind, where, error["what"], hint, class_="problem"))
    pieces += [element("p", f"line {line}: {what}" if line else what, class_="remark") for line, what in reply["remarks"][:5]]
    return element("div", *pieces)


# ------------------------------------------------------------------ the text


def read_text(text: str, name: str) -> Module:
    """The functions of a text that is not executed."""
    try:
        return read_module(text, base_of(name))
    except NotPython as error:
        raise Unanswered(f"not Python yet: {error}", error.line) from None


def executed(text: str, name: str) -> Module:
    """The functions of a text that is executed, with its data."""
    module = Module(file_of(text, base_of(name)))
    space: dict[str, Any] = {"__name__": "explored"}
    try:
        run_text(parsed(text, module.file), text, module.file, space)
    except NotPython as error:
        raise Unanswered(f"not Python yet: {error}", error.line) from None
    except (Exception, SystemExit) as error:
        raise Unanswered(f"the text raised {type(error).__name__}: {error}") from None
    for name, value in space.items():
        if isinstance(value, types.FunctionType) and value.__module__ == "explored":
            module.functions[name] = value
        elif not name.startswith("__") and not callable(value):
            module.data[name] = value
    return module


def base_of(name: str) -> str:
    """The name of a file without its folders."""
    return name.replace("\\", "/").rpartition("/")[2] or "edited.py"


def chosen(module: Module, name: str) -> types.FunctionType:
    """Return the requested function, else the last one with example arguments, else the last one."""
    if not module.functions:
        raise Unanswered("there is no function yet", hint="write one: def f(x): return x * x")
    examples = module.data.get(EXAMPLES)
    tried = [known for known in module.functions if isinstance(examples, dict) and known in examples]
    return module.functions.get(name) or module.functions[(tried or list(module.functions))[-1]]


# ------------------------------------------------------------------ requests


def values_for(function: types.FunctionType, module: Module, args: str, reply: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments: those typed, else the module's examples, else a guess, which is reported."""
    if args.strip():
        try:
            values = arguments_of(args, module.data)
        except NotAValue as error:
            raise Unanswered(f"arguments: {error}") from None
    else:
        values = guessed(function, module, reply)
    try:
        inspect.signature(function).bind(*values)
    except TypeError as error:
        raise Unanswered(f"the arguments do not fit {function.__name__}: {error}", function.__code__.co_firstlineno) from None
    return values


def guessed(function: types.FunctionType, module: Module, reply: dict[str, Any]) -> tuple[Any, ...]:
    """Return the module's examples, else one number for each parameter without a default."""
    examples = module.data.get(EXAMPLES)
    if isinstance(examples, dict) and isinstance(examples.get(function.__name__), tuple | list):
        return tuple(examples[function.__name__])
    parameters = inspect.signature(function).parameters.values()
    plain = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    reply["guess"] = ", ".join("2" if p.annotation is int else GUESS for p in plain)
    return arguments_of(reply["guess"])


__all__ = ["answer"]
