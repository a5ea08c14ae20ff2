"""`agentcore skills`: lists skills, or shows one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import CliError, ExitCode


@click.command()
@config_option
@json_option
@click.argument("name", required=False)
def skills(*, config_path: Path, as_json: bool, name: str | None) -> None:
    """List the skills of the workspace, of the user and of modules, or show one with its files and problems.

    New and changed skills reach a model once you have accepted them in the approval view or the terminal of the server.

    \b
    Examples:
      agentcore skills
      agentcore skills pdf-processing
      agentcore skills --json
    """
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.output import print_json

    with open_backend(config_path) as backend:
        found = backend.list_skills()
    listed: list[dict[str, Any]] = found["skills"]
    if name is not None:
        listed = _find_skills(listed, name)
    if as_json:
        print_json(found if name is None else listed[0])
    elif name is not None:
        for skill in listed:
            _print_skill(skill)
    else:
        _print_skills(listed, found["problems"])


def _find_skills(skills: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    from agentcore.near_names import near_names, unknown_name

    found = [skill for skill in skills if skill["name"] == name]
    if not found:
        said = unknown_name("skill", name, near_names(name, {skill["name"] for skill in skills}))
        raise CliError(said, hint="agentcore skills lists them", code=ExitCode.CALL_FAILED)
    return found


def _print_skills(skills: Sequence[Mapping[str, Any]], problems: Sequence[Mapping[str, Any]]) -> None:
    from agentcore.cli.terminal.output import print_notice, print_table

    if skills:
        rows = [(skill["name"], skill["state"], skill["source"], skill["description"]) for skill in skills]
        print_table(("skill", "state", "source", "description"), rows, ["cyan"] * len(rows))
    else:
        print_notice("There are no skills. Put folders with a SKILL.md into .agents/skills of the workspace.")
    for problem in [problem for skill in skills for problem in skill["problems"]] + list(problems):
        print_notice(_problem_text(problem))


def _print_skill(skill: Mapping[str, Any]) -> None:
    from agentcore.cli.terminal.output import colour_text, print_notice, print_text

    click.echo(f"{colour_text(skill['name'], 'cyan', bold=True)}  ({skill['state']}, {skill['source']})")
    print_text(f"\n{skill['description']}\n")
    facts = {
        "Folder": skill["folder"],
        "Files": ", ".join(skill["files"]),
        "Agents": ", ".join(skill["agents"]),
        "License": skill["license"],
        "Needs": skill["compatibility"],
        "Names tools": " ".join(skill["allowedTools"]),
    }
    for label, value in facts.items():
        if value:
            print_text(f"{label}: {value}")
    for problem in skill["problems"]:
        print_notice(_problem_text(problem))


def _problem_text(problem: Mapping[str, Any]) -> str:
    line = f":{problem['line']}" if problem.get("line") else ""
    return f"{problem['file']}{line}: {problem['message']} ({problem['type']})"
