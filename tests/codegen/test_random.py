"""Emitted text of random functions equals the interpreter's results to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symgrad.codegen.header import Header
from symgrad.codegen.python import emit
from symgrad.ir.core import Func, clone
from symgrad.ir.verify import verify
from symgrad.passes.memory.buffer_reuse import buffer_reuse
from symgrad.runtime.load import load
from tests.codegen.random_functions import random_function
from tests.interpreter import duplicate, oracle, same


@pytest.mark.parametrize("lower", [clone, buffer_reuse], ids=["plain", "reuse"])
@pytest.mark.parametrize("seed", range(75))
def test_emitted_text_equals_the_interpreter(seed: int, lower: Callable[[Func], Func]) -> None:
    func = random_function(seed, 10)
    lowered = lower(clone(func))
    verify(lowered)
    emitted = emit(lowered, Header("f", "x, y, a, n"))
    function = load(emitted.text, "f", emitted.namespace)
    rng = np.random.default_rng(seed)
    for n in (0, 1, 3):
        args = [rng.normal(size=4), rng.normal(size=4), float(rng.normal()), n]
        expected = oracle(func, args)
        results = function(*[duplicate(a) for a in args])
        actual = list(results) if isinstance(results, tuple) else [results]

        assert all(map(same, expected, actual)), emitted.text


def test_two_runs_print_the_same_text() -> None:
    texts = {emit(random_function(5, 12), Header("f", "x, y, a, n")).text for _ in range(3)}

    assert len(texts) == 1
