"""Print the folders of plugins/, all of them or those whose modules an app.json lists, one a line.

Usage: plugin_folders.py [APP_JSON]

A folder's modules are the names of its entry points, for one distribution may bring several. Runs with the system's
Python, before anything is installed.
"""

import json
import sys
import tomllib
from pathlib import Path

ENTRY_POINTS = "agentcore.modules"
PLUGINS = Path("plugins")


def modules_of(folder: Path) -> frozenset[str]:
    """The names of the modules that a plugin's distribution brings."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return frozenset(project.get("entry-points", {}).get(ENTRY_POINTS, {}))


def main(arguments: list[str]) -> None:
    """Print the folders."""
    folders = sorted(path.parent for path in PLUGINS.glob("*/pyproject.toml"))
    if arguments:
        listed = set(json.loads(Path(arguments[0]).read_text(encoding="utf-8")).get("modules", []))
        folders = [folder for folder in folders if modules_of(folder) & listed]
    for folder in folders:
        sys.stdout.write(f"{folder}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
