"""One constant for each bound of the server, and a count of how often each was hit."""

from collections import Counter
from dataclasses import dataclass, field

BODY_BYTES = 4 * 1024 * 1024
"""Body of one request."""

BODY_IN_THREAD_BYTES = 256 * 1024
"""Larger bodies are parsed in a thread, so that the event loop goes on meanwhile."""

LOGIN_BODY_BYTES = 4 * 1024
"""Body of the one request that is read before anybody has shown a credential."""

PAIRING_POLL_SECONDS = 25.0
"""How long a client waits for a person's word in one request."""

JSON_DEPTH = 100
"""Objects and lists of a body inside one another."""

JSON_PARTS = 200_000
"""Values within one body: to read and check so many takes a noticeable time."""

CONNECTIONS = 4096
"""Connections at one time; fewer where the process may open fewer descriptors."""

APPROVAL_CONNECTIONS = 128
"""Connections to the approval view at one time: a few browsers of one person."""

DESCRIPTORS_RESERVED = 256
"""Descriptors that connections leave to files, databases and child processes."""

NUMBER_MAX = 2**63 - 1
"""The largest whole number that a request may give: no column of the database holds a larger one."""

WEBSOCKET_BYTES = 1024 * 1024
"""One message of a WebSocket."""

STREAM_BUFFER_BYTES = 1024 * 1024
"""What may wait in memory for one slow reader of a stream; beyond it the reader is skipped or waited for."""

UNREAD_ANSWER_BYTES = 16 * 1024 * 1024
"""Answers to one client that wait in memory until it reads them; beyond it no further one is made."""

UNREAD_ANSWER_BYTES_OF_TOKEN = 64 * 1024 * 1024
"""The same of the API token, which programs side by side may use, and of other credentials that are not revoked."""

UNREAD_WAIT_SECONDS = 5.0
"""How long a request waits before it is refused because its client does not read its answers."""

UNREAD_STALLED_SECONDS = 30.0
"""Answers that wait are dropped once their client has read nothing for so long."""

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
        upload: The body of a file that is sent, as a whole; `body` counts between its pieces.
        idle: A kept-alive connection without a request.
        linger: How long the rest of a refused body is read and thrown away, so that the refusal arrives.
        module_answer: A module's route, until its answer begins; above the longest long poll of 30 s.
        heartbeat: Between signs of life on an event stream.
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
    """How often each bound was hit since the start, by its name; shown in the metrics."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, bound: str) -> None:
        """Count one hit."""
        self.counts[bound] += 1
