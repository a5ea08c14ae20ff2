"""What the server and its supervising processes say to each other.

A request to the spawner is a length and JSON: `argv`, `env`, `terminal` (whether stdin becomes the controlling one),
`own_keyring`, `ends_with_command` (whether what the command leaves running is ended soon after it; after a signal it
always is);
`record`: for each stream that is recorded, the numbers of its tracks; `tracks`: the bytes of each track. With it come
the descriptors: the keeper's socket, working folder, stdin, stdout, stderr, and where something is recorded the memory
and each stream.

The server orders, one JSON a line: `{"signal": number}`, `{"end": grace_s}`, `{"tell_beyond": bytes}`. The keeper
tells `started`, `failed`, `exited`, `ended`, `left` (the process ids and command lines of what the command has left
running and what is ended now) and `wrote`: more than the bytes that were named have been
recorded. It closes the socket when nothing is left and everything is recorded.
"""

import struct

HEADER = struct.Struct("!I")
"""In front of each request to the spawner: the length of its JSON."""

DESCRIPTORS = 16
"""Descriptors that come with a request, at most."""
