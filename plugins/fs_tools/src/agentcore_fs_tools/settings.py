"""Settings of the file tools."""

from typing import Annotated

from agentcore.api import Field, Module


class FsSettings(Module.Settings):
    """Settings of the file tools."""

    writable: Annotated[bool, Field(description="Whether files may be changed at all.")] = True
    # not marked harmless: without the bin, files that a model deletes are gone
    trash: Annotated[bool, Field(description="Whether file_delete moves to the bin instead of deleting.")] = False
    # not marked harmless, though a number: it limits how much may leave this machine at one time
    between_hosts_mb: Annotated[
        int, Field(ge=1, le=1_048_576, description="Largest file that copy_between_hosts carries, in MiB.")
    ] = 1024
