"""Robotics: innovation likelihood of an extended Kalman filter for a unicycle robot that sees landmarks."""

import logging
from dataclasses import dataclass

import numpy as np

logger = logging.getLogger("ekf")


@dataclass
class State:
    mean: np.ndarray
    cov: np.ndarray
    steps: int = 0


def wrap(angle):
    while angle > np.pi:
        angle -= 2 * np.pi
    while angle < -np.pi:
        angle += 2 * np.pi
    return angle


def predict(state, control, process_noise, dt):
    v, omega = control
    x, y, heading = state.mean
    mean = np.array([x + v * dt * np.cos(heading), y + v * dt * np.sin(heading), wrap(heading + omega * dt)])
    F = np.eye(3)
    F[0, 2] = -v * dt * np.sin(heading)
    F[1, 2] = v * dt * np.cos(heading)
    cov = F @ state.cov @ F.T + process_noise * dt
    return State(mean, cov, state.steps + 1)


def update(state, landmark, measurement, noise):
    """One range and bearing measurement; returns the new state and the negative log-likelihood."""
    dx, dy = landmark - state.mean[:2]
    q = dx**2 + dy**2
    r = np.sqrt(q)
    expected = np.array([r, np.arctan2(dy, dx) - state.mean[2]])
    H = np.array([[-dx / r, -dy / r, 0.0], [dy / q, -dx / q, -1.0]])
    innovation = measurement - expected
    innovation[1] = wrap(innovation[1])
    S = H @ state.cov @ H.T + noise
    K = state.cov @ H.T @ np.linalg.inv(S)
    state.mean = state.mean + K @ innovation
    state.cov = (np.eye(3) - K @ H) @ state.cov
    nll = 0.5 * innovation @ np.linalg.solve(S, innovation) + 0.5 * np.log(np.linalg.det(S))
    return state, nll


def loss(log_process, log_measure, initial, controls, landmarks, measurements, dt=0.1):
    if len(controls) != len(measurements):
        raise ValueError(f"{len(controls)} controls, {len(measurements)} measurements")
    Q = np.diag(np.exp(log_process))
    R = np.diag(np.exp(log_measure))
    state = State(initial, 0.01 * np.eye(3))
    total = 0.0
    for t, (control, seen) in enumerate(zip(controls, measurements)):
        state = predict(state, control, Q, dt)
        for index, distance, bearing in seen:
            state, nll = update(state, landmarks[index], np.array([distance, bearing]), R)
            total += nll
        logger.debug("step %d position %s", t, state.mean[:2])
    return total / max(1, state.steps)


WRT = ("log_process", "log_measure", "initial")


def arguments():
    rng = np.random.default_rng(8)
    landmarks = {"door": np.array([2.0, 1.0]), "desk": np.array([-1.0, 3.0]), "lamp": np.array([1.5, -2.0])}
    controls = [(1.0, 0.3 * np.sin(0.4 * t)) for t in range(8)]
    names = list(landmarks)
    pose, measurements = np.array([0.0, 0.0, 0.2]), []
    for v, omega in controls:
        pose = pose + 0.1 * np.array([v * np.cos(pose[2]), v * np.sin(pose[2]), omega])
        seen = []
        for name in names[: rng.integers(1, 4)]:
            d = landmarks[name] - pose[:2]
            seen.append((name, float(np.hypot(*d) + 0.05 * rng.normal()), float(np.arctan2(d[1], d[0]) - pose[2] + 0.02 * rng.normal())))
        measurements.append(seen)
    return np.log([0.01, 0.01, 0.02]), np.log([0.003, 0.001]), np.array([0.02, -0.01, 0.15]), controls, landmarks, measurements
