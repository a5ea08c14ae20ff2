"""A server process that is killed at an exact step of an approved call: whatever the step, the call runs at most once.

The module itself kills the process, at the places through which every approved call goes: its preview, which is looked
at when a person decides, again once the approval is stored, and at the execution edge; and the tool, which is entered
when it has begun.
"""

import asyncio
import json

import aiohttp
import pytest

from tests.chat.crashing import LIMIT_S, answered, approval, post, request, served

pytestmark = [pytest.mark.spec("K2"), pytest.mark.more]

MODULE = '''
import os
import signal
from pathlib import Path
from agentcore.api import CallPreview, Module, ToolContext, tool

FOLDER = Path(FOLDER_NAME)


def killed_at(step: str) -> None:
    """Kill this process, once, where the test wants it."""
    mark = FOLDER / "kill_at"
    wanted = mark.read_text() if mark.exists() else ""
    if wanted == step:
        mark.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    elif wanted.startswith("look") and step == "look 1":
        mark.write_text(f"look {int(wanted[5:]) - 1}")


class Ledger(Module):
    """Adds a line to a file."""

    def _look(self, ctx: ToolContext, arguments: dict) -> CallPreview:
        killed_at("look 1")
        return CallPreview(is_protected=arguments["line"] == "mine")

    @tool(effects=["write"], preview=_look)
    async def ledger_add(self, ctx: ToolContext, line: str) -> str:
        """Add a line."""
        killed_at("begun")
        with (FOLDER / "ledger").open("a") as file:
            file.write(line + ";")
        killed_at("done")
        return "added " + line
'''


@pytest.fixture
def folder(tmp_path, provider):
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "ledger.py").write_text(MODULE.replace("FOLDER_NAME", repr(str(tmp_path))))
    model = {"provider": "openai", "base_url": f"{provider.url}/v1", "max_retries": 0}
    document = {"modules": ["ledger"], "models": {"m": model}, "approvals": {"api_token": True}}
    (tmp_path / "app.json").write_text(json.dumps(document))
    return tmp_path


async def killed(process, sent):
    """Wait until the process has killed itself over what was sent to it."""
    async with asyncio.timeout(LIMIT_S):
        await asyncio.to_thread(process.wait)
        await asyncio.wait({sent})
    assert isinstance(sent.exception(), aiohttp.ClientError)


@pytest.mark.parametrize(
    ("step", "lines", "told"),
    [
        ("look 2", "milk;", "added milk"),
        ("look 3", "milk;", "added milk"),
        ("begun", "", "interrupted"),
        ("done", "milk;", "interrupted"),
    ],
)
async def test_call_of_a_model_runs_at_most_once_wherever_the_process_is_killed(folder, provider, step, lines, told):
    provider.say("", ("a", "ledger_add", '{"line": "milk"}'))
    provider.say("I have seen it.")
    async with served(folder) as (process, address):
        (tool_id,) = (await post(address, "note milk"))[-1]["waiting"]
        (folder / "kill_at").write_text(step)
        await killed(process, asyncio.create_task(post(address, approval(tool_id), "function")))
    for _ in range(2):  # and it is still so after one start more
        async with served(folder) as (_, address):
            await answered(address, "I have seen it.")
            again = await post(address, approval(tool_id), "function")
            assert again[0]["error"]["type"] == "tool_call_answered"
    assert len(provider.requests) == 2
    assert told in provider.sent
    ledger = folder / "ledger"
    assert (ledger.read_text() if ledger.exists() else "") == lines


async def test_call_of_a_model_waits_again_where_the_process_is_killed_before_the_decision_is_stored(folder, provider):
    provider.say("", ("a", "ledger_add", '{"line": "milk"}'))
    provider.say("I have seen it.")
    async with served(folder) as (process, address):
        (tool_id,) = (await post(address, "note milk"))[-1]["waiting"]
        (folder / "kill_at").write_text("look 1")
        await killed(process, asyncio.create_task(post(address, approval(tool_id), "function")))
    async with served(folder) as (_, address):
        (waiting,) = (await request(address, "GET", "/api/approvals"))["calls"]
        assert waiting["tool"] == "ledger_add"
        await post(address, approval(tool_id), "function")
        await answered(address, "I have seen it.")
        again = await post(address, approval(tool_id), "function")
        assert again[0]["error"]["type"] == "tool_call_answered"
    assert (folder / "ledger").read_text() == "milk;"


@pytest.mark.parametrize(
    ("step", "lines"), [("look 1", "mine;"), ("look 2", "mine;"), ("begun", ""), ("done", "mine;")]
)
async def test_call_over_http_runs_at_most_once_wherever_the_process_is_killed(folder, step, lines):
    body = {"arguments": {"line": "mine"}}
    path = "/api/tools/ledger_add/call"
    async with served(folder) as (process, address):
        call_id = (await request(address, "POST", path, body))["error"]["context"]["callId"]
        (waiting,) = (await request(address, "GET", "/api/approvals"))["calls"]
        decision = {"approved": True, "digest": waiting["digest"]}
        await request(address, "POST", f"/api/approvals/{call_id}/decision", decision)
        (folder / "kill_at").write_text(step)
        await killed(process, asyncio.create_task(request(address, "POST", path, {**body, "call_id": call_id})))
    answers = []
    for _ in range(2):
        async with served(folder) as (_, address):
            answers += [await request(address, "POST", path, {**body, "call_id": call_id}) for _ in range(2)]
    runs = [answer["ok"] for answer in answers]
    assert runs == [step.startswith("look"), False, False, False]
    assert {answer["error"]["type"] for answer in answers if not answer["ok"]} == {"approval_not_found"}
    ledger = folder / "ledger"
    assert (ledger.read_text() if ledger.exists() else "") == lines
