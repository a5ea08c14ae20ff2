"""Who holds the server's event loop, as frames of a stack tell it; in the server and in the process that guards it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

_FRAMES = 12

Frame = tuple[str, str, str]
"""File, line and function."""


class Holder(NamedTuple):
    """Who holds the event loop.

    Args:
        module: The module whose code it is; empty: nobody can tell.
        tool: The tool that was called, if it was one.
        place: Where in the module's code, `file:line in function`.
        frames: The way there from where the module's code begins, outermost first.
    """

    module: str = ""
    tool: str = ""
    place: str = ""
    frames: tuple[str, ...] = ()


def find_holder(frames: Sequence[Frame], folders: Mapping[str, Sequence[str]]) -> Holder:
    """The module whose code stands in a stack; without one, the end of the stack alone.

    Args:
        frames: The stack, outermost first.
        folders: For each module, how the names of its files begin.
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
