"""``paddle.io`` and ``paddle.fluid.dygraph``: batches of samples, and a small training in the older spelling."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.fluid as fluid
from symgrad.compat.paddle.io import DataLoader, Dataset, TensorDataset


class Squares(Dataset):
    def __getitem__(self, place: int) -> dict[str, object]:
        return {"x": np.array([float(place)]), "y": (place, float(place) ** 2)}

    def __len__(self) -> int:
        return 5


def test_batches() -> None:
    (first, *_, last) = DataLoader(Squares(), batch_size=2)
    assert first["x"].tolist() == [[0.0], [1.0]]
    assert [part.tolist() for part in last["y"]] == [[4], [16.0]]
    assert len(DataLoader(Squares(), batch_size=2, drop_last=True)) == len([*DataLoader(Squares(), batch_size=2, drop_last=True)]) == 2
    with pytest.raises(ValueError, match="equally many rows"):
        TensorDataset([np.ones(2), np.ones(3)])
    with pytest.raises(ValueError, match="batch_size"):
        DataLoader(Squares(), batch_size=0)


def test_the_order_is_that_of_the_seed() -> None:
    orders = []
    for _ in range(2):
        paddle.seed(3)
        orders.append([batch[0].tolist() for batch in DataLoader(TensorDataset([np.arange(9)]), batch_size=4, shuffle=True)])
    assert orders[0] == orders[1]
    assert sorted(sum(orders[0], [])) == list(range(9))
    assert sum(orders[0], []) != list(range(9))


def test_a_training_in_the_older_spelling() -> None:
    paddle.enable_static()
    paddle.seed(1)
    with fluid.dygraph.guard():
        layer = fluid.dygraph.Linear(1, 1, act="tanh")
        step = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
        losses = []
        for _ in range(30):
            for x, y in DataLoader(TensorDataset([np.linspace(-1, 1, 8, dtype="float32")[:, None], np.full((8, 1), 0.5, "float32")]), 4):
                loss = paddle.mean(paddle.square(layer(fluid.dygraph.to_variable(x)) - y))
                loss.backward()
                step.minimize(loss)
                layer.clear_gradients()
                losses.append(loss.item())
    assert not paddle.in_dynamic_mode()
    paddle.disable_static()
    assert losses[-1] < 0.01 < losses[0]
