"""Ways to compute the value and gradient of a program: by symgrad, by hand, by other libraries where they are installed."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import linecache
import os
import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import symgrad
from symgrad.errors import NotCompiled
from symgrad.frontend.text.source import read
from tests.bench.case import Case, Function

Build = Callable[[Case], Function | None]  #: a function of the program's arguments -> value and tuple of gradients
CACHE = "SYMGRAD_CACHE_DIR"  #: where compiled code is kept
FRESH = itertools.count()


class Refused(Exception):
    """A column has no entry for a program; says why."""


@dataclass(frozen=True, slots=True)
class Column:
    """``build`` gives what is timed, None where there is nothing to time; ``needs`` is the module without which there is no column."""

    name: str
    title: str
    build: Build
    needs: str = ""

    @property
    def available(self) -> bool:
        """Is what it needs installed?"""
        return not self.needs or importlib.util.find_spec(self.needs) is not None


def copy_of(function: Function) -> Any:
    """The function from its text, under a file name of its own, so that nothing is known of it yet."""
    source = read(function)
    name = f"<{function.__name__} {next(FRESH)} of tests.bench>"
    text = "\n".join(source.lines)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    inner = next(c for c in compile(text, name, "exec").co_consts if isinstance(c, types.CodeType) and c.co_name == function.__name__)
    return types.FunctionType(inner, function.__globals__, function.__name__)


# ------------------------------------------------------------------ symgrad, and adjoints by hand


def by_symgrad(case: Case) -> Function:
    return symgrad.value_and_grad(case.function, wrt=case.wrt)  # type: ignore[no-any-return]


def by_symgrad_compiled(case: Case) -> Function:
    """With ``jit``; refused if it would run as NumPy code."""
    derivative: Function = symgrad.value_and_grad(case.function, wrt=case.wrt, jit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        try:
            derivative(*case.small())
        except NotCompiled as notice:
            raise Refused(str(notice).splitlines()[0].partition("kernels do not support ")[2] or str(notice)) from None
    return derivative


def by_hand_compiled(case: Case) -> Function | None:
    """The adjoint in loops, compiled by numba."""
    if case.kernel is None:
        return None
    numba = importlib.import_module("numba")
    derivative: Function = numba.njit(error_model="numpy")(case.kernel)
    return derivative


# ------------------------------------------------------------------ other libraries


def with_numpy(function: Function, module: Any) -> Function:
    """The function with another library in the place of NumPy, and so the functions that it calls."""
    space = dict(function.__globals__)
    for name, value in list(space.items()):
        if value is np:
            space[name] = module
        elif isinstance(value, types.FunctionType) and value.__globals__ is function.__globals__:
            space[name] = types.FunctionType(value.__code__, space, name, value.__defaults__)
    return types.FunctionType(function.__code__, space, function.__name__, function.__defaults__)


def by_autograd(case: Case) -> Function:
    autograd = importlib.import_module("autograd")
    value_and_grad: Function = autograd.value_and_grad(with_numpy(case.function, importlib.import_module("autograd.numpy")), case.wrt)
    return value_and_grad


def by_jax(case: Case) -> Function:
    """Compiled, in double precision; loops are unrolled, so it is for programs without any."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    static = tuple(k for k, a in enumerate(case.small()) if isinstance(a, int))
    derivative = jax.jit(
        jax.value_and_grad(with_numpy(case.function, importlib.import_module("jax.numpy")), case.wrt), static_argnums=static
    )

    def run(*args: Any) -> Any:
        return jax.block_until_ready(derivative(*args))

    return run


def by_torch(case: Case) -> Function:
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    function = with_numpy(case.function, torch)

    def run(*args: Any) -> Any:
        tensors = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args]
        for k in case.wrt:
            tensors[k] = torch.as_tensor(tensors[k]).requires_grad_()
        out = function(*tensors)
        out.backward()
        return out.item(), tuple(tensors[k].grad.numpy() for k in case.wrt)

    return run


def for_peer(name: str, build: Callable[[Case], Function]) -> Build:
    return lambda case: build(case) if name in case.peers else None


COLUMNS = {
    column.name: column
    for column in (
        Column("numpy", "symgrad", by_symgrad),
        Column("hand", "by hand", lambda case: case.adjoint),
        Column("numba", "symgrad jit", by_symgrad_compiled, "numba"),
        Column("hand_numba", "by hand jit", by_hand_compiled, "numba"),
        Column("autograd", "autograd", for_peer("autograd", by_autograd), "autograd"),
        Column("jax", "jax", for_peer("jax", by_jax), "jax"),
        Column("torch", "torch", for_peer("torch", by_torch), "torch"),
    )
}


# ------------------------------------------------------------------ what comes before the first result


def seconds_to_generate(case: Case, rounds: int = 3) -> float:
    """From a function that nobody has seen to its gradient, ready to be called: the best of some rounds."""
    best, args = float("inf"), case.small()
    for _ in range(rounds):
        function = copy_of(case.function)
        start = time.process_time()
        symgrad.value_and_grad(function, wrt=case.wrt).compiled(*args)
        best = min(best, time.process_time() - start)
    return best


def seconds_to_compile(case: Case) -> float:
    """The first call with ``jit``, of a function that nobody has seen, with nothing on the disk."""
    args = case.small()
    with without_cache():
        derived = symgrad.value_and_grad(copy_of(case.function), wrt=case.wrt, jit=True)
        start = time.process_time()
        derived(*args)
        return time.process_time() - start


@contextmanager
def without_cache() -> Iterator[None]:
    """Nothing compiled is kept on the disk, or taken from there, meanwhile."""
    kept = os.environ.get(CACHE)
    os.environ[CACHE] = "off"
    try:
        yield
    finally:
        os.environ[CACHE] = kept or ""
        if kept is None:
            del os.environ[CACHE]


def seconds_to_compile_by_hand(case: Case) -> float | None:
    """The same of the adjoint in loops."""
    run, args = by_hand_compiled(case), case.small()
    start = time.process_time()
    if run is not None:
        run(*args)
    return None if run is None else time.process_time() - start
