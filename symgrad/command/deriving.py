"""The verbs that show one derivative: ``show``, ``emit``, ``explain``, ``graph``, ``report``."""

from __future__ import annotations

import argparse
import difflib
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from symgrad.api import grad, saved_text
from symgrad.bound import Bound
from symgrad.command.plain import plain
from symgrad.command.target import arguments, call_of, called, derive, load, own_source, parse_wrt
from symgrad.command.terminal import coloured, painted, python
from symgrad.command.usage import Usage
from symgrad.errors import SaveError
from symgrad.files import write_file
from symgrad.saving import is_saved_module


def show(options: argparse.Namespace) -> int:
    """Print the function, its value and gradient, and the generated source (or IR)."""
    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    call, words = call_of(options, args, function)
    derived = derive(function, options, call, words)
    stage = None if options.stage is None else options.stage if "," not in options.stage else tuple(options.stage.split(","))
    is_ir = options.ir or stage is not None
    text = derived.ir(*call, stage=stage, **words) if is_ir else derived.source(*call, **words)
    facts: dict[str, Any] = {"target": options.target, "source": own_source(derived), "ir" if is_ir else "gradient_source": text}
    if args is not None:
        with called(name):
            gradient = grad(function, parse_wrt(options), strict=options.strict)(*args)
            facts |= {"arguments": args, "value": function(*args), "gradient": gradient}
            if options.order > 1:
                facts["derivative"] = derived(*args)
    if options.json:
        print(json.dumps(plain(facts), indent=2))
        return 0
    colours = coloured(options)
    print(python(facts["source"], colours), "\n")
    if args is not None:
        print(
            f"{painted('value:', 'title', colours)}    {facts['value']!r}\n{painted('gradient:', 'title', colours)} {facts['gradient']!r}"
        )
        print(f"{painted(f'order {options.order}:', 'title', colours)}  {facts['derivative']!r}\n" if options.order > 1 else "")
    print(text.rstrip() if is_ir else python(text.rstrip(), colours))
    return 0


def explain(options: argparse.Namespace) -> int:
    """Print how the derivative treats each line of the function, and why."""
    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    call, words = call_of(options, args, function)
    derived = derive(function, options, call, words)
    facts = {"target": options.target, "explanation": derived.explain(*call, **words)}
    if options.timings:
        facts["timings"] = derived.timings(*call, **words)
    print(json.dumps(facts, indent=2) if options.json else "\n".join(text.rstrip() for text in [*facts.values()][1:]))
    return 0


# ------------------------------------------------------------------ files


def emit(options: argparse.Namespace) -> int:
    """Write the derivative as a module of its own, print it, or compare it with a file; 1 if that differs."""
    if options.check is not None and options.output is not None:
        raise Usage("--check compares with a file and -o writes one: give one of them")
    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    call, words = call_of(options, args, function)
    derived = derive(function, options, call, words)
    text = saved_text(derived, call, None, options.sig)
    if options.check is not None:
        return compared(text, Path(options.check), options)
    if options.output is None:
        print(python(text.rstrip("\n"), coloured(options)))
        return 0
    written(text, options, is_saved_module)
    return 0


def compared(text: str, path: Path, options: argparse.Namespace) -> int:
    """Print how a file differs from the text, and whether it does as an exit code."""
    if not path.is_file():
        raise Usage(f"there is no file {path} to compare with: write it with -o {path}")
    there = path.read_text(encoding="utf-8", errors="backslashreplace")
    if there == text:
        return 0
    colours = coloured(options)
    words = {"+": "right", "-": "wrong", "@": "soft"}
    for line in difflib.unified_diff(there.splitlines(), text.splitlines(), str(path), "what symgrad writes", lineterm=""):
        print(painted(line, words[line[0]], colours) if line[:1] in words else line)
    print(f"symgrad: {path} is not up to date: {writing(options, path)}", file=sys.stderr)
    return 1


def writing(options: argparse.Namespace, path: Path) -> str:
    """Return the command that writes the text compared with."""
    words = ["symgrad", "emit", options.target]
    for name, default in (("args", None), ("sig", None), ("wrt", None), ("order", 1)):
        words += [f"--{name}", str(getattr(options, name))] if getattr(options, name) != default else []
    words += [f"--{name}" for name in ("value", "strict", "jit") if getattr(options, name)]
    return shlex.join([*words, "-o", str(path)])


def written(text: str, options: argparse.Namespace, is_own: Any) -> None:
    """Write a text to ``-o``; a file that symgrad has not written is replaced with ``--overwrite`` only."""
    content = text.encode("utf-8", errors="backslashreplace")
    if options.output == "-":
        print(text)
        return
    try:
        write_file(options.output, lambda file: file.write(content), is_own, options.overwrite)
    except SaveError as error:
        raise SaveError(error.what, hint="--overwrite replaces it; or give another path") from None


# ------------------------------------------------------------------ graphs and pages


def graph(options: argparse.Namespace) -> int:
    """Print the dataflow of the function, or at a stage of its gradient, as Mermaid or DOT."""
    from dataclasses import asdict

    from symgrad.report.graph import graph_of
    from symgrad.report.graph_texts import FORMATS

    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    call, words = call_of(options, args, function)
    derived: Any = derive(function, options, call, words)
    if isinstance(derived, Bound):
        derived, call = derived._derived, (derived._instance, *call) if call else ()
    stages = derived._entry(call, {}, words.get("signature")).compiled.stages()
    stage = options.stage or next(stage for stage in ("simplified", "lowered", "optimized") if stage in stages)
    if stage not in stages:
        raise Usage(f"there is no stage {stage!r}; there are {', '.join(stages)}")
    drawn = graph_of(stages[stage])
    if options.json:
        nodes = [
            {
                "number": n.number,
                "kind": n.kind,
                "label": n.label,
                "detail": n.detail,
                "line": n.loc.line if n.loc else None,
                "parts": [[title, [one.number for one in inner]] for title, inner in n.parts],
            }
            for n in drawn.all_nodes()
        ]
        text = json.dumps({"name": drawn.name, "nodes": nodes, "edges": [asdict(edge) for edge in drawn.edges]}, indent=2)
    else:
        text = FORMATS[options.format](drawn)
    if options.output is None:
        print(text)
    else:
        written(f"{text}\n", options, lambda path: False)  # a drawing does not say who has written it
    return 0


def report(options: argparse.Namespace) -> int:
    """Write the page of a derivative."""
    from symgrad.report.facts import facts_of
    from symgrad.report.page import page

    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    call, words = call_of(options, args, function)
    derived = derive(function, options, call, words)
    with called(name):
        facts = facts_of(derived, call, jit=options.jit, run=not options.no_run, **words)
    text = page(facts, times=not options.no_times, version=options.version)
    if options.output is None:
        print(text, end="")
        return 0
    written(text, options, is_page)
    return 0


def is_page(path: Path) -> bool:
    """Whether a file is a page that ``report`` has written."""
    with path.open(encoding="utf-8") as file:
        return 'name="generator" content="symgrad' in file.read(16384)
