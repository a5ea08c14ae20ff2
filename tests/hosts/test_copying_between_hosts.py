"""`copy_between_hosts`, and what it does when people, machines and links do what they should not."""

import asyncio
import hashlib
import json
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.fake_machine import FakeMachine, Message, lying_machine
from tests.hosts.network.relay import LOOPBACK, relay_to
from tests.hosts.two_machines import WAIT_S, Place, Server, paired, serving

pytestmark = pytest.mark.spec("H3")

COPY = "copy_between_hosts"
BYTES = 30 * 1024 * 1024 + 12_345
SEVERAL_PIECES = 3 * 1024 * 1024 + 12_345


@pytest.fixture
def server_place(tmp_path):
    return Place(tmp_path / "server", modules=["fs_tools", "agent_tools"], approvals={"mode": "allow"})


@pytest.fixture
def laptop(tmp_path):
    return Place(tmp_path / "laptop", modules=["fs_tools"])


@asynccontextmanager
async def through_relay(server_place: Place, laptop: Place):
    """A server and a laptop, with a link between them that a test can spoil."""
    async with relay_to(LOOPBACK, 0) as relay:
        own = f"{LOOPBACK}:{relay.address[1]}"
        server_place.write_app(modules=["fs_tools"], server={"hosts": [own], "port": 0})
        async with serving(server_place) as server:
            relay.port = int(server.address.rpartition(":")[2])
            async with paired(server, laptop, "laptop", address=f"http://{own}"):
                yield server, relay


async def approved(server: Server, call_id: str) -> Any:
    """Say yes in the approval view; gives what was shown."""
    async with server.person.get("/api/approvals") as response:
        waiting = (await response.json())["calls"]
    [shown] = [each for each in waiting if each["callId"] == call_id]
    answer = await server.decide(f"/api/approvals/{call_id}/decision", approved=True, digest=shown["digest"])
    assert "error" not in answer, answer
    return shown


async def copy(server: Server, **arguments: Any) -> tuple[Any, Any]:
    """Have a file copied, with a person's word; gives what they were shown, and the end."""
    asked = await server.call(COPY, **arguments)
    assert asked["error"]["type"] == "approval_required", asked
    call_id = asked["error"]["context"]["callId"]
    shown = await approved(server, call_id)
    return shown, await server.call(COPY, call_id=call_id, timeout_ms=120_000, **arguments)


async def begin(server: Server, **arguments: Any) -> tuple[str, asyncio.Task[Any]]:
    """Begin to copy a file, with a person's word."""
    asked = await server.call(COPY, **arguments)
    call_id = asked["error"]["context"]["callId"]
    await approved(server, call_id)
    return call_id, asyncio.create_task(server.call(COPY, call_id=call_id, timeout_ms=120_000, **arguments))


async def error(server: Server, **arguments: Any) -> Any:
    """Why a copy is refused before anybody is asked about it."""
    return (await server.call(COPY, **arguments))["error"]


def write(path: Path, size: int, mode: int = 0o640) -> str:
    """Make a file; gives its digest."""
    data = os.urandom(size)
    path.write_bytes(data)
    path.chmod(mode)
    return hashlib.sha256(data).hexdigest()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def halves(place: Place) -> list[Path]:
    """What is left of copies that were not finished."""
    return [*place.workspace.rglob(".agentcore-*.tmp")]


async def until_half_is_there(place: Place) -> None:
    async with asyncio.timeout(WAIT_S):
        while not any(each.stat().st_size for each in halves(place)):
            await asyncio.sleep(0.02)


@pytest.mark.more
async def test_a_large_file_goes_each_way_with_a_persons_word_each_time(server_place, laptop):
    """To the laptop and back; what the person is shown says what goes where, and nothing is left over."""
    sent = write(server_place.workspace / "big.bin", SEVERAL_PIECES, 0o751)
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        shown, there = await copy(server, from_path="big.bin", to_host="laptop", to_path="in/big.bin")
        _, back = await copy(server, from_host="laptop", from_path="in/big.bin", to_host="", to_path="back.bin")
        again = await error(server, from_host="laptop", from_path="in/big.bin", to_path="back.bin")
        small = write(laptop.workspace / "small", 10)
        replacing, over = await copy(server, from_host="laptop", from_path="small", to_path="back.bin", overwrite=True)
    copied = laptop.workspace / "in/big.bin"
    assert there["ok"] is True, there
    assert there["data"] == {
        "from_host": "",
        "from_path": str(server_place.workspace / "big.bin"),
        "to_host": "laptop",
        "to_path": str(copied),
        "size_bytes": SEVERAL_PIECES,
        "sha256": sent,
        "overwrote": False,
    }
    assert digest(copied) == sent
    assert copied.stat().st_mode & 0o777 == 0o751
    assert back["ok"] is True, back
    assert again["type"] == "file_exists"
    assert (over["data"]["overwrote"], digest(server_place.workspace / "back.bin")) == (True, small)
    told = json.dumps(shown)
    assert "from the server to host laptop" in told
    assert str(copied) in told
    assert f"laptop:{copied}" in told
    assert "replaces" not in told
    assert "It replaces the file that is there." in json.dumps(replacing)
    assert halves(server_place) == halves(laptop) == []


@pytest.mark.more
async def test_a_file_goes_from_one_host_to_another_and_an_empty_one_too(server_place, laptop, tmp_path):
    """What passes through the server stays nowhere on it."""
    desktop = Place(tmp_path / "desktop", modules=["fs_tools"])
    sent = write(laptop.workspace / "notes", 2_500_000)
    (laptop.workspace / "empty").touch()
    async with (
        serving(server_place) as server,
        paired(server, laptop, "laptop"),
        paired(server, desktop, "desktop"),
    ):
        between = {"from_host": "laptop", "to_host": "desktop"}
        shown, ended = await copy(server, **between, from_path="notes", to_path="notes")
        _, empty = await copy(server, **between, from_path="empty", to_path="empty")
    assert ended["ok"] is True, ended
    assert empty["data"]["size_bytes"] == 0
    assert digest(desktop.workspace / "notes") == sent
    assert (desktop.workspace / "empty").read_bytes() == b""
    assert "from host laptop to host desktop" in json.dumps(shown)
    assert list(server_place.workspace.iterdir()) == []


@pytest.mark.more
async def test_a_copy_reports_its_bytes_while_it_waits_for_a_person(server_place, laptop):
    write(laptop.workspace / "log.bin", 3 * 1024 * 1024)
    async with serving(server_place) as server, paired(server, laptop, "laptop"):
        events, kinds = [], []
        body = {"arguments": {"from_host": "laptop", "from_path": "log.bin", "to_path": "log.bin"}, "session_id": "s0"}
        headers = {"Accept": "text/event-stream"}
        async with server._client.post(f"/api/tools/{COPY}/call", json=body, headers=headers) as response:
            async for line in response.content:
                text = line.decode().strip()
                if text.startswith("event: "):
                    kinds.append(text.removeprefix("event: "))
                elif text.startswith("data: "):
                    events.append(json.loads(text.removeprefix("data: ")))
                    if kinds[-1] == "approval":
                        await approved(server, events[-1]["callId"])
    progress = [event for kind, event in zip(kinds, events, strict=True) if kind == "progress"]
    assert kinds[-1] == "result"
    assert events[-1]["ok"] is True
    assert progress[-1]["fraction"] == 1
    assert "3,145,728 of 3,145,728 bytes" in progress[-1]["message"]


@pytest.mark.more
async def test_what_cannot_be_copied_is_refused_before_anybody_is_asked(server_place, laptop):
    server_place.write_app(modules=["fs_tools"], config={"fs_tools": {"between_hosts_mb": 1}})
    here, there = server_place.workspace, laptop.workspace
    write(here / "a", 10)
    write(there / "b", 10)
    write(here / "large", 1024 * 1024 + 1)
    write(there / "read_only", 10, 0o444)
    (there / "folder").mkdir()
    (here.parent / "secret").write_text("secret")
    (there.parent / "secret").write_text("secret")
    (here / "way_out").symlink_to(here.parent / "secret")
    (there / "way_out").symlink_to(there.parent / "secret")
    async with serving(server_place) as server, paired(server, laptop, "laptop"):

        async def to_laptop(from_path: str, to_path: str = "new", **rest: Any) -> str:
            return (await error(server, from_path=from_path, to_host="laptop", to_path=to_path, **rest))["type"]

        async def from_laptop(from_path: str, to_path: str = "new", **rest: Any) -> str:
            return (await error(server, from_host="laptop", from_path=from_path, to_path=to_path, **rest))["type"]

        for path in ("../secret", "way_out", "/etc/passwd"):
            assert await to_laptop(path) == "path_outside_workspace"
            assert await from_laptop(path) == "path_outside_workspace"
            assert await to_laptop("a", path, overwrite=True) == "path_outside_workspace"
            assert await from_laptop("b", path, overwrite=True) == "path_outside_workspace"
        assert await to_laptop("none") == await from_laptop("none") == "path_not_found"
        assert await to_laptop("a", "b") == await from_laptop("b", "a") == "file_exists"
        assert await to_laptop("a", "folder", overwrite=True) == "is_a_directory"
        assert await from_laptop("folder") == "is_a_directory"
        assert await to_laptop("a", "read_only", overwrite=True) == "permission_denied"
        assert await to_laptop("large") == "file_too_large"
        same = await error(server, from_path="a", to_path="c")
        assert same["type"] == "same_host"
        assert "file_copy" in same["message"]
        unknown = await error(server, from_path="a", to_host="desktop", to_path="c")
        assert unknown["type"] == "host_not_found"
        await server.post("/api/hosts/laptop/drain", on=True)
        assert await to_laptop("a") == "host_draining"
        async with server.person.get("/api/approvals") as response:
            assert (await response.json())["calls"] == []


@pytest.mark.more
async def test_a_host_whose_files_may_not_be_changed_takes_none_and_a_protected_one_is_named(server_place, laptop):
    (server_place.workspace / "hook").write_text("#!/bin/sh\n")
    (laptop.workspace / ".git").mkdir()
    (laptop.workspace / ".bashrc").write_text("true\n")
    async with serving(server_place) as server:
        async with paired(server, laptop, "laptop"):
            asked = await server.call(COPY, from_path="hook", to_host="laptop", to_path=".git/hooks/pre-commit")
            assert asked["error"]["type"] == "approval_required"
            shown = await approved(server, asked["error"]["context"]["callId"])
            assert "decides what runs" in json.dumps(shown)
            other = await server.call(COPY, from_host="laptop", from_path=".bashrc", to_path="taken")
            assert "decides what runs" in json.dumps(await approved(server, other["error"]["context"]["callId"]))
        assert (await error(server, from_path="hook", to_host="laptop", to_path="x"))["type"] == "host_away"
    laptop.write_app(modules=["fs_tools"], config={"fs_tools": {"writable": False}})
    async with serving(server_place) as server:
        await server.delete("/api/hosts/laptop")
        (laptop.state / "servers").rename(laptop.state / "former")
        async with paired(server, laptop, "laptop"):
            refused = await error(server, from_path="hook", to_host="laptop", to_path="x")
    assert refused["type"] == "workspace_read_only"


@pytest.mark.more
async def test_the_tools_are_offered_only_while_there_is_a_host(server_place, laptop):
    async def offered(server: Server, **query: str) -> set[str]:
        path = "/api/tools" + "".join(f"?{name}={value}" for name, value in query.items())
        return {tool["name"] for tool in (await server.get(path))["tools"]} & {COPY, "list_hosts"}

    async def offered_in_time(server: Server, expected: set[str]) -> None:
        async with asyncio.timeout(WAIT_S):
            while await offered(server) != expected:
                await asyncio.sleep(0.05)

    async with serving(server_place) as server:
        assert await offered(server) == set()
        async with paired(server, laptop, "laptop"):
            await offered_in_time(server, {COPY, "list_hosts"})
            listed = await server.call("list_hosts")
            at_host = next(each for each in (await server.get("/api/modules"))["modules"] if each["name"] == "fs_tools")
            own = await server.get("/api/tools?host=laptop")
        await server.host_is("laptop", "away")
        away = await server.call("list_hosts")
        assert await offered(server) == {COPY, "list_hosts"}
        await server.delete("/api/hosts/laptop")
        await offered_in_time(server, set())
        gone = await server.call("list_hosts")
    [known] = listed["data"]["hosts"]
    assert known == {
        "name": "laptop",
        "state": "running",
        "platform": known["platform"],
        "folders": [str(laptop.workspace)],
        "modules": ["fs_tools"],
    }
    assert listed["content"][0]["text"] == (
        f"laptop: connected; {known['platform']}; folders {laptop.workspace}; modules fs_tools"
    )
    assert at_host
    assert [each for each in own["tools"] if each["name"] == COPY and each.get("host")] == [], "no other machine has it"
    assert away["content"][0]["text"].startswith("laptop: not connected")
    assert gone["error"]["type"] == "unknown_tool"


@pytest.mark.more
async def test_a_link_that_is_cut_in_the_middle_leaves_no_half_of_a_file(server_place, laptop):
    write(server_place.workspace / "big.bin", BYTES)
    write(laptop.workspace / "big.bin", BYTES)
    (laptop.workspace / "old.bin").write_text("old")
    async with through_relay(server_place, laptop) as (server, relay):
        relay.back.bytes_per_s = relay.out.bytes_per_s = 8_000_000.0
        arguments = {"from_path": "big.bin", "to_host": "laptop", "to_path": "old.bin", "overwrite": True}
        _, copying = await begin(server, **arguments)
        await until_half_is_there(laptop)
        async with relay.down():
            ended = await copying
        await server.host_is("laptop", "running")
        _, copying = await begin(server, from_host="laptop", from_path="big.bin", to_path="back.bin")
        await until_half_is_there(server_place)
        async with relay.down():
            lost = await copying
        await server.host_is("laptop", "running")
        relay.back.bytes_per_s = relay.out.bytes_per_s = None
        _, after = await copy(server, **arguments)
    assert ended["error"]["type"] == lost["error"]["type"] == "host_away"
    assert ended["error"]["retryable"] is True
    assert after["ok"] is True, after
    assert digest(laptop.workspace / "old.bin") == digest(server_place.workspace / "big.bin")
    assert not (server_place.workspace / "back.bin").exists()
    assert halves(server_place) == halves(laptop) == []


@pytest.mark.more
async def test_a_cancelled_copy_leaves_nothing_behind(server_place, laptop):
    write(server_place.workspace / "big.bin", BYTES)
    async with through_relay(server_place, laptop) as (server, relay):
        relay.back.bytes_per_s = 4_000_000.0
        call_id, copying = await begin(server, from_path="big.bin", to_host="laptop", to_path="big.bin")
        await until_half_is_there(laptop)
        await server.post(f"/api/calls/{call_id}/cancel")
        ended = await copying
        async with asyncio.timeout(WAIT_S):
            while halves(laptop):
                await asyncio.sleep(0.05)
    assert ended["error"]["type"] == "cancelled"
    assert not (laptop.workspace / "big.bin").exists()


FACTS = {"path": "/home/eve/x", "sizeBytes": 3, "mode": 0o644, "version": "1", "isProtected": False}


def _lies(facts: dict[str, Any], piece: bytes = b"abc", told: bytes = b"abc"):
    """What a machine does that says it has a file."""

    async def answer(machine: FakeMachine, message: Message) -> None:
        if message["request"]["wants"] == "source":
            await machine.reply(message, {"answer": FACTS | facts})
        else:
            said = {"sha256": hashlib.sha256(told).hexdigest()}
            await machine.reply(message, {"answer": said, "blob": await machine.blob(piece)})

    return answer


LIES = {
    "a path of two lines": ({"path": "/x\nto the server: /etc"}, {}, "host_failed"),
    "a path that runs backwards": ({"path": "/x\u202egpj.exe"}, {}, "host_failed"),
    "a size below nothing": ({"sizeBytes": -1}, {}, "host_failed"),
    "a size that is none": ({"sizeBytes": "3"}, {}, "host_failed"),
    "protected or not": ({"isProtected": 0}, {}, "host_failed"),
    "a piece that is too long": ({}, {"piece": b"abcd"}, "host_failed"),
    "a piece that is another one": ({}, {"piece": b"abd"}, "copy_corrupted"),
}


@pytest.mark.more
async def test_what_a_lying_host_says_of_a_file_makes_none_here(server_place):
    async with serving(server_place) as server:
        for number, (lie, (facts, pieces, expected)) in enumerate(LIES.items()):
            name = f"liar{number}"
            async with lying_machine(server, name, ["fs_tools"], _lies(facts, **pieces)):
                arguments = {"from_host": name, "from_path": "x", "to_path": f"taken{number}"}
                ended = (await copy(server, **arguments))[1] if pieces else await server.call(COPY, **arguments)
                assert ended["error"]["type"] == expected, (lie, ended)
    assert list(server_place.workspace.iterdir()) == []


async def test_a_lying_host_gets_no_file_by_a_call_that_it_makes_within_its_own(server_place, laptop):
    """Neither from the server nor from another host, and nobody is even asked."""
    (server_place.workspace / "secret").write_text("secret")
    (laptop.workspace / "secret").write_text("secret")
    async with (
        serving(server_place) as server,
        paired(server, laptop, "laptop"),
        lying_machine(server, "liar", ["fs_tools"], _lies({})) as machine,
    ):
        calling = asyncio.create_task(server.call("lie_liar"))
        async with asyncio.timeout(WAIT_S):
            call = await machine.calls.get()
            for source in ("", "laptop"):
                arguments = {"from_host": source, "from_path": "secret", "to_host": "liar", "to_path": "x"}
                await machine.say("call.nested", id=7, n=call["n"], tool=COPY, arguments=arguments)
                told = await machine.replies.get()
                assert (told["ok"], told["error"]["type"]) == (False, "hosts_not_reachable"), told
            result = {"content": [{"type": "text", "text": "done"}], "data": None}
            await machine.say("tool.result", id=call["call"], n=call["n"], ok=True, result=result)
            assert (await calling)["ok"] is True
        async with server.person.get("/api/approvals") as response:
            assert (await response.json())["calls"] == []
