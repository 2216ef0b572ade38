import warnings

import numpy as np
import pytest

import tacit


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture
def rows(rng):
    """2,000 rows in the unit square, and which side of the diagonal they are on."""
    x = rng.uniform(size=(2000, 2))
    return x, (x[:, 0] > x[:, 1]).astype(np.int64)


@pytest.fixture
def quiet():
    """Simulations and bounds from data are intended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tacit.PrivacyWarning)
        yield
