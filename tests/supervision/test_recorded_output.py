"""A recording keeps exactly the end of a stream, whatever comes in which pieces; and so under a real supervisor."""

import asyncio
import os
import select
from contextlib import contextmanager

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.api import Excerpt, Mark, Recording, Supervisor
from agentcore.files.folder import Folder
from agentcore.supervision.recorder import Recorder

pytestmark = [pytest.mark.spec("S5"), pytest.mark.spec("T4")]

BLOCKS = st.lists(
    st.binary(max_size=40) | st.sampled_from([b"\n", b"a\n", b"\n\n\n", b"x" * 50, b"line\n" * 9]), max_size=40
)


def kept_end(stream: bytes, limit_lines: int, limit_bytes: int) -> bytes:
    return b"".join(_lines(stream)[-limit_lines:])[-limit_bytes:]


def _lines(stream: bytes) -> list[bytes]:
    parts = stream.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


@contextmanager
def small_blocks(block_bytes: int):
    """Rings that go round after a few bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentcore.supervision.recorder.BLOCK_BYTES", block_bytes)
        patch.setattr("agentcore.supervision.recorded_output.BLOCK_BYTES", block_bytes)
        patch.setattr("agentcore.supervision.recorded_output._PIECE_BYTES", block_bytes + 3)
        yield


@contextmanager
def recorded(recording: Recording, track_numbers: list[int]):
    """A way to write to a stream that is recorded as the supervisor's program does it."""
    reading, writing = os.pipe()
    poll = select.poll()
    try:
        recording.record(reading, *(recording.tracks[number] for number in track_numbers))
        memory, *streams = recording.open()
        asked = recording.request()
        recorder = Recorder(memory, asked["tracks"], streams, asked["record"], poll)

        def write(data: bytes) -> None:
            os.write(writing, data)
            while poll.poll(0):
                recorder.record_available(streams[0])

        yield write
    finally:
        os.close(writing)
        os.close(reading)
    recorder.record_available(streams[0])
    assert recorder.is_complete


@given(BLOCKS, st.integers(1, 6), st.integers(1, 60), st.integers(1, 30))
def test_kept_is_the_longest_end_within_both_limits(blocks, limit_lines, limit_bytes, block_bytes):
    with small_blocks(block_bytes):
        recording = Recording((limit_lines, limit_bytes), (1000, 5))
        with recorded(recording, [0, 1]) as write:
            for block in blocks:
                write(block)
        stream = b"".join(blocks)
        first, second = recording.tracks
        excerpt = first.since()
        assert excerpt.data == kept_end(stream, limit_lines, limit_bytes)
        assert second.since().data == stream[-5:]
        left_out = stream[: len(stream) - len(excerpt.data)]
        assert excerpt.start == Mark(len(left_out), left_out.count(b"\n"))
        assert excerpt.end == first.end == Mark(len(stream), stream.count(b"\n"))
        assert excerpt.dropped_lines == left_out.count(b"\n")
        assert recording.written == len(stream)
        recording.close()
        recording.close()
        assert first.since() == excerpt
        assert first.since(Mark(len(stream), stream.count(b"\n"))).data == b""


@given(BLOCKS, BLOCKS, st.integers(1, 6), st.integers(1, 60), st.integers(1, 30))
def test_news_since_a_mark_are_what_came_after_it_or_what_is_kept_of_it(
    before, after, limit_lines, limit_bytes, block_bytes
):
    with small_blocks(block_bytes):
        recording = Recording((limit_lines, limit_bytes))
        (track,) = recording.tracks
        with recorded(recording, [0]) as write:
            for block in before:
                write(block)
            mark = track.end
            for block in after:
                write(block)
        news, kept = b"".join(after), track.since().data
        excerpt = track.since(mark)
        assert excerpt.data == (news if len(news) <= len(kept) else kept)
        assert excerpt.dropped_lines == news[: len(news) - len(excerpt.data)].count(b"\n")


def test_what_is_overwritten_while_somebody_reads_is_left_out(monkeypatch):
    with small_blocks(10):
        recording = Recording((1000, 60))
        (track,) = recording.tracks
        read = recording.read
        with recorded(recording, [0]) as write:
            write(b"".join(b"%02d\n" % number for number in range(20)))

            def overtaken(number: int, start: int, end: int) -> bytes:
                monkeypatch.setattr(recording, "read", read)
                data = read(number, start, end)
                write(b"new line!\n" * 5)
                return data

            monkeypatch.setattr(recording, "read", overtaken)
            excerpt: Excerpt = track.since()
            stream = b"".join(b"%02d\n" % number for number in range(20))
            assert excerpt == Excerpt(stream[20:], Mark(20, 6), Mark(60, 20), dropped_lines=6)


async def test_two_streams_and_their_order_come_from_a_real_command(tmp_path):
    heard = asyncio.Event()
    recording = Recording((100, 1000), (100, 1000), (100, 1000))
    out, err, both = recording.tracks
    assert (out.since().data, recording.written) == (b"", 0)
    async with Supervisor() as supervisor:
        with _pipes(2) as (pipes, ends), Folder(os.open(tmp_path, os.O_RDONLY)) as folder:
            recording.record(pipes[0], out, both)
            recording.record(pipes[1], err, both)
            process = await supervisor.start(
                ["/bin/bash", "-c", "read; echo one; echo two >&2; sleep 0.2; echo three; exit 3"],
                folder=folder,
                environment={},
                stdout=ends[0],
                stderr=ends[1],
                recording=recording,
            )
        process.on_output(0, heard.set)
        async with asyncio.timeout(60):
            await heard.wait()
            assert await process.wait() == 3
            await process.wait_for_recording()
        assert out.since().data == b"one\nthree\n"
        assert err.since().data == b"two\n"
        assert both.since().data in {b"one\ntwo\nthree\n", b"two\none\nthree\n"}
        assert process.is_recorded
        heard.clear()
        process.on_output(recording.written, heard.set)
        async with asyncio.timeout(60):
            await heard.wait()


async def test_flood_leaves_the_memory_of_the_server_flat_and_every_line_is_counted(tmp_path):
    own = psutil.Process()
    recording = Recording((5000, 4_000_000))
    async with Supervisor() as supervisor:
        with _pipes(1) as (pipes, ends), Folder(os.open(tmp_path, os.O_RDONLY)) as folder:
            recording.record(pipes[0], *recording.tracks)
            before = own.memory_info().rss
            process = await supervisor.start(
                ["/bin/bash", "-c", "seq 20000000"],
                folder=folder,
                environment={"PATH": os.environ["PATH"]},
                stdout=ends[0],
                recording=recording,
            )
        async with asyncio.timeout(300):
            await process.wait_for_recording()
    excerpt = recording.tracks[0].since()
    assert excerpt.data.startswith(b"19995001\n")
    assert excerpt.data.endswith(b"\n20000000\n")
    assert excerpt.dropped_lines == 19_995_000
    assert own.memory_info().rss - before < 20_000_000


@contextmanager
def _pipes(count: int):
    pairs = [os.pipe() for _ in range(count)]
    try:
        yield [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    finally:
        for fd in (fd for pair in pairs for fd in pair):
            os.close(fd)
