"""`Keeper`: starts one command, records its output, and terminates all of its descendants."""

import contextlib
import json
import os
import select
import signal
import socket
import time
from typing import Any

from agentcore.supervision.children import drain_pipe, ended_children, has_children, wake_on_children
from agentcore.supervision.descendants import kill_all_below, list_commands, list_descendants, send_to
from agentcore.supervision.protocol import receive_message
from agentcore.supervision.recorder import Recorder, create_recorder
from agentcore.supervision.starter import Starter, start_command, warm_up

# Processes that a command leaves behind may still be writing its last lines (`> >(tee log)`): they get SIGTERM after
# the first delay, and SIGKILL after the second.
_LEFT_BEHIND_ASK_S = 0.3
_LEFT_BEHIND_KILL_S = 0.6
_KILL_AGAIN_S = 0.05
_LEFT_BEHIND_TOLD = 50


class Keeper:
    """Starts one command, records its output, and terminates all of its descendants."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._spare: Starter | None = None
        self._has_terminal = False
        self._poll = select.poll()
        self._recorder: Recorder | None = None
        self._tell_beyond: int | None = None
        self._command = 0
        self._is_command_over = self._is_ending = self._is_alone = False
        self._ends_with_command = True
        self._plan: list[tuple[float, int]] = []
        self._received = b""

    def run(self) -> None:
        """Wait for the request, run its command until the last descendant has ended, and record its streams."""
        wake = wake_on_children()
        with contextlib.suppress(OSError):  # there may be room for it when it is needed
            self._spare = Starter(self._requests)
        warm_up()
        try:
            message, (control, *fds) = receive_message(self._requests)
        except (ConnectionError, EOFError):
            return  # the spawner ends
        with socket.socket(fileno=control) as self._control:
            if self._start_command(message, fds[:4], fds[4:]):
                self._watch_command(wake)

    def _start_command(self, message: bytes, fds: list[int], recorded: list[int]) -> bool:
        try:
            request = json.loads(message)
            self._has_terminal = request["terminal"]
            self._ends_with_command = request["ends_with_command"]
            self._recorder = create_recorder(request, recorded, self._poll)
            self._command = start_command(message, fds, self._spare, self._requests)
        except OSError as exc:
            self._send_message({"failed": exc.errno})
            return False
        finally:
            for fd in fds:
                os.close(fd)
            self._requests.close()  # the spawner then prepares the next keeper
        self._send_message({"started": os.getpid()})
        return True

    def _watch_command(self, wake: int) -> None:
        self._poll.register(wake, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)
        while self._handle_events(wake) or self._reap_children():
            self._send_due_signals()
        self._send_message({"ended": True})
        self._plan.clear()
        while self._recorder is not None and not self._recorder.is_complete and not self._is_alone:
            self._handle_events(wake)

    def _handle_events(self, wake: int) -> bool:
        """Wait for the next events and handle them; True if they were only output."""
        is_output = False
        is_more = False
        for fd, _ in self._poll.poll(self._poll_timeout_ms()):
            if fd == wake:
                drain_pipe(wake)
                is_more = True
            elif fd == self._control.fileno():
                self._handle_orders()
                is_more = True
            elif self._recorder is not None:
                self._recorder.record_available(fd)
                is_output = True
        self._report_output()
        return is_output and not is_more and not self._is_due()

    def _report_output(self) -> None:
        if self._recorder is not None and self._tell_beyond is not None and self._recorder.written > self._tell_beyond:
            self._tell_beyond = None
            self._send_message({"wrote": self._recorder.written})

    def _is_due(self) -> bool:
        return bool(self._plan) and self._plan[0][0] <= time.monotonic()

    def _poll_timeout_ms(self) -> float | None:
        return max(0.0, (self._plan[0][0] - time.monotonic()) * 1000 + 1) if self._plan else None

    def _handle_orders(self) -> None:
        try:
            received = self._control.recv(65536)
        except ConnectionError:
            received = b""
        if not received:  # the server is gone, or has abandoned the command
            self._poll.unregister(self._control)
            self._is_ending = self._is_alone = True
            self._plan = [(0.0, signal.SIGKILL)]
            return
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "signal" in order:
                self._signal_group(order["signal"])
            elif "tell_beyond" in order:
                self._tell_beyond = order["tell_beyond"]
            elif not self._is_ending or order["end"] <= 0:
                self._start_ending(order["end"])

    def _start_ending(self, grace_s: float) -> None:
        self._is_ending = True
        now = time.monotonic()
        self._plan = [(now + grace_s, signal.SIGKILL)]
        if grace_s > 0:
            self._signal_group(signal.SIGTERM)
            self._signal_group(signal.SIGCONT)
            if self._has_terminal:  # an interactive shell ignores SIGTERM
                self._plan.insert(0, (now + grace_s / 2, signal.SIGHUP))

    def _signal_group(self, number: int) -> None:
        if self._is_command_over:
            send_to(number, list_descendants(os.getpid()))
            return
        with contextlib.suppress(OSError):  # the group is empty, or belongs to another user
            os.killpg(self._command, number)

    def _reap_children(self) -> bool:
        """Reap children that have ended; False when none is left."""
        for pid, status in ended_children():
            if pid == self._command and not self._is_command_over:
                self._is_command_over = True
                self._send_message({"exited": os.waitstatus_to_exitcode(status)})
                # An interrupted command must not leave anything behind either: its sandbox may be half set up.
                is_end = self._ends_with_command or os.WIFSIGNALED(status)
                if is_end and not self._is_ending:
                    now = time.monotonic()
                    ask = (now + _LEFT_BEHIND_ASK_S, signal.SIGTERM)
                    kill = (now + _LEFT_BEHIND_KILL_S, signal.SIGKILL)
                    self._plan = [ask, kill]
        return has_children()

    def _send_due_signals(self) -> None:
        now = time.monotonic()
        while self._plan and self._plan[0][0] <= now:
            _, number = self._plan.pop(0)
            if number == signal.SIGKILL:
                kill_all_below(os.getpid())
                self._plan = [(now + _KILL_AGAIN_S, signal.SIGKILL)]
                return
            found = list_descendants(os.getpid())
            if number == signal.SIGTERM:
                self._report_left_behind(found)
            send_to(number, found)

    def _report_left_behind(self, found: list[int]) -> None:
        """Report the processes that the command left running, before they are terminated."""
        left = list(list_commands(found))
        if left:
            self._send_message({"left": left[:_LEFT_BEHIND_TOLD]})

    def _send_message(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the server is gone
            self._control.sendall(json.dumps(message).encode() + b"\n")
