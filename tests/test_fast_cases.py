"""The selection of fast cases from a product of parameters leaves out no common value."""

from __future__ import annotations

import itertools

import pytest
from sweeps import fast_cases

PRODUCT = {f"test[{k}-{word}-{seed}]": {"k": k, "word": word, "seed": (k, word, seed)}
           for k, word, seed in itertools.product(range(20), "abcdefg", range(4))}  # fmt: skip


@pytest.mark.parametrize("step", [1, 2, 5, 11, 28, 60, 200])
def test_each_value_that_as_many_cases_have_is_in_a_fast_one(step: int) -> None:
    fast = fast_cases(PRODUCT, step)
    numbers = {PRODUCT[name]["k"] for name in fast}
    words = {PRODUCT[name]["word"] for name in fast}

    assert len(words) == 7 or step > 80
    assert len(numbers) == 20 or step > 28
    assert len(fast) <= 1.5 * len(PRODUCT) / step + 27


def test_what_is_fast_does_not_hang_on_the_order_of_cases() -> None:
    assert fast_cases(dict(reversed(PRODUCT.items())), 11) == fast_cases(PRODUCT, 11)


def test_a_case_that_is_added_leaves_those_fast_that_chance_has_chosen() -> None:
    alone = {name: {} for name in PRODUCT}

    assert fast_cases(alone, 5) <= fast_cases({**alone, "another": {}}, 5)
