"""Private files: whole or not at all, and for nobody else."""

import errno
import resource
from pathlib import Path

import pytest

from agentcore.store.state.private_file import (
    create_private_file,
    make_private_folder,
    read_private_file,
    write_private_file,
)
from agentcore.store.state.state_errors import StateDirError


def test_write_replaces_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a longer text than the next one")
    write_private_file(tmp_path / "file", b"short")
    assert (tmp_path / "file").read_bytes() == b"short"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_write_that_fails_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    write_private_file(tmp_path / "file", b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_private_file(tmp_path / "file", b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]


def test_file_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    assert create_private_file(tmp_path / "file", b"first")
    assert not create_private_file(tmp_path / "file", b"second")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"first")]


def test_reading_a_folder_or_a_large_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    for name in ("large", "."):
        with pytest.raises(StateDirError, match="not a file of agentcore"):
            read_private_file(tmp_path / name, 4)


def test_folder_beneath_a_file_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StateDirError, match="cannot be made"):
        make_private_folder(tmp_path / "file" / "folder")
