"""Loads ``file.py:function`` and evaluates the options of a command: the function, its arguments, its derivative."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from symgrad.bound import Bound
from symgrad.command.usage import Usage
from symgrad.derivatives import Derived
from symgrad.errors import BadArgument, SymgradError
from symgrad.frontend.text.source import read
from symgrad.orders import derivative_of_order, wrt_of
from symgrad.parameters import annotated_signature
from symgrad.text import is_dotted, item
from symgrad.values import NotAValue, arguments_of

#: a module may define example arguments of its functions: ``example_arguments = {"loss": (np.ones(3), 2.0)}``
EXAMPLES = "example_arguments"
#: the kinds of module variables that ``--args`` may name: data, no callables
DATA = (bool, int, float, complex, str, bytes, tuple, list, dict)


def load(target: str) -> tuple[ModuleType, str, Any]:
    """Module, name and function of ``file.py:func`` or ``pkg.mod:func``; the module is imported, so its code runs."""
    place, separator, name = target.rpartition(":")
    if not separator or not place or not name:
        raise Usage(f"{target!r} is not of the form file.py:function or package.module:function")
    module = load_file(Path(place)) if place.endswith(".py") else load_module(place)
    function: Any = module
    for part in name.split("."):
        if not hasattr(function, part):
            raise Usage(f"{place} has no {name}{those_of(module)}")
        function = getattr(function, part)
    if not callable(function):
        raise Usage(f"{place} has no function {name}: it is of class {type(function).__name__}{those_of(module)}")
    return module, name, function


def those_of(module: ModuleType) -> str:
    """The functions that a module defines itself, as the end of a sentence."""
    names = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    ]
    return f"; its functions are {', '.join(names)}" if names else ""


def load_file(path: Path) -> ModuleType:
    """A module from a file; its folder is on the path from then on, as for a program."""
    if not path.is_file():
        raise Usage(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Usage(f"{path} cannot be read as a module")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise Usage(f"{path} is not Python: {error}") from None
    except (Exception, SystemExit) as error:
        raise Usage(f"{path} cannot be imported: {one_line(error)}") from None
    return module


def load_module(name: str) -> ModuleType:
    """A module by name; the current folder is on the path."""
    if not is_dotted(name):
        raise Usage(f"{name!r} is not the name of a module")
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except (ModuleNotFoundError, SyntaxError) as error:
        raise Usage(str(error)) from None
    except (Exception, SystemExit) as error:
        raise Usage(f"{name} cannot be imported: {one_line(error)}") from None


def one_line(error: BaseException) -> str:
    """An exception in one line, with the user's line that raised it."""
    message = " ".join(str(error).split())
    words = f"{type(error).__name__}: {message}" if message else type(error).__name__
    places = [note.removeprefix("in ").partition("\n")[0] for note in getattr(error, "__notes__", ()) if note.startswith("in ")]
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "importlib" not in frame.filename and Path(__file__).parent != Path(frame.filename).parent]
    places += [f"{frame.filename}:{frame.lineno}" for frame in own[-1:]]
    return f"{words} ({places[0]})" if places else words


# ------------------------------------------------------------------ arguments


def arguments(options: argparse.Namespace, module: ModuleType, name: str, function: Any) -> tuple[Any, ...] | None:
    """The arguments to try the function with, which fit it; None if there are none."""
    values = arguments_given(options, module, name)
    if values is not None and callable(function) and not isinstance(function, type):
        try:
            inspect.signature(function).bind(*values)
        except TypeError as error:
            raise Usage(f"the arguments do not fit {name}: {error}") from None
        except ValueError:
            pass  # no signature is known, of a builtin function
    return values


def arguments_given(options: argparse.Namespace, module: ModuleType, name: str) -> tuple[Any, ...] | None:
    """Return the arguments of ``--args``, else the module's examples, else None."""
    if options.args is not None:
        try:
            return arguments_of(options.args, data_of(module))
        except NotAValue as error:
            raise Usage(f"--args {options.args!r}: {error}; a module may give others as {EXAMPLES}") from None
    examples = getattr(module, EXAMPLES, {})
    if not isinstance(examples, dict) or name not in examples:
        return None
    if not isinstance(examples[name], tuple | list):
        raise Usage(f"{item(EXAMPLES, name)} must be a tuple of arguments, not {type(examples[name]).__name__}")
    return tuple(examples[name])


def data_of(module: ModuleType) -> dict[str, Any]:
    """The data of a module that arguments may name: numbers, texts, arrays and containers."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("__") and (type(value) in DATA or isinstance(value, np.ndarray | np.generic))
    }


def parse_wrt(options: argparse.Namespace) -> Any:
    """The ``wrt`` of ``--wrt x,w``."""
    return wrt_of(options.wrt)


# ------------------------------------------------------------------ derivatives


def derive(function: Any, options: argparse.Namespace, call: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """Return the derivative of the requested order, for the arguments of ``call_of``."""
    flags = {name: getattr(options, name, False) for name in ("value", "strict", "jit")}
    return derivative_of_order(function, parse_wrt(options), getattr(options, "order", 1), call, words.get("signature"), **flags)


def call_of(options: argparse.Namespace, args: tuple[Any, ...] | None, function: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments and keywords that select a derivative's text: values or types; raise Usage if neither is known."""
    if options.sig is not None:
        return (), {"signature": options.sig}
    if args is not None:
        return args, {}
    if isinstance(function, FunctionType):
        try:
            annotated_signature(function)
        except BadArgument as unknown:
            told = f"give --args 'np.ones(3), 2.0', --sig 'f8[:], float', or {EXAMPLES} in the module"
            raise Usage(f"{unknown.what.partition(':')[0]}: {told}") from None
    return (), {}


def own_source(derived: Derived | Bound) -> str:
    """The text of the function that was differentiated."""
    source = read((derived._derived if isinstance(derived, Bound) else derived)._function)
    return "\n".join(source.lines[source.node.lineno - 1 : source.node.end_lineno])


@contextlib.contextmanager
def called(name: str) -> Iterator[None]:
    """Context manager: report an exception of the user's function in one line, with its place."""
    try:
        yield
    except (SymgradError, Usage, KeyboardInterrupt, BrokenPipeError):
        raise
    except (Exception, SystemExit) as error:
        raise Usage(f"{name} raised {one_line(error)}") from None


__all__ = ["arguments", "parse_wrt", "call_of", "called", "derive", "load", "own_source"]
