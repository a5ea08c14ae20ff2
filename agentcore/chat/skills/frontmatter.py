"""The frontmatter of a SKILL.md, validated once as https://agentskills.io/specification says."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from agentcore.chat.chat_limits import SKILL_HEAD_CHARS

SKILL_FILE = "SKILL.md"

_NAME_CHARS = 64
_DESCRIPTION_CHARS = 1024
_COMPATIBILITY_CHARS = 500
_LICENSE_CHARS = 1000
_ALLOWED_TOOLS = 100
_FENCE = "---"
_TOOL = re.compile(r"[^\s,(]+(?:\([^)]*\))?")
"""One entry of `allowed-tools`, such as `Bash(git add:*)`."""


class SkillProblem(NamedTuple):
    """What is wrong with a skill.

    Args:
        type: Snake_case; listed in docs/skills.md.
        message: What is wrong, and what to do.
        file: The file, as an absolute path.
        line: Its line, from 1; 0: the problem is not in a line.
        is_error: True if the skill cannot be used; False: a warning.
    """

    type: str
    message: str
    file: str
    line: int = 0
    is_error: bool = True


class SkillHead(NamedTuple):
    """The frontmatter of a skill.

    Args:
        name: Unique among the skills that are used.
        description: What it does and when to use it, on one line.
        allowed_tools: The tools that its author names. They allow nothing here.
    """

    name: str
    description: str
    license: str = ""
    compatibility: str = ""
    allowed_tools: tuple[str, ...] = ()


class SkillText(NamedTuple):
    """A SKILL.md.

    Args:
        head: Its frontmatter; None: it has errors.
        body: The instructions after it.
        problems: Errors and warnings, without the file.
    """

    head: SkillHead | None
    body: str
    problems: tuple[SkillProblem, ...]


@lru_cache(maxsize=512)
def parse_skill(text: str) -> SkillText:
    """Parse a SKILL.md; cached, because YAML is slow to parse and each turn reads all skills."""
    try:
        head_text, body = _split_text(text)
        head = _Reader(head_text).read()
    except _HeadError as exc:
        return SkillText(None, "", (SkillProblem(exc.type, exc.message, "", exc.line),))
    if not body.strip():
        problem = SkillProblem("skill_empty", "there are no instructions after the frontmatter", "", is_error=False)
        return SkillText(head, "", (problem,))
    return SkillText(head, body.strip(), ())


class _HeadError(Exception):
    def __init__(self, message: str, line: int, type: str = "skill_invalid") -> None:  # noqa: A002 - as in SkillProblem
        super().__init__(message)
        self.type = type
        self.message = message
        self.line = line


def _split_text(text: str) -> tuple[str, str]:
    """Return the frontmatter, without its fences, and the rest."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        raise _HeadError("it has to begin with frontmatter, between two lines with ---", 1)
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == _FENCE), None)
    if end is None:
        raise _HeadError("the frontmatter has no end: a line with --- is missing", 1)
    head = "\n".join(lines[1:end])
    if len(head) > SKILL_HEAD_CHARS:
        raise _HeadError(f"the frontmatter has {len(head):,} characters; the limit is {SKILL_HEAD_CHARS:,}", 1)
    return head, "\n".join(lines[end + 1 :])


class _Reader:
    """Reads the fields of a frontmatter, each as the text that it is in the file, with its line."""

    def __init__(self, text: str) -> None:
        self._fields: dict[str, Any] = {}
        self._lines: dict[str, int] = {}
        for name, line, value in _parse_fields(text):
            self._fields[name] = value
            self._lines[name] = line

    def read(self) -> SkillHead:
        name = self._read_text("name", _NAME_CHARS, is_required=True)
        if not _is_name(name):
            message = f"name is {name!r}: write lower-case letters, digits and single hyphens between them"
            raise _HeadError(message, self._line("name"))
        self._check_metadata()
        return SkillHead(
            name=name,
            description=" ".join(self._read_text("description", _DESCRIPTION_CHARS, is_required=True).split()),
            license=self._read_text("license", _LICENSE_CHARS),
            compatibility=self._read_text("compatibility", _COMPATIBILITY_CHARS),
            allowed_tools=self._read_allowed_tools(),
        )

    def _read_text(self, field: str, limit_chars: int, *, is_required: bool = False) -> str:
        if field not in self._fields:
            if is_required:
                raise _HeadError(f"{field} is missing", 1)
            return ""
        text = _scalar(self._fields[field])
        if text is None:
            raise _HeadError(f"{field} must be text", self._line(field))
        text = text.strip()
        if not text:
            raise _HeadError(f"{field} is empty", self._line(field))
        if len(text) > limit_chars:
            message = f"{field} has {len(text):,} characters; the limit is {limit_chars:,}"
            raise _HeadError(message, self._line(field))
        return text

    def _read_allowed_tools(self) -> tuple[str, ...]:
        node = self._fields.get("allowed-tools")
        if node is None:
            return ()
        listed = node.value if _is_list(node) else [node]
        texts = [_scalar(each) for each in listed]
        if any(text is None for text in texts):
            raise _HeadError("allowed-tools must be text or a list of texts", self._line("allowed-tools"))
        found = tuple(tool for text in texts for tool in _TOOL.findall(text or ""))
        if len(found) > _ALLOWED_TOOLS:
            message = f"allowed-tools has {len(found)} entries; the limit is {_ALLOWED_TOOLS}"
            raise _HeadError(message, self._line("allowed-tools"))
        return found

    def _check_metadata(self) -> None:
        node = self._fields.get("metadata")
        if node is not None and not _is_mapping(node):
            raise _HeadError("metadata must be a mapping", self._line("metadata"))

    def _line(self, field: str) -> int:
        return self._lines[field]


def _parse_fields(text: str) -> Iterator[tuple[str, int, Any]]:
    """Yield the keys of the frontmatter with their lines and YAML nodes; no tag, alias or type constructs anything."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - needed only where there are skills
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = 1 if mark is None else mark.line + 2
        raise _HeadError(
            f"the frontmatter is not YAML: {exc.problem or exc.context}{_hint(exc.problem)}", line
        ) from exc
    except (YAMLError, ValueError, RecursionError) as exc:
        raise _HeadError("the frontmatter is not YAML", 1) from exc
    if root is None or not _is_mapping(root):
        raise _HeadError("the frontmatter must have keys, such as name and description", 1)
    seen: set[str] = set()
    for key, value in root.value:
        name = _scalar(key)
        if name is None:
            raise _HeadError("a key must be text", _line_of(key))
        if name in seen:
            raise _HeadError(f"{name} is there twice", _line_of(key))
        seen.add(name)
        yield name, _line_of(key), value


def _hint(problem: str | None) -> str:
    is_colon = problem is not None and "mapping values are not allowed" in problem
    return " (text with a colon and a blank has to be in quotes)" if is_colon else ""


def _scalar(node: Any) -> str | None:
    return node.value if isinstance(node.value, str) else None


def _is_list(node: Any) -> bool:
    return bool(node.id == "sequence")


def _is_mapping(node: Any) -> bool:
    return bool(node.id == "mapping")


def _line_of(node: Any) -> int:
    return int(node.start_mark.line) + 2  # the fence is line 1


def _is_name(name: str) -> bool:
    parts = name.split("-")
    return name == name.lower() and all(part.isalnum() for part in parts)
