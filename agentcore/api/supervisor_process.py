"""The processes between the server and its commands; started by `Supervisor` as a program, never imported by it.

The server talks to one **spawner**, a small interpreter without threads. For each command it forks a **keeper**, which
adopts every orphan below it (PR_SET_CHILD_SUBREAPER) and holds a socket to the server. When the command ends, when the
server says so, or when the socket closes because the server is gone, the keeper ends everything below itself, however
detached. Source: prctl(2), proc(5).

Only the standard library, and little of it: what is imported here is in memory once for each command.
"""

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Never

IS_LINUX = sys.platform.startswith("linux")

HEADER = struct.Struct("!I")
"""In front of each request to the spawner: the length of its JSON."""

DESCRIPTORS = 5
"""Descriptors that come with a request: the keeper's socket, working folder, stdin, stdout, stderr."""

# What a command leaves behind may still be writing its last lines (`> >(tee log)`): it is asked after the first time,
# and killed after the second.
_LEFT_BEHIND_ASK_S = 0.3
_LEFT_BEHIND_KILL_S = 0.6
_KILL_AGAIN_S = 0.05
_SPAWNER_END_S = 30.0
_FREEZE_ROUNDS = 50
_DESCRIPTORS_OF_A_CHILD = 1024
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_IGNORED_HERE = (*_ENDING_SIGNALS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_HAS_CHILDREN_FILES = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")  # noqa: PTH110
_LIBC = ctypes.CDLL(None, use_errno=True)


class Spawner:
    """Forks a keeper for each request of the server, and outlives none of them."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._keepers: set[int] = set()

    def run(self) -> None:
        """Serve until the server is gone, then until all keepers are."""
        wake = _wake_on_children()
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        is_served = True
        while is_served:
            for fd, _ in poll.poll():
                if fd == wake:
                    _drain(wake)
                else:
                    is_served = self._serve()
            self._reap()
        self._control.close()
        self._wait_for_keepers()

    def _serve(self) -> bool:
        """Take one request; False when there will be no more."""
        try:
            head, fds, _, _ = socket.recv_fds(self._control, HEADER.size, DESCRIPTORS)
            if not head:
                return False
            for fd in fds:
                os.set_inheritable(fd, False)
            head += _receive(self._control, HEADER.size - len(head))
            request = json.loads(_receive(self._control, HEADER.unpack(head)[0]))
        except (ConnectionError, EOFError):
            return False
        pid = os.fork()
        if pid == 0:
            self._control.close()
            _keep(request, fds)
        self._keepers.add(pid)
        for fd in fds:
            os.close(fd)
        return True

    def _reap(self) -> None:
        is_one_lost = False
        for pid, status in _ended_children():
            if pid in self._keepers:
                self._keepers.discard(pid)
                is_one_lost = is_one_lost or status != 0
        if is_one_lost:
            self._kill_strays()

    def _kill_strays(self) -> None:
        """What was below a keeper that somebody killed is ours now."""
        kept = {below for keeper in self._keepers for below in (keeper, *_below(keeper))}
        _send(signal.SIGKILL, set(_below(os.getpid())) - kept)

    def _wait_for_keepers(self) -> None:
        until = time.monotonic() + _SPAWNER_END_S
        while self._keepers and time.monotonic() < until:
            self._reap()
            time.sleep(_KILL_AGAIN_S)


class Keeper:
    """Starts one command, and ends everything that comes of it."""

    def __init__(self, control: socket.socket, *, has_terminal: bool) -> None:
        self._control, self._has_terminal = control, has_terminal
        self._poll = select.poll()
        self._command = 0
        self._is_command_over = self._is_ending = False
        self._plan: list[tuple[float, int]] = []
        self._received = b""

    def run(self, request: dict[str, Any], folder: int, stdio: list[int]) -> None:
        """Run the command to the end of its last descendant."""
        wake = _wake_on_children()
        try:
            self._command = _start(request, folder, stdio)
        except OSError as exc:
            self._tell({"failed": exc.errno})
            return
        finally:
            for fd in (folder, *stdio):
                os.close(fd)
        self._tell({"started": True})
        self._poll.register(wake, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)
        while True:
            for fd, _ in self._poll.poll(self._patience_ms()):
                if fd == wake:
                    _drain(wake)
                else:
                    self._obey()
            if not self._reap():
                break
            self._act()
        self._tell({"ended": True})

    def _patience_ms(self) -> float | None:
        return max(0.0, (self._plan[0][0] - time.monotonic()) * 1000 + 1) if self._plan else None

    def _obey(self) -> None:
        try:
            received = self._control.recv(65536)
        except ConnectionError:
            received = b""
        if not received:  # the server is gone, or wants it gone
            self._poll.unregister(self._control)
            self._is_ending = True
            self._plan = [(0.0, signal.SIGKILL)]
            return
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "signal" in order:
                self._signal_group(order["signal"])
            elif not self._is_ending or order["end"] <= 0:
                self._end(order["end"])

    def _end(self, grace_s: float) -> None:
        self._is_ending = True
        now = time.monotonic()
        self._plan = [(now + grace_s, signal.SIGKILL)]
        if grace_s > 0:
            self._signal_group(signal.SIGTERM)
            self._signal_group(signal.SIGCONT)
            if self._has_terminal:  # a shell at a terminal takes no notice of SIGTERM
                self._plan.insert(0, (now + grace_s / 2, signal.SIGHUP))

    def _signal_group(self, number: int) -> None:
        if self._is_command_over:
            _send(number, _below(os.getpid()))
            return
        with contextlib.suppress(OSError):  # nobody of the group is left, or it is another user's
            os.killpg(self._command, number)

    def _reap(self) -> bool:
        """Take note of who ended; False when nobody is left."""
        for pid, status in _ended_children():
            if pid == self._command and not self._is_command_over:
                self._is_command_over = True
                self._tell({"exited": os.waitstatus_to_exitcode(status)})
                if not self._is_ending:
                    now = time.monotonic()
                    ask, kill = (now + _LEFT_BEHIND_ASK_S, signal.SIGTERM), (now + _LEFT_BEHIND_KILL_S, signal.SIGKILL)
                    self._plan = [ask, kill]
        return _has_children()

    def _act(self) -> None:
        now = time.monotonic()
        while self._plan and self._plan[0][0] <= now:
            _, number = self._plan.pop(0)
            if number == signal.SIGKILL:
                _kill_all_below(os.getpid())
                self._plan = [(now + _KILL_AGAIN_S, signal.SIGKILL)]
                return
            _send(number, _below(os.getpid()))

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the server is gone: nobody wants to know
            self._control.sendall(json.dumps(message).encode() + b"\n")


def _keep(request: dict[str, Any], fds: list[int]) -> Never:
    """The life of a keeper, in the forked child."""
    status = 1
    try:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        control, folder, *stdio = fds
        with socket.socket(fileno=control) as server:
            Keeper(server, has_terminal=request["terminal"]).run(request, folder, stdio)
        status = 0
    finally:
        os._exit(status)


def _start(request: dict[str, Any], folder: int, stdio: list[int]) -> int:
    """Fork and become the command.

    Returns:
        The process id of the command, which leads a session and a group of its own.
    Raises:
        OSError: It cannot be run; its errno is that of the failed step.
    """
    said, saying = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _become(request, folder, stdio)
        except OSError as exc:
            os.write(saying, HEADER.pack(exc.errno or 0))
        finally:
            os._exit(127)
    os.close(saying)
    with os.fdopen(said, "rb") as pipe:
        answer = pipe.read(HEADER.size)
    if answer:
        os.waitpid(pid, 0)
        code = HEADER.unpack(answer)[0]
        raise OSError(code, os.strerror(code))
    return pid


def _become(request: dict[str, Any], folder: int, stdio: list[int]) -> None:
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.fchdir(folder)
    # beyond 0, 1, 2 first, so that none of them is overwritten before it is copied
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in stdio]
    for number, fd in enumerate(moved):
        os.dup2(fd, number)
    if request["terminal"]:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in _IGNORED_HERE:  # what is ignored would stay so in the command
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft > _DESCRIPTORS_OF_A_CHILD or soft == resource.RLIM_INFINITY:  # the server has raised its own
        resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS_OF_A_CHILD, hard))
    argv = [os.fsencode(text) for text in request["argv"]]
    env = {os.fsencode(name): os.fsencode(value) for name, value in request["env"].items()}
    os.execve(argv[0], argv, env)  # noqa: S606 - this is what it is for; descriptors are close-on-exec


def _wake_on_children() -> int:
    """A descriptor that becomes readable when a child has ended."""
    woken, waking = os.pipe()
    for fd in (woken, waking):
        os.set_blocking(fd, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    return woken


def _drain(fd: int) -> None:
    with contextlib.suppress(BlockingIOError):
        os.read(fd, 65536)


def _ended_children() -> list[tuple[int, int]]:
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(one)
    return ended


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _receive(control: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = control.recv(size - len(received))
        if not piece:
            raise EOFError
        received += piece
    return bytes(received)


def _kill_all_below(root: int) -> None:
    """Stop everything below a process, so that it cannot fork any more, and kill it."""
    frozen: set[int] = set()
    for _ in range(_FREEZE_ROUNDS):
        found = set(_below(root)) - frozen
        if not found:
            break
        _send(signal.SIGSTOP, found)
        frozen |= found
    _send(signal.SIGKILL, frozen)


def _send(number: int, pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            os.kill(pid, number)


def _below(root: int) -> list[int]:
    """All descendants of a process, as far as they do not come and go at this moment."""
    children_of = _children if _HAS_CHILDREN_FILES else _children_of_all()
    found: list[int] = []
    ahead = [root]
    while ahead:
        own = children_of(ahead.pop())
        found += own
        ahead += own
    return found


def _children(parent: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):  # it has ended
        for thread in os.listdir(f"/proc/{parent}/task"):  # noqa: PTH208
            with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def _children_of_all() -> Callable[[int], list[int]]:
    """Where the kernel does not list a process's children, everybody is asked for the parent."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents_by_proc() if IS_LINUX else _parents_by_ps():
        children.setdefault(parent, []).append(pid)
    return lambda parent: children.get(parent, [])


def _parents_by_proc() -> Iterator[tuple[int, int]]:
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            # a program's name in front of it may hold blanks and brackets
            yield int(name), int(file.read().rpartition(b")")[2].split()[1])


def _parents_by_ps() -> Iterator[tuple[int, int]]:
    with os.popen("/bin/ps -axo pid=,ppid=") as lines:  # noqa: S605
        for line in lines:
            pid, parent = map(int, line.split())
            yield pid, parent


def _prctl(option: int, value: int) -> None:
    if IS_LINUX:
        _LIBC.prctl(option, value, 0, 0, 0)


def main() -> None:
    """Serve the socket whose descriptor is the argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)
    for number in _ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # it ends with the server, and not before
    gc.collect()
    gc.freeze()
    Spawner(control).run()


if __name__ == "__main__":
    main()
