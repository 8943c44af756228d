"""Saves nested dicts and lists of tensors, arrays and plain data to one file, and loads them; nothing is executed or unpickled."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.eager.tensor import Tensor
from symgrad.errors import SaveError
from symgrad.files import write_file

FORMAT = "symgrad state"


def save(obj: Any, path: str | Path, *, overwrite: bool = False) -> None:
    """Save tensors and arrays in dicts, lists and tuples, with numbers, texts and None.

    Raises SaveError for anything else, and if the path is a link or a file that ``save`` did not write, unless ``overwrite`` is
    true.
    """
    arrays: list[Any] = []
    page = json.dumps({"format": FORMAT, "content": described(obj, arrays)})
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    named = {f"a{k}": array for k, array in enumerate(arrays)}
    write_file(path, lambda file: np.savez(file, page=np.array(page), **named), is_state, overwrite)


def is_state(path: Path) -> bool:
    """Whether ``save`` has written this file."""
    with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
        return bool(json.loads(str(file["page"]))["format"] == FORMAT)


def described(obj: Any, arrays: list[Any]) -> Any:
    """Convert to plain data that refers to arrays by number; other kinds become lists that begin with the kind."""
    if isinstance(obj, Tensor | np.ndarray | np.generic):
        array = np.asarray(obj)
        if array.dtype.kind not in "biufc":
            raise SaveError(f"an array of {array.dtype} cannot be saved")
        arrays.append(array)
        return ["tensor" if isinstance(obj, Tensor) else "array", len(arrays) - 1]
    if isinstance(obj, dict):
        if not all(isinstance(key, str) for key in obj):
            raise SaveError("the keys of a saved state must be strings")
        return ["dict", {key: described(value, arrays) for key, value in obj.items()}]
    if isinstance(obj, list | tuple):
        return ["list" if isinstance(obj, list) else "tuple", [described(item, arrays) for item in obj]]
    if obj is None or isinstance(obj, bool | int | float | str):
        return obj
    raise SaveError(f"{type(obj).__name__} cannot be saved")


def load(path: str | Path) -> Any:
    """Load a file written by ``save``.

    Raises SaveError for other files.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            page = json.loads(str(file["page"]))
            arrays = [file[f"a{k}"] for k in range(len(file.files) - 1)]
        if page["format"] != FORMAT:
            raise ValueError("its format is another")
        return rebuilt(page["content"], arrays)
    except FileNotFoundError:
        raise
    except (ValueError, TypeError, LookupError, OSError, EOFError, RecursionError, zipfile.BadZipFile) as error:
        raise SaveError(f"the file is not a saved state: {error}") from None


def rebuilt(page: Any, arrays: list[Any]) -> Any:
    """Rebuild the value of plain data."""
    if not isinstance(page, list):
        return page
    kind, content = page
    match kind:
        case "tensor":
            return Tensor(arrays[content])
        case "array":
            return arrays[content]
        case "dict":
            return {key: rebuilt(value, arrays) for key, value in content.items()}
        case "list":
            return [rebuilt(item, arrays) for item in content]
        case "tuple":
            return tuple(rebuilt(item, arrays) for item in content)
    raise ValueError(f"there is no {kind!r}")
