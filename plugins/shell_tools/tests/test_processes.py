"""Commands in the background: started, looked at, typed into, ended."""

import asyncio
import gc
import re
import signal
import sys

import psutil
import pytest

from agentcore.api import ToolError
from agentcore.api.resource import ResourceUpdate
from agentcore.api.tool_context import Principal
from agentcore.core.calls.call import CallRequest, ModelReader
from agentcore.testing.hosting import HostPlan, running_host
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("T4")


async def test_background_process_gives_its_id_at_once_and_its_streams_later(call, spawn, text):
    process_id = await spawn("echo out; echo err >&2; exit 7")
    assert re.fullmatch(r"terminal_[A-Za-z0-9_-]+_0", process_id)
    result = await call("bash_output", process_id=process_id, block=True)
    assert result.data == {
        "process_id": process_id,
        "exited": True,
        "exit_code": 7,
        "signal": None,
        "stdout": "out\n",
        "stderr": "err\n",
        "dropped_lines": 0,
        "put_aside": [],
    }
    assert text(result) == f"out\n[stderr]\nerr\n[{process_id} has ended: exit code 7]"


async def test_unknown_process_is_an_error_of_its_own(failure):
    for tool in ("bash_output", "bash_kill"):
        error = await failure(tool, process_id="terminal_nobody_0")
        assert error.type == "process_not_found"
        assert "terminal_nobody_0" in error.message
    assert (await failure("bash", command="ls", process_id="terminal_nobody_0")).type == "process_not_found"


@pytest.mark.more
async def test_last_look_counts_for_each_session(host, spawn, call):
    process_id = await spawn("echo one; read; echo two; read")
    await call("bash_output", process_id=process_id, block=True, filter="one")
    assert (await call("bash_output", process_id=process_id, all=False)).data["stdout"] == ""
    other = await host.outcome("bash_output", {"process_id": process_id, "all": False}, session_id="other")
    assert other.unwrap().data["stdout"] == "one\n"
    assert other.is_untrusted
    await call("bash", command="go", process_id=process_id)
    news = await call("bash_output", process_id=process_id, block=True, filter="two", all=False)
    assert news.data["stdout"] == "two\n"
    assert (await call("bash_output", process_id=process_id)).data["stdout"] == "one\ntwo\n"


@pytest.mark.more
async def test_character_that_is_written_in_two_parts_is_read_as_one(call, spawn, root):
    process_id = await spawn(r"printf '\xe4\xbd'; touch written; read; printf '\xa0'; sleep 600")
    await wait_until((root / "written").exists)
    first = await call("bash_output", process_id=process_id, all=False)
    assert first.data["stdout"] == ""
    await call("bash", command="go", process_id=process_id)

    async def is_whole():
        return (await call("bash_output", process_id=process_id)).data["stdout"] == "你"

    await wait_until(is_whole)
    assert (await call("bash_output", process_id=process_id, all=False)).data["stdout"] == ""


@pytest.mark.more
async def test_filter_gives_matching_lines_and_waits_for_one(call, spawn, failure):
    process_id = await spawn("echo starting; echo listening on 80 >&2; sleep 600")
    result = await call("bash_output", process_id=process_id, block=True, filter=r"listening on \d+", timeoutMs=60000)
    assert (result.data["stdout"], result.data["stderr"]) == ("", "listening on 80\n")
    assert not result.data["exited"]
    error = await failure("bash_output", process_id=process_id, filter="(")
    assert error.type == "invalid_regex"
    assert "'('" in error.message


@pytest.mark.more
async def test_waiting_ends_at_its_limit(call, spawn):
    process_id = await spawn("sleep 600")
    result = await call("bash_output", process_id=process_id, block=True, timeoutMs=50)
    assert (result.data["exited"], result.data["exit_code"]) == (False, None)


@pytest.mark.more
async def test_input_reaches_a_running_process(call, spawn, failure, host):
    process_id = await spawn('echo "who?"; read name; echo "hello $name"')
    await call("bash", command="Ada", process_id=process_id)
    result = await call("bash_output", process_id=process_id, block=True)
    assert result.data["stdout"] == "who?\nhello Ada\n"
    error = await failure("bash", command="again", process_id=process_id)
    assert error.type == "process_ended"


@pytest.mark.more
async def test_input_that_nobody_reads_is_an_error_and_not_a_hang(failure, spawn, monkeypatch, root):
    monkeypatch.setattr("agentcore_shell_tools.process.INPUT_SECONDS", 0.2)
    process_id = await spawn("stty raw -echo; touch raw; sleep 600")
    await wait_until((root / "raw").exists)
    error = await failure("bash", command="x" * 100_000, process_id=process_id)
    assert error.type == "input_full"
    assert error.retryable


@pytest.mark.more
async def test_process_with_a_terminal_has_one_and_its_text_is_plain(call, spawn):
    command = r"test -t 1 && test -t 2 && tput cols; printf '\033[31mred\033[0m\nold\rnew\n'; echo err >&2"
    process_id = await spawn(command, terminal=True)
    result = await call("bash_output", process_id=process_id, block=True)
    assert result.data["stdout"] == "120\nred\nnew\nerr\n"
    assert result.data["stderr"] == ""


@pytest.mark.more
@pytest.mark.spec("S5")
@pytest.mark.parametrize(
    ("command", "count"),
    [
        ("exec -a {mark} sleep 600", 1),
        ("trap '' TERM HUP; (exec -a {mark} sleep 600); exit", 1),
        ("setsid -f bash -c 'exec -a {mark} sleep 600'; exec -a {mark} sleep 600", 2),
    ],
    ids=["plain", "ignores SIGTERM", "detached"],
)
async def test_killed_process_has_ended_with_all_that_it_started(call, spawn, mark, living, command, count):
    process_id = await spawn(command.replace("{mark}", mark))
    await wait_until(lambda: living() >= count)
    result = await call("bash_kill", process_id=process_id)
    assert living() == 0
    assert result.data["was_running"]
    after = await call("bash_output", process_id=process_id)
    assert after.data["exited"]
    again = await call("bash_kill", process_id=process_id)
    assert not again.data["was_running"]


@pytest.mark.more
@pytest.mark.parametrize(
    "command",
    [
        "setsid -f bash -c 'exec -a {mark} sleep 600'; echo started",
        "bash -c 'exec -a {mark} sleep 600' & echo started",
    ],
    ids=["of its own session", "with &"],
)
async def test_what_a_background_command_starts_goes_on_until_it_is_ended(call, spawn, text, mark, living, command):
    process_id = await spawn(command.replace("{mark}", mark))
    looked = await call("bash_output", process_id=process_id, block=True)
    assert (looked.data["exited"], looked.data["stdout"]) == (False, "started\n")
    assert "the command itself has ended, what it started is running" in text(looked)
    await wait_until(lambda: living() == 1)
    await call("bash_kill", process_id=process_id)
    assert living() == 0


@pytest.mark.more
async def test_process_that_dies_by_a_signal_says_which(call, spawn):
    process_id = await spawn("kill -KILL $$")
    result = await call("bash_output", process_id=process_id, block=True)
    assert (result.data["exit_code"], result.data["signal"]) == (None, "SIGKILL")


@pytest.mark.more
@pytest.mark.spec("R2", "K7")
async def test_model_reaches_processes_of_its_own_session_alone(host, spawn):
    process_id = await spawn("sleep 600")
    host.answer_approvals(approve=True)
    for tool, more in (("bash_output", {}), ("bash_kill", {}), ("bash", {"command": "x"})):
        arguments = {"process_id": process_id, **more}
        outcome = await host.outcome(tool, arguments, principal=Principal("chat", "a"), session_id="another")
        assert outcome.error is not None
        assert outcome.error.type == "process_not_found"


@pytest.mark.spec("R2")
async def test_each_process_is_a_resource_of_its_session(host):
    for number in range(2):
        outcome = await host.outcome("bash", {"command": "sleep 600", "background": True}, session_id="s1")
        assert outcome.unwrap().data["process_id"] == f"terminal_s1_{number}"
    first, second = host.host.resources.list(resource_type="terminal")
    assert (first.status, first.title, first.session_id) == ("busy", "sleep 600", "s1")
    await host.host.resources.release(first.resource_id)
    error = (await host.outcome("bash_output", {"process_id": first.resource_id})).error
    assert error is not None
    assert error.type == "process_not_found"
    outcome = await host.outcome("bash_output", {"process_id": second.resource_id})
    assert outcome.resource_id == second.resource_id


@pytest.mark.more
@pytest.mark.spec("R4")
async def test_finished_process_closes_its_tab_unless_that_is_pinned_and_stays_readable(host, spawn):
    gate = "read line; echo done; exit 1"
    ended, pinned, running = await spawn(gate), await spawn(gate), await spawn("sleep 600")
    tabs = host.host.tabs
    assert [tab.resource_id for tab in tabs.list_tabs()] == [ended, pinned, running]
    await tabs.change_tab(tabs.list_tabs()[1].tab_id, is_pinned=True)
    for process_id in (ended, pinned):
        await host.call("bash", process_id=process_id, command="go")
        await host.events.wait_for("resource.stateChanged", resourceId=process_id, status="finished", timeout_s=60)
    assert [tab.resource_id for tab in tabs.list_tabs()] == [pinned, running]
    assert (await host.call("bash_output", process_id=ended)).data["exit_code"] == 1
    await tabs.show_resource(ended)  # a person looks at it again
    host.host.resources.update(ended, ResourceUpdate(title="still readable"))
    assert [tab.resource_id for tab in tabs.list_tabs()] == [pinned, running, ended]


@pytest.mark.more
@pytest.mark.spec("S7")
@pytest.mark.in_server("makes a bound of the module's code another one")
async def test_background_processes_of_a_session_are_bounded(host, call, spawn, failure, monkeypatch):
    monkeypatch.setattr("agentcore_shell_tools.processes.PROCESSES_PER_SESSION", 3)
    ids = await asyncio.gather(*(spawn("sleep 600") for _ in range(3)))
    error = await failure("bash", command="sleep 600", background=True)
    assert error.type == "too_many_processes"
    assert error.context["limit"] == 3
    await call("bash_kill", process_id=ids[0])
    await spawn("sleep 600")


@pytest.mark.more
@pytest.mark.spec("S7")
async def test_only_the_newest_finished_processes_are_kept(call, failure, spawn, host):
    ids = []
    for _ in range(33):
        ids.append(await spawn("exit"))
        await call("bash_output", process_id=ids[-1], block=True)
    await wait_until(lambda: len(host.host.resources.list(resource_type="terminal")) == 30)
    assert (await failure("bash_output", process_id=ids[2])).type == "process_not_found"
    assert (await call("bash_output", process_id=ids[3])).data["exited"]


@pytest.mark.spec("S5")
@pytest.mark.parametrize("number_of_processes", [20, pytest.param(200, marks=pytest.mark.more)])
async def test_many_processes_run_at_once(host, mark, living, number_of_processes):
    async def one(number):
        arguments = {"command": f"echo {number}; exec -a {mark} sleep 600", "background": True}
        outcome = await host.outcome("bash", arguments, session_id=f"s{number % 4}")
        return outcome.unwrap().data["process_id"]

    ids = []
    # more at once would make a busy machine look at a call for too long, and ask
    for begin in range(0, number_of_processes, 20):
        ids += await asyncio.gather(*(one(number) for number in range(begin, begin + 20)))
    await wait_until(lambda: living() == number_of_processes)
    looks = await asyncio.gather(*(host.call("bash_output", process_id=process_id) for process_id in ids))
    assert [look.data["stdout"] for look in looks] == [f"{number}\n" for number in range(number_of_processes)]
    await host.host.modules.disable("shell_tools")
    assert living() == 0


@pytest.mark.more
@pytest.mark.spec("S5", "S7")
async def test_emergency_stop_ends_all_processes(host, spawn, mark, living):
    await spawn(f"trap '' TERM; exec -a {mark} sleep 600")
    await wait_until(lambda: living() == 1)
    await host.host.emergency_stop(Principal("cli"))
    await wait_until(lambda: living() == 0)


@pytest.mark.more
async def test_flood_of_output_leaves_memory_flat_and_says_what_was_dropped(call, spawn):
    await spawn("exit")
    gc.collect()
    own = psutil.Process()
    before = own.memory_info().rss
    process_id = await spawn(
        "yes 'a line of a usual length, which is written many times over' | head -c 200000000; echo end"
    )
    result = await call("bash_output", process_id=process_id, block=True, timeoutMs=300_000)
    assert result.data["exited"]
    assert result.data["stdout"].endswith("end\n")
    assert result.data["dropped_lines"] > 3_000_000
    assert own.memory_info().rss - before < 60_000_000


@pytest.mark.more
async def test_disabled_module_leaves_nothing_behind(host, spawn, mark, living):
    await spawn(f"exec -a {mark} sleep 600")
    await wait_until(lambda: living() == 1)
    await host.host.modules.disable("shell_tools")
    assert living() == 0
    assert host.host.resources.list() == []
    assert not [task for task in asyncio.all_tasks() if "shell_tools" in task.get_name()]
    with pytest.raises(ToolError):
        await host.call("bash", command="true")
    assert signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL


@pytest.mark.more
@pytest.mark.spec("R4")
async def test_terminal_that_ended_with_the_server_comes_back_closed_and_opens_in_its_folder(root, tmp_path, config):
    (root / "project").mkdir()
    plan = HostPlan(["shell_tools"], roots=[root], config=config)
    async with running_host(plan, tmp_path) as host:
        await host.call("bash", command="sleep 600", background=True, cwd="project")
        ended = (await host.call("bash", command="true", background=True)).data["process_id"]
        await host.call("bash_output", process_id=ended, block=True)
        await host.events.wait_for("resource.stateChanged", resourceId=ended, status="finished")
    async with running_host(plan, tmp_path) as host:
        (tab,) = [tab.to_json() for tab in host.host.tabs.list_tabs()]  # what had ended before is not opened again
        closed = tab["closed"]
        assert (closed["resourceType"], closed["title"]) == ("terminal", "sleep 600")
        outcome = await host.outcome(closed["tool"], closed["arguments"], session_id=closed["chatSessionId"])
        made = outcome.resource_id
        assert made == outcome.unwrap().data["process_id"]
        await host.host.tabs.show_resource(made, in_place_of=tab["tabId"])
        assert [tab.tab_id for tab in host.host.tabs.list_tabs()] == [tab["tabId"]]
        await host.call("bash", process_id=made, command="pwd > here; exit")
        await host.call("bash_output", process_id=made, block=True)
        assert (root / "project" / "here").read_text().strip() == str((root / "project").resolve())


@pytest.mark.parametrize("command", ["echo a\0b", "\0", "ls\0; rm x"])
@pytest.mark.parametrize("background", [False, True])
async def test_command_with_nul_is_refused_in_words(failure, command, background):
    error = await failure("bash", command=command, background=background)
    assert error.type == "invalid_arguments"
    assert "NUL" in error.message
    assert error.context["position"] == command.index("\0")


async def test_folder_with_nul_is_refused_in_words(failure):
    assert (await failure("bash", command="ls", cwd="a\0b")).type == "invalid_path"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells in which system call a process is")
@pytest.mark.parametrize("command", ["cat; echo done", "(read x; echo got $x); echo done"])
async def test_process_that_waits_for_input_is_told_apart_from_a_slow_one(call, spawn, text, command):
    """Claude Code's background commands were reported to hang for hours on a read of their input, unnoticed."""
    process_id = await spawn(command)

    async def shown():
        result = await call("bash_output", process_id=process_id)
        return result if result.data.get("waits_for_input") else None

    told = text(await wait_until(shown))
    assert told == (
        f"[{process_id} waits for input: type it with bash and this process_id, or end the process with bash_kill]"
    )
    typed = await call("bash", command="", keys=["ctrl+d"], process_id=process_id)
    assert "done" in typed.data["stdout"]


@pytest.mark.more
async def test_process_that_sleeps_or_reads_from_another_waits_for_no_input(call, spawn, text):
    process_id = await spawn("echo ready; sleep 600 | cat")
    await call("bash_output", process_id=process_id, block=True, filter="ready")
    result = await call("bash_output", process_id=process_id, block=True, timeoutMs=300)
    assert text(result) == f"ready\n[{process_id} is running]"


@pytest.mark.more
@pytest.mark.parametrize("has_terminal", [False, True])
async def test_typed_line_is_answered_with_the_output_that_it_caused(spawn, call, text, has_terminal):
    process_id = await spawn('echo "who?"; read name; echo "hello $name"; read again', terminal=has_terminal)
    await call("bash_output", process_id=process_id, block=True, filter="who")
    result = await call("bash", command="Ada", process_id=process_id)
    assert "hello Ada" in result.data["stdout"]
    assert "who?" not in result.data["stdout"]
    assert "hello Ada" in text(result)
    assert not result.data["exited"]
    news = await call("bash_output", process_id=process_id, all=False)
    assert "hello Ada" in news.data["stdout"]


async def test_typed_line_that_ends_the_process_is_answered_with_its_end(spawn, call):
    process_id = await spawn("read code; echo bye >&2; exit $code")
    result = await call("bash", command="3", process_id=process_id)
    assert (result.data["exited"], result.data["exit_code"], result.data["stderr"]) == (True, 3, "bye\n")


@pytest.mark.more
async def test_model_sees_short_ids_and_programs_the_ids_of_resources(host, text):
    async def ask(tool, session_id="s1", **arguments):
        request = CallRequest(tool, arguments, Principal("token"), session_id, reader=ModelReader())
        return (await host.host.run_call(request)).unwrap()

    started = await ask("bash", command="read x; echo got $x; read y", background=True)
    whole = started.data["process_id"]
    assert whole == "terminal_s1_0"
    assert "terminal_0;" in text(started)
    assert whole not in text(started)
    typed = await ask("bash", command="a", process_id="terminal_0")
    assert (typed.data["process_id"], typed.data["stdout"]) == (whole, "got a\n")
    other = await ask("bash", "s2", command="sleep 600", background=True)
    assert "terminal_0;" in text(other)
    for name in ("terminal_0", whole):
        shown = await ask("bash_output", process_id=name)
        assert (shown.data["process_id"], shown.data["stdout"]) == (whole, "got a\n")
        assert "[terminal_0 " in text(shown)
    ended = await ask("bash_kill", process_id="terminal_0")
    assert ended.data["process_id"] == whole
    assert text(ended).startswith("terminal_0 ended")
    with pytest.raises(ToolError, match="terminal_7"):
        await ask("bash_output", process_id="terminal_7")
    assert not (await ask("bash_output", "s2", process_id="terminal_0")).data["exited"]
