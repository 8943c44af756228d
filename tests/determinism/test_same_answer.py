"""The same text in processes that differ in memory, hash seed, collector, import order, order of programs and of sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from symgrad.testing import check_grads
from tests.determinism.__main__ import programs
from tests.determinism.programs import CASES, Case

ROOT = Path(__file__).parent.parent.parent
KINDS = ("as it is read", "as it runs", "kernel")


def emitted_in_process(seed: int, count: int) -> dict[str, list[str]]:
    """The texts of the first programs, from a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed % 5), "SYMGRAD_CACHE_DIR": "off"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    command = [sys.executable, "-m", "tests.determinism", str(seed), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    texts: dict[str, list[str]] = json.loads(done.stdout)
    return texts


def differing(seeds: range, count: int) -> list[str]:
    """The programs, and which of their texts, that were not the same in all processes."""
    seen: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for seed in seeds:
        for name, texts in emitted_in_process(seed, count).items():
            for kind, text in zip(KINDS, texts, strict=True):
                seen[name, kind].add(text)
    assert len(seen) == count * len(KINDS)
    return [f"{name} {kind}: {len(texts)} texts" for (name, kind), texts in seen.items() if len(texts) > 1]


def test_some_programs_are_the_same_in_two_processes() -> None:
    assert differing(range(1, 3), 2) == []


@pytest.mark.slow
def test_all_programs_are_the_same_in_twenty_processes() -> None:
    assert len(programs()) > 500
    assert differing(range(20), 300) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.function.__name__)
def test_these_programs_have_gradients_that_are_right(case: Case) -> None:
    check_grads(case.function, case.arguments(), wrt=case.wrt)
