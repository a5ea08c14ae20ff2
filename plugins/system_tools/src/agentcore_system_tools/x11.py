"""Screenshots of an X11 screen."""

from mss import MSS, ScreenShotError

from agentcore.api import ToolError
from agentcore_system_tools.screenshot import Screenshot, ScreenshotOptions, check_region, create_screenshot


def take_x11(options: ScreenshotOptions) -> Screenshot:
    """Take a screenshot; blocks.

    Raises:
        ToolError: `no_display`, `display_not_found`, `region_outside`, `screenshot_failed`.
    """
    try:
        screen = MSS()
    except ScreenShotError as exc:
        message = f"The display cannot be opened ({exc}); is a graphical session running, and may this user see it?"
        raise ToolError("no_display", message) from exc
    with screen:
        area = _select_area(screen, options)
        try:
            grabbed = screen.grab(area)
        except ScreenShotError as exc:
            raise ToolError("screenshot_failed", f"The screen cannot be read: {exc}.", retryable=True) from exc
    return create_screenshot((grabbed.width, grabbed.height), bytes(grabbed.raw))


def _select_area(screen: MSS, options: ScreenshotOptions) -> dict[str, int]:
    displays = screen.monitors
    number = options.display or 0
    if number >= len(displays):
        count = len(displays) - 1
        message = f"There is no display {number}; {'the only one is 1' if count == 1 else f'they are 1 to {count}'}."
        raise ToolError("display_not_found", message, displays=count)
    chosen = displays[number]
    area = {name: int(chosen[name]) for name in ("left", "top", "width", "height")}
    if options.region is None:
        return area
    check_region(options.region, area["width"], area["height"])
    return {
        "left": area["left"] + options.region.x,
        "top": area["top"] + options.region.y,
        "width": options.region.width,
        "height": options.region.height,
    }
