"""Messages to loggers equal those of plain Python in each call, even if loggers change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symgrad

LOG = logging.getLogger("symgrad.tests.messages")
X = np.array([0.5, 1.5])


class Records(logging.Handler):
    """Keeps what is logged, as text."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(f"{record.levelname} {record.getMessage()}")

    def taken(self) -> list[str]:
        texts, self.texts = self.texts, []
        return texts


@pytest.fixture
def records() -> Iterator[Records]:
    handler = Records()
    LOG.addHandler(handler)
    LOG.propagate = False
    LOG.setLevel(logging.WARNING)
    yield handler
    LOG.removeHandler(handler)
    LOG.propagate = True
    LOG.setLevel(logging.NOTSET)
    logging.disable(logging.NOTSET)
    vars(LOG).pop("debug", None)


def of_numbers(x):
    total = 0.0
    for k, v in enumerate(x):
        total += v * v
        LOG.debug("%d %.2f", k, total)
    LOG.info("end %.1f", total)
    return total


def of_arrays(x):
    y = x * x
    LOG.debug("%s", y)
    LOG.log(logging.INFO, "half %s", y[:1])
    return np.sum(y * x)


def of_containers(x):
    state = {"x": x, "k": [1, 2]}
    LOG.debug("k %s", state["k"])
    LOG.warning("large %d", len(state["k"]))
    return np.sum(state["x"] ** 2)


class Model:
    log = LOG

    def energy(self, x):
        self.log.debug("energy of %d", len(x))
        return np.sum(x**3)


def by_method(x):
    return Model().energy(x)


def in_a_handler(x):
    try:
        return x[5] * 2.0
    except IndexError:
        LOG.error("no item %d", 5)
    return x[0] * x[1]


def that_changes_levels(x):
    LOG.debug("before")
    LOG.setLevel(logging.DEBUG)
    LOG.debug("after %.1f", x[0])
    LOG.setLevel(logging.WARNING)
    return np.sum(x * x)


def that_disables(x):
    LOG.setLevel(logging.INFO)
    LOG.info("before")
    logging.disable(logging.CRITICAL)
    LOG.info("never")
    logging.disable(logging.NOTSET)
    LOG.info("again")
    LOG.setLevel(logging.WARNING)
    return np.sum(x * x)


FUNCTIONS = [of_numbers, of_arrays, of_containers, by_method, in_a_handler, that_changes_levels, that_disables]
#: what is done between calls
CHANGES: list[Callable[[], Any]] = [
    lambda: None,
    lambda: LOG.setLevel(logging.DEBUG),
    lambda: logging.disable(logging.DEBUG),
    lambda: LOG.setLevel(logging.WARNING),
    lambda: logging.disable(logging.NOTSET),
    lambda: setattr(LOG, "debug", lambda *args: LOG.warning("own")),
    lambda: delattr(LOG, "debug"),
]


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_same_is_logged(function: Any, jit: Any, records: Records) -> None:
    derived = symgrad.value_and_grad(function, jit=jit, verify=False)
    steps = 1e-6 * np.eye(len(X))
    for change in CHANGES:
        change()
        level, disabled = LOG.level, logging.root.manager.disable
        expected = function(X)
        said = records.taken()
        LOG.setLevel(level)
        logging.disable(disabled)
        value, gradient = derived(X)
        assert records.taken() == said
        assert value == pytest.approx(expected, rel=1e-12)
        differences = [(function(X + step) - function(X - step)) / 2e-6 for step in steps]
        records.taken()
        LOG.setLevel(level)
        logging.disable(disabled)
        np.testing.assert_allclose(gradient, differences, rtol=1e-6)


def test_messages_that_are_not_taken_leave_no_trace_in_the_code(records: Records) -> None:
    source = symgrad.grad(of_numbers).source(X)
    assert "debug" not in source
    assert "info" not in source


def test_kernels_hold_functions_whose_messages_are_not_taken(records: Records) -> None:
    pytest.importorskip("numba")
    derived = symgrad.grad(of_numbers, jit=True)
    np.testing.assert_allclose(derived(X), 2 * X)
    assert "kernel" in derived.source(X)


def test_a_logger_is_not_looked_into() -> None:
    """It leads to all other loggers, so that compiling would take longer with each library that is imported."""
    others = [logging.getLogger(f"symgrad.tests.messages.{k}") for k in range(300)]
    looked_at: list[Any] = []
    for other in others:
        other.filters = Watched(looked_at)
    try:
        derived = symgrad.grad(of_containers)
        np.testing.assert_allclose(derived(X), 2 * X)
        assert looked_at == []
    finally:
        for other in others:
            other.filters = []
            del logging.root.manager.loggerDict[other.name]


class Watched(list[Any]):
    """A list that notes when it is gone through."""

    def __init__(self, looked_at: list[Any]) -> None:
        super().__init__()
        self.looked_at = looked_at

    def __iter__(self) -> Iterator[Any]:
        self.looked_at.append(self)
        return super().__iter__()

    def __len__(self) -> int:
        self.looked_at.append(self)
        return 0
