"""The verbs that measure: ``check`` compares gradients with finite differences, ``bench`` times them."""

from __future__ import annotations

import argparse
import json
import timeit
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from symgrad.api import grad
from symgrad.command.target import EXAMPLES, arguments, called, load, parse_wrt
from symgrad.command.terminal import coloured, painted
from symgrad.command.usage import Usage
from symgrad.targets import TARGETS
from symgrad.testing import compare_grads


def arguments_needed(options: argparse.Namespace) -> tuple[str, Any, tuple[Any, ...]]:
    """The name of the function, the function, and arguments; Usage if there are none."""
    module, name, function = load(options.target)
    args = arguments(options, module, name, function)
    grad(function, parse_wrt(options))  # a function without a derivative is refused before it is called
    if args is None:
        raise Usage(f"no arguments to try {name} with: give --args 'np.ones(3), 2.0', or {EXAMPLES} in the module")
    return name, function, args


def check(options: argparse.Namespace) -> int:
    """Compare the derivatives in both modes with differences, as ``check_grads`` does; 1 if one differs."""
    name, function, args = arguments_needed(options)
    modes = tuple(options.modes.replace(" ", "").split(","))
    words = {"wrt": parse_wrt(options), "directions": options.directions, "jit": options.jit}
    with called(name):
        comparisons = compare_grads(function, args, options.order, modes, **words)
    wrong = [comparison for comparison in comparisons if not comparison.agrees]
    if options.json:
        print(json.dumps({"target": options.target, "agrees": not wrong, "comparisons": [str(c) for c in comparisons]}, indent=2))
        return 1 if wrong else 0
    colours = coloured(options)
    for comparison in comparisons:
        verdict = painted("agrees", "right", colours) if comparison.agrees else painted("WRONG ", "wrong", colours)
        print(f"{verdict}  {comparison}")
    return 1 if wrong else 0


# ------------------------------------------------------------------ time


def bench(options: argparse.Namespace) -> int:
    """Print the time of a call of the function and of its gradient, as NumPy code and as a kernel."""
    name, function, args = arguments_needed(options)
    if options.repeat < 1:
        raise Usage("--repeat counts from 1")
    rows: list[tuple[str, float | None, float]] = []
    with called(name):
        rows.append(("function", None, timed(function, args, options.repeat)))
        kinds: list[tuple[str, bool]] = [("gradient, NumPy", False)]
        kinds += [("gradient, numba", True)] if TARGETS["numba"].missing() is None else []
        for title, jit in kinds:
            derived = grad(function, parse_wrt(options), jit=jit)
            first = timeit.timeit(lambda derived=derived: derived(*deepcopy(args)), number=1)  # type: ignore[misc]
            rows.append((title, first, timed(derived, args, options.repeat)))
    plain = rows[0][2]
    if options.json:
        facts = [{"what": title, "first_call": first, "call": later, "of_the_function": later / plain} for title, first, later in rows]
        print(json.dumps({"target": options.target, "seconds": facts}, indent=2))
        return 0
    print(painted(f"{'':18}{'first call':>12}{'later call':>12}{'function = 1':>14}", "soft", coloured(options)))
    for title, once, later in rows:
        print(f"{title:18}{'' if once is None else seconds(once):>12}{seconds(later):>12}{later / plain:>14.2f}")
    return 0


def timed(function: Callable[..., Any], args: tuple[Any, ...], repeat: int) -> float:
    """The shortest time of a call, in seconds; each run of calls takes a tenth of a second at least."""
    own = deepcopy(args)
    timer = timeit.Timer(lambda: function(*own))
    number, taken = timer.autorange() if timer.timeit(1) < 0.2 else (1, timer.timeit(1))
    return min(taken, *(timer.timeit(number) for _ in range(repeat - 1)), taken) / number


def seconds(value: float) -> str:
    """A time with the unit that suits it.

    >>> seconds(0.0000123), seconds(0.5)
    ('12.3 µs', '500 ms')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"
