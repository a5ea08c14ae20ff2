"""What the scenarios need from the registries, installed once into a folder outside of the repository.

`AGENTCORE_BENCH_CACHE` names it; else it is `agentcore-benchmarks` in the user's cache folder.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PYPI = ("jupyterlab==4.6.6", "wagtail==8.0.1", "mcp==2.3.0")
DJANGO = "django==5.2.19"
NPM = (
    "@shoelace-style/shoelace@2.20.1",
    "monaco-editor@0.57.0",
    "ag-grid-community@36.2.0",
    "@playwright/mcp@0.0.83",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
)
DEBIAN = ("python3.11-doc", "valgrind", "sqlite3-doc", "git-doc", "postgresql-doc-15")
"""Packages whose manuals are served; valgrind has its own."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the installed programs lie."""

    cache: Path

    @property
    def python(self) -> Path:
        """An interpreter with JupyterLab, Wagtail and the MCP client."""
        return self.cache / "python" / "bin" / "python"

    @property
    def node_modules(self) -> Path:
        """The npm packages."""
        return self.cache / "npm" / "node_modules"

    @property
    def manuals(self) -> Path:
        """`/usr/share/doc` of the Debian packages."""
        return self.cache / "debian" / "usr" / "share" / "doc"

    @property
    def django_sdist(self) -> Path:
        """Django's sources, with its tests, as one archive."""
        return next((self.cache / "django").glob("*.tar.gz"))


def installed(only: str = "") -> Programs:
    """Install what is missing or of another version, with pip, npm and apt.

    Args:
        only: The one part to install; empty: all.

    Raises:
        subprocess.CalledProcessError: An installation failed; what it wrote is on stderr.
    """
    base = os.environ.get("AGENTCORE_BENCH_CACHE")
    cache = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    programs = Programs((cache if base else cache / "agentcore-benchmarks").resolve())
    parts: tuple[tuple[str, tuple[str, ...], Callable[[Path], None]], ...] = (
        ("python", PYPI, _install_pypi),
        ("django", (DJANGO,), _download_django),
        ("npm", NPM, _install_npm),
        ("debian", DEBIAN, _unpack_debian),
    )
    for name, wanted, install in parts:
        if only and name != only:
            continue
        folder = programs.cache / name
        mark = folder / ".installed"
        if not mark.exists() or mark.read_text().split() != list(wanted):
            print(f"installing {', '.join(wanted)} …", file=sys.stderr)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            install(folder)
            mark.write_text("\n".join(wanted))
    return programs


def _install_pypi(folder: Path) -> None:
    _run(folder, sys.executable, "-m", "venv", str(folder))
    _run(folder, str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *PYPI)


def _download_django(folder: Path) -> None:
    _run(folder, sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "django", DJANGO)


def _install_npm(folder: Path) -> None:
    (folder / "package.json").write_text('{"private": true}')
    _run(folder, "npm", "install", "--no-audit", "--no-fund", "--silent", *NPM)


def _unpack_debian(folder: Path) -> None:
    _run(folder, "apt-get", "download", "--quiet", *DEBIAN)
    for package in folder.glob("*.deb"):
        _run(folder, "dpkg-deb", "--extract", str(package), str(folder))
        package.unlink()


def _run(folder: Path, *command: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    subprocess.run(command, cwd=folder, env=environ, check=True, stdout=sys.stderr)
