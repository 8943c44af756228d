"""Games: ELO ratings with dicts; how well the ratings predict the results of a season."""

import logging
import math
from collections import namedtuple

log = logging.getLogger("elo")

Match = namedtuple("Match", "home away score day")


def expected(home_rating, away_rating, advantage, scale):
    return 1.0 / (1.0 + 10 ** ((away_rating - home_rating - advantage) / scale))


def k_factor(games_played, k_new, k_old):
    """New players move faster."""
    return k_new if games_played < 3 else k_old


def log_loss(p, score, eps=1e-9):
    p = min(max(p, eps), 1 - eps)
    return -(score * math.log(p) + (1 - score) * math.log(1 - p))


def loss(initial, k_new, k_old, advantage, matches, decay=0.01, scale=400.0):
    ratings = dict(initial)
    games = {}
    last_day = 0
    total = 0.0
    for match in sorted(matches, key=lambda m: m.day):
        if match.score not in (0.0, 0.5, 1.0):
            raise ValueError(f"impossible score {match.score} on day {match.day}")
        if match.day > last_day:
            mean = sum(ratings.values()) / len(ratings)
            for player in ratings:
                ratings[player] += decay * (match.day - last_day) * (mean - ratings[player])
            last_day = match.day
        for player in (match.home, match.away):
            ratings.setdefault(player, 1500.0)
            games[player] = games.get(player, 0) + 1
        p = expected(ratings[match.home], ratings[match.away], advantage, scale)
        total += log_loss(p, match.score)
        surprise = match.score - p
        ratings[match.home] += k_factor(games[match.home], k_new, k_old) * surprise
        ratings[match.away] -= k_factor(games[match.away], k_new, k_old) * surprise
        log.debug("%s %.1f, %s %.1f", match.home, ratings[match.home], match.away, ratings[match.away])
    return total / len(matches)


WRT = ("initial", "k_new", "k_old", "advantage")


def arguments():
    matches = [
        Match("red", "blue", 1.0, 1),
        Match("green", "red", 0.5, 2),
        Match("blue", "green", 0.0, 2),
        Match("blue", "white", 1.0, 4),
        Match("white", "red", 0.0, 3),
        Match("red", "green", 1.0, 5),
        Match("green", "blue", 0.5, 6),
        Match("red", "blue", 0.0, 7),
    ]
    return {"red": 1550.0, "blue": 1490.0, "green": 1505.0}, 40.0, 20.0, 60.0, matches
