"""Biology: Needleman-Wunsch alignment with affine gaps over nested lists, hard or soft maximum."""

import math

NEG = -1e9

CLASSES = {"A": "purine", "G": "purine", "C": "pyrimidine", "T": "pyrimidine"}


def pair_score(a, b, scores):
    if a == b:
        return scores["match"]
    if CLASSES[a] == CLASSES[b]:
        return scores["transition"]
    return scores["transversion"]


def soft_max(values, temperature):
    top = max(values)
    if temperature <= 0:
        return top
    return top + temperature * math.log(sum(math.exp((v - top) / temperature) for v in values))


def align(first, second, scores, temperature):
    n, m = len(first), len(second)
    M = [[NEG] * (m + 1) for _ in range(n + 1)]
    X = [[NEG] * (m + 1) for _ in range(n + 1)]
    Y = [[NEG] * (m + 1) for _ in range(n + 1)]
    M[0][0] = 0.0
    for i in range(1, n + 1):
        X[i][0] = scores["open"] + (i - 1) * scores["extend"]
    for j in range(1, m + 1):
        Y[0][j] = scores["open"] + (j - 1) * scores["extend"]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = pair_score(first[i - 1], second[j - 1], scores)
            M[i][j] = s + soft_max([M[i - 1][j - 1], X[i - 1][j - 1], Y[i - 1][j - 1]], temperature)
            X[i][j] = soft_max([M[i - 1][j] + scores["open"], X[i - 1][j] + scores["extend"]], temperature)
            Y[i][j] = soft_max([M[i][j - 1] + scores["open"], Y[i][j - 1] + scores["extend"]], temperature)
    return soft_max([M[n][m], X[n][m], Y[n][m]], temperature)


def loss(scores, pairs, temperature=1.0, margin=1.0):
    missing = {"match", "transition", "transversion", "open", "extend"} - scores.keys()
    if missing:
        raise KeyError(f"missing scores: {missing}")
    total = 0.0
    for first, second, related in pairs:
        for letter in first + second:
            if letter not in CLASSES:
                raise ValueError(f"unknown base {letter!r}")
        score = align(first, second, scores, temperature) / max(len(first), len(second))
        sign = 1.0 if related else -1.0
        total += math.log1p(math.exp(margin - sign * score))
    return total / len(pairs)


WRT = ("scores", "temperature")


def arguments():
    scores = {"match": 1.0, "transition": -0.3, "transversion": -0.9, "open": -1.5, "extend": -0.4}
    pairs = [("ACGTAC", "ACGAC", True), ("GATTACA", "GCATGC", False), ("TTGACA", "TTGCCA", True)]
    return scores, pairs, 0.8
