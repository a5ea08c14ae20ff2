"""Which folders of the page may import which; imports form no cycle."""

import posixpath
import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.source_tree

PAGE = Path(__file__).resolve().parents[2] / "webui"

BELOW = ("vendor", "schema", "base", "client", "ui", "form")
"""Each imports those before it."""
FEATURES: dict[str, set[str]] = {
    "results": set(),
    "models": set(),
    "queue": set(),
    "questions": set(),
    "requirements": set(),
    "settings": {"approval", "models"},
    "tools": {"results"},
    "approval": {"questions", "tools"},
    "activity": {"chat", "tools"},
    "clients": set(),
    "skills": set(),
    "views": {"approval"},
    "chat": {"approval", "models", "questions", "queue", "results", "tools", "views"},
    "modules": {"requirements", "settings", "tools"},
    "hosts": {"approval"},
    "tabs": {"modules"},
    "module-pages": {"tabs"},
}
"""Each imports the rooms below, and of other features those that stand here."""
SHELL = "shell"
"""Imports all of them; only what begins the page, in the folder itself, imports it."""

# imports, dynamic imports, and those of types in comments
_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*['"](\.\.?/[^'"]+)['"]""")
_STATIC_IMPORT = re.compile(r"""^(?:import|export)\s(?:[^;']*?from\s*)?'(\.\.?/[^']+)'""", re.MULTILINE)
# those that run, not those of types in comments
_LOADED = re.compile(r"""^(?!.*[{<|]import\().*\bimport\('(\.\.?/[^']+)'\)""", re.MULTILINE)
FIRST_TEXTS = "base/all-strings.js"
LATER_TEXTS = "base/later-strings.js"
CHINESE_TEXTS = "base/all-strings.zh.js"


def scripts() -> list[Path]:
    return [path for path in PAGE.rglob("*.js") if "vendor" not in path.relative_to(PAGE).parts]


def imports() -> dict[str, set[str]]:
    """Each script of the page, as a path below its folder, with those that it imports."""
    graph = {}
    for path in scripts():
        name = path.relative_to(PAGE).as_posix()
        found = _IMPORT.findall(path.read_text(encoding="utf-8"))
        graph[name] = resolve(name, found)
    return graph


def resolve(script: str, targets: list[str]) -> set[str]:
    """The paths of scripts that a script names relative to itself."""
    return {posixpath.normpath(posixpath.join(posixpath.dirname(script), target)) for target in targets}


def room(script: str) -> str:
    """The first folder of a path; empty: the page's own folder."""
    return script.split("/", 1)[0] if "/" in script else ""


def is_text(script: str) -> bool:
    return script.endswith(("/strings.js", "/strings.zh.js"))


def allowed(importer: str) -> set[str]:
    if importer in BELOW:
        return set(BELOW[: BELOW.index(importer)])
    if importer in FEATURES:
        return {*BELOW, *FEATURES[importer]}
    return {*BELOW, *FEATURES, SHELL}


def between_rooms() -> dict[str, dict[str, str]]:
    """For each room those that it imports, with one import as an example; texts are apart."""
    found: dict[str, dict[str, str]] = {}
    for script, targets in imports().items():
        for target in targets:
            if room(target) != room(script) and not is_text(target):
                found.setdefault(room(script), {})[room(target)] = f"{script} imports {target}"
    return found


def test_each_script_that_is_imported_is_there():
    graph = imports()
    assert len(graph) > 150
    missing = [f"{script}: {target}" for script, targets in graph.items() for target in targets if not is_there(target)]
    assert missing == []


def is_there(script: str) -> bool:
    return (PAGE / script).is_file()


def test_no_script_imports_itself_by_way_of_others():
    TopologicalSorter(imports()).prepare()  # says which in its error


def test_rooms_import_only_what_lies_below_them():
    wrong = [
        example
        for importer, targets in between_rooms().items()
        for target, example in targets.items()
        if target not in allowed(importer)
    ]
    assert wrong == []


def test_features_import_each_other_as_it_is_written_here():
    found = between_rooms()
    features = {name: {target for target in found.get(name, {}) if target in FEATURES} for name in FEATURES}
    assert features == FEATURES
    TopologicalSorter(FEATURES).prepare()


def test_no_folder_imports_itself_by_way_of_others():
    folders: dict[str, set[str]] = {}
    for script, targets in imports().items():
        beside = {posixpath.dirname(target) for target in targets if not is_text(target)}
        folders.setdefault(posixpath.dirname(script), set()).update(beside - {posixpath.dirname(script)})
    TopologicalSorter(folders).prepare()


def test_texts_of_each_language_are_joined_in_one_place_and_english_ones_of_later_views_in_another():
    graph = imports()
    importers = {script for script, targets in graph.items() if any(map(is_text, targets))}
    assert importers == {FIRST_TEXTS, LATER_TEXTS, CHINESE_TEXTS}
    texts = {script for script in graph if is_text(script)}
    assert texts <= graph[FIRST_TEXTS] | graph[LATER_TEXTS] | graph[CHINESE_TEXTS]
    assert {script: graph[script] for script in texts if graph[script]} == {}


def test_texts_come_with_the_scripts_that_show_them():
    """A script that is loaded with `import()` imports the later texts if it, or what it imports, shows one of them."""
    later = {room(script) for script in imports()[LATER_TEXTS] if is_text(script)}
    shows = re.compile(rf"""\bt\(\s*['`](?:{"|".join(sorted(later))})\.""")
    texts = {script.relative_to(PAGE).as_posix(): script.read_text(encoding="utf-8") for script in scripts()}
    showing = {name for name, text in texts.items() if shows.search(text)}
    assert {room(name) for name in showing} >= later - {"form"}
    graph = {name: resolve(name, _STATIC_IMPORT.findall(text)) for name, text in texts.items()}
    entries = set().union(*(resolve(name, _LOADED.findall(text)) for name, text in texts.items()))
    assert "settings/ac-view-settings.js" in entries
    reached = {entry: reach(entry, graph) for entry in {"app.js", "approval/approval.js", *entries}}
    wrong = {entry: found & showing for entry, found in reached.items() if found & showing and LATER_TEXTS not in found}
    assert wrong == {}
    assert LATER_TEXTS not in reached["app.js"]
    assert LATER_TEXTS not in reached["chat/ac-view-chats.js"]


def reach(script: str, graph: dict[str, set[str]]) -> set[str]:
    """A script and all that it imports, by way of others too."""
    found: set[str] = set()
    waiting = [script]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += graph.get(name, ())
    return found


def test_addresses_that_scripts_of_modules_import_stay():
    own = {script for script in imports() if room(script) == ""}
    assert own == {"app.js", "client.js", "session.js"}
    assert "agentcore/styles.js" in (PAGE / "index.html").read_text(encoding="utf-8")


def test_a_room_has_no_two_files_of_one_name():
    names = Counter((room(script), posixpath.basename(script)) for script in imports())
    assert {name: count for name, count in names.items() if count > 1} == {}
