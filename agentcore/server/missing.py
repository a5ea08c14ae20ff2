"""What the server reports of missing requirements once it is ready, and installs by itself in a container."""

from collections.abc import Callable

import structlog

from agentcore.host import Host
from agentcore.host.requirements import RequirementView, in_language, megabytes, missing_lines

log = structlog.get_logger(__name__)

Write = Callable[[str], None]
"""Writes one line for the user at the terminal."""

_TEXTS = {
    "en": {
        "installing": "Installing in the background: {title}{size}. The server can be used meanwhile.",
        "size": " (about {size} MB)",
        "done": "Installed: {title}: {text}",
        "failed": "{title} could not be installed: {error}",
    },
    "zh": {
        "installing": "正在后台安装：{title}{size}。其间服务器可照常使用。",
        "size": "（约 {size} MB）",
        "done": "已安装：{title}：{text}",
        "failed": "{title}安装失败：{error}",
    },
}


async def handle_missing(host: Host, write: Write | None, *, installs: bool) -> None:
    """Report what modules miss on this machine, in plain words with the command that installs it.

    Args:
        host: Its modules have started.
        write: For the user at the terminal; None: nobody reads it, and only the log gets it.
        installs: Whether what is required is installed without asking, for nobody else uses this machine.
    """
    views = await host.requirements.check()
    missing = [view for view in views if view.state == "missing" and not view.host]
    for view in missing:
        log.warning("requirement_missing", requirement=view.info.name, modules=view.modules, command=view.info.command)
    automatic = [view for view in missing if view.is_installable and view.info.is_required and not view.is_declined]
    if not installs:
        automatic = []
    lines = missing_lines([view for view in missing if view not in automatic], host.config.locale)
    for line in lines:
        _write(write, line)
    for view in automatic:
        await _install(host, view, write)


async def _install(host: Host, view: RequirementView, write: Write | None) -> None:
    texts, locale, info = _TEXTS[host.config.locale], host.config.locale, view.info
    title = in_language(info.title, locale)
    size = texts["size"].format(size=megabytes(info)) if info.download_bytes else ""
    _write(write, texts["installing"].format(title=title, size=size))
    host.requirements.install(info.name)
    ended = await host.requirements.wait(info.name)
    text = in_language(ended.text, locale)
    if ended.state == "met":
        _write(write, texts["done"].format(title=title, text=text))
    else:
        _write(write, texts["failed"].format(title=title, error=ended.error or text))
        for line in missing_lines([ended], locale):
            _write(write, line)


def _write(write: Write | None, line: str) -> None:
    if write is not None:
        write(line)
