"""`agentcore doctor`: reports what is missing or wrong, and what to do about it."""

from pathlib import Path

import click

from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import ExitCode

_SIGNS = {"ok": ("ok", "green"), "note": ("note", "cyan"), "problem": ("problem", "red")}


@click.command()
@config_option
@click.option("--online", "is_online", is_flag=True, help="Ask providers for their models, with their keys.")
@click.option("--fix", "fixes", is_flag=True, help="First install what modules need and this machine lacks.")
@json_option
def doctor(*, config_path: Path, as_json: bool, is_online: bool, fixes: bool) -> int:
    """Look for what is missing or wrong: Python, packages, app.json, state folder, modules, what they need, models.

    Of models it says which providers have a key and from where (never the key), which models there are, which model
    servers run on this machine, and what a chat would use. Only this machine is asked, but with --online.

    With --fix, what modules need and this machine lacks, such as a browser, is installed first. Where only you can
    install it, the command is shown.

    Without a running server, the modules are started for this look and stopped again. Exit code 1: there is a
    problem.
    """
    from dataclasses import asdict

    from agentcore.cli.diagnosis.checks import diagnose
    from agentcore.cli.diagnosis.requirement_checks import fix_requirements
    from agentcore.cli.terminal.output import colour_text, print_json, print_text

    if fixes:
        fix_requirements(config_path)
    findings = list(diagnose(config_path, is_online=is_online))
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            sign, colour = _SIGNS[finding.level]
            click.echo(f"{colour_text(f'{sign:<8}', colour)} ", nl=False)
            print_text(f"{finding.subject}: {finding.said}")
            if finding.advice:
                print_text(f"{'':<9}{finding.advice}")
            if finding.details:
                print_text("".join(f"{'':<9}{line}\n" for line in finding.details.splitlines()))
    is_well = all(finding.level != "problem" for finding in findings)
    return ExitCode.OK if is_well else ExitCode.CALL_FAILED
