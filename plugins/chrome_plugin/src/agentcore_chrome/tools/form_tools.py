"""Tools of `browser` that fill in forms: choosing options, filling fields, giving files."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict

from agentcore.api import BaseModel, CallPreview, Field, ToolContext, ToolError, ToolResult, known_to_models, tool
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import element_not_actionable
from agentcore_chrome.tab.elements import Target, act_without_element, on_element
from agentcore_chrome.tab.fields import read_field
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    LONGEST_S,
    PAGE,
    LimitMs,
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

if TYPE_CHECKING:
    from playwright.async_api import Locator


class FormField(BaseModel):
    """One field of a form, and what it shall hold."""

    model_config = ConfigDict(extra="ignore", frozen=True, json_schema_extra=known_to_models())

    selector: Annotated[str | None, known_field("CSS selector, or a reference.", max_length=4096)] = None
    ref: Annotated[str | None, for_programs("The same as selector.", max_length=100)] = None
    target: Annotated[str | None, for_programs("The same as selector.", max_length=4096)] = None
    value: Annotated[str | bool | list[str], Field(description="Text; true, false for check boxes; labels to choose.")]

    @property
    def element(self) -> str:
        """The selector, whichever argument contained it."""
        return self.selector or self.ref or self.target or ""


@acts_on_page
async def browser_select_option(
    pages: SessionPages,
    ctx: ToolContext,
    selector: PageSelector,
    values: Annotated[list[str], known_field("Values or labels to choose.", max_length=2000)],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.ChosenOptions]:
    """Choose options of a select field or another list of choices, by value or label."""

    async def select(tab: Tab) -> ToolOutput:
        chosen = await on_element(
            tab, Target(selector), timeoutMs, lambda locator: choose_options(locator, values, timeoutMs)
        )
        if chosen is None:
            raise element_not_actionable(selector, "it is no list of choices; click it, and then the option")
        return ToolOutput(f"Chose {', '.join(map(repr, chosen)) or 'nothing'}.", {"values": chosen})

    return await pages.on_page(ctx, select, snapshot=snapshot)


@acts_on_page
async def browser_fill_form(
    pages: SessionPages,
    ctx: ToolContext,
    fields: Annotated[list[FormField], known_field("The fields, in order.", min_length=1, max_length=2000)],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.FilledForm]:
    """Fill several fields of a form at once: texts, check boxes, choices."""

    async def fill(tab: Tab) -> ToolOutput:
        notes: list[str] = []
        for done, field in enumerate(fields):
            if not field.element:
                raise ToolError("invalid_arguments", f"a field with value {field.value!r} names no selector")
            work = partial(_fill_field, value=field.value, timeout_ms=work_ms(timeoutMs))
            try:
                note = await on_element(tab, Target(field.element), timeoutMs, work)
            except ToolError as exc:
                raise _with_progress(exc, field.element, done, len(fields)) from exc
            notes += [f"{field.element!r}: {note}"] if note else []
        text = "\n".join([f"Filled {len(fields)} fields.", *notes])
        return ToolOutput(text, {"filled": len(fields), "notes": notes})

    return await pages.on_page(ctx, fill, snapshot=snapshot)


def _with_progress(error: ToolError, element: str, done: int, wanted: int) -> ToolError:
    """Return the error with the number of fields that were filled before it."""
    message = f"{element!r}: {error.message}; {done} of {wanted} fields were filled before it"
    context: dict[str, Any] = {**error.context, "selector": element, "filled": done}
    return ToolError(error.type, message, retryable=error.retryable, **context)


async def _fill_field(locator: "Locator", *, value: str | bool | list[str], timeout_ms: int) -> str:
    """Fill one field according to its kind and return a note about it, or an empty string."""
    if isinstance(value, bool):
        await set_checked(locator, value, timeout_ms)
        return ""
    await locator.wait_for(state="attached", timeout=timeout_ms)
    if (await read_field(locator)).kind == "check" and value in ("true", "false"):
        await locator.set_checked(value == "true", timeout=timeout_ms)
        return ""
    if await choose_options(locator, [value] if isinstance(value, str) else value, timeout_ms) is not None:
        return ""
    if isinstance(value, list):
        raise ToolError("invalid_arguments", f"the field has no options to choose {value!r} from; give text")
    return (await fill_with(locator, value, timeout_ms)).note


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
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.UploadedFiles]:
    """Give files to a file field or the chooser that a click opened, or drop them on an area for files."""
    if drop and selector is None:
        raise ToolError("invalid_arguments", "to drop files, name the selector of where")
    files = await read_uploads(ctx, paths)

    async def upload(tab: Tab) -> ToolOutput:
        if selector is None:
            await tab.run_or_default(tab.chooser_opened.wait, default=True)
        chooser = tab.file_chooser
        tab.file_chooser = None
        dropped = False
        tab.chooser_opened.clear()
        if selector is not None:
            hand_over = partial(_upload_to_element, files=files, drop=drop, timeout_ms=timeoutMs)
            dropped = await on_element(tab, Target(selector), timeoutMs, hand_over)
        elif chooser is None:
            raise ToolError("no_file_chooser", "the page asks for no files now; name the file field's selector")
        else:
            await act_without_element(
                tab, timeoutMs, "give the files", lambda: chooser.set_files(files, timeout=timeoutMs)
            )
        names = [file["name"] for file in files]
        how = f"Dropped {len(files)} files on {selector!r}" if dropped else f"Gave {len(files)} files"
        return ToolOutput(f"{how}.", {"files": names, "dropped": dropped})

    return await pages.on_page(ctx, upload, snapshot=None)


async def _upload_to_element(locator: "Locator", *, files: list[Upload], drop: bool, timeout_ms: int) -> bool:
    """Set files on a file field or the one inside the element, or drop them there; True if they were dropped."""
    await locator.wait_for(state="attached", timeout=timeout_ms)
    if not drop:
        if (await read_field(locator)).input_type in {"file", "label"}:
            await locator.set_input_files(files, timeout=timeout_ms)
            return False
        inner = locator.locator("input[type=file]")
        if await inner.count():
            await inner.first.set_input_files(files, timeout=timeout_ms)
            return False
    await locator.drop({"files": files}, timeout=timeout_ms)
    return True
