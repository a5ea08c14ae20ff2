"""Checks that an answer was typed by a user who reads this terminal, not injected by another process.

A process that shares a terminal or has CAP_SYS_ADMIN can inject input (`ioctl(TIOCSTI)`), but cannot read what is shown
there. Unless the system rules that out, a decision must be typed together with a number that the question shows.
"""

import secrets
import sys
from collections.abc import Container
from pathlib import Path

WRONG_NUMBERS = 3
"""Number of wrong numbers after which a question expires."""

_NUMBERS = 10_000
_DIGITS = 4
_CAP_SYS_ADMIN = 21
_LEGACY_TIOCSTI = Path("/proc/sys/dev/tty/legacy_tiocsti")
_STATUS = Path("/proc/self/status")


def can_be_pushed(switch: Path = _LEGACY_TIOCSTI, status: Path = _STATUS, platform: str = sys.platform) -> bool:
    """True if another process of this user may be able to inject input into a terminal.

    Args:
        switch: The kernel's sysctl file, since Linux 6.2: 0 restricts injection to processes with CAP_SYS_ADMIN.
        status: The kernel's status file of this process, whose child processes may have its capabilities.
        platform: As `sys.platform`; other systems than Linux let any process on the terminal inject input.
    """
    if not platform.startswith("linux"):
        return True
    try:
        if switch.read_text().strip() != "0":
            return True
        (capabilities,) = [line for line in status.read_text().splitlines() if line.startswith("CapEff:")]
        return bool(int(capabilities.split()[1], 16) >> _CAP_SYS_ADMIN & 1)
    except (OSError, ValueError, IndexError):
        return True


class Proof:
    """The number to type with the answer to one question, and how often a wrong one was typed.

    Args:
        is_needed: True if a decision needs a number. None: determined from the system.
    """

    def __init__(self, *, is_needed: bool | None = None) -> None:
        self.is_needed = can_be_pushed() if is_needed is None else is_needed
        self._wrong = 0
        self._number = ""
        self.renew_number()

    @property
    def is_spent(self) -> bool:
        """True if the question has expired because of too many wrong numbers."""
        return self._wrong >= WRONG_NUMBERS

    def renew_number(self) -> None:
        """Choose a new number, before the question is shown (again)."""
        self._number = f"{secrets.randbelow(_NUMBERS):0{_DIGITS}}" if self.is_needed else ""

    def expected_input(self, word: str, rest: str = "") -> str:
        """Return what to type for a decision: `y 4821`, or `y` if no number is needed."""
        return " ".join(part for part in (word, self._number, rest) if part)

    def parse_line(self, line: str, deciding: Container[str]) -> tuple[str, str] | None:
        """Split a typed line into its first word in lower case and the rest without the number.

        Args:
            line: What was typed.
            deciding: Words that are valid only with the number.
        Returns:
            None if the number was missing or wrong.
        """
        word, _, rest = line.strip().partition(" ")
        word = word.lower()
        rest = rest.strip()
        if not self.is_needed or word not in deciding:
            return word, rest
        number, _, others = rest.partition(" ")
        if self.is_spent or not secrets.compare_digest(number.encode(), self._number.encode()):
            self._wrong += number.isdecimal()
            return None
        return word, others.strip()
