"""``python -m tests.realistic.run [programs]``: what becomes of programs whose authors know nothing of symgrad, in a table.

Each program is differentiated in two fresh processes without kept kernels, one with NumPy code and one with ``jit=True``.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "run"))
WORK = "--work"  #: the inner process
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
#: relative difference between a gradient and differences that counts as right
TOLERANCE = 1e-5
LIMIT = 300.0  #: seconds that a process may take


def disagreement(function: Any, names: Sequence[str], arguments: tuple[Any, ...], gradients: Any) -> float:
    """The largest relative difference of the gradient and differences, along random directions and along each argument alone."""
    import inspect

    import numpy as np

    sys.path.insert(0, str(FOLDER.parent))
    from differences import derivative, direction_for, inner, moved

    positions = [list(inspect.signature(function).parameters).index(name) for name in names]

    def value(chosen: tuple[Any, ...]) -> float:
        everything = list(arguments)
        for position, part in zip(positions, chosen, strict=True):
            everything[position] = part
        with contextlib.redirect_stdout(io.StringIO()):
            return float(function(*everything))

    chosen = tuple(arguments[position] for position in positions)
    generator = np.random.default_rng(0)
    directions = [direction_for(chosen, generator) for _ in range(3)]
    drawn = direction_for(chosen, generator)
    none = moved(drawn, drawn, -1.0)
    directions += [(*none[:k], drawn[k], *none[k + 1 :]) for k in range(len(chosen))]
    worst = 0.0
    for direction in directions:
        expected = min(
            (derivative(value, chosen, direction, step) for step in (1e-4, 1e-5)), key=lambda d: abs(d - inner(gradients, direction))
        )
        worst = max(worst, abs(inner(gradients, direction) - float(expected)) / max(1e-2, abs(float(expected))))
    return worst


def work(name: str, jit: bool) -> dict[str, Any]:
    """What becomes of one program on one target, in this process."""
    import symgrad
    from symgrad.errors import Mismatch, NotCompiled, SymgradError

    module = importlib.import_module(f"{__package__}.{name}")
    result: dict[str, Any] = {"verdict": "right", "message": "", "notice": "", "seconds": 0.0, "lines": 0}
    derived = symgrad.value_and_grad(module.loss, wrt=module.WRT, jit=jit)
    arguments = module.arguments()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        started = time.perf_counter()
        try:
            value, gradients = derived(*arguments)
            result["seconds"] = time.perf_counter() - started
            for _ in range(3):  # a kernel that gives up in two calls in a row says so
                again, _ = derived(*module.arguments())
        except Mismatch as error:
            result |= {"verdict": "wrong", "message": str(error)}
        except SymgradError as error:
            result |= {"verdict": "refused", "message": f"{type(error).__name__}: {error}"}
        except Exception:
            result |= {"verdict": "crash", "message": traceback.format_exc()}
        else:
            result["lines"] = len(derived.source(*module.arguments()).splitlines())
            off = disagreement(module.loss, module.WRT, module.arguments(), gradients)
            plain = module.loss(*module.arguments())
            if not (off < TOLERANCE and abs(value - plain) <= 1e-10 * max(1.0, abs(plain)) and again == value):
                result |= {"verdict": "wrong", "message": f"gradient off by {off:.1e}, value {value} for {plain}, later {again}"}
    result["seconds"] = result["seconds"] or time.perf_counter() - started
    result["notice"] = "\n".join(str(w.message) for w in caught if isinstance(w.message, NotCompiled))
    result["other"] = "\n".join(str(w.message) for w in caught if not isinstance(w.message, NotCompiled))
    return result


def apart(name: str, jit: bool) -> dict[str, Any]:
    """What becomes of one program on one target, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        # kernels are compiled anew, so that the time of a first call is that of a first call
        place = {**os.environ, **THREADS, "SYMGRAD_CACHE_DIR": str(Path(folder) / "cache")}
        command = [sys.executable, "-m", f"{__package__}.run", WORK, str(path), name, *(["jit"] if jit else [])]
        try:
            ran = subprocess.run(command, env=place, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return {"verdict": "crash", "message": f"more than {LIMIT:.0f} s", "notice": "", "seconds": LIMIT, "lines": 0, "other": ""}
        if not path.exists():
            return {"verdict": "crash", "message": ran.stderr[-2000:], "notice": "", "seconds": 0.0, "lines": 0, "other": ""}
        result: dict[str, Any] = json.loads(path.read_text())
        return result


def compiled(result: dict[str, Any]) -> str:
    """Did numba compile it?"""
    return "-" if result["verdict"] not in ("right", "wrong") else "no" if result["notice"] else "yes"


def main(argv: Sequence[str]) -> int:
    """Measure the programs named, or all; ends with 1 if one is wrong or crashes."""
    if argv[:1] == [WORK]:
        Path(argv[1]).write_text(json.dumps(work(argv[2], "jit" in argv[3:])))
        return 0
    unknown = {*argv} - {*NAMES}
    if unknown:
        print(f"not known: {', '.join(sorted(unknown))}\nprograms: {', '.join(NAMES)}")
        return 2
    print(f"{'program':22} {'NumPy':8} {'s':>6} {'lines':>5}   {'jit':8} {'s':>6} compiled")
    texts, results = [], []
    for name in argv or NAMES:
        plain, jit = apart(name, False), apart(name, True)
        results += [plain, jit]
        print(f"{name:22} {plain['verdict']:8} {plain['seconds']:6.1f} {plain['lines']:5}   ", end="")
        print(f"{jit['verdict']:8} {jit['seconds']:6.1f} {compiled(jit)}", flush=True)
        both = dict.fromkeys([plain["message"], jit["message"], jit["notice"], plain["other"], jit["other"]])
        texts += [f"{name}: {text}" for text in both if text]
    print("\n" + "\n\n".join(texts))
    count = sum(result["verdict"] == "right" for result in results[::2])
    kernels = sum(compiled(result) == "yes" and result["verdict"] == "right" for result in results[1::2])
    print(f"\n{count} of {len(results) // 2} right on NumPy, {kernels} right as kernels")
    return int(any(result["verdict"] in ("wrong", "crash") for result in results))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
