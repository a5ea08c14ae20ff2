"""Finds skills in folders, and reads their files within limits. Nothing in a skill is executed."""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentcore.chat.chat_limits import (
    SKILL_BYTES,
    SKILL_DEPTH,
    SKILL_FILE_BYTES,
    SKILL_FILES,
    SKILL_HASHED_BYTES,
    SKILL_TEXT_BYTES,
    SKILLS_FOUND,
)
from agentcore.chat.skills.frontmatter import SKILL_FILE, SkillHead, SkillProblem, parse_skill
from agentcore.errors import ToolError
from agentcore.files.folder import Entry, Folder
from agentcore.files.names import show_name
from agentcore.files.workspace import Workspace

WORKSPACE_FOLDERS = (".agents/skills", ".claude/skills", "skills")
"""Where skills are in a workspace root, in the order of precedence."""

_IGNORED = frozenset((b".git", b"node_modules", b"__pycache__", b".DS_Store"))
_ENTRIES = 10_000
_PROBLEMS = 20
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class SkillSource(NamedTuple):
    """A folder whose subfolders may be skills.

    Args:
        name: `workspace`, `user` or `module:NAME`.
        path: Its absolute path.
        workspace: The workspace that it is in; None: it is a folder of the user or of a package.
    """

    name: str
    path: str
    workspace: Workspace | None = None


class FoundSkill(NamedTuple):
    """A folder with a SKILL.md.

    Args:
        source: The name of its source.
        folder: Its absolute path.
        head: The frontmatter; None: it has errors.
        files: What the user reviews, by path in the folder: the text of each file; of others than text, and of large
            ones, a line with size and digest.
        texts: Those of the files that a model can read.
        problems: Errors and warnings.
    """

    source: str
    folder: str
    head: SkillHead | None
    files: Mapping[str, str]
    texts: frozenset[str]
    problems: tuple[SkillProblem, ...]

    @property
    def is_valid(self) -> bool:
        """True if it can be used once the user has accepted it."""
        return not any(problem.is_error for problem in self.problems)


def find_skills(sources: Sequence[SkillSource]) -> tuple[list[FoundSkill], list[SkillProblem]]:
    """Find the skills of all sources, in their order. Blocks on the disk.

    Returns:
        The skills, and problems of the sources themselves.
    """
    skills: list[FoundSkill] = []
    problems: list[SkillProblem] = []
    seen: set[tuple[int, int]] = set()
    for source in sources:
        for place, folder in _open_skills(source, problems):
            with folder:
                status = os.fstat(folder.fd)
                if (status.st_dev, status.st_ino) in seen:  # a link to a skill that was found already
                    continue
                seen.add((status.st_dev, status.st_ino))
                if len(skills) >= SKILLS_FOUND:
                    message = f"there are more than {SKILLS_FOUND} skills; the others are ignored"
                    problems.append(SkillProblem("too_many_skills", message, source.path, is_error=False))
                    return skills, problems
                found = _read_skill(source, place, folder)
                if found is not None:
                    skills.append(found)
    return skills, problems


def _open_skills(source: SkillSource, problems: list[SkillProblem]) -> Iterator[tuple[str, Folder]]:
    """Open the folders in a source's folder, in the order of their names."""
    try:
        base = _open_source(source, "")
    except (ToolError, OSError):  # there is no such folder, or it leaves the workspace
        return
    with base:
        entries = sorted(base.entries(_ENTRIES), key=lambda entry: entry.name)
        for entry in entries:
            if entry.name in _IGNORED or entry.kind not in {"directory", "symlink"}:
                continue
            path = f"{source.path}/{show_name(entry.name)}"
            try:
                folder = _open_entry(source, base, entry)
            except (ToolError, OSError):
                if entry.kind == "symlink":
                    message = "it is a link that leaves its place, and is not followed; copy the folder here"
                    problems.append(SkillProblem("skill_link", message, path))
                continue
            yield path, folder


def _open_source(source: SkillSource, name: str) -> Folder:
    path = f"{source.path}/{name}" if name else source.path
    if source.workspace is not None:
        return source.workspace.open_folder(source.workspace.locate(path))
    return Folder(os.open(path, _FOLDER_FLAGS))


def _open_entry(source: SkillSource, base: Folder, entry: Entry) -> Folder:
    if entry.kind == "symlink" and source.workspace is not None:
        return _open_source(source, show_name(entry.name))  # links inside the workspace are followed, others refused
    return base.open_folder(entry.name)


def _read_skill(source: SkillSource, path: str, folder: Folder) -> FoundSkill | None:
    """Read a skill; None: the folder is none."""
    try:
        folder.lstat(SKILL_FILE.encode())
    except OSError:
        return None
    return _SkillReader(source, path).read(folder)


class _SkillReader:
    def __init__(self, source: SkillSource, path: str) -> None:
        self._source = source
        self._path = path
        self._files: dict[str, str] = {}
        self._texts: set[str] = set()
        self._problems: list[SkillProblem] = []
        self._text_bytes = self._hashed_bytes = 0

    def read(self, folder: Folder) -> FoundSkill:
        self._read_folder(folder, "")
        text = self._files.get(SKILL_FILE)
        head = None
        if text is not None and SKILL_FILE in self._texts:
            parsed = parse_skill(text)
            head = parsed.head
            file = f"{self._path}/{SKILL_FILE}"
            self._problems[:0] = [problem._replace(file=file) for problem in parsed.problems]
            if head is not None and head.name != Path(self._path).name:
                message = f"the name is {head.name!r}, and the folder {Path(self._path).name!r}; they should be equal"
                self._problems.append(SkillProblem("skill_name", message, file, is_error=False))
        return FoundSkill(
            self._source.name, self._path, head, self._files, frozenset(self._texts), tuple(self._problems)
        )

    def _read_folder(self, folder: Folder, path: str) -> None:
        for entry in sorted(folder.entries(_ENTRIES), key=lambda each: (each.name != SKILL_FILE.encode(), each.name)):
            if entry.name in _IGNORED:
                continue
            name = f"{path}{show_name(entry.name)}"
            if entry.kind == "directory":
                self._read_subfolder(folder, entry.name, name)
            elif entry.kind == "file":
                self._read_file(folder, entry.name, name)
            elif entry.kind == "symlink":
                self._report("skill_link", "links in a skill are not followed; copy the file here", name)
            else:
                self._report("skill_not_a_file", "it is no file: remove it", name)

    def _read_subfolder(self, folder: Folder, name: bytes, path: str) -> None:
        if path.count("/") >= SKILL_DEPTH:
            self._report_once("skill_too_large", f"its folders are more than {SKILL_DEPTH} deep", path)
            return
        try:
            with folder.open_folder(name) as inner:
                self._read_folder(inner, f"{path}/")
        except OSError as exc:
            self._report("skill_unreadable", f"it cannot be read: {exc.strerror}", path)

    def _read_file(self, folder: Folder, name: bytes, path: str) -> None:
        if len(self._files) >= SKILL_FILES:
            self._report_once("skill_too_large", f"it has more than {SKILL_FILES:,} files", "")
            return
        try:
            with folder.open_file(name) as file:
                size = file.size_bytes
                limit = SKILL_BYTES if path == SKILL_FILE else SKILL_FILE_BYTES
                data = file.read(limit + 1)
                if path == SKILL_FILE and len(data) > limit:
                    self._report("skill_too_large", f"it has {size:,} bytes; the limit is {limit:,}", path)
                    return
                text = _decode(data) if len(data) <= limit else None
                if path == SKILL_FILE and text is None:
                    self._report("skill_not_text", "it is not UTF-8 text", path, _bad_line(data))
                elif text is not None and self._text_bytes + len(data) <= SKILL_TEXT_BYTES:
                    self._text_bytes += len(data)
                    self._files[path] = text
                    self._texts.add(path)
                elif self._hashed_bytes + size > SKILL_HASHED_BYTES:
                    self._report_once("skill_too_large", f"its files have more than {SKILL_HASHED_BYTES:,} bytes", path)
                else:
                    self._hashed_bytes += size
                    self._files[path] = f"[{size:,} bytes, SHA-256 {_digest(file.blocks(), SKILL_HASHED_BYTES)}]"
        except OSError as exc:
            self._report("skill_unreadable", f"it cannot be read: {exc.strerror}", path)

    def _report_once(self, kind: str, message: str, path: str) -> None:
        if all(problem.message != message for problem in self._problems):
            self._report(kind, message, path)

    def _report(self, kind: str, message: str, path: str, line: int = 0) -> None:
        if len(self._problems) >= _PROBLEMS:
            return
        self._problems.append(SkillProblem(kind, message, f"{self._path}/{path}".rstrip("/"), line))


def _decode(data: bytes) -> str | None:
    """Return the text of a file with plain line ends; None: it is not text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text.replace("\r\n", "\n")


def _bad_line(data: bytes) -> int:
    """Return the line of the first byte that is not text."""
    try:
        at = data.decode().encode().find(b"\0")
    except UnicodeDecodeError as exc:
        at = exc.start
    return data.count(b"\n", 0, max(at, 0)) + 1


def _digest(blocks: Iterator[bytes], limit_bytes: int) -> str:
    """Return the digest of a file, which may grow while it is read."""
    digest = hashlib.sha256()
    count = 0
    for block in blocks:
        digest.update(block)
        count += len(block)
        if count > limit_bytes:
            break
    return digest.hexdigest()
