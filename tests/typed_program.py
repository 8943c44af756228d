"""A program as users write it, for type checkers: every ``assert_type`` is a claim of tests/test_types.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

import numpy as np

import symgrad
from symgrad import optim

Array = np.ndarray[Any, Any]


@dataclass
class Model:
    w: Array
    b: float


def loss(model: Model, x: Array, scale: float = 1.0) -> float:
    return scale * float(np.sum((x @ model.w + model.b) ** 2))


def layer(x: Array, w: Array) -> Array:
    out: Array = np.tanh(w @ x)
    return out


def energy(x: Array) -> float:
    return float(np.sum(x**2))


def with_aux(x: float) -> tuple[float, str]:
    return x * x, "square"


model, x = Model(np.ones(2), 0.5), np.ones((3, 2))

assert_type(symgrad.grad(loss)(model, x), Model)
assert_type(symgrad.grad(loss)(model, x, scale=2.0), Model)
assert_type(symgrad.grad(loss, ("model", "x"))(model=model, x=x), tuple[Any, ...])
assert_type(symgrad.grad(loss, "x", jit=False)(model, x), Any)
assert_type(symgrad.grad(loss).source(), str)
assert_type(symgrad.grad(with_aux, has_aux=True)(2.0), tuple[float, str])
assert_type(symgrad.value_and_grad(loss)(model, x), tuple[float, Model])
value, slope = symgrad.value_and_grad(energy)(np.ones(2))
assert_type(value, float)
assert_type(slope, Array)

assert_type(symgrad.jvp(energy, (np.ones(2),), (np.ones(2),)), tuple[float, float])
out, pullback = symgrad.vjp(layer, np.ones(2), np.eye(2))
assert_type(out, Array)
assert_type(pullback(np.ones(2)), tuple[Any, ...])
assert_type(symgrad.jacobian(layer)(np.ones(2), np.eye(2)), Array)
assert_type(symgrad.hessian(energy)(np.ones(2)), Array)
assert_type(symgrad.vmap(energy)(np.ones((3, 2))), Any)
point: Array = np.ones(2)
assert_type(symgrad.hvp(energy, point, point), Array)
assert_type(symgrad.hvp(energy)(point, v=point), Array)
assert_type(symgrad.vhp(loss, (model, x), model), Model)
assert_type(symgrad.hvp(loss, (model, x), x, wrt="x"), Any)
out, linear = symgrad.linearize(layer, point, np.eye(2))
assert_type(out, Array)
assert_type(linear(point, np.eye(2)), Array)
assert_type(symgrad.linearize(energy)(point)[0], float)


@symgrad.checkpoint
def block(h: Array, w: Array) -> Array:
    out: Array = np.tanh(w @ h)
    return out


assert_type(block(np.ones(2), np.eye(2)), Array)
assert_type(symgrad.stop_gradient(2.0), float)


@symgrad.custom_vjp
def cube(x: float) -> float:
    return x**3


def forward(x: float) -> tuple[float, float]:
    return x**3, x


def backward(x: float, out_grad: float) -> tuple[float]:
    return (3 * x**2 * out_grad,)


cube.defvjp(forward, backward)
assert_type(cube(2.0), float)
assert_type(symgrad.grad(cube)(2.0), float)


@symgrad.differentiable
def stiffness(x: Array, k: float = 1.0) -> float:
    return k * float(np.sum(x * x))


assert_type(stiffness(x=point, k=2.0), float)
assert_type(stiffness.grad(point), Any)
assert_type(stiffness.value_and_grad(point, 2.0), tuple[float, Any])
assert_type(stiffness.grad.source(point), str)


class Spring:
    k = 2.0

    @symgrad.differentiable(wrt="x")
    def energy(self, x: Array, scale: float) -> float:
        return scale * self.k * float(np.sum(x * x))

    @symgrad.differentiable
    @staticmethod
    def twice(x: float) -> float:
        return 2.0 * x


spring = Spring()
assert_type(spring.energy(point, 1.0), float)
assert_type(spring.energy.value_and_grad(point, scale=1.0), tuple[float, Any])
assert_type(Spring.energy.grad(spring, point, 1.0), Any)
Spring.twice.grad(1.0)


@symgrad.elementwise(dx="cos(x)")
def wave(x: float) -> float:
    return float(np.sin(x))


@symgrad.rule(a_grad="out_grad * 2", result="float")
def double(a: float) -> float:
    return 2.0 * a


@symgrad.constant
def bucket(a: float) -> float:
    return float(np.floor(a))


assert_type(wave(1.0), float)
assert_type(double(1.0), float)
assert_type(bucket(1.0), float)

vector, unravel = symgrad.ravel(model)
assert_type(unravel(2 * vector), Model)
optimizer = optim.adam(0.1)
state = optimizer.init(model)
model, state = optimizer.update(symgrad.grad(loss)(model, x), state, model)
assert_type(model, Model)
