"""Settings of the agent tools."""

from typing import Annotated

from agentcore.api import Field, Module


class AgentSettings(Module.Settings):
    """Settings of the agent's tools."""

    # Not marked as harmless, although they are numbers: they limit what a model may spend.
    task_steps: Annotated[
        int, Field(ge=1, le=1000, description="Requests to the model that a sub-agent may make."),
    ] = 50  # fmt: skip
    task_tokens: Annotated[
        int, Field(ge=1000, le=1_000_000_000, description="Tokens that a sub-agent may use."),
    ] = 500_000  # fmt: skip
