"""Facts about integers that follow from the types of a function."""

from __future__ import annotations

from symgrad.ir.parse import parse
from symgrad.ir.types import Dim
from symgrad.ops.build import Builder, know, known_extents, symbols

TEXT = """
func f(x: f64[x0], w: f64[!w0]) -> float:
    n.0 = extent(x) : int
    k.0 = extent(w) : int
    %0 = subtract(n.0, k.0) : int
    %1 = add(%0, 1) : int
    for i.0 in range(0, %1, 1):
        carry s.0 = 0.0 -> s.1 : float?
        j.0 = add(i.0, 2) : int
        %2 = view(x, j.0, None, None, index="s") : f64[(-i7+x0)-2]
        %3 = add(i.0, k.0) : int
        %4 = view(x, i.0, %3, None, index="s") : f64[!w0]
        %5 = sum(%2) : scalar f64
        yield %5
    return s.1
"""


def test_integers_are_read_off_the_lengths_of_slices() -> None:
    func = parse(TEXT)
    known = {value.name or str(k): extent for k, (value, extent) in enumerate(known_extents(func).items())}

    assert known["i"] == Dim("i7")
    assert known["j"] == Dim("i7", 2)


def test_a_builder_knows_where_the_indices_of_loops_are() -> None:
    func = parse(TEXT)
    builder = Builder(taken=symbols(func))
    know(builder, func)

    assert {"i7": 1} in builder.facts
    assert {"x0": 1, "w0": -1, "i7": -1} in builder.facts
    assert ("w0", 0) in builder.plural
