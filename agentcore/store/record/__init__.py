"""The record of calls: append-only, hash-chained, committed in groups; older rows are in compressed files."""

from agentcore.store.record.call_row import CallRow, RecordedRow, make_notice_row
from agentcore.store.record.query import RecordFilter, export_rows, read_record
from agentcore.store.record.record import Record
from agentcore.store.record.retention import RecordKeeper, RecordLimits
from agentcore.store.record.segments import segments_folder
from agentcore.store.record.verification import VerifyReport, verify_record
