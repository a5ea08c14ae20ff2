"""Interactive console of a running server: decide pending requests, stop, resume and pair."""

import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from agentcore.api import Principal
from agentcore.cli.terminal.console_dialogues import Dialogue, Waiting, is_long_lived, list_waiting, open_dialogue
from agentcore.cli.terminal.terminal import TERMINAL, ask_confirmation, discard_typed_input, read_line, write_line
from agentcore.cli.terminal.visible_text import all_visible
from agentcore.cli.terminal.waiting_text import encode_host_offer, host_text
from agentcore.core.approvals.request import ApprovalRequest
from agentcore.core.core import Core
from agentcore.core.events import Event
from agentcore.errors import ToolError
from agentcore.store.state.state_dir import read_server_info

_PERSON = Principal("cli")
_HELP = """\
  waiting         show again what waits for you
  stop            emergency stop: end all calls, take no more
  resume          take calls again
  code            show new addresses that log a browser in, once
  pair            show a code that a client is paired with; you confirm it here or in the approval view
  pair CODE       show the host that shows this code, on another machine, and let it in
  help            show this
  Ctrl-C          end the server"""
_NOTICED = ("approval.*", "policy.*", "pairing.*")


class ServerConsole:
    """Reads lines at the server's terminal and shows pending requests, one at a time.

    Args:
        core: The server's core.
        keyboard: File descriptor of the terminal.
    """

    def __init__(self, core: Core, keyboard: int) -> None:
        self._core = core
        self._keyboard = keyboard
        self._dialogue: Dialogue | None = None
        self._changed = asyncio.Event()
        self._screen = asyncio.Lock()
        self._commands: dict[str, Callable[[], Awaitable[None]]] = {
            "waiting": self._show_again,
            "stop": self._stop_all,
            "resume": self._resume_calls,
            "code": self._print_login_links,
            "pair": self._print_pairing_code,
            "help": self._print_help,
            "?": self._print_help,
        }

    @classmethod
    async def run(cls, core: Core) -> None:
        """Run the console on the terminal of this process until it is closed."""
        console = cls(core, sys.stdin.fileno())
        ends = [core.events.subscribe(pattern, console._on_event) for pattern in _NOTICED]
        try:
            with _reading_in_background_fails():
                async with asyncio.TaskGroup() as group:
                    showing = group.create_task(console._show_waiting())
                    await console._read_commands()
                    showing.cancel()
        finally:
            for end in ends:
                end()

    def _on_event(self, _event: Event) -> None:
        self._changed.set()

    async def _show_waiting(self) -> None:
        """Show the next pending request whenever the previous one is decided or gone."""
        while True:
            self._changed.clear()
            async with self._screen:
                await self._show_next()
            await self._until_change_or_expiry()

    async def _show_next(self) -> None:
        waiting = list_waiting(self._core)
        if self._dialogue is not None and self._dialogue.asked not in waiting:
            is_changed = _is_replaced(self._dialogue.asked, waiting)
            write_line("That changed while it waited." if is_changed else "That does not wait any more.")
            self._dialogue = None
        if waiting and (self._dialogue is None or _can_wait(self._dialogue, waiting[0])):
            dialogue = await open_dialogue(self._core, waiting[0])
            if waiting[0] not in list_waiting(self._core):  # it ended while its chat's title was loaded
                self._changed.set()
                return
            self._dialogue = dialogue
            self._ask_question(dialogue, shows=True)

    async def _until_change_or_expiry(self) -> None:
        left_s = None
        if self._dialogue is not None and self._dialogue.asked.expires_at_ms is not None:
            left_s = max(self._dialogue.asked.expires_at_ms / 1000 - time.time(), 0) + 0.01
        try:
            async with asyncio.timeout(left_s):
                await self._changed.wait()
        except TimeoutError:
            pass  # it has expired, so it is missing from the next list of pending requests

    async def _read_commands(self) -> None:
        while (line := await read_line(self._keyboard)) is not None:
            command = self._commands.get(line.strip().lower())
            word, _, rest = line.strip().partition(" ")
            if command is not None:
                await command()
            elif word.lower() == "pair":
                await self._pair_host(rest)
            elif line.strip():
                async with self._screen:  # show nothing else while the user edits
                    await self._handle_answer(line)

    async def _handle_answer(self, line: str) -> None:
        """Handle a line about the request that is shown."""
        dialogue = self._dialogue
        if dialogue is None:
            word = all_visible(line.strip())[:40]
            write_line(f"Nothing waits for a decision, and {word!r} means nothing else; ? shows what can be typed")
            return
        try:
            said = await dialogue.handle_line(line)
        except ToolError as exc:
            said = all_visible(exc.message)
        if said is None:
            self._ask_question(dialogue, shows=False)
            return
        self._dialogue = None
        write_line(said)
        self._changed.set()

    async def _show_again(self) -> None:
        if self._dialogue is None:
            write_line("Nothing waits for a decision.")
        else:
            self._ask_question(self._dialogue, shows=True)

    async def _stop_all(self) -> None:
        ended = await self._core.emergency_stop(_PERSON)
        write_line(
            f"Stopped: {ended['calls']} calls and {ended['resources']} resources ended,"
            f" {ended['rejected']} rejected. `resume` takes calls again."
        )

    async def _resume_calls(self) -> None:
        async with self._screen:  # the next line is the answer to this question
            if not await ask_confirmation("Take calls again?"):
                write_line("Everything stays stopped.")
                return
        self._core.resume_after_stop(_PERSON)
        write_line("Calls are taken.")

    async def _print_login_links(self) -> None:
        info = read_server_info(self._core.state.path)
        if info is None or "approval" not in info.addresses:
            write_line("There is no address yet.")
            return
        store = self._core.store
        write_line(
            "Open one of these in a browser, once, within ten minutes:\n"
            f"  approval view  {info.addresses['approval']}/#code={store.approval_sessions.create_code()}\n"
            f"  page           {info.addresses['page']}/#code={store.page_sessions.create_code()}"
        )

    async def _print_pairing_code(self) -> None:
        code = self._core.pairings.create_code()
        write_line(f"Type this into the client, once, within ten minutes: {code}")

    async def _pair_host(self, code: str) -> None:
        async with self._screen:  # the next line is the answer to this question
            try:
                pairing, offer = await self._core.host_pairings.find_by_code(code)
                write_line(f"\n{host_text(encode_host_offer(offer))}")
                accepts = await ask_confirmation("Let it in?", is_new=True)
                await self._core.host_pairings.decide_pairing(pairing.pairing_id, TERMINAL, accepts=accepts)
            except ToolError as exc:
                write_line(all_visible(exc.message))
                return
        write_line(f"{pairing.name} is paired and connects automatically." if accepts else "Refused.")

    async def _print_help(self) -> None:
        write_line(_HELP if self._dialogue is None else f"{self._dialogue.format_help()}\n{_HELP}")

    def _ask_question(self, dialogue: Dialogue, *, shows: bool) -> None:
        if shows:
            dialogue.show()
        dialogue.proof.renew_number()
        discard_typed_input(self._keyboard)  # ignore input that was typed before the question appeared
        write_line(dialogue.format_prompt())


def _can_wait(dialogue: Dialogue, other: Waiting) -> bool:
    """True if the request that is shown is long-lived and a more urgent one should replace it."""
    return is_long_lived(dialogue.asked) and not is_long_lived(other)


def _is_replaced(asked: Waiting, waiting: list[Waiting]) -> bool:
    """True if the call is still pending but its request has changed since it was shown."""
    ids = {thing.call_id for thing in waiting if isinstance(thing, ApprovalRequest)}
    return isinstance(asked, ApprovalRequest) and asked.call_id in ids


@contextmanager
def _reading_in_background_fails() -> Iterator[None]:
    """Make reads from the terminal fail instead of stopping the process while another job is in the foreground."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGTTIN, signal.SIGTTOU)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
