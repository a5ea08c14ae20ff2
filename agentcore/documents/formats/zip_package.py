"""Files inside a ZIP file, bounded in what they decompress to."""

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import IO
from urllib.parse import unquote

from agentcore.documents.formats.parser_output import UnreadableError
from agentcore.documents.formats.xml_events import Start, read_events

INFLATED_BYTES = 400 << 20
"""Maximum size of everything that is decompressed of one file, so that a small file cannot fill the memory."""

_SMALL_BYTES = 32 << 20
_BLOCK_BYTES = 1 << 16
_ENCRYPTED = 0x1


class Package:
    """A document that is a ZIP file of parts.

    Args:
        file: The whole file.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.archive = zipfile.ZipFile(file)
        self._names = {name.lower(): name for name in reversed(self.archive.namelist())}
        self._room = INFLATED_BYTES

    def has_part(self, name: str) -> bool:
        """Return True if there is a part of this name; case does not count."""
        return name.lower() in self._names

    def read_blocks(self, name: str) -> Iterator[bytes]:
        """Yield a part's content.

        Raises:
            UnreadableError: It is missing, encrypted, or too large.
        """
        stored = self._names.get(name.lower())
        if stored is None:
            raise UnreadableError(f"it is damaged: its part {name!r} is missing")
        if self.archive.getinfo(stored).flag_bits & _ENCRYPTED:
            raise UnreadableError("it is locked with a password")
        with self.archive.open(stored) as part:
            while block := part.read(_BLOCK_BYTES):
                self._room -= len(block)
                if self._room < 0:
                    raise UnreadableError(f"it unpacks to more than {INFLATED_BYTES >> 20} MiB")
                yield block

    def read_part(self, name: str) -> bytes:
        """Return a small part's content.

        Raises:
            UnreadableError: It is missing, encrypted, or too large.
        """
        content = io.BytesIO()
        for block in self.read_blocks(name):
            content.write(block)
            if content.tell() > _SMALL_BYTES:
                raise UnreadableError(f"its part {name!r} has more than {_SMALL_BYTES >> 20} MiB")
        return content.getvalue()

    def read_relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the parts that an Office part refers to: id → (kind, name). References to other files are left out."""
        folder, base = posixpath.split(name)
        relations = f"{folder}/_rels/{base}.rels".lstrip("/")
        if not self.has_part(relations):
            return {}
        found = {}
        for event in read_events(self.read_blocks(relations)):
            if isinstance(event, Start) and event.name == "Relationship" and event.get("TargetMode") != "External":
                kind = event.get("Type").rpartition("/")[2]
                found[event.get("Id")] = (kind, resolve_name(folder, event.get("Target")))
        return found


def resolve_name(folder: str, target: str) -> str:
    """Return the name of a part that another one in this folder refers to."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
