"""Games: tuning of a chess-like evaluation on positions with known results (Texel's method)."""

import math
from functools import lru_cache

import numpy as np

PIECES = "PNBRQ"


@lru_cache(maxsize=None)
def parse(fen):
    """Board of a position: an 8 x 8 tuple of characters."""
    rows = []
    for text in fen.split("/"):
        row = ""
        for char in text:
            row += "." * int(char) if char.isdigit() else char
        if len(row) != 8:
            raise ValueError(f"row {text!r} of {fen!r} has {len(row)} squares")
        rows.append(row)
    return tuple(rows)


def phase(board):
    weights = {"N": 1, "B": 1, "R": 2, "Q": 4}
    return min(1.0, sum(weights.get(c.upper(), 0) for row in board for c in row) / 24)


def mobility(board, i, j):
    count = 0
    for di, dj in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
        a, b = i + di, j + dj
        while 0 <= a < 8 and 0 <= b < 8 and board[a][b] == ".":
            count += 1
            a += di
            b += dj
    return count


def evaluate(board, values, tables, bonus):
    score = 0.0
    opening = phase(board)
    pawns = {"P": set(), "p": set()}
    for i, row in enumerate(board):
        for j, char in enumerate(row):
            if char == "." or char.upper() == "K":
                continue
            sign = 1 if char.isupper() else -1
            kind = PIECES.index(char.upper())
            rank = i if char.isupper() else 7 - i
            square = opening * tables[0, rank, min(j, 7 - j)] + (1 - opening) * tables[1, rank, min(j, 7 - j)]
            score += sign * (values[kind] + square)
            if char in "rRqQ":
                score += sign * bonus["mobility"] * math.sqrt(mobility(board, i, j))
            if char in pawns:
                if j in pawns[char]:
                    score -= sign * bonus["doubled"]
                pawns[char].add(j)
    return score


def loss(values, tables, bonus, positions, k=1.2, l2=1e-3):
    if len(values) != len(PIECES):
        raise ValueError(f"need a value for each of {PIECES}, got {len(values)}")
    error = 0.0
    for fen, result in positions:
        score = evaluate(parse(fen), values, tables, bonus)
        error += (result - 1 / (1 + math.exp(-k * score / 4))) ** 2
    return error / len(positions) + l2 * np.sum(tables**2)


WRT = ("values", "tables", "bonus")


def arguments():
    positions = [
        ("r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R", 0.5),
        ("8/5k2/3p4/2pP4/2P2P2/2P3K1/8/3R4", 1.0),
        ("2r3k1/5ppp/8/8/8/1q6/PP3PPP/3R2K1", 0.0),
    ]
    tables = 0.05 * np.random.default_rng(0).normal(size=(2, 8, 4))
    return np.array([1.0, 3.1, 3.3, 5.0, 9.2]), tables, {"mobility": 0.05, "doubled": 0.2}, positions
