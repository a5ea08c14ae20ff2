"""The names of a pool on its NATS servers: subjects, and buckets of its JetStream."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

SIGN_SECONDS = 0.5
"""How often hosts and servers announce themselves."""

QUEUE = "members"
"""The queue group of hosts with free capacity."""


@dataclass(frozen=True)
class Subjects:
    """The subject names of one pool.

    Subjects that a host may publish contain its name at a fixed position, so that the permissions of its key can
    restrict it.

    Args:
        pool: The name of the pool.
    """

    pool: str

    def alive_subject(self, member: str = "*") -> str:
        """The subject where a host announces itself and its free capacity."""
        return f"agentcore.{self.pool}.alive.{member}"

    def server_subject(self, server: str = "*") -> str:
        """The subject where a server announces itself."""
        return f"agentcore.{self.pool}.server.{server}"

    def open_link_subject(self, member: str) -> str:
        """The subject where a server requests a link to a host."""
        return f"agentcore.{self.pool}.open.{member}"

    def drain_subject(self, member: str) -> str:
        """The subject where a server drains a host for the user."""
        return f"agentcore.{self.pool}.drain.{member}"

    def up_subject(self, member: str, server: str, link: str) -> str:
        """The subject of messages from a host over a link, or of its replies to requests for all hosts."""
        return f"agentcore.{self.pool}.up.{member}.{server}.{link}"

    def speaker(self, up: str) -> str:
        """Return the host that publishes at a subject of `up`."""
        return up.removeprefix(f"agentcore.{self.pool}.up.").partition(".")[0]

    def down_subject(self, member: str, server: str, link: str) -> str:
        """The subject of messages from a server over a link."""
        return f"agentcore.{self.pool}.down.{member}.{server}.{link}"

    def placement_subject(self, labels: Sequence[str]) -> str:
        """The subject where a server looks for a host with these labels that accepts new work."""
        return f"agentcore.{self.pool}.place.{'_'.join(sorted(labels)) or 'any'}"

    def placement_subjects(self, labels: Sequence[str]) -> list[str]:
        """All of these subjects where a host with these labels replies."""
        sets = [chosen for size in range(len(labels) + 1) for chosen in combinations(sorted(labels), size)]
        return [self.placement_subject(chosen) for chosen in sets]

    def inbox_prefix(self, member: str = "") -> str:
        """The prefix of the subjects for replies to a host, or (empty) to servers."""
        return f"_INBOX_{self.pool}_host_{member}" if member else f"_INBOX_{self.pool}_server"

    @property
    def leases_bucket(self) -> str:
        """The bucket with the owners of resources."""
        return f"agentcore_{self.pool}_leases"

    @property
    def storage_bucket(self) -> str:
        """The object store with the data of modules, which other hosts of the server can read."""
        return f"agentcore_{self.pool}_kept"
