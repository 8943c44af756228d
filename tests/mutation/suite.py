"""Faults against the tests: which tests run the line of a fault, and the first of them that fails with it."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from faults import Fault

HERE = Path(__file__).parent
#: tests in the order in which faults meet them: what survives one row meets the next one
ROWS = (
    ("tests/passes", "tests/adjoint", "tests/golden", "tests/ir"),
    ("tests/frontend", "tests/verification", "tests/test_constructs.py", "tests/test_semantics.py"),
    ("tests/loops", "tests/codegen"),
    ("tests",),
)
#: what says nothing of a fault: tests of time and of the texts of this repository, tests in other processes, and these
LEFT_OUT = (
    "tests/mutation/test_mutation.py", "tests/bench", "tests/places", "tests/test_growth.py", "tests/codegen/test_speed.py", "tests/test_layers.py",
    "tests/test_documents.py", "tests/test_readme.py", "tests/facades/test_travelling.py", "tests/facades/test_forks.py",
)  # fmt: skip
#: of the tests that run a line, how many are tried at a time
BATCHES = (60, 400, 100_000)


@dataclass(frozen=True, slots=True)
class Ran:
    """A test that passes without a fault, and the watched lines that it runs."""

    test: str
    seconds: float
    lines: frozenset[tuple[str, int]]


@dataclass(slots=True)
class Suite:
    """The tests in a copy of the repository, in which one module at a time is faulty."""

    place: Path
    package: Path
    minutes: float  #: for the tests of one fault in one row
    rows: tuple[tuple[str, ...], ...] = ROWS

    def survivors(self, faults: list[Fault], faulty: Callable[[Fault, Callable[[], Any]], Any]) -> Iterator[tuple[Fault, str | None]]:
        """Each fault with the first test that fails, None if no test does; ``faulty`` calls a function while the fault stands there."""
        left = list(faults)
        for row in self.rows:
            ran = self.reached(row, left)
            still = []
            for fault in left:
                lines = {(str(self.package / fault.module), line) for line in lines_of(self.package, fault)}
                tests = by_turns(one for one in ran if one.lines & lines)
                test = faulty(fault, lambda tests=tests: self.first_failure(tests))
                if test is None:
                    still.append(fault)
                else:
                    yield fault, test
            left = still
        for fault in left:
            yield fault, None

    def reached(self, row: tuple[str, ...], faults: list[Fault]) -> list[Ran]:
        """The tests of a row, with those of the lines of faults that each runs."""
        lines, out = self.place / "lines.json", self.place / "ran.jsonl"
        watched: dict[str, set[int]] = {}
        for fault in faults:
            watched.setdefault(str(self.package / fault.module), set()).update(lines_of(self.package, fault))
        lines.write_text(json.dumps({name: sorted(numbers) for name, numbers in watched.items()}))
        out.unlink(missing_ok=True)
        out.touch()
        earlier = {path for known in self.rows[: self.rows.index(row)] for path in known}
        left_out = [f"--ignore={path}" for path in (*LEFT_OUT, *sorted(earlier))]
        self.pytest(["-p", "reaching", *left_out, *row], None, {"SYMGRAD_MUTATION": f"{lines}{os.pathsep}{out}"})
        told = [json.loads(line) for line in out.read_text().splitlines()]
        return [
            Ran(one["test"], one["seconds"], frozenset((name, line) for name, line in one["ran"]))
            for one in told
            if one["passed"] and one["ran"]
        ]

    def first_failure(self, tests: list[Ran]) -> str | None:
        """The first of some tests that fails now, of as many as there is time for."""
        seconds, start = 60.0 * self.minutes, 0
        for size in BATCHES:
            batch: list[Ran] = []
            for one in tests[start : start + size]:
                if one.seconds <= seconds:
                    seconds -= one.seconds
                    batch.append(one)
            start += size
            if not batch:
                return None
            self.place.joinpath("tests.txt").write_text("\n".join(one.test for one in batch))
            allowed = 60.0 + 5.0 * sum(one.seconds for one in batch)
            code, output = self.pytest(["-x", "--tb=no", "@tests.txt"], allowed, {})
            if code is None:
                return f"no end in {allowed:.0f} s: {batch[0].test} and others"
            if code:
                failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
                return failed[0] if failed else output[-200:]
        return None

    def pytest(self, arguments: Iterable[str], seconds: float | None, kept: dict[str, str]) -> tuple[int | None, str]:
        """The exit status of pytest, None if it came to no end, and what it printed."""
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join([str(self.place), str(HERE)]), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "SYMGRAD_CACHE_DIR": str(self.place / "cache"), **kept,
        }  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
        try:
            ran = subprocess.run(command, cwd=self.place, env=environment, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, ""
        return ran.returncode, ran.stdout


def by_turns(tests: Iterable[Ran], first: int = BATCHES[0]) -> list[Ran]:
    """Tests in an order in which failures come soon: the ``first`` quickest ones, then of each file the next quickest, by turns."""
    ordered = sorted(tests, key=lambda one: one.seconds)
    files: dict[str, list[Ran]] = {}
    for one in ordered[first:]:
        files.setdefault(one.test.partition("::")[0], []).append(one)
    turns = [(place, one.seconds, one) for known in files.values() for place, one in enumerate(known)]
    return ordered[:first] + [one for _, _, one in sorted(turns, key=lambda turn: turn[:2])]


def lines_of(package: Path, fault: Fault) -> set[int]:
    """Lines one of which runs wherever the fault does."""
    text = (package / fault.module).read_text()
    tree = ast.parse(text)
    node: Any = list(ast.walk(tree))[fault.number]
    if isinstance(node, ast.FunctionDef):
        node = node.body[1 if ast.get_docstring(node) else 0]
    having = coded(compile(text, fault.module, "exec"))
    lines = having & set(range(node.lineno, node.end_lineno + 1))
    around = [s for s in ast.walk(tree) if isinstance(s, ast.stmt) and s.lineno <= node.lineno and (s.end_lineno or 0) >= node.lineno]
    inner = min(around, key=lambda s: (s.end_lineno or 0) - s.lineno)
    return lines or having & set(range(inner.lineno, (inner.end_lineno or 0) + 1))


def coded(code: CodeType) -> set[int]:
    """The lines of a module that have instructions."""
    lines = {line for _, _, line in code.co_lines() if line is not None}
    return lines.union(*(coded(inner) for inner in code.co_consts if isinstance(inner, CodeType)))
