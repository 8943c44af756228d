"""Support functions of the runtime."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.runtime.support import add_written, copy, take_written, unbroadcast


@pytest.mark.parametrize(("extents", "shape"), [((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((4, 2, 3), (2, 1)), ((3,), ()), ((), ()),
                                            ((2, 3), (2, 3)), ((0, 3), (3,)), ((0, 3), (1, 3)), ((5, 0), (5, 1)), ((1, 1), ())])  # fmt: skip
def test_unbroadcast_is_the_transpose_of_broadcasting(extents: tuple[int, ...], shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    g, x = rng.normal(size=extents), rng.normal(size=shape)
    actual = unbroadcast(g, shape)

    assert np.shape(actual) == shape
    assert np.isclose(np.sum(np.broadcast_to(x, extents) * g), np.sum(x * actual))
    assert isinstance(actual, np.ndarray) == bool(shape) or not shape


def test_unbroadcast_spreads_what_has_fewer_extents() -> None:
    actual = unbroadcast(2.0, (3,))

    assert actual.tolist() == [2.0] * 3
    assert actual.flags.writeable


def test_only_the_last_writer_of_a_cell_counts() -> None:
    g = np.array([1.0, 2.0, 3.0])
    index = np.array([0, 2, 0])
    total = np.zeros(3)
    add_written(total, index, np.array([10.0, 20.0, 30.0]))

    assert take_written(g, index).tolist() == [0.0, 3.0, 1.0]
    assert total.tolist() == [30.0, 0.0, 20.0]


def test_a_copy_shares_nothing() -> None:
    items = [np.ones(2), 3.0]
    copied = copy(items)
    copied[0][0] = 5.0

    assert items[0].tolist() == [1.0, 1.0]
    assert copied[1] == 3.0
