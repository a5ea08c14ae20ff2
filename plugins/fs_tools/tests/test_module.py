"""What the module says about itself: names, arguments, effects, annotations; and that it lives and ends cleanly."""

import os
import sys
from pathlib import Path

import pytest
from agentcore_fs_tools import FsTools

from agentcore.api import ToolDefinition

HOST = {"modules": ["fs_tools"]}

READING = {"read_file", "glob", "grep", "list_dir", "file_stat"}
WRITING = {"write_file", "edit", "file_delete", "file_move", "file_copy"}


@pytest.fixture
def definitions() -> dict[str, ToolDefinition]:
    return {definition.name: definition for definition in FsTools().get_tool_definitions()}


@pytest.mark.spec("K2", "T1")
def test_ten_tools_have_their_effects_and_hints(definitions: dict[str, ToolDefinition]) -> None:
    assert set(definitions) == READING | WRITING
    for name, definition in definitions.items():
        assert definition.effects == ({"read"} if name in READING else {"write"})
        assert definition.annotations.to_mcp()["openWorldHint"] is False
        assert definition.annotations.to_mcp().get("readOnlyHint") is (True if name in READING else None)
        assert (definition.preview is not None) is (name in WRITING)


@pytest.mark.spec("T1")
def test_arguments_are_spelled_as_promised_and_described(definitions: dict[str, ToolDefinition]) -> None:
    arguments = {name: set(definition.input_schema["properties"]) for name, definition in definitions.items()}
    assert arguments["read_file"] >= {"path", "offset", "limit", "encoding"}
    assert arguments["write_file"] >= {"path", "content", "create_dirs"}
    assert arguments["edit"] >= {"path", "edits", "diff", "dry_run"}
    assert arguments["glob"] >= {"pattern", "path"}
    assert arguments["grep"] >= {"pattern", "path", "glob", "context", "ignore_case", "files_only", "multiline"}
    assert arguments["list_dir"] == {"path", "depth"}
    assert arguments["file_stat"] == {"path"}
    assert arguments["file_delete"] == {"path", "recursive"}
    assert arguments["file_move"] == arguments["file_copy"] == {"source", "destination", "overwrite"}
    for definition in definitions.values():
        assert all(value.get("description") for value in definition.input_schema["properties"].values())
        assert len(definition.description) > 40


@pytest.mark.more
async def test_wrong_arguments_are_refused(failure) -> None:
    assert (await failure("read_file", path="a", offset=0)).type == "invalid_arguments"
    assert (await failure("edit", path="a", edits=[{"old": "", "new": "b"}])).type == "invalid_arguments"
    assert (await failure("list_dir", path="a", deepness=3)).type == "invalid_arguments"


async def test_relative_paths_start_at_the_first_of_several_roots(start, text, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"in {name}\n")
    host = await start(tmp_path / "one", tmp_path / "two")
    assert "in one" in text(await host.call("read_file", path="a.txt"))
    second = await host.call("grep", pattern="in", path=str(tmp_path / "two"))
    assert second.data["files"] == [str(tmp_path / "two/a.txt")]
    found = await host.call("glob", pattern="*", path=str(tmp_path / "two"))
    assert found.data["paths"] == [str(tmp_path / "two/a.txt")]
    assert "in two" in text(await host.call("read_file", path=found.data["paths"][0]))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts descriptors in /proc")
async def test_calls_leave_no_descriptor_open(call, failure, root: Path) -> None:
    async def use_everything() -> None:
        (root / "d/e").mkdir(parents=True, exist_ok=True)
        (root / "d/.gitignore").write_text("x\n")
        await call("write_file", path="d/a.txt", content="needle\n")
        await call("edit", path="d/a.txt", edits=[{"old": "needle", "new": "needles"}])
        for pattern in ("needle", r"n\w+"):
            await call("grep", pattern=pattern, path="d", context=1)
        for name, arguments in [
            ("read_file", {"path": "d/a.txt"}),
            ("glob", {"pattern": "**"}),
            ("list_dir", {"depth": 3}),
        ]:
            await call(name, **arguments)
        await call("file_copy", source="d", destination="c")
        await call("file_move", source="c", destination="m/c")
        await call("file_delete", path="m", recursive=True)
        for path in ("gone", "../x", "d", "d/a.txt/x"):
            await failure("read_file", path=path)
        await failure("file_move", source="d", destination="d/e/f")

    await use_everything()
    before = len(os.listdir("/proc/self/fd"))
    await use_everything()
    assert len(os.listdir("/proc/self/fd")) == before
