"""Structured results of the tools, with names as on the wire.

A dialog that opens while a tool runs blocks the page, and the result then lacks the tool's own fields. For this reason
tools that act on a page declare all their own fields as optional.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from agentcore.api import Field

ActedOn = Annotated[str, Field(description="Role and name of what was acted on.")]


class DialogData(TypedDict):
    """An alert, confirm, prompt or beforeunload."""

    type: str
    message: str
    outcome: Literal["open", "accepted", "dismissed"]


class OpenedPage(TypedDict):
    """What the page opened."""

    tabId: str
    resourceId: str | None
    url: str


class FileChooserData(TypedDict):
    """The page asks for files."""

    multiple: bool
    folder: bool


class SavedDownload(TypedDict):
    """An artifact."""

    artifactId: str
    name: str
    mime: str
    sizeBytes: int


class FailedDownload(TypedDict):
    """Why it is not kept."""

    type: str
    message: str
    retryable: bool


class SinceLastResult(TypedDict, total=False):
    """What else happened to the page since the last result."""

    dialog: Annotated[DialogData, Field(description="Is open; the tool's own fields may be missing.")]
    dialogs: Annotated[list[DialogData], Field(description="Were answered.")]
    changedByPerson: Annotated[str, Field(description="Meanwhile, as lines.")]
    restored: Annotated[str, Field(description="Where a page that was lost is open again.")]
    lostBy: Annotated[str, Field(description="What became of the page in whose place this one is new.")]
    popups: list[OpenedPage]
    fileChooser: FileChooserData
    downloads: list[SavedDownload]
    failedDownloads: list[FailedDownload]


class Arrival(TypedDict, total=False):
    """Where a page got to."""

    url: str
    status: Annotated[int | None, Field(description="Of HTTP; null where no server answered.")]
    title: str
    loadState: Annotated[str, Field(description="loading, domcontentloaded or load.")]


class Evaluation(TypedDict, total=False):
    """What a script gave."""

    value: Annotated[Any, Field(description="null also where it is too long.")]
    cutText: Annotated[str, Field(description="The beginning, as JSON text, of what is too long.")]
    length: Annotated[int, Field(description="Of what is too long, in characters.")]


# -- `browser` -------------------------------------------------------------------------------------------------


class PageResult(SinceLastResult):
    """What every call on a page gives."""

    resourceId: str


class PageAddress(PageResult, total=False):
    """Where the page is."""

    url: str


class LiveViewData(TypedDict, total=False):
    """What a view shows of a page; `picture` is a JPEG, base64, where there is a newer one than the view has."""

    resourceId: str
    state: Literal["open", "driven", "closed", "elsewhere"]
    url: str
    title: str
    dialog: str
    picture: str
    width: Annotated[int, Field(description="Of the page's window, in CSS pixels.")]
    height: int


class Changes(TypedDict, total=False):
    """What an action set going, where that was waited for."""

    changes: Annotated[list[str], Field(description="Lines of the snapshot: + new, ~ now, > moved, - gone.")]
    consoleErrors: list[str]
    refusedPermissions: Annotated[list[str], Field(description="What the page asked permission for, in vain.")]


class ActionResult(PageResult, Changes):
    """What every action on a page gives."""


class PageArrival(ActionResult, Arrival):
    """Where the page got to."""


class LaunchedPage(PageArrival, total=False):
    """Whether a page was opened, and where it is."""

    started: bool


class PageState(SinceLastResult):
    """Whether the page runs, and where it is."""

    running: bool
    resourceId: NotRequired[str]
    url: NotRequired[str]
    title: NotRequired[str]
    loadState: NotRequired[Annotated[str, Field(description="loading, domcontentloaded or load.")]]
    state: NotRequired[Annotated[str, Field(description="open, dialog, or driven by a person.")]]


class ListedPage(TypedDict):
    """A page of the session; or, with `target`, of the attached browser."""

    url: str | None
    title: str | None
    resourceId: NotRequired[str]
    state: NotRequired[Annotated[str, Field(description="open, dialog, driven; or that of a page that is not open.")]]
    target: NotRequired[str]


class PagesResult(SinceLastResult, Changes, Arrival, total=False):
    """The pages, for both ways to list them; or the one that was opened, attached to or closed."""

    pages: list[ListedPage]
    resourceId: str


class AnsweredDialog(ActionResult, total=False):
    """Whether the answer is for a dialog still to come; else `dialog` is what was answered, if it was there still."""

    prepared: bool


class ClickedPage(ActionResult, total=False):
    """What became of a click."""

    clicked: bool
    element: ActedOn
    url: str


class TypedText(ActionResult, total=False):
    """What was typed."""

    typed: Annotated[int, Field(description="Characters.")]
    element: ActedOn
    value: Annotated[str | None, Field(description="What the field holds now, its beginning; null: not known.")]
    note: Annotated[str, Field(description="Where the field does not hold just what was typed.")]
    url: str


class PressedKey(ActionResult, total=False):
    """The key that was pressed."""

    key: str
    modifiers: list[str]
    element: ActedOn
    url: str


class HoveredElement(ActionResult, total=False):
    """Where the mouse is."""

    selector: str
    element: ActedOn


class ScrolledArea(ActionResult, total=False):
    """What scrolled, and where it stands now, in pixels."""

    area: Annotated[str, Field(description="page, or the element as tag#id.class.")]
    scrollTop: float
    scrollHeight: float
    clientHeight: float
    scrollLeft: float
    scrollWidth: float
    first: Annotated[str, Field(description="The topmost line in view.")]
    last: Annotated[str, Field(description="The lowest line in view.")]
    moved: bool
    grew: Annotated[float, Field(description="How much longer it got by scrolling.")]
    found: Annotated[bool, Field(description="Whether what was looked for is in view.")]
    isOver: Annotated[bool, Field(description="Whether the search came to the area's end.")]


class ChosenOptions(ActionResult, total=False):
    """What is chosen."""

    values: list[str]
    labels: Annotated[list[str], Field(description="The same as users see them.")]
    element: ActedOn


class FilledForm(ActionResult, total=False):
    """How many fields were filled, and those that do not hold just what they were given."""

    filled: int
    elements: Annotated[list[str], Field(description="Role and name of each, and what was chosen.")]
    notes: list[str]


class UploadedFiles(ActionResult, total=False):
    """The names of the files, and whether they were dropped and not chosen."""

    files: list[str]
    dropped: bool
    element: ActedOn


class DraggedElement(ActionResult, total=False):
    """What became of a drag."""

    dragged: bool
    element: ActedOn
    onto: Annotated[str, Field(description="Role and name of what it was dropped on.")]


class SavedFile(PageResult, total=False):
    """A file in the workspace by its path, or an artifact."""

    path: str
    artifactId: str
    mime: str
    sizeBytes: int


class PictureArea(TypedDict):
    """A rectangle of the document, in CSS pixels from its top left corner."""

    x: float
    y: float
    width: float
    height: float


class PictureSize(TypedDict):
    """Size of an image, and what it shows: `scale` is its pixels for each CSS pixel of `area`."""

    width: int
    height: int
    scale: float
    area: PictureArea


class PageScreenshot(SavedFile, total=False):
    """A picture: a file, an artifact, or, if `inline`, itself."""

    dataBase64: str
    picture: PictureSize
    shown: Annotated[PictureSize, Field(description="What a model was shown: its x and y are pixels of that.")]


class PageSnapshot(PageResult, total=False):
    """Of which page the snapshot is; it is the result's text."""

    url: str
    title: str
    leftOut: Annotated[int, Field(description="Lines that are not shown.")]


class ElementTree(PageResult, total=False):
    """Elements as an indented tree, a line each."""

    dom: str
    isCut: bool


class PageEvaluation(ActionResult, Evaluation):
    """What a script gave."""


class ConsoleMessage(TypedDict):
    """A line of the console, or an error that nobody caught."""

    type: Annotated[str, Field(description="log, info, warning, error and so on; uncaught.")]
    text: str


class ConsoleMessages(PageResult, total=False):
    """The newest messages, oldest first."""

    messages: list[ConsoleMessage]


class MadeRequest(TypedDict):
    """A request, with the status of its answer or why there is none; both null: it is under way."""

    method: str
    url: str
    type: Annotated[str, Field(description="document, xhr, fetch, script and so on.")]
    status: int | None
    failure: str | None


class MadeRequests(PageResult, total=False):
    """The newest requests, oldest first."""

    requests: list[MadeRequest]
    leftOut: Annotated[int, Field(description="Earlier requests that are not listed.")]
    staticLeftOut: Annotated[int, Field(description="Pictures, fonts, styles, scripts and media, not listed.")]


# -- `chrome` --------------------------------------------------------------------------------------------------


class StartedBrowser(TypedDict):
    """A new browser; without a process where it was attached to."""

    browserId: str
    pid: int | None
    version: str


class ClosedBrowser(TypedDict):
    """What was closed, with how many tabs."""

    browserId: str
    closedTabs: int


class TabData(TypedDict):
    """A tab."""

    tabId: str
    url: str
    title: str
    state: Annotated[str, Field(description="open, dialog, or driven by a person.")]
    owner: Annotated[str, Field(description="The module that opened it.")]
    sessionId: str
    resourceId: str | None
    createdAt: Annotated[int, Field(description="Milliseconds since 1970.")]


class BrowserData(TypedDict):
    """A browser with its tabs."""

    browserId: str
    sessionId: Annotated[str, Field(description="Empty for the one that sessions share.")]
    isShared: bool
    isAttached: bool
    isRemote: Annotated[bool, Field(description="Whether it is one of a Playwright server elsewhere.")]
    state: Annotated[str, Field(description="open, or lost: the connection to it, which is tried again.")]
    headless: bool
    version: str
    pid: int | None
    memoryBytes: int | None
    startedAt: Annotated[int, Field(description="Milliseconds since 1970.")]
    tabs: list[TabData]


class BrowserList(TypedDict):
    """All browsers."""

    browsers: list[BrowserData]


class TabList(TypedDict):
    """The tabs of a browser."""

    browserId: str
    tabs: list[TabData]


class ClosedTab(TypedDict):
    """What was closed."""

    tabId: str


class TabResult(SinceLastResult):
    """What every call on a tab gives."""

    tabId: str


class TabArrival(TabResult, Arrival):
    """Where the tab got to, or is."""


class OpenedTab(TabArrival):
    """A new tab; where it is, if an address was given."""

    browserId: str


class TabAddress(TabResult, total=False):
    """Where the tab is."""

    url: str


class TabAction(TabAddress, total=False):
    """What an action did."""

    element: ActedOn


class TabScreenshot(TabAddress, total=False):
    """A picture: the result's image, or an artifact."""

    mime: str
    sizeBytes: int
    artifactId: str
    picture: PictureSize
    shown: Annotated[PictureSize, Field(description="What a model was shown: its x and y are pixels of that.")]


class TabContent(TabResult, total=False):
    """HTML or text, cut from `length` characters if `isCut`."""

    html: str
    text: str
    length: int
    isCut: bool


class TabEvaluation(TabResult, Evaluation):
    """What a script gave."""
