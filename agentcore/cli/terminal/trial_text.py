"""Formats the result of starting a module on trial, as text and as JSON."""

import sys
from typing import TYPE_CHECKING, Any

from agentcore.cli.terminal.output import colour_text, print_notice, print_table, print_text, print_warning

if TYPE_CHECKING:
    from agentcore.api import ToolDefinition
    from agentcore.core.trial import Trial

_LOG_LINES = 20


def trial_json(trial: "Trial") -> dict[str, Any]:
    """Return the full result of a trial as JSON."""
    report = trial.report
    return {
        "ready": not trial.reason,
        "reason": trial.reason,
        "tookMs": trial.took_ms,
        "facts": dict(report.facts),
        "tools": [
            {
                "name": tool.name,
                "originalName": report.original_names.get(tool.name, tool.name),
                "effects": sorted(tool.effects),
                "servedAs": tool.served_as,
                "description": tool.description,
            }
            for tool in trial.tools
        ],
        "problems": list(trial.problems),
        "notes": [
            {"subject": subject, "said": said, "advice": advice} for subject, (said, advice) in trial.notes.items()
        ],
        "log": report.log,
    }


def print_trial(name: str, trial: "Trial") -> None:
    """Print the result of a trial: the start and the tools on stdout, everything else on stderr."""
    if trial.reason:
        print_notice(f"{name} did not start, after {_format_duration(trial)}: {trial.reason}", _error_label("error:"))
    else:
        facts = ", ".join(f"{fact} {value}" for fact, value in trial.report.facts.items())
        print_text(f"{name} started in {_format_duration(trial)}{facts and f': {facts}'}")
        _print_tools(trial)
    for problem in trial.problems:
        print_warning(problem)
    for subject, (said, advice) in trial.notes.items():
        print_warning(f"{subject}: {said}{advice and f'. {advice}'}")
    _print_log(trial.report.log)


def _print_tools(trial: "Trial") -> None:
    if not trial.tools:
        print_notice("It offers no tools.")
        return
    rows = [_tool_row(tool, trial.report.original_names.get(tool.name, "")) for tool in trial.tools]
    print_table(("tool", "its own name", "effects", "what it does"), rows)


def _tool_row(tool: "ToolDefinition", original: str) -> tuple[str, str, str, str]:
    effects = ", ".join(sorted(tool.effects))
    return tool.name, original, f"{tool.served_as}: {effects}" if tool.served_as else effects, tool.description


def _print_log(log: str) -> None:
    lines = log.strip().splitlines()
    if lines:
        print_notice("The end of what it wrote:")
        for line in lines[-_LOG_LINES:]:
            print_notice(f"  {line}")


def _format_duration(trial: "Trial") -> str:
    return f"{trial.took_ms / 1000:.1f} s"


def _error_label(text: str) -> str:
    return colour_text(text, "red", sys.stderr, bold=True)
