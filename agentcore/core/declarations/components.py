"""A module's web component, read strictly and once; and what it may add to the page's policy."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from agentcore.api import WebComponent
from agentcore.core.module_code.module_error import type_name
from agentcore.core.module_code.value_reading import WrongValueError, read_mapping, read_text, read_texts, read_title

_TAG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
_ICON = re.compile(r"[a-z0-9-]{0,64}")
_FILE = re.compile(r"(?!/)(?!.*(?:^|/)\.)[A-Za-z0-9._/-]{1,300}")
_GROUP = re.compile(r"work|manage")
_RESOURCE_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,63}")

# a host name, or all below one that is no top-level domain; a port; a path
_HOST = r"(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+"
_WEB = re.compile(rf"https://{_HOST}(?::\d{{1,5}})?(?:/[A-Za-z0-9._~/%-]*)?")
_SOCKET = re.compile(rf"wss://{_HOST}(?::\d{{1,5}})?(?:/[A-Za-z0-9._~/%-]*)?")

POLICY_SOURCES: Mapping[str, tuple[str | re.Pattern[str], ...]] = MappingProxyType(
    {
        "img-src": (_WEB, "data:", "blob:"),
        "media-src": (_WEB, "data:", "blob:"),
        "font-src": (_WEB, "data:"),
        "connect-src": (_WEB, _SOCKET),
        "frame-src": (_WEB,),
        "worker-src": ("'self'", "blob:"),
        "script-src": ("'wasm-unsafe-eval'",),
    }
)
"""Directives that a module may add to the page's policy: images, media, fonts, data and frames over TLS. Never
scripts or styles from elsewhere or from within the document, and no wildcard for any host."""

_EVALUATES = "'unsafe-eval'"


def read_component(given: Any, name: str, *, runs_scripts_in_page: bool) -> WebComponent | None:
    """Read a component into plain values. Runs module code, and reads the disk: call it in a thread, under a limit.

    Raises:
        TypeError: It is not a `WebComponent`, or cannot be shown; the message says which field.
        ValueError: It adds to the page's policy what no module may add.
    """
    if given is None:
        return None
    if not isinstance(given, WebComponent):
        raise TypeError(f"get_web_component gave {type_name(given)}, not a WebComponent")
    of = f"of the web component of module {name!r}"
    folder = _read_folder(given.folder, f"folder {of}")
    icon = read_text(given.icon, f"icon {of}")
    page_script = given.page_script
    return WebComponent(
        tag=_read_tag(given.tag, f"tag {of}", name),
        script=_read_file_path(given.script, f"script {of}", folder),
        folder=folder,
        title=read_title(given.title, f"title {of}"),
        icon=_read_file_path(icon, f"icon {of}", folder)
        if "." in icon
        else read_text(icon, f"icon {of}", pattern=_ICON),
        resource_views=_read_resource_views(given.resource_views, f"resource_views {of}", name),
        page_script=None if page_script is None else _read_file_path(page_script, f"page_script {of}", folder),
        csp=_read_policy(given.csp, f"csp {of}", runs_scripts_in_page=runs_scripts_in_page),
        group=_read_group(given.group, f"group {of}"),
    )


def policy_lines(component: WebComponent | None) -> list[str]:
    """List what a component adds to the page beyond its element, one line each: `img-src https://tiles.example.org`."""
    if component is None:
        return []
    lines = [f"{directive} {' '.join(sources)}" for directive, sources in sorted(component.csp.items())]
    return [*lines, f"page_script {component.page_script}"] if component.page_script is not None else lines


def _read_tag(value: Any, where: str, name: str) -> str:
    tag = read_text(value, where, "the tag of a custom element", pattern=_TAG)
    prefix = f"{name.replace('_', '-')}-"
    if not tag.startswith(prefix):
        raise TypeError(f"{where} must begin with {prefix!r}, not be {tag!r}")
    return tag


def _read_folder(value: Any, where: str) -> Path:
    path = os.fspath(value) if isinstance(value, str | Path) else None
    if not isinstance(path, str):
        raise WrongValueError(where, "a Path", value)
    folder = Path(read_text(path, where))
    if not folder.is_dir():
        raise TypeError(f"{where} must be a folder that is there, not {str(folder)!r}")
    return folder


def _read_file_path(value: Any, where: str, folder: Path) -> str:
    file = read_text(value, where, "a path relative to its folder", pattern=_FILE)
    if not (folder / file).is_file():
        raise TypeError(f"{where}, {file!r}, is not in {folder}")
    return file


def _read_group(value: Any, where: str) -> Literal["work", "manage"]:
    return "manage" if read_text(value, where, pattern=_GROUP) == "manage" else "work"


def _read_resource_views(value: Any, where: str, name: str) -> dict[str, str]:
    given = read_mapping(value, where, "a mapping from resource type to tag")
    return {
        read_text(kind, f"each key of {where}", "a resource type", pattern=_RESOURCE_TYPE): _read_tag(
            tag, f"{kind!r} in {where}", name
        )
        for kind, tag in given.items()
    }


def _read_policy(value: Any, where: str, *, runs_scripts_in_page: bool) -> dict[str, tuple[str, ...]]:
    given = read_mapping(value, where, "a mapping from directive to a list of sources")
    added: dict[str, tuple[str, ...]] = {}
    for directive, sources in given.items():
        if directive not in POLICY_SOURCES:
            raise ValueError(f"{where} may add to {', '.join(sorted(POLICY_SOURCES))}, not to {directive[:100]!r}")
        texts = read_texts(sources, f"{directive} in {where}", "sources")
        for problem in _find_policy_problems(directive, texts, runs_scripts_in_page=runs_scripts_in_page):
            raise ValueError(f"{directive} in {where} {problem}")
        added[directive] = texts
    return added


def _find_policy_problems(directive: str, sources: tuple[str, ...], *, runs_scripts_in_page: bool) -> Iterator[str]:
    allowed = POLICY_SOURCES[directive]
    for source in sources:
        if directive == "script-src" and source == _EVALUATES:
            if not runs_scripts_in_page:
                yield f"may hold {_EVALUATES} only where the module says runs_scripts_in_page = True"
        elif not any(source == form if isinstance(form, str) else form.fullmatch(source) for form in allowed):
            yield f"may hold {_describe_allowed(allowed)}, not {source[:100]!r}"


def _describe_allowed(allowed: tuple[str | re.Pattern[str], ...]) -> str:
    names = {_WEB: "https://HOST[:PORT][/PATH]", _SOCKET: "wss://HOST[:PORT][/PATH]"}
    return " or ".join(form if isinstance(form, str) else names[form] for form in allowed)
