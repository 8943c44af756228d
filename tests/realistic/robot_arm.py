"""Robotics: inverse kinematics cost of an arm described by Denavit-Hartenberg parameters."""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Joint:
    a: float
    alpha: float
    d: float
    lower: float = -math.pi
    upper: float = math.pi
    name: str = "joint"

    def transform(self, theta):
        ct, st = math.cos(theta), math.sin(theta)
        ca, sa = math.cos(self.alpha), math.sin(self.alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, self.a * ct],
                [st, ct * ca, -ct * sa, self.a * st],
                [0.0, sa, ca, self.d],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )


@dataclass
class Arm:
    joints: list = field(default_factory=list)

    def add(self, *args, **kwargs):
        self.joints.append(Joint(*args, **kwargs))
        return self

    @property
    def dof(self):
        return len(self.joints)

    def frames(self, angles):
        if len(angles) != self.dof:
            raise ValueError(f"{self.dof} joints but {len(angles)} angles")
        frames = [np.eye(4)]
        for joint, angle in zip(self.joints, angles):
            frames.append(frames[-1] @ joint.transform(angle))
        return frames

    def limit_penalty(self, angles):
        penalty = 0.0
        for joint, angle in zip(self.joints, angles):
            if angle > joint.upper:
                penalty += (angle - joint.upper) ** 2
            elif angle < joint.lower:
                penalty += (joint.lower - angle) ** 2
        return penalty


def loss(angles, arm, target, orientation=None, weights=(1.0, 0.1, 10.0)):
    w_position, w_orientation, w_limit = weights
    frames = arm.frames(angles)
    tip = frames[-1]
    cost = w_position * np.sum((tip[:3, 3] - target) ** 2)
    if orientation is not None:
        cost += w_orientation * (3 - np.trace(tip[:3, :3].T @ orientation))
    cost += w_limit * arm.limit_penalty(angles)
    heights = [frame[2, 3] for frame in frames[1:]]
    if min(heights) < 0:
        cost += 5.0 * min(heights) ** 2  # the table
    return cost


WRT = ("angles", "target")


def arguments():
    arm = Arm().add(0.0, math.pi / 2, 0.3).add(0.5, 0.0, 0.0, upper=0.6).add(0.4, 0.0, 0.0).add(0.1, -math.pi / 2, 0.05, name="wrist")
    angles = np.array([0.3, 0.7, -1.2, 0.4])
    return angles, arm, np.array([0.5, 0.2, 0.4]), np.eye(3)
