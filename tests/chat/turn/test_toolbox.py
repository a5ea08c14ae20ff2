"""Many tools: a model is given some and finds the rest; and of two modules that do the same, one is offered."""

import json
from typing import ClassVar

import pytest

from agentcore.api import Module, ToolContext, ToolDefinition, tool

pytestmark = pytest.mark.spec("K9")


class Many(Module):
    """As many tools as a test wants, each with a word of its own."""

    def __init__(self, name, count, words=(), ranks=None):
        self.name, self.count, self.words, self.ranks = name, count, words, ranks or {}
        self.called = []

    def get_tool_definitions(self):
        return [
            ToolDefinition(
                f"{self.name}_{number:02}",
                f"Does {self.words[number] if number < len(self.words) else 'nothing of note'}.",
                {"type": "object", "properties": {}},
                effects=frozenset(("read",)),
                rank=self.ranks.get(number, 5),
            )
            for number in range(self.count)
        ]

    async def execute_tool_call(self, ctx: ToolContext, tool_name: str, args: dict) -> str:
        self.called.append(tool_name)
        return "done"


class Better(Many):
    """Does what `plain` does, in another form."""

    stands_in_for: ClassVar = ("plain",)


ALLOW = {"approvals": {"mode": "allow"}}


def offered(request):
    return [tool["function"]["name"] for tool in request.get("tools", ())]


async def test_forty_eight_tools_are_all_given_without_a_search_whatever_a_client_brings(open_talk, provider):
    client = [{"name": f"page_{number}", "description": "x", "parameters": {"type": "object"}} for number in range(4)]
    provider.say("Hi.")
    async with open_talk(Many("many", 48)) as talk:
        await talk.post(browser_tools=client)
    assert offered(provider.requests[0]) == [
        *(f"many_{number:02}" for number in range(48)),
        *(tool["name"] for tool in client),
    ]


async def test_of_more_each_module_has_its_share_and_the_rest_is_found_and_stays(open_talk, provider):
    """The model finds a tool, calls it, and has it still after a restart, at the same place."""
    large, words = Many("large", 60, [""] * 57 + ["weigh elephants"]), '{"query": "weigh an elephant"}'
    provider.say("", ("0", "large_75", "{}"))
    provider.say("", ("a", "find_tools", words))
    provider.say("", ("b", "large_57", "{}"))
    provider.say("Heavy.")
    provider.say("Still.")
    async with open_talk(large, Many("small", 5), **ALLOW) as talk:
        await talk.post("weigh it")
    async with open_talk(Many("large", 60), Many("small", 5), **ALLOW) as talk:
        await talk.post("again")
    first, _, second, _, last = (offered(request) for request in provider.requests)
    assert "there is no tool 'large_75'; did you mean 'large_" in provider.requests[1]["messages"][-1]["content"]
    assert len(first) == 48 + 1
    assert first[-1] == "find_tools"
    assert {f"small_{number:02}" for number in range(5)} <= set(first)
    assert "large_57" not in first
    assert second == last == [*first, "large_57"]
    assert large.called == ["large_57"]


class Ranked(Module):
    """Says by `@tool` which of its tools goes first."""

    name = "ranked"

    @tool(rank=9, read_only=True)
    def rare(self) -> str:
        """Is seldom asked for."""
        return "done"

    @tool(rank=0, read_only=True)
    def usual(self) -> str:
        """Is always asked for."""
        return "done"


async def test_what_an_agent_names_goes_first_then_low_ranks_and_each_module_has_its_first_three(open_talk, provider):
    """Two modules with 60 tools each; ranks stand in `@tool`, in definitions and in dicts. The order stays."""
    provider.say("Hi.")
    provider.say("Hi.")
    large, other = Many("large", 60, ranks={58: 0, 59: 4, 0: 9}), Many("other", 60, ranks={50: 0})
    agents = {"named": {"tools": ["*", "other_[012]*"]}}
    async with open_talk(large, Ranked(), other, agents=agents) as talk:
        await talk.post()
        await talk.post(agent_id="named", session_id="s2")
    first, named = (offered(request)[:-1] for request in provider.requests)
    in_turn = [f"large_{number:02}" for number in range(1, 23)]
    assert first == [*in_turn, "large_58", "large_59", "rare", "usual", *other_tools(21), "other_50"]
    assert named == [*in_turn[:13], "large_58", "large_59", "rare", "usual", *other_tools(30), "other_50"]


async def test_tool_that_is_not_offered_can_be_called_by_its_name(open_talk, provider):
    """Such as one that a result names: it is offered from then on, and checked and approved like any other."""
    many = Many("many", 60)
    provider.say("", ("a", "many_55", "{}"))
    provider.say("Done.")
    async with open_talk(many, **ALLOW) as talk:
        await talk.post()
    first, second = (offered(request) for request in provider.requests)
    assert "many_55" not in first
    assert second == [*first, "many_55"]
    assert many.called == ["many_55"]


async def test_search_returns_at_most_five_tools_that_are_not_offered_and_near_names(open_talk, provider):
    words = [""] * 40 + ["weigh elephants"] * 20
    searches = {"a": "weigh elephants", "b": "many_595"}
    provider.say("", *((key, "find_tools", json.dumps({"query": query})) for key, query in searches.items()))
    provider.say("Done.")
    async with open_talk(Many("many", 60, words)) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "weigh")
        elephants, near = (call["result"]["data"] for call in (await talk.items(session_id))[1]["calls"])
    assert [tool["name"] for tool in elephants["found"]] == [f"many_{number}" for number in range(48, 53)]
    assert elephants["already_offered"] == [f"many_{number}" for number in range(40, 45)]
    assert "many_59" in [tool["name"] for tool in near["found"]]


def other_tools(count):
    return [f"other_{number:02}" for number in range(count)]


async def test_search_is_no_call_of_the_host_and_needs_no_person(open_talk, provider):
    provider.say("", ("a", "find_tools", '{"query": "paint"}'))
    provider.say("", ("b", "find_tools", "{}"), ("c", "find_tools", '{"query": "elephants"}'))
    provider.say("Ok.")
    async with open_talk(Many("many", 60, ["paint walls"])) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "paint")
        items = await talk.items(session_id)
    found, (wrong, none) = items[1]["calls"][0], items[2]["calls"]
    assert none["result"]["data"] == {
        "found": [],
        "note": "No tool answers to these words; say it in others. There are more of: many.",
    }
    assert found["result"]["data"] == {"found": [], "already_offered": ["many_00"]}
    assert (wrong["state"], wrong["result"]["error"]["type"]) == ("failed", "invalid_arguments")


async def test_tools_are_found_in_chinese_and_defined_in_english(open_talk, provider):
    provider.say("", ("a", "find_tools", json.dumps({"query": "给大象称重"})))
    provider.say("好。")
    async with open_talk(Many("many", 60, [""] * 50 + ["称重大象"]), locale="zh") as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "称重")
        items = await talk.items(session_id)
    assert items[1]["calls"][0]["result"]["data"]["found"][0]["name"] == "many_50"
    assert "Find further tools" in provider.requests[0]["tools"][-1]["function"]["description"]


async def test_model_that_writes_its_calls_finds_tools_too(open_talk, provider):
    call = {"tool_call": {"tool_name": "find_tools", "arguments": {"query": "elephants"}}}
    provider.say(json.dumps(call))
    provider.say("Found.")
    async with open_talk(Many("many", 60, [""] * 50 + ["elephants"]), model={"tools": "prompted"}) as talk:
        await talk.post("x")
    system = provider.requests[1]["messages"][0]["content"]
    assert "- many_50: Does elephants." in system


async def test_tools_that_another_module_stands_in_for_are_offered_only_to_who_names_them(open_talk, provider):
    for _ in range(3):
        provider.say("Hi.")
    agents = {"both": {"tools": ["plain_*", "better_*"]}}
    async with open_talk(Many("plain", 2), Better("better", 2), agents=agents) as talk:
        await talk.post()
        await talk.post(agent_id="both", session_id="s2")
    async with open_talk(Many("plain", 2)) as talk:
        await talk.post(session_id="s3")
    default, both, alone = (offered(request) for request in provider.requests)
    assert default == ["better_00", "better_01"]
    assert both == ["plain_00", "plain_01", "better_00", "better_01"]
    assert alone == ["plain_00", "plain_01"]


async def test_module_cannot_have_the_name_of_the_search(open_talk):
    class Rogue(Many):
        def get_tool_definitions(self):
            return [ToolDefinition("find_tools", "Mine.", {"type": "object", "properties": {}})]

    with pytest.raises(AssertionError, match="reserved"):
        async with open_talk(Rogue("rogue", 0)):
            pass
