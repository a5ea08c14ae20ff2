"""`scripts/install.py` in a small clone, whose packages need no package index to be built."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
UV = Path(sys.executable).parent / "uv"
BACKEND = """
import base64, hashlib, pathlib, tomllib, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    info = f"{stem}.dist-info"
    metadata = f"Metadata-Version: 2.1\\nName: {project['name']}\\nVersion: {project['version']}\\n"
    files = {
        f"{info}/METADATA": metadata + "Provides-Extra: chat\\nProvides-Extra: mcp\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        f"{project['name'].replace('-', '_')}.pth": str(pathlib.Path.cwd()),
    }
    record = "".join(f"{name},,\\n" for name in files) + f"{info}/RECORD,,\\n"
    with zipfile.ZipFile(pathlib.Path(folder) / f"{stem}-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(name, text)
    return f"{stem}-py3-none-any.whl"

build_wheel = build_editable
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "{name}"
version = "1"
[project.optional-dependencies]
chat = []
mcp = []
{entry_points}
"""

pytestmark = [pytest.mark.source_tree, pytest.mark.more]


def _add_project(folder: Path, name: str, entry_points: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(PROJECT.format(name=name, entry_points=entry_points))


class Clone:
    """A clone of a core with two modules and a family."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.venv = folder / ".venv"
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "install.py", folder / "scripts")
        (folder / "constraints.txt").write_text("")
        _add_project(folder, "small-core")
        _add_project(folder / "plugins" / "one", "small-one", '[project.entry-points."agentcore.modules"]\none = "x:X"')
        _add_project(folder / "plugins" / "two", "small-two", '[project.entry-points."agentcore.modules"]\ntwo = "x:X"')
        family = '[project.entry-points."agentcore.module_families"]\nfamily = "x:x"'
        _add_project(folder / "plugins" / "family", "small-family", family)
        kind = '[project.entry-points."agentcore.host_kinds"]\nrack = "x:X"'
        _add_project(folder / "plugins" / "rack", "small-rack", kind)
        self.list_modules("one")

    def list_modules(self, *names: str) -> None:
        (self.folder / "app.json").write_text(json.dumps({"modules": names}))

    def install(self, *, fails: bool = False) -> str:
        """Run the script without any package index; what it reports."""
        command = [sys.executable, "scripts/install.py", "run"]
        environment = os.environ | {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "PIP_CONFIG_FILE": os.devnull}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) is fails, done.stderr
        return done.stderr

    def installed(self) -> set[str]:
        """Return the names of the installed distributions of the clone."""
        found = self.venv.glob("lib/python*/site-packages/small_*.dist-info")
        return {path.name.split("-")[0].removeprefix("small_") for path in found}


@pytest.fixture(scope="module")
def installed_once(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    clone = Clone(tmp_path_factory.mktemp("clone"))
    assert "installing with pip" in clone.install()  # uv cannot be installed without an index
    if UV.exists():
        (clone.venv / "bin" / "uv").symlink_to(UV)
    return clone


@pytest.fixture
def clone(installed_once: Clone) -> Clone:
    """A clone in which everything that app.json lists is installed."""
    installed_once.list_modules("one")
    installed_once.install()
    return installed_once


def test_listed_modules_and_families_are_installed_by_pip_where_uv_cannot_be_installed(clone):
    assert {"core", "one", "family"} <= clone.installed()


def test_nothing_is_installed_again_when_files_are_only_rewritten(clone):
    (clone.folder / "app.json").write_text(json.dumps({"modules": ["one"], "server": {"port": 0}}, indent=4))
    pyproject = clone.folder / "pyproject.toml"
    pyproject.write_text(pyproject.read_text() + "\n[tool.ruff]\nline-length = 100\n")
    assert clone.install() == ""


def test_module_that_is_listed_is_installed(clone):
    clone.list_modules("one", "two")
    assert "Installed in" in clone.install()
    assert "two" in clone.installed()
    clone.list_modules("two")
    assert clone.install() == ""


def test_kind_of_hosts_is_installed_once_app_json_has_such_a_host(clone):
    assert "rack" not in clone.installed()
    (clone.folder / "app.json").write_text(json.dumps({"modules": ["one"], "hosts": {"x": {"kind": "rack"}, "y": 1}}))
    assert "Installed in" in clone.install()
    assert "rack" in clone.installed()


def test_module_that_no_folder_provides_and_unreadable_app_json_prevent_nothing(clone):
    clone.list_modules("one", "from_elsewhere")
    assert clone.install() == ""
    (clone.folder / "app.json").write_text('{"modules": [')
    assert clone.install() == ""


def test_changed_project_is_installed_again(clone):
    pyproject = clone.folder / "plugins" / "one" / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace('version = "1"', 'version = "2"'))
    assert "Installed in" in clone.install()
    assert list(clone.venv.glob("lib/python*/site-packages/small_one-2.dist-info"))


def test_distribution_that_was_removed_is_installed_again(clone):
    for folder in clone.venv.glob("lib/python*/site-packages/small_one-*.dist-info"):
        shutil.rmtree(folder)
    assert "Installed in" in clone.install()
    assert "one" in clone.installed()


def test_failed_installation_is_reported_and_repeated(clone):
    constraints = clone.folder / "constraints.txt"
    constraints.write_text("this is no constraint\n")
    assert "could not be installed" in clone.install(fails=True)
    constraints.write_text("")
    clone.install()
    assert {"core", "one", "family"} <= clone.installed()


def test_interrupted_installation_is_repaired(clone):
    (clone.venv / ".installing").touch()  # what an installer that was killed leaves
    for package in clone.venv.glob("lib/python*/site-packages/pip"):
        shutil.rmtree(package)
    assert "Creating the virtual environment" in clone.install()
    assert {"core", "one", "family"} <= clone.installed()
    assert clone.install() == ""


def test_environment_of_a_clone_that_was_moved_is_created_again(clone, tmp_path):
    moved = Clone.__new__(Clone)
    moved.folder = tmp_path / "moved"
    moved.venv = moved.folder / ".venv"
    shutil.copytree(clone.folder, moved.folder, symlinks=True)
    assert "Creating the virtual environment" in moved.install()
    assert str(tmp_path) in (moved.venv / "bin" / "pip").read_text()


def test_python_that_is_too_old_is_named():
    code = (
        "import runpy, sys; sys.version_info = (3, 9, 1); sys.argv = ['install.py', 'run'];"
        "runpy.run_path('scripts/install.py', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Python 3.11 or later is needed, this is 3.9" in done.stderr
