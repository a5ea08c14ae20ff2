"""One constant for each limit of the server, and a count of how often each was hit."""

from collections import Counter
from dataclasses import field

from agentcore.late_dataclasses import dataclass

BODY_BYTES = 4 * 1024 * 1024
"""Body of one request."""

BODY_IN_THREAD_BYTES = 256 * 1024
"""Larger bodies are parsed in a thread, so that the event loop is not blocked."""

LOGIN_BODY_BYTES = 4 * 1024
"""Body of the one request that is read before a credential is checked."""

PAIRING_POLL_SECONDS = 25.0
"""Maximum time for which one request of a client waits for the user's decision on pairing."""

JSON_DEPTH = 100
"""Nesting depth of objects and lists in a body."""

JSON_PARTS = 200_000
"""Values in one body: reading and validating this many takes noticeable time."""

CONNECTIONS = 4096
"""Open connections; fewer if the process may open fewer descriptors."""

APPROVAL_CONNECTIONS = 128
"""Open connections to the approval view: a few browsers of one user."""

DESCRIPTORS_RESERVED = 256
"""Descriptors that connections leave for files, databases and child processes."""

NUMBER_MAX = 2**63 - 1
"""Largest integer that a request may contain: no column of the database holds a larger one."""

WEBSOCKET_BYTES = 1024 * 1024
"""One message of a WebSocket."""

STREAM_BUFFER_BYTES = 1024 * 1024
"""Bytes that may be buffered for one slow reader of a stream; beyond it the reader is skipped or waited for."""

UNREAD_ANSWER_BYTES = 16 * 1024 * 1024
"""Responses to one client that are buffered until it reads them; beyond it no further one is created."""

UNREAD_ANSWER_BYTES_OF_TOKEN = 64 * 1024 * 1024
"""The same for the API token, which several programs may share, and for other credentials that cannot be revoked."""

UNREAD_WAIT_SECONDS = 5.0
"""Maximum time for which a request waits until its client reads earlier responses; then it is refused."""

UNREAD_STALLED_SECONDS = 30.0
"""Delayed responses are dropped once their client has read nothing for this long."""

QUERY_FIELDS = 32
"""Fields of one query."""

STATIC_FILE_BYTES = 16 * 1024 * 1024
"""One file of the page or of a module's component."""


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits of the server in seconds.

    Args:
        headers: From the first byte of a request (or from the connection) to the end of its headers.
        body: From the end of the headers to the end of the body.
        upload: A whole file upload; `body` is the limit between its chunks.
        idle: A kept-alive connection without a request.
        linger: How long the rest of a refused body is read and discarded, so that the refusal arrives.
        module_answer: A module's route, until its response starts; longer than the longest long poll of 30 s.
        heartbeat: Between heartbeats on an event stream.
    """

    headers: float = 20.0
    body: float = 20.0
    upload: float = 900.0
    idle: float = 75.0
    linger: float = 5.0
    module_answer: float = 35.0
    heartbeat: float = 15.0


@dataclass(slots=True)
class Hits:
    """Counts how often each limit was hit since the start, by its name; shown in the metrics."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, bound: str) -> None:
        """Count one hit."""
        self.counts[bound] += 1
