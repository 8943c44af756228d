"""A derivative's IR -> a kernel compiled by numba and the function that calls it, when the derivative is first called.

What has no compiled form runs as NumPy code, with one notice for each function.
"""

from __future__ import annotations

import os
import sys
import warnings
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

from symgrad.codegen.numba import Kernel, Surface, emit_kernel
from symgrad.errors import NotCompiled
from symgrad.ir.core import Func
from symgrad.ir.types import Array, Scalar, Type
from symgrad.loops.lower import to_loops
from symgrad.loops.reach import OutOfReach
from symgrad.runtime.kernels import compile_for, load_kernel
from symgrad.runtime.load import load
from symgrad.signature import Compiled

Read = Callable[[str], Any]  #: the value of an expression over the user's parameters

#: numba's names of the types of numbers
NUMBERS = {"float": "float64", "int": "int64", "bool": "boolean"}
DTYPES = {"f32": "float32", "f64": "float64", "bool": "boolean"} | {f"{k}{n}": f"{word}{n}" for k, word in (("i", "int"), ("u", "uint"))
                                                                    for n in (8, 16, 32, 64)}  # fmt: skip
#: functions of the user's whose notice has been given
TOLD: weakref.WeakSet[FunctionType] = weakref.WeakSet()


@dataclass(slots=True)
class Pending:
    """What is to be compiled when it is first called: the IR, and the NumPy target that stands in until then, and for good if it fails."""

    function: FunctionType
    func: Func
    surface: Surface
    numpy: Compiled
    clean: Callable[[Func], Func]
    quiet: bool  #: no notice if it cannot be compiled
    made: Kernel | OutOfReach | None = None
    done: Compiled | None = None

    def kernel(self) -> Kernel | OutOfReach:
        """The texts, or why there are none."""
        if self.made is None:
            try:
                self.made = emit_kernel(self.clean(to_loops(self.func)), self.surface)
            except OutOfReach as refusal:
                self.made = refusal
            except Exception as fault:
                if os.environ.get("SYMGRAD_CHECK"):
                    raise
                self.made = OutOfReach(f"a fault of symgrad ({type(fault).__name__}: {fault})")
        return self.made

    def shown(self) -> Compiled:
        """With the source of the kernel and its caller, or of the NumPy code that runs."""
        made = self.kernel()
        return replace(self.numpy, text=made.shown, readable=None) if isinstance(made, Kernel) else self.numpy

    def compiled(self, read: Read) -> Compiled:
        """Load the kernel and have it compiled for the arguments that ``read`` gives."""
        if self.done is None:
            made = self.kernel()
            if isinstance(made, Kernel):
                try:
                    self.done = self.loaded(made, read)
                except Exception as fault:
                    if not is_refusal(fault):
                        raise
                    made = OutOfReach(f"what numba says ({first_line(fault)})")
            if isinstance(made, OutOfReach):
                self.done = self.numpy
                self.tell(made)
        assert self.done is not None
        return self.done

    def loaded(self, made: Kernel, read: Read) -> Compiled:
        """The kernel compiled and its caller made."""
        dispatcher = load_kernel(made.text, made.name)
        arrays = [read(leaf) if isinstance(type_, Array) else None for leaf, type_ in zip(made.leaves, made.types, strict=True)]
        compile_for(dispatcher, arrays, [number_name(type_) for type_ in made.types])
        numpy = self.numpy.function
        namespace = {**self.surface.objects, **made.namespace, made.name: dispatcher, made.fallback: numpy}
        function = load(made.caller, self.surface.name, namespace)
        vars(function).update(vars(numpy))  # the IR, from which its derivative starts
        direct = (dispatcher, numpy) if made.direct else None
        return replace(self.numpy, function=function, text=made.shown, readable=None, direct=direct)

    def tell(self, refusal: OutOfReach) -> None:
        """Give the notice, once for each function."""
        if not self.quiet and self.function not in TOLD:
            TOLD.add(self.function)
            warnings.warn(NotCompiled(self.function.__qualname__, refusal.reason, refusal.loc), stacklevel=depth_of_caller())


def number_name(type_: Type) -> str | None:
    """numba's name of the type of a number; None for arrays, which are asked."""
    if not isinstance(type_, Scalar):
        return None
    return NUMBERS[type_.kind] if type_.dtype in (None, "any") else DTYPES[type_.dtype]


def is_refusal(fault: Exception) -> bool:
    """Is it numba that cannot compile something?  It is imported by now, if at all."""
    errors = sys.modules.get("numba.core.errors")
    return errors is not None and isinstance(fault, (errors.NumbaError, NotImplementedError))


def first_line(fault: Exception) -> str:
    """The line of numba's message that says most."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    return (lines[1] if len(lines) > 1 and lines[0].startswith("Failed") else lines[0] if lines else type(fault).__name__)[:200]


def depth_of_caller() -> int:
    """How many frames up the user's own call stands, for ``stacklevel``."""
    here = str(Path(__file__).parent)
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((here, "<symgrad")):
        depth, frame = depth + 1, frame.f_back
    return depth
