"""The emergency stop, as a page learns of it."""

import pytest


@pytest.mark.spec("S7")
async def test_stop_state_tells_a_page_that_opens_later_that_everything_was_stopped(make_server):
    server = await make_server()
    assert await server.get("/api/stop") == (200, {"stopped": False})
    await server.post("/api/stop")
    assert await server.get("/api/stop") == (200, {"stopped": True})
