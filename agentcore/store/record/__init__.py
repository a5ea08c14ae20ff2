"""The record of calls: append-only, hash-chained, committed in groups."""

from agentcore.store.record.call_row import CallRow, RecordedRow, make_notice_row
from agentcore.store.record.query import RecordFilter, read_record
from agentcore.store.record.record import Record
from agentcore.store.record.verification import verify_record
