"""``Usage``: the error of a command that is rejected before anything is computed."""

from __future__ import annotations


class Usage(Exception):
    """The command cannot be carried out as written; its exit code is 2."""


__all__ = ["Usage"]
