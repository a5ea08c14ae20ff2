"""Packages that pip installs, upgrades and removes beside a running server, in a Python environment of its own."""

import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import LIMIT_S, Place

SOURCE = '''
from agentcore.api import Module, tool


class Dice(Module):
    """Dice."""

    @tool(read_only=True)
    async def dice_version(self) -> str:
        """Give the version."""
        return "{version}"
'''
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "{name}"
version = "{version}"
"""
BACKEND = '''
"""Builds wheels as the usual backends do, without anything that would have to be installed first (PEP 517, PEP 660)."""

import pathlib, tomllib, zipfile

PROJECT = tomllib.loads(pathlib.Path("pyproject.toml").read_text())["project"]
PACKAGE = PROJECT["name"].replace("-", "_")
SOURCE = pathlib.Path("src").absolute()

def get_requires_for_build_wheel(config_settings=None): return []
get_requires_for_build_editable = get_requires_for_build_wheel

def build_wheel(folder, config_settings=None, metadata_directory=None):
    source = SOURCE / PACKAGE / "__init__.py"
    return _write(folder, {{PACKAGE + "/__init__.py": source.read_text()}})

def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "__editable__" + PACKAGE
    if {uses_finder}:  # as setuptools does it where a folder cannot be named
        finder = (
            "import importlib.util, sys\\n"
            "class Finder:\\n"
            "    @classmethod\\n"
            "    def find_spec(cls, name, path=None, target=None):\\n"
            f"        if name == {{PACKAGE!r}}:\\n"
            f"            file = {{str(SOURCE / PACKAGE / '__init__.py')!r}}\\n"
            "            return importlib.util.spec_from_file_location(name, file)\\n"
            "def install():\\n"
            "    sys.meta_path.append(Finder)\\n"
        )
        line = f"import {{name}}_finder; {{name}}_finder.install()"
        return _write(folder, {{name + "_finder.py": finder, name + ".pth": line}})
    return _write(folder, {{name + ".pth": str(SOURCE)}})

def _write(folder, files):
    info = PACKAGE + "-" + PROJECT["version"] + ".dist-info/"
    files[info + "METADATA"] = (
        f"Metadata-Version: 2.1\\nName: {{PROJECT['name']}}\\nVersion: {{PROJECT['version']}}\\n"
        "Requires-Dist: agentcore-runtime\\n"
    )
    files[info + "WHEEL"] = "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[info + "entry_points.txt"] = f"[agentcore.modules]\\ndice = {{PACKAGE}}:Dice\\n"
    files[info + "RECORD"] = "".join(name + ",,\\n" for name in [*files, info + "RECORD"])
    name = PACKAGE + "-" + PROJECT["version"] + "-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name
'''


@dataclass
class Environment(Place):
    """A place whose commands run in a Python environment of their own.

    Attributes:
        python: Its interpreter.
    """

    python: Path = Path()

    @property
    def command(self) -> list[str]:
        """How the command line is started."""
        return [str(self.python), "-m", "agentcore"]

    def write_project(
        self, name: str = "acme-dice", version: str = "1.0", *, uses_finder: bool = False, source: str = SOURCE
    ) -> Path:
        """Write a project that brings the module `dice`; gives its folder."""
        folder, package = self.folder.parent / name, name.replace("-", "_")
        (folder / "src" / package).mkdir(parents=True, exist_ok=True)
        (folder / "src" / package / "__init__.py").write_text(source.format(version=version))
        (folder / "pyproject.toml").write_text(PROJECT.format(name=name, version=version))
        (folder / "backend.py").write_text(BACKEND.format(uses_finder=uses_finder))
        return folder

    def pip(self, *arguments: str) -> None:
        """Run pip on the environment."""
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check", *arguments],
            check=True,
            capture_output=True,
            timeout=LIMIT_S,
        )

    def install(self, project: Path, *options: str) -> None:
        """Install a project without looking at any index."""
        self.pip("install", "--no-deps", "--no-build-isolation", "--no-index", *options, str(project))


@pytest.fixture
def place(empty_place: Place, tmp_path: Path) -> Environment:
    """A folder with an empty list of modules, and an environment that has what this one has."""
    pytest.importorskip("pip")
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    # the whole of this environment, with what its own .pth files name
    (site / "outer.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    environment = Environment(empty_place.folder, empty_place.environ, folder / "bin" / "python")
    environment.write_app(modules=[], server={"port": 0})
    return environment


@pytest.mark.spec("M1")
@pytest.mark.parametrize("uses_finder", [False, True])
def test_editable_install_beside_a_running_server_is_found_and_runs(place, server, uses_finder):
    place.install(place.write_project(uses_finder=uses_finder), "-e")
    assert place.run("modules", "enable", "dice").out == "dice is ready.\n"
    assert place.run("call", "dice_version").out == "1.0\n"
    shown = place.run("modules", "info", "dice", "--json").json
    assert (shown["distribution"], shown["version"]) == ("acme-dice", "1.0")
    assert shown["file"].endswith("acme-dice/src/acme_dice/__init__.py")


@pytest.mark.spec("M1")
def test_code_in_a_pth_file_runs_in_the_server_only_for_a_module_that_is_listed(place, server):
    """Each command is an interpreter that starts, and runs it too: the file says which processes did."""
    place.install(place.write_project(uses_finder=True), "-e")
    (site,) = place.python.parent.parent.glob("lib/python*/site-packages")
    ran = place.folder / "ran"
    with (site / "__editable__acme_dice.pth").open("a") as file:
        file.write(f"\nimport os; open({str(ran)!r}, 'a').write(str(os.getpid()) + '\\n')\n")
    shown = place.run("modules", "info", "dice", "--json").json
    assert (shown["state"], shown["listed"]) == ("stopped", False)
    assert str(server.process.pid) not in ran.read_text().splitlines()
    assert place.run("modules", "enable", "dice").code == 0
    assert str(server.process.pid) in ran.read_text().splitlines()
