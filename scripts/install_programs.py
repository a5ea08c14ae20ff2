"""Install the programs that tests need and that are missing, as root on Debian or Ubuntu.

Usage: python3 -m scripts.install_programs [--unattended]

With `--unattended` it changes nothing on a machine that somebody uses: only in CI (CI=true) and in containers.
Elsewhere the last lines of a test run print the command. Tests whose program cannot be installed are skipped.

Runs with the system's Python before anything is installed: standard library only.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests import programs

CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
"""Files that Docker, Podman and systemd-nspawn create in their containers."""


def is_disposable() -> bool:
    """Return True in CI and in a container, where packages may be installed without asking."""
    return (
        os.environ.get("CI", "").lower() in {"true", "1"}
        or "container" in os.environ
        or any(Path(mark).exists() for mark in CONTAINER_MARKS)
    )


def _install(packages: list[str]) -> bool:
    command = ["apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", *packages]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    output = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    return output.returncode == 0


def install(packages: list[str]) -> None:
    """Install packages. One that the distribution does not have, does not prevent the others."""
    if _install(packages):
        return
    subprocess.run(["apt-get", "update", "--quiet=2"], check=False)  # the lists are missing or old
    if not _install(packages):
        for package in packages:
            _install([package])


def main(arguments: list[str]) -> int:
    """Install what is missing; the exit code is 0 also where something is still missing."""
    missing = programs.missing()
    if not missing or ("--unattended" in arguments and not is_disposable()):
        return 0
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _report(f"Installing programs for tests: {' '.join(missing)}")
        install(missing)
        missing = programs.missing()
    if missing:
        _report(f"Missing programs, whose tests are skipped: {' '.join(missing)}")
    return 0


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - progress for people


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
