"""What modules leave behind: named at their release, and no hindrance to the end of the server."""

import signal
import textwrap

import pytest

from tests.server.served import LIMIT_S, gone, is_alive

LEAVING = textwrap.dedent('''
    import asyncio, logging, os, signal, socket, subprocess, sys, threading, time
    from concurrent.futures import ThreadPoolExecutor
    from pathlib import Path
    from agentcore.api import Module, tool

    async def deaf():
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass

    class Answering(asyncio.Protocol):
        pass

    class Leaving(Module):
        """Leaves everything behind."""

        async def init(self, runtime):
            self.pool = ThreadPoolExecutor(1)
            await asyncio.get_running_loop().run_in_executor(self.pool, int)
            threading.Thread(target=time.sleep, args=(3600,), name="left-thread").start()
            self.deaf = asyncio.create_task(deaf(), name="left-task")
            self.child = subprocess.Popen(["sleep", "3600"])
            self.server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.file = open(Path(__file__).parents[1] / "left.txt", "w")
            logging.getLogger().addHandler(logging.StreamHandler(self.file))
            sys.path.append("/left/folder")

        @tool(read_only=True)
        async def never(self) -> None:
            """Refuse to end."""
            await deaf()

        @tool(read_only=True)
        async def who(self) -> int:
            """Name the child."""
            return self.child.pid
''')

WORDS = (
    "the task 'left-task', which refuses to be cancelled",
    "the task 'call:never', which refuses to be cancelled",
    "the thread 'left-thread'",
    "the thread 'ThreadPoolExecutor-",
    "(sleep 3600), now ended",
    "a socket that listens at 127.0.0.1:",
    "left.txt, open since it was started",
    "a StreamHandler at the root logger",
    "/left/folder in sys.path",
)


KEEPING = textwrap.dedent('''
    import logging, sys
    from pathlib import Path
    from agentcore.api import Module, tool

    class {name}(Module):
        """Keeps files open, and a log, until it is stopped; or leaves one."""

        requires = {requires}

        async def init(self, runtime):
            if {keeps}:
                folders = (runtime.data_dir, Path(__file__).parents[1])
                self.files = [open(folder / "kept.txt", "w") for folder in folders]
                self.log = logging.StreamHandler(self.files[0])
                logging.getLogger().addHandler(self.log)
                sys.path.append("/kept/folder")
            if {leaves}:
                self.left = open(runtime.data_dir / "left.txt", "w")

        async def shutdown(self):
            if {keeps}:
                logging.getLogger().removeHandler(self.log)
                sys.path.remove("/kept/folder")
                for file in self.files:
                    file.close()
''')


@pytest.fixture
def leaving(start_server):
    """A server with that module."""
    return start_server({"leaving": LEAVING})


@pytest.mark.spec("M4", "S4")
def test_what_a_module_leaves_is_named_in_the_log_and_where_it_is_shown(leaving):
    child = leaving.result("who")["data"]
    assert leaving.command("call", "never", "--timeout", "0.5").returncode == 1
    assert leaving.command("modules", "disable", "leaving").returncode == 0
    left = leaving.line("module_left")["left"]
    for words in WORDS:
        assert any(words in each for each in left), (words, left)
    assert sum("that listens" in each for each in left) == 2
    assert not is_alive(child)
    info = leaving.command("modules", "info", "leaving").stdout
    assert "when it was stopped it left the thread 'left-thread'" in info


@pytest.mark.spec("S4")
def test_what_a_module_keeps_open_is_not_laid_at_the_door_of_those_that_stop_before_it(start_server):
    """Modules start together, so none finds what another one opens; they stop one after the other."""
    server = start_server(
        {
            "keeper": KEEPING.format(name="Keeper", requires=(), keeps=True, leaves=False),
            "bystander": KEEPING.format(name="Bystander", requires=("keeper",), keeps=False, leaves=False),
            "leaver": KEEPING.format(name="Leaver", requires=("keeper",), keeps=False, leaves=True),
        }
    )
    server.process.terminate()
    lines = [line for line in server.rest() if line["event"] == "module_left"]
    assert [line["module"] for line in lines] == ["leaver"]
    (left,) = lines[0]["left"]
    assert left.endswith("leaver/left.txt, open since it was started")


@pytest.mark.spec("S7")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_server_ends_by_a_signal_whatever_a_module_has_left(leaving, number):
    child = leaving.result("who")["data"]
    leaving.process.send_signal(number)
    assert leaving.process.wait(LIMIT_S) == 0
    gone({child})
    assert any(line["event"] == "server_stopped" for line in leaving.rest())


@pytest.mark.spec("S7")
def test_second_signal_ends_what_a_module_has_started_too(leaving, tmp_path):
    (tmp_path / "modules" / "leaving.py").write_text(
        LEAVING + "\n    async def shutdown(self):\n        await asyncio.Event().wait()\n"
    )
    assert leaving.command("modules", "reload", "leaving").returncode == 0
    child = leaving.result("who")["data"]
    leaving.process.terminate()
    leaving.line("server_stopping")
    leaving.process.terminate()
    assert leaving.process.wait(LIMIT_S) == 128 + signal.SIGTERM
    gone({child})


@pytest.mark.more
@pytest.mark.spec("S7")
@pytest.mark.parametrize("at_exit", ["time.sleep(3600)", "__import__('re').fullmatch('(a|aa)+', 'a' * 200 + 'b')"])
def test_function_for_the_exit_does_not_hold_it(leaving, tmp_path, at_exit):
    source = LEAVING.replace("sys.path.append", f"__import__('atexit').register(lambda: {at_exit}); sys.path.append")
    (tmp_path / "modules" / "leaving.py").write_text(source)
    assert leaving.command("modules", "reload", "leaving").returncode == 0
    leaving.process.terminate()
    assert leaving.process.wait(LIMIT_S) in (0, 1)


@pytest.mark.spec("S7")
@pytest.mark.parametrize("command", [("call", "who"), ("modules", "list"), ("doctor",)])
def test_commands_with_a_host_of_their_own_end_too(leaving, command):
    leaving.process.terminate()
    assert leaving.process.wait(LIMIT_S) == 0
    done = leaving.command(*command)
    assert done.returncode == 0, done
    if command[0] == "call":
        gone({int(done.stdout)})
