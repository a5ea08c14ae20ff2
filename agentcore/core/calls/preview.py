"""A tool's preview of a call, read into plain values, because the user's decision depends on it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import structlog

from agentcore.api.definition import EFFECTS, SESSION_ONLY, CallPreview, Effect, ToolDefinition
from agentcore.core.calls.call import Call, PreparedCall
from agentcore.core.calls.call_context import CallContext
from agentcore.core.calls.call_errors import read_error
from agentcore.core.calls.preview_limit import PreviewTurn, PreviewTurns
from agentcore.core.module_code.containment import run_contained
from agentcore.core.module_code.module_error import log_failure, type_name
from agentcore.core.module_code.plain_values import plain_text
from agentcore.core.module_code.preview_state import previewing
from agentcore.errors import ToolError
from agentcore.limits import PREVIEW_CHARS, PREVIEW_ENTRIES, PREVIEW_SECONDS

log = structlog.get_logger(__name__)


async def preview_call(
    call: Call, prepared: PreparedCall, context: CallContext, turns: PreviewTurns
) -> CallPreview | None:
    """Return the tool's preview of a call; None: it has none. If it fails, the call needs approval.

    Args:
        context: For the preview only. However the preview ends, `is_cancelled` of it is true afterwards: a thread
            cannot be ended from outside, and checks it.
        turns: Limits the previews of each caller.
    Raises:
        ToolError: The call cannot run.
    """
    definition = prepared.tool.definition
    module = prepared.tool.module
    if definition.preview is None:
        return None
    turn = await turns.wait_for_turn(call.account)
    making = _call_preview(definition.preview, context, prepared.arguments, turn, may_be_none=module.placed is not None)
    try:
        preview = await run_contained(making, PREVIEW_SECONDS, f"preview:{definition.name}", module.name)
    except ToolError as exc:
        raise read_error(call, exc) from exc  # the call cannot run, and is not asked about
    except asyncio.CancelledError:
        raise
    except TimeoutError as exc:
        log_failure(log, "preview_failed", exc, call_id=call.id, tool=definition.name)
        return CallPreview(failure="timed_out")
    except BaseException as exc:  # noqa: BLE001 - the border between host and module
        log_failure(log, "preview_failed", exc, call_id=call.id, tool=definition.name)
        return CallPreview(failure="failed")
    finally:
        context.end_preview()
        turn.end_preview()
    return preview if preview is None or not module.has_outside_definitions else _only_raising(preview, definition)


def _only_raising(preview: CallPreview, definition: ToolDefinition) -> CallPreview:
    """Return the preview of a foreign tool: it can add to the effects that the user has accepted, and remove none."""
    exact = preview.effects
    effects = None if exact is None else (exact - SESSION_ONLY) | definition.effects
    # only the server itself knows how its commands are confined
    return replace(preview, effects=effects, is_sandboxed=False)


def approval_basis(preview: CallPreview) -> tuple[object, ...]:
    """Return what an approval of a call is bound to: if the call would touch something else, it is another call."""
    what = preview.effects, preview.paths, preview.cwd, preview.urls
    return *what, preview.is_protected, preview.is_sandboxed, preview.caution, preview.failure


async def _call_preview(
    preview: Callable[..., Any],
    context: CallContext,
    arguments: dict[str, Any],
    turn: PreviewTurn,
    *,
    may_be_none: bool,
) -> CallPreview | None:
    with previewing():
        if asyncio.iscoroutinefunction(preview):
            found = await preview(context, arguments)
            # a module in a host checks the arguments as well, since a schema cannot express everything
            return None if found is None and may_be_none else _read_preview(found)
        made = await turn.run_in_thread(lambda: preview(context, arguments))
        return _read_preview(await made if asyncio.iscoroutine(made) else made)


def _read_preview(made: Any) -> CallPreview:
    """Read a preview into plain values, which cannot change after the user's decision.

    Raises:
        TypeError: It is not a `CallPreview`, a field has the wrong type, or it is too large.
    """
    if not isinstance(made, CallPreview):
        raise TypeError(f"a preview must give a CallPreview, not {type_name(made)}")
    effects = None if made.effects is None else frozenset(_read_texts(made.effects, "effects"))
    if effects is not None and not (effects and effects <= EFFECTS):
        raise TypeError(f"effects of a CallPreview must be some of {sorted(EFFECTS)}, not {sorted(effects)}")
    if effects is not None and effects > SESSION_ONLY:
        raise TypeError(f"the effect 'session' of a CallPreview stands alone, not in {sorted(effects)}")
    preview = CallPreview(
        effects=cast("frozenset[Effect] | None", effects),
        paths=_read_texts(made.paths, "paths"),
        cwd=None if made.cwd is None else _read_text(made.cwd, "cwd"),
        urls=_read_texts(made.urls, "urls"),
        services=_read_texts(made.services, "services"),
        diff=None if made.diff is None else _read_text(made.diff, "diff"),
        words=_read_text(made.words, "words"),
        is_protected=_read_flag(made.is_protected, "is_protected"),
        is_sandboxed=_read_flag(made.is_sandboxed, "is_sandboxed"),
        caution=_read_text(made.caution, "caution"),
    )
    size = sum(map(len, (*preview.paths, *preview.urls, *preview.services, preview.cwd or "", preview.diff or "")))
    size += len(preview.words) + len(preview.caution)
    if size > PREVIEW_CHARS:
        raise TypeError(f"a CallPreview must have at most {PREVIEW_CHARS:,} characters, not {size:,}")
    return preview


def _read_texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, tuple | list | frozenset | set):
        raise TypeError(f"{name} of a CallPreview must be a tuple of texts, not {type_name(value)}")
    if len(value) > PREVIEW_ENTRIES:
        raise TypeError(f"{name} of a CallPreview must be at most {PREVIEW_ENTRIES:,} texts, not {len(value):,}")
    return tuple([_read_text(one, name) for one in value])


def _read_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} of a CallPreview must be text, not {type_name(value)}")
    return plain_text(value)


def _read_flag(value: Any, name: str) -> bool:
    if type(value) is not bool:
        raise TypeError(f"{name} of a CallPreview must be True or False, not {type_name(value)}")
    return value
