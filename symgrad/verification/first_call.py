"""The first call of a signature: compares the generated code's result with the user's function on the same arguments.

The function runs once, unobserved: its arguments are unchanged afterwards, and NumPy's warnings are suppressed.
If it stores to its arguments, their contents afterwards are compared too, on copies. Functions with other side
effects are not run. A difference that rounding explains does not count.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from inspect import BoundArguments
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from symgrad.errors import BadArgument, Mismatch, SymgradError
from symgrad.frontend.functions.adapters import ADAPTS
from symgrad.paths import value_at, with_parts
from symgrad.runtime.load import LOCK
from symgrad.signature import Comparable, Compiled, Signature
from symgrad.verification.agreement import OtherForm, allowed_for, floats, gaps, widths
from symgrad.verification.directions import by_key, contracted, dot
from symgrad.verification.duplicate import Duplicate, NotCopied, Snapshot, same
from symgrad.verification.report import mismatch, shown_result
from symgrad.verification.rounding import explains, results

Verify = bool | Literal["gradient"] | None
#: the environment variable with the default of ``verify``, and its values
SWITCH = "SYMGRAD_VERIFY"
VALUES: dict[str, Verify] = {"": True, "1": True, "0": False, "gradient": "gradient"}
#: exceptions that depend on the machine, not on the function: call depth, memory
OF_THE_MACHINE = (RecursionError, MemoryError, Warning, FloatingPointError)
#: exceptions that no correct gradient raises
FAULTS = (TypeError, AttributeError, LookupError, NameError, AssertionError)
#: how often calls that raise on both sides are compared again
ATTEMPTS = 8
#: the two compared sides, in the words of a mismatch
OWN = ("the code for", "the function itself")


def verified(verify: Verify) -> Verify:
    """The verification to perform: ``verify`` unless it is None, else the environment's setting; by default the value."""
    if verify is not None:
        return verify
    said = os.environ.get(SWITCH, "")
    if said not in VALUES:
        raise BadArgument(f"{SWITCH} is {said!r}", hint=f"set it to {', '.join(repr(v) for v in VALUES if v)}")
    return VALUES[said]


def checked_verify(verify: Verify) -> Verify:
    """The argument ``verify`` of a public function; raises BadArgument if it is invalid."""
    if not (verify is None or isinstance(verify, bool) or verify == "gradient"):
        raise BadArgument(f"verify is True, False or 'gradient', not {verify!r}")
    return verify


@dataclass(slots=True, eq=False)
class FirstCall:
    """The state of one signature's code: whether it was compared, and whether it differed."""

    passed: bool = False
    mismatch: Mismatch | None = None
    attempts: int = 0
    running: set[int] = field(default_factory=set)  #: threads that are comparing it: the function may call its own derivative


@dataclass(frozen=True, slots=True)
class Parts:
    """How a derivative's result contains the function's own result, and its gradients.

    ``value`` returns the former, None where the derivative does not compute it. ``gradients`` returns the
    latter for a seed, in the order of ``names``.
    """

    value: Callable[[Any], Any] | None = None
    gradients: Callable[[Any, Any], tuple[Any, ...]] | None = None
    names: Callable[[Signature], tuple[str, ...]] = lambda signature: ()
    has_aux: bool = False
    later: bool = False  #: whether the result is a function, which computes when it is called
    tangent: Callable[[Any, Any], Any] | None = None  #: from a result and tangents by parameter: the tangent of the function's own result

    def differentiated(self, value: Any) -> Any:
        """The function's result without auxiliary results."""
        return value[0] if self.has_aux else value


def parts_of(what: str, has_aux: bool, several: bool, names: Callable[[Signature], tuple[str, ...]]) -> Parts:
    """The parts of the result of ``grad``, ``value_and_grad``, ``vjp``, ``jacobian`` or of the function itself."""

    def value(result: Any) -> Any:
        if what == "jvp":
            result = result(None)
        return result if what in WHOLE else (result[0], result[2]) if what in ("vjp", "jvp", "linearize") and has_aux else result[0]

    def gradients(result: Any, seed: Any) -> tuple[Any, ...]:
        derivative = result[1](seed) if what == "vjp" else result[1] if what == "value_and_grad" else result[0] if has_aux else result
        derivative = contracted(derivative, seed) if what == "jacobian" else derivative
        return tuple(derivative) if several else (derivative,)

    def tangent(result: Any, tangents: Any) -> Any:
        return result(tangents)[1] if what == "jvp" else result[1](tangents)

    if what in ("jvp", "linearize"):
        return Parts(value, None, names, has_aux, what == "jvp", tangent)
    return Parts(None if what in ("grad", "jacobian") else value, None if what in WHOLE else gradients, names, has_aux)


@dataclass(slots=True)
class Comparison:
    """One signature's first call."""

    function: Callable[..., Any]  #: the differentiated function: the user's, or code that was compared before
    user: types.FunctionType
    compiled: Compiled
    comparable: Comparable | None  #: of the user's function
    signature: Signature
    bound: BoundArguments
    parts: Parts
    program: Mapping[str, str]  #: a description of the request, for reports
    slopes: bool = False  #: whether gradients are compared too

    def run(self) -> tuple[bool, Callable[[], Any] | None]:
        """Compare; return whether the comparison is complete, and a function for the result of the call, None for a plain call.

        Raises Mismatch.
        """
        try:
            snapshot, arguments = self.snapshot(self.bound), self.bound
            if self.stores:
                self.bound = self.copies()  # the contents of the arguments before the call
        except NotCopied:
            return True, None
        ours = outcome(lambda: self.compiled.function(*arguments.args, **arguments.kwargs))
        again = partial(raised, ours) if self.stores and isinstance(ours, Exception) else None  # a second call would store twice
        if isinstance(ours, SymgradError):
            return False, again
        value = ours if isinstance(ours, Exception) else outcome(lambda: self.value(ours))
        if isinstance(value, Exception):  # perhaps that of the derivative, which is compared with nothing
            ours, value = value, outcome(self.primal)
        plain, changed = self.plain_arguments(), False
        if plain is not self.bound and not self.stores:
            snapshot = self.snapshot(plain)
        started = time.perf_counter()
        try:
            theirs = outcome(lambda: self.plainly(plain))
        finally:
            seconds = time.perf_counter() - started
            if not self.stores:  # results may be arguments, so copies stay as they are now
                changed = snapshot.put_back() if plain is self.bound else snapshot.changed()
        if isinstance(theirs, Mismatch):
            raise theirs
        if not isinstance(theirs, SymgradError):
            self.compare(value, theirs, self.plainly)
            if self.stores and not self.parts.later and isinstance(ours, Exception) is isinstance(theirs, Exception):
                self.compare_left(arguments, plain)
            if changed:
                raise self.told(ours, theirs, ", and changes its arguments, which the code does not")
        if isinstance(ours, Exception):
            if isinstance(ours, FAULTS) and not isinstance(theirs, Exception) and not self.is_cut():
                raise self.told(ours, theirs, "")
            return False, again
        if seconds < QUICK and not isinstance(theirs, Exception):
            self.compare_kernel(ours, theirs)
        if self.slopes and not isinstance(theirs, Exception):
            self.compare_slopes(ours, theirs)
        return True, lambda: ours

    @property
    def stores(self) -> bool:
        """Whether the function stores in its arguments."""
        return self.comparable is not None and self.comparable.stores

    def value(self, ours: Any) -> Any:
        """The function's own result in the derivative's; else, or if it would store twice, the result of the original function."""
        if self.parts.value is None or self.parts.later and self.stores:
            return self.primal()
        return self.parts.value(ours)

    def primal(self) -> Any:
        """The result of the original function; NOTHING, which is not compared, if there is none."""
        make = None if self.compiled.comparable is None else self.compiled.comparable.primal
        return NOTHING if make is None else quietly(make(), self.copies() if self.stores else self.bound)

    def snapshot(self, bound: BoundArguments) -> Snapshot:
        """A snapshot of the contents of the arguments."""
        snapshot = Snapshot()
        for value in bound.arguments.values():
            snapshot.take(value)
        return snapshot

    def plain_arguments(self) -> BoundArguments:
        """The arguments, or copies if the function is known to write to them."""
        return self.copies() if self.compiled.mutated or self.stores else self.bound

    def copies(self, change: Callable[[Any], Any] = same, others: Mapping[str, Any] = MappingProxyType({})) -> BoundArguments:
        """Copies of the arguments, with ``change`` applied to each number, and some arguments replaced."""
        duplicate = Duplicate(change)
        arguments = {name: others[name] if name in others else duplicate.of(value) for name, value in self.bound.arguments.items()}
        return BoundArguments(self.bound.signature, arguments)

    def plainly(self, bound: BoundArguments) -> Any:
        """The result of the function, without warnings."""
        return quietly(self.function, bound)

    # -------------------------------------------------------------- values

    def compare_left(self, arguments: BoundArguments, plain: BoundArguments) -> None:
        """Raise Mismatch if the contents of the arguments differ after the two calls; cyclic objects are not compared."""
        with contextlib.suppress(RecursionError):
            self.compare(self.held_by(arguments), self.held_by(plain), self.left, "leaves")

    def left(self, bound: BoundArguments) -> dict[str, Any]:
        """The contents of the arguments after the function has run."""
        outcome(lambda: self.plainly(bound))
        return self.held_by(bound)

    def held_by(self, bound: BoundArguments) -> dict[str, Any]:
        """The contents of the arguments; without arrays if the code writes to copies of them."""
        if self.comparable is None or not self.comparable.copies:
            return dict(bound.arguments)
        duplicate = Duplicate(lambda leaf: None if isinstance(leaf, np.ndarray) else leaf)
        return {name: duplicate.of(value) for name, value in bound.arguments.items()}

    def compare(
        self, ours: Any, theirs: Any, run: Callable[[BoundArguments], Any], verb: str = "gives", whose: tuple[str, str] = OWN
    ) -> None:
        """Raise Mismatch if two results of ``run``, or exceptions, differ by more than rounding explains."""
        if ours is NOTHING or self.comparable is not None and self.comparable.custom:
            return
        if isinstance(ours, Exception) or isinstance(theirs, Exception):
            if isinstance(ours, Exception) and isinstance(theirs, Exception):
                return
            if hasattr(self.user, ADAPTS) and isinstance(theirs, TypeError):
                return  # generated code around a callable need not accept everything that it accepts
            raised = ours if isinstance(ours, Exception) else theirs
            if isinstance(raised, (*OF_THE_MACHINE, SymgradError)) or self.wavers():
                return
            raise self.told(ours, theirs, "")
        width, allowed = self.precision(ours, theirs)
        try:
            differences = [gap for gap in gaps(ours, theirs) if not allowed.admits(gap)]
        except OtherForm as form:
            raise self.told(ours, theirs, f": {form}", verb, whose) from None
        if not differences:
            return
        width = min(width, self.narrowest())
        count = sum(np.size(leaf) for leaf in floats(list(self.bound.arguments.values())))
        allowed = allowed_for(width, count, largest(list(self.bound.arguments.values())))
        differences = [gap for gap in differences if not allowed.admits(gap)]
        if differences and not explains(lambda change: run(self.copies(change)), differences, allowed, width):
            raise self.told(ours, theirs, "", verb, whose)

    def precision(self, ours: Any, theirs: Any) -> tuple[int, Any]:
        """The width of the narrowest float among arguments and results, and the allowed gaps."""
        held = list(self.bound.arguments.values())
        width = min([8, *(w for value in (*held, theirs) for w in widths(value))])
        width = next(k for k in (2, 4, 8) if width <= k)
        return width, allowed_for(width, sum(np.size(leaf) for leaf in floats(held)), largest(held))

    def narrowest(self) -> int:
        """The width of the narrowest float inside the function."""
        dtypes = frozenset[str]() if self.comparable is None else self.comparable.dtypes
        return min([8, *(NARROW[dtype] for dtype in sorted(dtypes) if dtype in NARROW)])

    def wavers(self) -> bool:
        """Whether the function raises for some neighbouring arguments, and returns for others."""
        width, _ = self.precision(None, None)
        ends = {isinstance(result, Exception) for result in results(lambda change: self.plainly(self.copies(change)), width)}
        return len(ends) > 1

    def told(self, ours: Any, theirs: Any, how: str, verb: str = "gives", whose: tuple[str, str] = OWN) -> Mismatch:
        """The error for two results."""
        ends, other = ("raises" if isinstance(result, Exception) else verb for result in (ours, theirs))
        one, another = whose
        what = f"{one} {self.user.__qualname__} {ends} {shown_result(ours)}, and {another} {other} {shown_result(theirs)}{how}"
        return mismatch(self.user, what, ours, theirs, self.program, self.signature, self.bound.arguments, self.others())

    def others(self) -> Iterable[types.FunctionType]:
        """The user's functions that the code contains."""
        return (relied.value for relied in self.compiled.relied if isinstance(relied.value, types.FunctionType))

    # -------------------------------------------------------------- gradients

    def compare_kernel(self, ours: Any, theirs: Any) -> None:
        """Raise Mismatch if a kernel's gradient differs from that of the NumPy code; the seed is the value."""
        gradients, plain = self.parts.gradients, self.compiled.plain
        if gradients is None or plain is None:
            return
        seed = self.parts.differentiated(theirs)

        def of_numpy(bound: BoundArguments) -> Any:
            return gradients(quietly(plain, bound), seed)

        expected = outcome(lambda: of_numpy(self.bound))
        if not isinstance(expected, Exception):
            self.compare(gradients(ours, seed), expected, of_numpy, "gives the gradient", ("the kernel of", "its NumPy code"))

    def slope(self, ours: Any, seed: Any, parts: Any, tangents: Mapping[str, Any]) -> float:
        """The code's derivative in a direction: of the result's inner product with a seed; ``parts`` is the seed as nested lists."""
        if self.parts.tangent is not None:
            own = {name: by_key(value_at(self.bound.arguments, name), direction) for name, direction in tangents.items()}
            return float(dot(self.parts.tangent(ours, own), parts).real)
        assert self.parts.gradients is not None
        pairs = zip(self.parts.gradients(ours, seed), tangents.values(), strict=True)
        return float(sum(dot(gradient, direction).real for gradient, direction in pairs))

    def is_cut(self) -> bool:
        """Whether the user declares derivatives."""
        return self.comparable is not None and self.comparable.cut

    def compare_slopes(self, ours: Any, theirs: Any) -> None:
        """Raise Mismatch if the gradients surely differ from finite differences of the function."""
        with LOCK:
            from symgrad.verification.slope import disagreement  # rarely needed

        gradients, tangent, differentiated = self.parts.gradients, self.parts.tangent, self.parts.differentiated
        if gradients is None and tangent is None or self.is_cut():
            return
        arguments = {name: value_at(self.bound.arguments, name) for name in self.parts.names(self.signature)}
        try:
            slopes = disagreement(
                lambda others: differentiated(self.plainly(self.copies(others=with_parts(self.bound.arguments, others)))),
                arguments,
                differentiated(theirs),
                lambda seed, parts, tangents: self.slope(ours, seed, parts, tangents),
            )
        except (SymgradError, NotCopied):
            return
        if slopes is not None:
            slope, differences = slopes
            code = "gradient" if self.parts.tangent is None else "tangent"
            what = f"the {code} of {self.user.__qualname__} gives the slope {slope:.6g} in a direction, and differences {differences:.6g}"
            raise mismatch(self.user, what, slope, differences, self.program, self.signature, self.bound.arguments, self.others())


#: derivatives that are compared as a whole
WHOLE = ("primal", "hvp", "vhp")
#: the maximum run time, in seconds, of a function whose kernel is compared with NumPy code: under a tenth of the compile time
QUICK = 0.005
#: marks a result that generated code does not compute
NOTHING = object()
#: the bytes of floating-point numbers narrower than Python's
NARROW = {"f16": 2, "f32": 4, "c64": 4}


def raised(error: Exception) -> Any:
    """Raise the exception of a call."""
    raise error


def outcome(function: Callable[[], Any]) -> Any:
    """The result of a function, or the exception that it raises."""
    try:
        return function()
    except Exception as error:
        return error


def quietly(function: Callable[..., Any], bound: BoundArguments) -> Any:
    """Call a function with warnings suppressed."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*bound.args, **bound.kwargs)


def largest(value: Any) -> float:
    """The largest finite magnitude in a tree."""
    with np.errstate(all="ignore"):
        magnitudes = (np.abs(np.asarray(leaf)) for leaf in floats(value))
        return max((float(np.max(part[np.isfinite(part)], initial=0.0)) for part in magnitudes), default=0.0)


def compared(first: FirstCall, make: Callable[[], Comparison]) -> Callable[[], Any] | None:
    """Compare, and record the outcome; return a function for the result of the call, None for a plain call."""
    if first.mismatch is not None:
        raise copy(first.mismatch)
    thread = threading.get_ident()
    if thread in first.running:
        return None
    first.running.add(thread)
    try:
        done, call = make().run()
    except Mismatch as error:
        first.mismatch = error
        raise
    finally:
        first.running.discard(thread)
    first.attempts += 1
    first.passed = done or first.attempts >= ATTEMPTS
    return call


__all__ = ["Comparison", "FirstCall", "Parts", "Verify", "checked_verify", "compared", "parts_of", "verified"]
