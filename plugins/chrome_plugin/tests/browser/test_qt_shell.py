"""Attaching to a program that is no Chrome: views of QtWebEngine, chosen by a person, in a shell that opens none."""

import asyncio
import importlib.util
import os
import signal
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agentcore.api import ToolError
from agentcore.testing.hosting import HostPlan, running_host

HAS_QT = any(importlib.util.find_spec(name) for name in ("PySide6", "PyQt6"))
STARTS_HOSTS = True
pytestmark = [
    pytest.mark.spec("R6"),
    pytest.mark.more,
    pytest.mark.skipif(not HAS_QT, reason="no QtWebEngine: pip install PySide6"),
]


@asynccontextmanager
async def qt_shell(*addresses):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"127.0.0.1:{free.getsockname()[1]}"
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(Path(__file__).with_name("qt_shell.py")), *addresses,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QTWEBENGINE_REMOTE_DEBUGGING": endpoint,
             "QTWEBENGINE_DISABLE_SANDBOX": "1"},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(120):
            while b"DevTools listening" not in (line := await process.stderr.readline()):
                assert line, "the shell did not start"
        yield f"http://{endpoint}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def test_view_of_a_shell_that_opens_none_is_chosen_by_a_person(tmp_path, site):
    async with qt_shell(site.url("/second"), site.url("/form")) as endpoint:
        config = {"config": {"chrome": {"allow_private": True, "cdp_endpoint": endpoint}}}
        async with running_host(HostPlan(("browser",), config), tmp_path) as host:
            host.answer_approvals(approve=True)
            with pytest.raises(ToolError, match="list_attached") as caught:
                await host.call("browser_navigate", url=site.url("/"))
            assert caught.value.type == "browser_launch_failed"
            async with asyncio.timeout(60):
                while not (form := await form_of(host)):
                    await asyncio.sleep(0.1)
            taken = await host.call("browser_tabs", action="attach", target=form)
            assert taken.data["url"] == site.url("/form")
            await host.call("browser_type", selector="[name=name]", text="Ada")
            await host.call("browser_click", selector="text=Send")
            seen = await host.call("browser_snapshot")
            assert "name=Ada" in str(seen.blocks()[0].text)


async def form_of(host):
    """The view's target, once it has loaded."""
    pages = (await host.call("browser_tabs", action="list_attached")).data["pages"]
    return next((one["target"] for one in pages if one["title"] == "Form"), None)
