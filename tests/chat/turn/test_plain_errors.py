"""What a model is told of a call that failed: one plain sentence with its type, and what helps to act."""

import asyncio
from typing import Annotated, Any

import pytest

from agentcore.api import Field, Image, Module, ToolContext, ToolError, ToolResult, also_called, tool
from tests.support.pictures import picture

pytestmark = pytest.mark.spec("K9")


class Failing(Module):
    """Fails in each way."""

    name = "failing"

    @tool(read_only=True)
    async def fail_with(self, ctx: ToolContext, kind: str) -> str:
        """Fail with some context."""
        context: dict[str, dict[str, Any]] = {
            "said": {"path": "a.txt", "size_bytes": 3},
            "near": {"near": ["b.txt", "c.txt"], "count": 2, "cut": False},
            "stack": {"stack": "line 1\nline 2"},
            "entries": {"errors": [{"path": "x", "message": "is required"}, {"path": "y", "message": "is odd"}]},
        }
        raise ToolError("not_there", "'a.txt' is not there; list the folder", **context[kind])

    @tool(read_only=True)
    async def fail_slowly(self, ctx: ToolContext) -> str:
        """Take too long."""
        await asyncio.Event().wait()
        return ""

    @tool(read_only=True)
    async def give_nothing(self, ctx: ToolContext) -> str:
        """Give nothing."""
        return ""

    @tool(read_only=True)
    async def give_picture(self, ctx: ToolContext, size: int = 8) -> ToolResult:
        """Give a picture, whose data are for programs."""
        return ToolResult((Image(picture(size=(size, size), noise=True)),), {"dataBase64": "eHh4eA=="})

    @tool(read_only=True)
    async def give_path(
        self, ctx: ToolContext, path: Annotated[str, Field(json_schema_extra=also_called("file_path"))]
    ) -> str:
        """Give a path."""
        return path


def told(provider: Any) -> Any:
    return provider.requests[-1]["messages"][-1]["content"]


SENTENCE = "Error not_there: 'a.txt' is not there; list the folder"


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("fail_with", '{"kind": "said"}', SENTENCE),
        ("fail_with", '{"kind": "near"}', f"{SENTENCE} (near: b.txt, c.txt)"),
        ("fail_with", '{"kind": "stack"}', f"{SENTENCE}\nstack: line 1\nline 2"),
        ("fail_with", '{"kind": "entries"}', f"{SENTENCE} (errors: x is required, y is odd)"),
        ("fail_with", "{}", "Error invalid_arguments: fail_with was not called: kind: is required."),
        (
            "fail_with",
            '{"kind": "said", "knd": 1}',
            "Error invalid_arguments: fail_with was not called: knd: is not a parameter; did you mean 'kind'?",
        ),
        ("give_nothing", "{}", "[done; it gave no output]"),
        (
            "fail_wiht",
            "{}",
            "Error unknown_tool: there is no tool 'fail_wiht'; did you mean 'fail_with' or 'fail_slowly'?",
        ),
    ],
)
async def test_failure_is_told_as_a_sentence(open_talk, provider, name, arguments, sentence):
    provider.say("", ("a", name, arguments))
    provider.say("Hm.")
    async with open_talk(Failing(), approvals={"mode": "allow"}) as talk:
        await talk.post("x")
    assert told(provider) == sentence


async def test_result_says_the_right_name_of_an_argument_that_was_given_by_another_one(open_talk, provider):
    provider.say("", ("a", "give_path", '{"file_path": "a.txt"}'))
    provider.say("", ("b", "give_path", '{"path": "b.txt"}'))
    provider.say("Hm.")
    async with open_talk(Failing(), approvals={"mode": "allow"}) as talk:
        await talk.post("x")
    _, _, first, second_call, second = provider.requests[-1]["messages"][-5:]
    assert first["content"] == "a.txt\n[Names of arguments: `file_path` is `path`.]"
    assert second["content"] == "b.txt"
    assert second_call["tool_calls"][0]["function"]["arguments"] == '{"path":"b.txt"}'


async def test_call_that_takes_too_long_is_told_as_a_sentence(open_talk, provider):
    provider.say("", ("a", "fail_slowly", "{}"))
    provider.say("Hm.")
    async with open_talk(Failing(), approvals={"mode": "allow"}, limits={"call_timeout_max": 0.1}) as talk:
        await talk.post("x")
    assert told(provider).startswith("Error timeout: ")


async def test_refusals_are_told_as_sentences(open_talk, provider, calls_of):
    """By a person, by a message in place of an answer, and by the policy."""
    for _ in range(2):
        provider.say("", ("a", "give_nothing", "{}"))
        provider.say("Hm.")
    async with open_talk(Failing(), approvals={"mode": "ask", "api_token": True}) as talk:
        (call,) = calls_of(await talk.post("x"))
        await talk.approve(call["toolId"], approved=False)
        rejected = told(provider)
        await talk.post("again")
        await talk.post("no, something else")
        superseded = provider.requests[-1]["messages"][-2]["content"]
    assert rejected == (
        "Error approval_denied: A person rejected this call; it did not run. Ask what they want instead."
    )
    assert superseded.startswith("Error approval_denied: The person sent a new message instead of an answer")


async def test_anthropic_is_told_that_it_is_an_error(open_talk, provider):
    provider.say("", ("a", "fail_with", '{"kind": "said"}'))
    provider.say("Hm.")
    model = {"provider": "anthropic", "model": "claude-x"}
    async with open_talk(Failing(), model=model, approvals={"mode": "allow"}) as talk:
        await talk.post("x")
    (result,) = [block for block in told(provider) if block["type"] == "tool_result"]
    assert result["is_error"] is True
    assert SENTENCE in str(result["content"])


@pytest.mark.processes
@pytest.mark.parametrize("images", [True, False])
async def test_picture_is_told_without_the_text_of_its_data(open_talk, provider, images):
    provider.say("", ("a", "give_picture", "{}"))
    provider.say("Seen.")
    async with open_talk(Failing(), model={"images": images}, approvals={"mode": "allow"}) as talk:
        await talk.post("x")
    assert "dataBase64" not in provider.sent
    assert ("data:image/png" in provider.sent) is images
    assert ("which this model cannot see" in provider.sent) is not images
