"""A host with the module of every behaviour."""

import pytest

from tests.core.calls.lab import Lab


@pytest.fixture
def lab() -> Lab:
    return Lab()
