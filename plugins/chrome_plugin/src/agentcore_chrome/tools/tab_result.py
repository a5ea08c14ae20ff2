"""Results of calls on a tab: the call's own output, and what else happened to the page that matters to the caller."""

import asyncio
import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentcore.api import ArtifactLink, Image, Text, ToolContext, ToolError, ToolResult, Workspace
from agentcore_chrome.call_limit import cleaning_s
from agentcore_chrome.lost_failures import ignore_failure
from agentcore_chrome.tab.dialogs import DialogRecord
from agentcore_chrome.tab.screenshot_area import Picture
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Download

_DOWNLOAD_SECONDS = 20.0
_GROWTH_SECONDS = 0.2
_DOWNLOAD_BYTES = 256 * 1024 * 1024

Block = Text | Image | ArtifactLink


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A call's own output: text for models, fields for programs, further content blocks."""

    text: str
    fields: dict[str, Any]
    blocks: tuple[Block, ...] = ()
    is_cut: bool = False

    def with_more(self, more: "ToolOutput") -> "ToolOutput":
        """Return this output with another one appended."""
        text = "\n".join(filter(None, [self.text, more.text]))
        blocks = (*self.blocks, *more.blocks)
        return ToolOutput(text, self.fields | more.fields, blocks, self.is_cut or more.is_cut)


async def make_result(ctx: ToolContext, tab: Tab, output: ToolOutput, ids: dict[str, Any]) -> ToolResult:
    """Build the result of a call, with the dialogs, downloads, popups and user changes since the last result."""
    notes, fields = _collect_events(ctx, tab)
    await _collect_chooser(tab, notes, fields)
    links = await _collect_downloads(ctx, tab, notes, fields)
    text = "\n".join([output.text, *notes]) if notes else output.text
    return ToolResult(
        [Text(text), *output.blocks, *links] if text else [*output.blocks, *links],
        {**ids, **output.fields, **fields},
        truncated=output.is_cut,
        untrusted=True,
        resource_id=tab.resource_id,
    )


def save_file(workspace: Workspace, path: str, data: bytes) -> str:
    """Write a file inside a workspace root and return its path as callers use it.

    Raises:
        ToolError: Those of writing to the workspace.
    """
    target = workspace.locate(path)
    workspace.write_file(target, data, create_parents=True)
    return workspace.show(target)


async def save_artifact(ctx: ToolContext, data: bytes, mime: str, name: str) -> ToolOutput:
    """Store bytes as an artifact."""
    link = await ctx.artifacts.save(data, mime=mime, name=name)
    fields = {"artifactId": link.artifact_id, "mime": mime, "sizeBytes": len(data)}
    return ToolOutput(f"Kept as artifact {link.name} ({len(data):,} bytes).", fields, (link,))


def show_picture(tab: Tab, output: ToolOutput, picture: Picture) -> ToolOutput:
    """Return the output with a picture for a model, whose pixels its next coordinates are."""
    tab.shown_picture = picture
    return with_image(output.with_more(ToolOutput(picture.describe(), {"shown": picture.to_json()})), picture)


def with_image(output: ToolOutput, picture: Picture) -> ToolOutput:
    """Return the output with a picture."""
    return output.with_more(ToolOutput("", {}, (Image(picture.data, picture.mime),)))


def describe_dialog(dialog: DialogRecord) -> ToolOutput:
    """Return the output of a call that a dialog blocks."""
    text = (
        f"A dialog is open and holds the page up: {dialog.kind} {dialog.message!r}. Answer it with "
        "browser_handle_dialog; looking leaves it open, the next action dismisses it."
    )
    return ToolOutput(text, {"dialog": dialog.to_json()})


def _collect_events(ctx: ToolContext, tab: Tab) -> tuple[list[str], dict[str, Any]]:
    notes: list[str] = []
    fields: dict[str, Any] = {}
    if changed := tab.control.pop_report():
        tab.refs.mark_reported(changed)
        notes.append(f"A person drove this page meanwhile. What changed:\n{changed}")
        fields["changedByPerson"] = changed
    if dialogs := tab.dialogs.pop_report():
        notes += [f"A dialog was answered: {dialog}" for dialog in dialogs]
        fields["dialogs"] = [dialog.to_json() for dialog in dialogs]
    loss, logins = tab.pop_loss()
    if tab.restored is not None:
        fields["restored"], lost_by = tab.restored
        told = f"{lost_by[0].upper()}{lost_by[1:]}; the page was opened again at {fields['restored']}"
        notes.append(f"{told}, without what was typed there{logins}.")
        tab.restored = None
    elif loss:
        fields["lostBy"] = loss
        notes.append(f"{loss[0].upper()}{loss[1:]}; this page is a new one{logins}.")
    if popups := tab.pop_popups():
        notes += [f"The page opened another: {popup.name_for(ctx)} {popup.page.url}" for popup in popups]
        fields["popups"] = [popup.describe_ids() for popup in popups]
    return notes, fields


async def _collect_chooser(tab: Tab, notes: list[str], fields: dict[str, Any]) -> None:
    """Report that the page asks for files, or for a folder, once for each time."""
    chooser = tab.file_chooser
    if chooser is None or tab.file_chooser_reported:
        return
    tab.file_chooser_reported = True
    asked = await tab.run_or_default(lambda: chooser.element.get_attribute("webkitdirectory"), None)
    what = "one file" if not chooser.is_multiple() else "files"
    notes.append(f"The page asks for {'a folder' if asked is not None else what}: {tab.advice.chooser}.")
    fields["fileChooser"] = {"multiple": chooser.is_multiple(), "folder": asked is not None}


async def _collect_downloads(
    ctx: ToolContext, tab: Tab, notes: list[str], fields: dict[str, Any]
) -> list[ArtifactLink]:
    """Store finished downloads as artifacts, and note those that are still running."""
    links: list[ArtifactLink] = []
    for download in list(tab.downloads):
        try:
            link = await _save_download(ctx, tab, download)
        except TimeoutError:
            notes.append(f"Downloading {download.suggested_filename!r} goes on.")
            continue
        except ToolError as exc:
            notes.append(f"The download {download.suggested_filename!r} is not kept: {exc}")
            fields.setdefault("failedDownloads", []).append(exc.to_json())
        else:
            links.append(link)
            notes.append(f"Downloaded {link.name!r} ({link.size_bytes:,} bytes); it is kept as an artifact.")
            fields.setdefault("downloads", []).append(link.to_json())
        with contextlib.suppress(ValueError):  # newer downloads have taken its place meanwhile
            tab.downloads.remove(download)
    return links


async def _save_download(ctx: ToolContext, tab: Tab, download: "Download") -> ArtifactLink:
    name = download.suggested_filename
    async with asyncio.timeout(cleaning_s(_DOWNLOAD_SECONDS)):
        try:
            data = await (
                tab.fetch_download(download, _fetch_remote_download)
                if tab.process.is_remote
                else _read_local_download(download)
            )
        except ToolError:
            raise
        except Exception as exc:
            raise ToolError("download_failed", f"{name!r} could not be downloaded: {exc}", url=download.url) from exc
    link = await ctx.artifacts.save(data, mime=_guess_mime(name), name=Path(name).name or "download")
    await download.delete()
    return link


async def _read_local_download(download: "Download") -> bytes:
    """Read a file that was downloaded to this machine."""
    path = await download.path()
    size = await asyncio.to_thread(lambda: path.stat().st_size)
    if size > _DOWNLOAD_BYTES:
        await download.delete()
        raise _too_large(download, f"has {size:,} bytes")
    return await asyncio.to_thread(path.read_bytes)


async def _fetch_remote_download(download: "Download") -> bytes:
    """Fetch a file that was downloaded to another machine, and stop once it exceeds the size limit."""
    with tempfile.TemporaryDirectory(prefix="agentcore-download-") as folder:
        path = Path(folder) / "file"
        saving = asyncio.ensure_future(download.save_as(path))
        try:
            while not saving.done():
                await asyncio.wait((saving,), timeout=_GROWTH_SECONDS)
                if (path.stat().st_size if path.exists() else 0) > _DOWNLOAD_BYTES:
                    await download.delete()
                    raise _too_large(download, "is larger")
            await saving
        finally:
            saving.add_done_callback(ignore_failure)
            saving.cancel()
        return await asyncio.to_thread(path.read_bytes)


def _too_large(download: "Download", what: str) -> ToolError:
    return ToolError(
        "result_too_large",
        f"{download.suggested_filename!r} {what}; {_DOWNLOAD_BYTES:,} bytes are the limit",
        url=download.url,
        limit_bytes=_DOWNLOAD_BYTES,
    )


def _guess_mime(name: str) -> str:
    # Downloads are data: no type that a client would render as a page of this origin, such as HTML or SVG.
    return {
        ".pdf": "application/pdf",
        ".txt": "text/plain",
        ".csv": "text/csv",
        ".json": "application/json",
        ".png": "image/png",
        ".jpg": "image/jpeg",
    }.get(Path(name).suffix.lower(), "application/octet-stream")
