"""Sums over shards on a cluster: values, derivatives, order of the sum, lost tasks and workers, refusals."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.special
from differences import derivative, direction_for, inner

import symgrad
from symgrad import optim
from symgrad.errors import BadArgument, ClusterFailed, IntegerArgument, NotScalar, UnknownFunction, UnsupportedSyntax

distributed = pytest.importorskip("distributed")
solvers = pytest.importorskip("symgrad.integrations.scipy")
from symgrad.integrations import dask as clusters  # noqa: E402
from symgrad.integrations.dask import ShardedSum  # noqa: E402


@dataclass
class Model:
    w: np.ndarray
    rest: list
    name: str = "model"


def misfit(model, x, y):
    scaled = np.tanh(x @ model.w) * model.rest[0] + model.rest[1]["b"]
    return np.sum((scaled - y) ** 2)


def penalty(model):
    return 0.1 * np.sum(model.w**4)


def data(k):
    random = np.random.default_rng(k)
    return random.normal(size=(k % 4, 2)), random.normal(size=k % 4)


def everything(shards):
    x, y = zip(*shards)
    return np.concatenate(x), np.concatenate(y)


MODEL = Model(np.array([0.3, -0.8]), [1.2, {"b": 0.1}])
SHARDS = [data(k) for k in range(20)]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=2, dashboard_address=":0") as client:
        yield client


# ------------------------------------------------------------------ values and derivatives


@pytest.mark.parametrize("count", [1, 8, 20])
def test_the_sum_has_the_derivatives_of_the_whole(client: Any, count: int) -> None:
    shards = SHARDS[-count:]
    total = ShardedSum(misfit, shards, client=client, penalty=penalty)
    x, y = everything(shards)

    def whole(model):
        return misfit(model, x, y) + penalty(model)

    direction = direction_for(MODEL, np.random.default_rng(1))
    value, gradient = total.value_and_grad(MODEL)
    assert value == pytest.approx(whole(MODEL), rel=1e-12)
    assert total(MODEL) == total.value(MODEL) == pytest.approx(value, rel=1e-12)
    assert isinstance(gradient, Model)
    assert gradient.name is None  # as symgrad.grad has it
    assert inner(gradient, direction) == pytest.approx(derivative(whole, MODEL, direction, 1e-5), rel=1e-7)

    v = Model(np.array([1.0, -2.0]), [0.5, {"b": 3.0}], None)
    _, tangent = symgrad.jvp(symgrad.grad(whole), (MODEL,), (v,), wrt=0)
    np.testing.assert_allclose(symgrad.ravel(total.hvp(MODEL, v))[0], symgrad.ravel(tangent)[0], rtol=1e-10)
    np.testing.assert_allclose(total.hessian(MODEL) @ symgrad.ravel(v)[0], symgrad.ravel(tangent)[0], rtol=1e-10)


@pytest.mark.parametrize("method", ["L-BFGS-B", "trust-ncg", "trust-exact", "trust-constr", "Nelder-Mead"])
def test_solvers_take_a_sum(client: Any, method: str) -> None:
    total = ShardedSum(bowl, [1.0, 2.0, 6.0], client=client)
    limits = {"maxiter": 8} if method == "trust-constr" else {"xatol": 1e-2} if method == "Nelder-Mead" else {}
    result = solvers.minimize(total, {"at": 1.0}, method=method, options=limits)
    assert result.x["at"] == pytest.approx(3.0, abs=2e-2)
    if method == "L-BFGS-B":
        assert (solvers.hessian_operator(total, {"at": 0.0}) @ np.ones(1)).tolist() == [6.0]


def inside(total):
    return lambda p: 2.0 * total(p)


def bowl(p, centre):
    return (p["at"] - centre) ** 2


def test_optimisers_take_a_sum(client: Any) -> None:
    total = ShardedSum(bowl, [1.0, 2.0, 6.0], client=client)
    for optimizer, further in ((optim.sgd(0.2), ()), (optim.lbfgs(), (total,))):
        params = {"at": 0.0}
        state = optimizer.init(params)
        for _ in range(5):
            params, state = optimizer.update(total.value_and_grad(params)[1], state, params, *further)
        assert params["at"] == pytest.approx(3.0, abs=0.1)


@pytest.mark.slow
def test_kernels_of_numba_are_compiled_on_the_workers(client: Any) -> None:
    pytest.importorskip("numba")
    for jit in (True, "auto"):
        value, gradient = ShardedSum(misfit_of_vector, SHARDS, client=client, jit=jit).value_and_grad(np.array([0.3, -0.8]))
        expected = symgrad.value_and_grad(misfit_of_vector)(np.array([0.3, -0.8]), *everything(SHARDS))
        assert value == pytest.approx(expected[0], rel=1e-12)
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-12)


def misfit_of_vector(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


def test_single_precision_and_nan_stay(client: Any) -> None:
    total = ShardedSum(misfit_of_vector, [(x.astype("f4"), y.astype("f4")) for x, y in SHARDS[:3]], client=client)
    value, gradient = total.value_and_grad(np.array([0.5, 1.0], "f4"))
    assert (value.dtype, gradient.dtype) == (np.float32, np.float32)
    value, gradient = ShardedSum(bowl, [1.0, np.nan, np.inf], client=client).value_and_grad({"at": 1.0})
    assert np.isnan(value)
    assert np.isnan(gradient["at"])


# ------------------------------------------------------------------ order, and what travels


def slowly(p, term, wait):
    return waited(p, wait) * term


@symgrad.custom_vjp
def waited(p, wait):
    return p


def pause(p, wait):
    time.sleep(wait)
    return p, None


waited.defvjp(pause, lambda residuals, out_grad: (out_grad, 0.0))


def test_the_order_of_the_sum_is_that_of_the_shards(client: Any) -> None:
    terms = (np.random.default_rng(0).normal(size=20) * 10.0 ** np.sqrt(np.arange(20))).tolist()
    expected = sum_by_eights(terms)
    assert expected != sum_by_eights(terms[::-1])
    for waits in (range(20), range(20, 0, -1)):
        total = ShardedSum(slowly, [(term, 0.002 * wait) for term, wait in zip(terms, waits)], client=client)
        assert total.value_and_grad(1.0) == (expected, expected)
        assert total.value(1.0) == expected


def sum_by_eights(terms):
    """The sum of groups of eight, and of those again, each from left to right."""
    while len(terms) > 1:
        terms = [sum(terms[k + 1 : k + 8], terms[k]) for k in range(0, len(terms), 8)]
    return terms[0]


LOADED: list[int] = []


def load(k):
    LOADED.append(k)
    if k == 13 and LOADED.count(13) == 1:
        raise OSError("not yet")
    return (float(k),)


def test_a_shard_is_loaded_once_and_what_changes_is_sent_once(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    LOADED.clear()
    sent: list[Any] = []
    for name in ("packed", "packed_function"):
        pack = getattr(clusters, name)
        monkeypatch.setattr(clusters, name, lambda value, *more, pack=pack: sent.append(value) or pack(value, *more))
    told: list[tuple[int, int]] = []
    total = ShardedSum(bowl, range(10, 15), load=load, retries=1, client=client, progress=lambda done, shards: told.append((done, shards)))
    for at in (0.0, 1.0, 2.0):
        total.value_and_grad({"at": at})
    assert sorted(LOADED) == [10, 11, 12, 13, 13, 14]
    assert sum(isinstance(value, tuple) and value[0] == {"at": 2.0} for value in sent) == 1
    assert len(sent) == 1 + 1 + 5 + 3  # the loader, the derivative, what the shards are loaded from, the parameters
    assert told == [(done, 5) for done in (1, 2, 3, 4, 5)] * 3


def test_a_shard_may_be_a_future(client: Any) -> None:
    shards = [client.submit(np.add, 1.0, 1.0), client.scatter(4.0)]
    assert ShardedSum(bowl, shards, client=client).value({"at": 0.0}) == 20.0
    assert ShardedSum(bowl, shards, load=lambda x: 2.0 * x, client=client).value({"at": 0.0}) == 80.0


def grows(p, x, seen):
    x[0] = 3.0
    seen.append(p)
    return p * len(seen) * x[0]


def test_no_call_sees_what_another_has_changed(client: Any) -> None:
    mine = (np.ones(2), [])
    total = ShardedSum(grows, [mine, mine], client=client)
    for _ in range(2):
        assert total.value_and_grad(2.0) == (12.0, 6.0)
        assert total.value(2.0) == 12.0
    assert mine[1] == []


def test_what_the_cluster_has_dropped_is_sent_again(client: Any) -> None:
    total = ShardedSum(bowl, [1.0, 2.0, 6.0], client=client)
    assert total.value({"at": 0.0}) == 41.0
    client.cancel(total._data[:2], force=True)
    assert total.value({"at": 0.0}) == 41.0
    client.cancel(list(total._functions.values()), force=True)
    assert total.value({"at": 0.0}) == 41.0


def test_sums_of_several_threads_stay_apart(client: Any) -> None:
    results: dict[float, Any] = {}

    def fit(centre: float) -> None:
        total = ShardedSum(bowl, [centre, centre + 1.0], client=client)
        results[centre] = solvers.minimize(total, {"at": 0.0}, method="L-BFGS-B").x["at"]

    threads = [threading.Thread(target=fit, args=(centre,)) for centre in (1.0, 5.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {1.0: pytest.approx(1.5), 5.0: pytest.approx(5.5)}


# ------------------------------------------------------------------ errors


def raises(p, k):
    if k == 2.0:
        raise ZeroDivisionError("no such shard")
    return p * k


class Peculiar(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")

    def __reduce__(self) -> Any:
        raise TypeError("cannot be pickled")


def peculiar_load(k):
    if k == 1:
        raise Peculiar(1, 2)
    return float(k)


def iterator(k):
    return iter([float(k)])


def of_array(p, k):
    return p * np.ones(2) if k == 1 else p


def unknown(p, k):
    return np.sum(scipy.special.struve(0.5, p * k))


@pytest.mark.parametrize(
    ("function", "params", "shards", "load", "kind", "said", "shard"),
    [
        (raises, 1.0, [1.0, 2.0], None, ZeroDivisionError, "no such shard", "shard 1 of 2, .*: 2.0"),
        (bowl, {"at": 1.0}, [0, 1], peculiar_load, Exception, "1 and 2", "shard 1 of 2"),
        (of_array, 1.0, [0, 1], None, NotScalar, "returns an array|of_array", "in shard 1 of 2, the first of which is 0: 1"),
        (bowl, {"at": 1.0}, [0], iterator, BadArgument, "it is passed an iterator", "in shard 0 of 1"),
        (unknown, np.ones(3), [np.ones(3)], None, UnknownFunction, "struve", r"an array of the shape \(3,\)"),
    ],
)
def test_an_error_names_the_shard(
    client: Any, function: Any, params: Any, shards: Any, load: Any, kind: type[Exception], said: str, shard: str
) -> None:
    total = ShardedSum(function, shards, load=load, client=client)
    with pytest.raises(kind, match=said) as caught:
        total.value_and_grad(params)
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert re.search(shard, text), text


@pytest.mark.parametrize("function", [of_array, lambda p, k: [p], lambda p, k: None, lambda p, k: 1j * p, lambda p, k: p > k])
def test_a_value_that_is_no_number_is_refused(client: Any, function: Any) -> None:
    with pytest.raises(NotScalar, match="a sum over shards is of numbers") as caught:
        ShardedSum(function, [1], client=client).value(1.0)
    assert "in shard 0 of 1" in str(caught.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda client: ShardedSum(bowl, [], client=client), "no shards"),
        (lambda client: ShardedSum(bowl, "part.csv", client=client), "shards is str"),
        (lambda client: ShardedSum(bowl, np.ones((2, 3)), client=client), "shards is ndarray"),
        (lambda client: ShardedSum(bowl, 3, client=client), "shards is int"),
        (lambda client: ShardedSum(3.0, [1.0], client=client), "not a function"),
        (lambda client: ShardedSum(bowl, [1.0], client=client.cluster), "client is LocalCluster"),
        (lambda client: ShardedSum(bowl, [1.0], client=client, load="read"), "load is 'read'"),
        (lambda client: ShardedSum(bowl, [1.0], client=client, penalty=1.0), "penalty is 1.0"),
        (lambda client: ShardedSum(bowl, [1.0], client=client, progress=True), "progress is True"),
        (lambda client: ShardedSum(bowl, [1.0], client=client, retries=-1), "retries is -1"),
        (lambda client: ShardedSum(bowl, [1.0], client=client, timeout=0), "timeout is 0"),
        (lambda client: ShardedSum(bowl, [1.0], client=client).value({"at": 1}), "is the integer 1"),
        (lambda client: ShardedSum(bowl, [1.0], client=client).value_and_grad({}), "holds no float"),
        (lambda client: ShardedSum(bowl, [1.0], client=client).hvp({"at": 1.0}, {"to": 1.0}), "keys"),
        (lambda client: ShardedSum(bowl, [1.0, threading.Lock()], client=client).value({"at": 1.0}), "shard 1 of 2, .* cannot be sent"),
        (lambda client: ShardedSum(bowl, [1.0], load=threading.Lock().acquire, client=client).value({"at": 1.0}), "load cannot be sent"),
        (lambda client: symgrad.grad(ShardedSum(bowl, [1.0], client=client)), "is computed by other processes"),
        (lambda client: symgrad.grad(inside(ShardedSum(bowl, [1.0], client=client)))({"at": 1.0}), "is computed by other processes"),
        (lambda client: solvers.minimize(ShardedSum(bowl, [1.0], client=client), {"at": 1.0}, (2.0,)), "no further arguments"),
        (lambda client: solvers.minimize(ShardedSum(bowl, [1.0], client=client), {"at": 1.0}, jit=True), "as its own jit says"),
        (lambda client: solvers.least_squares(ShardedSum(bowl, [1.0], client=client), {"at": 1.0}), "computed by other processes"),
        (lambda client: solvers.minimize(ShardedSum(bowl, [1.0], client=client), {"at": 1.0}, method="trust-constr", sparsity="auto"),
         "no sparse Hessian"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(client: Any, make: Callable[[Any], Any], said: str) -> None:
    with pytest.raises((BadArgument, IntegerArgument, UnsupportedSyntax), match=said):
        make(client)


def test_a_current_client_is_taken_and_none_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with client.as_current():
        assert ShardedSum(bowl, [1.0]).value({"at": 0.0}) == 1.0

    def none() -> None:
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(BadArgument, match="there is no client"):
        ShardedSum(bowl, [1.0])


def test_a_cluster_without_workers_and_a_closed_client_are_told_plainly() -> None:
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client:
            total = ShardedSum(bowl, [1.0, 2.0], client=client, timeout=0.2)
            with pytest.raises(ClusterFailed, match=r"no worker of the cluster at .* has been at work for 0.2 s; 0 of 2 shards"):
                total.value({"at": 0.0})
            cluster.scale(1)  # the way out
            client.wait_for_workers(1)
            assert total.value({"at": 0.0}) == 5.0
        with pytest.raises(ClusterFailed, match="the client is closed"):
            total.value({"at": 0.0})
        with distributed.Client(cluster) as other:
            assert ShardedSum(bowl, [1.0, 2.0], client=other).value({"at": 0.0}) == 5.0
