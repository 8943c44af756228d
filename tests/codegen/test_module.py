"""Saved modules: they run alone; refusals."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from symgrad.codegen.module import module_text
from symgrad.codegen.texts import Emitted
from symgrad.errors import SaveError
from symgrad.runtime import support


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "saved.py"
    path.write_text(text)
    return subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, check=False, cwd=folder)


def test_functions_that_support_functions_call_are_copied_too(tmp_path: Path) -> None:
    text = module_text([Emitted("print(take(np.arange(3.0), np.array([0, 0])))\n", {"np": np, "take": support.take_written})], "One.")

    assert run(text, tmp_path).stdout == "[0. 0.]\n"
    assert text.index("def last_written") < text.index("def take_written") < text.index("take = take_written")


def test_what_has_no_spelling_is_refused_by_name() -> None:
    with pytest.raises(SaveError, match="noise, table"):
        module_text([Emitted("", {"table": np.ones(3), "noise": lambda x: x, "math": math})], "It.")


def test_two_objects_of_one_name_are_refused() -> None:
    with pytest.raises(SaveError, match="called c"):
        module_text([Emitted("", {"c": 1.0}), Emitted("", {"c": 2.0})], "It.")
