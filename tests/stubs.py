"""``python -m tests.stubs``: do the stubs of tensors say what the functions' signatures say? ``--write`` writes them anew.

Functions of tensors, methods of tensors, and layers without parameters are made from tables, which type checkers cannot follow. Their
signatures, in ``symgrad/vocabulary``, become ``.pyi`` files. There ``T`` is ``Tensor`` or ``Variable``: functions give what they take.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from symgrad import layers
from symgrad.compat import paddle
from symgrad.vocabulary.methods import Methods

ROOT = Path(__file__).parent.parent / "symgrad"
VOCABULARY = [importlib.import_module(f"symgrad.vocabulary.{name}") for name in (
    "tensors", "elements", "matrices", "selection", "statistics", "network", "normalisation", "activations", "losses", "resampling")]  # fmt: skip
LAYERS = importlib.import_module("symgrad.layers.wrapped")
#: functions that the lists of these modules do not name, since Paddle offers them in other modules
UNLISTED = ("accuracy", "matrix_norm", "vector_norm")
WIDTH = 140

BINARY = [f"__{side}{name}__" for side in ("", "r") for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")]  # fmt: skip
ORDERING = ["__lt__", "__le__", "__gt__", "__ge__"]
UNARY = ["__neg__", "__pos__", "__abs__", "__invert__"]

HEAD = '# Written by "python -m tests.stubs --write" from the signatures in symgrad/vocabulary.\n'
TYPED = (
    HEAD
    + """\
from collections.abc import Sequence
from typing import Any

from typing_extensions import TypeVar

from symgrad.eager.tensor import Tensor
from symgrad.static.program import Variable
from symgrad.vocabulary.methods import Plain

T = TypeVar("T", Tensor, Variable, default=Tensor)

"""
)
METHODS = (
    HEAD
    + f"""\
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

S = TypeVar("S")
Plain = complex | np.ndarray[Any, Any] | np.generic | list[Any] | tuple[Any, ...]
NAMES: tuple[str, ...]
FURTHER: dict[str, Callable[..., Any]]
OTHERWISE: dict[str, str]
OPERATORS: dict[np.ufunc, Callable[..., Any]]

def binary(name: str, swapped: bool = False) -> Callable[[Any, Any], Any]: ...

class Methods(Generic[S]):
    def __eq__(self, other: object) -> S: ...  # type: ignore[override]
    def __ne__(self, other: object) -> S: ...  # type: ignore[override]
{"".join(f"    def {name}(self, other: S | Plain) -> S: ...{chr(10)}" for name in [*BINARY, *ORDERING])}\
{"".join(f"    def {name}(self) -> S: ...{chr(10)}" for name in UNARY)}\
    def __getitem__(self, index: Any) -> S: ...
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __array_function__(self, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any: ...
    @property
    def T(self) -> S: ...
"""
)
WRAPPED = (
    HEAD
    + """\
from typing import Any

from symgrad.layers.layer import Layer
from symgrad.vocabulary.methods import Plain
from symgrad.vocabulary.typed import T

WRAPPED: dict[str, tuple[Any, int]]

def wrapped(name: str) -> type[Layer]: ...

"""
)

# ------------------------------------------------------------------ one signature


def parameters(function: Callable[..., Any], variable: str) -> list[str]:
    """The parameters as text; where the source has a tensor, a plain number or array may stand too."""
    parts = []
    for word in inspect.signature(function).parameters.values():
        if word.kind is word.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        kind = re.sub(r"\bTensor\b", f"{variable} | Plain", str(word.annotation))
        if word.default is None and kind != "Any" and "None" not in kind:
            kind += " | None"
        star = "*" if word.kind is word.VAR_POSITIONAL else ""
        default = "" if word.default is word.empty else f" = {word.default!r}".replace("'", '"')
        parts.append(f"{star}{word.name}: {kind}{default}")
    return parts


def definition(name: str, words: Iterable[str], function: Callable[..., Any], variable: str, margin: str = "") -> str:
    """A function with these parameters, and the result of another one; on one line if that is short enough."""
    result = re.sub(r"\bTensor\b", variable, str(inspect.signature(function).return_annotation))
    line = f"{margin}def {name}({', '.join(words)}) -> {result}: ...\n"
    if len(line) <= WIDTH:
        return line
    return f"{margin}def {name}(\n{''.join(f'{margin}    {word},{chr(10)}' for word in words)}{margin}) -> {result}: ...\n"


# ------------------------------------------------------------------ files


def functions() -> dict[str, Callable[..., Any]]:
    """All functions of tensors by name."""
    table: dict[str, Callable[..., Any]] = {}
    for module in VOCABULARY:
        for name in [*module.__all__, *UNLISTED]:
            function = vars(module).get(name)
            if function is not None:
                assert table.setdefault(name, function) is function, f"two functions are called {name}"
    return table


def functions_text() -> str:
    """The stub of all functions."""
    return TYPED + "".join(definition(name, parameters(function, "T"), function, "T") for name, function in sorted(functions().items()))


def methods_text() -> str:
    """The stub of what tensors and variables have in common."""
    names = sorted(name for name in vars(Methods) if not name.startswith("__") and name != "T")
    table = {name: getattr(Methods, name) for name in names}
    words = {name: ["self", *parameters(method, "S")[1:]] for name, method in table.items()}
    return METHODS + "".join(definition(name, words[name], method, "S", "    ") for name, method in table.items())


def layers_text() -> str:
    """The stub of the layers without parameters: their settings, and what their functions take."""
    text = WRAPPED
    for name, (function, input_count) in LAYERS.WRAPPED.items():
        settings, inputs = parameters(function, "T")[input_count:], parameters(function, "T")[:input_count]
        settings = [word.replace("T | Plain", "Any") for word in settings]
        text += f"class {name}(Layer):\n" + definition("__init__", ["self", *settings], LAYERS.Layer.__init__, "T", "    ")
        text += "".join(definition(call, ["self", *inputs], function, "T", "    ") for call in ("forward", "__call__")) + "\n"
    return text + "__all__ = [\n" + "".join(f'    "{name}",\n' for name in LAYERS.__all__) + "]\n"


def facade_text(module: Any) -> str:
    """The stub of a module that offers functions of tensors, beside what other modules define, and functions of its own."""
    table = functions()
    imports, constants, own = [], [], []
    for name in sorted(module.__all__):
        value = getattr(module, name)
        home = value.__name__.rpartition(".")[0] if inspect.ismodule(value) else getattr(value, "__module__", None)
        if isinstance(value, np.dtype):
            constants.append(f"{name}: np.dtype[np.{'bool_' if name == 'bool' else name}]\n")
        elif inspect.isfunction(value) and home == module.__name__:
            own.append(definition(name, parameters(value, "Any"), value, "Any"))
        else:
            imports.append(f"from {'symgrad.vocabulary.typed' if table.get(name) is value else home} import {name} as {name}\n")
    head = ["from pathlib import Path\nfrom typing import Any\n\nimport numpy as np\n\n"] if own else []
    listed = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(module.__all__)) + "]\n"
    return HEAD + "".join([*head, *sorted(imports), "\n", *constants, *["\n"][: len(constants)], *own, *["\n"][: len(own)], listed])


def stubs() -> dict[Path, str]:
    """The text of each stub."""
    texts = {
        "vocabulary/typed.pyi": functions_text(),
        "vocabulary/methods.pyi": methods_text(),
        "layers/wrapped.pyi": layers_text(),
        "layers/__init__.pyi": facade_text(layers),
        "compat/paddle/__init__.pyi": facade_text(paddle),
        "compat/paddle/linalg.pyi": facade_text(paddle.linalg),
        "compat/paddle/metric.pyi": facade_text(paddle.metric),
        "compat/paddle/nn/__init__.pyi": facade_text(paddle.nn),
        "compat/paddle/nn/functional.pyi": facade_text(paddle.nn.functional),
    }
    return {ROOT / name: text for name, text in texts.items()}


def stale() -> dict[Path, str]:
    """The stubs that are not what the signatures say."""
    return {path: text for path, text in stubs().items() if not path.is_file() or path.read_text(encoding="utf-8") != text}


def main() -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description="Compare the stubs of tensors with the signatures.")
    parser.add_argument("--write", action="store_true", help="write the stubs")
    write = parser.parse_args().write
    different = stale()
    for path, text in different.items():
        print(f"{path.relative_to(ROOT.parent).as_posix()} {'written' if write else 'is not current'}")
        if write:
            path.write_text(text, encoding="utf-8")
    return 1 if different and not write else 0


if __name__ == "__main__":
    sys.exit(main())
