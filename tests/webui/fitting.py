"""What does not fit into the window of a page, and what moves where nothing should."""

from pathlib import Path

from playwright.async_api import Page

ZOOMED = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
"""A window of 1280 × 800 at 200 %."""

_ELSEWHERE = ("region", "aria-allowed-role", "landmark-one-main")
"""What the tests of the shell and of the approval view look after."""

_TEXTS_AND_COLOURS = ["cat.color", "cat.language", "cat.name-role-value", "cat.text-alternatives", "cat.forms"]
"""Groups of axe-core's rules."""
_RUN = """(groups) => {
  const isUsual = ({tags}) => !['wcag2aaa', 'experimental', 'deprecated'].some((tag) => tags.includes(tag));
  const rules = groups && axe.getRules(groups).filter(isUsual).map(({ruleId}) => ruleId);
  return axe.run(document, {resultTypes: ['violations'], iframes: false, ...(rules ? {runOnly: rules} : {})});
}"""

_AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
_SCRIPT = Path(__file__).with_suffix(".js").read_text()


async def misfits(page: Page) -> list[str]:
    """Controls and headings that are cut off and that no scrolling reaches; and a document wider than its window."""
    found: list[str] = await page.evaluate(f"({_SCRIPT})().misfits()")
    return found


async def motions(page: Page) -> list[str]:
    """What moves, or would."""
    found: list[str] = await page.evaluate(f"({_SCRIPT})().motions()")
    return found


async def violations(page: Page, *, of_texts_and_colours: bool = False) -> list[str]:
    """Everything that axe-core finds on a page, without its frames.

    Args:
        of_texts_and_colours: Only what another language or theme changes, where the rest was looked at in one already.
    """
    await page.evaluate(_AXE)
    result = await page.evaluate(_RUN, _TEXTS_AND_COLOURS if of_texts_and_colours else None)
    return [
        f"{found['id']}: {[node['html'][:120] for node in found['nodes'][:3]]}"
        for found in result["violations"]
        if found["id"] not in _ELSEWHERE
    ]
