"""Commands in the foreground."""

import asyncio
import contextlib
import os
from contextlib import suppress

import psutil
import pytest

from agentcore.api import ArtifactLink, ToolError
from tests.support.waiting import wait_until

pytestmark = pytest.mark.spec("T4")


async def test_output_of_both_streams_comes_in_the_order_it_was_written(call):
    script = "for n in $(seq 500); do echo out $n; echo err $n >&2; done"
    result = await call("bash", command=script)
    assert result.data["output"].splitlines() == [f"{name} {n}" for n in range(1, 501) for name in ("out", "err")]


async def test_result_says_exit_code_and_duration_to_models_and_programs(call, text):
    result = await call("bash", command="echo hi; exit 3")
    assert result.data["exit_code"] == 3
    assert result.data["signal"] is None
    assert result.data["duration_ms"] >= 0
    assert text(result).startswith("hi\n[exit code 3, ")


async def test_command_that_dies_by_a_signal_says_which(call, text):
    result = await call("bash", command="kill -SEGV $$")
    assert (result.data["exit_code"], result.data["signal"]) == (None, "SIGSEGV")
    assert "ended by SIGSEGV" in text(result)


async def test_bytes_that_are_not_utf8_are_replaced(call):
    result = await call("bash", command=r"printf 'a\xff\xfeb\xe4\xbd\xa0'")
    assert result.data["output"] == "a��b你"


async def test_command_that_waits_for_input_finds_none(call):
    result = await call("bash", command="read line || echo nothing to read; cat")
    assert result.data["output"] == "nothing to read\n"


async def test_folder_is_one_of_the_workspace_and_no_other(call, failure, root):
    (root / "sub").mkdir()
    assert (await call("bash", command="pwd", cwd="sub")).data["output"] == f"{root}/sub\n"
    assert (await failure("bash", command="pwd", cwd="../")).type == "path_outside_workspace"
    assert (await failure("bash", command="pwd", cwd="missing")).type == "path_not_found"
    (root / "link").symlink_to("/")
    assert (await failure("bash", command="pwd", cwd="link")).type == "path_outside_workspace"


@pytest.mark.parametrize(("there", "given"), [("U\u0308ber", "\u00dcber"), ("my\u00a0notes", "my notes")])
async def test_folder_whose_name_looks_the_same_is_found(call, root, there, given):
    (root / there).mkdir()
    result = await call("bash", command="pwd", cwd=given)
    assert result.data["output"] == f"{root}/{there}\n"


async def test_shell_reads_no_start_up_files(call, monkeypatch, tmp_path):
    (tmp_path / "home").mkdir()
    for name in (".bashrc", ".bash_profile", ".profile"):
        (tmp_path / "home" / name).write_text("echo start-up file")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "home/.bashrc"))
    assert (await call("bash", command="echo only this")).data["output"] == "only this\n"


@pytest.mark.spec("S5")
async def test_no_key_or_token_is_in_the_environment_of_a_command(start, monkeypatch):
    for name in ("OPENAI_API_KEY", "AGENTCORE_TOKEN", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "DATABASE_URL"):
        monkeypatch.setenv(name, "not-for-commands")
    monkeypatch.setenv("MY_LEVEL", "3")
    host = await start(environment=["MY_LEVEL"])
    result = await host.call("bash", command="env; cat /proc/$PPID/environ; echo level=$MY_LEVEL")
    assert "not-for-commands" not in result.data["output"]
    assert "level=3" in result.data["output"]


@pytest.mark.spec("S5")
async def test_command_at_its_limit_ends_with_its_whole_group_and_what_it_wrote_is_told(failure, mark, living):
    script = (
        f"trap '' TERM; echo before; (exec -a {mark} sleep 600) & setsid -f bash -c 'exec -a {mark} sleep 600'; wait"
    )
    for limit_ms in (500, 4_000, 32_000):  # the longer ones on a machine that is too busy to write anything in time
        error = await failure("bash", command=script, timeoutMs=limit_ms)
        assert error.type == "timeout"
        if error.context.get("output"):
            break
    assert error.context["output"] == "before\n"
    assert "before" in error.message
    assert "background" in error.message
    assert living() == 0


@pytest.mark.more
@pytest.mark.spec("S5")
async def test_command_whose_keeper_was_stopped_ends_at_its_limit_with_all_that_came_of_it(host, mark, living):
    script = f"setsid -f bash -c 'exec -a {mark} sleep 600'; exec -a {mark} sleep 600"
    for limit_ms in (2_000, 8_000, 32_000):  # the longer ones on a machine that is too busy to see it run before
        running = asyncio.ensure_future(host.outcome("bash", {"command": script, "timeoutMs": limit_ms}))
        await wait_until(lambda: living() == 2 or running.done())  # noqa: B023 - it is called here alone
        for keeper in keepers():
            keeper.suspend()
        is_stopped = not running.done()
        await wait_until(running.done)
        assert running.result().error.type == "timeout"
        await wait_until(lambda: living() == 0)
        if is_stopped:
            break
    assert is_stopped


async def test_supervisor_that_was_stopped_is_continued_by_the_next_command(call):
    await call("bash", command="true")
    for spawner in spawners():
        spawner.suspend()
    async with asyncio.timeout(20):
        assert (await call("bash", command="echo on")).data["output"] == "on\n"


def keepers():
    """The processes that keep the commands of this server."""
    return [keeper for spawner in spawners() for keeper in spawner.children()]


def spawners():
    """The processes of this server that start commands."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):  # one that has ended and was not waited for has no command line
            if "spawner" in " ".join(child.cmdline()):
                found.append(child)
    return found


async def test_cancelled_command_ends_with_all_that_it_started(host, mark, living):
    script = f"(exec -a {mark} sleep 600) & exec -a {mark} sleep 600"
    calling = asyncio.create_task(host.call("bash", command=script))
    await wait_until(lambda: living() == 2)
    calling.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await calling
    await wait_until(lambda: living() == 0)


@pytest.mark.spec("S5")
async def test_what_a_command_leaves_running_ends_with_it(call, mark, living):
    await call("bash", command=f"setsid -f bash -c 'exec -a {mark} sleep 600'; (exec -a {mark} sleep 600) & exit")
    assert living() == 0


async def test_child_that_goes_on_writing_does_not_hold_the_result(call, mark, living):
    """OpenCode's bash was reported to wait for ever for the output of a server that a command had started."""
    writing = f"exec -a {mark} bash -c 'while echo tick; do sleep 0.01; done'"
    result = await call("bash", command=f"({writing}) & sleep 0.1; echo over", timeoutMs=20_000)
    assert (result.data["exit_code"], living()) == (0, 0)
    assert {"tick", "over"} <= set(result.data["output"].splitlines())
    assert any(mark in each["command"] for each in result.data["left_behind"])


@pytest.mark.parametrize("sandbox", ["off", "prefer"])
async def test_what_was_left_running_is_named_with_how_to_keep_it(start, text, mark, living, sandbox, request):
    if sandbox == "prefer":
        request.getfixturevalue("needs_sandbox")
    host = await start(sandbox=sandbox)
    command = f"(exec -a {mark} sleep 600) & setsid -f sleep 600.5; echo up"
    wanted = sorted([f"{mark} 600", "sleep 600.5"])
    for _ in range(20):  # on a busy machine they may not have become these programs yet
        result = await host.call("bash", command=command)
        assert living() == 0
        if (commands := sorted(each["command"] for each in result.data["left_behind"])) == wanted:
            break
    assert commands == wanted
    assert "ended with it: `" in text(result)
    assert "background: true" in text(result)
    assert result.data["output"] == "up\n"
    for _ in range(20):  # a busy machine may take longer for what ends soon
        quiet = await host.call("bash", command="seq 3 > >(sleep 0.05; cat); sleep 0.01 &")
        if quiet.data["left_behind"] == []:
            break
    assert quiet.data["output"] == "1\n2\n3\n"  # the last words of what ends soon are heard
    assert quiet.data["left_behind"] == []
    assert "background" not in text(quiet)


async def test_model_gets_both_ends_of_a_long_output_and_the_whole_is_an_artifact(host, text):
    result = await host.told("bash", command="seq -f 'line %g of a long log' 20000; echo failed >&2; exit 3")
    shown = text(result)
    assert len(shown) <= 25_000
    assert shown.startswith("line 1 of a long log\n")
    assert "of 20,001, " in shown
    assert "line 20000 of a long log\nfailed\n[exit code 3, " in shown
    (link,) = [block for block in result.blocks() if isinstance(block, ArtifactLink)]
    whole = await host.host.store.artifacts.load(link.artifact_id)
    assert whole.count(b"\n") == 20_001


async def test_model_reads_what_a_terminal_would_show_and_a_program_what_was_written(host, text):
    command = r"printf '\e[31mred\e[0m\n\e]0;title\a10%%\r50%%\r100%%\ncrlf\r\n'"
    assert text(await host.told("bash", command=command)).startswith("red\n100%\ncrlf\n[exit code 0, ")
    written = (await host.call("bash", command=command)).data["output"]
    assert written == "\x1b[31mred\x1b[0m\n\x1b]0;title\x0710%\r50%\r100%\ncrlf\r\n"


async def test_model_is_told_once_what_a_command_wrote_until_its_limit(host):
    async def told(command: str, word: str) -> ToolError:
        for limit_ms in (1_000, 4_000, 32_000):  # the longer ones on a machine that is too busy to begin in time
            with pytest.raises(ToolError) as failed:
                await host.told("bash", command=command, timeoutMs=limit_ms)
            if word in failed.value.message:
                break
        return failed.value

    advice = "its time limit (SIGTERM); give a longer timeoutMs, or run it with background: true."
    assert (await told("exec sleep 600", advice)).message.endswith(f"{advice} It wrote nothing.")
    error = await told("seq 20000; exec sleep 600", "\n20000\n")
    assert error.message.count("\n20000\n") == 1
    assert not error.context["output"]


async def test_whole_output_of_a_command_at_its_limit_is_an_artifact(host, failure):
    error = await failure("bash", command="seq 20000; sleep 600", timeoutMs=8_000)
    whole = await host.host.store.artifacts.load(error.context["artifact_id"])
    assert whole.count(b"\n") == 20_000
    assert error.context["artifact_id"] in error.message


async def test_long_output_shows_beginning_and_end_and_is_whole_as_an_artifact(host, text):
    result = await host.call(
        "bash", command="for n in $(seq 4000); do echo line $n is here, and it is a long one; done"
    )
    shown = text(result)
    assert shown.startswith("line 1 is here")
    assert "line 4000 is here" in shown
    assert "are left out here" in shown
    assert result.truncated
    (link,) = [block for block in result.blocks() if isinstance(block, ArtifactLink)]
    whole = await host.host.store.artifacts.load(link.artifact_id)
    assert whole.count(b"\n") == 4000


async def test_of_a_flood_the_last_lines_are_kept_and_the_rest_is_counted(call, text):
    result = await call("bash", command="seq 20000")
    assert result.data["output"].endswith("19999\n20000\n")
    assert result.data["dropped_lines"] == 15000
    assert text(result).startswith("[15000 lines in front of this were dropped]\n15001\n")


async def test_command_that_is_too_long_is_refused(failure):
    error = await failure("bash", command="# " + "长" * 60_000)
    assert error.type == "command_too_long"


async def test_newest_line_is_told_while_the_command_runs(host, root):
    script = "echo first; until [ -e go ]; do sleep 0.05; done; echo second"
    calling = asyncio.create_task(host.call("bash", command=script))
    assert (await host.events.wait_for("call.progress"))["message"] == "first"
    (root / "go").touch()
    assert (await calling).data["output"] == "first\nsecond\n"


@pytest.mark.in_server("has the system refuse pipes in its own process")
async def test_command_that_cannot_be_started_says_why(failure, monkeypatch):
    def refuse(*_):
        raise OSError(24, os.strerror(24))

    await failure("bash", command="true", cwd="missing")
    monkeypatch.setattr(os, "pipe", refuse)
    error = await failure("bash", command="true")
    monkeypatch.undo()
    assert error.type == "cannot_start"
    assert error.retryable


@pytest.mark.more
async def test_calls_leave_no_descriptor_open(call, failure):
    async def use():
        await call("bash", command="echo hi")
        await failure("bash", command="sleep 60", timeoutMs=10)
        started = await call("bash", command="cat", background=True)
        await call("bash_kill", process_id=started.data["process_id"])

    await use()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await use()
    # the search for services opens files of /proc in passing
    await wait_until(lambda: len(os.listdir("/proc/self/fd")) <= before)


async def test_wrong_arguments_are_refused(failure):
    assert (await failure("bash", command="")).type == "invalid_arguments"
    assert (await failure("bash", command="true", timeoutMs=0)).type == "invalid_arguments"
    assert (await failure("bash", command="true", sandbox="off")).type == "invalid_arguments"
    assert isinstance(await failure("bash"), ToolError)
