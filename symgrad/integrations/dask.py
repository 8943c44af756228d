"""Sums of a function over shards of data, with derivatives, computed by the workers of ``dask.distributed``.

The function, the parameters of an iteration, the shards, the terms and their partial sums are tasks, whose recipes the scheduler keeps. A
result that is lost with a worker is recomputed from its recipe, so each shard contributes exactly once. ``docs/clusters.md`` has examples.
"""

from __future__ import annotations

import contextlib
import queue
import reprlib
import threading
import time
import types
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from symgrad.api import value_and_grad
from symgrad.errors import BadArgument, ClusterFailed, DaskMissing, SymgradError
from symgrad.integrations.objectives import Objective, OfFunction
from symgrad.integrations.shards import TERMS, Sent, Term, loaded, packed, packed_function, term, total
from symgrad.integrations.vectors import start
from symgrad.jit import Jit
from symgrad.location import NOWHERE
from symgrad.tracebacks import boundary

try:
    import dask.config
    import distributed
    from distributed.scheduler import KilledWorker
except ImportError:
    __tracebackhide__ = True
    raise DaskMissing("symgrad.integrations.dask calls dask.distributed, which is not installed") from None

__all__ = ["ShardedSum"]

#: the number of terms that one task adds; it fixes the order of addition
TOGETHER = 8
#: seconds between two checks of the cluster's activity
TICK = 0.5
#: the number of restarts of a sum whose tasks the cluster dropped
ATTEMPTS = 3
#: dask warns of tasks above this size; here the data are sent once, on purpose
SIZE_WARNING = "distributed.admin.large-graph-warning-threshold"
#: held while the warning is off, so that two threads do not restore each other's setting
QUIET = threading.Lock()


class Dropped(Exception):
    """The cluster dropped a task, because its client or scheduler was restarted."""


class ShardedSum(Objective):
    """The sum of ``function(params, *shard)`` over shards of data, and its derivatives with respect to ``params``, computed on a cluster.

    - ``shards`` is a list. A shard is the tuple of the arguments that follow ``params``, or the single such argument, or a ``Future`` of
      ``client`` with one of these as its result.
    - ``load``, if given, is called as ``load(*shard)`` once, on a worker. It returns the arguments, which remain on that worker. It must
      return the same data each time: other workers load the shards of a lost worker again.
    - ``client`` is a ``distributed.Client``, by default the current one.
    - ``penalty(params)`` is added once.
    - ``jit`` compiles the derivatives on the workers, as for ``symgrad.grad``.
    - ``progress(done, shards)`` is called after each completed shard.
    - ``retries`` is the number of further attempts at a shard that raises.
    - ``timeout``: the sum fails if no worker is active for this many seconds.

    The order of addition depends only on the number of shards, so the result is bitwise the same for any number of workers.
    ``params`` is a tree as described for ``symgrad.ravel``; it is sent once for each sum. The function is sent once.

    Raises BadArgument for an empty list of shards and for an invalid client, and the errors of ``symgrad.value_and_grad``.

    >>> import symgrad, distributed
    >>> misfit = symgrad.from_source("def misfit(p, x, y): return np.sum((p['slope'] * x - y) ** 2)", globals={"np": np})
    >>> shards = [(np.array([1.0, 2.0]), np.array([3.0, 6.0])), (np.array([4.0]), np.array([12.0]))]
    >>> with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
    ...     misfits = ShardedSum(misfit, shards, client=client)
    ...     value, gradient = misfits.value_and_grad({"slope": 2.0})
    >>> float(value), gradient
    (21.0, {'slope': -42.0})
    """

    #: why the object has no derivative, and the way out
    __symgrad_refuses__ = (
        "a ShardedSum is computed by other processes, and is not a function that can be read",
        "call its value_and_grad or hvp, or pass it itself to minimize; pass additional terms as penalty=",
    )

    @boundary
    def __init__(
        self,
        function: Callable[..., Any],
        shards: Iterable[Any],
        *,
        client: Any = None,
        load: Callable[..., Any] | None = None,
        penalty: Callable[[Any], Any] | None = None,
        jit: Jit = False,
        progress: Callable[[int, int], Any] | None = None,
        retries: int = 0,
        timeout: float = 60.0,
    ) -> None:
        derivative: Any = value_and_grad(function, jit=jit)  # raises for anything but a function
        self._plain = getattr(derivative, "_derived", derivative)._function
        self.function, self.shards, self.jit = function, shards_of(shards), jit
        self.load, self.progress = callable_or_none("load", load), callable_or_none("progress", progress)
        callable_or_none("penalty", penalty)
        self.penalty = None if penalty is None else OfFunction(penalty, (), jit)
        self.retries, self.timeout = natural_number("retries", retries), positive("timeout", timeout)
        self.client = client_of(client)
        self._lock = threading.Lock()
        self._data: list[Any] = []  #: the shards on the cluster
        self._functions: dict[str, Any] = {}  #: derivatives of the function on the cluster, by purpose

    @boundary
    def value(self, params: Any) -> Any:
        """Return the sum. Raises the function's exceptions, with a note that names the shard, and ClusterFailed."""
        start(params)
        (value,) = self._sum("value", params)
        return value if self.penalty is None else value + self.penalty.value(params)

    @boundary
    def value_and_grad(self, params: Any) -> tuple[Any, Any]:
        """Return the sum and its gradient, a tree of the form of ``params``. Raises the errors of ``value``."""
        form = start(params)
        value, gradient = self._sum("value_and_grad", params)
        if self.penalty is not None:
            more, slope = self.penalty.value_and_grad(params)
            value, gradient = value + more, gradient + form.vector(slope)
        return value, form.tangent(gradient)

    @boundary
    def hvp(self, params: Any, v: Any) -> Any:
        """Return the product of the Hessian with ``v``, both trees of the form of ``params``. Raises the errors of ``value``."""
        form = start(params)
        direction = form.tangent(form.vector(v))
        (tangent,) = self._sum("hvp", params, direction)
        if self.penalty is not None:
            tangent = tangent + form.vector(self.penalty.hvp(params, direction))
        return form.tangent(tangent)

    @boundary
    def hessian(self, params: Any) -> np.ndarray:
        """Return the Hessian as a matrix, in the order of ``symgrad.ravel(params)``. Raises the errors of ``value``."""
        start(params)
        (matrix,) = self._sum("hessian", params)
        whole: np.ndarray = matrix if self.penalty is None else matrix + self.penalty.hessian(params)
        return whole

    # -------------------------------------------------------------- one sum

    def _sum(self, kind: str, params: Any, direction: Any = None) -> Term:
        """Compute the sum of the terms of all shards; dropped tasks are sent again."""
        at = packed((params, direction), "params")
        for _ in range(ATTEMPTS):
            try:
                return self._attempt(kind, at)
            except Dropped:
                self._forget()
        raise ClusterFailed(f"{self._where()} has dropped the tasks of this sum {ATTEMPTS} times", hint="look at the log of the scheduler")

    def _attempt(self, kind: str, at: bytes) -> Term:
        self._check_client()
        name, (function, shards) = uuid.uuid4().hex, self._at_workers(kind)
        sent = self._send(at, f"parameters-{name}")
        terms = [
            self.client.submit(term, kind, function, sent, shard, key=f"{kind}-{name}-{k}", retries=self.retries)
            for k, shard in enumerate(shards)
        ]
        level = terms
        while len(level) > 1 or level is terms:
            groups = [level[k : k + TOGETHER] for k in range(0, len(level), TOGETHER)]
            level = [self.client.submit(total, *group, key=f"sum-{name}-{len(level)}-{k}") for k, group in enumerate(groups)]
        try:
            return self._result(level[0], terms)
        finally:
            for future in (sent, *terms, *level):
                future.release()

    def _at_workers(self, kind: str) -> tuple[Any, list[Any]]:
        """Return the derivative and the shards on the cluster; both are sent on first use."""
        with self._lock:
            if kind not in self._functions:
                derive, _ = TERMS[kind]
                self._functions[kind] = self._send(
                    packed_function(derive(self.function, self.jit), self._plain, "the function"), f"function-{uuid.uuid4().hex}"
                )
            if not self._data:
                self._data = self._sent_shards()
            return self._functions[kind], list(self._data)

    def _sent_shards(self) -> list[Any]:
        name = uuid.uuid4().hex
        load = None if self.load is None else self._send(packed_function(self.load, self.load, "load"), f"loader-{name}")
        data = []
        for k, shard in enumerate(self.shards):
            sent = shard if isinstance(shard, distributed.Future) else Sent(packed(shard, self._name(k)))
            with without_size_warning():
                data.append(self.client.submit(loaded, load, sent, key=f"shard-{name}-{k}", retries=self.retries))
        return data

    def _send(self, data: bytes, key: str) -> Any:
        with without_size_warning():
            return self.client.submit(Sent, data, key=key)

    def _forget(self) -> None:
        with self._lock:
            self._functions, self._data = {}, []

    # -------------------------------------------------------------- waiting

    def _result(self, whole: Any, terms: list[Any]) -> Term:
        """Wait for the sum, and report each completed shard."""
        complete: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        whole.add_done_callback(lambda _: complete.put(None))
        for k, future in enumerate(terms):
            future.add_done_callback(lambda _, k=k: complete.put(k))
        done: set[int] = set()
        active = time.monotonic()
        while not whole.done():
            try:
                event = complete.get(timeout=TICK)
            except queue.Empty:
                active = self._watched(active, len(done))
                continue
            active = time.monotonic()
            if event is not None and terms[event].status == "finished" and event not in done:
                done.add(event)
                self._tell(len(done))
        result: Term = self._gathered(whole, terms, len(done))
        for k in range(len(done), len(self.shards)):
            self._tell(k + 1)
        return result

    def _gathered(self, whole: Any, terms: list[Any], done: int) -> Any:
        """Return the result of a finished task; if it has been lost, wait for its recomputation."""
        try:
            return whole.result(timeout=self.timeout)
        except (Exception, distributed.CancelledError) as error:
            failure = error
        if whole.status == "error":
            raise self._named(failure, terms)
        if isinstance(failure, TimeoutError):
            raise self._stopped(done)
        if isinstance(failure, distributed.CancelledError):
            self._check_client()
            raise Dropped
        raise failure

    def _tell(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, len(self.shards))

    def _watched(self, active: float, done: int) -> float:
        """Return the time of the cluster's last activity; raise ClusterFailed after the timeout."""
        self._check_client()
        try:
            if self.client.status == "running" and any(self.client.processing().values()):
                return time.monotonic()
        except (OSError, TimeoutError):  # the scheduler does not answer
            pass
        if time.monotonic() - active > self.timeout:
            raise self._stopped(done)
        return active

    def _stopped(self, done: int) -> ClusterFailed:
        what = f"no worker of {self._where()} has been at work for {self.timeout:g} s; {done} of {len(self.shards)} shards were done"
        return ClusterFailed(what, hint="start workers (client.wait_for_workers), look at their logs, or pass a longer timeout")

    def _check_client(self) -> None:
        if self.client.status not in ("running", "connecting"):
            raise ClusterFailed("the client is closed", hint="make a ShardedSum with a client that is open")

    def _where(self) -> str:
        scheduler = self.client.scheduler
        return "the cluster" if scheduler is None else f"the cluster at {scheduler.address}"

    def _named(self, failure: BaseException, terms: list[Any]) -> BaseException:
        """Return the exception of the first failed shard, with a note that names the shard."""
        failed = next((k for k, future in enumerate(terms) if future.status == "error"), None)
        where = "the terms, which were being added" if failed is None else self._name(failed)
        error = failure if failed is None else terms[failed].exception()
        frames = failure.__traceback__ if failed is None else terms[failed].traceback()
        match error:
            case KilledWorker():
                died = f"{error.allowed_failures + 1} workers died, one after the other, that had {where}"
                what = f"{died}; the fault may be that of another shard that they had at the same time"
                return ClusterFailed(what, hint="look at their logs: a worker dies when its memory is full, or when compiled code crashes")
            case ClusterFailed():  # of all shards alike
                return error
            case SymgradError():
                error.notes.append((NOWHERE, f"in {where}"))
            case _:
                error.add_note(f"in {where}")
        return error.with_traceback(frames) if isinstance(frames, types.TracebackType) else error

    def _name(self, k: int) -> str:
        """Describe a shard."""
        shard = self.shards[k]
        parts = ", ".join(map(described, shard)) if type(shard) is tuple else described(shard)
        return f"shard {k} of {len(self.shards)}, the first of which is 0: {parts}"

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"<ShardedSum of {name} over {len(self.shards)} shards on {self._where()}>"


# ------------------------------------------------------------------ validation


@contextlib.contextmanager
def without_size_warning() -> Iterator[None]:
    """Context manager: suppress dask's warning about the size of a task."""
    with QUIET, dask.config.set({SIZE_WARNING: 2**62}):
        yield


def client_of(client: Any) -> Any:
    """Return the given client or the current one; raise BadArgument if neither can be used."""
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError:
            raise BadArgument("there is no client of a cluster", hint="client=distributed.Client()") from None
    if not isinstance(client, distributed.Client):
        what = f"client is {type(client).__name__}, and no Client of dask.distributed"
        raise BadArgument(what, hint="client=distributed.Client(cluster), or with the address of a scheduler")
    if client.asynchronous:
        raise BadArgument("the client is asynchronous, and a sum waits for its result", hint="pass a Client without asynchronous=True")
    return client


def shards_of(shards: Any) -> list[Any]:
    """The shards as a list."""
    if isinstance(shards, str | bytes | Mapping | np.ndarray) or not isinstance(shards, Iterable):
        raise BadArgument(f"shards is {type(shards).__name__}", hint="pass a list with an entry for each shard")
    each = list(shards)
    if not each:
        raise BadArgument("there are no shards, so there is nothing to add", hint="pass a list with an entry for each shard")
    return each


def callable_or_none(name: str, value: Any) -> Any:
    """A function, or None."""
    if value is not None and not callable(value):
        raise BadArgument(f"{name} is {value!r}", hint="a function, or None")
    return value


def natural_number(name: str, value: Any) -> int:
    """A whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadArgument(f"{name} is {value!r}", hint="a whole number, 0 or more")
    return value


def positive(name: str, value: Any) -> float:
    """A positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise BadArgument(f"{name} is {value!r}", hint="a positive number of seconds")
    return float(value)


def described(value: Any) -> str:
    """Describe a part of a shard in a message: arrays by their shape, anything else in at most one line."""
    return f"an array of the shape {value.shape}" if isinstance(value, np.ndarray) else reprlib.repr(value)
