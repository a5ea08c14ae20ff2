"""`/api/metrics`: figures that a collector reads."""

import re

import pytest

_LINE = re.compile(r'^agentcore_[a-z_]+(\{[a-z]+="[^"]*"\})? -?[0-9.e+]+$')


@pytest.mark.spec("S7")
async def test_figures_are_in_the_text_format(make_server):
    server = await make_server()
    await server.call("nothing")
    await server.host.store.record.flush()
    async with server.client.get(f"{server.url}/api/metrics") as response:
        assert response.content_type == "text/plain"
        text = await response.text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not _LINE.match(line)] == []
    assert 'agentcore_calls_total{outcome="unknown_tool"} 1' in lines
    assert 'agentcore_record_total{fate="written"} 1' in lines
    assert "agentcore_connections 1" in lines
