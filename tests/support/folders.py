"""Temporary folders in memory, for tests whose folder no other process uses.

A server that starts syncs some twenty writes. On a disk each takes a millisecond or more, in which a worker waits.
"""

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

MEMORY = Path("/dev/shm")  # folders in it are private
MEMORY_BYTES = 2 << 30
"""Minimum free space: tests create a few hundred megabytes, which are removed at the end of the run."""
_PREFIX = "agentcore-tests-"
_STAYS_IN_PROCESS = pytest.StashKey[bool]()


def has_memory() -> bool:
    """True if folders can be made in memory, and programs run there."""
    if not os.access(MEMORY, os.W_OK | os.X_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return False
    return shutil.disk_usage(MEMORY).free > MEMORY_BYTES


class Folders:
    """pytest's factory of temporary folders, but that those of tests that stay in their process are in memory."""

    def __init__(self, config: pytest.Config, on_disk: pytest.TempPathFactory, in_memory: Path) -> None:
        self._config = config
        self._on_disk = on_disk
        self._in_memory = in_memory
        self._numbers = count()

    def mktemp(self, basename: str, numbered: bool = True) -> Path:
        """Make a new folder for the test that runs."""
        if not numbered or not self._config.stash.get(_STAYS_IN_PROCESS, False):
            return self._on_disk.mktemp(basename, numbered)
        folder = self._in_memory / f"{basename}{next(self._numbers)}"
        folder.mkdir(mode=0o700)
        return folder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._on_disk, name)


@pytest.fixture(scope="session")
def tmp_path_factory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The factory of pytest, with folders in memory where that is possible; those of failed tests end on the disk."""
    if not has_memory():
        yield tmp_path_factory
        return
    _remove_leftovers()
    folder = MEMORY / f"{_PREFIX}{os.getpid()}"
    folder.mkdir(mode=0o700)
    yield Folders(request.config, tmp_path_factory, folder)
    if request.session.testsfailed:
        shutil.copytree(folder, tmp_path_factory.mktemp("in-memory"), symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_leftovers() -> None:
    """Remove the folders of runs that were killed."""
    for folder in MEMORY.glob(f"{_PREFIX}*"):
        if not Path("/proc", folder.name.removeprefix(_PREFIX)).exists():
            shutil.rmtree(folder, ignore_errors=True)  # another user's stays


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note whether the test that runs starts no process."""
    item.config.stash[_STAYS_IN_PROCESS] = item.get_closest_marker("one_process") is not None
    return (yield)
