"""The limits of the module."""

STREAM_LINES = 5_000
"""Recorded lines of one stream of a process."""

STREAM_BYTES = 4_000_000
"""Recorded bytes of one stream of a process."""

WHOLE_BYTES = 8 << 20
"""Recorded bytes of a foreground command, for the artifact of its output."""

SCREEN_LINES = 20_000
"""Lines of all streams together that a terminal view can scroll back to."""

SCREEN_BYTES = 1_000_000
"""Bytes of all streams together that are sent to a terminal view when it opens."""

PROCESSES_PER_SESSION = 64
"""Maximum number of running background processes of one session."""

PROCESSES = 256
"""Maximum number of running background processes of all sessions."""

FINISHED_KEPT = 30
"""Number of finished background processes whose output stays readable."""

COMMAND_BYTES = 120_000
"""Maximum length of a command; Linux does not accept an argument of 128 KiB or more."""

TIMEOUT_MS = 120_000
"""Default time limit of a foreground command."""

TIMEOUT_MS_MOST = 600_000
"""Maximum time limit that a call may request."""

BLOCK_MS = 30_000
"""Default time limit for the waiting of `bash_output`."""

GRACE_S = 2.0
"""Time between SIGTERM and SIGKILL."""

SETTLE_S = 5.0
"""Time limit for the last output of an ended process."""

TEXT_CHARS = 64_000
"""Maximum output in the text of a result for a program; of more, start and end are shown and all is an artifact."""

AROUND_CHARS = 1_500
"""Part of a model's limit reserved for text around the output: how it ended, what was cut and quarantined."""

AROUND_SHARE = 3
"""At most one part in so many of a model's limit is reserved for that."""

LEFT_BEHIND_SHOWN = 5
"""Number of processes named in the text of those that a command left running."""

DATA_BYTES = 256_000
"""Maximum size of each stream in the data of a result; of more, the end is returned."""

PUT_ASIDE_SHOWN = 50
"""Maximum number of quarantined files in one result."""

SERVICE_LOOK_S = 0.5
"""Time between two looks at the listening sockets while commands run in the background."""

SERVICES_PER_PROCESS = 16
"""Maximum number of ports of one command that are resources."""

INPUT_SECONDS = 5.0
"""Time limit for typed input if a process does not read it."""
