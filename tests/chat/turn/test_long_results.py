"""What a model gets of a long result: a part, what is missing, and how to get it; programs get the whole."""

import json
import re
from typing import Any

import pytest

from agentcore.api import Module, ToolContext, tool

pytestmark = pytest.mark.spec("K9", "S7")
ALLOW = {"approvals": {"mode": "allow"}}
LINES = "".join(f"line {number}\n" for number in range(1, 10_001))


class Logs(Module):
    """Long results of each sense."""

    name = "logs"

    @tool(read_only=True, keep="head")
    async def log_head(self, ctx: ToolContext) -> str:
        """Give what matters at its beginning."""
        return LINES

    @tool(read_only=True, keep="tail")
    async def log_tail(self, ctx: ToolContext) -> str:
        """Give what matters at its end."""
        return LINES

    @tool(read_only=True, model_chars=4_000)
    async def log_both(self, ctx: ToolContext) -> str:
        """Give what matters at both ends, and little of it."""
        return LINES

    @tool(read_only=True)
    async def log_data(self, ctx: ToolContext) -> dict[str, Any]:
        """Give data alone."""
        return {"lines": LINES.splitlines()}

    @tool(read_only=True)
    async def log_paged(self, ctx: ToolContext) -> str:
        """Give a page of the size that the model gets."""
        return f"{ctx.model_chars}"

    @tool(read_only=True, artifact_call='{"id": "{id}", "from": {line}}')
    async def log_open(self, ctx: ToolContext, id: str) -> str:  # noqa: A002 - as a model writes it
        """Read an artifact."""
        return (await ctx.artifacts.load(id)).decode()


@pytest.fixture
def told(open_talk, provider):
    """Have the model call a tool; gives what it was told, and the session's items."""

    async def call(name: str, **config: Any) -> tuple[str, str]:
        provider.say("", ("a", name, "{}"))
        provider.say("Read.")
        async with open_talk(Logs(), **ALLOW, **config) as talk:
            await talk.post("x")
            content = provider.requests[-1]["messages"][-1]["content"]
            found = re.search(r"art_[0-9a-f]{32}", content)
            stored = await talk.host.store.artifacts.load(found[0]) if found else b""
        return content, stored.decode()

    return call


@pytest.mark.parametrize(
    ("name", "begins", "ends"),
    [("log_head", True, False), ("log_tail", False, True), ("log_both", True, True)],
)
async def test_part_that_matters_is_given_and_the_whole_is_kept(told, name, begins, ends):
    content, stored = await told(name)
    assert stored == LINES
    assert content.startswith("line 1\n") is begins
    assert content.rstrip().endswith("line 10000") is ends
    assert len(content) <= (4_000 if name == "log_both" else 25_000)


async def test_sentence_says_what_is_missing_and_the_call_that_reads_it(told):
    content, stored = await told("log_head")
    sentence = content.splitlines()[-1]
    first, last, lines = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", sentence)[:3])
    assert content.splitlines()[-2] == f"line {first - 1}"
    assert (last, lines) == (10_000, 10_000)
    call = re.search(r"log_open (\{.*\})", sentence)
    assert call is not None
    arguments = json.loads(call[1])
    assert stored.splitlines()[arguments["from"] - 1] == f"line {first}"


async def test_call_that_the_agent_may_not_make_is_not_named(told):
    content, _ = await told("log_head", agents={"default": {"tools": ["*", "!log_open"]}})
    assert "log_open" not in content
    assert "no tool here reads it" in content


async def test_agent_has_a_bound_of_its_own_and_tools_know_it(told):
    agents = {"default": {"result_chars": 3_000}}
    assert len((await told("log_head", agents=agents))[0]) <= 3_000
    assert (await told("log_paged", agents=agents))[0] == "3000"


async def test_data_alone_are_kept_in_lines(told):
    content, stored = await told("log_data")
    assert json.loads(stored) == {"lines": LINES.splitlines()}
    assert len(stored.splitlines()) > 10_000
    assert len(content) <= 25_000


async def test_line_that_never_ends_is_given_in_part_too(told, monkeypatch):
    monkeypatch.setattr(f"{__name__}.LINES", "x" * 100_000)
    content, stored = await told("log_both")
    assert stored == "x" * 100_000
    assert re.fullmatch(r"x+\n\[left out: lines \d+ to \d+ of 100, .*\]\nx+", content)


async def test_program_gets_the_whole(open_talk):
    async with open_talk(Logs(), **ALLOW) as talk:
        result = await talk.ask("POST", "/api/tools/log_head/call", {"arguments": {}})
        assert result["content"] == [{"type": "text", "text": LINES}]
        paged = await talk.ask("POST", "/api/tools/log_paged/call", {"arguments": {}})
        assert paged["content"][0]["text"] == "None"
