"""Compiles the IR of a derivative to a numba kernel at the first call, and the function that calls the kernel.

A function that cannot be compiled runs as NumPy code, with one notice for each function.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType
from typing import Any

from symgrad.codegen.texts import Kernel, Pair
from symgrad.errors import NotCompiled
from symgrad.ir.types import Array, List, Scalar, Type
from symgrad.location import Loc
from symgrad.loops.reach import CompilerFailed, OutOfReach, check_length, in_words
from symgrad.pipeline.target import GiveUp, Read, Texts
from symgrad.progress import enter
from symgrad.runtime.kernels import compile_for, entry_point, load_kernel, settled, type_named, type_of
from symgrad.runtime.load import LOCK, collector_paused, deep_calls, load
from symgrad.signature import Compiled, Direct

Jit = bool | str  #: True, False, "auto" or the name of a target

#: numba's names of the types of numbers
NUMBERS = {"float": "float64", "int": "int64", "bool": "boolean", "complex": "complex128"}
INTEGERS = {f"{k}{n}": f"{word}{n}" for k, word in (("i", "int"), ("u", "uint")) for n in (8, 16, 32, 64)}
DTYPES = {"f32": "float32", "f64": "float64", "c128": "complex128", "bool": "boolean"} | INTEGERS
#: the user's functions whose notice was emitted
TOLD: weakref.WeakSet[FunctionType] = weakref.WeakSet()


@dataclass(slots=True)
class Pending:
    """A kernel that is compiled at its first call: how its texts are generated and loaded, and the NumPy code as a fallback."""

    function: FunctionType
    numpy: Compiled
    emission: Callable[[], Texts]
    load: Callable[[Any, Compiled, Read, GiveUp], Compiled]
    quiet: bool  #: no notice if it cannot be compiled
    loc: Loc  #: where the function begins
    outcome: Texts | OutOfReach | None = None
    done: Compiled | None = None
    given_up: list[Callable[[], None]] = field(default_factory=list, repr=False)  #: called when the kernel is abandoned

    def texts(self) -> Texts | OutOfReach:
        """Return the texts, or the reason why there are none."""
        if self.outcome is None:
            try:
                with deep_calls():
                    self.outcome = self.emission()
            except OutOfReach as refusal:
                self.outcome = refusal
            except RecursionError:
                self.outcome = OutOfReach("code that is nested as deeply as this")
            except Exception as fault:
                if os.environ.get("SYMGRAD_CHECK"):
                    raise
                self.outcome = CompilerFailed(f"a fault of symgrad, please report it ({type(fault).__name__}: {fault})")
        return self.outcome

    def lines(self) -> int | None:
        """Return the number of lines of the texts, or None."""
        texts = self.texts()
        return None if isinstance(texts, OutOfReach) else texts.shown.count("\n")

    def shown(self) -> Compiled:
        """Return the source of the kernel and its caller, or of the NumPy code that runs."""
        kernels = self.texts()
        return self.numpy if isinstance(kernels, OutOfReach) else replace(self.numpy, text=kernels.shown, readable=None)

    def compiled(self, read: Read) -> Compiled:
        """Load the kernel and compile it for the arguments that ``read`` returns."""
        if self.done is None:
            with collector_paused():
                outcome = self.loaded(read)
            if isinstance(outcome, OutOfReach):
                self.done = self.numpy
                self.tell(outcome)
            else:
                self.done = outcome
        return self.done

    def loaded(self, read: Read) -> Compiled | OutOfReach:
        """Return the compiled kernel, or the reason why there is none."""
        kernels = self.texts()
        if isinstance(kernels, OutOfReach):
            return kernels
        try:
            return self.load(kernels, self.numpy, read, self.give_up)
        except OutOfReach as refusal:
            return refusal

    def give_up(self, raised: type[Exception]) -> None:
        """Run the NumPy code from now on: the kernel raises where that does not."""
        self.done = self.numpy
        for leave in self.given_up:
            leave()
        reason = f"its kernel has raised {raised.__name__} in two calls in a row"
        self.notify(NotCompiled(self.function.__qualname__, reason, self.loc))

    def tell(self, refusal: OutOfReach) -> None:
        """Emit the notice that there is no kernel."""
        self.notify(NotCompiled(self.function.__qualname__, refusal.clause, self.where(refusal)))

    def notify(self, notice: NotCompiled) -> None:
        """Emit a notice, once for each function."""
        if not self.quiet and self.function not in TOLD:
            TOLD.add(self.function)
            notice.give()

    def where(self, refusal: OutOfReach) -> Loc:
        """Return the line that cannot be compiled, or that of the function."""
        return refusal.loc if refusal.loc is not None and refusal.loc.file and refusal.loc.line else self.loc


def of_a_length(kernels: Kernel | Pair) -> Kernel | Pair:
    """Return kernels that numba compiles within a minute; raise OutOfReach for longer ones."""
    texts = [kernels.text] if isinstance(kernels, Kernel) else [kernels.forward[1], kernels.backward[1]]
    check_length(sum(text.count("\n") for text in texts), "lines")
    return kernels


Loaded = tuple[Callable[..., Any], Direct | None]


def with_kernels(kernels: Kernel | Pair, numpy: Compiled, read: Read, give_up: GiveUp) -> Compiled:
    """Return the NumPy code with compiled kernels in front; raise OutOfReach if numba cannot compile them."""
    enter("numba")
    try:
        function, direct = load_kernels(kernels, numpy.function, numpy.objects, read, give_up)
    except Exception as fault:
        if not is_refusal(fault):
            raise
        raise CompilerFailed(f"numba cannot compile it ({first_line(fault)})") from None
    return replace(numpy, function=function, text=kernels.shown, readable=None, direct=direct, plain=numpy.function)


def load_kernels(kernels: Kernel | Pair, numpy: Any, objects: Mapping[str, Any], read: Read, give_up: GiveUp) -> Loaded:
    """Compile the kernels and load their caller. The second result tells how a guard calls a kernel with the user's parameters."""
    own = kernels.tangents if isinstance(kernels, Kernel) else ()
    kinds = zip(kernels.leaves, kernels.types, strict=True)
    types = [seed_type(type_) if leaf in own else read_type(type_, leaf, read) for leaf, type_ in kinds]
    if isinstance(kernels, Kernel):
        kernel = load_kernel(kernels.text, kernels.name)
        compile_for(kernel, types)
        if all(isinstance(type_, Scalar) for type_ in kernels.types):
            kernel = entry_point(kernel, types)
        attempts = [(kernels.name, Attempts(kernel, give_up))]
        layouts = Layouts(kernel, kernels.types) if kernels.flat and settled(kernel) else None
        behind = numpy.__globals__[kernels.behind] if kernels.behind else numpy
        fallback = Fallback(behind, attempts[0][1], layouts)
        space = {kernels.name: kernel, kernels.fallback: fallback}
        if kernels.behind:
            space["tangent_of"] = numpy.__globals__["tangent_of"]
        direct = None
        if kernels.flat:
            called = partial(attempts[0][1].called_from, "guard")
            direct = Direct(kernel, fallback, kernels.results, kernels.returned, kernels.namespace, layouts is not None, called)
    else:
        forward, backward = (load_kernel(text, name) for name, text in (kernels.forward, kernels.backward))
        results = compile_for(forward, types)
        compile_for(backward, [results[item] if isinstance(item, int) else seed_type(item) for item in kernels.taken])
        whole = load(kernels.again[1], kernels.again[0], {**objects, **kernels.namespace})
        attempts = [(kernels.forward[0], Attempts(forward, give_up)), (kernels.backward[0], Attempts(backward, give_up))]
        behind = {f"{kernels.stem}_numpy": Fallback(numpy, attempts[0][1]), kernels.again[0]: Fallback(whole, attempts[1][1])}
        space = {kernels.forward[0]: forward, kernels.backward[0]: backward, **behind}
        direct = layouts = None
    function = load(kernels.caller, kernels.stem, {**objects, **kernels.namespace, **space})
    vars(function).update(vars(numpy))  # the IR, from which its derivative starts
    for name, attempt in attempts:
        attempt.called_from("caller", function.__globals__, name)
    if layouts is not None:
        layouts.caller = function
    return function, direct


class Left(Exception):
    """Raised in place of a kernel that has been abandoned."""


@dataclass(slots=True, eq=False, repr=False)
class Attempts:
    """The policy for a kernel that raises where the NumPy code does not: after two such calls in a row it is abandoned.

    Successful calls are not counted, because that would cost time in each of them. After one failure the callers call
    ``probe`` instead of the kernel, which records the next success; after two they call ``left``.
    """

    kernel: Callable[..., Any]
    give_up: GiveUp
    callers: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)  #: each with its namespace and its name for the kernel
    failures: int = 0
    raised: type[Exception] | None = None  #: by the kernel, called through ``probe``

    def called_from(self, caller: str, namespace: dict[str, Any], name: str) -> None:
        """Record a namespace in which the kernel is called by that name."""
        self.callers[caller] = namespace, name
        namespace[name] = self.callee()

    def callee(self) -> Callable[..., Any]:
        """Return the function that callers call for the kernel."""
        return (self.kernel, self.probe, self.left)[self.failures]

    def settle(self, failures: int) -> None:
        """Install the function to be called after this number of failures."""
        self.failures, self.raised = failures, None
        for namespace, name in self.callers.values():
            namespace[name] = self.callee()

    def failed(self) -> None:
        """Record that the kernel failed and the NumPy code did not raise.

        The second failure counts only if the kernel itself raised: the conversion of a seed before it may have failed instead.
        """
        if self.failures == 0:
            self.settle(1)
        elif self.failures == 1 and self.raised is not None:
            raised = self.raised
            self.settle(2)
            self.give_up(raised)

    def probe(self, *arguments: Any) -> Any:
        """Run the kernel after one failure."""
        try:
            result = self.kernel(*arguments)
        except Exception as error:
            self.raised = type(error)
            raise
        if self.failures < 2:
            self.settle(0)
        return result

    def left(self, *arguments: Any) -> Any:
        """Replaces an abandoned kernel."""
        raise Left


@dataclass(slots=True, eq=False, repr=False)
class Fallback:
    """The fallback of a kernel that raised: the NumPy code, or the kernel recompiled for the memory layout of these arrays."""

    numpy: Callable[..., Any]
    attempts: Attempts
    layouts: Layouts | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.layouts is None or self.attempts.failures == 2:
            result = self.numpy(*arguments, **named)
        else:
            kinds = self.layouts.kinds(arguments)
            if self.layouts.compiled_anew(kinds):
                return self.layouts.caller(*arguments)
            result = self.numpy(*arguments)
            if kinds not in self.layouts.kernel.overloads:
                return result  # numba has no code for these types, which is no statement about others
        self.attempts.failed()
        return result


@dataclass(slots=True, eq=False, repr=False)
class Layouts:
    """The memory layouts for which a kernel is compiled, and those that numba rejects."""

    kernel: Any
    types: list[Type]
    caller: Callable[..., Any] = field(init=False)
    refused: set[Any] = field(default_factory=set)

    def kinds(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """numba's types of the arguments."""
        return tuple(type_of(a) if isinstance(t, Array) else seed_type(t) for a, t in zip(arguments, self.types, strict=True))

    def compiled_anew(self, kinds: tuple[Any, ...]) -> bool:
        """Compile the kernel for arguments of these types if needed; return whether it was compiled now."""
        if kinds in self.kernel.overloads or kinds in self.refused:
            return False
        try:
            with LOCK, collector_paused():
                compile_for(self.kernel, list(kinds))
        except Exception as fault:
            if not is_refusal(fault):
                raise
            self.refused.add(kinds)
            return False
        finally:
            settled(self.kernel)
        return True


def read_type(type_: Type, leaf: str, read: Read) -> Any:
    """Return numba's type of an argument: of an array with its memory order, of a list that of its array."""
    if isinstance(type_, List):
        return seed_type(type_.item)
    return type_of(read(leaf)) if isinstance(type_, Array) else seed_type(type_)


def seed_type(type_: Type) -> Any:
    """Return numba's type for a type of the IR; arrays are C-contiguous."""
    match type_:
        case Scalar(kind=kind, dtype=None | "any"):
            return type_named(NUMBERS[kind])
        case Scalar(dtype=str() as dtype):
            return type_named(DTYPES[dtype])
        case Array(dtype=str() as dtype, shape=shape) if shape is not None:
            return type_named(DTYPES[dtype], len(shape))
    raise OutOfReach(f"an argument that is {in_words(type_)}")


def is_refusal(fault: Exception) -> bool:
    """Whether the exception comes from numba's compiler, which is imported by now if it is used."""
    errors = sys.modules.get("numba.core.errors")
    return errors is not None and isinstance(fault, (errors.NumbaError, NotImplementedError, AssertionError))


def first_line(fault: Exception) -> str:
    """Return the most informative line of numba's message."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    return (lines[1] if len(lines) > 1 and lines[0].startswith("Failed") else lines[0] if lines else type(fault).__name__)[:200]
