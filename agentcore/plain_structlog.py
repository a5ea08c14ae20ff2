"""Keeps structlog from importing rich and greenlet, which it would load wherever they are installed.

rich takes 40 ms and 5 MiB, greenlet 1 MiB, and neither is used. Only processes of our own commands do this: programs
that embed a core have structlog as it is.
"""

import sys
from collections.abc import Sequence
from types import ModuleType

_UNUSED = {"rich": ("structlog.dev", "ConsoleRenderer"), "greenlet": ("structlog._greenlets", "GreenThreadLocal")}
"""A package, the module of structlog that imports it, and what that module defines after its imports."""


def import_without_extras() -> None:
    """Hide the packages from structlog, whenever it is imported; all other importers find them."""
    sys.meta_path.insert(0, _WithoutExtras())


class _WithoutExtras:
    """A finder that comes before all others."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name not in _UNUSED:
            return
        importer, defined = _UNUSED[name]
        module = sys.modules.get(importer)
        if module is not None and not hasattr(module, defined):  # its import has begun and has not ended
            raise ModuleNotFoundError(f"structlog is imported without {name}", name=name)
