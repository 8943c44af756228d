"""The verbs about the installation: ``doctor`` reports what is installed, ``cache`` what is stored on disk."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from symgrad.command.terminal import coloured, painted
from symgrad.runtime.cache import TEXTS, VARIABLE, cache_root, fault_around
from symgrad.runtime.kernels import COMPARED

#: the packages that symgrad uses, the purpose of each, and the tested releases
PACKAGES = {
    "numpy": ("arrays; required", ("2.4",)),
    "sympy": ("derivatives of declared formulas; required", ("1.14",)),
    "astor": ("layout of printed code; required", ("0.8",)),
    "numba": ("jit=True: pip install 'symgrad[numba]'", COMPARED),
    "scipy": ("scipy.special and scipy.stats in functions; kernels with linear algebra", ("1.16", "1.17")),
    "cloudpickle": ("derivatives sent to other processes: pip install 'symgrad[parallel]'", ("3.1",)),
    "distributed": ("sums over the shards of a cluster: pip install 'symgrad[dask]'", ("2026.8",)),
    "ipython": ("notebooks", ("9.18",)),
}
OWN = re.compile(r"(texts|kernels)-[0-9a-f]{16}")  #: the directories that symgrad makes; nothing else is removed
PYTHONS = ("3.11", "3.12", "3.13")  #: the releases of Python that symgrad is for


def doctor(options: argparse.Namespace) -> int:
    """Print the installed packages, whether they were tested, whether kernels can be compiled, and the cache directory."""
    facts = state(options.version)
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    colours = coloured(options)
    print(f"{painted('symgrad', 'title', colours)} {facts['symgrad']}  ({facts['place']})")
    print(f"{painted('python', 'title', colours)}  {facts['python']['version']} on {facts['python']['platform']}{remark(facts['python'])}")
    for name, package in facts["packages"].items():
        shown = package["version"] or "not installed"
        print(f"  {name:12}{shown:16}{package['use']}{remark(package)}")
    for word in ("kernels", "cache", "settings", "colours"):
        print(f"{painted(word, 'title', colours)}  {facts[word]}")
    return 0


def remark(facts: dict[str, Any]) -> str:
    """Whether a version was tested, and which were."""
    return f"  [{'not tested; ' if facts['tested'] is False else ''}tested: {', '.join(facts['tested_versions'])}]"


def state(own: str) -> dict[str, Any]:
    """Return the report of ``doctor`` as plain data."""
    release = ".".join(map(str, sys.version_info[:2]))
    packages = {}
    for name, (use, tested) in PACKAGES.items():
        there = installed(name)
        short = None if there is None else ".".join(there.split(".")[:2])
        packages[name] = {
            "version": there,
            "use": use,
            "tested": None if short is None else short in tested,
            "tested_versions": list(tested),
        }
    python = {
        "version": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "tested": release in PYTHONS,
        "tested_versions": list(PYTHONS),
    }
    return {
        "symgrad": own,
        "place": str(Path(__file__).parent.parent),
        "python": python,
        "packages": packages,
        "kernels": kernels(),
        "cache": place_of_cache() + kept_there(),
        "settings": settings(),
        "colours": "NO_COLOR and FORCE_COLOR decide, else whether the output is a terminal",
    }


def installed(name: str) -> str | None:
    """The version of a package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def kernels() -> str:
    """Whether a kernel can be compiled here: a small one is."""
    if importlib.util.find_spec("numba") is None:
        return "numba is not installed, so jit=True is refused and jit='auto' runs NumPy code"
    try:
        numba: Any = importlib.import_module("numba")
        twice = numba.njit(lambda x: 2.0 * x)
        if twice(1.5) != 3.0:
            return "numba computes wrong results here: 2.0 * 1.5 is not 3.0"
    except Exception as error:  # an incompatible installation may raise anything
        return f"numba is installed and does not work here: {type(error).__name__}: {error}"
    return f"numba {numba.__version__} compiles here, for {numba.config.NUMBA_NUM_THREADS} threads"


def place_of_cache() -> str:
    """Return the cache directory, or the reason why it is not used."""
    root = cache_root()
    if root is None:
        return f"off ({VARIABLE} is off, or there is no home directory)"
    if not root.is_dir():
        there = next(path for path in root.parents if path.exists())
        able = there.is_dir() and os.access(there, os.W_OK | os.X_OK)
        return f"{root} (not there yet)" if able else f"{root} is not used: {there} cannot be written to; set {VARIABLE}"
    try:
        fault = fault_around(root)
    except OSError as error:
        return f"{root} is not used: {error}"
    if fault is None and not os.access(root, os.W_OK | os.X_OK):
        return f"{root} is read and not written to: it is not writable; set {VARIABLE}"
    return f"{root} (writable)" if fault is None else f"{root} is not used: {fault[0]}: {fault[1]}"


def settings() -> str:
    """Return the environment variables that symgrad reads and that are set."""
    told = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("SYMGRAD_")]
    return ", ".join(told) or "no variable of the environment that begins with SYMGRAD_ is set"


# ------------------------------------------------------------------ the cache


def kept_there() -> str:
    """Return the size of the cache."""
    root = cache_root()
    files = [] if root is None or not root.is_dir() else [file for folder in folders_of(root) for file in files_in(folder)]
    return f", {len(files)} files, {size(sum(file.stat().st_size for file in files))}" if files else ""


def folders_of(root: Path) -> list[Path]:
    """The directories of texts and kernels that symgrad has made."""
    return [path for path in sorted(root.iterdir()) if OWN.fullmatch(path.name) and path.is_dir() and not path.is_symlink()]


def cache(options: argparse.Namespace) -> int:
    """Print the directory, content and size of the cache, or clear it."""
    root = cache_root()
    folders = [] if root is None or not root.is_dir() else folders_of(root)
    facts = [
        {
            "directory": str(path),
            "holds": "texts" if path.name.startswith(TEXTS) else "kernels",
            "files": len(files_in(path)),
            "bytes": sum(file.stat().st_size for file in files_in(path)),
        }
        for path in folders
    ]
    if options.what == "clear":
        for path in folders:
            shutil.rmtree(path)
    if options.json:
        print(json.dumps({"root": None if root is None else str(root), "cleared": options.what == "clear", "directories": facts}, indent=2))
        return 0
    total = sum(int(str(fact["bytes"])) for fact in facts)
    if options.what == "clear":
        print(f"removed {sum(int(str(fact['files'])) for fact in facts)} files, {size(total)}, from {place_of_cache()}")
        return 0
    print(place_of_cache())
    for fact in facts:
        print(f"  {Path(str(fact['directory'])).name:32}{fact['holds']:>8}{fact['files']:>7} files{size(int(str(fact['bytes']))):>12}")
    print(f"  {len(facts)} directories, {size(total)}")
    return 0


def files_in(path: Path) -> list[Path]:
    """The files of a directory and of those in it; links are not followed."""
    return [file for file in sorted(path.rglob("*")) if file.is_file() and not file.is_symlink()]


def size(count: int) -> str:
    """A number of bytes with the unit that suits it.

    >>> size(512), size(2048), size(5 * 1024**2)
    ('512 B', '2.0 KiB', '5.0 MiB')
    """
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
