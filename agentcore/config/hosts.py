"""Where modules run that do not run in the server: the key `hosts` of app.json."""

from typing import Annotated, Literal

from pydantic import Field

from agentcore.config.base import ConfigModel, ModuleNames
from agentcore.files.path_text import PathText


class ProcessHostConfig(ConfigModel):
    """A process of its own on this machine."""

    kind: Literal["process"]
    modules: Annotated[ModuleNames, Field(min_length=1, description="The modules that run in it.")]
    python: Annotated[
        PathText | None,
        Field(description="Another interpreter, such as that of a virtual environment with `agentcore-runtime`."),
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
        """The modules that run there and nowhere else."""
        return self.modules


HostConfig = ProcessHostConfig
"""One of the places where modules can run."""
