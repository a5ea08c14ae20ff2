"""The log of a host that runs in the command line's own process: silent, unless somebody wants to see it."""

import logging
import sys

import structlog


def set_up_log(*, is_verbose: bool) -> None:
    """Send log lines to stderr, or nowhere: what a person has to know, commands say themselves.

    Args:
        is_verbose: Whether they are shown, with tracebacks.
    """
    if is_verbose:
        from agentcore.server.logging import configure_logging

        configure_logging(sys.stderr, level="debug")
        return
    logging.disable(logging.CRITICAL)
    structlog.configure(
        processors=[],
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),  # nothing of ours is critical
        logger_factory=structlog.ReturnLoggerFactory(),
    )
