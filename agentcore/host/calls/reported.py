"""What a call reports of its work, read strictly: progress, messages, output."""

import math
from typing import Any, get_args

from agentcore.api import LogLevel
from agentcore.bounds import LOG_CHARS, OUTPUT_KEPT_CHARS, PROGRESS_CHARS
from agentcore.host.containment.foreign_error import type_name
from agentcore.host.containment.plain_values import plain_text

_LEVELS = frozenset(get_args(LogLevel))


def read_log(message: Any, level: Any) -> str:
    """A message as it is passed on.

    Raises:
        TypeError: It is no text.
        ValueError: There is no such level.
    """
    if not issubclass(type(message), str):
        raise TypeError(f"log: message must be text, not {type_name(message)}")
    if type(level) is not str or level not in _LEVELS:
        raise ValueError(f"log: level must be one of {', '.join(get_args(LogLevel))}")
    text = message if type(message) is str else str.__str__(message)
    return plain_text(text[:LOG_CHARS])


def read_fraction(fraction: Any) -> float | None:
    """How much of a call is done: a number from 0 to 1, or None.

    Raises:
        TypeError: It is neither.
    """
    if fraction is None:
        return None
    if not issubclass(type(fraction), int | float):
        raise TypeError(f"progress: fraction must be a number from 0 to 1 or None, not {type_name(fraction)}")
    number = float(fraction)
    return None if math.isnan(number) else min(max(number, 0.0), 1.0)


def read_message(message: Any) -> str:
    """What a call says of its progress, bounded.

    Raises:
        TypeError: It is no text.
    """
    if not issubclass(type(message), str):
        raise TypeError(f"progress: message must be text, not {type_name(message)}")
    text = message if type(message) is str else str.__str__(message)
    return plain_text(text[:PROGRESS_CHARS])


def read_output(text: Any) -> str:
    """The end of what a call has written.

    Raises:
        TypeError: It is no text.
    """
    if not issubclass(type(text), str):
        raise TypeError(f"show_output: what was written must be text, not {type_name(text)}")
    return plain_text(text[-OUTPUT_KEPT_CHARS:])
