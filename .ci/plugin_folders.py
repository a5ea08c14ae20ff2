"""Print the folders of plugins/, all of them or those whose modules an app.json lists, one a line.

Usage: plugin_folders.py [APP_JSON]

A folder's modules are the names of its entry points, for one distribution may bring several, and those that begin as
its family's do. Runs with the system's
Python, before anything is installed.
"""

import json
import sys
import tomllib
from pathlib import Path

ENTRY_POINTS = "agentcore.modules"
FAMILIES = "agentcore.module_families"
PLUGINS = Path("plugins")


def brings(folder: Path, listed: frozenset[str]) -> bool:
    """Whether one of the modules is of a plugin's distribution."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project.get("entry-points", {})
    prefixes = tuple(f"{family}_" for family in groups.get(FAMILIES, {}))
    return any(name in groups.get(ENTRY_POINTS, {}) or name.startswith(prefixes) for name in listed)


def main(arguments: list[str]) -> None:
    """Print the folders."""
    folders = sorted(path.parent for path in PLUGINS.glob("*/pyproject.toml"))
    if arguments:
        listed = frozenset(json.loads(Path(arguments[0]).read_text(encoding="utf-8")).get("modules", []))
        folders = [folder for folder in folders if brings(folder, listed)]
    for folder in folders:
        sys.stdout.write(f"{folder}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
