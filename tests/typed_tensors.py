"""A program with tensors as users write it, for type checkers: every ``assert_type`` is a claim of tests/test_types.py."""

from __future__ import annotations

from typing import assert_type

import symgrad.compat.paddle as paddle
from symgrad.compat.paddle import nn, static
from symgrad.eager import Tensor
from symgrad.static import Variable

# ------------------------------------------------------------------ tensors

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
assert_type(x + 1.0, Tensor)
assert_type(2.0 * x, Tensor)
assert_type(x @ x.T, Tensor)
assert_type(x > 1.5, Tensor)
assert_type(x == 1.0, Tensor)
assert_type(x[0], Tensor)
assert_type(x.sum(axis=0, keepdim=True), Tensor)
assert_type(x.split(2), list[Tensor])
assert_type(paddle.add(x, 1.0), Tensor)
assert_type(paddle.maximum(0.0, x), Tensor)
assert_type(paddle.concat([x, x], axis=1), Tensor)
assert_type(paddle.where(x > 1.5, x, 0.0), Tensor)
assert_type(paddle.linalg.svd(x), list[Tensor])
assert_type(paddle.zeros([2]), Tensor)
assert_type(paddle.exp([1.0, 2.0]), Tensor)
(x * x).mean().backward()
assert_type(x.grad, Tensor | None)


@paddle.no_grad
def largest(x: Tensor) -> float:
    return float(x.max())


@paddle.no_grad()
def smallest(x: Tensor) -> float:
    return float(x.min())


assert_type(largest(x), float)
assert_type(smallest(x), float)

# ------------------------------------------------------------------ layers


class Network(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 3)
        self.softmax = nn.Softmax(axis=-1)

    def forward(self, x: Tensor) -> Tensor:
        return self.softmax(nn.functional.relu(self.linear(x)))


network = Network()
optimizer = paddle.optimizer.SGD(0.1, parameters=network.parameters())
assert_type(nn.Sequential(nn.Linear(2, 2), nn.Tanh())(x), Tensor)
loss: Tensor = nn.functional.mse_loss(network(x), paddle.zeros([2, 3]))
loss.backward()
optimizer.step()
optimizer.clear_grad()

# ------------------------------------------------------------------ programs

paddle.enable_static()
program = static.Program()
with static.program_guard(program):
    data = static.data("data", [None, 2])
    assert_type(data, Variable)
    assert_type(data * 2.0, Variable)
    assert_type(paddle.exp(data), Variable)
    assert_type(data.mean(), Variable)
    assert_type(nn.functional.relu(data), Variable)
paddle.disable_static()
