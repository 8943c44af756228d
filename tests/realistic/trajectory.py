"""Robotics: cost of a waypoint trajectory among circular obstacles (CHOMP-like)."""

import math
from collections import namedtuple

import numpy as np

Obstacle = namedtuple("Obstacle", "x y radius")

WEIGHTS = {"smooth": 1.0, "obstacle": 8.0, "length": 0.1}


def signed_distance(point, obstacle):
    return math.hypot(point[0] - obstacle.x, point[1] - obstacle.y) - obstacle.radius


def hinge(distance, margin):
    """Smooth penalty: quadratic near the obstacle, linear inside, zero outside."""
    if distance < 0:
        return -distance + 0.5 * margin
    if distance <= margin:
        return (distance - margin) ** 2 / (2 * margin)
    return 0.0


def subdivide(path, pieces):
    dense = []
    for a, b in zip(path[:-1], path[1:]):
        for s in np.linspace(0, 1, pieces, endpoint=False):
            dense.append((1 - s) * a + s * b)
    dense.append(path[-1])
    return dense


def loss(waypoints, start, goal, obstacles, weights=None, margin=0.4, pieces=3):
    weights = dict(WEIGHTS, **(weights or {}))
    unknown = set(weights) - set(WEIGHTS)
    if unknown:
        raise KeyError(f"unknown weights: {sorted(unknown)}")
    if margin <= 0:
        raise ValueError(f"margin must be positive, not {margin}")
    path = np.vstack([start, waypoints, goal])

    smooth = sum(np.sum((path[i - 1] - 2 * path[i] + path[i + 1]) ** 2) for i in range(1, len(path) - 1))
    length = 0.0
    for a, b in zip(path, path[1:]):
        length += np.linalg.norm(b - a)
    collision = 0.0
    for point in subdivide(path, pieces):
        nearest = min(signed_distance(point, o) for o in obstacles)
        collision += hinge(nearest, margin)
    return weights["smooth"] * smooth + weights["length"] * length + weights["obstacle"] * collision


WRT = ("waypoints", "goal")


def arguments():
    t = np.linspace(0, 1, 8)[1:-1]
    waypoints = np.column_stack([5 * t, 0.6 * np.sin(3 * t)])
    obstacles = [Obstacle(1.5, 0.9, 0.5), Obstacle(3.0, -0.2, 0.6), Obstacle(4.0, 1.5, 0.8)]
    return waypoints, np.zeros(2), np.array([5.0, 0.3]), obstacles, {"length": 0.2}
