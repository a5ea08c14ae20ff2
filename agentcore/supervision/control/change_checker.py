"""`ChangeChecker`: whether a control file that is new or changed may stay as it is."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from agentcore.files.workspace import Workspace
from agentcore.supervision.control.entry import Entry
from agentcore.supervision.control.git_steps import find_harmful_steps
from agentcore.supervision.control.harmful_config import JudgedConfig
from agentcore.supervision.control.limits import GONE_REMEMBERED
from agentcore.supervision.control.pinned_paths import is_below, walk_upwards
from agentcore.supervision.control.tree import Found, Listed

_KEYS_SHOWN = 3
_CHARS_SHOWN = 80


@dataclass(slots=True)
class Known:
    """All that is trusted: how the control files were before, and what stood where.

    Args:
        entries: The control files.
        guarded: Folders of which all that is in them is a control file.
        git: The folders of all repositories.
        made: Folders that commands have made.
        kept: Folders that commands have moved, which stay what they were wherever they are.
        gone: Folders that were none of these and that commands have moved away or removed: what comes in their place
            has not been made.
        closed: Folders that could not be listed at some time: what is in them may have been there before.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    guarded: set[str] = field(default_factory=set)
    git: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)

    def is_made(self, path: str) -> bool:
        """Whether a path lies in a folder that commands have made."""
        if not self.made:
            return False
        return next(
            (above in self.made for above in walk_upwards(path) if above in self.made or above in self.kept), False
        )

    def track_folder_changes(self, found: Found) -> None:
        """Take note of which folders commands have made and moved."""
        self.closed.update(found.closed)
        there = {path: listed for path in found.before if (listed := found.folders.get(path)) is not None}
        moved = {path: now for path, now in there.items() if _get_inode(found.before[path]) != now.inode}
        if moved:
            # a folder that was moved is not where it was: it is among those that have changed
            inodes = {
                _get_inode(was) for path, was in found.before.items() if was is not None and not self.is_made(path)
            }
            self.kept |= {path for path, listed in moved.items() if listed.inode in inodes}
        self._track_removed_folders(found)
        for path in sorted(path for path, now in moved.items() if now.role == "plain" and found.before[path] is None):
            above, name = os.path.split(path)
            # configuration lies in hidden ones
            is_new = found.get_previous(above) is not None and path not in self.kept and not is_below(path, self.closed)
            is_new = is_new and len(self.gone) <= GONE_REMEMBERED and not is_below(path, self.gone)
            if is_new and not name.startswith(".") and not self.is_made(path):
                self.made.add(path)
        for noted in (self.made, self.kept, self.closed):
            noted.intersection_update([path for path in noted if path in found.folders])

    def _track_removed_folders(self, found: Found) -> None:
        gone = {
            path
            for path, was in found.before.items()
            if was is not None and was.role == "plain" and path not in found.folders and not self.is_made(path)
        }
        outermost = {path for path in gone if os.path.dirname(path) not in gone}  # noqa: PTH120
        self.gone |= {path for path in outermost if not is_below(path, self.gone)}


def _get_inode(listed: Listed | None) -> int | None:
    return None if listed is None else listed.inode


@dataclass(frozen=True, slots=True)
class Verdict:
    """What has to go.

    Args:
        path: The file, or the folder that it came in.
        why: What would have come of it.
        instead: What takes its place; None: nothing.
        replacement: What that is, in words.
    """

    path: str
    why: str
    instead: bytes | None = None
    replacement: str = ""


class ChangeChecker:
    """Holds what there is against what was.

    Args:
        known: What was.
        found: What there is.
        entries: The control files that there are.
        distrusted: Folders outside of the roots that confined programs write.
        roots: The workspace roots.
        is_held: True when no program that runs could reach a file.
    """

    def __init__(
        self,
        known: Known,
        found: Found,
        entries: dict[str, Entry],
        *,
        distrusted: Sequence[str],
        roots: Collection[str],
        is_held: Callable[[str, Entry, Found], bool],
    ) -> None:
        self._known = known
        self._found = found
        self._entries = entries
        self._distrusted = distrusted
        self._roots = roots
        self._is_held = is_held
        self._by_kind = {
            "hook": self._check_hook,
            "config": self._check_config,
            "redirect": self._check_redirect,
            "named": self._check_named,
            "link": self._check_link,
            "way": self._check_way,
            "steps": self._check_steps,
        }
        self._holding_trusted: set[str] = set()
        self._trusted = {
            (entry.kind, os.path.basename(path), entry.digest): entry  # noqa: PTH119
            for path, entry in known.entries.items()
            if entry.kind not in ("named", "way") or not known.is_made(path)
        }

    def find_verdicts(self) -> list[Verdict]:
        """All that has to go, each folder and file once."""
        found: dict[str, Verdict] = {}
        trusted = {path for path, entry in self._entries.items() if self._is_trusted(path, entry)}
        self._holding_trusted = {above for path in trusted for above in walk_upwards(os.path.dirname(path))}  # noqa: PTH120
        for path, entry in sorted(self._entries.items()):
            if path in trusted:
                continue
            verdict = self._by_kind[entry.kind](path, entry)
            if verdict is not None and not is_below(verdict.path, found):
                found[verdict.path] = verdict
        return list(found.values())

    def _is_trusted(self, path: str, entry: Entry) -> bool:
        before = self._known.entries.get(path)
        if before is not None and before.is_like(entry):
            return True
        # what leads elsewhere by its content leads to another place from another
        if not entry.redirects_git and (entry.kind, os.path.basename(path), entry.digest) in self._trusted:  # noqa: PTH119
            return True  # it stood elsewhere: a folder was renamed or copied
        is_moved = before is not None and before.real_paths != entry.real_paths
        return not is_moved and self._is_held(path, entry, self._found)

    def _check_hook(self, path: str, entry: Entry) -> Verdict | None:
        return self._create_verdict(path, "git, or what a link leads to it, would run or obey it")

    def _check_link(self, path: str, entry: Entry) -> Verdict | None:
        return self._create_verdict(path, "it leads to what git runs or obeys")

    def _check_way(self, path: str, entry: Entry) -> Verdict | None:
        if self._known.is_made(path):
            return None
        return self._create_verdict(path, "it leads editors, shells or agents to what they obey")

    def _check_named(self, path: str, entry: Entry) -> Verdict | None:
        if self._known.is_made(path):
            return None
        while self._is_new_folder(above := os.path.dirname(path)):  # noqa: PTH120
            path = above
        return self._create_verdict(path, "editors, shells, agents or this server obey it")

    def _is_new_folder(self, folder: str) -> bool:
        """Whether a folder of nothing but control files is new, and nothing in it is trusted."""
        if folder not in self._found.guarded or self._found.get_previous(folder) is not None:
            return False
        return folder not in self._holding_trusted

    def _check_redirect(self, path: str, entry: Entry) -> Verdict | None:
        if entry.real_paths and entry.real_paths[0] in self._found.git:
            return None
        why = "it leads git to a place that is not looked at"
        before = self._known.entries.get(path)
        if before is not None and before.digest == entry.digest:
            return Verdict(path, why)  # what it was leads there, too, by a link that changed
        return self._create_verdict(path, why)

    def _check_config(self, path: str, entry: Entry) -> Verdict | None:
        before = self._known.entries.get(path)
        trusted = read_config(path, before)
        config = read_config(path, entry, self._distrusted, self._roots)
        if config is None or not config.is_plain:
            return self._create_verdict(path, "git's configuration, in a form that is not understood")
        harmful = config.harmful(trusted, has_moved=before is not None and before.real_paths != entry.real_paths)
        if not harmful:
            return None
        instead = config.without(harmful).encode("utf-8", "surrogateescape")
        return Verdict(path, f"git's configuration with {_format_lines(harmful)}", instead, "the same without that")

    def _check_steps(self, path: str, entry: Entry) -> Verdict | None:
        before = self._known.entries.get(path)
        text = entry.decode_content()
        if text is None:
            return self._create_verdict(path, "steps of a rebase, in a form that is not understood")
        harmful, rest = find_harmful_steps(text, (before.decode_content() or "") if before is not None else "")
        if not harmful:
            return None
        instead = rest.encode("utf-8", "surrogateescape")
        return Verdict(path, f"git would go on with {_format_lines(harmful)}", instead, "the same without that")

    def _create_verdict(self, path: str, why: str) -> Verdict:
        """Put a file away that is new, and back to what it was one that is not."""
        before = self._known.entries.get(path)
        if before is not None and before.content is not None:
            return Verdict(path, why, before.content, "what was there before")
        return Verdict(path, why)


def _format_lines(lines: Sequence[object]) -> str:
    """The first of these lines, for a person."""
    shown = (str(line)[:_CHARS_SHOWN].encode("utf-8", "surrogateescape") for line in lines[:_KEYS_SHOWN])
    return ", ".join(map(Workspace.show_name, shown))


def read_config(
    path: str, entry: Entry | None, distrusted: Sequence[str] = (), roots: Collection[str] | None = None
) -> JudgedConfig | None:
    """A configuration of git's; None: there is none, or it cannot be read."""
    text = None if entry is None else entry.decode_content()
    return None if text is None else JudgedConfig(text, os.path.dirname(path), distrusted, roots)  # noqa: PTH120
