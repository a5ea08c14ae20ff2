"""Looking at a call before it runs: what exactly it would do, without doing it."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import structlog

from agentcore.api.definition import CallPreview
from agentcore.api.errors import ToolError
from agentcore.api.workspace import Workspace
from agentcore.host.call import Call
from agentcore.host.call_context import CallContext
from agentcore.host.call_errors import read_error
from agentcore.host.call_facts import CallFacts
from agentcore.host.containment import run_contained
from agentcore.host.limits import PREVIEW_SECONDS
from agentcore.host.parts import Parts
from agentcore.host.registry import RegisteredTool

log = structlog.get_logger(__name__)


async def preview_call(call: Call, tool: RegisteredTool, context: CallContext) -> CallPreview | None:
    """What the tool says that the call would do; None: it has no preview. One that fails means asking a person.

    Raises:
        ToolError: The call cannot run.
    """
    preview = tool.definition.preview
    if preview is None:
        return None
    name = f"preview:{tool.definition.name}"
    try:
        work = _in_thread_or_not(preview, context, call.arguments)
        made = await run_contained(work, PREVIEW_SECONDS, name, tool.module.name)
    except ToolError as exc:
        raise read_error(call, exc) from exc  # the call cannot run, and is not asked about
    except Exception:
        log.warning("preview_failed", call_id=call.id, tool=tool.definition.name, exc_info=True)
        return CallPreview(is_protected=True)
    if not isinstance(made, CallPreview):
        log.warning("preview_failed", call_id=call.id, tool=tool.definition.name, reason="no CallPreview")
        return CallPreview(is_protected=True)
    return made


def touched(preview: CallPreview) -> tuple[object, ...]:
    """What an approval of a call rests on: a call that would touch something else is another one."""
    return preview.effects, preview.paths, preview.cwd, preview.urls, preview.is_protected, preview.is_sandboxed


async def facts_of(call: Call, tool: RegisteredTool, parts: Parts, *, with_paths: bool = False) -> CallFacts:
    """What the policy looks at.

    Args:
        call: The call, validated and previewed.
        tool: Its tool.
        parts: Where its paths begin, and the mode where neither the session nor its agent says one.
        with_paths: Whether it matters where paths in the arguments lead, also where no rule looks at them.
    """
    named: tuple[str, ...] = ()
    if (with_paths or parts.policy.looks_at_paths) and call.preview is None and (texts := _path_texts(call.arguments)):
        named = await asyncio.to_thread(_follow, parts.workspace, texts)
    request = call.request
    return CallFacts(
        request.principal,
        tool.definition,
        call.arguments,
        call.preview,
        call.session_id,
        request.agent_id,
        request.mode or parts.policy.mode,
        named,
    )


def _path_texts(arguments: dict[str, Any]) -> list[str]:
    found = [arguments.get("path"), *_listed(arguments.get("paths"))]
    return [text for text in found if isinstance(text, str)]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _follow(workspace: Workspace, texts: list[str]) -> tuple[str, ...]:
    return tuple(_real_path(workspace, text) for text in texts)


def _real_path(workspace: Workspace, text: str) -> str:
    try:
        return workspace.real_path(workspace.locate(text))
    except ToolError:
        # it is none of the workspace's; the tool may take it for one of another place
        return os.path.realpath(os.path.join(workspace.roots[0], text.replace("\0", "")))  # noqa: PTH118


async def _in_thread_or_not(preview: Callable[..., Any], context: CallContext, arguments: dict[str, Any]) -> Any:
    if asyncio.iscoroutinefunction(preview):
        return await preview(context, arguments)
    made = await asyncio.to_thread(preview, context, arguments)
    return await made if asyncio.iscoroutine(made) else made
