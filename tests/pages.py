"""The programs and commands of a page, run in order -> what each of them prints, beside what the page shows.

The programs of a page are one module, in order. A block whose first line is a comment such as ``# loss.py`` is
a file of its own, for commands.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

import symgrad

#: a program, and what it prints where the page shows that
PROGRAM = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<text>.*?)^```$)?", re.DOTALL | re.MULTILINE)
#: the first line of a program that is a file
FILE = re.compile(r"# (\w+\.py)\n")
#: commands that begin with a dollar, and what they print
SESSION = re.compile(r"^```console\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows at a place, and what is printed there now."""

    start: int
    end: int
    text: str
    printed: str


def run_page(page: str, path: Path) -> list[Shown]:
    """Run all programs of a page in order, as one module in the file ``path``; then its commands, beside that file."""
    programs = []
    for program in PROGRAM.finditer(page):
        if (name := FILE.match(program["code"])) is None:
            programs.append(program)
        else:
            (path.parent / name[1]).write_text(program["code"])
    code = "\n".join(program["code"] for program in programs)
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    shown, line = [], 0
    for program in programs:
        printed = printed_by(parsed(program["code"], path, line), module)
        line += program["code"].count("\n") + 1
        if program["text"] is not None:
            shown.append(Shown(program.start("text"), program.end("text"), program["text"], tidy(printed, path)))
    for session in SESSION.finditer(page):
        printed = "".join(f"{command}\n{output_of(command[2:], path)}" for command in re.findall(r"^\$ .*", session["text"], re.MULTILINE))
        shown.append(Shown(session.start("text"), session.end("text"), session["text"], tidy(printed, path)))
    return shown


def parsed(code: str, path: Path, line: int) -> CodeType:
    """A part of the file, as it would be compiled with the whole: with the numbers of its lines there."""
    tree = ast.increment_lineno(ast.parse(code), line)
    return compile(tree, path, "exec", dont_inherit=True)


def printed_by(code: CodeType, module: ModuleType) -> str:
    """What a program prints; an error of symgrad ends it, with the text that a traceback ends with."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(code, vars(module))
        except symgrad.SymgradError as error:
            print(f"{type(error).__name__}: {error}")
    return out.getvalue()


def output_of(command: str, path: Path) -> str:
    """What a command prints; ``python`` is the one that runs the tests."""
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    ran = subprocess.run(words, cwd=path.parent, capture_output=True, text=True, timeout=120)
    return ran.stdout + ran.stderr


def tidy(text: str, path: Path) -> str:
    """Without the folder of the program, and without blanks at the ends of lines."""
    lines = text.replace(f"{path.parent}/", "").rstrip().splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def renewed(page: str, shown: list[Shown]) -> str:
    """The page with what is printed now."""
    for place in sorted(shown, key=lambda each: each.start, reverse=True):
        page = page[: place.start] + place.printed + page[place.end :]
    return page
