"""Physics: orbits of bodies, each an object; how close does a probe come to its target?"""

import numpy as np

G = 1.0


class Body:
    def __init__(self, name, mass, position, velocity):
        if mass < 0:
            raise ValueError(f"{name} has negative mass {mass}")
        self.name = name
        self.mass = mass
        self.position = np.asarray(position, dtype=float)
        self.velocity = np.asarray(velocity, dtype=float)
        self.force = np.zeros(2)

    def attract(self, other, softening=0.01):
        d = other.position - self.position
        r2 = d @ d + softening**2
        pull = G * self.mass * other.mass * d / r2**1.5
        self.force = self.force + pull
        other.force = other.force - pull

    def kinetic(self):
        return 0.5 * self.mass * np.sum(self.velocity**2)

    def __repr__(self):
        return f"<{self.name} at {self.position}>"


class System:
    def __init__(self, bodies):
        self.bodies = list(bodies)
        self.time = 0.0

    def __getitem__(self, name):
        for body in self.bodies:
            if body.name == name:
                return body
        raise KeyError(name)

    def forces(self):
        for body in self.bodies:
            body.force = np.zeros(2)
        for i, a in enumerate(self.bodies):
            for b in self.bodies[i + 1 :]:
                a.attract(b)

    def step(self, dt):
        """Leapfrog: kick, drift, kick."""
        self.forces()
        for body in self.bodies:
            body.velocity = body.velocity + 0.5 * dt * body.force / body.mass
            body.position = body.position + dt * body.velocity
        self.forces()
        for body in self.bodies:
            body.velocity = body.velocity + 0.5 * dt * body.force / body.mass
        self.time += dt


def loss(launch, sun_mass, planet_position, dt=0.02, t_end=1.2, fuel_weight=0.05):
    sun = Body("sun", sun_mass, [0.0, 0.0], [0.0, 0.0])
    speed = np.sqrt(G * sun_mass / np.linalg.norm(planet_position))
    planet = Body("planet", 0.02, planet_position, [0.0, speed])
    probe = Body("probe", 1e-4, [1.0, 0.1], launch)
    system = System([sun, planet, probe])
    closest = np.inf
    while system.time < t_end:
        system.step(dt)
        gap = np.linalg.norm(system["probe"].position - system["planet"].position)
        closest = min(closest, gap)
    energy = sum(body.kinetic() for body in system.bodies)
    return closest + fuel_weight * np.dot(launch, launch) + 1e-3 * energy


WRT = ("launch", "sun_mass", "planet_position")


def arguments():
    return np.array([0.6, 1.1]), 1.0, np.array([1.6, 0.0])
