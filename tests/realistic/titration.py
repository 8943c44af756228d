"""Chemistry: pH of a titration curve by Newton's method, and a fit of the acid's constants."""

import numpy as np

KW = 1e-14


def charge(h, ca, cb, pka):
    """Charge balance for a polyprotic acid."""
    ks = [10.0**-p for p in pka]
    terms = [h ** len(ks)]
    product = 1.0
    for i, k in enumerate(ks):
        product *= k
        terms.append(product * h ** (len(ks) - 1 - i))
    total = sum(terms)
    anion = sum(i * t for i, t in enumerate(terms)) * ca / total
    return h + cb - KW / h - anion


def solve_ph(ca, cb, pka, tol=1e-10, maxiter=100):
    lo, hi = 0.0, 14.0
    for i in range(maxiter):
        mid = (lo + hi) / 2
        if charge(10.0**-mid, ca, cb, pka) > 0:
            lo = mid
        else:
            hi = mid
        if hi - lo < 1e-6:
            break
    ph = mid
    for _ in range(3):
        h = 10.0**-ph
        f = charge(h, ca, cb, pka)
        eps = 1e-6
        df = (charge(10.0 ** -(ph + eps), ca, cb, pka) - f) / eps
        step = f / df
        ph -= step
        if abs(step) < tol:
            break
    return ph


def loss(pka, acid, volumes, measured, base=0.1, v0=25.0):
    errors = []
    for v, m in zip(volumes, measured):
        total = v0 + v
        ph = solve_ph(acid * v0 / total, base * v / total, pka)
        errors.append(ph - m)
    return sum(e**2 for e in errors) / len(errors) + 0.01 * max(abs(e) for e in errors)


WRT = ("pka", "acid")


def arguments():
    return [2.1, 7.2], 0.1, np.array([2.0, 10.0, 20.0, 30.0, 40.0]), np.array([1.5, 1.9, 2.6, 6.5, 7.3])
