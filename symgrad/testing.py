"""A function and arguments to a verdict: do its gradients agree with differences?

Each check compares a derivative in a random direction with a central difference of fourth order, so
that its cost does not depend on the number of inputs. For users' own rules as for our tests. A gradient ``g`` of complex numbers
and a direction ``d`` give the real part of ``sum(g * d)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.abstraction import record_names
from symgrad.api import grad
from symgrad.callables import derived
from symgrad.errors import BadArgument
from symgrad.frontend.source import from_source
from symgrad.jit import Jit
from symgrad.parameters import Wrt, options
from symgrad.text import attribute, has_literal, is_name, item
from symgrad.tracebacks import boundary
from symgrad.verification.directions import by_key, children, count_floats, dot, fresh, is_float, moved, random_like, widths

#: step and tolerance by the width of the narrowest float: half precision, single, double
STEPS = {2: (2e-1, 2e-1), 4: (2e-2, 5e-3), 8: (2e-4, 2e-6)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A derivative in one direction, as generated and by differences."""

    order: int
    direction: int
    generated: float
    differences: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Are the two equal within the tolerance? NaN agrees with nothing."""
        return bool(abs(self.generated - self.differences) <= self.tolerance * max(1.0, abs(self.generated), abs(self.differences)))

    def __str__(self) -> str:
        return f"order {self.order}, direction {self.direction}: generated {self.generated:.12g}, differences {self.differences:.12g}"


@boundary
def compare_grads(function: Callable[..., Any], args: Sequence[Any], order: int = 1, *, wrt: Wrt = None, directions: int = 2,
                  seed: int = 0, tolerance: float | None = None, jit: Jit = False, **kwargs: Any) -> list[Comparison]:  # fmt: skip
    """Compare the gradients up to ``order`` with differences, in random directions.

    Without ``wrt``: every argument that holds floats. Each further order is that of the inner product of the one before
    with random numbers, unless it is one number. With ``jit`` it is the compiled gradient that is compared.
    """
    if order < 1 or directions < 1:
        raise BadArgument(f"order={order} and directions={directions} compare nothing", hint="give at least 1 of both")
    args = tuple(args)
    if any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values()) and not isinstance(wrt, str):
        function = written(function, [f"x{k}" for k in range(len(args))], kwargs)
    names = tuple(i for i, value in enumerate(args) if count_floats(value)) if wrt is None else wrt
    if names == ():
        raise BadArgument("no argument holds a float, so there is nothing to compare", hint="pass 2.0 for 2, or say wrt")
    random = np.random.default_rng(seed)
    comparisons = []
    for level in range(1, order + 1):
        for direction in range(directions):
            comparisons.append(_compare(function, args, kwargs, names, level, direction, random, tolerance, jit))
        if level < order:
            function = grad(contracted(function, args, kwargs, random), names, allow_unused=True)
    return comparisons


def contracted(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], random: np.random.Generator) -> Any:
    """A function of the same parameters that gives one number: the inner product of the result with random numbers."""
    result = function(*map(fresh, args), **fresh(kwargs))
    if is_float(result) and np.ndim(result) == 0:
        return function
    seeds: list[Any] = []
    keys: list[Any] = []
    names = list(inspect.signature(function).parameters)[: len(args)]
    words = free_words([*names, *kwargs])

    def terms(value: Any, path: str) -> list[str]:
        items = children(value)
        if items is None:
            if not is_float(value):
                return []
            seeds.append(random_like(value, random))
            return [f"{words['np']}.sum({path} * {words['seeds']}[{len(seeds) - 1}])"]
        if isinstance(value, dict):
            paths = [item(path, key) if has_literal(key) else by_number(path, key) for key in value]
        elif isinstance(value, tuple | list):
            paths = [item(path, k) for k in range(len(items))]
        else:
            paths = [attribute(path, name, words["getattr"]) for name in record_names(value)]
        return [term for inner, there in zip(items, paths, strict=True) for term in terms(inner, there)]

    def by_number(path: str, key: Any) -> str:
        keys.append(key)
        return f"{path}[{words['keys']}[{len(keys) - 1}]]"

    total = " + ".join(terms(result, words["made"]))
    if not total:
        raise BadArgument("the result holds no float, so it has no derivative")
    return written(function, names, kwargs, total, seeds=seeds, keys=keys)


#: what the text of ``written`` names besides the parameters
WORDS = ("np", "seeds", "keys", "made", "function", "getattr")


def free_words(names: Iterable[str]) -> dict[str, str]:
    """Names for ``WORDS`` that no parameter has; raises BadArgument for parameters that no text can name."""
    names = list(names)
    bad = next((name for name in names if not is_name(name)), None)
    if bad is not None:
        raise BadArgument(f"an argument called {bad!r} cannot be passed on", hint="pass it inside a dict")
    words = {}
    for word in WORDS:
        words[word] = word
        while words[word] in names:
            words[word] = f"{words[word]}_"
    return words


def written(function: Callable[..., Any], names: list[str], kwargs: Iterable[str], result: str = "", **objects: Any) -> Any:
    """A function of parameters of these names that calls ``function``; ``result`` is what it gives, by default what was returned."""
    words = free_words([*names, *kwargs])
    passed = ", ".join([*names, *(f"{name}={name}" for name in kwargs)])
    text = f"""
        def called({", ".join([*names, *("*" for _ in [*kwargs][:1]), *kwargs])}):
            {words["made"]} = {words["function"]}({passed})
            return {result or words["made"]}
    """
    space = {"function": function, "np": np, "getattr": getattr, **objects}
    return from_source(text, globals={words[name]: value for name, value in space.items()})


@boundary
def check_grads(function: Callable[..., Any], args: Sequence[Any], order: int = 1, modes: Sequence[str] = ("rev",), *, wrt: Wrt = None,
                directions: int = 2, seed: int = 0, tolerance: float | None = None, **kwargs: Any) -> None:  # fmt: skip
    """Raise ``AssertionError`` unless the gradients up to ``order`` agree with differences.

    ``args`` are the positional arguments. Integers are left as they are; a zero gradient is compared with differences like any other.

    >>> check_grads(from_source("def wave(x): return np.sin(x) * x"), (0.7,), order=2)
    """
    unknown = set(modes) - {"rev"}
    if unknown:
        raise BadArgument(f"there is no mode {sorted(unknown)[0]!r}", hint="modes=('rev',)")
    comparisons = compare_grads(function, args, order, wrt=wrt, directions=directions, seed=seed, tolerance=tolerance, **kwargs)
    wrong = [str(comparison) for comparison in comparisons if not comparison.agrees]
    if wrong:
        raise AssertionError("\n".join([f"the gradient of {getattr(function, '__name__', function)} disagrees with differences", *wrong]))


def _compare(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], wrt: Wrt, order: int, direction: int,
             random: np.random.Generator, tolerance: float | None, jit: Jit) -> Comparison:  # fmt: skip
    names = list(inspect.signature(function).parameters)
    asked = wrt if isinstance(wrt, tuple | list) else (wrt if wrt is not None else 0,)
    chosen = [names.index(item) if isinstance(item, str) else item for item in asked]
    tangents = {index: random_like(args[index], random) for index in chosen}
    step, allowed = STEPS[min([8, *(width for i in chosen for width in widths(args[i]))])]

    def run(t: float) -> Any:
        return function(*(moved(value, tangents[i], t) if i in tangents else fresh(value) for i, value in enumerate(args)), **fresh(kwargs))

    result = run(0.0)
    seed = random_like(result, random)

    def along(t: float) -> float:
        return dot(run(t), seed).real

    differences = (8.0 * (along(step) - along(-step)) - (along(2 * step) - along(-2 * step))) / (12.0 * step)
    forward = derived(function, options("vjp", tuple(chosen), None, has_aux=False, allow_unused=True, no_grad=(), jit=jit))
    _, pullback = forward(*(fresh(value) for value in args), **fresh(kwargs))
    generated = sum(dot(gradient, tangents[i]).real for i, gradient in zip(chosen, pullback(by_key(result, seed)), strict=True))
    return Comparison(order, direction, float(generated), float(differences), allowed if tolerance is None else tolerance)
