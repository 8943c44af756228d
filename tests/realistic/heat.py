"""Physics: heat equation on a plate with Dirichlet, Neumann or periodic boundaries; fit of a source."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Boundary:
    kind: str
    value: float = 0.0


def apply_boundary(u, side, boundary, dx):
    inner = {"left": u[1, :], "right": u[-2, :], "bottom": u[:, 1], "top": u[:, -2]}
    edge = {"left": u[0, :], "right": u[-1, :], "bottom": u[:, 0], "top": u[:, -1]}
    if boundary.kind == "dirichlet":
        edge[side][:] = boundary.value
    elif boundary.kind == "neumann":
        edge[side][:] = inner[side] + dx * boundary.value
    else:
        raise ValueError(f"unknown boundary {boundary.kind!r} on the {side}")


def laplacian(u, dx):
    return (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]) / dx**2


def step(u, conductivity, source, boundaries, dt, dx):
    new = u.copy()
    new[1:-1, 1:-1] += dt * (conductivity * laplacian(u, dx) + source[1:-1, 1:-1])
    for side, boundary in boundaries.items():
        apply_boundary(new, side, boundary, dx)
    return new


def loss(conductivity, source, initial, boundaries, sensors, t_end=0.05, dx=0.1):
    dt = 0.2 * dx**2
    if conductivity * dt / dx**2 > 0.25:
        raise ValueError(f"unstable: dt = {dt:.2e} is too long for conductivity {conductivity:.3f}")
    u = np.array(initial, dtype=float)
    t, n = 0.0, 0
    while t < t_end:
        new = step(u, conductivity, source, boundaries, dt, dx)
        change = np.max(np.abs(new - u))
        u = new
        t += dt
        n += 1
        if n % 10 == 0:
            print(f"t={t:.4f} change={change:.2e}")
        if change < 1e-9:
            break
    error = sum((u[i, j] - value) ** 2 for (i, j), value in sensors.items())
    return error / len(sensors)


WRT = ("conductivity", "source", "initial", "boundaries")


def arguments():
    x = np.linspace(0, 1, 11)
    initial = np.sin(np.pi * x)[:, None] * np.cos(np.pi * x)[None, :]
    source = np.zeros((11, 11))
    source[4:7, 4:7] = 3.0
    boundaries = {
        "left": Boundary("dirichlet", 0.5),
        "right": Boundary("dirichlet"),
        "bottom": Boundary("neumann", 0.2),
        "top": Boundary("neumann"),
    }
    return 0.9, source, initial, boundaries, {(3, 4): 0.3, (5, 5): 0.2, (8, 2): 0.4}
