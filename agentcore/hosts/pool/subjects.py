"""The names of a pool on its NATS servers: subjects, and buckets of its JetStream."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

QUEUE = "members"
"""The queue group in which hosts with room wait for something new."""


@dataclass(frozen=True)
class Subjects:
    """The names of one pool.

    What a host may publish has its name at a fixed place, so that the permissions of its key can hold it to that.

    Args:
        pool: What the pool is called.
    """

    pool: str

    def alive_subject(self, member: str = "*") -> str:
        """Where a host says, again and again, that it is there and how much room it has."""
        return f"agentcore.{self.pool}.alive.{member}"

    def server_subject(self, server: str = "*") -> str:
        """Where a server says that it is there."""
        return f"agentcore.{self.pool}.server.{server}"

    def open_link_subject(self, member: str) -> str:
        """Where a server asks a host for a link."""
        return f"agentcore.{self.pool}.open.{member}"

    def drain_subject(self, member: str) -> str:
        """Where a person has a host take nothing new."""
        return f"agentcore.{self.pool}.drain.{member}"

    def up_subject(self, member: str, server: str, link: str) -> str:
        """What a host says over a link, or to a question that a server has asked all hosts."""
        return f"agentcore.{self.pool}.up.{member}.{server}.{link}"

    def speaker(self, up: str) -> str:
        """The host that speaks at a subject of `up`."""
        return up.removeprefix(f"agentcore.{self.pool}.up.").partition(".")[0]

    def down_subject(self, member: str, server: str, link: str) -> str:
        """What a server says over a link."""
        return f"agentcore.{self.pool}.down.{member}.{server}.{link}"

    def placement_subject(self, labels: Sequence[str]) -> str:
        """Where a server asks which host with these labels takes something new."""
        return f"agentcore.{self.pool}.place.{'_'.join(sorted(labels)) or 'any'}"

    def placement_subjects(self, labels: Sequence[str]) -> list[str]:
        """All of these where a host with these labels answers."""
        sets = [chosen for size in range(len(labels) + 1) for chosen in combinations(sorted(labels), size)]
        return [self.placement_subject(chosen) for chosen in sets]

    def inbox_prefix(self, member: str = "") -> str:
        """What stands before the subjects where answers come to a host, or (empty) to servers."""
        return f"_INBOX_{self.pool}_host_{member}" if member else f"_INBOX_{self.pool}_server"

    @property
    def leases_bucket(self) -> str:
        """The bucket that says who owns what."""
        return f"agentcore_{self.pool}_leases"

    @property
    def storage_bucket(self) -> str:
        """The object store with what modules store, for others of its hosts to find."""
        return f"agentcore_{self.pool}_kept"
