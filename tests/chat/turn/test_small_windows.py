"""Models with small contexts: the tools that they are given, how much of a result, and that they can work."""

import json
import re
from pathlib import Path

import pytest

from tests.chat.turn.shelf import ALLOW, check_pairs, is_summing_up, size_of, within
from tests.chat.turn.test_toolbox import Many, offered
from tests.support.provider import Reply

pytestmark = pytest.mark.spec("K9")

MODULES = json.loads((Path(__file__).parents[3] / "app.json").read_text())["modules"]
WRONG, RIGHT = "return price - tax", "return price + tax"


def write_project(folder):
    """A program of about 27 kB with one wrong line in its last third, and its test."""
    filler = [
        f"def step_{number:03}(value):\n    return value + {number}  # one of many steps" for number in range(390)
    ]
    filler.insert(300, f"def total(price, tax):\n    {WRONG}")
    (folder / "shop.py").write_text("\n\n\n".join(filler) + "\n")
    assert 24_000 < (folder / "shop.py").stat().st_size < 30_000
    (folder / "check.py").write_text("import shop\nassert shop.total(2, 1) == 3\nprint('all is well')\n")


def call(tool, **arguments):
    return Reply("", [(f"c_{tool}", tool, json.dumps(arguments))])


def mending():
    """A model that reads the file from its beginning until it sees the wrong line, edits it, and runs the test."""
    done = {"line": 1, "step": "read"}

    def play(request):
        check_pairs(request)
        if is_summing_up(request):
            return Reply("The person wants shop.py mended and check.py run.")
        names = set(offered(request))
        assert {"read_file", "edit", "bash"} <= names
        last = str(request["messages"][-1]["content"])
        if done["step"] == "read":
            if WRONG in last:
                done["step"] = "edited"
                return call("edit", path="shop.py", edits=[{"old": WRONG, "new": RIGHT}])
            numbers = [int(number) for number in re.findall(r"^ *(\d+)\t", last, re.MULTILINE)]
            done["line"] = max([done["line"] - 1, *numbers]) + 1
            return call("read_file", path="shop.py", offset=done["line"])
        if done["step"] == "edited":
            done["step"] = "run"
            return call("bash", command="python3 check.py")
        return Reply("It is mended." if "all is well" in last else f"It failed: {last[:200]}")

    return play


@pytest.mark.more
@pytest.mark.processes
@pytest.mark.usefixtures("bubblewrap")
async def test_default_agent_reads_a_long_file_edits_it_and_runs_a_test_in_8192_tokens(open_talk, provider, tmp_path):
    """The size comes from the provider's list. Nothing that the model is sent exceeds it."""
    window = 8_192
    provider.listed = {"data": [{"id": "m", "meta": {"n_ctx": window}}]}
    provider.script = within(window, mending())
    (tmp_path / "workspace").mkdir(exist_ok=True)
    write_project(tmp_path / "workspace")
    async with open_talk(*MODULES, **ALLOW) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "Mend shop.py so that check.py passes.")
        items = await talk.items(session_id)
    assert items[-1]["text"] == "It is mended.", items[-1]
    assert not [event for event in events if event["type"] == "session.error"]
    assert RIGHT in (tmp_path / "workspace" / "shop.py").read_text()
    sizes = list(map(size_of, provider.requests))
    assert sizes[0] <= window
    # how the provider counts is learned from its first answers
    assert sum(size > window for size in sizes) <= 2
    tools = [tool for tool in provider.requests[0]["tools"] if tool["function"]["name"] != "find_tools"]
    assert size_of({"tools": tools}) <= window * 0.4  # counted in the provider's way, which is coarse
    assert offered(provider.requests[-1]) == offered(provider.requests[0])


@pytest.mark.more
@pytest.mark.processes
@pytest.mark.usefixtures("bubblewrap")
async def test_smallest_window_has_an_agent_that_reads_edits_and_runs_commands(open_talk, provider, tmp_path):
    """What is offered by itself are the tools for just that; a result never fills the window."""
    found = []

    def play(request):  # noqa: PLR0911 - a step each
        check_pairs(request)
        last = str(request["messages"][-1]["content"])
        if is_summing_up(request):
            return Reply("The person wants shop.py mended and check.py run.")
        if "all is well" in last:
            return Reply("It is mended.")
        if last.startswith("Mend"):
            return call("bash", command="cat shop.py")
        if "step_000" in last:
            return call("bash", command="grep -n 'return price' shop.py")
        if match := re.search(r"(\d+):    return price", last):
            found.append(int(match[1]))
            return call("read_file", path="shop.py", offset=found[0] - 1, limit=3)
        if WRONG in last and f"{found[0]}\t" in last:
            return call("edit", path="shop.py", edits=[{"old": WRONG, "new": RIGHT}])
        return call("bash", command="python3 check.py")

    provider.listed = {"data": [{"id": "m", "meta": {"n_ctx": 2_048}}]}
    (tmp_path / "workspace").mkdir(exist_ok=True)
    write_project(tmp_path / "workspace")
    async with open_talk(*MODULES, **ALLOW) as talk:
        session_id = await talk.begin()
        provider.script = within(2_048, lambda request: Reply("Hello!"))
        assert not [event for event in await talk.say(session_id, "Hello") if event["type"] == "session.error"]
        provider.script = within(2_048, play)
        await talk.say(session_id, "Mend shop.py so that check.py passes.")
        items = await talk.items(session_id)
    assert items[-1]["text"] == "It is mended.", items[-1]
    assert set(offered(provider.requests[0])) == {"read_file", "edit", "bash"}
    # how the provider counts is learned from its answers
    assert sum(size_of(request) > 2_048 for request in provider.requests) <= 2
    # a result does not name a tool that the model can neither call nor find
    assert "read it with artifact" not in str(provider.requests)


async def test_context_that_a_refusal_makes_known_has_fewer_tools_at_once(open_talk, provider):
    """The provider lists no size: the first request is refused, the second fits."""
    provider.script = within(4_096, lambda request: Reply("Hello."))
    async with open_talk(Many("many", 48, ["weighs elephants " * 12] * 48)) as talk:
        session_id = await talk.begin()
        events = await talk.say(session_id, "Hello")
        assert not [event for event in events if event["type"] == "session.error"]
        await talk.say(session_id, "Again")
    refused, *answered = provider.requests
    assert len(offered(refused)) == 48
    assert all(size_of(request) <= 4_096 for request in answered[-2:])
    assert "many_00" in offered(answered[-1])
    assert "find_tools" in offered(answered[-1])
    assert offered(answered[-2]) == offered(answered[-1])


async def test_small_window_has_tools_that_an_agent_names_then_low_ranks_and_the_rest_is_found(open_talk, provider):
    provider.say("", ("a", "find_tools", '{"query": "paint"}'))
    provider.say("Found.")
    words = ["weighs elephants " * 8] * 28 + ["paints walls " * 8]
    many, other = Many("many", 29, words, ranks={20: 0, 21: 1}), Many("other", 9, ["counts sheep " * 8] * 9)
    agents = {"default": {"tools": ["*", "other_08"]}}
    async with open_talk(many, other, model={"context_tokens": 3_200}, agents=agents) as talk:
        session_id = await talk.begin()
        await talk.say(session_id, "hello")
        view = await talk.ask("GET", f"/api/sessions/{session_id}/system")
    first, then = map(offered, provider.requests)
    assert {"many_20", "many_21", "other_08"} <= set(first)
    assert 3 < len(first) < 25
    assert then == [*first, "many_28"]
    assert view["tools"]["given"] == len(then)


async def test_large_window_has_the_usual_tools(open_talk, provider):
    provider.say("Hi.")
    async with open_talk(Many("many", 60), model={"context_tokens": 32_000}) as talk:
        await talk.post()
    assert len(offered(provider.requests[0])) == 48 + 1


async def test_instructions_of_the_folder_take_a_share_of_a_small_window(open_talk, provider, tmp_path):
    provider.say("Hi.")
    (tmp_path / "workspace").mkdir(exist_ok=True)
    (tmp_path / "workspace" / "AGENTS.md").write_text("Use tabs. " * 1_500)
    async with open_talk(model={"context_tokens": 4_096}) as talk:
        await talk.accept_instructions()
        await talk.say(await talk.begin(), "hello")
    system = provider.requests[0]["messages"][0]["content"]
    assert 800 < system.count("Use tabs.") * 10 < 1_300
    assert "more bytes" in system
