"""Rows of the record of calls, and the hashes that chain them."""

import hashlib
import json
import time
from typing import Literal, NamedTuple

from agentcore.valid_text import valid_text

RowKind = Literal["call", "decision", "notice"]

GENESIS_HASH = bytes(32)
"""The hash that precedes the first row."""

_ENCODE = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False).encode


class CallRow(NamedTuple):
    """A call, a decision about a call, or a notice of the record about itself.

    It is a named tuple because several thousand per second are created, encoded and stored.

    Args:
        time_ms: Start time, in milliseconds since 1970.
        call_id: The call; for a decision, the call that it is about.
        tool: The tool's name as called, known or not.
        kind: `call`; `decision` (approve, deny, stop, …); `notice`: written by the record itself.
        parent_call_id: The call that started this one.
        principal_kind: The kind of credential used: `page`, `token`, `cli`, ….
        principal_id: The id within that kind.
        arguments_digest: sha256 of the exact arguments, in hexadecimal digits.
        decision: The decision: `allow`, `approve`, `deny`, `stop`, ….
        decided_by: Who or what decided: a rule, a mode, an approver.
        outcome: `ok`, else the type of the error.
        duration_ms: Duration of the call; None: it did not end, or the row is a decision.
        arguments: JSON text for people to read, with secrets masked and cut to a limit by the code that appends the
            row. The hash covers its digest, not the text itself.
    """

    time_ms: int
    call_id: str
    tool: str
    kind: RowKind = "call"
    parent_call_id: str | None = None
    module: str = ""
    session_id: str = ""
    principal_kind: str = ""
    principal_id: str = ""
    arguments_digest: str = ""
    decision: str = ""
    decided_by: str = ""
    outcome: str = ""
    duration_ms: float | None = None
    resource_id: str | None = None
    arguments: str = ""

    def is_well_typed(self) -> bool:
        """Return True if each field has its declared type; only needed after storing has failed."""
        optional = (self.parent_call_id, self.resource_id)
        texts = (self.call_id, self.tool, self.kind, *self[5:13], self.arguments)
        return (
            type(self.time_ms) is int
            and abs(self.time_ms) < 2**63
            and (self.duration_ms is None or type(self.duration_ms) in (int, float))
            and all(value is None or isinstance(value, str) for value in optional)
            and all(isinstance(value, str) for value in texts)
        )


COLUMNS = ", ".join(CallRow._fields)
"""The columns of a row, in the order of its fields, for SQL."""


class RecordedRow(NamedTuple):
    """A row with its position in the record: `seq` counts from 1 without gaps."""

    seq: int
    row: CallRow


def make_notice_row(outcome: str, **details: object) -> CallRow:
    """Create a notice of the record about itself; the details are in its arguments and therefore in its digest."""
    arguments = json.dumps(details)
    return CallRow(
        time_ms=time.time_ns() // 1_000_000,
        call_id="",
        tool="",
        kind="notice",
        outcome=outcome,
        arguments_digest=hashlib.sha256(arguments.encode("ascii")).hexdigest(),
        arguments=arguments,
    )


def chain_row(previous_hash: bytes, row: CallRow) -> tuple[CallRow, bytes]:
    """Chain a row to the previous one.

    Returns:
        The row as it can be stored (text that UTF-8 cannot encode is written as escapes), and its hash: sha256 over the
        previous hash and the fields except `arguments`, as one JSON array in ASCII without spaces, in the order of
        `CallRow`.
    """
    text = encode_hashed_fields(row)
    # surrogates appear as escapes in the ASCII text; lone ones come from a caller's JSON, and SQLite rejects them
    if "\\ud" in text or not row.arguments.isascii():
        row = _without_surrogates(row)
        text = encode_hashed_fields(row)
    return row, hashlib.sha256(previous_hash + text.encode("ascii")).digest()


def encode_hashed_fields(row: CallRow) -> str:
    """Return the text that a row's hash covers: its fields except `arguments`."""
    return _ENCODE(row[:-1])


def _without_surrogates(row: CallRow) -> CallRow:
    try:
        "".join(value for value in row if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        return CallRow(*(valid_text(value) if isinstance(value, str) else value for value in row))  # type: ignore[arg-type]
    return row
