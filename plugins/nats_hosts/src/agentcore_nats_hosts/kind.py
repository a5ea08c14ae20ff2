"""The kind `nats` of hosts: pools, as the entry point of this distribution registers them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentcore.api.host_kinds import HostGroup, HostKindError, HostMachine, HostProgram, HostSource, MakeProgram
from agentcore_nats_hosts.settings import PoolConfig

if TYPE_CHECKING:
    import click


class NatsHosts:
    """Pools of hosts that servers share over NATS; implements `HostKind`."""

    config = PoolConfig

    def open_group(self, config: PoolConfig, group: HostGroup) -> HostSource:
        from agentcore_nats_hosts.pool import Pool  # noqa: PLC0415 - servers with a pool need it, other commands do not

        return Pool(config, group)

    def host_options(self) -> "Sequence[click.Option]":
        from agentcore_nats_hosts.commands import OPTIONS  # noqa: PLC0415 - only the command line has click

        return OPTIONS

    def host_commands(self) -> "Mapping[str, click.Command]":
        from agentcore_nats_hosts.commands import key  # noqa: PLC0415 - as above

        return {"key": key}

    def join(self, options: Mapping[str, Any], *, server: str, name: str, ca: Path | None) -> MakeProgram | None:
        if options["pool"] is None:
            if options["key"] is not None or options["labels"]:
                raise HostKindError("--key and --label are of a pool: name it with --pool")
            return None
        from agentcore_nats_hosts.connection import NatsServers  # noqa: PLC0415 - as above
        from agentcore_nats_hosts.pool_host import Membership, PoolHost  # noqa: PLC0415 - as above

        servers = NatsServers(tuple(server.split(",")), options["key"], ca)
        membership = Membership.from_options(options["pool"], name, servers, options["capacity"], options["labels"])

        def make_program(machine: HostMachine) -> HostProgram:
            return PoolHost(membership, machine)

        return make_program
