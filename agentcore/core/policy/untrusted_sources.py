"""Sources of untrusted content that a session's model has read, which may have caused its next call."""

import time
from collections.abc import Iterable

from agentcore.store.approvals.approval_rows import SourceRow

_NAMED = 5
"""Sources that one question names; the rest are counted."""


class UntrustedSources:
    """The sources of each session, and which of them the user has accepted by approving a call that named them."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, SourceRow]] = {}

    def add(self, rows: Iterable[SourceRow]) -> None:
        """Take sources that are stored; one that is known already is replaced."""
        for row in rows:
            self._rows.setdefault(row.session_id, {})[row.source] = row

    def is_known(self, session_id: str, source: str) -> bool:
        """True if a session has read from a source before."""
        return source in self._rows.get(session_id, ())

    def name_all(self, session_id: str) -> list[str]:
        """Return the names of all sources of a session, accepted ones too, oldest first."""
        return list(self._rows.get(session_id, ()))

    def open_ones(self, session_id: str) -> list[SourceRow]:
        """Return the sources of a session that are not accepted, oldest first."""
        return [row for row in self._rows.get(session_id, {}).values() if row.accepted_by is None]

    def name_open_ones(self, session_id: str) -> str | None:
        """Return the text about them for an approval; None: there are none."""
        names = [row.source for row in self.open_ones(session_id)]
        if not names:
            return None
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more

    def open_accepted_by(self, who: str) -> None:
        """Mark sources that a client accepted as open again."""
        for rows in self._rows.values():
            rows.update({key: row._replace(accepted_by=None) for key, row in rows.items() if row.accepted_by == who})

    def drop_session(self, session_id: str) -> None:
        """Forget a session that has ended."""
        self._rows.pop(session_id, None)


def source_row(session_id: str, source: str) -> SourceRow:
    """A source that was just met."""
    return SourceRow(session_id, source, time.time_ns() // 1_000_000, None)
