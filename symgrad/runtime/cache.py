"""The disk cache: a private directory in which generated texts and numba's machine code outlive the process.

numba unpickles its files, and texts are executed, so the directory must be writable by the user alone. Where there is none (a read-only
or full disk, a home that belongs to another user) everything is kept in memory.
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

from symgrad.errors import CacheNotUsed
from symgrad.text import one_line

#: where to keep it; empty or ``off``: nowhere
VARIABLE = "SYMGRAD_CACHE_DIR"
#: how the directories of texts begin
TEXTS = "texts-"


def cache_root() -> Path | None:
    """The directory that holds one directory for each set of versions; None if the cache is off or no home is known."""
    setting = os.environ.get(VARIABLE)
    if setting is not None:
        return Path(setting).expanduser() if setting not in ("", "off") else None
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
    """The directory of that name under the root, made if need be; None unless only this user can write to it, with one notice."""
    root = cache_root()
    if root is None:
        return None
    place = root / name
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        unsafe = fault_around(root)
        if unsafe is None:
            place.mkdir(mode=0o700, exist_ok=True)
            unsafe = fault_of(place)
        if unsafe is not None:
            tell(*unsafe)
            return None
        return place if os.access(place, os.W_OK | os.X_OK) else None
    except OSError:
        return None


#: the permitted owners of parent directories besides the user: the superuser, and unnamed users in a container
TRUSTED = frozenset({0, 65534})
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
Fault = tuple[Path, str]  #: a directory, and why it cannot be trusted


def fault_around(root: Path) -> Fault | None:
    """The reason why another user could replace a directory under the root, or None.

    The directories on the path are checked, both as written and with links resolved.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows: everything under the user's profile belongs to the user
    absolute, resolved = Path(os.path.abspath(root)), Path(os.path.realpath(root))
    for place in dict.fromkeys([*absolute.parents, *resolved.parents, resolved]):
        status = place.stat()
        if status.st_uid != os.geteuid() and status.st_uid not in TRUSTED:
            return place, "it belongs to another user"
        if status.st_mode & stat.S_ISVTX:
            continue  # only the owner can move an entry of it
        if status.st_mode & stat.S_IWOTH or status.st_mode & stat.S_IWGRP and (place == resolved or not is_own_group(status.st_gid)):
            return place, "others can write to it"
    return None


@functools.cache
def is_own_group(group: int) -> bool:
    """Whether it is the group of this user alone, as many systems create one for each user."""
    try:
        import grp
        import pwd

        known, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid())
    except (ImportError, KeyError):
        return False
    return user.pw_gid == group and known.gr_name == user.pw_name and set(known.gr_mem) <= {user.pw_name}


def fault_of(place: Path) -> Fault | None:
    """Why others could have written the contents of a directory; None if they could not.

    A directory that others can only read is closed to them.
    """
    if not hasattr(os, "geteuid"):
        return None
    status = place.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return place, "it is no directory of its own"
    if status.st_uid != os.geteuid():
        return place, "it belongs to another user"
    if status.st_mode & OTHERS_WRITE:
        return place, "others can write to it"
    is_open = bool(status.st_mode & 0o077)
    if (place, status.st_ino) not in SEEN:
        foreign = foreign_file(place, is_open)
        if foreign is not None:
            return place, f"{foreign} in it may have been written by others"
        SEEN.add((place, status.st_ino))
    if is_open:
        place.chmod(0o700)
    return None


#: directories whose files have been looked at in this process, each with its number
SEEN: set[tuple[Path, int]] = set()


def foreign_file(place: Path, is_open: bool) -> str | None:
    """A file that is a link or not the user's own, or that others can write to where they can reach it; None if there is none."""
    for folder in (place, place / "__pycache__"):
        with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if status.st_uid != os.geteuid() or stat.S_ISLNK(status.st_mode) or is_open and status.st_mode & OTHERS_WRITE:
                    return one_line(entry.name)
    return None


TOLD: list[Fault] = []  #: notices emitted in this process


def tell(place: Path, why: str) -> None:
    """Emit a notice that a directory is not used, once in a process."""
    if not TOLD:
        TOLD.append((place, why))
        CacheNotUsed(str(place), why).give()


def keep(text: str, path: Path) -> bool:
    """Write a text to a file atomically, by renaming a temporary file; return False on failure."""
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
        os.utime(temporary, (0x50000000, 0x50000000))  # code compiled from it stays valid whichever process wrote it last
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        return False
    return True


# ------------------------------------------------------------------ texts

#: a file changed while the process runs is not the code that runs; file-system clocks are coarse
SLACK = 2 * 10**9
STARTED = time.time_ns() - SLACK
#: how many directories of texts are left: each change of our own source begins a new one
KEPT = 8


Files = tuple[tuple[str, int, int, int, int], ...]


def own_files() -> Files:
    """The files of the package's source: path, size, times of modification and of change, and inode."""
    files: list[tuple[str, int, int, int, int]] = []

    def visit(directory: str) -> None:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                    visit(entry.path)
                elif entry.name.endswith(".py"):
                    known = entry.stat()
                    files.append((entry.path, known.st_size, known.st_mtime_ns, known.st_ctime_ns, known.st_ino))

    visit(str(Path(__file__).parent.parent))
    return tuple(sorted(files))


@functools.cache
def sources() -> tuple[str, Files] | None:
    """Return a fingerprint of symgrad's source and its files; None if the running code may differ from the files.

    Uses modification times, not contents, which would take longer than everything else.
    """
    try:
        files = own_files()
    except OSError:
        return None
    if not files or max(max(written, changed) for _, _, written, changed, _ in files) > STARTED:
        return None
    return hashlib.sha256(repr(files).encode()).hexdigest(), files


def texts_directory() -> Path | None:
    """Return the directory of texts for this version of symgrad, Python and NumPy; None if nothing is stored."""
    if os.environ.get("SYMGRAD_CHECK") or cache_root() is None:
        return None
    known = sources()
    if known is None:
        return None
    parts = (known[0], sys.version, sys.platform, str(sys.maxsize), np.__version__)
    return fresh_directory(f"{TEXTS}{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}")


def family_of(function: types.FunctionType) -> str:
    """Return the common prefix of the keys of a function's texts; other functions may share it."""
    name = f"{function.__module__}.{function.__qualname__}"
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:16]


def texts_kept(family: str) -> bool:
    """Whether texts on the disk can replace the stages."""
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
    """Return the checksum at the head of a record, valid for this record under this key only."""
    return hashlib.sha256(chr(0).join((key, kind, body)).encode()).hexdigest()


def read_record(place: Path, key: str, kind: str) -> Any:
    """The data of a record; None if there is none, or if it is not as it was written."""
    try:
        with open(place / f"{key}.{kind}", encoding="utf-8") as file:
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            head, _, body = file.read().partition("\n")
        return json.loads(body) if head == checksum(key, kind, body) else None
    except (OSError, ValueError):
        return None


@functools.lru_cache(1)
def files_after(loaded: frozenset[str]) -> Files:
    """Return the state of symgrad's files when exactly these modules had been imported: later changes do not affect the running code."""
    return own_files()


def write_record(place: Path, key: str, kind: str, data: Any) -> bool:
    """Store data under a key, unless symgrad's source has changed since it was loaded."""
    known = sources()
    try:
        if known is None or files_after(frozenset(name for name in sys.modules if name.startswith("symgrad."))) != known[1]:
            return False
    except OSError:
        return False
    body = json.dumps(data)
    return keep(f"{checksum(key, kind, body)}\n{body}", place / f"{key}.{kind}")
