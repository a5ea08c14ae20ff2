"""A scripted agent: it acts through tools, and decides by the texts that they returned, and by nothing else.

A scenario is written once, in the words below (`click`, `type`, `read`, …); each side says them with its own tools.
"""

import asyncio
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["first try", "work-around", "impossible"]
Way = Callable[[], Awaitable[object]]

_WAITS = 3
_LOOKS = 20
_PAUSE_S = 1  # a model thinks for longer
_REF = re.compile(r"\[(?:ref=)?((?:f\d+)?e\d+)\]")
_LINE = re.compile(r"^\s*(?:[+~*-]\s+)*(?P<role>[a-z]+)\b(?P<rest>.*)$")
_CONTROLS = ("button", "link", "textbox", "combobox", "checkbox", "radio", "tab", "menuitem", "option")
_ATTRIBUTES = re.compile(r"\[[^\]]*\]|\(was \w+\)")
_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"')


class FailedError(Exception):
    """A tool's error, or a text without what was looked for."""


class NoToolError(FailedError):
    """No tool of this side does that."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a person would name, and how it went; `note` says why not at the first try."""

    name: str
    outcome: Outcome
    note: str = ""


@dataclass(slots=True)
class Agent(ABC):
    """One session of one side.

    Attributes:
        steps: What was done.
        definitions_chars: Characters of the tools' definitions, and of instructions, that the model is given.
        results_chars: Characters of all results.
        calls, images: How many there were.
        questions: How often a person was asked.
        seen: The texts of results since the page was opened, the newest last.
    """

    verbose: bool = False
    knows_names: bool = False
    is_on_page: bool = False
    steps: list[Step] = field(default_factory=list)
    definitions_chars: int = 0
    results_chars: int = 0
    calls: int = 0
    images: int = 0
    questions: int = 0
    seen: list[str] = field(default_factory=list)

    # -- steps ---------------------------------------------------------------------------------------------------

    async def step(self, name: str, *ways: Way) -> None:
        """Do one thing: the first way is the obvious one, the others are work-arounds.

        On a page, the last of them is to look at all of it again, and to go the first way once more.
        """
        notes: list[str] = []

        async def again() -> None:
            await self.look()
            await ways[0]()

        for number, way in enumerate((*ways, again) if self.is_on_page else ways):
            try:
                await way()
            except FailedError as exc:
                notes.append(str(exc))
            else:
                self._note(Step(name, "work-around" if number else "first try", "; ".join(notes)))
                return
        self._note(Step(name, "impossible", "; ".join(notes)))

    def _note(self, step: Step) -> None:
        self.steps.append(step)
        if self.verbose:
            print(f"== {step.outcome}: {step.name} {step.note[:500]!r}", flush=True)

    async def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and give the text that the model gets.

        Raises:
            FailedError: The text says that it failed.
        """
        text, has_failed = await self._call(tool, arguments)
        self.calls += 1
        self.results_chars += len(text)
        if self.verbose:
            print(
                f"-- {time.strftime('%X')} {tool} {arguments}\n{text[:6000]}\n   ({len(text)} characters)", flush=True
            )
        if has_failed:
            raise FailedError(f"{tool}: {text[:300]}")
        self.seen.append(text)
        return text

    @abstractmethod
    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The text of a result, and whether it says that the call failed."""

    # -- what was seen -------------------------------------------------------------------------------------------

    async def ref(self, role: str, name: str = "", nth: int = 0) -> str:
        """The reference of an element by role and name, in what was seen, else in a look at the whole page.

        An agent that knows the names of things before it has seen them finds them one by one instead.
        """
        found = self._seen_ref(role, name, nth)
        if found is None and name and self.knows_names:
            await self.find(name)
            found = self._seen_ref(role, name, nth)
        if found is None:
            await self.look()
            found = self._seen_ref(role, name, nth)
        if found is None:
            raise FailedError(f"no {role} {name!r} is shown")
        return found

    def _seen_ref(self, role: str, name: str, nth: int) -> str | None:
        for is_exact in (True, False):
            for text in reversed(self.seen):
                refs = refs_in(text, role, name, is_exact=is_exact)
                if len(refs) > nth:
                    return refs[nth]
        return None

    async def ref_below(self, heading: str, role: str) -> str:
        """The reference of the first element with a role after a heading, for one that has no name."""
        _, _, below = (await self.look()).partition(f'heading "{heading}"')
        found = refs_in(below, role, "", is_exact=False)
        if not found:
            raise FailedError(f"no {role} is below the heading {heading!r}")
        return found[0]

    async def ref_around(self, role: str, name: str) -> str:
        """The reference of the nearest element around one that has none itself: the line above it, less indented."""
        found = refs_around(await self.look(), role, name)
        if not found:
            raise FailedError(f"nothing with a reference is around {role} {name!r}")
        return found

    def newest(self) -> str:
        """The text of the last result."""
        return self.seen[-1] if self.seen else ""

    async def sees(self, text: str) -> str:
        """The last result has a text, or the page has it soon."""
        for attempt in range(_WAITS):
            if text in self.newest():
                break
            try:
                await self.wait(text)
                break
            except FailedError:  # a slow page is waited for again, as its tool says
                if attempt == _WAITS - 1:
                    raise
        return text

    async def sees_in_tree(self, text: str) -> str:
        """The last result has a text, or the page's tree has it (values of fields, too)."""
        for _ in range(_LOOKS):
            if text in self.newest() or text in await self.find(text):
                return text
            await asyncio.sleep(_PAUSE_S)
        raise FailedError(f"{text!r} is not shown")

    # -- the words of scenarios ----------------------------------------------------------------------------------

    @abstractmethod
    async def open(self, url: str) -> str:
        """Go to an address, and look at the page."""

    @abstractmethod
    async def look_up(self, url: str, words: str) -> str:
        """The places of a long document that have some words."""

    @abstractmethod
    async def look(self) -> str:
        """The whole page as a tree."""

    @abstractmethod
    async def find(self, text: str) -> str:
        """The lines of the tree with a text."""

    async def click(self, role: str, name: str = "", nth: int = 0, *, double: bool = False) -> str:
        """Click an element by role and name."""
        return await self.click_ref(await self.ref(role, name, nth), f"{name} {role}".strip(), double=double)

    async def click_around(self, role: str, name: str) -> str:
        """Click what is around an element that has no reference itself."""
        return await self.click_ref(await self.ref_around(role, name), f"around {name}")

    @abstractmethod
    async def click_ref(self, ref: str, what: str, *, double: bool = False) -> str:
        """Click an element by its reference; `what` tells a person what it is."""

    @abstractmethod
    async def type(self, role: str, name: str, text: str, nth: int = 0) -> str:
        """Type a text into a field, in place of what it has."""

    @abstractmethod
    async def type_here(self, text: str, *, is_empty: bool = False) -> str:
        """Type into what has the focus; `is_empty`: it has nothing yet that must stay."""

    @abstractmethod
    async def type_by_code(self, text: str) -> str:
        """Type into what has the focus with code: for work-arounds."""

    @abstractmethod
    async def press(self, key: str) -> str:
        """Press keys, such as `Control+a`."""

    @abstractmethod
    async def choose(self, role: str, name: str, values: Sequence[str]) -> str:
        """Choose options of a list."""

    @abstractmethod
    async def set(self, kind: str, name: str, value: str) -> str:
        """Fill one field of a form with the tool for forms; `kind` is textbox, checkbox, radio, combobox or slider."""

    @abstractmethod
    async def scroll_to(self, text: str, role: str, name: str = "") -> str:
        """Scroll the element with this role until a text shows."""

    @abstractmethod
    async def wait(self, text: str) -> str:
        """Wait until the page shows a text."""

    @abstractmethod
    async def upload(self, path: str) -> str:
        """Give a file of the workspace to the chooser that the page opened."""

    @abstractmethod
    async def script(self, function: str) -> str:
        """Run JavaScript in the page: for work-arounds."""

    @abstractmethod
    async def read(self, path: str, around: str = "") -> str:
        """Read a file of the workspace; with `around`, what stands about that text."""

    @abstractmethod
    async def write(self, path: str, text: str) -> str:
        """Write a file of the workspace."""

    @abstractmethod
    async def replace(self, path: str, old: str, new: str) -> str:
        """Put a text in the place of another one."""

    @abstractmethod
    async def search(self, text: str, folder: str, files: str) -> str:
        """Find lines with a text in the files of a folder."""

    @abstractmethod
    async def glob(self, folder: str, pattern: str) -> str:
        """Find files by name."""

    async def downloaded(self, name: str) -> str:
        """Read a file that the browser has downloaded, once a result says that it has."""
        for _ in range(2 * _LOOKS):
            for text in reversed(self.seen):
                if name in text and "ownloaded" in text:
                    return await self.read_download(text, name)
            await self.find(name)
            await asyncio.sleep(_PAUSE_S)
        raise FailedError(f"nothing says that {name} was downloaded")

    @abstractmethod
    async def read_download(self, told: str, name: str) -> str:
        """Read a downloaded file from where a result says that it is."""

    @abstractmethod
    async def run(self, command: str) -> str:
        """Run a command."""


def refs_in(text: str, role: str, name: str, *, is_exact: bool = False) -> list[str]:
    """The references of a tree's lines with a role (one of `button|img`) and a name, or one that has it as a part.

    The name of a line without one is what stands in the lines below it.
    """
    found: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        parts = _LINE.match(line)
        ref = _REF.search(line)
        if parts is None or ref is None or parts["role"] not in role.split("|"):
            continue
        named = _NAME.match(parts["rest"].strip())
        shown = named[1] if named else _ATTRIBUTES.sub("", parts["rest"]).strip(" :") + _below(lines, number)
        if shown == name or (not is_exact and name.lower() in shown.lower()):
            found.append(ref[1])
    return found


def _below(lines: list[str], number: int) -> str:
    """The lines that stand below one, up to the next one of the same level or with a reference of another control."""
    below: list[str] = []
    for line in lines[number + 1 : number + 4]:
        parts = _LINE.match(line)
        if parts is None or parts["role"] in _CONTROLS or _indent(line) < _indent(lines[number]):
            break
        below.append(line)
    return "\n".join(below)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def refs_around(text: str, role: str, name: str) -> str:
    """The reference of the innermost line with one that holds the line with a role and a name; empty: there is none."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        indent = _indent(line)
        above = [held for held in above if held[0] < indent]
        if line.lstrip().startswith(f'- {role} "{name}'):
            return next((ref for _, ref in reversed(above) if ref), "")
        ref = _REF.search(line)
        above.append((indent, ref[1] if ref else ""))
    return ""
