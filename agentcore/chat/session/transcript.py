"""Converts stored messages for the user. Needs no model library: a page shows its sessions without one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from agentcore.chat.session.session_view import AttachmentView, CallState, CallView, MessageView, PageView
from agentcore.store.chat.chat_rows import ChatCallRow, ChatMessageRow, NewMessage

STOPPED = "stopped"
"""Metadata key of a stored answer that the user stopped."""

CUT_OFF = "cutOff"
"""Metadata key of a stored answer that reached the output limit: the tools of the calls in it, which did not run."""

REPEATED = "repeated"
"""Metadata key of a stored answer that was stopped because it repeated itself."""

_ENDED: Mapping[str, CallState] = {"interrupted": "interrupted", "cancelled": "cancelled"}


def list_call_ids(rows: Iterable[ChatMessageRow]) -> list[str]:
    """Return the ids of the calls in messages."""
    return [part["tool_call_id"] for row in rows for part in _read_parts(row) if part.get("part_kind") == "tool-call"]


def to_messages(
    rows: Sequence[ChatMessageRow],
    calls: Mapping[str, ChatCallRow],
    commands: AbstractSet[str] = frozenset(),
    client: str | None = None,
) -> list[MessageView]:
    """Convert messages for the user; results are part of the calls that they belong to.

    Args:
        rows: Stored messages.
        calls: Their calls, by id.
        commands: Ids of running calls that the user made; others without an end were interrupted.
        client: The paired client that runs the client's tools; None: it is unknown.
    """
    made = (
        _to_notice_view(row, commands) if row.kind == "notice" else _to_message_view(row, calls, client) for row in rows
    )
    return [message for message in made if message is not None]


def create_notice(text: str, **more: Any) -> NewMessage:
    """Create a message for the user only; `more` are fields of `MessageView` as JSON values."""
    return NewMessage(json.dumps({"text": text, **more}, ensure_ascii=False), "notice", text)


def prompt_of(row: ChatMessageRow) -> str | None:
    """Return the user's text in a message; None if it is not a user message."""
    said = [_join_text(part["content"]) for part in _read_parts(row) if part.get("part_kind") == "user-prompt"]
    return "\n".join(said) if said else None


def attachments_of(row: ChatMessageRow) -> list[AttachmentView]:
    """Return the files that are attached to a user message."""
    contents = [part["content"] for part in _read_parts(row) if part.get("part_kind") == "user-prompt"]
    told = [each.get("metadata") or {} for content in contents for each in content if isinstance(each, dict)]
    return [AttachmentView.model_validate(each["attachment"]) for each in told if "attachment" in each]


def was_stopped(row: ChatMessageRow) -> bool:
    """True if a message is an answer that the user stopped."""
    return any((message.get("metadata") or {}).get(STOPPED) for message in json.loads(row.message))


def call_view(call: ChatCallRow, client: str | None = None) -> CallView:
    """Convert a stored call; `client` is the client that runs client tools, None if it is unknown."""
    waits_for_client = (call.kind, call.state) == ("client", "waiting")
    envelope = None if call.envelope is None else json.loads(call.envelope)
    return CallView(
        tool_id=call.tool_id,
        tool_name=call.tool_name,
        arguments=json.loads(call.arguments),
        kind=call.kind,
        state=state_of(call, envelope),
        call_id=call.call_id or (envelope or {}).get("callId") or None,
        result=envelope,
        answered_by=call.answered_by or None,
        words=call.words or None,
        needs_approval=bool(call.needs_approval) if waits_for_client else None,
        client=client if waits_for_client else None,
    )


def state_of(call: ChatCallRow, envelope: Mapping[str, Any] | None) -> CallState:
    """Return the state of a call as shown to the user."""
    match call.state:
        case "new" | "waiting" | "rejected":
            return call.state
        case "approved" | "running":
            return "running"
        case _:
            return end_of(envelope)


def end_of(envelope: Mapping[str, Any] | None) -> CallState:
    """Return the final state of a call, from its envelope."""
    if envelope is None or envelope.get("ok"):
        return "done"
    error = envelope["error"]["type"]
    return "rejected" if error == "approval_denied" else _ENDED.get(error, "failed")


def _to_message_view(row: ChatMessageRow, calls: Mapping[str, ChatCallRow], client: str | None) -> MessageView | None:
    parts = _read_parts(row)
    prompt = prompt_of(row)
    if prompt is not None:
        attached = attachments_of(row)
        return MessageView(
            number=row.number,
            time=row.time_ms,
            role="user",
            text=prompt,
            attachments=attached or None,
            page=None if row.page_shown is None else PageView.model_validate_json(row.page_shown),
        )
    requested = [_part_to_call_view(part, calls, client) for part in parts if part.get("part_kind") == "tool-call"]
    message = "".join(part["content"] for part in parts if part.get("part_kind") == "text")
    thought = "".join(part["content"] for part in parts if part.get("part_kind") == "thinking")
    if not (requested or message or thought or _is_answer(row)):
        return None
    return MessageView(
        number=row.number,
        time=row.time_ms,
        role="assistant",
        text=message,
        stopped=was_stopped(row) or None,
        thinking=thought or None,
        calls=requested or None,
    )


def _is_answer(row: ChatMessageRow) -> bool:
    """True if the message is a model's answer; an empty answer is shown to the user too."""
    return row.kind == "said" and any(message["kind"] == "response" for message in json.loads(row.message))


def _part_to_call_view(part: Mapping[str, Any], calls: Mapping[str, ChatCallRow], client: str | None) -> CallView:
    call = calls.get(part["tool_call_id"])
    if call is not None:
        return call_view(call, client)
    arguments = part["args"] if isinstance(part["args"], dict) else json.loads(part["args"] or "{}")
    return CallView(
        tool_id=part["tool_call_id"], tool_name=part["tool_name"], arguments=arguments, kind="server", state="done"
    )


def _to_notice_view(row: ChatMessageRow, commands: AbstractSet[str]) -> MessageView:
    document = {"role": "notice", **json.loads(row.message), "number": row.number, "time": row.time_ms}
    message = MessageView.model_validate(document)
    calls = [
        call.model_copy(update={"state": "interrupted"}) if _is_cut_off(call, commands) else call
        for call in message.calls or ()
    ]
    return message.model_copy(update={"calls": calls or None})


def _is_cut_off(call: CallView, commands: AbstractSet[str]) -> bool:
    """True if a call that the user made ended with the process that ran it."""
    return call.state in {"new", "waiting", "running"} and call.tool_id not in commands


def _read_parts(row: ChatMessageRow) -> list[dict[str, Any]]:
    """Return the parts of a model's message, as the model library stores them."""
    if row.kind == "notice":
        return []
    return [part for message in json.loads(row.message) for part in message["parts"]]


def _join_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in content if isinstance(part, str))
