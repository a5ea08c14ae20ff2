"""`Spawner`: the process that forks a keeper for each request of the server."""

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any, Never

from agentcore.supervision.children import drain_pipe, ended_children, wake_on_children
from agentcore.supervision.descendants import kill_all_below, list_descendants, send_to
from agentcore.supervision.keeper import ENDING_SIGNALS, Keeper
from agentcore.supervision.prctl import adopt_orphans, hide_from_debuggers
from agentcore.supervision.protocol import DESCRIPTORS, HEADER

_SPAWNER_END_S = 30.0
_LOOK_AGAIN_S = 0.05


class Spawner:
    """Forks a keeper for each request of the server, and kills what is left of them before it ends."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._keepers: set[int] = set()

    def run(self) -> None:
        """Serve requests until the server is gone, then wait until all keepers have ended."""
        wake = wake_on_children()
        signal.signal(signal.SIGCONT, lambda *_: self._continue_keepers())
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        is_served = True
        while is_served:
            for fd, _ in poll.poll():
                if fd == wake:
                    drain_pipe(wake)
                else:
                    is_served = self._serve_request()
            self._reap_keepers()
        self._control.close()
        self._wait_for_keepers()

    def _serve_request(self) -> bool:
        """Handle one request; False when there will be no more."""
        try:
            head, fds, _, _ = socket.recv_fds(self._control, HEADER.size, DESCRIPTORS)
            if not head:
                return False
            for fd in fds:
                os.set_inheritable(fd, False)
            head += _receive_exactly(self._control, HEADER.size - len(head))
            request = json.loads(_receive_exactly(self._control, HEADER.unpack(head)[0]))
        except (ConnectionError, EOFError):
            return False
        pid = os.fork()
        if pid == 0:
            self._control.close()
            _run_keeper(request, fds)
        self._keepers.add(pid)
        for fd in fds:
            os.close(fd)
        return True

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


def _run_keeper(request: dict[str, Any], fds: list[int]) -> Never:
    """Run a keeper in the forked child, and exit."""
    status = 1
    try:
        signal.signal(signal.SIGCONT, signal.SIG_DFL)  # the handler continues the other keepers
        adopt_orphans()
        control, folder, *others = fds
        with socket.socket(fileno=control) as server:
            Keeper(server, has_terminal=request["terminal"]).run(request, folder, others[:3], others[3:])
        status = 0
    finally:
        os._exit(status)


def _receive_exactly(control: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        chunk = control.recv(size - len(received))
        if not chunk:
            raise EOFError
        received += chunk
    return bytes(received)


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
