"""python tests/mutation/run.py [--faults N] [--seed S] [--only PACKAGE] [--minutes M] [--out FILE]: faults, and who finds them.

Faults are put one at a time into a copy of the package: into the frontend, the passes, the adjoint, the lowering to kernels, in lines
that the programs of ``trial.py`` reach. Each is found by the first call (a mismatch, or an error where there was an answer), by slopes
(``verify="gradient"``), by the differences of the tests, or by nobody; then the texts are the same, or other texts that are right.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from faults import Fault, chosen, mutated  # noqa: E402
from trial import LOUD  # noqa: E402

PACKAGES = {"frontend": 75, "passes": 60, "adjoint": 50, "loops": 35}
#: what became of a fault, in the order of the table
VERDICTS = ("error", "first call", "gradient", "tests", "other text", "same text")


@dataclass(slots=True)
class Laboratory:
    """A copy of the package, in which faults are tried."""

    place: Path
    package: Path = field(init=False)
    baseline: dict[bool, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.package = self.place / "symgrad"
        shutil.copytree(HERE.parent.parent / "symgrad", self.package, ignore=shutil.ignore_patterns("__pycache__"))
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

    def verdict(self, fault: Fault) -> tuple[str, dict[str, list[str]]]:
        """What became of a fault, and which programs each judge found it by."""
        jit = fault.module.startswith("loops/")
        base = self.base(jit)
        path = self.package / fault.module
        text = path.read_text()
        path.write_text(mutated(self.package, fault))
        try:
            made = self.run("trial", jit, "trial")
        finally:
            path.write_text(text)
            os.utime(path)
        if not isinstance(made, dict):
            return "error", {"error": [str(made)]}
        found: dict[str, list[str]] = {judge: [] for judge in ("error", "first", "slopes", "suite", "text")}
        for name, after in made.items():
            before = base[name]
            if after["text"] != before["text"]:
                found["text"].append(name)
            for judge in ("first", "slopes", "suite"):
                if after[judge] != before[judge]:
                    loud = after[judge].startswith(LOUD)
                    found["error" if loud else judge].append(name)
        if found["error"] and not found["first"] and not found["suite"]:
            return "error", found
        if found["first"]:
            return "first call", found
        if found["slopes"]:
            return "gradient", found
        if found["suite"]:
            return "tests", found
        return ("other text" if found["text"] else "same text"), found


def tried(faults: int, seed: int, only: str | None, minutes: float, say: Any = print) -> list[tuple[Fault, str, dict[str, list[str]]]]:
    """Try faults, as many as there is time for."""
    began, made = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder))
        share = faults / sum(PACKAGES.values())
        for package, count in PACKAGES.items():
            if only not in (None, package):
                continue
            jit = package == "loops"
            lines = {name: set(found) for name, found in laboratory.run("reached", jit, "reached").items()}
            for fault in chosen(laboratory.package, package, max(1, round(count * share)), seed, lines):
                if time.monotonic() - began > 60.0 * minutes:
                    return made
                verdict, found = laboratory.verdict(fault)
                made.append((fault, verdict, found))
                say(f"{verdict:11s} {fault}", flush=True)
                wrong = [name for name in found.get("suite", ()) if name not in found.get("first", ())]
                if wrong or verdict in ("tests", "other text"):
                    say(f"            {verdict}: {(wrong or found['text'])[:4]}", flush=True)
    return made


def table(made: list[tuple[Fault, str, dict[str, list[str]]]]) -> str:
    """The verdicts by package."""
    counts = Counter((fault.module.partition("/")[0], verdict) for fault, verdict, _ in made)
    lines = [f"{'':10s}" + "".join(f"{verdict:>12s}" for verdict in (*VERDICTS, "all"))]
    for package in (*PACKAGES, "all"):
        row = [sum(n for (p, v), n in counts.items() if package in (p, "all") and v == verdict) for verdict in VERDICTS]
        lines.append(f"{package:10s}" + "".join(f"{n:12d}" for n in (*row, sum(row))))
    return "\n".join(lines)


def main() -> None:
    """Try faults and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=220)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=PACKAGES)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", help="a file for what became of each fault")
    asked = parser.parse_args()
    made = tried(asked.faults, asked.seed, asked.only, asked.minutes)
    if asked.out:
        Path(asked.out).write_text(json.dumps([(str(fault), verdict, found) for fault, verdict, found in made], indent=1))
    print(table(made))


if __name__ == "__main__":
    main()
