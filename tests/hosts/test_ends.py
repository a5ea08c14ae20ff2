"""A process of modules that ends, or hangs, ends alone: its calls say why, and all else goes on."""

import asyncio
import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import Module, ResourceUse, ToolContext, tool
from tests.support.waiting import wait_until


class Perilous(Module):
    """Ends its process, or hangs it, in one of many ways."""

    @tool(read_only=True)
    async def pid(self) -> int:
        """Say in which process it is."""
        return os.getpid()

    @tool(read_only=True)
    async def die(self, ctx: ToolContext, how: str) -> str:
        """Say some words, and end the process."""
        print("the last words", file=sys.stderr, flush=True)
        ctx.progress(0.0, "dies")
        if how == "segfault":
            ctypes.string_at(0)
        elif how == "exit":
            os._exit(3)
        elif how == "thread exit":
            threading.Thread(target=os._exit, args=(4,)).start()
            await asyncio.sleep(600)
        elif how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif how == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif how == "block":
            time.sleep(600)
        elif how == "deadlock":
            # a PyDLL keeps the lock of the interpreter: no other thread runs any more
            ctypes.PyDLL(None).sleep(600)
        return "alive"

    @tool(read_only=True)
    async def eat(self, mebibytes: int, at_once: bool) -> int:
        """Take memory."""
        if at_once:
            held = b"x" * (mebibytes << 20)
            await asyncio.sleep(600)
            return len(held)
        pieces = []
        for _ in range(mebibytes):
            pieces.append(b"x" * (1 << 20))
            await asyncio.sleep(0.002)
        await asyncio.sleep(600)
        return len(pieces)

    @tool(read_only=True)
    async def wait(self, ctx: ToolContext) -> str:
        """Wait until somebody ends it."""
        ctx.progress(0.0, "waits")
        await asyncio.sleep(600)
        return "never"

    @tool(resource=ResourceUse("box", create=True))
    async def fill(self, ctx: ToolContext, resourceId: str | None = None) -> str:  # noqa: N803
        """Make a box."""
        assert ctx.resource is not None
        self.runtime.resources.adopt(ctx.resource.resource_id, self._end)
        self.runtime.resources.update(ctx.resource.resource_id, status="ready")
        return ctx.resource.resource_id

    async def _end(self, resource: Any) -> None:
        pass

    @tool(read_only=True)
    async def shout(self, ctx: ToolContext, stream: str, line: str) -> str:
        """Write without an end, from a thread."""
        number = 2 if stream == "stderr" else 1

        def write() -> None:
            while True:
                os.write(number, line.encode() * (60_000 // len(line)))

        threading.Thread(target=write, daemon=True).start()
        return "shouts"


class Calm(Module):
    """Does what it is told."""

    @tool(read_only=True)
    async def calm_pid(self) -> int:
        """Say in which process it is."""
        return os.getpid()


class Near(Module):
    """Runs in the server."""

    @tool(read_only=True)
    async def near_pid(self) -> int:
        """Say in which process it is."""
        return os.getpid()


def _config(**isolated: Any) -> dict[str, Any]:
    hosts = {
        "isolated": {"kind": "process", "modules": ["perilous"], **isolated},
        "other": {"kind": "process", "modules": ["calm"]},
    }
    return {"hosts": hosts, "limits": {"loop_blocked_max": 1}}


HOST = {"modules": [Perilous, Calm, Near], "isolation": "process", "config": _config()}
MORE = pytest.mark.more


async def _again(host) -> None:
    """Wait until the module runs again."""
    await wait_until(lambda: _answers(host))


async def _answers(host) -> bool:
    return (await host.outcome("pid")).ok


def _is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("exit", "exit code 3"),
        ("stop", "did not answer for 1 s"),
        pytest.param("segfault", "SIGSEGV", marks=MORE),
        pytest.param("thread exit", "exit code 4", marks=MORE),
        pytest.param("kill", "SIGKILL", marks=MORE),
        pytest.param("block", "did not answer for 1 s", marks=MORE),
        pytest.param("deadlock", "did not answer for 1 s", marks=MORE),
    ],
)
async def test_end_of_a_process_ends_its_calls_with_a_reason_and_nothing_else(host, how, reason):
    """Beside the call that ends it, another one waits there; a module there, one elsewhere, one here go on."""
    before = {name: (await host.call(name)).data for name in ("pid", "calm_pid", "near_pid")}
    waiting = asyncio.create_task(host.outcome("wait"))
    await host.events.wait_for("call.progress", message="waits")
    await host.outcome("fill", session_id="s1")
    dying = asyncio.create_task(host.outcome("die", {"how": how}))
    await host.events.wait_for("call.progress", message="dies")

    async def has_ended_while_the_others_answer() -> bool:
        assert (await host.call("calm_pid")).data == before["calm_pid"]
        assert (await host.call("near_pid")).data == before["near_pid"]
        return dying.done() or not _is_alive(before["pid"])

    await wait_until(has_ended_while_the_others_answer)
    outcomes = [await dying, await waiting]
    for outcome in outcomes:
        assert outcome.error.type == "module_failed"
        assert reason in outcome.error.message
        assert "the last words" in outcome.error.message
        assert "Traceback" not in outcome.error.message
    await wait_until(lambda: not host.host.resources.list(session_id="s1"))
    assert reason in host.host.resources.why_gone("box", None, "box_s1_0", "s1")
    await _again(host)
    after = {name: (await host.call(name)).data for name in ("pid", "calm_pid", "near_pid")}
    assert after["pid"] != before["pid"]
    assert (after["calm_pid"], after["near_pid"]) == (before["calm_pid"], before["near_pid"])


@pytest.mark.more
@pytest.mark.parametrize("at_once", [False, pytest.param(True, marks=MORE)])
async def test_process_that_takes_too_much_memory_is_ended(agentcore_host, at_once):
    modules = [Perilous(), Calm(), Near()]
    host = await agentcore_host(modules, isolation="process", config=_config(memory_mb=200))
    outcome = await host.outcome("eat", {"mebibytes": 2_000, "at_once": at_once})
    assert outcome.error.type == "module_failed"
    assert "MiB of memory, and may use 200" in outcome.error.message
    await _again(host)


@pytest.mark.more
@pytest.mark.parametrize(
    ("stream", "line"),
    [
        ("stderr", '{"event": "a_log_line", "level": ["x"], "self": 1, "exc_info": true}\n'),
        pytest.param("stdout", "y\n", marks=MORE),
        pytest.param("stderr", "no end of a line ", marks=MORE),
    ],
)
async def test_process_that_writes_without_an_end_holds_nobody_up(host, stream, line):
    await host.call("shout", stream=stream, line=line)
    for _ in range(50):
        assert (await host.call("near_pid")).data == os.getpid()
    assert (await host.call("pid")).data


@pytest.mark.more
async def test_process_that_ends_three_times_in_a_minute_stays_down_until_somebody_enables_it(host):
    for number in range(3):
        await _again(host)
        assert (await host.outcome("die", {"how": "exit"})).error.type == "module_failed", number
    await wait_until(lambda: "3 times within a minute" in host.host.modules.get_record("perilous").reason)
    record = host.host.modules.get_record("perilous")
    assert record.state == "failed"
    assert "exit code 3" in record.reason
    assert "the last words" in record.reason
    assert (await host.outcome("pid")).error.type in ("unknown_tool", "module_failed")
    assert (await host.call("near_pid")).data == os.getpid()
    record = await host.host.modules.enable("perilous")
    assert record.state == "ready", record.reason
    assert (await host.call("pid")).data
    # an end after that is one of a new count
    await host.outcome("die", {"how": "exit"})
    await _again(host)
