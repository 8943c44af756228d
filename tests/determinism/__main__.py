"""One process of the comparison: ``python -m tests.determinism SEED COUNT`` prints what is emitted for programs, as JSON.

The seed decides what must not matter: which objects lie where in memory, when the collector runs, what is imported first, in
which order the programs are taken, and in which order sets of symgrad's own objects are gone through.
"""

from __future__ import annotations

import gc
import importlib
import json
import pkgutil
import sys
from collections.abc import Callable
from random import Random
from typing import Any

#: modules of which one is imported first
FIRST = (
    "numpy",
    "json",
    "symgrad",
    "symgrad.pipeline.lowering",
    "symgrad.pipeline.derivation",
    "symgrad.ops.composed.solving",
    "numpy.linalg",
)


def litter(random: Random, held: list[Any]) -> None:
    """Allocate objects of all sizes and free some of them, so that what is made next lies elsewhere."""
    makers: list[Callable[[], Any]] = [
        object, dict, lambda: [0] * random.randrange(40), lambda: "x" * random.randrange(90), lambda: (random.random(),) * random.randrange(30),
        lambda: {random.random() for _ in range(random.randrange(20))},
    ]  # fmt: skip
    held += [random.choice(makers)() for _ in range(random.randrange(2000))]
    random.shuffle(held)
    del held[::2]


def collect_otherwise(random: Random) -> None:
    """Run the collector never, often, or as usual."""
    match random.randrange(3):
        case 0:
            gc.disable()
        case 1:
            gc.set_threshold(random.randrange(20, 200), 3, 3)


def scatter_sets(random: Random) -> None:
    """Give the objects that are compared by identity other hashes, which puts them into sets in another order."""
    import symgrad

    salt = random.getrandbits(60) | 1

    def scattered(self: object) -> int:
        mixed = id(self) * salt & (1 << 61) - 1
        return mixed ^ mixed >> 29

    for module in list(pkgutil.walk_packages(symgrad.__path__, "symgrad.")):
        if module.name.split(".")[1] not in ("__main__", "runtime"):
            for value in list(vars(importlib.import_module(module.name)).values()):
                if isinstance(value, type) and value.__module__.startswith("symgrad") and value.__hash__ is object.__hash__:
                    value.__hash__ = scattered  # type: ignore[method-assign]


def emitted(function: Callable[..., Any], wrt: Any, arguments: Callable[[], tuple[Any, ...]]) -> list[str]:
    """The texts of a gradient as it is read, as it runs, and as a kernel; or why there is none."""
    import symgrad

    derived, compiled = (symgrad.grad(function, wrt=wrt, jit=jit) for jit in (False, "auto"))
    return [text_of(derived, arguments, "read"), text_of(derived, arguments, "speed"), text_of(compiled, arguments, "speed")]


def text_of(derived: Any, arguments: Callable[[], tuple[Any, ...]], optimize: str) -> str:
    """The text of a derivative, or what is said where there is none."""
    import symgrad

    try:
        return str(derived.source(*arguments(), optimize=optimize))
    except symgrad.SymgradError as refusal:
        return f"{type(refusal).__name__}: {refusal}"


Chosen = tuple[Callable[..., Any], Any, Callable[[], tuple[Any, ...]]]


def programs() -> dict[str, Chosen]:
    """Those of this folder, a few of the corpus, those with expected texts, and the rest of the corpus, in strides."""
    from tests.determinism.programs import CASES
    from tests.golden.programs import GOLDEN
    from tests.programs import PROGRAMS

    own = {f"determinism-{c.function.__name__}": (c.function, c.wrt, c.arguments) for c in CASES}
    golden = {f"golden-{g.name}": (g.function, g.wrt, g.arguments) for g in GOLDEN}
    strided = [program for start in range(8) for program in PROGRAMS[start::8]]
    corpus: dict[str, Chosen] = {p.name: (p.function, p.wrt, lambda p=p: p.arguments(p.sizes[0])) for p in strided}  # type: ignore[misc]
    few = dict(list(corpus.items())[: 25 - len(own)])
    return {**own, **few, **golden, **corpus}


def main(seed: int, count: int) -> None:
    """Emit the first ``count`` programs under the perturbations of a seed."""
    random, held = Random(seed), []
    litter(random, held)
    importlib.import_module(random.choice(FIRST))
    litter(random, held)
    scatter_sets(random)
    collect_otherwise(random)
    chosen = list(programs().items())[:count]
    random.shuffle(chosen)
    texts = {}
    for name, program in chosen:
        litter(random, held)
        texts[name] = emitted(*program)
    json.dump(texts, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
