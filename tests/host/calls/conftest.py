"""A host with the module of every behaviour."""

import pytest

from tests.host.calls.lab import Lab


@pytest.fixture
async def lab() -> Lab:
    return Lab()


@pytest.fixture
async def host(make_host, lab):
    return await make_host(lab)
