"""One side of a copy between hosts, as far as whole machines do not show it: bounds, and what ends before its time."""

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agentcore_fs_tools.transfer.between_hosts.incoming import Incoming
from agentcore_fs_tools.transfer.between_hosts.local_side import CopyingSide
from agentcore_fs_tools.transfer.between_hosts.messages import Receive

from agentcore.api import ToolError, Workspace

pytestmark = pytest.mark.spec("H3", "S3")

TRANSFERS = [f"{number:032x}" for number in range(5)]


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace([root]) as found:
        yield found


@pytest.fixture
def side(workspace: Workspace) -> CopyingSide:
    return CopyingSide(workspace, lambda: 1000, lambda: None)


def receive(path: str = "new", transfer: str = TRANSFERS[0], size: int = 6, **rest: Any) -> dict[str, Any]:
    """The request by which a file begins to arrive."""
    asked = {"wants": "receive", "transfer": transfer, "path": path, "sizeBytes": size, "mode": 0o666}
    return {**asked, "overwrite": False, **rest}


def piece(offset: int, transfer: str = TRANSFERS[0]) -> dict[str, Any]:
    return {"wants": "piece", "transfer": transfer, "offset": offset}


def finish(data: bytes, transfer: str = TRANSFERS[0]) -> dict[str, Any]:
    return {"wants": "finish", "transfer": transfer, "sha256": hashlib.sha256(data).hexdigest()}


async def failure(work: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await work
    return caught.value.type


async def test_a_file_arrives_in_order_and_takes_its_place_as_a_whole(side: CopyingSide, root: Path) -> None:
    receiving = asyncio.ensure_future(side.answer_request(receive("a/new"), None))
    await asyncio.sleep(0)
    await side.answer_request(piece(0), b"abc")
    assert await failure(side.answer_request(piece(4), b"ef")) == "invalid_arguments"
    assert await failure(side.answer_request(piece(3), b"defg")) == "invalid_arguments", "more than was said"
    assert not (root / "a/new").exists()
    await side.answer_request(piece(3), b"def")
    await side.answer_request(finish(b"abcdef"), None)
    assert await receiving == ({"isNew": True}, None)
    assert (root / "a/new").read_bytes() == b"abcdef"
    assert (root / "a/new").stat().st_mode & 0o777 == 0o644, "others may not write"
    assert await failure(side.answer_request(piece(6), b"")) == "copy_lost"


@pytest.mark.parametrize(("sent", "said"), [(b"abcdef", b"abcdeF"), (b"abc", b"abc")], ids=["other", "short"])
async def test_what_is_not_what_was_sent_never_takes_its_place(
    side: CopyingSide, root: Path, sent: bytes, said: bytes
) -> None:
    receiving = asyncio.ensure_future(side.answer_request(receive(), None))
    await asyncio.sleep(0)
    await side.answer_request(piece(0), sent)
    await side.answer_request(finish(said), None)
    assert await failure(receiving) == "copy_corrupted"
    assert list(root.iterdir()) == []


async def test_a_copy_is_given_up_when_nothing_comes_for_too_long(workspace: Workspace, root: Path) -> None:
    arriving = Incoming(workspace, Receive.model_validate(receive()), idle_s=0.05)
    assert await failure(arriving.write_file()) == "copy_lost"
    assert list(root.iterdir()) == []


async def test_a_cancelled_copy_and_a_module_that_stops_leave_nothing(side: CopyingSide, root: Path) -> None:
    first, second = (asyncio.ensure_future(side.answer_request(receive(f"f{n}", TRANSFERS[n]), None)) for n in (0, 1))
    await asyncio.sleep(0)
    for transfer in TRANSFERS[:2]:
        await side.answer_request(piece(0, transfer), b"abc")
    assert len(list(root.iterdir())) == 2
    first.cancel()
    await side.close()
    assert await failure(second) == "copy_lost"
    async with asyncio.timeout(5):
        while list(root.iterdir()):
            await asyncio.sleep(0.01)
    assert first.cancelled()


async def test_more_than_four_files_at_one_time_are_refused(side: CopyingSide) -> None:
    receiving = [asyncio.ensure_future(side.answer_request(receive(each, each), None)) for each in TRANSFERS[:4]]
    await asyncio.sleep(0)
    assert await failure(side.answer_request(receive("e", TRANSFERS[4]), None)) == "too_many_copies"
    for each in receiving:
        each.cancel()
    await asyncio.wait(receiving)


async def test_a_file_that_changes_while_it_is_read_is_not_copied(side: CopyingSide, root: Path) -> None:
    (root / "a").write_bytes(b"abcdef")
    facts, _ = await side.answer_request({"wants": "source", "path": "a"}, None)
    read = {"wants": "read", "path": "a", "version": facts["version"], "offset": 0, "limitBytes": 3}
    assert (await side.answer_request(read, None))[1] == b"abc"
    (root / "a").write_bytes(b"ABCDEF!")
    assert await failure(side.answer_request(read | {"offset": 3}, None)) == "file_changed"


async def test_a_side_that_is_bounded_otherwise_and_a_question_that_it_does_not_know(
    side: CopyingSide, root: Path
) -> None:
    (root / "large").write_bytes(b"x" * 1001)
    assert await failure(side.answer_request({"wants": "source", "path": "large"}, None)) == "file_too_large"
    assert await failure(side.answer_request(receive(size=1001), None)) == "file_too_large"
    assert await failure(side.answer_request({"wants": "everything"}, None)) == "not_supported"
    assert await failure(side.answer_request(receive("../out"), None)) == "path_outside_workspace"
