"""Bundle adjustment: cameras and points from pictures, by the sparse Jacobian of all reprojection errors (GradBench's "ba")."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import spsolve

import symgrad

CAMERAS, POINTS = 6, 40


def rotated(turns: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Rotate points about axes whose lengths are the angles: the formula of Rodrigues, row by row."""
    angles = np.sqrt(np.sum(turns**2, axis=1, keepdims=True))
    axes = turns / angles
    along = axes * np.sum(axes * points, axis=1, keepdims=True)
    return points * np.cos(angles) + np.cross(axes, points) * np.sin(angles) + along * (1.0 - np.cos(angles))


def projected(cameras: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Project points into cameras; a camera is its rotation (3), center (3), focal length, principal point (2), radial distortion (2)."""
    seen = rotated(cameras[:, 0:3], points - cameras[:, 3:6])
    flat = seen[:, :2] / seen[:, 2:]
    square = np.sum(flat**2, axis=1)
    distortion = 1.0 + cameras[:, 9] * square + cameras[:, 10] * square**2
    return flat * distortion[:, None] * cameras[:, 6:7] + cameras[:, 7:9]


def residuals(cameras: np.ndarray, points: np.ndarray, weights: np.ndarray, of_camera: np.ndarray, of_point: np.ndarray,
              features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The weighted reprojection error of each observation, and the deviation of its squared weight from 1."""
    errors = projected(cameras[of_camera], points[of_point]) - features
    return weights[:, None] * errors, 1.0 - weights**2


def scene(seed: int = 0) -> tuple[np.ndarray, ...]:
    """True cameras and points, and their observations: camera, point and image position."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.0, 1.0, (POINTS, 3)) + [0.0, 0.0, 6.0]
    turns, centers = rng.normal(0.0, 0.1, (CAMERAS, 3)), rng.normal(0.0, 0.5, (CAMERAS, 3))
    cameras = np.hstack([turns, centers, np.tile([500.0, 320.0, 240.0, 0.02, 0.01], (CAMERAS, 1))])
    of_camera, of_point = np.repeat(np.arange(CAMERAS), POINTS), np.tile(np.arange(POINTS), CAMERAS)
    return cameras, points, of_camera, of_point, projected(cameras[of_camera], points[of_point])


def adjusted(cameras: np.ndarray, points: np.ndarray, weights: np.ndarray, seen: tuple[np.ndarray, ...], rounds: int = 12,
             verbose: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:  # fmt: skip
    """Fit cameras, points and weights to the observations by the method of Levenberg and Marquardt; also return the sum of squares."""
    jacobian = symgrad.jacobian(residuals, wrt=("cameras", "points", "weights"), sparsity="auto")
    unknowns, damping = [cameras, points, weights], 1.0
    error = np.concatenate([part.ravel() for part in residuals(*unknowns, *seen)])
    for k in range(rounds):
        matrix = scipy.sparse.block_array(jacobian(*unknowns, *seen), format="csc")
        normal = matrix.T @ matrix
        step = spsolve((normal + damping * scipy.sparse.diags_array(normal.diagonal())).tocsc(), -matrix.T @ error)
        steps = np.split(step, np.cumsum([part.size for part in unknowns])[:-1])
        moved = [part + change.reshape(part.shape) for part, change in zip(unknowns, steps, strict=True)]
        new = np.concatenate([part.ravel() for part in residuals(*moved, *seen)])
        if new @ new < error @ error:
            unknowns, error, damping = moved, new, 0.1 * damping
        else:
            damping *= 10.0
        if verbose:
            print(f"round {k:2d}: sum of squares {error @ error:.3e}, {jacobian.plan(*unknowns, *seen).sweeps} sweeps")
    return (*unknowns, float(error @ error))


def main() -> None:
    cameras, points, *seen = scene()
    rng = np.random.default_rng(1)
    near = cameras + rng.normal(0.0, 1e-2, cameras.shape) * [1, 1, 1, 1, 1, 1, 100, 100, 100, 0.1, 0.1]
    *_, squares = adjusted(near, 1.01 * points, np.full(len(seen[0]), 0.9), tuple(seen), verbose=True)
    print(f"root mean square of the reprojection errors: {np.sqrt(squares / len(seen[0])):.2e} pixels")


if __name__ == "__main__":
    main()
