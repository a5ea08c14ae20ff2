"""`agentcore call`: calls a tool and prints its result for users or programs."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from agentcore.cli.commands.completion import complete_argument, complete_tool, host_option, remember_tools
from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import ExitCode

_ADVICE = {
    "unknown_tool": "agentcore tools lists them",
    "approval_required": "a person has to approve it: run it in a terminal while no server runs,"
    " or approve it in the terminal of the server",
    "host_away": "agentcore hosts says since when it is not connected",
    "host_not_found": "agentcore hosts lists them",
    "tool_not_on_host": "leave --host out, or name the host that has it",
    "internal_error": "run it again with agentcore -v call … to see the traceback, or look into the server's log",
}
"""Advice by error type, for errors whose remedy depends on the command line."""

_ERRORS_IN_MESSAGE = 3  # wrong arguments that the core's message already lists


@click.command()
@config_option
@click.option("--json-arguments", metavar="JSON", help="Arguments as a JSON object, @FILE, or - for stdin.")
@click.option("--session", "session_id", metavar="ID", help="The session that the call belongs to.")
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0.001), metavar="SECONDS", help="Time limit.")
@host_option
@json_option
@click.argument("tool", shell_complete=complete_tool)
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=complete_argument)
def call(
    *,
    config_path: Path,
    json_arguments: str | None,
    session_id: str | None,
    timeout_s: float | None,
    host: str,
    as_json: bool,
    tool: str,
    arguments: tuple[str, ...],
) -> int:
    """Call a tool and print its result.

    KEY=VALUE is taken by the type that the tool gives KEY: text stays text, numbers, true/false and JSON are read
    as such; a KEY given again adds to a list. KEY=@FILE takes a file's content (- is stdin), KEY:=JSON any value.

    With --json the whole answer is printed as one line: {"ok": true, "callId", "content", "data"}, or
    {"ok": false, "callId", "error": {"type", "message", "context", "retryable"}}; "host" is the host on another
    machine that ran it. Exit code 1: it failed.

    \b
    Examples:
      agentcore call weather_now city=Bonn days=3
      agentcore call weather_report text=@draft.md
      agentcore call weather_compare cities:='["Bonn", "Rome"]'
      agentcore call weather_now city=Bonn --json | jq .data
      agentcore call list_dir --host laptop
    """
    from agentcore.cli.arguments import find_schema, parse_arguments
    from agentcore.cli.backend.backend import ToolCall
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.output import print_json_text
    from agentcore.cli.terminal.progress_line import ProgressLine

    with open_backend(config_path) as backend:
        known = backend.list_tools(host=host)
        if not host:
            remember_tools(config_path, known)
        requested = ToolCall(
            tool,
            parse_arguments(find_schema(known, tool), json_arguments, arguments),
            session_id,
            None if timeout_s is None else max(round(timeout_s * 1000), 1),
            host,
        )
        progress = ProgressLine()
        try:
            answer = backend.call_tool(requested, progress)
        finally:
            progress.clear()
    envelope = json.loads(answer)
    if as_json:
        print_json_text(answer.decode())
    elif envelope["ok"]:
        _print_result(envelope)
    else:
        _print_error(envelope["error"])
    return ExitCode.OK if envelope["ok"] else ExitCode.CALL_FAILED


def _print_result(envelope: Mapping[str, Any]) -> None:
    from agentcore.cli.terminal.output import print_json, print_notice, print_text

    if _is_only_data(envelope):
        print_json(envelope["data"])
    else:
        for block in envelope["content"]:
            print_text(block["text"] if block["type"] == "text" else _describe_block(block))
    if envelope.get("host"):
        print_notice(f"(it ran on host {envelope['host']})")
    if envelope.get("truncated"):
        print_notice("(the result was cut)")


def _is_only_data(envelope: Mapping[str, Any]) -> bool:
    """True if the text for the model is only the data as JSON, which is easier to read with indentation."""
    content = envelope["content"]
    data = envelope["data"]
    if not isinstance(data, dict | list):
        return False
    if not content:
        return True
    try:
        return len(content) == 1 and json.loads(content[0].get("text", "")) == data
    except ValueError:
        return False


def _describe_block(block: Mapping[str, Any]) -> str:
    from agentcore.cli.terminal.output import size_text

    if block["type"] == "resource" and "text" in block:
        return f"{block['uri']}\n{block['text']}"
    if "base64" in block:
        size = size_text(len(block["base64"]) * 3 // 4)
        return f"[{block.get('uri', block['type'])} {block['mime']}, {size}; --json has it]"
    return f"[{block['name']}, {block['mime']}, {size_text(block['sizeBytes'])}: artifact {block['artifactId']}]"


def _print_error(error: Mapping[str, Any]) -> None:
    from agentcore.cli.terminal.output import colour_text, print_notice

    head = colour_text(f"{error['type']}:", "red", sys.stderr, bold=True)
    print_notice(error["message"], head)
    for wrong in error.get("context", {}).get("errors", [])[_ERRORS_IN_MESSAGE:]:
        print_notice(f"  {wrong.get('path') or 'arguments'}: {wrong.get('message')}")
    if advice := _ADVICE.get(error["type"]):
        print_notice(f"  {advice}")
