"""What changed between two looks at a page, by the identity of its nodes."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from agentcore_chrome.tab.page_tree import Line, PageTree

_GONE = 40


def differences(before: PageTree, after: PageTree) -> list[str]:
    """Lines that tell what changed: `+` is new, `~` says something else now, `-` is gone.

    A node that was made anew and says the same is told only where its reference is another one now. Of what is gone,
    the topmost line is told. Where there is more to tell than the page itself has, see `is_too_much`.
    """
    old = {line.key: line for line in before.lines}
    keys = {line.key for line in after.lines}
    gone = [line for line in before.lines if line.key not in keys]
    remade = _remade(gone, [line for line in after.lines if line.key not in old])
    return [*_heads(before, after), *_gone(before.lines, keys, remade), *_come(after.lines, old, remade)]


def is_other_page(before: str, after: str) -> bool:
    """Whether two addresses are of different pages, not of places in one."""
    return before.partition("#")[0] != after.partition("#")[0]


def _heads(before: PageTree, after: PageTree) -> Iterator[str]:
    if before.url != after.url:
        yield f"~ url: {after.url}"
    if before.title != after.title:
        yield f"~ title: {after.title}"


def _remade(gone: Sequence[Line], come: Sequence[Line]) -> dict[str, Line]:
    """Lines that say the same as one that is gone, by the keys of both."""
    free: dict[tuple[str, bool], list[Line]] = defaultdict(list)
    for line in reversed(gone):
        free[line.text, line.ref is None].append(line)
    pairs: dict[str, Line] = {}
    for line in come:
        if like := free[line.text, line.ref is None]:
            old = like.pop()
            pairs[line.key], pairs[old.key] = old, line
    return pairs


def _gone(lines: Sequence[Line], keys: set[str], remade: dict[str, Line]) -> Iterator[str]:
    told: list[Line] = []
    inside: Counter[str] = Counter()
    top: Line | None = None
    for line in lines:
        if top is not None and line.depth <= top.depth:
            top = None
        if line.key in keys or line.key in remade:
            continue
        if top is None:
            top = line
            told.append(line)
        else:
            inside[top.key] += 1
    for line in told[:_GONE]:
        more = f" and {inside[line.key]} lines in it" if inside[line.key] else ""
        yield f"- {str(line).strip(' -').removesuffix(':')}{more}"
    if len(told) > _GONE:
        yield f"- {len(told) - _GONE} more"


def _come(lines: Sequence[Line], old: dict[str, Line], remade: dict[str, Line]) -> Iterator[str]:
    path: list[tuple[Line, bool]] = []
    for line in lines:
        while path and path[-1][0].depth >= line.depth:
            path.pop()
        was = old.get(line.key)
        is_new = was is None and line.key not in remade
        indent = sum(came for _, came in path)
        path.append((line, is_new))
        said = f"{' ' * indent}{str(line).lstrip()}"
        if is_new:
            yield f"+ {said}"
        elif was is not None:
            if was.text != line.text or was.ref != line.ref:
                yield f"~ {said}"
        elif line.ref is not None:
            yield f"~ {said.removesuffix(':')} (was {remade[line.key].ref})"
