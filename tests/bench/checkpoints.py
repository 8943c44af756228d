"""``python -m tests.bench.checkpoints [NAME ...]``: time and memory of loops that run again, beside the form that saves every round.

Each line is measured in a process of its own, whose largest resident size tells the memory of kernels too; what it held before the call is
left out. Beside JAX where it is installed: a scan in segments, each of which runs again (``jax.checkpoint``).
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad

ROUNDS, SIZE, SNAPSHOTS = 10_000, 10_000, 600


def recurrence(h, x, rounds):
    for t in range(rounds):
        h = np.tanh(h + 0.1 * x * h)
    return np.sum(h * h)


def diffusion(h, x, rounds):
    for t in range(rounds):
        h = h + 0.1 * x * (np.roll(h, 1) - h)
        h = h - 0.01 * h * h
    return np.sum(h * h)


def in_place(h, x, rounds):
    h = h.copy()
    for t in range(rounds):
        h[1:-1] = h[1:-1] + 0.1 * x[1:-1] * np.sin(h[:-2])
        h[1:-1] *= 0.9
    return np.sum(h * h)


FUNCTIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (recurrence, diffusion, in_place)}
#: of ``symgrad.grad``, by the name in the table
FORMS: dict[str, dict[str, Any]] = {"saving": {}, "again": {"checkpoints": {"t": SNAPSHOTS}}, "50 MB": {"memory": "50 MB"}}


def arguments() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.random(SIZE), random.random(SIZE)


def resident() -> int:
    """The largest resident size of this process so far, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(name: str, form: str, jit: bool) -> dict[str, float]:
    """Seconds and bytes of one call, and a number that tells the gradients."""
    h, x = arguments()
    gradient = symgrad.grad(FUNCTIONS[name], wrt=("h", "x"), jit=jit, verify=False, **FORMS[form])
    gradient(h, x, 3)
    before, start = resident(), time.perf_counter()
    results = gradient(h, x, ROUNDS)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "bytes": resident() - before, "digest": hash(tuple(g.tobytes() for g in results))}


def measured_by_jax() -> dict[str, float]:
    """The recurrence by JAX, in segments of 100 rounds that run again."""
    import jax

    jax.config.update("jax_enable_x64", True)
    h, x = map(jax.numpy.asarray, arguments())

    def loss(h: Any, x: Any) -> Any:
        def step(h: Any, _: Any) -> Any:
            return jax.numpy.tanh(h + 0.1 * x * h), None

        segment = jax.checkpoint(lambda h, _: jax.lax.scan(step, h, None, length=100))
        return jax.numpy.sum(jax.lax.scan(segment, h, None, length=ROUNDS // 100)[0] ** 2)

    gradient = jax.jit(jax.grad(loss, argnums=(0, 1))).lower(h, x).compile()
    before, start = resident(), time.perf_counter()
    jax.block_until_ready(gradient(h, x))
    return {"seconds": time.perf_counter() - start, "bytes": resident() - before, "digest": 0}


def in_process(*words: str) -> dict[str, float]:
    """One measurement in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.checkpoints", "--measure", *words]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    result: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return result


def main(names: list[str]) -> None:
    """Print the table."""
    print(f"{ROUNDS:,} rounds over {SIZE:,} numbers, {SNAPSHOTS} snapshots")
    print(f"{'loop':12}{'target':>8}{'form':>8}{'seconds':>10}{'times':>8}{'MB':>8}  the same gradients")
    for name in FUNCTIONS:
        for target in ("numpy", "numba") if not names or name in names else ():
            saving = in_process(name, "saving", target)
            for form in FORMS:
                one = saving if form == "saving" else in_process(name, form, target)
                ratio, same = one["seconds"] / saving["seconds"], one["digest"] == saving["digest"]
                print(f"{name:12}{target:>8}{form:>8}{one['seconds']:10.2f}{ratio:8.2f}{one['bytes'] / 1e6:8.0f}  {same}", flush=True)
    if importlib.util.find_spec("jax") is not None and (not names or "recurrence" in names):
        one = in_process("jax", "again", "jax")
        print(f"{'recurrence':12}{'JAX':>8}{'again':>8}{one['seconds']:10.2f}{'':8}{one['bytes'] / 1e6:8.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        _, _, word, kind, where = sys.argv
        print(json.dumps(measured_by_jax() if word == "jax" else measured(word, kind, where == "numba")))
    else:
        main(sys.argv[1:])
