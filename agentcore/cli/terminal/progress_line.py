"""Shows the progress of a call on one terminal line that is rewritten."""

import shutil
import sys
from collections.abc import Mapping
from typing import Any

from agentcore.cli.terminal.output import print_notice
from agentcore.cli.terminal.visible_text import terminal_safe, truncate_line

_CLEAR_LINE = "\r\x1b[2K"


class ProgressLine:
    """Shows the progress of one call on stderr if that is a terminal, else nothing."""

    def __init__(self) -> None:
        self._is_shown = False
        self._is_terminal = sys.stderr.isatty()

    def __call__(self, kind: str, told: Mapping[str, Any]) -> None:
        """Handle a notification of a call: `progress`, or `approval` if a user has to decide elsewhere."""
        if kind == "progress":
            self._draw(told.get("fraction"), str(told.get("message", "")))
        elif kind == "approval":
            self.clear()
            print_notice(
                f"call {told.get('callId')} waits for approval at the server's terminal: {told.get('reason', '')}"
            )

    def clear(self) -> None:
        """Erase the line before other output is written."""
        if self._is_shown:
            sys.stderr.write(_CLEAR_LINE)
            sys.stderr.flush()
            self._is_shown = False

    def _draw(self, fraction: float | None, message: str) -> None:
        if not self._is_terminal:
            return
        share = "" if fraction is None else f"{min(max(fraction, 0.0), 1.0):4.0%} "
        columns = shutil.get_terminal_size().columns - 1
        sys.stderr.write(_CLEAR_LINE + truncate_line(share + terminal_safe(message), columns))
        sys.stderr.flush()
        self._is_shown = True
