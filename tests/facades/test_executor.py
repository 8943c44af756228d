"""Execution of programs: both targets, repeated runs, several forms of values."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from symgrad import static
from symgrad.errors import BadArgument, NotCompiled, NumbaMissing
from symgrad.optimizer import SGD, Adam, Momentum
from symgrad.optimizer.lr import StepDecay
from symgrad.static import Executor, Program, append_backward, data, program_guard
from symgrad.static.initializers import Assign
from symgrad.vocabulary import network, tensors

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7], [0.2, 0.9, -0.4]])


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


class Sample:
    """A program, and a run of it in a scope of its own."""

    def __init__(self, build: Any) -> None:
        self.main, self.startup, self.scope = Program(), Program(), static.Scope()
        with program_guard(self.main, self.startup):
            self.fetch = build()
        self.executor = Executor()
        self.executor.run(self.startup, scope=self.scope)

    def run(self, feed: Any, **words: Any) -> list[Any]:
        return self.executor.run(self.main, feed, self.fetch, self.scope, **words)


def parameter(name: str, value: Any, dtype: Any = "float64") -> Any:
    value = np.asarray(value, dtype)
    return static.create_parameter(value.shape, value.dtype, name, default_initializer=Assign(value))


def layer() -> list[Any]:
    """A layer, its loss, a step with momentum."""
    x = data("x", [-1, 3], "float64")
    w, b = parameter("w", [[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]]), parameter("b", [0.1, -0.1])
    loss = tensors.mean(tensors.square(tensors.tanh(tensors.matmul(x, w) + b)))  # type: ignore[attr-defined]
    Momentum(0.1, 0.9).minimize(loss)
    return [loss, "w@GRAD", b]


def labels() -> list[Any]:
    """A cross entropy of rows that are gathered."""
    x = data("x", [-1, 3], "float64")
    table = parameter("table", np.arange(12.0).reshape(4, 3) / 10)
    rows = tensors.gather(table, np.array([0, 2, 2]))
    loss = network.cross_entropy(x * rows, np.array([2, 0, 1]))
    return [loss, append_backward(loss)[0][1]]


def loop() -> list[Any]:
    """A loop and a branch."""
    x = data("x", [-1, 3], "float64")
    w = parameter("w", 0.9)
    start = tensors.sum(x) * 0.0
    count, total = static.nn.while_loop(lambda k, s: k < 4.0, lambda k, s: (k + 1.0, s * w + 1.0), [start, start + 1.0])
    out = static.nn.cond(tensors.sum(x) > 100.0, lambda: total * 2.0, lambda: total * w)
    return [count, out, append_backward(out)[0][1]]


@pytest.mark.parametrize("build", [layer, labels, loop])
def test_both_targets_agree(build: Any) -> None:
    pytest.importorskip("numba")
    compiled, plain = Sample(build), Sample(build)

    assert "njit" in compiled.main.source(compiled.fetch, jit=True)
    for _ in range(3):
        for one, other in zip(compiled.run({"x": X}, jit=True), plain.run({"x": X}), strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert one == pytest.approx(other, rel=1e-12)


def test_what_has_no_kernel_runs_with_a_notice() -> None:
    pytest.importorskip("numba")

    def build() -> list[Any]:
        return [np.linalg.svd(data("x", [3, 3], "float64"))[1]]  # type: ignore[arg-type, call-overload]

    sample = Sample(build)
    assert "njit" not in sample.main.source(sample.fetch, jit=True)
    with pytest.warns(NotCompiled, match="program runs as NumPy code"):
        (actual,) = sample.run({"x": X}, jit=True)
    assert actual == pytest.approx(np.linalg.svd(X)[1])
    assert sample.run({"x": X}, jit="auto")[0] == pytest.approx(actual)


def test_jit_is_a_bool_or_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadArgument, match="jit is True"):
        Executor(jit="yes")  # type: ignore[arg-type]
    monkeypatch.setattr("symgrad.targets.has_numba", lambda: False)
    with pytest.raises(NumbaMissing):
        Executor(jit=True)
    assert len(Sample(layer).run({"x": X}, jit="auto")) == 3


def test_another_shape_or_form_is_another_run() -> None:
    def build() -> list[Any]:
        x = data("x", [-1, 3], "float32")
        return [x * 2.0]

    sample = Sample(build)
    for value in (X, X.astype("float32"), X[:1], X.tolist(), X.T.T, X.astype("float32")[::-1], X[:0]):
        (actual,) = sample.run({"x": value})
        assert actual == pytest.approx(2 * np.asarray(value, "float32"))
        assert actual.dtype == np.float32
    with pytest.raises(ValueError, match="has shape"):
        sample.run({"x": X[:, :2]})
    with pytest.raises(TypeError, match="a dict of values"):
        sample.run([X])


def test_a_program_that_has_grown_runs_anew() -> None:
    sample = Sample(layer)
    sample.run({"x": X})
    with program_guard(sample.main, sample.startup):
        more = sample.main.global_block().var("x") * 3.0
    (actual,) = sample.executor.run(sample.main, {"x": X}, [more], sample.scope)
    assert actual == pytest.approx(3 * X)


def test_values_that_are_set_between_runs() -> None:
    sample = Sample(lambda: [parameter("w", [1.0, 2.0]) * 2.0])
    assert sample.run({})[0] == pytest.approx([2, 4])
    sample.scope.var("w").set(np.array([3.0, 4.0, 5.0]))
    assert sample.run({})[0] == pytest.approx([6, 8, 10])
    sample.executor.run(sample.startup, scope=sample.scope)
    assert sample.run({})[0] == pytest.approx([2, 4])
    sample.scope.erase(["w"])
    with pytest.raises(BadArgument, match="run the startup program first"):
        sample.run({})


def test_what_is_given_out_is_nobodys_else() -> None:
    def build() -> list[Any]:
        x, w = data("x", [-1, 3], "float64"), parameter("w", X)
        return [tensors.transpose(w, [1, 0]), x, w, tensors.reshape(x, [-1]), tensors.expand(x[:1], [3, 3]), w]  # type: ignore[attr-defined]

    sample = Sample(build)
    for _ in range(2):
        fed = X.copy()
        for one in sample.run({"x": fed}):
            one += 100.0
        assert fed == pytest.approx(X)
    assert sample.scope.values["w"] == pytest.approx(X)


def test_one_thing_may_be_fetched_alone() -> None:
    sample = Sample(layer)
    assert len(sample.executor.run(sample.main, {"x": X}, "w@GRAD", sample.scope)) == 1
    with pytest.raises(TypeError, match="must be a Variable or a name"):
        sample.executor.run(sample.main, {"x": X}, [["w"]], sample.scope)


def test_a_schedule_is_followed() -> None:
    schedule = StepDecay(1.0, 1, 0.5)

    def build() -> list[Any]:
        w = parameter("w", [1.0])
        loss = tensors.sum(w)
        SGD(schedule).minimize(loss)
        return [w]

    sample = Sample(build)
    actual = []
    for _ in range(3):
        actual.append(sample.run({})[0].item())
        schedule.step()
    assert actual == pytest.approx([0.0, -0.5, -0.75])


def test_no_warning_of_infinities() -> None:
    sample = Sample(lambda: [tensors.log(data("x", [-1, 3], "float64") * 0.0)])  # type: ignore[attr-defined]
    assert np.all(sample.run({"x": np.abs(X)})[0] == -np.inf)


def test_threads() -> None:
    sample = Sample(lambda: [tensors.tanh(data("x", [-1, 3], "float64"))])  # type: ignore[attr-defined]
    actual: list[bool] = []

    def work(k: int) -> None:
        actual.append(all(np.allclose(sample.run({"x": X * k})[0], np.tanh(X * k)) for _ in range(50)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [True] * 4


def test_shapes_that_take_turns_are_prepared_once() -> None:
    sample = Sample(layer)
    for rows in (3, 2, 3, 2, 3):
        sample.run({"x": X[:rows]})
        if rows == 2:
            known = len(sample.main.plans)

    assert len(sample.main.plans) == known


def test_a_value_of_another_dtype_or_shape_in_the_scope_is_seen() -> None:
    sample, other = Sample(layer), Sample(layer)
    first = sample.run({"x": X})
    sample.scope.var("b").set(np.zeros(2, "float32"))
    other.run({"x": X})
    other.scope.var("b").set(np.zeros(2))
    for one, two in zip(sample.run({"x": X}), other.run({"x": X}), strict=True):
        assert one == pytest.approx(two)
    assert first[0] != pytest.approx(sample.run({"x": X})[0])
    with pytest.raises(TypeError):
        sample.scope.values["b"] = X  # type: ignore[index]


def test_two_scopes_take_turns() -> None:
    sample = Sample(layer)
    second = static.Scope()
    sample.executor.run(sample.startup, scope=second)
    expected = [sample.run({"x": X}) for _ in range(3)]
    second.var("w")
    for values in expected:
        for one, other in zip(sample.executor.run(sample.main, {"x": X}, sample.fetch, second), values, strict=True):
            assert one == pytest.approx(other)
        sample.run({"x": X})


@pytest.mark.parametrize("jit", [False, True])
def test_numbers_keep_their_dtype(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")

    def build() -> list[Any]:
        x = data("x", [], "float32")
        w = parameter("w", 2.0, "float32")
        loss = x * w
        Adam(0.1).minimize(loss)
        return [loss, w, "w@GRAD"]

    sample = Sample(build)
    for _ in range(2):
        for actual in sample.run({"x": np.float32(3.0)}, jit=jit):
            assert (type(actual), actual.shape, actual.dtype) == (np.ndarray, (), np.dtype("float32"))
    assert {name: value.dtype.name for name, value in sample.scope.values.items()} == dict.fromkeys(sample.scope.values, "float32")
    assert sample.main.state_dict(scope=sample.scope)["w"].shape == ()


def test_what_is_fetched_twice_is_two_arrays() -> None:
    program = Sample(lambda: [w := parameter("w", [2.0, 3.0]), w, y := w * w, y])
    actual = program.run({})
    actual[0][0] = actual[2][0] = 9.0
    assert [v.tolist() for v in actual] == [[9.0, 3.0], [2.0, 3.0], [9.0, 9.0], [4.0, 9.0]]
    assert program.run({})[0].tolist() == [2.0, 3.0]
