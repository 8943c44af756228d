"""``python -m tests.golden``: which gradients are not emitted as they stand in ``emitted``; ``--write`` writes them anew."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import symgrad
from tests.golden.programs import GOLDEN, Golden

FOLDER = Path(__file__).parent / "emitted"


def emitted(golden: Golden, jit: bool = False) -> str:
    """The text of a gradient as it runs, on one target or the other."""
    return symgrad.grad(golden.function, wrt=golden.wrt, jit=jit).source(*golden.arguments(), optimize="speed")


def path_of(golden: Golden, jit: bool = False) -> Path:
    """The file that holds the text."""
    return FOLDER / f"{golden.name}{'_kernel' * jit}.py"


def main() -> int:
    """Compare the texts, or write them."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description="compare emitted gradients with those kept")
    parser.add_argument("--write", action="store_true", help="keep what is emitted now")
    write = parser.parse_args().write
    different = 0
    for golden, jit in itertools.product(GOLDEN, (False, True)):
        path, text = path_of(golden, jit), emitted(golden, jit)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        different += 1
        print(f"{path.stem}: {'written' if write else 'differs'}")
        if write:
            path.write_text(text, encoding="utf-8")
    return int(different > 0 and not write)


if __name__ == "__main__":
    raise SystemExit(main())
