"""Command line: a target in a file or module to its gradient, printed, or compared with differences.

``python -m symgrad show examples/rosenbrock.py:loss`` prints the function's source, its value and gradient
at example arguments, and the generated source. Exit codes: 0 right, 1 a check or a derivation failed, 2 usage.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import io
import json
import math
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import symgrad
from symgrad.bound import Bound
from symgrad.derivatives import Derived
from symgrad.errors import SymgradError, render
from symgrad.frontend.source import read
from symgrad.testing import compare_grads
from symgrad.text import is_dotted, item

#: a module may give arguments for trying its functions: ``example_arguments = {"loss": (np.ones(3), 2.0)}``
EXAMPLES = "example_arguments"


class Usage(Exception):
    """The command cannot be carried out as written."""


def load(target: str) -> tuple[ModuleType, str, Any]:
    """Module, name and function of ``file.py:func`` or ``pkg.mod:func``."""
    place, separator, name = target.rpartition(":")
    if not separator or not place or not name:
        raise Usage(f"{target!r} is not of the form file.py:function or package.module:function")
    module = load_file(Path(place)) if place.endswith(".py") else load_module(place)
    function: Any = module
    for part in name.split("."):
        if not hasattr(function, part):
            raise Usage(f"{place} has no {name}")
        function = getattr(function, part)
    return module, name, function


def load_file(path: Path) -> ModuleType:
    """A module from a file; its folder is on the path from then on, as for a program."""
    if not path.is_file():
        raise Usage(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Usage(f"{path} cannot be read as a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise Usage(f"{path} is not Python: {error}") from None
    return module


def load_module(name: str) -> ModuleType:
    """A module by name; the current folder is on the path."""
    if not is_dotted(name):
        raise Usage(f"{name!r} is not the name of a module")
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except (ModuleNotFoundError, SyntaxError) as error:
        raise Usage(str(error)) from None


def arguments(options: argparse.Namespace, module: ModuleType, name: str, function: Any) -> tuple[Any, ...] | None:
    """The arguments to try the function with, which fit it."""
    values = arguments_given(options, module, name)
    if values is not None and callable(function) and not isinstance(function, type):
        try:
            inspect.signature(function).bind(*values)
        except TypeError as error:
            raise Usage(f"the arguments do not fit {name}: {error}") from None
        except ValueError:
            pass  # no signature is known, of a builtin function
    return values


def arguments_given(options: argparse.Namespace, module: ModuleType, name: str) -> tuple[Any, ...] | None:
    """What ``--args`` says, else what the module gives, else None."""
    if options.args is not None:
        try:
            values = eval(f"({options.args},)", {**vars(module), "np": np})
        except Exception as error:
            raise Usage(f"--args {options.args!r}: {type(error).__name__}: {error}") from None
        return tuple(values)
    examples = getattr(module, EXAMPLES, {})
    if not isinstance(examples, dict) or name not in examples:
        return None
    if not isinstance(examples[name], tuple | list):
        raise Usage(f"{item(EXAMPLES, name)} must be a tuple of arguments, not {type(examples[name]).__name__}")
    return tuple(examples[name])


def asked(options: argparse.Namespace) -> Any:
    """``--wrt x,w`` as names and positions."""
    if options.wrt is None:
        return None
    items = tuple(int(item) if item.lstrip("-").isdigit() else item for item in options.wrt.replace(" ", "").split(","))
    return items[0] if len(items) == 1 else items


def derive(function: Any, options: argparse.Namespace) -> Any:
    """The derivative of the order asked for."""
    words = {"strict": options.strict}
    for _ in range(options.order - 1):
        function = symgrad.grad(function, asked(options), **words)
    return symgrad.value_and_grad(function, asked(options), **words) if options.value else symgrad.grad(function, asked(options), **words)


def own_source(derived: Derived | Bound) -> str:
    """The text of the function that was differentiated."""
    source = read((derived._derived if isinstance(derived, Bound) else derived)._function)
    return "\n".join(source.lines[source.node.lineno - 1 : source.node.end_lineno])


def show(options: argparse.Namespace) -> int:
    """Print the function, its value and gradient, and the generated source (or IR)."""
    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    derived = derive(function, options)
    keywords: dict[str, Any] = {} if options.sig is None else {"signature": options.sig}
    call = () if options.sig is not None or args is None else args
    stage = None if options.stage is None else options.stage if "," not in options.stage else tuple(options.stage.split(","))
    kind = "ir" if options.ir or stage else "gradient_source"
    text = derived.ir(*call, stage=stage, **keywords) if kind == "ir" else derived.source(*call, **keywords)
    facts: dict[str, Any] = {
        "target": options.target,
        "source": own_source(derived),
        "ir" if options.ir or stage else "gradient_source": text,
    }
    if args is not None:
        gradient = symgrad.grad(function, asked(options), strict=options.strict)(*args)
        facts |= {"arguments": args, "value": function(*args), "gradient": gradient}
        if options.order > 1:
            facts["derivative"] = derived(*args)
    if options.json:
        print(json.dumps(plain(facts), indent=2))
        return 0
    print(facts["source"], "\n")
    if args is not None:
        print(f"value:    {facts['value']!r}\ngradient: {facts['gradient']!r}")
        print(f"order {options.order}:  {facts['derivative']!r}\n" if options.order > 1 else "")
    print(text.rstrip())
    return 0


def explain(options: argparse.Namespace) -> int:
    """Print what becomes of each line of the function, and why."""
    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    keywords: dict[str, Any] = {} if options.sig is None else {"signature": options.sig}
    derived, call = derive(function, options), () if options.sig is not None or args is None else args
    facts = {"target": options.target, "explanation": derived.explain(*call, **keywords)}
    if options.timings:
        facts["timings"] = derived.timings(*call, **keywords)
    print(json.dumps(facts, indent=2) if options.json else "\n".join(text.rstrip() for text in [*facts.values()][1:]))
    return 0


def passes(options: argparse.Namespace) -> int:
    """Print which passes run for a target, and in which order."""
    from symgrad.pipeline.registry import PIPELINES, page

    for target in options.targets:
        if target not in PIPELINES:
            raise Usage(f"there is no target {target!r}; there are {', '.join(PIPELINES)}")
    pages = {target: [*page(target)] for target in options.targets or PIPELINES}
    print(json.dumps(pages, indent=2) if options.json else "\n\n".join("\n".join(lines) for lines in pages.values()))
    return 0


def check(options: argparse.Namespace) -> int:
    """Compare the derivatives in both modes with differences, as ``check_grads`` does."""
    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    if args is None:
        raise Usage(f"no arguments to try {name} with: give --args 'np.ones(3), 2.0', or {EXAMPLES} in the module")
    modes = tuple(options.modes.replace(" ", "").split(","))
    comparisons = compare_grads(function, args, options.order, modes, wrt=asked(options), directions=options.directions)
    wrong = [comparison for comparison in comparisons if not comparison.agrees]
    if options.json:
        print(json.dumps({"target": options.target, "agrees": not wrong, "comparisons": [str(c) for c in comparisons]}, indent=2))
    else:
        print("\n".join(f"{'agrees' if c.agrees else 'WRONG '}  {c}" for c in comparisons))
    return 1 if wrong else 0


def errors(options: argparse.Namespace) -> int:
    """Print what the page of errors says of some kinds, or which kinds there are."""
    sections = error_sections()
    known = {name.lower(): name for name in sections}
    for name in options.kinds:
        if name.lower() not in known:
            raise Usage(f"there is no kind of error {name!r}; there are {', '.join(sections)}")
    texts = {known[name.lower()]: sections[known[name.lower()]] for name in options.kinds} or {
        name: text.partition("\n\n")[0].replace("\n", " ") for name, text in sections.items()
    }
    if options.json:
        print(json.dumps(texts, indent=2))
    elif options.kinds:
        print("\n\n".join(f"## {name}\n\n{text}" for name, text in texts.items()))
    else:
        print("\n".join(f"{name}: {text}" for name, text in texts.items()))
    return 0


def error_sections() -> dict[str, str]:
    """The sections of ``docs/errors.md`` by kind; it is in the package where that is installed."""
    here = Path(symgrad.__file__).parent
    page = here / "errors.md" if (here / "errors.md").is_file() else here.parent / "docs" / "errors.md"
    if not page.is_file():
        raise Usage("the page of errors is not installed")
    _, *rest = re.split(r"^##+ (\w+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.partition("\n# ")[0].strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}


def plain(value: Any) -> Any:
    """As JSON has it: arrays are lists, what it does not know is its text, infinities included."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): plain(item) for key, item in value.items()}
    known = value is None or type(value) in (bool, int, str) or type(value) is float and math.isfinite(value)
    return value if known else repr(value)


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    grammar = argparse.ArgumentParser("symgrad", description="Gradients of Python/NumPy functions, as Python source.")
    grammar.add_argument("--version", action="version", version=f"symgrad {symgrad.__version__}")
    verbs = grammar.add_subparsers(dest="verb", required=True, metavar="VERB")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("target", metavar="TARGET", help="file.py:function or package.module:function")
    common.add_argument("--args", help="arguments to try it with, as Python: 'np.ones(3), 2.0'")
    common.add_argument("--wrt", help="names or positions of parameters, parted by commas (default: the first)")
    common.add_argument("--order", type=int, default=1, choices=(1, 2, 3), help="order of the derivative")
    common.add_argument("--json", action="store_true", help="print JSON")
    shower = verbs.add_parser("show", parents=[common], help="print a function and its gradient's source")
    shower.add_argument("--sig", help="types of the arguments: 'f8[:], float'")
    shower.add_argument("--ir", action="store_true", help="print the IR instead of the source")
    shower.add_argument(
        "--stage", help="the IR after a stage ('lowered') or a pass ('hoist'), or what two stages changed ('lowered,simplified')"
    )
    shower.add_argument("--value", action="store_true", help="show value_and_grad instead of grad")
    shower.add_argument("--strict", action="store_true", help="refuse arguments that the result does not depend on")
    shower.set_defaults(run=show)
    explainer = verbs.add_parser("explain", parents=[common], help="print what becomes of each line, and why")
    explainer.add_argument("--sig", help="types of the arguments: 'f8[:], float'")
    explainer.add_argument("--value", action="store_true", help="explain value_and_grad instead of grad")
    explainer.add_argument("--strict", action="store_true", help="refuse arguments that the result does not depend on")
    explainer.add_argument("--timings", action="store_true", help="print what each pass took, too")
    explainer.set_defaults(run=explain)
    checker = verbs.add_parser("check", parents=[common], help="compare the derivatives with differences")
    checker.add_argument("--directions", type=int, default=3, help="random directions for each order")
    checker.add_argument("--modes", default="forward,reverse", help="modes to check, parted by commas (default: forward,reverse)")
    checker.set_defaults(run=check)
    lister = verbs.add_parser("passes", help="print which passes run for a target, in order")
    lister.add_argument("targets", metavar="TARGET", nargs="*", help="for example numpy (default: all)")
    lister.add_argument("--json", action="store_true", help="print JSON")
    lister.set_defaults(run=passes)
    explained = verbs.add_parser("errors", help="print what kinds of errors mean, and the ways out")
    explained.add_argument("kinds", metavar="KIND", nargs="*", help="for example NotScalar (default: a line for each)")
    explained.add_argument("--json", action="store_true", help="print JSON")
    explained.set_defaults(run=errors)
    return grammar


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = parser().parse_args(argv)
    run: Callable[[argparse.Namespace], int] = options.run
    before = sys.path[:]
    for stream in (sys.stdout, sys.stderr):  # what a terminal cannot show, names of data among it, is escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return run(options)
    except Usage as error:
        print(f"symgrad: {error}", file=sys.stderr)
        return 2
    except SymgradError as error:
        print(render(error), file=sys.stderr)
        return 1
    finally:
        sys.path[:] = before


if __name__ == "__main__":
    sys.exit(main())
