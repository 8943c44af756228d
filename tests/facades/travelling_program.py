"""A program whose functions travel to other processes: run with the ways to go, it prints what each got right, and what wrong.

``test_travelling.py`` runs it. Its functions are those of ``__main__``, which no other process can import.
"""

from __future__ import annotations

import concurrent.futures
import enum
import functools
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import numpy as np

import symgrad

SCALE = 3.0


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def norm(self):
        return np.sqrt(self.x * self.x + self.y * self.y)


class Shape(enum.Enum):
    ROUND = 1
    SQUARE = 2


class Model:
    def __init__(self, weight):
        self.weight = weight

    @symgrad.differentiable
    def loss(self, x):
        return self.weight * np.sum(x * x) + Point(x[0], x[1]).norm()


def helper(x):
    return SCALE * np.sin(x)


@symgrad.differentiable
def decorated(x):
    total = 0.0
    for value in helper(x):
        total = total + value * value
    return total


@symgrad.elementwise(dx="2.0")
def straight(x):
    return np.round(x)


softplus = symgrad.elementwise("softplus(x) = log(1 + exp(x))")


@symgrad.custom_vjp
def clipped(x):
    return np.clip(x, -1.0, 1.0)


clipped.defvjp(lambda x: (np.clip(x, -1.0, 1.0), x), lambda x, out_grad: (7.0 * out_grad,))


def declared(x):
    return np.sum(straight(x) * softplus(x)) + np.sum(clipped(x))


def of_kind(x, point, shape):
    weight = 2.0 if isinstance(point, Point) and shape is Shape.ROUND else -1.0
    return weight * np.sum(x) * point.norm()


def closure(factor):
    def inner(x):
        return factor * np.sum(helper(x))

    return inner


def recursive(x, n):
    return np.sum(x) if n == 0 else x[0] * recursive(x, n - 1)


X = np.array([0.5, 1.5])


def cases() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """What travels, and what it is called with there."""
    yield "decorated", decorated.grad, (X,)
    yield "second", symgrad.grad(lambda x: np.sum(x**3)).grad, (0.7,)
    yield "named", symgrad.grad(helper), (0.7,)
    yield "lambda", symgrad.value_and_grad(lambda x: np.sum(helper(x) * x)), (X,)
    yield "closure", symgrad.grad(closure(2.0)), (X,)
    yield "method", Model(2.0).loss.grad, (X,)
    yield "declared", symgrad.grad(declared), (X,)
    yield "recursive", symgrad.grad(recursive), (X, 2)
    yield "kinds", symgrad.grad(of_kind), (X, Point(3.0, 4.0), Shape.ROUND)
    yield "text", symgrad.grad(symgrad.from_source("def f(x):\n    return x * x * x")), (2.0,)
    if __name__ == "__main__":

        def guarded(x):
            return SCALE * x * helper(x)

        yield "guarded", symgrad.grad(guarded), (0.7,)


def called(derivative: Any, arguments: tuple[Any, ...]) -> Any:
    """What a derivative gives, in the process that it has come to."""
    return derivative(*arguments)


def twice(data: tuple[bytes, bytes]) -> bool:
    """Is what has come by value the same object when it comes again?"""
    import pickle

    return pickle.loads(data[0]) is pickle.loads(data[1])


def pulled(seed: Any, pullback: Any) -> Any:
    """What a pullback gives."""
    return pullback(seed)


def flat(result: Any) -> Any:
    """The numbers of a result, one after the other."""
    return np.concatenate([np.ravel(part) for part in (result if isinstance(result, tuple) else (result,))])


@functools.cache
def expected() -> list[tuple[str, Any, tuple[Any, ...], Any]]:
    """The cases, with what each gives here."""
    return [(name, derivative, arguments, derivative(*arguments)) for name, derivative, arguments in cases()]


#: ways that differ in how a process begins only take these cases
FEW = ("decorated", "guarded", "method")


def compare(way: str, run: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """Print what is not the same there as here."""
    for name, derivative, arguments, expected_result in expected():
        if way in ("fork", "forkserver", "executor", "threads") and name not in FEW:
            continue
        result = run(derivative, arguments)
        if not np.array_equal(flat(expected_result), flat(result)):
            print("WRONG", way, name, expected_result, result)
        else:
            print(way, name)


def by_pool(method: str) -> None:
    with multiprocessing.get_context(method).Pool(1) as pool:
        compare(method, lambda derivative, arguments: pool.apply(called, (derivative, arguments)))
        if method == "spawn":
            import pickle

            data = pickle.dumps(decorated.grad), pickle.dumps(decorated.grad)
            if not pool.apply(twice, (data,)):
                print("WRONG", method, "came twice and is two")


def by_executor() -> None:
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        compare("executor", lambda derivative, arguments: executor.submit(derivative, *arguments).result())


def by_threads() -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        compare("threads", lambda derivative, arguments: list(executor.map(called, [derivative] * 4, [arguments] * 4))[3])


def in_workers(function: Any, *arguments: Any) -> Any:
    """A call in a process of joblib."""
    from joblib import Parallel, delayed

    return Parallel(n_jobs=2, backend="loky")([delayed(function)(*arguments)])[0]


def by_loky() -> None:
    compare("loky", lambda derivative, arguments: in_workers(derivative, *arguments))
    result = in_workers(decorated, X), in_workers(lambda x: decorated.grad(x), X), in_workers(called, decorated.grad, (X,))
    if result[0] != decorated(X) or not all(np.array_equal(gradient, decorated.grad(X)) for gradient in result[1:]):
        print("WRONG", "loky decorated", result)
    _, pullback = symgrad.vjp(helper, X)
    if not np.array_equal(in_workers(pulled, X, pullback)[0], pullback(X)[0]):
        print("WRONG", "loky pullback")


def kernels() -> None:
    _, pullback = symgrad.vjp(helper, X, jit=True)
    if not np.array_equal(in_workers(pulled, X, pullback)[0], pullback(X)[0]):
        print("WRONG", "pullback of a kernel")
    if not np.allclose(in_workers(symgrad.grad(decorated, jit=True), X), decorated.grad(X)):
        print("WRONG", "kernel")


def by_dask() -> None:
    import dask

    def compute(derivative: Any, arguments: tuple[Any, ...]) -> Any:
        return dask.compute(dask.delayed(derivative, pure=False)(*arguments), scheduler="processes", pool=pool)[0]

    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        compare("dask", compute)


WAYS = {
    **{method: lambda method=method: by_pool(method) for method in ("fork", "spawn", "forkserver")},
    "executor": by_executor, "threads": by_threads, "loky": by_loky, "dask": by_dask, "kernels": kernels,
}  # fmt: skip

if __name__ == "__main__":
    assert cloudpickle  # the derivatives travel by it
    for way in sys.argv[1:]:
        WAYS[way]()
