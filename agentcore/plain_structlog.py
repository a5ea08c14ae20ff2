"""Has structlog do without rich, which it would load wherever it is installed: 40 ms and 5 MiB for nothing.

Only in processes of our own commands, which render tracebacks plainly: whoever embeds a host has structlog as it is.
"""

import sys
from collections.abc import Sequence
from types import ModuleType


def import_without_rich() -> None:
    """Have the import of structlog, whenever it comes, not find rich; all others find it."""
    sys.meta_path.insert(0, _WithoutRich())


class _WithoutRich:
    """Asked before all other finders."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name == "rich" and _is_importing(sys.modules.get("structlog.dev")):
            raise ModuleNotFoundError("structlog does without rich here", name=name)


def _is_importing(dev: ModuleType | None) -> bool:
    """Whether the import of structlog's part that needs rich, itself and by what it imports, has begun and goes on."""
    return dev is not None and not hasattr(dev, "ConsoleRenderer")
