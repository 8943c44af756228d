"""Programs run by another interpreter of the same kind, with this package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
#: what most of them are: the gradient 6 of a function that is read where it was written
PROGRAM = "import numpy as np, symgrad\ndef f(x):\n    return np.sum(x) * 6\nprint(float(symgrad.grad(f)(1.0)))\n"


def run(*arguments: str, stdin: str | None = None, place: Path | None = None) -> str:
    """What an interpreter prints, errors included."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    process = subprocess.run(
        [sys.executable, *arguments], input=stdin, capture_output=True, text=True, timeout=120, env=environment, cwd=place, check=False
    )
    return (process.stdout + process.stderr).strip()
