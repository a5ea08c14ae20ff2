"""The processes between the server and its commands: a program of its own, which `agentcore.api.Supervisor` starts.

The server talks to one **spawner**, a small interpreter without threads. For each command it forks a **keeper**, which
adopts every orphan below it (PR_SET_CHILD_SUBREAPER), keeps what the command writes, and holds a socket to the server.
When the command ends, when the server says so, or when the socket closes because the server is gone, the keeper ends
everything below itself, however detached. Source: prctl(2), proc(5).

Little is imported: what is, is in memory once for each command. Beyond the standard library it is stringzilla, which
counts line ends three times as fast as `bytes.count`.
"""
