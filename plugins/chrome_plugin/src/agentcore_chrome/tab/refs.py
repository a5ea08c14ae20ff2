"""References of snapshots (`e12`): each belongs to one element, for as long as it lives, and is never given twice.

The driver numbers the elements of its snapshots itself, but anew in each document, and again when an element's name
changes. A selector engine, which it evaluates in its own world of every frame, far from the page's scripts, keeps the
first number of an element instead, made unique by a mark of the document. `Refs` gives short names to those. In that
world, and so in snapshots, a password field says dots in the place of its value.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.failures import is_closed, is_driver_error

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator, Page, Playwright

ENGINE = "agentcore-ref"
"""The selector engine that finds an element by its long reference."""

_KEPT = 50_000
_NAMED = re.compile(r'"(?:[^"\\]|\\.)*"|\[ref=((?:f\d+)?e\d+)\]')

# The driver keeps {role, name, ref} in the property `_ariaRef` of each element that a snapshot shows, and makes another
# when role or name have changed; what is set here as `ref` is what it shows. An isolated world has no `customElements`.
_SCRIPT = r"""(() => {
  const make = () => {
    const known = new WeakMap(), elements = new Map();
    const mark = String(crypto.getRandomValues(new BigUint64Array(1))[0]).padStart(12, '1').slice(-12);
    const over = new FinalizationRegistry(ref => elements.delete(ref));
    let count = 0;
    Object.defineProperty(Element.prototype, '_ariaRef', {
      configurable: true,
      get() { return known.get(this); },
      set(made) {
        const before = known.get(this);
        made.ref = before ? before.ref : made.ref.replace(/e\d+$/, 'e' + mark + ++count);
        known.set(this, made);
        if (before) return;
        elements.set(made.ref, new WeakRef(this));
        over.register(this, made.ref);
      },
    });
    hidePasswords();
    return elements;
  };
  const hidePasswords = () => {
    const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    const get = function () {
      const value = own.get.call(this);
      return value && this.type === 'password' ? '•••' : value;
    };
    Object.defineProperty(HTMLInputElement.prototype, 'value', {...own, get});
  };
  const elements = customElements === null ? globalThis.__agentcoreRefs ??= make() : new Map();
  const find = ref => {
    const element = elements.get(ref)?.deref();
    return element?.isConnected ? [element] : [];
  };
  return { query: (root, ref) => find(ref)[0] ?? null, queryAll: (root, ref) => find(ref) };
})()"""


async def teach(playwright: "Playwright", engine: str = ENGINE) -> None:
    """Have the driver use the selector engine in all contexts that are there and that are made from now on."""
    await playwright.selectors.register(engine, _SCRIPT, content_script=True)


class Refs:
    """The references of one page.

    Args:
        numbers: Where numbers come from; pages that share it never have the same reference.
        engine: The selector engine's name.
    """

    def __init__(self, numbers: Iterator[int], engine: str = ENGINE) -> None:
        self._numbers, self._engine = numbers, engine
        self._short: dict[str, str] = {}
        self._long: dict[str, str] = {}
        self._frames: dict[str, Frame] = {}

    def shorten(self, lines: list[str]) -> list[str]:
        """The lines of a snapshot with short references in the place of the driver's."""
        return [_NAMED.sub(self._shortened, line) if "[ref=" in line else line for line in lines]

    async def locate(self, page: "Page", ref: str) -> "Locator":
        """The element of a reference.

        Raises:
            ToolError: `stale_ref`: it is gone, or there never was one.
        """
        long = self._long.get(ref)
        for frame in self._frames_to_look_in(page, long) if long is not None else ():
            locator = frame.locator(f"{self._engine}={long}")
            if await _is_there(locator):
                self._frames[_frame_number(str(long))] = frame
                return locator
        raise stale_ref(ref)

    def _shortened(self, found: re.Match[str]) -> str:
        long = found.group(1)
        if long is None:
            return found.group()
        short = self._short.get(long)
        if short is None:
            short = self._short[long] = f"e{next(self._numbers)}"
            self._long[short] = long
            self._forget_oldest()
        return f"[ref={short}]"

    def _forget_oldest(self) -> None:
        if len(self._long) > _KEPT:
            oldest = next(iter(self._long))
            del self._short[self._long.pop(oldest)]

    def _frames_to_look_in(self, page: "Page", long: str) -> "list[Frame]":
        known = page.main_frame if _frame_number(long) == "" else self._frames.get(_frame_number(long))
        return [known] if known is not None else page.frames


async def _is_there(locator: "Locator") -> bool:
    try:
        return await locator.count() > 0
    except Exception as exc:
        if not is_driver_error(exc) or is_closed(exc):
            raise
        return False  # its frame is gone


def _frame_number(long: str) -> str:
    """The driver's number of the frame, such as `f2`; empty for the page itself."""
    return long.partition("e")[0]


def stale_ref(ref: str) -> ToolError:
    """The element of a reference is no more."""
    return ToolError(
        "stale_ref",
        f"the reference {ref!r} belongs to no element of this page any more; take a new snapshot",
        retryable=False,
        ref=ref,
    )
