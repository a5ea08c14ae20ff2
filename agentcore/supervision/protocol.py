"""The protocol between the server and its supervising processes.

A request to the spawner is a length and JSON: `argv`, `env`, `terminal` (true if stdin becomes the controlling
terminal), `own_keyring`, `ends_with_command` (true if processes that the command leaves running are terminated soon
after it; after a signal they always are), `record` (for each recorded stream, the numbers of its tracks) and `tracks`
(the size of each track in bytes). Descriptors are sent with it: the keeper's socket, working folder, stdin, stdout,
stderr, and for a recording the memory and each stream.

The server sends orders to the keeper, one JSON object per line: `{"signal": number}`, `{"end": grace_s}`,
`{"tell_beyond": bytes}`. The keeper reports `started`, `failed`, `exited`, `ended`, `left` (process ids and command
lines of the processes that the command left running and that are now terminated) and `wrote` (more bytes than
`tell_beyond` have been recorded). It closes the socket when no process is left and everything is recorded.
"""

import struct

HEADER = struct.Struct("!I")
"""The header of each request to the spawner: the length of its JSON."""

DESCRIPTORS = 16
"""Maximum number of descriptors sent with a request."""
