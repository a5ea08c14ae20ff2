"""`LoopGuard`: the process that watches a server from outside, and ends it when its event loop is held for too long.

No thread of the server can: who holds the loop may hold the interpreter's lock as well. The server writes its
heartbeats into shared memory. Over a socket it says, one JSON a line: `{"modules": {NAME: {"folders": […], "tools":
[…]}}}` whenever they change; `{"holder": {…}}` when it has found by itself who holds the loop. It is told who did where
this process has found out. What the server is signalled comes through a pipe that the system writes to, whatever
Python does.
"""

import contextlib
import json
import mmap
import os
import select
import signal
import socket
import sys
import time
from typing import Any

from agentcore.supervision.descendants import list_descendants, read_start_time, send_to
from agentcore.supervision.holder import Holder, find_holder
from agentcore.supervision.server_threads import ServerThreads

EXIT_SIGNAL = signal.SIGXCPU
"""Its handler in the server is the system's `_exit`, so that its number is the exit code: 24 on Linux and macOS."""

BEATS = 2
"""Counters in shared memory, of 8 bytes: turns of the loop, looks of the server's own watchdog."""

_IDLE_S = 0.5
_ASK_AFTER_S = 0.2
_ASK_AGAIN_S = 1.0
_SILENT_S = 0.25
_SHOW_AFTER_S = 1.0
_SLOWEST_LOOK = 2  # a look that comes later says that this process did not run either
_STALLED_S = 3.0
_EXIT_S = 2.0
_CHILDREN_S = 5.0
_LOOK_AGAIN_S = 0.05


class LoopGuard:
    """Watches one server.

    Args:
        control: The socket to the server; its end is the server's.
        memory: Its heartbeats.
        signals: Where the system writes what the server is signalled.
        stacks: Where threads of the server write their stacks.
        orders: `pid` of the server; `limit_s` and `grace_s`, how long the loop may be held at most, and once the
            server was told to end; `stop_s`, how long its end may take; `report`, a file that says who holds the loop
            while it is held; `log`, the file of the log, beside stderr; `is_terminal`, whether a person reads the log.
    """

    def __init__(self, control: socket.socket, memory: int, signals: int, stacks: int, orders: dict[str, Any]) -> None:
        self._control = control
        self._signals = signals
        self._orders = orders
        self._beats = memoryview(mmap.mmap(memory, BEATS * 8)).cast("Q")
        self._threads = ServerThreads(orders["pid"], stacks)
        self._received = b""
        self._modules: dict[str, Any] = {}
        self._holder: Holder | None = None
        self._seen = [-1, -1]
        self._held_s = 0.0
        self._ask_at_s = _ASK_AFTER_S
        self._looked_at = time.monotonic()
        self._told_to_end_s: float | None = None
        self._is_silent = self._is_shown = False

    def run(self) -> None:
        """Watch until the server is gone."""
        poll = select.poll()
        for fd in (self._control.fileno(), self._signals):
            poll.register(fd, select.POLLIN)
        while True:
            for fd, _ in poll.poll(1000 * self._interval_s):
                if fd == self._signals:
                    if os.read(fd, 4096):
                        self._told_to_end_s = self._told_to_end_s or 0.0
                    else:
                        poll.unregister(fd)
                elif not self._receive_messages():
                    self._remove_report()
                    return
            if self._check_loop():
                return

    @property
    def _interval_s(self) -> float:
        return _SILENT_S if self._is_silent else _IDLE_S

    def _receive_messages(self) -> bool:
        """Take what the server says; False: it is gone."""
        try:
            received = self._control.recv(1024 * 1024)
        except ConnectionError:
            received = b""
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:  # cut off: the server could not send all of it
                continue
            if "modules" in message:
                self._modules = message["modules"]
            elif "holder" in message:
                self._holder = Holder(**message["holder"])
        return bool(received)

    def _check_loop(self) -> bool:
        """See whether the loop turns; True when the server had to be ended."""
        now = time.monotonic()
        since_s = now - self._looked_at
        self._looked_at = now
        since_s = min(since_s, _SLOWEST_LOOK * self._interval_s)
        seen = self._seen
        self._seen = list(self._beats)
        if self._told_to_end_s is not None:
            self._told_to_end_s += since_s
        self._is_silent = self._seen[0] == seen[0]
        if not self._is_silent:
            self._reset_held()
        else:
            self._held_s += self._threads.measure_running_s(since_s)
            # as long as the server's own watchdog can look, it says who it is
            is_blind = self._seen[1] == seen[1] or self._held_s > _SHOW_AFTER_S
            if self._holder is None and self._held_s >= self._ask_at_s and is_blind:
                self._report_holder()
            self._write_report(is_over=False)
        return self._is_too_long() and self._end_server()

    def _reset_held(self) -> None:
        """The loop turns."""
        self._held_s = 0.0
        self._holder = None
        self._ask_at_s = _ASK_AFTER_S
        self._threads.reset()
        self._remove_report()

    def _is_too_long(self) -> bool:
        limit_s: float = self._orders["limit_s"]
        stop_s: float = self._orders["stop_s"]
        if self._told_to_end_s is None:
            return self._held_s >= limit_s
        return self._held_s >= min(self._orders["grace_s"], limit_s) or self._told_to_end_s >= stop_s

    def _report_holder(self) -> None:
        """Ask the thread that is busiest, else the main one, where it is; and tell, if it is in a module's code."""
        holder = self._find_holder()
        if not holder.module:
            self._ask_at_s = self._held_s + _ASK_AGAIN_S
            return
        self._holder = holder
        with contextlib.suppress(OSError):
            self._control.sendall(json.dumps({"holder": holder._asdict()}).encode() + b"\n")
        self._write_log("warning", "event_loop_blocked", module=holder.module, tool=holder.tool, frames=holder.frames)

    def _find_holder(self) -> Holder:
        folders = {name: module["folders"] for name, module in self._modules.items()}
        first = find_holder(self._threads.read_stack(self._threads.busiest), folders)
        if not first.module and self._threads.busiest:
            first = max(first, find_holder(self._threads.read_stack(), folders), key=lambda holder: bool(holder.module))
        if not first.module:
            return first
        called = [frame.rpartition(" in ")[2] for frame in first.frames]
        tools = self._modules[first.module]["tools"]
        return first._replace(tool=next((name for name in called if name in tools), ""))

    def _write_report(self, *, is_over: bool) -> None:
        """Write who holds the loop where clients find it, who get no answer from the server."""
        if self._held_s < _SHOW_AFTER_S and not is_over:
            return
        holder = (self._holder or Holder())._asdict()
        limit_s = self._orders["limit_s"]
        report = {"pid": self._orders["pid"], "held_s": round(self._held_s, 1), "limit_s": limit_s, "ended": is_over}
        path = self._orders["report"]
        with contextlib.suppress(OSError):  # the folder is gone, or the disk is full: the log says it too
            fd = os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with open(fd, "w", encoding="utf-8") as file:  # noqa: PTH123
                json.dump(report | holder, file)
            os.replace(f"{path}.new", path)  # noqa: PTH105
            self._is_shown = True

    def _remove_report(self) -> None:
        if self._is_shown:
            self._is_shown = False
            with contextlib.suppress(OSError):
                os.unlink(self._orders["report"])  # noqa: PTH108

    def _end_server(self) -> bool:
        """End the server with what it has started: by its own exit code, else by force. False: it need not be."""
        holder = self._holder = self._holder or self._find_holder()
        self._write_log(
            "error",
            "server_ended_by_loop_guard",
            module=holder.module,
            tool=holder.tool,
            held_s=round(self._held_s, 1),
            limit_s=self._orders["limit_s"],
            exit_code=int(EXIT_SIGNAL),
            frames=holder.frames,
        )
        if time.monotonic() - self._looked_at > _STALLED_S:  # nobody reads the log: the server waits for that as well
            self._held_s = 0.0
            return False
        self._write_report(is_over=True)
        pid = self._orders["pid"]
        started = [one for one in list_descendants(pid) if one != os.getpid()]
        send_to(EXIT_SIGNAL, [pid])
        if not self._wait_until_gone(_EXIT_S):
            send_to(signal.SIGKILL, [pid])
            self._wait_until_gone(_EXIT_S)
        self._kill_children(started)
        return True

    def _wait_until_gone(self, limit_s: float) -> bool:
        """Wait for the end of the server, which is that of its socket."""
        self._control.settimeout(limit_s)
        try:
            while self._control.recv(65536):
                pass
        except TimeoutError:
            return False
        except OSError:
            pass
        return True

    def _kill_children(self, started: list[int]) -> None:
        """Give commands and browsers time to end with the server, as they do by themselves, and kill the rest."""
        births = {one: read_start_time(one) for one in started}
        until = time.monotonic() + _CHILDREN_S
        while any(births[one] and births[one] == read_start_time(one) for one in started):
            if time.monotonic() > until:
                send_to(signal.SIGKILL, [one for one in started if births[one] == read_start_time(one)])
                return
            time.sleep(_LOOK_AGAIN_S)

    def _write_log(self, level: str, event: str, **fields: Any) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{int(time.time() % 1 * 1000):03d}Z"
        line = json.dumps({"time": now, "level": level, "event": event} | fields)
        with contextlib.suppress(OSError):  # there is no file yet, or no room
            fd = os.open(self._orders["log"], os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            try:
                os.write(fd, line.encode() + b"\n")
            finally:
                os.close(fd)
        if self._orders["is_terminal"]:
            if level != "error":
                return  # a terminal shows what ends the server, and not the rest of the log
            line = _ended_text(fields)
        with contextlib.suppress(OSError):  # nobody reads the log any more
            os.write(2, line.encode("utf-8", "replace") + b"\n")


def _ended_text(fields: dict[str, Any]) -> str:
    """Why the server was ended, for the user at its terminal."""
    tool = f" (tool {fields['tool']})" if fields["tool"] else ""
    module = f"the module {fields['module']}{tool}" if fields["module"] else "something"
    return (
        f"\nagentcore was ended, because {module} blocked it for {fields['held_s']:g} s."
        "\nThe log has the place in its code: agentcore logs --level error"
    )


def main() -> None:
    """Watch the server; arguments are the descriptors of its socket, of memory, signals and stacks, and the orders."""
    control, memory, signals, stacks = map(int, sys.argv[1:5])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the server, and not before
    for fd in (signals, stacks):
        os.set_blocking(fd, False)
    with socket.socket(fileno=control) as server:
        LoopGuard(server, memory, signals, stacks, json.loads(sys.argv[5])).run()
