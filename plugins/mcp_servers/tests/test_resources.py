"""What servers keep beside their tools, by the one tool that lists and reads it."""

import asyncio
import sys
from pathlib import Path

import pytest
from agentcore_mcp_servers import module, views

from agentcore.api import ArtifactLink, EmbeddedResource, Image
from agentcore.core.dry_run import completing

SERVER = {
    "command": sys.executable,
    "args": ["-c", Path(__file__).with_name("example_server.py").read_text(encoding="utf-8")],
}
HOST = {"modules": ["mcp_sdk"], "config": {"mcpServers": {"SDK": SERVER}}}
"""The example of the SDK, for the tests that only ask it; named apart from what other hosts of this process mount."""


async def text_of(host, **arguments):
    return (await host.call("example_resources", **arguments)).blocks()[0].text


@pytest.mark.more
async def test_resources_and_templates_are_listed_and_read(shared_host):
    host = shared_host
    listed = await host.call("sdk_resources")
    assert listed.untrusted
    today, days = listed.blocks()[0].text.splitlines()
    assert today == "notes://today – today (text/plain): What is on today."
    assert days == "notes://{day} – day (template, text/plain): What is on another day."
    (note,) = (await host.call("sdk_resources", uri="notes://today")).blocks()
    assert note == EmbeddedResource("notes://today", "Water the plants.", "text/plain")
    (other,) = (await host.call("sdk_resources", uri="notes://monday")).blocks()
    assert other.content == "Nothing on monday."


@pytest.mark.more
async def test_resource_that_is_none_is_refused_in_the_server_s_words(shared_host):
    outcome = await shared_host.outcome("sdk_resources", {"uri": "plans://today"})
    assert outcome.error.type == "server_refused"


async def test_long_list_comes_in_pages_and_is_narrowed_by_words(mount, odd):
    host = await mount(odd("shelf"), is_failure_expected=True)
    first = (await text_of(host)).splitlines()
    assert (len(first), first[0], first[-1]) == (
        51,
        "book://0 – Book 0",
        "… page 1 of 3; go on with page=2, or narrow it with query",
    )
    assert len((await text_of(host, page=3)).splitlines()) == 20
    assert (await text_of(host, query="BOOK 11")).splitlines()[:2] == ["book://11 – Book 11", "book://110 – Book 110"]
    assert await text_of(host, query="map") == "No resource holds 'map'."
    outcome = await host.outcome("example_resources", {"page": 4})
    assert outcome.error.type == "page_not_found"


async def test_data_of_a_resource_are_kept_and_pictures_shown(mount, odd):
    host = await mount(odd("shelf"), is_failure_expected=True)
    book, cover = (await host.call("example_resources", uri="book://7")).blocks()
    assert isinstance(book, ArtifactLink)
    assert book.mime == "application/pdf"
    assert cover == Image(b"\x89PNG\r\n\x1a\n", "image/png")


@pytest.mark.more
async def test_block_says_what_reading_may_do_and_whether_it_is_offered(mount, plain):
    host = await mount(plain(effects={"resources": ["read"]}))
    definition = host.host.registry.tools["example_resources"].definition
    assert (definition.effects, definition.annotations.read_only) == ({"read"}, True)
    await host.host.modules.disable("mcp_example")
    host = await mount(plain(tools=["!resources"]))
    assert "example_resources" not in host.host.registry.tools


async def test_server_that_could_have_resources_and_has_none_gets_no_tool_for_them(mount, odd):
    host = await mount(odd("bare"))
    assert [name for name in host.host.registry.tools if name.startswith("example")] == ["example_go"]


async def test_tool_of_the_server_keeps_its_name(mount, odd, capsys):
    host = await mount(odd("taken"))
    assert host.host.registry.tools["example_resources"].definition.description == "resources"
    assert "its resources have none" in capsys.readouterr().out


# -- prompts -------------------------------------------------------------------------------------------------------


async def test_prompts_are_for_a_person_to_pick_and_no_tools_of_models(shared_host):
    host = shared_host
    definition = host.host.registry.tools["sdk_plan"].definition
    assert (definition.served_as, definition.input_schema["required"]) == ("prompt", ["topic"])
    made = await host.call("sdk_plan", topic="a garden")
    assert [block.text for block in made.blocks()] == ["Make a plan for a garden."]
    outcome = await host.outcome("sdk_plan", {"topic": 3})
    assert outcome.error.type == "invalid_arguments"


async def test_prompts_that_are_none_or_have_the_name_of_a_tool_are_left_out(mount, odd, capsys):
    host = await mount(odd("prompts"), is_failure_expected=True)
    names = {name for name, tool in host.host.registry.tools.items() if tool.definition.served_as == "prompt"}
    assert names == {"example_talk"}
    assert "which is a tool" in capsys.readouterr().out
    said = [block.text for block in (await host.call("example_talk")).blocks()]
    assert said == ["Knock knock.", "Assistant: Who is there?"]


async def test_prompts_that_cannot_be_listed_take_no_tool_away(mount, odd, capsys):
    host = await mount(odd("no_prompts"))
    assert (await host.call("example_go")).blocks()[0].text == "done"
    assert "its prompts are left out" in capsys.readouterr().out


async def test_prompts_resources_and_views_that_never_come_take_no_tool_away(mount, odd, capsys, monkeypatch):
    monkeypatch.setattr(module, "_BESIDES_SECONDS", 0.2)
    monkeypatch.setattr(views, "READ_SECONDS", 0.2)
    host = await mount(odd("slow_extras"))
    assert (await host.call("example_go")).blocks()[0].text == "done"
    said = capsys.readouterr().out
    assert "its prompts are left out: it did not list them" in said
    assert "its resources are left out: it did not list them" in said
    assert "the view ui://odd/view cannot be shown: it was not there" in said


# -- what their arguments can be -----------------------------------------------------------------------------------


@pytest.fixture
def ask(shared_host):
    """Complete an argument of the example's prompt."""
    tool = shared_host.host.registry.tools["sdk_visit"]

    async def complete(argument, begun, **given):
        return list((await shared_host.host.complete_argument(tool, argument, begun, given)).values)

    return complete


async def test_server_says_what_an_argument_can_be_and_knows_the_others(shared_host, ask):
    assert await ask("country", "I") == ["Italy", "Iceland"]
    assert await ask("country", "It") == ["Italy"]
    assert await ask("city", "R") == []
    assert await ask("city", "R", country="Italy") == ["Rome", "Reggio nell'Emilia", "Rimini"]
    assert len(await ask("city", "R", country="many")) == 100
    assert await ask("nothing", "R") == []


async def test_completion_that_fails_hangs_or_is_odd_is_none_and_the_server_goes_on(shared_host, ask, monkeypatch):
    assert await ask("city", "fail") == []
    with monkeypatch.context() as patch:
        patch.setattr(completing, "COMPLETION_SECONDS", 0.2)
        assert await asyncio.gather(*(ask("city", "hang") for _ in range(20))) == [[]] * 20
    assert await ask("city", "odd") == ["odd enough"]
    assert await ask("city", "x" * 1001) == []
    assert (await shared_host.call("sdk_plan", topic="a garden")).blocks()[0].text == "Make a plan for a garden."


async def test_server_that_does_not_complete_is_not_asked(mount, odd):
    host = await mount(odd("prompts"), is_failure_expected=True)
    assert host.host.registry.tools["example_talk"].definition.complete is None


# -- instructions --------------------------------------------------------------------------------------------------


@pytest.mark.more
async def test_instructions_are_told_to_models_where_the_block_says_so_and_a_person_has_seen_them(mount, plain):
    off = await mount(plain())
    assert off.host.modules.get_record("mcp_example").instructions == ""
    await off.host.modules.disable("mcp_example")
    host = await mount(plain(instructions=True), accepts_definitions=False)
    module = host.host.modules.get_record("mcp_example")
    (change,) = host.host.policy_changes.waiting
    assert change.proposal.paths[0] == "instructions for models"
    assert "+  Count on it." in change.proposal.diff[0][1]
    assert module.instructions == ""
    assert "its instructions for models" in module.list_problems()[0]
    await host.accept_definitions()
    assert module.instructions == "Count on it."


@pytest.mark.more
async def test_very_long_instructions_are_cut(mount, odd):
    host = await mount(odd("wordy", instructions=True))
    said = host.host.modules.get_record("mcp_example").instructions
    assert (len(said), said[-3:]) == (2000, "xx…")
