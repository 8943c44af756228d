"""``check_grads``: compares derivatives with finite differences, and forward mode with reverse mode.

Each check compares a derivative in a random direction with a central difference of fourth order, so
Each check compares a directional derivative in a random direction with a central difference of fourth order, so
and a direction ``d`` give the real part of ``sum(g * d)``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from symgrad.api import grad
from symgrad.callables import derived
from symgrad.contractions import contracted, pushed, written
from symgrad.errors import BadArgument
from symgrad.jit import Jit
from symgrad.parameters import Options, Wrt, options
from symgrad.paths import belongs, spelled
from symgrad.text import root_of
from symgrad.tracebacks import boundary
from symgrad.verification.agreement import RELATIVE, children, count_floats, widths
from symgrad.verification.directions import added, by_key, dot, fresh, leaf_names, moved, only, random_like
from symgrad.verification.slope import complex_slope

#: step and tolerance by the width of the narrowest float: half precision, single, double
STEPS = {2: (2e-1, 2e-1), 4: (2e-2, 5e-3), 8: (2e-4, 2e-6)}
#: relative tolerance of the comparison with a complex step
COMPLEX_TOLERANCE = 1e-8
#: up to this number of floats and arrays, each varies alone
ALONE = 32
Slope = Callable[[list[Any]], float]  #: the derivative along a tangent, in nested lists, of the result weighted by a seed
MODES: dict[str, Literal["jvp", "vjp"]] = {"forward": "jvp", "reverse": "vjp"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A directional derivative by generated code, and the value it is compared with."""

    order: int
    direction: int
    generated: float
    differences: float  #: by finite differences, by a complex step, or by the other mode
    tolerance: float
    mode: str = "reverse"
    leaf: str = ""  #: the leaf that varies in this direction
    method: str = "differences"
    sides: tuple[float, float] | None = None  #: the slopes on the left and on the right, where they are not one

    @property
    def agrees(self) -> bool:
        """Whether the two are equal within the tolerance; NaN never agrees."""
        size = max(1.0, abs(self.generated), abs(self.differences))
        return bool(abs(self.generated - self.differences) <= self.tolerance * size)

    def __str__(self) -> str:
        text = (
            f"order {self.order}, {self.mode}, {self.leaf}, direction {self.direction}: "
            f"got {self.generated:.12g}, expected {self.differences:.12g} ({self.method})"
        )
        if self.agrees or self.sides is None:
            return text
        return f"{text}; the slope is {self.sides[0]:.6g} on the left and {self.sides[1]:.6g} on the right: this is a kink"


@boundary
def compare_grads(
    function: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("forward", "reverse"),
    *,
    wrt: Wrt = None,
    directions: int = 2,
    seed: int = 0,
    tolerance: float | None = None,
    jit: Jit = False,
    **kwargs: Any,
) -> list[Comparison]:
    """Return all comparisons, of which ``check_grads`` reports those that disagree; the parameters are the same.

    With ``jit`` the compiled derivatives are compared.
    """
    check_request(function, args, order, modes, directions, seed, tolerance)
    args = tuple(args)
    if any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values()) and not isinstance(wrt, str):
        function = written(function, [f"x{k}" for k in range(len(args))], kwargs)
    names = names_in(function, args, kwargs, wrt)
    if not any(count_floats(value) for value in bound_to(function, args, kwargs, names).values()):
        raise BadArgument("no argument holds a float, so there is nothing to compare", hint="pass 2.0 for 2, or give wrt")
    random = np.random.default_rng(seed)
    comparisons: list[Comparison] = []
    below: dict[str, Any] = {"": function}
    for level in range(1, order + 1):
        for path, one in below.items():
            check = Check(one, args, kwargs, names, level, path, tuple(modes), tolerance, jit)
            check.keep(wrt)
            for direction in range(directions):
                comparisons += check.compared(direction, random)
        if level < order:
            below = {mode: differentiated(below[mode if mode in below else ""], args, kwargs, names, mode, random) for mode in modes}
    return comparisons


def differentiated(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, ...], mode: str, random: np.random.Generator
) -> Any:
    """Return the function of the next order: the gradient of ``sum(u * f(x))`` for random ``u``, or the tangent in a random direction."""
    if mode == "forward":
        return pushed(function, args, kwargs, names, random)
    return grad(contracted(function, args, kwargs, random), names, allow_unused=True)


@boundary
def check_grads(
    function: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("forward", "reverse"),
    *,
    wrt: Wrt = None,
    directions: int = 2,
    seed: int = 0,
    tolerance: float | None = None,
    **kwargs: Any,
) -> None:
    """Raise AssertionError unless derivatives up to ``order`` agree with finite differences, and forward mode with reverse mode.

    ``args`` are the positional arguments and ``kwargs`` the keyword arguments. ``wrt`` selects arguments as for ``grad``; the default is
    every positional argument that holds floats. Integers do not vary. Arguments and results may be trees, and may be complex; directions
    are then complex too.

    ``order`` is 1, 2 or 3. The function of the next order is the gradient of ``sum(u * f(x))`` for random ``u`` (reverse), or the tangent
    in a random direction (forward); each is checked in each of ``modes``. Order 2 thus covers reverse over reverse, forward over reverse,
    reverse over forward and forward over forward.

    For each of ``directions`` random directions ``v``, and a random ``u`` of the result's structure, these numbers must agree:

    - ``sum(u * jvp(f, x, v))``, forward mode, and ``sum(vjp(f, x)(u) * v)``, reverse mode. The two must agree up to rounding: to 1e-9 in
      double precision, 2e-4 in single and 3e-2 in half precision, relative to the sizes of the terms.
    - the central difference of fourth order of ``sum(u * f(x + t * v))``, with a step ``h`` of 2e-4 in double precision. Its error is
      ``h**4 / 30`` times the fifth derivative, about 1e-16, and the rounding of ``f`` over ``h``, about 1e-12; the tolerance of
      2e-6 leaves room for functions whose values or higher derivatives are a million times larger. In single precision the step is 2e-2,
      rounding over step 1e-5 and the tolerance 5e-3; in half precision 0.2 and 0.2. ``tolerance`` replaces these.
    - the imaginary part of ``sum(u * f(x + 1e-30j * v))``, divided by 1e-30 (the complex step, which has no truncation error). It is
      computed where all arguments are real and in double precision. If the function accepts complex numbers and the complex step agrees
      with the central difference, the code must agree with it to 1e-8.

    Up to 32 floats and arrays in the arguments vary one at a time, so that an error in a small one stays visible. More than 32 vary
    together, and one at a time only where that comparison fails.

    The error has one line for each failed comparison: the order, the mode, the leaf (``p['w']``), the direction, and both numbers. Where
    the one-sided slopes differ, the line says that the function has a kink there; check at another point.

    Raises BadArgument where no argument holds a float, and for an unknown ``modes`` or ``order``.

    >>> from symgrad import from_source
    >>> loss = from_source("def loss(p, x): return np.sum(np.tanh(p['w'] @ x + p['b']) ** 2)", globals={"np": np})
    >>> check_grads(loss, ({"w": np.ones((2, 3)), "b": 0.5}, np.arange(3.0)), order=2)
    """
    comparisons = compare_grads(function, args, order, modes, wrt=wrt, directions=directions, seed=seed, tolerance=tolerance, **kwargs)
    wrong = [str(comparison) for comparison in comparisons if not comparison.agrees]
    if wrong:
        name = getattr(function, "__name__", function)
        raise AssertionError("\n".join([f"the derivatives of {name} disagree", *wrong]))


def check_request(function: Any, args: Any, order: Any, modes: Any, directions: Any, seed: Any, tolerance: Any) -> None:
    """Raise BadArgument if the request would compare nothing, or not what it names."""
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="pass the function itself, not what it returns")
    if not isinstance(args, tuple | list):
        raise BadArgument(f"args is of the class {type(args).__name__}, not a tuple of the arguments", hint="check_grads(f, (x,))")
    if isinstance(modes, str) or not isinstance(modes, Iterable):
        hint = f"modes=({modes!r},)" if isinstance(modes, str) else "modes=('forward', 'reverse'), or one of them"
        raise BadArgument(f"modes is {modes!r}, not a tuple", hint=hint)
    if not all(isinstance(count, int) for count in (order, directions, seed)) or seed < 0:
        raise BadArgument(f"order={order!r}, directions={directions!r}, seed={seed!r}: these are integers, and none is negative")
    if not (tolerance is None or isinstance(tolerance, int | float) and tolerance >= 0):
        raise BadArgument(f"tolerance is a number that is not negative, not {tolerance!r}", hint="leave it out")
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        raise BadArgument(f"there is no mode {unknown[0]!r}", hint="modes=('forward', 'reverse'), or one of them")
    if order not in (1, 2, 3) or directions < 1 or not modes:
        raise BadArgument(
            f"order={order}, directions={directions} and modes={tuple(modes)} compare nothing",
            hint="order is 1, 2 or 3; give at least one direction and one mode",
        )


def names_in(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], wrt: Wrt) -> tuple[str, ...]:
    """The names of the parameters to differentiate by."""
    parameters = list(inspect.signature(function).parameters)
    if wrt is None:
        return tuple(name for name, value in zip(parameters, args, strict=False) if count_floats(value))
    asked = [root_of(spelled(one)) if isinstance(one, str) else one for one in (wrt if isinstance(wrt, tuple | list) else (wrt,))]
    for one in asked:
        if isinstance(one, bool) or not isinstance(one, int | str):
            raise BadArgument(f"wrt names a parameter by position, name or path, not by {one!r}", hint="for example wrt=0, wrt='x'")
        if isinstance(one, int) and not -len(args) <= one < len(args) or isinstance(one, str) and one not in parameters:
            raise BadArgument(f"wrt={one!r} names no argument", hint=f"the parameters are {', '.join(parameters)}")
    names = tuple(one if isinstance(one, str) else parameters[: len(args)][one] for one in asked)
    for name in dict.fromkeys(names):
        if name not in kwargs and parameters.index(name) >= len(args):
            raise BadArgument(f"no argument is passed for {name}, which wrt names", hint="pass it in args, or by name")
    return tuple(dict.fromkeys(names))


def bound_to(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The arguments of some parameters."""
    passed = {**dict(zip(inspect.signature(function).parameters, args, strict=False)), **kwargs}
    return {name: passed[name] for name in names}


class Check:
    """A function of some order, whose derivatives are compared in the requested modes."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        names: tuple[str, ...],
        order: int,
        below: str,
        modes: tuple[str, ...],
        tolerance: float | None,
        jit: Jit,
    ) -> None:
        self.function, self.args, self.kwargs, self.order, self.tolerance = function, args, kwargs, order, tolerance
        self.jit: Jit = jit
        self.inputs = bound_to(function, args, kwargs, names)
        self.words = {mode: f"{mode} over {below}" if below else mode for mode in MODES if mode in modes}
        self.width = min([8, *(width for value in self.inputs.values() for width in widths(value))])
        self.step, self.allowed = STEPS[self.width]
        self.leaves = [leaf for name, value in self.inputs.items() for leaf in leaf_names(value, name)]

    def keep(self, wrt: Wrt) -> None:
        """Leave all leaves where they are that are not in ``wrt``, where that has paths."""
        asked = [spelled(one) for one in (wrt if isinstance(wrt, tuple | list) else (wrt,)) if isinstance(one, str)]
        whole = {name for name in self.inputs if not any(root_of(path) == name for path in asked)}
        self.moving = [k for k, leaf in enumerate(self.leaves) if root_of(leaf) in whole or any(belongs(leaf, path) for path in asked)]
        if not self.moving:
            raise BadArgument(f"wrt={wrt!r} names no float", hint=f"the floats are {', '.join(self.leaves[:ALONE])}")

    def run(self, replaced: Mapping[str, Any]) -> Any:
        """The function itself, with some arguments replaced."""
        positional = list(inspect.signature(self.function).parameters)[: len(self.args)]
        args = [replaced.get(name, value) for name, value in zip(positional, self.args, strict=True)]
        return self.function(*map(fresh, args), **fresh({name: replaced.get(name, value) for name, value in self.kwargs.items()}))

    def compared(self, direction: int, random: np.random.Generator) -> Iterator[Comparison]:
        """The comparisons in one random direction: of each leaf alone, or of all."""
        tangents = random_like(list(self.inputs.values()), random)
        seed = random_like(self.run({}), random)
        slopes = [SLOPES[mode](self, seed) for mode in self.words]
        alone = [(self.leaves[k], only(tangents, k)) for k in self.moving]
        whole = [(f"all of {', '.join(self.inputs)}", added([part for _, part in alone]))] if len(alone) > ALONE else alone
        for leaf, tangent in whole:
            compared = list(self.in_direction(direction, leaf, tangent, seed, slopes))
            yield from compared
            if len(alone) > ALONE and not all(one.agrees for one in compared):
                for inner, part in alone:
                    yield from self.in_direction(direction, inner, part, seed, slopes)

    def in_direction(self, direction: int, leaf: str, tangent: list[Any], seed: Any, slopes: list[Slope]) -> Iterator[Comparison]:
        """The comparisons for one tangent: each mode with differences, or with a complex step, and the modes with each other."""
        values = [slope(tangent) for slope in slopes]
        named = dict(zip(self.inputs, tangent, strict=True))
        differences, sides = self.differences(named, seed)
        allowed = self.allowed if self.tolerance is None else self.tolerance
        exact = complex_slope(self.run, self.inputs, named, seed) if self.width == 8 and self.tolerance is None else None
        is_exact = exact is not None and abs(exact - differences) <= allowed * max(1.0, abs(differences))
        for mode, value in zip(self.words.values(), values, strict=True):
            result = Comparison(self.order, direction, value, differences, allowed, mode, leaf, "differences", sides)
            if exact is not None:
                stepped = replace(result, differences=exact, tolerance=COMPLEX_TOLERANCE, method="complex step", sides=None)
                result = stepped if is_exact or stepped.agrees else result
            yield result
        if len(values) == 2:
            near = RELATIVE[self.width] if self.tolerance is None else self.tolerance
            yield Comparison(self.order, direction, values[0], values[1], near, " and ".join(self.words.values()), leaf, "the other mode")

    def differences(self, tangents: Mapping[str, Any], seed: Any) -> tuple[float, tuple[float, float] | None]:
        """The central difference of fourth order, and the slopes on both sides where they are not one."""
        at = {t: self.along(tangents, seed, t * self.step) for t in (-2, -1, 1, 2)}
        central = (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * self.step)
        here = self.along(tangents, seed, 0.0)
        left, right = (s * (4.0 * at[s] - at[2 * s] - 3.0 * here) / (2.0 * self.step) for s in (-1, 1))
        is_kink = math.isfinite(left - right) and abs(left - right) > 100.0 * self.allowed * max(1.0, abs(left), abs(right))
        return central, (left, right) if is_kink else None

    def along(self, tangents: Mapping[str, Any], seed: Any, t: float) -> float:
        """The inner product of the result with the seed, some steps along the tangents."""
        return dot(self.run({name: moved(value, tangents[name], t) for name, value in self.inputs.items()}), seed).real

    def derivative(self, mode: str) -> Any:
        """The derivative in one mode."""
        return derived(self.function, options_of(MODES[mode], tuple(self.inputs), self.jit))

    def forward(self, seed: Any) -> Slope:
        """The slope by forward mode, of a tangent."""
        derivative = self.derivative("forward")

        def slope(tangent: list[Any]) -> float:
            named = [by_key(value, part) for value, part in zip(self.inputs.values(), tangent, strict=True)]
            _, pushed = derivative(tuple(map(fresh, self.args)), tuple(named), **fresh(self.kwargs))
            return dot(pushed, seed).real

        return slope

    def reverse(self, seed: Any) -> Slope:
        """The slope by reverse mode, of a tangent; the gradient is computed once."""
        out, pullback = self.derivative("reverse")(*map(fresh, self.args), **fresh(self.kwargs))
        gradients = pullback(by_key(out, numbers_for(out, seed)))
        return lambda tangent: sum(dot(gradient, part).real for gradient, part in zip(gradients, tangent, strict=True))


SLOPES: dict[str, Callable[[Check, Any], Slope]] = {"forward": Check.forward, "reverse": Check.reverse}


def numbers_for(out: Any, seed: Any) -> Any:
    """A seed with zero for integers: where a function returns one on some path, its pullback takes a number there."""
    if isinstance(seed, list):
        return [numbers_for(part, one) for part, one in zip(children(out) or [], seed, strict=True)]
    return 0.0 if seed is None and isinstance(out, int | np.integer | np.bool_) else seed


def options_of(what: Literal["jvp", "vjp"], names: tuple[str, ...], jit: Jit) -> Options:
    """The options of a derivative that is compared: it may also be one on which the result does not depend."""
    return options(what, names, None, has_aux=False, allow_unused=True, no_grad=(), jit=jit)


__all__ = ["Comparison", "check_grads", "compare_grads"]
