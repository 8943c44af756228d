"""A plugin of pytest: which tests run the lines of faults, how long each takes, and whether it passes.

``SYMGRAD_MUTATION`` names two files: of lines, ``{path of a module: [line, ...]}``, and of what is written, a line of JSON for each test.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest


class Watch:
    """Notes which of some lines run."""

    def __init__(self, lines: dict[str, list[int]]) -> None:
        self.lines = {name: set(numbers) for name, numbers in lines.items()}
        self.known: dict[tuple[str, int, str], set[int]] = {}
        self.ran: set[tuple[str, int]] = set()

    def called(self, frame: Any, event: str, argument: Any) -> Any:
        """Trace a call if lines of its code are watched."""
        code: CodeType = frame.f_code
        lines = self.lines.get(code.co_filename)
        if lines is None:
            return None
        key = (code.co_filename, code.co_firstlineno, code.co_name)
        own = self.known.get(key)
        if own is None:
            own = self.known[key] = {line for _, _, line in code.co_lines() if line in lines}
        return self.traced if own else None

    def traced(self, frame: Any, event: str, argument: Any) -> Any:
        """Note a line."""
        if event == "line":
            self.ran.add((frame.f_code.co_filename, frame.f_lineno))
        return self.traced


class Reaching:
    """Watches each test and writes what it ran."""

    def __init__(self, watch: Watch, out: Path) -> None:
        self.watch, self.out = watch, out
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.watch.ran.clear()
        began = time.monotonic()
        sys.settrace(self.watch.called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            ran = sorted((name, line) for name, line in self.watch.ran if line in self.watch.lines[name])
            passed = item.nodeid not in self.failed
            with self.out.open("a") as file:
                file.write(json.dumps({"test": item.nodeid, "seconds": time.monotonic() - began, "passed": passed, "ran": ran}) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    lines, out = os.environ["SYMGRAD_MUTATION"].split(os.pathsep)
    config.pluginmanager.register(Reaching(Watch(json.loads(Path(lines).read_text())), Path(out)))
