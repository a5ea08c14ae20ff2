"""Finds the module that blocks the event loop from a stack; used by the server and by the process that guards it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_FRAMES = 12

Frame = tuple[str, str, str]
"""File, line and function."""


class Holder(NamedTuple):
    """The code that blocks the event loop.

    Args:
        module: The module that contains the code; empty if unknown.
        tool: The tool that was called, if any.
        place: The location in the module's code, `file:line in function`.
        frames: The last 12 frames of the stack from the module's first frame on, outermost first; without a module,
            the last 12 of the whole stack.
    """

    module: str = ""
    tool: str = ""
    place: str = ""
    frames: tuple[str, ...] = ()


def find_holder(frames: Sequence[Frame], folders: Mapping[str, Sequence[str]]) -> Holder:
    """Find the module whose code appears in a stack; without one, return only the last frames of the stack.

    Args:
        frames: The stack, outermost first.
        folders: For each module, the prefixes of its file names.
    """
    for number, (file, _, _) in enumerate(frames):
        for module, starts in folders.items():
            if file.startswith(tuple(starts)):
                own = [frame for frame in frames[number:] if frame[0].startswith(tuple(starts))]
                return Holder(module, place=_format_frame(own[-1]), frames=_format_last_frames(frames[number:]))
    return Holder(frames=_format_last_frames(frames))


def _format_last_frames(frames: Sequence[Frame]) -> tuple[str, ...]:
    return tuple(map(_format_frame, frames[-_FRAMES:]))


def _format_frame(frame: Frame) -> str:
    return "{}:{} in {}".format(*frame)
