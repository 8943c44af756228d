"""Turns emitted functions into the text of a module that does not import symgrad.

Modules are imported; functions of the runtime are copied with their callees; anything else that cannot be
written as text is refused by name.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from symgrad.codegen.expressions import Names, literal
from symgrad.codegen.texts import Emitted
from symgrad.errors import SaveError
from symgrad.runtime.find import MODULES, find
from symgrad.text import docstring, is_dotted, is_name

SCALARS = (bool, int, float, complex, str, type(None))


def module_text(pieces: Sequence[Emitted], doc: str, modules: Iterable[str] = ()) -> str:
    """The text of a module with the functions of all pieces.

    ``modules`` are the names of modules, besides numpy and math, that may be imported.

    >>> import numpy as np
    >>> print(module_text([Emitted("def f(x):\\n    return np.sin(x)\\n", {"np": np})], "The sine."))
    \"\"\"The sine.\"\"\"
    <BLANKLINE>
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def f(x):
        return np.sin(x)
    <BLANKLINE>
    """
    namespace: dict[str, Any] = {}
    for piece in pieces:
        for name, value in piece.namespace.items():
            if namespace.setdefault(name, value) is not value:
                raise SaveError(f"two different objects are called {name}", hint="save the functions one by one")
    writer = ModuleWriter(frozenset(modules))
    writer.add(namespace)
    if writer.refused:
        names = ", ".join(sorted(writer.refused))
        raise SaveError(f"it depends on {names}, which cannot be written to a file", hint="pass it as an argument")
    sections = [*writer.sources.values(), *(piece.text for piece in pieces)]
    head = "\n".join([docstring(doc), "", *sorted(writer.imports)])
    return "\n\n\n".join([head.rstrip(), *(section.strip("\n") for section in sections)]) + "\n"


@dataclass(slots=True)
class ModuleWriter:
    """Collects imports, copied functions and refused names."""

    modules: frozenset[str]
    imports: dict[str, None]
    sources: dict[str, str]
    refused: dict[str, None]

    def __init__(self, modules: frozenset[str]) -> None:
        self.modules = modules
        self.imports, self.sources, self.refused = {}, {}, {}

    def add(self, namespace: Mapping[str, Any]) -> None:
        """Provide an import, copy or assignment for every name."""
        for name, value in namespace.items():
            line = self.import_line(name, value)
            if line is not None:
                self.imports[line] = None
            elif getattr(value, "__module__", None) in MODULES and isinstance(value, FunctionType):
                self.copy(name, value)
            elif not self.alias(name, value):
                self.refused[name] = None

    def allowed(self, module: str) -> bool:
        """Whether the saved file may import the module."""
        root = module.partition(".")[0]
        return root in ("numpy", "math", "cmath", "scipy", "sys", "warnings") or module in self.modules or root in self.modules

    def import_line(self, name: str, value: Any) -> str | None:
        """The import of a module or of its function; None if there is none."""
        if isinstance(value, ModuleType):
            if not self.allowed(value.__name__):
                return None
            if not is_dotted(value.__name__):
                return None
            return f"import {value.__name__}" if value.__name__ == name else f"import {value.__name__} as {name}"
        module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if not is_dotted(module) or not is_name(own) or not self.allowed(module):
            return None
        if getattr(sys.modules.get(module), own, None) is not value:
            return None
        module = public_home(module, own, value)
        return f"from {module} import {own}" + ("" if own == name else f" as {name}")

    def alias(self, name: str, value: Any) -> bool:
        """Assign a builtin with another name, or a plain number; False for other values."""
        own = getattr(value, "__name__", "")
        if isinstance(value, BuiltinFunctionType | type) and getattr(builtins, own, None) is value:
            if name != own:
                self.sources[name] = f"{name} = {own}"
            return True
        if isinstance(value, SCALARS):
            self.sources[name] = f"{name} = {scalar_text(value)}"
            return True
        return False

    def copy(self, name: str, value: FunctionType) -> None:
        """Copy a function of the runtime, after its callees."""
        if name in self.sources:
            return
        text = textwrap.dedent(inspect.getsource(value))
        tree = ast.parse(text).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.sources[name] = ""
        mentioned = {node.id for node in ast.walk(ast.Module(tree.body, [])) if isinstance(node, ast.Name)}
        self.add({n: value.__globals__[n] for n in sorted(mentioned) if n in value.__globals__ and n != value.__name__})
        del self.sources[name]
        self.sources[name] = without_annotations(text, tree)
        if name != value.__name__:
            self.sources[name] += f"\n\n{name} = {value.__name__}"


def public_home(module: str, own: str, value: Any) -> str:
    """The public package that exports a function of a private module, if there is one.

    >>> from concurrent.futures import Future
    >>> public_home(Future.__module__, "Future", Future)
    'concurrent.futures'
    """
    parts = module.split(".")
    private = next((k for k, part in enumerate(parts) if part.startswith("_")), 0)
    package = ".".join(parts[:private])
    return package if private and getattr(sys.modules.get(package), own, None) is value else module


def without_annotations(text: str, tree: ast.FunctionDef) -> str:
    """The text of a function without argument annotations, so that no typing import is needed."""
    arguments = ast.parse("def f(): pass").body[0]
    assert isinstance(arguments, ast.FunctionDef)
    for argument in ast.walk(tree.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    body = text.splitlines()[tree.body[0].lineno - 1 :]
    return "\n".join([f"def {tree.name}({ast.unparse(tree.args)}):", *body])


def scalar_text(value: Any) -> str:
    """The source text of a number or string."""
    return ast.unparse(literal(value, Names(frozenset(), find)))


__all__ = ["module_text"]
