"""Instructions in the working folder for any agent that works there."""

import codecs
from typing import NamedTuple

from agentcore.api import Workspace
from agentcore.chat.chat_limits import FOLDER_INSTRUCTIONS_CHARS
from agentcore.errors import ToolError

FILES = ("AGENTS.md", "CLAUDE.md")
"""Files that agents of several vendors read; of two with the same text, the first counts."""

_BYTES_OF_A_CHAR = 4
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class FolderText(NamedTuple):
    """The text of one file.

    Args:
        name: The file's name in the first root.
        text: Its text, truncated to the limit.
        missing_bytes: How many bytes of it were left out.
    """

    name: str
    text: str
    missing_bytes: int = 0

    def cut_to(self, chars: int | None) -> "FolderText":
        """Return its beginning, if it is longer."""
        if chars is None or len(self.text) <= chars:
            return self
        missing = len(self.text[chars:].encode("utf-8", "replace"))
        return self._replace(text=self.text[:chars], missing_bytes=self.missing_bytes + missing)


def read_folder_texts(workspace: Workspace) -> tuple[FolderText, ...]:
    """Read the instruction files in the first root. Blocks on the disk.

    Links that leave the root, FIFOs, devices, folders and files that are not text are ignored.
    """
    found: list[FolderText] = []
    for name in FILES:
        read = _read_file(workspace, name)
        if read is not None and read.text not in {other.text for other in found}:
            found.append(read)
    return tuple(found)


def _read_file(workspace: Workspace, name: str) -> FolderText | None:
    try:
        with workspace.open_file(workspace.locate(name)) as file:
            size = file.size_bytes
            data = file.read(FOLDER_INSTRUCTIONS_CHARS * _BYTES_OF_A_CHAR)
    except (ToolError, OSError):  # unreadable files are ignored; file tools report the reason
        return None
    mark, encoding = next((each for each in _MARKS if data.startswith(each[0])), (b"", "utf-8"))
    text = data[len(mark) :].decode(encoding, "replace")[:FOLDER_INSTRUCTIONS_CHARS]
    if "\0" in text or not text.strip():
        return None
    return FolderText(name, text.strip(), max(size - len(mark) - len(text.encode(encoding, "replace")), 0))
