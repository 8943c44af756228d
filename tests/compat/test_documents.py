"""The documented examples of the gradient APIs, with another import line, and their documented results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MARK = "# prints: "
EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "paddle"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_prints_what_is_documented(path: Path) -> None:
    expected = [line.removeprefix(MARK) for line in path.read_text().splitlines() if line.startswith(MARK)]
    # so that it runs from a checkout that is not installed, too
    places = {"PYTHONPATH": os.pathsep.join([str(EXAMPLES.parent.parent), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-W", "error", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **places})
    assert ran.returncode == 0, ran.stderr
    assert expected
    assert ran.stdout.splitlines() == expected


def test_older_spellings_build_the_same_network() -> None:
    import symgrad.compat.paddle.fluid as fluid

    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup):
        image = fluid.layers.data(name="image", shape=[1, 6, 6])
        hidden = fluid.layers.conv2d(image, 2, 3, act="relu")
        pooled = fluid.layers.pool2d(hidden, 2, "max", 2)
        out = fluid.layers.fc(pooled, 3, act="softmax")
        label = fluid.layers.data(name="label", shape=[1], dtype="int64")
        loss = fluid.layers.mean(fluid.layers.cross_entropy(out, label))
        fluid.optimizer.SGDOptimizer(0.5).minimize(loss)
    values = np.random.default_rng(0).normal(size=(8, 1, 6, 6)).astype("float32")
    labels = np.arange(8).reshape(8, 1) % 3
    executor = fluid.Executor(fluid.CPUPlace())
    with fluid.scope_guard(fluid.global_scope().__class__()):
        executor.run(startup)
        losses = [float(executor.run(main, {"image": values, "label": labels}, [loss])[0]) for _ in range(40)]
    assert losses[-1] < 0.5 * losses[0]


def test_older_scripts_feed_samples() -> None:
    fluid: Any = pytest.importorskip("symgrad.compat.paddle.fluid")
    main, startup = fluid.Program(), fluid.Program()
    paddle: Any = pytest.importorskip("symgrad.compat.paddle")
    paddle.seed(3)  # weights for which some unit is not zero for all samples
    with fluid.program_guard(main, startup):
        image, label = fluid.data("image", [None, 1, 6, 6]), fluid.data("label", [None, 1], "int64")
        pooled = fluid.nets.simple_img_conv_pool(image, 2, 3, 2, 2, act="relu")
        guess = fluid.layers.fc(pooled, 3, act="softmax")
        loss = fluid.layers.mean(fluid.layers.cross_entropy(guess, label))
        share = fluid.layers.accuracy(guess, label)
        fluid.optimizer.Adam(0.05).minimize(loss)
        feeder = fluid.DataFeeder([image, "label"], fluid.CPUPlace())
    random = np.random.default_rng(0)
    feed = feeder.feed([(random.random(36), k % 3) for k in range(6)])
    assert {name: value.shape for name, value in feed.items()} == {"image": (6, 1, 6, 6), "label": (6, 1)}
    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(startup)
    losses = [executor.run(main, feed, [loss, share])[0].item() for _ in range(10)]
    assert losses[-1] < losses[0]
    with pytest.raises(ValueError, match="a sample has 1 values"):
        feeder.feed([(1.0,)])
