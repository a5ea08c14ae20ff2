"""The checks of `agentcore doctor`, each a function that returns findings with advice."""

import os
import platform
import re
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Literal

from agentcore.cli.backend.backend import Backend
from agentcore.cli.backend.opening import open_backend, running_server
from agentcore.cli.diagnosis.finding import Finding
from agentcore.cli.diagnosis.host_checks import check_hosts
from agentcore.cli.diagnosis.model_checks import check_models
from agentcore.cli.diagnosis.requirement_checks import check_requirements
from agentcore.cli.diagnosis.secret_checks import check_written_secrets
from agentcore.cli.terminal.exit_codes import CliError
from agentcore.cli.terminal.module_text import describe_disk_version, display_state, list_other_sources, module_reason
from agentcore.cli.terminal.output import size_text
from agentcore.config.loading import AppConfig
from agentcore.config.workspace_roots import prepare_roots
from agentcore.core.discovery.families import load_config, nameless_blocks
from agentcore.errors import AgentcoreError
from agentcore.installing import pip_command
from agentcore.store.state.lock import is_locked
from agentcore.store.state.loop_report import read_loop_report
from agentcore.store.state.state_dir import find_running_server, find_server_at, locate_state_dir

_DISTRIBUTION = "agentcore-runtime"
_LEAST_PYTHON = (3, 11)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def diagnose(config_path: Path, *, is_online: bool) -> Iterator[Finding]:
    """Run all checks and yield each finding once; checks that depend on something broken are skipped.

    Args:
        config_path: The app.json.
        is_online: True to request the models of providers with their keys.
    """
    yield from dict.fromkeys(_run_checks(config_path, is_online=is_online))


def _run_checks(config_path: Path, *, is_online: bool) -> Iterator[Finding]:
    yield _check_python()
    yield _check_packages()
    try:
        config = load_config(config_path, os.environ)
    except AgentcoreError as exc:
        yield Finding("problem", "app.json", str(exc), "correct it; every other check of the server depends on it")
        return
    yield _check_app_json(config)
    for problem in nameless_blocks(config):
        yield Finding("problem", "app.json", str(problem))
    yield from check_written_secrets(config)
    around = [_check_roots(config), _check_state_folder(config_path), *_check_server(config_path, config)]
    yield from around
    is_explained = any(finding.level != "ok" for finding in around)
    yield from _check_modules_and_models(config_path, config, is_explained=is_explained, is_online=is_online)


def _check_python() -> Finding:
    said = f"{platform.python_implementation()} {platform.python_version()} in {sys.prefix}"
    if sys.version_info < _LEAST_PYTHON:
        return Finding("problem", "python", said, "agentcore needs Python 3.11 or later")
    return Finding("ok", "python", said)


def _check_packages() -> Finding:
    try:
        needed = [
            _NAME.match(line).group()  # type: ignore[union-attr]  # a requirement begins with a name
            for line in requires(_DISTRIBUTION) or []
            if "extra ==" not in line
        ]
        said = f"{_DISTRIBUTION} {version(_DISTRIBUTION)}"
    except PackageNotFoundError:
        return Finding("problem", "packages", f"{_DISTRIBUTION} is not installed", pip_command("agentcore-runtime"))
    missing = [name for name in needed if not _is_installed(name)]
    if missing:
        return Finding("problem", "packages", f"missing: {', '.join(missing)}", pip_command(*missing))
    return Finding("ok", "packages", f"{said} and the {len(needed)} packages that it needs")


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _check_app_json(config: AppConfig) -> Finding:
    if not config.file.exists():
        return Finding("note", "app.json", f"{config.file} does not exist", "agentcore init writes one")
    if not config.modules:
        advice = "agentcore modules list shows what is installed, agentcore modules enable NAME turns it on"
        return Finding("note", "app.json", f"{config.file} lists no modules", advice)
    return Finding("ok", "app.json", f"{config.file} lists {', '.join(config.modules)}")


def _check_roots(config: AppConfig) -> Finding:
    try:
        roots = prepare_roots(config, locate_state_dir(config.file))
    except AgentcoreError as exc:
        return Finding("problem", "workspace", str(exc))
    closed = [root for root in roots if not os.access(root, os.R_OK | os.W_OK | os.X_OK)]
    if closed:
        return Finding("note", "workspace", f"{closed[0]} cannot be written", "tools can only read there")
    return Finding("ok", "workspace", ", ".join(map(str, roots)))


def _check_state_folder(config_path: Path) -> Finding:
    folder = locate_state_dir(config_path)
    if not folder.exists():
        return Finding("ok", "state", f"{folder} (made at the first start)")
    status = folder.stat()
    if status.st_uid != os.geteuid():
        return Finding("problem", "state", f"{folder} belongs to another user", "choose one with AGENTCORE_STATE_DIR")
    open_to_others = [
        path for path in (folder, folder / "token") if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if open_to_others:
        path = open_to_others[0]
        return Finding("problem", "state", f"others can read {path}", f"chmod go= {path}; replace the token if need be")
    if is_locked(folder) and find_running_server(folder) is None:
        return Finding("note", "state", f"{folder} is held by a command that runs", "wait for it, or end it")
    return Finding("ok", "state", str(folder))


def _check_server(config_path: Path, config: AppConfig) -> Iterator[Finding]:
    try:
        server = running_server(config_path)
    except CliError as exc:
        yield Finding("problem", "server", exc.message, exc.hint)
        return
    if server is not None:
        folder, info = server
        report = read_loop_report(folder)
        if report is not None and report.pid == info.pid and not report.ended:
            said = f"process {info.pid} does not answer: {report}"
            advice = f"kill {info.pid} ends it; else it is ended after {report.limit_s:g} s"
            yield Finding("problem", "server", said, advice)
            return
        yield Finding("ok", "server", f"process {info.pid} at {', '.join(info.addresses.values())}")
        return
    if (last := read_loop_report(locate_state_dir(config_path))) is not None and last.ended:
        yield Finding("note", "server", f"the last one was ended: {last}", "correct that module, or disable it")
    place = f"{config.server.host}:{config.server.port}"
    if config.server.port and not _is_free(config.server.host, config.server.port):
        advice = 'choose another with --port, or "server": {"port": …} in app.json'
        holder = find_server_at(config.server.port, locate_state_dir(config_path))
        by = "another program" if holder is None else f"the agentcore server for {holder.config}"
        yield Finding("problem", "server", f"not running, and {place} is taken by {by}", advice)
    else:
        yield Finding("ok", "server", f"not running; {place} is free")


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _check_modules_and_models(
    config_path: Path, config: AppConfig, *, is_explained: bool, is_online: bool
) -> Iterator[Finding]:
    """Check modules and models; if that is impossible, report it unless another finding already explains it."""
    found: list[Finding] = []
    try:
        with open_backend(config_path, warns=False) as backend:
            found.append(_check_storage(backend))
            found += _check_modules(backend)
            found += check_requirements(backend)
            found += check_hosts(backend, config)
            found += check_models(backend, config, is_online=is_online)
    except (AgentcoreError, CliError) as exc:
        if not is_explained:
            found.append(Finding("problem", "modules", str(exc), getattr(exc, "hint", "")))
    yield from found


def _check_storage(backend: Backend) -> Finding:
    storage = backend.measure_storage()
    problems = {part["kind"]: part["problems"] for part in storage["parts"] if part["problems"]}
    if problems:
        said = "; ".join(problem for found in problems.values() for problem in found)
        advice = "agentcore audit verify checks the whole record" if "record" in problems else ""
        return Finding("problem", "storage", said, advice)
    used = [f"{part['kind'].replace('_', ' ')} {size_text(part['usedBytes'])}" for part in storage["parts"]]
    return Finding("ok", "storage", f"{', '.join(used)}; {size_text(storage['freeBytes'])} free")


def _check_modules(backend: Backend) -> Iterator[Finding]:
    for module in backend.list_modules():
        subject = f"module {module['name']}"
        if not module["listed"] and module["problems"]:
            yield Finding("problem", subject, "; ".join(module["problems"]))
        elif not module["listed"]:
            said = "a block of app.json, and off" if module["block"] else "installed, and off"
            yield Finding("note", subject, said, f"agentcore modules enable {module['name']}")
        elif module["state"] == "loading":
            yield Finding("note", subject, "it is starting", "look again in a moment")
        elif module["state"] != "ready":
            said = f"{display_state(module)}: {module['reason']}"
            yield Finding("problem", subject, said, details=module["output"] or module["traceback"])
        elif module["waiting"]:
            said = f"{display_state(module)}: {module_reason(module)}"
            yield Finding("problem", subject, said, details=module["output"])
        elif module["problems"]:
            yield Finding(
                "problem", subject, "; ".join(module["problems"]), details=module["output"] or module["traceback"]
            )
        else:
            yield Finding("ok", subject, f"{len(module['tools'])} tools{_start_text(module)}")
        yield from _check_disk_versions(subject, module)
        for note in module["notes"]:
            level: Literal["ok", "note"] = "note" if note["advice"] else "ok"
            yield Finding(level, note["subject"], note["said"], note["advice"])


def _start_text(module: Mapping[str, Any]) -> str:
    return "" if module["startMs"] is None else f", started in {module['startMs']:,.0f} ms"


def _check_disk_versions(subject: str, module: Mapping[str, Any]) -> Iterator[Finding]:
    """Check whether the disk has another version of a running module, or another source of the same name."""
    if module["state"] != "ready":
        return
    if said := describe_disk_version(module):
        yield Finding("note", subject, said, f"agentcore modules reload {module['name']}")
    for other in list_other_sources(module):
        yield Finding("note", subject, other)
