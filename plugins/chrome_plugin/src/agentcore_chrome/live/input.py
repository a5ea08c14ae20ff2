"""User input to a page through its live preview: mouse, wheel, keys, text, addresses, dialogs."""

from typing import Annotated, Literal

from pydantic import ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from agentcore.api import BaseModel, Field, ToolError, UrlPolicy
from agentcore_chrome.failures import is_driver_error
from agentcore_chrome.tab.dialogs import DialogAnswer
from agentcore_chrome.tab.navigation import with_scheme
from agentcore_chrome.tab.tab import Tab

_NAVIGATION_MS = 30_000


class _Message(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class FrameShown(_Message):
    """The viewer has shown a frame, and can take another."""

    type: Literal["shown"]


class ControlRequest(_Message):
    """The person takes the page over, or hands it back."""

    type: Literal["take", "giveBack"]


class WatchMessage(_Message):
    """What a viewer may send without acting: that it has seen a frame, that it lets go."""

    type: Literal["shown", "giveBack"]


class Mouse(_Message):
    """The mouse moves, is pressed or released, at a point in CSS pixels of the page's window."""

    type: Literal["mouseMove", "mouseDown", "mouseUp"]
    x: Annotated[float, Field(ge=0, le=100_000)]
    y: Annotated[float, Field(ge=0, le=100_000)]
    button: Literal["left", "middle", "right"] = "left"
    click_count: Annotated[int, Field(ge=1, le=3)] = 1


class Wheel(_Message):
    """The wheel turns."""

    type: Literal["wheel"]
    x: Annotated[float, Field(ge=0, le=100_000)]
    y: Annotated[float, Field(ge=0, le=100_000)]
    delta_x: Annotated[float, Field(ge=-10_000, le=10_000)] = 0
    delta_y: Annotated[float, Field(ge=-10_000, le=10_000)] = 0


class Key(_Message):
    """A key goes down or up, by the name that browsers have for it."""

    type: Literal["keyDown", "keyUp"]
    key: Annotated[str, Field(min_length=1, max_length=40)]


class InsertText(_Message):
    """Text that comes at once: pasted, or from an input method."""

    type: Literal["text"]
    text: Annotated[str, Field(min_length=1, max_length=100_000)]


class Navigate(_Message):
    """The person goes to an address."""

    type: Literal["navigate"]
    url: Annotated[str, Field(min_length=1, max_length=16_384)]


class HistoryStep(_Message):
    """Back, forward, or again."""

    type: Literal["back", "forward", "reload"]


class DialogReply(_Message):
    """The person answers the dialog that is open."""

    type: Literal["dialog"]
    accept: bool
    text: Annotated[str | None, Field(max_length=10_000)] = None


Message = FrameShown | ControlRequest | Mouse | Wheel | Key | InsertText | Navigate | HistoryStep | DialogReply
MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


async def apply_input(tab: Tab, policy: UrlPolicy, message: Message) -> None:
    """Apply the input of the user who drives the page.

    Raises:
        ToolError: `url_blocked`, `action_failed`.
    """
    if isinstance(message, DialogReply):
        tab.dialogs.answer_open(DialogAnswer(message.accept, message.text))
        return
    tab.check_reach()
    try:
        await _apply_message(tab, policy, message)
        tab.process.schedule_title_refresh(tab)
    except Exception as exc:
        if not is_driver_error(exc):
            raise
        if tab.refusal is not None:
            raise tab.refusal from exc
        raise ToolError("action_failed", f"the page did not take it: {exc}".splitlines()[0], url=tab.page.url) from exc


async def _apply_message(tab: Tab, policy: UrlPolicy, message: Message) -> None:
    page = tab.page
    match message:
        case Mouse():
            await _apply_mouse(tab, message)
        case Wheel():
            await page.mouse.move(message.x, message.y)
            await page.mouse.wheel(message.delta_x, message.delta_y)
        case Key():
            await _apply_key(tab, message)
        case InsertText():
            await page.keyboard.insert_text(message.text)
        case Navigate():
            tab.refusal = None
            await page.goto(policy.check(with_scheme(message.url)), wait_until="commit", timeout=_NAVIGATION_MS)
        case HistoryStep(type="back"):
            await page.go_back(wait_until="commit", timeout=_NAVIGATION_MS)
        case HistoryStep(type="forward"):
            await page.go_forward(wait_until="commit", timeout=_NAVIGATION_MS)
        case HistoryStep():
            await page.reload(wait_until="commit", timeout=_NAVIGATION_MS)


async def _apply_mouse(tab: Tab, message: Mouse) -> None:
    mouse = tab.page.mouse
    await mouse.move(message.x, message.y)
    if message.type == "mouseDown":
        await mouse.down(button=message.button, click_count=message.click_count)
    elif message.type == "mouseUp":
        await mouse.up(button=message.button, click_count=message.click_count)


async def _apply_key(tab: Tab, message: Key) -> None:
    keyboard = tab.page.keyboard
    try:
        await (keyboard.down(message.key) if message.type == "keyDown" else keyboard.up(message.key))
    except Exception as exc:
        if "Unknown key" not in str(exc):
            raise
        if message.type == "keyDown" and len(message.key) == 1:
            await keyboard.insert_text(message.key)  # a character without a key on the driver's keyboard
