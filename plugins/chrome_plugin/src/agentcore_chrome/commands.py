"""`agentcore browser`: shows which browser is used, and installs one."""

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from agentcore.api import CommandContext, LocalizedText, ToolError
from agentcore_chrome.browser.checking import CheckedBrowser, check_browser
from agentcore_chrome.browser.executable import find_browser
from agentcore_chrome.browser.installing import install_browser
from agentcore_chrome.settings import EngineSettings

_ORIGINS = {
    "setting": "named by the setting `executable`",
    "machine": "installed on this machine",
    "installed": "installed by agentcore",
}
_KEYS = ("executable", "channel", "sandbox")

_config_option = click.option(
    "--config",
    "config_path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("app.json"),
    show_default=True,
    help="The app.json in use.",
)


@click.group()
def browser() -> None:
    """Show which browser the browser tools use, or install one.

    \b
    Examples:
      agentcore browser status
      agentcore browser install
    """


@browser.command()
@_config_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.pass_obj
def status(commands: CommandContext, config_path: Path, *, as_json: bool) -> int:
    """Show which browser is used, and check it by opening a page in it.

    Exit code 1: there is none, or it does not start.
    """
    settings = _read_settings(commands, config_path)
    try:
        found = find_browser(settings)
        checked = asyncio.run(check_browser(found.path, sandbox=settings.sandbox))
    except ToolError as exc:
        if as_json:
            click.echo(json.dumps({"error": exc.to_json()}))
            return 1
        raise
    if as_json:
        click.echo(json.dumps(_describe_checked_browser(checked) | {"origin": found.origin}))
        return 0
    click.echo(f"{checked.path} ({checked.version}), {_ORIGINS[found.origin]}")
    _print_remarks(checked, is_wanted=settings.sandbox)
    return 0


@browser.command()
@_config_option
@click.pass_obj
def install(commands: CommandContext, config_path: Path) -> int:
    """Install a browser, unless there is one.

    It is Playwright's Chromium, in your cache: about 180 MB to download. If that download is refused, root on Debian
    and Ubuntu gets the distribution's package. PLAYWRIGHT_DOWNLOAD_HOST names another server for the download,
    PLAYWRIGHT_BROWSERS_PATH another folder. Afterwards a page is opened in the browser. A server that is running uses
    it at once.
    """

    def report(text: LocalizedText, fraction: float | None = None) -> None:
        commands.show_progress(fraction, text if isinstance(text, str) else text["en"])

    settings = _read_settings(commands, config_path)
    try:
        checked = asyncio.run(install_browser(settings, report))
    finally:
        commands.show_progress(None, "")
    click.echo(f"The browser tools use {checked.path} ({checked.version}).")
    _print_remarks(checked, is_wanted=settings.sandbox)
    return 0


def _read_settings(commands: CommandContext, config_path: Path) -> EngineSettings:
    values = commands.read_settings(config_path, "chrome")
    # Other settings may reference secrets, which this command does not need.
    return EngineSettings.model_validate({key: values[key] for key in _KEYS if key in values})


def _describe_checked_browser(checked: CheckedBrowser) -> dict[str, Any]:
    return {
        "executable": str(checked.path),
        "version": checked.version,
        "isSandboxed": checked.is_sandboxed,
        "missingFonts": list(checked.missing_fonts),
    }


def _print_remarks(checked: CheckedBrowser, *, is_wanted: bool) -> None:
    if not checked.is_sandboxed:
        reason = "As root, Chromium" if is_wanted else "By the setting `sandbox`, the browser"
        click.echo(f"{reason} runs without its own sandbox.")
    if checked.missing_fonts:
        click.echo(f"There are no fonts for: {', '.join(checked.missing_fonts)}. Pages show boxes instead.")
