"""That an answer was typed by somebody who reads this terminal, and not pushed into it by another process.

A process that shares a terminal, or may do anything, can push input into it (`ioctl(TIOCSTI)`); it cannot read what is
shown there. Where the system does not rule that out, a decision is typed together with a number that stands in the
question.
"""

import secrets
import sys
from collections.abc import Container
from pathlib import Path

WRONG_NUMBERS = 3
"""Wrong numbers in answer to one question after which it has expired."""

_NUMBERS = 10_000
_DIGITS = 4
_CAP_SYS_ADMIN = 21
_LEGACY_TIOCSTI = Path("/proc/sys/dev/tty/legacy_tiocsti")
_STATUS = Path("/proc/self/status")


def can_be_pushed(switch: Path = _LEGACY_TIOCSTI, status: Path = _STATUS, platform: str = sys.platform) -> bool:
    """Whether another process of this user may be able to push input into a terminal.

    Args:
        switch: The kernel's switch, there since Linux 6.2: 0 leaves pushing to whoever has CAP_SYS_ADMIN.
        status: What the kernel says of this process; what it starts may have the capabilities that it has.
        platform: As `sys.platform`; systems other than Linux let any process that has the terminal push.
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
    """The number of one question, and how often a wrong one was typed.

    Args:
        is_needed: Whether a decision takes a number here; None: as the system says.
    """

    def __init__(self, *, is_needed: bool | None = None) -> None:
        self.is_needed = can_be_pushed() if is_needed is None else is_needed
        self._wrong = 0
        self._number = ""
        self.renew_number()

    @property
    def is_spent(self) -> bool:
        """Whether so many wrong numbers were typed that the question has expired."""
        return self._wrong >= WRONG_NUMBERS

    def renew_number(self) -> None:
        """Take another number, before the question is shown (again)."""
        self._number = f"{secrets.randbelow(_NUMBERS):0{_DIGITS}}" if self.is_needed else ""

    def expected_input(self, word: str, rest: str = "") -> str:
        """What to type for a decision: `y 4821`, or `y` where no number is needed."""
        return " ".join(part for part in (word, self._number, rest) if part)

    def parse_line(self, line: str, deciding: Container[str]) -> tuple[str, str] | None:
        """Take a line that was typed: its first word in small letters, and the rest without the number.

        Args:
            line: What was typed.
            deciding: Words that count only with the number.
        Returns:
            None: the number was missing, or wrong.
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
