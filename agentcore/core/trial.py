"""One module started alone, to be looked at: beside a server that runs, and without a trace of it."""

import time
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from agentcore.api import Report, ToolDefinition
from agentcore.config.loading import AppConfig
from agentcore.core.core import Core
from agentcore.core.declarations.module_report import read_report
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.store.state.state_dir import STATE_DIR_VARIABLE, StateDir


@dataclass(frozen=True)
class Trial:
    """The outcome of starting a module alone.

    Args:
        reason: Why it failed; empty: it started.
        took_ms: How long its start took.
        tools: All tools that it offers, including those that the user has not accepted yet.
        problems: What is wrong although it started, one sentence each.
        notes: Its diagnostics: subject to finding and advice.
        report: Its status report.
    """

    reason: str
    took_ms: float
    tools: tuple[ToolDefinition, ...] = ()
    problems: tuple[str, ...] = ()
    notes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    report: Report = field(default_factory=Report)


async def try_module(config: AppConfig, name: str, folder: Path) -> Trial:
    """Start one module of an app.json, inspect it, and stop it again.

    It gets its settings with resolved references, and the workspace; its data are stored in a separate folder. No
    approvals are requested for its tools, and no tool is called.

    Args:
        folder: An empty folder that replaces the state folder.
    """
    alone = config.model_copy(update={"modules": (name,)})
    with StateDir.open(config.file, environ={STATE_DIR_VARIABLE: str(folder)}) as state:
        began = time.perf_counter()
        async with Core.open(alone, state) as core:
            record = core.modules.get_record(name)
            took_ms = round((time.perf_counter() - began) * 1000, 1)
            if record.ready is None:
                return Trial(record.reason, took_ms, notes=dict(record.notes))
            return await _describe_trial(record, record.ready.started_ms)


async def _describe_trial(record: ModuleRecord, started_ms: float) -> Trial:
    waiting = record.waiting
    reason = "" if waiting is None or waiting.reason == "login" else waiting.said
    problems = [*record.tool_errors, *record.conflicts]
    try:
        report = await read_report(record.report, record.name)
    except ToolError as exc:
        problems.append(exc.message)
        report = Report()
    tools = tuple(tool.definition for tool in (*record.tools, *record.withheld))
    return Trial(reason, started_ms, tools, tuple(problems), dict(record.notes), report)
