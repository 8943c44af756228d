"""IPython on a terminal, where each input is a cell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.places.programs import PROGRAM, run

pytest.importorskip("IPython")


def test_what_is_typed_and_run(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "cells.ipy").write_text(
        "import numpy as np, symgrad\n%time k = lambda x: np.sum(x) * 4\nprint('k', symgrad.grad(k)(1.0))\n"
    )
    typed = [
        "import numpy as np, symgrad; f = lambda x: np.sum(x) * 2; print('f', symgrad.grad(f)(1.0))",
        "%time g = lambda x: np.sum(x) * 3",
        "print('g', symgrad.grad(g)(1.0), symgrad.grad(f)(1.0))",
        "%run program.py",
        "%run -i cells.ipy",
        "f = lambda x: np.sum(x) * 5",
        "print('again', symgrad.grad(f)(1.0))",
        "get_ipython().run_cell('def h(x):\\n    return np.sum(x) * 7'); print('h', symgrad.grad(h)(1.0))",
        "%timeit -n1 -r1 symgrad.grad(f)(1.0)",
        "exit",
    ]
    shown = run(
        "-m", "IPython", "--simple-prompt", "--no-banner", "--ipython-dir", str(tmp_path), stdin="\n".join(typed) + "\n", place=tmp_path
    )
    printed = re.findall(r"(f|g|k|again|h) ([\d. ]+)$|^(?:In \[\d+\]: )?(6\.0)$", shown, re.MULTILINE)
    assert printed == [("f", "2.0", ""), ("g", "3.0 2.0", ""), ("", "", "6.0"), ("k", "4.0", ""), ("again", "5.0", ""), ("h", "7.0", "")], (
        shown
    )
    assert "Error" not in shown, shown
