"""Small scripts written for the documented package, with another import line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
from symgrad.compat.paddle import nn, static

F: Any = nn.functional
p: Any = paddle


@pytest.fixture
def programs() -> Any:
    paddle.enable_static()
    paddle.seed(0)
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    try:
        with static.program_guard(main, startup), static.scope_guard(scope):
            yield main, startup
    finally:
        paddle.disable_static()


def test_images_are_classified(tmp_path: Path) -> None:
    paddle.seed(1)

    class LeNet(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(nn.Conv2D(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2))  # type: ignore[attr-defined]
            self.head = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))  # type: ignore[attr-defined]

        def forward(self, x: Any) -> Any:
            return self.head(p.flatten(self.features(x), 1))

    model, other = LeNet(), LeNet()
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.01, T_max=30)
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(5.0))
    random = np.random.default_rng(0)
    images, labels = p.to_tensor(random.random((12, 1, 8, 8), "float32")), p.to_tensor(random.integers(0, 3, (12, 1)))
    criterion = nn.CrossEntropyLoss()  # type: ignore[attr-defined]
    losses = []
    for _ in range(25):
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    model.eval()
    other.eval()
    assert paddle.metric.accuracy(model(images), labels).item() > 0.5
    paddle.save(model.state_dict(), tmp_path / "model.pdparams")
    other.set_state_dict(paddle.load(tmp_path / "model.pdparams"))
    assert other(images).numpy() == pytest.approx(model(images).numpy())


def test_a_gradient_penalty() -> None:
    paddle.seed(0)
    critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))  # type: ignore[attr-defined]
    x = p.to_tensor(np.random.default_rng(0).standard_normal((4, 2)).astype("float32"), stop_gradient=False)

    def penalty() -> Any:
        out = critic(x)
        (slope,) = paddle.grad(out, [x], grad_outputs=p.ones_like(out), create_graph=True, retain_graph=True)
        return p.mean((p.norm(slope, axis=1) - 1.0) ** 2)

    loss = penalty()
    loss.backward()
    weight, step = critic[0].weight, np.zeros((2, 8), "float32")
    step[1, 3] = 1e-2
    start = weight.numpy()
    ends = []
    for sign in (1, -1):
        weight.set_value(start + sign * step)
        ends.append(penalty().item())
    assert weight.grad.numpy()[1, 3] == pytest.approx((ends[0] - ends[1]) / 2e-2, rel=2e-2)


def test_only_the_head_is_tuned() -> None:
    paddle.seed(0)
    body, head = nn.Linear(4, 8), nn.Linear(8, 3)
    for parameter in body.parameters():
        parameter.stop_gradient = True
    before = body.weight.numpy()
    optimizer = paddle.optimizer.SGD(0.1, parameters=[*body.parameters(), *head.parameters()], weight_decay=1e-3)
    x, y = p.randn([8, 4]), p.randint(0, 3, [8])
    losses = []
    for _ in range(15):
        loss = F.cross_entropy(head(F.relu(body(x))), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert body.weight.numpy() == pytest.approx(before)


def test_two_networks_against_each_other(programs: Any) -> None:
    main, startup = programs
    noise, real = static.data("noise", [None, 4]), static.data("real", [None, 2])

    def layer(x: Any, name: str, size: int, activation: str | None = None) -> Any:
        said = {f"{kind}_attr": paddle.ParamAttr(name=f"{name}.{kind}") for kind in ("weight", "bias")}
        return static.nn.fc(x, size, activation=activation, **said)

    def judged(x: Any) -> Any:
        return layer(layer(x, "judge_1", 8, "leaky_relu"), "judge_2", 1)

    fake = layer(layer(noise, "maker_1", 8, "relu"), "maker_2", 2)
    good, bad = judged(real), judged(fake)
    loss = F.binary_cross_entropy_with_logits
    judge_loss = p.mean(loss(good, p.ones_like(good)) + loss(bad, p.zeros_like(bad)))
    maker_loss = loss(bad, p.ones_like(bad))
    for name, target in (("judge", judge_loss), ("maker", maker_loss)):
        own = [v for v in main.all_parameters() if v.name.startswith(name)]
        assert len(own) == 4
        _, pairs = paddle.optimizer.Adam(2e-2, beta1=0.5).minimize(target, parameters=own)
    executor = static.Executor(paddle.CPUPlace())
    executor.run(startup)
    random = np.random.default_rng(0)
    feed = {"noise": random.standard_normal((16, 4)).astype("float32"), "real": random.standard_normal((16, 2)).astype("float32") + 3}
    before = main.state_dict("param")
    slopes = executor.run(main, feed=feed, fetch_list=[dict(pairs)[main.global_block().var("maker_1.weight")]])
    after = main.state_dict("param")
    assert all(np.isfinite(value).all() and (value != before[name]).any() for name, value in after.items())
    # the maker's first step of Adam goes against the sign of the slope of its own loss
    moved = after["maker_1.weight"] - before["maker_1.weight"]
    assert np.array_equal(np.sign(moved), -np.sign(slopes[0]))


def test_a_program_in_training_and_in_a_test(programs: Any, tmp_path: Path) -> None:
    main, startup = programs
    image, label = static.data("image", [None, 1, 8, 8]), static.data("label", [None, 1], "int64")
    hidden = static.nn.batch_norm(static.nn.conv2d(image, 4, 3, act="relu"))
    dropped = F.dropout(p.flatten(F.max_pool2d(hidden, 2, 2), 1), p=0.3)
    guess = static.nn.fc(dropped, 3, activation="softmax")
    loss = p.mean(F.cross_entropy(guess, label, use_softmax=False))
    right = static.accuracy(guess, label)
    test = main.clone(for_test=True)
    paddle.optimizer.Momentum(0.05, 0.9).minimize(loss)
    executor = static.Executor()
    executor.run(startup)
    random = np.random.default_rng(0)
    feed = {"image": random.random((8, 1, 8, 8), "float32"), "label": random.integers(0, 3, (8, 1))}
    losses = [executor.run(main, feed=feed, fetch_list=[loss, right])[0].item() for _ in range(25)]
    assert losses[-1] < losses[0]
    once, twice = (executor.run(test, feed=feed, fetch_list=[loss.name])[0] for _ in range(2))
    assert once == twice
    static.save(main, tmp_path / "model")
    main.set_state_dict({name: value * 0 for name, value in main.state_dict().items()})
    static.load(main, str(tmp_path / "model"), executor)
    assert executor.run(test, feed=feed, fetch_list=[loss.name])[0] == once
    saved = main.state_dict("param")
    assert all("velocity" not in name for name in saved)


def test_a_missing_name_is_explained() -> None:
    with pytest.raises(AttributeError, match=r"paddle\.nn\.Conv3D is not offered here; there is Conv2D"):
        nn.Conv3D  # noqa: B018
    with pytest.raises(AttributeError, match="NumPy's functions take tensors"):
        paddle.xyzzy  # noqa: B018
