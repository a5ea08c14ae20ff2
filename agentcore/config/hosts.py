"""Hosts, which run modules outside the server: the key `hosts` of app.json."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, Strict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from agentcore.config.base import ConfigModel, ModuleNames
from agentcore.files.path_text import PathText

KEEP_MINUTES = 30.0
"""How long resources of a host are kept without a server, unless app.json sets another value."""

HOST_NAME = r"^[a-z][a-z0-9_-]{0,39}$"
"""Pattern of a host's name."""

LABEL = r"^[a-z0-9][a-z0-9-]{0,29}$"
"""Pattern of a label of a host in a pool."""

LABELS = 4
"""Maximum number of labels of a host."""

KeepMinutes = Annotated[float, Field(gt=0, le=10_080)]
ResourceType = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]


class ProcessHostConfig(ConfigModel):
    """A process of its own on this machine."""

    kind: Annotated[Literal["process"], Field(description="What it is: a process of its own on this machine.")]
    modules: Annotated[ModuleNames, Field(min_length=1, description="The modules that run in it.")]
    python: Annotated[
        PathText | None,
        Field(
            description="Another interpreter, such as that of a virtual environment with `agentcore-runtime`: a path, "
            "relative to app.json's folder, or a program's name."
        ),
    ] = None
    memory_mb: Annotated[
        int | None,
        Field(ge=64, le=1 << 20, description="What it may hold in memory, in MiB; beyond that it is ended."),
    ] = None

    survives_restart: Annotated[
        bool, Field(description="Whether it goes on when the server ends, for the next one to find it as it was.")
    ] = False
    keep_minutes: Annotated[
        float, Field(gt=0, le=10_080, description="How long such a one waits for the next server before it ends.")
    ] = 30

    @property
    def claimed(self) -> tuple[str, ...]:
        """The modules that run only in this host."""
        return self.modules

    def find_interpreter(self, folder: Path) -> str:
        """Return the program that runs this host.

        Args:
            folder: The folder of app.json.
        """
        if self.python is None:
            return sys.executable
        if "/" in self.python or self.python.startswith("~"):
            return str(folder / Path(self.python).expanduser())
        return shutil.which(self.python) or self.python


class _OtherMachines(ConfigModel):
    """Machines whose programs go on without this server, with modules of their own app.json."""

    @property
    def claimed(self) -> tuple[str, ...]:
        """Empty: modules on these machines may run in the server as well."""
        return ()

    @property
    def survives_restart(self) -> bool:
        """Always True."""
        return True


class RemoteHostConfig(_OtherMachines):
    """Another machine, which dials in."""

    kind: Annotated[
        Literal["remote"], Field(description="What it is: another machine, on which `agentcore host` runs.")
    ]
    keep_minutes: Annotated[
        KeepMinutes | dict[ResourceType, KeepMinutes],
        Field(
            description="How long what lives there is kept while the connection is lost: one number of minutes, or one "
            "for each type of resource, such as `terminal`."
        ),
    ] = KEEP_MINUTES

    def minutes_by_type(self) -> dict[str, float]:
        """Return how long resources are kept, in minutes, by resource type; the empty name is for all others."""
        given = self.keep_minutes
        return {"": KEEP_MINUTES, **given} if isinstance(given, dict) else {"": given}


class PoolConfig(_OtherMachines):
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
    modules: Annotated[
        ModuleNames,
        Field(
            min_length=1, description="Modules whose tools are those of these machines; no others of theirs are used."
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
    labels: Annotated[
        tuple[Annotated[str, Field(pattern=LABEL)], ...],
        Strict(False),
        Field(max_length=LABELS, description="Only machines with all of these labels are used, such as `gpu` or `eu`."),
    ] = ()
    keep_minutes: Annotated[
        KeepMinutes,
        Field(
            description="How long a machine keeps what lives there for this server while that is away, and how long "
            "what lives there stays this server's own."
        ),
    ] = KEEP_MINUTES
    chats: Annotated[
        bool,
        Field(
            description="Whether these machines may use chats: read the conversation, replace its summary and to-do "
            "list, have its model write, and run sub-agents."
        ),
    ] = False


HostConfig = Annotated[ProcessHostConfig | RemoteHostConfig | PoolConfig, Field(discriminator="kind")]
"""Configuration of a host of any kind."""


def check_claims(hosts: Mapping[str, HostConfig]) -> None:
    """Check that each module runs in one host only.

    Raises:
        ValidationError: Two hosts claim a module, or one host claims it twice.
    """
    if faults := list(_second_claims(hosts)):
        raise ValidationError.from_exception_data("hosts", faults)


def _second_claims(hosts: Mapping[str, HostConfig]) -> Iterator[InitErrorDetails]:
    first: dict[str, str] = {}
    for name, host in hosts.items():
        for number, module in enumerate(host.claimed):
            other = first.setdefault(module, name)
            is_first = other == name and module not in host.claimed[:number]
            if not is_first:
                said = f"module {module!r} runs in one host only, and is claimed by {other!r} and {name!r}"
                told = said if other != name else f"{module!r} listed more than once"
                where = (name, "modules", number)
                yield InitErrorDetails(type=PydanticCustomError("claimed_twice", told), loc=where, input=module)
