"""Sets up the log of a core that runs in the command's own process: silent unless requested."""

import logging
import sys

import structlog


def set_up_log(*, is_verbose: bool) -> None:
    """Send log lines to stderr, or discard them, since commands print what the user has to know.

    Args:
        is_verbose: True to show log lines, with tracebacks.
    """
    if is_verbose:
        from agentcore.server.logging.log_setup import configure_logging

        configure_logging(sys.stderr, level="debug")
        return
    logging.disable(logging.CRITICAL)
    structlog.configure(
        processors=[],
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),  # agentcore logs nothing as critical
        logger_factory=structlog.ReturnLoggerFactory(),
    )
