"""python tests/mutation/run.py [--faults N] [--seeds S ...] [--only PACKAGE] [--out FILE]: faults in the package, and who finds them.

Faults are put one at a time into a copy of the package: into the frontend, the passes, the adjoint, the lowering to kernels, in functions
that the programs of ``trial.py`` reach. Each is found on these programs by an error where there was an answer, by the first call (a
mismatch), by slopes (``verify="gradient"``) or by differences; or else by the tests that run its line (``suite.py``); or it makes no
difference to any program, for a reason that ``equivalent.py`` states; or by nobody.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

HERE = Path(__file__).parent
from equivalent import reason
from faults import Fault, chosen, mutated
from suite import Suite
from trial import LOUD

PACKAGES = {"frontend": 75, "passes": 60, "adjoint": 50, "loops": 35}
#: what became of a fault, in the order of the table
VERDICTS = ("error", "first call", "gradient", "differences", "tests", "equivalent", "nobody")
#: of the repository, what tests read
COPIED = ("symgrad", "tests", "docs", "examples", "README.md", "pyproject.toml")
T = TypeVar("T")


@dataclass(slots=True)
class Verdict:
    """What became of a fault: who found it, on which programs or by which test."""

    fault: Fault
    verdict: str
    programs: dict[str, list[str]]  #: who found it on which programs; ``text``: where another text is written
    test: str = ""  #: the test that failed, or why there is none


@dataclass(slots=True)
class Laboratory:
    """A copy of the repository, in which faults are tried."""

    place: Path
    package: Path = field(init=False)
    baseline: dict[bool, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.package = self.place / "symgrad"
        for name in COPIED:
            source = HERE.parent.parent / name
            if source.is_dir():
                shutil.copytree(source, self.place / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, self.place / name)
        self.run("expected", False, "wanted")

    def run(self, what: str, jit: bool, name: str, seconds: float = 400.0) -> Any:
        """Run ``trial.py`` on the copy as it is; None if it came to no end."""
        out = self.place / f"{name}.json"
        out.unlink(missing_ok=True)
        kept = {"PYTHONPATH": str(self.place), "SYMGRAD_CACHE_DIR": "off", "NUMBA_CACHE_DIR": str(self.place / "numba"), "OMP_NUM_THREADS": "1",
                "PYTHONDONTWRITEBYTECODE": "" if name in ("wanted", "base") else "1"}  # fmt: skip
        command = [sys.executable, str(HERE / "trial.py"), what, "jit" if jit else "numpy", str(self.place / "wanted.json"), str(out)]
        try:
            ran = subprocess.run(command, env={**os.environ, **kept}, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        if not out.exists():
            return ran.stderr[-300:]
        return json.loads(out.read_text())

    def base(self, jit: bool) -> Any:
        """What the package gives without a fault."""
        if jit not in self.baseline:
            self.baseline[jit] = self.run("trial", jit, "base")
            assert isinstance(self.baseline[jit], dict), self.baseline[jit]
        return self.baseline[jit]

    def faulty(self, fault: Fault, call: Callable[[], T]) -> T:
        """What a function gives while the fault stands in the copy."""
        path = self.package / fault.module
        text, times = path.read_text(), path.stat()
        path.write_text(mutated(self.package, fault))
        try:
            return call()
        finally:
            path.write_text(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def trial(self, fault: Fault) -> Verdict:
        """What the programs of ``trial.py`` say of a fault: ``nobody`` if all of them are right."""
        jit = fault.module.startswith("loops/")
        base = self.base(jit)
        programs = self.faulty(fault, lambda: self.run("trial", jit, "trial"))
        if not isinstance(programs, dict):
            return Verdict(fault, "error", {"error": [str(programs)]})
        verdicts_by_judge: dict[str, list[str]] = {judge: [] for judge in ("error", "first", "slopes", "suite", "text")}
        for name, after in programs.items():
            before = base[name]
            if after["text"] != before["text"]:
                verdicts_by_judge["text"].append(name)
            for judge in ("first", "slopes", "suite"):
                if after[judge] != before[judge]:
                    loud = after[judge].startswith(LOUD)
                    verdicts_by_judge["error" if loud else judge].append(name)
        if verdicts_by_judge["error"] and not verdicts_by_judge["first"] and not verdicts_by_judge["suite"]:
            return Verdict(fault, "error", verdicts_by_judge)
        for judge, verdict in (("first", "first call"), ("slopes", "gradient"), ("suite", "differences")):
            if verdicts_by_judge[judge]:
                return Verdict(fault, verdict, verdicts_by_judge)
        return Verdict(fault, "nobody", verdicts_by_judge)


def tried(faults: int, seeds: list[int], only: str | None, minutes: float, say: Any = print) -> list[Verdict]:
    """Try faults on the programs, and what is left against the tests, ``minutes`` for each row of tests and fault."""
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder))
        verdicts: dict[Fault, Verdict] = {}
        share = faults / sum(PACKAGES.values())
        for package, count in PACKAGES.items():
            if only not in (None, package):
                continue
            lines = {name: set(lines_of) for name, lines_of in laboratory.run("reached", package == "loops", "reached").items()}
            for seed in seeds:
                for fault in chosen(laboratory.package, package, max(1, round(count * share)), seed, lines):
                    if fault not in verdicts:
                        verdicts[fault] = laboratory.trial(fault)
                        say(f"{verdicts[fault].verdict:11s} {fault}", flush=True)
        against_tests(laboratory, verdicts, minutes, say)
        return list(verdicts.values())


def against_tests(laboratory: Laboratory, verdicts: dict[Fault, Verdict], minutes: float, say: Any) -> None:
    """Try what nobody has found against the tests."""
    left = [fault for fault, verdict in verdicts.items() if verdict.verdict == "nobody"]
    suite = Suite(laboratory.place, laboratory.package, minutes)
    for fault, test in suite.survivors(left, laboratory.faulty):
        verdict = verdicts[fault]
        verdict.test = test or reason(fault) or ""
        verdict.verdict = "tests" if test else "equivalent" if verdict.test else "nobody"
        say(f"{verdict.verdict:11s} {fault}\n            {verdict.test}", flush=True)


def table(verdicts: list[Verdict]) -> str:
    """The verdicts by package."""
    counts = Counter((one.fault.module.partition("/")[0], one.verdict) for one in verdicts)
    lines = [f"{'':10s}" + "".join(f"{verdict:>12s}" for verdict in (*VERDICTS, "all"))]
    for package in (*PACKAGES, "all"):
        row = [sum(n for (p, v), n in counts.items() if package in (p, "all") and v == verdict) for verdict in VERDICTS]
        lines.append(f"{package:10s}" + "".join(f"{n:12d}" for n in (*row, sum(row))))
    return "\n".join(lines)


def main() -> None:
    """Try faults and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=220, help="for each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--only", choices=PACKAGES)
    parser.add_argument("--minutes", type=float, default=5.0, help="for the tests of one fault in one row of suite.py")
    parser.add_argument("--out", help="a file for what became of each fault")
    asked = parser.parse_args()
    verdicts = tried(asked.faults, asked.seeds, asked.only, asked.minutes)
    if asked.out:
        Path(asked.out).write_text(json.dumps([(astuple(one.fault), one.verdict, one.programs, one.test) for one in verdicts], indent=1))
    print(table(verdicts))


if __name__ == "__main__":
    main()
