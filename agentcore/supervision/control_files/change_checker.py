"""`ChangeChecker`: decides if a new or changed control file may stay as it is."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import field

from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.supervision.control_files.control_file_entry import Entry
from agentcore.supervision.control_files.git_steps import find_harmful_steps
from agentcore.supervision.control_files.guard_limits import GONE_REMEMBERED
from agentcore.supervision.control_files.harmful_config import JudgedConfig
from agentcore.supervision.control_files.pinned_paths import is_below, walk_upwards
from agentcore.supervision.control_files.tree import Found, Listed

_KEYS_SHOWN = 3
_CHARS_SHOWN = 80


@dataclass(slots=True)
class Known:
    """The trusted state: the control files as they were before, and the history of folders.

    Args:
        entries: The control files.
        guarded: Folders in which every file is a control file.
        git: The git folders of all repositories.
        made: Folders that commands have created.
        kept: Folders that commands have moved and that do not count as created, wherever they are now.
        gone: Other folders that commands have moved away or removed: a folder in their place does not count as created.
        closed: Folders that could not be listed at some time: their content may have existed before.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    guarded: set[str] = field(default_factory=set)
    git: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)

    def is_made(self, path: str) -> bool:
        """True if a path is in a folder that commands have created."""
        if not self.made:
            return False
        return next(
            (above in self.made for above in walk_upwards(path) if above in self.made or above in self.kept), False
        )

    def track_folder_changes(self, found: Found) -> None:
        """Record which folders commands have created and moved."""
        self.closed.update(found.closed)
        there = {path: listed for path in found.before if (listed := found.folders.get(path)) is not None}
        moved = {path: now for path, now in there.items() if _get_inode(found.before[path]) != now.inode}
        if moved:
            # A moved folder is missing at its old path, so it is among the changed ones.
            inodes = {
                _get_inode(was) for path, was in found.before.items() if was is not None and not self.is_made(path)
            }
            self.kept |= {path for path, listed in moved.items() if listed.inode in inodes}
        self._track_removed_folders(found)
        for path in sorted(path for path, now in moved.items() if now.role == "plain" and found.before[path] is None):
            above, name = os.path.split(path)
            # Hidden folders never count as created: they hold configuration.
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
    """A file or folder that has to be quarantined.

    Args:
        path: The file, or the new folder that contains it.
        why: Why it is harmful.
        instead: The content that replaces it; None for nothing.
        replacement: A description of the replacement.
    """

    path: str
    why: str
    instead: bytes | None = None
    replacement: str = ""


class ChangeChecker:
    """Compares the current state with the trusted one.

    Args:
        known: The trusted state.
        found: The current state.
        entries: The current control files.
        distrusted: Folders outside the roots that confined programs can write to.
        roots: The workspace roots.
        is_held: Returns True if no running program could reach a file.
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
        """Find everything that has to be quarantined, each folder and file once."""
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
        # A file that redirects git may mean something else in another folder, so the same content is no evidence.
        if not entry.redirects_git and (entry.kind, os.path.basename(path), entry.digest) in self._trusted:  # noqa: PTH119
            return True  # the same file was trusted elsewhere: a folder was renamed or copied
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
        """True if a folder that consists of control files is new and contains nothing trusted."""
        if folder not in self._found.guarded or self._found.get_previous(folder) is not None:
            return False
        return folder not in self._holding_trusted

    def _check_redirect(self, path: str, entry: Entry) -> Verdict | None:
        if entry.real_paths and entry.real_paths[0] in self._found.git:
            return None
        why = "it leads git to a place that is not looked at"
        before = self._known.entries.get(path)
        if before is not None and before.digest == entry.digest:
            return Verdict(path, why)  # its former content leads there too, through a link that changed
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
        """Create a verdict that removes a new file or restores a changed one to its former content."""
        before = self._known.entries.get(path)
        if before is not None and before.content is not None:
            return Verdict(path, why, before.content, "what was there before")
        return Verdict(path, why)


def _format_lines(lines: Sequence[object]) -> str:
    """Format the first of these lines for the user."""
    shown = (str(line)[:_CHARS_SHOWN].encode("utf-8", "surrogateescape") for line in lines[:_KEYS_SHOWN])
    return ", ".join(map(Workspace.show_name, shown))


def read_config(
    path: str, entry: Entry | None, distrusted: Sequence[str] = (), roots: Collection[str] | None = None
) -> JudgedConfig | None:
    """Parse a git configuration file; None if it does not exist or cannot be read."""
    text = None if entry is None else entry.decode_content()
    return None if text is None else JudgedConfig(text, os.path.dirname(path), distrusted, roots)  # noqa: PTH120
