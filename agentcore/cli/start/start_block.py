"""Start output of `agentcore serve`: one line at once, and a block with the essential facts when ready."""

import asyncio
import shutil
import textwrap
import threading
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from agentcore.chat.model_status import ModelStatus
from agentcore.cli.start.missing_requirements import Need, find_needs
from agentcore.cli.terminal.hyperlink import make_hyperlink
from agentcore.cli.terminal.output import colour_text
from agentcore.cli.terminal.visible_text import terminal_safe
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.server.serve import RunningServer

_LABEL_COLUMNS = 10
_INDENT = "  "
_WIDEST = 100
"""Sentences are wrapped at this many columns, or at the terminal's width if that is less."""

_SENTENCES = {
    "api_token_approves": "The setting approvals.api_token is on: anyone who can read the API token can approve calls.",
    "approval_unreadable": "A call that waited for approval cannot be read, and was left out: {error}",
    "block_refused": "{reason}",
    "chat_not_installed": "The chat cannot run: {error}",
    "database_broken": (
        "The database was damaged ({reason}). A new one was started, without the chats, grants and log-ins of before."
        " The damaged one is kept as {kept_as}"
    ),
    "database_damaged": (
        "The database {path} is damaged ({reason}). Restart agentcore: it keeps this file beside a new one."
    ),
    "host_ended": "The host {host} ended: {reason}",
    "last_server_was_ended": "The last server was ended because a module blocked it: {reason}",
    "loop_guard_missing": "Modules that block the server cannot be stopped: {reason}",
    "module_secrets_damaged": "The stored secrets of modules cannot be read. Set them again.",
    "nats_failed": "NATS does not work: {reason}",
    "pool_failed": "The pool {pool} does not work: {reason}",
    "pool_not_reached": "The pool {pool} cannot be reached: {reason}",
    "provider_keys_unreadable": "The stored keys of providers cannot be read. Enter them again on the page.",
    "record_write_failed": "The record of calls cannot be written ({error}). Check the disk that has the state folder.",
    "server_stop_timeout": "The server did not stop within {limit_s:g} s, so its process was ended.",
    "tab_unreadable": "A tab cannot be read, and was left out: {error}",
}
"""Messages for warnings and errors in the log that the user has to act on."""


class StartBlock:
    """Shows a user where the server is, how to log in, which model is used, and what is missing.

    Args:
        stream: The terminal.
        command: Returns a command of this program, such as `open`, as the user has to type it.
        has_console: True if commands can be typed at this terminal.
    """

    def __init__(self, stream: TextIO, command: Callable[[str], str], *, has_console: bool) -> None:
        self._stream = stream
        self._command = command
        self._has_console = has_console
        self._is_ready = False
        self._early: list[str] = []
        self._shown: set[str] = set()
        self._lock = threading.Lock()

    def show_start(self, server: RunningServer) -> None:
        """Show the address while the modules start."""
        names = server.core.config.modules
        modules = "1 module" if len(names) == 1 else f"{len(names)} modules"
        self._write(f"Starting agentcore at {make_hyperlink(server.page_url, self._stream)} with {modules} …")

    async def show_ready(self, server: RunningServer) -> None:
        """Show the block, and then each new need, until cancelled because the server stops."""
        core = server.core
        changed = asyncio.Event()
        subscriptions = [
            core.events.subscribe(pattern, lambda _: changed.set())
            for pattern in ("module.stateChanged", "requirement.changed")
        ]
        try:
            needs = find_needs(core)
            self._write(self._format_block(server, await _model_status(server), needs))
            while True:
                await changed.wait()
                changed.clear()
                current = find_needs(core)
                for need in current:
                    if need not in needs:
                        self._write(self._format_need(need))
                needs = current
        except asyncio.CancelledError:
            self._write(_stopping_text(core))
            raise
        finally:
            for unsubscribe in subscriptions:
                unsubscribe()

    def show_log_line(self, line: Mapping[str, Any]) -> None:
        """Show a message for a warning or error of the log that concerns the user. Thread-safe.

        Errors of one module are left out: `find_needs` reports them, and callers see errors of their calls.
        """
        sentence = _SENTENCES.get(str(line.get("event")))
        if sentence is not None:
            text = sentence.format_map(_Fields(line))
        elif line.get("level") in ("error", "critical") and "module" not in line:
            text = f"An error was logged ({line.get('event')}). See: {self._command('logs --level error')}"
        else:
            return
        self.show_sentence(text)

    def show_sentence(self, text: str) -> None:
        """Show a sentence once, in the block or, if that is already shown, below it. Thread-safe."""
        with self._lock:
            if text in self._shown:
                return
            self._shown.add(text)
            if not self._is_ready:
                self._early.append(text)
                return
        self._write(self._format_item(text))

    def show_unshown(self) -> None:
        """Show the sentences that were meant for the block if the server ended before showing it."""
        with self._lock:
            early = [] if self._is_ready else self._early
            self._is_ready = True
        for text in early:
            self._write(self._format_item(text))

    def _format_block(self, server: RunningServer, model: ModelStatus, needs: list[Need]) -> str:
        core = server.core
        title = colour_text("agentcore is running", "green", self._stream, bold=True)
        again = (
            f"type code here, or run {self._command('open')}" if self._has_console else f"run {self._command('open')}"
        )
        with self._lock:
            early = self._early
            self._is_ready = True
        missing = [*(self._format_need(need) for need in needs), *(self._format_item(text) for text in early)]
        heading = colour_text("Needs attention", "yellow", self._stream, bold=True)
        keys = "Type help for commands. " if self._has_console else ""
        return "\n".join(
            [
                "",
                f"{title} at {make_hyperlink(server.page_url, self._stream)}",
                "",
                self._format_row("Log in", make_hyperlink(server.create_login_link(), self._stream)),
                self._format_row("", self._wrap_text(f"Works once, within 10 minutes. For another link, {again}")),
                self._format_row("Folder", terminal_safe("\n".join(map(str, core.workspace.roots)))),
                self._format_row("Model", self._format_model(model)),
                self._format_row("Tools", _tool_count_text(core)),
                *(["", heading, *missing] if missing else []),
                "",
                self._wrap_text(f"{keys}Ctrl-C stops the server. Log: {self._command('logs')}", 0),
            ]
        )

    def _format_model(self, model: ModelStatus) -> str:
        if model.is_ready:
            return self._wrap_text(model.summary)
        arrow = colour_text("→", "cyan", self._stream)
        summary = "\n".join(
            colour_text(line, "yellow", self._stream) for line in self._wrap_text(model.summary).split("\n")
        )
        return f"{summary}\n{arrow} {self._wrap_text(model.next_step)}"

    def _format_row(self, label: str, text: str) -> str:
        lines = text.split("\n")
        label = (
            colour_text(f"{label:<{_LABEL_COLUMNS}}", "bright_black", self._stream) if label else " " * _LABEL_COLUMNS
        )
        rest = "".join(f"\n{_INDENT}{' ' * _LABEL_COLUMNS}{line}" for line in lines[1:])
        return f"{_INDENT}{label}{lines[0]}{rest}"

    def _format_need(self, need: Need) -> str:
        fix = need.fix
        if fix.startswith("agentcore "):
            fix = self._command(fix.removeprefix("agentcore "))
        return f"{self._format_item(f'{need.subject}: {need.problem}')}\n{self._format_item(fix, marker='→')}"

    def _format_item(self, text: str, marker: str = "•") -> str:
        sign = colour_text(marker, "yellow" if marker == "•" else "cyan", self._stream)
        indent = _INDENT if marker == "•" else _INDENT * 2
        first, *others = self._wrap_text(text, len(indent) + 2).split("\n")
        return "\n".join([f"{indent}{sign} {first}", *(f"{indent}  {line}" for line in others)])

    def _wrap_text(self, text: str, indent: int = len(_INDENT) + _LABEL_COLUMNS) -> str:
        columns = min(shutil.get_terminal_size().columns - 1, _WIDEST) - indent
        return textwrap.fill(
            terminal_safe(" ".join(text.split())), max(columns, 20), break_long_words=False, break_on_hyphens=False
        )

    def _write(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


class _Fields(dict[str, Any]):
    """The fields of a log line; a missing field is empty."""

    def __missing__(self, key: str) -> str:
        return ""


async def _model_status(server: RunningServer) -> ModelStatus:
    try:
        return await server.late_chat.open().setup.find_status()
    except ToolError as exc:
        return ModelStatus(False, exc.message, "Correct app.json.")


def _tool_count_text(core: Core) -> str:
    ready = sum(record.state == "ready" for record in core.modules.records.values())
    tools = len(core.registry.tools)
    return f"{tools} tool{'' if tools == 1 else 's'} from {ready} module{'' if ready == 1 else 's'}"


def _stopping_text(core: Core) -> str:
    calls = len(core.calls.in_flight)
    if not calls:
        return "\nStopping …"
    running = "1 call is" if calls == 1 else f"{calls} calls are"
    return f"\nStopping: {running} still running. Ctrl-C again ends at once."
