"""Compiles a function of recorded values: readable or fast NumPy text, or a numba kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from symgrad.codegen.header import Header
from symgrad.codegen.numba import Surface, emit_kernel
from symgrad.codegen.python import emit
from symgrad.codegen.texts import Emitted, Kernel
from symgrad.errors import BadArgument
from symgrad.ir.core import Func, clone
from symgrad.ir.types import Scalar
from symgrad.ir.walks import read_in
from symgrad.jit import Jit, Pending, with_kernels
from symgrad.location import NOWHERE
from symgrad.pipeline.emission import argument_names
from symgrad.pipeline.lowering import to_loops
from symgrad.pipeline.registry import LIVE, LOWER_HALVES, SHOWN
from symgrad.pipeline.runner import run
from symgrad.runtime.load import load
from symgrad.signature import Compiled as Code
from symgrad.targets import USUAL
from symgrad.targets import available as available_to_functions

Key = Hashable


def available(jit: Jit) -> Jit:
    """As for functions, but that programs are compiled by numba only."""
    usable = available_to_functions(jit)
    if usable not in (True, False, "auto", USUAL):
        raise BadArgument(f"a program cannot be compiled by the target {jit!r}", hint="say jit=True")
    return usable


@dataclass(slots=True)
class Compiled:
    """A function of some of the values of a graph.

    ``keys`` are these values, in order; ``scalars`` those that are no arrays; ``func`` is its IR, ``header`` its signature.
    """

    function: Callable[..., Any]
    keys: tuple[Key, ...]
    scalars: tuple[bool, ...]
    func: Func
    printed: Func  #: as NumPy runs it fastest
    header: Header
    kernels: str = field(default="", repr=False)  #: the text of the kernel that replaces it

    @property
    def text(self) -> str:
        """The source: of the kernel and its caller, or of the NumPy code, each statement as it was recorded."""
        return self.kernels or emitted(run(SHOWN, clone(self.func)), self.header).text

    def with_kernel(self, arguments: Sequence[Any], jit: Jit) -> Compiled:
        """Return it as a kernel compiled for such arguments, or unchanged, with a notice, if it cannot be compiled."""
        words = self.header.signature.split(", ") if self.keys else []
        kernel = self.pending(jit).compiled(dict(zip(words, arguments, strict=True)).__getitem__)
        return replace(self, function=kernel.function, kernels=kernel.text)

    def kernel_text(self) -> str:
        """The source of the kernel and its caller; of the NumPy code where there can be no kernel."""
        shown = self.pending("auto").shown().text
        return shown or self.text

    def pending(self, jit: Jit) -> Pending:
        """The kernel, not yet compiled."""
        return Pending(self.function, Code(self.function, ""), self.kernel, with_kernels, jit == "auto", NOWHERE)  # type: ignore[arg-type]

    def kernel(self) -> Kernel:
        """The texts of the kernel and of its caller."""
        func = to_loops(self.func)
        words = [value.name or "" for value in func.params]
        passed = ", ".join(words)
        func.results = argument_names([getattr(operand, "name", None) for operand in func.body.yields])
        return emit_kernel(func, Surface(self.header.name, passed, passed, "", words, self.header.result, self.header.objects))


def finished(func: Func, keys: Sequence[Key], name: str, objects: Mapping[str, Any], kernel: bool = False) -> Compiled:
    """Drop parameters that nothing reads, print and load; those that only a ``kernel`` reads stay where there is to be one."""
    func = run(LIVE, func)
    printed = run(SHOWN, clone(func))
    read = read_by(func if kernel else printed)
    places = [place for place in range(len(keys)) if place in read]
    for one in (func, printed):
        one.body.args = [one.params[place] for place in places]
        for value, word in zip(one.params, argument_names([value.name for value in one.params]), strict=True):
            value.name = word
    count = len(func.body.yields)
    result = f"({', '.join(f'{{{k}}}' for k in range(count))}{',' if count == 1 else ''})"
    header = Header(name, ", ".join(value.name or "" for value in func.params), {}, result, comments=False, objects=objects)
    printed = run(LOWER_HALVES, printed)
    code = emitted(printed, replace(header, fast=True))
    function = load(code.text, name, {**code.namespace, **objects})
    scalars = tuple(isinstance(value.type, Scalar) for value in func.params)
    return Compiled(function, tuple(keys[place] for place in places), scalars, func, printed, header)


def emitted(func: Func, header: Header) -> Emitted:
    """Return the text of a function with parameters of the given names."""
    return emit(func, replace(header, bind={value: value.name or "" for value in func.params}))


def read_by(func: Func) -> set[int]:
    """Return the indices of the parameters that are read."""
    read = set(read_in(func.body))
    return {place for place, value in enumerate(func.params) if value in read}


__all__ = ["Compiled", "Jit", "Key", "available", "finished"]
