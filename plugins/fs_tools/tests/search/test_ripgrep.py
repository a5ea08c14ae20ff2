import os
import shutil
import sys
from pathlib import Path

import pytest
from agentcore_fs_tools.search.candidates import MESSAGE_LIMIT_BYTES, read_candidates
from agentcore_fs_tools.search.ripgrep import OutputCutError, RipgrepError, find_ripgrep, run_ripgrep

from agentcore.api import Workspace

HOST = {"modules": ["fs_tools"]}


def test_line_without_end_is_not_read_beyond_the_bound(root: Path, tmp_path: Path) -> None:
    endless = tmp_path / "rg"
    begin = '{"type":"match","data":{"path":{"text":"a.txt"},"lines":{"text":"'
    endless.write_text(f"#!/bin/sh\nprintf '%s' '{begin}'\nexec tr '\\0' x < /dev/zero\n")
    endless.chmod(0o755)
    with Workspace([root]) as workspace, workspace.open_folder(workspace.locate(".")) as folder:
        limit = 2 * MESSAGE_LIMIT_BYTES
        with (
            run_ripgrep(
                str(endless), [], folder, limit_bytes=limit, memory_bytes=1 << 30, is_cancelled=lambda: False
            ) as output,
            pytest.raises(OutputCutError),
        ):
            list(read_candidates(output))


@pytest.mark.spec("S3")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process waits for")
async def test_pipe_in_the_place_of_an_ignore_file_does_not_hang_a_search(call, failure, root: Path) -> None:
    (root / "a.txt").touch()
    os.mkfifo(root / ".gitignore")
    assert (await failure("glob", pattern="**")).type == "search_failed"
    assert (await call("glob", pattern="**", no_ignore=True)).data["paths"] == ["a.txt"]


@pytest.mark.more
@pytest.mark.spec("S3")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds another process")
async def test_endless_ignore_file_ends_a_search(failure, root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/.gitignore").symlink_to("/dev/zero")
    error = await failure("glob", pattern="**")
    assert (error.type, "memory" in str(error)) == ("search_failed", True)


def test_killed_ripgrep_is_an_error(root: Path, tmp_path: Path) -> None:
    killed = tmp_path / "rg"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    with (
        Workspace([root]) as workspace,
        workspace.open_folder(workspace.locate(".")) as folder,
        run_ripgrep(str(killed), [], folder, limit_bytes=1, memory_bytes=1 << 30, is_cancelled=lambda: False) as output,
        pytest.raises(RipgrepError, match="signal 9"),
    ):
        list(output)


def test_ripgrep_is_found_beside_the_interpreter_or_on_the_path() -> None:
    program = find_ripgrep()
    assert program is not None
    assert shutil.which(program) == program
