"""Shows the events of a session: text on stdout and the rest on stderr, or everything as lines of JSON."""

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

import click

from agentcore.cli.conversation.markdown_stream import MarkdownStream
from agentcore.cli.terminal.output import colour_text, print_json_text, print_notice, print_text, size_text, uses_colour
from agentcore.cli.terminal.progress_line import ProgressLine
from agentcore.cli.terminal.terminal import TERMINAL
from agentcore.cli.terminal.visible_text import terminal_safe, truncate_line
from agentcore.valid_text import valid_text

_RESULT_LINES = 3
_ARGUMENT_CHARS = 400
_WIDTH = 110

_ADVICE = {
    "model_not_configured": "agentcore doctor shows what is set; /tool NAME … calls tools without a model",
    "context_too_long": "/model NAME goes on with another model, /new begins a new session",
    "session_busy": "Ctrl-C stops the turn that goes on",
    "budget_exceeded": "/continue lets it continue, with the same limit again",
    "answer_repeats": "/continue lets it continue",
    "answer_cut": "/continue lets it continue",
    "internal_error": "run it again with agentcore -v chat … to see the traceback, or look into the server's log",
}
"""Advice by error type, for errors whose remedy depends on the command line."""


class ChatView(Protocol):
    """Shows the events of a session."""

    def show_event(self, event: Mapping[str, Any]) -> None:
        """Show one event."""
        ...

    def show_text(self, text: str) -> None:
        """Show a notice to the user that is not an event."""
        ...

    def show_waiting(self, what: str) -> None:
        """Show what the turn is waiting for, until the next output."""
        ...


class JsonView:
    """Prints each event as one line of JSON on stdout, and nothing else there."""

    def show_event(self, event: Mapping[str, Any]) -> None:
        """Print the event as one line of JSON."""
        print_json_text(json.dumps(event, ensure_ascii=False))
        sys.stdout.flush()

    def show_text(self, text: str) -> None:
        """Print a notice on stderr."""
        print_notice(text)

    def show_waiting(self, what: str) -> None:
        """Do nothing: programs need no status line."""


class TerminalView:
    """Shows text as it streams, calls with their arguments, and the first lines of results.

    Attributes:
        last_result: The last result in full, for `/result`.
    """

    def __init__(self) -> None:
        self.last_result: Mapping[str, Any] | None = None
        self._status = ProgressLine()
        self._is_answered = False
        self._styled = MarkdownStream(self._write) if uses_colour(sys.stdout) else None
        self._is_in_line = False

    def show_event(self, event: Mapping[str, Any]) -> None:  # noqa: C901 - one case for each type
        """Clear the status line and show one event."""
        self._status.clear()
        match event["type"]:
            case "session.message":
                self._show_message(event)
            case "session.content":
                self._is_answered = self._is_answered or bool(str(event["content"]).strip())
                self._show_content(str(event["content"]))
            case "session.toolCall":
                self._is_answered = True
                self._show_call(event["tool_call"])
            case "session.toolResult":
                self._is_answered = False
                self._show_result(event["tool_result"])
            case "session.modelWait" if event["wait"] is not None:
                self.show_text(f"  {_wait_text(event['wait'])}")
            case "session.compacted":
                self.show_text(f"  {_compaction_text(event['compaction'])}")
            case "session.error":
                self._is_answered = True
                self._show_error(event["error"])
            case "session.finished":
                self._end_line()
                if not self._is_answered and not event["waiting"]:
                    print_notice(
                        "  the model gave an empty answer" + ("; /retry asks it again" if sys.stdin.isatty() else "")
                    )
                self._is_answered = False
                self._show_usage(event["usage"])
            case "approval.decided" if event["by"] != TERMINAL:  # the user at this terminal has just typed the decision
                self.show_text(f"  {'approved' if event['approved'] else 'rejected'} by {event['by']}")

    def show_waiting(self, what: str) -> None:
        """Show the status on the progress line, unless an answer line is being written."""
        if not self._is_in_line:
            self._status("progress", {"message": what})

    def show_progress(self, told: Mapping[str, Any]) -> None:
        """Show the progress of a call until the next output."""
        self._status("progress", told)

    def show_text(self, text: str) -> None:
        """Finish the current line and print a notice on stderr."""
        self._status.clear()
        self._end_line()
        print_notice(text)

    def break_line(self) -> None:
        """Break the line that is being written; its text continues on the next line."""
        self._status.clear()
        if self._is_in_line:
            self._write("\n")
            self._is_in_line = False

    def _show_message(self, message: Mapping[str, Any]) -> None:
        if message["role"] == "user":
            self._is_answered = False
        elif message["text"]:
            self.show_text(f"  {message['text']}")

    def _show_content(self, piece: str) -> None:
        if self._styled is not None:
            self._styled.feed(piece)
        else:
            self._write(terminal_safe(piece) if sys.stdout.isatty() else valid_text(piece))
        self._is_in_line = not piece.endswith("\n")

    def _show_call(self, call: Mapping[str, Any]) -> None:
        self._end_line()
        where = "" if call["kind"] == "server" else " (runs in the client)"
        head = colour_text(f"→ {terminal_safe(call['tool_name'])}", "cyan", sys.stderr, bold=True)
        if words := call.get("words"):
            lines = [_one_line(line) for line in words.split("\n")]
        else:
            lines = _argument_lines(call["arguments"])
        if len(lines) == 1:
            click.echo(f"{head}{where} {lines[0]}".rstrip(), err=True)
            return
        click.echo(f"{head}{where}", err=True)
        for line in lines:
            click.echo(f"    {line}", err=True)

    def _show_result(self, result: Mapping[str, Any]) -> None:
        self.last_result = result
        self._end_line()
        if not result["ok"]:
            error = result["error"]
            print_notice(f"{error['type']}: {error['message']}", colour_text("  ✗", "red", sys.stderr, bold=True))
            return
        lines, left = _head_of(result)
        mark = colour_text("  ✓", "green", sys.stderr, bold=True)
        for number, line in enumerate(lines or ["done"]):
            click.echo(f"{mark if number == 0 else '   '} {truncate_line(line, _WIDTH)}", err=True)
        if left:
            print_notice(f"    … {left}; /result shows all of it" if sys.stdin.isatty() else f"    … {left}")

    def _show_error(self, error: Mapping[str, Any]) -> None:
        self._end_line()
        if error["type"] == "cancelled":
            print_notice("  stopped")
            return
        print_notice(str(error["message"]), colour_text(f"{error['type']}:", "red", sys.stderr, bold=True))
        if detail := (error.get("context") or {}).get("detail"):
            print_notice(f"  ({detail})")
        if advice := _ADVICE.get(str(error["type"])):
            print_notice(f"  {advice}")

    def _show_usage(self, used: Mapping[str, int]) -> None:
        if used["input_tokens"] and sys.stderr.isatty():  # only for users; programs read it with --json
            kept = f", {used['cached_tokens']:,} of them kept by the provider" if used["cached_tokens"] else ""
            sent = f"{used['input_tokens']:,}"
            came = f"{used['output_tokens']:,}"
            click.echo(
                colour_text(f"  {sent} tokens sent{kept}; {came} came back", "bright_black", sys.stderr), err=True
            )

    def _end_line(self) -> None:
        if self._styled is not None:
            self._styled.finish()
        if self._is_in_line:
            self._write("\n")
            self._is_in_line = False

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def print_result(envelope: Mapping[str, Any]) -> None:
    """Print a result in full."""
    for block in envelope.get("content") or ():
        print_text(block["text"] if block["type"] == "text" else _block_text(block))
    if not envelope.get("content"):
        print_text(json.dumps(envelope.get("data") or envelope.get("error"), ensure_ascii=False, indent=2))


def _argument_lines(arguments: str) -> list[str]:
    """Format arguments as one `key=value` line; if the only argument is a list of steps, one line per step."""
    values = {key: value for key, value in json.loads(arguments).items() if value is not None}
    steps = next(iter(values.values())) if len(values) == 1 else None
    if isinstance(steps, list) and steps and all(isinstance(step, dict) for step in steps):
        return [_one_line(_plain_text(step)) for step in steps]
    return [_one_line(" ".join(f"{key}={_plain_text(value)}" for key, value in values.items()))]


def _plain_text(value: Any) -> str:
    """Format a value without JSON syntax, with nested values separated by `·`."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return " · ".join(filter(None, map(_plain_text, parts)))
    return value if isinstance(value, str) else json.dumps(value)


def _one_line(text: str) -> str:
    return truncate_line(terminal_safe(text).replace("\n", "⏎").replace("\t", " "), _ARGUMENT_CHARS)


def _head_of(envelope: Mapping[str, Any]) -> tuple[list[str], str]:
    """Return the first lines of a result, and how much more there is."""
    blocks = envelope.get("content") or ()
    text = "\n".join(block["text"] if block["type"] == "text" else _block_text(block) for block in blocks)
    if not blocks and envelope.get("data") is not None:
        text = json.dumps(envelope["data"], ensure_ascii=False)
    lines = [terminal_safe(line) for line in text.strip("\n").split("\n")] if text.strip() else []
    more = len(lines) - _RESULT_LINES
    if more > 0:
        return lines[:_RESULT_LINES], f"{more:,} more lines, {size_text(len(text.encode('utf-8', 'replace')))}"
    return lines, ""


def _compaction_text(compaction: Mapping[str, Any]) -> str:
    """Describe what was shortened for the model; the user still sees everything."""
    counted = (
        (compaction["replacedMessages"], "earlier message", "summarised"),
        (compaction["shortenedResults"], "earlier result", "shortened"),
        (compaction["cutParts"], "long text", "cut"),
    )
    said = [f"{count} {what}{'s were' if count > 1 else ' was'} {done}" for count, what, done in counted if count]
    return f"… {', '.join(said)}, to stay within what the model can read"


def _block_text(block: Mapping[str, Any]) -> str:
    if block["type"] == "resource" and "text" in block:
        return f"{block['uri']}\n{block['text']}"
    if "base64" in block:
        size = size_text(len(block["base64"]) * 3 // 4)
        return f"[{block.get('uri', block['type'])} {block['mime']}, {size}]"
    return f"[{block['name']}, {block['mime']}, {size_text(block['sizeBytes'])}: artifact {block['artifactId']}]"


_WAIT_REASONS = {
    "rate_limited": "the provider takes no more requests now",
    "loading": "the model is being loaded",
    "unavailable": "the provider cannot answer now",
}


def _wait_text(wait: Mapping[str, Any]) -> str:
    if wait["reason"] == "reading":
        return f"the server reads the conversation: {wait['readTokens']:,} of {wait['promptTokens']:,} tokens"
    until = datetime.fromtimestamp(wait["until"] / 1000, UTC).astimezone().strftime("%H:%M:%S")
    return f"{_WAIT_REASONS[wait['reason']]}; it is asked again at {until}"
