"""Settings of the shell tools."""

from typing import Annotated

from agentcore.api import Field, Module, SandboxMode


class ShellSettings(Module.Settings):
    """Settings of the shell tools."""

    sandbox: Annotated[
        SandboxMode,
        Field(
            description="Whether commands are confined with bubblewrap: `prefer` where it works, and elsewhere "
            "once a person has confirmed that they run without; `require` always.",
        ),
    ] = "prefer"
    network: Annotated[bool, Field(description="Whether commands in the sandbox reach the network.")] = True
    writable: Annotated[
        tuple[str, ...],
        Field(
            description="Further files and folders that commands in the sandbox may write: absolute, from the home "
            "folder (`~/…`), or relative to the first workspace root, such as `.git/config`.",
        ),
    ] = ()
    environment: Annotated[
        tuple[str, ...],
        Field(
            description="Names of environment variables that commands get beside the harmless ones.",
        ),
    ] = ()
