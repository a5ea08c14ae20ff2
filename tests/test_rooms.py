"""Imports between files and folders form no cycle, and surfaces import packages by their `__init__`.

Imports for type checking count as well, because a reader follows them too.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).parents[1]

HOUSES = ("agentcore", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("plugins/*/src/*/")))

Graph = Mapping[str, set[str]]

pytestmark = pytest.mark.source_tree


@cache
def files(house: str) -> tuple[PurePath, ...]:
    """The source files of a package, as paths from the package's folder."""
    return tuple(path.relative_to(ROOT / house) for path in sorted((ROOT / house).rglob("*.py")))


@cache
def imports(house: str) -> dict[PurePath, set[PurePath]]:
    """Each file of a package, with the files of the same package that it imports, wherever in the file that stands."""
    package = PurePath(house).name
    by_name = {_dotted(package, path): path for path in files(house)}
    found = {}
    for path in files(house):
        tree = ast.parse((ROOT / house / path).read_bytes())
        found[path] = {by_name[name] for name in _imported(tree, by_name)} - {path}
    return found


def _dotted(package: str, path: PurePath) -> str:
    parts = path.with_suffix("").parts
    return ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _imported(tree: ast.AST, known: Mapping[str, PurePath]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in known:
                    yield name
                elif node.module in known:
                    yield node.module


def rooms(house: str) -> Iterator[tuple[str, Graph]]:
    """For each folder the folders in it, and the imports from what is in one of these to what is in another."""
    for folder in sorted({parent for path in files(house) for parent in path.parents}):
        graph: dict[str, set[str]] = {}
        for path, others in imports(house).items():
            if (source := _room(folder, path)) is not None:
                targets = {target for other in others if (target := _room(folder, other)) is not None}
                graph.setdefault(source, set()).update(targets - {source})
        yield (PurePath(house) / folder).as_posix(), graph


def _room(folder: PurePath, path: PurePath) -> str | None:
    if not path.is_relative_to(folder) or path.parent == folder:
        return None
    return path.relative_to(folder).parts[0]


def circles(graph: Graph) -> list[list[str]]:
    """Those nodes, in groups, from which arrows lead back to themselves."""
    reached = {node: _reached(node, graph) for node in graph}
    found = {frozenset(other for other in ways if node in reached.get(other, ())) for node, ways in reached.items()}
    return sorted(sorted(group) for group in found if group)


def _reached(start: str, graph: Graph) -> set[str]:
    seen: set[str] = set()
    left = [start]
    while left:
        new = graph.get(left.pop(), set()) - seen
        seen |= new
        left.extend(new)
    return seen


@pytest.mark.parametrize("house", HOUSES)
@pytest.mark.slow
def test_no_files_import_each_other_in_a_circle(house):
    graph = {path.as_posix(): {other.as_posix() for other in others} for path, others in imports(house).items()}
    assert circles(graph) == []


@pytest.mark.parametrize("house", HOUSES)
@pytest.mark.slow
def test_no_rooms_that_lie_side_by_side_import_each_other_in_a_circle(house):
    assert [(folder, found) for folder, graph in rooms(house) if (found := circles(graph))] == []


def test_a_circle_is_found_wherever_the_import_stands():
    """The reader sees imports for types, those inside of functions, and both spellings."""
    known = {name: PurePath(name) for name in ("house", "house.a", "house.b", "house.c")}
    code = "if TYPE_CHECKING:\n    from house.a import A\ndef late():\n    from house import b\n    import house.c\n"
    assert sorted(_imported(ast.parse(code), known)) == ["house.a", "house.b", "house.c"]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"a"}}) == [["a", "b", "c"]]


COLLECTING = (
    "agentcore.api",
    "agentcore.api.host_kinds",
    "agentcore.cli",
    "agentcore.supervision.control_files",
    "agentcore.testing",
)
"""Packages from which names of their files are imported: the public API, its parts, and the command's own function."""


def test_names_are_imported_from_the_files_that_define_them():
    packages = [path for path in files("agentcore") if path.name == "__init__.py"]
    collected = [
        name for path in packages if (name := _dotted("agentcore", path)) not in COLLECTING and _collects(path)
    ]
    assert collected == []


def _collects(path: PurePath) -> bool:
    """True if a package imports names of its files; the tables of routes are added up from those of their files."""
    package = f"{_dotted('agentcore', path)}."
    imported = [
        node for node in ast.parse((ROOT / "agentcore" / path).read_bytes()).body if isinstance(node, ast.ImportFrom)
    ]
    return any(
        (node.module or "").startswith(package) and any(alias.name != "ROUTES" for alias in node.names)
        for node in imported
    )


@pytest.mark.parametrize("house", HOUSES)
@pytest.mark.slow
def test_each_file_is_used_by_another_one(house):
    """A file that nothing names is what a merge brought back after its code had moved."""
    package = PurePath(house).name
    used = set().union(*imports(house).values())
    named = _text_that_names_modules()
    unused = [
        path
        for path in files(house)
        if path not in used and not path.name.startswith("__") and not _is_named(_dotted(package, path), named)
    ]
    assert unused == []


def _is_named(dotted: str, text: str) -> bool:
    """Return True if a text has the module's full name, or its last part in quotes, as tables of modules do."""
    return dotted in text or f'"{dotted.rpartition(".")[2]}"' in text


@cache
def _text_that_names_modules() -> str:
    folders = ("agentcore", "plugins", "benchmarks", "scripts", "examples")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts]
    tables = (*ROOT.glob("*.toml"), *ROOT.glob("plugins/*/pyproject.toml"))
    return "\n".join(path.read_text() for path in (*sources, *tables))
