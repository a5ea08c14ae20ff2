"""`Keeper`: starts one command, records its output, and terminates all of its descendants."""

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import socket
import termios
import time
from typing import Any

from agentcore.supervision.children import drain_pipe, ended_children, has_children, wake_on_children
from agentcore.supervision.descendants import kill_all_below, list_commands, list_descendants, send_to
from agentcore.supervision.prctl import die_with_parent, leave_keyring
from agentcore.supervision.protocol import HEADER
from agentcore.supervision.recorder import Recorder, create_recorder

# Processes that a command leaves behind may still be writing its last lines (`> >(tee log)`): they get SIGTERM after
# the first delay, and SIGKILL after the second.
_LEFT_BEHIND_ASK_S = 0.3
_LEFT_BEHIND_KILL_S = 0.6
_KILL_AGAIN_S = 0.05
_LEFT_BEHIND_TOLD = 50
_DESCRIPTORS_OF_A_CHILD = 1024
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IGNORED_HERE = (*ENDING_SIGNALS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)


class Keeper:
    """Starts one command, records its output, and terminates all of its descendants."""

    def __init__(self, control: socket.socket, *, has_terminal: bool) -> None:
        self._control = control
        self._has_terminal = has_terminal
        self._poll = select.poll()
        self._recorder: Recorder | None = None
        self._tell_beyond: int | None = None
        self._command = 0
        self._is_command_over = self._is_ending = self._is_alone = False
        self._ends_with_command = True
        self._plan: list[tuple[float, int]] = []
        self._received = b""

    def run(self, request: dict[str, Any], folder: int, stdio: list[int], recorded: list[int]) -> None:
        """Run the command until its last descendant has ended, and record until its streams have ended."""
        wake = wake_on_children()
        self._ends_with_command = request["ends_with_command"]
        try:
            self._recorder = create_recorder(request, recorded, self._poll)
            self._command = _start_command(request, folder, stdio)
        except OSError as exc:
            self._send_message({"failed": exc.errno})
            return
        finally:
            for fd in (folder, *stdio):
                os.close(fd)
        self._send_message({"started": os.getpid()})
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


def _start_command(request: dict[str, Any], folder: int, stdio: list[int]) -> int:
    """Fork and execute the command.

    Returns:
        The process id of the command, which leads its own session and process group.
    Raises:
        OSError: If it cannot be run; its errno is that of the failed step.
    """
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _exec_command(request, folder, stdio)
        except OSError as exc:
            os.write(write_end, HEADER.pack(exc.errno or 0))
        finally:
            os._exit(127)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        answer = pipe.read(HEADER.size)
    if answer:
        os.waitpid(pid, 0)
        code = HEADER.unpack(answer)[0]
        raise OSError(code, os.strerror(code))
    return pid


def _exec_command(request: dict[str, Any], folder: int, stdio: list[int]) -> None:
    os.setsid()
    die_with_parent()
    if request["own_keyring"]:
        leave_keyring()
    os.fchdir(folder)
    # Move them above 0, 1, 2 first, so that none is overwritten before it is copied.
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in stdio]
    for number, fd in enumerate(moved):
        os.dup2(fd, number)
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in IGNORED_HERE:  # ignored signals stay ignored across exec
        signal.signal(number, signal.SIG_DFL)
    if not request["ends_with_command"] and not os.isatty(1):
        # The kernel sends SIGHUP to the terminal's processes when the command, the session leader, ends.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft > _DESCRIPTORS_OF_A_CHILD or soft == resource.RLIM_INFINITY:  # the server has raised its own
        resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS_OF_A_CHILD, hard))
    argv = [os.fsencode(text) for text in request["argv"]]
    env = {os.fsencode(name): os.fsencode(value) for name, value in request["env"].items()}
    os.execve(argv[0], argv, env)  # noqa: S606 - this is what it is for; descriptors are close-on-exec
