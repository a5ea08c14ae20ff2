"""Requirements of modules that are missing: the server logs them and, in a container, installs them."""

from collections.abc import Callable
from typing import Literal

import structlog

from agentcore.core.requirements import Requirements, RequirementView, download_megabytes, in_language

log = structlog.get_logger(__name__)

Write = Callable[[str], None]
"""Writes one sentence for the user at the terminal."""

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


async def report_missing(requirements: Requirements) -> None:
    """Check what modules require on this machine, and log what is missing."""
    for view in await requirements.check_all():
        if view.state == "missing" and not view.host:
            info = view.info
            log.warning("requirement_missing", requirement=info.name, modules=view.modules, command=info.command)


async def install_missing(requirements: Requirements, locale: Literal["en", "zh"], write: Write | None) -> None:
    """Install missing requirements that the user has not declined, without asking: for root in a container.

    Args:
        requirements: Those of all modules, which have been checked.
        locale: The language of the sentences.
        write: Writes sentences for the user at the terminal; None: they are not written.
    """
    for view in requirements.list_missing():
        if view.is_installable and view.info.is_required and not view.is_declined:
            await _install_requirement(requirements, locale, view, write)


async def _install_requirement(
    requirements: Requirements, locale: Literal["en", "zh"], view: RequirementView, write: Write | None
) -> None:
    texts = _TEXTS[locale]
    info = view.info
    title = in_language(info.title, locale)
    size = texts["size"].format(size=download_megabytes(info)) if info.download_bytes else ""
    _write_line(write, texts["installing"].format(title=title, size=size))
    requirements.start_installation(info.name)
    ended = await requirements.wait_for_installation(info.name)
    text = in_language(ended.text, locale)
    if ended.state == "met":
        _write_line(write, texts["done"].format(title=title, text=text))
    else:
        _write_line(write, texts["failed"].format(title=title, error=ended.error or text))


def _write_line(write: Write | None, line: str) -> None:
    if write is not None:
        write(line)
