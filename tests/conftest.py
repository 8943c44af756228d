"""Settings shared by all tests."""

from __future__ import annotations

import gc
import os
import sys
import types
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweeps import fast_cases

try:
    from hypothesis import settings
except ImportError:
    pass
else:
    settings.register_profile("symgrad", deadline=None, print_blob=True)
    settings.load_profile("symgrad")


def pytest_configure(config: pytest.Config) -> None:
    """Keep bytecode for workers and child processes, also where Python may not write it next to the sources."""
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None) and config.cache is not None:
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(config.cache.mkdir("bytecode"))
        sys.dont_write_bytecode = False


@pytest.fixture(autouse=True, scope="session")
def no_texts_kept() -> Iterator[None]:
    """Tests look at what stages make now, and change stages; only tests of the cache of texts put it back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symgrad.pipeline.shelf.texts_directory", lambda: None)
        yield


@pytest.fixture(autouse=True, scope="module")
def gradients_checked() -> Iterator[None]:
    """Every gradient that a test asks for is held to its argument: its form, and memory of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symgrad.exits.checked", lambda: True)
        yield


@pytest.fixture
def random() -> np.random.Generator:
    """A generator of random numbers that is the same in every run."""
    return np.random.default_rng(20240501)


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Of a test marked ``sweep(n)``, every n-th case is fast and the others are slow: see ``sweeps``.

    Where ``-m`` excludes slow cases, no items are created for them: there are four times as many as fast ones.
    """
    yield
    cases, test = metafunc._calls, metafunc.definition
    slow = test.get_closest_marker("slow") is not None
    swept: dict[int, dict[str, Any]] = {}
    for case in [] if slow else cases:
        sweep = next((mark for mark in case.marks if mark.name == "sweep"), test.get_closest_marker("sweep"))
        if sweep is not None and not is_slow(case):
            swept.setdefault(sweep.args[0], {})[f"{test.nodeid}[{case.id}]"] = case
    for step, names in swept.items():
        for name in names.keys() - fast_cases({name: values_of(case.params) for name, case in names.items()}, step):
            names[name].marks.append(pytest.mark.slow.mark)
    if metafunc.config.option.markexpr == "not slow":
        cases[:] = cases[:1] if slow else [case for case in cases if not is_slow(case)] or cases[:1]


def is_slow(case: Any) -> bool:
    """Whether a case of a test is marked as slow."""
    return any(mark.name == "slow" for mark in case.marks)


def values_of(parameters: Mapping[str, Any]) -> dict[str, Hashable]:
    """The values of a case's parameters that can be told apart."""
    return {name: value for name, value in parameters.items() if isinstance(value, str | int | float | type | types.FunctionType | None)}


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected lives until the end: the garbage collector does not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-golden`` writes what ``golden`` compares with; the difference is to be read like code."""
    parser.addoption("--update-golden", action="store_true", help="write the expected texts anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with ``golden/<test file>/<name>.txt`` beside this file."""
    folder = Path(__file__).parent / "golden" / request.path.stem.removeprefix("test_")

    def compare(name: str, text: str) -> None:
        path = folder / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.exists(), f"there is no {path}: run pytest --update-golden and read what it writes"
        assert text == path.read_text(), "if this is meant, run pytest --update-golden and read the difference"

    return compare
