"""Kind and content of a page's fields: form fields, rich text, code editors, and the focused element."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentcore_chrome.tab.plain_values import evaluate_json

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Frame, Locator, Page

FieldKind = Literal["text", "rich", "code", "fixed", "choice", "check", "file", "other"]

FORMATS = {
    "date": "YYYY-MM-DD",
    "time": "HH:MM",
    "datetime-local": "YYYY-MM-DDTHH:MM",
    "month": "YYYY-MM",
    "week": "YYYY-Www",
    "color": "#rrggbb",
    "range": "a number",
    "number": "a number",
}
"""Formats of the fields that do not accept arbitrary text, by type."""

_STATE = r"""async (e, settles) => {
  const EDITORS = [['.monaco-editor', '.view-line'], ['.CodeMirror', '.CodeMirror-line'], ['.cm-editor', '.cm-line'],
    ['.ace_editor', '.ace_line']];
  const FIXED = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range', 'number'];
  const NO_TEXT = ['button', 'submit', 'reset', 'image', 'hidden'];
  // an editor draws with the next frame, which a page behind another never gets
  if (settles) await new Promise(done => { setTimeout(done, 200); requestAnimationFrame(() => setTimeout(done, 20)); });
  const [root, line] = EDITORS.map(([root, line]) => [e.closest(root), line]).find(([root]) => root) ?? [];
  const tag = e.localName, type = tag === 'input' ? e.type : tag;
  const plain = text => text.replace(/\u00a0/g, ' ').replace(/[\u200b\u200c\ufeff]/g, '');
  let kind = 'other', text = null;
  if (root) {
    const rows = [...root.querySelectorAll(line)].map(row => [row.getBoundingClientRect().top, row.textContent]);
    [kind, text] = ['code', plain(rows.sort((a, b) => a[0] - b[0]).map(row => row[1]).join('\n'))];
  } else if (FIXED.includes(type)) [kind, text] = ['fixed', e.value];
  else if (type === 'checkbox' || type === 'radio') [kind, text] = ['check', String(e.checked)];
  else if (type === 'file') kind = 'file';
  else if (type === 'select') [kind, text] = ['choice', [...e.selectedOptions].map(one => one.label).join(', ')];
  else if (tag === 'textarea' || tag === 'input' && !NO_TEXT.includes(type))
    [kind, text] = ['text', type === 'password' ? null : e.value];
  else if (e.isContentEditable || e.editContext) [kind, text] = ['rich', plain(e.innerText)];
  const name = e.ariaLabel || e.labels?.[0]?.innerText || e.placeholder || e.title || e.name || e.id || '';
  return {
    kind, type, text: text?.slice(0, 200_000) ?? null, complaint: e.validationMessage ?? '',
    name: name.trim().replace(/\s+/g, ' ').slice(0, 80),
    ownRole: e.role ?? '', isReadOnly: !!e.readOnly,
    role: e.role || (e === document.body ? 'page' : type),
    isPage: e === document.body || e === document.documentElement,
  };
}"""
_FOCUSED = """() => {
  let e = document.activeElement ?? document.body;
  while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  return e;
}"""
_PROBE = """(e, value) => {
  const probe = e.cloneNode();
  probe.value = value;
  const taken = {
    range: Number(probe.value) === Number(value),
    color: probe.value !== '#000000' || ['#000000', '#000', 'black'].includes(value.toLowerCase()),
  };
  return [taken[e.type] ?? (probe.value !== '' || value === ''), probe.value, e.min, e.max, e.step];
}"""


@dataclass(frozen=True, slots=True)
class FieldState:
    """The current state of a field.

    Attributes:
        kind: How text is entered into it.
        input_type: `type` of an input, else the tag.
        described: A readable description, such as `textarea "Comment"`.
        text: Its content, or the visible lines of an editor; None: secret or unknown.
        complaint: The browser's validation message for its value.
        is_page: True if it is the page itself: nothing has the focus.
        role: The role that its author gave it; empty: none.
        is_read_only: True if it can be chosen from, not typed into.
    """

    kind: FieldKind
    input_type: str
    described: str
    text: str | None
    complaint: str
    is_page: bool
    role: str
    is_read_only: bool

    @property
    def is_editable(self) -> bool:
        """True if text can be entered into it."""
        return self.kind in {"text", "rich", "code", "fixed"}


async def read_field(element: "Locator | ElementHandle", *, settles: bool = False) -> FieldState:
    """Return the state of a field.

    Args:
        settles: Whether it was just written to, so that an editor may have to render it first.
    """
    found: dict[str, Any] = await evaluate_json(element, _STATE, settles)
    of_editor = " of a code editor" if found["kind"] == "code" else ""
    described = f'{found["role"]} "{found["name"]}"{of_editor}' if found["name"] else f"{found['role']}{of_editor}"
    return FieldState(
        kind=found["kind"],
        input_type=found["type"],
        described=described,
        text=found["text"],
        complaint=found["complaint"],
        is_page=found["isPage"],
        role=found["ownRole"],
        is_read_only=found["isReadOnly"],
    )


async def find_focused_element(page: "Page") -> "ElementHandle":
    """Return the focused element in any frame or shadow tree; the page's body if there is none."""
    return await _focused_in(page.main_frame)


async def _focused_in(frame: "Frame") -> "ElementHandle":
    element = (await frame.evaluate_handle(_FOCUSED)).as_element()
    assert element is not None  # noqa: S101 - a document has a body
    inner = await element.content_frame()
    return element if inner is None else await _focused_in(inner)


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of fitting a value into a field that accepts no free text."""

    is_taken: bool
    value: str
    accepts: str


async def probe_value(locator: "Locator", input_type: str, value: str, timeout_ms: int) -> Probe:
    """Try a value on a copy of a field, which stays unchanged."""
    taken, made, least, most, step = await evaluate_json(locator, _PROBE, value, timeout=timeout_ms)
    accepts = FORMATS[input_type]
    if input_type == "range":
        accepts = f"a number from {least or 0} to {most or 100} in steps of {step or 1}"
    elif least or most:
        accepts += "".join([f", at least {least}" if least else "", f", at most {most}" if most else ""])
    return Probe(taken, made, accepts)
