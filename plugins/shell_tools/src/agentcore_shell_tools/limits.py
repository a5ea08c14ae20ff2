"""One constant for each bound of the module."""

STREAM_LINES = 5_000
"""Lines that are kept of one stream of a process."""

STREAM_BYTES = 4_000_000
"""Bytes that are kept of one stream of a process."""

WHOLE_BYTES = 8 << 20
"""Bytes that are kept of a command in the foreground, for the artifact of its output."""

SCREEN_LINES = 20_000
"""Lines of all streams together that a terminal view can scroll back to."""

SCREEN_BYTES = 1_000_000
"""Bytes of all streams together that a terminal view gets when it opens."""

PROCESSES_PER_SESSION = 64
"""Background processes of one session that run at one time."""

PROCESSES = 256
"""Background processes of all sessions that run at one time."""

FINISHED_KEPT = 30
"""Finished background processes whose output can still be read."""

COMMAND_BYTES = 120_000
"""A command; Linux takes no argument of 128 KiB or more."""

TIMEOUT_MS = 120_000
"""Time limit of a foreground command, unless the call says otherwise."""

TIMEOUT_MS_MOST = 600_000
"""The longest time limit that a call may ask for."""

BLOCK_MS = 30_000
"""How long `bash_output` waits, unless the call says otherwise."""

GRACE_S = 2.0
"""Between SIGTERM and SIGKILL."""

SETTLE_S = 5.0
"""How long the last output of an ended process is waited for."""

TEXT_CHARS = 64_000
"""Output in a result's text for a program; of more, the beginning and the end, and the whole is an artifact."""

AROUND_CHARS = 1_500
"""Of what a model gets, so much is for what stands around the output: how it ended, what was cut and put aside."""

LEFT_BEHIND_SHOWN = 5
"""Of the processes that ended with their command, so many are named in the text."""

DATA_BYTES = 256_000
"""Each stream in a result's data; of more, the end."""

PUT_ASIDE_SHOWN = 50
"""Of what was quarantined, so much is in one result."""

INPUT_SECONDS = 5.0
"""How long typed input may wait for a process that does not read."""
