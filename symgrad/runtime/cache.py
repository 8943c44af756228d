"""A directory of the user's own in which the text of kernels, and what numba makes of it, outlive the process.

numba reads back pickles, so the directory must be one that nobody else can write to; where there is
none (a read-only or full disk, a home that belongs to somebody else) kernels are compiled in memory.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path

#: where to keep it; empty or ``off``: nowhere
VARIABLE = "SYMGRAD_CACHE_DIR"


def cache_root() -> Path | None:
    """The directory that holds one directory for each set of versions; None if there is to be none."""
    wanted = os.environ.get(VARIABLE)
    if wanted is not None:
        return Path(wanted).expanduser() if wanted not in ("", "off") else None
    with contextlib.suppress(RuntimeError):  # there may be no home
        home = Path.home()
        if sys.platform == "darwin":
            return home / "Library" / "Caches" / "symgrad"
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "symgrad" / "Cache"
        base = os.environ.get("XDG_CACHE_HOME", "")
        return (Path(base) if os.path.isabs(base) else home / ".cache") / "symgrad"
    return None


def private_directory(name: str) -> Path | None:
    """The directory of that name under the root, made if need be; None unless only this user can write to it."""
    root = cache_root()
    if root is None:
        return None
    place = root / name
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        if not (is_kept_by_owner(root) and is_private(place) and os.access(place, os.W_OK | os.X_OK)):
            return None
    except OSError:
        return None
    return place


def is_private(place: Path) -> bool:
    """Is it a directory of this user's own, that others can neither read nor write?  One that they can only read is closed to them."""
    if not hasattr(os, "geteuid"):
        return True  # Windows: what is under the user's profile is the user's
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        return False
    if found.st_mode & 0o077:
        place.chmod(0o700)
    return True


def is_kept_by_owner(root: Path) -> bool:
    """Can nobody else put another directory in the place of one in here?"""
    if not hasattr(os, "geteuid"):
        return True
    found = root.stat()
    return found.st_uid in (os.geteuid(), 0) and (not found.st_mode & 0o022 or bool(found.st_mode & stat.S_ISVTX))


def keep(text: str, path: Path) -> bool:
    """See that a file holds a text: written beside it and renamed, so that nobody ever reads half of it. False where that fails."""
    content = text.encode()
    try:
        if path.read_bytes() == content:
            return True
    except OSError:
        pass
    try:
        number, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    except OSError:
        return False
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        os.utime(temporary, (0x50000000, 0x50000000))  # what is compiled from it stays valid whoever wrote it last
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return False
    return True
