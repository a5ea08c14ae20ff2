"""What a person can do at the terminal of a running server: decide on calls that wait, stop, resume."""

import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from agentcore.api.context import Principal
from agentcore.api.errors import ToolError
from agentcore.cli.approval_text import approval_text
from agentcore.cli.terminal import TERMINAL, forget_typed, read_line
from agentcore.host.approvals import ApprovalRequest, Verdict
from agentcore.host.events import Event
from agentcore.host.host import Host
from agentcore.store.state_dir import read_server_info

_PERSON = Principal("cli")
_HELP = """\
  y, n      approve or reject the call that is shown
  waiting   show again which call waits
  stop      emergency stop: end all calls, take no more
  resume    take calls again
  code      show new addresses that log a browser in, once
  pair      show a code that pairs a client, which can approve then
  help      show this
  Ctrl-C    end the server"""


class ServerConsole:
    """Reads lines at the server's terminal, and shows calls that need a decision, one at a time.

    Args:
        host: The host that the server serves.
        keyboard: Descriptor of the terminal that is read.
    """

    def __init__(self, host: Host, keyboard: int) -> None:
        self._host, self._keyboard = host, keyboard
        self._shown: ApprovalRequest | None = None
        self._changed = asyncio.Event()
        self._commands: dict[str, Callable[[], Awaitable[None]]] = {
            "y": lambda: self._decide(approved=True),
            "yes": lambda: self._decide(approved=True),
            "n": lambda: self._decide(approved=False),
            "no": lambda: self._decide(approved=False),
            "waiting": self._show_again,
            "stop": self._stop,
            "resume": self._resume,
            "code": self._code,
            "pair": self._pair,
            "help": self._help,
        }

    @classmethod
    async def run(cls, host: Host) -> None:
        """Serve the terminal of this process until it is closed."""
        console = cls(host, sys.stdin.fileno())
        ends = [host.events.subscribe(pattern, console._notice) for pattern in ("approval.*", "call.finished")]
        try:
            with _reading_in_background_fails():
                async with asyncio.TaskGroup() as group:
                    showing = group.create_task(console._show_waiting())
                    await console._read_commands()
                    showing.cancel()
        finally:
            for end in ends:
                end()

    def _notice(self, event: Event) -> None:
        # a call that was cancelled leaves the desk without a decision
        if event.type != "call.finished" or (self._shown and event.data["callId"] == self._shown.call_id):
            self._changed.set()

    async def _show_waiting(self) -> None:
        """Show the oldest call that waits whenever the one before is done with."""
        while True:
            self._changed.clear()
            waiting = self._host.approvals.waiting
            if self._shown is not None and self._shown not in waiting:
                self._say("That call does not wait any more.")
                self._shown = None
            if self._shown is None and waiting:
                self._show(waiting[0])
            await self._until_change_or_expiry()

    async def _until_change_or_expiry(self) -> None:
        left_s = None if self._shown is None else max(self._shown.expires_at_ms / 1000 - time.time(), 0) + 0.01
        try:
            async with asyncio.timeout(left_s):
                await self._changed.wait()
        except TimeoutError:
            pass  # it has expired: the next look at what waits tells

    async def _read_commands(self) -> None:
        while (line := await read_line(self._keyboard)) is not None:
            word = line.strip().lower()
            command = self._commands.get(word)
            if command is not None:
                await command()
            elif word:
                self._say(f"{word[:40]!r} means nothing here; help shows what can be typed")

    async def _decide(self, *, approved: bool) -> None:
        shown, self._shown = self._shown, None
        if shown is None:
            self._say("No call waits for a decision.")
            return
        try:
            await self._host.approvals.decide(shown.call_id, Verdict(approved, TERMINAL))
        except ToolError as exc:
            self._say(exc.message)
        else:
            self._say("Approved." if approved else "Rejected.")
        self._changed.set()

    async def _show_again(self) -> None:
        if self._shown is None:
            self._say("No call waits for a decision.")
        else:
            self._show(self._shown)

    async def _stop(self) -> None:
        ended = await self._host.emergency_stop(_PERSON)
        self._say(
            f"Stopped: {ended['calls']} calls and {ended['resources']} resources ended,"
            f" {ended['rejected']} rejected. `resume` takes calls again."
        )

    async def _resume(self) -> None:
        self._host.resume(_PERSON)
        self._say("Calls are taken.")

    async def _code(self) -> None:
        info = read_server_info(self._host.state.path)
        if info is None or "approval" not in info.addresses:
            self._say("There is no address yet.")
            return
        store = self._host.store
        self._say(
            "Open one of these in a browser, once, within ten minutes:\n"
            f"  approval view  {info.addresses['approval']}/#code={store.approval_sessions.create_code()}\n"
            f"  page           {info.addresses['page']}/#code={store.page_sessions.create_code()}"
        )

    async def _pair(self) -> None:
        code = self._host.store.approver_keys.create_code()
        self._say(f"Type this into the client, once, within ten minutes: {code}")

    async def _help(self) -> None:
        self._say(_HELP)

    def _show(self, request: ApprovalRequest) -> None:
        self._shown = request
        self._say(f"\n{approval_text(request, sys.stderr)}")
        forget_typed(self._keyboard)  # an answer counts only after the call stood there
        self._say("Run it? Type y or n.")

    def _say(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


@contextmanager
def _reading_in_background_fails() -> Iterator[None]:
    """Let reading from the terminal fail, and not stop the process, while another job has the foreground."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGTTIN, signal.SIGTTOU)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
