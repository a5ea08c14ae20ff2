"""Finds pending steps of a rebase that could run a program (git-rebase(1))."""

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
    """Find new steps that could make git run something.

    Args:
        text: The content of a list of steps (`git-rebase-todo`).
        trusted: Its previous content.
    Returns:
        The harmful steps, and the content without them.
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
    # Whatever `core.commentChar` is, a comment starts with a punctuation character; commands are words.
    return word in _HARMLESS or not word[:1].isalnum()
