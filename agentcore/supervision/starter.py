"""`Starter`: the process that becomes the command, forked before there is one."""

import fcntl
import json
import os
import resource
import signal
import socket
import termios
from collections.abc import Sequence
from typing import Any, Never

from agentcore.supervision.prctl import die_with_parent, leave_keyring
from agentcore.supervision.protocol import HEADER, receive_message, send_message

_DESCRIPTORS_OF_A_CHILD = 1024
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IGNORED_HERE = (*ENDING_SIGNALS, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)


_EXAMPLE = json.dumps({"argv": ["/an/example"] * 150, "env": {f"NAME_{n}": "value" * 10 for n in range(50)}}).encode()


def warm_up() -> dict[str, Any]:
    """Read an example of a request.

    A forked process shares its memory with its parent until it writes to it, and copying each page at its first write
    takes longer than what is done with it; now nobody is waiting.
    """
    example: dict[str, Any] = json.loads(_EXAMPLE)
    return example


class Starter:
    """A child of the keeper that waits for the command that it will become, in a session of its own.

    Args:
        requests: The keeper's socket, which it closes: as long as it is open, the spawner takes the keeper for alive.
    Raises:
        OSError: If there is no room for another process.

    Attributes:
        pid: Its process id, later that of the command.
    """

    def __init__(self, requests: socket.socket) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            try:
                self.pid = os.fork()
            except OSError:
                self._socket.close()
                raise
            if self.pid == 0:
                _run_starter(theirs, (self._socket, requests))

    def start(self, message: bytes, fds: Sequence[int]) -> None:
        """Have it execute a command, and return once it has; use it once.

        Args:
            message: The server's request.
            fds: Working folder, stdin, stdout and stderr.
        Raises:
            ConnectionError: If it was killed before.
            OSError: If the command cannot be run; its errno is that of the failed step.
        """
        with self._socket:
            send_message(self._socket, HEADER.pack(len(message)) + message, fds)
            os.kill(self.pid, signal.SIGCONT)  # an earlier command may have stopped it
            answer = self._socket.recv(HEADER.size)
        if answer:
            os.waitpid(self.pid, 0)
            code = HEADER.unpack(answer)[0]
            raise OSError(code, os.strerror(code))


def start_command(message: bytes, fds: Sequence[int], spare: Starter | None, requests: socket.socket) -> int:
    """Execute a command.

    Args:
        message: The server's request.
        fds: Working folder, stdin, stdout and stderr.
        spare: The process that becomes the command; None, or one that was killed: another one is forked.
        requests: The keeper's socket.
    Returns:
        The process id of the command, which leads its own session and process group.
    Raises:
        OSError: If it cannot be run; its errno is that of the failed step.
    """
    if spare is not None:
        try:
            spare.start(message, fds)
        except ConnectionError:
            pass
        else:
            return spare.pid
    new = Starter(requests)
    new.start(message, fds)
    return new.pid


def _run_starter(requests: socket.socket, others: Sequence[socket.socket]) -> Never:
    """Wait in the forked child for the command, and execute it."""
    try:
        for other in others:
            other.close()
        os.setsid()
        die_with_parent()
        _limit_descriptors()
        _encode_command(warm_up())
        message, (folder, *stdio) = receive_message(requests)
        _exec_command(json.loads(message), folder, stdio)
    except EOFError:
        pass  # the keeper ends
    except OSError as exc:
        requests.sendall(HEADER.pack(exc.errno or 0))
    finally:
        os._exit(127)


def _limit_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft > _DESCRIPTORS_OF_A_CHILD or soft == resource.RLIM_INFINITY:  # the server has raised its own
        resource.setrlimit(resource.RLIMIT_NOFILE, (_DESCRIPTORS_OF_A_CHILD, hard))


def _exec_command(request: dict[str, Any], folder: int, stdio: Sequence[int]) -> Never:
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
    argv, env = _encode_command(request)
    os.execve(argv[0], argv, env)  # noqa: S606 - this is what it is for; descriptors are close-on-exec


def _encode_command(request: dict[str, Any]) -> tuple[list[bytes], dict[bytes, bytes]]:
    argv = [os.fsencode(text) for text in request["argv"]]
    return argv, {os.fsencode(name): os.fsencode(value) for name, value in request["env"].items()}
