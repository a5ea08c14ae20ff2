"""A server process that is killed at a step of a call, and started again over the same state."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

pytestmark = pytest.mark.spec("K2")

MODULE = '''
import asyncio
from pathlib import Path
from agentcore.api import Module, ToolContext, tool

class Ledger(Module):
    """Writes a line, then waits for a file that lets it go."""

    @tool(effects=["write"])
    async def ledger_write(self, ctx: ToolContext) -> str:
        """Write a line."""
        folder = Path(FOLDER)
        with (folder / "ledger").open("a") as file:
            file.write("line")
        while not (folder / "go").exists():
            await asyncio.sleep(0.01)
        return "written"
'''


@pytest.fixture
def folder(tmp_path, provider):
    (tmp_path / "modules").mkdir()
    source = MODULE.replace("FOLDER", repr(str(tmp_path)))
    (tmp_path / "modules" / "ledger.py").write_text(source)
    model = {"provider": "openai", "base_url": f"{provider.url}/v1", "max_retries": 0}
    document = {"modules": ["ledger"], "models": {"m": model}, "approvals": {"api_token": True}}
    (tmp_path / "app.json").write_text(json.dumps(document))
    return tmp_path


@asynccontextmanager
async def served(folder) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A server process and its address; killed at the end."""
    environ = {**os.environ, "AGENTCORE_STATE_DIR": str(folder / "state"), "AGENTCORE_TOKEN": "t" * 43}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "agentcore", "serve", "--config", str(folder / "app.json"), "--port", "0"),
        env=environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    lines = []
    try:
        async with asyncio.timeout(60):
            while b'"server_ready"' not in (line := await process.stdout.readline()):
                assert line, b"".join(lines).decode()
                lines.append(line)
        yield process, json.loads(line)["address"]
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.communicate()


async def post(address, message, role="user"):
    body = {"message": message, "role": role, "session_id": "s1", "agent_id": "default", "user_id": ""}
    headers = {"Authorization": "Bearer " + "t" * 43}
    async with (
        asyncio.timeout(60),
        aiohttp.ClientSession(headers=headers) as client,
        client.post(f"{address}/api/v1/agent/chat", json=body) as response,
    ):
        raw = (await response.read()).decode()
    return [json.loads(line[6:]) for line in raw.splitlines() if line.startswith("data: ")]


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


async def test_call_that_waits_when_the_process_is_killed_runs_once_after_it(folder, provider):
    provider.say("", ("a", "ledger_write", "{}"))
    provider.say("Written.")
    (folder / "go").touch()
    async with served(folder) as (_, address):
        (tool_id,) = (await post(address, "write"))[-1]["waiting"]
    async with served(folder) as (_, address):
        answer = json.dumps({"toolId": tool_id, "approved": True})
        events = await post(address, answer, "function")
        again = await post(address, answer, "function")
    assert events[0]["tool_result"]["ok"] is True
    assert again[0]["error"]["type"] == "tool_call_answered"
    assert (folder / "ledger").read_text() == "line"


async def test_call_that_runs_when_the_process_is_killed_is_interrupted_and_the_turn_goes_on(folder, provider):
    provider.say("", ("a", "ledger_write", "{}"))
    provider.say("I look first.")
    async with served(folder) as (process, address):
        (tool_id,) = (await post(address, "write"))[-1]["waiting"]
        answer = json.dumps({"toolId": tool_id, "approved": True})
        posted = asyncio.create_task(post(address, answer, "function"))
        await until((folder / "ledger").exists)
        process.send_signal(signal.SIGKILL)
        await asyncio.wait({posted})
        assert isinstance(posted.exception(), aiohttp.ClientError)
    (folder / "go").touch()
    async with served(folder) as (_, address):
        await until(lambda: len(provider.requests) == 2)
        again = await post(address, answer, "function")
    assert "interrupted" in provider.sent
    assert again[0]["error"]["type"] == "tool_call_answered"
    assert (folder / "ledger").read_text() == "line"


async def test_answer_that_streams_when_the_process_is_killed_is_asked_for_again(folder, provider):
    gate = asyncio.Event()
    provider.say("Half of it", gate=gate)
    provider.say("The whole.")
    provider.say("Yes.")
    async with served(folder) as (process, address):
        posted = asyncio.create_task(post(address, "tell"))
        await provider.asked.wait()
        process.send_signal(signal.SIGKILL)
        await asyncio.wait({posted})
        assert isinstance(posted.exception(), aiohttp.ClientError)
    gate.set()
    async with served(folder) as (_, address):
        await until(lambda: len(provider.requests) == 2)
        events = []
        while not any("content" in event for event in events):
            events = await post(address, "and?")
    assert [message["content"] for message in provider.requests[-1]["messages"]] == ["tell", "The whole.", "and?"]
