"""The official suite of MCP against `agentcore serve` with a module that has what it calls."""

import asyncio
from pathlib import Path

import pytest

from tests.conformance.passing import passing
from tests.conformance.suite import failed, needs_suite, required, run_suite
from tests.server.served import Server

pytestmark = [pytest.mark.more, needs_suite]


@pytest.mark.parametrize(("revision", "count"), [("2026-07-28", 37), ("2025-11-25", 30)])
async def test_scenarios_that_a_revision_requires_pass(tmp_path, revision, count):
    source = (Path(__file__).parent / "served_module.py").read_text()
    server = await asyncio.to_thread(Server, tmp_path, {"conformance": source})
    try:
        if not any(line["event"] == "module_ready" for line in server.lines):
            await asyncio.to_thread(server.line, "module_ready")
        port = int(server.address.rpartition(":")[2])
        async with passing(port, (server.state / "token").read_text().strip()) as shown:
            url = f"http://localhost:{shown}/mcp"
            said = await run_suite("server", "--url", url, "--requirements", revision, folder=tmp_path)
    finally:
        await asyncio.to_thread(server.end)
    scored = required(revision, "server")
    assert len(scored) == count
    assert failed(said, scored) == [], said[-8000:]
