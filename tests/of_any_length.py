"""Functions of lists and tuples that may be short or long, with data of any length for them."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


def network(ws: Any, x: Any) -> Any:
    for w in ws:
        x = np.tanh(w @ x)
    return np.sum(x)


def observed(xs: Any, w: Any) -> Any:
    total = 0.0
    for x in xs:
        for k in range(len(x)):
            total += np.tanh(x[k] @ w)
    return total


def summed(rows: Any, c: Any) -> Any:
    return sum(sum(row) * c for row in rows)


def layers(ps: Any, x: Any) -> Any:
    for p in ps:
        x = np.tanh(p["w"] @ x + p["b"])
    return np.sum(x)


def pairs(ps: Any, w: Any) -> Any:
    kept = []
    for k, (x, y) in enumerate(ps):
        kept.append((k, np.sum(w * x), y))
    return sum(a * b * c for a, b, c in kept)


@dataclass
class Joint:
    offset: float
    axis: np.ndarray


def joints(chain: Any, q: Any) -> Any:
    total = 0.0
    for before, joint in zip(chain, chain[1:], strict=False):
        total += np.sin(joint.offset - before.offset) * np.sum(joint.axis * q)
    return total


def dicts(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [{"w": random.normal(size=(3, 3)), "b": random.normal(size=3)} for _ in range(count)], random.normal(size=3)


def tuples(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return tuple((random.normal(size=3), float(random.normal())) for _ in range(count)), random.normal(size=3)


def instances(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [Joint(float(random.normal()), random.normal(size=3)) for _ in range(count)], random.normal(size=3)


def smoother(ys: Any, q: Any) -> Any:
    means, spreads = [], []
    mean, spread = 0.0 * ys[0], 1.0
    for y in ys:
        spread = spread + q * q
        gain = spread / (spread + 1.0)
        mean, spread = mean + gain * (y - mean), (1.0 - gain) * spread
        means.append(mean)
        spreads.append(spread)
    smooth = [None] * len(means)
    smooth[-1] = means[-1]
    for t in range(len(means) - 2, -1, -1):
        gain = spreads[t] / (spreads[t] + q * q)
        smooth[t] = means[t] + gain * (smooth[t + 1] - means[t])
    return np.sum(np.stack(smooth) ** 2)


def chains(sentences: Any, moves: Any) -> Any:
    total = 0.0
    for scores, tags in sentences:
        alpha = scores[0]
        for t in range(1, len(tags)):
            total -= moves[tags[t - 1], tags[t]] + scores[t, tags[t]]
            alpha = np.log(np.sum(np.exp(alpha[:, None] + moves), axis=0)) + scores[t]
        total += np.log(np.sum(np.exp(alpha)))
    return total


def observations(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [random.normal(size=2) for _ in range(count)], 0.3


def tagged(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    lengths = [3 + k % 4 for k in range(count)]
    return [(random.normal(size=(n, 3)), random.integers(0, 3, n)) for n in lengths], random.normal(size=(3, 3))


def matrices(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [random.normal(size=(3, 3)) for _ in range(count)], random.normal(size=3)


def sentences(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return tuple(random.normal(size=(2 + k % 4, 3)) for k in range(count)), random.normal(size=3)


def rows(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [random.normal(size=1 + k % 3).tolist() for k in range(count)], 1.5


LONG: list[tuple[Callable[..., Any], Callable[[np.random.Generator, int], tuple[Any, ...]]]] = [
    (network, matrices),
    (observed, sentences),
    (summed, rows),
    (layers, dicts),
    (pairs, tuples),
    (joints, instances),
    (smoother, observations),
    (chains, tagged),
]


# ------------------------------------------------------------------ programs as scientists write them


def values(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return random.normal(size=count).tolist(), 0.7


def vectors(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [random.normal(size=3) for _ in range(count)], random.normal(size=(3, 3)) / 2


def measured(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [(0.1 * k, float(random.normal())) for k in range(count)], 0.3


def two_lists(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return random.normal(size=count).tolist(), random.normal(size=count).tolist()


def log_sum(a: Any) -> Any:
    top = np.max(a, axis=0)
    return top + np.log(np.sum(np.exp(a - top), axis=0))


def hmm_forward(emissions: Any, moves: Any) -> Any:
    alpha = emissions[0]
    for emission in emissions[1:]:
        alpha = log_sum(alpha[:, None] + moves) + emission
    return log_sum(alpha)


def hmm_posterior(emissions: Any, moves: Any) -> Any:
    alphas = [emissions[0]]
    for emission in emissions[1:]:
        alphas.append(log_sum(alphas[-1][:, None] + moves) + emission)
    beta = np.zeros(3)
    betas = [beta]
    for emission in reversed(emissions[1:]):
        beta = log_sum((moves + emission + beta).T)
        betas.append(beta)
    betas.reverse()
    total = 0.0
    for alpha, later in zip(alphas, betas, strict=True):
        both = alpha + later
        total += np.exp(both - log_sum(both))[0]
    return total


def recurrent(xs: Any, ps: Any) -> Any:
    h = np.zeros(3)
    outputs = []
    for x in xs:
        h = np.tanh(ps["w"] @ x + ps["u"] @ h + ps["b"])
        outputs.append(np.sum(h * ps["o"]))
    return np.mean(np.array(outputs) ** 2)


def recurrent_data(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    ps = {"w": random.normal(size=(3, 3)), "u": random.normal(size=(3, 3)) / 3, "b": random.normal(size=3), "o": random.normal(size=3)}
    return [random.normal(size=3) for _ in range(count)], ps


def descended(ps: Any, rate: Any) -> Any:
    ps = [{"w": p["w"] - rate * 2 * p["w"], "b": p["b"] * rate} for p in ps]
    return sum(np.sum(p["w"] ** 2) + np.sum(p["b"]) for p in ps)


def with_rate(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return dicts(random, count)[0], 0.1


def decay(points: Any, k: Any) -> Any:
    return sum((y - np.exp(-k * t)) ** 2 for t, y in points) / len(points)


@dataclass
class Particle:
    position: np.ndarray
    mass: float

    def energy(self, field: Any) -> Any:
        return self.mass * np.sum(self.position * field)


def energies(particles: Any, field: Any) -> Any:
    return sum(p.energy(field) for p in particles) / sum(p.mass for p in particles)


def particles(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [Particle(random.normal(size=3), float(random.uniform(1, 2))) for _ in range(count)], random.normal(size=3)


def grouped(groups: Any, c: Any) -> Any:
    means = [np.mean(group) for group in groups]
    centre = sum(means) / len(means)
    return sum(len(g) * (m - centre) ** 2 for g, m in zip(groups, means, strict=True)) * c


def ragged(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [random.normal(size=2 + k % 4) for k in range(count)], 1.3


def horner(coefficients: Any, x: Any) -> Any:
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


def retraced(xs: Any, w: Any) -> Any:
    path = [1.0]
    for x in xs:
        path.append(np.tanh(w * path[-1] + x))
    total = 0.0
    for k, p in enumerate(reversed(path)):
        total += p / (k + 1)
    return total


def smoothed_in_place(xs: Any, w: Any) -> Any:
    for i in range(1, len(xs)):
        xs[i] = w * xs[i - 1] + (1 - w) * xs[i]
    return xs[-1] ** 2 + sum(xs)


def copied_then_stored(xs: Any, w: Any) -> Any:
    ys = list(xs)
    for i, x in enumerate(xs):
        ys[i] = w * x * x
    for i in range(len(ys) - 1):
        ys[i] += ys[i + 1]
    return sum(ys)


def swapped(xs: Any, w: Any) -> Any:
    ys = list(xs)
    for i in range(len(ys) - 1):
        if ys[i] > ys[i + 1]:
            ys[i], ys[i + 1] = ys[i + 1], ys[i]
    return sum(w * k * y for k, y in enumerate(ys))


def queued(xs: Any, w: Any) -> Any:
    waiting = [0.0, 0.0, 1.0]
    total = 0.0
    for x in xs:
        waiting.insert(0, x * w)
        total += waiting.pop() * waiting[1]
    return total


def stacked_up(xs: Any, w: Any) -> Any:
    stack = list(xs)
    total = 0.0
    while stack:
        total = np.tanh(w * total + stack.pop())
    return total


def ranked(xs: Any, w: Any) -> Any:
    return sum(x * w**k for k, x in enumerate(sorted(xs)[:20]))


def penalty(ps: Any, c: Any) -> Any:
    total = 0.0
    for name in ps:
        total += np.sum(ps[name] ** 2)
    return total * c


def many_names(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return {f"layer {k}": random.normal(size=2) for k in range(count)}, 0.5


def shrunk(ps: Any, c: Any) -> Any:
    new = {name: p * c for name, p in ps.items()}
    return sum(np.sum(p * p) for p in new.values())


def tallied(events: Any, c: Any) -> Any:
    totals = {"gain": 0.0, "loss": 1.0}
    for name, amount in events:
        totals[name] += amount * c
    return totals["gain"] ** 2 - totals["loss"]


def accounts(events: Any, rate: Any) -> Any:
    balance = 1.0
    for kind, amount in events:
        if kind == "gain":
            balance += amount
        elif kind == "loss":
            balance = balance - 0.5 * amount * balance
        else:
            balance *= 1 + rate
    return balance


def named_events(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [(("gain", "loss")[k % 2], float(random.uniform())) for k in range(count)], 0.3


def events_with_branches(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [(("gain", "loss", "year")[k % 3], float(random.uniform()) / count) for k in range(count)], 1.0 / count


def multiplied(rows: Any, v: Any) -> Any:
    total = 0.0
    for i in range(len(rows)):
        s = 0.0
        for j in range(len(v)):
            s += rows[i][j] * v[j]
        total += s * s
    return total


def lists_of_rows(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return random.normal(size=(count, 3)).tolist(), random.normal(size=3).tolist()


def windowed(xs: Any, w: Any) -> Any:
    window: deque[Any] = deque([0.0] * 4, maxlen=4)
    total = 0.0
    for x in xs:
        window.append(x * w)
        total += (sum(window) / 4) ** 2
    return total


def beside(xs: Any, ys: Any) -> Any:
    return sum((x - y) ** 2 * x for x, y in zip(xs, ys, strict=True)) / len(xs)


def stored_by_number(xs: Any, w: Any) -> Any:
    out = np.zeros(len(xs))
    for i, x in enumerate(xs):
        out[i] = np.sin(w * x)
    return np.sum(out * out)


def welford(xs: Any, w: Any) -> Any:
    mean, spread = 0.0, 0.0
    for k, x in enumerate(xs, 1):
        before = x * w - mean
        mean += before / k
        spread += before * (x * w - mean)
    return spread / len(xs) + mean


def chained(ms: Any, v: Any) -> Any:
    return np.sum(functools.reduce(np.matmul, ms) @ v)


def small_matrices(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return [np.eye(3) + random.normal(size=(3, 3)) / count for _ in range(count)], random.normal(size=3)


def heated(u: Any, k: Any) -> Any:
    for _ in range(4):
        new = [0.0] * len(u)
        new[0], new[-1] = u[0], u[-1]
        for i in range(1, len(u) - 1):
            new[i] = u[i] + k * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return sum(v * v for v in u)


def stepped(state: Any, u: Any, w: Any) -> Any:
    p, v = state
    return p + 0.1 * v, v + 0.1 * (u - w * p)


def simulated(us: Any, w: Any) -> Any:
    state = (1.0, 0.0)
    states = [state]
    for u in us:
        state = stepped(state, u, w)
        states.append(state)
    return sum(p * p + v * v for p, v in states) / len(states)


def scaled(xs: Any, w: Any) -> Iterator[Any]:
    for x in xs:
        yield w * x


def squared(xs: Any) -> Iterator[Any]:
    for x in xs:
        if x > 0:
            yield x * x


def piped(xs: Any, w: Any) -> Any:
    return sum(squared(scaled(xs, w)))


OBSERVED: list[float] = []
REFERENCES: list[np.ndarray] = []


def against_globals(x: Any, w: Any) -> Any:
    total = 0.0
    for y in OBSERVED:
        total += (y - x * np.exp(-w * y)) ** 2
    for r in REFERENCES:
        total += np.sum(r * w)
    return total


def outside_data(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    OBSERVED[:] = random.uniform(size=count).tolist()
    REFERENCES[:] = [random.normal(size=2) for _ in range(count)]
    return 1.2, 0.4


def of_columns(data: Any, k: Any) -> Any:
    total = 0.0
    for t, y in zip(data["t"], data["y"], strict=True):
        total += (y - np.exp(-k * t)) ** 2
    return total / len(data["t"])


def column_data(random: np.random.Generator, count: int) -> tuple[Any, ...]:
    return {"t": (0.1 * np.arange(count)).tolist(), "y": random.normal(size=count).tolist()}, 0.3


def remembered(xs: Any, w: Any) -> Any:
    memo = {0: 1.0, 1: w}
    for n in range(2, len(xs)):
        memo[n] = 0.5 * memo[n - 1] * w + memo[n - 2] * xs[n]
    return memo[len(xs) - 1]


def warped(xs: Any, w: Any) -> Any:
    template = [0.1, 0.5, -0.2, 0.3]
    table = [[1e3] * 5 for _ in range(len(xs) + 1)]
    table[0][0] = 0.0
    for i in range(1, len(xs) + 1):
        for j in range(1, 5):
            least = min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
            table[i][j] = w * (xs[i - 1] - template[j - 1]) ** 2 + least
    return table[len(xs)][4]


def accumulated(xs: Any, w: Any) -> Any:
    sums = [0.0]
    for x in xs:
        sums.append(sums[-1] + w * x)
    return sum((sums[i + 3] - sums[i]) ** 2 for i in range(len(sums) - 3))


def near(points: Any, scale: Any) -> Any:
    total = 0.0
    for i in range(len(points)):
        for j in range(i + 1, min(i + 4, len(points))):
            total += np.exp(-np.sum((points[i] - points[j]) ** 2)) * np.sum(scale)
    return total


def gathered(xs: Any, w: Any) -> Any:
    return np.sum(np.stack(xs) @ w) + np.sum(np.concatenate(xs) ** 2) + np.sum(np.array(xs)[1:] * xs[0])


def batched(xs: Any, w: Any) -> Any:
    total = 0.0
    for start in range(0, len(xs), 5):
        batch = xs[start : start + 5]
        total += (sum(batch) / len(batch) - w) ** 2
    return total


def doubled_in_place(xs: Any, w: Any) -> Any:
    for x in xs:
        x *= 2.0
    return sum(np.sum(w @ x) ** 2 for x in xs)


class Filter:
    def __init__(self, gain: Any) -> None:
        self.gain, self.level, self.history = gain, 0.0, []

    def update(self, y: Any) -> None:
        self.level = self.level + self.gain * (y - self.level)
        self.history.append(self.level)


def tracked(ys: Any, gain: Any) -> Any:
    filtered = Filter(gain)
    for y in ys:
        filtered.update(y)
    return sum((y - level) ** 2 for y, level in zip(ys, filtered.history, strict=True))


def picked(xs: Any, w: Any) -> Any:
    kept = [x for x in xs if x > 0] or [1.0]
    return sum(np.log(x) * w for x in kept) / len(kept)


def worst(xs: Any, w: Any) -> Any:
    best, least = xs[0], 1e9
    for x in xs:
        if (error := np.sum((w @ x) ** 2)) < least:
            best, least = x, error
    return least + np.sum(best)


def relaxed(xs: Any, w: Any) -> Any:
    ys = [x * w for x in xs]
    for _ in range(3):
        ys = [ys[0]] + [(a + b) / 2 for a, b in zip(ys, ys[1:], strict=False)]
    return sum(y * y for y in ys)


def filled_backwards(rewards: Any, discount: Any) -> Any:
    returns = [0.0] * len(rewards)
    following = 0.0
    for t in reversed(range(len(rewards))):
        following = rewards[t] + discount * following
        returns[t] = following
    centre = sum(returns) / len(returns)
    return sum((r - centre) ** 2 for r in returns)


TYPICAL: list[tuple[Callable[..., Any], Callable[[np.random.Generator, int], tuple[Any, ...]]]] = [
    (hmm_forward, vectors),
    (hmm_posterior, vectors),
    (recurrent, recurrent_data),
    (descended, with_rate),
    (decay, measured),
    (energies, particles),
    (grouped, ragged),
    (horner, values),
    (retraced, values),
    (smoothed_in_place, values),
    (copied_then_stored, values),
    (swapped, values),
    (queued, values),
    (stacked_up, values),
    (ranked, values),
    (penalty, many_names),
    (shrunk, many_names),
    (tallied, named_events),
    (accounts, events_with_branches),
    (multiplied, lists_of_rows),
    (windowed, values),
    (beside, two_lists),
    (stored_by_number, values),
    (welford, values),
    (chained, small_matrices),
    (heated, values),
    (simulated, values),
    (piped, values),
    (against_globals, outside_data),
    (of_columns, column_data),
    (remembered, values),
    (warped, values),
    (accumulated, values),
    (near, vectors),
    (gathered, vectors),
    (batched, values),
    (doubled_in_place, vectors),
    (tracked, values),
    (picked, values),
    (worst, vectors),
    (relaxed, values),
    (filled_backwards, values),
]
