"""The ring keeps exactly the end of a stream, whatever comes in which pieces."""

import tracemalloc

import pytest
from agentcore_shell_tools.ring import Mark, Ring
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.spec("T4")

BLOCKS = st.lists(
    st.binary(max_size=40) | st.sampled_from([b"\n", b"a\n", b"\n\n\n", b"x" * 50, b"line\n" * 9]), max_size=40
)


def kept_end(stream: bytes, limit_lines: int, limit_bytes: int) -> bytes:
    return b"".join(_lines(stream)[-limit_lines:])[-limit_bytes:]


def _lines(stream: bytes) -> list[bytes]:
    parts = stream.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


@given(BLOCKS, st.integers(1, 6), st.integers(1, 60), st.integers(1, 30))
def test_kept_is_the_longest_end_within_both_limits(blocks, limit_lines, limit_bytes, piece_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentcore_shell_tools.ring._PIECE_BYTES", piece_bytes)
        ring = Ring(limit_lines, limit_bytes)
        for block in blocks:
            ring.append(block)
        stream = b"".join(blocks)
        excerpt = ring.since()
        assert excerpt.data == kept_end(stream, limit_lines, limit_bytes)
        left_out = stream[: len(stream) - len(excerpt.data)]
        assert excerpt.start == Mark(len(left_out), left_out.count(b"\n"))
        assert excerpt.end == Mark(len(stream), stream.count(b"\n"))
        assert excerpt.dropped_lines == left_out.count(b"\n")


@given(BLOCKS, BLOCKS, st.integers(1, 6), st.integers(1, 60))
def test_news_since_a_mark_are_what_came_after_it_or_what_is_kept_of_it(before, after, limit_lines, limit_bytes):
    ring = Ring(limit_lines, limit_bytes)
    for block in before:
        ring.append(block)
    mark = ring.end
    for block in after:
        ring.append(block)
    news, kept = b"".join(after), ring.since().data
    excerpt = ring.since(mark)
    assert excerpt.data == (news if len(news) <= len(kept) else kept)
    assert excerpt.dropped_lines == news[: len(news) - len(excerpt.data)].count(b"\n")


@pytest.mark.parametrize(
    "block", [b"x", b"\n", b"y" * 1000, b"z\n" * 100_000], ids=["bytes", "lines", "text", "blocks"]
)
def test_memory_is_bounded_by_the_limits_and_not_by_what_is_written(block):
    ring = Ring(5000, 100_000)
    tracemalloc.start()
    try:
        for _ in range(min(30_000, 10_000_000 // len(block))):
            ring.append(block)
        assert tracemalloc.get_traced_memory()[1] < 100_000 + 2 * 200_000 + 100_000
    finally:
        tracemalloc.stop()
