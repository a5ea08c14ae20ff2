"""What errors and notes advise to do next, in terms of the tools that can act on a tab."""

from dataclasses import dataclass

_NO_FILES = "no tool gives files by `tabId`; open the page with browser_navigate, where browser_file_upload gives them"


@dataclass(frozen=True, slots=True)
class Advice:
    """The advice of one module's tools, each a clause.

    Attributes:
        choice: How an option of a list is chosen.
        check: How a check box is checked.
        files: How a file field is given files.
        chooser: How the chooser that a page has opened is given files.
        no_field: What to do with an element that accepts no text.
        look_again: How to find an element whose reference is no longer good.
        tell_apart: How to name one of several elements that are alike.
        reference: Where references come from.
        text: The tool that gives the text of a PDF.
        picture: The tool that shows a PDF.
    """

    choice: str
    check: str
    files: str
    chooser: str
    no_field: str
    look_again: str
    tell_apart: str
    reference: str
    text: str
    picture: str


_OF_BROWSER = Advice(
    choice="use browser_select_option",
    check="click it, or give true or false in browser_fill_form",
    files="use browser_file_upload",
    chooser="browser_file_upload gives it",
    no_field="click it, and type without a selector if it takes keys",
    look_again="take a new snapshot",
    tell_apart="take a new snapshot to see which is meant",
    reference="take one with browser_snapshot",
    text="browser_snapshot",
    picture="browser_screenshot",
)
_OF_CHROME = Advice(
    choice="chrome_fill chooses an option by its label",
    check="click it, or give true or false to chrome_fill",
    files=_NO_FILES,
    chooser=_NO_FILES,
    no_field="name the field itself",
    look_again="name the element by a CSS selector",
    tell_apart="name the one that is meant by a CSS selector",
    reference="use a CSS selector; references are only in the list of an ambiguous_selector error",
    text="chrome_get_text",
    picture="chrome_screenshot",
)


def advice_for(owner: str) -> Advice:
    """Return the advice for a tab of a module."""
    return _OF_CHROME if owner == "chrome" else _OF_BROWSER
