"""A real X server with a real window, a real session bus with services that answer, and a host with the module."""

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcore.api import Text, ToolError, ToolResult
from agentcore.testing import HostFactory, RunningHost

_DESKTOP = (
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_CURRENT_DESKTOP",
    "BROWSER",
)
_BUS_DAEMON = shutil.which("dbus-daemon")  # looked up before a test has a PATH of its own
_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={path}</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees, or shows anything on, the desktop of whoever runs it."""
    for name in _DESKTOP:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def unseen_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a display that is not there. To be asked for before a host, which begins with this environment."""
    monkeypatch.setenv("DISPLAY", ":4711")


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    """A key in the environment. To be asked for before a host."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    return "sk-secret"


@pytest.fixture(scope="session")
def x_server() -> Iterator[str]:
    """The name of the display of an X server of our own, with one screen of 640×480."""
    if shutil.which("Xvfb") is None:
        pytest.skip("no Xvfb on PATH")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-noreset", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
        server.terminate()


@pytest.fixture
def window(x_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int, int, int]]:
    """A window on that display: red, with a blue bar on its left; gives x, y, width, height."""
    from Xlib import X, display

    monkeypatch.setenv("DISPLAY", x_server)
    client = display.Display(x_server)
    place = (100, 50, 200, 120)
    shown = client.screen().root.create_window(
        *place, 0, X.CopyFromParent, X.InputOutput, X.CopyFromParent, background_pixel=0xFF0000,
        override_redirect=True, event_mask=X.ExposureMask,
    )  # fmt: skip
    shown.map()
    while client.next_event().type != X.Expose:
        pass
    shown.fill_rectangle(shown.create_gc(foreground=0x0000FF), 0, 0, 20, 120)
    client.sync()
    yield place
    shown.destroy()
    client.sync()
    client.close()


class BusService(threading.Thread):
    """Owns a name on the session bus and answers calls to it.

    Attributes:
        asked: Method and arguments of each call.
    """

    def __init__(self, address: str, name: str, answer: Callable[[Any, Any], None]) -> None:
        from jeepney import DBusAddress, HeaderFields, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        super().__init__(daemon=True)
        self.asked: list[tuple[str, Any]] = []
        self._fields, self._answer = HeaderFields, answer
        self.connection = open_dbus_connection(address)
        driver = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        self.connection.send_and_get_reply(new_method_call(driver, "RequestName", "su", (name, 4)), timeout=30)

    def run(self) -> None:
        from jeepney import MessageType

        while True:
            try:
                message = self.connection.receive()
            except (OSError, EOFError):
                return
            if message.header.message_type == MessageType.method_call:
                self.asked.append((message.header.fields[self._fields.member], message.body))
                self._answer(self.connection, message)


@pytest.fixture
def session_bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A session bus of our own, which starts no services."""
    if _BUS_DAEMON is None:
        pytest.skip("no dbus-daemon on PATH")
    config = tmp_path / "bus.conf"
    config.write_text(_BUS.format(path=tmp_path / "bus"))
    command = [_BUS_DAEMON, f"--config-file={config}", "--nofork", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        address = daemon.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield address
        daemon.terminate()


@pytest.fixture
def serve_on_bus(session_bus: str) -> Iterator[Callable[..., BusService]]:
    """Start a service on the session bus: `serve_on_bus("org.example.Name", answer)`."""
    services: list[BusService] = []

    def start(name: str, answer: Callable[[Any, Any], None]) -> BusService:
        service = BusService(session_bus, name, answer)
        service.start()
        services.append(service)
        return service

    yield start
    for service in services:
        service.connection.sock.shutdown(2)
        service.join(30)
        service.connection.close()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Put a program on a PATH that has no others: `programs("grim", script)`; gives the file that it can write to."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat", "env", "sleep"):
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))

    def put(name: str, script: str) -> Path:
        note = tmp_path / f"{name}.note"
        (folder / name).write_text(f"#!/bin/sh\nNOTE={note}\n{script}\n")
        (folder / name).chmod(0o755)
        return note

    return put


@pytest.fixture
async def host(agentcore_host: HostFactory) -> RunningHost:
    """A host with the module."""
    return await agentcore_host(modules=["system_tools"])


@pytest.fixture
def failure(host: RunningHost) -> Any:
    """Call a tool that fails, and give its error."""

    async def run(tool: str, /, **arguments: Any) -> ToolError:
        with pytest.raises(ToolError) as caught:
            await host.call(tool, **arguments)
        return caught.value

    return run


@pytest.fixture
def text() -> Callable[[ToolResult], str]:
    """All text of a result."""
    return lambda result: "\n".join(block.text for block in result.blocks() if isinstance(block, Text))
