"""Line editor of the interactive chat, with history, completion and multi-line input."""

import asyncio
import re
import shlex
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output

from agentcore.approval_rules.decisions import APPROVAL_MODES
from agentcore.cli.terminal.exit_codes import CliError
from agentcore.cli.terminal.output import print_notice
from agentcore.store.state.private_file import create_private_file

_MENTION = re.compile(r"(?:^|\s)@([^\s@]*)$")
_VALUE = re.compile(r"/(?:tool|prompt) +(?P<tool>\S+) +(?P<others>(?:.* )?)(?P<argument>[\w.-]+)=(?P<begun>[^\s'\"]*)")
_FILES = PathCompleter(expanduser=True)
_PROMPT = ANSI("\x1b[1m>\x1b[0m ")
_EMPTY_SECONDS = 1.0


FindValues = Callable[[str, str, str, Mapping[str, str]], Awaitable[list[str]]]
"""Returns values of a tool's argument. Receives the tool, the argument, the typed beginning and the other arguments."""

FindFiles = Callable[[str], Awaitable[list[str]]]
"""Returns paths of files that match the typed text, best match first."""


class PromptLine:
    """Reads lines from the terminal of this process.

    Args:
        history: The file that stores the typed lines; only its owner may read it.
    """

    def __init__(self, history: Path) -> None:
        create_private_file(history, b"")
        self._completer = _Completer()
        self._draft = ""
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)),
            completer=self._completer,
            complete_while_typing=False,
            key_bindings=_make_key_bindings(),
            enable_open_in_editor=True,
            output=create_output(),
            prompt_continuation="  ",
        )

    def set_completions(
        self, commands: Iterable[str], tools: Iterable[Mapping[str, Any]], files: FindFiles, values: FindValues
    ) -> None:
        """Set the commands, tools, files and values that are offered for completion."""
        self._completer.files = files
        self._completer.values = values
        self._completer.commands = [*commands, "quit"]
        tools = list(tools)
        self._completer.tools = {
            str(tool["name"]): list(tool.get("input_schema", {}).get("properties", {})) for tool in tools
        }
        self._completer.prompts = [str(tool["name"]) for tool in tools if tool.get("served_as") == "prompt"]

    @property
    def has_draft(self) -> bool:
        """True if a line was started and not finished."""
        return bool(self._draft)

    def prefill(self, text: str) -> None:
        """Put text into the next line, for the user to edit and send."""
        self._draft = text

    async def read_line(self) -> str | None:
        """Read the next message or command, or None after Ctrl-D; Ctrl-C discards the typed text."""
        while True:
            try:
                return await self._session.prompt_async(_PROMPT, default=self._pop_draft())
            except EOFError:
                return None
            except KeyboardInterrupt:
                print_notice("(Ctrl-D ends)")

    @contextmanager
    def marking_pastes(self) -> Iterator[None]:
        """Enable bracketed paste, so that a paste that opens the line is read as a whole."""
        output = self._session.output
        output.enable_bracketed_paste()
        output.flush()
        try:
            yield
        finally:
            output.disable_bracketed_paste()
            output.flush()

    async def read_draft(self) -> str:
        """Read the line that the user started to type during a turn, and erase it from the screen.

        The line ends without Enter as soon as it is empty; the result is then empty. Ctrl-C ends it too, and raises
        SIGINT as it does without a prompt. On cancellation, the typed text is put into the next line.
        """
        app = self._session.app
        buffer = self._session.default_buffer

        def end_if_empty(_: object = None) -> None:
            if app.is_running and not app.is_done and not buffer.text and not app.layout.is_searching:
                app.exit(result="")

        async def end_if_nothing_was_typed() -> None:
            await asyncio.sleep(_EMPTY_SECONDS)
            end_if_empty()

        def start_timer() -> None:
            app.create_background_task(end_if_nothing_was_typed())

        app.erase_when_done = True
        buffer.on_text_changed += end_if_empty
        try:
            return await self._session.prompt_async(
                _PROMPT, default=self._pop_draft(), pre_run=start_timer, handle_sigint=False
            )
        except asyncio.CancelledError:
            self._draft = buffer.text
            raise
        except EOFError:
            return ""
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            return ""
        finally:
            buffer.on_text_changed -= end_if_empty
            app.erase_when_done = False

    def _pop_draft(self) -> str:
        draft = self._draft
        self._draft = ""
        return draft


def _make_key_bindings() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        """A line that ends with a backslash goes on; any other is done."""
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


class _Completer(Completer):
    """Completes commands, tool names, argument names and values, and file paths after `@`."""

    def __init__(self) -> None:
        self.files: FindFiles | None = None
        self.values: FindValues | None = None
        self.commands: list[str] = []
        self.tools: dict[str, list[str]] = {}
        self.prompts: list[str] = []

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Complete commands, names and attached files without asking the server."""
        text = document.text_before_cursor
        if not text.startswith("/"):
            return
        words = text.split(" ")
        if words[0] == "/attach" and len(words) > 1:
            yield from _FILES.get_completions(Document(words[-1]), complete_event)
            return
        for candidate in self._find_candidates(words):
            if candidate.startswith(words[-1]):
                yield Completion(candidate, start_position=-len(words[-1]))

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Complete like `get_completions`, and ask the server for argument values and `@` file paths."""
        text = document.text_before_cursor
        value = _VALUE.fullmatch(text)
        if value is not None and value["argument"] in self.tools.get(value["tool"], ()) and self.values is not None:
            with suppress(CliError):
                found = await self.values(
                    value["tool"], value["argument"], value["begun"], _parse_arguments(value["others"])
                )
                for each in found:
                    yield Completion(shlex.quote(each), start_position=-len(value["begun"]), display=each)
            return
        mention = _MENTION.search(text)
        if mention is None or text.startswith("/") or self.files is None:
            async for completion in super().get_completions_async(document, complete_event):
                yield completion
            return
        with suppress(CliError):  # offer nothing if the server cannot be asked
            for path in await self.files(mention[1]):
                # keep the `@` of a folder, so that completion continues inside it
                shown = f"@{path}" if path.endswith("/") else f'"{path}"' if " " in path else path
                yield Completion(shown, start_position=-len(mention[1]) - 1, display=path)

    def _find_candidates(self, words: list[str]) -> Iterable[str]:
        if len(words) == 1:
            return [f"/{command}" for command in self.commands]
        if words[0] == "/mode":
            return APPROVAL_MODES
        if words[0] == "/prompt" and len(words) == 2:  # noqa: PLR2004 - the command and the prompt
            return self.prompts
        if words[0] == "/tool" and len(words) == 2:  # noqa: PLR2004 - the command and the tool
            return self.tools
        if words[0] in ("/tool", "/prompt"):
            given = {word.partition("=")[0] for word in words[2:-1]}
            return [f"{name}=" for name in self.tools.get(words[1], []) if name not in given]
        return ()


def _parse_arguments(text: str) -> dict[str, str]:
    """Return the arguments that are already typed, or none while they cannot be parsed."""
    try:
        words = shlex.split(text)
    except ValueError:
        return {}
    return {name: value for name, separator, value in (word.partition("=") for word in words) if separator}
