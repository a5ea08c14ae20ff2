"""Which folders of the extension may import which; imports form no cycle."""

import posixpath
import re
from graphlib import TopologicalSorter

import pytest

from scripts.extension import ROOT

pytestmark = pytest.mark.source_tree

EXTENSION = ROOT / "extension"
ROOMS: dict[str, set[str]] = {
    "page": set(),
    "tab": set(),
    "worker": {"tab"},
    "panel": {"tab", "worker", "webui"},
}
"""Each imports those beside it. The worker has no document, and so nothing of the page's."""

_IMPORT = re.compile(r"""^(?:import|export)\b[^'"=]*?['"](\.\.?/[^'"]+)['"]""", re.MULTILINE)
_DYNAMIC = re.compile(r"""\bimport\(['"](\.\.?/[^'"]+)['"]\)(?!\.)""")


def imports() -> dict[str, set[str]]:
    """Each script as a path in the extension that is made, with those that it imports."""
    graph = {}
    for path in EXTENSION.rglob("*.js"):
        name = path.relative_to(EXTENSION).as_posix().removeprefix("panel/webui/")
        where = name if name == path.relative_to(EXTENSION).as_posix() else f"webui/{name}"
        source = path.read_text("utf-8")
        targets = [*_IMPORT.findall(source), *_DYNAMIC.findall(source)]
        graph[where] = {posixpath.normpath(posixpath.join(posixpath.dirname(where), target)) for target in targets}
    return graph


def test_rooms_import_what_is_written_here_and_no_script_itself_by_way_of_others():
    graph = {name: targets for name, targets in imports().items() if not name.startswith("webui/")}
    rooms = {name: name.split("/")[0] for name in graph}
    assert set(rooms.values()) == set(ROOMS)
    wrong = [
        f"{name} imports {target}"
        for name, targets in graph.items()
        for target in targets
        if (room := target.split("/")[0]) != rooms[name] and room not in ROOMS[rooms[name]]
    ]
    assert wrong == []
    TopologicalSorter(graph).prepare()  # says which in its error
