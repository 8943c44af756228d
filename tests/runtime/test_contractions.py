"""Sums of products over named axes, compared with ``np.einsum``; their gradients."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.runtime.contractions import contraction

EXTENTS = {"i": 2, "j": 3, "k": 4, "l": 2, "m": 0}


@pytest.mark.parametrize(
    "subscripts",
    ["ij,jk->ik", "ij,kj->ki", "ijk,ij->k", "ik,ijk->jk", "ijk,ijk->i", "ijkl,jl->ki", "lij,lkj->kli", "jm,mi->ij", "mj,ij->mi", "ij,ij->"],
)
def test_it_is_einsum(subscripts: str, random: np.random.Generator) -> None:
    words = subscripts.split("->")[0].split(",")
    pair = [random.standard_normal([EXTENTS[c] for c in names]) for names in words]
    laid = [*itertools.product(*[(x, np.asfortranarray(x), x[::-1][::-1].copy()[...]) for x in pair])]
    for a, b in laid:
        actual = contraction(a, b, subscripts)
        np.testing.assert_allclose(actual, np.einsum(subscripts, *pair), rtol=1e-12, atol=1e-12)


def index_of(present: tuple[bool, ...]) -> str:
    return "[" + ", ".join(":" if here else "None" for here in present) + "]"


def programs(rank: int) -> list[tuple[str, tuple[bool, ...], tuple[bool, ...], tuple[int, ...]]]:
    """Sums over some axes of a product of two arrays, each of which lacks some of the axes."""
    texts = []
    for n, places in enumerate(itertools.product(((True, True), (True, False), (False, True)), repeat=rank)):
        first, second = (tuple(pair[side] for pair in places) for side in (0, 1))
        for count, over in enumerate(over for k in range(1, rank + 1) for over in itertools.combinations(range(rank), k)):
            if any(first) and any(second):
                keeps = (n + count) % 4 == 0
                name = f"f{rank}_{n}_{count}"
                text = f"a{index_of(first)} * b{index_of(second)}"
                lines = [f"def {name}(a, b):", f"    s = np.sum({text}, axis={over}, keepdims={keeps})", "    return np.sum(np.sin(s) * s)"]
                texts.append(("\n".join(lines), first, second, over))
    return texts


@pytest.mark.parametrize("rank", [2, 3])
def test_gradients_of_sums_of_products_that_are_broadcast(rank: int, tmp_path: Path, random: np.random.Generator) -> None:
    functions = programs(rank)
    path = tmp_path / f"sums_of_rank_{rank}.py"
    path.write_text("import numpy as np\n\n\n" + "\n\n\n".join(text for text, *_ in functions) + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    extents = (3, 4, 2)[:rank]
    forms: set[str] = set()
    for text, first, second, over in functions[:: 1 if rank == 2 else 2]:
        function = getattr(module, text[4 : text.index("(")])
        a, b = (random.standard_normal([e for e, here in zip(extents, present, strict=True) if here]) for present in (first, second))
        wide = [x.reshape([e if here else 1 for e, here in zip(extents, p, strict=True)]) for x, p in ((a, first), (b, second))]
        s = np.sum(wide[0] * wide[1], axis=over, keepdims=True)
        g = np.cos(s) * s + np.sin(s)
        derived = symgrad.grad(function, wrt=("a", "b"))
        for actual, x, other in zip(derived(a, b), wide, wide[::-1], strict=True):
            lacking = tuple(k for k, e in enumerate(x.shape) if e == 1)
            expected = np.sum(np.broadcast_to(g * other, np.broadcast_shapes(x.shape, other.shape)), axis=lacking)
            np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-12, err_msg=text)
        forms |= forms_in(derived, a, b)

    assert forms >= ({".dot("} if rank == 2 else {".dot(", "np.einsum("}), forms


def forms_in(derived: Any, a: Any, b: Any) -> set[str]:
    text = derived.source(a, b, optimize="speed")
    return {form for form in (".dot(", "np.einsum(", "contraction(") if form in text}


def test_zeros_times_infinities_are_what_they_were() -> None:
    def f(a: Any, b: Any) -> Any:
        return np.sum(np.tanh(np.sum(a[:, :, None] * b[None, :, :], axis=1)))

    a, b = np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([[np.inf, 1.0, 0.5], [0.0, np.nan, 0.25]])
    with np.errstate(all="ignore"):
        first, second = symgrad.grad(f, wrt=("a", "b"))(a, b)
        s = np.tanh(np.sum(a[:, :, None] * b[None, :, :], axis=1))
        g = 1 - s * s

        np.testing.assert_allclose(first, np.sum(g[:, None, :] * b[None, :, :], axis=2), rtol=1e-12)
        np.testing.assert_allclose(second, np.sum(g[:, None, :] * a[:, :, None], axis=0), rtol=1e-12)
