"""Content of a page: HTML, text, and a simplified tree, cut in the page before it is transferred."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentcore_chrome.tab.elements import Target, read_element
from agentcore_chrome.tab.in_page import with_its
from agentcore_chrome.tab.plain_values import evaluate_json
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

CONTENT_CHARS = 200_000
"""Limit of HTML and text in characters."""

_WITHOUT_SECRETS = """
  const hide = root => {
    for (const field of root.querySelectorAll('input[type=password i][value]')) field.setAttribute('value', '');
    return root;
  };
  const html = element => {
    if (!element.querySelector('input[type=password i][value]') && !element.matches('input[type=password i][value]'))
      return element.outerHTML;
    const frame = document.implementation.createHTMLDocument('').createElement('div');
    frame.append(element.cloneNode(true));
    return hide(frame).innerHTML;
  };
"""
_HTML = (
    "(element, limit) => {"
    + _WITHOUT_SECRETS
    + "const all = html(element); return [all.slice(0, limit), all.length]; }"
)
_TEXT = """(element, limit) => {
  const all = element.innerText ?? element.textContent ?? '';
  return [all.slice(0, limit), all.length];
}"""
_TREE = with_its("""(element, [maxDepth, maxLines]) => {
  const lines = [];
  const skip = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE']);
  const walk = (element, depth) => {
    const node = its(element);
    if (skip.has(node.tagName) || lines.length > maxLines) return;
    const tag = node.tagName.toLowerCase();
    const id = node.id ? '#' + node.id : '';
    const classes = Array.from(node.classList, name => '.' + name).join('');
    const own = Array.from(node.childNodes).filter(child => child.nodeType === Node.TEXT_NODE)
      .map(child => child.data).join(' ').replace(/\\s+/g, ' ').trim();
    const text = own.length > 100 ? own.slice(0, 100) + '…' : own;
    lines.push('  '.repeat(depth) + `<${tag}${id}${classes}>${text}</${tag}>`);
    const children = [...(node.shadowRoot ? node.shadowRoot.children : []), ...node.children]
      .filter(child => !skip.has(its(child).tagName));
    if (!children.length) return;
    if (depth + 1 >= maxDepth) { lines.push('  '.repeat(depth + 1) + '...'); return; }
    for (const child of children) walk(child, depth + 1);
  };
  walk(element, 0);
  return [lines.slice(0, maxLines).join('\\n'), lines.length];
}""")
_TREE_LINES = 2000


@dataclass(frozen=True, slots=True)
class ContentChunk:
    """A part of a page's content, and the length of the whole content."""

    text: str
    length: int

    @property
    def is_cut(self) -> bool:
        """True if something is missing."""
        return self.length > len(self.text)


async def read_html(tab: Tab, selector: str | None, limit: int, timeout_ms: int) -> ContentChunk:
    """Return the HTML of the page or of an element, without the values of password fields.

    Raises:
        ToolError: `element_not_found`, `stale_ref`.
    """
    return ContentChunk(*await _evaluate_on_element(tab, selector or "html", _HTML, limit, timeout_ms))


async def read_text(tab: Tab, selector: str | None, limit: int, timeout_ms: int) -> ContentChunk:
    """Return the visible text of the page or of an element; see `read_html`."""
    return ContentChunk(*await _evaluate_on_element(tab, selector or "body", _TEXT, limit, timeout_ms))


async def read_tree(tab: Tab, selector: str, max_depth: int, timeout_ms: int) -> tuple[str, bool]:
    """Return a simplified tree of elements, one per line, and whether lines are missing; see `read_html`."""
    text, lines = await _evaluate_on_element(tab, selector, _TREE, [max_depth, _TREE_LINES], timeout_ms)
    return text, lines > _TREE_LINES


async def _evaluate_on_element(tab: Tab, selector: str, script: str, argument: Any, timeout_ms: int) -> Any:
    async def run(locator: "Locator") -> Any:
        return await evaluate_json(locator, script, argument, timeout=timeout_ms)

    return await read_element(tab, Target(selector), timeout_ms, run)
