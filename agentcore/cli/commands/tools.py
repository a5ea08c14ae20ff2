"""`agentcore tools`: lists and shows tools."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import click

from agentcore.cli.commands.completion import complete_tool, host_option, remember_tools
from agentcore.cli.options import config_option, json_option, reserve_for_json
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.tool_formats.formats import FormName


@click.command()
@config_option
@json_option
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(FormName)),
    callback=reserve_for_json,
    help="Print the definitions as JSON in the form of a model's API, or of MCP.",
)
@click.option(
    "--check",
    "must_check",
    is_flag=True,
    help="Say for each provider of models which tools it takes, and what it misses.",
)
@host_option
@click.argument("name", required=False, shell_complete=complete_tool)
def tools(*, config_path: Path, as_json: bool, form: str | None, must_check: bool, host: str, name: str | None) -> None:
    """List the tools, or show one with its arguments.

    \b
    Examples:
      agentcore tools
      agentcore tools weather_now
      agentcore tools --format openai_compatible > tools.json
      agentcore tools --check
      agentcore tools --host laptop
    """
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.output import print_json

    if must_check and form:
        raise CliError("--check looks at all forms; leave --format out")
    with open_backend(config_path) as backend:
        found = backend.list_tools(form or "agentcore", host)
    if form is None and not host:
        remember_tools(config_path, found)
    if name is not None:
        found = [_find_tool(found, name)]
    if must_check:
        _print_check(found, as_json=as_json)
    elif as_json or form:
        print_json({"tools": found} if name is None else found[0])
    elif name is not None:
        _print_tool(found[0])
    else:
        _print_tools(found)


def _print_check(tools: list[dict[str, Any]], *, as_json: bool) -> None:
    """Print which tools each provider accepts unchanged; exit with code 1 if one has a problem."""
    from agentcore.cli.terminal.output import print_json, print_notice, print_table
    from agentcore.tool_formats.check import check_tool
    from agentcore.tool_formats.formats import FORMS, LoweredSchema

    found = [
        {"tool": tool["name"], "module": tool["module"], "form": finding.form, "fault": finding.fault}
        for tool in tools
        for finding in check_tool(tool["name"], tool["description"], LoweredSchema(tool["input_schema"]))
    ]
    wrong = {form: {each["tool"] for each in found if each["form"] == form} for form in FORMS}
    taken = {form: len(tools) - len(wrong[form]) for form in FORMS}
    if as_json:
        print_json({"tools": len(tools), "taken": taken, "faults": found})
    else:
        rows = [(form, FORMS[form].label, f"{count} of {len(tools)}") for form, count in taken.items()]
        print_table(("format", "for", "taken whole"), rows, ["cyan"] * len(rows))
        for each in found:
            print_notice(f"{each['tool']} ({each['form']}): {each['fault']}")
    if found:
        raise SystemExit(ExitCode.CALL_FAILED)


def _find_tool(tools: list[dict[str, Any]], name: str) -> dict[str, Any]:
    from agentcore.near_names import near_names, unknown_name

    by_name = {str(tool.get("name") or tool.get("function", {}).get("name")): tool for tool in tools}
    if name not in by_name:
        said = unknown_name("tool", name, near_names(name, by_name))
        raise CliError(said, hint="agentcore tools lists them", code=ExitCode.CALL_FAILED)
    return by_name[name]


def _print_tools(tools: list[dict[str, Any]]) -> None:
    from agentcore.cli.terminal.output import print_notice, print_table

    if not tools:
        print_notice("There are no tools: no module is running. See: agentcore modules list")
        return
    rows = [(tool["name"], tool["module"], " ".join(tool["effects"]), tool["description"]) for tool in tools]
    print_table(("tool", "module", "effects", "description"), rows, ["cyan"] * len(rows))


def _print_tool(tool: Mapping[str, Any]) -> None:
    from agentcore.cli.terminal.output import colour_text, print_text

    schema = tool["input_schema"]
    click.echo(
        f"{colour_text(tool['name'], 'cyan', bold=True)}  (module {tool['module']}, {', '.join(tool['effects'])})"
    )
    print_text(f"\n{tool['description'].strip()}\n")
    properties = schema.get("properties", {})
    if properties:
        click.echo("\nArguments:")
    for name, part in properties.items():
        print_text(f"  {_format_signature(name, part, schema)}")
        if description := part.get("description"):
            print_text(f"      {description.strip()}")
    click.echo(f"\nTime limit: {tool['timeout_ms'] / 1000:g} s")


def _format_signature(name: str, part: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    from agentcore.cli.arguments import describe_type

    if name in schema.get("required", []):
        return f"{name}: {describe_type(schema, part)}, required"
    default = part.get("default")
    return f"{name}: {describe_type(schema, part)}" + ("" if default is None else f" = {default!r}")
