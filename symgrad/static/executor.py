"""The executor: runs programs. Parameters live in a scope; compiled runs are cached by feeds and fetches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.eager.tensor import holding
from symgrad.errors import BadArgument
from symgrad.record.compiled import Compiled, Jit, available
from symgrad.record.recipe import kind_of_value
from symgrad.record.runner import Around, Run, runner
from symgrad.static.compiling import compiled, needed, writes, written
from symgrad.static.program import ABOUT, Parameter, Program, Variable, default_main_program
from symgrad.static.scope import SCOPES, Scope, global_scope
from symgrad.tracebacks import boundary, refused

Array = np.ndarray[Any, Any]
#: by kind of a variable: up to which of the kinds b, i, u, f, c it can be fed
LOSSLESS = {"b": 2, "i": 2, "u": 2, "f": 3, "c": 4}
LIMIT = 512  #: the number of compiled functions and plans cached for a program


class Executor:
    """Runs programs, as NumPy code or, with ``jit``, as kernels compiled by numba.

    >>> from symgrad.static import Program, program_guard, data
    >>> program = Program()
    >>> with program_guard(program):
    ...     y = data("x", [-1], "float64") * 2.0
    >>> Executor().run(program, feed={"x": np.array([1.0, 2.0])}, fetch_list=[y])
    [array([2., 4.])]
    """

    def __init__(self, place: Any = None, *, jit: Jit = False) -> None:
        self.place = place
        self.jit: Jit = jit
        available(jit)

    def close(self) -> None:
        """Nothing is held open."""

    @boundary
    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | None = None,
        fetch_list: Sequence[Any] | None = None,
        scope: Scope | None = None,
        return_numpy: bool = True,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        use_program_cache: bool = False,
        use_prune: bool = False,
        *,
        jit: Jit | None = None,
    ) -> list[Any]:
        """Feed values by name, run, and return the fetched values; parameters are updated.

        ``jit``: True runs a kernel compiled by numba, "auto" only where there can be one; None: as the executor was made.
        """
        results = None
        key: Any = None
        feed = {} if feed is None else feed
        fetch_list = [] if fetch_list is None else fetch_list
        scope = SCOPES[-1] if scope is None else scope
        if type(feed) is dict and type(fetch_list) is list and type(program) is Program and not use_prune:
            try:
                key = (program.version, self.jit if jit is None else jit, tuple(fetch_list), tuple(feed))
                run = program.plans.get(key)
            except TypeError:  # fetches that are invalid or no names
                key = run = None
            if run is not None and type(scope) is Scope:
                results = run(feed, scope)
        if results is None:
            if use_prune:
                raise BadArgument("use_prune=True is not supported", hint="run program.clone(for_test=True)")
            results = self.slowly(program, feed, fetch_list, scope, self.jit if jit is None else jit, key)
        return results if return_numpy else [holding(array) for array in results]

    def slowly(self, program: Any, feed: Any, fetch_list: Any, scope: Scope, jit: Jit, key: Any) -> list[Any]:
        """Run with every check, and cache the prepared run under ``key``."""
        program = default_main_program() if program is None else program
        if not isinstance(program, Program):
            raise refused(TypeError(f"an executor runs Programs, not {type(program).__name__}"))
        if not isinstance(scope, Scope):
            raise refused(TypeError(f"a program runs in a Scope, not in {type(scope).__name__}"))
        if not isinstance(feed, Mapping):
            raise refused(TypeError(f"feed must be a dict of values by name, not {type(feed).__name__}"))
        if program.starts:
            key = None
            scope.put({name: parameter.initializer.values(parameter.shape, parameter.dtype) for name, parameter in program.starts.items()})
        for name, rate in program.schedules:
            scope.follow(name, rate())
        names = tuple([fetched(f, program) for f in listed(fetch_list)])
        values = self.fed(program, feed, scope)
        feeds = {name: value for name, value in values.items() if name in feed}
        alike = (program.version, jit, names, tuple(feeds), tuple([(name, value.dtype, value.shape) for name, value in values.items()]))
        run = program.plans.get(alike)
        if run is None:
            run = self.prepared(program, names, values, feeds, scope, available(jit))
        results: list[Any] | None = run(feeds, scope)
        assert results is not None
        if all(alike_before(values.get(name), scope.values[name]) for name in written(program)):
            if len(program.plans) >= LIMIT:
                program.plans.clear()
            program.plans[alike] = run
            if key is not None:
                program.plans[key] = run
        else:
            scope.stamp = object()
        return results

    def prepared(
        self, program: Program, names: tuple[str, ...], values: Mapping[str, Array], feeds: Mapping[str, Array], scope: Scope, jit: Jit
    ) -> Run:
        """The function that makes runs like this one."""
        code, updated = self.code(program, names, values, jit)
        if jit and not code.kernels:
            inputs = [values[k][()] if scalar else values[k] for k, scalar in zip(code.keys, code.scalars, strict=True)]  # type: ignore[index]
            code = self.keep(program, names, values, jit, (code.with_kernel(inputs, jit), updated))[0]
        kept = {name: scope.values[name] for name in values if name not in feeds and name not in program.constants}
        return runner(code, Around(feeds, kept, program.constants, program.schedules, len(names), updated))

    def code(self, program: Program, names: tuple[str, ...], values: Mapping[str, Array], jit: Jit) -> tuple[Compiled, list[str]]:
        """Return the compiled function and the updated variables, cached by the kinds of values."""
        entry: tuple[Compiled, list[str]] | None = program.compiled.get(kinds(program, names, values, jit))
        if entry is None:
            updated = written(program)
            self.check(program, values, [*names, *updated])
            entry = self.keep(program, names, values, jit, (compiled(program, values, names, updated, bool(jit)), updated))
        return entry

    def keep(
        self, program: Program, names: tuple[str, ...], values: Mapping[str, Array], jit: Jit, entry: tuple[Compiled, list[str]]
    ) -> tuple[Compiled, list[str]]:
        """Keep a compiled function for the next run with values of these kinds."""
        if len(program.compiled) >= LIMIT:
            program.compiled.clear()
        program.compiled[kinds(program, names, values, jit)] = entry
        return entry

    def fed(self, program: Program, feed: Mapping[str, Any], scope: Scope) -> dict[str, Array]:
        """The value of everything that the program reads from outside."""
        variables = program.global_block().vars
        values: dict[str, Array] = {}
        for name, value in feed.items():
            variable = variables.get(name)
            if variable is None:
                raise refused(ValueError(f"{name!r} is fed, but the program has no such variable"))
            if not (variable.is_data or variable.persistable) and any(name in writes(step) for step in program.global_block().steps):
                raise BadArgument(f"{name!r} is fed, but the program makes it itself")
            array = value if type(value) is np.ndarray else np.asarray(value)
            if array.dtype.kind not in "biufc" or "biufc".index(array.dtype.kind) > LOSSLESS[variable.dtype.kind]:
                raise refused(TypeError(f"{name!r} is {variable.dtype}, and an array of {array.dtype} is fed; convert it first"))
            if array.dtype != variable.dtype:
                original, array = array, array.astype(variable.dtype)
                if array.dtype.kind in "iu" and (array != original).any():
                    raise refused(TypeError(f"{name!r} is {variable.dtype}, and numbers are fed that do not fit; convert them first"))
            if array.shape != variable.shape and not agrees(variable.shape, array.shape):
                raise refused(ValueError(f"{name!r} has shape {variable.shape}, and an array of shape {array.shape} is fed"))
            values[name] = array
        kept = scope.values
        for name in [name for name, variable in variables.items() if variable.persistable]:
            if name in kept and name not in feed:
                values[name] = np.asarray(kept[name])
        return values | program.constants

    def check(self, program: Program, values: Mapping[str, Any], targets: Sequence[str]) -> None:
        """Refuse to run without a value for everything that is read."""
        steps, names = needed(program, targets)
        results = {name for step in steps for name in writes(step)}
        inner = {name for block in program.blocks[1:] for name in block.vars}
        for name in sorted(names - results - set(values) - inner):
            variable = program.global_block().vars.get(name)
            if variable is None:
                raise BadArgument(f"there is no variable {name!r} in the program")
            what = "run the startup program first" if variable.persistable else "feed it"
            raise BadArgument(f"{name!r} has no value", hint=what)


def alike_before(old: Any, new: Any) -> bool:
    """Whether a new value has the shape and dtype of the old one."""
    return old is not None and old.shape == new.shape and old.dtype == new.dtype


def kinds(program: Program, names: tuple[str, ...], values: Mapping[str, Array], jit: Jit) -> tuple[Any, ...]:
    """Return the cache key of compiled functions."""
    return (program.version, jit, names, tuple([(name, kind_of_value(value)) for name, value in values.items()]))


def agrees(said: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a shape matches its declaration, in which -1 matches every extent."""
    return len(said) == len(shape) and all(e in (-1, a) for e, a in zip(said, shape, strict=True))


def listed(fetch_list: Any) -> Sequence[Any]:
    """Return the entries of a fetch list, which may also be one entry or None."""
    if fetch_list is None:
        return ()
    return [fetch_list] if isinstance(fetch_list, Variable | str) else list(fetch_list)


def fetched(target: Any, program: Program) -> str:
    """Return the name of a fetch."""
    if isinstance(target, Variable):
        if target.program is not program:
            raise refused(ValueError(f"{target.name} belongs to another program"))
        return target.name
    if isinstance(target, str):
        program.global_block().var(target)
        return target
    raise refused(TypeError(f"a fetched value must be a Variable or a name, not {type(target).__name__}"))


def run_program(program: Program, feed: Mapping[str, Any] | None, fetch_list: Sequence[Any] | None, jit: Jit) -> list[Any]:
    """Run in the scope that is current."""
    return Executor().run(program, feed, fetch_list, jit=jit)


ABOUT["run"] = run_program


def state_of(program: Program, mode: str, scope: Scope | None) -> dict[str, Array]:
    """Return copies of the stored values."""
    if mode not in ("all", "param", "opt"):
        raise refused(ValueError(f"mode must be 'all', 'param' or 'opt', not {mode!r}"))
    kept = (global_scope() if scope is None else scope).values
    trained = {v.name for v in program.list_vars() if isinstance(v, Parameter) and not v.stop_gradient}
    names = [v.name for v in program.list_vars() if v.persistable and v.name in kept]
    return {name: np.array(kept[name]) for name in names if mode == "all" or (name in trained) == (mode == "param")}


def set_state(program: Program, state: Mapping[str, Any], scope: Scope | None) -> None:
    """Put values into the scope; each must have the shape of its variable."""
    values = {}
    for variable in program.list_vars():
        if variable.persistable and variable.name in state:
            value = np.array(state[variable.name], variable.dtype)
            if value.shape != variable.shape:
                raise refused(ValueError(f"{variable.name} has shape {variable.shape}, and a value of shape {value.shape} is put in"))
            values[variable.name] = value
    (global_scope() if scope is None else scope).put(values)


ABOUT["state_dict"], ABOUT["set_state_dict"] = state_of, set_state
