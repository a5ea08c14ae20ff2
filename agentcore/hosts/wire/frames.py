"""Frames on a byte stream: a length, a kind, and that many bytes."""

import struct
from collections.abc import Callable
from typing import Literal

from agentcore.api.host_kinds.frames import PIECE_BYTES, PIECE_HEADER_BYTES, PROTOCOL, TEXT_BYTES, LinkError

_HEADER = struct.Struct("!IB")
_PIECE = struct.Struct("!QB")
HEADER_BYTES = _HEADER.size
assert _PIECE.size == PIECE_HEADER_BYTES  # noqa: S101 - the limit of a frame has both

__all__ = [
    "BINARY",
    "HEADER_BYTES",
    "PIECE_BYTES",
    "PIECE_HEADER_BYTES",
    "PROTOCOL",
    "TEXT",
    "TEXT_BYTES",
    "FrameReader",
    "Kind",
    "LinkError",
    "decode_chunk",
    "encode_chunk",
    "encode_frame",
]

Kind = Literal[1, 2]
TEXT: Kind = 1
BINARY: Kind = 2


def encode_frame(kind: Kind, payload: bytes) -> bytes:
    """Encode a payload as a frame of the stream."""
    return _HEADER.pack(len(payload), kind) + payload


def encode_chunk(blob: int, data: bytes, *, is_last: bool) -> bytes:
    """Encode the payload of a binary frame: a chunk of a blob."""
    return _PIECE.pack(blob, is_last) + data


def decode_chunk(payload: bytes) -> tuple[int, bool, bytes]:
    """Decode a chunk: the blob's number, whether it ends here, and the data.

    Raises:
        LinkError: It is not a chunk.
    """
    if len(payload) < _PIECE.size:
        raise LinkError("a binary frame is too short for its header")
    blob, is_last = _PIECE.unpack_from(payload)
    return blob, bool(is_last), payload[_PIECE.size :]


class FrameReader:
    """Splits a stream into frames, as its bytes arrive.

    Args:
        take: Called with the kind and the payload of each.
    """

    def __init__(self, take: Callable[[Kind, bytes], None]) -> None:
        self._take = take
        self._held = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream.

        Raises:
            LinkError: They are no frames, or one is too large.
        """
        held = self._held
        if held or not self._is_one_frame(data):
            held += data
            self._read_frames()

    def _is_one_frame(self, data: bytes) -> bool:
        """Take a frame that came whole and alone, as most do, without copying it around."""
        if len(data) < HEADER_BYTES:
            return False
        length, kind = _HEADER.unpack_from(data)
        if len(data) != HEADER_BYTES + length:
            return False
        self._take(_check_frame(length, kind), data[HEADER_BYTES:])
        return True

    def _read_frames(self) -> None:
        held = self._held
        begin = 0
        while len(held) - begin >= HEADER_BYTES:
            length, number = _HEADER.unpack_from(held, begin)
            kind = _check_frame(length, number)
            end = begin + HEADER_BYTES + length
            if len(held) < end:
                break
            payload = bytes(memoryview(held)[begin + HEADER_BYTES : end])
            begin = end
            self._take(kind, payload)
        del held[:begin]


def _check_frame(length: int, kind: int) -> Kind:
    bound = TEXT_BYTES if kind == TEXT else PIECE_BYTES + PIECE_HEADER_BYTES
    if kind not in (TEXT, BINARY):
        raise LinkError(f"a frame of kind {kind}: this is not the protocol of hosts")
    if length > bound:
        raise LinkError(f"a frame of {length:,} bytes, the bound is {bound:,}")
    return TEXT if kind == TEXT else BINARY
