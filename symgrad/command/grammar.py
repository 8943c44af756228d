"""The verbs and options of the command line as tables, and the parser built from them. Imports nothing that computes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Option:
    """An option or argument: its name, and its settings for ``argparse``."""

    names: tuple[str, ...]
    words: dict[str, Any]
    completes: str = ""  #: the kind of completion of its value: "target" or "file"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: its options by name, and the function that carries it out, as ``module:function`` in this package."""

    name: str
    help: str
    options: tuple[str, ...]
    run: str
    epilog: str = ""


def flag(*names: str, help: str) -> Option:
    """An option without a value."""
    return Option(names, {"action": "store_true", "help": help})


OPTIONS: dict[str, Option] = {
    "target": Option(("target",), {"metavar": "TARGET", "help": "file.py:function or package.module:function"}, "target"),
    "args": Option(("--args",), {"metavar": "VALUES", "help": "arguments to try it with, values only: 'np.ones(3), 2.0'"}),
    "sig": Option(("--sig",), {"metavar": "TYPES", "help": "types of the arguments instead of values: 'f8[:], float'"}),
    "wrt": Option(("--wrt",), {"metavar": "NAMES", "help": "names or positions of parameters, separated by commas (default: the first)"}),
    "order": Option(("--order",), {"type": int, "default": 1, "choices": (1, 2, 3), "help": "order of the derivative"}),
    "jit": flag("--jit", help="the code that numba compiles"),
    "json": flag("--json", help="print JSON"),
    "out": Option(("-o", "--output"), {"metavar": "FILE", "help": "write to a file (default: print)"}, "file"),
    "overwrite": flag("--overwrite", help="replace a file that symgrad has not written"),
    "value": flag("--value", help="value_and_grad instead of grad"),
    "strict": flag("--strict", help="refuse arguments that the result does not depend on"),
    "ir": flag("--ir", help="print the IR instead of the source"),
    "stage": Option(
        ("--stage",),
        {
            "metavar": "STAGE",
            "help": "the IR after a stage ('lowered') or a pass ('hoist'), or what two stages changed ('lowered,simplified')",
        },
    ),
    "timings": flag("--timings", help="also print the time of each pass"),
    "modes": Option(("--modes",), {"default": "forward,reverse", "metavar": "MODES", "help": "modes to check, separated by commas"}),
    "directions": Option(("--directions",), {"type": int, "default": 3, "metavar": "N", "help": "random directions for each order"}),
    "check": Option(
        ("--check",), {"metavar": "FILE", "help": "compare with a file that was written before: exit code 1 if it differs"}, "file"
    ),
    "format": Option(("--format",), {"choices": ("mermaid", "dot"), "default": "mermaid", "help": "the language of the drawing"}),
    "no-times": flag("--no-times", help="leave out timings, so that equal input gives an equal page"),
    "no-run": flag("--no-run", help="do not call the function: no values and no check"),
    "file": Option(("file",), {"metavar": "FILE", "help": "the file to begin with; it is not written to"}, "file"),
    "run": flag("--run", help="execute the edited text, for values, checks and code outside functions"),
    "port": Option(("--port",), {"type": int, "default": 0, "metavar": "N", "help": "the port on 127.0.0.1 (default: any free port)"}),
    "no-browser": flag("--no-browser", help="print the address and open no browser"),
    "repeat": Option(
        ("--repeat",), {"type": int, "default": 5, "metavar": "N", "help": "how often each is timed; the shortest time counts"}
    ),
    "words": Option(("words",), {"metavar": "WORD", "nargs": "*", "help": "part of a name, such as tanh or linalg (default: all)"}),
    "targets": Option(("targets",), {"metavar": "TARGET", "nargs": "*", "help": "for example numpy (default: all)"}),
    "kinds": Option(("kinds",), {"metavar": "KIND", "nargs": "*", "help": "for example NotScalar (default: a line for each)"}),
    "what": Option(("what",), {"choices": ("show", "clear"), "nargs": "?", "default": "show", "help": "show the cache, or clear it"}),
    "shell": Option(("shell",), {"choices": ("bash", "zsh", "fish"), "help": "the shell to write the script for"}),
}

ASKED = ("target", "args", "sig", "wrt", "order", "value", "strict")
VERBS = (
    Verb(
        "show",
        "print a function, its value and gradient, and the gradient's source",
        (*ASKED, "jit", "ir", "stage", "json"),
        "deriving:show",
    ),
    Verb(
        "emit",
        "write the gradient as a module of its own, or compare it with one",
        (*ASKED, "jit", "out", "overwrite", "check"),
        "deriving:emit",
        "In a build, emit --check FILE tests whether FILE is up to date.",
    ),
    Verb(
        "check",
        "compare the derivatives with differences",
        ("target", "args", "wrt", "order", "jit", "modes", "directions", "json"),
        "checking:check",
    ),
    Verb("explain", "print how each line is compiled, and why", (*ASKED, "jit", "timings", "json"), "deriving:explain"),
    Verb(
        "graph",
        "print the dataflow of the function or of its gradient",
        ("target", "args", "sig", "wrt", "stage", "format", "out", "overwrite", "json"),
        "deriving:graph",
    ),
    Verb(
        "report",
        "write a page with function and gradient side by side",
        (*ASKED, "jit", "out", "overwrite", "no-times", "no-run"),
        "deriving:report",
    ),
    Verb(
        "explore",
        "serve that page with an editor on this machine",
        ("file", "args", "wrt", "run", "port", "no-browser"),
        "exploring:explore",
        "Without --run the text is read, and never executed.",
    ),
    Verb("bench", "time the function, its gradient and its kernel", ("target", "args", "wrt", "repeat", "json"), "checking:bench"),
    Verb("rules", "list the functions that symgrad can differentiate, with their derivatives", ("words", "json"), "tables:rules"),
    Verb("passes", "print which passes run for a target, in order", ("targets", "json"), "tables:passes"),
    Verb("errors", "print what kinds of errors mean, and how to resolve them", ("kinds", "json"), "tables:errors"),
    Verb("doctor", "print installed versions, and whether they were tested", ("json",), "installation:doctor"),
    Verb("cache", "print location and size of the cache of compiled code, or clear it", ("what", "json"), "installation:cache"),
    Verb(
        "completion",
        "print a completion script for a shell",
        ("shell",),
        "completion:completion",
        'bash: eval "$(symgrad completion bash)"; zsh: the same with zsh; fish: symgrad completion fish | source',
    ),
)


def parser(version: str) -> argparse.ArgumentParser:
    """The command line's grammar."""
    grammar = argparse.ArgumentParser(
        "symgrad",
        description="Gradients of Python/NumPy functions, as Python source.",
        epilog="Exit codes: 0 success; 1 a check differs, or a function is refused; 2 usage, or an import that fails.",
    )
    grammar.add_argument("--version", action="version", version=f"symgrad {version}")
    verbs = grammar.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        own = verbs.add_parser(verb.name, help=verb.help, description=f"{verb.help[0].upper()}{verb.help[1:]}.", epilog=verb.epilog or None)
        for name in verb.options:
            option = OPTIONS[name]
            own.add_argument(*option.names, **option.words)
        own.add_argument(
            "--color", choices=("auto", "always", "never"), default="auto", help="colours (default: on a terminal, unless NO_COLOR)"
        )
        own.set_defaults(run_=verb.run)
    return grammar


def parsed(argv: Sequence[str] | None, version: str) -> argparse.Namespace:
    """The options of a command; ``SystemExit`` with code 2 for another one."""
    return parser(version).parse_args(argv)


__all__ = ["OPTIONS", "VERBS", "Option", "Verb", "parsed", "parser"]
