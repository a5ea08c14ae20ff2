"""The page of a server with a tool whose calls wait."""

import pytest_asyncio

from tests.server.approving import Notes


@pytest_asyncio.fixture(loop_scope="session")
async def ui(start_webui):
    return await start_webui([Notes()])
