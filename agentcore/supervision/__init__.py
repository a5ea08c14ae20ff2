"""The processes between the server and its commands, a separate program that `agentcore.api.Supervisor` starts.

The server talks to one **spawner**, a small interpreter without threads. For each command it forks a **keeper**, which
adopts every orphan below it (PR_SET_CHILD_SUBREAPER), records the command's output, and has a socket to the server.
When the command ends, when the server requests it, or when the socket closes because the server is gone, the keeper
terminates all of its descendants, however detached. Source: prctl(2), proc(5).

It has few imports, because each is in memory once per command. The only one beyond the standard library is stringzilla,
which counts line ends three times as fast as `bytes.count`.
"""
