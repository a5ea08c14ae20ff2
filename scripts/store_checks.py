"""What stores of extensions refuse, and what ours has promised not to have: looked for in a built extension."""

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KINDS = {".css", ".html", ".js", ".json", ".png", ".svg", ".txt", ".woff2"}
"""Suffixes of files that a reader can look into, and of fonts."""
LIMIT_DESCRIPTION_CHARS = 132
"""Of the Chrome Web Store: https://developer.chrome.com/docs/extensions/reference/manifest/description"""
ICONS = (16, 32, 48, 128)
FORBIDDEN = ("externally_connectable", "web_accessible_resources", "host_permissions", "content_scripts", "update_url")
_MESSAGE = re.compile(r"__MSG_(\w+)__")
_OTHER_DYNAMIC = re.compile(r"\bimport\((?!\s*['\"][^'\"\n]+['\"]\s*\))")
_REMOTE_IMPORT = re.compile(r"(?:\bfrom\s*|\bimport\s*\(?\s*)['\"](?:https?:)?//")
_CODE_OF_TEXT = re.compile(r"\beval\(|\bnew Function\(|\bimportScripts\(|\bset(?:Timeout|Interval)\(\s*['\"`]")
_INLINE = re.compile(r"<script\b(?![^>]*\bsrc=)|<style\b|\s(?:on\w+|style)=", re.IGNORECASE)
_REMOTE_PART = re.compile(r"(?:src|href)\s*=\s*['\"]?(?:https?:)?//", re.IGNORECASE)
_REMOTE_STYLE = re.compile(r"(?:@import\s|url\()\s*(?:url\()?['\"]?(?:https?:)?//", re.IGNORECASE)
_ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$", re.MULTILINE)


def problems(built: Path, explained: dict[str, str]) -> list[str]:
    """What is wrong with a built extension, a sentence each; none: a store could take it.

    Args:
        built: The folder.
        explained: Why each permission is needed, as `explanations` gives it.
    """
    found = list(_manifest_problems(built, explained))
    for path in sorted(path for path in built.rglob("*") if path.is_file()):
        name = path.relative_to(built).as_posix()
        found.extend(f"{name}: {each}" for each in _file_problems(path))
    return found


def explanations(document: Path) -> dict[str, str]:
    """Why each permission is needed: the table of a document under "Permissions"."""
    _, _, section = document.read_text("utf-8").partition("\n## Permissions")
    return dict(_ROW.findall(section.partition("\n## ")[0]))


def is_comment(source: str, position: int) -> bool:
    """Whether a place of a script is in a comment, as far as its line tells."""
    line = source[source.rfind("\n", 0, position) + 1 : position]
    return line.lstrip().startswith("*") or "/**" in line or "//" in line


def _file_problems(path: Path) -> Iterator[str]:
    if path.suffix not in KINDS:
        yield "is of no kind that an extension of ours has"
    elif path.suffix == ".js":
        yield from _script_problems(path.read_text("utf-8"))
    elif path.suffix in (".css", ".html", ".svg"):
        source = path.read_text("utf-8")
        if _REMOTE_STYLE.search(source) or (path.suffix == ".html" and _REMOTE_PART.search(source)):
            yield "loads from elsewhere"
        if path.suffix != ".css" and _INLINE.search(source):
            yield "has scripts or styles in its text"


def _script_problems(source: str) -> Iterator[str]:
    if _found_outside_comments(_OTHER_DYNAMIC, source):
        yield "imports what its source does not name"
    if _found_outside_comments(_REMOTE_IMPORT, source):
        yield "imports from elsewhere"
    if _CODE_OF_TEXT.search(source):
        yield "runs text as code"


def _found_outside_comments(pattern: re.Pattern[str], source: str) -> bool:
    return any(not is_comment(source, match.start()) for match in pattern.finditer(source))


def _manifest_problems(built: Path, explained: dict[str, str]) -> Iterator[str]:
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    for problem in (
        *_permission_problems(manifest, explained),
        *_policy_problems(manifest),
        *_icon_problems(built, manifest),
        *_text_problems(built, manifest),
    ):
        yield f"manifest.json: {problem}"


def _permission_problems(manifest: dict[str, Any], explained: dict[str, str]) -> Iterator[str]:
    wanted = [*manifest.get("permissions", ()), *manifest.get("optional_permissions", ())]
    wanted += manifest.get("optional_host_permissions", ())
    yield from (f"docs/extension.md does not say why {each} is needed" for each in wanted if each not in explained)
    yield from (
        f"docs/extension.md explains {each}, which is not asked for" for each in explained if each not in wanted
    )
    yield from (f"has {each}" for each in FORBIDDEN if each in manifest)


def _policy_problems(manifest: dict[str, Any]) -> Iterator[str]:
    policy = manifest.get("content_security_policy", {}).get("extension_pages", "")
    directives = {name: values for name, *values in (each.split() for each in policy.split(";") if each.strip())}
    if directives.get("default-src") != ["'none'"]:
        yield "its policy for content does not begin with default-src 'none'"
    for name in ("script-src", "style-src"):
        if directives.get(name) != ["'self'"]:
            yield f"its policy for content has {name} {' '.join(directives.get(name, ['nowhere']))}, not 'self' alone"


def _icon_problems(built: Path, manifest: dict[str, Any]) -> Iterator[str]:
    for size in ICONS:
        path = built / manifest.get("icons", {}).get(str(size), "")
        if not path.is_file():
            yield f"has no icon of {size} pixels"
        elif path.read_bytes()[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", path.read_bytes()[16:24]) != (
            size,
            size,
        ):
            yield f"{path.name} is no PNG of {size} × {size} pixels"


def _text_problems(built: Path, manifest: dict[str, Any]) -> Iterator[str]:
    if not re.fullmatch(r"\d{1,5}(\.\d{1,5}){0,3}", manifest.get("version", "")):
        yield f"version {manifest.get('version')!r} is not one to four numbers"
    languages = {
        path.parent.name: json.loads(path.read_text("utf-8")) for path in sorted(built.glob("_locales/*/messages.json"))
    }
    main = languages.get(manifest.get("default_locale", ""))
    if main is None:
        yield "has no texts in its default_locale"
        return
    used = set(_MESSAGE.findall(json.dumps(manifest)))
    for language, texts in languages.items():
        for key in sorted(main.keys() ^ texts.keys() | used - texts.keys()):
            yield f"the text {key} is not in every language: look at _locales/{language}"
        for field, limit in (("name", 75), ("description", LIMIT_DESCRIPTION_CHARS)):
            text = _MESSAGE.sub(
                lambda match, texts=texts: texts.get(match[1], {}).get("message", ""), manifest.get(field, "")
            )
            if not 0 < len(text) <= limit:
                yield f"{field} in {language} has {len(text)} characters, not 1 to {limit}"
