"""Which of the two modes is on: operations run at once, or are appended to a program."""

from __future__ import annotations

from symgrad.vocabulary.dispatch import STATIC


def enable_static() -> None:
    """From now on operations are appended to the default program."""
    STATIC[0] = True


def disable_static() -> None:
    """From now on operations run at once."""
    STATIC[0] = False


def in_dynamic_mode() -> bool:
    """Do operations run at once?"""
    return not STATIC[0]


def in_static_mode() -> bool:
    """Are operations appended to a program?"""
    return STATIC[0]
