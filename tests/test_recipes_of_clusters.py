"""The recipes of ``docs/clusters.md`` for MPI and Ray, run where these are installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import FILE, PROGRAM

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow


def written(folder: Path) -> None:
    """Write the programs of the page as files: those without a name are ``model.py``."""
    programs = [program["code"] for program in PROGRAM.finditer((ROOT / "docs" / "clusters.md").read_text())]
    (folder / "model.py").write_text("\n".join(program for program in programs if not FILE.match(program)))
    for program in programs:
        if name := FILE.match(program):
            (folder / name[1]).write_text(program)


def printed(folder: Path, *command: str) -> list[str]:
    """What a command prints, without what Ray and MPI say of themselves."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, env=environment)
    assert ran.returncode == 0, ran.stderr
    return re.findall(r"^(?:ray|mpi) .*", ran.stdout, re.MULTILINE)


def test_ray(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    pytest.importorskip("joblib")
    written(tmp_path)
    assert printed(tmp_path, sys.executable, "with_ray.py") == ["ray True"]


@pytest.mark.parametrize("count", [1, 2])
def test_mpi(tmp_path: Path, count: int) -> None:
    start = shutil.which("mpiexec") or pytest.skip("mpiexec is not installed")
    pytest.importorskip("mpi4py")  # which by itself starts no MPI
    written(tmp_path)
    assert printed(tmp_path, start, "-n", str(count), sys.executable, "with_mpi.py") == [f"mpi {count} True True"]
