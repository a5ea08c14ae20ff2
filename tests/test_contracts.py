"""What the documents and the public API promise, held against the code."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import agentcore.api

ROOT = Path(__file__).parent.parent
_MARK = re.compile(r"mark\.spec\(([^)]*)\)")
_ROW = re.compile(r"^\| ([A-Z][0-9]+) \|", re.MULTILINE)


def used_ids() -> set[str]:
    tests = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("plugins/*/tests/**/*.py")]
    marks = [mark for file in tests for mark in _MARK.findall(file.read_text())]
    return {spec_id for mark in marks for spec_id in re.findall(r'"([^"]+)"', mark)} - {"ID"}


def documented_ids() -> set[str]:
    return set(_ROW.findall((ROOT / "docs" / "requirements.md").read_text()))


def test_each_requirement_that_a_test_names_is_documented():
    assert used_ids() - documented_ids() == set()


def test_each_documented_requirement_has_a_test():
    assert documented_ids() - used_ids() == set()


@pytest.mark.spec("K1")
@pytest.mark.parametrize("name", agentcore.api.__all__)
def test_each_public_name_is_documented(name):
    """By its own docstring; one for a type, which can have none, by the text below its definition."""
    below = re.compile(rf'^{name}\b.* = .*\n"""', re.MULTILINE)
    sources = Path(agentcore.__file__).parent.rglob("*.py")
    assert getattr(agentcore.api, name).__doc__ or any(below.search(file.read_text()) for file in sources)


@pytest.mark.spec("K1")
def test_module_api_imports_nothing_heavy():
    code = "import sys, agentcore.api; print(*{'aiohttp', 'playwright', 'aiosqlite', 'structlog'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_chat_imports_the_library_of_the_provider_that_is_asked_and_no_other():
    imports = "import sys, agentcore.chat.turn.turn, agentcore.chat.model.openai_model"
    code = f"{imports}; print(*{{'anthropic'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def _plan() -> str:
    """The block of `docs/architecture.md` that shows the rooms."""
    return (ROOT / "docs" / "architecture.md").read_text().split("```")[1]


@pytest.mark.source_tree
@pytest.mark.parametrize("page", ["architecture.md", "contributing.md"])
def test_files_that_a_page_for_contributors_names_exist(page):
    """Paths are those of the repository, or of `agentcore/`; `NAME` stands for any."""
    text = (ROOT / "docs" / page).read_text()
    named = set(re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|js|md|css|toml))?)`", text))
    assert named
    known = {path for path in named if "NAME" not in path}
    assert [
        path for path in sorted(known) if not any((base / path).exists() for base in (ROOT, ROOT / "agentcore"))
    ] == []


def _where_to_change_what() -> list[str]:
    """The rows of the table of `docs/contributing.md` that says where changes go."""
    section = (ROOT / "docs" / "contributing.md").read_text().split("\n## Where to change what\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def _top_level_names(file: Path) -> set[str]:
    names = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return names


@pytest.mark.source_tree
def test_table_of_where_to_change_what_names_definitions_that_exist():
    """Each row names at least one definition, as `FILE` (`NAME`)."""
    rows = _where_to_change_what()
    assert len(rows) >= 6
    named = {row: re.findall(r"`([\w/]+\.py)` \(`(\w+)`\)", row) for row in rows}
    assert [row for row, places in named.items() if not places] == []
    places = [place for row in rows for place in named[row]]
    assert [place for place in places if place[1] not in _top_level_names(ROOT / place[0])] == []


@pytest.mark.source_tree
@pytest.mark.parametrize(
    "folder", ["agentcore", "agentcore/core", "agentcore/chat", "agentcore/server", "agentcore/cli"]
)
def test_plan_of_the_architecture_shows_each_room(folder):
    below = sorted(path.name for path in (ROOT / folder).iterdir() if (path / "__init__.py").exists())
    assert [name for name in below if not re.search(rf"\b{name}/", _plan())] == []
