"""Layers as objects: contents, both modes, training and evaluation, state of layers and optimisers in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgrad import layers, static
from symgrad.eager import Tensor, grad
from symgrad.eager.creation import seed
from symgrad.eager.storing import load, save
from symgrad.errors import BadArgument, SaveError
from symgrad.layers import BatchNorm2D, Dropout, Layer, LayerList, Linear, ParameterList, Sequential
from symgrad.optimizer import SGD, Adam, Momentum
from symgrad.optimizer.lr import MultiplicativeDecay, NoamDecay, ReduceOnPlateau, StepDecay
from symgrad.static import Executor, Program, data, disable_static, enable_static, program_guard
from symgrad.static.initializers import Assign
from symgrad.vocabulary import network, tensors

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]], "float32")


class Net(Layer):
    """Two layers, a parameter and a buffer of its own, one layer that is used under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Linear(3, 4)
        self.rest = Sequential(("act", layers.Tanh()), ("second", Linear(4, 2)))  # type: ignore[attr-defined]
        self.again = self.first
        self.scale = self.create_parameter([2], default_initializer=Assign([2.0, 3.0]))
        self.register_buffer("seen", Tensor(np.zeros(1, "float32")))
        self.register_buffer("passing", Tensor(np.zeros(1, "float32")), persistable=False)

    def forward(self, x: Any) -> Any:
        return self.rest(self.first(x)) * self.scale


def test_what_is_assigned_is_found() -> None:
    net = Net()
    names = ["scale", "first.weight", "first.bias", "rest.second.weight", "rest.second.bias"]
    assert [name for name, _ in net.named_parameters()] == names
    assert len(net.parameters()) == 5
    assert [name for name, _ in net.named_sublayers()] == ["first", "rest", "rest.act", "rest.second"]
    assert [name for name, _ in net.named_buffers()] == ["seen", "passing"]
    assert set(net.state_dict()) == {*names, "again.weight", "again.bias", "seen"} - {"again.weight", "again.bias"}
    assert "in_features=3" in repr(net)
    first = net.first
    del net.first
    assert "first.weight" not in dict(net.named_parameters())
    net.first = first
    net.first = None
    assert net.first is None


def test_assigning_before_init_is_refused() -> None:
    class Early(Layer):
        def __init__(self) -> None:
            self.inner = Linear(1, 1)

    with pytest.raises(AttributeError, match="super"):
        Early()


def test_gradients_and_training() -> None:
    seed(0)
    net = Net()
    (actual,) = grad(tensors.sum(net(Tensor(X))), net.rest["second"].weight)
    h = np.tanh(X @ net.first.weight.numpy() + net.first.bias.numpy())
    assert actual is not None
    assert actual.numpy() == pytest.approx(np.outer(h.sum(0), [2.0, 3.0]), rel=1e-5)
    optimizer = Momentum(0.02, parameters=net.parameters())
    losses = []
    for _ in range(200):
        loss = network.mse_loss(net(Tensor(X)), Tensor(np.ones((2, 2), "float32")))  # type: ignore[attr-defined]
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 100


def test_trainable_is_the_opposite_of_stop_gradient() -> None:
    net = Net()
    net.first.weight.trainable = False
    assert net.first.weight.stop_gradient
    tensors.sum(net(Tensor(X))).backward()
    assert net.first.weight.grad is None
    assert net.first.bias.grad is not None
    net.clear_gradients()
    assert not net.first.bias.grad.numpy().any()


def test_both_modes_compute_the_same() -> None:
    enable_static()
    try:
        main, startup = Program(), Program()
        with program_guard(main, startup):
            x = data("x", [-1, 3])
            net = Net.__new__(Net)
            Layer.__init__(net)
            net.first = Linear(3, 2, weight_attr=Assign(np.arange(6.0).reshape(3, 2)))
            out = net.first(x)
            loss = tensors.mean(out)  # type: ignore[attr-defined]
            SGD(0.1, parameters=net.parameters()).minimize(loss)
        scope = static.Scope()
        Executor().run(startup, scope=scope)
        (actual,) = Executor().run(main, {"x": X}, [out], scope)
    finally:
        disable_static()
    eager = Linear(3, 2, weight_attr=Assign(np.arange(6.0).reshape(3, 2)))
    assert actual == pytest.approx(eager(Tensor(X)).numpy())
    assert scope.values[net.first.bias.name] == pytest.approx(np.full(2, -0.05))


def test_training_and_test_differ() -> None:
    images = np.random.default_rng(0).standard_normal((4, 2, 3, 3)).astype("float32")
    norm, drop = BatchNorm2D(2, momentum=0.5), Dropout(0.5)
    both = Sequential(norm, drop)
    trained = norm(Tensor(images)).numpy()
    assert trained.mean((0, 2, 3)) == pytest.approx(np.zeros(2), abs=1e-5)
    assert dict(norm.named_buffers())["_mean"].numpy() == pytest.approx(0.5 * images.mean((0, 2, 3)), rel=1e-4)
    assert (drop(Tensor(images)).numpy() == 0).any()
    both.eval()
    mean, variance = (dict(norm.named_buffers())[n].numpy()[:, None, None] for n in ("_mean", "_variance"))
    assert both(Tensor(images)).numpy() == pytest.approx((images - mean) / np.sqrt(variance + 1e-5), rel=1e-4, abs=1e-5)
    assert both.train()[0].training


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: layers.Conv2D(2, 4, 3, padding=1), (1, 4, 6, 6)), (lambda: layers.MaxPool2D(2, 2), (1, 2, 3, 3)),
        (lambda: layers.AvgPool2D(2), (1, 2, 3, 3)), (lambda: layers.Flatten(), (1, 72)), (lambda: layers.LayerNorm(6), (1, 2, 6, 6)),
        (lambda: layers.LeakyReLU(0.1), (1, 2, 6, 6)), (lambda: layers.Softmax(axis=1), (1, 2, 6, 6)),  # type: ignore[attr-defined]
    ],
)  # fmt: skip
def test_shapes(layer: Any, shape: tuple[int, ...]) -> None:
    assert tuple(layer()(Tensor(np.ones((1, 2, 6, 6), "float32"))).shape) == shape


def test_containers_and_hooks() -> None:
    stack = LayerList([Linear(2, 2) for _ in range(3)])
    assert [name for name, _ in stack.named_parameters()][:2] == ["0.weight", "0.bias"]
    assert len(stack[1:]) == 2
    weights = ParameterList([stack[0].create_parameter([2])])
    assert len(weights.parameters()) == len(weights) == 1
    with pytest.raises(NotImplementedError, match="no forward"):
        stack(1)
    seen: list[str] = []
    before = stack[0].register_forward_pre_hook(lambda layer, inputs: seen.append("before"))
    after = stack[0].register_forward_post_hook(lambda layer, inputs, result: result * 0.0)
    assert not stack[0](Tensor(np.ones((1, 2), "float32"))).numpy().any()
    before.remove()
    after.remove()
    stack[0](Tensor(np.ones((1, 2), "float32")))
    assert seen == ["before"]


def test_states_in_files(tmp_path: Path) -> None:
    first, second = Net(), Net()
    optimizer = Adam(StepDecay(0.1, 1), parameters=first.parameters())
    tensors.sum(first(Tensor(X))).backward()
    optimizer.step()
    optimizer.learning_rate.step()
    save({"model": first.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "more": [None, (1, "a")]}, tmp_path / "state")
    kept = load(tmp_path / "state")
    assert (kept["epoch"], kept["more"]) == (3, [None, (1, "a")])
    assert second.set_state_dict(kept["model"]) == ([], [])
    assert second(Tensor(X)).numpy() == pytest.approx(first(Tensor(X)).numpy())
    for parameter, other in zip(second.parameters(), first.parameters(), strict=True):
        parameter.name = other.name
    again = Adam(StepDecay(0.1, 1), parameters=second.parameters())
    again.set_state_dict(kept["optimizer"])
    assert again.get_lr() == pytest.approx(0.01)
    for net, chosen in ((first, optimizer), (second, again)):
        chosen.clear_grad()
        tensors.sum(net(Tensor(X))).backward()
        chosen.step()
    assert second.scale.numpy() == pytest.approx(first.scale.numpy())
    assert second.set_state_dict({"unknown": X}) == (list(second.state_dict()), ["unknown"])


@pytest.mark.parametrize("value", [object(), {1: 2}, np.array(["a"]), {"a": lambda: 0}])
def test_what_cannot_be_saved(tmp_path: Path, value: Any) -> None:
    with pytest.raises(SaveError):
        save(value, tmp_path / "state")


@pytest.mark.parametrize("content", [b"", b"\x80\x04N.", b"PK\x03\x04", b"[]"])
def test_what_is_no_state(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(SaveError):
        load(tmp_path / "state")


def test_values_from_nowhere_in_programs() -> None:
    from symgrad.eager.creation import full, rand, zeros

    main, startup = Program(), Program()
    with program_guard(main, startup):
        i, n, total = full([], 0, "int64"), full([], 4, "int64"), zeros([2])
        w = static.create_parameter([2], "float32", "w", default_initializer=Assign([1.0, 2.0]))
        _, _, total = static.nn.while_loop(lambda i, n, t: i < n, lambda i, n, t: [i + 1, n, t + w], [i, n, total])
        chosen = static.nn.switch_case(full([1], 7, "int64"), {1: lambda: total, 7: lambda: total * 2.0}, lambda: total * 0.0)
        first = static.nn.case([(n < i, lambda: w), (i < n, lambda: chosen)], lambda: w * 0.0)
        (gradient,) = static.gradients(first, [w])
        with pytest.raises(BadArgument, match="same in every run"):
            rand([2])
    scope = static.Scope()
    Executor().run(startup, scope=scope)
    actual = Executor().run(main, {}, [total, first, gradient], scope)
    assert [v.tolist() for v in actual] == [[4, 8], [8, 16], [8, 8]]


def test_the_state_of_a_program() -> None:
    main, startup, scope = Program(), Program(), static.Scope()
    with program_guard(main, startup):
        w = static.create_parameter([2], "float32", "w", default_initializer=Assign([1.0, 2.0]))
        Adam(0.1).minimize(tensors.sum(w))
    Executor().run(startup, scope=scope)
    state = main.state_dict(scope=scope)
    assert set(main.state_dict("param", scope)) == {"w"}
    assert set(state) - {"w"} == set(main.state_dict("opt", scope))
    Executor().run(main, {}, [w], scope)
    main.set_state_dict(state, scope)
    assert scope.values["w"].tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="has shape"):
        main.set_state_dict({"w": X}, scope)


def test_more_schedules() -> None:
    noam, product, plateau = NoamDecay(4, 2), MultiplicativeDecay(1.0, lambda k: 0.5), ReduceOnPlateau(1.0, factor=0.5, patience=1)
    rates = []
    for metric in (1.0, 1.0, 1.0, 0.5, 0.5, 0.5):
        for schedule in (noam, product):
            schedule.step()
        plateau.step(metric)
        rates.append(plateau())
    assert noam() == pytest.approx(4**-0.5 * 6**-0.5)
    assert product() == pytest.approx(0.5**6)
    assert rates == [1.0, 1.0, 0.5, 0.5, 0.5, 0.25]
