"""
A hidden Markov model
=====================

In a *hidden Markov model* of dice, a fair die is occasionally swapped for a loaded one. The
forward algorithm (Rabiner 1989) computes the likelihood of the throws. Its gradient with respect
to the logarithms of the emission probabilities is the result of the backward algorithm: the
probability of each die at each throw. We need not write that algorithm.
"""

import matplotlib.pyplot as plt
import numpy as np

import symgrad


def log_likelihood(log_emission, transition, first):
    """The log-likelihood; ``log_emission[t, die]`` is the log-probability of throw ``t`` with that die."""
    probability = first * np.exp(log_emission[0])
    total = np.log(np.sum(probability))
    probability = probability / np.sum(probability)
    for t in range(1, len(log_emission)):
        probability = (probability @ transition) * np.exp(log_emission[t])
        total += np.log(np.sum(probability))
        probability = probability / np.sum(probability)
    return total


# %%

fair, loaded = np.full(6, 1.0 / 6.0), np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.5])
transition = np.array([[0.97, 0.03], [0.06, 0.94]])
random = np.random.default_rng(8)
dice = np.zeros(300, dtype=int)
for t in range(1, 300):
    dice[t] = random.choice(2, p=transition[dice[t - 1]])
throws = np.array([random.choice(6, p=(fair, loaded)[die]) for die in dice])

# %%
# One gradient contains all probabilities:

log_emission = np.log(np.stack([fair[throws], loaded[throws]], axis=1))
posterior = symgrad.grad(log_likelihood)
probability = posterior(log_emission, transition, np.array([0.5, 0.5]))
assert np.allclose(probability.sum(axis=1), 1.0)

figure, axis = plt.subplots(figsize=(7.0, 2.6), layout="constrained")
axis.fill_between(np.arange(300), dice, step="mid", alpha=0.25, label="the loaded die was used")
axis.plot(probability[:, 1], label="its probability, from the throws alone")
axis.set_xlabel("throw")
axis.set_ylim(0.0, 1.3)
axis.legend(loc="upper center", ncols=2)
plt.show()

print(f"{100.0 * np.mean((probability[:, 1] > 0.5) == dice):.0f} % of the throws are told rightly")

# %%

print(posterior.source())
