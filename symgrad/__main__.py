"""The entry point of ``python -m symgrad``, as in ``python -m symgrad show examples/rosenbrock.py:loss``; see ``command/grammar.py``.

Exit codes: 0 right, 1 a check differs or a function is refused, 2 usage or a failed import.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import symgrad
from symgrad.command.main import run


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run(argv, symgrad.__version__)


if __name__ == "__main__":
    sys.exit(main())
