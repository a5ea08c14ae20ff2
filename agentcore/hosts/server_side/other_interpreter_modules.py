"""Modules that are installed for another interpreter than the server's: found by it, looked at here."""

import importlib.metadata
from functools import cached_property
from pathlib import Path
from typing import Any

from agentcore.core.discovery.installed import InstalledModule
from agentcore.hosts.server_side.replies import FoundModule
from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True)
class OtherInterpreterModule(InstalledModule):
    """A module that a distribution registers for another interpreter.

    Args:
        known_file: The file of its package there.
        known_package: The outermost package that is its own.
    """

    known_file: Path | None = None
    known_package: str = ""

    @classmethod
    def from_found(cls, name: str, told: FoundModule) -> "OtherInterpreterModule":
        """Create it from what another interpreter has found."""
        metadata = importlib.metadata.Distribution.at(told.metadata)
        return cls(name, told.value, metadata, Path(told.file) if told.file else None, told.package)

    @cached_property
    def file(self) -> Path | None:
        return self.known_file

    @cached_property
    def package(self) -> str:
        return self.known_package

    def load(self) -> Any:
        """It is never loaded here.

        Raises:
            ImportError: Always.
        """
        raise ImportError(f"module {self.name!r} is installed for another interpreter")
