"""Tools of `browser` that fill in forms: choosing options, filling fields, giving files."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import ConfigDict

from agentcore.api import BaseModel, CallPreview, Field, ToolContext, ToolError, ToolResult, known_to_models, tool
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import element_not_actionable
from agentcore_chrome.tab.elements import ELEMENT_MS, Hit, Target, act_on_element, act_without_element
from agentcore_chrome.tab.fields import read_field
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    HiddenElementLimitMs,
    PageId,
    PageSelector,
    ShowChanges,
    for_programs,
    known_field,
)
from agentcore_chrome.tools.choices import choose_options, set_checked
from agentcore_chrome.tools.result import ToolOutput
from agentcore_chrome.tools.session_pages import SessionPages, acts_on_page
from agentcore_chrome.tools.text_input import fill_with
from agentcore_chrome.tools.uploads import Upload, list_upload_paths, read_uploads


class FormField(BaseModel):
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
    selector: PageSelector,
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
        return await act_on_element(tab, Target(selector), select_in, wait_ms=wait_ms, limit_ms=timeoutMs or DEFAULT_MS)

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
        filled: list[_Filled] = []
        for field in fields:
            if not field.element:
                raise ToolError("invalid_arguments", f"a field with value {field.value!r} names no selector")
            work = partial(_fill_field, tab, value=field.value, timeout_ms=timeoutMs or ELEMENT_MS)
            limit_ms = timeoutMs or DEFAULT_MS
            try:
                done = await act_on_element(
                    tab, Target(field.element), work, wait_ms=timeoutMs or ELEMENT_MS, limit_ms=limit_ms
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
class _Filled:
    """A field that was filled: its role and name, what was chosen in it, and a note about its content."""

    element: str
    became: str = ""
    note: str = ""


async def _fill_field(tab: Tab, hit: Hit, *, value: str | bool | list[str], timeout_ms: int) -> _Filled:
    """Fill one field according to its kind."""
    wait_ms = work_ms(timeout_ms)
    if isinstance(value, str) and value in ("true", "false") and (await read_field(hit.locator)).kind == "check":
        value = value == "true"
    if isinstance(value, bool):
        await set_checked(tab, hit, value, wait_ms)
        return _Filled(hit.description, "checked" if value else "not checked")
    chosen = await choose_options(tab, hit, [value] if isinstance(value, str) else value, wait_ms)
    if chosen is not None:
        return _Filled(hit.description, str(chosen))
    if isinstance(value, list):
        raise ToolError("invalid_arguments", f"the field has no options to choose {value!r} from; give text")
    return _Filled(hit.description, note=(await fill_with(tab, hit, value, wait_ms)).note)


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
        Field(max_length=20, description="Workspace files, or `artifact:ID`; none: no file."),
    ] = [],
    selector: Annotated[
        PageSelector | None,
        known_field(
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
    files = await read_uploads(ctx, paths)

    wait_ms = timeoutMs or ELEMENT_MS
    limit_ms = timeoutMs or DEFAULT_MS

    async def upload(tab: Tab) -> ToolOutput:
        if selector is None:
            await tab.run_or_default(tab.chooser_opened.wait, default=True)
        chooser = tab.file_chooser
        tab.file_chooser = None
        tab.chooser_opened.clear()
        names = [file["name"] for file in files]
        if selector is not None:
            hand_over = partial(_upload_to_element, files=files, drop=drop, timeout_ms=limit_ms)
            given = await act_on_element(tab, Target(selector), hand_over, wait_ms=wait_ms, limit_ms=limit_ms)
            how = "Dropped {} files on {}." if given.dropped else "Gave {} files to {}."
            fields = {"files": names, "dropped": given.dropped, "element": given.element}
            return ToolOutput(how.format(len(files), given.element), fields)
        if chooser is None:
            raise ToolError("no_file_chooser", "the page asks for no files now; name the file field's selector")
        await act_without_element(tab, limit_ms, "give the files", lambda: chooser.set_files(files, timeout=limit_ms))
        return ToolOutput(f"Gave {len(files)} files to the open chooser.", {"files": names, "dropped": False})

    return await pages.on_page(ctx, upload, snapshot=None)


@dataclass(frozen=True, slots=True)
class _GivenFiles:
    """The element that files were given to, and whether they were dropped on it."""

    element: str
    dropped: bool


async def _upload_to_element(hit: Hit, *, files: list[Upload], drop: bool, timeout_ms: int) -> _GivenFiles:
    """Set files on a file field or the one inside the element, or drop them there."""
    locator = hit.locator
    if not drop:
        inner = locator.locator("input[type=file]")
        if (await read_field(locator)).input_type in {"file", "label"}:
            await locator.set_input_files(files, timeout=work_ms(timeout_ms))
            return _GivenFiles(hit.description, dropped=False)
        if await inner.count():
            await inner.first.set_input_files(files, timeout=work_ms(timeout_ms))
            return _GivenFiles(hit.description, dropped=False)
    await locator.drop({"files": files}, timeout=work_ms(timeout_ms))
    return _GivenFiles(hit.description, dropped=True)
