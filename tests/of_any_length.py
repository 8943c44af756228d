"""Functions of lists and tuples that may be short or long, with data of any length for them."""

from __future__ import annotations

from collections.abc import Callable
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
