"""``python -m tests.language``: is ``docs/language.md`` what the examples say?  ``--write`` writes it anew."""

from __future__ import annotations

import argparse
import sys

from tests.language.page import PAGE, page


def main() -> int:
    """Compare the page, or write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.language", description="compare docs/language.md with the table of examples")
    parser.add_argument("--write", action="store_true", help="write the page anew")
    write = parser.parse_args().write
    text = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE.name}: {'written' if write else 'differs'}")
    if write:
        PAGE.write_text(text, encoding="utf-8")
    return int(not write)


if __name__ == "__main__":
    sys.exit(main())
