import shutil
from pathlib import Path

import pytest
from agentcore_fs_tools.search.candidates import MESSAGE_LIMIT_BYTES, read_candidates
from agentcore_fs_tools.search.ripgrep import OutputCutError, find_ripgrep, ripgrep

from agentcore.api import Workspace


def test_line_without_end_is_not_read_beyond_the_bound(root: Path, tmp_path: Path) -> None:
    endless = tmp_path / "rg"
    begin = '{"type":"match","data":{"path":{"text":"a.txt"},"lines":{"text":"'
    endless.write_text(f"#!/bin/sh\nprintf '%s' '{begin}'\nexec tr '\\0' x < /dev/zero\n")
    endless.chmod(0o755)
    with Workspace([root]) as workspace, workspace.open_folder(workspace.locate(".")) as folder:
        limit = 2 * MESSAGE_LIMIT_BYTES
        with (
            ripgrep(str(endless), [], folder, limit_bytes=limit, is_cancelled=lambda: False) as output,
            pytest.raises(OutputCutError),
        ):
            list(read_candidates(output))


def test_ripgrep_is_found_beside_the_interpreter_or_on_the_path() -> None:
    program = find_ripgrep()
    assert program is not None
    assert shutil.which(program) == program
