"""The example at the head of the page, which holds something of each class but the last."""

from __future__ import annotations

import math


def loss(x, n):
    options = {"power": 2, "name": "loss"}
    if "power" in options and isinstance(n, int):
        x = x ** options["power"]
    total = 0.0
    for k in range(n):
        total += math.sin(k * x)
    print(options["name"], total)
    return total
