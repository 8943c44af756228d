"""The pose of a hand from points on its skin, by Jacobians in forward mode and by colouring: GradBench's ``ht``, simple and complicated.

The skin follows 16 bones by linear blend skinning; from Taylor et al., "User-Specific Hand Modeling from Monocular Depth Sequences" (2014).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import spsolve

import symgrad

FINGERS, ANGLES = 5, 26  #: three angles and three coordinates of the wrist, four angles of each finger


def about(axis: int, angle: float) -> np.ndarray:
    """The rotation about a coordinate axis."""
    turn, (i, j) = np.eye(3), [k for k in range(3) if k != axis]
    turn[i, i] = turn[j, j] = np.cos(angle)
    turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
    return turn


def skin(pose: np.ndarray, joints: np.ndarray, rest: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The vertices of a hand in a pose; each bone has a weight for each vertex."""
    wrist = about(0, pose[0]) @ about(1, pose[1]) @ about(2, pose[2])
    vertices = weights[0][:, None] * ((rest - joints[0]) @ wrist.T + pose[3:6])
    for finger in range(FINGERS):
        turn, origin, parent = wrist, pose[3:6], 0
        for k, bone in enumerate(range(1 + 3 * finger, 4 + 3 * finger)):
            origin = origin + turn @ (joints[bone] - joints[parent])
            turn = turn @ about(0, pose[6 + 4 * finger + k]) @ about(2, pose[9 + 4 * finger] if k == 0 else 0.0)
            vertices = vertices + weights[bone][:, None] * ((rest - joints[bone]) @ turn.T + origin)
            parent = bone
    return vertices


def simple(pose: np.ndarray, hand: tuple[np.ndarray, ...], nearest: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The differences between points and their vertices."""
    return (skin(pose, *hand)[nearest] - points).ravel()


def complicated(pose: np.ndarray, at: np.ndarray, hand: tuple[np.ndarray, ...], triangles: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The differences between points and places in triangles of the skin; each place has two coordinates in its triangle."""
    corners, first, second = skin(pose, *hand)[triangles], at[:, 0, None], at[:, 1, None]
    return (first * corners[:, 0] + second * corners[:, 1] + (1.0 - first - second) * corners[:, 2] - points).ravel()


def scene(seed: int = 0, count: int = 200) -> tuple[tuple[np.ndarray, ...], np.ndarray, np.ndarray]:
    """A hand (joints, vertices at rest, weights), triangles of neighbouring vertices, and a pose."""
    rng = np.random.default_rng(seed)
    along = np.array([[0.0, 1.0 + 0.5 * k, 0.0] for k in range(3)])
    joints = np.vstack([np.zeros(3), *(along + [finger - 2.0, 0.0, 0.0] for finger in range(FINGERS))])
    of_bone = rng.integers(0, len(joints), count)
    rest = joints[of_bone] + rng.normal(0.0, 0.2, (count, 3)) + [0.0, 0.2, 0.0]
    near, order = np.exp(-4.0 * np.sum((joints[:, None] - rest) ** 2, axis=2)), np.sum((rest[:, None] - rest) ** 2, axis=2).argsort(axis=1)
    return (joints, rest, near / near.sum(axis=0)), order[:, :3], rng.normal(0.0, 0.2, ANGLES)


def main() -> None:
    hand, triangles, truth = scene()
    seen, pose, of_pose = skin(truth, *hand), np.zeros(ANGLES), symgrad.jacfwd(simple)
    for _ in range(8):
        pose = pose - np.linalg.lstsq(of_pose(pose, hand, triangles[:, 0], seen), simple(pose, hand, triangles[:, 0], seen))[0]
    print(f"simple: the pose is {np.abs(pose - truth).max():.1e} off")

    points = np.einsum("pk,pkc->pc", np.random.default_rng(1).dirichlet(np.ones(3), len(triangles)), seen[triangles])
    of_both, unknowns = symgrad.jacobian(complicated, (0, 1), sparsity="auto"), [pose + 0.02, np.full((len(triangles), 2), 1 / 3)]
    for _ in range(12):
        matrix = scipy.sparse.hstack(of_both(*unknowns, hand, triangles, points)).tocsc()
        normal = matrix.T @ matrix + 1e-9 * scipy.sparse.eye_array(matrix.shape[1])
        step = spsolve(normal.tocsc(), matrix.T @ complicated(*unknowns, hand, triangles, points))
        unknowns = [unknowns[0] - step[:ANGLES], unknowns[1] - step[ANGLES:].reshape(-1, 2)]
    print(f"complicated: {np.abs(unknowns[0] - truth).max():.1e} off, in {of_both.plan(*unknowns, hand, triangles, points).sweeps} sweeps")


if __name__ == "__main__":
    main()
