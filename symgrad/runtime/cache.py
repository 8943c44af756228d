"""A directory of the user's own in which texts, and what numba makes of them, outlive the process.

numba reads back pickles, and texts are run, so the directory must be one that nobody else can write to; where there is
none (a read-only or full disk, a home that belongs to somebody else) everything is made in memory.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any

import numpy as np

#: where to keep it; empty or ``off``: nowhere
VARIABLE = "SYMGRAD_CACHE_DIR"
#: how the directories of texts begin
TEXTS = "texts-"


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


# ------------------------------------------------------------------ texts

#: what changes while a process runs is not what it runs; clocks of file systems are coarse
SLACK = 2 * 10**9
STARTED = time.time_ns() - SLACK
#: how many directories of texts are left: each change of our own source begins a new one
KEPT = 8


Files = tuple[tuple[str, int, int, int, int], ...]


def own_files() -> Files:
    """The files of our own source: path, size, when each was changed, and which one it is."""
    found: list[tuple[str, int, int, int, int]] = []

    def visit(directory: str) -> None:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                    visit(entry.path)
                elif entry.name.endswith(".py"):
                    known = entry.stat()
                    found.append((entry.path, known.st_size, known.st_mtime_ns, known.st_ctime_ns, known.st_ino))

    visit(str(Path(__file__).parent.parent))
    return tuple(sorted(found))


@functools.cache
def sources() -> tuple[str, Files] | None:
    """A name for our own source as it is, with its files; None if what runs may not be what the files hold.

    What the files hold is not read, for that takes longer than all else: a file that has changed has been changed at another time.
    """
    try:
        files = own_files()
    except OSError:
        return None
    if not files or max(max(written, changed) for _, _, written, changed, _ in files) > STARTED:
        return None
    return hashlib.sha256(repr(files).encode()).hexdigest(), files


def texts_directory() -> Path | None:
    """Where the texts of this version of symgrad are, for this Python and NumPy; None where none are to be kept."""
    if os.environ.get("SYMGRAD_CHECK") or cache_root() is None:
        return None
    known = sources()
    if known is None:
        return None
    parts = (known[0], sys.version, sys.platform, str(sys.maxsize), np.__version__)
    return fresh_directory(f"{TEXTS}{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}")


def family_of(function: types.FunctionType) -> str:
    """With what the keys of a function's texts begin, whatever its arguments are; others may have the same."""
    name = f"{function.__module__}.{function.__qualname__}"
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def texts_kept(family: str) -> bool:
    """Are there texts on the disk that may do instead of stages?"""
    place = texts_directory()
    with contextlib.suppress(OSError):
        return place is not None and any(place.glob(f"{family}-*"))
    return False


def fresh_directory(name: str) -> Path | None:
    """A directory of texts; those that have not been used for longest are removed when it is new."""
    root = cache_root()
    new = root is not None and not (root / name).is_dir()
    place = private_directory(name)
    if place is not None and root is not None:
        with contextlib.suppress(OSError):
            os.utime(place)
            if new:
                others = sorted(root.glob(f"{TEXTS}*"), key=lambda other: other.stat().st_mtime_ns)
                for other in others[:-KEPT]:
                    shutil.rmtree(other, ignore_errors=True)
    return place


def checksum(key: str, kind: str, body: str) -> str:
    """What stands at the head of a record: it holds for this record in this place only."""
    return hashlib.sha256(chr(0).join((key, kind, body)).encode()).hexdigest()


def read_record(place: Path, key: str, kind: str) -> Any:
    """The data of a record; None if there is none, or if it is not as it was written."""
    try:
        head, _, body = (place / f"{key}.{kind}").read_text(encoding="utf-8").partition("\n")
        return json.loads(body) if head == checksum(key, kind, body) else None
    except (OSError, ValueError):
        return None


@functools.lru_cache(1)
def files_after(loaded: frozenset[str]) -> Files:
    """Our own files as they were when these modules, and no others, had been imported: what changes later is not what runs."""
    return own_files()


def write_record(place: Path, key: str, kind: str, data: Any) -> bool:
    """Keep data under a key; not if our own source has changed since it was read, for then nobody knows which one made them."""
    known = sources()
    try:
        if known is None or files_after(frozenset(name for name in sys.modules if name.startswith("symgrad."))) != known[1]:
            return False
    except OSError:
        return False
    body = json.dumps(data)
    return keep(f"{checksum(key, kind, body)}\n{body}", place / f"{key}.{kind}")
