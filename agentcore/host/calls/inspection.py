"""Looking at a call before it runs: what exactly it would do, without doing it."""

import asyncio
import os
from collections.abc import Callable
from typing import Any, cast

import structlog

from agentcore.api.definition import EFFECTS, CallPreview, Effect
from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.host.calls.call import Call
from agentcore.host.calls.context import CallContext
from agentcore.host.calls.errors import read_error
from agentcore.host.containment.containment import run_contained
from agentcore.host.containment.foreign_error import log_failure, type_name
from agentcore.host.modules.record import RegisteredTool
from agentcore.host.parts import Parts
from agentcore.limits import PREVIEW_SECONDS
from agentcore.rules.call_facts import CallFacts

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
        return await run_contained(_made(preview, context, call.arguments), PREVIEW_SECONDS, name, tool.module.name)
    except ToolError as exc:
        raise read_error(call, exc) from exc  # the call cannot run, and is not asked about
    except asyncio.CancelledError:
        raise
    except BaseException as exc:  # noqa: BLE001 - the border between host and module
        log_failure(log, "preview_failed", exc, call_id=call.id, tool=tool.definition.name)
        return CallPreview(is_protected=True)


def touched(preview: CallPreview) -> tuple[object, ...]:
    """What an approval of a call rests on: a call that would touch something else is another one."""
    said = preview.effects, preview.paths, preview.cwd, preview.urls
    return *said, preview.is_protected, preview.is_sandboxed, preview.caution


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


async def _made(preview: Callable[..., Any], context: CallContext, arguments: dict[str, Any]) -> CallPreview:
    if asyncio.iscoroutinefunction(preview):
        return _plain(await preview(context, arguments))
    made = await asyncio.to_thread(preview, context, arguments)
    return _plain(await made if asyncio.iscoroutine(made) else made)


def _plain(made: Any) -> CallPreview:
    """The preview as plain values: a person's decision rests on it, so nothing of it may be another one later.

    Raises:
        TypeError: It is no `CallPreview`, or a field holds something else than declared.
    """
    if not issubclass(type(made), CallPreview):
        raise TypeError(f"a preview must give a CallPreview, not {type_name(made)}")
    effects = None if made.effects is None else frozenset(_texts(made.effects, "effects"))
    if effects is not None and not (effects and effects <= EFFECTS):
        raise TypeError(f"effects of a CallPreview must be some of {sorted(EFFECTS)}, not {sorted(effects)}")
    return CallPreview(
        effects=cast("frozenset[Effect] | None", effects),
        paths=_texts(made.paths, "paths"),
        cwd=None if made.cwd is None else _text(made.cwd, "cwd"),
        urls=_texts(made.urls, "urls"),
        diff=None if made.diff is None else _text(made.diff, "diff"),
        is_protected=_flag(made.is_protected, "is_protected"),
        is_sandboxed=_flag(made.is_sandboxed, "is_sandboxed"),
        caution=_text(made.caution, "caution"),
    )


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not issubclass(type(value), tuple | list | frozenset | set):
        raise TypeError(f"{name} of a CallPreview must be a tuple of texts, not {type_name(value)}")
    return tuple([_text(one, name) for one in value])


def _text(value: Any, name: str) -> str:
    if not issubclass(type(value), str):
        raise TypeError(f"{name} of a CallPreview must be text, not {type_name(value)}")
    return value if type(value) is str else str.__str__(value)


def _flag(value: Any, name: str) -> bool:
    if type(value) is not bool:
        raise TypeError(f"{name} of a CallPreview must be True or False, not {type_name(value)}")
    return value
