"""Stored messages as a person reads them. Needs no model library: a page shows its sessions without one."""

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from agentcore.chat.session.view import AttachmentView, CallState, CallView, MessageView, PageView
from agentcore.store.chat import ChatCallRow, ChatMessageRow, NewMessage

STOPPED = "stopped"
"""Marks, among the metadata of a stored answer, one that the person stopped."""

_ENDED: Mapping[str, CallState] = {"interrupted": "interrupted", "cancelled": "cancelled"}


def list_call_ids(rows: Iterable[ChatMessageRow]) -> list[str]:
    """Ids of the calls that messages want."""
    return [part["tool_call_id"] for row in rows for part in _read_parts(row) if part.get("part_kind") == "tool-call"]


def to_messages(
    rows: Sequence[ChatMessageRow],
    calls: Mapping[str, ChatCallRow],
    commands: AbstractSet[str] = frozenset(),
    client: str | None = None,
) -> list[MessageView]:
    """The messages that a person sees; results stand with the calls that they belong to.

    Args:
        rows: Stored messages.
        calls: The calls that they want, by id.
        commands: Ids of the person's own calls that go on; others that have not ended were interrupted.
        client: The paired client that runs the client's tools; None: it is not known.
    """
    made = (
        _to_notice_view(row, commands) if row.kind == "notice" else _to_message_view(row, calls, client) for row in rows
    )
    return [message for message in made if message is not None]


def create_notice(text: str, **more: Any) -> NewMessage:
    """A message for the person alone; `more` are fields of `MessageView` as JSON values."""
    return NewMessage(json.dumps({"text": text, **more}, ensure_ascii=False), "notice", text)


def prompt_of(row: ChatMessageRow) -> str | None:
    """What the person said in a message; None: it is none of a person's."""
    said = [_join_text(part["content"]) for part in _read_parts(row) if part.get("part_kind") == "user-prompt"]
    return "\n".join(said) if said else None


def attachments_of(row: ChatMessageRow) -> list[AttachmentView]:
    """The files that came with a message of the person's."""
    contents = [part["content"] for part in _read_parts(row) if part.get("part_kind") == "user-prompt"]
    told = [each.get("metadata") or {} for content in contents for each in content if isinstance(each, dict)]
    return [AttachmentView.model_validate(each["attachment"]) for each in told if "attachment" in each]


def was_stopped(row: ChatMessageRow) -> bool:
    """Whether a message is an answer that the person stopped."""
    return any((message.get("metadata") or {}).get(STOPPED) for message in json.loads(row.message))


def call_view(call: ChatCallRow, client: str | None = None) -> CallView:
    """One stored call; `client` runs the client's tools, None where it is not known."""
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
    """How far a call is, in the words of a person."""
    match call.state:
        case "new" | "waiting" | "rejected":
            return call.state
        case "approved" | "running":
            return "running"
        case _:
            return end_of(envelope)


def end_of(envelope: Mapping[str, Any] | None) -> CallState:
    """How a call ended."""
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
    wanted = [_part_to_call_view(part, calls, client) for part in parts if part.get("part_kind") == "tool-call"]
    said = "".join(part["content"] for part in parts if part.get("part_kind") == "text")
    thought = "".join(part["content"] for part in parts if part.get("part_kind") == "thinking")
    if not (wanted or said or thought or _is_answer(row)):
        return None
    return MessageView(
        number=row.number,
        time=row.time_ms,
        role="assistant",
        text=said,
        stopped=was_stopped(row) or None,
        thinking=thought or None,
        calls=wanted or None,
    )


def _is_answer(row: ChatMessageRow) -> bool:
    """Whether it is the model's: one that says nothing is an answer too, and the person is to know."""
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
    """Whether a call of the person's own ended with the process that it ran in."""
    return call.state in {"new", "waiting", "running"} and call.tool_id not in commands


def _read_parts(row: ChatMessageRow) -> list[dict[str, Any]]:
    """The parts of a model's message, as the model library stores them."""
    if row.kind == "notice":
        return []
    return [part for message in json.loads(row.message) for part in message["parts"]]


def _join_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in content if isinstance(part, str))
