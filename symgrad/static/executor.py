"""Runs programs: values of parameters live in a scope; compiled code is kept by what is fed and fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from symgrad.eager.tensor import Tensor
from symgrad.errors import BadArgument
from symgrad.record.graph import Compiled
from symgrad.record.recipe import kind_of_value
from symgrad.static.compiling import compiled, needed, writes, written
from symgrad.static.program import ABOUT, Program, Variable, default_main_program

Array = np.ndarray[Any, Any]
LIMIT = 512  #: entries of compiled functions kept for a program


class Scope:
    """Values of parameters and other variables that are kept from run to run."""

    def __init__(self) -> None:
        self.values: dict[str, Array] = {}

    def var(self, name: str) -> Kept:
        """The place of a variable, made if it is not there."""
        self.values.setdefault(name, np.empty(0, "float32"))
        return Kept(self, name)

    def find_var(self, name: str) -> Kept | None:
        """The place of a variable, or None."""
        return Kept(self, name) if name in self.values else None


class Kept:
    """One value in a scope."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope, self.name = scope, name

    def get_tensor(self) -> Kept:
        """The place itself, which is array-like."""
        return self

    def set(self, value: Any, place: Any = None) -> None:
        """Put another value there."""
        self.scope.values[self.name] = np.array(value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        made = self.scope.values[self.name]
        return made.copy() if dtype is None else made.astype(dtype)


SCOPES: list[Scope] = [Scope()]


def global_scope() -> Scope:
    """The scope in which programs run unless another is given."""
    return SCOPES[-1]


@contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Run in another scope meanwhile."""
    SCOPES.append(scope)
    try:
        yield
    finally:
        SCOPES.pop()


class Executor:
    """Runs programs on NumPy.

    >>> from symgrad.static import Program, program_guard, data
    >>> program = Program()
    >>> with program_guard(program):
    ...     y = data("x", [-1], "float64") * 2.0
    >>> Executor().run(program, feed={"x": np.array([1.0, 2.0])}, fetch_list=[y])
    [array([2., 4.])]
    """

    def __init__(self, place: Any = None) -> None:
        self.place = place

    def close(self) -> None:
        """Nothing is held open."""

    def run(self, program: Program | None = None, feed: Mapping[str, Any] | None = None, fetch_list: Sequence[Any] | None = None,
            scope: Scope | None = None, return_numpy: bool = True, feed_var_name: str = "feed",
            fetch_var_name: str = "fetch", use_program_cache: bool = False, use_prune: bool = False) -> list[Any]:  # fmt: skip
        """Feed values by name, run, and give what is fetched, by variable or by name; parameters get their new values."""
        if use_prune:
            raise BadArgument("use_prune=True is not supported", hint="run program.clone(for_test=True)")
        program = default_main_program() if program is None else program
        if not isinstance(program, Program):
            raise TypeError(f"an executor runs Programs, not {type(program).__name__}")
        scope = global_scope() if scope is None else scope
        if program.starts:
            for name, parameter in program.starts.items():
                scope.values[name] = parameter.initializer.values(parameter.shape, parameter.dtype)
        names = tuple([fetched(f, program) for f in fetch_list or ()])
        values = self.fed(program, feed or {}, scope)
        code, updated = self.code(program, names, values)
        with np.errstate(all="ignore"):
            inputs = [values[k][()] if scalar else values[k] for k, scalar in zip(code.keys, code.scalars, strict=True)]  # type: ignore[index]
            made = code.function(*inputs)
        # what is given out and what is kept share memory with nothing: not with each other, not with what was fed
        owned = set(map(id, values.values()))
        results = []
        for place, value in enumerate(made):
            array = value if type(value) is np.ndarray else np.asarray(value)
            if array.base is not None or id(array) in owned:
                array = array.copy()
            owned.add(id(array))
            if place < len(names):
                results.append(array)
            else:
                scope.values[updated[place - len(names)]] = array
        return results if return_numpy else [Tensor(array) for array in results]

    def code(self, program: Program, names: tuple[str, ...], values: Mapping[str, Array]) -> tuple[Compiled, list[str]]:
        """The compiled function of what is fetched and updated, and what is updated; found by the shapes first, then by the kinds."""
        exact = (program.version, names, *values, *[(v.dtype, v.shape) for v in values.values()])
        found: tuple[Compiled, list[str]] | None = program.compiled.get(exact)
        if found is not None:
            return found
        key = (program.version, names, tuple([(name, kind_of_value(v)) for name, v in values.items()]))
        found = program.compiled.get(key)
        if found is None:
            updated = written(program)
            self.check(program, values, [*names, *updated])
            found = program.compiled[key] = (compiled(program, values, names, updated), updated)
        if len(program.compiled) >= LIMIT:
            program.compiled.clear()
        program.compiled[key] = program.compiled[exact] = found
        return found

    def fed(self, program: Program, feed: Mapping[str, Any], scope: Scope) -> dict[str, Array]:
        """The value of everything that the program reads from outside."""
        variables = program.global_block().vars
        values: dict[str, Array] = {}
        for name, value in feed.items():
            variable = variables.get(name)
            if variable is None:
                raise ValueError(f"{name!r} is fed, but the program has no such variable")
            if not (variable.is_data or variable.persistable) and any(name in writes(step) for step in program.global_block().steps):
                raise BadArgument(f"{name!r} is fed, but the program makes it itself")
            array = value if type(value) is np.ndarray else np.asarray(value)
            if array.dtype != variable.dtype:
                array = array.astype(variable.dtype)
            if array.shape != variable.shape and not agrees(variable.shape, array.shape):
                raise ValueError(f"{name!r} has shape {variable.shape}, and an array of shape {array.shape} is fed")
            values[name] = array
        for name, rate in program.schedules:
            if name in scope.values:
                scope.values[name] = np.asarray(rate(), scope.values[name].dtype)
        kept = scope.values
        for name in [name for name, variable in variables.items() if variable.persistable]:
            if name in kept and name not in feed:
                values[name] = kept[name]
        return values | program.constants if program.constants else values

    def check(self, program: Program, values: Mapping[str, Any], wanted: Sequence[str]) -> None:
        """Refuse to run without a value for everything that is read."""
        steps, names = needed(program, wanted)
        made = {name for step in steps for name in writes(step)}
        inner = {name for block in program.blocks[1:] for name in block.vars}
        for name in sorted(names - made - set(values) - inner):
            variable = program.global_block().vars.get(name)
            if variable is None:
                raise BadArgument(f"there is no variable {name!r} in the program")
            what = "run the startup program first" if variable.persistable else "feed it"
            raise BadArgument(f"{name!r} has no value", hint=what)


def agrees(said: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Does a shape fit what was said of it? -1 fits every extent."""
    return len(said) == len(shape) and all(e in (-1, a) for e, a in zip(said, shape, strict=True))


def fetched(given: Any, program: Program) -> str:
    """The name of what is to be fetched."""
    if isinstance(given, Variable):
        if given.program is not program:
            raise ValueError(f"{given.name} belongs to another program")
        return given.name
    if isinstance(given, str):
        program.global_block().var(given)
        return given
    raise TypeError(f"a fetched thing must be a Variable or a name, not {type(given).__name__}")


def run_program(program: Program, feed: Mapping[str, Any] | None, fetch_list: Sequence[Any] | None) -> list[Any]:
    """Run in the scope that is current."""
    return Executor().run(program, feed, fetch_list)


ABOUT["run"] = run_program
