"""Files of pairs of IR text: a title, the text before, the text after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

BECOMES = "--- becomes"


def pairs(path: Path) -> Iterator[tuple[str, str, str]]:
    """Title, text before and text after of each case of a file."""
    title, before, after, target = "", [], [], []
    for line in path.read_text().splitlines():
        if line == BECOMES:
            target = after
        elif line.startswith("--- "):
            if title:
                yield title, "\n".join(before), "\n".join(after)
            title, before, after = line[4:], [], []
            target = before
        else:
            target.append(line)
    yield title, "\n".join(before), "\n".join(after)
