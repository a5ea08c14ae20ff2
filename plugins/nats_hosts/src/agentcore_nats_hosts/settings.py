"""An entry of `hosts` in app.json for a pool."""

from typing import Annotated, Literal

from pydantic import Field, Strict

from agentcore.api.host_kinds import HostGroupConfig, PathText


class PoolConfig(HostGroupConfig):
    """Many machines, which servers share over NATS."""

    kind: Annotated[
        Literal["nats"],
        Field(description="What it is: machines on which `agentcore host --pool` runs, found over NATS."),
    ]
    servers: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=500)], ...],
        Strict(False),
        Field(
            min_length=1,
            max_length=20,
            description="Servers of NATS, with JetStream: `nats://127.0.0.1:4222`; off this machine `tls://`.",
        ),
    ]
    key: Annotated[
        PathText | None,
        Field(description="A file with the seed of an NKEY by which NATS lets this server in, relative to app.json."),
    ] = None
    ca: Annotated[
        PathText | None,
        Field(description="A file with certificates that are trusted besides those of the system."),
    ] = None
