"""Compiles the text of a kernel with numba, or loads the machine code that an earlier process stored.

numba is imported here only, and only when a kernel is loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import linecache
import platform
import sys
import traceback
import types
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.runtime.cache import fault_around, fault_of, keep, private_directory, tell

#: the placeholder in a kernel's text for numba's ``cache`` setting
CACHED = "cache=True"
#: releases of numba whose compiler agrees with symgrad's on every kernel of the corpus: ``tests/runtime/test_compilers.py``
COMPARED = ("0.61", "0.62", "0.63", "0.64", "0.65", "0.66", "0.67", "0.68")


def has_numba() -> bool:
    """Whether numba is installed; it is not imported."""
    return "numba" in sys.modules or importlib.util.find_spec("numba") is not None


def load_kernel(text: str, name: str) -> Any:
    """numba's dispatcher of that name, of a module with this text."""
    directory = private_directory(versions())
    module = from_disk(text, name, directory) if directory is not None else None
    return lean(getattr(module or in_memory(text, name), name))


def is_compared() -> bool:
    """Whether our compiler was compared with this release of numba; for other releases numba's own compiler is used."""
    major, minor, *_ = importlib.import_module("numba").__version__.split(".")
    return f"{major}.{minor}" in COMPARED


def own_compiler() -> Any:
    """Return symgrad's compiler class for kernels, or None for an untested release of numba."""
    if not is_compared():
        return None
    with contextlib.suppress(ImportError, AttributeError):
        return importlib.import_module("symgrad.runtime.compiling").KernelCompiler
    return None


def lean(dispatcher: Any) -> Any:
    """Compile a kernel with symgrad's reduced compiler, in a tested release of numba."""
    compiler: Any = getattr(dispatcher, "_compiler", None)
    own = None if compiler is None else own_compiler()  # no compiler: NUMBA_DISABLE_JIT, plain Python
    if own is not None:
        compiler.pipeline_class = own
        dispatcher.targetoptions["no_cfunc_wrapper"] = True
    return dispatcher


def leave_to_numba(dispatcher: Any) -> bool:
    """Have numba's own compiler compile a kernel from here on; return whether ours was used before."""
    compiler, own = dispatcher._compiler, importlib.import_module("numba.core.compiler").Compiler
    if compiler.pipeline_class is own:
        return False
    compiler.pipeline_class = own
    return True


def module_name(text: str, name: str) -> str:
    """A name for the module, the same in every process."""
    return f"symgrad_kernel_{name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def from_disk(text: str, name: str, directory: Path) -> types.ModuleType | None:
    """A module with this text, in a file, importable under its name as numba's cache requires; None if that fails."""
    import_name = module_name(text, name)
    if import_name in sys.modules:
        return sys.modules[import_name]
    path = directory / f"{import_name}.py"
    if not keep(text, path):
        return None
    spec = importlib.util.spec_from_file_location(import_name, path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules[import_name] = module
    try:
        spec.loader.exec_module(module)
    except (OSError, RuntimeError):  # the file is missing, or numba has no directory for its cache
        del sys.modules[import_name]
        return None
    if not keeps_inside(getattr(module, name), directory):
        del sys.modules[import_name]
        return None
    return module


def keeps_inside(dispatcher: Any, directory: Path) -> bool:
    """Whether numba's cache is inside this directory; its settings may name another, writable by others."""
    place = getattr(getattr(dispatcher, "_cache", None), "cache_path", None)
    if place is None or Path(place).parent == directory:
        return True
    with contextlib.suppress(OSError):
        unsafe = fault_around(Path(place).parent) or fault_of(Path(place))
        if unsafe is None:
            return True
        tell(*unsafe)
    return False


def in_memory(text: str, name: str) -> types.ModuleType:
    """Return a module with this text that stores nothing on disk."""
    text = text.replace(CACHED, "cache=False", 1)
    file = f"<symgrad {module_name(text, name)}>"
    module = types.ModuleType(module_name(text, name))
    exec(compile(text, file, "exec"), vars(module))
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return module


@cache
def versions() -> str:
    """A name for all that compiled code depends on besides its text and the processor, which numba looks at itself."""
    numba, llvmlite = importlib.import_module("numba"), importlib.import_module("llvmlite")
    parts = [numba.__version__, llvmlite.__version__, np.__version__, platform.python_version(), *helper_texts()]
    return f"kernels-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


def helper_texts() -> list[str]:
    """Return the texts of the functions that kernels call: numba does not notice changes of inlined callees."""
    return [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]


def type_of(value: Any) -> Any:
    """numba's type of an array."""
    numba: Any = importlib.import_module("numba")
    return numba.typeof(value)


def type_named(name: str, rank: int = 0) -> Any:
    """numba's type of a number, or of an array of them by rows."""
    numba: Any = importlib.import_module("numba")
    number = getattr(numba.types, name)
    return numba.types.Array(number, rank, "C") if rank else number


def compile_for(dispatcher: Any, types: list[Any]) -> list[Any]:
    """Compile a kernel for numba types, and return the types of its results.

    If our compiler fails, in a release of numba that it does not know, numba's own compiles, and its exceptions are
    raised. A full disk is no error.
    """
    if not hasattr(dispatcher, "compile"):  # NUMBA_DISABLE_JIT: plain Python
        return [None] * 1000
    kinds = tuple(types)
    dispatcher.disable_compile(False)
    try:
        try:
            dispatcher.compile(kinds)
        except OSError:
            raise
        except Exception as error:
            if not emptied(dispatcher, error) and not leave_to_numba(dispatcher):
                raise
            dispatcher.compile(kinds)
    except OSError:
        if kinds not in dispatcher.overloads:
            raise
    result = dispatcher.overloads[kinds].signature.return_type
    return list(getattr(result, "types", [result]))


def emptied(dispatcher: Any, error: Exception) -> bool:
    """Empty a kernel's disk cache if it is unreadable; return whether it was."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not any(code.co_name == "load_overload" for code in frames) or not hasattr(getattr(dispatcher, "_cache", None), "flush"):
        return False
    dispatcher._cache.flush()
    return True


def settled(dispatcher: Any) -> bool:
    """Let a kernel refuse, from now on, arguments that it is not compiled for; can it?"""
    if not hasattr(dispatcher, "disable_compile"):
        return False
    dispatcher.disable_compile()
    return True


def entry_point(dispatcher: Any, types: list[Any]) -> Any:
    """The machine code for arguments of these types. It is quicker to call, and does not check the types: its callers have done so."""
    overload = getattr(dispatcher, "overloads", {}).get(tuple(types))
    return getattr(overload, "entry_point", None) or dispatcher
