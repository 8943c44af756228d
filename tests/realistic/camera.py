"""Vision: reprojection error of a pinhole camera with radial and tangential distortion."""

import math
from typing import NamedTuple

import numpy as np


class Intrinsics(NamedTuple):
    fx: float
    fy: float
    cx: float
    cy: float


def rotation_matrix(rvec):
    """Rodrigues' formula."""
    angle = np.linalg.norm(rvec)
    if angle < 1e-9:
        return np.eye(3)
    kx, ky, kz = rvec / angle
    K = np.array([[0, -kz, ky], [kz, 0, -kx], [-ky, kx, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * (K @ K)


def distort(x, y, coefficients):
    k1, k2, p1, p2, k3 = coefficients
    r2 = x * x + y * y
    radial = 1 + k1 * r2 + k2 * r2**2 + k3 * r2**3
    xd = x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x)
    yd = y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
    return xd, yd


def huber(r, delta):
    a = abs(r)
    return 0.5 * r * r if a <= delta else delta * (a - 0.5 * delta)


def loss(rvec, tvec, intrinsics, distortion, points, pixels, delta=2.0):
    points = np.asarray(points)
    if points.shape[1] != 3 or pixels.shape[1] != 2:
        raise ValueError(f"need (n, 3) points and (n, 2) pixels, got {points.shape} and {pixels.shape}")
    if len(points) != len(pixels):
        raise ValueError(f"{len(points)} points but {len(pixels)} pixels")

    R = rotation_matrix(rvec)
    total = 0.0
    visible = 0
    for point, (u, v) in zip(points, pixels):
        X, Y, Z = R @ point + tvec
        if Z <= 0.1:
            continue  # behind the camera
        xd, yd = distort(X / Z, Y / Z, distortion)
        du = intrinsics.fx * xd + intrinsics.cx - u
        dv = intrinsics.fy * yd + intrinsics.cy - v
        total += huber(du, delta) + huber(dv, delta)
        visible += 1
    assert visible > 0, "no point is visible"
    return total / visible


WRT = ("rvec", "tvec", "intrinsics", "distortion")


def arguments():
    rng = np.random.default_rng(11)
    points = rng.uniform(-1, 1, (12, 3))
    points[3, 2] = -9.0
    pixels = 320 + 150 * points[:, :2] / (points[:, 2:] + 4) + rng.normal(0, 3, (12, 2))
    rvec = np.array([0.1, -0.2, 0.05])
    tvec = np.array([0.05, -0.1, 4.0])
    return rvec, tvec, Intrinsics(500.0, 505.0, 320.0, 318.0), np.array([-0.2, 0.05, 1e-3, -5e-4, 0.01]), points, pixels
