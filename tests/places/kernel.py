"""Cells of a notebook, run by nbclient in a real kernel of this interpreter."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def executed(texts: Sequence[str], place: Path) -> list[Any]:
    """The cells after a run of the whole notebook, in a folder of its own; a cell that raises ends nothing."""
    kernel = place / "kernels" / "this"
    kernel.mkdir(parents=True)
    arguments = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": arguments, "display_name": "this", "language": "python"}))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in texts])
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(place / name.lower()))
        patch.setenv("JUPYTER_PATH", str(place))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        client: Any = nbclient.NotebookClient(
            notebook, kernel_name="this", timeout=120, allow_errors=True, resources={"metadata": {"path": str(place)}}
        )
        client.execute()
    return list(notebook.cells)
