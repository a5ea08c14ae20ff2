"""A server process that is killed at a step of a call, and started again over the same state."""

import asyncio
import json
import signal

import aiohttp
import pytest

from tests.chat.crashing import answered, approval, post, request, served, shown
from tests.support.provider import spoken
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.spec("K2"), pytest.mark.more]

MODULE = '''
import asyncio
from pathlib import Path
from agentcore.api import Module, ToolContext, tool

class Ledger(Module):
    """Writes a line, then waits for a file that lets it go."""

    @tool(effects=["write"])
    async def ledger_add(self, ctx: ToolContext, line: str) -> str:
        """Add a line."""
        with (Path(FOLDER) / "ledger").open("a") as file:
            file.write(line)
        return "added " + line

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


def written(folder):
    """What was written until now: a file is there before it is written."""
    return (folder / "ledger").read_text() if (folder / "ledger").exists() else ""


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
        await wait_until(lambda: written(folder) == "line")
        process.send_signal(signal.SIGKILL)
        await asyncio.wait({posted})
        assert isinstance(posted.exception(), aiohttp.ClientError)
    (folder / "go").touch()
    async with served(folder) as (_, address):
        await wait_until(lambda: len(provider.requests) == 2)
        again = await post(address, answer, "function")
    assert "interrupted" in provider.sent
    assert again[0]["error"]["type"] == "tool_call_answered"
    assert (folder / "ledger").read_text() == "line"


@pytest.mark.spec("H2")
async def test_call_in_a_host_that_outlives_the_server_ends_as_it_would_have(folder, provider):
    """The server is killed in the middle of an approved call; the next one gives its result to the chat."""
    document = json.loads((folder / "app.json").read_text())
    host = {"kind": "process", "modules": ["ledger"], "survives_restart": True, "keep_minutes": 0.2}
    (folder / "app.json").write_text(json.dumps({**document, "hosts": {"lasting": host}}))
    provider.say("", ("a", "ledger_write", "{}"))
    provider.say("It is written.")
    async with served(folder) as (process, address):
        (tool_id,) = (await post(address, "write"))[-1]["waiting"]
        answer = json.dumps({"toolId": tool_id, "approved": True})
        posted = asyncio.create_task(post(address, answer, "function"))
        await wait_until(lambda: written(folder) == "line")
        process.send_signal(signal.SIGKILL)
        await asyncio.wait({posted})
    async with served(folder) as (_, address):
        (folder / "go").touch()
        await wait_until(lambda: len(provider.requests) == 2)
    assert "written" in provider.sent
    assert "interrupted" not in provider.sent
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
        await wait_until(lambda: len(provider.requests) == 2)
        events = []
        while not any("content" in event for event in events):
            events = await post(address, "and?")
    assert [message["content"] for message in spoken(provider.requests[-1])] == ["tell", "The whole.", "and?"]


async def test_call_that_was_approved_and_had_not_begun_runs_once_after_the_kill(folder, provider):
    """One of two calls is approved; the other one waits, so that neither begins before the kill."""
    provider.say("", ("a", "ledger_add", '{"line": "one "}'), ("b", "ledger_add", '{"line": "two"}'))
    provider.say("Both.")
    async with served(folder) as (process, address):
        one, two = (await post(address, "write"))[-1]["waiting"]
        assert (await post(address, approval(one), "function"))[-1]["waiting"] == [two]
        process.send_signal(signal.SIGKILL)
    assert not (folder / "ledger").exists()
    async with served(folder) as (_, address):
        again = await post(address, approval(one), "function")
        events = await post(address, approval(two), "function")
    assert again[0]["error"]["type"] == "tool_call_answered"
    assert [event["tool_result"]["ok"] for event in events if "tool_result" in event] == [True, True]
    assert (folder / "ledger").read_text() == "one two"


async def test_result_that_was_known_at_the_kill_is_told_and_its_call_is_not_run_again(folder, provider):
    """The first call has ended and the second runs when the process is killed."""
    provider.say("", ("a", "ledger_add", '{"line": "one "}'), ("b", "ledger_write", "{}"))
    provider.say("I look first.")
    async with served(folder) as (process, address):
        one, two = (await post(address, "write"))[-1]["waiting"]
        await post(address, approval(one), "function")
        posted = asyncio.create_task(post(address, approval(two), "function"))
        await wait_until(lambda: written(folder) == "one line")
        process.send_signal(signal.SIGKILL)
        await asyncio.wait({posted})
        assert isinstance(posted.exception(), aiohttp.ClientError)
    (folder / "go").touch()
    async with served(folder) as (_, address):
        await wait_until(lambda: len(provider.requests) == 2)
        items = await shown(address)
    told = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "tool"]
    assert "added one" in told[0]
    assert "interrupted" in told[1]
    assert [call["state"] for call in items[1]["calls"]] == ["done", "interrupted"]
    assert (folder / "ledger").read_text() == "one line"


async def test_model_that_was_told_at_the_kill_is_asked_again_and_the_call_is_not_run_again(folder, provider):
    gate = asyncio.Event()
    provider.say("", ("a", "ledger_add", '{"line": "one"}'))
    provider.say("Half of it", gate=gate)
    provider.say("The whole.")
    async with served(folder) as (process, address):
        (one,) = (await post(address, "write"))[-1]["waiting"]
        posted = asyncio.create_task(post(address, approval(one), "function"))
        await wait_until(lambda: len(provider.requests) == 2)
        process.send_signal(signal.SIGKILL)
        await asyncio.wait({posted})
        assert isinstance(posted.exception(), aiohttp.ClientError)
    gate.set()
    async with served(folder) as (_, address):
        items = await answered(address, "The whole.")
    assert len(provider.requests) == 3
    assert provider.requests[2]["messages"] == provider.requests[1]["messages"]
    assert [item["text"] for item in items] == ["write", "", "The whole."]
    assert (folder / "ledger").read_text() == "one"


async def test_call_of_a_person_s_own_that_ran_at_the_kill_is_shown_as_interrupted_and_not_run_again(folder, provider):
    async with served(folder) as (process, address):
        session_id = (await request(address, "POST", "/api/sessions", {}))["sessionId"]
        body = {"tool": "ledger_write", "arguments": {}}
        await request(address, "POST", f"/api/sessions/{session_id}/command", body)
        await wait_until(lambda: written(folder) == "line")
        process.send_signal(signal.SIGKILL)
    (folder / "go").touch()
    async with served(folder) as (_, address):
        (item,) = await shown(address, session_id)
    assert item["calls"][0]["state"] == "interrupted"
    assert (folder / "ledger").read_text() == "line"
