"""Games: a projectile with drag and wind that varies with height; where does it land?"""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Environment:
    gravity: float = 9.81
    air_density: float = 1.2
    wind_heights: list = field(default_factory=lambda: [0.0, 20.0, 60.0])
    wind_speeds: list = field(default_factory=lambda: [0.5, 2.0, 4.0])


@dataclass
class Shell:
    mass: float = 1.0
    area: float = 0.01
    drag_coefficient: float = 0.47


def wind_at(height, env):
    h, w = env.wind_heights, env.wind_speeds
    if height <= h[0]:
        return w[0]
    for i in range(1, len(h)):
        if height < h[i]:
            f = (height - h[i - 1]) / (h[i] - h[i - 1])
            return (1 - f) * w[i - 1] + f * w[i]
    return w[-1]


def acceleration(position, velocity, shell, env):
    relative = velocity - np.array([wind_at(position[1], env), 0.0])
    speed = np.linalg.norm(relative)
    density = env.air_density * math.exp(-max(position[1], 0.0) / 8500.0)
    drag = -0.5 * density * shell.drag_coefficient * shell.area * speed * relative / shell.mass
    return drag - np.array([0.0, env.gravity])


def fly(velocity, shell, env, dt, t_max=60.0):
    """Flies until the ground is reached; the landing point is interpolated."""
    position = np.array([0.0, 1.5])
    t = 0.0
    history = [position.copy()]
    while position[1] > 0:
        middle = velocity + 0.5 * dt * acceleration(position, velocity, shell, env)
        previous = position
        position = position + dt * middle
        velocity = velocity + dt * acceleration(0.5 * (position + previous), middle, shell, env)
        history.append(position.copy())
        t += dt
        if t > t_max:
            raise RuntimeError(f"still flying after {t_max} s at height {position[1]:.1f}")
    f = previous[1] / (previous[1] - position[1])
    return previous[0] + f * (position[0] - previous[0]), max(p[1] for p in history)


def loss(speed, angle, target, shell=None, env=None, dt=0.05, ceiling=20.0):
    shell = shell or Shell()
    env = env or Environment()
    velocity = speed * np.array([math.cos(angle), math.sin(angle)])
    landing, top = fly(velocity, shell, env, dt)
    cost = (landing - target) ** 2
    if top > ceiling:
        cost += 10.0 * (top - ceiling) ** 2
    return cost


WRT = ("speed", "angle", "target", "shell")


def arguments():
    return 30.0, 0.75, 70.0, Shell(mass=1.3)
