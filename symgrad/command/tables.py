"""The verbs that print tables: ``rules``, ``passes``, ``errors``."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from symgrad.command.terminal import coloured, painted
from symgrad.command.usage import Usage

PACKAGE = Path(__file__).parent.parent


def rules(options: argparse.Namespace) -> int:
    """Print the rows of the vocabulary whose names hold some words, each with its derivative."""
    from symgrad.command.vocabulary import described

    rows = [
        row for row in described() if all(word.lower() in f"{row['name']} {' '.join(row['spelled'])}".lower() for word in options.words)
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    if not rows:
        raise Usage(f"no rule has a name with {' '.join(options.words)!r} in it; python -m symgrad rules lists them all")
    colours = coloured(options)
    for row in rows:
        spelled = f"  {painted(', '.join(row['spelled']), 'soft', colours)}" if row["spelled"] else ""
        print(f"{painted(row['call'], 'title', colours)}{spelled}")
        for line in [*(f"{name}_grad = {text}" for name, text in row["derivative"].items()), *([row["why"]] if row["why"] else [])]:
            print(f"    {line}")
    return 0


def passes(options: argparse.Namespace) -> int:
    """Print which passes run for a target, and in which order."""
    from symgrad.pipeline.registry import PIPELINES, page

    for target in options.targets:
        if target not in PIPELINES:
            raise Usage(f"there is no target {target!r}; there are {', '.join(PIPELINES)}")
    pages = {target: [*page(target)] for target in options.targets or PIPELINES}
    print(json.dumps(pages, indent=2) if options.json else "\n\n".join("\n".join(lines) for lines in pages.values()))
    return 0


def errors(options: argparse.Namespace) -> int:
    """Print the sections of the page of errors about some kinds, or the list of kinds."""
    sections = error_sections()
    known = {name.lower(): name for name in sections}
    for name in options.kinds:
        if name.lower() not in known:
            raise Usage(f"there is no kind of error {name!r}; there are {', '.join(sections)}")
    texts = {known[name.lower()]: sections[known[name.lower()]] for name in options.kinds} or {
        name: text.partition("\n\n")[0].replace("\n", " ") for name, text in sections.items()
    }
    if options.json:
        print(json.dumps(texts, indent=2))
    elif options.kinds:
        print("\n\n".join(f"## {name}\n\n{text}" for name, text in texts.items()))
    else:
        print("\n".join(f"{name}: {text}" for name, text in texts.items()))
    return 0


def error_sections() -> dict[str, Any]:
    """The sections of ``docs/errors.md`` by kind; it is in the package where that is installed."""
    page = PACKAGE / "errors.md" if (PACKAGE / "errors.md").is_file() else PACKAGE.parent / "docs" / "errors.md"
    if not page.is_file():
        raise Usage("the page of errors is not installed")
    _, *rest = re.split(r"^##+ (\w+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.partition("\n# ")[0].strip() for name, text in zip(rest[::2], rest[1::2], strict=True)}
