"""``python tests/tour.py [PAGE ...]``: runs the programs of pages (the tour, if none is named) with the installed symgrad, in a fresh folder."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pages import run_page

import symgrad

ROOT = Path(__file__).resolve().parent.parent


def main(names: list[str]) -> None:
    """Run each page, and say what was run."""
    for name in names or ["docs/tour.md"]:
        page = (ROOT / name).read_text()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            sys.path.insert(0, folder)
            shown = run_page(page, Path(folder) / "model.py")
            sys.path.remove(folder)
            os.chdir(ROOT)
        same = sum(place.printed == place.text for place in shown)
        print(f"{name}: {same} of {len(shown)} texts are as shown, with symgrad {symgrad.__version__} of {Path(symgrad.__file__).parent}")


if __name__ == "__main__":
    main(sys.argv[1:])
