"""Rules of `.gitignore`, as ripgrep applies them: the last rule that matches counts, that of the deepest file first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import re2  # type: ignore[import-untyped]

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.globs import as_regex

IGNORE_FILE = b".gitignore"
GIT_FOLDER = b".git"
_FILE_LIMIT_BYTES = 1 << 20
_LINE_LIMIT_CHARS = 1_000
_SET_MEMORY_BYTES = 64 << 20  # at most, for files with thousands of rules


@dataclass(frozen=True, slots=True)
class Rule:
    """One line.

    Args:
        glob: Without the marks around it.
        is_kept: It began with `!`: a match is not ignored after all.
        is_folder_only: It ended with `/`.
        is_anchored: It is relative to the folder of its file, else it matches at any depth.
    """

    glob: str
    is_kept: bool = False
    is_folder_only: bool = False
    is_anchored: bool = False

    def line_for_root(self, base: str) -> str:
        """The rule as a line of an ignore file of the root.

        Args:
            base: The folder of its own file beneath the root, with `/` at its end, or nothing.
        """
        mark, end = "!" if self.is_kept else "", "/" if self.is_folder_only else ""
        return f"{mark}/{escape_glob(base)}{'' if self.is_anchored else '**/'}{self.glob}{end}"


@dataclass(slots=True)
class RuleSet:
    """The rules of one file.

    Args:
        rules: In the order of the file.
        base: What a path, relative to where a walk began, lacks in front to be relative to the file's folder.
        cut: How many characters it has in front that the file's folder does not know.
    """

    rules: Sequence[Rule]
    base: str = ""
    cut: int = 0
    _set: re2.Set | None = field(init=False, default=None)
    _numbers: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        options = re2.Options()
        options.dot_nl, options.log_errors, options.max_mem = True, False, _SET_MEMORY_BYTES
        matchers = re2.Set.FullMatchSet(options)
        for number, rule in enumerate(self.rules):
            try:
                matchers.Add(as_regex(rule.glob if rule.is_anchored else f"**/{rule.glob}"))
            except (ToolError, re2.error):
                continue  # git and ripgrep pass over a line that they cannot read, too
            self._numbers.append(number)
        if self._numbers:
            matchers.Compile()
            self._set = matchers

    def decide(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether a path, relative to where the walk began, is ignored; None: no rule says so or otherwise."""
        if self._set is None:
            return None
        found = (
            self.rules[self._numbers[index]]
            for index in sorted(self._set.Match(self.base + path[self.cut :]) or (), reverse=True)
        )
        for rule in found:
            if is_folder or not rule.is_folder_only:
                return not rule.is_kept
        return None


def parse_rules(content: bytes) -> list[Rule]:
    """Read the lines of a `.gitignore`."""
    rules = []
    for raw in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = _trimmed(Workspace.show_name(raw.removesuffix(b"\r")))
        if not line or line.startswith("#") or len(line) > _LINE_LIMIT_CHARS:
            continue
        is_kept = line.startswith("!")
        line = line[is_kept:]
        is_folder_only = line.endswith("/")
        line = line.removesuffix("/")
        is_anchored = "/" in line
        if line.lstrip("/"):
            rules.append(Rule(line.removeprefix("/"), is_kept, is_folder_only, is_anchored))
    return rules


def read_rules(folder: Workspace.Folder) -> list[Rule]:
    """The rules of a folder's own `.gitignore`; none where there is no such file."""
    try:
        with folder.open_file(IGNORE_FILE) as file:
            return parse_rules(file.read(_FILE_LIMIT_BYTES))
    except OSError:
        return []


def rules_above(workspace: Workspace, place: Workspace.Place) -> list[RuleSet]:
    """The rules of the root and of the folders between it and a place, outermost first.

    A repository within a repository is no border, as it is none for ripgrep where git is not required.

    Args:
        place: A folder, by its real path.
    """
    found: list[RuleSet] = []
    for depth in range(len(place.parts)):
        try:
            folder = workspace.open_folder(workspace.Place(place.root, place.parts[:depth]))
        except ToolError:
            continue  # it vanished; the search itself will say so
        with folder:
            rules = read_rules(folder)
        if rules:
            way = b"/".join(place.parts[depth:])
            found.append(RuleSet(rules, workspace.show_name(way) + "/"))
    return found


def escape_glob(text: str) -> str:
    """A text as a glob that matches only itself."""
    return "".join(f"\\{character}" if character in "*?[]{}\\!#" else character for character in text)


def _trimmed(line: str) -> str:
    """Without blanks at the end, but for one behind a backslash."""
    trimmed = line.rstrip(" ")
    return trimmed + " " if trimmed.endswith("\\") and len(trimmed) < len(line) else trimmed
