"""Imports structlog without rich, which structlog would load wherever it is installed: 40 ms and 5 MiB for nothing.

Imported first by the packages that log. Tracebacks are rendered plainly by our own configuration.
"""

import sys

if "structlog" not in sys.modules and "rich" not in sys.modules:
    sys.modules["rich"] = None  # type: ignore[assignment]  # an import of it fails, as if it were not installed
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
