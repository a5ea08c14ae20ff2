"""What git has still to do of a rebase: whether each step is one that can run nothing (git-rebase(1))."""

import re
from collections import Counter

_FIRST_WORD = re.compile(r"[ \t]*([^\s]*)")
_HARMLESS = frozenset(
    (
        "pick",
        "p",
        "revert",
        "edit",
        "e",
        "reword",
        "r",
        "fixup",
        "f",
        "squash",
        "s",
        "drop",
        "d",
        "break",
        "b",
        "noop",
        "label",
        "l",
        "reset",
        "t",
        "merge",
        "m",
        "update-ref",
        "u",
    )
)


def find_harmful_steps(text: str, trusted: str = "") -> tuple[list[str], str]:
    """Find the steps that could have git run something and were not there before.

    Args:
        text: What a list of steps holds (`git-rebase-todo`).
        trusted: What it held before.
    Returns:
        These steps, and the list without them.
    """
    known = Counter(trusted.split("\n"))
    harmful: list[str] = []
    rest: list[str] = []
    for step in text.split("\n"):
        if _is_harmless(step):
            rest.append(step)
        elif known[step] > 0:
            known[step] -= 1
            rest.append(step)
        else:
            harmful.append(step)
    return harmful, "\n".join(rest)


def _is_harmless(step: str) -> bool:
    match = _FIRST_WORD.match(step)
    word = match[1] if match else ""
    # a comment begins with a sign, whichever `core.commentChar` says; commands are words
    return word in _HARMLESS or not word[:1].isalnum()
