"""Skills as a model gets them: first names and descriptions, then the instructions, then single files."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from agentcore.chat.chat_limits import SKILLS_TOLD_CHARS
from agentcore.chat.skills.frontmatter import SKILL_FILE, SkillHead
from agentcore.chat.texts import result_text
from agentcore.errors import ToolError
from agentcore.near_names import near_names, unknown_name

READ_SKILL = "read_skill"
"""The tool that reads skills; the name is reserved."""

_DESCRIPTION_CHARS_MIN = 40


class Skill(NamedTuple):
    """A skill that the user has accepted.

    Args:
        folder: Its absolute path.
        body: Its instructions.
        texts: Its other files that a model can read, by path in the folder.
        others: Paths of files that are not text, or too large.
    """

    head: SkillHead
    folder: str
    body: str
    texts: Mapping[str, str]
    others: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name."""
        return self.head.name


class SkillReading(NamedTuple):
    """What a model gets of a skill, and the same as data.

    Args:
        text: The text.
        data: Skill, file, and the lines that are in the text.
    """

    text: str
    data: dict[str, Any]


def shorten_descriptions(skills: Sequence[Skill]) -> dict[str, str]:
    """Return the descriptions by name, shortened evenly if all together are too long for a system message."""
    found = {skill.name: skill.head.description for skill in skills}
    if sum(len(name) + len(text) for name, text in found.items()) <= SKILLS_TOLD_CHARS:
        return found
    limit = max(SKILLS_TOLD_CHARS // len(found) - max(map(len, found)), _DESCRIPTION_CHARS_MIN)
    return {name: text if len(text) <= limit else f"{text[: limit - 1]}…" for name, text in found.items()}


def read_skill_text(skills: Sequence[Skill], arguments: Mapping[str, Any], limit_chars: int) -> SkillReading:
    """Read the instructions of a skill, or one of its files, from a line on, or from a character in it.

    Raises:
        ToolError: `skill_not_found`, `skill_file_not_found`, `invalid_arguments`.
    """
    name = arguments.get("name")
    file = arguments.get("file") or SKILL_FILE
    first = arguments.get("start_line") or 1
    first_char = arguments.get("start_char") or 1
    are_numbers = all(type(number) is int and number >= 1 for number in (first, first_char))
    if not isinstance(name, str) or not isinstance(file, str) or not are_numbers:
        message = "name and file must be text, and start_line and start_char numbers from 1"
        raise ToolError("invalid_arguments", message)
    skill = next((each for each in skills if each.name == name), None)
    if skill is None:
        known = [each.name for each in skills]
        near = near_names(name, known)
        raise ToolError("skill_not_found", unknown_name("skill", name, near), skill=name[:100], near=near)
    lines = _text_of(skill, file.removeprefix("./")).split("\n")
    if first > len(lines):
        message = f"{file} has {len(lines):,} lines; start_line is {first:,}"
        raise ToolError("invalid_arguments", message, lines=len(lines))
    length = len(lines[first - 1])
    if first_char > max(length, 1):
        message = f"line {first:,} of {file} has {length:,} characters; start_char is {first_char:,}"
        raise ToolError("invalid_arguments", message, characters=length)
    return _show_lines(skill, file.removeprefix("./"), lines, first, first_char, limit_chars=limit_chars)


def _text_of(skill: Skill, file: str) -> str:
    if file == SKILL_FILE:
        return skill.body
    if file in skill.texts:
        return skill.texts[file]
    if file in skill.others:
        message = f"{file!r} is no text, or too large: use other tools with {skill.folder}/{file}"
        raise ToolError("skill_file_not_text", message, skill=skill.name, file=file)
    files = sorted(skill.texts)
    message = f"the skill {skill.name!r} has no file {file[:200]!r} that you may read; there are: {', '.join(files)}"
    raise ToolError("skill_file_not_found", message[:2000] if files else f"the skill {skill.name!r} has no other files")


def _show_lines(
    skill: Skill, file: str, lines: list[str], first: int, first_char: int, *, limit_chars: int
) -> SkillReading:
    """Return as many lines as fit, and how to read on; a line that does not fit even alone is cut."""
    is_beginning = file == SKILL_FILE and (first, first_char) == (1, 1)
    head = _describe_skill(skill, limit_chars // 2) if is_beginning else ""
    left = max(limit_chars - len(head), 1)
    begun = lines[first - 1][first_char - 1 :]
    shown = [begun[:left]]
    count = len(begun) + 1
    for line in lines[first:]:
        count += len(line) + 1
        if count > left:
            break
        shown.append(line)
    last = first + len(shown) - 1
    text = "\n".join([head, *shown] if head else shown)
    call = f"{READ_SKILL}(name={skill.name!r}, file={file!r}"
    if len(begun) > left:
        next_char = first_char + left
        call = f"{call}, start_line={first}, start_char={next_char})"
        rest = result_text("skill_line_rest", line=f"{first:,}", char=f"{next_char - 1:,}", call=call)
        text = f"{text}\n{rest}"
    elif last < len(lines):
        call = f"{call}, start_line={last + 1})"
        text = f"{text}\n{result_text('skill_rest', last=f'{last:,}', total=f'{len(lines):,}', call=call)}"
    data = {"skill": skill.name, "file": file, "startLine": first, "endLine": last, "lines": len(lines)}
    return SkillReading(text, data)


_FILES_NAMED = 100


def _describe_skill(skill: Skill, files_chars: int) -> str:
    """Return what precedes the instructions: the folder, the files as far as they fit, the author's notes."""
    said = [result_text("skill_folder", name=skill.name, folder=skill.folder)]
    if files := sorted([*skill.texts, *skill.others]):
        ends = accumulate(len(file) + 2 for file in files[:_FILES_NAMED])
        named = files[: sum(end <= files_chars for end in ends)]
        more = [f"… ({len(files) - len(named):,} more)"] if len(files) > len(named) else []
        said.append(result_text("skill_files", files=", ".join([*named, *more])))
    if skill.head.compatibility:
        said.append(result_text("skill_needs", text=" ".join(skill.head.compatibility.split())))
    if skill.head.allowed_tools:
        said.append(result_text("skill_tools", tools=" ".join(skill.head.allowed_tools)))
    return "\n".join([*said, ""])
