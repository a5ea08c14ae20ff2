"""Checks and installs requirements of modules for `agentcore doctor`."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentcore.cli.backend.backend import Backend
from agentcore.cli.backend.opening import open_backend
from agentcore.cli.diagnosis.finding import Finding
from agentcore.cli.terminal.output import print_notice
from agentcore.cli.terminal.progress_line import ProgressLine

_MEGABYTE = 1_000_000


def check_requirements(backend: Backend) -> Iterator[Finding]:
    """Report for each requirement where it was found, or what is missing and the command that installs it."""
    for requirement in backend.check_requirements():
        subject = _requirement_title(requirement)
        if requirement["state"] == "met":
            yield Finding("ok", subject, _english_text(requirement["text"]))
            continue
        needed_by = ", ".join(requirement["modules"])
        said = f"{_english_text(requirement['text'])}; needed by {needed_by}: {_english_text(requirement['purpose'])}"
        if requirement["error"]:
            said += f" The last installation failed: {requirement['error']}"
        yield Finding("note", subject, said, _requirement_advice(requirement))


def fix_requirements(config_path: Path) -> None:
    """Install what is missing on this machine with progress on stderr, or show the command for it.

    Raises:
        AgentcoreError: No core can be started.
        CliError: The server cannot be used.
    """
    with open_backend(config_path, warns=False) as backend:
        missing = [each for each in backend.check_requirements() if each["state"] == "missing" and not each["host"]]
        for requirement in missing:
            _install_requirement(backend, requirement)
    if not missing:
        print_notice("Nothing is missing that modules need on this machine.")


def _install_requirement(backend: Backend, requirement: Mapping[str, Any]) -> None:
    title = _requirement_title(requirement)
    if not requirement["isInstallable"]:
        print_notice(f"{title}: run {requirement['command']}")
        return
    line = ProgressLine()
    is_terminal = sys.stderr.isatty()
    last = ""

    def show(fraction: float | None, text: str) -> None:
        nonlocal last
        if is_terminal:
            line("progress", {"fraction": fraction, "message": text})
        elif text != last:
            print_notice(text)
        last = text

    print_notice(f"{title}: {_english_text(requirement['installs']) or 'installing it'}")
    failure = backend.install_requirement(requirement, show)
    line.clear()
    print_notice(f"{title}: {failure or 'installed'}")


def _requirement_title(requirement: Mapping[str, Any]) -> str:
    host = f" on host {requirement['host']}" if requirement["host"] else ""
    return f"{_english_text(requirement['title'])}{host}"


def _requirement_advice(requirement: Mapping[str, Any]) -> str:
    size = requirement["downloadBytes"]
    about = f" (about {round(size / _MEGABYTE)} MB)" if size else ""
    where = ", on that machine" if requirement["host"] else ", or agentcore doctor --fix"
    return f"{requirement['command']}{about}{where if requirement['isInstallable'] or requirement['host'] else ''}"


def _english_text(text: str | Mapping[str, str]) -> str:
    return text if isinstance(text, str) else text.get("en") or next(iter(text.values()), "")
