"""`LoopGuard`: the process that watches a server from outside and ends it when its event loop is blocked for too long.

No thread of the server can do this: code that blocks the loop may hold the GIL as well. The server writes its
heartbeats into shared memory. Over a socket it sends, one JSON object per line: `{"modules": {NAME: {"folders": […],
"tools": […]}}}` whenever they change; `{"holder": {…}}` when it has itself found the code that blocks the loop. This
process sends `holder` to the server if it was the one that found it. Signals to the server arrive through a pipe that
the C signal handler writes to, even if no Python code can run.
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

from agentcore.supervision.blocking_module import Holder, find_holder
from agentcore.supervision.descendants import list_descendants, read_start_time, send_to
from agentcore.supervision.server_threads import ServerThreads

EXIT_SIGNAL = signal.SIGXCPU
"""Its handler in the server is the C function `_exit`, so that its number is the exit code: 24 on Linux and macOS."""

STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
"""What makes the server stop. Others may be handled by a module."""

BEATS = 2
"""Number of 8-byte counters in shared memory: iterations of the loop, checks of the server's own watchdog."""

_IDLE_S = 0.5
_ASK_AFTER_S = 0.2
_ASK_AGAIN_S = 1.0
_SILENT_S = 0.25
_SHOW_AFTER_S = 1.0
_SLOWEST_LOOK = 2  # a check that is later than this means that this process did not run either
_STALLED_S = 3.0
_EXIT_S = 2.0
_CHILDREN_S = 5.0
_LOOK_AGAIN_S = 0.05


class LoopGuard:
    """Watches one server.

    Args:
        control: The socket to the server; it closes when the server ends.
        memory: Descriptor of the shared memory with the heartbeats.
        signals: Descriptor from which the numbers of the signals sent to the server are read, one byte each.
        stacks: Descriptor from which stacks of server threads are read.
        orders: `pid` of the server; `limit_s` and `grace_s`, how long the loop may be blocked at most, before and after
            the server was signalled to stop; `stop_s`, how long stopping may take; `report`, a file that describes what
            blocks the loop while it is blocked; `log`, the log file, in addition to stderr; `is_terminal`, true if
            stderr is a terminal.
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
        """Watch until the server has ended."""
        poll = select.poll()
        for fd in (self._control.fileno(), self._signals):
            poll.register(fd, select.POLLIN)
        while True:
            for fd, _ in poll.poll(1000 * self._interval_s):
                if fd == self._signals:
                    if not (numbers := os.read(fd, 4096)):
                        poll.unregister(fd)
                    elif STOP_SIGNALS & set(numbers):
                        self._told_to_end_s = self._told_to_end_s or 0.0
                elif not self._receive_messages():
                    self._remove_report()
                    return
            if self._check_loop():
                return

    @property
    def _interval_s(self) -> float:
        return _SILENT_S if self._is_silent else _IDLE_S

    def _receive_messages(self) -> bool:
        """Handle the server's messages; False if it has ended."""
        try:
            received = self._control.recv(1024 * 1024)
        except ConnectionError:
            received = b""
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:  # truncated: the server could not send all of it
                continue
            if "modules" in message:
                self._modules = message["modules"]
            elif "holder" in message:
                self._holder = Holder(**message["holder"])
        return bool(received)

    def _check_loop(self) -> bool:
        """Check if the loop runs; True when the server had to be ended."""
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
            # As long as the server's own watchdog can run, it reports the holder itself.
            is_blind = self._seen[1] == seen[1] or self._held_s > _SHOW_AFTER_S
            if self._holder is None and self._held_s >= self._ask_at_s and is_blind:
                self._report_holder()
            self._write_report(is_over=False)
        return self._is_too_long() and self._end_server()

    def _reset_held(self) -> None:
        """Reset the state after the loop has run again."""
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
        """Find the code that blocks the loop, and report it if it is in a module."""
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
        """Write what blocks the loop to a file, for clients that get no response from the server."""
        if self._held_s < _SHOW_AFTER_S and not is_over:
            return
        holder = (self._holder or Holder())._asdict()
        limit_s = self._orders["limit_s"]
        report = {"pid": self._orders["pid"], "held_s": round(self._held_s, 1), "limit_s": limit_s, "ended": is_over}
        path = self._orders["report"]
        with contextlib.suppress(OSError):  # the folder is gone, or the disk is full: the log has it too
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
        """End the server and its descendants: with `EXIT_SIGNAL`, else SIGKILL. False if it need not end after all."""
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
        if time.monotonic() - self._looked_at > _STALLED_S:  # stderr is not read: the server waits for that as well
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
        """Wait until the server has ended and its socket has closed with it; False on timeout."""
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
        """Wait for commands and browsers, which end by themselves after the server, and kill those that remain."""
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
                return  # a terminal shows only why the server was ended
            line = _ended_text(fields)
        with contextlib.suppress(OSError):  # stderr has no reader any more
            os.write(2, line.encode("utf-8", "replace") + b"\n")


def _ended_text(fields: dict[str, Any]) -> str:
    """Format the reason why the server was ended, for its terminal."""
    tool = f" (tool {fields['tool']})" if fields["tool"] else ""
    module = f"the module {fields['module']}{tool}" if fields["module"] else "something"
    return (
        f"\nagentcore was ended, because {module} blocked it for {fields['held_s']:g} s."
        "\nThe log has the place in its code: agentcore logs --level error"
    )


def main() -> None:
    """Watch the server; arguments are descriptors (socket, memory, signals, stacks) and the orders as JSON."""
    control, memory, signals, stacks = map(int, sys.argv[1:5])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the server, and not before
    for fd in (signals, stacks):
        os.set_blocking(fd, False)
    with socket.socket(fileno=control) as server:
        LoopGuard(server, memory, signals, stacks, json.loads(sys.argv[5])).run()
