"""Epidemiology: an age-structured SEIR model fitted to weekly cases."""

import math

import numpy as np

COMPARTMENTS = ["S", "E", "I", "R"]


def derivatives(y, beta, contact, sigma, gamma, population):
    S, E, I, R = y
    force = beta * contact @ (I / population)
    dS = -force * S
    dE = force * S - sigma * E
    dI = sigma * E - gamma * I
    dR = gamma * I
    return np.stack([dS, dE, dI, dR])


def rk4(f, y, h, *args):
    k1 = f(y, *args)
    k2 = f(y + h / 2 * k1, *args)
    k3 = f(y + h / 2 * k2, *args)
    k4 = f(y + h * k3, *args)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def simulate(theta, contact, population, days, lockdown=None):
    beta0, sigma, gamma, seed = theta
    n = len(population)
    y = np.zeros((4, n))
    y[0] = population
    y[2, 0] = seed
    y[0, 0] -= seed
    weekly = []
    new = 0.0
    for day in range(days):
        beta = beta0
        if lockdown is not None and lockdown[0] <= day < lockdown[1]:
            beta *= lockdown[2]
        before = y[0].sum()
        y = rk4(derivatives, y, 1.0, beta, contact, sigma, gamma, population)
        y = np.maximum(y, 0.0)
        new += before - y[0].sum()
        if day % 7 == 6:
            weekly.append(new)
            new = 0.0
    return np.array(weekly), dict(zip(COMPARTMENTS, y))


def loss(theta, contact, population, cases, lockdown=(14, 28, 0.4)):
    weekly, final = simulate(theta, contact, population, 7 * len(cases), lockdown)
    assert len(weekly) == len(cases)
    ll = 0.0
    for m, c in zip(weekly, cases):
        ll += c * math.log(m + 1e-9) - m - math.lgamma(c + 1)
    attack_rate = final["R"].sum() / population.sum()
    return -ll + 10.0 * (attack_rate - 0.1) ** 2


WRT = ("theta", "contact")


def arguments():
    return (
        (0.5, 0.25, 0.2, 10.0),
        np.array([[1.2, 0.5, 0.2], [0.5, 1.0, 0.4], [0.2, 0.4, 0.6]]),
        np.array([1e4, 2e4, 5e3]),
        [30, 60, 90, 60, 120, 200],
    )
