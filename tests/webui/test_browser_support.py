"""What the page uses of the web is in the browsers of the last two years, or it stands here why it may be missing.

The `web-features` package says since when each browser has what. Names are looked for in the text of scripts and
styles: a name that is also one of something older is let through, one that only looks like something new stands in
`MAY_BE_MISSING`. What JavaScript itself has gained is seen by TypeScript, whose `lib` in jsconfig.json is old enough.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FEATURES = REPOSITORY / "node_modules" / "web-features" / "data.json"
OLDEST = {"chrome": 131, "edge": 131, "firefox": 132, "safari": 18.1, "safari_ios": 18.1}
"""Of November 2024."""

MAY_BE_MISSING = {
    "api.Element.auxclick_event": "the middle button closes a tab, which has a button for it",
    "api.Element.contextmenu_event": "the menu of a tab opens by keyboard, too",
    "api.Element.wheel_event": "a wheel scrolls sideways what a finger scrolls anyhow",
    "api.KeyboardEvent.isComposing": "wrong in Safari at the end of a word: base/input-method.js knows",
    "api.Notification": "asked for: Safari on phones has none in a tab",
    "css.properties.accent-color": "looks",
    "css.properties.content-visibility.auto": "less work with long chats",
    "css.properties.field-sizing": "ui/growing-textarea.js does it where the browser does not",
    "css.properties.line-clamp": "beside -webkit-line-clamp, which all have",
    "css.properties.overflow-anchor": "turned off where the page does it itself",
    "css.properties.resize": "a corner to drag, with a mouse",
    "css.properties.scrollbar-color": "looks",
    "css.properties.scrollbar-gutter": "looks",
    "css.properties.scrollbar-width": "looks",
    "css.properties.text-size-adjust": "beside -webkit-text-size-adjust, which Safari has",
    "css.properties.user-select": "beside -webkit-user-select, which Safari has",
    "css.selectors.selection": "looks",
    "html.global_attributes.autocapitalize": "for keyboards of phones",
}
EVERYDAY = {"bytes", "command", "connection", "watch", "when"}
"""New members with names that our own objects have."""
INSTEAD = {
    r"\.isComposing\b": ("base/input-method.js", "isComposing() of base/input-method.js: Safari tells it too late"),
    r"popover=.?auto": ("", "popover=manual and ui/overlay/outside-press.js: see there"),
    r"(?<!-webkit-user-select: none; )(?<!-webkit-)user-select:": (
        "",
        "-webkit-user-select before it: Safari knows no other",
    ),
}
"""What the page does not write, where it may stand, and what to write instead."""

# of interfaces that pages have to do with; the others (graphics, sensors, …) have members with everyday names
_OWNERS = (
    r"(?:AbortSignal|Blob|CSS|Clipboard|Crypto|Document|DocumentFragment|Element|ElementInternals|Event|EventTarget|File"
    r"|HTML\w*Element|Headers|History|IntersectionObserver\w*|KeyboardEvent|Location|Navigator|Node|Range"
    r"|ReadableStream\w*|Request|Response|Selection|ShadowRoot|ToggleEvent|URL|URLSearchParams|Window)"
)
USES = (
    (r"css\.properties\.([\w-]+)", r"(?<![\w-]){0}\s*:"),
    (r"css\.properties\.([\w-]+)\.(auto)", r"(?<![\w-]){0}\s*:\s*{1}\b"),
    (r"css\.selectors\.([\w-]+)", r"::?{0}(?![\w-])"),
    (r"css\.at-rules\.([\w-]+)", r"@{0}(?![\w-])"),
    (r"css\.types\.([\w-]+)", r"(?<![\w-]){0}\("),
    (r"html\.elements\.(\w+)\.([\w-]+)", r"<{0}\b[^>]*\s{1}\b"),
    (r"html\.global_attributes\.([\w-]+)", r"\s{0}="),
    (r"api\.(\w+)", r"\b{0}\b"),
    (r"api\.(\w+)\.(\w+)_static", r"\b{0}\.{1}\b"),
    (rf"api\.{_OWNERS}\.(\w+)_event", r"['\"@]{0}['\"=]"),
    (rf"api\.{_OWNERS}\.(\w+)(?<!_event)(?<!_static)", r"\.{0}\b"),
)
"""Keys of features, and how each is written where it is used."""
_COMMENT = re.compile(r"(?<![:'\"])//[^\n]*|/\*.*?\*/|<!--.*?-->", re.DOTALL)
_STYLES = re.compile(r"css`(.*?)`", re.DOTALL)


def is_old(support: dict[str, str]) -> bool:
    """Whether each of the oldest browsers has it."""
    return all(name in support and float(support[name].lstrip("≤")) <= version for name, version in OLDEST.items())


def last_name(key: str) -> str:
    return key.rpartition(".")[2].removesuffix("_event").removesuffix("_static")


def use(key: str, old_names: set[str], text: str) -> str | None:
    """The expression that finds where a feature is used; None: its name is not in the text, or does not tell."""
    if key.startswith("api.") and last_name(key) in old_names | EVERYDAY:
        return None
    for feature, written in USES:
        if (match := re.fullmatch(feature, key)) and all(name in text for name in match.groups()):
            return written.format(*map(re.escape, match.groups()))
    return None


def texts() -> Iterator[tuple[str, str, str]]:
    """Of each file its path, its text without comments, and the styles in it."""
    folders = [REPOSITORY / "webui", *REPOSITORY.glob("plugins/*/src/*/component")]
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix in (".js", ".css", ".html") and "vendor" not in path.parts:
            text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
            styles = text if path.suffix == ".css" else "\n".join(_STYLES.findall(text))
            yield path.relative_to(REPOSITORY).as_posix(), text, styles


@pytest.mark.source_tree
@pytest.mark.spec("W1")
@pytest.mark.skipif(not FEATURES.exists(), reason="what browsers have is known after `npm ci`")
def test_page_uses_what_browsers_of_the_last_two_years_have():
    features: dict[str, Any] = json.loads(FEATURES.read_text(encoding="utf-8"))["features"]
    support = {
        key: status["support"]
        for feature in features.values()
        for key, status in feature.get("status", {}).get("by_compat_key", {}).items()
    }
    old_names = {last_name(key) for key, versions in support.items() if is_old(versions)}
    files = list(texts())
    scripts, styles = "\n".join(text for _, text, _ in files), "\n".join(text for _, _, text in files)
    used: dict[str, list[str]] = {}
    for key in sorted(key for key, versions in support.items() if not is_old(versions)):
        is_style = key.startswith("css.")
        text = styles if is_style else scripts
        if (expression := use(key, old_names, text)) and re.search(expression, text):
            used[key] = [path for path, *both in files if re.search(expression, both[is_style])]
    unknown = {key: where for key, where in used.items() if not any(key.startswith(known) for known in MAY_BE_MISSING)}
    assert unknown == {}, "younger than two years in one of the browsers: replace it, or say why it may be missing"
    unused = sorted(known for known in MAY_BE_MISSING if not any(key.startswith(known) for key in used))
    assert unused == [], "not used any more"


@pytest.mark.source_tree
@pytest.mark.spec("W1")
@pytest.mark.parametrize(("written", "instead"), INSTEAD.items(), ids=["input method", "popover", "selection"])
def test_page_writes_what_all_browsers_understand_alike(written: str, instead: tuple[str, str]):
    allowed, advice = instead
    found = [path for path, text, _ in texts() if path.startswith("webui/") and re.search(written, text)]
    assert [path for path in found if not allowed or not path.endswith(allowed)] == [], advice
