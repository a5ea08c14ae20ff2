"""Distributions on `sys.path`, laid out as an installer does it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentcore.core.discovery.installed import invalidate_metadata


@dataclass(frozen=True)
class Site:
    """A folder of installed distributions.

    Attributes:
        path: It stands first on `sys.path`.
    """

    path: Path

    def write(self, files: dict[str, str]) -> None:
        """Write files below the folder."""
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)

    def install(
        self,
        distribution: str,
        entry_points: dict[str, str],
        files: dict[str, str] | None = None,
        *,
        version: str = "1.0",
        headers: str = "",
        groups: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Path:
        """Lay out a distribution, with modules and entry points of other groups; gives its .dist-info folder."""
        info = f"{distribution.replace('-', '_')}-{version}.dist-info"
        sections = {"console_scripts": {"x": "y:z"}, "agentcore.modules": entry_points, **(groups or {})}
        lines = [
            line
            for group, entries in sections.items()
            for line in ("", f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
        ]
        self.write(
            {
                f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n{headers}",
                f"{info}/entry_points.txt": "\n".join(lines),
                f"{info}/RECORD": "".join(f"{name},,\n" for name in files or {}),
                **(files or {}),
            }
        )
        invalidate_metadata()
        return self.path / info

    def uninstall(self, info: Path) -> None:
        """Remove a distribution's metadata, and what its RECORD names."""
        for line in (info / "RECORD").read_text().splitlines():
            (self.path / line.partition(",")[0]).unlink(missing_ok=True)
        for file in info.iterdir():
            file.unlink()
        info.rmdir()
        invalidate_metadata()

    def forget(self, before: set[str]) -> None:
        """Take out what was imported since."""
        for name in set(sys.modules) - before:
            del sys.modules[name]
