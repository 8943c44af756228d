"""
Predators and prey
==================

The rates of a differential equation (Lotka 1925, Volterra 1926) are estimated from noisy counts.
The Runge-Kutta method is written out in a loop; ``jacobian`` supplies ``least_squares`` with the
derivatives of all residuals.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import symgrad


def slope(state, rates):
    prey, predators = state
    births = prey * (rates[0] - rates[1] * predators)
    return np.array([births, predators * (rates[3] * prey - rates[2])])


def solve(rates, start, step, rounds):
    states = np.empty((rounds + 1, 2))
    state = start
    states[0] = state
    for k in range(rounds):
        first = slope(state, rates)
        second = slope(state + 0.5 * step * first, rates)
        third = slope(state + 0.5 * step * second, rates)
        fourth = slope(state + step * third, rates)
        state = state + step * (first + 2.0 * second + 2.0 * third + fourth) / 6.0
        states[k + 1] = state
    return states


def residuals(rates, start, step, counts):
    states = solve(rates, start, step, 10 * (len(counts) - 1))
    return (states[::10] - counts).ravel()


# %%

random = np.random.default_rng(5)
true_rates, start, step = np.array([1.1, 0.4, 0.4, 0.1]), np.array([8.0, 2.0]), 0.05
times = np.arange(0.0, 15.01, 0.5)
counts = solve(true_rates, start, step, 300)[::10] + 0.3 * random.normal(size=(31, 2))

jacobian = symgrad.jacobian(residuals, jit="auto")
guess = np.array([1.0, 0.3, 0.5, 0.15])
fit = least_squares(residuals, guess, jac=jacobian, args=(start, step, counts))
print("true     ", true_rates)
print("estimated", fit.x.round(3))

fine = solve(fit.x, start, step, 300)
figure, axis = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
for k, name in enumerate(("prey", "predators")):
    axis.plot(np.arange(301) * step, fine[:, k], color=f"C{k}", label=name)
    axis.plot(times, counts[:, k], ".", color=f"C{k}")
axis.set_xlabel("time")
axis.legend()
plt.show()

assert np.allclose(fit.x, true_rates, atol=0.05)

# %%
# The derivative of one loss shows the reversed loop:


def loss(rates, start, step, counts):
    return np.sum(residuals(rates, start, step, counts) ** 2)


print(symgrad.grad(loss).source(fit.x, start, step, counts))
