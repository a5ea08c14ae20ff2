"""Kinds of hosts that a distribution adds: other ways to find machines and to reach them, such as NATS.

A host runs modules outside the server. agentcore itself has processes of this machine (`process`) and machines that
dial in (`remote`). Another kind is an object of an installed distribution, registered in the entry-point group
`agentcore.host_kinds` under the name that `kind` has in app.json:

    [project.entry-points."agentcore.host_kinds"]
    ssh = "agentcore_ssh_hosts.kind:SshHosts"

The object implements `HostKind`, itself or as a class without arguments. It provides

- the model of an entry of `hosts` in app.json (`HostGroupConfig`);
- at the server, a `HostSource` for each such entry: it finds hosts, opens connections to them, and selects the host for
  new work. It reports to a `HostGroup`, and serves each host through a `GroupHost`;
- on the machine of a host, a `HostProgram`: it makes the machine available to servers, with a `HostWorker` for each;
- optionally, options of `agentcore host` and commands of `agentcore hosts`.

A connection carries frames between two `FramePeer`s, in order and without loss: `FrameQueue` is the sending half of it.
The frames themselves, their limits and what they mean are agentcore's.

A host of an added kind is a foreign machine: it provides the tools of the modules that its entry lists and of no
others; the user reviews their definitions before they are used; and it may use chats only if the entry allows it. A
kind cannot extend these rights.

The module that an entry point names is imported whenever app.json has such a host, also by commands that open none:
import heavy dependencies in `open_group` and `join`.
"""

from agentcore.api.host_group_config import (
    HOST_NAME,
    KEEP_MINUTES,
    LABEL,
    LABELS,
    HostGroupConfig,
    KeepMinutes,
)
from agentcore.api.host_kinds.frames import (
    PIECE_BYTES,
    PIECE_HEADER_BYTES,
    PROTOCOL,
    TEXT_BYTES,
    Carrier,
    FramePeer,
    HostKindError,
    LinkError,
    MakePeer,
    Transport,
)
from agentcore.api.host_kinds.host_side import HostMachine, HostProgram, HostWorker, MakeProgram
from agentcore.api.host_kinds.kind import HostKind
from agentcore.api.host_kinds.outgoing import FrameQueue
from agentcore.api.host_kinds.server_side import (
    GroupHost,
    HostAnnouncement,
    HostDriver,
    HostGroup,
    HostSource,
    ResourceLeases,
    SharedStorage,
)
from agentcore.files.path_text import PathText
from agentcore.net.loopback import is_loopback_name

__all__ = [
    "HOST_NAME",
    "KEEP_MINUTES",
    "LABEL",
    "LABELS",
    "PIECE_BYTES",
    "PIECE_HEADER_BYTES",
    "PROTOCOL",
    "TEXT_BYTES",
    "Carrier",
    "FramePeer",
    "FrameQueue",
    "GroupHost",
    "HostAnnouncement",
    "HostDriver",
    "HostGroup",
    "HostGroupConfig",
    "HostKind",
    "HostKindError",
    "HostMachine",
    "HostProgram",
    "HostSource",
    "HostWorker",
    "KeepMinutes",
    "LinkError",
    "MakePeer",
    "MakeProgram",
    "PathText",
    "ResourceLeases",
    "SharedStorage",
    "Transport",
    "is_loopback_name",
]
