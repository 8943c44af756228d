"""Runs one command line and returns its exit code; an error is reported in a line or two."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence

from symgrad.command.grammar import parsed
from symgrad.command.usage import Usage
from symgrad.errors import BadArgument, SymgradError, render

CLOSED = 141  #: the exit code after a broken pipe, as in shells: 128 plus the number of SIGPIPE
INTERRUPTED = 130


def run(argv: Sequence[str] | None, version: str) -> int:
    """Carry out one command and return its exit code: 0, 1 for a difference or a refusal, 2 for usage."""
    options = parsed(argv, version)
    options.version = version
    module, _, name = options.run_.partition(":")
    before = sys.path[:]
    for stream in (sys.stdout, sys.stderr):  # characters that a terminal cannot show, also in the user's names, are escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code: int = getattr(importlib.import_module(f"symgrad.command.{module}"), name)(options)
        sys.stdout.flush()
        return code
    except Usage as error:
        print(f"symgrad: {error}", file=sys.stderr)
        return 2
    except SymgradError as error:
        print(render(error), file=sys.stderr)
        return 2 if isinstance(error, BadArgument) else 1
    except BrokenPipeError:
        silence()
        return CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        print(f"symgrad: {error.filename}: {error.strerror}" if error.filename else f"symgrad: {error}", file=sys.stderr)
        return 2
    finally:
        sys.path[:] = before


def silence() -> None:
    """Discard further output to a pipe that nothing reads any more, also at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass


__all__ = ["run"]
