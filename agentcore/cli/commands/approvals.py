"""`agentcore approvals`: explains decisions on calls, tries rules, and lists and revokes grants."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from agentcore.approval_rules.decisions import APPROVAL_MODES
from agentcore.cli.commands.completion import complete_argument, complete_tool
from agentcore.cli.options import config_option, json_option

_MODES = click.Choice(APPROVAL_MODES)
_CALLERS = click.Choice(["chat", "mcp", "host", "module", "view", "page", "token", "cli"])


@click.group()
def approvals() -> None:
    """What is allowed without asking, and why."""


@approvals.command()
@config_option
@click.option("--json-arguments", metavar="JSON", help="Arguments as a JSON object, @FILE, or - for stdin.")
@click.option("--session", "session_id", metavar="ID", help="The session whose mode and grants count.")
@click.option("--agent", "agent_id", metavar="ID", help="The agent whose call it is.")
@click.option("--mode", type=_MODES, help="As if this were the mode.")
@click.option("--caller", type=_CALLERS, default="chat", show_default=True, help="Who would call.")
@json_option
@click.argument("tool", shell_complete=complete_tool)
@click.argument("arguments", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=complete_argument)
def explain(
    *,
    config_path: Path,
    json_arguments: str | None,
    session_id: str | None,
    agent_id: str | None,
    mode: str | None,
    caller: str,
    as_json: bool,
    tool: str,
    arguments: tuple[str, ...],
) -> None:
    """Tell whether a call would run, be asked about or be refused, and which rule says so. Nothing runs.

    \b
    Examples:
      agentcore approvals explain weather_now city=Bonn
      agentcore approvals explain weather_report text=x --mode ask_writes
    """
    from agentcore.cli.arguments import find_schema, parse_arguments
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.approval_text import explanation_lines
    from agentcore.cli.terminal.output import print_json

    with open_backend(config_path) as backend:
        question: dict[str, Any] = {
            "tool": tool,
            "arguments": parse_arguments(find_schema(backend.list_tools(), tool), json_arguments, arguments),
            "caller": caller,
        }
        named = {"sessionId": session_id, "agentId": agent_id, "mode": mode}
        found = backend.explain_call(question | {key: value for key, value in named.items() if value is not None})
    if as_json:
        print_json(found)
    else:
        for line in explanation_lines(found, sys.stdout):
            click.echo(line)


@approvals.command("try")
@config_option
@click.option("--limit", type=click.IntRange(1, 1000), default=200, show_default=True, help="How many recorded calls.")
@json_option
@click.argument("rule", metavar="RULE-JSON")
def try_rule(config_path: Path, limit: int, as_json: bool, rule: str) -> None:
    """Tell which recorded calls a rule would decide differently, before it is written into app.json.

    \b
    Example:
      agentcore approvals try '{"decision": "deny", "path": "secrets/"}'
    """
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.output import print_json

    try:
        said = json.loads(rule)
    except ValueError as exc:
        raise click.BadParameter(f"it is no JSON: {exc}", param_hint="RULE-JSON") from exc
    with open_backend(config_path) as backend:
        found = backend.try_rule({"rule": said, "limit": limit})
    if as_json:
        print_json(found)
    else:
        _print_trial(found)


@approvals.command()
@config_option
@json_option
def grants(config_path: Path, as_json: bool) -> None:
    """List what was allowed for later calls: always, for a session, or for a host."""
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.output import print_json, print_table

    with open_backend(config_path) as backend:
        found = backend.list_grants()
    if as_json:
        print_json({"grants": found})
    elif not found:
        click.echo("Nothing was allowed for later.")
    else:
        print_table(("id", "for", "caller", "tool", "where"), [_grant_row(grant) for grant in found])


@approvals.command()
@config_option
@click.argument("grant_id", metavar="ID")
def revoke(config_path: Path, grant_id: str) -> None:
    """Take back what was allowed for later; `grants` lists the ids."""
    from agentcore.cli.backend.opening import open_backend

    with open_backend(config_path) as backend:
        backend.revoke_grant(grant_id)
    click.echo(f"Revoked {grant_id}.")


def _grant_row(grant: Mapping[str, Any]) -> Sequence[str]:
    scope = f"session {grant['sessionId']}" if "sessionId" in grant else "every session"
    where = ", ".join(f"{name} {pattern}" for name, pattern in grant["arguments"].items())
    return grant["id"], scope, grant["caller"], grant["tool"], where or "any arguments"


def _print_trial(found: Mapping[str, Any]) -> None:
    from agentcore.cli.terminal.approval_text import COLOURS
    from agentcore.cli.terminal.output import print_notice, print_table

    different = found["different"]
    undecided = found["undecided"]
    click.echo(
        f"{found['examined']} recorded calls looked at: {len(different)} would be decided differently, "
        f"{len(undecided)} cannot be told."
    )
    if different:
        rows = [
            (each["after"]["decision"], each["before"]["decision"], each["tool"], each["caller"], each["arguments"])
            for each in different
        ]
        print_table(("now", "before", "tool", "caller", "arguments"), rows, [COLOURS[row[0]] for row in rows])
    for reason, count in Counter(each["reason"] for each in undecided).items():
        print_notice(f"{count} cannot be told: {reason}")
    if not found["isComplete"]:
        print_notice("It took too long: there are more recorded calls.")
