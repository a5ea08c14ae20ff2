"""Tools of `browser` that fill in forms: choosing options, filling fields, giving files."""

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict

from agentcore.api import BaseModel, CallPreview, Field, ToolContext, ToolError, ToolResult, known_to_models, tool
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import element_not_actionable
from agentcore_chrome.tab.elements import ELEMENT_MS, Hit, Target, act_on_element, act_without_element
from agentcore_chrome.tab.fields import field_of, read_field
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    ActedElement,
    HiddenElementLimitMs,
    PageId,
    PageSelector,
    ShowChanges,
    element_field,
    for_programs,
    known_field,
)
from agentcore_chrome.tools.choices import choose_options, set_checked
from agentcore_chrome.tools.session_pages import SessionPages, acts_on_page
from agentcore_chrome.tools.tab_result import ToolOutput
from agentcore_chrome.tools.text_input import fill_with
from agentcore_chrome.tools.uploads import Upload, UploadedFolder, find_folder, list_upload_paths, read_uploads

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Locator


class FormField(BaseModel, defer_build=True):
    """One field of a form, and what it shall hold."""

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra=known_to_models())

    selector: Annotated[str | None, known_field("CSS selector, or a reference.", max_length=4096)] = None
    ref: Annotated[str | None, for_programs("The same as selector.", max_length=100)] = None
    target: Annotated[str | None, for_programs("The same as selector.", max_length=4096)] = None
    value: Annotated[str | bool | list[str], Field(description="Text; true or false; labels to choose.")]

    @property
    def element(self) -> str:
        """The selector, whichever argument contained it."""
        return self.selector or self.ref or self.target or ""


@acts_on_page
async def browser_select_option(
    pages: SessionPages,
    ctx: ToolContext,
    selector: ActedElement,
    values: Annotated[list[str], known_field("Labels or values to choose.", max_length=2000)],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: HiddenElementLimitMs = None,
) -> ToolResult[results.ChosenOptions]:
    """Choose options of a select or another list of choices, by label, else by value."""
    wait_ms = timeoutMs or ELEMENT_MS

    async def select(tab: Tab) -> ToolOutput:
        async def select_in(hit: Hit) -> ToolOutput:
            chosen = await choose_options(tab, hit, values, work_ms(wait_ms))
            if chosen is None:
                raise element_not_actionable(selector, "it is no list of choices; click it, and then the option")
            fields = {"values": chosen.values, "labels": chosen.labels, "element": hit.description}
            return ToolOutput(f"Chose {chosen} in {hit.description}.", fields)

        # A list that opens, and options that are loaded, take longer than the field itself.
        return await act_on_element(
            tab, Target(selector), select_in, wait_ms=wait_ms, limit_ms=timeoutMs or DEFAULT_MS, reads_field=True
        )

    return await pages.on_page(ctx, select, snapshot=snapshot)


@acts_on_page
async def browser_fill_form(
    pages: SessionPages,
    ctx: ToolContext,
    fields: Annotated[list[FormField], known_field("The fields, in order.", min_length=1, max_length=2000)],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: HiddenElementLimitMs = None,
) -> ToolResult[results.FilledForm]:
    """Fill several fields of a form at once."""

    async def fill(tab: Tab) -> ToolOutput:
        filled: list[FilledField] = []
        for field in fields:
            if not field.element:
                raise ToolError("invalid_arguments", f"a field with value {field.value!r} names no selector")
            work = partial(fill_field, tab, value=field.value, timeout_ms=timeoutMs or ELEMENT_MS)
            limit_ms = timeoutMs or DEFAULT_MS
            try:
                done = await act_on_element(
                    tab,
                    Target(field.element),
                    work,
                    wait_ms=timeoutMs or ELEMENT_MS,
                    limit_ms=limit_ms,
                    reads_field=True,
                )
            except ToolError as exc:
                raise _with_progress(exc, field.element, len(filled), len(fields)) from exc
            filled.append(done)
        notes = [f"{field.element!r}: {done.note}" for field, done in zip(fields, filled, strict=True) if done.note]
        elements = [f"{done.element}: {done.became}" if done.became else done.element for done in filled]
        text = "\n".join([f"Filled {len(fields)} fields: {'; '.join(elements)}.", *notes])
        return ToolOutput(text, {"filled": len(fields), "elements": elements, "notes": notes})

    return await pages.on_page(ctx, fill, snapshot=snapshot)


def _with_progress(error: ToolError, element: str, done: int, wanted: int) -> ToolError:
    """Return the error with the number of fields that were filled before it."""
    message = f"{element!r}: {error.message}; {done} of {wanted} fields were filled before it"
    context: dict[str, Any] = {**error.context, "selector": element, "filled": done}
    return ToolError(error.type, message, retryable=error.retryable, **context)


@dataclass(frozen=True, slots=True)
class FilledField:
    """A field that was filled: its role and name, what was chosen in it, and a note about its content."""

    element: str
    became: str = ""
    note: str = ""


async def fill_field(tab: Tab, hit: Hit, *, value: str | bool | list[str], timeout_ms: int) -> FilledField:
    """Fill one field according to its kind."""
    wait_ms = work_ms(timeout_ms)
    if isinstance(value, str) and value in ("true", "false") and (await field_of(tab, hit)).kind == "check":
        value = value == "true"
    if isinstance(value, bool):
        await set_checked(tab, hit, value, wait_ms)
        return FilledField(hit.description, "checked" if value else "not checked")
    chosen = await choose_options(tab, hit, [value] if isinstance(value, str) else value, wait_ms)
    if chosen is not None:
        return FilledField(hit.description, str(chosen))
    if isinstance(value, list):
        raise ToolError("invalid_arguments", f"the field has no options to choose {value!r} from; give text")
    return FilledField(hit.description, note=(await fill_with(tab, hit, value, wait_ms)).note)


async def _preview_upload(pages: SessionPages, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
    urls = (await pages.preview_action(ctx, arguments)).urls
    paths = await list_upload_paths(ctx, arguments["paths"])
    return CallPreview(effects=frozenset(("read", "egress")), paths=paths, urls=urls)


@tool(effects=("read", "egress"), open_world=True, timeout_s=LONGEST_S, preview=_preview_upload, resource=PAGE)
async def browser_file_upload(
    pages: SessionPages,
    ctx: ToolContext,
    paths: Annotated[
        list[str],
        Field(max_length=20, description="Workspace files, a directory, or `artifact:ID`; none: no file."),
    ] = [],
    selector: Annotated[
        PageSelector | None,
        element_field(
            "The file field, or where files are dropped; left out, the chooser that the page opened.",
            told="Left out: the open chooser.",
        ),
    ] = None,
    drop: Annotated[
        bool,
        known_field(
            "Drop them there, as from a desktop, even if it has a file field inside.",
            told="Even if a file field is inside.",
        ),
    ] = False,
    resourceId: PageId = None,
    timeoutMs: HiddenElementLimitMs = None,
) -> ToolResult[results.UploadedFiles]:
    """Give files to a file field or the chooser that a click opened, or drop them on an area for files."""
    if drop and selector is None:
        raise ToolError("invalid_arguments", "to drop files, name the selector of where")
    folder = await find_folder(ctx, paths)
    files = await read_uploads(ctx, paths) if folder is None else []
    wait_ms = timeoutMs or ELEMENT_MS
    limit_ms = timeoutMs or DEFAULT_MS

    async def upload(tab: Tab) -> ToolOutput:
        if selector is None:
            await tab.run_or_default(tab.chooser_opened.wait, default=True)
        chooser = tab.file_chooser
        tab.file_chooser = None
        tab.chooser_opened.clear()
        given = _Given(tab, files, folder, work_ms(limit_ms))
        if selector is not None:
            hand_over = partial(_upload_to_element, given=given, drop=drop)
            element, dropped = await act_on_element(
                tab, Target(selector), hand_over, wait_ms=wait_ms, limit_ms=limit_ms
            )
            how = "Dropped {} on {}." if dropped else "Gave {} to {}."
            fields = {"files": given.names, "dropped": dropped, "element": element}
            return ToolOutput(how.format(given, element), fields)
        if chooser is None:
            raise ToolError("no_file_chooser", _NO_CHOOSER)
        try:
            await act_without_element(tab, limit_ms, "give the files", lambda: given.set_on(chooser.element))
        except ToolError:
            tab.file_chooser = chooser  # it is still open
            raise
        return ToolOutput(f"Gave {given} to the open chooser.", {"files": given.names, "dropped": False})

    return await pages.on_page(ctx, upload, snapshot=None)


_NO_CHOOSER = (
    "the page asks for no files now: click what asks for them first, or name the file field's selector, or with drop: "
    "true an area that files are dropped on"
)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a call gives to a page: files, or a folder."""

    tab: Tab
    files: list[Upload]
    folder: UploadedFolder | None
    limit_ms: int

    @property
    def names(self) -> list[str]:
        return [file["name"] for file in self.files] if self.folder is None else list(self.folder.files)

    def __str__(self) -> str:
        count = len(self.names)
        files = "1 file" if count == 1 else f"{count} files"
        return files if self.folder is None else f"the folder {self.folder.name!r} with {files}"

    async def set_on(self, field: "Locator | ElementHandle") -> None:
        """Give it to a file field.

        Raises:
            ToolError: `invalid_arguments`: the field takes something else.
        """
        takes_folder = await field.get_attribute("webkitdirectory") is not None
        if takes_folder and self.files:
            raise ToolError("invalid_arguments", "the page asks for a folder: give the path of one in the workspace")
        if self.folder is not None and not takes_folder:
            raise ToolError("invalid_arguments", f"the page asks for files, not for a folder: {', '.join(self.names)}")
        if len(self.files) > 1 and await field.get_attribute("multiple") is None:
            raise ToolError("invalid_arguments", f"the page takes one file alone, and {len(self.files)} were given")
        if self.folder is None:
            await field.set_input_files(self.files, timeout=self.limit_ms)
            return
        # The browser reads the files when the page does, so the copy stays as long as the page.
        copied = TemporaryDirectory(prefix="agentcore-upload-", ignore_cleanup_errors=True)
        self.tab.given_folders.append(copied)
        path = await asyncio.to_thread(self.folder.write_to, Path(copied.name))
        await field.set_input_files(path, timeout=self.limit_ms)


async def _upload_to_element(hit: Hit, *, given: _Given, drop: bool) -> tuple[str, bool]:
    """Give files to a file field or the one inside the element, or drop them there.

    Returns:
        What they were given to, and whether they were dropped on it.
    """
    locator = hit.locator
    if not drop:
        inner = locator.locator("input[type=file]")
        input_type = (await read_field(given.tab, locator)).input_type
        field = locator if input_type == "file" else inner.first if await inner.count() else None
        if input_type == "label" and field is None:
            field = await _find_labelled_field(given.tab, hit)
        if field is not None:
            await given.set_on(field)
            return hit.description, False
    if given.folder is not None:
        raise ToolError("invalid_arguments", "a folder cannot be dropped; give its files, or use a field for folders")
    await locator.drop({"files": given.files}, timeout=given.limit_ms)
    return hit.description, True


async def _find_labelled_field(tab: Tab, hit: Hit) -> "Locator | None":
    """Return the file field of a label that is elsewhere in the page."""
    field = tab.refs.locate_below(hit.locator, "!control")
    return field if await field.count() and (await read_field(tab, field)).kind == "file" else None
