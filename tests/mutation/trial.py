"""What symgrad makes of a fixed set of programs: the texts, and how each is judged by the first call, by slopes, by the tests' differences."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
#: the groups of the corpus of whose programs one is compiled by numba too; of each group one is taken, of middling length
COMPILED = ("loops", "stores", "sums", "broadcasting", "while", "views", "linear")
SECONDS = 60
#: how outcomes begin that nobody overlooks
LOUD = ("refused", "raised", "late")


def program_set() -> tuple[list[Any], list[Any]]:
    """The programs, and those for kernels."""
    sys.path.insert(0, str(HERE.parent))
    from programs import PROGRAMS

    groups: dict[str, list[Any]] = {}
    for program in PROGRAMS:
        groups.setdefault(program.group, []).append(program)
    ordered = {name: sorted(programs, key=lambda p: len(p.function.__code__.co_code)) for name, programs in groups.items()}
    picked = {name: programs[len(programs) // 2] for name, programs in ordered.items() if name not in ("draws", "long")}
    return list(picked.values()), [picked[name] for name in COMPILED]


def expected(program: Any) -> tuple[Any, list[float]]:
    """The value, and slopes in two directions by differences: of the function itself."""
    from differences import derivative, direction_for, double

    size = program.sizes[0]
    positions = program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)

    def value(chosen: Any) -> Any:
        arguments = list(double(program.arguments(size)))
        for k, argument in zip(positions, chosen, strict=True):
            arguments[k] = argument
        return program.function(*arguments)

    chosen = tuple(program.arguments(size)[k] for k in positions)
    slopes = []
    for seed in range(2):
        direction = direction_for(chosen, np.random.default_rng(seed))
        slopes.append(float(derivative(value, double(chosen), double(direction))))
    return float(program.function(*program.arguments(size))), slopes


def right(program: Any, actual: Any, reference: tuple[Any, list[float]]) -> bool:
    """What the tests of the corpus ask: value, gradient, shapes."""
    from differences import direction_for, inner, leaves

    value, gradient = actual
    positions = program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)
    gradient = gradient if isinstance(program.wrt, tuple) else (gradient,)
    chosen = tuple(program.arguments(program.sizes[0])[k] for k in positions)
    narrow = any(getattr(leaf, "dtype", None) == np.float32 for leaf in leaves(chosen))
    if abs(value - reference[0]) > (1e-4 if narrow else 1e-10) * max(1.0, abs(reference[0])):
        return False
    for part, leaf in zip(leaves(gradient), leaves(chosen), strict=True):
        if np.shape(part) != np.shape(leaf):
            return False
    for seed in range(2):
        direction = direction_for(chosen, np.random.default_rng(seed))
        slope = inner(gradient, direction)
        if not abs(slope - reference[1][seed]) <= (5e-3 if narrow else 1e-6) * max(1.0, abs(slope), abs(reference[1][seed])):
            return False
    return True


class Late(BaseException):
    """A program takes too long."""


def late(*_: Any) -> None:
    raise Late


def judged(program: Any, reference: Any, jit: bool) -> dict[str, str]:
    """One program: its text, and what the first call, the slopes and the differences say."""
    signal.alarm(SECONDS)
    try:
        return judged_in_time(program, reference, jit)
    except Late:
        return dict.fromkeys(("text", "first", "slopes", "suite"), "late")
    finally:
        signal.alarm(0)


def judged_in_time(program: Any, reference: Any, jit: bool) -> dict[str, str]:
    import symgrad
    from symgrad.errors import Mismatch

    def call(function: Any) -> tuple[str, Any]:
        try:
            return "right", function(*program.arguments(program.sizes[0]))
        except Mismatch as mismatch:
            return "slope" if isinstance(mismatch.ours, float) and "the gradient of" in mismatch.what else "mismatch", None
        except symgrad.SymgradError as error:
            return f"refused {type(error).__name__}", None
        except Exception as error:
            return f"raised {type(error).__name__}", None

    derived = symgrad.value_and_grad(program.function, wrt=program.wrt, verify="gradient", jit=jit)
    plain, compiled = call(derived.compiled)
    text = plain
    if plain == "right":
        text = derived.source(optimize="speed")
        plain, compiled_result = call(compiled)
    if plain != "right":
        return {"text": digest(text), **dict.fromkeys(("first", "slopes", "suite"), plain)}
    try:
        suite = "right" if right(program, compiled_result, reference) else "wrong"
    except Exception as error:
        suite = f"wrong {type(error).__name__}"
    first = call(derived)[0]
    return {"text": digest(text), "first": "right" if first == "slope" else first, "slopes": first, "suite": suite}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def trial(reference: dict[str, Any], jit: bool) -> dict[str, Any]:
    """All programs; those for kernels, if ``jit``: what is not compiled is as loud as what is refused."""
    from symgrad.errors import NotCompiled

    warnings.simplefilter("ignore")
    warnings.simplefilter("error", NotCompiled)
    signal.signal(signal.SIGALRM, late)
    programs, kernels = program_set()
    verdicts: dict[str, Any] = {}
    for p in kernels if jit else programs:
        verdicts[p.name] = judged(p, reference[p.name], jit)
        if sum(one["first"].startswith(LOUD) for one in verdicts.values()) == 3:
            break  # it will not be overlooked
    return verdicts


def reached(jit: bool, root: str) -> dict[str, list[int]]:
    """The functions of each module of symgrad, by their first lines, that run while the programs are compiled."""
    actual: dict[str, set[int]] = {}

    def called(frame: Any, event: str, argument: Any) -> None:
        actual.setdefault(frame.f_code.co_filename, set()).add(frame.f_code.co_firstlineno)

    import symgrad

    warnings.simplefilter("ignore")
    programs, kernels = program_set()
    sys.settrace(called)
    for p in kernels if jit else programs:
        symgrad.value_and_grad(p.function, wrt=p.wrt, verify=False, jit=jit).compiled(*p.arguments(p.sizes[0]))
    sys.settrace(None)
    return {name.removeprefix(root).lstrip("/"): sorted(lines) for name, lines in actual.items() if name.startswith(root)}


if __name__ == "__main__":
    what, jit, wanted_file, out_file = sys.argv[1], sys.argv[2] == "jit", sys.argv[3], sys.argv[4]
    if what == "expected":
        programs, _ = program_set()
        made: Any = {p.name: expected(p) for p in programs}
    else:
        wanted = json.loads(Path(wanted_file).read_text())
        import symgrad

        made = trial(wanted, jit) if what == "trial" else reached(jit, os.path.dirname(symgrad.__file__))
    Path(out_file).write_text(json.dumps(made))
