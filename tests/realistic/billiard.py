"""Games: billiard balls with friction, cushions and elastic collisions; aim the cue ball at a target."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Table:
    width: float = 2.0
    height: float = 1.0
    friction: float = 0.3
    restitution: float = 0.9


class Ball:
    radius = 0.06

    def __init__(self, position, velocity=None, name=""):
        self.position = np.array(position, dtype=float)
        self.velocity = np.zeros(2) if velocity is None else np.array(velocity, dtype=float)
        self.name = name

    def move(self, dt, table):
        self.position += dt * self.velocity
        self.velocity *= 1 - table.friction * dt
        for axis, size in enumerate((table.width, table.height)):
            if self.position[axis] < self.radius:
                self.position[axis] = 2 * self.radius - self.position[axis]
                self.velocity[axis] = -table.restitution * self.velocity[axis]
            elif self.position[axis] > size - self.radius:
                self.position[axis] = 2 * (size - self.radius) - self.position[axis]
                self.velocity[axis] *= -table.restitution


def collide(a, b):
    """Exchange the velocities along the line of centres; True if the balls touched."""
    d = b.position - a.position
    distance = np.sqrt(d @ d)
    if distance >= a.radius + b.radius:
        return False
    normal = d / distance
    approach = (a.velocity - b.velocity) @ normal
    if approach <= 0:
        return False
    a.velocity -= approach * normal
    b.velocity += approach * normal
    return True


def loss(angle, speed, layout, target, table=Table(), steps=80, dt=0.02):
    if speed <= 0:
        raise ValueError(f"the cue ball must move, speed = {speed}")
    direction = np.array([np.cos(angle), np.sin(angle)])
    balls = [Ball(layout[0], speed * direction, name="cue")]
    balls += [Ball(p, name=f"ball {i}") for i, p in enumerate(layout[1:], start=1)]
    hits = []
    for step in range(steps):
        for ball in balls:
            ball.move(dt, table)
        for i, a in enumerate(balls):
            for b in balls[i + 1 :]:
                if collide(a, b):
                    hits.append((step, a.name, b.name))
    if not hits:
        print("nothing was hit")
    miss = balls[1].position - target
    return float(miss @ miss) + 0.01 * speed**2


WRT = ("angle", "speed", "layout", "target")


def arguments():
    layout = np.array([[0.3, 0.5], [1.0, 0.62], [1.4, 0.3]])
    return 0.2, 2.5, layout, np.array([1.9, 0.9])
