"""``python -m tests.bench.entered [--jit]``: which modules of symgrad the first derivative of a process enters, with the calls in each.

The program is the example of the README. A module is entered where one of its functions is called; what a module does while it is
imported, and what others do for it then, is counted apart. ``--second`` measures a second function in the same process.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import symgrad

ROOT = Path(symgrad.__file__).parent
#: modules that the first derivative of the README's example may enter
MOST = 110


def rnn_sum(x, w, n):
    h = x
    for i in range(n):
        h = np.tanh(w * h + x)
    return np.sum(h)


def wave_sum(x, w, n):
    h = x
    for i in range(n):
        h = np.sin(w * h + x)
    return np.sum(h)


class Entered:
    """The calls in each module of symgrad: by what was called itself, and while modules were imported."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.importing: Counter[str] = Counter()
        self.depth = 0  #: how many modules are being imported

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note one event of the profiler."""
        code = frame.f_code
        if code.co_name == "<module>":
            self.depth += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and ROOT in (path := Path(code.co_filename)).parents:
            (self.importing if self.depth else self.calls)[path.relative_to(ROOT).as_posix()] += 1


@contextmanager
def entered() -> Iterator[Entered]:
    """What is entered meanwhile."""
    record = Entered()
    before = sys.getprofile()
    sys.setprofile(record.note)
    try:
        yield record
    finally:
        sys.setprofile(before)


def derivative(function: Callable[..., Any], jit: bool) -> None:
    """The gradient of a function at the README's arguments."""
    symgrad.grad(function, wrt=("x", "w"), jit=jit)(np.ones(3), 0.5, 4)


def measured(jit: bool = False, second: bool = False) -> Entered:
    """What the first derivative of a process enters, or a second one of a like function."""
    if second:
        derivative(rnn_sum, jit)
    with entered() as record:
        derivative(wave_sum if second else rnn_sum, jit)
    return record


def lines(record: Entered) -> Iterator[str]:
    """The modules by package, each with the number of calls."""
    yield f"{len(record.calls)} modules entered, {sum(record.calls.values())} calls"
    if more := record.importing.keys() - record.calls.keys():
        yield f"{len(more)} more have functions or classes of theirs run while modules are imported"
    packages: dict[str, list[str]] = {}
    for name in sorted(record.calls):
        package, _, module = name.rpartition("/")
        packages.setdefault(package or "symgrad", []).append(f"{module.removesuffix('.py')} {record.calls[name]}")
    for package, modules in sorted(packages.items()):
        yield f"{package} ({len(modules)}): {', '.join(modules)}"


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.entered", description="which modules a derivative enters")
    parser.add_argument("--jit", action="store_true", help="of a kernel")
    parser.add_argument("--second", action="store_true", help="of a second function in the same process")
    options = parser.parse_args()
    print("\n".join(lines(measured(options.jit, options.second))))


if __name__ == "__main__":
    main()
