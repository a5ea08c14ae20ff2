"""Install agentcore and its modules from this clone into a virtual environment.

Usage: install.py {run,dev} [--venv FOLDER]
       install.py wheels FOLDER --venv FOLDER

`run` installs what `make run` needs: the core, and the modules and kinds of hosts that app.json lists. `dev` installs
every module and what the tests and checks need. Packages are installed by uv, which is itself installed into the
environment first; pip is used where uv cannot be installed or fails. Nothing is installed again unless a pyproject.toml
or the constraints changed, or a distribution is missing. An environment that was moved or does not run, or whose
installation was interrupted, is created again. `wheels` installs the wheels of a folder into an environment that it
always creates.

Runs with the system's Python before anything is installed: standard library only.
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
EXTRAS = {"run": ("chat", "mcp"), "dev": ("testing", "dev")}
"""Optional dependencies of the core that each purpose installs."""
CONSTRAINTS = ROOT / "constraints.txt"
CORE = "agentcore_runtime"
MODULES = "agentcore.modules"
FAMILIES = "agentcore.module_families"
HOST_KINDS = "agentcore.host_kinds"

UV_SETTINGS = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
"""Settings of pip that uv does not read, and the variables in which uv expects them."""
COMMA_SEPARATED = {"find-links"}
HIDDEN_LINES = re.compile(r"^\s*([+~-] |Building |Built |Downloaded |Using Python )")
"""Lines of uv that add no information: one for each of a hundred packages."""


class InstallError(Exception):
    """The installation failed; the message says why and what to do."""


@dataclass(frozen=True)
class Project:
    """A distribution of this clone: the core, or a folder of plugins/."""

    folder: Path

    @cached_property
    def _pyproject(self) -> dict[str, Any]:
        import tomllib  # noqa: PLC0415 - absent before Python 3.11, which is reported first

        return tomllib.loads((self.folder / "pyproject.toml").read_text(encoding="utf-8"))

    @property
    def name(self) -> str:
        """The distribution's name, normalised."""
        return _normalised(self._pyproject["project"]["name"])

    @property
    def is_family(self) -> bool:
        """True if the distribution provides modules whose names app.json invents."""
        return bool(self._entry_points(FAMILIES))

    @property
    def digest(self) -> str:
        """Changes whenever an installed distribution would no longer match the project."""
        relevant = {key: self._pyproject.get(key) for key in ("build-system", "project")}
        relevant["hatch"] = self._pyproject.get("tool", {}).get("hatch")
        return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()

    def provides(self, modules: Iterable[str]) -> bool:
        """Return True if the distribution provides one of the modules."""
        prefixes = tuple(f"{family}_" for family in self._entry_points(FAMILIES))
        return any(name in self._entry_points(MODULES) or name.startswith(prefixes) for name in modules)

    def provides_hosts(self, kinds: Iterable[str]) -> bool:
        """Return True if the distribution provides one of the kinds of hosts."""
        return not self._entry_points(HOST_KINDS).keys().isdisjoint(kinds)

    def requirements(self, extras: Iterable[str] = ()) -> list[str]:
        """Return the requirements with those of some extras."""
        project = self._pyproject["project"]
        optional = project.get("optional-dependencies", {})
        return [*project.get("dependencies", []), *(each for extra in extras for each in optional[extra])]

    def _entry_points(self, group: str) -> dict[str, str]:
        return self._pyproject["project"].get("entry-points", {}).get(group, {})


@dataclass(frozen=True)
class Wanted:
    """What has to be installed."""

    extras: tuple[str, ...]
    core: Project
    plugins: tuple[Project, ...]

    @property
    def projects(self) -> tuple[Project, ...]:
        """All distributions of this clone."""
        return self.core, *self.plugins

    @property
    def requirements(self) -> list[str]:
        """All direct requirements on packages from elsewhere."""
        ours = {project.name for project in self.projects}
        all_of_them = [*self.core.requirements(self.extras), *(each for p in self.plugins for each in p.requirements())]
        return sorted({each for each in all_of_them if _distribution(each) not in ours})

    @property
    def arguments(self) -> list[str]:
        """The arguments of an installer."""
        plugins = [argument for plugin in self.plugins for argument in ("--editable", str(plugin.folder))]
        return ["--editable", f"{self.core.folder}[{','.join(self.extras)}]", *plugins]

    def state(self, venv: Path) -> dict[str, Any]:
        """Return the description that is stored in an environment once all is installed there."""
        return {
            "venv": str(venv),
            "constraints": hashlib.sha256(CONSTRAINTS.read_bytes()).hexdigest(),
            "projects": {project.name: project.digest for project in self.projects},
            "requirements": self.requirements,
        }


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _distribution(requirement: str) -> str:
    """The name in a requirement such as `nats-py[nkeys]>=2.16`."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return _normalised(found[0]) if found else ""


def _read_app() -> dict[str, Any]:
    """The content of app.json; empty where it cannot be read, which the server reports with line and column."""
    try:
        app = json.loads((ROOT / "app.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return app if isinstance(app, dict) else {}


def _listed_modules(app: dict[str, Any]) -> list[str]:
    """The modules that app.json lists."""
    modules = app.get("modules")
    return [name for name in modules if isinstance(name, str)] if isinstance(modules, list) else []


def _host_kinds(app: dict[str, Any]) -> set[str]:
    """The kinds of the hosts that app.json has."""
    hosts = app.get("hosts")
    kinds = [host.get("kind") for host in hosts.values() if isinstance(host, dict)] if isinstance(hosts, dict) else []
    return {kind for kind in kinds if isinstance(kind, str)}


def find_wanted(purpose: str) -> Wanted:
    """Find what a purpose needs. Modules that no folder provides are ignored: the server reports them."""
    plugins = [Project(path.parent) for path in sorted(ROOT.glob("plugins/*/pyproject.toml"))]
    if purpose == "run":
        app = _read_app()
        listed = _listed_modules(app)
        kinds = _host_kinds(app)
        plugins = [
            plugin for plugin in plugins if plugin.is_family or plugin.provides(listed) or plugin.provides_hosts(kinds)
        ]
    return Wanted(EXTRAS[purpose], Project(ROOT), tuple(plugins))


class Environment:
    """A virtual environment and what is installed in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._python = folder / "bin" / "python"
        self._uv = folder / "bin" / "uv"
        self._state = folder / ".installed.json"
        self._unfinished = folder / ".installing"

    def has(self, wanted: Wanted) -> bool:
        """Return True if everything is installed as it has to be."""
        if self._unfinished.exists() or not self._runs("import sys"):
            return False
        stored = self._stored_state()
        now = wanted.state(self._folder)
        return (
            all(stored.get(key) == now[key] for key in ("venv", "constraints"))
            and now["projects"].items() <= stored.get("projects", {}).items()
            and set(now["requirements"]) <= set(stored.get("requirements", []))
            and self._missing(wanted) == set()
        )

    def install(self, wanted: Wanted) -> None:
        """Install everything, in an environment that is created first where there is none that works."""
        moved = self._stored_state().get("venv", str(self._folder)) != str(self._folder)
        if moved or self._unfinished.exists() or not self._runs("import pip"):
            self._create()
        self._unfinished.touch()
        try:
            self._install(wanted.arguments, f"the core, {len(wanted.plugins)} packages of modules")
        except InstallError:
            self._unfinished.unlink()  # an installer that fails leaves what it found
            raise
        state = wanted.state(self._folder)
        if (stored := self._stored_state()).get("constraints") == state["constraints"]:
            state["projects"] = stored["projects"] | state["projects"]
            state["requirements"] = sorted({*stored["requirements"], *state["requirements"]})
        self._state.write_text(json.dumps(state, indent=1), encoding="utf-8")
        self._unfinished.unlink()

    def install_wheels(self, folder: Path) -> None:
        """Install the wheels of a folder, in an environment that is created again."""
        wheels = {path.name.partition("-")[0]: str(path) for path in sorted(folder.glob("*.whl"))}
        wheels[CORE] += f"[{','.join(EXTRAS['run'])}]"
        self._create()
        self._install(list(wheels.values()), f"{len(wheels)} wheels")

    def _create(self) -> None:
        version = ".".join(map(str, sys.version_info[:3]))
        _report(f"Creating the virtual environment {_relative(self._folder)} with Python {version}")
        if subprocess.run([sys.executable, "-m", "venv", "--clear", self._folder], check=False).returncode:
            raise InstallError(
                "The virtual environment could not be created. On Debian and Ubuntu: apt install python3-venv"
            )

    def _install(self, arguments: list[str], what: str) -> None:
        environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONSTRAINT": str(CONSTRAINTS)}
        pip = [self._python, "-m", "pip", "install", "--quiet"]
        if not self._uv.exists():
            _report("Installing uv, which installs the packages")
            subprocess.run([*pip, "uv"], check=False, env=environment)
        _report(f"Installing {what} and what they need")
        if self._uv.exists() and self._install_with_uv(arguments):
            return
        _report("uv cannot be used here: installing with pip, which may take some minutes")
        if subprocess.run([*pip, *arguments], check=False, env=environment).returncode:
            raise InstallError("The packages could not be installed: see the messages above, and run it again.")

    def _install_with_uv(self, arguments: list[str]) -> bool:
        command = [self._uv, "pip", "install", "--python", self._python, "--constraint", CONSTRAINTS]
        environment = os.environ | self._uv_settings()
        with subprocess.Popen(
            [*command, *arguments], env=environment, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process:
            assert process.stderr is not None  # noqa: S101 - asked for above
            for line in process.stderr:
                if not HIDDEN_LINES.match(line):
                    _report(f"  {line.strip()}")
        return process.returncode == 0

    def _uv_settings(self) -> dict[str, str]:
        """The user's settings of pip as variables for uv, so that both look for packages in the same places."""
        listed = subprocess.run(
            [self._python, "-m", "pip", "config", "list"], check=False, capture_output=True, text=True
        ).stdout
        found: dict[str, str] = {}
        for key, value in _pip_settings(listed):
            variable = UV_SETTINGS.get(key)
            if variable is not None and variable not in os.environ:
                found[variable] = ",".join(value.split()) if key in COMMA_SEPARATED else " ".join(value.split())
        if "UV_INDEX" in found:
            found.setdefault("UV_INDEX_STRATEGY", "unsafe-best-match")  # as pip treats all indexes
        return found

    def _runs(self, code: str) -> bool:
        """True if the environment's interpreter runs a line, and is of the version for which packages are installed."""
        check = f"{code}; import os, sys, sysconfig; sys.exit(not os.path.isdir(sysconfig.get_path('purelib')))"
        try:
            return subprocess.run([self._python, "-c", check], check=False, capture_output=True).returncode == 0
        except OSError:
            return False

    def _stored_state(self) -> dict[str, Any]:
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def _missing(self, wanted: Wanted) -> set[str]:
        """The distributions that are required and not there, by their names."""
        packages = self._folder.glob("lib/python*/site-packages/*.dist-info")
        there = {_normalised(path.name.split("-")[0]) for path in packages}
        required = {_distribution(each) for each in wanted.requirements if ";" not in each}
        return {*required, *(project.name for project in wanted.projects)} - there


def _pip_settings(listed: str) -> Iterator[tuple[str, str]]:
    """The lines of `pip config list` as names and values: of files, of `pip install` and of the environment."""
    for line in listed.splitlines():
        name, separator, value = line.partition("=")
        if separator and name.startswith(("global.", "install.", ":env:.")):
            yield name.rpartition(".")[2], value.strip().strip("'\"").replace("\\n", " ")


def _relative(folder: Path) -> str:
    return os.path.relpath(folder)


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress for people


def main() -> int:
    """Install what is missing; the exit code."""
    if sys.version_info < OLDEST:
        _report(
            "Python {}.{} or later is needed, this is {}.{}: make PYTHON=python3.12 …".format(
                *OLDEST, *sys.version_info[:2]
            )
        )
        return 1
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("purpose", choices=[*EXTRAS, "wheels"])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "build" / "wheels", help="of wheels")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="the environment's folder (default: .venv)")
    options = parser.parse_args()
    folder: Path = options.venv.absolute()
    environment = Environment(folder)
    began = time.monotonic()
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = folder.with_name(f"{folder.name}.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # several targets of make may run at once; held until this process ends
    try:
        if options.purpose == "wheels":
            environment.install_wheels(options.folder)
        elif environment.has(wanted := find_wanted(options.purpose)):
            return 0
        else:
            environment.install(wanted)
    except InstallError as error:
        _report(str(error))
        return 1
    _report(f"Installed in {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
