"""``Usage``: what a command is refused with before anything is computed."""

from __future__ import annotations


class Usage(Exception):
    """The command cannot be carried out as written; its exit code is 2."""


__all__ = ["Usage"]
