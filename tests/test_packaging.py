"""What a fresh clone builds and installs."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLUGINS = sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))

pytestmark = pytest.mark.source_tree


def project(folder: Path) -> dict:
    return tomllib.loads((folder / "pyproject.toml").read_text())


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_pin_others_and_not_ourselves():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line) for line in lines)
    assert not [line for line in lines if line.startswith("agentcore")]


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_each_dependency_is_pinned(folder):
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {normalised(line.partition("==")[0]) for line in lines}
    described = project(folder)["project"]
    extras = described.get("optional-dependencies", {}).values()
    wanted = [*described["dependencies"], *(text for extra in extras for text in extra)]
    names = {normalised(re.match(r"[A-Za-z0-9._-]+", text).group()) for text in wanted}
    assert {name for name in names - pinned if not name.startswith("agentcore-")} == set()


def test_app_json_lists_modules_that_are_here():
    entry_points = [project(folder)["project"]["entry-points"] for folder in PLUGINS]
    brought = {name for groups in entry_points for name in groups.get("agentcore.modules", ())}
    assert set(json.loads((ROOT / "app.json").read_text())["modules"]) <= brought


def test_no_file_holds_the_marks_of_an_unfinished_merge(git):
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    files = [ROOT / name for name in listed.split("\0") if name] or list(ROOT.glob("webui/**/*.*"))
    marks = re.compile(rb"^(<{7} |>{7} )", re.MULTILINE)
    assert [file for file in files if file.is_file() and marks.search(file.read_bytes())] == []


@pytest.mark.spec("K1")
def test_no_built_archive_is_in_git(git):
    archives = ["*.whl", "*.zip", "*.tar", "*.gz", "*.pyc", "*.so"]
    assert subprocess.run([git, "ls-files", *archives], cwd=ROOT, capture_output=True, check=True).stdout == b""


def test_import_contract_covers_every_plugin():
    contract = project(ROOT)["tool"]["importlinter"]
    packages = {path.name for folder in PLUGINS for path in (folder / "src").iterdir() if path.is_dir()}
    assert packages <= set(contract["root_packages"])
    forbidding = [rule for rule in contract["contracts"] if rule["type"] == "forbidden"]
    named = [packages & {*rule["source_modules"], *rule["forbidden_modules"]} for rule in forbidding]
    # the core names no module, and a module imports the public API alone
    assert [found for found in named if found] == [packages, packages]


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_each_distribution_has_a_readme_and_a_changelog(folder):
    assert (folder / "README.md").read_text().startswith("# ")
    assert "## " in (folder / "CHANGELOG.md").read_text()


def test_plugins_need_the_runtime_by_its_own_name():
    for folder in PLUGINS:
        names = {text.partition("[")[0] for text in project(folder)["project"]["dependencies"]}
        assert "agentcore-runtime" in names, folder.name


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_each_distribution_contains_the_licence(folder):
    described = project(folder)["project"]
    assert described["license"] == "Apache-2.0"
    assert described["license-files"] == ["LICENSE"]
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_licences_of_vendored_libraries_are_listed():
    table = (ROOT / "docs" / "licences.md").read_text()
    manifests = [ROOT / "webui" / "vendor" / "manifest.json", *ROOT.glob("plugins/*/src/**/vendor/manifest.json")]
    for manifest in manifests:
        for library in json.loads(manifest.read_text())["libraries"]:
            path = (manifest.parent / library["licenceFile"]).relative_to(ROOT).as_posix()
            row = next(line for line in table.splitlines() if path in line)
            assert library["version"] in row


@pytest.mark.parametrize("target", ["test-apart", "test-isolated"])
def test_makefile_names_tests_that_are_there(target):
    # without the ARGS of the make that runs this test, which would stand in place of the names
    made = subprocess.run(["make", "-n", target, "ARGS="], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    named = [word for word in made.split() if word.startswith("plugins/")]
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
