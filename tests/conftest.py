"""Settings shared by all tests."""

from __future__ import annotations

import numpy as np
import pytest

try:
    from hypothesis import settings
except ImportError:
    pass
else:
    settings.register_profile("symgrad", deadline=None, print_blob=True)
    settings.load_profile("symgrad")


@pytest.fixture
def random() -> np.random.Generator:
    """A generator of random numbers that is the same in every run."""
    return np.random.default_rng(20240501)
