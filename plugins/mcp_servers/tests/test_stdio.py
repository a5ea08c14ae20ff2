"""Servers that are commands, in the real host."""

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path

import psutil
import pytest
from agentcore_mcp_servers import link

from agentcore.api import Audio, EmbeddedResource, Image, ToolIcon
from agentcore.core.modules import loader
from tests.support.waiting import wait_until

SERVER = {
    "command": sys.executable,
    "args": ["-c", Path(__file__).with_name("example_server.py").read_text(encoding="utf-8")],
}
HOST = {"modules": ["mcp_sdk"], "config": {"mcpServers": {"SDK": SERVER}}}
"""The example of the SDK, for the tests that only call it. No other host of this process may have its module: the end
of a host takes along what its modules have left, which is found by their names."""


def tools_of(host):
    """The names of the module's tools."""
    return sorted(host.host.registry.tools)


async def text_of(host, tool, **arguments):
    """The text that a tool gives."""
    return (await host.call(tool, **arguments)).blocks()[0].text


def servers_running(block):
    """The processes of ours that run the program of a block."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            if block["args"][1] in each.cmdline():
                found.append(each)
    return found


async def until_restarted(host, tool, **arguments):
    """The outcome of a call to a server that is being started again."""

    async def call():
        outcome = await host.outcome(tool, arguments)
        return None if not outcome.ok and outcome.error.type == "server_ended" else outcome

    return await wait_until(call)


@pytest.mark.more
async def test_tools_are_called_under_the_name_of_their_server(shared_host):
    result = await shared_host.call("sdk_add", a=2, b=3)
    assert result.data == {"result": 5}
    assert result.untrusted


@pytest.mark.more
async def test_a_module_is_called_as_its_block_is(shared_host):
    assert shared_host.host.modules.get_record("mcp_sdk").manifest.title == "SDK"


async def test_a_server_knows_the_workspace_and_no_secret_of_ours(mount, plain, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    host = await mount(plain() | {"env": {"OWN": "1"}})
    said = await text_of(host, "example_where")
    assert "'OWN'" in said
    assert "ANTHROPIC_API_KEY" not in said
    assert said.startswith(f"{host.workspace} ")


@pytest.mark.parametrize(
    ("filters", "offered"),
    [
        ({"includeTools": ["where", "names"], "excludeTools": ["names"]}, ["example_where"]),
        ({"disabledTools": ["die", "read", "names", "write", "shell"]}, ["example_resources", "example_where"]),
        ({"enabled_tools": []}, []),
    ],
)
async def test_filters_of_other_clients_are_kept(mount, plain, filters, offered):
    host = await mount(plain(sandbox="off") | filters)
    assert [name for name in tools_of(host) if name.startswith("example_")] == offered


@pytest.fixture
def folders_told(mount):
    """The folders that a server is told to work on (roots)."""
    program = Path(__file__).with_name("asking_server.py").read_text(encoding="utf-8")

    async def told(*words, **options):
        block = {"command": sys.executable, "args": ["-c", program, "2025-11-25", *words], **options}
        host = await mount(block)
        said = json.loads(await text_of(host, "example_folders"))
        return [each["uri"].removeprefix("file://") for each in said["roots"]], str(host.workspace)

    return told


async def test_a_server_is_told_the_folders_of_its_block_and_of_the_workspace(folders_told, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "own").mkdir()
    told, workspace = await folders_told(str(tmp_path / "docs"), "/no/such/folder", cwd=str(tmp_path / "own"))
    assert told == [str(tmp_path / "own"), str(tmp_path / "docs"), workspace]


async def test_a_block_says_which_folders_its_server_is_told(folders_told, tmp_path):
    told, _ = await folders_told(str(tmp_path), agentcore={"roots": ["/srv/data"]})
    assert told == ["/srv/data"]


WRITTEN = "s3cret-0123456789-abcdef"


@pytest.mark.parametrize(
    "more",
    [
        {"env": {"SOME_KEY": WRITTEN}},
        {"env": {"PLACE": f"postgres://me:{WRITTEN}@db.test:5432/x"}},
        {"env": {"OTHER": WRITTEN}},
        {"args": [f"--token={WRITTEN}"]},
        {"args": ["--token", WRITTEN]},
        {"args": ["-e", f"API_KEY={WRITTEN}"]},
        {"args": ["--config", json.dumps({"a": [{"password": WRITTEN}]})]},
        {"args": [f"me:{WRITTEN}@db.test/x"]},
        {"args": [f"db.test/x?api_key={WRITTEN}"]},
        {"args": [f"https://db.test/#access_token={WRITTEN}"]},
        {"args": ["--header", f"Authorization: Bearer {WRITTEN}"]},
    ],
)
async def test_a_secret_that_a_block_says_itself_is_masked_in_what_the_server_writes(mount, plain, more):
    block = plain()
    host = await mount(block | more | {"args": [*block["args"], *more.get("args", ())]})
    outcome = await host.outcome("example_die", {"words": f"out of memory: {WRITTEN}"})
    assert "out of memory: •••" in outcome.error.message
    # cut in the middle of the secret, of which nothing is left then
    await until_restarted(host, "example_where")
    outcome = await host.outcome("example_die", {"words": f"{WRITTEN} {'x' * 1990}"})
    assert "xxx" in outcome.error.message
    assert "abcdef" not in outcome.error.message


async def test_plain_values_of_a_block_are_not_masked(mount, plain):
    env = {"MODE": "production", "PLACE": "/var/lib/things", "AT": "https://db.test/things", "LANGUAGE": "en"}
    host = await mount(plain() | {"env": env})
    outcome = await host.outcome("example_die", {"words": " ".join(env.values())})
    assert " ".join(env.values()) in outcome.error.message


async def test_half_a_secret_at_the_beginning_of_what_is_kept_is_left_out(mount, plain):
    host = await mount(plain() | {"env": {"API_KEY": WRITTEN}})
    await host.outcome("example_die", {"words": f"{WRITTEN} {'x' * (64 * 1024 - 8)}\nthe end"})
    await until_restarted(host, "example_where")
    report = await host.host.modules.get_record("mcp_example").report()
    assert "abcdef" not in report.log


@pytest.mark.parametrize(
    "more",
    [
        "--mode=fast",
        "--api-key=${KEPT_TOKEN:-kept-0123456789}",
        "--url=https://x.test/?apiKey=tvly-0123456789",
        "--token=x1",
        "--token x1",
        "-e API_KEY=x1",
        '--config {"api_key":"x1"}',
    ],
)
async def test_a_secret_in_an_argument_is_warned_of(mount, plain, more):
    block = plain()
    host = await mount(block | {"args": [*block["args"], *more.split(" ")]})
    notes = host.host.modules.get_record("mcp_example").notes
    assert ("secret in args" in notes) is (more != "--mode=fast")
    assert "0123456789" not in str(notes)


async def test_a_server_starts_in_the_folder_that_its_block_names(mount, plain, tmp_path):
    host = await mount(plain() | {"cwd": str(tmp_path)})
    assert (await text_of(host, "example_where")).startswith(f"{tmp_path} ")


async def test_pictures_are_pictures(shared_host):
    (picture,) = (await shared_host.call("sdk_picture")).blocks()
    assert isinstance(picture, Image)
    assert picture.mime == "image/png"


async def test_sounds_and_documents_arrive_as_what_they_are(mount, odd):
    sound, note, link = (await (await mount(odd("rich"))).call("example_go")).blocks()
    assert sound == Audio(b"RIFF", "audio/wav")
    assert note == EmbeddedResource("notes://today", "Water the plants.", "text/plain")
    assert "notes://more" in link.text


async def test_what_fails_there_fails_here_with_its_words(shared_host):
    outcome = await shared_host.outcome("sdk_fail", {"why": "no more ink"})
    assert outcome.error.type == "tool_failed"
    assert "no more ink" in outcome.error.message


async def test_wrong_arguments_never_reach_the_server(shared_host):
    outcome = await shared_host.outcome("sdk_add", {"a": "two", "b": 3})
    assert outcome.error.type == "invalid_arguments"


async def test_a_call_that_is_cancelled_is_cancelled_there(shared_host):
    place = shared_host.workspace / "state"
    going = asyncio.create_task(shared_host.outcome("sdk_slow", {"path": str(place)}))
    told = await shared_host.events.wait_for("call.progress")
    assert told["fraction"] == 0.25
    going.cancel()
    await asyncio.gather(going, return_exceptions=True)
    await wait_until(lambda: place.read_text() == "cancelled")


@pytest.mark.more
async def test_the_limit_of_a_call_cuts_a_server_that_hangs(mount, odd):
    host = await mount(odd("mute", timeout_s=0.5))
    outcome = await host.outcome("example_go")
    assert outcome.error.type == "timeout"


async def test_a_server_that_dies_is_started_again_and_its_call_is_not_repeated(mount, plain):
    host = await mount(plain())
    outcome = await host.outcome("example_die", {"words": "out of memory"})
    assert outcome.error.type == "server_ended"
    assert "exit code 3" in outcome.error.message
    assert "out of memory" in outcome.error.message
    assert not outcome.error.retryable
    again = await until_restarted(host, "example_where")
    assert again.unwrap().blocks()[0].text.startswith(f"{host.workspace} ")


async def test_a_server_that_does_not_start_again_is_told_of_with_its_last_words(mount, odd):
    host = await mount(odd("once"))
    assert (await host.outcome("example_go")).error.type == "server_ended"
    record = host.host.modules.get_record("mcp_example")
    await wait_until(lambda: record.waiting is not None)
    assert record.waiting.reason == "retry"
    assert "the disk is full" in record.waiting.said
    assert "the disk is full" in (await record.report()).facts["server"]


async def test_what_a_server_has_logged_stands_on_its_page_and_fills_no_log_of_ours(mount, odd, capsys):
    host = await mount(odd("chatty"))
    assert await text_of(host, "example_go") == "done"
    assert "[info] Here I am." in (await host.host.modules.get_record("mcp_example").report()).log
    lines = [line for line in capsys.readouterr().out.splitlines() if "Here I am." in line]
    assert lines
    assert all("[debug" in line for line in lines)


async def test_a_server_that_says_again_and_again_that_it_is_other_is_read_a_few_times(mount, odd):
    host = await mount(odd("restless"))
    assert await text_of(host, "example_go") == "done"
    record = host.host.modules.get_record("mcp_example")
    await wait_until(lambda: [tool.definition.name for tool in record.withheld] == ["example_last"])
    assert (await record.report()).log.count("asked for its tools") < 50


async def rows_of(host):
    """How many rows the record has."""
    await host.host.store.record.flush()
    return (await host.host.store.record.read_page())[0].seq


async def test_a_server_that_is_other_each_time_that_it_is_read_is_read_at_a_pace(mount, odd):
    host = await mount(odd("fickle"))
    record = host.host.modules.get_record("mcp_example")

    async def reads():
        return (await record.report()).log.count("asked for its tools")

    async with asyncio.timeout(10):
        while await reads() < 10:
            await asyncio.sleep(0.01)
    for _ in range(50):
        assert await text_of(host, "example_go") == "done"
    assert await reads() <= 13


@pytest.mark.more
async def test_flood_of_changes_fills_no_record_and_holds_up_nobody(mount, odd, measure_memory):
    host = await mount(odd("fickle"))
    memory = measure_memory()
    calls = 0
    began = await rows_of(host)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10):
            while True:
                assert await text_of(host, "example_go") == "done"
                calls += 1
    assert calls > 100
    assert await rows_of(host) - began - calls < 40
    assert memory.grown_mib() < 100


async def test_nobody_waits_for_a_server_that_is_started_again_much_later(mount, odd, monkeypatch):
    host = await mount(odd("once"))
    monkeypatch.setattr("agentcore_mcp_servers.server._FIRST_PAUSE", 3600)
    monkeypatch.setattr("agentcore_mcp_servers.server._STEADY_SECONDS", -1)
    assert (await host.outcome("example_go")).error.type == "server_ended"
    outcome = await until_restarted(host, "example_go")
    assert outcome.error.type == "server_unavailable"
    assert "exit code 5" in outcome.error.message


async def test_nothing_of_a_server_is_left_after_its_module(mount, plain):
    block = plain()
    host = await mount(block)
    assert servers_running(block)
    await host.host.modules.disable("mcp_example")
    assert not servers_running(block)


async def test_the_last_words_of_a_server_are_the_reason_why_it_did_not_start(mount, odd):
    host = await mount(odd("gone"), is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert record.state == "ready"
    assert record.waiting.reason == "retry"
    assert "no licence found" in record.waiting.said
    assert "exit code 4" in record.waiting.said


NODE = """
import sys
sys.stderr.write("loading\\nError: Cannot find module 'x'\\n    at Module._load (node:internal:1)\\n\\nNode.js v22\\n")
sys.exit(1)
"""


async def test_the_output_of_a_server_that_did_not_start_is_shown_line_by_line(mount):
    host = await mount({"command": sys.executable, "args": ["-c", NODE]}, is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert record.waiting.said == "the server ended with exit code 1; it wrote: Error: Cannot find module 'x'"
    assert record.output.splitlines()[0] == "loading"
    assert record.output.splitlines()[-1] == "Node.js v22"
    assert record.traceback == ""


UV = """
import sys
sys.stderr.write('''  × No solution found when resolving tool dependencies:
  ╰─▶ Because only shop==1 is available, we can conclude that all of:
          shop<1
       cannot be used. (1)

      Because the current Python version (3.11.2) does not satisfy Python>=3.12 and shop==1 depends on
      Python>=3.12, we can conclude that shop==1 cannot be used.
      And because we know from (1) that all of:
          shop<1
       cannot be used, we can conclude that all versions of shop cannot be used.
''')
sys.exit(1)
"""


async def test_a_server_that_wants_another_version_of_its_interpreter_is_said_to_do_so(mount):
    host = await mount({"command": sys.executable, "args": ["-c", UV]}, is_failure_expected=True)
    said = host.host.modules.get_record("mcp_example").waiting.said
    assert "the current Python version (3.11.2) does not satisfy Python>=3.12" in said


NPM = """
import sys
sys.stderr.write('''npm error code E404
npm error 404 Not Found - GET https://registry.example.com/shop - Not found
npm error 404
npm error 404  The requested resource 'shop@latest' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/me/.npm/_logs/1-debug-0.log
''')
sys.exit(1)
"""


async def test_of_what_npm_writes_the_error_is_the_reason(mount):
    host = await mount({"command": sys.executable, "args": ["-c", NPM]}, is_failure_expected=True)
    said = host.host.modules.get_record("mcp_example").waiting.said
    assert said.endswith("it wrote: npm error 404 Not Found - GET https://registry.example.com/shop - Not found")


NOTICES = """
import sys
sys.stderr.write("npm notice\\nnpm notice New minor version of npm available! 11.1.0 -> 11.2.0\\nnpm notice\\n")
sys.exit(1)
"""


async def test_what_npm_notes_besides_is_no_reason(mount):
    host = await mount({"command": sys.executable, "args": ["-c", NOTICES]}, is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert record.waiting.said == "the server ended with exit code 1, and wrote nothing of why"
    assert "New minor version" in record.output


GROUP = """
def call(depth):
    if depth:
        eval("call(depth - 1)", globals(), locals())  # frames that differ: equal ones are counted in one line
    else:
        raise RuntimeError("no server of containers was found")

try:
    call(30)
except RuntimeError as exc:
    raise ExceptionGroup("unhandled errors in a TaskGroup", [exc]) from None
"""


async def test_of_a_group_of_exceptions_the_exception_in_it_is_the_reason(mount):
    host = await mount({"command": sys.executable, "args": ["-c", GROUP]}, is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    said = record.waiting.said
    assert "Exception Group Traceback" not in record.output  # only the end of it is kept
    assert "it wrote: RuntimeError: no server of containers was found" in said


async def test_a_package_that_is_missing_is_no_matter_of_the_network(mount):
    host = await mount({"command": sys.executable, "args": ["-c", "import nowhere_at_all"]}, is_failure_expected=True)
    waiting = host.host.modules.get_record("mcp_example").waiting
    assert "ModuleNotFoundError: No module named 'nowhere_at_all'" in waiting.said
    assert waiting.reason == "retry"


@pytest.mark.parametrize("sandbox", ["prefer", "off"])
@pytest.mark.parametrize(("way", "said"), [("ancient", "1999-01-01"), ("silent", "did not answer within")])
async def test_a_server_with_which_no_handshake_is_possible_is_said_to_be_so(
    mount, odd, monkeypatch, way, said, sandbox
):
    monkeypatch.setattr("agentcore_mcp_servers.server._FIRST_PAUSE", 3600)
    monkeypatch.setattr("agentcore_mcp_servers.server._LONGEST_PAUSE", 3600)
    monkeypatch.setattr(link, "START_SECONDS", 1.0 if way == "silent" else 30.0)
    block = odd(way, sandbox=sandbox)
    host = await mount(block, is_failure_expected=True)
    assert said in host.host.modules.get_record("mcp_example").waiting.said.partition("(")[0]
    assert not servers_running(block)


async def test_a_server_that_tries_to_reach_a_network_that_is_not_there_waits_for_it(mount, monkeypatch):
    monkeypatch.setattr(link, "START_SECONDS", 1.0)
    program = "import sys; sys.stderr.write('getaddrinfo ENOTFOUND mcp.example.com\\n'); sys.stdin.read()"
    host = await mount({"command": sys.executable, "args": ["-c", program]}, is_failure_expected=True)
    assert host.host.modules.get_record("mcp_example").waiting.reason == "network"


async def test_a_program_that_is_not_there_is_said_to_be(mount):
    host = await mount({"command": "no-such-program-here"}, is_failure_expected=True)
    waiting = host.host.modules.get_record("mcp_example").waiting
    assert "no program 'no-such-program-here' on PATH" in waiting.said
    assert waiting.reason == "program"


LATE = """
import sys
from pathlib import Path
if not Path("licence").exists():
    sys.exit("there is no licence")
"""


@pytest.mark.more
async def test_a_server_whose_first_start_fails_is_tried_again_until_it_starts(mount, plain):
    block = plain()
    block["args"] = ["-c", LATE + block["args"][1]]
    host = await mount(block, is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert (record.state, record.waiting.reason) == ("ready", "retry")
    assert record.waiting.retry_at_ms is not None
    assert tools_of(host) == []
    (host.workspace / "licence").touch()
    await wait_until(lambda: record.waiting is None and record.withheld)
    assert "example_where" in [tool.definition.name for tool in record.withheld]


async def test_a_server_that_does_not_list_its_tools_is_asked_again_until_it_does(mount, odd):
    host = await mount(odd("late_list"), is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert (record.state, record.waiting.reason) == ("ready", "retry")
    assert "its service is out of reach" in record.waiting.said
    assert record.waiting.retry_at_ms is not None
    (host.workspace / "service").touch()
    await wait_until(lambda: record.waiting is None and record.withheld)
    assert [tool.definition.name for tool in record.withheld] == ["example_go"]


async def test_a_server_is_tried_again_as_soon_as_its_program_is_there(mount, plain, tmp_path, monkeypatch):
    monkeypatch.setattr("agentcore_mcp_servers.server._FIRST_PAUSE", 3600)
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    host = await mount(plain(sandbox="off") | {"command": "late-python"}, is_failure_expected=True)
    record = host.host.modules.get_record("mcp_example")
    assert record.waiting.reason == "program"
    (programs / "late-python").symlink_to(sys.executable)
    await wait_until(lambda: record.waiting is None and record.withheld)


# -- servers that go wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("way", "expected"), [("junk", "clear"), ("foreign", "first")])
async def test_what_a_server_writes_beside_its_answer_does_no_harm(mount, odd, way, expected):
    host = await mount(odd(way))
    assert await text_of(host, "example_go") == expected
    assert await text_of(host, "example_go") == expected


@pytest.mark.more
@pytest.mark.parametrize(
    ("way", "error", "said"),
    [
        ("wrong", "invalid_result", "is no result of a tool"),
        ("refusing", "server_refused", "not today"),
        ("large", "server_refused", "the bound is"),
        ("blocks", "result_too_large", "more than 1,000 content blocks"),
        ("flood", "server_refused", "more than 100,000 values"),
    ],
)
async def test_an_answer_that_is_none_ends_its_call_alone(mount, odd, way, error, said):
    host = await mount(odd(way))
    outcome = await host.outcome("example_go")
    assert outcome.error.type == error
    assert said in outcome.error.message
    assert (await host.outcome("example_go")).error.type == error


async def test_a_result_is_held_against_its_schema_in_linear_time(mount, odd):
    host = await mount(odd("patterned"))
    assert await text_of(host, "example_go", said="aaaa") == "aaaa"
    # in time that doubles with each letter, this does not end
    outcome = await host.outcome("example_go", {"said": "a" * 60 + "!"})
    assert outcome.error.type == "invalid_result"
    assert outcome.error.context["errors"][0]["path"] == "said"
    assert outcome.is_untrusted  # the error repeats what the server wrote


async def test_a_tool_that_cannot_be_read_takes_no_other_away(mount, odd):
    host = await mount(odd("unreadable"), is_failure_expected=True)
    own = [name for name in tools_of(host) if name.startswith("example_")]
    assert own == ["example_good", "example_no_object"]


@pytest.mark.parametrize("way", ["endless", "circling"])
async def test_a_list_without_an_end_is_read_to_a_bound(mount, odd, way):
    tools = [name for name in tools_of(await mount(odd(way), is_failure_expected=True)) if name.startswith("example_")]
    assert "example_tool_1" in tools
    assert len(tools) <= 100


async def test_tools_with_huge_schemas_take_no_other_away(mount, odd):
    host = await mount(odd("huge"), is_failure_expected=True)
    tools = [name for name in tools_of(host) if name.startswith("example_")]
    assert tools == ["example_good", "example_round"]
    for name in tools:
        assert await text_of(host, name) == "done"


async def test_a_tool_of_very_many_choices_takes_no_other_away(mount, odd):
    host = await mount(odd("choices"), is_failure_expected=True)
    assert [name for name in tools_of(host) if name.startswith("example_")] == ["example_good"]
    assert "30,006 values" in str(host.host.modules.get_record("mcp_example").tool_errors)


async def test_a_list_of_very_many_values_is_not_read(mount, odd):
    host = await mount(odd("crowd"), is_failure_expected=True)
    assert "more than 100,000 values" in host.host.modules.get_record("mcp_example").reason


async def test_a_list_that_cannot_be_read_is_the_reason_at_once(mount, odd):
    host = await mount(odd("bottomless"), is_failure_expected=True)
    assert "answered with what is no message of MCP" in host.host.modules.get_record("mcp_example").reason


async def test_two_tools_with_one_name_are_told_apart_by_a_hash(mount, odd):
    host = await mount(odd("alike"))
    first, second = (name for name in tools_of(host) if name.startswith("example"))
    assert first.startswith("example_a_b_")
    assert second.startswith("example_a_b_")
    assert await text_of(host, first) == await text_of(host, second) == "done"


async def test_of_very_many_tools_as_many_are_taken_as_a_module_may_have(mount, odd, monkeypatch):
    monkeypatch.setattr(loader, "TOOLS_PER_MODULE", 20)
    host = await mount(odd("many"), is_failure_expected=True)
    assert sum(name.startswith("example_") for name in tools_of(host)) == 20


async def test_icons_that_stand_in_what_a_server_says_are_kept_and_nothing_is_loaded(mount, odd):
    host = await mount(odd("pictured"), is_failure_expected=True)
    icons = {name: tool.definition.icons for name, tool in host.host.registry.tools.items()}
    png = "data:image/png;base64,iVBORw0KGgo="
    assert icons["example_go"] == (ToolIcon(png, ("16x16",), "dark"),)
    assert icons["example_drawn"] == (ToolIcon("data:image/svg+xml;base64,PHN2Zy8+"),)
    assert icons["example_odd"] == (ToolIcon(png),) * 4
    assert icons["example_wrong"] == ()


async def test_a_tool_whose_icon_is_another_waits_for_the_person(mount, odd):
    host = await mount(odd("pictured"), is_failure_expected=True)
    assert await text_of(host, "example_go") == "done"
    await wait_until(lambda: "example_go" not in host.host.registry.tools)
    (change,) = host.host.policy_changes.waiting
    ((_, diff),) = change.proposal.diff
    changed = [line for line in diff.splitlines()[2:] if line[0] in "+-"]
    assert [(line[0], "sha256" in line) for line in changed] == [("-", True), ("+", True)]
    assert "example_drawn" in host.host.registry.tools


@pytest.mark.more
async def test_tools_for_views_alone_are_hidden(mount, odd):
    tools = tools_of(await mount(odd("hidden")))
    assert [name for name in tools if name.startswith("example")] == ["example_seen", "example_seen_too"]
