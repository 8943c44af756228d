"""Writes files for users: whole or not at all. Foreign files and links are replaced only with ``overwrite``."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from symgrad.errors import SaveError

HINT = "overwrite=True replaces it; or give another path"


def write_file(path: str | os.PathLike[str], produce: Callable[[IO[bytes]], Any], is_own: Callable[[Path], bool], overwrite: bool) -> None:
    """Write a file with ``produce``, and move it to ``path`` when it is complete.

    Without ``overwrite``, an existing file is replaced only if ``is_own`` recognises it as written by symgrad, and a symbolic link never;
    SaveError is raised instead. With ``overwrite``, the target of a link is replaced and the link remains. Raises OSError if the file
    cannot be written, IsADirectoryError for a directory.
    """
    check_free(path, is_own, overwrite)
    target = Path(os.path.realpath(path) if overwrite else path)
    known = status_of(target)
    if known is not None and not stat.S_ISREG(known.st_mode):
        with open(target, "wb") as file:  # a device or a pipe, which cannot be replaced; a directory raises
            produce(file)
        return
    temporary = target.with_name(f".symgrad-{secrets.token_hex(8)}")
    number = opened(temporary, path)
    try:
        with os.fdopen(number, "w+b") as file:
            produce(file)
        if known is not None:
            temporary.chmod(stat.S_IMODE(known.st_mode))
        elif not overwrite and linked(temporary, target):
            return
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


def opened(temporary: Path, path: str | os.PathLike[str]) -> int:
    """Create the temporary file; errors refer to the requested path."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(temporary, flags, 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def check_free(path: str | os.PathLike[str], is_own: Callable[[Path], bool], overwrite: bool) -> None:
    """Raise SaveError if the path holds something that must not be replaced."""
    known = None if overwrite else status_of(Path(path))
    if known is None:
        return
    if stat.S_ISDIR(known.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if stat.S_ISLNK(known.st_mode):
        raise SaveError(f"{os.fspath(path)} is a symbolic link", hint=HINT)
    if not (stat.S_ISREG(known.st_mode) and is_written(Path(path), is_own)):
        raise SaveError(f"{os.fspath(path)} is there already, and symgrad has not written it", hint=HINT)


def status_of(path: Path) -> os.stat_result | None:
    """Return the status of a path, without following links, or None."""
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def is_written(path: Path, is_own: Callable[[Path], bool]) -> bool:
    """Whether symgrad wrote the file; False if it cannot be read."""
    try:
        return is_own(path)
    except Exception:  # the reader of a damaged file may raise anything
        return False


def linked(temporary: Path, target: Path) -> bool:
    """Create a hard link to a file; return False if the file system has no hard links."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise SaveError(f"{target} was created in the meantime, and symgrad has not written it", hint=HINT) from None
    except OSError:
        return False
    return True


__all__ = ["check_free", "write_file"]
