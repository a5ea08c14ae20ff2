"""Tells whether a call can lose something, as far as its tool and its preview say."""

from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.command_pattern import CommandPattern

_LOSING = tuple(
    CommandPattern(pattern)
    for pattern in (
        "rm *",
        "rmdir *",
        "unlink *",
        "shred *",
        "truncate *",
        "dd *",
        "mkfs*",
        "find * -delete*",
        "git clean *",
        "git reset --hard *",
        "git checkout -- *",
        "git restore *",
        "git branch -D *",
        "git push --force*",
        "git push -f *",
        "git stash drop *",
        "git stash clear *",
        "docker system prune *",
        "docker volume rm *",
        "dropdb *",
    )
)
"""Commands that delete or overwrite what was there; other commands are not said to, though they may."""


def may_lose_something(facts: CallFacts) -> bool:
    """Return True if a call deletes or overwrites something, or if only its tool says that it might.

    A command counts if it is known to delete, a change of files if it removes more lines than it adds.
    """
    if facts.definition.annotations.destructive is not True or facts.effects <= frozenset(("read", "session")):
        return False
    if facts.command is not None:
        command = facts.command
        return any(pattern.matches(command, surely=False) for pattern in _LOSING)
    diff = None if facts.preview is None else facts.preview.diff
    return _count_removed(diff) > 0 if diff else True


def _count_removed(diff: str) -> int:
    """Return how many more lines a diff removes than it adds."""
    lines = [line for line in diff.split("\n") if not line.startswith(("--- ", "+++ "))]
    return sum(line.startswith("-") for line in lines) - sum(line.startswith("+") for line in lines)
