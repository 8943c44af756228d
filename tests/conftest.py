"""Settings shared by all tests."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path

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


@pytest.fixture(autouse=True, scope="session")
def no_texts_kept() -> Iterator[None]:
    """Tests look at what stages make now, and change stages; only tests of the cache of texts put it back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symgrad.pipeline.shelf.texts_directory", lambda: None)
        yield


@pytest.fixture(autouse=True)
def gradients_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every gradient that a test asks for is held to its argument: its form, and memory of its own."""
    monkeypatch.setattr("symgrad.exits.checked", lambda: True)


@pytest.fixture
def random() -> np.random.Generator:
    """A generator of random numbers that is the same in every run."""
    return np.random.default_rng(20240501)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test marked ``sweep(n)``, every n-th case is fast and the others are slow: see ``sweeps``."""
    tests: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        sweep = item.get_closest_marker("sweep")
        if sweep is not None and item.get_closest_marker("slow") is None:
            tests.setdefault((item.nodeid.partition("[")[0], sweep.args[0]), []).append(item)
    for (_, step), cases in tests.items():
        fast = fast_cases({item.nodeid: values_of(item) for item in cases}, step)
        for item in cases:
            if item.nodeid not in fast:
                item.add_marker(pytest.mark.slow)


def values_of(item: pytest.Item) -> dict[str, Hashable]:
    """The values of a case's parameters that can be told apart."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
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
