"""`Spawner`: the process that forks a keeper for each request of the server.

It forks one keeper ahead, which forks the process of its command ahead: both forks would take longer than all that is
left to do when a request comes.
"""

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from typing import Never

from agentcore.supervision.children import drain_pipe, ended_children, wake_on_children
from agentcore.supervision.descendants import kill_all_below, list_descendants, send_to
from agentcore.supervision.keeper import Keeper
from agentcore.supervision.prctl import adopt_orphans, hide_from_debuggers
from agentcore.supervision.protocol import HEADER, receive_message, send_message
from agentcore.supervision.starter import ENDING_SIGNALS

_SPAWNER_END_S = 30.0
_LOOK_AGAIN_S = 0.05


class Spawner:
    """Forks a keeper for each request of the server, and kills what is left of them before it ends."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._keepers: set[int] = set()
        self._spare: socket.socket | None = None
        self._starting: dict[int, socket.socket] = {}
        self._poll = select.poll()

    def run(self) -> None:
        """Serve requests until the server is gone, then wait until all keepers have ended."""
        wake = wake_on_children()
        signal.signal(signal.SIGCONT, lambda *_: self._continue_keepers())
        self._poll.register(wake, select.POLLIN)
        self._poll.register(self._control, select.POLLIN)
        is_served = True
        while is_served:
            for fd, _ in self._poll.poll():
                if fd == wake:
                    drain_pipe(wake)
                elif fd == self._control.fileno():
                    is_served = self._serve_request()
                else:
                    self._prepare_next(fd)
            self._reap_keepers()
        self._control.close()
        if self._spare is not None:
            self._spare.close()  # so that it ends
        self._wait_for_keepers()

    def _serve_request(self) -> bool:
        """Handle one request; False when there will be no more."""
        try:
            message, fds = receive_message(self._control)
        except (ConnectionError, EOFError):
            return False
        try:
            self._hand_over(HEADER.pack(len(message)) + message, fds)
        except OSError:
            pass  # there is no room for another process: the server sees that the keeper's socket is closed
        finally:
            for fd in fds:
                os.close(fd)
        return True

    def _prepare_next(self, fd: int) -> None:
        """Fork a spare keeper after another one has started its command, so as not to delay that."""
        self._poll.unregister(fd)
        self._starting.pop(fd).close()
        if self._spare is None:
            with contextlib.suppress(OSError):
                self._spare = self._fork_keeper()

    def _hand_over(self, request: bytes, fds: Sequence[int]) -> None:
        """Send a request to the spare keeper, or to a new one if there is none, or if it was killed.

        Raises:
            OSError: If there can be no new one.
        """
        keeper = self._spare
        self._spare = None
        if keeper is not None and not _try_sending(keeper, request, fds):
            keeper.close()
            keeper = None
        if keeper is None:
            keeper = self._fork_keeper(fds)
            send_message(keeper, request, fds)
        self._starting[keeper.fileno()] = keeper
        self._poll.register(keeper, select.POLLIN)

    def _fork_keeper(self, fds: Sequence[int] = ()) -> socket.socket:
        """Fork a keeper.

        Args:
            fds: Descriptors that it must not inherit: it would keep the streams open that it records.
        Returns:
            The socket from which it receives its request.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                for each in (self._control, ours, *self._starting.values()):
                    each.close()
                for fd in fds:
                    os.close(fd)
                _run_keeper(theirs)
        self._keepers.add(pid)
        return ours

    def _reap_keepers(self) -> None:
        is_one_lost = False
        for pid, status in ended_children():
            if pid in self._keepers:
                self._keepers.discard(pid)
                is_one_lost = is_one_lost or status != 0
        if is_one_lost:
            self._kill_strays()

    def _kill_strays(self) -> None:
        """Kill the processes of a keeper that was killed: as orphans they are now children of the spawner."""
        # List all descendants first: a process that a living keeper's command starts between the two calls must not
        # count as a stray.
        found = set(list_descendants(os.getpid()))
        kept = {one for keeper in self._keepers for one in (keeper, *list_descendants(keeper))}
        send_to(signal.SIGKILL, found - kept)

    def _continue_keepers(self) -> None:
        """Continue all keepers: one that its command has stopped would see neither orders nor the end of the server."""
        send_to(signal.SIGCONT, self._keepers)

    def _wait_for_keepers(self) -> None:
        until = time.monotonic() + _SPAWNER_END_S
        while self._keepers and time.monotonic() < until:
            self._continue_keepers()
            self._reap_keepers()
            time.sleep(_LOOK_AGAIN_S)
        kill_all_below(os.getpid())


def _try_sending(keeper: socket.socket, request: bytes, fds: Sequence[int]) -> bool:
    """Send a request; False if the keeper was killed."""
    try:
        send_message(keeper, request, fds)
    except ConnectionError:
        return False
    return True


def _run_keeper(requests: socket.socket) -> Never:
    """Run a keeper in the forked child, and exit."""
    status = 1
    try:
        signal.signal(signal.SIGCONT, signal.SIG_DFL)  # the handler continues the other keepers
        adopt_orphans()
        Keeper(requests).run()
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    """Serve the socket whose descriptor is the last argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    adopt_orphans()
    hide_from_debuggers()
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # it ends with the server, and not before
    # Forked keepers share these objects' pages (copy-on-write) as long as their collectors do not touch them.
    gc.collect()
    gc.freeze()
    Spawner(control).run()
