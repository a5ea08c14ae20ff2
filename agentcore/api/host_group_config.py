"""An entry of `hosts` in app.json whose kind a distribution adds."""

from typing import Annotated

from pydantic import Field, Strict

from agentcore.api.config_model import ConfigModel, ModuleNames

KEEP_MINUTES = 30.0
"""How long resources of a host are kept without a server, unless app.json sets another value."""

HOST_NAME = r"^[a-z][a-z0-9_-]{0,39}$"
"""Pattern of a host's name."""

LABEL = r"^[a-z0-9][a-z0-9-]{0,29}$"
"""Pattern of a label of a host in a pool."""

LABELS = 4
"""Maximum number of labels of a host."""

KeepMinutes = Annotated[float, Field(gt=0, le=10_080)]


class HostGroupConfig(ConfigModel):
    """The part of an entry that all added kinds have; a kind's own model extends it.

    Its fields are strict, and unknown keys are errors. The model has a field `kind`, a `Literal` with the kind's name.
    """

    kind: str
    modules: Annotated[
        ModuleNames,
        Field(
            min_length=1, description="Modules whose tools are those of these machines; no others of theirs are used."
        ),
    ]
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
