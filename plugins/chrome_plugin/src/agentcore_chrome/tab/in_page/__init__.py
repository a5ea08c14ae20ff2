"""Scripts that run in pages, assembled from the files in this folder as needed."""

import secrets
from functools import cache
from pathlib import Path

_ENGINE = ("native_properties.js", "roles.js", "names.js", "tree.js", "clicking.js", "field_operations.js", "engine.js")
_HEARD = f"heard-{secrets.token_hex(8)}"
"""The event that reports elements with listeners; its name is random, so that no page can know it."""
_ASKED = f"asked-{secrets.token_hex(8)}"
"""The event that asks a page's world which permissions the page has requested."""


@cache
def selector_engine() -> str:
    """Return the selector engine, as an expression for the driver."""
    names = f"const HEARD_EVENT = '{_HEARD}', ASKED_EVENT = '{_ASKED}';"
    scrolling = f"const scrollArea = (() => {{ return (\n{_read_script('scrolling.js').strip()}\n); }})();\n"
    scripts = map(_read_script, _ENGINE)
    return f"(() => {{ {names}\n{next(scripts)}\n{scrolling}{''.join(scripts)} }})()"


@cache
def listener_search() -> str:
    """Return the script that reports elements with listeners, for the page's own world with the console's API."""
    return _read_script("listeners.js").replace("HEARD_EVENT", f"'{_HEARD}'")


@cache
def page_setup() -> str:
    """Return the script for a page's own world, before its own scripts.

    It lets file pickers be answered, and notes which permissions the page requests.
    """
    return _read_script("pickers.js") + _read_script("permission_requests.js").replace("ASKED_EVENT", f"'{_ASKED}'")


def _read_script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
