"""The file tools in process: searching against `rg`. Reading is in `budget`."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, alternate_async, paired_async
from benchmarks.own_host import calling

Call = Callable[..., Awaitable[Any]]


def run() -> list[Row]:
    """Measure, and give the rows."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Row]:
    make_trees(folder / "workspace")
    async with calling(folder, "fs_tools") as call:
        return await _searching(folder / "workspace", call)


def make_trees(root: Path) -> None:
    """Files to read and to search: one, a few, and 40,000."""
    root.mkdir(parents=True)
    write_lines(root / "one.txt")
    for name, folders, files in (("large", 200, 200), ("small", 1, 20)):
        for outer in range(folders):
            place = root / name / f"folder_{outer}"
            place.mkdir(parents=True)
            for inner in range(files):
                needle = "the needle is here\n" if (outer * files + inner) % 400 == 7 else "no such thing\n"
                (place / f"file_{inner}.py").write_text(f"def function_{inner}():\n    return {inner}\n" * 20 + needle)


def write_lines(path: Path) -> None:
    """Write 1 MiB of lines."""
    lines = "".join(f"line {number} of a file with a usual length of text in it\n" for number in range(20_000))
    path.write_text(lines[: 1 << 20])


async def _searching(root: Path, call: Call) -> list[Row]:
    rg = shutil.which("rg") or _wheel_rg()

    def spawn(*arguments: str) -> Callable[[], Awaitable[None]]:
        async def run_rg() -> None:
            process = await asyncio.create_subprocess_exec(
                rg, *arguments, cwd=root, stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
            )
            await process.communicate()

        return run_rg

    async def tool(name: str, **arguments: Any) -> Callable[[], Awaitable[None]]:
        return lambda: call(name, **arguments)

    grep_large = await tool("grep", pattern="needle is", path="large")
    grep_small = await tool("grep", pattern="needle is", path="small")
    glob_small = await tool("glob", pattern="**/*.py", path="small")
    unsorted_glob = await tool("glob", pattern="**/*.py", path="large", sort="none")
    newest_glob = await tool("glob", pattern="**/*.py", path="large")
    rg_large = spawn("--line-number", "--no-heading", "needle is", "large")
    rg_small = spawn("--line-number", "--no-heading", "needle is", "small")
    rg_files, rg_small_files = spawn("--files", "large"), spawn("--files", "small")
    return [
        Row("grep over 40,000 files, against rg", *await alternate_async(grep_large, rg_large, 9), 1.1),
        (await paired_async(grep_small, rg_small, 60)).row("grep over 20 files, against rg", 1.1),
        (await paired_async(glob_small, rg_small_files, 60)).row("glob over 20 files, against rg --files", 1.1),
        Row(
            "glob over 40,000 files, unsorted, against rg --files",
            *await alternate_async(unsorted_glob, rg_files, 9),
            1.6,
        ),
        Row(
            "glob over 40,000 files, newest first, against rg --files",
            *await alternate_async(newest_glob, rg_files, 9),
            6,
        ),
    ]


def _wheel_rg() -> str:
    import sys

    found = Path(sys.executable).with_name("rg")
    if not found.exists():
        raise RuntimeError("no rg: install the wheel `ripgrep`")
    return str(found)
