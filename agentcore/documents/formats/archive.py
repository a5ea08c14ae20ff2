"""Lists of what archives contain: ZIP, and tar with or without compression."""

import tarfile
from collections.abc import Iterator
from typing import IO

from agentcore.documents.formats.parser_output import Output, UnreadableError
from agentcore.documents.formats.zip_package import Package

_ENTRIES_AT_ONCE = 500
_ENCRYPTED = 0x1


def list_zip(package: Package, output: Output) -> None:
    """Write size, date and name of each entry of a ZIP file."""
    entries = package.archive.infolist()
    output.write_head(
        f"the list of the {len(entries):,} entries of a ZIP archive (size, time, name)", "application/zip"
    )
    _write_lines(
        output,
        (
            f"{each.file_size:>12,}  {'{:04}-{:02}-{:02} {:02}:{:02}'.format(*each.date_time[:5])}  "
            f"{_one_line(each.filename)}{' (locked with a password)' if each.flag_bits & _ENCRYPTED else ''}"
            for each in entries
        ),
    )


def list_tar(file: IO[bytes], output: Output) -> None:
    """Write size and name of each entry of a tar archive, while it is decompressed."""
    try:
        archive = tarfile.open(fileobj=file, mode="r|*")  # noqa: SIM115 - closed with the process
    except tarfile.ReadError as exc:
        raise UnreadableError("it is compressed, but no tar archive; decompress it with a program") from exc
    output.write_head("the list of the entries of a tar archive (size, name)", "application/x-tar")
    _write_lines(output, (f"{each.size:>12,}  {_one_line(each.name)}{_tar_note(each)}" for each in archive))


def _tar_note(entry: tarfile.TarInfo) -> str:
    if entry.issym() or entry.islnk():
        return f" -> {_one_line(entry.linkname)}"
    return "/" if entry.isdir() else ""


def _write_lines(output: Output, lines: Iterator[str]) -> None:
    waiting: list[str] = []
    is_empty = True
    for line in lines:
        is_empty = False
        waiting.append(line)
        if len(waiting) >= _ENTRIES_AT_ONCE:
            output.write_part("", "\n".join(waiting))
            waiting.clear()
    if waiting or is_empty:
        output.write_part("", "\n".join(waiting) or "(empty)")


def _one_line(name: str) -> str:
    return name if name.isprintable() else repr(name)
