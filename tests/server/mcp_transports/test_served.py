"""Prompts and resources that modules serve: offered as what they are, and called as everything is."""

import asyncio
from typing import Literal

import pytest

from agentcore.api import EmbeddedResource, Image, Module, Text, ToolContext, ToolError, ToolResult, tool
from agentcore.testing import ModuleNotReadyError
from tests.server.mcp_transports.conftest import LIMIT_S, request
from tests.server.mcp_transports.test_inputs import accepted, begin
from tests.server.mcp_transports.test_stateless import ask, hand, whole


class Library(Module):
    """Books, and how to speak of them."""

    def titles(self, tool: str, argument: str, begun: str, given: dict[str, str]) -> list[str]:
        """Titles that begin so, in a tone."""
        if begun == "!":
            raise RuntimeError("no more books")
        known = ["Emma", "Endgame", "Ulysses"] if given.get("tone") != "harsh" else [f"Evil {n}" for n in range(150)]
        return [title for title in known if title.startswith(begun)]

    @tool(effects=["session"], served_as="prompt", complete=titles)
    async def library_review(
        self, book: str, tone: Literal["kind", "keen", "harsh"] = "kind", style: Literal["short", "long"] | None = None
    ) -> ToolResult:
        """Review a book.

        Args:
            book: Its title.
        """
        return ToolResult((Text(f"Write a {tone} review of {book}."), Image(b"\x89PNG", "image/png")))

    @tool(effects=["session"], served_as="prompt")
    async def library_greet(self, ctx: ToolContext) -> str:
        """Greet a reader."""
        return f"Greet {await ctx.ask('Whom?')}."

    @tool(effects=["session"], served_as="books://list")
    async def library_list(self) -> str:
        """All books."""
        return "Emma\nUlysses"

    @tool(effects=["session"], served_as="books://{title}/page/{number}")
    async def library_page(self, title: str, number: int) -> EmbeddedResource:
        """A page of a book."""
        if number > 100:
            raise ToolError("no_such_page", f"{title} ends at page 100; ask for an earlier one")
        return EmbeddedResource(f"books://{title}/page/{number}", f"page {number}", "text/markdown")

    @tool(effects=["write"], served_as="books://order/{title}")
    async def library_order(self, title: str) -> str:
        """Order a book."""
        return f"ordered {title}"


async def result(client, method, params=None):
    """The result of a request of a session, or its error."""
    status, answer, _ = await client.post(request(method, params))
    return answer["result"] if "result" in answer else (status, answer["error"])


async def test_prompts_are_listed_with_their_arguments_and_made_by_a_call(start_mcp, by_hand):
    mcp = await start_mcp([Library()])
    client = await by_hand(mcp)
    listed = (await result(client, "prompts/list"))["prompts"]
    assert listed[0] == {
        "name": "library_review",
        "description": "Review a book.",
        "arguments": [
            {"name": "book", "description": "Its title.", "required": True},
            {"name": "tone", "required": False},
            {"name": "style", "required": False},
        ],
    }
    made = await result(client, "prompts/get", {"name": "library_review", "arguments": {"book": "Emma"}})
    assert [(each["role"], each["content"]["type"]) for each in made["messages"]] == [
        ("user", "text"),
        ("user", "image"),
    ]
    assert made["messages"][0]["content"]["text"] == "Write a kind review of Emma."
    _, unknown = await result(client, "prompts/get", {"name": "library_revue"})
    assert (unknown["code"], unknown["data"]["type"]) == (-32602, "unknown_prompt")
    assert "library_review" in unknown["message"]
    _, wrong = await result(client, "prompts/get", {"name": "library_review", "arguments": {"tone": "loud"}})
    assert wrong["data"]["type"] == "invalid_arguments"


class LateLibrary(Module):
    """Takes its time to start again."""

    name = "late"

    def __init__(self) -> None:
        super().__init__()
        self.entered = asyncio.Event()
        self.may_start = asyncio.Event()
        self.may_start.set()

    async def init(self, runtime) -> None:
        self.entered.set()
        await self.may_start.wait()

    @tool(effects=["session"], served_as="prompt")
    async def late_greet(self) -> str:
        """Greet."""
        return "Greet."

    @tool(effects=["session"], served_as="late://list")
    async def late_list(self) -> str:
        """All books."""
        return "Emma"


async def test_what_a_module_serves_that_is_starting_is_waited_for(start_mcp, by_hand):
    """Clients ask for it before the modules of a server that has just started are ready."""
    library = LateLibrary()
    mcp = await start_mcp([library])
    client = await by_hand(mcp)
    await mcp.host.modules.disable("late")
    library.may_start.clear()
    library.entered.clear()
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as group:
        group.create_task(mcp.host.modules.enable("late"))
        await library.entered.wait()
        _, none = await result(client, "resources/read", {"uri": "agentcore://artifacts/none"})
        assert none["data"]["type"] == "artifact_not_found"
        asked = [
            group.create_task(client.post(asking))
            for asking in (
                request("prompts/get", {"name": "late_greet"}, 2),
                request("resources/read", {"uri": "late://list"}, 3),
                request("resources/subscribe", {"uri": "late://list"}, 4),
            )
        ]
        assert (await result(client, "ping")) == {}
        library.may_start.set()
    made, read, subscribed = [each.result()[1]["result"] for each in asked]
    assert made["messages"][0]["content"]["text"] == "Greet."
    assert read["contents"][0]["text"] == "Emma"
    assert subscribed == {}


async def test_argument_of_a_few_values_is_completed(start_mcp, by_hand):
    mcp = await start_mcp([Library()])
    client = await by_hand(mcp)
    wish = {"ref": {"type": "ref/prompt", "name": "library_review"}, "argument": {"name": "tone", "value": "k"}}
    completion = (await result(client, "completion/complete", wish))["completion"]
    assert completion == {"values": ["kind", "keen"], "total": 2, "hasMore": False}
    wish["argument"] = {"name": "style", "value": ""}
    assert (await result(client, "completion/complete", wish))["completion"]["values"] == ["short", "long"]


async def test_argument_is_completed_by_its_module_which_knows_the_others(start_mcp, by_hand):
    mcp = await start_mcp([Library()], clients={"narrow": {"tools": ["shop_*"]}})
    client, narrow = await by_hand(mcp), await by_hand(mcp, "narrow")
    wish = {"ref": {"type": "ref/prompt", "name": "library_review"}, "argument": {"name": "book", "value": "E"}}
    assert (await result(client, "completion/complete", wish))["completion"] == {"values": ["Emma", "Endgame"]}
    assert (await result(narrow, "completion/complete", wish))["completion"]["values"] == []
    within = {**wish, "context": {"arguments": {"tone": "harsh"}}}
    assert len((await result(client, "completion/complete", within))["completion"]["values"]) == 100
    for value in ("!", "E" * 2_000):
        wish["argument"]["value"] = value
        assert (await result(client, "completion/complete", wish))["completion"]["values"] == []
    wish["ref"]["name"] = "library_list"
    assert (await result(client, "completion/complete", wish))["completion"]["values"] == []


async def test_resources_are_listed_and_read_by_a_call(start_mcp, by_hand):
    mcp = await start_mcp([Library()])
    client = await by_hand(mcp)
    assert [each["uri"] for each in (await result(client, "resources/list"))["resources"]] == ["books://list"]
    templates = (await result(client, "resources/templates/list"))["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["books://{title}/page/{number}", "books://order/{title}"]
    listed = (await result(client, "resources/read", {"uri": "books://list"}))["contents"]
    assert listed == [{"uri": "books://list", "mimeType": "text/plain", "text": "Emma\nUlysses"}]
    page = (await result(client, "resources/read", {"uri": "books://Emma/page/7"}))["contents"]
    assert page == [{"uri": "books://Emma/page/7", "mimeType": "text/markdown", "text": "page 7"}]
    _, late = await result(client, "resources/read", {"uri": "books://Emma/page/101"})
    assert (late["code"], late["data"]["type"]) == (-32602, "no_such_page")
    _, none = await result(client, "resources/read", {"uri": "books://Emma"})
    assert none["data"]["type"] == "artifact_not_found"


@pytest.mark.slow
async def test_what_is_served_is_bounded_and_asked_about_like_any_call_and_is_no_tool(start_mcp, by_hand):
    mcp = await start_mcp([Library()], clients={"narrow": {"tools": ["shop_*"]}})
    client, narrow = await by_hand(mcp), await by_hand(mcp, "narrow")
    names = [tool["name"] for tool in (await result(client, "tools/list"))["tools"]]
    assert not any(name.startswith("library_") for name in names)
    assert "unknown_tool" in (await client.call("library_list"))["content"][0]["text"]
    _, asked = await result(client, "resources/read", {"uri": "books://order/Emma"})
    assert asked["data"]["type"] == "approval_required"
    assert [each.definition.name for each in mcp.host.approvals.waiting] == ["library_order"]
    assert (await result(narrow, "prompts/list"))["prompts"] == []
    assert (await result(narrow, "resources/templates/list"))["resourceTemplates"] == []
    _, hidden = await result(narrow, "resources/read", {"uri": "books://list"})
    assert hidden["data"]["type"] == "artifact_not_found"


async def test_prompt_that_asks_goes_on_with_the_answer(start_mcp):
    mcp = await start_mcp([Library()])
    client = await hand(mcp)
    wish = whole("prompts/get", {"name": "library_greet"}, elicitation={})
    first = (await ask(client, wish))[1]["result"]
    assert first["resultType"] == "input_required"
    more = {"requestState": first["requestState"], "inputResponses": {"answer": accepted(answer="Ada")}}
    last = (await ask(client, whole("prompts/get", {"name": "library_greet", **more}, elicitation={})))[1]["result"]
    assert last["messages"][0]["content"]["text"] == "Greet Ada."
    assert (await begin(client, "library_greet"))["isError"]  # no tool


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("promt", "must be 'prompt', 'view', or a URI"),
        ("agentcore://artifacts/1", "must be 'prompt', 'view', or a URI"),
        ("no spaces: here", "must be 'prompt', 'view', or a URI"),
        (1, "must be text"),
        ("", "must be 'prompt', 'view', or a URI"),
        ("books://{id}", "served_as names 'id', which is no argument"),
    ],
)
async def test_what_a_tool_cannot_be_served_as_leaves_it_out(start_mcp, wrong, said):
    class Odd(Module):
        """Serves something else."""

        @tool(effects=["session"], served_as=wrong)
        async def odd_one(self) -> str:
            """Nothing."""
            return ""

    with pytest.raises(ModuleNotReadyError, match=said):
        await start_mcp([Odd()])
