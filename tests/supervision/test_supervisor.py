"""Commands under the supervisor: real processes, and none of them left."""

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import uuid
import weakref
from pathlib import Path

import psutil
import pytest

from agentcore.api import Supervisor, SupervisorError
from agentcore.files.folder import Folder
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.spec("S5"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc"),
]
PATIENCE_S = 60
TRIES = 20
"""For what has to end within a fraction of a second: a busy machine may take that for anything."""


@pytest.fixture
def mark():
    """A word by which the processes of one test are found."""
    return f"mark{uuid.uuid4().hex}"


@pytest.fixture
async def supervisor():
    async with Supervisor() as supervisor:
        yield supervisor


@pytest.fixture
def run(supervisor, tmp_path):
    """Start a command of bash; its output goes to the file `output`."""

    async def start(command, **options):
        with Folder(os.open(tmp_path, os.O_RDONLY)) as folder, (tmp_path / "output").open("ab") as output:
            environment = options.pop("environment", {"PATH": os.environ["PATH"]})
            return await supervisor.start(
                ["/bin/bash", "-c", command],
                folder=folder,
                environment=environment,
                stdout=output.fileno(),
                stderr=output.fileno(),
                **options,
            )

    return start


def living(mark):
    """Processes with the mark in their arguments or environment."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            said = [*process.cmdline(), *process.environ().values()]
            if process.status() != psutil.STATUS_ZOMBIE and any(mark in text for text in said):
                found.append(process)
    return found


async def test_command_runs_in_its_folder_with_its_environment_and_says_how_it_ended(run, tmp_path):
    process = await run("pwd; echo $WORD; read line || echo no input; exit 3", environment={"WORD": "hello"})
    assert await process.wait() == 3
    assert (tmp_path / "output").read_text().splitlines() == [str(tmp_path), "hello", "no input"]
    killed = await run("kill -SEGV $$")
    assert await killed.wait() == -signal.SIGSEGV


async def test_program_that_does_not_exist_is_an_error_with_its_reason(supervisor, tmp_path):
    with Folder(os.open(tmp_path, os.O_RDONLY)) as folder:
        with pytest.raises(SupervisorError, match="No such file") as caught:
            await supervisor.start(["/no/such/program"], folder=folder, environment={})
        assert caught.value.errno == 2
        await supervisor.close()
        with pytest.raises(SupervisorError, match="closed"):
            await supervisor.start(["/bin/true"], folder=folder, environment={})


async def test_what_a_command_leaves_behind_ends_with_it(run, mark):
    process = await run(f"setsid -f sleep 600.{mark[4:8]}; (trap '' TERM; exec -a {mark} sleep 600) & disown; exit 0")
    assert await process.wait() == 0
    assert living(mark) == []


async def test_last_lines_of_a_process_substitution_are_not_lost(run, tmp_path):
    for _ in range(TRIES):
        (tmp_path / "output").unlink(missing_ok=True)
        process = await run("exec > >(while read line; do echo got $line; done); echo one; echo two")
        await process.wait()
        if (written := (tmp_path / "output").read_text()) == "got one\ngot two\n":
            break
    assert written == "got one\ngot two\n"


@pytest.mark.parametrize(
    "command",
    [
        "trap '' TERM INT HUP; echo up; while :; do sleep 1; done # {mark}",
        "setsid -f bash -c 'trap \"\" TERM; echo up; while :; do sleep 1; done # {mark}'; sleep 600",
        "(setsid bash -c 'setsid bash -c \"echo up; exec -a {mark} sleep 600\" & exit' &) ; sleep 600",
        "echo up; kill -STOP $$; sleep 600 # {mark}",
    ],
    ids=["ignores SIGTERM", "detached", "detached twice", "stopped"],
)
async def test_whatever_a_command_does_it_ends_with_all_that_came_of_it(run, mark, tmp_path, command):
    process = await run(command.replace("{mark}", mark))
    await wait_until(lambda: "up" in (tmp_path / "output").read_text())
    process.end(0.1)
    async with asyncio.timeout(PATIENCE_S):
        await process.wait()
    assert living(mark) == []


async def test_processes_that_fork_while_they_are_killed_end_too(run, mark, tmp_path):
    script = f"f() {{ while :; do (sleep 0.02; : {mark}) & sleep 0.01; echo up; done; }}; f & f & f & f"
    process = await run(script)
    await wait_until(lambda: (tmp_path / "output").read_text().count("up") > 3)
    process.end(0)
    async with asyncio.timeout(PATIENCE_S):
        await process.wait()
    assert living(mark) == []


async def test_killing_the_supervisor_of_a_command_kills_the_command_too(run, mark, tmp_path):
    detach = f"setsid -f bash -c 'exec -a {mark} sleep 600'"
    # killed before it has said that the command started, it would rightly be a failure to start
    process = await run(f"{detach}; until [ -e started ]; do sleep 0.01; done; kill -9 $PPID; sleep 600 # {mark}")
    (tmp_path / "started").touch()
    async with asyncio.timeout(PATIENCE_S):
        assert await process.wait() == -9
    await wait_until(lambda: living(mark) == [])
    again = await run("exit 5")
    assert await again.wait() == 5


@pytest.mark.more
async def test_two_hundred_commands_run_at_once_and_end_together(supervisor, run, mark):
    await asyncio.gather(*(run(f"exec -a {mark} sleep 600") for _ in range(200)))
    await wait_until(lambda: len(living(mark)) == 200)
    await supervisor.close()
    assert supervisor.processes == ()
    assert living(mark) == []


@pytest.mark.parametrize("is_stopped", [False, True], ids=["", "with keepers that were stopped"])
async def test_server_that_is_killed_takes_all_its_commands_along(tmp_path, mark, is_stopped):
    script = tmp_path / "server.py"
    script.write_text(f"""
import asyncio, os
from agentcore.api import Supervisor
from agentcore.files.folder import Folder

async def main():
    supervisor, folder = Supervisor(), Folder(os.open("/", os.O_RDONLY))
    detached = "trap '' TERM HUP; setsid -f bash -c 'exec -a {mark} sleep 600'; sleep 600; : {mark}"
    for command in ("exec -a {mark} sleep 600", detached):
        await supervisor.start(["/bin/bash", "-c", command], folder=folder, environment={{"PATH": os.environ["PATH"]}})
    print("up", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
""")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == "up\n"
        try:
            await wait_until(lambda: len(living(mark)) == 3)
            helpers = psutil.Process(server.pid).children(recursive=True)
            (spawner,) = psutil.Process(server.pid).children()
            for keeper in spawner.children() if is_stopped else ():
                keeper.suspend()
        finally:
            server.kill()
        await wait_until(lambda: living(mark) == [])
        await wait_until(lambda: not any(_runs(helper) for helper in helpers))


def _runs(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


async def test_commands_get_the_environment_of_an_allow_list_alone(monkeypatch):
    environ = {"PATH": "/bin", "LC_ALL": "C", "OPENAI_API_KEY": "sk-1", "AGENTCORE_TOKEN": "t", "MY_OWN": "1"}
    assert Supervisor.environment(environ=environ) == {"PATH": "/bin", "LC_ALL": "C"}
    assert Supervisor.environment(("MY_OWN",), environ)["MY_OWN"] == "1"


async def test_no_key_is_in_the_environment_of_the_processes_in_between(run, supervisor, monkeypatch, tmp_path):
    monkeypatch.setenv("SOME_API_KEY", "not-for-children")
    process = await run("echo $PPID; cat /proc/$PPID/environ; sleep 600")
    await wait_until(lambda: "\n" in (tmp_path / "output").read_text())
    keeper = psutil.Process(int((tmp_path / "output").read_text().split()[0]))
    spawner = keeper.parent()
    for between in (keeper, spawner):
        with contextlib.suppress(PermissionError):  # an ordinary user cannot even read it
            assert "SOME_API_KEY" not in Path(f"/proc/{between.pid}/environ").read_text()
    process.end(0)
    await process.wait()
    assert "not-for-children" not in (tmp_path / "output").read_text()


async def test_descriptors_are_given_back(run):
    await (await run("exit")).wait()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        await (await run("exit")).wait()
        with contextlib.suppress(SupervisorError):
            await run("exit", environment={"A": "x" * 200_000})
    assert len(os.listdir("/proc/self/fd")) == before


async def test_memory_of_commands_that_have_ended_is_given_back(run):
    async def run_one():
        process = await run("exit")
        await process.wait_for_recording()
        return weakref.ref(process)

    ended = [await run_one() for _ in range(5)]
    gc.collect()
    await wait_until(lambda: not any(reference() for reference in ended))


async def test_call_that_is_cancelled_while_it_starts_leaves_nothing(run, supervisor, mark):
    starting = [asyncio.create_task(run(f"exec -a {mark} sleep 600")) for _ in range(10)]
    await asyncio.sleep(0)
    for task in starting:
        task.cancel()
    await asyncio.wait(starting)
    await wait_until(lambda: not living(mark) and not supervisor.processes)


async def test_keeper_that_was_stopped_before_it_told_of_the_start_ends_with_a_cancelled_call(run, supervisor, mark):
    await (await run("exit")).wait()
    keeper = await find_waiting_keeper(supervisor)
    before = keeper.num_ctx_switches().voluntary  # an ordinary user may not see its descriptors
    starting = asyncio.create_task(run(f"exec -a {mark} sleep 600"))
    await wait_until(lambda: keeper.num_ctx_switches().voluntary > before or starting.done())  # it has the request
    keeper.suspend()
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        (await starting).abandon()
    await wait_until(lambda: not keeper.is_running() and not living(mark))


async def find_waiting_keeper(supervisor):
    """Wait until all keepers but the next command's have ended, and that one waits for it."""
    spawner = psutil.Process(supervisor._spawner.pid)
    await wait_until(lambda: len(spawner.children()) == 1 and len(spawner.children(recursive=True)) == 2)
    return spawner.children()[0]


@pytest.mark.parametrize("signal_name", ["SIGKILL", "SIGSTOP"])
@pytest.mark.parametrize("which", ["keeper", "the command's process"])
async def test_whatever_happens_to_processes_that_wait_for_a_command_the_next_one_runs(
    run, supervisor, tmp_path, which, signal_name
):
    await (await run("exit")).wait()
    keeper = await find_waiting_keeper(supervisor)
    waiting = keeper if which == "keeper" else keeper.children()[0]
    waiting.send_signal(getattr(signal, signal_name))
    await wait_until(lambda: signal_name == "SIGSTOP" or not _runs(waiting))
    async with asyncio.timeout(PATIENCE_S):
        process = await run("echo on; exit 3")
        assert await process.wait() == 3
        await process.wait_for_recording()
    assert (tmp_path / "output").read_text() == "on\n"


async def test_processes_that_wait_for_a_command_end_with_the_supervisor(run, supervisor):
    await (await run("exit")).wait()
    keeper = await find_waiting_keeper(supervisor)
    waiting = [keeper, *keeper.children()]
    await supervisor.close()
    await wait_until(lambda: not any(map(_runs, waiting)))


async def test_command_has_no_descriptors_but_its_streams(run, tmp_path):
    for _ in range(3):  # the first keeper is forked for its command, later ones ahead
        process = await run('for fd in /proc/$$/fd/*; do [ -e "$fd" ] && echo "${fd##*/}"; done; true')
        assert await process.wait() == 0
    assert (tmp_path / "output").read_text() == 3 * "0\n1\n2\n"


async def test_what_was_left_behind_and_ended_is_told_and_what_ends_by_itself_is_not(run, mark):
    for _ in range(TRIES):
        process = await run(f"setsid -f sleep 600.5; (exec -a '{mark} it' sleep 600) & exit 0")
        assert await process.wait() == 0
        if (told := sorted(command for _, command in process.left_behind)) == [f"{mark} it 600", "sleep 600.5"]:
            break
    assert told == [f"{mark} it 600", "sleep 600.5"]
    for _ in range(TRIES):
        quiet = await run("sleep 0.01 & echo done")
        await quiet.wait()
        if quiet.left_behind == ():
            break
    assert quiet.left_behind == ()


async def test_what_a_command_starts_goes_on_where_that_is_asked_for_until_it_is_ended(run, mark):
    process = await run(f"setsid -f bash -c 'exec -a {mark} sleep 600'; exit 7", ends_with_command=False)
    await wait_until(lambda: process.exit_code == 7)
    assert not process.is_over
    await wait_until(lambda: len(living(mark)) == 1)  # for a moment, a process that becomes a program has no arguments
    process.end(grace_s=5)
    assert await process.wait() == 7
    assert living(mark) == []
