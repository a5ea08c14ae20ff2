"""A page in any engine, used as a person uses it: what stands there by role and name, clicks, keys, what is read.

The engines differ in how they are driven (`firefox.py`, `webkit.py`), which is what `Driver` hides. Pointers and keys
are those of the engine itself, so that the page cannot tell them from a person's.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

WAIT_S = 60
"""How long something may take to be there: as long as a page may take to start in the tests of Chromium."""
_ROUND_S = 0.1
_FIND = Path(__file__).with_name("finding.js").read_text(encoding="utf-8")
_NAMES = (
    *("Backspace", "\ue003", "Tab", "\ue004", "Enter", "\ue007", "Shift", "\ue008", "Control", "\ue009"),
    *("Escape", "\ue00c", "End", "\ue010", "Home", "\ue011", "ArrowLeft", "\ue012", "ArrowUp", "\ue013"),
    *("ArrowRight", "\ue014", "ArrowDown", "\ue015"),
)
_KEYS = dict(zip(_NAMES[::2], _NAMES[1::2], strict=True))
"""Of https://w3c.github.io/webdriver/#keyboard-actions."""

Action = dict[str, Any]
T = TypeVar("T")


class NotNowError(Exception):
    """The page, the frame or the element is not there at this moment: it loads, or has just gone."""


class DriverHangsError(Exception):
    """The driver of the browser gives no answer any more; only another start of it helps."""


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    """Look again and again, until there is something; raises TimeoutError after `WAIT_S`."""
    async with asyncio.timeout(WAIT_S):
        while True:
            try:
                found = await look()
            except NotNowError:
                found = None
            if found is not None:
                return found
            await asyncio.sleep(_ROUND_S)


class Driver(Protocol):
    """One tab, or a frame in one."""

    async def open(self, address: str) -> None:
        """Go to an address, and wait until the document has been read."""

    async def reload(self) -> None:
        """Load the document again."""

    async def run(self, function: str, argument: Any) -> Any:
        """Call a function of JavaScript with a JSON value; a promise is waited for. Its result is a JSON value."""

    async def act(self, sources: Sequence[Action]) -> None:
        """Pointers and keys: https://w3c.github.io/webdriver/#actions."""

    async def resize(self, width: int, height: int) -> None:
        """The size of the view, in CSS pixels."""

    async def picture(self) -> bytes:
        """What is drawn, as PNG."""

    async def pick(self, function: str, argument: Any, files: Sequence[Path]) -> None:
        """Choose files, as in the system's dialog, for the field that a function gives for a JSON value."""

    async def frame(self, address: str) -> "Driver | None":
        """The frame, at any depth, whose address begins like this."""

    async def window(self, address: str) -> "Driver | None":
        """The window of this browser whose address begins like this."""


@dataclass(frozen=True)
class Found:
    """What is looked for, each time it is used: nothing is kept of a page that changes."""

    page: "Page"
    steps: tuple[dict[str, Any], ...]
    is_last: bool = False

    def role(self, role: str, name: str = "", *, exact: bool = False) -> "Found":
        """Inside of it: by role, and by a part of the name."""
        return replace(self, steps=(*self.steps, {"role": role, "name": name, "exact": exact}))

    def text(self, text: str) -> "Found":
        """Inside of it: the innermost element with this text."""
        return replace(self, steps=(*self.steps, {"text": text}))

    def label(self, label: str) -> "Found":
        """Inside of it: a field by a part of its label."""
        return replace(self, steps=(*self.steps, {"label": label}))

    def css(self, selector: str, *, is_hidden: bool = False) -> "Found":
        """Inside of it: an element that a selector names; a part of a shadow root, too; `is_hidden`: or one unseen."""
        return replace(self, steps=(*self.steps, {"css": selector, "isHidden": is_hidden}))

    @property
    def last(self) -> "Found":
        """The last of them; else it is the first."""
        return replace(self, is_last=True)

    async def click(self, button: int = 0, kind: str = "mouse") -> None:
        """Press it, where it is not off and nothing lies over it."""
        x, y = await self._wait(self._place, "to be pressed", lambda: self._ask("place"))
        await self.page.press_at(x, y, button, kind)

    async def fill(self, text: str) -> None:
        """Write something in place of what stands in the field."""

        async def focused() -> bool | None:
            await self.click()  # again, where the field moved away under the press
            return await self._ask("isFocused") or None

        await until(focused)
        await self.page.press("Control+a")
        await self.page.type(text) if text else await self.page.press("Backspace")

    async def choose(self, value: str) -> None:
        """Choose an option: what opens is drawn by the system, and is not of the page."""
        await self._until("choose", bool, "to be chosen from", value)

    async def pick(self, *files: Path) -> None:
        """Choose files for a field that takes some: what opens is drawn by the system, and is not of the page."""
        query = {"steps": self.steps, "last": self.is_last, "wants": "element"}
        await self.page.driver.pick(_FIND, query, files)

    async def focus(self) -> None:
        """Give it the focus."""
        await self._until("focus", bool, "to be focused")

    async def until_focused(self) -> None:
        """Wait until it has the focus."""
        await self._until("isFocused", bool, "to have the focus")

    async def seen(self) -> None:
        """Wait until it is there."""
        await self._until("texts", bool, "to be seen")

    async def gone(self) -> None:
        """Wait until there is none."""
        await self._until("texts", lambda texts: not texts, "to be gone")

    async def counts(self, number: int) -> None:
        """Wait until there are so many."""
        await self._until("texts", lambda texts: len(texts) == number, f"to be {number}")

    async def says(self, *texts: str) -> None:
        """Wait until it contains these texts."""
        await self._until("texts", self._is_said(texts), f"to say {texts}")

    async def lacks(self, text: str) -> None:
        """Wait until it is there without this text."""
        await self._until("texts", lambda shown: bool(shown) and not self._is_said((text,))(shown), f"to lack {text!r}")

    async def has(self, attribute: str, value: str | None) -> None:
        """Wait until an attribute has a value; None: it is not set."""
        await self._until("attribute", lambda it: it == {"value": value}, f"to have {attribute}={value!r}", attribute)

    async def holds(self, value: Any, name: str = "value") -> None:
        """Wait until a property has a value."""
        await self._until("property", lambda it: it == {"value": value}, f"to hold {value!r} as {name}", name)

    async def style(self, name: str) -> str:
        """A computed property."""
        found: str = (await self._until("style", bool, "to be there", name))["value"]
        return found

    async def box(self) -> dict[str, float]:
        """Where it stands in the view, in CSS pixels: x, y, width, height, top, right, bottom, left."""
        box: dict[str, float] = await self._until("box", bool, "to be there")
        return box

    async def click_as_a_script(self) -> None:
        """Click it as a script does, which the page can tell from a person."""
        await self._until("click", bool, "to be there")

    async def evaluate(self, function: str) -> Any:
        """What a function of JavaScript gives for the element."""
        query = {"steps": self.steps, "last": self.is_last, "wants": "element"}
        return await self.page.driver.run(f"(query) => ({function})(({_FIND})(query))", query)

    async def tap(self) -> None:
        """Touch it with a finger."""
        await self.click(kind="touch")

    async def wheel(self, pixels: int) -> None:
        """Turn the wheel of the mouse over it."""
        x, y = await self._wait(self._place, "to be under the pointer", lambda: self._ask("place"))
        turn = {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": pixels, "duration": 0, "origin": "viewport"}
        await self.page.driver.act([{"type": "wheel", "id": "wheel", "actions": [turn]}])

    async def read(self) -> str:
        """Its text, as it stands now; empty: it is not there."""
        texts = await self._ask("texts")
        return self._one(texts) if texts else ""

    def _one(self, texts: list[str]) -> str:
        return texts[-1 if self.is_last else 0]

    def _is_said(self, texts: Sequence[str]) -> Callable[[list[str]], bool]:
        return lambda shown: bool(shown) and all(text in self._one(shown) for text in texts)

    async def _place(self) -> tuple[int, int] | None:
        """Where it is pressed; None: not now."""
        at = await self._ask("place")
        if at is None or at["isOff"] or at["covered"]:
            return None
        # twice at the same place: it does not move
        return (at["x"], at["y"]) if at == await self._ask("place") else None

    async def _ask(self, wants: str, value: Any = None) -> Any:
        query = {"steps": self.steps, "last": self.is_last, "wants": wants, "value": value}
        return await self.page.driver.run(_FIND, query)

    async def _until(self, wants: str, is_right: Callable[[Any], bool], goal: str, value: Any = None) -> Any:
        async def look() -> tuple[Any] | None:
            found = await self._ask(wants, value)
            return (found,) if is_right(found) else None

        return (await self._wait(look, goal, lambda: self._ask(wants, value)))[0]

    async def _wait(self, look: Callable[[], Awaitable[T | None]], goal: str, last: Callable[[], Awaitable[Any]]) -> T:
        try:
            return await until(look)
        except TimeoutError:
            steps = json.dumps(self.steps, ensure_ascii=False)
            raise AssertionError(
                f"{steps} was not {goal} in {WAIT_S} s; now: {str(await last())[:500]}\n{await self.page.told()}"
            ) from None


class Page:
    """A tab, a window or a frame."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    def role(self, role: str, name: str = "", *, exact: bool = False) -> Found:
        """An element by its role and a part of its name."""
        return Found(self, ()).role(role, name, exact=exact)

    def text(self, text: str) -> Found:
        """The innermost element with this text."""
        return Found(self, ()).text(text)

    def label(self, label: str) -> Found:
        """A field by a part of its label."""
        return Found(self, ()).label(label)

    def css(self, selector: str) -> Found:
        """An element that a selector names, in any shadow root."""
        return Found(self, ()).css(selector)

    async def open(self, address: str) -> None:
        """Go to an address."""
        await self.driver.open(address)

    async def reload(self) -> None:
        """Load the document again."""
        await self.driver.reload()

    async def evaluate(self, function: str, argument: Any = None) -> Any:
        """What a function of JavaScript gives for a JSON value."""
        return await self.driver.run(function, argument)

    async def told(self) -> str:
        """Where it is and what it says, for whoever has to find out what is wrong."""
        try:
            address = await self.driver.run("() => location.href", None)
            return f"{address}: {await self.css('body').read()}"[:3000]
        except (NotNowError, RuntimeError) as exc:
            return repr(exc)

    async def until(self, function: str, argument: Any = None) -> Any:
        """Wait until such a function gives something true."""

        async def look() -> Any:
            return await self.driver.run(function, argument) or None

        return await until(look)

    async def press(self, keys: str) -> None:
        """Press keys together, such as `Control+Enter`."""
        names = [_KEYS.get(key, key) for key in keys.split("+")]
        down = [{"type": "keyDown", "value": key} for key in names]
        up = [{"type": "keyUp", "value": key} for key in reversed(names)]
        await self.driver.act([{"type": "key", "id": "keys", "actions": [*down, *up]}])

    async def type(self, text: str) -> None:
        """Write text where the focus is, key by key."""
        actions = [{"type": type_, "value": key} for key in text for type_ in ("keyDown", "keyUp")]
        await self.driver.act([{"type": "key", "id": "keys", "actions": actions}])

    async def press_at(self, x: int, y: int, button: int = 0, kind: str = "mouse") -> None:
        """Press at a place of the view."""
        move = {"type": "pointerMove", "x": x, "y": y, "duration": 0}
        press = [{"type": type_, "button": button} for type_ in ("pointerDown", "pointerUp")]
        pointer = {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": [move, *press]}
        await self.driver.act([pointer])

    async def resize(self, width: int, height: int) -> None:
        """Make the view this large, in CSS pixels."""
        await self.driver.resize(width, height)

    async def frame(self, address: str) -> "Page":
        """The frame whose address begins like this, once it is there."""
        return Page(await until(lambda: self.driver.frame(address)))

    async def window(self, address: str) -> "Page":
        """The window whose address begins like this, once it is there."""
        return Page(await until(lambda: self.driver.window(address)))
