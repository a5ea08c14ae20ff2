"""Laws of confinement: whatever the path and whatever races with it, nothing outside of the root is reached."""

import multiprocessing
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentcore.api import ToolError, Workspace

OPENS = 2_000
TRIES = 1_000_000  # more than OPENS only as long as the other process has not come to its turn


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """A root full of links of every kind, beside a file that must not be read."""
    base = Path(tempfile.mkdtemp())
    root = base / "root"
    (root / "a/b/a").mkdir(parents=True)
    (root / "b").mkdir()
    (base / "f").write_text("outside")
    (base / "a").mkdir()
    (base / "a/f").write_text("outside")
    for folder in (root, root / "a", root / "a/b", root / "b"):
        (folder / "f").write_text("inside")
    links = {
        "up": "..", "a/up": "..", "a/top": str(root), "b/l": "../a/b", "l": "a", "a/out": str(base), "b/loop": "loop",
        "a/b/l": "../../l/b", "b/abs": str(root / "a/b"), "a/b/far": "../../../root/a",
        "a/gone": "nowhere", "a/b/up": "../up/..",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    yield root
    shutil.rmtree(base)


part = st.sampled_from(["..", ".", "", "a", "b", "f", "l", "up", "top", "out", "abs", "loop", "far", "gone", "root"])


def outcome(workspace: Workspace, path: str) -> str:
    try:
        with workspace.open_file(workspace.locate(path)) as file:
            return file.read(100).decode()
    except ToolError as error:
        return error.type


@pytest.mark.spec("S3")
@settings(max_examples=1_500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(part, min_size=1, max_size=9), absolute=st.booleans())
def test_both_ways_agree_and_never_leave_the_root(tree: Path, parts: list[str], absolute: bool) -> None:
    path = "/".join([str(tree), *parts] if absolute else parts) or "."
    with Workspace([tree]) as by_kernel, Workspace([tree], use_openat2=False) as by_walk:
        found = outcome(by_kernel, path)
        assert outcome(by_walk, path) == found
    assert found != "outside"
    if found == "inside":
        assert Path(os.path.realpath(tree / path)).is_relative_to(tree)
    elif found == "path_not_found":
        assert not os.path.exists(tree / path)


@pytest.mark.more
@pytest.mark.spec("S3")
@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(part, min_size=1, max_size=7))
def test_real_path_and_parent_of_a_write_stay_inside(tree: Path, parts: list[str]) -> None:
    with Workspace([tree]) as workspace:
        try:
            place = workspace.locate("/".join(parts) or ".")
            assert Path(workspace.real_path(place)).is_relative_to(tree)
            parent, _ = workspace.open_parent(place, follow=True)
        except ToolError:
            return
        with parent:
            assert Path(os.fsdecode(parent.real_path())).is_relative_to(tree)


def _swap(root: str, started: Event, stop: Event) -> None:
    """Exchange a folder and a link that leads out for each other, as fast as it goes."""
    os.chdir(root)
    started.set()
    while not stop.is_set():
        os.rename("door", "folder")
        os.rename("way_out", "door")
        os.rename("door", "way_out")
        os.rename("folder", "door")


@pytest.fixture
def contested(tmp_path: Path) -> Iterator[Path]:
    """A root in which another process exchanges `door`, a folder, for a link to the outside, and back."""
    root = tmp_path / "root"
    (root / "door").mkdir(parents=True)
    (root / "door/f").write_text("inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/f").write_text("outside")
    (root / "way_out").symlink_to("../outside")
    context = multiprocessing.get_context("spawn")
    started, stop = context.Event(), context.Event()
    swapper = context.Process(target=_swap, args=(str(root), started, stop), daemon=True)
    swapper.start()
    started.wait(30)
    yield root
    stop.set()
    swapper.join(30)
    assert swapper.exitcode == 0


@pytest.mark.more
@pytest.mark.spec("S3")
@pytest.mark.parametrize("way", ["kernel", "walk"])
def test_race_with_a_swapping_process_leaks_nothing(contested: Path, way: str) -> None:
    seen: set[str] = set()
    with Workspace([contested], use_openat2=way == "kernel") as workspace:
        for count in range(TRIES):
            seen.add(outcome(workspace, random.choice(["door/f", "door/../door/f"])))
            if count >= OPENS and {"inside", "path_outside_workspace"} <= seen:
                break
    assert {"inside", "path_outside_workspace"} <= seen, "the race was not met"
    assert seen <= {"inside", "path_outside_workspace", "path_not_found", "not_a_directory"}


@pytest.mark.more
@pytest.mark.spec("S3")
@pytest.mark.parametrize("way", ["kernel", "walk"])
def test_race_with_a_swapping_process_changes_nothing_outside(contested: Path, way: str) -> None:
    outside = contested.parent / "outside"
    seen = set()
    with Workspace([contested], use_openat2=way == "kernel") as workspace:
        for count in range(TRIES):
            try:
                workspace.write_file(workspace.locate("door/g"), b"ours")
                seen.add("written")
            except ToolError as error:
                seen.add(error.type)
            if count >= OPENS and {"written", "path_outside_workspace"} <= seen:
                break
    assert {"written", "path_outside_workspace"} <= seen, "the race was not met"
    assert os.listdir(outside) == ["f"]
    assert (outside / "f").read_text() == "outside"
